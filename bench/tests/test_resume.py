"""A resumed run measures exactly what is missing, on the same machine, from the same commit, with the same configuration."""

from __future__ import annotations

import json
import shutil
import subprocess
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nsb.analyse.resume import NOT_RECORDED, differences, entries
from nsb.measure.tools import Found, Workshop, workshop
from nsb.records.judged import Cell, Status
from nsb.registry import plan as plans
from nsb.registry.load import Registry
from nsb.session import run as session
from nsb.verbs import clustering, measuring
from test_cli import RUN, nsb

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
FACTS: dict[str, Any] = {
    "schema": 1,
    "runner": "native",
    "plan": {"profile": "1cpu"},
    "host": {
        "name": "a", "commit": "c38c0a5", "changed": False, "architecture": "x86_64", "cpu": "Xeon", "cores": 2, "affinity": "0-1",
        "kernel": "6.18", "clock_source": "tsc", "python": "3.11.7",
    },
    "placement": {"service": [1], "generator": [0], "database": [0], "upstream": [0]},
    "database": {"kind": "mariadb", "version": "11.4.5", "private": True},
    "k6": "k6 v2.2.0",
    "tools": {"go": "1.26.8"},
    "configuration": {"scenario hello-rate": "a1", "harness": "b2"},
}  # fmt: skip


@pytest.fixture
def plan(registry: Registry) -> plans.Plan:
    return plans.make(registry, "smoke", ["go", "rust"], ["hello-rate", "compute-rate"], "1cpu", 1, 3, rounds=2)


def recorded(slot: plans.Slot, status: Status, attempt: int = 1) -> Cell:
    data: dict[str, Any] = {
        "round": slot.round, "contender": slot.contender.id, "scenario": slot.scenario.id, "profile": "1cpu",
        "model": slot.scenario.model, "status": status, "attempt": attempt,
    }  # fmt: skip
    return Cell(**data)


# ---- exactly what is missing ----


def all_slots(plan: plans.Plan) -> list[plans.Slot]:
    return [slot for round_ in (1, 2) for slot in plan.slots(round_)]


def test_nothing_recorded_is_everything_missing(plan: plans.Plan) -> None:
    assert plans.missing(plan, []) == [(slot, 1) for slot in all_slots(plan)]


@pytest.mark.parametrize("status", ["valid", "censored", "unsupported"])
def test_what_counts_or_cannot_be_is_there(plan: plans.Plan, status: Status) -> None:
    slots = all_slots(plan)
    assert plans.missing(plan, [recorded(slots[2], status)]) == [(slot, 1) for slot in slots if slot != slots[2]]
    assert plans.missing(plan, [recorded(slot, status) for slot in slots]) == []


@pytest.mark.parametrize("status", ["invalid", "failed"])
def test_what_does_not_count_is_measured_again_under_a_new_number(plan: plans.Plan, status: Status) -> None:
    slots = all_slots(plan)
    already = [recorded(slot, "valid") for slot in slots if slot != slots[1]]
    already += [recorded(slots[1], status, 1), recorded(slots[1], status, 2)]
    assert plans.missing(plan, already) == [(slots[1], 3)]
    assert plans.missing(plan, [*already, recorded(slots[1], "valid", 3)]) == []


def test_a_second_attempt_that_was_cut_off_is_the_next(plan: plans.Plan) -> None:
    first = all_slots(plan)[0]
    assert plans.missing(plan, [recorded(first, "invalid")])[0] == (first, 2)


def test_a_cell_of_another_round_or_contender_is_not_this_one(plan: plans.Plan) -> None:
    first = all_slots(plan)[0]
    for other in (replace(first, round=2), replace(first, contender=first.contender.model_copy(update={"id": "node"}))):
        assert (first, 1) in plans.missing(plan, [recorded(other, "valid")])


# ---- the same everything ----


def test_the_same_facts_differ_in_nothing() -> None:
    assert differences(FACTS, deepcopy(FACTS)) == []


