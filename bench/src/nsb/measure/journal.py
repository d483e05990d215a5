"""The folder of a run. A result is written when it exists, whole or not at all, and never edited."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from nsb.analyse.starts import Start, read_starts
from nsb.errors import Failure
from nsb.measure.interrupt import undisturbed
from nsb.registry.model import Cell, read_cells, refuse_schema, to_json

CELLS, SAMPLES, STARTS, RUN = "cells.jsonl", "samples.csv", "starts.jsonl", "run.json"
RESUME = "make room, then go on with --resume"


class JournalError(Failure):
    """The run's folder cannot be read or written; the message says what to do."""


_held: dict[Path, int] = {}
"""Run folders that this process writes into → the descriptor that has the lock."""


def hold(folder: Path) -> None:
    """Keeps every other harness out of a run's folder until this process ends.

    Raises JournalError where another one is in it.
    """
    folder = folder.resolve()
    if folder in _held:
        return
    try:
        door = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise JournalError(f"{folder} cannot be opened: {error.strerror}") from None
    try:
        fcntl.flock(door, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(door)
        raise JournalError(f"{folder} is being written by another run: wait for it, or end it") from None
    _held[folder] = door


class Journal:
    """Appends cells to `cells.jsonl`; each line reaches the disk before the next cell starts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            (folder / "k6").mkdir(parents=True, exist_ok=True)
            (folder / "logs").mkdir(exist_ok=True)
        except OSError as error:
            raise JournalError(f"{folder} cannot be made: {error.strerror}; name another one by --out") from None
        hold(folder)

    def facts(self, run: Mapping[str, Any]) -> None:
        write_whole(self.folder / RUN, to_json(run))

    def append(self, cell: Cell) -> None:
        """Returns when the line is on the disk. Raises JournalError where the disk is full: what was written before stays whole."""
        _append(self.folder / CELLS, cell.line() + "\n")

    def start(self, start: Start) -> None:
        """One line of `starts.jsonl`, as safe as a cell. Raises JournalError."""
        _append(self.folder / STARTS, start.line() + "\n")

    def samples(self, text: str) -> None:
        file = self.folder / SAMPLES
        header = "" if file.exists() else "time_s,round,contender,scenario,pss_mib,threads,service_cpu_s\n"
        _append(file, header + text)


def _append(file: Path, text: str) -> None:
    """All of the text on the disk, or none of it in the file. Raises JournalError."""
    left = memoryview(text.encode())
    with undisturbed():
        try:
            new = not file.exists()
            with _opened(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND) as door:
                before = os.fstat(door).st_size
                try:
                    while left:
                        left = left[os.write(door, left) :]
                    os.fsync(door)
                except OSError:
                    with contextlib.suppress(OSError):
                        os.ftruncate(door, before)
                    raise
            if new:
                _sync_folder(file.parent)  # else the file itself could be lost with the machine
        except OSError as error:
            raise JournalError(f"{file} cannot be written: {error.strerror}; {RESUME}") from None


@contextlib.contextmanager
def _opened(path: Path, flags: int) -> Iterator[int]:
    door = os.open(path, flags, 0o644)
    try:
        yield door
    finally:
        os.close(door)


def _sync_folder(folder: Path) -> None:
    with _opened(folder, os.O_RDONLY | os.O_DIRECTORY) as door:
        os.fsync(door)


def cut_torn_tail(folder: Path) -> None:
    """Cut off a last line that was being written when the harness was killed or the machine died: that cell is measured again."""
    for name in (CELLS, SAMPLES, STARTS):
        file = folder / name
        if not file.exists():
            continue
        try:
            with _opened(file, os.O_RDWR) as door:
                whole = _whole(door)
                if whole < os.fstat(door).st_size:
                    os.ftruncate(door, whole)
                    os.fsync(door)
        except OSError as error:
            raise JournalError(f"{file} cannot be written: {error.strerror}; {RESUME}") from None


def _whole(door: int, block: int = 1 << 16) -> int:
    """Bytes up to the end of the last whole line."""
    end = os.fstat(door).st_size
    while end > 0:
        begin = max(0, end - block)
        at = os.pread(door, end - begin, begin).rfind(b"\n")
        if at >= 0:
            return begin + at + 1
        end = begin
    return 0


def read_run(folder: Path) -> tuple[dict[str, Any], list[Cell]]:
    """run.json and the cells of a run, without their checks (model.read_cells).

    Raises JournalError where the folder is not one of a run, or one of another version of this program.
    """
    try:
        run: dict[str, Any] = json.loads((folder / RUN).read_text(encoding="utf-8"))
        schema = run["schema"]
    except (OSError, ValueError, KeyError, TypeError):
        raise JournalError(f"{folder} holds no run: there is no readable {RUN}") from None
    try:
        refuse_schema(RUN, schema)
        with (folder / CELLS).open("rb") as file:
            return run, read_cells(_whole_lines(file))
    except FileNotFoundError:
        return run, []
    except OSError as error:
        raise JournalError(f"{folder / CELLS} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise JournalError(f"{folder}: {error}") from None


def _whole_lines(file: Iterable[bytes]) -> Iterator[bytes]:
    """Without a torn last one. By bytes: a text's "line" may also end within a sentence (U+2028), or within a letter."""
    return (line for line in file if line.endswith(b"\n"))


def read_starts_of(folder: Path) -> list[Start]:
    """The recorded starts of a run; none for a run that was made before they were recorded. Raises JournalError."""
    try:
        with (folder / STARTS).open("rb") as lines:
            return read_starts(lines)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise JournalError(f"{folder / STARTS} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise JournalError(f"{folder}: {error}") from None


def write_whole(file: Path, content: str | bytes) -> None:
    """The file with its new content on the disk, or as it was. Raises JournalError."""
    unfinished = file.with_name(f"{file.name}.unfinished")
    with undisturbed():
        try:
            try:
                with unfinished.open("wb") as out:
                    out.write(content.encode() if isinstance(content, str) else content)
                    out.flush()
                    os.fsync(out.fileno())
                unfinished.replace(file)
            except OSError:
                unfinished.unlink(missing_ok=True)
                raise
            _sync_folder(file.parent)
        except OSError as error:
            raise JournalError(f"{file} cannot be written: {error.strerror}") from None
