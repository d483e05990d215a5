"""The schemas of a run's files: JSON Schema of the records, CSV on the Web (W3C) of table.csv. Pure but for `write`.

They come from the models and from their docstrings, so a field that is not described there is not described here.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, Field
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from nsb.analyse.controls import Control
from nsb.analyse.model import CostModel
from nsb.analyse.table import Table
from nsb.records.cells import Record
from nsb.records.judged import Cell, Status
from nsb.records.schema import to_json
from nsb.records.sources import Code
from nsb.records.starts import Start
from nsb.registry.claims import Judgement
from nsb.registry.terms import Headline, Limit
from nsb.render import csv

DRAFT = "https://json-schema.org/draft/2020-12/schema"
CSVW = "table.csv-metadata.json"


class TableFile(Table):
    """table.json: the one table of a run, and how its controls compare with their originals."""

    compared_controls: list[Control] = Field(default_factory=list)
    """Missing where a run was written before controls were compared."""


RECORDS: dict[str, tuple[type[BaseModel], str]] = {
    "table.schema.json": (TableFile, "table.json"),
    "claims.schema.json": (Judgement, "claims.json"),
    "model.schema.json": (CostModel, "model.json"),
    "record.schema.json": (Record, "a line of cells.jsonl"),
    "cell.schema.json": (Cell, "a line of cells.jsonl in runs until November 2026"),
    "start.schema.json": (Start, "a line of starts.jsonl"),
    "code.schema.json": (Code, "code.json"),
}
"""File → the model that it is made from, and what it describes."""


def files() -> dict[str, str]:
    """Name → text of every schema."""
    found = {name: to_json(json_schema(model, what)) for name, (model, what) in RECORDS.items()}
    return {**found, CSVW: to_json(csv_metadata())}


def write(folder: Path) -> None:
    """All of them into the folder."""
    for name, text in files().items():
        (folder / name).write_text(text, encoding="utf-8")


# --- records -------------------------------------------------------------------------------------------------------------------------


def json_schema(model: type[BaseModel], what: str) -> dict[str, Any]:
    """A field that has a default may be missing, as it is in runs that were made before there was such a field."""
    made = model.model_json_schema(by_alias=True, mode="validation", schema_generator=_Described)
    return {"$schema": DRAFT, **made, "title": what}


class _Described(GenerateJsonSchema):
    """With the docstrings of classes and fields, and without titles that only repeat a field's name."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        made = super().model_schema(schema)
        described: type[BaseModel] = schema["cls"]
        said = docstrings(described)
        for name, field in described.model_fields.items():
            if name in said:
                made["properties"][field.alias or name]["description"] = said[name]
        if "description" in made:
            made["description"] = _line(made["description"])
        return made


def docstrings(model: type[BaseModel]) -> dict[str, str]:
    """Field → the string that stands below it in the source, of the model and of those that it extends."""
    found: dict[str, str] = {}
    for one in reversed([each for each in model.__mro__ if issubclass(each, BaseModel) and each is not BaseModel]):
        source = ast.parse(textwrap.dedent(inspect.getsource(one))).body[0]
        assert isinstance(source, ast.ClassDef)
        for field, below in pairwise(source.body):
            if (
                isinstance(field, ast.AnnAssign)
                and isinstance(field.target, ast.Name)
                and isinstance(below, ast.Expr)
                and isinstance(below.value, ast.Constant)
                and isinstance(below.value.value, str)
            ):
                found[field.target.id] = _line(below.value.value)
    return found


def _line(text: str) -> str:
    return " ".join(text.split())


# --- table.csv ---------------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Column:
    """What a column of table.csv holds. `unit` is None for text."""

    name: str
    title: str
    description: str
    datatype: str | dict[str, Any]
    unit: str | None = None
    required: bool = False
    separator: str | None = None


def _one_of(words: Sequence[str]) -> dict[str, Any]:
    return {"base": "string", "format": "|".join(words)}


_HEADLINE_UNITS = "cpu: µs/request; throughput: requests/s; p50: ms; memory: KiB/request"
_MEDIAN = "Median over the rounds that count."

