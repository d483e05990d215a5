"""A judged cell: its figures, its status and the checks that led to it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from pydantic import Field

from nsb.records.cells import Line, Reading
from nsb.records.schema import SCHEMA
from nsb.registry.terms import OVERLOAD_PERCENT, Fault, Frozen, Headline, Limit, Metric

Status = Literal["valid", "censored", "invalid", "failed", "unsupported"]
Role = Literal["service", "generator", "database", "upstream"]


class Latency(Frozen):
    """Percentiles of one cell, in ms; p99 from 1000 requests on, else null."""

    p50: float | None
    p90: float | None
    p99: float | None
    max: float | None


class Half(Frozen):
    """One half of a window: requests answered, their median and p99 (ms), the service's CPU (s)."""

    requests: int
    p50_ms: float | None
    p99_ms: float | None = None
    """Of half as many as a p99 needs, or more: it tells the spread of the window's, and is no figure."""
    service_cpu_s: float


class SteadyWindow(Frozen):
    """Other requests while so many connections were held and none was opened: answers, and what they took from the send on (ms)."""

    held: int
    requests: int
    p50_ms: float | None
    p90_ms: float | None


class Check(Frozen):
    """One validity check with what it looked at (docs/method.md, V1 …)."""

    id: str
    outcome: Literal["ok", "doubt", "censored", "invalid"]
    sentence: str
    inputs: dict[str, float | int | str | None]


class Slope(Frozen):
    """KiB per request in flight over a ladder, its connection included: by all readings, by the first and by the last of each level."""

    kib: float
    first_kib: float
    last_kib: float


_NOT_TOLD: set[str] = set()
"""Which fields a slim cell was made from: one set for all of them, else it would be a quarter of each."""


class CostFigure(Frozen):
    """What one cost cell says by itself (analyse/duet.py)."""

    own_us: float
    """CPU µs per request of the contender."""
    partner: str | None
    """Whom it shared the core with; None: competitors alone."""
    partner_us: float | None
    """CPU µs per request of the partner."""
    ratio: float | None
    """Own ÷ partner."""
    error: float
    """The standard error of ln(ratio), or of ln(cost) where there is no partner, by the spread of its windows of a quarter second."""
    halves: float
    """The second half of the window ÷ the first: of the ratio, or of the cost where there is no partner."""
    halves_error: float
    """The standard error of ln(halves), by the spread of the windows within each half."""
    windows: int
    speed: float | None
    """Steps of the witness over memory, per µs: the mean of before and after; None: it did not look."""


class LevelFigure(Frozen):
    """Users who came at one share of the capacity (analyse/overload.py)."""

    percent: int
    goodput: float
    """Right answers in time, in percent of the capacity."""
    p99_ms: float | None
    """Of the right answers in time, from the moment of coming; None below 1000 of them, and where the generator was too late to tell."""
    lag_ms: float = 0.0
    """How late the generator saw that a user had come (p99)."""
    memory_mib: float
    late: bool
    """By a tenth of what a user waits, or more: no verdict rests on it."""
    back_ms: float | None
    """From the end of the load until single users had quick answers; None where nobody looked, or they had none within the limit."""
    broke: bool = False
    """Whether the service was of no more use afterwards, and was started again for the next level."""


class OverloadFigure(Frozen):
    """What one overload cell says."""

    capacity_rps: float
    idle_ms: float
    """The median of the idle service."""
    limit_s: float
    """How long single users were sent after a load."""
    levels: list[LevelFigure]
    broke: str | None = None
    """Why the service was of no more use after one of its loads, the first time: it had ended, or it hangs."""

    def at(self, percent: int) -> LevelFigure | None:
        return next((level for level in self.levels if level.percent == percent), None)

    def goodput(self, percent: int = OVERLOAD_PERCENT) -> float | None:
        """None where the generator was late, or it did not come to that."""
        found = self.at(percent)
        return None if found is None or found.late else found.goodput

    @property
    def back_ms(self) -> float | None:
        """After OVERLOAD_PERCENT; None where it was not back within the limit."""
        found = self.at(OVERLOAD_PERCENT)
        return None if found is None else found.back_ms


class SideFigure(Frozen):
    """Users of one kind of request who came while something failed (analyse/failing.py)."""

    served: float
    """Who had the right answer in time, in percent of them."""
    p99_ms: float | None
    """Of these answers, from the moment of coming; None below 1000 of them, and where the generator was too late to tell."""
    lag_ms: float = 0.0
    """How late the generator saw that a user had come (p99)."""
    kinds: dict[str, int]
    """The others: gave up, refused, reset, and other statuses."""
    late: bool
    """By a tenth of what a user waits, or more: no verdict rests on it."""
    back_ms: float | None
    """From the end of the fault until single users had quick answers; None: they had none within the limit."""


