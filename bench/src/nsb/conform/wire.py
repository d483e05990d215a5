"""An HTTP client that sends exactly the bytes of a rule, where a client library would correct or refuse them."""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPResponse, IncompleteRead
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from websockets.client import ClientProtocol
from websockets.extensions.permessage_deflate import ClientPerMessageDeflateFactory
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.protocol import State
from websockets.typing import Origin, Subprotocol
from websockets.uri import parse_uri

PATIENCE_S = 15.0  # the longest wait for one answer: a rule that fails must not hang the suite
LINE_END = b"\r\n"
CHOICES = ("sec-websocket-extensions", "sec-websocket-protocol")


class NoAnswer(Exception):
    """The connection was refused, or ended without a complete answer."""


@dataclass(frozen=True)
class Reply:
    """One answer as it came over the wire."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    elapsed_s: float
    ended_at: float  # time.monotonic()
    version: int  # 11 is HTTP/1.1

    def header(self, name: str) -> str | None:
        """The value of a header, repeated ones joined as in RFC 9110; None if it is missing."""
        values = [value for key, value in self.headers if key.lower() == name.lower()]
        return ", ".join(values) if values else None

    @property
    def media_type(self) -> str | None:
        """The Content-Type without its parameters."""
        value = self.header("content-type")
        return None if value is None else value.split(";")[0].strip()

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "backslashreplace")

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Request:
    """A request; `chunks` sends the body chunked in these pieces."""

    method: str
    target: str
    body: bytes | None = None
    content_type: str | None = None
    chunks: tuple[bytes, ...] | None = None
    headers: tuple[tuple[str, str], ...] = field(default=())

    def encoded(self, host: str) -> bytes:
        """The bytes to send."""
        lines = [f"{self.method} {self.target} HTTP/1.1", f"Host: {host}"]
        lines += [f"{name}: {value}" for name, value in self.headers]
        if self.content_type is not None:
            lines.append(f"Content-Type: {self.content_type}")
        payload = self.body or b""
        if self.chunks is not None:
            lines.append("Transfer-Encoding: chunked")
            pieces = [b"%x\r\n%s\r\n" % (len(piece), piece) for piece in self.chunks if piece]
            payload = b"".join([*pieces, b"0\r\n\r\n"])
        elif self.body is not None:
            lines.append(f"Content-Length: {len(self.body)}")
        return LINE_END.join(line.encode("latin-1") for line in [*lines, "", ""]) + payload


def get(target: str, *headers: tuple[str, str]) -> Request:
    return Request("GET", target, headers=headers)


def post_json(target: str, value: bytes) -> Request:
    return Request("POST", target, body=value, content_type="application/json")


class Connection:
    """One TCP connection to a service."""

    def __init__(self, base_url: str, patience_s: float = PATIENCE_S) -> None:
        parts = urlsplit(base_url)
        self.host, self.patience_s = parts.netloc, patience_s
        try:
            self.socket = socket.create_connection((parts.hostname or "", parts.port or 80), timeout=patience_s)
        except OSError as error:
            raise NoAnswer(f"no connection: {error}") from error
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    @property
    def local_port(self) -> int:
        return int(self.socket.getsockname()[1])

    def close(self) -> None:
        self.socket.close()

    def reset(self) -> None:
        """Resets the connection: the server's next write fails."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def send(self, request: Request) -> None:
        # A server may answer (for example 413) and close before it has read everything: the answer can still be received.
        with suppress(BrokenPipeError, ConnectionResetError):
            self.socket.sendall(request.encoded(self.host))

    def receive(self, method: str = "GET", began: float | None = None) -> Reply:
        """One answer; raises NoAnswer if none comes or the connection ends within it."""
        began = time.monotonic() if began is None else began
        try:
            with closing(HTTPResponse(self.socket, method=method)) as response:
                response.begin()
                body = _whole(response, began + self.patience_s)
        except (OSError, HTTPException) as error:
            raise NoAnswer(f"{type(error).__name__}: {error}") from error
        ended = time.monotonic()
        headers = tuple(response.getheaders())
        return Reply(response.status, headers, body, ended - began, ended, response.version)

    def ask(self, request: Request) -> Reply:
        began = time.monotonic()
        self.send(request)
        return self.receive(request.method, began)

    def until_end(self) -> bytes:
        """Everything until the server closes; raises NoAnswer if it does not."""
        parts: list[bytes] = []
        try:
            while part := self.socket.recv(65536):
                parts.append(part)
        except ConnectionResetError:
            pass
        except OSError as error:
            raise NoAnswer(f"{type(error).__name__}: {error}") from error
        return b"".join(parts)


