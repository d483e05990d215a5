"""Starting, watching and ending the processes of a run. Effects only: what is read here is judged elsewhere."""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import math
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import psutil

from nsb.errors import Failure
from nsb.measure.interrupt import ends, undisturbed

_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_STARTER = ThreadPoolExecutor(max_workers=1, thread_name_prefix="starter")
"""Starts every process: the kernel's death signal follows the *thread* that forked, so it must live as long as the harness."""


class ProcessError(Failure):
    """A process did not do what it must; the message is a sentence for the user."""


DAY_S = 86_400.0
"""The longest that is waited for in one go: poll(2) takes milliseconds as an int (s)."""
ALL_CORES = tuple(sorted(os.sched_getaffinity(0)))
"""The cores that the harness was given when it started."""


def port_is_free(port: int) -> bool:
    """Whether a server could bind this port of the loopback address now.

    Raises PermissionError for a privileged port of a user who may not bind one.
    """
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except PermissionError:
            raise
        except OSError:
            return False
        return True


_PORTS = itertools.count(os.getpid() * 997)
"""Processes that are started one after the other begin far apart: neither finds the other's service where its own was to be."""


def free_port() -> int:
    """A free TCP port of the loopback address, never the same twice, below the range of outgoing connections where there is room."""
    low = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    first = max(1024, low - 8000)
    for _ in range(low - first):
        port = first + next(_PORTS) % (low - first)
        if port_is_free(port):
            return port
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


_REAPER = """
import os, signal, subprocess, sys, time
told = set()
for line in sys.stdin:
    (told.add if line[0] == "+" else told.discard)(line[1:].strip())
for group in filter(str.isdecimal, told):
    try:
        os.killpg(int(group), signal.SIGKILL)
    except ProcessLookupError:
        pass
projects = [each for each in told if not each.isdecimal()]

def docker(*arguments):
    none = subprocess.DEVNULL
    return subprocess.run(["docker", *arguments], stdin=none, stdout=subprocess.PIPE, stderr=none).stdout.decode()

for again in range(3 if projects else 0):  # the engine may still be making what it was asked for last
    time.sleep(again)
    for project in projects:
        left = docker("ps", "--all", "--quiet", "--filter", "label=com.docker.compose.project=" + project).split()
        if left:
            docker("rm", "--force", "--volumes", *left)
"""


class Reaper:
    """A small process that knows the groups of the run and kills them when the harness has gone, however it went; and its
    compose project, whose containers are no children of the harness.

    The kernel's death signal reaches the started program alone: its workers, above all stopped ones, would stay.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._popen: subprocess.Popen[str] | None = None

    def tell(self, sign: str, what: int | str) -> None:
        """`+` a process group (a number) or a compose project (a name) has begun, `-` it has ended."""
        with self._lock:
            if self._popen is None:
                command = [sys.executable, "-S", "-c", _REAPER]
                self._popen = subprocess.Popen(command, stdin=subprocess.PIPE, text=True, start_new_session=True)
            assert self._popen.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                self._popen.stdin.write(f"{sign}{what}\n")
                self._popen.stdin.flush()


reaper = Reaper()


class Gauge(Protocol):
    """Reads what one role of a run uses."""

    def cpu_s(self) -> float:
        """CPU time used so far (s)."""
        ...

    def footprint(self) -> Footprint: ...

    def switches(self) -> dict[tuple[int, int], int] | None:
        """(process, thread) → context switches so far; None where nobody counts them."""

    def forget_peak(self) -> bool:
        """From now on the kernel marks the highest memory anew; False where that is not allowed."""
        ...


@dataclass(frozen=True)
class Limits:
    """What a program's own control group holds it to; None: it has no group of its own, or nobody can read it."""

    memory_mib: float | None = None
    cpu: str | None = None
    """`none`, or a quota of CPU time in words."""


