"""What each contender's requests cost, as a sum over what they do: the cost model of a run. Pure.

CPU per request = base + per query + per insert + per upstream call + per 1,000 rounds of computing + per wait (µs), fitted for each round
from the cost rows. Memory = under load + per request in flight + per idle connection. Stations are what a contender has only so many of.
What a row does follows from its scenario; no quantity that was not measured gets a value.

The sum is an approximation: a wait and a query in one request cost less than both apart where the runtime serves several of them on one
waking. A row that the others determine shows by how much; every interval that is made of the model is wider by that (`Fitted.misfit`).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

from pydantic import Field

from nsb.analyse.stats import quantile
from nsb.records.schema import to_json
from nsb.registry.shapes import FullCore, Mixture
from nsb.registry.terms import Frozen

if TYPE_CHECKING:
    from nsb.analyse.table import Table
    from nsb.records.judged import Cell
    from nsb.registry.contenders import Contender
    from nsb.registry.scenario import Scenario

Kind = Literal["base", "query", "insert", "call", "compute", "wait"]
KINDS: tuple[Kind, ...] = get_args(Kind)
ROUNDS_UNIT = 1000
"""The coefficient of computing is for so many rounds of the contract's loop."""
LEVEL = 0.95
NEAR, MEMORY_NEAR = 0.15, 0.20
"""A prediction of CPU, and one of memory, so close to what was measured is counted as right."""


class Span(Frozen):
    """A value with its interval; None where one round, or one start, shows none."""

    value: float
    low: float | None
    high: float | None


class Row(Frozen):
    """One cost row: geometric means over the rounds (µs)."""

    scenario: str
    measured_us: float
    fitted_us: float
    residual: float
    """Fitted ÷ measured − 1."""


class Check(Frozen):
    """A row that the other rows determine: what the sum of its parts comes to, and what it is."""

    scenario: str
    measured_us: float
    predicted_us: float
    """By the fit of all rows but this one."""
    off: float
    """Predicted ÷ measured − 1."""


class Predicted(Frozen):
    """A mixture of requests, which no fit uses: what the model says that a request of it costs, and what it was measured to cost."""

    scenario: str
    measured_us: float
    predicted_us: float
    off: float
    """Predicted ÷ measured − 1: geometric mean over the rounds, with its t interval."""
    low: float | None
    high: float | None
    measured_mib: float | None = None
    """Memory under this load, likewise over the rounds; None where no cost row's was read."""
    predicted_mib: float | None = None
    memory_off: float | None = None


class Quantity(Frozen):
    """Memory, and where it was measured. `bound`: known only to be at most `value`."""

    value: float
    low: float
    high: float
    bound: bool
    run: str


class Memory(Frozen):
    """None: not measured."""

    base_mib: Quantity | None
    """Under the load of the cost rows in the last round of each start, less what their requests in flight take: a process keeps most of
    what it has taken once. When it was ready, where a run did not read the other."""
    in_flight_kib: Quantity | None
    """For each request in flight, its connection included."""
    connection_kib: Quantity | None
    """For each connection that is open and silent, in the service's processes."""


class Stations(Frozen):
    """What a contender has only so many of, as it was measured."""

    workers: int
    threads: int | None
    """A request, and an answer that does not end, holds one of them; None: no such limit."""
    pool: int
    blocked_by: Literal["loop", "carriers"] | None
    """What a blocking call in a handler may occupy."""
    processes: bool
    """Whether each worker is a process, with its own idle memory."""


class Fitted(Frozen):
    """The model of one contender."""

    contender: str
    rounds: list[list[float]]
    """µs of each kind in the order of KINDS, for each round; 0 of a kind that is not in `known`. Empty: no cost rows, or too few."""
    known: list[Kind]
    """Kinds that the cost rows of the run determine."""
    coefficients: dict[Kind, Span]
    """µs: means over the rounds with t intervals, wider by the misfit."""
    t: float | None
    """Student's t of these rounds at 95 %; None with one round."""
    misfit: float
    """|ln(predicted ÷ measured)| of the check row; 0 where no row is determined by the others."""
    check: Check | None
    rows: list[Row]
    mixtures: list[Predicted] = Field(default_factory=list)
    memory: Memory
    stations: Stations


