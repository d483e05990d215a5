"""Measures overload cells: the capacity, the idle service, then users who come at shares of the capacity. Effects only.

The contender is alone on its cores: what 150 % costs the users who come is its own doing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from nsb.measure import generator, owners
from nsb.measure.caused import Caused, part
from nsb.measure.duet import EVERY_S, LATE_S, LOOK_S, Ground, counted
from nsb.measure.generator import Open, targets
from nsb.measure.meter import Meter, sleep_until
from nsb.measure.process import ALL_CORES
from nsb.measure.running import Running
from nsb.records.duet import Midway
from nsb.records.edge import Edge
from nsb.records.overload import Level, Overload
from nsb.records.owners import Owned
from nsb.registry import shapes
from nsb.registry.timing import OVERLOAD_IDLE_S, OVERLOAD_SETTLE_S, RECOVERY_FROM_PERCENT, RECOVERY_LIMIT_S, Timing

BEGIN_S = 0.2
"""From an order until its first user comes: the generator starts meanwhile (s)."""
IDLE_RATE, IDLE_LEAD_S = 20.0, 0.2
"""Users of the idle service per second, one after another; and for how long they are not counted (s)."""
QUICK, QUICK_MORE_MS = 2.0, 5.0
"""Quick is within this many times the idle service's median, or within so much more (ms), whichever is longer."""


Lost = Callable[[Running], str | None]
"""Why a service is of no more use after a load; it is ended then."""


def measure(
    ground: Ground, scenario: shapes.Overload, timing: Timing, running: Running, rehearsal: bool, lost: Lost, again: Callable[[], Running]
) -> Overload:
    """One overload cell. The service runs, and all others are stopped. What it does wrong is in the record. `again`: a fresh process of it,
    as warm as the first one, for the levels after the one that the service did not live through.

    Raises ProcessError for what the generator does wrong, Died where the service cannot be started again, and DatabaseError.
    """
    return _Course(ground, scenario, timing, running, lost, again).run(rehearsal)


