"""The one table: for each contender and scenario the headline with its spread, its count and its doubts. Pure."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from itertools import product
from typing import Any, Literal, TypeVar

from pydantic import Field

from nsb.analyse.doubts import doubtful
from nsb.analyse.duet import COLD
from nsb.analyse.failing import Failed, failed
from nsb.analyse.fairness import statements_per_request
from nsb.analyse.growth import over_rounds
from nsb.analyse.idle import Idle, idle
from nsb.analyse.overload import Overloaded, overloaded
from nsb.analyse.starts import Span, Startup, span, summed
from nsb.analyse.stats import estimate, plain_mean, spread_of_halves
from nsb.records.judged import Cell, Status
from nsb.records.starts import Start
from nsb.registry.terms import LATENCIES, SHARES, Frozen, Headline, Limit

T = TypeVar("T")

_FIGURE = re.compile(r"(?<![\w-])[+-]?\d[\d,.]*")
"""A number within a sentence, not that of a check."""
NO_FIGURE = "no figure"
"""In the place of a figure of a cell that counts and has none."""


class Figure(Frozen):
    """A figure over the rounds that count. `spread` says what low and high are: a 95 % t interval, or one round's halves."""

    value: float
    low: float | None
    high: float | None
    rounds: int
    spread: Literal["interval", "halves"]
    bound: bool = False
    """`value` is an upper bound, the upper end of low to high: memory grew too little to tell (growth.over_rounds)."""


class Entry(Frozen):
    """One cell of the table."""

    contender: str
    scenario: str
    headline: Headline
    model: Literal["open", "closed"]
    status: Status | Literal["missing", "not asked"]
    """not asked: the run had no such cell to measure (its plan's `asked`)."""
    limit: Limit | None
    figure: Figure | None
    """None where nothing was measured that counts: no number is printed then."""
    rounds_valid: int
    rounds_censored: int
    rounds_measured: int
    reasons: list[str]
    doubts: list[str]
    doubtful: bool
    """Whether the figure is marked: rounds are missing from it, or `doubts.DOUBTFUL` of them have a doubt."""
    throughput_rps: float | None
    p50_ms: float | None
    p90_ms: float | None
    p99_ms: float | None
    cpu_us: dict[str, float | None]
    memory_mib: float | None
    threads: int | None
    switches_per_request: float | None
    db_connections: int | None
    statements_per_request: float | None
    """Counted by the database, over the rounds in which no request failed; None in a scenario without statements."""

    @property
    def scheduled(self) -> bool:
        """Whether the figure is a latency from the schedule, which k6's clock tells to a whole millisecond."""
        return self.headline in LATENCIES and self.model == "open"


def lacking(entry: Entry) -> str:
    """What stands in the place of a figure: a status, or why a cell that is valid has none."""
    if COLD in entry.doubts:
        return "cold"
    return NO_FIGURE if entry.status in ("valid", "censored") else entry.status


class Footprint(Frozen):
    """The highest of each round over all its scenarios, and how it varies over the rounds; None where one round shows no spread."""

    contender: str
    memory_mib: Span | None
    threads: Span | None
    db_connections: Span | None


class Switched(Frozen):
    """Context switches of a service's threads for each request, in a scenario in which all get the same rate."""

    contender: str
    scenario: str
    a_request: Span | None
    """None where nobody counted them, or one round shows no spread."""
    doubtful: bool
    """Whether the figure is marked, as in an entry."""


class Pinned(Frozen):
    """How often the runtime itself said that a virtual thread was pinned, over the whole load of a cell (C17)."""

    contender: str
    scenario: str
    events: Span
    """Median and range over the rounds that count."""


class Table(Frozen):
    profile: str
    tier: str
    rounds: int
    contenders: list[str]
    """Those that have a column."""
    controls: dict[str, dict[str, str]]
    """Those that are compared with their original instead (plan.controls); their entries are there too."""
    scenarios: list[str]
    headlines: dict[str, Headline]
    rates: dict[str, int | None]
    left_out: dict[str, str]
    """Contender → why it was not measured."""
    footprints: list[Footprint]
    entries: list[Entry]
    startups: list[Startup]
    """Empty for a run that was made before starts were recorded."""
    collected: bool
    """Whether memory of JVMs was read after a full collection; False too where no JVM's was read."""
    idle: list[Idle]
    """What connections cost that are only open; empty for a run that held none."""
    switched: list[Switched]
    """Empty where no figure could be told."""
    pinned: list[Pinned]
    """Empty where nobody was asked."""
    overloaded: list[Overloaded] = Field(default_factory=list)
    """What more users than a contender can serve cost it; empty for a run without them."""
    failed: list[Failed] = Field(default_factory=list)
    """What users got while something failed; likewise."""

    def entry(self, contender: str, scenario: str) -> Entry:
        return next(e for e in self.entries if e.contender == contender and e.scenario == scenario)

    def row(self, scenario: str) -> list[Entry]:
        """Of each contender, in their order."""
        return [self.entry(contender, scenario) for contender in self.contenders]


