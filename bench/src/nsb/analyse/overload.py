"""What an overload cell says: goodput, latency and recovery at each level, and what stands against it. Pure.

Symbols: X = the capacity (right answers per second of the closed load), G = right answers in time per second at a level.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from nsb.analyse import duet, owners
from nsb.analyse.doubts import doubtful
from nsb.analyse.effects import STATEMENTS_SLACK
from nsb.analyse.starts import Span, span
from nsb.analyse.validity import FULL
from nsb.records.edge import Edge
from nsb.records.judged import Cell, Check, LevelFigure, OverloadFigure, of_each
from nsb.records.overload import Level, Overload, Tally
from nsb.registry.terms import P99_REQUESTS, Frozen, Limit

LATE_MS, LATE_SHARE = 5.0, 0.1
"""Where the generator saw users later than this (p99), no latency is told. Where it saw them later than this share of what a user waits,
no verdict rests on it: lateness counts against the service, which has less of the wait left."""
QUEUED_DOUBT = 0.01
"""Share of the users who may wait for a connection: more would not be the service's own queue."""
HALVES_DOUBT = 0.10
"""Halves of the capacity's window that differ by more: the service was still warming up, or somebody disturbed it."""
CAPACITY_DOUBT = 0.05
"""Users who get so much more than the capacity say that it was measured too low."""


# --- figures of a cell ---------------------------------------------------------------------------------------------------


def figure(seen: Overload) -> OverloadFigure | None:
    """None where there is no capacity, or the idle service answered nothing."""
    idle_ms = seen.idle.users.quantile_ms(0.5) if seen.idle is not None else None
    if not seen.capacity_rps or idle_ms is None:
        return None
    levels = [_level(seen, each) for each in seen.levels]
    return OverloadFigure(
        capacity_rps=round(seen.capacity_rps, 3), idle_ms=round(idle_ms, 3), limit_s=seen.limit_s, levels=levels, broke=seen.broke
    )


def _level(seen: Overload, level: Level) -> LevelFigure:
    users = level.users
    p99 = users.quantile_ms(0.99) if users.lag_p99_ms <= LATE_MS else None
    return LevelFigure(
        percent=level.percent,
        goodput=round(100 * users.good / seen.window_s / seen.capacity_rps, 3),
        p99_ms=None if p99 is None or users.good < P99_REQUESTS else round(p99, 3),
        lag_ms=round(users.lag_p99_ms, 3),
        memory_mib=level.pss_mib,
        late=late(users, seen.give_up_ms),
        back_ms=None if users.back_ms < 0 else round(users.back_ms, 1),
        broke=level.broke is not None,
    )


def late(users: Tally, give_up_ms: int) -> bool:
    """Whether no verdict rests on what the generator saw."""
    return users.lag_p99_ms > LATE_SHARE * give_up_ms


def limit(seen: Overload) -> Limit:
    """What was full while the capacity was measured, as in validity.full_stations; `offered`: nothing, so the users were too few."""
    took_s = seen.last.at_s - seen.first.at_s
    used = {role: (seen.last.cpu[role] - seen.first.cpu[role]) / took_s for role in seen.first.cpu}
    if used["service"] >= FULL * seen.cores["service"]:
        return "cpu"
    others: tuple[Limit, ...] = ("database", "upstream", "generator")
    if sum(used[role] for role in seen.shared) >= FULL * seen.cores["generator"]:
        return max((role for role in others if role in seen.shared), key=lambda role: used[role])
    return next((role for role in others if used[role] >= FULL * seen.cores[role]), "offered")


# --- checks --------------------------------------------------------------------------------------------------------------


def checks(seen: Overload) -> list[Check]:
    """V1, V3, V5 to V9 of an overload cell. An answer with another status is a result; a wrong body takes the contender out."""
    return [
        checked("V1", _answers(seen), bad=True),
        checked("V3", _late(seen), bad=False),
        checked("V5", _counted(seen), bad=seen.counted is not None, counted=seen.counted),
        checked("V6", _held(seen), bad=True, least_ms=seen.least_ms, hold_ms=seen.hold_ms),
        checked("V6", _own(seen), bad=False),
        checked(
            "V7", noise([(seen.first, seen.last), *((each.first, each.last) for each in seen.levels)], seen.cores["machine"]), bad=False
        ),
        checked("V8", _steady(seen), bad=False),
        checked("V9", _caused(seen), bad=True, executed=seen.executed, inserted=seen.inserted, called=seen.called),
        checked("V9", _queued(seen), bad=False),
        *([owners.check([seen.owned], broke=seen.broke is not None)] if seen.owned is not None else []),
    ]


