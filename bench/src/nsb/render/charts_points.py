"""What charts draw, as plain values: each figure with its spread, its bound, its rounds and its doubts. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from nsb.analyse.growth import GREW
from nsb.analyse.starts import Span
from nsb.analyse.table import Entry, Table, latest
from nsb.records.judged import Cell, Role
from nsb.registry.terms import Headline
from nsb.render import words
from nsb.render.words import CLOCK_MS

ROLES: tuple[Role, ...] = ("service", "generator", "database", "upstream")
PERCENTILES = ("p50", "p90", "p99")
Spread = Literal["interval", "halves", "range"]


# --- one figure of each contender --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Dot:
    """One line of a chart of intervals."""

    contender: str
    value: float | None
    """None if there is no figure in the unit of the chart; `says` is shown instead."""
    low: float | None
    high: float | None
    spread: Spread | None
    bound: Literal["lower", "upper"] | None
    """The true figure lies above, or below, `value`."""
    says: str
    """The figure as every report writes it."""
    width: str
    """Its spread in short, as every report writes it below; empty where a line alone shows it, or there is none."""
    counted: int
    measured: int
    """Rounds, or starts."""
    limit: str | None
    status: str
    doubts: list[str]


def dots(table: Table, scenario: str) -> tuple[Headline, list[Dot]]:
    """The headline that is drawn, and a line for each contender and generator.

    A contender that could not sustain an offered rate has answers per second instead of the headline. They are drawn if no contender
    has the headline.
    """
    planned = table.headlines[scenario]
    entries = table.row(scenario)
    drawn: Headline = planned if any(_comparable(entry, planned) for entry in entries) else "throughput"
    return drawn, [_dot(entry, drawn) for entry in entries if entry.status != "not asked"]


def best_first(dots: Sequence[Dot], less_is_better: bool) -> list[Dot]:
    """Sorted by value; those without a figure come last."""
    sign = 1 if less_is_better else -1
    return sorted(dots, key=lambda dot: (dot.value is None, sign * (dot.value or 0.0)))


def _comparable(entry: Entry, drawn: Headline) -> bool:
    return entry.figure is not None and entry.headline == drawn


def _dot(entry: Entry, drawn: Headline) -> Dot:
    figure = entry.figure if _comparable(entry, drawn) else None
    value, low, high = (figure.value, figure.low, figure.high) if figure else (None, None, None)
    if value is not None and entry.scheduled:  # not finer than the resolution of the clock
        low, high = min(value - CLOCK_MS, low or value), max(value + CLOCK_MS, high or value)
    return Dot(
        contender=entry.contender,
        value=value,
        low=low,
        high=high,
        spread=figure.spread if figure else None,
        bound=None if figure is None else bound_of(entry),
        says=words.figure(entry),
        width=words.spread(entry),
        counted=entry.figure.rounds if entry.figure else 0,
        measured=entry.rounds_measured,
        limit=entry.limit,
        status=entry.status,
        doubts=[*entry.reasons, *entry.doubts],
    )


def bound_of(entry: Entry) -> Literal["lower", "upper"] | None:
    if entry.figure is not None and entry.figure.bound:
        return "upper"
    return "lower" if entry.status == "censored" and entry.model == "closed" else None


def start_dots(table: Table, which: Callable[[Any], Span | None]) -> list[Dot]:
    """One quantity of the starts of each contender: those that have a spread."""
    lines = []
    for found in table.startups:
        span = which(found)
        if found.contender not in table.contenders or span is None:
            continue
        lines.append(
            Dot(
                contender=found.contender, value=span.value, low=span.low, high=span.high, spread=span.spread,
                bound=None, says=words.signed(span.value), width="", counted=span.starts, measured=found.starts, limit=None, status="valid",
                doubts=found.notes,
            )
        )  # fmt: skip
    return lines


# --- beside the best ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Beside:
    """A figure of the heat map. `times` is 1 for the best of its row; None where no ratio can be told."""

    dot: Dot
    times: float | None
    at_least: bool
    """A bound in the row could be better than the best that is known."""


def beside_best(dots: Sequence[Dot], less_is_better: bool) -> list[Beside]:
    """Each figure as a multiple of the best one: value ÷ best, or best ÷ value where more is better.

    A bound has no ratio. But it may be better than all figures: then the best is that of the bound at the least.
    """
    exact = [dot.value for dot in dots if dot.value is not None and dot.value > 0 and dot.bound is None]
    bounds = [dot.value for dot in dots if dot.value is not None and dot.value > 0 and dot.bound is not None]
    if len(exact) + len(bounds) < 2 or not exact:
        return [Beside(dot, None, False) for dot in dots]
    best = min(exact + bounds) if less_is_better else max(exact + bounds)

    def times(dot: Dot) -> float | None:
        if dot.value is None or dot.value <= 0 or dot.bound is not None:
            return None
        return dot.value / best if less_is_better else best / dot.value

    return [Beside(dot, times(dot), bool(bounds)) for dot in dots]


# --- over rounds -----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Over:
    """A figure over the rounds: median and range. Of one round there is no range, but where its halves are known theirs."""

    value: float
    low: float | None
    high: float | None
    rounds: int

    @property
    def spread(self) -> Spread | None:
        if self.low is None:
            return None
        return "range" if self.rounds > 1 else "halves"


def over(values: Sequence[float], halves: Sequence[float] = ()) -> Over | None:
    if not values:
        return None
    around = values if len(values) > 1 else [*values, *halves] if halves else []
    return Over(statistics.median(values), min(around, default=None), max(around, default=None), len(values))


def valid_cells(cells: Iterable[Cell], contender: str, scenario: str) -> list[Cell]:
    """The last attempt of each round, where it is valid."""
    own = latest(cell for cell in cells if cell.contender == contender and cell.scenario == scenario)
    return [cell for cell in own if cell.status == "valid"]


def percentiles(cells: Sequence[Cell]) -> dict[str, Over]:
    """p50, p90 and p99 of the rounds, those that are known (ms)."""
    halves = [half.p50_ms for half in cells[0].halves if half.p50_ms is not None] if cells else []
    found: dict[str, Over] = {}
    for name in PERCENTILES:
        values = [value for cell in cells if (value := getattr(cell.latency_ms, name)) is not None]
        if shown := over(values, halves if name == "p50" else ()):
            found[name] = shown
    return found


def costs(cells: Sequence[Cell]) -> dict[Role, Over]:
    """CPU per request of each role (µs)."""
    halves = [half.service_cpu_s / half.requests * 1e6 for half in cells[0].halves if half.requests] if cells else []
    found: dict[Role, Over] = {}
    for role in ROLES:
        values = [value for cell in cells if (value := cell.cpu_us_per_request.get(role)) is not None]
        if shown := over(values, halves if role == "service" else ()):
            found[role] = shown
    return found


@dataclass(frozen=True)
class Level:
    """One level of a ladder over the rounds. Memory in MiB; `growth` is counted from the lowest level of the same round."""

    users: int
    in_flight: float
    memory: Over
    growth: Over


def levels(cells: Sequence[Cell], server_threads: int | None) -> list[Level]:
    """The medians of each level by round, then over the rounds; growth is since the lowest level at which every round has a reading.

    As in the slope (growth.climb), a level counts where it has more in flight than those below it: a pool of threads lets no more in.
    """
    rounds = [_medians(cell, server_threads) for cell in cells if cell.ladder]
    common = sorted(set.intersection(*(set(each) for each in rounds))) if rounds else []
    found: list[Level] = []
    for users in common:
        in_flight = statistics.median(each[users][0] for each in rounds)
        if found and in_flight < GREW * found[-1].in_flight:
            continue
        memory = over([each[users][1] for each in rounds])
        growth = over([each[users][1] - each[common[0]][1] for each in rounds])
        assert memory is not None
        assert growth is not None
        found.append(Level(users, in_flight, memory, growth))
    return found


def _medians(cell: Cell, server_threads: int | None) -> dict[int, tuple[float, float]]:
    """Users of a level → medians of the requests in flight and of the memory. A service whose threads are all taken does not say how many
    are in flight: then it is all of them."""
    found = {}
    for users in {reading.users for reading in cell.ladder}:
        level = [reading for reading in cell.ladder if reading.users == users]
        told = [reading.in_flight for reading in level if reading.in_flight is not None]
        in_flight = statistics.median(told) if told else min(users, server_threads or users)
        found[users] = (float(in_flight), statistics.median(reading.pss_mib for reading in level))
    return found
