"""Counters over all workers (C4), in memory that they share."""

from mmap import mmap
from typing import Any, TypeAlias

REQUESTS, BUSY_SECONDS, IN_FLIGHT, POOL_IN_USE, POOL_WAITING = range(5)
FIELDS = 5

Counters: TypeAlias = "memoryview[float]"  # generic at run time only from Python 3.14 on


class Stats:
    """One row of doubles per worker, which only that worker writes: no locks. To be created before the workers."""

    def __init__(self, workers: int) -> None:
        self._table: Counters = memoryview(mmap(-1, workers * FIELDS * 8)).cast("d")

    def of(self, worker: int) -> Counters:
        return self._table[worker * FIELDS : (worker + 1) * FIELDS]

    def totals(self) -> dict[str, Any]:
        def total(field: int) -> float:
            return sum(self._table[field::FIELDS])

        return {
            "requests_total": int(total(REQUESTS)),
            "busy_seconds_total": total(BUSY_SECONDS),
            "in_flight": int(total(IN_FLIGHT)),
            "pool_in_use": int(total(POOL_IN_USE)),
            "pool_waiting": int(total(POOL_WAITING)),
        }
