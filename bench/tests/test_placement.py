"""Every role has its cores, on machines of any size and with any mask, and what is not apart is said."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import pytest

from nsb.registry.placement import ROLES, Placement, line, listed, plan, sharing, warning
from nsb.registry.terms import Profile


def plain(cores: Sequence[int]) -> dict[int, tuple[int, ...]]:
    return {core: (core,) for core in cores}


def pairs(count: int) -> dict[int, tuple[int, ...]]:
    """As Linux numbers them: the second threads come after all first ones."""
    half = count // 2
    return {core: (core % half, core % half + half) for core in range(count)}


def sizes(placement: Placement) -> tuple[int, ...]:
    return tuple(len(getattr(placement, role)) for role in ROLES)


@pytest.mark.parametrize(
    ("count", "profile", "expected"),
    [
        (1, "1cpu", (1, 1, 1, 1)),
        (2, "1cpu", (1, 1, 1, 1)),
        (3, "1cpu", (1, 1, 1, 1)),
        (4, "1cpu", (1, 2, 1, 1)),
        (5, "1cpu", (1, 3, 1, 1)),
        (6, "1cpu", (1, 3, 1, 1)),
        (8, "1cpu", (1, 5, 1, 1)),
        (16, "1cpu", (1, 11, 3, 1)),
        (64, "1cpu", (1, 47, 15, 1)),
        (1, "ncpu", (1, 1, 1, 1)),
        (2, "ncpu", (2, 2, 2, 2)),
        (3, "ncpu", (3, 3, 3, 3)),
        (4, "ncpu", (2, 1, 1, 1)),
        (6, "ncpu", (3, 2, 1, 1)),
        (8, "ncpu", (4, 2, 1, 1)),
        (16, "ncpu", (8, 4, 3, 1)),
        (64, "ncpu", (32, 16, 12, 4)),
    ],
)
def test_cores_of_each_role_without_smt(count: int, profile: Profile, expected: tuple[int, ...]) -> None:
    assert sizes(plan(range(count), plain(range(count)), profile)) == expected


@pytest.mark.parametrize(
    ("count", "profile", "expected"),
    [
        (2, "1cpu", (1, 1, 1, 1)),
        (4, "1cpu", (1, 2, 1, 1)),
        (6, "1cpu", (1, 2, 1, 1)),
        (8, "1cpu", (1, 4, 1, 1)),
        (16, "1cpu", (1, 10, 2, 2)),
        (64, "1cpu", (1, 46, 14, 2)),
        (2, "ncpu", (2, 2, 2, 2)),
        (4, "ncpu", (2, 1, 1, 1)),
        (6, "ncpu", (2, 2, 1, 1)),
        (8, "ncpu", (4, 2, 1, 1)),
        (16, "ncpu", (8, 4, 2, 2)),
        (64, "ncpu", (32, 16, 12, 4)),
    ],
)
def test_cores_of_each_role_with_smt(count: int, profile: Profile, expected: tuple[int, ...]) -> None:
    assert sizes(plan(range(count), pairs(count), profile)) == expected


@pytest.mark.parametrize("count", [6, 8, 16, 64])
def test_the_sibling_of_the_one_service_core_stays_idle(count: int) -> None:
    siblings = pairs(count)
    made = plan(range(count), siblings, "1cpu")
    (core,) = made.service
    others = {*made.generator, *made.database, *made.upstream}
    assert not others & set(siblings[core])
    assert others == set(range(count)) - set(siblings[core])


def test_on_four_threads_database_and_upstream_take_the_service_s_sibling_and_the_generator_a_core_of_its_own() -> None:
    made = plan(range(4), pairs(4), "1cpu")
    assert made == Placement((3,), (0, 2), (1,), (1,))
    assert sharing(made, pairs(4)) == [
        "database and upstream share core 1",
        "service shares a physical core (SMT) with database and upstream",
    ]


def test_a_service_takes_the_core_whose_sibling_is_not_in_the_mask() -> None:
    siblings = {0: (0, 2), 2: (0, 2), 1: (1, 3), 3: (1, 3)}
    assert plan([0, 1, 2], siblings, "1cpu").service == (1,)


@pytest.mark.parametrize("profile", ["1cpu", "ncpu"])
@pytest.mark.parametrize("smt", [False, True])
@pytest.mark.parametrize("count", range(1, 65))
def test_what_holds_everywhere(count: int, smt: bool, profile: Profile) -> None:
    cores = range(count)
    siblings = pairs(count) if smt and count % 2 == 0 else plain(cores)
    made = plan(cores, siblings, profile)
    assert all(getattr(made, role) and set(getattr(made, role)) <= set(cores) for role in ROLES)
    assert all(list(getattr(made, role)) == sorted(set(getattr(made, role))) for role in ROLES)
    if profile == "1cpu":
        assert len(made.service) == 1
    if count > (1 if profile == "1cpu" else 3):
        assert not set(made.service) & {*made.generator, *made.database, *made.upstream}
        assert len(made.generator) >= len(made.upstream)
    if count >= 4:
        assert not set(made.generator) & {*made.database, *made.upstream}
        units = {tuple(siblings[core]) for core in cores}
        for first, second in combinations(ROLES, 2):
            near = {s for core in getattr(made, first) for s in siblings[core]} & set(getattr(made, second))
            avoidable = len(units) > (2 if {first, second} != {"database", "upstream"} else 7)
            assert not (near and avoidable), f"{first} and {second} share {near}"


@pytest.mark.parametrize("count", [4, 6, 8, 16, 64])
def test_of_all_cores_the_service_has_whole_physical_ones_and_the_generator_a_quarter_or_more(count: int) -> None:
    siblings = pairs(count)
    made = plan(range(count), siblings, "ncpu")
    assert {sibling for core in made.service for sibling in siblings[core]} == set(made.service)
    assert len(made.generator) >= count // 4


def test_a_mask_need_not_start_at_0_nor_be_without_gaps() -> None:
    made = plan([5, 9, 17, 40], plain([5, 9, 17, 40]), "1cpu")
    assert made == Placement((40,), (5, 9), (17,), (17,))
    odd = plan([2, 3, 7, 10, 11], {2: (2, 10), 10: (2, 10), 3: (3, 11), 11: (3, 11), 7: (7, 15)}, "1cpu")
    assert odd == Placement((7,), (2, 10), (3, 11), (3, 11))


def test_siblings_outside_the_mask_are_nobody_s() -> None:
    made = plan([0, 1, 2, 3], {core: (core, core + 64) for core in range(4)}, "ncpu")
    assert sizes(made) == (2, 1, 1, 1)


def test_many_threads_on_one_physical_core() -> None:
    siblings = {core: range(8) for core in range(8)}
    assert sizes(plan(range(4), siblings, "1cpu")) == (1, 2, 1, 1)
    assert sizes(plan(range(8), siblings, "1cpu")) == (1, 5, 1, 1)
    assert sizes(plan(range(8), siblings, "ncpu")) == (4, 2, 1, 1)


def test_a_hybrid_processor_gives_the_service_its_large_cores() -> None:
    siblings = {**{core: (core - core % 2, core - core % 2 + 1) for core in range(8)}, **plain(range(8, 16))}
    assert plan(range(16), siblings, "1cpu").service == (7,)
    assert set(plan(range(16), siblings, "ncpu").service) >= set(range(8))


def test_shared_cores_are_said() -> None:
    two = plan([0, 1], plain([0, 1]), "1cpu")
    assert line(two) == "service: core 1 | generator, database, upstream: core 0"
    assert sharing(two, {}) == ["generator, database and upstream share core 0"]
    assert "must wait" in (warning(two, {}) or "")
    everything = plan([0, 1], plain([0, 1]), "ncpu")
    assert sharing(everything, {}) == ["service, generator, database and upstream share cores 0-1"]
    apart = plan(range(6), plain(range(6)), "1cpu")
    assert warning(apart, plain(range(6))) is None
    partly = Placement((0, 1), (1, 2), (3,), (4,))
    assert sharing(partly, {}) == ["service shares cores with generator"]


def test_cores_are_written_as_the_kernel_writes_them() -> None:
    assert listed([8, 0, 1, 2, 3]) == "0-3,8"
