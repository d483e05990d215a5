"""Contenders that are not set alike are found, by name and with both values; what may differ is shown."""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conftest import open_cell
from nsb.analyse import fairness, table
from nsb.analyse.validity import identity
from nsb.measure import manifest
from nsb.measure import runner as measuring
from nsb.measure.journal import Journal
from nsb.measure.process import Process, ProcessError, free_port
from nsb.measure.running import Died
from nsb.records.judged import Cell
from nsb.records.manifest import SETTINGS, Fairness, Granted, Manifest, RuntimeReport, Seen
from nsb.records.schema import SCHEMA
from nsb.registry.contenders import Contender
from nsb.registry.load import Registry
from nsb.render import fairness as report
from nsb.session.run import Refused, must_be_fair
from nsb.session.runs import read_run

BENCH = Path(__file__).resolve().parents[1]
RUNTIMES: dict[str, Any] = json.loads((BENCH / "results" / "20261126d-standard" / "run.json").read_text(encoding="utf-8"))["runtimes"]
GRANTED = Granted(workers=1, cores=[1], backlog=4096, nofile=20000, nice=0, memory_mib=2048)
SEEN = Seen(
    connections=150,
    open_transactions=0,
    backlog=[4096],
    listening_sockets=1,
    no_delay=True,
    pool_shares=[150],
    cores=[[1]],
    nice=0,
    nofile=20000,
    environment={"HOST": "127.0.0.1", "LANG": "C.UTF-8", "UPSTREAM_URL": "http://127.0.0.1:9000"},
)
SETTING_OF = {(setting.part, setting.name): setting for setting in SETTINGS}


def made(contender: Contender, runtime: dict[str, Any]) -> Manifest:
    environment = {**(SEEN.environment or {}), **contender.environment}
    return Manifest(
        said=RuntimeReport.of(runtime),
        seen=SEEN.model_copy(update={"environment": environment}),
        worker_processes=contender.worker_processes,
        own_environment=contender.environment,
        differs=contender.differs,
    )


@pytest.fixture
def cast(registry: Registry) -> dict[str, Manifest]:
    """All contenders of the committed run, with what they said there."""
    return {name: made(registry.contenders[name], runtime) for name, runtime in RUNTIMES.items()}


def bent(one: Manifest, part: str, name: str, value: Any) -> Manifest:
    return one.model_copy(update={part: getattr(one, part).model_copy(update={name: value})})


# --- between contenders -----------------------------------------------------------------------------------------------


def test_the_contenders_of_the_committed_run_are_alike(cast: dict[str, Manifest]) -> None:
    assert len(cast) == 8  # with the twin
    assert fairness.asymmetries(cast, GRANTED) == []


@pytest.mark.parametrize(
    ("part", "name", "value", "both"),
    [
        ("said", "pool_size", 151, ("151", "150")),
        ("seen", "connections", 149, ("149", "150")),
        ("seen", "open_transactions", 150, ("150", "0")),
        ("said", "workers", 2, ("2", "1")),
        ("said", "backlog", 511, ("511", "4096")),
        ("seen", "backlog", [511], ("511", "4096")),
        ("seen", "backlog", [511, 4096], ("511 and 4096", "4096")),
        ("seen", "no_delay", False, ("not set", "set")),
        ("said", "keep_alive_s", 5, ("5", "no limit")),
        ("said", "max_connections", 8192, ("8192", "no limit")),
        ("said", "db_acquire_timeout_ms", 30_000, ("30000", "60000")),
        ("said", "upstream_timeout_ms", 5000, ("5000", "70000")),
        ("said", "upstream_max_connections", 50, ("50", "no limit")),
        ("said", "upstream_idle_s", 90, ("90", "no limit")),
        ("seen", "cores", [[0, 1], [1]], ("0,1 and 1", "1")),
        ("seen", "cores", [[0]], ("0", "1")),
        ("seen", "nice", -5, ("-5", "0")),
        ("seen", "nofile", 1024, ("1024", "20000")),
        ("seen", "memory_limit_mib", 1024, ("1024", "2048")),
        ("seen", "cpu_quota", "1.5 cores", ("1.5 cores", "none")),
        ("seen", "pool_shares", [75, 75], ("75 + 75", "150")),
    ],
)
def test_each_planted_asymmetry_names_setting_contender_and_both_values(
    cast: dict[str, Manifest], part: str, name: str, value: Any, both: tuple[str, str]
) -> None:
    unlike = fairness.asymmetries({**cast, "rust": bent(cast["rust"], part, name, value)}, GRANTED)
    assert len(unlike) == 1
    title = SETTING_OF[part, name].title if (part, name) in SETTING_OF else "pool by process"
    assert (unlike[0].setting, unlike[0].one, (unlike[0].value, unlike[0].other_value)) == (title, "rust", both)
    sentence = unlike[0].sentence
    assert f"rust has {both[0]}," in sentence
    assert sentence.endswith(f" {both[1]}")
    assert unlike[0].other != "rust"
    assert sentence in fairness.refusal(unlike)


