"""What the files of a run have in common: a version, and how they are written. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

SCHEMA = 1
"""The version of run.json and starts.jsonl, and of the lines of cells.jsonl that hold judged cells."""


def refuse_schema(where: str, schema: object, known: Sequence[int] = (SCHEMA,)) -> None:
    """Raises ValueError for records of a version that this program does not know."""
    if schema in known:
        return
    newer = isinstance(schema, int) and schema > max(known)
    remedy = "read it with a newer version of this program" if newer else "read it with the version at the commit that run.json names"
    reads = " and ".join(str(each) for each in known)
    raise ValueError(f"{where} is of schema {schema}, this program reads {reads}: {remedy}")


def to_json(value: Any) -> str:
    """Stable, readable JSON with a newline at its end."""
    return json.dumps(value, indent=1, ensure_ascii=False, sort_keys=False) + "\n"
