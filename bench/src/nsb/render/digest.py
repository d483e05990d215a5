"""The small table of factors and the findings, in words (analyse/digest.py). Pure."""

from __future__ import annotations

from collections.abc import Sequence

from nsb.analyse.digest import WIDEST, Digest, Factor, Finding, Place, Row
from nsb.render import messages
from nsb.render.messages import Language, own, text
from nsb.render.words import CLOCK_MS, grid, number

TOLD = 0.05
"""A half-width up to this share is not printed beside its value: the legend says so once."""

UNKNOWN = "◇"
"""A value that was not compared, in a row where others were."""

# --- figures --------------------------------------------------------------------------------------------------------------


def value(row: Row, place: Place, language: Language) -> str:
    """`29.1`; `29.1?` with doubts; `≤3.2`, `≥598` for a bound; `480/s` where that was reached; a word where there is no figure."""
    if place.value is None:
        return "" if place.word == "not asked" else own(messages.word("status", place.word or "missing"), language)
    shown = f"{place.value:.0f}" if by_clock(row) and not place.reached else number(place.value)
    return f"{place.bound or ''}{shown}{'/s' if place.reached else ''}{'?' if place.doubtful else ''}"


def by_clock(row: Row) -> bool:
    """Latency, which the clock of whole milliseconds tells."""
    return row.unit.endswith(" ms")


def width(row: Row, place: Place) -> str:
    """`±12%`, the half-width of the interval, the wider side, where that is more than `TOLD`; of latency `±3 ms` above the clock's own."""
    if place.value is None or place.low is None or place.high is None or place.bound:
        return ""
    return _width(place.value, place.low, place.high, by_clock(row) and not place.reached)


def factor_width(found: Factor | None) -> str:
    """The same of a factor; a baseline beside itself has none."""
    return "" if found is None else _width(found.value, found.low, found.high, found.unit == "ms")


def _width(value: float, low: float, high: float, in_ms: bool) -> str:
    widest = max(high - value, value - low)
    if in_ms:
        return f"±{widest:.0f} ms" if round(widest) > CLOCK_MS else ""
    return f"±{widest / value:.0%}" if widest > TOLD * value else ""


def factor(found: Factor | None) -> str:
    """`1.36×`; of latency from the schedule the difference, `+94 ms`."""
    if found is None:
        return ""
    if found.unit == "ratio":
        return f"{number(found.value)}×"
    return "" if round(found.value) == 0 else f"{'−' if found.value < 0 else '+'}{abs(found.value):.0f} ms"


def beside(row: Row, place: Place, baseline: str) -> str:
    """The factor to a baseline, which is 1× itself where others have one; nothing where a difference is 0 when rounded."""
    if place.contender == baseline and place.value is not None and not by_clock(row):
        return "1×" if any(baseline in each.factors for each in row.places if each is not place) else ""
    return factor(place.factors.get(baseline))


def bounds(found: Factor) -> str:
    """`1.31–1.41`, of a ratio."""
    return f"{number(found.low)}–{number(found.high)}"


def unit(row: Row, language: Language) -> str:
    return messages.unit(row.unit, language)


def title(row: Row, language: Language) -> str:
    return own(row.chosen, language)


# --- sentences ------------------------------------------------------------------------------------------------------------


def sentence(found: Finding, language: Language) -> str:
    return own(found.told, language).format(**_fields(found, language), **{name: f"{each:g}" for name, each in found.facts.items()})


def _fields(found: Finding, language: Language) -> dict[str, str]:
    row, kind = found.row, found.told.kind
    if kind == "alike":
        return {"range": hull(row, found.first, language)}
    if kind == "split":
        return {
            "failing": names(found.first, language),
            "failing_range": hull(row, found.first, language),
            "others": names(found.second, language),
            "others_range": hull(row, found.second, language),
        }
    leader, *near = found.first
    (worst,) = found.second
    times = worst.factors[leader.contender]
    tied = [place for place in near if place.value is not None]
    without = [place for place in near if place.value is None]
    return {
        "best": leader.contender,
        "value": with_interval(row, leader, language),
        "tied": "".join(
            text(f"digest.{key}", language, names=names(of, language)) for key, of in (("tied", tied), ("without", without)) if of
        ),
        "worst": worst.contender,
        "factor": text("digest.times", language, value=number(times.value), bounds=bounds(times)),
    }


def names(places: Sequence[Place], language: Language) -> str:
    each = [place.contender for place in places]
    return each[0] if len(each) == 1 else text("digest.and", language, first=", ".join(each[:-1]), last=each[-1])


def with_interval(row: Row, place: Place, language: Language) -> str:
    assert place.value is not None
    assert place.low is not None
    assert place.high is not None
    if place.bound:
        return f"{place.bound} {messages.amount(number(place.high if place.bound == '≤' else place.value), row.unit, language)}"
    low, high = (f"{each:.0f}" if by_clock(row) else number(each) for each in (place.low, place.high))
    return text("digest.interval", language, value=_amount(row, value(row, place, language), language), low=low, high=high)


