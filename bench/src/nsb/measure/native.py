"""The stage of a run on this machine: what contenders stand on, and how they are started as processes. Effects only."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from nsb.measure.database import Server
from nsb.measure.process import Gauge, Process, ProcessError, Program, Tree, free_port, port_is_free
from nsb.measure.running import Died, Running, StartLimit, wait_ready
from nsb.measure.tools import Workshop
from nsb.measure.upstream import upstream, upstream_file
from nsb.registry.contenders import Contender
from nsb.registry.placement import Placement

PORTS_TRIED = 3
"""Another program may take a port between our look and the service's bind."""


@dataclass(frozen=True)
class Stage:
    """What every contender of a run stands on."""

    workshop: Workshop
    placement: Placement
    workers: int
    database: Server
    upstream: Program
    upstream_url: str
    logs: Path
    runner: ClassVar[str] = "native"
    _database_urls: dict[str, str] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def database_url(self, contender: Contender) -> str:
        """Made once: the conformance suite starts services from several threads, and a second call sets a new password."""
        with self._lock:
            if contender.id not in self._database_urls:
                self._database_urls[contender.id] = self.database.user_url(contender.id)
            return self._database_urls[contender.id]

    def settings(self, contender: Contender, port: int) -> dict[str, str]:
        """The environment of a contender: the contract's settings (C50) and nothing of the user's that could steer it."""
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TZ", "TMPDIR") if name in os.environ}
        return {
            **kept,
            "HOST": "127.0.0.1",
            "PORT": str(port),
            "DATABASE_URL": self.database_url(contender),
            "DB_POOL_SIZE": "150",
            "UPSTREAM_URL": self.upstream_url,
            "WORKERS": str(self.workers),
            **contender.environment,
        }

    def program(self, contender: Contender, environment: Mapping[str, str], port: int) -> Program:
        """The contender's program, started. Raises ProcessError."""
        service = self.workshop.registry.services[contender.service]
        log = self.logs / f"{contender.id}-{port}.log"
        log.unlink(missing_ok=True)
        command = self.workshop.fill(contender.run, service, contender.workers(self.workers), contender.heap_mib)
        return Process(contender.id, command, log, environment, folder=self.workshop.root / service.folder)

    def null_server(self, logs: Path) -> AbstractContextManager[tuple[Program, str]]:
        """A second upstream on the service's cores, whose /hello does nothing, for the length of the block."""
        return upstream(upstream_file(self.workshop.root), self.placement.service, logs, "null-server")

    def database_gauge(self) -> Gauge:
        return Tree([] if self.database.pid is None else [self.database.pid])

    def beside(self) -> list[int]:
        """Processes of the run that need not be descendants of the harness."""
        return [] if self.database.pid is None else [self.database.pid]

    @property
    def nice(self) -> int:
        """The nice value with which contenders are started."""
        return os.getpriority(os.PRIO_PROCESS, 0)

    @property
    def memory_mib(self) -> int | None:
        """What each contender is limited to by its control group; None: by no group of its own."""
        return None

    def build_of(self, contender: Contender) -> str:
        """What tells one build of a contender from another, beside its sources."""
        return ""

    def start(
        self,
        contender: Contender,
        changes: Mapping[str, str] | None = None,
        wait_for: str | None = None,
        begun: Callable[[Program], None] = lambda _: None,
    ) -> Running:
        """Start a contender on a free port and wait until `wait_for` answers 200 (/readyz, where it has one and nothing else is asked for);
        `begun` gets its process before the wait.

        It may use all cores until it is warm: code compilers and class loaders are not what the windows measure.
        Raises Died where the process ends or is not ready in time.
        """
        wait_for = wait_for or ("/readyz" if "/readyz" in contender.endpoints else "/healthz")
        for left in reversed(range(PORTS_TRIED)):
            port = free_port()
            try:
                return self._start(contender, port, changes or {}, wait_for, begun)
            except Died as error:
                taken = error.exit_code is not None and "PORT" not in (changes or {}) and not port_is_free(port)
                if not taken or not left:
                    raise
        raise AssertionError("unreachable")

    def _start(
        self, contender: Contender, port: int, changes: Mapping[str, str], wait_for: str, begun: Callable[[Program], None]
    ) -> Running:
        environment = {**self.settings(contender, port), **changes}
        process = self.program(contender, environment, port)
        begun(process)
        asked = environment["PORT"]
        running = Running(contender, process, f"http://127.0.0.1:{asked if asked.isdecimal() else port}")
        try:
            wait_ready(running, wait_for, StartLimit(process))
        except BaseException:
            process.end(2)
            raise
        running.ready_s = running.age_s
        gauge = process.gauge()
        running.ready_cpu_s, running.ready_mib = gauge.cpu_s(), gauge.footprint().pss_mib
        return running

    def must_stand(self) -> None:
        """Raises DatabaseError or ProcessError where database or upstream has gone: what a contender does without them is not its doing."""
        code = self.upstream.exit_code
        if code is not None:
            raise ProcessError(f"the upstream ended in mid-run with {code}: {self.upstream.last_words()}")
        self.database.must_answer()
