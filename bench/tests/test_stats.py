"""Intervals against known values."""

from __future__ import annotations

import math

import pytest

from nsb.analysis.stats import estimate, smallest_effect, spread_of_halves


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
    assert (found.low, found.high, found.half_width) == (None, None, None)


@pytest.mark.parametrize("values", [[], [0.0], [1.0, -1.0]])
def test_what_has_no_logarithm_is_refused(values: list[float]) -> None:
    with pytest.raises(ValueError, match="positive"):
        estimate(values)


def test_halves_are_a_spread() -> None:
    assert spread_of_halves(90.0, 110.0, 100.0).half_width == pytest.approx(0.1)


def test_smallest_effects_of_the_protocol() -> None:
    # METHODOLOGY.md: s = 0.03: 4 % at 6 rounds, 3 % at 12; s = 0.13: 20 % and 12 %
    assert [round(smallest_effect(s, n), 2) for s in (0.03, 0.13) for n in (6, 12)] == [0.04, 0.03, 0.2, 0.12]
