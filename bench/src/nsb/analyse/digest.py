"""What a reader sees first of a run: a small table of factors, and findings. Pure.

Chosen by digest.toml, decided by the cells. Who is better than whom is what dominance.py decided, so the page, the READMEs and the blog
post say the same; a factor is the paired ratio of two contenders over the rounds with its 95 % t interval.

Marks. The *leader* of a row has the best value. It is *best* only where it was shown better than every other contender of the row, so a
figure that varies much cannot win. Where somebody is not distinguishable from the leader, neither is best: both are *tied*. *worse* was
shown worse than the leader. *unknown*: fewer than five rounds, a bound, or a closed gate.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, Literal

from pydantic import Field

from nsb.analyse import judge
from nsb.analyse.dominance import first_ready
from nsb.analyse.stats import contrast
from nsb.analyse.table import Entry, Table, lacking
from nsb.records.judged import Cell
from nsb.records.starts import Start
from nsb.registry.claims import Criterion, Dominance, JudgedClaim
from nsb.registry.digest import READY, Chosen, DigestPlan, Told
from nsb.registry.terms import METRIC_UNITS, MORE_IS_BETTER, SHARES, Frozen, Metric

MOST_FINDINGS = 5
MOST_SURPRISES = 3
WIDEST = 0.5
"""A value whose interval is wider than this share of it, on one side, has no factor, and no such factor is told: it says little."""
ALIKE = 1 + judge.MARGINS["ratio"]
"""Where the greatest upper bound is at most so many times the least lower one, nobody differs in a way that a choice should depend on."""

Mark = Literal["best", "tied", "worse", "unknown"]


class Factor(Frozen):
    """A contender beside another one: their ratio, or in ms their difference."""

    value: float
    low: float
    high: float
    unit: judge.Unit
    tied: bool
    """Whether the two could be compared and neither was shown to be better."""


class Place(Frozen):
    """One contender in one row."""

    contender: str
    value: float | None
    """None where nothing was measured that counts."""
    low: float | None
    high: float | None
    mark: Mark
    fails: bool
    bound: Literal["≤", "≥"] | None = None
    """Where the value is a bound: ≤ if memory grew too little to tell, ≥ if something else was full before the service."""
    reached: bool = False
    """The value is the answers per second that it reached: it could not sustain the rate."""
    word: str | None = None
    """In the place of a value: a status, `cold` or `no figure`."""
    doubtful: bool = False
    """As in the whole table: rounds are missing from the value, or a third of them have a doubt."""
    factors: dict[str, Factor] = Field(default_factory=dict)
    """Baseline → this contender beside it."""


class Row(Frozen):
    """A row of the small table. Leader: the contender with the best value that counts; None where nobody has one."""

    chosen: Chosen
    unit: str
    better: Literal["less", "more"]
    interval: bool
    """Whether low and high are 95 % intervals over the rounds; else one round's halves, or a range."""
    leader: str | None
    few: bool
    """Whether nobody has the `LEAST_ROUNDS` that a comparison needs."""
    places: list[Place]
    run: str | None = None
    """Where it is from, if not from the run that the table is of."""

    @property
    def alike(self) -> bool:
        """Nobody fails, everybody has a value, and nobody is distinguishable from the leader. Where nobody was compared, all intervals
        have to lie within `ALIKE`."""
        if any(place.fails for place in self.places):
            return False
        return self._within(self.places) if self.uncompared else all(place.mark == "tied" for place in self.places)

    @property
    def uncompared(self) -> bool:
        """Whether nobody in the row was compared."""
        return all(place.mark == "unknown" for place in self.places)

    def near(self, place: Place) -> bool:
        """Whether, in a row in which nobody was compared, its interval and the leader's lie within `ALIKE`; of the leader: whether
        somebody's does. Nobody who fails is near."""
        if not self.uncompared or self.leader is None:
            return False
        leader = self.place(self.leader)
        others = [each for each in self.places if each is not leader] if place.contender == self.leader else [place]
        return any(self._within([leader, each]) for each in others if not leader.fails and not each.fails)

    def hardly_known(self) -> bool:
        """Whether somebody has a factor to the leader, and somebody else only a value, since more would say little (`WIDEST`)."""
        others = [place for place in self.places if place.contender != self.leader and _told(place) and not place.fails]
        known = [self.leader in place.factors for place in others]
        return any(known) and not all(known)

    def _within(self, places: Sequence[Place]) -> bool:
        """Of ratios with an interval alone."""
        factors = [place.factors.get(self.leader or "") for place in places]
        if not self.interval or not all(factor is not None and factor.unit == "ratio" for factor in factors):
            return False
        return max(place.high or math.inf for place in places) <= ALIKE * min(place.low or 0.0 for place in places)

    def place(self, contender: str) -> Place:
        return next(each for each in self.places if each.contender == contender)


