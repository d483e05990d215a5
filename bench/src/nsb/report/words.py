"""How figures are written in every report: one place for digits, marks and the legend. Pure."""

from __future__ import annotations

from nsb.analysis.table import UNITS, Entry, Table


def number(value: float) -> str:
    """Three significant digits, no exponent."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def figure(entry: Entry) -> str:
    """`52.1`, `≥13,200` for a lower bound, `98.0/s†` where the rate could not be sustained, `?` appended for a doubt."""
    if entry.figure is None:
        return entry.status
    text = number(entry.figure.value)
    if entry.status == "censored":
        text = f"≥{text}" if entry.model == "closed" else f"{text}/s†"
    return text + ("?" if entry.doubts else "")


def spread(entry: Entry) -> str:
    """`±4.0%`, and how many rounds stand behind it where they are fewer than were measured."""
    if entry.figure is None or entry.figure.half_width is None:
        return ""
    if entry.figure.rounds < entry.rounds_measured:
        return f"{_width(entry)} {entry.figure.rounds}/{entry.rounds_measured}"
    return _width(entry)


def _width(entry: Entry) -> str:
    assert entry.figure is not None
    assert entry.figure.half_width is not None
    width = entry.figure.half_width
    return f"±{width:.0%}" if width >= 0.095 else f"±{width:.1%}"


def limit(entry: Entry) -> str:
    return entry.limit or ("–" if entry.figure else "")


def row_title(table: Table, scenario: str) -> str:
    return UNITS[table.headlines[scenario]]


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
        "? a doubt, listed in table.md and table.json. 3/4: three of four rounds count (one round alone: the spread of its halves).",
        *(f"Left out: {name}: {why}" for name, why in table.left_out.items()),
    ]  # fmt: skip


def doubts(table: Table) -> list[str]:
    """Every reason and doubt in one line per cell, in the table's order."""
    lines = []
    for entry in table.entries:
        said = [*entry.reasons, *entry.doubts]
        if said:
            lines.append(f"{entry.scenario} · {entry.contender}: {'; '.join(said)}")
    return lines
