"""The ``allrelevant`` command.

Nothing heavy is imported before a command runs, so that ``--help`` answers at once.
"""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command with the arguments of the process."""
    try:
        from .group import cli
    except ModuleNotFoundError as error:
        if error.name != "click":
            raise
        sys.stderr.write("Error: The command needs click: pip install 'allrelevant[cli]'.\n")
        sys.exit(2)
    cli.main(prog_name="allrelevant")
