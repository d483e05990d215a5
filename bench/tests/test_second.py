"""The second generator: its report, planted violations, its place in every output, and what happens where it cannot be had."""

from __future__ import annotations

import csv as csv_module
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from conftest import BENCH, closed_cell
from nsb.analyse import second, table
from nsb.analyse.second import Count, Expected, Inserted, Report
from nsb.analyse.validity import Observation, Stats
from nsb.measure import oha
from nsb.measure.process import ProcessError
from nsb.measure.tools import Found, Missing, Workshop
from nsb.registry.model import Cell, Half, Registry, Scenario, SecondFigure, timing
from nsb.render import csv, markdown, terminal, words

RAW: dict[str, Any] = {
    # Written by hand after print_json of oha 1.16.0 (src/printer.rs).
    "summary": {
        "successRate": 1.0, "total": 12.803, "slowest": 0.021, "fastest": 0.0002, "average": 0.0064, "requestsPerSec": 10000.0,
        "totalData": 640_000, "sizePerRequest": 5, "sizePerSec": 50000.0,
    },
    "metrics": {
        "success_rate": 1.0, "requests_per_sec": 10000.0,
        "latency_ms": {"min": 0.2, "mean": 6.4, "p50": 6.3, "p95": 8.0, "p99": 9.0, "max": 21.0},
    },
    "responseTimeHistogram": {"0.0002": 1, "0.021": 127999},
    "latencyPercentiles": {"p10": 0.005, "p50": 0.0063, "p99.99": 0.02},
    "firstByteHistogram": {"0.0002": 1},
    "firstBytePercentiles": {"p50": 0.0063},
    "rps": {"mean": 10012.0, "stddev": 300.0, "max": 12000.0, "min": 9000.0, "percentiles": {"p50": 10010.0}},
    "details": {
        "DNSDialup": {"average": 0.001, "fastest": 0.0005, "slowest": 0.002},
        "DNSLookup": {"average": 1e-6, "fastest": 1e-6, "slowest": 1e-6},
        "firstByte": {"average": 0.006, "fastest": 0.0002, "slowest": 0.02},
    },
    "statusCodeDistribution": {"200": 128_000},
    "errorDistribution": {},
}  # fmt: skip
EXPECTED = Expected(200, "hello", 64)


def report(**changes: Any) -> Report:
    return second.parse(json.dumps({**RAW, **changes}))


def measured(**changes: Any) -> SecondFigure:
    """64 users for 10 s at 10,000/s with a full core of the service, bent in one place."""
    found: Report = changes.pop("report", report())
    counted = changes.pop("counted", 128_000)
    window = second.load(found, [Count(100.0, 20_000), Count(105.0, 70_000), Count(110.0, 120_000)], 10.0)
    used = {"service": 9.8, "generator": 5.0, **changes.pop("cpu_s", {})}
    o: Observation = closed_cell(100_000, 64, 0.0, **{"load": window, "half_cpu_s": (4.9, 4.9), "cpu_s": used, **changes})
    return second.figure("oha 1.16.0", o, found, counted, EXPECTED, "oha/a.json")


def test_the_report_is_read() -> None:
    assert report() == Report({200: 128_000}, {}, 640_000, 0.0064)
    nothing = {**RAW["summary"], "average": None, "totalData": 0}
    assert report(summary=nothing, statusCodeDistribution={}).mean_s is None


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"summary": null}', json.dumps({**RAW, "statusCodeDistribution": {"ok": 1}})])
def test_another_shape_is_refused(text: str) -> None:
    with pytest.raises(second.ReportError):
        second.parse(text)


def test_the_window_is_counted_between_the_readings() -> None:
    """Readings come milliseconds late: a rate divides by the time between them, not by the time between the edges."""
    load = second.load(report(), [Count(100.0, 0), Count(105.5, 55_000), Count(110.0, 100_000)], 10.0)
    assert (load.halves[0].count, load.halves[1].count, load.requests) == (50_000, 50_000, 100_000)


