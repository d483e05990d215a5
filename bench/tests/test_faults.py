"""What goes wrong gets a name, the run goes on where it can, what was measured is kept, and nothing stays.

The processes are real, the programs are fakes: no database, no compiler, no load.
"""

from __future__ import annotations

import contextlib
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil
import pymysql
import pytest

from conftest import open_cell
from fakes.stage import SLEEPS, Fakes
from nsb.analyse.validity import judge
from nsb.measure import database_private, host, k6, native, running, tools
from nsb.measure.database import DatabaseError, _Admin
from nsb.measure.database_private import Binary, Login, PrivateServer
from nsb.measure.interrupt import HURRY_S, STOPS, TICK_S, Interrupted, ends, interruptible, stop_if_asked, undisturbed
from nsb.measure.journal import Journal, JournalError
from nsb.measure.process import Process, ProcessError
from nsb.measure.runner import Runner
from nsb.measure.tools import BuildError, Missing, Workshop, find, sources
from nsb.records.cells import Record
from nsb.records.judged import Cell
from nsb.registry import plan as plans
from nsb.registry.load import Registry
from nsb.registry.services import Service
from nsb.session import run as session
from nsb.session import runners
from nsb.session.runs import read_run
from nsb.verbs.common import ROOT

pytestmark = pytest.mark.slow
TESTS = Path(__file__).parent
MAIN_GONE = "the service ended with 137"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[..., Fakes]]:
    """Makes a stage of fakes; whatever it started must have ended when the test has."""
    monkeypatch.setattr(session, "must_be_fair", lambda *_: None)  # they say nothing of themselves that could be compared
    stages: list[Fakes] = []

    def make(wrong: str = "", once: bool = False, contenders: dict[str, str] | None = None, **options: Any) -> Fakes:
        monkeypatch.setenv("FAKE_K6", wrong)
        if once:
            monkeypatch.setenv("FAKE_K6_ONCE", str(tmp_path / "once"))
        stages.append(Fakes(tmp_path, contenders or {"a": ""}, **options))
        return stages[-1]

    yield make
    for stage in stages:
        stage.close()
    until = time.monotonic() + 30
    while (left := _left(tmp_path)) and time.monotonic() < until:
        time.sleep(0.05)
    assert left == []


def _left(folder: Path) -> list[str]:
    """Processes of this test that still run, orphans too."""
    commands = [" ".join(_command(each)) for each in psutil.process_iter()]
    return [command for command in commands if str(folder) in command]


def _command(process: psutil.Process) -> list[str]:
    try:
        return [*process.cmdline(), process.cwd()] if process.status() != psutil.STATUS_ZOMBIE else []
    except psutil.Error:
        return []


def journaled(fakes: Fakes) -> list[Cell]:
    fakes.journal.facts({"schema": 1})
    return read_run(fakes.journal.folder)[1]


def told(cells: Sequence[Cell]) -> list[tuple[str, int, bool]]:
    return [(cell.contender, cell.attempt, cell.counts) for cell in cells]


# ---- a service ----


def test_without_a_fault_every_cell_counts(made: Callable[..., Fakes]) -> None:
    fakes = made(contenders={"a": "", "b": "worker"})
    fakes.measure()
    assert sorted(told(journaled(fakes))) == [("a", 1, True), ("b", 1, True)]


@pytest.mark.parametrize(
    ("path", "extra", "pinnings"), [("/pin", ["/pin", "/pinnings"], 3), ("/pin", ["/pin"], None), ("/hello", ["/pin", "/pinnings"], None)]
)
def test_what_the_runtime_says_of_pinning_is_counted_where_it_is_the_question(
    made: Callable[..., Fakes], path: str, extra: list[str], pinnings: int | None
) -> None:
    fakes = made(path=path, extra=extra)
    fakes.measure()
    assert [(cell.status, cell.pinnings) for cell in journaled(fakes)] == [("valid", pinnings)]


