"""The suite passes a service that keeps the contract and fails each that breaks one rule, by that rule's name."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from nsb.conform import RULES, Answer, Bed, LaunchFailed, Outcome, beyond_reach, check, kernel, rules_meaning
from nsb.conform.exchanges import answer_of, away, bytes_of, exchanges
from nsb.conform.neighbours import Forwarder
from nsb.conform.suite import Case
from nsb.conform.wire import Connection, NoAnswer, Reply, Request, ask
from nsb.measure.database import Server, provide
from nsb.registry.contract import ENDPOINTS, EXTRAS
from nsb.registry.load import Registry

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
SERVICE = Path(__file__).parent / "broken" / "service.py"
WORKERS = 2

# What the service breaks (its MODE), and the rules that must say so. Every other rule asked for must hold.
BROKEN: dict[str, set[str]] = {
    "another greeting": {"C5"},
    "does not sleep": {"C6"},
    "queries, then sleeps": {"C7"},
    "holds a connection": {"C7"},
    "drops zeros": {"C7"},
    "sleeps instead of querying": {"C8"},
    "escapes": {"C10"},
    "tells no Location": {"C10"},
    "all in sequence": {"C11"},
    "all at once": {"C11"},
    "calls once": {"C11"},
    "signed": {"C12"},
    "does not block": {"C13"},
    "keeps streams in caches": {"C14"},
    "counts events from one": {"C14"},
    "comes late": {"C14"},
    "gathers events": {"C14"},
    "hurries": {"C14"},
    "answers texts as bytes": {"C15"},
    "answers each fragment": {"C15"},
    "always says lock": {"C16"},
    "does not hold natively": {"C16"},
    "one lock for all": {"C16"},
    "counts every request as pinned": {"C17"},
    "asks the database for its health": {"C1"},
    "is always ready": {"C2"},
    "is ready late": {"C2"},
    "wide JSON": {"C3"},
    "counts no errors": {"C4"},
    "counts everything": {"C4"},
    "is never busy": {"C4"},
    "counts no streams": {"C4"},
    "takes a slash behind": {"C20"},
    "a body for HEAD": {"C21"},
    "tells no Allow": {"C21", "C32"},
    "takes 01": {"C22"},
    "takes all digits": {"C22"},
    "takes the last of two": {"C22"},
    "one too many": {"C22"},
    "takes any way to pin": {"C22"},
    "counts code units": {"C23"},
    "tells no Upgrade": {"C24"},
    "deflates": {"C24"},
    "chooses a subprotocol": {"C24"},
    "looks at Origin": {"C24"},
    "answers no ping": {"C24"},
    "takes any length": {"C24"},
    "takes any text": {"C24"},
    "needs no Host": {"C25"},
    "refuses long lines": {"C26"},
    "waits for who is late": {"C27"},
    "closes after sleeping": {"C28"},
    "tells what was malformed": {"C29"},
    "chunked": {"C30"},
    "problems as JSON": {"C31"},
    "another order of keys": {"C32"},
    "takes any media type": {"C33"},
    "cuts long chunked bodies": {"C34"},
    "takes NaN": {"C35"},
    "mends UTF-8": {"C35"},
    "tries again": {"C37"},
    "takes any success": {"C37"},
    "has no timeout": {"C37"},
    "waits for ever": {"C38"},
    "waits while it is away": {"C38"},
    "looks for it seldom": {"C43"},
    "tells its cause": {"C39"},
    "claims to cancel": {"C40"},
    "forgets nobody": {"C40"},
    "tells who left": {"C40"},
    "drops what is in flight": {"C41"},
    "goes on accepting": {"C41"},
    "waits for everybody": {"C41"},
    "ends with 1": {"C41"},
    "streams on": {"C41"},
    "cuts streams off": {"C41"},
    "closes with 1000": {"C41"},
    "exits with 1": {"C42"},
    "takes any setting": {"C42"},
    "prints the password": {"C42"},
    "never recovers": {"C43"},
    "a default of its own": {"C50"},
    "one connection more": {"C60"},
    "a new connection each time": {"C60"},
    "tests on borrow": {"C61"},
    "pings on borrow": {"C61"},
    "closes after 100": {"C62"},
    "a short backlog": {"C62"},
    "keeps Nagle": {"C62"},
    "sends an ETag": {"C62"},
    "few upstream connections": {"C63"},
    "closes the upstream's connections": {"C63"},
    "another number of workers": {"C64"},
    "caches books": {"C65"},
    "a small heap": {"C66"},
}
CONTROLS = {"C9", "C36"}  # rules that none of these breaks
ALONE = "says hello alone"


# ---- a bed to stand on ----


class Upstream(ThreadingHTTPServer):
    """`/delay`, `/stats` and `/reset` as the harness's own upstream has them."""

    daemon_threads = True
    request_queue_size = 1024

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Delay)
        self.lock = threading.Lock()
        self.total = self.in_flight = self.peak = 0

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves is no error."""


class _Delay(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Upstream

    def do_GET(self) -> None:
        here, parts = self.server, urlsplit(self.path)
        if parts.path == "/delay":
            with here.lock:
                here.total += 1
                here.in_flight += 1
                here.peak = max(here.peak, here.in_flight)
            time.sleep(int(parse_qs(parts.query)["ms"][0]) / 1000)
            with here.lock:
                here.in_flight -= 1
        said = f'{{"calls_total":{here.total},"in_flight":{here.in_flight},"in_flight_peak":{here.peak}}}'.encode()
        with contextlib.suppress(OSError):
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(said), said))

    def do_POST(self) -> None:
        with self.server.lock:
            self.server.total, self.server.peak = 0, self.server.in_flight
        self.wfile.write(b"HTTP/1.1 204 No Content\r\n\r\n")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        pass


class Started:
    """A broken service as a process."""

    def __init__(self, process: subprocess.Popen[bytes], base_url: str, log: Path) -> None:
        self.process, self.base_url, self.log, self.pid = process, base_url, log, process.pid

    @property
    def stderr_tail(self) -> str:
        return self.log.read_text(encoding="utf-8")[-2000:]

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
        return self.process.wait()

    def signal(self, number: int) -> None:
        os.kill(self.pid, number)


@dataclass
class Launcher:
    """Starts the broken service in one of its modes."""

    mode: str
    standard: Mapping[str, str]
    folder: Path
    lock: threading.Lock
    started: list[Started]

    def __call__(self, environment: Mapping[str, str], ready: bool = True) -> Started:
        with self.lock:
            port = free_port(self.ports)
            log = self.folder / f"{len(self.started)}-{port}.log"
        settings = {**os.environ, **self.standard, "PORT": str(port), "MODE": self.mode, **environment}
        with log.open("wb") as output:
            process = subprocess.Popen([sys.executable, str(SERVICE)], env=settings, stdout=output, stderr=output)
        service = Started(process, f"http://127.0.0.1:{port}", log)
        with self.lock:
            self.started.append(service)
        deadline = time.monotonic() + 20
        while process.poll() is None:
            with contextlib.suppress(NoAnswer):
                if ask(service.base_url, "/readyz" if ready and self.mode != ALONE else "/healthz", patience_s=8).status == 200:
                    return service
            if time.monotonic() > deadline:
                raise LaunchFailed(None, service.stderr_tail)
            time.sleep(0.02)
        raise LaunchFailed(process.wait(), service.stderr_tail)

    @property
    def ports(self) -> set[int]:
        return {urlsplit(each.base_url).port or 0 for each in self.started}


def free_port(taken: set[int]) -> int:
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        if port not in taken:
            return port


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("database")
    with provide(None, folder, ROOT / ".tools" / "database", 600, lambda sentence: None) as server:
        yield server


@pytest.fixture(scope="session")
def upstream_url() -> Iterator[str]:
    upstream = Upstream()
    threading.Thread(target=upstream.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{upstream.server_address[1]}"
    upstream.shutdown()
    upstream.server_close()


@pytest.fixture
def launcher(request: pytest.FixtureRequest, database: Server, upstream_url: str, tmp_path: Path) -> Iterator[Launcher]:
    standard = {
        "HOST": "127.0.0.1",
        "DATABASE_URL": database.user_url("broken"),
        "DB_POOL_SIZE": "150",
        "UPSTREAM_URL": upstream_url,
        "WORKERS": str(WORKERS),
    }
    made = Launcher(getattr(request, "param", "none"), standard, tmp_path, threading.Lock(), [])
    yield made
    for service in made.started:
        service.process.kill()
        service.process.wait()


@pytest.fixture
def bed(launcher: Launcher, database: Server, upstream_url: str) -> Bed:
    return Bed(launcher, database, upstream_url, "broken", 150, WORKERS, (*ENDPOINTS, *EXTRAS))


# ---- the suite can pass, and it can fail ----


def _broken(outcomes: list[Outcome]) -> str:
    return "\n".join(f"{one.rule} {one.title}: {one.detail}" for one in outcomes if not one.passed)


def test_a_service_that_keeps_the_contract_passes_every_rule(bed: Bed) -> None:
    outcomes = check(bed)
    assert _broken(outcomes) == ""
    assert len(outcomes) == len(RULES)


@pytest.mark.parametrize(("launcher", "rules"), BROKEN.items(), ids=BROKEN, indirect=["launcher"])
def test_a_service_that_breaks_one_rule_fails_by_its_name(bed: Bed, rules: set[str]) -> None:
    outcomes = check(bed, only=rules | CONTROLS)
    failed = {one.rule for one in outcomes if not one.passed}
    assert failed == rules, _broken(outcomes)


@pytest.mark.parametrize("launcher", [ALONE], indirect=True)
def test_a_service_for_a_part_of_the_contract_is_held_to_that_part(bed: Bed) -> None:
    part = ["/healthz", "/runtime", "/stats", "/hello"]
    outcomes = check(replace(bed, endpoints=part))
    assert _broken(outcomes) == ""
    beyond = {one.rule for one in beyond_reach(part)}
    assert len(outcomes) == len(RULES) - len(beyond_reach(part))
    assert {"C2", "C6", "C11", "C22", "C60", "C61"} <= beyond
    assert {"C1", "C3", "C4", "C5", "C20", "C21", "C30", "C31", "C41", "C42", "C43", "C62", "C64"} <= {one.rule for one in outcomes}


@pytest.mark.parametrize("launcher", [ALONE], indirect=True)
def test_what_is_not_declared_to_be_missing_is_missed(bed: Bed) -> None:
    outcomes = check(replace(bed, endpoints=["/healthz", "/runtime", "/stats", "/hello", "/compute"]), only=["C5", "C12"])
    assert {one.rule for one in outcomes if not one.passed} == {"C12"}


@pytest.mark.parametrize("launcher", [ALONE], indirect=True)
def test_an_extra_that_is_declared_is_missed_where_it_is_not_there(bed: Bed) -> None:
    part = ["/healthz", "/runtime", "/stats", "/hello"]
    assert not check(replace(bed, endpoints=part), only=["C16"])
    outcomes = check(replace(bed, endpoints=[*part, "/pin"]), only=["C5", "C16"])
    assert {one.rule for one in outcomes if not one.passed} == {"C16"}


def test_without_an_exception_every_rule_concerns_everybody() -> None:
    assert beyond_reach([*ENDPOINTS, *EXTRAS]) == []
    assert {one.rule for one in beyond_reach(ENDPOINTS)} == set(EXTRAS.values())


def test_every_rule_can_fail() -> None:
    # C9 and C36 are tables as all the others are: each mode shows that a table can fail.
    shown = set().union(*BROKEN.values())
    assert {one.rule for one in RULES} - shown == CONTROLS


def test_every_rule_of_the_contract_is_checked() -> None:
    contract = (ROOT / "contract" / "CONTRACT.md").read_text(encoding="utf-8")
    numbers = set(re.findall(r"^\| (C\d+) \|", contract, re.M)) | set(re.findall(r"\*\*(C\d+)", contract))
    assert {one.rule for one in RULES} == numbers


def test_a_service_that_does_not_start_is_said_once(bed: Bed) -> None:
    def launch(environment: Mapping[str, str], ready: bool = True) -> Started:
        raise LaunchFailed(1, "no such file")

    outcomes = check(replace(bed, launch=launch), only=["C5", "C6", "C43"])
    assert not any(one.passed for one in outcomes)
    assert [one.rule for one in outcomes if "no such file" in one.detail] == ["C5"]


def test_what_a_contender_breaks_by_design_is_not_checked(bed: Bed) -> None:
    skipped = "C5 hello"
    outcomes = check(bed, only=["C5", "C6"], but={skipped: "why"})
    assert skipped not in {f"{one.rule} {one.title}" for one in outcomes}
    assert {one.rule for one in outcomes} == {"C6"}


def test_what_contenders_break_by_design_are_checks_that_there_are(registry: Registry) -> None:
    known = {f"{one.rule} {one.title}" for one in RULES}
    for contender in registry.contenders.values():
        assert set(contender.breaks) <= known, contender.id
        assert not (contender.default and contender.breaks), f"{contender.id} runs by default and must keep every rule"


# ---- one answer ----


def test_an_answer_replaces_what_differs_by_chance() -> None:
    headers = (("Content-Type", "Application/JSON; charset=utf-8"), ("Content-Length", "24"), ("Location", "/books/10001"))
    made = answer_of(Reply(201, headers, b'{"id":10001,"name":"10"}', 0.1, 0.0, 11))
    assert made == Answer(201, '{"id":{id},"name":"10"}', "application/json", 23, "/books/{id}")


def test_a_body_has_three_forms() -> None:
    assert bytes_of("한") == "한".encode()
    assert bytes_of(["<", {"repeat": "ab", "times": 3}, ">"]) == b"<ababab>"
    assert bytes_of({"base64": "/w=="}) == b"\xff"


def test_head_gets_the_same_answer_without_its_body() -> None:
    by_title = {one.title: one.wanted for one in exchanges()}
    assert by_title["HEAD /hello"] == replace(by_title["GET /hello"], body="")
    assert by_title["HEAD /hello"].content_length == 5


def test_nobody_who_was_accepted_before_the_database_dies_survives_it() -> None:
    """A pool that fills up connects all the time: one is accepted, and not yet known, while all others are broken."""
    with socket.create_server(("127.0.0.1", 0)) as database:
        forwarder = Forwarder(*database.getsockname())

        class DiesFirst:
            """The lock of the forwarder, before which the database dies once."""

            def __init__(self) -> None:
                self.lock, self.died = threading.Lock(), False

            def __enter__(self) -> None:
                if not self.died:
                    self.died = True
                    forwarder.away()
                self.lock.acquire()

            def __exit__(self, *_: object) -> None:
                self.lock.release()

        forwarder._lock = DiesFirst()  # type: ignore[assignment]
        forwarder.open()
        with socket.create_connection(("127.0.0.1", forwarder.port)) as client:
            client.settimeout(10)
            with contextlib.suppress(ConnectionResetError):
                assert client.recv(1) == b""
        forwarder.close()


def test_what_a_neighbour_that_is_away_means() -> None:
    assert away("database").body.endswith('"status":503,"detail":"the database did not answer"}')
    assert away("upstream").body.endswith('"status":502,"detail":"the upstream did not answer"}')


def test_a_case_without_a_check_does_not_pass() -> None:
    assert not Case().outcome("C5", "nothing").passed


# ---- what the rules look with ----


def test_the_kernel_tells_the_backlog() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=77) as door:
        assert kernel.backlogs(door.getsockname()[1]) in ([77], None)


def test_a_connection_that_ends_without_an_answer_is_no_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as door:

        def slam() -> None:
            inner, _ = door.accept()
            inner.recv(1000)
            inner.close()

        threading.Thread(target=slam).start()
        with Connection(f"http://127.0.0.1:{door.getsockname()[1]}") as connection, pytest.raises(NoAnswer):
            connection.ask(Request("GET", "/"))


def test_a_body_that_does_not_end_is_no_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as door:

        def drip() -> None:
            inner, _ = door.accept()
            with inner, contextlib.suppress(OSError):
                inner.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                while True:
                    inner.sendall(b"1\r\nx\r\n")
                    time.sleep(0.01)

        threading.Thread(target=drip, daemon=True).start()
        with pytest.raises(NoAnswer, match="without an end"):
            ask(f"http://127.0.0.1:{door.getsockname()[1]}", "/events", patience_s=0.3)


def test_a_body_that_is_cut_off_is_no_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as door:

        def cut() -> None:
            inner, _ = door.accept()
            with inner:
                inner.recv(1000)
                inner.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort")

        threading.Thread(target=cut).start()
        with pytest.raises(NoAnswer, match="IncompleteRead"):
            ask(f"http://127.0.0.1:{door.getsockname()[1]}", "/hello", patience_s=5)


def test_a_chunked_request_is_encoded_as_rfc_9112_says() -> None:
    request = Request("POST", "/books", content_type="application/json", chunks=(b"abc", b"", b"d"))
    assert request.encoded("x").endswith(b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n")


def test_signals_reach_the_service(launcher: Launcher) -> None:
    service = launcher({})
    service.signal(signal.SIGTERM)
    assert service.process.wait(10) == 0


def test_what_is_found_is_told_before_the_suite_ends(bed: Bed) -> None:
    told: list[Outcome] = []
    assert check(bed, told.append, only=["C5", "C6"]) == told


@pytest.mark.parametrize(("look_s", "shown", "decides_ms"), [(0.01, 0, 500), (0.01, 20, 500), (0.6, 0, 5000)])
def test_who_could_look_while_all_waited_gets_no_longer_wait(
    monkeypatch: pytest.MonkeyPatch, look_s: float, shown: int, decides_ms: int
) -> None:
    clock = [0.0]

    def passes(seconds: float) -> None:
        clock[0] += seconds

    def stats() -> dict[str, int]:
        passes(look_s)
        return {"in_flight": shown}

    def fly(*targets: str) -> SimpleNamespace:
        ends = clock[0] + int(targets[0].partition("=")[2]) / 1000
        return SimpleNamespace(land=lambda: [SimpleNamespace(ended_at=ends)] * len(targets))

    with monkeypatch.context() as patch:
        patch.setattr(time, "monotonic", lambda: clock[0])
        patch.setattr(time, "sleep", passes)
        ms, _, seen, replies = rules_meaning._watched(SimpleNamespace(quiet=dict, stats=stats, fly=fly), "/sleep", 20, (500, 5000))  # type: ignore[arg-type]
    assert (ms, seen["in_flight"], len(replies)) == (decides_ms, shown, 20)
