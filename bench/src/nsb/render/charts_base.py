"""What all charts share: their shape, their colours, axes, tooltips and heads. Pure."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import altair as alt

from nsb.analyse.table import Table
from nsb.records.judged import Cell
from nsb.records.starts import Start
from nsb.registry.claims import Said
from nsb.render import messages
from nsb.render.messages import LANGUAGES, Language, own, text
from nsb.render.words import signed

Kind = Literal["heat", "intervals", "latency", "roles", "memory", "overload", "starts", "predicted", "article"]
Spec = dict[str, Any]

PALETTE = ("#1f83c9", "#d1590c", "#0a8f80", "#d0417f", "#8a7500", "#8765d1", "#7f7f7f", "#3f9142")
"""By the order of contenders; contrast of at least 3.6 to white and to near black. Names or shapes repeat what colour says."""
SHAPES = ("circle", "square", "diamond", "triangle-up", "cross")
NEUTRAL = "#8a8a8a"
"""Readable on light and on dark."""
LOG_FROM = 8.0
"""An axis is logarithmic where the largest value is at least this many times the smallest."""
LINE = 22
"""Height of a line with a mark (px)."""
NARROW = 60
"""Columns of the sentences above a chart, narrow enough for a phone."""
ROWS = alt.NamedData("rows")
"""The data of a chart, by their name in its spec."""
DOUBTS_TOLD = 2
"""In a tooltip; the table lists every doubt."""


@dataclass(frozen=True)
class Chart:
    """A chart in both languages. `columns` and `rows` are the same as a table, `alt` describes in a sentence what the chart shows."""

    id: str
    title: Said
    alt: Said
    specs: Mapping[Language, Spec]
    """Vega-Lite with its data, as wide as its container, without background and colours of text and axes (`charts.config`)."""
    columns: list[Said]
    rows: Sequence[Sequence[Said | str]]
    notes: tuple[Said, ...] = ()
    """The scope, and how to read it: the subtitle, in whole sentences."""
    kind: Kind = "intervals"
    scenario: str | None = None
    article: str | None = None
    """The article whose own figures it shows; the page places it with that article's claims."""
    least_px: int = 280
    """Below this width the chart scrolls, because it would be unreadable."""


@dataclass(frozen=True)
class Source:
    """What every chart is made from."""

    table: Table
    run: Mapping[str, Any]
    cells: Sequence[Cell]
    starts: Sequence[Start]

    def colour(self, contender: str) -> str:
        return PALETTE[self.table.contenders.index(contender) % len(PALETTE)]

    def shape(self, contender: str) -> str:
        return SHAPES[self.table.contenders.index(contender) % len(SHAPES)]

    def server_threads(self, contender: str) -> int | None:
        """How many requests its thread pool serves at once; None without a pool."""
        settings = self.run.get("runtimes", {}).get(contender, {}).get("settings", {})
        threads: int | None = settings.get("server_threads")
        return threads

    def scope(self, language: Language) -> str:
        host = self.run["host"]
        return text(
            "chart.scope", language, tier=self.table.tier, rounds=messages.rounds(self.table.rounds, language), profile=self.table.profile,
            cpu=host["cpu"], cores=messages.cores(host["cores"], language), date=self.run["started_at"][:10],
            commit=host["commit"][:12] or text("unknown", language),
        )  # fmt: skip

    @property
    def one_round(self) -> bool:
        return self.table.rounds == 1


@dataclass(frozen=True)
class View:
    """Layers over ROWS, and these rows: apart, since altair looks through data each time that it copies a chart."""

    layers: alt.LayerChart | alt.FacetChart
    rows: list[dict[str, Any]]


@dataclass(frozen=True)
class Drawing:
    """A chart without its texts."""

    id: str
    kind: Kind
    title: Said
    sentence: Said
    """Its alternative in words."""
    notes: list[str]
    """Keys of the sentences on how to read it."""
    draw: Callable[[Language], View]
    columns: list[Said]
    rows: Sequence[Sequence[Said | str]]
    scenario: str | None = None
    article: str | None = None
    least_px: int = 280
    height: int = 260
    """Without axes (px); in pixels where it stands for lines too, since Vega-Lite fits no width beside a height in steps."""


def made(of: Source, drawing: Drawing) -> Chart:
    notes = (messages.in_each(of.scope), *(messages.said(note) for note in drawing.notes))
    return Chart(
        id=drawing.id, title=drawing.title, alt=drawing.sentence, columns=drawing.columns, rows=drawing.rows, notes=notes,
        kind=drawing.kind, scenario=drawing.scenario, article=drawing.article, least_px=drawing.least_px,
        specs={language: _spec(drawing, notes, language) for language in LANGUAGES},
    )  # fmt: skip


def _spec(drawing: Drawing, notes: Sequence[Said], language: Language) -> Spec:
    title = alt.TitleParams(own(drawing.title, language), subtitle=lines_of(notes, language, NARROW))
    view = drawing.draw(language)
    made = view.layers.properties(title=title, description=own(drawing.sentence, language), width="container", height=drawing.height)
    spec: Spec = made.to_dict(validate=False)  # a test validates every kind of chart; it would take a quarter of the time here
    del spec["config"]
    return {**spec, "datasets": {"rows": view.rows, **spec.get("datasets", {})}}


def lines_of(notes: Sequence[Said], language: Language, columns: int) -> list[str]:
    return [line for note in notes for line in wrapped(own(note, language), columns)]


