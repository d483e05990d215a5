"""A whole run from build to journal: what `bench-all`, `bench`, `conform` and `up` share. Effects only."""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from nsb.analyse import fairness
from nsb.analyse.resume import digest, entries
from nsb.errors import Refused
from nsb.measure import generator, holder, host, manifest
from nsb.measure.database import DatabaseError, Server, provide
from nsb.measure.database_private import fetched, installed
from nsb.measure.duet import Ground
from nsb.measure.interrupt import stop_if_asked, undisturbed
from nsb.measure.journal import Journal
from nsb.measure.native import Stage
from nsb.measure.patience import clock
from nsb.measure.process import ProcessError, pin
from nsb.measure.runner import Runner
from nsb.measure.together import together
from nsb.measure.tools import BuildError, Workshop, run_step, sources
from nsb.measure.upstream import upstream, upstream_file
from nsb.records.cells import Record
from nsb.records.judged import Cell
from nsb.records.manifest import Fairness
from nsb.records.schema import SCHEMA
from nsb.registry.contenders import Contender
from nsb.registry.contract import POOL_SIZE
from nsb.registry.load import Registry
from nsb.registry.plan import Order, Plan, Slot, missing, order_for
from nsb.registry.scenario import Scenario
from nsb.registry.shapes import FixedWork
from nsb.registry.terms import Profile, grouped

UPSTREAM_BUILD = ["build", "-trimpath"]
HARNESS = ("bench/src", "bench/k6", "bench/generator", "bench/upstream", "bench/database", "bench/requirements.lock")
"""What of the harness can move a number."""


Judge = Callable[[Record], Cell]
"""What a record means: given by the command line (analyse/cells.py), so that a loop that measures knows no rule."""


class Progress(Protocol):
    """Where a person waits, this is told what happens."""

    def say(self, sentence: str) -> None: ...

    def started(self, contenders: Sequence[str]) -> None:
        """These contenders have been started and warmed."""

    def cell(self, slot: Slot, cell: Cell | None) -> None:
        """A cell begins (None) or has ended."""


# --- build -----------------------------------------------------------------------------------------------------------


def upstream_program(workshop: Workshop, say: Callable[[str], None]) -> Path:
    """The upstream, built where its sources are newer. Raises BuildError."""
    root, program = workshop.root, upstream_file(workshop.root)
    command = [go(workshop), *UPSTREAM_BUILD, "-o", str(program), "."]
    return _built(command, root / "bench" / "upstream", program, say)


def holder_program(workshop: Workshop, scenarios: Sequence[Scenario], say: Callable[[str], None]) -> Path | None:
    """What holds connections beside a load; None where no scenario asks for it, or no Go is here. Raises BuildError."""
    if "go" not in workshop.found or not any(scenario.held_at_most for scenario in scenarios):
        return None
    command = [go(workshop), *UPSTREAM_BUILD, "-o", str(holder.program_file(workshop.root)), "./holder"]
    return _built(command, workshop.root / "bench" / "upstream", holder.program_file(workshop.root), say)


def generator_program(workshop: Workshop, say: Callable[[str], None]) -> Path:
    """What warms every contender and drives cost cells. Raises BuildError, and Refused where nothing can build it."""
    program = generator.program_file(workshop.root)
    if "go" not in workshop.found and program.exists():
        return program  # taken out of an image
    return _built([go(workshop), *UPSTREAM_BUILD, "-o", str(program), "."], workshop.root / "bench" / "generator", program, say)


def go(workshop: Workshop) -> str:
    """The Go that builds k6, the generator and the upstream. Raises Refused."""
    if "go" not in workshop.found:
        raise Refused(f"k6, the generator and the upstream are built with Go. {workshop.missing['go'].sentence}")
    return workshop.found["go"].path


def _built(command: Sequence[str], folder: Path, program: Path, say: Callable[[str], None]) -> Path:
    log = program.parent / "built" / f"{folder.name}.log"
    log.unlink(missing_ok=True)
    run_step(folder.name, command, log, say, os.environ, folder)
    return program


def fetch_database(workshop: Workshop, say: Callable[[str], None]) -> None:
    """Brings the pinned server where this machine has none, so that a run finds it. Raises DatabaseError."""
    if installed() is None:
        fetched(_database_cache(workshop), say)


def _database_cache(workshop: Workshop) -> Path:
    return workshop.root / ".tools" / "database"


