"""Is a cell's number worth anything, and what held it back? Checks V1 to V11 of docs/method.md. Pure.

Symbols: n requests completed in the window W, X = n/W, R mean time of an iteration, N VUs, P the pool,
hold the time a request must wait at the least.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from nsb.analyse.growth import Climb, climb
from nsb.records.cells import Reading, Stats
from nsb.records.held import Held
from nsb.records.judged import Check, Status
from nsb.records.summary import Load
from nsb.registry.terms import Limit, Model

CLOCKS = 1.02
"""CPU clocks and the wall's may differ by this factor, not by more."""
FULL = 0.90
"""A station that is busy for this share of its capacity is full."""
GENERATOR_FULL = 0.80
QUEUED = 1.5
"""An answer that takes this many times its hold has waited for something besides."""
LOOPS_MORE = 0.05
"""Event loops may seem to use this share more CPU than they can: what is beyond was other threads' surely."""
EARLY_MS = 0.5
"""Half of all waits may end so much early (ms). A timer of whole milliseconds ends up to one early and as often one late, and an answer
takes its time besides."""
TOLD_MORE = 1.05
"""Requests in flight by the service ÷ those that can be."""
BLOCKED_SHARE, BLOCKED_LEAST = 0.1, 0.8
"""Where a loop is blocked for a tenth of the time, 1 % of all others wait for nine tenths of what blocks it, or more; where it is for a
fifth, 10 % wait for half. So much of both is asked for; honest loops came to 1.02 and more."""
STATEMENTS = "statements per request"
"""By these words a reason of V9 says that there were too many or too few."""
STEAL, STEAL_OF_LADDER = 0.02, 0.15
"""The hypervisor may take so much of the machine. Memory per request does not move while it takes up to 15 % (docs/bias.md)."""
EDGES, EDGES_S = 0.02, 0.1
"""The edges may be read so much nearer to each other, or farther apart, than the window is long; or by so many seconds."""


@dataclass(frozen=True)
class Observation:
    """All that was measured in one cell and is needed to judge it."""

    model: Model
    rate: int | None
    vus: int
    hold_s: float
    holds: Literal["pool", "loop"] | None
    statements: int
    window_s: float
    spanned_s: float
    """Between the readings at the window's edges (s)."""
    exit_code: int
    """k6's; -1 where it had to be killed."""
    load: Load | None
    cpu_s: dict[str, float]
    """CPU used in the window by service, generator, database, upstream, harness and foreign (everything else)."""
    steal_s: float
    cores: dict[str, int]
    """Cores that each role may use; `machine` is all of them."""
    shared: frozenset[str]
    """Roles that share their cores with the generator."""
    workers: int
    pool: int
    server_threads: int | None
    blocked_by: Literal["loop", "carriers"] | None
    calls: int
    """Holds at once that one request is made of."""
    call_threads: int | None
    """Threads that the service has for these alone."""
    query_threads: int | None
    """The same for statements."""
    db_connections: int | None
    executed: int | None
    """Statements that the database executed in the window."""
    before: Stats | None
    after: Stats | None
    half_cpu_s: tuple[float, float]
    """The service's CPU in each half of the window."""
    database_known: bool
    """Whether the database's CPU was read: that of a server of one's own is not, and counts as foreign."""
    rehearsal: bool
    """A run of one round: noise (V7, and a generator that missed its rate by up to 5 %) is a doubt there, not a refusal."""
    waits_on_loop: bool = False
    """Each statement keeps an event loop to itself until it is answered."""
    tcp: dict[str, int] | None = None
    """What the network namespace counted in the window: ListenOverflows, ListenDrops, RetransSegs, TCPDSACKRecv, TCPSynRetrans, OutSegs."""
    clients: int | None = None
    """Established connections to the service's port in mid-window."""
    ladder: tuple[Reading, ...] = ()
    """Memory on each level, where the scenario is a ladder."""
    uncollected: str | None = None
    """Why a JVM's memory was read without a full collection before it, where that was to be."""
    held: Held | None = None
    """What became of the connections that were held beside the load."""
    whole: bool = False
    """The window is the load itself, from its first request to its last answer."""
    wrong_answer: str | None = None
    """The first wrong answer, in the generator's words."""
    caused: tuple[Check, ...] = ()
    """What the whole load caused, compared with what was sent (effects.py), and whose its sockets were (owners.py)."""
    blocks_s: float = 0.0
    """How long a request keeps the thread of its handler (s), and of how many requests one does; 0: none."""
    blocks_every: int = 1


