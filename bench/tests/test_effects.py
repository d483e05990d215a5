"""What a cell under k6 caused is compared with what was sent: each way to answer without the work, and honest loads beside them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import open_cell
from nsb.analyse import effects
from nsb.analyse.cells import judged
from nsb.measure.effects import call_ms, quoted
from nsb.records.cells import Record
from nsb.records.effects import Effects
from nsb.records.held import Held
from nsb.records.summary import Load
from nsb.registry.load import Registry
from test_cells import record

SENT, ANSWERED = 2603, 2600
NOTHING: dict[str, Any] = {
    "counted": 2601, "clients": 100, "calls": 0, "call_ms": 0, "called": None, "asked_ms": None, "statements": 0, "questions": None,
    "selects": None, "inserts": None, "keys_read": None, "inserted": None, "asleep": None, "looks": 0,
}  # fmt: skip
READS = {"statements": 2, "prepared": 5202, "questions": 5204, "selects": 5204, "inserts": 0, "keys_read": 2602}
INSERTS = {"statements": 1, "questions": 2602, "selects": 0, "inserts": 2602, "inserted": 2602}
CALLS = {"calls": 10, "call_ms": 100, "called": 26010, "asked_ms": 2_601_000}
SLEEPS = {"statements": 1, "questions": 2602, "selects": 2602, "inserts": 0, "asleep": 140, "looks": 2}


def load(**changes: Any) -> Load:
    usual = open_cell().load
    assert usual is not None
    return replace(usual, **{"sent_all": SENT, "answered_all": ANSWERED, "opened_all": 100, **changes})


def said(caused: dict[str, Any], held: Held | None = None, in_database: float = 0.0, known: bool = True, **of_load: Any) -> list[str]:
    found = effects.checks(Effects(**{**NOTHING, **caused}), load(**of_load), held, in_database, known)
    return [f"{check.id} {check.outcome}: {check.sentence}" for check in found if check.outcome != "ok"]


@pytest.mark.parametrize("caused", [{}, READS, INSERTS, CALLS, SLEEPS, {**CALLS, "called_in_time": 20_000}, {"clients": None}])
def test_an_honest_load_is_nowhere_doubted(caused: dict[str, Any]) -> None:
    assert said(caused, in_database=145.0) == []


@pytest.mark.parametrize(
    ("caused", "sentence"),
    [
        ({"counted": 26010}, "V5 invalid: the service counted 26010 requests; k6 sent 2603 and had 2600 answers"),
        ({"counted": 1300}, "V5 invalid: the service counted 1300 requests; k6 sent 2603 and had 2600 answers"),
        ({"counted": None}, "V5 doubt: the service did not say how many requests it counted (/stats)"),
        ({**CALLS, "called": 0, "asked_ms": 0}, "V9 invalid: the upstream got 0 calls for 2600 answers of 10; "
         "the upstream was to wait 0 ms in all for 2600 answers of 10 × 100 ms"),
        ({**CALLS, "asked_ms": 26_010}, "V9 invalid: the upstream was to wait 26010 ms in all for 2600 answers of 10 × 100 ms"),
        ({**CALLS, "called_in_time": 19_999}, "V9 invalid: when the window closed there were 19999 calls for 2000 answers of 10: "
         "work is done outside of the window"),
        ({**INSERTS, "inserted_in_time": 1}, "V9 invalid: when the window closed there were 1 new rows for 2000 answers: "
         "work is done outside of the window"),
        ({**INSERTS, "inserted": 0}, "V9 invalid: the database has 0 new rows for 2600 answers"),
        ({**INSERTS, "inserts": 0, "selects": 2602}, "V9 invalid: 0 of 2602 statements were INSERT, and 2602 of another kind"),
        ({**READS, "questions": 2602, "selects": 2602}, "V9 invalid: the database executed 2602 statements for 2600 answers of 2; "
         "2602 of 2602 statements were SELECT, and 0 of another kind"),
        ({**READS, "prepared": 330}, "V9 invalid: 330 of 5204 statements were prepared ones, as the service says that all are"),
        ({**READS, "keys_read": 3}, "V9 invalid: the database looked up 3 rows by key for 2600 answers of one row each"),
        ({**SLEEPS, "asleep": 0}, "V9 invalid: 0 statements at most waited in the database, in 2 looks, where 145 do on average"),
    ],
)  # fmt: skip
def test_an_answer_without_its_work_is_invalid(caused: dict[str, Any], sentence: str) -> None:
    assert said(caused, in_database=145.0) == [sentence]


def test_connections_that_are_closed_are_a_doubt() -> None:
    assert said({}, opened_all=2700) == ["V9 doubt: 2700 connections were opened for 100 users: the service closes them"]
    assert said({"clients": None}, opened_all=2700) == []


def test_what_is_held_beside_a_load_is_counted_by_the_service_too() -> None:
    assert said({"counted": 2601 + 400}, Held(opened=400, refused=0, ended=0, why="")) == []
    assert said({"counted": 2601 + 900}, Held(opened=400, refused=0, ended=0, why=""))[0].startswith("V5 invalid")


def test_the_last_request_of_each_user_is_counted_by_the_service_too() -> None:
    assert said({"counted": 2601 + 90}, odd_all=100) == []
    assert said({"counted": 2601 + 110}, odd_all=100)[0].startswith("V5 invalid")


def test_few_requests_in_the_database_may_be_missed() -> None:
    assert said({**SLEEPS, "asleep": 0}, in_database=4.0) == []


def test_others_may_use_a_database_of_ones_own() -> None:
    assert said({**READS, "questions": 9000}, known=False)[0].startswith("V9 doubt: the database executed 9000 statements")


def test_a_run_from_before_is_not_asked() -> None:
    assert said({"counted": 0}, sent_all=None, answered_all=None) == []


def test_the_record_of_a_cheat_is_an_invalid_cell_and_is_read_back_as_it_was() -> None:
    found = record(load=load(), effects=Effects(**{**NOTHING, **CALLS, "called": 0}))
    assert Record.model_validate_json(found.line()) == found
    cell = judged(found)
    assert (cell.status, cell.reasons) == ("invalid", ["V9 the upstream got 0 calls for 2600 answers of 10"])
    assert judged(record(load=load(), effects=Effects(**{**NOTHING, **CALLS}))).status == "valid"


def test_a_wrong_answer_is_quoted(tmp_path: Path) -> None:
    log = tmp_path / "k6.log"
    words = r"asked GET http://127.0.0.1:1/books/7 , expected {\"id\":7}, got {\"id\":8}"
    log.write_text(f'time="2026" level=info msg=begun\ntime="2026" level=error msg="wrong answer: {words}" source=console\n')
    told = 'asked GET http://127.0.0.1:1/books/7 , expected {"id":7}, got {"id":8}'
    assert quoted(log) == told
    assert quoted(tmp_path / "none") is None
    cell = judged(record(load=load(wrong=1), wrong_answer=told))
    assert cell.reasons == [f"V1 0 requests failed, 1 answers were wrong (40 bodies were compared): {told}"]


def test_what_each_upstream_call_waits_is_in_the_path(registry: Registry) -> None:
    found = {
        scenario.id: (scenario.upstream_calls, call_ms(scenario)) for scenario in registry.scenarios.values() if scenario.upstream_calls
    }
    assert found
    assert all(calls > 0 for calls, _ in found.values())
    assert all(wait == 0 for wait in map(call_ms, (s for s in registry.scenarios.values() if not s.upstream_calls)))
