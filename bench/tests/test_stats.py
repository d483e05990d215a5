"""Intervals, tests and powers against tables, scipy and the protocol's own figures."""

from __future__ import annotations

import math
import random

import pytest
from scipy.stats import ttest_1samp, ttest_ind, wilcoxon

from nsb.analyse.power import smallest_shift
from nsb.analyse.stats import (
    Estimate,
    contrast,
    estimate,
    hodges_lehmann,
    holm,
    rounds_to_decide,
    signed_rank_depth,
    spread_of_halves,
    welch,
)


def test_interval_of_six_rounds_is_students_t_on_logs() -> None:
    values = [math.exp(x) for x in (1.0, 1.1, 0.9, 1.05, 0.95, 1.0)]
    found = estimate(values)
    deviation = math.sqrt(sum(x * x for x in (0, 0.1, 0.1, 0.05, 0.05, 0)) / 5)
    width = 2.570582 * deviation / math.sqrt(6)  # t(0.975, 5) from a table
    assert found.value == pytest.approx(math.e)
    assert found.low == pytest.approx(math.exp(1 - width), rel=1e-6)
    assert found.high == pytest.approx(math.exp(1 + width), rel=1e-6)
    assert found.n == 6


def test_one_round_has_no_interval() -> None:
    found = estimate([5.0])
    assert (found.low, found.high) == (None, None)


@pytest.mark.parametrize("values", [[], [0.0], [1.0, -1.0]])
def test_what_has_no_logarithm_is_refused(values: list[float]) -> None:
    with pytest.raises(ValueError, match="positive"):
        estimate(values)


def test_halves_are_a_spread() -> None:
    assert spread_of_halves(90.0, 110.0, 100.0) == Estimate(100.0, 90.0, 110.0, 1)


def drawn(seed: int, n: int, mean: float = 0.0) -> list[float]:
    draw = random.Random(seed)
    return [draw.gauss(mean, 1.0) for _ in range(n)]


def test_a_paired_contrast_is_scipys_t_test() -> None:
    x = drawn(1, 7, 0.5)
    found, known = contrast(x), ttest_1samp(x, 0.0)
    assert found.p_value == pytest.approx(known.pvalue)
    bounds = known.confidence_interval(0.9)
    assert (found.interval(0.9).low, found.interval(0.9).high) == (pytest.approx(bounds.low), pytest.approx(bounds.high))


def test_welch_is_scipys_and_says_b_against_a() -> None:
    a, b = drawn(2, 6), [3 * x for x in drawn(3, 9, 0.8)]
    found, known = welch(a, b), ttest_ind(b, a, equal_var=False)
    assert found.p_value == pytest.approx(known.pvalue)
    bounds = known.confidence_interval(0.95)
    assert (found.interval(0.95).low, found.interval(0.95).high) == (pytest.approx(bounds.low), pytest.approx(bounds.high))


def test_without_any_spread_the_interval_is_a_point() -> None:
    assert contrast([0.0] * 5).p_value == 1.0
    assert contrast([0.2] * 5).p_value == 0.0
    same = welch([1.0] * 5, [1.0] * 6)
    assert (same.interval(0.95).low, same.interval(0.95).high, same.p_value) == (0.0, 0.0, 1.0)


def test_holm_steps_down_and_stops() -> None:
    # 0.01 ≤ 0.05/4 and 0.012 ≤ 0.05/3; 0.03 > 0.05/2 stops it, and 0.04, below 0.05/1, stays undecided with it
    levels = holm([0.03, 0.01, 0.04, 0.012])
    assert levels == pytest.approx([1 - 0.05 / 2, 1 - 0.05 / 4, 1 - 0.05 / 2, 1 - 0.05 / 3])
    assert holm([]) == []
    assert holm([0.04]) == pytest.approx([0.95])


@pytest.mark.parametrize("seed", range(20))
def test_intervals_at_holms_levels_decide_as_holm_does(seed: int) -> None:
    samples = [drawn(100 * seed + i, 6, mean) for i, mean in enumerate((0, 0.5, 1.0, 1.5, 2.5))]
    tests = [contrast(x) for x in samples]
    p = [test.p_value for test in tests]
    rejected = set()
    for rank, i in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        if p[i] > 0.05 / (len(p) - rank):
            break
        rejected.add(i)
    found = {i for i, level in enumerate(holm(p)) if (b := tests[i].interval(level)).low > 0 or b.high < 0}
    assert found == rejected


def test_depths_of_the_signed_rank_interval_are_those_of_tables() -> None:
    # P(T⁺ ≤ 3) = 0.0195 and P(T⁺ ≤ 4) = 0.027 for n = 8; critical values 0, 3, 13, 52 of n = 6, 8, 12, 20 (Wilcoxon's table, two-sided 5 %)
    assert [signed_rank_depth(n, 0.95) for n in (5, 6, 8, 12, 20)] == [0, 1, 4, 14, 53]


@pytest.mark.parametrize("n", [8, 12])
def test_the_hodges_lehmann_interval_holds_what_wilcoxons_exact_test_keeps(n: int) -> None:
    x = drawn(n, n, 0.3)
    found = hodges_lehmann(x)
    for inside, centre in ((True, found.low + 1e-9), (True, found.high - 1e-9), (False, found.low - 1e-9), (False, found.high + 1e-9)):
        p = float(wilcoxon([value - centre for value in x], method="exact").pvalue)
        assert (p > 0.05) == inside


def test_too_few_values_have_no_hodges_lehmann_interval() -> None:
    with pytest.raises(ValueError, match="5 values"):
        hodges_lehmann([1.0, 2.0, 3.0, 4.0, 5.0])


def test_rounds_to_decide_are_the_fewest_that_reach_the_distance() -> None:
    needed = rounds_to_decide(0.05, 0.08, 0.975, more_than=6)
    assert needed is not None
    assert smallest_shift(0.08, needed) <= 0.05 < smallest_shift(0.08, needed - 1)
    assert rounds_to_decide(0.001, 0.08, 0.975, more_than=6) is None
