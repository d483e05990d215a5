"""Reads the registry (contenders.toml, scenarios.toml) and reports every mistake at once, each with its file and key."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from nsb.model import Contender, Registry, Scenario, Service, Tier, Tool

T = TypeVar("T")
ModelT = TypeVar("ModelT", bound=BaseModel)
EntryT = TypeVar("EntryT", Contender, Scenario)


class ConfigurationError(Exception):
    """Wrong configuration; `mistakes` has one sentence each, with file and key."""

    def __init__(self, mistakes: list[str]) -> None:
        super().__init__("\n".join(mistakes))
        self.mistakes = mistakes


def load(folder: Path) -> Registry:
    """The registry below `folder` (the project's bench/).

    Raises ConfigurationError with all mistakes of both files.
    """
    mistakes: list[str] = []
    who = _read(folder / "contenders.toml", {"tool", "service", "contender"}, mistakes)
    what = _read(folder / "scenarios.toml", {"tier", "scenario"}, mistakes)
    registry = Registry(
        tools=_tables(Tool, who, "tool", "contenders.toml", mistakes),
        services=_tables(Service, who, "service", "contenders.toml", mistakes),
        contenders=_list(Contender, who, "contender", "contenders.toml", mistakes),
        scenarios=_list(Scenario, what, "scenario", "scenarios.toml", mistakes),
        tiers=_tables(Tier, what, "tier", "scenarios.toml", mistakes),
    )
    if not mistakes:
        mistakes = _references(registry, folder.parent)
    if mistakes:
        raise ConfigurationError(mistakes)
    return registry


def _read(file: Path, known: set[str], mistakes: list[str]) -> dict[str, Any]:
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        mistakes.append(f"{file.name}: cannot be read: {error.strerror}")
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        mistakes.append(f"{file.name}: is not TOML: {error}")
        return {}
    mistakes += [f"{file.name}: {key}: unknown key; known are {', '.join(sorted(known))}" for key in data.keys() - known]
    return data


def _validated(kind: type[ModelT], value: object, where: str, mistakes: list[str]) -> ModelT | None:
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        for mistake in error.errors():
            key = ".".join([where, *(str(part) for part in mistake["loc"])])
            mistakes.append(f"{key}: {mistake['msg']}")
        return None


def _tables(kind: type[ModelT], data: Mapping[str, Any], key: str, file: str, mistakes: list[str]) -> dict[str, ModelT]:
    tables = data.get(key, {})
    if not isinstance(tables, dict):
        mistakes.append(f"{file}: {key}: must be tables [{key}.NAME]")
        return {}
    found = {name: _validated(kind, value, f"{file}: {key}.{name}", mistakes) for name, value in tables.items()}
    return {name: value for name, value in found.items() if value is not None}


def _list(kind: type[EntryT], data: Mapping[str, Any], key: str, file: str, mistakes: list[str]) -> dict[str, EntryT]:
    entries = data.get(key, [])
    if not isinstance(entries, list):
        mistakes.append(f"{file}: {key}: must be a list of tables [[{key}]]")
        return {}
    found: dict[str, EntryT] = {}
    for number, entry in enumerate(entries, 1):
        name = entry.get("id", number) if isinstance(entry, dict) else number
        value = _validated(kind, entry, f"{file}: {key}[{name}]", mistakes)
        if value is None:
            continue
        if value.id in found:
            mistakes.append(f"{file}: {key}[{name}].id: is there twice")
        found[value.id] = value
    return found


def _references(registry: Registry, root: Path) -> list[str]:
    """What one entry says of another must be there."""
    mistakes: list[str] = []
    for name, service in registry.services.items():
        where = f"contenders.toml: service.{name}"
        mistakes += [f"{where}.needs: no tool is named {tool}" for tool in service.needs if tool not in registry.tools]
        if not (root / service.folder).is_dir():
            mistakes.append(f"{where}.folder: there is no folder {service.folder}/")
    for contender in registry.contenders.values():
        where = f"contenders.toml: contender[{contender.id}]"
        if contender.service not in registry.services:
            mistakes.append(f"{where}.service: no service is named {contender.service}")
        mistakes += [
            f"{where}.unsupported: no scenario is named {scenario}"
            for scenario in contender.unsupported
            if scenario not in registry.scenarios
        ]
    return mistakes


def chosen(option: str, text: str, known: Mapping[str, T], default: list[str]) -> list[str]:
    """The ids of a comma-separated list, `default` or `all`, in the registry's order.

    Raises ConfigurationError naming every unknown id.
    """
    if text == "default":
        return default
    if text == "all":
        return list(known)
    asked = [part.strip() for part in text.split(",") if part.strip()]
    unknown = [name for name in asked if name not in known]
    if unknown or not asked:
        names = ", ".join(known)
        raise ConfigurationError([f"{option}: {name!r} is unknown; known are {names}" for name in unknown or [text]])
    return [name for name in known if name in asked]
