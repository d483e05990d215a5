"""The twin and the plants of a run: what they say of it, on cells made with a known difference."""

from __future__ import annotations

import random
from typing import Any

import pytest

from nsb.analyse import controls
from nsb.records.judged import Cell, Latency
from nsb.registry.terms import Headline
from nsb.render.controls import section, sentences

SCENARIOS: dict[str, tuple[str, Headline, int]] = {
    "rate": ("open", "cpu", 0),
    "wait": ("open", "p50", 1000),
    "max": ("closed", "throughput", 0),
}
RUN: dict[str, Any] = {
    "plan": {
        "contenders": ["a", "a-twin", "a-dear", "a-late"],
        "controls": {
            "a-twin": {"kind": "twin", "of": "a"},
            "a-dear": {"kind": "plant", "of": "a", "worsens": "cpu"},
            "a-late": {"kind": "plant", "of": "a", "worsens": "p50"},
        },
        "scenarios": list(SCENARIOS),
        "models": {name: model for name, (model, _, _) in SCENARIOS.items()},
        "headlines": {name: headline for name, (_, headline, _) in SCENARIOS.items()},
        "holds_ms": {name: hold for name, (_, _, hold) in SCENARIOS.items()},
    }
}
WORSE: dict[str, dict[str, float]] = {"a": {}, "a-twin": {}, "a-dear": {"cpu": 1.5}, "a-late": {"late": 2.0}}


def cells(rounds: int, s: float, worse: dict[str, dict[str, float]] = WORSE) -> list[Cell]:
    draw = random.Random(3)  # a gate closes by chance in one of twenty figures: not with this seed
    made = []
    for round_ in range(1, rounds + 1):
        for scenario, (model, _, hold) in SCENARIOS.items():
            for contender, by in worse.items():
                noise = [draw.lognormvariate(0, s) for _ in range(3)]
                latency = hold + 1.0 * noise[0] + by.get("late", 0.0)
                made.append(
                    Cell.model_validate(
                        {
                            "round": round_, "contender": contender, "scenario": scenario,
                            "profile": "1cpu", "model": model, "status": "valid",
                            "throughput_rps": 1000 * noise[1] / by.get("cpu", 1.0),
                            "latency_ms": Latency(p50=latency, p90=latency, p99=None, max=latency),
                            "cpu_us_per_request": {"service": 50 * noise[2] * by.get("cpu", 1.0)},
                        }
                    )
                )  # fmt: skip
    return made


def found(rounds: int, s: float, worse: dict[str, dict[str, float]] = WORSE) -> dict[str, controls.Summary]:
    return {summary.control: summary for summary in controls.summaries(controls.compare(RUN, cells(rounds, s, worse)))}


def test_in_a_quiet_run_the_twin_holds_and_the_plants_are_found() -> None:
    seen = found(6, 0.02)
    assert seen["a-twin"].failed == []
    assert set(seen["a-twin"].passed) == {"rate cpu", "wait p50", "max throughput", "wait cpu", "rate p50"}
    assert seen["a-dear"].passed == ["rate cpu", "wait cpu"]
    assert seen["a-late"].passed == ["rate p50", "wait p50"]


def test_a_plant_that_is_none_is_not_found() -> None:
    seen = found(6, 0.02, {**WORSE, "a-dear": {}, "a-late": {}})
    assert (seen["a-dear"].passed, seen["a-late"].passed) == ([], [])


def test_a_twin_that_differs_closes_the_gate_and_is_named() -> None:
    results = controls.compare(RUN, cells(6, 0.02, {**WORSE, "a-twin": {"cpu": 1.6}}))
    seen = {summary.control: summary for summary in controls.summaries(results)}
    assert {"rate cpu", "wait cpu", "max throughput"} <= set(seen["a-twin"].failed)
    assert seen["a-dear"].passed == []
    assert any(
        "only differences above the A/A noise are reported, in: rate · CPU per request" in sentence for sentence in sentences(results)
    )
    assert "| a-twin | rate | cpu |" in section(results)
    assert "**differs**" in section(results)
    assert "**not found** (twin failed)" in section(results)


def test_of_two_twins_each_is_told_by_itself() -> None:
    """A question's gate is that of the worse one; what is told of a twin is its own."""
    plan = {**RUN["plan"], "controls": {"a-twin": {"kind": "twin", "of": "a"}, "b-twin": {"kind": "twin", "of": "b"}}}
    made = cells(6, 0.001, {"a": {}, "a-twin": {}, "b": {}, "b-twin": {"cpu": 1.3}})
    good, bad = controls.summaries(controls.compare({"plan": plan}, made))
    assert (good.failed, bad.failed) == ([], ["rate cpu", "max throughput"])


@pytest.mark.parametrize("rounds", [1, 4])
def test_few_rounds_show_nothing_and_say_so(rounds: int) -> None:
    results = controls.compare(RUN, cells(rounds, 0.02))
    assert all(control.passed is None for control in results)
    assert all("no verdict follows" in sentence for sentence in sentences(results))
    assert ("| a-dear | rate" in section(results)) == (rounds > 1)  # no number without spread


@pytest.mark.parametrize(("rounds", "says"), [(6, "no twin"), (4, "too few rounds")])
def test_a_plant_without_a_twin_says_so(rounds: int, says: str) -> None:
    plan = {**RUN["plan"], "controls": {"a-dear": RUN["plan"]["controls"]["a-dear"]}}
    results = controls.compare({"plan": plan}, cells(rounds, 0.02, {"a": {}, "a-dear": {"cpu": 1.5}}))
    assert [control.passed for control in results] == [None] * len(results)
    lines = [line for line in section(results).splitlines() if line.startswith("| a-dear |")]
    assert lines
    assert all(line.endswith(f"| {says} |") for line in lines)


def test_a_run_without_controls_has_no_section() -> None:
    run = {"plan": {**RUN["plan"], "controls": {}}}
    assert section(controls.compare(run, cells(6, 0.02))) == ""
