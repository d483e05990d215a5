"""The rule: what decides, what closes the gate, and the reason for every answer that is not given."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsb.analyse.judge import (
    NO_TWIN,
    Gate,
    Paired,
    Question,
    Unit,
    Verdict,
    band,
    gate,
    gate_of,
    judge,
    paired,
    series,
    shown,
    sign_survives,
    together,
    unit,
)
from nsb.analyse.stats import contrast
from nsb.records.judged import Cell, Latency, Slope

OPEN = Gate(reason=None, rounds=6, value=1.0, low=0.97, high=1.03)


def pair(*x: float, unit: Unit = "ratio") -> Paired:
    return Paired(name="a : b", unit=unit, x=dict(enumerate(x, 1)))


def asked(*x: float, **more: Any) -> Verdict:
    unit = more.pop("unit", "ratio")
    return judge([Question(pair=pair(*x, unit=unit), **{"gate": OPEN, **more})])[0]


HIGHER = (0.20, 0.22, 0.18, 0.21, 0.19, 0.20)
EQUAL = (0.01, -0.01, 0.02, -0.02, 0.01, -0.005)


def test_an_interval_on_one_side_decides() -> None:
    found = asked(*HIGHER)
    assert (found.outcome, found.reason, found.rounds_needed) == ("higher", None, None)
    assert found.value == pytest.approx(math.exp(0.2))
    assert found.low is not None
    assert 1 < found.low < math.exp(0.2)
    assert (found.agree, found.sign_holds) == (1.0, True)
    assert asked(*(-x for x in HIGHER)).outcome == "lower"


def test_fewer_than_five_rounds_give_no_verdict_however_clear() -> None:
    found = asked(0.5, 0.5, 0.51, 0.5)
    assert (found.outcome, found.reason, found.rounds_needed) == ("undecided", "too_few_rounds", 5)
    assert found.low is not None  # the interval is still shown
    assert asked(0.5, 0.5, 0.51, 0.5, 0.5).outcome == "higher"


@pytest.mark.parametrize("x", [(), (0.3,)])
def test_without_two_rounds_there_is_no_interval(x: tuple[float, ...]) -> None:
    found = asked(*x)
    assert (found.low, found.high, found.equality_low, found.sign_holds, found.reason) == (None, None, None, None, "too_few_rounds")


def test_a_lower_bound_shows_one_side_only() -> None:
    lower = tuple(-x for x in HIGHER)
    for floor, can, cannot in (("first", HIGHER, lower), ("second", lower, HIGHER)):
        told = asked(*can, floor=floor)
        assert (told.outcome, told.reason, told.floor) == ("higher" if floor == "first" else "lower", None, floor)
        assert (said := asked(*cannot, floor=floor)).outcome == "undecided"
        assert (said.reason, said.rounds_needed) == ("bound", None)  # no number of rounds would tell
        for x in (EQUAL, can, cannot):
            assert asked(*x, floor=floor, asks="equality").outcome == (told.outcome if x == can else "undecided")
        differs = gate(pair(0.04, 0.05, 0.045, 0.05, 0.04, 0.045))
        assert asked(*can, floor=floor, gate=differs).outcome == told.outcome  # beyond what the twin shows
        assert asked(*cannot, floor=floor, gate=differs).reason == "bound"
        assert (asked(*can, floor=floor, gate=NO_TWIN).reason, asked(0.2, 0.2, floor=floor).reason) == ("no_twin", "too_few_rounds")
    assert asked(0.03, -0.02, 0.04, -0.01, 0.02, 0.03, floor="first").reason == "straddles"


def test_what_a_bound_cannot_show_lends_no_level_to_others() -> None:
    unsteady = Question(pair=pair(0.2, 0.3, 0.1, 0.25, 0.15, 0.2), gate=OPEN)
    first = Question(pair=pair(*(-x for x in HIGHER)), gate=OPEN)
    assert [found.level for found in judge([unsteady, first])] == [pytest.approx(0.95), pytest.approx(0.975)]
    assert judge([unsteady, first.model_copy(update={"floor": "first"})])[0].level == pytest.approx(0.975)
    assert judge([unsteady, first.model_copy(update={"floor": "second"})])[0].level == pytest.approx(0.95)


def test_without_a_twin_nothing_is_decided() -> None:
    for asks in ("difference", "equality"):
        found = asked(*HIGHER, gate=NO_TWIN, asks=asks)
        assert (found.outcome, found.reason, found.rounds_needed) == ("undecided", "no_twin", None)
    assert gate(None).reason == "no_twin"
    assert gate(pair(0.0, 0.0, 0.01, 0.0)).reason == "no_twin"


def test_the_gate_is_open_where_the_twins_interval_holds_1_and_its_ratio_is_within_the_margin() -> None:
    passed = gate(pair(*EQUAL))
    assert (passed.reason, passed.rounds) == (None, 6)
    assert passed.low is not None
    assert passed.high is not None
    assert passed.low < 1 < passed.high


def test_a_twin_that_differs_closes_the_gate() -> None:
    closed = gate(pair(0.04, 0.05, 0.045, 0.05, 0.04, 0.045))  # within 10 %, but not 1
    assert closed.reason == "twin_failed"
    found = asked(*(x / 5 for x in HIGHER), gate=closed)
    assert (found.outcome, found.reason, found.rounds_needed) == ("undecided", "twin_failed", None)


def test_a_difference_beyond_what_the_twin_shows_is_answered_all_the_same() -> None:
    closed = gate(pair(0.04, 0.05, 0.045, 0.05, 0.04, 0.045))
    assert closed.low is not None
    assert closed.high is not None
    assert closed.apart("ratio") == pytest.approx(math.log(closed.high)) == max(math.log(closed.high), -math.log(closed.low))
    near, far = (
        tuple(closed.apart("ratio") + each + noise for noise in (0.001, -0.001, 0.0005, 0.0, -0.0005, 0.0)) for each in (0.0005, 0.01)
    )
    assert (asked(*near, gate=closed).outcome, asked(*near, gate=closed).reason) == ("undecided", "twin_failed")
    assert (asked(*far, gate=closed).outcome, asked(*far, gate=closed).reason) == ("higher", None)
    assert asked(*(-x for x in far), gate=closed).outcome == "lower", "whichever side the twin leans to"
    assert asked(*far, gate=closed).gate.reason == "twin_failed", "and it says that the twin had failed"


def test_where_the_twin_differs_equality_needs_room_for_that_too() -> None:
    closed = gate(pair(0.04, 0.05, 0.045, 0.05, 0.04, 0.045))
    assert asked(*EQUAL, asks="equality", gate=closed).outcome == "equal"  # within 10 % and the 5 that two equal ones differ by
    assert asked(*EQUAL, asks="equality", gate=closed).gate.reason == "twin_failed", "and it says that the twin had failed"
    near = tuple(x + 0.07 for x in EQUAL)
    assert asked(*near, asks="equality").outcome == "equal"
    assert (asked(*near, asks="equality", gate=closed).outcome, asked(*near, asks="equality", gate=closed).reason) == (
        "undecided",
        "twin_failed",
    )
    far_apart = gate(pair(0.3, 0.31, 0.3, 0.31, 0.3))
    assert asked(*EQUAL, asks="equality", gate=far_apart).outcome == "undecided"  # by a third: nothing is equal there
    inside = tuple(math.log(1.1) + closed.apart("ratio") / 2 + noise for noise in (0.001, -0.001, 0.0005, 0.0, -0.0005))
    assert asked(*inside, asks="equality").outcome == "higher"
    assert asked(*inside, asks="equality", gate=closed).outcome == "undecided"
    assert asked(*(x + closed.apart("ratio") for x in inside), asks="equality", gate=closed).outcome == "higher"


def test_in_ms_too_what_lies_beyond_the_twin_is_answered() -> None:
    closed = gate(pair(2.1, 2.0, 1.9, 2.0, 2.1, unit="ms"))
    assert closed.apart("ms") == closed.high
    assert asked(2.1, 2.0, 1.9, 2.0, 2.2, unit="ms", gate=closed).outcome == "undecided"
    assert asked(-3.1, -3.0, -2.9, -3.0, -3.2, unit="ms", gate=closed).outcome == "lower"


def test_of_several_twins_the_one_furthest_apart_counts() -> None:
    near, far = gate(pair(0.04, 0.05, 0.045, 0.05, 0.04)), gate(pair(-0.2, -0.21, -0.2, -0.21, -0.2))
    assert together([gate(pair(*EQUAL)), near, far], "ratio") == together([far, near], "ratio") == far
    assert together([gate(pair(0.0)), gate(pair(*EQUAL))], "ratio").reason is None
    assert together([], "ratio") == NO_TWIN


def test_a_twin_too_noisy_to_be_near_1_closes_the_gate() -> None:
    wide = pair(0.9, -0.5, 0.4, 0.3, -0.3, 0.2)  # holds 1, at a ratio of 1.18
    assert gate(wide).reason == "twin_failed"
    assert gate(wide, margin=0.5).reason is None


def test_gates_of_latency_are_in_ms() -> None:
    assert gate(pair(0.4, -0.3, 0.2, 0.1, -0.2, unit="ms")).reason is None
    assert gate(pair(2.1, 2.0, 1.9, 2.0, 2.1, unit="ms")).reason == "twin_failed"
    assert gate(pair(4.0, -1.0, 3.0, -2.0, 3.0, unit="ms")).reason == "twin_failed"


def test_a_difference_in_ms_is_reported_in_ms() -> None:
    found = asked(2.1, 2.0, 1.9, 2.0, 2.1, unit="ms")
    assert (found.outcome, found.value) == ("higher", pytest.approx(2.02))
    assert asked(0.1, -0.1, 0.2, 0.0, -0.2, unit="ms", asks="equality").outcome == "equal"


def test_an_interval_over_1_straddles_and_says_how_many_rounds_it_would_take() -> None:
    found = asked(0.09, -0.01, 0.06, 0.05, -0.02, 0.06)
    assert (found.outcome, found.reason) == ("undecided", "straddles")
    assert found.rounds_needed is not None
    assert 6 < found.rounds_needed <= 20
    assert found.agree == pytest.approx(4 / 6)


def test_a_sign_that_hangs_on_one_round_is_unsteady() -> None:
    found = asked(0.30, -0.02, -0.03, -0.01, -0.02, -0.03)
    assert (found.outcome, found.reason, found.sign_holds) == ("undecided", "unsteady", False)


@given(st.lists(st.floats(-1, 1), min_size=5, max_size=12))
def test_a_lost_sign_never_meets_an_interval_that_excludes_1(x: list[float]) -> None:
    """Why leaving a round out changes the reason of an undecided answer only."""
    if not sign_survives(x):
        around = contrast(x).interval(0.95)
        assert around.low <= 1e-9
        assert around.high >= -1e-9


def test_from_eight_rounds_on_the_rank_interval_must_agree() -> None:
    x = (0.30, 0.30, 0.30, 0.30, 0.30, -0.01, -0.01, -0.01)
    found = asked(*x)
    assert found.low is not None
    assert found.rank_low is not None
    assert found.low > 1 >= found.rank_low
    assert (found.outcome, found.reason) == ("undecided", "unsteady")
    assert asked(*HIGHER).rank_low is None
    assert asked(*HIGHER, *HIGHER).outcome == "higher"


def test_adjustment_makes_a_narrow_answer_undecided_and_a_clear_one_stands() -> None:
    narrow = (0.09, 0.01, 0.06, 0.05, 0.01, 0.06)
    assert asked(*narrow).outcome == "higher"
    family = [Question(pair=pair(*x), gate=OPEN) for x in (narrow, HIGHER, EQUAL, EQUAL, EQUAL, EQUAL)]
    found = judge(family)
    assert [v.outcome for v in found[:2]] == ["undecided", "higher"]
    assert [v.level for v in found[:3]] == pytest.approx([1 - 0.05 / 5, 1 - 0.05 / 6, 1 - 0.05 / 5])


def test_what_the_run_cannot_decide_and_what_is_exploratory_do_not_count_in_the_family() -> None:
    failed = gate(pair(0.04, 0.05, 0.045, 0.05, 0.04, 0.045))
    found = judge(
        [
            Question(pair=pair(*HIGHER), gate=OPEN),
            Question(pair=pair(0.1, 0.1, 0.1), gate=OPEN),
            Question(pair=pair(*EQUAL), gate=NO_TWIN),
            Question(pair=pair(*EQUAL), gate=OPEN, primary=False),
            Question(pair=pair(*EQUAL), gate=failed),
        ]
    )
    assert [v.level for v in found] == pytest.approx([1 - 0.05 / 2, 0.95, 0.95, 0.95, 0.95])
    assert [v.primary for v in found] == [True, True, True, False, True]


def test_equality_is_shown_never_assumed() -> None:
    assert asked(*EQUAL, asks="equality").outcome == "equal"
    noisy = asked(0.2, -0.2, 0.15, -0.1, 0.1, -0.12, asks="equality")
    assert (noisy.outcome, noisy.reason) == ("undecided", "straddles")
    assert noisy.rounds_needed is not None
    assert asked(*EQUAL, asks="equality", margin=0.01).outcome == "undecided"
    assert asked(*EQUAL).outcome == "undecided"  # a difference was asked, and none was found


def test_equality_is_refuted_beyond_the_margin_only() -> None:
    assert asked(*HIGHER, asks="equality").outcome == "higher"
    near = asked(*(x - 0.1 for x in HIGHER), asks="equality")  # 10.5 % more: on the margin
    assert (near.outcome, near.reason) == ("undecided", "straddles")
    small = tuple(x - 0.15 for x in HIGHER)
    assert (asked(*small).outcome, asked(*small, asks="equality").outcome) == ("higher", "equal")


def test_ranks_must_show_equality_too() -> None:
    x = (0.0, 0.01, 0.09, 0.1, 0.095, 0.1, 0.0, 0.01)
    found = asked(*x, asks="equality", margin=0.09)
    assert found.equality_high is not None
    assert found.rank_high is not None
    assert found.equality_high < 1.09 <= found.rank_high
    assert (found.outcome, found.reason) == ("undecided", "unsteady")


# --- from cells -------------------------------------------------------------------------------------------------------

RUN: dict[str, Any] = {
    "plan": {
        "headlines": {"cost": "cpu", "wait": "p50"}, "models": {"cost": "open", "wait": "open"}, "holds_ms": {"cost": 0, "wait": 100},
        "controls": {"b-twin": {"kind": "twin", "of": "b"}, "b-slow": {"kind": "plant", "of": "b", "worsens": "cpu"}},
    }
}  # fmt: skip


def cell(contender: str, round_: int, us: float, scenario: str = "cost", status: str = "valid", ms: float = 100.0, **more: Any) -> Cell:
    data: dict[str, Any] = {
        "round": round_, "contender": contender, "scenario": scenario, "profile": "1cpu", "model": "open", "status": status,
        "latency_ms": Latency(p50=ms, p90=None, p99=None, max=None), "cpu_us_per_request": {"service": us},
    }  # fmt: skip
    return Cell(**{**data, **more})


def test_pairs_are_of_rounds_that_both_have_valid() -> None:
    cells = [cell("a", 1, 60), cell("b", 1, 50), cell("a", 2, 66), cell("b", 2, 50, status="censored"), cell("a", 3, 55), cell("b", 4, 50)]
    assert paired(RUN, cells, "a", "b", "cost", "cpu").x == pytest.approx({1: math.log(60 / 50)})


def test_the_last_attempt_counts_even_where_it_is_the_invalid_one() -> None:
    cells = [cell("a", 1, 9, status="invalid"), cell("a", 1, 60, attempt=2), cell("a", 2, 60), cell("a", 2, 9, status="failed", attempt=2)]
    assert series(cells, "cost", "a", "cpu") == {1: 60}


def test_memory_that_did_not_grow_in_a_round_has_no_series() -> None:
    grown = [cell("a", r, 1, memory_slope=Slope(kib=kib, first_kib=kib, last_kib=kib)) for r, kib in ((1, 8.0), (2, 9.0))]
    assert series(grown, "cost", "a", "memory") == {1: 8.0, 2: 9.0}
    shrunk = cell("a", 3, 1, memory_slope=Slope(kib=-0.5, first_kib=-1.5, last_kib=0.5))
    assert series([*grown, shrunk], "cost", "a", "memory") == {}


def test_latency_from_a_schedule_is_a_difference_and_other_figures_are_ratios() -> None:
    cells = [cell("a", 1, 60, "wait", ms=104.5), cell("b", 1, 50, "wait", ms=102.0)]
    waits, costs = (paired(RUN, cells, "a", "b", "wait", metric) for metric in ("p50", "cpu"))
    assert (waits.unit, waits.x) == ("ms", {1: 2.5})
    assert (costs.unit, costs.x) == ("ratio", pytest.approx({1: math.log(1.2)}))
    old = {"plan": {"models": RUN["plan"]["models"]}}  # a run that does not know holds or controls
    assert paired(old, cells, "a", "b", "wait", "p50").unit == "ms"
    assert gate_of(old, cells, "wait", "p50") == NO_TWIN


def test_shares_are_compared_in_points_and_five_of_them_are_equal() -> None:
    run = {"plan": {"models": {"over": "closed"}}}
    assert (unit(run, "over", "goodput"), unit(run, "over", "served"), unit(run, "over", "cpu")) == ("points", "points", "ratio")
    assert (band("points"), shown(-12.5, "points")) == (5.0, -12.5)


def test_the_gate_of_a_run_is_its_twins_and_no_plants() -> None:
    noise = (0.0, 0.5, -0.5, 0.3, -0.2)
    cells = [c for r, x in enumerate(noise, 1) for c in (cell("b", r, 50), cell("b-twin", r, 50 + x), cell("b-slow", r, 75))]
    assert gate_of(RUN, cells, "cost", "cpu").reason is None
    assert gate_of(RUN, [c for c in cells if c.contender != "b-twin"], "cost", "cpu").reason == "no_twin"
    apart = [c.model_copy(update={"cpu_us_per_request": {"service": 60.0 + c.round / 9}}) if c.contender == "b-twin" else c for c in cells]
    assert gate_of(RUN, apart, "cost", "cpu").reason == "twin_failed"
    two = {"plan": {**RUN["plan"], "controls": {**RUN["plan"]["controls"], "a-twin": {"kind": "twin", "of": "a"}}}}
    assert gate_of(two, cells, "cost", "cpu").reason is None  # a twin that was not measured there says nothing
    worse = [c for r in range(1, 6) for c in (cell("a", r, 50), cell("a-twin", r, 60 + r / 9))]
    assert gate_of(two, [*cells, *worse], "cost", "cpu").reason == "twin_failed"  # each twin must pass
