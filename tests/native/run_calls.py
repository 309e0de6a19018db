"""Run small and malformed problems in a given build of the core, such as one with sanitizers.

usage: python -m tests.native.run_calls LIBRARY [N_TABLES]

Without N_TABLES, the 290 small problems are run, and otherwise the simplex problems of this many
difficult tables.
"""

from __future__ import annotations

import sys

from allrelevant.native.library import load
from tests.bounds.nasty import KINDS
from tests.native.calls import malformed_calls, run_native, simplex_calls, small_calls


def main() -> None:
    library = load(sys.argv[1])
    if len(sys.argv) > 2:
        tables = [(kind, seed) for seed in range(int(sys.argv[2]) // len(KINDS)) for kind in KINDS]
        calls = [call for kind, seed in tables for call in simplex_calls(kind, seed)]
    else:
        calls = [*small_calls(), *malformed_calls()]
    for call in calls:
        run_native(call, library)
    print(f"{len(calls)} calls in {library._name}")


if __name__ == "__main__":
    main()
