"""Facts about the machine, asked from the kernel and the running programs. Effects only.

What cannot be read is None: a file may be missing, or closed to an ordinary user.
"""

from __future__ import annotations

import os
import platform
import re
import resource
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nsb.measure.process import ALL_CORES
from nsb.registry import placement as placing
from nsb.registry.placement import Placement, Siblings, Unit
from nsb.registry.terms import Profile

SYSCTLS = (
    "net.core.somaxconn",
    "net.ipv4.tcp_max_syn_backlog",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_tw_reuse",
    "vm.swappiness",
    "vm.overcommit_memory",
)
TCP_COUNTERS = {
    "/proc/net/netstat": ("TcpExt", ("ListenOverflows", "ListenDrops", "TCPDSACKRecv", "TCPSynRetrans")),
    "/proc/net/snmp": ("Tcp", ("RetransSegs", "OutSegs")),
}


def facts(root: Path) -> dict[str, Any]:
    """What a reader needs to judge a number from this machine. Nothing in it names a person but the name given to the machine."""
    return {
        "name": platform.node(),
        "system": _os_release(),
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "cpu": _cpu_model(),
        "cores": len(ALL_CORES),
        "affinity": placing.listed(ALL_CORES),
        "topology": topology(),
        "frequency": frequency(),
        "virtual": virtualisation(),
        "memory_gib": None if (total := memory_kib("MemTotal")) is None else round(total / 2**20, 1),
        "cgroup": _cgroup(),
        "cgroup_limits": cgroup_limits().as_facts(),
        "clock_source": _read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "steal_seen": None if (stolen := _steal_s()) is None else stolen > 0,
        "limits": {"nofile": _limit(resource.RLIMIT_NOFILE), "nproc": _limit(resource.RLIMIT_NPROC)},
        "sysctls": {name: sysctl(name) for name in SYSCTLS},
        "libc": _libc(),
        "python": platform.python_version(),
        "commit": _git(root, "rev-parse", "HEAD") or "",
        "changed": None if (changes := _git(root, "status", "--porcelain", "--", ".", ":!bench/results")) is None else bool(changes),
    }


# --- placement -------------------------------------------------------------------------------------------------------


def placement(profile: Profile) -> Placement:
    """Which cores of this machine each role may use."""
    return placing.plan(ALL_CORES, siblings(), profile)


def placement_lines(profile: Profile, generators: Sequence[Unit] = ()) -> list[str]:
    """The placement in one line, a warning where roles share cores, and the cores of several generators."""
    place, near = placement(profile), siblings()
    warning = placing.warning(place, near)
    several = [placing.generators_line(generators, near)] if generators else []
    return [f"Cores: {placing.line(place)}", *([f"Warning: {warning}"] if warning else []), *several]


def parted(cores: Sequence[int], number: int) -> tuple[Unit, ...]:
    """The cores of each of several generators that have these in all."""
    return placing.parted(cores, number, siblings())


def default_profile() -> Profile:
    return "1cpu" if len(ALL_CORES) < 4 else "ncpu"


def raise_limits() -> int:
    """As many open files as the hard limit allows, since thousands of connections are the subject here; returns their number."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


# --- processors ------------------------------------------------------------------------------------------------------

CPUS = Path("/sys/devices/system/cpu")


def siblings(cpus: Path = CPUS) -> Siblings:
    """The cores of the mask with those on the same physical core; each alone where the kernel does not say."""
    return {core: _cores(_read(cpus / f"cpu{core}/topology/thread_siblings_list") or str(core)) for core in ALL_CORES}


def topology(cpus: Path = CPUS) -> dict[str, Any]:
    """Of the cores in the mask: packages, physical cores, and the groups of SMT siblings (empty without SMT)."""
    packages = {_read(cpus / f"cpu{core}/topology/physical_package_id") for core in ALL_CORES}
    groups = {tuple(sorted(cores)) for cores in siblings(cpus).values()}
    return {
        "packages": len(packages) if None not in packages else None,
        "physical_cores": len(groups),
        "smt": [list(group) for group in sorted(groups) if len(group) > 1],
    }


def frequency(cpus: Path = CPUS) -> dict[str, Any]:
    """Governors of the cores in the mask (None: the kernel does not steer the clock, as on most virtual machines), and turbo."""
    governors = {_read(cpus / f"cpu{core}/cpufreq/scaling_governor") for core in ALL_CORES} - {None}
    no_turbo, boost = _read(cpus / "intel_pstate/no_turbo"), _read(cpus / "cpufreq/boost")
    turbo = no_turbo == "0" if no_turbo is not None else None if boost is None else boost == "1"
    return {"governors": sorted(str(name) for name in governors) or None, "turbo": turbo}


def virtualisation() -> dict[str, Any]:
    """Hints, no proof: the processor's hypervisor flag, what the firmware calls the machine, and the kind of container."""
    flags = next((line for line in (_read("/proc/cpuinfo") or "").splitlines() if line.startswith("flags")), None)
    names = [_read(f"/sys/class/dmi/id/{name}") for name in ("sys_vendor", "product_name")]
    marks = {"docker": "/.dockerenv", "podman": "/run/.containerenv"}
    return {
        "hypervisor": None if flags is None else "hypervisor" in flags.split(),
        "firmware": " ".join(name for name in names if name) or None,
        "container": next((kind for kind, mark in marks.items() if os.path.lexists(mark)), None),
    }


