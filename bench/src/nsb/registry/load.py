"""Reads the registry (contenders.toml, scenarios.toml), claims.toml and digest.toml.

Every mistake is told at once, each with its file and key.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from nsb.errors import Failure
from nsb.records.manifest import DECLARED
from nsb.registry.claims import Article, CapRule, Claim, Claims, NoWinnerRule, Ours, Rule, SlopeRule, contenders_of
from nsb.registry.contenders import Contender, twin_id
from nsb.registry.contract import POOL_SIZE
from nsb.registry.digest import READY, DigestPlan
from nsb.registry.scenario import Scenario
from nsb.registry.services import Service, Tool, tools_named
from nsb.registry.shapes import SHAPES, Arrivals, FullCore, OfRows, scenario_of
from nsb.registry.terms import P99_REQUESTS, Frozen
from nsb.registry.timing import Tier

T = TypeVar("T")
ModelT = TypeVar("ModelT", bound=BaseModel)
EntryT = TypeVar("EntryT", Contender, Scenario, Claim)


class ConfigurationError(Failure):
    """Wrong configuration; `mistakes` has one sentence each, with file and key."""

    exits = 2

    def __init__(self, mistakes: list[str]) -> None:
        super().__init__("\n".join(mistakes))
        self.mistakes = mistakes


class Registry(Frozen):
    tools: dict[str, Tool]
    services: dict[str, Service]
    contenders: dict[str, Contender]
    scenarios: dict[str, Scenario]
    tiers: dict[str, Tier]

    @property
    def proper_services(self) -> dict[str, Service]:
        """Those with the whole contract, of contenders that have a column; a control's program is not one to learn from."""
        proper = {c.service for c in self.contenders.values() if c.copy_of is None and c.only is None}
        return {name: service for name, service in self.services.items() if name in proper}


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
        contenders=_list(Contender.model_validate, who, "contender", "contenders.toml", mistakes),
        scenarios=_list(scenario_of, what, "scenario", "scenarios.toml", mistakes),
        tiers=_tables(Tier, what, "tier", "scenarios.toml", mistakes),
    )
    if not mistakes:
        mistakes = _references(registry, folder.parent)
    if mistakes:
        raise ConfigurationError(mistakes)
    registry = registry.model_copy(update={"contenders": _with_extras(registry), "scenarios": _with_rows(registry)})
    return registry.model_copy(update={"contenders": {**registry.contenders, **_twins(registry)}})


def _with_extras(registry: Registry) -> dict[str, Contender]:
    """Every contender with the endpoints that its service has beside those of all."""
    return {
        name: contender.model_copy(update={"extra": registry.services[contender.service].extra})
        for name, contender in registry.contenders.items()
    }


def _with_rows(registry: Registry) -> dict[str, Scenario]:
    """With the cost rows that some are made of."""
    return {
        name: scenario.model_copy(update={"rows": tuple(registry.scenarios[part] for part in scenario.parts)})
        if isinstance(scenario, OfRows)
        else scenario
        for name, scenario in registry.scenarios.items()
    }


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


def _validated(validate: Callable[[object], ModelT], value: object, where: str, mistakes: list[str]) -> ModelT | None:
    try:
        return validate(value)
    except ValidationError as error:
        mistakes += [_readable(where, mistake) for mistake in error.errors()]
        return None


def _readable(where: str, mistake: ErrorDetails) -> str:
    """Key and sentence. pydantic puts the names of rules and shapes into the path to their keys, where no reader of the file would look."""
    places = mistake["loc"][1:] if mistake["loc"][:1] and mistake["loc"][0] in SHAPES else mistake["loc"]
    loc = [str(part) for number, part in enumerate(places) if number < 2 or places[number - 2] != "parts"]
    key = ".".join([where, *loc])
    tag = mistake.get("ctx", {}).get("discriminator", "").strip("'")
    if mistake["type"] == "union_tag_invalid":
        known = mistake["ctx"]["expected_tags"].replace("'", "")
        return f"{key}.{tag}: no {tag} is named {mistake['ctx']['tag']}; known are {known}"
    if mistake["type"] == "union_tag_not_found":
        return f"{key}.{tag}: is missing"
    return f"{key}: {mistake['msg']}"


