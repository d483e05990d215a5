"""The schemas say what the program writes, and committed records follow them as they are generated today."""

from __future__ import annotations

import copy
import csv as reader
import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from nsb.analyse import table as tables
from nsb.records.judged import Cell
from nsb.records.schema import SCHEMA
from nsb.render import csv, schema
from nsb.session.runs import read_run

BENCH = Path(__file__).resolve().parents[1]
RUNS = [*sorted(path.parent for path in (BENCH / "results").glob("*/run.json")), BENCH / "tests" / "recordings" / "run"]
FILES = schema.files()
EVERY = 40
"""Of a run's cells each EVERY-th is looked at: they come from one program."""


def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads(FILES[name]))


def test_they_are_written_as_they_are_made(tmp_path: Path) -> None:
    schema.write(tmp_path)
    assert {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()} == FILES


@pytest.mark.parametrize("name", schema.RECORDS)
def test_each_is_a_schema_in_which_docstrings_describe_the_fields(name: str) -> None:
    text = json.loads(FILES[name])
    Draft202012Validator.check_schema(text)
    assert text["description"]


def test_a_docstring_below_a_field_describes_it_by_its_alias() -> None:
    properties = json.loads(FILES["cell.schema.json"])["properties"]
    assert properties["statements"]["description"] == "That the database executed in the window; None where there are none to count."
    assert "schema" in properties
    assert "schema_" not in properties
    ladder = json.loads(FILES["cell.schema.json"])["$defs"]["Reading"]["properties"]
    assert ladder["in_flight"]["description"] == "None where /stats did not answer in time."


@pytest.mark.parametrize("folder", RUNS, ids=lambda path: path.name)
def test_committed_records_follow_their_schemas(folder: Path) -> None:
    judged, observed, start = (validator(f"{name}.schema.json") for name in ("cell", "record", "start"))
    whole = {
        "table.schema.json": "table.json",
        "claims.schema.json": "claims.json",
        "code.schema.json": "code.json",
        "model.schema.json": "model.json",
    }
    for file in ("cells.jsonl", "starts.jsonl"):
        for line in (folder / file).read_bytes().splitlines()[::EVERY] if (folder / file).exists() else []:
            value = json.loads(line)
            kind = start if file == "starts.jsonl" else judged if value["schema"] == SCHEMA else observed
            kind.validate(value)
    for name, file in whole.items():
        if (folder / file).exists():
            validator(name).validate(json.loads((folder / file).read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "bend",
    [
        lambda cell: cell.pop("scenario"),
        lambda cell: cell.update(status="perhaps"),
        lambda cell: cell.update(throughput_rps="many"),
        lambda cell: cell.update(unheard_of=1),
        lambda cell: cell["latency_ms"].update(p95=1.0),
        lambda cell: cell.update(cpu_us_per_request={"neighbour": 1.0}),
    ],
)
def test_a_wrong_record_fails(bend: Any) -> None:
    checked = validator("cell.schema.json")
    good = json.loads((RUNS[-1] / "cells.jsonl").read_bytes().splitlines()[0])
    checked.validate(good)
    bad = copy.deepcopy(good)
    bend(bad)
    assert not checked.is_valid(bad)


def test_what_the_program_writes_today_follows_too() -> None:
    run, cells = read_run(RUNS[-1])
    table = tables.make(run, cells)
    validator("table.schema.json").validate({**table.model_dump(mode="json"), "compared_controls": []})
    validator("cell.schema.json").validate(json.loads(Cell.model_validate(dict(cells[0])).line()))
    assert wrong(csv.text(table)) == []


# --- table.csv ---------------------------------------------------------------------------------------------------------------------------


_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")
_PATTERNS = {"number": _NUMBER, "nonNegativeInteger": re.compile(r"\d+"), "string": re.compile(r"(?s).*")}


def wrong(text: str) -> list[str]:
    """What in a table.csv the metadata forbid."""
    described = json.loads(FILES[schema.CSVW])["tableSchema"]
    columns = described["columns"]
    rows = list(reader.reader(text.splitlines()))
    if rows[0] != [column["titles"] for column in columns]:
        return [f"the columns are {rows[0]}"]
    found = []
    for number, row in enumerate(rows[1:], 2):
        for column, value in zip(columns, row, strict=True):
            kind = column["datatype"]
            pattern = re.compile(kind["format"]) if isinstance(kind, dict) else _PATTERNS[kind]
            if (value and not pattern.fullmatch(value)) or (column["required"] and not value):
                found.append(f"line {number}, {column['name']}: {value!r}")
    keys = [tuple(row[rows[0].index(name)] for name in described["primaryKey"]) for row in rows[1:]]
    return found if len(set(keys)) == len(keys) else [*found, "a line is there twice"]


def test_every_column_is_described_with_its_unit() -> None:
    for column in csv.COLUMNS:
        assert column.title
        assert column.description
        assert (column.unit is not None) == (column.datatype in ("number", "nonNegativeInteger")), column.name


@pytest.mark.parametrize("folder", [folder for folder in RUNS if (folder / "table.csv").exists()], ids=lambda path: path.name)
def test_committed_tables_follow_the_metadata(folder: Path) -> None:
    assert wrong((folder / "table.csv").read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("p50_ms", "p95_ms"),
        (",cpu,", ",speed,"),
        (",valid,", ",perhaps,"),
        (",interval,", ",wide,"),
        (",6,0,", ",-6,0,"),
        ("java-vt,", ","),
    ],
)
def test_a_wrong_column_or_value_fails(old: str, new: str) -> None:
    text = csv.text(tables.make(*read_run(BENCH / "results" / "20261126d-standard")))
    assert wrong(text) == []
    assert wrong(text.replace(old, new, 1))
