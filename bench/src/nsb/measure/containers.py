"""Runs contenders as containers: the engine, one container with the interface of a process, and the stage that they stand on. Effects only.

Everything is asked of docker's own command line; what is asked for stands in registry/compose.py.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar

import psutil

from nsb.measure import native
from nsb.measure.cgroup import Group
from nsb.measure.database_private import DatabaseError, Login, new_password, server_settings
from nsb.measure.engine import docker
from nsb.measure.interrupt import ends, undisturbed
from nsb.measure.process import Gauge, Limits, Process, ProcessError, Program, Tree, reaper
from nsb.measure.upstream import answering
from nsb.registry import compose as composing
from nsb.registry.compose import DATABASE, UPSTREAM
from nsb.registry.contenders import Contender

DATABASE_START_S = 180.0
"""MySQL's image makes its data folder first, with a server of its own (s)."""
BEGUN_S = 10.0
"""How long a start that is under way may take until everything is removed (s)."""
LABEL = "com.docker.compose.project"
NOT_IN_CONTAINERS = frozenset({"innodb_fast_shutdown"})
"""The image starts a server before this one, on the same files, and stops it with the same settings: they must be in order then."""
BY_ENGINE: Mapping[str, str | None] = {"HOME": None, "HOSTNAME": None}
"""Variables that the engine sets, by the image's user and the machine's name."""
SAME = {"LANG": "C.UTF-8"}
"""One locale for all, whatever an image brings, and one in which every value can be quoted (C42)."""


class Project:
    """The measured compose file of one run, and every container that was made from it."""

    def __init__(self, name: str, config: Mapping[str, Any], file: Path) -> None:
        """Writes the file, which holds no secret."""
        self.name = name
        self.file = file
        self.config = config
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._beginning, self._over = 0, False
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"name": name, **config}, indent=1), encoding="utf-8")

    def __enter__(self) -> Project:
        reaper.tell("+", self.name)  # a harness that is killed cannot remove anything
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()
        reaper.tell("-", self.name)

    def start(self, service: str, name: str, environment: Mapping[str, str]) -> str:
        """A container of this service, under a name of its own, which is returned. Values go by environment: nobody reads them on a command
        line. Raises ProcessError."""
        own = f"{self.name}-{name}-{next(self._numbers)}"
        settings = [part for variable in environment for part in ("-e", variable)]
        command = ["compose", "-p", self.name, "-f", str(self.file), "run", "--detach", "--no-deps", "-T", "--interactive=false"]
        with self._begin():
            docker(*command, "--name", own, *settings, service, environment={**_own(os.environ), **environment})
        return own

    @contextlib.contextmanager
    def _begin(self) -> Iterator[None]:
        """Rules start services from several threads: none is begun once everything is being removed, which waits for those begun."""
        with self._lock:
            if self._over:
                raise ProcessError("the run is over")
            self._beginning += 1
        try:
            yield
        finally:
            with self._lock:
                self._beginning -= 1

    def remove(self) -> None:
        """All its containers with their volumes; networks and named volumes it has none."""
        with self._lock:
            self._over = True
        until = time.monotonic() + BEGUN_S
        while self._beginning and time.monotonic() < until:
            time.sleep(0.02)
        left = docker("ps", "--all", "--quiet", "--filter", f"label={LABEL}={self.name}").split()
        if left:
            docker("rm", "--force", "--volumes", *left)


def _own(environment: Mapping[str, str]) -> dict[str, str]:
    """What docker itself may need, and nothing that compose would take for its own: COMPOSE_FILE, COMPOSE_PROFILES …"""
    return {name: value for name, value in environment.items() if not name.startswith("COMPOSE_")}


