"""The contenders of contenders.toml: what each of them is, and what it can run. Pure."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from pydantic import Field, field_validator

from nsb.registry.contract import ENDPOINTS, EXTRAS, HEAP_MIB, NEEDED, POOL_SIZE, endpoint
from nsb.registry.services import tools_named
from nsb.registry.terms import ID, Frozen, Headline

if TYPE_CHECKING:
    from nsb.registry.scenario import Scenario


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

    id: str = Field(pattern=ID)
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
    uncounted_books: str | None = None
    """Why nobody but itself can count its books."""
    extra: list[str] = []
    """What its service answers beside that. Made by `load`, of its service."""
    differs: dict[str, str] = {}
    """Setting of the fairness manifest → why this contender has another value than the others, on purpose."""
    breaks: dict[str, str] = {}
    """Check of the contract ("C8 its title", as `just conform` prints it) → why this contender, by design, does not keep it."""
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
        if self.uncounted_books is not None and scenario.statements and "/books" in asked:
            return self.uncounted_books
        return self.unsupported.get(scenario.id)

    def workers(self, granted: int) -> int:
        """How many it has where all are granted so many: its own environment goes first, as at its start."""
        return int(self.environment.get("WORKERS", granted))

    def query_threads(self, workers: int) -> int | None:
        """Threads that it makes its statements on, where these are their own."""
        return None if self.query_threads_per_worker is None else self.query_threads_per_worker * workers

    def at_once(self, workers: int, calls: int) -> int:
        """How many requests can wait at once, each for so many calls, or for a statement where it has none; at least."""
        if calls:
            return max(1, self.call_threads // calls) if self.call_threads is not None else sys.maxsize
        if self.waits_on_loop or self.blocked_by == "carriers":
            return workers
        return min(POOL_SIZE, self.query_threads(workers) or POOL_SIZE)

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
