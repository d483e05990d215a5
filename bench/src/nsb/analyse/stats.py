"""Estimates, intervals, tests and what they can find. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.integrate import quad
from scipy.special import stdtr
from scipy.stats import chi2, nct, norm
from scipy.stats import t as student


@dataclass(frozen=True)
class Estimate:
    """A positive quantity: geometric mean, interval, number of rounds. `low` and `high` are None where there is no spread to know."""

    value: float
    low: float | None
    high: float | None
    n: int

    @property
    def half_width(self) -> float | None:
        """The interval as a share: 0.04 for ±4 % (the wider side)."""
        if self.low is None or self.high is None or self.value == 0:
            return None
        return max(self.high / self.value - 1, 1 - self.low / self.value)


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
        if self.error == 0:
            return 1.0 if self.mean == 0 else 0.0
        return 2 * float(stdtr(self.df, -abs(self.mean) / self.error))


@cache
def quantile(probability: float, df: float) -> float:
    """Of Student's t."""
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


# --- what a comparison can find --------------------------------------------------------------------------------------


def smallest_shift(s: float, rounds: int, comparisons: int = 1) -> float:
    """(t₁₋α/2m + t₀.₈₀)·s/√n with α = 0.05: what one of m primary comparisons finds at Holm's first step, its strictest.

    s is the standard deviation of the paired differences (ln ratios, or ms), which is also the unit of the result; n the rounds.
    The formula's 80 % is exact for large n only: `power` gives what it comes to.
    """
    df = rounds - 1
    return (quantile(1 - 0.025 / comparisons, df) + quantile(0.80, df)) * s / math.sqrt(rounds)


def smallest_effect(s: float, rounds: int, comparisons: int = 1) -> float:
    """The same as a ratio − 1, s being that of ln ratios (docs/method.md, Statistics)."""
    return math.expm1(smallest_shift(s, rounds, comparisons))


def power(shift: float, s: float, rounds: int, comparisons: int = 1) -> float:
    """The chance to find a true shift (in the unit of s) on its own side at Holm's first step; noncentral t, exact for normal x."""
    df = rounds - 1
    return float(nct.sf(quantile(1 - 0.025 / comparisons, df), df, shift / s * math.sqrt(rounds)))


def equality_power(s: float, rounds: int, band: float) -> float:
    """The chance that two truly equal ones are shown equal: that the 90 % t interval lies inside ±band (TOST at 5 %; Schuirmann 1987).

    s and band share a unit (ln ratio, or ms). Exact for normal x: given ŝ = us, the mean must lie within ±(band − t₀.₉₅·us/√n); integrated
    over the chi distribution of u (Phillips 1990).
    """
    if s == 0:
        return 1.0
    df, root = rounds - 1, math.sqrt(rounds)
    t95 = quantile(0.95, df)
    reach = band / s * root
    widest = min((reach / t95) ** 2 * df, float(chi2.isf(1e-12, df)))

    def share(v: float) -> float:
        return (2 * float(norm.cdf(reach - t95 * math.sqrt(v / df))) - 1) * float(chi2.pdf(v, df))

    return float(quad(share, 0.0, widest)[0])


def rounds_to_decide(distance: float, s: float, level: float, more_than: int, at_most: int = 100) -> int | None:
    """The smallest n at which (t_level + t₀.₈₀)·s/√n ≤ distance, the distance from the seen mean to the border that its interval must
    leave behind; None above `at_most`. `level` is one-sided."""
    for n in range(more_than + 1, at_most + 1):
        if (quantile(level, n - 1) + quantile(0.80, n - 1)) * s / math.sqrt(n) <= distance:
            return n
    return None
