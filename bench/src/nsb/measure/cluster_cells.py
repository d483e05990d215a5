"""Measures the cells of a plan on a cluster, one at a time: a fresh pod for each contender and round, warmed, under load. Effects only."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from nsb.measure import cluster_cost, effects, generator, k6, warming
from nsb.measure.client import StatsReader
from nsb.measure.cluster_load import AROUND_S, K6, LONGEST_LEAD_S, Crowd, Readers, driving, readings
from nsb.measure.cluster_stage import Cluster, Placed
from nsb.measure.interrupt import stop_if_asked
from nsb.measure.journal import Journal
from nsb.measure.meter import sleep_until
from nsb.measure.observing import Unobserved, now, offered, record, samples, stations, unmeasured
from nsb.measure.pods import Pod
from nsb.measure.process import ProcessError
from nsb.measure.running import Died, drain, lost, wait_pool
from nsb.records.cells import Observed, Record, Stations, Stats, Window
from nsb.records.duet import Duet
from nsb.records.starts import Start, Visit, steady
from nsb.records.used import Untold
from nsb.registry import cluster, podstate
from nsb.registry.plan import Plan, Slot
from nsb.registry.shapes import CostRow
from nsb.registry.timing import Timing

LEAD_S = 8.0
"""From the order to start k6 until its load begins (s): a pod has to be placed, made and booted. More after one that was late."""
LATE_MS = 50.0
END_S = 30.0
"""How long a load's pods may take to end beyond its drain (s)."""


