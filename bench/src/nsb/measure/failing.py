"""Measures what users get while something that a service needs fails, and how soon the service recovers. Effects only."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from urllib.parse import urlsplit

from nsb.measure import generator, owners
from nsb.measure.caused import part
from nsb.measure.duet import LOOK_S, Ground, counted
from nsb.measure.effects import upstream_counts
from nsb.measure.generator import Open
from nsb.measure.meter import Meter, sleep_until
from nsb.measure.native import Stage
from nsb.measure.overload import BEGIN_S, QUICK, QUICK_MORE_MS
from nsb.measure.process import ALL_CORES, Process, ProcessError
from nsb.measure.running import Running
from nsb.records.failing import Failing, Side
from nsb.records.overload import Tally
from nsb.registry import shapes
from nsb.registry.terms import Fault
from nsb.registry.timing import FAULT_LEAD_S, OVERLOAD_IDLE_S, RECOVERY_LIMIT_S

IDLE_LEAD_S = 0.2
"""For so long the users before the fault are not counted (s)."""
SLOW_CLIENTS = 300
"""More than any contender has threads."""
HALF_A_REQUEST = b'POST /books HTTP/1.1\r\nHost: slow\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"name":'


def measure(ground: Ground, scenario: shapes.Failing, running: Running) -> Failing:
    """One cell. The service runs, and all others are stopped. What it does wrong is in the record.

    Raises ProcessError for what the generator does wrong, and DatabaseError.
    """
    stage, rows = ground.stage, scenario.rows
    parts = [part(row) for row in rows]
    states, calls = any(each.statements for each in parts), any(each.calls for each in parts)
    looks = owners.looks(stage, [running])
    before, asked = counted(running), stage.database.counters() if states else None
    called = upstream_counts(stage.upstream_url)[0] if calls else None

    def drive(phases: tuple[float, float], quick_ms: list[float | None], name: str) -> tuple[list[Process], float, float]:
        """A generator for each part; when their window opens, and how long they may take (s)."""
        begins_s, (lead_s, window_s), give_up_s = time.time() + BEGIN_S, phases, scenario.give_up_ms / 1000
        started: list[Process] = []
        try:
            for number, (row, quick) in enumerate(zip(rows, quick_ms, strict=True)):
                limit_ms = 0 if quick is None else round(RECOVERY_LIMIT_S * 1000)
                users = Open(
                    begins_s, scenario.rate, round(lead_s * 1000), round(window_s * 1000), 0, scenario.give_up_ms, quick or 0.0, limit_ms
                )
                asking = [generator.target(row)]
                length_s = BEGIN_S + lead_s + window_s + give_up_s + RECOVERY_LIMIT_S
                started.append(ground.drive(running, asking, scenario.connections, f"{name}-{number}", length_s, users=users))
        except BaseException:
            _end(started)
            raise
        return started, begins_s + lead_s, BEGIN_S + lead_s + window_s + give_up_s + RECOVERY_LIMIT_S + generator.END_S

    def tallies(started: list[Process], deadline_s: float) -> list[Tally]:
        return [generator.tally(each, deadline_s) for each in started]

    started, opens_s, deadline_s = drive((IDLE_LEAD_S, OVERLOAD_IDLE_S - IDLE_LEAD_S), [None, None], "before")
    try:
        sleep_until(opens_s - LOOK_S)
        owners.snap(looks)
        idle = tallies(started, deadline_s)
    finally:
        _end(started)
    quick_ms = [None if (ms := each.quantile_ms(0.5)) is None else round(max(QUICK * ms, ms + QUICK_MORE_MS), 3) for each in idle]
    during: list[Tally] = []
    first = last = memory = threads = None
    if None not in quick_ms and not any(each.wrong for each in idle):
        started, opens_s, deadline_s = drive((FAULT_LEAD_S, scenario.fault_s), quick_ms, "during")
        try:
            meter = Meter(stage, running, started)
            sleep_until(opens_s)
            first = meter.edge()
            with FAULTS[scenario.fault](stage, running):
                sleep_until(opens_s + scenario.fault_s)
                last = meter.edge()
                memory, threads = meter.service_footprint()
            during = tallies(started, deadline_s)
        finally:
            _end(started)
    sides = [
        Side(idle=own, quick_ms=quick, users=during[number] if during else None)
        for number, (own, quick) in enumerate(zip(idle, quick_ms, strict=True))
    ]
    after, executed = counted(running), stage.database.counters() if asked is not None else None
    return Failing(
        fault=scenario.fault,
        parts=parts,
        rate=scenario.rate,
        connections=scenario.connections,
        give_up_ms=scenario.give_up_ms,
        hold_ms=rows[0].hold_ms,
        fault_s=scenario.fault_s,
        limit_s=RECOVERY_LIMIT_S,
        needing=sides[0],
        others=sides[1],
        first=first,
        last=last,
        pss_mib=None if memory is None else round(memory, 2),
        threads=threads,
        cores={**{role: len(cores) for role, cores in stage.placement.as_facts().items()}, "machine": len(ALL_CORES)},
        counted=None if before is None or after is None else after - before,
        executed=None if asked is None or executed is None else executed.questions - asked.questions,
        called=None if called is None else upstream_counts(stage.upstream_url)[0] - called,
        owned=looks[0].owned(),
    )


def _end(started: list[Process]) -> None:
    for each in started:
        each.end(0)


# --- faults: each lasts for the length of the block ----------------------------------------------------------------------------


@contextlib.contextmanager
def _upstream(stage: Stage, running: Running) -> Iterator[None]:
    """It accepts connections, as its kernel does, and answers nothing."""
    stage.upstream.freeze()
    try:
        yield
    finally:
        stage.upstream.thaw()


@contextlib.contextmanager
def _database(stage: Stage, running: Running) -> Iterator[None]:
    """The same, of a database that can hang (Server)."""
    stage.database.freeze()
    try:
        yield
    finally:
        stage.database.thaw()


@contextlib.contextmanager
def _clients(stage: Stage, running: Running) -> Iterator[None]:
    """Clients who send half of a request and then nothing. Raises ProcessError where the service does not take them."""
    at = urlsplit(running.base_url)
    slow: list[socket.socket] = []
    try:
        try:
            for _ in range(SLOW_CLIENTS):
                one = socket.create_connection((at.hostname or "", at.port or 0), timeout=2.0)
                slow.append(one)
                one.sendall(HALF_A_REQUEST)
        except OSError as error:
            raise ProcessError(f"{running.contender.id} took {len(slow)} of {SLOW_CLIENTS} slow clients: {error}") from None
        yield
    finally:
        for one in slow:
            one.close()


FAULTS: Mapping[Fault, Callable[[Stage, Running], contextlib.AbstractContextManager[None]]] = {
    "upstream": _upstream,
    "database": _database,
    "clients": _clients,
}
