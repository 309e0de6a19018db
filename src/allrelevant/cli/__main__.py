"""Entry point of ``python -m allrelevant.cli``, which runs the same command as ``allrelevant``."""

from __future__ import annotations

from . import main

if __name__ == "__main__":  # worker processes of a cluster import this module
    main()