def wrapped(text: str, columns: int) -> list[str]:
    """Lines of at most that many columns, a letter of Hangul being two wide: a chart's title does not wrap by itself."""
    lines = [""]
    for piece in text.split(" "):
        longer = f"{lines[-1]} {piece}".strip()
        if lines[-1] and sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in longer) > columns:
            lines.append(piece)
        else:
            lines[-1] = longer
    return lines


# --- a figure with its interval -------------------------------------------------------------------------------------------------------

MARKS = {None: "circle", "lower": "triangle-right", "upper": "triangle-left"}
"""Of a value, and of a bound, which points to where the true figure lies."""


def with_intervals(base: alt.Chart, axis: Axis, title: str) -> list[alt.Chart]:
    """Layers over rows as `marked` makes them: the interval, its point (an open arrow for a bound), and `says` beside it."""
    ranged, drawn = base.transform_filter("isValid(datum.lo)"), base.transform_filter("isValid(datum.v)")
    line = ranged.mark_rule(strokeWidth=2, opacity=0.75).encode(
        x=alt.X("lo:Q", scale=axis.scale), x2="hi:Q", color=alt.Color("colour:N", scale=None)
    )  # fmt: skip
    point = drawn.mark_point(size=70, strokeWidth=2, opacity=1).encode(
        x=alt.X("v:Q", scale=axis.scale, title=title, axis=axis.marks()),
        stroke=alt.Stroke("colour:N", scale=None), fill=alt.Fill("fill:N", scale=None), shape=alt.Shape("mark:N", scale=None),
    )  # fmt: skip
    figure = drawn.mark_text(align="left", dx=9, baseline="middle").encode(x=alt.X("end:Q", scale=axis.scale), text="says:N")
    return [line, point, figure]


def marked(value: float, low: float | None, high: float | None, bound: Literal["lower", "upper"] | None, colour: str) -> dict[str, Any]:
    """What a row needs to be drawn so."""
    return {
        **ends_of(low, high), "v": short(value), "end": short(value if high is None else max(value, high)),
        "colour": colour, "fill": "transparent" if bound else colour, "mark": MARKS[bound],
    }  # fmt: skip


# --- parts that charts share -----------------------------------------------------------------------------------------------------------


def short(value: float) -> float:
    """Four significant digits: more are neither known nor visible."""
    return float(f"{value:.4g}")


def ends_of(low: float | None, high: float | None) -> dict[str, float]:
    """The ends of a line as a row has them; none where there is no spread."""
    return {} if low is None or high is None else {"lo": short(low), "hi": short(high)}


def luminance(colour: Sequence[float]) -> float:
    """Of red, green and blue to 255, by WCAG 2.2."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in (each / 255 for each in colour)]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@dataclass(frozen=True)
class Axis:
    """The scale of a quantity: from zero, or logarithmic where values lie far apart; `room` is kept free at its end, as a share."""

    low: float
    high: float
    is_log: bool

    @classmethod
    def over(cls, values: Sequence[float], room: float = 0.0) -> Axis:
        low, high = min(values), max(values)
        if low > 0 and high >= LOG_FROM * low:
            span = (high / low) ** (1 / (1 - room))
            return cls(low / span**0.04, low * span, True)
        low = min(low, 0.0)
        return cls(low, low + ((high - low) / (1 - room) or 1.0), False)

    @property
    def scale(self) -> alt.Scale:
        return alt.Scale(type="log" if self.is_log else "linear", domain=[short(self.low), short(self.high)], nice=False)

    def marks(self) -> alt.Axis:
        """A logarithmic one has its ticks at 1, 2 and 5 alone."""
        if not self.is_log:
            return alt.Axis(tickCount=6, format=",~r")
        tens = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        steps = (1, 2, 5) if self.high / self.low < 1000 else (1,)
        values = [step * 10.0**ten for ten in tens for step in steps]
        return alt.Axis(values=[short(value) for value in values if self.low <= value <= self.high], format=",~r")


def axis_title(unit: str, axis: Axis, language: Language) -> str:
    return text("axis.log", language, unit=unit) if axis.is_log else unit


def spread_of(low: float | None, high: float | None, spread: str | None, language: Language) -> str:
    if low is None or high is None or spread is None:
        return text("spread.none", language)
    return text(f"spread.{spread}", language, low=signed(low), high=signed(high))


def told(doubts: Sequence[str], language: Language) -> str:
    if not doubts:
        return "–"
    more = text("more", language, n=len(doubts) - DOUBTS_TOLD) if len(doubts) > DOUBTS_TOLD else ""
    return "; ".join(doubts[:DOUBTS_TOLD]) + more


def limit_of(limit: str | None, language: Language) -> str:
    return text(f"limit.{limit}", language) if limit else "–"


def tooltip(language: Language, **fields: str) -> list[alt.Tooltip]:
    """Field → key of its name."""
    return [alt.Tooltip(f"{name}:N", title=text(key, language)) for name, key in fields.items()]


def heads(*keys: str) -> list[Said]:
    return [messages.said(key) for key in keys]


def legend(**more: Any) -> alt.Legend:
    return alt.Legend(orient="bottom", symbolOpacity=1.0, **more)


def clickable() -> alt.Parameter:
    """A click on a legend's entry shows it alone."""
    return alt.selection_point(name="picked", fields=["name"], bind="legend")
