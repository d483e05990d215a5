"""Measures the cells of a plan, one at a time: fresh processes, warmed equally, each under its load. Effects only."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import httpx

from nsb.conform.kernel import established
from nsb.measure import attach, holder, k6, manifest, native, warming
from nsb.measure.duet import Ground
from nsb.measure.journal import Journal
from nsb.measure.native import (
    HTTP,
    Died,
    Ladder,
    Meter,
    Running,
    Stage,
    StatsReader,
    sleep_until,
    wait_pool,
)
from nsb.measure.process import ALL_CORES, Process, ProcessError
from nsb.records.cells import Edge, Observed, Offered, Record, Stations, Window
from nsb.records.duet import Duet
from nsb.records.manifest import Manifest
from nsb.records.starts import Start, load_end
from nsb.records.summary import Load, SummaryError, load_summary
from nsb.registry.contenders import Contender
from nsb.registry.contract import EXTRAS, endpoint
from nsb.registry.plan import Plan, Slot, needs_fresh
from nsb.registry.scenario import Scenario
from nsb.registry.shapes import FullCore, HeldConnections
from nsb.registry.timing import Timing

PINNINGS_S = 10.0
"""A JVM's flight recorder starts with the first question (s)."""
DRAIN_S = 5.0
"""How long the requests under way may take when the load has ended (s)."""
EDGE_EVERY_S, EDGE_EVERY = 0.1, 0.01
"""How often counters are read while the last answer of a whole load is waited for: seconds, and a share of what it has taken so far."""
HOLDER_END_S = 30.0
"""How long the program that holds connections may take to close them and say what became of them (s)."""
LADDER_STATS_S = 0.1
"""The same on a ladder: a later answer would tell of the next level (s)."""


