"""The calculator of report.html: its fields, its examples, and the model that its script reads. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nsb.analyse.model import CostModel
from nsb.analyse.size import EXAMPLES, Workload
from nsb.registry.claims import Said
from nsb.render import messages, size


@dataclass(frozen=True)
class Field:
    """A field of the form: `name` as the option of `just size`, `of` as in Workload, whose value is that of the form divided by `per`."""

    name: str
    of: str
    unit: str
    per: float = 1.0
    most: float = 1_000_000_000
    least: float = 0
    empty: float | None = 0
    """What it means to leave it empty; the rate has to be given, and without a price there is none."""

    @property
    def id(self) -> str:
        return f"size-{self.name}"

    def shown(self, load: Workload) -> str:
        """What of this workload stands in the form; nothing in the place of none."""
        value = getattr(load, self.of)
        return "" if not value else f"{value * self.per:.10g}"


FIELDS = (
    Field("rate", "rate", "/s", least=0.001),
    Field("wait", "wait_ms", "ms"),
    Field("queries", "queries", ""),
    Field("inserts", "inserts", ""),
    Field("query-time", "query_ms", "ms", empty=1),
    Field("calls", "calls", ""),
    Field("call-time", "call_ms", "ms"),
    Field("compute", "compute_ms", "ms"),
    Field("blocking", "blocking_ms", "ms"),
    Field("idle", "idle", ""),
    Field("utilisation", "utilisation", "%", per=100, least=1, most=99, empty=0.6),
    Field("core-price", "core_price", "", empty=None),
    Field("gib-price", "gib_price", "", empty=None),
)


@dataclass(frozen=True)
class Example:
    """A button that fills the form."""

    title: Said
    values: dict[str, str]


def examples() -> list[Example]:
    return [
        Example(messages.said(f"size.example.{name}"), {field.name: field.shown(load) for field in FIELDS if field.shown(load)})
        for name, load in EXAMPLES.items()
    ]


def has_costs(model: CostModel | None) -> bool:
    """Whether anything can be calculated: a run without cost rows has no model."""
    return model is not None and any(each.rounds for each in model.contenders)


def about(model: CostModel | None) -> list[Said]:
    """What holds for every workload; nothing where nothing can be calculated."""
    if model is None or not has_costs(model):
        return []
    return [Said(en=en, ko=ko) for en, ko in zip(*(size.about(model, language) for language in messages.LANGUAGES), strict=True)]


def data(model: CostModel | None) -> dict[str, Any] | None:
    """What page.js needs for it."""
    if model is None or not has_costs(model):
        return None
    first = next(iter(EXAMPLES.values()))  # the form begins with it
    return {
        "model": model.model_dump(mode="json", exclude={"contenders": {"__all__": {"rows"}}}),
        "fields": [
            {"name": each.name, "of": each.of, "unit": each.unit, "per": each.per, "empty": each.empty, "first": each.shown(first)}
            for each in FIELDS
        ],
    }
