"""A small service that keeps every rule of the contract, and by MODE breaks exactly one: the proof that the suite can fail.

Threads, the standard library and PyMySQL with text statements. For tests only: it is neither quick nor a contender.
"""

from __future__ import annotations

import json
import os
import queue
import re
import select
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import datetime
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import parse_qsl, unquote, urlsplit

import pymysql
from websockets.extensions.permessage_deflate import ServerPerMessageDeflateFactory
from websockets.frames import Frame, Opcode
from websockets.server import ServerProtocol
from websockets.typing import Origin, Subprotocol

MODE = os.environ.get("MODE", "none")
MOST_BODY = 65_536
MOST_MESSAGE = 65_536
HEAD_S = 10
BODY_S = 20
# Pure Python takes seconds for the most rounds; the suite knows the number as well.
KNOWN = {10_000_000: 3_882_214_040}
TITLES = {
    400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed", 413: "Content Too Large", 415: "Unsupported Media Type",
    422: "Unprocessable Content", 426: "Upgrade Required", 500: "Internal Server Error", 502: "Bad Gateway", 503: "Service Unavailable",
}  # fmt: skip


class Problem(Exception):
    def __init__(self, status: int, detail: str, allow: str | None = None) -> None:
        super().__init__(detail)
        self.status, self.detail, self.allow = status, detail, allow


NO_DATABASE = Problem(503, "the database did not answer")
NO_UPSTREAM = Problem(502, "the upstream did not answer")
NO_UPGRADE = Problem(426, "upgrade to a WebSocket")
STOPPING = threading.Event()


# ---- settings (C42, C50) ----


def refuse(sentence: str) -> NoReturn:
    print(sentence, file=sys.stderr)
    sys.exit(1 if MODE == "exits with 1" else 2)


def number(name: str, default: int, least: int, most: int) -> int:
    value = os.environ.get(name, "") or str(default)
    if MODE == "takes any setting" and name == "SERVER_THREADS":
        return default
    if not re.fullmatch(r"0|[1-9][0-9]*", value, re.ASCII) or not least <= int(value) <= most:
        refuse(f'{name}="{value}" is not a whole number from {least} to {most}')
    return int(value)


ALONE = ("/healthz", "/runtime", "/stats", "/hello") if MODE == "says hello alone" else ()  # a part of the contract, and no neighbours
WORKERS = number("WORKERS", os.cpu_count() or 1, 1, 1024)
HOST = os.environ.get("HOST") or "127.0.0.1"
PORT = number("PORT", 8080, 1, 65_535)
POOL_SIZE = number("DB_POOL_SIZE", 10 if MODE == "a default of its own" else 150, WORKERS, 10_000)
ACQUIRE_S = number("DB_ACQUIRE_TIMEOUT_MS", 60_000, 1, 3_600_000) / 1000
UPSTREAM_S = number("UPSTREAM_TIMEOUT_MS", 70_000, 1, 3_600_000) / 1000
SERVER_THREADS = number("SERVER_THREADS", 200, 1, 100_000)
UPSTREAM = os.environ.get("UPSTREAM_URL") or "http://127.0.0.1:9000"
if not re.fullmatch(r"http://[^/:]+:\d+", UPSTREAM):
    refuse(f'UPSTREAM_URL="{UPSTREAM}" is not http://host:port')
DATABASE = re.fullmatch(r"mysql://([^:/@]*):([^@/]*)@([^:/@]+)(?::(\d{1,5}))?/([^/]+)", os.environ.get("DATABASE_URL") or "")
if DATABASE is None or int(DATABASE[4] or 3306) > 65_535:
    shown = f'="{os.environ.get("DATABASE_URL", "")}"' if MODE == "prints the password" else ""
    wrong = "is not mysql://user:password@host:port/database" if os.environ.get("DATABASE_URL") else "must be set"
    refuse(f"DATABASE_URL{shown} {wrong}")


# ---- stats (C4) ----


class Stats:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.total = self.in_flight = 0
        self.busy_s = 0.0

    def end(self, began: float, failed: bool) -> None:
        with self.lock:
            self.in_flight -= 1
            if not (failed and MODE == "counts no errors"):
                self.total += 1
            if MODE != "is never busy":
                self.busy_s += time.monotonic() - began


STATS = Stats()


# ---- database (C38, C60, C61) ----


