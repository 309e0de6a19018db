"""Results stored in files, so that an interrupted benchmark can be resumed."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def load_or_compute(path: Path, compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return the result stored in a file. If there is none, compute and store it."""
    if path.exists():
        return json.loads(path.read_text())
    start = time.perf_counter()
    result = compute()
    path.write_text(json.dumps(result))
    print(f"{path.stem}: {time.perf_counter() - start:.0f} s", flush=True)
    return result
