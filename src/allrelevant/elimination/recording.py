"""Steps of a run on their way to and from its checkpoint, if it has one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..checkpoints import CheckpointFile
from .trace import Step


@dataclass(frozen=True)
class Recording:
    """One series of steps; without a file, nothing is kept.

    Attributes
    ----------
    file : CheckpointFile or None
    series : str
    """

    file: CheckpointFile | None
    series: str

    def steps(self) -> list[Step]:
        """The steps of an earlier run that was interrupted."""
        if self.file is None:
            return []
        return [Step.from_mapping(values) for values in self.file.results(self.series)]

    def state(self) -> dict[str, Any]:
        """What the last of them left behind."""
        return (self.file.state(self.series) if self.file else None) or {}

    def add(self, step: Step, state: Mapping[str, Any]) -> None:
        """Write a step and what it leaves behind."""
        if self.file is not None:
            self.file.append(self.series, step.as_mapping(), state=state)
