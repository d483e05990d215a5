"""The table: which rounds count, which marks a figure carries, and what is never printed."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from nsb.analyse import table
from nsb.records.judged import Cell, Half, Latency
from nsb.render import charts_points, terminal, words

RUN: dict[str, Any] = {
    "plan": {
        "tier": "standard", "profile": "1cpu", "rounds": 2, "contenders": ["a"], "scenarios": ["max"],
        "headlines": {"max": "throughput"}, "models": {"max": "closed"},
    }
}  # fmt: skip


def cell(round_: int = 1, x: float = 100.0, status: str = "valid", **more: Any) -> Cell:
    data: dict[str, Any] = {
        "round": round_, "contender": "a", "scenario": "max", "profile": "1cpu", "model": "closed", "status": status,
        "window_s": 2.0, "requests": int(x * 2), "throughput_rps": x, "limit": "cpu",
        "latency_ms": Latency(p50=1.0, p90=2.0, p99=None, max=3.0),
        "halves": [Half(requests=int(x), p50_ms=1.0, service_cpu_s=0.1), Half(requests=int(x), p50_ms=1.0, service_cpu_s=0.1)],
    }  # fmt: skip
    return Cell(**{**data, **more})


def entry(*cells: Cell) -> table.Entry:
    return table.make(RUN, cells).entry("a", "max")


def test_valid_rounds_give_a_mean_with_an_interval() -> None:
    found = entry(cell(1, 100.0), cell(2, 121.0))
    assert found.figure is not None
    assert found.figure.value == pytest.approx(110.0)
    assert found.figure.spread == "interval"
    assert found.figure.low < 100 < 121 < found.figure.high  # type: ignore[operator]


def test_invalid_rounds_leave_the_statistics_and_say_why() -> None:
    found = entry(cell(1, 100.0), cell(2, 5000.0, "invalid", reasons=["V7 noise"]))
    assert found.figure is not None
    assert (found.figure.value, found.figure.rounds, found.rounds_valid, found.rounds_measured) == (pytest.approx(100.0), 1, 1, 2)
    assert found.doubts == ["1 of 2 rounds not counted: V7 noise"]
    more = entry(
        cell(1), cell(2, 1.0, "invalid", reasons=["V7 noise", "V1 3 failures"]), cell(3, 1.0, "failed", reasons=["V1 12 failures"])
    )
    assert more.doubts == ["2 of 3 rounds not counted: V7 noise (1 of 2 rounds), V1 3 failures (2 of 2 rounds)"]


def test_bounds_do_not_mix_with_values() -> None:
    found = entry(cell(1, 100.0), cell(2, 900.0, "censored"))
    assert found.doubts == ["1 of 2 rounds gave a bound only: not in the figure"]
    assert found.status == "valid"
    assert found.figure is not None
    assert found.figure.value == pytest.approx(100.0)


def test_a_value_among_many_bounds_is_not_the_figure() -> None:
    rounds = [cell(1, 100.0, limit="cpu"), *(cell(n, 900.0, "censored", limit="generator") for n in (2, 3))]
    found = entry(*rounds)
    assert found.doubts == ["1 of 3 rounds gave a value: not in the figure"]
    assert (found.status, found.limit, found.rounds_valid, found.rounds_censored, found.doubtful) == ("censored", "generator", 1, 2, True)
    assert found.figure is not None
    assert (found.figure.value, found.figure.rounds) == (pytest.approx(900.0), 2)


def test_a_tail_in_which_the_generator_was_late_is_no_headline() -> None:
    run = {"plan": {**RUN["plan"], "headlines": {"max": "p99"}, "models": {"max": "open"}}}

    def tails(*doubts: list[str]) -> table.Entry:
        tail = Latency(p50=1.0, p90=2.0, p99=90.0, max=95.0)
        return table.make(run, [cell(n, latency_ms=tail, model="open", doubts=each) for n, each in enumerate(doubts, 1)]).entry("a", "max")

    found = tails([], [], ["V3 k6 was late by 20 ms (p99): p90 and p99 are no figures of the service"])
    assert found.figure is not None
    assert (found.figure.value, found.figure.rounds, found.scheduled) == (pytest.approx(90.0), 2, True)
    assert tails([]).figure is None  # one round has no spread of a tail


def test_the_spread_of_a_single_value_is_that_of_its_own_round() -> None:
    run = {"plan": {**RUN["plan"], "headlines": {"max": "p99"}, "models": {"max": "open"}}}

    def tail(round_: int, p99: float, halves: tuple[float, float], *doubts: str) -> Cell:
        found = [Half(requests=10, p50_ms=1.0, p99_ms=each, service_cpu_s=0.0) for each in halves]
        return cell(round_, latency_ms=Latency(p50=1.0, p90=2.0, p99=p99, max=95.0), model="open", halves=found, doubts=list(doubts))

    late = "V3 k6 was late by 20 ms (p99): p90 and p99 are no figures of the service"
    figure = table.make(run, [tail(1, 85.0, (80.0, 90.0), late), tail(2, 12.0, (11.0, 13.0))]).entry("a", "max").figure
    assert figure is not None
    assert figure.value == pytest.approx(12.0)
    assert figure.low > 5  # type: ignore[operator]
    assert figure.high < 20  # type: ignore[operator]


def test_one_round_of_a_whole_load_has_no_spread_and_so_no_figure() -> None:
    assert entry(cell(1, whole=True)).figure is None
    assert entry(cell(1, whole=True), cell(2, whole=True)).figure is not None


def test_what_was_not_asked_is_neither_missing_nor_shown() -> None:
    run = {"plan": {**RUN["plan"], "contenders": ["a", "b", "c"], "asked": {"max": ["a", "c"]}}}
    made = table.make(run, [cell()])
    assert [made.entry(name, "max").status for name in ("a", "b", "c")] == ["valid", "not asked", "missing"]
    assert [words.figure(made.entry(name, "max")) for name in ("b", "c")] == ["", "missing"]
    assert [dot.contender for dot in charts_points.dots(made, "max")[1]] == ["a", "c"]


@pytest.mark.parametrize(("width", "tables"), [(40, 10), (100, 4), (500, 1)])
def test_a_table_of_many_contenders_is_cut_into_some_that_can_be_read(width: int, tables: int) -> None:
    names = [f"a-contender-with-a-name-{n}" for n in range(10)]
    asked = {"max": names, "few": names[-1:]}
    plan = {**RUN["plan"], "contenders": names, "scenarios": ["max", "few"], "asked": asked}
    run = {"plan": {**plan, "headlines": dict.fromkeys(asked, "throughput"), "models": dict.fromkeys(asked, "closed")}}
    cells = [cell(n, contender=name, scenario=scenario) for n in (1, 2) for scenario in asked for name in asked[scenario]]
    screen = Console(width=width, file=io.StringIO())
    screen.print(terminal.grid(table.make(run, cells), width))
    shown = screen.file.getvalue()  # type: ignore[attr-defined]
    assert all(name in shown for name in names)
    assert "…" not in shown
    lines = shown.splitlines()
    assert sum(line.startswith("scenario") for line in lines) == tables
    assert sum(line.startswith("max") for line in lines) == tables
    assert sum(line.startswith("few") for line in lines) == 1


def test_a_second_attempt_replaces_the_first() -> None:
    found = entry(cell(1, 7.0, "invalid"), cell(1, 100.0, attempt=2))
    assert (found.rounds_measured, found.rounds_valid) == (1, 1)


@pytest.mark.parametrize("status", ["invalid", "failed", "unsupported"])
def test_what_does_not_count_gets_no_number(status: str) -> None:
    found = entry(cell(1, 100.0, status, reasons=["V1 why"]))
    assert found.figure is None
    assert words.figure(found) == status
    assert found.reasons == ["V1 why"]


def test_a_missing_cell_is_named() -> None:
    assert words.figure(entry()) == "missing"


def test_marks() -> None:
    assert words.figure(entry(cell())) == "100"
    assert words.figure(entry(cell(doubts=["V8 unsteady"]))) == "100?"
    assert words.figure(entry(cell(status="censored", limit="generator"))) == "≥100"
    assert words.limit(entry(cell())) == "cpu"


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (12345.6, "12,346"),
        (99.96, "100.0"),
        (3.0, "3.00"),
        (0.1, "0.10"),
        (0.0671, "0.067"),
        (0.00674, "0.0067"),
        (-0.00049, "−0.0005"),
        (-0.00001, "0.00"),
        (-2.5, "−2.50"),
    ],
)
def test_small_numbers_keep_two_digits_and_nothing_is_minus_nothing(value: float, says: str) -> None:
    assert words.signed(value) == says


def test_no_number_without_spread() -> None:
    assert entry(cell(halves=[])).figure is None


def test_one_round_shows_the_spread_of_its_halves() -> None:
    halves = [Half(requests=90, p50_ms=1.0, service_cpu_s=0.1), Half(requests=110, p50_ms=1.0, service_cpu_s=0.1)]
    found = entry(cell(halves=halves))
    assert found.figure is not None
    assert (found.figure.spread, words.spread(found)) == ("halves", "±10%")


@pytest.mark.parametrize(
    ("headline", "p99s", "spread"),
    [("p50", (None, None), "±1 ms"), ("p99", (90.0, 110.0), "±10 ms"), ("p99", (90.0, None), None)],
)
def test_one_round_of_a_latency_has_the_spread_of_the_same_percentile(
    headline: str, p99s: tuple[float | None, float | None], spread: str | None
) -> None:
    run = {"plan": {**RUN["plan"], "models": {"max": "open"}, "headlines": {"max": headline}}}
    halves = [Half(requests=750, p50_ms=p50, p99_ms=p99, service_cpu_s=0.1) for p50, p99 in zip((1.0, 1.01), p99s, strict=True)]
    one = cell(1, 600.0, model="open", halves=halves, latency_ms=Latency(p50=1.0, p90=2.0, p99=100.0, max=101.0))
    found = table.make(run, [one]).entry("a", "max")
    assert (None if found.figure is None else words.spread(found)) == spread


def test_a_rate_that_was_not_sustained_shows_what_it_reached() -> None:
    run = {"plan": {**RUN["plan"], "models": {"max": "open"}, "headlines": {"max": "p50"}}}
    found = table.make(run, [cell(1, 98.0, "censored", model="open", limit="loop")]).entry("a", "max")
    assert (found.headline, words.figure(found), words.limit(found)) == ("throughput", "98.0/s†", "loop")


def test_rounds_that_do_not_count_are_shown_beside_the_figure() -> None:
    found = entry(cell(1, 100.0), cell(2, 5000.0, "invalid", reasons=["V7 noise"]))
    assert words.spread(found).endswith("1/2")
    assert words.figure(found) == "100?"


def test_who_was_left_out_stands_below_the_table() -> None:
    made = table.make({**RUN, "left_out": {"b": "no such tool"}}, [cell()])
    assert "Left out: b: no such tool" in words.legend(made)


def test_a_control_has_entries_and_no_column() -> None:
    run = {"plan": {**RUN["plan"], "contenders": ["a", "a-twin"], "controls": {"a-twin": {"kind": "twin", "of": "a"}}}}
    made = table.make(run, [cell(), cell(contender="a-twin", x=101.0)])
    assert made.contenders == ["a"]
    assert made.entry("a-twin", "max").figure is not None


def test_latency_from_a_schedule_is_never_shown_finer_than_its_clock() -> None:
    run = {"plan": {**RUN["plan"], "models": {"max": "open"}, "headlines": {"max": "p50"}}}

    def waited(*ms: float) -> table.Table:
        latencies = [Latency(p50=each, p90=each, p99=None, max=each) for each in ms]
        return table.make(run, [cell(r, model="open", latency_ms=latency) for r, latency in enumerate(latencies, 1)])

    exact, spread = waited(1001.0, 1001.0), waited(900.0, 1100.0)
    assert words.spread(exact.entry("a", "max")) == "±1 ms"
    assert float(words.spread(spread.entry("a", "max")).strip("± ms")) > 200
    assert any("resolve 1 ms" in line for line in words.legend(exact))
    assert not any("resolve 1 ms" in line for line in words.legend(table.make(RUN, [cell()])))


def test_a_cell_without_a_figure_sends_to_its_doubts() -> None:
    run = {"plan": {**RUN["plan"], "models": {"max": "open"}, "headlines": {"max": "p99"}}}

    def doubted(doubt: str) -> table.Table:
        tail = Latency(p50=1.0, p90=2.0, p99=5.0, max=9.0)
        return table.make(run, [cell(r, model="open", requests=2000, latency_ms=tail, doubts=[doubt]) for r in (1, 2)])

    late, stolen = doubted("V3 k6 was late by 7 ms (p99)"), doubted("V7 steal")
    assert words.figure(late.entry("a", "max")) == "no figure"
    assert any("no figure: the doubts of the cell" in line for line in words.legend(late))
    assert not any("no figure" in line for line in words.legend(stolen))


def test_peaks_are_the_highest_of_each_round_and_have_a_spread_or_are_not_printed() -> None:
    def peaks(*cells: Cell) -> table.Footprint:
        return table.make(RUN, cells).footprints[0]

    rounds = [cell(1, memory_peak_mib=10.0, threads_peak=4), cell(2, memory_peak_mib=14.0, threads_peak=4)]
    found = peaks(*rounds)
    assert words.span(found.memory_mib) == "12.0 (10.0–14.0)"
    assert words.span(found.threads) == "4.00 (4.00–4.00)"
    assert found.db_connections is None
    assert peaks(rounds[0]).memory_mib is None
    assert peaks(*rounds, cell(3, status="invalid", memory_peak_mib=900.0)) == found


def test_a_figure_is_marked_from_a_third_of_its_rounds_on_and_every_doubt_is_listed() -> None:
    def seen(doubted: int) -> table.Entry:
        return entry(*(cell(r, doubts=["V8 unsteady"] if r <= doubted else []) for r in range(1, 7)))

    assert words.figure(seen(1)) == "100"
    assert seen(1).doubts == ["V8 unsteady (1 of 6 rounds)"]
    assert entry(cell(1, doubts=["V6 a", "V6 b: 1.2%", "V7 c"]), cell(2, doubts=["V6 b: +13%"])).doubts == [
        "V6 a (1 of 2 rounds)",
        "V6 b: 1.2% (2 of 2 rounds)",
        "V7 c (1 of 2 rounds)",
    ]
    assert words.figure(seen(2)) == "100?"
