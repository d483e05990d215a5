"""What a run will do, in which order, and how long it takes. Pure: the same seed gives the same plan."""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

from nsb.records.judged import Cell
from nsb.registry.claims import Claims, MeasuredRule, contenders_of
from nsb.registry.contenders import Contender, twin_id
from nsb.registry.load import Registry
from nsb.registry.placement import Unit, on_one_core
from nsb.registry.scenario import Scenario
from nsb.registry.shapes import Failing, Overload, cost_rows, files_for
from nsb.registry.terms import Profile, grouped
from nsb.registry.timing import Tier, Timing

START_S, JVM_START_S = 0.5, 9.0
"""From the start of a contender until it is ready and its pool is open (s): half of a JVM's is the pool, opened by cold code."""
STEPS_S, JVM_STEPS_S = 8.0, 17.0
"""The steps of a warm-up, all endpoints at once (s)."""
VISITS_S, JVM_VISITS_S = 1.7, 12.0
"""The visits to one cost row, of a JVM until its compilers have caught up (s). The first is a mean: of five contenders without a JVM one
compiles, and its visits take 8 s. Both pairs as in 20261128-cost; a quicker machine takes some seconds less."""
CONFORMANCE_S, JVM_CONFORMANCE_S = 35.0, 55.0
"""The contract against one contender (s), which is started several times for it; a pass is remembered for the build."""
CONFORMANCE_AT_ONCE = 2
"""Contenders that are asked at a time: most rules wait."""
PRELUDE_S = 8.0
"""Database, upstream and the facts of the machine (s)."""
BESIDE_MIB = 1024
"""What the database, k6 and the harness may need beside the contenders."""
MEMORY_SHARE = 0.8
"""Of the available memory at the most: what has been swapped or squeezed out is not measured."""

LISTEN_S, LISTEN_REHEARSAL_S = 5.0, 2.0
"""How long the machine is listened to before a run, and before one of one round (s)."""
PROBE_S = 4.0
"""One probe from the start of k6 to its end (s)."""
LADDER_PROBES = 7
"""The first rate, three doublings, two bisection steps, one closed probe."""

Order = Literal["scenario", "contender"]


@dataclass(frozen=True)
class Slot:
    """One cell to come: a contender under a scenario in a round."""

    round: int
    contender: Contender
    scenario: Scenario

    @property
    def key(self) -> tuple[int, str, str]:
        return self.round, self.scenario.id, self.contender.id


