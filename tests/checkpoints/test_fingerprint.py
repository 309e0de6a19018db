"""Tests that fingerprints of data and settings are distinct and stable across processes."""

import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from torch import nn

from allrelevant.checkpoints.fingerprint import describe_setting, fingerprint, run_settings


def adding(number):
    return lambda x: x + number


def plain(x):
    return x


class Factory:
    def __init__(self, width):
        self.width = width
        self._used = 0

    def make(self):
        return self.width


class Wide(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.layer = nn.Linear(2, 2)


def generator(seed, n_drawn=0):
    rng = np.random.default_rng(seed)
    rng.normal(size=n_drawn)
    return rng


DIFFERENT = [
    (1, 2),
    (1, "1"),
    ([1, 2], [2, 1]),
    ({"a": 1}, {"a": 2}),
    (plain, adding),
    (adding(1), adding(2)),
    (lambda x: x * 2, lambda x: x * 3),
    (lambda x, y=1: x, lambda x, y=2: x),
    (lambda: [x + 2 for x in (1, 2)], lambda: [x + 1 for x in (1, 2)]),
    (partial(plain, 1), partial(plain, 2)),
    (partial(plain, x=1), partial(plain, x=2)),
    (Factory(1), Factory(2)),
    (Factory(1).make, Factory(2).make),
    (nn.Linear(2, 3), nn.Linear(2, 4)),
    (nn.Sequential(Wide(1)), nn.Sequential(Wide(2))),
    (SVC(), LogisticRegression()),
    (make_pipeline(StandardScaler(), SVC(C=1.0)), make_pipeline(StandardScaler(), SVC(C=2.0))),
    (np.random.RandomState(0), np.random.RandomState(1)),
    (generator(0), generator(0, 1)),
    (np.zeros(3), np.ones(3)),
    (np.zeros(3000), np.ones(3000)),
    (nn.ReLU, nn.Tanh),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_settings_have_different_descriptions(one, other):
    assert describe_setting(one) != describe_setting(other)
    assert " at 0x" not in describe_setting(one)


@pytest.mark.parametrize(
    "make",
    [
        lambda: adding(1),
        lambda: Factory(1),
        lambda: Factory(1).make,
        lambda: partial(Factory(1).make),
        lambda: nn.Sequential(Wide(1)),
        lambda: make_pipeline(StandardScaler(), SVC(kernel=plain)),
        lambda: np.random.RandomState(3),
        lambda: generator(3, 2),
        lambda: {"b": {1, 2, 3}, "a": Factory(2)},
    ],
)
def test_equal_settings_have_the_same_description(make):
    one, other = make(), make()
    assert describe_setting(one) == describe_setting(other)


def test_numpy_scalars_and_short_arrays_are_described_like_python_values():
    assert describe_setting(np.float64(0.5)) == describe_setting(0.5)
    assert describe_setting(np.array([1.0, 2.0])) == describe_setting([1.0, 2.0])


def test_circular_references_are_described():
    circular: list = [1]
    circular.append(circular)
    assert describe_setting(circular) == "(1, ...)"

    def again(n):
        return again(n - 1) if n else 0

    assert describe_setting(again)


def test_verbosity_threads_and_device_are_not_described():
    params = {"verbose": 1, "estimator__verbose": 2, "estimator__n_threads": 3, "a__device": "cpu"}
    assert run_settings({**params, "estimator__C": 1.0}) == {"estimator__C": "1.0"}
    assert run_settings({"a": 1, "b": 2}, ignore=["a"]) == {"b": "2"}
    quiet, loud = (make_pipeline(SVC(verbose=v), verbose=v) for v in (False, True))
    assert describe_setting(quiet) == describe_setting(loud)


SCRIPT = """
import functools
from allrelevant.checkpoints.fingerprint import describe_setting
from torch import nn
def adding(number):
    return lambda x: (x in {"a", "b", "c"}, number)
class Factory:
    def __call__(self, n_inputs, n_outputs):
        return nn.Linear(n_inputs, n_outputs)
print(describe_setting([adding(3), Factory(), functools.partial(Factory(), 2), {"x", "y", "z"}]))
"""


def test_descriptions_are_the_same_in_every_process():
    done = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        ).stdout
        for seed in ("1", "2")
    ]
    assert done[0] == done[1]
    assert "Factory" in done[0]


def test_different_data_have_different_fingerprints():
    from scipy.sparse import csr_array

    X = np.arange(6.0).reshape(2, 3)
    other = X.copy()
    other[1, 2] = np.nextafter(5.0, 6.0)
    prints = [
        fingerprint(X),
        fingerprint(other),
        fingerprint(X.T),
        fingerprint(X.astype(np.float32)),
        fingerprint(csr_array(X)),
        fingerprint(X, X),
        fingerprint(np.array(["a", "b"], dtype=object)),
    ]
    assert len(set(prints)) == len(prints)
    assert fingerprint(np.asfortranarray(X)) == prints[0]
    assert fingerprint(np.array(["a", "b"], dtype=object)) == prints[-1]
