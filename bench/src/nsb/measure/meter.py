"""Reads what every role of a cell uses. Effects only."""

from __future__ import annotations

import time
from collections.abc import Sequence

from nsb.measure.host import tcp_counters
from nsb.measure.native import Stage
from nsb.measure.process import Process, machine_times
from nsb.measure.running import Running
from nsb.records.edge import Edge

SWITCHES_SLACK = 1.5
"""So many times what a reading of context switches has taken before is left for the next one."""


class Meter:
    """Reads CPU of every role at the window's edges, and memory and threads of the service in between."""

    def __init__(self, stage: Stage, running: Running, generators: Sequence[Process]) -> None:
        self._service = running.process.gauge()
        self._generators = [generator.gauge() for generator in generators]
        self._database = stage.database_gauge()
        self._upstream = stage.upstream.gauge()
        self._marked = False
        self._opened_cpu_s = 0.0
        self._switches_take_s: float | None = None
        self.peak_mib = 0.0
        """The service's highest memory so far: of the readings, and of the time between them where the kernel marks it
        (several processes: the sum of their peaks)."""

    def edge(self) -> Edge:
        times = machine_times()
        return Edge(
            time.time(),
            {
                "service": self._service.cpu_s(),
                "generator": sum(generator.cpu_s() for generator in self._generators),
                "database": self._database.cpu_s(),
                "upstream": self._upstream.cpu_s(),
                "harness": time.process_time(),
            },
            times.busy,
            times.steal,
            tcp_counters(),
        )

    def service_footprint(self) -> tuple[float, int]:
        seen = self._service.footprint()
        self.peak_mib = max(self.peak_mib, seen.pss_mib + (seen.fallen_mib if self._marked else 0.0))
        return seen.pss_mib, seen.threads

    def switches_until(self, edge_s: float) -> dict[tuple[int, int], int] | None:
        """Read so that it is over at that edge (epoch s). 3000 threads take a tenth of a second: after the first edge it would hold up
        what is read there, after the last one the load is over."""
        if self._switches_take_s is None:
            began = time.monotonic()
            self._service.switches()
            self._switches_take_s = time.monotonic() - began
        sleep_until(edge_s - SWITCHES_SLACK * self._switches_take_s)
        return self._service.switches()

    def open(self) -> Edge:
        """The first edge; from here on the kernel marks the service's highest memory."""
        edge = self.edge()
        self._opened_cpu_s = edge.cpu["service"]
        self._marked = self._service.forget_peak()
        return edge

    def service_cpu_s(self) -> float:
        """Since the window opened."""
        return self._service.cpu_s() - self._opened_cpu_s


def sleep_until(at_s: float) -> None:
    while (left := at_s - time.time()) > 0:
        time.sleep(left)
