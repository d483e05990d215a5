"""Builds the pinned k6 once, and writes the data that load.js needs for a cell."""

from __future__ import annotations

import hashlib
import json
import math
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from nsb.measure.process import Process
from nsb.measure.tools import run_step
from nsb.records.parts import TREND_STATS
from nsb.registry.scenario import Scenario
from nsb.registry.timing import Timing

TIMEOUT_S = 60
"""Longer than any answer a cell may wait for: a capped contender is slow, not wrong."""
HEAP_MIB, HEAP_PER_VU_MIB = 512, 0.5
"""k6 collects garbage only where its heap reaches this; a virtual user keeps 0.19–0.24 MB alive.

At Go's own pace the collector takes its one core for 10 ms at a time: the lag's p99 was 10–20 ms at 1000/s, without it 1–4 ms, and the
highest rate sustained on one core rose from below 1000/s to 4000/s.
"""
ALONE = (0, 1)
"""The first of one: no other k6 shares the load."""


def ensure(root: Path, go: str, say: Callable[[str], None]) -> Path:
    """The k6 that bench/k6/go.mod pins, built when that file has changed.

    Raises BuildError with the end of the compiler's output.
    """
    folder, program = root / "bench" / "k6", pinned(root)
    if program.exists():
        return program
    say("k6: building the pinned version (once, some minutes)")
    unfinished = program.with_suffix(".building")
    log = root / ".tools" / "built" / "k6.log"
    log.unlink(missing_ok=True)
    build = [go, "build", "-trimpath", "-o", str(unfinished), "go.k6.io/k6/v2"]
    run_step("k6", build, log, say, {**os.environ, "CGO_ENABLED": "0"}, folder)
    unfinished.rename(program)
    return program


def pinned(root: Path) -> Path:
    """Where the program of these pins is once it has been built."""
    folder = root / "bench" / "k6"
    pins = hashlib.sha256((folder / "go.mod").read_bytes() + (folder / "go.sum").read_bytes()).hexdigest()[:16]
    return root / ".tools" / f"k6-{pins}"


def version(program: Path) -> str:
    done = subprocess.run([program, "version"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return done.stdout.strip().splitlines()[0] if done.stdout.strip() else "unknown"


def environment(cpus: int, vus: int) -> dict[str, str]:
    """Hermetic: no usage report, no extension look-up, no user's configuration."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("K6_")}
    return {
        **kept,
        "K6_NO_USAGE_REPORT": "true",
        "K6_AUTO_EXTENSION_RESOLUTION": "false",
        "GOMAXPROCS": str(cpus),
        "GOGC": "off",
        "GOMEMLIMIT": f"{HEAP_MIB + round(HEAP_PER_VU_MIB * vus)}MiB",
        "HTTP_PROXY": "",
        "HTTPS_PROXY": "",
        "http_proxy": "",
        "https_proxy": "",
    }


def command(program: Path, root: Path, part: tuple[int, int] = ALONE) -> list[str]:
    script = root / "bench" / "k6" / ("load.js" if part == ALONE else "part.js")
    return [str(program), "run", "--quiet", "--no-color", "--address", "", *_segment(*part), str(script)]


def _segment(number: int, of: int) -> list[str]:
    """k6's own division of a load: part n sends each n-th arrival, or has its share of the users, under the numbers that one k6 would
    give them. Nothing of it is done twice, and nothing is left out."""
    if of == 1:
        return []
    edges = ["0", *(f"{edge}/{of}" for edge in range(1, of)), "1"]
    return ["--execution-segment", f"{edges[number]}:{edges[number + 1]}", "--execution-segment-sequence", ",".join(edges)]


def cell(
    scenario: Scenario, timing: Timing, workers: int, base_url: str, seed: int, now_s: float, summary: Path, together: bool = False
) -> tuple[dict[str, object], float]:
    """What load.js is told, and the epoch time at which the window opens. `together`: several begin when all of them have booted; one
    alone begins when it has."""
    opens_s = now_s + timing.boot_s + timing.spread_s + timing.settle_s
    closes_s = opens_s + timing.window_s
    begins_s = now_s + timing.boot_s if together else now_s
    data: dict[str, object] = {
        **_target(scenario, base_url),
        "beside": next(
            (
                {
                    **_target(scenario, base_url),
                    "url": base_url + heavy.path,
                    "body": heavy.body,
                    "hold_ms": heavy.hold_ms,
                    "every": heavy.every,
                }
                for heavy in scenario.heavy_requests
            ),
            None,
        ),
        "model": scenario.model,
        "rate": scenario.rate_for(workers),
        "vus": scenario.vus,
        "hold_ms": scenario.hold_ms,
        "spread_ms": scenario.spread_ms,
        "levels": [{"vus": users, "at_ms": round((opens_s + at_s) * 1000)} for at_s, users in scenario.level_starts(timing)],
        "still": [[round((opens_s + at_s) * 1000) for at_s in window] for window in scenario.steady_windows(timing)],
        "window_from_ms": round(opens_s * 1000),
        "window_to_ms": round(closes_s * 1000),
        # The scenario starts some 0.7 s after k6 does: from its own start it must last until the window closes.
        "duration_ms": round((closes_s - begins_s) * 1000),
        "begin_ms": round(begins_s * 1000),
        "drain_ms": round((2 * timing.drain_s + 10) * 1000),
        "timeout_ms": TIMEOUT_S * 1000,
        "seed": seed % 1_000_000,
        "iterations": scenario.iterations,
        "whole": scenario.ends,
        "keep_alive": scenario.reuses_connections,
        "summary": str(summary),
    }
    longest_s = scenario.longest_s(TIMEOUT_S)
    if longest_s is not None:
        data["drain_ms"] = round((TIMEOUT_S + 10) * 1000)
        if scenario.iterations is not None:
            data["duration_ms"] = round((opens_s - now_s + longest_s) * 1000)
    return data, opens_s


def _target(scenario: Scenario, base_url: str) -> dict[str, object]:
    return {
        "method": scenario.method,
        "url": base_url + scenario.path,
        "send": scenario.send,
        "body": scenario.body,
        "answer_status": scenario.answer_status,
        "ids": scenario.ids,
    }


def start(program: Path, root: Path, data: Mapping[str, object], cpus: Sequence[int], log: Path, part: tuple[int, int] = ALONE) -> Process:
    """One k6 on those cores, told what to do. `part`: which one it is of those that share the load. Raises ProcessError."""
    vus = data["vus"]
    assert isinstance(vus, int)
    base = environment(len(cpus), math.ceil(vus / part[1]))
    if part != ALONE:
        base["K6_SUMMARY_TREND_STATS"] = TREND_STATS
    return Process("k6", command(program, root, part), log, {**base, "NSB_CELL": json.dumps(data)}, cpus)
