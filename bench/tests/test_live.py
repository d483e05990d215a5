"""Whole runs of the command line with a real service, database and k6: what a Ctrl-C keeps and what `--resume` adds."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from nsb.session.runs import read_run
from nsb.verbs.running import WORKS

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("machine")]  # they measure, or build k6: one after the other
BENCH = Path(__file__).resolve().parents[1]
CONTENDER = "go"
SCENARIOS = ["hello-rate", "book-read-rate", "compute-rate", "book-write-rate", "overload-read"]


@pytest.fixture(autouse=True)
def edges_may_be_late() -> None:
    """Not here, where the run is another process: this one has to judge its cells as it does."""


def started(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "nsb", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONPATH": str(BENCH / "src")},
    )


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[str], deadline_s: float = 1800) -> None:
    until = time.monotonic() + deadline_s
    while not condition():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < until, "it never came to that"
        time.sleep(0.05)


def left(family: list[psutil.Process]) -> list[str]:
    """Who of them still runs when the harness has ended (a moment is granted to those that notice its end themselves)."""
    _, alive = psutil.wait_procs(family, timeout=30)
    return [" ".join(p.cmdline()) for p in alive if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]


def measured(folder: Path) -> list[str]:
    file = folder / "cells.jsonl"
    return [json.loads(line)["scenario"] for line in file.read_text().splitlines()] if file.exists() else []


def uncounted(folder: Path) -> list[str]:
    """Why the last attempts at cells do not count."""
    last = {cell.scenario: cell for cell in read_run(folder)[1]}
    return [reason for cell in last.values() if not cell.counts for reason in cell.reasons]


def kill_the_database(_: subprocess.Popen[str], family: list[psutil.Process]) -> None:
    (server,) = [p for p in family if any(part.startswith("--datadir=") for part in p.cmdline())]
    server.kill()


FAULTS: dict[str, tuple[Callable[[subprocess.Popen[str], list[psutil.Process]], object], int, str]] = {
    "Ctrl-C": (lambda harness, _: harness.send_signal(signal.SIGINT), 130, "stopped"),
    "the database dies": (kill_the_database, 3, "ended in mid-run with 137"),
    "the harness is killed": (lambda harness, _: harness.kill(), -signal.SIGKILL, ""),
}
"""What happens in the first, second and third sitting → its exit code and what is said."""
OF_THE_MACHINE = ("V2 ", "V7 ", "V11 ")
"""Other tests run beside this one: the generator, the service or the harness may get no core in time, which decides nothing here."""


def test_a_run_that_is_stopped_in_three_ways_keeps_its_cells_leaves_nothing_behind_and_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    asked = ("--tier", "smoke", "--twin", "none", "--scenarios", ",".join(SCENARIOS))
    process = started("bench", CONTENDER, *asked, "--out", str(folder), "--wait")
    kept: list[str] = []
    for cells, (name, (fault, code, sentence)) in enumerate(FAULTS.items(), 1):
        wait_for(lambda cells=cells: len(measured(folder)) >= cells, process)  # type: ignore[misc]
        family = psutil.Process(process.pid).children(recursive=True)
        assert len(family) >= 3  # service, database, upstream
        began = time.monotonic()
        fault(process, family)
        output = process.communicate(timeout=600)[0]
        with capsys.disabled():
            print(f"\n  {name}: ended after {time.monotonic() - began:.1f} s")
        assert (process.returncode, sentence in output) == (code, True), output
        assert "Traceback" not in output
        assert left(family) == []
        assert measured(folder)[: len(kept)] == kept
        kept = measured(folder)
        assert code < 0 or (f"go on with --resume {folder}" in output and (folder / "table.md").exists())
        process = started("bench-all", "--resume", str(folder), "--wait")
    output = process.communicate(timeout=1800)[0]
    why = uncounted(folder)
    assert all(reason.startswith(OF_THE_MACHINE) for reason in why), output
    assert (process.returncode, WORKS in output) == ((1, False) if why else (0, True)), output
    assert " claims of " not in output  # one round decides nothing
    assert measured(folder)[: len(kept)] == kept
    assert set(measured(folder)) == set(SCENARIOS)


def test_up_serves_until_it_is_interrupted() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = started("up", CONTENDER, "--port", str(port))

    def answers() -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/books/1", timeout=5) as reply:
                return bool(json.loads(reply.read())["id"] == 1)
        except OSError:
            return False

    wait_for(answers, process)
    family = psutil.Process(process.pid).children(recursive=True)
    taken = started("up", CONTENDER, "--port", str(port))
    output = taken.communicate(timeout=600)[0]
    assert (taken.returncode, f"port {port} is taken" in output) == (3, True), output
    process.send_signal(signal.SIGINT)
    output = process.communicate(timeout=60)[0]
    assert process.returncode == 0, output
    assert left(family) == []
