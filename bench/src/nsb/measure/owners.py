"""Whose a contender's sockets are, on which cores its threads may run, and what processes it has: at both edges of a cell. Effects only.

A figure is the CPU of a process tree. So the work has to be done in that tree: who accepted a connection, and who asked the database, is
looked up by the socket's inode. A descendant whose parent has ended stays in the tree, since each contender is the subreaper of its own
(prctl(2), PR_SET_CHILD_SUBREAPER; process.py). What this cannot see is told in docs/cheating.md.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from nsb.records.owners import Owned

if TYPE_CHECKING:
    from nsb.measure.native import Stage
    from nsb.measure.running import Running

BEFORE_S = 0.15
"""How long before the window opens the first look begins: it takes some 30 ms."""
ESTABLISHED, LISTEN = "01", "0A"
"""States of /proc/net/tcp (include/net/tcp_states.h)."""
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


def sockets(tables: Iterable[Path] = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))) -> list[Socket]:
    """TCP sockets of this network namespace. Raises OSError."""
    found = []
    for table in tables:
        with contextlib.suppress(FileNotFoundError):  # a kernel without IPv6
            for line in table.read_text(encoding="ascii").splitlines()[1:]:
                local, remote, state, inode = (line.split()[at] for at in (1, 2, 3, 9))
                found.append(Socket(int(local.rpartition(":")[2], 16), int(remote.rpartition(":")[2], 16), state, int(inode)))
    return found


def inodes(pid: int) -> set[int]:
    """The sockets that a process holds. Raises PermissionError; a process that has ended holds none."""
    found = set()
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for file in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                target = str(file.readlink())
                if target.startswith("socket:["):
                    found.add(int(target[8:-1]))
    return found


@dataclass
class Look:
    """All looks at one contender."""

    stage: Stage
    running: Running
    _looks: int = 0
    _accepted: int = 0
    _pool: int = 0
    _tree: frozenset[int] = frozenset()
    _faults: dict[str, None] = field(default_factory=dict)
    _unread: dict[str, None] = field(default_factory=dict)

    def take(self) -> None:
        """Only natively: of containers the control group says whose CPU it is. Raises DatabaseError."""
        if self.stage.runner != "native":
            return
        tree = self.running.process.tree()
        for fault in self._found(tree):
            self._faults[fault] = None
        self._tree, self._looks = frozenset(tree), self._looks + 1

    def owned(self) -> Owned | None:
        """None where nobody looked."""
        if not self._looks:
            return None
        name = self.running.contender.id
        return Owned(
            contender=name,
            looks=self._looks,
            accepted=self._accepted,
            pool=self._pool,
            faults=list(self._faults),
            unread=list(self._unread),
        )

    def _found(self, tree: Sequence[int]) -> Iterator[str]:
        came = sorted(set(tree) - self._tree) if self._looks else []
        if came:
            yield f"processes came after the first look, and their CPU is in no figure: {_processes(came)}"
        yield from _elsewhere(tree, self.running.pid, set(self.stage.placement.service))
        try:
            table = sockets()
            held = {pid: inodes(pid) for pid in tree}
            still = {each.inode for each in sockets()}  # a load that ends closes its connections at any moment
        except OSError as error:
            self._unread[f"whose its sockets are ({error.strerror})"] = None
            return
        own = set[int]().union(*held.values())
        yield from self._sockets([each for each in table if each.inode in still], own, set(tree))

    def _sockets(self, table: Sequence[Socket], own: set[int], tree: set[int]) -> Iterator[str]:
        server, database, upstream = self.running.port, self.stage.database.port, int(self.stage.upstream_url.rpartition(":")[2])
        listens = {each.inode for each in table if each.state == LISTEN and each.port == server}
        accepted = {each.inode for each in table if each.state == ESTABLISHED and each.port == server} - {0}
        ports = self.stage.database.client_ports(self.running.contender.id)
        pool = {each.inode for each in table if each.state == ESTABLISHED and each.peer == database and each.port in ports} - {0}
        self._accepted, self._pool = max(self._accepted, len(accepted)), max(self._pool, len(pool))
        shared = _shared(listens | accepted | pool, tree)
        for what, seen in (
            ("sockets that listen on its port", listens),
            ("connections of its clients", accepted),
            ("its database connections", pool),
        ):
            theirs = seen - own
            if theirs:
                yield f"{len(theirs)} of {len(seen)} {what} belong to no process of the contender{_whose(theirs, shared)}"
            also = {inode for inode in seen & own if inode in shared}
            if also:
                yield f"{len(also)} of {len(seen)} {what} are held by a process of somebody else too{_whose(also, shared)}"
        known = {database, upstream}
        others = Counter(
            each.peer
            for each in table
            if each.state == ESTABLISHED and each.inode in own and each.port != server and each.peer not in known
        )
        if others:
            told = ", ".join(str(port) for port in sorted(others)[:QUOTED])
            yield f"{others.total()} connections to somebody who is neither its database nor the upstream (port {told})"


def _elsewhere(tree: Sequence[int], main: int, cores: set[int]) -> Iterator[str]:
    """Threads that may run on other cores, and processes that a stop (SIGSTOP to the group) does not reach."""
    strays: Counter[tuple[int, ...]] = Counter()
    left = []
    for pid in tree:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            for thread in Path(f"/proc/{pid}/task").iterdir():
                with contextlib.suppress(ProcessLookupError):
                    allowed = os.sched_getaffinity(int(thread.name))
                    if not allowed <= cores:
                        strays[tuple(sorted(allowed))] += 1
        with contextlib.suppress(ProcessLookupError):
            if pid != main and os.getpgid(pid) != main and not _is_dead(pid):
                left.append(pid)
    for wide, count in strays.items():
        yield f"{count} threads may run on the cores {', '.join(map(str, wide))}, and not on {', '.join(map(str, sorted(cores)))} alone"
    if left:
        yield f"processes have left its process group, no stop reaches them: {_processes(left)}"


def _shared(wanted: set[int], tree: set[int]) -> dict[int, int]:
    """Socket → a process outside of the tree that holds it. Of other users' processes only root sees them; no contender can start one."""
    found: dict[int, int] = {}
    for pid in (int(file.name) for file in Path("/proc").iterdir() if file.name.isdecimal()):
        if pid not in tree and pid != os.getpid():
            with contextlib.suppress(OSError):
                found |= dict.fromkeys(inodes(pid) & wanted, pid)
    return found


def _whose(theirs: set[int], shared: dict[int, int]) -> str:
    pids = sorted({shared[inode] for inode in theirs if inode in shared})
    return f": {_processes(pids)}" if pids else ""


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
