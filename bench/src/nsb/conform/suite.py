"""The rules in their order, and how they are run. A rule that fails or raises gives an outcome; the others still run."""

from __future__ import annotations

import enum
import math
import time
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

from nsb.conform.bed import Bed, LaunchFailed, Outcome, Running
from nsb.conform.neighbours import Forwarder, Peek, WrongUpstream, moved_to
from nsb.conform.wire import Flight, NoAnswer, Reply, Request, ask
from nsb.registry.contract import endpoint

T = TypeVar("T")
MOST_FINDINGS = 6  # in one outcome; the rest is counted
GENEROUS_S = 10.0  # time allowed for a condition for which the contract sets no limit
TICK_S = 0.02  # between two checks of a condition
NOWHERE = "mysql://user:password@127.0.0.1:1/nowhere"  # a service that starts nevertheless does not disturb other rules
SEE_ABOVE = "not checked, see above"
EARLY_S = 0.005  # clocks are read in different places and rounded to the millisecond


class Stage(enum.Enum):
    """Which start of the service a rule is checked on."""

    MAIN = "a small pool, database and upstream available"
    LATE = "the same, while others start"
    STOP = "the same, at its end"
    AWAY = "database or upstream unreachable or wrong"
    DEFAULTS = "settings left empty, a database without books"
    START = "starts that must fail"
    SLOW = "a service without neighbours, for clients that take their time"


class Case:
    """Collects what a rule finds. It passes if something was checked and nothing was wrong."""

    def __init__(self) -> None:
        self.checks = 0
        self.findings: list[str] = []
        self.notes: list[str] = []

    def equal(self, what: str, got: object, wanted: object) -> None:
        self.holds(got == wanted, what, got, wanted)

    def holds(self, condition: bool, what: str, got: object, wanted: object) -> None:
        self.checks += 1
        if not condition:
            self.findings.append(f"{what}: expected {wanted}, got {got}")

    def least(self, what: str, got: float, wanted: float) -> None:
        self.holds(got >= wanted, what, f"{got:.3f}", f"at least {wanted:.3f}")

    def note(self, sentence: str) -> None:
        """Something that could not be checked on this machine."""
        self.notes.append(sentence)

    def outcome(self, rule: str, title: str) -> Outcome:
        if self.findings:
            more = len(self.findings) - MOST_FINDINGS
            found = self.findings[:MOST_FINDINGS] + ([f"and {more} more"] if more > 0 else [])
            return Outcome(rule, title, False, "; ".join(found))
        if not self.checks and not self.notes:
            return Outcome(rule, title, False, "nothing was checked")
        return Outcome(rule, title, True, "; ".join([f"{self.checks} checks", *self.notes]))


@dataclass
class Stand:
    """One started service with its settings and test doubles."""

    bed: Bed
    service: Running
    pool_size: int
    settings: Mapping[str, str]
    forwarder: Forwarder | None = None
    wrong_upstream: WrongUpstream | None = None

    @property
    def url(self) -> str:
        return self.service.base_url

    def has(self, *targets: str) -> bool:
        """Whether the service answers all these endpoints of the contract."""
        return all(endpoint(target) in self.bed.endpoints for target in targets)

    @property
    def port(self) -> int:
        return urlsplit(self.url).port or 80

    def ask(self, request: Request | str) -> Reply:
        return ask(self.url, request)

    def json(self, target: str) -> Any:
        return self.ask(target).json()

    def stats(self) -> dict[str, Any]:
        found: dict[str, Any] = self.json("/stats")
        return found

    def runtime(self) -> dict[str, Any]:
        found: dict[str, Any] = self.json("/runtime")
        return found

    def fly(self, *wanted: Request | str) -> Flight:
        return Flight(self.url, wanted)

    def peek(self) -> Peek:
        return Peek(self.bed.database.user_url(self.bed.contender))

    def upstream(self, target: str, method: str = "GET") -> Any:
        reply = ask(self.bed.upstream_url, Request(method, target, body=b"" if method == "POST" else None))
        return reply.json() if method == "GET" else None

    def quiet(self) -> dict[str, Any]:
        """Waits until nothing is in flight, so that a rule does not affect the next one."""
        return until(self.stats, lambda stats: stats["in_flight"] == 0 and stats["pool_in_use"] == 0)

    def connections(self) -> int:
        return self.bed.database.connections(self.bed.contender)


def until(look: Callable[[], T], wanted: Callable[[T], bool], deadline_s: float = GENEROUS_S) -> T:
    """Repeats `look` until its value is wanted or the deadline has passed; returns the last value."""
    end = time.monotonic() + deadline_s
    while True:
        seen = look()
        if wanted(seen) or time.monotonic() > end:
            return seen
        time.sleep(TICK_S)


