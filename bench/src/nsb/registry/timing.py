"""When the phases of a cell begin and end, and the tiers that say how long they are. Pure."""

from __future__ import annotations

from pydantic import Field

from nsb.registry.terms import Frozen

BOOT_S, BOOT_PER_VU_S = 0.9, 0.0008
"""k6 needs about 0.7 s before its first request, and more where all its users must be there for it (s)."""
COST_AROUND_S, COST_AROUND_REHEARSAL_S = 4.5, 2.0
"""Of a cost cell: the bursts before it, two looks of the witness, the start of the generators, and the hang after its window (s). That
took 4.2 on average in 20261126d-standard and 5.7 in 20261128-cost, where the machine was slower. In a single round hardly any bursts are
needed: its services were warmed just before."""
OVERHEAD_S = 0.5
"""Reset, read-outs and the record around one cell (s)."""
LEVEL_SPREAD = 0.5
"""The users of a level start within this share of a hold."""
READ_AT = 0.9
"""Where in each hold of a level memory is read: all its users have started, and those of the next have not."""
OVERLOAD_BOOT_S, OVERLOAD_SETTLE_S, OVERLOAD_IDLE_S = 1.6, 0.5, 1.7
"""Of an overload cell: the start of its generators, the capacity's load before its window, and the idle service's users (s)."""
OVERLOAD_LEAD_S = 0.5
"""Users come for so long, and for as long as one waits, before those who are counted (s)."""
RECOVERY_LIMIT_S, RECOVERY_FROM_PERCENT = 10.0, 100
"""How long single users are sent until they have quick answers (s), after each level from this one on."""
FAULT_LEAD_S, FAULT_AFTER_S = 1.0, 0.4
"""Users come for so long before a fault; and what the service is expected to take after it (s)."""
OVERLOAD_BETWEEN_S = 0.8
"""Between two levels: a generator is started, and the service recovers (s)."""
EXHAUSTION_LEAD_S = 0.5
"""Before the first connection is opened (s)."""
HELD_LEVEL_S = 10.0
"""How long so many held connections stand, the time in which they are opened included."""
HELD_READ_AT = (0.7, 0.95)
"""When in it memory is read: after the last has been opened, and once more."""
HELD_STEADY = (0.5, 0.68)
"""Shares of it within which nothing changes: all its connections are open, and memory is not read yet, nor a JVM collected for it."""


class Tier(Frozen):
    why: str
    by_claims: bool = False
    """By default it runs what the claims of the articles name, each scenario with those contenders alone, and the articles' own loads."""
    one_at_a_time: bool = False
    """Contender by contender, whatever memory there is."""
    rounds: int = Field(gt=0)
    rounds_per_start: int = Field(default=1, gt=0)
    """Rounds that one start of a contender serves: cost rows are measured in each, all others in the first."""
    warm_cap_s: float = Field(gt=0)
    """Before the first cell of every start: until a request becomes no cheaper, and at most so long (s)."""
    settle_s: float = Field(ge=0)
    window_s: float = Field(gt=0)
    cost_settle_s: float = Field(default=0.5, gt=0)
    """Of a cost cell: from the generators' start to the window (s)."""
    cost_window_s: float = Field(default=3.0, gt=0)
    """Of a cost cell (s)."""
    window_holds: int = Field(gt=0)
    """The window is at least this many holds long, and a whole even number of them."""


class Timing(Frozen):
    """The phases of one cell, in seconds from the start of k6."""

    boot_s: float = BOOT_S
    """Before k6's first request."""
    spread_s: float
    settle_s: float
    window_s: float
    drain_s: float
    """What the last answers are expected to take."""
    level_s: float = 0.0
    """How long a ladder, or an overload, stands on each level; 0 where there is none."""
    ends: bool = False
    """The window is the load itself: `window_s` is what it takes at the least, and it ends when the last answer has come."""

    @property
    def total_s(self) -> float:
        return self.boot_s + self.spread_s + self.settle_s + self.window_s + self.drain_s + OVERHEAD_S
