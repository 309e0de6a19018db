"""Krupka (2016): Tables 2.1, 2.2 and 3.1.

- ``setups``: R1 to R5, EB3 to EB20
- ``runs``: the setups on the verbs of VPS-30-En, and on the tasks that replace them
- ``gains``: means and improvements
- ``vps30en``: the reader of the verbs' feature tables
- ``published``: the figures of the thesis
- ``plot``: accuracy and size against the number of candidates
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from ....elimination_tasks import KEPT, TASKS
from ...table import Column, Derived, Figures, Measured, Paper, Plot, Row, Table
from . import gains, plot, published
from .runs import FOLDER, N_FOLDS, measure, task_runner, verb_runner
from .setups import EB_RFE, SVM_RFE, Setup
from .vps30en import load_vps30en

SEEDS = 2
FILES = {
    "leukemia": "leukemia_golub.npz",
    "colon": "colon_alon.npz",
    "riboflavin": "riboflavin.npz",
    "wine": "wine_nir.npz",
    "arcene": "arcene.npz",
    "dexter": "dexter.npz",
}
# Generated tasks, which need no data folder.
QUICK = ("words0", "words1")
DATA = f"""
The 30 verbs of VPS-30-En are not available here, because the corpus is published without the
features of the thesis. Nine tasks with more features than rows replace them: gene expression
(leukemia, colon, riboflavin), spectra (wine, arcene), texts (dexter) and three generated tables
that resemble the verbs (words: three classes of 50, 30 and 20 %, rare binary features). The targets
of riboflavin and wine are split at their median. arcene uses its training rows, dexter the first
100 of them. Numeric features are standardized over all rows. If the data folder contains feature
tables of the verbs (`{FOLDER}/access.csv` and so on, see `load_vps30en` for the layout), they are
also measured, with the folds of the corpus, and compared with the thesis."""
PROTOCOL = f"""
On these tasks there are {N_FOLDS} folds, shuffled by the seed; the thesis has the 9 folds of the
corpus. Its variance thresholds, 0.05 and 0.02, are meant for rare binary features. Here they are
replaced by keeping the {KEPT // 2} and {KEPT} features with the largest variance. Cells show the
accuracy in percent, with the number of features in brackets. "Inner" is the score that the thesis
reports, on the folds that also choose the subset; it is optimistically biased. "Nested" is the
nested cross-validation score: the whole elimination is repeated in each of {N_FOLDS} outer folds
and scored on the held-out rows."""


def rows(setups: Sequence[Setup], *, quick: bool) -> list[Row]:
    """Return the rows of the replacement tasks, then of the verbs."""
    names = [setup.name for setup in setups]
    run = partial(measure, setups=setups)
    tasks = [
        Row(
            name,
            partial(run, load=partial(task_runner, name)),
            seeds=SEEDS,
            quick=int(quick and name in QUICK),
            data_file=FILES.get(name, ""),
            is_ours=True,
        )
        for name in TASKS
    ]
    verbs = [
        Row(
            verb,
            partial(run, load=partial(verb_runner, verb)),
            published.select_setups(figures, names),
            seeds=1,
            quick=0,
            data_file=f"{FOLDER}/{verb}.csv",
            is_ours=True,
        )
        for verb, figures in published.VERBS.items()
    ]
    return tasks + verbs


def columns(setups: Sequence[Setup]) -> list[Column]:
    keys = [f"{setup.name} {kind}" for kind in gains.KINDS for setup in setups]
    return [Column(key, key, 1, in_brackets=f"{key} features") for key in keys]


def split(measured: Mapping[str, Measured]) -> tuple[dict[str, Measured], dict[str, Measured]]:
    """Return the measured replacement tasks and the measured verbs."""
    tasks = {name: runs for name, runs in measured.items() if name in TASKS}
    verbs = {name: runs for name, runs in measured.items() if name in published.VERBS}
    return tasks, verbs


def means(measured: Mapping[str, Measured], setups: Sequence[Setup]) -> list[Derived]:
    """Return the means, and those of the thesis separately unless all verbs are measured."""
    tasks, verbs = split(measured)
    average = published.select_setups(published.AVERAGE, [setup.name for setup in setups])
    lines = [gains.mean_line(f"mean of {count_noun(tasks, 'task')}", tasks, {})] if tasks else []
    if len(verbs) < len(published.VERBS):
        lines.append(Derived("mean of 30 verbs, as published", {}, average))
        average = {}
    if verbs:
        lines.append(gains.mean_line(f"mean of {count_noun(verbs, 'verb')}", verbs, average))
    return lines


def means_and_gains(measured: Mapping[str, Measured]) -> list[Derived]:
    names = [setup.name for setup in EB_RFE]
    lines = means(measured, EB_RFE)
    for rows, noun in zip(split(measured), ("task", "verb"), strict=True):
        if rows:
            lines += gains.gain_lines(count_noun(rows, noun), rows, names)
    return lines


def count_noun(rows: Mapping[str, Measured], noun: str) -> str:
    return f"{len(rows)} {noun}{'' if len(rows) == 1 else 's'}"


def shape(y: np.ndarray, n_features: int) -> Figures:
    counts = np.unique(y, return_counts=True)[1]
    return {
        "rows": len(y),
        "features": n_features,
        "classes": len(counts),
        "largest": 100 * float(counts.max()) / len(y),
    }


def task_shape(_: int, data: Path, *, name: str) -> Figures:
    task = TASKS[name](data)
    return shape(task.y, task.n_features)


def verb_shape(_: int, data: Path, *, verb: str) -> Figures:
    table = load_vps30en(data / FOLDER, verbs=[verb])[verb]
    return shape(table.y, table.X.shape[1])


TASK_TABLE = Table(
    name="krupka16_tasks",
    title="krupka16, section 2.5: the tasks",
    about=f"""{DATA}

According to the thesis, the verbs have 4 to 19 classes, most often 5 to 9, some of them rare. They
have more features than rows, and 9 folds. The largest class is the accuracy of a constant
prediction.
""",
    columns=(
        Column("rows", "rows", 0, ""),
        Column("features", "features", 0, ""),
        Column("classes", "classes", 0, ""),
        Column("largest class, %", "largest", 1, ""),
    ),
    rows=[
        *(
            Row(
                name,
                partial(task_shape, name=name),
                seeds=1,
                quick=int(name in QUICK),
                data_file=FILES.get(name, ""),
            )
            for name in TASKS
        ),
        *(
            Row(
                verb,
                partial(verb_shape, verb=verb),
                seeds=1,
                quick=0,
                data_file=f"{FOLDER}/{verb}.csv",
            )
            for verb in published.VERBS
        ),
    ],
    row_header="task",
    rows_are_methods=False,
)

TABLE_2 = Table(
    name="krupka16_table_2_1",
    title="krupka16, Tables 2.1 and 2.2: SVM-RFE in five setups",
    about=f"""
SVM-RFE with the RBF kernel. gamma is one over the number of remaining features, and the cost is
tuned at each step. The setups of Table 2.2 are:

| setup | variance above | class weights | costs |
| --- | --- | --- | --- |
| R1 | 0.05 | cw1: 1 | 1/4, 1, 4, 16, 64 |
| R2 | 0.05 | cw3: 1 / rows of the class + classes | 1/4, 1, 4, 16, 64 |
| R3 | 0.05 | cw2: 1 / rows of the class | 1/4, 1, 4, 16, 64 |
| R4 | 0.02 | cw1 | 1/16, 1/4, 1, 4, 16, 64 |
| R5 | 0.02 | cw3 | 1/16, 1/4, 1, 4, 16, 64 |

{DATA.strip()}
{PROTOCOL}

The averages of the thesis are from different data, so they are shown but not compared. Its "best
tailored" models use features that were designed for the verbs and have no counterpart here.
""",
    columns=columns(SVM_RFE),
    rows=rows(SVM_RFE, quick=True),
    row_header="task",
    rows_are_methods=False,
    remarks={"": "The features of the verbs, or their layout, may differ from the thesis's."},
    derive=partial(means, setups=SVM_RFE),
)

TABLE_3 = Table(
    name="krupka16_table_3_1",
    title="krupka16, Table 3.1: EB-RFE with 3 to 20 candidates",
    about=f"""
R5 is SVM-RFE. EB3 to EB20 have the same settings and 3 to 20 candidates at each step;
cross-validation chooses which of them to remove.

{DATA.strip()}
{PROTOCOL}

I_PREV is the relative improvement of the mean accuracy over the setup to the left, I_R5 that over
R5; the improvement in the number of features, old over new, is in brackets. P is 100 % minus the
p-value of the one-sided t-test of the tasks' relative improvements in accuracy, per seed. The
thesis does not say whether improvements are averaged over verbs or computed from the averages; its
figures are reproduced by the latter. They are shown in italics, for its 30 verbs. Those in
brackets, and I_R5 of EB12, are computed from its averages. The averages are from different data and
are on a separate line.
""",
    columns=columns(EB_RFE),
    rows=rows(EB_RFE, quick=False),
    row_header="task",
    rows_are_methods=False,
    remarks={
        "": "The thesis reports improvements of inner scores by 1 to 6 %. Here most inner "
        "accuracies are close to 100 % and can hardly improve, and P is lower because there are 9 "
        "tasks rather than 30. The nested columns are more informative: more candidates increase "
        "the inner accuracy, but not the accuracy on held-out rows, because each candidate is "
        "a further chance to overfit the folds. The thesis has no nested scores, so its gains may "
        "have the same cause. In both, more candidates give smaller subsets."
    },
    derive=means_and_gains,
    plots=[
        Plot(
            "krupka16_candidates.svg",
            "Mean accuracy and number of features by number of candidates: inner scores, which "
            "also choose the subset, and nested scores.",
            lambda measured: plot.draw_candidates(split(measured)[0]),
        )
    ],
)

TABLES = [TASK_TABLE, TABLE_2, TABLE_3]
PAPER = Paper(
    "krupka16",
    "Krupka (2016), thesis on SVM-RFE and EB-RFE, Charles University",
    TABLES,
    {
        "Tables 2.1 and 3.1 on VPS-30-En": "the features of the verbs are not published. The pages "
        "use other tasks, so that only the direction of the improvements can be compared.",
        'Tables 2.1 and 3.1, "best tailored" models': "they are copied from another paper and use "
        "features designed for the verbs.",
        "Table 3.1, confidence intervals of EB20": "they are per verb, over its 9 folds.",
        "Figure 2.1 (class distributions)": "the corpus is not available here.",
        "Section 3.4 (run time)": "not compared; it depends on the computer and on the data.",
    },
)
