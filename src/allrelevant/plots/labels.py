"""Names of features as labels: they are user input, and may hold anything at all."""

from __future__ import annotations

import unicodedata

# Joiners are invisible yet part of the spelling of Persian or Hindi words, and of many emoji.
_JOINERS = "\u200c\u200d"


def printable(name: object) -> str:
    r"""A name that cannot move the cursor, break a line or hide.

    Examples
    --------
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

    Examples
    --------
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

    Examples
    --------
    >>> shorten("concentration_day_17", 12)
    'concent…y_17'
    """
    if display_width(text) <= width:
        return text
    room = width - display_width(ellipsis)
    tail = _fitting(text[::-1], room // 2 - room // 8)[::-1]
    return _fitting(text, room - display_width(tail)) + ellipsis + tail


def _fitting(text: str, width: int) -> str:
    """The longest beginning of a text that fits."""
    used = 0
    for index, character in enumerate(text):
        used += _character_width(character)
        if used > width:
            return text[:index]
    return text
