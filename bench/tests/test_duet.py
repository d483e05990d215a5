"""Cost cells: the estimate, what stands against a cheat, and the anchor. Synthetic series with a seed; nothing here is timed."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Sequence
from typing import Any

import pytest

from conftest import recorded
from nsb.analyse import duet
from nsb.analyse import table as tables
from nsb.analyse.cells import judged
from nsb.analyse.quality import quality
from nsb.analyse.stats import contrast
from nsb.records.cells import Record
from nsb.records.duet import Driven, Duet, Hang, Midway, Part, Series, Speed, until_steady
from nsb.records.judged import Cell
from nsb.records.starts import Start
from nsb.render import html_table, precision, words

WINDOWS, EVERY = 12, 0.25
OPENS = 1000.5


def series(cost_us: float, noise: Sequence[float], share: float = 0.25) -> Series:
    """A service that uses `share` of a core, and needs cost_us × noise for a request in each window; a settle of two readings before."""
    at, answers, cpu = [OPENS - 2 * EVERY], [0], [0.0]
    for factor in [1.0, 1.0, *noise]:
        at.append(at[-1] + EVERY)
        cpu.append(cpu[-1] + share * EVERY)
        answers.append(answers[-1] + round(share * EVERY / (cost_us * factor) * 1e6))
    return Series(at_s=at, answers=answers, service_cpu_s=cpu, generator_cpu_s=[0.0] * len(at))


def batches(cost_us: float, every_s: float, phase_s: float) -> Series:
    """A service on half a core that gives all answers of `every_s` at once: read every 10 ms, and told as bench/generator/load.go does."""
    told = Series(at_s=[], answers=[], service_cpu_s=[], generator_cpu_s=[])
    samples: list[tuple[int, float]] = []
    for number in range(round(12 * EVERY * 100) + 1):
        now_s = number / 100
        samples.append((math.floor((now_s + phase_s) / every_s) * round(every_s * 0.5 / cost_us * 1e6), 0.5 * now_s))
        if number % round(EVERY * 100) == 0:
            told.at_s.append(now_s)
            told.answers.append(samples[-1][0])
            told.service_cpu_s.append(samples[-1][1])
            told.generator_cpu_s.append(0.0)
            told.mean_answers.append(statistics.fmean(answers for answers, _ in samples))
            told.mean_service_cpu_s.append(statistics.fmean(cpu_s for _, cpu_s in samples))
            samples.clear()
    return told


def test_which_batches_of_an_event_loop_a_window_has_is_no_part_of_its_cost() -> None:
    """512 users of a loop that needs 0.3 s for all of them: of eight readings a window has six or seven batches."""
    by_means, by_moments = [], []
    for phase in range(30):
        window = batches(300.0, 0.3072, phase / 100).between(0.5, 2.25)
        by_means.append(window.cost() or 0.0)
        by_moments.append(window.model_copy(update={"mean_answers": [], "mean_service_cpu_s": []}).cost() or 0.0)
        assert len(window.costs()) == 7  # also where a quarter of a second had no answer
    assert max(by_moments) - min(by_moments) > 40
    assert 290 < min(by_means) < max(by_means) < 310


def driven(name: str, found: Series, **changes: Any) -> Driven:
    return Driven(
        **{
            "contender": name,
            "series": found,
            "answers": found.answers[-1] + 10,
            "opened": 64,
            "wrong": None,
            "counted": found.answers[-1] + 10,
            "bursts": [30.0, 20.0, 19.9],
            "waited_s": 0.74 * WINDOWS * EVERY,
            "least_ms": 5.2,
            **changes,
        }
    )


def cell_of(own_us: float, partner_us: float | None, noise: Sequence[float] | None = None, **changes: Any) -> Duet:
    """Both feel the same noise: what slows the machine falls on both."""
    noise = noise or [1.0] * WINDOWS
    own = driven("slow", series(own_us, noise))
    partner = None if partner_us is None else driven("ref", series(partner_us, noise))
    answers = own.answers + (partner.answers if partner is not None else 0)
    return Duet(
        **{
            "own": own,
            "partner": partner,
            "connections": 64,
            "competitors": 2,
            "opens_s": OPENS,
            "closes_s": OPENS + WINDOWS * EVERY,
            "cpu_s": {"database": 0.1},
            "foreign_s": 0.0,
            "steal_s": 0.0,
            "service_cores": 1,
            "cores": 2,
            "statements": 1,
            "executed": answers + 1,
            "inserted": answers,
            "called": 3 * answers,
            "calls": 3,
            "call_ms": 5,
            "asked_ms": 15 * answers,
            "hold_ms": 5,
            "selects": 0,
            "inserts": answers + 1,
            "keys_read": answers,
            "rehearsal": False,
            "speeds": [Speed(at_s=1.0, register_steps_per_us=500.0, memory_steps_per_us=100.0)],
            **changes,
        }
    )


def record(found: Duet, contender: str = "slow", round_: int = 1) -> Record:
    return recorded(contender, round_, "cost-read", duet=found)


def test_a_neighbours_minute_falls_on_both_and_leaves_the_ratio() -> None:
    draw = random.Random(1)
    noisy = [draw.choice([1.0, 1.9]) for _ in range(WINDOWS)]
    found = duet.figure(cell_of(40.0, 20.0, noisy))
    assert found is not None
    assert found.ratio is not None
    assert found.ratio == pytest.approx(2.0, rel=0.01)
    assert found.own_us > 42.0  # its own absolute figure does feel it


def test_a_collection_of_garbage_in_one_window_is_part_of_the_cost() -> None:
    own = driven("slow", series(40.0, [1.0] * 5 + [13.0] + [1.0] * 6))
    found = duet.figure(cell_of(40.0, 20.0).model_copy(update={"own": own}))
    assert found is not None
    assert found.ratio == pytest.approx(2.0 * WINDOWS / (WINDOWS - 1 + 1 / 13), rel=0.01)


def test_two_equal_programs_are_told_apart_in_few_runs_only() -> None:
    """Six rounds of 4 % per window and 1 % per start, 300 times: the 95 % interval misses 1 in about 5 %."""
    draw, misses = random.Random(7), 0
    for _ in range(300):
        x = []
        for _ in range(6):
            start = math.exp(draw.gauss(0, 0.01))
            own, partner = (series(20.0 * s, [math.exp(draw.gauss(0, 0.04)) for _ in range(WINDOWS)]) for s in (start, 1.0))
            x.append(duet.log_ratio(own.between(OPENS, OPENS + 9), partner.between(OPENS, OPENS + 9)))
        interval = contrast(x).interval(0.95)
        misses += not interval.low <= 0 <= interval.high
    assert misses <= 27  # 15 expected; 27 or more in less than 1 of 300 such tests


def test_an_honest_cell_is_valid_and_without_doubt() -> None:
    cell = judged(record(cell_of(40.0, 20.0)))
    assert (cell.status, cell.reasons, cell.doubts, cell.limit) == ("valid", [], [], "cpu")
    assert cell.throughput_rps == pytest.approx(1e6 / 40.0, rel=0.01)


CLOSES = OPENS + WINDOWS * EVERY


def midway(at_s: float, share: float = 1.0) -> Midway:
    """A look at what this share of the answers by that moment causes."""
    done = round(share * sum(each.series.between(0.0, at_s).answers[-1] for each in (PLAIN.own, PLAIN.partner) if each is not None))
    return Midway(from_s=at_s, until_s=at_s + 0.01, executed=done, inserted=done, called=3 * done)


PLAIN = cell_of(40.0, 20.0)
HONEST = PLAIN.model_copy(update={"midway": [midway(OPENS), midway(CLOSES)]})


@pytest.mark.parametrize(
    ("changes", "status", "says"),
    [
        ({"own": HONEST.own.model_copy(update={"wrong": "asked 'GET /books/1', got '{}'"})}, "invalid", "V1 slow: asked"),
        ({"own": HONEST.own.model_copy(update={"counted": HONEST.own.answers * 10})}, "invalid", "V5 slow counted"),
        ({"own": HONEST.own.model_copy(update={"counted": HONEST.own.answers - 1})}, "invalid", "V5 slow counted"),
        ({"executed": 0}, "invalid", "V9 the database executed 0 statements"),
        ({"inserted": 0}, "invalid", "V9 the database has 0 new rows"),
        ({"called": 0}, "invalid", "V9 the upstream got 0 calls"),
        ({"asked_ms": 0}, "invalid", "V9 the upstream was to wait 0 ms in all"),
        ({"selects": 5, "inserts": 0, "inserted": None}, "invalid", f"V9 5 of {HONEST.executed} statements were SELECT"),
        ({"keys_read": 7}, "invalid", "V9 the database looked up 7 rows by key"),
        ({"own": HONEST.own.model_copy(update={"least_ms": 0.4})}, "invalid", "V6 slow answered within 0.4 ms what must wait 5 ms"),
        (
            {"own": HONEST.own.model_copy(update={"prepares": True}), "prepared": 40},
            "invalid",
            f"V9 40 statements were prepared ones, where slow must have executed {HONEST.own.answers}",
        ),
        ({"own": HONEST.own.model_copy(update={"odd": 64})}, "invalid", f"V5 slow counted {HONEST.own.answers} requests, the generator"),
        ({"own": HONEST.own.model_copy(update={"opened": 70})}, "valid", "V9 slow closed 6 connections"),
        ({"own": HONEST.own.model_copy(update={"waited_s": 0.2})}, "valid", "V6 slow had work for 32%"),
        ({"own": HONEST.own.model_copy(update={"waited_s": None})}, "valid", "V6 how long slow waited"),
        ({"foreign_s": 1.0}, "valid", "V7 other programs used 17%"),
        ({"steal_s": 1.0}, "valid", "V7 the hypervisor took 17%"),
        ({"midway": [midway(OPENS), midway(CLOSES, 0.5)]}, "invalid", "V9 when the window closed there were"),
        ({"midway": [midway(OPENS, 3.0), midway(CLOSES)]}, "invalid", "V9 when the window opened there were"),
        (
            {"hung": Hang(whom="database", from_s=OPENS + 1.0, until_s=OPENS + 1.6)},
            "invalid",
            "V9 slow answered 1562 requests on 64 connections while the database hung: it does not wait for it",
        ),
        ({"rounds": 30_000}, "invalid", "V6 slow used 40.0 µs for a request whose rounds take 60.0 µs in registers"),
    ],
)
def test_each_check_has_a_planted_violation(changes: dict[str, Any], status: str, says: str) -> None:
    cell = judged(record(HONEST.model_copy(update=changes)))
    assert cell.status == status
    assert any(sentence.startswith(says) for sentence in [*cell.reasons, *cell.doubts]), [*cell.reasons, *cell.doubts]


@pytest.mark.parametrize(("partner_us", "border"), [(20.0, 0.15), (None, 0.02)])
def test_a_ratio_bears_more_of_what_the_hypervisor_takes_than_the_reference_alone(partner_us: float | None, border: float) -> None:
    def noise(share: float) -> list[str]:
        found = cell_of(40.0, partner_us)
        taken = found.model_copy(update={"steal_s": share * WINDOWS * EVERY * found.cores})
        return [doubt for doubt in judged(record(taken)).doubts if doubt.startswith("V7")]

    assert noise(border - 0.01) == []
    assert noise(border + 0.01) == [f"V7 the hypervisor took {border + 0.01:.0%} of the machine"]


def test_an_honest_cell_is_looked_at_under_its_load_and_while_its_database_hangs() -> None:
    until_s = CLOSES + 0.6
    series_ = HONEST.own.series
    stands = {
        "at_s": [*series_.at_s, CLOSES + 0.01, CLOSES + 0.25, CLOSES + 0.5],
        "answers": [*series_.answers, *[series_.answers[-1]] * 3],
    }
    columns = {name: [*column, *column[-1:] * 3] for name, column in series_.model_dump().items()}
    own = HONEST.own.model_copy(update={"series": Series(**{**columns, **stands})})
    found = HONEST.model_copy(update={"own": own, "hung": Hang(whom="database", from_s=CLOSES, until_s=until_s), "rounds": 5_000})
    cell = judged(record(found))
    assert (cell.status, cell.reasons, cell.doubts) == ("valid", [], [])


@pytest.mark.parametrize(("late", "cheats"), [(0, False), (64, False), (65, True)])
def test_what_was_on_its_way_when_the_database_hangs_is_no_answer_of_a_cheat(late: int, cheats: bool) -> None:
    """A stop takes effect when a thread of the database runs, and answers wait in buffers: 500 came within 0.03 s in an honest run."""
    series_ = HONEST.own.series
    columns = {name: [*column, *column[-1:] * 4] for name, column in series_.model_dump().items()}
    columns["at_s"][-4:] = [CLOSES + at for at in (0.01, 0.03, 0.06, 0.5)]
    for at, more in enumerate((0, 500, 500, 500 + late), start=-4):
        columns["answers"][at] += more
    own = HONEST.own.model_copy(update={"series": Series(**columns)})
    found = HONEST.model_copy(update={"own": own, "hung": Hang(whom="database", from_s=CLOSES, until_s=CLOSES + 0.6)})
    told = f"V9 slow answered {late} requests on 64 connections while the database hung: it does not wait for it"
    assert (told in judged(record(found)).reasons) == cheats


@pytest.mark.parametrize(
    ("under_way", "at_once", "cheats"), [(128, 64, False), (96, 64, False), (95, 64, True), (-250, 64, True), (0, None, False)]
)
def test_statements_are_under_way_when_the_database_has_hung(under_way: int, at_once: int | None, cheats: bool) -> None:
    """Of 64 connections each, where half of one service's may be missing; who sends its statement and answers at once has none."""
    both = [each.model_copy(update={"at_once": at_once}) for each in (HONEST.own, HONEST.partner)]
    answered = sum(each.series.answers[-1] for each in both)
    ends_s = max(both[0].series.at_s[-1], both[1].series.at_s[-1])
    hung = Hang(whom="database", from_s=ends_s, until_s=ends_s + 0.6, sent=HONEST.statements * answered + under_way)
    found = HONEST.model_copy(update={"own": both[0], "partner": both[1], "hung": hung})
    told = f"V9 slow and ref had {max(0, under_way)} statements under way while the database hung, at least 96 if they wait for them"
    assert (told in judged(record(found)).reasons) == cheats


