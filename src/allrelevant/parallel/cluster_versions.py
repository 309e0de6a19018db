"""Comparison of the versions of Python and packages on a cluster with those of this process."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from .._text import count_noun
from ..exceptions import ClusterError

# Packages that must have the same version on all workers, because it can change results.
PACKAGES = ("allrelevant", "cloudpickle", "highspy", "numpy", "scipy", "scikit-learn")

# Packages that are compared if this process has imported them.
PACKAGES_IF_IMPORTED = ("torch", "skorch")

# Packages that the scheduler needs to read a task.
SCHEDULER_PACKAGES = ("allrelevant", "cloudpickle")


def check_versions(get_versions: Callable[..., Mapping[str, Any]]) -> None:
    """Raise if versions on the scheduler or on a worker differ; ``get_versions`` asks them."""
    packages = [*PACKAGES, *(name for name in PACKAGES_IF_IMPORTED if name in sys.modules)]
    found = get_versions(packages=packages)
    ours = found["client"]["packages"]
    problems = [
        f"{place} has {problem}"
        for place, versions, compared in (
            ("The scheduler", found["scheduler"], SCHEDULER_PACKAGES),
            *((f"Worker {address}", part, packages) for address, part in found["workers"].items()),
        )
        if (problem := _difference(ours, versions["packages"], ("python", *compared)))
    ]
    if problems:
        others = count_noun(len(problems) - 1, "other process", "other processes")
        raise ClusterError(
            f"{problems[0]}{f' (similar for {others})' if len(problems) > 1 else ''}. Install the "
            "same versions on all computers of the cluster."
        )


def _difference(
    ours: Mapping[str, str | None], theirs: Mapping[str, str | None], packages: tuple[str, ...]
) -> str:
    """Describe the first package that differs; return an empty string if there is none."""
    for package in packages:
        here, there = (_version(package, versions.get(package)) for versions in (ours, theirs))
        if here != there:
            name = package.capitalize() if package == "python" else package
            return f"{f'{name} {there}' if there else f'no {name}'} instead of {here}"
    return ""


def _version(package: str, version: str | None) -> str | None:
    """Return the relevant part of a version: for Python, the minor version."""
    return ".".join(version.split(".")[:2]) if package == "python" and version else version