class CostModel(Frozen):
    """model.json."""

    schema_version: int = 1
    run: str
    started_at: str
    machine: str
    profile: str
    reference: str | None
    """The contender that costs are measured beside."""
    contenders: list[Fitted]

    def text(self) -> str:
        """As a file holds it."""
        return to_json(self.model_dump(mode="json"))

    def of(self, contender: str) -> Fitted | None:
        return next((each for each in self.contenders if each.contender == contender), None)


# --- what a request does -----------------------------------------------------------------------------------------------------


def work_of(scenario: Scenario) -> list[float]:
    """How often one request of a scenario does each kind of work, in the order of KINDS. A request that calls waits for its calls: that
    is part of a call."""
    calls, statements = scenario.upstream_calls, scenario.statements
    waits = scenario.hold_ms > 0 and calls == 0 and scenario.holds is None
    queries, inserts = (0, statements) if scenario.writes else (statements, 0)
    return [1.0, float(queries), float(inserts), float(calls), scenario.compute_rounds / ROUNDS_UNIT, float(waits)]


def works_of(scenarios: Mapping[str, Scenario]) -> dict[str, list[float]]:
    """The work of every scenario that measures the cost of one kind of request: what is fitted. One that is for some contenders alone asks
    for work of their own."""
    return {name: work_of(each) for name, each in scenarios.items() if isinstance(each, FullCore) and not each.contenders}


def mixtures_of(scenarios: Mapping[str, Scenario]) -> dict[str, list[float]]:
    """The work of an average request of every mixture."""
    found = {}
    for name, scenario in scenarios.items():
        if isinstance(scenario, Mixture):
            whole = sum(weight for _, weight in scenario.mixed)
            works = [[count * weight / whole for count in work_of(row)] for row, weight in scenario.mixed]
            found[name] = [sum(column) for column in zip(*works, strict=True)]
    return found


# --- the fit -----------------------------------------------------------------------------------------------------------------


def fit(
    run: Mapping[str, Any],
    cells: Sequence[Cell],
    table: Table,
    scenarios: Mapping[str, Scenario],
    contenders: Mapping[str, Contender],
    name: str,
) -> CostModel:
    """The model of a run. `table`: that of the same run; `name`: what the run is called."""
    works, mixtures, plan = works_of(scenarios), mixtures_of(scenarios), run["plan"]
    used = [cell for cell in cells if cell.round % plan.get("rounds_per_start", 1) == 0]
    fitted = [
        _fitted(
            each,
            costs_of(cells, each, works),
            costs_of(cells, each, mixtures),
            _predicted_memory(used, each, works, mixtures),
            works,
            mixtures,
            _memory(table, used, each, works, name),
            _stations(run, contenders, each),
        )
        for each in table.contenders
    ]
    return CostModel(
        run=name,
        started_at=run["started_at"],
        machine=run["host"]["cpu"],
        profile=plan["profile"],
        reference=plan.get("reference"),
        contenders=fitted,
    )


def costs_of(cells: Sequence[Cell], contender: str, works: Mapping[str, Sequence[float]]) -> dict[int, dict[str, float]]:
    """Round → scenario → CPU µs per request, of the valid cells."""
    found: dict[int, dict[str, float]] = {}
    for cell in cells:
        cost = cell.cpu_us_per_request.get("service")
        if cell.contender == contender and cell.scenario in works and cell.status == "valid" and cost:
            found.setdefault(cell.round, {})[cell.scenario] = cost
    return found


