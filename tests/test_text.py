"""Tests of printable and shortened names."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from allrelevant._text import display_width, printable, shorten


@given(st.text())
def test_printable_names_are_one_line_and_not_blank(name: str) -> None:
    label = printable(name)
    assert label.strip()
    assert len(label.splitlines()) == 1
    assert all(c.isprintable() or c in "\u200c\u200d" for c in label)


@given(st.text(), st.integers(min_value=4, max_value=60))
def test_short_names_fit_and_keep_both_ends(name: str, width: int) -> None:
    label = printable(name)
    short = shorten(label, width)
    assert display_width(short) <= width
    if short != label:
        head, _, tail = short.partition("…") if "…" not in label else ("", "", "")
        assert label.startswith(head)
        assert label.endswith(tail)
