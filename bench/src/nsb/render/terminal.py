"""The table for a terminal of 100 columns. Pure: it makes renderables, the command line prints them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Group
from rich.table import Table as Grid
from rich.text import Text

from nsb.analyse.table import Entry, Table
from nsb.render import words

BETWEEN = 2
"""Width of a column besides its text."""
_COLOURS = {
    "valid": "",
    "censored": "yellow",
    "invalid": "red",
    "failed": "red",
    "unsupported": "dim",
    "missing": "dim",
    "not asked": "dim",
}


def grid(table: Table, width: int) -> Group:
    """Scenarios down, contenders across; in a cell the figure, its spread and, where it was not the offered load, what held it back.

    Where they do not fit into `width` columns, several such tables, each without the scenarios that nobody in it was asked.
    """
    rows = [
        (Text.assemble(scenario, "\n", (words.unit(table, scenario), "dim")), {each.contender: _cell(each) for each in table.row(scenario)})
        for scenario in table.scenarios
    ]
    first = max((_width(head) for head, _ in rows), default=0) + BETWEEN
    widths = {name: max([len(name), *(_width(cells[name]) for _, cells in rows)]) + BETWEEN for name in table.contenders}
    tables = [_grid(rows, names) for names in _packed(widths, width - first)]
    return Group(tables[0], *(part for each in tables[1:] for part in (Text(), each)))


def _packed(widths: Mapping[str, int], room: int) -> list[list[str]]:
    """The names in their order, as many per line as fit; a name that is wider than the line gets a line of its own."""
    found: list[list[str]] = [[]]
    for name, width in widths.items():
        if found[-1] and sum(widths[other] for other in found[-1]) + width > room:
            found.append([])
        found[-1].append(name)
    return found


def _grid(rows: Sequence[tuple[Text, Mapping[str, Text]]], names: Sequence[str]) -> Grid:
    view = columns(["scenario"], names)
    for head, cells in rows:
        if any(cells[name].plain.strip() for name in names):
            view.add_row(head, *(cells[name] for name in names))
    return view


def columns(heads: Sequence[str], figures: Sequence[str] = ()) -> Grid:
    """An empty table; figures stand to the right in their columns."""
    view = Grid(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    for head in heads:
        view.add_column(head, no_wrap=True)
    for head in figures:
        view.add_column(head, justify="right", no_wrap=True)
    return view


def _width(text: Text) -> int:
    return max(cell_len(line) for line in text.plain.split("\n"))


def _cell(entry: Entry) -> Text:
    colour = _COLOURS[entry.status]
    held = "" if entry.limit == "offered" else words.limit(entry)
    return Text.assemble((words.figure(entry), colour), "\n", (words.spread(entry), "dim"), "\n" if held else "", (held, "dim"))