def test_every_compared_setting_is_among_the_planted_ones() -> None:
    marks = getattr(test_each_planted_asymmetry_names_setting_contender_and_both_values, "pytestmark")  # noqa: B009
    planted = {(part, name) for part, name, _, _ in marks[0].args[1]}
    compared = {(s.part, s.name) for s in SETTINGS if s.kind in ("equal", "limit")}
    assert compared - planted == {("said", "server_threads")}  # planted below: it needs two that have them


def test_a_number_of_threads_is_compared_among_those_that_have_them(cast: dict[str, Manifest]) -> None:
    two = {**cast, "second": bent(cast["java-pt"], "said", "server_threads", 100)}
    (unlike,) = fairness.asymmetries(two, GRANTED)
    assert unlike.sentence == "server threads (/runtime, C50): second has 100, java-pt has 200"


@pytest.mark.parametrize(("name", "value"), [("heap_max_mib", 512), ("gc", "ZGC"), ("runtime_version", "21.0.1")])
def test_heap_collector_and_version_are_compared_within_a_runtime_only(cast: dict[str, Manifest], name: str, value: Any) -> None:
    (unlike,) = fairness.asymmetries({**cast, "java-vt": bent(cast["java-vt"], "said", name, value)}, GRANTED)
    assert unlike.one == "java-vt"
    assert unlike.other.startswith("java-")
    assert unlike.value == str(value)
    assert fairness.asymmetries({**cast, "node": bent(cast["node"], "said", name, value)}, GRANTED) == []


@pytest.mark.parametrize(
    ("part", "name"),
    [
        ("seen", "backlog"),
        ("seen", "no_delay"),
        ("seen", "pool_shares"),
        ("seen", "nofile"),
        ("said", "keep_alive_s"),
        ("seen", "environment"),
    ],
)
def test_null_is_not_compared(cast: dict[str, Manifest], part: str, name: str) -> None:
    assert fairness.asymmetries({**cast, "go": bent(cast["go"], part, name, None)}, GRANTED) == []


def test_a_limit_that_nobody_can_reach_is_as_good_as_none(cast: dict[str, Manifest]) -> None:
    assert fairness.asymmetries({**cast, "go": bent(cast["go"], "said", "max_connections", 19_000)}, GRANTED) == []
    assert fairness.asymmetries({**cast, "go": bent(cast["go"], "said", "max_connections", 18_999)}, GRANTED) != []


def test_the_one_that_is_wrong_is_named_even_where_most_are_wrong(cast: dict[str, Manifest]) -> None:
    unlike = fairness.asymmetries({n: m if n == "go" else bent(m, "said", "pool_size", 151) for n, m in cast.items()}, GRANTED)
    assert {each.one for each in unlike} == set(cast) - {"go"}
    assert {each.other for each in unlike} == {"go"}


def test_one_contender_alone_is_compared_with_the_contract(cast: dict[str, Manifest]) -> None:
    assert fairness.asymmetries({"go": cast["go"]}, GRANTED) == []
    (unlike,) = fairness.asymmetries({"go": bent(cast["go"], "seen", "backlog", [511])}, GRANTED)
    assert unlike.sentence == "backlog in the kernel (kernel, C62): go has 511, the contract asks for 4096"


