"""Counts what a cost row causes in the database and at the upstream: over its whole load, and by moments of it. Effects only."""

from __future__ import annotations

import time
from typing import Any

from nsb.measure.effects import Neighbours, call_ms, reads_a_row, upstream_counts
from nsb.records.duet import Midway, Part
from nsb.registry.shapes import CostRow, Mixture, Overload


class Caused:
    """Counts from now on, of services that are idle now."""

    def __init__(self, stage: Neighbours, scenario: CostRow | Overload) -> None:
        """Where rows are inserted, with the books as they were seeded.

        Raises DatabaseError, and ProcessError where the upstream does not say.
        """
        self._stage, self._scenario = stage, scenario
        self._rows = [row for row, _ in scenario.mixed]
        self._writes = any(row.writes for row in self._rows)
        if self._writes:
            stage.database.reset_books()
        self._asked = stage.database.counters() if any(row.statements for row in self._rows) else None
        self._called = upstream_counts(stage.upstream_url) if any(row.upstream_calls for row in self._rows) else None

    def executed(self) -> int | None:
        """Statements so far; None where none are declared. Raises DatabaseError."""
        return None if self._asked is None else self._stage.database.counters().questions - self._asked.questions

    def called(self) -> int | None:
        """Upstream calls so far; None where none are declared. Raises ProcessError."""
        return None if self._called is None else upstream_counts(self._stage.upstream_url)[0] - self._called[0]

    def midway(self, clocks_s: float = 0.0) -> Midway | None:
        """What was done by now; None where nothing is counted. `clocks_s`: how far this clock and the generator's may be apart.

        Raises ProcessError and DatabaseError.
        """
        if self._asked is None and self._called is None:
            return None
        from_s = time.time() - clocks_s
        inserted = self._stage.database.inserted() if self._writes else None
        executed, called = self.executed(), self.called()
        until_s = time.time() + clocks_s
        return Midway(from_s=round(from_s, 6), until_s=round(until_s, 6), executed=executed, inserted=inserted, called=called)

    def whole(self) -> dict[str, Any]:
        """Of a Duet: what its row declares, and what it has caused, when nothing is under way any more.

        Raises ProcessError and DatabaseError.
        """
        rows, database = self._rows, self._stage.database
        now = None if self._asked is None else database.counters()
        calls = None if self._called is None else upstream_counts(self._stage.upstream_url)

        def since(name: str) -> int | None:
            return None if now is None else int(getattr(now, name) - getattr(self._asked, name))

        return {
            "statements": self._scenario.statements,
            "executed": since("questions"),
            "selects": since("selects"),
            "inserts": since("inserts"),
            "prepared": since("statements_executed"),
            "keys_read": since("keys_read") if any(map(reads_a_row, rows)) else None,
            "inserted": database.inserted() if self._writes else None,
            "called": None if calls is None or self._called is None else calls[0] - self._called[0],
            "asked_ms": None if calls is None or self._called is None else calls[1] - self._called[1],
            "calls": self._scenario.upstream_calls,
            "call_ms": call_ms(self._scenario),
            "hold_ms": min(row.hold_ms for row in rows),
            "parts": [part(row) for row in rows] if isinstance(self._scenario, Mixture) else [],
            "rounds": self._scenario.compute_rounds,
        }


def part(row: CostRow) -> Part:
    """What each of its requests causes."""
    return Part(
        scenario=row.id,
        statements=row.statements,
        writes=row.writes,
        reads_a_row=reads_a_row(row),
        calls=row.upstream_calls,
        call_ms=call_ms(row),
        rounds=row.compute_rounds,
    )
