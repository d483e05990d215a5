"""What the harness tells the generator and hears from it; the program itself is tested beside its sources (bench/generator)."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from nsb.measure import generator
from nsb.measure.generator import Competitors
from nsb.measure.process import Process, ProcessError, waited_s, waits_s
from nsb.registry.load import Registry

BENCH = Path(__file__).resolve().parents[1]
READINGS = [
    {
        "at_s": 10.0,
        "answers": 0,
        "service_cpu_s": 1.0,
        "mean_answers": 0.0,
        "mean_service_cpu_s": 1.0,
        "generator_cpu_s": 0.0,
        "opened": 4,
        "least_latency_s": 0.001,
        "answers_of": [0],
        "odd": 0,
    },
    {
        "at_s": 10.25,
        "answers": 500,
        "service_cpu_s": 1.05,
        "mean_answers": 250.0,
        "mean_service_cpu_s": 1.025,
        "generator_cpu_s": 0.01,
        "opened": 4,
        "least_latency_s": 0.001,
        "answers_of": [500],
        "odd": 0,
    },
    {
        "at_s": 10.26,
        "answers": 504,
        "service_cpu_s": 1.06,
        "mean_answers": 502.0,
        "mean_service_cpu_s": 1.055,
        "generator_cpu_s": 0.01,
        "opened": 4,
        "least_latency_s": 0.001,
        "answers_of": [504],
        "odd": 4,
    },
]


def told(tmp_path: Path, lines: list[str], code: int) -> Process:
    """A generator that prints these lines and ends."""
    text = "".join(line + "\n" for line in lines)
    return Process("generator", [sys.executable, "-c", f"import sys; sys.stdout.write({text!r}); sys.exit({code})"], tmp_path / "log")


def test_an_order_has_the_keys_that_the_generator_reads(registry: Registry) -> None:
    scenario = next(each for each in registry.scenarios.values() if each.paired)
    what: dict[str, Any] = generator.order([generator.target(scenario)], "http://127.0.0.1:8080", [1, 2], 7, 64, 0.25, 3.5)
    source = (BENCH / "generator" / "order.go").read_text(encoding="utf-8")
    assert {*what, *what["targets"][0]} == set(re.findall(r'`json:"(\w+)"`', source))
    assert what["address"] == "127.0.0.1:8080"
    assert (what["every_ms"], what["duration_ms"]) == (250, 3500)


def test_readings_end_before_the_time_in_which_the_last_answers_come(tmp_path: Path) -> None:
    found = generator.finish(told(tmp_path, [json.dumps(each) for each in READINGS], 0), 10)
    assert (found.series.answers, found.series.mean_answers, found.series.mean_service_cpu_s) == ([0, 500], [0.0, 250.0], [1.0, 1.025])
    assert (found.answers, found.odd, found.opened, found.wrong) == (504, 4, 4, None)


def test_a_wrong_answer_comes_with_all_readings_before_it(tmp_path: Path) -> None:
    lines = [*READINGS[:2], {**READINGS[2], "wrong": "asked 'GET /hello', got 'hallo'"}]
    found = generator.finish(told(tmp_path, [json.dumps(each) for each in lines], 1), 10)
    assert found.wrong == "asked 'GET /hello', got 'hallo'"
    assert found.series.answers == [0, 500, 504]


@pytest.mark.parametrize(
    ("lines", "code", "says"),
    [
        (["generator: address: no port"], 2, "ended with 2: generator: address"),
        ([], 0, "left no readings"),
        (["{}"], 1, "left no readings"),
        (["no JSON"], 0, "left no readings"),
    ],
)
def test_a_generator_that_fails_is_a_sentence(tmp_path: Path, lines: list[str], code: int, says: str) -> None:
    with pytest.raises(ProcessError, match=says):
        generator.finish(told(tmp_path, lines, code), 10)


def test_a_generator_that_does_not_end_is_a_sentence(tmp_path: Path) -> None:
    sleeps = Process("generator", [sys.executable, "-c", "import time; time.sleep(60)"], tmp_path / "log")
    try:
        with pytest.raises(ProcessError, match="did not end"):
            generator.finish(sleeps, 0.1)
    finally:
        sleeps.end(0)


def test_competitors_rest_until_they_are_wanted_and_leave_nothing(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!{sys.executable}\nwhile True: pass\n", encoding="utf-8")
    program.chmod(0o755)
    core = min(os.sched_getaffinity(0))
    computing = Competitors(program, (core,), 2, tmp_path / "log")
    pids = computing.pids()
    try:
        assert len(pids) == 2
        _until({"T"}, pids)
        computing.go()
        _until({"R", "S"}, pids)
        computing.rest()
        _until({"T"}, pids)
    finally:
        computing.end()
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]


def _until(states: set[str], pids: list[int]) -> None:
    """Waits until all are in one of these: R runs, S sleeps, T is stopped (proc(5)). A busy machine takes its time."""
    deadline = time.monotonic() + 30
    while not (seen := {Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] for pid in pids}) <= states:
        assert time.monotonic() < deadline, seen
        time.sleep(0.01)


def test_waiting_for_a_core_is_read_from_the_kernel() -> None:
    here = waits_s([os.getpid()])
    assert here is None or (here and min(here.values()) >= 0.0)
    assert waits_s([]) == {}


def test_a_thread_that_ended_takes_nothing_from_what_others_waited() -> None:
    """Tomcat's idle threads ended within a window: java-pt seemed to have work for half of the time."""
    works, rests, new = (Path(f"/proc/1/task/{number}") for number in (1, 2, 3))
    assert waited_s({works: 5.0, rests: 100.0}, {works: 7.0, new: 1.0}) == pytest.approx(3.0)
    assert waited_s(None, {works: 1.0}) is None
