"""Each known cheat (bench/plants/cheats) under a real load: refused or marked, by name. `just cheats` runs it; it takes some minutes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from nsb.analyse.cells import judged
from nsb.measure import k6, warming
from nsb.measure.duet import Ground
from nsb.measure.journal import Journal
from nsb.measure.native import Stage
from nsb.measure.runner import Runner
from nsb.measure.tools import Workshop, workshop
from nsb.records.judged import Cell
from nsb.registry import plan as plans
from nsb.registry.contenders import Contender
from nsb.registry.load import Registry, load
from nsb.registry.services import Service
from nsb.session import run as session

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif("NSB_CHEATS" not in os.environ, reason="some minutes of real loads: just cheats"),
]
BENCH = Path(__file__).resolve().parents[1]
STEP_S, WARM = 0.5, 1100
"""One step of the warm-up (s), and more requests than two of them send: one connection rests for 1 ms after each."""
AFTER = dict.fromkeys(
    ("leaves-core", "forks", "long-answer", "wrong-answer", "seldom-fails", "borrows-core", "priority", "burdens", "answers-unread",
     "right-when-compared", "longer-slices", "own-weight", "burdens-briefly"), WARM,
)  # fmt: skip
"""Played once the warm-up is over: before, the harness pins every thread anyway, and refuses a wrong answer."""

GO = [
    ("no-calls", "fanout-rate", "V9 the upstream got 0 calls for"),
    ("short-calls", "fanout-rate", "V9 the upstream was to wait 0 ms in all for"),
    ("no-insert", "book-write-rate", "V9 the database has 0 new rows for"),
    ("no-statement", "slow-query-max", "V9 0.00 statements per request where 1 are declared"),
    ("short-statement", "slow-query-max", "V9 0 statements at most waited in the database"),
    ("kept-books", "book-read-rate", "V9 0.00 statements per request"),
    ("other-statement", "book-read-rate", "V9 the database looked up"),
    ("other-statement", "cost-read", "V9 the database looked up"),
    ("short-calls", "cost-fanout", "V9 the upstream was to wait 0 ms in all for"),
    ("no-wait", "cost-wait", "V6 go-no-wait answered within"),
    ("counts-tenfold", "hello-rate", "V5 the service counted"),
    ("long-answer", "hello-max", "answers were wrong"),
    ("wrong-answer", "hello-max", "answers were wrong"),
    ("seldom-fails", "hello-max", "requests failed"),
    ("closes", "hello-max", "the service closes them"),
    ("leaves-core", "hello-rate", "threads may run on the cores"),
    ("forks", "hello-rate", "processes have left its process group"),
    ("hands-on", "hello-rate", "connections to somebody who is neither its database nor the upstream"),
    ("ahead", "cost-hello", "did not answer as it must"),
    ("known-result", "cost-compute-100k", "in registers: it did not compute them"),
    ("pays-later", "cost-read", "when the window closed there were"),
    ("pays-later", "cost-write", "when the window closed there were"),
    ("pays-later", "fanout-rate", "when the window closed there were"),
    ("one-transaction", "cost-write", "when the window closed there were"),
    ("works-ahead", "cost-read", "when the window opened there were"),
    ("asks-behind", "cost-read", "under way while the database hung"),
    ("calls-behind", "cost-fanout", "under way while the upstream hung"),
    ("coalesces", "cost-read", "V9 the database executed"),
    ("borrows-core", "cost-hello", "threads may run on the cores"),
    ("borrows-core", "hello-rate", "threads may run on the cores"),
    ("priority", "cost-hello", "threads have the scheduling policy 3"),
    # by the second where its streams begin after the window's look at sockets, and before requests are counted
    ("burdens", "cost-hello", "connections to somebody who is neither its database nor the upstream | V5 go counted"),
    ("answers-unread", "cost-hello", "expected status 404"),
    ("answers-unread", "hello-max", "with status 404"),
    ("right-when-compared", "hello-rate", "answers were wrong"),
    ("packs-statements", "cost-read", "statements were prepared ones, where go-packs-statements must have executed"),
    ("pipelines-calls", "cost-fanout", "expected status 200"),
    ("own-weight", "cost-hello", "are in a scheduling group with the nice value -10"),
]
PYTHON = [
    ("known-result", "cost-compute", "in registers: it did not compute them"),
    ("lost-children", "cost-compute", "of the services' cores went to none of them"),
]
NODE = [
    ("no-block", "interference", "the handler does not block"),
    ("more-in-flight", "in-flight-memory", "requests are in flight where"),
    ("no-calls", "fanout-rate", "V9 the upstream got 0 calls for"),
    ("kept-books", "book-read-rate", "V9 0.00 statements per request"),
    ("closes", "hello-rate", "the service closes them"),
]


HONEST = [
    ("go", "cost-read"), ("go", "cost-write"), ("go", "cost-fanout"), ("go", "cost-compute"), ("python", "cost-wait-query"),
    ("python", "cost-compute"), ("node", "cost-read"), ("node", "cost-fanout"), ("node", "cost-compute"), ("node", "interference"),
]  # fmt: skip
ACCUSES = ("V1", "V5", "V9")
"""What makes a cell invalid by these accuses a service, and no machine that is busy with something else; of V6 it is by these words."""
WORDS = ("does not block", "did not compute", "in flight where", "answered within")


def contender(service: str, cheat: str, registry: Registry) -> Contender:
    played = {"CHEAT": cheat, "CHEAT_AFTER": str(AFTER.get(cheat, 1))}
    if service == "node":
        script = BENCH / "plants" / "cheats" / "node" / "cheat.cjs"
        honest = registry.contenders["node"]
        environment = {**honest.environment, **played, "NODE_OPTIONS": f"--require={script}"}
        return honest.model_copy(update={"id": f"node-{cheat}", "environment": environment})
    if service == "python":
        script = BENCH / "plants" / "cheats" / "python" / "cheat.py"
        honest = registry.contenders["python"]
        run = ["{folder}/.venv/bin/python", str(script)]
        return honest.model_copy(update={"id": f"python-{cheat}", "environment": {**honest.environment, **played}, "run": run})
    return Contender(id=f"go-{cheat}", service="cheat", stands_for=cheat, run=["{folder}/bin/go-cheat"], environment=played, memory_mib=128)


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """With the cheats built."""
    registry = load(BENCH)
    service = Service(folder="bench/plants/cheats/go", needs=["go"], build=[["sh", "build.sh", "{tool.go}"]])
    registry = registry.model_copy(update={"services": {**registry.services, "cheat": service}})
    found = workshop(BENCH.parent, registry)
    for name in ("cheat", "go", "node", "python"):
        found.build(name, tmp_path_factory.mktemp("build") / f"{name}.log", print)
    return found


@pytest.fixture(scope="module")
def stage(work: Workshop, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with session.stage(work, "1cpu", 1, 1, tmp_path_factory.mktemp("stage"), None, print) as found:
        yield found


def measured(work: Workshop, stage: Stage, who: Contender, scenario: str, folder: Path, beside_it: bool = False) -> Cell:
    """`beside_it`: it shares the core with the reference. Who has to find that is told where it is."""
    tier = work.registry.tiers["smoke"].model_copy(update={"warm_cap_s": 2 * STEP_S})
    beside = {"go": work.registry.contenders["go"]} if beside_it else {}
    registry = work.registry.model_copy(update={"contenders": {**beside, who.id: who}, "tiers": {"smoke": tier}})
    plan = plans.make(registry, "smoke", [*beside, who.id], [scenario], "1cpu", 1, 1, rounds=1)
    ground = Ground(stage, session.generator_program(work, print), folder / "generator", 1)
    runner = Runner(plan, stage, Journal(folder), k6.ensure(work.root, str(work.found["go"].path), print), ground)
    try:
        runner.start_group([*beside, who.id], 1, print)
        for name in beside if "CHEAT_FILE" in who.environment else ():
            Path(who.environment["CHEAT_FILE"]).write_text(runner._running[name].base_url, encoding="utf-8")
        return judged(runner.measure(next(slot for slot in plan.slots(1) if slot.contender.id == who.id)))
    finally:
        runner.close()


@pytest.mark.parametrize(
    ("service", "cheat", "scenario", "sentence"),
    [(service, *row) for service, rows in (("go", GO), ("node", NODE), ("python", PYTHON)) for row in rows],
)
def test_a_cheat_gets_no_clean_number(
    work: Workshop,
    stage: Stage,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    service: str,
    cheat: str,
    scenario: str,
    sentence: str,
) -> None:
    monkeypatch.setattr(warming, "STEP_S", STEP_S)
    who = contender(service, cheat, work.registry)
    with stage.null_server(tmp_path) as (_, helper):
        if cheat == "hands-on":
            who = who.model_copy(update={"environment": {**who.environment, "CHEAT_HELPER": helper}})
        if cheat == "burdens":
            who = told_of_the_reference(who, tmp_path)
        cell = measured(work, stage, who, scenario, tmp_path / "run", cheat == "burdens")
    told = [*cell.reasons, *cell.doubts]
    print(f"{who.id}: {cell.status}; {'; '.join(told)}")
    assert any(either in each for either in sentence.split(" | ") for each in told), (cell.status, told)


def told_of_the_reference(who: Contender, folder: Path) -> Contender:
    return who.model_copy(update={"environment": {**who.environment, "CHEAT_FILE": str(folder / "reference")}})


@pytest.mark.parametrize(("name", "scenario"), HONEST)
def test_an_honest_service_is_not_accused(
    work: Workshop, stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, scenario: str
) -> None:
    monkeypatch.setattr(warming, "STEP_S", STEP_S)
    cell = measured(work, stage, work.registry.contenders[name], scenario, tmp_path / "run")
    told = [*cell.reasons, *cell.doubts]
    print(f"{name}, {scenario}: {cell.status}; {'; '.join(told)}")
    assert cell.status != "failed"
    assert not [each for each in cell.reasons if each.startswith(ACCUSES)]
    assert not [each for each in told if any(word in each for word in WORDS)]
