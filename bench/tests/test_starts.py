"""Start-up and warm-up: what is recorded survives, what is not known is not shown."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from nsb.analyse import table
from nsb.analyse.starts import Span, span, summed, warm_after_s
from nsb.measure import running as running_module
from nsb.measure.journal import Journal, JournalError, cut_torn_tail, read_starts_of
from nsb.measure.process import free_port
from nsb.measure.running import Died, Running, StartLimit, wait_ready
from nsb.records.starts import Start, Visit, read_starts, steady
from nsb.registry.claims import Claims
from nsb.render import starts as report
from nsb.session.outputs import outputs

RUN = Path(__file__).parent / "recordings" / "run"
SINCE_S, VISIT_S = 2.0, 3.0


def visits(*costs_us: float, row: str | None = None, connections: int = 8, since_s: float = SINCE_S) -> list[Visit]:
    """Visits to one row, one after the other."""
    return [
        Visit(
            began_s=since_s + VISIT_S * n,
            ended_s=since_s + VISIT_S * (n + 1),
            scenario=row,
            connections=connections,
            answers=100,
            cost_us=cost,
        )
        for n, cost in enumerate(costs_us)
    ]


def start(contender: str = "a", **changes: object) -> Start:
    data: dict[str, object] = {
        "round": 1, "contender": contender, "started_at": "2026-01-31T12:00:00+00:00", "ready_s": 1.0, "pool_s": 1.2, "cpu_s": 0.8,
        "pss_mib": 50.0, "visits": visits(100.0, 100.0),
    }  # fmt: skip
    return Start.model_validate({**data, **changes})


# --- warm after -------------------------------------------------------------------------------------------------------------


def test_a_service_that_costs_the_same_from_the_first_request_on_is_warm_at_once() -> None:
    assert warm_after_s(start(visits=visits(100.0, 101.0, 99.0))) == 0.0


def test_a_service_is_warm_when_the_last_visit_that_made_a_request_cheaper_is_over() -> None:
    assert warm_after_s(start(visits=visits(300.0, 200.0, 150.0, 148.0, 151.0))) == 3 * VISIT_S


def test_rows_and_numbers_of_connections_are_compared_with_themselves_alone() -> None:
    told = [*visits(300.0, 100.0), *visits(30.0, 20.0, row="a", since_s=20.0), *visits(15.0, 15.0, row="a", connections=64, since_s=30.0)]
    assert warm_after_s(start(visits=told)) == pytest.approx(20.0 - SINCE_S + 2 * VISIT_S)


def test_a_start_that_ended_by_its_cap_or_was_not_recorded_has_no_such_figure() -> None:
    assert warm_after_s(start(visits=visits(300.0, 200.0), rising=True)) is None
    assert warm_after_s(start(visits=[])) is None


@pytest.mark.parametrize(
    ("costs", "is_steady"),
    [
        ([], False),
        ([100.0], False),
        ([100.0, 100.0], False),
        ([100.0, 100.0, 100.0], True),
        ([100.0, 50.0, 50.0], False),  # the last but one was cheaper than all before
        ([100.0, 50.0, 50.0, 50.0], True),
        ([100.0, 130.0, 96.0], True),  # within a twentieth of the cheapest so far
        ([100.0, 130.0, 94.0], False),
    ],
)
def test_a_row_is_steady_when_its_last_two_visits_brought_nothing(costs: list[float], is_steady: bool) -> None:
    assert steady(costs, quiet=2) is is_steady


# --- over all starts --------------------------------------------------------------------------------------------------------


def test_one_start_gives_no_figure_a_few_the_range_and_five_an_interval() -> None:
    assert span([1.0]) is None
    assert span([1.0, 3.0, 2.0]) == Span(value=2.0, low=1.0, high=3.0, starts=3, spread="range")
    found = span([1.0, 1.1, 1.2, 1.1, 1.0])
    assert found is not None
    assert (found.spread, found.starts) == ("interval", 5)
    assert found.low < found.value < found.high
    zeros = span([0.0, 0.0, 0.5, 0.25, 0.5])  # no logarithm
    assert zeros is not None
    assert zeros.spread == "range"


def test_a_start_that_was_not_warm_in_time_leaves_no_figure_that_would_flatter() -> None:
    cold = start(rising=True)
    (found,) = summed([start(), start(), cold], ["a"])
    assert found.warm_after_s is None
    assert found.ready_s is not None
    assert found.notes == ["not warm within the warm-up in 1 of 3 starts"]


def test_a_process_that_was_warmed_for_a_ladder_alone_says_nothing_of_warm_after() -> None:
    both = [start(visits=visits(300.0, 100.0, 100.0)) for _ in range(2)]
    with_ladders, without = (
        summed([*both, start(visits=visits(100.0, 100.0), ladder="in-flight-memory", rising=True)], ["a"]),
        summed(both, ["a"]),
    )
    assert with_ladders[0].starts == 3
    assert with_ladders[0].warm_after_s == without[0].warm_after_s is not None
    assert with_ladders[0].notes == without[0].notes == []


def test_a_start_that_failed_is_counted_and_said() -> None:
    failed = start(failure="a ended with 1", ready_s=None, pool_s=None, cpu_s=None, pss_mib=None, visits=[])
    (found,) = summed([start(), start(), failed], ["a"])
    assert (found.starts, found.failed) == (3, 1)
    assert found.ready_s is not None
    assert found.ready_s.starts == 2
    assert found.notes == ["1 of 3 starts failed: a ended with 1"]


def test_a_pool_that_did_not_open_in_time_is_said() -> None:
    (found,) = summed([start(), start(pool_s=None)], ["a"])
    assert found.pool_s is None
    assert found.notes == ["the pool was not open in time in 1 of 2 starts"]


def test_contenders_come_in_the_order_of_the_plan_and_only_those_that_were_started() -> None:
    assert [found.contender for found in summed([start("b"), start("a")], ["a", "b", "c"])] == ["a", "b"]


# --- shown ------------------------------------------------------------------------------------------------------------------


def test_the_section_explains_itself_and_shows_every_spread() -> None:
    text = "\n".join(report.section(summed([start(ready_s=1.0), start(ready_s=2.0), start(ready_s=4.0)], ["a"])))
    assert "| a | 3 | 2.00 (1.00–4.00) |" in text
    assert "may use all cores" in text
    assert "median" in text
    assert "t interval" not in text
    five = "\n".join(report.section(summed([start(ready_s=1.0 + n / 10) for n in range(5)], ["a"])))
    assert "t interval" in five


def test_one_round_shows_no_figure_and_says_why() -> None:
    text = "\n".join(report.section(summed([start()], ["a"])))
    assert "no spread" in text
    assert "1.00" not in text


def test_a_run_without_recorded_starts_has_no_section() -> None:
    assert report.section([]) == []


# --- recorded ---------------------------------------------------------------------------------------------------------------


def test_starts_are_kept_line_by_line_and_a_torn_tail_is_cut(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    for name in ("a", "b"):
        journal.start(start(name))
    file = tmp_path / "starts.jsonl"
    assert [found.contender for found in read_starts_of(tmp_path)] == ["a", "b"]
    whole = file.read_bytes()
    file.write_bytes(whole + whole[:40])
    assert [found.contender for found in read_starts_of(tmp_path)] == ["a", "b"]
    cut_torn_tail(tmp_path)
    assert file.read_bytes() == whole


def test_a_broken_line_or_another_schema_is_refused(tmp_path: Path) -> None:
    line = start().line().encode() + b"\n"
    with pytest.raises(ValueError, match="line 1"):
        read_starts([line[:50] + b"\n", line])
    with pytest.raises(ValueError, match="schema"):
        read_starts([json.dumps({**json.loads(line), "schema": 99}).encode() + b"\n"])
    (tmp_path / "starts.jsonl").write_bytes(line[:50] + b"\n")
    with pytest.raises(JournalError, match=r"starts\.jsonl"):
        read_starts_of(tmp_path)


def test_outputs_have_the_section_where_starts_were_recorded(tmp_path: Path, claims: Claims) -> None:
    run = json.loads((RUN / "run.json").read_text(encoding="utf-8"))
    outputs(tmp_path, run, [], claims)
    assert report.HEADING not in (tmp_path / "table.md").read_text(encoding="utf-8")
    journal = Journal(tmp_path)
    for ready_s in (1.0, 2.0):
        journal.start(start(run["plan"]["contenders"][0], ready_s=ready_s))
    outputs(tmp_path, run, [], claims)
    assert report.HEADING in (tmp_path / "table.md").read_text(encoding="utf-8")
    told = json.loads((tmp_path / "table.json").read_text(encoding="utf-8"))
    assert told["startups"][0]["ready_s"] == {"value": 1.5, "low": 1.0, "high": 2.0, "starts": 2, "spread": "range"}


def test_a_table_of_an_old_run_has_no_startups() -> None:
    run = json.loads((RUN / "run.json").read_text(encoding="utf-8"))
    assert table.make(run, []).startups == []


# --- ready ------------------------------------------------------------------------------------------------------------------


class Starting:
    """A process that nobody can reach: at each look it has used as many seconds of CPU as `used` says, and then no more."""

    exit_code, began = None, 0.0

    def __init__(self, *used: float) -> None:
        self.used = list(used)
        self.looks = 0

    def gauge(self) -> Starting:
        return self

    def cpu_s(self) -> float:
        self.looks += 1
        return self.used[min(self.looks, len(self.used)) - 1]

    def last_words(self) -> str:
        return ""


def waited_for(process: Starting, monkeypatch: pytest.MonkeyPatch, computing_s: float) -> str:
    monkeypatch.setattr(running_module, "LOOK_S", 0.01)
    running = Running(SimpleNamespace(id="a"), process, f"http://127.0.0.1:{free_port()}")  # type: ignore[arg-type]
    with pytest.raises(Died, match=r"a was not ready within \d+ s \(/readyz\)") as died:
        wait_ready(running, "/readyz", StartLimit(process, 0.01, computing_s))
    return str(died.value)


def test_a_service_that_still_computes_gets_more_time_to_start(monkeypatch: pytest.MonkeyPatch) -> None:
    idle, busy = Starting(0.0), Starting(100.0, 200.0, 300.0)
    waited_for(idle, monkeypatch, computing_s=600.0)
    waited_for(busy, monkeypatch, computing_s=600.0)
    assert (idle.looks, busy.looks) == (1, 4), "the fourth look found no more CPU than the third"


def test_a_service_that_computes_for_ever_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    for_ever = Starting(*(100.0 * n for n in range(1, 10_000)))
    waited_for(for_ever, monkeypatch, computing_s=2.0)
    assert for_ever.looks > 1
