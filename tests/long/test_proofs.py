"""Tests that 200 genuine proofs hold, and that 1,000 changed ones and more are rejected.

The proofs are of small random tables of all tasks, see ``tests/bounds/proof_cases.py``.
"""

from collections import Counter

import numpy as np

from allrelevant.proof_checker import verify
from tests.bounds.proof_cases import FORGERIES, damaged, forged, make_case, rejects

# Seeds that the fast tests do not use.
SEEDS = range(1000, 1200)

N_DAMAGED = 5


def test_two_hundred_genuine_proofs_hold(capsys):
    tasks: Counter[str] = Counter()
    widest = 0.0
    for seed in SEEDS:
        case = make_case(seed)
        bounds, failures = verify(case.proof, case.cells)
        assert failures == [], f"seed {seed}"
        tasks[case.proof["task"]] += 1
        norm = {problem["label"]: problem["norm"] for problem in case.proof["problems"]}
        for (label, _), (least, low, high, most) in bounds.items():
            widest = max(widest, float(max(low - least, most - high)) / max(norm[label], 1e-9))
    assert widest <= 1e-6
    with capsys.disabled():
        print(
            f"\n{len(SEEDS)} genuine proofs hold, {dict(tasks)}; largest gap {widest:.1e} of norm"
        )


def test_changed_proofs_are_rejected(capsys):
    """Half of the changes come with a correct digest, so that only a false claim reveals them."""
    tried: Counter[str] = Counter()
    for seed in SEEDS:
        case, rng = make_case(seed), np.random.RandomState(seed)
        for name, proof in forged(case, rng):
            assert rejects(proof, case.cells), f"seed {seed}, {name}"
            tried[name] += 1
        for proof, cells in damaged(case, rng, N_DAMAGED):
            assert rejects(proof, cells), f"seed {seed}, damaged"
            tried["damaged"] += 1
    assert tried["damaged"] == 1000
    assert set(tried) == {*FORGERIES, "damaged"}
    assert sum(tried.values()) >= 2000
    with capsys.disabled():
        print(f"\n{sum(tried.values())} changed proofs were rejected: {dict(tried)}")
