"""Which rows an epoch goes through."""

from __future__ import annotations

import torch
from torch import Tensor


class EveryRow:
    """Each row once."""

    def __init__(self, n_rows: int) -> None:
        self.n_rows = n_rows

    def draw(self) -> Tensor:
        """Rows in a new order."""
        return torch.randperm(self.n_rows)


class EveryClassAlike:
    """Rows of rarer classes several times, so that all classes are equally frequent.

    Every row comes at least once; which come once more than others is drawn anew.
    """

    def __init__(self, codes: Tensor) -> None:
        self.classes = [torch.nonzero(codes == c).ravel() for c in codes.unique()]
        self.size = max(len(rows) for rows in self.classes)

    def draw(self) -> Tensor:
        """Rows in a new order."""
        drawn = torch.cat([self._repeated(rows) for rows in self.classes])
        return drawn[torch.randperm(len(drawn))]

    def _repeated(self, rows: Tensor) -> Tensor:
        whole, rest = divmod(self.size, len(rows))
        return torch.cat([rows.repeat(whole), rows[torch.randperm(len(rows))[:rest]]])
