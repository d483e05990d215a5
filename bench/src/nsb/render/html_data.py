"""The data for the script of report.html: words, charts and raw cells, as plain values for JSON. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from nsb.analyse.table import Table
from nsb.records.judged import Cell
from nsb.registry.claims import Dominance
from nsb.registry.terms import METRIC_UNITS
from nsb.render import messages
from nsb.render.charts import Chart, Spec, config
from nsb.render.messages import LANGUAGES, MESSAGES, Language, criterion, own

SCRIPT_WORDS = (
    "head.round", "head.status", "head.limit", "head.throughput", "head.raw", "page.requests", "page.latency", "page.cpu",
    "page.memory_mib", "page.attempt", "page.no_cells", "page.checks_note", "page.doubts_of_round", "page.sorted",
    "page.unsorted", "page.best_first", "page.worst_first", "page.shown", "page.better_in", "page.tied", "page.not_compared",
    "page.compared",
)  # fmt: skip
"""Messages that page.js uses."""


def data(table: Table, cells: Sequence[Cell], dominance: Dominance, charts: Sequence[Chart], packed: bool = False) -> dict[str, Any]:
    """Stores a sentence that many cells share once."""
    sentences: dict[str, int] = {}
    titles = {c.id: criterion(c.scenario, c.metric) for c in dominance.criteria}
    return {
        "words": {language: _words(language) for language in LANGUAGES},
        "contenders": table.contenders,
        "scenarios": table.scenarios,
        "units": {lang: {name: messages.unit(METRIC_UNITS[table.headlines[name]], lang) for name in table.scenarios} for lang in LANGUAGES},
        "cells": _cells(table, cells, sentences),
        "sentences": list(sentences),
        "packed": packed,
        "criteria": {language: {name: own(title, language) for name, title in titles.items()} for language in LANGUAGES},
        "better": dominance.better,
        "compared": dominance.compared,
        "config": {"light": config("light"), "dark": config("dark")},
        "charts": {chart.id: _specs(chart) for chart in charts},
    }


def _words(language: Language) -> dict[str, str]:
    """Messages with their placeholders, which the script fills."""
    return {key: MESSAGES[key][LANGUAGES.index(language)] for key in SCRIPT_WORDS} | _all_of(
        language, "status.", "limit.", "check.", "size."
    )


def _all_of(language: Language, *prefixes: str) -> dict[str, str]:
    return {key: said[LANGUAGES.index(language)] for key, said in MESSAGES.items() if key.startswith(prefixes)}


# --- charts ------------------------------------------------------------------------------------------------------------


def _specs(chart: Chart) -> list[Any]:
    """The English chart, and the differences of the Korean one, since most of the two is equal."""
    english, korean = (_slim(chart.specs[language]) for language in LANGUAGES)
    return [english, difference(english, korean)]


def _slim(spec: Spec) -> Spec:
    """Without the texts that the page shows around it; data are named by number instead of by their hash."""
    kept = {key: value for key, value in spec.items() if key not in ("title", "description", "$schema")}
    text = json.dumps(kept)
    for number, name in enumerate(spec.get("datasets", {})):
        text = text.replace(json.dumps(name), f'"{number}"')
    slim: Spec = json.loads(text)
    return slim


def difference(one: Any, other: Any) -> Any:
    """None where they are equal; by key or index where both have the same ones; else `other` in a list. As page.js: patched()."""
    if one == other:
        return None
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return {key: found for key in one if (found := difference(one[key], other[key])) is not None}
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return {str(i): found for i, (a, b) in enumerate(zip(one, other, strict=True)) if (found := difference(a, b)) is not None}
    return [other]


# --- cells -------------------------------------------------------------------------------------------------------------


def _cells(table: Table, cells: Sequence[Cell], sentences: dict[str, int]) -> dict[str, list[list[Any]]]:
    """`contender/scenario` by number → its cells, every attempt, in the order of page.js: cellRow()."""
    column = {name: number for number, name in enumerate(table.contenders)}
    row = {name: number for number, name in enumerate(table.scenarios)}
    found: dict[str, list[list[Any]]] = {}
    for cell in cells:
        if cell.contender in column and cell.scenario in row:
            key = f"{column[cell.contender]}/{row[cell.scenario]}"
            found.setdefault(key, []).append(_cell(cell, table, sentences))
    return found


def _cell(cell: Cell, table: Table, sentences: dict[str, int]) -> list[Any]:
    def number(sentence: str) -> int:
        return sentences.setdefault(sentence, len(sentences))

    latency, cpu = cell.latency_ms, cell.cpu_us_per_request
    told = dict.fromkeys([*cell.reasons, *cell.doubts])
    return [
        cell.round, cell.attempt, cell.status, cell.headline(table.headlines[cell.scenario]), cell.requests, cell.throughput_rps,
        [latency.p50, latency.p90, latency.p99], [cpu.get("service"), cpu.get("generator"), cpu.get("database")],
        cell.memory_peak_mib, cell.limit, [number(sentence) for sentence in told], cell.raw,
    ]  # fmt: skip
