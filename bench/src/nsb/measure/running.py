"""A started contender: from the wait until it is ready to what is in flight when its load is over. Effects only."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass, field
from typing import Any

import httpx

from nsb.errors import Failure
from nsb.measure.client import HTTP, StatsReader
from nsb.measure.database import Server
from nsb.measure.process import Program
from nsb.records.manifest import Manifest
from nsb.registry.contenders import Contender
from nsb.registry.scenario import Scenario

DRAIN_S = 5.0
"""How long the requests under way may take when the load has ended (s)."""
READY_S, COMPUTING_READY_S = 60.0, 300.0
"""How long a service may take to start (s); the second where it still computes."""
LOOK_S, COMPUTES = 10.0, 0.1
"""One that starts late is looked at so often (s); it still computes if it used this share of a core since the look before."""


class Died(Failure):
    """A service ended (exit_code) or does not get ready (None); the message quotes its last words."""

    def __init__(self, sentence: str, exit_code: int | None, words: str) -> None:
        super().__init__(f"{sentence}: {words}" if words else sentence)
        self.exit_code = exit_code
        self.words = words


@dataclass
class Running:
    """A started contender: its process, where it answers, what it says of itself."""

    contender: Contender
    process: Program
    base_url: str
    runtime: dict[str, Any] = field(default_factory=dict)
    ready_s: float = 0.0
    ended_before: int | None = None
    """The exit code of the process before it, where that one had ended by itself in this round."""
    manifest: Manifest | None = None
    """What it has in effect, read once it is warm."""
    ready_cpu_s: float = 0.0
    ready_mib: float = 0.0
    warm_for: str | None = None
    """The cost scenario that it was warmed for last."""
    warmed_us: dict[str, float] = field(default_factory=dict)
    """Of each cost row that was visited: what a request of it cost at full load when the warm-up ended (CPU µs)."""
    bursts: list[float] = field(default_factory=list)
    """CPU µs per request of each half of each burst that warmed it for that one."""
    ladder: str | None = None
    """The scenario that it was warmed with alone; None: it serves all that have no levels."""

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def age_s(self) -> float:
        """Since its exec."""
        return time.monotonic() - self.process.began

    @property
    def port(self) -> int:
        return int(self.base_url.rsplit(":", 1)[1])

    @property
    def prepares(self) -> bool:
        """Whether it says that its statements are prepared (C61)."""
        return bool(self.runtime.get("settings", {}).get("db_statements") == "prepared")

    @property
    def stderr_tail(self) -> str:
        return self.process.last_words(20)

    def ask(self) -> None:
        """Read /runtime. Raises Died where it does not say what the contract demands (C3)."""
        try:
            self.runtime = HTTP.get(f"{self.base_url}/runtime", timeout=10).json()
            int(self.runtime["workers"]), int(self.runtime["pool_size"])
        except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
            raise Died(f"{self.contender.id} does not say what it is (/runtime): {error!r}", None, "") from None

    def stop(self) -> int:
        return self.process.end()

    def signal(self, number: int) -> None:
        self.process.signal(number)


class StartLimit:
    """Says when a program has had enough time to start. A JVM that starts beside others on a slow machine takes minutes, and computes."""

    def __init__(self, program: Program, deadline_s: float = READY_S, computing_s: float = COMPUTING_READY_S) -> None:
        self._program = program
        self._began = self._looked = time.monotonic()
        self._until, self._longest = self._began + deadline_s, self._began + computing_s
        self._used_s = 0.0

    def over(self) -> float | None:
        """How long it has had (s); None while that is not enough."""
        now = time.monotonic()
        if now <= self._until:
            return None
        before_s, self._used_s = self._used_s, self._program.gauge().cpu_s()
        if now > self._longest or self._used_s - before_s < COMPUTES * (now - self._looked):
            return now - self._began
        self._looked, self._until = now, now + LOOK_S
        return None


def wait_ready(running: Running, path: str, limit: StartLimit) -> None:
    """Raises Died where the process ends or `path` does not answer 200 in time."""
    while True:
        code = running.process.exit_code
        if code is not None:
            words = running.process.last_words()
            raise Died(f"{running.contender.id} ended with {code} before it was ready", code, words)
        with contextlib.suppress(httpx.HTTPError):
            if HTTP.get(running.base_url + path, timeout=3).status_code == 200:
                return
        if (had_s := limit.over()) is not None:
            words = running.process.last_words()
            raise Died(f"{running.contender.id} was not ready within {had_s:.0f} s ({path})", None, words)
        time.sleep(_pause_s(running.age_s))


def wait_pool(running: Running, database: Server, deadline_s: float = 20.0) -> bool:
    """Waits until the declared pool is open (C60); whether it is by the deadline."""
    until = time.monotonic() + deadline_s
    wanted = int(running.runtime.get("pool_size", 0))
    while not (opened := database.connections(running.contender.id) >= wanted) and time.monotonic() < until:
        time.sleep(_pause_s(running.age_s))
    return opened


def _pause_s(waited_s: float) -> float:
    """Until the next look at something that is waited for: a few percent of what is measured, and no load on the one who is starting."""
    return min(0.1, max(0.005, 0.03 * waited_s))


def drain(running: Running, deadline_s: float) -> bool:
    """Waits until nothing is in flight any more; False where /stats had no answer in all that time."""
    reader = StatsReader(running.base_url)
    until = time.monotonic() + deadline_s
    answered = False
    try:
        while time.monotonic() < until and running.process.exit_code is None:
            seen = reader.now()
            answered = answered or seen is not None
            if seen is not None and seen.in_flight == 0:
                break
            time.sleep(0.05)
    finally:
        reader.close()
    return answered


def lost(running: Running, scenario: Scenario, workers: int) -> str | None:
    """Why a service that was under load is of no more use: it ended or hangs. It is ended then, and started again for its next cell.

    One whose workers may be blocked answers /stats when what is queued before it has been served: slow is not hanging.
    """
    patience_s = DRAIN_S + scenario.queue_s(running.contender, workers)
    answered = scenario.holding or drain(running, patience_s)  # what it held may be in flight for long yet
    code = running.process.exit_code
    if code is not None:
        why = f"the service ended with {code}: {running.process.last_words()}"
    elif not answered:
        stopped = "somebody stopped it (SIGSTOP)" if running.process.stopped else "it hangs"
        why = f"{stopped}: /stats had no answer for {patience_s:.0f} s after the load"
    else:
        return None
    running.process.end(0)  # its workers may be there still
    return why
