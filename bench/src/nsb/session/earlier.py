"""What earlier runs of this machine tell about its noise."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nsb.analyse.noise import Noise, noise_of
from nsb.measure.integrity import Altered
from nsb.measure.journal import JournalError
from nsb.registry.terms import Profile
from nsb.session.runs import read_run


def noise(bench: Path, name: str, profile: Profile, say: Callable[[str], None]) -> tuple[dict[str, Noise], str | None]:
    """Scenario → noise, and the run it is from: the newest below bench/out and bench/results that was made on the host of that name under
    that profile and has rounds enough. Nothing and None where there is none; a run that cannot be read is told to `say`."""
    began: list[tuple[str, Path]] = []
    for file in [*bench.glob("out/*/run.json"), *bench.glob("results/*/run.json")]:
        try:
            run: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
            if run["host"]["name"] == name and run["plan"]["profile"] == profile:
                began.append((run["started_at"], file.parent))
        except (OSError, ValueError, KeyError, TypeError):
            say(f"{file} tells nothing about noise: it is not the run.json of a run")
    for _, folder in sorted(began, reverse=True):
        try:
            found = noise_of(*read_run(folder))
        except (JournalError, Altered) as error:
            say(f"no noise from there: {error}")
            continue
        if found:
            return found, folder.relative_to(bench.parent).as_posix()
    return {}, None
