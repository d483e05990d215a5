"""The cost model of a run, and that of the committed runs together."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nsb.analyse.model import CostModel, merged
from nsb.measure.journal import JournalError

if TYPE_CHECKING:
    from nsb.analyse.table import Table
    from nsb.records.judged import Cell

BENCH = Path(__file__).resolve().parents[3]
MODEL = "model.json"


def fit(run: dict[str, Any], cells: Sequence[Cell], table: Table, name: str) -> CostModel:
    """Of one run alone. What its scenarios do is what scenarios.toml says of them now."""
    from nsb.analyse import model
    from nsb.registry.load import load

    registry = load(BENCH)
    return model.fit(run, cells, table, registry.scenarios, registry.contenders, name)


def fitted(folder: Path) -> CostModel:
    """The same from the records of its folder. Raises JournalError and Altered."""
    from nsb.analyse import table as tables
    from nsb.measure.journal import read_starts_of
    from nsb.session.runs import read_run

    run, cells = read_run(folder)
    return fit(run, cells, tables.make(run, cells, read_starts_of(folder)), folder.name)


def committed(root: Path, newest: Path) -> CostModel:
    """The model of the newest standard run, with the memory that it lacks from the committed runs, the newest first. Raises JournalError
    and Altered."""
    others = sorted((file.parent for file in (root / "bench" / "results").glob("*/run.json") if file.parent != newest), reverse=True)
    return merged([fitted(newest), *(fitted(folder) for folder in others if _has_memory(folder))])


def _has_memory(folder: Path) -> bool:
    plan = json.loads((folder / "run.json").read_text(encoding="utf-8"))["plan"]
    return "memory" in plan["headlines"].values()


def of_committed(bench: Path) -> CostModel:
    """What `report --readme` wrote of the committed runs. Raises JournalError."""
    return _read(bench / "results" / MODEL, "./justw report RUN --readme, with the newest standard run below bench/results, writes it")


def of_run(folder: Path, bench: Path) -> CostModel:
    """That of a run, made where it has none yet; memory that the run did not measure is from the committed runs. Raises JournalError and
    Altered."""
    own = _read(folder / MODEL, f"./justw report {folder.name} writes it again") if (folder / MODEL).exists() else fitted(folder)
    return merged([own, of_committed(bench)])


def _read(file: Path, remedy: str) -> CostModel:
    try:
        return CostModel.model_validate_json(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise JournalError(f"{file} is not there: {remedy}") from None
    except ValueError:
        raise JournalError(f"{file} is no model of this version: {remedy}") from None
