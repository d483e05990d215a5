"""Measures cost cells: one or two services on their core, each driven by a generator of its own. Effects only."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from nsb.measure import generator, owners
from nsb.measure.caused import Caused
from nsb.measure.client import StatsReader
from nsb.measure.database import Server
from nsb.measure.generator import Competitors, Open, Target, targets
from nsb.measure.meter import sleep_until
from nsb.measure.native import Stage
from nsb.measure.process import (
    ALL_CORES,
    Process,
    ProcessError,
    Program,
    compilers,
    cpu_s,
    idle_s,
    machine_times,
    spent_s,
    threads_cpu_s,
    waited_s,
    waits_s,
)
from nsb.measure.running import Running
from nsb.records.duet import Driven, Duet, Hang, Series, Speed
from nsb.registry.shapes import CostRow, Mixture
from nsb.registry.timing import Timing

EVERY_S = 0.25
"""Between two readings of a generator (s)."""
LOOK_S = 0.15
"""How long before the window opens it is looked whose the sockets are: all connections are open by then, and it takes some 10 ms (s)."""
HANG_S = 0.6
"""How long the database or the upstream hangs when the window has closed: two readings of a generator are in it (s)."""
STILL_S, DONE_S = 0.05, 1.0
"""What was under way when a hang ended is done when nothing was added for so long; it takes no longer than that (s)."""
STOPS_S = 0.2
"""How long a program may take until it is stopped: one of its threads must have a core for that (s)."""
SINGLE_S = 1.0
"""How long a row that computes is asked for a single round (s): of two readings both can be slow on a JVM, of four hardly all."""
LATE_S = 5.0
"""How much longer it may take, with hundreds of connections, or on a slow machine or one that others use. The generators could last so much
longer; they are stopped when the window has closed (s)."""
STATS_S = 5.0
"""How long a service may take for /stats when the load is over (s)."""


@dataclass
class Ground:
    """What all cost cells of a run stand on: the generator, and competitors on the service's cores, which rest between cells."""

    stage: Stage
    program: Path
    folder: Path
    """Where orders and readings are kept while a cell is measured."""
    seed: int
    _competitors: dict[int, Competitors] = field(default_factory=dict)

    def close(self) -> None:
        for each in self._competitors.values():
            each.end()
        self._competitors.clear()

    def measure(self, scenario: CostRow, timing: Timing, own: Running, partner: Running | None, rehearsal: bool) -> Duet:
        """One cost cell. These services run, and all others are stopped.

        Raises ProcessError for what generator, witness or competitor does wrong.
        """
        return _measure(self, scenario, timing, own, partner, rehearsal)

    def competitors(self, count: int) -> Competitors:
        if count not in self._competitors:
            self._competitors[count] = Competitors(self.program, self.stage.placement.service, count, self.folder / "competitors.log")
        return self._competitors[count]

    def speed(self) -> Speed:
        return generator.speed(self.program, self.stage.placement.service[0], self.folder / "witness.log")

    def drive(
        self,
        running: Running,
        asked: Sequence[Target],
        connections: int,
        name: str,
        duration_s: float,
        pause_ms: int = 0,
        users: Open | None = None,
    ) -> Process:
        """A generator at work on a service. Raises ProcessError."""
        pids = running.process.tree()
        what = generator.order(asked, running.base_url, pids, self.seed, connections, EVERY_S, duration_s, pause_ms, users)
        return generator.start(self.program, what, self.stage.placement.generator, self.folder, name)


