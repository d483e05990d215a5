"""Runs a plan on this machine: services as processes, a private database, one k6 per cell. Effects only."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import httpx

from nsb.conform.kernel import established
from nsb.errors import Failure
from nsb.measure import attach, effects, holder, k6, manifest, owners, starts
from nsb.measure.database import Server
from nsb.measure.host import slab_memory_mib, tcp_counters, tcp_memory_mib
from nsb.measure.journal import Journal
from nsb.measure.process import ALL_CORES, Gauge, Process, ProcessError, Program, Tree, free_port, machine_times, port_is_free
from nsb.measure.tools import Workshop
from nsb.records.cells import Edge, Observed, Offered, Record, Served, Stations, Stats, Window
from nsb.records.duet import Duet
from nsb.records.manifest import Manifest
from nsb.records.starts import Start, load_end
from nsb.records.summary import Load, SummaryError, answered, load_summary
from nsb.registry.model import (
    EXTRAS,
    Contender,
    FullCore,
    HeldConnections,
    Reading,
    Scenario,
    Timing,
    endpoint,
)
from nsb.registry.placement import Placement
from nsb.registry.plan import Plan, Slot, needs_fresh

if TYPE_CHECKING:
    from nsb.measure.duet import Ground

PORTS_TRIED = 3
"""Another program may take a port between our look and the service's bind."""
READY_S = 60.0
"""A contender that is not ready by then is out (s)."""
HTTP = httpx.Client(trust_env=False, limits=httpx.Limits(max_keepalive_connections=0))
"""Never through the user's proxy, and never a connection that stays open at a service."""
PINNINGS_S = 10.0
"""A JVM's flight recorder starts with the first question (s)."""
DRAIN_S = 5.0
"""How long the requests under way may take when the load has ended (s)."""
EDGE_EVERY_S, EDGE_EVERY = 0.1, 0.01
"""How often counters are read while the last answer of a whole load is waited for: seconds, and a share of what it has taken so far."""
SWITCHES_SLACK = 1.5
"""So many times what a reading of context switches has taken before is left for the next one."""
STATS_S = 1.0
"""How long a window's edge waits for /stats: a service whose threads are all taken cannot answer (s)."""
HOLDER_END_S = 30.0
"""How long the program that holds connections may take to close them and say what became of them (s)."""
LADDER_STATS_S = 0.1
"""The same on a ladder: a later answer would tell of the next level (s)."""
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
    warmed: int = 0
    """Requests of its warm-up that were answered as they must be."""
    ended_before: int | None = None
    """The exit code of the process before it, where that one had ended by itself in this round."""
    manifest: Manifest | None = None
    """What it has in effect, read once it is warm."""
    ready_cpu_s: float = 0.0
    ready_mib: float = 0.0
    bursts: dict[str, list[float]] = field(default_factory=dict)
    """Cost scenario → CPU µs per request of each burst that warmed it."""
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


