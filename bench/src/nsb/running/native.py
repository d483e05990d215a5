"""Runs a plan on this machine: services as processes, a private database, one k6 per cell. Effects only."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx

from nsb.analysis.parse import Load, SummaryError, load_summary
from nsb.analysis.validity import Judgement, Observation, Stats, judge
from nsb.model import Cell, Contender, Half, Latency, Timing
from nsb.plan import Plan, Slot
from nsb.running import k6
from nsb.running.database import Server
from nsb.running.host import Placement
from nsb.running.journal import Journal
from nsb.running.process import ALL_CORES, Process, ProcessError, cpu_s, footprint, free_port, machine_times
from nsb.running.tools import Workshop

READY_S = 60.0
"""A contender that is not ready by then is out (s)."""
HTTP = httpx.Client(trust_env=False, limits=httpx.Limits(max_keepalive_connections=0))
"""Never through the user's proxy, and never a connection that stays open at a service."""
STATS_S = 1.0
"""How long a window's edge waits for /stats: a service whose threads are all taken cannot answer (s)."""


class Died(Exception):
    """A service ended (exit_code) or does not get ready (None); the message quotes its last words."""

    def __init__(self, sentence: str, exit_code: int | None, words: str) -> None:
        super().__init__(f"{sentence}: {words}" if words else sentence)
        self.exit_code = exit_code
        self.words = words


@dataclass
class Running:
    """A started contender: its process, where it answers, what it says of itself."""

    contender: Contender
    process: Process
    base_url: str
    runtime: dict[str, Any] = field(default_factory=dict)
    ready_s: float = 0.0

    @property
    def pid(self) -> int:
        return self.process.pid

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
        os.kill(self.process.pid, number)


@dataclass(frozen=True)
class Stage:
    """What every contender of a run stands on."""

    workshop: Workshop
    placement: Placement
    workers: int
    database: Server
    upstream: Process
    upstream_url: str
    logs: Path
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

    def start(self, contender: Contender, changes: Mapping[str, str] | None = None, wait_for: str = "/readyz") -> Running:
        """Start a contender on a free port and wait until `wait_for` answers 200.

        It may use all cores until it is warm: code compilers and class loaders are not what the windows measure.
        Raises Died where the process ends or is not ready in time.
        """
        port = free_port()
        environment = {**self.settings(contender, port), **(changes or {})}
        service = self.workshop.registry.services[contender.service]
        log = self.logs / f"{contender.id}-{port}.log"
        log.unlink(missing_ok=True)
        began = time.monotonic()
        process = Process(
            contender.id,
            self.workshop.fill(contender.run, service, self.workers),
            log,
            environment,
            folder=self.workshop.root / service.folder,
        )
        asked = environment["PORT"]
        running = Running(contender, process, f"http://127.0.0.1:{asked if asked.isdecimal() else port}")
        try:
            wait_ready(running, wait_for, READY_S)
        except BaseException:
            process.end(2)
            raise
        running.ready_s = time.monotonic() - began
        return running


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
        time.sleep(0.05)


def wait_pool(running: Running, database: Server, deadline_s: float = 20.0) -> int:
    """Waits until the declared pool is open (C60); returns the connections seen."""
    until = time.monotonic() + deadline_s
    wanted = int(running.runtime.get("pool_size", 0))
    while (seen := database.connections(running.contender.id)) < wanted and time.monotonic() < until:
        time.sleep(0.1)
    return seen


@dataclass
class Edge:
    """All counters read at one edge of a window."""

    at_s: float
    cpu: dict[str, float]
    busy_s: float
    steal_s: float


class Meter:
    """Reads CPU of every role at the window's edges, and memory and threads of the service in between."""

    def __init__(self, stage: Stage, running: Running, generator: Process) -> None:
        self._service = running.process.tree()
        self._generator = generator.tree()
        self._database = [stage.database.pid] if stage.database.pid is not None else []
        self._upstream = stage.upstream.tree()

    def edge(self) -> Edge:
        times = machine_times()
        return Edge(
            time.time(),
            {
                "service": cpu_s(self._service),
                "generator": cpu_s(self._generator),
                "database": cpu_s(self._database),
                "upstream": cpu_s(self._upstream),
                "harness": time.process_time(),
            },
            times.busy,
            times.steal,
        )

    def service_footprint(self) -> tuple[float, int]:
        seen = footprint(self._service)
        return seen.pss_mib, seen.threads


class StatsReader:
    """Reads /stats beside the main loop, so that a slow answer does not move a window's edge."""

    def __init__(self, base_url: str) -> None:
        self._url = f"{base_url}/stats"
        self._client = httpx.Client(timeout=STATS_S, trust_env=False)

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


