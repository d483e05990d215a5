"""Measures how many connections a service holds until its memory ends. Effects only."""

from __future__ import annotations

import time
from pathlib import Path

from nsb.measure import holder
from nsb.measure.native import Stage
from nsb.measure.running import Running
from nsb.records.exhausted import Exhausted
from nsb.registry.shapes import Exhaustion
from nsb.registry.timing import EXHAUSTION_LEAD_S

EVERY_S = 0.25
"""How often memory is read (s)."""
ENDS_S = 5.0
"""How long a service may take to end after the first connection that was refused or closed (s)."""


def measure(stage: Stage, program: Path, scenario: Exhaustion, running: Running, name: str) -> Exhausted:
    """One cell; `program` is the holder. The service runs, and all others are stopped; it has ended afterwards.

    Raises ProcessError, and HoldError where nobody can say what became of the connections.
    """
    report = stage.logs / f"held-{name}.json"
    report.unlink(missing_ok=True)
    begins_s = time.time() + EXHAUSTION_LEAD_S
    until_s = begins_s + scenario.most / scenario.rate + holder.PATIENCE_S
    what = holder.filling(scenario, running.base_url, begins_s, until_s, report)
    holding = holder.start(program, what, stage.placement.generator, stage.logs / f"holder-{name}.log")
    pss_mib = 0.0
    try:
        while holding.wait(EVERY_S) is None and time.time() < until_s + ENDS_S:
            if running.process.exit_code is None:
                pss_mib = max(pss_mib, running.process.gauge().footprint().pss_mib)
        lasted_s = time.time() - begins_s
        held = holder.outcome(report)
        code = running.process.wait(ENDS_S)
    finally:
        holding.end(0.5)
    words = running.process.last_words()
    running.process.end(0)
    return Exhausted(
        heap_mib=running.contender.heap_mib,
        rate=scenario.rate,
        most=scenario.most,
        held=held,
        lasted_s=round(lasted_s, 3),
        exit_code=code,
        last_words=words,
        pss_mib=round(pss_mib, 1),
    )
