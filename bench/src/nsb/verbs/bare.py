"""`bare`: what a service costs beside a bare program of the same framework."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from nsb.errors import Refused
from nsb.measure import host, k6
from nsb.measure.machine import alone
from nsb.measure.tools import workshop
from nsb.registry.load import ConfigurationError
from nsb.render.bare import grid
from nsb.session import bare as bares
from nsb.session import run as session
from nsb.session import runners
from nsb.verbs.common import BENCH, DONE, INCOMPLETE, ROOT, console, registry_of, say, tell_left_out
from nsb.verbs.planning import Asked, make


def bare(
    contenders: Sequence[str], scenario: str | None, pairs: int, warm: int, out: Path | None, database_url: str | None, wait: bool
) -> None:
    """Prints the comparison and exits; what was measured is in bare.json of its folder."""
    registry = registry_of()
    plan = make(registry, Asked("smoke", ",".join(contenders or ["default"]), scenario or "default", seed=0, profile="1cpu"))
    asked = [s for s in plan.scenarios if s.path == "/hello" and s.model == "open"]
    if not asked:
        raise ConfigurationError([f"--scenario: {scenario or 'none'!r} is not an open scenario of /hello"])
    work = workshop(ROOT, registry)
    runnable, left_out = runners.Native(work).runnable(plan.contenders)
    with alone(ROOT, wait, say):
        services = list(dict.fromkeys(registry.contenders[name].service for name in runnable))
        k6_program = k6.ensure(ROOT, session.go(work), say)
        _, failed = session.build(work, services, say)
        failed |= bares.build(work, [name for name in services if name not in failed], say)
        left_out |= {name: failed[registry.contenders[name].service] for name in runnable if registry.contenders[name].service in failed}
        chosen_ = [registry.contenders[name] for name in runnable if name not in left_out]
        if not chosen_:
            tell_left_out(left_out)
            raise Refused("No contender can be compared on this machine; ./justw doctor says what is missing.")
        folder = (out or BENCH / "out" / f"bare-{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{host.facts(ROOT)['name']}").resolve()
        with session.stage(work, plan.profile, plan.workers, len(chosen_), folder, database_url, say) as stage:
            study = bares.Study(asked[0], pairs, warm)
            measured, left_out = bares.Bench(study, stage, k6_program, folder, say).measure(chosen_, left_out)
    console.print(grid(measured))
    console.print(f"{asked[0].id}, {plan.workers} worker(s); {folder}/bare.json", markup=False, soft_wrap=True)
    tell_left_out(left_out)
    sys.exit(INCOMPLETE if left_out else DONE)
