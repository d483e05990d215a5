"""C50, C60–C66: what must be equal in all services for a fair comparison, as service, database and kernel report it."""

from __future__ import annotations

import time
from collections import Counter
from typing import Final
from urllib.parse import urlsplit

from nsb.conform import kernel
from nsb.conform.exchanges import concerns
from nsb.conform.suite import GENEROUS_S, Case, Stand, holds_for, rule, until
from nsb.conform.wire import Connection, Request, get, post_json
from nsb.registry.contract import HEAP_MIB

DAY_S: Final = 86_400
LEAST_UPSTREAM_CONNECTIONS: Final = 1_000
LEAST_KEEP_ALIVE_S: Final = 75
DESCRIPTORS_APART: Final = 1_000  # C62: file descriptors that a service may need besides those of its clients
MANY_REQUESTS: Final = 200  # on one connection: well beyond 100, where some servers close
MANY_CONNECTIONS: Final = 500
MANY_CALLS: Final = 200
WARM_S: Final = 4.0
QUERIES: Final[dict[str, Request]] = {
    "GET /books/1": get("/books/1"),
    "GET /sleep-query": get("/sleep-query?ms=0"),
    "GET /slow-query": get("/slow-query?ms=20"),
    "POST /books": post_json("/books", b'{"name":"counted"}'),
}


@rule("C50", "settings asked for are in effect")
def in_effect(stand: Stand, case: Case) -> None:
    runtime = stand.runtime()
    settings = runtime["settings"]
    case.equal("pool_size", runtime["pool_size"], stand.pool_size if stand.has("/readyz") else 0)
    if stand.has("/fanout"):
        case.equal("upstream_timeout_ms", settings["upstream_timeout_ms"], int(stand.settings["UPSTREAM_TIMEOUT_MS"]))
    asked = int(stand.settings["SERVER_THREADS"])
    case.holds(settings["server_threads"] in (None, asked), "server_threads", settings["server_threads"], f"{asked} or null")


@rule("C60", "exactly pool_size connections, opened at the start", needs=["/readyz"])
def pool_size(stand: Stand, case: Case) -> None:
    seen = until(stand.connections, lambda number: number == stand.pool_size)
    case.equal("connections", seen, stand.pool_size)
    seen = holds_for(stand.connections, lambda number: number == stand.pool_size, 0.3)
    case.equal("connections a little later", seen, stand.pool_size)


@rule("C60", "the same connections after a burst: none is added, closed or replaced", needs=["/slow-query", "/books"])
def pool_keeps(stand: Stand, case: Case) -> None:
    with stand.peek() as peek:
        before = until(peek.connection_ids, lambda ids: len(ids) == stand.pool_size)
        replies = stand.fly(*["/slow-query?ms=50"] * (4 * stand.pool_size)).land()
        stand.ask("/books/1")
        case.equal("answers", Counter(reply.status for reply in replies), {200: 4 * stand.pool_size})
        case.equal("connections by their ids", sorted(peek.connection_ids()), sorted(before))


@rule("C61", "the database saw one statement per request, as declared, and nothing else", needs=["/books", "/sleep-query", "/slow-query"])
def statements(stand: Stand, case: Case) -> None:
    declared = stand.runtime()["settings"]["db_statements"]
    requests = 3 * stand.pool_size
    for name, request in QUERIES.items():
        kind = "Com_insert" if request.method == "POST" else "Com_select"
        wanted = Counter({kind: requests, "Questions": requests})
        if declared == "prepared":
            wanted["Com_stmt_execute"] = requests
        saw = _saw_when_warm(stand, request, wanted)
        case.equal(f"{requests} times {name} ({declared})", dict(saw), dict(wanted))
        if saw != wanted:
            return  # the others would fail in the same way, each after some seconds


def _saw_when_warm(stand: Stand, request: Request, wanted: Counter[str]) -> Counter[str]:
    """Each connection prepares a statement at its first use, and a request gets any connection. The pool counts as warm
    when three bursts caused no preparation."""

    def bursts() -> None:
        for _ in range(3):
            stand.fly(*[request] * stand.pool_size).land()

    with stand.peek() as peek:
        return until(lambda: peek.saw(bursts), lambda seen: seen == wanted, WARM_S)


@rule("C62", "HTTP/1.1 and keep-alive without a request limit")
def keeps_alive(stand: Stand, case: Case) -> None:
    with Connection(stand.url) as connection:
        answered = 0
        for number in range(MANY_REQUESTS):
            reply = connection.ask(get("/hello" if number % 2 else "/nothing"))
            answered += 1
            case.equal("version", reply.version, 11)
            if (reply.header("connection") or "").lower() == "close":
                break
    case.equal("requests answered on one connection", answered, MANY_REQUESTS)
    told = stand.runtime()["settings"]["keep_alive_s"]
    case.holds(told is None or told >= LEAST_KEEP_ALIVE_S, "keep_alive_s", told, f"null or at least {LEAST_KEEP_ALIVE_S}")


@rule("C62", "the backlog is min(4096, somaxconn) or more")
def backlog(stand: Stand, case: Case) -> None:
    wanted = min(4096, kernel.most_backlog())
    told = stand.runtime()["settings"]["backlog"]
    case.holds(told in (None, wanted), "backlog told", told, f"{wanted} or null")
    seen = kernel.backlogs(stand.port)
    if seen is None:
        case.note("the kernel does not tell backlogs here")
    else:
        case.least("least backlog in the kernel", min(seen), wanted)


@rule("C62", "TCP_NODELAY")
def no_delay(stand: Stand, case: Case) -> None:
    with Connection(stand.url) as connection:
        connection.ask(get("/hello"))
        seen = kernel.no_delay(stand.service.pid, stand.port, connection.local_port)
    if seen is None:
        case.note("the kernel does not show another process's socket here")
    else:
        case.equal("TCP_NODELAY", seen, True)


