"""Overload cells: figures from what was observed, what stands against them, and how they are shown. No clock and no service."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conftest import recorded
from nsb.analyse import judge
from nsb.analyse import table as tables
from nsb.analyse.cells import judged, read_cells
from nsb.analyse.overload import overloaded
from nsb.analyse.physics import Impossible
from nsb.measure import generator, overload
from nsb.measure.generator import Open
from nsb.records.cells import Record
from nsb.records.duet import Part, Series
from nsb.records.edge import Edge
from nsb.records.judged import Cell
from nsb.records.overload import Level, Overload, Tally, lowest_us
from nsb.records.owners import ENDED, Owned
from nsb.registry import plan as plans
from nsb.registry import shapes
from nsb.registry.load import Registry
from nsb.render import charts, markdown, words
from nsb.render import overload as shown
from planted import plan

BENCH = Path(__file__).resolve().parents[1]
CAPACITY, WINDOW_S = 5000.0, 2.0
ROLES = ("service", "generator", "database", "upstream", "harness")


def bucket(us: int) -> int:
    """As bench/generator/open.go."""
    shift = max(0, us.bit_length() - 5)
    return (shift << 4) + (us >> shift)


def tally(arrivals: int, good: int, latency_us: int = 900, **changes: Any) -> Tally:
    told = {
        "arrivals": arrivals, "good": good, "good_first": good // 2, "gave_up": arrivals - good, "unsent": 0, "refused": 0, "reset": 0,
        "statuses": {}, "queued": 0, "latency_from": bucket(latency_us), "latencies": [good] if good else [], "lag_p99_ms": 0.3,
        "lag_max_ms": 1.2, "opened": 40, "most_open": 40, "sent_of": [arrivals + 3], "answered_of": [good + 3], "back_ms": -1.0,
        "singles": 0,
    }  # fmt: skip
    return Tally(**{**told, **changes})


def edges(at_s: float, service: float = 0.98) -> tuple[Edge, Edge]:
    """A window in which the service used so much of its core, and the others half of theirs."""
    share = {"service": service, "generator": 0.2, "database": 0.28, "upstream": 0.0, "harness": 0.02}
    first = Edge(at_s, dict.fromkeys(ROLES, 10.0), 100.0, 1.0)
    last = Edge(
        at_s + WINDOW_S, {role: 10.0 + WINDOW_S * share[role] for role in ROLES}, 100.0 + WINDOW_S * (sum(share.values()) + 0.01), 1.0
    )
    return first, last


def level(percent: int, users: Tally) -> Level:
    first, last = edges(2000.0 + percent)
    rate = CAPACITY * percent / 100 if percent else 50.0
    return Level(percent=percent, rate=rate, first=first, last=last, pss_mib=40.0 + percent / 10, threads=9, users=users)


def asked(percent: int, good_share: float = 1.0, **changes: Any) -> Level:
    """`good_share`: of the capacity, or of all who come where that is less."""
    arrivals = round(CAPACITY * percent / 100 * WINDOW_S)
    return level(percent, tally(arrivals, round(min(arrivals, good_share * CAPACITY * WINDOW_S)), **changes))


def observed(levels: list[Level] | None = None, **changes: Any) -> Overload:
    first, last = edges(1000.0)
    at = [999.5 + 0.25 * n for n in range(12)]
    answers = [round(CAPACITY * 0.25 * n) for n in range(12)]
    usual = [asked(80), asked(100, back_ms=0.0), asked(150, 0.8, latency_us=240_000, back_ms=40.0, singles=9)]
    told = {
        "parts": [Part(scenario="read", statements=1, writes=False, reads_a_row=True, calls=0, call_ms=0)],
        "vus": 64, "connections": 8000, "give_up_ms": 250, "hold_ms": 0, "window_s": WINDOW_S,
        "series": Series(at_s=at, answers=answers, service_cpu_s=[0.1 * n for n in range(12)], generator_cpu_s=[0.0] * 12),
        "first": first, "last": last, "answers_of": [14_000], "least_ms": 0.4, "wrong": None, "bursts": [90.0, 80.0, 80.0],
        "idle": level(0, tally(50, 50, latency_us=400)), "levels": usual if levels is None else levels, "quick_ms": 5.4, "limit_s": 10.0,
        "cores": {"service": 1, "generator": 1, "database": 1, "upstream": 1, "machine": 2},
        "shared": ["generator", "database", "upstream"], "executed": None, "inserted": None, "called": None, "rehearsal": False,
        "owned": faulty(),
    }  # fmt: skip
    found = Overload(**{**told, "counted": 0, **changes})
    if "counted" in changes or found.idle is None:
        return found
    return found.model_copy(update={"counted": 14_000 + sum(sum(each.users.answered_of) for each in (found.idle, *found.levels))})


def faulty(*faults: str) -> Owned:
    return Owned(contender="go", looks=2, accepted=64, pool=150, faults=[*faults], unread=[])


def record(seen: Overload, contender: str = "go", round_: int = 1) -> Record:
    return recorded(contender, round_, "over", overload=seen)


def cell(seen: Overload) -> Cell:
    return judged(record(seen))


# --- figures -------------------------------------------------------------------------------------------------------------


def test_goodput_is_in_percent_of_the_capacity_and_latency_is_that_of_answers_in_time() -> None:
    found = cell(observed())
    assert (found.status, found.reasons, found.doubts, found.limit) == ("valid", [], [], "cpu")
    assert found.throughput_rps == pytest.approx(CAPACITY)
    assert found.headline("goodput") == pytest.approx(80.0)
    assert found.overload is not None
    assert [each.percent for each in found.overload.levels] == [80, 100, 150]
    assert [each.goodput for each in found.overload.levels] == pytest.approx([80.0, 100.0, 80.0])
    last = found.overload.levels[-1]
    assert last.p99_ms == pytest.approx(240.0, rel=1 / 16)
    assert (last.back_ms, found.overload.levels[0].back_ms) == (40.0, None)
    assert found.overload.idle_ms == pytest.approx(0.4, rel=1 / 16)
    assert found.memory_peak_mib == 55.0


def test_a_service_that_answers_nobody_in_time_has_a_figure_too() -> None:
    found = cell(observed([asked(150, 0.0)]))
    assert found.headline("goodput") == 0.0
    assert found.overload is not None
    assert found.overload.levels[0].p99_ms is None


def test_buckets_are_those_of_the_generator() -> None:
    before = -1
    for us in (*range(200), 999, 12_345, 250_000, 9_999_999):
        number = bucket(us)
        assert lowest_us(number) <= us < lowest_us(number + 1)
        assert number >= before
        before = number


def test_histograms_of_two_loads_can_be_added() -> None:
    both = tally(300, 300, latency_from=bucket(100), latencies=[100, *[0] * (bucket(3000) - bucket(100) - 1), 200])
    assert both.quantile_ms(0.3) == pytest.approx(0.1, rel=1 / 16)
    assert both.quantile_ms(0.5) == pytest.approx(3.0, rel=1 / 16)


# --- what stands against them -------------------------------------------------------------------------------------------


def test_a_level_at_which_the_generator_was_late_has_no_verdict_and_is_named() -> None:
    found = cell(observed([asked(80), asked(150, lag_p99_ms=25.5)]))
    assert (found.status, found.headline("goodput")) == ("valid", None)
    assert found.doubts == ["V3 the generator was late at 150 % (25.5 ms): no verdict rests on that"]


def test_a_little_lateness_takes_away_the_latency_alone_and_is_shown() -> None:
    found = cell(observed([asked(80), asked(150, 0.8, lag_p99_ms=7.5)]))
    assert (found.status, found.doubts, found.headline("goodput")) == ("valid", [], pytest.approx(80.0))
    assert found.overload is not None
    assert [each.p99_ms is None for each in found.overload.levels] == [False, True]
    (told,) = overloaded([found, found], ["go"])
    assert shown.grids([told])[0].rows[0][-1] == "7.50"


def test_a_service_that_breaks_down_has_its_levels_and_the_table_says_so() -> None:
    found = [cell(observed(broke="it ended", counted=None, owned=faulty(f"1 {ENDED}"))), cell(observed())]
    assert [(each.status, each.doubts, each.headline("goodput")) for each in found] == [("valid", [], pytest.approx(80.0))] * 2
    (told,) = overloaded(found, ["go"])
    (grid,) = shown.grids([told])
    assert (told.broke, dict(zip([head.en for head in grid.heads], grid.rows[0][1:], strict=True))["broke down, rounds"]) == (1, "1")


@pytest.mark.parametrize(
    ("changes", "check", "says"),
    [
        ({"wrong": "asked X, got Y"}, "V1", "asked X, got Y"),
        ({"counted": 10}, "V5", "the service counted 10 requests"),
        ({"hold_ms": 5}, "V6", "an answer came within 0.4 ms where a request must wait 5 ms"),
        ({"owned": faulty(f"1 {ENDED}")}, "V9", f"go: 1 {ENDED}"),
        ({"owned": faulty("2 processes came under load"), "broke": "it ended"}, "V9", "go: 2 processes came under load"),
        ({"executed": 7}, "V9", "the database executed 7 statements where it should be "),
        ({"called": 7}, "V9", "the upstream got 7 calls where it should be 0 to 0"),
        ({"inserted": 7}, "V9", "the database has 7 new rows where it should be 0 to 0"),
    ],
)
def test_what_a_request_must_do_was_done(changes: dict[str, Any], check: str, says: str) -> None:
    found = cell(observed(**changes))
    assert found.status == "invalid"
    assert any(reason.startswith(f"{check} ") and says in reason for reason in found.reasons), found.reasons


def test_requests_whose_users_have_left_may_be_counted_or_not() -> None:
    answered = observed().counted
    assert answered is not None
    left = sum(each.users.gave_up for each in observed().levels)
    for counted, status in ((answered, "valid"), (answered + left, "valid"), (answered + left + 1, "invalid"), (answered - 1, "invalid")):
        assert cell(observed(counted=counted, executed=answered + left // 2)).status == status


def test_a_capacity_that_is_not_the_services_own_is_doubted() -> None:
    first, last = edges(1000.0, service=0.5)
    found = cell(observed(first=first, last=last))
    assert (found.limit, found.doubts) == ("offered", ["V6 nothing was full at the capacity: it is what these users ask for"])
    full = {**last.cpu, "database": first.cpu["database"] + 0.75 * WINDOW_S}
    found = cell(observed(first=first, last=Edge(last.at_s, full, last.busy_s + WINDOW_S, last.steal_s)))
    assert (found.limit, found.doubts[0]) == ("database", "V6 the database was full at the capacity, not the service")


def test_what_the_hypervisor_takes_of_a_capacity_is_a_doubt() -> None:
    first, last = edges(1000.0)
    found = cell(observed(first=first, last=Edge(last.at_s, last.cpu, last.busy_s, last.steal_s + WINDOW_S)))
    assert any(doubt.startswith("V7 the hypervisor took") for doubt in found.doubts)


def test_users_who_get_more_than_the_capacity_are_a_doubt() -> None:
    (doubt,) = cell(observed([asked(150, 1.2)])).doubts
    assert doubt == "V8 users had 120% of the capacity: it is more than what was measured"


def test_users_who_wait_for_a_connection_are_a_doubt() -> None:
    (doubt,) = cell(observed([asked(150, queued=1500)])).doubts
    assert doubt == "V9 users waited for one of 8,000 connections: 10% at 150 %"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"gave_up": 1}, "at 150 %: 15000 users came; 15000 had an answer in time, 1 gave up and 0 had an error"),
        ({"latencies": [3]}, "at 150 %: 3 latencies of 15000 answers in time"),
        ({"unsent": 4}, "at 150 %: 4 of 0 without a request"),
        ({"answered_of": [20_000]}, "at 150 %: 20000 answers to 15003 requests"),
    ],
)
def test_each_user_ended_in_one_way(changes: dict[str, Any], says: str) -> None:
    line = record(observed([level(150, tally(15_000, 15_000, **changes))])).line()
    with pytest.raises(Impossible, match=re.escape(says)):
        read_cells([line.encode()])


def test_a_record_is_read_as_it_was_written() -> None:
    (found,) = read_cells([record(observed()).line().encode()])
    assert found.overload == cell(observed()).overload


# --- what the generator is told, and tells ---------------------------------------------------------------------------------


def test_an_open_load_has_the_keys_that_the_generator_reads_and_a_tally_those_that_it_writes(registry: Registry) -> None:
    source = (BENCH / "generator" / "open.go").read_text(encoding="utf-8")
    ordered, told = source.split("type Tally struct")[0], source.split("type Tally struct")[1].split("type user struct")[0]
    assert set(Open._fields) == set(re.findall(r'`json:"(\w+)"`', ordered))
    assert set(Tally.model_fields) == set(re.findall(r'`json:"(\w+)(?:,omitempty)?"`', told))
    scenario = next(each for each in registry.scenarios.values() if isinstance(each, shapes.Overload))
    what = generator.order(generator.targets(scenario), "http://127.0.0.1:1", [], 1, 9, 1, 1, users=Open(1.5, 10.0, 1, 2, 3, 4, 5.0, 6))
    assert what["open"] == {
        "at_s": 1.5, "rate_per_s": 10.0, "lead_ms": 1, "window_ms": 2, "tail_ms": 3, "give_up_ms": 4, "quick_ms": 5.0, "limit_ms": 6,
    }  # fmt: skip


class Course(overload._Course):
    """Without a service: each level ends as `told` says, and is remembered with the process that it was sent to."""

    def __init__(self, scenario: shapes.Overload, timing: Any, told: dict[int, Tally], ends: Collection[int] = ()) -> None:
        """`ends`: levels that the service does not live through."""
        ground = SimpleNamespace(stage=SimpleNamespace(placement=SimpleNamespace(service=(1,))))
        first: Any = SimpleNamespace(number=1)
        super().__init__(ground, scenario, timing, first, self.why_lost, self.started)  # type: ignore[arg-type]
        self._caused: Any = SimpleNamespace(midway=lambda: None)
        self._looks: Any = [SimpleNamespace(owned=lambda: faulty(f"of {self.running.number}"))]  # type: ignore[attr-defined]
        self.told, self.ends = told, ends
        self.sent: list[tuple[int, float, float | None]] = []
        self.to: list[int] = []

    def why_lost(self, running: Any) -> str | None:
        return f"process {running.number} ended" if self.sent[-1][0] in self.ends else None

    def started(self) -> Any:
        return SimpleNamespace(number=self.running.number + 1)  # type: ignore[attr-defined]

    def capacity_users(self, cost_us: float) -> int:
        self.running.bursts = [cost_us]
        return self._users

    def _level(self, percent: int, rate: float, phases: tuple[float, float, float], quick_ms: float | None) -> Level:
        self.sent.append((percent, rate, quick_ms))
        self.to.append(self.running.number)  # type: ignore[attr-defined]
        return level(percent, self.told.get(percent, tally(10, 10)))


def test_levels_are_shares_of_the_capacity_and_recovery_is_asked_from_the_capacity_on(registry: Registry) -> None:
    scenario = next(each for each in registry.scenarios.values() if isinstance(each, shapes.Overload))
    course = Course(scenario, scenario.timing(registry.tiers["smoke"]), {0: tally(50, 50, latency_us=400)})
    found = course._levels(observed([]))
    assert [percent for percent, _, _ in course.sent] == [0, *scenario.levels]
    assert [rate for _, rate, _ in course.sent[1:]] == pytest.approx([CAPACITY * percent / 100 for percent in scenario.levels])
    assert [quick is not None for _, _, quick in course.sent[1:]] == [percent >= 100 for percent in scenario.levels]
    assert found.quick_ms == pytest.approx(5.4, abs=0.05)
    users = {cost_us: course.capacity_users(cost_us) for cost_us in (100.0, 25_000.0, 1e6)}
    assert users == {100.0: scenario.vus, 25_000.0: 10, 1e6: 1}, "no more than have their answers within what a user waits"
    course = Course(scenario, scenario.timing(registry.tiers["smoke"]), {80: tally(10, 10, wrong="asked X, got Y")})
    found = course._levels(observed([]))
    assert (found.wrong, [each.percent for each in found.levels]) == ("asked X, got Y", [50, 80])


def test_a_service_that_does_not_live_through_a_level_is_started_again_for_the_next_one(registry: Registry) -> None:
    """In 20261125-overload a JVM hung from 120 % on, and its 0 % at 150 % was that of a process that had hung before it was asked."""
    scenario = registry.scenarios["overload-wait"]
    assert isinstance(scenario, shapes.Overload)
    course = Course(scenario, scenario.timing(registry.tiers["smoke"]), {0: tally(50, 50), 80: tally(9, 9, back_ms=4.0)}, ends=(120, 150))
    found = course._levels(observed([]))
    assert list(zip([percent for percent, _, _ in course.sent], course.to, strict=True)) == [
        (0, 1), (50, 1), (80, 1), (100, 1), (120, 1), (150, 2), (200, 3),
    ]  # fmt: skip
    assert {each.percent: each.broke for each in found.levels if each.broke} == {120: "process 1 ended", 150: "process 2 ended"}
    assert course._owned == faulty("of 1"), "whose the sockets are is asked of the process whose capacity it is"
    (told,) = overloaded([cell(found.model_copy(update={"broke": "it ended", "counted": None}))], ["go"])
    (grid,) = shown.grids([told])
    assert dict(zip([head.en for head in grid.heads], grid.rows[0][1:], strict=True))["broke down, rounds"] == "1 (120–150 %)"


# --- the plan ------------------------------------------------------------------------------------------------------------


def test_an_overload_is_announced_with_its_levels_and_comes_last(registry: Registry) -> None:
    found = [each for each in registry.scenarios.values() if isinstance(each, shapes.Overload)]
    assert len(found) >= 3
    for scenario in found:
        timing = scenario.timing(registry.tiers["smoke"])
        lead, window, tail = scenario.phases(timing)
        assert (window, tail) == (registry.tiers["smoke"].window_s, scenario.give_up_ms / 1000)
        assert lead > scenario.give_up_ms / 1000
        assert timing.window_s == pytest.approx(len(scenario.levels) * (lead + window + tail))
        assert 20 < timing.total_s < 60
        assert not scenario.tiers
    made = plans.make(registry, "smoke", ["go"], ["hello-rate", found[0].id, "in-flight-memory", "cost-hello"], "1cpu", 1, 1)
    assert [slot.scenario.id for slot in made.slots(1)] == ["in-flight-memory", "hello-rate", "cost-hello", found[0].id]
    assert {row.id for row in shapes.cost_rows(found)} >= set(found[0].parts)
    cut = found[0].within(4096)
    assert isinstance(cut, shapes.Overload)
    assert cut.connections < 4096


def test_the_headlines_level_is_one_of_them(registry: Registry) -> None:
    scenario = next(each for each in registry.scenarios.values() if isinstance(each, shapes.Overload))
    told = scenario.model_dump(exclude={"rows"})
    with pytest.raises(ValueError, match="one of the levels must be 150"):
        shapes.scenario_of({**told, "levels": [50, 100]})


# --- over the rounds, and shown ------------------------------------------------------------------------------------------


def rounds_of(contender: str, share: float, count: int = 6, **changes: Any) -> list[Cell]:
    return [
        judged(record(observed([asked(80), asked(100), asked(150, share + n / 1000, latency_us=200_000, **changes)]), contender, n))
        for n in range(1, count + 1)
    ]


def facts(contenders: list[str], rounds: int = 6) -> dict[str, Any]:
    run = plan(rounds)
    run["plan"] |= {
        "contenders": contenders, "scenarios": ["over"], "headlines": {"over": "goodput"}, "models": {"over": "closed"}, "controls": {},
        "rates": {"over": None}, "asked": {},
    }  # fmt: skip
    return run


def test_over_the_rounds_a_level_has_its_spread_and_rounds_that_were_not_back_are_counted() -> None:
    found = rounds_of("go", 0.9, back_ms=30.0)
    (told,) = overloaded(found, ["go"])
    at = told.at(150)
    assert at is not None
    assert at.goodput is not None
    assert (at.goodput.starts, at.goodput.value) == (6, pytest.approx(90.35, abs=0.01))
    assert at.back_ms is not None
    assert (at.not_back, at.back_ms.value) == (0, pytest.approx(30.0))
    lost = judged(record(observed([asked(150, 0.9)]), "go", 6))
    (told,) = overloaded([*found[:5], lost], ["go"])
    at = told.at(150)
    assert at is not None
    assert (at.not_back, at.back_ms) == (1, None)
    (grid,) = shown.grids([told])
    assert ">10,000 (1)" in grid.rows[0]
    assert len(grid.rows[0]) == 1 + len(grid.heads)


def test_goodput_that_is_near_nothing_in_one_round_has_the_mean_that_users_see() -> None:
    cells = [*rounds_of("go", 0.9, 5), judged(record(observed([asked(150, 0.0)]), "go", 6))]
    (told,) = overloaded(cells, ["go"])
    at, entry = told.at(150), tables.make(facts(["go"]), cells).entry("go", "over")
    assert at is not None
    assert at.goodput is not None
    assert entry.figure is not None
    assert (at.goodput.value, entry.figure.value) == (pytest.approx(75.2, abs=0.1), pytest.approx(75.2, abs=0.1))
    assert 0 <= at.goodput.low < at.goodput.value < at.goodput.high
    assert words.spread(entry) == "±39 points"


def test_where_nobody_is_served_the_figure_is_zero_and_verdicts_rest_on_it() -> None:
    cells = [judged(record(observed([asked(150, 0.0)]), "go", n)) for n in range(1, 7)]
    assert judge.series(cells, "over", "go", "goodput") == dict.fromkeys(range(1, 7), 0.0)
    entry = tables.make(facts(["go"]), cells).entry("go", "over")
    assert entry.figure is not None
    assert (entry.figure.value, entry.figure.low, entry.figure.high) == (0.0, 0.0, 0.0)
    assert (words.figure(entry).rstrip("?"), words.spread(entry)) == ("0.00", "±0.0 points")


def test_a_level_tells_how_many_rounds_it_has_and_nothing_below_five_of_six() -> None:
    def seen(rounds: range, lag_p99_ms: float) -> list[Cell]:
        return [judged(record(observed([asked(100), asked(150, 0.9, lag_p99_ms=lag_p99_ms)]), "go", n)) for n in rounds]

    (one,) = overloaded([*seen(range(1, 6), 0.2), *seen(range(6, 7), 30.0)], ["go"])
    (grid,) = shown.grids([one])
    assert [figure.endswith(" 5/6") for figure in grid.rows[0][3:5]] == [False, True]
    cells = [*seen(range(1, 5), 0.2), *seen(range(5, 7), 30.0)]
    (two,) = overloaded(cells, ["go"])
    at = two.at(150)
    assert at is not None
    assert (at.late, at.goodput, at.p99_ms) == (2, None, None)
    (grid,) = shown.grids([two])
    assert (grid.rows[0][3][0].isdigit(), grid.rows[0][4]) == (True, "–")
    run = facts(["go"])
    drawn = {chart.id: chart for chart in charts.charts(tables.make(run, cells), run, cells, [])}["goodput-over"]
    assert ["v" in row for row in drawn.specs["en"]["datasets"]["rows"]] == [True, False]


def test_a_run_of_them_has_a_row_a_table_and_two_charts() -> None:
    run, cells = facts(["go", "slow"]), [*rounds_of("go", 0.98, back_ms=2.0), *rounds_of("slow", 0.05, back_ms=900.0)]
    table = tables.make(run, cells)
    assert "| **over**<br><sub>% of its capacity</sub> | 98.4" in markdown.table_block(table)
    heading, _, grid = shown.section(shown.grids(table.overloaded), "overload")
    assert heading == "## Overload\n"
    assert re.search(r"\| slow \| 6 \| 5,000 .*\| 5\.35 \(", grid)
    drawn = {chart.id: chart for chart in charts.charts(table, run, cells, []) if chart.kind == "overload"}
    assert list(drawn) == ["goodput-over", "p99-over"]
    rows = drawn["goodput-over"].specs["en"]["datasets"]["rows"]
    assert [row["v"] for row in rows if row["name"] == "slow"] == pytest.approx([80.0, 100.0, 5.35], abs=0.01)
    assert "least from slow with 5.35 %" in drawn["goodput-over"].alt.en
    assert json.dumps(drawn["goodput-over"].specs["ko"])


def test_one_round_has_the_spread_of_its_halves() -> None:
    cells = rounds_of("go", 0.9, 1)
    entry = tables.make(facts(["go"], 1), cells).entry("go", "over")
    assert entry.figure is not None
    assert (entry.figure.spread, entry.figure.value) == ("halves", pytest.approx(90.1))


def test_a_level_at_which_the_generator_was_late_breaks_the_line() -> None:
    cells = rounds_of("go", 0.9, 2, lag_p99_ms=30.0)
    run = facts(["go"], 2)
    drawn = {chart.id: chart for chart in charts.charts(tables.make(run, cells), run, cells, [])}["goodput-over"]
    assert ["v" in row for row in drawn.specs["en"]["datasets"]["rows"]] == [True, True, False]
    assert drawn.rows[-1][1:3] == ["150 %", "–"]
    assert any("late" in note.en for note in drawn.notes)
