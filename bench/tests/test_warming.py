"""How a service is warmed: what is asked, when a visit is the last one, and bursts. No service, no generator, no clock."""

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
from nsb.measure.warming import BURSTS, CONNECTIONS, PAUSE_MS, SHARE, STEP_S, VISIT_S, bursts, targets, warm
from nsb.records.starts import Visit
from nsb.registry.load import Registry
from nsb.registry.shapes import FullCore, OfRows, OpenRate

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

    def drive(self, _: Any, asked: Sequence[Target], connections: int, name: str, duration_s: float, pause_ms: int = 0) -> Ended:
        told = next(self.told)
        self.driven.append((asked[0].path, connections, name, duration_s, pause_ms))
        log = self.folder / f"{len(self.all)}.log"
        lines, cpu_s, before = [], 1.0, 0
        for number, each in enumerate(told):
            answers = before if isinstance(each, str) else each
            if answers > before:
                cpu_s += (answers - before) * next(self.cost_us, 100.0) / 1e6
            line = {
                "at_s": 10.0 + number / 4,
                "answers": answers,
                "service_cpu_s": cpu_s,
                "mean_answers": answers,
                "mean_service_cpu_s": cpu_s,
                "generator_cpu_s": 0.0,
                "opened": 1,
                "least_latency_s": 0.001,
                "answers_of": [answers],
                "odd": 0,
            }
            lines.append(line | ({"wrong": each} if isinstance(each, str) else {}))
            before = answers
        log.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        self.all.append(Ended(log, 1 if isinstance(told[-1], str) else 0, self.under_way))
        return self.all[-1]


def ran(code: int | None = None) -> Any:
    """A started contender; `pinned` are the cores that it was given, one after the other."""
    pinned: list[Sequence[int]] = []
    process = SimpleNamespace(exit_code=code, pin=pinned.append, tree=tuple)
    return SimpleNamespace(process=process, contender=SimpleNamespace(id="a"), pinned=pinned, age_s=2.0, warmed_us={})


@pytest.fixture(autouse=True)
def unasked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """/stats of nobody: how often it was asked."""
    asked: list[Any] = []
    monkeypatch.setattr(warming, "counted", asked.append)
    return asked


def warmed(folder: Path, costs: Sequence[float], rows: Sequence[FullCore] = (), cap_s: float = 1000.0) -> tuple[list[Visit], bool, Ground]:
    """`costs`: CPU µs per answer of each order in turn; all endpoints at once is one order, since only one is asked."""
    ground = Ground(folder, iter([[0, 100, 200]] * len(costs)), (cost for cost in costs for _ in range(2)))
    visits, rising = warm(ground, ran(), rows or [HELLO], cap_s)  # type: ignore[arg-type]
    return visits, rising, ground


HELLO = OpenRate(shape="rate", id="hello", why="", path="/hello", body="hello", rate=100, vus=10, headline="cpu")


def row(name: str, vus: int = 64) -> FullCore:
    return FullCore(shape="cost", id=name, why="", path="/hello", body="hello", vus=vus, competitors=0)


# --- what is asked --------------------------------------------------------------------------------------------------------


def test_every_endpoint_of_a_plan_is_asked_once_and_with_a_short_hold(registry: Registry) -> None:
    found = targets(list(registry.scenarios.values()))
    assert len({(each.method, each.path) for each in found}) == len(found)
    asked = {each.path for each in found}
    single = [each for each in registry.scenarios.values() if not isinstance(each, OfRows)]  # they ask what their cost rows ask
    for scenario in single:
        assert (scenario.path if scenario.warm_path is None else scenario.warm_path) in asked
        assert {heavy.warm_path for heavy in scenario.heavy_requests} <= asked
        assert scenario.warm_path is None or scenario.path == scenario.warm_path or scenario.path not in asked


def test_a_body_is_compared_where_the_request_is_the_scenarios_own(registry: Registry) -> None:
    own = {generator.target(scenario) for scenario in registry.scenarios.values() if scenario.warm_path is None}
    compared = {each for each in targets(list(registry.scenarios.values())) if each.body}
    assert compared
    assert compared <= own


# --- all endpoints at once --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("costs", "is_rising"),
    [
        ([100.0, 100.0], False),
        ([100.0, 130.0], False),
        ([300.0, 200.0, 150.0, 149.0], False),
        ([300.0, 200.0, 199.0], False),
    ],
)
def test_steps_go_on_while_a_request_becomes_cheaper(tmp_path: Path, costs: list[float], is_rising: bool) -> None:
    visits, rising, ground = warmed(tmp_path, costs)
    assert [visit.cost_us for visit in visits] == pytest.approx(costs)
    assert rising is is_rising
    assert ground.driven[0] == ("/hello", CONNECTIONS, "warm-0", STEP_S, PAUSE_MS)
    assert all(each.ended for each in ground.all)


def test_a_warm_up_that_reaches_its_cap_is_still_rising(tmp_path: Path) -> None:
    visits, rising, _ = warmed(tmp_path, [0.5**number for number in range(9)], cap_s=5 * STEP_S)
    assert (len(visits), rising) == (5, True)


def test_there_are_two_steps_however_short_the_cap_is(tmp_path: Path) -> None:
    visits, rising, _ = warmed(tmp_path, [100.0, 50.0], cap_s=0.1)
    assert (len(visits), rising) == (2, True)


