"""Cells in which the memory of a JVM ends: how many connections it held, and what stands against that."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conftest import recorded
from nsb.analyse import table as tables
from nsb.analyse.cells import judged, read_cells
from nsb.analyse.physics import Impossible
from nsb.measure import exhausting
from nsb.measure.process import Process
from nsb.records.cells import Record
from nsb.records.exhausted import Exhausted
from nsb.records.held import Held
from nsb.registry import plan as plans
from nsb.registry import shapes
from nsb.registry.load import Registry
from nsb.render import markdown
from test_overload import facts

WORDS = "Terminating due to java.lang.OutOfMemoryError: Java heap space"


def observed(opened: int = 850, refused: int = 1, ended: int = 850, **changes: Any) -> Exhausted:
    told: dict[str, Any] = {
        "heap_mib": 128, "rate": 500, "most": 15000, "lasted_s": 2.0, "exit_code": 3, "last_words": WORDS, "pss_mib": 236.0,
        "held": Held(opened=opened, refused=refused, ended=ended, why="connection refused"),
    }  # fmt: skip
    return Exhausted(**{**told, **changes})


def record(seen: Exhausted, contender: str = "java-vt", round_: int = 1) -> Record:
    return recorded(contender, round_, "over", model="open", exhausted=seen)


def test_the_headline_is_how_many_it_held() -> None:
    found = judged(record(observed()))
    assert (found.status, found.reasons, found.doubts) == ("valid", [], [])
    assert found.headline("connections") == found.metric("connections") == 850
    assert found.memory_peak_mib == 236.0


@pytest.mark.parametrize(
    ("seen", "says"),
    [
        (observed(15000, 0, 0, exit_code=None), "V1 it held all 15000 connections: its memory did not end"),
        (observed(0, 1, 0), "V1 it held none: connection refused"),
        (
            observed(exit_code=-9, last_words="hello"),
            "V1 it ended with -9 at 850 connections, and does not say that its memory was full: hello",
        ),
    ],
)
def test_who_did_not_end_for_want_of_memory_has_no_figure_that_counts(seen: Exhausted, says: str) -> None:
    found = judged(record(seen))
    assert found.status == "invalid"
    assert found.reasons[0].startswith(says)


def test_who_is_full_and_does_not_end_has_a_figure_with_a_doubt() -> None:
    found = judged(record(observed(exit_code=None, last_words="")))
    assert (found.status, found.connections) == ("valid", 850)
    assert found.doubts == ["V1 it did not end when it was full, but let clients wait or refused them: connection refused"]


def test_counts_that_cannot_be_stop_the_reader() -> None:
    line = record(observed(ended=851)).line()
    with pytest.raises(Impossible, match=re.escape("of 15000 connections 850 were held and 1 refused, and 851 ended")):
        read_cells([line.encode()])
    (found,) = read_cells([record(observed()).line().encode()])
    assert found.connections == 850


def test_rounds_have_an_interval_in_the_table() -> None:
    cells = [judged(record(observed(opened), "java-vt", number)) for number, opened in enumerate((840, 850, 860, 845, 855, 850), 1)]
    run = facts(["java-vt"])
    run["plan"] |= {"headlines": {"over": "connections"}, "models": {"over": "open"}, "rates": {"over": 500}}
    table = tables.make(run, cells)
    (entry,) = [entry for entry in table.entries if entry.scenario == "over"]
    assert entry.figure is not None
    assert 840 < entry.figure.low < entry.figure.value < entry.figure.high < 860  # type: ignore[operator]
    assert "| **over**<br><sub>connections</sub> | 850" in markdown.table_block(table)


def test_no_more_connections_are_opened_than_files_are_allowed(registry: Registry) -> None:
    (full,) = [each for each in registry.scenarios.values() if isinstance(each, shapes.Exhaustion)]
    within = full.within(5000)
    assert isinstance(within, shapes.Exhaustion)
    assert within.most < 5000
    assert full.within(10**6) == full
    plan = plans.make(registry, "short", ["java-vt"], [full.id], "1cpu", 1, 1, nofile=5000)
    assert [plan.cut_short(each) for each in plan.scenarios] == [
        "up to 4,500 connections of 10,000: more open files are not allowed here (ulimit -Hn 10500 for all)"
    ]


def test_each_is_announced_by_what_it_held_before(registry: Registry) -> None:
    (full,) = [each for each in registry.scenarios.values() if isinstance(each, shapes.Exhaustion)]
    assert full.contenders is not None
    assert {*full.held_before} == {*full.contenders}
    plan = plans.make(registry, "short", plans.with_twins(["java-vt", "java-webflux"], registry, ["java-vt"]), [full.id], "1cpu", 1, 1)
    taken = {each.id: plan.timing(full).window_s + full.load_s(each) for each in plan.contenders}
    held = full.held_before["java-vt"] / full.rate
    assert taken == pytest.approx({"java-vt": held, "java-vt-twin": held, "java-webflux": full.held_before["java-webflux"] / full.rate})


def test_what_the_holder_and_the_service_told_is_the_record(tmp_path: Path, registry: Registry) -> None:
    """The processes are real, the programs are fakes: one holds five connections, the other one ends for want of memory."""
    report = {"opened": 5, "refused": 1, "ended": 5, "why": "connection reset"}
    program = tmp_path / "holder"
    told = f"import json, os, pathlib; order = json.loads(os.environ['NSB_HOLD']); assert order['until_full'], order; made = {report}"
    program.write_text(f"#!{sys.executable}\n{told}\npathlib.Path(order['report']).write_text(json.dumps(made))\n")
    program.chmod(0o755)
    service = f"import sys; print({WORDS!r}, file=sys.stderr); sys.exit(3)"
    process = Process("service", [sys.executable, "-c", service], tmp_path / "service.log")
    stage = SimpleNamespace(logs=tmp_path, placement=SimpleNamespace(generator=(0,)))
    contender = SimpleNamespace(heap_mib=128)
    running = SimpleNamespace(base_url="http://127.0.0.1:1", process=process, contender=contender)
    scenario = next(each for each in registry.scenarios.values() if isinstance(each, shapes.Exhaustion))
    found = exhausting.measure(stage, program, scenario, running, "01-a-1")  # type: ignore[arg-type]
    assert (found.held, found.exit_code, found.last_words) == (Held(**report), 3, WORDS)  # type: ignore[arg-type]
    assert (found.heap_mib, found.most) == (128, scenario.most)
    assert judged(record(found)).connections == 5
