"""What a JVM is asked before its memory is read: against a socket that answers as one does, and against a real JVM."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nsb.measure import attach
from nsb.measure.process import footprint
from nsb.measure.tools import Found, find
from nsb.registry.load import Registry

COLLECTED = ["jcmd", "GC.run", "", ""]
LISTENER = """
import os, signal, socket, sys
sock = socket.socket(socket.AF_UNIX)
def listen(*_):
    assert os.path.exists(f"/tmp/.attach_pid{os.getpid()}"), "nobody asked"
    sock.bind(f"/tmp/.java_pid{os.getpid()}.tmp")
    sock.listen()
    os.rename(f"/tmp/.java_pid{os.getpid()}.tmp", f"/tmp/.java_pid{os.getpid()}")
    os.write(1, b"listens\\n")
signal.signal(signal.SIGQUIT, listen)
os.write(1, b"ready\\n")
sys.stdin.read()
os.unlink(f"/tmp/.java_pid{os.getpid()}")
"""
"""Listens as late as a JVM does, and says so; never answers."""

LITTER = """
public class Litter {
  static final byte[] LIVES = new byte[16 << 20];
  public static void main(String[] arguments) throws Exception {
    java.util.ArrayList<byte[]> litter = new java.util.ArrayList<>();
    for (int i = 0; i < 300; i++) litter.add(new byte[1 << 18]);
    litter = null;
    System.out.println("ready");
    System.in.read();
  }
}
"""
"""Touches 75 MiB that nothing needs any more, beside 16 MiB that live."""


@contextmanager
def jvm(answer: bytes = b"0\n") -> Iterator[list[list[str]]]:
    """This process, as far as another can tell, is a JVM that listens already; yields what it was asked, word by word."""
    asked: list[list[str]] = []
    path = Path(f"/tmp/.java_pid{os.getpid()}")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()

        def serve() -> None:
            while True:
                connection, _ = listening.accept()
                with connection:
                    request = b""
                    while request.count(b"\0") < 5:
                        part = connection.recv(1024)
                        if not part:
                            return
                        request += part
                    version, *words = request.decode().split("\0")[:-1]
                    assert version == "1"
                    asked.append(words)
                    connection.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield asked
        finally:
            with socket.socket(socket.AF_UNIX) as last:
                last.connect(str(path))
            thread.join(10)
            path.unlink()


def test_a_jvm_is_told_once_how_little_to_keep_and_collects_whenever_it_is_asked() -> None:
    with jvm() as asked:
        found = attach.Jvm(os.getpid())
        assert found.collect() >= 0.0
    assert asked == [["setflag", "MinHeapFreeRatio", "0", ""], ["setflag", "MaxHeapFreeRatio", "5", ""], COLLECTED, COLLECTED]


def test_what_a_jvm_refuses_is_told_in_its_words() -> None:
    with jvm(b"1\nflag is not writeable\n"), pytest.raises(attach.AttachError, match="MinHeapFreeRatio 0: 1 flag is not writeable"):
        attach.Jvm(os.getpid())
    with jvm(b""), pytest.raises(attach.AttachError, match="setflag"):
        attach.Jvm(os.getpid())


def test_one_that_does_not_listen_yet_is_asked_to_and_no_trigger_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attach, "ANSWERS_WITHIN_S", 0.2)
    with subprocess.Popen([sys.executable, "-c", LISTENER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        with pytest.raises(attach.AttachError, match="timed out"):
            attach.Jvm(process.pid)
        assert process.stdout.readline() == "listens\n"
        assert not Path(f"/tmp/.attach_pid{process.pid}").exists()
        process.communicate("")


def test_one_that_never_listens_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attach, "LISTENS_WITHIN_S", 0.1)
    monkeypatch.setattr(signal, "SIGQUIT", 0)  # no signal at all: a process that is no JVM would die of it
    with pytest.raises(attach.AttachError, match="did not listen within"):
        attach.Jvm(os.getpid())


def test_one_that_has_gone_is_told() -> None:
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    with pytest.raises(attach.AttachError, match="cannot be asked to listen"):
        attach.Jvm(gone.pid)


def test_only_a_process_named_java_is_ever_sent_the_signal() -> None:
    with pytest.raises(attach.AttachError, match="none of its processes is named java"):
        attach.java_of([os.getpid(), 2**22 + 1])


def test_a_real_jvm_gives_back_what_nothing_needs(tmp_path: Path, registry: Registry) -> None:
    java = find("java", registry.tools["java"])
    assert isinstance(java, Found), java
    (tmp_path / "Litter.java").write_text(LITTER)
    javac = shutil.which("javac", path=str(Path(java.path).resolve().parent))
    assert javac is not None, f"{java.path} has no javac beside it"
    subprocess.run([javac, "-d", str(tmp_path), str(tmp_path / "Litter.java")], check=True)
    command = [java.path, "-Xmx256m", "-XX:+UseG1GC", "-cp", str(tmp_path), "Litter"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        littered = footprint([process.pid]).pss_mib
        found = attach.Jvm(attach.java_of([process.pid]))
        assert footprint([process.pid]).pss_mib < littered - 50
        found.collect()
        process.communicate("\n")
    assert not Path(f"/tmp/.java_pid{process.pid}").exists()
