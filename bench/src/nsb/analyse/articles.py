"""An article's figures beside those of a run that repeats its load (docs/claims.md, The articles' own loads). Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from nsb.analyse import judge
from nsb.analyse.doubts import often
from nsb.analyse.stats import Estimate, estimate
from nsb.analyse.table import latest
from nsb.records.judged import Cell
from nsb.registry.claims import Beside, Came, Claim, Claims, JudgedNumber, Number, Ours, Reason, Reported
from nsb.registry.terms import LATENCIES, Frozen, Limit, Metric

COUNTED: frozenset[Metric] = frozenset({"memory", "memory_peak", "threads"})
"""No bounds, whoever was the limit."""
TIMES: frozenset[Metric] = LATENCIES | {"max", "duration"}
"""Of which a bound is an upper one."""
NEAR = 0.10
"""A figure is reproduced where ours is the article's within this share, as every equality does (docs/claims.md, Three outcomes)."""


class Figure(Frozen):
    """One figure of the article and what the run has in its place."""

    claim: str
    theirs: Reported | Beside
    value: float | None
    """In the article's unit: the geometric mean over the rounds. None where fewer than two rounds tell it: no number without spread."""
    low: float | None
    """95 % t interval."""
    high: float | None
    bound: bool
    """No round knows better: something outside was the limit, and `value` is what it let through."""
    rounds: int
    """That stand behind it."""
    limit: Limit | None
    """What held it back in most of them."""
    doubts: int
    """How many of these rounds have a doubt."""
    equality: tuple[float, float] | None = None
    """90 % t interval of `value`, by which equality is shown."""
    outside: Reason | None = None
    """That a program beside the service was the limit of most of its rounds that gave a bound."""
    full: bool = False
    """Whether the contender's core was the limit of most of these rounds."""

    @property
    def behind(self) -> bool:
        """Whether ours is slower than the article's, since the core was full."""
        ratio = self.ratio
        return self.full and ratio is not None and (ratio.value > 1 if self.upper else ratio.value < 1)

    @property
    def near(self) -> bool:
        """Whether ours is the article's figure within NEAR."""
        if self.equality is None or self.bound or isinstance(self.theirs, Beside):
            return False
        low, high = (edge / self.theirs.value for edge in self.equality)
        return low > 1 / (1 + NEAR) and high < 1 + NEAR

    def interval(self, found: Came) -> tuple[float | None, float | None, float]:
        """The t interval that decides so, and its level: 90 % where equality was shown or missed."""
        by_ninety = self.equality if found != "NOT_AGAIN" and not self.bound else None
        return (self.low, self.high, 0.95) if by_ninety is None else (*by_ninety, 0.90)

    @property
    def doubtful(self) -> bool:
        return often(self.doubts, self.rounds)

    @property
    def upper(self) -> bool:
        """Whether a bound is an upper one: a time."""
        return self.theirs.ours is not None and self.theirs.ours.metric in TIMES

    @property
    def ratio(self) -> Estimate | None:
        """Ours ÷ theirs, whose own spread nobody knows; None where the article has no such figure."""
        if self.value is None or isinstance(self.theirs, Beside):
            return None
        low, high = (None if edge is None else edge / self.theirs.value for edge in (self.low, self.high))
        return Estimate(self.value / self.theirs.value, low, high, self.rounds)


def came(figure: Figure, least: int) -> tuple[Came, Reason | None]:
    """Whether the article's figure is reproduced: the 90 % interval of ours ÷ theirs lies within NEAR of 1. Not, where the 95 % interval
    lies wholly outside. Of a bound only one side can be told.

    No twin is asked: machine and versions are others than the article's anyway, and NEAR is wider than the noise of a twin.
    """
    ratio = figure.ratio
    if ratio is None or ratio.low is None or ratio.high is None or figure.rounds < least:
        return "UNDECIDED", figure.outside or "too_few_rounds"
    above, below = ratio.low > 1 + NEAR, ratio.high < 1 / (1 + NEAR)
    if figure.bound:
        return ("NOT_AGAIN", None) if (below if figure.upper else above) else ("UNDECIDED", figure.outside or "not_sustained")
    if above or below:
        return "NOT_AGAIN", None
    return ("AGAIN", None) if figure.near else ("UNDECIDED", "straddles")


