"""Whose a contender's sockets are, how its threads may run, and what processes it has: idle, under load, and afterwards. Effects only.

A figure is the CPU of a process tree. So the work has to be done in that tree: who accepted a connection, and who asked the database, is
looked up by the socket's inode. A descendant whose parent has ended stays in the tree, since each contender is the subreaper of its own
(prctl(2), PR_SET_CHILD_SUBREAPER; process.py). What this cannot see is told in docs/cheating.md.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from nsb.measure.process import lent_mib, scheduled
from nsb.records.owners import ENDED, Owned

if TYPE_CHECKING:
    from nsb.measure.native import Stage
    from nsb.measure.running import Running

BEFORE_S = 0.4
"""How long before the window of a cell under k6 opens it is looked whose the sockets are: that takes some 10 ms (s)."""
TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
ESTABLISHED, LISTEN = "01", "0A"
"""States of /proc/net/tcp (include/net/tcp_states.h)."""
LINE = re.compile(rf"^ *\d+: [0-9A-F]+:([0-9A-F]+) [0-9A-F]+:([0-9A-F]+) ({ESTABLISHED}|{LISTEN}) (?:\S+ +){{5}}(\d+)", re.MULTILINE)
"""Port, peer's port, state and inode (proc_tcp(5))."""
LENT_MIB = 1.0
"""So much of its own memory may be mapped elsewhere while a process begins another one (MiB)."""
QUOTED = 3
"""Of so many processes or ports a fault names each."""


@dataclass(frozen=True)
class Socket:
    """One line of /proc/net/tcp or tcp6."""

    port: int
    peer: int
    """The port of the other end; 0 of a socket that listens."""
    state: str
    inode: int
    """0: not accepted yet, or closed by its process."""


def tables() -> list[str]:
    """The TCP sockets of this network namespace, as the kernel writes them. Raises OSError."""
    found = []
    for table in TABLES:
        with contextlib.suppress(FileNotFoundError):  # a kernel without IPv6
            found.append(table.read_text(encoding="ascii"))
    return found


def sockets(texts: Iterable[str]) -> list[Socket]:
    """Those that are connected or listen. Thousands of lines are of connections that loads before have closed: they are skipped unread."""
    lines = (found for text in texts for found in LINE.findall(text))
    return [Socket(int(port, 16), int(peer, 16), state, int(inode)) for port, peer, state, inode in lines]


class _Table:
    """The kernel's tables, read before and after it is read who holds which sockets; what is in them can wait."""

    def __init__(self, before: list[str], after: list[str]) -> None:
        self._before, self._after = before, after

    @cached_property
    def sockets(self) -> list[Socket]:
        """Those that were there all the time: a load that ends closes its connections at any moment."""
        still = {each.inode for each in sockets(self._after)}
        return [each for each in sockets(self._before) if each.inode in still]


def inodes(pid: int) -> set[int]:
    """The sockets that a process holds. Raises PermissionError; a process that has ended holds none."""
    found = set()
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        folder = os.open(f"/proc/{pid}/fd", os.O_RDONLY | os.O_DIRECTORY)
        try:
            with os.scandir(folder) as files:
                for file in files:
                    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                        target = os.readlink(file.name, dir_fd=folder)
                        if target.startswith("socket:["):
                            found.add(int(target[8:-1]))
        finally:
            os.close(folder)
    return found


def looks(stage: Stage, contenders: Iterable[Running]) -> list[Look]:
    """The first look at each, which takes the most time; before anything is driven."""
    found = [Look(stage, each) for each in contenders]
    snap(found)
    for each in found:
        each.outside()
    return found


def snap(several: Sequence[Look]) -> None:
    """One look at all of them, under load: some 10 ms. Whose the sockets are is judged later.

    Where the threads run is looked at here too: one that borrows a core gives it back when the load is over.
    """
    several = [each for each in several if each.native]
    if not several:
        return
    for each in several:
        each.placed()
        each.lent()
    try:
        before = tables()
        held = [each.held() for each in several]
        table = _Table(before, tables())
    except OSError as error:
        for each in several:
            each.not_read(error)
        return
    for each, own in zip(several, held, strict=True):
        if own is not None:
            each.seen(table, own)