def test_a_variable_that_contenders_toml_does_not_declare_is_an_asymmetry(cast: dict[str, Manifest]) -> None:
    wild = {**(cast["node"].seen.environment or {}), "NODE_OPTIONS": "sha256 1"}
    (unlike,) = fairness.asymmetries({**cast, "node": bent(cast["node"], "seen", "environment", wild)}, GRANTED)
    assert "environment variable NODE_OPTIONS" in unlike.sentence
    assert "node has sha256 1" in unlike.sentence
    assert unlike.sentence.endswith("has no value")
    declared = {
        **cast,
        "node": bent(cast["node"], "seen", "environment", wild).model_copy(update={"own_environment": {"NODE_OPTIONS": "x"}}),
    }
    assert fairness.asymmetries(declared, GRANTED) == []


@pytest.mark.parametrize(
    ("processes", "shares", "fair"),
    [(True, [50, 50, 50], True), (True, [150], False), (True, [51, 50, 49], False), (False, [150], True), (False, [50, 50, 50], False)],
)
def test_worker_processes_are_counted_by_the_pools_that_they_hold(
    cast: dict[str, Manifest], processes: bool, shares: list[int], fair: bool
) -> None:
    one = bent(bent(cast["python"], "said", "workers", 3), "seen", "pool_shares", shares).model_copy(update={"worker_processes": processes})
    unlike = fairness.asymmetries({"python": one}, GRANTED.model_copy(update={"workers": 3}))
    assert ([each.setting for each in unlike] == []) is fair


def test_a_remainder_of_the_pool_belongs_to_the_first_workers(cast: dict[str, Manifest]) -> None:
    one = bent(bent(cast["python"], "said", "workers", 4), "seen", "pool_shares", [38, 38, 37, 37])
    assert fairness.asymmetries({"python": one}, GRANTED.model_copy(update={"workers": 4})) == []


# --- differences on purpose -------------------------------------------------------------------------------------------


def declared(one: Manifest, *settings: str) -> Manifest:
    return one.model_copy(update={"differs": dict.fromkeys(settings, "for that it stands")})


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        ("said", "server_threads", 3000),
        ("said", "runtime_version", "21.0.8"),
        ("said", "driver_version", "8.2.0"),
        ("said", "keep_alive_s", 5),
        ("said", "max_connections", 8192),
    ],
)
def test_a_declared_difference_is_no_asymmetry_and_the_only_one_allowed(
    cast: dict[str, Manifest], part: str, name: str, value: Any
) -> None:
    other = bent(cast["java-vt"], part, name, value)
    assert fairness.asymmetries({**cast, "other": declared(other, name)}, GRANTED) == []
    unlike = fairness.asymmetries({**cast, "other": declared(bent(other, "said", "backlog", 511), name)}, GRANTED)
    assert [(each.one, each.value) for each in unlike] == [("other", "511")]


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("workers", "workers (/runtime, C64): second is declared to differ, and has 1 as the contract has"),
        ("max_connections", "connections at most (/runtime, C62): second is declared to differ, and has no limit as the contract has"),
        ("runtime_version", "runtime version (/runtime, C3): second is declared to differ, and has 3.13.9 as python has"),
        ("concurrency_model", "second is declared to differ, and has uvloop event loop per process as python has"),
        ("pool_size", "pool size (/runtime, C60): second is declared to differ, and has 150 as the contract has"),
    ],
)
def test_a_declared_difference_that_is_not_there_is_an_asymmetry(cast: dict[str, Manifest], setting: str, sentence: str) -> None:
    python = bent(bent(cast["python"], "said", "runtime_version", "3.13.9"), "said", "concurrency_model", "uvloop event loop per process")
    (unlike,) = fairness.asymmetries({**cast, "python": python, "second": declared(python, setting)}, GRANTED)
    assert unlike.sentence.endswith(sentence)
    assert unlike.sentence in fairness.refusal([unlike])


def test_where_nobody_has_the_usual_value_a_declaration_may_be_true(cast: dict[str, Manifest]) -> None:
    assert fairness.asymmetries({"python": declared(cast["python"], "concurrency_model", "runtime_version")}, GRANTED) == []


