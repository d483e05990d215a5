"""Writes a run's outputs from its raw data alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nsb.analysis import table as tables
from nsb.model import Cell, to_json
from nsb.report import csv, markdown
from nsb.running.journal import write_whole


def outputs(folder: Path, run: dict[str, Any], cells: Sequence[Cell]) -> tables.Table:
    """table.md, table.csv and table.json; returns the table. The same data give the same bytes."""
    table = tables.make(run, cells)
    write_whole(folder / "table.md", markdown.page(table, run))
    write_whole(folder / "table.csv", csv.text(table))
    write_whole(folder / "table.json", to_json(table.model_dump(mode="json")))
    return table