def _fitted(
    contender: str,
    costs: Mapping[int, Mapping[str, float]],
    mixed: Mapping[int, Mapping[str, float]],
    memories: Mapping[str, tuple[float, float]],
    works: Mapping[str, Sequence[float]],
    mixtures: Mapping[str, Sequence[float]],
    memory: Memory,
    stations: Stations,
) -> Fitted:
    """Without rounds where no cost rows were measured, or too few to tell what they are made of."""
    known = _known({scenario for round_ in costs.values() for scenario in round_}, works)
    complete = {number: own for number, own in costs.items() if known and _known(own.keys(), works) == known}
    solved = {number: _solved(own, works, known) for number, own in sorted(complete.items())}
    rounds = list(solved.values())
    t = quantile((1 + LEVEL) / 2, len(rounds) - 1) if len(rounds) > 1 else None
    check = _check(list(complete.values()), works, known)
    misfit = 0.0 if check is None else abs(math.log1p(check.off))
    return Fitted(
        contender=contender,
        rounds=[[round(value, 6) for value in each] for each in rounds],
        known=[KINDS[k] for k in known],
        coefficients={KINDS[k]: _coefficient([each[k] for each in rounds], t, misfit) for k in known if rounds},
        t=None if t is None else round(t, 6),
        misfit=round(misfit, 6),
        check=check,
        rows=_rows(list(complete.values()), rounds, works),
        mixtures=list(_predicted(solved, mixed, memories, mixtures, known)),
        memory=memory,
        stations=stations,
    )


def _predicted(
    solved: Mapping[int, Sequence[float]],
    mixed: Mapping[int, Mapping[str, float]],
    memories: Mapping[str, tuple[float, float]],
    mixtures: Mapping[str, Sequence[float]],
    known: Sequence[int],
) -> Iterator[Predicted]:
    """Of mixtures whose work the cost rows of the run determine, over the rounds that have both."""
    for name, work in mixtures.items():
        both = [(mixed[number][name], cost_of(work, each)) for number, each in solved.items() if name in mixed.get(number, {})]
        if not both or any(count > 0 and k not in known for k, count in enumerate(work)):
            continue
        logs = [math.log(predicted / measured) for measured, predicted in both]
        mean = statistics.fmean(logs)
        width = None
        if len(logs) > 1:
            width = quantile((1 + LEVEL) / 2, len(logs) - 1) * statistics.stdev(logs) / math.sqrt(len(logs))
        measured, predicted = (_geometric(column) for column in zip(*both, strict=True))
        held, expected = memories.get(name, (None, None))
        yield Predicted(
            scenario=name,
            measured_us=round(measured, 4),
            predicted_us=round(predicted, 4),
            off=round(math.expm1(mean), 6),
            low=None if width is None else round(math.expm1(mean - width), 6),
            high=None if width is None else round(math.expm1(mean + width), 6),
            measured_mib=held,
            predicted_mib=expected,
            memory_off=None if held is None or expected is None else round(expected / held - 1, 6),
        )


def _known(scenarios: Iterable[str], works: Mapping[str, Sequence[float]]) -> list[int]:
    """The kinds, by number, that these rows determine; none where what they do cannot be told apart."""
    import numpy as np

    matrix = np.array([works[name] for name in sorted(scenarios)]).reshape(-1, len(KINDS))
    used = [k for k in range(len(KINDS)) if matrix[:, k].any()]
    return used if used and np.linalg.matrix_rank(matrix[:, used]) == len(used) else []


def _solved(costs: Mapping[str, float], works: Mapping[str, Sequence[float]], known: Sequence[int]) -> list[float]:
    """µs of each kind in one round: non-negative least squares (Lawson and Hanson 1974) of relative errors, since costs differ by a
    hundred times and their noise is a share of them."""
    import numpy as np
    from scipy.optimize import nnls

    rows = sorted(costs)
    weighted = np.array([[works[name][k] / costs[name] for k in known] for name in rows])
    found, _ = nnls(weighted, np.ones(len(rows)))
    solved = [0.0] * len(KINDS)
    for k, value in zip(known, found, strict=True):
        solved[k] = float(value)
    return solved


