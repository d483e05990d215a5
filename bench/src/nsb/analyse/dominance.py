"""Who is better at what, who is better at nothing, and whether one contender is best at everything (docs/claims.md). Pure.

Criteria. Of each scenario its headline, of an open scenario the CPU per request too; of the whole run the peaks of memory and threads,
which are the highest of a round over the scenarios that both sides have in it, and the time until ready; of the code its lines and
complexity.

Better. Each pair of contenders is compared in each criterion as everywhere (analyse/judge.py: by round, Student's t, the twin's gate). All
these comparisons are one family for Holm's procedure, whatever is then read from them: so with 95 % not a single "better" of a run is
chance, and its verdict and its front can rest on any of them. That is strict: with 500 comparisons of six rounds a difference must be some
four standard deviations. The whole interval must lie beyond what is never called (LEAST). Exact counts need no interval.

Not better. Two that were compared and of which neither is better are *tied*, which does not say equal. Two that cannot be compared are
*unknown* there: too few rounds, a closed gate, a figure that is only a bound. A lower bound is better than the values of another one where
it lies above them by the adjusted interval, since what it bounds lies higher still; nothing is better than a bound. The exception is a
contender that could not sustain an open rate for a limit of its own: it is worse than those that could, where the answers per second that
both reached say so too.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any, Literal, NamedTuple

from nsb.analyse import compare, judge
from nsb.analyse.judge import LEAST_ROUNDS, Gate, Paired, Question, Unit
from nsb.analyse.stats import contrast, estimate
from nsb.analyse.table import latest
from nsb.records.judged import Cell
from nsb.records.sources import Code, Size
from nsb.records.starts import Start
from nsb.registry.claims import Criterion, Dominance, Reason, Verdict
from nsb.registry.terms import METRIC_UNITS, MORE_IS_BETTER, Limit, Metric, grouped

LEAST: dict[Unit, float] = {**compare.LEAST, "KiB": judge.MARGINS["KiB"]}
"""No finer difference is called, in the unit of x: 1 %, 1 ms, 4 KiB, one point."""
OWN: frozenset[Limit] = frozenset({"cpu", "threads", "loop", "carriers", "pool"})
"""Limits that are the contender's, not those of a program beside it."""

Relation = Literal["better", "worse", "tied"] | Reason
"""Of the first of a pair to the second; a reason: unknown."""
Pair = tuple[str, str]


