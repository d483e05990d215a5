"""The committed runs' conclusions, with data altered by a tenth: those near a border change, those far from it do not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from nsb.analyse.claims import judged
from nsb.analyse.merged import Across, across
from nsb.measure.journal import read_starts_of
from nsb.records.judged import Cell
from nsb.registry.claims import CapRule, Claims, Comparison, FigureRule, JudgedClaim, MarginRule, MeasuredRule
from nsb.registry.load import load, load_claims
from nsb.registry.terms import Metric
from nsb.session.outputs import committed_before, read_code_of
from nsb.session.runs import read_run

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("committed")]  # every committed run is judged once for all of them
ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench" / "results"
TENTH = 1.1
EQUALITY = (MarginRule, CapRule)


@cache
def known() -> Claims:
    return load_claims(ROOT / "bench", load(ROOT / "bench"))


@cache
def everything() -> dict[str, Across]:
    """As docs/verdicts.md has it: the newest standard run first."""
    newest = sorted(RESULTS.glob("*-standard"))[-1]
    run, cells = read_run(newest)
    own = judged(run, cells, read_starts_of(newest), read_code_of(newest), known())
    runs = [(each.folder, each.judgement) for each in committed_before(ROOT, newest, known())]
    return {each.claim.id: each for each in across([(newest.relative_to(ROOT).as_posix(), own), *runs])}


@cache
def recorded(folder: Path) -> tuple[dict[str, Any], list[Cell]]:
    return read_run(folder)


def judge_alone(id_: str, folder: Path, cells: Sequence[Cell] | None = None) -> JudgedClaim:
    run, unaltered = recorded(folder)
    alone = known().model_copy(update={"claims": {id_: known().claims[id_]}})
    return judged(run, unaltered if cells is None else cells, read_starts_of(folder), read_code_of(folder), alone).claims[0]


def altered(cells: Sequence[Cell], contender: str, scenario: str, factor: float) -> list[Cell]:
    """Every figure of the contender there times `factor`, and of its twin, so that the gate says what it said."""

    def times(value: float | None) -> float | None:
        return None if value is None else value * factor

    def one(cell: Cell) -> Cell:
        if cell.scenario != scenario or cell.contender not in (contender, f"{contender}-twin"):
            return cell
        slope = cell.memory_slope and cell.memory_slope.model_copy(update={"kib": cell.memory_slope.kib * factor})
        latency = cell.latency_ms.model_copy(update={name: times(value) for name, value in cell.latency_ms})
        cpu = {role: times(value) for role, value in cell.cpu_us_per_request.items()}
        levels = (
            [] if cell.overload is None else [each.model_copy(update={"goodput": times(each.goodput)}) for each in cell.overload.levels]
        )
        return cell.model_copy(
            update={
                "throughput_rps": times(cell.throughput_rps), "latency_ms": latency, "memory_slope": slope,
                "cpu_us_per_request": cpu, "connections": times(cell.connections), "memory_peak_mib": times(cell.memory_peak_mib),
                "overload": cell.overload and cell.overload.model_copy(update={"levels": levels}),
            }
        )  # fmt: skip

    return [one(cell) for cell in cells]


def room(found: JudgedClaim) -> tuple[float, set[tuple[str, str, float]]]:
    """The factor by which figures must change until their claim is no longer decided so; whose they are, in which scenario, and in which
    direction. What refutes must all be gone: the largest; of what supports one is enough: the smallest."""
    rooms = []
    for part in found.parts:
        rows = {row.contender: row.value for row in part.rows}
        for each in part.comparisons:
            if part.verdict == each.verdict == found.conclusion and each.value is not None:
                assert isinstance(part.rule, MeasuredRule)
                rooms.append((*_room(part.rule, each, rows), part.rule.scenario))
    factor, contender, towards, scenario = (max if found.conclusion == "REFUTED" else min)(rooms)
    whose = {contender: (contender, scenario, towards)}
    if found.conclusion == "REFUTED":
        whose |= {name: (name, where, way) for _, name, way, where in rooms if name != contender and where == scenario}
    others = {each.other for part in found.parts for each in part.comparisons if each.contender == contender}
    if any(name in others and way != towards for name, _, way in whose.values()):  # both sides of its ratio move
        factor = math.sqrt(factor)
    return factor, set(whose.values())


def _room(rule: object, each: Comparison, rows: dict[str, float | None]) -> tuple[float, str, float]:
    assert each.low is not None
    assert each.high is not None
    assert each.value is not None
    own = rows[each.contender]
    assert own is not None
    if own == 0:
        return math.inf, each.contender, TENTH  # a factor moves nothing
    equality = isinstance(rule, EQUALITY) or (isinstance(rule, FigureRule) and rule.rule == "figure_equals")
    border = 0.0 if each.border is None else each.border
    low, high, value = each.low, each.high, each.value
    if each.unit == "ratio":
        low, high, value, border = (math.log(edge) for edge in (low, high, value, border))
    if equality:
        band = _band(rule, each)
        up, down = border + band - high, low - (border - band)
        if each.verdict == "REFUTED":
            up, down = (border - band - high, math.inf) if value < border else (math.inf, low - (border + band))
    elif value > border:
        up, down = math.inf, low - border
    else:
        up, down = border - high, math.inf
    if each.unit == "ratio":
        return (math.exp(up), each.contender, TENTH) if up < down else (math.exp(down), each.contender, 1 / TENTH)
    return (1 + up / own, each.contender, TENTH) if up < down else (1 / (1 - min(down / own, 0.99)), each.contender, 1 / TENTH)


def _band(rule: object, each: Comparison) -> float:
    if isinstance(rule, FigureRule):
        return math.log1p(rule.margin) if each.unit == "ratio" else rule.margin * rule.value
    if isinstance(rule, CapRule):
        return math.log1p(rule.margin)
    assert isinstance(rule, MarginRule)
    return math.log1p(rule.margin or 0.10) if each.unit == "ratio" else rule.margin or 1.0


def compared() -> list[str]:
    """The decided claims whose deciding parts compare figures. The others rest on words: what held the contenders back."""
    found = []
    for id_, each in everything().items():
        parts = [part for part in each.claim.parts if part.verdict == each.claim.conclusion]
        if each.claim.conclusion in ("SUPPORTED", "REFUTED") and any(part.comparisons for part in parts):
            found.append(id_)
    return found


def test_a_tenth_changes_the_conclusions_that_are_near_a_border_and_no_others() -> None:
    changed, rooms = [], {}
    for id_ in compared():
        folder = ROOT / everything()[id_].folder
        before = judge_alone(id_, folder)
        assert before.conclusion == everything()[id_].claim.conclusion
        factor, whose = room(before)
        cells = recorded(folder)[1]
        for contender, scenario, towards in whose:
            cells = altered(cells, contender, scenario, towards)
        after = judge_alone(id_, folder, cells)
        rooms[id_] = f"{sorted(whose)} × {factor:.3g}: {before.conclusion} → {after.conclusion}"
        if after.conclusion != before.conclusion:
            changed.append(id_)
        if abs(math.log(factor) / math.log(TENTH) - 1) > 0.1:
            assert (after.conclusion != before.conclusion) == (factor < TENTH), rooms[id_]
    assert 5 <= len(changed) <= len(rooms) - 5, rooms  # those that stay are further off than a tenth: `rooms` says how far


def test_numbers_change_with_the_data_as_well() -> None:
    checked = 0
    for id_, each in everything().items():
        number, asked = each.claim.number, known().claims[id_].number
        if number is None or asked is None or number.came != "AGAIN" or number.value is None:
            continue
        ours = asked.ours or number.theirs.ours
        assert ours is not None
        folder = ROOT / each.number_folder
        metric: Metric = ours.metric
        assert metric != "threads"
        factor = TENTH * TENTH if (number.factor or 1) >= 1 else 1 / TENTH / TENTH
        cells = altered(recorded(folder)[1], ours.contender, ours.scenario, factor)
        if metric == "duration":
            cells = [
                one.model_copy(update={"window_s": one.window_s * factor}) if one.contender == ours.contender else one for one in cells
            ]
        after = judge_alone(id_, folder, cells).number
        assert after is not None
        assert after.came != "AGAIN", id_
        checked += 1
    assert checked >= 6


def test_no_tautology_is_supported_by_any_committed_run() -> None:
    asked = {id_ for id_, claim in known().claims.items() if claim.question and claim.question.kind == "tautology"}
    assert asked
    assert {everything()[id_].claim.conclusion for id_ in asked} == {"TAUTOLOGY"}
    for id_ in asked:
        assert [run for run, claim in everything()[id_].against if claim.conclusion == "SUPPORTED"] == []
