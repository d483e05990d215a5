"""Finds the programs that services need, builds services, and says what a machine lacks."""

from __future__ import annotations

import glob
import hashlib
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from nsb.errors import Failure
from nsb.measure.patience import patience
from nsb.measure.process import ProcessError, run
from nsb.registry.contenders import Contender
from nsb.registry.contract import HEAP_MIB
from nsb.registry.load import Registry
from nsb.registry.services import Service, Tool, numbers, tools_named

LONGEST_STEP_S = 40 * 60.0
"""A build from nothing takes minutes: what has not ended by then hangs, and should be named before someone else's limit ends it all."""


class BuildError(Failure):
    """A build failed; the message quotes its last lines."""


@dataclass(frozen=True)
class Found:
    path: str
    version: str
    but: str = ""
    """What speaks against it, where no candidate is a preferred one."""

    @property
    def told(self) -> str:
        return f"{self.version}, {self.but}" if self.but else self.version


@dataclass(frozen=True)
class Missing:
    sentence: str


def find(name: str, tool: Tool, environment: Mapping[str, str] = os.environ, root: Path = Path()) -> Found | Missing:
    """The first candidate that runs and has a version that fits, a preferred one before others; {root} in a candidate is the repository."""
    seen: list[str] = []
    first: Found | None = None
    for path in _candidates(tool.candidates, environment, root):
        version = _version(path, tool)
        if version is None:
            continue
        if not _fits(numbers(version), tool):
            seen.append(f"{path} is {version}")
        elif not tool.prefer_arguments or _ends_well([path, *tool.prefer_arguments]):
            return Found(path, version)
        else:
            first = first or Found(path, version, tool.unpreferred)
    if first is not None:
        return first
    why = f"{'too old' if tool.most is None else 'not this one'}: {'; '.join(seen)}" if seen else "not found"
    wanted = f"{tool.least} or newer" if tool.most is None else " to ".join(dict.fromkeys([tool.least, tool.most]))
    return Missing(f"{name} {wanted}: {why}; {tool.install}")


def _fits(version: tuple[int, ...], tool: Tool) -> bool:
    most = numbers(tool.most) if tool.most is not None else version
    return version >= numbers(tool.least) and version[: len(most)] <= most


def _candidates(candidates: Sequence[str], environment: Mapping[str, str], root: Path) -> list[str]:
    paths: list[str] = []
    for candidate in candidates:
        text = re.sub(r"\$(\w+)", lambda match: environment.get(match[1], ""), candidate)
        text = text.replace("{root}", glob.escape(str(root)))
        if candidate.startswith("$") and text.startswith("/bin/"):
            continue  # the variable is not set
        if "/" not in text:
            found = shutil.which(text, path=environment.get("PATH"))
            paths += [found] if found else []
        else:
            paths += sorted(glob.glob(os.path.expanduser(text)), reverse=True)  # noqa: PTH207, PTH111
    return paths


def _ends_well(command: Sequence[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, timeout=20, stdin=subprocess.DEVNULL).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


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

    def needs(self, contender: Contender) -> list[str]:
        """The tools that build its service, and those that run it."""
        return list(dict.fromkeys([*self.registry.services[contender.service].needs, *contender.tools]))

    def lacks(self, needs: Iterable[str]) -> list[str]:
        """A sentence for each of the tools that the machine neither has nor can be given."""
        return [self.missing[tool].sentence for tool in needs if tool in self.missing and not self.can_fetch(tool)]

    def can_fetch(self, name: str) -> bool:
        """Whether a tool that is missing can be brought by what is here."""
        commands = self.registry.tools[name].fetch
        return bool(commands) and all(tool in self.found for tool in tools_named(commands))

    def provide(self, needs: Sequence[str], say: Callable[[str], None]) -> list[str]:
        """Fetches those of the tools that are missing; a sentence for each that is lacked then."""
        lacking = self.lacks(needs)
        for name in needs if not lacking else []:
            if name in self.missing:
                lacking += self._fetch(name, say)
        return lacking

    def _fetch(self, name: str, say: Callable[[str], None]) -> list[str]:
        tool = self.registry.tools[name]
        log = self.root / ".tools" / "built" / f"{name}.log"
        log.unlink(missing_ok=True)
        try:
            for step in tool.fetch:
                run_step(name, [_fill(part, self._values()) for part in step], log, say, os.environ, self.root)
        except BuildError as error:
            return [f"{self.missing[name].sentence}; or let it be fetched, which failed: {error}"]
        now = find(name, tool, root=self.root)
        if isinstance(now, Missing):
            return [f"{now.sentence}; what was fetched is none"]
        self.found[name] = now
        del self.missing[name]
        return []

    def fill(self, command: Sequence[str], service: Service, workers: int = 1, heap_mib: int = HEAP_MIB) -> list[str]:
        """A command of contenders.toml with its placeholders filled."""
        heap = f"{heap_mib // 1024}g" if heap_mib % 1024 == 0 else f"{heap_mib}m"
        values = {**self._values(), "folder": str(self.root / service.folder), "workers": str(workers), "heap": heap}
        return [_fill(part, values) for part in command]

    def _values(self) -> dict[str, str]:
        values = {"root": str(self.root)}
        for name, tool in self.found.items():
            values[f"tool.{name}"] = tool.path
            values[f"home.{name}"] = str(Path(tool.path).resolve().parent.parent)
        return values

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
        began = time.monotonic()
        for step in steps:
            run_step(name, self.fill(step, service), log, say, self.environment(service), self.root / service.folder)
        return time.monotonic() - began

    def fingerprint(self, service: Service) -> str:
        """A hash of what the service is built from: files that git tracks or would track, and its tools: versions and paths."""
        digest = hashlib.sha256()
        for path in [path for folder in (service.folder, *service.sources) for path in sources(self.root, folder)]:
            digest.update(f"{path}\0".encode())
            digest.update((self.root / path).read_bytes())
        for tool in service.needs:
            digest.update(f"{tool} {self.found[tool].version} {self.found[tool].path}\0".encode() if tool in self.found else b"-")
        return digest.hexdigest()


def run_step(
    name: str, command: Sequence[str], log: Path, say: Callable[[str], None], environment: Mapping[str, str], folder: Path
) -> None:
    """Raises BuildError with the last words of a command that fails."""
    log.parent.mkdir(parents=True, exist_ok=True)
    what = f"{name}: {' '.join([Path(command[0]).name, *command[1:]])}"
    say(what)
    try:
        with patience(lambda: what, say):
            code = run(name, command, log, environment, folder, LONGEST_STEP_S)
    except ProcessError as error:
        raise BuildError(f"{error}{end_of(log)}") from None
    if code != 0:
        raise BuildError(f"{name}: `{' '.join(command)}` ended with {code}{end_of(log)}")


def end_of(log: Path) -> str:
    """The last words of a program that said any."""
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-25:] if log.exists() else []
    return "\n".join([f"; the end of {log}:", *lines]) if lines else ""


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
    """Looks for every tool of the registry, all at once: some take half a second to say their version."""
    with ThreadPoolExecutor() as beside:
        looked = dict(
            zip(registry.tools, beside.map(lambda name: find(name, registry.tools[name], root=root), registry.tools), strict=True)
        )
    return Workshop(
        root,
        registry,
        {name: result for name, result in looked.items() if isinstance(result, Found)},
        {name: result for name, result in looked.items() if isinstance(result, Missing)},
    )
