"""What a waiting person sees: cell by cell, the time left, and a table that fills."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.text import Text

from nsb.analyse.table import UNITS, Table
from nsb.records.judged import Cell
from nsb.registry.plan import Plan, Slot, left_s, missing
from nsb.render import terminal, words

PACE_FROM_S = 60.0
"""Of the announced time so much has to be over before what it took corrects the rest: one slow start is not yet a pace."""


class Screen:
    """A live table on a terminal, plain lines elsewhere."""

    def __init__(
        self,
        console: Console,
        plan: Plan,
        table_of: Callable[[list[Cell]], Table],
        done: list[Cell],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._console = console
        self._plan = plan
        self._table_of = table_of
        self._clock = clock
        self._widths = [max(len(each.id) for each in cast) for cast in (plan.scenarios, plan.contenders)]
        self._there = plan.cells - len(missing(plan, done))
        self._announced_s = left_s(plan, done)
        self._left_s = self._announced_s
        self._pace = 1.0
        self._began = clock()
        self._now = ""
        self._live = Live(console=console, refresh_per_second=1, transient=True) if console.is_terminal else None
        self._cells = list(done) if self._live else []  # for the table that fills

    def _seconds(self, slot: Slot) -> float:
        return self._plan.cell_s(slot.contender, slot.scenario)

    def __enter__(self) -> Screen:
        if self._live:
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._live:
            self._live.stop()
            self._cells.clear()

    def say(self, sentence: str) -> None:
        self._now = sentence
        if self._live:
            self._refresh()
        else:
            self._console.print(f"{sentence}  ({self._time_left()})", markup=False, highlight=False)

    def cell(self, slot: Slot, cell: Cell | None) -> None:
        if cell is None:
            self._now = f"round {slot.round}: {slot.scenario.id} · {slot.contender.id}"
        else:
            self._there += 1
            self._over(self._seconds(slot))
            if self._live:
                self._cells.append(cell)
            else:
                self._line(slot, cell)
        if self._live:
            self._refresh()

    def started(self, contenders: Sequence[str]) -> None:
        self._over(self._plan.group_start_s(contenders))

    def _over(self, announced_s: float) -> None:
        """What was announced to take so long has ended: from then on the rest is told at the pace that was seen so far."""
        self._left_s -= announced_s
        over_s = self._announced_s - self._left_s
        if over_s >= PACE_FROM_S:
            self._pace = (self._clock() - self._began) / over_s

    def _line(self, slot: Slot, cell: Cell) -> None:
        value = cell.headline(slot.scenario.headline)
        shown = words.number(value) if value is not None else "no number"
        unit = UNITS[slot.scenario.headline]
        why = "; ".join(cell.reasons)
        scenario, contender = (name.ljust(width) for name, width in zip(slot.key[1:], self._widths, strict=True))
        text = (
            f"[{self._there:>{len(str(self._plan.cells))}}/{self._plan.cells}] {scenario} {contender} "
            f"{shown:>8} {unit:15} {cell.status:8} {cell.limit or '–':9} {self._time_left()}"
        )
        again = f"\n      {words.again(cell.second)}" if cell.second is not None and cell.second.status != "unsupported" else ""
        self._console.print(text + (f"\n      {why}" if why else "") + again, markup=False, highlight=False, soft_wrap=True)

    def _time_left(self) -> str:
        return f"{words.clock(self._left_s * self._pace)} left"

    def _refresh(self) -> None:
        assert self._live is not None
        bar = ProgressBar(total=self._plan.cells, completed=self._there, width=40)
        line = Text(
            f"{self._there} of {self._plan.cells} cells, {self._time_left()}   {self._now}",
            overflow="ellipsis",
            no_wrap=True,
        )
        self._live.update(Group(terminal.grid(self._table_of(self._cells), self._console.width), bar, line))