class Runner:
    """Measures the cells of a plan, one at a time."""

    def __init__(
        self,
        plan: Plan,
        stage: Stage,
        journal: Journal,
        k6_program: Path,
        ground: Ground,
        holder_program: Path | None = None,
    ) -> None:
        """`ground`: what the warm-up and cost cells stand on; it ends with this runner. `holder_program`: holds connections beside a
        load; None where no scenario asks for it, or nothing builds it.
        """
        self.plan = plan
        self.stage = stage
        self.journal = journal
        self._k6 = k6_program
        self._holder = holder_program
        self._ground = ground
        self._running: dict[str, Running] = {}
        self._out: dict[str, str] = {}
        """Contender id → why it cannot run in this round: nobody waits for its start again before the next."""
        self.unlike: Callable[[str, Manifest], list[str]] = lambda *_: []
        """In what a contender that is started later differs from what it must be, in sentences; set once all were found alike."""

    # --- rounds ---

    def start_group(self, group: Sequence[str], round_: int, say: Callable[[str], None]) -> None:
        """Fresh processes for every contender of the group, warmed equally, then frozen."""
        self._out.clear()
        for name in group:
            contender = next(c for c in self.plan.contenders if c.id == name)
            first = next((slot.scenario for slot in self.plan.slots(round_) if slot.contender.id == name), None)
            say(f"starting {name}")
            try:
                self._begin(contender.with_heap(None if first is None else first.heap_mib), round_)
            except (Died, ProcessError) as error:
                self.must_stand()
                self._out[name] = str(error)

    def must_stand(self) -> None:
        """Raises DatabaseError or ProcessError where what every cell needs has gone: no cell is recorded then, the run can be resumed."""
        self.stage.must_stand()
        if not os.access(self._k6, os.X_OK):
            raise ProcessError(f"k6 has gone from {self._k6}; --resume builds it again")

    def _begin(self, contender: Contender, round_: int) -> Running:
        """A contender that is ready to be measured, and frozen; whatever comes of its start is a line of starts.jsonl.

        Raises Died or ProcessError.
        """
        seen: dict[str, Any] = {"round": round_, "contender": contender.id, "started_at": datetime.now(UTC).isoformat(timespec="seconds")}
        try:
            running = self.stage.start(contender)
            self._running[contender.id] = running
            try:
                self._prepare(running, seen)
            except (Died, ProcessError):
                running.process.end(2)  # it would run beside the others' cells
                raise
        except (Died, ProcessError) as error:
            self.journal.start(Start(**seen, failure=str(error)))
            raise
        self.journal.start(Start(**seen))
        return running

    def _prepare(self, running: Running, seen: dict[str, Any]) -> None:
        """Read /runtime, wait for the pool, warm, pin, read the manifest, freeze; adds to `seen` what a Start records."""
        contender = running.contender
        seen |= {"ready_s": round(running.ready_s, 3), "cpu_s": round(running.ready_cpu_s, 4), "pss_mib": round(running.ready_mib, 1)}
        running.ask()
        if wait_pool(running, self.stage.database):
            seen["pool_s"] = round(running.age_s, 3)
        self._warm(running, seen)
        running.manifest = manifest.read(running, self.stage).of_usual_heap(contender.heap_mib)
        running.process.freeze()
        if unlike := self.unlike(contender.id, running.manifest):
            raise Died(f"{contender.id} is not set as it must be", None, "; ".join(unlike))

    def runtimes(self) -> dict[str, dict[str, Any]]:
        """What the programs say of themselves, with the time each took to get ready (s)."""
        return {name: {**r.runtime, "ready_s": round(r.ready_s, 3)} for name, r in self._running.items()}

    def manifests(self) -> dict[str, Manifest]:
        """What the contenders of this round have in effect."""
        return {name: r.manifest for name, r in self._running.items() if r.manifest is not None and name not in self._out}

    def end_group(self) -> dict[str, int]:
        """Drain and stop every contender that runs; returns exit codes."""
        codes = {name: self._end(name) for name in [n for n, r in self._running.items() if r.process.exit_code is None]}
        self._running.clear()  # of those that ended by themselves nothing is left
        return codes

    def _end(self, name: str, drain_s: float = 10) -> int:
        running = self._running[name]
        running.process.thaw()
        self._drain(running, drain_s)
        code = running.stop()
        del self._running[name]
        return code

    def close(self) -> None:
        """End whatever still runs, quickly: the way out after an interruption or an error."""
        for running in self._running.values():
            if running.process.exit_code is None:
                running.process.thaw()
                with contextlib.suppress(ProcessLookupError):
                    running.signal(signal.SIGTERM)
        until = time.monotonic() + 2
        for running in self._running.values():
            running.process.end(max(0.0, until - time.monotonic()))
        self._running.clear()
        self._ground.close()

    def _generate(self, data: Mapping[str, object], name: str) -> Process:
        log = self.journal.folder / "logs" / f"k6-{name}.log"
        return k6.start(self._k6, self.stage.workshop.root, data, self.stage.placement.generator, log)

    def _warm(self, running: Running, seen: dict[str, Any]) -> None:
        """Adds what a Start tells of the warm-up to what is seen."""
        found = warming.warm(self._ground, running, self.plan.asked_of(running.contender), self.plan.tier.warm_cap_s)
        seen |= {"warm_up": found.samples, "load_to_s": load_end(found.samples), "rising": found.rising}
        seen["warm_requests"] = sum(found.steps)
        running.process.pin(self.stage.placement.service)

    def _drain(self, running: Running, deadline_s: float) -> bool:
        """Waits until nothing is in flight any more; False where /stats had no answer in all that time."""
        reader = StatsReader(running.base_url)
        until = time.monotonic() + deadline_s
        answered = False
        try:
            while time.monotonic() < until and running.process.exit_code is None:
                seen = reader.now()
                answered = answered or seen is not None
                if seen is not None and seen.in_flight == 0:
                    break
                time.sleep(0.05)
        finally:
            reader.close()
        return answered

    def _lost(self, running: Running, scenario: Scenario) -> str | None:
        """Why a service that was under load is of no more use: it ended or hangs. It is ended then, and started again for its next cell.

        One whose workers may be blocked answers /stats when what is queued before it has been served: slow is not hanging.
        """
        patience_s = DRAIN_S + scenario.queue_s(running.contender, self.plan.workers)
        answered = scenario.holding or self._drain(running, patience_s)  # what it held may be in flight for long yet
        code = running.process.exit_code
        if code is not None:
            why = f"the service ended with {code}: {running.process.last_words()}"
        elif not answered:
            stopped = "somebody stopped it (SIGSTOP)" if running.process.stopped else "it hangs"
            why = f"{stopped}: /stats had no answer for {patience_s:.0f} s after the load"
        else:
            return None
        running.process.end(0)  # its workers may be there still
        return why

    # --- cells ---

    def measure(self, slot: Slot, attempt: int = 1) -> Record:
        """One cell. Never raises for what a contender or k6 does wrong: that is the cell's status."""
        why_not = slot.contender.why_not(slot.scenario)
        if why_not is not None:
            return self._unmeasured(slot, attempt, "unsupported", why_not)
        if slot.contender.id in self._out:
            return self._unmeasured(slot, attempt, "failed", self._out[slot.contender.id])
        if slot.scenario.holding:
            if self._holder is None:
                return self._unmeasured(
                    slot, attempt, "unsupported", "connections are held by a program that is built with Go, which is not here"
                )
            too_many = holder.too_many(slot.scenario.steps[-1], resource.getrlimit(resource.RLIMIT_NOFILE)[0])
            if too_many is not None:
                return self._unmeasured(slot, attempt, "unsupported", too_many)
        running, contender = self._running.get(slot.contender.id), slot.contender.with_heap(slot.scenario.heap_mib)
        if contender.heap_mib != slot.contender.heap_mib and self.stage.runner != "native":
            return self._unmeasured(slot, attempt, "unsupported", "a container has the heap that compose.yaml gives it: --runner native")
        alive = running if running is not None and running.process.exit_code is None else None
        if alive is not None and needs_fresh(slot.scenario, alive.used, alive.contender.heap_mib, contender.heap_mib):
            self._end(slot.contender.id)
            running = None
        if running is None or running.process.exit_code is not None:
            code = None if running is None else running.process.exit_code
            try:
                running = self._begin(contender, slot.round)
                running.ended_before = code
            except (Died, ProcessError) as error:
                self._out[slot.contender.id] = str(error)
                return self._unmeasured(slot, attempt, "failed", str(error))
        try:
            return self._cost(slot, running, attempt) if isinstance(slot.scenario, FullCore) else self._measure(slot, running, attempt)
        finally:
            running.process.freeze()
            if slot.scenario.spends(slot.contender):
                self._end(slot.contender.id, 10 if not slot.scenario.holding else 0)

    def _record(
        self, slot: Slot, attempt: int, started_at: str, began: float, observed: Observed | None = None, duet: Duet | None = None
    ) -> Record:
        """The line of a cell that was measured; `began`: a time of time.monotonic()."""
        return Record(
            round=slot.round,
            attempt=attempt,
            contender=slot.contender.id,
            scenario=slot.scenario.id,
            profile=self.plan.profile,
            model=slot.scenario.model,
            started_at=started_at,
            wall_s=round(time.monotonic() - began, 3),
            outcome="measured",
            observed=observed,
            duet=duet,
        )

    def _partner(self, slot: Slot) -> Running | None:
        """The reference, started again where it has ended; None for its own cell, and where it does not run beside this contender.

        Raises Died or ProcessError.
        """
        found = None if slot.contender.id == self.plan.reference else self._running.get(self.plan.reference)
        return found if found is None or found.process.exit_code is None else self._begin(found.contender, slot.round)

    def _cost(self, slot: Slot, running: Running, attempt: int) -> Record:
        """A cost cell: with the reference, where that is another contender and runs in this round."""
        began, started_at = time.monotonic(), datetime.now(UTC).isoformat(timespec="seconds")
        assert isinstance(slot.scenario, FullCore)
        try:
            partner = self._partner(slot)
        except (Died, ProcessError) as error:
            return self._unmeasured(slot, attempt, "failed", f"the reference cannot be started again: {_in_one_line(str(error))}")
        both = [running, *([partner] if partner is not None else [])]
        try:
            for each in both:
                each.used = True
                each.process.thaw()
                if each is running or each.warm_for != slot.scenario.id:
                    each.warm_for, each.bursts = slot.scenario.id, warming.bursts(self._ground, each, slot.scenario)
            seen = self._ground.measure(slot.scenario, self.plan.timing(slot.scenario), running, partner, self.plan.rounds < 2)
        except (Died, ProcessError) as error:
            return self._unmeasured(slot, attempt, "failed", _in_one_line(str(error)))
        finally:
            if partner is not None:
                partner.process.freeze()
        for each in both:
            if each.process.exit_code is not None:
                why = f"{each.contender.id} ended with {each.process.exit_code}: {each.process.last_words()}"
                return self._unmeasured(slot, attempt, "failed", _in_one_line(why))
        return self._record(slot, attempt, started_at, began, duet=seen)

    def _measure(self, slot: Slot, running: Running, attempt: int) -> Record:
        began, started_at = time.monotonic(), datetime.now(UTC).isoformat(timespec="seconds")
        timing = self.plan.timing(slot.scenario)
        running.used = True
        running.process.thaw()
        if slot.scenario.writes:
            self.stage.database.reset_books()
        name = f"{slot.round:02}-{slot.scenario.id}-{slot.contender.id}" + ("" if attempt == 1 else f"-try{attempt}")
        summary = self.journal.folder / "k6" / f"{name}.json"
        summary.unlink(missing_ok=True)  # of a sitting that was killed: nobody may take it for this attempt's
        pinnings = _pinnings(running, slot.scenario)
        jvm, uncollected = self._to_collect(running, slot)
        data, opens_s = k6.cell(slot.scenario, timing, self.plan.workers, running.base_url, self.plan.seed, time.time(), summary)
        generators = [self._generate(data, name)]
        reader = StatsReader(running.base_url, LADDER_STATS_S if slot.scenario.steps else native.STATS_S)
        held = None
        try:
            if isinstance(slot.scenario, HeldConnections):
                generators.append(self._hold(slot.scenario, timing, running, opens_s, name))
            window = self._watch(running, generators, reader, timing, opens_s, slot, jvm)
            code = generators[0].exit_code if timing.ends else generators[0].wait(2 * timing.drain_s + 20)
            if slot.scenario.holding:
                generators[1].wait(HOLDER_END_S)
                held = holder.outcome(self._report(name))
        except holder.HoldError as error:
            said = _in_one_line(generators[1].last_words(3))
            return self._unmeasured(slot, attempt, "failed", f"{error}{'; it said: ' + said if said else ''}")
        finally:
            reader.close()
            for each in generators:
                each.end(0.5)  # it has ended, or is too late, or the run was interrupted
        lost = self._lost(running, slot.scenario)
        if lost is not None:
            return self._unmeasured(slot, attempt, "failed", lost)
        if pinnings is not None:
            pinnings = _pinnings(running, slot.scenario, pinnings)
        load = self._summary(summary, code)
        if timing.ends and load is not None and load.whole_s:
            window = window.until(opens_s + (load.ended_ms or 0.0) / 1000)
        self.journal.samples(_samples(window, slot))
        observed = Observed(
            offered=self._offered(slot, timing),
            stations=self._stations(slot, running),
            ended_before=running.ended_before,
            window=replace(window, later=()),
            exit_code=-1 if code is None else code,
            generator_said=None if load is not None else _in_one_line(generators[0].last_words(3)),
            load=load,
            held=held,
            uncollected=uncollected,
            pinnings=pinnings,
            raw=f"k6/{name}.json" if load is not None else None,
        )
        return self._record(slot, attempt, started_at, began, observed=observed)

    def _to_collect(self, running: Running, slot: Slot) -> tuple[attach.Jvm | None, str | None]:
        """A JVM whose memory is to be read on a ladder, listening; or why it cannot be asked for a full collection."""
        if not slot.scenario.steps or not slot.contender.has_heap:
            return None, None
        if self.stage.runner != "native":
            return None, "it runs in a container"
        try:
            return attach.Jvm(attach.java_of(running.process.tree())), None
        except attach.AttachError as error:
            return None, str(error)

    def _report(self, name: str) -> Path:
        return self.journal.folder / "k6" / f"{name}-held.json"

    def _hold(self, scenario: HeldConnections, timing: Timing, running: Running, opens_s: float, name: str) -> Process:
        """The connections that are held beside the load. Raises ProcessError."""
        assert self._holder is not None
        self._report(name).unlink(missing_ok=True)  # of a sitting that was killed
        what = holder.order(scenario, timing, running.base_url, opens_s, self._report(name))
        log = self.journal.folder / "logs" / f"holder-{name}.log"
        return holder.start(self._holder, what, self.stage.placement.generator, log)

    def _watch(
        self,
        running: Running,
        generators: Sequence[Process],
        reader: StatsReader,
        timing: Timing,
        opens_s: float,
        slot: Slot,
        jvm: attach.Jvm | None = None,
    ) -> Window:
        meter = Meter(self.stage, running, generators)  # finding the processes takes milliseconds: not at the edge
        times = [(opens_s + at_s, users) for at_s, users in slot.scenario.reading_times(timing)]
        ladder = Ladder(reader, meter, times, slot.scenario.holding, opens_s, jvm)
        before_switches = meter.switches_until(opens_s)
        sleep_until(opens_s)
        first = meter.open()
        before = reader.later()
        before_counters = self.stage.database.counters() if slot.scenario.statements else None
        footprints = [meter.service_footprint()]
        ladder.climb(opens_s + timing.window_s / 2)
        sleep_until(opens_s + timing.window_s / 2)
        middle = meter.edge()
        footprints.append(meter.service_footprint())
        connections = self.stage.database.connections(running.contender.id)
        clients = established(running.port)
        ladder.climb(opens_s + timing.window_s)
        after_switches = None if timing.ends else meter.switches_until(opens_s + timing.window_s)
        sleep_until(opens_s + timing.window_s)
        edges = [] if not timing.ends else self._until_answered(generators[0], meter, slot.scenario)
        last = edges.pop() if edges else meter.edge()
        after = reader.later()
        after_counters = self.stage.database.counters() if slot.scenario.statements else None
        footprints.append(meter.service_footprint())
        if timing.ends:  # nothing comes any more
            after_switches = meter.switches_until(last.at_s)
        executed = None
        if before_counters is not None and after_counters is not None:
            # Questions count one per statement, prepared or text, and none for a prepare or a ping, on MySQL and MariaDB alike.
            executed = after_counters.questions - before_counters.questions
        seen = tuple(footprints)
        told, later = ladder.readings(), tuple(edges)
        return Window(
            first, middle, last, before(), after(), seen, connections, executed, meter.peak_mib, clients, told, ladder.uncollected, later,
            _switched(before_switches, after_switches),
        )  # fmt: skip

    @staticmethod
    def _until_answered(generator: Process, meter: Meter, scenario: Scenario) -> list[Edge]:
        """The counters, again and again until the generator has ended: which of them were read at the last answer it tells afterwards."""
        until = time.monotonic() + (scenario.longest_s(k6.TIMEOUT_S) or 0.0) + k6.TIMEOUT_S
        edges, began = [meter.edge()], time.monotonic()
        while generator.wait(max(EDGE_EVERY_S, EDGE_EVERY * (time.monotonic() - began))) is None and time.monotonic() < until:
            edges.append(meter.edge())
        return edges

    def _summary(self, file: Path, code: int | None) -> Load | None:
        if code != 0:
            return None
        try:
            return load_summary(json.loads(file.read_text(encoding="utf-8")))
        except (OSError, ValueError, SummaryError):
            return None

    def _offered(self, slot: Slot, timing: Timing) -> Offered:
        scenario = slot.scenario
        return Offered(
            rate=scenario.rate_for(self.plan.workers),
            vus=scenario.vus,
            clients=scenario.clients,
            hold_s=scenario.hold_ms / 1000,
            holds=scenario.holds,
            calls=scenario.calls,
            statements=scenario.statements,
            window_s=timing.window_s,
            ends=timing.ends,
            levels=list(scenario.steps),
            levels_wanted=self.plan.cut.get(scenario.id),
            holding=scenario.holding,
            rehearsal=self.plan.rounds < 2,
        )

    def _stations(self, slot: Slot, running: Running) -> Stations:
        placement, contender = self.stage.placement, slot.contender
        roles = {"service": placement.service, "database": placement.database, "upstream": placement.upstream}
        workers = int(running.runtime["workers"])
        return Stations(
            workers=workers,
            pool=int(running.runtime["pool_size"]),
            server_threads=running.runtime.get("settings", {}).get("server_threads"),
            blocked_by=contender.blocked_by,
            waits_on_loop=contender.waits_on_loop,
            call_threads=contender.call_threads,
            query_threads=contender.query_threads(workers),
            cores={**{role: len(cores) for role, cores in roles.items()}, "generator": len(placement.generator), "machine": len(ALL_CORES)},
            shared=["generator", *(role for role, cores in roles.items() if set(cores) & set(placement.generator))],
            database_known=self.stage.database.pid is not None,
        )

    def _unmeasured(self, slot: Slot, attempt: int, outcome: Literal["failed", "unsupported"], why: str) -> Record:
        return Record(
            round=slot.round,
            attempt=attempt,
            contender=slot.contender.id,
            scenario=slot.scenario.id,
            profile=self.plan.profile,
            model=slot.scenario.model,
            started_at=datetime.now(UTC).isoformat(timespec="seconds"),
            outcome=outcome,
            why=_in_one_line(why),
        )