def test_a_service_that_dies_under_load_fails_its_cell_and_is_started_again(made: Callable[..., Fakes]) -> None:
    fakes = made("kill service", once=True, contenders={"a": "worker", "b": "worker"})
    fakes.measure()
    cells = journaled(fakes)
    hit = cells[0].contender
    other = "b" if hit == "a" else "a"
    assert told(cells) == [(hit, 1, False), (hit, 2, True), (other, 1, True)]
    assert cells[0].status == "failed"
    assert cells[0].reasons[0].startswith(MAIN_GONE)
    assert any(doubt.startswith("restart: the service had ended with 137") for doubt in cells[1].doubts)
    assert not any(doubt.startswith("restart") for doubt in cells[2].doubts)


def test_a_service_that_dies_between_its_cells_is_started_again_and_the_cell_says_so(
    made: Callable[..., Fakes], monkeypatch: pytest.MonkeyPatch
) -> None:
    fakes = made(scenarios=2)
    measure = Runner.measure

    def measured(self: Runner, slot: plans.Slot, attempt: int = 1) -> Record:
        cell = measure(self, slot, attempt)
        if slot.scenario.id == "hello-1":
            process = self._running["a"].process
            process.signal_group(signal.SIGKILL)
            process.wait(60)
        return cell

    monkeypatch.setattr(Runner, "measure", measured)
    fakes.measure()
    first, second = journaled(fakes)
    assert (first.counts, second.counts) == (True, True)
    assert not any(doubt.startswith("restart") for doubt in first.doubts)
    assert "restart: the service had ended with 137 and was started again in this round" in second.doubts


def test_a_service_that_somebody_stopped_is_named_and_started_again(made: Callable[..., Fakes], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "DRAIN_S", 1.0)
    fakes = made("stop service", once=True)
    fakes.measure()
    first, second = journaled(fakes)
    assert first.status == "failed"
    assert first.reasons == ["somebody stopped it (SIGSTOP): /stats had no answer for 1 s after the load"]
    assert told([second]) == [("a", 2, True)]


def test_a_service_that_does_not_start_has_failed_cells_with_its_words_and_the_others_are_measured(made: Callable[..., Fakes]) -> None:
    fakes = made(contenders={"a": "ends", "b": ""}, scenarios=2)
    fakes.measure()
    cells = journaled(fakes)
    failed = [cell for cell in cells if cell.contender == "a"]
    assert {cell.status for cell in failed} == {"failed"}
    assert {cell.scenario for cell in failed} == {"hello-1", "hello-2"}
    assert failed[0].reasons == ["a ended with 1 before it was ready: no such setting"]
    assert [cell.counts for cell in cells if cell.contender == "b"] == [True, True]


def test_a_port_that_another_program_takes_first_is_not_the_contenders_fault(made: Callable[..., Fakes], tmp_path: Path) -> None:
    fakes = made(contenders={"a": "taken once"})
    try:
        fakes.measure()
        assert told(journaled(fakes)) == [("a", 1, True)]
    finally:
        os.kill(int((tmp_path / "taken").read_text()), signal.SIGKILL)


def test_the_number_of_ports_tried_is_limited(made: Callable[..., Fakes], monkeypatch: pytest.MonkeyPatch) -> None:
    fakes = made(contenders={"a": "ends"})
    monkeypatch.setattr(native, "port_is_free", lambda _: False)
    with pytest.raises(running.Died, match="no such setting"):
        fakes.stage.start(fakes.plan.contenders[0])
    assert len(list((fakes.journal.folder / "logs").glob("a-*.log"))) == native.PORTS_TRIED


# ---- k6 ----


@pytest.mark.parametrize(
    ("wrong", "reasons"),
    [
        ("crash", ["V1 k6 ended with 107", 'k6 said: measuring level=error msg="ReferenceError: cell is not defined"']),
        ("killed", ["V1 k6 ended with 137", "k6 said: measuring"]),
        ("no summary", ["V1 k6 ended with 0 and left no summary that can be read: is the disk full?", "k6 said: measuring"]),
        ("garbage", ["V1 k6 ended with 0 and left no summary that can be read: is the disk full?", "k6 said: measuring"]),
    ],
)
def test_a_k6_that_fails_makes_an_invalid_cell_with_its_words_and_the_run_goes_on(
    made: Callable[..., Fakes], wrong: str, reasons: list[str]
) -> None:
    fakes = made(wrong, once=True)
    fakes.measure()
    first, second = journaled(fakes)
    assert (first.status, first.reasons) == ("invalid", reasons)
    assert told([second]) == [("a", 2, True)]