@dataclass(frozen=True)
class Plan:
    tier_name: str
    tier: Tier
    profile: Profile
    workers: int
    rounds: int
    seed: int
    contenders: tuple[Contender, ...]
    scenarios: tuple[Scenario, ...]
    rows: tuple[tuple[str, ...], ...]
    """The order of the contenders, by round: a drawn row, then the same row reversed."""
    order: Order = "scenario"
    """scenario: all contenders run, and take turns under each scenario. contender: one runs at a time, under all scenarios."""
    order_why: str = ""
    """Why it is not the usual order."""
    asked: Mapping[str, Collection[str]] | None = None
    """Scenario → the contenders that it is asked of, where a tier asks by claims; None: of all."""
    articles: tuple[str, ...] = ()
    """Whose claims it asks by."""
    cut: Mapping[str, int] = field(default_factory=dict)
    """Scenario → connections that it wants to hold at the most, where the open files allowed end its levels earlier."""

    generators: tuple[Unit, ...] = ()
    """The cores of each of several generators that divide a load; none where there is one generator."""
    solo: bool = False
    """Whether a cost is that of a service alone on its core, as on a cluster: several generators can divide its connections there."""

    def timing(self, scenario: Scenario) -> Timing:
        timing = scenario.timing(self.tier)
        in_turn = on_one_core(self.generators_of(scenario))
        return timing if in_turn == 1 else timing.model_copy(update={"boot_s": timing.boot_s * in_turn})

    def generators_of(self, scenario: Scenario) -> tuple[Unit, ...]:
        """The cores of each generator that has a part of its load; none where one has all of it."""
        return self.generators if scenario.undivided(len(self.generators), self.solo) is None else ()

    @property
    def undivided(self) -> dict[str, str]:
        """Scenario → why one generator drives it, where there are several."""
        whys = {each.id: each.undivided(len(self.generators), self.solo) for each in self.scenarios if self.generators}
        return {name: why for name, why in whys.items() if why is not None}

    def cell_s(self, contender: Contender, scenario: Scenario) -> float:
        """What a cell is announced to take (s); one that its contender cannot run takes none."""
        return self.timing(scenario).total_s + scenario.load_s(contender) if contender.why_not(scenario) is None else 0.0

    def asks(self, contender: Contender, scenario: Scenario) -> bool:
        """Whether there is a cell of them: a copy is asked what its original is asked."""
        named = None if self.asked is None else self.asked.get(scenario.id)
        return contender.is_asked(scenario) and (named is None or contender.id in named or contender.copy_of in named)

    @property
    def rounds_per_start(self) -> int:
        """1 where a contender has to make room for the next one, and where nothing is measured in each round of a start."""
        shared = self.order == "scenario" and any(scenario.each_round for scenario in self.scenarios)
        return self.tier.rounds_per_start if shared else 1

    def is_fresh(self, round_: int) -> bool:
        """Whether contenders are started for this round."""
        return (round_ - 1) % self.rounds_per_start == 0

    def start_of(self, round_: int) -> int:
        """Which start of the contenders serves this round, from 0."""
        return (round_ - 1) // self.rounds_per_start

    def rounds_of(self, scenario: Scenario) -> int:
        """How many rounds measure it."""
        return sum(scenario.each_round or self.is_fresh(round_) for round_ in range(1, self.rounds + 1))

    def groups(self, round_: int) -> list[tuple[str, ...]]:
        """The contenders of a round that run at the same time."""
        row = self.rows[round_ - 1]
        return [row] if self.order == "scenario" else [(name,) for name in row]

    @property
    def all_groups(self) -> list[tuple[int, tuple[str, ...]]]:
        """(round, group) in their order."""
        return [(round_, group) for round_ in range(1, self.rounds + 1) for group in self.groups(round_)]

    def slots(self, round_: int) -> Iterator[Slot]:
        """The cells of a round, group by group, and in a group scenario by scenario, all contenders of one scenario back to back."""
        by_id = {contender.id: contender for contender in self.contenders}
        for group in self.groups(round_):
            for scenario in in_turn(each for each in self.scenarios if each.each_round or self.is_fresh(round_)):
                for name in group:
                    if self.asks(by_id[name], scenario):
                        yield Slot(round_, by_id[name], scenario)

    @property
    def reference(self) -> str:
        """Whom the others share their core with in cost cells: the contender that contenders.toml marks `twinned`, else the first."""
        proper = [contender for contender in self.contenders if contender.copy_of is None] or list(self.contenders)
        return next((contender.id for contender in proper if contender.twinned), proper[0].id)

    @property
    def controls(self) -> dict[str, dict[str, str]]:
        """Contenders that are compared with their original instead of having a column: id → kind (twin, plant), of, worsens (plants)."""
        return {
            c.id: {"kind": "plant", "of": c.plant.of, "worsens": c.plant.worsens} if c.plant else {"kind": "twin", "of": c.twin_of or ""}
            for c in self.contenders
            if c.copy_of is not None
        }

    def only(self, names: Collection[str], order: tuple[Order, str] | None = None) -> Plan:
        """The same with these contenders alone, which take their turns as if nobody else had been asked."""
        there = [contender for contender in self.contenders if contender.id in names]
        placed, why = order or (self.order, self.order_why)
        turns = rows([contender.id for contender in there], self.rounds, self.seed)
        return replace(self, contenders=tuple(there), rows=turns, order=placed, order_why=why)

    def largest(self, contender: Contender) -> Contender:
        """The contender with the largest heap that a scenario asks of it."""
        heaps = [scenario.heap_mib for scenario in self.scenarios if scenario.heap_mib is not None and self.asks(contender, scenario)]
        return contender.with_heap(max([contender.heap_mib, *heaps]))

    def cut_short(self, scenario: Scenario) -> str | None:
        """Why a scenario holds fewer connections than it is meant to; None where it does not."""
        wanted = self.cut.get(scenario.id)
        return None if wanted is None else cut_short(scenario.held_at_most, wanted)

    @property
    def left_out(self) -> list[tuple[str, str, tuple[str, ...]]]:
        """(scenario, why, contenders): who cannot run what. These cells take no time and are in the journal as unsupported."""
        found = [(each.id, why, contender.id) for contender, each in self.pairs if (why := contender.why_not(each)) is not None]
        return [(*key, tuple(name for *_, name in of)) for key, of in grouped(found, lambda each: each[:2]).items()]

    @property
    def pairs(self) -> list[tuple[Contender, Scenario]]:
        """Who is asked what, in each round."""
        return [(contender, scenario) for scenario in self.scenarios for contender in self.contenders if self.asks(contender, scenario)]

    @property
    def cells(self) -> int:
        return sum(self.rounds_of(scenario) for _, scenario in self.pairs)

    def asked_of(self, contender: Contender) -> list[Scenario]:
        """What it is warmed with and measured by."""
        return [each for each in self.scenarios if self.asks(contender, each) and contender.why_not(each) is None]

    def warmed_with(self, contender: Contender, first: Scenario | None) -> list[Scenario]:
        """What a fresh process is warmed with whose first cell is of this scenario: before a ladder with that alone, by few connections.
        A server keeps the buffers and threads of the most connections that it has had, and would show no growth (docs/method.md)."""
        return [first] if first is not None and first.steps else [each for each in self.asked_of(contender) if not each.steps]

    def start_s(self, contender: Contender, first: Scenario | None = None) -> float:
        """A fresh process and its warm-up (s)."""
        rows = len(cost_rows(self.warmed_with(contender, first)))
        start_s, steps_s, visits_s = (JVM_START_S, JVM_STEPS_S, JVM_VISITS_S) if contender.has_heap else (START_S, STEPS_S, VISITS_S)
        return start_s + min(steps_s + rows * visits_s, self.tier.warm_cap_s)

    def first(self, round_: int, name: str) -> Scenario | None:
        """What the process of a contender is started for at the beginning of a round; None where nothing is asked of it that it can run."""
        asked = (slot for slot in self.slots(round_) if slot.contender.id == name and slot.contender.why_not(slot.scenario) is None)
        return next((slot.scenario for slot in asked), None)

    def breakdown_s(self, contender: Contender) -> float:
        """What it takes beyond that where it breaks down in each overload: it is started again, and waited for in vain (s)."""
        slots = [
            slot
            for round_ in range(1, self.rounds + 1)
            for slot in self.slots(round_)
            if slot.contender.id == contender.id and contender.why_not(slot.scenario) is None
        ]
        again = sum(
            slot.scenario.breakdown_s is not None and self.start_of(slot.round) == self.start_of(after.round)
            for slot, after in pairwise(slots)
        )
        return again * self.start_s(contender) + sum(slot.scenario.breakdown_s or 0.0 for slot in slots)

    @property
    def measuring_s(self) -> float:
        """All rounds, without retries and breakdowns (s)."""
        return left(self, ()).seconds

    @property
    def to_check(self) -> list[Contender]:
        """Whom the contract is asked of: a twin is its original once more."""
        there = {contender.id for contender in self.contenders}
        return [contender for contender in self.contenders if contender.twin_of not in there]

    def seconds(self, unchecked: Collection[Contender] = ()) -> float:
        """The announced wall time after the build (s), without retries and breakdowns; the contract is asked of the unchecked first."""
        return PRELUDE_S + conformance_s(unchecked) + preflight_s(self.rounds < 2, len(self.generators)) + self.measuring_s


