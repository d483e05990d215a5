"""Two runs: what is called, what is not, what is refused, and what earlier runs tell a plan."""

from __future__ import annotations

import json
import math
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from nsb import cli
from nsb.analyse.cells import read_cells
from nsb.analyse.compare import Comparison, Difference, Incomparable, compare
from nsb.analyse.noise import Noise, noise_of
from nsb.records.judged import Cell, Latency
from nsb.records.schema import SCHEMA, to_json
from nsb.render import power
from nsb.render.compare import grid, notes
from nsb.session import earlier

Cost = Callable[[str, str], float]


def facts(**plan: Any) -> dict[str, Any]:
    base: dict[str, Any] = {
        "tier": "standard", "profile": "1cpu", "workers": 1, "rounds": 6, "seed": 1,
        "contenders": ["a", "b", "a-twin"], "scenarios": ["cost", "wait", "max"], "rows": [],
        "headlines": {"cost": "cpu", "wait": "p50", "max": "throughput"}, "models": {"cost": "open", "wait": "open", "max": "closed"},
        "rates": {"cost": 1000, "wait": 50, "max": None}, "vus": {"cost": 100, "wait": 100, "max": 64},
        "holds_ms": {"cost": 0, "wait": 100, "max": 0}, "windows_s": {"cost": 2.5, "wait": 2.5, "max": 2.5},
        "controls": {"a-twin": {"kind": "twin", "of": "a"}},
    }  # fmt: skip
    return {
        "schema": SCHEMA, "started_at": "2026-11-20T18:00:00+00:00", "plan": {**base, **plan}, "runner": "native", "k6": "k6 v2.2.0",
        "host": {"name": "box", "architecture": "x86_64", "cpu": "X", "cores": 2, "kernel": "6.1", "commit": "aaaa"},
        "placement": {"service": [1], "generator": [0]}, "database": {"kind": "mariadb", "version": "11.4.5", "private": True},
        "tools": {"go": "1.26.8"}, "runtimes": {"a": {"runtime_version": "1.26.8", "ready_s": 0.1, "settings": {"gc": None}}},
    }  # fmt: skip


def changed(path: str, value: Any) -> dict[str, Any]:
    run: dict[str, Any] = json.loads(json.dumps(facts()))
    *folders, last = path.split(".")
    inner = run
    for key in folders:
        inner = inner[key]
    inner[last] = value
    return run


def cells(seed: int, factor: Cost = lambda *_: 1.0, s: float = 0.01, rounds: int = 6, twin: float = 1.0) -> list[Cell]:
    """`factor(scenario, contender)` multiplies CPU, throughput and the latency beyond the hold."""
    draw = random.Random(seed)
    made = []
    for round_ in range(1, rounds + 1):
        for scenario in ("cost", "wait", "max"):
            for contender in ("a", "b", "a-twin"):
                by = math.exp(draw.gauss(0, s)) * factor(scenario, contender) * (twin if contender == "a-twin" else 1)
                made.append(
                    Cell(
                        round=round_, contender=contender, scenario=scenario, profile="1cpu", status="valid",
                        model="closed" if scenario == "max" else "open", cpu_us_per_request={"service": 50 * by}, throughput_rps=9000 * by,
                        latency_ms=Latency(p50=100 + 2 * by, p90=None, p99=None, max=None),
                    )
                )  # fmt: skip
    return made


def only(scenario: str, contender: str, by: float) -> Cost:
    return lambda s, c: by if (s, c) == (scenario, contender) else 1.0


def one(found: Comparison, scenario: str, contender: str) -> Difference:
    return next(cell for cell in found.cells if (cell.scenario, cell.contender) == (scenario, contender))


def test_the_same_program_twice_shows_nothing_worse() -> None:
    found = compare(facts(), cells(1), facts(), cells(2))
    assert [(c.scenario, c.contender) for c in found.cells] == [(s, c) for s in ("cost", "wait", "max") for c in ("a", "b")]  # no controls
    assert {cell.outcome for cell in found.cells} == {"undecided"}


