"""In the place of k6: sends nothing, waits until the window has closed and says that all went well.

One of several (`--execution-segment`) sends its share, and tells its trends as part.js does.

FAKE_K6 says how it misbehaves: `crash`, `killed`, `no summary`, `garbage`, `kill service` (its main process), `stop service`, `hang` (past
every deadline, deaf to SIGTERM).
FAKE_K6_ONCE names a file: where it is there already, all goes well.
For tests only; it imports nothing of the project.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import urllib.request
from fractions import Fraction
from pathlib import Path

CELL = json.loads(os.environ["NSB_CELL"])
WHOLE_MS = 400.0
"""When the last answer of a whole load came; k6 itself needs as long again to end."""
FAKE = os.environ.get("FAKE_K6", "")
ONCE = os.environ.get("FAKE_K6_ONCE")
SEGMENT = sys.argv[sys.argv.index("--execution-segment") + 1] if "--execution-segment" in sys.argv else "0:1"
STEPS = [stat for stat in os.environ.get("K6_SUMMARY_TREND_STATS", "").split(",") if stat.startswith("p(")]


def wait_until(at_ms: float) -> None:
    while (left := at_ms / 1000 - time.time()) > 0:
        time.sleep(left)


def fake() -> str:
    """What to do wrong in this process."""
    if FAKE and ONCE is not None:
        if Path(ONCE).exists():
            return ""
        Path(ONCE).touch()
    return FAKE


def summary() -> str:
    first, last = map(Fraction, SEGMENT.split(":"))
    count = round((CELL["rate"] or 100) * (CELL["window_to_ms"] - CELL["window_from_ms"]) / 1000 * float(last - first))

    def trend(number: int, ms: float) -> dict[str, object]:
        if STEPS:
            return {"count": number, "avg": ms, "min": ms, "max": ms, "edges": [ms] * len(STEPS)}
        return {"count": number, "avg": ms, "min": ms, "med": ms, "p(90)": ms, "p(99)": ms, "p(99.9)": ms, "max": ms}

    metrics: dict[str, dict[str, object]] = {"nsb_started{window:in}": {"count": count}, "nsb_checked_bodies": {"count": 2}}
    took = CELL["hold_ms"] + 1.0
    for name, ms in (("nsb_latency", took), ("nsb_service", took), ("nsb_iteration", took), ("nsb_lag", 0.0)):
        metrics[f"{name}{{window:in}}"] = trend(count, ms)
        metrics[f"{name}{{phase:h1}}"] = trend(count // 2, ms)
        metrics[f"{name}{{phase:h2}}"] = trend(count - count // 2, ms)
    if CELL["whole"]:
        metrics["nsb_moments"] = {**trend(2 * count, 200.0), "min": 0.0, "max": WHOLE_MS}
    return json.dumps({"metrics": metrics, "state": {"began_ms": CELL["begin_ms"] + 10 * float(first)}})


def main() -> None:
    wrong = fake()
    print("measuring", flush=True)
    if wrong == "hang":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print("hanging", flush=True)
        time.sleep(3600)
    wait_until((CELL["window_from_ms"] + CELL["window_to_ms"]) / 2)
    if wrong in ("kill service", "stop service"):
        with urllib.request.urlopen(CELL["url"].rsplit("/", 1)[0] + "/pid", timeout=60) as answer:
            pid = int(answer.read())
        if wrong == "kill service":
            os.kill(pid, signal.SIGKILL)
        else:
            os.killpg(pid, signal.SIGSTOP)
    elif wrong == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif wrong == "crash":
        print('level=error msg="ReferenceError: cell is not defined"', flush=True)
        sys.exit(107)
    wait_until(CELL["window_from_ms"] + 2 * WHOLE_MS if CELL["whole"] else CELL["window_to_ms"])
    if wrong == "garbage":
        Path(CELL["summary"]).write_text('{"metrics": {"nsb_la')
    elif wrong != "no summary":
        Path(CELL["summary"]).write_text(summary())


main()
