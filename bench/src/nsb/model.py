"""The words of the registry and of a run's records, as frozen values. Pure: nothing here touches the machine."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

SCHEMA = 1
"""The version of run.json and cells.jsonl."""

Model = Literal["open", "closed"]
Profile = Literal["1cpu", "ncpu"]
Status = Literal["valid", "censored", "invalid", "failed", "unsupported"]
Limit = Literal["offered", "cpu", "threads", "loop", "carriers", "pool", "database", "upstream", "generator"]
Headline = Literal["cpu", "throughput", "p50"]
Role = Literal["service", "generator", "database", "upstream"]

POOL_SIZE = 150
SERVER_THREADS = 200
_ID = r"^[a-z0-9]+(-[a-z0-9]+)*$"


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


# --- the registry ---------------------------------------------------------------------------------------------------


class Tool(Frozen):
    """A program that the machine must have; found by the first candidate whose version is at least `least`."""

    candidates: list[str] = Field(min_length=1)
    version_arguments: list[str]
    version_pattern: str
    least: str = Field(pattern=r"^\d+(\.\d+)*$")
    install: str

    @field_validator("version_pattern")
    @classmethod
    def _compiles(cls, value: str) -> str:
        try:
            groups = re.compile(value).groups
        except re.error as error:
            raise ValueError(f"is not a regular expression: {error}") from None
        if groups != 1:
            raise ValueError("needs exactly one group, the version")
        return value


class Service(Frozen):
    """A folder that is built and tested by its own tools."""

    folder: str
    needs: list[str]
    build: list[list[str]]
    test: list[list[str]] = []
    build_environment: dict[str, str] = {}
    bare_build: list[list[str]] = []
    """What the bare program needs beyond `build`."""
    sources: list[str] = []
    """Further folders that it is built from."""
    bare: list[str] | None = None
    """Starts a bare program of the same framework that answers /hello on $PORT (`just bare`); each contender's environment is passed on."""


def twin_id(name: str) -> str:
    """The id under which a contender runs a second time."""
    return f"{name}-twin"


class Plant(Frozen):
    """A known fault in an otherwise equal service: a run that does not find it could not have found anything of its size."""

    of: str
    """The contender that it is a copy of."""
    worsens: Headline
    """The figure that it makes larger (in open scenarios)."""


class Contender(Frozen):
    """A service with settings: what the table has a row for."""

    id: str = Field(pattern=_ID)
    service: str
    stands_for: str
    run: list[str] = Field(min_length=1)
    environment: dict[str, str] = {}
    blocked_by: Literal["loop", "carriers"] | None = None
    default: bool = False
    check: bool = False
    """Part of the short run of `just test`."""
    unsupported: dict[str, str] = {}
    """Scenario id → why this contender cannot run it."""
    twinned: bool = False
    """Is started twice where it is in a run and no other twin is asked for."""
    plant: Plant | None = None
    twin_of: str | None = None
    """The same program with the same settings, started a second time: what differs between the two is noise. Made by `load`."""

    @property
    def copy_of(self) -> str | None:
        """Of a control: the contender that it is compared with."""
        return self.twin_of or (self.plant.of if self.plant else None)


class Scenario(Frozen):
    """A load: what is asked, how often, and what must be answered."""

    id: str = Field(pattern=_ID)
    why: str
    method: Literal["GET", "POST"] = "GET"
    path: str = Field(pattern=r"^/")
    warm_path: str | None = None
    send: str | None = None
    body: str
    answer_status: int = 200
    ids: int = Field(default=0, ge=0)
    writes: bool = False
    statements: int = Field(default=0, ge=0)
    """Database statements per request, as the contract declares them (C61)."""
    model: Model
    rate: int | None = Field(default=None, gt=0)
    rate_per_worker: int | None = Field(default=None, gt=0)
    vus: int = Field(gt=0)
    hold_ms: int = Field(default=0, ge=0)
    holds: Literal["pool", "loop"] | None = None
    headline: Headline
    default: bool = True
    check: bool = False
    """Part of the short run of `just test`."""

    @model_validator(mode="after")
    def _rate_fits_model(self) -> Scenario:
        rates = [r for r in (self.rate, self.rate_per_worker) if r is not None]
        if self.model == "open" and len(rates) != 1:
            raise ValueError("an open scenario needs exactly one of rate and rate_per_worker")
        if self.model == "closed" and rates:
            raise ValueError("a closed scenario has no rate: its users set it")
        if self.body.count("*") > 1:
            raise ValueError("body may hold one * at the most")
        return self

    def rate_for(self, workers: int) -> int | None:
        """Arrivals per second for that many workers; None for a closed scenario."""
        return self.rate if self.rate_per_worker is None else self.rate_per_worker * workers

    @property
    def servers(self) -> int:
        """How many requests the smallest declared station serves at once: the pool, or 200 threads."""
        return min(POOL_SIZE if self.holds == "pool" else SERVER_THREADS, self.vus)

    @property
    def slowest_answer_s(self) -> float:
        """N·hold/servers: how long a user of a closed scenario waits where the smallest station is the cap (s)."""
        return self.vus * self.hold_ms / 1000 / self.servers if self.model == "closed" else self.hold_ms / 1000


