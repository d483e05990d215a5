"""Contender by contender where memory is short: chosen by numbers, said, and planned."""

from __future__ import annotations

import pytest

from nsb.registry import plan
from nsb.registry.contenders import Contender
from nsb.registry.load import Registry
from nsb.registry.shapes import ClosedUsers
from nsb.session import run as session
from nsb.session.run import Refused


def contender(name: str, memory_mib: int = 1024, worker_processes: bool = False) -> Contender:
    return Contender(id=name, service="s", stands_for="x", run=["x"], memory_mib=memory_mib, worker_processes=worker_processes)


CAST = [contender("a", 2048), contender("b", 1024), contender("c", 1024)]  # with 1 GiB beside them: 5 GiB, alone 3 GiB at the most


def test_all_run_at_once_where_they_fit_into_four_fifths_of_what_is_available() -> None:
    assert plan.order_for("auto", CAST, 1, 5 * 1024 / 0.8) == ("scenario", "")
    assert plan.order_for("auto", CAST, 1, None) == ("scenario", "")


def test_one_runs_at_a_time_where_they_do_not_and_the_numbers_are_said() -> None:
    order, why = plan.order_for("auto", CAST, 1, 5 * 1024 / 0.8 - 1)
    assert order == "contender"
    assert "3 contenders need about 5.0 GiB" in why
    assert "80%" in why


def test_a_twin_counts_and_so_does_every_worker_process() -> None:
    assert plan.order_for("auto", [*CAST, contender("a-twin", 2048)], 1, 5 * 1024 / 0.8)[0] == "contender"
    forks = [contender("a", 1024, worker_processes=True)]
    assert forks[0].reserve_mib(4) == 4096
    assert contender("a", 1024).reserve_mib(4) == 1024


def test_a_number_of_workers_that_is_declared_goes_before_the_one_granted() -> None:
    one = contender("a", 1024, worker_processes=True).model_copy(
        update={"environment": {"WORKERS": "1"}, "differs": {"workers": "one alone"}, "blocked_by": "loop"}
    )
    assert one.workers(4) == 1
    assert one.reserve_mib(4) == 1024
    assert one.nothing_of_its_own(4) is None
    assert "profile ncpu" in (one.nothing_of_its_own(1) or "")
    assert contender("b").nothing_of_its_own(1) is None
    load = ClosedUsers(shape="users", id="s", why="", path="/x", body="", vus=8, hold_ms=1000, holds="loop", headline="throughput")
    assert load.queue_s(one, 4) == 8.0
    assert load.queue_s(one.model_copy(update={"environment": {}}), 4) == 2.0


def test_what_does_not_fit_even_alone_is_refused_with_the_remedy() -> None:
    for asked in ("auto", "scenario", "contender"):
        with pytest.raises(ValueError, match=r"^a needs about 3\.0 GiB .* --contenders$"):
            plan.order_for(asked, CAST, 1, 3 * 1024 / 0.8 - 1)


def test_an_order_that_is_asked_for_is_kept_and_a_risk_is_said() -> None:
    short = 4 * 1024 / 0.8
    order, why = plan.order_for("scenario", CAST, 1, short)
    assert order == "scenario"
    assert "asks for it" in why
    assert plan.order_for("scenario", CAST, 1, None) == ("scenario", "")
    order, why = plan.order_for("contender", CAST, 1, None)
    assert order == "contender"
    assert "asked for" in why


def test_the_session_asks_the_machine_says_the_sentence_and_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(session.host, "memory_available_mib", lambda: 5 * 1024.0)
    assert session.arrange("auto", CAST, 1, said.append)[0] == "contender"
    assert len(said) == 1
    monkeypatch.setattr(session.host, "memory_available_mib", lambda: 1024.0)
    with pytest.raises(Refused, match="--contenders"):
        session.arrange("auto", CAST, 1, said.append)


def made(registry: Registry, order: plan.Order) -> plan.Plan:
    scenarios = ["hello-rate", "in-flight-memory", "sleep-max"]
    names = ["go", "rust", "node"]
    return plan.make(registry, "standard", names, scenarios, "1cpu", 1, 3, rounds=2).only(names, (order, ""))


def test_contender_by_contender_each_goes_through_all_scenarios_before_the_next(registry: Registry) -> None:
    p = made(registry, "contender")
    for round_ in (1, 2):
        assert p.groups(round_) == [(name,) for name in p.rows[round_ - 1]]
        assert [slot.contender.id for slot in p.slots(round_)] == [name for name in p.rows[round_ - 1] for _ in range(3)]


def test_both_orders_plan_the_same_cells_and_the_same_time(registry: Registry) -> None:
    one, other = made(registry, "scenario"), made(registry, "contender")
    assert one.groups(1) == [one.rows[0]]
    assert sorted(slot.key for slot in one.slots(1)) == sorted(slot.key for slot in other.slots(1))
    assert one.measuring_s == other.measuring_s


@pytest.mark.parametrize("order", ["scenario", "contender"])
def test_a_ladder_comes_first_in_a_fresh_process(registry: Registry, order: plan.Order) -> None:
    p = made(registry, order)
    slots = list(p.slots(1))
    for name in p.rows[0]:
        own = [slot.scenario for slot in slots if slot.contender.id == name]
        assert own[0].steps
        assert [s.id for s in own[1:]] == ["hello-rate", "sleep-max"]


def test_every_contender_of_the_registry_says_what_to_set_aside(registry: Registry) -> None:
    assert all("memory_mib" in c.model_fields_set for c in registry.contenders.values() if c.twin_of is None)
