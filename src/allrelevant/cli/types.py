"""Click parameter types that convert and validate option values."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import click

from .._params import MAX_COUNT


class NumberOrWord(click.ParamType, ABC):  # type: ignore[type-arg]
    """Option type for a number or one of several words."""

    name = "number"
    placeholder = "NUMBER"

    def __init__(self, *words: str) -> None:
        self.words = words

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value in self.words:
            return str(value)
        number = self.to_number(value)
        if number is None:
            self.fail(f"{value!r} is not {self.expected()}.", param, ctx)
        return number

    @abstractmethod
    def to_number(self, value: Any) -> float | None:
        """Convert a text to a number, or return None if the text is not valid."""

    @abstractmethod
    def expected(self) -> str:
        """Return a description of the valid values, for error messages."""

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return "|".join([self.placeholder, *self.words])


class Number(NumberOrWord):
    """Option type for a finite number within limits, or one of several words."""

    def __init__(
        self,
        *words: str,
        at_least: float | None = None,
        above: float | None = None,
        below: float | None = None,
        at_most: float | None = None,
    ) -> None:
        super().__init__(*words)
        self.at_least = at_least
        self.above = above
        self.below = below
        self.at_most = at_most

    def to_number(self, value: Any) -> float | None:
        try:
            number = float(value)
        except ValueError:
            return None
        return number if self.accepts(number) else None

    def accepts(self, number: float) -> bool:
        """Check whether a number is finite and within the limits."""
        return (
            math.isfinite(number)
            and (self.at_least is None or number >= self.at_least)
            and (self.above is None or number > self.above)
            and (self.below is None or number < self.below)
            and (self.at_most is None or number <= self.at_most)
        )

    def expected(self) -> str:
        limits = {
            "of at least": self.at_least,
            "above": self.above,
            "below": self.below,
            "of at most": self.at_most,
        }
        parts = [f"{word} {limit:g}" for word, limit in limits.items() if limit is not None]
        return " or ".join(["a number " + " and ".join(parts), *map(repr, self.words)])


class NumberList(Number):
    """Option type for a list of comma-separated numbers within limits."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        parts = str(value).split(",")
        return [super(NumberList, self).convert(part.strip(), param, ctx) for part in parts]

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return "NUMBER[,NUMBER...]"


class Numbers(NumberList):
    """Option type for one number, or a list of comma-separated numbers, within limits."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        numbers = super().convert(value, param, ctx)
        return numbers[0] if len(numbers) == 1 else numbers


class StepSize(Number):
    """Option type for the number or fraction of features to remove per step."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if number in self.words:
            return number
        if number >= 1 and number != int(number):
            self.fail(
                f"{value!r} is neither an integer nor a fraction below 1. Use a number of features "
                "such as 2, or a fraction such as 0.1.",
                param,
                ctx,
            )
        return int(number) if number >= 1 else number


class Count(NumberOrWord):
    """Option type for a positive integer or one of several words."""

    name = "count"
    placeholder = "N"

    def __init__(self, *words: str, largest: int = MAX_COUNT) -> None:
        super().__init__(*words)
        self.largest = largest

    def to_number(self, value: Any) -> float | None:
        is_short = str(value).isdecimal() and len(str(value)) <= len(str(self.largest))
        return int(value) if is_short and 1 <= int(value) <= self.largest else None

    def expected(self) -> str:
        return " or ".join([f"an integer from 1 to {self.largest}", *map(repr, self.words)])


class SubsetSize(Count):
    """Option type for a number of features, a fraction of them, or one of several words."""

    placeholder = "N|FRACTION"

    def to_number(self, value: Any) -> float | None:
        try:
            fraction = float(value)
        except ValueError:
            return None
        return fraction if 0 < fraction < 1 else super().to_number(value)


class Dimension(Count):
    """Option type for a number of dimensions, or the name of a method that chooses it."""

    placeholder = "NUMBER"

    def expected(self) -> str:
        return f"a number of dimensions, {' or '.join(map(repr, self.words))}"


class Jobs(click.ParamType):  # type: ignore[type-arg]
    """Option type for a nonzero number of worker processes (-1: all cores)."""

    name = "integer"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            jobs = int(value)
        except ValueError:
            jobs = 0
        if jobs == 0:
            self.fail(
                f"{value!r} is not a number of worker processes. Use 1, 2, ..., or -1 (all cores).",
                param,
                ctx,
            )
        return jobs


class Words(click.ParamType):  # type: ignore[type-arg]
    """Option type for several distinct words, separated by commas."""

    name = "words"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> list[str]:
        words = [word.strip() for word in str(value).split(",")]
        if len(words) < 2 or "" in words or len(set(words)) < len(words):
            self.fail(f"{value!r} is not a list of distinct words such as low,high.", param, ctx)
        return words

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return "WORD,WORD[,...]"


class NamedValue(click.ParamType):  # type: ignore[type-arg]
    """Option type for one of several words, each converted to a value."""

    name = "word"

    def __init__(self, **values: Any) -> None:
        self.values = values

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value not in self.values:
            self.fail(f"{value!r} is not {' or '.join(map(repr, self.values))}.", param, ctx)
        return self.values[value]

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return f"[{'|'.join(self.values)}]"
