"""The data of contract/ played against the program itself, its database and its upstream away (C43), and what that data
cannot say. Times are bounds that a busy machine cannot break, never an expectation of speed."""

import base64
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPResponse
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from service import main, settings, stats
from service.streaming import Server

FOLDER = Path(__file__).parent.parent
NOWHERE = {"DATABASE_URL": "mysql://user:secret@127.0.0.1:1/nsb", "UPSTREAM_URL": "http://127.0.0.1:1"}
PATIENCE_S = 20


def contract(name: str) -> Any:
    """A file of the contract's data; contract/README.md explains its keys."""
    return json.loads((FOLDER.parent / "contract" / name).read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Service:
    process: subprocess.Popen[str]
    port: int

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE_S)

    @contextmanager
    def request(self, method: str, target: str, head: str = "", body: bytes = b"") -> Iterator[HTTPResponse]:
        with self.connect() as connection:
            with suppress(OSError):  # it may be refused before it is all sent
                connection.sendall(f"{method} {target} HTTP/1.1\r\nHost: test\r\n{head}\r\n".encode() + body)
            with closing(HTTPResponse(connection, method=method)) as response:
                response.begin()
                yield response

    def until(self, **wanted: int) -> None:
        deadline = time.monotonic() + PATIENCE_S
        stats: dict[str, float] = {}
        while not wanted.items() <= stats.items():
            assert self.process.poll() is None, self.process.communicate()[1]
            assert time.monotonic() < deadline, f"{stats} is never {wanted}"
            time.sleep(0.01)
            with suppress(ConnectionRefusedError), self.request("GET", "/stats") as response:
                stats = json.load(response)

    def ends(self, code: int) -> None:
        _, log = self.process.communicate(timeout=PATIENCE_S)
        assert self.process.returncode == code, log
        assert "Traceback" not in log


