"""Results that are kept in files, so that a benchmark goes on where it was interrupted."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def kept(path: Path, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What a file says, or else what the work finds, which is then written there."""
    if path.exists():
        return json.loads(path.read_text())
    start = time.perf_counter()
    found = work()
    path.write_text(json.dumps(found))
    print(f"{path.stem}: {time.perf_counter() - start:.0f} s", flush=True)
    return found
