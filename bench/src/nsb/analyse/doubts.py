"""When a figure is marked for the doubts of its rounds. Pure."""

from __future__ import annotations

from collections.abc import Sequence

DOUBTFUL = 1 / 3
"""Share of the rounds with a doubt from which on a figure is marked; every single doubt is listed beside the table."""


def doubtful(doubts: Sequence[Sequence[str]]) -> bool:
    """Whether a figure is marked, from the doubts of each of its rounds."""
    return often(sum(bool(each) for each in doubts), len(doubts))


def often(doubts: int, rounds: int) -> bool:
    """The same, from how many of so many rounds have a doubt."""
    return doubts > 0 and doubts >= DOUBTFUL * rounds
