"""What a run will do, in which order, and how long it takes. Pure: the same seed gives the same plan."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nsb.model import Contender, Profile, Registry, Scenario, Tier, Timing, timing, twin_id

START_S = 5.0
"""From the start of a contender until it is ready and its pool is open, on average over the cast (s)."""
CONFORMANCE_S = 30.0
"""The contract against one contender (s); a pass is remembered for the build."""
PRELUDE_S = 8.0
"""Database, upstream and the facts of the machine (s)."""


@dataclass(frozen=True)
class Slot:
    """One cell to come: a contender under a scenario in a round."""

    round: int
    contender: Contender
    scenario: Scenario


@dataclass(frozen=True)
class Plan:
    tier_name: str
    tier: Tier
    profile: Profile
    workers: int
    rounds: int
    seed: int
    contenders: tuple[Contender, ...]
    scenarios: tuple[Scenario, ...]
    rows: tuple[tuple[str, ...], ...]
    """The order of the contenders, by round: a drawn row, then the same row reversed."""

    def timing(self, scenario: Scenario) -> Timing:
        return timing(scenario, self.tier)

    def slots(self, round_: int) -> Iterator[Slot]:
        """The cells of a round, scenario by scenario, all contenders of one scenario back to back."""
        by_id = {contender.id: contender for contender in self.contenders}
        for scenario in self.scenarios:
            for name in self.rows[round_ - 1]:
                yield Slot(round_, by_id[name], scenario)

    @property
    def controls(self) -> dict[str, dict[str, str]]:
        """Contenders that are compared with their original instead of having a column: id → kind (twin, plant), of, worsens (plants)."""
        return {
            c.id: {"kind": "plant", "of": c.plant.of, "worsens": c.plant.worsens} if c.plant else {"kind": "twin", "of": c.twin_of or ""}
            for c in self.contenders
            if c.copy_of is not None
        }

    @property
    def cells(self) -> int:
        return self.rounds * len(self.contenders) * len(self.scenarios)

    @property
    def round_start_s(self) -> float:
        """Fresh processes and an equal warm-up for every contender (s)."""
        return len(self.contenders) * (START_S + 1.5 + self.tier.warm_s)

    @property
    def measuring_s(self) -> float:
        """All rounds, without retries (s)."""
        cells = sum(self.timing(scenario).total_s for scenario in self.scenarios) * len(self.contenders)
        return self.rounds * (self.round_start_s + cells)

    def seconds(self, conformance: int) -> float:
        """The announced wall time after the build, without retries (s); `conformance` contenders are still to be checked."""
        return PRELUDE_S + conformance * CONFORMANCE_S + self.measuring_s


def make(
    registry: Registry,
    tier: str,
    contenders: Sequence[str],
    scenarios: Sequence[str],
    profile: Profile,
    workers: int,
    seed: int,
    rounds: int | None = None,
) -> Plan:
    """A plan from ids that the registry knows; `rounds` overrides the tier's number."""
    count = rounds or registry.tiers[tier].rounds
    return Plan(
        tier_name=tier,
        tier=registry.tiers[tier],
        profile=profile,
        workers=workers,
        rounds=count,
        seed=seed,
        contenders=tuple(registry.contenders[name] for name in contenders),
        scenarios=tuple(registry.scenarios[name] for name in scenarios),
        rows=rows(contenders, count, seed),
    )


def with_twin(contenders: Sequence[str], registry: Registry, asked: str | None) -> list[str]:
    """The ids with the twin that every run has: of the contender asked for, else of the one that contenders.toml
    marks `twinned`, else of the first; `none` adds none.

    Raises KeyError where the contender asked for is not in the run.
    """
    names = list(contenders)
    if asked == "none" or any(registry.contenders[name].twin_of for name in names):
        return names
    originals = [name for name in names if registry.contenders[name].copy_of is None]
    if asked is not None and asked not in originals:
        raise KeyError(asked)
    if not originals:
        return names
    marked = [name for name in originals if registry.contenders[name].twinned]
    return [*names, twin_id(asked or (marked or originals)[0])]


def rows(names: Sequence[str], rounds: int, seed: int) -> tuple[tuple[str, ...], ...]:
    """A row drawn with the seed and, in the next round, the same row reversed: over two rounds all have one mean position."""
    draw = random.Random(seed)
    result: list[tuple[str, ...]] = []
    while len(result) < rounds:
        row = list(names)
        draw.shuffle(row)
        result += [tuple(row), tuple(reversed(row))]
    return tuple(result[:rounds])
