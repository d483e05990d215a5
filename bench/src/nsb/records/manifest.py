"""What each contender of a run has in effect: said by itself, seen by the database and the kernel; and the settings compared. Pure.

A value is null where a thing does not exist in a runtime, or cannot be read on a machine: it is shown and not compared.
Only where null says "no limit" (C3) it is a value like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from nsb.registry.contract import HEAP_MIB, POOL_SIZE, SERVER_THREADS
from nsb.registry.terms import Frozen

Value = int | float | str | bool | list[int] | list[list[int]] | None
Source = Literal["/runtime", "database", "kernel", "cells"]
CONTRACT = "the contract"
FIRST_START = "its first start"
ADDRESSES = frozenset({"UPSTREAM_URL"})
"""Variables whose value belongs to one sitting: equal for all contenders in it, another one after --resume."""


class RuntimeReport(Frozen):
    """What a service says of itself (C3), as far as it bears on a comparison."""

    runtime: str
    runtime_version: str | None
    framework: str | None
    framework_version: str | None
    server: str | None
    driver: str | None
    driver_version: str | None
    concurrency_model: str | None
    workers: int
    pool_size: int
    backlog: int | None
    keep_alive_s: int | float | None
    max_connections: int | None
    server_threads: int | None
    db_acquire_timeout_ms: int | None
    db_statements: str | None
    upstream_timeout_ms: int | None
    upstream_max_connections: int | None
    upstream_idle_s: int | float | None
    offload: str | None
    heap_max_mib: int | None
    gc: str | None

    @classmethod
    def of(cls, runtime: Mapping[str, Any]) -> RuntimeReport:
        """From the answer of /runtime. Raises ValueError where it is not what C3 demands."""
        told = {**runtime, **runtime.get("settings", {})}
        missing = [name for name in cls.model_fields if name not in told]
        if missing:
            raise ValueError(f"/runtime does not tell {', '.join(missing)} (C3)")
        return cls.model_validate({name: told[name] for name in cls.model_fields})


class Seen(Frozen):
    """What the database and the kernel tell of a started, warm and pinned contender."""

    connections: int
    """Open at the database by the contender's own user."""
    open_transactions: int
    """Connections of the idle pool that have left a transaction open: with autocommit there is none."""
    backlog: list[int] | None
    """The accept queue of each listening socket, equal ones once; a longer one counts as the 4096 of C62."""
    listening_sockets: int | None
    no_delay: bool | None
    """TCP_NODELAY of an accepted connection."""
    pool_shares: list[int] | None
    """Connections to the database by process, the largest first."""
    cores: list[list[int]]
    """The cores that threads may use, equal sets once: a single one where all threads are alike."""
    nice: int
    """The least nice value of any thread; below -20 is a real-time class."""
    nofile: int | None
    """The least limit of open files of any process."""
    environment: dict[str, str] | None
    """As the process was started with it, without PORT, DATABASE_URL and what an image brings; values that may tell of the machine as a
    digest."""
    memory_limit_mib: int | None = None
    """Of the contender's own control group."""
    cpu_quota: str | None = None
    """`none`, or a quota in words, of that group."""


class Manifest(Frozen):
    """The effective settings of one started contender."""

    said: RuntimeReport
    seen: Seen
    worker_processes: bool
    """Each worker is a process, so they can be counted from outside."""
    own_environment: dict[str, str]
    """What contenders.toml declares for this contender alone."""
    differs: dict[str, str] = Field(default={})
    """Setting → why it differs on purpose."""

    def of_usual_heap(self, heap_mib: int) -> Manifest:
        """The same with the usual heap in the place of the one that it was started with for a scenario (MiB), if it has that one."""
        has = self.said.heap_max_mib == heap_mib
        return self.model_copy(update={"said": self.said.model_copy(update={"heap_max_mib": HEAP_MIB})}) if has else self

    def pool(self) -> int:
        """The connections that it must have."""
        return self.said.pool_size if "pool_size" in self.differs else POOL_SIZE

    def workers(self, granted: Granted) -> int:
        """The workers that it must have."""
        return self.said.workers if "workers" in self.differs else granted.workers


class Granted(Frozen):
    """What this machine and this plan give to every contender."""

    workers: int
    cores: list[int]
    backlog: int
    """min(4096, somaxconn) (C62)."""
    nofile: int
    nice: int
    memory_mib: int | None = None
    """The memory limit of each container; None: processes, which have no group of their own."""


class Fairness(Frozen):
    """The key `fairness` of run.json."""

    granted: Granted
    statements: dict[str, int]
    """Scenario → statements per request as declared; those without any are left out."""
    contenders: dict[str, Manifest]
    generators: int = 1
    """How many divide each load, for all contenders alike."""
    undivided: dict[str, str] = {}
    """Scenario → why one generator alone drives it, where there are several."""


