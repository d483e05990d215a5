"""What a plan announces as its power is what scipy's distributions give, and what docs/method.md says."""

from __future__ import annotations

import math

import pytest
from scipy.integrate import quad
from scipy.stats import chi2, nct, norm
from scipy.stats import t as student

from nsb.analyse.power import equality_power, power, quantile, smallest_shift


@pytest.mark.parametrize("rounds", [5, 6, 12, 30])
@pytest.mark.parametrize("comparisons", [1, 12, 200])
def test_quantiles_and_power_are_scipys(rounds: int, comparisons: int) -> None:
    df, level = rounds - 1, 1 - 0.025 / comparisons
    border = float(student.ppf(level, df))
    assert quantile(level, df) == pytest.approx(border, rel=1e-5)
    assert power(0.1, 0.08, rounds, comparisons) == pytest.approx(float(nct.sf(border, df, 0.1 / 0.08 * math.sqrt(rounds))), abs=1e-5)


@pytest.mark.parametrize("rounds", [5, 6, 12, 30])
@pytest.mark.parametrize("s", [0.01, 0.08, 0.13])
def test_the_power_to_show_equality_is_that_integrated_over_chi_squared(rounds: int, s: float) -> None:
    df, band = rounds - 1, math.log(1.1)
    t95, reach = float(student.ppf(0.95, df)), band / s * math.sqrt(rounds)
    widest = min((reach / t95) ** 2 * df, float(chi2.isf(1e-12, df)))
    exact = quad(lambda v: (2 * norm.cdf(reach - t95 * math.sqrt(v / df)) - 1) * chi2.pdf(v, df), 0.0, widest)[0]
    assert equality_power(s, rounds, band) == pytest.approx(exact, abs=1e-4)


def test_smallest_effects_of_the_protocol() -> None:
    # docs/method.md: s = 0.03: 4 % at 6 rounds, 3 % at 12; s = 0.13: 20 % and 12 %
    assert [round(math.expm1(smallest_shift(s, n)), 2) for s in (0.03, 0.13) for n in (6, 12)] == [0.04, 0.03, 0.2, 0.12]


def test_more_comparisons_find_less() -> None:
    # t(1 − 0.025/4, 5) = 3.8100, t(0.80, 5) = 0.9195
    assert smallest_shift(0.08, 6, 4) == pytest.approx((3.8100 + 0.9195) * 0.08 / math.sqrt(6), rel=1e-4)
    assert smallest_shift(0.08, 6, 12) > smallest_shift(0.08, 6, 4) > smallest_shift(0.08, 6)


def test_the_announced_effect_has_80_percent_power_for_one_comparison_and_less_at_stricter_levels() -> None:
    assert power(smallest_shift(0.1, 12), 0.1, 12) == pytest.approx(0.80, abs=0.01)
    assert power(smallest_shift(0.1, 6, 72), 0.1, 6, 72) == pytest.approx(0.706, abs=0.002)
    assert power(2 * smallest_shift(0.1, 6, 72), 0.1, 6, 72) > 0.99


def test_powers_of_the_protocol() -> None:
    # METHOD.md, simulated: equality within ±10 % is shown in 62 % for s = 0.08 and 6 rounds, and in 14 % at s = 0.13
    band = math.log(1.1)
    assert equality_power(0.08, 6, band) == pytest.approx(0.62, abs=0.01)
    assert equality_power(0.13, 6, band) == pytest.approx(0.14, abs=0.01)
    assert equality_power(0.01, 6, band) == pytest.approx(1.0, abs=1e-6)
    assert equality_power(0.0, 6, band) == 1.0
