"""Features taken apart into those that predict and those that are known in training only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..exceptions import InputError
from .features import require_column
from .wording import listed

if TYPE_CHECKING:
    import pandas as pd


def split_privileged(
    X: pd.DataFrame, privileged: Sequence[str], *, target: str, drop: Sequence[str] = ()
) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """Take the privileged columns out of a table of features.

    Parameters
    ----------
    X : pandas.DataFrame
        What :func:`split_target` gave.
    privileged : sequence of str
        Names of the privileged columns.
    target : str
    drop : sequence of str, default=()
        Columns that are no longer in ``X``, so that messages can say why.

    Returns
    -------
    X : pandas.DataFrame
        The other columns.
    privileged : pandas.DataFrame or None
        None if there are none.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"age": [41.0, 36.0], "outcome": [0.0, 1.0]})
    >>> features, privileged = split_privileged(X, ["outcome"], target="sick")
    >>> features.columns.tolist(), privileged.columns.tolist()
    (['age'], ['outcome'])
    """
    if not privileged:
        return X, None
    for name in privileged:
        if name == target:
            raise InputError(f"{name!r} is the target: it cannot be privileged.")
        if name in drop:
            raise InputError(f"{name!r} is dropped: it cannot be privileged as well.")
        require_column(name, X.columns.tolist())
    rest = [name for name in X.columns if name not in set(privileged)]
    if not rest:
        raise InputError(
            f"All features are privileged ({listed(X.columns.tolist())}): at least one that is "
            "not is needed, to predict from."
        )
    return X[rest], X[[name for name in X.columns if name in set(privileged)]]
