"""Runs a plan on this machine: services as processes, a private database, one k6 per cell. Effects only."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import httpx

from nsb.errors import Failure
from nsb.measure import attach
from nsb.measure.database import Server
from nsb.measure.host import slab_memory_mib, tcp_counters, tcp_memory_mib
from nsb.measure.process import Gauge, Process, ProcessError, Program, Tree, free_port, machine_times, port_is_free
from nsb.measure.tools import Workshop
from nsb.records.cells import Edge, Reading, Stats
from nsb.records.manifest import Manifest
from nsb.registry.contenders import Contender
from nsb.registry.placement import Placement

if TYPE_CHECKING:
    pass

PORTS_TRIED = 3
"""Another program may take a port between our look and the service's bind."""
READY_S = 60.0
"""A contender that is not ready by then is out (s)."""
HTTP = httpx.Client(trust_env=False, limits=httpx.Limits(max_keepalive_connections=0))
"""Never through the user's proxy, and never a connection that stays open at a service."""
SWITCHES_SLACK = 1.5
"""So many times what a reading of context switches has taken before is left for the next one."""
STATS_S = 1.0
"""How long a window's edge waits for /stats: a service whose threads are all taken cannot answer (s)."""
COLLECTION_S = 0.26
"""How long before a reading a JVM is asked for a full collection: it takes up to 0.1 s with 600 requests in flight, and its pages are given
back 0.1 s later. All of that falls into the half of a hold in which no user starts and none ends, so that no garbage is in the reading."""


class Died(Failure):
    """A service ended (exit_code) or does not get ready (None); the message quotes its last words."""

    def __init__(self, sentence: str, exit_code: int | None, words: str) -> None:
        super().__init__(f"{sentence}: {words}" if words else sentence)
        self.exit_code = exit_code
        self.words = words


@dataclass
class Running:
    """A started contender: its process, where it answers, what it says of itself."""

    contender: Contender
    process: Program
    base_url: str
    runtime: dict[str, Any] = field(default_factory=dict)
    ready_s: float = 0.0
    ended_before: int | None = None
    """The exit code of the process before it, where that one had ended by itself in this round."""
    manifest: Manifest | None = None
    """What it has in effect, read once it is warm."""
    ready_cpu_s: float = 0.0
    ready_mib: float = 0.0
    warm_for: str | None = None
    """The cost scenario that it was warmed for last."""
    bursts: list[float] = field(default_factory=list)
    """CPU µs per request of each half of each burst that warmed it for that one."""
    used: bool = False
    """Whether a cell has been measured on it: it keeps the memory that the largest load so far has touched."""

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def age_s(self) -> float:
        """Since its exec."""
        return time.monotonic() - self.process.began

    @property
    def port(self) -> int:
        return int(self.base_url.rsplit(":", 1)[1])

    @property
    def stderr_tail(self) -> str:
        return self.process.last_words(20)

    def ask(self) -> None:
        """Read /runtime. Raises Died where it does not say what the contract demands (C3)."""
        try:
            self.runtime = HTTP.get(f"{self.base_url}/runtime", timeout=10).json()
            int(self.runtime["workers"]), int(self.runtime["pool_size"])
        except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
            raise Died(f"{self.contender.id} does not say what it is (/runtime): {error!r}", None, "") from None

    def stop(self) -> int:
        return self.process.end()

    def signal(self, number: int) -> None:
        self.process.signal(number)


