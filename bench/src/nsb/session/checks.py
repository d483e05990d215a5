"""`just test`: format, lint, types and tests of the harness, every service's own tests, and the contract against live services."""

from __future__ import annotations

import itertools
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rich.console import Console

from nsb.measure.together import together
from nsb.measure.tools import BuildError, Workshop, workshop
from nsb.registry.load import ConfigurationError, Registry
from nsb.session.run import apart, build

QUICK = "--quick"


def _workers(number: int) -> list[str]:
    """Workers of pytest. What measures or has one browser stays in one of them (xdist_group)."""
    return ["-n", str(number), "--dist", "loadgroup"]


@dataclass(frozen=True)
class Part:
    """A named step; `run` returns None, or why it failed."""

    name: str
    run: Callable[[], str | None]
    quick: bool = False
    """Part of `--quick`: some three minutes on two cores, all of them."""
    service: str | None = None
    """Whose suite it is: suites run two at a time, but for those that share their tools (session/run.py: apart)."""


def names(root: Path, registry: Registry) -> list[str]:
    """What CI runs at the same time, each as `just test NAME`: `--quick`, and every part that is not in it."""
    return [QUICK, *(part.name for part in _parts(root, registry) if not part.quick)]


def run_all(root: Path, registry: Registry, only: Sequence[str], console: Console, quick: bool = False) -> int:
    """Runs every part (or those whose name starts with one of `only`; or the quick ones), goes on after a failure; 0 where all passed.

    Raises ConfigurationError where one of `only` begins no name.
    """
    there = _parts(root, registry, quick)
    if unknown := [each for each in only if not any(part.name.startswith(each) for part in there)]:
        raise ConfigurationError([f"ONLY: {each!r} begins none of {'; '.join(part.name for part in there)}" for each in unknown])
    parts = [part for part in there if not only or any(part.name.startswith(each) for each in only)]
    failed: list[str] = []
    begun = itertools.count(1)

    def check(part: Part) -> None:
        console.print(f"[{next(begun)}/{len(parts)}] {part.name}", markup=False)
        began = time.monotonic()
        why = part.run()
        console.print(f"      {part.name}: {'ok' if why is None else 'FAILED'} after {time.monotonic() - began:.0f} s", markup=False)
        if why is not None:
            failed.append(part.name)
            console.print(why, markup=False, soft_wrap=True)

    def check_in_turn(some: Iterable[Part]) -> None:
        for part in some:
            check(part)

    for with_tools, some in itertools.groupby(parts, key=lambda part: part.service is not None):
        if with_tools:
            suites = {part.service: part for part in some if part.service is not None}
            together(partial(check_in_turn, [suites[name] for name in names]) for names in apart(registry, list(suites)))
        else:
            check_in_turn(some)
    for name in failed:
        console.print(f"failed: {name}", markup=False)
    console.print(f"{len(parts) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


def _parts(root: Path, registry: Registry, quick: bool = False) -> list[Part]:
    bench = root / "bench"
    work = workshop(root, registry)
    harness = [
        Part(
            "harness: format",
            lambda: _command([sys.executable, "-m", "ruff", "format", "--check", "src", "tests"], bench),
            quick=True,
        ),
        Part("harness: lint", lambda: _command([sys.executable, "-m", "ruff", "check", "src", "tests"], bench), quick=True),
        Part("harness: types", lambda: _command([sys.executable, "-m", "mypy"], bench), quick=True),
    ]
    if quick:
        return [
            *harness,
            Part(
                "harness: fast tests",
                lambda: _command([sys.executable, "-m", "pytest", "-m", "not slow", *_workers(2)], bench),
                quick=True,
            ),
        ]
    built = [name for name, service in registry.services.items() if service.tested_with is None]
    services = [Part(f"{name}: build and test", partial(_service, work, name), service=name) for name in built]
    ours = [Part(f"{name}: test", partial(_go, work, bench / name)) for name in ("upstream", "generator", "manifests")]
    nsb = [sys.executable, "-m", "nsb"]
    live = [
        Part("contract: every default contender", lambda: _command([*nsb, "conform"], root)),
        # Most of them wait most of the time. Those that measure find here that the contenders have passed the contract.
        Part("harness: tests", lambda: _command([sys.executable, "-m", "pytest", *_workers(4)], bench)),
        Part("contract: odd requests", lambda: _command([*nsb, "fuzz"], root)),
        Part("a stop of three seconds", lambda: _command([*nsb, "conform", *_checked(registry), "--stopped-for", "3"], root)),
        Part("a short run, build to table", lambda: _short_run(nsb, root, registry)),
    ]
    return [*harness, *ours, *services, *live]


def _command(command: Sequence[str], folder: Path) -> str | None:
    """Its output goes to the terminal as it comes."""
    code = subprocess.run(list(command), cwd=folder, stdin=subprocess.DEVNULL).returncode
    return None if code == 0 else f"`{' '.join(command[1:])}` ended with {code}"


def _service(work: Workshop, name: str) -> str | None:
    service = work.registry.services[name]
    lacks = work.provide(service.needs, lambda _: None)
    if lacks:
        return "; ".join(lacks)
    _, failed = build(work, [name], lambda _: None)
    if failed:
        return failed[name]
    if not service.test:
        return None
    log = work.root / ".tools" / "built" / f"{name}-test.log"
    log.unlink(missing_ok=True)
    try:
        work.run_steps(name, service.test, log, lambda _: None)
    except BuildError as error:
        return str(error)
    tail = [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()][-3:]
    print("\n".join(f"      {line}" for line in tail), flush=True)
    return None


def _go(work: Workshop, folder: Path) -> str | None:
    if "go" not in work.found:
        return work.missing["go"].sentence
    go = work.found["go"].path
    # Not from its cache, which does not look at files outside of the module: bench/manifests reads deploy/.
    return _command([go, "vet", "./..."], folder) or _command([go, "test", "-count=1", "./..."], folder)


def _checked(registry: Registry) -> list[str]:
    return [contender.id for contender in registry.contenders.values() if contender.check]


def _short_run(nsb: Sequence[str], root: Path, registry: Registry) -> str | None:
    """The whole chain once: the measured numbers are not judged here, that every cell has one is (exit 0)."""
    contenders = ",".join(_checked(registry))
    scenarios = ",".join(s.id for s in registry.scenarios.values() if s.check)
    return _command([*nsb, "bench-all", "--tier", "smoke", "--contenders", contenders, "--scenarios", scenarios, "--wait"], root)
