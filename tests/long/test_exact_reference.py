"""Comparison of certified bounds with the exact optimum of 400 linear programs.

The exact optimum is that of ``esolver`` (QSopt_ex), a simplex solver for rational numbers. The
program is written from the exact constraints of a proof. On Debian, the package is ``qsopt-ex``.
"""

import re
import shutil
import subprocess
import warnings
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from allrelevant import ClassificationBounds, RelevanceWarning
from allrelevant.bounds.models import MIN_NORM
from allrelevant.proof_checker import Problem, check_problem
from tests.bounds.nasty import KINDS, nasty_samples
from tests.bounds.proof_cases import make_case

ESOLVER = shutil.which("esolver")

pytestmark = pytest.mark.skipif(
    ESOLVER is None, reason="esolver is not installed (Debian package qsopt-ex)"
)

# Largest distance between the bounds of the estimator and the exact ones, relative to the norm.
TOLERANCE = 1e-7


TABLES_PER_KIND = 10
RANDOM_TABLES = 100


def nasty_case(kind, seed):
    data = nasty_samples(kind, seed)
    est = ClassificationBounds(C=0.5, cutoff=0.1, standardize=seed % 3 > 0, screen=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelevanceWarning)
        est.fit(data.X, data.y, data.weight)
    proof = est.export_proof(data.X, data.y, data.weight)
    cells = {f"x{j}": column.tolist() for j, column in enumerate(data.X.T)}
    return SimpleNamespace(est=est, proof=proof, cells={**cells, "target": data.y.tolist()})


def write_program(problem, j, sign):
    """Return the program that maximizes ``sign * w_j``, in the LP format, with exact numbers."""
    lines = ["Maximize", f" obj: {sign} p{j} + {-sign} n{j}", "Subject To"]
    for r, (samples, coefficients, target, weight) in enumerate(problem.constraints):
        terms = [] if weight is None else [(Fraction(1), f"s{r}")]
        for k, column in enumerate(problem.columns):
            value = Fraction(sum(sign * column[i] for i, sign in samples.items()), problem.unit)
            terms += [(value, f"p{k}"), (-value, f"n{k}")]
        terms += [(Fraction(g), f"o{k}") for k, g in coefficients.items()]
        lines += constraint(f"c{r}", terms, ">=", target)
    columns = range(len(problem.columns))
    norm = [(Fraction(1), f"{side}{k}") for side in "pn" for k in columns]
    loss = [(c[3], f"s{r}") for r, c in enumerate(problem.constraints) if c[3] is not None]
    lines += constraint("norm", norm, "<=", problem.norm)
    lines += constraint("loss", loss, "<=", problem.loss)
    offsets = {k for _, coefficients, _, _ in problem.constraints for k in coefficients}
    return "\n".join([*lines, "Bounds", *(f" o{k} free" for k in sorted(offsets)), "End", ""])


def constraint(name, terms, sense, limit):
    lines = [f" {'+' if value > 0 else '-'} {abs(value)} {x}" for value, x in terms if value]
    return [f" {name}:", *lines, f" {sense} {limit}"]


def exact_optimum(program, folder):
    (folder / "program.lp").write_text(program)
    command = [str(ESOLVER), "-O", str(folder / "program.sol"), str(folder / "program.lp")]
    subprocess.run(command, capture_output=True, check=True, timeout=300)
    solution = (folder / "program.sol").read_text()
    assert "status OPTIMAL" in solution
    (value,) = re.findall(r"Value = (\S+)", solution)
    return Fraction(value)


def compare(case, seed, folder):
    """Compare both ends of a random weight; return the largest relative distances.

    These are the distances of the exact optimum from the attained and the proven value of the
    proof, and from those of the estimator.
    """
    rng = np.random.RandomState(seed)
    number = rng.randint(len(case.proof["problems"]))
    stated, subproblem = case.proof["problems"][number], case.est._result.subproblems[number]
    problem = Problem(case.proof, stated, case.cells)
    name, *claims = stated["bounds"][rng.randint(len(stated["bounds"]))]
    assert not any(false for *_, false in check_problem(case.proof, stated, case.cells))
    place = [column["name"] for column in case.proof["columns"]].index(name)
    layout, ranges = case.est._result.layout, subproblem.solved.weights
    index = int(np.flatnonzero(ranges.features == layout.starts[layout.names.index(name)])[0])
    # The norm of a baseline without features may be a rounding error.
    norm = stated["norm"] if stated["norm"] > MIN_NORM else 1.0
    distances = []
    for side, (sign, claim) in enumerate(zip((-1, 1), claims, strict=True)):
        optimum = sign * exact_optimum(write_program(problem, place, sign), folder)
        ends = [Fraction(claim["attained"]), Fraction(claim["proven"])]
        # Exact comparisons.
        assert sign * ends[0] <= sign * optimum <= sign * ends[1]
        ends += [Fraction(ranges.attained[index, side]), Fraction(ranges.proven[index, side])]
        distances.append([abs(float(optimum - end)) / norm for end in ends])
    return np.max(distances, axis=0)


def report(name, distances, capsys):
    worst = np.max(distances, axis=0)
    with capsys.disabled():
        print(
            f"\n{name}: {2 * len(distances)} programs; largest distance from the exact optimum, "
            f"relative to the norm: proof {worst[0]:.1e} (attained), {worst[1]:.1e} (proven), "
            f"estimator {worst[2]:.1e} (attained), {worst[3]:.1e} (proven)"
        )
    assert worst.max() <= TOLERANCE


@pytest.mark.parametrize("kind", KINDS)
def test_nasty_tables(kind, tmp_path, capsys):
    cases = ((nasty_case(kind, seed), seed) for seed in range(TABLES_PER_KIND))
    report(kind, [compare(case, seed, tmp_path) for case, seed in cases], capsys)


def test_random_tables_of_all_tasks(tmp_path, capsys):
    cases = ((make_case(seed), seed) for seed in range(RANDOM_TABLES))
    report("all tasks", [compare(case, seed, tmp_path) for case, seed in cases], capsys)