class Look:
    """All looks at one contender: idle before the load, under it before its window opens and when that has closed, and after it."""

    def __init__(self, stage: Stage, running: Running) -> None:
        """Nothing is looked at yet."""
        self._stage, self._running = stage, running
        self._accepted = self._pool = self._looks = 0
        self._faults: dict[str, None] = {}
        self._unread: dict[str, None] = {}
        self._snaps: list[tuple[_Table, set[int]]] = []
        self.native = stage.runner == "native"
        """Of containers the control group says whose CPU it is."""
        self._tree: tuple[int, ...] = tuple(running.process.tree()) if self.native else ()

    def lent(self) -> None:
        if len(self._tree) == 1 and lent_mib(self._tree[0]) > LENT_MIB:
            self._fault(f"a part of its memory is mapped by a process that is none of its own, {LENT_MIB:g} MiB or more")

    def held(self) -> set[int] | None:
        """The sockets that it holds now; None where that cannot be read."""
        try:
            return set[int]().union(*(inodes(pid) for pid in self._tree))
        except OSError as error:
            self.not_read(error)
            return None

    def seen(self, table: _Table, own: set[int]) -> None:
        self._snaps.append((table, own))

    def not_read(self, error: OSError) -> None:
        self._unread[f"whose its sockets are ({error.strerror})"] = None

    def placed(self) -> None:
        """Where the threads may run now: 1 ms for some hundred of them."""
        if self.native:
            self._placed(self._tree)

    def owned(self) -> Owned | None:
        """Once the load is over; None where nobody looked. Raises DatabaseError."""
        if not self.native:
            return None
        tree = self._running.process.tree()
        came = sorted(set(tree) - set(self._tree))
        if came:
            self._fault(f"processes came under load, and their CPU is in no figure: {_processes(came)}")
        if gone := len(set(self._tree) - set(tree)):
            self._fault(f"{gone} {ENDED}")
        self._placed(tree)
        ports = self._stage.database.client_ports(self._running.contender.id)
        for table, own in self._snaps:
            self._judge(table.sockets, own, ports)
        return Owned(
            contender=self._running.contender.id,
            looks=len(self._snaps),
            accepted=self._accepted,
            pool=self._pool,
            faults=list(self._faults),
            unread=list(self._unread),
        )

    def _fault(self, sentence: str) -> None:
        self._faults[sentence] = None

    def _placed(self, tree: Sequence[int]) -> None:
        for sentence in (*_elsewhere(tree, self._running.pid, set(self._stage.placement.service)), *_favoured(tree)):
            self._fault(sentence)

    def outside(self) -> None:
        """Whether somebody else holds what it listens on. Raises nothing: what cannot be read was told by the snap."""
        for table, _ in self._snaps:
            listens = {each.inode for each in table.sockets if each.state == LISTEN and each.port == self._running.port}
            shared = _shared(listens, set(self._tree))
            if shared:
                whose = _processes(sorted(set(shared.values())))
                self._fault(f"{len(shared)} of {len(listens)} sockets that listen on its port are held by somebody else too: {whose}")

    def _judge(self, table: Sequence[Socket], own: set[int], ports: frozenset[int]) -> None:
        server, database = self._running.port, self._stage.database.port
        upstream = int(self._stage.upstream_url.rpartition(":")[2])
        live = [each for each in table if each.state == ESTABLISHED and each.inode]
        listens = {each.inode for each in table if each.state == LISTEN and each.port == server}
        accepted = {each.inode for each in live if each.port == server}
        pool = {each.inode for each in live if each.peer == database and each.port in ports}
        self._accepted, self._pool = max(self._accepted, len(accepted)), max(self._pool, len(pool))
        for what, seen in (
            ("sockets that listen on its port", listens),
            ("connections of its clients", accepted),
            ("its database connections", pool),
        ):
            if seen - own:
                self._fault(f"{len(seen - own)} of {len(seen)} {what} belong to no process of the contender")
        others = Counter(each.peer for each in live if each.inode in own and each.port != server and each.peer not in (database, upstream))
        if others:
            told = ", ".join(str(port) for port in sorted(others)[:QUOTED])
            self._fault(f"{others.total()} connections to somebody who is neither its database nor the upstream (port {told})")