def test_a_single_worker_holds_the_whole_pool(cast: dict[str, Manifest]) -> None:
    two = GRANTED.model_copy(update={"workers": 2})
    one = declared(cast["python"], "workers")
    assert fairness.asymmetries({"one": one}, two) == []
    (unlike,) = fairness.asymmetries({"one": bent(one, "seen", "pool_shares", [75, 75])}, two)
    assert (unlike.setting, unlike.value, unlike.other_value) == ("pool by process", "75 + 75", "150")


def test_the_database_sees_the_pool_that_is_declared(cast: dict[str, Manifest]) -> None:
    none = declared(bent(cast["go"], "said", "pool_size", 0), "pool_size")
    without = none.model_copy(update={"seen": none.seen.model_copy(update={"connections": 0, "pool_shares": None})})
    assert fairness.asymmetries({**cast, "without": without}, GRANTED) == []
    (unlike,) = fairness.asymmetries({**cast, "without": bent(without, "seen", "connections", 3)}, GRANTED)
    assert unlike.sentence == "pool open (database, C60): without has 3, its own pool has 0"


def test_a_service_that_leaves_something_out_is_no_manifest() -> None:
    told = {**RUNTIMES["go"], "settings": {k: v for k, v in RUNTIMES["go"]["settings"].items() if k != "backlog"}}
    with pytest.raises(ValueError, match="does not tell backlog"):
        RuntimeReport.of(told)


# --- a later start ----------------------------------------------------------------------------------------------------


@pytest.fixture
def record(cast: dict[str, Manifest]) -> Fairness:
    return Fairness(granted=GRANTED, statements={"read": 1}, contenders=cast)


def test_a_manifest_survives_run_json(record: Fairness) -> None:
    assert Fairness.model_validate(json.loads(json.dumps(record.model_dump(mode="json")))) == record


@pytest.mark.parametrize(
    ("part", "name", "value", "had"),
    [
        ("seen", "connections", 149, "150"),
        ("said", "heap_max_mib", 512, "1024"),
        ("said", "max_connections", 100, "no limit"),
        ("said", "db_statements", "text", "prepared"),
        ("seen", "pool_shares", [149, 1], "150"),
        ("seen", "environment", {"HOST": "0.0.0.0", "VIRTUAL_THREADS": "true"}, "127.0.0.1"),
    ],
)
def test_what_is_started_again_must_be_as_before(record: Fairness, part: str, name: str, value: Any, had: str) -> None:
    before = record.contenders["java-vt"]
    assert fairness.unlike(record, "java-vt", before) == []
    unlike = fairness.unlike(record, "java-vt", bent(before, part, name, value))
    assert unlike[0].sentence.endswith(f", its first start had {had}")


def test_the_upstreams_address_may_change_and_what_cannot_be_read_is_not_compared(record: Fairness) -> None:
    before = record.contenders["go"]
    moved = {**(before.seen.environment or {}), "UPSTREAM_URL": "http://127.0.0.1:9999"}
    assert fairness.unlike(record, "go", bent(before, "seen", "environment", moved)) == []
    assert fairness.unlike(record, "go", bent(before, "seen", "no_delay", None)) == []


def test_who_starts_late_is_compared_with_the_others(record: Fairness) -> None:
    rest = record.model_copy(update={"contenders": {n: m for n, m in record.contenders.items() if n != "go"}})
    assert fairness.unlike(rest, "go", record.contenders["go"]) == []
    (unlike,) = fairness.unlike(rest, "go", bent(record.contenders["go"], "said", "keep_alive_s", 60))
    assert (unlike.one, unlike.value, unlike.other_value) == ("go", "60", "no limit")


