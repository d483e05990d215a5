"""The parts of table.md on what the OS and the JVM count of threads: a row for each scenario, a column for each contender. Pure."""

from __future__ import annotations

from nsb.analysis.table import Pinned, Switched, Table
from nsb.report import words
from nsb.report.messages import text


def section(table: Table) -> list[str]:
    """The blocks of the page; none for a run that counted none."""
    return [*_block("switches", rows(table), table), *_block("pinnings", pinned(table), table)]


def _block(name: str, found: list[tuple[str, list[str]]], table: Table) -> list[str]:
    if not found:
        return []
    lines = [
        "| | " + " | ".join(table.contenders) + " |",
        "|---|" + "---:|" * len(table.contenders),
        *(f"| {scenario} | {' | '.join(cells)} |" for scenario, cells in found),
    ]
    return [f"## {text(f'heading.{name}', 'en')}\n", text(f"page.{name}_hint", "en") + "\n", "\n".join(lines) + "\n"]


def rows(table: Table) -> list[tuple[str, list[str]]]:
    """Scenario and, for each contender of the table, `5.51? (5.20–5.83)` with the mark of doubts, or `–` where nothing can be told."""
    told = {(each.scenario, each.contender): each for each in table.switched}
    shown = [scenario for scenario in table.scenarios if any((scenario, contender) in told for contender in table.contenders)]
    return [(scenario, [_cell(told.get((scenario, contender))) for contender in table.contenders]) for scenario in shown]


def pinned(table: Table) -> list[tuple[str, list[str]]]:
    """The same of pinning events: `43 (42–43)`, or `–` where the runtime was not asked."""
    told = {(each.scenario, each.contender): each for each in table.pinned}
    shown = [scenario for scenario in table.scenarios if any((scenario, contender) in told for contender in table.contenders)]
    return [(scenario, [_events(told.get((scenario, contender))) for contender in table.contenders]) for scenario in shown]


def _cell(found: Switched | None) -> str:
    return words.marked(words.span(found.a_request), found.doubtful) if found else words.span(None)


def _events(found: Pinned | None) -> str:
    return f"{found.events.value:g} ({found.events.low:g}–{found.events.high:g})" if found else words.span(None)
