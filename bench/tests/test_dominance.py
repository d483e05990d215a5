"""Planted runs: who is better at what, ties, bounds, closed gates, and what follows for the front and the verdict. Seeded, no clock."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nsb.analyse import judge
from nsb.analyse.dominance import dominance, verdict
from nsb.records.judged import Cell, Latency, Slope
from nsb.records.sources import Code, Size
from nsb.records.starts import Start
from nsb.registry.claims import Criterion, Dominance
from nsb.registry.terms import Metric
from nsb.session.runs import read_run

NAMES = ["a", "b", "c"]
MEASURED = ["cost cpu", "wait p50", "wait cpu", "max throughput", "memory_peak", "threads"]
Plan = Callable[[str, str], float]
"""(contender, what: cpu, p50, throughput, memory_peak, threads) → by how much its figure is larger; of p50 in ms."""


def facts(names: list[str] = NAMES, twin: bool = True, **plan: Any) -> dict[str, Any]:
    controls = {"a-twin": {"kind": "twin", "of": "a"}} if twin else {}
    base: dict[str, Any] = {
        "contenders": [*names, *controls], "scenarios": ["cost", "wait", "max"], "controls": controls,
        "headlines": {"cost": "cpu", "wait": "p50", "max": "throughput"}, "models": {"cost": "open", "wait": "open", "max": "closed"},
    }  # fmt: skip
    return {"plan": {**base, **plan}}


def same(contender: str, what: str) -> float:
    return 0.0 if what == "p50" else 1.0


def planted(**larger: dict[str, float]) -> Plan:
    """Of the figures named, by contender; all others are equal."""
    return lambda contender, what: larger.get(what, {}).get(contender, same(contender, what))


def cells(by: Plan = same, names: list[str] = NAMES, rounds: int = 6, s: float = 0.01, seed: int = 1) -> list[Cell]:
    """Of every contender and of a's twin, which is as a is."""
    draw = random.Random(seed)

    def noise() -> float:
        return math.exp(draw.gauss(0, s / math.sqrt(2)))

    return [
        Cell(
            round=round_, contender=name, scenario=scenario, profile="1cpu", status="valid",
            model="closed" if scenario == "max" else "open",
            cpu_us_per_request={"service": 50 * by(like, "cpu") * noise()},
            throughput_rps=1000 * noise() * (by(like, "throughput") if scenario == "max" else 1),
            latency_ms=Latency(p50=100 + by(like, "p50") + 10 * math.log(noise()), p90=None, p99=None, max=None),
            memory_peak_mib=40 * by(like, "memory_peak") * noise(),
            threads_peak=round(10 * by(like, "threads")),
        )
        for round_ in range(1, rounds + 1)
        for scenario in ("cost", "wait", "max")
        for name in [*names, "a-twin"]
        for like in ["a" if name == "a-twin" else name]
    ]  # fmt: skip


def bent(cells: list[Cell], scenario: str, contenders: str, **changes: Any) -> list[Cell]:
    """With changes in the cells of some contenders; `rounds` limits them to the first ones."""
    upto = changes.pop("rounds", 1000)
    return [
        cell.model_copy(update=changes)
        if cell.scenario == scenario and cell.contender in contenders.split() and cell.round <= upto
        else cell
        for cell in cells
    ]


def one(found: Dominance, id_: str) -> Criterion:
    return next(criterion for criterion in found.criteria if criterion.id == id_)


WINNER = planted(
    cpu={"b": 1.5, "c": 2.0}, p50={"b": 10, "c": 20}, throughput={"b": 0.7, "c": 0.5}, memory_peak={"b": 1.5, "c": 3.0},
    threads={"b": 2, "c": 3},
)  # fmt: skip
NOBODY = planted(cpu={"b": 1.5, "c": 1.5}, memory_peak={"a": 2.0, "b": 1.0, "c": 2.0}, p50={"a": 10, "b": 10})


def test_one_that_is_better_everywhere_is_the_single_winner() -> None:
    found = dominance(facts(), cells(WINNER), [], None)
    assert [criterion.id for criterion in found.criteria] == MEASURED
    assert found.better["a"] == found.compared["a"] == {"b": MEASURED, "c": MEASURED}
    assert found.better["b"] == {"a": [], "c": MEASURED}
    assert [criterion.best for criterion in found.criteria] == [["a"]] * 6
    assert (found.front, verdict(found)) == (["a"], ("REFUTED", None))
    assert one(found, "max throughput").better == "more"
    assert one(found, "max throughput").values["b"] == pytest.approx(700, rel=0.02)
    assert one(found, "wait p50").values["c"] == pytest.approx(120, abs=0.2)