# --- what is compared -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Setting:
    """One line of the manifest.

    `kind` says how it is compared. equal: in all contenders, and with the contract. limit: null is no limit, and so is
    whatever reaches `wanted`; below it a limit must be equal. runtime: among contenders of one runtime. shown: not at all.
    """

    part: Literal["said", "seen"]
    name: str
    title: str
    rule: str
    kind: Literal["equal", "limit", "runtime", "shown"]
    wanted: Callable[[Granted], Value] = lambda _: None
    source: Source = "/runtime"

    def of(self, manifest: Manifest) -> Value:
        value: Value = getattr(getattr(manifest, self.part), self.name)
        return value

    @property
    def declared_as(self) -> str:
        """The word for it in `differs`."""
        return FOLLOWS.get(self.name, self.name)

    def compared(self, manifest: Manifest, granted: Granted) -> Value:
        """The value to compare; null where there is nothing to compare."""
        value = self.of(manifest)
        if self.kind == "limit":
            least = self.wanted(granted)
            assert isinstance(least, int)
            return NO_LIMIT if not isinstance(value, int | float) or value >= least else value
        return value

    def words(self, value: Value) -> str:
        """The value as it is written in sentences and tables."""
        if value is None:
            return NO_LIMIT if self.kind == "limit" else "not readable" if self.part == "seen" else "–"
        if isinstance(value, bool):
            return "set" if value else "not set"
        if isinstance(value, list):
            return " and ".join(",".join(str(core) for core in one) if isinstance(one, list) else str(one) for one in value)
        return str(value)


NO_LIMIT = "no limit"
UNSET = "no value"
FOLLOWS = {"connections": "pool_size"}
"""What the database or the kernel sees of a setting that is declared under another name."""

SETTINGS: tuple[Setting, ...] = (
    Setting("said", "pool_size", "pool size", "C60", "equal", lambda _: POOL_SIZE),
    Setting("seen", "connections", "pool open", "C60", "equal", lambda _: POOL_SIZE, "database"),
    Setting("seen", "open_transactions", "open transactions of the idle pool", "C61", "equal", lambda _: 0, "database"),
    Setting("said", "workers", "workers", "C64", "equal", lambda granted: granted.workers),
    Setting("said", "backlog", "backlog told", "C62", "equal", lambda granted: granted.backlog),
    Setting("seen", "backlog", "backlog in the kernel", "C62", "equal", lambda granted: [granted.backlog], "kernel"),
    Setting("seen", "no_delay", "TCP_NODELAY", "C62", "equal", lambda _: True, "kernel"),
    Setting("said", "keep_alive_s", "keep-alive, s", "C62", "limit", lambda _: 75),
    Setting("said", "max_connections", "connections at most", "C62", "limit", lambda granted: granted.nofile - 1000),
    Setting("said", "db_acquire_timeout_ms", "wait for a connection, ms", "C50", "equal", lambda _: 60_000),
    Setting("said", "upstream_timeout_ms", "upstream timeout, ms", "C50", "equal", lambda _: 70_000),
    Setting("said", "upstream_max_connections", "upstream connections at most", "C63", "limit", lambda _: 1000),
    Setting("said", "upstream_idle_s", "upstream connections idle, s", "C63", "limit", lambda _: 86_400),
    Setting("said", "server_threads", "server threads", "C50", "equal", lambda _: SERVER_THREADS),
    Setting("seen", "cores", "cores of the threads", "placement", "equal", lambda granted: [granted.cores], "kernel"),
    Setting("seen", "nice", "least nice value", "placement", "equal", lambda granted: granted.nice, "kernel"),
    Setting("seen", "nofile", "open files at most", "C62", "equal", lambda granted: granted.nofile, "kernel"),
    Setting("seen", "memory_limit_mib", "memory limit, MiB", "placement", "equal", lambda granted: granted.memory_mib, "kernel"),
    Setting("seen", "cpu_quota", "CPU quota", "placement", "equal", lambda _: "none", "kernel"),
    Setting("seen", "listening_sockets", "listening sockets", "C62", "shown", source="kernel"),
    Setting("said", "runtime", "runtime", "C3", "shown"),
    Setting("said", "runtime_version", "runtime version", "C3", "runtime"),
    Setting("said", "heap_max_mib", "heap at most, MiB", "C66", "runtime"),
    Setting("said", "gc", "garbage collector", "C66", "runtime"),
    Setting("said", "concurrency_model", "concurrency", "C3", "shown"),
    Setting("said", "offload", "remedy for blocking", "C13", "shown"),
    Setting("said", "framework", "framework", "C3", "shown"),
    Setting("said", "framework_version", "framework version", "C3", "shown"),
    Setting("said", "server", "server", "C3", "shown"),
    Setting("said", "driver", "driver", "C3", "shown"),
    Setting("said", "driver_version", "driver version", "C3", "shown"),
    Setting("said", "db_statements", "statements", "C61", "shown"),
)


DECLARED = tuple(dict.fromkeys(setting.declared_as for setting in SETTINGS))
"""What a contender may declare to differ on purpose."""
