"""How figures are written in every report: one place for digits, marks and the legend. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from nsb.analysis.starts import Span
from nsb.analysis.table import UNITS, Entry, Second, Table
from nsb.model import SecondFigure

CLOCK_MS = 1.0
"""Latency from the schedule is told by k6's clock of whole milliseconds."""


def number(value: float) -> str:
    """Three significant digits, no exponent."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def count(of: int, noun: str) -> str:
    """`1 round`, `6 rounds`."""
    return f"{of} {noun}{'' if of == 1 else 's'}"


def figure(entry: Entry | Second) -> str:
    """`52.1`, `≥13,200` for a lower bound, `≤3.20` for an upper one, `98.0/s†` for a rate that was not sustained, `?` for a doubt."""
    if entry.figure is None:
        return "no figure" if entry.status in ("valid", "censored") else entry.status
    text = number(entry.figure.value)
    if entry.figure.bound:
        text = f"≤{text}"
    if entry.status == "censored":
        text = f"≥{text}" if entry.model == "closed" else f"{text}/s†"
    return text + ("?" if entry.doubtful else "")


def spread(entry: Entry | Second) -> str:
    """`±4.0%`, of latency `±1 ms`, and how many rounds stand behind it where they are fewer than were measured."""
    if entry.figure is None or entry.figure.bound or entry.figure.half_width is None:
        return ""
    if entry.figure.rounds < entry.rounds_measured:
        return f"{_width(entry)} {entry.figure.rounds}/{entry.rounds_measured}"
    return _width(entry)


def _width(entry: Entry | Second) -> str:
    assert entry.figure is not None
    assert entry.figure.half_width is not None
    if isinstance(entry, Entry) and entry.headline == "p50" and entry.model == "open":  # no finer than the clock that it is told by
        return f"±{max(CLOCK_MS, entry.figure.half_width * entry.figure.value):.0f} ms"
    width = entry.figure.half_width
    return f"±{width:.0%}" if width >= 0.095 else f"±{width:.1%}"


def span(found: Span | None) -> str:
    """`410 (357–431)`."""
    return "–" if found is None else f"{number(found.value)} ({number(found.low)}–{number(found.high)})"


def spans(found: Iterable[Span | None]) -> str:
    """What the brackets of those spans hold."""
    says = {
        "range": "the median and, in brackets, the least and the greatest",
        "interval": "from five values on the geometric mean and, in brackets, its 95 % t interval",
    }
    return "; ".join(says[spread] for spread in sorted({each.spread for each in found if each is not None}, reverse=True))


def limit(entry: Entry | Second) -> str:
    return entry.limit or ("–" if entry.figure else "")


def rows(table: Table, scenario: str) -> list[tuple[str, list[Entry | Second | None]]]:
    """A scenario's rows with their titles: one, or one for each generator, under its name, where a second one measured it too."""
    unit = UNITS[table.headlines[scenario]]
    entries: list[Entry | Second | None] = [table.entry(contender, scenario) for contender in table.contenders]
    seconds = table.seconds(scenario)
    if not seconds:
        return [(unit, entries)]
    title = f"{UNITS['throughput']} by {_generator(next(iter(seconds.values())))}"
    return [(f"{unit} by k6", entries), (title, [seconds.get(contender) for contender in table.contenders])]


def _generator(second: Second) -> str:
    """Its name without the version."""
    return second.tool.split(" ", 1)[0]


def again(second: SecondFigure) -> str:
    """One round's figure of the second generator, in a line."""
    value = f"{number(second.throughput_rps)} requests/s" if second.throughput_rps else "no number"
    return f"by {second.tool}: " + "; ".join([value, second.status, *([second.limit] if second.limit else []), *second.reasons])


def legend(table: Table) -> list[str]:
    """What the marks mean, in whole sentences."""
    measured = (
        "± is the 95 % t interval over the rounds"
        if table.rounds > 1
        else "One round: ± is the spread between the two halves of the window, not an interval; no verdict follows from it"
    )
    return [
        f"Profile {table.profile}, tier {table.tier}, {table.rounds} round{'s' if table.rounds > 1 else ''}. {measured}.",
        "The word below a figure is what held it back (cpu, threads, loop, pool, database, upstream, generator); "
        "none, or offered, is the load itself.",
        "≥ a lower bound (another program was the limit). † the contender could not sustain the rate: the answers per second it reached. "
        "? doubts in a third of its rounds or more; "
        "table.md and table.json list every doubt. 3/4: three of four rounds count (one round alone: the spread of its halves).",
        *(["Latency from the schedule is told by k6's clock of whole milliseconds: its ± is never finer."] if _scheduled(table) else []),
        *_legend_of_seconds(table),
        *_legend_of_memory(table),
        *(f"Left out: {contender}: {why}" for contender, why in table.left_out.items()),
    ]  # fmt: skip


def _scheduled(table: Table) -> bool:
    return any(entry.headline == "p50" and entry.model == "open" for entry in table.entries)


def _legend_of_memory(table: Table) -> list[str]:
    if "memory" not in table.headlines.values():
        return []
    return [
        f"{UNITS['memory']}: by how much memory grows with each request in flight and its connection. ≤ the upper end of "
        f"{'the interval' if table.rounds > 1 else 'the spread'} where its lower end is not above zero."
    ]


def _legend_of_seconds(table: Table) -> list[str]:
    """What a second generator is, and where it could not be had."""
    found = [second for scenario in table.scenarios for second in table.seconds(scenario).values()]
    lines = [
        f"By {name}: where k6 was the limit, the same load came once more from {tool}, which needs less CPU per request."
        for tool, name in {second.tool: _generator(second) for second in found}.items()
    ]
    without = {
        f"{entry.scenario} was not measured again with {entry.second.tool}: {'; '.join(entry.second.reasons)}": None
        for entry in table.entries
        if entry.second is not None and entry.second.status == "unsupported"
    }
    return [*lines, *without]


def doubts(table: Table) -> list[str]:
    """Every reason and doubt in one line per cell, in the table's order."""
    lines = []
    for entry in table.entries:
        said = [*entry.reasons, *entry.doubts]
        if said:
            lines.append(f"{entry.scenario} · {entry.contender}: {'; '.join(said)}")
        second = entry.second
        if second is not None and second.status != "unsupported" and (second.reasons or second.doubts):
            lines.append(f"{entry.scenario} · {entry.contender} by {_generator(second)}: {'; '.join([*second.reasons, *second.doubts])}")
    return lines
