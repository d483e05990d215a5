"""What a waiting person is told of the time left."""

from __future__ import annotations

import io
import re
from collections.abc import Callable

import pytest
from rich.console import Console

from nsb.analyse import table as tables
from nsb.progress import NO_SPREAD, PACE_FROM_S, Screen
from nsb.records.judged import Cell, Half
from nsb.registry import plan as plans
from nsb.registry.load import Registry


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def screen_of(plan: plans.Plan, clock: Clock, said: io.StringIO) -> Screen:
    facts = {
        "plan": {
            "tier": plan.tier_name,
            "profile": plan.profile,
            "rounds": plan.rounds,
            "contenders": [each.id for each in plan.contenders],
            "scenarios": [each.id for each in plan.scenarios],
            "headlines": {each.id: each.headline for each in plan.scenarios},
            "models": {each.id: each.model for each in plan.scenarios},
        }
    }
    return Screen(Console(file=said, width=200), plan, lambda cells: tables.make(facts, cells), [], clock)


def left_s(said: io.StringIO) -> int:
    minutes, seconds = re.findall(r"(\d+):(\d\d) left", said.getvalue())[-1]
    return int(minutes) * 60 + int(seconds)


def two(registry: Registry) -> plans.Plan:
    return plans.make(registry, "standard", ["go", "java-vt"], ["hello-rate", "sleep-rate"], "1cpu", 1, 3, rounds=6)


def measured(slot: plans.Slot) -> Cell:
    return Cell(
        round=slot.round, contender=slot.contender.id, scenario=slot.scenario.id, profile="1cpu", model="open", window_s=2.0, status="valid"
    )


def run(
    plan: plans.Plan, pace: float, restart_s: Callable[[plans.Slot], float] = lambda _: 0.0
) -> list[tuple[plans.Slot, int, float, float]]:
    """A whole run whose every part takes `pace` times as long as announced, and a cell its `restart_s` more: for each cell what is told of
    the time left, what was announced of it, and what it is."""
    clock, said = Clock(), io.StringIO()
    screen, rest, found = screen_of(plan, clock, said), plan.measuring_s, []
    whole = plans.left(plan, ())
    slots = [slot for round_ in range(1, plan.rounds + 1) for slot in plan.slots(round_)]
    true_s = pace * rest + sum(map(restart_s, slots))
    with screen:
        for round_, group in plan.all_groups:
            if plan.is_fresh(round_):
                rest -= whole.group_s(round_, group)
                true_s -= pace * whole.group_s(round_, group)
                clock.now += pace * whole.group_s(round_, group)
                screen.started(group)
            for slot in plan.slots(round_):
                seconds = whole.slot_s(slot)
                rest -= seconds
                true_s -= pace * seconds + restart_s(slot)
                clock.now += pace * seconds + restart_s(slot)
                screen.cell(slot, measured(slot))
                found.append((slot, left_s(said), rest, true_s))
    return found


def test_a_cell_is_told_with_the_spread_of_its_halves_or_without_a_figure(registry: Registry) -> None:
    plan, said = plans.make(registry, "smoke", ["go", "java-vt"], ["sleep-max"], "1cpu", 1, 3, rounds=1), io.StringIO()
    halves = [Half(requests=count, p50_ms=1000.0, service_cpu_s=0.1) for count in (580, 620)]
    told = {"throughput_rps": 600.0, "halves": halves}
    with screen_of(plan, Clock(), said) as screen:
        for slot in plan.slots(1):
            screen.cell(slot, measured(slot).model_copy(update=told if slot.contender.id == "go" else told | {"halves": []}))
    lines = {
        name: line.split(" left")[0].split()[3:]
        for line in said.getvalue().splitlines()
        for name in ("go", "java-vt")
        if f" {name} " in line
    }
    assert lines["go"][:3] == ["600", "±3.3%", "requests/s"]
    assert " ".join(lines["java-vt"][:7]) == f"{NO_SPREAD} valid"


def test_the_time_left_goes_down_to_nothing_as_announced(registry: Registry) -> None:
    found = run(two(registry), 1.0)
    assert all(abs(told - rest) <= 1 for _, told, rest, _ in found)
    assert found[-1][1] == 0


