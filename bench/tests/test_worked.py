"""The worked workloads of the guide: what was measured of requests like theirs is held against what the model says of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from nsb.analyse import worked as workloads
from nsb.analyse.model import Predicted
from nsb.analyse.size import EXAMPLES
from nsb.records.cells import Reading
from nsb.records.judged import Cell
from nsb.registry.load import Registry
from nsb.registry.shapes import ClosedUsers
from nsb.render.messages import LANGUAGES, text
from nsb.session.models import of_committed
from test_model import plain

IDLE = "idle-connections"
MODEL = of_committed(Path(__file__).resolve().parents[1])
NAMES = [each.contender for each in MODEL.contenders]


def found(registry: Registry, cells: list[Cell]) -> dict[str, list[workloads.Worked]]:
    return workloads.newest(workloads.worked(MODEL, NAMES, cells, registry.scenarios))


def test_every_worked_workload_has_a_measurement(registry: Registry) -> None:
    named = {name.removeprefix(workloads.PREFIX) for name in registry.scenarios if name.startswith(workloads.PREFIX)}
    assert named | {workloads.IDLE_WORKLOAD} == set(EXAMPLES)
    assert {workloads.workload_of(each) for each in registry.scenarios.values()} - {None} == set(EXAMPLES)
    for name in EXAMPLES:
        assert all("RATIOS" in text(f"guide.worked.{name}", language, run="RUN", ratios="RATIOS") for language in LANGUAGES)


def test_a_mixture_is_held_against_the_cost_rows_of_its_run(registry: Registry) -> None:
    checked = Predicted(scenario="work-crud", measured_us=55.0, predicted_us=50.0, off=-1 / 11, low=-0.2, high=0.25)
    alone = checked.model_copy(update={"low": None, "high": None})
    fitted = {"go": checked, "rust": alone, "node": checked.model_copy(update={"scenario": "mix-1"})}
    own = [each.model_copy(update={"mixtures": [fitted[each.contender]]}) for each in MODEL.contenders if each.contender in fitted]
    cells = [plain(name, "work-crud", n) for name in fitted for n in (1, 2)]
    (found,) = workloads.worked(MODEL.model_copy(update={"contenders": own}), NAMES, cells, registry.scenarios)
    assert [(each.contender, each.ratio, each.low, each.high) for each in found.checked] == [("go", 1.1, 0.8, 1.25)], "others lack a spread"


def test_a_blocking_library_is_held_against_the_loop_or_the_users(registry: Registry) -> None:
    scenario = registry.scenarios["work-legacy"]
    assert isinstance(scenario, ClosedUsers)
    cells = [plain(name, scenario.id, n, throughput_rps=20.0 + n / 100) for name in ("node", "go", "java-pt") for n in (1, 2)]
    (of_run,) = found(registry, cells)["legacy"]
    checked = {each.contender: each for each in of_run.checked}
    hold_s = scenario.hold_ms / 1000
    assert checked["node"].predicted == pytest.approx(1 / hold_s, rel=0.01), "one loop serves one after the other"
    for name in ("go", "java-pt"):
        assert checked[name].predicted == pytest.approx(scenario.vus / hold_s, rel=0.01)
        assert checked[name].ratio == pytest.approx(20 * hold_s / scenario.vus, rel=0.01)


def ladder(per_mib: float, most_mib: float) -> list[Reading]:
    """30 MiB and so much for each 1,000 connections, but with most of them."""
    return [Reading(users=users, in_flight=None, pss_mib=30 + per_mib * users / 1000) for users in (0, 1000, 5000)] + [
        Reading(users=10_000, in_flight=None, pss_mib=most_mib)
    ]


def test_memory_of_idle_connections_is_held_against_the_line_through_fewer_of_them(registry: Registry) -> None:
    cells = [plain("go", IDLE, n, ladder=ladder(20.0, 253.0 + n / 10)) for n in (1, 2)]
    short = [plain("rust", IDLE, n, ladder=ladder(5.0, 80.0)[2:]) for n in (1, 2)]
    other = [plain("nobody", IDLE, n, ladder=ladder(20.0, 253.0 + n / 10)) for n in (1, 2)]  # not of the model
    (of_run,) = found(registry, [*cells, *short, *other])["chat"]
    (checked,) = of_run.checked
    assert (checked.contender, checked.predicted) == ("go", pytest.approx(230.0))
    assert checked.ratio == pytest.approx(1.1, rel=0.01)


def test_of_each_contender_the_newest_run_that_has_a_workload_is_told(registry: Registry) -> None:
    both = []
    for run, names in (("newer", ["go"]), ("older", ["go", "rust"]), ("oldest", ["rust"])):
        cells = [plain(name, IDLE, n, ladder=ladder(20.0, 230.0 + n / 10)) for name in names for n in (1, 2)]
        both += workloads.worked(MODEL.model_copy(update={"run": run}), NAMES, cells, registry.scenarios)
    told = workloads.newest(both)["chat"]
    assert [(each.run, [one.contender for one in each.checked]) for each in told] == [("newer", ["go"]), ("older", ["rust"])]
