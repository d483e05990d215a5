"""Claims that no committed run has decided yet: planted cells decide them, and figures altered by a tenth decide them otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from nsb.analyse.claims import judged
from nsb.records.judged import Cell
from nsb.registry.claims import Claims, Conclusion
from nsb.registry.load import Registry

NOISE = (1.0, 1.002, 0.999, 1.001, 0.998, 1.0)
Figures = dict[str, dict[str, float]]
"""Contender → metric → its mean. The last one has a twin."""
AHEAD: dict[str, tuple[str, str, Figures, list[tuple[str, str]]]] = {
    "A8": (
        "cost-wait-query",
        "closed",
        {
            "rust": {"cpu": 48.0},
            "java-webflux": {"cpu": 54.0, "memory_peak": 260.0},
            "java-vt": {"cpu": 100.0, "memory_peak": 500.0},
        },
        [("java-webflux", "cpu"), ("java-webflux", "memory_peak"), ("java-vt", "cpu")],
    ),
    "D4": (
        "fanout-100-memory",
        "closed",
        {"java-vt-jdk-client": {"memory_peak": 400.0, "threads": 66.0}, "java-webflux": {"memory_peak": 380.0, "threads": 31.0}},
        [("java-vt-jdk-client", "memory_peak"), ("java-vt-jdk-client", "threads")],
    ),
    "E2": (
        "cost-insert",
        "closed",
        {"java-pt-h2": {"cpu": 115.0}, "java-webflux-h2": {"cpu": 100.0}},
        [("java-pt-h2", "cpu")],
    ),
    "E3": (
        "cost-insert",
        "closed",
        {"java-webflux-h2-offloaded": {"cpu": 105.0}, "java-webflux-h2": {"cpu": 100.0}},
        [("java-webflux-h2-offloaded", "cpu")],
    ),
}
"""Claim → its scenario, the model of that, figures that support it, and those of which a tenth less refutes it."""


def run_of(scenario: str, model: str, contenders: list[str]) -> dict[str, Any]:
    twin, original = contenders[-1], contenders[-2]
    return {
        "started_at": "2026-01-01T00:00:00+00:00", "runner": "native",
        "host": {
            "name": "m", "cpu": "A CPU", "cores": 2, "memory_gib": 4.0, "system": "Linux", "kernel": "6", "commit": "abc", "changed": False,
        },
        "database": {"kind": "mariadb", "version": "11", "private": True}, "runtimes": {},
        "plan": {
            "tier": "standard", "profile": "1cpu", "rounds": len(NOISE), "seed": 1, "workers": 1, "contenders": contenders,
            "scenarios": [scenario], "headlines": {scenario: "cpu"}, "models": {scenario: model}, "holds_ms": {scenario: 100},
            "controls": {twin: {"kind": "twin", "of": original}},
        },
    }  # fmt: skip


def cells_of(scenario: str, model: str, figures: Figures) -> list[Cell]:
    def cell(name: str, round_: int, means: dict[str, float]) -> Cell:
        turn = NOISE[(round_ + len(name)) % len(NOISE)]
        told: dict[str, Any] = {
            "memory_peak_mib": means.get("memory_peak"), "threads_peak": round(means["threads"]) if "threads" in means else None,
            "cpu_us_per_request": {"service": means["cpu"] * turn} if "cpu" in means else {},
        }  # fmt: skip
        if told["memory_peak_mib"] is not None:
            told["memory_peak_mib"] *= turn
        return Cell.model_validate(
            {
                "round": round_, "contender": name, "scenario": scenario, "profile": "1cpu", "status": "valid", "limit": "cpu",
                "model": model, **told,
            }
        )  # fmt: skip

    return [cell(name, round_, means) for name, means in figures.items() for round_ in range(1, len(NOISE) + 1)]


def conclusion(claims: Claims, id_: str, scenario: str, model: str, figures: Figures) -> Conclusion:
    *_, last = figures
    with_twin = {**figures, f"{last}-twin": figures[last]}
    alone = Claims(articles={}, claims={id_: claims.claims[id_]})
    return judged(run_of(scenario, model, list(with_twin)), cells_of(scenario, model, with_twin), [], None, alone).claims[0].conclusion


@pytest.mark.parametrize("id_", AHEAD)
def test_a_tenth_less_of_a_figure_refutes_what_the_figures_support(claims: Claims, id_: str) -> None:
    scenario, model, figures, altered = AHEAD[id_]
    assert conclusion(claims, id_, scenario, model, figures) == "SUPPORTED"
    for name, metric in altered:
        less = {**figures, name: {**figures[name], metric: round(figures[name][metric] * 0.9)}}
        assert conclusion(claims, id_, scenario, model, less) == "REFUTED", (name, metric)
    first, *_ = figures
    without = {name: means for name, means in figures.items() if name != first}
    assert conclusion(claims, id_, scenario, model, without) == "NOT_MEASURED"


def test_who_counts_its_books_itself_is_asked_only_what_needs_no_other_count(registry: Registry) -> None:
    own = [each for each in registry.contenders.values() if each.uncounted_books]
    assert {each.copy_of or each.id for each in own} == set(registry.scenarios["cost-insert"].contenders)
    for each in own:
        assert each.why_not(registry.scenarios["cost-insert"]) is None
        assert each.why_not(registry.scenarios["slow-query-max"]) is None
        assert {each.why_not(registry.scenarios[name]) for name in ("cost-read", "cost-write", "e-insert")} == {each.uncounted_books}
