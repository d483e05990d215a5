"""Mixtures: what they ask, what they must cause, and what the cost model predicts of them."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from nsb.analyse import duet
from nsb.analyse import model as models
from nsb.analyse.model import KINDS
from nsb.measure import generator
from nsb.records.duet import Duet, Part
from nsb.registry.load import ConfigurationError, Registry, load
from nsb.registry.shapes import FullCore, Mixture, cost_rows
from nsb.render import size as words
from nsb.session.models import fitted as of_run
from test_duet import HONEST
from test_model import PLANTED, cells_of, fitted, plain

BENCH = Path(__file__).resolve().parents[1]


def mixtures(registry: Registry) -> dict[str, Mixture]:
    return {name: scenario for name, scenario in registry.scenarios.items() if isinstance(scenario, Mixture)}


def drawn(registry: Registry) -> list[Mixture]:
    """Without the workloads of the guide (tests/test_worked.py)."""
    return [each for name, each in mixtures(registry).items() if name.startswith("mix-")]


# --- what they ask ---------------------------------------------------------------------------------------------------------------


def test_rows_and_weights_were_drawn_and_not_chosen(registry: Registry) -> None:
    """Every second one also waits and calls."""
    draw, rows = random.Random(20261125), [each for each in registry.scenarios.values() if isinstance(each, FullCore)]
    order = ("hello", "read", "write", "compute", "fanout", "wait", "wait-query")
    by_name = {each.id.split("-", 1)[1]: each.id for each in rows}
    at_once, waiting = [by_name[name] for name in order[:4]], [by_name[name] for name in order[4:]]
    found = [each.parts for each in drawn(registry)]
    assert len(found) >= 6
    for number, parts in enumerate(found, 1):
        names = draw.sample(at_once, 3 if number % 2 else 2) + ([] if number % 2 else draw.sample(waiting, 2))
        assert parts == {name: draw.randint(1, 9) for name in names}


def test_a_mixture_asks_what_its_rows_ask_as_often_as_it_says(registry: Registry) -> None:
    for each in mixtures(registry).values():
        asked = generator.targets(each)
        assert [target.weight for target in asked] == list(each.parts.values())
        assert [target._replace(weight=1) for target in asked] == [generator.target(registry.scenarios[name]) for name in each.parts]
        assert {row.id for row in cost_rows([each])} == set(each.parts)
        assert set(each.paths) == {registry.scenarios[name].path for name in each.parts}


def test_a_part_must_be_a_cost_row(tmp_path: Path) -> None:
    text = (BENCH / "scenarios.toml").read_text(encoding="utf-8")
    for name in ("contenders.toml",):
        (tmp_path / name).write_text((BENCH / name).read_text(encoding="utf-8"), encoding="utf-8")
    mixture = (
        '\n[[scenario]]\nid = "of-none"\nshape = "mixture"\nwhy = ""\nparts = { hello-max = 1, nobody = 2 }\nvus = 1\ncompetitors = 0\n'
    )
    (tmp_path / "scenarios.toml").write_text(text + mixture, encoding="utf-8")
    with pytest.raises(ConfigurationError) as error:
        load(tmp_path)
    wrong = [each for each in error.value.mistakes if "of-none" in each]
    assert wrong == [f"scenarios.toml: scenario[of-none].parts: no cost row is named {name}" for name in ("hello-max", "nobody")]


# --- what they must cause --------------------------------------------------------------------------------------------------------

PARTS = [
    Part(scenario="read", statements=1, writes=False, reads_a_row=True, calls=0, call_ms=0),
    Part(scenario="write", statements=1, writes=True, reads_a_row=False, calls=0, call_ms=0),
    Part(scenario="call", statements=0, writes=False, reads_a_row=False, calls=3, call_ms=5),
]


def mixed(**changes: Any) -> Duet:
    """Of each service's answers a tenth was an insert and a tenth a call; the rest were reads."""
    both = []
    for each in (HONEST.own, HONEST.partner):
        assert each is not None
        tenth = each.answers // 10
        both.append(each.model_copy(update={"answers_of": [each.answers - 2 * tenth, tenth, tenth], "least_ms": 0.1}))
    reads, writes, calls = (sum(column) for column in zip(*(each.answers_of for each in both), strict=True))
    told = {
        "own": both[0], "partner": both[1], "parts": PARTS, "midway": [], "statements": 0, "calls": 0, "call_ms": 0, "hold_ms": 0,
        "executed": reads + writes + 1, "selects": reads, "inserts": writes + 1, "inserted": writes, "keys_read": reads,
        "called": 3 * calls, "asked_ms": 15 * calls,
    }  # fmt: skip
    return HONEST.model_copy(update={**told, **changes})


def told(of: Duet) -> list[str]:
    return [check.sentence for check in duet.checks(of) if check.outcome == "invalid"]


def test_an_honest_mixture_is_valid() -> None:
    assert told(mixed()) == []


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"called": 7}, "the upstream got 7 calls for"),
        ({"asked_ms": 7}, "the upstream was to wait 7 ms in all for"),
        ({"inserted": 7}, "the database has 7 new rows for"),
        ({"executed": 7}, "the database executed 7 statements (all) for"),
        ({"selects": 7}, "the database executed 7 statements (SELECT) for"),
        ({"inserts": 7}, "the database executed 7 statements (INSERT) for"),
        ({"keys_read": 7}, "the database looked up 7 rows by key for"),
    ],
)
def test_what_a_mixture_did_not_cause_is_told(changes: dict[str, Any], says: str) -> None:
    (sentence,) = told(mixed(**changes))
    assert says in sentence
    assert all(part.scenario in sentence for part in PARTS)