def in_turn(scenarios: Iterable[Scenario]) -> list[Scenario]:
    """Ladders come first: a process that has borne a larger load keeps the memory it touched, and would show no growth. Overloads and
    faults come after what they could disturb. Those with a heap of their own come last: a JVM is started again for it."""
    return sorted(scenarios, key=lambda each: (not each.steps, each.heap_mib or 0, isinstance(each, Overload | Failing)))


def preflight_s(rehearsal: bool, generators: int = 0) -> float:
    """The announced length of the preflight (s), with the scaling check of several generators."""
    scaling_s = len(scaling_steps(generators)) * PROBE_S
    return scaling_s + (LISTEN_REHEARSAL_S + PROBE_S if rehearsal else LISTEN_S + LADDER_PROBES * PROBE_S)


def scaling_steps(generators: int) -> list[int]:
    """With how many generators the scaling check asks what they can send: 1, 2, 4 … and all of them; none where there is one."""
    return [*(step for step in (1, 2, 4, 8, 16, 32) if step < generators), generators] if generators > 1 else []


def by_effort(contenders: Iterable[Contender]) -> list[Contender]:
    """Those first whose starts take the contract most of its time: JVMs."""
    return sorted(contenders, key=lambda each: not each.has_heap)


def conformance_s(contenders: Iterable[Contender], at_once: int = CONFORMANCE_AT_ONCE) -> float:
    """What the contract against them is announced to take, so many at a time (s)."""
    each = [JVM_CONFORMANCE_S if contender.has_heap else CONFORMANCE_S for contender in contenders]
    return max(sum(each) / at_once, max(each, default=0.0))


