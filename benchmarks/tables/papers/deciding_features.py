"""Which features decide single rows: the toy of equation 13, Table 3 of sfs20."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..table import Column, Figures, Row, Table

EPOCHS = 30
BRANCHES = (("x_a < 0", {0, 1, 2}), ("x_a >= 0", {0, 3, 4}))


def measure(seed: int, _: Path) -> Figures:
    from ...branches import run

    accuracy, means, share, _samples = run(seed, EPOCHS)
    found = {"accuracy": 100 * accuracy, "rows": 100 * share}
    for place, (name, wanted) in enumerate(BRANCHES):
        first = set(np.argsort(-means[place])[:3].tolist())
        found[f"first, {name}"] = float(first == wanted)
        for letter, value in zip("abcde", means[place], strict=True):
            found[f"{letter}, {name}"] = float(value)
    return found


TABLE_3 = Table(
    name="sfs20_table_3",
    title="sfs20, Table 3: which features decide a row",
    about="""
Five features; the sign of the first says whether the second and third decide, or the fourth and
fifth. A network of one hidden layer is trained on 10,000 rows; then the saliency of 10,000 rows
that it never saw. "First three": seeds in which the three deciding features of a branch have
the largest mean saliency in it. "Rows": share of rightly classified single rows in which
exactly these three are largest; far from a border the gradient across it is small, whichever
features decide. The paper shows four rows, in all of which they are.
""",
    columns=[
        Column("accuracy", "accuracy", 1, ""),
        *(Column(f"first three, {name}", f"first, {name}", 2, "") for name, _ in BRANCHES),
        Column("rows, %", "rows", 0, ""),
    ],
    rows=[Row("network of 100 units", measure, seeds=10, quick=1, ours=True)],
    first="model",
)