def test_a_contender_started_anew_with_another_setting_gets_no_cells(record: Fairness, monkeypatch: pytest.MonkeyPatch) -> None:
    runner: Any = object.__new__(measuring.Runner)
    runner.unlike = lambda name, now: [each.sentence for each in fairness.unlike(record, name, now)]
    runner.stage, runner._ground = SimpleNamespace(database=None, placement=SimpleNamespace(service=())), None
    runner.plan = SimpleNamespace(tier=SimpleNamespace(warm_cap_s=1.0))
    frozen: list[bool] = []
    process = SimpleNamespace(freeze=lambda: frozen.append(True), pin=lambda _: None)
    contender = SimpleNamespace(id="go", heap_mib=1024)
    running: Any = SimpleNamespace(
        contender=contender, process=process, ask=lambda: None, ready_s=0.1, ready_cpu_s=0.1, ready_mib=1.0, age_s=0.2, manifest=None
    )
    monkeypatch.setattr(measuring, "wait_pool", lambda *_: True)
    monkeypatch.setattr(measuring.warming, "warm", lambda *_: ({}, []))
    monkeypatch.setattr(manifest, "read", lambda *_: record.contenders["go"])
    runner._prepare(running, {}, [])
    assert frozen == [True]
    monkeypatch.setattr(manifest, "read", lambda *_: bent(record.contenders["go"], "seen", "backlog", [511]))
    with pytest.raises(Died, match="go has 511, its first start had 4096"):
        runner._prepare(running, {}, [])


# --- statements per request -------------------------------------------------------------------------------------------


def cell(contender: str, statements: int | None, *reasons: str) -> Cell:
    return Cell(
        round=1, contender=contender, scenario="read", profile="1cpu", model="open", status="invalid" if reasons else "valid",
        requests=1000, statements=statements, reasons=list(reasons),
    )  # fmt: skip


def too_many() -> str:
    """What V9 says of two statements per request."""
    o = open_cell(statements=1, executed=4000)
    assert o.load is not None
    judged = identity(o, o.load)
    return f"{judged.id} {judged.sentence}"


def test_another_number_of_statements_names_both(record: Fairness) -> None:
    cells = [cell("go", 998), cell("rust", 1001), cell("node", 2000, too_many())]
    (unlike,) = fairness.miscounts(record, cells)
    assert unlike.sentence == "statements per request of read (cells, C61): node has 2.00, go has 1.00"
    (unlike,) = fairness.miscounts(record, cells[2:])
    assert unlike.sentence.endswith("node has 2.00, the contract asks for 1")


def test_as_many_statements_as_declared_are_no_asymmetry_whatever_else_was_wrong(record: Fairness) -> None:
    assert fairness.miscounts(record, [cell("go", 998), cell("node", 1003, "V9 151 connections where 150 are declared")]) == []


def test_statements_of_failed_requests_say_nothing(record: Fairness) -> None:
    assert fairness.miscounts(record, [cell("go", 998), cell("node", 2000, "V1 5 failures", too_many())]) == []
    assert fairness.statements_per_request([cell("go", 998), cell("go", 5, "V1 900 failures")]) == pytest.approx(0.998)
    assert fairness.statements_per_request([cell("go", None)]) is None


# --- in the report ----------------------------------------------------------------------------------------------------


def run_of(record: Fairness) -> dict[str, Any]:
    plan = {
        "tier": "standard", "profile": "1cpu", "rounds": 1, "contenders": list(record.contenders), "scenarios": ["read"],
        "headlines": {"read": "cpu"}, "models": {"read": "open"},
    }  # fmt: skip
    return {"plan": plan, "fairness": record.model_dump(mode="json")}


def test_the_page_shows_what_is_equal_in_one_line_and_what_differs_by_contender(record: Fairness) -> None:
    run = run_of(record)
    blocks = report.section(table.make(run, [cell("go", 1000), cell("rust", 990)]), run)
    equal = next(block for block in blocks if block.startswith("Equal for all: "))
    for text in (
        "pool size 150",
        "pool open 150",
        "backlog in the kernel 4096",
        "TCP_NODELAY set",
        "cores of the threads 1",
    ):
        assert text in equal
    rows = {line.split(" | ")[0].strip("| "): line.strip("| ").split(" | ")[1:] for line in blocks[-1].splitlines()}
    by_name = {title: dict(zip(record.contenders, values, strict=True)) for title, values in list(rows.items())[2:]}
    assert (by_name["keep-alive, s"]["go"], by_name["keep-alive, s"]["rust"]) == ("75", "no limit")
    assert by_name["server threads"]["java-pt"] == "200"
    assert by_name["server threads"]["go"] == "–"
    assert by_name["runtime"]["go"] == "Go 1.26.8"
    assert by_name["statements"]["java-webflux"] == "text"
    assert by_name["heap at most, MiB"]["java-vt"] == "1024"
    assert by_name["environment of its own"]["java-pt"] == "VIRTUAL_THREADS=false"
    assert by_name["statements per request of read (1 declared)"]["rust"] == "0.99"