@dataclass
class _Course:
    ground: Ground
    scenario: shapes.Overload
    timing: Timing
    running: Running
    lost: Lost
    again: Callable[[], Running]
    _counts: list[Midway] = field(default_factory=list)
    """What was caused under each process before this one."""
    _owned: Owned | None = None
    """Of the first process, once another one was started."""

    def run(self, rehearsal: bool) -> Overload:
        stage, scenario = self.ground.stage, self.scenario
        self._caused, self._looks = Caused(stage, scenario), owners.looks(stage, [self.running])
        before = counted(self.running)
        capacity, first, last = self._capacity(self._looks)
        found = Overload(
            parts=[part(row) for row, _ in scenario.mixed],
            vus=self._users,
            connections=scenario.connections,
            give_up_ms=scenario.give_up_ms,
            hold_ms=min(row.hold_ms for row, _ in scenario.mixed),
            window_s=self._window_s,
            series=capacity.series,
            first=first,
            last=last,
            answers_of=capacity.answers_of,
            odd=capacity.odd,
            least_ms=capacity.least_ms,
            wrong=capacity.wrong,
            bursts=self.running.bursts,
            idle=None,
            levels=[],
            quick_ms=None,
            limit_s=RECOVERY_LIMIT_S,
            cores=self._cores(),
            shared=self._shared(),
            counted=None,
            executed=None,
            inserted=None,
            called=None,
            rehearsal=rehearsal,
        )
        if found.wrong is None and found.capacity_rps:
            found = self._levels(found)
        broke = [each.broke for each in found.levels if each.broke is not None]
        after = None if broke else counted(self.running)
        self._close()
        if not found.levels or found.levels[-1].broke is None:
            broke += [why for why in [self.lost(self.running)] if why is not None]
        return found.model_copy(
            update={
                "counted": None if before is None or after is None else after - before,
                "executed": _sum(each.executed for each in self._counts),
                "inserted": _sum(each.inserted for each in self._counts),
                "called": _sum(each.called for each in self._counts),
                "owned": self._owned,
                "broke": broke[0] if broke else None,
            }
        )

    def _close(self) -> None:
        """Once the loads of a process are over: what they caused. Whose the sockets are is asked of the first one, whose capacity it is."""
        if (caused := self._caused.midway()) is not None:
            self._counts.append(caused)
        self._owned = self._owned or self._looks[0].owned()

    def _restart(self) -> None:
        self._close()
        self.running = self.again()
        self._caused = Caused(self.ground.stage, self.scenario)

    @property
    def _window_s(self) -> float:
        return self.scenario.phases(self.timing)[1]

    @property
    def _users(self) -> int:
        """Of the closed load: no more than have their answers before users leave, by what a request cost in the last burst. More of them
        would wait for longer than the window lasts."""
        if not self.running.bursts:
            return self.scenario.vus
        served = self.scenario.give_up_ms * 1000 / self.running.bursts[-1] * len(self.ground.stage.placement.service)
        return max(1, min(self.scenario.vus, int(served)))

    def _capacity(self, looks: Sequence[owners.Look]) -> tuple[generator.Loaded, Edge, Edge]:
        """The closed load, and the edges of its window."""
        stage, length_s = self.ground.stage, OVERLOAD_SETTLE_S + self._window_s + LATE_S + 2 * EVERY_S
        driving = self.ground.drive(self.running, targets(self.scenario), self._users, "capacity", length_s)
        try:
            opens_s = time.time() + OVERLOAD_SETTLE_S
            meter = Meter(stage, self.running, [driving])
            sleep_until(opens_s - LOOK_S)
            owners.snap(looks)
            sleep_until(opens_s)
            first = meter.edge()
            sleep_until(first.at_s + self._window_s)
            last = meter.edge()
            generator.stop(driving)
            return generator.finish(driving, length_s + generator.END_S), first, last
        finally:
            driving.end(0)

    def _levels(self, found: Overload) -> Overload:
        """The idle service and each level; none after a wrong answer. A level that the service does not live through is the last of its
        process: what it does under the next one is not what the one before left of it."""
        idle = self._level(0, IDLE_RATE, (IDLE_LEAD_S, OVERLOAD_IDLE_S - IDLE_LEAD_S, 0.0), None)
        median = idle.users.quantile_ms(0.5)
        if median is None:
            return found.model_copy(update={"idle": idle, "wrong": idle.users.wrong})
        quick_ms = round(max(QUICK * median, median + QUICK_MORE_MS), 3)
        phases, wrong = self.scenario.phases(self.timing), idle.users.wrong
        levels: list[Level] = []
        for percent in self.scenario.levels:
            if wrong is None:
                if levels and levels[-1].broke is not None:
                    self._restart()
                recovers = quick_ms if percent >= RECOVERY_FROM_PERCENT else None
                level = self._level(percent, found.capacity_rps * percent / 100, phases, recovers)
                wrong = level.users.wrong
                levels.append(level if level.users.back_ms >= 0 else level.model_copy(update={"broke": self.lost(self.running)}))
        return found.model_copy(update={"idle": idle, "levels": levels, "quick_ms": quick_ms, "wrong": wrong})

    def _level(self, percent: int, rate: float, phases: tuple[float, float, float], quick_ms: float | None) -> Level:
        """Users who come at a rate; with `quick_ms` single users after them."""
        lead_s, window_s, tail_s = phases
        limit_s = RECOVERY_LIMIT_S if quick_ms is not None else 0.0
        length_s = BEGIN_S + lead_s + window_s + tail_s + self.scenario.give_up_ms / 1000 + limit_s
        begins_s = time.time() + BEGIN_S
        lead_ms, window_ms, tail_ms, limit_ms = (round(each * 1000) for each in (lead_s, window_s, tail_s, limit_s))
        users = Open(begins_s, rate, lead_ms, window_ms, tail_ms, self.scenario.give_up_ms, quick_ms or 0.0, limit_ms)
        driving = self.ground.drive(
            self.running, targets(self.scenario), self.scenario.connections, f"users-{percent}", length_s, users=users
        )
        try:
            meter = Meter(self.ground.stage, self.running, [driving])
            sleep_until(begins_s + lead_s)
            first = meter.edge()
            sleep_until(begins_s + lead_s + window_s)
            last = meter.edge()
            pss_mib, threads = meter.service_footprint()
            tally = generator.tally(driving, length_s + generator.END_S)
        finally:
            driving.end(0)
        return Level(percent=percent, rate=round(rate, 3), first=first, last=last, pss_mib=round(pss_mib, 2), threads=threads, users=tally)

    def _cores(self) -> dict[str, int]:
        placement = self.ground.stage.placement
        return {**{role: len(cores) for role, cores in placement.as_facts().items()}, "machine": len(ALL_CORES)}

    def _shared(self) -> list[str]:
        roles = self.ground.stage.placement.as_facts()
        return [role for role, cores in roles.items() if set(cores) & set(roles["generator"])]


def _sum(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
