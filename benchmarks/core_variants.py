"""Speed of the variants of the compiled core on this processor, in one run.

usage: python -m benchmarks.core_variants [--rounds N]

Each workload runs in separate processes that alternate between the variants. The time is the
minimum CPU time over all rounds.
"""

from __future__ import annotations

import argparse
import os
import sys

from allrelevant.native.library import VARIANTS, load

from .former_commit import ROOT, TABLES, WORKLOADS, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="number of processes per variant")
    args = parser.parse_args()
    level = load(VARIANTS[1]).ar_vector_level()
    variants = [name for least, name in VARIANTS.items() if least <= level]
    from_files = tuple(list(TABLES)[3:])
    names = [
        name
        for name in WORKLOADS
        if name.startswith(("intervals", "elimination")) and not name.endswith(from_files)
    ]
    print(f"| workload | {' | '.join(f'{name} (s)' for name in variants)} | ratio |")
    print(f"| --- | {' | '.join('---:' for _ in variants)} | ---: |")
    for name in names:
        times: dict[str, list[float]] = {variant: [] for variant in variants}
        for _ in range(args.rounds):
            for variant in variants:
                os.environ["ALLRELEVANT_CORE"] = variant
                times[variant].append(seconds(ROOT, sys.executable, name, ""))
        best = [min(each) for each in times.values()]
        cells = " | ".join(f"{value:.3f}" for value in best)
        print(f"| {name} | {cells} | {best[-1] / best[0]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
