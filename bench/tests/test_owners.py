"""Whose sockets, threads and processes a contender has: real processes of this test, looked up in /proc; nothing is timed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from nsb.analyse.owners import check
from nsb.measure import owners, process
from nsb.measure.native import Stage
from nsb.measure.process import ALL_CORES, Process, free_port
from nsb.measure.running import Running
from nsb.records.owners import Owned

SERVES = """
import os, socket, sys, time
door = socket.socket()
door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
door.bind(("127.0.0.1", int(sys.argv[1])))
door.listen()
kept = []
what = sys.argv[2]
if what == "calls":
    kept.append(socket.create_connection(("127.0.0.1", int(sys.argv[3]))))
if what == "batch":
    os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
if what == "slices":
    import ctypes, struct
    wanted = ctypes.create_string_buffer(struct.pack("=IIQiIQQQ", 48, 0, 0, os.getpriority(os.PRIO_PROCESS, 0), 0, 100_000_000, 0, 0))
    ctypes.CDLL(None).syscall(int(sys.argv[3]), 0, wanted, 0)
if what == "weighs" and os.path.exists("/proc/self/autogroup"):
    open("/proc/self/autogroup", "w").write("5")
if what == "lends":
    kept.append(bytearray(os.urandom(1 << 16)) * 256)
    if os.fork() == 0:
        door.close()
        time.sleep(3600)
if what == "forks twice":
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(3600)
        os._exit(0)
    os.wait()
print("serving", flush=True)
while True:
    kept.append(door.accept()[0])
    print("accepted", flush=True)
"""


class Served:
    """A service of one port, its stage, and how to look at it."""

    def __init__(self, folder: Path, what: str = "", more: int = 0, cores: tuple[int, ...] = ALL_CORES) -> None:
        self.port = free_port()
        command = [sys.executable, "-c", SERVES, str(self.port), what, str(more)]
        self.process = Process("a", command, folder / f"a-{self.port}.log")
        self.until("serving")
        database = SimpleNamespace(port=1, client_ports=lambda _: frozenset())
        stage = SimpleNamespace(
            runner="native", placement=SimpleNamespace(service=cores), database=database, upstream_url="http://127.0.0.1:2"
        )
        self.running = SimpleNamespace(process=self.process, port=self.port, pid=self.process.pid, contender=SimpleNamespace(id="a"))
        self.stage = stage

    def until(self, word: str) -> None:
        until = time.monotonic() + 60
        while word not in self.process.last_words(50) and time.monotonic() < until:
            time.sleep(0.01)
        assert word in self.process.last_words(50)

    def look(self) -> owners.Look:
        return owners.looks(cast(Stage, self.stage), [cast(Running, self.running)])[0]

    def found(self) -> Owned:
        look = self.look()
        owners.snap([look])
        found = look.owned()
        assert found is not None
        return found


@pytest.fixture
def served(tmp_path: Path) -> Any:
    began: list[Served] = []

    def start(*arguments: Any, **more: Any) -> Served:
        began.append(Served(tmp_path, *arguments, **more))
        return began[-1]

    yield start
    for each in began:
        each.process.end(0)


Start = Callable[..., Served]


def test_an_honest_service_owns_what_it_accepted(served: Start) -> None:
    one = served()
    with socket.create_connection(("127.0.0.1", one.port)):
        one.until("accepted")
        found = one.found()
    assert (found.accepted, found.faults, found.unread, found.looks) == (1, [], [], 2)
    assert check([found]).outcome == "ok"


def test_a_port_that_somebody_else_serves_is_told(served: Start) -> None:
    one, other = served(), served()
    one.running.port = other.port
    with socket.create_connection(("127.0.0.1", other.port)):
        other.until("accepted")
        found = one.found()
    whose = f"1 of 1 sockets that listen on its port are held by somebody else too: {other.process.pid} (python"
    assert found.faults[0].startswith(whose)
    assert found.faults[1:] == [
        "1 of 1 sockets that listen on its port belong to no process of the contender",
        "1 of 1 connections of its clients belong to no process of the contender",
    ]
    judged = check([found])
    assert (judged.id, judged.outcome) == ("V9", "invalid")
    assert judged.sentence.startswith("a: 1 of 1 sockets")


def test_a_socket_that_is_held_by_somebody_else_too_is_told(served: Start) -> None:
    """Inherited by a process outside of the tree: here by a child of the test itself, over a copy of the descriptor."""
    one = served()
    with socket.create_connection(("127.0.0.1", one.port)):
        one.until("accepted")
        shared = next(iter(owners.inodes(one.process.pid)))
    assert owners._shared({shared}, {one.process.pid}) == {}
    mine = socket.socket()
    mine.bind(("127.0.0.1", 0))
    mine.listen()
    (inode,) = {
        each.inode for each in owners.sockets(owners.tables()) if each.state == owners.LISTEN and each.port == mine.getsockname()[1]
    }
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"], pass_fds=[mine.fileno()])
    try:
        assert owners._shared({inode}, {one.process.pid}) == {inode: child.pid}
    finally:
        child.kill()
        child.wait()
        mine.close()


def test_of_the_kernels_tables_what_is_connected_or_listens_is_read() -> None:
    four = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:07E8 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1674 1 0000000039d941f6 100 0 0 10 0
   1: 0100007F:9389 0100007F:B2FA 06 00000000:00000000 03:00000649 00000000     0        0 0 3 0000000085996121
10002: 0100007F:9389 0100007F:B2FB 01 00000000:00000000 00:00000000 00000000  1000        0 99 1 0000000085996122 20 4 30 10 -1
"""
    six = "   0: 00000000000000000000000000000000:1F90 0000FFFF0100007F:0101 01 0:0 00:0 0 0 0 7 1 0000000039d941f7 100 0 0 10 0\n"
    assert owners.sockets([four, six]) == [
        owners.Socket(0x07E8, 0, owners.LISTEN, 1674),
        owners.Socket(0x9389, 0xB2FB, owners.ESTABLISHED, 99),
        owners.Socket(0x1F90, 0x0101, owners.ESTABLISHED, 7),
    ]


