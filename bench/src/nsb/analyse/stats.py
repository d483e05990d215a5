"""Estimates, intervals and tests. Pure.

scipy takes most of a second to import, so the functions that need it import it themselves: most commands judge nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

NEARLY_ALL = Fraction(5, 6)
"""Share of the rounds that count from which on they are what most of them are. Below it those that have a value are seldom like the others:
the values alone would tell too much."""


def nearly_all(values: int, of: int) -> bool:
    """Whether so many values stand for all."""
    return values >= NEARLY_ALL * of


@dataclass(frozen=True)
class Estimate:
    """A positive quantity: geometric mean, interval, number of rounds. `low` and `high` are None where there is no spread to know."""

    value: float
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True)
class Interval:
    low: float
    high: float

    def within(self, band: float) -> bool:
        """Whether it lies wholly inside ±band."""
        return -band < self.low and self.high < band


@dataclass(frozen=True)
class Contrast:
    """A difference with its standard error: of means of ln values or of ms."""

    mean: float
    error: float
    df: float

    def interval(self, level: float) -> Interval:
        """Student's t interval."""
        width = quantile((1 + level) / 2, self.df) * self.error
        return Interval(self.mean - width, self.mean + width)

    @property
    def p_value(self) -> float:
        """Two-sided t test that the difference is zero."""
        from scipy.special import stdtr

        if self.error == 0:
            return 1.0 if self.mean == 0 else 0.0
        return 2 * float(stdtr(self.df, -abs(self.mean) / self.error))


@cache
def quantile(probability: float, df: float) -> float:
    """Of Student's t."""
    from scipy.stats import t as student

    return float(student.ppf(probability, df))


def estimate(values: Sequence[float], level: float = 0.95) -> Estimate:
    """Geometric mean of positive values with Student's t interval on their logarithms (docs/method.md, Statistics).

    Raises ValueError for no value, or one that is not positive.
    """
    if not values or min(values) <= 0:
        raise ValueError("needs positive values")
    logs = [math.log(value) for value in values]
    if len(logs) < 2:
        return Estimate(math.exp(logs[0]), None, None, 1)
    found = contrast(logs)
    around = found.interval(level)
    return Estimate(math.exp(found.mean), math.exp(around.low), math.exp(around.high), len(logs))


def plain_mean(values: Sequence[float], level: float = 0.95) -> Estimate:
    """Arithmetic mean of at least two values from 0 on, with Student's t interval, which ends at 0: of shares, of which one may be 0."""
    found = contrast(values)
    around = found.interval(level)
    return Estimate(found.mean, max(0.0, around.low), around.high, len(values))


def spread_of_halves(first: float, second: float, whole: float) -> Estimate:
    """One round only: the two halves of the window show the least that the value varies; not an interval."""
    return Estimate(whole, min(first, second, whole), max(first, second, whole), 1)


def deviation(x: Sequence[float]) -> float:
    """Standard deviation of at least two values, with n − 1."""
    mean = sum(x) / len(x)
    return math.sqrt(sum((value - mean) ** 2 for value in x) / (len(x) - 1))


def contrast(x: Sequence[float]) -> Contrast:
    """Of at least two paired differences, one per round."""
    return Contrast(sum(x) / len(x), deviation(x) / math.sqrt(len(x)), len(x) - 1)


def welch(a: Sequence[float], b: Sequence[float]) -> Contrast:
    """mean(b) − mean(a) of two samples of at least two values each; degrees of freedom by Welch and Satterthwaite."""
    errors = [deviation(x) ** 2 / len(x) for x in (a, b)]
    least = min(len(a), len(b)) - 1
    df = sum(errors) ** 2 / sum(e**2 / (len(x) - 1) for e, x in zip(errors, (a, b), strict=True)) if any(errors) else least
    return Contrast(sum(b) / len(b) - sum(a) / len(a), math.sqrt(sum(errors)), df)


def holm(p_values: Sequence[float], alpha: float = 0.05) -> list[float]:
    """The level at which each comparison's own interval decides as Holm's step-down procedure does (Holm 1979).

    The k-th smallest p of m is held against α/(m − k + 1). From the first that fails on, all stay undecided: they keep the level of that
    step, at which none of their intervals excludes zero.
    """
    levels = [0.0] * len(p_values)
    step = 0
    for rank, i in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        share = alpha / (len(p_values) - step)
        levels[i] = 1 - share
        if rank == step and p_values[i] <= share:
            step += 1
    return levels


def hodges_lehmann(x: Sequence[float], level: float = 0.95) -> Interval:
    """The distribution-free interval for the centre of symmetric differences: Walsh averages, cut by the exact distribution of Wilcoxon's
    signed rank (Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, 3.3).

    Raises ValueError where so few values allow no interval of that level (95 %: below 6).
    """
    depth = signed_rank_depth(len(x), level)
    if depth == 0:
        raise ValueError(f"{len(x)} values allow no interval of {level:.0%}")
    import numpy as np

    values = np.asarray(x)
    i, j = np.triu_indices(len(x))
    walsh = np.sort((values[i] + values[j]) / 2)
    return Interval(float(walsh[depth - 1]), float(walsh[-depth]))


@cache
def signed_rank_depth(n: int, level: float) -> int:
    """The largest k with P(T⁺ ≤ k − 1) ≤ (1 − level)/2: the interval goes from the k-th smallest Walsh average to the k-th largest."""
    ways = [1]  # ways[t]: how many of the 2ⁿ equally likely choices of ranks 1 … n add up to t
    for rank in range(1, n + 1):
        longer = ways + [0] * rank
        for total, count in enumerate(ways):
            longer[total + rank] += count
        ways = longer
    depth, tail = 0, ways[0]
    while tail <= (1 - level) / 2 * 2**n:
        depth += 1
        tail += ways[depth]
    return depth


def rounds_to_decide(distance: float, s: float, level: float, more_than: int, at_most: int = 100) -> int | None:
    """The smallest n at which (t_level + t₀.₈₀)·s/√n ≤ distance, the distance from the seen mean to the border that its interval must
    leave behind; None above `at_most`. `level` is one-sided."""
    for n in range(more_than + 1, at_most + 1):
        if (quantile(level, n - 1) + quantile(0.80, n - 1)) * s / math.sqrt(n) <= distance:
            return n
    return None
