"""Start-up and warm-up of each contender, from the lines of starts.jsonl. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from typing import Literal

from nsb.analyse.stats import estimate, nearly_all, plain_mean
from nsb.records.starts import Start, brought
from nsb.registry.terms import Frozen

INTERVAL_FROM = 5
"""From this many starts on an interval is shown, below the range."""


def warm_after_s(start: Start) -> float | None:
    """Seconds of load until the end of the last visit that made a request cheaper, 0 where none did; None where that is not known."""
    if start.rising or not start.visits:
        return None
    series: dict[tuple[str | None, int], list[float]] = {}
    after_s = 0.0
    for visit in start.visits:
        costs = series.setdefault((visit.scenario, visit.connections), [])
        costs.append(visit.cost_us)
        if brought(costs):
            after_s = visit.ended_s - start.visits[0].began_s
    return round(after_s, 3)


# --- over all starts -----------------------------------------------------------------------------------------------------


class Span(Frozen):
    """A quantity over several starts or rounds: median with the range, or a mean with its 95 % t interval."""

    value: float
    low: float
    high: float
    starts: int
    spread: Literal["range", "interval"]


def span(values: Sequence[float], share: bool = False, of: int = 0) -> Span | None:
    """None below two values, and where not nearly all of so many rounds have one. The mean is geometric, of shares arithmetic."""
    if len(values) < 2 or not nearly_all(len(values), of):
        return None
    if len(values) >= INTERVAL_FROM and (share or min(values) > 0):
        found = plain_mean(values) if share else estimate(values)
        assert found.low is not None
        assert found.high is not None
        return Span(value=found.value, low=found.low, high=found.high, starts=found.n, spread="interval")
    return Span(value=statistics.median(values), low=min(values), high=max(values), starts=len(values), spread="range")


class Startup(Frozen):
    """The starts of one contender."""

    contender: str
    starts: int
    failed: int
    ready_s: Span | None
    pool_s: Span | None
    cpu_s: Span | None
    pss_mib: Span | None
    warm_after_s: Span | None
    """None where one of the starts was not warm in time: a median of the others would flatter."""
    notes: list[str]


def summed(starts: Sequence[Start], contenders: Sequence[str]) -> list[Startup]:
    """One entry for each contender that was started."""
    return [_startup(name, own) for name in contenders if (own := [start for start in starts if start.contender == name])]


def _startup(contender: str, starts: Sequence[Start]) -> Startup:
    ready = [start for start in starts if start.ready_s is not None]
    warmed = [start for start in starts if start.visits and start.ladder is None]
    rising = sum(start.rising for start in warmed)
    unopened = sum(start.pool_s is None for start in ready if start.failure is None)
    failures = [start.failure for start in starts if start.failure is not None]
    notes = [f"{failures.count(why)} of {len(starts)} starts failed: {why}" for why in dict.fromkeys(failures)]
    if unopened:
        notes.append(f"the pool was not open in time in {unopened} of {len(ready)} starts")
    if rising:
        notes.append(f"not warm within the warm-up in {rising} of {len(warmed)} starts")
    return Startup(
        contender=contender,
        starts=len(starts),
        failed=len(failures),
        ready_s=span(_known([start.ready_s for start in ready])),
        pool_s=span(_known([start.pool_s for start in ready])) if not unopened else None,
        cpu_s=span(_known([start.cpu_s for start in ready])),
        pss_mib=span(_known([start.pss_mib for start in ready])),
        warm_after_s=span(_known([warm_after_s(start) for start in warmed])) if not rising else None,
        notes=notes,
    )


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]