def test_a_full_core_of_the_service_is_a_capacity() -> None:
    found = measured()
    assert (found.status, found.limit, found.reasons, found.doubts) == ("valid", "cpu", [], [])
    assert (found.requests, found.throughput_rps) == (100_000, 10_000.0)
    assert found.cpu_us_per_request == {"service": 98.0, "generator": 50.0}
    assert [half.requests for half in found.halves] == [50_000, 50_000]


@pytest.mark.parametrize(
    ("cpu_s", "limit"),
    [({"service": 5.0, "generator": 9.6}, "generator"), ({"service": 5.0, "generator": 5.0}, None)],
)
def test_else_it_is_a_bound_of_its_own(cpu_s: dict[str, float], limit: str | None) -> None:
    found = measured(cpu_s=cpu_s)
    assert (found.status, found.limit) == ("censored", limit)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"report": report(statusCodeDistribution={"200": 127_999, "503": 1})}, "V1 1 answers had another status than 200"),
        ({"report": report(errorDistribution={"connection closed": 2})}, "V1 2 requests failed (connection closed)"),
        ({"report": report(summary={**RAW["summary"], "totalData": 640_001})}, "V1 the bodies have 640001 bytes where 640000 are expected"),
        ({"report": report(statusCodeDistribution={}), "counted": 0}, "nothing was answered"),
        ({"counted": 127_900}, "V5 the service counted 127900 requests, oha 128000 answers"),
        ({"cpu_s": {"service": 9.8, "foreign": 3.0}}, "V7 others used 15% of the machine"),
        ({"steal_s": 1.0}, "V7"),
        ({"db_connections": 152}, "V9"),
    ],
)
def test_a_planted_violation_is_found(changes: dict[str, Any], sentence: str) -> None:
    found = measured(**changes)
    assert found.status == "invalid"
    assert any(sentence in reason for reason in found.reasons)


@pytest.mark.parametrize(
    ("changes", "check"),
    [
        ({"report": report(summary={**RAW["summary"], "average": 0.0070})}, "V4"),
        ({"cpu_s": {"service": 9.8, "foreign": 1.5}}, "V7"),
        ({"cpu_s": {"service": 9.8, "foreign": 3.0}, "rehearsal": True}, "V7"),
        ({"half_cpu_s": (7.0, 2.8)}, "V8"),
        ({"cpu_s": {"service": 9.1, "generator": 8.5}}, "V6"),
    ],
)
def test_a_doubt_is_told(changes: dict[str, Any], check: str) -> None:
    found = measured(**changes)
    assert found.status == "valid"
    assert [doubt.split()[0] for doubt in found.doubts] == [check]


def insert(rows: int, digits: int, body_bytes: int) -> tuple[str, str]:
    """The outcome and the sentence of 20,000 answers of 201 to inserts, whose bodies are `{"id":*}`."""
    found = report(statusCodeDistribution={"201": 20_000}, summary={**RAW["summary"], "totalData": body_bytes})
    check = second.answers(found, Expected(201, '{"id":*}', 64, Inserted(rows, digits)))
    return check.outcome, check.sentence


def test_answers_to_inserts_are_rows_with_ids_of_that_length() -> None:
    """Ids from 10001 to 30000 have five digits each; `{"id":}` has seven bytes."""
    assert insert(20_000, 100_000, 240_000) == ("ok", "")
    assert insert(20_000, 100_000, 160_000) == ("invalid", "the bodies have 160000 bytes where 240000 are expected")
    assert insert(19_999, 99_995, 239_995) == ("invalid", "the database has 19999 rows of 20000 answers")


