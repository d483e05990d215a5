"""What a workload takes of each contender, for a terminal of 100 columns. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table as Grid

from nsb.analyse.model import MEMORY_NEAR, NEAR, CostModel, Memory, Quantity, Span
from nsb.analyse.size import Lack, Sized, Workload, thousands_of
from nsb.render.messages import Language, text
from nsb.render.terminal import columns
from nsb.render.words import number


def grid(found: Sequence[Sized], load: Workload) -> Grid:
    """A line for each contender, the cheapest in cores first."""
    priced = load.core_price is not None or load.gib_price is not None
    heads = ("cores", "memory MiB", "in flight", "threads", "p50 ms", "first bottleneck", *(["a month"] if priced else []))
    view = columns(["contender"], heads)
    for each in sorted(found, key=lambda one: one.cores.value if one.cores else float("inf")):
        price = [_within(each.price)] if priced else []
        first = "–" if each.full_first is None or each.full_at is None else f"{each.full_first} {short(each.full_at)}/s"
        figures = ("–" if value is None else short(value) for value in (each.in_flight, each.threads))
        p50 = "–" if each.p50_ms is None else number(each.p50_ms)
        memory = f"{'≤' if each.memory_bound else ''}{_within(each.memory_mib)}"
        view.add_row(each.contender, told(each.cores), memory, *figures, p50, first, *price)
    return view


def told(span: Span | None) -> str:
    if span is None:
        return "not measured"
    interval = "" if span.low is None or span.high is None else f" ({short(span.low)}–{short(span.high)})"
    return short(span.value) + interval


def _within(span: Span | None) -> str:
    """With the wider side of its interval as a share, where there is no room for both ends."""
    if span is None or span.low is None or span.high is None or span.value <= 0:
        return told(span)
    return f"{short(span.value)} ±{max(span.high / span.value - 1, 1 - span.low / span.value):.0%}"


def short(value: float) -> str:
    """Three digits; from 10,000 on in thousands."""
    if value >= 9_999.5:
        return f"{value / 1000:,.0f}k" if value < 9.995e6 else f"{value / 1e6:,.0f}M"
    return f"{value:,.0f}" if value >= 99.95 or value == 0 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def notes(model: CostModel, found: Sequence[Sized], load: Workload, language: Language = "en") -> Iterator[str]:
    """What fails, what was not measured, how far off the model is, and what it leaves out. page.js says the same."""
    for each in found:
        if lacks := [lack(one, language) for one in each.lacks]:
            yield f"✗ {each.contender}: {'; '.join(lacks)}."
    for each in found:
        if each.unknown:
            names = ", ".join(text(f"size.unknown.{name}", language) for name in each.unknown)
            yield f"{each.contender}: {text('size.unknown', language, names=names)}."
    if found:
        db, up = found[0].db_connections, found[0].upstream_connections
        yield text("size.connections", language, db=f"{db:,}", ms=f"{load.query_ms:g}", up=f"{up:,}")
    thousands = thousands_of(model, load)
    if thousands:
        whose = load.compute_on or model.reference
        yield text("size.computing", language, ms=f"{load.compute_ms:g}", whose=whose, rounds=f"{thousands * 1000:,.0f}")
    share = f"{load.utilisation:.0%}"
    yield text("size.from", language, run=model.run, machine=model.machine, profile=model.profile, share=share)
    yield from about(model, language)


def about(model: CostModel, language: Language = "en") -> Iterator[str]:
    """What holds for every workload: how far off the model is, where its memory is from, and what it leaves out."""
    checks = {each.contender: each.check for each in model.contenders if each.check is not None}
    if checks:
        row, off = next(iter(checks.values())).scenario, ", ".join(f"{name} {each.off:+.0%}" for name, each in checks.items())
        yield text("size.off", language, row=row, off=off)
    yield from checked(model, language)
    elsewhere = sorted({each.run for one in model.contenders for each in quantities(one.memory) if each.run != model.run})
    if elsewhere:
        yield text("size.elsewhere", language, runs=", ".join(elsewhere))
    yield text("size.left_out", language)


def checked(model: CostModel, language: Language = "en") -> Iterator[str]:
    """How far off the predictions for mixtures are; nothing where the run has none."""
    predicted = [(each.contender, one) for each in model.contenders for one in each.mixtures]
    if predicted:
        name, furthest = max(predicted, key=lambda each: abs(each[1].off))
        yield text(
            "size.predicted", language, n=len({one.scenario for _, one in predicted}), cells=len(predicted), share=f"{NEAR:.0%}",
            within=sum(abs(one.off) <= NEAR for _, one in predicted), off=f"{furthest.off:+.0%}", name=name, row=furthest.scenario,
        )  # fmt: skip
    held = [(each.contender, one, one.memory_off) for each in model.contenders for one in each.mixtures if one.memory_off is not None]
    if held:
        name, one, off = max(held, key=lambda each: abs(each[2]))
        yield text(
            "size.predicted_memory", language, cells=len(held), share=f"{MEMORY_NEAR:.0%}",
            within=sum(abs(each[2]) <= MEMORY_NEAR for each in held), off=f"{off:+.0%}", name=name, row=one.scenario,
        )  # fmt: skip


def quantities(memory: Memory) -> list[Quantity]:
    return [each for each in (memory.base_mib, memory.in_flight_kib, memory.connection_kib) if each is not None]


def lack(of: Lack, language: Language) -> str:
    """Without a full stop."""
    return text(f"size.lack.{of.station}", language, needs=f"{of.needs:,}", has=f"{of.has:,}")
