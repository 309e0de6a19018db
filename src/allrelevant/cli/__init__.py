"""Command-line interface: the ``allrelevant`` command.

Heavy libraries are imported only when a command runs, so ``--help`` responds immediately.
"""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run ``allrelevant`` with the command-line arguments of the process."""
    import warnings

    from .._interrupts import announce, exit_code, signals_handled

    # Without a writable /dev/shm, joblib warns at import, and everything runs in this process.
    warnings.filterwarnings("ignore", ".*joblib will operate in serial mode", UserWarning)
    try:
        with signals_handled():
            from .group import cli

            cli.main(prog_name="allrelevant")
    except BaseException:
        if exit_code() is None:
            raise
        announce()  # an interrupt while modules are imported
        raise SystemExit(exit_code()) from None
