"""A run from build to table: what `bench-all` and `bench` do once the plan stands."""

from __future__ import annotations

import contextlib
import shlex
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from nsb.analyse import table as tables
from nsb.analyse.cells import judged
from nsb.analyse.fairness import miscounts
from nsb.analyse.judge import LEAST_ROUNDS
from nsb.conform.bed import Outcome
from nsb.conform.suite import broken
from nsb.errors import Refused
from nsb.measure import code as sizes
from nsb.measure import generator, k6
from nsb.measure.journal import Journal, JournalError, write_whole
from nsb.measure.native import Stage
from nsb.measure.together import together
from nsb.measure.tools import Workshop
from nsb.progress import Screen
from nsb.records.judged import Cell
from nsb.records.manifest import Fairness
from nsb.records.schema import to_json
from nsb.registry import plan as plans
from nsb.registry.contenders import Contender
from nsb.registry.load import Registry
from nsb.session import conformance, preflight, runners
from nsb.session import run as session
from nsb.session.outputs import CODE, Written
from nsb.verbs import reading
from nsb.verbs.common import DONE, INCOMPLETE, ROOT, claims_of, console, errors, say, tell_left_out
from nsb.verbs.conforming import ask
from nsb.verbs.measuring import refuse_differences
from nsb.verbs.planning import breakdowns, pointless, print_placement, size, tell_unsupported, tells_nothing

WORKS = "Everything works; for figures: ./justw bench-all"
"""Said at the end of a run of so few rounds that nothing is decided by it."""


def run(
    work: Workshop,
    ground: runners.Runner,
    plan: plans.Plan,
    folder: Path,
    already: list[Cell],
    before: dict[str, Any] | None,
    database_url: str | None,
    order: str,
    noisy: bool,
) -> int:
    """From the build to the last output; the exit code. Raises Refused, and what the stage raises."""
    print_placement(plan)
    registry = work.registry
    claims_of(registry)  # a mistake in them is told now, not after an hour
    journal = Journal(folder)
    began = time.monotonic()
    runnable, left_out = ground.runnable(plan.contenders)
    left_out |= pointless(plan)
    runnable = [name for name in runnable if name not in left_out]
    services = list(dict.fromkeys(registry.contenders[name].service for name in runnable))
    console.print(f"Building {', '.join(services)} ({ground.name}); logs in .tools/built/", markup=False)
    build_s, failed = _built(work, ground, [registry.contenders[name] for name in runnable], database_url)
    k6_program = ground.k6(say)
    left_out |= failed
    runnable = [name for name in runnable if name not in left_out]
    build_wall = time.monotonic() - began
    tell_left_out(left_out)
    if not runnable:
        raise Refused("No contender can run on this machine; ./justw doctor says what is missing.")
    arranged = session.arrange(order, [plan.largest(registry.contenders[name]) for name in runnable], plan.workers, say)
    measured_from = time.monotonic()
    asked = [registry.contenders[name] for name in runnable]
    with ground.stage(plan.profile, plan.workers, asked, folder, database_url, say) as stage:
        passed = _conform_first(work, ground, stage, plan.only(runnable), database_url, left_out)
        runnable = [name for name in runnable if name not in left_out]
        if not runnable:
            raise Refused("No contender obeys the contract; ./justw conform says which rules are broken.")
        plan = plan.only(runnable, arranged)
        tell_unsupported(plan)
        witness = partial(
            generator.speed, session.generator_program(stage.workshop, say), stage.placement.service[0], stage.logs / "witness.log"
        )
        checked = preflight.run(plan, stage, k6_program, witness, folder, noisy, say)
        announced = plans.left(plan, already).seconds
        left = f", {len(plans.missing(plan, already))} of them left" if already else ""
        console.print(
            f"{size(plan)}{left}, about {announced / 60:.0f} minutes{breakdowns(plan)}; profile {plan.profile}, seed {plan.seed}; {folder}",
            markup=False,
        )
        facts = session.run_facts(plan, stage.database, k6.version(k6_program), build_s, announced)
        facts |= session.standing(plan, work, ground.name) | ground.facts()
        facts |= {"left_out": left_out, "conformance": passed, "preflight": checked}
        if before is not None:
            facts = sitting(before, facts, left_out, ground.standing(plan)["tools"], folder)
        done = measured(
            plan, registry, journal, folder, facts, already,
            lambda screen: session.measure(plan, stage, journal, k6_program, facts, already, screen, judged),
        )  # fmt: skip
    walls = {"build": build_wall, "prelude": done.started - measured_from, "announced": announced}
    return told(plan, registry, journal, folder, facts, left_out, done, walls)


@dataclass(frozen=True)
class Measured:
    """What the cells of a sitting came to."""

    written: Written
    cells: list[Cell]
    started: float
    """A time of time.monotonic()."""
    retries_s: float


