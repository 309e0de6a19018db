"""Commands whose output is stored in golden documents, and the tables that they read.

If an option or an argument is renamed, only the constants at the top change.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from .comparison import Tolerance

NETWORK_TOLERANCE = Tolerance(relative=0.05, absolute=1e-3)

# Files that the commands write, and the options that set them.
JSON = "result.json"
PAGE = "page.html"
OUTPUT_OPTIONS = ("-o", PAGE, "--json", JSON)
# Commands not listed here do not run in parallel.
JOBS_OPTION = {"demo": "--jobs", "report": "--jobs", "select": "--jobs"}

ARGUMENTS: dict[str, str] = {
    # The search for the smallest set has a time limit, which a slow computer may reach.
    "demo": "demo --no-small-set",
    "report_two_classes": "report two.csv --target y --path C --relations --costs costs.csv",
    "report_joint": "report two.csv --target y --formulation joint --class-weight balanced"
    " --path norm_slack --C 1 --cutoff 0.1 --relations",
    "report_settings": "report two.csv --target y --drop strong --norm-slack 0.2 --loss-slack 0.1"
    " --loss-tol 1e-5 --no-standardize --n-probes 20 --fpr 1e-3 --seed 7",
    "report_screened": "report two.csv --target y --screen yes --C 0.1 --cutoff 0.5",
    "report_out_of_time": "report two.csv --target y --max-seconds 1e-9",
    "report_privileged": "report later.csv --target y --privileged later_1 --privileged later_2"
    " --relations",
    "report_three_classes": "report three.csv --target y --relations --costs costs.csv",
    "report_three_classes_privileged": "report three_later.csv --target y --privileged later_1"
    " --privileged later_2 --path C",
    "report_regression": "report number.csv --target y --path norm_slack --relations"
    " --costs costs.csv",
    "report_regression_privileged": "report number_later.csv --target y --epsilon 0.5"
    " --privileged later_1 --privileged later_2",
    "report_ordinal": "report grades.csv --target y --task ordinal --path C --relations"
    " --costs costs.csv",
    "report_ordinal_privileged": "report grades_later.csv --target y --task ordinal"
    " --privileged later_1 --privileged later_2",
    "report_ranking": "report rare.csv --target y --task ranking --path C --relations"
    " --costs costs.csv",
    "report_ranking_privileged": "report rare_later.csv --target y --task ranking"
    " --privileged later_1 --privileged later_2 --C 30",
    "report_metric": "report xor.csv --target y --method metric --prototypes 2",
    "report_metric_neighbours": "report xor.csv --target y --method metric --learner lmnn --rank 3"
    " --effective-dimension spectrum --slack 0.02 --cutoff 0.1",
    "select_svmrfe": "select two.csv --target y --method svmrfe --nested-cv --n-features one_se"
    " --C 0.1,1,10",
    "select_five": "select three.csv --target y --n-features 5",
    "select_ranked_once": "select two.csv --target y --rank-once --no-bounds",
    "select_without_score": "select two.csv --target y --n-features 2 --no-score --no-bounds",
    "select_svmrfe_kernel": "select three.csv --target y --method svmrfe --kernel rbf --gamma 0.1"
    " --criterion margin --class-weight cw2 --step 0.3 --scoring accuracy --folds 4 --no-bounds",
    "select_svmrfe_groups": "select patients.csv --target y --groups patient --n-features 3"
    " --no-bounds",
    "select_ebrfe": "select two.csv --target y --method ebrfe --candidates 3 --nested-cv"
    " --checkpoint run.ckpt --no-bounds",
    "select_ebrfe_three_classes": "select three.csv --target y --method ebrfe --candidates auto"
    " --kernel poly --class-weight none --no-bounds",
    "select_bitflip": "select two.csv --target y --method bitflip --rounds 2 --no-bounds",
    "select_attributeflip": "select three.csv --target y --method attributeflip --rounds 2"
    " --no-bounds",
    "select_saliency": "select two.csv --target y --method saliency --kernel rbf"
    " --keep-fraction 0.7 --n-features 3 --no-bounds",
    "select_saliency_three_classes": "select three.csv --target y --method saliency"
    " --class-weight balanced --repeats 2 --checkpoint run.ckpt --no-bounds",
    "select_saliency_number": "select number.csv --target y --method saliency --n-features 0.25",
    "select_saliency_mlp": "select two.csv --target y --method saliency --model mlp"
    " --keep-fraction 0.5 --n-features 2 --no-bounds",
    "explain_svm": "explain two.csv --target y --row 3 --row 17 --row 40",
    "explain_svm_class": "explain three.csv --target y --row 5 --class low --kernel linear"
    " --class-weight balanced",
    "explain_svm_raw": "explain two.csv --target y --row 17 --raw",
    "explain_svm_number": "explain number.csv --target y --row 8 --kernel poly --C 3",
    "explain_mlp": "explain two.csv --target y --row 3 --row 17 --model mlp",
    "explain_mlp_number": "explain number.csv --target y --row 25 --model mlp",
}

# Networks are trained in single precision, so results differ slightly between processors.
NETWORKS = ("select_saliency_mlp", "explain_mlp", "explain_mlp_number")

N_ROWS = 80

Target = Callable[[np.ndarray, pd.DataFrame], np.ndarray]


@dataclass(frozen=True)
class Case:
    """An ``allrelevant`` command whose output is compared with stored documents."""

    name: str
    arguments: tuple[str, ...]

    @property
    def command(self) -> str:
        """Return the name of the subcommand."""
        return self.arguments[0]

    @property
    def has_jobs(self) -> bool:
        """Return whether the command has an option for the number of workers."""
        return self.command in JOBS_OPTION

    @property
    def needs_torch(self) -> bool:
        """Return whether the command trains a neural network."""
        return self.name in NETWORKS

    @property
    def tolerance(self) -> Tolerance:
        """Return the allowed rounding differences; networks train in single precision."""
        return NETWORK_TOLERANCE if self.needs_torch else Tolerance()

    def command_line(self, n_jobs: int) -> list[str]:
        """Return the full command line, including output files and the number of workers."""
        jobs = [JOBS_OPTION[self.command], str(n_jobs)] if self.has_jobs else []
        return [*self.arguments, *jobs, *OUTPUT_OPTIONS]


CASES = {name: Case(name, tuple(line.split())) for name, line in ARGUMENTS.items()}


def write_tables(folder: Path) -> None:
    """Write all tables that the golden commands read."""
    for name, make in TABLES.items():
        make().to_csv(folder / f"{name}.csv", index=False)
    names = list(_features(np.random.default_rng(0)).columns)
    costs = pd.DataFrame({"feature": names, "cost": [3, 1, 2, 1.5, 1, 1, 2.5][: len(names)]})
    costs.to_csv(folder / "costs.csv", index=False)


def _features(rng: np.random.Generator) -> pd.DataFrame:
    """Return a strong feature, two redundant ones, a slightly useful one and noise."""
    X = rng.normal(size=(N_ROWS, 7))
    X[:, 2] = X[:, 1] + 0.2 * X[:, 2]
    names = ["strong", "copy 1", "copy 2", "slight", "noise", "<noise>", "noise & noise"]
    # Few digits, so that rounding differences between processors do not affect the file.
    return pd.DataFrame(X.round(3), columns=names)


def _total(X: pd.DataFrame) -> pd.Series:
    return 2 * X["strong"] + X["copy 1"] + X["copy 2"] + 0.5 * X["slight"]


def _table(target: Target) -> pd.DataFrame:
    """Return a table of features with a target computed from their sum plus noise."""
    rng = np.random.default_rng(1)
    X = _features(rng)
    total = _total(X) + 0.8 * rng.normal(size=N_ROWS)
    return X.assign(y=target(total.round(3).to_numpy(), X))


def _later_table(target: Target) -> pd.DataFrame:
    """Return a table with errors in some rows and their size as a privileged column."""
    rng = np.random.default_rng(3)
    X = _features(rng)
    y = target(_total(X).round(3).to_numpy(), X)
    error = (rng.exponential(size=N_ROWS) * (rng.uniform(size=N_ROWS) < 0.3)).round(3)
    if y.dtype.kind == "f":
        y = (y + 3 * rng.choice([-1, 1], size=N_ROWS) * error).round(3)
    else:  # separate the classes, and move difficult rows toward the others
        ranks = np.isin(y, ["ill", "high"]) * 2 if y.dtype.kind == "U" else y - y.min()
        side = np.where(ranks > ranks.max() / 2, 1, -1)
        X["strong"] = (X["strong"] + ranks - 1.5 * side * error).round(3)
        X["slight"] += 2 * (y == "middle")
    return X.assign(later_1=error, later_2=rng.normal(size=N_ROWS).round(3), y=y)


def _two(total: np.ndarray, X: pd.DataFrame) -> np.ndarray:
    return np.where(total > 0, "ill", "healthy")


def _three(total: np.ndarray, X: pd.DataFrame) -> np.ndarray:
    return np.select([total > 1, X["slight"] > 0], ["high", "middle"], "low")


def _number(total: np.ndarray, X: pd.DataFrame) -> np.ndarray:
    return (3 * total + 5).round(3)


def _grades(total: np.ndarray, X: pd.DataFrame) -> np.ndarray:
    return 1 + np.searchsorted([-2.0, 0.0, 2.0], total)


def _rare(total: np.ndarray, X: pd.DataFrame) -> np.ndarray:
    return (total > 2).astype(int)


def _xor() -> pd.DataFrame:
    rng = np.random.default_rng(2)
    signs = rng.choice([-1, 1], size=(N_ROWS, 2))
    X = np.column_stack([signs[:, 0], signs[:, 0], signs[:, 1], np.zeros((N_ROWS, 3))])
    X = X + 0.3 * rng.normal(size=X.shape)
    X[:, 1] = X[:, 0] + 0.05 * X[:, 1]
    names = ["copy 1", "copy 2", "needed", "noise 1", "noise 2", "noise 3"]
    labels = np.where(signs.prod(axis=1) > 0, "same", "different")
    return pd.DataFrame(X.round(3), columns=names).assign(y=labels)


def _patients() -> pd.DataFrame:
    return _table(_two).assign(patient=np.arange(N_ROWS) // 4)


TABLES: dict[str, Callable[[], pd.DataFrame]] = {
    "two": lambda: _table(_two),
    "later": lambda: _later_table(_two),
    "three": lambda: _table(_three),
    "three_later": lambda: _later_table(_three),
    "number": lambda: _table(_number),
    "number_later": lambda: _later_table(_number),
    "grades": lambda: _table(_grades),
    "grades_later": lambda: _later_table(_grades),
    "rare": lambda: _table(_rare),
    "rare_later": lambda: _later_table(_rare),
    "xor": _xor,
    "patients": _patients,
}