class Program(Protocol):
    """A started program with everything that it starts: a process of this machine, or a container."""

    name: str
    log: Path
    began: float
    """Its exec, a time of time.monotonic()."""
    given: Mapping[str, str | None]
    """Variables that come with the program and not from the harness, those of a container's image (None: of any value)."""

    @property
    def pid(self) -> int:
        """Of its main process, as this machine sees it; 0 where there is none any more."""
        ...

    @property
    def exit_code(self) -> int | None:
        """The exit code (128 + n for signal n, as a shell says it), or None while it runs."""
        ...

    @property
    def stopped(self) -> bool:
        """Whether it is kept from running, by a signal or by being paused."""
        ...

    def tree(self) -> list[int]: ...

    def gauge(self) -> Gauge: ...

    def limits(self) -> Limits: ...

    def pin(self, cpus: Sequence[int]) -> None: ...

    def signal(self, number: int) -> None: ...

    def freeze(self) -> None: ...

    def thaw(self) -> None: ...

    def wait(self, deadline_s: float) -> int | None: ...

    def end(self, deadline_s: float = 10.0) -> int: ...

    def last_words(self, lines: int = 5) -> str: ...


class Process:
    """One started program with everything it starts, in a session of its own."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        log: Path,
        environment: Mapping[str, str] | None = None,
        cpus: Sequence[int] | None = None,
        folder: Path | None = None,
        reads: Path | None = None,
    ) -> None:
        """Start `command` with its output appended to `log`, pinned to `cpus` from its first instruction on. `reads`: its standard input.

        Raises ProcessError where the program cannot be started.
        """
        self.name = name
        self.log = log
        self.given: Mapping[str, str | None] = {}
        self._over = False
        log.parent.mkdir(parents=True, exist_ok=True)

        def in_child() -> None:
            # The kernel ends the child when the harness is killed: no process of a run outlives it.
            _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            # A descendant whose parent has ended becomes the program's own child: nobody leaves its tree by forking twice.
            _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1)  # kept across exec, not inherited by children (prctl(2))
            os.sched_setaffinity(0, ALL_CORES if cpus is None else cpus)  # the harness itself may be pinned

        try:
            output = log.open("ab")
        except OSError as error:
            raise ProcessError(f"{name} cannot be started: {log}: {error.strerror}") from None
        # Whole, else a stop that is asked for right now would leave a process that nobody knows.
        with output, reads.open("rb") if reads else contextlib.nullcontext() as source, undisturbed():
            self.began = time.monotonic()
            try:
                self._popen = _STARTER.submit(
                    subprocess.Popen,
                    list(command),
                    stdin=source or subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    env=dict(environment) if environment is not None else None,
                    cwd=folder,
                    start_new_session=True,
                    preexec_fn=in_child,
                ).result()
            except OSError as error:
                raise ProcessError(f"{name} cannot be started: {command[0]}: {error.strerror}") from None
            reaper.tell("+", self._popen.pid)
        self._process = psutil.Process(self._popen.pid)
        self._descendants: list[psutil.Process] = []
        """As last seen: those that left its group belong to nobody once it has ended."""

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def exit_code(self) -> int | None:
        """The exit code (128 + n for signal n, as a shell says it), or None while it runs."""
        code = self._popen.poll()
        return code if code is None or code >= 0 else 128 - code

    def tree(self) -> list[int]:
        """The process and all its descendants, those whose parent has ended included."""
        if not self._look():
            return []
        return [self.pid, *(child.pid for child in self._descendants)]

    def _look(self) -> bool:
        """Remembers all its descendants; False where it has gone, and those seen last stay known."""
        try:
            self._descendants = list(self._process.children(recursive=True))
        except psutil.NoSuchProcess:
            return False
        return self.exit_code is None

    def limits(self) -> Limits:
        return Limits()

    def gauge(self) -> Gauge:
        """Of the processes that there are now."""
        return Tree(self.tree())

    def pin(self, cpus: Sequence[int]) -> None:
        """Keep the whole tree on these cores from now on: every thread there is, and so every thread they will start."""
        for pid in self.tree():
            pin(pid, cpus)

    def signal(self, number: int) -> None:
        """To the main process alone, which may end by it. Raises ProcessLookupError where it has gone."""
        if self.exit_code is None:
            self._look()
        os.kill(self.pid, number)

    def signal_group(self, number: int) -> None:
        if not self._over:  # afterwards the number may be another's
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, number)

    def freeze(self) -> None:
        """Stop the whole group from running (SIGSTOP), sockets and memory kept."""
        self.signal_group(signal.SIGSTOP)

    def thaw(self) -> None:
        self.signal_group(signal.SIGCONT)

    @property
    def stopped(self) -> bool:
        """Whether it was kept from running by a signal (SIGSTOP)."""
        with contextlib.suppress(psutil.NoSuchProcess):
            return bool(self._process.status() == psutil.STATUS_STOPPED)
        return False

    def wait(self, deadline_s: float) -> int | None:
        """The exit code, or None where the process still runs after `deadline_s`."""
        until = time.monotonic() + deadline_s
        if self.exit_code is None:
            with contextlib.suppress(OSError):  # it has just ended, or this kernel is older than 5.3
                self._watch(deadline_s)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(max(0.0, until - time.monotonic()))
        return self.exit_code

    def _watch(self, deadline_s: float) -> None:
        """Until it ends: Popen.wait looks every 50 ms, and a cell waits for ten programs. Raises OSError."""
        descriptor = os.pidfd_open(self.pid)
        try:
            watching = select.poll()
            watching.register(descriptor, select.POLLIN)
            watching.poll(max(0.0, min(deadline_s, DAY_S)) * 1000)
        finally:
            os.close(descriptor)

    def end(self, deadline_s: float = 10.0) -> int:
        """SIGTERM to the main process, SIGKILL to the group after the deadline, which is short once a stop was asked for.

        Returns the exit code.
        """
        if not self._over:
            if self.exit_code is None:
                self._look()
                self.thaw()
                with contextlib.suppress(ProcessLookupError):
                    self._popen.terminate()
                ends(lambda: self.exit_code is not None, deadline_s)
            self.signal_group(signal.SIGKILL)  # whatever of the group is left
            for each in self._descendants:
                with contextlib.suppress(psutil.NoSuchProcess, psutil.TimeoutExpired):
                    each.kill()  # it may have left the group
                    each.wait(2)
            self._popen.wait()
            self._over = True
            reaper.tell("-", self._popen.pid)
        code = self.exit_code
        return code if code is not None else -1

    def last_words(self, lines: int = 5) -> str:
        """The last lines it wrote, for an error message."""
        with contextlib.suppress(OSError):
            text = self.log.read_text(encoding="utf-8", errors="replace").strip()
            return "\n".join(text.splitlines()[-lines:])
        return ""


def run(
    name: str,
    command: Sequence[str],
    log: Path,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    longest_s: float = math.inf,
    reads: Path | None = None,
) -> int:
    """Runs a program to its end, its output appended to `log`; returns the exit code.

    What it started ends with it, also where the harness is stopped meanwhile: a compiler is many processes.
    Raises ProcessError where it cannot be started, or has not ended after `longest_s`.
    """
    process = Process(name, command, log, environment, folder=folder, reads=reads)
    try:
        ended = process.wait(longest_s) is not None
    finally:
        code = process.end()
    if not ended:
        raise ProcessError(f"{name}: `{' '.join(command)}` had not ended after {longest_s / 60:.3g} minutes and was stopped")
    return code


def pin(pid: int, cpus: Sequence[int]) -> None:
    """Set the cores of all threads of a process; twice, for threads that were being started meanwhile."""
    for _ in range(2):
        with contextlib.suppress(FileNotFoundError):
            for thread in Path(f"/proc/{pid}/task").iterdir():
                with contextlib.suppress(ProcessLookupError):
                    os.sched_setaffinity(int(thread.name), cpus)


def cpu_s(pids: Sequence[int]) -> float:
    """CPU time that the processes have used, ended threads included (s, nanosecond resolution).

    Reads each process's CPU clock (clock_getcpuclockid(3): clock id = ~pid << 3 | CPUCLOCK_SCHED), which is the scheduler's own sum:
    /proc/PID/stat counts ticks of 10 ms, and the schedstat files forget threads that have ended.
    """
    total = 0.0
    for pid in pids:
        with contextlib.suppress(OSError):
            total += time.clock_gettime((~pid << 3) | 2)
    return total


def waits_s(pids: Sequence[int]) -> dict[Path, float] | None:
    """How long each of their threads was ready to run and had no core (schedstat, second field; s). None where it is not told."""
    found = {}
    for pid in pids:
        try:
            threads = list(Path(f"/proc/{pid}/task").iterdir())
        except OSError:
            continue
        for thread in threads:
            try:
                found[thread] = int((thread / "schedstat").read_text().split()[1]) / 1e9
            except ProcessLookupError:
                continue
            except FileNotFoundError:
                if thread.exists():  # a kernel without it, and not a thread that has ended
                    return None
            except (OSError, IndexError, ValueError):
                return None
    return found


def waited_s(before: Mapping[Path, float] | None, after: Mapping[Path, float] | None) -> float | None:
    """How long threads waited together between two readings (s). Those that ended in between are not in it: Tomcat ends the ones that rest,
    with all that they had ever waited."""
    if before is None or after is None:
        return None
    return sum(each - before.get(thread, 0.0) for thread, each in after.items())


COMPILERS = ("C1 Compiler", "C2 Compiler", "JVMCI Compiler")
"""How the names of a JVM's compiler threads begin."""


