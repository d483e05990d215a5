"""The one table of report.html, and the sizes of code beside it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from nsb.analyse import digest
from nsb.analyse.digest import Mark
from nsb.analyse.table import Entry, Table, lacking
from nsb.records.sources import Code, Size
from nsb.registry.claims import Criterion, Dominance
from nsb.registry.terms import MORE_IS_BETTER, Headline
from nsb.render import html_strips, messages, words
from nsb.render.html_strips import Strip
from nsb.render.html_words import both, text


@dataclass(frozen=True)
class Column:
    """One cell of the table. `order` sorts: less is better; None last."""

    entry: Entry
    order: float | None
    mark: Mark
    strip: Strip | None


@dataclass(frozen=True)
class Line:
    """A row of the table: a scenario."""

    scenario: str
    unit: Markup
    columns: list[Column]


def rows(table: Table, dominance: Dominance) -> list[Line]:
    return [_line(table, scenario, dominance) for scenario in table.scenarios]


def _line(table: Table, scenario: str, dominance: Dominance) -> Line:
    headline, entries = table.headlines[scenario], table.row(scenario)
    more = headline in MORE_IS_BETTER
    found, scale = _marks(entries, dominance, scenario, headline, more), html_strips.of_row(entries)
    columns = [
        Column(each, _order(each, more), found.get(each.contender, "unknown"), html_strips.of_entry(each, scale)) for each in entries
    ]
    return Line(scenario, both(messages.in_each(lambda language: words.unit(table, scenario, language))), columns)


def _marks(entries: Sequence[Entry], dominance: Dominance, scenario: str, headline: Headline, more: bool) -> dict[str, Mark]:
    """Marks by the rule of the digest. A bound cannot lead: nobody knows how good it is."""
    criterion = next((each for each in dominance.criteria if (each.scenario, each.metric) == (scenario, headline)), None)
    known = {each.contender: order for each in entries if (order := _order(each, more)) is not None}
    valued = [each.contender for each in entries if each.contender in known and each.status == "valid"]
    return digest.marks(dominance, criterion, min(valued, key=lambda name: known[name], default=None), list(known))


def marks_of(dominance: Dominance, criterion: Criterion) -> dict[str, Mark]:
    """The marks of a criterion; what was not sustained leads nothing."""
    sign = 1 if criterion.better == "less" else -1
    known = {name: sign * value for name, value in criterion.values.items() if value is not None}
    leader = min((name for name in known if name not in criterion.unsustained), key=lambda name: known[name], default=None)
    return digest.marks(dominance, criterion, leader, list(known))


def _order(entry: Entry, more: bool) -> float | None:
    """Ascending is better. Contenders that did not sustain the rate come after all that did, the nearest to the rate first."""
    if entry.figure is None:
        return None
    if words.unsustained(entry):
        return 1e12 - entry.figure.value
    return -entry.figure.value if more else entry.figure.value


def figure(entry: Entry) -> Markup:
    """As in table.md; without a figure, a word in the reader's language."""
    if entry.figure is not None:
        return escape(words.figure(entry))
    return text(f"status.{lacking(entry)}")


def legend(table: Table) -> list[Markup]:
    """The meaning of the marks, including those that only the page has."""
    lines = [both(en, ko) for en, ko in zip(words.legend(table, "en"), words.legend(table, "ko"), strict=True)]
    return [*lines, text("page.legend_best"), text("page.legend_strip")]


@dataclass(frozen=True)
class Sized:
    """A contender with the size of its service, and what its requests cost in CPU, by scenario."""

    contender: str
    service: str
    size: Size
    costs: list[Entry]


def sizes(table: Table, code: Code) -> list[Sized]:
    costly = [scenario for scenario in table.scenarios if table.headlines[scenario] == "cpu"]
    return [
        Sized(contender, code.contenders[contender], size, [table.entry(contender, scenario) for scenario in costly])
        for contender in table.contenders
        if (size := code.size(contender)) is not None
    ]
