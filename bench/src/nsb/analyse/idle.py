"""What connections cost that are only open: memory in the process and in the kernel, CPU, and what other requests feel of them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from nsb.analyse.doubts import doubtful
from nsb.analyse.growth import climb, over_rounds
from nsb.analyse.starts import Span, span
from nsb.records.cells import Reading
from nsb.records.judged import Cell, of_each
from nsb.registry.terms import Frozen
from nsb.registry.timing import HELD_LEVEL_S, HELD_READ_AT

APART_S = (HELD_READ_AT[-1] - HELD_READ_AT[0]) * HELD_LEVEL_S
"""The time between the readings of a level, in runs that did not record when they were made (s)."""


class Slopes(Frozen):
    """KiB per connection, over the rounds; `bound`: known only to be at most `value`."""

    value: float
    low: float
    high: float
    bound: bool


class Idle(Frozen):
    """The cells of one contender that count, in a scenario that holds connections."""

    contender: str
    scenario: str
    rounds: int
    most: int
    """The connections of the highest level."""
    process: Slopes | None
    """PSS of the service's processes for each connection."""
    kernel: Slopes | None
    """Slabs of the machine and buffers of its TCP sockets, for both ends of each connection; None in runs that did not record it."""
    cpu_none: Span | None
    """CPU of the service while nothing is held (ms/s), the other requests' included."""
    cpu_most: Span | None
    """The same with most connections."""
    p50_ms: Span | None
    """Median of the requests beside them, from the schedule, over all levels."""
    p50_none_ms: Span | None
    """Their median from the send on while nothing is held; None in runs that did not tell levels apart."""
    p50_most_ms: Span | None
    """The same with most connections."""
    doubtful: bool
    """Whether the figures are marked, as in an entry."""


def idle(cells: Sequence[Cell], contenders: Sequence[str]) -> list[Idle]:
    """One entry for each contender and scenario that held connections in a cell that counts."""
    held = [cell for cell in cells if cell.counts and any(reading.sockets_mib is not None for reading in cell.ladder)]
    return [_idle(*each) for each in of_each(held, contenders)]


def _idle(contender: str, scenario: str, cells: Sequence[Cell]) -> Idle:
    levels = sorted({reading.users for cell in cells for reading in cell.ladder})

    def p50(users: int) -> Span | None:
        return span([still.p50_ms for cell in cells for still in cell.still if still.held == users and still.p50_ms is not None])

    def cpu(users: int) -> Span | None:
        return span([used for cell in cells if (used := cpu_ms_per_s(cell.ladder, users)) is not None])

    return Idle(
        contender=contender,
        scenario=scenario,
        rounds=len(cells),
        most=levels[-1],
        process=_slopes(cells, lambda reading: reading.pss_mib),
        kernel=_slopes(cells, lambda reading: reading.kernel_mib),
        cpu_none=cpu(levels[0]),
        cpu_most=cpu(levels[-1]),
        p50_ms=span([cell.latency_ms.p50 for cell in cells if cell.latency_ms is not None and cell.latency_ms.p50 is not None]),
        p50_none_ms=p50(levels[0]),
        p50_most_ms=p50(levels[-1]),
        doubtful=doubtful([cell.doubts for cell in cells]),
    )


def cpu_ms_per_s(ladder: Sequence[Reading], users: int) -> float | None:
    """CPU between the first and the second reading of a level; None where it was not read twice."""
    for first, second in pairwise([reading for reading in ladder if reading.users == users]):
        if first.cpu_s is None or second.cpu_s is None:
            return None
        apart_s = APART_S if first.at_s is None or second.at_s is None else second.at_s - first.at_s
        return round((second.cpu_s - first.cpu_s) / apart_s * 1000, 2)
    return None


def _slopes(cells: Sequence[Cell], memory: Callable[[Reading], float | None]) -> Slopes | None:
    slopes = []
    for cell in cells:
        told = [(reading, mib) for reading in cell.ladder if (mib := memory(reading)) is not None]
        slopes.append(climb([reading.model_copy(update={"pss_mib": mib}) for reading, mib in told], None).slope if told else None)
    found = over_rounds([slope for slope in slopes if slope is not None])
    return None if found is None else Slopes(value=found.value, low=found.low, high=found.high, bound=found.bound)