def test_rounds_that_cost_no_more_than_a_single_one_are_doubted() -> None:
    def doubts(single_us: float) -> list[str]:
        own = HONEST.own.model_copy(update={"single_us": single_us})
        return judged(record(HONEST.model_copy(update={"own": own, "rounds": 5_000}))).doubts

    assert doubts(32.0) == []
    (sentence,) = doubts(36.0)
    assert sentence.startswith("V6 slow used 4.0 µs more than for a single round, where its rounds take 10.0 µs in registers")


def test_a_service_alone_that_is_not_full_is_told_who_held_it_back() -> None:
    """On a cluster nobody shares its core."""
    own = driven("lone", series(40.0, [1.0] * WINDOWS, share=0.5), waited_s=0.0)
    seen = {"competitors": 0, "executed": None, "inserted": None, "called": None, "cpu_s": {"generator": 2.94, "database": 0.6}}
    (doubt,) = judged(record(cell_of(40.0, None, own=own, **seen), "lone")).doubts
    told = "on a full core a request may cost less; meanwhile the generator used 0.98 cores, the database used 0.20 cores"
    assert doubt == f"V6 lone had work for 50% of the time: {told}"


def test_without_a_witness_nobody_knows_whether_rounds_were_computed() -> None:
    assert "V6 nobody read how fast" in judged(record(cell_of(40.0, 20.0, speeds=[], rounds=10_000))).doubts[0]
    assert judged(record(cell_of(40.0, 20.0, speeds=[]))).doubts == []


