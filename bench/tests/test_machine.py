"""Two runs on one machine exclude each other, whichever clone they start from; the hold ends with its process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from nsb.errors import Refused
from nsb.measure.machine import alone

BENCH = Path(__file__).resolve().parents[1]
HOLDS = """
import sys, time
from pathlib import Path
from nsb.measure.machine import alone
with alone(Path("/somewhere/else"), False, print, sys.argv[1]):
    print("holds", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def name() -> str:
    return f"\0no-silver-bullet-test-{os.getpid()}"


@pytest.fixture
def holder(name: str) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the machine."""
    command = [sys.executable, "-c", HOLDS.replace("sys.argv[1]", repr(name)), "bench-all", "--tier", "smoke"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(BENCH / "src")})
    assert process.stdout is not None
    assert process.stdout.readline() == "holds\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_the_second_is_refused_and_told_who_the_first_is(name: str, holder: subprocess.Popen[str]) -> None:
    with pytest.raises(Refused) as refused, alone(BENCH, False, print, name):
        raise AssertionError("both hold it")
    assert refused.value.exits == 3
    for part in (f"process {holder.pid}", "bench-all --tier smoke", "/somewhere/else", "since 20", "--wait"):
        assert part in str(refused.value)


def test_one_that_is_stopped_and_cannot_say_so_is_named_all_the_same(name: str, holder: subprocess.Popen[str]) -> None:
    holder.send_signal(signal.SIGSTOP)
    with pytest.raises(Refused, match=f"process {holder.pid} "), alone(BENCH, False, print, name):
        raise AssertionError("both hold it")


def test_whoever_waits_has_it_as_soon_as_the_other_is_killed(name: str, holder: subprocess.Popen[str]) -> None:
    said: list[str] = []

    def kills(sentence: str) -> None:
        said.append(sentence)
        threading.Timer(0.2, holder.kill).start()

    with alone(BENCH, True, kills, name):
        assert holder.wait(5) == -signal.SIGKILL
    assert len(said) == 1
    assert f"process {holder.pid}" in said[0]


def test_it_is_free_again_after_the_block(name: str) -> None:
    for _ in range(3):
        with alone(BENCH, False, print, name):
            pass
