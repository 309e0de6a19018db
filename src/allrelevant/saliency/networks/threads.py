"""How many threads torch takes, and its random numbers, left as they were found."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

# Below this, what threads tell each other takes longer than what they save.
SMALL = 1_000_000


def threads_for(module: nn.Module, wanted: int | None) -> int:
    """Number of threads for a network: one for a small one, if nothing else is wanted."""
    if wanted is not None:
        return wanted
    n_parameters = sum(parameter.numel() for parameter in module.parameters())
    return 1 if n_parameters < SMALL else torch.get_num_threads()


@contextmanager
def torch_threads(number: int) -> Iterator[None]:
    """Let torch use so many threads in the block."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Random numbers of torch that start at a seed in the block and go on as before after it."""
    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        torch.manual_seed(seed)
        yield
