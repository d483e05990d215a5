"""A request of a contract check, of the generator and of k6 has the same line and headers: by them a service cannot know who asks."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from nsb.conform.wire import Connection, get, post_json
from nsb.measure import generator, k6
from nsb.measure.tools import Workshop, workshop
from nsb.registry.load import Registry
from nsb.registry.scenario import Scenario
from nsb.registry.timing import Timing
from nsb.session import run as session

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("machine")]  # it builds k6, as a run does
ROOT = Path(__file__).resolve().parents[2]


class Listener:
    """Keeps what the first connection sends first, answers it, and closes."""

    def __init__(self, answer: str) -> None:
        self._door = socket.create_server(("127.0.0.1", 0))
        self._answer = answer.encode()
        self.heard = b""
        self.url = f"http://127.0.0.1:{self._door.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        caller, _ = self._door.accept()
        with caller:
            while b"\r\n\r\n" not in self.heard or (b"POST" in self.heard and not self.heard.endswith(b"}")):
                self.heard += caller.recv(4096)
            caller.sendall(self._answer)
        self._door.close()

    def head(self, work: Callable[[str], None]) -> list[str]:
        """Request line and headers that `work` sends, without what differs by nature: the port and the length of a drawn name."""
        work(self.url)
        self._thread.join(30)
        lines = self.heard.partition(b"\r\n\r\n")[0].decode().splitlines()
        return sorted(line for line in lines if not line.startswith(("Host: ", "Content-Length: ")))


def by_k6(scenario: Scenario, folder: Path, tools: Workshop) -> Callable[[str], None]:
    program = k6.ensure(ROOT, session.go(tools), print)

    def work(url: str) -> None:
        timing = Timing(spread_s=0.0, settle_s=0.0, window_s=1.0, drain_s=0.0)
        data, _ = k6.cell(scenario, timing, 1, url, 1, time.time(), folder / "summary.json")
        data |= {"vus": 1}
        process = k6.start(program, ROOT, data, (0,), folder / "k6.log")
        process.wait(60)
        process.end(0)

    return work


def by_generator(scenario: Scenario, folder: Path, tools: Workshop) -> Callable[[str], None]:
    program = session.generator_program(tools, print)

    def work(url: str) -> None:
        order = generator.order([generator.target(scenario)], url, [], 1, 1, 0.1, 0.1)
        process = generator.start(program, order, (0,), folder, "one")
        process.wait(60)
        process.end(0)

    return work


def by_check(scenario: Scenario) -> Callable[[str], None]:
    def work(url: str) -> None:
        with Connection(url) as connection:
            connection.ask(get(scenario.path) if scenario.send is None else post_json(scenario.path, scenario.send.encode()))

    return work


@pytest.mark.parametrize("name", ["cost-hello", "cost-write"])
def test_who_asks_cannot_be_told_by_the_request(registry: Registry, tmp_path: Path, name: str) -> None:
    scenario = registry.scenarios[name].model_copy(update={"ids": 0})
    sent = (scenario.answer_status, scenario.body)
    answer = f"HTTP/1.1 {sent[0]} OK\r\nContent-Length: {len(sent[1])}\r\n\r\n{sent[1]}"
    tools = workshop(ROOT, registry)
    heads = {
        who: Listener(answer).head(work)
        for who, work in (
            ("a check", by_check(scenario)),
            ("the generator", by_generator(scenario, tmp_path, tools)),
            ("k6", by_k6(scenario, tmp_path, tools)),
        )
    }
    assert heads["a check"] == heads["the generator"] == heads["k6"]
    assert not any("agent" in line.lower() for line in heads["k6"])