def test_only_plain_closed_requests_and_inserts_are_measured_again(registry: Registry) -> None:
    plain = Scenario(id="x", why="", path="/hello", body="hello", model="closed", vus=64, headline="throughput")
    assert plain.measured_again
    changes: list[dict[str, Any]] = [
        {"model": "open", "rate": 1},
        {"hold_ms": 1},
        {"ids": 9},
        {"method": "POST"},
        {"send": "{}"},
        {"body": "*"},
    ]
    inserts = plain.model_copy(update={"method": "POST", "send": "{}", "body": '{"id":*}', "writes": True})
    assert inserts.measured_again
    assert not inserts.model_copy(update={"body": '{"id":*,"at":*}'}).measured_again
    assert [s.id for s in registry.scenarios.values() if s.measured_again] == ["hello-max", "book-write-max"]
    for change in changes:
        assert not Scenario(**{**plain.model_dump(), **change}).measured_again
    for scenario in registry.scenarios.values():
        seen = timing(scenario, registry.tiers["standard"])
        assert (seen.second_s > seen.settle_s + seen.window_s) == scenario.measured_again
        assert seen.total_s > seen.second_s


# --- the outputs -----------------------------------------------------------------------------------------------------

NAMES = ["java-vt", "java-pt", "java-webflux", "go", "rust", "python", "node"]


def cell(round_: int, contender: str, again: SecondFigure | None) -> Cell:
    halves = [Half(requests=8400, p50_ms=7.0, service_cpu_s=0.4), Half(requests=8600, p50_ms=7.0, service_cpu_s=0.4)]
    return Cell(
        round=round_, contender=contender, scenario="max", profile="1cpu", model="closed", status="censored", limit="generator",
        window_s=2.0, requests=17_000, throughput_rps=8500.0 + round_, reasons=["V6 held back by the generator"],
        halves=halves, second=again,
    )  # fmt: skip


def again(x: float = 81_300.0, **changes: Any) -> SecondFigure:
    halves = [Half(requests=int(x * 0.99), p50_ms=None, service_cpu_s=0.9), Half(requests=int(x * 1.01), p50_ms=None, service_cpu_s=0.9)]
    base: dict[str, Any] = {
        "tool": "oha 1.16.0", "status": "valid", "limit": "cpu", "window_s": 2.0, "requests": int(2 * x),
        "throughput_rps": x, "halves": halves,
    }  # fmt: skip
    return SecondFigure(**{**base, **changes})


def made(*cells: Cell, names: list[str] | None = None) -> table.Table:
    plan = {"tier": "standard", "profile": "1cpu", "rounds": 2, "contenders": names or ["go"], "scenarios": ["max"]}
    return table.make({"plan": {**plan, "headlines": {"max": "throughput"}, "models": {"max": "closed"}}}, cells)


def test_both_figures_are_shown_each_under_its_own_name() -> None:
    text = markdown.table_block(made(cell(1, "go", again(80_000.0)), cell(2, "go", again(82_000.0))))
    by_k6, by_oha = text.splitlines()[2:]
    assert by_k6.startswith("| **max**<br><sub>requests/s by k6</sub> | ≥8,501")
    assert "generator" in by_k6
    assert by_oha.startswith("| **max**<br><sub>requests/s by oha</sub> | 80,994<br><sub>±17% cpu</sub>")


def test_a_bound_and_a_doubt_of_its_own_keep_their_marks() -> None:
    found = made(cell(1, "go", again(status="censored", limit="generator", doubts=["V4 users"]))).entry("go", "max").second
    assert found is not None
    assert (words.figure(found), words.limit(found), words.spread(found)) == ("≥81,300?", "generator", "±1.0%")


def test_what_does_not_count_gives_no_number_and_is_told() -> None:
    one = made(cell(1, "go", again(status="invalid", reasons=["V7 others used 30% of the machine"])))
    assert "invalid" in markdown.table_block(one).splitlines()[3]
    assert "max · go by oha: V7 others used 30% of the machine" in words.doubts(one)


