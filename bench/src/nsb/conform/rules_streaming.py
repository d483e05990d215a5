"""C14, C15, C24, and C4 and C40 for streams: connections that are idle but open.

A rule that expects something soon tries several times: a busy machine may be late once, a wrong service is late always.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Final

from websockets.frames import CloseCode, Opcode

from nsb.conform.suite import EARLY_S, Case, Stand, holds_for, rule, until
from nsb.conform.wire import Connection, Message, NoAnswer, Request, Socket, Stream

LEAST_INTERVAL_MS: Final = 10  # C22
MOST_MESSAGE_BYTES: Final = 65_536  # C24
TRIES: Final = 5
INTERVAL_MS: Final = 800
MANY: Final = 40  # of each kind at once: more than cores and workers
HELD_S: Final = 0.5
APART: Final = {"date", "connection", "keep-alive", "transfer-encoding"}  # headers that HEAD and GET may differ in


def events(interval_ms: int) -> str:
    return f"/events?interval_ms={interval_ms}"


def event(number: int) -> bytes:
    return b"data: %d\n\n" % number


@rule("C14", "the headers of an event stream: no caching, no Content-Length", needs=["/events"])
def stream_head(stand: Stand, case: Case) -> None:
    with Stream(stand.url, events(INTERVAL_MS)) as stream:
        headers = {name.lower(): value for name, value in stream.headers}
        case.equal("status", stream.status, 200)
        case.equal("Content-Type", headers.get("content-type", "").split(";")[0].strip().lower(), "text/event-stream")
        case.equal("Cache-Control", headers.get("cache-control"), "no-store")
        case.equal("Content-Length", headers.get("content-length"), None)
    with Connection(stand.url) as connection:
        connection.send(Request("HEAD", events(INTERVAL_MS), headers=(("Connection", "close"),)))
        head, _, rest = connection.until_end().partition(b"\r\n\r\n")
    lines = [line.partition(": ") for line in head.decode("latin-1").split("\r\n")[1:]]
    told = {name.lower(): value for name, _, value in lines if name.lower() not in APART}
    case.equal("headers of HEAD", told, {name: value for name, value in headers.items() if name not in APART})
    case.equal("bytes after the head of HEAD", rest, b"")


@rule("C14", "the first event at once, the others one by one, none too early", needs=["/events"])
def stream_pace(stand: Stand, case: Case) -> None:
    interval_s = INTERVAL_MS / 1000
    late: list[str] = []
    for _ in range(TRIES):
        late = []
        with Stream(stand.url, events(INTERVAL_MS)) as stream:
            for number in range(3):
                case.equal(f"event {number}", stream.event(), event(number))
                took = time.monotonic() - stream.began
                case.least(f"seconds until event {number}", took, number * interval_s - EARLY_S)
                if took >= (number + 1) * interval_s:
                    late.append(f"event {number} after {took:.1f} s")
        if case.findings or not late:
            break
    case.holds(not late, f"each event before the next is due, once in {TRIES} tries", ", ".join(late), "each alone")
    with Stream(stand.url, events(LEAST_INTERVAL_MS)) as stream:
        for number in range(100):
            if (got := stream.event()) != event(number):
                case.equal(f"event {number}", got, event(number))
                return
        case.least("seconds until event 99", time.monotonic() - stream.began, 99 * LEAST_INTERVAL_MS / 1000 - EARLY_S)
    stand.quiet()


@rule("C4", "a stream is in flight while it is open, and counted when it ends", needs=["/events", "/ws"])
def streams_count(stand: Stand, case: Case) -> None:
    before = stand.quiet()
    with ExitStack() as stack:
        for _ in range(MANY):
            stream = stack.enter_context(Stream(stand.url, events(100)))
            case.equal("the first event", stream.event(), event(0))
            socket = stack.enter_context(Socket(stand.url))
            socket.text(b"here")
            case.equal("the first message", socket.message(), Message(Opcode.TEXT, b"here"))
        open_since = time.monotonic()
        seen = until(stand.stats, lambda stats: stats["in_flight"] == 2 * MANY, 3)
        case.equal(f"in_flight with {MANY} streams of each kind", seen["in_flight"], 2 * MANY)
        case.equal("growth of requests_total while they are open", seen["requests_total"] - before["requests_total"], 0)
        holds_for(stand.stats, lambda stats: stats["in_flight"] == 2 * MANY, HELD_S)
        held_s = time.monotonic() - open_since
    after = until(stand.stats, lambda stats: stats["in_flight"] == 0)
    case.equal("in_flight when all have left", after["in_flight"], 0)
    case.equal("growth of requests_total", after["requests_total"] - before["requests_total"], 2 * MANY)
    busy_s = after["busy_seconds_total"] - before["busy_seconds_total"]
    case.least("growth of busy_seconds_total", busy_s, 2 * MANY * (held_s - EARLY_S))


@rule("C40", "a stream ends when its client leaves, with nothing on stderr", needs=["/events", "/ws"])
def stream_left(stand: Stand, case: Case) -> None:
    stand.quiet()
    said = stand.service.stderr_tail
    for reset in (False, True):
        left = "with a reset" if reset else "by closing"
        stream = Stream(stand.url, events(50))
        case.equal("the first event", stream.event(), event(0))
        socket = Socket(stand.url)
        case.equal("in_flight", until(stand.stats, lambda stats: stats["in_flight"] == 2, 3)["in_flight"], 2)
        stream.leave(reset)
        socket.leave(reset)
        after = until(stand.stats, lambda stats: stats["in_flight"] == 0)
        case.equal(f"in_flight after both have left {left}", after["in_flight"], 0)
    after_it = holds_for(lambda: stand.service.stderr_tail, lambda tail: tail == said, 0.3)
    case.holds(after_it == said, "stderr", repr(after_it[-300:]), "nothing new")


@rule("C15", "every message comes back unchanged, as one message, in order", needs=["/ws"])
def echoes(stand: Stand, case: Case) -> None:
    messages = [
        Message(Opcode.TEXT, b"hello"),
        Message(Opcode.BINARY, b"hello"),
        Message(Opcode.TEXT, b""),
        Message(Opcode.BINARY, b""),
        Message(Opcode.TEXT, "<é한😀\u0000\ufeff>".encode()),
        Message(Opcode.BINARY, bytes(range(256))),
        Message(Opcode.TEXT, b"a" * MOST_MESSAGE_BYTES),
        Message(Opcode.BINARY, b"\xff" * MOST_MESSAGE_BYTES),
    ]
    with Socket(stand.url) as socket:
        for message in messages:
            _send(socket, message)
            case.holds(socket.message() == message, _named(message), "another", "the same")
        for number in range(50):
            socket.text(b"%d" % number)
        case.equal("50 in a row", [socket.message().data for _ in range(50)], [b"%d" % number for number in range(50)])
        letter = "한".encode()
        socket.protocol.send_text(letter[:1], fin=False)
        socket.protocol.send_continuation(b"", fin=False)
        socket.protocol.send_continuation(letter[1:] + b"!", fin=True)
        socket.text(b"next")
        case.equal("a message in three fragments", socket.message(), Message(Opcode.TEXT, letter + b"!"))
        case.equal("the one after it", socket.message().data, b"next")
    stand.quiet()


def _send(socket: Socket, message: Message) -> None:
    (socket.text if message.kind is Opcode.TEXT else socket.binary)(message.data)


def _named(message: Message) -> str:
    return f"{message.kind.name} of {len(message.data)} bytes"


@rule("C24", "a ping is answered by a pong, a close by a close; nothing is negotiated", needs=["/ws"])
def control_frames(stand: Stand, case: Case) -> None:
    with Socket(stand.url) as socket:
        case.equal("what the answer negotiates", socket.chosen, {})
        socket.protocol.send_text(b"be", fin=False)
        socket.protocol.send_ping(b"between")
        socket.flush()
        frame = socket.frame()
        case.equal("the answer to a ping between fragments", (frame.opcode, bytes(frame.data)), (Opcode.PONG, b"between"))
        socket.protocol.send_continuation(b"fore", fin=True)
        socket.flush()
        case.equal("the message around it", socket.message(), Message(Opcode.TEXT, b"before"))
        socket.close(CloseCode.NORMAL_CLOSURE)
        case.equal("the answer to a close with 1000", socket.closed_with(), CloseCode.NORMAL_CLOSURE)
    case.equal("in_flight after it", until(stand.stats, lambda stats: stats["in_flight"] == 0)["in_flight"], 0)


@rule("C24", "1009 for more than 65536 bytes, 1007 for what is not UTF-8", needs=["/ws"])
def refused_messages(stand: Stand, case: Case) -> None:
    long = b"x" * (MOST_MESSAGE_BYTES + 1)
    too_big, invalid = CloseCode.MESSAGE_TOO_BIG, CloseCode.INVALID_DATA
    sent: list[tuple[str, Callable[[Socket], None], CloseCode]] = [
        ("a text of 65537 bytes", lambda socket: socket.text(long), too_big),
        ("a binary of 65537 bytes", lambda socket: socket.binary(long), too_big),
        ("65537 bytes in fragments", _in_fragments, too_big),
        ("a lone byte ff", lambda socket: socket.text(b"\xff"), invalid),
        ("a surrogate in UTF-8", lambda socket: socket.text(b"\xed\xa0\x80"), invalid),
        ("a letter cut short", lambda socket: socket.text(b"ok \xed\x95"), invalid),
    ]
    for name, send, code in sent:
        with Socket(stand.url) as socket:
            try:
                send(socket)
                case.equal(name, socket.closed_with(), code)
            except NoAnswer as error:
                case.holds(False, name, f"no close ({error})", code)
                return
    case.equal("in_flight after all", until(stand.stats, lambda stats: stats["in_flight"] == 0)["in_flight"], 0)
    with Socket(stand.url) as socket:
        socket.text(b"lives on")
        case.equal("another socket afterwards", socket.message().data, b"lives on")


def _in_fragments(socket: Socket) -> None:
    half = b"x" * (MOST_MESSAGE_BYTES // 2)
    socket.protocol.send_binary(half, fin=False)
    socket.protocol.send_continuation(half, fin=False)
    socket.protocol.send_continuation(b"x", fin=True)
    socket.flush()
