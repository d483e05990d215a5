"""Claims judged by a run: what each rule of claims.toml means (docs/claims.md). Pure.

Every rule comes down to comparisons that analyse/judge.py decides, or to facts that are exact: words of the cells, sizes of code,
arithmetic. All that must hold together does so by one order: refuted where one part is, else not measured, else undecided, else supported.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any, Literal, NamedTuple

from nsb.analyse import articles, dominance, judge
from nsb.analyse.judge import Unit
from nsb.analyse.stats import NEARLY_ALL, contrast, estimate, plain_mean
from nsb.records.judged import Cell
from nsb.records.sources import Code
from nsb.records.starts import Start
from nsb.registry.claims import (
    ArithmeticRule,
    Aside,
    CapRule,
    Claim,
    Claims,
    CodeRule,
    Comparison,
    Conclusion,
    Dominance,
    FigureRule,
    Judged,
    JudgedAside,
    JudgedClaim,
    Judgement,
    LimitRule,
    MarginRule,
    MeasuredRule,
    NoWinnerRule,
    PointsRule,
    RatioRule,
    Reason,
    Row,
    Rule,
    SameCodeRule,
    Scope,
    SlopeRule,
    UnmeasuredRule,
    Verdict,
    contenders_of,
)
from nsb.registry.terms import SHARES, Limit, Metric, Profile

HARDLY_ANY = 1 - NEARLY_ALL
"""Of the rounds that count: up to here a word does not hold for a contender, and from NEARLY_ALL on it does."""
_OUTSIDE: frozenset[Limit] = frozenset({"generator", "upstream", "database"})
"""Limits that are not the contender's own, nor the load's."""
_ORDER: tuple[Verdict, ...] = ("REFUTED", "NOT_MEASURED", "UNDECIDED", "SUPPORTED")
"""Of several that must all hold: the first of these that occurs."""
_CLAIMED: dict[str, judge.Outcome] = {
    "ratio_at_least": "higher", "figure_at_least": "higher", "slope_greater": "higher", "points_greater": "higher",
    "ratio_at_most": "lower", "figure_at_most": "lower",
    "within_margin": "equal", "figure_equals": "equal", "cap_equals": "equal",
}  # fmt: skip
"""The outcome of a comparison that supports the rule; the other decided ones refute it."""
_BOUNDS: dict[judge.Side | None, Literal["at_least", "at_most"]] = {"first": "at_least", "second": "at_most"}
"""What a ratio is of which one side is a lower bound."""

_NEEDS: dict[Profile, Reason] = {"1cpu": "needs_1cpu", "ncpu": "needs_ncpu"}


class _Found(NamedTuple):
    """A verdict, and why it is not better."""

    verdict: Verdict
    reason: Reason | None = None


def judged(run: Mapping[str, Any], cells: Sequence[Cell], starts: Sequence[Start], code: Code | None, claims: Claims) -> Judgement:
    """Every claim with its verdict, from run.json, cells, starts and code.json (None: there is none); of a run that was asked by the
    claims of single articles, theirs.

    Holm's family are the comparisons of all parts of all claims that the run can decide, each counted once; asides stay outside and are
    judged at 95 %, since they decide nothing; so is the same ratio by another method.
    """
    evidence = _Evidence(run, cells, starts, code)
    articles = run["plan"].get("articles")
    chosen = [claim for claim in claims.claims.values() if not articles or claim.article in articles]
    asks = [
        ask
        for claim in chosen
        for of in _with_asides(claim)
        if evidence.fits(of.profile)
        for part in of.parts
        for ask in _asks(evidence, part, claim.least_rounds, primary=of is claim)
    ]
    answers = _answers(evidence, asks)
    sayings = {article.id for article in claims.articles.values() if article.sayings}
    return Judgement(scope=_scope(evidence), claims=[_claim(evidence, claim, sayings, answers) for claim in chosen])


def _with_asides(claim: Claim) -> list[Claim | Aside]:
    return [claim, *claim.instead, *claim.also]


# --- what a run knows --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Evidence(dominance.Records):
    """A run as the rules ask for it."""

    starts: Sequence[Start]
    code: Code | None

    @cached_property
    def contenders(self) -> list[str]:
        """Without the controls, which only open or close gates."""
        plan = self.run["plan"]
        return [name for name in plan["contenders"] if name not in plan.get("controls", {})]

    @property
    def rounds(self) -> int:
        """As planned."""
        rounds: int = self.run["plan"]["rounds"]
        return rounds

    def fits(self, profile: Profile | None) -> bool:
        """Whether the run is of the profile that is asked for, if one is."""
        return profile is None or profile == self.run["plan"]["profile"]

    def missing(self, scenario: str, contenders: Iterable[str]) -> list[str]:
        """What the run lacks to say anything of them there, in words; first the contenders."""
        names = list(dict.fromkeys(contenders))
        absent = [f"contender {name}" for name in names if name not in self.contenders]
        if scenario not in self.run["plan"]["scenarios"]:
            return [*absent, f"scenario {scenario}"]
        return [*absent, *(f"contender {name} under {scenario}" for name in names if self._unsupported(scenario, name))]

    def _unsupported(self, scenario: str, contender: str) -> bool:
        """Whether the contender declares that it cannot run the scenario."""
        own = self.of(scenario, contender)
        return bool(own) and all(cell.status == "unsupported" for cell in own)

    def uncounted(self, rule: MeasuredRule, names: Sequence[str]) -> bool:
        """Whether nobody counted what the rule asks for, though the cells are there: an older run, or one in containers."""
        counted = [cell for cell in self.of(rule.scenario, *names) if cell.counts]
        asked = None if isinstance(rule, SlopeRule | CapRule | LimitRule) else rule.metric
        return asked == "switches" and bool(counted) and all(cell.switches_per_request is None for cell in counted)

    def present(self, scenario: str, contenders: Iterable[str]) -> list[str]:
        return [name for name in dict.fromkeys(contenders) if not self.missing(scenario, [name])]

    @cached_property
    def dominance(self) -> Dominance:
        return dominance.dominance(self.run, self.cells, self.starts, self.code)


# --- what the rules ask of it --------------------------------------------------------------------------------------------


class _Ask(NamedTuple):
    """A comparison, as plain values: what is asked twice is one comparison."""

    scenario: str
    metric: Metric
    contender: str
    other: str | None
    """None: the contender's figure is held against `value`."""
    unit: Unit
    asks: Literal["difference", "equality"]
    border: float
    """As it is shown: a ratio, ms or KiB."""
    value: float = 0.0
    margin: float | None = None
    least_rounds: int = judge.LEAST_ROUNDS
    primary: bool = True

    @property
    def names(self) -> list[str]:
        return [self.contender] if self.other is None else [self.contender, self.other]