def _tables(kind: type[ModelT], data: Mapping[str, Any], key: str, file: str, mistakes: list[str]) -> dict[str, ModelT]:
    tables = data.get(key, {})
    if not isinstance(tables, dict):
        mistakes.append(f"{file}: {key}: must be tables [{key}.NAME]")
        return {}
    found = {name: _validated(kind.model_validate, value, f"{file}: {key}.{name}", mistakes) for name, value in tables.items()}
    return {name: value for name, value in found.items() if value is not None}


def _list(validate: Callable[[object], EntryT], data: Mapping[str, Any], key: str, file: str, mistakes: list[str]) -> dict[str, EntryT]:
    entries = data.get(key, [])
    if not isinstance(entries, list):
        mistakes.append(f"{file}: {key}: must be a list of tables [[{key}]]")
        return {}
    found: dict[str, EntryT] = {}
    for number, entry in enumerate(entries, 1):
        name = entry.get("id", number) if isinstance(entry, dict) else number
        value = _validated(validate, entry, f"{file}: {key}[{name}]", mistakes)
        if value is None:
            continue
        if value.id in found:
            mistakes.append(f"{file}: {key}[{name}].id: is there twice")
        found[value.id] = value
    return found


def _references(registry: Registry, root: Path) -> list[str]:
    """What one entry says of another must be there."""
    mistakes: list[str] = []
    for name, tool in registry.tools.items():
        unknown = [other for other in tools_named(tool.fetch) if other not in registry.tools]
        mistakes += [f"contenders.toml: tool.{name}.fetch: no tool is named {other}" for other in unknown]
    for name, service in registry.services.items():
        where = f"contenders.toml: service.{name}"
        mistakes += [f"{where}.needs: no tool is named {tool}" for tool in service.needs if tool not in registry.tools]
        if not (root / service.folder).is_dir():
            mistakes.append(f"{where}.folder: there is no folder {service.folder}/")
        with_ = registry.services.get(service.tested_with or name)
        if with_ is None or (service.tested_with is not None and (not with_.test or with_.folder != service.folder)):
            mistakes.append(f"{where}.tested_with: no service of {service.folder}/ with a suite is named {service.tested_with}")
        mistakes += [f"{where}.sources: there is no folder {folder}/" for folder in service.sources if not (root / folder).is_dir()]
    for scenario in registry.scenarios.values():
        where = f"scenarios.toml: scenario[{scenario.id}]"
        if "tiers" in scenario.model_fields_set:
            mistakes += [f"{where}.tiers: no tier is named {tier}" for tier in scenario.tiers if tier not in registry.tiers]
        for part in scenario.parts if isinstance(scenario, OfRows) else ():
            if not isinstance(registry.scenarios.get(part), FullCore):
                mistakes.append(f"{where}.parts: no cost row is named {part}")
        mistakes += [f"{where}.contenders: no contender is named {name}" for name in scenario.contenders if name not in registry.contenders]
    for contender in registry.contenders.values():
        where = f"contenders.toml: contender[{contender.id}]"
        mistakes += [f"{where}.run: no tool is named {tool}" for tool in contender.tools if tool not in registry.tools]
        if contender.service not in registry.services:
            mistakes.append(f"{where}.service: no service is named {contender.service}")
        if contender.twin_of is not None:
            mistakes.append(f"{where}.twin_of: twins are made for every contender, they are not written here")
        if contender.extra:
            mistakes.append(f"{where}.extra: is a matter of the service: write it to service.{contender.service}")
        if twin_id(contender.id) in registry.contenders:
            mistakes.append(f"contenders.toml: contender[{twin_id(contender.id)}].id: is the name of {contender.id}'s twin")
        if contender.plant is not None and contender.plant.of not in registry.contenders:
            mistakes.append(f"{where}.plant.of: no contender is named {contender.plant.of}")
        mistakes += [
            f"{where}.differs: no setting is named {setting}; known are {', '.join(DECLARED)}"
            for setting in contender.differs
            if setting not in DECLARED
        ]
        workers = contender.environment.get("WORKERS", "1")
        if not workers.isdecimal() or not 1 <= int(workers) <= POOL_SIZE:
            mistakes.append(f"{where}.environment.WORKERS: must be a whole number from 1 to {POOL_SIZE}, the pool that they divide")
        mistakes += [
            f"{where}.unsupported: no scenario is named {scenario}"
            for scenario in contender.unsupported
            if scenario not in registry.scenarios
        ]
    return mistakes


