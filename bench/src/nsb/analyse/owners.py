"""V9: the work was done by the processes whose CPU is the figure. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from nsb.records.judged import Check
from nsb.records.owners import Owned


def check(owned: Sequence[Owned]) -> Check:
    """What belongs to somebody else makes a cell invalid; what could not be read is a doubt, by name."""
    faults = [f"{each.contender}: {fault}" for each in owned for fault in each.faults]
    unread = [f"{each.contender}: nobody could read {what}" for each in owned for what in each.unread]
    inputs = {f"{what}_{each.contender}": getattr(each, what) for each in owned for what in ("accepted", "pool")}
    said = "; ".join([*faults, *unread])
    return Check(id="V9", outcome="invalid" if faults else "doubt" if unread else "ok", sentence=said, inputs={**inputs})
