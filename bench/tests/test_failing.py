"""Cells with a fault: who was answered meanwhile, what stands against them, and how they are shown. No clock and no service."""

from __future__ import annotations

import re
import socket
from contextlib import AbstractContextManager
from types import SimpleNamespace
from typing import Any

import pytest

from conftest import recorded
from nsb.analyse import table as tables
from nsb.analyse.cells import judged, read_cells
from nsb.analyse.failing import failed
from nsb.analyse.physics import Impossible
from nsb.measure import failing
from nsb.measure.process import ProcessError
from nsb.records.cells import Record
from nsb.records.duet import Part
from nsb.records.failing import Failing, Side
from nsb.records.judged import Cell
from nsb.registry import plan as plans
from nsb.registry import shapes
from nsb.registry.load import Registry
from nsb.registry.terms import Fault
from nsb.render import failing as shown
from nsb.render import markdown, overload
from test_overload import edges, facts, tally

READS = Part(scenario="read", statements=1, writes=False, reads_a_row=True, calls=0, call_ms=0)
STRINGS = Part(scenario="hello", statements=0, writes=False, reads_a_row=False, calls=0, call_ms=0)


def side(good: int, back_ms: float = 20.0, **changes: Any) -> Side:
    """Of 1,250 users so many had an answer in time."""
    return Side(idle=tally(300, 300), quick_ms=6.0, users=tally(1250, good, back_ms=back_ms, **changes))


def observed(needing: Side | None = None, others: Side | None = None, **changes: Any) -> Failing:
    first, last = edges(1000.0)
    told: dict[str, Any] = {
        "fault": "database", "parts": [READS, STRINGS], "rate": 250.0, "connections": 2000, "give_up_ms": 2000, "hold_ms": 0,
        "fault_s": 5.0, "limit_s": 10.0, "needing": needing or side(125), "others": others or side(1250), "first": first, "last": last,
        "pss_mib": 60.0, "threads": 12, "cores": {"service": 1, "generator": 1, "machine": 2}, "counted": 3000, "executed": 3000,
        "called": None,
    }  # fmt: skip
    return Failing(**{**told, **changes})


def record(seen: Failing, contender: str = "go", round_: int = 1) -> Record:
    return recorded(contender, round_, "over", model="open", failing=seen)


def cell(seen: Failing) -> Cell:
    return judged(record(seen))


def test_the_headline_is_the_share_of_the_others_who_were_answered() -> None:
    found = cell(observed(others=side(1000)))
    assert (found.status, found.reasons, found.doubts) == ("valid", [], [])
    assert found.headline("served") == pytest.approx(80.0)
    assert found.failing is not None
    assert found.failing.needing.served == pytest.approx(10.0)
    assert found.failing.needing.kinds == {"gave up": 1125}
    assert (found.failing.needing.p99_ms, found.failing.needing.back_ms) == (None, 20.0)
    assert cell(observed()).failing.others.p99_ms == pytest.approx(0.9, rel=1 / 16)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("changes", "check", "says"),
    [
        ({"needing": side(125, wrong="asked X, got Y")}, "V1", "asked X, got Y"),
        ({"others": Side(idle=tally(300, 0), quick_ms=None, users=None)}, "V1", "before the fault nobody was answered of the others"),
        ({"counted": 10}, "V5", "the service counted 10 requests and answered 1987"),
        ({"executed": 7}, "V9", "the database executed 7 statements where it should be 431 at the least"),
        ({"called": -1}, "V9", "the upstream got -1 calls where it should be 0 at the least"),
    ],
)
def test_what_was_answered_was_done(changes: dict[str, Any], check: str, says: str) -> None:
    found = cell(observed(**changes))
    assert found.status == "invalid"
    assert any(reason.startswith(f"{check} ") and says in reason for reason in found.reasons), found.reasons


def test_a_late_generator_leaves_no_figure() -> None:
    found = cell(observed(others=side(1250, lag_p99_ms=250.0)))
    assert found.headline("served") is None
    assert found.doubts == ["V3 the generator was late (250.0 ms): no verdict rests on that"]


