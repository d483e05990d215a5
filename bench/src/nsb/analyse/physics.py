"""What no service and no load can do: a record that says it was altered, or its clock was. Pure.

Everything here follows from how clocks, counters and queues work, or from what stands twice in a record. What a dishonest service can do is
judged elsewhere (validity.py, duet.py): it makes a cell invalid. What is found here stops whoever reads the run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from nsb.records.cells import Observed, Record
from nsb.records.duet import Driven, Duet
from nsb.records.edge import Edge
from nsb.records.exhausted import Exhausted
from nsb.records.failing import Failing
from nsb.records.judged import Cell
from nsb.records.overload import Overload, Tally
from nsb.records.summary import Load, SummaryError, Trend, load_summary

SLACK = 1.02
"""Two clocks that are read one after the other may differ by this factor."""
SHORT_MS = 2.0
"""A timer may end so much before its time (ms): load.js counts as too short what came sooner still."""
ROUNDED = 1e-3
"""Figures of a cell are rounded to three digits behind the point or more."""
DERIVED_S = 0.1
"""What a core was busy is no counter: it is the time without what the kernel tells in hundredths of a second, and the clock is read a
little later. On a core that has nothing to do it can fall by so much (s)."""


class Impossible(ValueError):
    """A record says what cannot be; the message names the line and both values."""


@dataclass(frozen=True)
class Given:
    """What is known of a run beside its lines."""

    holds_ms: Mapping[str, float] = field(default_factory=dict)
    """Scenario → what each of its requests waits for at the least (run.json)."""
    summary: Callable[[str], Mapping[str, Any] | None] = lambda _: None
    """The generator's own summary by its name; None where it is not kept."""


UNKNOWN = Given()
"""Lines alone."""


def of_record(record: Record, given: Given) -> str | None:
    """The first thing in a record that cannot be, in a sentence with both values; None where there is none."""
    if record.observed is not None:
        return next(_observed(record.observed, given), None)
    if record.duet is not None:
        return next(_duet(record.duet), None)
    if record.overload is not None:
        return next(_overload(record.overload), None)
    if record.exhausted is not None:
        return next(_exhausted(record.exhausted), None)
    return next(_failing(record.failing), None) if record.failing is not None else None


def of_cell(cell: Cell, given: Given) -> str | None:
    """The same of a judged cell (schema 1): here the figures are compared with what they were made of."""
    return next(_judged(cell, given), None)


# --- a cell under k6 ---


def _observed(seen: Observed, given: Given) -> Iterator[str]:
    window, load = seen.window, seen.load
    machine = seen.stations.cores["machine"]
    for before, after in ((window.first, window.middle), (window.middle, window.last)):
        yield from _edges(before, after, machine)
    for name, value in (("executed", window.executed), ("switched", window.switched), ("connections", window.connections)):
        if value is not None and value < 0:
            yield f"{name} is {value}: a count is not below 0"
    if load is None:
        return
    yield from _load(load, seen)
    if seen.raw is not None:
        yield from _as_kept(load, given.summary(seen.raw), seen.raw)


def _edges(before: Edge, after: Edge, machine: int) -> Iterator[str]:
    took_s = after.at_s - before.at_s
    if took_s <= 0:
        yield f"an edge at {after.at_s} follows one at {before.at_s}"
        return
    counters = {role: (before.cpu[role], after.cpu.get(role, 0.0), 0.0) for role in before.cpu}
    counters["the machine"] = (before.busy_s, after.busy_s, DERIVED_S * machine)
    counters["the hypervisor"] = (before.steal_s, after.steal_s, 0.0)
    for role, (first, last, falls) in counters.items():
        if last < first - falls or first < 0:
            yield f"CPU of {role} goes from {first} to {last} s: it only grows"
    for name, count in (before.tcp or {}).items():
        if after.tcp is not None and after.tcp[name] < count:
            yield f"{name} goes from {count} to {after.tcp[name]}: it only grows"
    used = sum(after.cpu.values()) - sum(before.cpu.values())
    if used > machine * took_s * SLACK + 0.02:
        yield f"{used:.3f} s of CPU were used in {took_s:.3f} s by {machine} cores"


