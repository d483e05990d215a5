"""The chart of an article: its own figures beside those of a run that repeats its load. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import altair as alt
from rich.cells import cell_len

from nsb.analyse.articles import NEAR, Figure
from nsb.registry.claims import Reported, Said
from nsb.render import messages
from nsb.render.articles import measured_as, sign_of, theirs_of, told
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
    made,
    marked,
    spread_of,
    tooltip,
    with_intervals,
)  # fmt: skip
from nsb.render.messages import Language, own, text
from nsb.render.words import number, plain, signed

LABEL = 290
"""The longest name of a figure (px); what is longer ends in dots and is whole in the tooltip and in the table."""
ROOM = 0.36
"""The share of the axis that is left for the values beside the last point."""
CELL_PX, MOST_PX = 5, 640
"""Width of a character, and the width at which the longest names and values fit (px)."""
BOUNDS: dict[str, Literal["lower", "upper"]] = {"≥": "lower", "≤": "upper"}


def beside_article(of: Source, article: str, figures: Sequence[Figure]) -> Chart | None:
    """Ours ÷ theirs, a line for each figure that has a spread; None where none has."""
    known = [figure for figure in figures if figure.ratio is not None]
    if not known:
        return None
    reported = sum(isinstance(figure.theirs, Reported) for figure in figures)
    notes = ["read.article", *(["read.bound"] if any(figure.bound for figure in known) else [])]
    return made(of, Drawing(
        id=f"article-{article}", kind="article", article=article, notes=notes, title=messages.said("title.article", id=article),
        sentence=_alt(article, known, reported), draw=lambda language: _draw(of, known, language),
        columns=heads(
            "head.figure", "head.theirs", "head.value", "head.low", "head.high", "head.against", "head.limit", "head.rounds",
            "head.measured_as",
        ),
        rows=[_row(figure) for figure in figures], height=LINE * len(known), least_px=_least_px(of, known),
    ))  # fmt: skip


def _least_px(of: Source, figures: Sequence[Figure]) -> int:
    """A phone shows the whole chart if names and values are short; with longer ones it scrolls."""
    drawn = [_drawn(of, figure, language) for figure in figures for language in messages.LANGUAGES]
    names, values = (CELL_PX * max(cell_len(row[key]) for row in drawn) for key in ("name", "says"))
    return min(MOST_PX, round(min(LABEL, names) + values / ROOM))


def _label(figure: Figure) -> Said:
    return messages.in_each(lambda language: f"{figure.claim} {own(figure.theirs.what, language)}")


def _draw(of: Source, figures: Sequence[Figure], language: Language) -> View:
    """One vertical line is theirs; for each figure the interval of the ratio, its point, and both values in the article's unit."""
    rows = [_drawn(of, figure, language) for figure in figures]
    rows[0]["one"] = 1
    axis = Axis.over([1.0, *(row[end] for row in rows for end in ("v", "lo", "hi") if end in row)], room=ROOM)
    base = alt.Chart(ROWS).encode(
        y=alt.Y("name:N", sort=[row["name"] for row in rows], title=None, axis=alt.Axis(domain=False, ticks=False, labelLimit=LABEL)),
        tooltip=tooltip(
            language, name="head.figure", theirs="head.theirs", ours="head.value", times="head.against", spread="head.spread",
            limit="head.limit", rounds="head.rounds", measured="head.measured_as",
        ),
    )  # fmt: skip
    theirs = alt.Chart(ROWS).transform_filter("isValid(datum.one)").mark_rule(color=NEUTRAL, strokeDash=[4, 3]).encode(
        x=alt.X("one:Q", scale=axis.scale)
    )  # fmt: skip
    drawn = with_intervals(base, axis, axis_title(text("axis.article", language), axis, language))
    return View(alt.layer(theirs, *drawn), rows)


def _drawn(of: Source, figure: Figure, language: Language) -> dict[str, Any]:
    ratio, ours = figure.ratio, figure.theirs.ours
    assert ratio is not None
    assert ours is not None
    assert figure.value is not None
    assert isinstance(figure.theirs, Reported)
    sign, unit, reported = sign_of(figure), figure.theirs.unit, figure.theirs
    measured = messages.amount(f"{sign}{told(figure.value, unit)}", unit, language)
    return {
        "name": own(_label(figure), language), "theirs": theirs_of(figure, language), "ours": measured,
        "times": f"{sign}{number(ratio.value)} ×", "says": f"{plain(reported.value)} → {measured}",
        "spread": spread_of(figure.low, figure.high, "interval", language), "limit": _limit(figure, language),
        "rounds": str(figure.rounds), "measured": measured_as(figure),
        **marked(ratio.value, ratio.low, ratio.high, BOUNDS.get(sign), of.colour(ours.contender)),
    }  # fmt: skip


def _limit(figure: Figure, language: Language) -> str:
    return "–" if figure.limit is None else own(messages.word("limit", figure.limit), language)


def _row(figure: Figure) -> list[Said | str]:
    ratio, sign = figure.ratio, sign_of(figure)
    reported = messages.in_each(lambda language: theirs_of(figure, language))
    values = ["–"] * 4
    if figure.value is not None:
        against = "–" if ratio is None else f"{sign}{number(ratio.value)}"
        values = [f"{sign}{number(figure.value)}", signed(figure.low), signed(figure.high), against]
    limit = messages.in_each(lambda language: _limit(figure, language))
    return [_label(figure), reported, *values, limit, str(figure.rounds), measured_as(figure)]


def _alt(article: str, known: Sequence[Figure], repeated: int) -> Said:
    """How many figures are reproduced, and which lies furthest from the article's."""
    near = [figure for figure in known if figure.near]
    furthest = max(known, key=_distance)
    assert furthest.ratio is not None
    low, high = signed(furthest.ratio.low), signed(furthest.ratio.high)
    return messages.said(
        "alt.article", id=article, near=len(near), known=len(known), all=repeated, margin=f"{NEAR:.0%}", name=_label(furthest),
        times=f"{sign_of(furthest)}{number(furthest.ratio.value)}", low=low, high=high,
    )  # fmt: skip


def _distance(figure: Figure) -> float:
    assert figure.ratio is not None
    return max(figure.ratio.value, 1 / figure.ratio.value) if figure.ratio.value > 0 else 0.0
