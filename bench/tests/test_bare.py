"""What a service costs beside a bare program: ratios, verdicts, and that there is a bare program for every service."""

from __future__ import annotations

import pytest

from nsb.analyse.bare import LIMIT, Comparison, Half, Pair, compare
from nsb.registry.load import Registry
from nsb.render.bare import grid


def half(us: float, requests: int = 2000, why_not: str | None = None) -> Half:
    return Half(requests=requests, cpu_s=us * requests / 1e6, why_not=why_not)


def pairs(*figures: tuple[float, float]) -> list[Pair]:
    return [Pair(service=half(service), bare=half(bare)) for service, bare in figures]


def test_the_ratio_is_the_geometric_mean_of_pairs_and_the_medians_are_of_each_program() -> None:
    found = compare("a", pairs((100, 100), (121, 100), (220, 200)))
    assert found.ratio == pytest.approx((1.0 * 1.21 * 1.1) ** (1 / 3))
    assert (found.service_us, found.bare_us) == (pytest.approx(121), pytest.approx(100))
    assert found.pairs == 3


def test_noise_that_both_of_a_pair_share_does_not_widen_the_interval() -> None:
    found = compare("a", pairs((105, 100), (210, 200), (52.5, 50)))
    assert found.low == pytest.approx(1.05)
    assert found.high == pytest.approx(1.05)


def test_requests_differ_but_the_figure_is_per_request() -> None:
    found = compare("a", [Pair(service=half(50, requests=1990), bare=half(50, requests=2010))] * 2)
    assert found.ratio == pytest.approx(1)


@pytest.mark.parametrize(
    ("ratio", "low", "high", "verdict"),
    [
        (1.05, 1.01, 1.09, "within"),
        (1.05, 1.00, LIMIT, "within"),
        (1.05, 0.99, 1.11, "undecided"),
        (1.15, 1.09, 1.21, "undecided"),
        (1.15, 1.11, 1.19, "above"),
        (1.02, None, None, "undecided"),
    ],
)
def test_the_side_of_the_interval_decides(ratio: float, low: float | None, high: float | None, verdict: str) -> None:
    found = Comparison(contender="a", service_us=1, bare_us=1, ratio=ratio, low=low, high=high, pairs=6, left_out=0)
    assert found.verdict == verdict


def test_one_pair_has_no_interval_and_no_verdict() -> None:
    found = compare("a", pairs((100, 100)))
    assert (found.low, found.high, found.verdict) == (None, None, "undecided")


def test_a_pair_with_a_window_that_does_not_count_is_left_out_and_counted() -> None:
    broken = Pair(service=half(500), bare=half(100, why_not="1900 answers where the rate asks for 2000"))
    found = compare("a", [*pairs((100, 100), (101, 100)), broken])
    assert (found.pairs, found.left_out) == (2, 1)
    assert found.ratio < 1.01


def test_without_a_pair_that_counts_there_is_no_figure_but_the_reason() -> None:
    with pytest.raises(ValueError, match="3 requests failed"):
        compare("a", [Pair(service=half(1), bare=half(1, requests=0, why_not="3 requests failed"))])
    with pytest.raises(ValueError, match="no pair"):
        compare("a", [])


def test_the_table_has_a_line_for_each_contender() -> None:
    assert grid([compare("a", pairs((100, 100))), compare("b", pairs((130, 100), (131, 100)))]).row_count == 2


def test_every_service_has_a_bare_program_on_the_run_time_settings_of_its_contenders(registry: Registry) -> None:
    for name, service in registry.proper_services.items():
        assert service.bare, f"service.{name} has no bare command"
        for contender in registry.contenders.values():
            if contender.service == name:
                settings = {part for part in contender.run if part.startswith("-X")}  # heap, collector, processors
                assert settings <= set(service.bare), f"{contender.id} runs on other settings than its bare program"
