"""Warms a service: first all endpoints at once, then each cost row by itself, until a request costs no less than before and a JVM's
compilers rest; and one row at full load right before it is measured. Effects only."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from nsb.measure import generator
from nsb.measure.duet import EVERY_S, Ground, counted
from nsb.measure.generator import Loaded, Target
from nsb.measure.process import ALL_CORES, Process, compilers, spent_s, threads_cpu_s
from nsb.measure.running import Died, Running
from nsb.records.duet import FALLING
from nsb.records.starts import COMPILING, Visit, compiles, costs_of, steady
from nsb.registry.scenario import Scenario
from nsb.registry.shapes import CostRow, Failing, FullCore, Overload, cost_rows

STEP_S = 3.0
"""All endpoints at once for so long, then it is asked whether that was cheaper than the steps before (s)."""
CONNECTIONS, WAITING_CONNECTIONS, PAUSE_MS = 1, 2, 1
"""To each endpoint, and to one that waits; and how long a connection rests between two requests. Few and with rests, so that a compiler's
threads get their share of the cores: with 64 connections a JVM with 200 threads answered with cold code for minutes."""
VISIT_S = 1.0
"""One visit to a cost row (s)."""
SHARE = 16
"""A visit has this fraction of a row's connections, so that a compiler's thread has a core of its own; the last visits have them all."""
COMPILES = 0.85
"""Where a step of all endpoints costs at most this share of the first, code is compiled while it runs, and each row is visited.
Steps of what compiles nothing differ by noise; a JVM's fall to a third, node's to two thirds."""
QUIET, QUIET_FULL = 2, 1
"""Visits in turn that must have brought nothing, with few and with all connections."""
BURST_S = 0.5
"""One burst at full load (s)."""
BURSTS = 8
AGAIN = 1.3
"""Bursts go on while a request costs more than so many times what it did when the warm-up ended. node, stopped for minutes since then,
cost 3.2 times as much in both halves of its first burst."""


def warm(ground: Ground, running: Running, scenarios: Sequence[Scenario], cap_s: float) -> tuple[list[Visit], bool]:
    """The visits in their order, and whether the cap ended them before every row was steady.

    A service whose steps hardly become cheaper compiles nothing while it runs: it gets no visits.

    Raises Died where the service answers wrongly or goes away, ProcessError for what the generator does wrong.
    """
    course = _Course(ground, running, cap_s)
    rows = cost_rows(scenarios)
    settled = course.steps(targets(scenarios))
    if rows and min(each.cost_us for each in course.visits) <= COMPILES * course.visits[0].cost_us:
        settled &= course.rounds(rows, SHARE, QUIET)
        settled &= course.rounds(rows, 1, QUIET_FULL)
        for row in rows:
            if costs := costs_of(course.visits, row.id, row.vus):
                running.warmed_us[row.id] = costs[-1]
    return course.visits, not settled


def targets(scenarios: Sequence[Scenario]) -> list[Target]:
    """Every endpoint of these scenarios once, with a short hold; a body is compared where nothing is changed for the warm-up."""
    found: dict[tuple[str, str], Target] = {}
    for each in (
        row
        for scenario in scenarios
        for row in ([row for row, _ in scenario.mixed] if isinstance(scenario, CostRow | Overload | Failing) else [scenario])
    ):
        own = generator.target(each)
        asked = [own if each.warm_path is None else own._replace(path=each.warm_path, body="")]
        asked += [Target("GET", heavy.warm_path, "", "", each.answer_status, 0) for heavy in each.heavy_requests]
        for one in asked:
            found.setdefault((one.method, one.path), one)
    return list(found.values())


@dataclass
class _Course:
    """The warm-up of one service: its visits together are at most `left_s` long, but two steps there are."""

    ground: Ground
    running: Running
    left_s: float
    visits: list[Visit] = field(default_factory=list)

    def steps(self, asked: Sequence[Target]) -> bool:
        """All endpoints at once, step by step; whether the last step was no cheaper than those before."""
        orders = [(each, CONNECTIONS if each.body else WAITING_CONNECTIONS) for each in asked]
        connections = sum(count for _, count in orders)
        while True:
            self._visit(None, orders, connections, STEP_S, PAUSE_MS)
            if steady(costs_of(self.visits, None, connections), QUIET_FULL):
                return True
            if self.left_s < STEP_S and len(self.visits) > QUIET_FULL:
                return False

    def rounds(self, rows: Sequence[FullCore], share: int, quiet: int) -> bool:
        """Each row in its turn, until all are steady; whether they are."""
        left = list(rows)
        while left:
            for row in left:
                if self.left_s < VISIT_S:
                    return False
                connections = max(1, row.vus // share)
                counted(self.running)  # as a cell does: what a JVM was never asked is compiled in its first cell, at the cost of the others
                self._visit(row.id, [(generator.target(row), connections)], connections, VISIT_S)
            left = [row for row in left if not self._steady(row, max(1, row.vus // share), quiet)]
        return True

    def _steady(self, row: FullCore, connections: int, quiet: int) -> bool:
        last = next(each for each in reversed(self.visits) if each.scenario == row.id)
        return steady(costs_of(self.visits, row.id, connections), quiet) and not compiles(last)

    def _visit(
        self, scenario: str | None, orders: Sequence[tuple[Target, int]], connections: int, length_s: float, pause_ms: int = 0
    ) -> None:
        """Adds one visit: these targets at once, each with so many connections."""
        began_s, under_way = self.running.age_s, []
        compiling = Compiling(self.running)
        self.left_s -= length_s
        try:
            for number, (target, count) in enumerate(orders):
                under_way.append(self.ground.drive(self.running, [target], count, f"warm-{number}", length_s, pause_ms))
            loads = [_finished(self.running, each) for each in under_way]
        finally:
            for each in under_way:
                each.end(0)
        answers = sum(_part(load, 0, -1)[0] for load in loads)
        used_s = max(_part(load, 0, -1)[1] for load in loads)  # each generator reads the clock of the whole service
        self.visits.append(
            Visit(
                began_s=round(began_s, 3),
                ended_s=round(self.running.age_s, 3),
                scenario=scenario,
                connections=connections,
                answers=answers,
                cost_us=round(used_s / max(1, answers) * 1e6, 3),
                compiling=compiling.share(),
            )
        )


class Compiling:
    """What a JVM's compilers use from now on."""

    def __init__(self, running: Running) -> None:
        self._threads = compilers(running.process.tree())
        self._began_s, self._before = time.monotonic(), threads_cpu_s(self._threads)

    def share(self) -> float | None:
        """Of one core; None where it is no JVM."""
        used_s = spent_s(self._before, threads_cpu_s(self._threads))
        return None if used_s is None else round(used_s / (time.monotonic() - self._began_s), 3)


