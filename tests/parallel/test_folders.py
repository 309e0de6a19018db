"""Tests of temporary folders, also of those whose process was killed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from allrelevant import InputError
from allrelevant.parallel.folders import temporary_folder

pytestmark = pytest.mark.skipif(os.name == "nt", reason="folders cannot be locked on Windows")


@pytest.fixture(autouse=True)
def _temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_folder_is_removed(tmp_path: Path) -> None:
    with temporary_folder() as first, temporary_folder() as second:
        assert Path(first).is_dir()  # a folder in use is not abandoned
        assert Path(second).is_dir()
    assert list(tmp_path.iterdir()) == []


def test_folder_of_a_killed_process_is_removed(tmp_path: Path) -> None:
    code = (
        "import os, signal\n"
        "from allrelevant.parallel.folders import temporary_folder\n"
        "with temporary_folder() as folder:\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=False)
    (left,) = tmp_path.iterdir()
    (tmp_path / "allrelevant-results").mkdir()  # not a temporary folder
    with temporary_folder():
        assert not left.exists()
        assert (tmp_path / "allrelevant-results").exists()


def test_no_folder_can_be_created(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "absent"))
    with pytest.raises(InputError, match="TMPDIR"), temporary_folder():
        pass