def _load(load: Load, seen: Observed) -> Iterator[str]:
    asked = seen.offered
    trends = {"latency": load.latency, "service": load.service, "iteration": load.iteration, "lag": load.lag}
    trends |= {"first half": load.halves[0], "second half": load.halves[1]}
    for name, trend in trends.items():
        yield from _ordered(name, (trend.p50, trend.p90, trend.p99, trend.max))
    if load.sent_all is None:
        if load.wrong > load.checked:
            yield f"{load.wrong} of {load.checked} bodies checked were wrong"
    elif not load.requests <= (load.answered_all or 0) <= load.sent_all:
        yield f"{load.requests} requests in the window, {load.answered_all} answers in all, {load.sent_all} sent"
    if load.failures > load.failures_all:
        yield f"{load.failures} failures in the window, {load.failures_all} in all"
    if load.latency.count > load.requests:
        yield f"{load.latency.count} latencies of {load.requests} requests"
    halves = load.halves[0].count + load.halves[1].count
    if halves != load.latency.count:
        yield f"the halves have {halves} latencies, the window {load.latency.count}"
    if not load.too_short:
        yield from _held(load.service.p50, asked.hold_s)
        length_s = load.whole_s if asked.ends and load.whole_s else asked.window_s
        if not asked.levels:
            yield from _by_users(load.requests, asked.vus, asked.hold_s, length_s)


def _ordered(name: str, values: Sequence[float | None]) -> Iterator[str]:
    told = [value for value in values if value is not None]
    if any(value < 0 for value in told):
        yield f"{name}: {min(told)} ms is below 0"
    for low, high in pairwise(told):
        if low > high:
            yield f"{name}: a quantile of {low} ms comes before one of {high} ms"


def _held(p50_ms: float | None, hold_s: float) -> Iterator[str]:
    if p50_ms is not None and hold_s and p50_ms < hold_s * 1000 - SHORT_MS:
        yield f"p50 is {p50_ms:.3f} ms, its hold {hold_s * 1000:.0f} ms"


def _by_users(requests: int, users: int, hold_s: float, window_s: float) -> Iterator[str]:
    """Each user waits for the hold before its next request; one more answer each may fall into the window."""
    if hold_s and users:
        most = users * (math.floor(window_s / (hold_s - SHORT_MS / 1000)) + 1)
        if requests > most:
            cap = f"{users} users that wait {hold_s:g} s each have at most {most / window_s:.0f}/s"
            yield f"{requests / window_s:.0f} requests/s, where {cap}"


def _as_kept(load: Load, summary: Mapping[str, Any] | None, name: str) -> Iterator[str]:
    if summary is None:
        return
    try:
        kept = load_summary(summary)
    except SummaryError as error:
        yield f"{name} cannot be read: {error}"
        return
    for what in (
        "requests",
        "started",
        "failures_all",
        "dropped",
        "checked",
        "wrong",
        "too_short",
        "sent_all",
        "answered_all",
        "opened_all",
        "odd_all",
    ):
        if getattr(load, what) != getattr(kept, what):
            yield f"{what} is {getattr(load, what)}, in {name} it is {getattr(kept, what)}"
    for what in ("latency", "service", "iteration", "lag"):
        yield from _same_trend(what, getattr(load, what), getattr(kept, what), name)
    for half, recorded, told in zip(("first half", "second half"), load.halves, kept.halves, strict=True):
        yield from _same_trend(half, recorded, told, name)


def _same_trend(what: str, recorded: Trend, kept: Trend, name: str) -> Iterator[str]:
    for statistic in ("count", "mean", "p50", "p90", "p99", "max"):
        a, b = getattr(recorded, statistic), getattr(kept, statistic)
        if a != b and (a is None or b is None or not math.isclose(a, b, rel_tol=1e-9)):
            yield f"{what} {statistic} is {a}, in {name} it is {b}"


# --- a cost cell ---


