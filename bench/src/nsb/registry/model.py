"""The words of the registry and of a run's records, as frozen values. Pure: nothing here touches the machine."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self
from urllib.parse import parse_qs, urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, field_validator, model_validator

SCHEMA = 1
"""The version of run.json and starts.jsonl, and of the lines of cells.jsonl that hold judged cells."""

Model = Literal["open", "closed"]
Profile = Literal["1cpu", "ncpu"]
Status = Literal["valid", "censored", "invalid", "failed", "unsupported"]
Limit = Literal["offered", "cpu", "threads", "loop", "carriers", "pool", "database", "upstream", "generator"]
Headline = Literal["cpu", "throughput", "p50", "p99", "memory"]
Metric = Literal["cpu", "throughput", "capacity", "p50", "p90", "p99", "max", "duration", "memory", "memory_peak", "threads", "switches"]
"""What claims are about: the headlines, and more of a cell. Capacity: throughput, by the second generator where k6 or nobody was full.
Duration: of a load as a whole, from its first request to its last answer."""
P99_REQUESTS = 1000
"""Below these a cell has no p99: ten answers are the least tail."""
LATENCIES: frozenset[Metric] = frozenset({"p50", "p90", "p99"})
METRIC_UNITS: dict[Metric, str] = {
    "cpu": "CPU µs/request", "throughput": "requests/s", "capacity": "requests/s", "p50": "p50 ms", "p90": "p90 ms", "p99": "p99 ms",
    "max": "max ms", "duration": "s", "memory": "KiB/request", "memory_peak": "MiB", "threads": "threads",
    "switches": "switches/request",
}  # fmt: skip
Role = Literal["service", "generator", "database", "upstream"]

POOL_SIZE = 150
HEAP_MIB = 1024
"""Of every JVM (C66), where an article's own load asks for no other one."""
SERVER_THREADS = 200
ENDPOINTS = (
    "/healthz", "/readyz", "/runtime", "/stats", "/hello", "/sleep", "/sleep-query", "/slow-query", "/books", "/fanout",
    "/compute", "/block", "/events", "/ws",
)  # fmt: skip
"""What the contract asks a service to answer, by the first part of the path."""
EXTRAS = {"/pin": "C16", "/pinnings": "C17"}
"""What it leaves to a service whether to answer, and the rule: those that do say so (`extra` in contenders.toml)."""
NEEDED = ("/healthz", "/runtime", "/stats")
"""Without these nobody can be started, asked what it is, or drained."""
_ID = r"^[a-z0-9]+(-[a-z0-9]+)*$"


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


# --- the registry ---------------------------------------------------------------------------------------------------


class Tool(Frozen):
    """A program that the machine must have; found by the first candidate whose version is at least `least`, and of `most` at the most."""

    candidates: list[str] = Field(min_length=1)
    version_arguments: list[str]
    version_pattern: str
    least: str = Field(pattern=r"^\d+(\.\d+)*$")
    most: str | None = Field(default=None, pattern=r"^\d+(\.\d+)*$")
    """Compared by as many numbers as it has: 21 lets 21.0.8 pass."""
    install: str
    fetch: list[list[str]] = []
    """Commands that bring it to one of the candidates where none is found, so that a machine need not have it."""

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
    code: list[str] = []
    """Globs in its folder that name the sources of the running program, whose size is told beside the results; `!` leaves out again."""
    bare: list[str] | None = None
    """Starts a bare program of the same framework that answers /hello on $PORT (`just bare`); each contender's environment is passed on."""
    extra: list[str] = []
    """Endpoints that it has beside those that all have."""

    @field_validator("extra")
    @classmethod
    def _left_open(cls, value: list[str]) -> list[str]:
        unknown = [one for one in value if one not in EXTRAS]
        if unknown:
            raise ValueError(f"the contract leaves open {', '.join(EXTRAS)} alone, not {', '.join(unknown)}")
        return value


def tools_named(commands: Iterable[Sequence[str]]) -> list[str]:
    """Ids of the tools whose path the commands ask for by {tool.ID}, each once."""
    return list(dict.fromkeys(name for command in commands for part in command for name in re.findall(r"\{tool\.([\w-]+)\}", part)))


def endpoint(target: str) -> str:
    """`/books` of `/books/1?x=y`."""
    return "/" + target.removeprefix("/").partition("?")[0].partition("/")[0]


