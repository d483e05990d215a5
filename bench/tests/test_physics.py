"""A record that was altered with its chain computed again is still found where it contradicts itself, its raw summary, or a clock."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import trend
from nsb.analyse import duet
from nsb.analyse.cells import read_cells
from nsb.analyse.physics import UNKNOWN, Given, Impossible
from nsb.measure.integrity import Altered
from nsb.measure.journal import Journal
from nsb.records.judged import Cell, Check, Half, Latency
from nsb.records.summary import Load
from nsb.session.runs import read_run
from test_cells import record
from test_duet import EVERY, WINDOWS, cell_of
from test_duet import record as duet_record
from test_journal import run_json

HOLD = Given(holds_ms={"s": 1000.0})


def refused(line: str, given: Given = UNKNOWN) -> str:
    """Behind the line's number, scenario and contender."""
    with pytest.raises(Impossible) as found:
        read_cells([record().line().encode(), line.encode()], given)
    told = str(found.value)
    assert told.startswith("cells.jsonl, line 2, (")
    return told.split(" cannot be: ")[1]


def bent(line: str, change: Callable[[dict[str, Any]], Any]) -> str:
    told = json.loads(line)
    change(told)
    return json.dumps(told)


# --- a cell under k6, as observed ---


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda w: w["last"]["cpu"].update(service=7.0), "CPU of service goes from 10.05 to 7.0 s: it only grows"),
        (lambda w: w["last"].update(busy_s=1.0), "CPU of the machine goes from 75.25 to 1.0 s: it only grows"),
        (lambda w: w["last"]["tcp"].update(OutSegs=3), "OutSegs goes from 7 to 3: it only grows"),
        (lambda w: w["last"].update(at_s=100.5), "an edge at 100.5 follows one at 101.0"),
        (lambda w: w["last"]["cpu"].update(service=15.0), "5.110 s of CPU were used in 1.000 s by 2 cores"),
        (lambda w: w.update(executed=-4), "executed is -4: a count is not below 0"),
    ],
)
def test_counters_only_grow_and_cores_have_so_much(change: Callable[[dict[str, Any]], Any], sentence: str) -> None:
    assert refused(bent(record().line(), lambda told: change(told["observed"]["window"]))) == sentence


def test_what_the_machine_used_falls_a_little_where_its_cores_are_idle() -> None:
    def idle(fallen_s: float) -> str:
        def change(told: dict[str, Any]) -> None:
            window = told["observed"]["window"]
            window["last"]["busy_s"] = window["middle"]["busy_s"] - fallen_s

        return bent(record().line(), change)

    read_cells([idle(0.19).encode()], UNKNOWN)
    assert "CPU of the machine goes from" in refused(idle(0.21))


def usual() -> Load:
    load = record().observed.load  # type: ignore[union-attr]
    assert load is not None
    return load


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"latency": replace(trend(), p50=5.0)}, "latency: a quantile of 5.0 ms comes before one of 1.0 ms"),
        ({"requests": 1500}, "2000 latencies of 1500 requests"),
        ({"halves": (trend(1000), trend(900))}, "the halves have 1900 latencies, the window 2000"),
        ({"wrong": 41}, "41 of 40 bodies checked were wrong"),
        ({"sent_all": 2100, "answered_all": 1900}, "2000 requests in the window, 1900 answers in all, 2100 sent"),
        ({"failures": 1}, "1 failures in the window, 0 in all"),
    ],
)
def test_a_summary_agrees_with_itself(changes: dict[str, Any], sentence: str) -> None:
    assert refused(record(load=replace(usual(), **changes)).line()) == sentence


def test_nobody_waits_less_than_the_hold_and_answers_all_the_same() -> None:
    assert refused(record(hold_s=1.0).line()) == "p50 is 1.000 ms, its hold 1000 ms"
    slow = replace(usual(), service=trend(at=1001.0), latency=trend(at=1001.0))
    told = refused(record(hold_s=1.0, load=slow).line())
    assert told == "1000 requests/s, where 100 users that wait 1 s each have at most 150/s"
    read_cells([record(hold_s=1.0, vus=1000, load=slow).line().encode()])