def test_a_k6_that_does_not_end_is_said_so() -> None:
    assert judge(open_cell(load=None, exit_code=-1)).reasons == ["V1 k6 did not end in time"]


def test_a_k6_that_fails_each_time_leaves_two_invalid_records_and_no_figure(made: Callable[..., Fakes]) -> None:
    fakes = made("crash")
    fakes.measure()
    cells = journaled(fakes)
    assert [(cell.attempt, cell.status, cell.throughput_rps) for cell in cells] == [(1, "invalid", None), (2, "invalid", None)]


def test_a_summary_of_a_killed_sitting_is_not_taken_for_this_ones(made: Callable[..., Fakes]) -> None:
    fakes = made("no summary", once=True)
    old = fakes.journal.folder / "k6" / "01-hello-1-a.json"
    old.write_text('{"metrics": {}, "state": {}}')
    fakes.measure()
    assert journaled(fakes)[0].status == "invalid"
    assert not old.exists()


@pytest.mark.parametrize(
    ("program", "sentence"),
    [
        ("k6-program", r"k6 has gone from .*k6-program; --resume builds it again"),
        (".tools/generator", r"the generator has gone from .*/\.tools/generator; --resume builds it again"),
    ],
)
def test_a_program_that_has_gone_stops_the_run_with_a_sentence(
    made: Callable[..., Fakes], monkeypatch: pytest.MonkeyPatch, program: str, sentence: str
) -> None:
    fakes = made()
    monkeypatch.setattr(fakes.said, "say", lambda _: (fakes.workshop.root / program).unlink(missing_ok=True))  # the first cell is near
    with pytest.raises(ProcessError, match=sentence):
        fakes.measure()
    assert journaled(fakes) == []  # no contender is to blame


def test_a_k6_that_cannot_be_built_is_refused_with_the_compilers_words(tmp_path: Path) -> None:
    (tmp_path / "bench" / "k6").mkdir(parents=True)
    for name in ("go.mod", "go.sum"):
        (tmp_path / "bench" / "k6" / name).write_text("")
    go = tmp_path / "go"
    go.write_text("#!/bin/sh\necho 'no space left on device' >&2\nexit 1\n")
    go.chmod(0o755)
    with pytest.raises(BuildError, match=r"(?s)k6: `.*` ended with 1; the end of .*no space left on device"):
        k6.ensure(tmp_path, str(go), lambda _: None)
    with pytest.raises(BuildError, match="k6 cannot be started: /nonexistent/go: No such file"):
        k6.ensure(tmp_path, "/nonexistent/go", lambda _: None)


# ---- what all contenders stand on ----


def test_a_database_that_dies_stops_the_run_and_keeps_what_was_measured(
    made: Callable[..., Fakes], monkeypatch: pytest.MonkeyPatch
) -> None:
    fakes = made(scenarios=2)

    def begins(slot: plans.Slot, cell: Cell | None) -> None:
        if cell is None and slot.scenario.id == "hello-2":
            fakes.database.process.signal_group(signal.SIGKILL)

    monkeypatch.setattr(fakes.said, "cell", begins)
    with pytest.raises(DatabaseError, match="mariadbd ended in mid-run with 137"):
        fakes.measure()
    assert [cell.scenario for cell in journaled(fakes)] == ["hello-1"]  # the cell under way is not recorded: it is measured again


def test_an_upstream_that_dies_stops_the_run_before_a_contender_is_blamed(
    made: Callable[..., Fakes], monkeypatch: pytest.MonkeyPatch
) -> None:
    fakes = made("crash")  # what a cell of the fan-out comes to without it
    fakes.upstream.signal_group(signal.SIGKILL)
    fakes.upstream.wait(60)
    with pytest.raises(ProcessError, match="the upstream ended in mid-run with 137"):
        fakes.measure()
    assert journaled(fakes) == []


def test_a_contender_that_does_not_start_without_its_database_is_not_blamed(made: Callable[..., Fakes]) -> None:
    fakes = made(contenders={"a": "ends"})
    fakes.database.process.signal_group(signal.SIGKILL)
    fakes.database.process.wait(60)
    with pytest.raises(DatabaseError, match="ended in mid-run"):
        fakes.measure()
    assert journaled(fakes) == []


