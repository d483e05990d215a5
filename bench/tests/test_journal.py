"""The journal: what was acknowledged is there, whole and in order, whatever ends the harness; a day of it is read in little memory."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import random
import re
import signal
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path
from typing import Any

import pytest

from nsb.analyse.cells import read_cells
from nsb.measure import journal
from nsb.measure.journal import Journal, JournalError, cut_torn_tail, write_whole
from nsb.records.cells import CELLS_SCHEMA
from nsb.records.judged import Cell, Check, Half, Latency
from nsb.records.schema import SCHEMA
from nsb.session.runs import read_run

BENCH = Path(__file__).resolve().parents[1]
KILLS = 60
DAY = 20_000


def cell(number: int, **more: Any) -> Cell:
    """A cell with its checks; sentences hold what a text's lines or a cut byte could stumble over."""
    requests, service_us = 2000 + number, 103.17 + number
    data: dict[str, Any] = {
        "round": number, "contender": "java-vt", "scenario": "hello-rate", "profile": "1cpu", "model": "open", "status": "valid",
        "doubts": ["V7 others used 9 % of the machine", "k6 said: \u201eµs\u201c\u2028\x85 …"], "limit": "offered",
        "started_at": "2026-11-20T17:28:56+00:00", "wall_s": 4.203, "window_s": 2.0, "rate": 1000, "vus": 100, "requests": requests,
        "throughput_rps": requests / 2, "latency_ms": Latency(p50=1.157, p90=3.793, p99=21.32, max=40.682 + number),
        "cpu_us_per_request": {"service": service_us, "generator": 300.0, "database": 1.0, "upstream": 0.0},
        "cpu_s": {
            "service": round(service_us * requests / 1e6, 6), "generator": round(300e-6 * requests, 6),
            "database": round(1e-6 * requests, 6), "upstream": 0.0, "harness": 0.02, "foreign": 0.3,
        },
        "memory_peak_mib": 291.0, "threads_peak": 7, "db_connections_peak": 150,
        "halves": [Half(requests=1000, p50_ms=1.1, service_cpu_s=0.1), Half(requests=1000 + number, p50_ms=1.1, service_cpu_s=0.1)],
        "checks": [Check(id=f"V{n}", outcome="ok", sentence="", inputs={"share": 0.1 * n, "started": number}) for n in range(1, 12)],
        "raw": "k6/01-hello-rate-java-vt.json",
    }  # fmt: skip
    return Cell(**{**data, **more})


def run_json(**plan: Any) -> dict[str, Any]:
    return {"schema": SCHEMA, "host": {}, "plan": plan}


def rounds(folder: Path) -> list[int]:
    return [each.round for each in read_run(folder)[1]]


# ---- killed ----


def appends(folder: Path, told: int) -> None:
    """Journals cells until it is killed; a byte on `told` for each that was acknowledged."""
    made = Journal(folder)
    number = 0
    while True:
        number += 1
        made.facts(run_json(number=number))
        made.append(cell(number))
        made.samples(f"{number},1,go,hello-rate,1.0,1,0.1\n")
        os.write(told, b".")


def killed(folder: Path, after: int, spin: int) -> int:
    """Forks a process that journals, kills it some steps after its `after`th cell; returns how many cells it acknowledged."""
    heard, told = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of forking where threads are: the child touches nothing of theirs
        pid = os.fork()
    if pid == 0:
        os.close(heard)
        with contextlib.suppress(BaseException):
            appends(folder, told)
        os._exit(1)
    os.close(told)
    acknowledged = 0
    while acknowledged < after:
        acknowledged += len(os.read(heard, 1))
    for _ in range(spin):
        pass
    os.kill(pid, signal.SIGKILL)
    while more := os.read(heard, 1 << 12):
        acknowledged += len(more)
    assert os.waitpid(pid, 0)[1] == signal.SIGKILL
    os.close(heard)
    return acknowledged