def cost_of(work: Sequence[float], coefficients: Sequence[float]) -> float:
    """CPU of a request that does this (µs)."""
    return sum(count * each for count, each in zip(work, coefficients, strict=True))


def _check(rounds: Sequence[Mapping[str, float]], works: Mapping[str, Sequence[float]], known: Sequence[int]) -> Check | None:
    """Of the rows that the others determine the one with most kinds of work; among equals the dearest."""
    every = sorted({name for own in rounds for name in own})
    candidates = [name for name in every if all(name in own and _known(own.keys() - {name}, works) == known for own in rounds)]
    if not candidates:
        return None
    means = {name: _geometric([own[name] for own in rounds]) for name in candidates}
    chosen = max(candidates, key=lambda name: (sum(count > 0 for count in works[name]), means[name], name))
    others = [{name: cost for name, cost in own.items() if name != chosen} for own in rounds]
    predicted = _geometric([cost_of(works[chosen], _solved(own, works, known)) for own in others])
    return Check(
        scenario=chosen,
        measured_us=round(means[chosen], 4),
        predicted_us=round(predicted, 4),
        off=round(predicted / means[chosen] - 1, 6),
    )


def _rows(rounds: Sequence[Mapping[str, float]], solved: Sequence[Sequence[float]], works: Mapping[str, Sequence[float]]) -> list[Row]:
    found = []
    for name in (name for name in works if any(name in own for own in rounds)):
        pairs = [(own[name], cost_of(works[name], each)) for own, each in zip(rounds, solved, strict=True) if name in own]
        measured, fitted = (_geometric(column) for column in zip(*pairs, strict=True))
        residual = round(fitted / measured - 1, 6) + 0.0  # no −0.0, whose sign depends on the machine
        row = Row(scenario=name, measured_us=round(measured, 4), fitted_us=round(fitted, 4), residual=residual)
        found.append(row)
    return found


def _coefficient(values: Sequence[float], t: float | None, misfit: float) -> Span:
    """On the linear scale: a coefficient may be zero."""
    mean = statistics.fmean(values)
    if t is None:
        return Span(value=round(mean, 4), low=None, high=None)
    width = t * statistics.stdev(values) / math.sqrt(len(values)) + mean * math.expm1(misfit)
    return Span(value=round(mean, 4), low=round(max(0.0, mean - width), 4), high=round(mean + width, 4))


def _geometric(values: Sequence[float]) -> float:
    return math.exp(statistics.fmean(math.log(max(value, 1e-9)) for value in values))


# --- memory and stations -----------------------------------------------------------------------------------------------------


def _memory(table: Table, cells: Sequence[Cell], contender: str, works: Mapping[str, Sequence[float]], run: str) -> Memory:
    ready = next((each.pss_mib for each in table.startups if each.contender == contender and each.pss_mib is not None), None)
    loaded = [base for base, _ in _loaded(_held_by(cells, contender, works))]
    holding = {each.scenario for each in table.idle}
    climbs = [
        entry.figure
        for entry in table.entries
        if entry.contender == contender and entry.headline == "memory" and entry.scenario not in holding and entry.figure is not None
    ]
    held = [(each.most, each.process) for each in table.idle if each.contender == contender and each.process is not None]
    climbed = next((each for each in climbs if each.low is not None), None)
    open_ = max(held, key=lambda each: each[0])[1] if held else None
    base = None if ready is None else _quantity(ready.value, ready.low, ready.high, False, run)
    return Memory(
        base_mib=_quantity(statistics.median(loaded), min(loaded), max(loaded), False, run) if loaded else base,
        in_flight_kib=None if climbed is None else _quantity(climbed.value, climbed.low, climbed.high, climbed.bound, run),
        connection_kib=None if open_ is None else _quantity(open_.value, open_.low, open_.high, open_.bound, run),
    )


