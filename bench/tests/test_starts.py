"""Start-up and warm-up: what is recorded survives, what is not known is not shown."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from nsb.analyse import table
from nsb.analyse.starts import Span, span, summed, warmth
from nsb.measure import starts as running
from nsb.measure.journal import Journal, JournalError, cut_torn_tail, read_starts_of
from nsb.records.cells import Stats
from nsb.records.starts import Sample, Start, load_end, read_starts
from nsb.registry.claims import Claims
from nsb.render import starts as report
from nsb.session.outputs import outputs

RUN = Path(__file__).parent / "recordings" / "run"
RATE, STEP = 1000, 0.25
LOAD_TO_S = 32.0


def curve(cost_us: Callable[[float], float], length_s: float = 30.0, idle_s: float = 0.7, since_s: float = 2.0) -> list[Sample]:
    """Samples every 0.25 s of a service that answers 1000/s at this cost, by seconds of load; nothing comes in the first `idle_s`."""
    samples, cpu, done = [], 1.0, 0
    for number in range(int(length_s / STEP) + 1):
        samples.append(Sample(at_s=since_s + number * STEP, requests=done, cpu_s=cpu))
        load_s = number * STEP - idle_s
        if load_s >= 0:
            done += int(RATE * STEP)
            cpu += RATE * STEP * cost_us(load_s) / 1e6
    return samples


def start(contender: str = "a", **changes: object) -> Start:
    data: dict[str, object] = {
        "round": 1, "contender": contender, "started_at": "2026-01-31T12:00:00+00:00", "ready_s": 1.0, "pool_s": 1.2, "cpu_s": 0.8,
        "pss_mib": 50.0, "load_to_s": LOAD_TO_S, "warm_up": curve(lambda _: 100.0),
    }  # fmt: skip
    return Start.model_validate({**data, **changes})


# --- warm after -------------------------------------------------------------------------------------------------------------


def test_a_service_that_costs_the_same_from_the_first_request_on_is_warm_at_once() -> None:
    assert warmth(curve(lambda _: 100.0), LOAD_TO_S).after_s == 0.0


def test_a_service_is_warm_when_its_cost_stays_near_that_at_the_end() -> None:
    found = warmth(curve(lambda s: 300.0 if s < 12.0 else 100.0), LOAD_TO_S)
    assert found.after_s == pytest.approx(12.0, abs=0.75)


def test_dear_seconds_after_cheap_ones_begin_the_warm_up_again() -> None:
    found = warmth(curve(lambda s: 200.0 if s < 3.0 or 12.0 <= s < 15.0 else 100.0), LOAD_TO_S)
    assert found.after_s is not None
    assert found.after_s > 12.0


@pytest.mark.parametrize(
    "cost",
    [
        lambda s: 1000.0 * math.exp(-s / 12),  # still falling
        lambda s: 1000.0 / (1 + s),  # the same cost for each doubling: a JVM that is stopped in mid-way
        lambda s: 100.0 if s < 27.0 else 200.0,  # dear again at the very end
        lambda s: 300.0 if s < 24.0 else 100.0,  # warm for less than a third of the time
    ],
)
def test_what_is_not_warm_before_the_last_third_is_not_called_warm(cost: Callable[[float], float]) -> None:
    found = warmth(curve(cost), LOAD_TO_S)
    assert (found.after_s, found.reason) == (None, "not within the warm-up")


def test_a_cheaper_stretch_is_no_colder_one() -> None:
    found = warmth(curve(lambda s: 40.0 if 12.0 <= s < 15.0 else 100.0), LOAD_TO_S)
    assert found.after_s == 0.0


def test_a_few_samples_say_nothing() -> None:
    assert warmth(curve(lambda _: 100.0, length_s=2.0), LOAD_TO_S).reason == "too few samples"
    assert warmth([], LOAD_TO_S).reason == "too few samples"


def test_what_comes_after_the_load_is_not_looked_at() -> None:
    samples = curve(lambda _: 100.0)
    after = [Sample(at_s=32.2 + n * STEP, requests=samples[-1].requests, cpu_s=samples[-1].cpu_s + 1 + n) for n in range(8)]
    assert warmth([*samples, *after], LOAD_TO_S).after_s == 0.0


def test_a_gap_in_the_samples_does_no_harm() -> None:
    samples = curve(lambda s: 300.0 if s < 9.0 else 100.0)
    found = warmth(samples[:30] + samples[36:], LOAD_TO_S)
    assert found.after_s == pytest.approx(9.0, abs=0.75)


def test_the_load_ends_where_the_count_does() -> None:
    counts = (0, 0, 10, 20, 30, 30, 30)
    samples = [Sample(at_s=float(at), requests=count, cpu_s=0.0) for at, count in enumerate(counts)]
    assert load_end(samples) == 3.0
    assert load_end(samples[:2]) is None
    assert load_end([]) is None


def test_a_service_that_answers_nothing_for_a_while_is_not_warm_before() -> None:
    samples = [
        sample.model_copy(update={"requests": samples_at}) if 5.0 < sample.at_s < 12.0 else sample
        for sample in curve(lambda _: 100.0)
        for samples_at in [2000]
    ]
    found = warmth(samples, LOAD_TO_S)
    assert found.after_s is None or found.after_s > 6.0


# --- over all starts --------------------------------------------------------------------------------------------------------


def test_one_start_gives_no_figure_a_few_the_range_and_five_an_interval() -> None:
    assert span([1.0]) is None
    assert span([1.0, 3.0, 2.0]) == Span(value=2.0, low=1.0, high=3.0, starts=3, spread="range")
    found = span([1.0, 1.1, 1.2, 1.1, 1.0])
    assert found is not None
    assert (found.spread, found.starts) == ("interval", 5)
    assert found.low < found.value < found.high
    zeros = span([0.0, 0.0, 0.5, 0.25, 0.5])  # no logarithm
    assert zeros is not None
    assert zeros.spread == "range"


def test_a_start_that_was_not_warm_in_time_leaves_no_figure_that_would_flatter() -> None:
    cold = start(warm_up=curve(lambda s: 1000.0 * math.exp(-s / 12)))
    (found,) = summed([start(), start(), cold], ["a"])
    assert found.warm_after_s is None
    assert found.ready_s is not None
    assert found.notes == ["warm: not within the warm-up in 1 of 3 starts"]


def test_a_start_that_failed_is_counted_and_said() -> None:
    failed = start(failure="a ended with 1", ready_s=None, pool_s=None, cpu_s=None, pss_mib=None, load_to_s=None, warm_up=[])
    (found,) = summed([start(), start(), failed], ["a"])
    assert (found.starts, found.failed) == (3, 1)
    assert found.ready_s is not None
    assert found.ready_s.starts == 2
    assert found.notes == ["1 of 3 starts failed: a ended with 1"]


def test_a_pool_that_did_not_open_in_time_is_said() -> None:
    (found,) = summed([start(), start(pool_s=None)], ["a"])
    assert found.pool_s is None
    assert found.notes == ["the pool was not open in time in 1 of 2 starts"]


def test_contenders_come_in_the_order_of_the_plan_and_only_those_that_were_started() -> None:
    assert [found.contender for found in summed([start("b"), start("a")], ["a", "b", "c"])] == ["a", "b"]


# --- shown ------------------------------------------------------------------------------------------------------------------


def test_the_section_explains_itself_and_shows_every_spread() -> None:
    text = "\n".join(report.section(summed([start(ready_s=1.0), start(ready_s=2.0), start(ready_s=4.0)], ["a"])))
    assert "| a | 3 | 2.00 (1.00–4.00) |" in text
    assert "may use all cores" in text
    assert "median" in text
    assert "t interval" not in text
    five = "\n".join(report.section(summed([start(ready_s=1.0 + n / 10) for n in range(5)], ["a"])))
    assert "t interval" in five


def test_one_round_shows_no_figure_and_says_why() -> None:
    text = "\n".join(report.section(summed([start()], ["a"])))
    assert "no spread" in text
    assert "1.00" not in text


def test_a_run_without_recorded_starts_has_no_section() -> None:
    assert report.section([]) == []


# --- recorded ---------------------------------------------------------------------------------------------------------------


def test_starts_are_kept_line_by_line_and_a_torn_tail_is_cut(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    for name in ("a", "b"):
        journal.start(start(name))
    file = tmp_path / "starts.jsonl"
    assert [found.contender for found in read_starts_of(tmp_path)] == ["a", "b"]
    whole = file.read_bytes()
    file.write_bytes(whole + whole[:40])
    assert [found.contender for found in read_starts_of(tmp_path)] == ["a", "b"]
    cut_torn_tail(tmp_path)
    assert file.read_bytes() == whole


def test_a_broken_line_or_another_schema_is_refused(tmp_path: Path) -> None:
    line = start().line().encode() + b"\n"
    with pytest.raises(ValueError, match="line 1"):
        read_starts([line[:50] + b"\n", line])
    with pytest.raises(ValueError, match="schema"):
        read_starts([json.dumps({**json.loads(line), "schema": 99}).encode() + b"\n"])
    (tmp_path / "starts.jsonl").write_bytes(line[:50] + b"\n")
    with pytest.raises(JournalError, match=r"starts\.jsonl"):
        read_starts_of(tmp_path)


def test_outputs_have_the_section_where_starts_were_recorded(tmp_path: Path, claims: Claims) -> None:
    run = json.loads((RUN / "run.json").read_text(encoding="utf-8"))
    outputs(tmp_path, run, [], claims)
    assert report.HEADING not in (tmp_path / "table.md").read_text(encoding="utf-8")
    journal = Journal(tmp_path)
    for ready_s in (1.0, 2.0):
        journal.start(start(run["plan"]["contenders"][0], ready_s=ready_s))
    outputs(tmp_path, run, [], claims)
    assert report.HEADING in (tmp_path / "table.md").read_text(encoding="utf-8")
    told = json.loads((tmp_path / "table.json").read_text(encoding="utf-8"))
    assert told["startups"][0]["ready_s"] == {"value": 1.5, "low": 1.0, "high": 2.0, "starts": 2, "spread": "range"}


def test_a_table_of_an_old_run_has_no_startups() -> None:
    run = json.loads((RUN / "run.json").read_text(encoding="utf-8"))
    assert table.make(run, []).startups == []


# --- watched ----------------------------------------------------------------------------------------------------------------


def test_the_curve_is_sampled_at_once_and_when_the_generator_has_ended_with_gaps_where_stats_does_not_answer() -> None:
    answers = iter([Stats(0, 0.0, 0), None, Stats(500, 0.0, 8), Stats(600, 0.0, 0)])
    ends = iter([False, False, True])
    waits: list[float] = []

    def ended(wait_s: float) -> bool:
        waits.append(wait_s)
        return next(ends)

    samples = running.curve(lambda: next(answers), lambda: 1.5, ended, 0.0, math.inf)
    assert [(sample.requests, sample.cpu_s) for sample in samples] == [(0, 1.5), (500, 1.5), (600, 1.5)]
    assert len(waits) == 3
    assert all(wait_s >= 0 for wait_s in waits)


def test_a_generator_that_does_not_end_is_left_at_the_deadline() -> None:
    assert len(running.curve(lambda: Stats(0, 0.0, 0), lambda: 0.0, lambda _: False, 0.0, -math.inf)) == 2
