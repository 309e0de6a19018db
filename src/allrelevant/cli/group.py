"""Main command, which combines the subcommands and reports errors in one line.

Messages describe the invalid input, not the code that detected it.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import click

from .._interrupts import INTERRUPTED, announce, exit_code
from .._text import message_line
from ..exceptions import AllRelevantError
from .explain import explain
from .output import echo
from .report import RELEVANCE_HELP, demo, report
from .select import select
from .streams import BROKEN_PIPE, BrokenOutputError, guarded_streams
from .verify import verify

INPUT_ERROR = 2


class CommandGroup(click.Group):
    """A command group that reports invalid input in one line and exits with code 2.

    Only the errors of this package and of click are caught, so bugs still show a traceback.
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
        """Run a command and exit with its exit code."""
        args = list(sys.argv[1:] if args is None else args) or ["--help"]
        extra.setdefault("obj", shlex.join(["allrelevant", *args]))
        with guarded_streams(), _errors_on_one_line():
            code = super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
            sys.stdout.flush()
        sys.exit(code if isinstance(code, int) else 0)


@contextmanager
def _errors_on_one_line() -> Iterator[None]:
    """Exit with a one-line message after an interrupt, for invalid input and for a full disk."""
    try:
        yield
    except click.UsageError as error:
        _fail(f"{error.format_message()} {_help_hint(error.ctx)}")
    except click.ClickException as error:
        _fail(error.format_message())
    except BrokenOutputError:
        sys.exit(BROKEN_PIPE)
    except (click.Abort, KeyboardInterrupt):
        _interrupted()
    except AllRelevantError as error:
        _exit_if_interrupted()
        _fail(str(error))
    except MemoryError:
        _fail("There is not enough memory. Use less data, or a computer with more memory.")
    except Exception:
        _exit_if_interrupted()
        raise


def _exit_if_interrupted() -> None:
    """Exit after an interrupt: in compiled code or an import, it may raise any exception."""
    if exit_code() is not None:
        _interrupted()


def _interrupted() -> NoReturn:
    announce()
    sys.exit(exit_code() or INTERRUPTED)


def _help_hint(context: click.Context | None) -> str:
    return f"(See {context.command_path} --help.)" if context else ""


def _fail(message: str) -> NoReturn:
    echo(f"Error: {message_line(message)}", err=True)
    sys.exit(INPUT_ERROR)


def _version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        from .._version import __version__

        click.echo(f"allrelevant {__version__}")
        ctx.exit()


@click.group(
    cls=CommandGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help=f"""Find out which features of a table matter, with proof.

Many linear models predict a target about equally well. The command computes the smallest and the
largest absolute weight of each feature over all of these equivalent models.

{RELEVANCE_HELP}
\b
Examples:
  allrelevant demo
  allrelevant report patients.csv --target diagnosis --drop id -o report.html
  allrelevant report patients.parquet --target diagnosis --json > result.json
  allrelevant select patients.csv --target diagnosis --n-features 5
  allrelevant explain patients.csv --target diagnosis --row 17
  allrelevant verify proof.json patients.csv
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
    """Find out which features of a table matter."""


for command in (report, select, explain, verify, demo):
    cli.add_command(command)