class Container:
    """One started container: what Process is for a process."""

    def __init__(
        self, project: Project, service: str, name: str, log: Path, environment: Mapping[str, str], given: Mapping[str, str | None]
    ) -> None:
        """Raises ProcessError where it cannot be started; a program that ends at once is an exit code."""
        self.name = name
        self.log = log
        self.given = given
        self._over = self._paused = False
        self._group: Group | None = None
        log.parent.mkdir(parents=True, exist_ok=True)
        # Whole, else a stop that is asked for right now would leave a container whose end nobody waits for.
        with undisturbed():
            try:
                self._container = project.start(service, name, environment)
                ends_in = log.with_suffix(".exit")
                ends_in.unlink(missing_ok=True)
                self._waiter = Process(f"{name}-wait", ["docker", "wait", self._container], ends_in, dict(os.environ))
                state = self._state()
            except ProcessError as error:
                raise ProcessError(f"{name} cannot be started: {error}") from None
        self._pid = int(state["Pid"])
        # The engine's clock is the machine's: it notes when the program was executed.
        self.began = time.monotonic() - (time.time() - datetime.fromisoformat(state["StartedAt"]).timestamp())

    @property
    def pid(self) -> int:
        return self._pid

    @property
    def exit_code(self) -> int | None:
        if self._waiter.exit_code is None:
            return None
        try:
            return int(self._waiter.last_words(1))
        except ValueError:  # the engine has gone, or somebody has removed the container
            return -1

    @property
    def stopped(self) -> bool:
        with contextlib.suppress(psutil.Error):
            if psutil.Process(self._pid).status() == psutil.STATUS_STOPPED:
                return True
        with contextlib.suppress(ProcessError):
            return bool(self._state()["Paused"])
        return False

    def tree(self) -> list[int]:
        if not self._pid or self.exit_code is not None:
            return []
        with contextlib.suppress(psutil.NoSuchProcess):
            return [self._pid, *(child.pid for child in psutil.Process(self._pid).children(recursive=True))]
        return []

    def gauge(self) -> Gauge:
        """Of the control group, which counts what has ended too. Raises ProcessError."""
        return Tree([]) if self.exit_code is not None else Group(self._pid)

    def limits(self) -> Limits:
        return Group(self._pid).limits()

    def pin(self, cpus: Sequence[int]) -> None:
        """By the container's cpuset, which holds for every thread there is and will be. Raises ProcessError."""
        docker("update", "--cpuset-cpus", ",".join(str(core) for core in cpus), self._container)

    def signal(self, number: int) -> None:
        """To the main process. Raises ProcessLookupError where it has gone."""
        try:
            docker("kill", "--signal", str(int(number)), self._container)
        except ProcessError:
            if self._runs():
                raise
            raise ProcessLookupError from None

    def freeze(self) -> None:
        """All its processes at once (`docker pause`), sockets and memory kept."""
        if not self._paused and self.exit_code is None:
            self._paused = self._asked("pause")

    def thaw(self) -> None:
        if self._paused:
            self._asked("unpause")
            self._paused = False

    def wait(self, deadline_s: float) -> int | None:
        self._waiter.wait(deadline_s)
        return self.exit_code

    def end(self, deadline_s: float = 10.0) -> int:
        """SIGTERM to the main process, SIGKILL to all after the deadline, which is short once a stop was asked for; then the container is
        removed, its words kept. Returns the exit code."""
        if not self._over:
            if self.exit_code is None:
                self.thaw()
                with contextlib.suppress(ProcessLookupError, ProcessError):
                    self.signal(signal.SIGTERM)
                ends(lambda: self.exit_code is not None, deadline_s)
            if self.exit_code is None:
                with contextlib.suppress(ProcessLookupError, ProcessError):
                    self.signal(signal.SIGKILL)
                self._waiter.wait(5)
            words = self.last_words(100_000)
            with contextlib.suppress(OSError):
                self.log.write_text(words + "\n", encoding="utf-8")
            self._over = True
            with contextlib.suppress(ProcessError):  # removed by somebody else: gone is gone
                docker("rm", "--force", "--volumes", self._container)
            self._waiter.end(2)
        code = self.exit_code
        return code if code is not None else -1

    def last_words(self, lines: int = 5) -> str:
        if self._over:
            with contextlib.suppress(OSError):
                return "\n".join(self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-lines:])
            return ""
        command = ["docker", "logs", "--tail", str(lines), self._container]
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            said = subprocess.run(
                command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", stdin=subprocess.DEVNULL,
                start_new_session=True, timeout=20,
            ).stdout.strip()  # fmt: skip
            return "\n".join([*said.splitlines(), *self._killed()])
        return ""

    def _killed(self) -> list[str]:
        """What the program could not say itself."""
        if self.exit_code is None:
            return []
        with contextlib.suppress(ProcessError):
            if self._state()["OOMKilled"]:
                return ["the kernel ended it: its memory limit was reached"]
        return []

    def _asked(self, verb: str) -> bool:
        """Whether the engine did it; a container that has ended meanwhile needs nothing. Raises ProcessError."""
        try:
            docker(verb, self._container)
        except ProcessError:
            if self._runs():
                raise
            return False
        return True

    def _runs(self) -> bool:
        with contextlib.suppress(ProcessError):
            return bool(self._state()["Running"])
        return False

    def _state(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(docker("inspect", "--format", "{{json .State}}", self._container))
        return found


# --- the stage -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class ContainerStage(native.Stage):
    """What contenders stand on that run as containers."""

    runner: ClassVar[str] = "compose"
    project: Project
    given: Mapping[str, Mapping[str, str | None]]
    """Service → what its image, and compose.yaml beside the settings, bring into its environment."""
    limit_mib: int
    database_container: Program | None

    def settings(self, contender: Contender, port: int) -> dict[str, str]:
        """The same settings as for a process; nothing of the user's environment reaches a container anyway."""
        found = super().settings(contender, port)
        own = {*composing.CONTRACT, *contender.environment}
        return {**SAME, **{name: value for name, value in found.items() if name in own}}

    def program(self, contender: Contender, environment: Mapping[str, str], port: int) -> Program:
        service = contender.twin_of or contender.id
        log = self.logs / f"{contender.id}-{port}.log"
        return Container(self.project, service, contender.id, log, environment, self.given[service])

    def null_server(self, logs: Path) -> AbstractContextManager[tuple[Program, str]]:
        return upstream(self.project, self.placement.service, logs, "null-server")

    def database_gauge(self) -> Gauge:
        return super().database_gauge() if self.database_container is None else self.database_container.gauge()

    def beside(self) -> list[int]:
        containers = [each for each in (self.upstream, self.database_container) if each is not None]
        return sorted({*super().beside(), *(pid for each in containers for pid in each.tree())})

    @property
    def nice(self) -> int:
        return 0  # the engine's, whatever the harness has

    @property
    def memory_mib(self) -> int | None:
        return self.limit_mib

    def build_of(self, contender: Contender) -> str:
        return str(self.project.config["services"][contender.twin_of or contender.id]["image"])


@contextlib.contextmanager
def upstream(project: Project, cpus: Sequence[int], logs: Path, name: str = "upstream") -> Iterator[tuple[Program, str]]:
    """The neutral program as a container, for the length of the block. Raises ProcessError."""

    def start(environment: Mapping[str, str]) -> Program:
        container = Container(project, UPSTREAM, name, logs / f"{name}.log", environment, {})
        container.pin(cpus)
        return container

    with answering(start, len(cpus)) as found:
        yield found


class DatabaseContainer:
    """MySQL in a container of its own: what PrivateServer is as a process."""

    clients = "127.0.0.1"

    def __init__(self, project: Project, port: int, logs: Path) -> None:
        self.login = Login("127.0.0.1", port, "root", new_password())
        environment = {"MYSQL_ROOT_PASSWORD": self.login.password}
        self.container = Container(project, DATABASE, "database", logs / "database.log", environment, {})

    @property
    def pid(self) -> int:
        return self.container.pid

    def ready(self) -> Login:
        """The administrator, once it is let in over TCP: the image's first server, which makes the data, listens on a socket alone."""
        if not self.login.let_in(DATABASE_START_S, self.must_run):
            raise DatabaseError(f"the database's container did not answer within {DATABASE_START_S:.0f} s: {self.container.last_words(12)}")
        return self.login

    def must_run(self) -> None:
        """Raises DatabaseError where the server has ended by itself."""
        code = self.container.exit_code
        if code is not None:
            raise DatabaseError(f"the database's container ended with {code}: {self.container.last_words(12)}")

    def remove(self) -> None:
        self.container.end(0)  # its data goes with it


def database_arguments(max_connections: int, port: int) -> list[str]:
    """server.toml's settings for MySQL as arguments, reachable from this machine alone."""
    settings = {name: value for name, value in server_settings("mysql", max_connections).items() if name not in NOT_IN_CONTAINERS}
    own = [f"--{name.replace('_', '-')}" + ("" if value is None else f"={value}") for name, value in settings.items()]
    return [*own, f"--port={port}"]
