"""Does a contender come through a stop (SIGSTOP) unharmed? Pure."""

from __future__ import annotations

from nsb.records.stopped import REQUESTS, Inventory, Woken

SHOWN = 3


def harm(woken: Woken) -> list[str]:
    """What the stop did, one sentence each; empty where it did nothing."""
    found = []
    if woken.failures:
        more = len(woken.failures) - SHOWN
        shown = "; ".join([*woken.failures[:SHOWN], *([f"and {more} more"] if more > 0 else [])])
        found.append(f"{len(woken.failures)} of {REQUESTS} requests failed: {shown}")
    if woken.in_flight != 0:
        found.append("/stats does not answer" if woken.in_flight is None else f"in_flight stays at {woken.in_flight}")
    if "/readyz" in woken.endpoints and not woken.before.connections:
        found.append("no database connection was seen before the stop, so none can be shown to have survived")
    for when, now in (("after it", woken.after), ("some time after it", woken.later)):
        found += [f"{sentence} {when}" for sentence in _changes(woken.before, now)]
    return found


def _changes(before: Inventory, now: Inventory) -> list[str]:
    found = []
    for what, old, new in (("processes", before.processes, now.processes), ("database connections", before.connections, now.connections)):
        if old != new:
            found.append(f"of {len(old)} {what} {len(old - new)} are gone and {len(new - old)} are new")
    closed = before.upstream_ports - now.upstream_ports
    if closed:
        found.append(f"of {len(before.upstream_ports)} connections to the upstream {len(closed)} are closed")
    return found


def notes(woken: Woken) -> list[str]:
    """What could not be seen on this machine."""
    return [] if woken.before.upstream_ports or "/fanout" not in woken.endpoints else ["connections to the upstream cannot be seen here"]
