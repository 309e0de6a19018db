"""Tests of the readers of Tecator and wine spectra."""

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
    """Return six samples with 4 absorbances, 22 principal components and 3 targets each."""
    return np.round(np.random.RandomState(0).normal(size=(6, 29)), 4)


def write(path, numbers, *, inputs=26, end=""):
    """Write samples in the format of the published Tecator file."""
    header = HEADER.format(inputs=inputs)
    lines = [f"Statement of Tecator, H\xf6gan\xe4s\n\nthese lines appear:\n\n{header}\nMore.\n"]
    lines += [f"\n{header}"]
    for row in numbers:
        lines += [" ".join(f"{v:.5g}" for v in row[k : k + 5]) for k in range(0, len(row), 5)]
    path.write_text("\n".join(lines) + end, encoding="latin-1")
    return path


class TestTecator:
    """Tests of reading Tecator spectra from small files in the StatLib format."""

    @pytest.mark.parametrize(("target", "index"), [("moisture", 26), ("fat", 27), ("protein", 28)])
    def test_spectra_contents_and_parts(self, tmp_path, target, index):
        expected = rows()
        data = load_tecator(write(tmp_path / "tecator", expected), target=target)
        np.testing.assert_array_equal(data.X, expected[:, :4])
        np.testing.assert_array_equal(data.y, expected[:, index])
        assert data.part.tolist() == ["train"] * 3 + ["test"] * 2 + ["extrapolation"]

    def test_default_target_is_fat(self, tmp_path):
        path = write(tmp_path / "tecator", rows())
        np.testing.assert_array_equal(load_tecator(str(path)).y, rows()[:, 27])

    def test_windows_line_ends(self, tmp_path):
        path = write(tmp_path / "tecator", rows())
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
        np.testing.assert_array_equal(load_tecator(path).X, rows()[:, :4])

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"numbers": rows()[:-1]}, "declares 174 numbers but has 145"),
            ({"numbers": rows(), "end": " 1.5"}, "has 175"),
            ({"numbers": rows()[:, :-1], "end": " x" * 6}, "a value that is not a number"),
            ({"numbers": rows(), "inputs": 20}, "declares 20 inputs and 3 outputs"),
        ],
    )
    def test_damaged_files_raise(self, tmp_path, arguments, message):
        path = write(tmp_path / "tecator", **arguments)
        with pytest.raises(InputError, match=message):
            load_tecator(path)

    def test_other_and_missing_files_raise(self, tmp_path):
        other = tmp_path / "other.txt"
        other.write_text("real_in=122\nreal_out=3\n1 2 3\n")
        with pytest.raises(InputError, match=r"no line 'training_examples="):
            load_tecator(other)
        with pytest.raises(InputError, match=r"does not exist.* from http"):
            load_tecator(tmp_path / "missing")

    def test_unknown_target_raises(self, tmp_path):
        with pytest.raises(InputError, match=r"one of moisture, fat, protein \(got 'sugar'\)"):
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
    """Tests of reading small R data files, with and without wine spectra."""

    @pytest.mark.parametrize("version", [2, 3])
    @pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
    def test_numbers_strings_and_lists(self, tmp_path, pack, version):
        objects = {
            "integers": np.arange(6).reshape(2, 3),
            "cube": np.arange(24.0).reshape(2, 3, 4),
            "list": {"names": ["a", "é"], "more": {"deep": np.array([np.nan, 1.5])}},
        }
        data = read_r_data(write_r_data(tmp_path / "a.RData", objects, pack, version))
        np.testing.assert_array_equal(data["integers"], objects["integers"])
        np.testing.assert_array_equal(data["cube"], objects["cube"])
        assert data["list"]["names"] == ["a", "é"]
        np.testing.assert_array_equal(data["list"]["more"]["deep"], [np.nan, 1.5])

    @pytest.mark.parametrize("wrap", [lambda parts: parts, lambda parts: {"Wine": parts}])
    def test_spectra_alcohol_and_parts(self, tmp_path, wrap):
        parts = wine()
        data = load_wine_spectra(write_r_data(tmp_path / "Wine.RData", wrap(parts), gzip.compress))
        np.testing.assert_array_equal(data.X, np.vstack([parts["x.learning"], parts["x.test"]]))
        expected = np.concatenate([parts["y.learning"].ravel(), parts["y.test"].ravel()])
        np.testing.assert_array_equal(data.y, expected)
        assert data.part.tolist() == ["train"] * 5 + ["test"] * 3

    def test_data_frames_and_vectors_are_accepted(self, tmp_path):
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
            (
                {"y.test": None},
                "has no matrix y.test. .* contains x.learning",
            ),
            ({"y.test": np.ones((4, 1))}, r"inconsistent shapes: .*x.test 3 x 4, y.test 4 x 1"),
            ({"x.test": np.ones((3, 5))}, "inconsistent shapes"),
            ({"y.test": ["a", "b", "c"]}, "y.test in .* is not a numeric matrix"),
        ],
    )
    def test_invalid_contents_raise(self, tmp_path, change, message):
        parts = {name: value for name, value in (wine() | change).items() if value is not None}
        with pytest.raises(InputError, match=message):
            load_wine_spectra(write_r_data(tmp_path / "Wine.RData", parts))

    def test_dropping_outliers_from_a_small_file_raises(self, tmp_path):
        path = write_r_data(tmp_path / "Wine.RData", wine())
        with pytest.raises(InputError, match=r"only 5 training rows, but .* removes row 84"):
            load_wine_spectra(path, drop_outliers=True)

    def test_damaged_and_foreign_files_raise(self, tmp_path):
        whole = RFile().bytes(wine())
        path = tmp_path / "Wine.RData"
        for damaged in (whole[:-100], gzip.compress(whole)[:-30], gzip.compress(whole[:50])):
            path.write_bytes(damaged)
            with pytest.raises(InputError, match="is damaged"):
                read_r_data(path)
        for foreign in (b"", b"PK\x03\x04 a zip file", b"RDA2\nA\n2\n"):
            path.write_bytes(foreign)
            with pytest.raises(InputError, match=r"is (not a binary R data file|damaged)"):
                read_r_data(path)
        path.write_bytes(b"RDX2\nX\n" + whole[7:19] + b"\x00\x00\x00\x03")
        with pytest.raises(InputError, match="type 3, which is not supported"):
            read_r_data(path)
        with pytest.raises(InputError, match="does not exist"):
            load_wine_spectra(tmp_path / "missing.RData")
