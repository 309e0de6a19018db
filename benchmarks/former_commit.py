"""Speed of the working tree compared with an earlier commit.

usage: python -m benchmarks.former_commit COMMIT [--rounds N] [--only TEXT ...] [--data FOLDER]
                                          [--python FORMER_PYTHON]

The commit is checked out into a temporary folder. Each workload runs in separate processes that
alternate between the two trees. A process runs the workload once before it measures. The time of a
tree is the minimum over all rounds. It is CPU time, which depends little on other work on the
computer; for workloads that start processes, it is elapsed time. A ratio above 1 means that the
working tree is slower. Workloads use only names that exist in both trees. If the former commit has
other dependencies, ``--python`` is an interpreter that has them.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent

HEADER = """
import time, warnings
warnings.simplefilter("ignore")
import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
import allrelevant
from allrelevant.datasets import make_linear_classification
cancer = load_breast_cancer(return_X_y=True)
diabetes = load_diabetes(return_X_y=True)
wine = load_wine(return_X_y=True)
thirds = np.digitize(diabetes[1], np.quantile(diabetes[1], [1 / 3, 2 / 3]))
wide = make_linear_classification(
    100, n_strong=5, n_weak=10, n_irrelevant=385, flip=0.05, random_state=0
)
tall = make_linear_classification(
    3000, n_strong=4, n_weak=6, n_irrelevant=20, flip=0.05, random_state=0
)
"""

MEASURE = """
work()
times = []
for _ in range({repeats}):
    start = time.{clock}()
    work()
    times.append(time.{clock}() - start)
print(min(times))
"""

# Setup code for the intervals of a table of `benchmarks.speed`, and for eliminations.
INTERVALS = """
import os, pathlib
from allrelevant.bounds.baseline import FORMULATIONS
from allrelevant.bounds.solver.ranges import size_ranges
from benchmarks.speed_cases import CASES
case = CASES["{name}"]
samples = case.load(pathlib.Path(os.environ["DATA"]))
baseline = FORMULATIONS["separate"].fit(samples, case.C)
def intervals():
    models = FORMULATIONS["separate"].equivalent_models(baseline, case.slack)
    size_ranges(models, range(samples.n_features))