def _asks(evidence: _Evidence, rule: Rule, least: int, primary: bool) -> list[_Ask]:
    """The comparisons of a rule whose contenders and scenario the run has."""
    if not isinstance(rule, MeasuredRule) or evidence.missing(rule.scenario, []):
        return []
    match rule:
        case RatioRule():
            asks = [_ratio(rule)]
        case MarginRule():
            asks = _equal(evidence, rule)
        case FigureRule():
            asks = [_figure(evidence, rule, name) for name in rule.contenders]
        case CapRule():
            caps = {name: _cap(evidence, rule, name) for name in rule.contenders}
            asks = [_beside(rule.scenario, "throughput", name, cap, "ratio", rule.margin) for name, cap in caps.items() if cap]
        case SlopeRule():
            asks = [_slope(rule)]
        case PointsRule():
            asks = [_Ask(rule.scenario, rule.metric, rule.contender, rule.other, "points", "difference", border=rule.points)]
        case LimitRule():
            asks = []
    asked = [ask._replace(least_rounds=least, primary=primary) for ask in asks]
    return [ask for ask in asked if not evidence.missing(ask.scenario, ask.names)]


def _ratio(rule: RatioRule) -> _Ask:
    """Of latency too: the rule asks for a ratio, and so does its gate."""
    return _Ask(rule.scenario, rule.metric, rule.contender, rule.other, "ratio", "difference", border=rule.ratio)


def _equal(evidence: _Evidence, rule: MarginRule) -> list[_Ask]:
    unit = judge.unit(evidence.run, rule.scenario, rule.metric)
    border = judge.shown(0.0, unit)
    return [
        _Ask(rule.scenario, rule.metric, a, b, unit, "equality", border=border, margin=rule.margin)
        for a, b in combinations(rule.contenders, 2)
    ]


