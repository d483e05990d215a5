"""Charts: planted figures come out where they belong, bounds look like bounds, and what the data do not have is not drawn."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest
from altair.utils.schemapi import validate_jsonschema
from altair.vegalite.v6.schema import load_schema
from jsonschema import ValidationError

from nsb.analyse import table as tables
from nsb.analyse.articles import Figure
from nsb.records.cells import Reading
from nsb.records.judged import Cell, Latency, Slope
from nsb.records.starts import Start
from nsb.registry.claims import Beside, Ours, Reported, Said
from nsb.registry.terms import Metric
from nsb.render import charts as drawing
from nsb.render.charts_base import PALETTE, SHAPES, luminance, wrapped
from nsb.render.charts_figures import HEAT, ink
from nsb.render.charts_points import beside_best, dots
from nsb.render.messages import LANGUAGES
from nsb.session.runs import read_run
from planted import COST, NAMES, cells, plan, starts

RECORDING = Path(__file__).parent / "recordings" / "run"


def made(run: dict[str, Any], found: list[Cell], began: list[Start] | None = None) -> dict[str, drawing.Chart]:
    table = tables.make(run, found, began or [])
    return {chart.id: chart for chart in drawing.charts(table, run, found, began or [])}


@pytest.fixture(scope="module")
def usual() -> dict[str, drawing.Chart]:
    return made(plan(), cells(), starts())


def drawn(chart: drawing.Chart, language: Any = "en") -> list[dict[str, Any]]:
    """The rows that the chart's main data hold."""
    return max(chart.specs[language]["datasets"].values(), key=len)  # type: ignore[no-any-return]


def row(chart: drawing.Chart, name: str) -> dict[str, Any]:
    return next(each for each in drawn(chart) if each["name"].split("  ")[0] == name)


def test_every_kind_is_there_once_for_each_scenario_that_has_it(usual: dict[str, drawing.Chart]) -> None:
    assert list(usual) == [
        "heat", "intervals-cost", "intervals-most", "intervals-wait", "intervals-flight", "latency-cost", "latency-wait",
        "roles-cost", "roles-wait", "memory-flight", "growth-flight", "start-ready", "start-pss",
    ]  # fmt: skip


def test_what_the_run_does_not_have_is_not_drawn() -> None:
    assert list(made(plan(scenarios=["cost"]), cells())) == [
        "heat",
        "intervals-cost",
        "latency-cost",
        "roles-cost",
    ]


def test_the_best_is_drawn_first(usual: dict[str, drawing.Chart]) -> None:
    by_cost, by_wait = ["quick", "odd", "slow"], ["slow", "quick", "odd"]
    for chart, order in (("intervals-cost", by_cost), ("intervals-most", by_cost), ("latency-wait", by_wait), ("roles-wait", by_cost)):
        assert list(dict.fromkeys(line[0] for line in usual[chart].rows)) == order, chart
        assert f'"sort": {json.dumps(order)}' in json.dumps(usual[chart].specs["en"]), chart
    bent = made(plan(scenarios=["wait"]), cells(wait_slow={"status": "censored", "limit": "loop"}))
    assert [line[0] for line in bent["intervals-wait"].rows][-1] == "slow"  # it has no figure


def test_controls_are_in_no_chart() -> None:
    run = plan(scenarios=["cost"])
    run["plan"]["contenders"] = [*NAMES, "odd-twin"]
    run["plan"]["controls"] = {"odd-twin": {"kind": "twin", "of": "odd"}}
    twin = [each.model_copy(update={"contender": "odd-twin"}) for each in cells() if each.contender == "odd"]
    found = made(run, [*cells(), *twin])
    assert "odd-twin" not in json.dumps([(chart.specs["en"], chart.rows) for chart in found.values()])


def test_a_doubled_figure_doubles_its_mark(usual: dict[str, drawing.Chart]) -> None:
    twice = {"cpu_us_per_request": {"service": 2 * COST["odd"], "generator": 40.0}}
    bent = made(plan(scenarios=["cost"]), cells(cost_odd=twice))
    for chart, field in (("intervals-cost", "v"), ("roles-cost", "to")):
        assert row(bent[chart], "odd")[field] == pytest.approx(2 * row(usual[chart], "odd")[field], rel=0.01)
        assert row(bent[chart], "quick") == row(usual[chart], "quick")
    assert row(bent["heat"], "odd")["ratio"] == pytest.approx(2 * row(usual["heat"], "odd")["ratio"], rel=0.01)