@dataclass(frozen=True)
class Judgement:
    status: Status
    limit: Limit | None
    checks: tuple[Check, ...]

    @property
    def reasons(self) -> list[str]:
        return [f"{c.id} {c.sentence}" for c in self.checks if c.outcome in ("invalid", "censored")]

    @property
    def doubts(self) -> list[str]:
        return [f"{c.id} {c.sentence}" for c in self.checks if c.outcome == "doubt"]


Outcome = Literal["ok", "doubt", "censored", "invalid"]


def _check(id_: str, outcome: Outcome, sentence: str, **inputs: float | int | str | None) -> Check:
    rounded = {k: round(v, 6) if isinstance(v, float) else v for k, v in inputs.items()}
    return Check(id=id_, outcome=outcome, sentence=sentence if outcome != "ok" else "", inputs=rounded)


def judge(o: Observation) -> Judgement:
    """Status, limit and every check with its inputs."""
    if o.load is None or o.exit_code != 0:
        ended = {-1: "k6 did not end in time", 0: "k6 ended with 0 and left no summary that can be read: is the disk full?"}
        check = _check("V1", "invalid", ended.get(o.exit_code, f"k6 ended with {o.exit_code}"), exit_code=o.exit_code)
        return Judgement("invalid", None, (check,))
    if o.load.requests == 0:
        check = _check("V1", "invalid", "no request was answered in the window", failures=o.load.failures_all)
        return Judgement("invalid", None, (check,))
    if o.ladder:
        return _judge_ladder(o, o.load)
    full = full_stations(o, o.load) or _by_elimination(o)
    checks = [
        errors(o, o.load),
        offered(o, o.load, full),
        lag(o, o.load),
        little_closed(o, o.load),
        little_open(o, o.load),
        held_back(o, full),
        cheat(o, o.load),
        blocked(o, o.load),
        ceiling(o),
        noise(o),
        steady(o, o.load, full),
        identity(o, o.load),
        tcp(o),
        harness(o),
        *o.caused,
    ]
    sustained = not any(check.id == "V2" and check.outcome == "censored" for check in checks)
    limits = [station for station in full if station != "offered" or sustained]
    return Judgement(_status(checks), limits[0] if limits else None, tuple(checks))


def _status(checks: list[Check]) -> Status:
    outcomes = {check.outcome for check in checks}
    return "invalid" if "invalid" in outcomes else "censored" if "censored" in outcomes else "valid"


def _judge_ladder(o: Observation, load: Load) -> Judgement:
    """Its load changes by design, so nothing is asked of rates and halves; what matters is which levels were reached."""
    found = climb(o.ladder, o.server_threads)
    capped = bool(found.left_out) and o.server_threads is not None and o.server_threads <= min(found.left_out)
    checks = [
        errors(o, load),
        climbed(found, capped, o.uncollected),
        told(o),
        cheat(o, load),
        ceiling(o),
        noise(o),
        identity(o, load),
        tcp(o),
        harness(o),
    ]
    if o.held is not None:
        checks += [kept(o.held), offered(o, load, []), lag(o, load)]
    return Judgement(_status(checks), "threads" if capped else "offered", tuple(checks))