def test_a_private_server_that_ended_is_told_with_its_last_words(tmp_path: Path) -> None:
    server = PrivateServer(Binary(Path("/usr/sbin/mariadbd"), "mariadb", "11.4.5"), tmp_path, 100)
    try:
        (tmp_path / "database.log").write_text("[ERROR] InnoDB: Assertion failure in file os0file.cc\n")
        server.process = Process("database", SLEEPS, tmp_path / "database.log")
        server.must_run()
        server.process.signal_group(signal.SIGKILL)
        server.process.wait(60)
        with pytest.raises(DatabaseError, match=r"(?s)mariadbd ended in mid-run with 137: .*database.log.*Assertion failure"):
            server.must_run()
    finally:
        server.remove()


def test_a_database_whose_disk_is_full_is_told_to_make_room() -> None:
    admin = _Admin.__new__(_Admin)
    admin.login, admin._rights = Login("127.0.0.1", 3306, "admin", ""), "more rights"
    for code in (1021, 1114):
        said = str(admin._explained(pymysql.OperationalError(code, "The table 'books' is full")))
        assert said == "the database refused (The table 'books' is full): make room on the disk of its data"
    assert "still running?" in str(admin._explained(pymysql.OperationalError(2003, "no connection")))
    assert "more rights" in str(admin._explained(pymysql.OperationalError(1045, "Access denied")))


def test_a_database_that_never_answers_does_not_hold_the_harness_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, object] = {}
    monkeypatch.setattr(pymysql, "connect", lambda **options: asked.update(options))
    Login("127.0.0.1", 3306, "admin", "").connect()
    assert asked["read_timeout"] == asked["write_timeout"] == database_private.ANSWER_TIMEOUT_S


# ---- disk, files, tools ----


def test_a_full_disk_stops_the_run_and_what_was_measured_stays(made: Callable[..., Fakes], monkeypatch: pytest.MonkeyPatch) -> None:
    fakes = made(scenarios=2)
    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    append = fakes.journal.append

    def appended(cell: Cell) -> None:
        append(cell)
        size = (fakes.journal.folder / "cells.jsonl").stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, hard))  # room for no second cell

    monkeypatch.setattr(fakes.journal, "append", appended)
    try:
        with pytest.raises(JournalError, match=r"cannot be written: File too large; make room, then go on with --resume"):
            fakes.measure()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, old)
    assert [cell.scenario for cell in read_run(fakes.journal.folder)[1]] == ["hello-1"]


def test_a_log_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "log").mkdir()
    with pytest.raises(ProcessError, match=re.escape(f"go cannot be started: {tmp_path}/log: Is a directory")):
        Process("go", ["true"], tmp_path / "log")


