"""Text formatting: printable feature names, lists, counts and numbers."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

# Joiners are invisible, but Persian and Hindi spelling and many emoji require them.
_JOINERS = "\u200c\u200d"


# Limits of messages, in terminal cells. A message may quote a long name or a value.
_MAX_NAME = 80
_MAX_WORD = 100
_MAX_MESSAGE = 2000
_MAX_SCANNED = 100_000

_SPACES = re.compile(r"[ \t\n\r\f\v]+")


def printable(name: object) -> str:
    r"""Return a name with control and invisible characters escaped, and quoted if it is blank.

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


def message_line(message: str) -> str:
    r"""Return a message on one line, with control characters escaped and long words shortened.

    >>> message_line("Unknown column 'a\x1b[31m'.\nCheck the name.")
    "Unknown column 'a\\x1b[31m'. Check the name."
    >>> len(message_line("x" * 1000))
    100
    """
    text = _SPACES.sub(" ", message[:_MAX_SCANNED] + message[_MAX_SCANNED:][-_MAX_SCANNED:])
    words = (shorten(printable(word), _MAX_WORD) for word in text.split(" ") if word)
    return shorten(" ".join(words), _MAX_MESSAGE)


def display_width(text: str) -> int:
    """Return the number of terminal cells that a text occupies.

    >>> display_width("age"), display_width("年齢")
    (3, 4)
    """
    return sum(map(_character_width, text))


def _character_width(character: str) -> int:
    if unicodedata.combining(character) or character in _JOINERS:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def shorten(text: str, width: int, ellipsis: str = "…") -> str:
    """Shorten a text to at most ``width`` cells by replacing its middle with an ellipsis.

    The end is kept because long names often differ only there.

    >>> shorten("concentration_day_17", 12)
    'concent…y_17'
    """
    if len(_longest_prefix(text, width)) == len(text):
        return text
    room = width - display_width(ellipsis)
    tail = _longest_prefix(text[::-1], room // 2 - room // 8)[::-1]
    return _longest_prefix(text, room - display_width(tail)) + ellipsis + tail


def short_label(name: object, width: int) -> str:
    """Return a name in printable form, shortened to at most ``width`` cells."""
    return shorten(printable(name), width)


def _longest_prefix(text: str, width: int) -> str:
    """Return the longest prefix of a text that fits in ``width`` cells."""
    used = 0
    for index, character in enumerate(text):
        used += _character_width(character)
        if used > width:
            return text[:index]
    return text


def wrap(text: str, width: int, indent: str = "") -> list[str]:
    """Split a text into lines of at most ``width`` cells, each starting with ``indent``.

    A longer word gets a separate line.

    >>> wrap("one two three", 9, "  ")
    ['  one two', '  three']
    """
    lines: list[str] = []
    for word in text.split():
        if lines and display_width(lines[-1]) + 1 + display_width(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(indent + word)
    return lines


def percent(fraction: float) -> str:
    """Format a fraction as a percentage with one decimal.

    >>> percent(0.875)
    '87.5%'
    """
    return use_minus_sign(f"{fraction:.1%}")


def number(value: float) -> str:
    """Format a number compactly, rounded to an integer or to four significant digits.

    >>> number(1234567.0), number(3.14159), number(2000.0)
    ('1,234,567', '3.142', '2,000')
    """
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.4g}"


def probability(value: float | None, missing: str = "-") -> str:
    """Format a p-value or q-value with two significant digits.

    >>> probability(0.01234), probability(0.0004), probability(1.0), probability(None)
    ('0.012', '<0.001', '1', '-')
    """
    if value is None:
        return missing
    return "<0.001" if value < 0.001 else f"{value:.2g}"


def use_minus_sign(text: str) -> str:
    """Replace hyphens with typographic minus signs, for HTML reports."""
    return text.replace("-", "\N{MINUS SIGN}")


def decimals_for(features: Sequence[Mapping[str, Any]]) -> int:
    """Return the number of decimals that gives the largest upper bound four significant digits."""
    largest = max((f["upper"] for f in features), default=1.0)
    return 3 if largest <= 0.0 else min(max(3 - math.floor(math.log10(largest)), 0), 12)


def join_names(
    names: Sequence[str], at_most: int = 10, conjunction: str = "and", *, quote: bool = True
) -> str:
    """Join names into a phrase that lists at most ``at_most`` names and counts the others.

    Names are quoted by default.

    >>> join_names(["a", "b", "c"])
    "'a', 'b' and 'c'"
    >>> join_names(["a", "b", "c", "d"], at_most=2)
    "'a', 'b' and 2 more"
    """
    shown = [repr(shorten(name, _MAX_NAME)) if quote else name for name in names[:at_most]]
    if len(names) > at_most:
        return f"{', '.join(shown)} and {len(names) - at_most} more"
    *head, last = shown
    return f"{', '.join(head)} {conjunction} {last}" if head else last


def one_line(error: BaseException) -> str:
    """Return the message of an error on one line, without a final period.

    >>> one_line(ValueError("Too few rows.\\nUse more."))
    'Too few rows. Use more'
    """
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__


def count_noun(number: int, one: str, many: str) -> str:
    """Return a count followed by the matching singular or plural phrase.

    >>> count_noun(1, "column is", "columns are"), count_noun(2, "column is", "columns are")
    ('1 column is', '2 columns are')
    """
    return f"{number:,} {one if number == 1 else many}"