def kept(held: Held) -> Check:
    """V1: every connection that was to be held was made and lasted."""
    lost = held.refused + held.ended
    sentence = f"{held.refused} connections were refused and {held.ended} ended by the service: {held.why}"
    return _check("V1", "invalid" if lost else "ok", sentence, opened=held.opened, refused=held.refused, ended=held.ended)


def climbed(found: Climb, capped: bool, uncollected: str | None = None) -> Check:
    """V6, a ladder: the slope is that of the levels reached; a thread pool that ends the climb is a result, anything else a doubt."""

    def users(levels: tuple[int, ...]) -> str:
        return ", ".join(str(level) for level in levels)

    inputs = {
        "left_out": users(found.left_out),
        "waiting": users(found.waiting),
        "assumed": users(found.assumed),
        "hidden": users(found.hidden),
        "kib_per_request": found.slope.kib if found.slope else None,
    }
    if found.slope is None:
        return _check("V6", "invalid", "fewer than two numbers in flight were reached: no slope", **inputs)
    doubts = []
    if found.left_out and not capped:
        doubts.append(f"with {users(found.left_out)} users no more were in flight than with fewer: left out")
    if found.waiting:
        doubts.append(f"some of {users(found.waiting)} users were connected and not in flight: they are in the figure too")
    if found.assumed:
        doubts.append(f"/stats did not answer with {users(found.assumed)} users: the number in flight is theirs")
    if uncollected is not None:
        doubts.append(f"no full collection before memory was read ({uncollected}): what was touched before hides a part")
    if found.slope.kib <= 0:
        doubts.append("memory did not grow with the requests in flight")
    elif found.hidden:
        doubts.append(f"memory did not grow up to {users(found.hidden)} users: what was touched before holds them, the figure is too small")
    return _check("V6", "doubt" if doubts else "ok", "; ".join(doubts), **inputs)


def burst_tolerance(o: Observation) -> float:
    """Completions come in bursts of one hold: max(2 %, 1/holds in the window)."""
    return max(0.02, o.hold_s / o.window_s) if o.hold_s else 0.02


def full_stations(o: Observation, load: Load) -> list[Limit]:
    """The stations that are full, the one closest to the work first: those before it are full only because requests queue for it."""
    x = load.requests / o.window_s
    occupied = x * o.hold_s
    full: list[Limit] = []
    least = max(0.85, min(FULL, 1 - burst_tolerance(o)))  # a short window knows a bursty X less well, but half full is not full

    if o.holds == "pool" and occupied / o.pool >= least:
        full.append("pool")
    if _use(o, "database") >= FULL:
        full.append("database")
    if o.blocked_by is not None and _workers_blocked(o, load, occupied, _use(o, "service")):
        full.append(o.blocked_by)
    if _use(o, "service") >= FULL:
        full.append("cpu")
    if _loops_use(o) >= FULL and "loop" not in full:
        full.append("loop")
    if any(busy / threads >= least for busy, threads in _threads(o, occupied)):
        full.append("threads")
    if _use(o, "upstream") >= FULL:
        full.append("upstream")
    beside = sum(o.cpu_s.get(role, 0.0) for role in o.shared) / (o.window_s * o.cores["generator"])
    if beside >= FULL and o.model == "closed":
        full += _fullest_beside(o, full)
    if _use(o, "generator") >= GENERATOR_FULL or beside >= FULL or _away(o, load) > 0.10:
        full.append("generator")
    if o.model == "open" or o.whole or (o.hold_s > 0 and occupied / o.vus >= least):  # of a whole load no capacity is asked
        full.append("offered")
    return full


def _use(o: Observation, role: str) -> float:
    return o.cpu_s.get(role, 0.0) / (o.window_s * o.cores[role])


def _fullest_beside(o: Observation, full: Sequence[Limit]) -> list[Limit]:
    """Who filled the cores that the generator shares, where it was not the generator itself: a cheap one leaves them to the database."""
    most = max(o.shared, key=lambda role: o.cpu_s.get(role, 0.0))
    return [role for role in ("database", "upstream") if role == most and role not in full]


