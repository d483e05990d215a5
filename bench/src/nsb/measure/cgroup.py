"""What a container uses and is held to, as its control group tells it, version 1 or 2. Effects only.

Docker's processes may belong to root: their memory maps are closed to an ordinary user, the files of their group are open to all.
"""

from __future__ import annotations

import contextlib
import os
import weakref
from dataclasses import dataclass
from pathlib import Path

from nsb.measure.host import cgroup_levels
from nsb.measure.process import Footprint, Limits, ProcessError

MIB = 2**20
UNLIMITED = 2**60
"""Version 1 writes "no limit" as a number larger than any memory (bytes)."""


@dataclass(frozen=True)
class Files:
    """The files of one version, each with the controller in whose folder it is."""

    cpu: tuple[str, str]
    memory: tuple[str, str]
    peak: tuple[str, str]
    statistics: tuple[str, str]
    idle: str
    """The line of the statistics that counts file pages that nobody has asked for lately (bytes)."""
    threads: tuple[str, str]
    limit: tuple[str, str]


VERSIONS = (
    Files(
        ("cpuacct", "cpuacct.usage"), ("memory", "memory.usage_in_bytes"), ("memory", "memory.max_usage_in_bytes"),
        ("memory", "memory.stat"), "total_inactive_file", ("pids", "pids.current"), ("memory", "memory.limit_in_bytes"),
    ),
    Files(
        ("", "cpu.stat"), ("", "memory.current"), ("", "memory.peak"),
        ("", "memory.stat"), "inactive_file", ("", "pids.current"), ("", "memory.max"),
    ),
)  # fmt: skip


class Group:
    """The control group of one container: a gauge."""

    def __init__(self, pid: int, proc: Path = Path("/proc"), root: Path = Path("/")) -> None:
        """Raises ProcessError where CPU, memory or threads of the process's group cannot be read."""

        def folder(controller: str) -> Path | None:
            return next(cgroup_levels(proc / "self", root, controller, proc / str(pid)), None)

        lacking: list[str] = []
        for files in VERSIONS:
            self._files = files
            self._folders = {name: folder(name) for name in {files.cpu[0], files.memory[0], files.threads[0]}}
            lacking = [
                name for where, name in (files.cpu, files.memory, files.statistics, files.threads) if not self._is_there(where, name)
            ]
            if not lacking:
                break
        else:
            raise ProcessError(
                f"the control group of process {pid} does not tell {', '.join(lacking)}: the engine must run on this machine, "
                "with the controllers cpu, memory and pids"
            )
        self._quota = next(cgroup_levels(proc / "self", root, "cpu", proc / str(pid)), None)
        self._peak: int | None = None
        self._marked = False

    def cpu_s(self) -> float:
        """What all its processes have used, those that have ended among them (s)."""
        text = self._read(self._files.cpu)
        if self._files.cpu[0]:
            return int(text or 0) / 1e9
        return _line(text, "usage_usec") / 1e6

    def footprint(self) -> Footprint:
        """Its memory but for idle file pages, which is what `docker stats` shows; no PSS: see docs/method.md. A group that has gone counts
        nothing."""
        used = int(self._read(self._files.memory) or 0)
        idle = _line(self._read(self._files.statistics), self._files.idle)
        highest = self._highest()
        return Footprint(
            pss_mib=max(0, used - idle) / MIB,
            threads=int(self._read(self._files.threads) or 0),
            fallen_mib=0.0 if highest is None else max(0, highest - used) / MIB,
        )

    def switches(self) -> None:
        """No control group counts them."""
        return

    def forget_peak(self) -> bool:
        """Version 1: for all readers, by root. Version 2: for this reader alone, from Linux 6.12 on, by root."""
        try:
            if self._peak is None:
                self._peak = os.open(self._path(*self._files.peak), os.O_RDWR)
                weakref.finalize(self, os.close, self._peak)  # it is this open file whose mark version 2 sets
            os.pwrite(self._peak, b"0\n", 0)
        except OSError:
            self._marked = False
            return False
        self._marked = True
        return True

    def limits(self) -> Limits:
        """As the files say, whatever was asked for."""
        text = self._read(self._files.limit)
        most = int(text) if text is not None and text.isdecimal() else None
        return Limits(None if most is None or most >= UNLIMITED else most / MIB, self._cpu_limit())

    def _cpu_limit(self) -> str | None:
        def read(name: str) -> str | None:
            with contextlib.suppress(OSError):
                return (self._quota / name).read_text().strip() if self._quota else None
            return None

        words = (read("cpu.max") or f"{read('cpu.cfs_quota_us')} {read('cpu.cfs_period_us')}").split()
        if words[0] in ("max", "-1"):
            return "none"
        return f"{int(words[0]) / int(words[1]):g} cores" if words[0].isdecimal() and words[1].isdecimal() else None

    def _highest(self) -> int | None:
        """Since forget_peak(), where that was allowed (bytes)."""
        if self._peak is None or not self._marked:
            return None
        try:
            return int(os.pread(self._peak, 64, 0))
        except (OSError, ValueError):
            return None

    def _path(self, controller: str, name: str) -> Path:
        folder = self._folders[controller]
        assert folder is not None
        return folder / name

    def _is_there(self, controller: str, name: str) -> bool:
        return self._folders[controller] is not None and self._path(controller, name).is_file()

    def _read(self, which: tuple[str, str]) -> str | None:
        with contextlib.suppress(OSError):
            return self._path(*which).read_text().strip()
        return None


def _line(text: str | None, name: str) -> int:
    """The number in the line of that name; 0 where the group has gone."""
    return next((int(line.split()[1]) for line in (text or "").splitlines() if line.startswith(f"{name} ")), 0)