@pytest.mark.parametrize(
    ("costs", "kept"), [([90, 60, 58, 40], [90, 60, 58]), ([50, 51, 40], [50, 51]), ([90, 60, 40], [90, 60, 40]), ([], []), ([7], [7])]
)
def test_the_seconds_that_warm_a_row_count_until_its_cost_falls_no_longer(costs: list[float], kept: list[float]) -> None:
    assert until_steady(costs) == kept
    assert duet.still_falling(until_steady(costs)) == (len(kept) > 2 and kept[-1] == 40)


def test_a_service_that_still_gets_cheaper_is_doubted() -> None:
    cooling = [1.6] * 6 + [1.0] * 6
    own = driven("slow", series(40.0, cooling))
    cell = judged(record(HONEST.model_copy(update={"own": own, "executed": None, "inserted": None, "called": None})))
    assert [doubt for doubt in cell.doubts if doubt.startswith("V8 ")]


def test_a_collection_of_garbage_in_one_half_is_no_code_that_changes() -> None:
    own = driven("slow", series(40.0, [1.0] * 2 + [5.0] + [1.0] * 9))
    cell = judged(record(HONEST.model_copy(update={"own": own, "executed": None, "inserted": None, "called": None})))
    assert cell.cost is not None
    assert cell.cost.halves < 0.9
    assert not [doubt for doubt in cell.doubts if doubt.startswith("V8 ")]