def test_a_process_that_is_started_for_a_cell_is_announced_with_that_cell(registry: Registry) -> None:
    plan = plans.make(registry, "standard", ["go", "java-vt"], ["cost-hello", "in-flight-memory"], "1cpu", 1, 3, rounds=6)
    assert {key[:2] for key in plans.left(plan, ()).again} == {(1, "cost-hello"), (3, "cost-hello"), (5, "cost-hello")}
    found = run(plan, 1.0)
    assert all(abs(told - rest) <= 1 for _, told, rest, _ in found)
    assert found[-1][1] == 0


def test_a_slower_machine_corrects_what_is_left(registry: Registry) -> None:
    plan = two(registry)
    later = [(told, rest) for _, told, rest, _ in run(plan, 1.5) if plan.measuring_s - rest >= PACE_FROM_S]
    assert len(later) > 5
    assert all(abs(told - 1.5 * rest) <= 1 for told, rest in later)


def test_a_contender_that_is_started_again_for_each_of_its_cells_corrects_its_own_alone(registry: Registry) -> None:
    plan = two(registry)
    found = run(plan, 1.0, lambda slot: 70.0 if slot.contender.id == "java-vt" else 0.0)
    later = [(told, true_s) for slot, told, _, true_s in found if slot.round > 1]
    assert len(later) == plan.cells - plan.cells / plan.rounds
    assert all(abs(told - true_s) <= 1 for told, true_s in later)


def test_the_first_start_alone_corrects_nothing(registry: Registry) -> None:
    plan = plans.make(registry, "smoke", ["go"], ["hello-rate"], "1cpu", 1, 3, rounds=1)
    clock, said = Clock(), io.StringIO()
    with screen_of(plan, clock, said) as screen:
        start_s = plans.left(plan, ()).group_s(1, ["go"])
        clock.now += 100 * start_s
        screen.started(["go"])
        screen.say("on it goes")
    assert start_s < PACE_FROM_S
    assert abs(left_s(said) - (plan.measuring_s - start_s)) <= 1


@pytest.mark.parametrize(("order", "starts"), [("scenario", ["go", "java-vt"]), ("contender", ["java-vt"])])
def test_a_resumed_run_announces_what_is_left_and_only_the_starts_it_needs(
    registry: Registry, order: plans.Order, starts: list[str]
) -> None:
    plan = two(registry).only(["go", "java-vt"], (order, ""))
    slots = [slot for round_ in range(1, plan.rounds + 1) for slot in plan.slots(round_)]
    gone = next(slot for slot in slots if slot.contender.id == "java-vt" and slot.round == 3)
    already = [measured(slot) for slot in slots if slot is not gone]
    cells = sum(plan.cell_s(slot.contender, slot.scenario) for slot in slots)
    start_s = {each.id: plan.start_s(each) for each in plan.contenders}
    assert plan.measuring_s == pytest.approx(cells + plan.rounds * sum(start_s.values()))
    left = plans.left(plan, already)
    assert left.seconds == pytest.approx(plan.cell_s(gone.contender, gone.scenario) + sum(start_s[name] for name in starts))
    assert plans.left(plan, [measured(slot) for slot in slots]).seconds == 0


@pytest.mark.parametrize("gone", [1, 2])
def test_a_resumed_run_announces_the_processes_that_it_really_starts(registry: Registry, gone: int) -> None:
    plan = plans.make(registry, "standard", ["go", "java-vt"], ["cost-hello", "cost-read", "in-flight-memory"], "1cpu", 1, 3, rounds=2)
    slots = [slot for round_ in (1, 2) for slot in plan.slots(round_)]
    left = plans.left(plan, [measured(slot) for slot in slots if (slot.scenario.id, slot.round) != ("cost-read", gone)])
    assert {(slot.scenario.id, slot.round) for slot in left.slots} == {("cost-read", gone)}
    assert [(round_, set(group)) for round_, group in left.groups] == [(gone, {"go", "java-vt"})]
    # A round with a ladder starts with its processes, which are of no use to the others.
    assert left.again == (frozenset(slot.key for slot in left.slots) if gone == 1 else frozenset())
    jvm = next(each for each in plan.contenders if each.id == "java-vt")
    ladder = next(each for each in plan.scenarios if each.steps)
    assert left.group_s(gone, ["java-vt"]) == plan.start_s(jvm, ladder if gone == 1 else None)
    assert plan.start_s(jvm, ladder) < plan.start_s(jvm)
