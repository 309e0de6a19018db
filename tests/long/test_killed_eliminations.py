"""Tests that killed and resumed runs give the same result as uninterrupted runs."""

import os

import numpy as np
import pytest

from tests.elimination.killing import assert_same, model, run_and_kill, table

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals differ on Windows")


@pytest.fixture(scope="module")
def whole():
    return model().fit(*table())


@pytest.mark.parametrize("n_steps", np.random.RandomState(0).randint(1, 110, size=10).tolist())
def test_one_kill(n_steps, whole, tmp_path):
    path = tmp_path / "run.ckpt"
    assert run_and_kill(path, n_steps) == n_steps
    assert_same(model(path).fit(*table()), whole)


def test_ten_kills_of_one_run(whole, tmp_path):
    path = tmp_path / "run.ckpt"
    for n_steps in np.random.RandomState(1).randint(1, 11, size=10).tolist():
        assert run_and_kill(path, n_steps) == n_steps
    assert_same(model(path).fit(*table()), whole)
