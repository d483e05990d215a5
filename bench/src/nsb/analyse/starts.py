"""Start-up and warm-up of each contender, from the lines of starts.jsonl. Pure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from nsb.analyse.stats import estimate
from nsb.records.starts import Sample, Start
from nsb.registry.terms import Frozen

STRETCH_S = 3.0
"""CPU per request is judged over stretches of this length, one from each sample on: over 1 s it swings by a third on a busy machine (s)."""
WITHIN = 0.20
"""A stretch is warm where a request costs at most this share more than at the end; cold code costs ten to twenty times as much."""
LEAST_STRETCHES = 6
INTERVAL_FROM = 5
"""From this many starts on an interval is shown, below the range."""


# --- the warm-up of one start ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Warmth:
    """From when on a contender was warm, in seconds of load; or why that is not known."""

    after_s: float | None
    reason: str | None


def warmth(samples: Sequence[Sample], load_to_s: float) -> Warmth:
    """The first moment from which no stretch costs clearly more CPU per request than the median one of the last sixth of them.

    The steady part must begin before the last third of the requests does: what is compared with itself alone says nothing,
    and a cost that halves with every doubling of the requests is not steady.
    """
    stretches = stretches_of([sample for sample in samples if sample.at_s <= load_to_s])
    if len(stretches) < LEAST_STRETCHES:
        return Warmth(None, "too few samples")
    end = statistics.median(stretch.cost_s for stretch in stretches[-math.ceil(len(stretches) / 6) :])
    away = [number for number, stretch in enumerate(stretches) if not stretch.cost_s <= (1 + WITHIN) * end]
    steady = away[-1] + 1 if away else 0
    if steady == len(stretches) or stretches[steady].done > 2 / 3:
        return Warmth(None, "not within the warm-up")
    return Warmth(round(stretches[steady].at_s - stretches[0].at_s, 3), None)


class Stretch(NamedTuple):
    """A part of the warm-up: its beginning (s), the share of requests done by then, CPU per request (s; infinite: none was answered)."""

    at_s: float
    done: float
    cost_s: float


def stretches_of(samples: Sequence[Sample]) -> list[Stretch]:
    """One from each sample on, from the first with an answer after it."""
    found: list[Stretch] = []
    all_ = samples[-1].requests - samples[0].requests if samples else 0
    for number, first in enumerate(samples):
        last = next((s for s in samples[number + 1 :] if s.at_s - first.at_s >= STRETCH_S), None)
        if last is None:
            break
        following = samples[number + 1]
        if not found and following.requests <= first.requests:
            continue  # the generator is still starting
        answered = last.requests - first.requests
        cost = (last.cpu_s - first.cpu_s) / answered if answered > 0 else math.inf
        found.append(Stretch(first.at_s, (first.requests - samples[0].requests) / all_, cost))
    return found


# --- over all starts -----------------------------------------------------------------------------------------------------


class Span(Frozen):
    """A quantity over several starts: median with the range, or geometric mean with its 95 % t interval."""

    value: float
    low: float
    high: float
    starts: int
    spread: Literal["range", "interval"]


def span(values: Sequence[float]) -> Span | None:
    """None below two values: no number without spread."""
    if len(values) < 2:
        return None
    if len(values) >= INTERVAL_FROM and min(values) > 0:
        found = estimate(values)
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
    warmths = [warmth(start.warm_up, start.load_to_s) for start in starts if start.load_to_s is not None]
    reasons = [found.reason for found in warmths if found.reason is not None]
    unopened = sum(start.pool_s is None for start in ready if start.failure is None)
    failures = [start.failure for start in starts if start.failure is not None]
    notes = [f"{failures.count(why)} of {len(starts)} starts failed: {why}" for why in dict.fromkeys(failures)]
    if unopened:
        notes.append(f"the pool was not open in time in {unopened} of {len(ready)} starts")
    notes += [f"warm: {reason} in {reasons.count(reason)} of {len(warmths)} starts" for reason in dict.fromkeys(reasons)]
    return Startup(
        contender=contender,
        starts=len(starts),
        failed=len(failures),
        ready_s=span(_known([start.ready_s for start in ready])),
        pool_s=span(_known([start.pool_s for start in ready])) if not unopened else None,
        cpu_s=span(_known([start.cpu_s for start in ready])),
        pss_mib=span(_known([start.pss_mib for start in ready])),
        warm_after_s=span(_known([found.after_s for found in warmths])) if not reasons else None,
        notes=notes,
    )


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]