def latest(cells: Iterable[Cell]) -> list[Cell]:
    """The last attempt of every planned cell."""
    best: dict[tuple[int, str, str], Cell] = {}
    for cell in cells:
        best[cell.round, cell.scenario, cell.contender] = cell
    return list(best.values())


def make(run: dict[str, Any], cells: Iterable[Cell], starts: Sequence[Start] = ()) -> Table:
    """The table of a run from its facts (run.json), its cells and, where they were recorded, its starts."""
    plan = run["plan"]
    final = latest(cells)
    controls: dict[str, dict[str, str]] = plan.get("controls", {})
    headlines: dict[str, Headline] = plan["headlines"]
    asked: dict[str, list[str]] = plan.get("asked", {})

    def one(contender: str, scenario: str) -> Entry:
        own = [cell for cell in final if cell.contender == contender and cell.scenario == scenario]
        entry = _entry(contender, scenario, headlines[scenario], plan["models"][scenario], own)
        is_asked = contender in asked.get(scenario, plan["contenders"])
        return entry if own or is_asked else entry.model_copy(update={"status": "not asked"})

    entries = [one(contender, scenario) for scenario in plan["scenarios"] for contender in plan["contenders"]]
    return Table(
        profile=plan["profile"],
        tier=plan["tier"],
        rounds=plan["rounds"],
        contenders=[name for name in plan["contenders"] if name not in controls],
        controls=controls,
        scenarios=plan["scenarios"],
        headlines=headlines,
        rates=plan.get("rates", {}),
        left_out=run.get("left_out", {}),
        footprints=[_footprint(name, [c for c in final if c.contender == name and c.counts]) for name in plan["contenders"]],
        entries=entries,
        startups=summed(starts, plan["contenders"]),
        collected=any(reading.collected_s is not None for cell in final for reading in cell.ladder),
        idle=idle(final, plan["contenders"]),
        switched=_switched(final, plan),
        pinned=_pinned(final, plan),
        overloaded=overloaded(final, plan["contenders"]),
        failed=failed(final, plan["contenders"]),
    )


def _switched(cells: Sequence[Cell], plan: dict[str, Any]) -> list[Switched]:
    """Of the rates alone: under a load as heavy as it can be, switches for each request tell of the load. Nor of ladders, which collect."""
    rates = [scenario for scenario in plan["scenarios"] if plan["models"][scenario] == "open"]
    valid = [cell for cell in cells if cell.status == "valid" and not cell.ladder]
    found = [
        Switched(
            contender=contender,
            scenario=scenario,
            a_request=span([c.switches_per_request for c in own if c.switches_per_request is not None]),
            doubtful=doubtful([cell.doubts for cell in own]),
        )
        for scenario in rates
        for contender in plan["contenders"]
        if (own := [cell for cell in valid if (cell.contender, cell.scenario) == (contender, scenario)])
    ]
    return found if any(each.a_request for each in found) else []


def _pinned(cells: Sequence[Cell], plan: dict[str, Any]) -> list[Pinned]:
    """Of every cell that counts: events are counted, whatever held the load back. One round shows no spread."""
    found = []
    for scenario, contender in product(plan["scenarios"], plan["contenders"]):
        own = [cell for cell in cells if cell.counts and (cell.contender, cell.scenario) == (contender, scenario)]
        events = [cell.pinnings for cell in own if cell.pinnings is not None]
        if len(events) > 1:
            span_ = Span(value=statistics.median(events), low=min(events), high=max(events), starts=len(events), spread="range")
            found.append(Pinned(contender=contender, scenario=scenario, events=span_))
    return found


def _footprint(contender: str, cells: Sequence[Cell]) -> Footprint:
    def over_rounds(what: Callable[[Cell], float | None]) -> Span | None:
        peaks: dict[int, float] = {}
        for cell in cells:
            value = what(cell)
            if value is not None:
                peaks[cell.round] = max(value, peaks.get(cell.round, 0.0))
        return span(list(peaks.values()))

    return Footprint(
        contender=contender,
        memory_mib=over_rounds(lambda cell: cell.memory_peak_mib),
        threads=over_rounds(lambda cell: cell.threads_peak),
        db_connections=over_rounds(lambda cell: cell.db_connections_peak),
    )


