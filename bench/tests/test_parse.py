"""k6's summary, from a recording of a real run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nsb.records.summary import SummaryError, load_summary

RECORDING = Path(__file__).parent / "recordings" / "k6-sleep-max.json"


def test_a_recorded_summary() -> None:
    raw = json.loads(RECORDING.read_text())
    load = load_summary(raw)
    assert load.requests == load.halves[0].count + load.halves[1].count == raw["metrics"]["nsb_latency{window:in}"]["count"]
    assert load.latency.p50 is not None
    assert 1000 <= load.latency.p50 < 2000
    assert (load.failures_all, load.wrong, load.too_short) == (0, 0, 0)
    assert load.checked > 0


def test_what_was_sent_beside_counts_and_is_in_no_latency() -> None:
    raw = json.loads(RECORDING.read_text())
    alone = load_summary(raw)
    raw["metrics"]["nsb_beside{window:in}"] = {"count": 5, "avg": 9000, "med": 9000, "p(90)": 9000, "p(99)": 9000, "max": 9000}
    load = load_summary(raw)
    assert load.requests == alone.requests + 5
    assert (load.latency, load.service, load.halves) == (alone.latency, alone.service, alone.halves)


def test_answers_while_connections_are_held_are_told_by_level() -> None:
    raw = json.loads(RECORDING.read_text())
    assert load_summary(raw).still == {}
    for level, median in (("10", 3.0), ("0", 1.0)):
        raw["metrics"][f"nsb_service{{still:{level}}}"] = {"count": 180, "avg": 2, "med": median, "p(90)": 5, "p(99)": 6, "max": 7}
    assert {level: (found.count, found.p50) for level, found in load_summary(raw).still.items()} == {0: (180, 1.0), 10: (180, 3.0)}


def test_a_window_without_answers_has_no_percentiles() -> None:
    load = load_summary({"metrics": {}})
    assert (load.requests, load.latency.p50) == (0, None)


@pytest.mark.parametrize("broken", [{}, {"metrics": None}, {"metrics": {"nsb_failures": {}}}])
def test_another_shape_is_refused(broken: dict[str, object]) -> None:
    with pytest.raises(SummaryError):
        load_summary(broken)
