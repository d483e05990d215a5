"""The container engine of this machine, compose.yaml as it is understood, and images: what `doctor` and a build ask of docker. Effects."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import re
import secrets
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from nsb.measure.patience import every
from nsb.measure.process import ProcessError, run
from nsb.measure.tools import BuildError, end_of
from nsb.registry import compose as composing
from nsb.registry.compose import NATIVE_WORKS, Engine

ANSWER_S = 120
"""How long the engine may take for one thing (s)."""
PROFILES = ("--profile", "all", "--profile", "others", "--profile", "tools")


class Absent(Exception):
    """No container can run on this machine; the message says why, and what to do."""


def docker(*arguments: str, environment: Mapping[str, str] | None = None, deadline_s: float = ANSWER_S, folder: Path | None = None) -> str:
    """What docker prints. In a session of its own, so that a second Ctrl-C does not cut off cleaning up. Raises ProcessError."""
    try:
        done = subprocess.run(
            ["docker", *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL, start_new_session=True,
            timeout=deadline_s, env=None if environment is None else dict(environment), cwd=folder,
        )  # fmt: skip
    except OSError as error:
        raise ProcessError(f"docker cannot be started: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise ProcessError(f"docker {arguments[0]} has not ended within {deadline_s:.0f} s: is the engine alive?") from None
    if done.returncode != 0:
        raise ProcessError(f"docker {arguments[0]}: {_told(done.stderr) or f'ended with {done.returncode}'}")
    return done.stdout.strip()


def _told(text: str) -> str:
    """The last lines of what a command complained, in one."""
    return " ".join(line.strip() for line in text.strip().splitlines()[-3:])


def parts() -> list[tuple[str, str]]:
    """docker and its compose plugin, each with its version or what mends its absence."""

    def told(version: Callable[[], str]) -> str:
        try:
            return version()
        except Absent as error:
            return str(error)

    return [("docker", told(lambda: str(_info()["ServerVersion"]))), ("compose", told(_compose))]


def _info() -> dict[str, Any]:
    """What the engine says of itself. Raises Absent."""
    if shutil.which("docker") is None:
        raise Absent(f"docker is not on PATH: install Docker Engine with the compose plugin (docs.docker.com/engine); {NATIVE_WORKS}")
    try:
        answered = json.loads(docker("info", "--format", "{{json .}}", deadline_s=20))
    except (ProcessError, ValueError) as error:
        raise Absent(f"the Docker engine does not answer ({error}): start it, or see whether you may use it; {NATIVE_WORKS}") from None
    if not answered.get("ServerVersion"):  # the client alone answers, with what it lacks
        why = _told(" ".join(answered.get("ServerErrors") or []))
        raise Absent(f"the Docker engine does not answer ({why}): start it, or see whether you may use it; {NATIVE_WORKS}")
    found: dict[str, Any] = answered
    return found


def _compose() -> str:
    """The plugin's version. Raises Absent."""
    try:
        compose = json.loads(docker("compose", "version", "--format", "json", deadline_s=20))["version"]
    except (ProcessError, ValueError, KeyError):
        raise Absent(
            f"docker has no compose plugin: install docker-compose-plugin {composing.LEAST_COMPOSE} or newer; {NATIVE_WORKS}"
        ) from None
    return str(compose).removeprefix("v")


def engine() -> Engine:
    """The engine that docker talks to. Raises Absent where there is none, or where its containers cannot be measured."""
    answered, compose = _info(), _compose()
    found = Engine(
        version=answered["ServerVersion"],
        compose=compose,
        system=answered.get("OSType", ""),
        product=answered.get("OperatingSystem", ""),
        kernel=answered.get("KernelVersion", ""),
        cgroup=str(answered.get("CgroupVersion", "")),
        rootless=any("rootless" in option for option in answered.get("SecurityOptions") or []),
    )
    why_not = composing.unfit(found, platform.release())
    if why_not is not None:
        raise Absent(why_not)
    return found


def resolved(root: Path, project: str, workers: int) -> dict[str, Any]:
    """compose.yaml with all its services, as compose itself understands it. Raises Absent."""
    file = root / "compose.yaml"
    if not file.is_file():
        raise Absent(f"there is no compose.yaml in {root}; {NATIVE_WORKS}")
    environment = {**os.environ, "WORKERS": str(workers)}
    try:
        text = docker("compose", "-p", project, "-f", str(file), *PROFILES, "config", "--format", "json", environment=environment)
    except ProcessError as error:
        raise Absent(f"compose.yaml is not understood ({error}); {NATIVE_WORKS}") from None
    found: dict[str, Any] = json.loads(text)
    return found


# --- images ----------------------------------------------------------------------------------------------------------


def build(root: Path, service: str, log: Path, say: Callable[[str], None]) -> float:
    """`docker compose build`, step by step told; the seconds it took. Raises BuildError with its last lines."""
    log.parent.mkdir(parents=True, exist_ok=True)
    log.unlink(missing_ok=True)
    began = time.monotonic()
    say(f"{service}: docker compose build")
    command = ["docker", "compose", "-f", str(root / "compose.yaml"), *PROFILES, "--progress", "plain", "build", service]
    with _following(log, lambda step: say(f"{service}: {step}")):
        code = run(f"{service}-build", command, log, dict(os.environ), root)
    if code != 0:
        raise BuildError(f"{service}: `docker compose build {service}` ended with {code}{end_of(log)}")
    return time.monotonic() - began


STEP = re.compile(r"^#\d+ (\[[^\]]*\d+/\d+\] .*)$")
"""A step of a Dockerfile as BuildKit's plain progress tells it: `#9 [build 4/6] RUN go mod download`."""


def _following(log: Path, say: Callable[[str], None]) -> AbstractContextManager[None]:
    """Tells each step of a build when it begins, but for those of a build that is over at once: they came from the cache."""
    told: set[str] = set()

    def follow() -> None:
        with contextlib.suppress(OSError):
            for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
                step = STEP.match(line)
                if step and step[1] not in told:
                    told.add(step[1])
                    say(step[1][:110])

    return every(2, follow)


def image(name: str, say: Callable[[str], None]) -> dict[str, Any]:
    """What docker knows of an image, which is fetched where it is not there. Raises ProcessError."""
    try:
        text = docker("image", "inspect", name)
    except ProcessError:
        say(f"fetching {name} (once)")
        docker("pull", "--quiet", name, deadline_s=1800)
        text = docker("image", "inspect", name)
    found: dict[str, Any] = json.loads(text)[0]
    return found


def is_there(name: str) -> bool:
    with contextlib.suppress(ProcessError):
        return bool(docker("image", "inspect", name))
    return False


def remove_images(names: Sequence[str]) -> None:
    """By their names; one that somebody uses meanwhile stays. The layers stay in the build cache: the next build is a matter of seconds."""
    for name in names:
        with contextlib.suppress(ProcessError):
            docker("image", "rm", name)


def taken_out(image_id: str, path: str, into: Path) -> None:
    """A static program of an image, as a file of this machine. Raises ProcessError."""
    name = f"nsb-copy-{secrets.token_hex(4)}"
    docker("create", "--name", name, image_id)
    try:
        into.parent.mkdir(parents=True, exist_ok=True)
        docker("cp", f"{name}:{path}", str(into))
    finally:
        docker("rm", "--force", "--volumes", name)
