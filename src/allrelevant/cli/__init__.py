"""Command-line interface: the ``allrelevant`` command.

Heavy libraries are imported only when a command runs, so ``--help`` responds immediately.
"""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run ``allrelevant`` with the command-line arguments of the process."""
    from .group import cli

    cli.main(prog_name="allrelevant")
