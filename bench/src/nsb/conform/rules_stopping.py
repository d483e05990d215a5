"""C41, C42: how a service ends, and how it refuses to start."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import psutil
from websockets.frames import CloseCode

from nsb.conform import kernel
from nsb.conform.bed import LaunchFailed
from nsb.conform.suite import NOWHERE, Case, Stage, Stand, holds_for, rule, until
from nsb.conform.wire import Connection, Flight, NoAnswer, Reply, Socket, Stream, ask, get

FINISH_S: Final = 8.0  # C41
END_S: Final = 5.0  # allowed after that, for the machine to end a process
STREAMS: Final = 3  # of each kind, open at SIGTERM
AT_ONCE: Final = 2  # starts that must fail, run in parallel
MOST_MS: Final = 60_000  # C22
MOST_INTERVAL_MS: Final = 60_000
SETTINGS: Final = Path(__file__).parents[4] / "contract" / "settings.json"
USED_BY: Final = {"database": "/readyz", "upstream": "/fanout"}
"""A neighbour → the endpoint without which a service does not read the settings of that neighbour."""
PASSWORD: Final = "secret"  # of every bad DATABASE_URL in contract/settings.json


def _gone(processes: list[psutil.Process]) -> bool:
    return not any(_runs(process) for process in processes)


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@rule("C41", "SIGTERM: accepts no more, finishes what is in flight, ends with 0 or 143", Stage.STOP)
def terminates(stand: Stand, case: Case) -> None:
    stand.quiet()
    processes = kernel.family_of(stand.service.pid)
    idle = Connection(stand.url)
    case.equal("hello before", idle.ask(get("/hello")).text, "hello")  # its connection stays open; the service must not wait for it
    targets = [one for one in [*["/sleep?ms=2500"] * 6, *["/slow-query?ms=2000"] * 2] if stand.has(one)]
    streams = [Stream(stand.url, f"/events?interval_ms={MOST_INTERVAL_MS}") for _ in range(STREAMS) if stand.has("/events")]
    sockets = [Socket(stand.url) for _ in range(STREAMS) if stand.has("/ws")]
    flight = stand.fly(*targets)
    begun = len(targets) + len(streams) + len(sockets)
    seen = until(stand.stats, lambda stats: stats["in_flight"] == begun, 2)
    case.equal("in_flight before", seen["in_flight"], begun)
    stand.service.signal(signal.SIGTERM)
    began = time.monotonic()
    refused = until(lambda: _refuses(stand.url), lambda said: said, 1.5)
    case.holds(refused, "a new request while others are finished", "answered", "refused")
    ended_at = _ended(case, streams, sockets)
    _finished(case, flight, ended_at)
    until(lambda: _gone(processes), lambda gone: gone, FINISH_S + END_S)
    took = time.monotonic() - began
    left = [process.pid for process in processes if _runs(process)]
    code = stand.service.stop()
    idle.close()
    case.holds(took <= FINISH_S + END_S, "seconds to its end", f"{took:.1f}", f"at most {FINISH_S}")
    case.equal("processes that stay", left, [])
    case.holds(code in (0, 143, -signal.SIGTERM), "exit code", code, "0 or 143")


def _ended(case: Case, streams: list[Stream], sockets: list[Socket]) -> float:
    """Checks that streams end regularly; returns when the last one ended."""
    try:
        for stream in streams:
            case.equal("the events until the end", stream.rest(), b"data: 0\n\n")
        for socket in sockets:
            case.equal("the close of a WebSocket", socket.closed_with(), CloseCode.GOING_AWAY)
    except NoAnswer as error:
        case.holds(False, "the end of a stream at SIGTERM", str(error), "a regular one")
    ended_at = time.monotonic()
    for stream in streams:
        stream.leave()
    for socket in sockets:
        socket.leave()
    return ended_at


def _finished(case: Case, flight: Flight, streams_ended_at: float) -> None:
    for outcome in flight.outcomes():
        if isinstance(outcome, Reply):
            case.holds(streams_ended_at < outcome.ended_at, "streams", "ended after what was finished", "ended before it")
        got = (outcome.status, outcome.text) if isinstance(outcome, Reply) else f"no answer ({outcome})"
        good = ((200, '{"slept_ms":2500}'), (200, '{"queried_ms":2000}'))
        case.holds(got in good, "a request in flight at SIGTERM", got, "200 and its answer")


def _refuses(url: str) -> bool:
    try:
        ask(url, "/hello", patience_s=1)
    except NoAnswer:
        return True
    return False


@rule("C41", "SIGINT: ends within 8 s although requests would last longer", Stage.DEFAULTS)
def interrupted(stand: Stand, case: Case) -> None:
    processes = kernel.family_of(stand.service.pid)
    longest = [one for one in [f"/sleep?ms={MOST_MS}", f"/sleep-query?ms={MOST_MS}"] * 2 if stand.has(one)]
    flight = stand.fly(*longest)
    until(stand.stats, lambda stats: stats["in_flight"] == len(longest), 5)
    seen = holds_for(stand.stats, lambda stats: stats["in_flight"] == len(longest), 0.2)
    case.equal("in_flight with the longest waits that C22 allows", seen["in_flight"], len(longest))
    began = time.monotonic()
    stand.service.signal(signal.SIGINT)
    until(lambda: _gone(processes), lambda gone: gone, FINISH_S + END_S)
    took = time.monotonic() - began
    case.holds(took <= FINISH_S + END_S, "seconds to its end", f"{took:.1f}", f"at most {FINISH_S}")
    case.equal("processes that stay", [process.pid for process in processes if _runs(process)], [])
    code = stand.service.stop()
    case.holds(code in (0, 130, -signal.SIGINT), "exit code", code, "0 or 130")
    flight.outcomes()


@rule("C42", "a wrong setting ends the start with exit code 2 and one sentence", Stage.START)
def wrong_settings(stand: Stand, case: Case) -> None:
    with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        for findings in pool.map(lambda start: _refusal(stand, *start), _bad_starts(stand)):
            case.checks += 1
            case.findings += findings


def _bad_starts(stand: Stand) -> list[tuple[Mapping[str, str], str, tuple[str, bool]]]:
    """The environment of each start that contract/settings.json says must fail, the variable that is wrong, and the line on stderr."""
    return [
        ({**one.get("with", {}), one["variable"]: value}, one["variable"], _line(one, value))
        for one in json.loads(SETTINGS.read_text(encoding="utf-8"))["variables"]
        if stand.has(*(USED_BY[each] for each in one["needs"]))
        for value in one["bad"]
    ]


def _line(one: Mapping[str, Any], value: str) -> tuple[str, bool]:
    """What stderr must say: the whole sentence (True), or how it begins (False)."""
    whole = "begins" not in one
    return one["sentence" if whole else "begins"].replace("{value}", value), whole


def _says(line: str, sentence: str, whole: bool) -> bool:
    return line.removesuffix(".") == sentence if whole else line.startswith(sentence)


def _refusal(stand: Stand, environment: Mapping[str, str], name: str, wanted: tuple[str, bool]) -> list[str]:
    about = f'{name}="{environment[name]}"'
    try:
        running = stand.bed.launch({"DATABASE_URL": NOWHERE, **environment}, ready=False)
    except LaunchFailed as error:
        code, said = error.exit_code, error.stderr
    else:
        running.stop()
        return [f"{about}: expected a refusal, got a start"]
    found = [] if code == 2 else [f"{about}: expected exit code 2, got {code}"]
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    if len(lines) != 1:
        found.append(f"{about}: expected one line on stderr, got {len(lines)}: {lines[:3]}")
    elif not _says(lines[0], *wanted):
        found.append(f"{about}: expected {wanted[0]}{'' if wanted[1] else '…'}, got {lines[0]}")
    if PASSWORD in said:
        found.append(f"{name}: the password is printed")
    return found
