"""The parts of table.md with thread counters of the OS and the JVM: a row for each scenario, a column for each contender. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from nsb.analyse.table import Table
from nsb.render import words
from nsb.render.messages import text


def section(table: Table) -> list[str]:
    """The blocks of the page; none for a run that counted none."""
    return [*_block("switches", rows(table), table), *_block("pinnings", pinned(table), table)]


def _block(name: str, found: list[tuple[str, list[str]]], table: Table) -> list[str]:
    if not found:
        return []
    grid = words.grid(table.contenders, ([scenario, *cells] for scenario, cells in found))
    return [f"## {text(f'heading.{name}', 'en')}\n", text(f"page.{name}_hint", "en") + "\n", grid]


def rows(table: Table) -> list[tuple[str, list[str]]]:
    """Scenario and, for each contender of the table, `5.51? (5.20–5.83)` with the mark of doubts, or `–` without a value."""
    found = {(each.scenario, each.contender): words.marked(words.span(each.a_request), each.doubtful) for each in table.switched}
    return _rows(table, found)


def pinned(table: Table) -> list[tuple[str, list[str]]]:
    """The same of pinning events: `43 (42–43)`, or `–` where the runtime was not asked."""
    events = {(each.scenario, each.contender): each.events for each in table.pinned}
    return _rows(table, {key: f"{of.value:g} ({of.low:g}–{of.high:g})" for key, of in events.items()})


def _rows(table: Table, told: Mapping[tuple[str, str], str]) -> list[tuple[str, list[str]]]:
    """The scenarios with a value for at least one contender."""
    shown = [scenario for scenario in table.scenarios if any((scenario, contender) in told for contender in table.contenders)]
    return [(scenario, [told.get((scenario, contender), words.span(None)) for contender in table.contenders]) for scenario in shown]
