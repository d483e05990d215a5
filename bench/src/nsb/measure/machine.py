"""Two runs on one machine would disturb each other: whoever measures holds the machine, whichever clone or user it is. Effects.

The hold is an abstract Unix socket. Its name belongs to the kernel's network namespace: no file can be removed, no permission forbids it,
and it is free again as soon as its process ends, however that ends. Whoever connects is told who holds it, and sees the connection close
when that one has ended. Not seen: a run in another network namespace, such as one inside a container.
"""

from __future__ import annotations

import contextlib
import errno
import getpass
import json
import os
import shlex
import socket
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from nsb.errors import Refused

NAME = "\0no-silver-bullet"
ANSWER_S = 2.0
"""How long a holder may take to say who it is; one that is stopped says nothing, and the kernel still knows its process (s)."""


@dataclass(frozen=True)
class Holder:
    """Who measures; what is not known is empty."""

    pid: int
    user: str = ""
    command: str = ""
    clone: str = ""
    since: str = ""

    @property
    def sentence(self) -> str:
        told = f"process {self.pid}" if self.pid else "a process that cannot be seen from here"
        told += f" ({self.command})" if self.command else ""
        told += f" of {self.user}" if self.user else ""
        told += f" in {self.clone}" if self.clone else ""
        return told + (f", since {self.since}" if self.since else "")


@contextlib.contextmanager
def alone(clone: Path, wait: bool, say: Callable[[str], None], name: str = NAME) -> Iterator[None]:
    """Holds the machine for the length of the block.

    Raises Refused where another process holds it, or, with `wait`, waits until that one has ended.
    """
    own = Holder(os.getpid(), _user(), shlex.join(sys.argv[1:]), str(clone), f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC")
    listener, told = _bound(name), 0
    while listener is None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as door, contextlib.suppress(OSError):  # it may end at any moment
            door.connect(name)
            other = _holder(door)
            if not wait:
                raise Refused(
                    f"Another run measures on this machine: {other.sentence}. Two at once would disturb each other, with --noisy too: "
                    "wait for it by --wait, or end it."
                )
            if other.pid != told:  # one that was killed may hold the name for a moment longer than its connections
                say(f"waiting until the other run has ended: {other.sentence}")
                told = other.pid
            _until_closed(door)
        listener = _bound(name)
    tells = threading.Thread(target=_tell, args=(listener, json.dumps(asdict(own)).encode()), daemon=True)
    tells.start()
    try:
        yield
    finally:
        listener.shutdown(socket.SHUT_RDWR)  # wakes the thread; closing alone would not, and the name would stay taken
        listener.close()
        tells.join()


def _bound(name: str) -> socket.socket | None:
    """The hold itself; None where somebody has it. Raises OSError where the kernel knows no such sockets."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(name)
    except OSError as error:
        listener.close()
        if error.errno != errno.EADDRINUSE:
            raise
        return None
    listener.listen(64)
    return listener


def _holder(door: socket.socket) -> Holder:
    """Who says to hold it, else what the kernel knows of the process."""
    door.settimeout(ANSWER_S)
    with contextlib.suppress(OSError, ValueError, TypeError):
        return Holder(**json.loads(door.makefile("rb").readline()))
    pid, _, _ = struct.unpack("3i", door.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
    with contextlib.suppress(OSError):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
        return Holder(pid, command=" ".join(words).strip())
    return Holder(pid)


def _until_closed(door: socket.socket) -> None:
    door.settimeout(None)
    with contextlib.suppress(OSError):
        while door.recv(4096):
            pass


def _tell(listener: socket.socket, line: bytes) -> None:
    """Says to everybody who asks who holds the machine; connections stay open, so that they close with this process."""
    open_: list[socket.socket] = []
    with contextlib.suppress(OSError):
        while True:
            door, _ = listener.accept()
            open_.append(door)
            with contextlib.suppress(OSError):
                door.sendall(line + b"\n")
    for door in open_:
        door.close()


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user without a name, as in some containers
        return str(os.getuid())