def _slope(rule: SlopeRule) -> _Ask:
    """On the linear scale: a slope may be zero or below."""
    return _Ask(rule.scenario, "memory", rule.contender, rule.other, "KiB", "difference", border=rule.kib)


def _figure(evidence: _Evidence, rule: FigureRule, name: str) -> _Ask:
    """Slopes of memory and latency from a schedule stay in their own unit, as they do in pairs."""
    unit: Unit = "KiB" if rule.metric == "memory" else judge.unit(evidence.run, rule.scenario, rule.metric)
    margin = rule.margin if rule.rule == "figure_equals" else None
    return _beside(rule.scenario, rule.metric, name, rule.value, unit, margin)


def _beside(scenario: str, metric: Metric, name: str, value: float, unit: Unit, share: float | None) -> _Ask:
    """One contender's figure and a value; equality where a share is given, which in ms, KiB or points is one of the value."""
    asks: Literal["difference", "equality"] = "difference" if share is None else "equality"
    if unit == "ratio":
        return _Ask(scenario, metric, name, None, unit, asks, border=1.0, value=value, margin=share)
    return _Ask(scenario, metric, name, None, unit, asks, border=value, value=value, margin=None if share is None else share * value)


def _answers(evidence: _Evidence, asks: Iterable[_Ask]) -> dict[_Ask, judge.Verdict]:
    distinct = list(dict.fromkeys(asks))
    keys = dict.fromkeys(_gate_key(ask) for ask in distinct)
    gates = {key: evidence.gate(*key) for key in keys}
    questions = [_question(evidence, ask, gates[_gate_key(ask)]) for ask in distinct]
    return dict(zip(distinct, judge.judge(questions), strict=True))


def _gate_key(ask: _Ask) -> tuple[str, Metric, Unit, float | None]:
    """Every question of a scenario and a metric has the same twin, also where one side alone is held against a value."""
    return ask.scenario, ask.metric, ask.unit, ask.margin


def _question(evidence: _Evidence, ask: _Ask, gate: judge.Gate) -> judge.Question:
    pair, floor = _paired(evidence, ask)
    return judge.Question(
        pair=pair,
        floor=floor,
        gate=gate,
        asks=ask.asks,
        border=math.log(ask.border) if ask.unit == "ratio" else ask.border,
        margin=ask.margin,
        primary=ask.primary,
        least_rounds=ask.least_rounds,
    )


def _paired(evidence: _Evidence, ask: _Ask) -> tuple[judge.Paired, judge.Side | None]:
    """Rounds, and the side that is a lower bound in them, where there is one."""
    cells = evidence.of(ask.scenario, *ask.names)
    if ask.other is None:
        return judge.beside(cells, ask.contender, ask.scenario, ask.metric, ask.value, ask.unit), None
    if ask.metric == "throughput" and not evidence.is_open(ask.scenario):
        floored = judge.floored(cells, ask.contender, ask.other, ask.scenario, ask.metric, ask.least_rounds)
        if floored is not None and len(floored[0].x) >= ask.least_rounds:
            return floored
    return judge.paired(evidence.run, cells, ask.contender, ask.other, ask.scenario, ask.metric, ask.unit), None


# --- claims and their parts ----------------------------------------------------------------------------------------------


def _claim(evidence: _Evidence, claim: Claim, sayings: Set[str], answers: Mapping[_Ask, judge.Verdict]) -> JudgedClaim:
    parts = [_part(evidence, part, claim.least_rounds, claim.profile, True, answers) for part in claim.parts]
    verdict, reason = _together([_Found(part.verdict, part.reason) for part in parts])
    conclusion: Conclusion = "TAUTOLOGY" if verdict == "SUPPORTED" and claim.question and claim.question.kind == "tautology" else verdict

    def told(asides: Sequence[Aside]) -> list[JudgedAside]:
        return [_aside(evidence, aside, claim.least_rounds, answers) for aside in asides]

    return JudgedClaim(
        id=claim.id,
        article=claim.article,
        saying=claim.article in sayings,
        said=claim.said,
        question=claim.question,
        condition=claim.condition,
        outside=claim.outside,
        number=articles.number(claim, evidence.final),
        conclusion=conclusion,
        reason=reason,
        rounds_needed=_rounds_needed(parts) if verdict == "UNDECIDED" else None,
        parts=parts,
        instead=[aside for aside in told(claim.instead) if aside.verdict == "SUPPORTED"],
        also=told(claim.also),
        reported=claim.reported,
        explained=claim.explained,
    )


