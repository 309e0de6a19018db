"""Tests of command-line options: agreement with constructor parameters, and invalid values."""

from __future__ import annotations

import inspect
from typing import Any

import click
import pytest

from allrelevant.cli.estimators import BOUNDS, METHODS, Method, model_to_train
from allrelevant.cli.group import cli
from allrelevant.cli.table import TABLE_OPTIONS
from allrelevant.cli.types import Count, Dimension, Jobs, Number, Numbers, StepSize, SubsetSize


@pytest.mark.parametrize(
    ("command", "methods"),
    [
        ("report", BOUNDS.values()),
        ("demo", [BOUNDS["classification"]]),
        ("select", METHODS.values()),
        ("explain", [Method("SaliencySelector", component=model_to_train)]),
    ],
)
def test_every_option_is_a_parameter(command: str, methods: list[Method]) -> None:
    callback = cli.commands[command].callback
    assert callback is not None
    command_parameters = set(inspect.signature(inspect.unwrap(callback)).parameters)
    options = {option.name for option in cli.commands[command].params} - command_parameters
    options -= set(TABLE_OPTIONS)
    assert options
    assert options <= set().union(*(method.options for method in methods))


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Number("cv", above=0), "cv", "cv"),
        (Number("cv", above=0), "1e-3", 0.001),
        (Numbers(above=0), "2", 2.0),
        (Numbers(above=0), "0.1, 1", [0.1, 1.0]),
        (StepSize(above=0), "0.5", 0.5),
        (StepSize(above=0), "3", 3),
        (Count("auto"), "auto", "auto"),
        (Count("auto"), "7", 7),
        (SubsetSize("best"), "0.25", 0.25),
        (SubsetSize("best"), "20", 20),
        (Dimension("cv"), "3", 3),
        (Jobs(), "-1", -1),
    ],
)
def test_values(kind: Any, text: str, value: Any) -> None:
    converted = kind.convert(text, None, None)
    assert converted == value
    assert type(converted) is type(value)


@pytest.mark.parametrize(
    ("kind", "text", "words"),
    [
        (Number("cv", above=0), "0", "is not a number above 0 or 'cv'."),
        (Number(at_least=0, below=1), "inf", "is not a number of at least 0 and below 1."),
        (Numbers(above=0), "1,x", "'x' is not a number above 0."),
        (StepSize(above=0), "1.5", "is neither an integer nor a fraction below 1."),
        (Count("auto"), "1.5", "is not an integer from 1 to 1000000 or 'auto'."),
        (SubsetSize("best", "one_se"), "0", "from 1 to 1000000 or 'best' or 'one_se'."),
        (Dimension("cv", "spectrum"), "0", "is not a number of dimensions, 'cv' or 'spectrum'."),
        (Jobs(), "0", "is not a number of worker processes. Use 1, 2, ..., or -1 (all cores)."),
    ],
)
def test_invalid_values(kind: Any, text: str, words: str) -> None:
    with pytest.raises(click.BadParameter) as error:
        kind.convert(text, None, None)
    assert words in error.value.message
