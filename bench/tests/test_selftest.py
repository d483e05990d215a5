"""The harness tests itself: seeded synthetic cells through the very rule, Holm's adjustment and the twin's gate included. No clock."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import scipy.special
from scipy.special import ndtr, ndtri

from nsb.analyse import judge, power, stats
from nsb.analyse.judge import Question, Verdict, gate_of, paired
from nsb.analyse.noise import noise_of
from nsb.records.judged import Cell

FAMILIES = 800
"""Runs simulated for each kind of noise, each with a family of OTHERS primary comparisons: 3,200 A/A comparisons."""
OTHERS = 4
NAMES = ["first", *(f"other-{i}" for i in range(1, OTHERS + 1)), "first-twin"]
RUN: dict[str, Any] = {
    "plan": {
        "contenders": NAMES, "scenarios": ["load"], "headlines": {"load": "cpu"}, "models": {"load": "open"}, "holds_ms": {"load": 0},
        "controls": {"first-twin": {"kind": "twin", "of": "first"}},
    }
}  # fmt: skip


class Machine(NamedTuple):
    """s: standard deviation of a paired ln ratio. In a round, a foreign burst hits each contender with that chance and costs it 40 %."""

    s: float
    bursts: float = 0.0


MACHINES = {"quiet": Machine(0.03), "busy": Machine(0.13), "bursts": Machine(0.03, bursts=0.08)}
Rule = Callable[[list[Cell]], list[Verdict]]


def cells(draw: random.Random, machine: Machine, rounds: int, effect: float = 0.0) -> list[Cell]:
    """A run in which all contenders are the same program, but that the first other one costs `effect` more (as ln)."""
    made = []
    for round_ in range(1, rounds + 1):
        shared = draw.gauss(0, 0.2)  # what a round does to all of it cancels in pairs
        for name in NAMES:
            x = shared + draw.gauss(0, machine.s / math.sqrt(2)) + (effect if name == "other-1" else 0)
            x += math.log(1.4) if draw.random() < machine.bursts else 0
            us: dict[Any, float | None] = {"service": 50 * math.exp(x)}
            made.append(
                Cell(
                    round=round_, contender=name, scenario="load", profile="1cpu", model="open", status="valid", cpu_us_per_request=us
                )
            )  # fmt: skip
    return made


def rule(run: list[Cell]) -> list[Verdict]:
    """As the report asks it."""
    gate = gate_of(RUN, run, "load", "cpu")
    return judge.judge(
        [Question(pair=paired(RUN, run, f"other-{i}", "first", "load", "cpu"), gate=gate) for i in range(1, OTHERS + 1)]
    )  # fmt: skip


class Rates(NamedTuple):
    comparisons: float
    """The share of A/A comparisons with a verdict higher or lower."""
    families: float
    """The share of runs with one or more: what Holm's procedure bounds."""


def false_verdicts(rule: Rule, machine: Machine, rounds: int = 6, families: int = FAMILIES) -> Rates:
    draw = random.Random(20261120)
    wrong = [sum(v.outcome in ("higher", "lower") for v in rule(cells(draw, machine, rounds))) for _ in range(families)]
    return Rates(sum(wrong) / (families * OTHERS), sum(count > 0 for count in wrong) / families)


@pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES)
def test_equal_programs_get_a_false_verdict_in_5_percent_of_runs_at_the_most(machine: Machine) -> None:
    found = false_verdicts(rule, machine)
    assert found.comparisons <= 0.05
    assert found.families <= 0.05


def test_that_holds_with_the_rank_interval_of_twelve_rounds_too() -> None:
    assert false_verdicts(rule, MACHINES["busy"], rounds=12, families=400).families <= 0.05


@pytest.mark.parametrize("rounds", [6, 12])
@pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES)
def test_twice_the_announced_effect_is_found_in_80_percent_of_runs(machine: Machine, rounds: int) -> None:
    draw = random.Random(7)
    s = noise_of(RUN, cells(draw, machine, 600))["load"].s  # an earlier run of this machine, long enough to know it
    announced = math.expm1(power.smallest_shift(s, rounds, OTHERS))
    families = 250
    outcomes = [rule(cells(draw, machine, rounds, math.log(1 + 2 * announced)))[0].outcome for _ in range(families)]
    assert outcomes.count("higher") / families >= 0.80
    assert outcomes.count("lower") == 0


def test_the_rule_has_the_power_that_is_printed() -> None:
    """At the announced effect itself: the exact power of Holm's first step, where the gate is open."""
    draw, machine, families = random.Random(11), MACHINES["quiet"], 1000
    shift = power.smallest_shift(machine.s, 6, OTHERS)
    found = [rule(cells(draw, machine, 6, shift))[0] for _ in range(families)]
    passed = [v for v in found if v.gate.reason is None]
    share = sum(v.outcome == "higher" for v in passed) / len(passed)
    assert share == pytest.approx(power.power(shift, machine.s, 6, OTHERS), abs=0.04)


# --- that it can fail: wrong rules through the same harness --------------------------------------------------------------


def test_normal_quantiles_instead_of_t_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stats, "quantile", lambda p, df: float(ndtri(p)))
    monkeypatch.setattr(scipy.special, "stdtr", lambda df, x: float(ndtr(x)))
    assert false_verdicts(rule, MACHINES["busy"], families=300).families > 0.05


def test_a_rule_without_the_adjustment_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "holm", lambda p_values: [0.95] * len(p_values))
    assert false_verdicts(rule, MACHINES["busy"], families=300).families > 0.05


@pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES)
def test_best_of_rounds_is_caught(machine: Machine) -> None:
    """The habit of boards: whoever has the best round is better, if by more than 1 %."""

    def best_of(run: list[Cell]) -> list[Verdict]:
        best = {name: min(c.cpu_us_per_request["service"] or 0 for c in run if c.contender == name) for name in NAMES}
        return [
            v.model_copy(update={"outcome": "higher" if best[f"other-{i}"] > 1.01 * best["first"] else "undecided"})
            for i, v in enumerate(rule(run), 1)
        ]

    assert false_verdicts(best_of, machine, families=100).comparisons > 0.05


def test_a_gate_left_out_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the place in the round favours whoever is not first, the twin shows it and no verdict follows."""

    def favoured(draw: random.Random) -> list[Cell]:
        made = cells(draw, MACHINES["quiet"], 6)
        return [
            c if c.contender == "first" else c.model_copy(update={"cpu_us_per_request": {"service": 0.8 * (c.headline("cpu") or 0)}})
            for c in made
        ]

    def false_share() -> float:
        draw = random.Random(3)
        return sum(any(v.outcome != "undecided" for v in rule(favoured(draw))) for _ in range(100)) / 100

    assert false_share() <= 0.05
    monkeypatch.setattr(judge, "gate", lambda twin, margin=None: judge.Gate(reason=None, rounds=6))
    assert false_share() > 0.9
