"""From what was observed of a cell to what is told of it: status, limit, reasons, doubts and figures. Pure.

Derived whenever a run is read: nothing of it is kept in cells.jsonl.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable
from typing import Any

from nsb.analyse import duet, effects, exhausted, failing, overload, owners, physics
from nsb.analyse.growth import climb
from nsb.analyse.validity import Judgement, Observation, judge, of_the_first
from nsb.records.cells import CELLS_SCHEMA, Observed, Record
from nsb.records.divided import Divided
from nsb.records.duet import Duet
from nsb.records.exhausted import Exhausted
from nsb.records.failing import Failing
from nsb.records.judged import Cell, Check, Half, Latency, SteadyWindow
from nsb.records.overload import Overload
from nsb.records.schema import SCHEMA, refuse_schema
from nsb.registry.plan import cut_short
from nsb.registry.terms import OVERLOAD_PERCENT, P99_REQUESTS

BEGAN_MS = 50.0
"""Several generators may begin so far apart (ms)."""
JUDGED = re.compile(rb'\s*\{\s*"schema"\s*:\s*1\s*,')
"""A line of schema 1: the judged cell itself. Goes away with the runs below bench/results that have such lines."""


def window_s(seen: Observed) -> float:
    """The window that figures divide by; of a load that ends: from its first request to its last answer (s)."""
    whole_s = seen.load.whole_s if seen.offered.ends and seen.load is not None else None
    return round(whole_s, 3) if whole_s else seen.offered.window_s


def observation(record: Record) -> Observation:
    """What the checks of validity.py ask, from the record of a measured cell."""
    assert record.observed is not None
    seen = record.observed
    asked, has, window = seen.offered, seen.stations, seen.window
    length_s = window_s(seen)
    return Observation(
        model=record.model,
        rate=asked.rate,
        vus=asked.clients,
        hold_s=asked.hold_s,
        holds=asked.holds,
        statements=asked.statements,
        window_s=length_s,
        spanned_s=length_s if asked.ends else window.last.at_s - window.first.at_s,
        exit_code=seen.exit_code,
        load=seen.load,
        cpu_s=window.used(None if asked.ends else length_s),
        steal_s=window.last.steal_s - window.first.steal_s,
        cores=has.cores,
        shared=frozenset(has.shared),
        workers=has.workers,
        pool=has.pool,
        server_threads=has.server_threads,
        blocked_by=has.blocked_by,
        waits_on_loop=has.waits_on_loop,
        calls=asked.calls,
        call_threads=has.call_threads,
        query_threads=has.query_threads,
        db_connections=window.connections,
        executed=window.executed,
        before=window.before,
        after=window.after,
        half_cpu_s=window.halves("service"),
        database_known=has.database_known,
        rehearsal=asked.rehearsal,
        ladder=window.ladder,
        tcp=window.tcp(),
        clients=window.clients,
        whole=asked.ends,
        held=seen.held,
        uncollected=seen.uncollected or window.uncollected,
        wrong_answer=seen.wrong_answer,
        caused=_caused(seen, length_s),
        blocks_s=asked.blocks_s,
        blocks_every=asked.blocks_every,
    )


def _caused(seen: Observed, length_s: float) -> tuple[Check, ...]:
    whose = [] if seen.owned is None else [owners.check([seen.owned], connected=not seen.offered.ends)]
    if seen.effects is None or seen.load is None:
        return tuple(whose)
    in_database = seen.load.requests / length_s * seen.offered.hold_s
    return (*whose, *effects.checks(seen.effects, seen.load, seen.held, in_database, seen.stations.database_known))


def judged(record: Record) -> Cell:
    """The cell that a record stands for, with its checks."""
    common: dict[str, Any] = {
        "round": record.round,
        "attempt": record.attempt,
        "contender": record.contender,
        "scenario": record.scenario,
        "profile": record.profile,
        "model": record.model,
        "started_at": record.started_at,
    }
    if record.duet is not None:
        return _cost(common, record.wall_s, record.duet)
    if record.overload is not None:
        return _overload(common, record.wall_s, record.overload)
    if record.failing is not None:
        return _failing(common, record.wall_s, record.failing)
    if record.exhausted is not None:
        return _exhausted(common, record.wall_s, record.exhausted)
    if record.observed is None:
        return Cell(**common, status="unsupported" if record.outcome == "unsupported" else "failed", reasons=[record.why or ""])
    o = observation(record)
    return _measured(common, record, record.observed, o, judge(o))


def _cost(common: dict[str, Any], wall_s: float, seen: Duet) -> Cell:
    """The cell of a cost row, its cost as it was in this cell: `duet.anchored` makes it that of the round."""
    found, checks = duet.figure(seen), duet.checks(seen)
    outcome = _outcome(checks, found is not None)
    again = _of_the_process(seen.own.ended_before)
    if seen.partner is not None:
        again += _of_the_process(seen.partner.ended_before, "the reference")
    common |= {
        **outcome,
        "doubts": [*outcome["doubts"], *again],
        "limit": "cpu",
        "wall_s": wall_s,
        "window_s": round(seen.closes_s - seen.opens_s, 3),
        "vus": seen.connections,
        "requests": seen.own.answers,
        "memory_peak_mib": seen.own.pss_mib,
        "cpu_s": seen.cpu_s,
    }
    if found is None:
        return Cell(**common)
    own = seen.own.series.between(seen.opens_s, seen.closes_s)
    middle = len(own.at_s) // 2
    edges = [(0, middle), (middle, len(own.at_s) - 1)]
    return Cell(
        **common,
        cost=found,
        cpu_us_per_request={"service": found.own_us},
        throughput_rps=round(1e6 / found.own_us, 3),
        halves=[
            Half(requests=own.answers[b] - own.answers[a], p50_ms=None, service_cpu_s=round(own.service_cpu_s[b] - own.service_cpu_s[a], 6))
            for a, b in edges
        ],
    )


def _outcome(checks: list[Check], has_figure: bool) -> dict[str, Any]:
    invalid = [check for check in checks if check.outcome == "invalid"]
    return {
        "status": "invalid" if invalid or not has_figure else "valid",
        "reasons": [f"{check.id} {check.sentence}" for check in invalid],
        "doubts": [f"{check.id} {check.sentence}" for check in checks if check.outcome == "doubt"],
        "checks": checks,
    }


def _overload(common: dict[str, Any], wall_s: float, seen: Overload) -> Cell:
    """The cell of an overload: its throughput is the capacity, its halves are those of the headline's level."""
    found, loads = overload.figure(seen), [*([seen.idle] if seen.idle is not None else []), *seen.levels]
    common |= {
        **_outcome(overload.checks(seen), found is not None),
        "limit": overload.limit(seen),
        "wall_s": wall_s,
        "window_s": seen.window_s,
        "vus": seen.vus,
        "requests": sum(seen.answers_of) + sum(sum(each.users.answered_of) for each in loads),
        "memory_peak_mib": max((each.pss_mib for each in loads), default=None),
        "threads_peak": max((each.threads for each in loads), default=None),
    }
    if found is None:
        return Cell(**common)
    headline = next((each.users for each in seen.levels if each.percent == OVERLOAD_PERCENT), None)
    halves = [] if headline is None else [headline.good_first, headline.good - headline.good_first]
    return Cell(
        **common,
        overload=found,
        throughput_rps=found.capacity_rps,
        halves=[Half(requests=good, p50_ms=None, service_cpu_s=0.0) for good in halves],
    )


