"""What a round does with its contenders: every start is recorded, groups run one at a time, a ladder gets a fresh process.

The processes are real, the programs are fakes: no database, no load.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fakes.stage import Fakes
from nsb.measure import client, observing, running, warming
from nsb.measure.journal import read_starts_of
from nsb.measure.runner import Runner
from nsb.records.cells import Record, Window
from nsb.records.judged import Cell
from nsb.registry import plan as plans
from nsb.registry.shapes import ClosedUsers, FixedWork, MemoryLadder
from nsb.session import run as session
from nsb.session.runs import read_run

pytestmark = pytest.mark.slow
ASKS = 5
"""Of each order, by the fake generator."""
LADDER = MemoryLadder(
    shape="ladder", id="ladder", why="", path="/sleep", body="ok", levels=[1, 2], hold_ms=100
)  # fmt: skip


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[..., Fakes]]:
    monkeypatch.setattr(session, "must_be_fair", lambda *_: None)  # fakes say nothing of themselves that could be compared
    for fake in ("FAKE_K6", "FAKE_GENERATOR"):
        monkeypatch.delenv(fake, raising=False)
    for module, name in ((client, "STATS_S"), (observing, "LADDER_STATS_S")):
        monkeypatch.setattr(module, name, 30.0)  # an answer that comes late on a busy machine is one all the same
    stages: list[Fakes] = []

    def make(contenders: dict[str, str], **options: int) -> Fakes:
        stages.append(Fakes(tmp_path, contenders, **options))
        return stages[-1]

    yield make
    for stage in stages:
        stage.close()


def cells(fakes: Fakes) -> list[Cell]:
    fakes.journal.facts({"schema": 1})
    return read_run(fakes.journal.folder)[1]


def test_every_start_is_recorded_with_its_times_and_its_warm_up(made: Callable[..., Fakes]) -> None:
    fakes = made({"a": "", "b": ""}, rounds=2)
    fakes.measure()
    found = read_starts_of(fakes.journal.folder)
    assert sorted((start.round, start.contender) for start in found) == [(1, "a"), (1, "b"), (2, "a"), (2, "b")]
    for start in found:
        assert start.failure is None
        assert start.ready_s is not None
        assert start.pool_s is not None
        assert 0 < start.ready_s <= start.pool_s <= start.visits[0].began_s
        assert [(visit.scenario, visit.answers) for visit in start.visits] == 2 * [(None, ASKS)]
        assert not start.rising
        assert start.cpu_s is not None
        assert start.cpu_s > 0
        assert start.pss_mib is not None
        assert start.pss_mib > 1


def test_a_warm_up_that_ends_by_its_cap_says_that_requests_still_became_cheaper(
    made: Callable[..., Fakes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_GENERATOR", "cheaper")
    fakes = made({"a": ""})
    fakes.measure()
    (start,) = read_starts_of(fakes.journal.folder)
    assert fakes.plan.tier.warm_cap_s // warming.STEP_S == 3
    assert [visit.cost_us for visit in start.visits] == [100.0, 50.0, 25.0]
    assert start.rising


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("wrong", "a did not answer as it must while it was warmed: asked 'GET /hello', got 'hallo'"),
        ("silence", "the generator left no readings"),
    ],
)
def test_a_warm_up_that_goes_wrong_gives_no_cell_a_number_and_says_why(
    made: Callable[..., Fakes], monkeypatch: pytest.MonkeyPatch, wrong: str, why: str
) -> None:
    monkeypatch.setenv("FAKE_GENERATOR", wrong)
    fakes = made({"a": ""})
    fakes.measure()
    (start,) = read_starts_of(fakes.journal.folder)
    assert start.failure is not None
    assert start.failure.startswith(why)
    assert [(cell.status, cell.reasons) for cell in cells(fakes)] == [("failed", [start.failure])] * 2


def test_a_start_that_fails_is_recorded_with_its_reason(made: Callable[..., Fakes]) -> None:
    fakes = made({"a": "ends", "b": ""})
    fakes.measure()
    found = {start.contender: start for start in read_starts_of(fakes.journal.folder)}
    assert found["a"].failure is not None
    assert found["a"].failure.startswith("a ended with")
    assert found["a"].ready_s is None
    assert found["b"].failure is None


@pytest.mark.parametrize(("order", "most"), [("scenario", 2), ("contender", 1)])
def test_as_many_run_at_a_time_as_the_order_says(
    made: Callable[..., Fakes], monkeypatch: pytest.MonkeyPatch, order: plans.Order, most: int
) -> None:
    fakes = made({"a": "", "b": ""}, scenarios=2)
    fakes.plan = replace(fakes.plan, order=order)
    seen: list[tuple[str, list[str]]] = []
    measure = Runner.measure

    def measured(self: Runner, slot: plans.Slot, attempt: int = 1) -> Record:
        seen.append((slot.contender.id, [name for name, running in self._running.items() if running.process.exit_code is None]))
        return measure(self, slot, attempt)

    monkeypatch.setattr(Runner, "measure", measured)
    fakes.measure()
    assert [len(running) for _, running in seen] == [most] * 4
    assert all(name in running for name, running in seen)
    assert [(cell.contender, cell.counts) for cell in cells(fakes)] == [(slot.contender.id, True) for slot in fakes.plan.slots(1)]


def test_a_ladder_is_measured_again_on_a_fresh_process_and_other_cells_are_not(made: Callable[..., Fakes]) -> None:
    fakes = made({"a": ""})
    fakes.plan = replace(fakes.plan, scenarios=(*fakes.plan.scenarios, LADDER))
    fakes.measure()
    first, second, hello = cells(fakes)
    assert [(cell.scenario, cell.attempt) for cell in (first, second, hello)] == [("ladder", 1), ("ladder", 2), ("hello-1", 1)]
    # the fake has never anything in flight
    assert first.status == second.status == "invalid"
    assert "fewer than two numbers in flight" in first.reasons[0]
    assert [(reading.users, reading.in_flight) for reading in first.ladder] == [(1, 0), (1, 0), (2, 0), (2, 0)]
    assert all(reading.pss_mib > 1 for reading in first.ladder)
    assert first.memory_slope is None
    assert hello.counts
    assert not any(doubt.startswith("restart") for doubt in (*second.doubts, *hello.doubts))
    assert [start.ladder for start in read_starts_of(fakes.journal.folder)] == ["ladder", "ladder", None]


def test_a_ladder_that_comes_after_another_load_gets_a_fresh_process(made: Callable[..., Fakes], monkeypatch: pytest.MonkeyPatch) -> None:
    fakes = made({"a": ""})
    fakes.plan = replace(fakes.plan, scenarios=(*fakes.plan.scenarios, LADDER))
    contender = fakes.plan.contenders[0]
    late = [plans.Slot(1, contender, scenario) for scenario in fakes.plan.scenarios]
    monkeypatch.setattr(session, "missing", lambda *_: [(slot, 1) for slot in late])
    fakes.measure()
    assert [cell.scenario for cell in cells(fakes)] == ["hello-1", "ladder", "ladder"]
    assert [start.ladder for start in read_starts_of(fakes.journal.folder)] == ["ladder", None, "ladder", "ladder"]


def test_a_whole_load_is_measured_to_its_last_answer_and_not_to_the_end_of_k6(
    made: Callable[..., Fakes], monkeypatch: pytest.MonkeyPatch
) -> None:
    fakes = made({"a": ""})
    burst = FixedWork(
        shape="fixed-work", id="burst", why="", path="/hello", body="ok", vus=2, hold_ms=100, headline="throughput", requests=40
    )
    fakes.plan = replace(fakes.plan, scenarios=(burst,))
    windows: list[Window] = []
    ends: list[float] = []
    until = Window.until

    def seen(self: Window, at_s: float) -> Window:
        ends.append(at_s)
        windows.extend((self, found := until(self, at_s)))
        return found

    monkeypatch.setattr(Window, "until", seen)
    fakes.measure()
    whole, cut = windows
    (cell,) = cells(fakes)
    assert (cell.whole, cell.window_s, cell.metric("duration")) == (True, 0.4, 0.4)
    assert cell.throughput_rps == pytest.approx(cell.requests / 0.4)
    assert whole.first == cut.first
    assert whole.first.at_s < cut.last.at_s < whole.last.at_s  # k6 went on for as long again
    assert (
        cut.last.at_s >= ends[0] > max((edge.at_s for edge in whole.later if edge.at_s < cut.last.at_s), default=0.0)
    )  # the first after the last answer
    assert cut.used(None)["service"] == cut.last.cpu["service"] - cut.first.cpu["service"]


@pytest.mark.parametrize("contender", [("a", "{heap}"), ("a", "")])
def test_a_jvm_is_started_again_for_the_heap_of_a_scenario(made: Callable[..., Fakes], contender: tuple[str, str]) -> None:
    fakes = made({"a": ""})
    own = fakes.plan.contenders[0]
    own = own.model_copy(update={"run": [*own.run, contender[1]]})
    usual = fakes.plan.scenarios[0]
    large = usual.model_copy(update={"id": "large", "heap_mib": 4096})
    fakes.plan = replace(fakes.plan, contenders=(own,), scenarios=(large, usual))
    started: list[int] = []
    begin = Runner._begin
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Runner, "_begin", lambda self, who, *rest: (started.append(who.heap_mib), begin(self, who, *rest))[1])
        fakes.measure()
    assert started == ([1024, 4096] if contender[1] else [1024])
    assert [cell.scenario for cell in cells(fakes) if cell.counts] == [usual.id, "large"]  # the usual heap first


@pytest.mark.parametrize(("blocked_by", "holds", "patience_s"), [("carriers", "pool", 35.0), (None, "pool", 5.0), ("loop", None, 5.0)])
def test_a_service_whose_workers_may_be_blocked_is_given_time_to_serve_what_is_queued(
    made: Callable[..., Fakes], monkeypatch: pytest.MonkeyPatch, blocked_by: Any, holds: Any, patience_s: float
) -> None:
    fakes = made({"a": ""})
    slow = ClosedUsers(shape="users", id="slow", why="", path="/hello", body="ok", vus=300, hold_ms=100, holds=holds, headline="throughput")
    contender = fakes.plan.contenders[0].model_copy(update={"blocked_by": blocked_by})
    fakes.plan = replace(fakes.plan, scenarios=(slow,), contenders=(contender,))
    waited: list[float] = []
    monkeypatch.setattr(running, "drain", lambda _, deadline_s: waited.append(deadline_s) or True)
    fakes.measure()
    assert waited[0] == patience_s
