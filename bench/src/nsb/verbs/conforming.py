"""`conform`: the contract against live services."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from nsb.analyse.stopped import harm, notes
from nsb.conform.bed import Outcome
from nsb.conform.presence import FIRST, cannot_go_on
from nsb.conform.suite import beyond_reach
from nsb.errors import Refused
from nsb.measure import stopped
from nsb.measure.native import Stage
from nsb.measure.patience import clock, patience
from nsb.measure.tools import Workshop, workshop
from nsb.records.stopped import REQUESTS
from nsb.registry import plan as plans
from nsb.registry.contenders import Contender
from nsb.registry.contract import EXTRAS
from nsb.render import words
from nsb.session import conformance, runners
from nsb.verbs.common import DONE, INCOMPLETE, ROOT, console, registry_of, say, scratch, tell_left_out
from nsb.verbs.planning import Asked, known_runner, make


def conform(contenders: Sequence[str], runner: str, profile: str | None, database_url: str | None, stopped_for: float | None) -> None:
    """Prints every broken rule and exits; `stopped_for` (s): stops and wakes the contenders instead."""
    registry = registry_of()
    known_runner(runner)
    plan = make(registry, Asked("smoke", ",".join(contenders) if contenders else "default", seed=0, profile=profile))
    work = workshop(ROOT, registry)
    ground = runners.asked_of(runner, work, plan.contenders, plan.workers, say)
    there, left_out = built(ground, plan)
    tell_left_out(left_out)
    if stopped_for is None:
        sys.exit(_conform(work, ground, plan, there, left_out, database_url))
    sys.exit(_stopped(ground, plan, there, left_out, database_url, stopped_for))


def built(ground: runners.Runner, plan: plans.Plan) -> tuple[list[Contender], dict[str, str]]:
    """The contenders that can run, built, and contender → why another cannot."""
    runnable, left_out = ground.runnable(plan.contenders)
    _, failed = ground.build([each for each in plan.contenders if each.id in runnable], say)
    left_out |= failed
    return [each for each in plan.contenders if each.id not in left_out], left_out


def _stopped(
    ground: runners.Runner,
    plan: plans.Plan,
    asleep: list[Contender],
    left_out: dict[str, str],
    database_url: str | None,
    stopped_s: float,
) -> int:
    if not asleep:
        raise Refused("No contender can run on this machine; ./justw doctor says what is missing.")
    with (
        scratch() as folder,
        ground.stage(plan.profile, plan.workers, asleep, folder, database_url, say) as stage,
    ):
        woken, out = stopped.wake(stage, asleep, stopped_s, say)
    for name, seen in woken.items():
        found, unseen = harm(seen), notes(seen)
        had = seen.before
        kept = f"{len(had.processes)} processes, {len(had.connections)} database and {len(had.upstream_ports)} upstream connections kept"
        said = "; ".join(found) if found else f"unharmed: {kept}, {REQUESTS} requests answered"
        console.print(f"{name}: {'; '.join([said, *unseen])}", markup=False, soft_wrap=True)
    for name, why in out.items():
        console.print(f"{name}: not stopped: {why}", markup=False, soft_wrap=True)
    return INCOMPLETE if left_out or out or any(harm(seen) for seen in woken.values()) else DONE


def _conform(
    work: Workshop,
    ground: runners.Runner,
    plan: plans.Plan,
    there: list[Contender],
    left_out: dict[str, str],
    database_url: str | None,
) -> int:
    unfit = list[str]()
    with (
        scratch() as folder,
        ground.stage(plan.profile, plan.workers, there, folder, database_url, say) as stage,
    ):
        console.print(f"database: {stage.database.kind} {stage.database.version}; runner {ground.name}", markup=False)
        passed = conformance.PassedBefore(work, stage)

        def asked(contender: Contender, outcomes: list[Outcome]) -> None:
            bad = [outcome for outcome in outcomes if not outcome.passed]
            beyond = beyond_reach(contender.endpoints)
            lacks = ", ".join(one for one in EXTRAS if one not in contender.extra)
            why = contender.only.why if contender.only is not None else f"it does not have {lacks}"
            rest = f"; {len(beyond)} do not concern it: {why}" if beyond else ""
            lines = [f"{contender.id}: {len(outcomes) - len(bad)} of {len(outcomes)} checks passed{rest}"]
            lines += [f"  not checked: {unkept}: {why}" for unkept, why in contender.breaks.items()]
            if cannot_go_on(bad):
                lines += [f"  No other rule was checked: all need {', '.join(FIRST)}."]
            console.print("\n".join(lines), markup=False, soft_wrap=True)
            if not bad:
                passed.add(contender)
            else:
                unfit.append(contender.id)

        with conformance.stages(ground, plan, stage, there, database_url) as on:
            ask(on, there, asked, tell=_tell_broken)
    return INCOMPLETE if unfit or left_out else DONE


def ask(
    on: Sequence[Stage],
    contenders: Sequence[Contender],
    asked: Callable[[Contender, list[Outcome]], None],
    when: str = "",
    tell: Callable[[Contender, Outcome], None] = lambda contender, outcome: None,
) -> None:
    """The rules against each of the contenders, with a word every so often.

    `tell` gets each outcome as it is found, `asked` all of a contender; both are called from several threads.
    """
    order = plans.by_effort(contenders)
    begun = list[Contender]()

    def check(launcher: conformance.Launcher) -> None:
        contender, number = launcher.contender, 0
        left = clock(plans.conformance_s([each for each in order if each not in begun], len(on)))
        begun.append(contender)
        say(f"{contender.id}: checking the contract, {len(begun)} of {len(order)}{when} (about {left} left)")

        def count(outcome: Outcome) -> None:
            nonlocal number
            number += 1
            tell(contender, outcome)

        with patience(lambda: f"{contender.id}: {words.count(number, 'check')} done", say):
            outcomes = conformance.conform(launcher, count)
        if not launcher.given_up:
            asked(contender, outcomes)

    conformance.side_by_side(on, order, check)


def _tell_broken(contender: Contender, outcome: Outcome) -> None:
    """At once, so that what was found is there when somebody stops it."""
    if not outcome.passed:
        console.print(f"  {contender.id}: {outcome.rule} {outcome.title}: {outcome.detail}", markup=False)