def _failing(common: dict[str, Any], wall_s: float, seen: Failing) -> Cell:
    """The cell of a fault; nothing of it is full."""
    found = failing.figure(seen)
    users = seen.others.users
    halves = [] if users is None else [users.good_first, users.good - users.good_first]
    return Cell(
        **common,
        **_outcome(failing.checks(seen), found is not None),
        limit="offered",
        wall_s=wall_s,
        window_s=seen.fault_s,
        vus=seen.connections,
        rate=round(seen.rate),
        requests=sum(sum(each.answered_of) for own in seen.tallies for each in own),
        memory_peak_mib=seen.pss_mib,
        threads_peak=seen.threads,
        failing=found,
        halves=[Half(requests=good, p50_ms=None, service_cpu_s=0.0) for good in halves],
    )


def _exhausted(common: dict[str, Any], wall_s: float, seen: Exhausted) -> Cell:
    """The cell of a service whose memory ended."""
    checks = exhausted.checks(seen)
    return Cell(
        **common,
        **_outcome(checks, has_figure=True),
        wall_s=wall_s,
        window_s=seen.lasted_s,
        vus=seen.most,
        rate=seen.rate,
        requests=seen.held.opened,
        memory_peak_mib=seen.pss_mib,
        connections=seen.held.opened,
    )


