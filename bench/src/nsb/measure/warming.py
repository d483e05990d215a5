"""Warms a service: all endpoints of its plan at once when it was started, and one at full load before it is measured. Effects only."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from nsb.measure import generator, starts
from nsb.measure.client import StatsReader
from nsb.measure.duet import EVERY_S, Ground
from nsb.measure.generator import Loaded, Target
from nsb.measure.process import ALL_CORES, Process
from nsb.measure.running import Died, Running
from nsb.records.duet import FALLING
from nsb.records.starts import Sample
from nsb.registry.scenario import Scenario

STEP_S = 3.0
"""All endpoints at once for so long, then it is asked whether that was faster than the step before (s)."""
RISING = 1.05
"""A step that answers so many times as much as the one before (geometric mean over the endpoints), or costs so much less: not warm yet."""
LEAST_STEPS = 2
CONNECTIONS, WAITING_CONNECTIONS, PAUSE_MS = 1, 2, 1
"""To each endpoint, and to one that waits; and how long a connection rests between two requests. Few and with rests, so that a compiler's
threads get their share of the cores: with 64 connections a JVM with 200 threads answered with cold code for minutes."""
BURST_S = 0.5
"""One burst at full load (s)."""
BURSTS = 4


@dataclass(frozen=True)
class Warmed:
    """How a service was warmed."""

    samples: list[Sample]
    steps: list[int]
    """Answers of each step of all endpoints at once."""
    rising: bool
    """Whether the last step was still faster than the one before: it ended by its cap."""


def warm(ground: Ground, running: Running, scenarios: Sequence[Scenario], cap_s: float) -> Warmed:
    """Raises Died where the service answers wrongly or goes away, ProcessError for what the generator does wrong."""
    mixture = _Mixture(ground, running, targets(scenarios), max(LEAST_STEPS, round(cap_s / STEP_S)))
    reader = StatsReader(running.base_url, starts.ANSWER_S)
    gauge = running.process.gauge()
    try:
        until = time.monotonic() + 2 * cap_s + 30
        samples = starts.curve(reader.now, gauge.cpu_s, mixture.ended, running.process.began, until)
    finally:
        reader.close()
        mixture.end()
    return Warmed(samples, [sum(step) for step in mixture.steps], mixture.rising)


def targets(scenarios: Sequence[Scenario]) -> list[Target]:
    """Every endpoint of these scenarios once, with a short hold; a body is compared where nothing is changed for the warm-up."""
    found: dict[tuple[str, str], Target] = {}
    for each in scenarios:
        own = generator.target(each)
        asked = [own if each.warm_path is None else own._replace(path=each.warm_path, body="")]
        asked += [Target("GET", heavy.warm_path, "", "", each.answer_status, 0) for heavy in each.heavy_requests]
        for one in asked:
            found.setdefault((one.method, one.path), one)
    return list(found.values())


@dataclass
class _Mixture:
    """Steps of all endpoints at once, until one is no faster than the step before, or there were `most`."""

    ground: Ground
    running: Running
    targets: list[Target]
    most: int
    steps: list[list[int]] = field(default_factory=list)
    """Answers by endpoint."""
    costs: list[float] = field(default_factory=list)
    """CPU seconds of the service by answer, over all endpoints."""
    rising: bool = True
    _under_way: list[Process] = field(default_factory=list)

    def ended(self, wait_s: float) -> bool:
        """Go on for at most so long (s); whether the service is warm, or the cap reached."""
        until = time.monotonic() + wait_s
        if not self._under_way:
            self._under_way = [self._drive(number, each) for number, each in enumerate(self.targets)]
        if any(each.wait(max(0.0, until - time.monotonic())) is None for each in self._under_way):
            return False
        loads = [_finished(self.running, each) for each in self._under_way]
        self._under_way = []
        self.steps.append([load.answers for load in loads])
        series = loads[0].series
        self.costs.append((series.service_cpu_s[-1] - series.service_cpu_s[0]) / max(1, sum(self.steps[-1])))
        self.rising = len(self.steps) < LEAST_STEPS or max(risen(*self.steps[-2:]), self.costs[-2] / self.costs[-1]) >= RISING
        return not self.rising or len(self.steps) >= self.most

    def _drive(self, number: int, asked: Target) -> Process:
        connections = WAITING_CONNECTIONS if not asked.body else CONNECTIONS
        return self.ground.drive(self.running, asked, connections, f"warm-{number}", STEP_S, PAUSE_MS)

    def end(self) -> None:
        for each in self._under_way:
            each.end(0)


def risen(before: Sequence[int], after: Sequence[int]) -> float:
    """The geometric mean of after ÷ before, endpoint by endpoint: no quick one hides a slow one."""
    logs = [math.log(max(1, b) / max(1, a)) for a, b in zip(before, after, strict=True)]
    return math.exp(sum(logs) / len(logs)) if logs else 1.0


def bursts(ground: Ground, running: Running, scenario: Scenario) -> list[float]:
    """Full load on all cores right before a cost cell, until a request costs no less than just before; CPU µs per request of each half
    of each burst. Programs that compile while they run throw away what they have not used for a while (node between two scenarios).

    Raises Died where the service answers wrongly or goes away, ProcessError for what the generator does wrong.
    """
    running.process.pin(ALL_CORES)
    try:
        return _bursts(ground, running, scenario)
    finally:
        running.process.pin(ground.stage.placement.service)


def _bursts(ground: Ground, running: Running, scenario: Scenario) -> list[float]:
    costs: list[float] = []
    for number in range(BURSTS):
        process = ground.drive(running, generator.target(scenario), scenario.vus, f"burst-{number}", BURST_S + EVERY_S)
        try:
            series = _finished(running, process).series
        finally:
            process.end(0)
        for first, last in ((-3, -2), (-2, -1)):
            done = series.answers[last] - series.answers[first]
            costs.append(round((series.service_cpu_s[last] - series.service_cpu_s[first]) / max(1, done) * 1e6, 3))
        if costs[-1] > FALLING * costs[-2]:
            break
    return costs


def _finished(running: Running, process: Process) -> Loaded:
    """Raises Died where the service gave a wrong answer."""
    load = generator.finish(process, STEP_S + generator.END_S)
    if load.wrong is not None:
        code = running.process.exit_code
        raise Died(f"{running.contender.id} did not answer as it must while it was warmed", code, load.wrong)
    return load
