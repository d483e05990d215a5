"""The lines of starts.jsonl: what was seen of each start of a contender. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pydantic import ConfigDict, Field

from nsb.records.duet import FALLING
from nsb.records.schema import SCHEMA, refuse_schema
from nsb.registry.terms import Frozen


class Visit(Frozen):
    """One load of the warm-up: all endpoints at once, or one cost row."""

    began_s: float
    """Seconds from the exec of the service."""
    ended_s: float
    scenario: str | None
    """The cost row; None: all endpoints at once."""
    connections: int
    answers: int
    cost_us: float
    """CPU of the service per answer (µs)."""
    compiling: float | None = None
    """Share of one core that a JVM's compilers used meanwhile. None: it is no JVM, or of a run before 2026-11-28."""


class Start(Frozen):
    """One line of starts.jsonl: one start of a contender. Times are seconds from exec; null is what was not reached."""

    schema_: int = Field(default=SCHEMA, alias="schema")
    round: int = Field(ge=1)
    contender: str
    started_at: str
    ladder: str | None = None
    """The scenario whose process this is, warmed with it alone; None: the process of other cells. Runs before 2026-11-26 have none."""
    failure: str | None = None
    ready_s: float | None = None
    """Until /readyz was 200."""
    pool_s: float | None = None
    """Until the declared pool was open."""
    cpu_s: float | None = None
    """CPU of all its processes until it was ready (s)."""
    pss_mib: float | None = None
    """Memory when it was ready."""
    visits: list[Visit] = Field(default_factory=list)
    """The warm-up, in its order."""
    rising: bool = False
    """Whether the warm-up ended by its cap, before every row was steady."""

    # extra: runs before December 2026 have samples of /stats here, which nothing reads any more.
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True, populate_by_name=True)

    def line(self) -> str:
        return self.model_dump_json(by_alias=True)


def read_starts(lines: Iterable[bytes]) -> list[Start]:
    """The lines of starts.jsonl, each with its end; a last one without (the machine died while it was written) is left out.

    Raises ValueError for a line that is no record, or one of another schema.
    """
    starts: list[Start] = []
    for number, text in enumerate(lines, 1):
        if not text.endswith(b"\n"):
            break
        where = f"starts.jsonl, line {number},"
        try:
            start = Start.model_validate_json(text)
        except ValueError:
            raise ValueError(f"{where} is no record of a start") from None
        refuse_schema(where, start.schema_)
        starts.append(start)
    return starts


# --- the rule by which a warm-up ends -------------------------------------------------------------------------------------

COMPILING = 0.1
"""A JVM whose compilers use more of one core than this is not warm. Before the queue is empty it is 0.3 to 0.9, afterwards below 0.15."""


def brought(costs: Sequence[float]) -> bool:
    """Whether the last visit to a row still brought something: it cost at most `FALLING` of every one before. The first says nothing."""
    return len(costs) > 1 and costs[-1] <= FALLING * min(costs[:-1])


def steady(costs: Sequence[float], quiet: int) -> bool:
    """Whether none of the last `quiet` visits to a row brought anything, with one at least before them."""
    return len(costs) > quiet and not any(brought(costs[: len(costs) - back]) for back in range(quiet))


def compiles(visit: Visit) -> bool:
    """Whether a JVM compiled meanwhile: its requests cost no less from visit to visit for as long as the code that they need waits in the
    compiler's queue, so a cost that falls no longer does not say that it is warm."""
    return visit.compiling is not None and visit.compiling > COMPILING


def costs_of(visits: Iterable[Visit], scenario: str | None, connections: int) -> list[float]:
    """The costs of the visits to one row with so many connections, in their order."""
    return [visit.cost_us for visit in visits if (visit.scenario, visit.connections) == (scenario, connections)]
