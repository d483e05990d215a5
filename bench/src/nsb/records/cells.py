"""What was observed of one cell. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Stats:
    """One read-out of the service's /stats."""

    requests_total: int
    busy_seconds_total: float
    in_flight: int


@dataclass(frozen=True)
class Held:
    """What became of the connections that were held beside a load."""

    opened: int
    """Whose first event came."""
    refused: int
    ended: int
    """By the service, before it was time."""
    why: str
    """The first refusal or end."""
