"""What a stop may not do to a contender: each harm planted once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nsb.analyse.stopped import harm, notes
from nsb.records.stopped import REQUESTS, Inventory, Woken, requests

BEFORE = Inventory(frozenset({10, 11}), frozenset(range(150)), frozenset({4000, 4001}))
UNHARMED = Woken(BEFORE, BEFORE, BEFORE, [], 0)


def test_who_is_what_it_was_is_unharmed() -> None:
    assert harm(UNHARMED) == []
    assert notes(UNHARMED) == []


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (replace(BEFORE, processes=frozenset({10, 12})), "of 2 processes 1 are gone and 1 are new"),
        (replace(BEFORE, processes=frozenset({10})), "of 2 processes 1 are gone and 0 are new"),
        (replace(BEFORE, connections=frozenset(range(1, 151))), "of 150 database connections 1 are gone and 1 are new"),
        (replace(BEFORE, connections=frozenset(range(151))), "of 150 database connections 0 are gone and 1 are new"),
        (replace(BEFORE, upstream_ports=frozenset({4001, 4002})), "of 2 connections to the upstream 1 are closed"),
    ],
)
def test_a_change_is_found_at_once_and_later(changed: Inventory, said: str) -> None:
    assert harm(replace(UNHARMED, later=changed)) == [f"{said} some time after it"]
    assert harm(replace(UNHARMED, after=changed, later=changed)) == [f"{said} after it", f"{said} some time after it"]


def test_further_connections_to_the_upstream_are_no_harm() -> None:
    assert harm(replace(UNHARMED, after=replace(BEFORE, upstream_ports=frozenset({4000, 4001, 4002})))) == []


def test_a_failed_request_and_one_that_never_ends_are_harm() -> None:
    failures = [f"/books/{n}: 503" for n in range(5)]
    assert harm(replace(UNHARMED, failures=failures)) == [
        f"5 of {REQUESTS} requests failed: /books/0: 503; /books/1: 503; /books/2: 503; and 2 more"
    ]
    assert harm(replace(UNHARMED, in_flight=3)) == ["in_flight stays at 3"]
    assert harm(replace(UNHARMED, in_flight=None)) == ["/stats does not answer"]


def test_a_pool_that_nobody_saw_cannot_have_survived() -> None:
    nobody = replace(BEFORE, connections=frozenset())
    assert len(harm(Woken(nobody, nobody, nobody, [], 0))) == 1


def test_what_the_kernel_does_not_show_is_said() -> None:
    blind = replace(BEFORE, upstream_ports=frozenset())
    unseen = Woken(blind, blind, blind, [], 0)
    assert harm(unseen) == []
    assert notes(unseen)


def test_what_has_no_neighbours_can_lose_none() -> None:
    alone = replace(BEFORE, connections=frozenset(), upstream_ports=frozenset())
    seen = Woken(alone, alone, alone, [], 0, ["/hello"])
    assert harm(seen) == []
    assert notes(seen) == []


def test_reads_fan_outs_and_slow_queries_are_all_asked_for() -> None:
    asked = requests()
    assert len(asked) == REQUESTS == len(requests(["/hello"]))
    assert {one.target for one in requests(["/hello", "/slow-query"])} == {"/hello", "/slow-query?ms=50"}
    kinds = [one.target.split("/")[1].split("?")[0] for one in asked]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {"books": 120, "fanout": 40, "slow-query": 40}
    assert all(1 <= int(one.target.split("/")[2]) <= 10_000 for one in asked if one.target.startswith("/books/"))
