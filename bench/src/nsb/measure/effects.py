"""Counts what a cell under k6 causes: in the service's own counter, at the upstream, and in the database. Effects only."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import parse_qs, urlsplit

import httpx

from nsb.measure.client import client
from nsb.measure.database import Counters, Server
from nsb.measure.process import ProcessError
from nsb.records.effects import Effects
from nsb.registry.contract import endpoint
from nsb.registry.scenario import Scenario

if TYPE_CHECKING:
    from nsb.measure.running import Running

STATS_S = 5.0
"""How long service and upstream may take to tell their counts outside of a load (s)."""
QUOTED = re.compile(r'msg="wrong answer: ((?:[^"\\]|\\.)*)"')
"""How k6 logs what load.js quotes."""


class Neighbours(Protocol):
    """What a service stands on that counts what it causes."""

    @property
    def database(self) -> Server: ...

    @property
    def upstream_url(self) -> str: ...


@dataclass(frozen=True)
class _Counts:
    requests: int | None
    calls: int | None
    asked_ms: int | None
    database: Counters | None


class Watch:
    """Counts from now on until `effects` is asked, on a service that is idle at both times."""

    def __init__(self, stage: Neighbours, running: Running, scenario: Scenario) -> None:
        """Raises ProcessError where the upstream does not say, and DatabaseError."""
        self._stage, self._running, self._scenario = stage, running, scenario
        self._asleep: list[int] = []
        self._called: int | None = None
        self._inserted: int | None = None
        self._before = self._counts()

    def look(self) -> None:
        """How many statements wait in the database now. Raises DatabaseError."""
        if self._scenario.holds == "pool":
            self._asleep.append(self._stage.database.asleep(self._running.contender.id))

    def close(self) -> None:
        """What is there now that the window has closed. Raises ProcessError where the upstream does not say, and DatabaseError."""
        if self._before.calls is not None:
            self._called = upstream_counts(self._stage.upstream_url)[0] - self._before.calls
        if self._scenario.writes:
            self._inserted = self._stage.database.inserted()

    def effects(self) -> Effects:
        """Raises ProcessError where the upstream does not say, and DatabaseError."""
        before, after, scenario = self._before, self._counts(), self._scenario
        plain = not scenario.heavy_requests  # else requests of two kinds, of which the database's and the upstream's counts are not one
        asked = before.database, after.database
        questions, selects, inserts, keys, prepared = (
            (None, None, None, None, None)
            if asked[0] is None or asked[1] is None
            else (
                asked[1].questions - asked[0].questions,
                asked[1].selects - asked[0].selects,
                asked[1].inserts - asked[0].inserts,
                asked[1].keys_read - asked[0].keys_read,
                asked[1].statements_executed - asked[0].statements_executed,
            )
        )
        return Effects(
            counted=_difference(before.requests, after.requests),
            clients=scenario.clients if scenario.reuses_connections else None,
            calls=scenario.upstream_calls,
            call_ms=call_ms(scenario),
            called=_difference(before.calls, after.calls),
            asked_ms=_difference(before.asked_ms, after.asked_ms),
            statements=scenario.statements,
            questions=questions,
            selects=selects,
            inserts=inserts,
            prepared=prepared if self._running.prepares else None,
            keys_read=keys if plain and reads_a_row(scenario) else None,
            inserted=self._stage.database.inserted() if scenario.writes else None,
            asleep=max(self._asleep) if self._asleep else None,
            looks=len(self._asleep),
            called_in_time=self._called,
            inserted_in_time=self._inserted,
        )

    def _counts(self) -> _Counts:
        plain = not self._scenario.heavy_requests
        calls, asked_ms = upstream_counts(self._stage.upstream_url) if self._scenario.upstream_calls and plain else (None, None)
        database = self._stage.database.counters() if self._scenario.statements and plain else None
        return _Counts(_requests(self._running.base_url), calls, asked_ms, database)


def call_ms(scenario: Scenario) -> int:
    """What each upstream call of a request waits, by its path."""
    return int(parse_qs(urlsplit(scenario.path).query).get("ms", ["0"])[0]) if scenario.upstream_calls else 0


def quoted(log: Path) -> str | None:
    """The first wrong answer that k6 quoted; None where there is none."""
    with contextlib.suppress(OSError):
        found = QUOTED.search(log.read_text(encoding="utf-8", errors="replace"))
        if found is not None:
            return found[1].replace('\\"', '"')[:1000]
    return None


def _difference(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else after - before


def _requests(base_url: str) -> int | None:
    with contextlib.suppress(httpx.HTTPError, KeyError, ValueError), client(STATS_S) as asking:
        return int(asking.get(f"{base_url}/stats").json()["requests_total"])
    return None


def reads_a_row(scenario: Scenario) -> bool:
    """Whether each request looks up one row by its key."""
    return scenario.method == "GET" and endpoint(scenario.path) == "/books"


def upstream_counts(url: str) -> tuple[int, int]:
    """Calls that the upstream has answered, and what they were to wait in all (ms). Raises ProcessError where it does not say."""
    with contextlib.suppress(httpx.HTTPError, KeyError, ValueError), client(STATS_S) as asking:
        seen = asking.get(f"{url}/stats").json()
        return int(seen["calls_total"]), int(seen["asked_ms_total"])
    raise ProcessError("the upstream does not say which calls it got")
