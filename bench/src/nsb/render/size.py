"""What a workload takes of each contender, for a terminal of 100 columns. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.table import Table as Grid

from nsb.analyse.model import CostModel, Memory, Quantity, Span
from nsb.analyse.size import Lack, Sized, Workload, thousands_of
from nsb.render.words import number

LACKS = {
    "loop": "each blocking call keeps the other requests of its event loop waiting; {needs} loops are needed, {has} follow from its cores",
    "threads": "{needs} threads are needed, it has {has}",
    "pool": "{needs} database connections are needed, its pool has {has}",
}
UNKNOWN = {
    "base": "the cost of a request", "query": "a query", "insert": "an insert", "call": "an upstream call", "compute": "computing",
    "wait": "a wait", "idle_mib": "its idle memory", "in_flight_kib": "memory per request in flight",
    "connection_kib": "memory per idle connection",
}  # fmt: skip


def grid(found: Sequence[Sized], load: Workload) -> Grid:
    """A line for each contender, the cheapest in cores first."""
    view = Grid(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    view.add_column("contender", no_wrap=True)
    priced = load.core_price is not None or load.gib_price is not None
    for head in ("cores", "memory MiB", "in flight", "threads", "p50 ms", "full first", *(["a month"] if priced else [])):
        view.add_column(head, justify="right", no_wrap=True)
    for each in sorted(found, key=lambda one: one.cores.value if one.cores else float("inf")):
        price = [_within(each.price)] if priced else []
        first = "–" if each.full_first is None or each.full_at is None else f"{each.full_first} {_short(each.full_at)}/s"
        figures = ("–" if value is None else _short(value) for value in (each.in_flight, each.threads))
        p50 = "–" if each.p50_ms is None else number(each.p50_ms)
        memory = f"{'≤' if each.memory_bound else ''}{_within(each.memory_mib)}"
        view.add_row(each.contender, _span(each.cores), memory, *figures, p50, first, *price)
    return view


def _span(span: Span | None) -> str:
    if span is None:
        return "not measured"
    interval = "" if span.low is None or span.high is None else f" ({_short(span.low)}–{_short(span.high)})"
    return _short(span.value) + interval


def _within(span: Span | None) -> str:
    """With the wider side of its interval as a share, where there is no room for both ends."""
    if span is None or span.low is None or span.high is None or span.value <= 0:
        return _span(span)
    return f"{_short(span.value)} ±{max(span.high / span.value - 1, 1 - span.low / span.value):.0%}"


def _short(value: float) -> str:
    """Three digits; from 10,000 on in thousands."""
    if value >= 9_999.5:
        return f"{value / 1000:,.0f}k" if value < 9.995e6 else f"{value / 1e6:,.0f}M"
    return f"{value:,.0f}" if value >= 99.95 or value == 0 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def notes(model: CostModel, found: Sequence[Sized], load: Workload) -> Iterator[str]:
    """What fails, what was not measured, how far off the model is, and what it leaves out."""
    for each in found:
        if lacks := [_lack(lack) for lack in each.lacks]:
            yield f"✗ {each.contender}: {'; '.join(lacks)}."
    for each in found:
        if each.unknown:
            yield f"{each.contender}: not measured: {', '.join(UNKNOWN[name] for name in each.unknown)}."
    if found:
        db, up = found[0].db_connections, found[0].upstream_connections
        yield f"Database connections: {db:,} ({load.query_ms:g} ms for each statement). Connections to the upstream: {up:,}."
    thousands = thousands_of(model, load)
    if thousands:
        whose = load.compute_on or model.reference
        yield f"Computing: {load.compute_ms:g} ms of {whose}, {thousands * 1000:,.0f} rounds of the contract's loop for everybody."
    yield (
        f"From {model.run} ({model.machine}, {model.profile}). Stations are at most {load.utilisation:.0%} busy; "
        "full first: at how many requests per second what is printed here is full."
    )
    off = [f"{each.contender} {each.check.off:+.0%}" for each in model.contenders if each.check is not None]
    if off:
        row = next(each.check.scenario for each in model.contenders if each.check is not None)
        yield f"The sum of the parts is not exact. {row}, predicted from the other rows: {', '.join(off)}. The intervals are wider by that."
    elsewhere = sorted({each.run for one in model.contenders for each in quantities(one.memory) if each.run != model.run})
    if elsewhere:
        yield f"Memory that this run did not measure is from {', '.join(elsewhere)}."
    yield (
        "Left out: the network, the database's and the upstream's own CPU and queues, garbage between collections, kernel memory of "
        "connections, what more than one core costs beyond one. Calls of a request run at once."
    )


def quantities(memory: Memory) -> list[Quantity]:
    return [each for each in (memory.idle_mib, memory.in_flight_kib, memory.connection_kib) if each is not None]


def _lack(lack: Lack) -> str:
    return LACKS[lack.station].format(needs=f"{lack.needs:,}", has=f"{lack.has:,}")
