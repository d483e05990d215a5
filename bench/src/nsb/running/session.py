"""A whole run from build to journal: what `bench-all`, `bench`, `conform` and `up` share. Effects only."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

from nsb.model import POOL_SIZE, SCHEMA, Cell, Contender, Profile
from nsb.plan import Plan, Slot
from nsb.running import host, k6, native
from nsb.running.conformance.bed import Bed, LaunchFailed, Outcome
from nsb.running.conformance.suite import check
from nsb.running.database import provide
from nsb.running.journal import Journal
from nsb.running.native import Died, Running, Stage
from nsb.running.process import ProcessError, pin
from nsb.running.tools import BuildError, Workshop

STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
UPSTREAM_BUILD = ["build", "-trimpath"]


class Refused(Exception):
    """The run cannot start on this machine as asked; the message names the remedy. Exit code 3."""


class Interrupted(BaseException):
    """SIGINT, SIGTERM or SIGHUP: results are kept."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = 128 + number


class Progress(Protocol):
    """Where a person waits, this is told what happens."""

    def say(self, sentence: str) -> None: ...

    def round_started(self) -> None:
        """Every contender of the round is warm."""

    def cell(self, slot: Slot, cell: Cell | None) -> None:
        """A cell begins (None) or has ended."""


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Turns the first SIGINT, SIGTERM or SIGHUP into Interrupted; later ones are ignored while everything is being stopped."""

    def on_signal(number: int, _frame: FrameType | None) -> None:
        for each in STOPS:
            signal.signal(each, signal.SIG_IGN)
        raise Interrupted(number)

    old = {number: signal.signal(number, on_signal) for number in STOPS}
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


# --- build -----------------------------------------------------------------------------------------------------------


def upstream_program(workshop: Workshop, say: Callable[[str], None]) -> Path:
    """The upstream, built where its sources are newer. Raises ProcessError."""
    root = workshop.root
    program = root / ".tools" / "upstream"
    command = [go(workshop), *UPSTREAM_BUILD, "-o", str(program), "."]
    return _built(command, root / "bench" / "upstream", program, say)


def go(workshop: Workshop) -> str:
    """The Go that builds k6 and the upstream. Raises Refused."""
    if "go" not in workshop.found:
        raise Refused(f"k6 and the upstream are built with Go. {workshop.missing['go'].sentence}")
    return workshop.found["go"].path


def _built(command: Sequence[str], folder: Path, program: Path, say: Callable[[str], None]) -> Path:
    say(f"{folder.name}: {' '.join(['go', *command[1:3]])}")
    program.parent.mkdir(exist_ok=True)
    done = subprocess.run(list(command), cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise ProcessError(f"{folder.name} could not be built:\n{done.stderr[-2000:]}")
    return program


def build(workshop: Workshop, services: Sequence[str], say: Callable[[str], None]) -> tuple[dict[str, float], dict[str, str]]:
    """Build what has changed since its last build; seconds by service, and service → why it could not be built."""
    seconds: dict[str, float] = {}
    failed: dict[str, str] = {}
    for name in services:
        service = workshop.registry.services[name]
        stamp = workshop.root / ".tools" / "built" / name
        print_ = workshop.fingerprint(service)
        products = _products(workshop, name)
        if all(path.exists() for path in products) and stamp.exists() and stamp.read_text() == print_:
            seconds[name] = 0.0
            continue
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.unlink(missing_ok=True)
        log = workshop.root / ".tools" / "built" / f"{name}.log"
        log.unlink(missing_ok=True)
        try:
            seconds[name] = round(workshop.build(name, log, say), 1)
        except BuildError as error:
            failed[name] = str(error)
            continue
        stamp.write_text(print_)
    return seconds, failed


def _products(workshop: Workshop, name: str) -> list[Path]:
    """The files that the run commands of a service's contenders name inside its folder."""
    service = workshop.registry.services[name]
    folder = str(workshop.root / service.folder)
    runs = [c.run for c in workshop.registry.contenders.values() if c.service == name]
    return [Path(part) for run in runs for part in workshop.fill(run, service) if part.startswith(folder)]


# --- conformance -----------------------------------------------------------------------------------------------------


class Launcher:
    """Starts one contender with changed settings for the rules, and ends what they leave."""

    def __init__(self, stage: Stage, contender: Contender) -> None:
        self._stage = stage
        self._contender = contender
        self._started: list[Running] = []
        self._lock = threading.Lock()

    def __call__(self, environment: Mapping[str, str], ready: bool = True) -> Running:
        try:
            running = self._stage.start(self._contender, environment, "/readyz" if ready else "/healthz")
        except Died as error:
            raise LaunchFailed(error.exit_code, error.words) from None
        except ProcessError as error:
            raise LaunchFailed(None, str(error)) from None
        with self._lock:
            self._started.append(running)
        return running

    def end_all(self) -> None:
        for running in self._started:
            running.process.end(1)


def conform(stage: Stage, contender: Contender, say: Callable[[str], None]) -> list[Outcome]:
    """Every rule of the contract against one contender."""
    launcher = Launcher(stage, contender)
    bed = Bed(launcher, stage.database, stage.upstream_url, contender.id, POOL_SIZE, stage.workers)
    try:
        return check(bed, say)
    finally:
        launcher.end_all()


