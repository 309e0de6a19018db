"""The command group: its help, ``--version``, and failures as one line each.

A message says what is wrong with the input, not where in the program it showed.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from ..exceptions import AllRelevantError
from .explain import explain
from .report import RELEVANCE_HELP, demo, report
from .select import select

INPUT_ERROR = 2
INTERRUPTED = 130


class CommandGroup(click.Group):
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


def _version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        from .._version import __version__

        click.echo(f"allrelevant {__version__}")
        ctx.exit()


@click.group(
    cls=CommandGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help=f"""Which features of a table matter, and the proof.

Of all linear models that predict a target equally well, how small and how large can the weight of
each feature be?

{RELEVANCE_HELP}
\b
Examples:
  allrelevant demo
  allrelevant report patients.csv --target diagnosis --drop id -o report.html
  allrelevant report patients.parquet --target diagnosis --json > result.json
  allrelevant select patients.csv --target diagnosis --method ebrfe -o selection.json
  allrelevant explain patients.csv --target diagnosis --row 17
""",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_version,
    help="Show the version and exit.",
)
def cli() -> None:
    """Hold the commands together."""


for command in (report, select, explain, demo):
    cli.add_command(command)
