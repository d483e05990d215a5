"""Two runs of the same machine and plan, cell by cell: what the second does worse or better than the first. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, Literal

from nsb.analyse.judge import LEAST_ROUNDS, Unit, paired, series, shown, twins, unit
from nsb.analyse.stats import Contrast, contrast, holm, welch
from nsb.analyse.table import latest
from nsb.errors import Failure
from nsb.records.judged import Cell
from nsb.registry.terms import MORE_IS_BETTER, Frozen, Headline

LEAST: dict[Unit, float] = {"ratio": math.log(1.01), "ms": 1.0, "points": 1.0}
"""No finer difference is called, in the unit of x: V2 lets the offered rate vary by 1 %, and k6 reads a clock of whole milliseconds."""

Outcome = Literal["worse", "better", "undecided", "not_judged"]


class Incomparable(Failure):
    """The runs differ in what must be equal; `args` holds a sentence for each fact."""

    def __str__(self) -> str:
        return "These runs cannot be compared: " + "; ".join(self.args) + ". Run both on the same machine with the same tier and settings."


class Difference(Frozen):
    """One scenario and contender in both runs. `value` is B/A, or B − A in ms; bounds at `level`, None where there is no interval."""

    scenario: str
    contender: str
    metric: Headline
    unit: Unit
    a: float | None
    """Geometric mean (of ms: the mean) of A's valid rounds."""
    b: float | None
    value: float | None
    low: float | None
    high: float | None
    level: float
    band: float | None
    """What the twins of both runs show at the most, as x: |ln ratio| or ms."""
    outcome: Outcome
    reasons: list[str]
    """Why it is undecided or was not judged."""


class Comparison(Frozen):
    cells: list[Difference]
    differs: list[str]
    """Facts in which the runs differ and may."""
    only: list[str]
    """Cells that one run has and the other has not."""

    @property
    def worse(self) -> list[Difference]:
        return [cell for cell in self.cells if cell.outcome == "worse"]

    @property
    def judged(self) -> list[Difference]:
        return [cell for cell in self.cells if cell.outcome != "not_judged"]


class Side(Frozen):
    """One of the two runs."""

    name: Literal["A", "B"]
    run: dict[str, Any]
    cells: list[Cell]

    @property
    def planned(self) -> list[tuple[str, str]]:
        """Scenario and contender of every cell but those of the controls."""
        plan = self.run["plan"]
        return [(s, c) for s in plan["scenarios"] for c in plan["contenders"] if c not in plan.get("controls", {})]

    def values(self, scenario: str, contender: str, metric: Headline, as_: Unit) -> list[float]:
        found = series(self.cells, scenario, contender, metric).values()
        return [math.log(value) for value in found] if as_ == "ratio" else list(found)

    def lacks(self, scenario: str, contender: str, valid: int) -> str | None:
        """Why the cell cannot be judged; None where it has enough rounds."""
        if valid >= LEAST_ROUNDS:
            return None
        own = latest(c for c in self.cells if c.scenario == scenario and c.contender == contender)
        bounds = [c for c in own if c.status == "censored"]
        others = [c for c in own if c.status not in ("valid", "censored")]
        silent = len(own) - len(bounds) - len(others) - valid
        said = [f"{len(bounds)} are bounds, which are not compared ({_first(bounds)})"] if bounds else []
        said += [f"{len(others)} are {others[0].status} ({_first(others)})"] if others else []
        said += [f"{silent} are valid without a figure above zero in each"] if silent else []
        return f"{self.name}: {valid} of {len(own)} rounds count, {LEAST_ROUNDS} are needed" + "".join(f"; {text}" for text in said)

    def band(self, scenario: str, metric: Headline) -> float | None:
        """The largest |bound| of the 95 % t interval of a twin against its original; None without a twin of five rounds."""
        pairs = [paired(self.run, self.cells, name, of, scenario, metric) for name, of in twins(self.run).items()]
        around = [contrast(list(pair.x.values())).interval(0.95) for pair in pairs if len(pair.x) >= LEAST_ROUNDS]
        return max((max(abs(i.low), abs(i.high)) for i in around), default=None)


def _first(cells: Sequence[Cell]) -> str:
    return next(("; ".join(cell.reasons) for cell in cells if cell.reasons), "no reason recorded")


def compare(run_a: dict[str, Any], cells_a: Iterable[Cell], run_b: dict[str, Any], cells_b: Iterable[Cell]) -> Comparison:
    """Welch's t on the ln values (ms for the latency of open cells) of the valid rounds, Holm over all cells that can be judged.

    A cell is called worse or better where its adjusted interval excludes 1 and lies wholly outside the band that the twins of both runs
    show.
    Raises Incomparable with every fact that forbids it.
    """
    a, b = Side(name="A", run=run_a, cells=list(cells_a)), Side(name="B", run=run_b, cells=list(cells_b))
    both = [key for key in a.planned if key in set(b.planned)]
    forbidden = _forbidden(run_a, run_b, list(dict.fromkeys(scenario for scenario, _ in both)))
    if not both:
        forbidden.append("they have no scenario and contender in common")
    if forbidden:
        raise Incomparable(*forbidden)
    pairs = [_Pair(a, b, scenario, contender) for scenario, contender in both]
    judged = [pair for pair in pairs if not pair.why_not]
    levels = dict(zip(judged, holm([pair.contrast.p_value for pair in judged if pair.contrast]), strict=True))
    return Comparison(
        cells=[pair.difference(levels.get(pair, 0.95)) for pair in pairs],
        differs=_differs(run_a, run_b),
        only=[*_only(a, b), *_only(b, a)],
    )


