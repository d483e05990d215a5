"""V9: the work was done by the processes whose CPU is the figure. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from nsb.records.judged import Check
from nsb.records.owners import ENDED, Owned


def check(owned: Sequence[Owned], connected: bool = True, broke: bool = False) -> Check:
    """What belongs to somebody else makes a cell invalid; what could not be read is a doubt, by name.

    `connected`: whether clients surely are when it is looked; those of a load that begins with its window are not.
    `broke`: whether the service itself ended, which is the result of the cell and no fault.
    """
    faults = [f"{each.contender}: {fault}" for each in owned for fault in each.faults if not (broke and fault.endswith(ENDED))]
    unread = [f"{each.contender}: nobody could read {what}" for each in owned for what in each.unread]
    unread += [
        f"{each.contender}: no connection of its clients was there to be looked up" for each in owned if connected and not each.accepted
    ]
    inputs = {f"{what}_{each.contender}": getattr(each, what) for each in owned for what in ("accepted", "pool")}
    said = "; ".join([*faults, *unread])
    return Check(id="V9", outcome="invalid" if faults else "doubt" if unread else "ok", sentence=said, inputs={**inputs})
