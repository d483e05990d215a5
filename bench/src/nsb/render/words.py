"""How figures are written in every report: one place for digits, marks and the legend. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nsb.analyse.starts import Span
from nsb.analyse.table import Entry, Table, lacking
from nsb.registry.claims import Comparison
from nsb.registry.terms import METRIC_UNITS, SHARES, grouped
from nsb.render import messages
from nsb.render.messages import Language, text

CLOCK_MS = 1.0
"""k6 timestamps resolve 1 ms, so no interval of latency from the schedule is narrower."""


def number(value: float) -> str:
    """Three significant digits, two below 0.1, but never more than four decimals; no exponent."""
    if value >= 100:
        return f"{value:,.0f}"
    if 0.00005 <= value < 0.1:
        return f"{value:.{min(4, 1 - math.floor(math.log10(value)))}f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def plain(value: float) -> str:
    """As given, not rounded: `0.83`, `124,011`."""
    return f"{value:,.6g}"


def bound_sign(found: Comparison) -> str:
    """`≥` and `≤` before a ratio of which one side is a lower bound."""
    return {None: "", "at_least": "≥", "at_most": "≤"}[found.bound]


def signed(value: float | None) -> str:
    """The same with a minus sign, since a slope of memory may be negative; `–` without a value."""
    if value is None:
        return "–"
    said = number(abs(value))
    return f"−{said}" if value < 0 and said != "0.00" else said


def of_width(value: float, low: float, high: float, border: float | None = None) -> tuple[str, str, str]:
    """A value and its interval with one number of decimals: enough to see the width (three at the most), and to tell each end from a border
    that it is not."""
    width = high - low
    usual = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    decimals = min(3, max(usual, 1 - math.floor(math.log10(width)))) if width > 0 else usual
    others = [] if border is None else [each for each in (low, high) if each != border]
    while decimals < 6 and any(f"{each:.{decimals}f}" == f"{border:.{decimals}f}" for each in others):
        decimals += 1
    shown = [f"{each:,.{decimals}f}".replace("-", "−") for each in (value, low, high)]
    return shown[0], shown[1], shown[2]


def count(of: int, noun: str) -> str:
    """`1 round`, `6 rounds`."""
    return f"{of} {noun}{'' if of == 1 else 's'}"


def grid(heads: Sequence[str], rows: Iterable[Sequence[str]], corner: str = "", align: str = "---:") -> str:
    """A table in Markdown; a row's own head comes first in it."""
    head = " ".join(filter(None, ("|", corner, "|", " | ".join(heads), "|")))
    return "\n".join([head, "|---|" + f"{align}|" * len(heads), *(f"| {' | '.join(row)} |" for row in rows)]) + "\n"


def by_reason(whys: Mapping[str, str]) -> dict[str, list[str]]:
    """Reason → all that it is given for, from a reason for each."""
    return grouped(whys, whys.__getitem__)


def figure(entry: Entry) -> str:
    """`52.1`, `≥13,200` for a lower bound, `≤3.20` for an upper one, `98.0/s†` for a rate that was not sustained, `?` for a doubt."""
    if entry.status == "not asked":
        return ""
    if entry.figure is None:
        return lacking(entry)
    text = number(entry.figure.value)
    if entry.figure.bound:
        text = f"≤{text}"
    if entry.status == "censored":
        text = f"≥{text}" if entry.model == "closed" else f"{text}/s†"
    return text + ("?" if entry.doubtful else "")


def unsustained(entry: Entry) -> bool:
    """Whether its figure is the answers per second that were reached, because the rate was not sustained."""
    return entry.status == "censored" and entry.model == "open"


def spread(entry: Entry) -> str:
    """`±4.0%`, for latency `±1 ms`, for shares `±3.1 points`, and how many rounds count if not all do."""
    figure = entry.figure
    if figure is None or figure.bound or figure.low is None or figure.high is None:
        return ""
    width = _width(entry, figure.value, max(figure.high - figure.value, figure.value - figure.low))
    return f"{width} {figure.rounds}/{entry.rounds_measured}" if figure.rounds < entry.rounds_measured else width


def _width(entry: Entry, value: float, widest: float) -> str:
    if entry.scheduled:  # not finer than the resolution of the clock
        return f"±{max(CLOCK_MS, widest):.0f} ms"
    if entry.headline in SHARES:  # of percent, and of 0 nothing has a share
        return f"±{widest:.0f} points" if widest >= 9.5 else f"±{widest:.1f} points"
    share = widest / value
    return f"±{share:.0%}" if share >= 0.095 else f"±{share:.1%}"


def span(found: Span | None, rounds: int = 0) -> str:
    """`410 (357–431)`, and ` 9/10` where one of ten rounds has no value."""
    if found is None:
        return "–"
    lacking = f" {found.starts}/{rounds}" if found.starts < rounds else ""
    return f"{number(found.value)} ({number(found.low)}–{number(found.high)}){lacking}"


def marked(figure: str, doubtful: bool) -> str:
    """`410? (357–431)` where its rounds have doubts; `–` stays as it is."""
    value, _, spread = figure.partition(" ")
    return figure if not doubtful or figure == "–" else f"{value}? {spread}".strip()


def spans(found: Iterable[Span | None]) -> str:
    """The meaning of the brackets of those spans."""
    says = {
        "range": "the median and, in brackets, the least and the greatest",
        "interval": "from five values on the geometric mean and, in brackets, its 95 % t interval",
    }
    return "; ".join(says[spread] for spread in sorted({each.spread for each in found if each is not None}, reverse=True))


def limit(entry: Entry) -> str:
    return entry.limit or ("–" if entry.figure else "")


def unit(table: Table, scenario: str, language: Language = "en") -> str:
    """Of a scenario's headline."""
    return messages.unit(METRIC_UNITS[table.headlines[scenario]], language)


def legend(table: Table, language: Language = "en") -> list[str]:
    """The meaning of the marks that this table has, in whole sentences."""

    def said(key: str, **values: object) -> str:
        return text(f"legend.{key}", language, **values)

    run = said("run", profile=table.profile, tier=table.tier, rounds=messages.rounds(table.rounds, language))
    return [
        f"{run} {said('interval' if table.rounds > 1 else 'halves')}",
        said("limit"),
        " ".join(said(mark) for mark in ("bound", "unsustained", "doubt", "rounds")),
        *([said("lacking")] if any(e.figure is None and e.doubts for e in table.entries) else []),
        *([said("schedule")] if any(e.scheduled for e in table.entries) else []),
        *([said("full_core")] if any(e.headline == "cpu" and e.model == "closed" for e in table.entries) else []),
        *([said("cpu")] if any(e.headline == "cpu" and e.model == "open" for e in table.entries) else []),
        *([said("memory_collected" if table.collected else "memory")] if "memory" in table.headlines.values() else []),
        *(f"{text('heading.left_out', language)}: {contender}: {why}" for contender, why in table.left_out.items()),
    ]


def doubts(table: Table) -> list[str]:
    """Every reason and doubt in one line per cell, in the table's order."""
    lines = []
    for entry in table.entries:
        said = [*entry.reasons, *entry.doubts]
        if said:
            lines.append(f"{entry.scenario} · {entry.contender}: {'; '.join(said)}")
    return lines


def of_runner(text: str, run: Mapping[str, Any]) -> str:
    """Replaces PSS by cgroup for containers, whose memory is that of the control group."""
    return text.replace("(PSS)", "(cgroup)") if run.get("runner") == "compose" else text