def holds_for(look: Callable[[], T], wanted: Callable[[T], bool], duration_s: float) -> T:
    """Repeats `look` for this long, or until its value is no longer wanted; returns the last value."""
    return until(look, lambda seen: not wanted(seen), duration_s)


Check = Callable[[Stand, Case], None]


@dataclass(frozen=True)
class Rule:
    """One check of one rule of the contract."""

    rule: str
    title: str
    stage: Stage
    check: Check
    concerns: Callable[[Collection[str]], bool] = lambda endpoints: True
    """Whether the rule applies to a service that answers only these endpoints."""


RULES: list[Rule] = []


def rule(number: str, title: str, stage: Stage = Stage.MAIN, needs: Sequence[str] = ()) -> Callable[[Check], Check]:
    """Registers a check; the order of registration is the order within a stage. `needs`: endpoints that it uses."""
    return rule_where(number, title, lambda endpoints: set(needs) <= set(endpoints), stage)


def rule_where(number: str, title: str, concerns: Callable[[Collection[str]], bool], stage: Stage = Stage.MAIN) -> Callable[[Check], Check]:
    """The same for a check that decides itself whether it applies to a service."""

    def register(check: Check) -> Check:
        RULES.append(Rule(number, title, stage, check, concerns))
        return check

    return register


def beyond_reach(endpoints: Collection[str]) -> list[Rule]:
    """The rules that do not apply to a service with only these endpoints."""
    return [one for one in RULES if not one.concerns(endpoints)]


def small_pool(workers: int) -> int:
    """A size small enough to be exhausted, and not divisible by the number of workers if there are several (C50)."""
    return max(3, 2 * workers + 1)


def broken(outcomes: Sequence[Outcome]) -> str:
    """What is broken, in a line; empty where nothing is. Of rules that were not checked for one reason only the first is named."""
    return "; ".join(f"{one.rule} {one.title}: {one.detail}" for one in outcomes if not one.passed and one.detail != SEE_ABOVE)


# ---- running ----


def check(
    bed: Bed,
    seen: Callable[[Outcome], None] = lambda outcome: None,
    only: Collection[str] = (),
    but: Collection[str] = (),
    give_up: Callable[[], None] = lambda: None,
) -> list[Outcome]:
    """The rules against one contender, started as often as needed; the outcomes in the order of the rules.

    `seen` gets each outcome as it is found, from several threads. `only`: the ids of the rules to check, all where it is empty. `but`: what
    is not checked, each by id and title. `give_up` ends all services that rules still use, so that a rule under way ends too; it is
    called if the suite is stopped from outside.
    """
    rules = [
        one for one in RULES if (not only or one.rule in only) and one.concerns(bed.endpoints) and f"{one.rule} {one.title}" not in but
    ]
    run = _Run(rules, seen)
    bed.database.user_url(bed.contender)  # makes the account, before several threads ask for it
    bed.database.reset_books()
    beside = ThreadPoolExecutor(max_workers=4)
    try:
        with ExitStack() as stack:
            try:
                # Starts that must fail and slow clients use neither database nor upstream, so they change no counter.
                others = [beside.submit(run.stage, Stage.START, _none(bed)), beside.submit(run.stage, Stage.SLOW, _slow(bed))]
                if run.has(Stage.MAIN, Stage.LATE, Stage.STOP):
                    stand = stack.enter_context(_main(bed))
                    run.check(Stage.MAIN, stand)
                others.append(beside.submit(run.stage, Stage.DEFAULTS, _defaults(bed)))
                others.append(beside.submit(run.stage, Stage.AWAY, _away(bed)))
                if run.has(Stage.LATE, Stage.STOP):
                    run.check(Stage.LATE, stand)
                    run.check(Stage.STOP, stand)
                for other in others:
                    other.result()
            except BaseException as error:
                run.stopped = True
                if not isinstance(error, Exception):
                    give_up()  # Ctrl-C: rules under way are not waited for
                raise
        beside.shutdown()
        bed.database.reset_books()
    except Exception as error:
        beside.shutdown(cancel_futures=True)
        run.not_checked(rules, error)
        bed.database.reset_books()
    except BaseException:
        beside.shutdown(wait=False, cancel_futures=True)
        raise
    return [run.found[one] for one in rules]


