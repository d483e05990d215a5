"""What was observed while something that a service needs failed: who was still answered, and how soon all was well again. Pure."""

from __future__ import annotations

from nsb.records.duet import Part
from nsb.records.edge import Edge
from nsb.records.overload import Tally
from nsb.records.owners import Owned
from nsb.registry.terms import Fault, Frozen


class Side(Frozen):
    """Users of one kind of request."""

    idle: Tally
    """Before the fault."""
    quick_ms: float | None
    """A single user after the fault is quick who has an answer within so long; None: nobody had one before it."""
    users: Tally | None
    """Those who came while the fault lasted, and the single users after it; None: not measured, after a wrong answer."""


class Failing(Frozen):
    """One cell: a contender alone on its cores, and a fault of something else."""

    fault: Fault
    parts: list[Part]
    """What is asked: first what needs the thing that fails, then what does not."""
    rate: float
    """Users per second of each part."""
    connections: int
    """The most that may be open for each part."""
    give_up_ms: int
    hold_ms: int
    """The shortest time that a request of the first part must wait, as declared."""
    fault_s: float
    limit_s: float
    """How long quick single users were waited for when the fault was over."""
    needing: Side
    others: Side
    first: Edge | None
    """When the fault began; None: it did not come to that."""
    last: Edge | None
    pss_mib: float | None
    """Memory of the service when the fault was over."""
    threads: int | None
    cores: dict[str, int]
    """Cores that each role may use; `machine` is all of them."""
    counted: int | None
    """Requests that the service counted over all loads (/stats); None where it did not answer."""
    executed: int | None
    """Statements that the database executed; None where none are declared or nobody counts them."""
    called: int | None
    """Calls that the upstream answered; None where none are declared."""
    owned: Owned | None = None
    """None in containers, whose control group says whose CPU it is."""

    @property
    def sides(self) -> tuple[Side, Side]:
        return self.needing, self.others

    @property
    def tallies(self) -> list[list[Tally]]:
        """Of each part, in their order."""
        return [[side.idle, *([side.users] if side.users is not None else [])] for side in self.sides]

    @property
    def wrong(self) -> str | None:
        """The first wrong answer; it ended the cell."""
        return next((each.wrong for own in self.tallies for each in own if each.wrong is not None), None)
