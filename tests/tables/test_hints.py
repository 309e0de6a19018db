"""Tests of hints at row groups."""

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