class Cells:
    """What Runner is on one machine."""

    def __init__(self, plan: Plan, on: Cluster, journal: Journal) -> None:
        self.plan, self.on, self.journal = plan, on, journal
        self._record, self._unmeasured = partial(record, plan), partial(unmeasured, plan)
        self._running: dict[str, Placed] = {}
        self._out: dict[str, str] = {}
        """Contender → why it cannot run in this round."""
        self._lead_s = LEAD_S

    # --- rounds ---

    def start_group(self, group: Sequence[str], round_: int, say: Callable[[str], None]) -> None:
        """A fresh pod, warmed, for each contender of the group: on a cluster a group has one."""
        self._out.clear()
        self.on.must_stand()
        for name in group:
            say(f"starting {name}")
            try:
                self._begin(name, round_)
            except (Died, ProcessError) as error:
                self.must_stand()
                self._out[name] = str(error)

    def must_stand(self) -> None:
        self.on.must_stand()

    def runtimes(self) -> dict[str, dict[str, Any]]:
        return {name: {**each.runtime, "ready_s": each.ready_s} for name, each in self._running.items()}

    def end_group(self) -> dict[str, int]:
        """Drains and removes every contender that runs; nobody learns with which code."""
        for each in self._running.values():
            drain(each, 10)
        self.close()
        return {}

    def close(self) -> None:
        for each in self._running.values():
            each.stop()
        self._running.clear()

    def _begin(self, name: str, round_: int) -> Placed:
        """Raises Died or ProcessError; whatever comes of it is a line of starts.jsonl."""
        contender = next(each for each in self.plan.contenders if each.id == name)
        seen: dict[str, Any] = {"round": round_, "contender": name, "started_at": now()}
        try:
            running = self.on.start(contender)
            self._running[name] = running
            seen |= {"ready_s": running.ready_s, "cpu_s": round(running.ready_cpu_s, 4), "pss_mib": round(running.ready_mib, 1)}
            running.ask()
            if wait_pool(running, self.on.database):
                seen["pool_s"] = round(running.age_s, 3)
            seen["visits"], seen["rising"] = self._warm(running)
        except (Died, ProcessError) as error:
            self.journal.start(Start(**seen, failure=str(error)))
            self._end(name)
            raise
        self.journal.start(Start(**seen))
        return running

    def _end(self, name: str) -> None:
        if name in self._running:
            self._running.pop(name).stop()

    # --- warm-up ---

    def _warm(self, running: Placed) -> tuple[list[Visit], bool]:
        """All endpoints at once from one generator, until a step of it costs no less than those before, or the cap.

        Raises Died and ProcessError.
        """
        scenarios = [each for each in self.plan.asked_of(running.contender) if cluster.not_here(each, running.contender) is None]
        asked = warming.targets(scenarios)
        if not asked:
            return [], False
        connections = sum(warming.CONNECTIONS if each.body else warming.WAITING_CONNECTIONS for each in asked)
        cap_s = self.plan.tier.warm_cap_s
        order = generator.order(asked, running.inside_url, [], self.plan.seed, connections, 0.25, cap_s, warming.PAUSE_MS)
        with driving(self.on, "warm", [order], cap_s) as crowd:
            return self._until_steady(running, crowd, connections, cap_s)

    def _until_steady(self, running: Placed, crowd: Crowd, connections: int, cap_s: float) -> tuple[list[Visit], bool]:
        until = time.monotonic() + cap_s + warming.STEP_S
        visits: list[Visit] = []
        while True:
            stop_if_asked()
            time.sleep(warming.STEP_S)
            over = podstate.ended(crowd.look()[0], "of the generator")
            lines = readings(crowd.words(0))
            if over is not None and over.code != 0:
                wrong = next((line["wrong"] for line in reversed(lines) if line.get("wrong")), over.why or "it does not say why")
                raise Died(f"{running.contender.id} did not answer as it must while it was warmed", None, str(wrong))
            visits = self._visits(running, lines, connections)
            if steady([each.cost_us for each in visits], warming.QUIET_FULL):
                return visits, False
            if over is not None or time.monotonic() > until:
                return visits, True

    def _visits(self, running: Placed, lines: Sequence[dict[str, Any]], connections: int) -> list[Visit]:
        """One for each whole step so far. The generator counts the answers, the reader beside the service its CPU."""
        assert isinstance(running.process, Pod)
        if not lines:
            return []
        began_s = time.time() - running.age_s  # of the service, by this clock
        try:
            used = running.process.uses(time.time() - lines[0]["at_s"] + AROUND_S)
        except Untold:
            return []  # it is asked again after the next step
        visits, edges = list[Visit](), [lines[0]]
        for line in lines[1:]:
            if line["at_s"] < edges[-1]["at_s"] + warming.STEP_S - 0.01 or line["at_s"] > used.lines[-1].at_s:
                continue
            first, last = edges[-1], line
            with contextlib.suppress(Untold):
                cpu_s = used.at(last["at_s"]).cpu_s - used.at(first["at_s"]).cpu_s
                answers = last["answers"] - first["answers"]
                visits.append(
                    Visit(
                        began_s=round(first["at_s"] - began_s, 3), ended_s=round(last["at_s"] - began_s, 3), scenario=None,
                        connections=connections, answers=answers, cost_us=round(cpu_s / max(1, answers) * 1e6, 3),
                    )
                )  # fmt: skip
            edges.append(line)
        return visits

    # --- cells ---

    def measure(self, slot: Slot, attempt: int = 1) -> Record:
        """One cell. What a contender or k6 does wrong is the cell's status."""
        why_not = slot.contender.why_not(slot.scenario) or cluster.not_here(slot.scenario, slot.contender)
        if why_not is not None:
            return self._unmeasured(slot, attempt, "unsupported", why_not)
        if slot.contender.id in self._out:
            return self._unmeasured(slot, attempt, "failed", self._out[slot.contender.id])
        running = self._running.get(slot.contender.id)
        if running is None or running.process.exit_code is not None:
            code = None if running is None else running.process.exit_code
            self._end(slot.contender.id)
            try:
                running = self._begin(slot.contender.id, slot.round)
                running.ended_before = code
            except (Died, ProcessError) as error:
                self._out[slot.contender.id] = str(error)
                return self._unmeasured(slot, attempt, "failed", str(error))
        began, started_at = time.monotonic(), now()
        try:
            if isinstance(slot.scenario, CostRow):
                return self._record(slot, attempt, started_at, began, duet=self._cost(slot, slot.scenario, running))
            return self._record(slot, attempt, started_at, began, observed=self._observe(slot, running, attempt))
        except (Unobserved, Untold) as error:
            return self._unmeasured(slot, attempt, "failed", str(error))

    def _cost(self, slot: Slot, scenario: CostRow, running: Placed) -> Duet:
        """Raises Unobserved, Untold and DatabaseError."""
        timing, parts = self.plan.timing(scenario), len(self.plan.generators_of(scenario)) or 1
        try:
            return cluster_cost.measure(self.on, scenario, timing, running, self.plan.seed, parts, rehearsal=self.plan.rounds < 2)
        except ProcessError as error:  # whether what every cell needs has gone is asked about each cell that failed
            raise Unobserved(str(error)) from None

    def _observe(self, slot: Slot, running: Placed, attempt: int) -> Observed:
        """Raises Unobserved, Untold, and ProcessError or DatabaseError where what every cell needs has gone."""
        scenario, timing = slot.scenario, self.plan.timing(slot.scenario)
        if scenario.writes:
            self.on.database.reset_books()
        name = f"{slot.round:02}-{scenario.id}-{slot.contender.id}" + ("" if attempt == 1 else f"-try{attempt}")
        log, summary = self.journal.folder / "logs" / f"k6-{name}.log", self.journal.folder / "k6" / f"{name}.json"
        watch = effects.Watch(self.on, running, scenario)
        parts = len(self.plan.generators_of(scenario)) or 1
        timing = timing.model_copy(update={"boot_s": self._lead_s + timing.boot_s})
        data, opens_s = k6.cell(
            scenario, timing, self.plan.workers, running.inside_url, self.plan.seed, time.time(), Path("stdout"), together=True
        )
        load = K6(self.on, f"cell-{self.on.number()}", data, parts, timing.total_s)
        try:
            live = self._live(slot, running, timing, opens_s, watch)
            load.finish(2 * timing.drain_s + END_S, log)
            found = load.load(log, summary) if load.exit_code == 0 else None
            if load.late_ms > LATE_MS:
                self._lead_s = min(LONGEST_LEAD_S, 1.5 * self._lead_s)
            why = lost(running, scenario, self.plan.workers)
            if why is not None:
                raise Unobserved(why)
            window = self._window(running, load, timing, opens_s, live) if found is not None else None
        finally:
            load.crowd.remove()
        if window is None:
            raise Unobserved(f"k6 ended with {load.exit_code}: {load.said(log) or 'nobody says why'}")
        self.journal.samples(samples(window, slot))
        return Observed(
            offered=offered(self.plan, slot, timing),
            stations=self._stations(slot, running, load.crowd.nodes),
            ended_before=running.ended_before,
            window=window,
            exit_code=load.exit_code,
            load=found,
            divided=load.divided(),
            wrong_answer=load.wrong_answer(log),
            effects=watch.effects(),
            raw=f"k6/{name}.json",
        )

    def _live(self, slot: Slot, running: Placed, timing: Timing, opens_s: float, watch: effects.Watch) -> _Live:
        """What only the harness can ask, through forwarded ports, while the window is open."""
        scenario, database = slot.scenario, self.on.database
        reader = StatsReader(running.base_url)
        try:
            sleep_until(opens_s - 0.5)
            reader.now()  # the first question opens the connection
            sleep_until(opens_s)
            before = reader.later()
            first = database.counters() if scenario.statements else None
            sleep_until(opens_s + timing.window_s / 2)
            watch.look()
            connections = database.connections(running.contender.id)
            sleep_until(opens_s + timing.window_s)
            after = reader.later()
            last = database.counters() if scenario.statements else None
            watch.close()
            executed = None if first is None or last is None else last.questions - first.questions
            return _Live(before(), after(), connections, executed)
        finally:
            reader.close()

    def _window(self, running: Placed, load: K6, timing: Timing, opens_s: float, live: _Live) -> Window:
        """From what the readers told of the three moments. Raises Untold."""
        closes_s = opens_s + timing.window_s
        read = Readers.of(self.on, running, load.crowd, time.time() - opens_s + AROUND_S)
        times = opens_s, (opens_s + closes_s) / 2, closes_s
        first, middle, last = map(read.edge, times)
        seen = [read.service.at(at_s) for at_s in times]
        footprints = tuple((round(each.pss_mib, 1), each.threads) for each in seen if each.pss_mib is not None)
        if len(footprints) < len(times):
            raise Untold("the reader beside the service may not read its memory")
        peak_mib = read.service.peak_mib(opens_s, closes_s) or 0.0
        peak_mib = max(peak_mib, *(mib for mib, _ in footprints))
        return Window(first, middle, last, live.before, live.after, footprints, live.connections, live.executed, peak_mib)

    def _stations(self, slot: Slot, running: Placed, nodes: Sequence[str]) -> Stations:
        """Cores are those that the pods' limits allow, of `machine` those of all their nodes."""
        place = self.on.place
        machine = sum(place.cores[name] for name in place.used(len(nodes)))
        limits = {"service": 1, "database": 2, "upstream": 1, "generator": len(nodes)}
        cores = {**{role: min(most, machine) for role, most in limits.items()}, "machine": machine}
        return stations(slot.contender, running, cores, [] if place.whole else ["service", "database", "upstream"], database_known=True)


@dataclass(frozen=True)
class _Live:
    """What the harness itself asked while the window was open."""

    before: Stats | None
    after: Stats | None
    connections: int
    executed: int | None
