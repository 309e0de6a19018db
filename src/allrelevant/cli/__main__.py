"""``python -m allrelevant.cli`` does what ``allrelevant`` does."""

from __future__ import annotations

from . import main

main()