def _aside(evidence: _Evidence, aside: Aside, least: int, answers: Mapping[_Ask, judge.Verdict]) -> JudgedAside:
    parts = [_part(evidence, part, least, aside.profile, False, answers) for part in aside.parts]
    return JudgedAside(said=aside.said, verdict=_together([_Found(part.verdict) for part in parts]).verdict, parts=parts)


def _together(found: Sequence[_Found]) -> _Found:
    """The verdict of several that must all hold, with the reason of the first that decides it."""
    verdict = min((each.verdict for each in found), key=_ORDER.index)
    return next(each for each in found if each.verdict == verdict)


def _rounds_needed(parts: Sequence[Judged]) -> int | None:
    """Until all of them are decided; None where that is not known of one."""
    needed: list[int | None] = []
    for part in parts:
        if part.verdict == "UNDECIDED":
            needed += [one.rounds_needed for one in part.comparisons if one.verdict == "UNDECIDED"] or [None]
    known = [rounds for rounds in needed if rounds is not None]
    return max(known) if known and len(known) == len(needed) else None


def _part(
    evidence: _Evidence, rule: Rule, least: int, profile: Profile | None, primary: bool, answers: Mapping[_Ask, judge.Verdict]
) -> Judged:
    match rule:
        case ArithmeticRule():
            return _arithmetic(rule)
        case CodeRule() | SameCodeRule():
            return _code(evidence.code, rule)
        case UnmeasuredRule():
            return Judged(rule=rule, verdict="NOT_MEASURED", reason="no_measure")
        case _ if profile is not None and not evidence.fits(profile):
            return _elsewhere(evidence, rule, profile)
        case NoWinnerRule():
            found = dominance.without(evidence.dominance, rule.without)
            verdict, reason = dominance.verdict(found)
            return Judged(rule=rule, verdict=verdict, reason=reason, beaten=dominance.beaten(found))
        case _:
            return _measured(evidence, rule, least, primary, answers)


def _elsewhere(evidence: _Evidence, rule: MeasuredRule | NoWinnerRule, profile: Profile) -> Judged:
    """Nothing that this run has says anything of it: on one core, say, one worker and one for each core are the same program."""
    lacks = [] if isinstance(rule, NoWinnerRule) else evidence.missing(rule.scenario, contenders_of(rule))
    return Judged(rule=rule, verdict="NOT_MEASURED", reason=_NEEDS[profile], missing=[f"profile {profile}", *lacks])


def _measured(evidence: _Evidence, rule: MeasuredRule, least: int, primary: bool, answers: Mapping[_Ask, judge.Verdict]) -> Judged:
    names = contenders_of(rule)
    missing = evidence.missing(rule.scenario, names)
    present = evidence.present(rule.scenario, names)
    if isinstance(rule, CapRule):
        missing += [f"runtime of {name}" for name in present if name not in evidence.run.get("runtimes", {})]
    comparisons = [_comparison(evidence, rule, ask, answers[ask]) for ask in _asks(evidence, rule, least, primary)]
    found = [_Found(one.verdict, one.reason) for one in comparisons]
    if isinstance(rule, CapRule):
        found += [_capped(evidence, rule, name, least) for name in present if f"runtime of {name}" not in missing]
    elif isinstance(rule, LimitRule):
        found += [_held_back(evidence, rule.scenario, name, rule.limit, least) for name in present]
    if missing:
        found.append(_Found("NOT_MEASURED", "no_scenario" if missing[0].startswith("scenario ") else "no_contender"))
    if not missing and evidence.uncounted(rule, names):
        found.append(_Found("NOT_MEASURED", "no_figure"))
    verdict, reason = _together(found)
    return Judged(
        rule=rule,
        verdict=verdict,
        reason=reason,
        missing=missing,
        comparisons=comparisons,
        rows=[_row(evidence, rule, name) for name in present],
        computed=_common_cap(evidence, rule, present) if isinstance(rule, CapRule) else None,
    )


