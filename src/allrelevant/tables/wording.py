"""Lists and numbers in messages."""

from __future__ import annotations

from collections.abc import Sequence


def listed(
    names: Sequence[str], at_most: int = 10, conjunction: str = "and", *, quote: bool = True
) -> str:
    """Names in a sentence, quoted; the rest of a long list as a number.

    Examples
    --------
    >>> listed(["a", "b", "c"])
    "'a', 'b' and 'c'"
    >>> listed(["a", "b", "c", "d"], at_most=2)
    "'a', 'b' and 2 more"
    """
    shown = [repr(name) if quote else name for name in names[:at_most]]
    if len(names) > at_most:
        return f"{', '.join(shown)} and {len(names) - at_most} more"
    *head, last = shown
    return f"{', '.join(head)} {conjunction} {last}" if head else last


def counted(number: int, one: str, many: str) -> str:
    """A number with the words that go with it.

    Examples
    --------
    >>> counted(1, "column is", "columns are"), counted(2, "column is", "columns are")
    ('1 column is', '2 columns are')
    """
    return f"{number} {one if number == 1 else many}"
