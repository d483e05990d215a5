"""The chart of the cost model's predictions beside what was measured. Pure."""

from __future__ import annotations

from typing import Any

import altair as alt

from nsb.analyse.model import NEAR, CostModel, Predicted
from nsb.render import messages
from nsb.render.charts_base import (
    NEUTRAL,
    ROWS,
    Axis,
    Chart,
    Drawing,
    Source,
    View,
    axis_title,
    heads,
    made,
    marked,
    spread_of,
    tooltip,
    with_intervals,
)  # fmt: skip
from nsb.render.messages import Language, text
from nsb.render.words import number, signed

LINE = 17
"""Height of a line, of which there is one for each contender and mixture (px)."""

ROOM = 0.25
"""The share of the axis that is left for the values beside the last point."""


def predicted(of: Source, model: CostModel | None) -> Chart | None:
    """Predicted ÷ measured CPU of every mixture; None where the run has none, or one round alone."""
    known = [(each.contender, one) for each in model.contenders for one in each.mixtures if one.low is not None] if model else []
    if not known:
        return None
    name, furthest = max(known, key=lambda each: abs(each[1].off))
    near = sum(abs(one.off) <= NEAR for _, one in known)
    return made(of, Drawing(
        id="predicted", kind="predicted", title=messages.said("title.predicted"), notes=["read.predicted"],
        sentence=messages.said(
            "alt.predicted", near=near, known=len(known), share=f"{NEAR:.0%}", name=name, row=furthest.scenario,
            off=f"{furthest.off:+.0%}",
        ),
        draw=lambda language: _draw(of, known, language),
        columns=heads(
            "head.contender", "head.scenario", "head.predicted", "head.measured", "head.off", "head.low", "head.high", "head.memory_off",
        ),
        rows=[
            [
                contender, one.scenario, number(one.predicted_us), number(one.measured_us), f"{one.off:+.0%}", signed(one.low),
                signed(one.high), "–" if one.memory_off is None else f"{one.memory_off:+.0%}",
            ]
            for contender, one in known
        ],
        height=LINE * len(known),
    ))  # fmt: skip


def _draw(of: Source, known: list[tuple[str, Predicted]], language: Language) -> View:
    rows = [_row(of, contender, one, language) for contender, one in known]
    for row, edge in zip(rows, (1 - NEAR, 1.0, 1 + NEAR), strict=False):
        row["edge"] = edge
    low = min(1 - NEAR, *(row["lo"] for row in rows)) - 0.05  # nothing here lies near zero
    high = max(1 + NEAR, *(row["hi"] for row in rows))
    axis = Axis(low, low + (high - low) / (1 - ROOM), False)
    base = alt.Chart(ROWS).encode(
        y=alt.Y("name:N", sort=[row["name"] for row in rows], title=None, axis=alt.Axis(domain=False, ticks=False, labelLimit=200)),
        tooltip=tooltip(language, name="head.contender", says="head.value", off="head.off", spread="head.spread"),
    )
    edges = alt.Chart(ROWS).transform_filter("isValid(datum.edge)").mark_rule(color=NEUTRAL, strokeDash=[4, 3]).encode(
        x=alt.X("edge:Q", scale=axis.scale)
    )  # fmt: skip
    drawn = with_intervals(base, axis, axis_title(text("axis.predicted", language), axis, language))
    return View(alt.layer(edges, *drawn), rows)


def _row(of: Source, contender: str, one: Predicted, language: Language) -> dict[str, Any]:
    low, high = (None if each is None else 1 + each for each in (one.low, one.high))
    return {
        "name": f"{contender} {one.scenario}", "off": f"{one.off:+.0%}",
        "says": messages.amount(f"{number(one.predicted_us)} / {number(one.measured_us)}", "µs", language),
        "spread": spread_of(low, high, "interval", language), **marked(1 + one.off, low, high, None, of.colour(contender)),
    }  # fmt: skip
