"""Processes start pinned, count their CPU, and leave nothing behind."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from nsb.measure.process import (
    Process,
    ProcessError,
    compilers,
    cpu_s,
    footprint,
    forget_peak,
    free_port,
    lent_mib,
    port_is_free,
    spent_s,
    switches,
    threads_cpu_s,
    times_of,
)
from nsb.measure.runner import Runner

SPAWNS = """
import subprocess, sys, time
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print("up", flush=True)
time.sleep(60)
"""


def started(tmp_path: Path, code: str, **options: object) -> Process:
    process = Process("test", [sys.executable, "-c", code], tmp_path / "log", dict(os.environ), **options)  # type: ignore[arg-type]
    until = time.monotonic() + 30
    while "up" not in process.last_words() and process.exit_code is None and time.monotonic() < until:
        time.sleep(0.01)
    return process


LEAVES = """
import subprocess, sys, time
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
print("up", flush=True)
time.sleep(60)
"""


def test_what_has_left_the_group_ends_too_though_its_parent_ended_first(tmp_path: Path) -> None:
    process = started(tmp_path, LEAVES)
    (left,) = [psutil.Process(pid) for pid in process.tree() if pid != process.pid]
    process.signal(signal.SIGTERM)
    assert process.wait(10) == 128 + signal.SIGTERM
    process.end(0)
    left.wait(10)
    assert not left.is_running()


def test_the_whole_tree_ends(tmp_path: Path) -> None:
    process = started(tmp_path, SPAWNS)
    tree = process.tree()
    assert len(tree) == 2
    process.end(5)
    assert not [pid for pid in tree if psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE]


def test_what_a_service_started_that_ended_by_itself_is_ended_with_its_group(tmp_path: Path) -> None:
    process = started(tmp_path, SPAWNS)
    (child,) = [psutil.Process(pid) for pid in process.tree() if pid != process.pid]
    process.signal(signal.SIGKILL)
    assert process.wait(10) == 128 + signal.SIGKILL
    assert child.is_running()
    runner = Runner.__new__(Runner)
    runner._running = {"a": SimpleNamespace(process=process)}  # type: ignore[dict-item]
    assert runner.end_group() == {}
    child.wait(10)


def test_a_process_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    process = started(tmp_path, "import signal, time; signal.signal(15, signal.SIG_IGN); print('up', flush=True); time.sleep(60)")
    assert process.end(0.2) == 128 + signal.SIGKILL


def test_a_frozen_process_can_be_ended(tmp_path: Path) -> None:
    process = started(tmp_path, "import time; print('up', flush=True); time.sleep(60)")
    process.freeze()
    assert process.end(10) == 128 + signal.SIGTERM


def test_exit_codes_and_last_words(tmp_path: Path) -> None:
    process = Process("test", [sys.executable, "-c", "import sys; sys.exit('no such setting')"], tmp_path / "log")
    assert process.wait(30) == 1
    assert process.last_words() == "no such setting"


def test_a_missing_program_is_named(tmp_path: Path) -> None:
    with pytest.raises(ProcessError, match="/nonexistent/program"):
        Process("test", ["/nonexistent/program"], tmp_path / "log")


def test_it_runs_only_where_it_is_placed(tmp_path: Path) -> None:
    core = max(os.sched_getaffinity(0))
    process = started(tmp_path, "print('up', flush=True); import time; time.sleep(60)", cpus=[core])
    try:
        assert os.sched_getaffinity(process.pid) == {core}
    finally:
        process.end(1)


def test_cpu_counts_ended_threads(tmp_path: Path) -> None:
    code = (
        "import hashlib, threading, time\n"
        "t = threading.Thread(target=lambda: hashlib.pbkdf2_hmac('sha256', b'a', b'b', 400000)); t.start(); t.join()\n"
        "print('up', flush=True); time.sleep(60)"
    )
    process = started(tmp_path, code)
    try:
        threads = Path(f"/proc/{process.pid}/task").iterdir()
        alone = sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads)
        assert cpu_s([process.pid]) > alone / 1e9  # the thread that worked has ended: only the process's clock still has it
        seen = footprint(process.tree())
        assert seen.threads == 1
        assert seen.pss_mib > 1
    finally:
        process.end(1)


def test_each_thread_is_told_with_its_context_switches() -> None:
    waits, done = 50, threading.Event()

    def wait() -> None:
        for _ in range(waits):
            time.sleep(0.001)  # each gives up the core: a voluntary switch
        named.append(threading.get_native_id())
        done.wait(60)

    named: list[int] = []
    before = switches([os.getpid()])
    thread = threading.Thread(target=wait)
    thread.start()
    while not named:
        time.sleep(0.001)
    during = switches([os.getpid()])
    done.set()
    thread.join()
    new = (os.getpid(), named[0])
    assert new not in before
    assert during[new] >= waits
    assert all(during[one] >= count for one, count in before.items() if one in during)
    told = (switches([os.getpid()]) for _ in range(1000) if not time.sleep(0.001))  # the kernel lists it for a moment after join
    assert any(new not in each for each in told), "one that has ended is not told"


def test_memory_that_a_child_maps_too_is_its_parents_whole(tmp_path: Path) -> None:
    """A child that does nothing would halve what PSS says of it."""
    code = "import os, time; kept = bytearray(os.urandom(1 << 16)) * 512; os.fork(); print('up', flush=True); time.sleep(60)"
    process = started(tmp_path, code)
    try:
        assert lent_mib(process.pid) > 10
        assert footprint([process.pid]).pss_mib > 32
        assert footprint(process.tree()).pss_mib < 32 + 2 * 20
    finally:
        process.end(1)


def test_what_a_process_had_used_stays_where_it_has_ended(tmp_path: Path) -> None:
    process = started(tmp_path, "print('up', flush=True); import time; time.sleep(60)")
    gauge = process.gauge()
    used = gauge.cpu_s()
    process.end(1)
    assert gauge.cpu_s() >= used > 0
    assert process.gauge().cpu_s() == 0.0


def test_the_dead_cost_nothing() -> None:
    assert cpu_s([2**22 - 1]) == 0.0
    assert footprint([2**22 - 1]).threads == 0


def test_ports_are_never_given_twice() -> None:
    ports = [free_port() for _ in range(50)]
    assert len(set(ports)) == 50


def test_a_port_that_the_user_may_not_bind_is_not_said_to_be_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(socket.socket, "bind", refuse)  # the tests may run as root, who may bind all
    with pytest.raises(PermissionError):
        port_is_free(80)


def test_nothing_outlives_a_killed_harness_not_even_stopped_workers(tmp_path: Path) -> None:
    harness = f"""