def _workers_blocked(o: Observation, load: Load, occupied: float, cpu: float) -> bool:
    """Whether each hold keeps an event loop or carrier to itself, and all of them are kept. Only of a contender that says that this may be.

    More holds at once than there are workers show that it does not happen. A hold of the handler's own surely blocks where it blocks at
    all, and leaves the CPU of its requests to be paid besides. One of a connection may be waited for without blocking: then the number of
    holds has to be that of the workers itself, as far as a window of whole holds can tell, with CPU to spare and with requests that wait
    for their turn.
    """
    if o.holds is None or occupied > o.workers * (1 + burst_tolerance(o)):
        return False
    if o.holds == "loop":
        return (occupied + o.cpu_s.get("service", 0.0) / o.window_s) / o.workers >= FULL
    queued = (load.service.mean or 0.0) / 1000 >= QUEUED * o.hold_s
    return occupied / o.workers >= FULL - burst_tolerance(o) and cpu < FULL and queued


def _by_elimination(o: Observation) -> list[Limit]:
    """An event loop that waits for each statement, where more users than loops are under way and nobody else is full.

    There is always a request for it, so it works or waits all the time. No clock of CPU sees it wait, and how long a statement takes is
    not declared.
    """
    always = o.model == "closed" and o.statements > 0 and o.vus >= QUEUED * o.workers
    return ["loop"] if o.waits_on_loop and always and o.holds is None and not o.whole else []


def _loops_use(o: Observation) -> float:
    """CPU that the service used ÷ what its event loops can use, of a contender with fewer of them than cores: those can never be full.
    0 for all others. Above 1 threads beside the loops worked, too."""
    fewer = o.blocked_by == "loop" and o.workers < o.cores["service"]
    return o.cpu_s.get("service", 0.0) / (o.window_s * o.workers) if fewer else 0.0


def _threads(o: Observation, occupied: float) -> Iterator[tuple[float, int]]:
    """Mean number of busy threads and how many there are, of each pool of threads that this load goes through."""
    if o.query_threads is not None and o.holds == "pool":
        yield occupied, o.query_threads
    if o.call_threads is not None and o.calls > 1:
        yield occupied * o.calls, o.call_threads
    if o.server_threads is not None:
        yield _threads_busy(o, occupied), o.server_threads


def _threads_busy(o: Observation, occupied: float) -> float:
    """Mean number of threads in requests: what /stats saw, else what the holds alone demand."""
    if o.before is None or o.after is None:
        return occupied
    return max(occupied, (o.after.busy_seconds_total - o.before.busy_seconds_total) / o.window_s)


def _away(o: Observation, load: Load) -> float:
    """1 − X·R_http/N: the share of the users' time that no request was under way. 0 where it is not known: of an open cell's users, where
    not even one answer came for each user, of those who still wait, and of a whole load, whose users end one by one."""
    if o.model == "open" or load.requests < o.vus or o.whole:
        return 0.0
    return 1 - load.requests / o.window_s * (load.service.mean or 0.0) / 1000 / o.vus


def errors(o: Observation, load: Load) -> Check:
    """V1: no failure (a capacity cell: up to 0.1 % are a doubt), no wrong body. Of each answer status and length are looked at."""
    allowed = 0.001 * load.requests if o.model == "closed" else 0
    bad = load.failures_all > allowed or load.wrong > 0
    outcome: Outcome = "invalid" if bad else "doubt" if load.failures_all else "ok"
    sentence = f"{load.failures_all} requests failed, {load.wrong} answers were wrong ({load.checked} bodies were compared)"
    if o.wrong_answer is not None:
        sentence += f": {o.wrong_answer}"
    return _check("V1", outcome, sentence, failures=load.failures_all, wrong=load.wrong, checked=load.checked)


