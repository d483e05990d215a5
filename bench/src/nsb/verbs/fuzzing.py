"""`fuzz`: the same odd requests to all contenders, whose answers must be the same."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial

from nsb.conform.exchanges import Answer, answer_to, shown, sides_of
from nsb.conform.odd import differing, odd, titled
from nsb.errors import Refused
from nsb.measure.patience import patience
from nsb.measure.tools import workshop
from nsb.registry.contenders import Contender
from nsb.session import runners
from nsb.verbs.common import DONE, INCOMPLETE, ROOT, console, registry_of, say, scratch, tell_left_out
from nsb.verbs.conforming import built
from nsb.verbs.planning import Asked, make

MOST_SHOWN = 20
"""Differences; the rest is counted."""


def fuzz(contenders: Sequence[str], requests: int, seed: int) -> None:
    """Prints every difference and every 5xx, and exits. One contender of each service, unless they are named: settings change no answer."""
    registry = registry_of()
    plan = make(registry, Asked("smoke", ",".join(contenders) if contenders else "default", seed=0, profile=None))
    ground = runners.asked_of("native", workshop(ROOT, registry), plan.contenders, plan.workers, say)
    there, left_out = built(ground, plan)
    tell_left_out(left_out)
    once: dict[str, Contender] = {}
    for contender in there:
        once.setdefault(contender.id if contenders else contender.service, contender)
    if len(once) < 2:
        raise Refused("Odd requests are compared between contenders, and fewer than two can run here: ./justw doctor says what is missing.")
    asked = list(odd(seed, requests))
    given: dict[str, list[Answer]] = {}
    with scratch() as folder, ground.stage(plan.profile, plan.workers, list(once.values()), folder, None, say) as stage:
        for contender in once.values():
            answers = given[contender.id] = list[Answer]()
            running = stage.start(contender)
            try:
                stage.database.reset_books()
                with patience(partial(_so_far, contender.id, answers, requests), say):
                    for request in asked:
                        answers.append(answer_to(running.base_url, request))
            finally:
                running.stop()
    found = list(differing(asked, given))
    for request, sides in found[:MOST_SHOWN]:
        console.print(f"  {titled(request)}\n    {sides_of(sides)}", markup=False, soft_wrap=True)
    failed = [(name, asked[n], each) for name, answers in given.items() for n, each in enumerate(answers) if each.status >= 500]
    for name, request, answer in failed[:MOST_SHOWN]:
        console.print(f"  {name}: {titled(request)}: {shown(answer)}", markup=False, soft_wrap=True)
    console.print(
        f"{requests:,} odd requests (seed {seed}) to {', '.join(given)}: {len(found)} answered differently, {len(failed)} by a 5xx",
        markup=False,
        soft_wrap=True,
    )
    sys.exit(INCOMPLETE if found or failed or left_out else DONE)


def _so_far(name: str, answers: Sequence[Answer], requests: int) -> str:
    return f"{name}: {len(answers):,} of {requests:,} odd requests"
