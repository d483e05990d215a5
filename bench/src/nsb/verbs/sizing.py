"""`size`: what a workload takes of each contender."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

from nsb.analyse.size import Workload, sized
from nsb.registry.load import ConfigurationError
from nsb.render import size as words
from nsb.session.models import of_committed, of_run
from nsb.verbs.common import BENCH, console, found_run

UNITS_MS = {"us": 0.001, "ms": 1.0, "s": 1000.0}
MOST = 1e9
"""Of every number: beyond it no answer means anything."""


def size(options: dict[str, str | None], run: Path | None, as_json: bool) -> None:
    """Raises ConfigurationError with a sentence for each wrong option, JournalError and Altered."""
    model = of_committed(BENCH) if run is None else of_run(found_run(run), BENCH)
    load = workload(options, [each.contender for each in model.contenders])
    found = sized(model, load)
    if as_json:
        told = {
            "run": model.run,
            "workload": load.model_dump(mode="json"),
            "contenders": [each.model_dump(mode="json") for each in found],
        }
        console.print(json.dumps(told, indent=1, ensure_ascii=False), markup=False, soft_wrap=True)
        return
    console.print(words.grid(found, load))
    for line in words.notes(model, found, load):
        console.print(line, style="dim", markup=False)


def workload(options: dict[str, str | None], contenders: list[str]) -> Workload:
    """`options`: by their names on the command line, without the dashes. Raises ConfigurationError."""
    mistakes: list[str] = []

    def read(option: str, unit: str, what: str, least: float = 0.0, below: float = MOST) -> float | None:
        text = options.get(option)
        if text is None:
            return None
        value = _value(text, unit)
        if value is None or not least <= value <= below:
            mistakes.append(f"--{option}: {text!r} is no {what}")
            return None
        return value

    count, time = "number from 0 on", "time from 0 on, such as 300ms, 0.5ms or 2s"
    rate = read("rate", "", "number of requests per second above 0", 1e-6)
    share = read("utilisation", "%", "share from 1% to 99%, such as 60%", 0.01, 0.99)
    numbers = {name: read(name, "", count) for name in ("queries", "inserts", "calls", "idle")}
    times = {name: read(name, "ms", time) for name in ("wait", "query-time", "call-time", "compute", "blocking")}
    prices = {name: read(name, "", "price from 0 on") for name in ("core-price", "gib-price")}
    whose = options.get("compute-on")
    if whose is not None and whose not in contenders:
        mistakes.append(f"--compute-on: {whose!r} is none of {', '.join(contenders)}")
    if numbers["calls"] and not times["call-time"]:
        mistakes.append("--call-time: with --calls it is needed, such as --call-time 100ms")
    if mistakes:
        raise ConfigurationError(mistakes)
    return Workload(
        rate=rate or 0.0,
        wait_ms=times["wait"] or 0.0,
        queries=numbers["queries"] or 0.0,
        inserts=numbers["inserts"] or 0.0,
        query_ms=times["query-time"] or 0.0,
        calls=numbers["calls"] or 0.0,
        call_ms=times["call-time"] or 0.0,
        compute_ms=times["compute"] or 0.0,
        compute_on=whose,
        blocking_ms=times["blocking"] or 0.0,
        idle=numbers["idle"] or 0.0,
        utilisation=share or 0.6,
        core_price=prices["core-price"],
        gib_price=prices["gib-price"],
    )


def _value(text: str, unit: str) -> float | None:
    """A number; of a time in ms, of a share from 0 to 1. None where it is none, or has another unit."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?|\.\d+)\s*(us|ms|s|%)?", text.strip())
    if found is None:
        return None
    value, given = float(found[1]), found[2]
    if not math.isfinite(value):
        return None
    if unit == "ms":
        return value * UNITS_MS[given] if given in UNITS_MS else (value if given is None and value == 0 else None)
    if unit == "%":
        return value / 100 if given == "%" else (value if given is None and value < 1 else None)
    return value if given is None else None