@pytest.mark.parametrize(
    ("scenario", "by", "outcome"),
    [
        ("cost", 1.2, "worse"),
        ("cost", 0.8, "better"),
        ("max", 1.2, "better"),
        ("max", 0.8, "worse"),
        ("wait", 3.0, "worse"),
        ("wait", 0.2, "better"),
    ],
)
def test_more_cpu_or_latency_and_less_throughput_are_worse(scenario: str, by: float, outcome: str) -> None:
    found = compare(facts(), cells(1), facts(), cells(2, only(scenario, "b", by)))
    assert one(found, scenario, "b").outcome == outcome
    assert [c.outcome for c in found.cells].count("undecided") == 5
    assert bool(found.worse) == (outcome == "worse")


def test_a_ratio_is_b_over_a_and_a_difference_b_minus_a() -> None:
    found = compare(facts(), cells(1), facts(), cells(2, lambda s, c: 1.5 if c == "b" else 1.0))
    ratio, difference = one(found, "cost", "b"), one(found, "wait", "b")
    assert (ratio.unit, ratio.value, ratio.a) == ("ratio", pytest.approx(1.5, rel=0.02), pytest.approx(50, rel=0.02))
    assert (difference.unit, difference.value) == ("ms", pytest.approx(1.0, abs=0.05))
    assert max(cell.level for cell in found.cells) == pytest.approx(1 - 0.05 / 6)  # six cells, the clearest first
    assert one(compare(facts(), cells(1), facts(), cells(2)), "cost", "b").level == pytest.approx(1 - 0.05 / 6)


def test_nothing_is_called_that_the_twin_of_either_run_shows_too() -> None:
    slow = only("cost", "b", 1.10)
    assert one(compare(facts(), cells(1), facts(), cells(2, slow)), "cost", "b").outcome == "worse"
    for twins in ((1.15, 1.0), (1.0, 1.15), (1.0, 0.85)):
        found = one(compare(facts(), cells(1, twin=twins[0]), facts(), cells(2, slow, twin=twins[1])), "cost", "b")
        assert (found.outcome, found.reasons) == ("undecided", ["the twins differ as much"])
        assert found.band is not None
        assert found.band > math.log(1.14)


def test_nothing_finer_than_a_percent_is_called() -> None:
    found = one(compare(facts(), cells(1, s=1e-4), facts(), cells(2, only("max", "b", 0.993), s=1e-4)), "max", "b")
    assert found.high is not None
    assert found.high < 1
    assert (found.outcome, found.band) == ("undecided", pytest.approx(math.log(1.01)))


def test_without_a_twin_or_five_rounds_a_cell_is_not_judged() -> None:
    bare = facts(controls={}, contenders=["a", "b"])
    del bare["plan"]["controls"]  # as runs of the first version are
    found = compare(bare, [c for c in cells(1) if c.contender != "a-twin"], facts(), cells(2, only("cost", "b", 2.0)))
    assert {c.outcome for c in found.cells} == {"not_judged"}
    assert [c.reasons for c in found.cells] == [["A: no twin with 5 rounds"]] * 6
    assert one(found, "cost", "b").value == pytest.approx(2.0, rel=0.02)  # shown, with its interval, but not judged
    assert not found.worse
    assert not found.judged
    few = one(compare(facts(), cells(1, rounds=4), facts(rounds=6), cells(2)), "max", "a")
    assert (few.outcome, few.reasons) == ("not_judged", ["A: 4 of 4 rounds count, 5 are needed", "A: no twin with 5 rounds"])


