"""Schulz, Mokbel, Biehl and Hammer (2015): Table 1, Figures 3 to 9."""

from __future__ import annotations

from functools import partial

from ..table import Column, Picture, Row, Table
from . import metric_errors, xor_weights

TABLE_1 = Table(
    name="schulz15_table_1",
    title="schulz15, Table 1 and Figures 5 to 9: errors of learned metrics",
    about="""
Share of rows that GMLVQ gets wrong: as learned, and with the mappings that attain the relevance
bounds at the effective dimension of least test error (the paper's choice, made on the test rows,
which flatters every row alike). As in the paper, wine and Tecator train on what was the test part
(30 and 43 rows), the metric has rank two, and mappings may have 1.01 times the least norm. The
adrenal data are not public: parkinsons stands in, a quarter of its people held out. Wine after 20
iterations and at convergence: with 256 features and 30 rows the training error is zero long before
the metric settles. Seeds draw the data of xor and the people held out; wine and Tecator have one
split.
""",
    columns=[
        Column("training error", "train", 2, "lower"),
        Column("test error", "test", 2, "lower"),
        Column("at the bounds", "bounds", 2, "lower"),
        Column("mean mapping", "averaged", 2, "lower"),
        Column("effective dimension", "dimension", 0, ""),
    ],
    rows=[
        Row(
            "xor",
            metric_errors.xor,
            {"train": 0.0, "test": 0.0, "dimension": 3},
            seeds=10,
            quick=2,
            ours=True,
        ),
        *(
            Row(
                f"wine, {iterations} iterations",
                partial(metric_errors.spectra, name="wine", max_iter=iterations),
                {"train": 0.0, "test": 0.29, "bounds": 0.14, "averaged": 0.14, "dimension": 7},
                seeds=1,
                quick=1,
                needs="wine_nir.npz",
                ours=True,
            )
            for iterations in (20, 1000)
        ),
        Row(
            "Tecator",
            partial(metric_errors.spectra, name="tecator", max_iter=1000),
            {"train": 0.07, "test": 0.16, "dimension": 9},
            seeds=1,
            quick=1,
            needs="tecator.npz",
            ours=True,
        ),
        *(
            Row(
                f"parkinsons, {learner}",
                partial(metric_errors.parkinsons, learner=learner),
                seeds=3,
                quick=0,
                needs="parkinsons.npz",
                ours=True,
            )
            for learner in ("GMLVQ", "LMNN")
        ),
    ],
    first="data",
    same_data=False,
    remarks={
        "wine, 20 iterations": "the wine spectra come from another copy of the data, whose rows "
        "may be in another order, and 30 training rows leave the metric much room. What the paper "
        "shows holds: the bounds halve the error, to less than its 0.14.",
        "wine, 1000 iterations": "as learned, as above; at the bounds and their mean it is better "
        "than the paper.",
    },
    pictures=[
        Picture(
            "schulz15_dimension.svg",
            "Figure 5: errors by effective dimension, at the bounds; dashed: as learned",
            metric_errors.draw_dimensions,
        ),
        Picture(
            "schulz15_spectra.svg",
            "Figures 6 to 9: sizes of the mapping as learned, summed bounds, mean mapping",
            metric_errors.draw_spectra,
        ),
    ],
)

FIGURES_3_4 = Table(
    name="schulz15_figures_3_4",
    title="schulz15, Figures 3 and 4: what a metric says of xor",
    about="""
Features 1 to 3 are copies with noise: any one will do. Feature 4 is needed. Features 5 and 6 are
noise. A metric is learned by GMLVQ, and its rows are explained by bounds, as the paper proposes,
and by lasso, elastic net and ridge regression on the image of each, tuned by cross-validation.
Sizes of weights, added over the rows and relative to feature 4's (the bounds: to its upper end),
over ten draws of the data. Bounds say what the others cannot: each copy alone can carry as much as
feature 4, and none must. The others give each copy a part of it, which differs from draw to draw.
""",
    columns=[Column(f"feature {j}", f"weight {j}", 2, "") for j in range(1, 7)],
    rows=[Row("bounds: can have", xor_weights.measure, seeds=10, quick=2, ours=True)],
    derive=xor_weights.derive,
    pictures=[
        Picture(
            "schulz15_xor.svg",
            "Figure 4, paths of the largest row by lasso, elastic net, ridge; right: Figure 3",
            xor_weights.draw,
        )
    ],
)

TABLES = [TABLE_1, FIGURES_3_4]