COLUMNS: tuple[Column, ...] = (
    Column("contender", "contender", "Who ran. Controls (twins, plants) are there too.", "string", required=True),
    Column("scenario", "scenario", "Under which load.", "string", required=True),
    Column(
        "headline", "headline", "Which figure `value` is. Who could not sustain an offered rate has throughput, whatever the scenario has.",
        _one_of(get_args(Headline)), required=True,
    ),
    Column(
        "value", "headline figure", "Over the rounds that count: geometric mean (memory: mean). Empty where nothing counts.", "number",
        _HEADLINE_UNITS,
    ),
    Column("low", "lower end", "Of what `spread` says.", "number", _HEADLINE_UNITS),
    Column("high", "upper end", "Of what `spread` says.", "number", _HEADLINE_UNITS),
    Column(
        "spread", "kind of spread", "interval: 95 % t interval over the rounds; halves: of the one round's window, which is no interval.",
        _one_of(("interval", "halves")),
    ),
    Column(
        "status", "status", "valid: a figure; censored: a bound (closed), or the rate was not sustained (open); the others have no figure.",
        _one_of((*get_args(Status), "missing", "not asked")), required=True,
    ),
    Column("limit", "limit", "What held it back in most rounds; offered: the load itself.", _one_of(get_args(Limit))),
    Column("rounds_valid", "valid rounds", "Rounds that gave a value.", "nonNegativeInteger", "rounds", required=True),
    Column("rounds_censored", "censored rounds", "Rounds that gave a bound only.", "nonNegativeInteger", "rounds", required=True),
    Column("throughput_rps", "throughput", f"Answers in the window ÷ its length. {_MEDIAN}", "number", "requests/s"),
    Column("p50_ms", "median latency", f"Open: from the schedule; closed: from the send. {_MEDIAN}", "number", "ms"),
    Column("p90_ms", "p90 latency", f"As p50_ms. {_MEDIAN}", "number", "ms"),
    Column("p99_ms", "p99 latency", f"As p50_ms; empty below 1000 requests. {_MEDIAN}", "number", "ms"),
    Column("cpu_us_service", "CPU of the service", f"For each request. {_MEDIAN}", "number", "µs/request"),
    Column("cpu_us_generator", "CPU of the load generator", f"For each request. {_MEDIAN}", "number", "µs/request"),
    Column("cpu_us_database", "CPU of the database", f"For each request. {_MEDIAN}", "number", "µs/request"),
    Column("cpu_us_upstream", "CPU of the upstream", f"For each request. {_MEDIAN}", "number", "µs/request"),
    Column("memory_mib", "peak memory", "Highest PSS of the process tree in any round that counts.", "number", "MiB"),
    Column("threads", "peak threads", "Highest number in any round that counts.", "nonNegativeInteger", "threads"),
    Column("switches_per_request", "context switches", f"Of the service's threads, a request. {_MEDIAN}", "number", "switches/request"),
    Column("db_connections", "peak database connections", "Highest number in any round that counts.", "nonNegativeInteger", "connections"),
    Column("reasons", "reasons", "Why it is not valid, each check once with the rounds that it holds for.", "string", separator=" | "),
    Column("doubts", "doubts", "What may be doubted, each check once with the rounds that it holds for.", "string", separator=" | "),
    Column("second_tool", "second generator", "Name and version; filled where k6 was saturated, or nothing was.", "string"),
    Column("second_status", "its status", "As status; unsupported: there was no such generator.", _one_of(get_args(Status))),
    Column("second_rps", "its throughput", "Geometric mean over the rounds in which k6 or nothing was saturated.", "number", "requests/s"),
    Column("second_low", "its lower end", "As low.", "number", "requests/s"),
    Column("second_high", "its upper end", "As high.", "number", "requests/s"),
    Column("second_limit", "its limit", "As limit.", _one_of(get_args(Limit))),
)  # fmt: skip


def csv_metadata() -> dict[str, Any]:
    """Metadata for Tabular Data of table.csv. A cell without a value is empty.

    Raises ValueError where the columns described are not those that are written.
    """
    if tuple(column.name for column in COLUMNS) != csv.COLUMNS:
        raise ValueError("the columns that are described are not those of table.csv")
    return {
        "@context": ["http://www.w3.org/ns/csvw", {"@language": "en"}],
        "url": "table.csv",
        "dc:title": "No Silver Bullet: the one table of a run",
        "dc:description": "One line for each contender and scenario. Without spread there is no figure: value, low and high are empty.",
        "dialect": {"encoding": "utf-8", "header": True, "lineTerminators": ["\n"]},
        "tableSchema": {"columns": [_column(column) for column in COLUMNS], "primaryKey": ["contender", "scenario"]},
    }


def _column(column: Column) -> dict[str, Any]:
    return {
        "name": column.name,
        "titles": column.name,
        "dc:title": column.title,
        "dc:description": column.description,
        "datatype": column.datatype,
        **({"schema:unitText": column.unit} if column.unit else {}),
        **({"separator": column.separator} if column.separator else {}),
        "required": column.required,
    }