@pytest.mark.slow
def test_what_was_acknowledged_survives_a_kill_at_any_moment(tmp_path: Path) -> None:
    draw = random.Random(20261120)
    for kill in range(KILLS):
        folder = tmp_path / str(kill)
        acknowledged = killed(folder, draw.randrange(1, 8), draw.randrange(40_000))
        run, cells = read_run(folder)
        found = [each.round for each in cells]
        assert found == list(range(1, len(found) + 1))
        assert len(found) in (acknowledged, acknowledged + 1)  # the last one may have reached the disk unheard
        assert all(each == cell(each.round).slim() for each in cells)
        assert run["plan"]["number"] in (len(found), len(found) + 1)
        cut_torn_tail(folder)
        Journal(folder).append(cell(len(found) + 1))
        assert rounds(folder) == [*found, len(found) + 1]


@pytest.mark.slow
def test_a_line_torn_at_any_byte_is_left_out_and_cut(tmp_path: Path) -> None:
    first, last = (cell(n).line().encode() + b"\n" for n in (1, 2))
    file = tmp_path / "cells.jsonl"
    write_whole(tmp_path / "run.json", json.dumps(run_json()))
    for length in range(len(last)):
        file.write_bytes(first + last[:length])
        assert rounds(tmp_path) == [1]
        cut_torn_tail(tmp_path)
        assert file.read_bytes() == first
    file.write_bytes(last[:-1])
    cut_torn_tail(tmp_path)
    assert file.read_bytes() == b""
    file.write_bytes(first + last)
    cut_torn_tail(tmp_path)
    assert rounds(tmp_path) == [1, 2]


def test_the_tail_is_found_where_the_last_line_is_longer_than_a_block(tmp_path: Path) -> None:
    whole = cell(1).line().encode() + b"\n"
    (tmp_path / "cells.jsonl").write_bytes(whole + b"x" * 200_000)
    cut_torn_tail(tmp_path)
    assert (tmp_path / "cells.jsonl").read_bytes() == whole


def test_a_broken_line_that_is_whole_is_no_torn_one(tmp_path: Path) -> None:
    lines = [cell(1).line(), cell(2).line()[:90], cell(3).line()]
    write_whole(tmp_path / "run.json", json.dumps(run_json()))
    for text, number in (("\n".join(lines) + "\n", 2), ("\n".join(lines[:2]) + "\n", 2), ("\x00" * 9 + "\n", 1)):
        (tmp_path / "cells.jsonl").write_text(text)
        with pytest.raises(JournalError, match=rf"cells.jsonl, line {number}, is no record of a cell"):
            read_run(tmp_path)


# ---- on the disk ----


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was asked of the kernel, in order: written, synced (by name), renamed."""
    seen: list[str] = []

    def name(door: int) -> str:
        return Path(f"/proc/self/fd/{door}").readlink().name

    write, sync, replace = os.write, os.fsync, Path.replace
    monkeypatch.setattr(os, "write", lambda door, data: (seen.append(f"write {name(door)}"), write(door, data))[1])
    monkeypatch.setattr(os, "fsync", lambda door: (seen.append(f"sync {name(door)}"), sync(door))[1])
    monkeypatch.setattr(Path, "replace", lambda self, target: (seen.append(f"rename {self.name}"), replace(self, target))[1])
    return seen


def test_a_cell_is_on_the_disk_before_the_next_one_starts(tmp_path: Path, calls: list[str]) -> None:
    made = Journal(tmp_path / "run")
    calls.clear()
    made.append(cell(1))
    linked = ["write chain.sha256", "sync chain.sha256"]
    assert calls == ["write cells.jsonl", "sync cells.jsonl", "sync run", *linked]  # the folder too: it has a new file
    calls.clear()
    made.append(cell(2))
    assert calls == ["write cells.jsonl", "sync cells.jsonl", *linked]


def test_a_whole_file_is_on_the_disk_before_it_takes_the_place_of_the_old_one(tmp_path: Path, calls: list[str]) -> None:
    write_whole(tmp_path / "run.json", "{}")
    assert calls == ["sync run.json.unfinished", "rename run.json.unfinished", f"sync {tmp_path.name}"]


def limited(body: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The code in a process whose files may not grow beyond 6000 bytes: what a full disk does, without one (EFBIG for ENOSPC)."""
    code = f"""
import os, resource, signal, sys
from pathlib import Path
sys.path.insert(0, "tests")
from test_journal import cell, run_json
from nsb.measure.journal import Journal, JournalError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
journal = Journal(Path({str(folder)!r}))
journal.facts(run_json())
resource.setrlimit(resource.RLIMIT_FSIZE, (6000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
try:
{textwrap.indent(textwrap.dedent(body), "    ")}
except JournalError as error:
    sys.exit(f"refused: {{error}}")
"""
    environment = {**os.environ, "PYTHONPATH": str(BENCH / "src")}
    return subprocess.run([sys.executable, "-c", code], cwd=BENCH, env=environment, capture_output=True, text=True, timeout=120)


