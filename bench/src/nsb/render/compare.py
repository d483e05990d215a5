"""Two runs side by side for a terminal of 100 columns. Pure: it makes renderables, the command line prints them."""

from __future__ import annotations

import math

from rich.table import Table as Grid
from rich.text import Text

from nsb.analyse.compare import Comparison, Difference
from nsb.registry.terms import METRIC_UNITS
from nsb.render.terminal import columns
from nsb.render.words import number

_SAID = {
    "worse": ("worse", "red"),
    "better": ("better", "green"),
    "undecided": ("undecided", "dim"),
    "not_judged": ("not judged", "yellow"),
}


def grid(found: Comparison) -> Grid:
    """A line for each cell: the figure in both runs, B against A with its interval, the difference of the twins, and the outcome."""
    view = columns(("scenario", "contender"), ("A", "B", "B : A", "interval", "twins"))
    view.add_column("outcome", no_wrap=True)
    last = ""
    for cell in found.cells:
        figures = (_figure(cell, value) for value in (cell.a, cell.b))
        scenario = cell.scenario if cell.scenario != last else ""
        last = cell.scenario
        view.add_row(scenario, cell.contender, *figures, _by(cell), _interval(cell), _band(cell), Text(*_SAID[cell.outcome]))
    return view


def _figure(cell: Difference, value: float | None) -> str:
    if value is None:
        return "–"
    return number(value) if cell.unit == "ratio" else f"{value:,.1f}"


def _by(cell: Difference) -> str:
    if cell.value is None:
        return "–"
    return _ratio(cell.value) if cell.unit == "ratio" else f"{cell.value:+.1f} {cell.unit}"


def _ratio(value: float) -> str:
    """Three decimals below 10."""
    return f"{value:.3f}" if value < 10 else number(value)


def _interval(cell: Difference) -> str:
    if cell.low is None or cell.high is None:
        return "–"
    return f"{_ratio(cell.low)} to {_ratio(cell.high)}" if cell.unit == "ratio" else f"{cell.low:+.1f} to {cell.high:+.1f}"


def _band(cell: Difference) -> str:
    if cell.band is None:
        return "–"
    return f"±{math.expm1(cell.band):.1%}" if cell.unit == "ratio" else f"±{cell.band:.1f}"


def notes(found: Comparison) -> list[str]:
    """What the columns mean, why cells were not judged, and in what the runs differ, in whole sentences."""
    metrics = {cell.scenario: METRIC_UNITS[cell.metric] for cell in found.cells}
    figures = [f"{unit} in {', '.join(s for s, u in metrics.items() if u == unit)}" for unit in dict.fromkeys(metrics.values())]
    worse, judged = len(found.worse), len(found.judged)
    return [
        f"{worse} of {judged} cells that could be judged are worse in B, {len(found.cells) - judged} could not be judged.",
        f"Figures: {'; '.join(figures)}.",
        "B : A is B/A (ms: B − A) over the valid rounds with its t interval (Welch), adjusted over all judged cells (Holm); a cell that is "
        "not judged shows 95 %. A difference is called where the interval lies outside what the twins of both runs differ by (at the least "
        "1 %, or 1 ms). What changed on the machine between two runs, no twin sees: before you believe a difference, run A again.",
        *_why(found),
        *found.only,
        *(f"differs: {line}" for line in found.differs),
    ]  # fmt: skip


def _why(found: Comparison) -> list[str]:
    """Each reason once, with its cells; a scenario alone means all its contenders."""
    rows: dict[str, list[str]] = {}
    why: dict[str, dict[str, list[str]]] = {}
    for cell in found.cells:
        rows.setdefault(cell.scenario, []).append(cell.contender)
        for reason in cell.reasons:
            why.setdefault(reason, {}).setdefault(cell.scenario, []).append(cell.contender)

    def named(scenario: str, contenders: list[str]) -> str:
        return scenario if contenders == rows[scenario] else f"{scenario} ({', '.join(contenders)})"

    return [f"{reason}: {'; '.join(named(*of) for of in scenarios.items())}" for reason, scenarios in why.items()]
