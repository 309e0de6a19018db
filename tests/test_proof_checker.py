"""Tests of the checker of proofs: what it imports, its arithmetic, and that it runs on its own."""

import ast
import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from allrelevant import proof_checker
from allrelevant.proof_checker import Problem, check_problem, digest, exact, read_csv, verify
from tests.bounds.proof_cases import make_case

SOURCE = Path(proof_checker.__file__)


def test_the_checker_is_short_and_imports_four_standard_modules():
    tree = ast.parse(SOURCE.read_text())
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    imported = {
        node.module if isinstance(node, ast.ImportFrom) else node.names[0].name for node in nodes
    }
    assert imported == {"csv", "fractions", "json", "sys"}
    assert all(len(node.names) == 1 for node in nodes)
    assert len(SOURCE.read_text().splitlines()) < 200


def run_alone(*arguments):
    command = [sys.executable, "-I", str(SOURCE), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_checker_runs_on_its_own(tmp_path):
    case = make_case(1)
    (tmp_path / "proof.json").write_text(json.dumps(case.proof))
    case.frame.to_csv(tmp_path / "table.csv", index=False)
    done = run_alone(tmp_path / "proof.json", tmp_path / "table.csv")
    assert (done.returncode, done.stderr) == (0, "")
    assert "x0" in done.stdout
    case.frame.iloc[::-1].to_csv(tmp_path / "table.csv", index=False)
    done = run_alone(tmp_path / "proof.json", tmp_path / "table.csv")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("The table is not that of the proof")


def test_numbers_are_exact():
    numbers = [0.1, -3.0, 2.0**-1074, 1e300, 0.0]
    integers, unit = exact(numbers)
    assert [Fraction(i, unit) for i in integers] == [Fraction(x) for x in numbers]
    assert exact([]) == ([], 1)
    with pytest.raises((ValueError, OverflowError)):
        exact([float("nan")])


# One column with the values 1, -1 and 1/2, whose classes are b, a and b.
PROOF = {
    "task": "classification",
    "target": "y",
    "rows": [0, 1, 2],
    "columns": [{"name": "x", "source": "x", "center": 0.0, "factor": 1.0}],
}
PROBLEM = {
    "coding": {"codes": [["a", -1], ["b", 1]]},
    "weights": [1.0, 1.0, 1.0],
    "norm": 3.0,
    "loss": 0.5,
}
TABLE = {"x": [1.0, -1.0, 0.5], "y": ["b", "a", "b"]}


def test_a_model_is_measured():
    problem = Problem(PROOF, PROBLEM, TABLE)
    # The slack variables are 0, 1 - (3/4 - 1/4) and 1 - (3/8 + 1/4).
    model = {"weights": [[0, 0.75]], "offsets": [0.25]}
    assert problem.measure(model) == (Fraction(3, 4), Fraction(1, 2) + Fraction(3, 8), -1)


def test_a_certificate_gives_a_limit():
    problem = Problem(PROOF, PROBLEM, TABLE)
    # The constraints of the last two rows: w - o >= 1 - s1 and w / 2 + o >= 1 - s2. Their sum is
    # 3/2 w + s1 + s2 >= 2, and s1 + s2 <= 1/2, so w >= 1.
    combined = problem.combine([[1, 0.75], [2, 0.75]])
    v, _, rest = combined
    assert v == [Fraction(9, 8)]
    assert rest == Fraction(3, 4) * (Fraction(1, 2) - 2)
    # The limit on -w is |9/8 - 1| * 3 - 9/8.
    assert problem.limit(combined, 0, -1, Fraction(1)) == Fraction(3, 8) - Fraction(9, 8)
    # With the factors 2/3, it is -1.
    assert problem.limit(combined, 0, -1, Fraction(8, 9)) == -1
    assert problem.limit(combined, 0, 1, Fraction(0)) == 3


def test_factors_must_cancel_the_offsets_and_be_positive():
    problem = Problem(PROOF, PROBLEM, TABLE)
    for factors in (
        [[0, 1.0]],
        [[1, 1.0], [2, 1.5]],
        [[1, -1.0], [2, -1.0]],
        [[-1, 1.0], [1, 1.0]],
    ):
        with pytest.raises(ValueError, match="factors of constraints"):
            problem.combine(factors)


def test_each_row_needs_a_weight():
    for weights in ([1.0, 1.0], [1.0] * 4, [1.0, 1.0, 0.0]):
        with pytest.raises(ValueError, match=r"\Aeach row needs a positive weight\Z"):
            Problem(PROOF, {**PROBLEM, "weights": weights}, TABLE)
    with pytest.raises(ValueError, match=r"\Aeach row needs a positive weight\Z"):
        Problem({**PROOF, "rows": [0, 1, -1]}, PROBLEM, TABLE)


@pytest.mark.parametrize(
    ("task", "codes"),
    [
        ("classification", [["a", -1], ["b", -1]]),
        ("classification", [["a", 0], ["b", 1]]),
        ("ranking", [["a", 1], ["b", 1]]),
        ("ordinal", [["a", 0], ["b", 2]]),
        ("ordinal", [["a", -1], ["b", 1]]),
    ],
)
def test_codes_that_do_not_suit_the_task(task, codes):
    problem = {**PROBLEM, "coding": {"codes": codes}}
    with pytest.raises(ValueError, match=r"\Athe codes of the classes do not suit the task\Z"):
        Problem({**PROOF, "task": task}, problem, TABLE)


def test_hard_constraints_keep_thresholds_in_order():
    """Three classes: w x + slack is above the threshold below the class, by at least 1."""
    table = {"x": [0.0, 1.0, 2.0], "y": ["a", "b", "c"]}
    coding = {"codes": [["a", 0], ["b", 1], ["c", 2]]}
    problem = Problem(
        {**PROOF, "task": "ordinal"},
        {**PROBLEM, "coding": coding, "weights": [1.0, 2.0, 4.0]},
        table,
    )
    signs = [(samples, coefficients) for samples, coefficients, *_ in problem.constraints]
    assert signs == [
        ({0: -1}, {0: 1}),
        ({1: -1}, {1: 1}),
        ({1: 1}, {0: -1}),
        ({2: 1}, {1: -1}),
        ({}, {1: 1, 0: -1}),
    ]
    targets = [(target, weight) for *_, target, weight in problem.constraints]
    assert targets == [(1, 1), (1, 2), (1, 2), (1, 4), (0, None)]
    # The thresholds 3/2 and 1 violate their order by 1/2.
    model = {"weights": [[0, 1.0]], "offsets": [1.5, 1.0]}
    assert problem.measure(model) == (1, 2 * 1 + 2 * Fraction(3, 2), Fraction(1, 2))
    # -w x_0 + o_0 + s_0 >= 1, w x_2 - o_1 + s_3 >= 1 and o_1 - o_0 >= 0 add up to
    # 2 w + s_0 + s_3 >= 2. The slack variables sum to at most 1/2, because their weights are 1, 4.
    combined = problem.combine([[0, 1.0], [3, 1.0], [4, 1.0]])
    assert combined == ([2], [0], Fraction(1, 2) - 2)
    assert problem.limit(combined, 0, -1, Fraction(1, 2)) == -Fraction(3, 4)


@pytest.mark.parametrize(("offsets", "holds"), [([1.0, 1.5], True), ([1.5, 1.0], False)])
def test_models_that_violate_a_hard_constraint_attain_nothing(offsets, holds):
    proof = {**PROOF, "task": "ordinal", "rows": [0, 1, 2]}
    claims = [
        {"proven": limit, "attained": 1.0, "certificate": 0, "model": 0, "times": 0.0}
        for limit in (-3.0, 3.0)
    ]
    problem = {
        **{**PROBLEM, "loss": 100.0, "coding": {"codes": [["a", 0], ["b", 1], ["c", 2]]}},
        "models": [{"weights": [[0, 1.0]], "offsets": offsets}],
        "certificates": [[]],
        "bounds": [["x", *claims]],
    }
    ((name, ends, false),) = check_problem(proof, problem, {**TABLE, "y": ["a", "b", "c"]})
    assert (name, ends) == ("x", (0, 1.0, 1.0, 3.0))
    assert false == ([] if holds else ["no model shows that its weight can be 1.0"] * 2)


def test_digests_of_different_values_differ():
    assert digest([1.0, "a"]) == digest([1.0, "a"])
    assert len({digest(x) for x in ([1.0], [1], ["1"], [None], [1.0, 1.0], [-1.0], [[1.0]])}) == 7


def test_cells_are_read_as_numbers_words_and_missing_values(tmp_path):
    path = tmp_path / "table.csv"
    text = '\ufeffx,unused,y\n1e-3,,NA\nTrue,b, c\n?,d,1\n2,e,"line\r\nbreak"\n'
    path.write_text(text, newline="", encoding="utf-8")
    proof = {"kinds": {"x": "number", "y": "word"}, "missing": ["", "NA", "?"]}
    y = [None, " c", "1", "line\r\nbreak"]
    assert read_csv(path, proof) == {"x": [0.001, 1.0, None, 2.0], "y": y}


def test_failures_name_column_problem_and_claim():
    case = make_case(0)
    bound = case.proof["problems"][0]["bounds"][0]
    bound[2]["proven"] = bound[1]["proven"]
    content = {key: value for key, value in case.proof.items() if key != "digest"}
    _, (failure,) = verify({**content, "digest": digest(content)}, case.cells)
    limit = bound[2]["proven"]
    assert failure == f"'x0' (''): its largest weight can be beyond {limit}."
    bound[2]["proven"], bound[1]["proven"] = 10.0, 9.0
    bound[1]["attained"] = 5.0
    _, (first, second) = verify({**content, "digest": digest(content)}, case.cells)
    assert first == "'x0' (''): its smallest weight can be beyond 9.0."
    assert second == "'x0' (''): no model shows that its weight can be 5.0."
    _, (failure,) = verify({**content, "digest": "0"}, case.cells)
    expected = "The proof was changed: its content does not have the digest that it states."
    assert failure == expected
    content["fingerprint"] = "0"
    _, (failure,) = verify({**content, "digest": digest(content)}, case.cells)
    assert failure == (
        "The table is not that of the proof: its values have a different fingerprint."
    )