def build(workshop: Workshop, services: Sequence[str], say: Callable[[str], None]) -> tuple[dict[str, float], dict[str, str]]:
    """Build what has changed since its last build, two at a time; seconds by service, and service → why it could not be built."""
    seconds: dict[str, float] = {}
    failed: dict[str, str] = {}

    def in_turn(names: Sequence[str]) -> None:
        for name in names:
            took = _build(workshop, name, say)
            if isinstance(took, str):
                failed[name] = took
            else:
                seconds[name] = took

    for tool in dict.fromkeys(tool for name in services for tool in workshop.registry.services[name].needs):
        if tool in workshop.found and workshop.found[tool].but:
            say(f"Warning: {tool} {workshop.found[tool].told} ({workshop.found[tool].path})")
    together([partial(in_turn, names) for names in apart(workshop.registry, services)])
    return {name: seconds[name] for name in services if name in seconds}, failed


def apart(registry: Registry, services: Sequence[str]) -> list[list[str]]:
    """The services by their tools: those with the same ones share a folder or a cache of libraries, and are not built at the same time."""
    return list(grouped(services, lambda name: tuple(registry.services[name].needs)).values())


def _build(workshop: Workshop, name: str, say: Callable[[str], None]) -> float | str:
    """The seconds that it took, 0 where nothing has changed; or why it failed."""
    stamp = workshop.root / ".tools" / "built" / name
    took = stamp.with_name(f"{name}.seconds")
    print_ = workshop.fingerprint(workshop.registry.services[name])
    if all(path.exists() for path in _products(workshop, name)) and stamp.exists() and stamp.read_text() == print_:
        return 0.0
    stamp.parent.mkdir(parents=True, exist_ok=True)
    stamp.unlink(missing_ok=True)
    say(f"{name}: building what has changed ({_last_time(took)})")
    log = stamp.with_name(f"{name}.log")
    log.unlink(missing_ok=True)
    try:
        seconds = round(workshop.build(name, log, say), 1)
    except BuildError as error:
        return str(error)
    stamp.write_text(print_)
    took.write_text(f"{seconds}\n")
    return seconds


def _last_time(took: Path) -> str:
    try:
        return f"the last time it took {clock(float(took.read_text()))}"
    except (OSError, ValueError):
        return "for the first time: some minutes, most of them to fetch libraries"


def _products(workshop: Workshop, name: str) -> list[Path]:
    """The files that the run commands of a service's contenders name inside its folder."""
    service = workshop.registry.services[name]
    runs = [c.run for c in workshop.registry.contenders.values() if c.service == name]
    return [Path(part) for run in runs for part in workshop.fill([p for p in run if p.startswith("{folder}")], service)]


def connections_of(contenders: int) -> int:
    """What the database must hold. Raises Refused where this machine does not allow so many files."""
    files = host.raise_limits()
    connections = contenders * (POOL_SIZE + 50) + 100
    if files < 2 * connections:
        raise Refused(
            f"{files} open files are allowed, {2 * connections} are needed for {contenders} contenders: raise the limit (ulimit -Hn)"
        )
    return connections


# --- the stage -------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def stage(
    workshop: Workshop,
    profile: Profile,
    workers: int,
    contenders: int,
    folder: Path,
    database_url: str | None,
    say: Callable[[str], None],
) -> Iterator[Stage]:
    """Database and upstream for the length of the block. Raises Refused, ProcessError, DatabaseError."""
    connections = connections_of(contenders)
    place = host.placement(profile)
    program = upstream_program(workshop, say)
    own_cores = os.sched_getaffinity(0)
    stack = contextlib.ExitStack()
    try:
        server = provide(database_url, folder / "database", _database_cache(workshop), connections, say)
        stack.callback(server.close)
        if server.pid is not None:
            pin(server.pid, place.database)
        found, url = stack.enter_context(upstream(program, place.upstream, folder / "logs"))
        stack.callback(os.sched_setaffinity, 0, own_cores)
        os.sched_setaffinity(0, place.generator)  # the harness is no guest on the service's core
        yield Stage(workshop, place, workers, server, found, url, folder / "logs")
    finally:
        with undisturbed():
            stack.close()


# --- a run -----------------------------------------------------------------------------------------------------------


def arrange(asked: str, contenders: Sequence[Contender], workers: int, say: Callable[[str], None]) -> tuple[Order, str]:
    """The order of the cells by the memory there is now, and why it is not the usual one (plan.order_for).

    Raises Refused where not even one contender at a time fits.
    """
    try:
        order, why = order_for(asked, contenders, workers, host.memory_available_mib())
    except ValueError as error:
        raise Refused(str(error)) from None
    if why:
        say(why)
    return order, why