def _held_by(cells: Sequence[Cell], contender: str, scenarios: Mapping[str, object]) -> dict[int, dict[str, tuple[int, float]]]:
    """Round → scenario → requests in flight and memory (MiB), of the valid cells in which it was read."""
    found: dict[int, dict[str, tuple[int, float]]] = {}
    for cell in cells:
        if cell.contender == contender and cell.scenario in scenarios and cell.status == "valid" and cell.memory_peak_mib:
            found.setdefault(cell.round, {})[cell.scenario] = (cell.vus, cell.memory_peak_mib)
    return found


def _loaded(rounds: Mapping[int, Mapping[str, tuple[int, float]]]) -> list[tuple[float, float]]:
    """Memory under load without requests in flight, and for each of them (MiB): non-negative least squares of relative errors, for each
    round whose rows have different numbers of them."""
    import numpy as np
    from scipy.optimize import nnls

    found = []
    for own in rounds.values():
        if len({in_flight for in_flight, _ in own.values()}) > 1:
            weighted = np.array([[1 / mib, in_flight / mib] for in_flight, mib in own.values()])
            base, each = nnls(weighted, np.ones(len(own)))[0]
            found.append((float(base), float(each)))
    return found


def _predicted_memory(
    cells: Sequence[Cell], contender: str, works: Mapping[str, object], mixtures: Mapping[str, object]
) -> dict[str, tuple[float, float]]:
    """Mixture → memory measured and predicted (MiB): means over the rounds, the prediction by the memory of the cost rows."""
    loaded, measured = _loaded(_held_by(cells, contender, works)), _held_by(cells, contender, mixtures)
    found = {}
    for name in mixtures if loaded else ():
        own = [each[name] for each in measured.values() if name in each]
        if own:
            predicted = _geometric([base + in_flight * own[0][0] for base, in_flight in loaded])
            found[name] = (round(_geometric([mib for _, mib in own]), 2), round(predicted, 2))
    return found


def _quantity(value: float, low: float | None, high: float | None, bound: bool, run: str) -> Quantity:
    """Memory is never below zero."""
    least, most = (value if each is None else each for each in (low, high))
    return Quantity(value=round(value, 3), low=round(max(0.0, least), 3), high=round(most, 3), bound=bound, run=run)


def _stations(run: Mapping[str, Any], contenders: Mapping[str, Contender], contender: str) -> Stations:
    """What the running program said of itself, and what is declared of it."""
    said, declared = run.get("runtimes", {}).get(contender, {}), contenders.get(contender)
    return Stations(
        workers=said.get("workers") or run["plan"].get("workers") or 1,
        threads=said.get("settings", {}).get("server_threads"),
        pool=said.get("pool_size") or 0,
        blocked_by=None if declared is None else declared.blocked_by,
        processes=declared is not None and declared.worker_processes,
    )


# --- several runs ------------------------------------------------------------------------------------------------------------


def merged(models: Sequence[CostModel]) -> CostModel:
    """The first model; memory that its run did not measure is from the first of the others that did, on the same profile. Each quantity
    names its run, and none is made of two: as verdicts are merged (merged.py). A bound is a measurement too: an older run whose figure
    has a narrow interval may have it for a reason that was mended since."""
    first = models[0]
    others = [each for each in models[1:] if each.profile == first.profile]

    def filled(fitted: Fitted) -> Fitted:
        memories = [fitted.memory, *(same.memory for each in others if (same := each.of(fitted.contender)) is not None)]

        def first_of(name: str) -> Quantity | None:
            return next((value for each in memories if (value := getattr(each, name)) is not None), None)

        return fitted.model_copy(update={"memory": Memory(**{name: first_of(name) for name in Memory.model_fields})})

    return first.model_copy(update={"contenders": [filled(each) for each in first.contenders]})