def _cores(text: str) -> tuple[int, ...]:
    """0-3,8 as numbers."""
    found: list[int] = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return tuple(found)


def _steal_s() -> float | None:
    """Time that the hypervisor gave to others since boot (s); None where the kernel does not count it. 0 may mean that nobody tells it."""
    fields = (_read("/proc/stat") or "").partition("\n")[0].split()
    return int(fields[8]) / os.sysconf("SC_CLK_TCK") if len(fields) > 8 else None


def _cpu_model() -> str:
    for line in (_read("/proc/cpuinfo") or "").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown"


# --- cgroups ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CgroupLimits:
    """What the control groups of this process allow it, the strictest of all levels; None: no limit is set."""

    cpu_quota: float | None
    """Cores' worth of CPU time."""
    cpuset: str | None
    memory_mib: float | None
    memory_used_mib: float | None
    """Of the group that sets the memory limit."""

    def as_facts(self) -> dict[str, Any]:
        return {"cpu_quota": self.cpu_quota, "cpuset": self.cpuset, "memory_mib": self.memory_mib}


def cgroup_limits(proc: Path = Path("/proc/self"), root: Path = Path("/")) -> CgroupLimits:
    """Reads version 2, version 1, and hybrids of both (controller by controller). `root` stands before every mount point."""
    memory = list(_memory_limits(proc, root))
    limit, used = min(memory, key=lambda pair: pair[0]) if memory else (None, None)
    return CgroupLimits(
        cpu_quota=min(_cpu_quotas(proc, root), default=None),
        cpuset=_first(cgroup_levels(proc, root, "cpuset"), "cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus"),
        memory_mib=limit,
        memory_used_mib=used,
    )


def _cpu_quotas(proc: Path, root: Path) -> Iterator[float]:
    for folder in cgroup_levels(proc, root, "cpu"):
        words = (_read(folder / "cpu.max") or "").split()
        quota, period = map(_number, words if len(words) == 2 else (_read(folder / f"cpu.cfs_{name}_us") for name in ("quota", "period")))
        if quota is not None and period:
            yield quota / period