@rule("C62", "many connections at once, no limit below nofile")
def many_connections(stand: Stand, case: Case) -> None:
    connections: list[Connection] = []
    try:
        deadline = time.monotonic() + GENEROUS_S
        while len(connections) < MANY_CONNECTIONS and time.monotonic() < deadline:
            connections.append(Connection(stand.url, patience_s=5))
        case.equal(f"connections within {GENEROUS_S:.0f} s", len(connections), MANY_CONNECTIONS)
        for connection in (*connections[:3], *connections[-3:]):
            case.equal("status", connection.ask(get("/hello")).status, 200)
    finally:
        for connection in connections:
            connection.close()
    limit = stand.runtime()["settings"]["max_connections"]
    if limit is None:
        return
    files = kernel.open_files(stand.service.pid)
    if files is None:
        case.note("nofile cannot be read here")
        return
    case.least("max_connections", limit, files - DESCRIPTORS_APART)


@rule("C62", "no compression, no caching, no ETag")
def plain(stand: Stand, case: Case) -> None:
    accepts = (("Accept-Encoding", "gzip, deflate, br, zstd"), ("If-None-Match", "*"))
    for target in [one for one in ("/hello", "/books/1", "/runtime", "/nothing") if concerns(one, stand.bed.endpoints)]:
        reply = stand.ask(Request("GET", target, headers=accepts))
        case.holds(reply.status in (200, 404), f"status of {target}", reply.status, "200 or 404")
        for name in ("content-encoding", "etag", "last-modified", "transfer-encoding"):
            case.equal(f"{name} of {target}", reply.header(name), None)


@rule("C63", "at least 1000 upstream connections, kept alive and idle", needs=["/fanout"])
def outgoing(stand: Stand, case: Case) -> None:
    settings = stand.runtime()["settings"]
    limit, idle_s = settings["upstream_max_connections"], settings["upstream_idle_s"]
    wanted = f"null or at least {LEAST_UPSTREAM_CONNECTIONS}"
    case.holds(limit is None or limit >= LEAST_UPSTREAM_CONNECTIONS, "upstream_max_connections", limit, wanted)
    case.holds(idle_s is None or idle_s >= DAY_S, "upstream_idle_s", idle_s, f"null or at least {DAY_S}")
    port = urlsplit(stand.bed.upstream_url).port or 80

    def towards() -> set[int]:
        return kernel.ports_towards(stand.service.pid, port)

    target = f"/fanout?calls={MANY_CALLS}&mode=concurrent&ms="
    for ms in (1200, 6000):
        stand.upstream("/reset", "POST")
        flight = stand.fly(f"{target}{ms}")
        seen = until(towards, lambda ports: len(ports) >= MANY_CALLS, 1)
        (reply,) = flight.land()
        peak = stand.upstream("/stats")["in_flight_peak"]
        if not MANY_CALLS / 2 <= peak < MANY_CALLS:
            break  # else the machine may be so slow that the first call had ended before the last one began
    case.equal("completed", reply.json().get("completed"), MANY_CALLS)
    case.equal(f"most calls at once of {MANY_CALLS}", peak, MANY_CALLS)
    if not seen:
        case.note("the service's connections cannot be seen here")
        return
    before = towards()
    case.least("connections kept", len(before), MANY_CALLS)
    for _ in range(2):
        stand.ask(f"{target}100")
    after = towards()
    case.equal("connections closed since", len(before - after), 0)
    # another worker, with connections of its own, may serve a burst
    most = MANY_CALLS * stand.bed.workers + len(before) - MANY_CALLS
    case.holds(len(after) <= most, "connections after two more bursts", len(after), f"at most {most}")


@rule("C64", "as many workers as asked for")
def workers(stand: Stand, case: Case) -> None:
    case.equal("workers", stand.runtime()["workers"], stand.bed.workers)


@rule("C65", "nothing is cached", needs=["/books", "/fanout", "/sleep-query"])
def nothing_cached(stand: Stand, case: Case) -> None:
    with stand.peek() as peek:

        def twice() -> None:
            stand.ask("/books/7")
            stand.ask("/books/7")

        saw = until(lambda: peek.saw(twice), lambda seen: seen["Questions"] == 2, 2)
    case.equal("statements of the same book twice", saw["Com_select"], 2)
    for name in ("first", "second"):
        stand.bed.database.reset_books()  # without the service's knowledge: the next id is 10001 again
        made = stand.ask(post_json("/books", f'{{"name":"{name}"}}'.encode()))
        location = made.header("location") or "/nowhere"
        case.equal("a book whose row was made again", stand.ask(location).body, made.body)
    stand.bed.database.reset_books()
    case.equal("a book whose row was removed", stand.ask(location).status, 404)
    for mode in ("concurrent", "sequential"):
        stand.upstream("/reset", "POST")
        for _ in range(2):
            stand.ask(f"/fanout?calls=2&ms=0&mode={mode}")
        case.equal(f"calls of two fan-outs, {mode}", stand.upstream("/stats")["calls_total"], 4)
    times = {stand.json("/sleep-query?ms=2")["now"] for _ in range(5)}
    case.equal("times told by five sleep-query", len(times), 5)


@rule("C66", "heap and collector, where the runtime reports them")
def heap(stand: Stand, case: Case) -> None:
    settings = stand.runtime()["settings"]
    gc, heap_mib = settings["gc"], settings["heap_max_mib"]
    if gc is None:
        case.note("names no collector")
        return
    case.holds("G1" in gc, "gc", gc, "G1")
    case.equal("heap_max_mib", heap_mib, HEAP_MIB)