@pytest.mark.parametrize("changes", [{"bursts": [300.0, 200.0, 120.0]}, {"compiled_s": 0.2 * WINDOWS * EVERY}])
@pytest.mark.parametrize(("rehearsal", "status"), [(True, "invalid"), (False, "valid")])
def test_what_is_cold_says_so_and_has_no_figure_in_a_run_of_one_round(changes: dict[str, Any], rehearsal: bool, status: str) -> None:
    cold = HONEST.own.model_copy(update=changes)
    cell = judged(record(HONEST.model_copy(update={"own": cold, "rehearsal": rehearsal})))
    assert cell.status == status
    assert any(sentence.startswith("V8 slow is cold") for sentence in [*cell.reasons, *cell.doubts])


def test_a_compiler_that_has_little_left_to_do_is_no_doubt() -> None:
    warm = HONEST.own.model_copy(update={"compiled_s": 0.01 * WINDOWS * EVERY})
    assert judged(record(HONEST.model_copy(update={"own": warm}))).doubts == judged(record(HONEST)).doubts


def test_who_was_started_again_in_the_round_is_told() -> None:
    assert HONEST.partner is not None
    own, partner = (each.model_copy(update={"ended_before": 137}) for each in (HONEST.own, HONEST.partner))
    assert not any("restart" in doubt for doubt in judged(record(HONEST)).doubts)
    again = "had ended with 137 and was started again in this round"
    assert f"restart: the service {again}" in judged(record(HONEST.model_copy(update={"own": own}))).doubts
    assert f"restart: the reference {again}" in judged(record(HONEST.model_copy(update={"partner": partner}))).doubts


