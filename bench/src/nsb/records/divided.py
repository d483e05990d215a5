"""How several generators divided the load of a cell. Pure."""

from __future__ import annotations

from nsb.registry.terms import Frozen


class Divided(Frozen):
    """How several generators divided the load of a cell among themselves."""

    cores: list[list[int]]
    """Of each."""
    began_ms: list[float]
    """When each began, from the moment that was set for all (ms); none where one of them left no summary."""

    @property
    def spread_ms(self) -> float:
        """From the first one's beginning to the last one's."""
        return max(self.began_ms) - min(self.began_ms) if self.began_ms else 0.0
