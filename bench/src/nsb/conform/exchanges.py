"""The contract as a table of requests, each with its only right answer. One service is checked against the table (C1–C36);
all services are checked against each other (differential check)."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from nsb.conform.bed import Outcome
from nsb.conform.wire import NoAnswer, Reply, Request, ask, get
from nsb.registry.contract import ENDPOINTS, EXTRAS, endpoint

MOST_MS: Final = 60_000
MOST_BLOCK_MS: Final = 1_000
MOST_CALLS: Final = 1_000
MOST_ROUNDS: Final = 10_000_000
MOST_ID: Final = 9_007_199_254_740_991
MOST_BODY_BYTES: Final = 65_536
MOST_CHARACTERS: Final = 255
LEAST_INTERVAL_MS: Final = 10
MOST_INTERVAL_MS: Final = 60_000
MOST_MESSAGE_BYTES: Final = 65_536
XORSHIFT_SEED: Final = 2_463_534_242

TITLES: Final = {
    400: "Bad Request",
    404: "Not Found",
    405: "Method Not Allowed",
    413: "Content Too Large",
    415: "Unsupported Media Type",
    422: "Unprocessable Content",
    426: "Upgrade Required",
    500: "Internal Server Error",
    502: "Bad Gateway",
    503: "Service Unavailable",
}
JSON: Final = "application/json"
PROBLEM: Final = "application/problem+json"
NOT_JSON: Final = "the body must be JSON in UTF-8"
WRONG_NAME: Final = "name must be a string of 1 to 255 characters"
NOTHING_HERE: Final = "nothing is here"

_NOW = re.compile(r'"now":"\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}\.\d{6}"')
_CREATED = re.compile(r'\{"id":([1-9]\d*),')


@dataclass(frozen=True)
class Answer:
    """What must be the same in every service; generated ids and times are replaced by `{id}` and `{now}`."""

    status: int
    body: str
    content_type: str | None
    content_length: int | None
    location: str | None = None
    allow: str | None = None
    upgrade: str | None = None


@dataclass(frozen=True)
class Exchange:
    """A request, the rule that it belongs to and the answer to it."""

    rule: str
    title: str
    request: Request
    wanted: Answer


# ---- answers ----


def ok(body: str, content_type: str = JSON) -> Answer:
    return Answer(200, body, content_type, len(body.encode()))


def problem(status: int, detail: str, allow: str | None = None) -> Answer:
    """C30: the problem document, its keys in order."""
    body = json.dumps({"type": "about:blank", "title": TITLES[status], "status": status, "detail": detail}, separators=(",", ":"))
    return Answer(status, body, PROBLEM, len(body), allow=allow)


def created(name: str) -> Answer:
    """C10, as every service must write it: compact, with no escape that JSON does not require."""
    body = f'{{"id":{{id}},"name":{json.dumps(name, ensure_ascii=False)}}}'
    return Answer(201, body, JSON, len(body.encode()), location="/books/{id}")


def whole(name: str, most: int, least: int = 0) -> Answer:
    return problem(400, f"{name} must be given once, as a whole number from {least} to {most}")


def headless(answer: Answer) -> Answer:
    """The same answer to a HEAD request."""
    return replace(answer, body="")


WRONG_ID: Final = problem(400, f"id must be a whole number from 1 to {MOST_ID}")
WRONG_MODE: Final = problem(400, "mode must be given once, as concurrent or sequential")
WRONG_OFFLOAD: Final = problem(400, "offload must be given once, as false or true")
NO_UPGRADE: Final = replace(problem(426, "upgrade to a WebSocket"), upgrade="websocket")
WRONG_HOW: Final = problem(400, "how must be given once, as synchronized, lock or native")
HOWS: Final = ("synchronized", "lock", "native")


def answer_of(reply: Reply) -> Answer:
    """The part of a reply that is compared."""
    text, location = reply.text, reply.header("location")
    length = reply.header("content-length")
    content_length = int(length) if length is not None and length.isascii() and length.isdigit() else None
    text = _NOW.sub('"now":"{now}"', text)
    if reply.status == 201 and (match := _CREATED.match(text)):
        number = match[1]
        text = text.replace(number, "{id}", 1)
        location = location and location.replace(f"/books/{number}", "/books/{id}")
    if content_length is not None and reply.body:
        content_length += len(text.encode()) - len(reply.text.encode())
    media_type = reply.media_type
    return Answer(
        reply.status,
        text,
        media_type.lower() if media_type else None,
        content_length,
        location,
        reply.header("allow"),
        reply.header("upgrade"),
    )


def xorshift(rounds: int) -> int:
    """C12: Marsaglia's 32-bit xorshift (13, 17, 5) from its usual seed."""
    x = XORSHIFT_SEED
    for _ in range(rounds):
        x ^= (x << 13) & 0xFFFFFFFF
        x ^= x >> 17
        x ^= (x << 5) & 0xFFFFFFFF
    return x


