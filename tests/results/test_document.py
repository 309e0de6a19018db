"""Tests of atomic file writing."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from allrelevant.results import write_atomically


def test_writes_and_replaces(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    write_atomically(path, "eins ü")
    write_atomically(str(path), "zwei")
    assert path.read_text(encoding="utf-8") == "zwei"
    assert [p.name for p in tmp_path.iterdir()] == ["a.html"]


def test_failure_keeps_the_existing_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.html"
    path.write_text("before")

    def interrupted(descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, "after")
    assert path.read_text() == "before"
    assert [p.name for p in tmp_path.iterdir()] == ["a.html"]


def test_follows_links(tmp_path: Path) -> None:
    target, link = tmp_path / "target.html", tmp_path / "link.html"
    target.write_text("before")
    link.symlink_to(target)
    write_atomically(link, "after")
    assert link.is_symlink()
    assert target.read_text() == "after"


@pytest.mark.skipif(os.name == "nt", reason="not available on Windows")
def test_file_mode_follows_the_umask(tmp_path: Path) -> None:
    usual = tmp_path / "usual"
    usual.write_text("")
    write_atomically(tmp_path / "a.html", "")
    assert (tmp_path / "a.html").stat().st_mode == usual.stat().st_mode


@pytest.mark.skipif(os.name == "nt", reason="not available on Windows")
def test_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_atomically(pipe, "through")
        assert os.read(reader, 100) == b"through"
        assert pipe.is_fifo()
    finally:
        os.close(reader)


def test_lone_surrogate_is_escaped(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a.html", "\ud800")
    assert (tmp_path / "a.html").read_text() == "\\ud800"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_mode_of_a_replaced_file_is_kept(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("before")
    path.chmod(0o600)
    write_atomically(path, "after")
    assert path.read_text() == "after"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