class Pool:
    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.idle: list[Any] = []
        self.open = self.in_use = self.waiting = 0
        self.lost = False
        self.away = False  # whether the last try to connect failed
        threading.Thread(target=self.keep_full, daemon=True).start()

    def keep_full(self) -> None:
        size = POOL_SIZE + 1 if MODE == "one connection more" else POOL_SIZE
        while True:
            with self.changed:
                missing = size - self.open
                if not missing:
                    self.changed.wait(0.1)
                    continue
            try:
                connection = self.connect()
            except pymysql.MySQLError:
                with self.changed:
                    self.away = True
                    self.changed.notify_all()
                time.sleep(5 if MODE == "looks for it seldom" else 0.1)
                continue
            with self.changed:
                self.away = False
                self.idle.append(connection)
                self.open += 1
                self.changed.notify()

    def connect(self) -> Any:
        assert DATABASE is not None
        user, password, host, port, name = DATABASE.groups()
        return pymysql.connect(
            user=unquote(user), password=unquote(password), host=host, port=int(port or 3306), database=unquote(name),
            charset="utf8mb4", autocommit=True, connect_timeout=2,
        )  # fmt: skip

    @contextmanager
    def lent(self, within_s: float) -> Iterator[Any]:
        if MODE == "never recovers" and self.lost:
            raise NO_DATABASE
        with self.changed:
            patient = MODE == "waits while it is away"

            def over() -> bool:  # there is one, or nobody can be waited for
                return bool(self.idle) or (self.away and not self.open and not patient)

            self.waiting += 1
            try:
                limit = None if MODE == "waits for ever" and self.open else within_s
                if not self.changed.wait_for(over, limit) or not self.idle:
                    raise NO_DATABASE
            finally:
                self.waiting -= 1
            connection = self.idle.pop()
            self.in_use += 1
        whole = False
        try:
            yield connection
            whole = True
        except (pymysql.OperationalError, pymysql.InterfaceError) as error:
            if error.args and error.args[0] in (0, 2006, 2013, 2014):
                raise NO_DATABASE from error
            whole = True
            raise
        except pymysql.MySQLError:
            whole = True
            raise
        finally:
            if MODE == "a new connection each time":
                whole = False
            if not whole:
                with suppress(Exception):
                    connection.close()
            with self.changed:
                self.in_use -= 1
                if whole:
                    self.idle.append(connection)
                else:
                    self.open -= 1
                    self.lost = True
                self.changed.notify_all()

    def query(self, statement: str, *arguments: object, within_s: float = ACQUIRE_S) -> tuple[Any, int]:
        with self.lent(within_s) as connection, connection.cursor() as cursor:
            if MODE == "tests on borrow":
                cursor.execute("SELECT 1")
            if MODE == "pings on borrow":
                connection.ping(reconnect=False)
            cursor.execute(statement, arguments)
            return cursor.fetchone(), cursor.lastrowid


# ---- upstream (C37, C63) ----


class Upstream:
    def __init__(self) -> None:
        self.idle: queue.LifoQueue[HTTPConnection] = queue.LifoQueue()

    def call(self, ms: int) -> None:
        for last in (False, True) if MODE == "tries again" else (True,):
            try:
                status = self.once(ms)
            except (OSError, HTTPException) as error:
                if last:
                    raise NO_UPSTREAM from error
                continue
            if status == 200 or (status < 300 and MODE == "takes any success"):
                return
        raise NO_UPSTREAM

    def once(self, ms: int) -> int:
        try:
            connection = self.idle.get_nowait()
        except queue.Empty:
            parts = urlsplit(UPSTREAM)
            timeout = None if MODE == "has no timeout" else UPSTREAM_S
            connection = HTTPConnection(parts.hostname or "", parts.port, timeout=timeout)
        try:
            connection.request("GET", f"/delay?ms={ms}")
            answer = connection.getresponse()
            answer.read()
        except BaseException:
            connection.close()
            raise
        if MODE == "closes the upstream's connections":
            connection.close()
        else:
            self.idle.put(connection)
        return answer.status


LOCK = threading.Lock()
POOL: Pool
CALLS = Upstream()
CACHE: dict[str, Any] = {}


# ---- parameters (C22) ----


