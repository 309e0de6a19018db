"""``python -m allrelevant.cli`` does what ``allrelevant`` does."""

from . import main

main()
