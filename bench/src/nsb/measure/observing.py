"""A cell under k6: the load, and what is read while its window is open. Effects only."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import httpx

from nsb.conform.kernel import established
from nsb.errors import Failure
from nsb.measure import attach, client, effects, holder, k6, owners
from nsb.measure.client import HTTP, StatsReader
from nsb.measure.generators import Generators
from nsb.measure.journal import Journal
from nsb.measure.ladder import Ladder
from nsb.measure.meter import Meter, sleep_until
from nsb.measure.native import Stage
from nsb.measure.process import ALL_CORES, Process
from nsb.measure.running import Running, lost
from nsb.records.cells import Observed, Offered, Record, Stations, Window
from nsb.records.edge import Edge
from nsb.registry.contenders import Contender
from nsb.registry.contract import EXTRAS, endpoint
from nsb.registry.plan import Plan, Slot
from nsb.registry.scenario import Scenario
from nsb.registry.shapes import HeldConnections
from nsb.registry.timing import Timing

PINNINGS_S = 10.0
"""A JVM's flight recorder starts with the first question (s)."""
EDGE_EVERY_S, EDGE_EVERY = 0.1, 0.01
"""How often counters are read while the last answer of a whole load is waited for: seconds, and a share of what it has taken so far."""
HOLDER_END_S = 30.0
"""How long the program that holds connections may take to close them and say what became of them (s)."""
LADDER_STATS_S = 0.1
"""How long a reading on a ladder waits for /stats: a later answer would tell of the next level (s)."""


class Unobserved(Failure):
    """Why a cell under load has no figures: the service is of no more use, or the connections were not held."""


@dataclass(frozen=True)
class Observer:
    """Drives cells by k6."""

    plan: Plan
    stage: Stage
    journal: Journal
    k6_program: Path
    holder_program: Path | None
    """Holds connections beside a load; None where no scenario asks for it, or nothing builds it."""

    def observe(self, slot: Slot, running: Running, attempt: int) -> Observed:
        """Raises Unobserved where nothing is to be recorded but why."""
        timing = self.plan.timing(slot.scenario)
        if slot.scenario.writes:
            self.stage.database.reset_books()
        name = f"{slot.round:02}-{slot.scenario.id}-{slot.contender.id}" + ("" if attempt == 1 else f"-try{attempt}")
        summary = self.journal.folder / "k6" / f"{name}.json"
        pinnings = _pinnings(running, slot.scenario)
        jvm, uncollected = self._to_collect(running, slot)
        watch = effects.Watch(self.stage, running, slot.scenario)
        looks = owners.looks(self.stage, [running])
        cores = self.plan.generators_of(slot.scenario) or (self.stage.placement.generator,)
        data, opens_s = k6.cell(
            slot.scenario, timing, self.plan.workers, running.base_url, self.plan.seed, time.time(), summary, together=len(cores) > 1
        )
        log = self.journal.folder / "logs" / f"k6-{name}.log"
        generators = Generators(self.k6_program, self.stage.workshop.root, data, cores, log)
        holders: list[Process] = []
        reader = StatsReader(running.base_url, LADDER_STATS_S if slot.scenario.steps else client.STATS_S)
        held = None
        try:
            if isinstance(slot.scenario, HeldConnections):
                holders.append(self._hold(slot.scenario, timing, running, opens_s, name))
            window = self._watch(running, generators, holders, reader, timing, opens_s, slot, watch, looks, jvm)
            code = generators.exit_code if timing.ends else generators.wait(2 * timing.drain_s + 20)
            for each in holders:
                each.wait(HOLDER_END_S)
                held = holder.outcome(self._report(name))
        except holder.HoldError as error:
            said = in_one_line(holders[0].last_words(3))
            raise Unobserved(f"{error}{'; it said: ' + said if said else ''}") from None
        finally:
            reader.close()
            generators.end(0.5)  # they have ended, or are too late, or the run was interrupted
            for each in holders:
                each.end(0.5)
        why = lost(running, slot.scenario, self.plan.workers)
        if why is not None:
            raise Unobserved(why)
        caused = watch.effects()
        if pinnings is not None:
            pinnings = _pinnings(running, slot.scenario, pinnings)
        load = generators.load() if code == 0 else None
        if timing.ends and load is not None and load.whole_s:
            window = window.until(opens_s + (load.ended_ms or 0.0) / 1000)
        self.journal.samples(samples(window, slot))
        return Observed(
            offered=offered(self.plan, slot, timing),
            stations=self._stations(slot, running),
            ended_before=running.ended_before,
            window=replace(window, later=()),
            exit_code=-1 if code is None else code,
            generator_said=None if load is not None else in_one_line(generators.last_words(3)),
            load=load,
            divided=generators.divided(),
            held=held,
            uncollected=uncollected,
            pinnings=pinnings,
            wrong_answer=generators.wrong_answer(),
            effects=caused,
            owned=looks[0].owned(),
            raw=f"k6/{name}.json" if load is not None else None,
        )

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
        assert self.holder_program is not None
        self._report(name).unlink(missing_ok=True)  # of a sitting that was killed
        what = holder.order(scenario, timing, running.base_url, opens_s, self._report(name))
        log = self.journal.folder / "logs" / f"holder-{name}.log"
        return holder.start(self.holder_program, what, self.stage.placement.generator, log)

    def _watch(
        self,
        running: Running,
        generators: Generators,
        holders: Sequence[Process],
        reader: StatsReader,
        timing: Timing,
        opens_s: float,
        slot: Slot,
        watch: effects.Watch,
        looks: Sequence[owners.Look],
        jvm: attach.Jvm | None = None,
    ) -> Window:
        meter = Meter(self.stage, running, [*generators.processes, *holders])  # finding the processes takes milliseconds: not at the edge
        times = [(opens_s + at_s, users) for at_s, users in slot.scenario.reading_times(timing)]
        ladder = Ladder(reader, meter, times, slot.scenario.holding, opens_s, jvm)
        sleep_until(opens_s - owners.BEFORE_S)
        owners.snap(looks)
        before_switches = meter.switches_until(opens_s)
        sleep_until(opens_s)
        first = meter.open()
        before = reader.later()
        before_counters = self.stage.database.counters() if slot.scenario.statements else None
        footprints = [meter.service_footprint()]
        watch.look()
        ladder.climb(opens_s + timing.window_s / 2)
        sleep_until(opens_s + timing.window_s / 2)
        middle = meter.edge()
        footprints.append(meter.service_footprint())
        watch.look()
        looks[0].placed()
        connections = self.stage.database.connections(running.contender.id)
        clients = established(running.port)
        ladder.climb(opens_s + timing.window_s)
        after_switches = None if timing.ends else meter.switches_until(opens_s + timing.window_s)
        sleep_until(opens_s + timing.window_s)
        edges = [] if not timing.ends else self._until_answered(generators, meter, slot.scenario)
        last = edges.pop() if edges else meter.edge()
        after = reader.later()
        after_counters = self.stage.database.counters() if slot.scenario.statements else None
        footprints.append(meter.service_footprint())
        watch.close()
        owners.snap(looks)
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
    def _until_answered(generators: Generators, meter: Meter, scenario: Scenario) -> list[Edge]:
        """The counters, again and again until the generators have ended: which of them were read at the last answer it tells afterwards."""
        until = time.monotonic() + (scenario.longest_s(k6.TIMEOUT_S) or 0.0) + k6.TIMEOUT_S
        edges, began = [meter.edge()], time.monotonic()
        while generators.wait(max(EDGE_EVERY_S, EDGE_EVERY * (time.monotonic() - began))) is None and time.monotonic() < until:
            edges.append(meter.edge())
        return edges

    def _stations(self, slot: Slot, running: Running) -> Stations:
        placement = self.stage.placement
        roles = {"service": placement.service, "database": placement.database, "upstream": placement.upstream}
        cores = {**{role: len(own) for role, own in roles.items()}, "generator": len(placement.generator), "machine": len(ALL_CORES)}
        shared = [role for role, own in roles.items() if set(own) & set(placement.generator)]
        return stations(slot.contender, running, cores, shared, self.stage.database.pid is not None)


