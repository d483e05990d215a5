"""A record holds what was observed; the judged cell is derived from it when it is read."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from conftest import QUIET_TCP, closed_cell, open_cell, trend
from nsb.analyse import cells, validity
from nsb.analyse.cells import judged, observation, read_cells
from nsb.records.cells import Observed, Offered, Reading, Record, Stations, Stats, Window
from nsb.records.edge import Edge
from nsb.records.judged import Cell

ROLES = ("service", "generator", "database", "upstream", "harness")


def edge(at_s: float, share: float) -> Edge:
    """Counters of a machine of two cores: each role used `share` of a second for each second, the harness a hundredth."""
    cpu = {role: 5 + (0.01 if role == "harness" else share) * at_s for role in ROLES}
    return Edge(at_s, cpu, busy_s=50 + 5 * share * at_s, steal_s=1.0, tcp=dict.fromkeys(QUIET_TCP, 7))


def record(**changes: Any) -> Record:
    """1000/s for 2 s, everything in order; fields of Observed, Offered, Stations or Record bent by name."""
    load = open_cell().load
    window = Window(
        edge(100.0, 0.05), edge(101.0, 0.05), edge(102.0, 0.05), Stats(0, 0.0, 0), Stats(2000, 2.0, 0), ((90.0, 7), (91.0, 8), (92.0, 7)),
        connections=150, executed=None, peak_mib=93.26, clients=101, switched=4000,
    )  # fmt: skip
    parts: list[tuple[type[Any], dict[str, Any]]] = [
        (Offered, {
            "rate": 1000, "vus": 100, "clients": 100, "hold_s": 0.0, "holds": None, "calls": 1, "statements": 0, "window_s": 2.0,
            "ends": False, "levels": [], "levels_wanted": None, "holding": False, "rehearsal": False,
        }),
        (Stations, {
            "workers": 1, "pool": 150, "server_threads": None, "blocked_by": None, "waits_on_loop": False, "call_threads": None,
            "query_threads": None, "cores": {"service": 1, "generator": 1, "database": 1, "upstream": 1, "machine": 2},
            "shared": ["generator", "database", "upstream"], "database_known": True,
        }),
    ]  # fmt: skip
    offered, stations = (
        kind(**{**usual, **{name: value for name, value in changes.items() if name in kind.model_fields}}) for kind, usual in parts
    )
    seen: dict[str, Any] = {
        "offered": offered, "stations": stations, "window": window, "exit_code": 0, "load": load, "raw": "k6/a.json",
    }  # fmt: skip
    seen |= {name: value for name, value in changes.items() if name in Observed.model_fields}
    head: dict[str, Any] = {
        "round": 1, "contender": "a", "scenario": "s", "profile": "1cpu", "model": "open", "started_at": "2026-11-24T06:00:00+00:00",
        "wall_s": 4.2, "outcome": "measured",
    }  # fmt: skip
    return Record(**head, observed=Observed(**seen))


def test_a_line_is_what_was_observed_and_no_judgement() -> None:
    told = json.loads(record().line())
    assert told["schema"] == 2
    names: set[str] = set()

    def walk(value: object) -> None:
        if isinstance(value, dict):
            names.update(value)
            for each in value.values():
                walk(each)
        elif isinstance(value, list):
            for each in value:
                walk(each)

    walk(told)
    derived = {"status", "limit", "reasons", "doubts", "checks", "throughput_rps", "latency_ms", "cpu_us_per_request", "memory_slope"}
    assert not names & derived


def test_a_line_is_read_back_as_it_was() -> None:
    load = open_cell().load
    assert load is not None
    held = record(load=replace(load, still={0: trend(), 2: trend()}, began_ms=1.5, ended_ms=2001.5))
    assert Record.model_validate_json(held.line()) == held


def test_the_cell_has_the_figures_of_the_record() -> None:
    cell = judged(record())
    assert (cell.status, cell.limit, cell.reasons, cell.doubts) == ("valid", "offered", [], [])
    assert (cell.requests, cell.throughput_rps, cell.window_s) == (2000, 1000.0, 2.0)
    assert cell.cpu_us_per_request["service"] == pytest.approx(50.0)
    assert cell.cpu_s["foreign"] == pytest.approx(0.08)
    assert (cell.memory_peak_mib, cell.threads_peak, cell.switches_per_request) == (93.3, 8, 2.0)
    assert [half.service_cpu_s for half in cell.halves] == [0.05, 0.05]
    assert (cell.rate, cell.vus, cell.raw, cell.db_connections_peak) == (1000, 100, "k6/a.json", 150)


@pytest.mark.parametrize(("users", "has_latency"), [(400, True), (600, False)])
def test_users_who_queue_for_longer_than_the_window_have_no_latency(users: int, has_latency: bool) -> None:
    queued = record(load=closed_cell(400, users, 1.0).load, rate=None, vus=users, clients=users)
    cell = judged(queued.model_copy(update={"model": "closed"}))
    assert cell.throughput_rps == 200.0
    assert [value is not None for value in (cell.latency_ms.p50, cell.latency_ms.p90, cell.latency_ms.max)] == 3 * [has_latency]


def test_edges_that_were_read_late_do_not_make_a_request_dearer() -> None:
    late = record()
    assert late.observed is not None
    window = replace(late.observed.window, last=edge(103.0, 0.05))
    assert judged(record(window=window)).cpu_us_per_request["service"] == pytest.approx(50.0)


def test_a_better_rule_judges_an_old_line_again(monkeypatch: pytest.MonkeyPatch) -> None:
    line = record().line().encode()
    assert read_cells([line])[0].status == "valid"
    stricter = validity._check("V7", "invalid", "a rule that came later")
    monkeypatch.setattr(cells, "judge", lambda _: validity.Judgement("invalid", None, (stricter,)))
    (cell,) = read_cells([line])
    assert (cell.status, cell.reasons) == ("invalid", ["V7 a rule that came later"])


def test_a_judged_line_of_an_earlier_run_is_the_cell_that_it_is() -> None:
    old = Cell(round=1, contender="a", scenario="s", profile="1cpu", model="open", status="censored", limit="generator", reasons=["V6 x"])
    assert read_cells([old.line().encode(), record().line().encode()]) == [old, judged(record()).slim()]


@pytest.mark.parametrize("outcome", ["failed", "unsupported"])
def test_what_was_not_measured_says_why(outcome: Any) -> None:
    line = Record(
        round=2, contender="a", scenario="s", profile="1cpu", model="open", started_at="", outcome=outcome, why="it ended with 3"
    ).line()  # fmt: skip
    (cell,) = read_cells([line.encode()])
    assert (cell.status, cell.reasons, cell.round, cell.throughput_rps) == (outcome, ["it ended with 3"], 2, None)


@pytest.mark.parametrize("bent", [{"outcome": "failed"}, {"observed": None}, {"why": "it was late"}])
def test_a_record_is_measured_or_says_why_not(bent: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="no record"):
        read_cells([json.dumps({**json.loads(record().line()), **bent}).encode()])


def test_what_the_process_brings_with_it_is_told_in_each_of_its_cells() -> None:
    cell = judged(record(ended_before=137, levels=[0, 50], levels_wanted=10_000, holding=True, window=on_levels()))
    assert [doubt.split(":")[0] for doubt in cell.doubts if not doubt.startswith(("V1 ", "V6 "))] == [
        "restart", "up to 50 connections of 10,000",
    ]  # fmt: skip


def on_levels() -> Window:
    usual = record().observed
    assert usual is not None
    readings = [Reading(users=users, in_flight=users, pss_mib=90 + users * 0.1) for users in (0, 50) for _ in range(2)]
    return replace(usual.window, ladder=tuple(readings))


def test_a_load_that_ends_is_as_long_as_it_took() -> None:
    load = open_cell().load
    assert load is not None
    ended = record(ends=True, load=replace(load, began_ms=0.0, ended_ms=4000.0))
    assert observation(ended).window_s == 4.0
    assert judged(ended).metric("duration") == 4.0


def test_without_a_summary_the_last_words_of_the_generator_are_the_reason() -> None:
    cell = judged(record(load=None, exit_code=107, generator_said="no such file", raw=None))
    assert (cell.status, cell.reasons) == ("invalid", ["V1 k6 ended with 107", "k6 said: no such file"])
