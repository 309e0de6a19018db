"""Text for people: names of features, which may hold anything at all, lists, counts and numbers."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

# Joiners are invisible yet part of the spelling of Persian or Hindi words, and of many emoji.
_JOINERS = "\u200c\u200d"


def printable(name: object) -> str:
    r"""A name that cannot move the cursor, break a line or hide.

    >>> printable("age\tin\x1b[31m years")
    'age\\tin\\x1b[31m years'
    >>> printable("")
    "''"
    """
    text = str(name)
    if not text.strip():
        return repr(text)
    return "".join(map(_printable_character, text))


def _printable_character(character: str) -> str:
    if character.isprintable() or character in _JOINERS:
        return character
    if unicodedata.category(character) == "Zs":
        return " "
    return character.encode("unicode_escape").decode("ascii")


def display_width(text: str) -> int:
    """Number of terminal cells a text takes up.

    >>> display_width("age"), display_width("年齢")
    (3, 4)
    """
    return sum(map(_character_width, text))


def _character_width(character: str) -> int:
    if unicodedata.combining(character) or character in _JOINERS:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def shorten(text: str, width: int, ellipsis: str = "…") -> str:
    """A text of at most ``width`` cells; what is too long loses its middle.

    The end of a long name tells it from its neighbours as often as its beginning does.

    >>> shorten("concentration_day_17", 12)
    'concent…y_17'
    """
    if display_width(text) <= width:
        return text
    room = width - display_width(ellipsis)
    tail = _fitting(text[::-1], room // 2 - room // 8)[::-1]
    return _fitting(text, room - display_width(tail)) + ellipsis + tail


def short_label(name: object, width: int) -> str:
    """A name of at most ``width`` cells that is safe to print or to draw."""
    return shorten(printable(name), width)


def _fitting(text: str, width: int) -> str:
    """The longest beginning of a text that fits."""
    used = 0
    for index, character in enumerate(text):
        used += _character_width(character)
        if used > width:
            return text[:index]
    return text


def percent(share: float) -> str:
    """A share with one decimal; scores can be negative.

    >>> percent(0.875)
    '87.5%'
    """
    return real_minus(f"{share:.1%}")


def number(value: float) -> str:
    """A number of any size in few characters.

    >>> number(1234567.0), number(3.14159), number(2000.0)
    ('1,234,567', '3.142', '2,000')
    """
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.4g}"


def real_minus(text: str) -> str:
    """A number with a minus sign in place of the hyphen, for pages."""
    return text.replace("-", "\N{MINUS SIGN}")


def decimals_for(features: Sequence[Mapping[str, Any]]) -> int:
    """Decimals that show four digits of the largest bound, so that columns line up."""
    largest = max((f["upper"] for f in features), default=1.0)
    return 3 if largest <= 0.0 else min(max(3 - math.floor(math.log10(largest)), 0), 12)


def join_names(
    names: Sequence[str], at_most: int = 10, conjunction: str = "and", *, quote: bool = True
) -> str:
    """Names in a sentence, quoted; the rest of a long list as a number.

    >>> join_names(["a", "b", "c"])
    "'a', 'b' and 'c'"
    >>> join_names(["a", "b", "c", "d"], at_most=2)
    "'a', 'b' and 2 more"
    """
    shown = [repr(name) if quote else name for name in names[:at_most]]
    if len(names) > at_most:
        return f"{', '.join(shown)} and {len(names) - at_most} more"
    *head, last = shown
    return f"{', '.join(head)} {conjunction} {last}" if head else last


def count_noun(number: int, one: str, many: str) -> str:
    """A number with the words that go with it.

    >>> count_noun(1, "column is", "columns are"), count_noun(2, "column is", "columns are")
    ('1 column is', '2 columns are')
    """
    return f"{number} {one if number == 1 else many}"
