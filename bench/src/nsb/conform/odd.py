"""Odd requests, drawn by a seed: what clients get wrong and what proxies add, within what the contract specifies. Every service must
answer them alike, and nobody by a 5xx. What CONTRACT.md leaves open is not drawn."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from nsb.conform.wire import Request

PARAMETERS: dict[str, tuple[str, ...]] = {
    "/hello": (), "/sleep": ("ms",), "/sleep-query": ("ms",), "/slow-query": ("ms",), "/fanout": ("calls", "ms", "mode"),
    "/compute": ("rounds",), "/block": ("ms", "offload"), "/events": ("interval_ms",), "/books/1": (), "/books": (), "/healthz": (),
    "/readyz": (), "/runtime": (), "/stats": (), "/ws": (),
}  # fmt: skip
"""Path → its parameters."""
RIGHT: dict[str, Sequence[str]] = {
    "ms": ("0", "1", "2"), "calls": ("1", "2", "3"), "rounds": ("1", "10", "1000"), "mode": ("concurrent", "sequential"),
    "offload": ("true", "false"), "interval_ms": ("10", "60000"),
}  # fmt: skip
NUMBERS = (
    "", "00", "01", "-1", "-0", "%2B1", "1.0", "1e1", "0x1", "1_0", "1%20", "%201", "1%09", "1%00", "99999999", "99999999999999999999999",
    "%EF%BC%91", "%D9%A1", "%C2%B2", "NaN", "Infinity", "null", "true", "1,2", "[1]", "%271%27", "1%0A",
)  # fmt: skip
"""No number of the contract: blanks, signs, other scripts' digits, beyond every bound."""
CHOICES = ("", "Concurrent", "SEQUENTIAL", "parallel", "True", "FALSE", "1", "0", "yes", "true%20", "concurrent,sequential", "null")
BOOKS = (
    "/books/0", "/books/01", "/books/-1", "/books/1.0", "/books/abc", "/books/9007199254740991", "/books/9007199254740992", "/books/10001",
    "/books/99999999999999999999", "/books/1/2", "/books/2", "/books/10000",
)  # fmt: skip
NOBODYS = ("/", "/favicon.ico", "/actuator/health", "/docs", "/openapi.json", "/error", "/index.html", "/metrics", "/hello/hello")
METHODS = ("GET", "GET", "GET", "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH")
HEADERS: Sequence[tuple[str, str]] = (
    ("Accept", "*/*"), ("Accept", "text/html"), ("Accept", "application/xml;q=0.9, image/png"), ("Accept", "application/json;q=0"),
    ("Accept-Encoding", "gzip, br"), ("Accept-Language", "ko-KR"), ("Accept-Charset", "utf-16"), ("If-None-Match", "*"),
    ("If-Match", '"x"'), ("If-Modified-Since", "Fri, 01 Jan 2100 00:00:00 GMT"), ("If-Unmodified-Since", "Fri, 01 Jan 1999 00:00:00 GMT"),
    ("Range", "bytes=0-1"), ("Origin", "https://elsewhere.example"), ("Access-Control-Request-Method", "DELETE"),
    ("Cookie", "a=b; =; $x"), ("X-Forwarded-For", "10.0.0.1"), ("X-Forwarded-Host", "elsewhere.example"), ("X-Forwarded-Prefix", "/api"),
    ("Forwarded", "for=unknown;host=x"), ("X-HTTP-Method-Override", "DELETE"), ("TE", "trailers"), ("User-Agent", ""),
    ("Cache-Control", "only-if-cached"), ("Authorization", "Basic !!!"), ("X-Long", "x" * 2000), ("X-Request-ID", "1"), ("DNT", "1"),
)  # fmt: skip
TYPES = (
    "application/json", "APPLICATION/JSON", "application/json; charset=utf-8", "application/json;charset=latin1",
    "application/json; a=b; c=d", "text/plain", "application/problem+json", "application/jsonx", "application/x-www-form-urlencoded",
    "text/json", "application/xml", None,
)  # fmt: skip
TEXTS = (
    "", "x", "Füße", "한국어", "عربي", "😀", "e\u0301", "\u200b", "\ufeff", "a\tb\nc", "(script)", "'; --", "%s%d", "\\", '"', "null",
    "x" * 255, "x" * 256, "한" * 255, "😀" * 255, "😀" * 256, " ",
)  # fmt: skip
NO_JSON = (
    b"", b" ", b"{", b'{"name"', b'{"name":}', b'{"name":"x"', b'{"name":"x"}}', b'{"name":"x"} x', b"{'name':'x'}", b'{name:"x"}',
    b'{"name":"x",}', b'{"name":NaN}', b'{"name":"x"}//', b'{"name":"\t"}', b'{"name":"\\x"}', b'{"name":"\xff"}', b"[1,]", b"01", b"nul",
    b'{"name":"x"}{"name":"y"}', b'{"a":+1,"name":"x"}', b'{"a":.5,"name":"x"}', b'{"a":1.,"name":"x"}', b'{"a":0x1,"name":"x"}',
)  # fmt: skip


