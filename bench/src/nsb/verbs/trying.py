"""`up`: one service with its database and upstream, to try by hand."""

from __future__ import annotations

import sys

from nsb.errors import Refused
from nsb.measure.interrupt import Interrupted
from nsb.measure.process import port_is_free
from nsb.measure.tools import workshop
from nsb.registry.contract import endpoint
from nsb.session import runners
from nsb.verbs.common import DONE, INCOMPLETE, ROOT, console, errors, registry_of, say, scratch
from nsb.verbs.planning import Asked, known_runner, make

LOOKS_EVERY_S = 2.0
"""How often it looks whether database and upstream are still there (s)."""


def up(contender: str, port: int, runner: str, profile: str | None, database_url: str | None) -> None:
    """Runs until it is stopped (exit 0), or until the service ends by itself (exit 1).

    Raises DatabaseError or ProcessError where the database or the upstream has gone.
    """
    registry = registry_of()
    plan = make(registry, Asked("smoke", contender, seed=0, profile=profile))
    known_runner(runner)
    chosen_ = plan.contenders[0]
    ground = runners.asked_of(runner, workshop(ROOT, registry), [chosen_], plan.workers, say)
    lacks = ground.runnable([chosen_])[1]
    if lacks:
        raise Refused(lacks[chosen_.id])
    try:
        if not port_is_free(port):
            raise Refused(f"port {port} is taken; name another one by --port")
    except PermissionError:
        raise Refused(f"this user may not bind port {port}; name one from 1024 on by --port") from None
    _, failed = ground.build([chosen_], say)
    if failed:
        raise Refused(failed[chosen_.id])
    with scratch() as folder, ground.stage(plan.profile, plan.workers, [chosen_], folder, database_url, say) as stage:
        running = stage.start(chosen_, {"PORT": str(port)})
        try:
            console.print(f"{chosen_.id} answers on {running.base_url} (ready after {running.ready_s:.1f} s). Try:", markup=False)
            for path in ("/runtime", "/hello", "/books/1", "/fanout?calls=3&ms=100&mode=concurrent"):
                if endpoint(path) in chosen_.endpoints:
                    console.print(f"  curl '{running.base_url}{path}'", markup=False)
            console.print("Ctrl-C stops the service, its database and the upstream.")
            while running.process.wait(LOOKS_EVERY_S) is None:
                stage.must_stand()
            errors.print(f"{chosen_.id} ended with {running.process.exit_code}: {running.stderr_tail}", markup=False)
            sys.exit(INCOMPLETE)
        except Interrupted:
            sys.exit(DONE)
        finally:
            running.stop()