class Only(Frozen):
    """A service that is there for a part of the contract."""

    endpoints: list[str] = Field(min_length=1)
    why: str

    @field_validator("endpoints")
    @classmethod
    def _known(cls, value: list[str]) -> list[str]:
        unknown = [one for one in value if one not in ENDPOINTS]
        if unknown:
            raise ValueError(f"the contract has no {', '.join(unknown)}; it has {', '.join(ENDPOINTS)}")
        missing = [one for one in NEEDED if one not in value]
        if missing:
            raise ValueError(f"{', '.join(missing)} must be there: the harness needs them")
        return value


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
    call_threads: int | None = Field(default=None, gt=0)
    """Threads that it makes the calls of /fanout on, where these are their own and so many: a station like any other."""
    query_threads_per_worker: int | None = Field(default=None, gt=0)
    """The same of its statements, for each worker."""
    waits_on_loop: bool = False
    """Its event loop waits for each statement: one at a time for each worker."""
    worker_processes: bool = False
    """Each worker is a process of its own (C64): so they can be counted from outside."""
    default: bool = False
    check: bool = False
    """Part of the short run of `just test`."""
    unsupported: dict[str, str] = {}
    """Scenario id → why this contender cannot run it."""
    only: Only | None = None
    """The part of the contract that its service answers; all of it where there is none."""
    extra: list[str] = []
    """What its service answers beside that. Made by `load`, of its service."""
    differs: dict[str, str] = {}
    """Setting of the fairness manifest → why this contender has another value than the others, on purpose."""
    breaks: dict[str, str] = {}
    """Check of the contract ("C8 its title", as `just conform` prints it) → why this contender, by what it stands for, does not keep it."""
    heap_mib: int = Field(default=HEAP_MIB, gt=0)
    """What {heap} stands for in its run command."""
    memory_mib: int = Field(default=1024, gt=0)
    """What is set aside for it, or for each of its worker processes: generously above its measured peak, so that a run never swaps."""
    twinned: bool = False
    """Is started twice where it is in a run and no other twin is asked for."""
    plant: Plant | None = None
    twin_of: str | None = None
    """The same program with the same settings, started a second time: what differs between the two is noise. Made by `load`."""

    @property
    def tools(self) -> list[str]:
        """Ids of the tools that its run command names."""
        return tools_named([self.run])

    @property
    def copy_of(self) -> str | None:
        """Of a control: the contender that it is compared with."""
        return self.twin_of or (self.plant.of if self.plant else None)

    @property
    def endpoints(self) -> Sequence[str]:
        """What its service answers."""
        return (*(ENDPOINTS if self.only is None else self.only.endpoints), *self.extra)

    def is_asked(self, scenario: Scenario) -> bool:
        """Whether the scenario is for it, or for what it is a copy of."""
        return not scenario.contenders or (self.copy_of or self.id) in scenario.contenders

    def why_not(self, scenario: Scenario) -> str | None:
        """Why it cannot run a scenario; None where it can."""
        asked = [endpoint(path) for path in scenario.paths]
        lacks = next((one for one in asked if one in EXTRAS and one not in self.extra), None)
        if lacks is not None:
            return f"its service does not have {lacks}, which is left to it (CONTRACT.md, {EXTRAS[lacks]})"
        if self.only is not None and any(one not in self.endpoints for one in asked):
            return self.only.why
        return self.unsupported.get(scenario.id)

    def workers(self, granted: int) -> int:
        """How many it has where all are granted so many: its own environment goes first, as at its start."""
        return int(self.environment.get("WORKERS", granted))

    def query_threads(self, workers: int) -> int | None:
        """Threads that it makes its statements on, where these are their own."""
        return None if self.query_threads_per_worker is None else self.query_threads_per_worker * workers

    def nothing_of_its_own(self, granted: int) -> str | None:
        """Why it would stand for nothing with so many workers granted; None where it does."""
        if "workers" not in self.differs or self.workers(granted) != granted:
            return None
        return f"{granted} worker(s) are what all contenders have here: it stands for another number (profile ncpu, more cores)"

    def reserve_mib(self, granted: int) -> int:
        """Memory to set aside for it (MiB)."""
        return (self.memory_mib + self.heap_mib - HEAP_MIB) * (self.workers(granted) if self.worker_processes else 1)

    def with_heap(self, heap_mib: int | None) -> Contender:
        """The same with another heap, where it has one to be set."""
        return self.model_copy(update={"heap_mib": heap_mib}) if heap_mib is not None and self.has_heap else self

    @property
    def has_heap(self) -> bool:
        """Whether it is a JVM, whose heap its command sets."""
        return any("{heap}" in part for part in self.run)


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


