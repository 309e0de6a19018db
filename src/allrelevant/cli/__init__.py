"""Command-line interface: the ``allrelevant`` command.

Heavy libraries are imported only when a command runs, so ``--help`` responds immediately.
"""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run ``allrelevant`` with the command-line arguments of the process."""
    try:
        from .group import cli
    except ModuleNotFoundError as error:
        if error.name != "click":
            raise
        sys.stderr.write("Error: The command requires click. Run pip install 'allrelevant[cli]'.\n")
        sys.exit(2)
    cli.main(prog_name="allrelevant")