@dataclass(frozen=True)
class Stage:
    """What every contender of a run stands on."""

    workshop: Workshop
    placement: Placement
    workers: int
    database: Server
    upstream: Program
    upstream_url: str
    logs: Path
    runner: ClassVar[str] = "native"
    _database_urls: dict[str, str] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def database_url(self, contender: Contender) -> str:
        """Made once: the conformance suite starts services from several threads, and a second call sets a new password."""
        with self._lock:
            if contender.id not in self._database_urls:
                self._database_urls[contender.id] = self.database.user_url(contender.id)
            return self._database_urls[contender.id]

    def settings(self, contender: Contender, port: int) -> dict[str, str]:
        """The environment of a contender: the contract's settings (C50) and nothing of the user's that could steer it."""
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TZ", "TMPDIR") if name in os.environ}
        return {
            **kept,
            "HOST": "127.0.0.1",
            "PORT": str(port),
            "DATABASE_URL": self.database_url(contender),
            "DB_POOL_SIZE": "150",
            "UPSTREAM_URL": self.upstream_url,
            "WORKERS": str(self.workers),
            **contender.environment,
        }

    def program(self, contender: Contender, environment: Mapping[str, str], port: int) -> Program:
        """The contender's program, started. Raises ProcessError."""
        service = self.workshop.registry.services[contender.service]
        log = self.logs / f"{contender.id}-{port}.log"
        log.unlink(missing_ok=True)
        command = self.workshop.fill(contender.run, service, contender.workers(self.workers), contender.heap_mib)
        return Process(contender.id, command, log, environment, folder=self.workshop.root / service.folder)

    def null_server(self, logs: Path) -> AbstractContextManager[tuple[Program, str]]:
        """A second upstream on the service's cores, whose /hello does nothing, for the length of the block."""
        return upstream(upstream_file(self.workshop.root), self.placement.service, logs, "null-server")

    def database_gauge(self) -> Gauge:
        return Tree([] if self.database.pid is None else [self.database.pid])

    def beside(self) -> list[int]:
        """Processes of the run that need not be descendants of the harness."""
        return [] if self.database.pid is None else [self.database.pid]

    @property
    def nice(self) -> int:
        """The nice value with which contenders are started."""
        return os.getpriority(os.PRIO_PROCESS, 0)

    @property
    def memory_mib(self) -> int | None:
        """What each contender is limited to by its control group; None: by no group of its own."""
        return None

    def build_of(self, contender: Contender) -> str:
        """What tells one build of a contender from another, beside its sources."""
        return ""

    def start(
        self,
        contender: Contender,
        changes: Mapping[str, str] | None = None,
        wait_for: str | None = None,
        begun: Callable[[Program], None] = lambda _: None,
    ) -> Running:
        """Start a contender on a free port and wait until `wait_for` answers 200 (/readyz, where it has one and nothing else is asked for);
        `begun` gets its process before the wait.

        It may use all cores until it is warm: code compilers and class loaders are not what the windows measure.
        Raises Died where the process ends or is not ready in time.
        """
        wait_for = wait_for or ("/readyz" if "/readyz" in contender.endpoints else "/healthz")
        for left in reversed(range(PORTS_TRIED)):
            port = free_port()
            try:
                return self._start(contender, port, changes or {}, wait_for, begun)
            except Died as error:
                taken = error.exit_code is not None and "PORT" not in (changes or {}) and not port_is_free(port)
                if not taken or not left:
                    raise
        raise AssertionError("unreachable")

    def _start(
        self, contender: Contender, port: int, changes: Mapping[str, str], wait_for: str, begun: Callable[[Program], None]
    ) -> Running:
        environment = {**self.settings(contender, port), **changes}
        process = self.program(contender, environment, port)
        begun(process)
        asked = environment["PORT"]
        running = Running(contender, process, f"http://127.0.0.1:{asked if asked.isdecimal() else port}")
        try:
            wait_ready(running, wait_for, READY_S)
        except BaseException:
            process.end(2)
            raise
        running.ready_s = running.age_s
        gauge = process.gauge()
        running.ready_cpu_s, running.ready_mib = gauge.cpu_s(), gauge.footprint().pss_mib
        return running

    def must_stand(self) -> None:
        """Raises DatabaseError or ProcessError where database or upstream has gone: what a contender does without them is not its doing."""
        code = self.upstream.exit_code
        if code is not None:
            raise ProcessError(f"the upstream ended in mid-run with {code}: {self.upstream.last_words()}")
        self.database.must_answer()


def wait_ready(running: Running, path: str, deadline_s: float) -> None:
    """Raises Died where the process ends or `path` does not answer 200 by the deadline."""
    until = time.monotonic() + deadline_s
    while True:
        code = running.process.exit_code
        if code is not None:
            words = running.process.last_words()
            raise Died(f"{running.contender.id} ended with {code} before it was ready", code, words)
        with contextlib.suppress(httpx.HTTPError):
            if HTTP.get(running.base_url + path, timeout=3).status_code == 200:
                return
        if time.monotonic() > until:
            words = running.process.last_words()
            raise Died(f"{running.contender.id} was not ready within {deadline_s:.0f} s ({path})", None, words)
        time.sleep(_pause_s(running.age_s))