class _Run:
    """One run of the rules; several stages may run in parallel."""

    def __init__(self, rules: Sequence[Rule], seen: Callable[[Outcome], None]) -> None:
        self._rules = rules
        self._seen = seen
        self.found: dict[Rule, Outcome] = {}
        self.stopped = False

    def of(self, stage: Stage) -> list[Rule]:
        return [one for one in self._rules if one.stage is stage]

    def has(self, *stages: Stage) -> bool:
        return any(self.of(stage) for stage in stages)

    def stage(self, stage: Stage, start: AbstractContextManager[Stand]) -> None:
        """A stage with a service of its own, which is started only if a rule needs it."""
        if not self.has(stage):
            return
        try:
            with start as stand:
                self.check(stage, stand)
        except Exception as error:
            self.not_checked(self.of(stage), error)

    def check(self, stage: Stage, stand: Stand) -> None:
        """Raises NoAnswer if the service has ended and rules are left."""
        rules = self.of(stage)
        for number, one in enumerate(rules, 1):
            if self.stopped:
                return
            self.found[one] = outcome = _outcome(one, stand)
            self._seen(outcome)
            if not outcome.passed and rules[number:] and not _alive(stand):
                raise NoAnswer("/healthz has no answer any more")

    def not_checked(self, rules: Sequence[Rule], error: Exception) -> None:
        """Gives the reason with the first of the rules; the others refer to it."""
        said = f"not checked: {_said(error)}"
        for missing in rules:
            if missing not in self.found:
                self.found[missing] = outcome = Outcome(missing.rule, missing.title, False, said)
                self._seen(outcome)
                said = SEE_ABOVE


def _alive(stand: Stand) -> bool:
    """Checked because otherwise every rule that is left would wait for answers that never come."""
    if isinstance(stand.service, _Nothing):
        return True
    try:
        return ask(stand.url, "/healthz", patience_s=GENEROUS_S).status == 200
    except NoAnswer:
        return False


def _outcome(one: Rule, stand: Stand) -> Outcome:
    case = Case()
    try:
        one.check(stand, case)
    except Exception as error:  # a check that raises counts as a broken rule; the others still run
        case.findings.append(_said(error))
    return case.outcome(one.rule, one.title)


def _said(error: Exception) -> str:
    if isinstance(error, (NoAnswer, LaunchFailed)):
        return str(error)
    at = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({at.name}, line {at.lineno})"


@contextmanager
def _main(bed: Bed) -> Iterator[Stand]:
    pool_size = small_pool(bed.workers)
    settings = {"DB_POOL_SIZE": str(pool_size), "SERVER_THREADS": "150", "UPSTREAM_TIMEOUT_MS": "65432"}
    yield from _started(Stand(bed, bed.launch(settings), pool_size, settings))


@contextmanager
def _away(bed: Bed) -> Iterator[Stand]:
    """Database and upstream behind test doubles; the database is unreachable when the service starts."""
    pool_size = small_pool(bed.workers)
    url = bed.database.user_url(bed.contender)
    parts = urlsplit(url)
    forwarder, upstream = Forwarder(parts.hostname or "127.0.0.1", parts.port or 3306), WrongUpstream()
    settings = {
        "DATABASE_URL": moved_to(url, forwarder.port),
        "DB_POOL_SIZE": str(pool_size),
        "DB_ACQUIRE_TIMEOUT_MS": "1500",
        "UPSTREAM_URL": upstream.url,
        "UPSTREAM_TIMEOUT_MS": "1200",
    }
    try:
        service = bed.launch(settings, ready=False)
        yield from _started(Stand(bed, service, pool_size, settings, forwarder, upstream))
    finally:
        upstream.close()
        forwarder.close()


@contextmanager
def _defaults(bed: Bed) -> Iterator[Stand]:
    """Empty variables count as not set (C50); a database without the table causes an internal error (C39)."""
    url = bed.database.user_url(bed.contender)
    settings = {
        "DATABASE_URL": moved_to(url, urlsplit(url).port or 3306, "information_schema"),
        **dict.fromkeys(("HOST", "DB_POOL_SIZE", "DB_ACQUIRE_TIMEOUT_MS", "UPSTREAM_URL", "UPSTREAM_TIMEOUT_MS"), ""),
        "SERVER_THREADS": "",
    }
    yield from _started(Stand(bed, bed.launch(settings), 150, settings))


@contextmanager
def _slow(bed: Bed) -> Iterator[Stand]:
    settings = {"DATABASE_URL": NOWHERE}
    yield from _started(Stand(bed, bed.launch(settings, ready=False), 150, settings))


@contextmanager
def _none(bed: Bed) -> Iterator[Stand]:
    yield Stand(bed, _Nothing(), 0, {})


def _started(stand: Stand) -> Iterator[Stand]:
    try:
        yield stand
    finally:
        with suppress(ProcessLookupError):
            stand.service.stop()


class _Nothing:
    """Takes the place of a service where a rule starts its own."""

    base_url = "http://127.0.0.1:1"
    pid = 0
    stderr_tail = ""

    def stop(self) -> int:
        return 0

    def signal(self, number: int) -> None:
        """There is no process."""


def rounds_of(requests: int, at_once: int) -> int:
    """How many rounds these requests take if only `at_once` can run at once."""
    return math.ceil(requests / at_once)