class _Mean(NamedTuple):
    """Over the rounds, with its 95 % t interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class _Asked:
    """A criterion before it is decided: for each pair a question, or the reason why there is none."""

    id: str
    scenario: str | None
    metric: str
    unit: str
    better: Literal["less", "more"]
    means: dict[str, _Mean | None]
    pairs: dict[Pair, Question | Reason]
    bounds: dict[Pair, Reason] = field(default_factory=dict)
    """Of a pair in which one figure is a lower bound: why. It can be shown to be better, and nothing else."""
    unsustained: list[str] = field(default_factory=list)


def dominance(run: Mapping[str, Any], cells: Sequence[Cell], starts: Sequence[Start], code: Code | None) -> Dominance:
    """Of all contenders of a run that have a column, without the loads that end: no verdict rests on those (docs/claims.md).
    Start-up and code are criteria only where the run has records of them.
    """
    plan, whole = run["plan"], run["plan"].get("loads", {})
    names = [name for name in plan["contenders"] if name not in plan.get("controls", {})]
    records = Records(run, [cell for cell in cells if cell.scenario not in whole])
    steady = [scenario for scenario in plan["scenarios"] if scenario not in whole]
    asked = [_scenario(records, names, scenario, metric) for scenario in steady for metric in records.metrics(scenario)]
    if steady:
        asked += [_of_run(records, names, "memory_peak", METRIC_UNITS["memory_peak"], records.peaks(lambda cell: cell.memory_peak_mib))]
        asked += [_of_run(records, names, "threads", METRIC_UNITS["threads"], records.peaks(lambda cell: cell.threads_peak))]
    if starts and steady:
        asked.append(_of_run(records, names, "ready_s", "s", _ready(starts)))
    counted: list[tuple[Criterion, dict[Pair, Relation]]] = []
    if code is not None:
        counted.append(_exact(code, names, "lines", "lines", lambda size: size.lines))
        counted.append(_exact(code, names, "complexity", "paths", lambda size: size.complexity))
    return _assembled(names, [*_decided(names, asked), *counted])


def verdict(found: Dominance) -> tuple[Verdict, Reason | None]:
    """SUPPORTED where each contender is beaten in a criterion. REFUTED where one is among the best in every criterion and better than each
    other one in some, which it can be only where all criteria could be compared. Where nothing measured could be, code decides nothing.
    """
    if len(found.contenders) < 2:
        return "NOT_MEASURED", "no_contender"
    measured = [criterion for criterion in found.criteria if not criterion.exact]
    if not measured:
        return "NOT_MEASURED", "no_scenario"
    unknown = [criterion.reason for criterion in measured if criterion.reason is not None]
    if len(unknown) == len(measured):
        return "UNDECIDED", _most(unknown)
    lost = beaten(found)
    if all(lost.values()):
        return "SUPPORTED", None
    for name, others in found.better.items():
        if not lost[name] and all(others.values()) and all(name in criterion.best for criterion in found.criteria):
            return "REFUTED", None
    return "UNDECIDED", _most(unknown) if unknown else "straddles"


def without(found: Dominance, left_out: Collection[str]) -> Dominance:
    """Without the criteria of these scenarios, resources and counts; the front stays that of all."""
    kept = [criterion for criterion in found.criteria if criterion.id not in left_out and criterion.scenario not in left_out]
    ids = {criterion.id for criterion in kept}

    def only(relation: Mapping[str, Mapping[str, Sequence[str]]]) -> dict[str, dict[str, list[str]]]:
        return {a: {b: [each for each in criteria if each in ids] for b, criteria in others.items()} for a, others in relation.items()}

    return found.model_copy(update={"criteria": kept, "better": only(found.better), "compared": only(found.compared)})


def beaten(found: Dominance) -> dict[str, list[str]]:
    """Contender → the criteria in which another one is better."""
    lost = {name: {each for others in found.better.values() for each in others.get(name, [])} for name in found.contenders}
    return {name: [criterion.id for criterion in found.criteria if criterion.id in ids] for name, ids in lost.items()}


# --- what a run has ----------------------------------------------------------------------------------------------------

Peaks = dict[str, dict[int, dict[str, float]]]
"""Contender → round → what it was taken from → value: the round's figure is the highest of them."""


@dataclass(frozen=True, eq=False)
class Records:
    """The last attempts of a run, found by scenario and contender without looking through all of them each time."""

    run: Mapping[str, Any]
    cells: Sequence[Cell]

    @cached_property
    def final(self) -> list[Cell]:
        return latest(self.cells)

    @cached_property
    def _index(self) -> dict[Pair, list[Cell]]:
        return grouped(self.final, lambda cell: (cell.scenario, cell.contender))

    def of(self, scenario: str, *contenders: str) -> list[Cell]:
        return [cell for name in contenders for cell in self._index.get((scenario, name), [])]

    def is_open(self, scenario: str) -> bool:
        return bool(self.run["plan"]["models"].get(scenario) == "open")

    def metrics(self, scenario: str) -> list[Metric]:
        """The headline, and the CPU per request where a rate makes it comparable."""
        headline: Metric = self.run["plan"]["headlines"][scenario]
        return [headline, "cpu"] if self.is_open(scenario) and headline != "cpu" else [headline]

    def unit(self, scenario: str, metric: Metric) -> Unit:
        """Slopes of memory may be zero: they have no ratio."""
        return "KiB" if metric == "memory" else judge.unit(self.run, scenario, metric)

    def pair(self, a: str, b: str, scenario: str, metric: Metric) -> Paired:
        return judge.paired(self.run, self.of(scenario, a, b), a, b, scenario, metric, self.unit(scenario, metric))

    def gate(self, scenario: str, metric: Metric, unit: Unit | None = None, margin: float | None = None) -> Gate:
        controls = dict.fromkeys(name for pair in judge.twins(self.run).items() for name in pair)
        return judge.gate_of(self.run, self.of(scenario, *controls), scenario, metric, margin, unit or self.unit(scenario, metric))

    def peaks(self, what: Callable[[Cell], float | None]) -> Peaks:
        found: Peaks = {}
        for (scenario, name), own in self._index.items():
            for cell in own:
                value = what(cell)
                if cell.counts and value is not None and value > 0:
                    found.setdefault(name, {}).setdefault(cell.round, {})[scenario] = value
        return found


