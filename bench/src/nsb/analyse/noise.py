"""How much a paired comparison varies on a machine, from a run that was made there. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from nsb.analyse.judge import Unit, paired, series, twins, unit
from nsb.analyse.stats import deviation
from nsb.records.judged import Cell
from nsb.registry.terms import Frozen

LEAST_DF = 3
"""A deviation on fewer degrees of freedom says too little to plan with."""


class Noise(Frozen):
    """The standard deviation s of paired ln ratios (or differences in ms), its degrees of freedom, and what it comes from."""

    unit: Unit
    s: float
    df: int
    source: Literal["twin", "rounds"]


def noise_of(run: Mapping[str, Any], cells: Iterable[Cell]) -> dict[str, Noise]:
    """Scenario → noise of its headline figure; a scenario whose cells tell too little is left out.

    From the twin against its original where there is one. Else from the spread of each contender between the rounds × √2, pooled over the
    contenders: an upper estimate, since what slows both sides of a round would cancel in a pair.
    """
    kept = list(cells)
    found: dict[str, Noise] = {}
    for scenario in run["plan"]["scenarios"]:
        metric = run["plan"]["headlines"][scenario]
        as_ = unit(run, scenario, metric)
        pairs = [list(paired(run, kept, name, of, scenario, metric).x.values()) for name, of in twins(run).items()]
        own = [list(series(kept, scenario, contender, metric).values()) for contender in run["plan"]["contenders"]]
        spreads = [[math.log(value) for value in values] if as_ == "ratio" else values for values in own]
        twin, rounds = _pooled(as_, pairs, "twin"), _pooled(as_, spreads, "rounds")
        best = twin or rounds
        if best is not None:
            found[scenario] = best
    return found


def _pooled(as_: Unit, samples: list[list[float]], source: Literal["twin", "rounds"]) -> Noise | None:
    """The root of the pooled variance of all samples of two values or more."""
    usable = [sample for sample in samples if len(sample) > 1]
    df = sum(len(sample) - 1 for sample in usable)
    if df < LEAST_DF:
        return None
    variance = sum(deviation(sample) ** 2 * (len(sample) - 1) for sample in usable) / df
    return Noise(unit=as_, s=math.sqrt(variance * (1 if source == "twin" else 2)), df=df, source=source)
