"""Reads what a started contender really has in effect: from itself, from the database, from the kernel. Effects only."""

from __future__ import annotations

import contextlib
import hashlib
import os
import resource
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psutil

from nsb.conform import kernel
from nsb.conform.wire import Connection, NoAnswer, get
from nsb.measure.native import Stage
from nsb.measure.process import ProcessError
from nsb.measure.running import Running
from nsb.records.manifest import Granted, Manifest, RuntimeReport, Seen

SETTLED_S = 2.0
"""How long an idle pool may take to be whole and without a transaction: the server's own view of it is up to 0.1 s old (s)."""
OWN = frozenset({"PORT", "DATABASE_URL"})
"""Differ by nature, and the URL holds a password."""
SHELLS = frozenset({"PWD", "OLDPWD", "SHLVL", "_"})
"""Left by a launcher that is a shell script, as some installations of a runtime have one: where it stood, nothing that steers a program."""
PLAIN = frozenset(
    {
        "HOST", "DB_POOL_SIZE", "DB_ACQUIRE_TIMEOUT_MS", "UPSTREAM_URL", "UPSTREAM_TIMEOUT_MS", "WORKERS", "SERVER_THREADS",
        "LANG", "TZ",
    }
)  # fmt: skip
"""Variables whose value is no secret and names no path; of all others a digest is kept."""


def granted(stage: Stage) -> Granted:
    """What every contender on this stage is given."""
    return Granted(
        workers=stage.workers,
        cores=sorted(stage.placement.service),
        backlog=min(4096, kernel.most_backlog()),
        nofile=resource.getrlimit(resource.RLIMIT_NOFILE)[0],
        nice=stage.nice,
        memory_mib=stage.memory_mib,
    )


def read(running: Running, stage: Stage) -> Manifest:
    """The manifest of a contender that is started, warm, pinned and idle, and not yet stopped (it answers one request).

    Raises ProcessError where /runtime is not what the contract demands, or where the contender has ended.
    """
    contender = running.contender
    try:
        said = RuntimeReport.of(running.runtime)
    except ValueError as error:
        raise ProcessError(f"{contender.id} does not say what it is: {error}") from None
    try:
        seen = _seen(running, stage)
    except (OSError, psutil.Error, NoAnswer) as error:
        raise ProcessError(f"{contender.id} cannot be looked at: {error}: {running.stderr_tail}") from None
    return Manifest(
        said=said,
        seen=seen,
        worker_processes=contender.worker_processes,
        own_environment=contender.environment,
        differs=contender.differs,
    )


def _seen(running: Running, stage: Stage) -> Seen:
    name, database = running.contender.id, stage.database
    port = urlsplit(running.base_url).port or 80
    no_delay = _no_delay(running, port)
    backlogs = kernel.backlogs(port)
    tree = kernel.family_of(running.pid)
    threads = _threads(tree)
    if not threads:
        raise ProcessError(f"{name} has ended: {running.stderr_tail}")
    limits = running.process.limits()
    return Seen(
        connections=_settled(lambda: database.connections(name), int(running.runtime["pool_size"])),
        open_transactions=_settled(lambda: database.open_transactions(name), 0),
        backlog=None if backlogs is None else sorted({min(4096, each) for each in backlogs}),
        listening_sockets=None if backlogs is None else len(backlogs),
        no_delay=no_delay,
        pool_shares=_shares(tree, database.port),
        cores=[list(cores) for cores in sorted({thread.cores for thread in threads})],
        nice=min(thread.nice for thread in threads),
        nofile=_open_files(tree),
        environment=_environment(running.pid, running.process.given),
        memory_limit_mib=None if limits.memory_mib is None else round(limits.memory_mib),
        cpu_quota=limits.cpu,
    )


def _settled(read_: Callable[[], int], wanted: int) -> int:
    """The number read, again and again until it is the wanted one or the time is over."""
    until = time.monotonic() + SETTLED_S
    while (seen := read_()) != wanted and time.monotonic() < until:
        time.sleep(0.05)
    return seen


def _no_delay(running: Running, port: int) -> bool | None:
    with Connection(running.base_url) as connection:
        connection.ask(get("/healthz"))  # answered: so it has been accepted, and its end can be looked at
        try:
            return kernel.no_delay(running.pid, port, connection.local_port)
        except OSError:  # a container may forbid to look at another process's sockets
            return None


@dataclass(frozen=True)
class Thread:
    """The cores that it may use, and its nice value, which is below -20 in a real-time class."""

    cores: tuple[int, ...]
    nice: int


def _threads(tree: Sequence[psutil.Process]) -> list[Thread]:
    """Every thread of the processes; one that ends meanwhile is left out."""
    found: list[Thread] = []
    for process in tree:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            for task in Path(f"/proc/{process.pid}/task").iterdir():
                with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                    # proc(5), /proc/PID/stat: behind the name in brackets comes field 3; field 18 is 20 + nice
                    priority = int((task / "stat").read_text().rsplit(")", 1)[1].split()[15])
                    found.append(Thread(tuple(sorted(os.sched_getaffinity(int(task.name)))), priority - 20))
    return found


def _shares(tree: Sequence[psutil.Process], port: int) -> list[int] | None:
    """Connections to the database by process, the largest first; None where the kernel does not show them."""
    shares = []
    for process in tree:
        try:
            ends = process.net_connections(kind="tcp")
        except psutil.Error:
            continue
        held = sum(end.status == psutil.CONN_ESTABLISHED and bool(end.raddr) and end.raddr.port == port for end in ends)
        if held:
            shares.append(held)
    return sorted(shares, reverse=True) or None


def _open_files(tree: Sequence[psutil.Process]) -> int | None:
    limits = [kernel.open_files(process.pid) for process in tree]
    return min((limit for limit in limits if limit is not None), default=None)


def _environment(pid: int, given: Mapping[str, str | None]) -> dict[str, str] | None:
    """Without what comes with the program, as its files do: a variable that has another value than that is the harness's."""
    try:
        data = Path(f"/proc/{pid}/environ").read_bytes()
    except PermissionError:
        return None
    pairs = (part.decode(errors="replace").partition("=") for part in data.split(b"\0") if part)
    return {
        name: value if name in PLAIN else f"sha256 {hashlib.sha256(value.encode()).hexdigest()[:12]}"
        for name, _, value in sorted(pairs)
        if name not in OWN | SHELLS and not (name in given and given[name] in (None, value))
    }