@contextmanager
def running(workers: int, **others: str) -> Iterator[Service]:
    """The program on a free port, until it accepts connections."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {**NOWHERE, "PORT": str(port), "WORKERS": str(workers), **others}
    command = [sys.executable, "-m", "service"]
    with subprocess.Popen(command, cwd=FOLDER, env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            service = Service(process, port)
            service.until(in_flight=0)
            yield service
        finally:
            process.kill()


@pytest.fixture(params=[1, 2], ids=["one-worker", "two-workers"])
def workers(request: pytest.FixtureRequest) -> int:
    count: int = request.param
    return count


def content(body: Any) -> bytes:
    """A body as contract/README.md says."""
    match body:
        case str():
            return body.encode()
        case list():
            return b"".join(map(content, body))
        case {"repeat": text, "times": times}:
            return content(text) * int(times)
    return base64.b64decode(body["base64"])


def play(service: Service, request: dict[str, Any], wanted: dict[str, Any]) -> str:
    """What is wrong with the answer, or nothing."""
    headers = dict(request.get("headers", {}))
    if "content_type" in request:
        headers["Content-Type"] = request["content_type"]
    body = content(request.get("body", ""))
    if request.get("chunked"):
        headers["Transfer-Encoding"] = "chunked"
        body = (b"%x\r\n%b\r\n" % (len(body), body) if body else b"") + b"0\r\n\r\n"
    elif "body" in request:
        headers["Content-Length"] = len(body)
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    with service.request(request["method"], request["target"], head, body) as response:
        length = response.headers["Content-Length"]
        got = {
            "status": response.status,
            "content_type": response.headers.get("Content-Type", "").partition(";")[0].strip().lower(),
            **{name: response.headers[name] for name in ("location", "allow", "upgrade")},
            "length": length,
            "body": b"" if length is None else response.read(),  # a stream has none
        }
    whole = content(wanted["body"]) if "body" in wanted else None
    right = {
        **{name: wanted.get(name) for name in ("status", "content_type", "location", "allow", "upgrade")},
        "length": None if whole is None else str(len(whole)),
        "body": b"" if whole is None or request["method"] == "HEAD" else whole,
    }
    return "" if got == right else f"{request}: {got}, wanted {right}"


def test_exchanges(workers: int) -> None:
    exchanges = contract("exchanges.json")
    wrong: list[str] = []
    played = 0
    with running(workers) as service:
        for group in exchanges["groups"]:
            needs = group["needs"][0] if group["needs"] else None
            if needs in (None, *exchanges["away"]):  # else it needs an endpoint that this service does not have
                answer = exchanges["away"][needs] if needs else group["answer"]
                wrong += filter(None, (play(service, request, answer) for request in group["requests"]))
                played += len(group["requests"])
        assert not wrong, "\n".join(wrong)
        assert played > 500
        service.process.terminate()
        service.ends(0)


VARIABLES = contract("settings.json")["variables"]


@pytest.mark.parametrize("variable", VARIABLES, ids=[variable["variable"] for variable in VARIABLES])
def test_settings(
    variable: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name = variable["variable"]
    given = {**NOWHERE, **variable.get("with", {})}
    for value in variable["good"]:
        settings.read({**given, name: value})
    for other, value in given.items():
        monkeypatch.setenv(other, value)
    for value in variable["bad"]:
        monkeypatch.setenv(name, value)
        assert main.main() == 2
        said = capsys.readouterr().err
        if "sentence" in variable:
            assert said == variable["sentence"].replace("{value}", value) + "\n"
        assert said.startswith(variable.get("begins", name).replace("{value}", value))
        assert said.count("\n") == 1
        assert "secret" not in said


@pytest.mark.parametrize(
    ("name", "value", "meaning"), [("LOOP", "trio", "uvloop or asyncio"), ("GC", "off", "default or frozen")]
)
def test_a_setting_of_its_own(name: str, value: str, meaning: str) -> None:
    with pytest.raises(ValueError, match=f'^{name}="{value}" is not {meaning}$'):
        settings.read({**NOWHERE, name: value})


@pytest.mark.parametrize(("wanted", "frozen"), [("default", False), ("frozen", True)])
def test_what_was_there_at_the_start_is_frozen(monkeypatch: pytest.MonkeyPatch, wanted: str, frozen: bool) -> None:
    counts = []

    class Ending(Server):
        async def main_loop(self) -> None:
            counts.append(gc.get_freeze_count())

    monkeypatch.setattr(main, "Server", Ending)
    try:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            assert main.serve(settings.read({**NOWHERE, "GC": wanted}), listener, stats.shared(1), 0) == 0
    finally:
        gc.unfreeze()
    assert (counts[0] > 10_000) is frozen


def test_what_becomes_of_a_good_address() -> None:
    address = settings.read({"DATABASE_URL": "mysql://us%40er:p%2F%3A%C3%A9@[::1]/b%20c"}).database_url
    assert address == {"host": "::1", "port": 3306, "user": "us@er", "database": "b c", "password": "p/:é".encode()}


def test_a_client_that_leaves_ends_its_request(workers: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # a database and an upstream that accept and say nothing
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        urls = {"DATABASE_URL": f"mysql://user:secret@{address}/nsb", "UPSTREAM_URL": f"http://{address}"}
        with running(workers, **urls) as service:
            for target in (
                "/sleep?ms=60000",
                "/books/1",
                "/fanout?calls=1&ms=0&mode=sequential",
                "/events?interval_ms=99",
            ):
                with service.connect() as client:
                    client.sendall(f"GET {target} HTTP/1.1\r\nHost: test\r\n\r\n".encode())
                    service.until(in_flight=1, pool_waiting=int(target == "/books/1"))
                service.until(in_flight=0, pool_waiting=0)
            service.process.terminate()
            service.ends(0)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("loop", ["uvloop", "asyncio"])
def test_streams_end_at_once_and_requests_when_they_are_done(workers: int, number: signal.Signals, loop: str) -> None:
    with running(workers, LOOP=loop) as service:
        with (
            service.request("GET", "/events?interval_ms=60000") as events,
            connect(f"ws://127.0.0.1:{service.port}/ws") as web_socket,
            service.connect() as sleeping,
        ):
            sleeping.sendall(b"GET /sleep?ms=1000 HTTP/1.1\r\nHost: test\r\n\r\n")
            service.until(in_flight=3)
            service.process.send_signal(number)
            assert events.read() == b"data: 0\n\n"
            with pytest.raises(ConnectionClosed) as closed:
                web_socket.recv(timeout=PATIENCE_S)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1001
            with closing(HTTPResponse(sleeping)) as response:
                response.begin()
                assert response.read() == b'{"slept_ms":1000}'
        service.ends(0)


def test_a_worker_that_dies_ends_the_service() -> None:
    with running(2) as service:
        children = Path(f"/proc/{service.process.pid}/task/{service.process.pid}/children").read_text().split()
        assert len(children) == 2
        os.kill(int(children[0]), signal.SIGKILL)
        service.ends(1)


BUSY = """
import signal, uvicorn
from service.streaming import Server
Server(uvicorn.Config("service:none")).handle_exit(signal.SIGTERM, None)
print(signal.alarm(1), flush=True)  # sooner
while True:
    pass
"""


def test_no_handler_can_prevent_the_end() -> None:
    done = subprocess.run([sys.executable, "-c", BUSY], cwd=FOLDER, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "8\n"), done.stderr