# ---- the table ----


def exchanges() -> list[Exchange]:
    """Every request that has one right answer while database and upstream are available; none takes longer than a second."""
    table = [*_plain(), *_paths(), *_methods(), *_parameters(), *_bodies()]
    twice = [title for title, number in Counter(exchange.title for exchange in table).items() if number > 1]
    assert not twice, f"exchanges with one title: {twice}"
    return table


def concerns(target: str, endpoints: Collection[str]) -> bool:
    """Whether the contract says how a service with these endpoints answers this target. True for unknown paths too."""
    return endpoint(target) in endpoints or endpoint(target) not in (*ENDPOINTS, *EXTRAS)


def _get(rule: str, target: str, wanted: Answer) -> Exchange:
    return Exchange(rule, f"GET {target}", get(target), wanted)


HEALTHY: Final = ok('{"status":"ok"}')
HELLO: Final = ok("hello", "text/plain")
GOOD: Final[Mapping[str, Answer]] = {
    "/healthz": HEALTHY,
    "/readyz": HEALTHY,
    "/hello": HELLO,
    "/sleep?ms=1": ok('{"slept_ms":1}'),
    "/slow-query?ms=1": ok('{"queried_ms":1}'),
    "/books/1": ok('{"id":1,"name":"Book 1"}'),
    "/fanout?calls=3&ms=1&mode=concurrent": ok('{"calls":3,"mode":"concurrent","completed":3}'),
    "/compute?rounds=1000": ok(f'{{"rounds":1000,"result":{xorshift(1000)}}}'),
    "/block?ms=1&offload=false": ok('{"blocked_ms":1,"offloaded":false}'),
    "/pin?ms=1&how=lock": ok('{"waited_ms":1,"how":"lock"}'),
}


def _plain() -> Iterator[Exchange]:
    rules = ("C1", "C2", "C5", "C6", "C8", "C9", "C11", "C12", "C13", "C16")
    for rule, (target, wanted) in zip(rules, GOOD.items(), strict=True):
        yield _get(rule, target, wanted)
    yield _get("C6", "/sleep?ms=0", ok('{"slept_ms":0}'))
    yield _get("C7", "/sleep-query?ms=0", ok('{"slept_ms":0,"now":"{now}"}'))
    yield _get("C7", "/sleep-query?ms=1", ok('{"slept_ms":1,"now":"{now}"}'))
    yield _get("C8", "/slow-query?ms=0", ok('{"queried_ms":0}'))
    yield _get("C9", "/books/10000", ok('{"id":10000,"name":"Book 10000"}'))
    for mode in ("concurrent", "sequential"):
        for calls in (1, 2):
            wanted = ok(f'{{"calls":{calls},"mode":"{mode}","completed":{calls}}}')
            yield _get("C11", f"/fanout?calls={calls}&ms=0&mode={mode}", wanted)
    for rounds in (1, 2, 3, 99_999):
        yield _get("C12", f"/compute?rounds={rounds}", ok(f'{{"rounds":{rounds},"result":{xorshift(rounds)}}}'))
    yield _get("C13", "/block?ms=0&offload=true", ok('{"blocked_ms":0,"offloaded":true}'))
    streams = Answer(200, "", "text/event-stream", None)  # a GET of it never ends
    yield Exchange("C14", "HEAD /events", Request("HEAD", f"/events?interval_ms={MOST_INTERVAL_MS}"), streams)
    yield _get("C24", "/ws", NO_UPGRADE)
    yield _get("C24", "/ws?x=y", NO_UPGRADE)
    other = (("Connection", "Upgrade"), ("Upgrade", "h2c"))
    yield Exchange("C24", "GET /ws, an upgrade to something else", get("/ws", *other), NO_UPGRADE)
    for how in HOWS:
        yield _get("C16", f"/pin?ms=0&how={how}", ok(f'{{"waited_ms":0,"how":"{how}"}}'))
    yield _get("C31", f"/books/{MOST_ID}", problem(404, f"book {MOST_ID} does not exist"))


