"""MADELON, ARCENE, DEXTER and DOROTHEA, as in Tables 2, 4, 5, 6 and 8 of sfs20."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from allrelevant import RelevanceWarning

from ... import saliency_linear
from ...saliency_evaluators import best, judged_ranking
from ...saliency_rankers import GAMMAS, Ranking, rankings
from ...saliency_sets import KERNELS, MAX_ITER, PUBLISHED, load
from ..table import Column, Derived, Figures, Measured, Row, Table

# Ends the names of accuracies on all features.
ALL = ", all"
COST = " (1.5 of RBF, as it says; its accuracy on all features is with 1)"
NUMBERS = {"arcene": 4, "dexter": 5, "dorothea": 6, "madelon": 8}
# Table 2, gamma 0.975: accuracy and number of features by ranker, then by classifier.
TABLE_2 = {
    "arcene": {
        "linear": ("83.0 (3189)", "88.0 (9750)", "85.0 (48)", "75.0 (327)"),
        "poly": ("84.0 (5578)", "88.0 (9750)", "81.0 (1088)", "73.0 (438)"),
        "rbf": ("83.0 (1269)", "88.0 (9750)", "88.0 (487)", "74.0 (3622)"),
        "sigmoid": ("84.0 (1145)", "88.0 (9750)", "81.0 (1088)", "72.0 (3715)"),
    },
    "dexter": {
        "linear": ("94.3 (1419)", "93.3 (99)", "93.7 (105)", "93.0 (102)"),
        "poly": ("93.6 (7071)", "91.0 (66)", "90.7 (33)", "90.3 (68)"),
        "rbf": ("94.0 (7071)", "92.0 (93)", "92.7 (37)", "91.7 (40)"),
        "sigmoid": ("93.7 (3384)", "93.7 (66)", "92.3 (54)", "92.0 (64)"),
    },
    "dorothea": {
        "linear": ("94.9 (222)", "94.6 (216)", "94.6 (79)", "95.1 (11318)"),
        "poly": ("94.9 (69)", "95.1 (88)", "94.9 (65)", "94.9 (150)"),
        "rbf": ("94.6 (26)", "94.6 (25)", "94.6 (23)", "94.9 (27)"),
        "sigmoid": ("94.3 (71)", "94.6 (75)", "94.9 (96)", "94.9 (85)"),
    },
    "madelon": {
        "linear": ("58.2 (218)", "71.7 (94)", "73.7 (271)", "57.0 (374)"),
        "poly": ("61.0 (9)", "76.2 (18)", "88.0 (11)", "52.3 (500)"),
        "rbf": ("60.5 (5)", "70.3 (96)", "89.3 (12)", "53.7 (3)"),
        "sigmoid": ("62.0 (4)", "71.3 (108)", "90.8 (17)", "52.3 (500)"),
    },
}


def published(cells: tuple[str, ...]) -> dict[str, float]:
    """From "90.8 (17)" and the like; an empty cell says nothing."""
    found: dict[str, float] = {}
    for kernel, cell in zip(KERNELS, cells, strict=True):
        numbers = [float(number) for number in re.findall(r"[\d.]+", cell)]
        found |= dict(zip((kernel, f"{kernel} features"), numbers, strict=False))
    return found


def as_figures(found: Mapping[str, Any]) -> dict[str, float]:
    """Best accuracy of each judge, with the fewest features that have it; with all features."""
    figures = {}
    for judge, accuracy in found["accuracy"].items():
        figures[judge], figures[f"{judge} features"] = best(accuracy)
        figures[judge + ALL] = 100 * accuracy[-1][1]
    more = ("relevant in the first 20", "training_seconds", "saliency_seconds", "n_rounds")
    return figures | {key: found[key] for key in more if key in found}


def ranking_figures(seed: int, data: Path, *, name: str, ranking: Ranking) -> Figures:
    warnings.simplefilter("ignore", ConvergenceWarning)  # the cap on libsvm's steps, on purpose
    warnings.simplefilter("ignore", RelevanceWarning)  # some columns are constant
    return as_figures(judged_ranking(load(name, data), ranking, seed))


def linear_figures(seed: int, data: Path, *, name: str, model: str) -> Figures:
    warnings.simplefilter("ignore", ConvergenceWarning)
    found = saliency_linear.fitted(load(name, data), model, seed)
    return {"linear": 100 * found["accuracy"], "linear features": found["n_features"]}


def title(ranking: Ranking) -> str:
    """Of a row."""
    return f"SFS by {ranking.title}" if ranking.ranker in (*KERNELS, "NN") else ranking.title


def of_paper(name: str, ranking: Ranking) -> dict[str, float]:
    if ranking.ranker in KERNELS:
        of_ranker = TABLE_2[name] if ranking.gamma == max(GAMMAS) else {}
        return published(of_ranker[ranking.ranker]) if of_ranker else {}
    key = "SFS NN, gamma 0.9" if ranking.ranker == "NN" else ranking.ranker
    return published(PUBLISHED[name][key])


def quick(name: str, ranking: Ranking) -> int:
    """One round by a linear machine, on the smaller sets."""
    return int(name in ("arcene", "dexter") and ranking == Ranking("linear", 0.0))


def seeds(name: str, ranking: Ranking) -> int:
    """Machines are not random; networks are, and only on ARCENE quick enough to show how much."""
    return 3 if name == "arcene" and ranking.ranker in ("NN", "DFS") else 1


def rows(name: str) -> list[Row]:
    needs = f"{name}.npz"
    of_rankings = [
        Row(
            title(ranking),
            partial(ranking_figures, name=name, ranking=ranking),
            of_paper(name, ranking),
            seeds=seeds(name, ranking),
            quick=quick(name, ranking),
            needs=needs,
            ours=ranking.ranker not in ("MIM", "ReliefF"),
        )
        for ranking in rankings(name)
    ]
    of_models = [
        Row(
            model,
            partial(linear_figures, name=name, model=model),
            published(PUBLISHED[name][model]),
            seeds=1,
            quick=0,
            needs=needs,
        )
        for model in saliency_linear.MODELS
    ]
    return [*of_rankings, *of_models]


def derive(name: str) -> Callable[[Mapping[str, Measured]], list[Derived]]:
    """The paper's own lines: all features, each judge with its own ranker, and with the best."""

    def lines(found: Mapping[str, Measured]) -> list[Derived]:
        made = [
            Derived("all features", everything(found), published(PUBLISHED[name]["all features"]))
        ]
        for gamma in GAMMAS:
            rankers = {
                kernel: found[key]
                for kernel in KERNELS
                if (key := title(Ranking(kernel, gamma))) in found
            }
            if len(rankers) < len(KERNELS):
                continue
            for kind, choose in (("same", same_ranker), ("best", best_ranker)):
                line = f"SFS {kind}, gamma {gamma:g}"
                firsts = {kernel: runs[0] for kernel, runs in rankers.items()}
                figures = {0: choose(firsts)}
                made.append(Derived(line, figures, published(PUBLISHED[name][line]), ours=True))
        return made

    return lines