def _samples(window: Window, slot: Slot) -> str:
    """Lines of samples.csv."""
    lines = [
        f"{edge.at_s:.3f},{slot.round},{slot.contender.id},{slot.scenario.id},{pss:.1f},{threads},{edge.cpu['service']:.6f}\n"
        for edge, (pss, threads) in zip((window.first, window.middle, window.last), window.footprints, strict=True)
    ]
    return "".join(lines)


def _switched(before: Mapping[tuple[int, int], int] | None, after: Mapping[tuple[int, int], int] | None) -> int | None:
    """Of the threads that are there in the end, those that came meanwhile among them."""
    return None if before is None or after is None else sum(count - before.get(thread, 0) for thread, count in after.items())


def _pinnings(running: Running, scenario: Scenario, before: int = 0) -> int | None:
    """How often the runtime itself said that a virtual thread was pinned (C17), beyond `before`; None where it does not say.

    Asked where a scenario is of an endpoint that few have, and outside of its load alone: recording begins with the first question.
    """
    if "/pinnings" not in running.contender.extra or endpoint(scenario.path) not in EXTRAS:
        return None
    with contextlib.suppress(httpx.HTTPError, KeyError, ValueError):
        return int(HTTP.get(f"{running.base_url}/pinnings", timeout=PINNINGS_S).json()["pinnings_total"]) - before
    return None


def _in_one_line(words: str) -> str:
    """What a program said, for a reason: one line, and not a page of it."""
    return " ".join(words.split())[:1000]


def _ms(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