def measured(
    plan: plans.Plan,
    registry: Registry,
    journal: Journal,
    folder: Path,
    facts: dict[str, Any],
    already: list[Cell],
    measure: Callable[[Screen], float],
) -> Measured:
    """All cells by `measure`, under the eyes of whoever waits, and the table of what is in the journal then. `already` is emptied."""
    journal.facts(facts)
    write_whole(folder / CODE, to_json(sizes.measure(ROOT, registry, [c.id for c in plan.contenders]).model_dump(mode="json")))
    started = time.monotonic()
    screen = Screen(console, plan, lambda cells: tables.make(facts, cells), already)
    try:
        with screen:
            retries_s = measure(screen)
    except BaseException:
        with contextlib.suppress(JournalError):  # a full disk once more: what went wrong first is what is told
            reading.written(folder)
        errors.print(f"what was measured is kept; go on with --resume {shlex.quote(str(folder))}", markup=False)
        raise
    already.clear()  # read again from the journal
    written, _, cells = reading.written(folder)
    return Measured(written, cells, started, retries_s)


def told(
    plan: plans.Plan,
    registry: Registry,
    journal: Journal,
    folder: Path,
    facts: dict[str, Any],
    left_out: dict[str, str],
    done: Measured,
    walls: dict[str, float],
) -> int:
    """What is missing or uneven, the pages, and the exit code. `walls`: what build and prelude took, and what was announced (s)."""
    wall = time.monotonic() - done.started
    facts["wall_s"] = {
        "build": round(walls["build"], 1),
        "prelude": round(walls["prelude"], 1),
        "cells": round(wall, 1),
        "retries": round(done.retries_s, 1),
        "announced": round(walls["announced"], 1),
    }
    journal.facts(facts)
    console.print(
        f"Build {walls['build']:.0f} s; measured in {wall / 60:.1f} minutes, announced {walls['announced'] / 60:.1f}, "
        f"retries {done.retries_s:.0f} s"
    )
    wanted = {scenario.id: plan.rounds_of(scenario) for scenario in plan.scenarios}
    missing = [
        e
        for e in done.written.table.entries
        if e.status not in ("unsupported", "not asked") and e.rounds_valid + e.rounds_censored < wanted.get(e.scenario, 0)
    ]
    tell_left_out(left_out)
    for entry in missing:
        counting = f"{entry.rounds_valid + entry.rounds_censored} of {wanted[entry.scenario]} rounds count"
        console.print(f"{entry.scenario} · {entry.contender}: {counting}: {'; '.join([*entry.reasons, *entry.doubts])}", markup=False)
    uneven = miscounts(Fairness.model_validate(facts["fairness"]), tables.latest(done.cells)) if "fairness" in facts else []
    for asymmetry in uneven:
        console.print(asymmetry.sentence, markup=False)
    complete = reading.draw_apart(folder)
    lacking = [name for name in facts["left_out"] if tells_nothing(registry.contenders[name], plan) is None]
    if missing or uneven or lacking or not complete:
        return INCOMPLETE
    if plan.rounds < LEAST_ROUNDS:
        console.print(WORKS)
    return DONE


def _built(
    work: Workshop, ground: runners.Runner, contenders: list[Contender], database_url: str | None
) -> tuple[dict[str, float], dict[str, str]]:
    """What ground.build() gives; natively k6 is built and the database fetched beside it."""
    if ground.name != "native":
        return ground.build(contenders, say)
    session.go(work)  # without it nothing can be measured: said before anything is built
    built = list[tuple[dict[str, float], dict[str, str]]]()
    jobs: list[Callable[[], object]] = [lambda: built.append(ground.build(contenders, say)), lambda: ground.k6(say)]
    if database_url is None:
        jobs.append(lambda: session.fetch_database(work, say))
    together(jobs, len(jobs))
    return built[0]


def _conform_first(
    work: Workshop, ground: runners.Runner, stage: Stage, plan: plans.Plan, database_url: str | None, left_out: dict[str, str]
) -> dict[str, dict[str, object]]:
    """A contender that breaks a rule gets no number. Returns who passed (now, or the same build before) but for which rules."""
    passed = conformance.PassedBefore(work, stage)
    if known := [contender.id for contender in plan.to_check if passed.knows(contender)]:
        say(f"These builds passed the contract before: {', '.join(known)}")
    unchecked = [contender for contender in plan.to_check if contender.id not in known]

    def asked(contender: Contender, outcomes: list[Outcome]) -> None:
        if why := broken(outcomes):
            left_out[contender.id] = why
            say(f"{contender.id} is left out: {left_out[contender.id]}")
        else:
            passed.add(contender)

    if unchecked:
        with conformance.stages(ground, plan, stage, unchecked, database_url) as on:
            ask(on, unchecked, asked, ", once for each build")
    for contender in plan.contenders:
        if contender.copy_of in left_out:
            left_out.setdefault(contender.id, f"{contender.copy_of}, of which it is a copy, is left out")
    return {
        contender.id: {"passed": "before" if contender.id in known else "now", "but": contender.breaks}
        for contender in plan.to_check
        if contender.id not in left_out
    }


def sitting(before: dict[str, Any], now: dict[str, Any], left_out: dict[str, str], tools: dict[str, str], folder: Path) -> dict[str, Any]:
    """run.json of a resumed run: the first sitting's facts stand, the new one is added. Raises Refused where they do not fit together."""
    if left_out:
        raise Refused(f"the run cannot go on without {', '.join(left_out)}: {'; '.join(left_out.values())}")
    refuse_differences(before, {**now, "tools": tools}, folder)
    sittings = [*before.get("sittings", []), {key: now[key] for key in ("started_at", "build_s", "preflight")}]
    return {**before, "sittings": sittings}
