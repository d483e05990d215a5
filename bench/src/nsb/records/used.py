"""What a reader beside a container told of it, line by line, and what is between its lines. Pure.

The reader is `generator read` (bench/generator/read.go). It runs in the pod, by the node's clock: how its lines travel is not in them.
"""

from __future__ import annotations

import contextlib
import json
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from nsb.records.duet import Series

MOST_GAP_S = 1.0
"""Between two lines: by so much an interpolated counter may be of another time (s)."""


class Untold(ValueError):
    """A reader tells nothing of a moment; the message says of which."""


@dataclass(frozen=True)
class Use:
    """One line: counters since some start, at one moment of the node's clock."""

    at_s: float
    cpu_s: float
    """CPU of the container's processes, those that have ended among them (s)."""
    busy_s: float
    """CPU used by all cores of the node (s)."""
    steal_s: float
    tcp: Mapping[str, int] | None
    """Counters of the pod's network namespace."""
    pss_mib: float | None
    """None: not read with this line."""
    threads: int
    waited_s: float | None = None
    """How long these threads were ready to run and had no core (s). None: not read with this line, or the kernel does not tell it."""


@dataclass(frozen=True)
class Uses:
    """The lines of one reader, in their order."""

    lines: tuple[Use, ...]

    @classmethod
    def of(cls, text: Iterable[str]) -> Uses:
        """What is no line of a reader is passed over: a log may begin in the middle of one. Raises Untold where there is none."""
        found = tuple(use for line in text if (use := _use(line)) is not None)
        if not found:
            raise Untold("the reader beside the container told nothing")
        return cls(found)

    def at(self, at_s: float) -> Use:
        """Between two lines counters grow evenly; those of TCP, memory and threads are the last ones told. Raises Untold."""
        number = bisect_right(self.lines, at_s, key=lambda line: line.at_s)
        if not 0 < number < len(self.lines):
            first, last = self.lines[0].at_s, self.lines[-1].at_s
            raise Untold(f"the reader beside the container told of {first:.1f} to {last:.1f} s, and not of {at_s:.1f}")
        before, after = self.lines[number - 1], self.lines[number]
        if after.at_s - before.at_s > MOST_GAP_S:
            raise Untold(f"the reader beside the container told nothing for {after.at_s - before.at_s:.1f} s")
        share = (at_s - before.at_s) / (after.at_s - before.at_s)

        def between(low: float, high: float) -> float:
            return low + share * (high - low)

        memory = next((line for line in reversed(self.lines[:number]) if line.pss_mib is not None), None)
        return Use(
            at_s=at_s,
            cpu_s=between(before.cpu_s, after.cpu_s),
            busy_s=between(before.busy_s, after.busy_s),
            steal_s=between(before.steal_s, after.steal_s),
            tcp=before.tcp,
            pss_mib=None if memory is None else memory.pss_mib,
            threads=0 if memory is None else memory.threads,
        )

    @property
    def now(self) -> Use:
        """The last line, with the memory that was told last."""
        memory = next((line for line in reversed(self.lines) if line.pss_mib is not None), self.lines[-1])
        return replace(self.lines[-1], pss_mib=memory.pss_mib, threads=memory.threads)

    def waited_s(self, from_s: float, to_s: float) -> float | None:
        """How long threads waited for a core between the two moments, by the lines between them that tell it, scaled to the whole (s).
        A line that tells less than the one before counts as none: threads have ended."""
        told = [(line.at_s, line.waited_s) for line in self.lines if line.waited_s is not None and from_s <= line.at_s <= to_s]
        if len(told) < 2:
            return None
        waited = sum(max(0.0, after - before) for (_, before), (_, after) in pairwise(told))
        return waited * (to_s - from_s) / (told[-1][0] - told[0][0])

    def beside(self, series: Series) -> Series:
        """The readings of a generator, with the CPU of this container at the moment of each, so without means; without those of which
        nothing was told."""
        cpu_s: dict[int, float] = {}
        for number, at_s in enumerate(series.at_s):
            with contextlib.suppress(Untold):
                cpu_s[number] = round(self.at(at_s).cpu_s, 6)
        return series.only([*cpu_s]).model_copy(update={"service_cpu_s": [*cpu_s.values()], "mean_answers": [], "mean_service_cpu_s": []})

    def peak_mib(self, from_s: float, to_s: float) -> float | None:
        """The most memory of the lines between the two moments; None where none was read."""
        return max((line.pss_mib for line in self.lines if line.pss_mib is not None and from_s <= line.at_s <= to_s), default=None)


def _use(line: str) -> Use | None:
    try:
        told = json.loads(line)
        memory = told["memory"] or {}
        return Use(
            at_s=float(told["at_s"]),
            cpu_s=float(told["cpu_s"]),
            busy_s=float(told["busy_s"]),
            steal_s=float(told["steal_s"]),
            tcp=told["tcp"],
            pss_mib=memory.get("pss_mib"),
            threads=int(memory.get("threads", 0)),
            waited_s=memory.get("waited_s"),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