class Scenario(Frozen):
    """A load: what is asked, and what must be answered. The types below say how often: one for each shape of load.

    A new shape is a class here with its own fields, a member of AnyScenario, and whatever it does otherwise than this class.
    """

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
    hold_ms: int = Field(default=0, ge=0)
    holds: Literal["pool", "loop"] | None = None
    calls: int = Field(default=1, gt=0)
    """How many holds at once one request is made of, where a contender has threads for them alone (call_threads)."""
    article: str | None = Field(default=None, pattern=r"^[A-Z]$")
    """Whose own load it is."""
    heap_mib: int | None = Field(default=None, gt=0)
    """Of every JVM under it, where the article says what it had."""
    contenders: list[str] = []
    """Whom it is asked of; everybody where it names none."""
    default: bool = True
    tiers: list[str] = ["smoke", "standard", "publish"]
    """In which it is a default scenario."""
    check: bool = False
    """Part of the short run of `just test`."""

    if TYPE_CHECKING:  # fields or properties of every shape

        @property
        def shape(self) -> str: ...

        @property
        def vus(self) -> int:
            """Virtual users of the generator."""
            ...

        @property
        def headline(self) -> Headline: ...

        @property
        def model(self) -> Model: ...

        def timing(self, tier: Tier) -> Timing:
            """The phases of one cell."""
            ...

    holding: ClassVar[bool] = False
    """Whether its levels are connections that are held beside the load."""
    paired: ClassVar[bool] = False
    """Whether a contender is measured together with the reference, on one core."""
    ends: ClassVar[bool] = False
    """Whether the load ends by itself and is measured as a whole, from its first request to its last answer."""

    @field_validator("body")
    @classmethod
    def _one_star(cls, value: str) -> str:
        if value.count("*") > 1:
            raise ValueError("may hold one * at the most")
        return value

    def rate_for(self, workers: int) -> int | None:
        """Arrivals per second for that many workers; None for a closed scenario."""
        return None

    @property
    def steps(self) -> Sequence[int]:
        """Users, or connections held, on each level of a scenario that has levels; none where it has not."""
        return ()

    @property
    def paths(self) -> list[str]:
        """All that a contender must answer to run it."""
        return [self.path]

    @property
    def clients(self) -> int:
        """Connections that it opens at the most."""
        return self.vus

    def within(self, nofile: int) -> Scenario:
        """The scenario as far as so many open files allow it."""
        return self

    @property
    def servers(self) -> int:
        """How many requests the smallest declared station serves at once: the pool, or 200 threads."""
        return min(POOL_SIZE if self.holds == "pool" else SERVER_THREADS, self.vus)

    def queue_s(self, contender: Contender, granted: int) -> float:
        """How long what was sent may wait in a contender whose workers each hold keeps to itself, if it may be one (s)."""
        return self.vus * self.hold_ms / 1000 / contender.workers(granted) if self.holds and contender.blocked_by else 0.0

    @property
    def is_plain(self) -> bool:
        """Whether it asks for the plain string and nothing else: what the server itself costs."""
        return endpoint(self.path) == "/hello"

    @property
    def upstream_calls(self) -> int:
        """Calls to the upstream that one request makes, by its path."""
        return int(parse_qs(urlsplit(self.path).query).get("calls", ["0"])[0])

    def load_s(self, contender: Contender) -> float:
        """What a load that ends takes beyond its least with that contender (s); 0 of other loads."""
        return 0.0

    @property
    def slowest_answer_s(self) -> float:
        """How long a request may take where the smallest declared station is the cap (s)."""
        return self.hold_ms / 1000

    def spends(self, contender: Contender) -> bool:
        """Whether the process is of no use to other cells after this one."""
        return False

    # --- what load.js is told ---

    @property
    def spread_ms(self) -> int:
        """Within which time the users start."""
        return 0

    def level_starts(self, timing: Timing) -> list[tuple[float, int]]:
        """When each level of users begins (s from the window's opening), and its users."""
        return []

    def steady_windows(self, timing: Timing) -> list[tuple[float, float]]:
        """Parts of the window in which nothing changes and requests are told apart (s from its opening)."""
        return []

    def reading_times(self, timing: Timing) -> list[tuple[float, int]]:
        """When memory is read: seconds from the window's opening, and the users or held connections then."""
        return []

    @property
    def reuses_connections(self) -> bool:
        """Whether a user keeps its connection for its next request."""
        return True

    @property
    def iterations(self) -> int | None:
        """How many requests are sent in all; None: as many as time allows."""
        return None

    def longest_s(self, answer_s: float) -> float | None:
        """How long a load that ends may take where no answer takes longer than that (s); None for other loads."""
        return None

    @property
    def heavy_requests(self) -> list[HeavyRequest]:
        """Requests of another kind among those that are measured."""
        return []


