"""Are the contenders of a run set alike? What each has in effect, and where one differs from another or from the contract. Pure.

A value is null where a thing does not exist in a runtime, or cannot be read on a machine: it is shown and not compared.
Only where null says "no limit" (C3) it is a value like any other.

What a contender declares to differ on purpose is not compared either, but it must differ: else the declaration is wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from nsb.analyse.validity import STATEMENTS
from nsb.registry.model import HEAP_MIB, POOL_SIZE, SERVER_THREADS, Cell, Frozen

Value = int | float | str | bool | list[int] | list[list[int]] | None
Source = Literal["/runtime", "database", "kernel", "cells"]
CONTRACT = "the contract"
FIRST_START = "its first start"
ADDRESSES = frozenset({"UPSTREAM_URL"})
"""Variables whose value belongs to one sitting: equal for all contenders in it, another one after --resume."""


class Said(Frozen):
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
    def of(cls, runtime: Mapping[str, Any]) -> Said:
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
    """The accept queue of each listening socket, equal ones once."""
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

    said: Said
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


class Record(Frozen):
    """The key `fairness` of run.json."""

    granted: Granted
    statements: dict[str, int]
    """Scenario → statements per request as declared; those without any are left out."""
    contenders: dict[str, Manifest]


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
    Setting("said", "keep_alive_s", "keep-alive, s", "C62", "equal", lambda _: 75),
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


# --- what differs -----------------------------------------------------------------------------------------------------


class Asymmetry(Frozen):
    """A setting in which a contender differs from another one, from the contract, or from its own first start."""

    setting: str
    source: Source
    rule: str
    one: str
    value: str
    other: str
    other_value: str
    declared: bool = False
    """The contender should have another value, for so it is declared."""

    @property
    def sentence(self) -> str:
        if self.declared:
            at = f"{self.setting} ({self.source}, {self.rule})"
            return f"{at}: {self.one} is declared to differ, and has {self.value} as {self.other} has"
        verb = {CONTRACT: "asks for", FIRST_START: "had"}.get(self.other, "has")
        return f"{self.setting} ({self.source}, {self.rule}): {self.one} has {self.value}, {self.other} {verb} {self.other_value}"


def refusal(unlike: Sequence[Asymmetry]) -> str:
    """Why the run is refused, and what to do."""
    return "\n".join(
        [
            "The contenders are not set alike, so no number would mean anything:",
            *(f"  {each.sentence}" for each in unlike),
            "Mend what differs, declare it (`differs` in bench/contenders.toml) where a contender stands for just that, or leave "
            "it out by --contenders. `just conform ID` shows a broken rule (C…) at work; "
            "cores, nice values, open files and environment come from the run command in bench/contenders.toml and from "
            "whatever else sets limits on this machine.",
        ]
    )


def asymmetries(manifests: Mapping[str, Manifest], granted: Granted) -> list[Asymmetry]:
    """Every setting in which a contender differs: from one that is as the contract asks, where there is such a one, else
    from the contract, and where the contract names no value, from most of the others."""
    found: list[Asymmetry] = []
    for setting in SETTINGS:
        for group in _groups(setting, manifests):
            wanted = setting.wanted(granted) if setting.kind == "equal" else NO_LIMIT if setting.kind == "limit" else None
            values = {name: setting.compared(m, granted) for name, m in group.items() if setting.declared_as not in m.differs}
            found += _odd(setting.title, setting.source, setting.rule, values, wanted, setting.words)
    return [*found, *_undeclared_pools(manifests), *_shares(manifests, granted), *_environments(manifests), *_idle(manifests, granted)]


def _undeclared_pools(manifests: Mapping[str, Manifest]) -> list[Asymmetry]:
    """Where a pool of another size is declared, the database must see that size."""
    return [
        Asymmetry(
            setting="pool open", source="database", rule="C60", one=name, value=str(m.seen.connections),
            other="its own pool", other_value=str(m.pool()),
        )
        for name, m in manifests.items()
        if "pool_size" in m.differs and m.seen.connections != m.pool()
    ]  # fmt: skip


def _idle(manifests: Mapping[str, Manifest], granted: Granted) -> list[Asymmetry]:
    """Declared differences that are not there: a contender has the value of the contract, or, where it names none, of every
    contender with the same runtime and framework that does not declare it."""
    found = []
    for setting in SETTINGS:
        if setting.name in FOLLOWS:
            continue
        for name, manifest in manifests.items():
            if setting.declared_as not in manifest.differs:
                continue
            value, others = setting.compared(manifest, granted), _usual(setting, manifest, manifests, granted)
            if others and all(value == other for other in others.values()):
                other = next(iter(others))
                found.append(
                    Asymmetry(
                        setting=setting.title, source=setting.source, rule=setting.rule, one=name, value=setting.words(value),
                        other=other, other_value=setting.words(value), declared=True,
                    )
                )  # fmt: skip
    return found


def _usual(setting: Setting, manifest: Manifest, manifests: Mapping[str, Manifest], granted: Granted) -> dict[str, Value]:
    """Who has a setting as it usually is, and how; nobody where nothing can be said."""
    if setting.kind == "equal":
        return {CONTRACT: setting.wanted(granted)}
    if setting.kind == "limit":
        return {CONTRACT: NO_LIMIT}
    said = manifest.said
    family = (said.runtime, said.framework, said.framework_version)
    return {
        name: setting.compared(m, granted)
        for name, m in manifests.items()
        if setting.declared_as not in m.differs and (m.said.runtime, m.said.framework, m.said.framework_version) == family
    }


def _groups(setting: Setting, manifests: Mapping[str, Manifest]) -> list[Mapping[str, Manifest]]:
    """The contenders among whom a setting is compared."""
    if setting.kind == "shown":
        return []
    if setting.kind != "runtime":
        return [manifests]
    runtimes = dict.fromkeys(manifest.said.runtime for manifest in manifests.values())
    return [{name: m for name, m in manifests.items() if m.said.runtime == runtime} for runtime in runtimes]


def _odd(
    title: str, source: Source, rule: str, values: Mapping[str, Value], wanted: Value, words: Callable[[Value], str]
) -> list[Asymmetry]:
    """Those of `values` (null: nothing to compare) that are not the wanted one, or not the most frequent where none is wanted."""
    known = {name: value for name, value in values.items() if value is not None}
    if not known:
        return []
    if wanted is None:
        written = Counter(words(value) for value in known.values())
        most = written.most_common(1)[0][0]
        wanted = next(value for value in known.values() if words(value) == most)
    other = next((name for name, value in known.items() if value == wanted), CONTRACT)
    return [
        Asymmetry(setting=title, source=source, rule=rule, one=name, value=words(value), other=other, other_value=words(wanted))
        for name, value in known.items()
        if value != wanted
    ]


def _shares(manifests: Mapping[str, Manifest], granted: Granted) -> list[Asymmetry]:
    """The pool by process: all in one, or divided evenly over as many processes as there are workers, the remainder to the first (C50)."""
    found = []
    for name, manifest in manifests.items():
        processes, pool = manifest.workers(granted) if manifest.worker_processes else 1, manifest.pool()
        wanted = [pool // processes + (number < pool % processes) for number in range(processes)]
        shares = manifest.seen.pool_shares
        if shares is not None and shares != wanted:
            found.append(
                Asymmetry(
                    setting="pool by process", source="kernel", rule="C50, C64", one=name, value=sum_of(shares),
                    other=CONTRACT, other_value=sum_of(wanted),
                )
            )  # fmt: skip
    return found


def sum_of(shares: Sequence[int]) -> str:
    return " + ".join(str(share) for share in shares)


def _environments(manifests: Mapping[str, Manifest]) -> list[Asymmetry]:
    """Every variable must be equal, or missing, in all contenders but those for which contenders.toml declares it."""
    read = {name: (m.seen.environment, m.own_environment) for name, m in manifests.items() if m.seen.environment is not None}
    variables = sorted({variable for environment, _ in read.values() for variable in environment or {}})
    found: list[Asymmetry] = []
    for variable in variables:
        values: dict[str, Value] = {
            name: (environment or {}).get(variable, UNSET) for name, (environment, own) in read.items() if variable not in own
        }
        found += _odd(f"environment variable {variable}", "kernel", "C50", values, None, str)
    return found


def changes(name: str, before: Manifest, now: Manifest) -> list[Asymmetry]:
    """In what a contender that was started again differs from its first start."""
    found: list[Asymmetry] = []

    def add(setting: str, source: Source, rule: str, had: str, has: str) -> None:
        if had != has:
            found.append(Asymmetry(setting=setting, source=source, rule=rule, one=name, value=has, other=FIRST_START, other_value=had))

    for setting in SETTINGS:
        old, new = setting.of(before), setting.of(now)
        if setting.kind == "limit" or None not in (old, new):
            add(setting.title, setting.source, setting.rule, setting.words(old), setting.words(new))
    if before.seen.pool_shares is not None and now.seen.pool_shares is not None:
        add("pool by process", "kernel", "C50, C64", sum_of(before.seen.pool_shares), sum_of(now.seen.pool_shares))
    if before.seen.environment is not None and now.seen.environment is not None:
        old_ones, new_ones = before.seen.environment, now.seen.environment
        for variable in sorted({*old_ones, *new_ones} - ADDRESSES):
            had, has = old_ones.get(variable, UNSET), new_ones.get(variable, UNSET)
            add(f"environment variable {variable}", "kernel", "C50", had, has)
    return found


def unlike(record: Record, name: str, now: Manifest) -> list[Asymmetry]:
    """In what a contender, started while the run goes on, differs from its first start, or, at its first, from the others."""
    if name in record.contenders:
        return changes(name, record.contenders[name], now)
    return asymmetries({**record.contenders, name: now}, record.granted)


# --- statements per request, after the run ----------------------------------------------------------------------------


def statements_per_request(cells: Iterable[Cell]) -> float | None:
    """Statements that the database executed by requests answered, over the cells that tell; None where none does."""
    counted = [(cell.statements, cell.requests) for cell in cells if cell.statements is not None and _tells(cell)]
    requests = sum(answered for _, answered in counted)
    return sum(executed for executed, _ in counted) / requests if requests else None


def _tells(cell: Cell) -> bool:
    """Where requests failed (V1), answers and statements need not add up."""
    return cell.statements is not None and not any(reason.startswith("V1 ") for reason in cell.reasons)


def _miscounts(cell: Cell) -> bool:
    return any(reason.startswith("V9 ") and STATEMENTS in reason for reason in cell.reasons)


def miscounts(record: Record, cells: Iterable[Cell]) -> list[Asymmetry]:
    """Contenders that sent another number of statements per request than declared (V9), each beside one that did as declared.

    `cells`: the last attempt of each.
    """
    found: list[Asymmetry] = []
    telling = [cell for cell in cells if _tells(cell)]
    for scenario, declared in record.statements.items():
        right: dict[str, list[Cell]] = {}
        wrong: dict[str, list[Cell]] = {}
        for cell in telling:
            if cell.scenario == scenario:
                (wrong if _miscounts(cell) else right).setdefault(cell.contender, []).append(cell)
        other = next((name for name in right if name not in wrong), CONTRACT)
        found += [
            Asymmetry(
                setting=f"{STATEMENTS} of {scenario}", source="cells", rule="C61", one=name, value=_ratio(those),
                other=other, other_value=_ratio(right[other]) if other in right else str(declared),
            )
            for name, those in wrong.items()
        ]  # fmt: skip
    return found


def _ratio(cells: Iterable[Cell]) -> str:
    return f"{statements_per_request(cells):.2f}"
