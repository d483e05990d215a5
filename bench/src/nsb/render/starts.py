"""The part of table.md about start-up and warm-up. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from nsb.analyse.starts import Span, Startup
from nsb.records.duet import FALLING
from nsb.render import words

HEADING = "## Start-up and warm-up\n"


def section(startups: Sequence[Startup]) -> list[str]:
    """The blocks of the page; none for a run without recorded starts."""
    if not startups:
        return []
    notes = [f"- {found.contender}: {note}" for found in startups for note in found.notes]
    return [
        HEADING,
        _explained(startups),
        *([_grid(startups)] if _any_span(startups) else []),
        *(["\n".join(notes) + "\n"] if notes else []),
    ]


def _any_span(startups: Sequence[Startup]) -> bool:
    return any(span is not None for found in startups for span in _spans(found))


def _explained(startups: Sequence[Startup]) -> str:
    if not _any_span(startups):
        return "One start of each contender has no spread, so it gives no figure here; what was seen is in starts.jsonl.\n"
    return (
        f"From exec, over all starts: {words.spans(span for found in startups for span in _spans(found))}. "
        "Until it is warm a contender may use all cores, so nothing here compares with the windows. "
        f"Warm: seconds of load after which no visit made a request cheaper by {1 - FALLING:.0%} or more; 0 where none ever did.\n"
    )


def _grid(startups: Sequence[Startup]) -> str:
    heads = ("starts", "ready, s", "pool open, s", "CPU until ready, s", "memory when ready, MiB (PSS)", "warm after, s")
    counts = [f"{found.starts - found.failed}/{found.starts}" if found.failed else str(found.starts) for found in startups]
    rows = ([found.contender, counted, *map(words.span, _spans(found))] for found, counted in zip(startups, counts, strict=True))
    return words.grid(heads, rows)


def _spans(found: Startup) -> list[Span | None]:
    return [found.ready_s, found.pool_s, found.cpu_s, found.pss_mib, found.warm_after_s]