def test_each_figure_is_drawn_with_its_spread(usual: dict[str, drawing.Chart]) -> None:
    for chart in usual.values():
        if chart.id == "heat":
            continue
        for each in drawn(chart):
            if chart.kind != "roles" or each["role"] == "service":
                assert each["lo"] <= each.get("v", each.get("to")) <= each["hi"], (chart.id, each)


def test_no_figure_of_the_heat_map_is_without_its_spread(usual: dict[str, drawing.Chart]) -> None:
    lost = {"status": "invalid", "reasons": ["V7 noise"]}
    few = [each.model_copy(update=lost) if each.contender == "odd" and each.round > 4 else each for each in cells()]
    for chart, said in ((usual["heat"], None), (made(plan(), few)["heat"], "4/6"), (made(plan(1), cells(1))["heat"], None)):
        assert [each for each in drawn(chart) if each["figure"][0] != "≤" and not each["width"].startswith("±")] == []
        assert all(value.count("±") == 1 for line in chart.rows for value in line[1:]), chart.rows
        assert said is None or all(each["width"].endswith(said) for each in drawn(chart) if each["name"] == "odd")
    assert any("interval over the rounds" in note.en for note in usual["heat"].notes)
    assert any("two halves" in note.en for note in made(plan(1), cells(1))["heat"].notes)


