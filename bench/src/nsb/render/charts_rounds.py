"""Charts of cells and starts round by round: percentiles, CPU by role, memory in flight. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import altair as alt

from nsb.records.judged import Role
from nsb.registry.claims import Said
from nsb.render import messages
from nsb.render.charts_base import (
    LINE,
    NEUTRAL,
    PALETTE,
    ROWS,
    SHAPES,
    Axis,
    Chart,
    Drawing,
    Source,
    View,
    axis_title,
    clickable,
    ends_of,
    heads,
    legend,
    made,
    short,
    spread_of,
    told,
    tooltip,
)  # fmt: skip
from nsb.render.charts_figures import figures_alt
from nsb.render.charts_points import (
    PERCENTILES,
    ROLES,
    Level,
    Over,
    costs,
    levels,
    percentiles,
    valid_cells,
)  # fmt: skip
from nsb.render.messages import Language, text
from nsb.render.words import CLOCK_MS, figure, number, signed, unsustained

ROLE_COLOURS: Mapping[Role, str] = {"service": PALETTE[0], "generator": NEUTRAL, "database": PALETTE[1], "upstream": PALETTE[5]}
DODGE = 0.007
"""Contenders at the same level are drawn this share of the axis apart, so that their ranges can be distinguished."""
FLOOR_MS = CLOCK_MS / 10
"""Latency below this is not drawn: it is below the clock's resolution, and a logarithmic axis has no zero."""


# --- c: percentiles of latency -----------------------------------------------------------------------------------------------------------


def latency(of: Source, scenario: str) -> Chart | None:
    found = {name: percentiles(valid_cells(of.cells, name, scenario)) for name in of.table.contenders}
    if not any(found.values()):
        return None
    highest = next(p for p in reversed(PERCENTILES) if any(p in known for known in found.values()))
    found = dict(sorted(found.items(), key=lambda each: each[1][highest].value if highest in each[1] else math.inf))
    without = [name for name, known in found.items() if not known]
    whole = highest == PERCENTILES[-1]
    return made(of, Drawing(
        id=f"latency-{scenario}", kind="latency", scenario=scenario, height=LINE // 2 * sum(map(len, found.values())) + 6 * len(found),
        draw=lambda language: _percentiles(of, scenario, found, language),
        title=messages.said("title.latency", scenario=scenario), sentence=_latency_alt(of, scenario, highest, found, without),
        notes=["read.latency_one" if of.one_round else "read.latency", *([] if whole else ["read.tail"])],
        columns=heads("head.contender", "head.percentile", "head.value", "head.low", "head.high", "head.rounds"),
        rows=[[name, percentile, *_over_cells(each)] for name, known in found.items() for percentile, each in known.items()],
    ))  # fmt: skip


