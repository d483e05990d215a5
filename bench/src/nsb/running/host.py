"""Facts about the machine, asked from the kernel and the running programs. Effects only."""

from __future__ import annotations

import platform
import resource
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from nsb.model import Profile
from nsb.running.process import ALL_CORES


def facts(root: Path) -> dict[str, Any]:
    """What a reader needs to judge a number from this machine."""
    return {
        "name": platform.node(),
        "system": _os_release(),
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "cpu": _cpu_model(),
        "cores": len(ALL_CORES),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "cgroup": _cgroup(),
        "clock_source": _read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "nofile": resource.getrlimit(resource.RLIMIT_NOFILE)[0],
        "somaxconn": int(_read("/proc/sys/net/core/somaxconn") or 0),
        "port_range": (_read("/proc/sys/net/ipv4/ip_local_port_range") or "").split(),
        "commit": _git(root, "rev-parse", "HEAD"),
        "changed": bool(_git(root, "status", "--porcelain")),
        "python": platform.python_version(),
    }


@dataclass(frozen=True)
class Placement:
    """Which cores each role may use."""

    service: tuple[int, ...]
    generator: tuple[int, ...]
    database: tuple[int, ...]
    upstream: tuple[int, ...]

    def as_facts(self) -> dict[str, list[int]]:
        return {role: list(getattr(self, role)) for role in ("service", "generator", "database", "upstream")}


def placement(profile: Profile) -> Placement:
    """`1cpu`: the service alone on the last core, all else on the others. `ncpu`: all on all cores."""
    cores = ALL_CORES
    if profile == "ncpu" or len(cores) == 1:
        return Placement(cores, cores, cores, cores)
    return Placement(cores[-1:], cores[:-1], cores[:-1], cores[:-1])


def default_profile() -> Profile:
    return "1cpu" if len(ALL_CORES) < 4 else "ncpu"


def raise_limits() -> int:
    """As many open files as the hard limit allows, since thousands of connections are the subject here; returns their number."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return None


def _cpu_model() -> str:
    for line in (_read("/proc/cpuinfo") or "").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown"


def _os_release() -> str:
    for line in (_read("/etc/os-release") or "").splitlines():
        if line.startswith("PRETTY_NAME="):
            return line.split("=", 1)[1].strip('"')
    return platform.system()


def _cgroup() -> str:
    if Path("/sys/fs/cgroup/cgroup.controllers").exists():
        return "v2"
    if Path("/sys/fs/cgroup/unified").exists():
        return "v1 hybrid"
    return "v1" if Path("/sys/fs/cgroup/cpu").exists() else "none"


def _git(root: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()
