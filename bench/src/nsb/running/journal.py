"""The folder of a run. A result is written when it exists, whole or not at all, and never edited."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nsb.model import Cell, read_cells, to_json


class JournalError(Exception):
    """The run's folder cannot be read or written; the message says what to do."""


class Journal:
    """Appends cells to `cells.jsonl`; each line reaches the disk before the next cell starts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            (folder / "k6").mkdir(parents=True, exist_ok=True)
            (folder / "logs").mkdir(exist_ok=True)
        except OSError as error:
            raise JournalError(f"{folder} cannot be made: {error.strerror}; name another one by --out") from None

    def facts(self, run: Mapping[str, Any]) -> None:
        write_whole(self.folder / "run.json", to_json(run))

    def append(self, cell: Cell) -> None:
        """Raises JournalError where the disk is full: what was written before stays whole."""
        try:
            with (self.folder / "cells.jsonl").open("a", encoding="utf-8") as file:
                file.write(cell.line() + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise JournalError(
                f"{self.folder / 'cells.jsonl'} cannot be written: {error.strerror}; make room, then go on with --resume"
            ) from None

    def samples(self, text: str) -> None:
        file = self.folder / "samples.csv"
        header = "" if file.exists() else "time_s,round,contender,scenario,pss_mib,threads,service_cpu_s\n"
        try:
            with file.open("a", encoding="utf-8") as out:
                out.write(header + text)
        except OSError as error:
            raise JournalError(f"{file} cannot be written: {error.strerror}; make room, then go on with --resume") from None


def cut_torn_tail(folder: Path) -> None:
    """Cut off a last line that was being written when the machine died or the disk was full: that cell is measured again."""
    file = folder / "cells.jsonl"
    if file.exists():
        data = file.read_bytes()
        if not data.endswith(b"\n"):
            os.truncate(file, data.rfind(b"\n") + 1)


def read_run(folder: Path) -> tuple[dict[str, Any], list[Cell]]:
    """run.json and the cells of a run.

    Raises JournalError where the folder is not one of a run.
    """
    try:
        run: dict[str, Any] = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise JournalError(f"{folder} holds no run: there is no readable run.json") from None
    try:
        lines = (folder / "cells.jsonl").read_text(encoding="utf-8").splitlines()
    except OSError:
        return run, []
    try:
        return run, read_cells(lines)
    except ValueError as error:
        raise JournalError(f"{folder}: {error}") from None


def write_whole(file: Path, text: str) -> None:
    unfinished = file.with_name(f"{file.name}.unfinished")
    try:
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(file)
    except OSError as error:
        raise JournalError(f"{file} cannot be written: {error.strerror}") from None