# --- comparisons -------------------------------------------------------------------------------------------------------


def _comparison(evidence: _Evidence, rule: Rule, ask: _Ask, answer: judge.Verdict) -> Comparison:
    verdict, reason, needed = _verdict(evidence, rule, ask, answer)
    by_ninety = ask.asks == "equality" and answer.outcome in ("equal", "undecided")
    low, high = (answer.equality_low, answer.equality_high) if by_ninety else (answer.low, answer.high)
    return Comparison(
        contender=ask.contender,
        other=ask.other,
        unit=ask.unit,
        verdict=verdict,
        reason=reason,
        rounds=answer.rounds,
        value=None if low is None or high is None else answer.value,
        low=low,
        high=high,
        level=0.90 if by_ninety else answer.level,
        bound=_BOUNDS.get(answer.floor),
        border=ask.border,
        agree=answer.agree,
        sign_holds=answer.sign_holds,
        rounds_needed=needed,
        gate_low=answer.gate.low,
        gate_high=answer.gate.high,
    )


def _verdict(evidence: _Evidence, rule: Rule, ask: _Ask, answer: judge.Verdict) -> tuple[Verdict, Reason | None, int | None]:
    """With the rounds that it would take."""
    if answer.outcome != "undecided":
        if _is_own_load(evidence, ask, answer):
            return "UNDECIDED", "load_bound", None
        supported = answer.outcome == _CLAIMED[rule.rule]
        if not supported and isinstance(rule, CapRule) and _warming(evidence, ask.scenario, ask.contender):
            return "UNDECIDED", "warming", None
        return ("SUPPORTED" if supported else "REFUTED"), None, None
    if answer.reason != "too_few_rounds" and answer.reason != "bound":
        return "UNDECIDED", answer.reason, answer.rounds_needed
    cells = evidence.of(ask.scenario, *ask.names)
    rounds = [set(judge.values(cells, ask.scenario, name, ask.metric, ask.unit)) for name in ask.names]
    reason = _why_few(evidence, ask.scenario, dict(zip(ask.names, rounds, strict=True)), ask.least_rounds)
    unmeasured = min(len(evidence.of(ask.scenario, name)) for name in ask.names) < ask.least_rounds
    return "UNDECIDED", reason, ask.least_rounds if reason == "too_few_rounds" and unmeasured else None


def _is_own_load(evidence: _Evidence, ask: _Ask, answer: judge.Verdict) -> bool:
    """Whether the side that came out lower in a closed scenario carried all that its users asked for.

    Its throughput is then the load's, and how much more it can do is not known: only that it can do this much. Equality under one load
    is what it says. A load that was measured as a whole is its own limit by definition; who lies behind the other there took longer for it.
    """
    if ask.other is None or ask.metric != "throughput" or answer.outcome == "equal":
        return False
    higher = answer.outcome == "higher"
    edge = answer.low if higher else answer.high
    behind = edge is not None and (edge > 1 if higher else edge < 1)
    counted = [cell for cell in evidence.of(ask.scenario, ask.other if higher else ask.contender) if cell.counts]
    return sum(cell.limit == "offered" and not (behind and cell.whole) for cell in counted) > HARDLY_ANY * len(counted)


def _why_few(evidence: _Evidence, scenario: str, present: Mapping[str, set[int]], least: int) -> Reason:
    """Why fewer than `least` rounds count of contenders that have a value in the rounds that `present` names: the reason of most of the
    others. A run that planned fewer has too few whatever became of them."""
    if evidence.rounds < least:
        return "too_few_rounds"
    lost: list[Reason] = []
    for name, rounds in present.items():
        own = {cell.round: cell for cell in evidence.of(scenario, name)}
        lost += [_why_lost(own.get(round_)) for round_ in range(1, evidence.rounds + 1) if round_ not in rounds]
    order: list[Reason] = ["generator_bound", "database_bound", "not_sustained", "noisy_machine", "invalid", "too_few_rounds"]
    return max(order, key=lost.count)  # of equals the first


