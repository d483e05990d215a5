"""A closed cell driven once more by oha where k6 was full: its report as values, and is the figure worth anything? Pure.

oha reports on its whole run, settle and tail included. What came in the window is counted by the service (`/stats`), read at the same
moments as the CPU; oha's own count over the whole run must agree with the service's. From there on the rules are those of every cell.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from nsb.analyse.parse import Load, Trend
from nsb.analyse.validity import Judgement, Observation, judge
from nsb.registry.model import Check, Half, SecondFigure, Status


class ReportError(Exception):
    """The text is no report of oha's."""


@dataclass(frozen=True)
class Report:
    """oha's JSON: answers by status and errors by their text over the whole run, bytes of all bodies, the mean time of a request (s)."""

    statuses: dict[int, int]
    errors: dict[str, int]
    body_bytes: int
    mean_s: float | None

    @property
    def answered(self) -> int:
        return sum(self.statuses.values())


@dataclass(frozen=True)
class Inserted:
    """Rows that the requests have left in the database, and how many digits their ids have together."""

    rows: int
    digits: int


@dataclass(frozen=True)
class Expected:
    """What every answer must be, and by how many connections it is asked for."""

    status: int
    body: str
    """Of inserts with `*` for the id, which is another one each time."""
    connections: int
    inserted: Inserted | None = None
    """Of inserts: what the database has of them."""


@dataclass(frozen=True)
class Count:
    """How many requests the service had answered, and when it said so (s since the epoch)."""

    at_s: float
    answered: int


def parse(text: str) -> Report:
    """The report of `oha --output-format json`.

    Raises ReportError where it has another shape.
    """
    try:
        raw = json.loads(text)
        mean = raw["summary"]["average"]
        return Report(
            statuses={int(status): int(count) for status, count in raw["statusCodeDistribution"].items()},
            errors={str(error): int(count) for error, count in raw["errorDistribution"].items()},
            body_bytes=int(raw["summary"]["totalData"]),
            mean_s=None if mean is None else float(mean),  # null: no answer at all
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ReportError(f"oha's report has another shape: {error!r}") from None


def load(report: Report, edges: Sequence[Count], window_s: float) -> Load:
    """The window as k6 would report it, from the counts at its start, middle and end.

    A count is read milliseconds after its edge: rates come from the time between the readings.
    """
    first, middle, last = edges
    halves = [round((b.answered - a.answered) / (b.at_s - a.at_s) * window_s / 2) for a, b in ((first, middle), (middle, last))]
    requests = sum(halves)
    failures = sum(report.errors.values())
    times = _trend(requests, report.mean_s)
    return Load(
        requests=requests,
        started=requests,
        failures=failures,
        failures_all=failures,
        dropped=0,
        checked=report.answered,
        wrong=0,
        too_short=0,
        latency=times,
        service=times,
        iteration=times,
        lag=_trend(0, None),
        halves=(_trend(halves[0], None), _trend(halves[1], None)),
    )


def _trend(count: int, mean_s: float | None) -> Trend:
    return Trend(count, None if mean_s is None else mean_s * 1000, None, None, None, None)


def figure(tool: str, o: Observation, report: Report, counted: int, expected: Expected, raw: str) -> SecondFigure:
    """The figure of an oha that ended by itself; `counted`: the requests that the service saw from before it until after it."""
    judgement = judged(o, report, counted, expected)
    assert o.load is not None
    requests = o.load.requests
    return SecondFigure(
        tool=tool,
        status=judgement.status,
        limit=judgement.limit,
        reasons=judgement.reasons,
        doubts=judgement.doubts,
        window_s=o.window_s,
        requests=requests,
        throughput_rps=round(requests / o.window_s, 3) if requests else None,
        cpu_us_per_request={role: round(o.cpu_s[role] / requests * 1e6, 2) for role in ("service", "generator") if requests},
        cpu_s={role: round(seconds, 6) for role, seconds in o.cpu_s.items()},
        halves=[
            Half(requests=half.count, p50_ms=None, service_cpu_s=round(cpu, 6))
            for half, cpu in zip(o.load.halves, o.half_cpu_s, strict=True)
        ],
        checks=list(judgement.checks),
        raw=raw,
    )


def judged(o: Observation, report: Report, counted: int, expected: Expected) -> Judgement:
    """The rules of every cell, and two that take the place of k6's looking at each answer. No failure is allowed: oha cuts nothing off."""
    own = (answers(report, expected), both_counted(report, counted, expected))
    found = judge(o)
    status: Status = "invalid" if any(check.outcome == "invalid" for check in own) else found.status
    return replace(found, status=status, checks=(*own, *found.checks))


def answers(report: Report, expected: Expected) -> Check:
    """V1: every answer has the expected status, all bodies together the expected length, none failed; of inserts each is a row."""
    other = sum(count for status, count in report.statuses.items() if status != expected.status)
    failed = sum(report.errors.values())
    made = expected.inserted
    wanted = report.answered * len(expected.body.replace("*", "").encode()) + (made.digits if made is not None else 0)
    problems = [
        f"{failed} requests failed ({next(iter(report.errors))})" if failed else "",
        f"{other} answers had another status than {expected.status}" if other else "",
        f"the bodies have {report.body_bytes} bytes where {wanted} are expected" if report.body_bytes != wanted else "",
        f"the database has {made.rows} rows of {report.answered} answers" if made is not None and made.rows != report.answered else "",
        "nothing was answered" if not report.answered else "",
    ]
    return Check(
        id="V1",
        outcome="invalid" if any(problems) else "ok",
        sentence="; ".join(problem for problem in problems if problem),
        inputs={
            "failures": failed,
            "other_status": other,
            "answered": report.answered,
            "bytes": report.body_bytes,
            **({"rows": made.rows} if made is not None else {}),
        },
    )


def both_counted(report: Report, counted: int, expected: Expected) -> Check:
    """V5: service and generator saw the same requests, up to those in flight."""
    apart = abs(counted - report.answered) > expected.connections
    return Check(
        id="V5",
        outcome="invalid" if apart else "ok",
        sentence=f"the service counted {counted} requests, oha {report.answered} answers" if apart else "",
        inputs={"service": counted, "generator": report.answered},
    )
