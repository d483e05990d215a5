"""The schemas of a run's files: JSON Schema of the records, CSV on the Web (W3C) of table.csv. Pure but for `write`.

They come from the models and from their docstrings, so a field that is not described there is not described here.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from itertools import pairwise
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from nsb.analyse.controls import Control
from nsb.analyse.model import CostModel
from nsb.analyse.table import Table
from nsb.records.cells import Record
from nsb.records.judged import Cell
from nsb.records.schema import to_json
from nsb.records.sources import Code
from nsb.records.starts import Start
from nsb.registry.claims import Judgement
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


def csv_metadata() -> dict[str, Any]:
    """Metadata for Tabular Data of table.csv. A cell without a value is empty."""
    return {
        "@context": ["http://www.w3.org/ns/csvw", {"@language": "en"}],
        "url": "table.csv",
        "dc:title": "No Silver Bullet: the one table of a run",
        "dc:description": "One line for each contender and scenario. Without spread there is no figure: value, low and high are empty.",
        "dialect": {"encoding": "utf-8", "header": True, "lineTerminators": ["\n"]},
        "tableSchema": {"columns": [_column(column) for column in csv.COLUMNS], "primaryKey": ["contender", "scenario"]},
    }


def _column(column: csv.Column) -> dict[str, Any]:
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