def odd(seed: int, count: int) -> Iterator[Request]:
    """So many requests. The same seed gives the same ones, whatever the count."""
    draw = random.Random(seed)
    for _ in range(count):
        kind: Callable[[random.Random], Request] = draw.choices((_asked, _posted, _placed), (6, 3, 1))[0]
        yield kind(draw)


def titled(request: Request) -> str:
    """For a sentence: whole but for what is long."""
    said = request.encoded("HOST")
    return ascii(said[:300].decode("latin-1"))[1:-1] + ("…" if len(said) > 300 else "")


def _asked(draw: random.Random) -> Request:
    """An endpoint, by a method that may not be its own, with parameters that may be wrong."""
    path = draw.choice(list(PARAMETERS))
    method = draw.choice(METHODS)
    if path == "/books/1":
        path = draw.choice(BOOKS)
    query = _query(draw, PARAMETERS.get(path, ()))
    if path in ("/runtime", "/stats") and method in ("GET", "HEAD"):
        method = "POST"  # their values, and so their lengths, differ by design
    if path == "/events" and method == "GET":
        query = query.replace("interval_ms=10", "interval_ms=9").replace("interval_ms=60000", "interval_ms=60001")  # else it does not end
        method = "HEAD" if "interval_ms" not in query else method
    if path == "/books" and method == "POST":
        return _posted(draw)
    if path == "/ws":
        method = "GET"  # C21 leaves the others open
    return Request(method, path + query, headers=_headers(draw))


def _query(draw: random.Random, names: Sequence[str]) -> str:
    pairs = []
    for name in names:
        wrong = NUMBERS if name not in ("mode", "offload") else CHOICES
        pairs += [(name, draw.choice(RIGHT[name]) if draw.random() < 0.75 else draw.choice(wrong))]
    if pairs and draw.random() < 0.15:
        pairs.pop(draw.randrange(len(pairs)))
    if pairs and draw.random() < 0.1:
        pairs.append(draw.choice(pairs))
    if draw.random() < 0.2:
        pairs.append(draw.choice((("x", "1"), ("X-Y", ""), ("MS", "1"), ("ms2", "1"), ("%EA%B0%80", "%EA%B0%80"), ("a", "b=c"))))
    if draw.random() < 0.2:
        draw.shuffle(pairs)
    text = "&".join(f"{name}={value}" for name, value in pairs)
    return f"?{text}" if text else draw.choice(("", "", "?"))


def _headers(draw: random.Random) -> tuple[tuple[str, str], ...]:
    return tuple(dict(draw.sample(HEADERS, draw.choice((0, 0, 1, 2, 5)))).items())


def _posted(draw: random.Random) -> Request:
    """A body for a new book."""
    body = draw.choice(NO_JSON) if draw.random() < 0.3 else _json(draw).encode()
    media_type = draw.choice(TYPES) if draw.random() < 0.4 else "application/json"
    if draw.random() < 0.3:
        step = draw.choice((1, 7, 1000))
        return Request("POST", "/books", None, media_type, tuple(body[at : at + step] for at in range(0, len(body), step)), _headers(draw))
    return Request("POST", "/books", body, media_type, headers=_headers(draw))


def _json(draw: random.Random) -> str:
    value: Any = _value(draw, 0)
    if draw.random() < 0.7:
        value = {**(value if isinstance(value, dict) else {}), "name": draw.choice(TEXTS) if draw.random() < 0.8 else _value(draw, 2)}
        keys = list(value)
        draw.shuffle(keys)
        value = {key: value[key] for key in keys}
    return json.dumps(value, ensure_ascii=draw.random() < 0.5, indent=draw.choice((None, 1)))


def _value(draw: random.Random, depth: int) -> Any:
    if depth < 3 and draw.random() < 0.5:
        size = draw.randrange(4)
        if draw.random() < 0.5:
            return [_value(draw, depth + 1) for _ in range(size)]
        return {draw.choice(("a", "b", "names", "", "한", "id")): _value(draw, depth + 1) for _ in range(size)}
    return draw.choice((None, True, False, 0, -1, 1.5, 1e30, 2**53, 2**70, "", *TEXTS[:8]))


def _placed(draw: random.Random) -> Request:
    """A path that is nobody's."""
    path = draw.choice([each for each in PARAMETERS if each != "/books/1"])
    beside = [path + more for more in ("/", "x", ".json", "/x/y", "-")] + ["/api" + path, path.upper(), path[:-1]]
    found = draw.choice([each for each in (*beside, *NOBODYS) if each not in PARAMETERS])
    return Request(draw.choice(METHODS), found, headers=_headers(draw))


def differing(asked: Sequence[Request], given: Mapping[str, Sequence[Any]]) -> Iterator[tuple[Request, dict[Any, list[str]]]]:
    """Each request that was not answered alike, and who gave which answer. `given`: contender → answers in the order of the requests."""
    for number, request in enumerate(asked):
        sides: dict[Any, list[str]] = {}
        for name, answers in given.items():
            sides.setdefault(answers[number], []).append(name)
        if len(sides) > 1:
            yield request, sides