def everything(found: Mapping[str, Measured]) -> Measured:
    """The same whoever ranked."""
    first = next(runs[0] for runs in found.values() if "linear, all" in runs[0])
    return {0: {key.removesuffix(ALL): first[key] for key in first if key.endswith(ALL)}}


def same_ranker(rankers: Mapping[str, Figures]) -> Figures:
    return {
        key: rankers[kernel][key] for kernel in KERNELS for key in (kernel, f"{kernel} features")
    }


def best_ranker(rankers: Mapping[str, Figures]) -> Figures:
    """Of equally accurate ones, the ranking that needs the fewest features."""
    chosen: dict[str, float] = {}
    for judge in KERNELS:
        size = f"{judge} features"
        one = max(rankers.values(), key=lambda run: (run[judge], -run[size]))
        chosen |= {key: one[key] for key in (judge, size)}
    return chosen


def columns(name: str) -> tuple[Column, ...]:
    """Of MADELON also how many of the 20 features that matter come first."""
    of_judges = [
        Column(f"{judge} SVM", judge, 1, "higher", f"{judge} features") for judge in KERNELS
    ]
    truth = Column("relevant among the first 20", "relevant in the first 20", 0, "")
    return (*of_judges, truth) if name == "madelon" else tuple(of_judges)


def table(name: str, remarks: Mapping[str, str]) -> Table:
    return Table(
        name=f"sfs20_table_{NUMBERS[name]}",
        title=f"sfs20, Table {NUMBERS[name]} and Table 2: {name.upper()}",
        about=f"""
Rankings of the features of {name.upper()}, each judged by four SVMs: the best accuracy in
percent on the rows held out, over subsets of growing size, and in brackets the fewest features
that have it. The size is chosen on the rows it is judged on, as in the paper: that flatters
every method alike, and of a few hundred rows one is a quarter to a third of a percent. Rankers
are the saliency of SVMs (all features in one round, gamma 0, or 2.5 % leaving a round, gamma
0.975), of a network (NN), the mask of a network (DFS), mutual information and ReliefF; lasso
and elastic net judge themselves. SVMs have the paper's C = 1{COST if name == "arcene" else ""},
degree 3, coef0 = 1 of poly and 0 of sigmoid, gamma one over the number of features that are
judged, classes of the same weight, and libsvm ends after {MAX_ITER:,} steps. With these, and tables
scaled [as in the paper](../saliency.md#the-challenge-sets), accuracies on all features are the
paper's. Subsets of over 50 features are judged in steps of 2 %.
""",
        columns=columns(name),
        headline="rbf",
        rows=rows(name),
        first="ranked by",
        remarks=remarks,
        derive=derive(name),
    )