# --- claims ---------------------------------------------------------------------------------------------------------


COUNTS = ("lines", "complexity")
"""Of the code, which rank contenders beside the figures of scenarios."""


def load_claims(folder: Path, registry: Registry) -> Claims:
    """The claims below `folder` (the project's bench/), about what `registry` has.

    Raises ConfigurationError with all mistakes of the file.
    """
    mistakes: list[str] = []
    data = _read(folder / "claims.toml", {"article", "claim"}, mistakes)
    named = _named(data.get("article", {}))
    articles = _tables(Article, {"article": named}, "article", "claims.toml", mistakes)
    claims = _list(Claim.model_validate, data, "claim", "claims.toml", mistakes)
    mistakes += [mistake for claim in claims.values() for mistake in _claim_mistakes(claim, named, registry)]
    if mistakes:
        raise ConfigurationError(mistakes)
    return Claims(articles=articles, claims=claims)


def load_digest(folder: Path, registry: Registry) -> DigestPlan:
    """What the small table and the sentences above it are to show. Raises ConfigurationError with all mistakes of the file."""
    mistakes: list[str] = []
    data = _read(folder / "digest.toml", {"row", "finding", "question"}, mistakes)
    found = _validated(DigestPlan.model_validate, data, "digest.toml", mistakes)
    for row in found.rows if found is not None else []:
        if row.id not in registry.scenarios and row.id != READY:
            mistakes.append(f"digest.toml: row[{row.id}]: no scenario is named {row.id}")
    for question in found.questions if found is not None else []:
        if unknown := [name for name in question.among if name not in registry.contenders]:
            mistakes.append(f"digest.toml: question[{question.en}]: no contender is named {', '.join(unknown)}")
    if mistakes or found is None:
        raise ConfigurationError(mistakes)
    return found


def _named(tables: object) -> object:
    """Each table with its own name as its id."""
    if not isinstance(tables, dict):
        return tables
    return {name: {"id": name, **table} if isinstance(table, dict) else table for name, table in tables.items()}


def _rules(claim: Claim) -> Iterator[tuple[str, Rule]]:
    """Every rule with its key below the claim."""
    places: list[tuple[str, Sequence[Rule]]] = [("", claim.parts)]
    places += [(f"instead.{number}.", aside.parts) for number, aside in enumerate(claim.instead)]
    places += [(f"also.{number}.", aside.parts) for number, aside in enumerate(claim.also)]
    yield from ((f"{place}parts.{number}", rule) for place, rules in places for number, rule in enumerate(rules))


