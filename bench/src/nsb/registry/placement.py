"""Which cores each role of a run may use. Pure: the same cores give the same placement.

Symbols: a *core* is a logical CPU, as the affinity mask counts them; a *unit* is what belongs together on one physical core
(one core, or those of its SMT siblings that the mask holds).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from nsb.registry.terms import Profile, grouped

Siblings = Mapping[int, Iterable[int]]
"""Core → the cores of the same physical core, itself among them. A core that is not named has no siblings."""
Unit = tuple[int, ...]

ROLES = ("service", "generator", "database", "upstream")
IDLE_SIBLING_FROM = 6
"""From as many cores on the sibling of the one service core of `1cpu` stays idle."""


@dataclass(frozen=True)
class Placement:
    """The cores of each role, in ascending order."""

    service: tuple[int, ...]
    generator: tuple[int, ...]
    database: tuple[int, ...]
    upstream: tuple[int, ...]

    def as_facts(self) -> dict[str, list[int]]:
        return {role: list(getattr(self, role)) for role in ROLES}


def plan(cores: Sequence[int], siblings: Siblings, profile: Profile) -> Placement:
    """The placement on these cores (at least one; they need not start at 0, nor be without gaps).

    `1cpu`: one core for the service. `ncpu`: up to three cores everything on all; from four on half of the units for the service.
    """
    cores = tuple(sorted(cores))
    if len(cores) == 1 or (profile == "ncpu" and len(cores) < 4):
        return Placement(cores, cores, cores, cores)
    units = _units(cores, siblings)
    return _one_core(cores, units) if profile == "1cpu" else _all_cores(cores, units)


def sharing(placement: Placement, siblings: Siblings) -> list[str]:
    """One sentence for all roles on the same cores, one for each two that touch otherwise; empty where every role is apart."""
    groups = _groups(placement)
    sentences = [f"{_and(roles)} share {_named(cores)}" for cores, roles in groups.items() if len(roles) > 1]
    for (one, first), (other, second) in combinations(groups.items(), 2):
        near = {sibling for core in one for sibling in siblings.get(core, (core,))} & set(other)
        if near:
            how = "cores" if set(one) & near else "a physical core (SMT)"
            sentences.append(f"{_and(first)} {'shares' if len(first) == 1 else 'share'} {how} with {_and(second)}")
    return sentences


def line(placement: Placement) -> str:
    """The placement in one line: roles on the same cores are named together."""
    return " | ".join(f"{', '.join(roles)}: {_named(cores)}" for cores, roles in _groups(placement).items())


def warning(placement: Placement, siblings: Siblings) -> str | None:
    """What a reader must know of roles that are not apart, in one sentence; None where all are."""
    near = sharing(placement, siblings)
    return f"{'; '.join(near)}: what one of them uses, the other must wait for" if near else None


def parted(cores: Sequence[int], number: int, siblings: Siblings) -> tuple[Unit, ...]:
    """So many groups of these cores, one for each of several generators: of whole physical cores where there are enough, else of single
    cores; where these are too few as well, each group is all of them."""
    units = _units(cores, siblings)
    if len(units) < number:
        units = [(core,) for core in sorted(cores)]
    return tuple(_flat(units[at::number]) for at in range(number)) if len(units) >= number else (_flat(units),) * number


def on_one_core(groups: Sequence[Unit]) -> int:
    """How many generators have to take turns on the same cores, at the most; 1 where each has its own."""
    return max(map(groups.count, groups), default=1)


def generators_line(groups: Sequence[Unit], siblings: Siblings) -> str:
    """Where several generators run, in one line."""
    if on_one_core(groups) > 1:
        return f"Generators: {len(groups)} share {_named(groups[0])}: together they can send no more than one"
    places = " | ".join(map(_named, groups))
    near = any({sibling for core in one for sibling in siblings.get(core, ())} & set(other) for one, other in combinations(groups, 2))
    return f"Generators: {len(groups)}, {places}{'; some share a physical core (SMT)' if near else ''}"


def _groups(placement: Placement) -> dict[tuple[int, ...], list[str]]:
    return grouped(ROLES, lambda role: getattr(placement, role))


def _and(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def listed(cores: Iterable[int]) -> str:
    """Cores as the kernel and taskset(1) write them: 0-3,8."""
    runs: list[list[int]] = []
    for core in sorted(cores):
        if runs and core == runs[-1][-1] + 1:
            runs[-1].append(core)
        else:
            runs.append([core])
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def _named(cores: Iterable[int]) -> str:
    some = tuple(cores)
    return f"core {some[0]}" if len(some) == 1 else f"cores {listed(some)}"


def _units(cores: Sequence[int], siblings: Siblings) -> list[Unit]:
    """The cores by physical core; those with fewer threads first (of a hybrid processor the small cores), then by their lowest core."""
    granted = set(cores)
    units = {tuple(sorted({core, *siblings.get(core, ())} & granted)) for core in cores}
    return sorted(units, key=lambda unit: (len(unit), unit))


def _one_core(cores: Sequence[int], units: list[Unit]) -> Placement:
    """One core for the service; what its sibling does depends on how many cores there are."""
    if len(cores) < IDLE_SIBLING_FROM:
        alone = [unit for unit in units if len(unit) == 1]
        chosen = (alone or units)[-1]
    else:
        chosen = units[-1]
    service = chosen[-1:]
    rest = [unit for unit in units if unit != chosen]
    beside = () if len(cores) >= IDLE_SIBLING_FROM and rest else chosen[:-1]
    if rest and beside:  # a scenario without database and upstream then has the physical core for the service alone
        return Placement(service, _flat(rest), beside, beside)
    return Placement(service, *_others(rest or [(core,) for core in beside], len(cores)))


def _others(units: Sequence[Unit], cores: int) -> tuple[Unit, Unit, Unit]:
    """Generator, database and upstream on the units that the service of one core leaves: most for the generator."""
    if len(units) == 1:
        return units[0], units[0], units[0]
    units = _large_first(units)
    upstream = 1 if len(units) >= IDLE_SIBLING_FROM - 1 else 0
    database = max(1, len(units) // 4)
    generator = len(units) - database - upstream
    rest = units[generator:]
    return _flat(units[:generator]), *_apart(rest, upstream, cores)


def _all_cores(cores: Sequence[int], units: list[Unit]) -> Placement:
    """Half of the units for the service, a quarter or more for the generator, the rest for database and upstream."""
    if len(units) == 1:
        units = [(core,) for core in cores]
    service = len(units) // 2
    others, mine = units[: len(units) - service], units[len(units) - service :]
    if len(others) == 1:  # two physical cores: the other roles part the threads of one
        others = [(core,) for core in others[0]]
    if len(others) == 1:
        return Placement(_flat(mine), others[0], others[0], others[0])
    others = _large_first(others)
    generator = min(len(others) - 1, -(-len(units) // 4))
    rest = others[generator:]
    upstream = max(1, len(rest) // 4) if len(rest) > 1 else 0
    return Placement(_flat(mine), _flat(others[:generator]), *_apart(rest, upstream, len(cores)))


def _apart(units: Sequence[Unit], upstream: int, cores: int) -> tuple[Unit, Unit]:
    """Database and upstream: units of their own, or the threads of one, or (with few cores) the same cores.

    No request needs both, so they are the first to share.
    """
    if upstream:
        return _flat(units[:-upstream]), _flat(units[-upstream:])
    together = _flat(units)
    if cores >= IDLE_SIBLING_FROM and len(together) > 1:
        return together[:-1], together[-1:]
    return together, together


def _large_first(units: Sequence[Unit]) -> list[Unit]:
    return sorted(units, key=lambda unit: -len(unit))


def _flat(units: Iterable[Unit]) -> tuple[int, ...]:
    return tuple(sorted(core for unit in units for core in unit))