class Tier(Frozen):
    why: str
    rounds: int = Field(gt=0)
    warm_s: float = Field(gt=0)
    settle_s: float = Field(ge=0)
    window_s: float = Field(gt=0)
    window_holds: int = Field(gt=0)
    """The window is at least this many holds long, and a whole even number of them."""


class Registry(Frozen):
    tools: dict[str, Tool]
    services: dict[str, Service]
    contenders: dict[str, Contender]
    scenarios: dict[str, Scenario]
    tiers: dict[str, Tier]

    @property
    def proper_services(self) -> dict[str, Service]:
        """Those of contenders that have a column; a control's program is not one to learn from."""
        proper = {c.service for c in self.contenders.values() if c.copy_of is None}
        return {name: service for name, service in self.services.items() if name in proper}


# --- times of a cell ------------------------------------------------------------------------------------------------


class Timing(Frozen):
    """The phases of one cell, in seconds from the start of k6."""

    boot_s: float = 0.9
    """k6 needs about 0.7 s before its first request."""
    spread_s: float
    settle_s: float
    window_s: float
    drain_s: float
    """What the last answers are expected to take."""

    @property
    def total_s(self) -> float:
        return self.boot_s + self.spread_s + self.settle_s + self.window_s + self.drain_s + OVERHEAD_S


OVERHEAD_S = 0.5
"""Reset, read-outs and the record around one cell (s)."""


def timing(scenario: Scenario, tier: Tier) -> Timing:
    """The phases that METHODOLOGY.md asks for: starts spread over a hold, a settle of N/X, a window of whole holds."""
    hold = scenario.hold_ms / 1000
    closed = scenario.model == "closed"
    window = tier.window_s
    if hold > 0:
        window = max(window, math.ceil(tier.window_holds / 2) * 2 * hold)
        if closed:  # completions come in bursts of one hold: halves are whole holds
            window = math.ceil(round(window / (2 * hold), 6)) * 2 * hold
    return Timing(
        spread_s=hold if closed else 0.0,
        settle_s=max(tier.settle_s, scenario.slowest_answer_s if closed else 1.2 * hold),
        window_s=round(window, 3),
        drain_s=scenario.slowest_answer_s,
    )


# --- records of a run -----------------------------------------------------------------------------------------------


class Latency(Frozen):
    """Percentiles of one cell, in ms; p99 from 1000 requests on, else null."""

    p50: float | None
    p90: float | None
    p99: float | None
    max: float | None


class Half(Frozen):
    """One half of a window: requests answered, their median (ms), the service's CPU (s)."""

    requests: int
    p50_ms: float | None
    service_cpu_s: float


class Check(Frozen):
    """One validity check with what it looked at (METHODOLOGY.md, V1 …)."""

    id: str
    outcome: Literal["ok", "doubt", "censored", "invalid"]
    sentence: str
    inputs: dict[str, float | int | str | None]


class Cell(Frozen):
    """One line of cells.jsonl: one contender under one scenario in one round, with raw counts."""

    schema_: int = Field(default=SCHEMA, alias="schema")
    round: int = Field(ge=1)
    attempt: int = Field(default=1, ge=1)
    contender: str
    scenario: str
    profile: Profile
    model: Model
    status: Status
    reasons: list[str] = []
    doubts: list[str] = []
    limit: Limit | None = None
    started_at: str = ""
    wall_s: float = 0.0
    window_s: float = 0.0
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
    db_connections_peak: int | None = None
    halves: list[Half] = []
    checks: list[Check] = []
    raw: str | None = None
    """The k6 summary this came from, relative to the run's folder."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, populate_by_name=True)

    @property
    def counts(self) -> bool:
        """Whether the cell enters statistics: a valid one as a value, a censored one as a bound."""
        return self.status in ("valid", "censored")

    def headline(self, which: Headline) -> float | None:
        """The figure the table shows: µs, requests/s or ms."""
        if which == "cpu":
            return self.cpu_us_per_request.get("service")
        return self.throughput_rps if which == "throughput" else self.latency_ms.p50

    def line(self) -> str:
        return self.model_dump_json(by_alias=True)


def read_cells(lines: Iterable[str]) -> list[Cell]:
    """Cells of a journal; an unfinished last line (the machine died while it was written) is left out.

    Raises ValueError for a broken line that is not the last one.
    """
    texts = [text for text in lines if text.strip()]
    cells: list[Cell] = []
    for number, text in enumerate(texts, 1):
        try:
            cells.append(Cell.model_validate_json(text))
        except ValueError:
            if number == len(texts):
                break
            raise ValueError(f"cells.jsonl, line {number}: not a record of schema {SCHEMA}") from None
    return cells


def to_json(value: Any) -> str:
    """Stable, readable JSON with a newline at its end."""
    return json.dumps(value, indent=1, ensure_ascii=False, sort_keys=False) + "\n"
