"""The second generator of runs until November 2026: its place in every output."""

from __future__ import annotations

import csv as csv_module
import io
from typing import Any

from rich.console import Console

from nsb.analyse import table
from nsb.records.judged import Cell, Half, SecondFigure
from nsb.render import csv, markdown, terminal, words

# --- the outputs -----------------------------------------------------------------------------------------------------

NAMES = ["java-vt", "java-pt", "java-webflux", "go", "rust", "python", "node"]


def cell(round_: int, contender: str, again: SecondFigure | None) -> Cell:
    halves = [Half(requests=8400, p50_ms=7.0, service_cpu_s=0.4), Half(requests=8600, p50_ms=7.0, service_cpu_s=0.4)]
    return Cell(
        round=round_, contender=contender, scenario="max", profile="1cpu", model="closed", status="censored", limit="generator",
        window_s=2.0, requests=17_000, throughput_rps=8500.0 + round_, reasons=["V6 held back by the generator"],
        halves=halves, second=again,
    )  # fmt: skip


def again(x: float = 81_300.0, **changes: Any) -> SecondFigure:
    halves = [Half(requests=int(x * 0.99), p50_ms=None, service_cpu_s=0.9), Half(requests=int(x * 1.01), p50_ms=None, service_cpu_s=0.9)]
    base: dict[str, Any] = {
        "tool": "oha 1.16.0", "status": "valid", "limit": "cpu", "window_s": 2.0, "requests": int(2 * x),
        "throughput_rps": x, "halves": halves,
    }  # fmt: skip
    return SecondFigure(**{**base, **changes})


def made(*cells: Cell, names: list[str] | None = None) -> table.Table:
    plan = {"tier": "standard", "profile": "1cpu", "rounds": 2, "contenders": names or ["go"], "scenarios": ["max"]}
    return table.make({"plan": {**plan, "headlines": {"max": "throughput"}, "models": {"max": "closed"}}}, cells)


def test_both_figures_are_shown_each_under_its_own_name() -> None:
    text = markdown.table_block(made(cell(1, "go", again(80_000.0)), cell(2, "go", again(82_000.0))))
    by_k6, by_oha = text.splitlines()[2:]
    assert by_k6.startswith("| **max**<br><sub>requests/s by k6</sub> | ≥8,501")
    assert "generator" in by_k6
    assert by_oha.startswith("| **max**<br><sub>requests/s by oha</sub> | 80,994<br><sub>±17% cpu</sub>")


def test_a_bound_and_a_doubt_of_its_own_keep_their_marks() -> None:
    found = made(cell(1, "go", again(status="censored", limit="generator", doubts=["V4 users"]))).entry("go", "max").second
    assert found is not None
    assert (words.figure(found), words.limit(found), words.spread(found)) == ("≥81,300?", "generator", "±1.0%")


def test_what_does_not_count_gives_no_number_and_is_told() -> None:
    one = made(cell(1, "go", again(status="invalid", reasons=["V7 others used 30% of the machine"])))
    assert "invalid" in markdown.table_block(one).splitlines()[3]
    assert "max · go by oha: V7 others used 30% of the machine" in words.doubts(one)


def test_rounds_that_do_not_count_are_shown() -> None:
    found = made(cell(1, "go", again()), cell(2, "go", again(status="failed", throughput_rps=None, reasons=["oha ended with 1"])))
    entry = found.entry("go", "max").second
    assert entry is not None
    assert words.spread(entry) == "±1.0% 1/2"
    assert words.figure(entry) == "81,300?"


def test_without_the_tool_there_is_no_row_and_the_reason_stands_below_the_table() -> None:
    one = made(cell(1, "go", SecondFigure(tool="oha", status="unsupported", reasons=["cargo 1.90 or newer: not found; install Rust"])))
    assert len(markdown.table_block(one).splitlines()) == 3
    assert "max was not measured again with oha: cargo 1.90 or newer: not found; install Rust" in words.legend(one)


def test_where_k6_was_not_the_limit_nothing_changes() -> None:
    one = made(cell(1, "go", None))
    assert words.rows(one, "max")[0][0] == "requests/s"
    assert not any("oha" in line for line in words.legend(one))


def test_the_terminal_table_stays_within_100_columns() -> None:
    figures = [again(status="censored", limit="generator", doubts=["V4 users"]), again(status="censored", limit="generator")]
    cells = [cell(n, name, figure) for name in NAMES for n, figure in enumerate(figures, 1) if name != "node"]
    screen = Console(width=200, file=io.StringIO(), color_system=None)
    screen.print(terminal.grid(made(*cells, names=NAMES), 100))
    assert isinstance(screen.file, io.StringIO)
    lines = screen.file.getvalue().splitlines()
    assert max(len(line.rstrip()) for line in lines) <= 100
    assert any("requests/s by oha" in line for line in lines)


def test_the_figure_has_columns_of_its_own() -> None:
    rows = list(csv_module.DictReader(io.StringIO(csv.text(made(cell(1, "go", again()), cell(1, "rust", None), names=["go", "rust"])))))
    assert (rows[0]["second_tool"], rows[0]["second_status"], rows[0]["second_rps"], rows[0]["second_limit"]) == (
        "oha 1.16.0",
        "valid",
        "81300.0",
        "cpu",
    )
    assert float(rows[0]["second_low"]) < 81_300 < float(rows[0]["second_high"])
    assert [rows[1][name] for name in rows[1] if name.startswith("second_")] == [""] * 6


def test_a_cell_carries_it_through_the_journal() -> None:
    one = cell(1, "go", again(status="censored", limit=None, reasons=["V6 no station was full"]))
    assert Cell.model_validate_json(one.line()) == one
