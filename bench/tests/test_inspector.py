"""What node is asked before its memory is read: against real nodes, and against others on its port."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import psutil
import pytest

from nsb.running import attach, inspector
from nsb.running.process import footprint

BUILT = Path(__file__).parents[2] / "node" / "node_modules" / ".bin" / "node"
NODE = BUILT if BUILT.exists() else shutil.which("node")
"""The service's own, or where it is not built yet the one that npm runs on."""
LITTER = """
let litter = [];
for (let i = 0; i < 600_000; i++) litter.push({ i, text: `litter ${i}` });
litter = null;
const { default: cluster } = await import('node:cluster');
if (cluster.isPrimary && process.argv[2] === 'two') cluster.fork();
console.log('ready');
process.stdin.on('data', () => process.exit(0));
"""
"""Touches some 70 MiB that nothing needs any more."""


@contextmanager
def node(tmp_path: Path, processes: str = "one") -> Iterator[list[int]]:
    (tmp_path / "litter.mjs").write_text(LITTER)
    command = [str(NODE), str(tmp_path / "litter.mjs"), processes]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        for _ in range(2 if processes == "two" else 1):
            assert process.stdout.readline() == "ready\n"
        try:
            yield [process.pid, *(child.pid for child in psutil.Process(process.pid).children())]
        finally:
            process.communicate("\n")


@contextmanager
def on_its_port(answer: str | None) -> Iterator[None]:
    """Another program that listens where node's inspector would; None: and never answers."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write((answer or "").encode())

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", inspector.PORT), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield
        server.shutdown()


def listens() -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", inspector.PORT)) == 0


def test_a_node_gives_back_what_nothing_needs_and_listens_to_nobody_afterwards(tmp_path: Path) -> None:
    with node(tmp_path) as pids:
        littered = footprint(pids).pss_mib
        found = inspector.Node(attach.named("node", pids))
        assert footprint(pids).pss_mib < littered - 20
        assert not listens()
        assert found.collect() > 0.0
        assert not listens()


def test_every_worker_of_a_cluster_is_asked_though_they_share_a_port(tmp_path: Path) -> None:
    with node(tmp_path, "two") as pids:
        assert len(pids) == 2
        littered = [footprint([pid]).pss_mib for pid in pids]
        inspector.Node(pids)
        assert all(footprint([pid]).pss_mib < before - 10 for pid, before in zip(pids, littered, strict=True))


def test_a_port_that_another_program_has_is_told_and_no_node_is_signalled(tmp_path: Path) -> None:
    with on_its_port(None), pytest.raises(attach.AttachError, match="port 9229, on which node's inspector listens, is another program's"):
        inspector.Node([2**22 + 1])  # a signal to nobody would be another error


def test_one_that_has_gone_is_told() -> None:
    with pytest.raises(attach.AttachError, match=r"node's inspector: .*No such process"):
        inspector.Node([2**22 + 1])


def test_one_that_opens_nothing_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspector, "LISTENS_WITHIN_S", 0.1)
    monkeypatch.setattr("signal.SIGUSR1", 0)  # no signal at all
    with node(tmp_path) as pids, pytest.raises(attach.AttachError, match="was not opened within"):
        inspector.Node(pids)


def test_what_node_refuses_is_told_in_its_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspector, "CLOSE", "nobody()")
    with node(tmp_path) as pids, pytest.raises(attach.AttachError, match=r"Runtime.evaluate: .*nobody is not defined"):
        inspector.Node(pids)


@pytest.mark.parametrize("answer", ["no JSON", "[]", json.dumps([{"webSocketDebuggerUrl": "ws://127.0.0.1:9/"}]), "{}"])
def test_an_answer_that_is_not_an_inspectors_is_an_error_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    later = iter([False, True])
    monkeypatch.setattr(inspector, "_listens", lambda: next(later))
    monkeypatch.setattr("signal.SIGUSR1", 0)
    with node(tmp_path) as pids, on_its_port(answer), pytest.raises(attach.AttachError, match="node's inspector"):
        inspector.Node(pids)