def offered(o: Observation, load: Load, full: list[Limit]) -> Check:
    """V2: an open cell offers its rate, or its service cannot sustain it."""
    if o.rate is None:
        return _check("V2", "ok", "")
    wanted = o.rate * o.window_s
    share = load.started / wanted
    growth = _growth(o, load)
    inputs = {"started": load.started, "offered": wanted, "answered": load.requests, "dropped": load.dropped, "growth": growth}
    capacity = [station for station in full if station not in ("offered", "generator")]
    tolerance = max(0.01, 2 / wanted)  # a window's edge cuts an arrival at each end
    held = load.dropped == 0 and abs(share - 1) <= tolerance
    growing = growth > max(5.0, 0.05 * wanted)
    if held and not growing:
        return _check("V2", "ok", "", **inputs)
    if capacity or growing:
        where = f"{capacity[0]} is full" if capacity else "the number in flight grows"
        return _check("V2", "censored", f"cannot sustain {o.rate}/s: {where}", **inputs)
    sentence = f"the generator offered {share:.1%} of {o.rate}/s and dropped {load.dropped}"
    slight = max(abs(share - 1), load.dropped / wanted) <= 0.05
    return _check("V2", "doubt" if o.rehearsal and slight else "invalid", sentence, **inputs)


def _growth(o: Observation, load: Load) -> float:
    """How many more requests are in flight at the window's end than at its start, by the service or by the generator, whichever saw more.

    A blocked loop counts the one that it is at: those that wait for it in sockets only the generator knows. What is held beside a load
    grows by design, and is not the generator's.
    """
    outside = load.started - load.requests
    return outside if o.before is None or o.after is None or o.held is not None else max(outside, o.after.in_flight - o.before.in_flight)


def lag(o: Observation, load: Load) -> Check:
    """V3: the generator kept its schedule; else the tail is its own."""
    if o.model == "closed" or load.lag.p99 is None:
        return _check("V3", "ok", "")
    if load.dropped:
        sentence = f"k6 dropped {load.dropped} arrivals and lost its schedule: latency is that of the request alone"
        return _check("V3", "doubt", sentence, dropped=load.dropped)
    bound = max(5.0, 0.1 * (load.latency.p99 or 0.0))
    outcome: Outcome = "doubt" if load.lag.p99 > bound else "ok"
    return _check(
        "V3",
        outcome,
        f"k6 was late by {load.lag.p99:.0f} ms (p99): p90 and p99 are no figures of the service",
        lag_p99_ms=load.lag.p99,
    )


def of_the_first(o: Observation, load: Load) -> bool:
    """Whether users who queue gave fewer answers than there are of them: then latency is that of the first in the queue."""
    return o.model == "closed" and not o.whole and load.requests < o.vus


def little_closed(o: Observation, load: Load) -> Check:
    """V4: Little's law over the users, 0.97 ≤ X·R/N ≤ 1.03, wider by the burst tolerance where completions come in bursts.

    A whole load has its beginning and its end in the figure: its users are not always there. A part of the queue says nothing.
    """
    if o.model == "open" or o.whole or load.iteration.mean is None or of_the_first(o, load):
        return _check("V4", "ok", "")
    ratio = load.requests / o.window_s * load.iteration.mean / 1000 / o.vus
    tolerance = max(0.03, burst_tolerance(o))
    # k6's own time between iterations is not in R: below 1 it is the generator's cost, which V6 names.
    outcome: Outcome = "doubt" if ratio > 1 + tolerance or ratio < 1 - tolerance else "ok"
    return _check("V4", outcome, f"X·R/N is {ratio:.2f}, not 1: requests and users do not add up", ratio=ratio)