def compilers(pids: Sequence[int]) -> list[Path]:
    """The threads that compile for a JVM, as their folders in /proc. HotSpot names them; other runtimes compile on threads that have other
    work, too."""
    found = []
    for pid in pids:
        with contextlib.suppress(OSError):
            for thread in Path(f"/proc/{pid}/task").iterdir():
                with contextlib.suppress(OSError):
                    if (thread / "comm").read_text(errors="replace").startswith(COMPILERS):
                        found.append(thread)
    return found


def threads_cpu_s(threads: Sequence[Path]) -> dict[Path, float]:
    """CPU that each of these threads has used (schedstat, first field; s), without those that have ended or of which nobody tells."""
    found = {}
    for thread in threads:
        with contextlib.suppress(OSError, IndexError, ValueError):
            found[thread] = int((thread / "schedstat").read_text().split()[0]) / 1e9
    return found


def spent_s(before: Mapping[Path, float], after: Mapping[Path, float]) -> float | None:
    """CPU that threads used between two readings, of those in both (s); None where there is none: a JVM ends compilers that rest."""
    both = before.keys() & after.keys()
    return sum(after[thread] - before[thread] for thread in both) if both else None


@dataclass(frozen=True)
class Footprint:
    """Memory (MiB) and threads of a role at one time."""

    pss_mib: float
    """PSS of a process tree, what was swapped included; of a container what its control group holds but for idle file pages
    (nsb.measure.cgroup)."""
    threads: int
    fallen_mib: float
    """By how much its processes have fallen from their highest resident memory, since their start or since forget_peak()."""


