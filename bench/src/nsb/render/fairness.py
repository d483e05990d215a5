"""The part of table.md about the settings that the contenders had in effect. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nsb.analyse.fairness import asymmetries, sum_of
from nsb.analyse.table import Table
from nsb.records.manifest import SETTINGS, Fairness, Manifest
from nsb.render.words import by_reason, grid

HEADING = "## Fairness manifest\n"
EXPLAINED = (
    "Values in effect, read from each contender when it was warm and pinned, before its first cell: said by `/runtime`, counted by "
    "the database, or told by the kernel. At every later start they were read again and had to be the same. "
    "–: there is no such thing in that runtime, or nothing was counted.\n"
)


def section(table: Table, run: dict[str, Any]) -> list[str]:
    """The blocks of the page; none for a run without a manifest."""
    if "fairness" not in run:
        return []
    record = Fairness.model_validate(run["fairness"])
    if not record.contenders:
        return [HEADING, "No contender was started.\n"]
    alike: list[str] = []
    rows: list[tuple[str, list[str]]] = []
    for title, values in [*_settings(list(record.contenders.values())), *_statements(table, record)]:
        if len(set(values)) > 1:
            rows.append((title, values))
        elif values[0] != NOTHING:
            alike.append(f"{title} {values[0]}")
    unlike = [f"- {each.sentence}" for each in asymmetries(record.contenders, record.granted)]
    said = ["Not alike, so the run was refused:\n\n" + "\n".join(unlike) + "\n"] if unlike else []
    names = list(record.contenders)
    equal = "Equal for all" if len(names) > 1 else f"Of {names[0]}"
    told = [grid(names, ([title, *values] for title, values in rows), align="---")] if rows else []
    return [HEADING, EXPLAINED, *_heaps(run), *_generators(record), *said, f"{equal}: {' · '.join(alike)}.\n", *told, *_on_purpose(record)]


def _heaps(run: dict[str, Any]) -> list[str]:
    """The heap in the manifest is the usual one, whichever was started first."""
    own = [f"{scenario} {mib:,} MiB" for scenario, mib in run["plan"].get("heaps_mib", {}).items()]
    return [f"For scenarios with a heap of their own every JVM was started with that one: {', '.join(own)}.\n"] if own else []


def _generators(record: Fairness) -> list[str]:
    """How many drove each contender."""
    if record.generators == 1:
        return []
    alone = "; ".join(f"{', '.join(names)} ({why})" for why, names in by_reason(record.undivided).items())
    return [f"{record.generators} generators divided each load, for all contenders alike{f'. One alone drove {alone}' if alone else ''}.\n"]


def _on_purpose(record: Fairness) -> list[str]:
    """The settings in which contenders differ on purpose."""
    lines = []
    for name, manifest in record.contenders.items():
        for declared, why in manifest.differs.items():
            setting = next(s for s in SETTINGS if s.declared_as == declared)
            lines.append(f"- {name}, {setting.title} {setting.words(setting.of(manifest))}: {why}")
    return ["On purpose, and so not compared:\n\n" + "\n".join(lines) + "\n"] if lines else []


NOTHING = "–"
OF_CONTAINERS = ("memory_limit_mib", "cpu_quota")
"""Processes have no control group of their own."""


def _settings(manifests: Sequence[Manifest]) -> list[tuple[str, list[str]]]:
    """Title and the value of each contender; a version follows the name of its program."""
    versions = {setting.name.removesuffix("_version"): setting for setting in SETTINGS if setting.name.endswith("_version")}
    lines: list[tuple[str, list[str]]] = []
    for setting in SETTINGS:
        if setting in versions.values():
            continue
        if setting.name in OF_CONTAINERS and all(setting.of(manifest) is None for manifest in manifests):
            continue
        values = [setting.words(setting.of(manifest)) for manifest in manifests]
        if setting.name in versions:
            version = versions[setting.name]
            values = [
                f"{value} {version.words(version.of(manifest))}" if value != NOTHING else value
                for value, manifest in zip(values, manifests, strict=True)
            ]
        lines.append((setting.title, values))
    shares = [m.seen.pool_shares for m in manifests]
    lines.append(("pool by process", ["not readable" if one is None else sum_of(one) for one in shares]))
    own = [", ".join(f"{name}={value}" for name, value in m.own_environment.items()) or NOTHING for m in manifests]
    return [*lines, ("environment of its own", own), ("shared environment", [_shared(m) for m in manifests])]


def _shared(manifest: Manifest) -> str:
    if manifest.seen.environment is None:
        return "not readable"
    return ", ".join(name for name in manifest.seen.environment if name not in manifest.own_environment)


def _statements(table: Table, record: Fairness) -> list[tuple[str, list[str]]]:
    """What V9 counted in each scenario with statements."""
    lines = []
    for scenario, declared in record.statements.items():
        counted = [table.entry(name, scenario).statements_per_request for name in record.contenders]
        values = [NOTHING if one is None else f"{one:.2f}" for one in counted]
        lines.append((f"statements per request of {scenario} ({declared} declared)", values))
    return lines