def _whole(response: HTTPResponse, deadline: float) -> bytes:
    """The body; raises NoAnswer if it does not end by the deadline (C14), IncompleteRead if it is cut off."""
    parts: list[bytes] = []
    while part := response.read1():
        parts.append(part)
        if time.monotonic() > deadline:
            raise NoAnswer(f"a body without an end: {part[:40]!r} …")
    if response.length:
        raise IncompleteRead(b"".join(parts), response.length)
    return b"".join(parts)


def ask(base_url: str, request: Request | str, patience_s: float = PATIENCE_S) -> Reply:
    """One request on a connection of its own; a string is a target to GET."""
    with Connection(base_url, patience_s) as connection:
        return connection.ask(get(request) if isinstance(request, str) else request)


class Stream:
    """An answer whose body stays open: the head is read, then one event after the other."""

    def __init__(self, base_url: str, target: str, patience_s: float = PATIENCE_S) -> None:
        self.connection = Connection(base_url, patience_s)
        self.began = time.monotonic()
        self.connection.send(get(target))
        self._response = HTTPResponse(self.connection.socket)
        try:
            self._response.begin()
        except (OSError, HTTPException) as error:
            raise NoAnswer(f"{type(error).__name__}: {error}") from error
        self.status = self._response.status
        self.headers = tuple(self._response.getheaders())

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.leave()

    def event(self) -> bytes:
        """The next event with the empty line that ends it; raises NoAnswer if none comes."""
        lines = [b""]
        try:
            while lines[-1] != b"\n":
                lines.append(self._response.readline())
                if not lines[-1]:
                    raise NoAnswer(f"the stream ended after {b''.join(lines)!r}")
        except (OSError, HTTPException) as error:
            raise NoAnswer(f"{type(error).__name__}: {error}") from error
        return b"".join(lines)

    def rest(self) -> bytes:
        """The rest of the body until its regular end; raises NoAnswer if it is cut off or does not end."""
        try:
            return self._response.read()
        except (OSError, HTTPException) as error:
            raise NoAnswer(f"{type(error).__name__}: {error}") from error

    def leave(self, reset: bool = True) -> None:
        """Ends the connection; without a reset the server only learns that nothing more will be sent."""
        if reset:
            self.connection.reset()
        self._response.close()  # it also holds the socket
        self.connection.close()


@dataclass(frozen=True)
class Message:
    """One message of a WebSocket."""

    kind: Opcode
    data: bytes


