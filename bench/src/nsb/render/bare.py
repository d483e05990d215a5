"""The table of `just bare`. Pure: it makes a renderable, the command line prints it."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.table import Table as Grid

from nsb.analyse.bare import LIMIT, Comparison, Verdict

_SAID: dict[Verdict, str] = {"within": f"within {LIMIT:.2f}", "above": f"ABOVE {LIMIT:.2f}", "undecided": "undecided"}


def grid(comparisons: Sequence[Comparison]) -> Grid:
    """A line for each contender: CPU per request of service and bare program, their ratio with its 95 % interval, and its meaning."""
    view = Grid(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    view.add_column("contender", no_wrap=True)
    for title in ("service µs/req", "bare µs/req", "ratio", "95 % interval", "pairs"):
        view.add_column(title, justify="right", no_wrap=True)
    view.add_column("verdict", no_wrap=True)
    for c in comparisons:
        interval = "–" if c.low is None or c.high is None else f"{c.low:.3f} to {c.high:.3f}"
        pairs = f"{c.pairs} of {c.pairs + c.left_out}" if c.left_out else str(c.pairs)
        view.add_row(c.contender, f"{c.service_us:.1f}", f"{c.bare_us:.1f}", f"{c.ratio:.3f}", interval, pairs, _SAID[c.verdict])
    return view
