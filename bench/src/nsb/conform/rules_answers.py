"""C1–C36: one request, one answer."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection
from typing import Any, Final

from nsb.conform.exchanges import Exchange, answer_of, concerns, exchanges, shown
from nsb.conform.suite import Case, Check, Stage, Stand, rule, rule_where
from nsb.conform.wire import Connection, NoAnswer, Request, ask, get, post_json

TABLE_TITLES: Final = {
    "C1": "is alive",
    "C2": "is ready",
    "C5": "hello",
    "C6": "the answer of sleep",
    "C7": "the answer of sleep-query",
    "C8": "the answer of slow-query",
    "C9": "a book",
    "C10": "a new book",
    "C11": "the answer of fanout",
    "C12": "xorshift",
    "C13": "the answer of block",
    "C14": "the head of events",
    "C16": "the answer of pin",
    "C20": "paths match exactly",
    "C21": "HEAD and other methods",
    "C22": "parameters: once, whole, within bounds",
    "C23": "bodies: media type, size, JSON, object",
    "C24": "426 without an upgrade",
    "C31": "404 before every other error",
    "C32": "405 before errors of parameters and body",
    "C33": "415 before 413, 400 and 422",
    "C34": "413, chunked too",
    "C35": "400: not JSON, not UTF-8",
    "C36": "422: the name is wrong",
}
RUNTIME_KEYS: Final = (
    "runtime", "runtime_version", "framework", "framework_version", "server", "driver", "driver_version",
    "concurrency_model",
    "handled_by", "workers", "pool_size", "cancels_on_disconnect", "settings",
)  # fmt: skip
SETTING_KEYS: Final = (
    "backlog", "keep_alive_s", "max_connections", "server_threads", "db_acquire_timeout_ms", "db_statements",
    "upstream_timeout_ms",
    "upstream_max_connections", "upstream_idle_s", "offload", "heap_max_mib", "gc",
)  # fmt: skip
STATS_KEYS: Final = ("requests_total", "busy_seconds_total", "in_flight", "pool_in_use", "pool_waiting")
MOST_SILENCES: Final = 3  # requests without an answer, each costs some seconds: then the check ends
MOST_ROUNDS_RESULT: Final = 3_882_214_040  # of 10,000,000 rounds of Marsaglia's 32-bit xorshift (13, 17, 5)
NAMES: Final = (
    "<b>&amp;'\"\\/</b>", "Füße, 한국어, عربي", "e\u0301", "\u0000", "\u0001\u0008\u000c\u001f", "\u007f\u0080\u009f", "\u2028\u2029",
    "\ufeffx", "\ufffd\uffff", "\U0010ffff",
)  # fmt: skip
"""Characters that JSON allows raw or escaped: which of both is not specified, what they mean is."""


def _register_table() -> None:
    by_rule: dict[str, list[Exchange]] = defaultdict(list)
    for exchange in exchanges():
        by_rule[exchange.rule].append(exchange)
    for number, title in TABLE_TITLES.items():
        table = by_rule.pop(number)
        rule_where(number, title, _concerned(table))(_check_table(table))
    assert not by_rule, f"exchanges without a title: {sorted(by_rule)}"


def _concerned(table: list[Exchange]) -> Callable[[Collection[str]], bool]:
    return lambda endpoints: any(concerns(exchange.request.target, endpoints) for exchange in table)


def _check_table(table: list[Exchange]) -> Check:
    def check(stand: Stand, case: Case) -> None:
        silences = 0
        for exchange in table:
            if not concerns(exchange.request.target, stand.bed.endpoints):
                continue
            try:
                got = answer_of(stand.ask(exchange.request))
            except NoAnswer as error:
                case.holds(False, exchange.title, f"no answer ({error})", shown(exchange.wanted))
                silences += 1
                if silences == MOST_SILENCES:
                    return
                continue
            case.holds(got == exchange.wanted, exchange.title, shown(got), shown(exchange.wanted))

    return check


_register_table()


def _whole_or_none(value: Any) -> bool:
    return value is None or (isinstance(value, int) and not isinstance(value, bool))


@rule("C3", "the shape of /runtime")
def runtime_shape(stand: Stand, case: Case) -> None:
    reply = stand.ask("/runtime")
    runtime = reply.json()
    case.equal("status", reply.status, 200)
    case.equal("Content-Type", reply.media_type, "application/json")
    case.equal("keys", tuple(runtime), RUNTIME_KEYS)
    settings = runtime["settings"]
    case.equal("keys of settings", tuple(settings), SETTING_KEYS)
    for key in ("runtime", "runtime_version", "concurrency_model"):
        case.holds(isinstance(runtime[key], str) and runtime[key] != "", key, repr(runtime[key]), "words")
    for key in ("framework", "framework_version", "server", "driver", "driver_version", "handled_by"):
        value = runtime[key]
        case.holds(value is None or (isinstance(value, str) and value != ""), key, repr(value), "words or null")
    case.holds(
        isinstance(runtime["cancels_on_disconnect"], bool),
        "cancels_on_disconnect",
        runtime["cancels_on_disconnect"],
        "a boolean",
    )
    here = {
        "db_acquire_timeout_ms": stand.has("/readyz"),
        "upstream_timeout_ms": stand.has("/fanout"),
    }
    for key, there in here.items():
        value = settings[key]
        right = _whole_or_none(value) and (value is not None) == there
        case.holds(right, key, repr(value), "a whole number" if there else "null")
    limits = ("backlog", "keep_alive_s", "max_connections", "server_threads", "upstream_max_connections", "upstream_idle_s", "heap_max_mib")
    for key in limits:
        case.holds(_whole_or_none(settings[key]), key, repr(settings[key]), "a whole number or null")
    kinds = ("prepared", "text") if stand.has("/readyz") else (None,)
    case.holds(settings["db_statements"] in kinds, "db_statements", settings["db_statements"], " or ".join(map(str, kinds)))
    remedy = settings["offload"]
    case.holds(isinstance(remedy, str) if stand.has("/block") else remedy is None, "offload", repr(remedy), "words, or null without /block")
    case.holds(settings["gc"] is None or isinstance(settings["gc"], str), "gc", repr(settings["gc"]), "words or null")


@rule("C4", "the shape of /stats")
def stats_shape(stand: Stand, case: Case) -> None:
    reply = stand.ask("/stats")
    stats = reply.json()
    case.equal("status", reply.status, 200)
    case.equal("Content-Type", reply.media_type, "application/json")
    case.equal("keys", tuple(stats), STATS_KEYS)
    for key in STATS_KEYS:
        kind = (int, float) if key == "busy_seconds_total" else int
        case.holds(isinstance(stats[key], kind) and stats[key] >= 0, key, repr(stats[key]), "a number from 0")


@rule("C3", "JSON is compact")
def compact(stand: Stand, case: Case) -> None:
    for target in ("/runtime", "/stats"):
        text = stand.ask(target).text
        outside = "".join(text.split('"')[::2])  # no string holds a quote, so every second piece is outside of strings
        case.holds(not any(letter.isspace() for letter in outside), target, text, "no white space between tokens")


@rule("C7", "now has six digits each time", needs=["/sleep-query"])
def six_digits(stand: Stand, case: Case) -> None:
    # A driver that drops trailing zeros does so in one of ten answers.
    wrong = []
    with Connection(stand.url) as connection:
        for _ in range(200):  # 60 let one such driver in 500 pass
            answer = answer_of(connection.ask(get("/sleep-query?ms=0")))
            if answer.body != '{"slept_ms":0,"now":"{now}"}':
                wrong.append(answer.body)
    case.equal("answers of 200 without six digits", wrong, [])


@rule("C10", "a new book can be read at its Location", needs=["/books"])
def new_book(stand: Stand, case: Case) -> None:
    for name in NAMES:
        made = stand.ask(post_json("/books", json.dumps({"name": name}, ensure_ascii=False).encode()))
        case.equal(f"the name after {name!r}", made.json().get("name"), name)
        location = made.header("location") or "/nowhere"
        read = stand.ask(location)
        case.equal(f"GET {location} after {name!r}", (read.status, read.body), (200, made.body))
        case.equal("Location", location, f"/books/{made.json().get('id')}")


@rule("C12", "ten million rounds, the most allowed", Stage.LATE, needs=["/compute"])
def most_rounds(stand: Stand, case: Case) -> None:
    reply = ask(stand.url, "/compute?rounds=10000000", patience_s=120)  # some runtimes take 10 s and more
    case.equal("answer", reply.text, f'{{"rounds":10000000,"result":{MOST_ROUNDS_RESULT}}}')


@rule("C21", "HEAD sends no body and the same headers")
def head(stand: Stand, case: Case) -> None:
    targets = ("/hello", "/books/1", "/sleep?ms=0", "/sleep?ms=x", "/nothing", "/healthz", "/runtime")
    for target in [one for one in targets if concerns(one, stand.bed.endpoints)]:
        apart = {"date", "connection", "keep-alive"}
        if target == "/runtime":
            apart.add("content-length")  # it names the thread that answers: exec-9 is shorter than exec-10
        closing = (("Connection", "close"),)
        with Connection(stand.url) as connection:
            connection.send(Request("HEAD", target, headers=closing))
            head, _, rest = connection.until_end().partition(b"\r\n\r\n")
        case.equal(f"bytes after the head of HEAD {target}", rest, b"")
        with Connection(stand.url) as connection:
            connection.send(Request("GET", target, headers=closing))
            full = connection.until_end().partition(b"\r\n\r\n")[0]
        case.equal(f"HEAD {target}", _headers(head, apart), _headers(full, apart))


def _headers(head: bytes, apart: set[str]) -> list[str]:
    status, *lines = head.decode("latin-1").split("\r\n")
    return [status, *sorted(line.lower() for line in lines if line.split(":")[0].lower() not in apart)]


@rule("C23", "after a body the connection stays usable, or the answer says that it closes", needs=["/books"])
def after_a_body(stand: Stand, case: Case) -> None:
    connection = Connection(stand.url)
    try:
        for body, status in ((b'{"name":"x"}', 201), (b"{", 400), (b"[]", 422), (b'{"name":"y"}', 201)):
            reply = connection.ask(post_json("/books", body))
            case.equal(f"status for {body!r}", reply.status, status)
            if (reply.header("connection") or "").lower() == "close":
                connection.close()
                connection = Connection(stand.url)
        case.equal("hello on the same connection", connection.ask(get("/hello")).text, "hello")
    finally:
        connection.close()


@rule("C30", "malformed HTTP gives no 5xx, and the service continues")
def malformed(stand: Stand, case: Case) -> None:
    broken = (
        b"GET /hello\r\n\r\n",
        b"GET /hello HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n",
        b"GET /hello HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(64),
        b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    )
    for sent in broken:
        with Connection(stand.url, patience_s=5) as connection:
            try:
                connection.socket.sendall(sent)
                connection.socket.shutdown(1)
                first = connection.until_end()[:12]
            except (NoAnswer, OSError):
                first = b""
        status = first[9:12]
        case.holds(not status.startswith(b"5"), f"{sent[:40]!r}", first, "4xx, or nothing")
    case.equal("hello afterwards", stand.ask("/hello").text, "hello")


@rule("C30", "every answer has Content-Type and Content-Length and is never chunked")
def framing(stand: Stand, case: Case) -> None:
    targets = (
        "/healthz",
        "/readyz",
        "/runtime",
        "/stats",
        "/hello",
        "/sleep?ms=0",
        "/books/1",
        "/nothing",
        "/sleep?ms=x",
    )
    for target in [one for one in targets if concerns(one, stand.bed.endpoints)]:
        reply = stand.ask(target)
        case.equal(f"Content-Length of {target}", reply.header("content-length"), str(len(reply.body)))
        case.equal(f"Transfer-Encoding of {target}", reply.header("transfer-encoding"), None)
        case.holds(reply.media_type is not None, f"Content-Type of {target}", None, "one")