def test_rounds_that_do_not_count_are_shown() -> None:
    found = made(cell(1, "go", again()), cell(2, "go", again(status="failed", throughput_rps=None, reasons=["oha ended with 1"])))
    entry = found.entry("go", "max").second
    assert entry is not None
    assert words.spread(entry) == "±1.0% 1/2"
    assert words.figure(entry) == "81,300?"


def test_without_the_tool_there_is_no_row_and_the_reason_stands_below_the_table() -> None:
    one = made(cell(1, "go", SecondFigure(tool="oha", status="unsupported", reasons=["cargo 1.90 or newer: not found; install Rust"])))
    assert len(markdown.table_block(one).splitlines()) == 3
    assert "max was not measured again with oha: cargo 1.90 or newer: not found; install Rust" in words.legend(one)


def test_where_k6_was_not_the_limit_nothing_changes() -> None:
    one = made(cell(1, "go", None))
    assert words.rows(one, "max")[0][0] == "requests/s"
    assert not any("oha" in line for line in words.legend(one))


def test_the_terminal_table_stays_within_100_columns() -> None:
    figures = [again(status="censored", limit="generator", doubts=["V4 users"]), again(status="censored", limit="generator")]
    cells = [cell(n, name, figure) for name in NAMES for n, figure in enumerate(figures, 1) if name != "node"]
    screen = Console(width=200, file=io.StringIO(), color_system=None)
    screen.print(terminal.grid(made(*cells, names=NAMES), 100))
    assert isinstance(screen.file, io.StringIO)
    lines = screen.file.getvalue().splitlines()
    assert max(len(line.rstrip()) for line in lines) <= 100
    assert any("requests/s by oha" in line for line in lines)


def test_the_figure_has_columns_of_its_own() -> None:
    rows = list(csv_module.DictReader(io.StringIO(csv.text(made(cell(1, "go", again()), cell(1, "rust", None), names=["go", "rust"])))))
    assert (rows[0]["second_tool"], rows[0]["second_status"], rows[0]["second_rps"], rows[0]["second_limit"]) == (
        "oha 1.16.0",
        "valid",
        "81300.0",
        "cpu",
    )
    assert float(rows[0]["second_low"]) < 81_300 < float(rows[0]["second_high"])
    assert [rows[1][name] for name in rows[1] if name.startswith("second_")] == [""] * 6


def test_a_cell_carries_it_through_the_journal_and_a_line_tells_it() -> None:
    one = cell(1, "go", again(status="censored", limit=None, reasons=["V6 no station was full"]))
    assert Cell.model_validate_json(one.line()) == one
    assert one.second is not None
    assert words.again(one.second) == "by oha 1.16.0: 81,300 requests/s; censored; V6 no station was full"


# --- having it -------------------------------------------------------------------------------------------------------


def workshop(root: Path, registry: Registry, cargo: Path | None) -> Workshop:
    shutil.copytree(BENCH / "oha", root / "bench" / "oha", ignore=shutil.ignore_patterns("target"))
    (root / ".tools").mkdir()
    missing = {"cargo": Missing("cargo 1.90 or newer: not found; install Rust")}
    return Workshop(root, registry, {"cargo": Found(str(cargo), "1.95.0")} if cargo else {}, {} if cargo else missing)


def script(file: Path, text: str) -> Path:
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return file


def test_a_run_that_cannot_need_it_builds_nothing(tmp_path: Path, registry: Registry) -> None:
    said: list[str] = []
    scenarios = [s for s in registry.scenarios.values() if not s.measured_again]
    assert oha.prepare(workshop(tmp_path, registry, None), scenarios, False, said.append) is None
    assert said == []


def test_without_cargo_the_run_says_so_and_goes_on(tmp_path: Path, registry: Registry) -> None:
    said: list[str] = []
    scenarios = [s for s in registry.scenarios.values() if s.measured_again]
    found = oha.prepare(workshop(tmp_path, registry, None), scenarios, False, said.append)
    assert found is not None
    assert (found.program, found.why_not) == (None, "cargo 1.90 or newer: not found; install Rust")
    names = ", ".join(s.id for s in scenarios)
    assert said == [f"{names} is not measured again with oha: cargo 1.90 or newer: not found; install Rust"]


