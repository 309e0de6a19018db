"""Compare documents: bit for bit, or as another processor may round them."""

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
    """How far floats may be apart: ``absolute + relative * abs(expected)``."""

    relative: float = 1e-6
    absolute: float = 1e-8

    def allows(self, expected: float, found: float) -> bool:
        """Whether both count as the same."""
        return abs(expected - found) <= self.absolute + self.relative * abs(expected)


def differences(
    name: str, expected: str, found: str, tolerance: Tolerance | None = None
) -> list[str]:
    """What differs between two documents, a line each; without a tolerance every bit counts."""
    if name.endswith(".json"):
        first, second = json.loads(expected), json.loads(found)
        return list(_of_values(first, second, "", _leaf_differs(tolerance)))
    return list(_of_texts(expected, found, tolerance))


def renamed(name: str, text: str, renames: Mapping[str, str]) -> str:
    """A document with keys and whole strings renamed; in pages and printed text, whole words."""
    if not renames:
        return text
    if name.endswith(".json"):
        return json.dumps(_renamed(json.loads(text), renames), indent=1) + "\n"
    longest_first = sorted(renames, key=len, reverse=True)
    words = "|".join(re.escape(old) for old in longest_first)
    return re.sub(rf"(?<!\w)({words})(?!\w)", lambda match: renames[match[0]], text)


def _renamed(value: Any, renames: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {renames.get(key, key): _renamed(item, renames) for key, item in value.items()}
    if isinstance(value, list):
        return [_renamed(item, renames) for item in value]
    return renames.get(value, value) if isinstance(value, str) else value


def _of_values(expected: Any, found: Any, path: str, differs: Differs) -> Iterator[str]:
    if isinstance(expected, dict) and isinstance(found, dict):
        yield from (f"{path}.{key}: missing" for key in expected if key not in found)
        yield from (f"{path}.{key}: new" for key in found if key not in expected)
        for key in filter(found.__contains__, expected):
            yield from _of_values(expected[key], found[key], f"{path}.{key}", differs)
    elif isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            yield f"{path}: {len(expected)} items became {len(found)}"
        for place, pair in enumerate(zip(expected, found, strict=False)):
            yield from _of_values(*pair, f"{path}[{place}]", differs)
    elif differs(expected, found):
        yield f"{path}: {expected!r} became {found!r}"


def _leaf_differs(tolerance: Tolerance | None) -> Differs:
    def differs(expected: Any, found: Any) -> bool:
        both_floats = isinstance(expected, float) and isinstance(found, float)
        if tolerance is not None and both_floats:
            return not tolerance.allows(expected, found)
        # The text tells 0.0 from -0.0, from 0 and from False.
        return repr(expected) != repr(found)

    return differs


def _of_texts(expected: str, found: str, tolerance: Tolerance | None) -> Iterator[str]:
    first, second = expected.splitlines(), found.splitlines()
    if len(first) != len(second):
        yield f"{len(first)} lines became {len(second)}"
    for number, (before, after) in enumerate(zip(first, second, strict=False), 1):
        if before != after and (tolerance is None or not _alike(before, after, tolerance)):
            yield f"line {number}: {before!r} became {after!r}"


def _alike(before: str, after: str, tolerance: Tolerance) -> bool:
    """Whether two lines are the same but for the last digits of their fractions."""
    # A number that is shorter by a digit moves what stands beside it.
    first, second = (NUMBER.split(" ".join(line.split())) for line in (before, after))
    return len(first) == len(second) and all(
        _same_number(a, b, tolerance) if place % 2 else a == b
        for place, (a, b) in enumerate(zip(first, second, strict=True))
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
    """What the last printed digit is worth."""
    digits, _, exponent = number.partition("e")
    return 10.0 ** (int(exponent or 0) - len(digits.partition(".")[2]))
