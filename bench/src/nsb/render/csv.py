"""table.csv: one line per contender and scenario, every figure in a column of its own. Pure."""

from __future__ import annotations

import csv
import io

from nsb.analyse.table import Entry, Second, Table

COLUMNS = (
    "contender", "scenario", "headline", "value", "low", "high", "spread", "status", "limit", "rounds_valid", "rounds_censored",
    "throughput_rps", "p50_ms", "p90_ms", "p99_ms", "cpu_us_service", "cpu_us_generator", "cpu_us_database", "cpu_us_upstream",
    "memory_mib", "threads", "switches_per_request", "db_connections", "reasons", "doubts",
    "second_tool", "second_status", "second_rps", "second_low", "second_high", "second_limit",
)  # fmt: skip


def text(table: Table) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
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
        *_second(entry.second),
    ]


def _second(second: Second | None) -> list[object]:
    if second is None:
        return [""] * 6
    figure = second.figure
    values: list[object] = [round(figure.value, 4), _round(figure.low), _round(figure.high)] if figure else ["", "", ""]
    return [second.tool, second.status, *values, second.limit or ""]


def _round(value: float | None) -> object:
    return "" if value is None else round(value, 4)


def _blank(value: object) -> object:
    return "" if value is None else value
