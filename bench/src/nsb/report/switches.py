"""The part of table.md on context switches: a row for each scenario, a column for each contender. Pure."""

from __future__ import annotations

from nsb.analysis.table import Switched, Table
from nsb.report import words
from nsb.report.messages import text


def section(table: Table) -> list[str]:
    """The blocks of the page; none for a run that counted none."""
    if not table.switched:
        return []
    lines = [
        "| | " + " | ".join(table.contenders) + " |",
        "|---|" + "---:|" * len(table.contenders),
        *(f"| {scenario} | {' | '.join(cells)} |" for scenario, cells in rows(table)),
    ]
    return [f"## {text('heading.switches', 'en')}\n", text("page.switches_hint", "en") + "\n", "\n".join(lines) + "\n"]


def rows(table: Table) -> list[tuple[str, list[str]]]:
    """Scenario and, for each contender of the table, `5.51? (5.20–5.83)` with the mark of doubts, or `–` where nothing can be told."""
    told = {(each.scenario, each.contender): each for each in table.switched}
    shown = [scenario for scenario in table.scenarios if any((scenario, contender) in told for contender in table.contenders)]
    return [(scenario, [_cell(told.get((scenario, contender))) for contender in table.contenders]) for scenario in shown]


def _cell(found: Switched | None) -> str:
    return words.marked(words.span(found.a_request), found.doubtful) if found else words.span(None)