def test_the_page_says_where_a_scenario_has_a_heap_of_its_own(record: Fairness) -> None:
    run = run_of(record)
    run["plan"] = {**run["plan"], "heaps_mib": {"read": 4096}}
    said = "For scenarios with a heap of their own every JVM was started with that one: read 4,096 MiB.\n"
    assert said in report.section(table.make(run, []), run)
    assert not any("heap of their own" in block for block in report.section(table.make(run_of(record), []), run_of(record)))


def test_the_page_says_where_several_generators_drove_all_contenders(record: Fairness) -> None:
    run = run_of(record.model_copy(update={"generators": 2, "undivided": {"read": "it has 1 user", "write": "it has 1 user"}}))
    said = "2 generators divided each load, for all contenders alike. One alone drove read, write (it has 1 user).\n"
    assert said in report.section(table.make(run, []), run)
    assert not any("generators" in block for block in report.section(table.make(run_of(record), []), run_of(record)))


def test_the_page_gives_the_reason_of_a_difference_on_purpose(record: Fairness) -> None:
    one = declared(bent(record.contenders["java-pt"], "said", "server_threads", 3000), "server_threads")
    run = run_of(record.model_copy(update={"contenders": {**record.contenders, "java-pt": one}}))
    page = "".join(report.section(table.make(run, []), run))
    assert "On purpose, and so not compared:\n\n- java-pt, server threads 3000: for that it stands\n" in page
    assert "refused" not in page


def test_a_refused_run_says_in_its_page_why(record: Fairness) -> None:
    odd = {**record.contenders, "go": bent(record.contenders["go"], "seen", "nofile", 1024)}
    run = run_of(record.model_copy(update={"contenders": odd}))
    text = "\n".join(report.section(table.make(run, []), run))
    assert "go has 1024, " in text
    assert text.index("Not alike") < text.index("Equal for all")


def test_what_cannot_be_read_is_said(record: Fairness) -> None:
    blind = {name: bent(m, "seen", "no_delay", None) for name, m in record.contenders.items()}
    run = run_of(record.model_copy(update={"contenders": blind}))
    assert "TCP_NODELAY not readable" in "\n".join(report.section(table.make(run, []), run))


def test_a_run_without_a_manifest_has_no_such_part() -> None:
    run = {"plan": {**run_of(Fairness(granted=GRANTED, statements={}, contenders={}))["plan"], "scenarios": []}}
    assert report.section(table.make(run, []), run) == []


# --- the run is refused -----------------------------------------------------------------------------------------------


@dataclass
class Runner:
    """As much of the runner as must_be_fair touches."""

    found: dict[str, Manifest]
    unlike: Callable[[str, Manifest], list[str]] = lambda *_: ["not set"]

    def manifests(self) -> dict[str, Manifest]:
        return self.found


@dataclass
class Plan:
    contenders: list[Contender]
    scenarios: list[Any] = field(default_factory=list)
    generators: tuple[tuple[int, ...], ...] = ()
    undivided: dict[str, str] = field(default_factory=dict)