def _why_lost(cell: Cell | None) -> Reason:
    """Why a round gives no value. A valid one may have none: p99 of fewer than 1000 requests, memory that did not grow."""
    if cell is None or cell.status == "valid":
        return "too_few_rounds"
    if cell.status != "censored":
        noise = any(reason.split(" ", 1)[0] == "V7" for reason in cell.reasons)
        return "noisy_machine" if noise else "invalid"
    if cell.limit in ("generator", "upstream"):  # the upstream is the generator's other half
        return "generator_bound"
    if cell.limit == "database":
        return "database_bound"
    return "not_sustained" if cell.model == "open" else "too_few_rounds"


# --- words -------------------------------------------------------------------------------------------------------------


def _warming(evidence: _Evidence, scenario: str, name: str) -> bool:
    """Whether more than hardly any of the rounds that count were unsteady (V8): what held it back may be code that is not compiled yet."""
    counted = [cell for cell in evidence.of(scenario, name) if cell.counts]
    return sum(any(doubt.startswith("V8 ") for doubt in cell.doubts) for cell in counted) > HARDLY_ANY * len(counted)


def _held_back(evidence: _Evidence, scenario: str, name: str, limit: Limit, least: int) -> _Found:
    """Whether the rounds that count, bounds among them, say that it was this that held the contender back."""
    counted = [cell for cell in evidence.of(scenario, name) if cell.counts]
    if len(counted) < least:
        return _Found("UNDECIDED", _why_few(evidence, scenario, {name: {cell.round for cell in counted}}, least))
    words = [cell.limit for cell in counted]
    share = Fraction(words.count(limit), len(counted))
    if share >= NEARLY_ALL:
        return _Found("SUPPORTED")
    outside = [word for word in words if word in _OUTSIDE and word != limit]  # what the contender would have come to is not known there
    if share + Fraction(len(outside), len(counted)) <= HARDLY_ANY:
        return _Found("UNDECIDED", "warming") if _warming(evidence, scenario, name) else _Found("REFUTED")
    if not outside:
        return _Found("UNDECIDED", "unsteady")
    return _Found("UNDECIDED", "database_bound" if outside.count("database") * 2 > len(outside) else "generator_bound")


def _cap(evidence: _Evidence, rule: CapRule, name: str) -> float | None:
    """servers × 1000/hold (requests/s); None where /runtime knows no such servers, or nothing is held."""
    runtime = evidence.run.get("runtimes", {}).get(name, {})
    hold_ms = evidence.run["plan"].get("holds_ms", {}).get(rule.scenario)
    servers = {
        "threads": runtime.get("settings", {}).get("server_threads"),
        "pool": runtime.get("pool_size"),
        "carriers": runtime.get("workers"),
        "loop": runtime.get("workers"),
    }[rule.cap]
    return servers * 1000 / hold_ms if servers and hold_ms else None


def _common_cap(evidence: _Evidence, rule: CapRule, names: Sequence[str]) -> float | None:
    """None where the contenders have different ones, or one of them has none."""
    caps = {_cap(evidence, rule, name) for name in names}
    return caps.pop() if len(caps) == 1 else None


def _capped(evidence: _Evidence, rule: CapRule, name: str, least: int) -> _Found:
    """A throughput that equals the cap is no proof: the cells must name it too, as they must for `limited_by`.

    A contender without such servers (null in /runtime) has no cap to equal, and that its setting is null measures nothing. Then the words
    decide alone, and only against the claim: refuted where the rounds name something else. Words that name what is not there are no
    support but a contradiction.
    """
    words = _held_back(evidence, rule.scenario, name, rule.cap, least)
    if _cap(evidence, rule, name) is None and words.verdict == "SUPPORTED":
        return _Found("UNDECIDED", "invalid")
    return words


# --- what is exact -----------------------------------------------------------------------------------------------------


def _arithmetic(rule: ArithmeticRule) -> Judged:
    computed = math.prod(rule.over) / math.prod(rule.under)
    holds = abs(computed - rule.said) <= rule.margin * rule.said
    return Judged(rule=rule, verdict="SUPPORTED" if holds else "REFUTED", reason=None, computed=computed)


