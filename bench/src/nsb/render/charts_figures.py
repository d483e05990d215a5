"""Charts of the figures of the table: all beside the best, each scenario with its intervals, and the starts. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import altair as alt

from nsb.registry.claims import Said
from nsb.registry.terms import LATENCIES, METRIC_UNITS, MORE_IS_BETTER, Headline
from nsb.render import messages
from nsb.render.charts_base import (
    LINE,
    NEUTRAL,
    ROWS,
    Axis,
    Chart,
    Drawing,
    Source,
    View,
    axis_title,
    heads,
    legend,
    limit_of,
    luminance,
    made,
    marked,
    short,
    spread_of,
    told,
    tooltip,
    with_intervals,
)  # fmt: skip
from nsb.render.charts_points import Beside, Dot, beside_best, best_first, dots, start_dots
from nsb.render.messages import Language, own, text
from nsb.render.words import number, signed

HEAT = ("#edf4fa", "#a9cce8", "#4f97cf", "#14579c", "#08264d")
"""Colours from the best to the furthest, distinguishable by lightness alone."""
TICKS = (1, 1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)
DARK, LIGHT = "#000000", "#ffffff"
"""Text colours: one of the two has a contrast of 4.5 to any cell colour."""


# --- a: everything beside the best ------------------------------------------------------------------------------------------------------


def heat(of: Source) -> Chart | None:
    table = of.table
    lines: dict[str, list[Beside]] = {}
    for scenario in table.scenarios:
        headline, found = dots(table, scenario)
        lines[scenario] = beside_best(found, headline not in MORE_IS_BETTER)
    if not lines:
        return None
    top = max([2.0, *(beside.times for row in lines.values() for beside in row if beside.times is not None)])

    def draw(language: Language) -> View:
        rows = [_heat_row(line, beside, top, language) for line, row in lines.items() for beside in row]
        base = alt.Chart(ROWS).encode(
            x=alt.X("name:N", sort=table.contenders, title=None, axis=alt.Axis(orient="top", labelAngle=-30, domain=False, ticks=False)),
            y=alt.Y("line:N", sort=list(lines), title=None, axis=alt.Axis(domain=False, ticks=False, labelLimit=200)),
            tooltip=tooltip(
                language, line="head.scenario", name="head.contender", figure="head.value", spread="head.spread", times="head.ratio",
                rounds="head.rounds", limit="head.limit", status="head.status", doubts="head.doubts",
            ),
        )  # fmt: skip
        ratio = alt.Color(
            "ratio:Q",
            scale=alt.Scale(type="log", domain=[1, short(top)], range=list(HEAT)),
            title=text("axis.ratio", language),
            legend=legend(gradientLength=200, values=[tick for tick in TICKS if tick <= top]),
        )
        known, unknown = base.transform_filter("isValid(datum.ratio)"), base.transform_filter("!isValid(datum.ratio)")
        layers = alt.layer(
            known.mark_rect(stroke=NEUTRAL, strokeWidth=0.5).encode(color=ratio),
            unknown.mark_rect(fill=NEUTRAL, fillOpacity=0.15, stroke=NEUTRAL, strokeWidth=0.5),
            known.mark_text(fontSize=11, dy=_UP).encode(text="figure:N", color=alt.Color("ink:N", scale=None)),
            known.mark_text(fontSize=9, dy=_DOWN).encode(text="width:N", color=alt.Color("ink:N", scale=None)),
            unknown.mark_text(fontSize=11, dy=_UP).encode(text="figure:N"),
            unknown.mark_text(fontSize=9, dy=_DOWN).encode(text="width:N"),
        ).resolve_scale(color="independent")
        return View(layers, rows)

    return made(of, Drawing(
        id="heat", kind="heat", title=messages.said("title.heat"), sentence=_heat_alt(lines), draw=draw,
        notes=["read.heat", *_widths(of), *_marks([beside.dot for row in lines.values() for beside in row])],
        columns=[*heads("head.scenario"), *(Said(en=name, ko=name) for name in table.contenders)],
        rows=[[line, *_heat_line(table.contenders, row)] for line, row in lines.items()],
        least_px=120 + 62 * len(table.contenders), height=34 * len(lines),
    ))  # fmt: skip


_UP, _DOWN = alt.expr("datum.width ? -5 : 0"), 8
"""A figure stands above its spread, and in the middle where it has none (px)."""


def _widths(of: Source) -> list[str]:
    """What ± is."""
    return ["read.width_one", "read.one"] if of.one_round else ["read.width"]


def _heat_row(line: str, beside: Beside, top: float, language: Language) -> dict[str, Any]:
    dot = beside.dot
    row: dict[str, Any] = {
        "line": line, "name": dot.contender, "figure": _says(dot, language), "width": dot.width, "times": _times(beside, language),
        "spread": spread_of(dot.low, dot.high, dot.spread, language),
        "rounds": text("of.rounds", language, n=dot.counted, all=dot.measured), "limit": limit_of(dot.limit, language),
        "status": text(f"status.{dot.status}", language), "doubts": told(dot.doubts, language),
    }  # fmt: skip
    if beside.times is not None:
        row["ratio"] = short(beside.times)
        row["ink"] = ink(math.log(beside.times) / math.log(top))
    return row


def ink(at: float) -> str:
    """The readable text colour on the cell at that share of the way from the best to the furthest."""
    below = min(int(at * (len(HEAT) - 1)), len(HEAT) - 2)
    part = at * (len(HEAT) - 1) - below
    ends = [[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in HEAT[below : below + 2]]
    return DARK if luminance([a + part * (b - a) for a, b in zip(*ends, strict=True)]) > 0.179 else LIGHT


def _times(beside: Beside, language: Language = "en") -> str:
    if beside.times is None:
        return "–"
    return f"{'≥' if beside.at_least else ''}{messages.amount(number(beside.times), '×', language)}"


def _heat_line(contenders: Sequence[str], row: Sequence[Beside]) -> list[str]:
    by_name = {beside.dot.contender: beside for beside in row}
    shown = []
    for name in contenders:
        beside = by_name.get(name)
        if beside is None:
            shown.append("")
            continue
        figure = f"{beside.dot.says} {beside.dot.width}".strip()
        shown.append(figure if beside.times is None else f"{figure} ({_times(beside)})")
    return shown


def _heat_alt(lines: Mapping[str, Sequence[Beside]]) -> Said:
    """The contenders whose interval lies apart from all others on the better side; rows with overlapping intervals have none."""
    known = {line: [beside for beside in row if beside.times is not None] for line, row in lines.items()}
    known = {line: row for line, row in known.items() if row}
    if not known:
        return messages.said("alt.heat_none")
    alone: dict[str, list[str]] = {}
    close = []
    for line, row in known.items():
        first = _best_alone(row)
        if first is None:
            close.append(line)
        else:
            alone.setdefault(first, []).append(line)
    at, furthest = max(((line, max(row, key=_by_times)) for line, row in known.items()), key=lambda each: _by_times(each[1]))
    named = ", ".join(f"{name} ({', '.join(won)})" for name, won in alone.items())
    bounds = [line for line in lines if line not in known and any(beside.dot.bound for beside in lines[line])]
    return messages.joined(
        messages.said("alt.heat"),
        *([messages.said("alt.heat_alone", names=named)] if named else []),
        *([messages.said("alt.heat_close", scenarios=", ".join(close))] if close else []),
        messages.said(
            "alt.heat_furthest",
            name=furthest.dot.contender,
            scenario=at,
            times=messages.in_each(lambda language: _times(furthest, language)),
        ),
        *([messages.said("alt.heat_bounds", scenarios=", ".join(bounds))] if bounds else []),
    )


def _by_times(beside: Beside) -> float:
    return beside.times or 0.0


def _best_alone(row: Sequence[Beside]) -> str | None:
    """The one whose interval lies beyond those of all others on the better side. Halves of a round are no intervals, and a bound in the
    row may be better still."""
    first = min(row, key=_by_times)
    others = [beside.dot for beside in row if beside is not first]
    if first.at_least or not others or any(beside.dot.spread != "interval" for beside in row):
        return None
    return first.dot.contender if all(_apart(first.dot, other) for other in others) else None


def _apart(a: Dot, b: Dot) -> bool:
    if a.low is None or a.high is None or b.low is None or b.high is None:
        return False
    return a.high < b.low or b.high < a.low


# --- b: the figures of a scenario with their intervals ------------------------------------------------------------------------------------


def intervals(of: Source, scenario: str) -> Chart | None:
    headline, found = dots(of.table, scenario)
    if not any(dot.value is not None for dot in found):
        return None
    found = best_first(found, headline not in MORE_IS_BETTER)
    unit = _unit(of, scenario, headline)
    spreads = {dot.spread for dot in found if dot.spread}
    notes = ["read.halves"] if of.one_round else ["read.interval_mean" if headline == "memory" else "read.interval"]
    notes += ["read.spread_mixed"] if not of.one_round and "halves" in spreads else []
    notes += ["read.clock"] if headline in LATENCIES and of.run["plan"]["models"][scenario] == "open" else []
    notes += ["read.bound"] if any(dot.bound for dot in found) else []
    notes += _marks(found)
    return made(of, Drawing(
        id=f"intervals-{scenario}", kind="intervals", scenario=scenario, notes=notes,
        title=messages.said("title.intervals", scenario=scenario, unit=unit),
        sentence=figures_alt(of, scenario),
        draw=lambda language: _dots(of, found, own(unit, language), language, "head.rounds"),
        columns=_dot_heads("head.rounds"), rows=_dot_rows(found), height=LINE * len(found),
    ))  # fmt: skip


def _unit(of: Source, scenario: str, headline: Headline) -> Said:
    """Of the figures that are drawn: another one than planned where nobody sustained the rate."""
    if headline != of.table.headlines[scenario]:
        return messages.said("axis.answers")
    return messages.in_each(lambda language: messages.unit(METRIC_UNITS[headline], language))


def figures_alt(of: Source, scenario: str) -> Said:
    """The figures of a scenario in a sentence."""
    headline, found = dots(of.table, scenario)
    unit = _unit(of, scenario, headline)
    what = messages.in_each(lambda language: f"{scenario}, {own(unit, language)}")
    return _dots_alt(found, what, "more" if headline in MORE_IS_BETTER else "less")


def _dots(of: Source, found: Sequence[Dot], unit: str, language: Language, counted: str) -> View:
    """A line for each figure: its interval, its point (an open arrow for a bound) and its number."""
    known = [value for dot in found for value in (dot.value, dot.low, dot.high) if value is not None]
    axis = Axis.over(known, room=0.24)
    base = alt.Chart(ROWS).encode(
        y=alt.Y("name:N", sort=[dot.contender for dot in found], title=None, axis=alt.Axis(domain=False, ticks=False, labelLimit=200)),
        tooltip=tooltip(
            language, name="head.contender", says="head.value", spread="head.spread", rounds=counted, limit="head.limit",
            status="head.status", doubts="head.doubts",
        ),
    )  # fmt: skip
    guide = (
        base.transform_filter("isValid(datum.lo)")
        .mark_rule(strokeDash=[1, 3], color=NEUTRAL)
        .encode(x=alt.X("from:Q", scale=axis.scale), x2="lo:Q")
    )
    others = base.transform_filter("!isValid(datum.v)").mark_text(align="left", baseline="middle", fontStyle="italic").encode(
        x=alt.value(6), text="says:N"
    )  # fmt: skip
    return View(
        alt.layer(guide, *with_intervals(base, axis, axis_title(unit, axis, language)), others),
        [_dot_row(of, dot, axis, language) for dot in found],
    )


def _says(dot: Dot, language: Language) -> str:
    """The figure, or a word for why there is none."""
    if dot.counted or dot.status in ("valid", "censored"):
        return dot.says
    return text(f"status.{dot.status}", language)


def _marks(found: Sequence[Dot]) -> list[str]:
    """The notes on the marks that their figures carry."""
    said = "".join(dot.says for dot in found)
    return [note for mark, note in (("†", "read.unsustained"), ("?", "read.doubt")) if mark in said]


def _dot_row(of: Source, dot: Dot, axis: Axis, language: Language) -> dict[str, Any]:
    row: dict[str, Any] = {
        "name": dot.contender, "says": _says(dot, language), "limit": limit_of(dot.limit, language), "doubts": told(dot.doubts, language),
        "rounds": text("of.rounds", language, n=dot.counted, all=dot.measured), "status": text(f"status.{dot.status}", language),
        "spread": spread_of(dot.low, dot.high, dot.spread, language),
    }  # fmt: skip
    if dot.value is None:
        return row
    return {**row, **marked(dot.value, dot.low, dot.high, dot.bound, of.colour(dot.contender)), "from": short(axis.low)}


def _dot_heads(counted: str) -> list[Said]:
    return heads("head.contender", "head.value", "head.low", "head.high", counted, "head.limit", "head.status", "head.doubts")


def _dot_rows(found: Sequence[Dot]) -> list[list[str]]:
    return [
        [
            dot.contender, dot.says, signed(dot.low), signed(dot.high), f"{dot.counted}/{dot.measured}",
            dot.limit or "–", dot.status, "; ".join(dot.doubts) or "–",
        ]
        for dot in found
    ]  # fmt: skip


def _dots_alt(found: Sequence[Dot], what: Said, better: Literal["less", "more"]) -> Said:
    """Who is lowest and who is highest, by how much, and whether their intervals part them; and who is not in it."""
    parts = []
    exact = [dot for dot in found if dot.value is not None and dot.bound is None]
    if len(exact) == 1:
        parts.append(messages.said("alt.alone", what=what, low=exact[0].contender, low_value=signed(exact[0].value)))
    elif exact:
        low, high = (pick(exact, key=lambda dot: dot.value or 0.0) for pick in (min, max))
        parts.append(_extremes(low, high, what, better))
    bounds = [dot.contender for dot in found if dot.bound]
    slow = [dot.contender for dot in found if dot.value is None and dot.status == "censored"]
    without = [dot.contender for dot in found if dot.value is None and dot.status != "censored"]
    for key, names in (("alt.bounds", bounds), ("alt.unsustained", slow), ("alt.without", without)):
        parts += [messages.said(key, names=", ".join(names))] if names else []
    return messages.joined(*parts)


def _extremes(low: Dot, high: Dot, what: Said, better: str) -> Said:
    assert low.value is not None
    assert high.value is not None
    values = {
        "what": what, "better": messages.said(f"better.{better}"), "low": low.contender, "high": high.contender,
        "low_value": signed(low.value), "high_value": signed(high.value), "times": number(high.value / low.value) if low.value > 0 else "–",
    }  # fmt: skip
    if low.spread == "halves" or high.spread == "halves" or low.high is None or high.low is None:
        return messages.said("alt.extremes_halves", **values)
    return messages.said("alt.extremes", **values, overlap=messages.said("alt.overlap" if low.high >= high.low else "alt.apart"))


# --- start-up --------------------------------------------------------------------------------------------------------


def start_ups(of: Source) -> list[Chart]:
    drawn = []
    for key, unit, which in (
        ("ready", "axis.seconds", lambda found: found.ready_s),
        ("pss", "axis.memory", lambda found: found.pss_mib),
    ):
        found = best_first(start_dots(of.table, which), less_is_better=True)
        if found:
            drawn.append(_start_up(of, key, unit, found))
    return drawn


def _start_up(of: Source, key: str, unit: str, found: Sequence[Dot]) -> Chart:
    spreads = {dot.spread for dot in found}
    return made(of, Drawing(
        id=f"start-{key}", kind="starts", title=messages.said(f"title.{key}"),
        sentence=_dots_alt(found, messages.said(f"title.{key}"), "less"),
        draw=lambda language: _dots(of, found, text(unit, language), language, "head.starts"),
        notes=[note for spread, note in (("interval", "read.start_interval"), ("range", "read.start_range")) if spread in spreads],
        columns=_dot_heads("head.starts"), rows=_dot_rows(found), height=LINE * len(found),
    ))  # fmt: skip
