"""What a planned comparison can find. Pure, and without scipy: `plan` needs it at once, and to a tenth of a percent.

Student's t with n − 1 degrees of freedom is Z/U with Z normal and U = √(χ²/(n − 1)): every probability here is a smooth function of U,
integrated over U's density by Simpson's rule. A test compares the results with scipy's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from statistics import NormalDist

STEPS = 600
"""Of Simpson's rule, even: the results agree with scipy's to 1e-5."""
_below = NormalDist().cdf


@cache
def _weights(df: int) -> list[tuple[float, float]]:
    """u and the weight of Simpson's rule times U's density there, up to where less than 1e-12 of it is left."""
    widest = math.sqrt((df + 8 * math.sqrt(2 * df) + 60) / df)
    step = widest / STEPS
    constant = math.log(2) + df / 2 * math.log(df / 2) - math.lgamma(df / 2)
    found = []
    for number in range(1, STEPS + 1):
        u = number * step
        density = math.exp(constant + (df - 1) * math.log(u) - df * u * u / 2)
        found.append((u, density * step / 3 * (1 if number == STEPS else 4 if number % 2 else 2)))
    return found


def _over(df: int, of: Callable[[float], float]) -> float:
    """The mean of a function of U."""
    return sum(weight * of(u) for u, weight in _weights(df))


@cache
def quantile(probability: float, df: int) -> float:
    """Of Student's t, for a probability of at least one half; df of at least 2."""

    def reached(t: float) -> bool:
        return _over(df, lambda u: _below(t * u)) >= probability

    low, high = 0.0, 1.0
    while not reached(high):
        low, high = high, 2 * high
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def smallest_shift(s: float, rounds: int, comparisons: int = 1) -> float:
    """(t₁₋α/2m + t₀.₈₀)·s/√n with α = 0.05: what one of m primary comparisons finds at Holm's first step, its strictest.

    s is the standard deviation of the paired differences (ln ratios, or ms), which is also the unit of the result; n the rounds
    (docs/method.md, Statistics).
    The formula's 80 % is exact for large n only: `power` gives what it comes to.
    """
    df = rounds - 1
    return (quantile(1 - 0.025 / comparisons, df) + quantile(0.80, df)) * s / math.sqrt(rounds)


def power(shift: float, s: float, rounds: int, comparisons: int = 1) -> float:
    """The chance to find a true shift (in the unit of s) on its own side at Holm's first step; noncentral t, exact for normal x."""
    df = rounds - 1
    border, middle = quantile(1 - 0.025 / comparisons, df), shift / s * math.sqrt(rounds)
    return _over(df, lambda u: _below(middle - border * u))


def equality_power(s: float, rounds: int, band: float) -> float:
    """The chance that two truly equal ones are shown equal: that the 90 % t interval lies inside ±band (TOST at 5 %; Schuirmann 1987).

    s and band share a unit (ln ratio, or ms). Exact for normal x: given ŝ = us, the mean must lie within ±(band − t₀.₉₅·us/√n); integrated
    over the density of u (Phillips 1990).
    """
    if s == 0:
        return 1.0
    df, reach = rounds - 1, band / s * math.sqrt(rounds)
    t95 = quantile(0.95, df)
    return _over(df, lambda u: max(0.0, 2 * _below(reach - t95 * u) - 1))
