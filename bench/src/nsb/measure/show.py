"""Finds the files that play the same part in every service: they have the same stem."""

from __future__ import annotations

from pathlib import Path

from nsb.measure.tools import sources
from nsb.registry.load import Registry


def part(root: Path, registry: Registry, name: str) -> list[tuple[str, str]]:
    """Path and text of each file whose stem is `name` in any casing, in the registry's order; of services that share a folder once."""
    return [
        (path, (root / path).read_text(encoding="utf-8", errors="replace"))
        for folder in dict.fromkeys(service.folder for service in registry.proper_services.values())
        for path in sources(root, folder)
        if Path(path).stem.lower() == name.lower()
    ]


def parts(root: Path, registry: Registry) -> list[str]:
    """The stems that every service has."""
    stems = [
        {Path(path).stem.lower() for path in sources(root, service.folder) if not Path(path).name.startswith(".")}
        for service in registry.proper_services.values()
    ]
    return sorted(set.intersection(*stems)) if stems else []
