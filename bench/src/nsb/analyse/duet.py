"""The cost of a request on a full core, from what was observed of a cost cell. Pure.

Two contenders share a core, each with users enough to fill it. The scheduler changes between them every few milliseconds, so what
slows the machine for a second falls on both, and the ratio of their CPU per request hardly feels it (Bulej et al., Duet benchmarking,
ICPE 2020, on two cores; here on one). Symbols: c = CPU per request of one window (µs), x = ln(c of own / c of partner).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence

from nsb.analyse import effects, owners
from nsb.records.duet import FALLING, Driven, Duet, Hang, Series
from nsb.records.effects import Effects
from nsb.records.judged import Cell, Check, CostFigure
from nsb.records.starts import Start

DEMAND = 0.90
"""A service is full where it computed or waited for its core for this share of the window."""
HALVES_DOUBT, HALVES_ERRORS = 0.10, 3
"""Halves of one cell that differ by more, and by so many standard errors of their difference, are a doubt: its code was still changing. A
collection of garbage in one half alone is no such change, and its interval tells of it."""
COMPILED_DOUBT = 0.10
"""Share of a JVM's CPU in the window that its compilers may use: code that they have not reached yet runs at another cost."""
FOREIGN_DOUBT, STEAL_DOUBT, STEAL_DOUBT_OF_RATIO = 0.10, 0.02, 0.15
"""Shares of the machine that other programs, and the hypervisor, may use before it is a doubt. What the hypervisor takes falls on both
services alike, so a ratio bears more of it: docs/bias.md, "What the hypervisor takes", has the cells that this share is from."""
CORE_DOUBT, CORE_INVALID = 0.05, 0.10
"""A core that never idles: what services and competitors used of it may be so much more or less. A service is read every quarter of a
second, so the edges of its readings are not those of the window: honest cells of 2 s came out at 97 to 103.5 %, with inserts that wait."""
FLOOR = 0.5
"""A service reads and writes at least as often as its generator: where it needs less than this share of what that needs, it does not
answer itself."""
COMPUTED, COMPUTED_BESIDE = 0.9, 0.5
"""A round of xorshift is six steps, each of which needs the one before, for every compiler alike: the witness walks the same chain. A
request that computes costs at least this share of that, and so much more than the same request with one round. Honest services came to 1.2
and more; to 0.63 on a machine of which other programs used 62 %."""
EARLY_MS = 2.0
"""Timers of whole milliseconds may end a wait so much early (node's and uvloop's by 1 ms)."""
LEAST_WINDOWS = 4
BURDEN, BURDEN_ROUNDS, BURDEN_OTHERS = 1.25, 4, 3
"""So much more may the reference cost beside one contender than it costs in the median of a round, over so many rounds, where it is beside
so many. Honest contenders take of the caches what they need: four runs of six rounds came to 0.90 to 1.16."""
MIXED_MARGIN = 0.2
"""The parts of a mixture are drawn: by any moment so much more or less of one of them may have come than over the whole load."""
NOT_COMPUTED = "it did not compute them"


def log_cost(series: Series) -> float:
    """ln of the cost of one service over all its readings. Not a median of windows: a collection of garbage is part of the cost and falls
    into few of them (node's reads: 2.05 times those of go by the windows' centre, 2.55 by their sums). Raises ValueError where nothing was
    answered."""
    cost = series.cost()
    if not cost:
        raise ValueError("nothing was answered")
    return math.log(cost)


def log_ratio(own: Series, partner: Series) -> float:
    """x of a duet, over the same time of both services. Raises ValueError where nothing was answered."""
    return log_cost(own) - log_cost(partner)


