"""The picture of the READMEs: sorted bars of a few rows of the digest, as SVG, for a light and a dark page. Pure.

Text stays text, in the reader's own font, so the file is small and a change of a figure is a change of a line.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from markupsafe import escape

from nsb.analyse.digest import Digest, Place, Row
from nsb.render import digest as words
from nsb.render.messages import Language, text

Theme = Literal["light", "dark"]
THEMES: tuple[Theme, ...] = ("light", "dark")
PANELS = 3
PANEL, GAP, NAME, LABEL = 300, 30, 96, 64
"""Widths (px): a panel, the space between two, the names and the figures in it."""
TOP, STEP, BAR = 62, 24, 13


class _Colours(NamedTuple):
    ink: str
    soft: str
    bar: str
    fails: str


COLOURS: dict[Theme, _Colours] = {
    "light": _Colours("#1f2328", "#59636e", "#3b76a8", "#c62828"),
    "dark": _Colours("#e6edf3", "#9198a1", "#6cb2eb", "#ff7b72"),
}


def rows(found: Digest) -> list[Row]:
    """Those that digest.toml has a picture of, then the others, in their order; without rows in which nobody differs."""
    telling = [row for row in found.rows if not row.alike]
    return sorted(telling, key=lambda row: not row.chosen.picture)[:PANELS]


def ranked(row: Row) -> list[Place]:
    """Those that do not fail first, the best first; then those that have no figure."""
    sign = 1 if row.better == "less" else -1
    return sorted(row.places, key=lambda place: (place.value is None, place.fails, sign * (place.value or 0.0)))


def alt(found: Digest, language: Language) -> str:
    """The same in words: each panel with its contenders in the order of the bars."""
    panels = []
    for row in rows(found):
        told = [f"{place.contender} {words.value(row, place, language)}" for place in ranked(row) if not place.fails]
        failing = [f"{place.contender} {words.value(row, place, language)}" for place in ranked(row) if place.fails]
        shown = ", ".join(told) + (text("picture.fails", language, names=", ".join(failing)) if failing else "")
        panels.append(f"{words.title(row, language)} ({words.unit(row, language)}): {shown}.")
    return " ".join([text("picture.alt", language), *panels])


def svg(found: Digest, language: Language, theme: Theme) -> str:
    colours, shown = COLOURS[theme], rows(found)
    width = len(shown) * PANEL + (len(shown) - 1) * GAP
    height = TOP + STEP * len(found.contenders) + 30
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-labelledby="t" '
        "font-family=\"system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'Noto Sans KR', sans-serif\" font-size=\"13\">",
        f'<title id="t">{escape(alt(found, language))}</title>',
    ]
    for number, row in enumerate(shown):
        parts += [f'<g transform="translate({number * (PANEL + GAP)} 0)">', *_panel(row, language, colours), "</g>"]
    doubts = any(place.doubtful for row in shown for place in row.places)
    key = " ".join([text("picture.key", language), *([text("picture.doubt", language)] if doubts else [])])
    parts += [f'<text x="0" y="{height - 6}" font-size="12" fill="{colours.soft}">{escape(key)}</text>', "</svg>"]
    return "\n".join(parts) + "\n"


def _panel(row: Row, language: Language, colours: _Colours) -> list[str]:
    room = PANEL - NAME - LABEL
    greatest = max((place.high or place.value or 0.0) for place in row.places) or 1.0
    below = f"{words.unit(row, language)}, {text(f'better.{row.better}', language)}"
    parts = [
        f'<text x="0" y="18" font-size="16" font-weight="600" fill="{colours.ink}">{escape(words.title(row, language))}</text>',
        f'<text x="0" y="38" fill="{colours.soft}">{escape(below)}</text>',
    ]
    for number, place in enumerate(ranked(row)):
        middle = TOP + number * STEP
        colour = colours.fails if place.fails else colours.bar
        name, figure = escape(place.contender), escape(words.value(row, place, language))
        parts.append(f'<text x="{NAME - 8}" y="{middle + 4}" text-anchor="end" fill="{colours.ink}">{name}</text>')
        length = room * (place.value or 0.0) / greatest
        end = NAME + length
        if place.value is not None:
            parts.append(
                f'<rect x="{NAME}" y="{middle - BAR / 2:g}" width="{max(1.0, length):.1f}" height="{BAR}" rx="2" fill="{colour}"/>'
            )
        if place.low is not None and place.high is not None:
            low, high = (NAME + room * each / greatest for each in (place.low, place.high))
            parts.append(f'<path d="M{low:.1f} {middle}H{high:.1f}" stroke="{colours.ink}" stroke-width="1.5"/>')
            end = max(end, high)
        sign = "✗ " if place.fails else ""
        weight = ' font-weight="600"' if place.mark == "best" or place.fails else ""
        fill = colours.fails if place.fails else colours.ink
        parts.append(f'<text x="{end + 6:.1f}" y="{middle + 4}"{weight} fill="{fill}">{sign}{figure}</text>')
    return parts


def markup(found: Digest, language: Language, folder: str) -> str:
    """For Markdown: the picture that fits the reader's theme, with its words."""
    return "\n".join(
        [
            "<picture>",
            f'<source media="(prefers-color-scheme: dark)" srcset="{folder}/{name(language, "dark")}">',
            f'<img alt="{escape(alt(found, language))}" src="{folder}/{name(language, "light")}">',
            "</picture>",
            "",
        ]
    )


def name(language: Language, theme: Theme) -> str:
    return f"picture.{language}.{theme}.svg"