def _percentiles(of: Source, scenario: str, found: Mapping[str, Mapping[str, Over]], language: Language) -> View:
    """Percentiles one below the other, as time beyond the hold: a hold of a second would hide small additions."""
    hold = float(of.run["plan"].get("holds_ms", {}).get(scenario, 0))
    rows: list[dict[str, Any]] = [
        {
            "name": name, "percentile": percentile, "figure": f"{number(each.value)} ms", "rounds": str(each.rounds),
            **_beyond(each, hold),
            "spread": spread_of(each.low, each.high, each.spread, language),
            "doubts": told(of.table.entry(name, scenario).doubts, language),
        }
        for name, known in found.items() for percentile, each in known.items()
    ]  # fmt: skip
    axis = Axis(FLOOR_MS, max(10 * CLOCK_MS, *(1.3 * row[key] for row in rows for key in ("v", "hi") if key in row)), True)
    unit = text("axis.overshoot", language, hold=f"{hold:,.0f}") if hold else text("axis.latency", language)
    drawn = [percentile for percentile in PERCENTILES if any(percentile in known for known in found.values())]
    colours = alt.Scale(domain=drawn, range=list(PALETTE[: len(drawn)]))
    shapes = alt.Scale(domain=drawn, range=list(SHAPES[: len(drawn)]))
    base = alt.Chart(ROWS).encode(
        y=alt.Y("name:N", sort=list(found), title=None, axis=alt.Axis(domain=False, ticks=False, labelLimit=200)),
        yOffset=alt.YOffset("percentile:N", sort=drawn),
        color=alt.Color("percentile:N", title=None, legend=legend(), scale=colours),
        tooltip=tooltip(
            language, name="head.contender", percentile="head.percentile", figure="head.value", spread="head.spread", rounds="head.rounds",
            doubts="head.doubts",
        ),
    )  # fmt: skip
    clock = alt.Chart(alt.InlineData(values=[{"clock": CLOCK_MS}])).mark_rule(strokeDash=[2, 3], color=NEUTRAL)
    ranges = base.transform_filter("isValid(datum.lo)").mark_rule(strokeWidth=2, opacity=0.6)
    layers = alt.layer(
        clock.encode(x=alt.X("clock:Q", scale=axis.scale)),
        ranges.encode(x=alt.X("lo:Q", scale=axis.scale), x2="hi:Q"),
        base.mark_point(filled=True, size=45, opacity=1).encode(
            x=alt.X("v:Q", scale=axis.scale, title=axis_title(unit, axis, language), axis=axis.marks()),
            shape=alt.Shape("percentile:N", title=None, legend=legend(), scale=shapes),
        ),
    )
    return View(layers, rows)


def _beyond(each: Over, hold: float) -> dict[str, float]:
    ends = {"v": each.value, "lo": each.low, "hi": each.high}
    return {key: short(max(FLOOR_MS, end - hold)) for key, end in ends.items() if end is not None}


def _over_cells(each: Over) -> list[str]:
    return [signed(each.value), signed(each.low), signed(each.high), str(each.rounds)]


def _latency_alt(of: Source, scenario: str, highest: str, found: Mapping[str, Mapping[str, Over]], without: Sequence[str]) -> Said:
    values = {name: known[highest].value for name, known in found.items() if highest in known}
    low, high = min(values, key=lambda name: values[name]), max(values, key=lambda name: values[name])
    said = messages.said(
        "alt.latency", percentile=highest, scenario=scenario, low=low, low_value=number(values[low]), high=high,
        high_value=number(values[high]), rounds=messages.in_each(lambda language: messages.rounds(of.table.rounds, language)),
    )  # fmt: skip
    slow = [name for name in without if unsustained(of.table.entry(name, scenario))]
    others = [name for name in without if name not in slow]
    more = [messages.said(key, names=", ".join(names)) for key, names in (("alt.unsustained", slow), ("alt.without", others)) if names]
    return messages.joined(said, *more)


# --- e: CPU of a request by who spends it -------------------------------------------------------------------------------------------------


def roles(of: Source, scenario: str) -> Chart | None:
    found = {name: costs(valid_cells(of.cells, name, scenario)) for name in of.table.contenders}
    found = {name: known for name, known in found.items() if "service" in known}
    if not found:
        return None
    found = dict(sorted(found.items(), key=lambda each: each[1]["service"].value))
    service = {name: known["service"].value for name, known in found.items()}
    generator = [known["generator"].value for known in found.values() if "generator" in known] or [0.0]
    low, high = min(service, key=lambda name: service[name]), max(service, key=lambda name: service[name])
    return made(of, Drawing(
        id=f"roles-{scenario}", kind="roles", scenario=scenario, title=messages.said("title.roles", scenario=scenario),
        draw=lambda language: _stacks(of, scenario, found, language),
        sentence=messages.said(
            "alt.roles", scenario=scenario, low=low, low_value=number(service[low]), high=high, high_value=number(service[high]),
            least=number(min(generator)), most=number(max(generator)),
        ),
        notes=["read.roles_one" if of.one_round else "read.roles"], height=LINE * len(found),
        columns=heads("head.contender", "head.role", "head.value", "head.low", "head.high", "head.rounds"),
        rows=[[name, role, *_over_cells(each)] for name, known in found.items() for role, each in known.items()],
    ))  # fmt: skip