def test_bounds_are_not_compared_and_that_is_said() -> None:
    def bounded(cell: Cell) -> Cell:
        held = (cell.scenario, cell.contender) == ("max", "b") and cell.round > 2
        return cell.model_copy(update={"status": "censored", "reasons": ["V6 held back by the generator"]}) if held else cell

    found = one(compare(facts(), cells(1), facts(), [bounded(c) for c in cells(2, only("max", "b", 0.1))]), "max", "b")
    assert found.outcome == "not_judged"
    assert found.reasons == ["B: 2 of 6 rounds count, 5 are needed; 4 are bounds, which are not compared (V6 held back by the generator)"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("host.name", "other"), ("host.cpu", "Y"), ("host.cores", 4), ("plan.profile", "ncpu"), ("plan.tier", "publish"),
        ("plan.workers", 2), ("plan.order", "contender"), ("runner", "compose"), ("placement.service", [0]), ("database.kind", "mysql"),
        ("database.version", "11.8"), ("plan.rates.cost", 500), ("plan.windows_s.max", 10.0), ("plan.holds_ms.wait", 50),
        ("plan.vus.max", 32),
    ],
)  # fmt: skip
def test_runs_that_differ_in_what_must_be_equal_are_refused(path: str, value: Any) -> None:
    with pytest.raises(Incomparable) as caught:
        compare(facts(), cells(1), changed(path, value), cells(2))
    assert len(caught.value.args) == 1
    assert str(value) in str(caught.value)


def test_every_differing_fact_is_named_at_once() -> None:
    other = changed("host.name", "other")
    other["plan"]["profile"] = "ncpu"
    other["plan"]["rates"]["cost"] = 1
    with pytest.raises(Incomparable) as caught:
        compare(facts(), cells(1), other, cells(2))
    for name in ("host.name is box in A and other in B", "plan.profile", "rates of cost is 1000 in A and 1 in B"):
        assert name in str(caught.value)
    with pytest.raises(Incomparable, match="no scenario and contender in common"):
        compare(facts(), cells(1), facts(contenders=["c"]), cells(2))


def test_what_may_differ_is_named() -> None:
    later = changed("host.commit", "bbbb")
    later["runtimes"]["a"] |= {"runtime_version": "1.27.0", "ready_s": 0.3, "handled_by": "exec-7"}
    later["tools"] = {"go": "1.27.0", "java": "25"}
    later["plan"] |= {"contenders": ["a", "c", "a-twin"]}
    found = compare(facts(), cells(1), later, cells(2))
    assert found.differs == [
        "host.commit: aaaa → bbbb",
        "tools.go: 1.26.8 → 1.27.0",
        "runtimes.a.runtime_version: 1.26.8 → 1.27.0",
        "tools.java: not recorded → 25",
    ]
    assert "only in A: cost · b" in found.only
    assert "only in B: cost · c" in found.only


def test_a_scenario_that_one_run_lacks_is_one_line() -> None:
    whole = facts()
    fewer = changed("plan.scenarios", whole["plan"]["scenarios"][:-1])
    assert compare(whole, cells(1), fewer, cells(2)).only == [f"only in A: {whole['plan']['scenarios'][-1]}"]


def test_false_alarms_between_equal_runs_are_rare() -> None:
    wrong = sum(bool(compare(facts(), cells(2 * i, s=0.08), facts(), cells(2 * i + 1, s=0.08)).worse) for i in range(100))
    assert wrong <= 5


def test_the_report_fits_100_columns_and_says_what_it_did_not_judge() -> None:
    names = {"cost": "a-very-long-scenari", "b": "a-contender-15c"}
    found = compare(facts(), cells(1), facts(), [c for c in cells(2, only("cost", "b", 1234.5)) if c.scenario != "max"])
    found = found.model_copy(
        update={
            "cells": [
                c.model_copy(update={"scenario": names.get(c.scenario, c.scenario), "contender": names.get(c.contender, c.contender)})
                for c in found.cells
            ]
        }
    )
    console = Console(width=100, record=True, file=None)
    with console.capture() as said:
        console.print(grid(found))
    lines = said.get().splitlines()
    assert all(len(line.rstrip()) <= 100 and "…" not in line for line in lines), lines
    assert sum("worse" in line for line in lines) == 1
    text = "\n".join(notes(found))
    assert "1 of 4 cells that could be judged are worse in B, 2 could not be judged." in text
    assert text.endswith("B: no twin with 5 rounds: max")
    assert "the interval holds no difference: a-very-long-scenari (a); wait" in text