def _duet(seen: Duet) -> Iterator[str]:
    if seen.closes_s <= seen.opens_s:
        yield f"the window closes at {seen.closes_s} and opens at {seen.opens_s}"
    for name, value in [("the database", seen.executed), ("rows", seen.inserted), ("calls", seen.called)]:
        if value is not None and value < 0:
            yield f"{name}: {value} is below 0"
    for role, used in [*seen.cpu_s.items(), ("foreign", seen.foreign_s), ("steal", seen.steal_s)]:
        if used < 0:
            yield f"CPU of {role} is {used} s: it only grows"
    for each in (seen.own, seen.partner):
        if each is not None:
            yield from _driven(each, seen)


def _driven(each: Driven, seen: Duet) -> Iterator[str]:
    series = each.series
    columns: dict[str, Sequence[float]] = {
        "time": series.at_s,
        "answers": series.answers,
        "service CPU": series.service_cpu_s,
        "generator CPU": series.generator_cpu_s,
    }
    means = {"answers": series.mean_answers, "service CPU": series.mean_service_cpu_s} if series.mean_answers else {}
    columns |= {f"the mean of {name}": column for name, column in means.items()}
    if len({len(column) for column in columns.values()}) > 1:
        yield f"{each.contender}: {', '.join(f'{len(column)} of {name}' for name, column in columns.items())}"
        return
    for name, column in columns.items():
        for number, (before, after) in enumerate(pairwise(column), 2):
            if after < before or (name == "time" and after == before):
                yield f"{each.contender}, reading {number}: {name} goes from {before} to {after}, it only grows"
    for name, column in means.items():
        for number, (mean, (before, after)) in enumerate(zip(column[1:], pairwise(columns[name]), strict=True), 2):
            if not before - ROUNDED <= mean <= after + ROUNDED:
                yield f"{each.contender}, reading {number}: the mean of {name} is {mean}, not between {before} and {after}"
    for number, (cpu, at) in enumerate(zip(pairwise(series.service_cpu_s), pairwise(series.at_s), strict=True), 2):
        if cpu[1] - cpu[0] > seen.cores * (at[1] - at[0]) * SLACK + 0.01:
            yield f"{each.contender}, reading {number}: {cpu[1] - cpu[0]:.3f} s of CPU in {at[1] - at[0]:.3f} s on {seen.cores} cores"
    if series.answers and each.answers < series.answers[-1]:
        yield f"{each.contender}: {each.answers} answers in all, {series.answers[-1]} by the last reading"


# --- an overload cell ---


def _overload(seen: Overload) -> Iterator[str]:
    yield from _edges(seen.first, seen.last, seen.cores["machine"])
    for level in [*([seen.idle] if seen.idle is not None else []), *seen.levels]:
        yield from (f"at {level.percent} %: {sentence}" for sentence in _edges(level.first, level.last, seen.cores["machine"]))
        yield from (f"at {level.percent} %: {sentence}" for sentence in _users(level.users))


def _failing(seen: Failing) -> Iterator[str]:
    if seen.first is not None and seen.last is not None:
        yield from _edges(seen.first, seen.last, seen.cores["machine"])
    for users in (each for own in seen.tallies for each in own):
        yield from _users(users)


def _exhausted(seen: Exhausted) -> Iterator[str]:
    held = seen.held
    if min(held.opened, held.refused, held.ended) < 0 or held.ended > held.opened or held.opened + held.refused > seen.most:
        yield f"of {seen.most} connections {held.opened} were held and {held.refused} refused, and {held.ended} ended"


def _users(users: Tally) -> Iterator[str]:
    """Each user who came ended in one way."""
    if users.wrong is not None:
        return
    if users.arrivals != users.good + users.gave_up + users.errors:
        yield f"{users.arrivals} users came; {users.good} had an answer in time, {users.gave_up} gave up and {users.errors} had an error"
    if sum(users.latencies) != users.good:
        yield f"{sum(users.latencies)} latencies of {users.good} answers in time"
    for part, whole, name in ((users.good_first, users.good, "in the first half"), (users.unsent, users.gave_up, "without a request")):
        if not 0 <= part <= whole:
            yield f"{part} of {whole} {name}"
    if any(answered > sent for answered, sent in zip(users.answered_of, users.sent_of, strict=True)):
        yield f"{sum(users.answered_of)} answers to {sum(users.sent_of)} requests"