def _part(load: Loaded, first: int, last: int) -> tuple[int, float]:
    """Answers, and CPU of the service (s), between two readings."""
    series = load.series
    return series.answers[last] - series.answers[first], series.service_cpu_s[last] - series.service_cpu_s[first]


def bursts(ground: Ground, running: Running, scenario: CostRow | Overload) -> list[float]:
    """Full load on all cores right before a cell of it, until a request costs no less than just before, about what it cost when the warm-up
    ended, and a JVM's compilers rest; CPU µs per request of each half of each burst. Programs that compile while they run throw away what
    they have not used for a while (node between two scenarios).

    Raises Died where the service answers wrongly or goes away, ProcessError for what the generator does wrong.
    """
    running.process.pin(ALL_CORES)
    try:
        return _bursts(ground, running, scenario)
    finally:
        running.process.pin(ground.stage.placement.service)


def _bursts(ground: Ground, running: Running, scenario: CostRow | Overload) -> list[float]:
    costs: list[float] = []
    for number in range(BURSTS):
        process = ground.drive(running, generator.targets(scenario), scenario.vus, f"burst-{number}", BURST_S + EVERY_S)
        compiling = Compiling(running)
        try:
            load = _finished(running, process)
        finally:
            process.end(0)
        for first, last in ((-3, -2), (-2, -1)):
            answers, used_s = _part(load, first, last)
            costs.append(round(used_s / max(1, answers) * 1e6, 3))
        rests = (compiling.share() or 0.0) <= COMPILING
        if rests and costs[-1] > FALLING * costs[-2] and costs[-1] <= AGAIN * running.warmed_us.get(scenario.id, math.inf):
            break
    return costs


def _finished(running: Running, process: Process) -> Loaded:
    """Raises Died where the service gave a wrong answer."""
    load = generator.finish(process, STEP_S + generator.END_S)
    if load.wrong is not None:
        code = running.process.exit_code
        raise Died(f"{running.contender.id} did not answer as it must while it was warmed", code, load.wrong)
    return load