def _ready(starts: Sequence[Start]) -> Peaks:
    return {name: {round_: {"start": ready_s} for round_, ready_s in first_ready(starts, name).items()} for name in _started(starts)}


def _started(starts: Sequence[Start]) -> list[str]:
    return list(dict.fromkeys(start.contender for start in starts))


def first_ready(starts: Sequence[Start], contender: str) -> dict[int, float]:
    """Round → seconds until ready, of the first start of each round: one after a fault finds warm files."""
    found: dict[int, float] = {}
    for start in starts:
        if start.contender == contender and start.round not in found and start.ready_s is not None and start.ready_s > 0:
            found[start.round] = start.ready_s
    return found


# --- criteria of a scenario ----------------------------------------------------------------------------------------------


def _scenario(records: Records, names: Sequence[str], scenario: str, metric: Metric) -> _Asked:
    as_ = records.unit(scenario, metric)
    found = {name: judge.values(records.of(scenario, name), scenario, name, metric, as_) for name in names}
    lacks = {name: _lack(records.of(scenario, name), len(found[name])) for name in names}
    headline = metric == records.metrics(scenario)[0]
    unsustained = [name for name in names if _unsustained(records.of(scenario, name))] if records.is_open(scenario) and headline else []
    by_metric, by_answers = records.gate(scenario, metric), records.gate(scenario, "throughput") if unsustained else judge.NO_TWIN

    more = metric in MORE_IS_BETTER
    bounds: dict[Pair, Reason] = {}

    def question(a: str, b: str) -> Question | Reason:
        lack = lacks[a] or lacks[b]
        if more and lack in ("generator_bound", "database_bound"):
            floored = judge.floored(records.of(scenario, a, b), a, b, scenario, metric)
            if floored is not None:
                bounds[a, b] = lack
                return Question(pair=floored[0], floor=floored[1], gate=by_metric)
        if a in unsustained or b in unsustained:
            other = lacks[b if a in unsustained else a]
            return other or Question(pair=_answers(records, a, b, scenario), gate=by_answers)
        return lacks[a] or lacks[b] or Question(pair=records.pair(a, b, scenario, metric), gate=by_metric)

    return _Asked(
        id=f"{scenario} {metric}",
        scenario=scenario,
        metric=metric,
        unit=METRIC_UNITS[metric],
        better="more" if more else "less",
        means={name: _mean(list(found[name].values()), as_) for name in names},
        pairs={(a, b): question(a, b) for a, b in combinations(names, 2)},
        bounds=bounds,
        unsustained=unsustained,
    )


def _lack(cells: Sequence[Cell], valued: int) -> Reason | None:
    """Why a contender cannot be compared in a scenario; None where enough of its rounds have values."""
    counted = sum(cell.counts for cell in cells)
    if judge.enough(valued, counted):
        return None
    if not cells or all(cell.status == "unsupported" for cell in cells):
        return "no_scenario"
    if len(cells) < LEAST_ROUNDS:
        return "too_few_rounds"
    bounds = [cell.limit for cell in cells if cell.status == "censored"]
    if not bounds:
        return "invalid" if counted < LEAST_ROUNDS else "too_few_rounds"
    limit = max(sorted({limit or "" for limit in bounds}), key=[limit or "" for limit in bounds].count)
    if limit == "database":
        return "database_bound"
    if limit in ("generator", "upstream"):  # the upstream is the generator's other half
        return "generator_bound"
    return "not_sustained" if any(cell.model == "open" for cell in cells) else "too_few_rounds"


