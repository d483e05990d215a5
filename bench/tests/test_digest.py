"""The small table and the findings: what is planted in a run is told, and what a run does not show is not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import standard
from nsb.analyse import digest as digests
from nsb.analyse import duet
from nsb.analyse import table as tables
from nsb.analyse.claims import judged
from nsb.analyse.digest import Digest, Place, digest, sides
from nsb.analyse.dominance import dominance
from nsb.analyse.merged import Across
from nsb.records.judged import Cell
from nsb.registry.claims import Claims, Comparison, Judged, JudgedClaim, JudgedNumber, RatioRule, Reported, Said, Verdict
from nsb.registry.digest import DigestPlan
from nsb.registry.load import ConfigurationError, load, load_digest
from nsb.render import digest as words
from nsb.render import html_digest, markdown, messages, picture
from nsb.render.claims import surprising
from nsb.render.messages import LANGUAGES, Language

ROOT = Path(__file__).resolve().parents[2]
REGISTRY = load(ROOT / "bench")
PLAN = load_digest(ROOT / "bench", REGISTRY)


def made(cells: list[Cell] | None = None, rounds: int = 6, scenarios: list[str] | None = None, plan: DigestPlan = PLAN) -> Digest:
    run, starts = standard.run(rounds, scenarios), standard.starts(rounds)
    found = standard.cells(rounds, scenarios) if cells is None else cells
    return digest(plan, tables.make(run, found, starts), run, found, starts, dominance(run, found, starts, None))


WHOLE = made()


def marks(found: Digest, row: str) -> dict[str, str]:
    return {place.contender: place.mark for place in next(each for each in found.rows if each.chosen.id == row).places}


def changed(scenario: str, contender: str, **update: Any) -> list[Cell]:
    return [
        cell.model_copy(update=update) if (cell.scenario, cell.contender) == (scenario, contender) else cell for cell in standard.cells()
    ]


def test_a_value_with_doubts_has_their_mark_and_the_legend_says_what_it_means() -> None:
    doubted = made(changed("cost-read", "node", doubts=["V8 cold"]))
    read = next(row for row in doubted.rows if row.chosen.id == "cost-read")
    assert [place.contender for place in read.places if words.value(read, place, "en").endswith("?")] == ["node"]
    assert words.notes(doubted, "en")[1].startswith("?: ")  # beside what the small figures are
    assert not any(note.startswith("?: ") for note in words.notes(WHOLE, "en"))
    for language in LANGUAGES:
        key = messages.text("picture.doubt", language)
        assert key in picture.svg(doubted, language, "light")
        assert key not in picture.svg(WHOLE, language, "light")


def test_why_a_row_was_not_compared_is_told() -> None:
    apart = [
        cell.model_copy(update={"cpu_us_per_request": {"service": 14.0 * 4.0**cell.round}})
        if (cell.scenario, cell.contender) == ("cost-read", "go-twin") else cell
        for cell in standard.cells()
    ]  # fmt: skip
    few, differs = "in fewer than five rounds: ", "Not compared, since two copies of one program differ there"
    found = {name: " ".join(words.notes(of, "en")) for name, of in (("few", made(rounds=4)), ("differs", made(apart)), ("whole", WHOLE))}
    assert {name: (few in notes, differs in notes) for name, notes in found.items()} == {
        "few": (True, False), "differs": (False, True), "whole": (False, False),
    }  # fmt: skip


def test_a_sentence_has_the_doubt_of_its_figure() -> None:
    doubted = made(changed("cost-read", "rust", doubts=["V8 cold"]))
    assert re.search(r"least CPU on rust, 21\.0\? µs", words.sentence(doubted.findings[0], "en"))
    assert "?" not in words.sentence(WHOLE.findings[0], "en")


def test_nobody_else_is_told_as_the_dearest_where_its_factor_is_hardly_known() -> None:
    unsteady = [
        cell.model_copy(update={"cpu_us_per_request": {"service": 900.0 * (1.6 if cell.round % 2 else 0.7)}})
        if (cell.scenario, cell.contender) == ("cost-read", "python") else cell
        for cell in standard.cells()
    ]  # fmt: skip
    found = made(unsteady)
    assert marks(found, "cost-read")["python"] == "worse"
    assert "rust" not in next(row for row in found.rows if row.chosen.id == "cost-read").place("python").factors
    assert "cost-read" not in {each.told.row for each in found.findings}
    begins = "No factor or difference where others have one"
    assert [note.rpartition(": ")[2] for note in words.notes(found, "en") if note.startswith(begins)] == ["read."]
    assert not any(note.startswith(begins) for note in words.notes(WHOLE, "en"))


def test_the_legend_says_what_a_factor_is_the_mean_of() -> None:
    """A start after 2.38 s beside one after 0.015 s was 146×, though 2.38 ÷ 0.015 is 159."""
    assert "mean of the rounds' ratios" in words.notes(WHOLE, "en")[0]
    assert "라운드별 비율의 기하 평균" in words.notes(WHOLE, "ko")[0]


def test_the_legend_says_where_a_spread_is_no_interval() -> None:
    """Of one round it is that of the halves; a start after 2.46 s ±8 % was the least and the greatest of three starts."""
    begins = "± is not an interval"
    assert not any(note.startswith(begins) for note in words.notes(WHOLE, "en"))
    once = made(rounds=1)
    (note,) = [note for note in words.notes(once, "en") if note.startswith(begins)]
    assert all(words.title(row, "en") in note for row in once.rows if not row.alike)
    assert "printed if wider than ±5 %" in note  # the legend of intervals, which says so, is not there


# --- what is told -----------------------------------------------------------------------------------------------------------


def test_each_planted_finding_is_told_with_its_figure() -> None:
    told = [words.sentence(each, "en") for each in WHOLE.findings]
    assert [each.told.row for each in WHOLE.findings] == ["cost-read", "sleep-max", "interference", "in-flight-memory", "cost-wait-query"]
    assert re.search(r"least CPU on rust, 21\.0 µs \(\S+–\S+\)\. python takes (9\.9|10\.)\S* × that \(\S+–\S+\)", told[0])
    assert re.search(
        r"pool of 200 threads .* of 600 users who each wait 1 s, java-pt, .* serves 200 requests/s \(200–200\), the others \S+ to \S+",
        told[1],
    )
    assert re.search(
        r"wait on java-webflux, rust, python and node, .*: their p99 is \d+ to \d+ ms\. On java-vt, java-pt and go it is \d to \d ms",
        told[2],
    )
    assert "On java-pt it holds 18." in told[3]
    assert re.search(r"least CPU on rust, 30\.\d µs .* python takes 8\.6", told[4])


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_finding_without_an_interval(language: Language) -> None:
    for each in WHOLE.findings:
        said = words.sentence(each, language)
        assert re.search(r"\([\d.,]+–[\d.,]+\)", said) or re.search(r"\d( to |~)\d", said), said
        assert "{" not in said


def test_both_languages_tell_the_same_figures() -> None:
    for each in WHOLE.findings:
        english, korean = (sorted(re.findall(r"\d+\.\d+", words.sentence(each, language))) for language in LANGUAGES)
        assert english == korean


@pytest.mark.parametrize("row", ["cost-read", "sleep-max", "interference", "in-flight-memory", "cost-wait-query"])
def test_a_run_without_a_row_loses_its_sentence_alone(row: str) -> None:
    found = made(scenarios=[name for name in standard.SCENARIOS if name != row])
    told = {each.told.row for each in found.findings}
    assert row not in told
    assert {each.told.row for each in WHOLE.findings} - {row} <= told
    assert len(found.findings) == digests.MOST_FINDINGS  # another one takes its place
    assert row not in {each.chosen.id for each in found.rows}


def test_fewer_than_five_rounds_have_rows_and_no_findings() -> None:
    for rounds in (1, 4):
        found = made(rounds=rounds)
        assert found.findings == []
        assert found.rows
        assert {place.mark for row in found.rows for place in row.places} == {"unknown"}


def test_who_was_not_measured_is_named_where_a_best_one_is() -> None:
    found = made(changed("cost-read", "rust", status="failed", cpu_us_per_request={}, throughput_rps=None))
    said = words.sentence(found.findings[0], "en")
    assert "least CPU on go, 33." in said
    assert "(without a figure: rust)" in said


def test_where_all_threads_end_at_the_same_pool_that_is_told() -> None:
    found = made(scenarios=["slow-query-max"])
    (finding,) = [each for each in found.findings if each.told.kind == "alike"]
    assert re.search(r"with 150 connections every server reaches 749 to 750", words.sentence(finding, "en"))
    one_free = [
        cell.model_copy(update={"limit": "cpu"}) if cell.contender == "go" else cell for cell in standard.cells(6, ["slow-query-max"])
    ]
    assert [each for each in made(one_free, scenarios=["slow-query-max"]).findings if each.told.kind == "alike"] == []


# --- marks ------------------------------------------------------------------------------------------------------------------


def test_best_is_better_than_everybody_else() -> None:
    assert marks(WHOLE, "cost-read") == {name: "best" if name == "rust" else "worse" for name in standard.NAMES}


def test_the_noisiest_is_never_best() -> None:
    noisy = [
        cell.model_copy(update={"cpu_us_per_request": {"service": 20.0 * (3.0 if cell.round % 2 else 0.3)}})
        if (cell.scenario, cell.contender) == ("cost-read", "node") else cell
        for cell in standard.cells()
    ]  # fmt: skip
    found = marks(made(noisy), "cost-read")
    assert found["node"] == "tied"
    assert found["rust"] == "tied"
    assert "best" not in found.values()
    row = next(each for each in made(noisy).rows if each.chosen.id == "cost-read")
    assert row.place("node").factors == {}  # such a mean ratio says little


def test_a_lower_bound_has_its_sign_and_is_in_no_range() -> None:
    found = made(changed("sleep-max", "go", status="censored", limit="generator"))
    row = next(each for each in found.rows if each.chosen.id == "sleep-max")
    assert words.value(row, row.place("go"), "en").startswith("≥")
    assert row.leader != "go"
    assert row.place("go").factors == {}
    assert "go" not in {each.contender for side in sides(row.places) for each in side}
    assert any(note.startswith("≤, ≥: ") for note in words.notes(found, "en"))


def test_who_was_shown_worse_than_a_bound_does_not_lead() -> None:
    """rust gave bounds alone, at which the generator was full; node has the best value, and was shown worse than they are."""
    run, names = standard.run(6), ["rust", "node", "python"]
    found = dominance(run, standard.cells(), standard.starts(6), None).model_copy(
        update={
            "contenders": names,
            "better": {"rust": {"node": ["c"], "python": ["c"]}, "node": {"python": ["c"]}, "python": {}},
            "compared": {one: {other: ["c"] for other in names if other != one} for one in names},
        }
    )
    criterion = found.criteria[0].model_copy(update={"id": "c"})
    assert digests.marks(found, criterion, "node", ["node", "python"]) == {"rust": "best", "node": "worse", "python": "worse"}


def test_who_was_not_compared_is_not_told_as_alike() -> None:
    lost = [
        cell.model_copy(update={"status": "invalid"})
        if (cell.contender, cell.scenario) == ("node", "cost-read") and cell.round < 3
        else cell
        for cell in standard.cells()
    ]
    found = made(lost)
    assert marks(found, "cost-read")["node"] == "unknown"
    said = words.sentence(next(each for each in found.findings if each.told.row == "cost-read"), "en")
    assert "least CPU on rust" in said
    assert "node" not in said


def test_failures_are_marked_and_have_a_reason() -> None:
    table = words.table(WHOLE, "en")
    rows = {line.split("<br>")[0].strip("| "): line for line in table.splitlines()[2:]}
    assert rows["600 users wait 1 s each"].count("✗") == 1
    assert rows["others while one blocks"].count("✗") == 4
    assert "✗" not in rows["read"]
    notes = " ".join(words.notes(WHOLE, "en"))
    assert "600 users wait 1 s each: its threads, or its event loop, are the limit" in notes


def test_a_cell_that_is_cold_says_so_and_not_that_it_is_valid() -> None:
    found = standard.cells(rounds=1)
    cold = [cell.model_copy(update={"doubts": [duet.COLD]}) if cell.contender == "go" else cell for cell in found]
    row = next(each for each in made(cold, rounds=1).rows if each.chosen.id == "in-flight-memory")
    assert (row.place("go").value, words.value(row, row.place("go"), "en"), words.value(row, row.place("go"), "ko")) == (
        None,
        "cold",
        "예열 안 됨",
    )


def test_a_rate_that_was_not_sustained_is_a_failure() -> None:
    found = made(changed("interference", "go", status="censored", limit="cpu", throughput_rps=480.0))
    place = next(each for each in found.rows if each.chosen.id == "interference").place("go")
    assert (place.fails, place.reached, place.factors) == (True, True, {})
    assert words.value(found.rows[0], place, "en") == "480/s"


def test_who_cannot_be_told_from_those_that_fail_is_on_neither_side() -> None:
    def place(name: str, low: float, high: float, fails: bool = False) -> Place:
        return Place(contender=name, value=low, low=low, high=high, mark="unknown", fails=fails)

    failing, others = sides([place("rust", 93, 96, fails=True), place("java-vt", 1, 232), place("go", 1, 3)])
    assert [[each.contender for each in side] for side in (failing, others)] == [["rust"], ["go"]]


def test_a_row_in_which_nobody_differs_is_a_sentence() -> None:
    assert "slow queries" not in words.table(WHOLE, "en")
    assert "slow queries: nobody differs, 749 to 750 requests/s." in words.notes(WHOLE, "en")


def test_where_nobody_was_compared_intervals_within_the_margin_of_equality_are_told() -> None:
    found = made(rounds=4)
    rows = {line.split("<br>")[0].strip("| "): line for line in words.table(found, "en").splitlines()[2:]}
    assert rows["600 users wait 1 s each"].count("≈") == len(standard.NAMES) - 1  # all but the one that fails
    assert "≈" not in rows["read"]
    notes = words.notes(found, "en")
    assert "slow queries: all within 10 %, 749 to 750 requests/s." in notes
    assert any(note.startswith("≈ in these rows") for note in notes)
    one = made(rounds=1)  # the halves of a round are no interval
    assert "≈" not in words.table(one, "en")
    assert "1×" not in words.table(one, "en")  # nobody has a factor beside the leader
    assert not [note for note in words.notes(one, "en") if note.startswith(("Large:", "Bold:"))]


def test_a_difference_that_is_0_when_rounded_is_not_written() -> None:
    line = next(each for each in html_digest.lines(WHOLE) if each.id == "interference")
    told = {cell.contender: cell.factor for cell in line.cells}
    assert {told["go"], told["java-vt"], told["java-pt"]} == {""}  # the leader, and who is within half a millisecond of it
    assert told["rust"] == "+95 ms"
    beside = html_digest.factors(WHOLE)["interference"]["rust"]
    assert (beside["rust"][0], beside["go"][0]) == ("", "−95 ms")
    assert html_digest.factors(WHOLE)["cost-read"]["go"]["go"][0] == "1×"


def test_factors_are_paired_ratios_to_any_baseline() -> None:
    row = next(each for each in WHOLE.rows if each.chosen.id == "cost-read")
    beside = row.place("go").factors["java-vt"]
    assert beside.low < 33 / 72 < beside.high
    assert row.place("go").factors["go"].value == 1.0
    latency = next(each for each in WHOLE.rows if each.chosen.id == "interference").place("rust").factors["go"]
    assert latency.unit == "ms"
    assert latency.value == pytest.approx(95, abs=1)


def test_a_row_that_the_run_lacks_is_from_the_first_other_run_of_the_same_contenders() -> None:
    own = WHOLE.model_copy(update={"rows": [row for row in WHOLE.rows if row.chosen.id != "cost-read"]})
    fewer = WHOLE.model_copy(
        update={"rows": [row.model_copy(update={"places": row.places[1:]}) for row in WHOLE.rows if row.chosen.id == "cost-read"]}
    )
    found = digests.filled(own, PLAN, {"fewer": fewer, "newer": WHOLE, "older": WHOLE})
    assert [row.chosen.id for row in found.rows] == [row.chosen.id for row in WHOLE.rows]
    assert {row.chosen.id: row.run for row in found.rows if row.run is not None} == {"cost-read": "newer"}
    assert "From another run, newer: read." in words.notes(found, "en")
    assert digests.filled(own, PLAN, {"fewer": fewer}) == own


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_table_is_100_columns_wide_at_most(language: Language) -> None:
    rows = [
        [re.sub(r"</?sub>|\*", "", cell).split("<br>") for cell in line.split(" | ")] for line in words.table(WHOLE, language).splitlines()
    ]
    del rows[1]
    # A Hangul syllable takes two columns. A cell has one space on each side.
    columns = [
        max(sum(1 + ("가" <= c <= "힣") for c in part.strip("| ")) for cell in column for part in cell)
        for column in zip(*rows, strict=True)
    ]
    assert sum(width + 2 for width in columns) <= 100


# --- the picture --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_picture_has_every_figure_that_its_words_have(language: Language) -> None:
    for theme in picture.THEMES:
        root = ElementTree.fromstring(picture.svg(WHOLE, language, theme))
        said = [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]
        for row in picture.rows(WHOLE):
            for place in row.places:
                assert any(each.endswith(words.value(row, place, language)) for each in said)
                assert f"{place.contender} {words.value(row, place, language)}" in picture.alt(WHOLE, language)
        fails = [each for each in said if each.startswith("✗ ")]
        assert len(fails) == 5
        assert "http" not in picture.svg(WHOLE, language, theme).replace("http://www.w3.org/2000/svg", "")


def test_bars_are_sorted_and_failures_come_last() -> None:
    assert [place.contender for place in picture.ranked(picture.rows(WHOLE)[0])][:2] == ["rust", "go"]
    assert [place.fails for place in picture.ranked(picture.rows(WHOLE)[2])] == [False] * 3 + [True] * 4


# --- surprises ------------------------------------------------------------------------------------------------------------------


def claim(id_: str, verdict: Verdict, value: float, border: float) -> JudgedClaim:
    rule = RatioRule(rule="ratio_at_least", scenario="s", metric="cpu", contender="a", other="b", ratio=border)
    compared = Comparison(
        contender="a", other="b", unit="ratio", verdict=verdict, reason=None, rounds=6, value=value, low=value * 0.9, high=value * 1.1,
        level=0.95, border=border, agree=1.0, sign_holds=True, rounds_needed=None, gate_low=None, gate_high=None,
    )  # fmt: skip
    part = Judged(rule=rule, verdict=verdict, reason=None, comparisons=[compared])
    return JudgedClaim(
        id=id_, article=id_[0], said=Said(en=id_, ko=id_), conclusion=verdict, reason=None, parts=[part], instead=[], also=[],
        rounds_needed=None, reported=[],
    )  # fmt: skip


def test_surprises_are_the_claims_that_figures_contradict_most_one_of_each_article() -> None:
    found = digests.surprises(
        [
            claim("A1", "REFUTED", 1.0, 8.0), claim("A2", "REFUTED", 1.0, 9.0), claim("B1", "SUPPORTED", 90.0, 2.0),
            claim("C1", "REFUTED", 1.0, 2.0), claim("D1", "UNDECIDED", 1.0, 90.0), claim("E1", "SUPPORTED", 3.0, 2.0),
        ]
    )  # fmt: skip
    assert [each.id for each in found] == ["A2", "C1"]
    saying = claim("F1", "REFUTED", 1.0, 99.0).model_copy(update={"saying": True})
    assert digests.surprises([saying, claim("C1", "REFUTED", 1.0, 2.0)])[0].id == "C1"
    theirs = Reported(what=Said(en="x", ko="x"), value=4.0, unit="×")
    number = JudgedNumber(theirs=theirs, came="NOT_AGAIN", by_its_figures=1.6)  # which its own figures contradict, whatever was measured
    assert digests.surprises([claim("E2", "NOT_MEASURED", 1.0, 2.0).model_copy(update={"number": number})]) == []
    measured = claim("E2", "REFUTED", 1.0, 2.0).model_copy(update={"number": number})
    assert digests.surprises([measured]) == [measured]


def test_the_run_of_a_surprise_is_named_where_it_is_another_one_and_so_is_that_of_its_number() -> None:
    theirs = Reported(what=Said(en="x", ko="x"), value=4.0, unit="×")
    number = JudgedNumber(theirs=theirs, came="NOT_AGAIN", value=1.0, factor=0.25, factor_low=0.2, factor_high=0.3, rounds=6)
    told = claim("E1", "REFUTED", 1.0, 2.0).model_copy(update={"number": number})

    def runs(folder: str, number_folder: str) -> list[str]:
        found = Across(told, folder, number_folder, [], [], [], [])
        return re.findall(r"<sub>(run-.)</sub>", surprising([found], "results/run-a", "en"))

    assert runs("results/run-a", "results/run-a") == []
    assert runs("results/run-b", "results/run-a") == ["run-b"]
    assert runs("results/run-a", "results/run-c") == ["run-c"]
    assert runs("results/run-b", "results/run-c") == ["run-c", "run-b"], "in the order of the columns"


# --- README and digest.toml ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "language"), markdown.READMES.items())
def test_a_run_with_every_row_leaves_the_readme_short(name: str, language: Language) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    begin = text.index("| | java-vt")
    written = text[:begin] + words.table(WHOLE, language) + text[text.index("\n\n", begin) :]
    assert len(written.encode()) <= 12 * 1024
    assert len(written.splitlines()) <= 200


@pytest.mark.parametrize(("level", "told"), [("warn", True), ("ok", False)])
def test_how_long_a_slow_system_call_takes_is_told_with_the_machine(claims: Claims, level: str, told: bool) -> None:
    finding = {"id": "kernel", "level": level, "inputs": {"system_call_ns": 302.4}}
    run = standard.run() | {"preflight": {"findings": [finding]}}
    judgement = judged(run, standard.cells(), standard.starts(), None, claims)
    for language, says in (("en", "where a system call takes 302 ns"), ("ko", "시스템 호출 한 번에 302 ns")):
        assert (says in markdown.readme_block(WHOLE, run, [("bench/results/x", judgement)], language)) == told


def test_mistakes_in_digest_toml_are_told(tmp_path: Path) -> None:
    (tmp_path / "digest.toml").write_text(
        '[[row]]\nid = "nowhere"\nen = "x"\nko = "x"\n[[finding]]\nrow = "nowhere"\nkind = "least"\nen = "{best}"\nko = "{best}"\n'
    )
    with pytest.raises(ConfigurationError, match="no scenario is named nowhere"):
        load_digest(tmp_path, REGISTRY)
    (tmp_path / "digest.toml").write_text(
        '[[row]]\nid = "cost-read"\nen = "x"\nko = "x"\n[[finding]]\nrow = "cost-read"\nkind = "least"\nen = "{threads}"\nko = "x"\n'
    )
    with pytest.raises(ConfigurationError, match="least has no field threads"):
        load_digest(tmp_path, REGISTRY)