import os, pathlib, signal, sys, time
from nsb.measure.process import Process
process = Process("test", [sys.executable, "-c", {SPAWNS!r}], pathlib.Path({str(tmp_path / "log")!r}))
while "up" not in process.last_words():
    time.sleep(0.01)
process.freeze()
print(*process.tree(), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", harness], capture_output=True, text=True, timeout=60)
    pids = [int(pid) for pid in done.stdout.split()]
    assert len(pids) == 2, done.stderr

    def alive() -> list[int]:
        return [pid for pid in pids if psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE]

    until = time.monotonic() + 30
    while alive() and time.monotonic() < until:
        time.sleep(0.01)
    assert alive() == []


def test_memory_that_came_and_went_between_two_looks_is_known(tmp_path: Path) -> None:
    code = (
        "import signal, time\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})\n"
        "print('up', flush=True); signal.sigwait({signal.SIGUSR1})\n"
        "much = bytearray(60 << 20); del much\n"
        "print('done', flush=True); time.sleep(60)"
    )
    process = started(tmp_path, code)
    try:
        if not os.access("/proc/self/clear_refs", os.W_OK):
            pytest.skip("this kernel is built without clear_refs (CONFIG_PROC_PAGE_MONITOR): peaks are the highest of three looks there")
        assert forget_peak(process.tree())
        assert footprint(process.tree()).fallen_mib < 5
        os.kill(process.pid, signal.SIGUSR1)
        until = time.monotonic() + 30
        while "done" not in process.last_words() and time.monotonic() < until:
            time.sleep(0.01)
        seen = footprint(process.tree())
        assert seen.pss_mib < 50 < seen.fallen_mib
    finally:
        process.end(1)
    assert not forget_peak([2**22 - 1])


def test_a_jvms_compilers_are_found_by_their_names_and_their_cpu_is_read() -> None:
    named, over = threading.Event(), threading.Event()

    def compiles() -> None:
        Path(f"/proc/self/task/{threading.get_native_id()}/comm").write_text("C2 CompilerThread0", encoding="ascii")
        named.set()
        while not over.is_set():
            sum(range(10_000))

    assert (compilers([os.getpid()]), threads_cpu_s([])) == ([], {})
    thread = threading.Thread(target=compiles)
    thread.start()
    try:
        assert named.wait(60)
        found = compilers([os.getpid()])
        assert [each.name for each in found] == [str(thread.native_id)]
        before = threads_cpu_s(found)
        until = time.monotonic() + 60
        while not (spent := spent_s(before, threads_cpu_s(found))) and time.monotonic() < until:
            time.sleep(0.01)
        assert spent is not None
        assert spent > 0
    finally:
        over.set()
        thread.join()
    until = time.monotonic() + 60
    while threads_cpu_s(found) and time.monotonic() < until:  # it is joined a moment before the kernel forgets it
        time.sleep(0.01)
    assert threads_cpu_s(found) == {}, "a thread that has ended tells nothing"
    assert spent_s(before, {}) is None
    other = Path("other")
    assert spent_s({**before, other: 1.0}, {other: 1.5}) == pytest.approx(0.5), "a JVM ends compilers that rest, and keeps the others"


def test_a_machine_is_busy_where_it_is_not_idle_whatever_the_ticks_say() -> None:
    def stat(idle: int, user: int, steal: int = 0, softirq: int = 0) -> str:
        ours = f"{user} 0 {user} {idle} 0 0 {softirq} {steal} 0 0"
        return f"cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 {ours}\ncpu1 {ours}\ncpu2 0 0 0 0 0 0 0 0 0 0\nintr 7\n"

    ticks = os.sysconf("SC_CLK_TCK")
    before = times_of(stat(0, 0), 100.0, (0, 1))
    after = times_of(stat(3 * ticks, 0, steal=ticks, softirq=ticks), 110.0, (0, 1))
    assert (after.busy - before.busy, after.steal - before.steal) == (pytest.approx(2 * (10.0 - 5.0)), 2.0)
    sampled = times_of(stat(3 * ticks, 4 * ticks, steal=ticks, softirq=ticks), 110.0, (0, 1))
    assert sampled == after
