"""The part of table.md about silent connections. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from nsb.analyse.idle import Idle, Slopes
from nsb.registry.terms import grouped
from nsb.render import words
from nsb.render.messages import text


def section(found: Sequence[Idle]) -> list[str]:
    """The blocks of the page; none for a run that held no connections."""
    return [f"## {text('heading.idle', 'en')}\n", text("page.idle_hint", "en") + "\n", *_grids(found)] if found else []


def slopes(found: Slopes | None) -> str:
    """`108 (104–112)`, or `≤3.2` if the memory grew too little for a value; `–` if nothing was read."""
    if found is None:
        return "–"
    return (
        f"≤{words.number(found.value)}"
        if found.bound
        else f"{words.number(found.value)} ({words.number(found.low)}–{words.number(found.high)})"
    )


def columns(each: Idle) -> list[str]:
    """In the order of HEADS; the figures with the mark of doubts."""
    figures = [
        slopes(each.process), slopes(each.kernel), words.span(each.cpu_none), words.span(each.cpu_most), words.span(each.p50_ms),
        words.span(each.p50_none_ms), words.span(each.p50_most_ms),
    ]  # fmt: skip
    return [str(each.rounds), f"{each.most:,}", *(words.marked(figure, each.doubtful) for figure in figures)]


HEADS = (
    "rounds",
    "idle_most",
    "idle_process",
    "idle_kernel",
    "idle_cpu_none",
    "idle_cpu_most",
    "idle_p50",
    "idle_p50_none",
    "idle_p50_most",
)
"""Of the columns after the contender's: keys `head.…` of the messages."""


def _grids(found: Sequence[Idle]) -> list[str]:
    heads = [text(f"head.{head}", "en") for head in HEADS]
    by_scenario = grouped(found, lambda each: each.scenario)
    return [words.grid(heads, ([each.contender, *columns(each)] for each in of), scenario) for scenario, of in by_scenario.items()]