def _measure(ground: Ground, scenario: CostRow, timing: Timing, own: Running, partner: Running | None, rehearsal: bool) -> Duet:
    both = [own, *([partner] if partner is not None else [])]
    speeds = [ground.speed()]
    competitors = scenario.competitors + (0 if partner is not None else 1)  # one in the place of the partner
    computing = ground.competitors(competitors)
    before = [counted(each) for each in both]
    compiling = [compilers(each.process.tree()) for each in both]
    caused = Caused(ground.stage, scenario)
    duration_s = timing.settle_s + timing.window_s + LATE_S + HANG_S + 2 * EVERY_S
    generators: list[Process] = []
    looks = owners.looks(ground.stage, both)
    computing.go()
    try:
        for number, each in enumerate(both):
            generators.append(ground.drive(each, targets(scenario), scenario.vus, f"duet-{number}", duration_s))
        opens_s = time.time() + timing.settle_s
        sleep_until(opens_s - LOOK_S)
        owners.snap(looks)
        midway = [caused.midway()]
        late_s = time.time() - opens_s
        if late_s > LATE_S:
            raise ProcessError(f"looking at the sockets took {late_s:.1f} s too long: the generators would end before the window")
        opens_s += max(0.0, late_s)
        sleep_until(opens_s)
        first = _edge(ground, both, generators, computing, compiling)
        sleep_until(opens_s + random.uniform(0.1, 0.9) * timing.window_s)  # nobody knows when
        for look in looks:
            look.placed()
        sleep_until(opens_s + timing.window_s)
        last = _edge(ground, both, generators, computing, compiling)
        midway.append(caused.midway())
        owners.snap(looks)
        memories = [each.process.gauge().footprint().pss_mib for each in both]  # while the connections are open
        hung = _hang(ground.stage, scenario, both, generators, caused)
        for driving in generators:
            generator.stop(driving)
        loads = [generator.finish(driving, duration_s + generator.END_S) for driving in generators]
    finally:
        computing.rest()
        for process in generators:
            process.end(0)
    after = [counted(each) for each in both]
    effects = caused.whole()
    singles = [_single(ground, scenario, each, computing) for each in both]  # warmer than the load: no difference is too small
    driven = [
        Driven(
            contender=running.contender.id,
            series=load.series,
            answers=load.answers,
            opened=load.opened,
            wrong=load.wrong,
            bursts=running.bursts,
            counted=None if then is None or now is None else now - then,
            odd=load.odd,
            prepares=running.prepares,
            waited_s=None if (waited := waited_s(*waits)) is None else round(waited, 6),
            compiled_s=None if (compiled := spent_s(*compilings)) is None else round(compiled, 6),
            least_ms=load.least_ms,
            pss_mib=round(memory, 2),
            ended_before=running.ended_before,
            at_once=min(scenario.vus, running.contender.at_once(len(ground.stage.placement.service), scenario.upstream_calls)),
            single_us=single,
            answers_of=load.answers_of if isinstance(scenario, Mixture) else [],
        )
        for running, load, then, now, waits, compilings, memory, single in zip(
            both,
            loads,
            before,
            after,
            zip(first.waits, last.waits, strict=True),
            zip(first.compiled, last.compiled, strict=True),
            memories,
            singles,
            strict=True,
        )
    ]
    used = {role: round(last.cpu[role] - first.cpu[role], 6) for role in first.cpu}
    services = sum(_used(load.series, first.at_s, last.at_s) for load in loads)
    return Duet(
        own=driven[0],
        partner=driven[1] if partner is not None else None,
        connections=scenario.vus,
        competitors=competitors,
        opens_s=round(first.at_s, 6),
        closes_s=round(last.at_s, 6),
        cpu_s=used,
        foreign_s=round(max(0.0, last.busy_s - first.busy_s - sum(used.values()) - services), 6),
        steal_s=round(last.steal_s - first.steal_s, 6),
        service_cores=len(ground.stage.placement.service),
        idle_s=round(last.idle_s - first.idle_s, 6),
        cores=len(ALL_CORES),
        rehearsal=rehearsal,
        speeds=[*speeds, ground.speed()],
        midway=[each for each in midway if each is not None],
        hung=hung,
        owned=[owned for owned in (look.owned() for look in looks) if owned is not None],
        **effects,
    )


