"""Measures the cells of a plan, one at a time: fresh processes, warmed equally, each under its load. Effects only."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from nsb.measure import exhausting, failing, holder, manifest, overload, warming
from nsb.measure.database import CANNOT_HANG
from nsb.measure.duet import Ground
from nsb.measure.interrupt import hurried
from nsb.measure.journal import Journal
from nsb.measure.native import Stage
from nsb.measure.observing import Observer, Unobserved, now, record, unmeasured
from nsb.measure.process import ProcessError
from nsb.measure.running import Died, Running, drain, lost, wait_pool
from nsb.records.cells import Record
from nsb.records.duet import Duet
from nsb.records.exhausted import Exhausted
from nsb.records.manifest import Manifest
from nsb.records.overload import Overload
from nsb.records.starts import Start
from nsb.registry import shapes
from nsb.registry.contenders import Contender
from nsb.registry.plan import Plan, Slot, ladder
from nsb.registry.scenario import Scenario
from nsb.registry.shapes import CostRow


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
        self._record, self._unmeasured = partial(record, plan), partial(unmeasured, plan)
        self.stage = stage
        self.journal = journal
        self._observer = Observer(plan, stage, journal, k6_program, holder_program)
        self._ground = ground
        self._running: dict[str, Running] = {}
        self._group: Sequence[str] = ()
        """Who takes turns now, and so may share a core."""
        self._out: dict[str, str] = {}
        """Contender id → why it cannot run in this round: nobody waits for its start again before the next."""
        self.unlike: Callable[[str, Manifest], list[str]] = lambda *_: []
        """In what a contender that is started later differs from what it must be, in sentences; set once all were found alike."""

    # --- rounds ---

    def start_group(self, group: Sequence[str], round_: int, say: Callable[[str], None]) -> None:
        """Fresh processes for every contender of the group, warmed equally, then frozen."""
        self._out.clear()
        self._group = group
        for name in group:
            contender = next(c for c in self.plan.contenders if c.id == name)
            first = self.plan.first(round_, name)
            say(f"starting {name}")
            try:
                self._begin(contender.with_heap(None if first is None else first.heap_mib), round_, first)
            except (Died, ProcessError) as error:
                self.must_stand()
                self._out[name] = str(error)

    def must_stand(self) -> None:
        """Raises DatabaseError or ProcessError where what every cell needs has gone: no cell is recorded then, the run can be resumed."""
        self.stage.must_stand()
        for name, program in (("k6", self._observer.k6_program), ("the generator", self._ground.program)):
            if not os.access(program, os.X_OK):
                raise ProcessError(f"{name} has gone from {program}; --resume builds it again")

    def _begin(self, contender: Contender, round_: int, first: Scenario | None = None) -> Running:
        """A contender that is ready for a cell of this scenario, and frozen; whatever comes of its start is a line of starts.jsonl.

        Raises Died or ProcessError.
        """
        seen: dict[str, Any] = {"round": round_, "contender": contender.id, "started_at": now(), "ladder": ladder(first)}
        try:
            ended = self._running.pop(contender.id, None)
            if ended is not None:
                ended.process.end(0)  # it ended by itself: whatever it started is still there
            running = self.stage.start(contender)
            self._running[contender.id] = running
            running.ended_before = None if ended is None else ended.process.exit_code
            running.ladder = ladder(first)
            try:
                self._prepare(running, seen, self.plan.warmed_with(contender, first))
            except (Died, ProcessError):
                running.process.end(2)  # it would run beside the others' cells
                raise
        except (Died, ProcessError) as error:
            self.journal.start(Start(**seen, failure=str(error)))
            raise
        self.journal.start(Start(**seen))
        return running

    def _prepare(self, running: Running, seen: dict[str, Any], scenarios: Sequence[Scenario]) -> None:
        """Read /runtime, wait for the pool, warm, pin, read the manifest, freeze; adds to `seen` what a Start records."""
        contender = running.contender
        seen |= {"ready_s": round(running.ready_s, 3), "cpu_s": round(running.ready_cpu_s, 4), "pss_mib": round(running.ready_mib, 1)}
        running.ask()
        if wait_pool(running, self.stage.database):
            seen["pool_s"] = round(running.age_s, 3)
        seen["visits"], seen["rising"] = warming.warm(self._ground, running, scenarios, self.plan.tier.warm_cap_s)
        running.process.pin(self.stage.placement.service)
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
        for running in self._running.values():
            running.process.end(0)  # of those that ended by themselves, whatever they started
        self._running.clear()
        return codes

    def _end(self, name: str, drain_s: float = 10) -> int:
        running = self._running[name]
        running.process.thaw()
        drain(running, 0.0 if hurried() else drain_s)
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

    # --- cells ---

    def measure(self, slot: Slot, attempt: int = 1) -> Record:
        """One cell. Never raises for what a contender or k6 does wrong: that is the cell's status."""
        why_not = slot.contender.why_not(slot.scenario)
        if why_not is not None:
            return self._unmeasured(slot, attempt, "unsupported", why_not)
        if slot.contender.id in self._out:
            return self._unmeasured(slot, attempt, "failed", self._out[slot.contender.id])
        if isinstance(slot.scenario, shapes.Exhaustion) and not slot.contender.has_heap:
            return self._unmeasured(slot, attempt, "unsupported", "it has no heap of a set size")
        if slot.scenario.held_at_most:
            if self._observer.holder_program is None:
                return self._unmeasured(
                    slot, attempt, "unsupported", "connections are held by a program that is built with Go, which is not here"
                )
            too_many = holder.too_many(slot.scenario.held_at_most, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
            if too_many is not None:
                return self._unmeasured(slot, attempt, "unsupported", too_many)
        running, contender = self._running.get(slot.contender.id), slot.contender.with_heap(slot.scenario.heap_mib)
        if contender.heap_mib != slot.contender.heap_mib and self.stage.runner != "native":
            return self._unmeasured(slot, attempt, "unsupported", "a container has the heap that compose.yaml gives it: --runner native")
        alive = running if running is not None and running.process.exit_code is None else None
        if alive is not None and (alive.ladder, alive.contender.heap_mib) != (ladder(slot.scenario), contender.heap_mib):
            self._end(slot.contender.id)
            running = None
        if running is None or running.process.exit_code is not None:
            try:
                running = self._begin(contender, slot.round, slot.scenario)
            except (Died, ProcessError) as error:
                self._out[slot.contender.id] = str(error)
                return self._unmeasured(slot, attempt, "failed", str(error))
        if isinstance(slot.scenario, shapes.Failing) and slot.scenario.fault == "database" and not self.stage.database.can_hang:
            return self._unmeasured(slot, attempt, "unsupported", CANNOT_HANG)
        began, started_at = time.monotonic(), now()
        try:
            return self._record(slot, attempt, started_at, began, **self._seen(slot, running, attempt))
        except Unobserved as error:
            return self._unmeasured(slot, attempt, "failed", str(error))
        finally:
            running = self._running.get(slot.contender.id, running)  # it may have been started again meanwhile
            running.process.freeze()
            if slot.scenario.spends and running.process.exit_code is not None:
                self._running.pop(slot.contender.id)
            elif slot.scenario.spends:
                self._end(slot.contender.id, 10 if not slot.scenario.holding else 0)

    def _seen(self, slot: Slot, running: Running, attempt: int) -> dict[str, Any]:
        """What is observed of a cell, under its name in a Record. Raises Unobserved where nothing is, and ProcessError and DatabaseError
        for what no contender does.
        """
        scenario = slot.scenario
        if not isinstance(scenario, CostRow):
            running.process.thaw()
        try:
            if isinstance(scenario, CostRow):
                return {"duet": self._cost(slot, scenario, running)}
            if isinstance(scenario, shapes.Overload):
                return {"overload": self._overloaded(slot, scenario, running)}
            if isinstance(scenario, shapes.Exhaustion):
                return {"exhausted": self._exhausted(slot, scenario, running, attempt)}
            if isinstance(scenario, shapes.Failing):
                seen = failing.measure(self._ground, scenario, running)
                if why := lost(running, scenario, self.plan.workers):  # here it has no figure then
                    raise Unobserved(why)
                return {"failing": seen}
        except (Died, ProcessError) as error:
            raise Unobserved(str(error)) from None
        return {"observed": self._observer.observe(slot, running, attempt)}

    def _exhausted(self, slot: Slot, scenario: shapes.Exhaustion, running: Running, attempt: int) -> Exhausted:
        """Raises ProcessError, and Unobserved."""
        assert self._observer.holder_program is not None
        try:
            return exhausting.measure(
                self.stage, self._observer.holder_program, scenario, running, f"{slot.round:02}-{slot.contender.id}-{attempt}"
            )
        except holder.HoldError as error:
            raise Unobserved(str(error)) from None

    def _overloaded(self, slot: Slot, scenario: shapes.Overload, running: Running) -> Overload:
        """A service that does not live through a level is a result, and is started again for the next one. Raises Died and ProcessError."""

        def full(running: Running) -> Running:
            running.warm_for, running.bursts = scenario.id, warming.bursts(self._ground, running, scenario)
            return running

        def again() -> Running:
            started = self._begin(running.contender, slot.round)
            started.process.thaw()
            return full(started)

        return overload.measure(
            self._ground,
            scenario,
            self.plan.timing(scenario),
            full(running),
            self.plan.rounds < 2,
            lambda broken: lost(broken, scenario, self.plan.workers),
            again,
        )

    def _partner(self, slot: Slot) -> Running | None:
        """The reference, started again where it has ended; None for its own cell, and where it does not run beside this contender.

        Raises Died or ProcessError.
        """
        name = self.plan.reference
        if name == slot.contender.id or name not in self._group or name in self._out:
            return None
        found = self._running.get(name)
        if found is not None and found.process.exit_code is None:
            if found.ladder is None:
                return found
            self._end(name)
        return self._begin(next(each for each in self.plan.contenders if each.id == name), slot.round)

    def _cost(self, slot: Slot, scenario: CostRow, running: Running) -> Duet:
        """A cost cell: with the reference, where that is another contender and runs in this round."""
        try:
            partner = self._partner(slot)
        except (Died, ProcessError) as error:
            raise Unobserved(f"the reference cannot be started again: {error}") from None
        both = [running, *([partner] if partner is not None else [])]
        try:
            for each in both:
                each.process.thaw()
                if each is running or each.warm_for != scenario.id:
                    each.warm_for, each.bursts = scenario.id, warming.bursts(self._ground, each, scenario)
            seen = self._ground.measure(scenario, self.plan.timing(scenario), running, partner, self.plan.rounds < 2)
        finally:
            if partner is not None:
                partner.process.freeze()
        for each in both:
            if each.process.exit_code is not None:
                raise Unobserved(f"{each.contender.id} ended with {each.process.exit_code}: {each.process.last_words()}")
        return seen
