"""Context switches: read before an edge, not after it; and as a table: which cells it tells of, and what it leaves out."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from nsb.analyse.table import Table, make
from nsb.measure import meter, observing
from nsb.records.cells import Reading
from nsb.records.judged import Cell
from nsb.render import switches

PLAN = {
    "tier": "standard", "profile": "1cpu", "rounds": 3, "contenders": ["go", "rust", "go-twin"], "controls": {"go-twin": {"of": "go"}},
    "scenarios": ["rate", "max", "ladder"], "headlines": {"rate": "p50", "max": "throughput", "ladder": "memory"},
    "models": {"rate": "open", "max": "closed", "ladder": "open"},
}  # fmt: skip


def cell(round_: int, contender: str, a_request: float | None, scenario: str = "rate", status: str = "valid", **more: Any) -> Cell:
    facts = {"round": round_, "contender": contender, "scenario": scenario, "profile": "1cpu", "model": PLAN["models"][scenario]}  # type: ignore[index]
    return Cell.model_validate({**facts, "status": status, "switches_per_request": a_request, **more})


def made(cells: list[Cell]) -> Table:
    return make({"plan": PLAN}, cells)


def test_each_rate_is_a_row_with_the_middle_and_the_range_of_its_rounds() -> None:
    table = made([cell(n, name, base * n) for n in (1, 2, 3) for name, base in (("go", 2.0), ("rust", 1.0), ("go-twin", 2.0))])
    assert switches.rows(table) == [("rate", ["4.00 (2.00–6.00)", "2.00 (1.00–3.00)"])]
    heading, _, grid = switches.section(table)
    assert heading == "## Context switches for each request\n"
    assert grid.splitlines()[0] == "| | go | rust |"


def test_a_figure_with_doubts_in_a_third_of_its_rounds_is_marked() -> None:
    doubted = {1: ["V8 unsteady"], 2: [], 3: []}
    table = made([cell(n, "go", 3.0, doubts=doubted[n]) for n in doubted] + [cell(n, "rust", 1.0) for n in doubted])
    assert switches.rows(table) == [("rate", ["3.00? (3.00–3.00)", "1.00 (1.00–1.00)"])]


@pytest.mark.parametrize(
    "left_out",
    [
        {"status": "invalid"},
        {"status": "censored"},
        {"scenario": "max"},
        {"scenario": "ladder", "ladder": [Reading(users=0, in_flight=0, pss_mib=10.0)]},
        {"a_request": None},
    ],
    ids=str,
)
def test_what_does_not_compare_or_was_not_counted_is_not_told(left_out: dict[str, Any]) -> None:
    other = [cell(n, "go", **{"a_request": 9.0, **left_out}) for n in (1, 2, 3)]
    assert switches.section(made(other)) == []
    with_rust = made(other + [cell(n, "rust", 1.0) for n in (1, 2, 3)])
    assert switches.rows(with_rust) == [("rate", ["–", "1.00 (1.00–1.00)"])]


def test_one_round_shows_no_spread_and_gives_no_figure() -> None:
    assert switches.section(made([cell(1, "go", 3.0), cell(1, "rust", 2.0)])) == []


def test_pinning_events_are_counts_of_the_cells_that_count_whatever_held_them_back() -> None:
    counted = [cell(n, "go", None, "max", "censored", pinnings=40 + n) for n in (1, 2, 3)]
    none = [cell(n, "rust", None, "max", pinnings=0) for n in (1, 2)]
    lost = [cell(3, "rust", None, "max", "invalid", pinnings=7), cell(3, "go-twin", None, "max", pinnings=5)]
    table = made(counted + none + lost)
    assert switches.pinned(table) == [("max", ["42 (41–43)", "0 (0–0)"])]
    heading, hint, grid = switches.section(table)
    assert heading == "## Pinning, as the JVM counts it\n"
    assert "a native call does not try" in hint
    assert grid.splitlines()[-1] == "| max | 42 (41–43) | 0 (0–0) |"


def test_a_runtime_that_was_not_asked_or_asked_once_has_no_events_to_tell() -> None:
    assert switches.section(made([cell(1, "go", None, "max", pinnings=3), cell(1, "rust", None, "max")])) == []


# --- when they are read -----------------------------------------------------------------------------------------------------------


class Clock:
    """Time that passes only where somebody waits or reads."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def time(self) -> float:
        return self.now_s

    monotonic = time

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds


def test_a_reading_of_many_threads_is_over_when_the_edge_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, read_at = Clock(), []

    def read() -> dict[tuple[int, int], int]:
        read_at.append(clock.now_s)
        clock.sleep(0.1)
        return {(1, thread): thread for thread in range(3000)}

    monkeypatch.setattr(meter, "time", clock)
    gauge = SimpleNamespace(switches=read)
    reads = meter.Meter(
        SimpleNamespace(database_gauge=lambda: None, upstream=SimpleNamespace(gauge=lambda: None)),  # type: ignore[arg-type]
        SimpleNamespace(process=SimpleNamespace(gauge=lambda: gauge)),  # type: ignore[arg-type]
        [],
    )
    for edge_s in (102.0, 106.0):
        assert reads.switches_until(edge_s) is not None
        assert read_at[-1] < clock.now_s < edge_s
        assert edge_s - read_at[-1] == pytest.approx(meter.SWITCHES_SLACK * 0.1)
    assert len(read_at) == 3, "the first is timed, to know how long one takes"


def test_a_thread_that_came_counts_and_one_that_went_does_not() -> None:
    before, after = {(1, 1): 10, (1, 2): 7}, {(1, 1): 15, (1, 3): 4}
    assert observing._switched(before, after) == 5 + 4
    assert observing._switched(None, after) is None
    assert observing._switched(before, None) is None
