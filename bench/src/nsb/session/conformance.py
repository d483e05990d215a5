"""The contract asked of contenders on a stage: two contenders at a time where that can be, and who passed before. Effects only."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from nsb.conform.bed import Bed, LaunchFailed, Outcome
from nsb.conform.presence import absent, cannot_go_on, wait_for_any_answer
from nsb.conform.suite import check
from nsb.conform.wire import NoAnswer
from nsb.measure.journal import write_whole
from nsb.measure.native import Stage
from nsb.measure.process import ALL_CORES, ProcessError, Program, free_port
from nsb.measure.running import Died, Running, StartLimit
from nsb.measure.together import together
from nsb.measure.tools import Workshop
from nsb.registry.contenders import Contender
from nsb.registry.contract import POOL_SIZE
from nsb.registry.plan import Plan
from nsb.session.runners import Runner


class Launcher:
    """Starts one contender with changed settings for the rules, and ends what they leave."""

    def __init__(self, stage: Stage, contender: Contender) -> None:
        self.stage = stage
        self.contender = contender
        self.given_up = False
        """Whether its rules are not waited for any more: what they find from then on is nothing of the contender's."""
        self._started: list[Program] = []
        self._lock = threading.Lock()
        self._over = False

    def __call__(self, environment: Mapping[str, str], ready: bool = True) -> Running:
        try:
            return self.stage.start(self.contender, environment, None if ready else "/healthz", self.begun)
        except Died as error:
            raise LaunchFailed(error.exit_code, str(error) if error.exit_code is None else error.words) from None
        except ProcessError as error:
            raise LaunchFailed(None, str(error)) from None

    def begun(self, process: Program) -> None:
        """It is ended with the others."""
        with self._lock:
            self._started.append(process)
            over = self._over
        if over:  # a rule in another thread was about to start it when the suite was given up
            process.end(0)

    def give_up(self) -> None:
        self.given_up = True
        self.end_all(0)

    def end_all(self, deadline_s: float = 1.0) -> None:
        """Ends every service, also those that rules are waiting for, and every one that is started from now on."""
        with self._lock:
            self._over = True
            started = list(self._started)
        for process in started:
            process.end(deadline_s)


def conform(launcher: Launcher, seen: Callable[[Outcome], None]) -> list[Outcome]:
    """Every rule of the contract against one contender, but those that it breaks by design; `seen` gets each as it is found.

    Endpoints that it does not have come first, by name; then the rules that concern the others, unless nothing can be checked without it.
    """
    stage, contender = launcher.stage, launcher.contender

    def tell(outcome: Outcome) -> None:
        if not launcher.given_up:
            seen(outcome)

    try:
        missing = _missing(launcher)
        for outcome in missing:
            tell(outcome)
        if cannot_go_on(missing):
            return missing
        named = {outcome.title.split()[0] for outcome in missing}
        there = [name for name in contender.endpoints if name not in named]
        bed = Bed(launcher, stage.database, stage.upstream_url, contender.id, POOL_SIZE, contender.workers(stage.workers), there)
        return [*missing, *check(bed, tell, but=contender.breaks, give_up=launcher.give_up)]
    finally:
        launcher.end_all()


def _missing(launcher: Launcher) -> list[Outcome]:
    """The endpoints that a service which is started once does not have; that it does not start or answer at all where that is so."""
    stage, contender, port = launcher.stage, launcher.contender, free_port()
    process = stage.program(contender, stage.settings(contender, port), port)
    launcher.begun(process)

    def ended() -> str | None:
        code = process.exit_code
        return None if code is None else f"it ended with {code} as soon as it was started: {process.last_words()}"

    url = f"http://127.0.0.1:{port}"
    try:
        wait_for_any_answer(url, ended, StartLimit(process).over)
        return absent(url, contender.endpoints)
    except NoAnswer as error:
        return [Outcome("C1", "/healthz is missing", False, str(error))]
    finally:
        process.end(2)


# --- several contenders ----------------------------------------------------------------------------------------------


@contextlib.contextmanager
def stages(ground: Runner, plan: Plan, stage: Stage, contenders: Sequence[Contender], database_url: str | None) -> Iterator[list[Stage]]:
    """The stage, and beside it a second one for the length of the block, where there are several contenders and two databases can be.

    Rules count what database and upstream have seen, so two contenders share neither.
    """
    if len(contenders) < 2 or ground.name != "native" or database_url is not None:
        yield [stage]
        return
    with (
        tempfile.TemporaryDirectory(prefix="nsb-") as folder,
        ground.stage(plan.profile, plan.workers, contenders, Path(folder), None, lambda _: None) as second,
    ):
        yield [stage, replace(second, logs=stage.logs)]


def side_by_side(on: Sequence[Stage], contenders: Sequence[Contender], ask: Callable[[Launcher], None]) -> None:
    """Has `ask` ask each contender, one at a time on each stage, from threads. Raises what the first of them raises.

    The first stage takes them from the front and the second from the back: the first ones need a core, the last ones wait most of the time
    (registry/plan.py: by_effort).
    """
    waiting, launchers, over = deque(contenders), list[Launcher](), threading.Event()

    def turn(number: int) -> None:
        os.sched_setaffinity(0, ALL_CORES)  # of this thread and those that it starts: nothing is measured here
        while not over.is_set():
            try:
                contender = waiting.pop() if number else waiting.popleft()
            except IndexError:
                return
            launchers.append(launcher := Launcher(on[number], contender))
            if not over.is_set():
                ask(launcher)

    try:
        together([partial(turn, number) for number in range(len(on))], len(on))
    except BaseException:
        over.set()
        for launcher in list(launchers):
            launcher.give_up()
        raise


class PassedBefore:
    """Remembers which build of a contender passed, by kind of database, runner and number of workers: a pass need not be shown twice."""

    def __init__(self, workshop: Workshop, stage: Stage) -> None:
        self._file = workshop.root / ".tools" / "conformance.json"
        self._workshop = workshop
        self._stage = stage

    def _known(self) -> dict[str, str]:
        try:
            known: dict[str, str] = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return known

    def _hash(self, contender: Contender) -> str:
        root = self._workshop.root
        digest = hashlib.sha256(self._workshop.fingerprint(self._workshop.registry.services[contender.service]).encode())
        digest.update(contender.model_dump_json().encode())
        digest.update(" ".join(self._workshop.found[tool].version for tool in contender.tools).encode())
        digest.update(b"".join(file.read_bytes() for file in sorted((root / "contract").iterdir())))
        for file in sorted((root / "bench/src/nsb/conform").glob("*.py")):
            digest.update(file.read_bytes())
        digest.update(self._stage.build_of(contender).encode())
        database = self._stage.database
        digest.update(f"{database.kind} {database.version}".encode())
        return digest.hexdigest()

    def _name(self, contender: Contender) -> str:
        """A pass as a process says nothing of the container, one with a worker nothing of several."""
        return f"{contender.id} {self._stage.database.kind} {self._stage.runner} {self._stage.workers}"

    def knows(self, contender: Contender) -> bool:
        return self._known().get(self._name(contender)) == self._hash(contender)

    def add(self, contender: Contender) -> None:
        self._file.parent.mkdir(exist_ok=True)
        with self._file.with_suffix(".lock").open("w") as lock:  # another harness may add one now
            fcntl.flock(lock, fcntl.LOCK_EX)
            known = {**self._known(), self._name(contender): self._hash(contender)}
            write_whole(self._file, json.dumps(known, indent=1))
