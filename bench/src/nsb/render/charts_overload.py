"""Charts of overloads: answers in time, and the slowest of them, against the users who come. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import altair as alt

from nsb.analyse.stats import nearly_all
from nsb.records.judged import Cell
from nsb.registry.claims import Said
from nsb.registry.terms import OVERLOAD_PERCENT
from nsb.render import messages
from nsb.render.charts_base import NEUTRAL, Chart, Drawing, Source, View, ends_of, heads, made, short, spread_of
from nsb.render.charts_points import Over, over, valid_cells
from nsb.render.charts_rounds import curves, dodged
from nsb.render.messages import Language
from nsb.render.words import number, signed


@dataclass(frozen=True)
class Point:
    """One level over the rounds in which the generator was not late, if these are nearly all."""

    percent: int
    goodput: Over | None
    """None where the generator was late in more: the line is broken there."""
    p99: Over | None
    """None too below 1000 answers in time."""


def overload(of: Source, scenario: str) -> list[Chart]:
    """None where no cell counts."""
    cells = {name: valid_cells(of.cells, name, scenario) for name in of.table.contenders}
    found = {name: known for name, own in cells.items() if (known := _points(own))}
    if not found:
        return []
    late = any(level.late for own in cells.values() for cell in own if cell.overload for level in cell.overload.levels)
    columns = heads("head.contender", "head.offered", "axis.goodput", "head.low", "head.high", "head.rounds", "axis.p99")
    rows = [
        [name, f"{each.percent} %", *_cells(each.goodput), "–" if each.p99 is None else number(each.p99.value)]
        for name, known in found.items() for each in known
    ]  # fmt: skip

    def chart(which: Literal["goodput", "p99"]) -> Chart:
        return made(of, Drawing(
            id=f"{which}-{scenario}", kind="overload", scenario=scenario, sentence=_sentence(scenario, found, which),
            title=messages.said(f"title.{which}", scenario=scenario), draw=lambda language: _drawn(of, found, which, language),
            notes=["read.overload_one" if of.one_round else "read.overload", f"read.{which}", *(["read.overload_late"] if late else [])],
            columns=columns, rows=rows, height=260,
        ))  # fmt: skip

    return [chart("goodput"), *([chart("p99")] if any(each.p99 for known in found.values() for each in known) else [])]


def _points(cells: Sequence[Cell]) -> list[Point]:
    levels = [level for cell in cells if cell.overload is not None for level in cell.overload.levels]
    found = []
    for percent in sorted({level.percent for level in levels}):
        own = [level for level in levels if level.percent == percent]
        known = [level for level in own if not level.late]
        tails = [level.p99_ms for level in known if level.p99_ms is not None]
        goodput, p99 = (over(values) if nearly_all(len(values), len(own)) else None for values in ([e.goodput for e in known], tails))
        found.append(Point(percent, goodput, p99))
    return found if any(each.goodput for each in found) else []


def _sentence(scenario: str, found: Mapping[str, Sequence[Point]], which: Literal["goodput", "p99"]) -> Said:
    """The least and the most at the headline's level, or at the last one that all came to."""
    percents = set.intersection(*({each.percent for each in known if getattr(each, which)} for known in found.values()))
    if not percents:
        return messages.said(f"title.{which}", scenario=scenario)
    percent = OVERLOAD_PERCENT if OVERLOAD_PERCENT in percents else max(percents)
    at = {name: getattr(each, which).value for name, known in found.items() for each in known if each.percent == percent}
    low, high = min(at, key=lambda name: at[name]), max(at, key=lambda name: at[name])
    return messages.said(
        f"alt.{which}", scenario=scenario, percent=percent, low=low, low_value=number(at[low]), high=high, high_value=number(at[high])
    )


def _drawn(of: Source, found: Mapping[str, Sequence[Point]], which: Literal["goodput", "p99"], language: Language) -> View:
    most = max(each.percent for known in found.values() for each in known)
    apart = dodged(list(found), most)
    unit = {"goodput": "%", "p99": "ms"}[which]
    rows: list[dict[str, Any]] = [
        {
            "name": name, "x": short(each.percent + apart[name]), "offered": f"{each.percent} %",
            **_value(getattr(each, which), unit, language),
        }
        for name, known in found.items() for each in known
    ]  # fmt: skip
    corners = [{"ix": 0, "iy": 0}, {"ix": 100, "iy": 100}, {"ix": most, "iy": 100}]
    ideal = alt.Chart(alt.InlineData(values=corners)).mark_line(strokeDash=[4, 4], color=NEUTRAL).encode(x="ix:Q", y="iy:Q")
    layers = curves(
        of, {name: name for name in found}, rows, "axis.offered", f"axis.{which}", language, [ideal] if which == "goodput" else [],
        [0.0, 100.0] if which == "goodput" else [], name="head.contender", offered="head.offered",
        figure="head.value", spread="head.spread", rounds="head.rounds",
    )  # fmt: skip
    return View(layers, rows)


def _value(of: Over | None, unit: str, language: Language) -> dict[str, Any]:
    """Nothing, which breaks the line, or where it is drawn and what is told of it."""
    if of is None:
        return {}
    return {
        "v": short(of.value), **ends_of(of.low, of.high), "figure": f"{signed(of.value)} {unit}", "rounds": str(of.rounds),
        "spread": spread_of(of.low, of.high, of.spread, language),
    }  # fmt: skip


def _cells(of: Over | None) -> list[str]:
    return ["–"] * 4 if of is None else [signed(of.value), signed(of.low), signed(of.high), str(of.rounds)]