def test_a_reference_that_ended_in_mid_window_leaves_no_figure_and_a_reason() -> None:
    """Its generator ends at the first wrong answer, so it has half of the readings."""
    assert HONEST.partner is not None
    until = next(number for number, at_s in enumerate(HONEST.partner.series.at_s) if at_s > OPENS + 1.3)
    ended = HONEST.partner.model_copy(update={"series": HONEST.partner.series.only(range(until)), "wrong": "GET /books/1: 500 for a book"})
    cell = judged(record(HONEST.model_copy(update={"partner": ended})))
    assert (cell.status, cell.cost) == ("invalid", None)
    assert any(reason.startswith("V1 ") for reason in cell.reasons)


def test_without_answers_there_is_no_figure() -> None:
    silent = Series(at_s=[OPENS, OPENS + 3], answers=[0, 0], service_cpu_s=[0.0, 0.1], generator_cpu_s=[0.0, 0.0])
    dead = driven("slow", silent, answers=0, counted=0)
    cell = judged(record(HONEST.model_copy(update={"own": dead, "executed": None, "inserted": None, "called": None})))
    assert cell.status == "invalid"
    assert cell.cost is None
    assert cell.headline("cpu") is None


def round_of(round_: int, factor: float) -> list[Cell]:
    """The reference alone (20 µs), its twin, and one that needs twice as much, on a machine that is `factor` slower in this round."""
    alone = cell_of(20.0 * factor, None).model_copy(update={"own": driven("ref", series(20.0 * factor, [1.0] * WINDOWS))})
    found = [
        (alone, "ref"),
        (cell_of(20.0 * factor, 20.0 * factor), "ref-twin"),
        (cell_of(60.0 * factor, 30.0 * factor), "slow"),  # a bad minute for both
    ]
    changes = {"executed": None, "inserted": None, "called": None}
    return [judged(record(each.model_copy(update=changes), name, round_)) for each, name in found]