def test_a_connection_to_a_stranger_is_told(served: Start) -> None:
    helper = served()
    found = served("calls", helper.port).found()
    assert found.faults == [f"1 connections to somebody who is neither its database nor the upstream (port {helper.port})"]


def test_who_forks_twice_stays_in_the_tree_and_is_told_where_no_stop_reaches_it(served: Start) -> None:
    one = served("forks twice")
    found = one.found()
    (fault,) = found.faults
    assert fault.startswith("processes have left its process group, no stop reaches them: ")
    left = int(fault.split(": ")[1].split(" ")[0])
    assert left in one.process.tree()
    one.process.end(0)
    assert not Path(f"/proc/{left}").exists()


@pytest.mark.skipif(len(ALL_CORES) < 2, reason="needs two cores")
def test_threads_that_may_leave_their_core_are_told(served: Start) -> None:
    found = served(cores=ALL_CORES[:1]).found()
    everywhere = ", ".join(map(str, ALL_CORES))
    assert found.faults == [f"1 threads may run on the cores {everywhere}, and not on {ALL_CORES[0]} alone"]


def test_threads_that_run_otherwise_than_those_of_others_are_told(served: Start) -> None:
    nice = os.getpriority(os.PRIO_PROCESS, 0)
    found = served("batch").found()
    usual = os.sched_getscheduler(0)
    assert found.faults == [f"1 threads have the scheduling policy {os.SCHED_BATCH} and the nice value {nice}, and not {usual} and {nice}"]


def test_threads_that_run_for_longer_are_told(served: Start) -> None:
    """A kernel before Linux 6.12 lets nobody choose: the same request changes nothing there, and nobody is accused."""
    assert process._SCHED_GETATTR is not None
    faults = served("slices", process._SCHED_GETATTR - 1).found().faults  # sched_setattr(2) has the number before
    usual_ms = process.scheduled(0)
    assert faults == ([f"1 threads have a time slice of 100 ms, and not of {usual_ms:g} ms"] if usual_ms else [])


def test_a_scheduling_group_of_another_weight_is_told(served: Start) -> None:
    """A kernel without such groups has no file to write to, and nobody is accused."""
    groups = Path("/proc/self/autogroup").exists()
    assert served("weighs").found().faults == (["1 processes are in a scheduling group with the nice value 5"] if groups else [])


def test_memory_that_somebody_else_maps_is_told(served: Start) -> None:
    one = served("lends")
    look = one.look()
    look._tree = (one.process.pid,)  # as if its child had come since
    owners.snap([look])
    assert "a part of its memory is mapped by a process that is none of its own, 1 MiB or more" in look._faults


def test_processes_that_end_under_load_are_told(served: Start) -> None:
    one = served()
    look = one.look()
    look._tree = (*look._tree, 2**22 - 1)  # as if one more had been there
    found = look.owned()
    assert found is not None
    assert found.faults == ["1 processes ended under load, and what they used last is in no figure"]


@pytest.mark.skipif(len(ALL_CORES) < 2, reason="needs two cores")
def test_a_core_that_is_borrowed_for_the_load_alone_is_told(served: Start) -> None:
    one = served(cores=ALL_CORES[:1])
    one.process.pin(ALL_CORES[:1])
    look = one.look()
    one.process.pin(ALL_CORES)
    look.placed()
    one.process.pin(ALL_CORES[:1])
    found = look.owned()
    assert found is not None
    assert [fault for fault in found.faults if fault.startswith("1 threads may run on the cores")] == found.faults != []


def test_processes_that_come_later_are_told(served: Start) -> None:
    one = served()
    look = one.look()
    look._tree = ()  # as if the first look had seen none of them
    found = look.owned()
    assert found is not None
    assert found.faults == [f"processes came under load, and their CPU is in no figure: {one.process.pid} ({name_of(one.process.pid)})"]


def name_of(pid: int) -> str:
    return Path(f"/proc/{pid}/comm").read_text().strip()


def test_what_cannot_be_read_is_a_doubt_by_name(served: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    one = served()

    def refuses(pid: int) -> set[int]:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(owners, "inodes", refuses)
    judged = check([one.found()])
    assert judged.outcome == "doubt"
    assert judged.sentence.startswith("a: nobody could read whose its sockets are (Permission denied); a: no connection of its clients")
