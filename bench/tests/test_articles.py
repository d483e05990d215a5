"""Tier article: who is asked what, how long a whole load takes, and an article's figures beside ours."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest

from nsb.analyse.articles import repeated, uncollected
from nsb.analyse.claims import judged
from nsb.records.cells import Reading
from nsb.records.judged import Cell, Latency
from nsb.registry import plan as plans
from nsb.registry.claims import Article, Beside, Claim, Claims, Difference, Judged, Ours, Reported, Said, SlopeRule
from nsb.registry.load import Registry
from nsb.registry.shapes import FixedWork, scenario_of
from nsb.render import articles as pages
from nsb.render import messages

SAID = Said(en="It is.", ko="그렇습니다.")


# --- who is asked what ------------------------------------------------------------------------------------------------


def test_a_scenario_is_asked_of_those_that_claims_name_and_of_the_twins_original(claims: Claims, registry: Registry) -> None:
    asked = plans.by_claims(claims, registry, ["B"], "1cpu")
    assert asked == {
        "cost-fanout": ["go", "kotlin-coroutines", "kotlin-pool-600"],
        "fanout-rate": ["java-vt", "java-pt", "go", "kotlin-coroutines", "kotlin-pool-300"],
        "fanout-max": ["go", "kotlin-coroutines", "kotlin-pool-3", "kotlin-pool-300"],
        "fanout-memory": ["go", "kotlin-coroutines", "kotlin-pool-600"],
        "b-fanout": ["kotlin-coroutines", "kotlin-pool-3", "kotlin-pool-300"],
    }


def test_every_scenario_is_asked_of_the_originals_of_the_twins_asked_for(claims: Claims, registry: Registry) -> None:
    asked = plans.by_claims(claims, registry, ["C"], "1cpu", ["java-vt"])
    assert {scenario for scenario, names in asked.items() if "go" in names} == {"idle-connections"}  # what a claim asks of it
    assert all("java-vt" in names for scenario, names in asked.items())
    both = plans.by_claims(claims, registry, ["C"], "1cpu", ["java-vt", "go"])
    assert {scenario for scenario, names in both.items() if "go" in names} == {each for each in both if each != "c-sleep"}


def test_what_only_several_cores_can_tell_is_asked_there_alone(claims: Claims, registry: Registry) -> None:
    one, several = (plans.by_claims(claims, registry, ["D"], profile) for profile in ("1cpu", "ncpu"))
    assert "virtual-threads-small" not in one
    assert "java-vt-16" in several["virtual-threads-small"]


def test_every_rule_of_an_article_can_be_decided_by_its_run(claims: Claims, registry: Registry) -> None:
    asked = plans.by_claims(claims, registry, list(claims.articles), "1cpu")
    names = list(registry.contenders)
    made = plans.make(registry, "article", names, list(asked), "1cpu", 1, 3, rounds=1, asked=asked)
    there = {(slot.scenario.id, slot.contender.id) for slot in made.slots(1)}
    for claim in claims.claims.values():
        for rule, only in claim.rules:
            if only != "ncpu" and hasattr(rule, "scenario"):
                assert {(rule.scenario, name) for name in plans.contenders_of(rule)} <= there
    assert made.cells == len(there) < len(names) * len(asked)


def test_a_twin_is_asked_what_its_original_is(claims: Claims, registry: Registry) -> None:
    asked = plans.by_claims(claims, registry, ["B"], "1cpu")
    made = plans.make(registry, "article", ["go", "go-twin", "kotlin-pool-3"], list(asked), "1cpu", 1, 3, rounds=1, asked=asked)
    assert {(s.scenario.id, s.contender.id) for s in made.slots(1)} == {
        ("cost-fanout", "go"), ("cost-fanout", "go-twin"), ("fanout-memory", "go"), ("fanout-memory", "go-twin"),
        ("fanout-rate", "go"), ("fanout-rate", "go-twin"),
        ("fanout-max", "go"), ("fanout-max", "go-twin"), ("fanout-max", "kotlin-pool-3"), ("b-fanout", "kotlin-pool-3"),
    }  # fmt: skip


# --- a whole load -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("contender", "scenario", "seconds"),
    [
        ("java-pt", "a-sleep", 30 + 15),  # 3000 users behind 200 threads drain 15 s: the article's 45.6 s
        ("java-vt", "a-sleep", 30 + 1),
        ("java-pt", "a-slow-query", 30 + 20),
        ("java-vt", "a-slow-query", 30 + 20),
        ("kotlin-pool-3", "b-fanout", 100),
        ("kotlin-pool-300", "b-fanout", 1),
        ("java-pt", "c-sleep", 20),
        ("java-webflux", "c-sleep", 2),
        ("java-pt", "e-hello", 10),
    ],
)
def test_a_whole_load_is_announced_by_its_stations(registry: Registry, contender: str, scenario: str, seconds: float) -> None:
    made = plans.make(registry, "article", [contender], [scenario], "1cpu", 1, 3, rounds=1)
    timing = made.timing(made.scenarios[0])
    around = timing.total_s - timing.window_s
    assert made.cell_s(made.contenders[0], made.scenarios[0]) - around == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("changes", "mistake"),
    [
        ({"requests": 5}, "exactly one of send_s and requests"),
        ({"send_s": None}, "exactly one of send_s and requests"),
        ({"send_s": None, "requests": 5}, "so many requests need a hold"),
        ({"rate": 5}, "Extra inputs are not permitted"),
        ({"levels": [1, 2]}, "Extra inputs are not permitted"),
        ({"article_window_s": 5.0}, "Extra inputs are not permitted"),
    ],
)
def test_a_fixed_work_has_one_end_and_no_field_of_another_shape(changes: dict[str, Any], mistake: str) -> None:
    plain = {"shape": "fixed-work", "id": "x", "why": "", "path": "/x", "body": "", "vus": 8, "headline": "throughput", "send_s": 5.0}
    found = scenario_of(plain)
    assert isinstance(found, FixedWork)
    assert (found.send_s, found.ends, found.model) == (5.0, True, "closed")
    with pytest.raises(ValueError, match=mistake):
        scenario_of({**plain, **changes})


# --- theirs and ours --------------------------------------------------------------------------------------------------


def cell(round_: int, contender: str, rate: float, seconds: float = 10.0, p90: float = 1000.0, **changes: Any) -> Cell:
    return Cell(
        round=round_, contender=contender, scenario="burst", profile="1cpu", model="closed", window_s=seconds, throughput_rps=rate,
        latency_ms=Latency(p50=1.0, p90=p90, p99=None, max=9.0), whole=True, **{"status": "valid", "limit": "cpu", **changes},
    )  # fmt: skip


def figure(value: float, unit: str, metric: Any = "throughput", contender: str = "a", other: str | None = None) -> Reported:
    return Reported(what=SAID, value=value, unit=unit, ours=Ours(scenario="burst", contender=contender, metric=metric, other=other))


def claims_with(*reported: Reported, beside: tuple[Beside, ...] = ()) -> Claims:
    differs = [Difference(en=SAID.en, ko=SAID.ko), *(Difference(en=f"of {load}", ko=f"{load}에서", of=load) for load in ("burst", "other"))]
    article = Article(id="X", title=SAID, setup=SAID, differs=differs)
    arithmetic: Any = {"rule": "arithmetic", "over": [4.0], "under": [2.0], "said": 2.0}
    claim = Claim.model_validate(
        {"id": "X1", "article": "X", "said": SAID, "parts": [arithmetic], "reported": list(reported), "beside": list(beside)}
    )
    return Claims(articles={"X": article}, claims={"X1": claim})


RUN: dict[str, Any] = {
    "plan": {
        "tier": "article", "profile": "1cpu", "rounds": 2, "seed": 3, "workers": 1, "contenders": ["a", "b"], "scenarios": ["burst"],
        "asked": {"burst": ["a", "b"]}, "articles": ["X"], "vus": {"burst": 3000}, "rates": {"burst": None}, "windows_s": {"burst": 30},
        "loads": {"burst": {"send_s": 30.0}}, "heaps_mib": {"burst": 4096}, "models": {"burst": "closed"},
        "headlines": {"burst": "throughput"},
    },
    "host": {"cpu": "A CPU", "cores": 2, "memory_gib": 8, "system": "Linux", "kernel": "6", "commit": "c0ffee", "changed": False},
    "database": {"kind": "mysql", "version": "9"}, "started_at": "2026-11-22T00:00:00+00:00",
}  # fmt: skip


def test_ours_is_the_mean_over_the_rounds_in_the_articles_unit_and_the_ratio_has_its_interval() -> None:
    cells = [cell(1, "a", 90.0, 20.0, 15_000.0), cell(2, "a", 110.0, 22.0, 16_000.0), cell(1, "b", 45.0), cell(2, "b", 50.0)]
    asked = [figure(200.0, "requests/s"), figure(21.0, "s", "duration"), figure(15.0, "s", "p90"), figure(2.0, "×", other="b")]
    rate, seconds, p90, ratio = repeated(RUN, cells, claims_with(*asked))["X"]
    assert (rate.value, seconds.value) == (pytest.approx(math.sqrt(90 * 110)), pytest.approx(math.sqrt(440)))
    assert p90.value == pytest.approx(math.sqrt(15 * 16))
    assert ratio.value == pytest.approx(math.sqrt(2.0 * 2.2))
    assert (rate.rounds, rate.limit, ratio.limit, rate.bound) == (2, "cpu", None, False)
    assert rate.ratio is not None
    assert rate.low is not None
    assert (rate.ratio.value, rate.ratio.low) == (pytest.approx(rate.value / 200), pytest.approx(rate.low / 200))


def test_a_run_that_was_asked_by_single_articles_judges_their_claims(claims: Claims) -> None:
    assert {claim.article for claim in judged(RUN | {"plan": {**RUN["plan"], "articles": ["B", "E"]}}, [], [], None, claims).claims} == {
        "B", "E"
    }  # fmt: skip
    whole = judged(RUN | {"plan": {**RUN["plan"], "articles": []}}, [], [], None, claims)
    assert [claim.id for claim in whole.claims] == list(claims.claims)


def test_one_round_has_no_figure() -> None:
    (alone,) = repeated(RUN, [cell(1, "a", 90.0)], claims_with(figure(200.0, "requests/s")))["X"]
    assert (alone.value, alone.ratio, alone.rounds) == (None, None, 1)


def test_what_the_generator_held_back_is_a_bound_and_no_part_of_a_ratio() -> None:
    held = {"status": "censored", "limit": "generator"}
    cells = [cell(1, "a", 90.0, **held), cell(2, "a", 110.0, **held), cell(1, "b", 45.0), cell(2, "b", 50.0)]
    rate, ratio = repeated(RUN, cells, claims_with(figure(200.0, "requests/s"), figure(2.0, "×", other="b")))["X"]
    assert (rate.bound, rate.limit, rate.rounds) == (True, "generator", 2)
    assert (ratio.bound, ratio.value) == (False, None)


@pytest.mark.parametrize(
    ("unit", "en", "ko"),
    [
        ("s", "20.1 s", "20.1초"),
        ("×", "20.1 ×", "20.1배"),
        ("threads", "20.1 threads", "스레드 20.1개"),
        ("requests", "20.1 requests", "요청 20.1건"),
        ("requests/s", "20.1 requests/s", "20.1 요청/s"),
    ],
)
def test_an_amount_is_written_as_its_language_writes_it(unit: str, en: str, ko: str) -> None:
    assert [messages.amount("20.1", unit, language) for language in messages.LANGUAGES] == [en, ko]


@pytest.mark.parametrize(
    ("metric", "unit", "sign"),
    [("throughput", "requests/s", "≥"), ("threads", "threads", ""), ("p90", "ms", "≤"), ("max", "ms", "≤"), ("duration", "s", "≤")],
)
def test_a_bound_says_on_which_side_the_figure_lies(metric: Any, unit: str, sign: str) -> None:
    held: dict[str, Any] = {"status": "censored", "limit": "generator", "threads_peak": 20}
    (bound,) = repeated(RUN, [cell(n, "a", 90.0, **held) for n in (1, 2)], claims_with(figure(2.0, unit, metric)))["X"]
    assert (bound.bound, bound.rounds, pages.sign_of(bound)) == (sign != "", 2, sign)
    (exact,) = repeated(RUN, [cell(n, "a", 90.0, threads_peak=20) for n in (1, 2)], claims_with(figure(2.0, unit, metric)))["X"]
    assert (exact.bound, pages.sign_of(exact)) == (False, "")


def test_who_could_not_run_it_has_no_line() -> None:
    cells = [cell(1, "a", 0.0, status="unsupported", limit=None)]
    assert repeated(RUN, cells, claims_with(figure(200.0, "requests/s"))) == {}
    assert repeated({"plan": {"scenarios": ["other"]}}, cells, claims_with(figure(200.0, "requests/s"))) == {}


@pytest.mark.parametrize("language", ["en", "ko"])
def test_the_page_has_their_figure_ours_and_what_explains_it(language: Any) -> None:
    held: dict[str, Any] = {"status": "censored", "limit": "generator", "doubts": ["V7 noisy"]}
    claims = claims_with(figure(200.0, "requests/s"), figure(50.0, "requests/s", contender="b"))
    cells = [cell(1, "a", 90.0, **held), cell(2, "a", 110.0, **held), cell(1, "b", 45.0), cell(2, "b", 50.0)]
    found = repeated(RUN, cells, claims)["X"]
    page = pages.page(language, claims.articles["X"], found, RUN, judged(RUN, cells, [], None, claims), ["X", "Y"])
    lines = [line for line in page.splitlines() if line.startswith("| **X1**")]
    assert "| 200 " in lines[0]
    assert f"| {messages.amount('≥99.5?', 'requests/s', language)} (" in lines[0]
    assert "| ≥0.50 (" in lines[0]
    assert f"| {messages.amount('47.4', 'requests/s', language)} (" in lines[1]
    assert f"- {getattr(SAID, language)}" in page
    assert {"en": "- of burst", "ko": "- burst에서"}[language] in page.splitlines()
    assert {"en": "- of other", "ko": "- other에서"}[language] not in page.splitlines(), "a load that the run did not repeat"
    assert "4,096 MiB" in page
    assert "--tier article --articles X" in page
    assert f"[Y](Y.{language}.md)" in page
    assert f"](../charts/article-X.{language}.svg)" in page
    assert "None" not in page


@pytest.mark.parametrize("language", ["en", "ko"])
def test_a_figure_that_the_article_does_not_have_stands_below_its_own_without_a_ratio(language: Any) -> None:
    own = Beside(what=Said(en="another", ko="다른 것"), unit="threads", ours=Ours(scenario="burst", contender="b", metric="threads"))
    claims = claims_with(figure(200.0, "requests/s"), beside=(own,))
    cells = [cell(n, name, 90.0, threads_peak=30) for n in (1, 2) for name in ("a", "b")]
    found = repeated(RUN, cells, claims)["X"]
    assert [each.theirs for each in found] == [*claims.claims["X1"].reported, own]
    assert found[1].ratio is None
    page = pages.page(language, claims.articles["X"], found, RUN, judged(RUN, cells, [], None, claims), ["X"])
    (line,) = [line for line in page.splitlines() if messages.own(own.what, language) in line]
    measured = messages.amount("30", "threads", language)
    assert line == f"| **X1** {messages.own(own.what, language)} | – | {measured} (30–30) | – | CPU | burst, b |"


@pytest.mark.parametrize("language", ["en", "ko"])
def test_the_page_says_where_the_verdicts_are_that_its_run_was_not_asked_for(language: Any) -> None:
    claims, cells = claims_with(figure(200.0, "requests/s")), [cell(1, "a", 90.0)]
    found, judgement = repeated(RUN, cells, claims)["X"], judged(RUN, cells, [], None, claims)
    asked = judgement.claims[0]
    for verdict in ("SUPPORTED", "NOT_MEASURED"):
        reason = "no_scenario" if verdict == "NOT_MEASURED" else None
        other = judgement.model_copy(update={"claims": [asked.model_copy(update={"conclusion": verdict, "reason": reason})]})
        page = pages.page(language, claims.articles["X"], found, RUN, other, ["X"])
        assert ("docs/verdicts" in page) == (verdict == "NOT_MEASURED")


@pytest.mark.parametrize("language", ["en", "ko"])
def test_the_page_says_whose_memory_was_read_with_garbage_in_it(language: Any) -> None:
    claims, cells = claims_with(figure(200.0, "requests/s")), [cell(1, "a", 90.0)]
    found, judgement = repeated(RUN, cells, claims)["X"], judged(RUN, cells, [], None, claims)
    slope = SlopeRule(rule="slope_greater", scenario="burst", contender="a", other="b")
    scope = judgement.scope.model_copy(update={"versions": {"a": "Java 25.0.3", "b": "Go 1.26", "c": "Java 25.0.3"}})

    def page(verdict: str, *uncollected: str) -> str:
        reason = "no_scenario" if verdict == "NOT_MEASURED" else None
        part = Judged.model_validate({"rule": slope, "verdict": verdict, "reason": reason})
        claim = judgement.claims[0].model_copy(update={"parts": [part], "reason": reason})
        own = judgement.model_copy(update={"claims": [claim], "scope": scope})
        return pages.page(language, claims.articles["X"], found, RUN, own, ["X"], uncollected)

    said = {"en": "Memory per request of a was read", "ko": "이 측정은 a의 요청당 메모리를 전체 GC 없이"}[language]
    assert said in page("REFUTED", "a", "b", "c"), "the JVM that the claim asks of"
    assert said not in page("REFUTED", "b")
    assert said not in page("NOT_MEASURED", "a")


def test_whose_ladders_had_no_collection_is_known_by_their_readings() -> None:
    read = Reading(users=1, in_flight=1, pss_mib=9.0)
    ladders = {"a": [read], "b": [read, read.model_copy(update={"collected_s": 0.1})], "c": []}
    assert uncollected([cell(1, name, 90.0, ladder=ladder) for name, ladder in ladders.items()]) == ["a"]


@pytest.mark.parametrize("language", ["en", "ko"])
def test_a_page_without_any_spread_shows_no_chart(language: Any) -> None:
    claims, cells = claims_with(figure(200.0, "requests/s")), [cell(1, "a", 90.0)]
    page = pages.page(language, claims.articles["X"], repeated(RUN, cells, claims)["X"], RUN, judged(RUN, cells, [], None, claims), ["X"])
    assert ".svg" not in page


def test_every_picture_of_a_committed_page_is_committed_too() -> None:
    pages_of = sorted((Path(__file__).parents[1] / "results").glob("*-article*/articles/*.md"))
    assert pages_of
    for file in pages_of:
        for picture in re.findall(r"!\[[^]]*\]\(([^)]+)\)", file.read_text(encoding="utf-8")):
            assert (file.parent / picture).is_file(), f"{file}: {picture}; ./justw report {file.parent.parent.name} draws it"
