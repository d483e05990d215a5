"""What the JDK's own jcmd asks a JVM, asked without it: a full collection, and how little of its heap to keep free. Effects only.

jcmd is a JVM itself: each call would take a third of a second of the CPU that the load shares, and no JRE has it. What it does is short and
has not changed since JDK 6 (HotSpot's attachListener_posix.cpp; version 1 of the protocol, which JDK 25 still speaks). SIGQUIT and a file
`.attach_pidPID` ask the JVM to listen on the socket `.java_pidPID`, both in its /tmp; a request is version, command and three arguments,
each ended by a zero byte; the answer is a line with 0 or an error's number, then text.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import time
from collections.abc import Sequence
from pathlib import Path

LISTENS_WITHIN_S = 5.0
ANSWERS_WITHIN_S = 10.0
KEPT_FREE_PERCENT = 5
"""Of the heap after a full collection, at the most (MaxHeapFreeRatio): the rest of its pages goes back to the system."""
UNCOMMITS_AFTER_S, UNCOMMITS_EVERY_S, UNCOMMITS_WITHIN_S = 0.12, 0.02, 1.0
"""G1 gives pages back after the collection, not in it: from 100 ms on, every 10 ms up to 128 MiB (g1UncommitRegionTask.cpp)."""


class AttachError(Exception):
    """The JVM did not do what it was asked; a part of a sentence."""


def java_of(pids: Sequence[int]) -> int:
    """Which of them is the JVM: `java` may be a script that starts it, and SIGQUIT would end that. Raises AttachError."""
    for pid in pids:
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/exe").resolve(strict=True).name == "java":
                return pid
    raise AttachError("none of its processes is named java")


class Jvm:
    """A JVM that is asked to give back what is free before its memory is read."""

    def __init__(self, pid: int) -> None:
        """Raises AttachError where it does not listen, or cannot be told how little to keep free."""
        self._pid = pid
        self._listen()
        self._ask("setflag", "MinHeapFreeRatio", "0")  # first: it must not be above the other
        self._ask("setflag", "MaxHeapFreeRatio", str(KEPT_FREE_PERCENT))
        self.collect()  # gives back what the warm-up has touched: hundreds of MiB, now and not in the first reading

    def collect(self) -> float:
        """A full collection; what it took (s). Returns when no more pages are given back. Raises AttachError."""
        began = time.monotonic()
        self._ask("jcmd", "GC.run")
        took_s = time.monotonic() - began
        until = time.monotonic() + UNCOMMITS_WITHIN_S
        time.sleep(UNCOMMITS_AFTER_S)
        before = self._resident()
        while time.monotonic() < until:
            time.sleep(UNCOMMITS_EVERY_S)
            now = self._resident()
            if now >= before:
                break
            before = now
        return took_s

    def _resident(self) -> int:
        """Pages, which is quicker to know than PSS. Raises AttachError."""
        try:
            return int(Path(f"/proc/{self._pid}/statm").read_text().split()[1])
        except (OSError, IndexError):
            raise AttachError("it has ended") from None

    @property
    def _folder(self) -> Path:
        return Path(f"/proc/{self._pid}/root/tmp")

    def _listen(self) -> None:
        sock, trigger = self._folder / f".java_pid{self._pid}", self._folder / f".attach_pid{self._pid}"
        if sock.is_socket():
            return
        try:
            trigger.touch()
            os.kill(self._pid, signal.SIGQUIT)
            until = time.monotonic() + LISTENS_WITHIN_S
            while not sock.is_socket():
                if time.monotonic() > until:
                    raise AttachError(f"it did not listen within {LISTENS_WITHIN_S:.0f} s")
                time.sleep(0.01)
        except OSError as error:
            raise AttachError(f"it cannot be asked to listen: {error.strerror}") from None
        finally:
            with contextlib.suppress(OSError):
                trigger.unlink(missing_ok=True)

    def _ask(self, command: str, *arguments: str) -> None:
        words = ["1", command, *arguments, *[""] * (3 - len(arguments))]
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(ANSWERS_WITHIN_S)
                connection.connect(str(self._folder / f".java_pid{self._pid}"))
                connection.sendall(b"".join(word.encode() + b"\0" for word in words))
                answer = connection.makefile("rb").read().decode(errors="replace")
        except OSError as error:
            raise AttachError(f"{' '.join([command, *arguments])}: {error.strerror or error}") from None
        code, _, said = answer.partition("\n")
        if code != "0":
            raise AttachError(f"{' '.join([command, *arguments])}: {code} {said.strip()}")
