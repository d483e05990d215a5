"""How contenders are built and started: as processes of this machine, or as containers. Effects.

The command line asks here, and need not know which.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from nsb.errors import Refused
from nsb.measure import engine, generator, host, k6
from nsb.measure.engine import Absent
from nsb.measure.interrupt import undisturbed
from nsb.measure.process import ALL_CORES, ProcessError, free_port
from nsb.measure.tools import BuildError, Workshop
from nsb.registry import compose as composing
from nsb.registry.compose import DATABASE, UPSTREAM, Conditions
from nsb.registry.contenders import Contender
from nsb.registry.plan import Plan
from nsb.registry.terms import Profile

if TYPE_CHECKING:  # `doctor` and `plan` only ask who can run: what stands on a stage takes a second to import
    from nsb.measure.containers import DatabaseContainer, Project
    from nsb.measure.database import Server
    from nsb.measure.native import Stage

RUNNERS = ("auto", "native", "compose", "kubernetes")
Say = Callable[[str], None]


class Runner(Protocol):
    """One way to run contenders."""

    name: str

    def runnable(self, contenders: Sequence[Contender]) -> tuple[list[str], dict[str, str]]:
        """The ids of those that can run here, and id → why another cannot."""
        ...

    def build(self, contenders: Sequence[Contender], say: Say) -> tuple[dict[str, float], dict[str, str]]:
        """Seconds by service, and contender → why it could not be built.

        Raises ProcessError or BuildError where nothing can run without it.
        """
        ...

    def k6(self, say: Say) -> Path:
        """k6's program, which runs on the host beside the generator of cost cells. Raises Refused or ProcessError."""
        ...

    def stage(
        self, profile: Profile, workers: int, contenders: Sequence[Contender], folder: Path, database_url: str | None, say: Say
    ) -> AbstractContextManager[Stage]:
        """Database and upstream for the length of the block. Raises Refused, ProcessError, DatabaseError."""
        ...

    def standing(self, plan: Plan) -> dict[str, Any]:
        """What every sitting of a run must find the same, before anything is built."""
        ...

    def facts(self) -> dict[str, Any]:
        """What run.json tells of this way beside its name, once the stage stands."""
        ...


def asked_of(asked: str, work: Workshop, contenders: Sequence[Contender], workers: int, say: Say) -> Runner:
    """The runner asked for; auto is native, and containers only where none of the contenders can run natively and some can as containers.

    Raises Refused where compose is asked for and cannot be, and for a cluster, on which only whole runs are made (verbs/clustering.py).
    """
    if asked == "kubernetes":
        raise Refused("--runner kubernetes: only bench-all and bench measure on a cluster (docs/scale.md)")
    native = Native(work)
    if asked == "native":
        return native
    if asked == "compose":
        try:
            return Compose(work, workers)
        except Absent as error:
            raise Refused(f"--runner compose: {error}") from None
    if "go" in work.found and native.runnable(contenders)[0]:
        return native
    try:
        compose = Compose(work, workers)
    except Absent as error:
        say(f"none of these contenders can run natively, and no container either: {error}")
        return native
    if compose.runnable(contenders)[0]:
        say("none of these contenders can run natively: containers (compose.yaml)")
        return compose
    return native


class Native:
    """Built by the machine's own tools, started as processes."""

    name = "native"

    def __init__(self, work: Workshop) -> None:
        self._work = work

    def runnable(self, contenders: Sequence[Contender]) -> tuple[list[str], dict[str, str]]:
        lacking = {each.id: self._work.lacks(self._work.needs(each)) for each in contenders}
        return [name for name, lacks in lacking.items() if not lacks], {name: "; ".join(lacks) for name, lacks in lacking.items() if lacks}

    def build(self, contenders: Sequence[Contender], say: Say) -> tuple[dict[str, float], dict[str, str]]:
        from nsb.session import run as session

        lacking = {each.id: "; ".join(lacks) for each in contenders if (lacks := self._work.provide(self._work.needs(each), say))}
        services = dict.fromkeys(each.service for each in contenders if each.id not in lacking)
        seconds, failed = session.build(self._work, list(services), say)
        return seconds, {**lacking, **{each.id: failed[each.service] for each in contenders if each.service in failed}}

    def k6(self, say: Say) -> Path:
        from nsb.session import run as session

        return k6.ensure(self._work.root, session.go(self._work), say)

    def stage(
        self, profile: Profile, workers: int, contenders: Sequence[Contender], folder: Path, database_url: str | None, say: Say
    ) -> AbstractContextManager[Stage]:
        from nsb.session import run as session

        return session.stage(self._work, profile, workers, len(contenders), folder, database_url, say)

    def standing(self, plan: Plan) -> dict[str, Any]:
        from nsb.session import run as session

        return {**session.standing(plan, self._work, self.name), "tools": session.tools_used(plan, self._work)}

    def facts(self) -> dict[str, Any]:
        return {"tools": {name: found.told for name, found in sorted(self._work.found.items())}}