def _unsustained(cells: Sequence[Cell]) -> bool:
    own = sum(cell.status == "censored" and cell.limit in OWN for cell in cells)
    return judge.enough(own, sum(cell.counts for cell in cells))


def _answers(records: Records, a: str, b: str, scenario: str) -> Paired:
    """Answers per second that the two reached, in the rounds in which one sustained the rate and the other did not."""
    first, second = ({cell.round: cell for cell in records.of(scenario, name) if cell.counts} for name in (a, b))
    x = {
        round_: math.log(one.throughput_rps / other.throughput_rps)
        for round_, one in sorted(first.items())
        if (other := second.get(round_)) and one.status != other.status and one.throughput_rps and other.throughput_rps
    }
    return Paired(name=f"{scenario} · {a} : {b} · throughput", unit="ratio", x=x)


# --- criteria of a whole run ---------------------------------------------------------------------------------------------


def _of_run(records: Records, names: Sequence[str], metric: str, unit_: str, peaks: Peaks) -> _Asked:
    """The less the better. Each twin must pass here too."""

    def pair(a: str, b: str) -> Paired:
        first, second = peaks.get(a, {}), peaks.get(b, {})
        common = {round_: first[round_].keys() & second[round_].keys() for round_ in sorted(first.keys() & second.keys())}
        x = {
            round_: math.log(max(first[round_][key] for key in keys) / max(second[round_][key] for key in keys))
            for round_, keys in common.items()
            if keys
        }
        return Paired(name=f"{a} : {b} · {metric}", unit="ratio", x=x)

    its_gate = judge.together([judge.gate(pair(name, of)) for name, of in judge.twins(records.run).items()], "ratio")
    return _Asked(
        id=metric,
        scenario=None,
        metric=metric,
        unit=unit_,
        better="less",
        means={name: _mean([max(each.values()) for each in peaks.get(name, {}).values()], "ratio") for name in names},
        pairs={(a, b): Question(pair=pair(a, b), gate=its_gate) for a, b in combinations(names, 2)},
    )


def _mean(values: Sequence[float], as_: Unit) -> _Mean | None:
    """Geometric; of ms, KiB and points arithmetic; of latency no finer than its clock. None below two rounds: no number without spread."""
    if len(values) < 2:
        return None
    if as_ == "ratio":
        whole = estimate(values)
        assert whole.low is not None
        assert whole.high is not None
        return _Mean(whole.value, whole.low, whole.high)
    found = contrast(values)
    around, least = found.interval(0.95), LEAST["ms"] if as_ == "ms" else 0.0
    return _Mean(found.mean, min(around.low, found.mean - least), max(around.high, found.mean + least))


def _exact(code: Code, names: Sequence[str], measure: str, unit_: str, of: Callable[[Size], int]) -> tuple[Criterion, dict[Pair, Relation]]:
    sizes = {name: of(size) for name in names if (size := code.size(name)) is not None}

    def relation(a: str, b: str) -> Relation:
        if a not in sizes or b not in sizes:
            return "no_code"
        low, high = sorted((sizes[a], sizes[b]))
        if high <= low * math.exp(LEAST["ratio"]):
            return "tied"
        return "better" if sizes[a] < sizes[b] else "worse"

    relations = {(a, b): relation(a, b) for a, b in combinations(names, 2)}
    criterion = Criterion(
        id=measure,
        scenario=None,
        metric=measure,
        unit=unit_,
        better="less",
        values={name: sizes.get(name) for name in names},
        best=_best(names, relations),
        exact=True,
        reason=_unknown(relations),
    )
    return criterion, relations


# --- decisions -----------------------------------------------------------------------------------------------------------


