"""Saliency of individual rows in a toy example of Cancela et al. (2020): equation 13, Table 3."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..table import Column, Figures, Row, Table

EPOCHS = 30
BRANCHES = (("x_a < 0", {0, 1, 2}), ("x_a >= 0", {0, 3, 4}))


def measure(seed: int, _: Path) -> Figures:
    from ...branches import run

    accuracy, means, fraction, _samples = run(seed, EPOCHS)
    figures = {"accuracy": 100 * accuracy, "rows": 100 * fraction}
    for branch, (name, relevant) in enumerate(BRANCHES):
        top = set(np.argsort(-means[branch])[:3].tolist())
        figures[f"first, {name}"] = float(top == relevant)
        for letter, value in zip("abcde", means[branch], strict=True):
            figures[f"{letter}, {name}"] = float(value)
    return figures


TABLE_3 = Table(
    name="sfs20_table_3",
    title="sfs20, Table 3: saliency of individual rows",
    about="""
The data have five features, x_a to x_e. The sign of x_a selects one of two branches. In one branch,
the target depends on x_b and x_c. In the other branch, it depends on x_d and x_e. A network with
one hidden layer is trained on 10,000 rows, and saliency is computed for 10,000 held-out rows.

In each branch, three features are relevant: x_a and the two features that the target depends on.
The columns "top three" give the fraction of seeds for which these features have the largest mean
saliency in the branch. The column "rows with the correct top three" gives the percentage of
correctly classified rows in which exactly these features have the largest saliency.

The paper shows four rows. In all of them, the relevant features have the largest saliency. Far from
a class boundary, however, gradients are small. The saliency of a single row therefore need not
identify the relevant features of its branch.
""",
    columns=[
        Column("accuracy, %", "accuracy", 1, ""),
        *(Column(f"top three, {name}", f"first, {name}", 2, "") for name, _ in BRANCHES),
        Column("rows with the correct top three, %", "rows", 0, ""),
    ],
    rows=[Row("network of 100 units", measure, seeds=10, quick=1, is_ours=True)],
    row_header="model",
)