class Runner:
    """Measures the cells of a plan, one at a time."""

    def __init__(self, plan: Plan, stage: Stage, journal: Journal, k6_program: Path) -> None:
        self.plan = plan
        self.stage = stage
        self.journal = journal
        self._k6 = k6_program
        self._running: dict[str, Running] = {}
        self._out: dict[str, str] = {}
        """Contender id → why it cannot run in this round: nobody waits for its start again before the next."""

    # --- rounds ---

    def start_round(self, round_: int, say: Callable[[str], None]) -> None:
        """Fresh processes for every contender, warmed equally, then frozen."""
        self._out.clear()
        for name in self.plan.rows[round_ - 1]:
            contender = next(c for c in self.plan.contenders if c.id == name)
            say(f"starting {name}")
            try:
                self._begin(contender)
            except (Died, ProcessError) as error:
                self._out[name] = str(error)

    def _begin(self, contender: Contender) -> Running:
        """Start, read /runtime, wait for the pool, warm, pin, freeze. Raises Died or ProcessError."""
        running = self.stage.start(contender)
        self._running[contender.id] = running
        running.ask()
        wait_pool(running, self.stage.database)
        self._warm(running)
        running.process.freeze()
        return running

    def runtimes(self) -> dict[str, dict[str, Any]]:
        """What the programs say of themselves, with the time each took to get ready (s)."""
        return {name: {**r.runtime, "ready_s": round(r.ready_s, 3)} for name, r in self._running.items()}

    def end_round(self) -> dict[str, int]:
        """Drain and stop every contender; returns exit codes."""
        codes: dict[str, int] = {}
        for name, running in list(self._running.items()):
            running.process.thaw()
            self._drain(running, 10)
            codes[name] = running.stop()
            del self._running[name]
        return codes

    def close(self) -> None:
        """End whatever still runs, quickly: the way out after an interruption or an error."""
        for running in self._running.values():
            running.process.thaw()
            with contextlib.suppress(ProcessLookupError):
                running.signal(signal.SIGTERM)
        until = time.monotonic() + 2
        for running in self._running.values():
            running.process.end(max(0.0, until - time.monotonic()))
        self._running.clear()

    def _generate(self, data: Mapping[str, object], name: str) -> Process:
        log = self.journal.folder / "logs" / f"k6-{name}.log"
        return k6.start(self._k6, self.stage.workshop.root, data, self.stage.placement.generator, log)

    def _warm(self, running: Running) -> None:
        summary = self.journal.folder / "k6" / "warm.json"
        data = k6.warming(list(self.plan.scenarios), self.plan.tier.warm_s, running.base_url, time.time(), summary)
        generator = self._generate(data, "warm")
        try:
            generator.wait(self.plan.tier.warm_s + 30)
        finally:
            code = generator.end(1)
        if code != 0:
            raise Died(f"k6 ended with {code} while {running.contender.id} was warmed", None, generator.last_words())
        running.process.pin(self.stage.placement.service)

    def _drain(self, running: Running, deadline_s: float) -> None:
        reader = StatsReader(running.base_url)
        until = time.monotonic() + deadline_s
        try:
            while time.monotonic() < until and running.process.exit_code is None:
                seen = reader.now()
                if seen is not None and seen.in_flight == 0:
                    return
                time.sleep(0.05)
        finally:
            reader.close()

    # --- cells ---

    def measure(self, slot: Slot, attempt: int = 1) -> Cell:
        """One cell. Never raises for what a contender or k6 does wrong: that is the cell's status."""
        why_not = slot.contender.unsupported.get(slot.scenario.id)
        if why_not is not None:
            return self._empty(slot, attempt, "unsupported", why_not)
        if slot.contender.id in self._out:
            return self._empty(slot, attempt, "failed", self._out[slot.contender.id])
        running = self._running.get(slot.contender.id)
        if running is None or running.process.exit_code is not None:
            try:
                running = self._begin(slot.contender)
            except (Died, ProcessError) as error:
                self._out[slot.contender.id] = str(error)
                return self._empty(slot, attempt, "failed", str(error))
        try:
            return self._measure(slot, running, attempt)
        finally:
            running.process.freeze()

    def _measure(self, slot: Slot, running: Running, attempt: int) -> Cell:
        began, started_at = time.monotonic(), datetime.now(UTC).isoformat(timespec="seconds")
        timing = self.plan.timing(slot.scenario)
        running.process.thaw()
        if slot.scenario.writes:
            self.stage.database.reset_books()
        name = f"{slot.round:02}-{slot.scenario.id}-{slot.contender.id}" + ("" if attempt == 1 else f"-try{attempt}")
        summary = self.journal.folder / "k6" / f"{name}.json"
        data, opens_s = k6.cell(slot.scenario, timing, self.plan.workers, running.base_url, self.plan.seed, time.time(), summary)
        generator = self._generate(data, name)
        reader = StatsReader(running.base_url)
        try:
            window = self._watch(running, generator, reader, timing, opens_s, slot)
            code = generator.wait(2 * timing.drain_s + 20)
        finally:
            reader.close()
            generator.end(0.5)  # it has ended, or is too late, or the run was interrupted
        if running.process.exit_code is not None:
            words = running.process.last_words()
            return self._empty(slot, attempt, "failed", f"the service ended with {running.process.exit_code}: {words}")
        self._drain(running, 5)
        load = self._summary(summary, code)
        observation = self._observation(slot, timing, running, window, load, -1 if code is None else code)
        judgement = judge(observation)
        return self._cell(slot, attempt, timing, window, observation, judgement, started_at, time.monotonic() - began, name)

    def _watch(self, running: Running, generator: Process, reader: StatsReader, timing: Timing, opens_s: float, slot: Slot) -> Window:
        meter = Meter(self.stage, running, generator)  # finding the processes takes milliseconds: not at the edge
        sleep_until(opens_s)
        first = meter.edge()
        before = reader.later()
        before_counters = self.stage.database.counters() if slot.scenario.statements else None
        footprints = [meter.service_footprint()]
        sleep_until(opens_s + timing.window_s / 2)
        middle = meter.edge()
        footprints.append(meter.service_footprint())
        connections = self.stage.database.connections(running.contender.id)
        sleep_until(opens_s + timing.window_s)
        last = meter.edge()
        after = reader.later()
        after_counters = self.stage.database.counters() if slot.scenario.statements else None
        footprints.append(meter.service_footprint())
        executed = None
        if before_counters is not None and after_counters is not None:
            # Questions count one per statement, prepared or text, and none for a prepare or a ping, on MySQL and MariaDB alike.
            executed = after_counters.questions - before_counters.questions
        return Window(first, middle, last, before(), after(), tuple(footprints), connections, executed)

    def _summary(self, file: Path, code: int | None) -> Load | None:
        if code != 0:
            return None
        try:
            return load_summary(json.loads(file.read_text(encoding="utf-8")))
        except (OSError, ValueError, SummaryError):
            return None

    def _observation(self, slot: Slot, timing: Timing, running: Running, window: Window, load: Load | None, code: int) -> Observation:
        placement, scenario = self.stage.placement, slot.scenario
        used = window.used(timing.window_s)
        roles = {"service": placement.service, "database": placement.database, "upstream": placement.upstream}
        beside = frozenset({"generator", *(r for r, c in roles.items() if set(c) & set(placement.generator))})
        return Observation(
            model=scenario.model,
            rate=scenario.rate_for(self.plan.workers),
            vus=scenario.vus,
            hold_s=scenario.hold_ms / 1000,
            holds=scenario.holds,
            statements=scenario.statements,
            window_s=timing.window_s,
            exit_code=code,
            load=load,
            cpu_s=used,
            steal_s=window.last.steal_s - window.first.steal_s,
            cores={
                "service": len(placement.service),
                "generator": len(placement.generator),
                "database": len(placement.database),
                "upstream": len(placement.upstream),
                "machine": len(ALL_CORES),
            },
            shared=beside,
            workers=int(running.runtime["workers"]),
            pool=int(running.runtime["pool_size"]),
            server_threads=running.runtime.get("settings", {}).get("server_threads"),
            blocked_by=slot.contender.blocked_by,
            db_connections=window.connections,
            executed=window.executed,
            before=window.before,
            after=window.after,
            half_cpu_s=window.halves("service"),
            database_known=self.stage.database.pid is not None,
            rehearsal=self.plan.rounds < 2,
        )

    def _cell(
        self,
        slot: Slot,
        attempt: int,
        timing: Timing,
        window: Window,
        o: Observation,
        judgement: Judgement,
        started_at: str,
        wall_s: float,
        name: str,
    ) -> Cell:
        load = o.load
        memory = max(pss for pss, _ in window.footprints)
        threads = max(count for _, count in window.footprints)
        common: dict[str, Any] = {
            "round": slot.round,
            "attempt": attempt,
            "contender": slot.contender.id,
            "scenario": slot.scenario.id,
            "profile": self.plan.profile,
            "model": slot.scenario.model,
            "status": judgement.status,
            "reasons": judgement.reasons,
            "doubts": judgement.doubts,
            "limit": judgement.limit,
            "started_at": started_at,
            "wall_s": round(wall_s, 3),
            "window_s": timing.window_s,
            "rate": o.rate,
            "vus": o.vus,
            "cpu_s": {role: round(seconds, 6) for role, seconds in o.cpu_s.items()},
            "memory_peak_mib": round(memory, 1),
            "threads_peak": threads,
            "db_connections_peak": window.connections,
            "checks": list(judgement.checks),
            "raw": f"k6/{name}.json" if load is not None else None,
        }
        self.journal.samples(window.samples(slot))
        if load is None or load.requests == 0:
            return Cell(**common)
        halves = window.halves("service")
        # k6 numbers only the arrivals it started: after a drop the schedule is lost, and what is left is the request itself.
        latency = load.service if o.model == "open" and load.dropped else load.latency
        return Cell(
            **common,
            requests=load.requests,
            failures=load.failures_all,
            dropped=load.dropped,
            throughput_rps=round(load.requests / timing.window_s, 3),
            latency_ms=Latency(
                p50=_ms(latency.p50),
                p90=_ms(latency.p90),
                p99=_ms(latency.p99) if load.requests >= 1000 and not load.dropped else None,
                max=_ms(latency.max),
            ),
            cpu_us_per_request={
                role: round(o.cpu_s[role] / load.requests * 1e6, 2) if role != "database" or o.database_known else None
                for role in ("service", "generator", "database", "upstream")
            },
            halves=[
                Half(requests=half.count, p50_ms=_ms(half.p50), service_cpu_s=round(cpu, 6))
                for half, cpu in zip(load.halves, halves, strict=True)
            ],
        )

    def _empty(self, slot: Slot, attempt: int, status: str, why: str) -> Cell:
        return Cell.model_validate(
            {
                "round": slot.round,
                "attempt": attempt,
                "contender": slot.contender.id,
                "scenario": slot.scenario.id,
                "profile": self.plan.profile,
                "model": slot.scenario.model,
                "status": status,
                "reasons": [why],
                "started_at": datetime.now(UTC).isoformat(timespec="seconds"),
            }
        )