@pytest.mark.parametrize("at", [n / 50 for n in range(51)])
def test_what_is_written_on_a_colour_of_the_heat_map_can_be_read(at: float) -> None:
    below = min(int(4 * at), 3)
    ends = [[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in HEAT[below : below + 2]]
    ground = "#" + "".join(f"{round(a + (4 * at - below) * (b - a)):02x}" for a, b in zip(*ends, strict=True))
    assert _contrast(ink(at), ground) >= 4.5


def test_a_bound_is_an_open_arrow_and_has_no_ratio() -> None:
    bent = made(plan(scenarios=["most"]), cells(most_odd={"status": "censored", "limit": "generator"}))
    bound, exact = row(bent["intervals-most"], "odd"), row(bent["intervals-most"], "quick")
    assert (bound["mark"], bound["fill"], bound["says"][0]) == ("triangle-right", "transparent", "≥")
    assert (exact["mark"], exact["fill"]) == ("circle", exact["colour"])
    heat = {(each["line"], each["name"]): each for each in drawn(bent["heat"])}
    assert "ratio" not in heat["most", "odd"]
    assert heat["most", "slow"]["times"].startswith("≥")
    assert "Bounds only: odd." in bent["intervals-most"].alt.en


def test_a_bound_that_beats_all_figures_is_the_least_distance_of_the_others() -> None:
    run, found = plan(), cells(most_odd={"status": "censored", "limit": "generator", "throughput_rps": 90_000.0})
    headline, line = dots(tables.make(run, found), "most")
    assert headline == "throughput"
    beside = {each.dot.contender: each for each in beside_best(line, less_is_better=False)}
    assert beside["odd"].times is None
    assert beside["quick"].times == pytest.approx(90_000 / 8950, rel=0.01)
    assert beside["quick"].at_least


def test_who_did_not_sustain_the_rate_has_no_point_beside_the_others() -> None:
    bent = made(plan(scenarios=["wait"]), cells(wait_odd={"status": "censored", "limit": "loop"}))
    assert "v" not in row(bent["intervals-wait"], "odd")
    assert "†" in row(bent["intervals-wait"], "odd")["says"]
    for chart in ("latency-wait", "roles-wait"):
        assert "odd" not in {each["name"] for each in drawn(bent[chart])}
    assert "Could not sustain the rate: odd." in bent["latency-wait"].alt.en


def test_latency_is_never_drawn_finer_than_its_clock() -> None:
    exact = {"latency_ms": Latency(p50=105.0, p90=106.0, p99=None, max=107.0)}
    bent = made(plan(scenarios=["wait"]), cells(wait_odd=exact))
    found = row(bent["intervals-wait"], "odd")
    assert (found["lo"], found["hi"]) == (104.0, 106.0)
    assert any("resolve 1 ms" in note.en for note in bent["intervals-wait"].notes)
    assert min(each["v"] for each in drawn(bent["latency-wait"]) if each["name"] == "odd") == 5.0  # beyond the hold of 100 ms


def test_the_alternative_names_the_true_extremes(usual: dict[str, drawing.Chart]) -> None:
    assert "lowest quick with 50.0" in usual["intervals-cost"].alt.en
    assert "highest slow with 400" in usual["intervals-cost"].alt.en
    assert "8.00 times" in usual["intervals-cost"].alt.en
    assert "do not overlap" in usual["intervals-cost"].alt.en
    assert "최저 quick" in usual["intervals-cost"].alt.ko
    assert "p99 of wait: lowest slow" in usual["latency-wait"].alt.en
    assert "least for quick" in usual["memory-flight"].alt.en
    assert "lowest quick" in usual["growth-flight"].alt.en
    swapped = made(plan(scenarios=["cost"]), cells(cost_quick={"cpu_us_per_request": {"service": 900.0}}))
    assert "highest quick with 900" in swapped["intervals-cost"].alt.en


def test_only_intervals_that_lie_apart_make_a_best(usual: dict[str, drawing.Chart]) -> None:
    assert "quick (cost, flight)" in usual["heat"].alt.en
    assert "No best by intervals in: most, wait" in usual["heat"].alt.en
    slopes = {r: Slope(kib=12 + 40 * (-1) ** r, first_kib=1.0, last_kib=1.0) for r in range(1, 7)}
    found = [
        each.model_copy(update={"memory_slope": slopes[each.round]}) if (each.scenario, each.contender) == ("flight", "slow") else each
        for each in cells()
    ]
    bound = made(plan(scenarios=["flight"]), found)["heat"]
    assert "≤" in {each["name"]: each for each in drawn(bound)}["slow"]["figure"]
    assert "apart" not in bound.alt.en  # what is known to be at most so much may be best
    one = made(plan(1, ["cost"]), cells(1))["heat"].alt.en
    assert "apart" not in one


def test_one_round_shows_halves_and_says_that_they_are_no_interval() -> None:
    one = made(plan(1, ["cost", "wait"]), cells(1), starts(1))
    found = row(one["intervals-cost"], "quick")
    assert (found["lo"], found["hi"]) == (pytest.approx(45.1, rel=0.01), pytest.approx(49.9, rel=0.01))
    assert "no interval" in found["spread"]
    assert any("not an interval" in note.en for note in one["intervals-cost"].notes)
    assert "without an interval to judge by" in one["intervals-cost"].alt.en
    by_percentile = {each["percentile"]: each for each in drawn(one["latency-wait"]) if each["name"] == "odd"}
    assert "lo" in by_percentile["p50"]
    assert "lo" not in by_percentile["p99"]
    assert "start-ready" not in one  # one start has no spread


def test_memory_is_the_median_of_the_readings_and_its_growth_begins_at_zero(usual: dict[str, drawing.Chart]) -> None:
    levels = [each for each in drawn(usual["memory-flight"]) if each["name"] == "slow"]
    assert [each["x"] for each in levels] == pytest.approx([50, 100, 600], abs=0.01 * 600)  # set apart from the others
    assert [each["users"] for each in levels] == ["50", "100", "600"]
    assert levels[2]["v"] - levels[0]["v"] == pytest.approx(550 * 0.2, rel=0.01)
    growth = [each["v"] for each in drawn(usual["growth-flight"]) if each["name"].startswith("slow")]
    assert growth == [0, pytest.approx(10), pytest.approx(110)]


def test_a_level_that_lets_no_more_in_is_not_drawn() -> None:
    full = [Reading(users=n, in_flight=n if n < 600 else None, pss_mib=30 + n / 10) for n in (50, 100, 600)]
    run = plan(scenarios=["flight"])
    run["runtimes"] = {"odd": {"settings": {"server_threads": 100}}}
    chart = made(run, cells(flight_odd={"ladder": full}))["memory-flight"]
    assert [each["users"] for each in drawn(chart) if each["name"] == "odd"] == ["50", "100"]
    assert [each["users"] for each in drawn(chart) if each["name"] == "quick"] == ["50", "100", "600"]
    assert any("A line ends" in note.en for note in chart.notes)


# --- an article's figures beside ours ----------------------------------------------------------------------------------


def figure_of(value: float | None, theirs: float, metric: Metric = "throughput", other: str | None = None, **more: Any) -> Figure:
    ours = Ours(scenario="most", contender="quick", metric=metric, other=other)
    unit = "×" if other else "ms" if metric == "p90" else "requests/s"
    reported = Reported(what=Said(en=f"as {theirs:g}", ko=f"{theirs:g}대로"), value=theirs, unit=unit, ours=ours)
    ends: dict[str, Any] = {"low": None, "high": None}
    if value is not None:
        ends = {"low": value * 0.95, "high": value * 1.04, "equality": (value * 0.96, value * 1.03)}
    known = {"claim": "X1", "theirs": reported, "value": value, "bound": False, "rounds": 6, "limit": "cpu", "doubts": 0, **ends, **more}
    return Figure.model_validate(known)


def of_article(*figures: Figure) -> dict[str, drawing.Chart]:
    run, found = plan(), cells()
    every = drawing.charts(tables.make(run, found, []), run, found, [], {"X": figures})
    return {chart.id: chart for chart in every if chart.kind == "article"}


def test_an_article_s_figure_is_a_ratio_with_its_interval_and_both_values() -> None:
    chart = of_article(figure_of(150.0, 100.0), figure_of(2.0, 4.0, other="slow"), figure_of(None, 7.0, rounds=1))["article-X"]
    first, second = drawn(chart)
    assert (first["v"], first["lo"], first["hi"]) == (1.5, pytest.approx(1.425), pytest.approx(1.56))
    assert (first["name"], first["says"]) == ("X1 as 100", "100 → 150 requests/s")
    assert (second["v"], second["says"], second["measured"]) == (0.5, "4 → 2.00 ×", "most, quick ÷ slow")
    assert [each["one"] for each in drawn(chart) if "one" in each] == [1], "the line of theirs is drawn once"
    assert [line[5] for line in chart.rows] == ["1.50", "0.50", "–"], "who has no figure stands in the table all the same"
    assert (
        "Of article X's figures this run repeats 3, with a value for 2; within 10% of the article's with the whole 90 % interval: 0."
        in chart.alt.en
    )
    assert "Furthest from it: X1 as 4, 0.50 times the article's (0.47–0.52)" in chart.alt.en


def test_what_the_article_does_not_have_is_in_the_table_alone() -> None:
    ours = Ours(scenario="most", contender="slow", metric="threads")
    beside = Beside(what=Said(en="more", ko="더"), unit="threads", ours=ours)
    own = figure_of(30.0, 1.0, low=30.0, high=30.0).model_copy(update={"theirs": beside})
    chart = of_article(figure_of(150.0, 100.0), own)["article-X"]
    assert [each["name"] for each in drawn(chart)] == ["X1 as 100"]
    assert chart.rows[1][1:6] == [Said(en="–", ko="–"), "30.0", "30.0", "30.0", "–"]
    assert "Of article X's figures this run repeats 1, with a value for 1;" in chart.alt.en


def test_an_article_s_chart_is_as_wide_as_its_names_and_values_and_no_wider() -> None:
    short = of_article(figure_of(2.5, 2.0, other="slow"))["article-X"]
    long = of_article(figure_of(2.5, 2.0, other="slow"), figure_of(123456.0, 654321.0))["article-X"]
    assert short.least_px <= 350 < long.least_px <= 640, "a phone shows the first one whole"


def test_a_figure_that_is_reproduced_is_counted_and_a_bound_is_not() -> None:
    held = figure_of(100.0, 100.0, bound=True, limit="generator")
    chart = of_article(figure_of(100.0, 100.0), held, figure_of(100.0, 101.0, metric="p90", bound=True))["article-X"]
    assert "repeats 3, with a value for 3; within 10% of the article's with the whole 90 % interval: 1." in chart.alt.en
    exact, lower, upper = drawn(chart)
    assert (exact["mark"], exact["fill"] == "transparent") == ("circle", False)
    assert (lower["mark"], lower["fill"], lower["says"]) == ("triangle-right", "transparent", "100 → ≥100 requests/s")
    assert (upper["mark"], upper["says"]) == ("triangle-left", "101 → ≤100 ms")


def test_an_article_without_a_spread_has_no_chart() -> None:
    assert of_article(figure_of(None, 7.0, rounds=1)) == {}


def test_the_chart_of_an_article_is_valid_and_drawn_in_both_languages() -> None:
    chart = of_article(figure_of(150.0, 100.0), figure_of(5.0, 400.0, metric="p90"))["article-X"]
    for language in LANGUAGES:
        validate_jsonschema(chart.specs[language], load_schema())
        picture = drawing.svg(chart, language)
        assert "→ 150" in picture
        assert ("as 100" in picture) == (language == "en")
    assert _without_words(chart.specs["en"]) == _without_words(chart.specs["ko"])
    assert all(len(line) == len(chart.columns) for line in chart.rows)


def _without_words(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_words(each) for key, each in value.items() if not key.startswith("data-") and key != "subtitle"}
    if isinstance(value, list):
        return [_without_words(each) for each in value]
    return None if isinstance(value, str) else value


def test_both_languages_have_the_same_structure_and_other_words(usual: dict[str, drawing.Chart]) -> None:
    for chart in usual.values():
        english, korean = chart.specs["en"], chart.specs["ko"]
        assert _without_words(english) == _without_words(korean), chart.id
        assert re.search("[가-힣]", chart.alt.ko + chart.title.ko), chart.id
        assert not re.search("[가-힣]", json.dumps(english, ensure_ascii=False)), chart.id
        assert "config" not in english
        assert english["width"] == "container"
        assert all(len(each) == len(chart.columns) for each in chart.rows), chart.id


def test_the_scope_stands_above_every_chart(usual: dict[str, drawing.Chart]) -> None:
    for chart in usual.values():
        above = " ".join(chart.specs["en"]["title"]["subtitle"])
        assert all(part in above for part in ("Tier standard", "6 rounds", "A processor, 2 cores", "0123456789ab")), chart.id


def test_contenders_can_be_told_apart_by_more_than_colour() -> None:
    assert len({(PALETTE[n % len(PALETTE)], SHAPES[n % len(SHAPES)]) for n in range(40)}) == 40
    for colour in PALETTE:
        assert all(_contrast(colour, page) >= 3.0 for page in ("#ffffff", "#161616")), colour


def _contrast(a: str, b: str) -> float:
    high, low = sorted((luminance([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) for colour in (a, b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_long_sentences_wrap_by_their_width() -> None:
    assert wrapped("one two three", 8) == ["one two", "three"]
    assert wrapped("하나 둘 셋", 8) == ["하나 둘", "셋"]


def test_a_recorded_run_is_drawn_and_the_same_data_give_the_same_bytes() -> None:
    run, found = read_run(RECORDING)
    run["plan"]["scenarios"] = ["hello-max"]
    first, again = made(run, found), made(copy.deepcopy(run), found)
    assert first == again
    chart = first["intervals-hello-max"]
    text = drawing.svg(chart, "en")
    assert text == drawing.svg(again["intervals-hello-max"], "en")
    assert text.startswith("<svg")
    assert chart.title.en in text
    assert all(name in text for name in run["plan"]["contenders"])


def test_every_chart_is_valid_vega_lite(usual: dict[str, drawing.Chart]) -> None:
    schema = load_schema()
    for chart in usual.values():
        validate_jsonschema(chart.specs["en"], schema)
    with pytest.raises(ValidationError):
        validate_jsonschema({**next(iter(usual.values())).specs["en"], "width": "as wide as it likes"}, schema)


def test_a_picture_in_korean_needs_letters(usual: dict[str, drawing.Chart], monkeypatch: pytest.MonkeyPatch) -> None:
    text = drawing.svg(usual["start-ready"], "en")
    picture = drawing.png(text, "en")
    assert picture is not None
    assert picture.startswith(b"\x89PNG")
    monkeypatch.setattr(drawing, "_letter", lambda letter: b"an empty box")
    drawing.has_letters.cache_clear()
    assert drawing.png(text, "ko") is None
    monkeypatch.undo()
    drawing.has_letters.cache_clear()
    assert LANGUAGES == ("en", "ko")


def test_the_bundle_is_one_plain_script() -> None:
    script = drawing.bundle()
    assert "window.vegaEmbed=" in script
    assert "</script" not in script
    assert len(script) < 1_000_000
