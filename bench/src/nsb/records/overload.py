"""What was observed of an overload cell: the capacity, and what became of the users who came at shares of it. Pure."""

from __future__ import annotations

from nsb.records.duet import Part, Series
from nsb.records.edge import Edge
from nsb.records.owners import Owned
from nsb.registry.terms import Frozen


class Tally(Frozen):
    """What the generator told of an open load (bench/generator/open.go). Each user that is counted ended in one way."""

    arrivals: int
    """Users who came in the window."""
    good: int
    """The right answer in time."""
    good_first: int
    """Those of `good` who came in the first half of the window."""
    gave_up: int
    """No answer in time."""
    unsent: int
    """Those of `gave_up` who had no connection until then."""
    refused: int
    """Connections."""
    reset: int
    """Connections that ended before the answer."""
    statuses: dict[str, int]
    """Whole answers with another status, by status."""
    queued: int
    """Users who had to wait because all connections were taken."""
    latency_from: int
    """The bucket of the first of `latencies`."""
    latencies: list[int]
    """`good` by bucket, from coming to the answer: µs up to 15, then 16 buckets for each doubling."""
    lag_p99_ms: float
    """How late the generator saw that a user had come."""
    lag_max_ms: float
    opened: int
    """Connections, over the whole load."""
    most_open: int
    sent_of: list[int]
    """Requests of the whole load by part, the single users after it included."""
    answered_of: list[int]
    """The right answers to them."""
    back_ms: float
    """From the end of the load to the first of three quick single users; -1: there were none, or nobody asked."""
    singles: int
    """Single users after the load."""
    wrong: str | None = None
    """The first wrong answer, with its request; it ended the load."""

    @property
    def errors(self) -> int:
        return self.refused + self.reset + sum(self.statuses.values())

    def quantile_ms(self, share: float) -> float | None:
        """Of the users with a good answer: the middle of its bucket, which is at most a sixteenth wide. None where there are none."""
        below = 0
        for number, count in enumerate(self.latencies, self.latency_from):
            below += count
            if count and below >= share * self.good:
                return (lowest_us(number) + lowest_us(number + 1)) / 2000
        return None


def lowest_us(bucket: int) -> int:
    """The shortest time of a bucket (µs)."""
    shift = max(0, (bucket >> 4) - 1)
    return (bucket - (shift << 4)) << shift


class Level(Frozen):
    """Users who came at one rate."""

    percent: int
    """Of the capacity; 0: the idle service."""
    rate: float
    """Users per second."""
    first: Edge
    """At the window's opening."""
    last: Edge
    pss_mib: float
    """Memory of the service when the window had closed."""
    threads: int
    users: Tally
    broke: str | None = None
    """Why the service was of no more use after it: it had ended, or it hangs. It was started again for the next level."""


class Overload(Frozen):
    """One overload cell: a contender alone on its cores."""

    parts: list[Part]
    """What is asked."""
    vus: int
    """Connections of the closed load that the capacity was measured with."""
    connections: int
    """The most that may be open under an open load."""
    give_up_ms: int
    hold_ms: int
    """The shortest time that a request must wait, as declared."""
    window_s: float
    """Of the capacity, and of each level."""
    series: Series
    """The capacity: what its generator read."""
    first: Edge
    """Its window."""
    last: Edge
    answers_of: list[int]
    """Right answers of its whole load, by part."""
    odd: int = 0
    """Right answers to the last request of each of its connections, which are in no other count but the service's (duet.py)."""
    least_ms: float | None
    """Its quickest answer (ms)."""
    wrong: str | None
    """The first wrong answer under any load, with its request; it ended the cell."""
    bursts: list[float]
    """CPU µs per request of each half of each burst that warmed the service for it."""
    idle: Level | None
    levels: list[Level]
    quick_ms: float | None
    """A single user is quick who has an answer within so long."""
    limit_s: float
    """How long quick ones were waited for after each level at or above the capacity."""
    cores: dict[str, int]
    """Cores that each role may use; `machine` is all of them."""
    shared: list[str]
    """Roles that share their cores with the generator."""
    counted: int | None
    """Requests that the service counted over all loads (/stats); None where it did not answer."""
    executed: int | None
    """Statements that the database executed; None where none are declared or nobody counts them."""
    inserted: int | None
    """Rows that were left in the database; None where none are inserted."""
    called: int | None
    """Calls that the upstream answered; None where none are declared."""
    rehearsal: bool
    """Whether the run has one round alone."""
    owned: Owned | None = None
    """None in containers, whose control group says whose CPU it is."""
    broke: str | None = None
    """Why the service was of no more use after one of its loads, the first time. In runs before 2026-11-28 it was not started again for the
    next level: that one has the figures of what was left of it, or none."""

    @property
    def capacity_rps(self) -> float:
        """Right answers per second of the closed load, within its window; 0 where there were none."""
        kept = self.series.between(self.first.at_s, self.last.at_s)
        return (kept.answers[-1] - kept.answers[0]) / (kept.at_s[-1] - kept.at_s[0]) if len(kept.at_s) > 1 else 0.0
