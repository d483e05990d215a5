"""A record that was altered is found and named; what a killed harness leaves behind is not taken for an alteration."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nsb.measure.archive import keep
from nsb.measure.integrity import SUMS, Altered, chain_of, verify
from nsb.measure.journal import Journal, cut_torn_tail, read_starts_of
from nsb.session.runs import read_run
from test_journal import BENCH, cell, run_json
from test_starts import start

RESULTS = sorted(path.parent for path in (BENCH / "results").glob("*/run.json"))
RECORDED = BENCH / "tests" / "recordings" / "run"
ALTERED = "does not fit its hash in chain.sha256, line {}: it was changed afterwards, or the last lines were taken away"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Three cells and two starts, written in turn: chain.sha256 has their links as lines 2 to 6, and that of run.json as its first."""
    folder = tmp_path / "run"
    made = Journal(folder)
    made.facts(run_json(tier="standard"))
    made.start(start("go"))
    made.append(cell(1))
    made.append(cell(2))
    made.start(start("rust"))
    made.append(cell(3))
    return folder


def changed(file: Path, change: Callable[[list[bytes]], Any]) -> None:
    """The file with its lines changed."""
    lines = file.read_bytes().splitlines(keepends=True)
    change(lines)
    file.write_bytes(b"".join(lines))


def found(folder: Path) -> str:
    with pytest.raises(Altered) as altered:
        read_run(folder)
    return str(altered.value).replace(f"{folder}/", "")


def test_what_was_written_holds(run: Path) -> None:
    chain = chain_of(run)
    assert chain is not None
    assert chain.ends == {name: (run / name).stat().st_size for name in ("cells.jsonl", "starts.jsonl", "chain.sha256")}
    assert (len(read_run(run)[1]), len(read_starts_of(run))) == (3, 2)


def test_each_link_is_the_hash_of_the_one_before_and_its_line(run: Path) -> None:
    cells, starts = ((run / name).read_bytes().splitlines(keepends=True) for name in ("cells.jsonl", "starts.jsonl"))
    known = hashlib.sha256((run / "run.json").read_bytes()).hexdigest()
    head = hashlib.sha256(known.encode()).hexdigest()
    expected = [f"{head}  run.json {known}\n"]
    for name, line in (("starts", starts[0]), ("cells", cells[0]), ("cells", cells[1]), ("starts", starts[1]), ("cells", cells[2])):
        head = hashlib.sha256(head.encode() + line).hexdigest()
        expected.append(f"{head}  {name}.jsonl\n")
    assert (run / "chain.sha256").read_text() == "".join(expected)


@pytest.mark.parametrize(("name", "line", "link"), [("cells", 1, 3), ("cells", 2, 4), ("cells", 3, 6), ("starts", 1, 2), ("starts", 2, 5)])
def test_a_byte_altered_in_any_line_is_named(run: Path, name: str, line: int, link: int) -> None:
    def bend(lines: list[bytes]) -> None:
        lines[line - 1] = lines[line - 1].replace(b"4", b"5", 1) if b"4" in lines[line - 1] else lines[line - 1].replace(b"0", b"1", 1)

    changed(run / f"{name}.jsonl", bend)
    told = f"{name}.jsonl, line {line}, does not fit its hash in chain.sha256, line {link}: one of them was changed after it was recorded"
    assert found(run) == told
    with pytest.raises(Altered):
        read_starts_of(run)
    with pytest.raises(Altered):
        cut_torn_tail(run)
    with pytest.raises(Altered):
        Journal(run)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda lines: lines.pop(0), "cells.jsonl, line 1, does not fit its hash in chain.sha256, line 3"),
        (lambda lines: lines.pop(), "cells.jsonl, line 3, is missing: chain.sha256, line 6, has its hash"),
        (lambda lines: lines.insert(1, lines[0]), "cells.jsonl, line 2, does not fit its hash in chain.sha256, line 4"),
        (lambda lines: lines.extend(lines[:2]), "cells.jsonl, line 4, was put in afterwards: chain.sha256 ends before it"),
        (lambda lines: lines.clear(), "cells.jsonl, line 1, is missing: chain.sha256, line 3, has its hash"),
    ],
)
def test_lines_taken_away_or_put_in_are_named(run: Path, change: Callable[[list[bytes]], Any], sentence: str) -> None:
    changed(run / "cells.jsonl", change)
    assert found(run).startswith(sentence)


def test_a_chain_that_was_altered_or_deleted_is_told(run: Path) -> None:
    text = (run / "chain.sha256").read_text()
    (run / "chain.sha256").write_text(text.replace("\n", "\nno link\n", 1))
    assert found(run) == "chain.sha256, line 2, is no link of a chain"
    (run / "chain.sha256").unlink()
    assert found(run) == "chain.sha256 is missing: run.json says that there is one"
    (run / "chain.sha256").write_text("")
    assert found(run).endswith("was put in afterwards: chain.sha256 ends before it")


def test_a_run_json_that_was_altered_is_told(run: Path) -> None:
    text = (run / "run.json").read_text()
    (run / "run.json").write_text(text.replace("standard", "publish"))
    assert found(run) == f"run.json {ALTERED.format(1)}"
    with pytest.raises(Altered):
        Journal(run)


