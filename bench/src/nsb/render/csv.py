"""table.csv: one line per contender and scenario, every figure in a column of its own. Pure."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

from nsb.analyse.table import Entry, Table
from nsb.records.judged import Status
from nsb.registry.terms import Headline, Limit


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
    Column("reasons", "reasons", "Why not valid: sentences alike but for figures once, with their rounds.", "string", separator=" | "),
    Column("doubts", "doubts", "What may be doubted: sentences alike but for figures once, with their rounds.", "string", separator=" | "),
)  # fmt: skip


def text(table: Table) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([column.name for column in COLUMNS])
    for entry in table.entries:
        writer.writerow(_row(entry))
    return out.getvalue()


def _row(entry: Entry) -> list[object]:
    figure = entry.figure
    return [
        entry.contender,
        entry.scenario,
        entry.headline,
        *((round(figure.value, 4), _round(figure.low), _round(figure.high), figure.spread) if figure else ("", "", "", "")),
        entry.status,
        entry.limit or "",
        entry.rounds_valid,
        entry.rounds_censored,
        *(_blank(value) for value in (entry.throughput_rps, entry.p50_ms, entry.p90_ms, entry.p99_ms)),
        *(_blank(entry.cpu_us[role]) for role in ("service", "generator", "database", "upstream")),
        *(_blank(value) for value in (entry.memory_mib, entry.threads, entry.switches_per_request, entry.db_connections)),
        " | ".join(entry.reasons),
        " | ".join(entry.doubts),
    ]


def _round(value: float | None) -> object:
    return "" if value is None else round(value, 4)


def _blank(value: object) -> object:
    return "" if value is None else value
