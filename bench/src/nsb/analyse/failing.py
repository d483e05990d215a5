"""What a cell with a fault says: who was answered meanwhile, how soon all was well again, and what stands against it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nsb.analyse import owners
from nsb.analyse.doubts import doubtful
from nsb.analyse.overload import LATE_MS, checked, late, noise
from nsb.analyse.starts import Span, span
from nsb.records.failing import Failing, Side
from nsb.records.judged import Cell, Check, FailingFigure, SideFigure, of_each
from nsb.registry.terms import P99_REQUESTS, Fault, Frozen

# --- figures of a cell ---------------------------------------------------------------------------------------------------


def figure(seen: Failing) -> FailingFigure | None:
    """None where it did not come to the fault."""
    needing, others = (_side(each, seen.give_up_ms) for each in seen.sides)
    if needing is None or others is None or seen.pss_mib is None:
        return None
    return FailingFigure(
        fault=seen.fault, fault_s=seen.fault_s, limit_s=seen.limit_s, needing=needing, others=others, memory_mib=seen.pss_mib
    )


def _side(side: Side, give_up_ms: int) -> SideFigure | None:
    users = side.users
    if users is None or not users.arrivals:
        return None
    p99 = users.quantile_ms(0.99) if users.lag_p99_ms <= LATE_MS else None
    kinds = {"gave up": users.gave_up, "refused": users.refused, "reset": users.reset, **users.statuses}
    return SideFigure(
        served=round(100 * users.good / users.arrivals, 3),
        p99_ms=None if p99 is None or users.good < P99_REQUESTS else round(p99, 3),
        lag_ms=round(users.lag_p99_ms, 3),
        kinds={kind: count for kind, count in kinds.items() if count},
        late=late(users, give_up_ms),
        back_ms=None if users.back_ms < 0 else round(users.back_ms, 1),
    )


# --- checks --------------------------------------------------------------------------------------------------------------


def checks(seen: Failing) -> list[Check]:
    """V1, V3, V5, V7 and V9 of such a cell. Errors and users who leave are results; a wrong body takes the contender out."""
    return [
        checked("V1", _answers(seen), bad=True),
        checked("V3", _late(seen), bad=False),
        checked("V5", _counted(seen), bad=seen.counted is not None, counted=seen.counted),
        checked("V7", noise([(seen.first, seen.last)] if seen.first and seen.last else [], seen.cores["machine"]), bad=False),
        checked("V9", _caused(seen), bad=True, executed=seen.executed, called=seen.called),
        *([owners.check([seen.owned])] if seen.owned is not None else []),
    ]


def _answers(seen: Failing) -> Iterator[str]:
    if seen.wrong is not None:
        yield seen.wrong
    for what, side in zip(("what needs the failing thing", "the others"), seen.sides, strict=True):
        if not side.idle.good:
            yield f"before the fault nobody was answered of {what}"


def _late(seen: Failing) -> Iterator[str]:
    found = [each.lag_p99_ms for own in seen.tallies for each in own if late(each, seen.give_up_ms)]
    if found:
        yield f"the generator was late ({max(found):.1f} ms): no verdict rests on that"


def _sums(seen: Failing) -> tuple[list[int], list[int]]:
    """Requests sent and answered, by part."""
    sent, answered = ([sum(sum(getattr(each, name)) for each in own) for own in seen.tallies] for name in ("sent_of", "answered_of"))
    return sent, answered


def _counted(seen: Failing) -> Iterator[str]:
    """A request whose user has left may be counted or not, and so may one of the slow clients."""
    if seen.wrong is not None:
        return
    if seen.counted is None:
        yield "the service did not say how many requests it counted (/stats)"
    elif seen.counted < sum(_sums(seen)[1]):
        yield f"the service counted {seen.counted} requests and answered {sum(_sums(seen)[1])}"


def _caused(seen: Failing) -> Iterator[str]:
    """What was answered was done. There may be more: users left meanwhile, and pools look at their connections."""
    if seen.wrong is not None:
        return
    answered = _sums(seen)[1]
    for what, found, of in (
        ("the database executed {} statements", seen.executed, [each.statements for each in seen.parts]),
        ("the upstream got {} calls", seen.called, [each.calls for each in seen.parts]),
    ):
        least = sum(count * each for count, each in zip(answered, of, strict=True))
        if found is not None and found < least:
            yield f"{what.format(found)} where it should be {least} at the least"


# --- over the rounds -----------------------------------------------------------------------------------------------------


class SideOver(Frozen):
    """Over the rounds in which the generator was not late."""

    served: Span | None
    p99_ms: Span | None
    kinds: dict[str, int]
    """Over all rounds."""
    back_ms: Span | None
    """None too where one of the rounds was not back in time."""
    not_back: int


class Failed(Frozen):
    """The cells of one contender that count, in a scenario with a fault."""

    contender: str
    scenario: str
    fault: Fault
    rounds: int
    limit_s: float
    needing: SideOver
    others: SideOver
    memory_mib: Span | None
    doubtful: bool


def failed(cells: Sequence[Cell], contenders: Sequence[str]) -> list[Failed]:
    """One entry for each contender and scenario of which a cell counts."""
    told = [cell for cell in cells if cell.counts and cell.failing is not None]
    return [_failed(*each) for each in of_each(told, contenders)]


def _failed(contender: str, scenario: str, cells: Sequence[Cell]) -> Failed:
    found = [cell.failing for cell in cells if cell.failing is not None]
    return Failed(
        contender=contender,
        scenario=scenario,
        fault=found[0].fault,
        rounds=len(found),
        limit_s=max(each.limit_s for each in found),
        needing=_over([each.needing for each in found]),
        others=_over([each.others for each in found]),
        memory_mib=span([each.memory_mib for each in found]),
        doubtful=doubtful([cell.doubts for cell in cells]),
    )


def _over(sides: Sequence[SideFigure]) -> SideOver:
    known = [each for each in sides if not each.late]
    back = [each.back_ms for each in known if each.back_ms is not None]
    return SideOver(
        served=span([each.served for each in known], share=True, of=len(sides)),
        p99_ms=span([each.p99_ms for each in known if each.p99_ms is not None], of=len(sides)),
        kinds={kind: sum(each.kinds.get(kind, 0) for each in sides) for kind in sorted({kind for each in sides for kind in each.kinds})},
        back_ms=span(back, of=len(sides)) if len(back) == len(known) else None,
        not_back=len(known) - len(back),
    )