class Finding(Frozen):
    """A sentence of digest.toml that the run shows, with what fills its fields."""

    told: Told
    row: Row
    first: list[Place]
    """least: the leader, and who is not distinguishable from it. split: those that fail. alike: all."""
    second: list[Place]
    """least: the dearest of those that were shown worse, alone. split: those that do not fail."""
    facts: dict[str, int | float]
    """users, hold (s), threads, pool: as far as the run tells them."""


class Digest(Frozen):
    """Rows in the order of digest.toml, without those that the run has no figure for."""

    contenders: list[str]
    rows: list[Row]
    findings: list[Finding]


def digest(
    plan: DigestPlan, table: Table, run: Mapping[str, Any], cells: Sequence[Cell], starts: Sequence[Start], dominance: Dominance
) -> Digest:
    found = [row for chosen in plan.rows if (row := _row(chosen, table, run, cells, starts, dominance)) is not None]
    by_id = {row.chosen.id: row for row in found}
    findings = [
        finding for told in plan.findings if told.row in by_id and (finding := _finding(told, by_id[told.row], table, run)) is not None
    ]
    return Digest(contenders=table.contenders, rows=found, findings=findings[:MOST_FINDINGS])


def filled(found: Digest, plan: DigestPlan, others: Mapping[str, Digest]) -> Digest:
    """With each row that the run does not have from the first of the other runs that has it of the same contenders."""
    rows: list[Row] = []
    for chosen in plan.rows:
        own = next((row for row in found.rows if row.chosen.id == chosen.id), None)
        rows += [own] if own is not None else _elsewhere(chosen, found.contenders, others)
    return found.model_copy(update={"rows": rows})


def _elsewhere(chosen: Chosen, contenders: Sequence[str], others: Mapping[str, Digest]) -> list[Row]:
    for name, other in others.items():
        row = next((row for row in other.rows if row.chosen.id == chosen.id), None)
        if row is not None and {place.contender for place in row.places} == set(contenders):
            return [row.model_copy(update={"run": name, "places": [row.place(each) for each in contenders]})]
    return []


# --- rows -----------------------------------------------------------------------------------------------------------------


def _row(
    chosen: Chosen, table: Table, run: Mapping[str, Any], cells: Sequence[Cell], starts: Sequence[Start], dominance: Dominance
) -> Row | None:
    if chosen.id == READY:
        metric, places = READY, _readiness(table)
        better: Literal["less", "more"] = "less"
        interval = all(each.ready_s is None or each.ready_s.spread == "interval" for each in table.startups)
        rounds = [len(first_ready(starts, contender)) for contender in table.contenders]
    elif chosen.id in table.scenarios:
        metric = table.headlines[chosen.id]
        entries = [table.entry(contender, chosen.id) for contender in table.contenders]
        places = [_place(chosen, entry) for entry in entries]
        better = "more" if metric in MORE_IS_BETTER else "less"
        interval = table.rounds > 1
        rounds = [entry.rounds_valid + entry.rounds_censored for entry in entries]
    else:
        return None
    if all(place.value is None for place in places):
        return None
    leader = _leader(places, better)
    criterion = _criterion(dominance, chosen.id, metric)
    found = marks(dominance, criterion, leader, [place.contender for place in places if place.value is not None])
    ties = dominance.ties(criterion.id) if criterion is not None else set()
    factors = _factors(chosen.id, metric, places, ties, run, cells, starts)
    return Row(
        chosen=chosen,
        unit="s" if chosen.id == READY else METRIC_UNITS[metric],  # type: ignore[index]
        better=better,
        interval=interval,
        leader=leader,
        few=max(rounds) < judge.LEAST_ROUNDS,
        places=[
            place.model_copy(update={"mark": found.get(place.contender, "unknown"), "factors": factors.get(place.contender, {})})
            for place in places
        ],
    )


def _place(chosen: Chosen, entry: Entry) -> Place:
    figure = entry.figure
    reached = entry.status == "censored" and entry.model == "open"
    low, high = (None, None) if figure is None else (figure.low, figure.high)
    beyond = chosen.fails_above is not None and not reached and low is not None and low > chosen.fails_above
    return Place(
        contender=entry.contender,
        value=None if figure is None else figure.value,
        low=low,
        high=high,
        mark="unknown",
        fails=reached or beyond or entry.limit in chosen.fails_by or entry.status == "failed",
        bound=None if figure is None else "≤" if figure.bound else "≥" if entry.status == "censored" and not reached else None,
        reached=reached,
        word=lacking(entry) if figure is None else None,
        doubtful=figure is not None and entry.doubtful,
    )


