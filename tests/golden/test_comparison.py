"""Tests of the comparison of documents."""

from __future__ import annotations

import json

import pytest

from .comparison import Tolerance, apply_renames, differences

RESULT = {"n": 3, "gap": 1e-17, "weights": [0.5, 0.1], "settings": {"delta": 0.1, "y": "weak"}}


def changed(**fields: object) -> str:
    return json.dumps({**RESULT, **fields})


@pytest.mark.parametrize(
    ("fields", "exact", "rounded"),
    [
        ({}, [], []),
        ({"n": 4}, [".n: 3 became 4"], [".n: 3 became 4"]),
        ({"n": 3.0}, [".n: 3 became 3.0"], [".n: 3 became 3.0"]),
        ({"gap": 2e-13}, [".gap: 1e-17 became 2e-13"], []),
        ({"weights": [0.5, 0.1 + 2**-56]}, [".weights[1]: 0.1 became 0.10000000000000002"], []),
        ({"weights": [0.5]}, [".weights: 2 items became 1"], [".weights: 2 items became 1"]),
        ({"more": None}, [".more: new"], [".more: new"]),
    ],
)
def test_json_differences(fields: dict, exact: list[str], rounded: list[str]) -> None:
    assert differences("a.json", json.dumps(RESULT), changed(**fields)) == exact
    assert differences("a.json", json.dumps(RESULT), changed(**fields), Tolerance()) == rounded


def test_signs_of_zero_differ_without_tolerance() -> None:
    assert differences("a.json", "[0.0]", "[-0.0]") != []
    assert differences("a.json", "[0.0]", "[-0.0]", Tolerance()) == []


@pytest.mark.parametrize(
    ("after", "alike"),
    [
        ("80 rows, 0.124 to 1.0e-12", True),
        ("80 rows,   0.123 to 3.1e-13", True),
        ("80 rows, 0.125 to 1.0e-12", False),
        ("81 rows, 0.123 to 1.0e-12", False),
        ("80 rows, 0.123 and 1.0e-12", False),
    ],
)
def test_text_differences(after: str, alike: bool) -> None:
    before = "80 rows, 0.123 to 1.0e-12"
    assert differences("a.txt", before, after) != []
    assert (differences("a.txt", before, after, Tolerance()) == []) == alike


def test_renames_apply_to_keys_and_whole_strings() -> None:
    renames = {"delta": "norm_slack", "weak": "replaceable"}
    result = json.loads(apply_renames("a.json", json.dumps(RESULT), renames))
    assert result["settings"] == {"norm_slack": 0.1, "y": "replaceable"}
    assert apply_renames("a.txt", "delta, deltas, weakly weak", renames) == (
        "norm_slack, deltas, weakly replaceable"
    )