def wait_pool(running: Running, database: Server, deadline_s: float = 20.0) -> bool:
    """Waits until the declared pool is open (C60); whether it is by the deadline."""
    until = time.monotonic() + deadline_s
    wanted = int(running.runtime.get("pool_size", 0))
    while not (opened := database.connections(running.contender.id) >= wanted) and time.monotonic() < until:
        time.sleep(_pause_s(running.age_s))
    return opened


def _pause_s(waited_s: float) -> float:
    """Until the next look at something that is waited for: a few percent of what is measured, and no load on the one who is starting."""
    return min(0.1, max(0.005, 0.03 * waited_s))


class Meter:
    """Reads CPU of every role at the window's edges, and memory and threads of the service in between."""

    def __init__(self, stage: Stage, running: Running, generators: Sequence[Process]) -> None:
        self._service = running.process.gauge()
        self._generators = [generator.gauge() for generator in generators]
        self._database = stage.database_gauge()
        self._upstream = stage.upstream.gauge()
        self._marked = False
        self._opened_cpu_s = 0.0
        self._switches_take_s: float | None = None
        self.peak_mib = 0.0
        """The service's highest memory so far: of the readings, and of the time between them where the kernel marks it
        (several processes: the sum of their peaks)."""

    def edge(self) -> Edge:
        times = machine_times()
        return Edge(
            time.time(),
            {
                "service": self._service.cpu_s(),
                "generator": sum(generator.cpu_s() for generator in self._generators),
                "database": self._database.cpu_s(),
                "upstream": self._upstream.cpu_s(),
                "harness": time.process_time(),
            },
            times.busy,
            times.steal,
            tcp_counters(),
        )

    def service_footprint(self) -> tuple[float, int]:
        seen = self._service.footprint()
        self.peak_mib = max(self.peak_mib, seen.pss_mib + (seen.fallen_mib if self._marked else 0.0))
        return seen.pss_mib, seen.threads

    def switches_until(self, edge_s: float) -> dict[tuple[int, int], int] | None:
        """Read so that it is over at that edge (epoch s). 3000 threads take a tenth of a second: after the first edge it would hold up
        what is read there, after the last one the load is over."""
        if self._switches_take_s is None:
            began = time.monotonic()
            self._service.switches()
            self._switches_take_s = time.monotonic() - began
        sleep_until(edge_s - SWITCHES_SLACK * self._switches_take_s)
        return self._service.switches()

    def open(self) -> Edge:
        """The first edge; from here on the kernel marks the service's highest memory."""
        edge = self.edge()
        self._opened_cpu_s = edge.cpu["service"]
        self._marked = self._service.forget_peak()
        return edge

    def service_cpu_s(self) -> float:
        """Since the window opened."""
        return self._service.cpu_s() - self._opened_cpu_s


class StatsReader:
    """Reads /stats beside the main loop, so that a slow answer does not move a window's edge."""

    def __init__(self, base_url: str, timeout_s: float = STATS_S) -> None:
        self._url = f"{base_url}/stats"
        self._client = httpx.Client(timeout=timeout_s, trust_env=False)

    def now(self) -> Stats | None:
        with contextlib.suppress(httpx.HTTPError, KeyError, ValueError):
            seen = self._client.get(self._url).json()
            return Stats(int(seen["requests_total"]), float(seen["busy_seconds_total"]), int(seen["in_flight"]))
        return None

    def later(self) -> Callable[[], Stats | None]:
        box: list[Stats | None] = [None]

        def read() -> None:
            box[0] = self.now()

        thread = threading.Thread(target=read, daemon=True)
        thread.start()

        def result() -> Stats | None:
            thread.join(STATS_S + 0.5)
            return box[0]

        return result

    def close(self) -> None:
        self._client.close()


def sleep_until(at_s: float) -> None:
    while (left := at_s - time.time()) > 0:
        time.sleep(left)