@dataclass(frozen=True)
class Window:
    """What was read while one window was open."""

    first: Edge
    middle: Edge
    last: Edge
    before: Stats | None
    after: Stats | None
    footprints: tuple[tuple[float, int], ...]
    connections: int
    executed: int | None

    def used(self, window_s: float) -> dict[str, float]:
        """CPU by role in the window (s): what was used between the edges, scaled from the time between them, which is milliseconds off."""
        scale = window_s / (self.last.at_s - self.first.at_s)
        used = {role: (self.last.cpu[role] - self.first.cpu[role]) * scale for role in self.first.cpu}
        used["foreign"] = max(0.0, (self.last.busy_s - self.first.busy_s) * scale - sum(used.values()))
        return used

    def halves(self, role: str) -> tuple[float, float]:
        return self.middle.cpu[role] - self.first.cpu[role], self.last.cpu[role] - self.middle.cpu[role]

    def samples(self, slot: Slot) -> str:
        """Lines of samples.csv."""
        lines = [
            f"{edge.at_s:.3f},{slot.round},{slot.contender.id},{slot.scenario.id},{pss:.1f},{threads},{edge.cpu['service']:.6f}\n"
            for edge, (pss, threads) in zip((self.first, self.middle, self.last), self.footprints, strict=True)
        ]
        return "".join(lines)


def _ms(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


@contextlib.contextmanager
def upstream(program: Path, cpus: tuple[int, ...], logs: Path) -> Iterator[tuple[Process, str]]:
    """The neutral program that fan-out calls, for the length of the block.

    Raises ProcessError where it does not start.
    """
    port = free_port()
    environment = {"HOST": "127.0.0.1", "PORT": str(port), "GOMAXPROCS": str(len(cpus))}
    process = Process("upstream", [str(program)], logs / "upstream.log", environment, cpus)
    try:
        until = time.monotonic() + 10
        while True:
            with contextlib.suppress(httpx.HTTPError):
                if HTTP.get(f"http://127.0.0.1:{port}/hello", timeout=1).status_code == 200:
                    break
            if process.exit_code is not None or time.monotonic() > until:
                raise ProcessError(f"the upstream did not start: {process.last_words()}")
            time.sleep(0.02)
        yield process, f"http://127.0.0.1:{port}"
    finally:
        process.end(2)
