"""Where results go, checked before the long work and written after it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..exceptions import InputError

STDOUT = "-"
DEFAULT_PAGE = "report.html"


@dataclass(frozen=True)
class Outputs:
    """The page to write, the JSON to write or print, and how much to say."""

    page: Path | None
    json: Path | None
    json_to_stdout: bool
    quiet: bool

    def write(self, summary: Mapping[str, Any]) -> None:
        """Write what was asked for; what cannot be written is an input error."""
        from ..report import render, write_atomically

        texts = {}
        if self.page is not None:
            texts[self.page] = render(summary)
        if self.json is not None:
            texts[self.json] = as_json(summary)
        for path, text in texts.items():
            try:
                write_atomically(path, text)
            except OSError as error:
                raise InputError(f"Cannot write {str(path)!r}: {error.strerror}.") from error


def as_json(summary: Mapping[str, Any]) -> str:
    """A summary as JSON, in ASCII and so safe on any terminal."""
    return json.dumps(summary, indent=1, allow_nan=False) + "\n"


def plan_outputs(
    page: str | None, json_output: str | None, *, quiet: bool, table: str | None = None
) -> Outputs:
    """Decide where results go, and refuse what could not be written later.

    Parameters
    ----------
    page : str or None
        File of the page; by default ``report.html``, or none if there is JSON.
    json_output : str or None
        File of the JSON, ``-`` for standard output.
    quiet : bool
    table : str or None
        The table that is read, which results must not overwrite.
    """
    if page == STDOUT:
        raise InputError("The page needs a file (-o FILE); only --json can go to standard output.")
    if page is None and json_output is None:
        page = DEFAULT_PAGE
    to_stdout = json_output == STDOUT
    files = [path for path in (page, None if to_stdout else json_output) if path is not None]
    for path in files:
        _require_writable(Path(path))
        if table is not None and _same_file(path, table):
            raise InputError(f"{path!r} is the table itself: write the results elsewhere.")
    if len(files) == 2 and _same_file(*files):
        raise InputError(f"The page and the JSON cannot both go to {page!r}.")
    return Outputs(
        page=None if page is None else Path(page),
        json=None if json_output is None or to_stdout else Path(json_output),
        json_to_stdout=to_stdout,
        quiet=quiet,
    )


def plan_json(output: str | None, *, quiet: bool, table: str) -> Outputs:
    """The same for a command that has no page, and need not write anything."""
    if output is None:
        return Outputs(page=None, json=None, json_to_stdout=False, quiet=quiet)
    return plan_outputs(None, output, quiet=quiet, table=table)


def _same_file(first: str, second: str) -> bool:
    return Path(first).resolve() == Path(second).resolve()


def _require_writable(path: Path) -> None:
    folder = path.resolve().parent
    if path.is_dir():
        raise InputError(f"{str(path)!r} is a folder: give the name of a file to write.")
    if not folder.is_dir():
        raise InputError(f"There is no folder {str(folder)!r} to write {path.name!r} into.")
    # Through a temporary file beside it, so the folder counts; and a read-only file stays.
    if not os.access(folder, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise InputError(f"No permission to write {str(path)!r}.")
