"""Reproduced results of Göpfert, Pfannschmidt and Hammer (2017): Table 1 and Figure 2."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from ...breast_cancer import SUBSETS
from ...comparators import linear
from ...sets import ESANN17
from ..table import Paper, Plot, Row, Table
from . import breast_cancer, ground_truth

FOLDS = 5
PUBLISHED = {
    "I": {
        "bounds": (1.00, 0.97, 0.98),
        "ridge (L2-SVM)": (1.00, 0.82, 0.89),
        "L1-SVM": (0.56, 1.00, 0.72),
        "elastic net": (1.00, 0.85, 0.92),
        "Boruta": (0.94, 0.83, 0.87),
        "forward / backward": (1.00, 0.77, 0.86),
    },
    "II": {
        "bounds": (0.95, 1.00, 0.97),
        "ridge (L2-SVM)": (1.00, 0.83, 0.90),
        "L1-SVM": (0.57, 1.00, 0.72),
        "elastic net": (1.00, 0.83, 0.90),
        "Boruta": (1.00, 0.85, 0.91),
        "forward / backward": (1.00, 0.80, 0.87),
    },
    "III": {
        "bounds": (1.00, 0.97, 0.98),
        "ridge (L2-SVM)": (1.00, 0.70, 0.82),
        "L1-SVM": (0.72, 1.00, 0.83),
        "elastic net": (1.00, 0.76, 0.85),
        "Boruta": (0.96, 0.80, 0.87),
        "forward / backward": (0.85, 0.75, 0.79),
    },
}
FEATURES = {
    "I": "6 strong and 6 irrelevant",
    "II": "6 weak and 6 irrelevant",
    "III": "3 strong, 4 weak and 3 irrelevant",
}


def table_1(data: str) -> Table:
    return Table(
        name=f"esann17_table_1_{data.lower()}",
        title=f"esann17, Table 1, data {data}",
        about=f"""
The table shows how well each method selects the relevant features of synthetic data with known
ground truth. The data have 150 rows and {FEATURES[data]} features. Precision, recall and F1 of the
selected features are averaged over ten instances, one per seed. Hyperparameters are
tuned by {FOLDS}-fold cross-validation. As in the paper, a linear model selects the features whose
absolute weight exceeds a cutoff. For models with only an L1 penalty, the cutoff is 1e-5. For the
L2-SVM and the elastic net, the cutoff is the mean absolute weight.

"Bounds, joint budget" uses the formulation of the esann17 paper, with one budget for the sum of
norm and loss. "Bounds" uses the default formulation of `allrelevant`, with separate budgets. This
formulation was published in a later paper by the same authors ([ferel18](README.md)). The values of
the esann17 paper are shown next to both methods.

{ground_truth.OTHER_METHODS}
""",
        columns=ground_truth.COLUMNS,
        headline="F1",
        rows=ground_truth.rows(
            ESANN17[f"esann17 {data}"],
            folds=FOLDS,
            ridge=linear.ridge(linear.mean),
            elastic_net=linear.elastic_net(linear.mean),
            published=PUBLISHED[data],
        ),
        remarks={
            "": "The instances were newly generated according to the paper's description. The "
            "parameter grids and stopping rules of the other methods are not published.",
        },
    )


# Settings of the rows of Figure 2. The set of equivalent models has no slack in the paper.
FIGURE_2_SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "default slack, C by cross-validation": {},
    **{
        f"no slack, C = {C:g}": {"C": C, "norm_slack": 0.0, "loss_slack": 0.0}
        for C in (0.05, 0.5, 5.0)
    },
}


def figure_2_rows() -> list[Row]:
    published = {"F1 at the bounds, training": 0.98, "F1 over models": 0.0008}
    return [
        Row(
            name,
            partial(
                breast_cancer.measure_with_witnesses,
                subset=SUBSETS["all 30"],
                settings={"formulation": "joint", **settings},
            ),
            published,
            seeds=3,
            quick=1,
            is_ours=True,
        )
        for name, settings in FIGURE_2_SETTINGS.items()
    ]


FIGURE_2 = Table(
    name="esann17_figure_2",
    title="esann17, Figure 2: breast cancer",
    about="""
The table shows how many of the 30 breast cancer features are strong, weak or irrelevant. The
equivalent models have a joint budget for norm and loss, as in the paper. For the models that attain
the bounds, the paper reports an average F-score of 0.98 with a standard deviation (SD) of 0.0008.
It states neither C nor the rows on which the F-score was measured.

Here, each feature has two witnesses: a model that attains its lower bound and a model that attains
its upper bound. The F1 score of the malignant class is averaged over all 60 witnesses. It is
measured on the training rows, and on rows held out in 10-fold cross-validation. In the paper, the
equivalent models have no slack. The first row of the table uses the default slack of `allrelevant`.
Seeds determine the folds and the probes (permuted columns), from which the cutoff is
estimated.

At C = 0.5, the paper's F-score is reproduced, but its standard deviation is not. The paper finds "a
few clear strongly relevant features as well as a handful of weakly relevant ones". Here, features
are strongly relevant only if C is large.
""",
    columns=breast_cancer.WITNESS_COLUMNS,
    rows=figure_2_rows(),
    row_header="settings",
    rows_are_methods=False,
    remarks={
        "": "With a smaller C, the witnesses vary more and have a lower F1 score on the training "
        "rows. In the first row, cross-validation chooses C = 0.056 for two of the three seeds "
        "and C = 5.6 for the third."
    },
    plots=[
        Plot(
            "esann17_breast_cancer.svg",
            "The panels show the relevance intervals of the 30 features for each row of the table.",
            breast_cancer.draw_profiles,
        )
    ],
)

TABLES = [*(table_1(data) for data in FEATURES), FIGURE_2]
PAPER = Paper(
    "esann17",
    'Göpfert, Pfannschmidt and Hammer (2017), "Feature Relevance Bounds for Linear Classification"',
    TABLES,
    ["Figure 1 and the F-scores in section 4 use adrenal data, which are not public."],
)