def test_loads_that_end_are_no_criteria() -> None:
    found = dominance(facts(loads={"max": {"send_s": 30.0}}), cells(WINNER), [], None)
    assert [criterion.id for criterion in found.criteria] == [each for each in MEASURED if each != "max throughput"]
    whole = {scenario: {"send_s": 30.0} for scenario in ("cost", "wait", "max")}
    alone = dominance(facts(loads=whole), cells(WINNER), [], None)
    assert alone.criteria == []
    assert verdict(alone) == ("NOT_MEASURED", "no_scenario")


def test_no_value_but_a_count_is_without_its_interval() -> None:
    found = dominance(facts(), bent(cells(WINNER), "max", "c", status="invalid"), [], sizes(a=(10, 1), b=(20, 2), c=(30, 3)))
    for criterion in found.criteria:
        known = {name for name, value in criterion.values.items() if value is not None}
        assert criterion.intervals.keys() == (set() if criterion.exact else known), criterion.id
        assert all(low <= (criterion.values[name] or 0) <= high for name, (low, high) in criterion.intervals.items())
    assert "c" not in one(found, "max throughput").intervals
    low, high = one(found, "wait cpu").intervals["b"]
    assert 70 < low < 75 < high < 80
    low, high = one(found, "wait p50").intervals["c"]
    assert high - low >= 2  # no finer than the clock


def test_a_tie_takes_nothing_from_a_winner_who_is_better_than_each_somewhere() -> None:
    found = dominance(facts(), cells(planted(cpu={"b": 1.5, "c": 1.5})), [], None)
    assert one(found, "max throughput").best == NAMES
    assert (found.front, verdict(found)) == (["a"], ("REFUTED", None))


def test_where_each_is_beaten_somewhere_there_is_no_single_winner() -> None:
    found = dominance(facts(), cells(NOBODY), [], None)
    assert [(c.id, c.best) for c in found.criteria if c.best != NAMES] == [
        ("cost cpu", ["a"]), ("wait p50", ["c"]), ("wait cpu", ["a"]), ("memory_peak", ["b"]),
    ]  # fmt: skip
    assert found.better["c"] == {"a": ["wait p50"], "b": ["wait p50"]}
    assert (found.front, verdict(found)) == (NAMES, ("SUPPORTED", None))


def test_equal_ones_are_tied_and_that_refutes_nothing() -> None:
    found = dominance(facts(), cells(), [], None)
    assert not any(criteria for others in found.better.values() for criteria in others.values())
    assert found.compared["b"] == {"a": MEASURED, "c": MEASURED}
    assert {tuple(criterion.best) for criterion in found.criteria} == {("a", "b", "c")}
    assert (found.front, verdict(found)) == (NAMES, ("UNDECIDED", "straddles"))


def test_one_who_is_never_beaten_but_not_better_than_each_is_undecided() -> None:
    found = dominance(facts(), cells(planted(cpu={"c": 1.5})), [], None)
    assert (found.front, verdict(found)) == (["a", "b"], ("UNDECIDED", "straddles"))


def test_nothing_finer_than_a_percent_or_a_millisecond_is_called() -> None:
    def found(by: Plan) -> list[str]:
        return dominance(facts(), cells(by, s=0.0005), [], None).better["a"]["b"]

    assert found(planted(cpu={"b": 1.008}, p50={"b": 0.9}, memory_peak={"b": 1.008}, throughput={"b": 1 / 1.008})) == []
    assert found(planted(cpu={"b": 1.012}, p50={"b": 1.1})) == ["cost cpu", "wait p50", "wait cpu"]


# --- what cannot be compared -----------------------------------------------------------------------------------------------


def test_too_few_rounds_decide_nothing() -> None:
    found = dominance(facts(), cells(WINNER, rounds=4), [], None)
    assert {criterion.reason for criterion in found.criteria} == {"too_few_rounds"}
    assert (found.front, verdict(found)) == (NAMES, ("UNDECIDED", "too_few_rounds"))
    assert one(found, "cost cpu").best == []


def test_without_a_twin_nothing_measured_is_known_and_code_alone_decides_nothing() -> None:
    found = dominance(facts(twin=False), cells(WINNER), [], sizes(a=(100, 10), b=(200, 20), c=(300, 5)))
    assert found.better["a"] == {"b": ["lines", "complexity"], "c": ["lines"]}
    assert {criterion.reason for criterion in found.criteria if not criterion.exact} == {"no_twin"}
    assert (found.front, verdict(found)) == (NAMES, ("UNDECIDED", "no_twin"))


