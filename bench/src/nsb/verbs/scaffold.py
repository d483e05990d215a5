"""`new`: the folder and the entry of a new contender, made after one that is there."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

from nsb.errors import Refused
from nsb.measure.journal import write_whole
from nsb.measure.tools import sources
from nsb.registry.contenders import Contender
from nsb.registry.load import ConfigurationError, Registry, load
from nsb.registry.services import Service
from nsb.registry.terms import ID
from nsb.verbs.common import ROOT, console

NOT_COPIED = ("Dockerfile", ".dockerignore", "README.md")
"""A container comes with an entry in compose.yaml, which one that is no default does not need."""
OF_THE_ORIGINAL = {"id", "service", "stands_for", "default", "check", "twinned", "twin_of", "plant", "extra"}
"""Fields of a contender that a new one does not take over."""


def new(name: str, like: str, root: Path = ROOT) -> None:
    """NAME/ and its two tables in bench/contenders.toml, or nothing at all. Raises ConfigurationError or Refused."""
    registry = load(root / "bench")
    contender = _original(registry, name, like, root)
    service = registry.services[contender.service]
    folder, file = root / name, root / "bench" / "contenders.toml"
    before = file.read_text(encoding="utf-8")
    try:
        count = _copied(root, service.folder, name)
        (folder / "README.md").write_text(_readme(name, like), encoding="utf-8")
        write_whole(file, before.rstrip() + "\n\n" + _entry(name, like, service, contender))
        load(root / "bench")
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        write_whole(file, before)
        if isinstance(error, ConfigurationError):
            raise Refused(f"{like} cannot be copied, nothing was changed: {error}") from None
        raise
    console.print(f"{name}/: {count} files after {service.folder}/", markup=False)
    console.print(f"bench/contenders.toml: [service.{name}] and its contender, no default yet", markup=False)
    console.print("Now edit the places marked EDIT, replace the program file by file, and after each step:", markup=False)
    for command, why in (
        (f"./justw conform {name}", "names what is missing, then each rule that is broken"),
        (f"./justw test '{name}: build'", "its own tests, formatter and linter"),
        (f"./justw bench {name} --tier smoke", "one round of everything, some minutes"),
    ):
        console.print(f"  {command:42} {why}", markup=False, soft_wrap=True)


def _original(registry: Registry, name: str, like: str, root: Path) -> Contender:
    """Raises ConfigurationError with every mistake."""
    mistakes = []
    if not re.fullmatch(ID, name):
        mistakes.append(f"NAME: {name!r} must be small letters and digits, with hyphens between")
    elif name in registry.contenders or name in registry.services or (root / name).exists():
        mistakes.append(f"NAME: {name!r} is there already")
    proper = [each.id for each in registry.contenders.values() if each.copy_of is None]
    if like not in proper:
        mistakes.append(f"--like: {like!r} is unknown; known are {', '.join(proper)}")
    if mistakes:
        raise ConfigurationError(mistakes)
    return registry.contenders[like]


def _copied(root: Path, folder: str, name: str) -> int:
    """The files that git tracks or would track, with the original's name replaced; how many."""
    count = 0
    for path in sources(root, folder):
        inner = Path(path).relative_to(folder)
        if inner.name in NOT_COPIED:
            continue
        target = root / name / _renamed(inner.as_posix(), folder, name)
        target.parent.mkdir(parents=True, exist_ok=True)
        content = (root / path).read_bytes()
        try:
            target.write_text(_renamed(content.decode(), folder, name), encoding="utf-8")
        except UnicodeDecodeError:
            target.write_bytes(content)
        target.chmod((root / path).stat().st_mode)
        count += 1
    return count


def _renamed(text: str, folder: str, name: str) -> str:
    """Only where it is unmistakably the service's name: `go` and `node` are words of their languages too."""
    old = re.escape(folder)
    around = [rf"(?<=\bnsb-){old}\b", rf"(?<=\bnosilverbullet/){old}\b", rf"\b{old}(?=-service\b)"]
    around += [rf'(?<="name": "){old}(?=")', rf"(?<=<artifactId>){old}(?=</artifactId>)", rf"(?<=/){old}(?=\.jar\b)"]
    return re.sub("|".join(around), name, text)


def _entry(name: str, like: str, service: Service, contender: Contender) -> str:
    """Both tables, with the places to edit marked."""
    made = service.model_dump(mode="json", exclude_defaults=True) | {"folder": name}
    own = contender.model_dump(mode="json", exclude_defaults=True, exclude=OF_THE_ORIGINAL)

    def line(key: str, value: Any, hint: str = "") -> str:
        written = _toml(value)
        return f"{key} = {_renamed(written, service.folder, name)}{f'  # EDIT: {hint}' if hint else ''}"

    hints = {
        "needs": "tools of this file that build it",
        "build": "how it is built",
        "test": "formatter, linter and tests",
        "code": "its sources, whose size is told",
        "run": "how it is started",
        "memory_mib": "generously above its measured peak",
        "blocked_by": 'what a blocking call occupies: "loop", "carriers", or leave it out',
    }
    lines = [f"# After {like}, by `just new`.", f"[service.{name}]"]
    lines += [line(key, value, hints.get(key, "")) for key, value in made.items()]
    lines += ["", "[[contender]]", line("id", name), line("service", name)]
    lines += [line("stands_for", f"after {like}", "what it stands for, in a phrase")]
    lines += [line(key, value, hints.get(key, "")) for key, value in own.items()]
    return "\n".join([*lines, "default = false", ""])


def _toml(value: Any) -> str:
    """A value on one line; basic strings of TOML are those of JSON."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key, ensure_ascii=False)} = {_toml(of)}" for key, of in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(each) for each in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def _readme(name: str, like: str) -> str:
    return f"""# {name}: EDIT: its model and framework

It obeys [the contract](../contract/CONTRACT.md); made after {like}.

EDIT: how it is built and tested by hand, and what differs from the other services, and why.
"""