def checked(id_: str, sentences: Iterable[str], bad: bool, **inputs: float | int | str | None) -> Check:
    said = "; ".join(sentences)
    return Check(id=id_, outcome="ok" if not said else "invalid" if bad else "doubt", sentence=said, inputs=inputs)


def _loads(seen: Overload) -> list[Level]:
    return [*([seen.idle] if seen.idle is not None else []), *seen.levels]


def _answers(seen: Overload) -> Iterator[str]:
    if seen.wrong is not None:
        yield seen.wrong
    elif not seen.capacity_rps:
        yield "no request was answered in the window of the capacity"
    elif seen.idle is None or not seen.idle.users.good:
        yield "the idle service answered nothing"


def _late(seen: Overload) -> Iterator[str]:
    found = [f"{each.percent} % ({each.users.lag_p99_ms:.1f} ms)" for each in seen.levels if late(each.users, seen.give_up_ms)]
    if found:
        yield f"the generator was late at {', '.join(found)}: no verdict rests on that"


def _counted(seen: Overload) -> Iterator[str]:
    """A request whose user has left may be counted or not."""
    answered = sum(seen.answers_of) + seen.odd + sum(sum(each.users.answered_of) for each in _loads(seen))
    sent = sum(seen.answers_of) + seen.odd + sum(sum(each.users.sent_of) for each in _loads(seen))
    if seen.wrong is not None or seen.broke is not None:
        return
    if seen.counted is None:
        yield "the service did not say how many requests it counted (/stats)"
    elif not answered <= seen.counted <= sent:
        yield f"the service counted {seen.counted} requests; {sent} were sent and {answered} answered"


def _held(seen: Overload) -> Iterator[str]:
    if seen.least_ms is not None and seen.least_ms < seen.hold_ms - duet.EARLY_MS:
        yield f"an answer came within {seen.least_ms:.1f} ms where a request must wait {seen.hold_ms} ms"


def _own(seen: Overload) -> Iterator[str]:
    found = limit(seen)
    if found == "offered":
        yield "nothing was full at the capacity: it is what these users ask for"
    elif found != "cpu":
        yield f"the {found} was full at the capacity, not the service"


def noise(windows: Sequence[tuple[Edge, Edge]], cores: int) -> Iterator[str]:
    """Of a machine with so many cores."""
    whole = sum(last.at_s - first.at_s for first, last in windows) * cores or 1.0
    foreign = sum(max(0.0, last.busy_s - first.busy_s - _used(first, last)) for first, last in windows) / whole
    steal = sum(last.steal_s - first.steal_s for first, last in windows) / whole
    if foreign > duet.FOREIGN_DOUBT:
        yield f"other programs used {foreign:.0%} of the machine"
    if steal > duet.STEAL_DOUBT:
        yield f"the hypervisor took {steal:.0%} of the machine"


def _used(first: Edge, last: Edge) -> float:
    return sum(last.cpu.values()) - sum(first.cpu.values())


def _steady(seen: Overload) -> Iterator[str]:
    if duet.still_falling(seen.bursts):
        yield "the service is cold: it still became cheaper when its warm-up ended"
    kept = seen.series.between(seen.first.at_s, seen.last.at_s)
    middle = len(kept.at_s) // 2
    if middle and len(kept.at_s) > 2:
        rates = [
            (kept.answers[b] - kept.answers[a]) / (kept.at_s[b] - kept.at_s[a]) for a, b in ((0, middle), (middle, len(kept.at_s) - 1))
        ]
        if not rates[0] or abs(rates[1] / rates[0] - 1) > HALVES_DOUBT:
            yield f"the capacity is {rates[0]:,.0f}/s in the first half of its window and {rates[1]:,.0f}/s in the second"
    most = max((each.users.good / seen.window_s / seen.capacity_rps for each in seen.levels if seen.capacity_rps), default=0.0)
    if most > 1 + CAPACITY_DOUBT:
        yield f"users had {most:.0%} of the capacity: it is more than what was measured"


