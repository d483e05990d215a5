"""What is asked of contenders that were stopped (SIGSTOP), and what was seen of them before and after. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from nsb.registry.contract import ENDPOINTS, endpoint

REQUESTS = 200
"""Right after the stop, without any burst before them that would hide a broken connection."""


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
