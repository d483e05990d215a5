"""Reads the memory of a service on each level of a ladder. Effects only."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence

from nsb.measure import attach
from nsb.measure.client import StatsReader
from nsb.measure.host import slab_memory_mib, tcp_memory_mib
from nsb.measure.meter import Meter, sleep_until
from nsb.records.cells import Reading, Stats

COLLECTION_S = 0.26
"""How long before a reading a JVM is asked for a full collection: it takes up to 0.1 s with 600 requests in flight, and its pages are given
back 0.1 s later. All of that falls into the half of a hold in which no user starts and none ends, so that no garbage is in the reading."""


class Ladder:
    """Reads the service's memory on each level of a ladder, and beside it how many requests are in flight."""

    def __init__(
        self, stats: StatsReader, meter: Meter, times: Sequence[tuple[float, int]], held: bool, opens_s: float, jvm: attach.Jvm | None
    ) -> None:
        """`times`: when to read (epoch s) and how many users there are then, in that order; none where the scenario is no ladder.

        `held`: the users are connections that are held, of which the kernel's memory and what they cost while idle are read too.
        `jvm`: whom to ask for a full collection before its memory is read; beside held connections once on each level, so that what they
        cost while idle can be read between one reading and the next.
        """
        self._stats = stats
        self._meter = meter
        self._times = deque(times)
        self._held = held
        self._opens_s = opens_s
        self._jvm = jvm
        self.uncollected: str | None = None
        """Why there was a reading without the full collection that was asked for."""
        self._read: list[tuple[Reading, Callable[[], Stats | None]]] = []

    def climb(self, end_s: float) -> None:
        """All readings that are due before `end_s`."""
        while self._times and self._times[0][0] < end_s:
            at_s, users = self._times.popleft()
            again = bool(self._read) and self._read[-1][0].users == users
            collected_s = None if self._jvm is None or (self._held and again) else self._collect(self._jvm, at_s)
            sleep_until(at_s)
            stats = self._stats.later()
            read_s = round(time.time() - self._opens_s, 3)
            cpu_s = round(self._meter.service_cpu_s(), 4) if self._held else None
            pss_mib, _ = self._meter.service_footprint()
            sockets_mib, slab_mib = (tcp_memory_mib(), slab_memory_mib()) if self._held else (None, None)
            reading = Reading(
                users=users,
                in_flight=None,
                pss_mib=round(pss_mib, 2),
                at_s=read_s,
                collected_s=collected_s,
                sockets_mib=sockets_mib,
                slab_mib=slab_mib,
                cpu_s=cpu_s,
            )
            self._read.append((reading, stats))

    def _collect(self, jvm: attach.Jvm, at_s: float) -> float | None:
        """A full collection that has ended when the memory is to be read, where it takes no longer than most do."""
        sleep_until(at_s - COLLECTION_S)
        try:
            return round(jvm.collect(), 3)
        except attach.AttachError as error:
            self.uncollected = str(error)
            return None

    def readings(self) -> tuple[Reading, ...]:
        told = [(reading, stats()) for reading, stats in self._read]
        return tuple(each.model_copy(update={"in_flight": None if s is None else s.in_flight}) for each, s in told)
