"""The cards of report.html: the evidence for each verdict, in reading order. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from nsb.registry.claims import (
    CapRule,
    Comparison,
    FigureRule,
    Judged,
    JudgedClaim,
    LimitRule,
    MarginRule,
    PointsRule,
    RatioRule,
    Row,
    Rule,
    Said,
    SlopeRule,
)
from nsb.registry.terms import METRIC_UNITS
from nsb.render import messages
from nsb.render.claims import deciding
from nsb.render.messages import LANGUAGES
from nsb.render.words import plain


@dataclass(frozen=True)
class Ours:
    """One line of what the run has to say on a claim: a comparison, else a contender's figure, else the part's question and result."""

    part: Judged
    comparison: Comparison | None = None
    row: Row | None = None


def ours(claim: JudgedClaim) -> list[Ours]:
    """Of the parts that decide, and of another method that disagrees."""
    return [line for part in deciding(claim) for line in _lines(part)]


def _lines(part: Judged) -> list[Ours]:
    compared = [Ours(part, comparison=each) for each in part.comparisons if each.value is not None]
    if compared:
        return compared
    rows = [Ours(part, row=row) for row in part.rows if row.value is not None or row.limits]
    return rows or ([] if part.missing or part.verdict == "NOT_MEASURED" else [Ours(part)])


def against(part: Judged, found: Comparison) -> str:
    """`a ÷ b`, `a − b`, `a ÷ 200` if a figure is compared with a value, or `a` for the figure itself."""
    sign = "÷" if found.unit == "ratio" else "−"
    if found.other is not None:
        return f"{found.contender} {sign} {found.other}"
    value = part.rule.value if isinstance(part.rule, FigureRule) else part.computed
    return f"{found.contender} ÷ {plain(value)}" if found.unit == "ratio" and value is not None else found.contender


def distinct_rows(claim: JudgedClaim) -> list[tuple[Said, list[Row]]]:
    """The rows of all parts, grouped by figure, each once."""
    groups: dict[Said, dict[str, Row]] = {}
    for part in claim.parts:
        if part.rows:
            groups.setdefault(of_part(part), {}).update({row.contender: row for row in part.rows})
    return [(title, list(rows.values())) for title, rows in groups.items()]


def of_part(part: Judged) -> Said:
    """What its rows are figures of: scenario and unit."""
    unit = row_unit(part.rule)
    shown = [[getattr(part.rule, "scenario", ""), messages.unit(unit, language) if unit else ""] for language in LANGUAGES]
    en, ko = (" · ".join(word for word in words if word) or "–" for words in shown)
    return Said(en=en, ko=ko)


def row_unit(rule: Rule) -> str:
    """In what a part's rows are: those of words are about the throughput that was held back; empty where there are no rows."""
    if isinstance(rule, RatioRule | MarginRule | FigureRule | PointsRule):
        return METRIC_UNITS[rule.metric]
    if isinstance(rule, CapRule | LimitRule):
        return METRIC_UNITS["throughput"]
    return METRIC_UNITS["memory"] if isinstance(rule, SlopeRule) else ""