def test_where_the_twin_differs_it_is_unknown_and_not_tied() -> None:
    made = [
        cell.model_copy(update={"memory_peak_mib": 9 * (cell.memory_peak_mib or 0)}) if cell.contender == "a-twin" else cell
        for cell in bent(cells(WINNER), "cost", "a-twin", cpu_us_per_request={"service": 650.0})
    ]
    found = dominance(facts(), made, [], None)
    assert found.compared["a"]["b"] == found.better["a"]["b"] == ["wait p50", "wait cpu", "max throughput", "threads"]
    for id_ in ("cost cpu", "memory_peak"):
        assert (one(found, id_).best, one(found, id_).reason) == ([], "twin_failed")
    assert one(found, "cost cpu").values["b"] == pytest.approx(75, rel=0.02)
    assert verdict(found) == ("UNDECIDED", "twin_failed")  # the winner may be beaten there
    assert found.front == ["a"]


def test_a_bound_below_the_values_of_others_is_neither_better_nor_worse() -> None:
    made = bent(cells(WINNER), "max", "b", status="censored", limit="generator", throughput_rps=300.0)
    criterion = one(found := dominance(facts(), made, [], None), "max throughput")
    assert (criterion.values["b"], criterion.best, criterion.reason) == (None, ["a"], None)
    assert ("max throughput" in found.compared["a"]["b"], found.better["a"]["c"]) == (False, MEASURED)
    assert verdict(found) == ("REFUTED", None)
    all_ = one(dominance(facts(), bent(made, "max", "a c a-twin", status="censored", limit="database"), [], None), "max throughput")
    assert (all_.best, all_.reason) == ([], "database_bound")


def test_a_closed_bound_without_a_name_is_no_rate_that_was_not_sustained() -> None:
    made = bent(cells(), "max", "a a-twin b c", status="censored", limit=None)
    assert one(dominance(facts(), made, [], None), "max throughput").reason == "too_few_rounds"
    made = bent(cells(), "wait", "a a-twin b c", status="censored", limit=None)
    assert one(dominance(facts(), made, [], None), "wait p50").reason == "not_sustained"


def test_a_lower_bound_above_the_values_of_another_is_better() -> None:
    higher = planted(throughput={"c": 2.0})
    found = dominance(facts(), bent(cells(higher), "max", "c", status="censored", limit="generator"), [], None)
    assert one(found, "max throughput").best == ["c"]
    assert one(found, "max throughput").values["c"] is None
    assert "max throughput" in found.better["c"]["a"]
    lower = planted(throughput={"c": 0.5})
    found = dominance(facts(), bent(cells(lower), "max", "c", status="censored", limit="generator"), [], None)
    assert one(found, "max throughput").best == ["a", "b"]
    assert not any("max throughput" in found.better[name]["c"] for name in ("a", "b"))
    assert "max throughput" not in found.compared["c"]["a"]


def test_a_mixture_of_values_and_bounds_is_unknown() -> None:
    made = bent(cells(WINNER, rounds=12), "max", "c", status="censored", limit="generator", rounds=6)
    found = dominance(facts(), made, [], None)
    assert "max throughput" not in found.compared["c"]["b"]  # though six rounds have values
    assert "max throughput" in found.better["a"]["b"]


def test_a_rate_that_was_not_sustained_is_worse_than_one_that_was() -> None:
    made = bent(cells(), "wait", "b c", status="censored", limit="loop")
    made = [
        cell.model_copy(update={"throughput_rps": 0.6 * (cell.throughput_rps or 0)}) if cell.status == "censored" else cell for cell in made
    ]
    found = dominance(facts(), made, [], None)
    criterion = one(found, "wait p50")
    assert (criterion.unsustained, criterion.best) == (["b", "c"], ["a"])
    assert criterion.values == {"a": pytest.approx(100, abs=0.2), "b": None, "c": None}
    assert found.better["a"] == {"b": ["wait p50"], "c": ["wait p50"]}  # and not also in CPU, which is one of another rate
    assert (found.better["b"]["c"], "wait p50" in found.compared["b"]["c"], "wait cpu" in found.compared["a"]["b"]) == ([], False, False)
    for unlike in ({"limit": "database"}, {"limit": None}, {"throughput_rps": 1000.0}):  # no limit of its own; as many answers
        criterion = one(other := dominance(facts(), bent(made, "wait", "b c", **unlike), [], None), "wait p50")
        assert (other.better["a"]["b"], criterion.best) == ([], [])


# --- what belongs to a whole run ----------------------------------------------------------------------------------------


def test_peaks_are_those_of_the_scenarios_that_both_have_in_the_round() -> None:
    hungry = bent(cells(), "max", "a b c a-twin", memory_peak_mib=400.0)
    missing = [cell for cell in hungry if (cell.scenario, cell.contender) != ("max", "b")]
    found = dominance(facts(), missing, [], None)
    assert one(found, "memory_peak").values == {"a": pytest.approx(400), "b": pytest.approx(40, rel=0.02), "c": pytest.approx(400)}
    assert (found.better["b"]["a"], "memory_peak" in found.compared["a"]["b"]) == ([], True)
    assert one(found, "max throughput").best == ["a", "c"]


