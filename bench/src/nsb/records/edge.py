"""All counters of a cell's roles at one moment. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Edge:
    """All counters read at one edge of a window."""

    at_s: float
    """When (s since the epoch)."""
    cpu: dict[str, float]
    """CPU used so far by service, generator, database, upstream and harness (s)."""
    busy_s: float
    """CPU used by the whole machine (s)."""
    steal_s: float
    tcp: dict[str, int] | None = None
    """Counters of the network namespace: ListenOverflows, ListenDrops, RetransSegs, TCPDSACKRecv, TCPSynRetrans, OutSegs."""
