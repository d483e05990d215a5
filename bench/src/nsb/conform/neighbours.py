"""Database and upstream for the rules: a view into the database, and test doubles that can be unreachable, silent or wrong."""

from __future__ import annotations

import socket
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import quote, unquote, urlsplit, urlunsplit

import pymysql

LATE_S = 6.0  # delay of an upstream: well beyond the UPSTREAM_TIMEOUT_MS of the rules
# What reading the counters once adds to them.
LOOK = Counter({"Com_show_status": 1, "Questions": 1})


class Peek:
    """The suite's own connection to the database, as the contender's user; it counts as one of that user's connections."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._connection = pymysql.connect(
            host=parts.hostname or "127.0.0.1",
            port=parts.port or 3306,
            user=unquote(parts.username or ""),
            password=unquote(parts.password or ""),
            database=unquote(parts.path.lstrip("/")),
            charset="utf8mb4",
            autocommit=True,
        )

    def __enter__(self) -> Peek:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._connection.close()

    def rows(self, statement: str, arguments: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        with self._connection.cursor() as cursor:
            cursor.execute(statement, arguments)
            return list(cursor.fetchall())

    def saw(self, action: Callable[[], object]) -> Counter[str]:
        """What the server counted while the action ran: Questions and every Com_ that changed, without this reading itself."""
        before = self._status()
        action()
        moved = self._status()
        moved.subtract(before)
        moved.subtract(LOOK)
        return Counter({name: number for name, number in moved.items() if number})

    def _status(self) -> Counter[str]:
        found = self.rows("SHOW GLOBAL STATUS WHERE Variable_name LIKE 'Com\\_%%' OR Variable_name = 'Questions'")
        return Counter({str(name): int(value) for name, value in found if str(value).isdigit()})

    def connection_ids(self) -> set[int]:
        """The ids of this user's connections, without this one."""
        found = self.rows("SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID()")
        return {int(number) for (number,) in found}

    def sleeping_statements(self) -> int:
        """How many SELECT SLEEP run now."""
        statement = (
            "SELECT COUNT(*) FROM information_schema.processlist"
            " WHERE id <> CONNECTION_ID() AND command IN ('Query', 'Execute') AND info LIKE '%%SLEEP(%%'"
        )
        return int(self.rows(statement)[0][0])


def moved_to(url: str, port: int, database: str | None = None) -> str:
    """The same database URL at another port of this machine, with every byte of user and password percent-encoded."""
    parts = urlsplit(url)
    user, password = ("".join(f"%{byte:02X}" for byte in unquote(word or "").encode()) for word in (parts.username, parts.password))
    path = parts.path if database is None else "/" + quote(database)
    return urlunsplit((parts.scheme, f"{user}:{password}@127.0.0.1:{port}", path, "", ""))


class Forwarder:
    """A proxy to the database that can be away (connections are refused), open, or mute (accepted, but never answered)."""

    def __init__(self, host: str, port: int) -> None:
        self._towards = (host, port)
        self._ends: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._mute = self._listens = False
        self._door = _bound(0)  # bound and not listening: the port is ours and refuses
        self.port = int(self._door.getsockname()[1])

    def open(self) -> None:
        self._mute = False
        if not self._listens:
            self._listens = True
            self._door.listen(1024)
            threading.Thread(target=self._accept, args=(self._door,), daemon=True).start()

    def mute(self) -> None:
        """Accepts new connections and sends nothing on any connection."""
        self._mute = True

    def away(self) -> None:
        """Refuses new connections and breaks the existing ones."""
        # The accepting thread uses the socket: only shutdown ends its accept().
        with suppress(OSError):
            self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()
        with self._lock:
            ends, self._ends = self._ends, set()
        for end in ends:
            _cut(end)
        self._door = _bound(self.port)
        self._listens = False

    def close(self) -> None:
        self.away()
        self._door.close()

    def _accept(self, door: socket.socket) -> None:
        while True:
            try:
                inner, _ = door.accept()
            except OSError:
                return
            with self._lock:
                if door.fileno() < 0:  # away() has broken all others in the meantime
                    _cut(inner)
                    return
                self._ends.add(inner)
            if self._mute:
                continue
            try:
                outer = socket.create_connection(self._towards, timeout=5)
                outer.settimeout(None)
                for end in (inner, outer):
                    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            except OSError:
                _cut(inner)
                continue
            with self._lock:
                self._ends.add(outer)
            for source, target in ((inner, outer), (outer, inner)):
                threading.Thread(target=self._pump, args=(source, target), daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                if not self._mute:
                    target.sendall(data)
        for end in (source, target):
            _cut(end)
        with self._lock:
            self._ends -= {source, target}


def _bound(port: int) -> socket.socket:
    door = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    door.bind(("127.0.0.1", port))
    return door


def _cut(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()


class WrongUpstream(ThreadingHTTPServer):
    """An upstream that misbehaves as told: `ok`, `late`, `close`, `every second fails`, or a status to answer."""

    daemon_threads = True
    request_queue_size = 1024
    behaviour: str | int = "ok"

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _UpstreamHandler)
        self.targets: list[str] = []
        self.goodbye = threading.Event()
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that disconnects is no error here."""

    def close(self) -> None:
        self.goodbye.set()
        self.shutdown()
        self.server_close()


class _UpstreamHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: WrongUpstream

    def do_GET(self) -> None:
        upstream = self.server
        upstream.targets.append(self.path)
        behaviour = upstream.behaviour
        if behaviour == "every second fails":
            behaviour = 500 if len(upstream.targets) % 2 == 0 else 200
        if behaviour == "late":
            upstream.goodbye.wait(LATE_S)
        if behaviour == "close":
            self.close_connection = True
            return
        status = behaviour if isinstance(behaviour, int) else 200
        body = b"" if status in (204, 304) else b"{}"
        headers: Mapping[str, str] = {"Location": "/hello"} if 300 <= status < 400 else {}
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        """No log."""