def test_memory_per_request_is_compared_in_kib_where_it_may_not_grow() -> None:
    plan = facts(headlines={"cost": "cpu", "wait": "p50", "max": "memory"})
    kib = {"a": -0.2, "a-twin": -0.2, "b": 20.0, "c": 0.5}
    made = [
        cell.model_copy(update={"memory_slope": Slope(kib=kib[cell.contender] + (cell.round - 3.5) / 50, first_kib=0, last_kib=0)})
        for cell in cells()
    ]
    found = dominance(plan, made, [], None)
    assert one(found, "max memory").best == ["a", "c"]
    assert one(found, "max memory").values["b"] == pytest.approx(20)
    assert (found.better["a"], found.better["c"]["b"]) == ({"b": ["max memory"], "c": []}, ["max memory"])


def test_of_the_starts_the_first_of_each_round_counts() -> None:
    seconds = {"a": 0.1, "a-twin": 0.1, "b": 3.0, "c": 0.1}
    starts = [
        Start(round=round_, contender=name, started_at="", ready_s=value * (1 + 0.01 * ((round_ + turn) % 3)) / (100 if again_ else 1))
        for round_ in range(1, 7)
        for turn, (name, value) in enumerate(seconds.items())
        for again_ in (False, True)
    ]
    found = dominance(facts(), cells(), starts, None)
    assert (found.better["a"]["b"], one(found, "ready_s").best) == (["ready_s"], ["a", "c"])
    assert one(found, "ready_s").values["b"] == pytest.approx(3.03, rel=0.01)
    failed = [start.model_copy(update={"ready_s": None}) if start.contender == "b" else start for start in starts]
    assert one(dominance(facts(), cells(), failed, None), "ready_s").best == ["a", "c"]


def sizes(**each: tuple[int, int]) -> Code:
    return Code(
        tool="x 1",
        services={f"service-{name}": Size(files=1, lines=lines, complexity=paths, functions=1) for name, (lines, paths) in each.items()},
        contenders={"a": "service-a", "b": "service-b", "c": "service-c"},
    )


def test_code_is_exact_and_the_same_build_is_tied() -> None:
    code = sizes(a=(1000, 100), b=(1009, 120)).model_copy(update={"contenders": {"a": "service-a", "b": "service-b", "c": "service-a"}})
    found = dominance(facts(), cells(), [], code)
    assert [(c.id, c.exact, c.best) for c in found.criteria[-2:]] == [("lines", True, NAMES), ("complexity", True, ["a", "c"])]
    assert (found.better["a"], found.compared["a"]["c"][-2:]) == ({"b": ["complexity"], "c": []}, ["lines", "complexity"])
    unknown = dominance(facts(), cells(), [], sizes(a=(1000, 100)))
    assert (one(unknown, "lines").reason, one(unknown, "lines").best, one(unknown, "lines").values["b"]) == ("no_code", [], None)


def test_two_are_needed_and_something_measured() -> None:
    assert verdict(dominance(facts(["a"]), cells(names=["a"]), [], None)) == ("NOT_MEASURED", "no_contender")
    assert verdict(Dominance(contenders=NAMES, criteria=[], better={}, front=NAMES)) == ("NOT_MEASURED", "no_scenario")


# --- chance, recordings, size ---------------------------------------------------------------------------------------------


def share_with_a_better(runs: int) -> float:
    """Of A/A runs, of 3 contenders and 18 comparisons each."""
    found = [dominance(facts(), cells(s=0.10, seed=seed), [], None) for seed in range(runs)]
    return sum(any(criteria for others in each.better.values() for criteria in others.values()) for each in found) / runs


def test_equal_programs_have_a_better_in_5_percent_of_runs_at_the_most(monkeypatch: pytest.MonkeyPatch) -> None:
    assert share_with_a_better(120) <= 0.05
    monkeypatch.setattr(judge, "holm", lambda p_values: [0.95] * len(p_values))
    assert share_with_a_better(20) > 0.05  # it can fail


def test_a_recorded_run_of_few_rounds_is_undecided() -> None:
    run, recorded = read_run(Path(__file__).parent / "recordings" / "run")
    found = dominance(run, recorded, [], None)
    assert verdict(found)[0] == "UNDECIDED"
    assert found.front == found.contenders


def test_many_cells_are_read_once_and_looked_up_from_then_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """20,000 cells of a day: each comparison looks at the cells of its own two contenders alone."""
    looked: list[int] = []
    true = judge.values

    def counted(cells: Any, scenario: str, contender: str, metric: Metric, as_: judge.Unit) -> dict[int, float]:
        kept = list(cells)
        looked.append(len(kept))
        return true(kept, scenario, contender, metric, as_)

    monkeypatch.setattr(judge, "values", counted)
    dominance(facts(), iter(cells(rounds=30)), [], None)  # an iterator can be read only once
    assert max(looked) <= 2 * 30