def figure(duet: Duet) -> CostFigure | None:
    """What a cell alone says; None where too little was answered."""
    own = duet.own.series.between(duet.opens_s, duet.closes_s)
    partner = duet.partner.series.between(duet.opens_s, duet.closes_s) if duet.partner is not None else None
    if min(len(own.costs()), len(partner.costs()) if partner is not None else LEAST_WINDOWS) < LEAST_WINDOWS:
        return None
    try:
        halves = _halves(own, partner)
    except ValueError:  # one of them answered nothing in one half
        return None
    error, halves_error = _errors(_logs(own, partner))
    return CostFigure(
        own_us=round(math.exp(log_cost(own)), 4),
        partner=duet.partner.contender if duet.partner is not None else None,
        partner_us=None if partner is None else round(math.exp(log_cost(partner)), 4),
        ratio=None if partner is None else round(math.exp(log_ratio(own, partner)), 5),
        error=round(error, 5),
        halves=round(halves, 5),
        halves_error=round(halves_error, 5),
        windows=len(own.costs()),
        speed=None if not duet.speeds else round(statistics.fmean(each.memory_steps_per_us for each in duet.speeds), 1),
    )


def registers_us(driven: Driven, duet: Duet) -> float:
    """What the rounds of one of its requests take in registers (µs), at the highest speed that the witness saw; 0: it computes none."""
    rounds = float(duet.rounds)
    if duet.parts and sum(driven.answers_of):
        computed = sum(count * part.rounds for count, part in zip(driven.answers_of, duet.parts, strict=True))
        rounds = computed / sum(driven.answers_of)
    fastest = max((each.register_steps_per_us for each in duet.speeds), default=0.0)
    return rounds / fastest if fastest else 0.0


def _logs(own: Series, partner: Series | None) -> list[float]:
    """ln of ratio (or cost) of each window. One in which nothing was answered is left out here, and its CPU is in the sums."""
    if partner is None:
        return [math.log(cost) for cost in own.costs()]
    return [math.log(a / b) for a, b in zip(own.costs(), partner.costs(), strict=False)]