# --- a judged cell ---


def _judged(cell: Cell, given: Given) -> Iterator[str]:
    yield from _status(cell)
    if not cell.counts or not cell.requests:
        return
    for role, used in cell.cpu_s.items():
        if used < 0:
            yield f"CPU of {role} is {used} s: it is not below 0"
    p = cell.latency_ms
    yield from _ordered("latency", (p.p50, p.p90, p.p99, p.max))
    hold_s = given.holds_ms.get(cell.scenario, 0.0) / 1000
    yield from _held(p.p50, hold_s)
    if not cell.ladder and cell.window_s:
        yield from _by_users(cell.requests, cell.vus, hold_s, cell.window_s)
        yield from _by_the_pool(cell, hold_s)
        yield from _derived(cell)
    if cell.raw is not None:
        yield from _summary_of(cell, given.summary(cell.raw), cell.raw)


def _status(cell: Cell) -> Iterator[str]:
    outcomes = [check.outcome for check in cell.checks]
    worst = next((outcome for outcome in ("invalid", "censored") if outcome in outcomes), None)
    if worst is not None and cell.status == "valid":
        at = cell.checks[outcomes.index(worst)]
        yield f"status is valid, and {at.id} is {worst}: {at.sentence}"


def _by_the_pool(cell: Cell, hold_s: float) -> Iterator[str]:
    connections = cell.db_connections_peak
    if cell.limit == "pool" and hold_s and connections and cell.throughput_rps:
        cap = (connections + 1) / hold_s
        if cell.throughput_rps > cap * (1 + max(0.02, hold_s / cell.window_s)):
            yield f"{cell.throughput_rps:g} requests/s, where {connections} connections give at most {cap:.0f}/s"


def _derived(cell: Cell) -> Iterator[str]:
    if cell.throughput_rps is not None:
        yield from _follows("requests/s", cell.throughput_rps, cell.requests / cell.window_s)
    for role, told in cell.cpu_us_per_request.items():
        if told is not None and role in cell.cpu_s:
            # cpu_s is rounded to 1 µs: of few requests that is much for each of them
            yield from _follows(f"CPU µs per request of the {role}", told, cell.cpu_s[role] / cell.requests * 1e6, 1 / cell.requests)
    for use in (check.inputs.get("service_use") for check in cell.checks if check.id == "V6"):
        if isinstance(use, float) and use > 1.05:
            yield f"the service used {use:.2f} × what its cores have"
    if cell.halves and sum(half.requests for half in cell.halves) > cell.requests:
        yield f"{sum(half.requests for half in cell.halves)} requests in the halves, {cell.requests} in the window"


def _follows(what: str, told: float, made: float, rounding: float = 0.0) -> Iterator[str]:
    if abs(told - made) > ROUNDED * max(abs(made), 1.0) + 0.01 + rounding:
        yield f"{what}: {told:g} is told, {made:g} follows from the cell's own counts"


def _summary_of(cell: Cell, summary: Mapping[str, Any] | None, name: str) -> Iterator[str]:
    if summary is None:
        return
    try:
        kept = load_summary(summary)
    except SummaryError:
        return  # of a version before this one
    if cell.requests != kept.requests:
        yield f"requests: {cell.requests} are told, {kept.requests} are in {name}"
    # After a drop a later version told the time of the request alone.
    trends = [kept.latency, kept.service] if cell.model == "open" and kept.dropped else [kept.latency]
    for what in ("p50", "p90", "p99"):
        told, made = getattr(cell.latency_ms, what), [getattr(trend, what) for trend in trends]
        if told is not None and not any(value is not None and abs(told - value) <= ROUNDED for value in made):
            yield f"{what}: {told} ms is told, {made[0]} ms is in {name}"
