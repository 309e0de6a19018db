"""Input of the commands: the table, the roles of its columns, and what is passed to ``fit``."""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass, fields
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._params import MAX_COLUMNS, MAX_GIGABYTES, MAX_ROWS
from ..exceptions import InputError

if TYPE_CHECKING:
    from ..tables.features import SplitTable

STDIN = "-"


@dataclass(frozen=True)
class TableInput:
    """Table file and the options on its format and its columns, by their names in commands."""

    table: str
    target: str
    drop: tuple[str, ...] = ()
    sep: str | None = None
    sheet: str | None = None
    categorical: tuple[str, ...] = ()
    dates: str | None = None
    privileged: tuple[str, ...] = ()
    groups: str | None = None
    event: str | None = None
    weights: str | None = None
    max_rows: int = MAX_ROWS
    max_columns: int = MAX_COLUMNS
    max_gigabytes: float = MAX_GIGABYTES

    @property
    def name(self) -> str:
        """Name of the table in reports."""
        return "standard input" if self.table == STDIN else Path(self.table).name

    def split(self, *, numbers_only: bool) -> SplitTable:
        """Read the table and split it into features, target and other columns.

        With ``numbers_only``, all features must be numbers without missing values.
        """
        from ..tables.features import ColumnRoles, require_numbers, split_features
        from ..tables.limits import Limits
        from ..tables.reading import read_table

        limits = Limits(self.max_rows, self.max_columns, self.max_gigabytes)
        columns = split_features(
            read_table(self.table, separator=self.sep, sheet=self.sheet, limits=limits),
            ColumnRoles(
                self.target,
                self.drop,
                self.privileged,
                row_groups=self.groups,
                weights=self.weights,
                event=self.event,
                categorical=self.categorical,
                dates=self.dates,
            ),
        )
        if numbers_only:
            require_numbers(columns.X.data)
        return columns


TABLE_OPTIONS = tuple(field.name for field in fields(TableInput))


def table_input(settings: MutableMapping[str, Any]) -> TableInput:
    """Remove the options on the table from the options of a command, and return them."""
    return TableInput(**{name: settings.pop(name) for name in TABLE_OPTIONS if name in settings})


def fit_arguments(est: Any, columns: SplitTable) -> dict[str, Any]:
    """Return the arguments of ``fit`` besides features and target.

    Raises ``InputError`` if the estimator does not accept one of them.
    """
    values = {
        "groups": ("--groups", columns.row_groups),
        "sample_weight": ("--weights", columns.weights),
        "privileged": ("--privileged", columns.privileged),
    }
    accepted = signature(est.fit).parameters
    for name, (flag, value) in values.items():
        if value is not None and name not in accepted:
            raise InputError(f"{flag} is not available for {type(est).__name__}. Remove {flag}.")
    return {name: value for name, (_, value) in values.items() if value is not None}
