"""What became of connections that were opened and held (bench/upstream/holder). Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Held:
    """Counts of connections."""

    opened: int
    """Whose first event came."""
    refused: int
    ended: int
    """By the service, before it was time."""
    why: str
    """The first refusal or end."""