class Compose:
    """Built by `docker compose build`, started as containers on the host's network; generator and harness stay on the host."""

    name = "compose"

    def __init__(self, work: Workshop, workers: int) -> None:
        """Raises engine.Absent where no container can run here."""
        self._work = work
        self.engine = engine.engine()
        self._project = f"nsb-{secrets.token_hex(4)}"
        self.config = engine.resolved(work.root, self._project, workers)
        lacking = [name for name in (DATABASE, UPSTREAM) if name not in self.config["services"]]
        if lacking:
            raise Absent(f"compose.yaml has no service {' and no '.join(lacking)}; {composing.NATIVE_WORKS}")
        self._images: dict[str, dict[str, Any]] = {}
        self._made: list[str] = []
        """Images that were not there before this run."""
        self._limit_mib = 0
        self._contenders: list[str] = []

    def runnable(self, contenders: Sequence[Contender]) -> tuple[list[str], dict[str, str]]:
        why = {each.id: composing.without_service(self.config, _service(each)) for each in contenders}
        return [name for name, reason in why.items() if reason is None], {
            name: reason for name, reason in why.items() if reason is not None
        }

    def build(self, contenders: Sequence[Contender], say: Say) -> tuple[dict[str, float], dict[str, str]]:
        seconds: dict[str, float] = {}
        failed: dict[str, str] = {}
        for service in (DATABASE, UPSTREAM):
            seconds |= self._built(str(self.config["services"][service]["image"]), say)
        for each in contenders:
            name = str(self.config["services"][_service(each)]["image"])
            if name in failed:
                continue
            try:
                seconds |= self._built(name, say)
            except (BuildError, ProcessError) as error:
                failed[name] = str(error)
        return seconds, {
            each.id: failed[image] for each in contenders if (image := self.config["services"][_service(each)]["image"]) in failed
        }

    def _built(self, image: str, say: Say) -> dict[str, float]:
        """Builds it where compose.yaml says how, else fetches it; once. Raises BuildError or ProcessError."""
        if image in self._images:
            return {}
        service, seconds = composing.builder_of(self.config, image), {}
        if service is not None:
            if not engine.is_there(image):
                self._made.append(image)
            seconds[service] = round(engine.build(self._work.root, service, self._log(service), say), 1)
        self._images[image] = engine.image(image, say)
        return seconds

    def _log(self, service: str) -> Path:
        return self._work.root / ".tools" / "built" / f"compose-{service}.log"

    def k6(self, say: Say) -> Path:
        """By the host's Go, or out of an image where there is none."""
        if "go" in self._work.found:
            return k6.ensure(self._work.root, self._work.found["go"].path, say)
        self._taken("generator", generator.program_file(self._work.root), say)
        program = k6.pinned(self._work.root)
        if not program.exists():
            self._taken("k6", program, say)
        return program

    def _taken(self, service: str, program: Path, say: Say) -> None:
        if service not in self.config["services"]:
            raise Refused(f"{service} runs on the host and is built with Go. {self._work.missing['go'].sentence}")
        image = str(self.config["services"][service]["image"])
        self._built(image, say)
        unfinished = program.with_suffix(".copied")
        engine.taken_out(self._images[image]["Id"], str(self._images[image]["Config"]["Entrypoint"][0]), unfinished)
        unfinished.rename(program)

    @contextlib.contextmanager
    def stage(
        self, profile: Profile, workers: int, contenders: Sequence[Contender], folder: Path, database_url: str | None, say: Say
    ) -> Iterator[Stage]:
        from nsb.measure import containers
        from nsb.session import run as session

        connections = session.connections_of(len(contenders))
        place, port = host.placement(profile), free_port()
        services = list(dict.fromkeys(_service(each) for each in contenders))
        reserves = {_service(each): each.reserve_mib(workers) for each in contenders}
        self._contenders, self._limit_mib = services, composing.memory_mib(self.config, reserves)
        given = Conditions(
            cores=ALL_CORES,
            nofile=host.raise_limits(),
            memory_mib=self._limit_mib,
            images={name: image["Id"] for name, image in self._images.items()},
            database=containers.database_arguments(connections, port),
        )
        own_cores = os.sched_getaffinity(0)
        stack = contextlib.ExitStack()
        stack.callback(lambda: engine.remove_images(self._made))
        try:
            project = stack.enter_context(
                containers.Project(self._project, composing.measured(self.config, services, given), folder / "compose.json")
            )
            server, container = self._database(project, port, connections, folder, database_url, say)
            stack.callback(server.close)
            if container is not None:
                container.container.pin(place.database)
            upstream, url = stack.enter_context(containers.upstream(project, place.upstream, folder / "logs"))
            stack.callback(os.sched_setaffinity, 0, own_cores)
            os.sched_setaffinity(0, place.generator)  # the harness is no guest on the service's core
            yield containers.ContainerStage(
                self._work,
                place,
                workers,
                server,
                upstream,
                url,
                folder / "logs",
                project=project,
                given={_service(each): self._given(each) for each in contenders},
                limit_mib=self._limit_mib,
                database_container=None if container is None else container.container,
            )
        finally:
            with undisturbed():
                stack.close()

    def _database(
        self, project: Project, port: int, connections: int, folder: Path, url: str | None, say: Say
    ) -> tuple[Server, DatabaseContainer | None]:
        from nsb.measure.containers import DatabaseContainer
        from nsb.measure.database import private_server, provide
        from nsb.measure.database_private import title

        if url is not None:
            return provide(url, folder / "database", self._work.root, connections, say), None
        say(f"starting {self.config['services'][DATABASE]['image']}")
        container = DatabaseContainer(project, port, folder / "logs")
        server = private_server(container, connections)
        say(f"database: {title(server.kind)} {server.version} at {server.host}:{server.port}, in a container")
        return server, container

    def _given(self, contender: Contender) -> dict[str, str | None]:
        from nsb.measure import containers

        service = self.config["services"][_service(contender)]
        own = dict(pair.split("=", 1) for pair in self._images[service["image"]]["Config"].get("Env") or [] if "=" in pair)
        given = {**own, **containers.BY_ENGINE, **composing.declared(service, contender.environment)}
        return {name: value for name, value in given.items() if name not in containers.SAME}

    def standing(self, plan: Plan) -> dict[str, Any]:
        from nsb.session import run as session

        return {**session.standing(plan, self._work, self.name), "tools": self._tools()}

    def _tools(self) -> dict[str, str]:
        go = {"go": self._work.found["go"].version} if "go" in self._work.found else {}
        return {**go, "docker": self.engine.version, "docker compose": self.engine.compose}

    def facts(self) -> dict[str, Any]:
        """What else stands between the programs and the machine."""
        services = [*self._contenders, DATABASE, UPSTREAM]
        used = {name: self._images[self.config["services"][name]["image"]] for name in services}
        return {
            "tools": self._tools(),
            "images": {name: image["Id"] for name, image in used.items()},
            "containers": {
                **self.engine.as_facts(),
                "network": "host",
                "generator": "on the host",
                "memory_limit_mib": self._limit_mib,
                "image_environment": {name: sorted(image["Config"].get("Env") or []) for name, image in used.items()},
                "digests": {name: digests for name, image in used.items() if (digests := image.get("RepoDigests"))},
            },
        }


def _service(contender: Contender) -> str:
    """The service of compose.yaml: a twin is its original under another name."""
    return contender.twin_of or contender.id
