"""What node's own inspector is asked: a full collection before memory is read. Effects only.

SIGUSR1 makes node listen on 127.0.0.1:9229 (nodejs.org, Debugging Node.js); HeapProfiler.collectGarbage of the V8 inspector protocol is a
full collection that gives back what is free. The inspector is closed after each: nothing listens while a load runs, and the next process of
a cluster finds the port free, for all of them want the same one.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from collections.abc import Sequence
from contextlib import closing
from http.client import HTTPConnection, HTTPException

from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect

from nsb.running.attach import AttachError

PORT = 9229
LISTENS_WITHIN_S = 5.0
ANSWERS_WITHIN_S = 10.0
AGAIN_S, LOOK_S = 0.1, 0.002
CLOSE = "setImmediate(() => process.getBuiltinModule('node:inspector').close())"
"""Closing waits for the last connection, which is the one that asks for it: so it comes after the answer."""


class Node:
    """A node, with all its workers, that is asked to give back what is free before its memory is read."""

    def __init__(self, pids: Sequence[int]) -> None:
        """`pids`: processes that are node; another would die of the signal. Raises AttachError where one of them cannot be asked."""
        self._pids = pids
        self.collect()  # gives back what the warm-up has touched, now and not in the first reading

    def collect(self) -> float:
        """A full collection in each process; what they took (s). Raises AttachError."""
        began = time.monotonic()
        for pid in self._pids:
            _collect(pid)
        return time.monotonic() - began


def _collect(pid: int) -> None:
    if _listens():
        raise AttachError(f"port {PORT}, on which node's inspector listens, is another program's")
    try:
        _open(pid)
        with connect(_address(), proxy=None, open_timeout=ANSWERS_WITHIN_S) as inspector:
            try:
                _ask(inspector, "HeapProfiler.collectGarbage")
            finally:
                _ask(inspector, "Runtime.evaluate", expression=CLOSE)
        _until_closed()
    except (OSError, ValueError, LookupError, TypeError, HTTPException, WebSocketException) as error:
        raise AttachError(f"node's inspector: {error or type(error).__name__}") from None


def _address() -> str:
    """Of its web socket. By the standard library's client: httpx reads certificates for each request, longer than a collection takes."""
    with closing(HTTPConnection("127.0.0.1", PORT, timeout=ANSWERS_WITHIN_S)) as connection:
        connection.request("GET", "/json/list", headers={"Connection": "close"})
        return str(json.load(connection.getresponse())[0]["webSocketDebuggerUrl"])


def _listens() -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", PORT)) == 0


def _open(pid: int) -> None:
    """It passes over a signal that comes while it closes the one before, so it is sent again."""
    until, again = time.monotonic() + LISTENS_WITHIN_S, 0.0
    while not _listens():
        now = time.monotonic()
        if now > until:
            raise AttachError(f"node's inspector was not opened within {LISTENS_WITHIN_S:.0f} s")
        if now >= again:
            os.kill(pid, signal.SIGUSR1)
            again = now + AGAIN_S
        time.sleep(LOOK_S)


def _until_closed() -> None:
    until = time.monotonic() + LISTENS_WITHIN_S
    while _listens():
        if time.monotonic() > until:
            raise AttachError(f"node's inspector was not closed within {LISTENS_WITHIN_S:.0f} s")
        time.sleep(LOOK_S)


def _ask(inspector: ClientConnection, method: str, **parameters: str) -> None:
    inspector.send(json.dumps({"id": 1, "method": method, "params": parameters}))
    answer = json.loads(inspector.recv(timeout=ANSWERS_WITHIN_S))
    refusal = answer.get("error") or answer["result"].get("exceptionDetails")
    if refusal:
        raise AttachError(f"{method}: {json.dumps(refusal)}")