def _paths() -> Iterator[Exchange]:
    missing = problem(404, NOTHING_HERE)
    targets = [
        "/",
        "/hello/",
        "/HELLO",
        "/Hello",
        "/hello/x",
        "/hell",
        "/hello1",
        "/hello.json",
        "/healthz/",
        "/sleep/?ms=1",
    ]
    targets += [
        "/nothing?ms=1",
        "/books/",
        "/books/1/",
        "/books/1/2",
        "/Books/1",
        "/book/1",
        "/fanout/x",
        "/error",
        "/docs",
    ]
    targets += ["/openapi.json", "/favicon.ico", "/actuator", "/stats/", "/runtime/x", "/delay?ms=1"]
    for target in targets:
        yield _get("C20", target, missing)
    yield _get("C20", "/hello?", HELLO)
    # C30: 404 comes first, for every method and body
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        yield Exchange("C31", f"{method} /nothing", Request(method, "/nothing", body=b""), missing)
    yield Exchange("C31", "HEAD /nothing", Request("HEAD", "/nothing"), headless(missing))
    big = Request("POST", "/nothing", body=b"x" * (MOST_BODY_BYTES + 1), content_type="text/plain")
    yield Exchange("C31", "POST /nothing, a long body", big, missing)


def _methods() -> Iterator[Exchange]:
    for target, wanted in GOOD.items():
        yield Exchange("C21", f"HEAD {target}", Request("HEAD", target), headless(wanted))
        refused = problem(405, "the method is not allowed here", "GET, HEAD")
        for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
            body = None if method == "OPTIONS" else b""
            yield Exchange("C21", f"{method} {target}", Request(method, target, body=body), refused)
    yield Exchange("C21", "HEAD /sleep?ms=x", Request("HEAD", "/sleep?ms=x"), headless(whole("ms", MOST_MS)))
    yield Exchange("C21", f"HEAD /books/{MOST_ID}", Request("HEAD", f"/books/{MOST_ID}"), headless(_missing_book(MOST_ID)))
    refused = problem(405, "the method is not allowed here", "GET, HEAD")
    for method in ("TRACE", "PROPFIND"):
        yield Exchange("C21", f"{method} /hello", Request(method, "/hello"), refused)
    for target in ("/runtime", "/stats", "/sleep-query?ms=1", "/events?interval_ms=10", "/pinnings"):
        yield Exchange("C21", f"POST {target}", Request("POST", target, body=b""), refused)
    refused = problem(405, "the method is not allowed here", "GET")
    for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
        yield Exchange("C21", f"{method} /ws", Request(method, "/ws", body=None if method == "OPTIONS" else b""), refused)
    yield Exchange("C21", "HEAD /ws", Request("HEAD", "/ws"), headless(refused))
    refused = problem(405, "the method is not allowed here", "POST")
    for method in ("GET", "PUT", "PATCH", "DELETE", "OPTIONS"):
        yield Exchange("C21", f"{method} /books", Request(method, "/books"), refused)
    yield Exchange("C21", "HEAD /books", Request("HEAD", "/books"), headless(refused))
    # C32 before C35 and C33: 405 comes before errors of parameters and body
    refused = problem(405, "the method is not allowed here", "GET, HEAD")
    yield Exchange("C32", "POST /sleep?ms=x", Request("POST", "/sleep?ms=x", body=b""), refused)
    yield Exchange("C32", "POST /events?interval_ms=x", Request("POST", "/events?interval_ms=x", body=b""), refused)
    yield Exchange("C32", "DELETE /books/x", Request("DELETE", "/books/x"), refused)
    wrong = Request("PUT", "/books", body=b"x", content_type="text/plain")
    yield Exchange("C32", "PUT /books, a text", wrong, problem(405, "the method is not allowed here", "POST"))


def _missing_book(number: int) -> Answer:
    return problem(404, f"book {number} does not exist")


