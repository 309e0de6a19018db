"""How many pictures a second the ready networks take: in training, in prediction, in saliency.

On pictures of noise, 28 x 28. Seconds are of the wall clock and of the processor, the best of some
repetitions, for other work on the machine only ever slows down; on a busy machine believe the
processor's, and of one thread. Where the time of a training goes: --profile.

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
from allrelevant.saliency import aggregate_saliency, as_differentiable
from allrelevant.saliency.backends.torch_modules import torch_threads

# So few that some repetition falls between the turns of other work.
ROWS = {"mlp": 2_000, "cnn": 500, "wrn-16-4": 20}


def pictures(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.random((n_rows, 784), dtype=np.float32), np.arange(n_rows) % 10


def seconds(work: Callable[[], Any], repetitions: int) -> tuple[float, float]:
    """Of the wall clock and of the processor, each of the fastest."""
    walls, processors = [], []
    for _ in range(repetitions):
        wall, processor = time.perf_counter(), time.process_time()
        work()
        walls.append(time.perf_counter() - wall)
        processors.append(time.process_time() - processor)
    return min(walls), min(processors)


def figures(settings: dict[str, Any], seed: int = 0) -> dict[str, tuple[float, float]]:
    """Pictures a second, by the wall clock and by the processor.

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
            "saliency": lambda: aggregate_saliency(as_differentiable(net), X, y, n_classes=10),
        }
        times = {name: seconds(work, repetitions) for name, work in works.items()}
    return {name: (len(X) / wall, len(X) / cpu) for name, (wall, cpu) in times.items()}


def print_profile(network: str) -> None:
    X, y = pictures(ROWS[network], 0)
    net = NetworkClassifier(network, max_epochs=1, n_threads=1, random_state=0).fit(X, y)
    with profile(activities=[ProfilerActivity.CPU]) as found:
        net.fit(X, y)
    print(f"\n{network}\n{found.key_averages().table(sort_by='self_cpu_time_total', row_limit=12)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repetitions", type=int, default=15)
    parser.add_argument("--profile", action="store_true")
    args = parser.parse_args()
    print(f"torch {torch.__version__}\n\n| network | threads | training | prediction | saliency |")
    print("| --- | --- | --- | --- | --- |")
    for network in ROWS:
        for threads in args.threads:
            settings = {"network": network, "threads": threads, "repetitions": args.repetitions}
            rates = figures(settings).values()
            cells = " | ".join(f"{wall:,.0f} ({processor:,.0f})" for wall, processor in rates)
            print(f"| `{network}` | {threads} | {cells} |", flush=True)
    for network in ROWS if args.profile else ():
        print_profile(network)


if __name__ == "__main__":
    main()
