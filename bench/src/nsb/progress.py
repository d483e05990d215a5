"""What a waiting person sees: cell by cell, the time left, and a table that fills."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from statistics import fmean
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.text import Text

from nsb.analyse.table import NO_FIGURE, Table
from nsb.measure.patience import clock
from nsb.records.judged import Cell
from nsb.registry.plan import Plan, Slot, left
from nsb.registry.terms import METRIC_UNITS
from nsb.render import terminal, words

PACE_FROM_S = 60.0
"""Of the announced time so much has to be over before what it took corrects what was not seen yet: one slow start is not yet a pace."""
NO_SPREAD = "one round alone has no spread"
"""In the place of a figure that is not told without one."""

Part = tuple[str, str, bool] | frozenset[str]
"""Cells of one scenario and contender, with a process started for them or without; or starts of the same contenders: what was seen of one
tells of the next."""


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
        self._left = left(plan, done)
        self._there = plan.cells - len(self._left.slots)
        parts: list[tuple[Part, float]] = [(self._part(slot), self._left.slot_s(slot)) for slot in self._left.slots]
        parts += [(frozenset(group), self._left.group_s(round_, group)) for round_, group in self._left.groups]
        self._announced_s = dict(parts)
        self._ahead = Counter(part for part, _ in parts)
        self._took_s: dict[Part, list[float]] = {}
        self._since = clock()
        """When the last part ended."""
        self._now = ""
        self._live = Live(console=console, refresh_per_second=1, transient=True) if console.is_terminal else None
        self._cells = list(done) if self._live else []  # for the table that fills

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
            self._over(self._part(slot))
            if self._live:
                self._cells.append(cell)
            else:
                self._line(slot, cell)
        if self._live:
            self._refresh()

    def started(self, contenders: Sequence[str]) -> None:
        self._over(frozenset(contenders))

    def _over(self, part: Part) -> None:
        """A part has ended: with its restarts, second attempts and whatever else has been waited for since the one before."""
        now = self._clock()
        self._took_s.setdefault(part, []).append(now - self._since)
        self._since = now
        self._ahead[part] -= 1

    @property
    def _left_s(self) -> float:
        """Each part at the mean of what it took so far; one that was not seen yet as announced, at the pace of those that were."""
        over_s = sum(self._announced_s.get(part, 0.0) * len(took) for part, took in self._took_s.items())
        pace = sum(map(sum, self._took_s.values())) / over_s if over_s >= PACE_FROM_S else 1.0
        each_s = {part: fmean(took) if (took := self._took_s.get(part)) else pace * self._announced_s[part] for part in self._ahead}
        return sum(max(0, number) * each_s[part] for part, number in self._ahead.items())

    def _line(self, slot: Slot, cell: Cell) -> None:
        entry = self._table_of([cell]).entry(cell.contender, cell.scenario)
        told = words.figure(entry)
        if entry.figure:
            told = f"{told:>9} {words.spread(entry):>6} {METRIC_UNITS[entry.headline]}"
        elif told == NO_FIGURE and cell.headline(entry.headline) is not None:
            told = NO_SPREAD
        why = "; ".join(cell.reasons)
        scenario, contender = (name.ljust(width) for name, width in zip(slot.key[1:], self._widths, strict=True))
        text = (
            f"[{self._there:>{len(str(self._plan.cells))}}/{self._plan.cells}] {scenario} {contender} "
            f"{told:32} {cell.status:8} {cell.limit or '–':9} {self._time_left()}"
        )
        self._console.print(text + (f"\n      {why}" if why else ""), markup=False, highlight=False, soft_wrap=True)

    def _time_left(self) -> str:
        return f"{clock(self._left_s)} left"

    def _refresh(self) -> None:
        assert self._live is not None
        bar = ProgressBar(total=self._plan.cells, completed=self._there, width=40)
        line = Text(
            f"{self._there} of {self._plan.cells} cells, {self._time_left()}   {self._now}",
            overflow="ellipsis",
            no_wrap=True,
        )
        self._live.update(Group(terminal.grid(self._table_of(self._cells), self._console.width), bar, line))

    def _part(self, slot: Slot) -> Part:
        return slot.scenario.id, slot.contender.id, slot.key in self._left.again
