"""What a workload takes of each contender, by the cost model: cores, memory, connections, threads, first bottleneck, and the bill. Pure.

Symbols: λ = requests per second, D = CPU per request (s), U = utilisation asked for, R = time a request takes (s), N = requests in flight.
Utilisation law: λ·D cores are busy. Little's law: N = λ·R, and λ·(time held) of a station's servers are taken. D ÷ (1 − U) is what D takes
on a core that is busy for U of the time and shares itself among its requests (Lazowska, Zahorjan, Graham and Sevcik, Quantitative System
Performance, 1984, chapters 3 and 6; Denning and Buzen 1978). page/size.js says the same in JavaScript; a test compares the two.
"""

from __future__ import annotations

import math
from typing import Literal

from pydantic import Field

from nsb.analyse.model import KINDS, CostModel, Fitted, Quantity, Span
from nsb.registry.terms import Frozen

Station = Literal["cores", "threads", "pool", "loop"]


class Workload(Frozen):
    """What one request does, and how many there are. Its calls run at once."""

    rate: float = Field(gt=0)
    """Requests per second (λ)."""
    wait_ms: float = 0.0
    """A wait for something that is neither a call nor the database."""
    queries: float = 0.0
    inserts: float = 0.0
    query_ms: float = 1.0
    """How long a statement keeps its connection."""
    calls: float = 0.0
    call_ms: float = 0.0
    compute_ms: float = 0.0
    """Of computing, as long as it takes the contender `compute_on`."""
    compute_on: str | None = None
    """None: the reference of the run."""
    blocking_ms: float = 0.0
    """A call in the handler that blocks its thread."""
    idle: float = 0.0
    """Connections that are open and silent."""
    utilisation: float = Field(default=0.6, gt=0, lt=1)
    """How busy every station may be (U)."""
    core_price: float | None = None
    """For each core and month."""
    gib_price: float | None = None
    """For each GiB of memory and month."""


EXAMPLES: dict[str, Workload] = {
    "crud": Workload(rate=500, queries=3, inserts=0.5, core_price=25, gib_price=3),
    "gateway": Workload(rate=3000, calls=3, call_ms=50, core_price=25, gib_price=3),
    "chat": Workload(rate=200, inserts=1, idle=50_000, core_price=25, gib_price=3),
    "reports": Workload(rate=5, queries=5, query_ms=5, compute_ms=50, core_price=25, gib_price=3),
    "legacy": Workload(rate=300, queries=2, query_ms=5, blocking_ms=50, core_price=25, gib_price=3),
}
"""Five services as many teams have them, which the guide works out and the page offers. Prices are round numbers, for a bill to compare."""


class Lack(Frozen):
    """A station of which the workload needs more than the contender was measured with; or an event loop that each blocking call occupies,
    however many loops there are."""

    station: Station
    needs: int
    has: int


class Sized(Frozen):
    """What one contender needs. None: not measured, or it follows from something that was not (`unknown`)."""

    contender: str
    cpu_us: Span | None
    """Per request (D)."""
    cores: Span | None
    memory_mib: Span | None
    memory_bound: bool
    """Whether a part of the memory is known only to be at most so much."""
    in_flight: float | None
    """N."""
    threads: int | None
    """None: it has no thread for each request."""
    db_connections: int
    upstream_connections: int
    connections: int | None
    """Of clients: one for each request in flight, and the idle ones."""
    p50_ms: float | None
    """R. Without network, the database's own queue, and pauses of garbage collection."""
    full_first: Station | None
    full_at: float | None
    """Requests per second at which that station is full, of what is printed here."""
    lacks: list[Lack]
    price: Span | None
    unknown: list[str]
    """What was not measured and would be needed: kinds of work, or quantities of memory."""


def thousands_of(model: CostModel, load: Workload) -> float | None:
    """Thousands of rounds of the contract's loop that `compute_ms` stands for; None where its contender's loop was not measured."""
    if load.compute_ms == 0:
        return 0.0
    of = model.of(load.compute_on or model.reference or "")
    cost = None if of is None else of.coefficients.get("compute")
    return None if cost is None or cost.value <= 0 else load.compute_ms * 1000 / cost.value


def sized(model: CostModel, load: Workload) -> list[Sized]:
    """One entry for each contender of the model."""
    thousands = thousands_of(model, load)
    return [_sized(each, load, thousands) for each in model.contenders]