def test_a_rehearsal_builds_nothing_and_says_so(tmp_path: Path, registry: Registry) -> None:
    said: list[str] = []
    work = workshop(tmp_path, registry, script(tmp_path / "cargo", "exit 1"))
    found = oha.prepare(work, list(registry.scenarios.values()), True, said.append)
    assert found is not None
    assert found.program is None
    assert "one round does not build it" in said[-1]


def test_a_build_that_fails_is_quoted(tmp_path: Path, registry: Registry) -> None:
    said: list[str] = []
    cargo = script(tmp_path / "cargo", "echo 'error: linker `cc` not found' >&2; exit 101")
    found = oha.prepare(workshop(tmp_path, registry, cargo), list(registry.scenarios.values()), False, said.append)
    assert found is not None
    assert found.program is None
    assert found.why_not == "it could not be built: error: linker `cc` not found (all of it: .tools/oha.log)"
    assert said[-1].endswith(found.why_not)


def test_it_is_built_once_from_the_lock_file_and_again_when_that_has_changed(tmp_path: Path, registry: Registry) -> None:
    said: list[str] = []
    asked = tmp_path / "asked"
    cargo = script(
        tmp_path / "cargo",
        f"""echo "$@" >> {asked}
        while [ $# -gt 1 ]; do shift; done
        mkdir -p "$1/release"
        printf '#!/bin/sh\\necho oha 1.16.0\\n' > "$1/release/oha"
        chmod +x "$1/release/oha" """,
    )
    work = workshop(tmp_path, registry, cargo)
    found = oha.prepare(work, list(registry.scenarios.values()), False, said.append)
    assert found is not None
    assert (found.version, found.why_not, len(said)) == ("oha 1.16.0", "", 1)
    assert "--locked" in asked.read_text()
    oha.prepare(work, list(registry.scenarios.values()), False, said.append)
    assert len(asked.read_text().splitlines()) == 1
    lock = tmp_path / "bench" / "oha" / "Cargo.lock"
    lock.write_text(lock.read_text() + "\n")
    oha.prepare(work, list(registry.scenarios.values()), False, said.append)
    assert len(asked.read_text().splitlines()) == 2


def test_a_broken_program_is_no_generator(tmp_path: Path) -> None:
    with pytest.raises(ProcessError, match="ended with 3: no"):
        oha.version(script(tmp_path / "oha", "echo no >&2; exit 3"))


def test_it_sends_what_k6_sends(tmp_path: Path, registry: Registry) -> None:
    def command(scenario: str) -> list[str]:
        return oha.command(Path("oha"), "http://127.0.0.1:1/hello", registry.scenarios[scenario], 4.3, 2, tmp_path / "r.json")

    asked = command("hello-max")
    for part in (["-c", "64"], ["--worker-threads", "2"], ["-z", "4300ms", "-w"], ["--output-format", "json"]):
        assert " ".join(part) in " ".join(asked)
    assert "--disable-compression" in asked
    assert asked[-1] == "http://127.0.0.1:1/hello"
    assert "-m" not in asked
    sent = ["-m", "POST", "-T", "application/json", "-d", '{"name":"A book of the benchmark"}']
    assert command("book-write-max")[-8:-2] == sent


def test_counts_carry_their_moments_and_end_where_the_service_is_silent() -> None:
    answers = iter([Stats(10, 0.0, 0), Stats(30, 0.0, 0), None])
    seen = oha.Counter(lambda: next(answers), [0.0, 0.0, 0.0]).counts()
    assert [count.answered for count in seen] == [10, 30]
    assert seen[0].at_s <= seen[1].at_s
