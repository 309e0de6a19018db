"""Execution of one golden command, and collection of its output.

Only the command is used, not other parts of the package, so that the cases run with any version of
it.
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

# Keys that differ between runs, or between equivalent command lines.
DROPPED = {"created", "command", "versions", "n_jobs"}

# Parts of the report that differ between runs or duplicate the JSON.
DROPPED_FROM_PAGE = [
    r"<style>.*?</style>",
    r'<meta http-equiv="Content-Security-Policy" content="[^"]*">\n?',
    r"<script.*?</script>",
    r"(?<=Created: )[^<]*",
    r"(?<=Versions</caption>).*?(?=</table>)",
    r"<caption>Parameters of.*?(?=</table>)",
    r"<pre><code>allrelevant .*?</pre>",
]


def run_case(case: Case, n_jobs: int = 1) -> dict[str, str]:
    """Run a command and return its output documents by file name.

    ``.json`` is the result, ``.html`` the report, if any, and ``.txt`` the printed text.
    """
    with TemporaryDirectory(prefix="golden-") as name:
        folder = Path(name)
        write_tables(folder)
        printed = _run(case.command_line(n_jobs), folder)
        result = json.loads((folder / JSON).read_text(encoding="utf-8"))
        documents = {f"{case.name}.json": json.dumps(_strip_json(result), indent=1) + "\n"}
        if (folder / PAGE).exists():
            page = (folder / PAGE).read_text(encoding="utf-8")
            documents[f"{case.name}.html"] = _strip_page(page)
        documents[f"{case.name}.txt"] = printed
    return documents


def _run(arguments: list[str], folder: Path) -> str:
    """Run the command in a folder and return the text that it prints."""
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


def _strip_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: _strip_json(item)
            for key, item in value.items()
            if key not in DROPPED and not key.endswith("seconds")
        }
    if isinstance(value, list):
        return [_strip_json(item) for item in value]
    # Estimators among the settings are stored as their repr.
    return re.sub(r"n_jobs=-?\d+", "n_jobs=...", value) if isinstance(value, str) else value


def _strip_page(page: str) -> str:
    for pattern in DROPPED_FROM_PAGE:
        page = re.sub(pattern, "", page, flags=re.DOTALL)
    lines = (line.strip() for line in page.splitlines())
    return "".join(f"{line}\n" for line in lines if line)