def make(
    registry: Registry,
    tier: str,
    contenders: Sequence[str],
    scenarios: Sequence[str],
    profile: Profile,
    workers: int,
    seed: int,
    rounds: int | None = None,
    asked: Mapping[str, Collection[str]] | None = None,
    articles: Sequence[str] = (),
    nofile: int | None = None,
    generators: Sequence[Unit] = (),
    solo: bool = False,
) -> Plan:
    """A plan from ids that the registry knows; `rounds` overrides the tier's number, `asked` is what by_claims() says, `nofile` is how many
    open files are allowed, `generators` the cores of each of several, `solo` as of Plan."""
    count = rounds or registry.tiers[tier].rounds
    wanted = [registry.scenarios[name] for name in scenarios]
    held = wanted if nofile is None else [scenario.within(nofile) for scenario in wanted]
    return Plan(
        tier_name=tier,
        tier=registry.tiers[tier],
        profile=profile,
        workers=workers,
        rounds=count,
        seed=seed,
        contenders=tuple(registry.contenders[name] for name in contenders),
        scenarios=tuple(held),
        rows=rows(contenders, count, seed),
        asked=asked,
        articles=tuple(articles),
        cut={whole.id: whole.held_at_most for whole, left in zip(wanted, held, strict=True) if left.held_at_most != whole.held_at_most},
        generators=tuple(generators),
        solo=solo,
    )


def cut_short(most: int, wanted: int) -> str:
    """Why no more than so many connections are held where more were wanted."""
    return f"up to {most:,} connections of {wanted:,}: more open files are not allowed here (ulimit -Hn {files_for(wanted)} for all)"


def by_claims(
    claims: Claims, registry: Registry, articles: Collection[str], profile: Profile, twinned: Collection[str] | None = None
) -> dict[str, list[str]]:
    """Scenario → contenders, both in the registry's order: what the claims of those articles and their asides name, with the contenders
    whose twins say what noise is (None: the one that contenders.toml marks); and the articles' own loads, each with the contenders that
    it is for."""
    control = [name for name, contender in registry.contenders.items() if contender.twinned] if twinned is None else twinned
    found: dict[str, set[str]] = {name: set() for name in registry.scenarios}
    for claim in claims.claims.values():
        for rule, only in claim.rules if claim.article in articles else []:
            if isinstance(rule, MeasuredRule) and only in (None, profile) and rule.scenario in found:
                found[rule.scenario] |= {*contenders_of(rule), *control}
    for scenario in registry.scenarios.values():
        if scenario.article in articles:
            found[scenario.id] |= set(scenario.contenders)
    return {scenario: [name for name in registry.contenders if name in names] for scenario, names in found.items() if names}


def missing(plan: Plan, already: Iterable[Cell]) -> list[tuple[Slot, int]]:
    """What is still to be measured, in the plan's order, each with the number of its next attempt.

    A cell is there when it counts or when its contender cannot run it; an invalid or failed one is measured again.
    """
    there: set[tuple[int, str, str]] = set()
    attempts: dict[tuple[int, str, str], int] = {}
    for cell in already:
        key = cell.round, cell.scenario, cell.contender
        attempts[key] = max(cell.attempt, attempts.get(key, 0))
        if cell.counts or cell.status == "unsupported":
            there.add(key)
    slots = [slot for round_ in range(1, plan.rounds + 1) for slot in plan.slots(round_)]
    return [(slot, attempts.get(slot.key, 0) + 1) for slot in slots if slot.key not in there]


@dataclass(frozen=True)
class Left:
    """What is still to be measured of a plan, and the processes that are started for it. Without retries and breakdowns."""

    plan: Plan
    slots: list[Slot]
    """In the plan's order."""
    groups: list[tuple[int, tuple[str, ...]]]
    """(round, contenders): who is started at the beginning of which round."""
    again: frozenset[tuple[int, str, str]]
    """Keys of the slots for which a process is started, since the one that is there was for a ladder, has another heap, or is spent. The
    reference is started within the first cell that needs it, whosever that is."""

    def slot_s(self, slot: Slot) -> float:
        """A cell, with the process that is started for it (s)."""
        again_s = self.plan.start_s(slot.contender, slot.scenario) if slot.key in self.again else 0.0
        return again_s + self.plan.cell_s(slot.contender, slot.scenario)

    def group_s(self, round_: int, names: Collection[str]) -> float:
        """Fresh processes and an equal warm-up for these contenders, before the first cell (s)."""
        return sum(self.plan.start_s(each, self.plan.first(round_, each.id)) for each in self.plan.contenders if each.id in names)

    @property
    def seconds(self) -> float:
        return sum(map(self.slot_s, self.slots)) + sum(self.group_s(round_, group) for round_, group in self.groups)