def test_cells_that_are_taken_away_to_be_measured_again_are_told_once_a_run_is_over(run: Path) -> None:
    """With their links, so that the rest of the chain holds."""
    Journal(run).facts({**run_json(tier="standard"), "wall_s": {}})
    for name in ("cells.jsonl", "chain.sha256"):
        changed(run / name, lambda lines: lines.pop())
    changed(run / "chain.sha256", lambda lines: lines.pop())
    assert found(run) == f"run.json {ALTERED.format(1)}"


def test_a_run_json_that_a_killed_harness_did_not_write_is_none_that_was_altered(run: Path) -> None:
    there, links = (run / "run.json").read_bytes(), (run / "chain.sha256").read_bytes()
    Journal(run).facts({**run_json(tier="standard"), "wall_s": {}})
    (run / "run.json").write_bytes(there)
    assert len(read_run(run)[1]) == 3
    cut_torn_tail(run)
    assert (run / "chain.sha256").read_bytes() == links
    Journal(run).append(cell(4))
    assert len(read_run(run)[1]) == 4


def test_a_line_without_its_link_is_that_of_a_killed_harness_wherever_the_link_was_torn(run: Path) -> None:
    links, cells = (run / "chain.sha256").read_bytes(), (run / "cells.jsonl").read_bytes()
    before_last = len(links) - len(links.splitlines(keepends=True)[-1])
    for length in range(before_last, len(links)):
        (run / "chain.sha256").write_bytes(links[:length])
        assert len(read_run(run)[1]) == 2
    cut_torn_tail(run)
    assert (run / "chain.sha256").read_bytes() == links[:before_last]
    assert (run / "cells.jsonl").read_bytes() == b"".join(cells.splitlines(keepends=True)[:2])
    Journal(run).append(cell(3))
    assert ((run / "chain.sha256").read_bytes(), (run / "cells.jsonl").read_bytes()) == (links, cells)


def test_a_run_from_before_goes_on_without_a_chain(tmp_path: Path) -> None:
    shutil.copytree(RECORDED, tmp_path / "run")
    made = Journal(tmp_path / "run")
    made.append(cell(1))
    made.facts(run_json())
    assert chain_of(tmp_path / "run") is None
    assert "chain" not in read_run(tmp_path / "run")[0]


# --- kept ----------------------------------------------------------------------------------------------------------------


def test_a_kept_run_has_sums_as_sha256sum_reads_them(run: Path, tmp_path: Path) -> None:
    Journal(run).facts({**run_json(tier="standard"), "started_at": "2026-11-24T01:02:03+00:00"})
    kept = keep(run, tmp_path / "results", None)
    assert kept.name == "20261124-standard"
    subprocess.run(["sha256sum", "--check", "--strict", SUMS], cwd=kept, check=True, capture_output=True)
    (kept / "run.json").write_text((kept / "run.json").read_text() + "\n")
    assert found(kept) == f"run.json {ALTERED.format(7)}"


@pytest.mark.parametrize(
    ("name", "sentence"), [("raw.tar.xz", "is missing: SHA256SUMS lists it"), ("code.json", "was put in after the run was kept")]
)
def test_files_of_a_kept_run_that_come_or_go_are_named(run: Path, tmp_path: Path, name: str, sentence: str) -> None:
    kept = keep(run, tmp_path / "results", "kept")
    if (kept / name).exists():
        (kept / name).unlink()
    else:
        (kept / name).write_text("{}")
    assert found(kept).startswith(f"{name} {sentence}")


@pytest.mark.parametrize("folder", RESULTS, ids=lambda path: path.name)
def test_committed_runs_are_what_was_recorded(folder: Path) -> None:
    assert (folder / SUMS).exists()
    verify(folder)


def test_a_byte_in_the_middle_of_a_committed_run_is_told(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(RESULTS[-1], copy)
    content = bytearray((copy / "cells.jsonl").read_bytes())
    content[len(content) // 2] ^= 1
    (copy / "cells.jsonl").write_bytes(content)
    with pytest.raises(Altered, match=r"copy/cells\.jsonl.* changed after"):
        read_run(copy)


# --- told ----------------------------------------------------------------------------------------------------------------


def verb(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "nsb", *arguments]
    return subprocess.run(command, cwd=BENCH / "src", capture_output=True, text=True, timeout=120)


def test_verbs_stop_at_an_altered_record_with_one_sentence(run: Path) -> None:
    changed(run / "cells.jsonl", lambda lines: lines.__setitem__(1, lines[1].replace(b"105.17", b"52.58")))
    for arguments in (["report", str(run)], ["claims", str(run)], ["compare", str(run), str(RESULTS[-1])], ["blog", str(run)]):
        done = verb(*arguments)
        assert (done.returncode, done.stdout) == (1, ""), done
        assert done.stderr == (
            f"{run}/cells.jsonl, line 2, does not fit its hash in chain.sha256, line 4: one of them was changed after it was recorded\n"
        )


def test_a_run_without_a_chain_is_said_to_have_none_once(tmp_path: Path) -> None:
    shutil.copytree(RECORDED, tmp_path / "run")
    done = verb("claims", str(tmp_path / "run"))
    assert (done.returncode, done.stderr) == (0, "")
    assert " ".join(done.stdout.split()).count("has no chain of hashes, it is from before there was one: nothing tells") == 1
