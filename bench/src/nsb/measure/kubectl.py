"""Asks a cluster through kubectl's own command line, and leads local ports to its pods. Effects only."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nsb.measure.process import Process, ProcessError, free_port
from nsb.registry.cluster import RELAY_PORT

ANSWER_S = 60.0
"""How long a cluster may take for one thing (s)."""
FIRST_ANSWER_S = 10.0
"""How long it may take until it says anything at all (s)."""
FORWARD_S = 20.0
"""How long a local port may take until it leads somewhere (s)."""
GONE = "(NotFound)"
"""How kubectl says that an object is not there."""


class Kubectl:
    """One context of the user's configuration, and one namespace of its cluster."""

    def __init__(self, context: str | None, namespace: str) -> None:
        self.namespace = namespace
        self._context = [] if context is None else ["--context", context]

    def command(self, *arguments: str) -> list[str]:
        return ["kubectl", *self._context, *arguments]

    def text(self, *arguments: str, given: str | None = None, deadline_s: float = ANSWER_S) -> str:
        """What kubectl prints. In a session of its own, so that a second Ctrl-C does not cut off cleaning up. Raises ProcessError."""
        done = self._done(arguments, given, deadline_s)
        if done.returncode != 0:
            said = " ".join(line.strip() for line in done.stderr.strip().splitlines()[-3:])
            raise ProcessError(f"kubectl {arguments[0]}: {said or f'ended with {done.returncode}'}")
        return done.stdout

    def _done(self, arguments: Sequence[str], given: str | None, deadline_s: float) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                self.command(*arguments), capture_output=True, text=True, errors="replace", input=given or "",
                start_new_session=True, timeout=deadline_s,
            )  # fmt: skip
        except OSError as error:
            raise ProcessError(
                f"kubectl cannot be started ({error.strerror}): install it (kubernetes.io/docs/tasks/tools), of the cluster's version"
            ) from None
        except subprocess.TimeoutExpired:
            raise ProcessError(f"kubectl {arguments[0]} has not ended within {deadline_s:.0f} s: does the cluster answer?") from None

    def own(self, *arguments: str, given: str | None = None, deadline_s: float = ANSWER_S) -> str:
        """The same in the namespace."""
        return self.text(*arguments, "--namespace", self.namespace, given=given, deadline_s=deadline_s)

    def found(self, *arguments: str) -> Any:
        """What it prints as JSON, in the namespace. Raises ProcessError."""
        return json.loads(self.own(*arguments, "--output", "json"))

    def nodes(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.text("get", "nodes", "--output", "json"))["items"]
        return found

    def allows(self, verb: str, what: str) -> bool:
        """Whether the user may do that in the namespace; `what` is a kind, or one of its parts behind a slash.

        Raises ProcessError where the cluster does not say.
        """
        kind, _, part = what.partition("/")
        asked = ["auth", "can-i", verb, kind, *([f"--subresource={part}"] if part else []), "--namespace", self.namespace]
        done = self._done(asked, None, ANSWER_S)
        if (said := done.stdout.strip().partition(" ")[0]) not in ("yes", "no"):
            raise ProcessError(f"kubectl auth can-i: {' '.join(done.stderr.split()[-30:])}")
        return said == "yes"

    def make(self, *objects: Mapping[str, Any]) -> dict[str, Any]:
        """Creates them; the first one as the cluster has it then. Raises ProcessError."""
        given = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
        text = self.own("create", "--filename", "-", "--output", "json", given=given)
        made: dict[str, Any] = json.JSONDecoder().raw_decode(text.lstrip())[0]
        return made["items"][0] if made["kind"] == "List" else made

    def pod(self, name: str) -> dict[str, Any] | None:
        """None where it is not there (any more). Raises ProcessError."""
        try:
            found: dict[str, Any] = self.found("get", "pod", name)
            return found
        except ProcessError as error:
            if GONE in str(error):
                return None
            raise

    def logs(self, pod: str, container: str, last_s: float | None = None, lines: int | None = None) -> str:
        """What a container has written, the last so many seconds or lines of it. Raises ProcessError."""
        since = [] if last_s is None else [f"--since={max(1, round(last_s))}s"]
        tail = [] if lines is None else [f"--tail={lines}"]
        return self.own("logs", pod, "--container", container, *since, *tail)

    def remove(self, *arguments: str, wait_s: float = 0.0) -> None:
        """Deletes what the arguments name, if it is there; returns when it is gone, or after so long. Raises ProcessError."""
        waits = ["--wait=false"] if wait_s == 0 else ["--wait=true", f"--timeout={wait_s:.0f}s"]
        self.own("delete", *arguments, "--ignore-not-found", *waits, deadline_s=wait_s + ANSWER_S)


class Forward:
    """A port of this machine that leads to one of a pod, through the relay in its reader."""

    def __init__(self, kubectl: Kubectl, pod: str, log: Path) -> None:
        """Raises ProcessError where it leads nowhere."""
        self.port = free_port()
        ports = f"{self.port}:{RELAY_PORT}"
        command = kubectl.command("port-forward", "--namespace", kubectl.namespace, f"pod/{pod}", ports)
        self._process = Process("port-forward", command, log, dict(os.environ))
        until = time.monotonic() + FORWARD_S
        while not self._listens():
            if self._process.exit_code is not None or time.monotonic() > until:
                said = self._process.last_words(3)
                self.close()
                raise ProcessError(f"kubectl port-forward to {pod} does not come about: {said}")
            time.sleep(0.05)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def close(self) -> None:
        self._process.end(0)

    def _listens(self) -> bool:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
            return True
        return False
