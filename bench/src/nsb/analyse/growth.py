"""Memory per request in flight: the slope of memory over several numbers in flight, with its interval on the linear scale. Pure.

A slope may come out as zero or below where a heap's own swings are larger than what the requests add: so nothing here takes logarithms.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from nsb.analyse.stats import quantile
from nsb.records.cells import Reading
from nsb.records.judged import Slope

GREW = 1.1
"""A level counts where it has more in flight than each level below it, by this factor."""
SERVED = 0.9
"""Users of a level that are in flight at the least; else some of them wait outside and their connections are in the figure."""
FLAT_KIB = 4.0
"""A page: less than that no request takes with its connection. Memory that grows by less from level to level had been touched."""


@dataclass(frozen=True)
class Climb:
    """What of a ladder counts. Levels are named by their users."""

    slope: Slope | None
    """None where fewer than two numbers in flight were reached."""
    left_out: tuple[int, ...]
    """Levels at which no more were in flight than below."""
    waiting: tuple[int, ...]
    """Levels that count although some of their users were not in flight."""
    assumed: tuple[int, ...]
    """Levels that count and whose number in flight is that of the users, since the service did not say."""
    hidden: tuple[int, ...]
    """Levels that count and whose requests found room in memory that an earlier load had touched: the slope is too small."""


def climb(readings: Sequence[Reading], server_threads: int | None) -> Climb:
    """The slope over the levels that were reached: ordinary least squares over all their readings."""
    most = math.inf if server_threads is None else server_threads
    counted: list[tuple[int, float, list[float]]] = []  # users, in flight, memory of each reading (MiB)
    left_out, waiting, assumed = [], [], []
    for users in sorted({reading.users for reading in readings}):
        level = [reading for reading in readings if reading.users == users]
        told = [reading.in_flight for reading in level if reading.in_flight is not None]
        in_flight = float(statistics.median(told)) if told else min(users, most)
        below = counted[-1][1] if counted else 0.0
        if users > 0 and in_flight < max(1.0, GREW * below):
            left_out.append(users)
            continue
        counted.append((users, in_flight, [reading.pss_mib for reading in level]))
        if in_flight < SERVED * min(users, most):
            waiting.append(users)
        if not told and users < most:  # a service whose threads are all taken cannot answer /stats, and that says it too
            assumed.append(users)
    at = [(users, in_flight, statistics.median(level)) for users, in_flight, level in counted]
    hidden = [users for (_, n, before), (users, more, after) in pairwise(at) if _kib([(n, before), (more, after)]) < FLAT_KIB]
    slope = None
    if len(counted) > 1:
        points = [(in_flight, memory) for _, in_flight, level in counted for memory in level]
        slope = Slope(
            kib=_kib(points),
            first_kib=_kib([(in_flight, level[0]) for _, in_flight, level in counted]),
            last_kib=_kib([(in_flight, level[-1]) for _, in_flight, level in counted]),
        )
    return Climb(slope, tuple(left_out), tuple(waiting), tuple(assumed), tuple(hidden))


def _kib(points: Sequence[tuple[float, float]]) -> float:
    """MiB over requests in flight, as KiB for each."""
    in_flight, memory = zip(*points, strict=True)
    return round(statistics.linear_regression(in_flight, memory).slope * 1024, 3)


@dataclass(frozen=True)
class Growth:
    """KiB per request in flight over the rounds. `bound`: `value` is the upper end of what low and high enclose, not an estimate."""

    value: float
    low: float
    high: float
    rounds: int
    spread: Literal["interval", "halves"]
    bound: bool


def over_rounds(slopes: Sequence[Slope], level: float = 0.95) -> Growth | None:
    """Mean slope with Student's t interval; one round: the slopes of the first and of the last reading of each level.

    Where these reach zero or below, the slope is known only to be at most their upper end. None where there is no slope, or where even
    the upper end is not above zero: memory fell while more was in flight, which no request does.
    """
    if not slopes:
        return None
    values = [slope.kib for slope in slopes]
    n = len(values)
    mean = statistics.fmean(values)
    if n == 1:
        ends = (mean, slopes[0].first_kib, slopes[0].last_kib)
        low, high = min(ends), max(ends)
    else:
        width = quantile((1 + level) / 2, n - 1) * statistics.stdev(values) / math.sqrt(n)
        low, high = mean - width, mean + width
    if high <= 0:
        return None
    bound = low <= 0
    return Growth(high if bound else mean, low, high, n, "interval" if n > 1 else "halves", bound)