def record(plan: Plan, slot: Slot, attempt: int, started_at: str, began: float, **seen: Any) -> Record:
    """The line of a cell that was measured. `began`: a time of time.monotonic(); `seen`: the one of Record's kinds of observations."""
    return Record(
        **_of_slot(plan, slot, attempt), started_at=started_at, wall_s=round(time.monotonic() - began, 3), outcome="measured", **seen
    )


def unmeasured(plan: Plan, slot: Slot, attempt: int, outcome: Literal["failed", "unsupported"], why: str) -> Record:
    """The line of a cell that has no figures."""
    return Record(**_of_slot(plan, slot, attempt), started_at=now(), outcome=outcome, why=in_one_line(why))


def _of_slot(plan: Plan, slot: Slot, attempt: int) -> dict[str, Any]:
    return {
        "round": slot.round,
        "attempt": attempt,
        "contender": slot.contender.id,
        "scenario": slot.scenario.id,
        "profile": plan.profile,
        "model": slot.scenario.model,
    }


def now() -> str:
    """As records have it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def stations(contender: Contender, running: Running, cores: dict[str, int], shared: Sequence[str], database_known: bool) -> Stations:
    """What can be full in a cell. `cores`: role → how many it may use; `shared`: who shares the generator's."""
    workers = int(running.runtime["workers"])
    return Stations(
        workers=workers,
        pool=int(running.runtime["pool_size"]),
        server_threads=running.runtime.get("settings", {}).get("server_threads"),
        blocked_by=contender.blocked_by,
        waits_on_loop=contender.waits_on_loop,
        call_threads=contender.call_threads,
        query_threads=contender.query_threads(workers),
        cores=cores,
        shared=["generator", *shared],
        database_known=database_known,
    )


def offered(plan: Plan, slot: Slot, timing: Timing) -> Offered:
    """The load that a cell is to get."""
    scenario = slot.scenario
    return Offered(
        rate=scenario.rate_for(plan.workers),
        vus=scenario.vus,
        clients=scenario.clients,
        hold_s=scenario.hold_ms / 1000,
        holds=scenario.holds,
        calls=scenario.calls,
        statements=scenario.statements,
        window_s=timing.window_s,
        ends=timing.ends,
        levels=list(scenario.steps),
        levels_wanted=plan.cut.get(scenario.id),
        holding=scenario.holding,
        rehearsal=plan.rounds < 2,
        blocks_s=scenario.blocks[0],
        blocks_every=scenario.blocks[1],
    )


def samples(window: Window, slot: Slot) -> str:
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


def in_one_line(words: str) -> str:
    """What a program said, for a reason: one line, and not a page of it."""
    return " ".join(words.split())[:1000]