def test_a_figure_tells_how_many_rounds_it_has_and_nothing_below_five_of_six() -> None:
    def shown_with(late: int) -> list[str]:
        lags = [250.0 if n <= late else 0.2 for n in range(1, 7)]
        cells = [judged(record(observed(others=side(1250, lag_p99_ms=lag)), "go", n)) for n, lag in enumerate(lags, 1)]
        (grid,) = shown.grids(failed(cells, ["go"]))
        return grid.rows[0][2:5]

    assert [figure.endswith(" 5/6") for figure in shown_with(1)] == [True, True, False]
    assert [figure == "–" for figure in shown_with(2)] == [True, True, False]


def test_each_user_ended_in_one_way() -> None:
    line = record(observed(needing=side(125, gave_up=1))).line()
    with pytest.raises(Impossible, match=re.escape("1250 users came; 125 had an answer in time, 1 gave up")):
        read_cells([line.encode()])
    (found,) = read_cells([record(observed()).line().encode()])
    assert found.failing == cell(observed()).failing


def test_over_the_rounds_who_was_not_back_is_counted_and_all_is_in_a_table() -> None:
    cells = [judged(record(observed(needing=side(125, back_ms=-1.0 if n == 2 else 30.0)), "go", n)) for n in range(1, 7)]
    (told,) = failed(cells, ["go"])
    assert (told.needing.not_back, told.needing.back_ms) == (1, None)
    assert told.others.back_ms is not None
    (grid,) = shown.grids([told])
    assert len(grid.rows[0]) == 1 + len(grid.heads)
    assert ">10,000 (1)" in grid.rows[0]
    assert "6,750 gave up" in grid.rows[0]
    run = facts(["go"])
    run["plan"] |= {"headlines": {"over": "served"}, "models": {"over": "open"}, "rates": {"over": 250}}
    table = tables.make(run, cells)
    assert "| **over**<br><sub>% of the others served during the fault</sub> | 100" in markdown.table_block(table)
    heading, _, shown_grid = overload.section(shown.grids(table.failed), "failing")
    assert heading == "## Failures\n"
    assert ">10,000 (1)" in shown_grid


def test_a_fault_is_announced_and_comes_last(registry: Registry) -> None:
    found = [each for each in registry.scenarios.values() if isinstance(each, shapes.Failing)]
    assert {each.fault for each in found} == set(failing.FAULTS)
    for each in found:
        assert 10 < each.timing(registry.tiers["smoke"]).total_s < 20
        assert not each.tiers
        assert each.rows[1].statements == each.rows[1].upstream_calls == 0
    made = plans.make(registry, "smoke", ["go"], ["hello-rate", found[0].id, "cost-hello"], "1cpu", 1, 1)
    assert [slot.scenario.id for slot in made.slots(1)] == ["hello-rate", "cost-hello", found[0].id]


class Stopping:
    """A program that says what was done to it."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def freeze(self) -> None:
        self.told.append("freeze")

    def thaw(self) -> None:
        self.told.append("thaw")


@pytest.mark.parametrize("which", ["upstream", "database"])
def test_what_was_stopped_goes_on_whatever_happens(which: Fault) -> None:
    stopping = Stopping()
    stage: Any = SimpleNamespace(**{which: stopping})
    fault: AbstractContextManager[None] = failing.FAULTS[which](stage, SimpleNamespace())  # type: ignore[arg-type]

    def interrupted() -> None:
        with fault:
            assert stopping.told == ["freeze"]
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert stopping.told == ["freeze", "thaw"]


def test_a_service_that_takes_no_clients_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    running: Any = SimpleNamespace(base_url=f"http://127.0.0.1:{port}", contender=SimpleNamespace(id="go"))
    with (
        pytest.raises(ProcessError, match=r"^go took 0 of \d+ slow clients: .*refused"),
        failing.FAULTS["clients"](SimpleNamespace(), running),
    ):  # type: ignore[arg-type]
        pass


def test_slow_clients_send_half_of_a_request_and_leave() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=512) as server:
        running: Any = SimpleNamespace(base_url=f"http://127.0.0.1:{server.getsockname()[1]}")
        with failing.FAULTS["clients"](SimpleNamespace(), running):  # type: ignore[arg-type]
            one, _ = server.accept()
            sent = one.recv(1000)
            assert b"Content-Length: 100" in sent
            assert len(sent.partition(b"\r\n\r\n")[2]) < 100
        assert one.recv(1000) == b""
        one.close()