def _stacks(of: Source, scenario: str, found: Mapping[str, Mapping[Role, Over]], language: Language) -> View:
    """The service first, so that its part and its range begin at zero; a role that spends nothing has no colour in the legend."""
    spending = [role for role in ROLES if any(known[role].value > 0 for known in found.values() if role in known)]
    named = {role: text(f"role.{role}", language) for role in spending}
    rows: list[dict[str, Any]] = []
    for name, known in found.items():
        begin = 0.0
        for role in (role for role in spending if role in known):
            each = known[role]
            rows.append({
                "name": name, "role": named[role], "from": short(begin), "to": short(begin + each.value), "rounds": str(each.rounds),
                "figure": f"{number(each.value)} µs", "spread": spread_of(each.low, each.high, each.spread, language),
                "doubts": told(of.table.entry(name, scenario).doubts, language),
                **(ends_of(each.low, each.high) if role == "service" else {}),
            })  # fmt: skip
            begin += each.value
    colours = alt.Scale(domain=list(named.values()), range=[ROLE_COLOURS[role] for role in spending])
    base = alt.Chart(ROWS).encode(
        y=alt.Y("name:N", sort=list(found), title=None, axis=alt.Axis(domain=False, ticks=False, labelLimit=200)),
        tooltip=tooltip(
            language, name="head.contender", role="head.role", figure="head.value", spread="head.spread", rounds="head.rounds",
            doubts="head.doubts",
        ),
    )  # fmt: skip
    bars = base.mark_bar(height={"band": 0.7}).encode(
        x=alt.X("from:Q", title=text("axis.cpu", language), scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=6, format=",~r")),
        x2="to:Q",
        color=alt.Color("role:N", title=None, legend=legend(), sort=list(named.values()), scale=colours),
    )
    ranges = base.transform_filter("isValid(datum.lo)").encode(x="lo:Q", x2="hi:Q")
    on_white = ranges.mark_rule(strokeWidth=5, color="#ffffff")
    return View(alt.layer(bars, on_white, ranges.mark_rule(strokeWidth=2, color="#000000")), rows)


# --- d: memory against requests in flight -------------------------------------------------------------------------------------------------


def memory(of: Source, scenario: str) -> list[Chart]:
    """Memory in total, and its growth since the lowest level."""
    found = {name: levels(valid_cells(of.cells, name, scenario), of.server_threads(name)) for name in of.table.contenders}
    found = {name: known for name, known in found.items() if len(known) > 1}
    if not found:
        return []
    said = {name: figure(of.table.entry(name, scenario)) for name in found}
    ended = ["read.ended"] if len({known[-1].users for known in found.values()}) > 1 else []
    top = {name: known[-1] for name, known in found.items()}
    low, high = min(top, key=lambda name: top[name].memory.value), max(top, key=lambda name: top[name].memory.value)
    at_the_top = messages.said(
        "alt.memory", low=low, low_value=_ranged(top[low].memory), low_at=f"{top[low].in_flight:.0f}", high=high,
        high_value=_ranged(top[high].memory), high_at=f"{top[high].in_flight:.0f}",
    )  # fmt: skip
    rows = [
        [name, str(level.users), number(level.in_flight), *_over_cells(level.memory), signed(level.growth.value), said[name]]
        for name, known in found.items() for level in known
    ]  # fmt: skip
    columns = heads(
        "head.contender", "head.users", "axis.in_flight", "axis.memory", "head.low", "head.high", "head.rounds", "axis.growth", "head.slope"
    )

    def chart(which: Literal["memory", "growth"], sentence: Said, *notes: str) -> Chart:
        return made(of, Drawing(
            id=f"{which}-{scenario}", kind="memory", scenario=scenario, sentence=sentence,
            title=messages.said(f"title.{which}", scenario=scenario), draw=lambda language: _ladder(of, found, said, which, language),
            notes=["read.memory_one" if of.one_round else "read.memory", *ended, *notes], columns=columns, rows=rows, height=260,
        ))  # fmt: skip

    return [chart("memory", at_the_top), chart("growth", figures_alt(of, scenario), "read.slope")]