class Measuring(Protocol):
    """Measures the cells of a plan: on this machine (measure/runner.py), or on a cluster."""

    def start_group(self, group: Sequence[str], round_: int, say: Callable[[str], None]) -> None: ...

    def runtimes(self) -> dict[str, dict[str, Any]]: ...

    def measure(self, slot: Slot, attempt: int = 1) -> Record: ...

    def end_group(self) -> dict[str, int]: ...

    def must_stand(self) -> None: ...

    def close(self) -> None: ...


def measure(
    plan: Plan,
    on: Stage,
    journal: Journal,
    k6_program: Path,
    facts: dict[str, Any],
    already: Sequence[Cell],
    progress: Progress,
    judged: Judge,
) -> float:
    """Every planned cell that is not there yet, on this machine; returns what second attempts took (s). Raises as `rounds` does."""
    ground = Ground(on, generator_program(on.workshop, progress.say), journal.folder / "logs" / "generator", plan.seed)
    runner = Runner(plan, on, journal, k6_program, ground, holder_program(on.workshop, plan.scenarios, progress.say))
    return rounds(plan, runner, journal, facts, already, progress, judged, lambda: must_be_fair(runner, plan, on, journal, facts))


def rounds(
    plan: Plan,
    runner: Measuring,
    journal: Journal,
    facts: dict[str, Any],
    already: Sequence[Cell],
    progress: Progress,
    judged: Judge,
    fair: Callable[[], None],
) -> float:
    """Every planned cell that is not there yet, appended to the journal as it ends; returns the time that second attempts took (s).
    `fair` is asked about each group that has been started.

    Raises DatabaseError or ProcessError where database, upstream or k6 have gone: the cell under way is not recorded.
    """
    retries_s = 0.0
    todo = missing(plan, already)
    try:
        for round_, group in plan.all_groups:
            slots = [(slot, attempt) for slot, attempt in todo if slot.round == round_ and slot.contender.id in group]
            if not slots:
                continue
            if plan.is_fresh(round_) or not runner.runtimes():
                progress.say(f"round {round_} of {plan.rounds}: fresh processes, warmed equally")
                runner.start_group(group, round_, progress.say)
                fair()
                progress.started(group)
            if not facts.get("runtimes", {}).keys() >= set(group):
                facts["runtimes"] = {**runner.runtimes(), **facts.get("runtimes", {})}
                journal.facts(facts)
            for slot, attempt in slots:
                stop_if_asked()
                progress.cell(slot, None)
                cell = _journaled(runner, slot, attempt, journal, judged)
                if cell.status in ("invalid", "failed"):
                    began = time.monotonic()
                    cell = _journaled(runner, slot, attempt + 1, journal, judged)
                    retries_s += time.monotonic() - began
                progress.cell(slot, cell.slim())
            if round_ < plan.rounds and not plan.is_fresh(round_ + 1):
                continue  # the next round goes on with these processes
            progress.say(f"round {round_} of {plan.rounds}: stopping")
            for name, code in runner.end_group().items():
                if code not in (0, 128 + signal.SIGTERM):
                    progress.say(f"{name} ended with {code} when it was stopped (C41)")
    except (DatabaseError, ProcessError):
        runner.must_stand()  # says better why, where the server itself has ended or a program has gone
        raise
    finally:
        with undisturbed():
            runner.close()
    return retries_s


def _journaled(runner: Measuring, slot: Slot, attempt: int, journal: Journal, judged: Judge) -> Cell:
    """One cell, measured, judged and on the disk. Raises where what every cell needs has gone: it is not recorded then."""
    record = runner.measure(slot, attempt)
    cell = judged(record)
    if cell.status in ("invalid", "failed"):
        runner.must_stand()
    journal.append(record)
    return cell