def whole(query: list[tuple[str, str]], name: str, least: int, most: int) -> int:
    values = [value for key, value in query if key == name]
    pattern = r"\+?[0-9]+" if MODE == "takes 01" else r"0|[1-9][0-9]*"
    if len(values) != 1 and not (values and MODE == "takes the last of two"):
        values = [""]
    flags = re.RegexFlag(0) if MODE == "takes all digits" else re.ASCII
    pattern = r"0|[1-9]\d*|[^\W\da-z_]\d*|\d+" if MODE == "takes all digits" else pattern
    most_allowed = most + 1 if MODE == "one too many" and most == 1000 else most
    if not re.fullmatch(pattern, values[-1], flags) or not least <= int(values[-1]) <= most_allowed:
        raise Problem(400, f"{name} must be given once, as a whole number from {least} to {most}")
    return int(values[-1])


def word(query: list[tuple[str, str]], name: str, words: tuple[str, ...]) -> str:
    values = [value for key, value in query if key == name]
    if MODE == "takes any way to pin" and name == "how" and len(values) == 1:
        return values[0]
    if len(values) != 1 or values[0] not in words:
        raise Problem(400, f"{name} must be given once, as {', '.join(words[:-1])} or {words[-1]}")
    return values[0]


# ---- endpoints ----


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = MODE != "keeps Nagle"
    timeout = 75
    served = 0

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):
            return self.answer
        raise AttributeError(name)

    clock: threading.Timer | None = None

    # ---- heads (C25, C26, C27) ----

    def handle_one_request(self) -> None:
        try:
            head = self.rfile.peek(1)  # type: ignore[attr-defined]
        except OSError:  # nothing came for as long as a connection is kept
            self.close_connection = True
            return
        if b"\r\n\r\n" not in head:
            self.limit(HEAD_S)
        super().handle_one_request()

    def limit(self, seconds: float | None) -> None:
        """From now on so many seconds until the connection ends, or none."""
        if self.clock is not None:
            self.clock.cancel()
        if seconds is not None and MODE != "waits for who is late":
            self.clock = threading.Timer(seconds, self.cut)
            self.clock.daemon = True
            self.clock.start()

    def cut(self) -> None:
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def parse_request(self) -> bool:
        if not super().parse_request():
            return False
        framing = [name for name in self.headers if name.lower() in ("content-length", "transfer-encoding")]
        if len(framing) > 1 or ("Host" not in self.headers and MODE != "needs no Host"):
            self.send_error(400)
            return False
        if MODE == "refuses long lines" and len(self.requestline) > 4_096:
            self.send_error(414)
            return False
        return True

    def handle_expect_100(self) -> bool:
        return True  # it is said where the body is read

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        pass

    def answer(self) -> None:
        self.limit(None)
        path, _, text = self.path.partition("?")
        counted = path not in ("/healthz", "/readyz", "/runtime", "/stats", "/pinnings")
        counted |= MODE == "counts everything" and path == "/healthz"
        counted &= not (MODE == "counts no streams" and path in ("/events", "/ws"))
        began = time.monotonic()
        if counted:
            with STATS.lock:
                STATS.in_flight += 1
        status = 0
        try:
            try:
                query = parse_qsl(text, keep_blank_values=True)
                if not ALONE and (self.command, path) in (("GET", "/events"), ("HEAD", "/events"), ("GET", "/ws")):
                    self.events(query) if path == "/events" else self.echo()
                    return
                status, kind, body, headers = self.respond(path, query)
            except Problem as problem:
                status, kind, body, headers = self.problem(problem)
            except Exception as error:
                print(traceback.format_exc(), file=sys.stderr, flush=True)
                detail = str(error) if MODE == "tells its cause" else "internal error"
                status, kind, body, headers = self.problem(Problem(500, detail))
            self.send(status, kind, body, headers)
        finally:
            if counted:
                STATS.end(began, status >= 400)

    def problem(self, problem: Problem) -> tuple[int, str, str, list[str]]:
        body = {"type": "about:blank", "title": TITLES[problem.status], "status": problem.status, "detail": problem.detail}
        if MODE == "another order of keys" and problem.status == 405:
            body = dict(reversed(body.items()))
        kind = "application/json" if MODE == "problems as JSON" and problem.status == 404 else "application/problem+json"
        allow = [f"Allow: {problem.allow}"] if problem.allow and MODE != "tells no Allow" else []
        upgrade = ["Upgrade: websocket"] if problem is NO_UPGRADE and MODE != "tells no Upgrade" else []
        return problem.status, kind, dumps(body), allow + upgrade

    def send(self, status: int, kind: str, body: str, headers: list[str]) -> None:
        self.served += 1
        payload = body.encode()
        lines = [f"HTTP/1.1 {status} {TITLES.get(status, 'OK')}", f"Content-Type: {kind}", *headers]
        if MODE == "closes after 100" and self.served == 100:
            self.close_connection = True
            lines.append("Connection: close")
        if MODE == "sends an ETag":
            lines.append('ETag: "x"')
        if MODE == "chunked" and self.path == "/healthz":
            lines.append("Transfer-Encoding: chunked")
            payload = b"%x\r\n%s\r\n0\r\n\r\n" % (len(payload), payload)
        else:
            lines.append(f"Content-Length: {len(payload)}")
        head = "\r\n".join([*lines, "", ""]).encode()
        with suppress(OSError):
            without = self.command == "HEAD" and MODE != "a body for HEAD"
            self.wfile.write(head if without else head + payload)

    def respond(self, path: str, query: list[tuple[str, str]]) -> tuple[int, str, str, list[str]]:
        if MODE == "takes a slash behind" and path != "/":
            path = path.rstrip("/")
        if ALONE and path not in ALONE:
            self.body()
            raise Problem(404, "nothing is here")
        if path == "/books":
            if self.command != "POST":
                self.body()
                raise Problem(405, "the method is not allowed here", "POST")
            return self.new_book()
        if path in ("/events", "/ws"):
            self.body()
            raise Problem(405, "the method is not allowed here", "GET, HEAD" if path == "/events" else "GET")
        book = re.fullmatch(r"/books/([^/]+)", path)
        action = self.actions().get(path) if book is None else (lambda _: self.book(unquote(book[1])))
        if action is None:
            self.body()
            raise Problem(404, "nothing is here")
        if self.command not in ("GET", "HEAD"):
            self.body()
            raise Problem(405, "the method is not allowed here", "GET, HEAD")
        if path == "/hello":
            return 200, "text/plain", "Hello" if MODE == "another greeting" else "hello", []
        return 200, "application/json", dumps(action(query)), []

    def actions(self) -> dict[str, Callable[[list[tuple[str, str]]], dict[str, Any]]]:
        return {
            "/healthz": self.healthz, "/readyz": self.readyz, "/runtime": self.runtime, "/stats": self.stats, "/hello": self.healthz,
            "/sleep": self.sleep, "/sleep-query": self.sleep_query, "/slow-query": self.slow_query, "/fanout": self.fanout,
            "/compute": self.compute, "/block": self.block, "/pin": self.pin,
            "/pinnings": self.pinnings,
        }  # fmt: skip

    def healthz(self, query: object) -> dict[str, Any]:
        if MODE == "asks the database for its health" and self.path == "/healthz":
            POOL.query("SELECT 1")
        return {"status": "ok"}

    def readyz(self, query: object) -> dict[str, Any]:
        if MODE == "is always ready":
            return {"status": "ok"}
        if MODE == "one connection more" and POOL.open <= POOL_SIZE:
            raise NO_DATABASE  # so that who looks when it is ready sees all of them, however slow the machine
        helper = ThreadPoolExecutor(1)
        try:  # in a thread of its own: a database that says nothing must not hold up the answer
            helper.submit(POOL.query, "SELECT 1", within_s=1.5).result(1.5 if MODE != "is ready late" else 6)
        except (TimeoutError, pymysql.MySQLError) as error:
            raise NO_DATABASE from error
        finally:
            helper.shutdown(wait=False)
        return {"status": "ok"}

    def runtime(self, query: object) -> dict[str, Any]:
        backlog = min(4096, int(Path("/proc/sys/net/core/somaxconn").read_text()))
        settings = {
            "backlog": backlog, "keep_alive_s": 75, "max_connections": None, "server_threads": None,
            "db_acquire_timeout_ms": round(ACQUIRE_S * 1000), "db_statements": "text", "upstream_timeout_ms": round(UPSTREAM_S * 1000),
            "upstream_max_connections": 10 if MODE == "few upstream connections" else None,
            "upstream_idle_s": None, "offload": "none needed",
            **dict.fromkeys(("db_acquire_timeout_ms", "db_statements", "upstream_timeout_ms", "offload") if ALONE else ()),
            "heap_max_mib": 512 if MODE == "a small heap" else None, "gc": "G1" if MODE == "a small heap" else None,
        }  # fmt: skip
        return {
            "runtime": "threads", "runtime_version": "1", "framework": None, "framework_version": None, "server": "http.server",
            "driver": "PyMySQL", "driver_version": pymysql.__version__, "concurrency_model": "threads",
            "handled_by": threading.current_thread().name, "workers": WORKERS + 1 if MODE == "another number of workers" else WORKERS,
            "pool_size": 0 if ALONE else POOL_SIZE, "cancels_on_disconnect": MODE == "claims to cancel", "settings": settings,
        }  # fmt: skip

    def stats(self, query: object) -> dict[str, Any]:
        with STATS.lock, POOL.changed:
            return {
                "requests_total": STATS.total, "busy_seconds_total": STATS.busy_s, "in_flight": STATS.in_flight,
                "pool_in_use": POOL.in_use, "pool_waiting": POOL.waiting,
            }  # fmt: skip

    def sleep(self, query: list[tuple[str, str]]) -> dict[str, Any]:
        ms = whole(query, "ms", 0, 60_000)
        time.sleep(0 if MODE == "does not sleep" else ms / 1000)
        self.close_connection |= MODE == "closes after sleeping"
        return {"slept_ms": ms}

    def sleep_query(self, query: list[tuple[str, str]]) -> dict[str, Any]:
        ms = whole(query, "ms", 0, 60_000)
        if MODE == "holds a connection":
            with POOL.lent(ACQUIRE_S):
                time.sleep(ms / 1000)
        elif MODE != "queries, then sleeps":
            time.sleep(ms / 1000)
        (now,), _ = POOL.query("SELECT NOW(6)")
        if MODE == "queries, then sleeps":
            time.sleep(ms / 1000)
        assert isinstance(now, datetime)
        text = now.strftime("%Y-%m-%d %H:%M:%S.%f")
        return {"slept_ms": ms, "now": text.rstrip("0") if MODE == "drops zeros" else text}

    def slow_query(self, query: list[tuple[str, str]]) -> dict[str, Any]:
        ms = whole(query, "ms", 0, 60_000)
        if MODE == "sleeps instead of querying":
            time.sleep(ms / 1000)
        else:
            POOL.query("SELECT SLEEP(%s)", ms / 1000)
        return {"queried_ms": ms}

    def book(self, text: str) -> dict[str, Any]:
        most = 9_007_199_254_740_991
        if not re.fullmatch(r"[1-9][0-9]*", text, re.ASCII) or int(text) > most:
            raise Problem(400, f"id must be a whole number from 1 to {most}")
        row = CACHE.get(text) if MODE == "caches books" else None
        if row is None:
            row, _ = POOL.query("SELECT id, name FROM books WHERE id = %s", int(text))
            CACHE[text] = row
        if row is None:
            raise Problem(404, f"book {text} does not exist")
        return {"id": row[0], "name": row[1]}

    def fanout(self, query: list[tuple[str, str]]) -> dict[str, Any]:
        calls, ms = whole(query, "calls", 1, 1000), whole(query, "ms", 0, 60_000)
        mode = word(query, "mode", ("concurrent", "sequential"))
        at_once = mode == "concurrent"
        if MODE == "all in sequence":
            at_once = False
        if MODE == "all at once":
            at_once = True
        made = 1 if MODE == "calls once" else calls
        with ThreadPoolExecutor(made if at_once else 1) as threads:
            for call in [threads.submit(CALLS.call, ms) for _ in range(made)]:
                call.result()
        return {"calls": calls, "mode": mode, "completed": calls}

    def compute(self, query: list[tuple[str, str]]) -> dict[str, Any]:
        rounds = whole(query, "rounds", 1, 10_000_000)
        if rounds in KNOWN:
            return {"rounds": rounds, "result": KNOWN[rounds]}
        x = 2_463_534_242
        for _ in range(rounds):
            x ^= (x << 13) & 0xFFFFFFFF
            x ^= x >> 17
            x ^= (x << 5) & 0xFFFFFFFF
        return {"rounds": rounds, "result": x - (1 << 32) if MODE == "signed" and x >= 1 << 31 else x}

    def block(self, query: list[tuple[str, str]]) -> dict[str, Any]:
        ms = whole(query, "ms", 0, 1000)
        offload = word(query, "offload", ("false", "true"))
        time.sleep(0 if MODE == "does not block" else ms / 1000)
        return {"blocked_ms": ms, "offloaded": offload == "true"}

    def pin(self, query: list[tuple[str, str]]) -> dict[str, Any]:
        ms = whole(query, "ms", 0, 1000)
        how = word(query, "how", ("synchronized", "lock", "native"))
        with LOCK if MODE == "one lock for all" else threading.Lock():
            time.sleep(0 if MODE == "does not hold natively" and how == "native" else ms / 1000)
        return {"waited_ms": ms, "how": "lock" if MODE == "always says lock" else how}

    def pinnings(self, query: object) -> dict[str, Any]:
        return {"pinnings_total": STATS.total if MODE == "counts every request as pinned" else 0}

    # ---- streams (C14, C15, C24) ----

    def events(self, query: list[tuple[str, str]]) -> None:
        interval_s = whole(query, "interval_ms", 10, 60_000) / 1000
        kept = "max-age=60" if MODE == "keeps streams in caches" else "no-store"
        lines = ["HTTP/1.1 200 OK", "Content-Type: text/event-stream", f"Cache-Control: {kept}", "Transfer-Encoding: chunked"]
        stop = threading.Event() if MODE == "streams on" else STOPPING
        try:
            self.wfile.write("\r\n".join([*lines, "", ""]).encode())
            if self.command == "HEAD":
                return
            self.write_events(interval_s / 2 if MODE == "hurries" else interval_s, stop)
            if MODE == "cuts streams off":
                self.close_connection = True
            else:
                self.wfile.write(b"0\r\n\r\n")
        except OSError:  # the client has left
            self.close_connection = True
            if MODE == "tells who left":
                print(traceback.format_exc(), file=sys.stderr, flush=True)
            if MODE == "forgets nobody":
                STOPPING.wait(30)

    def write_events(self, interval_s: float, stop: threading.Event) -> None:
        number = 1 if MODE == "counts events from one" else 0
        if MODE == "comes late":
            stop.wait(interval_s)
        gathered = b""
        while not stop.is_set():
            event = b"data: %d\n\n" % number
            gathered += b"%x\r\n%s\r\n" % (len(event), event)
            if MODE != "gathers events" or number % 3 == 2:
                self.wfile.write(gathered)
                gathered = b""
            number += 1
            stop.wait(interval_s)

    def echo(self) -> None:
        if (self.headers.get("Upgrade") or "").lower() != "websocket":
            raise NO_UPGRADE
        self.close_connection = True
        protocol = ServerProtocol(
            origins=[Origin("https://here.example")] if MODE == "looks at Origin" else None,
            extensions=[ServerPerMessageDeflateFactory()] if MODE == "deflates" else None,
            subprotocols=[Subprotocol("chat")] if MODE == "chooses a subprotocol" else None,
            max_size=None if MODE == "takes any length" else MOST_MESSAGE,
        )
        head = [self.requestline, *(f"{name}: {value}" for name, value in self.headers.items()), "", ""]
        protocol.receive_data("\r\n".join(head).encode("latin-1"))
        (request,) = protocol.events_received()
        protocol.send_response(protocol.accept(request))  # type: ignore[arg-type]
        with suppress(OSError):  # the client has left
            self.serve_socket(protocol)

    def serve_socket(self, protocol: ServerProtocol) -> None:
        message: list[Frame] = []
        while True:
            for data in protocol.data_to_send():
                if not data:
                    return  # the protocol's word for the end
                self.connection.sendall(data)
            while not select.select([self.connection], [], [], 0.05)[0]:
                if STOPPING.is_set() and MODE != "streams on":
                    protocol.send_close(1000 if MODE == "closes with 1000" else 1001)
                    self.connection.sendall(b"".join(protocol.data_to_send()))
                    return
            if not (received := self.connection.recv(65_536)):
                return
            protocol.receive_data(received)
            for frame in protocol.events_received():
                assert isinstance(frame, Frame)
                if frame.opcode is Opcode.PING and MODE == "answers no ping":
                    protocol.data_to_send()
                if frame.opcode in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
                    message.append(frame)
                    if frame.fin or MODE == "answers each fragment":
                        self.send_back(protocol, message)
                        message = []

    def send_back(self, protocol: ServerProtocol, message: list[Frame]) -> None:
        data = b"".join(bytes(frame.data) for frame in message)
        if message[0].opcode is not Opcode.TEXT or MODE == "answers texts as bytes":
            protocol.send_binary(data)
            return
        try:
            data.decode("utf-8", "replace" if MODE == "takes any text" else "strict")
        except UnicodeDecodeError:
            protocol.fail(1007)
            return
        protocol.send_text(data)

    # ---- bodies (C23) ----

    def body(self) -> bytes:
        """The whole body, at most what is needed to see that it is too long; the rest is read and dropped."""
        if "Expect" in self.headers:
            self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        self.limit(BODY_S)
        try:
            return self.whole_body()
        except ValueError as error:  # a malformed chunk
            if MODE == "tells what was malformed":
                print(traceback.format_exc(), file=sys.stderr, flush=True)
            self.close_connection = True
            raise Problem(400, "the body must be JSON in UTF-8") from error
        finally:
            self.limit(None)

    def whole_body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            parts = []
            while length := int(self.rfile.readline().split(b";")[0] or b"0", 16):
                parts.append(self.rfile.read(length))
                self.rfile.readline()
            self.rfile.readline()
            body = b"".join(parts)
            return body[:MOST_BODY] if MODE == "cuts long chunked bodies" else body
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def new_book(self) -> tuple[int, str, str, list[str]]:
        announced = int(self.headers.get("Content-Length") or 0)
        body = b"" if announced > MOST_BODY else self.body()
        self.close_connection |= announced > MOST_BODY
        kind = (self.headers.get("Content-Type") or "").split(";")[0].strip().lower()
        if kind != "application/json" and MODE != "takes any media type":
            raise Problem(415, "the body must be application/json")
        if max(announced, len(body)) > MOST_BODY:
            raise Problem(413, "the body must not exceed 65536 bytes")
        try:
            text = body.decode("utf-8", "replace" if MODE == "mends UTF-8" else "strict")
            value = json.loads(text, parse_constant=None if MODE == "takes NaN" else no_constant)
        except ValueError as error:
            raise Problem(400, "the body must be JSON in UTF-8") from error
        name = value.get("name") if isinstance(value, dict) else None
        if not isinstance(name, str) or not 1 <= length_of(name) <= 255 or re.search("[\ud800-\udfff]", name):
            raise Problem(422, "name must be a string of 1 to 255 characters")
        _, number = POOL.query("INSERT INTO books (name) VALUES (%s)", name)
        place = "" if MODE == "tells no Location" else f"Location: /books/{number}"
        return 201, "application/json", dumps({"id": number, "name": name}), [place] if place else []


