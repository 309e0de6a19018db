"""Tests of the VPS-30-En reader on small files in the assumed layout."""

import numpy as np
import pytest

from allrelevant import InputError
from benchmarks.tables.papers.krupka16.vps30en import VERBS, load_vps30en

NAMES = ["pattern", "passive", "fold", "object"]
ROWS = [["1", "0", "3", "1"], ["4", "1", "1", "1"], ["u", "0", "2", "0"]]


def write(folder, verb="cry", *, names=NAMES, rows=ROWS, separator=",", end="\n"):
    lines = [separator.join(cells) for cells in [names, *rows]]
    folder.joinpath(f"{verb}.csv").write_bytes((end.join(lines) + end).encode())
    return folder


def cry(folder, **settings):
    return load_vps30en(folder, verbs=["cry"], **settings)["cry"]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_features_patterns_and_folds_are_read(tmp_path, separator, end):
    data = cry(write(tmp_path, separator=separator, end=end))
    np.testing.assert_array_equal(data.X, [[0, 1], [1, 1], [0, 0]])
    assert data.X.dtype == np.float64
    assert data.y.tolist() == ["1", "4", "u"]
    assert data.fold.tolist() == [3, 1, 2]
    assert data.feature_names == ("passive", "object")


def test_quoted_cells_may_contain_the_separator(tmp_path):
    names = ['"pattern"', '"passive"', '"fold"', '"to, or for"']
    rows = [[f'"{cell}"' for cell in row] for row in ROWS]
    data = cry(write(tmp_path, names=names, rows=rows))
    assert data.feature_names == ("passive", "to, or for")
    np.testing.assert_array_equal(data.X, [[0, 1], [1, 1], [0, 0]])


def test_byte_order_mark_is_not_part_of_the_first_name(tmp_path):
    write(tmp_path)
    path = tmp_path / "cry.csv"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert cry(tmp_path).y.tolist() == ["1", "4", "u"]


def test_folds_may_be_missing(tmp_path):
    names, rows = ["pattern", "a", "b"], [["1", "0", "1"], ["4", "1", "0"]]
    data = cry(write(tmp_path, names=names, rows=rows))
    assert data.fold is None
    assert data.feature_names == ("a", "b")


def test_column_names_can_be_specified(tmp_path):
    names = ["sense", "passive", "part", "object", "sentence"]
    rows = [[*row, "he cried; she did not"] for row in ROWS]
    write(tmp_path, names=names, rows=rows)
    data = cry(tmp_path, pattern="sense", fold="part", leave_out=["sentence", "number"])
    assert data.feature_names == ("passive", "object")
    assert data.y.tolist() == ["1", "4", "u"]
    assert data.fold.tolist() == [3, 1, 2]


def test_all_thirty_verbs_or_the_requested_ones_are_read(tmp_path):
    assert len(VERBS) == len(set(VERBS)) == 30
    for verb in VERBS:
        write(tmp_path, verb)
    assert tuple(load_vps30en(tmp_path)) == VERBS
    assert list(load_vps30en(str(tmp_path), verbs=["yield", "ally"])) == ["yield", "ally"]


def test_missing_files_raise(tmp_path):
    with pytest.raises(InputError, match=r"no access\.csv \(29 of 30 verbs are missing\)"):
        load_vps30en(write(tmp_path))
    with pytest.raises(InputError, match="does not exist"):
        load_vps30en(tmp_path / "elsewhere")


def test_unknown_verbs_raise(tmp_path):
    with pytest.raises(InputError, match=r"no verb 'run'\. Its verbs are access, ally"):
        load_vps30en(write(tmp_path), verbs=["cry", "run"])
    with pytest.raises(InputError, match=r"a list such as \['cry'\]"):
        load_vps30en(write(tmp_path), verbs="cry")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"names": ["sense", *NAMES[1:]]}, "no column 'pattern'.*'sense', 'passive'"),
        ({"rows": []}, "no sentences"),
        ({"names": ["pattern", "a", "fold", "a"]}, "two columns 'a'"),
        ({"names": NAMES[1:]}, "4 cells in sentence 1 but 3 column names.*If R wrote"),
        ({"rows": [*ROWS, ["1", "2", "1", "0"]]}, "'2' in column 'passive' of sentence 4"),
        ({"rows": [*ROWS, ["", "1", "1", "0"]]}, "no label in column 'pattern' of sentence 4"),
        ({"rows": [*ROWS, ["1", "1", "x", "0"]]}, "'fold' that is not an integer.*'x'"),
        ({"names": NAMES[::2], "rows": [["1", "1"]]}, "no features besides 'pattern' and 'fold'"),
    ],
)
def test_invalid_tables_raise(tmp_path, arguments, message):
    with pytest.raises(InputError, match=message):
        cry(write(tmp_path, **arguments))


def test_other_encodings_raise(tmp_path):
    (tmp_path / "cry.csv").write_bytes("pattern,é\n1,1\n".encode("latin-1"))
    with pytest.raises(InputError, match="not UTF-8 text"):
        cry(tmp_path)
