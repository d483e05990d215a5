"""C25–C29: HTTP that is malformed, too large, late or pipelined, and what of it reaches stderr."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from nsb.conform.exchanges import Answer, answer_of, ok, problem
from nsb.conform.suite import Case, Stage, Stand, rule
from nsb.conform.wire import Connection, NoAnswer, Request, get

HEAD_S: Final = 10.0  # C27
BODY_S: Final = 20.0
STILL_GOOD_S: Final = 7.0  # a client that is slow and yet in time
LATE_S: Final = 6.0  # what the contract leaves to the server's clock, and the machine's
PIECE_S: Final = 0.5  # between two bytes of a client that never stops
LEAST_LINE: Final = 8_000  # C26
LEAST_HEAD: Final = 12_000
LEAST_HEADERS: Final = 60
MOST_TAKEN: Final = 1 << 24  # of a head without an end: what the kernel holds is in it
MOST_BODY: Final = 65_536  # C23
HALF_HEAD: Final = b"GET /hello HTTP/1.1\r\nHost: x\r\nX-Slow: "
HALF_BODY: Final = b'POST /books HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{"na'
OWN: Final[dict[str, set[str]]] = {
    "hyper": {"no Host", "half a head", "a head that never ends"},
    "Reactor Netty": {"no Host", "half a head", "a head that never ends"},
    "uvicorn": {"no Host", "half a head", "a head that never ends", "a large head"},
    "Apache Tomcat": {"a head that never ends", "a body that never ends", "10,000 trailers"},
    "net/http": {"both lengths"},
}
"""What the contract declares as a server's own: its name in /runtime → what it has no setting for."""


def _own(stand: Stand) -> set[str]:
    server = stand.runtime()["server"]
    return {what for name, all_of in OWN.items() if server.startswith(name) for what in all_of}


def _said(stand: Stand, sent: bytes, patience_s: float = 5) -> bytes:
    """What comes until the server closes; raises NoAnswer where it does not close."""
    with Connection(stand.url, patience_s) as connection:
        connection.socket.sendall(sent)
        return connection.until_end()


def _refused(stand: Stand, case: Case, what: str, sent: bytes) -> None:
    """One answer, 400, and the end of the connection: what was sent behind it is not answered."""
    try:
        said = _said(stand, sent)
    except NoAnswer as error:
        case.holds(False, what, f"the connection stays open ({error})", "400 and its end")
        return
    answers = said.count(b"HTTP/1.1 ")
    good = answers == 1 and said.startswith(b"HTTP/1.1 400")
    case.holds(good, what, f"{answers} answers, {said[:40]!r}", "400 and the end of the connection")


