"""Tests of the bytes of a step: round trip, and content that was not written by the package."""

import io
import pickle
import zipfile

import numpy as np
import pytest

from allrelevant.checkpoints.content import _check_sizes, _digest, pack, unpack


def entries(*contents, compression=zipfile.ZIP_STORED):
    """Return the bytes of an archive of arrays, which may not be arrays."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for number, content in enumerate(contents):
            archive.writestr(f"x{number}.npy", content)
    return stream.getvalue()


def array_bytes(header, payload, version=b"\x01\x00"):
    text = header.ljust(117) + "\n"
    return b"\x93NUMPY" + version + b"v\x00" + text.encode() + payload


def test_content_is_restored_at_its_place_only():
    content = {"x": np.arange(3.0), "n": 1}
    packed = pack(content)
    assert packed == pack(content, "", 0)
    restored = unpack(packed)
    assert restored["n"] == 1
    assert restored["x"].tolist() == [0.0, 1.0, 2.0]
    assert unpack(packed, "", 0)["n"] == 1
    assert unpack(pack(content, "steps", 3), "steps", 3)["n"] == 1
    for place in (("", 1), ("steps", 0), ("XXXX", 0)):
        with pytest.raises(ValueError, match=r"\Aa step was changed\Z"):
            unpack(packed, *place)


@pytest.mark.parametrize("packed", [None, "text", b"", b"x" * 16])
def test_empty_steps_raise(packed):
    with pytest.raises(ValueError, match=r"\Aa step is empty\Z"):
        unpack(packed)


FLOATS = "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (entries(array_bytes(FLOATS, b"\0" * 8)), "entry 'x0.npy' has a wrong size"),
        (entries(array_bytes(FLOATS, b"\0" * 24)), "entry 'x0.npy' has a wrong size"),
        (
            entries(array_bytes(FLOATS, b"\0" * 16), compression=zipfile.ZIP_DEFLATED),
            "entry 'x0.npy' has a wrong size",
        ),
        (
            entries(array_bytes(FLOATS, b"\0" * 16, b"\x03\x00")),
            "an array has an unknown format",
        ),
    ],
    ids=["short", "long", "compressed", "format"],
)
def test_wrong_sizes_raise(data, message):
    _check_sizes(entries(array_bytes(FLOATS, b"\0" * 16)))
    with pytest.raises(ValueError, match=rf"\A{message}\Z"):
        _check_sizes(data)


def test_pickled_objects_are_not_loaded():
    """The size of an array of objects can be that of its pickle."""
    header = "{'descr': '|O', 'fortran_order': False, 'shape': (8,), }"
    payload = pickle.dumps(np.array([None] * 8)).ljust(8 * 64, b"\0")
    header = header.replace("8,", "64,")
    stream = io.BytesIO()
    np.savez(stream, _=np.array("{}"))
    with zipfile.ZipFile(stream, "a") as archive:
        archive.writestr("x.npy", array_bytes(header, payload))
    data = stream.getvalue()
    _check_sizes(data)
    with pytest.raises(ValueError, match="Object arrays cannot be loaded"):
        unpack(_digest(data, "", 0) + data)
