"""The charts of a run as Vega-Lite, with the same as a table and in words; SVG and PNG of them, and the script of a page. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal

import altair as alt
import vl_convert

from nsb.analyse.articles import Figure
from nsb.analyse.model import CostModel
from nsb.analyse.table import Table
from nsb.records.judged import Cell
from nsb.records.starts import Start
from nsb.render.charts_articles import beside_article
from nsb.render.charts_base import Chart, Kind, Source, Spec, lines_of
from nsb.render.charts_figures import heat, intervals, start_ups
from nsb.render.charts_model import predicted
from nsb.render.charts_overload import overload
from nsb.render.charts_rounds import latency, memory, roles
from nsb.render.messages import Language

__all__ = ["Chart", "Spec", "bundle", "charts", "config", "has_letters", "png", "svg"]

Theme = Literal["light", "dark"]
LATIN = "Liberation Sans, Arial, Helvetica"
HANGUL = "Noto Sans KR, Noto Sans CJK KR, Apple SD Gothic Neo, Malgun Gothic, NanumGothic, sans-serif"
FONT = f"{LATIN}, {HANGUL}"
"""The first family comes with vl-convert, so a chart has the same layout everywhere; Hangul falls through to what the reader has."""
WIDTHS: Mapping[Kind, int] = {"heat": 860}
WIDTH = 620
"""Of a chart as a file; in a page a chart is as wide as its container (px)."""
WIDE = 116
"""Columns of the sentences above a chart in a file."""
VEGA_LITE = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])


def charts(
    table: Table,
    run: Mapping[str, Any],
    cells: Sequence[Cell],
    starts: Sequence[Start],
    articles: Mapping[str, Sequence[Figure]] | None = None,
    model: CostModel | None = None,
) -> list[Chart]:
    """All charts that the data allow, in the order of the page. Controls are in none of them.

    articles: article → its figures that the run repeats. model: the cost model of the run.
    """
    of = Source(table, run, cells, starts)
    opens = [scenario for scenario in table.scenarios if run["plan"]["models"][scenario] == "open"]
    ladders = [scenario for scenario in table.scenarios if table.headlines[scenario] == "memory"]
    drawn = [heat(of)]
    drawn += [intervals(of, scenario) for scenario in table.scenarios]
    drawn += [latency(of, scenario) for scenario in opens]
    drawn += [roles(of, scenario) for scenario in opens]
    drawn += [chart for scenario in ladders for chart in memory(of, scenario)]
    drawn += [chart for scenario in table.scenarios if table.headlines[scenario] == "goodput" for chart in overload(of, scenario)]
    drawn += start_ups(of)
    drawn.append(predicted(of, model))
    drawn += [beside_article(of, letter, figures) for letter, figures in (articles or {}).items()]
    return [chart for chart in drawn if chart is not None]


# --- drawing: files, and the script of a page --------------------------------------------------------------------------------------


def config(theme: Theme) -> Spec:
    """Colours of text, axes and grid for a light or a dark page; Vega-Lite's `config`. The background is the page's own."""
    ink, soft, line = ("#24292f", "#57606a", "#d0d7de") if theme == "light" else ("#e6edf3", "#9da7b1", "#3d444d")
    return {
        "font": FONT,
        "background": None,
        "view": {"stroke": None},
        "title": {
            "color": ink, "subtitleColor": soft, "fontSize": 14, "subtitleFontSize": 11, "subtitleLineHeight": 14, "subtitlePadding": 5,
            "anchor": "start", "frame": "bounds", "offset": 12,
        },
        "axis": {
            "labelColor": ink, "titleColor": soft, "gridColor": line, "domainColor": line, "tickColor": line, "labelFontSize": 11,
            "titleFontSize": 11, "titleFontWeight": "normal",
        },
        "legend": {"labelColor": ink, "titleColor": soft, "labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal"},
        "text": {"color": ink, "fontSize": 11},
    }  # fmt: skip


def svg(chart: Chart, language: Language) -> str:
    """On white. The same chart gives the same text: letters are measured by a font that vl-convert brings along, but for Hangul."""
    spec = chart.specs[language]
    title = {**spec["title"], "subtitle": lines_of(chart.notes, language, WIDE)}
    width = max(WIDTHS.get(chart.kind, WIDTH), chart.least_px)
    return vl_convert.vegalite_to_svg(
        {**spec, "title": title, "width": width, "background": "#ffffff", "padding": 12},
        vl_version=VEGA_LITE,
        config={**config("light"), "background": "#ffffff"},
        allowed_base_urls=[],
    )


def png(text: str, language: Language) -> bytes | None:
    """A chart's SVG, twice as large. None where no font here has the language's letters: it would be full of empty boxes."""
    if not has_letters(language):
        return None
    if language == "ko":  # otherwise resvg uses the first family for Latin letters and an arbitrary font for the others
        text = text.replace(FONT, f"{HANGUL.removesuffix(', sans-serif')}, {LATIN}, sans-serif")
    return vl_convert.svg_to_png(text, scale=2.0)


@cache
def has_letters(language: Language) -> bool:
    """Whether two of its letters are drawn differently here. Without a font for them, every letter is the same empty box."""
    first, other = {"en": ("A", "B"), "ko": ("가", "힣")}[language]
    return _letter(first) != _letter(other)


def _letter(letter: str) -> bytes:
    text = f'<text x="4" y="30" font-size="24" font-family="{FONT}">{letter}</text>'
    return vl_convert.svg_to_png(f'<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40">{text}</svg>')


def bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed as one plain script that sets `window.vegaEmbed` and needs no network (about 0.9 MB)."""
    script = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=VEGA_LITE)
    return f"(()=>{{{script}}})();\n"
