"""An article's figures beside those of a run that repeats its load (docs/claims.md, The articles' own loads). Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from nsb.analyse import judge
from nsb.analyse.stats import Estimate, estimate
from nsb.analyse.table import latest
from nsb.records.judged import Cell
from nsb.registry.claims import Beside, Claims, Ours, Reported
from nsb.registry.terms import Frozen, Limit


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

    @property
    def ratio(self) -> Estimate | None:
        """Ours ÷ theirs, whose own spread nobody knows; None where the article has no such figure."""
        if self.value is None or isinstance(self.theirs, Beside):
            return None
        low, high = (None if edge is None else edge / self.theirs.value for edge in (self.low, self.high))
        return Estimate(self.value / self.theirs.value, low, high, self.rounds)


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
    series = _series(own, ours, ours.contender)
    bound = not series and ours.other is None
    if bound:
        bounds = [cell.model_copy(update={"status": "valid"}) for cell in own if cell.status == "censored"]
        series = _series(bounds, ours, ours.contender)
    if ours.other is not None:
        beside = _series(_of(cells, ours, ours.other), ours, ours.other)
        series = {round_: value / beside[round_] for round_, value in series.items() if round_ in beside}
    scale = ours.scale(theirs.unit) or 1.0
    known = estimate([value * scale for value in series.values()]) if len(series) > 1 else None
    used = [cell for cell in own if cell.round in series]
    limits = Counter(cell.limit for cell in used if cell.limit is not None)
    return Figure(
        claim=claim,
        theirs=theirs,
        value=None if known is None else known.value,
        low=None if known is None else known.low,
        high=None if known is None else known.high,
        bound=bound,
        rounds=len(series),
        limit=limits.most_common(1)[0][0] if limits and ours.other is None else None,
        doubts=sum(bool(cell.doubts) for cell in used),
    )


def _of(cells: Sequence[Cell], ours: Ours, contender: str) -> list[Cell]:
    return [cell for cell in cells if cell.scenario == ours.scenario and cell.contender == contender]


def _series(cells: Sequence[Cell], ours: Ours, contender: str) -> dict[int, float]:
    return judge.values(cells, ours.scenario, contender, ours.metric, "ratio")
