"""`just bare`: a service and a bare program of its framework at one rate, in turn, on the same cores. Effects only."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nsb.analyse.bare import Comparison, Half, Pair, compare
from nsb.measure import host, k6
from nsb.measure.journal import Journal, write_whole
from nsb.measure.native import Died, Meter, Running, Stage, sleep_until, wait_pool
from nsb.measure.process import Process, ProcessError
from nsb.measure.tools import BuildError, Workshop
from nsb.records.schema import SCHEMA, to_json
from nsb.records.summary import SummaryError, load_summary
from nsb.registry.contenders import Contender
from nsb.registry.scenario import Scenario
from nsb.registry.timing import Tier

WINDOW_S = 2.0
SETTLE_S = 0.5
"""From the first arrival until the window opens: connections are made, a stopped program has found its pace (s)."""
SHORTFALL = 0.02
"""A window whose answers miss what its rate asks for by more than this share is not one at the same rate."""
WARM_CAP_S = 120.0
"""Much longer than any service needs for its warm-up (s)."""
ATTEMPTS = 2
"""Pairs that do not count are measured again, up to as many as were asked for."""


@dataclass(frozen=True)
class Study:
    """How every contender is measured."""

    scenario: Scenario
    pairs: int
    warm_requests: int

    @property
    def tier(self) -> Tier:
        return Tier(
            why="",
            rounds=self.pairs,
            warm_cap_s=WARM_CAP_S,
            settle_s=SETTLE_S,
            window_s=WINDOW_S,
            window_holds=1,
        )


def build(workshop: Workshop, services: Sequence[str], say: Callable[[str], None]) -> dict[str, str]:
    """Builds the bare programs; service → why there is none."""
    failed: dict[str, str] = {}
    for name in services:
        service = workshop.registry.services[name]
        if service.bare is None:
            failed[name] = f"contenders.toml: service.{name} has no bare program"
            continue
        log = workshop.root / ".tools" / "built" / f"{name}-bare.log"
        log.unlink(missing_ok=True)
        try:
            workshop.run_steps(name, service.bare_build, log, say)
        except BuildError as error:
            failed[name] = str(error)
    return failed


class Bench:
    """Measures one contender after the other; what is measured is in `folder` when it exists."""

    def __init__(self, study: Study, stage: Stage, k6_program: Path, folder: Path, say: Callable[[str], None]) -> None:
        self._study = study
        self._stage = stage
        self._k6 = k6_program
        self._journal = Journal(folder)
        self._say = say
        self._pairs: dict[str, list[Pair]] = {}
        self._comparisons: list[Comparison] = []
        self._left_out: dict[str, str] = {}

    def measure(self, contenders: Sequence[Contender], left_out: dict[str, str]) -> tuple[list[Comparison], dict[str, str]]:
        """The comparisons, and contender → why it has none."""
        self._left_out = dict(left_out)
        for contender in contenders:
            self._say(
                f"{contender.id}: starting the service and its bare program, warming each with {self._study.warm_requests:,} requests"
            )
            try:
                self._comparisons.append(compare(contender.id, self._measure(contender)))
            except (Died, ProcessError, ValueError) as error:
                self._left_out[contender.id] = str(error)
            self._write()
        return self._comparisons, self._left_out

    def _measure(self, contender: Contender) -> list[Pair]:
        """Service, bare, bare, service …: over two pairs neither is earlier than the other on average."""
        pairs = self._pairs[contender.id] = []
        with contextlib.ExitStack() as stack:
            service = self._start(contender, stack)
            bare = self._start_bare(contender, stack)
            for number in range(1, ATTEMPTS * self._study.pairs + 1):
                order = (service, bare) if number % 2 else (bare, service)
                seen = {running.contender.id: self._window(running, number) for running in order}
                pair = Pair(service=seen[service.contender.id], bare=seen[bare.contender.id])
                pairs.append(pair)
                counting = sum(each.why_not is None for each in pairs)
                self._say(f"{contender.id} {counting}/{self._study.pairs}: {_told(pair)}")
                if counting == self._study.pairs:
                    break
        return pairs

    def _start(self, contender: Contender, stack: contextlib.ExitStack) -> Running:
        running = self._stage.start(contender)
        stack.callback(running.stop)
        running.ask()
        wait_pool(running, self._stage.database)
        self._warm(running)
        return running

    def _start_bare(self, contender: Contender, stack: contextlib.ExitStack) -> Running:
        command = self._stage.workshop.registry.services[contender.service].bare
        program = contender.model_copy(update={"id": f"{contender.id}-bare", "run": command})
        running = self._stage.start(program, wait_for=self._study.scenario.path)
        stack.callback(running.stop)
        self._warm(running)
        return running

    def _warm(self, running: Running) -> None:
        summary = self._journal.folder / "k6" / "warm.json"
        data = k6.warming([self._study.scenario], self._study.warm_requests, WARM_CAP_S, running.base_url, time.time(), summary)
        generator = self._generate(data, "warm")
        try:
            generator.wait(WARM_CAP_S + 30)
        finally:
            generator.end(1)
        running.process.pin(self._stage.placement.service)
        running.process.freeze()

    def _window(self, running: Running, number: int) -> Half:
        """One window with the other program stopped: thawed, driven, read at both edges, frozen again."""
        scenario = self._study.scenario
        times = scenario.timing(self._study.tier)
        name = f"{number:02}-{running.contender.id}"
        summary = self._journal.folder / "k6" / f"{name}.json"
        running.process.thaw()
        data, opens_s = k6.cell(scenario, times, self._stage.workers, running.base_url, 0, time.time(), summary)
        generator = self._generate(data, name)
        try:
            meter = Meter(self._stage, running, [generator])
            sleep_until(opens_s)
            first = meter.edge()
            sleep_until(opens_s + times.window_s)
            last = meter.edge()
            code = generator.wait(20)
        finally:
            generator.end(2)
            running.process.freeze()
        if running.process.exit_code is not None:
            ended = running.process.exit_code
            raise Died(f"{running.process.name} ended with {ended} while it was measured", ended, running.process.last_words())
        return self._half(
            summary, code, times.window_s, (last.cpu["service"] - first.cpu["service"]) * times.window_s / (last.at_s - first.at_s)
        )

    def _half(self, summary: Path, code: int | None, window_s: float, cpu_s: float) -> Half:
        try:
            load = load_summary(json.loads(summary.read_text(encoding="utf-8")))
        except (OSError, ValueError, SummaryError) as error:
            return Half(requests=0, cpu_s=cpu_s, why_not=f"k6 ended with {code} and left no summary: {error}")
        wanted = (self._study.scenario.rate_for(self._stage.workers) or 0) * window_s
        why_not = None
        if load.failures_all or load.wrong or not load.checked:
            why_not = f"{load.failures_all} requests failed; {load.wrong} of {load.checked} bodies looked at were wrong"
        elif abs(load.requests / wanted - 1) > SHORTFALL:
            why_not = f"{load.requests} answers where the rate asks for {wanted:.0f}"
        return Half(requests=load.requests, cpu_s=round(cpu_s, 6), why_not=why_not)

    def _generate(self, data: dict[str, object], name: str) -> Process:
        log = self._journal.folder / "logs" / f"k6-{name}.log"
        return k6.start(self._k6, self._stage.workshop.root, data, self._stage.placement.generator, log)

    def _write(self) -> None:
        """bare.json: what it stands on, every window, and what came of them."""
        scenario, stage = self._study.scenario, self._stage
        found: dict[str, Any] = {
            "schema": SCHEMA,
            "written_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "host": host.facts(stage.workshop.root),
            "placement": stage.placement.as_facts(),
            "workers": stage.workers,
            "database": {"kind": stage.database.kind, "version": stage.database.version},
            "k6": k6.version(self._k6),
            "tools": {name: tool.version for name, tool in sorted(stage.workshop.found.items())},
            "scenario": scenario.id,
            "rate": scenario.rate_for(stage.workers),
            "window_s": WINDOW_S,
            "warm_requests": self._study.warm_requests,
            "comparisons": [{**c.model_dump(), "verdict": c.verdict} for c in self._comparisons],
            "left_out": self._left_out,
            "pairs": {name: [pair.model_dump() for pair in pairs] for name, pairs in self._pairs.items()},
        }
        write_whole(self._journal.folder / "bare.json", to_json(found))


def _told(pair: Pair) -> str:
    if pair.why_not is not None:
        return f"does not count: {pair.why_not}"
    return f"{pair.service.us_per_request:.1f} and {pair.bare.us_per_request:.1f} µs/request, {pair.ratio:.3f}"
