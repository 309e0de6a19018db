"""Tests of the warning that rows look repeated."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

from allrelevant.tables.repeated_rows import hint_at_repeated_rows
from allrelevant.terms.columns import number_column

N_PATIENTS, N_VISITS = 30, 8


def messages(values, names=None):
    """Return the warnings for a table of numbers."""
    names = names or [f"x{j}" for j in range(values.shape[1])]
    columns = [number_column(n, v) for n, v in zip(names, values.T, strict=True)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        hint_at_repeated_rows(columns)
    return [str(warning.message) for warning in caught]


def visits(rng, sizes, n_columns=8, within=0.3):
    """Return numbers that vary a little between the visits of a patient."""
    patient = np.repeat(np.arange(len(sizes)), sizes)
    values = rng.normal(size=(len(sizes), n_columns))[patient]
    return values + within * rng.normal(size=values.shape)


class TestConstantNumbers:
    """Tests of numbers that are constant within patients."""

    def test_numbers_that_determine_each_other_are_pointed_out(self):
        rng = np.random.default_rng(0)
        constant = rng.normal(size=(N_PATIENTS, 2)).repeat(N_VISITS, axis=0)
        values = np.column_stack([constant, rng.normal(size=len(constant))])
        (message,) = messages(values, ["age", "height", "pressure"])
        assert message.startswith("Rows look repeated: 'age' and 'height' have only 30 different")
        assert "240 rows" in message

    def test_copied_rows_are_pointed_out(self):
        values = np.repeat(np.random.default_rng(0).normal(size=(100, 3)), 3, axis=0)
        assert len(messages(values)) == 1

    @pytest.mark.parametrize("sign", [1, -1])
    def test_the_same_measurement_in_two_units_is_not_a_sign(self, sign):
        celsius = np.random.default_rng(0).integers(40, size=400)
        assert messages(np.column_stack([celsius, sign * 1.8 * celsius + 32])) == []

    @pytest.mark.parametrize(("n_values", "n_columns"), [(40, 4), (2, 3)])
    def test_independent_integers_are_not_a_sign(self, n_values, n_columns):
        rng = np.random.default_rng(0)
        assert messages(rng.integers(n_values, size=(400, n_columns))) == []


class TestSimilarRows:
    """Tests of numbers that vary within patients."""

    @pytest.mark.parametrize("seed", range(5))
    def test_groups_of_similar_rows_are_pointed_out(self, seed):
        (message,) = messages(visits(np.random.default_rng(seed), [N_VISITS] * N_PATIENTS))
        assert message.startswith("Rows look repeated: a typical row resembles about")
        assert "--groups" in message

    @pytest.mark.parametrize("seed", range(5))
    def test_groups_may_differ_in_size(self, seed):
        rng = np.random.default_rng(seed)
        assert messages(visits(rng, rng.integers(3, 14, size=N_PATIENTS)))

    def test_pairs_of_rows(self):
        (message,) = messages(visits(np.random.default_rng(0), [2] * 120, n_columns=16))
        assert "about 1 other row much more" in message

    def test_order_of_rows_does_not_matter(self):
        rng = np.random.default_rng(0)
        values = visits(rng, [N_VISITS] * N_PATIENTS)
        assert messages(values) == messages(values[rng.permutation(len(values))])

    def test_some_values_may_be_missing(self):
        rng = np.random.default_rng(0)
        values = visits(rng, [N_VISITS] * N_PATIENTS, n_columns=12)
        values[rng.random(size=values.shape) < 0.05] = np.nan
        assert messages(values)

    def test_long_tables(self):
        assert messages(visits(np.random.default_rng(0), [N_VISITS] * 1000))

    @pytest.mark.parametrize("load", [load_breast_cancer, load_diabetes, load_iris, load_wine])
    def test_real_tables_without_repeated_rows(self, load):
        assert messages(load().data) == []

    @pytest.mark.parametrize("seed", range(5))
    def test_independent_rows(self, seed):
        rng = np.random.default_rng(seed)
        factors = rng.normal(size=(300, 2)) @ rng.normal(size=(2, 8))
        clusters = 4 * rng.normal(size=(5, 8))[rng.integers(5, size=300)]
        for center in (0.0, factors, clusters):
            assert messages(center + rng.normal(size=(300, 8))) == []