def test_costs_are_ratios_times_the_references_own_cost_of_the_round() -> None:
    for factor in (1.0, 1.4):
        cost = {cell.contender: cell.headline("cpu") for cell in duet.anchored(round_of(1, factor))}
        assert cost["ref"] == pytest.approx(20.0 * factor, rel=0.01)
        assert cost["slow"] == pytest.approx(40.0 * factor, rel=0.01)  # not 60


def test_a_contender_without_a_partner_keeps_its_own_figure() -> None:
    lone = judged(record(cell_of(60.0, None, executed=None, inserted=None, called=None), "lone"))
    assert duet.anchored([*round_of(1, 1.0), lone])[-1].headline("cpu") == lone.headline("cpu")


# --- how precise a run was --------------------------------------------------------------------------------------------

RUN = {
    "wall_s": {"cells": 1800.0},
    "plan": {
        "scenarios": ["cost-read"],
        "contenders": ["ref", "ref-twin", "slow", "ref-dear"],
        "reference": "ref",
        "models": {"cost-read": "closed"},
        "controls": {
            "ref-twin": {"kind": "twin", "of": "ref"},
            "ref-dear": {"kind": "plant", "of": "ref", "worsens": "cpu"},
        },
    },
}


def planted(rounds: int, dear: float, spread: float, seed: int = 3) -> list[Cell]:
    draw, cells = random.Random(seed), list[Cell]()
    changes = {"executed": None, "inserted": None, "called": None}
    for round_ in range(1, rounds + 1):
        alone = cell_of(20.0, None).model_copy(update={"own": driven("ref", series(20.0, [1.0] * WINDOWS)), **changes})
        cells.append(judged(record(alone, "ref", round_)))
        for name, cost in (("ref-twin", 20.0), ("slow", 40.0), ("ref-dear", 20.0 * dear)):
            each = cell_of(cost * math.exp(draw.gauss(0, spread)), 20.0, **changes)
            cells.append(judged(record(each, name, round_)))
    return duet.anchored(cells)


def test_quality_tells_half_widths_halves_and_plants() -> None:
    found = quality(RUN, planted(6, 1.2, 0.02))
    (row,) = found.rows
    assert row.twin_percent is not None
    assert 0.5 < row.twin_percent < 5.0
    assert row.widest == "slow"
    assert row.bounds_share == 0.0
    assert found.minutes == 30.0
    assert found.cells == 24
    assert found.doubted_share == 0.0
    assert found.halves_ratio == pytest.approx(1.0, abs=0.01)
    assert found.quiet_share == 1.0
    (plant,) = found.plants
    assert plant.found
    assert plant.low < 1.2 < plant.high


def beside_others(factor: float, rounds: int, costs: tuple[str, ...] = ("ref-twin", "quick", "slow")) -> list[str]:
    """The doubts of the last one, beside whom the reference costs so many times as much."""
    changes = {"executed": None, "inserted": None, "called": None}
    cells = [
        judged(record(cell_of(40.0, 20.0 * (factor if name == costs[-1] else 1.0), **changes), name, round_))
        for round_ in range(1, rounds + 1)
        for name in costs
    ]
    found = duet.burdened(duet.anchored(cells))
    assert not [cell for cell in found if cell.doubts and cell.contender != costs[-1]]
    return [doubt for cell in found for doubt in cell.doubts]