def _errors(x: Sequence[float]) -> tuple[float, float]:
    """The standard errors of the mean over windows, and of the difference between the means of both halves, by the spread within them."""
    halves = x[: len(x) // 2], x[len(x) // 2 :]
    return statistics.stdev(x) / math.sqrt(len(x)), math.sqrt(sum(statistics.variance(half) / len(half) for half in halves))


def _halves(own: Series, partner: Series | None) -> float:
    """The second half of the cell ÷ the first: of the ratio, or of the cost of a service that was alone."""

    def of(half: slice) -> float:
        alone = log_cost(_part(own, half))
        return alone if partner is None else log_ratio(_part(own, half), _part(partner, half))

    middle = len(own.at_s) // 2
    return math.exp(of(slice(middle, None)) - of(slice(0, middle + 1)))


def _part(series: Series, half: slice) -> Series:
    return series.only(range(len(series.at_s))[half])


def demand(driven: Driven, duet: Duet) -> float | None:
    """Share of the window in which a service computed or waited for a core, of all its cores; None where its waiting cannot be read."""
    if driven.waited_s is None:
        return None
    window = driven.series.between(duet.opens_s, duet.closes_s)
    used = window.service_cpu_s[-1] - window.service_cpu_s[0] if window.service_cpu_s else 0.0
    return (used + driven.waited_s) / (duet.closes_s - duet.opens_s) / duet.service_cores


def checks(duet: Duet) -> list[Check]:
    """V1, V5 to V9 of a cost cell. What was counted over the whole load is exact: one request too many or too few is a wrong answer."""
    both = [duet.own, *([duet.partner] if duet.partner is not None else [])]
    return [
        _answers(both),
        _counted(both),
        _effects(duet, sum(each.answers for each in both)),
        _prepared(both, duet),
        _in_time(both, duet),
        _computed(both, duet),
        _needed(both, duet),
        _held(both, duet.hold_ms),
        _connections(both, duet.connections),
        owners.check(duet.owned),
        _floor(both, duet),
        _full(both, duet),
        _whole_core(both, duet),
        _noise(duet),
        _steady(duet),
    ]


def _check(id_: str, sentences: Iterable[str], bad: bool, **inputs: float | int | str | None) -> Check:
    said = "; ".join(sentence for sentence in sentences if sentence)
    return Check(id=id_, outcome="ok" if not said else "invalid" if bad else "doubt", sentence=said, inputs=inputs)


def _answers(both: Sequence[Driven]) -> Check:
    """V1: no answer was wrong, and there were answers."""
    wrong = [f"{each.contender}: {each.wrong}" if each.wrong else "" for each in both]
    none = [f"{each.contender} answered nothing" for each in both if not each.answers and not each.wrong]
    return _check("V1", [*wrong, *none], bad=True, answers=both[0].answers)


def _counted(both: Sequence[Driven]) -> Check:
    """V5: service and generator counted the same requests."""
    apart = [
        f"{each.contender} counted {each.counted} requests, the generator {each.answers + each.odd} answers"
        for each in both
        if not each.wrong and each.counted is not None and each.counted != each.answers + each.odd
    ]
    unknown = [f"{each.contender} did not say how many requests it counted (/stats)" for each in both if each.counted is None]
    return _check("V5", [*apart, *unknown], bad=True, counted=both[0].counted)


def _effects(duet: Duet, answers: int) -> Check:
    """V9: the database executed, and holds, and the upstream answered exactly what so many requests must cause."""
    caused = Effects(
        counted=None,
        clients=None,
        calls=duet.calls,
        call_ms=duet.call_ms,
        called=duet.called,
        asked_ms=duet.asked_ms,
        statements=duet.statements,
        questions=duet.executed,
        selects=duet.selects,
        inserts=duet.inserts,
        keys_read=duet.keys_read,
        inserted=duet.inserted,
        asleep=None,
        looks=0,
    )
    of_one_kind = [*effects.elsewhere(caused, answers, answers), *effects.statements(caused, answers, answers)]
    sentences = list(_of_parts(duet)) if duet.parts else of_one_kind
    return _check("V9", sentences, bad=True, executed=duet.executed, inserted=duet.inserted, called=duet.called, answers=answers)


def _prepared(both: Sequence[Driven], duet: Duet) -> Check:
    """V9: who says that its statements are prepared sends no text: one packet of text may hold many of them."""
    if duet.prepared is None:
        return _check("V9", [], bad=True, prepared=None)
    per_part = [part.statements for part in duet.parts]
    least = sum(
        sum(count * each for count, each in zip(driven.answers_of, per_part, strict=True)) if per_part else driven.answers * duet.statements
        for driven in both
        if driven.prepares
    )
    few = duet.prepared < least - effects.STATEMENTS_SLACK
    names = " and ".join(driven.contender for driven in both if driven.prepares)
    said = f"{duet.prepared} statements were prepared ones, where {names} must have executed {least}" if few else ""
    return _check("V9", [said], bad=True, prepared=duet.prepared, least=least)


def _of_parts(duet: Duet) -> Iterator[str]:
    """The same of a mixture: what all its requests must cause together."""
    both = [duet.own, *([duet.partner] if duet.partner is not None else [])]
    counts = [sum(each.answers_of[number] for each in both) for number in range(len(duet.parts))]
    pairs = list(zip(counts, duet.parts, strict=True))
    made = " and ".join(f"{count} of {part.scenario}" for count, part in pairs)

    def apart(seen: int | None, wanted: int, slack: int = 0) -> bool:
        return seen is not None and abs(seen - wanted) > slack

    if apart(duet.called, sum(count * part.calls for count, part in pairs)):
        yield f"the upstream got {duet.called} calls for {made}"
    if apart(duet.asked_ms, sum(count * part.calls * part.call_ms for count, part in pairs)):
        yield f"the upstream was to wait {duet.asked_ms} ms in all for {made}"
    if apart(duet.inserted, sum(count for count, part in pairs if part.writes)):
        yield f"the database has {duet.inserted} new rows for {made}"
    reads = sum(count * part.statements for count, part in pairs if not part.writes)
    writes = sum(count * part.statements for count, part in pairs if part.writes)
    for seen, wanted, kind in ((duet.selects, reads, "SELECT"), (duet.inserts, writes, "INSERT"), (duet.executed, reads + writes, "all")):
        if apart(seen, wanted, effects.STATEMENTS_SLACK):
            yield f"the database executed {seen} statements ({kind}) for {made}"
    if duet.keys_read is not None and duet.keys_read < sum(count for count, part in pairs if part.reads_a_row):
        yield f"the database looked up {duet.keys_read} rows by key for {made}"


def _in_time(both: Sequence[Driven], duet: Duet) -> Check:
    """V9: at each moment the work of all requests that were answered had been done, and of none that had not been sent.

    A connection has one request at a time. What a mixture's requests cause is known on average alone.
    """
    answers, inserts = sum(each.answers for each in both), 0 if duet.inserted is None else 1
    wanted: dict[str, float] = {"statements": duet.statements, "new rows": inserts, "calls": duet.calls}
    whole = {"statements": duet.executed, "new rows": duet.inserted, "calls": duet.called}
    margin = 0.0
    if duet.parts and answers:
        wanted, margin = {what: (count or 0) / answers for what, count in whole.items()}, MIXED_MARGIN
    said = []
    for when, look in zip(("opened", "closed"), duet.midway, strict=False):
        least = sum(_answered(each, look.from_s) for each in both)
        most = sum(_answered_by(each, look.until_s) + duet.connections for each in both)
        seen = {"statements": look.executed, "new rows": look.inserted, "calls": look.called}
        for what, count in seen.items():
            low = least * wanted[what] * (1 - margin) - effects.STATEMENTS_SLACK
            high = most * wanted[what] * (1 + margin) + effects.STATEMENTS_SLACK
            if count is not None and not low <= count <= high:
                side = f"{least} requests had been answered" if count < low else f"{most} requests at most had been sent"
                said.append(f"when the window {when} there were {count} {what}, and {side}: work is done outside of the window")
    return _check("V9", said, bad=True, looks=len(duet.midway))


def _answered(driven: Driven, at_s: float) -> int:
    """Right answers by the last reading that was made by then."""
    return max((count for when, count in zip(driven.series.at_s, driven.series.answers, strict=True) if when <= at_s), default=0)


def _answered_by(driven: Driven, at_s: float) -> int:
    """Right answers by the first reading that was made then or later; all, where there is none."""
    return next((count for when, count in zip(driven.series.at_s, driven.series.answers, strict=True) if when >= at_s), driven.answers)


def _needed(both: Sequence[Driven], duet: Duet) -> Check:
    """V9: while the database or the upstream hangs, nobody answers who needs it.

    A connection has one request at a time, which may have had what it needs; its next one cannot. What is on its way when the hang begins
    is not counted: in 30 ms a service that has the core for itself may answer three times as much as its mean rate tells.
    """
    hung = duet.hung
    if hung is None:
        return _check("V9", [], bad=True, hung=None)
    said = []
    for each in both:
        inside = each.series.between(hung.from_s + Hang.SETTLES_S, hung.until_s)
        got = inside.answers[-1] - inside.answers[0] if inside.answers else 0
        if got > duet.connections:
            told = f"answered {got} requests on {duet.connections} connections while the {hung.whom} hung"
            said.append(f"{each.contender} {told}: it does not wait for it")
    return _check("V9", [*said, *_under_way(both, duet, hung)], bad=True, hung=hung.whom)


def _under_way(both: Sequence[Driven], duet: Duet, hung: Hang) -> Iterator[str]:
    """Whether what was sent by the end of the hang had been answered already.

    A service that waits has a request under way on each connection: what that needs was sent and could not be answered. Half of what one
    of the services must have under way may be missing.
    """
    needs, what = (duet.statements, "statements") if hung.whom == "database" else (duet.calls, "calls")
    at_once = [each.at_once for each in both if each.at_once is not None]
    if hung.sent is None or len(at_once) < len(both):
        return
    answered = sum(_answered(each, hung.until_s) for each in both)
    found, least = max(0, hung.sent - needs * answered), needs * (sum(at_once) - max(at_once) / 2)
    if found < least:
        names = " and ".join(each.contender for each in both)
        yield f"{names} had {found} {what} under way while the {hung.whom} hung, at least {least:g} if they wait for them"


def _computed(both: Sequence[Driven], duet: Duet) -> Check:
    """V6: nobody computes faster than registers do, not even on top of what the same request costs with a single round."""
    if not duet.speeds and (duet.rounds or any(part.rounds for part in duet.parts)):
        return _check("V6", ["nobody read how fast the core is, so whether the rounds were computed is not known"], bad=False)
    wrong, doubtful = [], []
    for each in both:
        least_us, cost_us = registers_us(each, duet), each.series.between(duet.opens_s, duet.closes_s).cost()
        if cost_us is not None and cost_us < COMPUTED * least_us:
            took = f"used {cost_us:.1f} µs for a request whose rounds take {least_us:.1f} µs in registers"
            wrong.append(f"{each.contender} {took}: {NOT_COMPUTED}")
        elif cost_us is not None and each.single_us is not None and cost_us - each.single_us < COMPUTED_BESIDE * least_us:
            took = (
                f"used {cost_us - each.single_us:.1f} µs more than for a single round, where its rounds take {least_us:.1f} µs in registers"
            )
            doubtful.append(f"{each.contender} {took}: {NOT_COMPUTED}")
    return _check("V6", [*wrong, *doubtful], bad=bool(wrong), registers_us=round(registers_us(both[0], duet), 3))


def _held(both: Sequence[Driven], hold_ms: int) -> Check:
    """V6: nobody answered sooner than a request must wait."""
    early = [
        f"{each.contender} answered within {each.least_ms:.1f} ms what must wait {hold_ms} ms"
        for each in both
        if each.least_ms is not None and each.least_ms < hold_ms - EARLY_MS
    ]
    return _check("V6", early, bad=True, least_ms=both[0].least_ms, hold_ms=hold_ms)


def _connections(both: Sequence[Driven], wanted: int) -> Check:
    """V9: connections stay open; a service that closes them makes its clients pay."""
    closed = [f"{each.contender} closed {each.opened - wanted} connections" for each in both if each.opened > wanted]
    return _check("V9", closed, bad=False, opened=both[0].opened)


def _full(both: Sequence[Driven], duet: Duet) -> Check:
    """V6: each service always had work: else it pays for being woken, and a full core may cost less."""
    found = {each.contender: demand(each, duet) for each in both}
    slack = [
        f"{name} had work for {share:.0%} of the time: on a full core a request may cost less"
        for name, share in found.items()
        if share is not None and share < DEMAND
    ]
    unread = [f"how long {name} waited for its core cannot be read" for name, share in found.items() if share is None]
    if slack and duet.partner is None and not duet.competitors:  # alone on its core: somebody else held it back
        length_s = duet.closes_s - duet.opens_s
        slack.append(f"meanwhile {', '.join(f'the {role} used {used / length_s:.2f} cores' for role, used in duet.cpu_s.items())}")
    shares = {"own_share": found[both[0].contender], "partner_share": found[both[-1].contender]}
    return _check("V6", [*slack, *unread], bad=False, **{name: None if v is None else round(v, 4) for name, v in shares.items()})


def _floor(both: Sequence[Driven], duet: Duet) -> Check:
    """V6: what the kernel charges for a request and its answer is paid by the one who answers."""
    low = []
    for each in both:
        window = each.series.between(duet.opens_s, duet.closes_s)
        if window.at_s:
            own, driver = (column[-1] - column[0] for column in (window.service_cpu_s, window.generator_cpu_s))
            if own < FLOOR * driver:
                low.append(f"{each.contender} used {own:.3f} s of CPU and its generator {driver:.3f} s: somebody else may answer for it")
    return _check("V6", low, bad=False)


def _whole_core(both: Sequence[Driven], duet: Duet) -> Check:
    """V6: what a core has is used by the services, by competitors, who never wait, or by somebody who is none of the run's; where nobody
    competes it may also have nothing to do.

    More than the core has was used elsewhere, by a service that left its core. What is missing went to a program that hides its work, or
    the figures are not those that were read.
    """
    if "competitor" not in duet.cpu_s:  # nobody read it
        return _check("V6", [], bad=False)
    used = duet.cpu_s["competitor"] + sum(_scaled(each.series, duet) for each in both)
    has = (duet.closes_s - duet.opens_s) * duet.service_cores
    share, stolen = used / has, duet.steal_s / has
    idle = 0.0 if duet.competitors or duet.idle_s is None else duet.idle_s / has
    inputs = {"core": round(share, 4), "stolen": round(stolen, 4), "idle": round(idle, 4)}
    if share > 1 + CORE_DOUBT:
        sentence = f"services and competitors used {share:.1%} of the cores that they may use"
        return _check("V6", [sentence], bad=share > 1 + CORE_INVALID, **inputs)
    missing = 1 - share - stolen - idle
    if missing > CORE_DOUBT and (duet.competitors or duet.idle_s is not None):
        sentence = f"{missing:.1%} of the services' cores went to none of them: a program of somebody else's works there"
        return _check("V6", [sentence], bad=missing > CORE_INVALID and not duet.rehearsal, **inputs)
    return _check("V6", [], bad=False, **inputs)


def _scaled(series: Series, duet: Duet) -> float:
    """CPU of a service in the window (s), by the readings within it."""
    kept = series.between(duet.opens_s, duet.closes_s)
    if len(kept.at_s) < 2:
        return 0.0
    return (kept.service_cpu_s[-1] - kept.service_cpu_s[0]) * (duet.closes_s - duet.opens_s) / (kept.at_s[-1] - kept.at_s[0])


def _noise(duet: Duet) -> Check:
    """V7: other programs, and the hypervisor."""
    whole = (duet.closes_s - duet.opens_s) * duet.cores
    foreign, steal = duet.foreign_s / whole, duet.steal_s / whole
    bearable = STEAL_DOUBT if duet.partner is None else STEAL_DOUBT_OF_RATIO
    sentences = [
        f"other programs used {foreign:.0%} of the machine" if foreign > FOREIGN_DOUBT else "",
        f"the hypervisor took {steal:.0%} of the machine" if steal > bearable else "",
    ]
    return _check("V7", sentences, bad=False, foreign=round(foreign, 4), steal=round(steal, 4))


def _steady(duet: Duet) -> Check:
    """V8: both halves of the cell say the same, the warm-up ended because the cost fell no longer, and no compiler was at work. In a run of
    one round what is cold gets no figure: nobody would see that the others are warm."""
    found = figure(duet)
    if found is None:
        return _check("V8", ["fewer than four windows had an answer"], bad=True)
    both = [duet.own, *([duet.partner] if duet.partner is not None else [])]
    cold = [f"{each.contender} is cold: it still became cheaper when its warm-up ended" for each in both if still_falling(each.bursts)]
    for each in both:
        used_s = _scaled(each.series, duet)
        if each.compiled_s is not None and each.compiled_s > COMPILED_DOUBT * used_s:
            cold.append(f"{each.contender} is cold: its compilers used {each.compiled_s / used_s:.0%} of its CPU")
    moved = abs(math.log(found.halves)) > max(math.log1p(HALVES_DOUBT), HALVES_ERRORS * found.halves_error)
    unlike = [f"the second half differs from the first by {found.halves - 1:+.0%}"] if moved else []
    return _check("V8", [*cold, *unlike], bad=duet.rehearsal and bool(cold), halves=found.halves)


def still_falling(bursts: Sequence[float]) -> bool:
    """Whether the last burst cost at most `FALLING` of the one before."""
    return len(bursts) > 1 and bursts[-1] <= FALLING * bursts[-2]


COLD = "V8 cold: its warm-up ended by its cap, while requests still became cheaper, or its compilers were at work"


def doubt_cold(cells: Iterable[Cell], starts: Iterable[Start]) -> list[Cell]:
    """The cells with a doubt on each cost of a contender that was still getting faster when the warm-up of that round's start ended. In the
    second round of a start it has been at work for minutes."""
    rising = {(start.round, start.contender) for start in starts if start.rising and start.ladder is None}
    return [
        cell.model_copy(update={"doubts": [COLD, *cell.doubts]})
        if cell.cost is not None and (cell.round, cell.contender) in rising
        else cell
        for cell in cells
    ]


def beside(cells: Iterable[Cell], scenario: str, reference: str | None = None) -> dict[str, list[float]]:
    """Contender → ln of what the reference costs beside it ÷ the median of what it costs in that round, of each round."""
    costs: dict[int, dict[str, float]] = {}
    for cell in cells:
        if cell.scenario != scenario or not cell.counts or cell.cost is None or reference not in (None, cell.cost.partner):
            continue
        if cell.cost.partner_us:
            costs.setdefault(cell.round, {})[cell.contender] = cell.cost.partner_us
    logs: dict[str, list[float]] = {}
    for of_round in costs.values():
        median = statistics.median(of_round.values())
        for name, cost in of_round.items():
            logs.setdefault(name, []).append(math.log(cost / median))
    return logs


def burdened(cells: Iterable[Cell]) -> list[Cell]:
    """The cells with a doubt on each cost of a contender beside whom the reference costs too much: its ratio is too small by as much.

    Whatever does that. A contender may give the reference work that nobody counts, and in the window alone.
    """
    kept, doubts = list(cells), dict[tuple[str, str], str]()
    for scenario in {cell.scenario for cell in kept if cell.cost is not None}:
        logs = beside(kept, scenario)
        for name, x in logs.items():
            factor = math.exp(statistics.fmean(x))
            if len(logs) >= BURDEN_OTHERS and len(x) >= BURDEN_ROUNDS and factor > BURDEN:
                told = f"V6 the reference costs {factor:.2f} × as much beside it as in the median of {len(x)} rounds"
                doubts[scenario, name] = f"{told}: it may have to work for it"
    return [
        cell.model_copy(update={"doubts": [*cell.doubts, doubts[cell.scenario, cell.contender]]})
        if cell.cost is not None and (cell.scenario, cell.contender) in doubts
        else cell
        for cell in kept
    ]


def anchored(cells: Iterable[Cell]) -> list[Cell]:
    """The cells with the cost of each cost cell made absolute: its ratio × the cost of its partner in that round and scenario.

    A partner's cost is the median over all cells of the round that it was in, its own included, so one bad cell does not move it. Whatever
    it is, the ratios of contenders within a round are those of their duets. A contender that had no partner, and was none, stays as it is.
    """
    kept = list(cells)
    anchors: dict[tuple[int, str, str], list[float]] = {}
    for cell in kept:
        if cell.cost is not None and cell.counts:
            name, cost = (cell.contender, cell.cost.own_us) if cell.cost.partner is None else (cell.cost.partner, cell.cost.partner_us)
            anchors.setdefault((cell.round, cell.scenario, name), []).append(cost or math.nan)
    return [_anchored(cell, anchors) for cell in kept]


def _anchored(cell: Cell, anchors: Mapping[tuple[int, str, str], Sequence[float]]) -> Cell:
    if cell.cost is None or not cell.counts:
        return cell
    anchor = statistics.median(anchors[cell.round, cell.scenario, cell.cost.partner or cell.contender])
    cost = anchor * (1.0 if cell.cost.ratio is None else cell.cost.ratio)
    scale = cost / cell.cost.own_us
    return cell.model_copy(
        update={
            "cpu_us_per_request": {"service": round(cost, 4)},
            "throughput_rps": round(1e6 / cost, 3),
            "halves": [half.model_copy(update={"service_cpu_s": round(half.service_cpu_s * scale, 6)}) for half in cell.halves],
        }
    )
