"""The ``allrelevant`` command.

Heavy libraries are imported only when a command runs, so ``--help`` responds immediately.
"""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command with the arguments of the process."""
    from .group import cli

    cli.main(prog_name="allrelevant")
