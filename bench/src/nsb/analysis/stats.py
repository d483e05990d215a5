"""Estimates with intervals. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

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


def estimate(values: Sequence[float], level: float = 0.95) -> Estimate:
    """Geometric mean of positive values with Student's t interval on their logarithms (METHODOLOGY.md, Statistics).

    Raises ValueError for no value, or one that is not positive.
    """
    if not values or min(values) <= 0:
        raise ValueError("needs positive values")
    logs = [math.log(value) for value in values]
    n = len(logs)
    mean = sum(logs) / n
    if n < 2:
        return Estimate(math.exp(mean), None, None, n)
    deviation = math.sqrt(sum((x - mean) ** 2 for x in logs) / (n - 1))
    width = float(student.ppf((1 + level) / 2, n - 1)) * deviation / math.sqrt(n)
    return Estimate(math.exp(mean), math.exp(mean - width), math.exp(mean + width), n)


def spread_of_halves(first: float, second: float, whole: float) -> Estimate:
    """One round only: the two halves of the window show the least that the value varies; not an interval."""
    return Estimate(whole, min(first, second, whole), max(first, second, whole), 1)


def smallest_effect(s: float, rounds: int) -> float:
    """The smallest ratio − 1 that a paired comparison finds with 80 % power at 95 %.

    exp((t₀.₉₇₅ + t₀.₈₀)·s/√n) − 1, s the standard deviation of the paired ln ratio, n the rounds (METHODOLOGY.md, Statistics).
    """
    quantiles = float(student.ppf(0.975, rounds - 1)) + float(student.ppf(0.80, rounds - 1))
    return math.exp(quantiles * s / math.sqrt(rounds)) - 1
