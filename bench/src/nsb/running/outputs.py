"""Writes a run's outputs from its raw data alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nsb.analysis import controls
from nsb.analysis import table as tables
from nsb.model import Cell, to_json
from nsb.report import csv, markdown
from nsb.report.controls import sentences
from nsb.running.journal import read_starts_of, write_whole


def outputs(folder: Path, run: dict[str, Any], cells: Sequence[Cell]) -> tuple[tables.Table, list[str]]:
    """table.md, table.csv and table.json; returns the table and what the controls say. The same data give the same bytes."""
    table = tables.make(run, cells, read_starts_of(folder))
    beside = controls.compare(run, cells)
    write_whole(folder / "table.md", markdown.page(table, run, beside))
    write_whole(folder / "table.csv", csv.text(table))
    compared = [control.model_dump(mode="json") for control in beside]
    write_whole(folder / "table.json", to_json({**table.model_dump(mode="json"), "compared_controls": compared}))
    return table, sentences(beside)