# No whole numbers by C22: signs, leading zeros, spaces, digits of other scripts, and what some parsers accept.
NOT_WHOLE: Final = (
    "", "-1", "-0", "%2B1", "+1", "01", "00", "%201", "1%20", "1+", "1%0A", "1%00", "1.0", "1.", ".5", "1e3", "1E0",
    "0x10",
    "1_000", "1,000", "1%2C0", "%D9%A3", "%EF%BC%91", "1%EF%BC%90", "NaN", "Infinity", "null", "true", "%27%27",
    "%FF",
    "18446744073709551617", "99999999999999999999999999999999999999",
)  # fmt: skip


def _parameters() -> Iterator[Exchange]:
    numbers = (
        ("/sleep", "ms", MOST_MS, 0, ""),
        ("/sleep-query", "ms", MOST_MS, 0, ""),
        ("/slow-query", "ms", MOST_MS, 0, ""),
        ("/fanout", "calls", MOST_CALLS, 1, "&ms=0&mode=concurrent"),
        ("/fanout", "ms", MOST_MS, 0, "&calls=1&mode=concurrent"),
        ("/compute", "rounds", MOST_ROUNDS, 1, ""),
        ("/block", "ms", MOST_BLOCK_MS, 0, "&offload=false"),
        ("/events", "interval_ms", MOST_INTERVAL_MS, LEAST_INTERVAL_MS, ""),
        ("/pin", "ms", MOST_BLOCK_MS, 0, "&how=lock"),
    )
    for path, name, most, least, rest in numbers:
        refused = whole(name, most, least)
        wrong = [*NOT_WHOLE, str(most + 1), *([] if least == 0 else [str(least - 1)])]
        for value in wrong:
            yield _get("C22", f"{path}?{name}={value}{rest}", refused)
        good = max(least, 1)
        others = (
            f"{name}={good}&{name}={good}",
            f"{name}={good}&{name}=x",
            f"{name}",
            f"{name.upper()}={good}",
            f"{name}%20={good}",
            f"{name}%5B%5D={good}",
        )
        for query in others:
            yield _get("C22", f"{path}?{query}{rest}", refused)
        yield _get("C22", f"{path}?{rest.lstrip('&')}", refused)
        if rest:
            yield _get("C22", f"{path}?{name}={good}{rest}&{name}={good}", refused)
    yield _get("C22", "/sleep", whole("ms", MOST_MS))
    for query in ("ms=%31", "%6Ds=1", "ms=1&x=y", "x=-1&ms=1&x=2&y", "ms=1&", "&ms=1", "ms=1&MS=x"):
        yield _get("C22", f"/sleep?{query}", ok('{"slept_ms":1}'))
    words = ("", "Concurrent", "SEQUENTIAL", "concurrent%20", "parallel", "concurrent&mode=concurrent", "1")
    for word in words:
        yield _get("C22", f"/fanout?calls=1&ms=0&mode={word}", WRONG_MODE)
    yield _get("C22", "/fanout?calls=1&ms=0", WRONG_MODE)
    for word in ("", "True", "FALSE", "1", "0", "yes", "true%20", "true&offload=true", "false&offload=true"):
        yield _get("C22", f"/block?ms=0&offload={word}", WRONG_OFFLOAD)
    yield _get("C22", "/block?ms=0", WRONG_OFFLOAD)
    for word in ("", "Lock", "lock%20", "monitor", "1", "synchronized,lock", "lock&how=native"):
        yield _get("C22", f"/pin?ms=0&how={word}", WRONG_HOW)
    yield _get("C22", "/pin?ms=0", WRONG_HOW)
    # of several mistakes the first by the table's order is reported, whatever the order in the request
    yield _get("C22", "/fanout", whole("calls", MOST_CALLS, 1))
    yield _get("C22", "/fanout?mode=x&ms=x&calls=x", whole("calls", MOST_CALLS, 1))
    yield _get("C22", "/fanout?mode=x&ms=x&calls=1", whole("ms", MOST_MS))
    yield _get("C22", "/fanout?mode=x&ms=1&calls=0", whole("calls", MOST_CALLS, 1))
    yield _get("C22", "/block?offload=x&ms=x", whole("ms", MOST_BLOCK_MS))
    yield _get("C22", "/block", whole("ms", MOST_BLOCK_MS))
    yield _get("C22", "/pin?how=x&ms=x", whole("ms", MOST_BLOCK_MS))
    numbers_as_id = ["0", "-1", "-0", "01", "00", "1.0", "1e0", "x", "1x", "%201", "1%20", "%EF%BC%91", "%D9%A3", "0x1"]
    for value in [*numbers_as_id, str(MOST_ID + 1), "9223372036854775808", "99999999999999999999999999"]:
        yield _get("C22", f"/books/{value}", WRONG_ID)
    yield from _bounds()