def little_open(o: Observation, load: Load) -> Check:
    """V5: the service saw the load that the generator measured, Δbusy/W ≈ X·R_http within 10 % or 2 requests."""
    if o.model == "closed":
        return _check("V5", "ok", "")
    if o.before is None or o.after is None:
        return _check("V5", "doubt", "/stats did not answer at the window's edges")
    if o.after.requests_total < o.before.requests_total or o.after.busy_seconds_total < o.before.busy_seconds_total:
        return _check("V5", "invalid", "the service's counters (/stats) went backwards", before=o.before.requests_total)
    inside = (o.after.busy_seconds_total - o.before.busy_seconds_total) / o.window_s
    outside = load.requests / o.window_s * (load.service.mean or 0.0) / 1000
    unseen = o.blocked_by == "loop" and o.blocks_s > 0  # what waits in sockets while the loop is blocked: it may count fewer, never more
    more = inside - outside if unseen else abs(inside - outside)
    far = more > max(2.0, 0.1 * outside, burst_tolerance(o) * outside)
    outcome: Outcome = "doubt" if far else "ok"
    return _check("V5", outcome, f"in flight by the service {inside:.1f}, by k6 {outside:.1f}", inside=inside, outside=outside)


def held_back(o: Observation, full: list[Limit]) -> Check:
    """V6: a closed figure is a capacity only where a station of the service's own is full; else it is a bound."""
    inputs = {f"{role}_use": o.cpu_s.get(role, 0.0) / (o.window_s * cores) for role, cores in o.cores.items()}
    if o.model == "open":
        return _check("V6", "ok", "", **inputs)
    if not full:
        return _check("V6", "censored", "no station was full: the figure is a lower bound", **inputs)
    if full[0] in ("generator", "upstream", "database"):
        return _check("V6", "censored", f"held back by the {full[0]}: the figure is a lower bound", **inputs)
    loops = _loops_use(o)
    if full[0] == "cpu" and "generator" in full and inputs["service_use"] < 0.97:
        return _check("V6", "doubt", "the generator was nearly full too: the capacity may be higher", limit=full[0], **inputs)
    if full[0] == "loop" and loops >= FULL and ("generator" in full or loops > 1 + LOOPS_MORE):
        beside = "the generator was nearly full too" if "generator" in full else "threads beside the event loops used CPU too"
        return _check("V6", "doubt", f"{beside}: the capacity may be higher", limit=full[0], loops_use=loops, **inputs)
    return _check("V6", "ok", "", limit=full[0], **inputs)


def cheat(o: Observation, load: Load) -> Check:
    """V6: nobody sleeps less than asked, and nobody draws more from the pool than the pool can give."""
    if load.too_short > 0:
        return _check("V6", "invalid", f"{load.too_short} answers came sooner than the hold", too_short=load.too_short)
    hold_ms, half_ms = o.hold_s * 1000, load.service.p50
    if hold_ms and half_ms is not None and half_ms < hold_ms - EARLY_MS:
        sentence = f"half of the answers came within {half_ms:.2f} ms, where each has to wait {hold_ms:.0f} ms"
        return _check("V6", "invalid", sentence, p50_ms=half_ms)
    if o.holds == "pool":
        cap = o.pool / o.hold_s
        x = load.requests / o.window_s
        if x > cap * (1 + burst_tolerance(o)):
            return _check("V6", "invalid", f"{x:.0f}/s is more than the pool can give ({cap:.0f}/s)", x=x, cap=cap)
    return _check("V6", "ok", "")


def told(o: Observation) -> Check:
    """V6, a ladder: no more requests are in flight than there are users and connections, or its slope is divided by what is not there.

    `/stats` counts a request until its answer is handed over: the next one of the same user may be there by then.
    """
    beside = max(0, o.vus - max(each.users for each in o.ladder)) if o.held is not None else 0
    more = [each for each in o.ladder if each.in_flight is not None and each.in_flight > TOLD_MORE * (each.users + beside) + 2]
    if not more:
        return _check("V6", "ok", "")
    sentence = f"the service says that {more[0].in_flight} requests are in flight where {more[0].users + beside} can be (/stats)"
    return _check("V6", "invalid", sentence, users=more[0].users, in_flight=more[0].in_flight)