def _caused(seen: Overload) -> Iterator[str]:
    """What a request causes was caused by every one that was answered, and by no more than were sent."""
    if seen.wrong is not None:
        return
    answered = [count + sum(each.users.answered_of[n] for each in _loads(seen)) for n, count in enumerate(seen.answers_of)]
    sent = [count + sum(each.users.sent_of[n] for each in _loads(seen)) for n, count in enumerate(seen.answers_of)]
    for what, found, of, slack in (
        ("the database executed {} statements", seen.executed, [part.statements for part in seen.parts], STATEMENTS_SLACK),
        ("the database has {} new rows", seen.inserted, [int(part.writes) for part in seen.parts], 0),
        ("the upstream got {} calls", seen.called, [part.calls for part in seen.parts], 0),
    ):
        least, most = (sum(count * each for count, each in zip(counts, of, strict=True)) for counts in (answered, sent))
        if found is not None and not least - slack <= found <= most + slack:
            yield f"{what.format(found)} where it should be {least} to {most}"


def _queued(seen: Overload) -> Iterator[str]:
    queued = {each.percent: each.users.queued / max(1, each.users.arrivals) for each in seen.levels}
    found = [f"{share:.0%} at {percent} %" for percent, share in queued.items() if share > QUEUED_DOUBT]
    if found:
        yield f"users waited for one of {seen.connections:,} connections: {', '.join(found)}"


# --- over the rounds -----------------------------------------------------------------------------------------------------


class LevelOver(Frozen):
    """One level over the rounds that count and in which the generator was not late; no figure where it was in more than one of six."""

    percent: int
    late: int
    """Rounds that are left out, since the generator was late."""
    goodput: Span | None
    p99_ms: Span | None
    """Where the generator was in time for it."""
    lag_ms: float
    """The most of these rounds: how late the generator saw that a user had come (p99)."""
    memory_mib: Span | None
    back_ms: Span | None
    """None too where one of the rounds was not back in time."""
    not_back: int
    """Rounds in which single users had no quick answers within the limit."""
    broke: int = 0
    """Rounds in which the service was of no more use after it: it had ended, or it hung."""


class Overloaded(Frozen):
    """The cells of one contender that count, in a scenario with more users than it can serve."""

    contender: str
    scenario: str
    rounds: int
    capacity_rps: Span | None
    idle_ms: Span | None
    limit_s: float
    levels: list[LevelOver]
    broke: int = 0
    """Rounds in which the service was of no more use after one of the levels."""
    doubtful: bool
    """Whether the figures are marked, as in an entry."""

    def at(self, percent: int) -> LevelOver | None:
        return next((level for level in self.levels if level.percent == percent), None)


def overloaded(cells: Sequence[Cell], contenders: Sequence[str]) -> list[Overloaded]:
    """One entry for each contender and scenario of which a cell counts."""
    told = [cell for cell in cells if cell.counts and cell.overload is not None]
    return [_overloaded(*each) for each in of_each(told, contenders)]


def _overloaded(contender: str, scenario: str, cells: Sequence[Cell]) -> Overloaded:
    found = [cell.overload for cell in cells if cell.overload is not None]
    percents = sorted({level.percent for each in found for level in each.levels})
    return Overloaded(
        contender=contender,
        scenario=scenario,
        rounds=len(found),
        capacity_rps=span([each.capacity_rps for each in found]),
        idle_ms=span([each.idle_ms for each in found]),
        limit_s=max(each.limit_s for each in found),
        levels=[_level_over(percent, [level for each in found if (level := each.at(percent)) is not None]) for percent in percents],
        broke=sum(each.broke is not None for each in found),
        doubtful=doubtful([cell.doubts for cell in cells]),
    )


def _level_over(percent: int, levels: Sequence[LevelFigure]) -> LevelOver:
    known = [level for level in levels if not level.late]
    back = [level.back_ms for level in known if level.back_ms is not None]
    not_back = len(known) - len(back) if percent >= 100 else 0
    return LevelOver(
        percent=percent,
        late=len(levels) - len(known),
        goodput=span([level.goodput for level in known], share=True, of=len(levels)),
        p99_ms=span([level.p99_ms for level in known if level.p99_ms is not None], of=len(levels)),
        lag_ms=max((level.lag_ms for level in known), default=0.0),
        memory_mib=span([level.memory_mib for level in known], of=len(levels)),
        back_ms=None if not_back else span(back, of=len(levels)),
        not_back=not_back,
        broke=sum(level.broke for level in levels),
    )