def _bounds() -> Iterator[Exchange]:
    """The largest allowed values that are quick enough to wait for; the others are checked while in flight (C22)."""
    wanted = ok(f'{{"calls":{MOST_CALLS},"mode":"sequential","completed":{MOST_CALLS}}}')
    yield _get("C22", f"/fanout?calls={MOST_CALLS}&ms=0&mode=sequential", wanted)
    for offload in ("false", "true"):
        wanted = ok(f'{{"blocked_ms":{MOST_BLOCK_MS},"offloaded":{offload}}}')
        yield _get("C22", f"/block?ms={MOST_BLOCK_MS}&offload={offload}", wanted)
    for how in HOWS:
        yield _get("C22", f"/pin?ms={MOST_BLOCK_MS}&how={how}", ok(f'{{"waited_ms":{MOST_BLOCK_MS},"how":"{how}"}}'))


# ---- bodies ----


def _post(rule: str, title: str, body: bytes, wanted: Answer, content_type: str | None = JSON) -> Exchange:
    return Exchange(rule, f"POST /books, {title}", Request("POST", "/books", body=body, content_type=content_type), wanted)


def _named(name: str) -> bytes:
    return json.dumps({"name": name}, ensure_ascii=False).encode()


def padded(length: int) -> bytes:
    """A valid body of exactly this many bytes."""
    body = b'{"name":"padded"}'
    return body + b" " * (length - len(body))


def _bodies() -> Iterator[Exchange]:
    yield from _media_types()
    yield from _sizes()
    yield from _malformed()
    yield from _names()


def _media_types() -> Iterator[Exchange]:
    refused = problem(415, "the body must be application/json")
    for good in ("application/json;charset=utf-8", "APPLICATION/JSON", 'Application/Json ; a=b; c="d;e"'):
        yield _post("C23", f"as {good}", _named("typed"), created("typed"), good)
    wrong = ("text/json", "text/plain", "application/jsonx", "application/problem+json", "application/vnd.api+json")
    for bad in (*wrong, "application/x-www-form-urlencoded", "application/*", "*/*", "application", "json", ";"):
        yield _post("C23", f"as {bad}", _named("typed"), refused, bad)
    yield _post("C33", "no media type", _named("typed"), refused, None)
    yield _post("C33", "neither media type nor body", b"", refused, None)
    # C33 before C34 before C35 before C36
    yield _post("C33", "a long text", b"x" * (MOST_BODY_BYTES + 1), refused, "text/plain")
    yield _post("C33", "a text that is not JSON", b"{", refused, "text/plain")


def _sizes() -> Iterator[Exchange]:
    refused = problem(413, "the body must not exceed 65536 bytes")
    fits, exceeds = padded(MOST_BODY_BYTES), padded(MOST_BODY_BYTES + 1)
    yield _post("C23", "65536 bytes", fits, created("padded"))
    yield _post("C34", "65537 bytes", exceeds, refused)
    yield _post("C34", "65537 bytes that are not JSON", b"x" * (MOST_BODY_BYTES + 1), refused)
    yield _post("C34", "one mebibyte", padded(1 << 20), refused)
    for title, body, wanted in (
        ("65536 bytes", fits, created("padded")),
        ("65537 bytes", exceeds, refused),
        ("17 bytes", padded(17), created("padded")),
        ("no bytes", b"", problem(400, NOT_JSON)),
    ):
        pieces = tuple(body[at : at + 10_000] for at in range(0, len(body), 10_000))
        request = Request("POST", "/books", content_type=JSON, chunks=pieces)
        yield Exchange("C23" if wanted.status == 201 else "C34", f"POST /books, chunked, {title}", request, wanted)