def hull(row: Row, places: Sequence[Place], language: Language) -> str:
    """From the least lower to the greatest upper bound; of one contender its own figure. Of latency no finer than whole milliseconds."""
    if len(places) == 1:
        return with_interval(row, places[0], language)
    low, high = min(place.low or 0.0 for place in places), max(place.high or 0.0 for place in places)
    shown = (f"{max(0, round(low - 0.5)):.0f}", f"{round(high + 0.5):.0f}") if by_clock(row) else (number(low), number(high))
    return _amount(row, shown[0] if shown[0] == shown[1] else text("digest.to", language, low=shown[0], high=shown[1]), language)


def _amount(row: Row, shown: str, language: Language) -> str:
    """In sentences the unit alone: of `p99 ms` and `CPU µs/request` the sentence says the rest."""
    return text("digest.amount", language, said=shown, unit=text(f"digest.unit.{row.unit}", language))


# --- the table, in Markdown -------------------------------------------------------------------------------------------------


def table(found: Digest, language: Language) -> str:
    """Rows of factors: in each the leader is 1×. Rows in which nobody differs are a line below it."""
    rows = [row for row in found.rows if not row.alike]
    if not rows:
        return ""
    heads = [f"{title(row, language)}<br><sub>{unit(row, language)}</sub>" for row in rows]
    cells = [[_cell(row, place, language) for place in row.places] for row in rows]
    return grid(found.contenders, ([head, *of] for head, of in zip(heads, cells, strict=True)))


def _cell(row: Row, place: Place, language: Language) -> str:
    leader = row.leader or ""
    large = f"{beside(row, place, leader)} {factor_width(place.factors.get(leader))}".strip()
    first = {
        "best": f"**{large}**" if large else "**best**",
        "tied": f"≈ {large}".strip(),
        "worse": large,
        "unknown": f"{_sign(row, place)} {large}".strip(),
    }
    marked = first[place.mark] if place.value is not None else ""
    below = " ".join(part for part in (value(row, place, language), width(row, place)) if part)
    above = " ".join(part for part in ("✗" if place.fails else "", marked) if part)
    return f"{above}<br><sub>{below}</sub>" if above else below


def _sign(row: Row, place: Place) -> str:
    """Of a value that was not compared. Where nobody in the row was, a note names the row."""
    return UNKNOWN if not row.uncompared else "≈" if row.near(place) else ""


def notes(found: Digest, language: Language, best: str = "digest.legend.best") -> list[str]:
    """What the marks of this table mean, what its failures are, and in which rows nobody differs. `best`: how the best one is marked.

    A mark that the table does not have is not explained.
    """
    shown = [row for row in found.rows if not row.alike]
    places = [(row, place) for row in shown for place in row.places]
    beside_best = any(beside(row, place, row.leader or "") for row, place in places)
    lines = [text("digest.legend", language)] if beside_best or any(row.interval for row in shown) else []
    if titles := [title(row, language) for row in shown if not row.interval]:
        lines.append(text("digest.legend.range", language, rows=", ".join(titles)))
    if any(place.doubtful for _, place in places):
        lines.append(text("digest.legend.doubt", language))
    failed = [row for row in shown if any(place.fails for place in row.places) and row.chosen.fails is not None]
    if failed:
        reasons = [f"{title(row, language)}: {own(row.chosen.fails, language)}" for row in failed]
        lines.append(text("digest.legend.fails", language, reasons=" · ".join(reasons)))
    if any(by_clock(row) and factor(place.factors.get(row.leader or "")) for row, place in places):
        lines.append(text("digest.legend.latency", language))
    if any(place.mark in ("best", "worse") for _, place in places):
        lines.append(text("digest.legend.better", language, best=text(best, language)))
    if any(place.mark == "tied" for _, place in places):
        lines.append(text("digest.legend.tied", language))
    if any(place.mark == "unknown" and place.value is not None and not row.uncompared for row, place in places):
        lines.append(text("digest.legend.unknown", language, mark=UNKNOWN))
    if any(place.bound for _, place in places):
        lines.append(text("digest.legend.bound", language))
    for key, few in (("few", True), ("uncompared", False)):
        if titles := [title(row, language) for row in shown if row.uncompared and row.few is few]:
            lines.append(text(f"digest.legend.{key}", language, rows=", ".join(titles)))
    if any(row.near(place) for row, place in places):
        lines.append(text("digest.legend.near", language))
    if titles := [title(row, language) for row in shown if row.hardly_known()]:
        lines.append(text("digest.legend.hardly_known", language, widest=f"{100 * WIDEST:g}", rows=", ".join(titles)))
    for run in dict.fromkeys(row.run for row in shown if row.run is not None):
        its = ", ".join(title(row, language) for row in shown if row.run == run)
        lines.append(text("digest.legend.elsewhere", language, rows=its, run=run))
    lines += [
        text(f"digest.{'near' if row.uncompared else 'alike'}", language, title=title(row, language), range=hull(row, row.places, language))
        for row in found.rows if row.alike
    ]  # fmt: skip
    return lines
