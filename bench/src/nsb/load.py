"""Reads the registry (contenders.toml, scenarios.toml) and reports every mistake at once, each with its file and key."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from nsb.model import Contender, Registry, Scenario, Service, Tier, Tool, twin_id

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
    return registry.model_copy(update={"contenders": {**registry.contenders, **_twins(registry)}})


def _twins(registry: Registry) -> dict[str, Contender]:
    """Every contender that is no control may be started a second time, as `ID-twin`."""
    return {
        twin_id(name): contender.model_copy(
            update={"id": twin_id(name), "twin_of": name, "twinned": False, "default": False, "check": False}
        )
        for name, contender in registry.contenders.items()
        if contender.copy_of is None
    }


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
        mistakes += [f"{where}.sources: there is no folder {folder}/" for folder in service.sources if not (root / folder).is_dir()]
    for scenario in registry.scenarios.values():
        unknown = [tier for tier in scenario.not_in if tier not in registry.tiers]
        mistakes += [f"scenarios.toml: scenario[{scenario.id}].not_in: no tier is named {tier}" for tier in unknown]
    for contender in registry.contenders.values():
        where = f"contenders.toml: contender[{contender.id}]"
        if contender.service not in registry.services:
            mistakes.append(f"{where}.service: no service is named {contender.service}")
        if contender.twin_of is not None:
            mistakes.append(f"{where}.twin_of: twins are made for every contender, they are not written here")
        if twin_id(contender.id) in registry.contenders:
            mistakes.append(f"contenders.toml: contender[{twin_id(contender.id)}].id: is the name of {contender.id}'s twin")
        if contender.plant is not None and contender.plant.of not in registry.contenders:
            mistakes.append(f"{where}.plant.of: no contender is named {contender.plant.of}")
        mistakes += [
            f"{where}.unsupported: no scenario is named {scenario}"
            for scenario in contender.unsupported
            if scenario not in registry.scenarios
        ]
    return mistakes


def chosen(option: str, text: str, known: Mapping[str, T], default: list[str], everything: list[str] | None = None) -> list[str]:
    """The ids of a comma-separated list, `default` or `all` (`everything`, else all that are known), in the registry's order.

    Raises ConfigurationError naming every unknown id.
    """
    if text == "default":
        return default
    offered = list(known) if everything is None else everything
    if text == "all":
        return offered
    asked = [part.strip() for part in text.split(",") if part.strip()]
    unknown = [name for name in asked if name not in known]
    if unknown or not asked:
        names = ", ".join(offered)
        raise ConfigurationError([f"{option}: {name!r} is unknown; known are {names}" for name in unknown or [text]])
    return [name for name in known if name in asked]
