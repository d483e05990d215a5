"""The tables about more users than a contender can serve, for table.md and the page. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nsb.analyse.failing import SideOver
from nsb.analyse.overload import LevelOver, Overloaded
from nsb.analyse.starts import Span
from nsb.registry.claims import Said
from nsb.registry.terms import OVERLOAD_PERCENT
from nsb.render import messages, words
from nsb.render.messages import text


@dataclass(frozen=True)
class Grid:
    scenario: str
    heads: list[Said]
    rows: list[list[str]]
    """The contender, then its figures with the mark of doubts."""


def grids(found: Sequence[Overloaded]) -> list[Grid]:
    """One for each scenario."""
    return [_grid(scenario, [each for each in found if each.scenario == scenario]) for scenario in dict.fromkeys(e.scenario for e in found)]


def section(found: Sequence[Grid], name: str) -> list[str]:
    """The blocks of table.md, `name`d in the messages; none where there is no grid."""
    blocks = [f"## {text(f'heading.{name}', 'en')}\n", text(f"page.{name}_hint", "en") + "\n"] if found else []
    for grid in found:
        lines = [[grid.scenario, *(head.en for head in grid.heads)], ["---", *("---:" for _ in grid.heads)], *grid.rows]
        blocks.append("\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n")
    return blocks


def _grid(scenario: str, found: Sequence[Overloaded]) -> Grid:
    percents = sorted({level.percent for each in found for level in each.levels})
    asked = [percent for percent in percents if percent >= 100]
    tails = [*percents[max(0, len(percents) - len(asked) - 1) :][:1], OVERLOAD_PERCENT]
    heads = [
        messages.said("head.rounds"),
        messages.said("head.overload_capacity"),
        *(messages.said("head.overload_goodput", percent=percent) for percent in asked),
        *(messages.said("head.overload_p99", percent=percent) for percent in tails),
        messages.said("head.overload_back", percent=OVERLOAD_PERCENT),
        *(messages.said("head.overload_memory", percent=percent) for percent in (percents[0], percents[-1])),
        messages.said("head.overload_broke"),
        messages.said("head.overload_lag"),
    ]
    return Grid(scenario, heads, [_row(each, asked, tails, [percents[0], percents[-1]]) for each in found])


def _row(each: Overloaded, asked: Sequence[int], tails: Sequence[int], ends: Sequence[int]) -> list[str]:
    def at(percent: int) -> LevelOver:
        nothing = LevelOver(percent=percent, late=0, goodput=None, p99_ms=None, lag_ms=0.0, memory_mib=None, back_ms=None, not_back=0)
        return each.at(percent) or nothing

    spans: list[Span | None] = [each.capacity_rps, *(at(percent).goodput for percent in asked), *(at(percent).p99_ms for percent in tails)]
    figures = [
        *(words.span(figure, each.rounds) for figure in spans),
        back(at(OVERLOAD_PERCENT), each.limit_s, each.rounds),
        *(words.span(at(percent).memory_mib, each.rounds) for percent in ends),
    ]
    lag = max((level.lag_ms for level in each.levels), default=0.0)
    return [
        each.contender,
        str(each.rounds),
        *(words.marked(figure, each.doubtful) for figure in figures),
        _broke(each),
        words.number(lag),
    ]


def _broke(each: Overloaded) -> str:
    """`6 (120–200 %)`: rounds, and the levels that the service did not live through, which runs before 2026-11-28 do not know."""
    percents = [level.percent for level in each.levels if level.broke]
    if not each.broke or not percents:
        return str(each.broke or "–")
    return f"{each.broke} ({'–'.join(str(percent) for percent in dict.fromkeys([percents[0], percents[-1]]))} %)"


def back(level: LevelOver | SideOver, limit_s: float, rounds: int) -> str:
    """`12.0 (8.00–31.0)`, or `>10,000 (2)` where it took longer in two rounds."""
    return f">{words.number(1000 * limit_s)} ({level.not_back})" if level.not_back else words.span(level.back_ms, rounds)