def _decided(names: Sequence[str], asked: Sequence[_Asked]) -> list[tuple[Criterion, dict[Pair, Relation]]]:
    """All questions of all criteria as one family."""
    places = [(one, pair, question) for one in asked for pair, question in one.pairs.items() if isinstance(question, Question)]
    answers = judge.judge([question for _, _, question in places])
    answered = {(one.id, pair): answer for (one, pair, _), answer in zip(places, answers, strict=True)}
    found = []
    for one in asked:
        relations = {
            pair: _relation(one, pair, answered[one.id, pair]) if isinstance(question, Question) else question
            for pair, question in one.pairs.items()
        }
        criterion = Criterion(
            id=one.id,
            scenario=one.scenario,
            metric=one.metric,
            unit=one.unit,
            better=one.better,
            values={name: mean and mean.value for name, mean in one.means.items()},
            intervals={name: (mean.low, mean.high) for name, mean in one.means.items() if mean is not None},
            best=_best(names, relations),
            unsustained=one.unsustained,
            reason=_unknown(relations),
        )
        found.append((criterion, relations))
    return found


def _relation(asked: _Asked, pair: Pair, answer: judge.Verdict) -> Relation:
    if answer.reason in ("too_few_rounds", "no_twin", "twin_failed"):
        return answer.reason
    by_answers = any(name in asked.unsustained for name in pair)
    near = answer.low if answer.outcome == "higher" else answer.high
    assert near is not None  # there are rounds enough
    x = math.log(near) if answer.unit == "ratio" else near
    why = asked.bounds.get(pair)
    if answer.outcome not in ("higher", "lower") or abs(x) <= LEAST[answer.unit]:
        return why or ("not_sustained" if by_answers else "tied")
    more = "more" if by_answers else asked.better
    return "better" if (answer.outcome == "higher") == (more == "more") else "worse"


def _best(names: Sequence[str], relations: Mapping[Pair, Relation]) -> list[str]:
    """Those that were compared with another one and are worse than none."""
    lost = {b if relation == "better" else a for (a, b), relation in relations.items() if relation in ("better", "worse")}
    met = {name for pair, relation in relations.items() if _is_known(relation) for name in pair}
    return [name for name in names if name in met and name not in lost]


def _is_known(relation: Relation) -> bool:
    return relation in ("better", "worse", "tied")


def _unknown(relations: Mapping[Pair, Relation]) -> Reason | None:
    """Why no pair could be compared: the reason of most of them."""
    reasons: list[Reason] = [r for r in relations.values() if r != "better" and r != "worse" and r != "tied"]
    return _most(reasons) if reasons and len(reasons) == len(relations) else None


def _most(reasons: Sequence[Reason]) -> Reason:
    """The most frequent; of equally frequent ones the first."""
    return Counter(reasons).most_common(1)[0][0]


def _assembled(names: Sequence[str], decided: Sequence[tuple[Criterion, dict[Pair, Relation]]]) -> Dominance:
    """The whole, with the front: those whom no other dominates, which is to be better somewhere and, as far as is known, worse nowhere.

    Ties are as good. What is unknown of the two is passed over, else nobody could dominate where a single figure is a bound; but
    something measured must be known of them. So more rounds may bring somebody to the front, or take somebody away.
    """
    better: dict[str, dict[str, list[str]]] = {a: {b: [] for b in names if b != a} for a in names}
    compared: dict[str, dict[str, list[str]]] = {a: {b: [] for b in names if b != a} for a in names}
    for criterion, relations in decided:
        for (a, b), relation in relations.items():
            if _is_known(relation):
                compared[a][b].append(criterion.id)
                compared[b][a].append(criterion.id)
            if relation == "better":
                better[a][b].append(criterion.id)
            elif relation == "worse":
                better[b][a].append(criterion.id)
    measured = {criterion.id for criterion, _ in decided if not criterion.exact}

    def dominates(a: str, b: str) -> bool:
        return bool(better[a][b]) and not better[b][a] and not measured.isdisjoint(compared[a][b])

    return Dominance(
        contenders=list(names),
        criteria=[criterion for criterion, _ in decided],
        better=better,
        compared=compared,
        front=[b for b in names if not any(dominates(a, b) for a in names if a != b)],
    )