def _code(code: Code | None, rule: CodeRule | SameCodeRule) -> Judged:
    if code is None:
        return Judged(rule=rule, verdict="NOT_MEASURED", reason="no_code", missing=["code.json"])
    missing = [f"contender {name}" for name in (rule.contender, rule.other) if name not in code.contenders]
    if missing:
        return Judged(rule=rule, verdict="NOT_MEASURED", reason="no_contender", missing=missing)
    if isinstance(rule, SameCodeRule):
        same = code.contenders[rule.contender] == code.contenders[rule.other]
        return Judged(rule=rule, verdict="SUPPORTED" if same else "REFUTED", reason=None)
    counts = {name: _count(code, name, rule.measure) for name in (rule.contender, rule.other)}
    uncounted = [f"code of {name}" for name, count in counts.items() if not count]
    if uncounted:
        return Judged(rule=rule, verdict="NOT_MEASURED", reason="no_code", missing=uncounted)
    ratio = counts[rule.contender] / counts[rule.other]
    holds = ratio >= rule.ratio if rule.rule == "code_at_least" else ratio <= rule.ratio
    return Judged(rule=rule, verdict="SUPPORTED" if holds else "REFUTED", reason=None, computed=ratio)


def _count(code: Code, contender: str, measure: Literal["lines", "complexity", "functions"]) -> int:
    """0 where it was not counted, which no ratio is made of."""
    size = code.size(contender)
    return 0 if size is None else {"lines": size.lines, "complexity": size.complexity, "functions": size.functions}[measure]


# --- rows and scope ----------------------------------------------------------------------------------------------------


def _row(evidence: _Evidence, rule: MeasuredRule, name: str) -> Row:
    """What words are about is shown with the throughput that they held back."""
    metric: Metric = "memory" if isinstance(rule, SlopeRule) else "throughput" if isinstance(rule, CapRule | LimitRule) else rule.metric
    cells = evidence.of(rule.scenario, name)
    counted = {cell.round: cell for cell in cells if cell.counts}
    values = judge.values(cells, rule.scenario, name, metric, "KiB" if metric == "memory" else "ratio")
    value, low, high = _mean(list(values.values()), metric)
    words = Counter(each.limit for each in counted.values() if each.limit is not None)
    bounds = sum(each.status == "censored" and round_ not in values for round_, each in counted.items())
    return Row(
        contender=name,
        value=value,
        low=low,
        high=high,
        rounds=len(counted) - bounds,
        censored=bounds,
        limits=dict(sorted(words.items(), key=lambda item: (-item[1], item[0]))),
        doubts=sum(bool(each.doubts) for each in counted.values()),
    )


def _mean(values: Sequence[float], metric: Metric) -> tuple[float | None, float | None, float | None]:
    """Geometric, with its 95 % t interval; of slopes of memory, which may be zero or below, the plain mean, and of shares too."""
    if len(values) < 2:
        return None, None, None
    if metric == "memory":
        found = contrast(values)
        around = found.interval(0.95)
        return found.mean, around.low, around.high
    whole = plain_mean(values) if metric in SHARES else estimate(values)
    return whole.value, whole.low, whole.high


def _scope(evidence: _Evidence) -> Scope:
    run, plan, host = evidence.run, evidence.run["plan"], evidence.run["host"]
    runtimes = run.get("runtimes", {})
    speeds = [cell.cost.speed for cell in evidence.cells if cell.cost is not None and cell.cost.speed is not None]
    return Scope(
        machine=f"{host['cpu']}, {host['memory_gib']} GiB, {host['system']}, kernel {host['kernel']}",
        cores=host["cores"],
        profile=plan["profile"],
        tier=plan["tier"],
        rounds=plan["rounds"],
        runner=run.get("runner", "native"),
        database=f"{run['database']['kind']} {run['database']['version']}",
        started_at=run["started_at"],
        commit=host["commit"] + ("-dirty" if host["changed"] else ""),
        seed=plan["seed"],
        versions={name: _versions(runtimes[name]) for name in evidence.contenders if name in runtimes},
        memory_speed=round(statistics.median(speeds), 1) if speeds else None,
    )


def _versions(runtime: Mapping[str, Any]) -> str:
    """`Java 25.0.3, Spring Boot (MVC) 4.1.0, MySQL Connector/J 26.10.0`; what a contender has not is left out."""
    parts = ((runtime.get(part), runtime.get(f"{part}_version")) for part in ("runtime", "framework", "driver"))
    return ", ".join(" ".join(word for word in part if word) for part in parts if part[0])
