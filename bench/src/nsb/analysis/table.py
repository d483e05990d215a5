"""The one table: for each contender and scenario the headline with its spread, its count and its doubts. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from nsb.analysis.stats import Estimate, estimate, spread_of_halves
from nsb.model import Cell, Frozen, Headline, Limit, Status

UNITS: dict[Headline, str] = {"cpu": "CPU µs/request", "throughput": "requests/s", "p50": "p50 ms"}


class Figure(Frozen):
    """A figure over the rounds that count. `spread` says what low and high are: a 95 % t interval, or one round's halves."""

    value: float
    low: float | None
    high: float | None
    rounds: int
    spread: Literal["interval", "halves"]

    @property
    def half_width(self) -> float | None:
        return Estimate(self.value, self.low, self.high, self.rounds).half_width


class Entry(Frozen):
    """One cell of the table."""

    contender: str
    scenario: str
    headline: Headline
    model: Literal["open", "closed"]
    status: Status | Literal["missing"]
    limit: Limit | None
    figure: Figure | None
    """None where nothing was measured that counts: no number is printed then."""
    rounds_valid: int
    rounds_censored: int
    rounds_measured: int
    reasons: list[str]
    doubts: list[str]
    throughput_rps: float | None
    p50_ms: float | None
    p90_ms: float | None
    p99_ms: float | None
    cpu_us: dict[str, float | None]
    memory_mib: float | None
    threads: int | None
    db_connections: int | None


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
    entries: list[Entry]

    def entry(self, contender: str, scenario: str) -> Entry:
        return next(e for e in self.entries if e.contender == contender and e.scenario == scenario)


def latest(cells: Iterable[Cell]) -> list[Cell]:
    """The last attempt of every planned cell."""
    best: dict[tuple[int, str, str], Cell] = {}
    for cell in cells:
        best[cell.round, cell.scenario, cell.contender] = cell
    return list(best.values())


def make(run: dict[str, Any], cells: Iterable[Cell]) -> Table:
    """The table of a run from its facts (run.json) and its cells."""
    plan = run["plan"]
    final = latest(cells)
    controls: dict[str, dict[str, str]] = plan.get("controls", {})
    headlines: dict[str, Headline] = plan["headlines"]
    entries = [
        _entry(contender, scenario, headlines[scenario], plan["models"][scenario], [
            cell for cell in final if cell.contender == contender and cell.scenario == scenario
        ])
        for scenario in plan["scenarios"]
        for contender in plan["contenders"]
    ]  # fmt: skip
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
        entries=entries,
    )


def _entry(contender: str, scenario: str, headline: Headline, model: Literal["open", "closed"], cells: Sequence[Cell]) -> Entry:
    valid = [cell for cell in cells if cell.status == "valid"]
    censored = [cell for cell in cells if cell.status == "censored"]
    counted = valid or censored
    status: Status | Literal["missing"] = counted[0].status if counted else cells[-1].status if cells else "missing"
    limits = [cell.limit for cell in counted]
    doubts = _summed([cell.doubts for cell in counted])
    if valid and censored:
        doubts.append(f"{len(censored)} of {len(cells)} rounds gave a bound only and are not in the figure")
    if counted and len(counted) < len(cells):
        doubts.append(f"{len(cells) - len(counted)} of {len(cells)} rounds do not count")
    if status == "censored" and model == "open":
        headline = "throughput"  # at another rate neither latency nor CPU per request compares: what it reached does
    shown = counted or cells
    return Entry(
        contender=contender,
        scenario=scenario,
        headline=headline,
        model=model,
        status=status,
        limit=max(sorted({limit for limit in limits if limit}), key=limits.count, default=None),
        figure=_figure(counted, headline),
        rounds_valid=len(valid),
        rounds_censored=len(censored),
        rounds_measured=len(cells),
        reasons=_summed([cell.reasons for cell in shown]),
        doubts=doubts,
        throughput_rps=_median([c.throughput_rps for c in counted]),
        p50_ms=_median([c.latency_ms.p50 for c in counted]),
        p90_ms=_median([c.latency_ms.p90 for c in counted]),
        p99_ms=_median([c.latency_ms.p99 for c in counted]),
        cpu_us={
            role: _median([c.cpu_us_per_request.get(role) for c in counted]) for role in ("service", "generator", "database", "upstream")
        },
        memory_mib=max((c.memory_peak_mib for c in counted if c.memory_peak_mib is not None), default=None),
        threads=max((c.threads_peak for c in counted if c.threads_peak is not None), default=None),
        db_connections=max((c.db_connections_peak for c in counted if c.db_connections_peak is not None), default=None),
    )


def _figure(cells: Sequence[Cell], headline: Headline) -> Figure | None:
    values = [value for cell in cells if (value := cell.headline(headline)) is not None and value > 0]
    if not values:
        return None
    if len(values) > 1:
        found = estimate(values)
        return Figure(value=found.value, low=found.low, high=found.high, rounds=found.n, spread="interval")
    halves = [value for half in cells[0].halves if (value := _half(cells[0], headline, half)) is not None]
    if len(halves) != 2:
        return None  # no number without spread
    found = spread_of_halves(halves[0], halves[1], values[0])
    return Figure(value=found.value, low=found.low, high=found.high, rounds=1, spread="halves")


def _half(cell: Cell, headline: Headline, half: Any) -> float | None:
    if headline == "throughput":
        rate: float = half.requests / (cell.window_s / 2)
        return rate
    if headline == "cpu":
        return half.service_cpu_s / half.requests * 1e6 if half.requests else None
    median: float | None = half.p50_ms
    return median


def _median(values: Sequence[float | None]) -> float | None:
    """The median round of a figure that is not the headline (percentiles are neither pooled nor averaged)."""
    known = [value for value in values if value is not None]
    return round(statistics.median(known), 3) if known else None


def _summed(lists: Sequence[Sequence[str]]) -> list[str]:
    """Sentences of several rounds, each check once: the first sentence and how many rounds have one of that check."""
    first: dict[str, str] = {}
    count: dict[str, int] = {}
    for sentences in lists:
        for sentence in sentences:
            check = sentence.split(" ", 1)[0]
            first.setdefault(check, sentence)
            count[check] = count.get(check, 0) + 1
    return [text if len(lists) == 1 else f"{text} ({count[check]} of {len(lists)} rounds)" for check, text in first.items()]
