"""oha, the second load generator: builds the pinned version once, and drives one closed cell with it."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from nsb.analyse.second import Count
from nsb.analyse.validity import Stats
from nsb.measure.process import Process, ProcessError, run
from nsb.measure.tools import Workshop
from nsb.registry.model import SECOND_BOOT_S, SECOND_TAIL_S, Scenario, Timing

NAME = "oha"
SOURCES = ("Cargo.toml", "Cargo.lock", "src/main.rs")


@dataclass(frozen=True)
class Generator:
    """The built program and what it calls itself, or why there is none."""

    program: Path | None
    version: str = NAME
    why_not: str = ""

    def start(self, url: str, scenario: Scenario, timing: Timing, cpus: Sequence[int], report: Path, log: Path) -> Process:
        """One oha on those cores, over settle and window and a little longer. Raises ProcessError."""
        assert self.program is not None
        report.parent.mkdir(parents=True, exist_ok=True)
        lasts_s = SECOND_BOOT_S + timing.settle_s + timing.window_s + SECOND_TAIL_S
        return Process(NAME, command(self.program, url, scenario, lasts_s, len(cpus), report), log, cpus=cpus)


def command(program: Path, url: str, scenario: Scenario, lasts_s: float, threads: int, report: Path) -> list[str]:
    """HTTP/1.1 on kept connections, one request at a time on each; those under way at the end are waited for (-w): none is cut off."""
    return [
        str(program),
        *("--no-tui", "--output-format", "json", "--output", str(report)),
        *("-z", f"{round(lasts_s * 1000)}ms", "-w"),
        *("-c", str(scenario.vus), "--worker-threads", str(threads)),
        *(("-m", scenario.method, "-T", "application/json", "-d", scenario.send) if scenario.send is not None else ()),
        "--disable-compression",  # k6 does not offer to unpack answers either
        url,
    ]


def prepare(workshop: Workshop, scenarios: Sequence[Scenario], rehearsal: bool, say: Callable[[str], None]) -> Generator | None:
    """oha for a run that may need it; None where no scenario is measured again. That it cannot be had is said, and no error.

    A rehearsal (one round) takes an oha that is there and does not build one: that takes longer than half of such a run.
    """
    again = [scenario.id for scenario in scenarios if scenario.measured_again]
    if not again:
        return None
    if rehearsal and not pinned(workshop.root).exists():
        why_not = "a run of one round does not build it; standard and publish do, once"
    elif "cargo" not in workshop.found and not pinned(workshop.root).exists():
        why_not = workshop.missing["cargo"].sentence
    else:
        try:
            program = ensure(workshop.root, workshop.found["cargo"].path if "cargo" in workshop.found else "cargo", say)
            return Generator(program, version(program))
        except ProcessError as error:
            why_not = str(error)
    say(f"{', '.join(again)} is not measured again with {NAME}: {why_not}")
    return Generator(None, why_not=why_not)


def ensure(root: Path, cargo: str, say: Callable[[str], None]) -> Path:
    """The oha that bench/oha/Cargo.lock pins, built when its sources have changed.

    Raises ProcessError with the compiler's last words.
    """
    folder, tools = root / "bench" / "oha", root / ".tools"
    program = pinned(root)
    if program.exists():
        return program
    say("oha: building the pinned version (once, some minutes)")
    target = tools / "oha-building"
    log = tools / "oha.log"
    log.unlink(missing_ok=True)
    build = [cargo, "build", "--release", "--locked", "--quiet", "--target-dir", str(target)]
    code = run(NAME, build, log, folder=folder)
    if code != 0:
        lines = [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
        last = lines[-1] if lines else f"cargo ended with {code}"
        raise ProcessError(f"it could not be built: {last} (all of it: {log.relative_to(root)})")
    (target / "release" / "oha").rename(program)
    shutil.rmtree(target)
    return program


def pinned(root: Path) -> Path:
    """Where the program of these sources is once it has been built."""
    folder = root / "bench" / "oha"
    return root / ".tools" / f"oha-{hashlib.sha256(b''.join((folder / name).read_bytes() for name in SOURCES)).hexdigest()[:16]}"


def version(program: Path) -> str:
    """`oha 1.16.0`. Raises ProcessError where it does not start."""
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=20)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ProcessError(f"{program} does not start: {error}; remove it, and it is built again") from None
    if done.returncode != 0:
        raise ProcessError(f"{program} ended with {done.returncode}: {done.stderr.strip()[-200:]}; remove it, and it is built again")
    return done.stdout.strip()


class Counter:
    """Reads the service's count at given moments, beside the main loop: a slow answer does not move a window's edge."""

    def __init__(self, read: Callable[[], Stats | None], at_s: Sequence[float]) -> None:
        """Read at each of those times (s since the epoch); each count carries the moment at which it was there."""
        self._counts: list[Count] = []
        self._thread = threading.Thread(target=self._run, args=(read, tuple(at_s)), daemon=True)
        self._thread.start()

    def _run(self, read: Callable[[], Stats | None], at_s: Sequence[float]) -> None:
        for each in at_s:
            time.sleep(max(0.0, each - time.time()))
            seen = read()
            if seen is None:
                return
            self._counts.append(Count(time.time(), seen.requests_total))

    def counts(self) -> list[Count]:
        """Those that were read; fewer than were asked for where `/stats` did not answer."""
        self._thread.join()
        return self._counts
