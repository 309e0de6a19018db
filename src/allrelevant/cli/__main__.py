"""Entry point of ``python -m allrelevant.cli``, the same as ``allrelevant``."""

from __future__ import annotations

from . import main

main()