def _entry(contender: str, scenario: str, headline: Headline, model: Literal["open", "closed"], cells: Sequence[Cell]) -> Entry:
    valid = [cell for cell in cells if cell.status == "valid"]
    censored = [cell for cell in cells if cell.status == "censored"]
    counted = values_or_bounds(valid, censored)
    status: Status | Literal["missing"] = counted[0].status if counted else cells[-1].status if cells else "missing"
    limits = [cell.limit for cell in counted]
    doubts = _summed([cell.doubts for cell in counted])
    marked = doubtful([cell.doubts for cell in counted])
    if valid and censored:
        gave, others = ("a bound only", censored) if counted is valid else ("a value", valid)
        doubts.append(f"{len(others)} of {len(cells)} rounds gave {gave}: not in the figure")
    lost = [cell for cell in cells if not cell.counts]
    if counted and lost:
        doubts.append(f"{len(lost)} of {len(cells)} rounds not counted: {', '.join(_summed([cell.reasons for cell in lost]))}")
    if status == "censored" and model == "open":
        headline = "throughput"  # at another rate neither latency nor CPU per request compares: what it reached does
    alone_and_cold = len(cells) == 1 and COLD in cells[0].doubts  # nobody would see that the others are warm
    figure = None if alone_and_cold else _figure(counted, headline)
    if figure is not None and figure.bound:
        marked = True
        doubts.append("memory grew too little to tell from the heap's own swings: the figure is the upper end of its spread")
    shown = counted or cells
    return Entry(
        contender=contender,
        scenario=scenario,
        headline=headline,
        model=model,
        status=status,
        limit=max(sorted({limit for limit in limits if limit}), key=limits.count, default=None),
        figure=figure,
        rounds_valid=len(valid),
        rounds_censored=len(censored),
        rounds_measured=len(cells),
        reasons=_summed([cell.reasons for cell in shown]),
        doubts=doubts,
        doubtful=marked or len(counted) < len(cells),
        throughput_rps=_median([c.throughput_rps for c in counted]),
        p50_ms=_median([c.latency_ms.p50 for c in counted]),
        p90_ms=_median([c.latency_ms.p90 for c in counted]),
        p99_ms=_median([c.latency_ms.p99 for c in counted]),
        cpu_us={
            role: _median([c.cpu_us_per_request.get(role) for c in counted]) for role in ("service", "generator", "database", "upstream")
        },
        memory_mib=max((c.memory_peak_mib for c in counted if c.memory_peak_mib is not None), default=None),
        threads=max((c.threads_peak for c in counted if c.threads_peak is not None), default=None),
        switches_per_request=_median([c.switches_per_request for c in counted]),
        db_connections=max((c.db_connections_peak for c in counted if c.db_connections_peak is not None), default=None),
        statements_per_request=statements_per_request(cells),
    )


def values_or_bounds(valid: list[T], censored: list[T]) -> list[T]:
    """Which rounds make a figure: those with a value, but where most gave a bound only, these. The few values among many bounds are those
    of the rounds in which the contender was slowest beside its generator: alone they would tell less than it can."""
    return valid if len(valid) >= len(censored) else censored


def _figure(cells: Sequence[Cell], headline: Headline) -> Figure | None:
    if headline == "memory":
        grown = over_rounds([cell.memory_slope for cell in cells if cell.memory_slope is not None])
        return None if grown is None else Figure(**asdict(grown))
    known = [(cell, value) for cell in cells if (value := cell.headline(headline)) is not None and (value > 0 or headline in SHARES)]
    values = [value for _, value in known]
    first = next((cell for cell, _ in known if not cell.whole), None)  # the halves of a whole load are its beginning and its end
    halves = [] if first is None else [value for half in first.halves if (value := _half(first, headline, half)) is not None]
    return _estimated(values, halves, headline in SHARES)


def _estimated(values: Sequence[float], halves: Sequence[float], share: bool = False) -> Figure | None:
    """Over the rounds their mean and interval, of shares the arithmetic one; of one round the spread between its halves."""
    if not values:
        return None
    if len(values) > 1:
        found = plain_mean(values) if share else estimate(values)
        return Figure(value=found.value, low=found.low, high=found.high, rounds=found.n, spread="interval")
    if len(halves) != 2:
        return None  # no number without spread
    found = spread_of_halves(halves[0], halves[1], values[0])
    return Figure(value=found.value, low=found.low, high=found.high, rounds=1, spread="halves")


def _half(cell: Cell, headline: Headline, half: Any) -> float | None:
    if headline == "throughput":
        rate: float = half.requests / (cell.window_s / 2)
        return rate
    if headline == "goodput":
        return 100 * half.requests / (cell.window_s / 2) / cell.throughput_rps if cell.throughput_rps else None
    if headline == "served":
        return 100 * half.requests / (cell.window_s / 2 * cell.rate) if cell.rate else None
    if headline == "cpu":
        return half.service_cpu_s / half.requests * 1e6 if half.requests else None
    of_halves: dict[Headline, float | None] = {"p50": half.p50_ms, "p99": half.p99_ms}
    return of_halves.get(headline)


def _median(values: Sequence[float | None]) -> float | None:
    """The median round of a figure that is not the headline (percentiles are neither pooled nor averaged)."""
    known = [value for value in values if value is not None]
    return round(statistics.median(known), 3) if known else None


def _summed(lists: Sequence[Sequence[str]]) -> list[str]:
    """Sentences of several rounds; of those that differ in their figures only, the first one, and how many rounds have such a one."""
    alike = [{sentence: _FIGURE.sub("#", sentence) for sentence in sentences} for sentences in lists]
    count = Counter(shape for one in alike for shape in set(one.values()))
    first: dict[str, str] = {}
    for one in alike:
        for sentence, shape in one.items():
            first.setdefault(shape, sentence)
    return [text if len(lists) == 1 else f"{text} ({count[shape]} of {len(lists)} rounds)" for shape, text in first.items()]