@pytest.fixture
def hold(registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """must_be_fair with the machine's facts as GRANTED; returns the runner after it."""
    monkeypatch.setattr(manifest, "granted", lambda _: GRANTED)
    plan: Any = Plan([registry.contenders[name] for name in RUNTIMES])

    def held(found: dict[str, Manifest], facts: dict[str, Any]) -> Runner:
        runner: Any = Runner(found)
        must_be_fair(runner, plan, None, Journal(tmp_path), facts)  # type: ignore[arg-type]
        return runner  # type: ignore[no-any-return]

    return held


def test_a_fair_run_keeps_its_manifests(hold: Any, cast: dict[str, Manifest], tmp_path: Path) -> None:
    facts: dict[str, Any] = {"schema": SCHEMA}
    runner = hold(dict(reversed(cast.items())), facts)
    assert list(facts["fairness"]["contenders"]) == list(cast)
    assert runner.unlike("go", cast["go"]) == []
    (other,) = runner.unlike("go", bent(cast["go"], "seen", "nofile", 1024))
    assert "go has 1024, its first start had" in other
    assert read_run(tmp_path)[0]["fairness"] == facts["fairness"]


def test_an_unfair_run_is_refused_and_the_evidence_kept(hold: Any, cast: dict[str, Manifest], tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"pool open \(database, C60\): node has 149, \S+ has 150") as refused:
        hold({**cast, "node": bent(cast["node"], "seen", "connections", 149)}, {"schema": SCHEMA})
    assert "--contenders" in str(refused.value)
    assert read_run(tmp_path)[0]["fairness"]["contenders"]["node"]["seen"]["connections"] == 149


def test_a_refused_run_may_go_on_once_it_is_mended(hold: Any, cast: dict[str, Manifest]) -> None:
    facts: dict[str, Any] = {"schema": SCHEMA}
    with pytest.raises(Refused):
        hold({**cast, "node": bent(cast["node"], "seen", "nofile", 1024)}, facts)
    hold(cast, facts)
    assert facts["fairness"]["contenders"]["node"]["seen"]["nofile"] == 20000


def test_a_resumed_run_must_be_as_it_was(hold: Any, cast: dict[str, Manifest]) -> None:
    facts: dict[str, Any] = {}
    hold({name: one for name, one in cast.items() if name != "go"}, facts)
    hold(cast, facts)
    assert list(facts["fairness"]["contenders"]) == list(cast)
    moved = {name: _elsewhere(one) for name, one in cast.items()}
    runner = hold({name: moved[name] for name in ("rust", "python")}, facts)  # a sitting has a port of its own for the upstream
    assert runner.unlike("go", moved["go"]) == []
    with pytest.raises(Refused, match="rust has 1024, its first start had 20000"):
        hold({"rust": bent(cast["rust"], "seen", "nofile", 1024)}, facts)
    assert facts["fairness"]["contenders"]["rust"]["seen"]["nofile"] == 20000


def test_who_starts_first_after_a_resume_is_told_the_address_of_that_sitting(hold: Any, cast: dict[str, Manifest]) -> None:
    facts: dict[str, Any] = {}
    hold({"rust": cast["rust"]}, facts)
    moved = {name: _elsewhere(one) for name, one in cast.items()}
    runner = hold({"python": moved["python"]}, facts)  # one at a time: go had no turn before the run was interrupted
    assert runner.unlike("go", moved["go"]) == []
    (other,) = runner.unlike("go", cast["go"])
    assert other.startswith("environment variable UPSTREAM_URL (kernel, C50): go has ")
    hold({"go": moved["go"]}, facts)
    assert list(facts["fairness"]["contenders"]) == [name for name in cast if name in ("go", "rust", "python")]
    with pytest.raises(Refused, match="UPSTREAM_URL"):
        hold({"go": cast["go"], "python": moved["python"]}, facts)


def _elsewhere(manifest: Manifest) -> Manifest:
    return bent(manifest, "seen", "environment", {**(manifest.seen.environment or {}), "UPSTREAM_URL": "http://127.0.0.1:9999"})


# --- read from a process ----------------------------------------------------------------------------------------------

SERVICE = """
import os, resource, socket, sys, threading
backlog, nodelay, niceness, files, database = (int(each) for each in sys.argv[1:])
os.nice(niceness)
resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
pool = [socket.create_connection(("127.0.0.1", database)) for _ in range(3)]
server = socket.create_server(("127.0.0.1", int(os.environ["PORT"])), backlog=backlog)
threading.Thread(target=lambda: threading.Event().wait(), daemon=True).start()
print("up", flush=True)
while True:
    end, _ = server.accept()
    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, nodelay)
    while data := end.recv(65536):
        end.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok")
"""


@dataclass
class Database:
    port: int

    def connections(self, _: str) -> int:
        return 150

    def open_transactions(self, _: str) -> int:
        return 0


@dataclass
class Running:
    contender: Contender
    process: Process
    base_url: str
    runtime: dict[str, Any]
    stderr_tail: str = "its last words"

    @property
    def pid(self) -> int:
        return self.process.pid


@dataclass
class Stage:
    database: Database


@contextmanager
def service(contender: Contender, folder: Path, *arguments: int) -> Iterator[tuple[Any, Any]]:
    """A process that has in effect what the arguments say: backlog, TCP_NODELAY, nice, nofile."""
    port, core = free_port(), max(os.sched_getaffinity(0))
    with socket.create_server(("127.0.0.1", 0)) as database:
        database_port = database.getsockname()[1]
        command = [sys.executable, "-c", SERVICE, *(str(each) for each in (*arguments, database_port))]
        environment = {"PORT": str(port), "LANG": "C.UTF-8", "SECRET": "hunter2", "DATABASE_URL": "mysql://u:hunter2@h/d"}
        environment |= dict.fromkeys(manifest.SHELLS, "/left/by/a/launcher")
        process = Process("test", command, folder / "log", environment, [core])
        try:
            until = time.monotonic() + 60
            while "up" not in process.last_words() and process.exit_code is None and time.monotonic() < until:
                time.sleep(0.01)
            yield Running(contender, process, f"http://127.0.0.1:{port}", RUNTIMES["go"]), Stage(Database(database_port))
        finally:
            process.end(1)


def test_the_kernel_tells_what_a_process_has_in_effect(registry: Registry, tmp_path: Path) -> None:
    with service(registry.contenders["go"], tmp_path, 100, 1, 0, 512) as (running, stage):
        one = manifest.read(running, stage)
    own_nice = os.getpriority(os.PRIO_PROCESS, 0)
    assert (one.seen.nofile, one.seen.nice, one.seen.cores) == (512, own_nice, [[max(os.sched_getaffinity(0))]])
    assert one.seen.backlog in ([100], None)
    assert one.seen.no_delay in (True, None)
    assert one.seen.pool_shares == [3]
    assert one.seen.environment is not None
    assert {*one.seen.environment} - {"LC_CTYPE"} == {"LANG", "SECRET"}
    assert one.seen.environment["LANG"] == "C.UTF-8"
    assert "hunter2" not in one.model_dump_json()
    assert one.said == RuntimeReport.of(RUNTIMES["go"])


def test_what_was_planted_in_a_process_is_found(registry: Registry, tmp_path: Path) -> None:
    nice = min(19, os.getpriority(os.PRIO_PROCESS, 0) + 1)
    with service(registry.contenders["go"], tmp_path, 511, 0, 1, 1024) as (running, stage):
        os.sched_setaffinity(running.pid, os.sched_getaffinity(0))  # one thread of two, where there are two cores
        one = manifest.read(running, stage)
    assert (one.seen.nofile, one.seen.nice) == (1024, nice)
    assert one.seen.backlog in ([511], None)
    assert one.seen.no_delay in (False, None)
    every, core = sorted(os.sched_getaffinity(0)), max(os.sched_getaffinity(0))
    assert one.seen.cores == sorted({tuple(each): each for each in (every, [core])}.values())


def test_a_contender_that_has_ended_cannot_be_looked_at(registry: Registry, tmp_path: Path) -> None:
    with service(registry.contenders["go"], tmp_path, 100, 1, 0, 512) as (running, stage):
        running.process.end(1)
        with pytest.raises(ProcessError, match="go cannot be looked at"):
            manifest.read(running, stage)


def test_what_says_nothing_of_itself_is_refused(registry: Registry, tmp_path: Path) -> None:
    with service(registry.contenders["go"], tmp_path, 100, 1, 0, 512) as (running, stage):
        running.runtime = {"workers": 1}
        with pytest.raises(ProcessError, match="does not tell runtime, "):
            manifest.read(running, stage)


def test_a_number_that_is_still_changing_is_waited_for() -> None:
    seen = iter([148, 149, 150])
    assert manifest._settled(lambda: next(seen), 150) == 150