# --- the verb ---------------------------------------------------------------------------------------------------------


def written(folder: Path, run: dict[str, Any], journal: list[Cell]) -> str:
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(to_json(run))
    (folder / "cells.jsonl").write_text("".join(cell.line() + "\n" for cell in journal))
    return str(folder)


@pytest.mark.parametrize(("by", "code"), [(1.0, 0), (0.8, 0), (1.3, 1)])
def test_the_exit_code_is_1_where_a_cell_is_worse(tmp_path: Path, by: float, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = written(tmp_path / "a", facts(), cells(1)), written(tmp_path / "b", facts(), cells(2, only("cost", "b", by)))
    assert ended(["compare", a, b]) == code
    assert "could be judged" in " ".join(capsys.readouterr().out.split())


def test_what_cannot_be_compared_or_judged_exits_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, other = written(tmp_path / "a", facts(), cells(1)), written(tmp_path / "b", changed("host.name", "other"), cells(2))
    assert ended(["compare", a, other]) == 3
    assert "host.name is box in A and other in B" in capsys.readouterr().err
    short = written(tmp_path / "c", facts(rounds=1), cells(2, rounds=1))
    assert ended(["compare", a, short]) == 3  # not 0: nothing was judged
    assert "No cell could be judged" in capsys.readouterr().err
    assert ended(["compare", a, str(tmp_path / "nothing")]) == 3


def ended(arguments: list[str]) -> int:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["nsb", *arguments])
        patch.setattr(cli, "_leave", sys.exit)
        with pytest.raises(SystemExit) as caught:
            cli.main()
    return int(caught.value.code or 0)


# --- what earlier runs tell a plan ------------------------------------------------------------------------------------


def test_noise_comes_from_the_twin_where_there_is_one_else_from_the_rounds() -> None:
    many = cells(5, s=0.05, rounds=400)
    found = noise_of(facts(), many)
    assert (found["cost"].source, found["cost"].df, found["cost"].unit) == ("twin", 399, "ratio")
    assert found["cost"].s == pytest.approx(0.05 * math.sqrt(2), rel=0.1)
    assert (found["wait"].unit, found["wait"].s) == ("ms", pytest.approx(2 * 0.05 * math.sqrt(2), rel=0.1))
    alone = noise_of(facts(controls={}, contenders=["a", "b"]), [c for c in many if c.contender != "a-twin"])
    assert (alone["cost"].source, alone["cost"].df) == ("rounds", 798)
    assert alone["cost"].s == pytest.approx(0.05 * math.sqrt(2), rel=0.1)


def test_too_few_rounds_tell_no_noise() -> None:
    assert noise_of(facts(), cells(1, rounds=1)) == {}
    assert noise_of(facts(), cells(1, rounds=2))["cost"].source == "rounds"  # a twin of two rounds knows less than three contenders
    assert noise_of(facts(), []) == {}


PLANNED = ["cost", "wait", "max"]


def test_the_newest_run_of_this_host_and_profile_is_asked(tmp_path: Path) -> None:
    said: list[str] = []
    assert earlier.noise(tmp_path, "box", "1cpu", PLANNED, said.append) == {}
    for name, run, rounds in [
        ("out/older", {**facts(), "started_at": "2026-11-01"}, 6),
        ("results/newer", {**facts(), "started_at": "2026-11-02"}, 6),
        ("out/one-round", {**facts(), "started_at": "2026-11-03"}, 1),
        ("out/elsewhere", {**changed("host.name", "other"), "started_at": "2026-11-04"}, 6),
        ("out/profile", {**facts(profile="ncpu"), "started_at": "2026-11-05"}, 6),
    ]:
        written(tmp_path / "bench" / name, run, cells(1, rounds=rounds))
    broken = tmp_path / "bench" / "out" / "broken" / "run.json"
    broken.parent.mkdir()
    broken.write_text("{}")
    found = earlier.noise(tmp_path / "bench", "box", "1cpu", PLANNED, said.append)
    assert found == {scenario: (noise, "bench/results/newer") for scenario, noise in noise_of(facts(), cells(1)).items()}
    assert len(said) == 1
    assert "broken" in said[0]