def must_be_fair(runner: Runner, plan: Plan, on: Stage, journal: Journal, facts: dict[str, Any]) -> None:
    """Keeps in run.json what the contenders of a round have in effect, and has the runner hold every later start against it.

    Raises Refused where they are not set alike, or, after --resume, not as they were before.
    """
    found = runner.manifests()
    known = Fairness.model_validate(facts["fairness"]) if "fairness" in facts else None
    if known is None or fairness.asymmetries(known.contenders, known.granted):  # that sitting was refused before its first cell
        known = Fairness(
            granted=manifest.granted(on),
            statements={s.id: s.statements for s in plan.scenarios if s.statements},
            contenders={},
            generators=len(plan.generators) or 1,
            undivided=plan.undivided,
        )
        unlike = fairness.asymmetries(found, known.granted)
    else:
        unlike = [each for name, now in found.items() for each in fairness.unlike(known, name, now)]
    unlike += fairness.addresses(found)
    seen = {**found, **known.contenders}
    fair = known.model_copy(update={"contenders": {c.id: seen[c.id] for c in plan.contenders if c.id in seen}})
    runner.unlike = lambda name, now: [
        each.sentence for each in (*fairness.unlike(fair, name, now), *fairness.addresses({**found, name: now}))
    ]
    facts["fairness"] = fair.model_dump(mode="json")
    journal.facts(facts)
    if unlike:
        raise Refused(fairness.refusal(unlike))


def run_facts(plan: Plan, database: Server, k6_version: str, builds: Mapping[str, float], announced_s: float) -> dict[str, Any]:
    """run.json: the plan, and the programs that every run has. What they stand on is told by their runner: standing() and facts()."""
    return {
        "schema": SCHEMA,
        "started_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "plan": {
            "tier": plan.tier_name,
            "profile": plan.profile,
            "workers": plan.workers,
            "generators": len(plan.generators) or 1,
            "generator_cores": [list(cores) for cores in plan.generators],
            "undivided": plan.undivided,
            "rounds": plan.rounds,
            "rounds_per_start": plan.rounds_per_start,
            "seed": plan.seed,
            "contenders": [c.id for c in plan.contenders],
            "controls": plan.controls,
            "scenarios": [s.id for s in plan.scenarios],
            "rows": [list(row) for row in plan.rows],
            "order": plan.order,
            "order_why": plan.order_why,
            "asked": {s.id: [c.id for c in plan.contenders if plan.asks(c, s)] for s in plan.scenarios},
            "articles": list(plan.articles),
            "heaps_mib": {s.id: s.heap_mib for s in plan.scenarios if s.heap_mib is not None},
            "loads": {s.id: s.end for s in plan.scenarios if isinstance(s, FixedWork)},
            "headlines": {s.id: s.headline for s in plan.scenarios},
            "models": {s.id: s.model for s in plan.scenarios},
            "rates": {s.id: s.rate_for(plan.workers) for s in plan.scenarios},
            "vus": {s.id: s.vus for s in plan.scenarios},
            "reference": plan.reference,
            "holds_ms": {s.id: s.hold_ms for s in plan.scenarios},
            "windows_s": {s.id: plan.timing(s).window_s for s in plan.scenarios},
            "announced_s": round(announced_s),
        },
        "database": {"kind": database.kind, "version": database.version, "private": database.private},
        "k6": k6_version,
        "build_s": dict(builds),
    }


def standing(plan: Plan, workshop: Workshop, runner: str = "native") -> dict[str, Any]:
    """The part of run.json that is known before anything is built: what every sitting of a run must find the same."""
    return {
        "runner": runner,
        "host": host.facts(workshop.root),
        "placement": host.placement(plan.profile).as_facts(),
        "configuration": configuration(plan, workshop, runner),
    }


def tools_used(plan: Plan, workshop: Workshop) -> dict[str, str]:
    """Tool → version, of those that the plan's contenders are built and run with, and k6, the generator and the upstream built."""
    used = {"go", *(tool for contender in plan.contenders for tool in workshop.needs(contender))}
    return {name: found.told for name, found in sorted(workshop.found.items()) if name in used}


def configuration(plan: Plan, workshop: Workshop, runner: str = "native") -> dict[str, str]:
    """What a run measures with, and its hash: where files were changed after the commit, the commit alone does not tell.

    Entries of the two .toml files, the sources of services, and the harness itself. Raises BuildError without git.
    """
    services = {c.service: workshop.registry.services[c.service] for c in plan.contenders}
    found = entries(plan, services)
    folders = {**{f"sources of {s.folder}/": [s.folder, *s.sources] for s in services.values()}, "harness": list(HARNESS)}
    if runner == "compose":
        folders["compose.yaml"] = ["compose.yaml"]
    if runner == "kubernetes":
        folders["deploy/kubernetes"] = ["deploy/kubernetes"]
    for name, parts in folders.items():
        files = [file for part in parts for file in sources(workshop.root, part)]
        found[name] = digest({file: hashlib.sha256((workshop.root / file).read_bytes()).hexdigest() for file in files})
    return found
