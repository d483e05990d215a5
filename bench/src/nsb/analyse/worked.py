"""The worked workloads of the guide beside what was measured of requests and connections like theirs. Pure.

CPU per request: a mixture of cost rows, against the cost model of the same run, since machines differ by the day. Answers per second of
users whose requests block: against the bound of the loop, or of users and hold (Little's law). Memory of idle connections: with most of
them, against the line through the levels up to half as many.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from nsb.analyse.model import CostModel, Fitted, work_of
from nsb.analyse.size import EXAMPLES, cost
from nsb.analyse.stats import contrast
from nsb.analyse.table import latest
from nsb.records.judged import Cell
from nsb.registry.scenario import Scenario
from nsb.registry.shapes import HeldConnections, Mixture
from nsb.registry.terms import Frozen

PREFIX = "work-"
"""Scenarios that are named so measure the workload of size.EXAMPLES after it."""
IDLE_WORKLOAD, MANY = "chat", 10_000
"""The workload that a scenario measures which holds so many connections or more."""

What = Literal["cpu", "throughput", "memory"]


class Checked(Frozen):
    """One contender: measured ÷ predicted, geometric mean over the rounds, with its 95 % t interval."""

    contender: str
    predicted: float
    """µs, requests/s or MiB."""
    ratio: float
    low: float
    high: float


class Worked(Frozen):
    """What a committed run says of one workload."""

    workload: str
    run: str
    what: What
    rounds: int
    checked: list[Checked]


def workload_of(scenario: Scenario | None) -> str | None:
    """Which workload a scenario measures; None: none."""
    if isinstance(scenario, HeldConnections) and scenario.levels[-1] >= MANY:
        return IDLE_WORKLOAD
    name = "" if scenario is None else scenario.id
    return name.removeprefix(PREFIX) if name.startswith(PREFIX) and name.removeprefix(PREFIX) in EXAMPLES else None


def worked(own: CostModel, names: Sequence[str], cells: Iterable[Cell], scenarios: Mapping[str, Scenario]) -> list[Worked]:
    """Of each workload that the run measured. `own`: the model of that run; `names`: contenders to tell of, in this order; `scenarios`: by
    id, what they ask today. Contenders without two rounds are left out."""
    final, models = latest(cells), [of for name in names if (of := own.of(name)) is not None]
    found = []
    for name in dict.fromkeys(cell.scenario for cell in final):
        scenario, valid = scenarios.get(name), [cell for cell in final if cell.scenario == name and cell.status == "valid"]
        workload = workload_of(scenario)
        if scenario is None or workload is None:
            continue
        what: What
        if isinstance(scenario, HeldConnections):
            what, checked = "memory", _connections(names, valid)
        elif isinstance(scenario, Mixture):
            what, checked = "cpu", _mixture(models, name)
        else:
            what, checked = "throughput", _blocked(models, valid, scenario)
        rounds = len({cell.round for cell in valid})
        found.append(Worked(workload=workload, run=own.run, what=what, rounds=rounds, checked=list(checked)))
    return [each for each in found if each.checked]


def _mixture(models: Sequence[Fitted], scenario: str) -> Iterable[Checked]:
    """As the fit says it: in each round, against that round's cost rows."""
    for of in models:
        for each in of.mixtures:
            if each.scenario == scenario and each.low is not None and each.high is not None:
                yield Checked(
                    contender=of.contender,
                    predicted=each.predicted_us,
                    ratio=round(1 / (1 + each.off), 4),
                    low=round(1 / (1 + each.high), 4),
                    high=round(1 / (1 + each.low), 4),
                )


def _blocked(models: Sequence[Fitted], cells: Sequence[Cell], scenario: Scenario) -> Iterable[Checked]:
    """Nothing of a contender whose cost rows the run lacks."""
    for of in models:
        if of.rounds:
            predicted = _answers(of, scenario)
            measured = [cell.throughput_rps for cell in cells if cell.contender == of.contender]
            yield from _beside(of.contender, [(value, predicted) for value in measured if value])


def _answers(of: Fitted, scenario: Scenario) -> float:
    """Requests per second of closed users who each hold what they hold: a loop serves one of them after the other."""
    hold_s = scenario.hold_ms / 1000 + cost(of, work_of(scenario)).value / 1e6
    servers = of.stations.workers if of.stations.blocked_by == "loop" else min(scenario.vus or 1, of.stations.threads or math.inf)
    return servers / hold_s


def _connections(names: Sequence[str], cells: Sequence[Cell]) -> Iterable[Checked]:
    for name in names:
        pairs = [pair for cell in cells if cell.contender == name and (pair := _extrapolated(cell)) is not None]
        yield from _beside(name, pairs)


def _extrapolated(cell: Cell) -> tuple[float, float] | None:
    """Memory with most connections (MiB), measured and predicted; None below two levels up to half as many."""
    most = max((reading.users for reading in cell.ladder), default=0)
    below = [(reading.users, reading.pss_mib) for reading in cell.ladder if reading.users <= most / 2]
    if len({users for users, _ in below}) < 2:
        return None
    line = statistics.linear_regression(*zip(*below, strict=True))
    predicted = line.intercept + line.slope * most
    return (statistics.fmean(reading.pss_mib for reading in cell.ladder if reading.users == most), predicted) if predicted > 0 else None


def _beside(contender: str, pairs: Sequence[tuple[float, float]]) -> Iterable[Checked]:
    """Nothing below two rounds: no number without spread."""
    if len(pairs) < 2:
        return
    found = contrast([math.log(measured / predicted) for measured, predicted in pairs])
    around, mean = found.interval(0.95), statistics.geometric_mean([predicted for _, predicted in pairs])
    yield Checked(
        contender=contender,
        predicted=round(mean, 4),
        ratio=round(math.exp(found.mean), 4),
        low=round(math.exp(around.low), 4),
        high=round(math.exp(around.high), 4),
    )


def newest(found: Iterable[Worked]) -> dict[str, list[Worked]]:
    """Workload → what several runs, the newest first, say of it: of each contender the first one that has it."""
    told: dict[str, list[Worked]] = {}
    for each in found:
        before = told.setdefault(each.workload, [])
        known = {one.contender for run in before for one in run.checked}
        if checked := [one for one in each.checked if one.contender not in known]:
            before.append(each.model_copy(update={"checked": checked}))
    return told
