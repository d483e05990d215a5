"""The rule by which a comparison is decided (docs/method.md, Statistics). Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from nsb.analyse.stats import Contrast, Interval, contrast, deviation, hodges_lehmann, holm, nearly_all, rounds_to_decide
from nsb.analyse.table import latest
from nsb.records.judged import Cell
from nsb.registry.terms import LATENCIES, SHARES, Frozen, Metric

LEAST_ROUNDS = 5
"""Below it no verdict."""
RANK_ROUNDS = 8
"""From here on the Hodges–Lehmann interval must agree."""

Unit = Literal["ratio", "ms", "KiB", "points"]
"""What a pair's x is: the ln of a ratio, or a difference in ms, in KiB for slopes of memory, which may be zero or below, or in percentage
points for shares, which may be zero."""
MARGINS: dict[Unit, float] = {"ratio": 0.10, "ms": 1.0, "KiB": 4.0, "points": 5.0}
"""What still counts as equal: 10 %, the whole millisecond of k6's clock, a page of memory, and five of a hundred users."""

Outcome = Literal["higher", "lower", "equal", "undecided"]
Reason = Literal["too_few_rounds", "no_twin", "twin_failed", "straddles", "unsteady", "bound"]
Side = Literal["first", "second"]


class Paired(Frozen):
    """Two sides, round by round: x is ln(a/b), or a − b in ms, KiB or points, of the rounds that both have.

    Of one side beside a value, x is ln(a/value), or a itself in ms, KiB or points.
    """

    name: str
    unit: Unit
    x: dict[int, float]


class Gate(Frozen):
    """What the twin says about the scenario and the metric; `reason` is None where the gate is open. Bounds at 95 %."""

    reason: Literal["no_twin", "twin_failed"] | None
    rounds: int = 0
    value: float | None = None
    low: float | None = None
    high: float | None = None

    def apart(self, of: Unit) -> float:
        """How far from equal the twin's two programs may be: the larger bound of their interval, as x."""
        edges = [edge for edge in (self.low, self.high) if edge is not None]
        return max((abs(math.log(edge)) if of == "ratio" else abs(edge) for edge in edges), default=0.0)


NO_TWIN = Gate(reason="no_twin")


class Question(Frozen):
    """What is asked of a pair. An exploratory question (not `primary`) stays outside Holm's family and is judged at 95 %."""

    pair: Paired
    gate: Gate
    asks: Literal["difference", "equality"] = "difference"
    border: float = 0.0
    """What x is held against, in its own unit: ln(ratio), ms, KiB or points."""
    margin: float | None = None
    """0.10 for ±10 %, or ms, KiB or points; None: MARGINS."""
    primary: bool = True
    least_rounds: int = Field(default=LEAST_ROUNDS, ge=LEAST_ROUNDS)
    floor: Side | None = None
    """Whose figures are lower bounds, in some rounds at least: x is then at least (first) or at most (second) so much."""

    @property
    def beyond(self) -> list[float]:
        """x from the border on: what decides."""
        return [value - self.border for value in self.pair.x.values()]

    def can_be(self, outcome: Outcome) -> bool:
        """Whether x can show it: what is at least so much is never lower than the border, nor equal to it."""
        return self.floor is None or outcome == ("higher" if self.floor == "first" else "lower")


class Verdict(Frozen):
    """An answer with all that it rests on. Values and bounds are ratios, ms, KiB or points, as `unit` says; bounds are None below two
    rounds."""

    name: str
    unit: Unit
    asks: Literal["difference", "equality"]
    primary: bool
    rounds: int
    value: float | None
    low: float | None
    """The t interval at `level`, which for a primary question is that of its step of Holm's procedure."""
    high: float | None
    level: float
    equality_low: float | None
    """The 90 % t interval."""
    equality_high: float | None
    rank_low: float | None
    """The Hodges–Lehmann interval, unadjusted, from eight rounds on: 95 %, or 90 % where equality is asked."""
    rank_high: float | None
    agree: float | None
    """The share of rounds that lie on the mean's side of the border; where equality is asked, within the margin."""
    sign_holds: bool | None
    """Whether the mean stays on its side of the border whichever round is left out."""
    floor: Side | None
    gate: Gate
    outcome: Outcome
    """Higher and lower than the border, or, where equality is asked, than the margin around it."""
    reason: Reason | None
    rounds_needed: int | None
    """Where more rounds would help: how many decide the seen mean at the seen deviation with 80 % power; None above 100."""


