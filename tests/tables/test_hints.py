"""Tests of hints at row groups and at repeated rows."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from allrelevant import RelevanceWarning
from allrelevant.tables.features import ColumnRoles, split_features
from allrelevant.terms.columns import Frame, number_column, word_column

N_PATIENTS, N_VISITS = 30, 8


def messages(*columns, **roles):
    """Return the warnings when a table with these columns and a target is split."""
    target = number_column("ill", np.arange(len(columns[0])) % 2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        split_features(Frame((*columns, target)), ColumnRoles("ill", **roles))
    assert all(issubclass(warning.category, RelevanceWarning) for warning in caught)
    return [str(warning.message) for warning in caught]


@pytest.fixture
def visits():
    """Return the patient of each row, two numbers per patient and a number per row."""
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(N_PATIENTS), N_VISITS)
    age, height = rng.normal(size=(2, N_PATIENTS))[:, patient]
    pressure = rng.normal(size=len(patient))
    numbers = {"age": age, "height": height, "pressure": pressure}
    return patient, [number_column(name, values) for name, values in numbers.items()]


class TestRowGroups:
    """Tests of the hint at a column that identifies rows that belong together."""

    def test_repeated_words_are_pointed_out(self, visits):
        patient, numbers = visits
        column = word_column("who", [f"p{code:02}" for code in patient])
        (message, *_) = messages(column, *numbers)
        assert "'who' may identify rows that belong together (30 values" in message
        assert "--groups" in message

    def test_declared_row_groups_are_not_pointed_out(self, visits):
        patient, numbers = visits
        column = word_column("who", [f"p{code:02}" for code in patient])
        assert messages(column, *numbers, row_groups="who") == []


class TestRepeatedRows:
    """Tests of the hint at repeated rows without a column that identifies them."""

    def test_numbers_that_determine_each_other_are_pointed_out(self, visits):
        (message,) = messages(*visits[1])
        assert message.startswith("Rows look repeated: 'age' and 'height' have only 30 different")
        assert "240 rows" in message

    def test_copied_rows_are_pointed_out(self):
        rng = np.random.default_rng(0)
        values = np.repeat(rng.normal(size=(100, 3)), 3, axis=0)
        columns = [number_column(f"x{j}", column) for j, column in enumerate(values.T)]
        assert any("Rows look repeated" in message for message in messages(*columns))

    @pytest.mark.parametrize("sign", [1, -1])
    def test_the_same_measurement_in_two_units_is_not_a_sign(self, sign):
        celsius = np.random.default_rng(0).integers(40, size=400)
        columns = [number_column("C", celsius), number_column("F", sign * 1.8 * celsius + 32)]
        assert messages(*columns) == []

    def test_independent_rounded_numbers_are_not_a_sign(self):
        values = np.random.default_rng(0).integers(40, size=(4, 400))
        assert messages(*(number_column(f"x{j}", row) for j, row in enumerate(values))) == []

    def test_binary_tables_are_not_a_sign(self):
        values = np.random.default_rng(0).integers(2, size=(3, 400))
        assert messages(*(number_column(f"x{j}", row) for j, row in enumerate(values))) == []