def _only(one: Side, other: Side) -> Iterator[str]:
    """What the other run did not plan: a scenario as a whole, or its contenders."""
    there = set(other.planned)
    for scenario, planned in groupby(one.planned, key=itemgetter(0)):
        contenders = [contender for _, contender in planned]
        lacking = [contender for contender in contenders if (scenario, contender) not in there]
        if lacking:
            yield f"only in {one.name}: {scenario}" + ("" if lacking == contenders else f" · {', '.join(lacking)}")


class _Pair:
    """The values of one cell in both runs."""

    def __init__(self, a: Side, b: Side, scenario: str, contender: str) -> None:
        self.scenario, self.contender = scenario, contender
        self.metric: Headline = a.run["plan"]["headlines"][scenario]
        self.unit = unit(a.run, scenario, self.metric)
        self.a, self.b = (side.values(scenario, contender, self.metric, self.unit) for side in (a, b))
        self.contrast: Contrast | None = welch(self.a, self.b) if min(len(self.a), len(self.b)) > 1 else None
        bands = {side.name: side.band(scenario, self.metric) for side in (a, b)}
        self.band = None if None in bands.values() else max(LEAST[self.unit], *(value for value in bands.values() if value is not None))
        lacking = [side.lacks(scenario, contender, len(values)) for side, values in ((a, self.a), (b, self.b))]
        lacking += [f"{name}: no twin with {LEAST_ROUNDS} rounds" for name, value in bands.items() if value is None]
        self.why_not = [text for text in lacking if text is not None]

    def difference(self, level: float) -> Difference:
        around = self.contrast.interval(level) if self.contrast else None
        called: tuple[Outcome, list[str]] = ("not_judged", self.why_not) if self.why_not else self._called(level)

        def mean(values: list[float]) -> float | None:
            return shown(sum(values) / len(values), self.unit) if values else None

        return Difference(
            scenario=self.scenario,
            contender=self.contender,
            metric=self.metric,
            unit=self.unit,
            a=mean(self.a),
            b=mean(self.b),
            value=shown(self.contrast.mean, self.unit) if self.contrast else None,
            low=shown(around.low, self.unit) if around else None,
            high=shown(around.high, self.unit) if around else None,
            level=level,
            band=self.band,
            outcome=called[0],
            reasons=called[1],
        )

    def _called(self, level: float) -> tuple[Outcome, list[str]]:
        assert self.contrast is not None
        assert self.band is not None
        around = self.contrast.interval(level)
        if around.low <= 0 <= around.high:
            return "undecided", ["the interval holds no difference"]
        if around.low <= self.band and around.high >= -self.band:
            return "undecided", ["the twins differ as much"]
        more = around.low > 0
        return ("better" if more == (self.metric in MORE_IS_BETTER) else "worse"), []


# --- facts -------------------------------------------------------------------------------------------------------------

_EQUAL = (
    ("host", ("name", "architecture", "cpu", "cores")),
    ("plan", ("profile", "tier", "workers")),
    ("database", ("kind", "version", "private")),
)
_CHANGING = (".ready_s", ".handled_by")
"""What differs from start to start."""
_EQUAL_BY_SCENARIO = ("models", "headlines", "rates", "vus", "holds_ms", "windows_s")


def _forbidden(a: Mapping[str, Any], b: Mapping[str, Any], scenarios: Sequence[str]) -> list[str]:
    """What must be equal and is not, in one sentence each."""
    facts = [(f"{part}.{key}", a[part].get(key), b[part].get(key)) for part, keys in _EQUAL for key in keys]
    facts += [("plan.order", a["plan"].get("order", "scenario"), b["plan"].get("order", "scenario"))]
    facts += [("runner", a["runner"], b["runner"]), ("placement", a.get("placement"), b.get("placement"))]
    facts += [("plan.generators", a["plan"].get("generators", 1), b["plan"].get("generators", 1))]
    limits = [run.get("containers", {}).get("memory_limit_mib") for run in (a, b)]
    facts += [("containers.memory_limit_mib", *limits)]
    facts += [
        (f"{key} of {scenario}", a["plan"].get(key, {}).get(scenario), b["plan"].get(key, {}).get(scenario))
        for key in _EQUAL_BY_SCENARIO
        for scenario in scenarios
    ]
    return [f"{name} is {was} in A and {is_} in B" for name, was, is_ in facts if was != is_]


def _differs(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[str]:
    """Commits, versions, settings and rounds that are not the same."""
    flat = [_flat({part: run.get(part, {}) for part in ("host", "k6", "tools", "runtimes", "images")}) for run in (a, b)]
    for facts, run in zip(flat, (a, b), strict=True):
        facts |= {f"plan.{key}": run["plan"][key] for key in ("rounds", "seed")}
    names = [name for name in dict.fromkeys([*flat[0], *flat[1]]) if not name.endswith(_CHANGING)]
    return [f"{name}: {_said(flat[0], name)} → {_said(flat[1], name)}" for name in names if flat[0].get(name) != flat[1].get(name)]


def _flat(facts: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in facts.items():
        if isinstance(value, Mapping):
            result |= _flat(value, f"{prefix}{key}.")
        else:
            result[f"{prefix}{key}"] = value
    return result


def _said(facts: Mapping[str, Any], name: str) -> str:
    return str(facts[name]) if name in facts else "not recorded"
