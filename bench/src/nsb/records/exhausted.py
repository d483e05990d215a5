"""What was observed while more and more connections were opened to a service, until its memory ended. Pure."""

from __future__ import annotations

from nsb.records.held import Held
from nsb.registry.terms import Frozen


class Exhausted(Frozen):
    """One cell: a contender alone on its cores."""

    heap_mib: int
    """What its heap could grow to."""
    rate: int
    """Connections opened per second."""
    most: int
    """Connections that were to be opened."""
    held: Held
    """What became of them; none was opened after the first that was refused or ended."""
    lasted_s: float
    """From the first connection to the first that was refused or ended (s)."""
    exit_code: int | None
    """Of the service; None: it had not ended."""
    last_words: str
    pss_mib: float
    """The most that it used."""