# --- what is predicted of them ---------------------------------------------------------------------------------------------------


def cells_with(registry: Registry, dearer: float) -> list[Any]:
    """`dearer`: how much more than the sum of its parts each mixture costs."""
    found = cells_of(registry, noise=0.01)
    for name, work in models.mixtures_of(registry.scenarios).items():
        for contender, planted in PLANTED.items():
            cost = models.cost_of(work, planted) * dearer
            found += [plain(contender, name, round_, cpu_us_per_request={"service": cost}) for round_ in range(1, 7)]
    return found


def with_memory(registry: Registry, cells: list[Any], more: float) -> list[Any]:
    """100 MiB and 0.5 MiB for each request in flight; `more`: by how much a mixture takes more."""
    rows = {each.id: each for each in registry.scenarios.values() if isinstance(each, FullCore | Mixture)}

    def held(cell: Any) -> Any:
        row = rows.get(cell.scenario)
        if row is None:
            return cell
        mib = (100 + 0.5 * row.vus) * (more if isinstance(row, Mixture) else 1)
        return cell.model_copy(update={"vus": row.vus, "memory_peak_mib": mib})

    return [held(cell) for cell in cells]


def test_an_average_request_does_the_weighted_work_of_the_rows(registry: Registry) -> None:
    found = models.mixtures_of(registry.scenarios)
    assert set(found) == set(mixtures(registry))
    name, each = next(iter(mixtures(registry).items()))
    whole = sum(each.parts.values())
    for k in range(len(KINDS)):
        parts = (weight * models.work_of(registry.scenarios[part])[k] for part, weight in each.parts.items())
        assert found[name][k] == pytest.approx(sum(parts) / whole)
    assert not set(found) & set(models.works_of(registry.scenarios))  # no fit uses them


@pytest.mark.parametrize("dearer", [1.0, 1.25])
def test_predictions_are_held_against_what_was_measured(registry: Registry, dearer: float) -> None:
    model = fitted(registry, cells_with(registry, dearer))
    found = [one for each in model.contenders for one in each.mixtures]
    assert len(found) == len(PLANTED) * len(mixtures(registry))
    for each in found:
        assert each.low is not None
        assert each.high is not None
        assert each.low <= each.off <= each.high
        assert each.off == pytest.approx(1 / dearer - 1, abs=0.02)
        assert each.predicted_us / each.measured_us - 1 == pytest.approx(each.off, abs=0.001)
    (line,) = [line for line in words.about(model) if "mixtures" in line]
    assert f"{len(found) if dearer == 1.0 else 0} of {len(found)} predictions" in line


@pytest.mark.parametrize("more", [1.0, 1.5])
def test_memory_is_predicted_from_that_of_the_rows(registry: Registry, more: float) -> None:
    model = fitted(registry, with_memory(registry, cells_with(registry, 1.0), more))
    for each in model.contenders:
        assert each.memory.base_mib is not None
        assert each.memory.base_mib.value == pytest.approx(100, rel=0.01)
        assert [one.memory_off for one in each.mixtures] == pytest.approx([1 / more - 1] * len(mixtures(registry)), abs=0.01)
    (line,) = [line for line in words.about(model) if line.startswith("Their memory")]
    whole = len(PLANTED) * len(mixtures(registry))
    assert f"{whole if more == 1.0 else 0} of {whole} predictions" in line


def test_memory_that_nobody_read_is_not_predicted(registry: Registry) -> None:
    model = fitted(registry, cells_with(registry, 1.0))
    assert {one.memory_off for each in model.contenders for one in each.mixtures} == {None}
    assert not [line for line in words.about(model) if line.startswith("Their memory")]


def test_what_no_cost_row_measures_is_not_predicted(registry: Registry) -> None:
    writing = {name for name, scenario in registry.scenarios.items() if isinstance(scenario, FullCore) and scenario.writes}
    model = fitted(registry, [cell for cell in cells_with(registry, 1.0) if cell.scenario not in writing])
    without = {name for name, each in mixtures(registry).items() if not writing & set(each.parts)}
    assert {one.scenario for each in model.contenders for one in each.mixtures} == without
    assert 0 < len(without) < len(mixtures(registry))


def test_the_committed_run_that_has_them_was_predicted() -> None:
    """33 of 36 within 15 % (CPU) and 20 % (memory), for six contenders and six mixtures."""
    newest = max(
        file.parent
        for file in (BENCH / "results").glob("*-standard/run.json")
        if "mix-1" in json.loads(file.read_text())["plan"]["scenarios"]
    )
    found = [(each.contender, one) for each in of_run(newest).contenders for one in each.mixtures]
    found = [one for name, one in found if name != "go-twin" and one.scenario.startswith("mix-")]
    assert len(found) == 36
    assert sum(abs(each.off) <= models.NEAR for each in found) >= 33
    assert sum(each.memory_off is not None and abs(each.memory_off) <= models.MEMORY_NEAR for each in found) >= 33
