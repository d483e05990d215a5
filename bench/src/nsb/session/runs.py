"""A run's folder as values: its lines from the journal, judged now."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nsb.analyse import duet
from nsb.analyse.cells import read_cells
from nsb.analyse.physics import Given, Impossible
from nsb.measure.archive import summaries
from nsb.measure.integrity import Altered, chain_of
from nsb.measure.journal import CELLS, JournalError, read_facts, read_starts_of, whole_lines
from nsb.records.judged import Cell

WITHDRAWN = "withdrawn.json"
"""Contender → why its figures are wrong, as it was found later. Its records stay as they are; nothing is told of it."""


def read_run(folder: Path) -> tuple[dict[str, Any], list[Cell]]:
    """run.json and the cells of a run, without their checks (analyse/cells.py, read_cells).

    Raises JournalError where the folder is not one of a run, or one of another version of this program, and Altered where a record is
    not what was written, or says what cannot be.
    """
    run = read_facts(folder)
    withdrawn = _withdrawn(folder)
    if withdrawn:
        run = _without(run, withdrawn)
    given = Given(run.get("plan", {}).get("holds_ms", {}), summaries(folder))
    try:
        with (folder / CELLS).open("rb") as file:
            cells = read_cells(whole_lines(file, CELLS, chain_of(folder)), given)
        cells = [cell for cell in cells if cell.contender not in withdrawn]
        return run, duet.doubt_cold(cells, read_starts_of(folder))
    except FileNotFoundError:
        return run, []
    except OSError as error:
        raise JournalError(f"{folder / CELLS} cannot be read: {error.strerror}") from None
    except Impossible as error:
        raise Altered(f"{folder}: {error}") from None
    except ValueError as error:
        raise JournalError(f"{folder}: {error}") from None


def _withdrawn(folder: Path) -> dict[str, str]:
    """Raises JournalError."""
    try:
        found = json.loads((folder / WITHDRAWN).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise JournalError(f"{folder / WITHDRAWN} cannot be read: {error}") from None
    if not isinstance(found, dict) or not all(isinstance(why, str) for why in found.values()):
        raise JournalError(f"{folder / WITHDRAWN} is not an object of contenders, each with its reason")
    return found


def _without(run: dict[str, Any], withdrawn: Mapping[str, str]) -> dict[str, Any]:
    """As if these had been left out of the run."""

    def others(found: Mapping[str, Any]) -> dict[str, Any]:
        return {name: each for name, each in found.items() if name not in withdrawn}

    plan = run["plan"]
    contenders = [name for name in plan["contenders"] if name not in withdrawn]
    changed = {"plan": {**plan, "contenders": contenders, "controls": others(plan.get("controls", {}))}}
    changed |= {key: others(run[key]) for key in ("conformance", "runtimes") if key in run}
    if "fairness" in run:
        changed["fairness"] = {**run["fairness"], "contenders": others(run["fairness"]["contenders"])}
    return {**run, **changed, "left_out": {**run.get("left_out", {}), **withdrawn}}
