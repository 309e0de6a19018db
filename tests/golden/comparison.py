"""Comparison of documents, bit for bit or up to rounding differences."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

NUMBER = re.compile(r"(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)")

Differs = Callable[[Any, Any], bool]


@dataclass(frozen=True)
class Tolerance:
    """Largest allowed difference between floats: ``absolute + relative * abs(expected)``."""

    relative: float = 1e-6
    absolute: float = 1e-8

    def allows(self, expected: float, found: float) -> bool:
        """Return whether two floats are equal up to the tolerance."""
        return abs(expected - found) <= self.absolute + self.relative * abs(expected)


def differences(
    name: str, expected: str, found: str, tolerance: Tolerance | None = None
) -> list[str]:
    """List the differences between two documents; without a tolerance, compare exactly."""
    if name.endswith(".json"):
        first, second = json.loads(expected), json.loads(found)
        return list(_value_differences(first, second, "", _leaf_differs(tolerance)))
    return list(_text_differences(expected, found, tolerance))


def apply_renames(name: str, text: str, renames: Mapping[str, str]) -> str:
    """Rename keys and whole strings of a JSON document, or whole words of other documents."""
    if not renames:
        return text
    if name.endswith(".json"):
        return json.dumps(_rename_json(json.loads(text), renames), indent=1) + "\n"
    longest_first = sorted(renames, key=len, reverse=True)
    words = "|".join(re.escape(old) for old in longest_first)
    return re.sub(rf"(?<!\w)({words})(?!\w)", lambda match: renames[match[0]], text)


def _rename_json(value: Any, renames: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {renames.get(key, key): _rename_json(item, renames) for key, item in value.items()}
    if isinstance(value, list):
        return [_rename_json(item, renames) for item in value]
    return renames.get(value, value) if isinstance(value, str) else value


def _value_differences(expected: Any, found: Any, path: str, differs: Differs) -> Iterator[str]:
    if isinstance(expected, dict) and isinstance(found, dict):
        yield from (f"{path}.{key}: missing" for key in expected if key not in found)
        yield from (f"{path}.{key}: new" for key in found if key not in expected)
        for key in filter(found.__contains__, expected):
            yield from _value_differences(expected[key], found[key], f"{path}.{key}", differs)
    elif isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            yield f"{path}: {len(expected)} items became {len(found)}"
        for index, pair in enumerate(zip(expected, found, strict=False)):
            yield from _value_differences(*pair, f"{path}[{index}]", differs)
    elif differs(expected, found):
        yield f"{path}: {expected!r} became {found!r}"


def _leaf_differs(tolerance: Tolerance | None) -> Differs:
    def differs(expected: Any, found: Any) -> bool:
        both_floats = isinstance(expected, float) and isinstance(found, float)
        if tolerance is not None and both_floats:
            return not tolerance.allows(expected, found)
        # repr distinguishes 0.0 from -0.0, 0 and False.
        return repr(expected) != repr(found)

    return differs


def _text_differences(expected: str, found: str, tolerance: Tolerance | None) -> Iterator[str]:
    first, second = expected.splitlines(), found.splitlines()
    if len(first) != len(second):
        yield f"{len(first)} lines became {len(second)}"
    for number, (before, after) in enumerate(zip(first, second, strict=False), 1):
        if before != after and (tolerance is None or not _same_line(before, after, tolerance)):
            yield f"line {number}: {before!r} became {after!r}"


def _same_line(before: str, after: str, tolerance: Tolerance) -> bool:
    """Return whether two lines are equal up to the last digits of their numbers."""
    # Spaces are normalized, because a shorter number shifts the text next to it.
    first, second = (NUMBER.split(" ".join(line.split())) for line in (before, after))
    return len(first) == len(second) and all(
        _same_number(a, b, tolerance) if index % 2 else a == b
        for index, (a, b) in enumerate(zip(first, second, strict=True))
    )


def _same_number(before: str, after: str, tolerance: Tolerance) -> bool:
    if before == after:
        return True
    if not any(mark in text for text in (before, after) for mark in ".e"):
        return False
    digit = max(_last_digit(before), _last_digit(after))
    rounded = Tolerance(tolerance.relative, tolerance.absolute + 1.001 * digit)
    return rounded.allows(float(before), float(after))


def _last_digit(number: str) -> float:
    """Return the place value of the last digit of a printed number."""
    digits, _, exponent = number.partition("e")
    return 10.0 ** (int(exponent or 0) - len(digits.partition(".")[2]))
