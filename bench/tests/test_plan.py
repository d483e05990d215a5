"""Orders are drawn from the seed, balanced, and announced."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nsb.measure import host
from nsb.records.judged import Cell
from nsb.registry import plan
from nsb.registry.load import ConfigurationError, Registry
from nsb.registry.timing import RECOVERY_LIMIT_S
from nsb.verbs import planning

NAMES = ["a", "b", "c", "d", "e"]


def test_the_same_seed_draws_the_same_rows_and_another_seed_others() -> None:
    assert plan.rows(NAMES, 6, 1) == plan.rows(NAMES, 6, 1)
    assert plan.rows(NAMES, 6, 1) != plan.rows(NAMES, 6, 2)


def test_every_row_is_followed_by_its_reverse_so_that_mean_positions_are_equal() -> None:
    rows = plan.rows(NAMES, 6, 7)
    assert all(rows[i + 1] == tuple(reversed(rows[i])) for i in (0, 2, 4))
    means = {name: sum(row.index(name) for row in rows) / 6 for name in NAMES}
    assert set(means.values()) == {2.0}


def test_cells_go_scenario_by_scenario(registry: Registry) -> None:
    made = plan.make(registry, "standard", ["go", "rust"], ["hello-rate", "sleep-max"], "1cpu", 1, 3, rounds=2)
    slots = [(s.scenario.id, s.contender.id) for s in made.slots(1)]
    assert [s for s, _ in slots] == ["hello-rate"] * 2 + ["sleep-max"] * 2
    assert [c for _, c in slots] == [*made.rows[0], *made.rows[0]]
    assert made.cells == 8


@pytest.mark.parametrize("tier", ["smoke", "standard", "publish"])
def test_halves_of_bursty_windows_are_whole_holds(registry: Registry, tier: str) -> None:
    for scenario in registry.scenarios.values():
        if scenario.model == "closed" and scenario.hold_ms and not scenario.ends and not scenario.paired:
            half = scenario.timing(registry.tiers[tier]).window_s / 2
            holds = half / (scenario.hold_ms / 1000)
            assert holds == pytest.approx(round(holds))
            assert holds >= 1


def test_closed_cells_settle_for_a_whole_turn_of_the_smallest_station(registry: Registry) -> None:
    t = registry.scenarios["sleep-max"].timing(registry.tiers["smoke"])
    assert t.settle_s == 600 * 1.0 / 200


def test_a_queue_for_a_core_moves_once_before_the_window_and_in_each_half(registry: Registry) -> None:
    queue = registry.scenarios["computing-600"]
    for tier in registry.tiers.values():
        t = queue.timing(tier)
        assert min(t.settle_s, t.window_s / 2, t.drain_s) >= queue.turn_s > 0


def test_more_contenders_take_longer_and_conformance_is_announced(registry: Registry) -> None:
    one = plan.make(registry, "smoke", ["go"], ["hello-rate"], "1cpu", 1, 3)
    two = plan.make(registry, "smoke", ["go", "rust"], ["hello-rate"], "1cpu", 1, 3)
    assert two.seconds() > one.seconds()
    assert one.seconds(one.contenders) == one.seconds() + plan.CONFORMANCE_S


def test_the_contract_is_asked_of_an_original_and_not_of_its_twin(registry: Registry) -> None:
    made = plan.make(registry, "smoke", ["java-vt", "java-vt-twin", "go-plant-2ms", "rust-twin"], ["hello-rate"], "1cpu", 1, 3)
    assert [contender.id for contender in made.to_check] == ["java-vt", "go-plant-2ms", "rust-twin"]
    assert made.seconds(made.to_check) - made.seconds() == pytest.approx((plan.JVM_CONFORMANCE_S + 2 * plan.CONFORMANCE_S) / 2)


def test_who_would_tell_nothing_is_named_and_nobody_else(registry: Registry) -> None:
    names = ["python", "python-one", "java-nio-n", "go", "java-vt"]
    one = plan.make(registry, "smoke", names, ["sleep-rate"], "1cpu", 1, 3)
    assert {name: why.split(":")[0] for name, why in planning.pointless(one).items()} == {
        "python-one": "1 worker(s) are what all contenders have here",
        "java-nio-n": registry.contenders["java-nio-n"].why_not(registry.scenarios["sleep-rate"]),
    }
    four = plan.make(registry, "smoke", names, ["hello-rate"], "ncpu", 4, 3)
    assert planning.pointless(four) == {}


def test_more_workers_than_connections_are_refused_by_their_own_name(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    many = replace(host.placement("ncpu"), service=tuple(range(151)))
    monkeypatch.setattr(host, "placement", lambda profile: many)
    with pytest.raises(ConfigurationError, match="ncpu grants 151 workers, which cannot divide a pool of 150"):
        planning.make(registry, planning.Asked(tier="smoke", profile="ncpu"))


def test_a_plan_without_some_is_the_plan_of_the_others(registry: Registry) -> None:
    both = plan.make(registry, "smoke", ["python", "python-one", "go"], ["hello-rate"], "1cpu", 1, 3, rounds=4)
    left = plan.make(registry, "smoke", ["python", "go"], ["hello-rate"], "1cpu", 1, 3, rounds=4)
    assert both.only(["go", "python"]) == left
    assert both.measuring_s > left.measuring_s


def test_a_jvm_is_announced_to_start_later_and_again_for_another_heap(registry: Registry) -> None:
    both = plan.make(registry, "article", ["go", "java-pt"], ["hello-rate", "a-hello"], "1cpu", 1, 3, rounds=1)
    go, jvm = both.contenders
    assert both.start_s(jvm) > both.start_s(go)
    left = plan.left(both, ())
    assert left.group_s(1, ["go"]) == both.start_s(go)
    assert left.group_s(1, ["java-pt"]) == both.start_s(jvm)
    assert left.group_s(1, ["go", "java-pt"]) == both.start_s(go) + both.start_s(jvm)
    (again,) = [slot for slot in left.slots if slot.key in left.again]
    assert (again.contender.id, again.scenario.id) == ("java-pt", "a-hello")
    assert left.slot_s(again) == both.start_s(jvm) + both.cell_s(jvm, again.scenario)


def test_a_ladder_and_held_connections_are_announced_with_the_starts_that_they_need(registry: Registry) -> None:
    def starts(*scenarios: str) -> list[int]:
        made = plan.make(registry, "article", ["go", "java-vt"], scenarios, "1cpu", 1, 3, rounds=1)
        again = [name for _, _, name in plan.left(made, ()).again]
        return [1 + again.count(contender.id) for contender in made.contenders]

    assert starts("hello-rate", "sleep-max") == [1, 1]
    assert starts("in-flight-memory") == [1, 1]
    assert starts("hello-rate", "in-flight-memory") == [2, 2]  # the ladder comes first, and its process is of no use to the others
    assert starts("idle-connections") == [1, 1]
    assert starts("hello-rate", "idle-connections") == [2, 2]
    assert starts("hello-rate", "idle-connections", "in-flight-memory") == [3, 3]
    assert starts("hello-rate", "a-hello", "idle-connections") == [2, 3]  # a heap of its own: only a JVM cares


def test_a_ladder_is_warmed_by_itself_and_nothing_else_is_warmed_with_it(registry: Registry) -> None:
    made = plan.make(registry, "standard", ["java-vt"], ["in-flight-memory", "cost-hello", "sleep-max"], "1cpu", 1, 3, rounds=1)
    (jvm,) = made.contenders
    ladder, rest = made.first(1, "java-vt"), next(each for each in made.scenarios if not each.steps)
    assert ladder is not None
    assert [each.id for each in made.warmed_with(jvm, ladder)] == ["in-flight-memory"]
    assert (
        {each.id for each in made.warmed_with(jvm, rest)}
        == {each.id for each in made.warmed_with(jvm, None)}
        == {"cost-hello", "sleep-max"}
    )
    assert made.start_s(jvm, ladder) < made.start_s(jvm, rest) == made.start_s(jvm)


def test_nobody_is_started_for_what_it_cannot_run(registry: Registry) -> None:
    """Warmed by a ladder of /sleep alone, which it does not have, it would fail in all its cells."""
    made = plan.make(registry, "standard", ["java-nio-1"], ["in-flight-memory", "cost-hello"], "1cpu", 1, 3, rounds=1)
    first = made.first(1, "java-nio-1")
    assert first is not None
    assert first.id == "cost-hello"
    assert [each.id for each in made.warmed_with(made.contenders[0], first)] == ["cost-hello"]


def test_a_breakdown_is_announced_with_the_starts_and_the_waits_that_it_costs(registry: Registry) -> None:
    """20261125-overload: java-vt broke down in each of its 15 cells and was started 15 times, 3 of them with the others."""
    names = ["overload-read", "overload-wait", "overload-mixed"]
    made = plan.make(registry, "standard", ["go", "java-vt"], names, "1cpu", 1, 3, rounds=5)
    go, jvm = made.contenders
    assert made.breakdown_s(jvm) == 12 * made.start_s(jvm) + 15 * 4 * RECOVERY_LIMIT_S  # four levels from 100 % on
    assert made.breakdown_s(go) == 12 * made.start_s(go) + 15 * 4 * RECOVERY_LIMIT_S
    assert planning.breakdowns(made) == f", up to {made.breakdown_s(jvm) / 60:.0f} more for each contender that breaks down"
    others = plan.make(registry, "standard", ["go", "java-vt"], ["hello-max", "failure-clients"], "1cpu", 1, 3, rounds=5)
    assert planning.breakdowns(others) == ""


def test_a_warm_up_is_announced_by_its_cost_rows_up_to_the_cap(registry: Registry) -> None:
    def start_s(contender: str, *scenarios: str, tier: str = "standard") -> float:
        made = plan.make(registry, tier, [contender], scenarios, "1cpu", 1, 3, rounds=1)
        return made.start_s(made.contenders[0])

    rows = ["cost-hello", "cost-read", "cost-write"]
    assert start_s("java-pt", "hello-rate") == plan.JVM_START_S + plan.JVM_STEPS_S
    assert start_s("java-pt", *rows) == plan.JVM_START_S + plan.JVM_STEPS_S + len(rows) * plan.JVM_VISITS_S
    assert start_s("java-pt", *rows, tier="smoke") == plan.JVM_START_S + registry.tiers["smoke"].warm_cap_s
    assert start_s("go", "hello-rate") == plan.START_S + plan.STEPS_S
    assert start_s("go", *rows) == plan.START_S + plan.STEPS_S + len(rows) * plan.VISITS_S


def test_who_cannot_run_a_scenario_is_told_and_takes_no_time(registry: Registry) -> None:
    both = plan.make(registry, "smoke", ["go", "java-vt"], ["hello-rate", "pinning-lock"], "1cpu", 1, 3)
    assert [(scenario, names) for scenario, _, names in both.left_out] == [("pinning-lock", ("go",))]
    assert "/pin" in both.left_out[0][1]
    hello = plan.make(registry, "smoke", ["go", "java-vt"], ["hello-rate"], "1cpu", 1, 3)
    cell_s = both.timing(registry.scenarios["pinning-lock"]).total_s
    assert both.measuring_s - hello.measuring_s == pytest.approx(cell_s)
    assert both.start_s(both.contenders[0]) == hello.start_s(hello.contenders[0])
    assert both.cells == 4


def test_every_run_has_a_twin_of_one_contender_or_of_those_asked_for(registry: Registry) -> None:
    assert plan.with_twins(["rust", "go"], registry, None) == ["rust", "go", "go-twin"]  # contenders.toml marks go
    assert plan.with_twins(["rust", "node"], registry, None) == ["rust", "node", "rust-twin"]
    assert plan.with_twins(["rust", "go"], registry, ["rust"]) == ["rust", "go", "rust-twin"]
    assert plan.with_twins(["rust", "go"], registry, ["go", "rust"]) == ["rust", "go", "go-twin", "rust-twin"]
    assert plan.with_twins(["rust"], registry, []) == ["rust"]
    assert plan.with_twins(["go", "rust-twin", "rust"], registry, None) == ["go", "rust-twin", "rust"]
    assert plan.with_twins(["go", "rust-twin", "rust"], registry, ["rust"]) == ["go", "rust-twin", "rust"]
    with pytest.raises(KeyError, match="rust"):
        plan.with_twins(["go"], registry, ["go", "rust"])


def test_controls_are_told_apart(registry: Registry) -> None:
    names = plan.with_twins(["go", "go-plant-2ms"], registry, None)
    made = plan.make(registry, "smoke", names, ["hello-rate"], "1cpu", 1, 3)
    assert made.controls == {"go-twin": {"kind": "twin", "of": "go"}, "go-plant-2ms": {"kind": "plant", "of": "go", "worsens": "p50"}}
    assert made.cells == 3


# --- starts that serve several rounds -------------------------------------------------------------------------------------


def shared(registry: Registry, rounds: int = 6) -> plan.Plan:
    scenarios = ["cost-hello", "cost-read", "hello-max", "in-flight-memory"]
    return plan.make(registry, "standard", ["go", "rust"], scenarios, "1cpu", 1, 7, rounds)


def test_a_start_serves_two_rounds_and_other_rows_are_measured_once_a_start(registry: Registry) -> None:
    made = shared(registry)
    assert [round_ for round_ in range(1, 7) if made.is_fresh(round_)] == [1, 3, 5]
    asked = {round_: {slot.scenario.id for slot in made.slots(round_)} for round_ in range(1, 7)}
    assert asked[1] == asked[3] == asked[5] == {"cost-hello", "cost-read", "hello-max", "in-flight-memory"}
    assert asked[2] == asked[4] == asked[6] == {"cost-hello", "cost-read"}
    assert {each.id: made.rounds_of(each) for each in made.scenarios} == {
        "cost-hello": 6, "cost-read": 6, "hello-max": 3, "in-flight-memory": 3,
    }  # fmt: skip
    assert made.cells == sum(1 for round_ in range(1, 7) for _ in made.slots(round_)) == 36


def test_a_start_that_serves_two_rounds_is_announced_once(registry: Registry) -> None:
    made = shared(registry)
    whole = plan.left(made, ())
    cells_s = sum(whole.slot_s(slot) for round_ in range(1, 7) for slot in made.slots(round_))
    assert made.measuring_s == whole.seconds == pytest.approx(cells_s + 3 * whole.group_s(1, ["go", "rust"]))


def test_what_is_left_of_a_round_that_shares_its_start_needs_that_start_again(registry: Registry) -> None:
    made = shared(registry, rounds=2)
    first = [
        Cell(round=1, contender=slot.contender.id, scenario=slot.scenario.id, profile="1cpu", model="closed", status="valid")
        for slot in made.slots(1)
    ]
    cells_s = sum(made.cell_s(slot.contender, slot.scenario) for slot in made.slots(2))
    assert plan.left(made, first).seconds == pytest.approx(cells_s + sum(map(made.start_s, made.contenders)))


def test_a_run_without_cost_rows_or_with_one_contender_at_a_time_starts_for_each_round(registry: Registry) -> None:
    others = plan.make(registry, "standard", ["go", "rust"], ["hello-max"], "1cpu", 1, 7, 6)
    assert (others.rounds_per_start, others.rounds_of(others.scenarios[0])) == (1, 6)
    one = shared(registry).only(["go", "rust"], ("contender", "asked for"))
    assert (one.rounds_per_start, one.rounds_of(one.scenarios[-1])) == (1, 6)