def blocked(o: Observation, load: Load) -> Check:
    """V6: where a handler blocks its event loop, others wait for it.

    A contender that declares loops has as many as workers. Requests that block at once cannot be more than these; and while one of several
    blocks, those who come to its loop wait for what is left of it.
    """
    if o.blocked_by != "loop" or not o.blocks_s:
        return _check("V6", "ok", "")
    if o.blocks_every == 1:
        at_once = load.requests / o.window_s * o.blocks_s
        outcome: Outcome = "invalid" if at_once > o.workers * (1 + 2 * burst_tolerance(o)) else "ok"
        sentence = f"{at_once:.1f} requests blocked at once, where {o.workers} event loops can be blocked: the handler does not block"
        return _check("V6", outcome, sentence, at_once=at_once)
    share = load.requests / o.window_s / o.blocks_every * o.blocks_s / o.workers
    hold_ms = o.blocks_s * 1000
    p90_ms, p99_ms = (math.inf if each is None else each for each in (load.latency.p90, load.latency.p99))
    bad = share >= BLOCKED_SHARE and (p99_ms < BLOCKED_LEAST * hold_ms or p90_ms < BLOCKED_LEAST * (1 - 0.1 / share) * hold_ms)
    waited = f"others have a p90 of {p90_ms:.0f} and a p99 of {p99_ms:.0f} ms"
    sentence = f"loops are blocked for {share:.0%} of the time, and {waited}: the handler does not block"
    return _check("V6", "invalid" if bad else "ok", sentence, share=share, p99_ms=load.latency.p99)


def ceiling(o: Observation) -> Check:
    """V6: a service uses no more CPU than its cores have. Else it ran where it may not, and its figures are those of more cores."""
    used, has = o.cpu_s.get("service", 0.0), o.window_s * o.cores["service"]
    outcome: Outcome = "invalid" if used > has * CLOCKS + 0.02 else "ok"
    return _check("V6", outcome, f"the service used {used:.2f} s of CPU where its cores have {has:.2f} s", used=used, has=has)


def noise(o: Observation) -> Check:
    """V7: foreign CPU at most 5 % of the machine (10 % flagged), steal at most 2 %, beside a ladder of memory 15 %."""
    whole = o.window_s * o.cores["machine"]
    foreign, steal = o.cpu_s.get("foreign", 0.0) / whole, o.steal_s / whole
    stolen = steal > (STEAL_OF_LADDER if o.ladder else STEAL)
    outcome: Outcome = "ok"
    if foreign > 0.05 or stolen:
        outcome = "doubt" if o.rehearsal or not o.database_known or (foreign <= 0.10 and not stolen) else "invalid"
    return _check("V7", outcome, f"others used {foreign:.0%} of the machine, steal {steal:.0%}", foreign=foreign, steal=steal)


def steady(o: Observation, load: Load, full: list[Limit]) -> Check:
    """V8: the halves agree within 5 % or the burst tolerance; else it was still warming. A whole load has no steady part to ask it of.

    A bound is one however the rate of the program that was the limit swings. Nor does what a request costs tell anything of a capacity that
    something else than the CPU decides.
    """
    if o.whole or held_back(o, full).outcome == "censored":
        return _check("V8", "ok", "")
    first, second = (half.count for half in load.halves)
    if first == 0 or second == 0:
        return _check("V8", "doubt", "one half of the window is empty", first=first, second=second)
    ratio = second / first
    cost = (o.half_cpu_s[1] / second) / (o.half_cpu_s[0] / first) if o.half_cpu_s[0] > 0 else 1.0
    tolerance = max(0.05, 2 * burst_tolerance(o) if o.hold_s else 0.05, 4 / min(first, second))
    inputs = {"ratio": ratio, "cpu_ratio": cost}
    if abs(ratio - 1) > tolerance:
        return _check("V8", "doubt", f"unsteady: the second half has {ratio:.2f} × the answers of the first", **inputs)
    decides = o.model == "open" or full[0] in ("cpu", "loop")
    # Counts are steady, their price is not: a code compiler still at work, a collection in one half.
    if decides and not 0.75 <= cost <= 1.33:
        word = "still warming" if cost < 1 else "unsteady"
        return _check("V8", "doubt", f"{word}: a request of the second half cost {cost:.2f} × one of the first", **inputs)
    return _check("V8", "ok", "", **inputs)