def _claim_mistakes(claim: Claim, articles: object, registry: Registry) -> Iterator[str]:
    """What a claim names must be there, and what a rule asks for must be what its scenario measures."""
    where = f"claims.toml: claim[{claim.id}]"
    if isinstance(articles, dict) and claim.article not in articles:
        yield f"{where}.article: no article is named {claim.article}"
    proper = {contender.id for contender in registry.contenders.values() if contender.copy_of is None}
    for number, each in enumerate(claim.reported):
        if each.ours is not None:
            yield from (f"{where}.reported.{number}.ours: {mistake}" for mistake in _not_there(each.ours, registry))
    if claim.number is not None and claim.number.ours is not None:
        ours = claim.number.ours
        if ours.scenario not in registry.scenarios:
            yield f"{where}.number.ours: no scenario is named {ours.scenario}"
        yield from (
            f"{where}.number.ours: no contender is named {name}" for name in (ours.contender, ours.other) if name and name not in proper
        )
    for number, own in enumerate(claim.beside):
        yield from (f"{where}.beside.{number}.ours: {mistake}" for mistake in _not_there(own.ours, registry))
    for key, rule in _rules(claim):
        names = contenders_of(rule)
        scenario: str | None = getattr(rule, "scenario", None)
        yield from (f"{where}.{key}: no contender is named {name}" for name in names if name not in proper)
        yield from (f"{where}.{key}: {name} is named twice" for name in sorted(set(names)) if names.count(name) > 1)
        if isinstance(rule, NoWinnerRule):
            known = {*registry.scenarios, *COUNTS}
            yield from (f"{where}.{key}.without: {name} is no criterion" for name in rule.without if name not in known)
        if scenario in registry.scenarios:
            found = (*_misfits(rule, registry.scenarios[scenario]), *_too_short(rule, registry.scenarios[scenario], registry))
            yield from (f"{where}.{key}: {mistake}" for mistake in found)
        elif scenario is not None:
            yield f"{where}.{key}.scenario: no scenario is named {scenario}"


def _not_there(ours: Ours, registry: Registry) -> Iterator[str]:
    """What a repeated figure names must be measured by the scenario that repeats it."""
    scenario = registry.scenarios.get(ours.scenario)
    if scenario is None:
        yield f"no scenario is named {ours.scenario}"
        return
    names = [ours.contender, *([ours.other] if ours.other else [])]
    yield from (f"{name} is not among the contenders of {scenario.id}" for name in names if name not in scenario.contenders)
    if ours.metric == "duration" and not scenario.ends:
        yield f"{scenario.id} is no load with an end"


def _misfits(rule: Rule, scenario: Scenario) -> Iterator[str]:
    """Figures that a scenario does not have, or that say nothing there."""
    metric = getattr(rule, "metric", None)
    closed = scenario.model == "closed" and not scenario.steps
    if (isinstance(rule, SlopeRule) or metric == "memory") and not scenario.steps:
        yield f"memory per request in flight needs a scenario with levels, and {scenario.id} has none"
    if (isinstance(rule, CapRule) or metric == "throughput") and not closed:
        yield f"throughput needs a closed scenario without levels: in {scenario.id} the load decides it"
    if metric in ("p50", "p90", "p99") and scenario.steps and not scenario.holding:
        yield f"latency is that of one load, and {scenario.id} has levels"
    if metric == "cpu" and scenario.model == "closed" and not scenario.paired:
        yield f"CPU per request is compared at equal rates or on a full core, and {scenario.id} has no rate"
    if isinstance(rule, CapRule) and scenario.hold_ms == 0:
        yield f"a cap is servers ÷ hold, and {scenario.id} holds nothing"
    if metric in ("goodput", "goodput_100", "goodput_120", "back") and scenario.headline != "goodput":
        yield f"{metric} needs an overload, and {scenario.id} is none"
    if isinstance(rule, CapRule) and rule.cap == "pool" and scenario.holds != "pool":
        yield f"{scenario.id} does not hold a connection of the pool"


def _too_short(rule: Rule, scenario: Scenario, registry: Registry) -> Iterator[str]:
    """A tail that no window of a tier by claims is long enough for: such a rule would be undecided in every run."""
    if getattr(rule, "metric", None) != "p99" or not isinstance(scenario, Arrivals) or scenario.rate is None:
        return
    for name, tier in registry.tiers.items():
        requests = scenario.rate * scenario.timing(tier).window_s
        if tier.by_claims and requests < P99_REQUESTS:
            yield f"a p99 takes {P99_REQUESTS} requests, and a window of {scenario.id} has {requests:.0f} in tier {name}"


# --- what the command line asks for ------------------------------------------------------------------------------------


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
