"""`doctor`: what this machine has and lacks."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from nsb.measure import engine, host
from nsb.measure.database_private import DatabaseError, find_server
from nsb.measure.engine import Absent
from nsb.measure.tools import Found, workshop
from nsb.registry.contenders import Contender
from nsb.session import runners
from nsb.verbs.common import DONE, INCOMPLETE, ROOT, console, registry_of, say
from nsb.verbs.planning import known_runner

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
"""Names of the browser that draws the page in the tests."""


def doctor(runner: str) -> None:
    """Prints what is here, what is missing and what mends it, and exits."""
    known_runner(runner)
    registry = registry_of()
    with ThreadPoolExecutor() as beside:
        containers = beside.submit(engine.parts)
        hangul = beside.submit(_has_hangul)
        work = workshop(ROOT, registry)
        originals = [c for c in registry.contenders.values() if c.copy_of is None]
        ground = None if runner == "compose" else runners.asked_of(runner, work, originals, 1, say)
    facts = host.facts(ROOT)
    console.print(
        f"{facts['system']}, kernel {facts['kernel']}, {facts['cpu']}, {facts['cores']} cores, {facts['memory_gib']} GiB",
        markup=False,
    )
    git = shutil.which("git")
    _tell("git", git or "not on PATH: the harness needs it to know what has changed (Debian: apt-get install git)")
    for name in registry.tools:
        found = work.found.get(name)
        text = f"{found.told} ({found.path})" if isinstance(found, Found) else work.missing[name].sentence
        _tell(name, text + ("" if found or not work.can_fetch(name) else "; else it is fetched when a contender needs it"))
    for name, text in containers.result():
        _tell(name, text)
    chromium = next(filter(None, map(shutil.which, CHROMIUM)), None)
    _tell("chromium", chromium or "not on PATH: the tests of the page are left out (Debian: apt-get install chromium)")
    no_font = "no font here has it: Korean charts are SVG only (Debian: apt-get install fonts-noto-cjk)"
    _tell("Hangul", "a font here has it" if hangul.result() else no_font)
    _tell("uv", shutil.which("uv") or "not on PATH: only ./justw lock needs it")
    try:
        there = runners.Compose(work, 1)
    except Absent:
        there = None
    _tell("--runner", "native" if there is None else "native or compose")
    if ground is None:
        sys.exit(INCOMPLETE if there is None or _tell_runnable(there, originals) else DONE)
    lacking = 0 if git else 1
    try:
        server = find_server(ROOT / ".tools" / "database") if ground.name == "native" else "in a container"
        _tell("database", str(server))
    except DatabaseError as error:
        _tell("database", str(error))
        lacking += 1
    lacking += _tell_runnable(ground, originals)
    if "go" not in work.found and ground.name == "native":
        console.print("k6, the generator and the upstream need Go too: nothing can be measured without it.")
        lacking += 1
    sys.exit(INCOMPLETE if lacking else DONE)


def _has_hangul() -> bool:
    """Whether a font here has it; asked in a process of its own, since the drawing library takes long to import, and much memory."""
    asked = "import sys; from nsb.render.charts import has_letters; sys.exit(not has_letters('ko'))"
    return subprocess.run([sys.executable, "-c", asked], stdin=subprocess.DEVNULL, capture_output=True).returncode == 0


def _tell(name: str, text: str) -> None:
    console.print(f"  {name:8} {text}", markup=False, soft_wrap=True)


def _tell_runnable(ground: runners.Runner, contenders: Sequence[Contender]) -> int:
    """Says of each whether it can run; how many of the default ones cannot."""
    _, lacking = ground.runnable(contenders)
    width = max(len(contender.id) for contender in contenders)
    for contender in contenders:
        why = lacking.get(contender.id)
        console.print(
            f"{contender.id:{width}} {'can run' if why is None else f'cannot run: {why}'} ({ground.name})", markup=False, soft_wrap=True
        )
    return sum(contender.default and contender.id in lacking for contender in contenders)
