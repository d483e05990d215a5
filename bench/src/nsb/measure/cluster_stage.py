"""What contenders stand on in a cluster: the objects of one run in one namespace, and the start of a contender as a pod. Effects only."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlsplit

from nsb.measure.database import Server
from nsb.measure.database_private import DatabaseError, Login, new_password
from nsb.measure.kubectl import Forward, Kubectl
from nsb.measure.pods import Pod
from nsb.measure.process import ProcessError
from nsb.measure.running import Running
from nsb.measure.tools import Workshop
from nsb.records.used import Untold
from nsb.registry import cluster
from nsb.registry.cluster import DATABASE_PORT, PORT, Mark, Overlay, Place, Wanted
from nsb.registry.contenders import Contender
from nsb.registry.contract import POOL_SIZE

READY_S = 120.0
"""A contender that is not ready by then is out: its image may have to come to the node first (s)."""
CLOCK_S = 0.1
"""By so much the cluster's clocks may differ from the harness's: windows open by one and are read by the other (s)."""
DATABASE_READY_S = 240.0
"""MySQL's image makes its data folder first, with a server of its own (s)."""


@dataclass
class Placed(Running):
    """A contender in a pod: `base_url` leads to it from this machine, `inside_url` from another pod."""

    inside_url: str = ""
    forward: Forward | None = None

    def stop(self) -> int:
        if self.forward is not None:
            self.forward.close()
        return self.process.end(15)


@dataclass(frozen=True)
class Cluster:
    """What every contender of a run stands on."""

    workshop: Workshop
    kubectl: Kubectl
    mark: Mark
    overlay: Overlay
    place: Place
    workers: int
    database: Server
    database_pod: Pod
    upstream: Pod
    upstream_url: str
    """For the harness."""
    logs: Path
    runner: ClassVar[str] = "kubernetes"
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def number(self) -> int:
        """Of the next object: no name is used twice."""
        return next(self._numbers)

    def settings(self, contender: Contender) -> dict[str, str]:
        """The contract's settings (C50), with addresses as pods see them."""
        own = urlsplit(self.database.user_url(contender.id))
        return {
            "HOST": "0.0.0.0",
            "PORT": str(PORT),
            "DATABASE_URL": f"mysql://{own.username}:{own.password}@{self.database_pod.ip}:{DATABASE_PORT}{own.path}",
            "DB_POOL_SIZE": str(POOL_SIZE),
            "UPSTREAM_URL": f"http://{self.upstream.ip}:{PORT}",
            "WORKERS": str(self.workers),
            **contender.environment,
        }

    def start(self, contender: Contender, changes: Mapping[str, str] | None = None, wait_for: str | None = None) -> Placed:
        """A contender that answers `wait_for` (/readyz, where it has one and nothing else is asked for). Raises ProcessError."""
        workload = self.overlay.deployment(contender.twin_of or contender.id)
        assert workload is not None
        name = f"{contender.id}-{self.number()}"
        ready = wait_for or ("/readyz" if "/readyz" in contender.endpoints else "/healthz")
        environment = {**self.settings(contender), **(changes or {})}
        wanted = Wanted(name, self.place.contender, self.place.whole, environment, ready, memory=True, relayed=PORT)
        pod = Pod(self.kubectl, cluster.pod(self.mark, workload, wanted), self.logs / f"{name}.log")
        try:
            pod.wait_until_ready(READY_S)
            forward = Forward(self.kubectl, pod.name, self.logs / f"{name}-forward.log")
        except BaseException:
            pod.end(2)
            raise
        running = Placed(contender, pod, forward.url, inside_url=f"http://{pod.ip}:{PORT}", forward=forward)
        running.ready_s = pod.ready_s
        try:
            now = pod.uses().now
        except Untold as error:
            running.stop()
            raise ProcessError(f"{pod.name}: {error}") from None
        running.ready_cpu_s, running.ready_mib = now.cpu_s, now.pss_mib or 0.0
        return running

    def must_stand(self) -> None:
        """Raises ProcessError or DatabaseError where a node is not as it was, or database or upstream have gone."""
        why = cluster.changed(self.place, self.kubectl.nodes())
        if why is not None:
            raise ProcessError(f"{why}: the run ends, since its figures would be of two clusters")
        if self.upstream.exit_code is not None:
            raise ProcessError(f"the upstream ended in mid-run with {self.upstream.exit_code}: {self.upstream.last_words()}")
        self.database.must_answer()


class DatabasePod:
    """MySQL in a pod: what PrivateServer is as a process."""

    pid = None
    clients = "%"
    """Contenders come from other addresses than the harness."""

    def __init__(self, kubectl: Kubectl, mark: Mark, overlay: Overlay, place: Place, logs: Path) -> None:
        self._password = new_password()
        self._logs = logs
        self._kubectl = kubectl
        self._forward: Forward | None = None
        given = {"MYSQL_ROOT_PASSWORD": self._password, "MYSQL_ROOT_HOST": "127.0.0.1"}
        wanted = Wanted("database", place.database, place.whole, given, relayed=DATABASE_PORT)
        self.pod = Pod(kubectl, cluster.database_pod(mark, overlay.component("database"), wanted), logs / "database.log")

    def ready(self) -> Login:
        """The administrator, once it is let in through its forwarded port: a startup probe would need an account of its own."""
        try:
            self.pod.wait_until_ready(DATABASE_READY_S)
            self._forward = Forward(self._kubectl, self.pod.name, self._logs / "database-forward.log")
        except ProcessError as error:
            raise DatabaseError(str(error)) from None
        login = Login("127.0.0.1", self._forward.port, "root", self._password)
        if not login.let_in(DATABASE_READY_S, self.must_run):
            raise DatabaseError(f"the database's pod did not answer within {DATABASE_READY_S:.0f} s: {self.pod.last_words(12)}")
        return login

    def must_run(self) -> None:
        """Raises DatabaseError where the server has ended by itself."""
        code = self.pod.exit_code
        if code is not None:
            raise DatabaseError(f"the database's pod ended with {code}: {self.pod.last_words(12)}")

    def remove(self) -> None:
        if self._forward is not None:
            self._forward.close()
        self.pod.end(1)
