"""The guide: who is near, who is not distinguishable, and no answer without figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from nsb.analyse.digest import Digest, Factor, Mark, Place, Row
from nsb.analyse.model import CostModel
from nsb.analyse.worked import Checked, Worked
from nsb.registry.claims import Said
from nsb.registry.digest import Chosen, DigestPlan, Question
from nsb.render import guide
from nsb.session.models import of_committed

MODEL = CostModel(run="a", started_at="", machine="m", profile="1cpu", reference=None, contenders=[])
QUESTION = Question(kind="least", row="cost", en="Which?", ko="무엇?", changes=Said(en="More.", ko="더."))
PLAN = DigestPlan.model_validate({"row": [{"id": "cost", "en": "a", "ko": "b"}], "finding": []}).model_copy(
    update={"questions": [QUESTION]}
)


def place(name: str, value: float, low: float, high: float, tied: bool = False) -> Place:
    """`low` and `high`: of its factor to the leader."""
    beside = {"leader": Factor(value=value, low=low, high=high, unit="ratio", tied=tied)}
    return Place(contender=name, value=value, low=value * 0.9, high=value * 1.1, mark="unknown", fails=False, factors=beside)


def told(*places: Place, interval: bool = True, mark: Mark = "best") -> list[str]:
    chosen = Chosen(id="cost", en="a", ko="b")
    leader = Place(contender="leader", value=1.0, low=0.9, high=1.1, mark=mark, fails=False)
    row = Row(chosen=chosen, unit="CPU µs/request", better="less", interval=interval, leader="leader", few=False, places=[leader, *places])
    found = Digest(contenders=["leader", *(each.contender for each in places)], rows=[row], findings=[])
    return [each.told for each in guide.answers(PLAN, found, MODEL, "en")]


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (place("b", 1.5, 1.4, 1.6), "Near: b"),
        (place("b", 1.9, 1.7, 2.1), "More: b"),  # it may be more than twice
        (place("b", 1.1, 1.05, 1.2, tied=True), "Not distinguishable: b"),
        (place("b", 1.1, 0.9, 1.3), "Not distinguishable: b"),  # nobody compared them, and the interval does not tell them apart
    ],
)
def test_who_is_told_as_what(other: Place, says: str) -> None:
    (answer,) = told(other)
    assert answer.startswith("Least: **leader**")
    assert says in answer


def test_in_a_row_that_nobody_compared_the_values_alone_are_told() -> None:
    (answer,) = told(place("b", 1.5, 1.4, 1.6), mark="unknown")
    assert answer.startswith("leader 1.00 µs (0.90–1.10), b 1.50 µs")
    assert answer.endswith("They were not compared.")


def test_without_an_interval_nothing_is_answered() -> None:
    assert told(place("b", 1.5, 1.4, 1.6), interval=False) == []
    assert told() == []  # nobody to be beside


def test_who_was_not_held_against_a_measurement_is_named() -> None:
    model = of_committed(Path(__file__).resolve().parents[1])
    checked = [Checked(contender=name, predicted=10.0, ratio=1.1, low=1.0, high=1.2) for name in ("go", "rust")]
    worked = {"crud": [Worked(workload="crud", run="r", what="cpu", rounds=3, checked=checked)]}
    lines = guide.page(PLAN, Digest(contenders=[], rows=[], findings=[]), model, worked, "results/r", "en").splitlines()
    (unchecked,) = [line for line in lines if line.startswith("Not held against a measurement: ")]
    assert set(unchecked.partition(": ")[2].rstrip(".").split(", ")) == {each.contender for each in model.contenders} - {"go", "rust"}
