"""The truth that the generators return is the truth."""

import numpy as np
import pytest
from scipy.optimize import linprog

from allrelevant import InputError
from allrelevant.datasets import make_esann17, make_ferel18, make_linear_classification
from tests.datasets.truth import copies_of_each, counts, mean_association


@pytest.mark.parametrize(
    ("setting", "n_samples", "expected"), [("A", 512, (1, 2, 11)), ("B", 256, (6, 6, 6))]
)
def test_ferel18_settings(setting, n_samples, expected):
    data = make_ferel18(setting, random_state=0)
    assert len(data.X) == n_samples
    assert counts(data.relevance) == expected


@pytest.mark.parametrize(
    ("name", "expected"), [("I", (6, 0, 6)), ("II", (0, 6, 6)), ("III", (3, 4, 3))]
)
def test_esann17_data(name, expected):
    data = make_esann17(name, random_state=0)
    assert len(data.X) == 150
    assert counts(data.relevance) == expected


def test_copies_are_copies():
    data = make_linear_classification(n_strong=1, n_weak=5, n_irrelevant=1, random_state=0)
    weak = data.X[:, data.relevance == "weak"]
    assert sorted(copies_of_each(weak)) == [2, 2, 3, 3, 3]


@pytest.mark.parametrize("n_weak", [2, 5, 6])
def test_any_combination_can_be_had_from_the_others(n_weak):
    data = make_linear_classification(n_weak=n_weak, weak="combinations", random_state=0)
    weak = data.X[:, data.relevance == "weak"]
    for j in range(n_weak):
        others = np.delete(weak, j, axis=1)
        fitted = others @ np.linalg.lstsq(others, weak[:, j])[0]
        np.testing.assert_allclose(fitted, weak[:, j], atol=1e-10)
    assert len(np.unique(weak.round(12), axis=1).T) == (n_weak if n_weak > 3 else 1)


@pytest.mark.parametrize("weak", ["copies", "combinations"])
def test_strong_features_are_needed_and_relevant_ones_suffice(weak):
    """The class is a linear function of the relevant features, and not without a strong one."""
    data = make_linear_classification(
        300, n_strong=2, n_weak=4, n_irrelevant=3, weak=weak, random_state=1
    )

    def separable(columns):
        sign = 2.0 * data.y[:, None] - 1.0
        rows = -sign * np.column_stack([data.X[:, columns], np.ones(len(data.y))])
        cost, limits = np.zeros(rows.shape[1]), -np.ones(len(rows))
        return linprog(cost, A_ub=rows, b_ub=limits, bounds=(None, None)).status == 0

    relevant = np.flatnonzero(data.relevance != "irrelevant")
    assert separable(relevant)
    assert not separable(relevant[1:])
    assert separable(np.delete(relevant, 2))


def test_flipping_and_noise_and_seeds():
    clean = make_linear_classification(200, random_state=3)
    flipped = make_linear_classification(200, flip=0.1, random_state=3)
    noisy = make_linear_classification(200, noise=0.5, random_state=3)
    np.testing.assert_array_equal(clean.X, flipped.X)
    assert (clean.y != flipped.y).sum() == 20
    assert np.std(noisy.X - clean.X) == pytest.approx(0.5, rel=0.05)
    np.testing.assert_array_equal(clean.X, make_linear_classification(200, random_state=3).X)


def test_irrelevant_features_tell_nothing_of_the_class():
    assert 0.7 < mean_association(make_linear_classification, "irrelevant") < 1.3
    assert mean_association(make_linear_classification, "strong") > 10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_weak": 1}, "single weak"),
        ({"n_strong": 0, "n_weak": 0}, "At least one feature"),
        ({"flip": 0.5}, "below 0.5"),
        ({"n_irrelevant": -1}, "negative"),
        ({"n_samples": 1}, "at least 2"),
        ({"weak": "shadows"}, "combinations"),
        ({"noise": -1.0}, "noise"),
    ],
)
def test_impossible_tables_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        make_linear_classification(**arguments)


@pytest.mark.parametrize(("make", "name"), [(make_ferel18, "C"), (make_esann17, "IV")])
def test_unknown_settings_are_named(make, name):
    with pytest.raises(InputError, match=f"got '{name}'"):
        make(name)
