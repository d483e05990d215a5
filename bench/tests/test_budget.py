"""The parts of the noise: what is planted in synthetic runs comes out again."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any

import pytest

from nsb.analyse.budget import budget
from nsb.records.judged import Cell, CostFigure

CONTENDERS = [f"c{number}" for number in range(12)]
PLAN: dict[str, Any] = {"plan": {"rounds_per_start": 2, "controls": {"c0": {"kind": "twin", "of": "ref"}}}}


def cell(contender: str, round_: int, x: float, error: float = 0.01) -> Cell:
    cost = CostFigure(
        own_us=20.0, partner="ref", partner_us=10.0, ratio=math.exp(x), error=error, halves=1.0, halves_error=0.01, windows=8, speed=None
    )
    return Cell(round=round_, contender=contender, scenario="cost-read", profile="1cpu", model="closed", status="valid", cost=cost)


def run(draw: random.Random, rounds: float, starts: float, runs: float, count: int = 40) -> Iterator[Cell]:
    for contender in CONTENDERS:
        of_run = draw.gauss(0.7, runs)
        for start in range(count // 2):
            of_start = of_run + draw.gauss(0.0, starts)
            for turn in (1, 2):
                yield cell(contender, 2 * start + turn, of_start + draw.gauss(0.0, rounds))


def test_planted_parts_come_out_again() -> None:
    draw = random.Random(1)
    (found,) = budget([(PLAN, list(run(draw, 0.03, 0.05, 0.08))) for _ in range(20)])
    assert found.cells == 20 * 11 * 40  # the twin is left out
    assert found.windows == pytest.approx(1.0)
    assert found.rounds == pytest.approx(3.0, rel=0.1)
    assert found.starts == pytest.approx(5.0, rel=0.1)
    assert found.runs == pytest.approx(8.0, rel=0.15)


def test_noise_between_rounds_alone_is_no_noise_of_starts_or_runs() -> None:
    draw = random.Random(2)
    (found,) = budget([(PLAN, list(run(draw, 0.05, 0.0, 0.0))) for _ in range(20)])
    assert found.rounds == pytest.approx(5.0, rel=0.05)
    assert found.starts is not None
    assert found.starts < 1.0
    assert found.runs is not None
    assert found.runs < 1.0


def test_noise_of_few_starts_is_no_noise_of_runs() -> None:
    draw = random.Random(3)
    (found,) = budget([(PLAN, list(run(draw, 0.01, 0.05, 0.0, count=6))) for _ in range(60)])
    assert found.starts == pytest.approx(5.0, rel=0.1)
    assert found.runs is not None
    assert found.runs < 1.5  # 2.6 where a mean of three starts is taken for one of six


def test_one_run_with_one_round_a_start_tells_of_windows_alone() -> None:
    once = {"plan": {"rounds_per_start": 1}}
    (found,) = budget([(once, [cell("c1", number, 0.1 * number) for number in (1, 2, 3)])])
    assert (found.rounds, found.starts, found.runs) == (None, None, None)


def test_cells_that_do_not_count_and_cells_without_a_partner_tell_nothing() -> None:
    invalid = cell("c1", 1, 0.1).model_copy(update={"status": "invalid"})
    alone = cell("c1", 2, 0.1)
    assert alone.cost is not None
    alone = alone.model_copy(update={"cost": alone.cost.model_copy(update={"ratio": None, "partner": None})})
    assert budget([(PLAN, [invalid, alone])]) == []