def test_a_full_disk_leaves_the_journal_whole_and_says_what_to_do(tmp_path: Path) -> None:
    done = limited("for number in range(1, 100):\n    journal.append(cell(number))\n    print(number, flush=True)", tmp_path)
    assert done.returncode == 1, done.stderr
    assert f"cells.jsonl cannot be written: {os.strerror(errno.EFBIG)}; make room, then go on with --resume" in done.stderr
    acknowledged = [int(line) for line in done.stdout.split()]
    assert len(acknowledged) >= 1
    assert rounds(tmp_path) == acknowledged
    assert (tmp_path / "cells.jsonl").read_bytes().endswith(b"\n")  # nothing was left of the line that did not fit
    Journal(tmp_path).append(cell(len(acknowledged) + 1))
    assert rounds(tmp_path)[-1] == len(acknowledged) + 1


def test_a_full_disk_keeps_the_run_json_that_was_there(tmp_path: Path) -> None:
    done = limited("journal.facts({**run_json(), 'runtimes': 'x' * 9000})", tmp_path)
    assert "run.json cannot be written" in done.stderr
    assert read_run(tmp_path)[0] == {**run_json(), "chain": "chain.sha256"}
    assert not list(tmp_path.glob("*.unfinished"))


def test_a_real_full_disk(tmp_path: Path) -> None:
    """The same on a file system without room, where this account may mount one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("only root may mount a tmpfs; the two tests above show the same with a limit on file sizes (EFBIG for ENOSPC)")
    try:
        made = Journal(disk / "run")
        made.facts(run_json())

        def fill() -> None:
            for number in range(1, 1000):
                made.append(cell(number))
                written.append(number)

        written: list[int] = []
        with pytest.raises(JournalError, match="No space left on device; make room, then go on with --resume"):
            fill()
        with pytest.raises(JournalError, match="No space left on device"):
            made.facts({**run_json(), "runtimes": "x" * 64_000})
        assert rounds(disk / "run") == written
        os.close(journal._held.pop((disk / "run").resolve()))
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_two_harnesses_do_not_write_into_one_run(tmp_path: Path) -> None:
    Journal(tmp_path)
    Journal(tmp_path)  # the same harness may
    environment = {**os.environ, "PYTHONPATH": str(BENCH / "src")}
    code = f"from pathlib import Path; from nsb.measure.journal import Journal; Journal(Path({str(tmp_path)!r}))"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120)
    assert "is being written by another run" in done.stderr


# ---- of another version ----


@pytest.mark.parametrize(
    ("schema", "remedy"), [(CELLS_SCHEMA + 1, "a newer version"), (SCHEMA - 1, "the version at the commit that run.json names")]
)
def test_another_schema_is_named(tmp_path: Path, schema: int, remedy: str) -> None:
    write_whole(tmp_path / "run.json", json.dumps(run_json()))
    known = json.loads(cell(1).line())
    for other in ({**known, "schema": schema}, {**known, "schema": schema, "colour": "red"}):
        (tmp_path / "cells.jsonl").write_text(f"{cell(1).line()}\n{json.dumps(other)}\n")
        sentence = f"cells.jsonl, line 2, is of schema {schema}, this program reads {SCHEMA} and {CELLS_SCHEMA}: read it with {remedy}"
        with pytest.raises(JournalError, match=re.escape(sentence)):
            read_run(tmp_path)
    write_whole(tmp_path / "run.json", json.dumps({**run_json(), "schema": schema}))
    with pytest.raises(JournalError, match=rf"run.json is of schema {schema}"):
        read_run(tmp_path)


def test_a_field_that_nobody_knows_is_no_record() -> None:
    with pytest.raises(ValueError, match="line 1, is no record"):
        read_cells([json.dumps({**json.loads(cell(1).line()), "colour": "red"}).encode()])


def test_a_slim_cell_lacks_its_checks_alone() -> None:
    whole = cell(1)
    (slim,) = read_cells([whole.line().encode()])
    assert slim.checks == []
    assert slim.model_copy(update={"checks": whole.checks}) == whole


def test_what_another_generator_measured_once_more_is_passed_over() -> None:
    """Runs until 23 November 2026 have it."""
    once, more = cell(1).line(), {"tool": "oha 1.16.0", "status": "valid", "throughput_rps": 81_300.0}
    (found,) = read_cells([json.dumps({**json.loads(once), "second": more}).encode()])
    assert [found.model_copy(update={"second": None})] == read_cells([once.encode()])


# ---- a day of it ----


def day_long(folder: Path) -> None:
    """20,000 cells of 7 contenders and 12 scenarios, drawn with a seed, every sixth with doubts, one in 30 invalid and tried again."""
    recorded = BENCH / "tests" / "recordings" / "run"
    run = json.loads((recorded / "run.json").read_text(encoding="utf-8"))
    whole = json.loads((recorded / "cells.jsonl").read_text(encoding="utf-8").splitlines()[0])
    draw = random.Random(84)
    contenders, scenarios = [f"contender-{n}" for n in range(7)], [f"scenario-{n}" for n in range(12)]
    plan = {**run["plan"], "contenders": contenders, "scenarios": scenarios, "rounds": DAY // 84 + 1}
    for key, value in {"headlines": "cpu", "models": "open", "rates": 1000, "vus": 100, "holds_ms": 0, "windows_s": 2.0}.items():
        plan[key] = dict.fromkeys(scenarios, value)
    folder.mkdir()
    (folder / "run.json").write_text(json.dumps({**run, "plan": plan}), encoding="utf-8")
    count = 0
    with (folder / "cells.jsonl").open("w", encoding="utf-8") as file:
        while count < DAY:
            round_, at = divmod(count, 84)
            again = draw.random() < 1 / 30
            for attempt in (1, 2) if again else (1,):
                cost = 100 * draw.lognormvariate(0, 0.08)
                costs = {role: cost * draw.random() for role in ("service", "generator", "database", "upstream")}
                line = {
                    **whole,
                    "round": round_ + 1,
                    "attempt": attempt,
                    "contender": contenders[at % 7],
                    "scenario": scenarios[at // 7],
                    "status": "invalid" if again and attempt == 1 else "valid",
                    "reasons": [f"V7 others used {draw.randrange(11, 90)}% of the machine, steal 0%"] if again and attempt == 1 else [],
                    "doubts": [f"V3 k6 was late by {draw.randrange(6, 60)} ms (p99)"] if draw.random() < 1 / 6 else [],
                    "cpu_us_per_request": costs,
                    "cpu_s": {role: us * whole["requests"] / 1e6 for role, us in costs.items()},
                    "latency_ms": dict(zip(("p50", "p90", "p99", "max"), sorted(draw.random() * 40 for _ in range(4)), strict=True)),
                    "raw": f"k6/{round_ + 1:02}-{scenarios[at // 7]}-{contenders[at % 7]}.json",
                }
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
            count += 1


REPORTS = """
import json, resource, sys, time
began = time.monotonic()
from nsb import cli
try:
    cli.app(["report", sys.argv[1]], standalone_mode=False)
except SystemExit as end:
    assert end.code == 0
status = dict(line.split(":", 1) for line in open("/proc/self/status"))  # ru_maxrss begins with that of the test that started this
peak = int(status["VmHWM"].split()[0]) / 1024
drawing = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
told = {"peak_mib": round(peak), "drawing_mib": round(drawing), "s": round(time.monotonic() - began, 1)}
print(json.dumps(told), file=sys.stderr)
"""


@pytest.mark.slow
def test_a_day_long_journal_is_reported_in_250_mib(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    day_long(tmp_path / "run")
    environment = {**os.environ, "PYTHONPATH": str(BENCH / "src")}
    command = [sys.executable, "-c", REPORTS, str(tmp_path / "run")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr
    used = json.loads(done.stderr.splitlines()[-1])
    with capsys.disabled():
        print(f"\n  a journal of {DAY} cells: report took {used['s']} s and {used['peak_mib']} MiB, its drawing {used['drawing_mib']} MiB")
    assert used["peak_mib"] <= 250
    assert "scenario-11" in (tmp_path / "run" / "table.md").read_text(encoding="utf-8")