def series(cells: Iterable[Cell], scenario: str, contender: str, metric: Metric) -> dict[int, float]:
    """Round → value in the unit of the metric (METRIC_UNITS), over the last attempts that are valid: bounds are no values.

    Memory has none at all where it did not grow in one of them: the rounds in which it did would tell too much.
    """
    found = latest(cell for cell in cells if cell.scenario == scenario and cell.contender == contender)
    figures = {cell.round: cell.metric(metric) for cell in found if cell.status == "valid"}
    known = {round_: value for round_, value in figures.items() if value is not None and (value > 0 or metric in SHARES)}
    return {} if metric == "memory" and len(known) < len(figures) else known


def reached(cells: Iterable[Cell], scenario: str, contender: str, metric: Metric) -> dict[int, float]:
    """Round → answers per second that it came to at least, over the last attempts that count: values and bounds."""
    found: dict[int, float] = {}
    for cell in latest(cell for cell in cells if cell.scenario == scenario and cell.contender == contender and cell.counts):
        if cell.throughput_rps:
            found[cell.round] = cell.throughput_rps
    return found


def enough(values: int, counted: int, least: int = LEAST_ROUNDS) -> bool:
    """Whether so many values stand for a contender of which `counted` rounds count, bounds among them."""
    return values >= least and nearly_all(values, counted)


def slopes(cells: Iterable[Cell], scenario: str, contender: str) -> dict[int, float]:
    """Round → KiB per request in flight as it was found, zero or below too, over the last attempts that are valid."""
    found = latest(cell for cell in cells if cell.scenario == scenario and cell.contender == contender)
    return {cell.round: cell.memory_slope.kib for cell in found if cell.status == "valid" and cell.memory_slope is not None}


def values(cells: Iterable[Cell], scenario: str, contender: str, metric: Metric, as_: Unit) -> dict[int, float]:
    """Round → what enters x: in KiB the slopes as they are, else the metric's series."""
    return slopes(cells, scenario, contender) if as_ == "KiB" else series(cells, scenario, contender, metric)


def unit(run: Mapping[str, Any], scenario: str, metric: Metric) -> Unit:
    """Latency of an open scenario is compared in ms: a clock of whole milliseconds tells it from the schedule.

    So below one the ratio is the clock's, and above a hold it is that of the hold to itself. Shares are compared in points.
    """
    if metric in SHARES:
        return "points"
    return "ms" if metric in LATENCIES and run["plan"]["models"][scenario] == "open" else "ratio"


def paired(run: Mapping[str, Any], cells: Iterable[Cell], a: str, b: str, scenario: str, metric: Metric, as_: Unit | None = None) -> Paired:
    """Contender a over (or minus) contender b, in the unit asked for; None: the one that `unit` says. KiB is for memory alone."""
    kept = list(cells)
    as_ = as_ or unit(run, scenario, metric)
    first, second = (values(kept, scenario, name, metric, as_) for name in (a, b))
    x = {
        round_: math.log(value / second[round_]) if as_ == "ratio" else value - second[round_]
        for round_, value in sorted(first.items())
        if round_ in second
    }
    return Paired(name=f"{scenario} · {a} : {b} · {metric}", unit=as_, x=x)


def floored(cells: Iterable[Cell], a: str, b: str, scenario: str, metric: Metric, least: int = LEAST_ROUNDS) -> tuple[Paired, Side] | None:
    """Answers per second of a closed scenario where one side has too few values, but came to so much at least; and which side it is.

    The bound of that side stands beside the values of the other: what it bounds lies higher, so the true x does (a's bound), or lies lower
    (b's). None where both have values enough, or neither has.
    """
    kept = list(cells)
    known = {name: series(kept, scenario, name, metric) for name in (a, b)}
    floors = {name: reached(kept, scenario, name, metric) for name in (a, b)}
    short = [name for name in (a, b) if not enough(len(known[name]), len(floors[name]), least)]
    if len(short) != 1:
        return None
    first, second = (floors[name] if name in short else known[name] for name in (a, b))
    x = {round_: math.log(rate / second[round_]) for round_, rate in sorted(first.items()) if round_ in second}
    return Paired(name=f"{scenario} · {a} : {b} · {metric}", unit="ratio", x=x), "first" if a in short else "second"


