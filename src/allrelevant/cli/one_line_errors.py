"""Failures as one line each: what is wrong with the input, not where in the program it showed."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from ..exceptions import AllRelevantError

INPUT_ERROR = 2
INTERRUPTED = 130


class OneLineErrorGroup(click.Group):
    """A group of commands that ends on bad input with a single line and exit code 2.

    Only errors raised on purpose are caught: a bug still shows its traceback.
    """

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run, and leave the process with an exit code (click calls this standalone mode)."""
        args = list(sys.argv[1:] if args is None else args) or ["--help"]
        extra.setdefault("obj", shlex.join(["allrelevant", *args]))
        try:
            code = super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        except click.UsageError as error:
            _fail(f"{error.format_message()} {_where_to_look(error.ctx)}")
        except click.ClickException as error:
            _fail(error.format_message())
        except AllRelevantError as error:
            _fail(str(error))
        except (click.Abort, KeyboardInterrupt):
            click.echo("Interrupted.", err=True)
            sys.exit(INTERRUPTED)
        sys.exit(code if isinstance(code, int) else 0)


def _where_to_look(context: click.Context | None) -> str:
    return f"(See {context.command_path} --help.)" if context else ""


def _fail(message: str) -> NoReturn:
    click.echo(f"Error: {' '.join(message.split())}", err=True)
    sys.exit(INPUT_ERROR)