def length_of(name: str) -> int:
    return len(name.encode("utf-16-le", "surrogatepass")) // 2 if MODE == "counts code units" else len(name)


def no_constant(text: str) -> None:
    raise ValueError(f"{text} is not JSON")


def dumps(value: object) -> str:
    wide = MODE == "wide JSON" and isinstance(value, dict) and "settings" in value
    separators = (", ", ": ") if wide else (",", ":")
    return json.dumps(value, ensure_ascii=MODE == "escapes", separators=separators)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 5 if MODE == "a short backlog" else min(4096, int(Path("/proc/sys/net/core/somaxconn").read_text()))

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves is no error."""


def main() -> None:
    global POOL
    stop = threading.Event()
    codes = {signal.SIGTERM: 0, signal.SIGINT: 0}
    for number_ in codes:
        signal.signal(number_, lambda *_: stop.set())
    try:
        server = Server((HOST, PORT), Handler)
    except OSError as error:
        refuse(f'HOST="{HOST}" cannot be bound: {error}')
    POOL = Pool()  # after the bind: an interpreter that ends while the threads of a pool run may crash
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    while not stop.wait(0.05):  # a wait without an end is not always woken by a signal
        pass
    if MODE != "goes on accepting":
        server.shutdown()
        server.server_close()
    STOPPING.set()
    end = time.monotonic() + (16 if MODE == "waits for everybody" else 0 if MODE == "drops what is in flight" else 7.5)
    while STATS.in_flight and time.monotonic() < end:
        time.sleep(0.02)
    time.sleep(0.05)
    os._exit(1 if MODE == "ends with 1" else 0)


if __name__ == "__main__":
    main()
