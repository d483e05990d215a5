"""The words of digest.toml, as frozen values: which rows the small table has, what is told in sentences, what the guide asks. Pure."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import Field, model_validator

from nsb.registry.claims import Said
from nsb.registry.terms import Frozen, Limit

READY = "ready_s"
"""The row that is no scenario: seconds from exec until ready."""

FIELDS: dict[str, frozenset[str]] = {
    "least": frozenset({"best", "value", "tied", "worst", "factor"}),
    "split": frozenset({"failing", "failing_range", "others", "others_range", "users", "hold", "threads", "pool"}),
    "alike": frozenset({"range", "users", "hold", "threads", "pool"}),
}
"""Kind of a finding → the fields that its sentences may have."""


class Chosen(Said):
    """A row of the small table; its title in both languages."""

    id: str
    fails_by: list[Limit] = Field(default_factory=list)
    fails_above: float | None = None
    fails: Said | None = None
    picture: bool = False

    @model_validator(mode="after")
    def _said(self) -> Chosen:
        if bool(self.fails_by or self.fails_above is not None) != (self.fails is not None):
            raise ValueError("fails says in words what fails_by or fails_above is")
        return self


class Told(Said):
    """A finding: its sentence in both languages, with fields for what the run shows."""

    row: str
    kind: Literal["least", "split", "alike"]
    limit: Limit | None = None

    @model_validator(mode="after")
    def _fields(self) -> Told:
        for sentence in (self.en, self.ko):
            if unknown := set(re.findall(r"\{(\w*)\}", sentence)) - FIELDS[self.kind]:
                raise ValueError(f"{self.kind} has no field {', '.join(sorted(unknown))}")
        if (self.kind == "alike") != (self.limit is not None):
            raise ValueError("alike, and it alone, needs a limit")
        return self


class Question(Said):
    """A line of docs/guide.md: what a team can answer, and the figures that say what to choose then."""

    kind: Literal["least", "split", "alike", "memory"]
    row: str
    """Of the small table; with `memory` one of `MEMORY`."""
    among: list[str] = Field(default_factory=list)
    """These contenders alone; else all of the run."""
    changes: Said
    """What would change the answer."""


MEMORY = ("in_flight_kib", "connection_kib")
"""What of a contender's memory in the cost model a question may ask for."""


class DigestPlan(Frozen):
    """digest.toml as a whole."""

    rows: list[Chosen] = Field(alias="row")
    findings: list[Told] = Field(alias="finding")
    questions: list[Question] = Field(alias="question", default_factory=list)

    @model_validator(mode="after")
    def _rows_exist(self) -> DigestPlan:
        known = [row.id for row in self.rows]
        if len(known) > len(set(known)):
            raise ValueError("a row is there twice")
        asked = [each.row for each in self.questions if each.row not in (MEMORY if each.kind == "memory" else known)]
        if unknown := [*(each.row for each in self.findings if each.row not in known), *asked]:
            raise ValueError(f"no row is named {', '.join(unknown)}")
        return self
