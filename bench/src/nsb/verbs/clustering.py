"""A run on a cluster, from its checks to the table: what `bench-all` and `bench` do with --runner kubernetes."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from nsb.analyse.cells import judged
from nsb.conform.suite import broken
from nsb.errors import Refused
from nsb.measure.cluster_cells import LEAD_S, Cells
from nsb.measure.cluster_stage import Cluster
from nsb.measure.journal import Journal
from nsb.measure.patience import patience
from nsb.measure.tools import Workshop
from nsb.records.judged import Cell
from nsb.registry import cluster
from nsb.registry import plan as plans
from nsb.registry.load import ConfigurationError, Registry
from nsb.render.words import by_reason
from nsb.session import run as session
from nsb.session.kubernetes import Kubernetes, conform
from nsb.verbs.common import ROOT, claims_of, console, say, tell_left_out
from nsb.verbs.planning import Asked, make, pointless, size, tell_unsupported
from nsb.verbs.running import measured, sitting, told

AROUND_S = LEAD_S + 7.0
"""What a cell takes beside its load: k6 is placed and booted, its pods end, and logs are fetched (s)."""
START_S = 25.0
"""A contender's pod, its readiness and its forwarded port (s)."""
CONFORMANCE_S = 30.0
LIMIT, LIMIT_LEAST_S = 3, 900
"""The cluster removes everything after so many times what is announced, and not before so many seconds."""


def plan_of(registry: Registry, asked: Asked) -> plans.Plan:
    """One contender at a time, one core for it, and each generator in a pod of its own. Raises ConfigurationError."""
    if asked.profile not in (None, "1cpu"):
        raise ConfigurationError([f"--profile: {asked.profile!r}: deploy/kubernetes gives a contender one core, which is 1cpu"])
    return alone(make(registry, replace(asked, profile="1cpu", solo=True)), asked.generators)


def alone(plan: plans.Plan, generators: int) -> plans.Plan:
    """The plan with so many generators, as it is carried out on a cluster."""
    parts = tuple((number,) for number in range(generators)) if generators > 1 else ()
    return replace(plan, order="contender", order_why="two contenders are never on a cluster at the same time", generators=parts)


def run(
    work: Workshop,
    plan: plans.Plan,
    context: str | None,
    namespace: str,
    folder: Path,
    already: list[Cell],
    before: dict[str, Any] | None,
) -> int:
    """The exit code. `before`: run.json of the run that goes on, whose cells are there `already`.

    Raises Refused, and what the stage raises.
    """
    registry = work.registry
    claims_of(registry)  # a mistake in them is told now, not after an hour
    ground = Kubernetes(work, context, namespace, say)
    generators = len(plan.generators) or 1
    for line in ground.place.lines(generators):
        console.print(line, markup=False, soft_wrap=True)
    runnable, left_out = ground.runnable(plan.contenders)
    left_out |= pointless(plan)
    asked = [each for each in plan.contenders if each.id in runnable and each.id not in left_out]
    tell_left_out(left_out)
    if not asked:
        raise Refused("No contender of this plan can run on the cluster.")
    ground.must_have_images(asked, generators)
    plan = plan.only([each.id for each in asked])
    journal = Journal(folder)
    began = time.monotonic()
    announced = _announced_s(plan)
    limit_s = round(max(LIMIT_LEAST_S, LIMIT * (announced + len(plan.to_check) * CONFORMANCE_S)))
    with ground.stage(plan.workers, folder, limit_s, say) as on:
        passed = _conform(on, plan, left_out)
        there = [each.id for each in plan.contenders if each.id not in left_out]
        if not there:
            raise Refused("No contender obeys the contract on this cluster.")
        plan = plan.only(there)
        tell_unsupported(plan)
        for why, names in by_reason(_not_here(plan)).items():
            console.print(f"{', '.join(names)}: {why}", markup=False, soft_wrap=True)
        announced = _announced_s(plan, already)
        console.print(f"{size(plan)}, about {announced / 60:.0f} minutes; profile {plan.profile}, seed {plan.seed}; {folder}", markup=False)
        facts = session.run_facts(plan, on.database, _k6_version(), {}, announced)
        facts["plan"]["generator_cores"] = []  # its node decides
        facts |= {"runner": ground.name, **ground.facts(plan, on), "configuration": session.configuration(plan, work, ground.name)}
        facts |= {"left_out": left_out, "conformance": passed, "preflight": {}}
        if before is not None:
            facts = sitting(before, facts, left_out, facts["tools"], folder)
        cells = Cells(plan, on, journal)
        done = measured(
            plan, registry, journal, folder, facts, already,
            lambda screen: session.rounds(plan, cells, journal, facts, already, screen, judged, lambda: None),
        )  # fmt: skip
    walls = {"build": 0.0, "prelude": done.started - began, "announced": announced}
    return told(plan, registry, journal, folder, facts, left_out, done, walls)


def _announced_s(plan: plans.Plan, already: Sequence[Cell] = ()) -> float:
    """What the cells that are not there `already`, and the starts for them, are expected to take (s)."""
    slots = [slot for slot, _ in plans.missing(plan, already) if cluster.not_here(slot.scenario, slot.contender) is None]
    starts = {(slot.round, slot.contender.id): slot.contender for slot in slots}
    cells = sum(plan.cell_s(slot.contender, slot.scenario) + AROUND_S for slot in slots)
    return cells + sum(START_S + plan.start_s(each) for each in starts.values())


def _not_here(plan: plans.Plan) -> dict[str, str]:
    """Scenario → why none of its contenders has a figure."""
    whys = {scenario.id: {cluster.not_here(scenario, each) for each, of in plan.pairs if of is scenario} for scenario in plan.scenarios}
    return {name: why for name, (why, *others) in whys.items() if why is not None and not others}


def _conform(on: Cluster, plan: plans.Plan, left_out: dict[str, str]) -> dict[str, dict[str, object]]:
    """A contender that breaks a rule gets no number. Returns who passed, and that some checks were not made."""
    passed: dict[str, dict[str, object]] = {}
    for number, contender in enumerate(plan.to_check, 1):
        say(f"{contender.id}: checking what can be asked of the contract through a forwarded port, {number} of {len(plan.to_check)}")
        with patience(lambda name=contender.id: f"{name}: checks", say):  # type: ignore[misc]
            why = broken(conform(on, contender, lambda _: None))
        if why:
            left_out[contender.id] = why
            say(f"{contender.id} is left out: {why}")
        else:
            passed[contender.id] = {"passed": "now", "but": contender.breaks, "in_part": "cluster.conformance_not_asked"}
    for contender in plan.contenders:
        if contender.copy_of in left_out:
            left_out.setdefault(contender.id, f"{contender.copy_of}, of which it is a copy, is left out")
    return passed


def _k6_version() -> str:
    """As it is pinned: the image is built from the same file."""
    pinned = re.search(r"^\s*(?:require )?go\.k6\.io/k6/v2 (v\S+)", (ROOT / "bench/k6/go.mod").read_text(encoding="utf-8"), re.MULTILINE)
    return f"k6 {pinned[1] if pinned else 'of an unknown version'}"