def _memory_limits(proc: Path, root: Path) -> Iterator[tuple[float, float | None]]:
    """Limit and use (MiB). Version 1 writes "none" as a number larger than any memory."""
    for folder in cgroup_levels(proc, root, "memory"):
        for limit, use in (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes")):
            most, used = _number(_read(folder / limit)), _number(_read(folder / use))
            if most is not None and most < 2**60:
                yield most / 2**20, None if used is None else used / 2**20


def cgroup_levels(proc: Path, root: Path, controller: str, of: Path | None = None) -> Iterator[Path]:
    """The folders of this process's group of a controller (or of the process `of`, by this one's mounts), from its own up to the topmost
    that is mounted."""
    paths: dict[str, str] = {}
    for line in (_read((of or proc) / "cgroup") or "").splitlines():
        _, names, path = line.split(":", 2)
        paths |= dict.fromkeys(names.split(","), path)  # version 2 is the one without a name
    old = bool(controller) and controller in paths
    mine = paths.get(controller if old else "")
    if mine is None:
        return
    for line in (_read(proc / "mountinfo") or "").splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        if kind == ("cgroup" if old else "cgroup2") and (not old or controller in options.split(",")):
            shown, mounted = before.split()[3:5]
            top = root / mounted.lstrip("/")
            inside = mine.removeprefix(shown.rstrip("/")) if mine.startswith(shown) else ""
            folder = top / inside.lstrip("/")
            yield from (level for level in (folder, *folder.parents) if level.is_relative_to(top))
            return


def _first(folders: Iterator[Path], *names: str) -> str | None:
    return next((text for folder in folders for name in names if (text := _read(folder / name))), None)


def _number(text: str | None) -> int | None:
    """None for what is no limit: "max" in version 2, -1 in version 1."""
    return int(text) if text is not None and text.isdecimal() else None


def _cgroup() -> str:
    kinds = {line.partition(" - ")[2].split(" ", 1)[0] for line in (_read("/proc/self/mountinfo") or "").splitlines()}
    if "cgroup2" in kinds:
        return "v1 hybrid" if "cgroup" in kinds else "v2"
    return "v1" if "cgroup" in kinds else "none"


# --- memory, network and the rest ------------------------------------------------------------------------------------


def memory_kib(name: str) -> int | None:
    """One line of /proc/meminfo (KiB)."""
    for line in (_read("/proc/meminfo") or "").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1])
    return None


def swap_used_mib() -> float | None:
    total, free = memory_kib("SwapTotal"), memory_kib("SwapFree")
    return None if total is None or free is None else round((total - free) / 1024, 1)


def swapped_pages() -> int | None:
    """Pages written to and read from swap since boot."""
    found = dict(line.split() for line in (_read("/proc/vmstat") or "").splitlines() if line.startswith("pswp"))
    return int(found["pswpin"]) + int(found["pswpout"]) if {"pswpin", "pswpout"} <= set(found) else None


def memory_available_mib() -> float | None:
    """What this process and its children may still use without swapping: of the machine and of its control group, the less (MiB)."""
    machine, group = memory_kib("MemAvailable"), cgroup_limits()
    left = [machine / 1024] if machine is not None else []
    if group.memory_mib is not None:
        left.append(group.memory_mib - (group.memory_used_mib or 0.0))
    return min(left, default=None)


def sysctl(name: str) -> str | None:
    """Several values with one space between them."""
    text = _read(Path("/proc/sys") / name.replace(".", "/"))
    return None if text is None else " ".join(text.split())


def tcp_memory_mib() -> float | None:
    """What the buffers of all TCP sockets hold now (/proc/net/sockstat counts pages, proc(5)); None where it cannot be read."""
    try:
        words = re.search(r"^TCP: .* mem (\d+)", Path("/proc/net/sockstat").read_text(), re.MULTILINE)
    except OSError:
        return None
    return None if words is None else round(int(words[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20, 2)


def slab_memory_mib() -> float | None:
    """What the kernel's slab allocator holds, of the whole machine (MiB)."""
    return None if (kib := memory_kib("Slab")) is None else round(kib / 1024, 2)


def tcp_counters() -> dict[str, int] | None:
    """Accept queues overflown, segments sent and sent again, of the network namespace since boot; None where the kernel does not say."""
    found: dict[str, int] = {}
    for file, (protocol, names) in TCP_COUNTERS.items():
        lines = [line.split() for line in (_read(file) or "").splitlines() if line.startswith(f"{protocol}:")]
        if len(lines) != 2:
            return None
        known = dict(zip(*lines, strict=False))
        if not all(name in known for name in names):
            return None
        found |= {name: int(known[name]) for name in names}
    return found


def _limit(which: int) -> dict[str, int | None]:
    """Soft and hard; None: unlimited."""
    soft, hard = (None if value == resource.RLIM_INFINITY else value for value in resource.getrlimit(which))
    return {"soft": soft, "hard": hard}


def _libc() -> str | None:
    try:
        return os.confstr("CS_GNU_LIBC_VERSION")
    except (OSError, ValueError):
        return None


def _read(path: str | Path) -> str | None:
    try:
        return Path(path).read_text(errors="replace").strip()
    except OSError:
        return None


def _os_release() -> str:
    for line in (_read("/etc/os-release") or "").splitlines():
        if line.startswith("PRETTY_NAME="):
            return line.split("=", 1)[1].strip('"')
    return platform.system()


def _git(root: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
