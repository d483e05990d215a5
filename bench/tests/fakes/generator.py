"""In the place of the generator: asks the service a few times per order, slowly, and tells what the real one would.

FAKE_GENERATOR says how it misbehaves: `hang` (past every deadline, deaf to SIGTERM), `wrong` (the last answer is), `silence` (no
readings); `cheaper` tells half the CPU per answer with each order.
For tests only; it imports nothing of the project.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import urllib.request
from pathlib import Path

ORDER = Path(sys.argv[1])
ASKS = 5
FAKE = os.environ.get("FAKE_GENERATOR", "")


def orders() -> int:
    """How many there were before; orders of one name are counted in a file beside them."""
    count = ORDER.with_suffix(".orders")
    before = int(count.read_text()) if count.exists() else 0
    count.write_text(str(before + 1))
    return before


BEFORE = orders() if FAKE == "cheaper" else 0


def tell(answers: int, wrong: str = "") -> None:
    used_s = answers / 1e4 / 2**BEFORE
    reading = {
        "at_s": time.time(), "answers": answers, "service_cpu_s": used_s, "generator_cpu_s": answers / 1e5, "opened": 1,
        "mean_answers": answers, "mean_service_cpu_s": used_s,
        "latency_sum_s": answers / 1e3, "least_latency_s": 1e-3, "answers_of": [answers], "odd": 0,
        **({"wrong": wrong} if wrong else {}),
    }  # fmt: skip
    print(json.dumps(reading), flush=True)


def main() -> None:
    order = json.loads(ORDER.read_text())
    if FAKE == "hang":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print("hanging", flush=True)
        time.sleep(3600)
    if FAKE == "silence":
        return
    for answers in range(ASKS):
        tell(answers)
        urllib.request.urlopen(f"http://{order['address']}{order['targets'][0]['path']}", timeout=60).close()
        time.sleep(0.05)
    if FAKE == "wrong":
        tell(ASKS - 1, f"asked '{order['targets'][0]['method']} {order['targets'][0]['path']}', got 'hallo'")
        sys.exit(1)
    tell(ASKS)
    tell(ASKS)


main()