"""
ELIMINATION = """
from sklearn.model_selection import StratifiedKFold
from benchmarks.elimination_speed import COSTS, table
X, y = table({n_samples}, {n_features})
"""

# Setup code, timed code and number of repetitions per process, by name of the workload.
WORKLOADS: dict[str, tuple[str, str, int]] = {
    "import allrelevant, ClassificationBounds": (
        "import subprocess, sys",
        "subprocess.run([sys.executable, '-c', 'from allrelevant import ClassificationBounds'])",
        5,
    ),
    "ClassificationBounds, breast cancer 569 x 30": (
        "",
        "allrelevant.ClassificationBounds(random_state=0).fit(*cancer)",
        5,
    ),
    "ClassificationBounds, wine, three classes": (
        "",
        "allrelevant.ClassificationBounds(random_state=0).fit(*wine)",
        5,
    ),
    "ClassificationBounds, 3,000 x 30": (
        "",
        "allrelevant.ClassificationBounds(C=1.0, random_state=0).fit(tall.X, tall.y)",
        2,
    ),
    "ClassificationBounds, 100 x 400": (
        "",
        "allrelevant.ClassificationBounds(C=1.0, n_probes=10, random_state=0).fit(wide.X, wide.y)",
        2,
    ),
    "RegressionBounds, diabetes": (
        "",
        "allrelevant.RegressionBounds(random_state=0).fit(*diabetes)",
        3,
    ),
    "OrdinalBounds, diabetes in thirds": (
        "",
        "allrelevant.OrdinalBounds(random_state=0).fit(diabetes[0], thirds)",
        3,
    ),
    "RankingBounds, breast cancer, ten columns": (
        "",
        "allrelevant.RankingBounds(C=1.0, n_probes=5, random_state=0)"
        ".fit(cancer[0][:200, :10], cancer[1][:200])",
        2,
    ),
    "MetricBounds, wine": ("", "allrelevant.MetricBounds(random_state=0).fit(*wine)", 1),
    "what_if, breast cancer": (
        "est = allrelevant.ClassificationBounds(random_state=0).fit(*cancer)",
        "est.what_if({21: 'drop'})",
        5,
    ),
    "relations, breast cancer": (
        "est = allrelevant.ClassificationBounds(random_state=0).fit(*cancer)",
        "est.relations()",
        3,
    ),
    "cheapest, breast cancer": (
        "est = allrelevant.ClassificationBounds(random_state=0).fit(*cancer)",
        "est.cheapest()",
        2,
    ),
    "SVMRFE, breast cancer": ("", "allrelevant.SVMRFE().fit(*cancer)", 3),
    "SVMRFE, RBF, wine": ("", "allrelevant.SVMRFE(kernel='rbf').fit(*wine)", 3),
    "EBRFE, wine": ("", "allrelevant.EBRFE(n_candidates=3).fit(*wine)", 3),
    "SaliencySelector, SVC, breast cancer": (
        "from sklearn.svm import SVC",
        "allrelevant.SaliencySelector(SVC()).fit(*cancer)",
        3,
    ),
    "GMLVQ, wine": ("", "allrelevant.GMLVQ(random_state=0).fit(*wine)", 3),
    "allrelevant demo": (
        "import subprocess, sys, os, tempfile; folder = tempfile.mkdtemp()",
        "subprocess.run([sys.executable, '-m', 'allrelevant.cli', 'demo', '-q', '-o', "
        "os.path.join(folder, 'r.html')], check=True)",
        3,
    ),
    "allrelevant --help": (
        "import subprocess, sys",
        "subprocess.run([sys.executable, '-m', 'allrelevant.cli', '--help'], "
        "check=True, stdout=subprocess.DEVNULL)",
        5,
    ),
}


# Names of tables of `benchmarks.speed`. The last two are in the data folder.
TABLES = {
    "breast cancer 569 x 30": 20,
    "500 x 100": 5,
    "200 x 300": 3,
    "colon 62 x 2,000": 3,
    "leukemia 72 x 7,129": 1,
}
WORKLOADS |= {
    f"intervals, {name}": (INTERVALS.format(name=name), "intervals()", repeats)
    for name, repeats in TABLES.items()
}
RFE = "allrelevant.SVMRFE(cv=None, n_features_to_select=1{}).fit(X, y)"
MARGIN = ", kernel='rbf', criterion='margin', min_features_to_select={0}, n_features_to_select={0}"
EBRFE = (
    "allrelevant.EBRFE(n_candidates=5, C=COSTS, cv=StratifiedKFold(9), kernel='rbf', "
    "min_features_to_select={}).fit(X, y)"
)
WORKLOADS |= {
    f"elimination, {name}": (ELIMINATION.format(n_samples=n, n_features=d), work, repeats)
    for name, n, d, work, repeats in (
        ("SVM-RFE, linear, 100 x 5,000", 100, 5000, RFE.format(""), 2),
        ("SVM-RFE, linear, 300 x 500", 300, 500, RFE.format(""), 2),
        ("RFECV, 5 folds, 300 x 500", 300, 500, RFE.format(", nested_cv=StratifiedKFold(5)"), 1),
        (
            "RBF, margin, 300 x 500, first 10 steps",
            300,
            500,
            RFE.replace("n_features_to_select=1", "").format(MARGIN.format(490)[2:]),
            2,
        ),
        ("EB-RFE, RBF, 100 x 2,000, first 50 steps", 100, 2000, EBRFE.format(1950), 1),
        ("EB-RFE, RBF, 200 x 300, first 50 steps", 200, 300, EBRFE.format(250), 1),
    )
}


def seconds(tree: Path, python: str, name: str, data: str) -> float:
    """Return the shortest time of a workload with one version of the package, in seconds."""
    setup, work, repeats = WORKLOADS[name]
    clock = "perf_counter" if "subprocess" in setup else "process_time"
    body = MEASURE.format(repeats=repeats, clock=clock)
    code = f"{HEADER}\n{setup}\ndef work():\n    {work}\n{body}"
    paths = {"PYTHONPATH": f"{tree / 'src'}{os.pathsep}{tree}", "DATA": str(Path(data).resolve())}
    done = subprocess.run(
        [python, "-c", code],
        env=os.environ | paths | {"OMP_NUM_THREADS": "1"},
        cwd=tempfile.gettempdir(),
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return float(done.stdout.split()[-1])


def compare(former: Path, python: str, names: list[str], rounds: int, data: str) -> float:
    """Print the times of each workload with both versions, and return the largest ratio."""
    print("| workload | former | now | ratio |\n| --- | ---: | ---: | ---: |")
    largest = 0.0
    for name in names:
        before, after = [], []
        for _ in range(rounds):
            before.append(seconds(former, python, name, data))
            after.append(seconds(ROOT, sys.executable, name, data))
        ratio = min(after) / min(before)
        largest = max(largest, ratio)
        print(f"| {name} | {min(before):.3f} s | {min(after):.3f} s | {ratio:.2f} |", flush=True)
    return largest


def compile_core(tree: Path) -> None:
    """Compile the core of a tree, if it has one."""
    script = tree / "src" / "allrelevant" / "native" / "core" / "build.py"
    if script.exists():
        subprocess.run([sys.executable, script], check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit", help="commit to compare with")
    parser.add_argument("--rounds", type=int, default=5, help="number of processes per tree")
    parser.add_argument("--only", nargs="*", default=[""], help="text in the names of workloads")
    parser.add_argument("--data", default="", help="folder with the tables that come from files")
    parser.add_argument("--python", default=sys.executable, help="interpreter of the former commit")
    args = parser.parse_args()
    names = [name for name in WORKLOADS if any(text in name for text in args.only)]
    if not args.data:
        names = [name for name in names if not name.endswith(("colon 62 x 2,000", "x 7,129"))]
    with tempfile.TemporaryDirectory() as folder:
        former = Path(folder) / "former"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "-q", "--detach", former, args.commit], check=True)
        try:
            compile_core(former)
            largest = compare(former, args.python, names, args.rounds, args.data)
        finally:
            subprocess.run([*git, "remove", "--force", former], check=True)
    print(f"\nLargest ratio: {largest:.2f}")


if __name__ == "__main__":
    main()
