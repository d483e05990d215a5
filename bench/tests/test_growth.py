"""Memory per request in flight: slopes with intervals, levels that were not reached, and slopes that are none."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from conftest import closed_cell, open_cell
from nsb.analyse import growth, table
from nsb.analyse.growth import Climb, climb, over_rounds
from nsb.analyse.validity import Observation, judge
from nsb.measure import holder, k6
from nsb.records.cells import Reading, Stats
from nsb.records.held import Held
from nsb.records.judged import Cell, Slope
from nsb.registry import plan as plans
from nsb.registry.contract import SERVER_THREADS
from nsb.registry.load import Registry
from nsb.registry.shapes import ClosedUsers, HeldConnections, MemoryLadder, scenario_of
from nsb.render import words

LEVELS = (50, 100, 200, 600)


def ladder(kib: float, in_flight: dict[int, int | None] | None = None, base_mib: float = 100.0, wobble_mib: float = 0.0) -> list[Reading]:
    """Two readings on each level, `kib` for each user that is in flight; the second is off by `wobble_mib` on the last level."""
    told = {users: users for users in LEVELS} | (in_flight or {})
    return [
        Reading(
            users=users,
            in_flight=told[users],
            pss_mib=base_mib + kib * (told[users] or min(users, 200)) / 1024 + (wobble_mib if turn and users == LEVELS[-1] else 0.0),
        )
        for users in LEVELS
        for turn in range(2)
    ]


def slopes(*kib: float) -> list[Slope]:
    return [Slope(kib=value, first_kib=value, last_kib=value) for value in kib]


# --- one ladder -----------------------------------------------------------------------------------------------------------


def test_the_slope_of_a_line_is_found_whatever_the_memory_at_rest() -> None:
    for base in (0.0, 500.0):
        found = climb(ladder(20.0, base_mib=base), None)
        assert found == Climb(Slope(kib=20.0, first_kib=20.0, last_kib=20.0), (), (), (), ())


def test_first_and_last_readings_show_the_spread_of_one_ladder() -> None:
    slope = climb(ladder(20.0, wobble_mib=5.0), None).slope
    assert slope is not None
    assert slope.first_kib == 20.0
    assert slope.first_kib < slope.kib < slope.last_kib


def test_levels_at_which_no_more_were_in_flight_are_left_out() -> None:
    capped = ladder(1000.0, {200: 199, 600: 200})
    found = climb(capped, 200)
    assert (found.left_out, found.waiting, found.assumed) == ((600,), (), ())
    assert found.slope is not None
    assert found.slope.kib == pytest.approx(1000.0, rel=0.02)


def test_a_thread_pool_that_cannot_even_tell_is_taken_for_full() -> None:
    found = climb(ladder(1000.0, {200: None, 600: None}), 200)
    assert (found.left_out, found.assumed) == ((600,), ())
    assert found.slope is not None
    assert found.slope.kib == pytest.approx(1000.0)


def test_users_stand_for_a_service_that_did_not_say_and_that_is_told() -> None:
    assert climb(ladder(20.0, {600: None}), None).assumed == (600,)


def test_users_that_wait_outside_are_told() -> None:
    assert climb(ladder(20.0, {600: 400}), None).waiting == (600,)


def test_levels_that_find_room_in_memory_touched_before_are_told() -> None:
    """What a collector has emptied takes requests without growth: here those of the first two levels, of 20 KiB each."""
    room_mib = 100 + 20 * 100 / 1024
    readings = [reading.model_copy(update={"pss_mib": max(room_mib, reading.pss_mib)}) for reading in ladder(20.0)]
    found = climb(readings, None)
    assert found.hidden == (100,)
    assert found.slope is not None
    assert found.slope.kib < 20.0
    assert climb(ladder(20.0), None).hidden == ()
    assert climb(ladder(20.0, {200: 199, 600: 200}), 200).hidden == ()  # a level that does not count hides nothing


def test_one_number_in_flight_gives_no_slope() -> None:
    for stuck in (0, 50):
        assert climb(ladder(20.0, dict.fromkeys(LEVELS, stuck)), None).slope is None


# --- over rounds ------------------------------------------------------------------------------------------------------------


def test_rounds_give_a_mean_with_a_t_interval_on_the_linear_scale() -> None:
    found = over_rounds(slopes(10.0, 12.0, 14.0))
    assert found is not None
    assert (found.value, found.rounds, found.spread, found.bound) == (12.0, 3, "interval", False)
    assert found.high - found.value == pytest.approx(4.302653 * 2.0 / 3**0.5)  # t.975 with two degrees of freedom
    assert found.low == pytest.approx(2 * found.value - found.high)


def test_an_interval_that_reaches_zero_makes_an_upper_bound() -> None:
    found = over_rounds(slopes(1.0, -2.0, 4.0))
    assert found is not None
    assert found.bound
    assert found.low < 0 < found.value == found.high


def test_falling_memory_gives_no_figure() -> None:
    assert over_rounds(slopes(-10.0, -10.1, -10.2)) is None
    assert over_rounds(slopes(-3.0)) is None
    assert over_rounds([]) is None


def test_one_round_shows_its_first_and_last_readings() -> None:
    found = over_rounds([Slope(kib=10.0, first_kib=9.0, last_kib=12.0)])
    assert found == growth.Growth(10.0, 9.0, 12.0, 1, "halves", False)
    bound = over_rounds([Slope(kib=2.0, first_kib=-1.0, last_kib=5.0)])
    assert bound == growth.Growth(5.0, -1.0, 5.0, 1, "halves", True)


# --- judged -----------------------------------------------------------------------------------------------------------------


def observed(readings: list[Reading], **changes: Any) -> Observation:
    return replace(closed_cell(2000, 600, 0.75, **changes), ladder=tuple(readings))


def test_a_ladder_is_not_asked_for_steady_halves_or_a_full_station() -> None:
    judgement = judge(observed(ladder(20.0)))
    assert (judgement.status, judgement.limit, judgement.doubts) == ("valid", "offered", [])


@pytest.mark.parametrize(("share", "lost"), [(0.03, False), (0.14, False), (0.16, True)])
def test_memory_does_not_notice_what_the_hypervisor_took(share: float, lost: bool) -> None:
    usual = observed(ladder(20.0))
    stolen = replace(usual, steal_s=share * usual.window_s * usual.cores["machine"])
    assert judge(stolen).reasons == ([f"V7 others used 0% of the machine, steal {share:.0%}"] if lost else [])
    assert judge(replace(stolen, ladder=())).status == "invalid"


def test_a_connection_that_was_not_kept_makes_the_cell_invalid() -> None:
    beside = open_cell(rate=1000, ladder=tuple(ladder(20.0)), after=Stats(2000, 2.0, 600))  # they are in flight, and meant to be
    assert judge(replace(beside, held=Held(600, 0, 0, ""))).status == "valid"
    for lost in (Held(599, 1, 0, "EOF"), Held(600, 0, 1, "EOF")):
        judgement = judge(replace(beside, held=lost))
        assert judgement.status == "invalid"
        assert judgement.reasons == [f"V1 {lost.refused} connections were refused and {lost.ended} ended by the service: EOF"]
    late = judge(replace(beside, held=Held(600, 0, 0, ""), load=replace(beside.load, started=1000)))
    assert [reason[:2] for reason in late.reasons] == ["V2"]  # the load beside them is held to its rate


def test_more_in_flight_than_there_are_users_is_a_cheat() -> None:
    said = judge(observed(ladder(2.0, {50: 500, 100: 1000, 200: 2000, 600: 6000})))
    assert said.status == "invalid"
    assert said.reasons == ["V6 the service says that 500 requests are in flight where 50 can be (/stats)"]
    held = replace(observed(ladder(20.0, {600: 640})), vus=700, held=Held(600, 0, 0, ""))  # 100 users beside those that are held
    assert not [reason for reason in judge(held).reasons if "in flight" in reason]


def test_threads_end_the_climb_and_are_named() -> None:
    judgement = judge(observed(ladder(1000.0, {600: 200}), server_threads=200))
    assert (judgement.status, judgement.limit, judgement.doubts) == ("valid", "threads", [])


def test_a_jvm_that_was_not_collected_before_its_memory_was_read_is_a_doubt() -> None:
    judgement = judge(observed(ladder(20.0), uncollected="it runs in a container"))
    assert judgement.status == "valid"
    assert any("no full collection before memory was read (it runs in a container)" in doubt for doubt in judgement.doubts)
    assert not judge(observed(ladder(20.0))).doubts


@pytest.mark.parametrize(
    ("readings", "said"),
    [
        (ladder(20.0, {600: 201}), "left out"),
        (ladder(20.0, {600: 400}), "were connected and not in flight"),
        (ladder(20.0, {600: None}), "/stats did not answer"),
        (ladder(-20.0), "did not grow"),
    ],
)
def test_what_is_odd_about_a_ladder_is_a_doubt(readings: list[Reading], said: str) -> None:
    judgement = judge(observed(readings))
    assert judgement.status == "valid"
    assert any(said in doubt for doubt in judgement.doubts)


@pytest.mark.parametrize(
    "bad",
    [
        observed(ladder(20.0, dict.fromkeys(LEVELS, 50))),
        observed(ladder(20.0), failures_all=50),
        observed(ladder(20.0), too_short=1),
        observed(ladder(20.0), db_connections=152),
        observed(ladder(20.0), cpu_s={"foreign": 5.0}),
    ],
)
def test_a_ladder_that_means_nothing_is_invalid(bad: Observation) -> None:
    assert judge(bad).status == "invalid"


# --- shown ------------------------------------------------------------------------------------------------------------------


def entry(*found: Slope) -> table.Entry:
    plan = {
        "tier": "standard", "profile": "1cpu", "rounds": len(found), "contenders": ["a"], "scenarios": ["memory"],
        "headlines": {"memory": "memory"}, "models": {"memory": "closed"},
    }  # fmt: skip
    cells = [
        Cell(round=n, contender="a", scenario="memory", profile="1cpu", model="closed", status="valid", memory_slope=slope)
        for n, slope in enumerate(found, 1)
    ]
    return table.make({"plan": plan}, cells).entry("a", "memory")


def test_a_slope_is_shown_with_its_spread_a_bound_with_its_mark() -> None:
    clear = entry(*slopes(10.0, 10.1, 10.2))
    assert (words.figure(clear), words.spread(clear)) == ("10.1", "±2.5%")
    bound = entry(*slopes(1.0, -2.0, 4.0))
    assert (words.figure(bound)[0], words.figure(bound)[-1], words.spread(bound)) == ("≤", "?", "")


def test_no_negative_number_is_ever_shown() -> None:
    fallen = entry(*slopes(-10.0, -10.1, -10.2))
    assert (fallen.figure, words.figure(fallen)) == (None, "no figure")
    (slope,) = slopes(-1.0)
    negative = Cell(round=1, contender="a", scenario="m", profile="1cpu", model="closed", status="valid", memory_slope=slope)
    assert negative.headline("memory") is None


def test_a_cell_keeps_its_readings_and_an_old_one_has_none() -> None:
    cell = Cell(
        round=1, contender="a", scenario="m", profile="1cpu", model="closed", status="valid", ladder=ladder(20.0),
        memory_slope=climb(ladder(20.0), None).slope,
    )  # fmt: skip
    line = json.loads(cell.line())
    assert Cell.model_validate_json(cell.line()) == cell
    del line["ladder"], line["memory_slope"]
    assert Cell.model_validate_json(json.dumps(line)).ladder == []


# --- planned ----------------------------------------------------------------------------------------------------------------


def of_registry(registry: Registry) -> MemoryLadder:
    return next(scenario for scenario in registry.scenarios.values() if isinstance(scenario, MemoryLadder))


@pytest.mark.parametrize("tier", ["smoke", "standard", "publish"])
def test_every_level_is_read_twice_at_least_while_all_its_users_are_in_flight(registry: Registry, tier: str) -> None:
    scenario = of_registry(registry)
    t = scenario.timing(registry.tiers[tier])
    times = scenario.reading_times(t)
    assert [users for _, users in times] == sorted(users for _, users in times)
    for number, users in enumerate(scenario.levels):
        begins, ends = number * t.level_s, (number + 1) * t.level_s
        own = [at for at, level in times if level == users]
        assert len(own) >= 2
        assert all(begins + scenario.hold_ms / 2000 < at < ends for at in own)
    assert t.window_s == pytest.approx(len(scenario.levels) * t.level_s)


def test_a_ladder_in_a_smoke_run_costs_ten_seconds_at_the_most(registry: Registry) -> None:
    assert of_registry(registry).timing(registry.tiers["smoke"]).total_s <= 10.0


def test_k6_is_told_when_each_level_begins(registry: Registry) -> None:
    scenario = of_registry(registry)
    t = scenario.timing(registry.tiers["smoke"])
    data, opens_s = k6.cell(scenario, t, 1, "http://here", 1, 1000.0, Path("summary.json"))
    assert data["levels"] == [{"vus": vus, "at_ms": round((opens_s + n * t.level_s) * 1000)} for n, vus in enumerate(scenario.levels)]
    assert data["spread_ms"] == scenario.hold_ms / 2
    ordinary = next(s for s in registry.scenarios.values() if isinstance(s, ClosedUsers) and s.hold_ms)
    data, _ = k6.cell(ordinary, ordinary.timing(registry.tiers["smoke"]), 1, "http://here", 1, 1000.0, Path("summary.json"))
    assert (data["levels"], data["still"], data["spread_ms"]) == ([], [], ordinary.hold_ms)


def test_connections_that_are_held_are_levels_beside_an_open_load(registry: Registry) -> None:
    scenario = registry.scenarios["idle-connections"]
    assert isinstance(scenario, HeldConnections)
    t = scenario.timing(registry.tiers["publish"])
    assert t.window_s == len(scenario.levels) * t.level_s
    data, opens_s = k6.cell(scenario, t, 1, "http://here", 1, 1000.0, Path("summary.json"))
    assert (data["levels"], data["rate"], data["url"]) == ([], 100, "http://here/hello")  # k6 has its own load, and no part in the levels
    told = holder.order(scenario, t, "http://here", opens_s, Path("report.json"))
    assert told["url"] == "http://here/events?interval_ms=30000"
    levels = cast("list[dict[str, int]]", told["levels"])
    assert [level["connections"] for level in levels] == [0, 1000, 5000, 10000]
    times = scenario.reading_times(t)
    for level, nth in zip(levels, range(4), strict=True):
        opened_s = (level["at_ms"] + level["within_ms"]) / 1000 - opens_s
        own = [at for at, held in times if held == level["connections"]]
        assert len(own) == 2
        assert all(opened_s < at < (nth + 1) * t.level_s for at in own)
        still_s = [at_ms / 1000 - opens_s for at_ms in cast("list[list[int]]", data["still"])[nth]]
        assert opened_s <= still_s[0] < still_s[1] < min(own)  # all are open, and no collection has been asked for
    assert cast("int", told["until_ms"]) / 1000 > opens_s + t.window_s


def test_who_keeps_a_thread_for_each_connection_has_levels_that_leave_it_some(registry: Registry) -> None:
    few = registry.scenarios["idle-connections-few"]
    assert few.steps[-1] < SERVER_THREADS
    neither = [each.id for each in registry.contenders.values() if few.id in each.unsupported]
    assert neither == ["java-pt-1", "java-pt-1-twin"]  # one stream keeps its only thread
    keeps = [each for each in registry.contenders.values() if "idle-connections" in each.unsupported and each.id not in neither]
    assert {each.id for each in keeps} >= {"java-pt", "java-pt-3000", "java-8", "kotlin-pool-3"}
    assert all(few.id in each.unsupported["idle-connections"] for each in keeps)  # the reason says where it is asked instead


def test_no_connection_at_all_is_a_level_too() -> None:
    found = climb([Reading(users=n, in_flight=n + 1, pss_mib=100 + n * 0.02) for n in (0, 0, 1000, 1000, 5000, 5000)], None)
    assert found.slope is not None
    assert found.slope.kib == pytest.approx(0.02 * 1024, rel=0.01)
    assert (found.left_out, found.waiting) == ((), ())


def test_what_became_of_held_connections_is_read(tmp_path: Path) -> None:
    (tmp_path / "r").write_text('{"opened":7,"refused":1,"ended":2,"why":"EOF"}')
    assert holder.outcome(tmp_path / "r") == Held(opened=7, refused=1, ended=2, why="EOF")
    for text in ("", "{}", "[]"):
        (tmp_path / "r").write_text(text)
        with pytest.raises(holder.HoldError, match="left no report"):
            holder.outcome(tmp_path / "r")
    assert holder.too_many(10_000, 1_048_576) is None
    short = holder.too_many(10_000, 4096)
    assert short == "10000 connections need 10500 open files, and 4096 are allowed: raise the limit (ulimit -Hn)"


@pytest.mark.parametrize(
    ("nofile", "levels"),
    [(10_500, [0, 1000, 5000, 10_000]), (10_499, [0, 1000, 5000]), (1500, [0, 1000]), (1499, [0, 1000, 5000, 10_000])],
)
def test_open_files_end_a_ladder_of_connections_where_they_must(registry: Registry, nofile: int, levels: list[int]) -> None:
    names = ["idle-connections", "idle-connections-few", "in-flight-memory"]
    free = plans.make(registry, "standard", ["go"], names, "1cpu", 1, 3)
    held, *others = plans.make(registry, "standard", ["go"], names, "1cpu", 1, 3, nofile=nofile).scenarios
    assert held.steps == levels
    assert others == list(free.scenarios[1:])


def test_a_ladder_that_ends_early_says_so(registry: Registry) -> None:
    plan = plans.make(registry, "standard", ["go"], ["idle-connections", "idle-connections-few"], "1cpu", 1, 3, nofile=6000)
    assert [plan.cut_short(scenario) for scenario in plan.scenarios] == [
        "up to 5,000 connections of 10,000: more open files are not allowed here (ulimit -Hn 10500 for all)",
        None,
    ]
    assert plan.timing(plan.scenarios[0]).window_s == plan.timing(registry.scenarios["idle-connections"]).window_s * 3 / 4


def test_an_ordinary_scenario_is_not_read_that_way(registry: Registry) -> None:
    ordinary = next(scenario for scenario in registry.scenarios.values() if not scenario.steps)
    assert ordinary.reading_times(ordinary.timing(registry.tiers["smoke"])) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"levels": []},
        {"headline": "cpu"},
        {"levels": [600]},
        {"levels": [100, 50, 600]},
        {"levels": [50, 50, 600]},
        {"vus": 600},
        {"levels": [0, 600]},
        {"hold_ms": 0},
        {"rate": 5},
        {"shape": "users"},
    ],
)
def test_wrong_levels_are_mistakes(registry: Registry, changes: dict[str, object]) -> None:
    data = of_registry(registry).model_dump()
    assert scenario_of(data) == of_registry(registry)
    with pytest.raises(ValueError, match=r"level|Input|Extra inputs"):
        scenario_of({**data, **changes})
