"""Connections that a scenario keeps open beside its load, held by a small program of our own (bench/upstream/holder)."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from nsb.measure.process import Process
from nsb.records.held import Held
from nsb.registry.shapes import Exhaustion, HeldConnections, files_for
from nsb.registry.timing import HELD_STEADY, Timing

PATIENCE_S = 20.0
"""How long the holder waits for a connection and its first event (hold.go; s)."""


class HoldError(Exception):
    """Nobody can say what became of the connections."""


def program_file(root: Path) -> Path:
    """Where the holder is once it has been built."""
    return root / ".tools" / "holder"


def order(scenario: HeldConnections, timing: Timing, base_url: str, opens_s: float, report: Path) -> dict[str, object]:
    """What the holder is told: when each level begins, in ms since 1970, and until when to hold."""
    within_ms = round(timing.level_s * HELD_STEADY[0] * 1000)
    return {
        "url": base_url + scenario.held,
        "levels": [
            {"connections": level, "at_ms": round((opens_s + number * timing.level_s) * 1000), "within_ms": within_ms}
            for number, level in enumerate(scenario.levels)
        ],
        "until_ms": round((opens_s + timing.window_s) * 1000) + 200,  # the window's last reading still sees them
        "report": str(report),
    }


def filling(scenario: Exhaustion, base_url: str, begins_s: float, until_s: float, report: Path) -> dict[str, object]:
    """What the holder is told that opens connections until one is refused or ended, or all are there."""
    within_ms = round(scenario.most / scenario.rate * 1000)
    return {
        "url": base_url + scenario.held,
        "levels": [{"connections": scenario.most, "at_ms": round(begins_s * 1000), "within_ms": within_ms}],
        "until_ms": round(until_s * 1000),
        "until_full": True,
        "report": str(report),
    }


def start(program: Path, what: dict[str, object], cpus: Sequence[int], log: Path) -> Process:
    """Raises ProcessError."""
    environment = {**os.environ, "NSB_HOLD": json.dumps(what), "GOMAXPROCS": str(len(cpus))}
    return Process("holder", [str(program)], log, environment, cpus)


def outcome(report: Path) -> Held:
    """Raises HoldError where it left no report that can be read."""
    try:
        return Held(**json.loads(report.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise HoldError(f"the program that holds the connections left no report: {error}") from None


def too_many(connections: int, nofile: int) -> str | None:
    """Why so many connections cannot be held with so many open files; None where they can."""
    needed = files_for(connections)
    if needed <= nofile:
        return None
    return f"{connections} connections need {needed} open files, and {nofile} are allowed: raise the limit (ulimit -Hn)"
