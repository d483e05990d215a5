"""C1–C17, C40: the answers are true. Times are checked against lower bounds; everything else is checked by order and count."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

from nsb.conform.suite import EARLY_S, Case, Stand, holds_for, rounds_of, rule, until
from nsb.conform.wire import Connection, Flight, Reply, Request, get, post_json

HOWS: Final = ("synchronized", "lock", "native")  # C16
LEAVING_S: Final = 3.0  # C40: waiting stops soon after the client leaves, long before the 10 s that it asked for
LONG_MS: Final = 10_000
SETTLED_S: Final = 4.0  # until then the pool is open and every connection has prepared its statements


@rule("C1", "touches neither database nor upstream")
def alive_alone(stand: Stand, case: Case) -> None:
    calls = stand.upstream("/stats")["calls_total"]
    with stand.peek() as peek:
        # the pool may still be opening connections, which send statements: one reading without statements is enough
        saw = until(lambda: peek.saw(_times(stand, "/healthz", 10)), lambda seen: not seen, SETTLED_S)
        case.equal("statements of 10 requests", dict(saw), {})
    case.equal("calls of the upstream", stand.upstream("/stats")["calls_total"], calls)


def _times(stand: Stand, target: str, number: int) -> Callable[[], None]:
    def ask() -> None:
        for _ in range(number):
            stand.ask(target)

    return ask


@rule("C2", "asks the database each time", needs=["/readyz"])
def ready_asks(stand: Stand, case: Case) -> None:
    with stand.peek() as peek:
        text = Counter({"Com_select": 10, "Questions": 10})
        prepared = text + Counter({"Com_stmt_execute": 10})
        saw = until(lambda: peek.saw(_times(stand, "/readyz", 10)), lambda seen: seen in (text, prepared), SETTLED_S)
    case.holds(saw in (text, prepared), "statements of 10 requests", dict(saw), f"{dict(text)}, or prepared")


@rule("C4", "counts every ended request, errors too, but not C1–C4 and C17")
def stats_count(stand: Stand, case: Case) -> None:
    before = stand.quiet()
    counted: list[Request | str] = ["/hello", "/nothing", "/sleep?ms=x", "/sleep?ms=0", "/books/1", "/books/x"]
    counted += [Request("HEAD", "/hello"), Request("DELETE", "/books")]
    counted += [post_json("/books", b"{"), post_json("/books", b'{"name":"x"}'), post_json("/books", b" " * 70_000)]
    for request in counted:
        stand.ask(request)
    for target in [one for one in ("/healthz", "/readyz", "/runtime", "/stats", "/pinnings") if stand.has(one)]:
        stand.ask(target)
    wanted = before["requests_total"] + len(counted)
    until(stand.stats, lambda stats: stats["requests_total"] >= wanted, 3)
    after = holds_for(stand.stats, lambda stats: stats["requests_total"] == wanted, 0.2)
    case.equal("growth of requests_total", after["requests_total"] - before["requests_total"], len(counted))
    case.equal("in_flight when nothing is", after["in_flight"], 0)


def _watched(stand: Stand, path: str, at_once: int, waits_ms: tuple[int, int]) -> tuple[int, dict[str, Any], dict[str, Any], list[Reply]]:
    """The wait (ms), /stats before and during `at_once` requests that wait so long, and their answers.

    A wait had begun a wait's length before its answer, so a look between the last such moment and the first answer sees all of them.
    Where a slow machine allowed no such look the longer wait decides.
    """
    for ms in waits_ms:
        before = stand.quiet()
        looks = []

        def look() -> dict[str, Any]:
            asked = time.monotonic()
            stats = stand.stats()
            looks.append((asked, time.monotonic()))  # noqa: B023
            return stats

        flight = stand.fly(*[f"{path}?ms={ms}"] * at_once)
        late_s = ms / 5000  # a client may hear of the end so late, so nobody looks after that
        seen = until(look, lambda stats: stats["in_flight"] == at_once, ms / 1000 - late_s)
        replies = flight.land()
        ends = [reply.ended_at for reply in replies]
        first, last = max(ends) - ms / 1000, min(ends) - late_s
        if seen["in_flight"] == at_once or any(first <= asked and answered <= last for asked, answered in looks):
            break
    return ms, before, seen, replies


@rule("C4", "in_flight and busy_seconds_total match the requests", needs=["/sleep"])
def stats_busy(stand: Stand, case: Case) -> None:
    at_once = 20
    ms, before, seen, replies = _watched(stand, "/sleep", at_once, (500, 5000))
    took = sum(reply.elapsed_s for reply in replies)
    case.equal("in_flight during 20 sleeps", seen["in_flight"], at_once)
    case.equal("requests_total before they end", seen["requests_total"], before["requests_total"])
    wanted = before["requests_total"] + at_once
    after = until(stand.stats, lambda stats: stats["requests_total"] == wanted, 3)
    case.equal("growth of requests_total", after["requests_total"] - before["requests_total"], at_once)
    grown = after["busy_seconds_total"] - before["busy_seconds_total"]
    case.least("growth of busy_seconds_total", grown, at_once * (ms / 1000 - EARLY_S))
    # a request lasts longer for the client than for the application
    case.holds(grown <= took + 0.1, "growth of busy_seconds_total", f"{grown:.3f}", f"at most {took:.3f}, as the client saw it")


@rule("C6", "really waits, with many requests at once", needs=["/sleep"])
def sleeps(stand: Stand, case: Case) -> None:
    for ms in (1, 50, 300):
        case.least(f"seconds of ms={ms}", stand.ask(f"/sleep?ms={ms}").elapsed_s, ms / 1000 - EARLY_S)
    # a short wait that begins later ends before a long one
    long = stand.fly("/sleep?ms=1500")
    until(stand.stats, lambda stats: stats["in_flight"] >= 1, 5)
    with Connection(stand.url) as connection:
        short = [connection.ask(get("/sleep?ms=1")) for _ in range(5)]
    (late,) = long.land()
    case.holds(short[-1].ended_at < late.ended_at, "five short ones begun later", "ended later", "ended before the long one")
    case.least("seconds of the long one", late.elapsed_s, 1.5 - EARLY_S)


@rule("C7", "waits, then queries the time", needs=["/sleep-query"])
def sleeps_then_queries(stand: Stand, case: Case) -> None:
    first, second = stand.ask("/sleep-query?ms=0"), stand.ask("/sleep-query?ms=400")
    case.least("seconds of ms=400", second.elapsed_s, 0.4 - EARLY_S)
    apart = (datetime.fromisoformat(second.json()["now"]) - datetime.fromisoformat(first.json()["now"])).total_seconds()
    case.least("seconds between the times told", apart, 0.4 - EARLY_S)


@rule("C7", "holds no connection while it waits", needs=["/sleep-query"])
def sleep_holds_nothing(stand: Stand, case: Case) -> None:
    at_once = 3 * stand.pool_size
    _, _, seen, replies = _watched(stand, "/sleep-query", at_once, (800, 5000))
    case.equal("in_flight", seen["in_flight"], at_once)
    case.equal("pool_in_use while they wait", seen["pool_in_use"], 0)
    case.equal("pool_waiting while they wait", seen["pool_waiting"], 0)
    case.equal("answers", Counter(reply.status for reply in replies), {200: at_once})


@rule("C8", "really queries: the pool is the cap", needs=["/slow-query"])
def pool_is_the_cap(stand: Stand, case: Case) -> None:
    case.least("seconds of ms=300", stand.ask("/slow-query?ms=300").elapsed_s, 0.3 - EARLY_S)
    stand.quiet()
    # The kernel distributes requests over workers: if a worker gets too few, its part of the pool stays idle.
    for factor in (2, 6, 12):
        at_once, ms = factor * stand.pool_size, 600
        flight = stand.fly(*[f"/slow-query?ms={ms}"] * at_once)
        most, reached = _watch(stand, flight, at_once)
        answers = flight.land()
        took = max(reply.ended_at for reply in answers) - flight.began
        case.equal("answers", Counter(reply.status for reply in answers), {200: at_once})
        case.least(f"seconds of {at_once} at once", took, rounds_of(at_once, stand.pool_size) * (ms / 1000 - EARLY_S))
        for key, number in most.items():
            case.holds(number <= stand.pool_size, f"most {key}", number, f"at most {stand.pool_size}")
        if reached:
            break
    case.holds(
        reached,
        "a moment with every request in flight, the pool in use and the rest waiting",
        dict(most),
        "pool_in_use = pool",
    )
    case.equal("most statements at once", most["statements"], stand.pool_size)


def _watch(stand: Stand, flight: Flight, at_once: int) -> tuple[Counter[str], bool]:
    most: Counter[str] = Counter()
    reached = False
    with stand.peek() as peek:
        while flight.landed < at_once:
            stats = stand.stats()
            most["pool_in_use"] = max(most["pool_in_use"], stats["pool_in_use"])
            most["statements"] = max(most["statements"], peek.sleeping_statements())
            waiting = at_once - stand.pool_size
            reached |= (stats["in_flight"], stats["pool_in_use"], stats["pool_waiting"]) == (
                at_once,
                stand.pool_size,
                waiting,
            )
            time.sleep(0.01)
    return most, reached


@rule("C11", "concurrent calls overlap, sequential ones do not, and each is made", needs=["/fanout"])
def fans_out(stand: Stand, case: Case) -> None:
    for calls, ms, mode, peak in ((10, 400, "concurrent", 10), (4, 100, "sequential", 1)):
        stand.upstream("/reset", "POST")
        reply = stand.ask(f"/fanout?calls={calls}&ms={ms}&mode={mode}")
        seen = stand.upstream("/stats")
        case.equal(f"{mode}: answer", reply.text, f'{{"calls":{calls},"mode":"{mode}","completed":{calls}}}')
        case.equal(f"{mode}: calls of the upstream", seen["calls_total"], calls)
        case.equal(f"{mode}: most calls at once", seen["in_flight_peak"], peak)
        in_a_row = calls if mode == "sequential" else 1
        case.least(f"{mode}: seconds", reply.elapsed_s, in_a_row * (ms / 1000 - EARLY_S))


@rule("C13", "really blocks; offloaded, it delays no other request", needs=["/block"])
def blocks(stand: Stand, case: Case) -> None:
    for offload in ("false", "true"):
        took = stand.ask(f"/block?ms=200&offload={offload}").elapsed_s
        case.least(f"seconds with offload={offload}", took, 0.2 - EARLY_S)
    flight = stand.fly(*["/block?ms=1000&offload=true"] * (2 * stand.bed.workers))
    until(stand.stats, lambda stats: stats["in_flight"] == 2 * stand.bed.workers, 0.5)
    hello = [stand.ask("/hello") for _ in range(2 * stand.bed.workers)]
    blocked = flight.land()
    first = min(reply.ended_at for reply in blocked)
    case.holds(hello[-1].ended_at < first, "hello while others block", "answered after them", "answered before them")


@rule("C16", "really waits in each way; with a lock no request waits for another", needs=["/pin"])
def pins(stand: Stand, case: Case) -> None:
    for how in HOWS:
        case.least(f"seconds with how={how}", stand.ask(f"/pin?ms=200&how={how}").elapsed_s, 0.2 - EARLY_S)
    # The endpoint exists to find out whether a monitor or a native call delays other requests. A lock never does.
    long = stand.fly(*["/pin?ms=1000&how=lock"] * (2 * stand.bed.workers))
    until(stand.stats, lambda stats: stats["in_flight"] == 2 * stand.bed.workers, 0.5)
    short = stand.ask("/pin?ms=1&how=lock")
    first = min(reply.ended_at for reply in long.land())
    case.holds(short.ended_at < first, "a short one begun later", "answered after the long ones", "answered before them")


@rule("C17", "a counter that waiting under a lock does not raise", needs=["/pin", "/pinnings"])
def pinnings(stand: Stand, case: Case) -> None:
    before = stand.ask("/pinnings")
    case.equal("status", before.status, 200)
    case.equal("Content-Type", before.media_type, "application/json")
    case.holds(re.fullmatch(r'\{"pinnings_total":\d+\}', before.text) is not None, "body", before.text, '{"pinnings_total":…}')
    stand.fly(*["/pin?ms=50&how=lock"] * 5).land()
    case.equal("after five waits under a lock", stand.ask("/pinnings").text, before.text)


@rule("C40", "cancels_on_disconnect says what happens when a client leaves", needs=["/sleep", "/sleep-query", "/fanout"])
def leaving(stand: Stand, case: Case) -> None:
    cancels = stand.runtime()["cancels_on_disconnect"]
    if cancels:
        targets = [
            f"/sleep?ms={LONG_MS}",
            f"/sleep-query?ms={LONG_MS}",
            f"/fanout?calls=2&ms={LONG_MS}&mode=concurrent",
        ]
        for target in targets:
            before = _leave(stand, case, target, 3)
            after = until(stand.stats, lambda stats: stats["in_flight"] == 0, LEAVING_S)
            case.equal(f"in_flight after the clients of {target} left", after["in_flight"], 0)
            after = _counted(stand, before["requests_total"] + 3)
            case.equal(f"requests_total, {target}", after["requests_total"], before["requests_total"] + 3)
            if case.findings:
                return
        return
    _leave(stand, case, "/sleep?ms=1500", 3)
    stayed = holds_for(stand.stats, lambda stats: stats["in_flight"] == 3, 0.7)
    case.equal("in_flight 0.7 s after clients left that nobody is told of", stayed["in_flight"], 3)
    case.equal("in_flight when they are through", stand.quiet()["in_flight"], 0)


def _counted(stand: Stand, number: int) -> dict[str, Any]:
    return until(stand.stats, lambda stats: stats["requests_total"] == number, 1)


def _leave(stand: Stand, case: Case, target: str, clients: int) -> dict[str, Any]:
    before = stand.quiet()
    connections = [Connection(stand.url) for _ in range(clients)]
    for connection in connections:
        connection.send(get(target))
    seen = until(stand.stats, lambda stats: stats["in_flight"] == clients, 5)
    case.equal(f"in_flight before the clients of {target} leave", seen["in_flight"], clients)
    for connection in connections:
        connection.close()
    return before


@rule("C40", "an abandoned statement returns its connection to the pool", needs=["/slow-query", "/books"])
def leaving_a_query(stand: Stand, case: Case) -> None:
    with stand.peek() as peek:
        ids = peek.connection_ids()
        _leave(stand, case, "/slow-query?ms=1000", 2 * stand.pool_size)
        after = until(stand.stats, lambda stats: stats["in_flight"] == 0 and stats["pool_in_use"] == 0)
        case.equal("pool_in_use in the end", after["pool_in_use"], 0)
        case.equal("pool_waiting in the end", after["pool_waiting"], 0)
        case.equal("in_flight in the end", after["in_flight"], 0)
        seen = until(peek.connection_ids, lambda now: now == ids, 2)
        case.equal("the connections", sorted(seen), sorted(ids))
    replies = stand.fly(*["/books/1"] * (2 * stand.pool_size)).land()
    case.equal("answers afterwards", Counter(reply.status for reply in replies), {200: 2 * stand.pool_size})