def footprint(pids: Sequence[int]) -> Footprint:
    """PSS, not RSS: pages that workers share count once. A process that has ended counts nothing.

    Of one process alone all its own memory counts: who shares that with it is not among those that are asked about.
    """
    kib = threads = fallen = 0
    for pid in pids:
        with contextlib.suppress(OSError, IndexError):  # a process that ended between the two has a status without memory
            rollup, status = (Path(f"/proc/{pid}/{name}").read_text() for name in ("smaps_rollup", "status"))
            pss = _kib(rollup, "Pss") + _kib(rollup, "SwapPss")
            own, high, now = (int(status.split(f"\n{name}:", 1)[1].split()[0]) for name in ("Threads", "VmHWM", "VmRSS"))
            kib, threads, fallen = kib + pss, threads + own, fallen + max(0, high - now)
            if len(pids) == 1:
                kib += _lent(rollup)
    return Footprint(kib / 1024, threads, fallen / 1024)


def lent_mib(pid: int) -> float:
    """How much of a process's own memory PSS counts to others, who map it too (MiB)."""
    with contextlib.suppress(OSError, IndexError):
        return _lent(Path(f"/proc/{pid}/smaps_rollup").read_text()) / 1024
    return 0.0


def _lent(rollup: str) -> int:
    """KiB. 0 where the kernel does not tell PSS by kind."""
    return _kib(rollup, "Anonymous") - _kib(rollup, "Pss_Anon") if "\nPss_Anon:" in rollup else 0


def _kib(rollup: str, name: str) -> int:
    return int(rollup.split(f"\n{name}:", 1)[1].split()[0])


