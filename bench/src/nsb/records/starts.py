"""The lines of starts.jsonl: what was seen of each start of a contender. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from pydantic import ConfigDict, Field

from nsb.records.schema import SCHEMA, refuse_schema
from nsb.registry.terms import Frozen


class Sample(Frozen):
    """One look at a service that is being warmed: since its exec (s), requests that it has answered (/stats), CPU of its processes (s)."""

    at_s: float
    requests: int
    cpu_s: float


class Start(Frozen):
    """One line of starts.jsonl: one start of a contender. Times are seconds from exec; null is what was not reached."""

    schema_: int = Field(default=SCHEMA, alias="schema")
    round: int = Field(ge=1)
    contender: str
    started_at: str
    failure: str | None = None
    ready_s: float | None = None
    """Until /readyz was 200."""
    pool_s: float | None = None
    """Until the declared pool was open."""
    cpu_s: float | None = None
    """CPU of all its processes until it was ready (s)."""
    pss_mib: float | None = None
    """Memory when it was ready."""
    load_to_s: float | None = None
    """When the load of the warm-up was over."""
    warm_requests: int | None = None
    """How many requests of the warm-up were answered, before the bursts at full load."""
    warm_up: list[Sample] = Field(default_factory=list)
    rising: bool = False
    """Whether the warm-up ended by its cap, while answers still came faster from step to step."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, populate_by_name=True)

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


def load_end(samples: Sequence[Sample]) -> float | None:
    """When the last sample before the end of the load was taken: after it requests were still answered (s); None where none ever was."""
    return next((before.at_s for before, after in reversed(list(pairwise(samples))) if after.requests > before.requests), None)
