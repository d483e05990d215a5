"""`bench-all` and `bench`: the plan that is asked for, or that of the run that goes on."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nsb.analyse.resume import differences
from nsb.errors import Refused
from nsb.measure import host
from nsb.measure.archive import packed
from nsb.measure.journal import cut_torn_tail, hold
from nsb.measure.machine import alone
from nsb.measure.tools import Workshop, workshop
from nsb.records.judged import Cell
from nsb.registry import plan as plans
from nsb.registry.load import ConfigurationError
from nsb.session import runners
from nsb.session.runs import read_run
from nsb.verbs.common import BENCH, ROOT, console, found_run, registry_of, say
from nsb.verbs.planning import Asked, generators_on, known_runner, make

ON_A_CLUSTER = {
    "context_": "--context: belongs to --runner kubernetes",
    "namespace": "--namespace: belongs to --runner kubernetes",
}
NOT_ON_A_CLUSTER = {
    "database_url": "--database-url: on a cluster the database is a pod of the run",
    "order": "--order: on a cluster contenders run one at a time",
    "noisy": "--noisy: on a cluster nobody listens to the machine before a run; each cell tells what others used",
}
"""Option → why it is not taken with another runner, or with this one."""


@dataclass(frozen=True)
class Where:
    """On which cluster; by None on that of kubectl's current context."""

    context: str | None
    namespace: str


def bench(
    given: Mapping[str, Any],
    asked: Asked,
    runner: str,
    out: Path | None,
    resume: Path | None,
    database_url: str | None,
    order: str,
    noisy: bool,
    wait: bool,
    where: Where,
) -> None:
    """Measures and exits. `given`: the options that were written on the command line, by name; `wait`: for another run's end."""
    registry = registry_of()
    known_runner(runner)
    on_cluster = runner == "kubernetes"
    wrong = NOT_ON_A_CLUSTER if on_cluster else ON_A_CLUSTER if resume is None else {}
    if mistakes := [why for name, why in wrong.items() if name in given]:
        raise ConfigurationError(mistakes)
    if order not in ("auto", "scenario", "contender"):
        raise ConfigurationError([f"--order: {order!r} is not one of auto, scenario, contender"])
    already: list[Cell] = []
    before: dict[str, Any] | None = None
    work = workshop(ROOT, registry)
    if resume is not None:
        resume = found_run(resume)
        if packed(resume):
            raise Refused(f"{resume} cannot be resumed: it is kept, so its raw files are packed and its records have sums")
        hold(resume)
        cut_torn_tail(resume)
        before, already = read_run(resume)
        _refuse_other_plan(given, resume, before)
        plan = _planned(work, before, resume)
        on_cluster = before["runner"] == "kubernetes"
        if on_cluster:
            from nsb.verbs import clustering  # what measures takes a second to import

            plan = clustering.alone(plan, before["plan"]["generators"])
            where = Where(where.context or before["cluster"]["context"], before["cluster"]["namespace"])
        else:
            ground = runners.asked_of(before["runner"], work, plan.contenders, plan.workers, say)
            refuse_differences(before, ground.standing(plan), resume)
        if not plans.missing(plan, already):
            console.print("Every planned cell is there already.")
            from nsb.verbs import reading

            reading.report(resume, False)
            return
        order = plan.order
        out = resume
    elif on_cluster:
        from nsb.verbs import clustering  # what measures takes a second to import

        plan = clustering.plan_of(registry, asked)
    else:
        plan = make(registry, asked)
        ground = runners.asked_of(runner, work, plan.contenders, plan.workers, say)
        order = "contender" if order == "auto" and plan.tier.one_at_a_time else order
    folder = out or BENCH / "out" / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{host.facts(ROOT)['name']}"
    if resume is None and (folder / "cells.jsonl").exists():
        raise ConfigurationError(
            [f"--out: {folder} already holds a run; go on with --resume {shlex.quote(str(folder))}, or name another folder"]
        )
    with alone(ROOT, wait, say):
        if on_cluster:
            sys.exit(clustering.run(work, plan, where.context, where.namespace, folder.resolve(), already, before))
        from nsb.verbs.running import run  # what measures takes a second to import: a mistake is told before

        sys.exit(run(work, ground, plan, folder.resolve(), already, before, database_url, order, noisy))


def _refuse_other_plan(given: Mapping[str, Any], folder: Path, run: dict[str, Any]) -> None:
    """A resumed run keeps its plan: an option that would change it is not passed over in silence. Raises ConfigurationError."""
    mistakes, old = [], run["plan"]
    for name in ("tier", "contenders", "scenarios", "rounds", "seed", "twin", "profile", "order", "out", "articles", "generators"):
        if name in given:
            mistakes.append(f"--{name}: the run in {folder} keeps its own; leave it out with --resume")
    runner = run["runner"]
    if given.get("runner", "auto") not in ("auto", runner):
        mistakes.append(f"--runner: the run in {folder} was made with {runner} and keeps it; leave it out with --resume")
    asked = given.get("contender")
    if asked is not None and asked not in old["contenders"]:
        mistakes.append(f"CONTENDER: {asked!r} is not in the run in {folder}; it has {', '.join(old['contenders'])}")
    if mistakes:
        raise ConfigurationError(mistakes)


def _planned(work: Workshop, run: dict[str, Any], folder: Path) -> plans.Plan:
    """The plan of an interrupted run. Raises Refused where something of it is not there any more."""
    old, registry = run["plan"], work.registry
    gone = [name for name in (*old["contenders"], *old["scenarios"]) if name not in {**registry.contenders, **registry.scenarios}]
    if gone:
        raise Refused(f"{folder} cannot be resumed: {', '.join(gone)} is not in the registry any more. Start a new run.")
    plan = plans.make(
        registry,
        old["tier"],
        old["contenders"],
        old["scenarios"],
        old["profile"],
        old["workers"],
        old["seed"],
        old["rounds"],
        asked=old.get("asked"),
        articles=old.get("articles", []),
        nofile=host.raise_limits(),
        generators=generators_on(old["profile"], old.get("generators", 1)),
        solo=run["runner"] == "kubernetes",
    )
    return replace(plan, order=old.get("order", "scenario"), order_why=old.get("order_why", ""))


def refuse_differences(before: dict[str, Any], now: dict[str, Any], folder: Path) -> None:
    changed = differences(before, now)
    if changed:
        raise Refused(f"{folder} cannot be resumed here: {'; '.join(changed)}. Start a new run.")