def test_what_the_service_does_is_a_verdict_and_stops_nobody() -> None:
    """Answers before their time are a cheat's: its cell is invalid, and the others are told all the same."""
    (cell,) = read_cells([record(hold_s=1.0, load=replace(usual(), too_short=2000)).line().encode()])
    assert (cell.status, cell.reasons) == ("invalid", ["V6 2000 answers came sooner than the hold"])


def test_cpu_of_other_cores_is_a_verdict_too() -> None:
    """Of two cores: within what the machine has."""

    def busy(told: dict[str, Any]) -> None:
        for edge, used in (("middle", 1.05), ("last", 2.1)):
            told["observed"]["window"][edge]["cpu"]["service"] = 10.0 + used

    (cell,) = read_cells([bent(record().line(), busy).encode()])
    assert cell.reasons == ["V6 the service used 2.10 s of CPU where its cores have 2.00 s"]


# --- and the generator's own summary ---


def summary(load: Load) -> dict[str, Any]:
    """As load.js writes it, of a load without holds."""

    def values(of: Any) -> dict[str, Any]:
        return {"count": of.count, "avg": of.mean, "min": 0.0, "med": of.p50, "p(90)": of.p90, "p(99)": of.p99, "max": of.max}

    trends = {"latency{window:in}": load.latency, "service{window:in}": load.service, "iteration{window:in}": load.iteration}
    trends |= {"lag{window:in}": load.lag, "latency{phase:h1}": load.halves[0], "latency{phase:h2}": load.halves[1]}
    counts = {"started{window:in}": load.started, "checked_bodies": load.checked}
    metrics = {f"nsb_{name}": values(of) for name, of in trends.items()} | {f"nsb_{name}": {"count": of} for name, of in counts.items()}
    return {"metrics": metrics}


def test_a_figure_that_its_summary_does_not_have_stops_the_reader(tmp_path: Path) -> None:
    """Through the folder of a run, its chain in order: the line was written so."""
    made = Journal(tmp_path)
    made.facts(run_json(tier="standard"))
    made.append(record())
    (tmp_path / "k6" / "a.json").write_text(json.dumps(summary(usual())))
    assert len(read_run(tmp_path)[1]) == 1
    half = {name: replace(getattr(usual(), name), p50=0.5) for name in ("latency", "service")}
    made.append(record(load=replace(usual(), **half)))
    with pytest.raises(Altered, match=r"cells\.jsonl, line 2, \(s, a, round 1\) cannot be: latency p50 is 0\.5, in k6/a\.json it is 1\.0"):
        read_run(tmp_path)


# --- a cost cell ---


def with_means(told: dict[str, Any]) -> None:
    """One of them wrong."""
    told |= {"mean_answers": [*told["answers"]], "mean_service_cpu_s": [*told["service_cpu_s"]]}
    told["mean_service_cpu_s"][7] = 0.45


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda s: s["answers"].__setitem__(5, 1), "slow, reading 6: answers goes from 6248 to 1, it only grows"),
        (lambda s: s["service_cpu_s"].__setitem__(14, 9.0), "slow, reading 15: 8.188 s of CPU in 0.250 s on 2 cores"),
        (lambda s: s["at_s"].__setitem__(3, 7.0), "slow, reading 4: time goes from 1000.5 to 7.0, it only grows"),
        (lambda s: s["answers"].pop(), "slow: 15 of time, 14 of answers, 15 of service CPU, 15 of generator CPU"),
        (with_means, "slow, reading 8: the mean of service CPU is 0.45, not between 0.375 and 0.4375"),
    ],
)
def test_readings_of_a_generator_only_grow(change: Callable[[dict[str, Any]], Any], sentence: str) -> None:
    line = duet_record(cell_of(40.0, 20.0)).line()
    assert refused(bent(line, lambda told: change(told["duet"]["own"]["series"]))) == sentence


def core(competitor: float, **changes: Any) -> list[str]:
    """What a cost cell says in which services use half of their core, and competitors this share of it."""
    found = cell_of(40.0, 20.0, cpu_s={"competitor": competitor * WINDOWS * EVERY}, **changes)
    return [f"{check.outcome}: {check.sentence}" for check in duet.checks(found) if check.id == "V6" and check.sentence]


