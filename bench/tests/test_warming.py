"""How a service is warmed: what is asked, when a step is the last one, and the bursts after it. No service, no generator, no clock."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nsb.measure import generator, warming
from nsb.measure.generator import Target
from nsb.measure.running import Died
from nsb.measure.warming import (
    BURSTS,
    CONNECTIONS,
    LEAST_STEPS,
    PAUSE_MS,
    RISING,
    STEP_S,
    WAITING_CONNECTIONS,
    _Mixture,
    bursts,
    risen,
    targets,
)
from nsb.registry.load import Registry
from nsb.registry.shapes import FullCore

PLAIN = Target("GET", "/hello", "", "hello", 200, 0)
WAITING = Target("GET", "/sleep?ms=1", "", "", 200, 0)
WRONG = "asked 'GET /hello', got 'hallo'"


@dataclass
class Ended:
    """A generator that has told what it was to tell; one that is under way ends when it is asked again."""

    log: Path
    code: int = 0
    under_way: int = 0
    ended: bool = False

    def wait(self, deadline_s: float) -> int | None:
        self.under_way -= 1
        return None if self.under_way >= 0 else self.code

    def end(self, deadline_s: float) -> None:
        self.ended = True

    def last_words(self, lines: int) -> str:
        return ""


@dataclass
class Ground:
    """Each order gets the next of these tellings: answers of each reading, or WRONG in the end. A request costs `cost_us`."""

    folder: Path
    told: Iterator[Sequence[int | str]]
    cost_us: Iterator[float] = field(default_factory=lambda: iter(()))
    under_way: int = 0
    driven: list[tuple[str, int, str, float, int]] = field(default_factory=list)
    """Path, connections, name, seconds and pause (ms) of each order."""
    all: list[Ended] = field(default_factory=list)
    stage: Any = field(default_factory=lambda: SimpleNamespace(placement=SimpleNamespace(service=(7,))))

    def drive(self, _: Any, asked: Target, connections: int, name: str, duration_s: float, pause_ms: int = 0) -> Ended:
        told = next(self.told)
        self.driven.append((asked.path, connections, name, duration_s, pause_ms))
        log = self.folder / f"{len(self.all)}.log"
        lines, cpu_s, before = [], 1.0, 0
        for number, each in enumerate(told):
            answers = before if isinstance(each, str) else each
            if answers > before:
                cpu_s += (answers - before) * next(self.cost_us, 100.0) / 1e6
            line = {"at_s": 10.0 + number / 4, "answers": answers, "service_cpu_s": cpu_s, "generator_cpu_s": 0.0, "opened": 1}
            lines.append(line | ({"wrong": each} if isinstance(each, str) else {}))
            before = answers
        log.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        self.all.append(Ended(log, 1 if isinstance(told[-1], str) else 0, self.under_way))
        return self.all[-1]


def ran(code: int | None = None) -> Any:
    """A started contender; `pinned` are the cores that it was given, one after the other."""
    pinned: list[Sequence[int]] = []
    return SimpleNamespace(process=SimpleNamespace(exit_code=code, pin=pinned.append), contender=SimpleNamespace(id="a"), pinned=pinned)


def mixture(folder: Path, steps: Sequence[Sequence[int]], most: int = 10, **ground: Any) -> tuple[_Mixture, Ground]:
    """`steps`: answers of each step, by endpoint."""
    told = iter([[0, answers, answers] for step in steps for answers in step])
    stands = Ground(folder, told, **ground)
    return _Mixture(stands, ran(), [PLAIN, WAITING][: len(steps[0])], most), stands  # type: ignore[arg-type]


def steps_of(mixed: _Mixture) -> int:
    """How many it takes until it has ended."""
    for number in range(1, 100):
        if mixed.ended(0.0):
            return number
    raise AssertionError("it does not end")


# --- what is asked --------------------------------------------------------------------------------------------------------


def test_every_endpoint_of_a_plan_is_asked_once_and_with_a_short_hold(registry: Registry) -> None:
    found = targets(list(registry.scenarios.values()))
    assert len({(each.method, each.path) for each in found}) == len(found)
    asked = {each.path for each in found}
    for scenario in registry.scenarios.values():
        assert (scenario.path if scenario.warm_path is None else scenario.warm_path) in asked
        assert {heavy.warm_path for heavy in scenario.heavy_requests} <= asked
        assert scenario.warm_path is None or scenario.path == scenario.warm_path or scenario.path not in asked


def test_a_body_is_compared_where_the_request_is_the_scenarios_own(registry: Registry) -> None:
    own = {generator.target(scenario) for scenario in registry.scenarios.values() if scenario.warm_path is None}
    compared = {each for each in targets(list(registry.scenarios.values())) if each.body}
    assert compared
    assert compared <= own


# --- steps ----------------------------------------------------------------------------------------------------------------


def test_the_rise_is_the_mean_over_the_endpoints_so_that_no_quick_one_hides_a_slow_one() -> None:
    assert risen([100, 100], [100, 100]) == 1.0
    assert risen([100_000, 100], [100_000, 200]) == pytest.approx(2**0.5)
    assert risen([100, 100], [200, 50]) == pytest.approx(1.0)
    assert risen([0, 10], [5, 10]) == pytest.approx(5**0.5)  # one that answered nothing yet
    assert risen([], []) == 1.0


def test_steps_go_on_while_answers_come_faster_and_end_with_the_first_that_is_no_faster(tmp_path: Path) -> None:
    mixed, ground = mixture(tmp_path, [(100, 10), (200, 20), (300, 30), (301, 30)])
    assert steps_of(mixed) == 4
    assert (mixed.rising, mixed.steps) == (False, [[100, 10], [200, 20], [300, 30], [301, 30]])
    assert ground.driven[:2] == [
        ("/hello", CONNECTIONS, "warm-0", STEP_S, PAUSE_MS), ("/sleep?ms=1", WAITING_CONNECTIONS, "warm-1", STEP_S, PAUSE_MS),
    ]  # fmt: skip


@pytest.mark.parametrize(("last", "goes_on"), [(RISING + 0.01, True), (RISING - 0.01, False), (0.5, False)])
def test_a_step_must_be_a_twentieth_faster_to_be_followed_by_another(tmp_path: Path, last: float, goes_on: bool) -> None:
    mixed, _ = mixture(tmp_path, [(1000,), (round(1000 * last),)])
    assert [mixed.ended(0.0) for _ in range(2)] == [False, not goes_on]


@pytest.mark.parametrize(("costs_us", "most"), [([300.0, 200.0, 150.0, 149.0], 4), ([100.0, 120.0], 2)])
def test_steps_go_on_while_a_request_becomes_cheaper_though_there_are_no_more_of_them(
    tmp_path: Path, costs_us: list[float], most: int
) -> None:
    mixed, _ = mixture(tmp_path, [(100,)] * len(costs_us), cost_us=iter(costs_us))
    assert (steps_of(mixed), mixed.rising) == (most, False)
    assert mixed.costs == pytest.approx([cost / 1e6 for cost in costs_us])


def test_one_step_says_nothing_of_a_rise(tmp_path: Path) -> None:
    mixed, _ = mixture(tmp_path, [(100,)] * LEAST_STEPS)
    assert steps_of(mixed) == LEAST_STEPS
    assert mixed.rising is False


def test_a_warm_up_that_reaches_its_cap_is_still_rising(tmp_path: Path) -> None:
    mixed, _ = mixture(tmp_path, [(2**number,) for number in range(8)], most=5)
    assert steps_of(mixed) == 5
    assert mixed.rising is True


def test_a_step_that_is_under_way_is_waited_for_and_not_begun_twice(tmp_path: Path) -> None:
    mixed, ground = mixture(tmp_path, [(100, 10), (100, 10)], under_way=1)
    assert (mixed.ended(0.0), mixed.steps, len(ground.driven)) == (False, [], 2)
    mixed.end()
    assert [each.ended for each in ground.all] == [True, True]


def test_a_wrong_answer_ends_the_warm_up_with_the_request_quoted(tmp_path: Path) -> None:
    mixed = _Mixture(Ground(tmp_path, iter([[0, 5, WRONG]])), ran(137), [PLAIN], 10)  # type: ignore[arg-type]
    with pytest.raises(Died, match=r"a did not answer as it must while it was warmed: asked 'GET /hello', got 'hallo'") as died:
        mixed.ended(0.0)
    assert died.value.exit_code == 137


# --- bursts ---------------------------------------------------------------------------------------------------------------


@pytest.fixture
def full(registry: Registry) -> FullCore:
    return next(each for each in registry.scenarios.values() if isinstance(each, FullCore))


def burst(folder: Path, costs: Sequence[float]) -> Ground:
    """Each burst has three readings 0.25 s apart, and its last answers after them; a half has 1000 answers at the next cost."""
    by_half = (cost for first, second in zip(costs[::2], costs[1::2], strict=True) for cost in (first, second, 7.0))
    return Ground(folder, iter([[0, 1000, 2000, 2001]] * 10), by_half)


def test_bursts_end_when_a_half_is_no_cheaper_than_the_one_before(tmp_path: Path, full: FullCore) -> None:
    ground = burst(tmp_path, [300.0, 200.0, 150.0, 120.0, 118.0, 117.0])
    assert bursts(ground, ran(), full) == [300.0, 200.0, 150.0, 120.0, 118.0, 117.0]  # type: ignore[arg-type]
    assert ground.driven == [(full.path, full.vus, f"burst-{number}", warming.BURST_S + warming.EVERY_S, 0) for number in range(3)]
    assert all(each.ended for each in ground.all)


def test_there_are_not_more_bursts_than_allowed_however_the_cost_falls(tmp_path: Path, full: FullCore) -> None:
    ground = burst(tmp_path, [1000.0 * 0.8**number for number in range(20)])
    assert len(bursts(ground, ran(), full)) == 2 * BURSTS  # type: ignore[arg-type]


def test_all_cores_are_a_services_until_its_bursts_are_over_or_have_failed(tmp_path: Path, full: FullCore) -> None:
    running = ran()
    bursts(burst(tmp_path, [100.0, 100.0]), running, full)  # type: ignore[arg-type]
    assert running.pinned == [warming.ALL_CORES, (7,)]
    ground = Ground(tmp_path, iter([[0, 5, WRONG]]))
    with pytest.raises(Died, match="got 'hallo'"):
        bursts(ground, running, full)  # type: ignore[arg-type]
    assert running.pinned == 2 * [warming.ALL_CORES, (7,)]
    assert all(each.ended for each in ground.all)
