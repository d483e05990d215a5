"""Connections that are only open: their memory in process and kernel, their CPU, and the table of them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from nsb.analyse import table
from nsb.analyse.idle import cpu_ms_per_s, idle
from nsb.records.cells import Reading
from nsb.records.judged import Cell, Latency, SteadyWindow
from nsb.render import idle as shown
from nsb.render import markdown, words

LEVELS = (0, 1000, 5000, 10000)


def ladder(process_kib: float, kernel_kib: float | None, cpu_ms: dict[int, float] | None = None, stamped: bool = True) -> list[Reading]:
    """Two readings on each level of 10 s, at 7 and 9.5 s of it; CPU in ms/s, 20 where a level has none of its own."""
    readings, used_s = [], 0.0
    for number, users in enumerate(LEVELS):
        for at_s in (7.0, 9.5):
            used_s += 0.0 if at_s == 7.0 else 2.5 * (cpu_ms or {}).get(users, 20.0) / 1000
            readings.append(
                Reading(
                    users=users,
                    in_flight=users,
                    pss_mib=100 + users * process_kib / 1024,
                    at_s=10 * number + at_s if stamped else None,
                    sockets_mib=0.1,
                    slab_mib=None if kernel_kib is None else 300 + users * kernel_kib / 1024,
                    cpu_s=round(used_s, 6),
                )
            )
    return readings


def cell(
    round_: int, readings: list[Reading], contender: str = "go", scenario: str = "idle", status: str = "valid", doubts: Sequence[str] = ()
) -> Cell:
    return Cell.model_validate(
        {
            "round": round_, "contender": contender, "scenario": scenario, "profile": "1cpu", "model": "open", "status": status,
            "doubts": list(doubts), "ladder": readings, "latency_ms": Latency(p50=1.0 + round_ / 10, p90=2.0, p99=None, max=None),
        }
    )  # fmt: skip


def test_each_connection_is_told_with_its_memory_its_cpu_and_what_others_feel() -> None:
    cells = [cell(n, ladder(27.0, 6.0, {0: 23.0, 10000: 25.0 + n})) for n in (1, 2, 3)]
    (found,) = idle(cells, ["go"])
    assert (found.contender, found.scenario, found.rounds, found.most) == ("go", "idle", 3, 10000)
    assert found.process is not None
    assert found.kernel is not None
    assert (found.process.value, found.kernel.value) == (pytest.approx(27.0), pytest.approx(6.0))
    assert found.cpu_none is not None
    assert found.cpu_most is not None
    assert (found.cpu_none.value, found.cpu_most.low, found.cpu_most.value, found.cpu_most.high) == (23.0, 26.0, 27.0, 28.0)
    assert found.p50_ms is not None
    assert found.p50_ms.value == 1.2


def test_what_others_feel_is_told_with_none_and_with_all() -> None:
    def still(round_: int) -> list[SteadyWindow]:
        return [SteadyWindow(held=held, requests=180, p50_ms=0.5 + held / 10_000 + round_ / 10, p90_ms=None) for held in LEVELS]

    (found,) = idle([cell(n, ladder(27.0, 6.0)).model_copy(update={"still": still(n)}) for n in (1, 2, 3)], ["go"])
    assert shown.columns(found)[-2:] == ["0.70 (0.60–0.80)", "1.70 (1.60–1.80)"]
    assert shown.HEADS[-2:] == ("idle_p50_none", "idle_p50_most")


def test_what_an_older_run_did_not_read_is_not_told_and_its_times_are_those_of_the_plan() -> None:
    cells = [cell(n, ladder(27.0, None, stamped=False)) for n in (1, 2)]
    (found,) = idle(cells, ["go"])
    assert found.kernel is None
    assert found.cpu_none is not None
    assert found.cpu_none.value == 20.0
    assert "–" in shown.columns(found)


def test_a_reading_that_was_late_counts_as_the_time_it_was_made() -> None:
    readings = ladder(27.0, 6.0)
    late = readings[0].model_copy(update={"at_s": 8.25})  # a collection came between: half the time, all of the CPU
    assert cpu_ms_per_s([late, *readings[1:]], 0) == 40.0
    assert cpu_ms_per_s(readings[1:], 0) is None  # read once only


def test_only_cells_that_count_and_held_something_are_told() -> None:
    silent = [reading.model_copy(update={"sockets_mib": None}) for reading in ladder(27.0, 6.0)]
    cells = [cell(1, ladder(27.0, 6.0), status="invalid"), cell(1, silent, scenario="in-flight")]
    assert idle(cells, ["go"]) == []
    assert shown.section([]) == []


def test_a_slope_that_cannot_be_told_is_a_bound() -> None:
    cells = [cell(n, ladder(kib, 6.0)) for n, kib in enumerate((1.0, -2.0, 4.0), 1)]
    (found,) = idle(cells, ["go"])
    assert found.process is not None
    assert found.process.bound
    assert shown.slopes(found.process).startswith("≤")


def test_figures_with_doubts_in_a_third_of_their_rounds_are_marked() -> None:
    rounds = {1: ["V7 others used the machine"], 2: [], 3: []}
    (doubted,) = idle([cell(n, ladder(27.0, None), doubts=doubts) for n, doubts in rounds.items()], ["go"])
    assert shown.columns(doubted) == [
        "3",
        "10,000",
        "27.0? (27.0–27.0)",
        "–",
        "20.0? (20.0–20.0)",
        "20.0? (20.0–20.0)",
        "1.20? (1.10–1.30)",
        "–",
        "–",
    ]
    (clear,) = idle([cell(n, ladder(27.0, None)) for n in rounds], ["go"])
    assert not any("?" in column for column in shown.columns(clear))


def test_the_page_has_a_row_for_each_contender_and_no_number_of_one_round_without_spread() -> None:
    plan = {
        "tier": "article", "profile": "1cpu", "rounds": 1, "contenders": ["go", "rust"], "scenarios": ["idle"],
        "headlines": {"idle": "memory"}, "models": {"idle": "open"},
    }  # fmt: skip
    made = table.make({"plan": plan}, [cell(1, ladder(27.0, 6.0)), cell(1, ladder(9.0, 6.0), "rust")])
    (heading, _, grid) = shown.section(made.idle)
    assert heading == "## Silent connections\n"
    rows = [[part.strip() for part in line.split("|")[1:-1]] for line in grid.splitlines()]
    assert [row[0] for row in rows[2:]] == ["go", "rust"]
    assert {len(row) for row in rows} == {1 + len(shown.HEADS)}
    assert rows[2][5:] == ["–"] * 5
    assert markdown.table_block(made)


def test_the_legend_says_whether_jvms_were_collected() -> None:
    plan = {
        "tier": "article", "profile": "1cpu", "rounds": 1, "contenders": ["jvm"], "scenarios": ["idle"],
        "headlines": {"idle": "memory"}, "models": {"idle": "open"},
    }  # fmt: skip
    before = ladder(27.0, 6.0)
    since = [reading.model_copy(update={"collected_s": 0.04}) for reading in before]
    for readings, said in ((before, "heap is already large"), (since, "after a full collection")):
        assert any(said in line for line in words.legend(table.make({"plan": plan}, [cell(1, readings, "jvm")])))