def _readiness(table: Table) -> list[Place]:
    found = {each.contender: each for each in table.startups}
    places = []
    for name in table.contenders:
        span = found[name].ready_s if name in found else None
        shown = (None, None, None) if span is None else (span.value, span.low, span.high)
        word = "missing" if span is None else None
        places.append(Place(contender=name, value=shown[0], low=shown[1], high=shown[2], mark="unknown", fails=False, word=word))
    return places


def _leader(places: Sequence[Place], better: Literal["less", "more"]) -> str | None:
    known = [place for place in places if place.value is not None and not place.reached and place.bound != "≥"]
    order = sorted(known, key=lambda place: (place.value or 0.0) * (1 if better == "less" else -1))
    return order[0].contender if order else None


def _criterion(dominance: Dominance, row: str, metric: str) -> Criterion | None:
    if row == READY:
        return next((each for each in dominance.criteria if each.scenario is None and each.metric == READY), None)
    return next((each for each in dominance.criteria if each.scenario == row and each.metric == metric), None)


def marks(dominance: Dominance, criterion: Criterion | None, leader: str | None, names: Sequence[str]) -> dict[str, Mark]:
    """The mark of each contender that has a value; the leader is the one with the best.

    Where somebody was shown better than that one, by a lower bound or over the scenarios that both have, who beats most of them leads.
    """
    if criterion is None or leader is None:
        return dict.fromkeys(names, "unknown")

    def beats(name: str, other: str | None) -> bool:
        return criterion.id in dominance.better.get(name, {}).get(other or "", [])

    if any(beats(name, leader) for name in dominance.contenders):
        leader = max(dominance.contenders, key=lambda name: sum(beats(name, other) for other in names))
    found: dict[str, Mark] = {name: _beside(leader, name, dominance, criterion) for name in names if name != leader}
    if found and all(mark == "worse" for mark in found.values()):
        return {**found, leader: "best"}
    return {**found, leader: "tied" if "tied" in found.values() else "unknown"}


def _beside(leader: str, name: str, dominance: Dominance, criterion: Criterion) -> Mark:
    """What was decided of `name` beside the leader."""
    if criterion.id in dominance.better.get(leader, {}).get(name, []):
        return "worse"
    if criterion.id in dominance.better.get(name, {}).get(leader, []):
        return "unknown"  # neither is the best, nor are they alike
    return "tied" if criterion.id in dominance.compared.get(leader, {}).get(name, []) else "unknown"


# --- factors --------------------------------------------------------------------------------------------------------------


def _factors(
    row: str,
    metric: str,
    places: Sequence[Place],
    ties: Set[tuple[str, str]],
    run: Mapping[str, Any],
    cells: Sequence[Cell],
    starts: Sequence[Start],
) -> dict[str, dict[str, Factor]]:
    """Contender → baseline → factor; none without two common rounds, nor of a figure that is a bound, nor a ratio that is hardly known."""
    shares = metric in SHARES
    names = [place.contender for place in places if _told(place) and (shares or _steady(place))]
    unit: judge.Unit = "ratio"
    values: dict[str, Mapping[int, float]]
    if row == READY:
        values = {name: first_ready(starts, name) for name in names}
    else:
        found = metric_of(metric)
        unit = judge.unit(run, row, found)
        values = {name: judge.series(cells, row, name, found) for name in names}
    factors: dict[str, dict[str, Factor]] = {name: {} for name in names}
    for name in names:
        for baseline in names:
            pair = values[name], values[baseline]
            x = [_x(pair[0][round_], pair[1][round_], unit) for round_ in sorted(pair[0].keys() & pair[1].keys())]
            if len(x) > 1:
                around = contrast(x).interval(0.95)
                value, low, high = (judge.shown(each, unit) for each in (sum(x) / len(x), around.low, around.high))
                if unit != "ratio" or _narrow(value, low, high):
                    factors[name][baseline] = Factor(value=value, low=low, high=high, unit=unit, tied=(name, baseline) in ties)
    return factors


def _told(place: Place) -> bool:
    return place.value is not None and place.low is not None and place.high is not None and not place.reached and not place.bound


def _steady(place: Place) -> bool:
    assert place.value is not None
    assert place.low is not None
    assert place.high is not None
    return _narrow(place.value, place.low, place.high)


def _narrow(value: float, low: float, high: float) -> bool:
    return max(high - value, value - low) <= WIDEST * value


def metric_of(name: str) -> Metric:
    """A headline is a metric too."""
    return name  # type: ignore[return-value]


def _x(one: float, other: float, unit: judge.Unit) -> float:
    return math.log(one / other) if unit == "ratio" else one - other


# --- findings -------------------------------------------------------------------------------------------------------------


