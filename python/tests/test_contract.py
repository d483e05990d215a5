"""The contract from the outside: the real program on a free port, its database away, its upstream a stub."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

FOLDER = Path(__file__).parent.parent
START_LIMIT_S = 30
JSON = {"Content-Type": "application/json"}


class Upstream(BaseHTTPRequestHandler):
    """Answers /delay?ms= as the upstream does; ms=666 stands for one that is broken."""

    protocol_version = "HTTP/1.1"
    running = 0
    peak = 0
    lock = threading.Lock()

    @classmethod
    def settle(cls) -> None:
        """Waits for calls whose caller has left, then forgets the peak."""
        deadline = time.monotonic() + 10
        while cls.running:
            assert time.monotonic() < deadline, "the upstream is never idle"
            time.sleep(0.01)
        cls.peak = 0

    def do_GET(self) -> None:
        ms = int(parse_qs(urlsplit(self.path).query)["ms"][0])
        with Upstream.lock:
            Upstream.running += 1
            Upstream.peak = max(Upstream.peak, Upstream.running)
        time.sleep(ms / 1000)
        with Upstream.lock:
            Upstream.running -= 1
        self.send_response(500 if ms == 666 else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the name is the base class's)
        pass


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: str


@dataclass(frozen=True)
class Service:
    process: subprocess.Popen[str]
    port: int
    workers: int

    def ask(self, path: str, method: str = "GET", body: Any = None, headers: dict[str, str] | None = None) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, path, body, headers or {}, encode_chunked=False)
            response = connection.getresponse()
            names = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, names, response.read().decode())
        finally:
            connection.close()

    def stats(self) -> dict[str, Any]:
        counters: dict[str, Any] = json.loads(self.ask("/stats").body)
        return counters

    def until(self, **wanted: int) -> None:
        deadline = time.monotonic() + 10
        while not wanted.items() <= self.stats().items():
            assert time.monotonic() < deadline, f"{self.stats()} is never {wanted}"
            time.sleep(0.01)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def run(**settings: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "service"],
        cwd=FOLDER,
        env={"PATH": os.environ["PATH"], **settings},
        stderr=subprocess.PIPE,
        text=True,
    )


def start(workers: int, **settings: str) -> Service:
    port = free_port()
    nowhere = f"mysql://user:secret@127.0.0.1:{free_port()}/nsb"
    process = run(PORT=str(port), WORKERS=str(workers), **{"DATABASE_URL": nowhere, **settings})
    service = Service(process, port, workers)
    deadline = time.monotonic() + START_LIMIT_S
    while True:
        try:
            assert service.ask("/healthz") == service.ask("/healthz")
            return service
        except OSError:
            assert process.poll() is None, process.communicate()[1]
            assert time.monotonic() < deadline, "the service does not start"
            time.sleep(0.02)


@pytest.fixture(scope="module")
def upstream() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="module", params=[1, 2], ids=["one-worker", "two-workers"])
def service(request: pytest.FixtureRequest, upstream: str) -> Iterator[Service]:
    service = start(request.param, UPSTREAM_URL=upstream, DB_POOL_SIZE="5")
    yield service
    service.process.terminate()
    _, log = service.process.communicate(timeout=10)
    assert service.process.returncode == 0, log


def problem(status: int, title: str, detail: str) -> str:
    return f'{{"type":"about:blank","title":"{title}","status":{status},"detail":"{detail}"}}'


def test_c1_c2_c38_alive_but_not_ready_without_database(service: Service) -> None:
    assert service.ask("/healthz").body == '{"status":"ok"}'
    for path in ("/readyz", "/books/1", "/sleep-query?ms=0", "/slow-query?ms=0"):
        answer = service.ask(path)
        assert answer.body == problem(503, "Service Unavailable", "the database did not answer")
        assert answer.headers["content-type"] == "application/problem+json"
    assert service.ask("/books", "POST", '{"name":"x"}', JSON).status == 503


def test_c3_runtime(service: Service) -> None:
    facts = json.loads(service.ask("/runtime").body)
    assert (facts["runtime"], facts["driver"], facts["workers"]) == ("CPython", "asyncmy", service.workers)
    assert facts["pool_size"] == 5
    assert facts["settings"]["db_statements"] == "prepared"
    assert facts["settings"]["keep_alive_s"] == 75
    assert facts["settings"]["upstream_max_connections"] is None
    assert "uvloop" in facts["concurrency_model"]


def test_c4_counts_all_but_c1_to_c4(service: Service) -> None:
    before = service.stats()
    assert list(before) == ["requests_total", "busy_seconds_total", "in_flight", "pool_in_use", "pool_waiting"]
    for path in ("/healthz", "/readyz", "/runtime", "/hello", "/nope", "/sleep?ms=50"):
        service.ask(path)
    service.until(requests_total=before["requests_total"] + 3, in_flight=0, pool_in_use=0, pool_waiting=0)
    assert 0.05 <= service.stats()["busy_seconds_total"] - before["busy_seconds_total"] < 5


def test_c5_hello(service: Service) -> None:
    answer = service.ask("/hello")
    assert (answer.status, answer.body, answer.headers["content-length"]) == (200, "hello", "5")
    assert answer.headers["content-type"].startswith("text/plain")


def test_c6_sleep_sleeps(service: Service) -> None:
    begun = time.monotonic()
    assert service.ask("/sleep?ms=100&other=1").body == '{"slept_ms":100}'
    assert time.monotonic() - begun >= 0.1


@pytest.mark.parametrize("mode", ["concurrent", "sequential"])
def test_c11_fanout(service: Service, mode: str) -> None:
    Upstream.settle()
    answer = service.ask(f"/fanout?calls=4&ms=200&mode={mode}")
    assert answer.body == f'{{"calls":4,"mode":"{mode}","completed":4}}'
    assert Upstream.peak == (4 if mode == "concurrent" else 1)


@pytest.mark.parametrize("mode", ["concurrent", "sequential"])
def test_c37_upstream_broken(service: Service, mode: str) -> None:
    answer = service.ask(f"/fanout?calls=2&ms=666&mode={mode}")
    assert answer.body == problem(502, "Bad Gateway", "the upstream did not answer")


@pytest.mark.parametrize(("rounds", "result"), [(1, 723471715), (1000, 3298996588)])
def test_c12_compute(service: Service, rounds: int, result: int) -> None:
    assert service.ask(f"/compute?rounds={rounds}").body == f'{{"rounds":{rounds},"result":{result}}}'


@pytest.mark.parametrize("offload", ["false", "true"])
def test_c13_block(service: Service, offload: str) -> None:
    answer = service.ask(f"/block?ms=10&offload={offload}")
    assert answer.body == f'{{"blocked_ms":10,"offloaded":{offload}}}'


@contextmanager
def open_events(service: Service, interval_ms: int) -> Iterator[http.client.HTTPResponse]:
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=20)
    try:
        connection.request("GET", f"/events?interval_ms={interval_ms}")
        yield connection.getresponse()
    finally:
        connection.close()


def open_socket(service: Service) -> ClientConnection:
    """It offers what must not be chosen."""
    socket = connect(
        f"ws://127.0.0.1:{service.port}/ws",
        origin=Origin("https://elsewhere.example"),
        subprotocols=[Subprotocol("chat")],
        max_size=None,
    )
    assert socket.response is not None
    assert socket.response.status_code == 101
    for name in ("Sec-WebSocket-Extensions", "Sec-WebSocket-Protocol"):
        assert name not in socket.response.headers
    return socket


def test_c14_events(service: Service) -> None:
    service.until(in_flight=0)
    with open_events(service, 10) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.headers["cache-control"] == "no-store"
        assert "content-length" not in response.headers
        assert response.read(27) == b"data: 0\n\ndata: 1\n\ndata: 2\n\n"
        service.until(in_flight=1)
    service.until(in_flight=0)
    head = service.ask("/events?interval_ms=60000", "HEAD")
    assert (head.status, head.body) == (200, "")
    assert "content-length" not in head.headers


def test_c15_echo(service: Service) -> None:
    service.until(in_flight=0)
    with open_socket(service) as socket:
        for message in ("", "한\U0001f600", "x" * 65536, b"", b"\xff" * 65536):
            socket.send(message)
            assert socket.recv(timeout=20) == message
        socket.send(["in ", "fragments"])
        assert socket.recv(timeout=20) == "in fragments"
        assert socket.ping().wait(timeout=20)
        service.until(in_flight=1)
    service.until(in_flight=0)


@pytest.mark.parametrize(
    ("message", "text", "code"),
    [(b"x" * 65537, False, 1009), (b"x" * 65537, True, 1009), (b"\xff", True, 1007)],
    ids=["long binary", "long text", "not UTF-8"],
)
def test_c24_refused_messages(service: Service, message: bytes, text: bool, code: int) -> None:
    with open_socket(service) as socket:
        socket.send(message, text=text)
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv(timeout=20)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == code
    service.until(in_flight=0)


def test_c24_no_upgrade(service: Service) -> None:
    answer = service.ask("/ws")
    assert answer.body == problem(426, "Upgrade Required", "upgrade to a WebSocket")
    assert answer.headers["upgrade"] == "websocket"


@pytest.mark.parametrize("workers", [1, 2])
def test_c41_ends_streams(workers: int) -> None:
    service = start(workers)
    with open_events(service, 60000) as response, open_socket(service) as socket:
        service.until(in_flight=2)
        service.process.send_signal(signal.SIGTERM)
        assert response.read() == b"data: 0\n\n"
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv(timeout=20)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1001
    _, log = service.process.communicate(timeout=10)
    assert service.process.returncode == 0, log
    assert "Traceback" not in log


@pytest.mark.parametrize("path", ["/", "/nope", "/hello/", "/HELLO", "/books/", "/books/1/"])
def test_c20_c31_unknown_paths(service: Service, path: str) -> None:
    assert service.ask(path).body == problem(404, "Not Found", "nothing is here")


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("OPTIONS", "/hello", "GET, HEAD"),
        ("POST", "/books/1", "GET, HEAD"),
        ("DELETE", "/healthz", "GET, HEAD"),
        ("GET", "/books", "POST"),
        ("HEAD", "/books", "POST"),
        ("POST", "/events", "GET, HEAD"),
        ("POST", "/ws", "GET"),
        ("HEAD", "/ws", "GET"),
    ],
)
def test_c21_c32_methods(service: Service, method: str, path: str, allow: str) -> None:
    answer = service.ask(path, method)
    expected = problem(405, "Method Not Allowed", "the method is not allowed here")
    assert (answer.status, answer.headers["allow"]) == (405, allow)
    assert answer.body == ("" if method == "HEAD" else expected)
    assert answer.headers["content-length"] == str(len(expected))


@pytest.mark.parametrize("path", ["/hello", "/sleep?ms=1", "/nope", "/sleep", "/books/1", "/compute?rounds=2"])
def test_c21_head_answers_as_get_without_body(service: Service, path: str) -> None:
    head, get = service.ask(path, "HEAD"), service.ask(path)
    assert (head.status, head.body) == (get.status, "")
    for name in ("content-type", "content-length"):
        assert head.headers[name] == get.headers[name]


MS = "ms must be given once, as a whole number from 0 to 60000"
CALLS = "calls must be given once, as a whole number from 1 to 1000"
MODE = "mode must be given once, as concurrent or sequential"
ID = "id must be a whole number from 1 to 9007199254740991"


@pytest.mark.parametrize(
    ("path", "detail"),
    [
        ("/sleep", MS),
        ("/sleep?ms=", MS),
        ("/sleep?ms=01", MS),
        ("/sleep?ms=-1", MS),
        ("/sleep?ms=+1", MS),
        ("/sleep?ms=1_0", MS),
        ("/sleep?ms=%D9%A1", MS),  # an Arabic one
        ("/sleep?ms=1%0A", MS),
        ("/sleep?ms=60001", MS),
        ("/sleep?ms=" + "9" * 5000, MS),
        ("/sleep?ms=1&ms=1", MS),
        ("/sleep?MS=1", MS),
        ("/sleep-query?ms=x", MS),
        ("/slow-query?ms=x", MS),
        ("/fanout?calls=0&ms=x&mode=x", CALLS),
        ("/fanout?mode=x&ms=x&calls=1", MS),
        ("/fanout?calls=1&ms=1&mode=both", MODE),
        ("/compute?rounds=0", "rounds must be given once, as a whole number from 1 to 10000000"),
        ("/block?ms=1001&offload=x", "ms must be given once, as a whole number from 0 to 1000"),
        ("/block?ms=1&offload=TRUE", "offload must be given once, as false or true"),
        ("/events?interval_ms=9", "interval_ms must be given once, as a whole number from 10 to 60000"),
        ("/books/0", ID),
        ("/books/x", ID),
        ("/books/9007199254740992", ID),
    ],
)
def test_c22_c35_parameters(service: Service, path: str, detail: str) -> None:
    assert service.ask(path).body == problem(400, "Bad Request", detail)


NOT_JSON = problem(415, "Unsupported Media Type", "the body must be application/json")
TOO_LARGE = problem(413, "Content Too Large", "the body must not exceed 65536 bytes")
MALFORMED = problem(400, "Bad Request", "the body must be JSON in UTF-8")
NO_NAME = problem(422, "Unprocessable Content", "name must be a string of 1 to 255 characters")
AWAY = problem(503, "Service Unavailable", "the database did not answer")


@pytest.mark.parametrize(
    ("body", "content_type", "expected"),
    [
        (b"x" * 70000, "", NOT_JSON),
        (b'{"name":"x"}', "text/json", NOT_JSON),
        (b"x" * 65537, "application/json", TOO_LARGE),
        (b"", "application/json", MALFORMED),
        (b"{", "application/json", MALFORMED),
        (b'{"name":"x"} y', "application/json", MALFORMED),
        (b'{"name":"x","y":NaN}', "application/json", MALFORMED),
        (b'{"name":"\xff"}', "application/json", MALFORMED),
        ('{"name":"x"}'.encode("utf-16"), "application/json", MALFORMED),
        (b"[" * 60000, "application/json", MALFORMED),
        (b"[]", "application/json", NO_NAME),
        (b"{}", "application/json", NO_NAME),
        (b'{"name":1}', "application/json", NO_NAME),
        (b'{"name":""}', "application/json", NO_NAME),
        (b'{"name":"' + b"x" * 256 + b'"}', "application/json", NO_NAME),
        ('{"name":"' + "\U0001f600" * 255 + '"}', "Application/JSON ; charset=any", AWAY),
        (b" " * (65536 - 12) + b'{"name":"x"}', "application/json", AWAY),
    ],
)
@pytest.mark.parametrize("chunked", [False, True], ids=["whole", "chunked"])
def test_c23_bodies(service: Service, body: bytes | str, content_type: str, expected: str, chunked: bool) -> None:
    data = body.encode() if isinstance(body, str) else body
    headers = {"Content-Type": content_type} if content_type else {}
    if chunked:
        headers["Transfer-Encoding"] = "chunked"
        data = b"%x\r\n%b\r\n0\r\n\r\n" % (len(data), data) if data else b"0\r\n\r\n"
    assert service.ask("/books", "POST", data, headers).body == expected


def test_c40_waiting_stops_when_the_client_leaves(service: Service) -> None:
    service.until(in_flight=0)
    for path in ("/sleep?ms=60000", "/sleep-query?ms=60000", "/fanout?calls=2&ms=3000&mode=concurrent"):
        client = socket.create_connection(("127.0.0.1", service.port))
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        service.until(in_flight=1)
        client.close()
        service.until(in_flight=0)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_c41_finishes_what_is_in_flight(workers: int, number: signal.Signals) -> None:
    service = start(workers, LOOP="asyncio")
    answers: list[Answer] = []
    client = threading.Thread(target=lambda: answers.append(service.ask("/sleep?ms=700")))
    client.start()
    service.until(in_flight=1)
    service.process.send_signal(number)
    client.join()
    _, log = service.process.communicate(timeout=10)
    assert (answers[0].body, service.process.returncode) == ('{"slept_ms":700}', 0), log
    with pytest.raises(ConnectionRefusedError):
        service.ask("/hello")


def test_a_worker_that_dies_ends_the_service() -> None:
    service = start(2)
    children = Path(f"/proc/{service.process.pid}/task/{service.process.pid}/children").read_text().split()
    assert len(children) == 2
    os.kill(int(children[0]), signal.SIGKILL)
    service.process.communicate(timeout=10)
    assert service.process.returncode == 1


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"PORT": "abc"}, 'PORT="abc" is not a whole number from 1 to 65535'),
        ({"PORT": "0"}, 'PORT="0" is not a whole number from 1 to 65535'),
        ({"PORT": "08"}, 'PORT="08" is not a whole number from 1 to 65535'),
        ({"WORKERS": "1025"}, 'WORKERS="1025" is not a whole number from 1 to 1024'),
        ({"WORKERS": "4", "DB_POOL_SIZE": "3"}, 'DB_POOL_SIZE="3" is not a whole number from 4 to 10000'),
        ({"WORKERS": "151"}, 'DB_POOL_SIZE="150" is not a whole number from 151 to 10000'),
        ({"DB_ACQUIRE_TIMEOUT_MS": "0"}, 'DB_ACQUIRE_TIMEOUT_MS="0" is not a whole number from 1 to 3600000'),
        ({"UPSTREAM_TIMEOUT_MS": "1.5"}, 'UPSTREAM_TIMEOUT_MS="1.5" is not a whole number from 1 to 3600000'),
        ({"SERVER_THREADS": "100001"}, 'SERVER_THREADS="100001" is not a whole number from 1 to 100000'),
        ({"UPSTREAM_URL": "http://a:1/path"}, 'UPSTREAM_URL="http://a:1/path" is not http://host:port'),
        ({"UPSTREAM_URL": "http://a"}, 'UPSTREAM_URL="http://a" is not http://host:port'),
        ({"LOOP": "trio"}, 'LOOP="trio" is not uvloop or asyncio'),
        ({"DATABASE_URL": ""}, "DATABASE_URL is not mysql://user:password@host:port/database"),
        (
            {"DATABASE_URL": "mysql://user:secret@host:x/nsb"},
            "DATABASE_URL is not mysql://user:password@host:port/database",
        ),
    ],
)
def test_c42_wrong_settings(settings: dict[str, str], sentence: str) -> None:
    process = run(**{"DATABASE_URL": "mysql://user:secret@127.0.0.1/nsb", **settings})
    _, log = process.communicate(timeout=START_LIMIT_S)
    assert (process.returncode, log) == (2, sentence + "\n")
