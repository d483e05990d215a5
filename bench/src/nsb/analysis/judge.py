"""The rule by which a comparison is decided (METHODOLOGY.md, Statistics). Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from nsb.analysis.stats import Contrast, Interval, contrast, deviation, hodges_lehmann, holm, rounds_to_decide
from nsb.analysis.table import latest
from nsb.model import Cell, Frozen, Headline

LEAST_ROUNDS = 5
"""Below it no verdict."""
RANK_ROUNDS = 8
"""From here on the Hodges–Lehmann interval must agree."""

Unit = Literal["ratio", "ms"]
"""What a pair's x is: the ln of a ratio, or a difference in ms."""
MARGINS: dict[Unit, float] = {"ratio": 0.10, "ms": 1.0}
"""What still counts as equal: 10 %, and the whole millisecond of k6's clock."""

Outcome = Literal["higher", "lower", "equal", "undecided"]
Reason = Literal["too_few_rounds", "no_twin", "twin_failed", "straddles", "unsteady"]


class Paired(Frozen):
    """Two sides, round by round: x is ln(a/b), or a − b in ms, of the rounds that both have."""

    name: str
    unit: Unit
    x: dict[int, float]


class Gate(Frozen):
    """What the twin says about the scenario and the metric; `reason` is None where the gate is open. Bounds as ratio or ms, 95 %."""

    reason: Literal["no_twin", "twin_failed"] | None
    rounds: int = 0
    value: float | None = None
    low: float | None = None
    high: float | None = None


NO_TWIN = Gate(reason="no_twin")


class Question(Frozen):
    """What is asked of a pair. An exploratory question (not `primary`) stays outside Holm's family and is judged at 95 %."""

    pair: Paired
    gate: Gate
    asks: Literal["difference", "equality"] = "difference"
    margin: float | None = None
    """0.10 for ±10 %, or ms; None: MARGINS."""
    primary: bool = True


class Verdict(Frozen):
    """An answer with all that it rests on. Values and bounds are ratios or ms, as `unit` says; bounds are None below two rounds."""

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
    """The share of rounds that lie on the side of the mean; where equality is asked, within the margin."""
    sign_holds: bool | None
    """Whether the mean keeps its sign whichever round is left out."""
    gate: Gate
    outcome: Outcome
    reason: Reason | None
    rounds_needed: int | None
    """Where more rounds would help: how many decide the seen mean at the seen deviation with 80 % power; None above 100."""


def series(cells: Iterable[Cell], scenario: str, contender: str, metric: Headline) -> dict[int, float]:
    """Round → value in the unit of the metric (table.UNITS), over the last attempts that are valid: bounds are no values.

    Memory has none at all where it did not grow in one of them: the rounds in which it did would tell too much.
    """
    found = latest(cell for cell in cells if cell.scenario == scenario and cell.contender == contender)
    values = {cell.round: cell.headline(metric) for cell in found if cell.status == "valid"}
    known = {round_: value for round_, value in values.items() if value is not None and value > 0}
    return {} if metric == "memory" and len(known) < len(values) else known


def unit(run: Mapping[str, Any], scenario: str, metric: Headline) -> Unit:
    """Latency of an open scenario is compared in ms: a clock of whole milliseconds tells it from the schedule.

    So below one the ratio is the clock's, and above a hold it is that of the hold to itself.
    """
    return "ms" if metric == "p50" and run["plan"]["models"][scenario] == "open" else "ratio"


def paired(run: Mapping[str, Any], cells: Iterable[Cell], a: str, b: str, scenario: str, metric: Headline) -> Paired:
    """Contender a over (or minus) contender b."""
    kept = list(cells)
    first, second = series(kept, scenario, a, metric), series(kept, scenario, b, metric)
    as_ = unit(run, scenario, metric)
    x = {
        round_: math.log(value / second[round_]) if as_ == "ratio" else value - second[round_]
        for round_, value in sorted(first.items())
        if round_ in second
    }
    return Paired(name=f"{scenario} · {a} : {b} · {metric}", unit=as_, x=x)


def twins(run: Mapping[str, Any]) -> dict[str, str]:
    """Twin → original."""
    return {name: control["of"] for name, control in run["plan"].get("controls", {}).items() if control["kind"] == "twin"}


