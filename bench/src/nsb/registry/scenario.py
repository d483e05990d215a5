"""A scenario, whatever the shape of its load: what is asked, and what must be answered. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal
from urllib.parse import parse_qs, urlsplit

from pydantic import Field, field_validator

from nsb.registry.contenders import Contender
from nsb.registry.contract import POOL_SIZE, SERVER_THREADS, endpoint
from nsb.registry.terms import ID, Frozen, Headline, Model
from nsb.registry.timing import Tier, Timing


class HeavyRequest(Frozen):
    """Requests of another kind among those that are measured: who waits for whom?"""

    path: str = Field(pattern=r"^/")
    warm_path: str
    body: str
    hold_ms: int = Field(default=0, ge=0)
    """How long it takes at the least; 0 where that is not set."""
    every: int = Field(ge=2)
    """Every Nth request is a heavy one."""


class Scenario(Frozen):
    """A load: what is asked, and what must be answered. The types in shapes.py say how often: one for each shape of load.

    A new shape is a class there with its own fields, a member of AnyScenario, and whatever it does otherwise than this class.
    """

    id: str = Field(pattern=ID)
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
    one_generator: ClassVar[str] = "bench/generator drives it, at an eighth of k6's CPU for a request"
    """Why several generators cannot divide its load; nothing where they can."""
    each_round: ClassVar[bool] = False
    """Whether it is measured in each round of a start; others are measured once a start."""
    spends: ClassVar[bool] = False
    """Whether the process is of no use to other cells after this one."""
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

    def undivided(self, generators: int, solo: bool = False) -> str | None:
        """Why so many generators cannot divide its load; None where they can. `solo`: as of Plan."""
        return self.one_generator or self.too_few(generators)

    def too_few(self, generators: int) -> str | None:
        """Why so many generators have not one user each; None where they have."""
        return f"it has {self.vus} user{'s' * (self.vus > 1)}" if self.vus < generators else None

    @property
    def steps(self) -> Sequence[int]:
        """Users, or connections held, on each level of a scenario that has levels; none where it has not."""
        return ()

    @property
    def held_at_most(self) -> int:
        """Connections that bench/upstream/holder opens and holds; 0: none."""
        return 0

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
    def upstream_calls(self) -> int:
        """Calls to the upstream that one request makes, by its path."""
        return self._asked("calls")

    @property
    def compute_rounds(self) -> int:
        """Rounds of the contract's loop that one request computes, by its path."""
        return self._asked("rounds")

    def _asked(self, parameter: str) -> int:
        return int(parse_qs(urlsplit(self.path).query).get(parameter, ["0"])[0])

    def load_s(self, contender: Contender) -> float:
        """What a load that ends takes beyond its least with that contender (s); 0 of other loads."""
        return 0.0

    @property
    def slowest_answer_s(self) -> float:
        """How long a request may take where the smallest declared station is the cap (s)."""
        return self.hold_ms / 1000

    @property
    def breakdown_s(self) -> float | None:
        """What a cell takes beyond its timing where the service does not live through it (s); None where it is expected to."""
        return None

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
    def blocks(self) -> tuple[float, int]:
        """How long a request blocks the thread of its handler (C13; s), and of how many requests one does; (0, 1) where none does."""
        asked = [(heavy.path, heavy.hold_ms, heavy.every) for heavy in self.heavy_requests] or [(self.path, self.hold_ms, 1)]
        return next(
            ((hold_ms / 1000, every) for path, hold_ms, every in asked if endpoint(path) == "/block" and "offload=false" in path), (0.0, 1)
        )

    @property
    def heavy_requests(self) -> list[HeavyRequest]:
        """Requests of another kind among those that are measured."""
        return []