def number(claim: Claim, cells: Sequence[Cell]) -> JudgedNumber | None:
    """The article's number of a claim beside ours, from last attempts; None where the article gives none."""
    theirs, asked = claim.figure, claim.number
    if theirs is None or asked is None:
        return None
    computed = math.prod(asked.over) / math.prod(asked.under) if asked.over else None
    contradicted = computed is not None and abs(computed - theirs.value) > NEAR * theirs.value
    ours = asked.ours or theirs.ours
    figure = None if ours is None else _figure(claim.id, theirs.model_copy(update={"ours": ours}), ours, cells)
    by_law = asked.arithmetic or (claim.question is not None and claim.question.kind == "arithmetic")
    if figure is None:
        found, reason = _alone(asked, ours)
        value, low, high, level = None, None, None, 0.95
    else:
        found, reason = came(figure, claim.least_rounds)
        if by_law and found == "NOT_AGAIN" and figure.behind:  # a law of waiting holds up to what the core can do
            found, reason = "UNDECIDED", "core_bound"
        value, (low, high, level) = figure.value, figure.interval(found)
    return JudgedNumber(
        theirs=theirs,
        came="NOT_AGAIN" if contradicted else found,
        reason=None if contradicted else reason,
        value=value,
        factor=None if value is None else value / theirs.value,
        factor_low=None if low is None else low / theirs.value,
        factor_high=None if high is None else high / theirs.value,
        level=level,
        bound=None if figure is None or not figure.bound or value is None else "at_most" if figure.upper else "at_least",
        rounds=0 if figure is None else figure.rounds,
        doubtful=figure is not None and figure.doubtful,
        by_its_figures=computed,
        arithmetic=by_law,
        lacks=asked.lacks,
    )


def _alone(asked: Number, ours: Ours | None) -> tuple[Came, Reason | None]:
    """Without a figure of ours."""
    if asked.lacks is not None:
        return "NOT_MEASURED", "other_quantity"
    return ("COMPUTED", None) if ours is None else ("NOT_MEASURED", "no_scenario")


def repeated(run: Mapping[str, Any], cells: Sequence[Cell], claims: Claims) -> dict[str, list[Figure]]:
    """Article → its figures that the run repeats, in their order; without those of which it has no cell at all."""
    final = latest(cells)
    planned = set(run["plan"]["scenarios"])
    found: dict[str, list[Figure]] = {}
    for claim in claims.claims.values():
        stated: list[Reported | Beside] = [*claim.reported, *claim.beside]
        for theirs in stated:
            if theirs.ours is not None and theirs.ours.scenario in planned:
                figure = _figure(claim.id, theirs, theirs.ours, final)
                if figure is not None:
                    found.setdefault(claim.article, []).append(figure)
    return found


def uncollected(cells: Sequence[Cell]) -> list[str]:
    """Whose memory was read on a ladder without a full collection before: of a JVM such a slope is a lower bound."""
    return sorted({cell.contender for cell in latest(cells) if cell.ladder and all(each.collected_s is None for each in cell.ladder)})


def _figure(claim: str, theirs: Reported | Beside, ours: Ours, cells: Sequence[Cell]) -> Figure | None:
    own = _of(cells, ours, ours.contender)
    if not own or all(cell.status == "unsupported" for cell in own):
        return None
    others = [] if ours.other is None else _of(cells, ours, ours.other)
    bounded = [cell for cell in (*own, *others) if cell.status == "censored"]
    if ours.metric in COUNTED:
        own, others = _as_valid(own), _as_valid(others)
    series = _series(own, ours, ours.contender)
    bound = not series and ours.other is None
    if bound:
        series = _series(_as_valid(own), ours, ours.contender)
    if ours.other is not None:
        beside = _series(others, ours, ours.other)
        series = {round_: value / beside[round_] for round_, value in series.items() if round_ in beside}
    scale = ours.scale(theirs.unit) or 1.0
    values = [value * scale for value in series.values()]
    known, ninety = (estimate(values, level) if len(values) > 1 else None for level in (0.95, 0.90))
    used = [cell for cell in own if cell.round in series]
    limits = Counter(cell.limit for cell in used if cell.limit is not None)
    limit = limits.most_common(1)[0][0] if limits else None
    return Figure(
        claim=claim,
        theirs=theirs,
        value=None if known is None else known.value,
        low=None if known is None else known.low,
        high=None if known is None else known.high,
        bound=bound,
        rounds=len(series),
        limit=limit if ours.other is None else None,
        doubts=len({cell.round for cell in (*own, *others) if cell.round in series and cell.doubts}),
        equality=None if ninety is None or ninety.low is None or ninety.high is None else (ninety.low, ninety.high),
        outside=_outside(bounded),
        full=limit == "cpu",
    )


def _as_valid(cells: Sequence[Cell]) -> list[Cell]:
    """With what bounds came to."""
    return [cell.model_copy(update={"status": "valid"}) if cell.status == "censored" else cell for cell in cells]


def _outside(bounded: Sequence[Cell]) -> Reason | None:
    limits = Counter(cell.limit for cell in bounded)
    if not limits:
        return None
    limit = limits.most_common(1)[0][0]
    return "database_bound" if limit == "database" else "generator_bound" if limit in ("generator", "upstream") else None


def _of(cells: Sequence[Cell], ours: Ours, contender: str) -> list[Cell]:
    return [cell for cell in cells if cell.scenario == ours.scenario and cell.contender == contender]


def _series(cells: Sequence[Cell], ours: Ours, contender: str) -> dict[int, float]:
    return judge.values(cells, ours.scenario, contender, ours.metric, "ratio")