class Arrivals(Scenario):
    """Open: requests come at a rate, whatever the answers do."""

    rate: int | None = Field(default=None, gt=0)
    rate_per_worker: int | None = Field(default=None, gt=0)
    vus: int = Field(gt=0)

    @property
    def model(self) -> Model:
        return "open"

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
    article_window_s: float | None = Field(default=None, gt=0)
    """How long the article sent: the window of a scenario that repeats it."""

    def timing(self, tier: Tier) -> Timing:
        return self._timing(tier, self.article_window_s or tier.window_s)


class HeavyRequest(Frozen):
    """Requests of another kind among those that are measured: who waits for whom?"""

    path: str = Field(pattern=r"^/")
    warm_path: str
    body: str
    hold_ms: int = Field(default=0, ge=0)
    """How long it takes at the least; 0 where that is not set."""
    every: int = Field(ge=2)
    """Every Nth request is a heavy one."""


class HeavyMix(Arrivals):
    """Plain GETs at a rate, and every Nth request is a heavy one; the latencies are those of the light ones alone."""

    shape: Literal["mix"]
    method: Literal["GET"] = "GET"
    ids: Literal[0] = 0
    headline: Headline
    heavy: HeavyRequest

    @property
    def paths(self) -> list[str]:
        return [self.path, self.heavy.path]

    @property
    def is_plain(self) -> bool:
        return False

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

    @property
    def headline(self) -> Headline:
        return "memory"

    @property
    def steps(self) -> Sequence[int]:
        return self.levels

    @property
    def paths(self) -> list[str]:
        return [self.path, self.held]

    @property
    def clients(self) -> int:
        return self.vus + self.levels[-1]

    def within(self, nofile: int) -> Scenario:
        """Without the levels for which too few open files are allowed; as it is where less than two would be left: its cells say why it
        has no figure."""
        fitting = [level for level in self.levels if files_for(level) <= nofile]
        return self.model_copy(update={"levels": fitting}) if len(fitting) > 1 else self

    def spends(self, contender: Contender) -> bool:
        """Connections that were held may be there yet though their clients have left."""
        return True

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

    @property
    def model(self) -> Model:
        return "closed"

    @property
    def slowest_answer_s(self) -> float:
        """N·hold/servers: how long a user waits where the smallest station is the cap (s)."""
        return self.vus * self.hold_ms / 1000 / self.servers


class ClosedUsers(_Closed):
    """So many users all the time; their throughput is a capacity."""

    shape: Literal["users"]
    vus: int = Field(gt=0)
    headline: Headline

    @property
    def spread_ms(self) -> int:
        """Over one hold."""
        return self.hold_ms

    def timing(self, tier: Tier) -> Timing:
        """Completions come in bursts of one hold: halves are whole holds."""
        hold, window = self.hold_ms / 1000, tier.window_s
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

    @property
    def vus(self) -> int:
        return self.levels[-1]

    @property
    def headline(self) -> Headline:
        return "memory"

    @property
    def steps(self) -> Sequence[int]:
        return self.levels

    @property
    def spread_ms(self) -> int:
        """A part of a hold."""
        return round(self.hold_ms * LEVEL_SPREAD)

    def spends(self, contender: Contender) -> bool:
        """A JVM on a ladder was told to keep no more heap than what lives in it."""
        return contender.has_heap

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


class FullCore(_Closed):
    """What a request costs on a core that never idles: a contender and the reference at once, each with users enough to fill its share."""

    shape: Literal["cost"]
    vus: int = Field(gt=0)
    """Connections of each of the two generators, one request at a time on each."""
    competitors: int = Field(ge=0)
    """Programs that compute beside the two on each core, so that a service that waits for the database never leaves it idle."""
    paired: ClassVar[bool] = True

    @property
    def headline(self) -> Headline:
        return "cpu"

    def timing(self, tier: Tier) -> Timing:
        """No k6, so no boot of k6."""
        return Timing(boot_s=COST_BOOT_S, spread_s=0.0, settle_s=tier.cost_settle_s, window_s=tier.cost_window_s, drain_s=0.0)