def test_a_core_that_never_idles_is_used_by_those_who_are_known() -> None:
    assert core(0.5) == core(0.515) == core(0.475) == []
    assert core(0.57) == ["doubt: services and competitors used 107.0% of the cores that they may use"]
    assert core(0.65) == ["invalid: services and competitors used 115.0% of the cores that they may use"]
    missing = "% of the services' cores went to none of them: a program of somebody else's works there"
    assert core(0.44) == [f"doubt: 6.0{missing}"]
    assert core(0.3) == [f"invalid: 20.0{missing}"]
    assert core(0.3, steal_s=0.2 * WINDOWS * EVERY) == []
    assert core(0.3, rehearsal=True) == [f"doubt: 20.0{missing}"]
    nobody: dict[str, Any] = {"competitors": 0}
    assert core(0.3, **nobody) == core(0.3, idle_s=0.18 * WINDOWS * EVERY, **nobody) == []  # nobody looked; it had nothing to do
    assert core(0.3, idle_s=0.0, **nobody) == [f"invalid: 20.0{missing}"]


def test_a_service_that_needs_less_than_its_generator_is_doubted() -> None:
    usual = cell_of(40.0, 20.0)
    told = []
    for share in (1.9, 2.1):
        series = usual.own.series
        driver = series.model_copy(update={"generator_cpu_s": [share * cpu for cpu in series.service_cpu_s]})
        found = usual.model_copy(update={"own": usual.own.model_copy(update={"series": driver})})
        told.append([check.outcome for check in duet.checks(found) if "somebody else may answer for it" in check.sentence])
    assert told == [[], ["doubt"]]


def test_half_the_cpu_of_one_service_is_missed_on_its_core() -> None:
    whole = cell_of(40.0, 20.0, cpu_s={"competitor": 0.5 * WINDOWS * EVERY})
    series = whole.own.series
    halved = series.model_copy(update={"service_cpu_s": [cpu / 2 for cpu in series.service_cpu_s]})
    edited = whole.model_copy(update={"own": whole.own.model_copy(update={"series": halved})})
    (cell,) = read_cells([duet_record(edited).line().encode()])
    assert cell.status == "invalid"
    assert "V6 12.5% of the services' cores went to none of them: a program of somebody else's works there" in cell.reasons


# --- a judged cell of an earlier run ---


def cell(**changes: Any) -> Cell:
    base: dict[str, Any] = {
        "round": 1, "contender": "a", "scenario": "s", "profile": "1cpu", "model": "closed", "status": "valid", "limit": "pool",
        "window_s": 4.0, "vus": 900, "requests": 600, "throughput_rps": 150.0,
        "latency_ms": Latency(p50=1200.0, p90=1300.0, p99=None, max=1400.0),
        "cpu_us_per_request": {"service": 100.0}, "cpu_s": {"service": 0.06}, "db_connections_peak": 150,
        "halves": [Half(requests=300, p50_ms=1200.0, service_cpu_s=0.03)] * 2,
    }  # fmt: skip
    return Cell(**{**base, **changes})


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"cpu_us_per_request": {"service": 50.0}},
            "CPU µs per request of the service: 50 is told, 100 follows from the cell's own counts",
        ),
        ({"throughput_rps": 149.0}, "requests/s: 149 is told, 150 follows from the cell's own counts"),
        ({"latency_ms": Latency(p50=500.0, p90=1300.0, p99=None, max=1400.0)}, "p50 is 500.000 ms, its hold 1000 ms"),
        ({"requests": 3000, "throughput_rps": 750.0}, "750 requests/s, where 150 connections give at most 151/s"),
        ({"vus": 100}, "150 requests/s, where 100 users that wait 1 s each have at most 125/s"),
        ({"halves": [Half(requests=400, p50_ms=1200.0, service_cpu_s=0.03)] * 2}, "800 requests in the halves, 600 in the window"),
        (
            {"checks": [Check(id="V9", outcome="invalid", sentence="too many", inputs={})]},
            "status is valid, and V9 is invalid: too many",
        ),
        (
            {"checks": [Check(id="V6", outcome="ok", sentence="", inputs={"service_use": 1.9})]},
            "the service used 1.90 × what its cores have",
        ),
    ],
)
def test_a_judged_cell_agrees_with_what_it_was_made_of(changes: dict[str, Any], sentence: str) -> None:
    assert read_cells([cell().line().encode()], HOLD)[0].throughput_rps == 150.0
    assert refused(cell(**changes).line(), HOLD) == sentence