@rule("C25", "a request that could be read in two ways is refused", needs=["/books"])
def ambiguous(stand: Stand, case: Case) -> None:
    own = _own(stand)
    behind = b"GET /hello HTTP/1.1\r\nHost: x\r\n\r\n"
    if "no Host" not in own:
        _refused(stand, case, "no Host", b"GET /hello HTTP/1.1\r\n\r\n" + behind)
    start = b"POST /books HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    if "both lengths" not in own:
        both = start + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        _refused(stand, case, "Content-Length with Transfer-Encoding", both + behind)
    two = start + b"Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcde"
    _refused(stand, case, "two lengths", two + behind)
    _refused(stand, case, "a malformed chunk", start + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n{}\r\n0\r\n\r\n" + behind)
    case.equal("hello afterwards", stand.ask("/hello").text, "hello")


@rule("C26", "a head of usual size is taken, one without bounds is not", needs=["/books"])
def sizes(stand: Stand, case: Case) -> None:
    line = "/sleep?ms=0&x="
    target = line + "x" * (LEAST_LINE - len(line) - len("GET  HTTP/1.1"))
    case.equal(f"a request line of {LEAST_LINE} bytes", answer_of(stand.ask(target)), ok('{"slept_ms":0}'))
    for what, headers in (
        ("one header", [("X-Large", "x" * (LEAST_HEAD - 100))]),
        (f"{LEAST_HEADERS} headers", [(f"X-{number}", "x" * (LEAST_HEAD // LEAST_HEADERS - 12)) for number in range(LEAST_HEADERS)]),
    ):
        case.equal(f"a head of {LEAST_HEAD} bytes in {what}", stand.ask(get("/hello", *headers)).text, "hello")
    endless = {} if "a large head" in _own(stand) else {"a header": HALF_HEAD, "a request line": b"GET /hello?x="}
    for what, start in endless.items():
        taken = _taken(stand, start)
        case.holds(taken < MOST_TAKEN, f"bytes taken of {what} that does not end", taken, "an end of the connection")
    case.equal("hello afterwards", stand.ask("/hello").text, "hello")


def _taken(stand: Stand, start: bytes) -> int:
    """How much the server reads before it closes, what the kernel holds for it included."""
    piece, sent = b"x" * 65_536, 0
    with Connection(stand.url, patience_s=5) as connection:
        try:
            connection.socket.sendall(start)
            while sent < MOST_TAKEN:
                connection.socket.sendall(piece)
                sent += len(piece)
        except OSError:
            pass
    return sent


@rule("C23", "a body that is announced as too large is refused before it comes", needs=["/books"])
def refused_early(stand: Stand, case: Case) -> None:
    wanted = problem(413, "Content Too Large", "the body must not exceed 65536 bytes")
    for headers in ((), (("Expect", "100-continue"),)):
        request = Request("POST", "/books", content_type="application/json", headers=(("Content-Length", str(MOST_BODY + 1)), *headers))
        what = f"413 before the body{' with Expect' if headers else ''}"
        with Connection(stand.url, patience_s=5) as connection:
            began = time.monotonic()
            try:
                reply = connection.ask(request)
            except NoAnswer as error:
                case.holds(False, what, str(error), "413")
                continue
            case.equal(what, answer_of(reply), wanted)
            case.holds(time.monotonic() - began < 1, what, f"after {time.monotonic() - began:.1f} s", "at once")
    fits = Request("POST", "/books", b'{"name":"x"}', "application/json", headers=(("Expect", "100-continue"),))
    case.equal("Expect before a body that fits", stand.ask(fits).status, 201)


@rule("C24", "426 ends a connection that is to be closed", needs=["/ws"])
def closes_after_426(stand: Stand, case: Case) -> None:
    with Connection(stand.url, patience_s=5) as connection:
        connection.send(get("/ws", ("Connection", "close")))
        said = connection.until_end()
    case.equal("what is said", said[:12], b"HTTP/1.1 426")


@rule("C21", "CONNECT and a method that nobody registered are refused", needs=["/books"])
def strange_methods(stand: Stand, case: Case) -> None:
    for start in (b"CONNECT x:1", b"BREW /hello"):
        said = _said(stand, start + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        good = not said or said[9:12] in (b"400", b"404", b"405", b"501")
        case.holds(good, start.decode(), said[:40], "400, 404, 405 or 501, or the end of the connection")


@rule("C28", "pipelined requests are answered in their order", needs=["/sleep"])
def pipelined(stand: Stand, case: Case) -> None:
    with Connection(stand.url, patience_s=5) as connection:
        for target in ("/sleep?ms=300", "/hello", "/sleep?ms=1"):
            connection.send(get(target))
        said, ends = b"", (b'{"slept_ms":300}', b"hello", b'{"slept_ms":1}')
        while ends[-1] not in said and (part := connection.socket.recv(65_536)):
            said += part
    order = sorted(ends, key=said.find)
    case.equal("answers", [end for end in order if end in said], list(ends))


def _behind(before: str, now: str) -> str:
    """What was written since: a tail loses its beginning as it grows."""
    return now.removeprefix(before) if now.startswith(before) else now.partition(before[-100:])[2]


@rule("C29", "what clients send wrongly leaves neither control characters nor stack traces on stderr", needs=["/books"])
def quiet_log(stand: Stand, case: Case) -> None:
    chunked = b"POST /books HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    trailers = b"".join(b"X-%d: y\r\n" % number for number in range(10_000))
    own, before = _own(stand), stand.service.stderr_tail
    sent = (
        b"GET /hello HTTP/1.1\r\nHost: x\r\n\x1b[31mred: x\r\n\r\n",
        b"GET /\x1b[31m HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\x1b[31m / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /%1b%5b31m HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        chunked + b"xyz\r\n{}\r\n0\r\n\r\n",
        chunked + b"2\r\n{}xx\r\n0\r\n\r\n",
        *([] if "10,000 trailers" in own else [chunked + b"2\r\n{}\r\n0\r\n" + trailers + b"\r\n"]),
    )
    for one in sent:
        try:
            first = _said(stand, one, patience_s=1.5)[:12]
        except (NoAnswer, OSError):
            first = b""
        case.holds(first[9:10] != b"5", f"{one[:80]!r}", first, "no 5xx")
    time.sleep(0.3)  # for what is written beside the answer
    said = _behind(before, stand.service.stderr_tail)
    for what in ("\x1b", "\tat ", "Traceback", "    at ", "goroutine "):
        case.holds(what not in said, f"stderr with {what!r}", said[-400:], "without it")


# ---- slow clients ----


def _closed_after(stand: Stand, start: bytes, piece: bytes, limit_s: float) -> float | None:
    """Seconds until the server closes on a client that sends a piece now and then, or nothing more; None where it does not."""
    began = time.monotonic()
    with Connection(stand.url, patience_s=PIECE_S) as connection:
        connection.socket.sendall(start)
        while time.monotonic() < began + limit_s + LATE_S:
            try:
                connection.until_end()
            except NoAnswer:  # it is still open
                try:
                    connection.socket.sendall(piece)
                except OSError:
                    return time.monotonic() - began
                continue
            return time.monotonic() - began
    return None


def _in_time(stand: Stand, start: bytes, rest: bytes) -> Answer:
    with Connection(stand.url) as connection:
        connection.socket.sendall(start)
        time.sleep(STILL_GOOD_S)
        connection.socket.sendall(rest)
        return answer_of(connection.receive())


@rule("C27", "a head that is not whole after 10 s, a body after 20 s: the connection is closed", Stage.SLOW, needs=["/books"])
def slow(stand: Stand, case: Case) -> None:
    own = _own(stand)
    endings: dict[str, tuple[bytes, bytes, float]] = {
        "half a head": (HALF_HEAD, b"", HEAD_S),
        "a head that never ends": (HALF_HEAD, b"x", HEAD_S),
        "half a body": (HALF_BODY, b"", BODY_S),
        "a body that never ends": (HALF_BODY.replace(b": 11", b": 1100"), b"x", BODY_S),
    }
    with ThreadPoolExecutor(len(endings) + 2) as beside:
        closing = {what: beside.submit(_closed_after, stand, *ending) for what, ending in endings.items() if what not in own}
        head = beside.submit(_in_time, stand, HALF_HEAD, b"\r\n\r\n")
        body = beside.submit(_in_time, stand, HALF_BODY, b'me":""}')
        for what, took in closing.items():
            after = took.result()
            limit_s = endings[what][2]
            case.holds(after is not None, what, f"open after {limit_s + LATE_S} s", f"closed after {limit_s} s")
            case.least(f"seconds until {what} was given up", after or limit_s, STILL_GOOD_S)
        case.equal("a head in two pieces, in time", head.result().body, "hello")
        case.equal("a body in two pieces, in time", body.result().status, 422)
    case.equal("hello afterwards", stand.ask("/hello").text, "hello")
