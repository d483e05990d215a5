"""The table for a terminal of 100 columns. Pure: it makes renderables, the command line prints them."""

from __future__ import annotations

from rich import box
from rich.table import Table as Grid
from rich.text import Text

from nsb.analysis.table import Entry, Second, Table
from nsb.report import words

_COLOURS = {
    "valid": "",
    "censored": "yellow",
    "invalid": "red",
    "failed": "red",
    "unsupported": "dim",
    "missing": "dim",
    "not asked": "dim",
}


def grid(table: Table) -> Grid:
    """Scenarios down, contenders across; in a cell the figure, its spread and, where it was not the offered load, what held it back."""
    view = Grid(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    view.add_column("scenario", no_wrap=True)
    for contender in table.contenders:
        view.add_column(contender, justify="right", no_wrap=True)
    for scenario in table.scenarios:
        for title, entries in words.rows(table, scenario):
            view.add_row(Text.assemble(scenario, "\n", (title, "dim")), *(_cell(entry) for entry in entries))
    return view


def _cell(entry: Entry | Second | None) -> Text:
    if entry is None:
        return Text()
    colour = _COLOURS[entry.status]
    held = "" if entry.limit == "offered" else words.limit(entry)
    return Text.assemble((words.figure(entry), colour), "\n", (words.spread(entry), "dim"), "\n" if held else "", (held, "dim"))
