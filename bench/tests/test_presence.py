"""A service under construction is told by name what it lacks, at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from nsb.conform.presence import absent, cannot_go_on, targets, wait_for_any_answer
from nsb.conform.wire import NoAnswer
from nsb.registry.contract import ENDPOINTS, EXTRAS, endpoint


class Unfinished(BaseHTTPRequestHandler):
    """Knows some endpoints; all else is 404."""

    has: tuple[str, ...] = ()

    def do_GET(self) -> None:
        self.send_response(200 if endpoint(self.path) in self.has else 404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """In silence."""


@pytest.fixture
def url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Unfinished)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def test_every_endpoint_of_the_contract_is_asked() -> None:
    assert set(targets()) == {*ENDPOINTS, *EXTRAS} - {"/pinnings"}


def test_a_server_with_hello_alone_is_told_all_others_by_name_in_their_order(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Unfinished, "has", ("/hello",))
    began = time.monotonic()
    wait_for_any_answer(url, lambda: None, lambda: None)
    found = absent(url, ENDPOINTS)
    assert time.monotonic() - began < 10
    assert [outcome.title.split()[0] for outcome in found] == [name for name in ENDPOINTS if name != "/hello"]
    assert not any(outcome.passed for outcome in found)
    assert cannot_go_on(found)


def test_where_the_first_ones_are_there_the_rules_of_the_others_can_be_checked(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Unfinished, "has", ("/healthz", "/readyz", "/runtime", "/stats", "/hello"))
    found = absent(url, ENDPOINTS)
    assert len(found) == len(ENDPOINTS) - 5
    assert not cannot_go_on(found)


def test_one_that_ends_or_answers_nothing_is_not_waited_for() -> None:
    with pytest.raises(NoAnswer, match="ended with 7"):
        wait_for_any_answer("http://127.0.0.1:9", lambda: "it ended with 7", lambda: None)
    with pytest.raises(NoAnswer, match=r"answered nothing .* within 60 s"):
        wait_for_any_answer("http://127.0.0.1:9", lambda: None, lambda: 60.0)