def test_too_few_open_files_are_refused_before_anything_starts(registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "raise_limits", lambda: 1024)
    sentence = "1024 open files are allowed, 3000 are needed for 7 contenders: raise the limit (ulimit -Hn)"
    with (
        pytest.raises(session.Refused, match=re.escape(sentence)),
        session.stage(Workshop(tmp_path, registry, {}, {}), "1cpu", 1, 7, tmp_path, None, lambda _: None),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_missing_tool_leaves_its_contenders_out_and_says_what_to_install(registry: Registry) -> None:
    gone = find("cargo", registry.tools["cargo"].model_copy(update={"candidates": ["no-such-cargo", "/nonexistent/cargo"]}))
    assert isinstance(gone, Missing)
    plan = plans.make(registry, "smoke", ["go", "rust"], ["hello-rate"], "1cpu", 1, 1)
    runnable, left_out = runners.Native(Workshop(ROOT, registry, {}, {"cargo": gone})).runnable(plan.contenders)
    assert runnable == ["go"]
    assert left_out == {"rust": "cargo 1.95 or newer: not found; install Rust 1.95 or newer (rustup.rs)"}


def test_without_go_nothing_can_be_measured_and_it_says_so(registry: Registry) -> None:
    gone = Missing("go 1.26 or newer: not found; install Go 1.26 or newer and put it on PATH")
    with pytest.raises(
        session.Refused, match=r"k6, the generator and the upstream are built with Go\. go 1\.26 or newer: not found; install"
    ):
        session.go(Workshop(ROOT, registry, {}, {"go": gone}))


def test_without_git_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(BuildError, match="git is not on PATH"):
        sources(ROOT, "go")


def test_a_build_that_fails_quotes_its_compiler(registry: Registry, tmp_path: Path) -> None:
    step = [sys.executable, "-c", "import sys; sys.exit('main.go:7: undefined: chi')"]
    services = {"go": Service(folder=".", needs=[], build=[step]), "rust": Service(folder=".", needs=[], build=[["/nonexistent/cargo"]])}
    work = Workshop(tmp_path, registry.model_copy(update={"services": services}), {}, {})
    with pytest.raises(BuildError, match=r"(?s)go: .* ended with 1; the end of .*main.go:7: undefined: chi"):
        work.build("go", tmp_path / "log", lambda _: None)
    with pytest.raises(BuildError, match="rust cannot be started: /nonexistent/cargo: No such file"):
        work.build("rust", tmp_path / "log", lambda _: None)


def test_a_step_that_never_ends_is_stopped_and_named(registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "LONGEST_STEP_S", 0.6)
    step = ["sleep", "600"]
    work = Workshop(tmp_path, registry.model_copy(update={"services": {"go": Service(folder=".", needs=[], build=[step])}}), {}, {})
    with pytest.raises(BuildError, match=r"(?s)go: `.*` had not ended after 0\.01 minutes and was stopped"):
        work.build("go", tmp_path / "log", lambda _: None)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(JournalError, match="cannot be made: Not a directory; name another one by --out"):
        Journal(tmp_path / "file" / "run")


# ---- Ctrl-C ----


def test_signals_that_come_in_one_moment_are_one_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    inherited = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # these tests themselves may run under nohup

    def all_come() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)
        for number in STOPS:
            os.kill(os.getpid(), number)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)
        time.sleep(0.01)

    try:
        with interruptible(), pytest.raises(Interrupted):
            all_come()
        assert told == []
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)
        signal.signal(signal.SIGHUP, inherited)


def test_a_stop_waits_for_what_must_be_done_whole() -> None:
    reached = []

    def whole() -> None:
        with undisturbed():
            with undisturbed():
                os.kill(os.getpid(), signal.SIGTERM)
                reached.append("inner")
            os.kill(os.getpid(), signal.SIGINT)  # a second one changes nothing
            reached.append("outer")

    with interruptible(), pytest.raises(Interrupted) as stopped:
        whole()
    assert reached == ["inner", "outer"]
    assert stopped.value.exit_code == 128 + signal.SIGTERM


def test_only_the_first_signal_interrupts() -> None:
    with interruptible():
        with pytest.raises(Interrupted):
            os.kill(os.getpid(), signal.SIGINT)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(os.getpid(), number)


def test_a_stop_that_a_finaliser_dropped_comes_at_the_next_cell() -> None:
    with interruptible():
        stop_if_asked()
        with contextlib.suppress(Interrupted):  # "Exception ignored in …"
            os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(Interrupted):
            stop_if_asked()


def test_what_nohup_asks_for_is_respected() -> None:
    old = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interruptible():
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, old)


def test_nobody_is_waited_for_long_once_a_stop_was_asked_for() -> None:
    looks = 0

    def ended() -> bool:
        nonlocal looks
        looks += 1
        assert looks <= 2 * HURRY_S / TICK_S
        return False

    with interruptible():
        with pytest.raises(Interrupted):
            os.kill(os.getpid(), signal.SIGINT)
        assert ends(ended, 3600) is False


def lines(folder: Path, pattern: str, text: str) -> int:
    return sum(file.read_text(errors="replace").count(text) for file in folder.rglob(pattern))


def drains(folder: Path) -> bool:
    """k6 has ended, and the service is asked again and again what is in flight."""
    if not list(folder.rglob("01-hello-1-*.json")):
        return False
    first = lines(folder, "*.log", "asked what is in flight")
    time.sleep(0.5)
    return lines(folder, "*.log", "asked what is in flight") >= first + 3