MALFORMED: Final = (
    b"", b" ", b"{", b"}", b"[", b"nul", b"nulll", b"x", b"'x'", b'{"name":"x"', b'{"name":"x"}}', b'{"name":"x"} x',
    b'{"name":"x"}{"name":"x"}', b'{"name":"x"},', b'{"name":"x",}', b'{"name":"x" "y":1}', b'{"name"}', b'{"name":}',
    b'{name:"x"}', b"{'name':'x'}", b'{"name":\'x\'}', b'{"name":NaN}', b'{"name":"x","y":NaN}',
    b'{"name":"x","y":Infinity}',
    b'{"name":"x","y":-Infinity}', b'{"name":"x","y":undefined}', b'{"name":"x","y":True}', b'{"name":"x","y":01}',
    b'{"name":"x","y":+1}', b'{"name":"x","y":1.}', b'{"name":"x","y":.5}', b'{"name":"x","y":0x1}',
    b'{"name":"x","y":1e}',
    b'{"name":"x","y":-}', b'{"name":"x"}/**/', b'{"name":"x"}//', b'{"name":"a\nb"}', b'{"name":"a\tb"}',
    b'{"name":"a\x00b"}',
    b'{"name":"x","a\nb":1}', b'{"name":"\\x"}', b'{"name":"\\u12"}', b'{"name":"\\u123g"}', b'{"name":"\\U0041"}',
    b'{"name":"x","y":[1,]}', b'{"name":"x","y":[1 2]}', b'{"name":"x","y":[}', b'{"name":"x"}\x0c',
    b'{"name":"x"}\xc2\xa0',
    b'{"name":"x"}\x00', b"name=x",
)  # fmt: skip
NOT_UTF_8: Final = (
    ("a lone byte ff", b'{"name":"\xff"}'),
    ("Latin-1", b'{"name":"caf\xe9"}'),
    ("a sequence cut short", b'{"name":"\xe2\x82"}'),
    ("an overlong zero", b'{"name":"\xc0\x80"}'),
    ("an overlong slash", b'{"name":"\xe0\x80\xaf"}'),
    ("a surrogate in UTF-8", b'{"name":"\xed\xa0\x80"}'),
    ("a pair of surrogates in UTF-8", b'{"name":"\xed\xa0\xbd\xed\xb8\x80"}'),
    ("beyond U+10FFFF", b'{"name":"\xf4\x90\x80\x80"}'),
    ("in a value that is ignored", b'{"name":"x","y":"\xff"}'),
    ("in a key that is ignored", b'{"name":"x","\xff":1}'),
    ("behind the object", b'{"name":"x"}\xff'),
    ("UTF-16", '{"name":"x"}'.encode("utf-16-le")),
)


def _malformed() -> Iterator[Exchange]:
    refused = problem(400, NOT_JSON)
    for body in MALFORMED:
        yield _post("C35", f"not JSON: {body.decode('latin-1')!r}", body, refused)
    for title, body in NOT_UTF_8:
        yield _post("C35", f"not UTF-8: {title}", body, refused)
    yield _post("C35", "not JSON and no good name", b'{"name":"",}', refused)


NAMES: Final = (
    "x", "<b>&amp;'\"\\/</b>", "Füße, 한국어, عربي", "😀", "e\u0301", "a\tb\nc\rd", "\u0000", "\u0008\u000c",
    "\u0001\u001f",
    "\u007f\u0080\u009f", "\u2028\u2029", "\ufeffx", "\ufffd\uffff", " x ", "x   ", "%s%d?",
    "'; DROP TABLE books; --", "null", "\U0010ffff",
)  # fmt: skip


