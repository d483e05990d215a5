"""The lines of cells.jsonl: what was observed of each cell, and nothing that a rule makes of it. Pure.

analyse/cells.py judges a record when it is read, so a better rule judges an old run again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from pydantic import ConfigDict, Field, model_validator

from nsb.records.divided import Divided
from nsb.records.duet import Duet
from nsb.records.edge import Edge
from nsb.records.effects import Effects
from nsb.records.exhausted import Exhausted
from nsb.records.failing import Failing
from nsb.records.held import Held
from nsb.records.overload import Overload
from nsb.records.owners import Owned
from nsb.records.summary import Load
from nsb.registry.terms import Frozen, Model, Profile

CELLS_SCHEMA = 2
"""The version of a line of cells.jsonl. Schema 1 was the judged cell (judged.py)."""


@dataclass(frozen=True)
class Stats:
    """One read-out of the service's /stats."""

    requests_total: int
    busy_seconds_total: float
    in_flight: int


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


@dataclass(frozen=True)
class Window:
    """What was read while one window was open."""

    first: Edge
    middle: Edge
    last: Edge
    before: Stats | None
    after: Stats | None
    footprints: tuple[tuple[float, int], ...]
    """Memory (PSS, MiB) and threads of the service at the three edges."""
    connections: int
    """Of the contender to the database, in mid-window."""
    executed: int | None
    """Statements that the database executed; None where the scenario declares none."""
    peak_mib: float
    """The service's highest memory (PSS)."""
    clients: int | None = None
    """Established connections to the service's port in mid-window."""
    ladder: tuple[Reading, ...] = ()
    uncollected: str | None = None
    later: tuple[Edge, ...] = ()
    """Of a load that ends: read between `middle` and `last`; not part of a record."""
    switched: int | None = None
    """Context switches of the service's threads."""

    def until(self, at_s: float) -> Window:
        """The same with the first edge from then on (epoch s) as its last one."""
        return replace(self, last=next((edge for edge in self.later if edge.at_s >= at_s), self.last), later=())

    def tcp(self) -> dict[str, int] | None:
        """What the network namespace counted between the edges."""
        first, last = self.first.tcp, self.last.tcp
        return None if first is None or last is None else {name: last[name] - first[name] for name in first}

    def used(self, window_s: float | None) -> dict[str, float]:
        """CPU by role in the window (s): what was used between the edges, scaled from the time between them, which is milliseconds off.

        None: as it is, of a load as a whole, which has no CPU to be used outside of it.
        """
        scale = 1.0 if window_s is None else window_s / (self.last.at_s - self.first.at_s)
        used = {role: (self.last.cpu[role] - self.first.cpu[role]) * scale for role in self.first.cpu}
        used["foreign"] = max(0.0, (self.last.busy_s - self.first.busy_s) * scale - sum(used.values()))
        return used

    def halves(self, role: str) -> tuple[float, float]:
        """CPU of a role in each half (s)."""
        return self.middle.cpu[role] - self.first.cpu[role], self.last.cpu[role] - self.middle.cpu[role]


class Offered(Frozen):
    """The load that a cell was to get, as planned."""

    rate: int | None
    """Arrivals per second; None: closed."""
    vus: int
    clients: int
    """Connections that the load opens at the most."""
    hold_s: float
    holds: Literal["pool", "loop"] | None
    calls: int
    """Holds at once that one request is made of."""
    statements: int
    """Per request, as declared."""
    window_s: float
    """As planned; of a load that ends: the least that it takes."""
    ends: bool
    """Whether the load is measured as a whole, from its first request to its last answer."""
    levels: list[int]
    levels_wanted: int | None
    """The most connections that were to be held, where fewer open files are allowed than that takes; None: all levels are there."""
    holding: bool
    """Whether the levels are connections that are held beside the load."""
    rehearsal: bool
    """Whether the run has one round alone."""
    blocks_s: float = 0.0
    """How long a request blocks the thread of its handler (C13), of all requests or of the heavier ones among them; 0: none does."""
    blocks_every: int = 1
    """Each so-many-eth request is one of these."""


class Stations(Frozen):
    """What a request goes through: the service by its own words and its declaration, and the cores of every role."""

    workers: int
    pool: int
    server_threads: int | None
    blocked_by: Literal["loop", "carriers"] | None
    waits_on_loop: bool
    call_threads: int | None
    query_threads: int | None
    cores: dict[str, int]
    """Cores that each role may use; `machine` is all of them."""
    shared: list[str]
    """Roles that share their cores with the generator."""
    database_known: bool
    """Whether the database's CPU can be read."""


class Observed(Frozen):
    """All that was seen of one cell under load."""

    offered: Offered
    stations: Stations
    ended_before: int | None = None
    """The exit code of the process before the one that served, where that had ended by itself in this round."""
    window: Window
    exit_code: int
    """The generator's; -1 where it had to be killed."""
    generator_said: str | None = None
    """Its last words, where it left no summary that can be read."""
    load: Load | None
    """The generator's summary; of several, merged."""
    divided: Divided | None = None
    """None: one generator alone."""
    held: Held | None = None
    uncollected: str | None = None
    """Why a JVM's memory was read without a full collection before it, where that was to be."""
    pinnings: int | None = None
    """Events that the runtime itself counted (C17); None where it was not asked."""
    wrong_answer: str | None = None
    """The first one that the generator quoted: request, expected body, body."""
    effects: Effects | None = None
    owned: Owned | None = None
    """None in containers, whose control group says whose CPU it is."""
    raw: str | None = None
    """The generator's own summary, relative to the run's folder."""


class Line(Frozen):
    """Which cell a line of cells.jsonl is of: one contender under one scenario in one round."""

    schema_: int = Field(alias="schema")
    round: int = Field(ge=1)
    attempt: int = Field(default=1, ge=1)
    contender: str
    scenario: str
    profile: Profile
    model: Model

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, populate_by_name=True)

    def line(self) -> str:
        return self.model_dump_json(by_alias=True)


class Record(Line):
    """One line of cells.jsonl: one contender under one scenario in one round, as observed."""

    schema_: int = Field(default=CELLS_SCHEMA, alias="schema")
    started_at: str
    wall_s: float = 0.0
    outcome: Literal["measured", "failed", "unsupported"]
    why: str | None = None
    """Why nothing was measured, in one sentence."""
    observed: Observed | None = None
    duet: Duet | None = None
    """Of a cost cell, in the place of `observed`."""
    overload: Overload | None = None
    """Of an overload cell, in the place of `observed`."""

    failing: Failing | None = None
    """Of a cell with a fault, in the place of `observed`."""
    exhausted: Exhausted | None = None
    """Of a cell in which a service's memory ends, in the place of `observed`."""

    @model_validator(mode="after")
    def _measured_or_why(self) -> Record:
        seen = sum(each is not None for each in (self.observed, self.duet, self.overload, self.failing, self.exhausted))
        if seen != (self.outcome == "measured") or (self.outcome == "measured") == (self.why is not None):
            raise ValueError("a record has what was observed, or why nothing was")
        return self