def identity(o: Observation, load: Load) -> Check:
    """V9: database connections ≤ P + 1, those to the service ≤ 1.05 N + 2 (the harness has its own), statements per request as declared."""
    if o.db_connections is not None and o.db_connections > o.pool + 1:
        return _check("V9", "invalid", f"{o.db_connections} connections where {o.pool} are declared", connections=o.db_connections)
    if o.clients is not None and o.clients > 1.05 * o.vus + 2:
        sentence = f"{o.clients} connections to the service where {o.vus} users need one each"
        return _check("V9", "invalid", sentence, clients=o.clients, vus=o.vus)
    if o.statements and o.executed is not None and not edges_off(o):
        per_request = o.executed / (load.requests * min(o.spanned_s / o.window_s, 1.0))  # nothing is asked once the window has closed
        # Statements are counted when they begin, answers when they arrive: one pool of statements may lie across an edge.
        slack = max(0.02, 2 * o.pool / load.requests if o.hold_s else 0.02, 10 / load.requests)
        if abs(per_request - o.statements) > slack * o.statements:
            sentence = f"{per_request:.2f} {STATEMENTS} where {o.statements} are declared"
            return _check("V9", "invalid", sentence, per_request=per_request, executed=o.executed)
    return _check("V9", "ok", "", connections=o.db_connections, executed=o.executed, clients=o.clients)


def tcp(o: Observation) -> Check:
    """V10: no accept queue overflowed, and at most one segment in 10,000 was lost. The counters are those of the whole network namespace.

    Lost: sent again and not known to be superfluous. A tail loss probe (RFC 8985) answers a delayed acknowledgement with the same
    segment; the receiver reports it by D-SACK (RFC 2883), and nobody has waited. Repeated SYNs are those of overflows, or of others.
    """
    if o.tcp is None:
        return _check("V10", "doubt", "the kernel's TCP counters could not be read")
    lost = max(0, o.tcp["RetransSegs"] - o.tcp["TCPDSACKRecv"] - o.tcp["TCPSynRetrans"])
    full = max(o.tcp["ListenOverflows"], o.tcp["ListenDrops"])  # an overflow counts as a drop too
    outcome: Outcome = "ok"
    if full or lost > 1e-4 * o.tcp["OutSegs"]:
        outcome = "doubt" if o.rehearsal else "invalid"
    sentence = f"{full} connections found a full accept queue, {lost} of {o.tcp['OutSegs']} segments were lost (whole network namespace)"
    return _check("V10", outcome, sentence, lost=lost, **o.tcp)


def edges_off(o: Observation) -> bool:
    """Whether what was counted between the edges belongs to another time than the requests of the window."""
    return abs(o.spanned_s - o.window_s) > max(EDGES * o.window_s, EDGES_S)


def harness(o: Observation) -> Check:
    """V11: the harness itself uses at most 2 % of the machine, and reads the edges of the window when they are there."""
    share = o.cpu_s.get("harness", 0.0) / (o.window_s * o.cores["machine"])
    if edges_off(o):
        sentence = f"the harness read the edges of a window of {o.window_s:.1f} s {o.spanned_s:.1f} s apart: it did not get a core in time"
        return _check("V11", "invalid", sentence, spanned_s=o.spanned_s)
    outcome: Outcome = "ok" if share <= 0.02 else "doubt"
    return _check("V11", outcome, f"the harness used {share:.1%} of the machine", share=share)
