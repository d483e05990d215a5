"""Several generators divide a load: what each of them does, what their summaries come to together, and what the plan says of it."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from fakes.stage import Fakes
from nsb.analyse import preflight as judging
from nsb.analyse.cells import judged
from nsb.measure import host, k6
from nsb.records.cells import Record
from nsb.records.divided import Divided
from nsb.records.parts import STEPS, TOLD, TREND_STATS, merge
from nsb.records.summary import SummaryError, Trend, load_summary
from nsb.registry import plan as plans
from nsb.registry.load import Registry
from nsb.registry.placement import generators_line, on_one_core, parted
from nsb.session import run as session
from test_cli import nsb
from test_placement import pairs, plain
from test_preflight import probe

RECORDINGS = Path(__file__).parent / "recordings"
LATENCY = "nsb_latency{window:in}"


# --- merging ---------------------------------------------------------------------------------------------------------


def at(values: Sequence[float], rank: float) -> float:
    """Sorted values at a rank, as k6 has it (metrics/sink.go): by linear interpolation between neighbours."""
    place = rank * (len(values) - 1)
    low, high = values[math.floor(place)], values[math.ceil(place)]
    return low + (high - low) * (place - math.floor(place))


def told(values: Sequence[float]) -> dict[str, Any]:
    """The trend of a part, as part.js writes it."""
    some = sorted(values)
    edges = [at(some, step / 100) for step in STEPS] if some else [0.0] * len(STEPS)
    ends = {"min": some[0], "max": some[-1], "avg": sum(some) / len(some)} if some else {"min": 0.0, "max": 0.0, "avg": 0.0}
    return {"count": len(some), **ends, "edges": edges}


def summary(values: Sequence[float], counters: int = 0, began_ms: float = 0.0) -> dict[str, Any]:
    metrics = {LATENCY: told(values), "nsb_sent": {"count": counters, "rate": counters / 10}, "vus": {"value": 3, "min": 1, "max": 9}}
    return {"metrics": metrics, "state": {"began_ms": began_ms}}


def within(found: float, whole: Sequence[float], rank: float, parts: int) -> bool:
    """Whether it lies at this rank of the whole, within a step of the ranks that parts tell and a value of each part."""
    step = 0.001 if rank < 0.98 else 0.0001
    slack = step + parts / len(whole)
    return at(whole, max(0.0, rank - slack)) <= found <= at(whole, min(1.0, rank + slack))


def drawn(kind: str, count: int, seed: int) -> list[float]:
    draw = random.Random(seed)
    some: dict[str, Callable[[], float]] = {
        "smooth": lambda: draw.lognormvariate(0.0, 0.8),
        "two humps": lambda: draw.gauss(2, 0.1) if draw.random() < 0.985 else draw.gauss(300, 5),
        "whole ms": lambda: float(round(draw.lognormvariate(1.0, 0.7))),
        "all equal": lambda: 100.0,
    }
    return [some[kind]() for _ in range(count)]


@pytest.mark.parametrize("kind", ["smooth", "two humps", "whole ms", "all equal"])
@pytest.mark.parametrize("sizes", [(500, 500), (20_000, 20_000), (9000, 1000, 37), (1, 1), (3000, 0)])
def test_parts_merged_are_the_whole(kind: str, sizes: tuple[int, ...]) -> None:
    values = [drawn(kind, size, seed) for seed, size in enumerate(sizes)]
    whole = sorted(value for part in values for value in part)
    merged = merge([summary(part) for part in values])["metrics"][LATENCY]
    assert (merged["count"], merged["min"], merged["max"]) == (len(whole), whole[0], whole[-1])
    assert merged["avg"] == pytest.approx(sum(whole) / len(whole))
    for name, rank in TOLD.items():
        assert within(merged[name], whole, rank, len(values)), (name, merged[name], at(whole, rank))
    assert merged["min"] <= merged["med"] <= merged["p(90)"] <= merged["p(99)"] <= merged["max"]


def test_percentiles_are_not_averaged() -> None:
    """A slow tenth in one of two parts: the mean of their p99 is far from that of the whole."""
    fast, slow = [1.0 + n / 10_000 for n in range(9000)], [100.0 + n / 100 for n in range(1000)]
    parts = [fast, slow]
    merged = merge([summary(part) for part in parts])["metrics"][LATENCY]
    whole = sorted([*fast, *slow])
    assert merged["p(99)"] == pytest.approx(at(whole, 0.99), rel=0.001)
    assert merged["med"] == pytest.approx(at(whole, 0.5), rel=0.001)
    assert sum(at(part, 0.5) for part in parts) / 2 > 30 * merged["med"]


def test_one_part_is_itself_and_the_order_of_parts_does_not_matter() -> None:
    values = drawn("smooth", 5000, 1)
    alone = merge([summary(values)])["metrics"][LATENCY]
    assert all(alone[name] == pytest.approx(at(sorted(values), rank), rel=1e-6) for name, rank in TOLD.items())
    a, b = summary(values[:1234]), summary(values[1234:])
    assert merge([a, b])["metrics"] == merge([b, a])["metrics"]


def test_counts_and_rates_add_and_what_has_no_sum_is_left_out() -> None:
    merged = merge([summary([1.0], 30, 1000.0), summary([2.0], 12, 1004.0)])
    assert merged["metrics"]["nsb_sent"] == {"count": 42, "rate": pytest.approx(4.2)}
    assert "vus" not in merged["metrics"]
    assert merged["state"] == {"began_ms": [1000.0, 1004.0]}


def test_a_counter_that_one_part_never_counted_is_the_others() -> None:
    other = summary([1.0], 5)
    del other["metrics"]["nsb_sent"]
    assert merge([other, summary([1.0], 7)])["metrics"]["nsb_sent"]["count"] == 7


@pytest.mark.parametrize(
    "bent", [{}, {"metrics": {}}, {"metrics": {LATENCY: {**told([1.0]), "edges": [1.0]}}, "state": {"began_ms": 0}}, []]
)
def test_a_summary_of_another_form_is_refused(bent: Any) -> None:
    with pytest.raises(SummaryError):
        merge([bent, summary([1.0])])


def test_recorded_parts_merged_are_the_recorded_whole() -> None:
    """Two k6 at once on the two halves of a load of 500/s. The 1,501 latencies of the whole, as k6 wrote them down, had this mean, greatest
    value and percentiles: within 1 %, and within a step of the ranks that parts tell and a value of each part."""
    parts = [json.loads((RECORDINGS / f"k6-halves-part{number}.json").read_text()) for number in (1, 2)]
    load = load_summary(merge(parts))
    assert load.requests == load.latency.count == 1501 == sum(part["metrics"][LATENCY]["count"] for part in parts)
    assert load.sent_all == sum(part["metrics"]["nsb_sent"]["count"] for part in parts)
    assert (load.latency.mean, load.latency.max) == (pytest.approx(0.73084, abs=1e-4), pytest.approx(6.7707, abs=1e-4))
    assert 0.3182 <= (load.latency.p50 or 0) <= 0.3237
    assert 1.2927 <= (load.latency.p90 or 0) <= 1.2953
    assert 1.8485 <= (load.latency.p99 or 0) <= 1.8857
    began = merge(parts)["state"]["began_ms"]
    assert max(began) - min(began) < 50


# --- what each of them is told -----------------------------------------------------------------------------------------


def test_each_k6_has_its_segment_of_one_sequence() -> None:
    program, root = Path("k6"), Path("root")
    commands = [k6.command(program, root, (number, 3)) for number in range(3)]
    assert [command[command.index("--execution-segment") + 1] for command in commands] == ["0:1/3", "1/3:2/3", "2/3:1"]
    assert {command[command.index("--execution-segment-sequence") + 1] for command in commands} == {"0,1/3,2/3,1"}
    assert {Path(command[-1]).name for command in commands} == {"part.js"}
    alone = k6.command(program, root)
    assert "--execution-segment" not in alone
    assert Path(alone[-1]).name == "load.js"


def test_each_k6_is_asked_for_the_edges_that_the_merge_needs() -> None:
    stats = TREND_STATS.split(",")
    assert stats[:4] == ["count", "avg", "min", "max"]
    assert [float(stat[2:-1]) for stat in stats[4:]] == list(STEPS)
    assert all(any(math.isclose(rank * 100, step) for step in STEPS) for rank in TOLD.values())


def test_several_begin_at_one_moment_and_one_alone_when_it_has_booted(registry: Registry) -> None:
    scenario, tier = registry.scenarios["hello-rate"], registry.tiers["smoke"]
    timing = scenario.timing(tier)
    alone, opens_s = k6.cell(scenario, timing, 1, "http://here", 1, 1000.0, Path("summary.json"))
    several, same_s = k6.cell(scenario, timing, 1, "http://here", 1, 1000.0, Path("summary.json"), together=True)
    closes_ms = several["window_to_ms"]
    assert isinstance(closes_ms, int)
    assert opens_s == same_s
    assert (alone["begin_ms"], several["begin_ms"]) == (1_000_000, 1_000_000 + round(timing.boot_s * 1000))
    assert several["duration_ms"] == pytest.approx(closes_ms - 1_000_000 - timing.boot_s * 1000, abs=1)
    assert alone["duration_ms"] == closes_ms - 1_000_000


# --- where they run ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cores", "siblings", "number", "expected"),
    [
        ((0,), plain(range(1)), 2, ((0,), (0,))),
        ((0, 1), plain(range(2)), 2, ((0,), (1,))),
        ((2, 3, 7), plain(range(8)), 2, ((2, 7), (3,))),
        ((0, 1, 2), plain(range(4)), 4, ((0, 1, 2),) * 4),
        ((0, 1, 4, 5), pairs(8), 2, ((0, 4), (1, 5))),
        ((0, 4), pairs(8), 2, ((0,), (4,))),
        ((0, 1, 2), plain(range(4)), 1, ((0, 1, 2),)),
    ],
)
def test_each_generator_has_cores_of_its_own_where_there_are_enough(
    cores: tuple[int, ...], siblings: dict[int, tuple[int, ...]], number: int, expected: tuple[tuple[int, ...], ...]
) -> None:
    groups = parted(cores, number, siblings)
    assert groups == expected
    said = generators_line(groups, siblings)
    if on_one_core(groups) > 1:
        assert "share" in said
        assert "no more than one" in said
    elif number > 1:
        assert said.startswith(f"Generators: {number}, core")
        assert ("SMT" in said) == (cores == (0, 4))


# --- the plan ----------------------------------------------------------------------------------------------------------


def planned(registry: Registry, scenarios: Sequence[str], generators: tuple[tuple[int, ...], ...]) -> plans.Plan:
    return plans.make(registry, "smoke", ["go"], scenarios, "1cpu", 1, 3, generators=generators)


def test_open_rates_and_closed_users_are_divided_and_the_rest_is_told_with_its_reason(registry: Registry) -> None:
    names = list(registry.scenarios)
    plan = planned(registry, names, ((0,), (1,)))
    divided = {scenario.id for scenario in plan.scenarios if plan.generators_of(scenario)}
    assert divided | plan.undivided.keys() == set(names)
    assert not divided & plan.undivided.keys()
    assert {registry.scenarios[name].shape for name in divided} == {"rate", "users"}
    assert all(plan.undivided.values())
    one_user = registry.scenarios["hello-rate"].model_copy(update={"vus": 1})
    assert one_user.undivided(2) == "it has 1 user"
    alone = planned(registry, names, ())
    assert alone.undivided == {}
    assert not any(alone.generators_of(scenario) for scenario in alone.scenarios)


def test_generators_that_take_turns_on_a_core_boot_one_after_the_other(registry: Registry) -> None:
    alone, apart, shared = (planned(registry, ["hello-rate", "cost-hello"], cores) for cores in ((), ((0,), (1,)), ((0,), (0,))))
    rate, cost = alone.scenarios
    assert alone.timing(rate) == apart.timing(rate)
    assert shared.timing(rate).boot_s == 2 * alone.timing(rate).boot_s
    assert shared.timing(rate).window_s == alone.timing(rate).window_s
    assert shared.timing(cost) == alone.timing(cost)
    assert apart.seconds() == alone.seconds() + 2 * plans.PROBE_S


def test_the_scaling_check_asks_one_and_all_of_them() -> None:
    assert [plans.scaling_steps(number) for number in (0, 1, 2, 3, 8)] == [[], [], [1, 2], [1, 2, 3], [1, 2, 4, 8]]


def test_plan_tells_the_generators_and_what_one_drives_alone() -> None:
    done = nsb("plan", "--tier", "smoke", "--contenders", "go", "--scenarios", "hello-rate,cost-hello", "--generators", "2")
    assert done.returncode == 0, done.stderr
    assert "Generators: 2" in done.stdout
    assert "One generator alone for cost-hello: " in done.stdout
    assert "Generators" not in nsb("plan", "--tier", "smoke", "--contenders", "go", "--scenarios", "hello-rate").stdout


# --- the scaling check -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rates", "busy", "level", "words"),
    [
        ({1: 9000, 2: 17_000}, 0.5, "ok", []),
        (
            {1: 9000, 2: 9300},
            0.5,
            "warn",
            ["a second generator adds less than a tenth", "9000/s by 1, 9300/s by 2", "leave --generators out"],
        ),
        ({1: 9000, 2: 17_000, 4: 17_500}, 0.95, "warn", ["more than 2 generators add", "null server was full", "take --generators 2"]),
    ],
)
def test_it_is_told_from_when_on_more_generators_add_nothing(rates: dict[int, int], busy: float, level: str, words: list[str]) -> None:
    probes = [probe(None, answered=round(rate * 1.5), server_busy=busy, generators=number) for number, rate in rates.items()]
    finding = judging.scaling([probe(2000), *probes])
    assert finding.level == level
    assert all(word in f"{finding.sentence} {finding.remedy}" for word in words), finding
    assert finding.inputs["rps_by_1"] == 9000


def test_a_scaling_check_that_failed_says_so() -> None:
    finding = judging.scaling([probe(None), probe(None, generators=2, exit_code=107)])
    assert finding.level == "warn"
    assert "k6 ended with 107" in finding.sentence


# --- a cell of two, with a k6 of paper ---------------------------------------------------------------------------------


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[..., Fakes]]:
    monkeypatch.setattr(session, "must_be_fair", lambda *_: None)  # fakes say nothing of themselves that could be compared
    stages: list[Fakes] = []

    def make(wrong: str = "") -> Fakes:
        monkeypatch.setenv("FAKE_K6", wrong)
        monkeypatch.setenv("FAKE_K6_ONCE", str(tmp_path / "once"))
        stages.append(Fakes(tmp_path, {"a": ""}, generators=2))
        return stages[-1]

    yield make
    for stage in stages:
        stage.close()


def records(fakes: Fakes) -> list[Record]:
    return [Record.model_validate_json(line) for line in (fakes.journal.folder / "cells.jsonl").read_text().splitlines()]


@pytest.mark.slow
def test_two_generators_divide_a_cell_and_their_summaries_are_merged(made: Callable[..., Fakes]) -> None:
    fakes = made()
    fakes.measure()
    (record,) = records(fakes)
    seen = record.observed
    assert seen is not None
    assert seen.load is not None
    assert (seen.load.requests, seen.load.latency) == (40, Trend(40, 1.0, 1.0, 1.0, 1.0, 1.0))  # 100/s for 0.4 s
    assert seen.divided == Divided(cores=[list(own) for own in fakes.plan.generators], began_ms=[0.0, 5.0])
    assert seen.raw is not None
    files = sorted(file.name for file in (fakes.journal.folder / "k6").glob("*.json"))
    name = Path(seen.raw).stem
    assert files == [f"{name}-part1.json", f"{name}-part2.json", f"{name}.json"]
    assert load_summary(json.loads((fakes.journal.folder / seen.raw).read_text())) == seen.load
    cell = judged(record)
    assert cell.counts
    assert not any(doubt.startswith("generators") for doubt in cell.doubts)
    late = record.model_copy(update={"observed": seen.model_copy(update={"divided": Divided(cores=[[0], [0]], began_ms=[1.0, 81.0])})})
    assert "generators: the last of 2 began 80 ms after the first" in judged(late).doubts


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ("crash", "V1 k6 ended with 107"),
        ("killed", "V1 k6 ended with 137"),
        ("no summary", "V1 k6 ended with 0 and left no summary"),
        ("garbage", "V1 k6 ended with 0 and left no summary"),
    ],
)
def test_one_of_two_that_fails_makes_the_cell_invalid_and_it_is_measured_again(made: Callable[..., Fakes], wrong: str, reason: str) -> None:
    fakes = made(wrong)
    fakes.measure()
    first, second = map(judged, records(fakes))
    assert first.status == "invalid"
    assert first.reasons[0].startswith(reason)
    assert first.throughput_rps is None
    assert second.counts
    parts = list((fakes.journal.folder / "k6").glob("*try2-part*.json"))
    assert len(parts) == 2  # both were asked again


def test_this_machine_can_divide_its_generator() -> None:
    cores = host.placement("1cpu").generator
    assert len(host.parted(cores, 2)) == 2
    assert {core for group in host.parted(cores, 2) for core in group} == set(cores)
