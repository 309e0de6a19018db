"""The StatLib format of the Tecator table, on small files made in it."""

import numpy as np
import pytest

from allrelevant import InputError
from allrelevant.datasets import load_tecator

HEADER = """real_in={inputs}
real_out=3
training_examples=3
test_examples=2
extrapolation_examples=1
"""


def rows():
    """Six rows of 4 absorbances, 22 principal components and 3 contents."""
    return np.round(np.random.RandomState(0).normal(size=(6, 29)), 4)


def write(path, numbers, *, inputs=26, end=""):
    """As published: a description that shows the counts, the counts, then lines of 5 numbers."""
    header = HEADER.format(inputs=inputs)
    lines = [f"Statement of Tecator, H\xf6gan\xe4s\n\nthese lines appear:\n\n{header}\nMore.\n"]
    lines += [f"\n{header}"]
    for row in numbers:
        lines += [" ".join(f"{v:.5g}" for v in row[k : k + 5]) for k in range(0, len(row), 5)]
    path.write_text("\n".join(lines) + end, encoding="latin-1")
    return path


@pytest.mark.parametrize(("target", "place"), [("moisture", 26), ("fat", 27), ("protein", 28)])
def test_spectra_contents_and_parts(tmp_path, target, place):
    expected = rows()
    data = load_tecator(write(tmp_path / "tecator", expected), target=target)
    np.testing.assert_array_equal(data.X, expected[:, :4])
    np.testing.assert_array_equal(data.y, expected[:, place])
    assert data.part.tolist() == ["train"] * 3 + ["test"] * 2 + ["extrapolation"]


def test_fat_is_what_is_usually_predicted(tmp_path):
    path = write(tmp_path / "tecator", rows())
    np.testing.assert_array_equal(load_tecator(str(path)).y, rows()[:, 27])


def test_windows_line_ends(tmp_path):
    path = write(tmp_path / "tecator", rows())
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    np.testing.assert_array_equal(load_tecator(path).X, rows()[:, :4])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"numbers": rows()[:-1]}, "announces 174 numbers but has 145: it is cut off"),
        ({"numbers": rows(), "end": " 1.5"}, "has 175"),
        ({"numbers": rows()[:, :-1], "end": " x" * 6}, "a word among its numbers"),
        ({"numbers": rows(), "inputs": 20}, "announces 20 inputs and 3 outputs"),
    ],
)
def test_damaged_files_are_refused(tmp_path, arguments, message):
    path = write(tmp_path / "tecator", **arguments)
    with pytest.raises(InputError, match=message):
        load_tecator(path)


def test_other_files_are_refused(tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("real_in=122\nreal_out=3\n1 2 3\n")
    with pytest.raises(InputError, match=r"no line training_examples="):
        load_tecator(other)
    with pytest.raises(InputError, match=r"no file .*published as http"):
        load_tecator(tmp_path / "missing")


def test_unknown_target_is_refused(tmp_path):
    with pytest.raises(InputError, match="one of moisture, fat, protein, got 'sugar'"):
        load_tecator(write(tmp_path / "tecator", rows()), target="sugar")  # type: ignore[arg-type]