class Runner:
    """Measures the cells of a plan, one at a time."""

    def __init__(
        self,
        plan: Plan,
        stage: Stage,
        journal: Journal,
        k6_program: Path,
        holder_program: Path | None = None,
        ground: Ground | None = None,
    ) -> None:
        """`holder_program`: holds connections beside a load; None where no scenario asks for it, or nothing builds it.

        `ground`: what cost cells stand on; None likewise. It ends with this runner.
        """
        self.plan = plan
        self.stage = stage
        self.journal = journal
        self._k6 = k6_program
        self._holder = holder_program
        self._ground = ground
        self._running: dict[str, Running] = {}
        self._out: dict[str, str] = {}
        """Contender id → why it cannot run in this round: nobody waits for its start again before the next."""
        self.unlike: Callable[[str, Manifest], list[str]] = lambda *_: []
        """In what a contender that is started later differs from what it must be, in sentences; set once all were found alike."""

    # --- rounds ---

    def start_group(self, group: Sequence[str], round_: int, say: Callable[[str], None]) -> None:
        """Fresh processes for every contender of the group, warmed equally, then frozen."""
        self._out.clear()
        for name in group:
            contender = next(c for c in self.plan.contenders if c.id == name)
            first = next((slot.scenario for slot in self.plan.slots(round_) if slot.contender.id == name), None)
            say(f"starting {name}")
            try:
                self._begin(contender.with_heap(None if first is None else first.heap_mib), round_)
            except (Died, ProcessError) as error:
                self.must_stand()
                self._out[name] = str(error)

    def must_stand(self) -> None:
        """Raises DatabaseError or ProcessError where what every cell needs has gone: no cell is recorded then, the run can be resumed."""
        self.stage.must_stand()
        if not os.access(self._k6, os.X_OK):
            raise ProcessError(f"k6 has gone from {self._k6}; --resume builds it again")

    def _begin(self, contender: Contender, round_: int) -> Running:
        """A contender that is ready to be measured, and frozen; whatever comes of its start is a line of starts.jsonl.

        Raises Died or ProcessError.
        """
        seen: dict[str, Any] = {"round": round_, "contender": contender.id, "started_at": datetime.now(UTC).isoformat(timespec="seconds")}
        try:
            running = self.stage.start(contender)
            self._running[contender.id] = running
            try:
                self._prepare(running, seen)
            except (Died, ProcessError):
                running.process.end(2)  # it would run beside the others' cells
                raise
        except (Died, ProcessError) as error:
            self.journal.start(Start(**seen, failure=str(error)))
            raise
        self.journal.start(Start(**seen))
        return running

    def _prepare(self, running: Running, seen: dict[str, Any]) -> None:
        """Read /runtime, wait for the pool, warm, pin, read the manifest, freeze; adds to `seen` what a Start records."""
        contender = running.contender
        seen |= {"ready_s": round(running.ready_s, 3), "cpu_s": round(running.ready_cpu_s, 4), "pss_mib": round(running.ready_mib, 1)}
        running.ask()
        if wait_pool(running, self.stage.database):
            seen["pool_s"] = round(running.age_s, 3)
        self._warm(running, seen)
        running.manifest = manifest.read(running, self.stage).of_usual_heap(contender.heap_mib)
        running.process.freeze()
        if unlike := self.unlike(contender.id, running.manifest):
            raise Died(f"{contender.id} is not set as it must be", None, "; ".join(unlike))

    def runtimes(self) -> dict[str, dict[str, Any]]:
        """What the programs say of themselves, with the time each took to get ready (s)."""
        return {name: {**r.runtime, "ready_s": round(r.ready_s, 3)} for name, r in self._running.items()}

    def manifests(self) -> dict[str, Manifest]:
        """What the contenders of this round have in effect."""
        return {name: r.manifest for name, r in self._running.items() if r.manifest is not None and name not in self._out}

    def end_group(self) -> dict[str, int]:
        """Drain and stop every contender that runs; returns exit codes."""
        codes = {name: self._end(name) for name in [n for n, r in self._running.items() if r.process.exit_code is None]}
        self._running.clear()  # of those that ended by themselves nothing is left
        return codes

    def _end(self, name: str, drain_s: float = 10) -> int:
        running = self._running[name]
        running.process.thaw()
        self._drain(running, drain_s)
        code = running.stop()
        del self._running[name]
        return code

    def close(self) -> None:
        """End whatever still runs, quickly: the way out after an interruption or an error."""
        for running in self._running.values():
            if running.process.exit_code is None:
                running.process.thaw()
                with contextlib.suppress(ProcessLookupError):
                    running.signal(signal.SIGTERM)
        until = time.monotonic() + 2
        for running in self._running.values():
            running.process.end(max(0.0, until - time.monotonic()))
        self._running.clear()
        if self._ground is not None:
            self._ground.close()

    def _generate(self, data: Mapping[str, object], name: str) -> Process:
        log = self.journal.folder / "logs" / f"k6-{name}.log"
        return k6.start(self._k6, self.stage.workshop.root, data, self.stage.placement.generator, log)

    def _warm(self, running: Running, seen: dict[str, Any]) -> None:
        """Adds `load_to_s`, `warm_requests` and `warm_up` to what is seen."""
        summary = self.journal.folder / "k6" / "warm.json"
        summary.unlink(missing_ok=True)
        tier = self.plan.tier
        data = k6.warming(
            self.plan.asked_of(running.contender), tier.warm_requests, tier.warm_cap_s, running.base_url, time.time(), summary
        )
        gauge = running.process.gauge()
        generator = self._generate(data, "warm")
        reader = StatsReader(running.base_url, starts.ANSWER_S)
        try:
            until = time.monotonic() + tier.warm_cap_s + 30
            seen["warm_up"] = starts.curve(
                reader.now, gauge.cpu_s, lambda wait_s: generator.wait(wait_s) is not None, running.process.began, until
            )
        finally:
            reader.close()
            code = generator.end(1)
        if code != 0:
            raise Died(f"k6 ended with {code} while {running.contender.id} was warmed", None, generator.last_words())
        seen["load_to_s"] = load_end(seen["warm_up"])
        try:
            seen["warm_requests"] = answered(json.loads(summary.read_text(encoding="utf-8")))
        except (OSError, ValueError, SummaryError) as error:
            raise Died(f"k6 does not say how {running.contender.id} was warmed", None, str(error)) from None
        running.warmed = seen["warm_requests"]
        if self._ground is not None:
            rows = [scenario for scenario in self.plan.asked_of(running.contender) if scenario.paired]
            running.bursts = seen["steady"] = {each.id: self._ground.warm(running, each) for each in rows}
        running.process.pin(self.stage.placement.service)

    def _drain(self, running: Running, deadline_s: float) -> bool:
        """Waits until nothing is in flight any more; False where /stats had no answer in all that time."""
        reader = StatsReader(running.base_url)
        until = time.monotonic() + deadline_s
        answered = False
        try:
            while time.monotonic() < until and running.process.exit_code is None:
                seen = reader.now()
                answered = answered or seen is not None
                if seen is not None and seen.in_flight == 0:
                    break
                time.sleep(0.05)
        finally:
            reader.close()
        return answered

    def _lost(self, running: Running, scenario: Scenario) -> str | None:
        """Why a service that was under load is of no more use: it ended or hangs. It is ended then, and started again for its next cell.

        One whose workers may be blocked answers /stats when what is queued before it has been served: slow is not hanging.
        """
        patience_s = DRAIN_S + scenario.queue_s(running.contender, self.plan.workers)
        answered = scenario.holding or self._drain(running, patience_s)  # what it held may be in flight for long yet
        code = running.process.exit_code
        if code is not None:
            why = f"the service ended with {code}: {running.process.last_words()}"
        elif not answered:
            stopped = "somebody stopped it (SIGSTOP)" if running.process.stopped else "it hangs"
            why = f"{stopped}: /stats had no answer for {patience_s:.0f} s after the load"
        else:
            return None
        running.process.end(0)  # its workers may be there still
        return why

    # --- cells ---

    def measure(self, slot: Slot, attempt: int = 1) -> Record:
        """One cell. Never raises for what a contender or k6 does wrong: that is the cell's status."""
        why_not = slot.contender.why_not(slot.scenario)
        if why_not is not None:
            return self._unmeasured(slot, attempt, "unsupported", why_not)
        if slot.contender.id in self._out:
            return self._unmeasured(slot, attempt, "failed", self._out[slot.contender.id])
        if slot.scenario.holding:
            if self._holder is None:
                return self._unmeasured(
                    slot, attempt, "unsupported", "connections are held by a program that is built with Go, which is not here"
                )
            too_many = holder.too_many(slot.scenario.steps[-1], resource.getrlimit(resource.RLIMIT_NOFILE)[0])
            if too_many is not None:
                return self._unmeasured(slot, attempt, "unsupported", too_many)
        running, contender = self._running.get(slot.contender.id), slot.contender.with_heap(slot.scenario.heap_mib)
        if contender.heap_mib != slot.contender.heap_mib and self.stage.runner != "native":
            return self._unmeasured(slot, attempt, "unsupported", "a container has the heap that compose.yaml gives it: --runner native")
        alive = running if running is not None and running.process.exit_code is None else None
        if alive is not None and needs_fresh(slot.scenario, alive.used, alive.contender.heap_mib, contender.heap_mib):
            self._end(slot.contender.id)
            running = None
        if running is None or running.process.exit_code is not None:
            code = None if running is None else running.process.exit_code
            try:
                running = self._begin(contender, slot.round)
                running.ended_before = code
            except (Died, ProcessError) as error:
                self._out[slot.contender.id] = str(error)
                return self._unmeasured(slot, attempt, "failed", str(error))
        try:
            return self._cost(slot, running, attempt) if isinstance(slot.scenario, FullCore) else self._measure(slot, running, attempt)
        finally:
            running.process.freeze()
            if slot.scenario.spends(slot.contender):
                self._end(slot.contender.id, 10 if not slot.scenario.holding else 0)

    def _record(
        self, slot: Slot, attempt: int, started_at: str, began: float, observed: Observed | None = None, duet: Duet | None = None
    ) -> Record:
        """The line of a cell that was measured; `began`: a time of time.monotonic()."""
        return Record(
            round=slot.round,
            attempt=attempt,
            contender=slot.contender.id,
            scenario=slot.scenario.id,
            profile=self.plan.profile,
            model=slot.scenario.model,
            started_at=started_at,
            wall_s=round(time.monotonic() - began, 3),
            outcome="measured",
            observed=observed,
            duet=duet,
        )

    def _partner(self, slot: Slot) -> Running | None:
        """The reference, started again where it has ended; None for its own cell, and where it does not run beside this contender.

        Raises Died or ProcessError.
        """
        found = None if slot.contender.id == self.plan.reference else self._running.get(self.plan.reference)
        return found if found is None or found.process.exit_code is None else self._begin(found.contender, slot.round)

    def _cost(self, slot: Slot, running: Running, attempt: int) -> Record:
        """A cost cell: with the reference, where that is another contender and runs in this round."""
        began, started_at = time.monotonic(), datetime.now(UTC).isoformat(timespec="seconds")
        if self._ground is None:
            return self._unmeasured(slot, attempt, "unsupported", "the generator is built with Go, which is not here")
        assert isinstance(slot.scenario, FullCore)
        try:
            partner = self._partner(slot)
        except (Died, ProcessError) as error:
            return self._unmeasured(slot, attempt, "failed", f"the reference cannot be started again: {_in_one_line(str(error))}")
        both = [running, *([partner] if partner is not None else [])]
        try:
            for each in both:
                each.used = True
                each.process.thaw()
            for each in both if attempt > 1 else []:  # the first may have failed because one was still cold
                each.bursts = {**each.bursts, slot.scenario.id: self._ground.warm(each, slot.scenario)}
            seen = self._ground.measure(slot.scenario, self.plan.timing(slot.scenario), running, partner, self.plan.rounds < 2)
        except ProcessError as error:
            return self._unmeasured(slot, attempt, "failed", _in_one_line(str(error)))
        finally:
            if partner is not None:
                partner.process.freeze()
        for each in both:
            if each.process.exit_code is not None:
                why = f"{each.contender.id} ended with {each.process.exit_code}: {each.process.last_words()}"
                return self._unmeasured(slot, attempt, "failed", _in_one_line(why))
        return self._record(slot, attempt, started_at, began, duet=seen)

    def _measure(self, slot: Slot, running: Running, attempt: int) -> Record:
        began, started_at = time.monotonic(), datetime.now(UTC).isoformat(timespec="seconds")
        timing = self.plan.timing(slot.scenario)
        running.used = True
        running.process.thaw()
        if slot.scenario.writes:
            self.stage.database.reset_books()
        name = f"{slot.round:02}-{slot.scenario.id}-{slot.contender.id}" + ("" if attempt == 1 else f"-try{attempt}")
        summary = self.journal.folder / "k6" / f"{name}.json"
        summary.unlink(missing_ok=True)  # of a sitting that was killed: nobody may take it for this attempt's
        pinnings = _pinnings(running, slot.scenario)
        jvm, uncollected = self._to_collect(running, slot)
        watch = effects.Watch(self.stage, running, slot.scenario)
        look = owners.Look(self.stage, running)
        data, opens_s = k6.cell(slot.scenario, timing, self.plan.workers, running.base_url, self.plan.seed, time.time(), summary)
        generators = [self._generate(data, name)]
        reader = StatsReader(running.base_url, LADDER_STATS_S if slot.scenario.steps else STATS_S)
        held = None
        try:
            if isinstance(slot.scenario, HeldConnections):
                generators.append(self._hold(slot.scenario, timing, running, opens_s, name))
            window = self._watch(running, generators, reader, timing, opens_s, slot, watch, look, jvm)
            code = generators[0].exit_code if timing.ends else generators[0].wait(2 * timing.drain_s + 20)
            if slot.scenario.holding:
                generators[1].wait(HOLDER_END_S)
                held = holder.outcome(self._report(name))
        except holder.HoldError as error:
            said = _in_one_line(generators[1].last_words(3))
            return self._unmeasured(slot, attempt, "failed", f"{error}{'; it said: ' + said if said else ''}")
        finally:
            reader.close()
            for each in generators:
                each.end(0.5)  # it has ended, or is too late, or the run was interrupted
        lost = self._lost(running, slot.scenario)
        if lost is not None:
            return self._unmeasured(slot, attempt, "failed", lost)
        caused = watch.effects()
        if pinnings is not None:
            pinnings = _pinnings(running, slot.scenario, pinnings)
        load = self._summary(summary, code)
        if timing.ends and load is not None and load.whole_s:
            window = window.until(opens_s + (load.ended_ms or 0.0) / 1000)
        self.journal.samples(_samples(window, slot))
        tier = self.plan.tier
        observed = Observed(
            offered=self._offered(slot, timing),
            stations=self._stations(slot, running),
            served=Served(warmed=running.warmed, to_warm=tier.warm_requests, warm_cap_s=tier.warm_cap_s, ended_with=running.ended_before),
            window=replace(window, later=()),
            exit_code=-1 if code is None else code,
            generator_said=None if load is not None else _in_one_line(generators[0].last_words(3)),
            load=load,
            held=held,
            uncollected=uncollected,
            pinnings=pinnings,
            wrong_answer=effects.quoted(generators[0].log),
            effects=caused,
            owned=look.owned(),
            raw=f"k6/{name}.json" if load is not None else None,
        )
        return self._record(slot, attempt, started_at, began, observed=observed)

    def _to_collect(self, running: Running, slot: Slot) -> tuple[attach.Jvm | None, str | None]:
        """A JVM whose memory is to be read on a ladder, listening; or why it cannot be asked for a full collection."""
        if not slot.scenario.steps or not slot.contender.has_heap:
            return None, None
        if self.stage.runner != "native":
            return None, "it runs in a container"
        try:
            return attach.Jvm(attach.java_of(running.process.tree())), None
        except attach.AttachError as error:
            return None, str(error)

    def _report(self, name: str) -> Path:
        return self.journal.folder / "k6" / f"{name}-held.json"

    def _hold(self, scenario: HeldConnections, timing: Timing, running: Running, opens_s: float, name: str) -> Process:
        """The connections that are held beside the load. Raises ProcessError."""
        assert self._holder is not None
        self._report(name).unlink(missing_ok=True)  # of a sitting that was killed
        what = holder.order(scenario, timing, running.base_url, opens_s, self._report(name))
        log = self.journal.folder / "logs" / f"holder-{name}.log"
        return holder.start(self._holder, what, self.stage.placement.generator, log)

    def _watch(
        self,
        running: Running,
        generators: Sequence[Process],
        reader: StatsReader,
        timing: Timing,
        opens_s: float,
        slot: Slot,
        watch: effects.Watch,
        look: owners.Look,
        jvm: attach.Jvm | None = None,
    ) -> Window:
        meter = Meter(self.stage, running, generators)  # finding the processes takes milliseconds: not at the edge
        times = [(opens_s + at_s, users) for at_s, users in slot.scenario.reading_times(timing)]
        ladder = Ladder(reader, meter, times, slot.scenario.holding, opens_s, jvm)
        sleep_until(opens_s - owners.BEFORE_S)
        look.snap()
        before_switches = meter.switches_until(opens_s)
        sleep_until(opens_s)
        first = meter.open()
        before = reader.later()
        before_counters = self.stage.database.counters() if slot.scenario.statements else None
        footprints = [meter.service_footprint()]
        watch.look()
        ladder.climb(opens_s + timing.window_s / 2)
        sleep_until(opens_s + timing.window_s / 2)
        middle = meter.edge()
        footprints.append(meter.service_footprint())
        watch.look()
        connections = self.stage.database.connections(running.contender.id)
        clients = established(running.port)
        ladder.climb(opens_s + timing.window_s)
        after_switches = None if timing.ends else meter.switches_until(opens_s + timing.window_s)
        sleep_until(opens_s + timing.window_s)
        edges = [] if not timing.ends else self._until_answered(generators[0], meter, slot.scenario)
        last = edges.pop() if edges else meter.edge()
        after = reader.later()
        after_counters = self.stage.database.counters() if slot.scenario.statements else None
        footprints.append(meter.service_footprint())
        if timing.ends:  # nothing comes any more
            after_switches = meter.switches_until(last.at_s)
        executed = None
        if before_counters is not None and after_counters is not None:
            # Questions count one per statement, prepared or text, and none for a prepare or a ping, on MySQL and MariaDB alike.
            executed = after_counters.questions - before_counters.questions
        seen = tuple(footprints)
        told, later = ladder.readings(), tuple(edges)
        return Window(
            first, middle, last, before(), after(), seen, connections, executed, meter.peak_mib, clients, told, ladder.uncollected, later,
            _switched(before_switches, after_switches),
        )  # fmt: skip

    @staticmethod
    def _until_answered(generator: Process, meter: Meter, scenario: Scenario) -> list[Edge]:
        """The counters, again and again until the generator has ended: which of them were read at the last answer it tells afterwards."""
        until = time.monotonic() + (scenario.longest_s(k6.TIMEOUT_S) or 0.0) + k6.TIMEOUT_S
        edges, began = [meter.edge()], time.monotonic()
        while generator.wait(max(EDGE_EVERY_S, EDGE_EVERY * (time.monotonic() - began))) is None and time.monotonic() < until:
            edges.append(meter.edge())
        return edges

    def _summary(self, file: Path, code: int | None) -> Load | None:
        if code != 0:
            return None
        try:
            return load_summary(json.loads(file.read_text(encoding="utf-8")))
        except (OSError, ValueError, SummaryError):
            return None

    def _offered(self, slot: Slot, timing: Timing) -> Offered:
        scenario = slot.scenario
        return Offered(
            rate=scenario.rate_for(self.plan.workers),
            vus=scenario.vus,
            clients=scenario.clients,
            hold_s=scenario.hold_ms / 1000,
            holds=scenario.holds,
            calls=scenario.calls,
            statements=scenario.statements,
            window_s=timing.window_s,
            ends=timing.ends,
            levels=list(scenario.steps),
            levels_wanted=self.plan.cut.get(scenario.id),
            holding=scenario.holding,
            rehearsal=self.plan.rounds < 2,
        )

    def _stations(self, slot: Slot, running: Running) -> Stations:
        placement, contender = self.stage.placement, slot.contender
        roles = {"service": placement.service, "database": placement.database, "upstream": placement.upstream}
        workers = int(running.runtime["workers"])
        return Stations(
            workers=workers,
            pool=int(running.runtime["pool_size"]),
            server_threads=running.runtime.get("settings", {}).get("server_threads"),
            blocked_by=contender.blocked_by,
            waits_on_loop=contender.waits_on_loop,
            call_threads=contender.call_threads,
            query_threads=contender.query_threads(workers),
            cores={**{role: len(cores) for role, cores in roles.items()}, "generator": len(placement.generator), "machine": len(ALL_CORES)},
            shared=["generator", *(role for role, cores in roles.items() if set(cores) & set(placement.generator))],
            database_known=self.stage.database.pid is not None,
        )

    def _unmeasured(self, slot: Slot, attempt: int, outcome: Literal["failed", "unsupported"], why: str) -> Record:
        return Record(
            round=slot.round,
            attempt=attempt,
            contender=slot.contender.id,
            scenario=slot.scenario.id,
            profile=self.plan.profile,
            model=slot.scenario.model,
            started_at=datetime.now(UTC).isoformat(timespec="seconds"),
            outcome=outcome,
            why=_in_one_line(why),
        )