def beside(cells: Iterable[Cell], contender: str, scenario: str, metric: Metric, value: float, as_: Unit) -> Paired:
    """A contender's own figure beside a value: ln(figure/value), or the figure itself in ms or KiB, to be held against the value."""
    found = sorted(values(cells, scenario, contender, metric, as_).items())
    x = {round_: math.log(figure / value) if as_ == "ratio" else figure for round_, figure in found}
    return Paired(name=f"{scenario} · {contender} : {value:g} · {metric}", unit=as_, x=x)


def twins(run: Mapping[str, Any]) -> dict[str, str]:
    """Twin → original."""
    return {name: control["of"] for name, control in run["plan"].get("controls", {}).items() if control["kind"] == "twin"}


def gate(twin: Paired | None, margin: float | None = None) -> Gate:
    """The gate is open where the twin's own 95 % t interval holds 1 and its ratio is within the margin of 1 (in ms and KiB: the same of 0).

    A twin of fewer than five rounds knows nothing: that is no twin.
    """
    if twin is None or len(twin.x) < LEAST_ROUNDS:
        return Gate(reason="no_twin", rounds=len(twin.x) if twin else 0)
    found = contrast(list(twin.x.values()))
    around = found.interval(0.95)
    is_open = around.low <= 0 <= around.high and abs(found.mean) <= band(twin.unit, margin)
    return Gate(
        reason=None if is_open else "twin_failed",
        rounds=len(twin.x),
        value=shown(found.mean, twin.unit),
        low=shown(around.low, twin.unit),
        high=shown(around.high, twin.unit),
    )


def gate_of(
    run: Mapping[str, Any], cells: Iterable[Cell], scenario: str, metric: Metric, margin: float | None = None, as_: Unit | None = None
) -> Gate:
    """The gate of a run for a scenario and a metric: of several twins each must pass. Margin and unit are those of the question."""
    kept, as_ = list(cells), as_ or unit(run, scenario, metric)
    return together([gate(paired(run, kept, name, of, scenario, metric, as_), margin) for name, of in twins(run).items()], as_)


def together(gates: Sequence[Gate], of: Unit) -> Gate:
    """Of several twins: the one furthest apart of those that failed, else one that passed."""
    known = [found for found in gates if found.reason != "no_twin"]
    failed = [found for found in known if found.reason]
    return max(failed, key=lambda each: each.apart(of)) if failed else next(iter([*known, *gates]), NO_TWIN)


def band(unit: Unit, margin: float | None = None) -> float:
    """The margin in the unit of x: ±ln(1 + margin), or ±ms, ±KiB or ±points."""
    width = MARGINS[unit] if margin is None else margin
    return math.log1p(width) if unit == "ratio" else width


def shown(x: float, unit: Unit) -> float:
    return math.exp(x) if unit == "ratio" else x


def judge(questions: Sequence[Question]) -> list[Verdict]:
    """One verdict for each question, in their order.

    Holm's family are the primary questions that the run can decide: both sides have five rounds (or what the question asks for) and there
    is a twin. Whether the twin passed does not shrink the family: that is known from the same data only.
    """
    family = [
        i for i, q in enumerate(questions) if q.primary and len(q.pair.x) >= q.least_rounds and q.gate.reason != "no_twin"
    ]  # fmt: skip
    levels = dict(zip(family, holm([_p_value(questions[i]) for i in family]), strict=True))
    return [_verdict(question, levels.get(i, 0.95)) for i, question in enumerate(questions)]


def _p_value(q: Question) -> float:
    """Two-sided: that x is at the border; where equality is asked, that it is still within the margin, which is what refutes it.

    A bound has nothing to say on its other side: 1 there.
    """
    found = contrast(q.beyond)
    if not q.can_be(_towards(found.mean)):
        return 1.0
    if q.asks == "difference":
        return found.p_value
    outside = abs(found.mean) - band(q.pair.unit, q.margin)
    return Contrast(outside, found.error, found.df).p_value if outside > 0 else 1.0


def _towards(mean: float) -> Literal["higher", "lower"]:
    return "higher" if mean > 0 else "lower"


