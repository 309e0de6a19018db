"""How many pictures a second the ready networks take: in training, in prediction, in saliency.

On pictures of noise, 28 x 28. Wall-clock time; the best of some repetitions, for other work on the
machine only ever slows down. Where the time of a training goes: --profile.

usage: python -m benchmarks.network_speed [--threads N ...] [--repetitions N] [--profile]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.profiler import ProfilerActivity, profile

from allrelevant import NetworkClassifier
from allrelevant.saliency import aggregate, differentiable
from allrelevant.saliency.networks.threads import torch_threads

# So that one epoch takes about a second.
ROWS = {"mlp": 10_000, "cnn": 2_000, "wrn-16-4": 100}


def pictures(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.random((n_rows, 784), dtype=np.float32), rng.integers(10, size=n_rows)


def seconds(work: Callable[[], Any], repetitions: int) -> float:
    """Of the fastest."""
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def figures(settings: dict[str, Any], seed: int = 0) -> dict[str, float]:
    """Pictures a second.

    Parameters
    ----------
    settings : dict
        ``network``: a name; ``threads`` and ``repetitions``: numbers.
    seed : int
    """
    threads, repetitions = settings["threads"], settings["repetitions"]
    X, y = pictures(ROWS[settings["network"]], seed)
    net = NetworkClassifier(settings["network"], max_epochs=1, n_threads=threads, random_state=seed)
    net.fit(X, y)  # what is done once, torch does now
    with torch_threads(threads):
        works = {
            "training": lambda: net.fit(X, y),
            "prediction": lambda: net.predict(X),
            "saliency": lambda: aggregate(differentiable(net), X, y, n_classes=10),
        }
        return {name: len(X) / seconds(work, repetitions) for name, work in works.items()}


def print_profile(network: str) -> None:
    X, y = pictures(ROWS[network], 0)
    net = NetworkClassifier(network, max_epochs=1, n_threads=1, random_state=0).fit(X, y)
    with profile(activities=[ProfilerActivity.CPU]) as found:
        net.fit(X, y)
    print(f"\n{network}\n{found.key_averages().table(sort_by='self_cpu_time_total', row_limit=12)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--profile", action="store_true")
    args = parser.parse_args()
    print(f"torch {torch.__version__}\n\n| network | threads | training | prediction | saliency |")
    print("| --- | --- | --- | --- | --- |")
    for network in ROWS:
        for threads in args.threads:
            settings = {"network": network, "threads": threads, "repetitions": args.repetitions}
            cells = " | ".join(f"{rate:,.0f}" for rate in figures(settings).values())
            print(f"| `{network}` | {threads} | {cells} |", flush=True)
    for network in ROWS if args.profile else ():
        print_profile(network)


if __name__ == "__main__":
    main()