class Ladder:
    """Reads the service's memory on each level of a ladder, and beside it how many requests are in flight."""

    def __init__(
        self, stats: StatsReader, meter: Meter, times: Sequence[tuple[float, int]], held: bool, opens_s: float, jvm: attach.Jvm | None
    ) -> None:
        """`times`: when to read (epoch s) and how many users there are then, in that order; none where the scenario is no ladder.

        `held`: the users are connections that are held, of which the kernel's memory and what they cost while idle are read too.
        `jvm`: whom to ask for a full collection before its memory is read; beside held connections once on each level, so that what they
        cost while idle can be read between one reading and the next.
        """
        self._stats = stats
        self._meter = meter
        self._times = deque(times)
        self._held = held
        self._opens_s = opens_s
        self._jvm = jvm
        self.uncollected: str | None = None
        """Why there was a reading without the full collection that was asked for."""
        self._read: list[tuple[Reading, Callable[[], Stats | None]]] = []

    def climb(self, end_s: float) -> None:
        """All readings that are due before `end_s`."""
        while self._times and self._times[0][0] < end_s:
            at_s, users = self._times.popleft()
            again = bool(self._read) and self._read[-1][0].users == users
            collected_s = None if self._jvm is None or (self._held and again) else self._collect(self._jvm, at_s)
            sleep_until(at_s)
            stats = self._stats.later()
            read_s = round(time.time() - self._opens_s, 3)
            cpu_s = round(self._meter.service_cpu_s(), 4) if self._held else None
            pss_mib, _ = self._meter.service_footprint()
            sockets_mib, slab_mib = (tcp_memory_mib(), slab_memory_mib()) if self._held else (None, None)
            reading = Reading(
                users=users,
                in_flight=None,
                pss_mib=round(pss_mib, 2),
                at_s=read_s,
                collected_s=collected_s,
                sockets_mib=sockets_mib,
                slab_mib=slab_mib,
                cpu_s=cpu_s,
            )
            self._read.append((reading, stats))

    def _collect(self, jvm: attach.Jvm, at_s: float) -> float | None:
        """A full collection that has ended when the memory is to be read, where it takes no longer than most do."""
        sleep_until(at_s - COLLECTION_S)
        try:
            return round(jvm.collect(), 3)
        except attach.AttachError as error:
            self.uncollected = str(error)
            return None

    def readings(self) -> tuple[Reading, ...]:
        told = [(reading, stats()) for reading, stats in self._read]
        return tuple(each.model_copy(update={"in_flight": None if s is None else s.in_flight}) for each, s in told)


def upstream_file(root: Path) -> Path:
    """Where the upstream is once it has been built."""
    return root / ".tools" / "upstream"


@contextlib.contextmanager
def upstream(program: Path, cpus: tuple[int, ...], logs: Path, name: str = "upstream") -> Iterator[tuple[Program, str]]:
    """The neutral program that fan-out calls (and, under another name, that stands in for a service), for the length of the block.

    Raises ProcessError where it does not start.
    """

    def start(environment: Mapping[str, str]) -> Program:
        return Process(name, [str(program)], logs / f"{name}.log", environment, cpus)

    with answering(start, len(cpus)) as found:
        yield found


@contextlib.contextmanager
def answering(start: Callable[[Mapping[str, str]], Program], cores: int) -> Iterator[tuple[Program, str]]:
    """The upstream that `start` makes with these settings, from the moment it answers. Raises ProcessError."""
    port = free_port()
    process = start({"HOST": "127.0.0.1", "PORT": str(port), "GOMAXPROCS": str(cores)})
    try:
        until = time.monotonic() + 10
        while True:
            with contextlib.suppress(httpx.HTTPError):
                if HTTP.get(f"http://127.0.0.1:{port}/hello", timeout=1).status_code == 200:
                    break
            if process.exit_code is not None:
                raise ProcessError(f"the {process.name} did not start: {process.last_words()}")
            if time.monotonic() > until:
                raise ProcessError(f"the {process.name} runs and does not answer on 127.0.0.1:{port}: {process.last_words()}")
            time.sleep(0.02)
        yield process, f"http://127.0.0.1:{port}"
    finally:
        process.end(2)
