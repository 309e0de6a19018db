"""Reproduced results of Krupka (2016): Tables 2.1, 2.2 and 3.1.

- ``setups``: the setups R1 to R5 and EB3 to EB20
- ``runs``: runs of the setups on the verbs of VPS-30-En and on the tasks that replace them
- ``gains``: means over tasks, and improvements
- ``vps30en``: the reader of the verbs' feature tables
- ``published``: the figures of the thesis
- ``plot``: accuracy and subset size against the number of candidates
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
# Generated tasks, which do not require the data folder.
QUICK = ("words0", "words1")
DATA = f"""
The thesis uses VPS-30-En, a corpus of sentences for 30 English verbs. Each sentence is annotated
with the usage pattern of its verb. The corpus was published without the features used in the
thesis. Nine other tasks with more features than rows therefore replace it. They comprise gene
expression data (leukemia, colon, riboflavin), spectra (wine, arcene), text (dexter) and three
synthetic datasets that resemble the verb data (words0 to words2). The synthetic datasets have rare
binary features and three classes with probabilities of 50%, 30% and 20%. The numeric targets of
riboflavin and wine are
split into two classes at the median. The arcene task uses the training rows of ARCENE, and the
dexter task uses the first 100 training rows of DEXTER. Numeric features are standardized over all
rows.

If the data folder contains feature tables of the verbs (`{FOLDER}/access.csv` and so on), the
methods are also run on them, with the folds of the corpus. The results are then compared
with the thesis. The documentation of `load_vps30en` describes the layout of the tables."""
PROTOCOL = f"""
Cross-validation uses {N_FOLDS} folds, which are shuffled with the seed. The thesis uses the 9 folds
of the corpus. The thesis keeps features with a variance above 0.05 (R1 to R3) or 0.02 (the other
setups). These thresholds are meant for rare binary features. Here, the {KEPT // 2} or {KEPT}
features with the largest variance are kept instead.

Cells show the accuracy in percent, with the number of features in parentheses. "Inner" is the score
that the thesis reports. It is measured on the folds that also determine the subset, so it is
optimistically biased. "Nested" is the nested cross-validation score, for which the whole
elimination is repeated in each of {N_FOLDS} outer folds and scored on the held-out rows."""


def rows(setups: Sequence[Setup], *, quick: bool) -> list[Row]:
    """Return the table rows of the tasks that replace VPS-30-En, then those of its verbs."""
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
    return [Column(key, key, 1, in_parentheses=f"{key} features") for key in keys]


def split(measured: Mapping[str, Measured]) -> tuple[dict[str, Measured], dict[str, Measured]]:
    """Split the measured rows into replacement tasks and verbs of VPS-30-En."""
    tasks = {name: runs for name, runs in measured.items() if name in TASKS}
    verbs = {name: runs for name, runs in measured.items() if name in published.VERBS}
    return tasks, verbs


def means(measured: Mapping[str, Measured], setups: Sequence[Setup]) -> list[Derived]:
    """Return the rows with means over tasks and verbs, measured and published.

    The published means are a separate row unless all verbs are measured.
    """
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
    title="krupka16, section 2.5: tasks",
    about=f"""{DATA}

According to the thesis, the data for each verb have 4 to 19 classes, most often 5 to 9, and some
classes are rare. They have more features than rows and are divided into 9 folds. The column
"largest class" gives the accuracy of a constant prediction (dummy model).
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
    source="thesis",
    rows_are_methods=False,
)