def _ranged(of: Over) -> str:
    """`3.10 MiB [−2.00 … 8.40]`, without words of a language."""
    return f"{signed(of.value)} MiB" + ("" if of.low is None else f" [{signed(of.low)} … {signed(of.high)}]")


def _ladder(
    of: Source,
    found: Mapping[str, Sequence[Level]],
    said: Mapping[str, str],
    which: Literal["memory", "growth"],
    language: Language,
) -> View:
    """`said`: the slope of each contender, which the legend of the growth tells."""
    named = {name: f"{name}  {said[name]}" if which == "growth" else name for name in found}
    apart = dodged(list(found), max(level.in_flight for known in found.values() for level in known))
    rows: list[dict[str, Any]] = [
        {
            "name": named[name], "x": short(level.in_flight + apart[name]), "v": short(each.value), "users": str(level.users),
            **ends_of(each.low, each.high),
            "figure": f"{signed(each.value)} MiB", "spread": spread_of(each.low, each.high, each.spread, language),
            "slope": said[name], "rounds": str(each.rounds),
        }
        for name, known in found.items() for level in known for each in [level.memory if which == "memory" else level.growth]
    ]  # fmt: skip
    layers = curves(
        of, named, rows, "axis.in_flight", f"axis.{which}", language, name="head.contender", users="head.users", figure="head.value",
        spread="head.spread", slope="head.slope", rounds="head.rounds",
    )  # fmt: skip
    return View(layers, rows)


def dodged(names: Sequence[str], most: float) -> dict[str, float]:
    """How far each contender is drawn beside its place on an axis that ends with `most`."""
    return {name: (place - (len(names) - 1) / 2) * DODGE * most for place, name in enumerate(names)}


def curves(
    of: Source,
    named: Mapping[str, str],
    rows: Sequence[Mapping[str, Any]],
    x: str,
    y: str,
    language: Language,
    under: Sequence[alt.Chart] = (),
    including: Sequence[float] = (),
    **fields: str,
) -> alt.LayerChart | alt.FacetChart:
    """A line of points with their ranges for each contender: v over x, from lo to hi. `x`, `y` and `fields` are keys of messages.

    `under`: what is drawn first. `including`: values of v that the axis has too.
    """
    values = [row[key] for row in rows for key in ("v", "lo", "hi") if key in row]
    axis = Axis.over([*values, *including], room=0.05)
    value = alt.Y("v:Q", scale=axis.scale, title=axis_title(text(y, language), axis, language), axis=axis.marks())
    picked = clickable()

    def by_name(channel: Any, of_each: Callable[[str], str]) -> Any:
        scale = alt.Scale(domain=list(named.values()), range=[of_each(name) for name in named])
        return channel("name:N", title=None, scale=scale, legend=legend(columns=3))

    base = alt.Chart(ROWS).encode(
        x=alt.X("x:Q", title=text(x, language), scale=alt.Scale(zero=True, nice=False), axis=alt.Axis(tickCount=6)),
        color=by_name(alt.Color, of.colour),
        opacity=alt.condition(picked, alt.value(1.0), alt.value(0.15)),
        tooltip=tooltip(language, **fields),
    )
    line = base.mark_line(strokeWidth=2).encode(y=value)
    ends = base.transform_filter("isValid(datum.lo)").mark_rule(strokeWidth=2).encode(y=alt.Y("lo:Q", scale=axis.scale), y2="hi:Q")
    point = base.mark_point(size=50, filled=not of.one_round, strokeWidth=2).encode(y=value, shape=by_name(alt.Shape, of.shape))
    return alt.layer(*under, line, ends, point).add_params(picked)
