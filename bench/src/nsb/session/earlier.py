"""What earlier runs of this machine tell about its noise."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence, Set
from functools import cache
from pathlib import Path
from typing import Any

from nsb.analyse.judge import twins
from nsb.analyse.noise import Noise, noise_of
from nsb.measure.integrity import Altered
from nsb.measure.journal import JournalError
from nsb.registry.terms import Profile
from nsb.session.runs import read_run


def noise(bench: Path, name: str, profile: Profile, scenarios: Sequence[str], say: Callable[[str], None]) -> dict[str, tuple[Noise, str]]:
    """Scenario → noise, and the run it is from, of those scenarios.

    Asked are the runs below bench/out and bench/results that were made on the host of that name under that profile: those with a twin
    first, since spreads of rounds are an upper estimate, and of these the newest. One that tells of all of these scenarios is taken, else
    for each the first that tells of it. What no run tells of is left out; a run that cannot be read is told to `say`.
    """
    began: list[tuple[bool, str, Path, Set[str]]] = []
    for file in [*bench.glob("out/*/run.json"), *bench.glob("results/*/run.json")]:
        try:
            run: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
            if run["host"]["name"] == name and run["plan"]["profile"] == profile:
                began.append((bool(twins(run)), run["started_at"], file.parent, set(run["plan"]["scenarios"])))
        except (OSError, ValueError, KeyError, TypeError):
            say(f"{file} tells nothing about noise: it is not the run.json of a run")
    best = sorted(began, key=lambda each: each[:2], reverse=True)

    @cache
    def told(folder: Path) -> dict[str, tuple[Noise, str]]:
        try:
            found = noise_of(*read_run(folder))
        except (JournalError, Altered) as error:
            say(f"no noise from there: {error}")
            return {}
        return {one: (each, folder.relative_to(bench.parent).as_posix()) for one, each in found.items() if one in scenarios}

    for *_, folder, asked in best:
        if asked >= set(scenarios) and len(whole := told(folder)) == len(set(scenarios)):
            return whole
    found: dict[str, tuple[Noise, str]] = {}
    for *_, folder, asked in best:
        if not asked.isdisjoint(set(scenarios) - found.keys()):
            found = told(folder) | found
    return found