def _finding(told: Told, row: Row, table: Table, run: Mapping[str, Any]) -> Finding | None:
    """None where the run does not show it, or where a field of its sentence would stay empty."""
    if not row.interval or table.rounds < judge.LEAST_ROUNDS:
        return None
    first, second = {"least": _least, "split": _split, "alike": _alike}[told.kind](told, row, table)
    if not first or (told.kind != "alike" and not second):
        return None
    facts = _facts(row.chosen.id, first, run)
    if any(
        "{" + name + "}" in sentence
        for sentence in (told.en, told.ko)
        for name in ("users", "hold", "threads", "pool")
        if name not in facts
    ):
        return None
    return Finding(told=told, row=row, first=first, second=second, facts=facts)


Sides = tuple[list[Place], list[Place]]


def _least(told: Told, row: Row, table: Table) -> Sides:
    if row.leader is None or row.better != "less":
        return [], []
    leader = row.place(row.leader)
    others = [place for place in row.places if place.contender != row.leader]
    if any(place.mark == "unknown" and place.low is not None and place.low <= (leader.high or math.inf) for place in others):
        return [], []  # it was not compared, and may be the least
    near = [place for place in others if place.mark == "tied" or place.value is None]
    worse = [place for place in row.places if place.mark == "worse"]
    dearest = sorted(worse, key=lambda place: place.value or 0.0)[-1:]
    # Another one than the dearest would be told as it where its own factor is hardly known.
    return ([leader, *near], dearest) if all(leader.contender in place.factors for place in dearest) else ([], [])


def _split(told: Told, row: Row, table: Table) -> Sides:
    return sides(row.places)


def sides(places: Iterable[Place]) -> Sides:
    """Those that fail, and those that do not. Where the interval of one that does not fail meets theirs, it is on neither side, and
    neither is one of which only a lower bound is known."""
    exact = [place for place in places if not place.reached and place.bound != "≥"]
    known = [(place, place.low, place.high) for place in exact if place.low is not None and place.high is not None]
    failing = [each for each in known if each[0].fails]
    apart = [each for each in known if all(each[2] < low or each[1] > high for _, low, high in failing)]
    return [place for place, _, _ in failing], [place for place, _, _ in apart if not place.fails]


def _alike(told: Told, row: Row, table: Table) -> Sides:
    entries = [table.entry(contender, row.chosen.id) for contender in table.contenders if row.chosen.id in table.scenarios]
    capped = bool(entries) and all(entry.limit == told.limit and entry.status == "valid" for entry in entries)
    return ([*row.places], []) if capped and all(place.low is not None for place in row.places) else ([], [])


def _facts(row: str, of: Iterable[Place], run: Mapping[str, Any]) -> dict[str, int | float]:
    """Threads and pool only where all of them reported the same."""
    plan = run["plan"]
    told = [run.get("runtimes", {}).get(place.contender, {}) for place in of]
    threads = {each.get("settings", {}).get("server_threads") for each in told}
    pools = {each.get("pool_size") for each in told}
    found = {
        "users": plan.get("vus", {}).get(row),
        "hold": (plan.get("holds_ms", {}).get(row) or 0) / 1000 or None,
        "threads": threads.pop() if len(threads) == 1 else None,
        "pool": pools.pop() if len(pools) == 1 else None,
    }
    return {name: value for name, value in found.items() if value is not None}


# --- surprises ------------------------------------------------------------------------------------------------------------


def surprises(claims: Sequence[JudgedClaim]) -> list[JudgedClaim]:
    """Claims of articles that were measured and whose conclusion or number is contradicted, first those whose figures lie furthest from the
    claimed ones; one of each article."""
    told: dict[str, JudgedClaim] = {}
    for claim in sorted(filter(contradicted, claims), key=distance, reverse=True):
        measured = claim.conclusion != "NOT_MEASURED" or (claim.number is not None and claim.number.rounds > 0)
        if not claim.saying and measured and distance(claim) > 0:
            told.setdefault(claim.article, claim)
    return list(told.values())[:MOST_SURPRISES]


def contradicted(claim: JudgedClaim) -> bool:
    """Whether its conclusion is refuted, or its number is not reproduced."""
    return claim.conclusion == "REFUTED" or (claim.number is not None and claim.number.came == "NOT_AGAIN")


def distance(claim: JudgedClaim) -> float:
    """How far the figures that decided it lie from the claimed ones, as the greatest |ln|; 0 where none has a ratio to it: a difference."""
    compared = [each for part in claim.parts if part.verdict == claim.conclusion for each in part.comparisons]
    apart = [each.value / each.border for each in compared if each.value and each.border and (each.unit == "ratio" or each.other is None)]
    if claim.number is not None and claim.number.came == "NOT_AGAIN":
        apart += [claim.number.factor or 0.0, (claim.number.by_its_figures or 0.0) / claim.number.theirs.value]
    return max((abs(math.log(each)) for each in apart if each > 0), default=0.0)
