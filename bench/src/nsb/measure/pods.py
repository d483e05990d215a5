"""A pod with the interface of a started program, and what the reader in it tells. Effects only."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from nsb.measure.interrupt import ends, hurried, undisturbed
from nsb.measure.kubectl import Kubectl
from nsb.measure.process import Gauge, Limits, ProcessError, Tree
from nsb.records.used import Uses
from nsb.registry import podstate
from nsb.registry.cluster import READER

LOOK_S = 1.0
"""How old what is known of a pod may be: each look starts a program (s)."""
UNSCHEDULED_S = 20.0
"""How long a pod may wait for room on its node (s)."""


class Pod:
    """One started pod: what Process is for a process. Its processes cannot be reached: nothing is pinned, frozen or signalled."""

    pid = 0
    stopped = False
    given: Mapping[str, str | None] = {}

    def __init__(self, kubectl: Kubectl, document: Mapping[str, Any], log: Path) -> None:
        """Raises ProcessError where the cluster does not take it."""
        self.name = str(document["metadata"]["name"])
        self.log = log
        self.container = str(document["spec"]["containers"][0]["name"])
        self._kubectl = kubectl
        self._seen: dict[str, Any] | None = None
        self._seen_at = -LOOK_S
        self._over: podstate.Ended | None = None
        self.began = time.monotonic()
        self.ready_s = 0.0
        """From the start of its container, in whole seconds: so the cluster tells it."""
        log.parent.mkdir(parents=True, exist_ok=True)
        with undisturbed():
            kubectl.make(document)

    def wait(self, deadline_s: float) -> int | None:
        ends(lambda: self.exit_code is not None, deadline_s)
        return self.exit_code

    def wait_until_ready(self, deadline_s: float) -> None:
        """Raises ProcessError where it ends, cannot be started, or is not ready by then."""
        began = time.monotonic()
        while True:
            seen = self._look(0.0)
            if self._over is not None:
                words = self.last_words()
                raise ProcessError(f"{self.name} ended with {self._over.code} before it was ready{': ' if words else ''}{words}")
            assert seen is not None
            if podstate.is_ready(seen):
                self._set_out(seen)
                return
            why, waited_s = podstate.in_vain(seen), time.monotonic() - began
            if why is not None and (waited_s > UNSCHEDULED_S or not why.startswith("no node")):
                raise ProcessError(f"{self.name}: {why}")
            if waited_s > deadline_s:
                raise ProcessError(f"{self.name} was not ready within {deadline_s:.0f} s: {why or self.last_words()}")
            time.sleep(0.3)

    def _set_out(self, seen: Mapping[str, Any]) -> None:
        """It began when its container did, by the node's clock, which tells seconds."""
        self.ready_s = podstate.ready_s(seen)
        at = podstate.started_at(seen)
        if at is not None:
            self.began = time.monotonic() - max(0.0, time.time() - datetime.fromisoformat(at).timestamp())

    @property
    def ip(self) -> str:
        seen = self._look(LOOK_S)
        return "" if seen is None else str(seen["status"].get("podIP", ""))

    @property
    def node(self) -> str:
        seen = self._look(LOOK_S)
        return "" if seen is None else str(seen["spec"].get("nodeName", ""))

    @property
    def image_id(self) -> str:
        seen = self._look(LOOK_S)
        return "" if seen is None else next((str(each["imageID"]) for each in seen["status"].get("containerStatuses", [])), "")

    @property
    def exit_code(self) -> int | None:
        self._look(LOOK_S)
        return None if self._over is None else self._over.code

    def _look(self, age_s: float) -> dict[str, Any] | None:
        """What the cluster knows of it, or knew last where that is not older. Raises ProcessError where the cluster does not answer."""
        if self._over is None and time.monotonic() - self._seen_at >= age_s:
            self._seen = self._kubectl.pod(self.name)
            self._seen_at = time.monotonic()
            self._over = podstate.ended(self._seen, self.name)
        return self._seen

    def uses(self, last_s: float | None = None) -> Uses:
        """What its reader told, of the last so many seconds. Raises ProcessError where the log cannot be had, and Untold."""
        return Uses.of(self._kubectl.logs(self.name, READER, last_s).splitlines())

    def last_words(self, lines: int = 5) -> str:
        words: list[str] = []
        with contextlib.suppress(ProcessError):
            words = self._kubectl.logs(self.name, self.container, lines=lines).strip().splitlines()
        if self._over is not None and self._over.why is not None:
            words.append(self._over.why)
        return "\n".join(words)

    def end(self, deadline_s: float = 10.0) -> int:
        """Has the cluster stop it (SIGTERM, SIGKILL after the deadline) and remove it, its words kept; in a hurry nobody waits for that.
        Returns the exit code; 0 where it was running: a pod that is removed leaves none."""
        code = self._over.code if self._over is not None else 0
        grace_s = 1 if hurried() else max(1, round(deadline_s))
        with contextlib.suppress(ProcessError, OSError):
            if not hurried():
                self.log.write_text(self._kubectl.logs(self.name, self.container, lines=100_000), encoding="utf-8")
            self._kubectl.remove("pod", self.name, f"--grace-period={grace_s}", wait_s=0 if hurried() else grace_s + 20)
        self._over = self._over or podstate.Ended(code, None)
        return code

    # What a process can and a pod cannot.

    def tree(self) -> list[int]:
        return []

    def gauge(self) -> Gauge:
        return Tree([])

    def limits(self) -> Limits:
        return Limits()

    def pin(self, cpus: Sequence[int]) -> None:
        """Its node decides."""

    def signal(self, number: int) -> None:
        raise ProcessError(f"no signal reaches the processes of the pod {self.name}")

    def freeze(self) -> None:
        """Nobody runs beside it."""

    def thaw(self) -> None:
        """It was not stopped."""
