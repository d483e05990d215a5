"""Context switches as a table: which cells it tells of, and what it leaves out."""

from __future__ import annotations

from typing import Any

import pytest

from nsb.analysis.table import Table, make
from nsb.model import Cell, Reading
from nsb.report import switches

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
