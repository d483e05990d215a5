"""Whose the sockets and the CPU of a contender are, as the kernel shows them at the edges of a cell. Pure."""

from __future__ import annotations

from nsb.registry.terms import Frozen

ENDED = "processes ended under load, and what they used last is in no figure"
"""How the fault of a process that is gone ends."""


class Owned(Frozen):
    """What was found before the load, under it before the window opened and when that had closed, and after it."""

    contender: str
    looks: int
    accepted: int
    """Connections from clients that were looked up, the most of any look."""
    pool: int
    """Connections to the database that were looked up, the most of any look."""
    faults: list[str]
    """What belongs to somebody else, or is where it may not be; each once."""
    unread: list[str]
    """What could not be read."""