def _samples(window: Window, slot: Slot) -> str:
    """Lines of samples.csv."""
    lines = [
        f"{edge.at_s:.3f},{slot.round},{slot.contender.id},{slot.scenario.id},{pss:.1f},{threads},{edge.cpu['service']:.6f}\n"
        for edge, (pss, threads) in zip((window.first, window.middle, window.last), window.footprints, strict=True)
    ]
    return "".join(lines)


def _switched(before: Mapping[tuple[int, int], int] | None, after: Mapping[tuple[int, int], int] | None) -> int | None:
    """Of the threads that are there in the end, those that came meanwhile among them."""
    return None if before is None or after is None else sum(count - before.get(thread, 0) for thread, count in after.items())


def _pinnings(running: Running, scenario: Scenario, before: int = 0) -> int | None:
    """How often the runtime itself said that a virtual thread was pinned (C17), beyond `before`; None where it does not say.

    Asked where a scenario is of an endpoint that few have, and outside of its load alone: recording begins with the first question.
    """
    if "/pinnings" not in running.contender.extra or endpoint(scenario.path) not in EXTRAS:
        return None
    with contextlib.suppress(httpx.HTTPError, KeyError, ValueError):
        return int(HTTP.get(f"{running.base_url}/pinnings", timeout=PINNINGS_S).json()["pinnings_total"]) - before
    return None


def _in_one_line(words: str) -> str:
    """What a program said, for a reason: one line, and not a page of it."""
    return " ".join(words.split())[:1000]


def _ms(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


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
