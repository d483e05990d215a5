"""Does a contender come through a stop (SIGSTOP) unharmed? What is asked of it, and what may not have changed. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from nsb.registry.model import ENDPOINTS, endpoint

REQUESTS = 200
"""Right after the stop, without any burst before them that would hide a broken connection."""
SHOWN = 3


@dataclass(frozen=True)
class Asked:
    """One request and the body that must come with a 200."""

    target: str
    body: str


def requests(endpoints: Collection[str] = ENDPOINTS, count: int = REQUESTS) -> list[Asked]:
    """Of each five three reads, a fan-out and a slow query: pool, upstream sockets and workers are all used.

    Where a service does not answer one of them, /hello is asked in its place.
    """
    asked = [_request(number) for number in range(count)]
    return [one if endpoint(one.target) in endpoints else HELLO for one in asked]


HELLO = Asked("/hello", "hello")


def _request(number: int) -> Asked:
    turn = number % 5
    if turn == 3:
        return Asked("/fanout?calls=3&ms=50&mode=concurrent", '{"calls":3,"mode":"concurrent","completed":3}')
    if turn == 4:
        return Asked("/slow-query?ms=50", '{"queried_ms":50}')
    book = 1 + number * 37
    return Asked(f"/books/{book}", f'{{"id":{book},"name":"Book {book}"}}')


@dataclass(frozen=True)
class Inventory:
    """What must survive: processes by id, database connections by CONNECTION_ID, connections to the upstream by their local port."""

    processes: frozenset[int]
    connections: frozenset[int]
    upstream_ports: frozenset[int]
    """Empty where the kernel does not show them."""


@dataclass(frozen=True)
class Woken:
    """One contender before its stop, after the requests that follow it, and some time later."""

    before: Inventory
    after: Inventory
    later: Inventory
    failures: Sequence[str]
    """What was wrong with an answer, one sentence for each that was."""
    in_flight: int | None
    """When all answers had come; None where /stats did not answer."""
    endpoints: Collection[str] = ENDPOINTS
    """What the service answers: without /readyz it has no database, without /fanout no upstream."""


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
