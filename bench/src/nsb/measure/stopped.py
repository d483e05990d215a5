"""`conform --stopped-for`: stops all contenders for a while, wakes them, and looks whether they are what they were. Effects only."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from urllib.parse import urlsplit

from nsb.conform.kernel import ports_towards
from nsb.conform.wire import NoAnswer, ask
from nsb.measure.client import StatsReader
from nsb.measure.native import Stage
from nsb.measure.patience import clock
from nsb.measure.process import ProcessError
from nsb.measure.running import Died, Running, wait_pool
from nsb.records.stopped import Asked, Inventory, Woken, requests
from nsb.registry.contenders import Contender

AT_ONCE = 20
"""Requests in flight: several of each kind, and more than one upstream connection."""
WATCH_S = 35.0
"""How long a woken contender is watched: keepers of pools look around every 30 s (s). Not longer than it was stopped."""
QUIET_S = 5.0
TELL_S = 60.0


@dataclass
class _Sleeper:
    running: Running
    before: Inventory
    after: Inventory | None = None
    failures: Sequence[str] = ()
    in_flight: int | None = None


def wake(
    stage: Stage, contenders: Sequence[Contender], stopped_s: float, say: Callable[[str], None]
) -> tuple[dict[str, Woken], dict[str, str]]:
    """All contenders stopped at the same time: contender → what was seen of it, and contender → why nothing could be."""
    sleepers: dict[str, _Sleeper] = {}
    out: dict[str, str] = {}
    with contextlib.ExitStack() as stack:
        for contender in contenders:
            say(f"{contender.id}: starting, opening its connections, stopping it")
            try:
                sleepers[contender.id] = _stopped(stage, contender, stack)
            except (Died, ProcessError) as error:
                out[contender.id] = str(error)
        _wait(stopped_s, say)
        for name, sleeper in sleepers.items():
            sleeper.running.process.thaw()
            sleeper.failures = _failures(sleeper.running.base_url, requests(sleeper.running.contender.endpoints))
            sleeper.after = _inventory(stage, sleeper.running)
            sleeper.in_flight = _in_flight(sleeper.running)
            say(f"{name}: awake")
        watch_s = min(WATCH_S, stopped_s)
        say(f"watching them for {watch_s:.0f} s more")
        time.sleep(watch_s)
        return {name: _woken(stage, sleeper) for name, sleeper in sleepers.items()}, out


def _stopped(stage: Stage, contender: Contender, stack: contextlib.ExitStack) -> _Sleeper:
    """Raises Died where the contender is not in order before its stop."""
    running = stage.start(contender)
    stack.callback(running.stop)
    running.ask()
    if not wait_pool(running, stage.database):
        raise Died(f"{contender.id} has not opened its pool", None, running.stderr_tail)
    failures = _failures(running.base_url, requests(contender.endpoints))
    if failures:
        raise Died(f"{contender.id}: {len(failures)} requests failed before the stop: {failures[0]}", None, running.stderr_tail)
    if _in_flight(running) != 0:
        raise Died(f"{contender.id} has requests in flight that nobody waits for", None, running.stderr_tail)
    before = _inventory(stage, running)
    running.process.freeze()
    return _Sleeper(running, before)


def _woken(stage: Stage, sleeper: _Sleeper) -> Woken:
    assert sleeper.after is not None
    later = _inventory(stage, sleeper.running)
    return Woken(sleeper.before, sleeper.after, later, sleeper.failures, sleeper.in_flight, sleeper.running.contender.endpoints)


def _inventory(stage: Stage, running: Running) -> Inventory:
    upstream = urlsplit(stage.upstream_url).port or 80
    return Inventory(
        frozenset(running.process.tree()),
        stage.database.connection_ids(running.contender.id),
        frozenset(ports_towards(running.pid, upstream)),
    )


def _failures(base_url: str, wanted: Sequence[Asked]) -> list[str]:
    with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        return [said for said in pool.map(lambda one: _failure(base_url, one), wanted) if said is not None]


def _failure(base_url: str, asked: Asked) -> str | None:
    try:
        reply = ask(base_url, asked.target)
    except NoAnswer as error:
        return f"{asked.target}: {error}"
    right = (reply.status, reply.text) == (200, asked.body)
    return None if right else f"{asked.target}: {reply.status} {reply.text[:100]}"


def _in_flight(running: Running) -> int | None:
    """What /stats says once nothing is in flight, or at the last when something stays."""
    reader = StatsReader(running.base_url)
    until = time.monotonic() + QUIET_S
    try:
        while True:
            seen = reader.now()
            if (seen is not None and seen.in_flight == 0) or time.monotonic() > until:
                return None if seen is None else seen.in_flight
            time.sleep(0.05)
    finally:
        reader.close()


def _wait(stopped_s: float, say: Callable[[str], None]) -> None:
    until = time.monotonic() + stopped_s
    while (left := until - time.monotonic()) > 0:
        say(f"all are stopped; {clock(left)} left")
        time.sleep(min(left, TELL_S))
