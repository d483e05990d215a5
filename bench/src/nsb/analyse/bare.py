"""What a service costs beside a bare program of the same framework. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Literal

from nsb.analyse.stats import Estimate, estimate
from nsb.registry.terms import Frozen

LIMIT = 1.10
"""The service may cost that many times what the bare program costs."""

Verdict = Literal["within", "above", "undecided"]


class Half(Frozen):
    """One window: answers counted, the CPU of the program that gave them (s), and why it does not count (None: it does)."""

    requests: int
    cpu_s: float
    why_not: str | None = None

    @property
    def us_per_request(self) -> float:
        return self.cpu_s / self.requests * 1e6


class Pair(Frozen):
    """Two windows, one right after the other, at one rate."""

    service: Half
    bare: Half

    @property
    def why_not(self) -> str | None:
        return self.service.why_not or self.bare.why_not

    @property
    def ratio(self) -> float:
        return self.service.us_per_request / self.bare.us_per_request


class Comparison(Frozen):
    """One contender beside its bare program: medians in µs/request, and the ratio over the pairs that count."""

    contender: str
    service_us: float
    bare_us: float
    ratio: float
    low: float | None
    high: float | None
    pairs: int
    left_out: int

    @property
    def verdict(self) -> Verdict:
        """By the side of the interval that decides; undecided where it reaches over the limit, or there is none."""
        if self.high is not None and self.high <= LIMIT:
            return "within"
        return "above" if self.low is not None and self.low > LIMIT else "undecided"


def compare(contender: str, pairs: Sequence[Pair]) -> Comparison:
    """Raises ValueError where no pair counts."""
    good = [pair for pair in pairs if pair.why_not is None]
    if not good:
        raise ValueError(next((pair.why_not for pair in pairs if pair.why_not), "there is no pair"))
    ratio: Estimate = estimate([pair.ratio for pair in good])
    return Comparison(
        contender=contender,
        service_us=median(pair.service.us_per_request for pair in good),
        bare_us=median(pair.bare.us_per_request for pair in good),
        ratio=ratio.value,
        low=ratio.low,
        high=ratio.high,
        pairs=ratio.n,
        left_out=len(pairs) - ratio.n,
    )