AnyScenario = Annotated[
    OpenRate | ClosedUsers | MemoryLadder | HeldConnections | FixedWork | HeavyMix | FullCore, Field(discriminator="shape")
]
SHAPES = ("rate", "users", "ladder", "held", "fixed-work", "mix", "cost")
_ANY: TypeAdapter[Scenario] = TypeAdapter(AnyScenario)


def scenario_of(value: object) -> Scenario:
    """An entry of scenarios.toml as the type that its key `shape` names. Raises ValidationError."""
    return _ANY.validate_python(value)


SPARE_FILES = 500
"""What a service has open besides the connections that it holds: its pool, its upstream, its jars."""


def files_for(connections: int) -> int:
    """Open files that a service needs to hold so many connections."""
    return connections + SPARE_FILES


class Tier(Frozen):
    why: str
    by_claims: bool = False
    """By default it runs what the claims of the articles name, each scenario with those contenders alone, and the articles' own loads."""
    one_at_a_time: bool = False
    """Contender by contender, whatever memory there is."""
    rounds: int = Field(gt=0)
    warm_cap_s: float = Field(gt=0)
    """All endpoints at once, before the first cell of every start: until answers come no faster, and at most so long (s)."""
    settle_s: float = Field(ge=0)
    window_s: float = Field(gt=0)
    cost_settle_s: float = Field(default=0.5, gt=0)
    """Of a cost cell: from the generators' start to the window (s)."""
    cost_window_s: float = Field(default=3.0, gt=0)
    """Of a cost cell (s)."""
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
        """Those with the whole contract, of contenders that have a column; a control's program is not one to learn from."""
        proper = {c.service for c in self.contenders.values() if c.copy_of is None and c.only is None}
        return {name: service for name, service in self.services.items() if name in proper}


# --- times of a cell ------------------------------------------------------------------------------------------------


BOOT_S, BOOT_PER_VU_S = 0.9, 0.0008
"""k6 needs about 0.7 s before its first request, and more where all its users must be there for it (s)."""


class Timing(Frozen):
    """The phases of one cell, in seconds from the start of k6."""

    boot_s: float = BOOT_S
    """Before k6's first request."""
    spread_s: float
    settle_s: float
    window_s: float
    drain_s: float
    """What the last answers are expected to take."""
    level_s: float = 0.0
    """How long a ladder stands on each level; 0 where there is none."""
    ends: bool = False
    """The window is the load itself: `window_s` is what it takes at the least, and it ends when the last answer has come."""

    @property
    def total_s(self) -> float:
        return self.boot_s + self.spread_s + self.settle_s + self.window_s + self.drain_s + OVERHEAD_S


COST_BOOT_S = 0.3
"""Of a cost cell: two looks of the witness, and the start of the generators (s)."""
OVERHEAD_S = 0.5
"""Reset, read-outs and the record around one cell (s)."""
LEVEL_SPREAD = 0.5
"""The users of a level start within this share of a hold."""
READ_AT = 0.9
"""Where in each hold of a level memory is read: all its users have started, and those of the next have not."""
HELD_LEVEL_S = 10.0
"""How long so many held connections stand, the time in which they are opened included."""
HELD_READ_AT = (0.7, 0.95)
"""When in it memory is read: after the last has been opened, and once more."""
HELD_STEADY = (0.5, 0.68)
"""Shares of it within which nothing changes: all its connections are open, and memory is not read yet, nor a JVM collected for it."""


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


class Reading(Frozen):
    """Memory at one moment of a ladder: users that were asked for, requests in flight by the service, PSS (MiB)."""

    users: int
    in_flight: int | None
    """None where /stats did not answer in time."""
    pss_mib: float
    at_s: float | None = None
    """When, from the window's opening (s)."""
    collected_s: float | None = None
    """What the full collection right before it took, of a JVM; None: there was none."""
    sockets_mib: float | None = None
    """What the kernel's TCP buffers hold, of all connections of the machine (MiB)."""
    slab_mib: float | None = None
    """What the kernel keeps its objects in, sockets and their files among them, of the whole machine (MiB)."""
    cpu_s: float | None = None
    """CPU that the service has used since the window opened (s)."""

    @property
    def kernel_mib(self) -> float | None:
        """What the kernel holds; of interest is how it grows."""
        return None if self.sockets_mib is None or self.slab_mib is None else self.sockets_mib + self.slab_mib