def conforms(folder: Path) -> bool:
    return bool(lines(folder, "*.out", "a rule waits") and lines(folder, "*.log", "asked whether it is ready"))


PHASES: dict[str, Callable[[Path], bool | int]] = {
    "build": lambda folder: lines(folder, "build.log", "compiling"),
    "conformance": conforms,
    "start": lambda folder: lines(folder, "*.log", "asked whether it is ready"),
    "warm-up": lambda folder: lines(folder, "warm-*.log", "hanging"),
    "cell": lambda folder: lines(folder, "k6-01-*.log", "hanging"),
    "divided cell": lambda folder: lines(folder, "k6-01-*-part*.log", "hanging") == 2,
    "drain": drains,
    "stopping": lambda folder: lines(folder, "*.log", "asked to end"),
}


def _harness(folder: Path, phase: str, there: Callable[[Path], bool | int]) -> tuple[subprocess.Popen[bytes], list[psutil.Process]]:
    """One that has come to this phase, and its processes."""
    path = os.pathsep.join([str(TESTS.parent / "src"), str(TESTS)])
    inherited = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # these tests themselves may run under nohup
    with (folder / "harness.out").open("wb") as output:
        command = [sys.executable, "-u", "-m", "fakes.stage", str(folder), phase]
        harness = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": path}, stdout=output, stderr=output)
    signal.signal(signal.SIGHUP, inherited)
    until = time.monotonic() + 300
    while not there(folder):
        assert harness.poll() is None, (folder / "harness.out").read_text()
        assert time.monotonic() < until, "it never came to that"
        time.sleep(0.05)
    family = psutil.Process(harness.pid).children(recursive=True)
    assert len(family) >= 2
    return harness, family


def test_what_is_refused_waits_for_no_build_beside_it(tmp_path: Path) -> None:
    harness, family = _harness(tmp_path, "refused", PHASES["build"])
    (tmp_path / "refuse").touch()
    try:
        code = harness.wait(60)
    finally:
        harness.kill()
    _, alive = psutil.wait_procs(family, timeout=30)
    said = (tmp_path / "harness.out").read_text()
    assert [" ".join(_command(each)) for each in alive if _command(each)] == [], said
    assert (code, said.splitlines()[-1]) == (3, "no database is here")


@pytest.mark.parametrize(
    ("phase", "number"),
    [*((phase, signal.SIGINT) for phase in PHASES), ("build", signal.SIGTERM), ("cell", signal.SIGHUP)],
    ids=lambda value: value if isinstance(value, str) else signal.Signals(value).name,
)
def test_it_ends_in_every_phase_and_nothing_stays(phase: str, number: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    harness, family = _harness(tmp_path, phase, PHASES[phase])
    began = time.monotonic()
    harness.send_signal(number)
    for again in (signal.SIGINT, signal.SIGTERM):  # impatience does no harm
        time.sleep(0.05)
        harness.send_signal(again)
    try:
        code = harness.wait(60)
    finally:
        harness.kill()
    took = time.monotonic() - began
    _, alive = psutil.wait_procs(family, timeout=30)
    with capsys.disabled():
        print(f"\n  {signal.Signals(number).name} during {phase}: ended after {took:.1f} s")
    said = (tmp_path / "harness.out").read_text()
    assert [" ".join(_command(each)) for each in alive if _command(each)] == [], said
    assert code == 128 + number, said
    assert said.endswith("stopped\n")
    assert "Traceback" not in said


# ---- the table of docs/faults.md ----


def test_every_test_that_the_fault_table_names_is_there() -> None:
    text = (TESTS.parents[1] / "docs" / "faults.md").read_text(encoding="utf-8")
    section = text.split("\n## Faults and their tests\n", 1)[1].split("\n## ", 1)[0]
    files = {letter: (TESTS / name).read_text(encoding="utf-8") for letter, name in re.findall(r"\b([A-Z]) (test_\w+\.py)", section)}
    rows = [line.strip("| \n").split(" | ") for line in section.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 15
    for fault, _, named in rows:
        tests = [(part.strip()[0], name) for part in named.split(";") for name in re.findall(r"`(\w+)…?`", part)]
        assert tests, fault
        for letter, name in tests:
            assert f"def test_{name}" in files[letter], (fault, letter, name)