def test_a_reference_that_costs_more_beside_one_contender_has_something_to_do_for_it() -> None:
    told = beside_others(1.5, 4)
    assert len(told) == 4
    assert told[0].startswith("V6 the reference costs 1.50 × as much beside it as in the median of 4 rounds: it may have to work for it")
    assert beside_others(1.2, 6) == beside_others(1.5, 3) == beside_others(1.5, 6, ("ref-twin", "slow")) == []


def test_prepared_statements_of_a_mixture_are_those_of_its_parts() -> None:
    parts = [
        Part(scenario="a", statements=1, writes=False, reads_a_row=True, calls=0, call_ms=0),
        Part(scenario="b", statements=0, writes=False, reads_a_row=False, calls=0, call_ms=0),
    ]
    both = [each.model_copy(update={"prepares": True, "answers_of": [100, each.answers - 100]}) for each in (HONEST.own, HONEST.partner)]
    found = HONEST.model_copy(update={"own": both[0], "partner": both[1], "parts": parts, "statements": 0, "prepared": 200})
    assert duet._prepared(both, found).outcome == "ok"
    few = duet._prepared(both, found.model_copy(update={"prepared": 190}))
    assert (few.outcome, few.sentence) == ("invalid", "190 statements were prepared ones, where slow and ref must have executed 200")
    assert duet._prepared(both, found.model_copy(update={"prepared": None})).outcome == "ok"


def test_quality_tells_beside_whom_the_reference_costs_more() -> None:
    changes = {"executed": None, "inserted": None, "called": None}
    costs = {"ref-twin": 20.0, "slow": 25.0, "ref-dear": 20.0}  # of the reference, beside each
    cells = [judged(record(cell_of(40.0, own, **changes), name, round_)) for round_ in (1, 2) for name, own in costs.items()]
    (row,) = quality(RUN, duet.anchored(cells)).rows
    assert row.reference_beside == {"ref-twin": 1.0, "slow": pytest.approx(1.25, abs=0.01), "ref-dear": 1.0}
    assert "the reference costs beside slow +25%" in precision.text(quality(RUN, duet.anchored(cells)))


def test_quality_does_not_find_what_is_not_there() -> None:
    (plant,) = quality(RUN, planted(6, 1.0, 0.02)).plants
    assert not plant.found


def test_quality_of_one_round_has_no_intervals() -> None:
    found = quality(RUN, planted(1, 1.2, 0.02))
    assert found.rows[0].twin_percent is None
    assert found.plants == []


def test_in_a_run_of_one_round_what_is_cold_has_no_figure_and_the_word() -> None:
    rising, steady = (Start(round=1, contender="slow", started_at="", rising=each) for each in (True, False))
    for start, rounds, word in ((rising, 1, "cold"), (steady, 1, None), (rising, 2, None)):
        cells = [judged(record(HONEST, "slow", round_)) for round_ in range(1, rounds + 1)]
        entry = tables._entry("slow", "cost", "cpu", "closed", duet.doubt_cold(cells, [start]))
        assert (entry.figure is None) == (word is not None)
        assert (words.figure(entry) == "cold") == (word is not None)
        assert (">cold<" in html_table.figure(entry)) == (word is not None), "the page says it by the same word"


def test_a_cost_in_the_round_of_a_start_that_was_still_getting_faster_is_doubted() -> None:
    start = Start(round=1, contender="slow", started_at="", rising=True)
    warm = Start(round=2, contender="slow", started_at="")
    cells = [judged(record(HONEST, "slow", round_)) for round_ in (1, 2, 3)]
    found = duet.doubt_cold(cells, [start, warm])
    assert [duet.COLD in cell.doubts for cell in found] == [True, False, False]
    assert [cell.status for cell in found] == [cell.status for cell in cells]