def test_a_run_that_has_all_planned_rows_goes_before_newer_ones_that_have_some(tmp_path: Path) -> None:
    for name, scenarios, day in [("whole", PLANNED, 1), ("costs", ["cost"], 2), ("others", ["elsewhere"], 3)]:
        plan = facts(scenarios=scenarios, headlines=dict.fromkeys(scenarios, "cpu"), models=dict.fromkeys(scenarios, "open"))
        journal = [cell for cell in cells(day) if cell.scenario in scenarios]
        written(tmp_path / "bench" / "results" / name, {**plan, "started_at": f"2026-11-0{day}"}, journal)

    def runs(*planned: str) -> dict[str, str]:
        found = earlier.noise(tmp_path / "bench", "box", "1cpu", planned, print)
        return {scenario: run.rpartition("/")[2] for scenario, (_, run) in found.items()}

    assert runs("cost", "wait") == {"cost": "whole", "wait": "whole"}
    assert runs("cost") == {"cost": "costs"}
    assert runs("cost", "wait", "new") == {"cost": "costs", "wait": "whole"}  # no run has them all: row by row
    assert runs("new") == {}


def test_a_run_with_a_twin_goes_before_newer_ones_without(tmp_path: Path) -> None:
    for name, run in [("twin", facts()), ("alone", facts(controls={}, contenders=["a", "b"]))]:
        day = 1 if name == "twin" else 2
        journal = [cell for cell in cells(day) if cell.contender in run["plan"]["contenders"]]
        written(tmp_path / "bench" / "results" / name, {**run, "started_at": f"2026-11-0{day}"}, journal)
    found = earlier.noise(tmp_path / "bench", "box", "1cpu", ["cost"], print)
    assert [(noise.source, run) for noise, run in found.values()] == [("twin", "bench/results/twin")]


def test_a_plan_announces_from_earlier_noise_or_says_that_it_assumes() -> None:
    cost, wait = Noise(unit="ratio", s=0.08, df=5, source="twin"), Noise(unit="ms", s=0.4, df=12, source="rounds")
    known = {"cost": (cost, "bench/results/x"), "wait": (wait, "bench/results/x")}
    lines = power.lines(["cost", "wait", "max"], 6, 12, known)
    assert "bench/results/x" in lines[0]
    assert "12 primary comparisons" in lines[0]
    assert "finds  21.3% in 74% of runs; equal shown in 62%; from twin, 5 df" in lines[1]
    assert "ms in 74% of runs" in lines[2]
    assert "unknown" in lines[3]
    several = power.lines(["cost", "wait"], 6, 12, {**known, "wait": (wait, "bench/results/y")})
    assert "bench/results" not in several[0]
    assert several[1].endswith("; from twin of bench/results/x, 5 df")
    assert several[2].endswith("; from rounds of bench/results/y, 12 df")
    assumed = power.lines(["cost"], 6, 12, {})
    assert "assumed" in assumed[0]
    assert [line.split()[1] for line in assumed[1:]] == ["0.030", "0.080", "0.130"]
    assert power.lines(["cost"], 4, 12, known) == ["Fewer than 5 rounds: no verdict."]


def test_recorded_runs_of_the_first_version_are_still_read() -> None:
    folder = Path(__file__).parent / "recordings" / "run"
    run = json.loads((folder / "run.json").read_text())
    old = read_cells((folder / "cells.jsonl").read_bytes().splitlines())
    assert noise_of(run, old) == {}  # one round
    assert {cell.outcome for cell in compare(run, old, run, old).cells} == {"not_judged"}
