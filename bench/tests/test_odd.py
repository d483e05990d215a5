"""Odd requests: drawn by their seed alone, within what the contract specifies, and every difference is told."""

from __future__ import annotations

from collections import Counter

from nsb.conform.odd import PARAMETERS, differing, odd, titled
from nsb.registry.contract import ENDPOINTS, endpoint

COUNT = 3000


def test_a_seed_gives_the_same_requests_whatever_the_count() -> None:
    assert list(odd(1, COUNT))[:50] == list(odd(1, 50))
    assert list(odd(1, 50)) != list(odd(2, 50))


def test_every_endpoint_is_asked_rightly_and_wrongly() -> None:
    asked = list(odd(1, COUNT))
    assert {endpoint(path) for path in PARAMETERS} == set(ENDPOINTS)
    paths = Counter(endpoint(request.target) for request in asked)
    assert min(paths[path] for path in ENDPOINTS) > 50
    assert {request.method for request in asked} >= {"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH"}
    assert len({titled(request) for request in asked}) > COUNT / 2


def test_nothing_is_asked_that_does_not_end_or_that_differs_by_design() -> None:
    for request in odd(3, COUNT):
        path, _, query = request.target.partition("?")
        assert path not in ("/runtime", "/stats") or request.method not in ("GET", "HEAD")
        assert not (path == "/events" and request.method == "GET" and query in ("interval_ms=10", "interval_ms=60000"))
        assert not any(mark in path for mark in ("%", "//", ";"))  # which C20 leaves open
        assert "%%" not in query


def test_who_answers_differently_is_told() -> None:
    asked = list(odd(1, 3))
    given = {"a": [1, 2, 3], "b": [1, 5, 3], "c": [1, 2, 3]}
    assert list(differing(asked, given)) == [(asked[1], {2: ["a", "c"], 5: ["b"]})]
