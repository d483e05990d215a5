"""How precise was a run? The figures by which a run of this method is judged itself. Pure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from nsb.analyse.duet import beside
from nsb.analyse.judge import paired, twins
from nsb.analyse.stats import contrast
from nsb.analyse.table import latest
from nsb.records.judged import Cell
from nsb.registry.terms import Frozen

LEAST_ROUNDS = 2
"""Fewer have no interval."""
QUIET = 0.90
"""A moment is quiet where the witness reaches this share of the speed that it reached in the best tenth of the run."""


class Row(Frozen):
    """One cost row. Half-widths are those of the 95 % t interval of the ratio to the reference, over the rounds (%)."""

    scenario: str
    twin_percent: float | None
    """Of the reference's twin; None: no twin, or too few rounds."""
    widest_percent: float | None
    """The largest of all contenders but controls."""
    widest: str | None
    bounds_share: float
    """Share of the contenders whose figure is a bound."""
    reference_beside: dict[str, float]
    """What the reference costs beside each contender ÷ its median of the round, geometric mean over the rounds. Beside one that displaces
    its cached data it costs more, and that contender's ratio is too small by as much."""


class Found(Frozen):
    """A plant in one row: what it costs beside its original (ratio with its 95 % interval), and whether the run finds it."""

    plant: str
    scenario: str
    ratio: float
    low: float
    high: float
    found: bool


class Quality(Frozen):
    """What `just quality` tells. Shares are from 0 to 1; None: nothing to tell it from."""

    minutes: float | None
    """From the first start to the last cell, without builds and contract."""
    cells: int
    doubted_share: float | None
    """Cells that count and have a doubt."""
    halves_ratio: float | None
    """Second half of a cost cell ÷ its first half, geometric mean over all cells: 1 where everything was warm."""
    quiet_share: float | None
    """Of the cost cells, by the witness."""
    rows: list[Row]
    plants: list[Found]


def quality(run: Mapping[str, Any], cells: Sequence[Cell]) -> Quality:
    """Of a run's facts (run.json) and its cells."""
    final = latest(cells)
    counted = [cell for cell in final if cell.counts]
    costs = [cell for cell in counted if cell.cost is not None]
    halves = [math.log(cell.cost.halves) for cell in costs if cell.cost is not None]
    rows = [scenario for scenario in run["plan"]["scenarios"] if any(cell.scenario == scenario for cell in costs)]
    return Quality(
        minutes=_minutes(run),
        cells=len(final),
        doubted_share=round(sum(bool(cell.doubts) for cell in counted) / len(counted), 4) if counted else None,
        halves_ratio=round(math.exp(statistics.fmean(halves)), 4) if halves else None,
        quiet_share=_quiet(costs),
        rows=[_row(run, final, scenario) for scenario in rows],
        plants=[found for scenario in rows for found in _plants(run, final, scenario)],
    )


def _minutes(run: Mapping[str, Any]) -> float | None:
    seconds = run.get("wall_s", {}).get("cells")
    return None if seconds is None else round(seconds / 60, 1)


def _quiet(costs: Sequence[Cell]) -> float | None:
    speeds = sorted(cell.cost.speed for cell in costs if cell.cost is not None and cell.cost.speed is not None)
    if not speeds:
        return None
    best = statistics.median(speeds[-max(1, len(speeds) // 10) :])
    return round(sum(speed >= QUIET * best for speed in speeds) / len(speeds), 3)


def _row(run: Mapping[str, Any], cells: Sequence[Cell], scenario: str) -> Row:
    reference, controls = run["plan"]["reference"], run["plan"].get("controls", {})
    proper = [name for name in run["plan"]["contenders"] if name not in controls]
    widths = {name: _half_width(run, cells, scenario, name, reference) for name in proper if name != reference}
    known = {name: width for name, width in widths.items() if width is not None}
    twin = next((name for name, of in twins(run).items() if of == reference), None)
    bounds = [any(c.status == "censored" for c in cells if (c.contender, c.scenario) == (name, scenario)) for name in proper]
    widest = max(known, key=lambda name: known[name], default=None)
    return Row(
        scenario=scenario,
        twin_percent=None if twin is None else _half_width(run, cells, scenario, twin, reference),
        widest_percent=None if widest is None else known[widest],
        widest=widest,
        bounds_share=round(sum(bounds) / len(bounds), 4) if bounds else 0.0,
        reference_beside={name: round(math.exp(statistics.fmean(x)), 4) for name, x in beside(cells, scenario, reference).items()},
    )


def _half_width(run: Mapping[str, Any], cells: Sequence[Cell], scenario: str, name: str, reference: str) -> float | None:
    """Of the ratio's 95 % interval (%), its wider side."""
    x = list(paired(run, cells, name, reference, scenario, "cpu").x.values())
    if len(x) < LEAST_ROUNDS:
        return None
    found = contrast(x)
    return round(100 * math.expm1(found.interval(0.95).high - found.mean), 2)


def _plants(run: Mapping[str, Any], cells: Sequence[Cell], scenario: str) -> list[Found]:
    told = []
    for name, control in run["plan"].get("controls", {}).items():
        if control["kind"] != "plant":
            continue
        x = list(paired(run, cells, name, control["of"], scenario, "cpu").x.values())
        if len(x) >= LEAST_ROUNDS:
            found = contrast(x)
            around = found.interval(0.95)
            told.append(
                Found(
                    plant=name,
                    scenario=scenario,
                    ratio=round(math.exp(found.mean), 4),
                    low=round(math.exp(around.low), 4),
                    high=round(math.exp(around.high), 4),
                    found=around.low > 0,
                )
            )
    return told