def left(plan: Plan, already: Iterable[Cell]) -> Left:
    """Of a plan of which some cells are there."""
    todo = [slot for slot, _ in missing(plan, already)]
    of = grouped(todo, lambda slot: (plan.start_of(slot.round), slot.contender.id))
    groups, again = [], set()
    for round_, group in plan.all_groups:
        there = {name: slots for name in group if (slots := of.get((plan.start_of(round_), name)))}
        if not plan.is_fresh(round_) or not there:
            continue
        begins = min(slots[0].round for slots in there.values())
        groups.append((begins, group))
        for name, slots in there.items():
            first = plan.first(begins, name)
            has: tuple[str | None, int] | None = _process(slots[0].contender, first)
            for slot in slots:
                if slot.contender.why_not(slot.scenario) is not None:
                    continue
                needs = _process(slot.contender, slot.scenario)
                if has != needs:
                    again.add(slot.key)
                has = None if slot.scenario.spends else needs
    return Left(plan, todo, groups, frozenset(again))


def _process(contender: Contender, scenario: Scenario | None) -> tuple[str | None, int]:
    """What a process is started for: a ladder (the id of its scenario), and a heap (MiB)."""
    return ladder(scenario), contender.with_heap(None if scenario is None else scenario.heap_mib).heap_mib


def ladder(scenario: Scenario | None) -> str | None:
    """The id of a scenario that needs a process of its own; None for others."""
    return scenario.id if scenario is not None and scenario.steps else None


def with_twins(contenders: Sequence[str], registry: Registry, asked: Sequence[str] | None) -> list[str]:
    """The ids with the twins of those asked for; by None with the twin that every run has: of the contender that contenders.toml marks
    `twinned`, else of the first.

    Raises KeyError with the first one asked for that is not in the run.
    """
    names = list(contenders)
    originals = [name for name in names if registry.contenders[name].copy_of is None]
    if asked is None:
        marked = [name for name in originals if registry.contenders[name].twinned]
        asked = [] if any(registry.contenders[name].twin_of for name in names) else (marked or originals)[:1]
    for name in asked:
        if name not in originals:
            raise KeyError(name)
    return list(dict.fromkeys([*names, *map(twin_id, asked)]))


def order_for(asked: str, contenders: Sequence[Contender], workers: int, available_mib: float | None) -> tuple[Order, str]:
    """The order of the cells, and why it is not the usual one, or that it may not go well; `asked` is auto, scenario or contender.

    All contenders at once (twin included) with what runs beside them must fit into a share of the available memory (MiB; None:
    unknown, then it is not asked). Raises ValueError where not even the largest one fits.
    """
    need = {contender.id: contender.reserve_mib(workers) for contender in contenders}
    together, largest = sum(need.values()) + BESIDE_MIB, max(need, key=lambda name: need[name])
    room = math.inf if available_mib is None else MEMORY_SHARE * available_mib
    says = f"{room / 1024:.1f} GiB ({MEMORY_SHARE:.0%} of what is available)"
    if need[largest] + BESIDE_MIB > room:
        raise ValueError(
            f"{largest} needs about {(need[largest] + BESIDE_MIB) / 1024:.1f} GiB with database and k6, and there are {says}: "
            "free memory, or leave it out by --contenders"
        )
    short = (
        f"{len(need)} contenders need about {together / 1024:.1f} GiB with database and k6, and there are {says}" if together > room else ""
    )
    if asked == "scenario":
        return "scenario", f"All at once because --order scenario asks for it: {short}." if short else ""
    if asked == "contender":
        return "contender", f"Contender by contender because {short or 'that is asked for'}."
    return ("contender", f"Contender by contender because memory is short: {short}.") if short else ("scenario", "")


def rows(names: Sequence[str], rounds: int, seed: int) -> tuple[tuple[str, ...], ...]:
    """A row drawn with the seed and, in the next round, the same row reversed: over two rounds all have one mean position."""
    draw = random.Random(seed)
    result: list[tuple[str, ...]] = []
    while len(result) < rounds:
        row = list(names)
        draw.shuffle(row)
        result += [tuple(row), tuple(reversed(row))]
    return tuple(result[:rounds])
