"""Finds the programs that services need, builds services, and says what a machine lacks."""

from __future__ import annotations

import glob
import hashlib
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nsb.model import Registry, Service, Tool
from nsb.running.process import ProcessError, run


class BuildError(Exception):
    """A build failed; the message quotes its last lines."""


@dataclass(frozen=True)
class Found:
    path: str
    version: str


@dataclass(frozen=True)
class Missing:
    sentence: str


def version_tuple(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def find(name: str, tool: Tool, environment: Mapping[str, str] = os.environ) -> Found | Missing:
    """The first candidate that runs and is new enough."""
    seen: list[str] = []
    for path in _candidates(tool.candidates, environment):
        version = _version(path, tool)
        if version is None:
            continue
        if version_tuple(version) >= version_tuple(tool.least):
            return Found(path, version)
        seen.append(f"{path} is {version}")
    why = f"too old: {'; '.join(seen)}" if seen else "not found"
    return Missing(f"{name} {tool.least} or newer: {why}; {tool.install}")


def _candidates(candidates: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    paths: list[str] = []
    for candidate in candidates:
        text = re.sub(r"\$(\w+)", lambda match: environment.get(match[1], ""), candidate)
        if candidate.startswith("$") and text.startswith("/bin/"):
            continue  # the variable is not set
        if "/" not in text:
            found = shutil.which(text, path=environment.get("PATH"))
            paths += [found] if found else []
        else:
            paths += sorted(glob.glob(os.path.expanduser(text)), reverse=True)  # noqa: PTH207, PTH111
    return paths


def _version(path: str, tool: Tool) -> str | None:
    try:
        done = subprocess.run([path, *tool.version_arguments], capture_output=True, text=True, timeout=20, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(tool.version_pattern, done.stdout + done.stderr)
    return match[1] if match and done.returncode == 0 else None


@dataclass(frozen=True)
class Workshop:
    """Where services are built and what they are built with."""

    root: Path
    registry: Registry
    found: dict[str, Found]
    missing: dict[str, Missing]

    def lacks(self, service: Service) -> list[str]:
        """A sentence for each tool that the service needs and the machine has not."""
        return [self.missing[tool].sentence for tool in service.needs if tool in self.missing]

    def fill(self, command: Sequence[str], service: Service, workers: int = 1) -> list[str]:
        """A command of contenders.toml with its placeholders filled."""
        values = {"root": str(self.root), "folder": str(self.root / service.folder), "workers": str(workers)}
        for name, tool in self.found.items():
            values[f"tool.{name}"] = tool.path
            values[f"home.{name}"] = str(Path(tool.path).resolve().parent.parent)
        return [_fill(part, values) for part in command]

    def environment(self, service: Service) -> dict[str, str]:
        values = self.fill(list(service.build_environment.values()), service)
        return {**os.environ, **dict(zip(service.build_environment, values, strict=True))}

    def build(self, name: str, log: Path, say: Callable[[str], None]) -> float:
        """Build a service by its own tools; returns the seconds it took. Nothing is skipped: the tools know what is up to date.

        Raises BuildError.
        """
        return self.run_steps(name, self.registry.services[name].build, log, say)

    def run_steps(self, name: str, steps: Sequence[Sequence[str]], log: Path, say: Callable[[str], None]) -> float:
        service = self.registry.services[name]
        log.parent.mkdir(parents=True, exist_ok=True)
        began = time.monotonic()
        for step in steps:
            command = self.fill(step, service)
            say(f"{name}: {' '.join([Path(command[0]).name, *command[1:]])}")
            try:
                code = run(name, command, log, self.environment(service), self.root / service.folder)
            except ProcessError as error:
                raise BuildError(str(error)) from None
            if code != 0:
                tail = "\n".join(log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-25:])
                raise BuildError(f"{name}: `{' '.join(step)}` ended with {code}; the end of {log}:\n{tail}")
        return time.monotonic() - began

    def fingerprint(self, service: Service) -> str:
        """A hash of what the service is built from: files that git tracks or would track, and the versions of its tools."""
        digest = hashlib.sha256()
        for path in [path for folder in (service.folder, *service.sources) for path in sources(self.root, folder)]:
            digest.update(f"{path}\0".encode())
            digest.update((self.root / path).read_bytes())
        for tool in service.needs:
            digest.update(f"{tool} {self.found[tool].version}\0".encode() if tool in self.found else b"-")
        return digest.hexdigest()


def sources(root: Path, folder: str) -> list[str]:
    """The files below `folder` that git tracks or would track, sorted, as paths from `root`. Raises BuildError without git."""
    if shutil.which("git") is None:
        raise BuildError("git is not on PATH: the harness needs it to know what has changed (Debian: apt-get install git)")
    done = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", folder],
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise BuildError(f"git does not list the files of {folder}/: {done.stderr.strip()}; the harness needs a git checkout")
    return sorted(path for path in done.stdout.split("\0") if path and (root / path).is_file())


def _fill(text: str, values: Mapping[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        if match[1] not in values:
            raise BuildError(f"contenders.toml: the placeholder {match[0]} has no value")
        return values[match[1]]

    return re.sub(r"\{([\w.-]+)\}", value, text)


def workshop(root: Path, registry: Registry) -> Workshop:
    """Looks for every tool of the registry."""
    looked = {name: find(name, tool) for name, tool in registry.tools.items()}
    return Workshop(
        root,
        registry,
        {name: result for name, result in looked.items() if isinstance(result, Found)},
        {name: result for name, result in looked.items() if isinstance(result, Missing)},
    )