def _measured(common: dict[str, Any], record: Record, seen: Observed, o: Observation, judgement: Judgement) -> Cell:
    load, asked, window = o.load, seen.offered, seen.window
    said = [] if load is not None else [f"k6 said: {seen.generator_said or 'nothing'}"]
    common |= {
        "status": judgement.status,
        "reasons": [*judgement.reasons, *said],
        "doubts": [*judgement.doubts, *_of_the_process(seen.ended_before), *_of_the_levels(seen), *_of_the_generators(seen.divided)],
        "limit": judgement.limit,
        "wall_s": record.wall_s,
        "window_s": o.window_s,
        "rate": asked.rate,
        "vus": asked.vus,
        "cpu_s": {role: round(seconds, 6) for role, seconds in o.cpu_s.items()},
        "memory_peak_mib": round(window.peak_mib, 1),
        "threads_peak": max(count for _, count in window.footprints),
        "whole": asked.ends,
        "db_connections_peak": window.connections,
        "statements": window.executed,
        "pinnings": seen.pinnings,
        "checks": list(judgement.checks),
        "raw": seen.raw,
    }
    if load is None or load.requests == 0:
        return Cell(**common)
    common |= {"requests": load.requests, "failures": load.failures_all, "dropped": load.dropped}
    if asked.levels:
        common |= {"ladder": list(window.ladder), "memory_slope": climb(window.ladder, o.server_threads).slope}
    if asked.levels and not asked.holding:  # its load changes by design: rates, times and CPU over all of it mean nothing
        return Cell(**common)
    # k6 numbers only the arrivals it started: after a drop the schedule is lost, and what is left is the request itself.
    latency = load.service if o.model == "open" and load.dropped else load.latency
    collected = any(reading.collected_s is not None for reading in window.ladder)  # the slowest requests are those that waited for it
    if not of_the_first(o, load):
        common["latency_ms"] = Latency(
            p50=_ms(latency.p50),
            p90=_ms(latency.p90),
            p99=_ms(latency.p99) if load.requests >= P99_REQUESTS and not load.dropped and not collected else None,
            max=None if collected else _ms(latency.max),
        )
    return Cell(
        **common,
        throughput_rps=round(load.requests / o.window_s, 3),
        cpu_us_per_request={
            role: round(o.cpu_s[role] / load.requests * 1e6, 2) if role != "database" or o.database_known else None
            for role in ("service", "generator", "database", "upstream")
        },
        switches_per_request=None if window.switched is None else round(window.switched / load.requests, 4),
        halves=[
            Half(
                requests=half.count,
                p50_ms=_ms(half.p50),
                p99_ms=_ms(half.p99) if half.count >= P99_REQUESTS / 2 else None,
                service_cpu_s=round(cpu, 6),
            )
            for half, cpu in zip(load.halves, o.half_cpu_s, strict=True)
        ],
        still=[
            SteadyWindow(held=asked.levels[level], requests=found.count, p50_ms=_ms(found.p50), p90_ms=_ms(found.p90))
            for level, found in sorted(load.still.items())
        ],
    )


def _of_the_process(ended: int | None, who: str = "the service") -> list[str]:
    """What every cell of a process says."""
    return [] if ended is None else [f"restart: {who} had ended with {ended} and was started again in this round"]


def _of_the_levels(seen: Observed) -> list[str]:
    wanted = seen.offered.levels_wanted
    return [] if wanted is None else [cut_short(seen.offered.levels[-1], wanted)]


def _of_the_generators(divided: Divided | None) -> list[str]:
    """Each of several keeps its own schedule: what they are apart, the whole one is off."""
    if divided is None or divided.spread_ms <= BEGAN_MS:
        return []
    return [f"generators: the last of {len(divided.cores)} began {divided.spread_ms:.0f} ms after the first"]


def _ms(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def read_cells(lines: Iterable[bytes], given: physics.Given = physics.UNKNOWN) -> list[Cell]:
    """Cells of a journal, judged now and slim: 20,000 of them with their checks need more memory than a harness should take.

    Raises ValueError for a line that is no record, or one of another schema, and Impossible for one that says what cannot be.
    """
    found = duet.anchored(_read(f"cells.jsonl, line {number},", text, given).slim() for number, text in enumerate(lines, 1))
    return duet.burdened(found)


def _read(where: str, text: bytes, given: physics.Given) -> Cell:
    try:
        read = Cell.model_validate_json(text) if JUDGED.match(text) else Record.model_validate_json(text)
    except ValueError:
        with contextlib.suppress(json.JSONDecodeError, UnicodeDecodeError, AttributeError):
            refuse_schema(where, json.loads(text).get("schema"), (SCHEMA, CELLS_SCHEMA))
        raise ValueError(f"{where} is no record of a cell") from None
    refuse_schema(where, read.schema_, (SCHEMA if isinstance(read, Cell) else CELLS_SCHEMA,))
    cannot_be = physics.of_cell(read, given) if isinstance(read, Cell) else physics.of_record(read, given)
    if cannot_be is not None:
        raise physics.Impossible(f"{where} ({read.scenario}, {read.contender}, round {read.round}) cannot be: {cannot_be}")
    return read if isinstance(read, Cell) else judged(read)
