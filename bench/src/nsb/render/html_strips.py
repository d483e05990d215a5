"""Intervals as strips of report.html: places on a line, in percent of its width. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from nsb.analyse.judge import MARGINS
from nsb.analyse.table import Entry
from nsb.registry.claims import Comparison, FigureRule, Judged, Rule
from nsb.render.words import unsustained

LEAST_FACTOR = 2.0
"""A strip of ratios spans at least this factor, so that a difference of one percent does not look like one of 50 percent."""
LEAST_SHARE = 0.01
"""One of ms or KiB, this share of its greatest value."""


@dataclass(frozen=True)
class Strip:
    """`zone`: where a claim puts the value; `gate`: what the twin alone showed."""

    value: float
    low: float
    high: float
    zone: tuple[float, float] | None = None
    gate: tuple[float, float] | None = None


@dataclass(frozen=True)
class Scale:
    """From the least to the greatest, in logarithms where all are above zero and ratios matter."""

    least: float
    greatest: float
    log: bool

    @classmethod
    def over(cls, values: Iterable[float], log: bool) -> Scale:
        known = list(values)
        log = log and min(known) > 0
        least, greatest = min(known), max(known)
        at_least = LEAST_SHARE * abs(greatest) or 1.0
        if log:
            least, greatest, at_least = math.log(least), math.log(greatest), math.log(LEAST_FACTOR)
        width, middle = max(greatest - least, at_least), (least + greatest) / 2
        return cls(middle - 0.55 * width, middle + 0.55 * width, log)

    def at(self, value: float) -> float:
        seen = math.log(value) if self.log else value
        return round(100 * (seen - self.least) / (self.greatest - self.least), 2)


def of_comparison(part: Judged, found: Comparison) -> Strip | None:
    """A comparison beside what the claim says of it."""
    if found.value is None or found.low is None or found.high is None:
        return None
    least, greatest = zone(part.rule, found)
    ends = [found.value, found.low, found.high, found.gate_low, found.gate_high, least, greatest]
    scale = Scale.over([end for end in ends if end is not None], found.unit == "ratio")
    gate = None if found.gate_low is None or found.gate_high is None else (scale.at(found.gate_low), scale.at(found.gate_high))
    return Strip(
        value=scale.at(found.value),
        low=scale.at(found.low),
        high=scale.at(found.high),
        zone=(0.0 if least is None else scale.at(least), 100.0 if greatest is None else scale.at(greatest)),
        gate=gate,
    )


def zone(rule: Rule, found: Comparison) -> tuple[float | None, float | None]:
    """The range in which the claim puts the value of a comparison, in its unit; None: open on that side."""
    border = found.border
    if border is None:
        return None, None
    if rule.rule.endswith(("at_least", "greater")):
        return border, None
    if rule.rule.endswith("at_most"):
        return None, border
    margin: float | None = getattr(rule, "margin", None)
    if found.unit == "ratio":
        factor = 1 + (MARGINS["ratio"] if margin is None else margin)
        return border / factor, border * factor
    away = MARGINS[found.unit] if margin is None else margin * border if isinstance(rule, FigureRule) else margin
    return border - away, border + away


def of_row(entries: Iterable[Entry]) -> Scale | None:
    """The scale of a row of the table, over figures of one kind: a rate that was not sustained is another kind."""
    figures = [each.figure for each in entries if each.figure is not None and not unsustained(each)]
    ends = [end for figure in figures for end in (figure.value, figure.low, figure.high) if end is not None]
    return Scale.over(ends, log=True) if ends else None


def of_entry(entry: Entry, scale: Scale | None) -> Strip | None:
    """A figure of the table on the scale of its row."""
    figure = entry.figure
    if scale is None or figure is None or figure.low is None or figure.high is None or unsustained(entry):
        return None
    return Strip(scale.at(figure.value), scale.at(figure.low), scale.at(figure.high))