def _sized(of: Fitted, load: Workload, thousands: float | None) -> Sized:
    statements = load.queries + load.inserts
    held = math.ceil(load.rate * statements * load.query_ms / 1000 / load.utilisation)
    called = math.ceil(load.rate * load.calls * load.call_ms / 1000)
    work = [1.0, load.queries, load.inserts, load.calls, thousands or 0.0, float(load.wait_ms > 0)]
    unknown: list[str] = [kind for kind, count in zip(KINDS, work, strict=True) if count > 0 and kind not in of.known]
    if thousands is None:
        unknown.append("compute")
    cpu = None if unknown or not of.rounds else cost(of, work)
    if cpu is None:
        return Sized(
            contender=of.contender, cpu_us=None, cores=None, memory_mib=None, memory_bound=False, in_flight=None, threads=None,
            db_connections=held, upstream_connections=called, connections=None, p50_ms=None, full_first=None, full_at=None,
            lacks=_pool(of, held), price=None, unknown=unknown,
        )  # fmt: skip
    cores = _times(cpu, load.rate / 1e6 / load.utilisation)
    looped = of.stations.blocked_by == "loop" and load.blocking_ms > 0
    demand_s, blocked_s = cpu.value / 1e6, load.blocking_ms / 1000
    loops_needed = math.ceil(load.rate * (demand_s + blocked_s) / load.utilisation)
    whole_cores = max(1, math.ceil(cores.value))
    served = (demand_s + (blocked_s if looped else 0.0)) / (1 - load.utilisation) + (0.0 if looped else blocked_s)
    response_s = (load.wait_ms + (load.call_ms if load.calls > 0 else 0.0) + statements * load.query_ms) / 1000 + served
    in_flight = load.rate * response_s
    threads = None if of.stations.threads is None else math.ceil(in_flight / load.utilisation + load.idle)
    memory, bound, missing = _memory(of, load, in_flight, max(whole_cores, loops_needed) if looped else whole_cores)
    lacks = _pool(of, held)
    if threads is not None and of.stations.threads is not None and threads > of.stations.threads:
        lacks.insert(0, Lack(station="threads", needs=threads, has=of.stations.threads))
    if looped:
        lacks.insert(0, Lack(station="loop", needs=loops_needed, has=whole_cores))
    full = _full_at(of, load, response_s, demand_s + blocked_s if looped else None, whole_cores)
    first = min(full, key=lambda station: full[station])
    return Sized(
        contender=of.contender,
        cpu_us=cpu,
        cores=cores,
        memory_mib=memory,
        memory_bound=bound,
        in_flight=in_flight,
        threads=threads,
        db_connections=held,
        upstream_connections=called,
        connections=math.ceil(in_flight + load.idle),
        p50_ms=response_s * 1000,
        full_first=first,
        full_at=full[first],
        lacks=lacks,
        price=_price(load, cores, memory),
        unknown=missing,
    )


def cost(of: Fitted, work: list[float]) -> Span:
    """CPU per request (µs): geometric mean over the rounds with its t interval, wider by the misfit on either side."""
    logs = [math.log(max(sum(count * each for count, each in zip(work, own, strict=True)), 1e-9)) for own in of.rounds]
    mean = sum(logs) / len(logs)
    if of.t is None:
        return Span(value=math.exp(mean), low=None, high=None)
    error = math.sqrt(sum((each - mean) ** 2 for each in logs) / (len(logs) - 1) / len(logs))
    width = of.t * error + of.misfit
    return Span(value=math.exp(mean), low=math.exp(mean - width), high=math.exp(mean + width))


def _full_at(of: Fitted, load: Workload, response_s: float, looped_s: float | None, loops: int) -> dict[Station, float]:
    """Requests per second at which each station has no server left."""
    full: dict[Station, float] = {"cores": load.rate / load.utilisation}
    if of.stations.threads is not None:
        full["threads"] = max(0.0, of.stations.threads - load.idle) / response_s
    if load.queries + load.inserts > 0 and load.query_ms > 0 and of.stations.pool > 0:
        full["pool"] = of.stations.pool / ((load.queries + load.inserts) * load.query_ms / 1000)
    if looped_s is not None:
        full["loop"] = loops / looped_s
    return full


def _pool(of: Fitted, held: int) -> list[Lack]:
    return [Lack(station="pool", needs=held, has=of.stations.pool)] if held > of.stations.pool > 0 else []


def _memory(of: Fitted, load: Workload, in_flight: float, workers: int) -> tuple[Span | None, bool, list[str]]:
    """Memory (MiB), whether it is a bound, and what of it was not measured."""
    memory = of.memory
    each: list[tuple[str, Quantity | None, float]] = [
        ("base_mib", memory.base_mib, workers / of.stations.workers if of.stations.processes else 1.0),
        ("in_flight_kib", memory.in_flight_kib, in_flight / 1024),
    ]
    if load.idle > 0:
        each.append(("connection_kib", memory.connection_kib, load.idle / 1024))
    missing = [name for name, found, _ in each if found is None]
    there = [(found, times) for _, found, times in each if found is not None]
    if missing:
        return None, False, missing
    total = Span(
        value=sum(found.value * times for found, times in there),
        low=sum(found.low * times for found, times in there),
        high=sum(found.high * times for found, times in there),
    )
    return total, any(found.bound for found, _ in there), []


def _times(span: Span, factor: float) -> Span:
    def by(value: float | None) -> float | None:
        return None if value is None else value * factor

    return Span(value=span.value * factor, low=by(span.low), high=by(span.high))


def _price(load: Workload, cores: Span, memory: Span | None) -> Span | None:
    """Of what prices are given; None where a part of it is not known."""
    if (load.core_price is None and load.gib_price is None) or (load.gib_price is not None and memory is None):
        return None

    def of(core: float | None, mib: float | None) -> float | None:
        if core is None or (load.gib_price is not None and mib is None):
            return None
        return core * (load.core_price or 0.0) + (mib or 0.0) / 1024 * (load.gib_price or 0.0)

    value = of(cores.value, memory.value if memory else None)
    assert value is not None
    return Span(value=value, low=of(cores.low, memory.low if memory else None), high=of(cores.high, memory.high if memory else None))
