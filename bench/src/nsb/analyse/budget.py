"""Where the noise of a cost row comes from: windows, rounds, starts, runs. Pure.

Each value is x = ln(cost of a contender ÷ cost of the reference) of one cell. Cells are nested: rounds in a start, starts in a run. The
parts are the usual estimates of a nested analysis of variance, pooled over contenders and runs (Searle, Casella and McCulloch, Variance
Components, 1992, chapter 3), as standard deviations in percent. A part that comes out below zero is 0.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nsb.analyse.table import latest
from nsb.records.judged import Cell
from nsb.registry.terms import Frozen


class Parts(Frozen):
    """One cost row; standard deviations of a single cell's ratio (%). None: nothing to tell it from."""

    scenario: str
    cells: int
    windows: float
    """By the spread of the windows within a cell."""
    rounds: float | None
    """Between cells of one start, windows included."""
    starts: float | None
    """Between starts of a run, beyond that."""
    runs: float | None
    """Between runs, beyond both."""


Value = tuple[int, str, int, float, float]
"""Run, contender, start, x, standard error by windows."""


def budget(runs: Sequence[tuple[Mapping[str, Any], Iterable[Cell]]]) -> list[Parts]:
    """Of these runs together, a row for each cost scenario that one of them has; plants and twins are left out."""
    values: dict[str, list[Value]] = defaultdict(list)
    for number, (run, cells) in enumerate(runs):
        plan = run["plan"]
        per_start = plan.get("rounds_per_start", 1)
        for cell in latest(cells):
            if cell.cost is None or cell.cost.ratio is None or not cell.counts or cell.contender in plan.get("controls", {}):
                continue
            start = (cell.round - 1) // per_start
            values[cell.scenario].append((number, cell.contender, start, math.log(cell.cost.ratio), cell.cost.error))
    return [_parts(scenario, found) for scenario, found in values.items()]


def _parts(scenario: str, values: Sequence[Value]) -> Parts:
    by_start: dict[tuple[int, str, int], list[float]] = defaultdict(list)
    for run, contender, start, x, _ in values:
        by_start[run, contender, start].append(x)
    by_run: dict[tuple[int, str], list[list[float]]] = defaultdict(list)
    for (run, contender, _), found in by_start.items():
        by_run[run, contender].append(found)
    by_contender: dict[str, list[list[list[float]]]] = defaultdict(list)
    for (_, contender), starts in by_run.items():
        by_contender[contender].append(starts)
    within = _pooled(by_start.values())
    of_starts = _beyond([[statistics.fmean(start) for start in starts] for starts in by_run.values()], within, by_start.values())
    whole = [[x for start in starts for x in start] for starts in by_run.values()]
    run_means = [[statistics.fmean([x for start in starts for x in start]) for starts in runs] for runs in by_contender.values()]
    noise = None if within is None else within + (of_starts or 0.0) * len(values) / max(1, len(by_start))  # of a mean: ÷ cells of a run
    return Parts(
        scenario=scenario,
        cells=len(values),
        windows=_percent(statistics.fmean(error**2 for *_, error in values)) or 0.0,
        rounds=_percent(within),
        starts=_percent(of_starts),
        runs=_percent(_beyond(run_means, noise, whole)),
    )


def _pooled(groups: Iterable[Sequence[float]]) -> float | None:
    """The variance within groups; None where no group has two values."""
    usable = [group for group in groups if len(group) > 1]
    df = sum(len(group) - 1 for group in usable)
    return None if not df else sum(statistics.variance(group) * (len(group) - 1) for group in usable) / df


def _beyond(means: Iterable[Sequence[float]], within: float | None, groups: Iterable[Sequence[float]]) -> float | None:
    """The variance of the groups' means beyond what the variance within them makes of it."""
    between = _pooled(means)
    if between is None or within is None:
        return None
    size = statistics.harmonic_mean([len(group) for group in groups])
    return max(0.0, between - within / size)


def _percent(variance: float | None) -> float | None:
    return None if variance is None else round(100 * math.sqrt(variance), 2)
