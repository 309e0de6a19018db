"""Göpfert, Pfannschmidt and Hammer (2017): Table 1, Figure 2."""

from __future__ import annotations

from ...comparators import linear
from ...sets import ESANN17
from ..table import NOT_FIRST, Picture, Table
from . import breast_cancer, known_truth

FOLDS = 5
PUBLISHED = {
    "I": {
        "bounds": (1.00, 0.97, 0.98),
        "bounds, one budget": (1.00, 0.97, 0.98),
        "ridge (L2-SVM)": (1.00, 0.82, 0.89),
        "L1-SVM": (0.56, 1.00, 0.72),
        "elastic net": (1.00, 0.85, 0.92),
        "Boruta": (0.94, 0.83, 0.87),
        "forward / backward": (1.00, 0.77, 0.86),
    },
    "II": {
        "bounds": (0.95, 1.00, 0.97),
        "bounds, one budget": (0.95, 1.00, 0.97),
        "ridge (L2-SVM)": (1.00, 0.83, 0.90),
        "L1-SVM": (0.57, 1.00, 0.72),
        "elastic net": (1.00, 0.83, 0.90),
        "Boruta": (1.00, 0.85, 0.91),
        "forward / backward": (1.00, 0.80, 0.87),
    },
    "III": {
        "bounds": (1.00, 0.97, 0.98),
        "bounds, one budget": (1.00, 0.97, 0.98),
        "ridge (L2-SVM)": (1.00, 0.70, 0.82),
        "L1-SVM": (0.72, 1.00, 0.83),
        "elastic net": (1.00, 0.76, 0.85),
        "Boruta": (0.96, 0.80, 0.87),
        "forward / backward": (0.85, 0.75, 0.79),
    },
}
FEATURES = {
    "I": "6 strong, 6 irrelevant",
    "II": "6 weak, 6 irrelevant",
    "III": "3 strong, 4 weak, 3 irrelevant",
}


def table_1(data: str) -> Table:
    return Table(
        name=f"esann17_table_1_{data.lower()}",
        title=f"esann17, Table 1, data {data}",
        about=f"""
Which features are relevant: 150 rows, {FEATURES[data]} features, ten instances, hyperparameters by
{FOLDS}-fold cross-validation. Cutoffs as in the paper: 1e-5 for models with an L1 penalty, the mean
weight for the L2-SVM and the elastic net. "Bounds, one budget" is the formulation of this paper,
"bounds" that of its successor ferel18, which is the default here; the paper's figure stands beside
both. Methods without a figure in italics are not in the paper: rankings by mutual information and
ReliefF take as many features as serve a linear SVM best, LassoNet has three instances, fri its
authors' defaults.
""",
        columns=known_truth.COLUMNS,
        headline="F1",
        rows=known_truth.rows(
            ESANN17[f"esann17 {data}"],
            folds=FOLDS,
            ridge=linear.ridge(linear.mean),
            elastic_net=linear.elastic_net(linear.mean),
            published=PUBLISHED[data],
        ),
        remarks={
            "": "the instances are new draws from the paper's description, and neither the grids "
            "nor the stopping rules of its comparators are published.",
            NOT_FIRST: "in one of the ten instances two of four weak features stay below the "
            "cutoff, which permuted features set, and strictly so (a false alarm in a million), "
            "though above every irrelevant feature. In the other nine all is found. The looser "
            "formulation finds them there, and noise elsewhere.",
        },
    )


FIGURE_2 = Table(
    name="esann17_figure_2",
    title="esann17, Figure 2: breast cancer",
    about="""
The profile of the 30 features under one budget for norm and loss together, which is this paper's
formulation. It names no C; here it is chosen by cross-validation. The paper finds "a few clear
strongly relevant features as well as a handful of weakly relevant ones" and an average F-score of
0.98 of the models at the bounds (on which rows is not said). Its Figure 1 has the adrenal data,
which are not public.
""",
    columns=breast_cancer.COLUMNS,
    rows=breast_cancer.rows({"formulation": "joint"}, ", one budget", {"all 30": {"F1": 0.98}})[:1],
    first="features",
    remarks={
        "": "0.98 is what the models have on the rows they were fitted to, as far as the paper "
        "tells; here every row is predicted by a model that did not see it."
    },
    pictures=[
        Picture("esann17_breast_cancer.svg", "Bounds, one budget", breast_cancer.draw_profiles)
    ],
)

TABLES = [*(table_1(data) for data in FEATURES), FIGURE_2]