class Socket:
    """A WebSocket. It offers an extension and a subprotocol and comes from another origin, as a browser may."""

    def __init__(self, base_url: str, patience_s: float = PATIENCE_S) -> None:
        self._connection = Connection(base_url, patience_s)
        self.protocol = ClientProtocol(
            parse_uri(f"ws://{self._connection.host}/ws"),
            origin=Origin("https://elsewhere.example"),
            extensions=[ClientPerMessageDeflateFactory()],
            subprotocols=[Subprotocol("chat")],
            max_size=None,
        )
        self._frames: list[Frame] = []
        self._ended = False
        self.chosen: dict[str, str] = {}
        """Extensions and subprotocols in the answer to the handshake."""
        self.protocol.send_request(self.protocol.connect())
        try:
            self.flush()
            while self.protocol.state is State.CONNECTING and self._read():
                pass
            if self.protocol.state is not State.OPEN:
                raise NoAnswer(f"no handshake: {self.protocol.handshake_exc or 'the connection ended'}")
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> Socket:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._connection.close()

    def flush(self) -> None:
        """Sends the data that the protocol has ready."""
        with suppress(BrokenPipeError, ConnectionResetError):  # what the server sent before can still be read
            for data in self.protocol.data_to_send():
                if data:
                    self._connection.socket.sendall(data)
                else:
                    with suppress(OSError):  # the server may have reset it
                        self._connection.socket.shutdown(socket.SHUT_WR)

    def text(self, data: bytes) -> None:
        self.protocol.send_text(data)
        self.flush()

    def binary(self, data: bytes) -> None:
        self.protocol.send_binary(data)
        self.flush()

    def frame(self) -> Frame:
        """The next frame; raises NoAnswer if none comes."""
        while not self._frames:
            if not self._read():
                raise NoAnswer("the connection ended")
        return self._frames.pop(0)

    def message(self) -> Message:
        """The next message, its frames joined; raises NoAnswer if another kind of frame comes."""
        frames = [self.frame()]
        while not frames[-1].fin or frames[0].opcode not in (Opcode.TEXT, Opcode.BINARY):
            if frames[-1].opcode not in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
                raise NoAnswer(f"expected a message, got {frames[-1]}")
            frames.append(self.frame())
        return Message(frames[0].opcode, b"".join(bytes(frame.data) for frame in frames))

    def closed_with(self) -> int | None:
        """Waits until the server has closed; its code, or None if it sent none. Raises NoAnswer if it does not close."""
        while self._read():
            pass
        return None if self.protocol.close_rcvd is None else self.protocol.close_rcvd.code

    def close(self, code: int) -> None:
        """Starts the closing handshake of RFC 6455."""
        self.protocol.send_close(code)
        self.flush()

    def leave(self, reset: bool = True) -> None:
        """Ends the connection without a closing handshake."""
        if reset:
            self._connection.reset()
        else:
            self._connection.close()

    def _read(self) -> bool:
        """Reads what has arrived; False at the end of the connection."""
        if self._ended:
            return False
        try:
            data = self._connection.socket.recv(65536)
        except ConnectionResetError:  # a close with unread data ends like this, after what was sent before
            data = b""
        except OSError as error:
            raise NoAnswer(f"{type(error).__name__}: {error}") from error
        self._ended = not data
        if data:
            self.protocol.receive_data(data)
        else:
            self.protocol.receive_eof()
        for event in self.protocol.events_received():
            if isinstance(event, Response):
                self.chosen = {name.lower(): value for name, value in event.headers.raw_items() if name.lower() in CHOICES}
            elif isinstance(event, Frame):
                self._frames.append(event)
        self.flush()
        return not self._ended


class Flight:
    """Requests in flight, one connection and one thread each."""

    def __init__(self, base_url: str, wanted: Iterable[Request | str], patience_s: float = PATIENCE_S) -> None:
        wanted = list(wanted)
        self.began = time.monotonic()
        self._pool = ThreadPoolExecutor(max_workers=max(1, len(wanted)))
        self._futures: list[Future[Reply]] = [self._pool.submit(ask, base_url, one, patience_s) for one in wanted]

    def land(self) -> list[Reply]:
        """All answers in the order of the requests; raises NoAnswer if one is missing."""
        try:
            return [future.result() for future in self._futures]
        finally:
            self._pool.shutdown()

    def outcomes(self) -> list[Reply | NoAnswer]:
        """As `land`, with the error in place of a missing answer."""
        found: list[Reply | NoAnswer] = []
        for future in self._futures:
            try:
                found.append(future.result())
            except NoAnswer as error:
                found.append(error)
        self._pool.shutdown()
        return found

    @property
    def landed(self) -> int:
        return sum(future.done() for future in self._futures)