def _elsewhere(tree: Sequence[int], main: int, cores: set[int]) -> Iterator[str]:
    """Threads that may run on other cores or that run before others, and processes that a stop (SIGSTOP to the group) does not reach."""
    strays: Counter[tuple[int, ...]] = Counter()
    unlike: Counter[tuple[int, int]] = Counter()
    slices: Counter[float] = Counter()
    left, usual, slice_ms = [], _priority(0), scheduled(0) or 0.0
    for pid in tree:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            for thread in Path(f"/proc/{pid}/task").iterdir():
                with contextlib.suppress(ProcessLookupError):
                    allowed = os.sched_getaffinity(int(thread.name))
                    if not allowed <= cores:
                        strays[tuple(sorted(allowed))] += 1
                    if (found := _priority(int(thread.name))) != usual:
                        unlike[found] += 1
                    if (own_ms := scheduled(int(thread.name)) or slice_ms) != slice_ms:
                        slices[own_ms] += 1
        with contextlib.suppress(ProcessLookupError):
            if pid != main and os.getpgid(pid) != main and not _is_dead(pid):
                left.append(pid)
    for wide, count in strays.items():
        yield f"{count} threads may run on the cores {', '.join(map(str, wide))}, and not on {', '.join(map(str, sorted(cores)))} alone"
    for (policy, nice), count in unlike.items():
        yield f"{count} threads have the scheduling policy {policy} and the nice value {nice}, and not {usual[0]} and {usual[1]}"
    for own_ms, count in slices.items():
        yield f"{count} threads have a time slice of {own_ms:g} ms, and not of {slice_ms:g} ms"
    if left:
        yield f"processes have left its process group, no stop reaches them: {_processes(left)}"


def _favoured(tree: Sequence[int]) -> Iterator[str]:
    """Processes that get another share of the core than those of others: by their control group, or their scheduling group (sched(7))."""
    usual = _groups("self")
    moved = [pid for pid in tree if (found := _groups(pid)) is not None and usual is not None and found != usual]
    if moved:
        yield f"processes are in a control group of their own: {_processes(moved)}"
    weights = Counter(nice for pid in tree if (nice := _group_nice(pid)))
    for nice, count in weights.items():
        yield f"{count} processes are in a scheduling group with the nice value {nice}"


def _groups(pid: int | str) -> str | None:
    """The control groups of a process, as the kernel tells them. None: it has ended, or the kernel knows none."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cgroup").read_text(encoding="utf-8", errors="replace")
    return None


def _group_nice(pid: int) -> int:
    """Of the scheduling group of its terminal or login: 0, unless somebody wrote another value into this file."""
    with contextlib.suppress(OSError, ValueError):
        return int(Path(f"/proc/{pid}/autogroup").read_text(encoding="ascii").rpartition(" ")[2])
    return 0


def _priority(thread: int) -> tuple[int, int]:
    """Its scheduling policy (sched(7)) and nice value; 0: of the harness, which every contender inherits."""
    return os.sched_getscheduler(thread), os.getpriority(os.PRIO_PROCESS, thread)


def _shared(wanted: set[int], tree: set[int]) -> dict[int, int]:
    """Socket → a process outside of the tree that holds it. Of other users' processes only root sees them; no contender can start one."""
    found: dict[int, int] = {}
    for pid in (int(file.name) for file in Path("/proc").iterdir() if file.name.isdecimal()):
        if pid not in tree and pid != os.getpid():
            with contextlib.suppress(OSError):
                found |= dict.fromkeys(inodes(pid) & wanted, pid)
    return found


def _processes(pids: Sequence[int]) -> str:
    told = []
    for pid in pids[:QUOTED]:
        with contextlib.suppress(OSError):
            told.append(f"{pid} ({Path(f'/proc/{pid}/comm').read_text(encoding='utf-8', errors='replace').strip()})")
    return ", ".join(told) + (f" and {len(pids) - QUOTED} more" if len(pids) > QUOTED else "")


def _is_dead(pid: int) -> bool:
    """Whether it has ended and nobody has asked how."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0] == "Z"
    return True