def switches(pids: Sequence[int]) -> dict[tuple[int, int], int]:
    """(process, thread) → its context switches so far, voluntary and not (proc(5)).

    Threads that have ended are not in it: /proc keeps no sum of theirs, so it is for services whose threads stay.
    """
    found: dict[tuple[int, int], int] = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            for thread in Path(f"/proc/{pid}/task").iterdir():
                with contextlib.suppress(OSError):
                    told = (thread / "status").read_text().splitlines()
                    found[pid, int(thread.name)] = sum(int(line.split()[1]) for line in told if "_ctxt_switches:" in line)
    return found


def forget_peak(pids: Sequence[int]) -> bool:
    """Sets the kernel's high-water mark of resident memory to what it is now (proc(5), clear_refs, 5); False where that is not allowed."""
    try:
        for pid in pids:
            Path(f"/proc/{pid}/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return False
    return True


@dataclass(frozen=True)
class Tree:
    """A gauge of processes."""

    pids: Sequence[int]
    _last: dict[int, float] = field(default_factory=dict)

    def cpu_s(self) -> float:
        """Of one that has ended, what it had used when it was looked at last."""
        for pid in self.pids:
            self._last[pid] = max(self._last.get(pid, 0.0), cpu_s([pid]))
        return sum(self._last.values())

    def footprint(self) -> Footprint:
        return footprint(self.pids)

    def switches(self) -> dict[tuple[int, int], int]:
        return switches(self.pids)

    def forget_peak(self) -> bool:
        return forget_peak(self.pids)


@dataclass(frozen=True)
class MachineTimes:
    """Over the cores that the harness was given (s). Only differences of two readings have a meaning."""

    busy: float
    steal: float


def machine_times() -> MachineTimes:
    """What the other cores of the machine do is none of a run's business: a run has the cores of its affinity mask."""
    return times_of(Path("/proc/stat").read_text(), time.monotonic(), ALL_CORES)


def times_of(stat: str, at_s: float, cores: Iterable[int]) -> MachineTimes:
    """From the text of /proc/stat as it was at `at_s`.

    Busy is what was not idle. Most kernels count user and system by looking at each tick (CONFIG_TICK_CPU_ACCOUNTING), so users who come
    250 times a second, at a tick of 250 Hz, are seen always or never; idle time they measure (CONFIG_NO_HZ_IDLE).
    """
    found = _not_busy(stat, cores)
    # Interrupts are charged to tasks on some kernels only: left out on all.
    return MachineTimes(sum(at_s - idle - interrupts - stolen for idle, interrupts, stolen in found), sum(stolen for *_, stolen in found))


def _not_busy(stat: str, cores: Iterable[int]) -> list[tuple[float, float, float]]:
    """Of each core since boot (s): idle, which contains waiting for I/O; interrupts; stolen (proc(5))."""
    found, mine = [], {f"cpu{core}" for core in cores}
    for line in stat.splitlines():
        name, *fields = line.split()
        if name in mine:
            idle, iowait, irq, softirq, stolen = (int(field) / _TICKS_PER_S for field in fields[3:8])
            found.append((idle + iowait, irq + softirq, stolen))
    return found


_SCHED_GETATTR = {"x86_64": 315, "aarch64": 275}.get(os.uname().machine)
"""The number of the system call; None: of an architecture that nobody has looked up."""


class _Attributes(ctypes.Structure):
    """struct sched_attr (sched_setattr(2)), in its first version."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("policy", ctypes.c_uint32),
        ("flags", ctypes.c_uint64),
        ("nice", ctypes.c_int32),
        ("priority", ctypes.c_uint32),
        ("runtime_ns", ctypes.c_uint64),
        ("deadline_ns", ctypes.c_uint64),
        ("period_ns", ctypes.c_uint64),
    )


def scheduled(thread: int) -> float | None:
    """How long a thread of the usual policies runs before others may (ms), which it can choose from Linux 6.12 on; 0: the harness.
    None where the kernel does not tell."""
    found = _Attributes()
    size = ctypes.sizeof(found)
    if _SCHED_GETATTR is None or _LIBC.syscall(_SCHED_GETATTR, thread, ctypes.byref(found), size, 0) != 0:
        return None
    return float(found.runtime_ns) / 1e6


def idle_s(cores: Sequence[int]) -> float:
    """How long these cores had nothing to do since boot, all together (s)."""
    return sum(idle for idle, _, _ in _not_busy(Path("/proc/stat").read_text(), cores))