def _single(ground: Ground, scenario: CostRow, running: Running, computing: Competitors) -> float | None:
    """What a request costs with a single round of what it computes (CPU µs); None where it computes nothing, or nothing was answered.

    Raises ProcessError.
    """
    if not scenario.compute_rounds:
        return None
    path = scenario.path.replace(f"rounds={scenario.compute_rounds}", "rounds=1")
    asked = [each._replace(path=path, body="") for each in targets(scenario)]
    computing.go()
    try:
        driving = ground.drive(running, asked, scenario.vus, "single", SINGLE_S)
        try:
            series = generator.finish(driving, SINGLE_S + generator.END_S).series
        finally:
            driving.end(0)
    finally:
        computing.rest()
    costs = series.costs()
    return round(min(costs), 3) if costs else None  # one reading with a garbage collection or a neighbour is not what it takes


def _hang(stage: Stage, scenario: CostRow, both: Sequence[Running], generators: Sequence[Process], caused: Caused) -> Hang | None:
    """Lets hang whom every request of a row needs, and tells when that was; generators read when that has settled.

    At its end the services stand still, while what they had sent is done and counted. Raises DatabaseError and ProcessError.
    """
    if stage.runner != "native" or isinstance(scenario, Mixture):
        return None
    name: Literal["database", "upstream"]
    whom: Program | Server
    if scenario.statements and stage.database.can_hang:
        name, whom = "database", stage.database
    elif scenario.upstream_calls:
        name, whom = "upstream", stage.upstream
    else:
        return None
    whom.freeze()
    try:
        asked_s = time.time()
        while not whom.stopped and time.time() < asked_s + STOPS_S:
            time.sleep(0.001)
        from_s = time.time()
        sleep_until(from_s + Hang.SETTLES_S)
        for driving in generators:
            generator.look(driving)
        sleep_until(from_s + HANG_S)
        for each in both:
            each.process.freeze()
        for driving in generators:
            generator.look(driving)
        time.sleep(STILL_S)
        until_s = time.time()
        whom.thaw()
        sent = _settled(caused.executed if name == "database" else caused.called)
    finally:
        whom.thaw()
        for each in both:
            each.process.thaw()
    return Hang(whom=name, from_s=round(from_s, 6), until_s=round(until_s, 6), sent=sent)


def _settled(counted: Callable[[], int | None]) -> int | None:
    """What is counted once it grows no more."""
    found = counted()
    for _ in range(round(DONE_S / STILL_S)):
        time.sleep(STILL_S)
        before, found = found, counted()
        if found == before:
            break
    return found


@dataclass(frozen=True)
class _Edge:
    at_s: float
    waits: list[dict[Path, float] | None]
    compiled: list[dict[Path, float]]
    cpu: dict[str, float]
    busy_s: float
    steal_s: float
    idle_s: float


def _edge(
    ground: Ground, both: Sequence[Running], generators: Sequence[Process], computing: Competitors, compiling: Sequence[Sequence[Path]]
) -> _Edge:
    times = machine_times()
    return _Edge(
        time.time(),
        [waits_s(each.process.tree()) for each in both],
        [threads_cpu_s(each) for each in compiling],
        {
            "database": ground.stage.database_gauge().cpu_s(),
            "upstream": ground.stage.upstream.gauge().cpu_s(),
            "generator": sum(each.gauge().cpu_s() for each in generators),
            "competitor": cpu_s(computing.pids()),
            "harness": time.process_time(),
        },
        times.busy,
        times.steal,
        idle_s(ground.stage.placement.service),
    )


def _used(series: Series, first_s: float, last_s: float) -> float:
    """CPU of a service between two moments, by the readings within them, scaled to the whole (s)."""
    kept = series.between(first_s, last_s)
    if len(kept.at_s) < 2:
        return 0.0
    share = (last_s - first_s) / (kept.at_s[-1] - kept.at_s[0])
    return (kept.service_cpu_s[-1] - kept.service_cpu_s[0]) * share


def counted(running: Running) -> int | None:
    """Requests that a service says it has answered; None where it does not say."""
    reader = StatsReader(running.base_url, STATS_S)
    try:
        seen = reader.now()
        return None if seen is None else seen.requests_total
    finally:
        reader.close()
