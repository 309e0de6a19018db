"""Throughput of the predefined networks in training, prediction and saliency.

This script measures images per second on random 28 x 28 images. It prints wall-clock throughput,
and in parentheses throughput by CPU time. Both are the best of several repetitions, because other
work on the computer can only increase times. On a busy computer, use CPU time with one thread.
--profile shows which operations take most of the training time.

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

# Small enough that some repetition is not interrupted by other work.
ROWS = {"mlp": 2_000, "cnn": 500, "wrn-16-4": 20}


def make_images(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.random((n_rows, 784), dtype=np.float32), np.arange(n_rows) % 10


def seconds(work: Callable[[], Any], repetitions: int) -> tuple[float, float]:
    """Return the shortest wall-clock time and the shortest CPU time of several runs."""
    wall_times, cpu_times = [], []
    for _ in range(repetitions):
        wall_start, cpu_start = time.perf_counter(), time.process_time()
        work()
        wall_times.append(time.perf_counter() - wall_start)
        cpu_times.append(time.process_time() - cpu_start)
    return min(wall_times), min(cpu_times)


def throughput(settings: dict[str, Any], seed: int = 0) -> dict[str, tuple[float, float]]:
    """Return the images processed per second, by wall-clock time and by CPU time.

    Parameters
    ----------
    settings : dict
        Name of the ``network``, and the numbers of ``threads`` and ``repetitions``.
    seed : int
    """
    threads, repetitions = settings["threads"], settings["repetitions"]
    X, y = make_images(ROWS[settings["network"]], seed)
    net = NetworkClassifier(settings["network"], max_epochs=1, n_threads=threads, random_state=seed)
    net.fit(X, y)  # one-time initialization of torch
    with torch_threads(threads):
        operations = {
            "training": lambda: net.fit(X, y),
            "prediction": lambda: net.predict(X),
            "saliency": lambda: aggregate_saliency(as_differentiable(net), X, y, n_classes=10),
        }
        times = {name: seconds(work, repetitions) for name, work in operations.items()}
    return {name: (len(X) / wall, len(X) / cpu) for name, (wall, cpu) in times.items()}


def print_profile(network: str) -> None:
    X, y = make_images(ROWS[network], 0)
    net = NetworkClassifier(network, max_epochs=1, n_threads=1, random_state=0).fit(X, y)
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        net.fit(X, y)
    print(
        f"\n{network}\n{profiler.key_averages().table(sort_by='self_cpu_time_total', row_limit=12)}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repetitions", type=int, default=15)
    parser.add_argument("--profile", action="store_true", help="also profile the training")
    args = parser.parse_args()
    print(f"torch {torch.__version__}\n\n| network | threads | training | prediction | saliency |")
    print("| --- | --- | --- | --- | --- |")
    for network in ROWS:
        for threads in args.threads:
            settings = {"network": network, "threads": threads, "repetitions": args.repetitions}
            rates = throughput(settings).values()
            cells = " | ".join(f"{wall:,.0f} ({cpu:,.0f})" for wall, cpu in rates)
            print(f"| `{network}` | {threads} | {cells} |", flush=True)
    for network in ROWS if args.profile else ():
        print_profile(network)


if __name__ == "__main__":
    main()