@pytest.mark.parametrize(
    ("where", "value", "sentence"),
    [
        (("host", "name"), "b", "name was a, is b"),
        (("host", "commit"), "f2ad6bb", "commit was c38c0a5, is f2ad6bb"),
        (("host", "changed"), True, "changed was False, is True"),
        (("host", "cores"), 4, "cores was 2, is 4"),
        (("host", "cpu"), "EPYC", "cpu was Xeon, is EPYC"),
        (("host", "affinity"), "2-3", "affinity was 0-1, is 2-3"),
        (("host", "kernel"), "6.19", "kernel was 6.18, is 6.19"),
        (("host", "clock_source"), "hpet", "clock_source was tsc, is hpet"),
        (("runner",), "compose", "runner was native, is compose"),
        (("plan", "profile"), "ncpu", "profile was 1cpu, is ncpu"),
        (("placement", "service"), [0], "cores of service was [1], is [0]"),
        (("k6",), "k6 v2.3.0", "k6 was k6 v2.2.0, is k6 v2.3.0"),
        (("database", "kind"), "mysql", "database kind was mariadb, is mysql"),
        (("database", "version"), "11.8.1", "database version was 11.4.5, is 11.8.1"),
        (("database", "private"), False, "database private was True, is False"),
        (("tools", "go"), "1.27.0", "version of go was 1.26.8, is 1.27.0"),
        (("configuration", "scenario hello-rate"), "ff", "configuration of scenario hello-rate was a1, is ff"),
        (("configuration", "harness"), "ff", "configuration of harness was b2, is ff"),
    ],
)
def test_what_differs_is_named_with_both_values(where: tuple[str, ...], value: object, sentence: str) -> None:
    now = deepcopy(FACTS)
    inner = now
    for key in where[:-1]:
        inner = inner[key]
    inner[where[-1]] = value
    assert differences(FACTS, now) == [sentence]


def test_all_that_differs_is_named_at_once() -> None:
    now = {**FACTS, "k6": "k6 v3", "host": {**FACTS["host"], "name": "b", "kernel": "7.0"}}
    assert [each.split(" was ")[0] for each in differences(FACTS, now)] == ["name", "kernel", "k6"]


def test_what_the_first_sitting_did_not_record_differs() -> None:
    old = {key: value for key, value in FACTS.items() if key != "configuration"}
    assert f"configuration of harness was {NOT_RECORDED}, is b2" in differences(old, FACTS)


def test_what_is_not_known_yet_is_not_compared() -> None:
    assert differences(FACTS, {"host": FACTS["host"]}) == []


# ---- the configuration ----