def _verdict(q: Question, level: float) -> Verdict:
    x = q.beyond
    n = len(x)
    found = contrast(x) if n > 1 else None
    around = found.interval(level) if found else None
    ninety = found.interval(0.90) if found else None
    ranks = hodges_lehmann(x, 0.90 if q.asks == "equality" else 0.95) if n >= RANK_ROUNDS else None
    mean = sum(x) / n if x else None
    few = n < q.least_rounds
    reason: Reason | None = "too_few_rounds" if few else q.gate.reason
    outcome: Outcome = "undecided"
    needed = q.least_rounds if few else None
    sign_holds = sign_survives(x) if n > 1 else None
    if reason is None and found and around and ninety:
        outcome, reason = _decide(q, around, ninety, ranks, bool(sign_holds))
        if reason is not None:
            needed = _rounds_needed(q, found, deviation(x), level, n)
    elif reason == "twin_failed" and around and ninety:
        told = _beyond_twin(q, around, ninety, ranks)
        if told is not None:
            outcome, reason = told, None
    if found and reason not in ("too_few_rounds", "no_twin") and not q.can_be(_towards(found.mean) if outcome == "undecided" else outcome):
        outcome, reason, needed = "undecided", "bound", None

    def as_shown(value: float | None) -> float | None:
        return None if value is None else shown(value + q.border, q.pair.unit)

    return Verdict(
        name=q.pair.name,
        unit=q.pair.unit,
        asks=q.asks,
        primary=q.primary,
        rounds=n,
        value=as_shown(mean),
        low=as_shown(around.low if around else None),
        high=as_shown(around.high if around else None),
        level=level,
        equality_low=as_shown(ninety.low if ninety else None),
        equality_high=as_shown(ninety.high if ninety else None),
        rank_low=as_shown(ranks.low if ranks else None),
        rank_high=as_shown(ranks.high if ranks else None),
        agree=_agree(q, x, mean),
        sign_holds=sign_holds,
        floor=q.floor,
        gate=q.gate,
        outcome=outcome,
        reason=reason,
        rounds_needed=needed,
    )


def _decide(q: Question, around: Interval, ninety: Interval, ranks: Interval | None, sign_holds: bool) -> tuple[Outcome, Reason | None]:
    """A difference: the adjusted interval excludes the border. Equality: the 90 % interval lies inside the margin around it; it is refuted
    where the adjusted interval lies wholly outside. The intervals of the ranks, where there are any, must say the same."""
    margin = 0.0
    if q.asks == "equality":
        margin = band(q.pair.unit, q.margin)
        if ninety.within(margin):
            return ("equal", None) if ranks is None or ranks.within(margin) else ("undecided", "unsteady")
    side = _side(around, margin)
    if side is None:
        return "undecided", "straddles" if sign_holds or q.asks == "equality" else "unsteady"
    return (side, None) if ranks is None or _side(ranks, margin) == side else ("undecided", "unsteady")


def _beyond_twin(q: Question, around: Interval, ninety: Interval, ranks: Interval | None) -> Literal["higher", "lower", "equal"] | None:
    """Where the twin differs: what the intervals say even if all that sets its two programs apart is taken off, or added.

    A machine on which two equal programs differ by a third cannot say that two others are equal within a tenth, nor that they differ by a
    fifth. It can say that one is not eight times the other; and one on which they differ by a hundredth, that two are equal within a tenth.
    """
    apart = q.gate.apart(q.pair.unit)
    margin = band(q.pair.unit, q.margin) if q.asks == "equality" else 0.0
    if margin > apart and ninety.within(margin - apart):
        return "equal" if ranks is None or ranks.within(margin - apart) else None
    side = _side(around, margin + apart)
    return side if ranks is None or _side(ranks, margin + apart) == side else None


def _side(interval: Interval, margin: float) -> Literal["higher", "lower"] | None:
    if interval.low > margin:
        return "higher"
    return "lower" if interval.high < -margin else None


def sign_survives(x: Sequence[float]) -> bool:
    """Whether the mean of at least two values keeps its sign whichever one is left out.

    It is lost only where |mean| < s/√n, thus never where a t interval of a usual level excludes zero: it tells why an interval straddles.
    """
    whole = sum(x)
    return whole != 0 and all((whole - value) * whole > 0 for value in x)


def _agree(q: Question, x: Sequence[float], mean: float | None) -> float | None:
    if mean is None:
        return None
    if q.asks == "equality":
        return sum(abs(value) < band(q.pair.unit, q.margin) for value in x) / len(x)
    return sum(value * mean > 0 for value in x) / len(x)


def _rounds_needed(q: Question, found: Contrast, s: float, level: float, n: int) -> int | None:
    """From the seen mean to the nearest edge that decides, at the level that decides there."""
    adjusted = (1 + level) / 2
    if q.asks == "difference":
        return rounds_to_decide(abs(found.mean), s, adjusted, n)
    outside = abs(found.mean) - band(q.pair.unit, q.margin)
    return rounds_to_decide(outside, s, adjusted, n) if outside > 0 else rounds_to_decide(-outside, s, 0.95, n)
