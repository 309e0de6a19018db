"""Readers of spectra."""

import bz2
import gzip
import lzma

import numpy as np
import pytest

from allrelevant import InputError
from allrelevant.datasets import load_tecator, load_wine_spectra
from allrelevant.datasets.spectra import read_r_data
from tests.datasets.r_files import RFile, write_r_data

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


class TestTecator:
    """The StatLib format, on small files made in it."""

    @pytest.mark.parametrize(("target", "place"), [("moisture", 26), ("fat", 27), ("protein", 28)])
    def test_spectra_contents_and_parts(self, tmp_path, target, place):
        expected = rows()
        data = load_tecator(write(tmp_path / "tecator", expected), target=target)
        np.testing.assert_array_equal(data.X, expected[:, :4])
        np.testing.assert_array_equal(data.y, expected[:, place])
        assert data.part.tolist() == ["train"] * 3 + ["test"] * 2 + ["extrapolation"]

    def test_fat_is_what_is_usually_predicted(self, tmp_path):
        path = write(tmp_path / "tecator", rows())
        np.testing.assert_array_equal(load_tecator(str(path)).y, rows()[:, 27])

    def test_windows_line_ends(self, tmp_path):
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
    def test_damaged_files_are_refused(self, tmp_path, arguments, message):
        path = write(tmp_path / "tecator", **arguments)
        with pytest.raises(InputError, match=message):
            load_tecator(path)

    def test_other_files_are_refused(self, tmp_path):
        other = tmp_path / "other.txt"
        other.write_text("real_in=122\nreal_out=3\n1 2 3\n")
        with pytest.raises(InputError, match=r"no line training_examples="):
            load_tecator(other)
        with pytest.raises(InputError, match=r"no file .*published as http"):
            load_tecator(tmp_path / "missing")

    def test_unknown_target_is_refused(self, tmp_path):
        with pytest.raises(InputError, match="one of moisture, fat, protein, got 'sugar'"):
            load_tecator(write(tmp_path / "tecator", rows()), target="sugar")  # type: ignore[arg-type]


def wine(n_learning=5, n_test=3):
    rng = np.random.RandomState(0)
    return {
        "x.learning": rng.normal(size=(n_learning, 4)),
        "y.learning": rng.normal(size=(n_learning, 1)),
        "x.test": rng.normal(size=(n_test, 4)),
        "y.test": rng.normal(size=(n_test, 1)),
    }


class TestWine:
    """R's data files, and the wine spectra in them, on small files."""

    @pytest.mark.parametrize("version", [2, 3])
    @pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
    def test_numbers_strings_and_lists(self, tmp_path, pack, version):
        objects = {
            "whole": np.arange(6).reshape(2, 3),
            "cube": np.arange(24.0).reshape(2, 3, 4),
            "list": {"names": ["a", "é"], "more": {"deep": np.array([np.nan, 1.5])}},
        }
        found = read_r_data(write_r_data(tmp_path / "a.RData", objects, pack, version))
        np.testing.assert_array_equal(found["whole"], objects["whole"])
        np.testing.assert_array_equal(found["cube"], objects["cube"])
        assert found["list"]["names"] == ["a", "é"]
        np.testing.assert_array_equal(found["list"]["more"]["deep"], [np.nan, 1.5])

    @pytest.mark.parametrize("wrap", [lambda parts: parts, lambda parts: {"Wine": parts}])
    def test_spectra_alcohol_and_parts(self, tmp_path, wrap):
        parts = wine()
        data = load_wine_spectra(write_r_data(tmp_path / "Wine.RData", wrap(parts), gzip.compress))
        np.testing.assert_array_equal(data.X, np.vstack([parts["x.learning"], parts["x.test"]]))
        expected = np.concatenate([parts["y.learning"].ravel(), parts["y.test"].ravel()])
        np.testing.assert_array_equal(data.y, expected)
        assert data.part.tolist() == ["train"] * 5 + ["test"] * 3

    def test_data_frames_and_vectors_will_do(self, tmp_path):
        parts = wine()
        frame = {f"V{j}": column for j, column in enumerate(parts["x.test"].T)}
        changed = parts | {"x.test": frame, "y.test": parts["y.test"].ravel()}
        plain = load_wine_spectra(write_r_data(tmp_path / "a.RData", parts))
        other = load_wine_spectra(write_r_data(tmp_path / "b.RData", changed))
        np.testing.assert_array_equal(plain.X, other.X)
        np.testing.assert_array_equal(plain.y, other.y)

    def test_outliers_are_dropped_by_their_numbers(self, tmp_path):
        path = write_r_data(tmp_path / "Wine.RData", wine(n_learning=94, n_test=30))
        whole, rest = load_wine_spectra(path), load_wine_spectra(path, drop_outliers=True)
        kept = np.delete(np.arange(124), [33, 34, 83])
        np.testing.assert_array_equal(rest.X, whole.X[kept])
        np.testing.assert_array_equal(rest.y, whole.y[kept])
        assert (rest.part == "train").sum() == 91

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"y.test": None}, "has no y.test; the file of the wine spectra has x.learning"),
            ({"y.test": np.ones((4, 1))}, r"do not fit each other: .*x.test 3 x 4, y.test 4 x 1"),
            ({"x.test": np.ones((3, 5))}, "do not fit each other"),
            ({"y.test": ["a", "b", "c"]}, "has a y.test that is no matrix of numbers"),
        ],
    )
    def test_other_contents_are_refused(self, tmp_path, change, message):
        parts = {name: value for name, value in (wine() | change).items() if value is not None}
        with pytest.raises(InputError, match=message):
            load_wine_spectra(write_r_data(tmp_path / "Wine.RData", parts))

    def test_a_file_too_small_has_no_outliers(self, tmp_path):
        path = write_r_data(tmp_path / "Wine.RData", wine())
        with pytest.raises(InputError, match="5 learning rows: it has no sample 84"):
            load_wine_spectra(path, drop_outliers=True)

    def test_damaged_and_foreign_files_are_refused(self, tmp_path):
        whole = RFile().bytes(wine())
        path = tmp_path / "Wine.RData"
        for damaged in (whole[:-100], gzip.compress(whole)[:-30], gzip.compress(whole[:50])):
            path.write_bytes(damaged)
            with pytest.raises(InputError, match="is damaged: it cannot be read to its end"):
                read_r_data(path)
        for foreign in (b"", b"PK\x03\x04 a zip file", b"RDA2\nA\n2\n"):
            path.write_bytes(foreign)
            with pytest.raises(InputError, match=r"is (no data file of R|damaged)"):
                read_r_data(path)
        path.write_bytes(b"RDX2\nX\n" + whole[7:19] + b"\x00\x00\x00\x03")
        with pytest.raises(InputError, match="kind 3, which is not read here"):
            read_r_data(path)
        with pytest.raises(InputError, match="There is no file"):
            load_wine_spectra(tmp_path / "missing.RData")