class Slope(Frozen):
    """KiB per request in flight over a ladder, its connection included: by all readings, by the first and by the last of each level."""

    kib: float
    first_kib: float
    last_kib: float


class SecondFigure(Frozen):
    """A closed cell in which k6 or nobody was full, driven once more by the second generator (runs until November 2026)."""

    tool: str
    """The generator's name and version."""
    status: Status
    """unsupported: there is no such generator here; the reason says why."""
    limit: Limit | None = None
    reasons: list[str] = []
    doubts: list[str] = []
    window_s: float = 0.0
    requests: int = 0
    throughput_rps: float | None = None
    cpu_us_per_request: dict[Role, float | None] = {}
    cpu_s: dict[str, float] = {}
    halves: list[Half] = []
    checks: list[Check] = []
    raw: str | None = None
    """The generator's own report, relative to the run's folder."""


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
    """Own ÷ partner, window by window."""
    halves: float
    """The second half of the window ÷ the first: of the ratio, or of the cost where there is no partner."""
    windows: int
    speed: float | None
    """Steps of the witness over memory, per µs: the mean of before and after; None: it did not look."""


class Cell(Frozen):
    """One contender under one scenario in one round, judged. Runs until November 2026 have it as a line of cells.jsonl (schema 1)."""

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
    second: SecondFigure | None = None
    """The same load by a cheaper generator, where k6 or nobody was full."""
    cost: CostFigure | None = None
    """Of a cost cell."""
    ladder: list[Reading] = []
    memory_slope: Slope | None = None
    whole: bool = False
    """Whether its load was measured as a whole, the drain included."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, populate_by_name=True)

    @property
    def counts(self) -> bool:
        """Whether the cell enters statistics: a valid one as a value, a censored one as a bound."""
        return self.status in ("valid", "censored")

    @property
    def by_second(self) -> SecondFigure | None:
        """What the second generator came to, counting or not; None where it did not measure, or is not here."""
        return None if self.second is None or self.second.status == "unsupported" else self.second

    def headline(self, which: Headline) -> float | None:
        """The figure the table shows: µs, requests/s, ms or KiB. Memory that did not grow is none: growth.over_rounds judges its slope."""
        if which == "cpu":
            return self.cpu_us_per_request.get("service")
        if which == "memory":
            return self.memory_slope.kib if self.memory_slope is not None and self.memory_slope.kib > 0 else None
        if which == "p99":
            return self.metric(which)
        return self.throughput_rps if which == "throughput" else self.latency_ms.p50

    def metric(self, which: Metric) -> float | None:
        """The same for every figure a claim may be about; capacity where k6 or nobody was full is the second generator's, if it counts."""
        if which == "capacity":
            if self.by_second is not None:
                return self.by_second.throughput_rps if self.by_second.status == "valid" else None
            return None if self.limit == "generator" else self.throughput_rps
        if which == "memory_peak":
            return self.memory_peak_mib
        if which == "duration":
            return self.window_s if self.whole else None
        if which == "max":
            return self.latency_ms.max
        if which == "threads":
            return self.threads_peak
        if which == "switches":
            return self.switches_per_request
        if which == "p90" or which == "p99":  # a late generator's tail is no figure of the service (V3)
            late = any(doubt.startswith("V3 ") for doubt in self.doubts)
            return None if late else self.latency_ms.p90 if which == "p90" else self.latency_ms.p99
        return self.headline(which)

    def line(self) -> str:
        return self.model_dump_json(by_alias=True)

    def slim(self) -> Cell:
        """Without the checks, which the journal keeps and no table needs."""
        second = self.second and self.second.model_copy(update={"checks": []})
        return Cell.model_construct(_NOT_TOLD, **{**vars(self), "checks": [], "second": second})


def refuse_schema(where: str, schema: object, known: Sequence[int] = (SCHEMA,)) -> None:
    """Raises ValueError for records of a version that this program does not know."""
    if schema in known:
        return
    newer = isinstance(schema, int) and schema > max(known)
    remedy = "read it with a newer version of this program" if newer else "read it with the version at the commit that run.json names"
    reads = " and ".join(str(each) for each in known)
    raise ValueError(f"{where} is of schema {schema}, this program reads {reads}: {remedy}")


def to_json(value: Any) -> str:
    """Stable, readable JSON with a newline at its end."""
    return json.dumps(value, indent=1, ensure_ascii=False, sort_keys=False) + "\n"