def test_each_entry_of_the_plan_has_a_hash_of_its_own(plan: plans.Plan, registry: Registry) -> None:
    services = {c.service: registry.services[c.service] for c in plan.contenders}
    before = entries(plan, services)
    assert before.keys() == {
        "tier smoke", "scenario hello-rate", "scenario compute-rate", "contender go", "contender rust", "service go", "service rust",
    }  # fmt: skip
    assert entries(plan, services) == before

    def changed(plan: plans.Plan) -> set[str]:
        return {name for name, value in entries(plan, services).items() if value != before[name]}

    hello, compute = plan.scenarios
    assert changed(replace(plan, scenarios=(hello.model_copy(update={"rate": 999}), compute))) == {"scenario hello-rate"}
    assert changed(replace(plan, tier=plan.tier.model_copy(update={"window_s": 2.5}))) == {"tier smoke"}
    go, rust = plan.contenders
    assert changed(replace(plan, contenders=(go.model_copy(update={"environment": {"GOGC": "50"}}), rust))) == {"contender go"}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A checkout with a service and a harness of one file each."""
    for name in ("go/main.go", "rust/main.rs", *(f"{folder}/file" for folder in session.HARNESS)):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("one")
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    return tmp_path


def test_changed_sources_change_the_configuration_where_the_commit_does_not_tell(plan: plans.Plan, registry: Registry, copy: Path) -> None:
    work = Workshop(copy, registry, {}, {})
    before = session.configuration(plan, work)
    assert {"sources of go/", "sources of rust/", "harness"} <= before.keys()
    assert session.configuration(plan, work) == before
    for name, entry in (("go/main.go", "sources of go/"), ("bench/k6/file", "harness"), ("bench/src/new", "harness")):
        (copy / name).write_text("two")
        after = session.configuration(plan, work)
        assert {key for key in after if after[key] != before[key]} == {entry}
        before = after


def test_only_tools_that_the_plan_uses_must_be_the_same(plan: plans.Plan, registry: Registry) -> None:
    found = {name: Found(f"/bin/{name}", "1.0") for name in registry.tools}
    work = Workshop(ROOT, registry, found, {})
    assert session.tools_used(plan, work) == {"cargo": "1.0", "go": "1.0"}


# ---- by the command line ----


@pytest.fixture
def of_here(registry: Registry, tmp_path: Path) -> Path:
    """A run that was begun here and now, with one cell of two."""
    folder = tmp_path / "run"
    shutil.copytree(RUN, folder)
    work = workshop(ROOT, registry)
    plan = plans.make(registry, "smoke", ["go"], ["hello-rate", "hello-max"], "1cpu", 1, 3)
    run = json.loads((folder / "run.json").read_text())
    old = {"contenders": ["go"], "scenarios": ["hello-rate", "hello-max"], "seed": 3, "rounds": 1, "workers": 1, "profile": "1cpu"}
    facts = {**run, **session.standing(plan, work), "tools": session.tools_used(plan, work), "plan": {**run["plan"], **old}}
    (folder / "run.json").write_text(json.dumps(facts))
    (folder / "cells.jsonl").write_text(recorded(next(plan.slots(1)), "valid").line() + "\n")
    return folder


def test_every_differing_fact_is_refused_at_once(of_here: Path) -> None:
    run = json.loads((of_here / "run.json").read_text())
    run["host"]["name"], run["host"]["commit"], run["tools"]["go"] = "elsewhere", "0000000", "1.0"
    run["configuration"]["contender go"] = "0000"
    (of_here / "run.json").write_text(json.dumps(run))
    done = nsb("bench-all", "--resume", str(of_here))
    assert done.returncode == 3, done.stderr
    for named in (
        "name was elsewhere, is",
        "commit was 0000000, is",
        "version of go was 1.0, is",
        "configuration of contender go was 0000, is",
    ):
        assert named in done.stderr
    assert "Start a new run" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["bench-all", "--tier", "standard", "--rounds", "4", "--seed", "9"], ["--tier: ", "--rounds: ", "--seed: "]),
        (["bench-all", "--profile", "ncpu", "--scenarios", "all"], ["--profile: ", "--scenarios: "]),
        (["bench", "rust"], ["CONTENDER: 'rust' is not in the run"]),
    ],
)
def test_a_resumed_run_keeps_its_plan_and_says_so(of_here: Path, arguments: list[str], named: list[str]) -> None:
    done = nsb(*arguments, "--resume", str(of_here))
    assert done.returncode == 2, done.stderr
    assert all(name in done.stderr for name in named), done.stderr


def test_a_run_that_lacks_nothing_is_reported_and_nothing_starts(of_here: Path, registry: Registry) -> None:
    plan = plans.make(registry, "smoke", ["go"], ["hello-rate", "hello-max"], "1cpu", 1, 3)
    (of_here / "cells.jsonl").write_text("".join(recorded(slot, "valid").line() + "\n" for slot in plan.slots(1)))
    done = nsb("bench-all", "--resume", str(of_here))
    assert done.returncode == 0, done.stderr
    assert "Every planned cell is there already." in done.stdout
    assert "Building" not in done.stdout


def test_a_run_of_one_contender_at_a_time_goes_on_as_one(registry: Registry, tmp_path: Path) -> None:
    """A start that all share serves two rounds of the standard tier; who is alone is started, and measured by all rows, in each."""
    begun = plans.make(registry, "standard", ["go", "rust"], ["cost-hello", "hello-max"], "1cpu", 1, 3, rounds=2).only(
        ["go", "rust"], ("contender", "asked for")
    )
    old = {"tier": "standard", "contenders": ["go", "rust"], "scenarios": ["cost-hello", "hello-max"], "seed": 3, "rounds": 2, "workers": 1}
    run = {"runner": "native", "plan": {**old, "profile": "1cpu", "order": begun.order, "order_why": begun.order_why}}
    plan = measuring._planned(workshop(ROOT, registry), run, tmp_path)
    slots = [slot for round_ in (1, 2) for slot in begun.slots(round_)]
    last = slots[-1]
    assert (last.round, last.scenario.id) == (2, "hello-max")
    assert [slot.key for slot, _ in plans.missing(plan, [recorded(slot, "valid") for slot in slots[:-1]])] == [last.key]


def test_a_resumed_run_on_a_cluster_divides_its_costs_as_before(registry: Registry, tmp_path: Path) -> None:
    old = {"tier": "standard", "contenders": ["go"], "scenarios": ["cost-hello"], "seed": 3, "rounds": 2, "workers": 1, "profile": "1cpu"}
    run = {"runner": "kubernetes", "plan": {**old, "generators": 3}}
    plan = clustering.alone(measuring._planned(workshop(ROOT, registry), run, tmp_path), 3)
    assert len(plan.generators_of(plan.scenarios[0])) == 3


def test_what_is_gone_from_the_registry_is_refused(of_here: Path) -> None:
    run = json.loads((of_here / "run.json").read_text())
    run["plan"]["scenarios"][0] = "hello-once"
    (of_here / "run.json").write_text(json.dumps(run))
    done = nsb("bench-all", "--resume", str(of_here))
    assert done.returncode == 3
    assert "hello-once is not in the registry any more" in done.stderr
