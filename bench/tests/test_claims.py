"""Claims judged by planted runs: each rule true, false and undecidable; its reasons; what decides and what only accompanies."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from nsb.analyse import claims as engine
from nsb.analyse import dominance, judge
from nsb.analyse.merged import across
from nsb.records.judged import Cell, Latency, LevelFigure, OverloadFigure, Slope
from nsb.records.sources import Code, Size
from nsb.registry.claims import Claim, Claims, Criterion, Dominance, Judged, JudgedClaim, Judgement
from nsb.render import claims as verdicts
from nsb.render import messages

SAID = {"en": "It is so.", "ko": "그렇습니다."}
RUN: dict[str, Any] = {
    "started_at": "2026-11-20T20:13:51+00:00",
    "plan": {
        "tier": "standard", "profile": "1cpu", "rounds": 6, "seed": 1, "workers": 2,
        "contenders": ["a", "b", "c", "a-twin", "a-slow"], "scenarios": ["cost", "wait", "most", "held", "climb"],
        "headlines": {"cost": "cpu", "wait": "p50", "most": "throughput", "held": "throughput", "climb": "memory"},
        "models": {"cost": "open", "wait": "open", "most": "closed", "held": "closed", "climb": "closed"},
        "holds_ms": {"cost": 0, "wait": 100, "most": 0, "held": 500, "climb": 750},
        "controls": {"a-twin": {"kind": "twin", "of": "a"}, "a-slow": {"kind": "plant", "of": "a", "worsens": "cpu"}},
    },
    "runner": "native",
    "host": {
        "name": "vm", "cpu": "A CPU", "cores": 2, "memory_gib": 23.5, "system": "Debian", "kernel": "6", "commit": "abc", "changed": False,
    },
    "database": {"kind": "mariadb", "version": "11.4.5", "private": True},
    "runtimes": {
        name: {
            "runtime": "Java", "runtime_version": "25.0.3", "framework": "Spring Boot (MVC)", "framework_version": "4.1.0",
            "driver": "MySQL Connector/J", "driver_version": "26.10.0", "workers": 2, "pool_size": 150,
            "settings": {"server_threads": threads},
        }
        for name, threads in (("a", 200), ("b", 200), ("c", None), ("a-twin", 200))
    },
}  # fmt: skip
NOISE = (0.01, -0.01, 0.02, -0.02, 0.01, -0.005)


def about(mean: float, turn: int = 0, times: float = 1.0) -> list[float]:
    """Six rounds about a mean; `turn` shifts the noise, so that pairs have some too."""
    return [mean * math.exp(times * NOISE[(i + turn) % 6]) for i in range(6)]


def figure(metric: str, value: float) -> dict[str, Any]:
    latency = dict.fromkeys(("p50", "p90", "p99", "max"))
    return {
        "cpu": {"cpu_us_per_request": {"service": value}},
        "memory": {"memory_slope": Slope(kib=value, first_kib=value, last_kib=value)},
        "goodput": {"overload": OverloadFigure(capacity_rps=1.0, idle_ms=1.0, limit_s=10.0, levels=levels(value))},
        "threads": {"threads_peak": round(value)},
        "switches": {"switches_per_request": value},
        "memory_peak": {"memory_peak_mib": value},
        "p50": {"latency_ms": Latency(**{**latency, "p50": value})},
        "p99": {"latency_ms": Latency(**{**latency, "p99": value})},
    }.get(metric, {"throughput_rps": value})


def levels(goodput: float) -> list[LevelFigure]:
    """The same share at three levels; back after twice as many ms."""
    return [
        LevelFigure(percent=percent, goodput=goodput, p99_ms=None, memory_mib=1.0, late=False, back_ms=2 * goodput)
        for percent in (100, 120, 150)
    ]


def ran(scenario: str, metric: str, values: Mapping[str, Sequence[float]], **more: Any) -> list[Cell]:
    """Rounds of contenders, with the twin of `a` unless it is given."""
    twin = {} if "a-twin" in values else {"a-twin": [*values["a"][1:], values["a"][0]]}
    return [cell(scenario, metric, name, r, v, **more) for name, own in {**values, **twin}.items() for r, v in enumerate(own, 1)]


def cell(scenario: str, metric: str, name: str, round_: int, value: float, **more: Any) -> Cell:
    data = {"round": round_, "contender": name, "scenario": scenario, "profile": "1cpu", "status": "valid", "limit": "cpu"}
    return Cell(**{**data, "model": RUN["plan"]["models"].get(scenario, "open"), **figure(metric, value), **more})


def with_(cells: Sequence[Cell], name: str, rounds: Sequence[int], **more: Any) -> list[Cell]:
    return [c.model_copy(update=more) if c.contender == name and c.round in rounds else c for c in cells]


def claim(*parts: dict[str, Any], id_: str = "A1", **more: Any) -> Claim:
    return Claim.model_validate({"id": id_, "article": id_[0], "said": SAID, "parts": list(parts), **more})


def judged(cells: Sequence[Cell], *claims: Claim, run: dict[str, Any] | None = None, code: Code | None = None) -> Judgement:
    given = Claims(articles={}, claims={f"{c.id}": c for c in claims})
    return engine.judged(run or RUN, cells, [], code, given)


def one(cells: Sequence[Cell], *parts: dict[str, Any], **more: Any) -> JudgedClaim:
    run, code = more.pop("run", None), more.pop("code", None)
    return judged(cells, claim(*parts, **more), run=run, code=code).claims[0]


def part(cells: Sequence[Cell], rule: dict[str, Any], **more: Any) -> Judged:
    return one(cells, rule, **more).parts[0]


def said(found: Judged | JudgedClaim) -> tuple[str, str | None]:
    return found.conclusion if isinstance(found, JudgedClaim) else found.verdict, found.reason


def planned(**more: Any) -> dict[str, Any]:
    return {**RUN, "plan": {**RUN["plan"], **more}}


# --- a figure that a run did not count --------------------------------------------------------------------------------------


def test_context_switches_are_compared_where_they_were_counted_and_not_measured_elsewhere() -> None:
    rule = {"rule": "ratio_at_least", "scenario": "cost", "metric": "switches", "contender": "a", "other": "b", "ratio": 1.1}
    counted = ran("cost", "switches", {"a": about(3.0), "b": about(2.0, 2)})
    assert said(part(counted, rule)) == SUPPORTED
    assert said(part([c.model_copy(update={"switches_per_request": None}) for c in counted], rule)) == ("NOT_MEASURED", "no_figure")
    assert said(part(with_(counted, "b", (1, 2), status="invalid", switches_per_request=None), rule))[0] == "UNDECIDED"


# --- the profile that a claim asks for --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("asked", "reason"), [("ncpu", "needs_ncpu"), ("1cpu", "needs_1cpu")])
def test_a_run_of_another_profile_measures_nothing_of_a_claim_that_asks_for_one(asked: str, reason: str) -> None:
    cells = ran("cost", "cpu", {"a": about(100), "b": about(50, 2)})
    sums = {"rule": "arithmetic", "over": [10], "under": [2], "said": 5}
    also = [{"said": SAID, "parts": [ATLEAST], "profile": asked}, {"said": SAID, "parts": [sums]}, {"said": SAID, "parts": [ATLEAST]}]
    other = planned(profile="1cpu" if asked == "ncpu" else "ncpu")
    found = one(cells, ATLEAST, profile=asked, also=also, run=other)
    assert (said(found), found.parts[0].missing, found.parts[0].comparisons) == (("NOT_MEASURED", reason), [f"profile {asked}"], [])
    assert [aside.verdict for aside in found.also] == ["NOT_MEASURED", "SUPPORTED", "SUPPORTED"]
    assert said(one(cells, ATLEAST, profile=asked, run=planned(profile=asked))) == SUPPORTED
    assert said(one(cells, ATLEAST, run=other)) == SUPPORTED
    lacking = one(cells, {**ATLEAST, "contender": "z"}, {"rule": "no_single_winner"}, profile=asked, run=other)
    assert [part.missing for part in lacking.parts] == [[f"profile {asked}", "contender z"], [f"profile {asked}"]]


def test_a_claim_of_another_profile_takes_nothing_from_the_level_of_the_others() -> None:
    cells = ran("cost", "cpu", {"a": about(100), "b": about(50, 2), "c": about(70, 1)})
    level = one(cells, ATLEAST).parts[0].comparisons[0].level
    beside = claim({**ATLEAST, "other": "c", "ratio": 1.2}, id_="A2", profile="ncpu")
    assert judged(cells, claim(ATLEAST), beside).claims[0].parts[0].comparisons[0].level == level
    same = beside.model_copy(update={"profile": "1cpu"})
    assert judged(cells, claim(ATLEAST), same).claims[0].parts[0].comparisons[0].level > level


# --- each rule: true, false, undecidable ------------------------------------------------------------------------------------

ATLEAST = {"rule": "ratio_at_least", "scenario": "cost", "metric": "cpu", "contender": "a", "other": "b", "ratio": 1.5}
ATMOST = {**ATLEAST, "rule": "ratio_at_most"}
SUPPORTED, REFUTED = ("SUPPORTED", None), ("REFUTED", None)


@pytest.mark.parametrize(
    ("a", "at_least", "at_most"),
    [
        (about(100), SUPPORTED, REFUTED),
        (about(60), REFUTED, SUPPORTED),  # more than b, and not 1.5 times as much
        (about(81, times=9), ("UNDECIDED", "straddles"), ("UNDECIDED", "straddles")),
    ],
)
def test_a_ratio_is_held_against_the_border_that_the_claim_names(a: list[float], at_least: Any, at_most: Any) -> None:
    cells = ran("cost", "cpu", {"a": a, "b": about(50, 2)})
    assert said(part(cells, ATLEAST)) == at_least
    assert said(part(cells, ATMOST)) == at_most


def test_a_comparison_tells_all_that_it_rests_on_in_the_unit_of_the_claim() -> None:
    found = part(ran("cost", "cpu", {"a": about(100), "b": about(50, 2)}), ATLEAST)
    c = found.comparisons[0]
    assert (c.contender, c.other, c.unit, c.border, c.rounds) == ("a", "b", "ratio", 1.5, 6)
    assert (c.level, c.agree, c.sign_holds) == (0.95, 1.0, True)
    assert (c.value, c.rounds_needed) == (pytest.approx(2.0), None)
    assert c.low is not None
    assert c.high is not None
    assert 1.9 < c.low < 2 < c.high < 2.1
    assert c.gate_low is not None
    assert c.gate_high is not None
    assert c.gate_low < 1 < c.gate_high
    assert [(row.contender, row.rounds, row.limits) for row in found.rows] == [("a", 6, {"cpu": 6}), ("b", 6, {"cpu": 6})]
    assert found.rows[0].value == pytest.approx(100, rel=0.01)


def test_an_undecided_ratio_says_how_many_rounds_it_would_take() -> None:
    found = one(ran("cost", "cpu", {"a": about(80, times=6), "b": about(50, 2)}), ATLEAST)
    assert said(found) == ("UNDECIDED", "straddles")
    assert found.rounds_needed is not None
    assert found.rounds_needed > 6
    assert found.parts[0].comparisons[0].rounds_needed == found.rounds_needed


def test_equality_of_several_is_that_of_every_pair() -> None:
    rule = {"rule": "within_margin", "scenario": "cost", "metric": "cpu", "contenders": ["a", "b", "c"]}
    equal = {"a": about(50), "b": about(50.5, 1), "c": about(49.5, 2)}
    found = part(ran("cost", "cpu", equal), rule)
    assert said(found) == SUPPORTED
    assert [(c.contender, c.other, c.level, c.border) for c in found.comparisons] == [
        ("a", "b", 0.90, 1.0), ("a", "c", 0.90, 1.0), ("b", "c", 0.90, 1.0),
    ]  # fmt: skip
    assert said(part(ran("cost", "cpu", {**equal, "c": about(70, 2)}), rule)) == REFUTED
    assert said(part(ran("cost", "cpu", {**equal, "c": about(50, 2, times=10)}), rule)) == ("UNDECIDED", "straddles")
    assert said(part(ran("cost", "cpu", {**equal, "c": about(70, 2)}), {**rule, "margin": 0.8})) == SUPPORTED


def test_latency_from_a_schedule_is_equal_within_ms_and_has_a_ratio_where_one_is_claimed() -> None:
    cells = ran("wait", "p50", {"a": about(101, times=0.1), "b": about(100, 2, times=0.1)})
    rule = {"rule": "within_margin", "scenario": "wait", "metric": "p50", "contenders": ["a", "b"]}
    assert said(part(cells, {**rule, "margin": 2.0})) == SUPPORTED
    found = part(cells, {**rule, "margin": 0.5})
    assert (found.verdict, found.comparisons[0].unit, found.comparisons[0].value) == ("REFUTED", "ms", pytest.approx(1.0, abs=0.02))
    ratio = part(cells, {**ATMOST, "scenario": "wait", "metric": "p50", "ratio": 1.02})
    assert (ratio.verdict, ratio.comparisons[0].unit) == ("SUPPORTED", "ratio")


FIGURE = {"scenario": "most", "metric": "throughput", "contenders": ["b"], "value": 1000}


@pytest.mark.parametrize(
    ("b", "at_least", "at_most", "equals"),
    [
        (about(1500, 2), "SUPPORTED", "REFUTED", "REFUTED"),
        (about(700, 2), "REFUTED", "SUPPORTED", "REFUTED"),
        (about(1001, 2), "UNDECIDED", "UNDECIDED", "SUPPORTED"),
        (about(1100, 2, times=8), "UNDECIDED", "UNDECIDED", "UNDECIDED"),
    ],
)
def test_one_figure_is_held_against_a_value(b: list[float], at_least: str, at_most: str, equals: str) -> None:
    cells = ran("most", "throughput", {"a": about(900), "b": b})
    wanted = {"figure_at_least": at_least, "figure_at_most": at_most, "figure_equals": equals}
    assert {rule: part(cells, {"rule": rule, **FIGURE}).verdict for rule in wanted} == wanted
    alone = [c for c in cells if c.contender == "b"]
    assert {said(part(alone, {"rule": rule, **FIGURE})) for rule in wanted} == {("UNDECIDED", "no_twin")}  # a gate for one side too


def test_a_figure_of_latency_or_memory_stays_in_its_own_unit() -> None:
    waits = ran("wait", "p50", {"a": about(103, times=0.1)})
    found = part(waits, {"rule": "figure_equals", "scenario": "wait", "metric": "p50", "contenders": ["a"], "value": 100, "margin": 0.04})
    c = found.comparisons[0]
    assert (found.verdict, c.unit, c.border, c.value) == ("SUPPORTED", "ms", 100, pytest.approx(103, abs=0.1))
    memory = ran("climb", "memory", {"a": [-1.0, 2.0, 1.0, -0.5, 0.5, 1.0]})
    found = part(memory, {"rule": "figure_at_most", "scenario": "climb", "metric": "memory", "contenders": ["a"], "value": 10})
    assert (found.verdict, found.comparisons[0].unit, found.rows[0].value) == ("SUPPORTED", "KiB", pytest.approx(0.5))


CAP = {"rule": "cap_equals", "scenario": "held", "contenders": ["a", "b"], "cap": "threads"}


def test_a_cap_is_servers_by_hold_and_the_cells_must_name_it() -> None:
    capped = ran("held", "throughput", {"a": about(400), "b": about(404, 2)}, limit="threads")
    found = part(capped, CAP)
    assert (said(found), found.computed, found.comparisons[0].value) == (SUPPORTED, 400, pytest.approx(1.0, abs=0.01))
    assert part(capped, {**CAP, "cap": "pool"}).computed == 300
    assert said(part(capped, {**CAP, "cap": "pool"})) == REFUTED
    assert (part(capped, {**CAP, "cap": "loop"}).computed, part(capped, {**CAP, "cap": "carriers"}).computed) == (4, 4)
    below = ran("held", "throughput", {"a": about(400), "b": about(300, 2)}, limit="threads")
    assert said(part(below, CAP)) == REFUTED
    noisy = ran("held", "throughput", {"a": about(400), "b": about(410, 2, times=9)}, limit="threads")
    assert said(part(noisy, CAP)) == ("UNDECIDED", "straddles")


def test_a_throughput_that_equals_the_cap_by_chance_does_not_support_it() -> None:
    equal = ran("held", "throughput", {"a": about(400), "b": about(404, 2)}, limit="threads")
    assert said(part(with_(equal, "b", range(1, 7), limit="offered"), CAP)) == REFUTED
    assert said(part(with_(equal, "b", (1, 2, 3), limit="offered"), CAP)) == ("UNDECIDED", "unsteady")
    assert said(part(with_(equal, "b", (1,), limit="offered"), CAP)) == SUPPORTED


def test_who_has_no_such_servers_is_judged_by_what_the_cells_name() -> None:
    rule = {**CAP, "contenders": ["c"]}
    free = ran("held", "throughput", {"a": about(400), "c": about(600, 2)}, limit="offered")
    found = part(free, rule)
    assert (said(found), found.computed, found.comparisons) == (REFUTED, None, [])
    assert said(part(with_(free, "c", range(1, 7), limit="threads"), rule)) == ("UNDECIDED", "invalid")
    assert said(part([c for c in free if c.round < 4], rule)) == ("UNDECIDED", "too_few_rounds")
    unknown = part(free, rule, run={**RUN, "runtimes": {}})
    assert (said(unknown), unknown.missing) == (("NOT_MEASURED", "no_contender"), ["runtime of c"])


def test_a_limit_holds_in_nearly_all_rounds_that_count_bounds_among_them() -> None:
    rule = {"rule": "limited_by", "scenario": "most", "contenders": ["a", "b"], "limit": "generator"}
    cells = ran("most", "throughput", {"a": about(900), "b": about(900, 1)}, limit="generator", status="censored")
    found = part(cells, rule)
    assert (said(found), [(row.value, row.rounds, row.censored) for row in found.rows]) == (SUPPORTED, [(None, 0, 6), (None, 0, 6)])
    valid: dict[str, Any] = {"limit": "cpu", "status": "valid"}
    assert said(part(with_(cells, "b", (1,), **valid), rule)) == SUPPORTED
    assert said(part(with_(cells, "b", (1, 2, 3, 4, 5), **valid), rule)) == REFUTED
    assert said(part(with_(cells, "b", (1, 2), **valid), rule)) == ("UNDECIDED", "unsteady")
    assert said(part(with_(cells, "b", (1, 2), status="invalid", reasons=["V7 others"]), rule)) == ("UNDECIDED", "noisy_machine")


def test_slopes_are_compared_as_they_are() -> None:
    rule = {"rule": "slope_greater", "scenario": "climb", "contender": "a", "other": "b", "kib": 20.0}
    shrinking = [-2.0, 1.0, 0.5, -1.0, 2.0, -0.5]
    found = part(ran("climb", "memory", {"a": about(60), "b": shrinking}), rule)
    c = found.comparisons[0]
    assert (said(found), c.unit, c.border, c.value) == (SUPPORTED, "KiB", 20.0, pytest.approx(60, abs=0.5))
    assert found.rows[1].value == pytest.approx(0.0)
    assert said(part(ran("climb", "memory", {"a": about(10), "b": shrinking}), rule)) == REFUTED
    assert said(part(ran("climb", "memory", {"a": about(21, times=10), "b": shrinking}), rule)) == ("UNDECIDED", "straddles")
    apart = ran("climb", "memory", {"a": about(60), "b": shrinking, "a-twin": about(110)})
    assert said(part(apart, rule)) == ("UNDECIDED", "twin_failed")
    less = ran("climb", "memory", {"a": about(60), "b": shrinking, "a-twin": about(70)})
    assert said(part(less, rule)) == SUPPORTED  # 60 is more than 20 and the 10 that two equal ones differ by


def size(lines: int, complexity: int = 10) -> Size:
    return Size(files=1, lines=lines, complexity=complexity, functions=5)


CODE = Code(tool="lizard 1", services={"mvc": size(300), "flux": size(450, 0)}, contenders={"a": "mvc", "b": "mvc", "c": "flux"})


@pytest.mark.parametrize("metric", ["goodput", "goodput_100", "goodput_120"])
def test_shares_are_compared_in_percentage_points(metric: str) -> None:
    rule = {"rule": "points_greater", "scenario": "most", "metric": metric, "contender": "a", "other": "b", "points": 5.0}
    found = part(ran("most", "goodput", {"a": about(60), "b": [0.01] * 6}), rule)
    c = found.comparisons[0]
    assert (said(found), c.unit, c.border, c.value) == (SUPPORTED, "points", 5.0, pytest.approx(60, abs=0.5))
    assert said(part(ran("most", "goodput", {"a": about(60), "b": about(59)}), rule)) == REFUTED
    noisy = ran("most", "goodput", {"a": about(60, times=3), "b": about(54, 2, times=3)})
    assert said(part(noisy, rule)) == ("UNDECIDED", "straddles")
    with pytest.raises(ValueError, match="cpu is no share"):
        claim({**rule, "metric": "cpu"})


def test_a_share_is_told_in_whole_percent_and_is_none_below_0() -> None:
    rule = {"rule": "figure_at_most", "scenario": "most", "metric": "goodput", "contenders": ["b"], "value": 50}
    found = part(ran("most", "goodput", {"a": about(60), "b": [0.01, 0.01, 0.01, 0.01, 9.0, 6.0]}), rule)
    assert verdicts.figures(found, "en") == ["b 3 % of its capacity (0–7, 95 %)"]
    assert verdicts.figures(found, "ko") == ["b 처리 능력의 3% (0–7, 95 %)"]
    assert messages.figure_of(found.rule, "en") == "most, answers in time at 150 % load (claimed: ≤ 50 % of its capacity)"
    assert messages.figure_of(found.rule, "ko") == "most, 150% 부하에서 제때 온 응답(주장: 처리 능력의 50% 이하)"
    back = part(ran("most", "goodput", {"a": about(60), "b": about(40)}), {**rule, "metric": "back", "value": 100})
    assert (said(back), verdicts.figures(back, "en")[0][:9]) == (SUPPORTED, "b 80.1 ms")


def test_code_is_exact_and_needs_no_rounds() -> None:
    more = {"rule": "code_at_least", "measure": "lines", "contender": "c", "other": "a", "ratio": 1.5}
    found = part([], more, code=CODE)
    assert (said(found), found.computed) == (SUPPORTED, 1.5)
    assert said(part([], {**more, "ratio": 1.51}, code=CODE)) == REFUTED
    assert said(part([], {**more, "rule": "code_at_most", "ratio": 1.4}, code=CODE)) == REFUTED
    same = {"rule": "same_code", "contender": "a", "other": "b"}
    assert said(part([], same, code=CODE)) == SUPPORTED
    assert said(part([], {**same, "other": "c"}, code=CODE)) == REFUTED
    without = part([], same)
    assert (said(without), without.missing) == (("NOT_MEASURED", "no_code"), ["code.json"])
    uncounted = part([], {**more, "measure": "complexity"}, code=CODE)
    assert (said(uncounted), uncounted.missing) == (("NOT_MEASURED", "no_code"), ["code of c"])


def test_the_arithmetic_of_a_source_is_done_again() -> None:
    rule = {"rule": "arithmetic", "over": [800003, 10.05], "under": [124011, 10.10], "said": 8}
    found = part([], rule)
    assert (said(found), found.computed) == (REFUTED, pytest.approx(6.42, abs=0.01))
    assert said(part([], {**rule, "said": 6})) == SUPPORTED
    assert said(part([], {**rule, "said": 6, "margin": 0.05})) == REFUTED


def test_no_single_winner_is_what_the_matrix_says_without_what_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = [("hello cpu", "hello"), ("block cpu", "block"), ("lines", None)]
    criteria = [
        Criterion(id=id_, scenario=scenario, metric="cpu", unit="", better="less", values={}, best=["a"], exact=scenario is None)
        for id_, scenario in kinds
    ]
    matrix = Dominance(
        contenders=["a", "b"], criteria=criteria, front=["a"],
        better={"a": {"b": ["hello cpu"]}, "b": {"a": ["block cpu", "lines"]}}, compared={"a": {"b": []}, "b": {"a": []}},
    )  # fmt: skip
    monkeypatch.setattr(dominance, "dominance", lambda run, cells, starts, code: matrix)
    found = part([], {"rule": "no_single_winner"}, code=CODE)
    assert (said(found), found.beaten) == (SUPPORTED, {"a": ["block cpu", "lines"], "b": ["hello cpu"]})
    fair = part([], {"rule": "no_single_winner", "without": ["block", "lines"]}, code=CODE)
    assert (said(fair), fair.beaten) == (REFUTED, {"a": [], "b": ["hello cpu"]})
    assert verdicts.figures(found, "en") == ["b is beaten only in hello cpu"]
    assert verdicts.figures(fair, "en") == ["a is beaten in nothing"]


BEYOND = ("UNDECIDED", "generator_bound")


@pytest.mark.parametrize(
    ("bounded", "rule", "ratio", "verdict"),
    [
        ("b", "ratio_at_least", 2, SUPPORTED),  # b ÷ c is 3 at least
        ("b", "ratio_at_most", 2, REFUTED),
        ("b", "ratio_at_least", 4, BEYOND),
        ("b", "ratio_at_most", 4, BEYOND),
        ("b", "within_margin", None, REFUTED),
        ("c", "ratio_at_least", 2, BEYOND),  # b ÷ c is 3 at most
        ("c", "ratio_at_most", 2, BEYOND),
        ("c", "ratio_at_least", 4, REFUTED),
        ("c", "ratio_at_most", 4, SUPPORTED),
        ("c", "within_margin", None, BEYOND),
        ("bc", "ratio_at_least", 2, BEYOND),
        ("bc", "ratio_at_least", 4, BEYOND),
    ],
)
@pytest.mark.parametrize("rounds", [range(1, 7), (2, 5)])
def test_a_lower_bound_decides_on_one_side(rounds: Sequence[int], bounded: str, rule: str, ratio: float | None, verdict: Any) -> None:
    sides = {"contenders": ["b", "c"]} if ratio is None else {"contender": "b", "other": "c", "ratio": ratio}
    asked = {"rule": rule, "scenario": "most", "metric": "throughput", **sides}
    cells = ran("most", "throughput", {"a": about(500), "b": about(900, 1), "c": about(300, 2)})
    for name in bounded:
        cells = with_(cells, name, rounds, status="censored", limit="generator")
    found = part(cells, asked)
    assert said(found) == verdict
    (compared,) = found.comparisons
    if bounded == "bc":
        assert (compared.bound, compared.value is None) == (None, len(rounds) == 6)
        return
    assert (compared.bound, compared.rounds) == ("at_least" if bounded == "b" else "at_most", 6)  # values and bounds together
    assert compared.value == pytest.approx(3.0, rel=0.02)
    sign = "≥" if bounded == "b" else "≤"
    assert verdicts.figures(found, "en")[0].startswith(f"b ÷ c {sign}3.0")
    assert f"{sign}: in some rounds the figure of {bounded} is a lower bound" in verdicts.page(judged(cells, claim(asked)))


def test_a_rate_that_was_not_sustained_is_no_such_bound() -> None:
    cells = ran("cost", "throughput", {"a": about(500), "b": about(900, 1), "c": about(300, 2)})
    cells = with_(cells, "b", range(1, 7), status="censored", limit="cpu")
    found = part(cells, {**ATLEAST, "metric": "throughput", "contender": "b", "other": "c"})
    assert (said(found), found.comparisons[0].value) == (("UNDECIDED", "not_sustained"), None)


def test_who_carried_all_that_was_asked_for_is_no_less_than_a_bound() -> None:
    cells = ran("most", "throughput", {"a": about(500), "b": about(900, 1), "c": about(300, 2)})
    cells = with_(cells, "b", range(1, 7), status="censored", limit="generator")
    rule = {**ATLEAST, "scenario": "most", "metric": "throughput", "contender": "b", "other": "c", "ratio": 2}
    assert said(part(with_(cells, "c", range(1, 7), limit="offered"), rule)) == ("UNDECIDED", "load_bound")


# --- reasons -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scenario", "more", "reason"),
    [
        ("most", {"status": "censored", "limit": "generator"}, "generator_bound"),
        ("most", {"status": "censored", "limit": "database"}, "database_bound"),
        ("most", {"status": "censored", "limit": None}, "too_few_rounds"),
        ("cost", {"status": "censored", "limit": "cpu"}, "not_sustained"),
        ("cost", {"status": "invalid", "reasons": ["V2 cannot sustain 9/s", "V7 others used 30 % of the machine"]}, "noisy_machine"),
        ("cost", {"status": "invalid", "reasons": ["V1 3 requests failed"]}, "invalid"),
        ("cost", {"status": "failed", "reasons": ["it has ended"]}, "invalid"),
    ],
)
def test_rounds_that_do_not_count_give_the_reason(scenario: str, more: dict[str, Any], reason: str) -> None:
    metric = "cpu" if scenario == "cost" else "throughput"
    cells = ran(scenario, metric, {"a": about(100), "b": about(50, 2)})
    rule = {**ATLEAST, "scenario": scenario, "metric": metric}
    assert said(part(cells, rule)) == SUPPORTED
    found = one(with_(cells, "b", (2, 5), **more), rule)
    assert (said(found), found.rounds_needed) == (("UNDECIDED", reason), None)


def test_too_few_rounds_are_too_few_whatever_became_of_them() -> None:
    cells = ran("cost", "cpu", {"a": about(100)[:3], "b": about(50, 2)[:3]})
    found = one(cells, ATLEAST)  # six were planned: the run is not at its end
    assert (said(found), found.rounds_needed) == (("UNDECIDED", "too_few_rounds"), 5)
    lost = with_(cells, "b", (1, 2), status="invalid", reasons=["V7 others"])
    found = one(lost, ATLEAST, run=planned(rounds=3))
    assert (said(found), found.rounds_needed) == (("UNDECIDED", "too_few_rounds"), 5)
    whole = ran("cost", "cpu", {"a": about(100), "b": about(50, 2)})
    found = one(whole, ATLEAST, least_rounds=8)
    assert (said(found), found.rounds_needed) == (("UNDECIDED", "too_few_rounds"), 8)
    silent = one(whole, {**ATLEAST, "metric": "p99"})  # fewer than 1000 requests in each window
    assert (said(silent), silent.rounds_needed) == (("UNDECIDED", "too_few_rounds"), None)


def test_a_comparison_without_spread_gives_no_number() -> None:
    cells = ran("cost", "cpu", {"a": about(100)[:1], "b": about(50, 2)[:1]})
    (single,) = part(cells, ATLEAST, run=planned(rounds=1)).comparisons
    assert (single.rounds, single.value, single.low, single.high) == (1, None, None, None)
    twice = ran("cost", "cpu", {"a": about(100)[:2], "b": about(50, 2)[:2]})
    (several,) = part(twice, ATLEAST, run=planned(rounds=2)).comparisons
    assert (several.rounds, several.value) == (2, pytest.approx(2.0, rel=0.05))
    assert several.low is not None


def test_the_twin_opens_the_gate_of_its_scenario_and_metric() -> None:
    cells = ran("cost", "cpu", {"a": about(100), "b": about(50, 2)})
    assert said(part([c for c in cells if c.contender != "a-twin"], ATLEAST)) == ("UNDECIDED", "no_twin")
    apart = ran("cost", "cpu", {"a": about(100), "b": about(50, 2), "a-twin": about(180)})
    assert said(part(apart, ATLEAST)) == ("UNDECIDED", "twin_failed")
    elsewhere = ran("most", "throughput", {"a": about(100), "b": about(50, 2), "a-twin": about(100, 1)})
    assert said(part([*apart, *elsewhere], {**ATLEAST, "scenario": "most", "metric": "throughput"})) == SUPPORTED


def test_what_the_run_has_not_is_named() -> None:
    cells = ran("cost", "cpu", {"a": about(100), "b": about(50, 2)})
    found = part(cells, {**ATLEAST, "other": "z"})
    assert (said(found), found.missing) == (("NOT_MEASURED", "no_contender"), ["contender z"])
    found = part(cells, {**ATLEAST, "scenario": "idle"})
    assert (said(found), found.missing, found.rows) == (("NOT_MEASURED", "no_scenario"), ["scenario idle"], [])
    found = part(cells, {**ATLEAST, "other": "a-slow"})  # a control is no contender
    assert found.missing == ["contender a-slow"]
    found = part(with_(cells, "b", range(1, 7), status="unsupported"), ATLEAST)
    assert (said(found), found.missing) == (("NOT_MEASURED", "no_contender"), ["contender b under cost"])


# --- what must hold together ---------------------------------------------------------------------------------------------------


def test_of_several_that_must_hold_the_worst_decides() -> None:
    cells = ran("cost", "cpu", {"a": about(100), "b": about(50, 2), "c": about(61, 1, times=9)})
    true, false = {**ATLEAST, "ratio": 1.5}, {**ATLEAST, "ratio": 2.5}
    open_, absent = {**ATLEAST, "other": "c"}, {**ATLEAST, "other": "z"}
    assert said(one(cells, true, true)) == SUPPORTED
    assert said(one(cells, true, open_)) == ("UNDECIDED", "straddles")
    assert said(one(cells, open_, absent, true)) == ("NOT_MEASURED", "no_contender")
    assert said(one(cells, open_, absent, false)) == REFUTED
    several = {"rule": "figure_at_least", "scenario": "cost", "metric": "cpu", "contenders": ["a", "z"], "value": 60}
    assert said(part(cells, several)) == ("NOT_MEASURED", "no_contender")
    found = part(cells, {**several, "contenders": ["a", "z", "b"]})
    assert (said(found), [c.verdict for c in found.comparisons], found.missing) == (REFUTED, ["SUPPORTED", "REFUTED"], ["contender z"])


def test_holms_family_is_all_that_decides_each_counted_once() -> None:
    cells = ran("cost", "cpu", {"a": about(100), "b": about(98.7, 2), "c": about(100.4, 1)})
    narrow = {**ATLEAST, "ratio": 1.0}
    others = [{**ATMOST, "other": "c", "ratio": 1 + n / 1000} for n in range(4)]
    assert said(one(cells, narrow)) == SUPPORTED
    alone = judged(cells, claim(narrow), claim(narrow, id_="A2"), claim({**narrow, "scenario": "most"}, id_="A3")).claims
    assert [(c.conclusion, c.parts[0].comparisons[0].level) for c in alone] == [
        ("SUPPORTED", 0.95), ("SUPPORTED", 0.95), ("UNDECIDED", 0.95),
    ]  # fmt: skip
    aside = [{"said": SAID, "parts": others}]
    assert judged(cells, claim(narrow, also=aside, instead=aside)).claims[0].conclusion == "SUPPORTED"
    family = judged(cells, claim(narrow), claim(*others, id_="B1")).claims
    assert family[0].parts[0].comparisons[0].level == pytest.approx(0.99)
    assert said(family[0]) == ("UNDECIDED", "straddles")


def test_asides_decide_nothing_and_another_reason_is_told_only_where_it_holds() -> None:
    cells = ran("cost", "cpu", {"a": about(100), "b": about(50, 2)})
    true, false = {"said": SAID, "parts": [ATLEAST]}, {"said": SAID, "parts": [ATLEAST, ATMOST]}
    found = one(cells, ATLEAST, instead=[true, false], also=[false, true])
    assert said(found) == SUPPORTED
    assert [aside.verdict for aside in found.instead] == ["SUPPORTED"]
    assert [aside.verdict for aside in found.also] == ["REFUTED", "SUPPORTED"]
    refuted = one(cells, ATMOST, instead=[true])
    assert (refuted.conclusion, len(refuted.instead)) == ("REFUTED", 1)


def test_the_scope_says_for_what_the_verdicts_hold() -> None:
    scope = judged([], claim(ATLEAST)).scope
    assert scope.versions == dict.fromkeys("abc", "Java 25.0.3, Spring Boot (MVC) 4.1.0, MySQL Connector/J 26.10.0")
    assert (scope.machine, scope.cores, scope.commit) == ("A CPU, 23.5 GiB, Debian, kernel 6", 2, "abc")
    assert (scope.database, scope.tier, scope.rounds, scope.runner) == ("mariadb 11.4.5", "standard", 6, "native")
    changed = {**RUN, "host": {**RUN["host"], "changed": True}}
    assert judged([], claim(ATLEAST), run=changed).scope.commit == "abc-dirty"


# --- the whole judge tests itself -----------------------------------------------------------------------------------------------

NAMES = ["a", "b", "c", "d", "e", "a-twin"]
BORDER = 1.1
FAMILY = [
    claim({**ATLEAST, "contender": "b", "other": "a", "ratio": 1.0}),
    claim({**ATMOST, "contender": "c", "other": "a", "ratio": 1.0}, id_="A2"),
    claim({**ATLEAST, "contender": "d", "other": "a", "ratio": BORDER}, id_="A3"),
    claim({"rule": "figure_at_least", "scenario": "cost", "metric": "cpu", "contenders": ["b"], "value": 50}, id_="A4"),
    claim({"rule": "within_margin", "scenario": "cost", "metric": "cpu", "contenders": ["a", "e"]}, id_="A5"),
]
"""The truth of a run in which all are one program and d costs exactly BORDER times as much lies on the border of the first four claims,
so that either verdict on them is false, and within that of the last."""


def false_families(s: float, families: int) -> float:
    """The share of runs with a false verdict; s is the standard deviation of a paired ln ratio."""
    draw = random.Random(20261121)
    run = planned(contenders=NAMES, scenarios=["cost"])
    wrong = 0
    for _ in range(families):
        shared = [draw.gauss(0, 0.05) for _ in range(6)]
        means = {name: 50 * BORDER if name == "d" else 50.0 for name in NAMES}
        values = {name: [m * math.exp(x + draw.gauss(0, s / math.sqrt(2))) for x in shared] for name, m in means.items()}
        verdicts = [c.conclusion for c in judged(ran("cost", "cpu", values), *FAMILY, run=run).claims]
        wrong += any(v in ("SUPPORTED", "REFUTED") for v in verdicts[:4]) or verdicts[4] == "REFUTED"
    return wrong / families


@pytest.mark.parametrize("s", [0.03, 0.13])
def test_at_most_5_percent_of_runs_get_a_false_verdict(s: float) -> None:
    assert false_families(s, 300) <= 0.05


def test_that_test_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "holm", lambda p_values: [0.95] * len(p_values))
    assert false_families(0.03, 150) > 0.05


# --- bounds are no figures -----------------------------------------------------------------------------------------------------


def test_a_side_that_carried_all_its_load_has_only_a_lower_bound() -> None:
    more = {"rule": "ratio_at_least", "scenario": "most", "metric": "throughput", "contender": "a", "other": "b", "ratio": 1.1}
    equal = ran("most", "throughput", {"a": about(600), "b": about(600, 2)})
    assert said(part(equal, more)) == REFUTED
    everything = range(1, 7)
    assert said(part(with_(equal, "a", everything, limit="offered"), more)) == ("UNDECIDED", "load_bound")
    ahead = ran("most", "throughput", {"a": about(600), "b": about(200, 2)})
    assert said(part(with_(ahead, "a", everything, limit="offered"), more)) == SUPPORTED
    assert said(part(with_(ahead, "b", everything, limit="offered"), more)) == ("UNDECIDED", "load_bound")
    margin = {"rule": "within_margin", "scenario": "most", "metric": "throughput", "contenders": ["a", "b"]}
    assert said(part(with_(equal, "a", everything, limit="offered"), margin)) == SUPPORTED  # under this load they are


def test_of_a_load_measured_as_a_whole_the_slower_side_was_slower_and_nothing_more_is_known() -> None:
    made = ran("most", "throughput", {"a": about(600), "b": about(400, 2)}, limit="offered", whole=True)
    more = {**ATLEAST, "scenario": "most", "metric": "throughput"}
    assert said(part(made, {**more, "ratio": 1.1})) == SUPPORTED  # both are called offered, b took longer
    less = {**more, "rule": "ratio_at_most", "contender": "b", "other": "a"}
    assert said(part(made, {**less, "ratio": 0.9})) == SUPPORTED
    assert said(part(made, {**more, "ratio": 2})) == ("UNDECIDED", "load_bound")  # a may do more than it was asked for


def test_who_was_still_warming_up_is_not_refuted_by_what_held_it_back() -> None:
    """The cap is 400/s; a cold one serves 240, and its core is full."""
    limited = {"rule": "limited_by", "scenario": "held", "contenders": ["a", "b"], "limit": "threads"}
    steady = ran("held", "throughput", {"a": about(400), "b": about(240, 2)})
    made = with_(with_(steady, "a", range(1, 7), limit="threads"), "b", range(1, 7), limit="cpu")
    cold = {"doubts": ["V8 unsteady: the second half has 1.39 × the answers of the first"]}
    for rule in (CAP, limited):
        assert said(part(made, rule)) == REFUTED
        assert said(part(with_(made, "b", (1,), **cold), rule)) == REFUTED
        assert said(part(with_(made, "b", (1, 2), **cold), rule)) == ("UNDECIDED", "warming")
        assert said(part(with_(made, "a", (1, 2), **cold), rule)) == REFUTED  # it reached its own


@pytest.mark.parametrize(("outside", "reason"), [("generator", "generator_bound"), ("database", "database_bound")])
def test_a_word_is_not_held_against_a_contender_where_another_program_was_the_limit(outside: str, reason: str) -> None:
    rule = {"rule": "limited_by", "scenario": "most", "contenders": ["b"], "limit": "offered"}
    made = ran("most", "throughput", {"a": about(600), "b": about(600, 2)})
    assert said(part(made, rule)) == REFUTED
    assert said(part(with_(made, "b", range(1, 6), limit=outside, status="censored"), rule)) == ("UNDECIDED", reason)


def test_a_late_generator_has_no_tail() -> None:
    late = cell("wait", "p99", "a", 1, 9.0, doubts=["V3 k6 was late by 14 ms (p99): p90 and p99 are no figures of the service"])
    assert (late.metric("p99"), cell("wait", "p99", "a", 1, 9.0).metric("p99")) == (None, 9.0)


# --- the three outcomes -----------------------------------------------------------------------------------------------------

NUMBER = {"of": "a ÷ b"}
GIVEN = {"what": {"en": "a ÷ b", "ko": "가 ÷ 나"}, "value": 2.0, "unit": "×"}
HELD = {**GIVEN, "ours": {"scenario": "most", "contender": "a", "metric": "throughput", "other": "b"}}


def numbered(a: float, ratio: float, reported: Mapping[str, Any] = HELD, **number: Any) -> JudgedClaim:
    """`a` answers so often where b answers 100 times a second; the conclusion asks for `ratio` in CPU, where a takes 2 × b."""
    cells = [*ran("cost", "cpu", {"a": about(100), "b": about(50, 2)}), *ran("most", "throughput", {"a": about(a), "b": about(100, 2)})]
    return one(cells, {**ATLEAST, "ratio": ratio}, number={**NUMBER, **number}, reported=[reported])


@pytest.mark.parametrize(("a", "again"), [(205, "AGAIN"), (150, "NOT_AGAIN"), (260, "NOT_AGAIN"), (219, "UNDECIDED")])
@pytest.mark.parametrize(("ratio", "conclusion"), [(1.5, "SUPPORTED"), (2.5, "REFUTED"), (2.0, "UNDECIDED")])
def test_number_and_conclusion_are_independent(a: float, again: str, ratio: float, conclusion: str) -> None:
    found = numbered(a, ratio)
    assert found.number is not None
    assert (found.number.came, found.conclusion) == (again, conclusion)
    assert found.number.value == pytest.approx(a / 100, rel=0.01)
    assert found.number.factor == pytest.approx(a / 200, rel=0.01)


def test_a_number_that_the_articles_own_figures_contradict_does_not_come_out_again_whatever_ours_is() -> None:
    found = numbered(200, 1.5, over=[300], under=[100]).number
    assert found is not None
    assert (found.came, found.reason, found.by_its_figures, found.factor) == ("NOT_AGAIN", None, 3.0, pytest.approx(1.0, rel=0.01))
    agrees = numbered(200, 1.5, over=[205], under=[100]).number
    assert agrees is not None
    assert (agrees.came, agrees.by_its_figures) == ("AGAIN", 2.05)
    alone = numbered(200, 1.5, GIVEN, over=[205], under=[100]).number  # nothing of ours is held against it
    assert alone is not None
    assert (alone.came, alone.value) == ("COMPUTED", None)
    assert verdicts.came(alone, "en") == "its arithmetic is right; no figure of ours is compared with it"


def test_the_interval_of_a_number_is_the_one_that_decides() -> None:
    again, not_again = numbered(200, 1.5).number, numbered(150, 1.5).number
    assert again is not None
    assert not_again is not None
    assert (again.came, again.level, not_again.came, not_again.level) == ("AGAIN", 0.90, "NOT_AGAIN", 0.95)
    assert verdicts.number_figures(again, "en").endswith(", 90 %)")
    assert verdicts.number_figures(not_again, "en").endswith(", 95 %)")


def test_a_number_that_a_law_gives_is_told_so_and_counted() -> None:
    cells = ran("most", "throughput", {"a": about(200), "b": about(100, 2)})
    asked = [
        claim(ATLEAST, id_="A1", number={**NUMBER, "arithmetic": True}, reported=[HELD]),
        claim(ATLEAST, id_="A2", number=NUMBER, reported=[HELD], question={"kind": "arithmetic", "why": SAID}),
        claim(ATLEAST, id_="A3", number=NUMBER, reported=[HELD]),
        claim(ATLEAST, id_="A4", number={**NUMBER, "over": [2], "under": [1]}, reported=[GIVEN]),
    ]
    found = judged(cells, *asked)
    assert [verdicts.came(each.number, "en") for each in found.claims][:3] == [
        "reproduced, as arithmetic says", "reproduced, as arithmetic says", "reproduced",
    ]  # fmt: skip
    told = verdicts.counts(found.claims, "en")
    assert told.endswith("Of 4 numbers that the articles give 3 are reproduced (2 by arithmetic), 0 not, 1 open.")


@pytest.mark.parametrize(
    ("a", "limit", "by_law", "came"),
    [
        (150, "cpu", True, ("UNDECIDED", "core_bound")),
        (150, "cpu", False, ("NOT_AGAIN", None)),
        (150, "offered", True, ("NOT_AGAIN", None)),
        (260, "cpu", True, ("NOT_AGAIN", None)),
        (200, "cpu", True, ("AGAIN", None)),
    ],
)
def test_a_full_core_contradicts_no_law_of_queues(a: float, limit: str, by_law: bool, came: tuple[str, str | None]) -> None:
    cells = with_(ran("most", "throughput", {"a": about(a), "b": about(100, 2)}, limit=limit), "b", range(1, 7), limit="threads")
    found = one(cells, ATLEAST, number={**NUMBER, "arithmetic": by_law}, reported=[HELD]).number
    assert found is not None
    assert (found.came, found.reason) == came


def test_a_full_core_makes_times_longer() -> None:
    time = {**GIVEN, "unit": "ms", "ours": {"scenario": "most", "contender": "a", "metric": "p50"}}
    for a, came in ((3, "UNDECIDED"), (1, "NOT_AGAIN")):
        found = one(ran("most", "p50", {"a": about(a)}), ATLEAST, number={**NUMBER, "arithmetic": True}, reported=[time]).number
        assert found is not None
        assert found.came == came


def test_a_number_of_another_quantity_is_not_measured() -> None:
    found = numbered(200, 1.5, GIVEN, lacks={"en": "ours waits", "ko": "여기서는 기다림"}).number
    assert found is not None
    assert (found.came, found.reason) == ("NOT_MEASURED", "other_quantity")
    assert verdicts.number_figures(found, "en") == "a ÷ b: 2 ×; ours waits"


def test_a_number_needs_rounds_and_a_load_of_its_own() -> None:
    cells = ran("most", "throughput", {"a": about(200)[:4], "b": about(100, 2)[:4]})
    few = one(cells, ATLEAST, number=NUMBER, reported=[HELD]).number
    assert few is not None
    assert (few.came, few.reason, few.rounds) == ("UNDECIDED", "too_few_rounds", 4)
    absent = one([], ATLEAST, number=NUMBER, reported=[HELD]).number
    assert absent is not None
    assert (absent.came, absent.reason) == ("NOT_MEASURED", "no_scenario")
    assert one(cells, ATLEAST).number is None


def test_a_bound_tells_of_a_number_on_one_side_only() -> None:
    held: dict[str, Any] = {"status": "censored", "limit": "generator"}
    rate = {"what": {"en": "a ÷ b", "ko": "가 ÷ 나"}, "value": 100.0, "unit": "requests/s"}
    rate["ours"] = {"scenario": "most", "contender": "a", "metric": "throughput"}
    for a, came, reason in ((60, "UNDECIDED", "generator_bound"), (100, "UNDECIDED", "generator_bound"), (150, "NOT_AGAIN", None)):
        found = one(ran("most", "throughput", {"a": about(a)}, **held), ATLEAST, number=NUMBER, reported=[rate]).number
        assert found is not None
        assert (found.came, found.reason, found.bound) == (came, reason, "at_least")
    none = one(ran("most", "throughput", {"a": about(90), "b": about(50)}, **held), ATLEAST, number=NUMBER, reported=[HELD]).number
    assert none is not None
    assert (none.came, none.reason, none.value) == ("UNDECIDED", "generator_bound", None)


@pytest.mark.parametrize(
    ("number", "mistake"),
    [
        ({"of": "b ÷ a"}, "number.of: no figure"),
        ({"of": "a ÷ b"}, "number: nothing is held against it"),
        ({"of": "a ÷ b", "over": [1]}, "number: over and under belong together"),
        ({"of": "a ÷ b", "lacks": SAID, "ours": HELD["ours"]}, "number: it lacks a figure of ours, and names one"),
    ],
)
def test_a_number_names_a_figure_and_what_is_held_against_it(number: dict[str, Any], mistake: str) -> None:
    with pytest.raises(ValueError, match=mistake):
        claim(ATLEAST, number=number, reported=[GIVEN])


def test_a_tautology_is_never_supported() -> None:
    cells = ran("cost", "cpu", {"a": about(100), "b": about(50, 2)})
    why = {"why": SAID}
    for ratio, conclusion in ((1.5, "TAUTOLOGY"), (2.5, "REFUTED"), (2.0, "UNDECIDED")):
        found = one(cells, {**ATLEAST, "ratio": ratio}, question={"kind": "tautology", **why})
        assert found.conclusion == conclusion
        assert verdicts.question(found, "en") == "Tautology: It is so."
    arithmetic = one(cells, ATLEAST, question={"kind": "arithmetic", **why})
    assert (arithmetic.conclusion, verdicts.question(arithmetic, "ko")) == ("SUPPORTED", "계산으로 나오는 결과: 그렇습니다.")


def test_what_no_benchmark_can_measure_is_told_beside_the_verdict_of_the_rest() -> None:
    cells = ran("cost", "cpu", {"a": about(100), "b": about(50, 2)})
    outside = [{"en": "whether people like it", "ko": "사람들이 좋아하는지"}]
    found = one(cells, ATLEAST, outside=outside)
    assert said(found) == SUPPORTED
    assert verdicts.verdict(found, "en") == "supported, as far as it can be measured"
    assert verdicts.verdict(found.parts[0], "en") == "supported"
    assert verdicts.outside(found, "en") == "no benchmark can measure: whether people like it"
    assert verdicts.verdict(one(cells, ATLEAST), "en") == "supported"
    page = verdicts.page(judged(cells, claim(ATLEAST, outside=outside), claim(ATLEAST, id_="A2")))
    assert "\n2 claims of 1 article: supported 2 (1 as far as it can be measured), refuted 0.\n" in page
    assert page.count("no benchmark can measure: whether people like it") == 2  # in the table and below its heading


@pytest.mark.parametrize(("part_", "conclusion"), [("ATMOST", "REFUTED"), ("absent", "NOT_MEASURED"), ("open", "UNDECIDED")])
def test_what_no_benchmark_can_measure_decides_nothing(part_: str, conclusion: str) -> None:
    cells = ran("cost", "cpu", {"a": about(100), "b": about(50, 2)})
    rule = {"ATMOST": ATMOST, "absent": {**ATLEAST, "other": "z"}, "open": {**ATLEAST, "ratio": 2.0}}[part_]
    without, with_outside = (one(cells, rule, outside=outside) for outside in ([], [SAID]))
    assert (with_outside.conclusion, with_outside.parts) == (without.conclusion, without.parts)
    assert with_outside.conclusion == conclusion
    assert "as far as" not in verdicts.verdict(with_outside, "en")


def test_a_tautology_is_not_supported_by_what_lies_outside_nor_is_that_a_claim_alone() -> None:
    cells = ran("cost", "cpu", {"a": about(100), "b": about(50, 2)})
    found = one(cells, ATLEAST, question={"kind": "tautology", "why": SAID}, outside=[SAID])
    assert (found.conclusion, verdicts.verdict(found, "en")) == ("TAUTOLOGY", "tautology")
    with pytest.raises(ValueError, match="parts"):
        claim(outside=[SAID])


def test_two_machines_whose_processors_have_one_name_are_told_apart_by_their_memory() -> None:
    scope = judged([], claim(ATLEAST)).scope
    quick, slower, slow = (scope.model_copy(update={"memory_speed": speed}) for speed in (500.0, 300.0, 150.0))
    assert (quick.alike(slower), quick.alike(slow), quick.alike(scope)) == (True, False, True)
    assert not quick.alike(quick.model_copy(update={"machine": "Another CPU, 8 GiB"}))


def test_the_page_has_a_section_for_what_the_run_has_data_for_and_no_other() -> None:
    cells = ran("cost", "cpu", {"a": about(100), "b": about(50, 2)})
    absent = {**ATLEAST, "other": "z"}
    sums = {"rule": "arithmetic", "over": [6], "under": [2], "said": 3, "margin": 0.01}
    also = [{"said": {"en": said_, "ko": "가"}, "parts": [rule]} for said_, rule in (("with data", ATLEAST), ("without", absent))]
    page = verdicts.page(
        judged(
            cells,
            claim(absent, id_="A1", also=also),
            claim(absent, id_="A2", also=[{"said": SAID, "parts": [sums]}]),
            claim(ATLEAST, id_="A3"),
        )
    )
    assert re.findall(r"^## (.*)$", page, re.MULTILINE) == ["A1 · not measured: no such contender in the run", "A3 · supported"]
    assert [told in page for told in ("Related questions: with data", "Related questions: without")] == [True, False]
    assert "): A1, A2\n" in page


def test_of_what_is_not_measured_the_run_that_looked_at_most_is_told() -> None:
    open_ = {"rule": "not_measured", "needs": SAID}
    asked = claim(open_, {**ATLEAST, "ratio": 2.0})
    lacking = judged([], asked, run=planned(scenarios=["wait"]))
    runs = [("newest", lacking), ("looked", judged(ran("cost", "cpu", {"a": about(100), "b": about(50, 2)}), asked))]
    (found,) = across(runs)
    assert (found.folder, said(found.claim)) == ("looked", ("NOT_MEASURED", "no_measure"))


def test_what_nothing_measures_leaves_the_claim_open_and_says_what_it_needs() -> None:
    cells = ran("cost", "cpu", {"a": about(100), "b": about(50, 2)})
    open_ = {"rule": "not_measured", "needs": {"en": "a stethoscope", "ko": "청진기"}}
    found = one(cells, ATLEAST, open_)
    assert (said(found), verdicts.mixed(found, "en")) == (("NOT_MEASURED", "no_measure"), "of its 2 parts: 1 supported, 1 not measured")
    assert verdicts.ours(found, "en").startswith("cost, CPU per request (claimed: ≥ 1.5): a ÷ b 2.0")
    assert said(one(cells, ATMOST, open_)) == REFUTED
    assert "- needs a stethoscope → **not measured: nothing here measures a part of it**" in verdicts.page(
        judged(cells, claim(ATLEAST, open_))
    )


def test_an_interval_that_ends_near_its_border_has_digits_enough_to_tell_them_apart() -> None:
    part = one(ran("cost", "cpu", {"a": about(100), "b": about(50, 2)}), ATLEAST).parts[0]
    (found,) = part.comparisons
    ends = {"value": 1.001, "high": 1.008, "level": 0.95, "border": 0.99}
    near, apart = (found.model_copy(update={**ends, "low": low}) for low in (0.9949, 0.98))
    told = [verdicts.figures(part.model_copy(update={"comparisons": [each]}), "en") for each in (near, apart)]
    assert told == [["a ÷ b 1.001 (0.995–1.008, 95 %)"], ["a ÷ b 1.00 (0.98–1.01, 95 %)"]]


@pytest.mark.parametrize("name", ["a", "b"])
@pytest.mark.parametrize(("rounds", "mark"), [((), ""), ((1,), ""), ((1, 2), "?")])
def test_a_figure_whose_rounds_have_doubts_is_marked_wherever_it_stands(name: str, rounds: Sequence[int], mark: str) -> None:
    of = {"rule": "figure_at_least", "scenario": "most", "contenders": [name], "metric": "throughput", "value": 50}
    cells = with_(ran("most", "throughput", {"a": about(200), "b": about(100, 2)}), name, rounds, doubts=["V3 late"])
    found = one(cells, {**ATLEAST, "scenario": "most", "metric": "throughput"}, of, number=NUMBER, reported=[HELD])
    assert found.number is not None
    ((pair,), (own,)) = (verdicts.figures(each, "en") for each in found.parts)
    assert pair.startswith(f"a ÷ b 2.00{mark} (")
    assert f"{mark} requests/s (" in own
    assert f"ours 2.00{mark} ×;" in verdicts.number_figures(found.number, "en")