def test_a_wrong_answer_ends_the_warm_up_with_the_request_quoted(tmp_path: Path) -> None:
    ground = Ground(tmp_path, iter([[0, 5, WRONG]]))
    with pytest.raises(Died, match=r"a did not answer as it must while it was warmed: asked 'GET /hello', got 'hallo'") as died:
        warm(ground, ran(137), [HELLO], 10.0)  # type: ignore[arg-type]
    assert died.value.exit_code == 137
    assert all(each.ended for each in ground.all)


# --- visits -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("costs", [[100.0, 99.0], [100.0, 90.0, 92.0]])
def test_what_does_not_compile_while_it_runs_gets_no_visits(tmp_path: Path, costs: list[float]) -> None:
    visits, rising, _ = warmed(tmp_path, costs, [row("a")])
    assert [visit.scenario for visit in visits] == [None] * len(costs)
    assert rising is False


def test_a_last_step_that_a_compiler_burdened_does_not_leave_a_jvm_cold(tmp_path: Path, unasked: list[Any]) -> None:
    """Seen in java-pt: 505, 229 and then 439 µs; it got no visits, and its first cell cost 31 µs where 18 is usual."""
    visits, _, _ = warmed(tmp_path, [505.0, 229.0, 439.0, *[20.0] * 5], [row("a")])
    assert [visit.scenario for visit in visits] == [None] * 3 + ["a"] * 5


def test_rows_are_visited_in_turn_with_few_connections_and_then_with_all(tmp_path: Path, unasked: list[Any]) -> None:
    a, b = row("a"), row("b", vus=512)
    steps, few, full = [300.0, 100.0, 100.0], [90.0, 80.0, 90.0, 50.0, 90.0, 50.0, 50.0], [95.0, 55.0, 95.0, 55.0]
    visits, rising, _ = warmed(tmp_path, [*steps, *few, *full], [a, b])
    told = [(visit.scenario, visit.connections) for visit in visits if visit.scenario]
    few_a, few_b = ("a", a.vus // SHARE), ("b", b.vus // SHARE)
    assert told == [few_a, few_b, few_a, few_b, few_a, few_b, few_b, ("a", a.vus), ("b", b.vus), ("a", a.vus), ("b", b.vus)]
    assert rising is False
    assert len(unasked) == len(told)  # /stats before each, as before a cell


def test_what_a_row_cost_when_its_warm_up_ended_is_kept(tmp_path: Path) -> None:
    running, costs = ran(), [300.0, 100.0, 100.0, *(90.0, 90.0, 90.0), *(70.0, 80.0)]
    ground = Ground(tmp_path, iter([[0, 100, 200]] * len(costs)), (cost for cost in costs for _ in range(2)))
    warm(ground, running, [row("a")], 1000.0)  # type: ignore[arg-type]
    assert running.warmed_us == {"a": pytest.approx(80.0)}


def test_a_row_that_never_gets_steady_ends_with_the_cap(tmp_path: Path) -> None:
    costs = [300.0, 100.0, 100.0, *(0.9**number for number in range(30))]
    visits, rising, _ = warmed(tmp_path, costs, [row("a")], cap_s=3 * STEP_S + 10 * VISIT_S)
    assert (len(visits), rising) == (3 + 10, True)


class Shares:
    """What compilers used in each visit or burst, one after the other."""

    def __init__(self, told: Sequence[float | None]) -> None:
        self._told = iter(told)

    def __call__(self, _: Any) -> Shares:
        return self

    def share(self) -> float | None:
        return next(self._told)


def test_a_row_that_costs_no_less_is_not_warm_while_compilers_are_at_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """java-pt cost 502, 487 and 508 µs, then some 330 with all connections, and half of that once its queue was empty."""
    steps, few, full = [3500.0, 1000.0, 1000.0], [502.0, 487.0, 508.0, 500.0, 210.0, 208.0, 209.0], [200.0, 201.0, 199.0]
    shares = [0.4, 0.7, 0.7, *(0.5, 0.5, 0.5, 0.3, 0.1, 0.0, 0.0), *(0.1, 0.15, 0.05)]
    monkeypatch.setattr(warming, "Compiling", Shares(shares))
    visits, rising, _ = warmed(tmp_path, [*steps, *few, *full], [row("a")])
    assert [(visit.scenario, visit.cost_us) for visit in visits if visit.scenario] == [("a", pytest.approx(cost)) for cost in (*few, *full)]
    assert [visit.compiling for visit in visits] == shares
    assert rising is False


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


def test_bursts_go_on_until_a_request_costs_about_what_it_did_when_it_was_warm(tmp_path: Path, full: FullCore) -> None:
    """node, after it was stopped for four minutes: 630 and 661 µs, then 500 in its cell, where its warm-up had ended at 196."""
    running = ran()
    costs = [630.0, 661.0, 500.0, 495.0, 260.0, 250.0, 240.0, 240.0]
    running.warmed_us[full.id] = 196.0
    assert bursts(burst(tmp_path, costs), running, full) == costs[:6]  # type: ignore[arg-type]
    running.warmed_us = {"another": 196.0}
    assert bursts(burst(tmp_path, costs), running, full) == costs[:2]  # type: ignore[arg-type]


def test_bursts_go_on_while_compilers_are_at_work(tmp_path: Path, full: FullCore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warming, "Compiling", Shares([0.4, 0.1]))
    assert len(bursts(burst(tmp_path, [100.0] * 8), ran(), full)) == 4  # type: ignore[arg-type]


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
