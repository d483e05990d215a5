"""k6's summary as values. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

STILL = "nsb_service{still:"


class SummaryError(Exception):
    """The summary is not one that load.js writes."""


@dataclass(frozen=True)
class Trend:
    """Order statistics of one k6 Trend, in ms; None where it holds no value."""

    count: int
    mean: float | None
    p50: float | None
    p90: float | None
    p99: float | None
    max: float | None


@dataclass(frozen=True)
class Load:
    """What k6 saw in the window: answers counted by the half in which they came, starts by when they were sent.

    Requests are all of them; latencies are of those that the scenario measures, without what it sends beside them.
    """

    requests: int
    started: int
    failures: int
    failures_all: int
    """Failures of all phases: a cell with a failed warm-up is no better."""
    dropped: int
    """Arrivals that k6 could not start, over the whole run."""
    checked: int
    wrong: int
    too_short: int
    latency: Trend
    service: Trend
    iteration: Trend
    lag: Trend
    halves: tuple[Trend, Trend]
    still: Mapping[int, Trend] = field(default_factory=dict)
    """Level of held connections, from 0 on → the answers while it stood still, timed from the send on."""
    began_ms: float | None = None
    """Of a load that was measured as a whole: when its first request was sent, from the window's opening on."""
    ended_ms: float | None = None
    """And when its last answer came."""

    sent_all: int | None = None
    """Requests of all phases, those that k6 gave up at its end included; None in runs before it was counted."""
    answered_all: int | None = None
    """Of these: how many had the status that they must have."""
    opened_all: int | None = None
    """Connections that were opened for them."""
    odd_all: int = 0
    """Requests beside them: the last one of each user, which has another answer than the others (load.js, askOdd)."""

    @property
    def whole_s(self) -> float | None:
        """From its first request to its last answer (s)."""
        return None if self.began_ms is None or self.ended_ms is None else (self.ended_ms - self.began_ms) / 1000


def load_summary(summary: Mapping[str, Any]) -> Load:
    """Raises SummaryError where a metric is missing or has another shape."""
    try:
        metrics: Mapping[str, Mapping[str, float]] = summary["metrics"]
        return Load(
            requests=_trend(metrics, "nsb_latency{window:in}").count + _trend(metrics, "nsb_beside{window:in}").count,
            started=_count(metrics, "nsb_started{window:in}"),
            failures=_count(metrics, "nsb_failures{window:in}"),
            failures_all=_count(metrics, "nsb_failures"),
            dropped=_count(metrics, "dropped_iterations"),
            checked=_count(metrics, "nsb_checked_bodies"),
            wrong=_count(metrics, "nsb_wrong_bodies"),
            too_short=_count(metrics, "nsb_too_short"),
            latency=_trend(metrics, "nsb_latency{window:in}"),
            service=_trend(metrics, "nsb_service{window:in}"),
            iteration=_trend(metrics, "nsb_iteration{window:in}"),
            lag=_trend(metrics, "nsb_lag{window:in}"),
            halves=(_trend(metrics, "nsb_latency{phase:h1}"), _trend(metrics, "nsb_latency{phase:h2}")),
            still={int(name[len(STILL) : -1]): _trend(metrics, name) for name in metrics if name.startswith(STILL)},
            began_ms=metrics.get("nsb_moments", {}).get("min"),
            ended_ms=metrics.get("nsb_moments", {}).get("max"),
            sent_all=_count(metrics, "nsb_sent") if "nsb_sent" in metrics else None,
            answered_all=answered(summary) if "nsb_sent" in metrics else None,
            opened_all=_count(metrics, "nsb_opened") if "nsb_sent" in metrics else None,
            odd_all=_count(metrics, "nsb_odd"),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise SummaryError(f"k6's summary is not of load.js: {error!r}") from None


def _count(metrics: Mapping[str, Mapping[str, float]], name: str) -> int:
    """A counter that never counted is not in k6's summary."""
    return int(metrics[name]["count"]) if name in metrics else 0


def _trend(metrics: Mapping[str, Mapping[str, float]], name: str) -> Trend:
    values = metrics.get(name, {})
    count = int(values.get("count", 0))
    if count == 0:
        return Trend(0, None, None, None, None, None)
    return Trend(count, values["avg"], values["med"], values["p(90)"], values["p(99)"], values["max"])


def answered(summary: Mapping[str, Any]) -> int:
    """How many requests of all phases had the answer they must have. Raises SummaryError."""
    try:
        return _count(summary["metrics"], "nsb_started") - _count(summary["metrics"], "nsb_failures")
    except (KeyError, TypeError, AttributeError) as error:
        raise SummaryError(f"k6's summary is not of load.js: {error!r}") from None
