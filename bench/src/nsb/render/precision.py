"""How precise a run was, as lines for the terminal. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from nsb.analyse.budget import Parts
from nsb.analyse.quality import Quality

BESIDE = 0.05
"""What the reference costs more or less beside one contender is told from this share on."""


def text(found: Quality) -> str:
    """A line for the run, one for each cost row, one for each plant in a row."""
    took = "" if found.minutes is None else f"{found.minutes:.0f} minutes, "
    lines = [f"{took}{found.cells} cells, {_share(found.doubted_share)} with a doubt"]
    if found.halves_ratio is not None:
        lines.append(f"second half of a cost cell ÷ first half: {found.halves_ratio:.3f}")
    if found.quiet_share is not None:
        lines.append(f"the machine was quiet for {found.quiet_share:.0%} of the cost cells (witness)")
    for row in found.rows:
        twin = "no twin" if row.twin_percent is None else f"twin ±{row.twin_percent:.1f} %"
        widest = "" if row.widest is None else f", widest ±{row.widest_percent:.1f} % ({row.widest})"
        dear = [f"{name} {ratio - 1:+.0%}" for name, ratio in row.reference_beside.items() if abs(ratio - 1) >= BESIDE]
        beside = f"; the reference costs beside {', '.join(dear)}" if dear else ""
        lines.append(f"{row.scenario:<16} {twin}{widest}{beside}")
    for plant in found.plants:
        seen = "found" if plant.found else "not found"
        lines.append(f"{plant.scenario:<16} {plant.plant}: {plant.ratio:.3f} ({plant.low:.3f} to {plant.high:.3f}), {seen}")
    return "\n".join(lines)


def _share(value: float | None) -> str:
    return "none" if value is None else f"{value:.0%}"


def noise(found: Sequence[Parts]) -> str:
    """A table: a line for each cost row."""
    head = f"{'standard deviation of one cell (%)':<34} {'cells':>6} {'windows':>8} {'rounds':>8} {'starts':>8} {'runs':>8}"
    return "\n".join([head, *(_parts(each) for each in found)])


def _parts(each: Parts) -> str:
    shown = [f"{'–' if part is None else f'{part:.1f}':>8}" for part in (each.windows, each.rounds, each.starts, each.runs)]
    return f"{each.scenario:<34} {each.cells:>6} {' '.join(shown)}"
