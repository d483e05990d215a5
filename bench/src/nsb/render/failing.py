"""The tables about what users get while something fails, for table.md and the page. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from nsb.analyse.failing import Failed
from nsb.render import messages, words
from nsb.render.overload import Grid, back

HEADS = (
    "head.rounds",
    "head.failing_others",
    "head.failing_p99",
    "head.failing_needing",
    "head.failing_kinds",
    "head.failing_back",
    "head.failing_memory",
)


def grids(found: Sequence[Failed]) -> list[Grid]:
    """One for each scenario."""
    return [
        Grid(scenario, [messages.said(head) for head in HEADS], [_row(each) for each in found if each.scenario == scenario])
        for scenario in dict.fromkeys(each.scenario for each in found)
    ]


def _row(each: Failed) -> list[str]:
    figures = [words.span(figure, each.rounds) for figure in (each.others.served, each.others.p99_ms, each.needing.served)]
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in each.needing.kinds.items()) or "–"
    last = [back(each.needing, each.limit_s, each.rounds), words.span(each.memory_mib)]
    marked = [words.marked(figure, each.doubtful) for figure in figures]
    return [each.contender, str(each.rounds), *marked, kinds, *(words.marked(figure, each.doubtful) for figure in last)]
