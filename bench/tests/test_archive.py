"""A kept run has everything that it was measured with, byte for byte, and the same bytes whenever it is packed."""

from __future__ import annotations

import lzma
import os
import shutil
import tarfile
from pathlib import Path

import pytest

from nsb.measure import archive
from nsb.measure.integrity import Altered
from nsb.measure.journal import JournalError
from nsb.session.runs import read_run
from test_integrity import BENCH, RECORDED, RESULTS, verb

FILES = {"k6/02-b.json": b'{"b": 1}', "k6/01-a.json": b'{"a": "\xc3\xa9"}', "k6/03-c.json": b"{}", "samples.csv": b"time_s\n0.1\n"}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    shutil.copytree(RECORDED, folder)
    for name, content in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    (folder / "logs").mkdir()
    (folder / "logs" / "go.log").write_text("ready")
    (folder / "table.md").write_text("old")
    return folder


def test_packing_twice_gives_the_same_bytes(run: Path, tmp_path: Path) -> None:
    once = archive.pack(run)
    again = tmp_path / "again"
    for name in sorted(FILES, reverse=True):  # in another order, at another time, with other rights
        (again / name).parent.mkdir(parents=True, exist_ok=True)
        (again / name).write_bytes(FILES[name])
        (again / name).chmod(0o600)
        os.utime(again / name, (1, 1))
    assert archive.pack(again) == once
    (tmp_path / "raw.tar.xz").write_bytes(once)
    with tarfile.open(tmp_path / "raw.tar.xz") as opened:
        members = opened.getmembers()
    assert [each.name for each in members] == sorted(FILES)
    assert {(each.mtime, each.uid, each.gid, each.uname, each.gname, each.mode) for each in members} == {(0, 0, 0, "", "", 0o644)}


def test_a_kept_run_is_records_and_one_archive(run: Path, tmp_path: Path) -> None:
    kept = archive.keep(run, tmp_path / "results", "kept")
    assert {path.name for path in kept.iterdir()} == {"run.json", "cells.jsonl", "raw.tar.xz", "SHA256SUMS"}
    for name in ("run.json", "cells.jsonl"):
        assert (kept / name).read_bytes() == (run / name).read_bytes()
    assert {name: archive.member(kept, name) for name in archive.members(kept)} == FILES
    assert {name: archive.member(run, name) for name in archive.members(run)} == FILES  # which stays as it is
    assert read_run(kept) == read_run(run)


def test_what_cannot_be_kept_or_read_is_told(run: Path, tmp_path: Path) -> None:
    kept = archive.keep(run, tmp_path / "results", "kept")
    with pytest.raises(JournalError, match="kept exists already: give the run another name by --name"):
        archive.keep(run, tmp_path / "results", "kept")
    with pytest.raises(JournalError, match=r"is kept already: it has a raw\.tar\.xz"):
        archive.keep(kept, tmp_path / "results", "again")
    (tmp_path / "empty").mkdir()
    with pytest.raises(JournalError, match=r"holds no run: there is no readable run\.json"):
        archive.keep(tmp_path / "empty", tmp_path / "results", None)
    for folder, sentence in ((run, "has no raw file ../run.json"), (kept, "has no member ../run.json")):
        with pytest.raises(JournalError, match=sentence):
            archive.member(folder, "../run.json")
    (kept / "raw.tar.xz").write_bytes((kept / "raw.tar.xz").read_bytes()[:100])
    with pytest.raises(JournalError, match=r"raw\.tar\.xz cannot be read"):
        archive.members(kept)
    with pytest.raises(Altered, match=r"raw\.tar\.xz was changed"):
        read_run(kept)


def test_nothing_is_left_of_a_run_that_could_not_be_kept(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> bytes:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(lzma, "compress", full)
    with pytest.raises(OSError, match="No space left"):
        archive.keep(run, tmp_path / "results", "kept")
    assert not (tmp_path / "results" / "kept").exists()


def test_one_command_prints_one_raw_summary(run: Path, tmp_path: Path) -> None:
    kept = archive.keep(run, tmp_path / "results", "kept")
    done = verb("raw", str(kept), "k6/01-a.json")
    assert (done.returncode, done.stdout.encode()) == (0, FILES["k6/01-a.json"])
    assert verb("raw", str(kept)).stdout.split() == sorted(FILES)


@pytest.mark.parametrize("folder", RESULTS, ids=lambda path: path.name)
def test_every_raw_file_that_a_committed_cell_names_is_in_the_archive(folder: Path) -> None:
    cells = read_run(folder)[1]
    named = {raw for cell in cells for raw in (cell.raw, cell.second and cell.second.get("raw")) if raw}
    inside = all(cell.overload or cell.failing or cell.cost or cell.connections for cell in cells if cell.status != "failed")
    assert named or inside, "only of what k6 drives there is a summary beside the cell"
    assert named <= set(archive.members(folder))


def test_a_kept_run_is_not_resumed() -> None:
    done = verb("bench-all", "--resume", str(BENCH / "results" / RESULTS[-1].name))
    assert done.returncode == 3
    assert "cannot be resumed: it is kept" in done.stderr
