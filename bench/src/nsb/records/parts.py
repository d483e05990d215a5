"""The summaries of several k6 that shared one load, merged into one as a single k6 would have written it. Pure.

Counts and rates add, means are weighted by their counts, percentiles are never averaged. Each part tells its trends as a histogram: between
two neighbouring edges lies a known share of its values (bench/k6/part.js says why in this form). To merge is to add up how many values lie
at or below a value, so a percentile of the whole is known as well as those of the parts: its rank is at most one step off.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nsb.records.summary import SummaryError

STEPS = tuple(step / 100 for step in (*range(10, 9800, 10), *range(9800, 10_000)))
"""The percentiles that each part tells: in steps of 0.1, and of 0.01 where tails are."""
RANKS: tuple[float, ...] = (0.0, *(step / 100 for step in STEPS), 1.0)
"""Of all edges, the least and the greatest value among them."""
TOLD = {"med": 0.5, "p(90)": 0.9, "p(99)": 0.99, "p(99.9)": 0.999}
"""What load.js asks a single k6 for."""
TREND_STATS = ",".join(["count", "avg", "min", "max", *(f"p({step:g})" for step in STEPS)])
"""What each part is asked for (K6_SUMMARY_TREND_STATS)."""
ROUNDED = 1e-9
"""How much a rank may miss a step by the arithmetic alone."""


@dataclass(frozen=True)
class _Histogram:
    """The values of one part."""

    count: int
    edges: Sequence[float]
    """By RANKS."""

    def up_to(self, value: float) -> float:
        """How many of its values are at most this one; between two edges they are taken to lie evenly."""
        if value < self.edges[0]:
            return 0.0
        at = bisect_right(self.edges, value) - 1
        rank = RANKS[at]
        if at + 1 < len(self.edges):
            low, high = self.edges[at], self.edges[at + 1]
            rank += (RANKS[at + 1] - rank) * (value - low) / (high - low)
        return rank * (self.count - 1) + 1


def merge(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """One summary of the form that load_summary reads, from those that part.js writes. Of `state`: when each part began (epoch ms).

    Raises SummaryError.
    """
    try:
        names = dict.fromkeys(name for part in parts for name in part["metrics"])
        merged = {name: _metric([part["metrics"][name] for part in parts if name in part["metrics"]]) for name in names}
        began = [float(part["state"]["began_ms"]) for part in parts]
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise SummaryError(f"a summary is not of part.js: {error!r}") from None
    return {"metrics": {name: found for name, found in merged.items() if found is not None}, "state": {"began_ms": began}}


def _metric(found: Sequence[Mapping[str, Any]]) -> dict[str, float] | None:
    """None of what has no sum: k6's own gauges and shares, which nobody reads."""
    if any("edges" in each for each in found):
        return _trend(found)
    if all(each.keys() <= {"count", "rate"} for each in found):
        return {key: sum(each[key] for each in found) for key in found[0]}
    return None


def _trend(found: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    filled = [each for each in found if each["count"]]
    if not filled:
        return {"count": 0}
    parts = [_Histogram(int(each["count"]), [each["min"], *each["edges"], each["max"]]) for each in filled]
    if any(len(part.edges) != len(RANKS) for part in parts):
        raise ValueError(f"{len(RANKS)} edges are needed")
    count = sum(part.count for part in parts)
    return {
        "count": count,
        "avg": sum(part.count * each["avg"] for part, each in zip(parts, filled, strict=True)) / count,
        "min": min(part.edges[0] for part in parts),
        **{name: _value_at(rank, parts) for name, rank in TOLD.items()},
        "max": max(part.edges[-1] for part in parts),
    }


def _value_at(rank: float, parts: Sequence[_Histogram]) -> float:
    """The least value that so many are at or below: by k6's rule, of n values the one at rank·(n − 1), counted from 0."""
    wanted = rank * (sum(part.count for part in parts) - 1) + 1 - ROUNDED
    low, high = min(part.edges[0] for part in parts), max(part.edges[-1] for part in parts)
    if sum(part.up_to(low) for part in parts) >= wanted:
        return low
    while low < (middle := (low + high) / 2) < high:
        if sum(part.up_to(middle) for part in parts) < wanted:
            low = middle
        else:
            high = middle
    return high
