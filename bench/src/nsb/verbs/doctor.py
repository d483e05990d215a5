"""`doctor`: what this machine has and lacks."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from nsb.measure import host, oha, runners
from nsb.measure.database_private import DatabaseError, find_server
from nsb.measure.engine import Absent
from nsb.measure.tools import Found, workshop
from nsb.registry.model import Contender
from nsb.verbs.common import DONE, INCOMPLETE, ROOT, console, registry_of, say
from nsb.verbs.planning import known_runner


def doctor(runner: str) -> None:
    """Prints what is here, what is missing and what mends it, and exits."""
    known_runner(runner)
    registry = registry_of()
    work = workshop(ROOT, registry)
    facts = host.facts(ROOT)
    console.print(
        f"{facts['system']}, kernel {facts['kernel']}, {facts['cpu']}, {facts['cores']} cores, {facts['memory_gib']} GiB",
        markup=False,
    )
    for name in registry.tools:
        found = work.found.get(name)
        text = f"{found.version} ({found.path})" if isinstance(found, Found) else work.missing[name].sentence
        text += "" if found or not work.can_fetch(name) else "; else it is fetched when a contender needs it"
        console.print(f"  {name:8} {text}", markup=False)
    originals = [c for c in registry.contenders.values() if c.copy_of is None]
    try:
        there = runners.Compose(work, 1)
        told = f"{there.engine.version}, compose {there.engine.compose}, cgroup v{there.engine.cgroup}: --runner compose works"
    except Absent as error:
        there, told = None, str(error)
    console.print(f"  {'docker':8} {told}", markup=False, soft_wrap=True)
    if runner == "compose":
        sys.exit(INCOMPLETE if there is None or _tell_runnable(there, originals) else DONE)
    ground = runners.Native(work) if runner == "native" else runners.asked_of("auto", work, originals, 1, say)
    lacking = 0
    try:
        server = find_server(ROOT / ".tools" / "database") if ground.name == "native" else "in a container"
        console.print(f"  database {server}", markup=False)
    except DatabaseError as error:
        console.print(f"  database {error}", markup=False)
        lacking += 1
    lacking += _tell_runnable(ground, originals)
    if "go" not in work.found and ground.name == "native":
        console.print("k6 and the upstream need Go too: nothing can be measured without it.")
        lacking += 1
    if "cargo" not in work.found:
        console.print(f"{oha.NAME} needs cargo too: without it, capacity is not measured again where k6 is the limit.")
    sys.exit(INCOMPLETE if lacking else DONE)


def _tell_runnable(ground: runners.Runner, contenders: Sequence[Contender]) -> int:
    """Says of each whether it can run; how many of the default ones cannot."""
    _, lacking = ground.runnable(contenders)
    for contender in contenders:
        why = lacking.get(contender.id)
        console.print(f"{contender.id:16} {'can run' if why is None else f'cannot run: {why}'} ({ground.name})", markup=False)
    return sum(contender.default and contender.id in lacking for contender in contenders)
