"""The shapes of load: one type of scenario for each, and what it does otherwise than the others. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, TypeAdapter, model_validator

from nsb.registry.contenders import Contender
from nsb.registry.contract import POOL_SIZE, SERVER_THREADS
from nsb.registry.scenario import HeavyRequest, Scenario
from nsb.registry.terms import OVERLOAD_PERCENT, Fault, Headline, Model
from nsb.registry.timing import (
    BOOT_PER_VU_S,
    BOOT_S,
    COST_AROUND_REHEARSAL_S,
    COST_AROUND_S,
    EXHAUSTION_LEAD_S,
    FAULT_AFTER_S,
    FAULT_LEAD_S,
    HELD_LEVEL_S,
    HELD_READ_AT,
    HELD_STEADY,
    LEVEL_SPREAD,
    OVERLOAD_BETWEEN_S,
    OVERLOAD_BOOT_S,
    OVERLOAD_IDLE_S,
    OVERLOAD_LEAD_S,
    OVERLOAD_SETTLE_S,
    READ_AT,
    RECOVERY_FROM_PERCENT,
    RECOVERY_LIMIT_S,
    Tier,
    Timing,
)

SPARE_FILES = 500
"""What a service has open besides the connections that it holds: its pool, its upstream, its jars."""


def files_for(connections: int) -> int:
    """Open files that a service needs to hold so many connections."""
    return connections + SPARE_FILES


def _rising(value: list[int]) -> list[int]:
    if value != sorted(set(value)):
        raise ValueError("levels must rise")
    return value


def _from_one(value: list[int]) -> list[int]:
    if value[0] == 0:
        raise ValueError("levels of users rise from 1 at the least")
    return value


Levels = Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=2), AfterValidator(_rising)]
"""How many there are on each level, from the lowest on."""


class Arrivals(Scenario):
    """Open: requests come at a rate, whatever the answers do."""

    rate: int | None = Field(default=None, gt=0)
    rate_per_worker: int | None = Field(default=None, gt=0)
    vus: int = Field(gt=0)
    model: ClassVar[Model] = "open"

    @model_validator(mode="after")
    def _one_rate(self) -> Self:
        if (self.rate is None) == (self.rate_per_worker is None):
            raise ValueError("exactly one of rate and rate_per_worker is needed")
        return self

    def rate_for(self, workers: int) -> int | None:
        return self.rate if self.rate_per_worker is None else self.rate_per_worker * workers

    def timing(self, tier: Tier) -> Timing:
        return self._timing(tier, tier.window_s)

    def _timing(self, tier: Tier, window_s: float) -> Timing:
        """A settle of N/X, a window of at least as many holds as the tier says."""
        hold = self.hold_ms / 1000
        window = max(window_s, math.ceil(tier.window_holds / 2) * 2 * hold)
        settle = max(tier.settle_s, 1.2 * hold)
        return Timing(spread_s=0.0, settle_s=settle, window_s=round(window, 3), drain_s=self.slowest_answer_s)


class OpenRate(Arrivals):
    """Arrivals at one rate."""

    shape: Literal["rate"]
    headline: Headline
    one_generator: ClassVar[str] = ""
    article_window_s: float | None = Field(default=None, gt=0)
    """How long the article sent: the window of a scenario that repeats it."""

    def timing(self, tier: Tier) -> Timing:
        return self._timing(tier, self.article_window_s or tier.window_s)


class HeavyMix(Arrivals):
    """Plain GETs at a rate, and every Nth request is a heavy one; the latencies are those of the light ones alone."""

    shape: Literal["mix"]
    method: Literal["GET"] = "GET"
    ids: Literal[0] = 0
    headline: Headline
    heavy: HeavyRequest
    one_generator: ClassVar[str] = "its heavy requests might all come from the same one"

    @property
    def paths(self) -> list[str]:
        return [self.path, self.heavy.path]

    @property
    def heavy_requests(self) -> list[HeavyRequest]:
        return [self.heavy]


class HeldConnections(Arrivals):
    """Connections that stay open on rising levels beside a rate, with the memory read on each level."""

    shape: Literal["held"]
    levels: Levels
    held: str = Field(pattern=r"^/")
    """What is asked on the connections: a path whose answer does not end."""
    holding: ClassVar[bool] = True
    spends: ClassVar[bool] = True
    """Connections that were held may be there yet though their clients have left."""
    one_generator: ClassVar[str] = "its question is memory, and its rate is low"
    headline: ClassVar[Headline] = "memory"

    @property
    def steps(self) -> Sequence[int]:
        return self.levels

    @property
    def held_at_most(self) -> int:
        return self.levels[-1]

    @property
    def paths(self) -> list[str]:
        return [self.path, self.held]

    @property
    def clients(self) -> int:
        return self.vus + self.held_at_most

    def within(self, nofile: int) -> Scenario:
        """Without the levels for which too few open files are allowed; as it is where less than two would be left: its cells say why it
        has no figure."""
        fitting = [level for level in self.levels if files_for(level) <= nofile]
        return self.model_copy(update={"levels": fitting}) if len(fitting) > 1 else self

    def timing(self, tier: Tier) -> Timing:
        window = len(self.levels) * HELD_LEVEL_S
        return Timing(spread_s=0.0, settle_s=tier.settle_s, window_s=window, drain_s=self.slowest_answer_s, level_s=HELD_LEVEL_S)

    def steady_windows(self, timing: Timing) -> list[tuple[float, float]]:
        first, last = HELD_STEADY
        return [((number + first) * timing.level_s, (number + last) * timing.level_s) for number in range(len(self.levels))]

    def reading_times(self, timing: Timing) -> list[tuple[float, int]]:
        return [((number + at) * timing.level_s, held) for number, held in enumerate(self.levels) for at in HELD_READ_AT]


class _Closed(Scenario):
    """Each user sends the next request when the last is answered."""

    model: ClassVar[Model] = "closed"

    @property
    def slowest_answer_s(self) -> float:
        """N·hold/servers: how long a user waits where the smallest station is the cap (s)."""
        return self.vus * self.hold_ms / 1000 / self.servers


class ClosedUsers(_Closed):
    """So many users all the time; their throughput is a capacity."""

    shape: Literal["users"]
    vus: int = Field(gt=0)
    headline: Headline
    turn_s: float = Field(default=0, ge=0)
    """How long the last of the users waits where they all queue for a core (s)."""
    one_generator: ClassVar[str] = ""

    @property
    def spread_ms(self) -> int:
        """Over one hold."""
        return self.hold_ms

    @property
    def slowest_answer_s(self) -> float:
        return max(super().slowest_answer_s, self.turn_s)

    def timing(self, tier: Tier) -> Timing:
        """Completions come in bursts of one hold: halves are whole holds. Each half sees the whole queue."""
        hold, window = self.hold_ms / 1000, max(tier.window_s, 2 * self.turn_s)
        if hold > 0:
            window = max(window, math.ceil(tier.window_holds / 2) * 2 * hold)
            window = math.ceil(round(window / (2 * hold), 6)) * 2 * hold
        settle = max(tier.settle_s, self.slowest_answer_s)
        return Timing(spread_s=hold, settle_s=settle, window_s=round(window, 3), drain_s=self.slowest_answer_s)


class MemoryLadder(_Closed):
    """Users in flight, level by level, with the memory read on each level."""

    shape: Literal["ladder"]
    levels: Annotated[Levels, AfterValidator(_from_one)]
    hold_ms: int = Field(gt=0)
    headline: ClassVar[Headline] = "memory"
    spends: ClassVar[bool] = True
    """It was warmed for the ladder alone, and a JVM was told to keep no more heap than what lives in it."""
    one_generator: ClassVar[str] = "its question is memory, and its levels are small"

    @property
    def vus(self) -> int:
        return self.levels[-1]

    @property
    def steps(self) -> Sequence[int]:
        return self.levels

    @property
    def spread_ms(self) -> int:
        """A part of a hold."""
        return round(self.hold_ms * LEVEL_SPREAD)

    def timing(self, tier: Tier) -> Timing:
        """Nothing settles: the first level begins with the window."""
        level = max(2, tier.window_holds // 2) * self.hold_ms / 1000
        window = round(len(self.levels) * level, 3)
        return Timing(spread_s=0.0, settle_s=0.0, window_s=window, drain_s=self.slowest_answer_s, level_s=level)

    def level_starts(self, timing: Timing) -> list[tuple[float, int]]:
        return [(number * timing.level_s, users) for number, users in enumerate(self.levels)]

    def reading_times(self, timing: Timing) -> list[tuple[float, int]]:
        """Once in each hold of each level."""
        hold = self.hold_ms / 1000
        turns = range(round(timing.level_s / hold))
        return [(number * timing.level_s + (turn + READ_AT) * hold, users) for number, users in enumerate(self.levels) for turn in turns]


class FixedWork(_Closed):
    """A load as an article's generator made it: all users begin at once, and its figures count the drain (docs/claims.md)."""

    shape: Literal["fixed-work"]
    vus: int = Field(gt=0)
    headline: Headline
    send_s: float | None = Field(default=None, gt=0)
    """For so long the users send; then what is under way is waited for."""
    requests: int | None = Field(default=None, gt=0)
    """Or so many requests in all."""
    keep_alive: bool = True
    """False: a connection for each request, as `ab` makes them by itself."""
    ends: ClassVar[bool] = True
    one_generator: ClassVar[str] = "it repeats an article's load, which one generator sent"

    @model_validator(mode="after")
    def _one_end(self) -> Self:
        if (self.send_s is None) == (self.requests is None):
            raise ValueError("a load ends by exactly one of send_s and requests")
        if self.requests is not None and self.hold_ms == 0:
            raise ValueError("so many requests need a hold: without one nobody knows how long they take at the least")
        return self

    @property
    def iterations(self) -> int | None:
        return self.requests

    @property
    def reuses_connections(self) -> bool:
        return self.keep_alive

    @property
    def end(self) -> dict[str, float | int | bool]:
        """How it ends, as run.json tells it."""
        by: dict[str, float | int | bool] = {"send_s": self.send_s} if self.send_s is not None else {"requests": self.requests or 0}
        return {**by, "keep_alive": self.keep_alive}

    def longest_s(self, answer_s: float) -> float | None:
        if self.requests is None:
            return (self.send_s or 0.0) + answer_s
        return self.requests / self.vus * answer_s

    def load_s(self, contender: Contender) -> float:
        """Its drain included, where the declared stations cap it. Server threads cap whoever has nothing else that a blocking call
        occupies, and threads for calls whoever has them."""
        if self.hold_ms == 0:
            return 0.0
        stations = [self.vus, *([POOL_SIZE] if self.holds == "pool" else []), *([SERVER_THREADS] if contender.blocked_by is None else [])]
        stations += [max(1, contender.call_threads // self.calls)] if contender.call_threads is not None else []
        hold = self.hold_ms / 1000
        return (self.requests / min(stations) - 1) * hold if self.requests is not None else self.vus / min(stations) * hold

    def timing(self, tier: Tier) -> Timing:
        """The window is the load itself: what it takes at the least (load_s says what it takes beyond)."""
        boot = BOOT_S + BOOT_PER_VU_S * self.vus
        window = round(self.send_s or self.hold_ms / 1000, 3)
        return Timing(boot_s=boot, spread_s=0.0, settle_s=0.0, window_s=window, drain_s=0.0, ends=True)


class CostRow(_Closed):
    """What a request costs on a core that never idles: a contender and the reference at once, each with users enough to fill its share."""

    vus: int = Field(gt=0)
    """Connections of each of the two services, one request at a time on each."""
    competitors: int = Field(ge=0)
    """Programs that compute beside the two on each core, so that a service that waits for the database never leaves it idle."""
    paired: ClassVar[bool] = True
    each_round: ClassVar[bool] = True
    headline: ClassVar[Headline] = "cpu"

    def undivided(self, generators: int, solo: bool = False) -> str | None:
        """In a duet each service has one generator, which takes no more CPU than it must."""
        return self.too_few(generators) if solo else self.one_generator

    if TYPE_CHECKING:  # of both kinds of cost rows

        @property
        def mixed(self) -> Sequence[tuple[FullCore, int]]:
            """The kinds of requests, and how often each of them comes."""
            ...

    def timing(self, tier: Tier) -> Timing:
        """No k6, so no boot of k6."""
        around_s = COST_AROUND_S if tier.rounds > 1 else COST_AROUND_REHEARSAL_S
        return Timing(boot_s=around_s, spread_s=0.0, settle_s=tier.cost_settle_s, window_s=tier.cost_window_s, drain_s=0.0)


class FullCore(CostRow):
    """All requests are of one kind."""

    shape: Literal["cost"]

    @property
    def mixed(self) -> Sequence[tuple[FullCore, int]]:
        return [(self, 1)]


class OfRows(Scenario):
    """Requests of several cost rows."""

    path: Literal["/"] = "/"
    body: Literal[""] = ""
    parts: dict[str, Annotated[int, Field(gt=0)]] = Field(min_length=1)
    """Cost row → how often its request comes."""
    rows: tuple[FullCore, ...] = ()
    """The cost rows themselves: the registry puts them here."""

    @property
    def mixed(self) -> Sequence[tuple[FullCore, int]]:
        return [(row, self.parts[row.id]) for row in self.rows]

    @property
    def paths(self) -> list[str]:
        return [path for row in self.rows for path in row.paths]


class Mixture(OfRows, CostRow):
    """What the cost model is held against, since no fit uses it."""

    shape: Literal["mixture"]


class Overload(OfRows, _Closed):
    """More than a contender can do: its capacity by closed users, then users who come at shares of it, whatever the answers do, and who
    leave after a while."""

    shape: Literal["overload"]
    vus: int = Field(gt=0)
    """Users of the closed load."""
    connections: int = Field(gt=0)
    """The most that may be open under an open load."""
    levels: Levels
    """Users who come, in percent of the capacity."""
    give_up_ms: int = Field(gt=0)
    """How long a user waits."""
    each_round: ClassVar[bool] = True
    headline: ClassVar[Headline] = "goodput"

    @model_validator(mode="after")
    def _has_headline(self) -> Self:
        if OVERLOAD_PERCENT not in self.levels:
            raise ValueError(f"one of the levels must be {OVERLOAD_PERCENT}, the headline's")
        return self

    @property
    def clients(self) -> int:
        return max(self.vus, self.connections)

    def within(self, nofile: int) -> Scenario:
        """With fewer connections where so many files are not allowed."""
        return self.model_copy(update={"connections": max(1, min(self.connections, nofile - SPARE_FILES))})

    def timing(self, tier: Tier) -> Timing:
        lead, tail = self._around()
        level = lead + tier.window_s + tail
        settle = OVERLOAD_SETTLE_S + tier.window_s + OVERLOAD_IDLE_S
        between = len(self.levels) * OVERLOAD_BETWEEN_S
        window = round(len(self.levels) * level, 3)
        return Timing(boot_s=OVERLOAD_BOOT_S, spread_s=0.0, settle_s=settle, window_s=window, drain_s=between, level_s=round(level, 3))

    @property
    def breakdown_s(self) -> float | None:
        return sum(level >= RECOVERY_FROM_PERCENT for level in self.levels) * RECOVERY_LIMIT_S

    def phases(self, timing: Timing) -> tuple[float, float, float]:
        """Of each level: before its window, the window, and after it (s)."""
        lead, tail = self._around()
        return lead, round(timing.level_s - lead - tail, 3), tail

    def _around(self) -> tuple[float, float]:
        """Who is counted comes after users who have waited for as long as they do, and leaves before the load ends (s)."""
        give_up = self.give_up_ms / 1000
        return OVERLOAD_LEAD_S + give_up, give_up


class Failing(OfRows, Scenario):
    """What users get while something fails that the first part needs and the second does not. Both come at the same rate, whatever the
    answers do, and leave after a while."""

    shape: Literal["failure"]
    parts: dict[str, Annotated[int, Field(gt=0)]] = Field(min_length=2, max_length=2)
    fault: Fault
    rate: float = Field(gt=0)
    """Users per second, of each part."""
    connections: int = Field(gt=0)
    """The most that may be open for each part."""
    give_up_ms: int = Field(gt=0)
    """How long a user waits."""
    fault_s: float = Field(gt=0)
    headline: ClassVar[Headline] = "served"
    model: ClassVar[Model] = "open"

    @property
    def vus(self) -> int:
        return self.connections

    @property
    def clients(self) -> int:
        return 2 * self.connections

    def timing(self, tier: Tier) -> Timing:
        lead = OVERLOAD_IDLE_S + FAULT_LEAD_S
        return Timing(boot_s=OVERLOAD_BOOT_S, spread_s=0.0, settle_s=lead, window_s=self.fault_s, drain_s=FAULT_AFTER_S)


class Exhaustion(Scenario):
    """Silent connections, more and more of them, until the heap of a JVM ends."""

    shape: Literal["exhaustion"]
    held: str = Field(pattern=r"^/")
    """What is asked on the connections: a path whose answer does not end."""
    rate: int = Field(gt=0)
    """Connections opened per second."""
    most: int = Field(gt=0)
    """So many at the most."""
    held_before: dict[str, int] = Field(min_length=1)
    """Contender → how many it held in a run before: this announces its time, and nothing else."""
    spends: ClassVar[bool] = True
    headline: ClassVar[Headline] = "connections"
    model: ClassVar[Model] = "open"
    vus: ClassVar[int] = 1
    """None of k6's is there; the holder is one program."""

    @property
    def held_at_most(self) -> int:
        return self.most

    @property
    def clients(self) -> int:
        return self.most

    @property
    def paths(self) -> list[str]:
        return [self.path, self.held]

    def within(self, nofile: int) -> Scenario:
        """With fewer connections where so many files are not allowed."""
        return self.model_copy(update={"most": max(1, min(self.most, nofile - SPARE_FILES))})

    def timing(self, tier: Tier) -> Timing:
        return Timing(boot_s=0.0, spread_s=0.0, settle_s=EXHAUSTION_LEAD_S, window_s=self._least_s, drain_s=0.0)

    def load_s(self, contender: Contender) -> float:
        held = self.held_before.get(contender.copy_of or contender.id, self.most)
        return held / self.rate - self._least_s

    @property
    def _least_s(self) -> float:
        return min(self.held_before.values()) / self.rate


def cost_rows(scenarios: Iterable[Scenario]) -> list[FullCore]:
    """The cost rows among these scenarios and those that others are made of, each once."""
    found = {row.id: row for each in scenarios if isinstance(each, CostRow | Overload | Failing) for row, _ in each.mixed}
    return list(found.values())


AnyScenario = Annotated[
    OpenRate | ClosedUsers | MemoryLadder | HeldConnections | FixedWork | HeavyMix | FullCore | Mixture | Overload | Failing | Exhaustion,
    Field(discriminator="shape"),
]
SHAPES = ("rate", "users", "ladder", "held", "fixed-work", "mix", "cost", "mixture", "overload", "failure", "exhaustion")
_ANY: TypeAdapter[Scenario] = TypeAdapter(AnyScenario)


def scenario_of(value: object) -> Scenario:
    """An entry of scenarios.toml as the type that its key `shape` names. Raises ValidationError."""
    return _ANY.validate_python(value)