class FailingFigure(Frozen):
    """What one cell with a fault says."""

    fault: Fault
    fault_s: float
    limit_s: float
    """How long single users were sent after the fault."""
    needing: SideFigure
    """Users of what needs the thing that fails."""
    others: SideFigure
    memory_mib: float

    @property
    def served(self) -> float | None:
        return None if self.others.late else self.others.served


class Cell(Line):
    """One contender under one scenario in one round, judged. Runs until November 2026 have it as a line of cells.jsonl (schema 1)."""

    schema_: int = Field(default=SCHEMA, alias="schema")
    status: Status
    reasons: list[str] = []
    doubts: list[str] = []
    limit: Limit | None = None
    started_at: str = ""
    wall_s: float = 0.0
    window_s: float = 0.0
    """Of a load as a whole: from its first request to its last answer."""
    rate: int | None = None
    vus: int = 0
    requests: int = 0
    failures: int = 0
    dropped: int = 0
    throughput_rps: float | None = None
    latency_ms: Latency = Latency(p50=None, p90=None, p99=None, max=None)
    cpu_us_per_request: dict[Role, float | None] = {}
    cpu_s: dict[str, float] = {}
    memory_peak_mib: float | None = None
    threads_peak: int | None = None
    switches_per_request: float | None = None
    """Context switches of the service's threads; those of threads that ended in the window are not in it. None in containers."""
    db_connections_peak: int | None = None
    statements: int | None = None
    """That the database executed in the window; None where there are none to count."""
    pinnings: int | None = None
    """How often the runtime itself said that a virtual thread was pinned, from before the first request of the cell to after its last one;
    None where it was not asked (C17)."""
    halves: list[Half] = []
    still: list[SteadyWindow] = []
    """Of a scenario that holds connections: for each level, lowest first. Empty in earlier runs."""
    checks: list[Check] = []
    raw: str | None = None
    """The k6 summary this came from, relative to the run's folder."""
    second: dict[str, Any] | None = None
    """Runs until 23 November 2026 drove some cells once more, by another generator: nothing tells of it any more."""
    cost: CostFigure | None = None
    """Of a cost cell."""
    overload: OverloadFigure | None = None
    """Of an overload cell; its throughput is the capacity."""
    failing: FailingFigure | None = None
    """Of a cell with a fault."""
    connections: int | None = None
    """How many it held when its memory ended."""
    ladder: list[Reading] = []
    memory_slope: Slope | None = None
    whole: bool = False
    """Whether its load was measured as a whole, the drain included."""

    @property
    def counts(self) -> bool:
        """Whether the cell enters statistics: a valid one as a value, a censored one as a bound."""
        return self.status in ("valid", "censored")

    def headline(self, which: Headline) -> float | None:
        """The figure the table shows: µs, requests/s, ms, KiB, %. Memory that did not grow is none: growth.over_rounds judges its slope."""
        if which == "cpu":
            return self.cpu_us_per_request.get("service")
        if which == "memory":
            return self.memory_slope.kib if self.memory_slope is not None and self.memory_slope.kib > 0 else None
        if which == "p99":
            return self.metric(which)
        if which == "served":
            return self.failing.served if self.failing is not None else None
        if which == "connections":
            return self.connections
        if which == "goodput":
            return self.overload.goodput() if self.overload is not None else None
        return self.throughput_rps if which == "throughput" else self.latency_ms.p50

    def metric(self, which: Metric) -> float | None:
        """The same for every figure a claim may be about."""
        if which == "memory_peak":
            return self.memory_peak_mib
        if which == "duration":
            return self.window_s if self.whole else None
        if which == "max":
            return self.latency_ms.max
        if which == "threads":
            return self.threads_peak
        if which == "goodput_100" or which == "goodput_120":
            return self.overload.goodput(100 if which == "goodput_100" else 120) if self.overload is not None else None
        if which == "back":
            return self.overload.back_ms if self.overload is not None else None
        if which == "switches":
            return self.switches_per_request
        if which == "p90" or which == "p99":  # a late generator's tail is no figure of the service (V3)
            late = any(doubt.startswith("V3 ") for doubt in self.doubts)
            return None if late else self.latency_ms.p90 if which == "p90" else self.latency_ms.p99
        return self.headline(which)

    def slim(self) -> Cell:
        """Without the checks, which the journal keeps and no table needs."""
        return Cell.model_construct(_NOT_TOLD, **{**vars(self), "checks": []})


def of_each(cells: Sequence[Cell], contenders: Sequence[str]) -> Iterator[tuple[str, str, list[Cell]]]:
    """Contender, scenario, and the cells of both together; scenarios in the order of the cells."""
    for scenario in dict.fromkeys(cell.scenario for cell in cells):
        for contender in contenders:
            own = [cell for cell in cells if (cell.contender, cell.scenario) == (contender, scenario)]
            if own:
                yield contender, scenario, own
