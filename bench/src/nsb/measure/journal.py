"""The folder of a run. A result is written when it exists, whole or not at all, and never edited."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from nsb.errors import Failure
from nsb.measure.integrity import CHAIN, CHAINED, Altered, Chain, chain_of, link, verify
from nsb.measure.interrupt import undisturbed
from nsb.records.cells import Record
from nsb.records.schema import refuse_schema, to_json
from nsb.records.starts import Start, read_starts

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
    """Appends cells to `cells.jsonl`; each line reaches the disk before the next cell starts, and after it its link in `chain.sha256`.

    A run that was begun before there were chains goes on without one.
    """

    def __init__(self, folder: Path) -> None:
        """Raises JournalError where the folder cannot be written, and Altered where its records are not those that were written."""
        self.folder = folder
        try:
            (folder / "k6").mkdir(parents=True, exist_ok=True)
            (folder / "logs").mkdir(exist_ok=True)
        except OSError as error:
            raise JournalError(f"{folder} cannot be made: {error.strerror}; name another one by --out") from None
        hold(folder)
        if not any((folder / name).exists() for name in (*CHAINED, CHAIN)):
            write_whole(folder / CHAIN, "")
        chain = chain_of(folder)
        self._head = None if chain is None else chain.head

    def facts(self, run: Mapping[str, Any]) -> None:
        """run.json, which says that there is a chain: else one that is deleted would not be missed; and its link before it.

        Raises JournalError.
        """
        if self._head is None:
            write_whole(self.folder / RUN, to_json(run))
            return
        text = to_json({**run, "chain": CHAIN})
        known = hashlib.sha256(text.encode()).hexdigest()
        head, chain = link(self._head, known.encode()), self.folder / CHAIN
        with undisturbed():
            before = chain.stat().st_size
            _append(chain, f"{head}  {RUN} {known}\n")
            try:
                write_whole(self.folder / RUN, text)
            except JournalError:
                with contextlib.suppress(OSError):
                    os.truncate(chain, before)
                raise
            self._head = head

    def append(self, record: Record) -> None:
        """Returns when the line is on the disk. Raises JournalError where the disk is full: what was written before stays whole."""
        self._record(CELLS, record.line() + "\n")

    def start(self, start: Start) -> None:
        """One line of `starts.jsonl`, as safe as a cell. Raises JournalError."""
        self._record(STARTS, start.line() + "\n")

    def _record(self, name: str, line: str) -> None:
        """The line and then its link, both or none. Raises JournalError."""
        file = self.folder / name
        with undisturbed():
            before = file.stat().st_size if file.exists() else 0
            _append(file, line)
            if self._head is None:
                return
            head = link(self._head, line.encode())
            try:
                _append(self.folder / CHAIN, f"{head}  {name}\n")
            except JournalError:
                with contextlib.suppress(OSError):
                    os.truncate(file, before)
                raise
            self._head = head

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
    """Cut off a last line that was being written, or had no link yet, when the harness was killed: that cell is measured again.

    Raises JournalError, and Altered where the chain does not hold: then nothing is cut.
    """
    chain = chain_of(folder)
    ends = {} if chain is None else chain.ends
    for name in (CELLS, SAMPLES, STARTS, CHAIN):
        file = folder / name
        if not file.exists():
            continue
        try:
            with _opened(file, os.O_RDWR) as door:
                whole = ends.get(name, _whole(door))
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


def read_facts(folder: Path) -> dict[str, Any]:
    """run.json, once the chain of the run's records is verified.

    Raises JournalError where the folder is not one of a run, or one of another version of this program, and Altered where a record is
    not what was written.
    """
    try:
        run: dict[str, Any] = json.loads((folder / RUN).read_text(encoding="utf-8"))
        schema = run["schema"]
    except (OSError, ValueError, KeyError, TypeError):
        raise JournalError(f"{folder} holds no run: there is no readable {RUN}") from None
    try:
        refuse_schema(RUN, schema)
        if verify(folder) is None and "chain" in run:
            raise Altered(f"{folder / CHAIN} is missing: {RUN} says that there is one")
    except OSError as error:
        raise JournalError(f"{error.filename or folder} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise JournalError(f"{folder}: {error}") from None
    return run


def whole_lines(file: Iterable[bytes], name: str, chain: Chain | None) -> Iterator[bytes]:
    """Without a last one that is torn, or that has no link. By bytes: a text's "line" may also end within a sentence (U+2028)."""
    at = 0
    for line in file:
        at += len(line)
        if line.endswith(b"\n") and (chain is None or at <= chain.ends[name]):
            yield line


def read_starts_of(folder: Path) -> list[Start]:
    """The recorded starts of a run; none for a run that was made before they were recorded. Raises JournalError and Altered."""
    try:
        with (folder / STARTS).open("rb") as file:
            return read_starts(whole_lines(file, STARTS, chain_of(folder)))
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