class PassedBefore:
    """Remembers which build of a contender passed on which kind of database: a pass need not be shown twice."""

    def __init__(self, workshop: Workshop, stage: Stage) -> None:
        self._file = workshop.root / ".tools" / "conformance.json"
        self._workshop = workshop
        self._stage = stage
        try:
            self._known: dict[str, str] = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            self._known = {}

    def _hash(self, contender: Contender) -> str:
        root = self._workshop.root
        digest = hashlib.sha256(self._workshop.fingerprint(self._workshop.registry.services[contender.service]).encode())
        digest.update(contender.model_dump_json().encode())
        digest.update((root / "CONTRACT.md").read_bytes())
        for file in sorted((root / "bench/src/nsb/running/conformance").glob("*.py")):
            digest.update(file.read_bytes())
        database = self._stage.database
        digest.update(f"{database.kind} {database.version} {self._stage.workers}".encode())
        return digest.hexdigest()

    def knows(self, contender: Contender) -> bool:
        return self._known.get(f"{contender.id} {self._stage.database.kind}") == self._hash(contender)

    def add(self, contender: Contender) -> None:
        self._known[f"{contender.id} {self._stage.database.kind}"] = self._hash(contender)
        self._file.parent.mkdir(exist_ok=True)
        self._file.write_text(json.dumps(self._known, indent=1), encoding="utf-8")


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
    files = host.raise_limits()
    connections = contenders * (POOL_SIZE + 50) + 100
    if files < 2 * connections:
        raise Refused(
            f"{files} open files are allowed, {2 * connections} are needed for {contenders} contenders: raise the limit (ulimit -Hn)"
        )
    place = host.placement(profile)
    program = upstream_program(workshop, say)
    own_cores = os.sched_getaffinity(0)
    cache = workshop.root / ".tools" / "database"
    with contextlib.ExitStack() as stack:
        server = provide(database_url, folder / "database", cache, connections, say)
        stack.callback(server.close)
        if server.pid is not None:
            pin(server.pid, place.database)
        upstream, url = stack.enter_context(native.upstream(program, place.upstream, folder / "logs"))
        stack.callback(os.sched_setaffinity, 0, own_cores)
        os.sched_setaffinity(0, place.generator)  # the harness is no guest on the service's core
        yield Stage(workshop, place, workers, server, upstream, url, folder / "logs")


# --- a run -----------------------------------------------------------------------------------------------------------


@dataclass
class Result:
    """What a run came to."""

    cells: list[Cell] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    """Contender → why it has no cells."""
    wall_s: float = 0.0
    announced_s: float = 0.0
    retries_s: float = 0.0


def measure(
    plan: Plan,
    on: Stage,
    journal: Journal,
    k6_program: Path,
    facts: dict[str, Any],
    already: Sequence[Cell],
    left_out: dict[str, str],
    progress: Progress,
) -> Result:
    """Every planned cell that is not there yet, appended to the journal as it ends."""
    result = Result(list(already), dict(left_out))
    done = {(c.round, c.scenario, c.contender) for c in already if c.counts or c.status == "unsupported"}
    runner = native.Runner(plan, on, journal, k6_program)
    try:
        for round_ in range(1, plan.rounds + 1):
            todo = [s for s in plan.slots(round_) if (s.round, s.scenario.id, s.contender.id) not in done]
            if not todo:
                continue
            progress.say(f"round {round_} of {plan.rounds}: fresh processes, warmed equally")
            runner.start_round(round_, progress.say)
            progress.round_started()
            if "runtimes" not in facts:
                facts["runtimes"] = runner.runtimes()
                journal.facts(facts)
            for slot in todo:
                progress.cell(slot, None)
                cell = runner.measure(slot)
                if cell.status in ("invalid", "failed"):
                    journal.append(cell)
                    began = time.monotonic()
                    cell = runner.measure(slot, attempt=2)
                    result.retries_s += time.monotonic() - began
                journal.append(cell)
                result.cells.append(cell)
                progress.cell(slot, cell)
            progress.say(f"round {round_} of {plan.rounds}: stopping")
            for name, code in runner.end_round().items():
                if code not in (0, 128 + signal.SIGTERM):
                    progress.say(f"{name} ended with {code} when it was stopped (C41)")
    finally:
        runner.close()
    return result


def run_facts(plan: Plan, on: Stage, k6_program: Path, builds: Mapping[str, float], announced_s: float) -> dict[str, Any]:
    """run.json: what the run stands on, asked from the machine and the running programs."""
    return {
        "schema": SCHEMA,
        "started_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "plan": {
            "tier": plan.tier_name,
            "profile": plan.profile,
            "workers": plan.workers,
            "rounds": plan.rounds,
            "seed": plan.seed,
            "contenders": [c.id for c in plan.contenders],
            "controls": plan.controls,
            "scenarios": [s.id for s in plan.scenarios],
            "rows": [list(row) for row in plan.rows],
            "headlines": {s.id: s.headline for s in plan.scenarios},
            "models": {s.id: s.model for s in plan.scenarios},
            "rates": {s.id: s.rate_for(plan.workers) for s in plan.scenarios},
            "vus": {s.id: s.vus for s in plan.scenarios},
            "holds_ms": {s.id: s.hold_ms for s in plan.scenarios},
            "windows_s": {s.id: plan.timing(s).window_s for s in plan.scenarios},
            "announced_s": round(announced_s),
        },
        "runner": "native",
        "host": host.facts(on.workshop.root),
        "placement": on.placement.as_facts(),
        "database": {"kind": on.database.kind, "version": on.database.version, "private": on.database.pid is not None},
        "k6": k6.version(k6_program),
        "tools": {name: found.version for name, found in sorted(on.workshop.found.items())},
        "build_s": dict(builds),
    }


def seed_from_clock() -> int:
    return int.from_bytes(os.urandom(3))
