"""Watches a contender while it is warmed. Effects only."""

from __future__ import annotations

import time
from collections.abc import Callable

from nsb.records.cells import Stats
from nsb.records.starts import Sample

STEP_S = 0.25
"""Between two samples (s)."""
ANSWER_S = STEP_S
"""How long a sample waits for /stats (s)."""


def curve(
    stats: Callable[[], Stats | None],
    cpu: Callable[[], float],
    ended: Callable[[float], bool],
    began: float,
    until: float,
) -> list[Sample]:
    """One sample at once, one every STEP_S until the generator has ended or the deadline has passed, and one then.

    `stats` reads /stats (None: it did not answer in time, which leaves a gap), `cpu` the CPU of the service (s), `ended` waits for
    the generator so many seconds at the most. `began` (the exec) and `until` are times of time.monotonic().
    """
    samples: list[Sample] = []
    due = time.monotonic()
    over = False
    while True:
        seen = stats()
        if seen is not None:
            at = time.monotonic() - began
            samples.append(Sample(at_s=round(at, 3), requests=seen.requests_total, cpu_s=round(cpu(), 4)))
        if over:
            return samples
        now = time.monotonic()
        due = max(due + STEP_S, now)
        over = ended(due - now) or time.monotonic() > until