TABLE_2 = Table(
    name="krupka16_table_2_1",
    title="krupka16, Tables 2.1 and 2.2: SVM-RFE in five setups",
    about=f"""
SVM-RFE (recursive feature elimination with SVMs) is run with the RBF kernel. The kernel parameter
gamma is one over the number of remaining features, and the cost C is tuned at each step. Table 2.2
of the thesis defines these setups:

| setup | variance above | class weights | costs |
| --- | --- | --- | --- |
| R1 | 0.05 | cw1: 1 | 1/4, 1, 4, 16, 64 |
| R2 | 0.05 | cw3: 1 / rows of the class + classes | 1/4, 1, 4, 16, 64 |
| R3 | 0.05 | cw2: 1 / rows of the class | 1/4, 1, 4, 16, 64 |
| R4 | 0.02 | cw1 | 1/16, 1/4, 1, 4, 16, 64 |
| R5 | 0.02 | cw3 | 1/16, 1/4, 1, 4, 16, 64 |

{DATA.strip()}
{PROTOCOL}

The row "mean of 30 verbs, as published" shows the averages reported in the thesis. They are for
different data and cannot be compared directly with the other rows. The "best tailored" models in
the thesis use features that were designed for the verbs, so they have no counterpart here.
""",
    columns=columns(SVM_RFE),
    rows=rows(SVM_RFE, quick=True),
    row_header="task",
    source="thesis",
    rows_are_methods=False,
    remarks={"": "The features of the verbs may differ from those of the thesis."},
    derive=partial(means, setups=SVM_RFE),
)

TABLE_3 = Table(
    name="krupka16_table_3_1",
    title="krupka16, Table 3.1: EB-RFE with 3 to 20 candidates",
    about=f"""
R5 is SVM-RFE (recursive feature elimination with SVMs). EB3 to EB20 are EB-RFE (evaluation-based
RFE) with the same settings and with 3 to 20 candidates at each step. Cross-validation determines
which candidate is removed.

{DATA.strip()}
{PROTOCOL}

I_PREV is the relative improvement of the mean accuracy over the setup to the left, and I_R5 is the
relative improvement over R5. Numbers in parentheses are relative reductions of the number of
features, computed from the ratio of the old to the new number. P is 100% minus the p-value of a
one-sided t-test. For each seed, it tests whether the mean relative improvement in accuracy over the
tasks is above zero.

Values in italics are for the 30 verbs of the thesis. The thesis does not say whether improvements
are averaged over the verbs or computed from average accuracies. The second method reproduces the
published values. The italic values in parentheses, and I_R5 of EB12, were computed here from the
averages of the thesis. The row "mean of 30 verbs, as published" shows these averages.
""",
    columns=columns(EB_RFE),
    rows=rows(EB_RFE, quick=False),
    row_header="task",
    source="thesis",
    rows_are_methods=False,
    remarks={
        "": "In the thesis, the inner accuracies of EB-RFE are 1 to 6% higher than those of R5. "
        "Here, most inner accuracies of R5 are already above 95%, which leaves little room for "
        "improvement. P is lower because there are 9 tasks rather than 30. The columns with nested "
        "accuracies are more informative. More candidates increase the inner accuracy but not the "
        "accuracy on held-out rows. A likely reason is that each candidate is a further "
        "opportunity to overfit the folds. The thesis has no nested scores, so its improvements "
        "may have the same cause. Here and in the thesis, EB-RFE selects smaller subsets than R5."
    },
    derive=means_and_gains,
    plots=[
        Plot(
            "krupka16_candidates.svg",
            "The plots show the mean accuracy and the mean number of features against the number "
            "of candidates. Inner scores also determine the subset, whereas nested scores are from "
            "held-out rows.",
            lambda measured: plot.draw_candidates(split(measured)[0]),
        )
    ],
)

TABLES = [TASK_TABLE, TABLE_2, TABLE_3]
PAPER = Paper(
    "krupka16",
    "Krupka (2016), Charles University, on recursive feature elimination (SVM-RFE and EB-RFE)",
    TABLES,
    [
        "Tables 2.1 and 3.1 use features of VPS-30-En that are not published. The pages use other "
        "tasks, so only the direction of the improvements can be compared.",
        'The "best tailored" models in Tables 2.1 and 3.1 are from another paper and use features '
        "designed for the verbs.",
        "The confidence intervals of EB20 in Table 3.1 are for single verbs and are not computed "
        "here.",
        "Figure 2.1 shows the class distributions of the corpus, which is not available here.",
        "The run times in section 3.4 are not compared, because they depend on the computer and on "
        "the data.",
    ],
)
