"""A finished run as it is kept: its records, and one archive of the raw summaries that no report reads again."""

from __future__ import annotations

import contextlib
import io
import json
import lzma
import shutil
import tarfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from nsb.measure.integrity import SUMMED, SUMS, sums, verify
from nsb.measure.journal import RUN, SAMPLES, JournalError, cut_torn_tail, hold, write_whole

RAW = "raw.tar.xz"
SUMMARIES = "k6"
"""Where the generators' summaries lie while a run is measured; beside them, samples.csv."""
_PRESET = 9 | lzma.PRESET_EXTREME


def keep(run: Path, results: Path, name: str | None) -> Path:
    """Copies a run into `results`: records, raw archive, sums. Returns the new folder; its name is by default `<date>-<tier>`.

    The run itself stays as it is. Raises JournalError where it is still being written, is no run or is kept already, or the new folder
    exists; and Altered where a record is not what was written.
    """
    hold(run)
    verify(run)
    if packed(run):
        raise JournalError(f"{run} is kept already: it has a {RAW}")
    target = results / (name or _name(run))
    try:
        target.mkdir(parents=True)
    except FileExistsError:
        raise JournalError(f"{target} exists already: give the run another name by --name") from None
    try:
        for record in SUMMED:
            if (run / record).exists():
                shutil.copyfile(run / record, target / record)
        cut_torn_tail(target)
        write_whole(target / RAW, pack(run))
        write_whole(target / SUMS, sums(target))
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise
    return target


def _name(run: Path) -> str:
    try:
        facts = json.loads((run / RUN).read_text(encoding="utf-8"))
        return f"{facts['started_at'][:10].replace('-', '')}-{facts['plan']['tier']}"
    except (OSError, ValueError, KeyError, TypeError):
        raise JournalError(f"{run} holds no run: there is no readable {RUN}") from None


def packed(run: Path) -> bool:
    return (run / RAW).exists()


def pack(run: Path) -> bytes:
    """raw.tar.xz of the run's loose raw files: sorted by name, without owner or time, so that the same files give the same bytes.

    The compressed bytes are the same with the same liblzma; those of the archive within are the same everywhere.
    """
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in loose(run):
            content = (run / name).read_bytes()
            member = tarfile.TarInfo(name)  # owner 0, mtime 0, mode 0644
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return lzma.compress(plain.getvalue(), preset=_PRESET)


def loose(run: Path) -> list[str]:
    """The raw files of a run that is not packed, by their names below its folder, sorted."""
    return sorted(path.relative_to(run).as_posix() for path in [*(run / SUMMARIES).glob("*.json"), *run.glob(SAMPLES)])


def members(run: Path) -> list[str]:
    """The names of a run's raw files, packed or not. Raises JournalError."""
    return [name for name, _ in _members(run)] if packed(run) else loose(run)


def member(run: Path, name: str) -> bytes:
    """One raw file of a run, packed or not. Raises JournalError where there is none of that name."""
    if not packed(run):
        if name not in loose(run):
            raise JournalError(f"{run} has no raw file {name}")
        return (run / name).read_bytes()
    for found, content in _members(run):
        if found == name:
            return content
    raise JournalError(f"{run / RAW} has no member {name}")


def summaries(run: Path) -> Callable[[str], Any]:
    """Reads a run's k6 summaries by their names: None for one that is not there, or is no JSON. Raises JournalError.

    An archive is read once and kept in memory, each summary packed by itself: a day has 20,000 of them.
    """
    kept = {name: zlib.compress(content, 1) for name, content in _members(run) if name.startswith("k6/")} if packed(run) else None

    def read(name: str) -> Any:
        with contextlib.suppress(OSError, KeyError, ValueError):
            return json.loads((run / name).read_bytes() if kept is None else zlib.decompress(kept[name]))
        return None

    return read


def _members(run: Path) -> Iterator[tuple[str, bytes]]:
    """Name and content of each member, in the order of the archive."""
    try:
        with tarfile.open(run / RAW, "r:xz") as archive:
            for each in archive:
                content = archive.extractfile(each)
                if content is not None:
                    yield each.name, content.read()
    except (tarfile.TarError, lzma.LZMAError, EOFError) as error:
        raise JournalError(f"{run / RAW} cannot be read: {error}") from None