def _names() -> Iterator[Exchange]:
    for name in NAMES:
        yield _post("C10", f"named {name!r}", _named(name), created(name))
    yield _post("C10", "escaped where it need not be", b'{"\\u006eame":"\\u003c\\u00e9\\/"}', created("<é/"))
    yield _post("C10", "a pair of surrogates", b'{"name":"\\ud83d\\ude00"}', created("😀"))
    yield _post("C10", "white space all around", b' \t\r\n{ "name" :\n"x"\t} \r\n', created("x"))
    for title, letter in (("letters", "a"), ("syllables", "한"), ("emoji", "😀")):
        most = letter * MOST_CHARACTERS
        yield _post("C23", f"255 {title}", _named(most), created(most))
        yield _post("C36", f"256 {title}", _named(most + letter), problem(422, WRONG_NAME))
    escaped = b'{"name":"' + b"\\ud83d\\ude00" * MOST_CHARACTERS + b'"}'
    yield _post("C23", "255 pairs of surrogates", escaped, created("😀" * MOST_CHARACTERS))
    deep = b'{"name":"x","y":' + b"[" * 99 + b"]" * 99 + b"}"
    digits = b'{"name":"x","y":' + b"9" * 400 + b"}"
    for title, body, name in (
        ("an unknown key", b'{"name":"x","id":7,"y":{"name":1,"z":[null,true,-0.5e-3]}}', "x"),
        ("a known key in an unknown one", b'{"y":{"name":""},"name":"x"}', "x"),
        ("other keys by case", b'{"Name":1,"name":"x","NAME":2}', "x"),
        ("equal keys", b'{"name":"first","name":"last"}', "last"),
        ("equal keys, the first one wrong", b'{"name":1,"name":"last"}', "last"),
        ("an ignored number beyond a double", b'{"name":"x","y":1e999}', "x"),
        ("an ignored number of 400 digits", digits, "x"),
        ("an ignored lone surrogate", b'{"y":"\\ud800","name":"x"}', "x"),
        ("nested 100 deep", deep, "x"),
    ):
        yield _post("C23", title, body, created(name))
    for title, body in (
        ("an array", b"[]"), ("an array of one", b'[{"name":"x"}]'), ("a string", b'"name"'), ("a number", b"1"),
        ("null", b"null"),
        ("true", b"true"), ("no name", b"{}"), ("an empty name", b'{"name":""}'), ("null as name", b'{"name":null}'),
        ("a number as name", b'{"name":1}'), ("true as name", b'{"name":true}'),
        ("an array as name", b'{"name":["x"]}'),
        ("an object as name", b'{"name":{"name":"x"}}'), ("Name", b'{"Name":"x"}'), ("NAME", b'{"NAME":"x"}'),
        ("equal keys, the last one wrong", b'{"name":"x","name":1}'),
        ("equal keys, the last one empty", b'{"name":"x","name":""}'),
        ("a lone high surrogate", b'{"name":"\\ud800"}'), ("a lone low surrogate", b'{"name":"x\\udc00y"}'),
        ("surrogates the wrong way round", b'{"name":"\\ude00\\ud83d"}'),
        ("a high surrogate, then a letter", b'{"name":"\\ud83dx"}'),
    ):  # fmt: skip
        yield _post("C36", title, body, problem(422, WRONG_NAME))


# ---- asking ----


def answers(base_url: str, endpoints: Collection[str] = ENDPOINTS) -> dict[str, Answer]:
    """The answers of this service to all requests of the table that apply to it, by the exchange's title; 0 means no answer."""
    return {one.title: _answer(base_url, one.request) for one in exchanges() if concerns(one.request.target, endpoints)}


def _answer(base_url: str, request: Request) -> Answer:
    try:
        return answer_of(ask(base_url, request))
    except NoAnswer as error:
        return Answer(0, f"no answer: {error}", None, None)


def differences(by_contender: Mapping[str, Mapping[str, Answer]]) -> list[Outcome]:
    """One outcome per request: passed if all contenders that were asked gave the same answer."""
    outcomes = []
    for exchange in exchanges():
        groups: dict[Answer, list[str]] = {}
        for contender, given in by_contender.items():
            if exchange.title in given:
                groups.setdefault(given[exchange.title], []).append(contender)
        passed = len(groups) < 2
        detail = "one answer" if passed else _sides(groups)
        outcomes.append(Outcome(exchange.rule, exchange.title, passed, detail))
    return outcomes


def _sides(groups: Mapping[Answer, Sequence[str]]) -> str:
    sides = sorted(groups.items(), key=lambda side: -len(side[1]))
    return " · ".join(f"{', '.join(names)}: {shown(answer)}" for answer, names in sides)


def shown(answer: Answer) -> str:
    """An answer in one line."""
    body = answer.body if len(answer.body) <= 160 else f"{answer.body[:120]}… ({len(answer.body)} characters)"
    parts = [
        str(answer.status),
        answer.content_type or "no Content-Type",
        f"length {answer.content_length}",
        ascii(body),
    ]
    parts += [f"Location {answer.location}"] if answer.location is not None else []
    parts += [f"Allow {answer.allow}"] if answer.allow is not None else []
    parts += [f"Upgrade {answer.upgrade}"] if answer.upgrade is not None else []
    return ", ".join(parts)
