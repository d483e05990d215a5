"""The terms that the registry and a run's records share. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict

Model = Literal["open", "closed"]
Profile = Literal["1cpu", "ncpu"]
Limit = Literal["offered", "cpu", "threads", "loop", "carriers", "pool", "database", "upstream", "generator"]
Headline = Literal["cpu", "throughput", "p50", "p99", "memory", "goodput", "served", "connections"]
Fault = Literal["upstream", "database", "clients"]
"""What fails: the upstream or the database hangs, or clients send half of a request."""
Metric = Literal[
    "cpu", "throughput", "p50", "p90", "p99", "max", "duration", "memory", "memory_peak", "threads", "switches", "goodput",
    "goodput_100", "goodput_120", "back", "served", "connections",
]  # fmt: skip
"""What claims are about: the headlines, and more of a cell. Duration: of a load as a whole, from its first request to its last answer.
Goodput: right answers in time while OVERLOAD_PERCENT of the capacity are asked, in percent of it; goodput_100 and goodput_120 at so many
percent. Back: from the end of the load of OVERLOAD_PERCENT until single users had quick answers. Served: users who need nothing that fails
and had their answer in time, in percent of them. Connections: how many a service held when its memory ended."""
MORE_IS_BETTER: frozenset[Metric] = frozenset({"throughput", "goodput", "goodput_100", "goodput_120", "served", "connections"})
SHARES: frozenset[Metric] = frozenset({"goodput", "goodput_100", "goodput_120", "served"})
"""In percent, and 0 may be right: they have arithmetic means, and are compared in percentage points."""
OVERLOAD_PERCENT = 150
P99_REQUESTS = 1000
"""Below these a cell has no p99: ten answers are the least tail."""
LATENCIES: frozenset[Metric] = frozenset({"p50", "p90", "p99"})
METRIC_UNITS: dict[Metric, str] = {
    "cpu": "CPU µs/request", "throughput": "requests/s", "p50": "p50 ms", "p90": "p90 ms", "p99": "p99 ms",
    "max": "max ms", "duration": "s", "memory": "KiB/request", "memory_peak": "MiB", "threads": "threads",
    "switches": "switches/request", "goodput": "goodput %", "goodput_100": "goodput %", "goodput_120": "goodput %", "back": "ms",
    "served": "served %", "connections": "connections",
}  # fmt: skip
ID = r"^[a-z0-9]+(-[a-z0-9]+)*$"
"""What the name of a contender or a scenario looks like."""


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


Key = TypeVar("Key")
Item = TypeVar("Item")


def grouped(items: Iterable[Item], by: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """Key → the items that have it, both in the order in which they come."""
    found: dict[Key, list[Item]] = {}
    for item in items:
        found.setdefault(by(item), []).append(item)
    return found
