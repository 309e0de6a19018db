"""Speed of the working tree compared with an earlier commit.

usage: python -m benchmarks.former_commit COMMIT [--rounds N] [--only NAME ...]

The commit is checked out into a temporary folder. Each workload runs in separate processes that
alternate between the two trees. A process compiles and warms up before it measures. The time of a
tree is the minimum over all rounds. A ratio above 1 means that the working tree is slower.
Workloads use only names that exist in both trees.
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
    start = time.perf_counter()
    work()
    times.append(time.perf_counter() - start)
print(min(times))
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


def seconds(tree: Path, name: str) -> float:
    """Return the shortest time of a workload with one version of the package, in seconds."""
    setup, work, repeats = WORKLOADS[name]
    body = MEASURE.format(repeats=repeats)
    code = f"{HEADER}\n{setup}\ndef work():\n    {work}\n{body}"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(tree / "src"), "OMP_NUM_THREADS": "1"},
        cwd=tempfile.gettempdir(),
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return float(done.stdout.split()[-1])


def compare(former: Path, names: list[str], rounds: int) -> float:
    """Print the times of each workload with both versions, and return the largest ratio."""
    print("| workload | former | now | ratio |\n| --- | ---: | ---: | ---: |")
    largest = 0.0
    for name in names:
        before, after = [], []
        for _ in range(rounds):
            before.append(seconds(former, name))
            after.append(seconds(ROOT, name))
        ratio = min(after) / min(before)
        largest = max(largest, ratio)
        print(f"| {name} | {min(before):.3f} s | {min(after):.3f} s | {ratio:.2f} |", flush=True)
    return largest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit", help="commit to compare with")
    parser.add_argument("--rounds", type=int, default=5, help="number of processes per tree")
    parser.add_argument("--only", nargs="*", default=list(WORKLOADS), help="names of workloads")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        former = Path(folder) / "former"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "-q", "--detach", former, args.commit], check=True)
        try:
            largest = compare(former, args.only, args.rounds)
        finally:
            subprocess.run([*git, "remove", "--force", former], check=True)
    print(f"\nLargest ratio: {largest:.2f}")


if __name__ == "__main__":
    main()