def gate(twin: Paired | None, margin: float | None = None) -> Gate:
    """The gate is open where the twin's own 95 % t interval holds 1 and its ratio lies within the margin of 1 (in ms: holds 0, within ms).

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


def gate_of(run: Mapping[str, Any], cells: Iterable[Cell], scenario: str, metric: Headline, margin: float | None = None) -> Gate:
    """The gate of a run for a scenario and a metric: of several twins each must pass."""
    kept = list(cells)
    gates = [gate(paired(run, kept, name, of, scenario, metric), margin) for name, of in twins(run).items()]
    known = [found for found in gates if found.reason != "no_twin"]
    return next((found for found in known if found.reason), known[0] if known else next(iter(gates), NO_TWIN))


def band(unit: Unit, margin: float | None = None) -> float:
    """The margin in the unit of x: ±ln(1 + margin), or ±ms."""
    width = MARGINS[unit] if margin is None else margin
    return math.log1p(width) if unit == "ratio" else width


def shown(x: float, unit: Unit) -> float:
    return math.exp(x) if unit == "ratio" else x


def judge(questions: Sequence[Question]) -> list[Verdict]:
    """One verdict for each question, in their order.

    Holm's family are the primary questions that the run can decide: both sides have five rounds and there is a twin. Whether the twin
    passed does not shrink the family: that is known from the same data only.
    """
    family = [i for i, q in enumerate(questions) if q.primary and len(q.pair.x) >= LEAST_ROUNDS and q.gate.reason != "no_twin"]
    adjusted = holm([contrast(list(questions[i].pair.x.values())).p_value for i in family])
    levels = dict(zip(family, adjusted, strict=True))
    return [_verdict(question, levels.get(i, 0.95)) for i, question in enumerate(questions)]


def _verdict(q: Question, level: float) -> Verdict:
    x = list(q.pair.x.values())
    n = len(x)
    found = contrast(x) if n > 1 else None
    around = found.interval(level) if found else None
    ninety = found.interval(0.90) if found else None
    ranks = hodges_lehmann(x, 0.90 if q.asks == "equality" else 0.95) if n >= RANK_ROUNDS else None
    mean = sum(x) / n if x else None
    reason: Reason | None = "too_few_rounds" if n < LEAST_ROUNDS else q.gate.reason
    outcome: Outcome = "undecided"
    needed = LEAST_ROUNDS if n < LEAST_ROUNDS else None
    sign_holds = sign_survives(x) if n > 1 else None
    if reason is None and found and around and ninety:
        outcome, reason = _decide(q, around, ninety, ranks, bool(sign_holds))
        if reason is not None:
            needed = _rounds_needed(q, found, deviation(x), level, n)

    def as_shown(value: float | None) -> float | None:
        return None if value is None else shown(value, q.pair.unit)

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
        gate=q.gate,
        outcome=outcome,
        reason=reason,
        rounds_needed=needed,
    )


def _decide(q: Question, around: Interval, ninety: Interval, ranks: Interval | None, sign_holds: bool) -> tuple[Outcome, Reason | None]:
    """A difference: the adjusted interval excludes zero. Equality: the 90 % interval lies inside the margin; it is refuted where the
    adjusted interval lies wholly outside. The intervals of the ranks, where there are any, must say the same."""
    border = 0.0
    if q.asks == "equality":
        border = band(q.pair.unit, q.margin)
        if ninety.within(border):
            return ("equal", None) if ranks is None or ranks.within(border) else ("undecided", "unsteady")
    side = _side(around, border)
    if side is None:
        return "undecided", "straddles" if sign_holds or q.asks == "equality" else "unsteady"
    return (side, None) if ranks is None or _side(ranks, border) == side else ("undecided", "unsteady")


def _side(interval: Interval, border: float) -> Literal["higher", "lower"] | None:
    if interval.low > border:
        return "higher"
    return "lower" if interval.high < -border else None


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
    """From the seen mean to the nearest border that decides, at the level that decides there."""
    adjusted = (1 + level) / 2
    if q.asks == "difference":
        return rounds_to_decide(abs(found.mean), s, adjusted, n)
    beyond = abs(found.mean) - band(q.pair.unit, q.margin)
    return rounds_to_decide(beyond, s, adjusted, n) if beyond > 0 else rounds_to_decide(-beyond, s, 0.95, n)
