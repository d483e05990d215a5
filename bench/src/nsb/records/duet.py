"""What was observed of a cost cell: one or two services on a core that never idles, each with a load generator of its own. Pure."""

from __future__ import annotations

import statistics
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar, Literal

from pydantic import Field

from nsb.records.divided import Divided
from nsb.records.owners import Owned
from nsb.registry.terms import Frozen

FALLING = 0.95
"""Half a burst that costs more than this share of the half before: the cost falls no longer, and the warm-up ends."""

ENDS = 2
"""Readings at each end of a window over which counts are averaged, half a second together. By batches of up to 0.5 s the cost of a
window of 2 s then varies by less than 2 % (standard deviation), between two single moments by up to 15 %."""


class Speed(Frozen):
    """How fast the service's core was at one moment, by the witness (bench/generator/witness.go)."""

    at_s: float
    """When (s since the epoch)."""
    register_steps_per_us: float
    memory_steps_per_us: float
    system_call_ns: float | None = None
    """CPU time of a system call that does nothing. None: in runs before 2026-11-28."""


class Series(Frozen):
    """What a generator read, column by column, oldest first: all counts are since its start."""

    at_s: list[float]
    """When (s since the epoch)."""
    answers: list[int]
    """Right answers so far."""
    service_cpu_s: list[float]
    """CPU time of the service's processes so far, read at the same moment (s)."""
    generator_cpu_s: list[float]
    mean_answers: list[float] = Field(default_factory=list)
    """Mean of the answers so far, over moments 10 ms apart from the reading before to this one. Empty: in runs up to 2026-11-28, and of
    several generators."""
    mean_service_cpu_s: list[float] = Field(default_factory=list)
    """The same of the CPU time, over the same moments (s)."""

    def between(self, first_s: float, last_s: float) -> Series:
        """The readings from the first to the last moment."""
        return self.only([number for number, at in enumerate(self.at_s) if first_s <= at <= last_s])

    def only(self, kept: Sequence[int]) -> Series:
        """The readings of these numbers."""
        return Series(**{name: [column[number] for number in kept] if column else [] for name, column in self.model_dump().items()})

    @classmethod
    def together(cls, parts: Sequence[Series]) -> Series:
        """Of generators that divided a load: their counts at each reading of the first one, while all of them were at work. Between two
        readings of another one its counts grow evenly. Without the service's CPU, which none of them reads."""
        edges = [(each.at_s[0], each.at_s[-1]) for each in parts if each.at_s]
        begin_s, end_s = max((first for first, _ in edges), default=0.0), min((last for _, last in edges), default=0.0)
        at_s = parts[0].between(begin_s, end_s).at_s if len(edges) == len(parts) and begin_s < end_s else []
        return Series(
            at_s=at_s,
            answers=[round(sum(_at(moment_s, each.at_s, each.answers) for each in parts)) for moment_s in at_s],
            service_cpu_s=[0.0] * len(at_s),
            generator_cpu_s=[round(sum(_at(moment_s, each.at_s, each.generator_cpu_s) for each in parts), 6) for moment_s in at_s],
        )

    def costs(self) -> list[float]:
        """CPU µs per request between each two readings; windows without an answer are left out."""
        return [cost for a, b in pairwise(self._counts()) if (cost := _cost(a, b)) is not None]

    def cost(self) -> float | None:
        """CPU µs per request from the first reading to the last; None without an answer.

        Of means it compares those of the first ENDS readings with those of the last ones. 512 answers of an event loop can come all at
        once, every 0.3 s: between two single moments of a window one of its six batches is left to chance.
        """
        counts = self._counts()
        ends = max(1, min(ENDS, len(counts) // 3)) if self.mean_answers else 1
        return _cost(_mean(counts[:ends]), _mean(counts[-ends:])) if counts else None

    def _counts(self) -> list[tuple[float, float]]:
        """Answers and CPU of each reading: means where there are some."""
        if self.mean_answers:
            return list(zip(self.mean_answers, self.mean_service_cpu_s, strict=True))
        return list(zip(self.answers, self.service_cpu_s, strict=True))


def _mean(counts: Sequence[tuple[float, float]]) -> tuple[float, float]:
    answers, cpu_s = zip(*counts, strict=True)
    return statistics.fmean(answers), statistics.fmean(cpu_s)


def _cost(first: tuple[float, float], last: tuple[float, float]) -> float | None:
    """CPU µs per answer between two readings; None without an answer."""
    done = last[0] - first[0]
    return (last[1] - first[1]) / done * 1e6 if done > 0 else None


def _at(moment_s: float, at_s: Sequence[float], counts: Sequence[float]) -> float:
    """A counter at a moment from the first to the last of its readings: it grows evenly from one to the next."""
    number = min(bisect_right(at_s, moment_s), len(at_s) - 1)
    (before_s, before), (after_s, after) = ((at_s[each], counts[each]) for each in (number - 1, number))
    return before + (after - before) * (moment_s - before_s) / (after_s - before_s)


def until_steady(costs: Sequence[float]) -> list[float]:
    """Those of a load's first seconds, in their order, until they fell no longer."""
    ends = next((number for number in range(1, len(costs)) if costs[number] > FALLING * costs[number - 1]), len(costs))
    return [round(cost, 3) for cost in costs[: ends + 1]]


class Driven(Frozen):
    """One service under its generator."""

    contender: str
    series: Series
    answers: int
    """Right answers of the whole load, those after the last reading included."""
    opened: int
    """Connections opened, those that the service closed and that were opened again included."""
    wrong: str | None
    """The first wrong answer, with its request; it ended the load."""
    counted: int | None
    """Requests that the service counted itself over the whole load (/stats), the odd ones included; None where it did not answer."""
    odd: int = 0
    """Right answers to the last request of each connection, when the load was over: nothing is where that asks. In no other count."""
    prepares: bool = False
    """Whether it says that its statements are prepared (/runtime)."""
    bursts: list[float]
    """CPU µs per request of each half of each burst that warmed it for this scenario, until the cost fell no longer. On a cluster, of each
    quarter of a second with which the load itself began."""
    waited_s: float | None
    """How long its threads were ready to run and had no core, between the window's edges (schedstat; s). None: nobody can read it."""
    compiled_s: float | None = None
    """CPU that a JVM's compilers used between the window's edges (s). None: it is no JVM, or of a run before 2026-11-28."""
    answers_of: list[int] = Field(default_factory=list)
    """Of a mixture: `answers` by part."""
    least_ms: float | None = None
    """Its quickest answer over the whole load, from the sending of the request (ms). None: none came, or nobody looked."""
    pss_mib: float | None = None
    """Memory of its processes when the window has closed, its connections open and at work (MiB). None: nobody looked."""
    at_once: int | None = None
    """How many of its requests can have a statement or their calls under way, by what it declares; at least. None: nobody asked."""
    ended_before: int | None = None
    """The exit code of the process before it, where that had ended by itself in this round."""
    single_us: float | None = None
    """CPU µs of the same request with one round of computing, after the load (until 2026-11-26 before it). None: it computes nothing."""


class Part(Frozen):
    """What each request of one part of a mixture causes, as declared."""

    scenario: str
    statements: int
    writes: bool
    reads_a_row: bool
    calls: int
    call_ms: int
    rounds: int = 0


class Midway(Frozen):
    """What database and upstream had done by one moment of the load, since before it: beside a window's edge, not within the window.

    A request's work is done between its arrival and its answer. Sums over the whole load do not tell work that was done ahead or is made up
    for afterwards, when nobody reads a clock.
    """

    from_s: float
    """The moment lies between these two (s since the epoch)."""
    until_s: float
    executed: int | None
    """Statements; None where none are declared or nobody counts them."""
    inserted: int | None
    """Rows that anybody can read; None where none are inserted."""
    called: int | None
    """Calls that the upstream got; None where none are declared."""


class Hang(Frozen):
    """One of those that a request needs answered nobody for a while: under load, and when the window had closed.

    Who needs an answer of it has none for its clients meanwhile. Counts alone do not tell a call that nobody waits for.
    """

    SETTLES_S: ClassVar[float] = 0.05
    """What had been answered before it hung reaches the clients within this time (s)."""

    whom: Literal["database", "upstream"]
    from_s: float
    """Within this time (s since the epoch)."""
    until_s: float
    sent: int | None = None
    """Statements or calls since before the load, those included that were under way in the hang: the services stood still while these were
    done, so none of them was answered to a client. None: nobody counted them."""


class Duet(Frozen):
    """One cost cell. Two contenders share the core, so that a neighbour's minute falls on both; the reference's own cell has no partner."""

    own: Driven
    partner: Driven | None
    connections: int
    """Of each generator."""
    competitors: int
    """Programs that computed beside them on each core of the service."""
    opens_s: float
    """The window's edges (s since the epoch)."""
    closes_s: float
    cpu_s: dict[str, float]
    """CPU in the window by database, upstream and harness (s)."""
    foreign_s: float
    """CPU in the window of programs that are none of the run's (s)."""
    steal_s: float
    service_cores: int
    idle_s: float | None = None
    """How long the services' cores had nothing to do in the window (s). None: nobody looked."""
    cores: int
    """Of the machine, as far as the run may use them."""
    statements: int
    """Per request, as declared."""
    executed: int | None
    """Statements that the database executed over the whole load; None where none are declared or nobody counts them."""
    inserted: int | None
    """Rows that the whole load left in the database; None where it inserts none."""
    called: int | None
    """Calls that the upstream answered over the whole load; None where none are declared."""
    calls: int
    """Upstream calls per request, as declared."""
    parts: list[Part] = Field(default_factory=list)
    """Of a mixture; its `statements`, `calls` and `call_ms` are 0 then."""
    hold_ms: int = 0
    """The shortest time that a request must wait, as declared."""
    selects: int | None = None
    """Of the statements, those that are a SELECT, and an INSERT; None: not counted."""
    inserts: int | None = None
    prepared: int | None = None
    """Of the statements, those that were executed as prepared ones; None: not counted."""
    keys_read: int | None = None
    """Rows that were looked up by their key over the whole load, where each request reads one."""
    asked_ms: int | None = None
    """What the upstream was to wait in all (ms); None where it is not called."""
    call_ms: int = 0
    """What each of its calls waits, as declared (ms)."""
    rehearsal: bool
    """Whether the run has one round alone."""
    speeds: list[Speed]
    """By the witness: before and after the load."""
    midway: list[Midway] = Field(default_factory=list)
    """Before the window opened, and when it had closed, both under load; empty where a request causes nothing outside of the service."""
    hung: Hang | None = None
    """None where a request needs nobody else, in mixtures and containers, and where the database is not the run's own."""
    rounds: int = 0
    """Rounds of the contract's loop that each request computes, as declared; 0 of a mixture, whose parts have their own."""
    divided: Divided | None = None
    """On a cluster, where several generators divided the connections: when each began, from the first one. None: one generator alone."""
    owned: list[Owned] = Field(default_factory=list)
    """Of each service; empty in containers, whose control group says whose CPU it is."""
