"""Run a case by the command line and take down what it writes.

Only the command is used, no other part of the package, so that the same cases run on any version
of it.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from .cases import JSON, PAGE, Case, write_tables

# What differs from run to run, or from one command line to another of the same meaning.
DROPPED = {"created", "command", "versions", "n_jobs"}

# The same in the page, and what the JSON has in full: settings and the embedded summary.
DROPPED_FROM_PAGE = [
    r"<style>.*?</style>",
    r"<script.*?</script>",
    r"(?<=Made: )[^<]*",
    r"(?<=Versions</caption>).*?(?=</table>)",
    r"<caption>Parameters of.*?(?=</table>)",
    r"<pre><code>allrelevant .*?</pre>",
]


def documents_of(case: Case, n_jobs: int = 1) -> dict[str, str]:
    """Run a case, and give the text of each document by the name of its file.

    ``.json`` is the result, ``.html`` the page if there is one, and ``.txt`` what was printed.
    """
    with TemporaryDirectory(prefix="golden-") as name:
        folder = Path(name)
        write_tables(folder)
        printed = _run(case.command_line(n_jobs), folder)
        result = json.loads((folder / JSON).read_text(encoding="utf-8"))
        documents = {f"{case.name}.json": json.dumps(_stripped(result), indent=1) + "\n"}
        if (folder / PAGE).exists():
            page = (folder / PAGE).read_text(encoding="utf-8")
            documents[f"{case.name}.html"] = _stripped_page(page)
        documents[f"{case.name}.txt"] = printed
    return documents


def _run(arguments: list[str], folder: Path) -> str:
    """Run the command in a folder, and give what it prints."""
    from allrelevant.cli import main

    stdout, stderr = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with ExitStack() as stack:
        stack.enter_context(chdir(folder))
        stack.enter_context(patch.object(sys, "argv", ["allrelevant", *arguments]))
        stack.enter_context(patch.dict(os.environ, {"COLUMNS": "100"}))
        stack.enter_context(redirect_stdout(stdout))
        stack.enter_context(redirect_stderr(stderr))
        code: Any = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code
    if code:
        raise RuntimeError(f"allrelevant {' '.join(arguments)} failed: {_text(stderr)}")
    return _text(stdout)


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode("utf-8")


def _stripped(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: _stripped(item)
            for key, item in value.items()
            if key not in DROPPED and not key.endswith("seconds")
        }
    if isinstance(value, list):
        return [_stripped(item) for item in value]
    # An estimator among the settings is the text that makes it.
    return re.sub(r"n_jobs=-?\d+", "n_jobs=...", value) if isinstance(value, str) else value


def _stripped_page(page: str) -> str:
    for pattern in DROPPED_FROM_PAGE:
        page = re.sub(pattern, "", page, flags=re.DOTALL)
    lines = (line.strip() for line in page.splitlines())
    return "".join(f"{line}\n" for line in lines if line)
