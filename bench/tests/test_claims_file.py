"""claims.toml: every claim of the articles is there with its figures, and every mistake in the file is told with its key."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nsb.analyse.articles import NEAR
from nsb.registry.claims import ArithmeticRule, Beside, Claim, Claims, MeasuredRule, Ours, Reported, Said
from nsb.registry.load import ConfigurationError, Registry, load_claims

IDS = {f"{letter}{number}" for letter, count in {"A": 11, "B": 2, "C": 6, "D": 8, "E": 5, "F": 3}.items() for number in range(1, count + 1)}
TABLES: dict[str, set[float]] = {
    # A: means of three runs, requests/s and P90 of virtual threads, platform threads, WebFlux and JDK 8, a test after the other
    "A1": {10749, 10971, 11347, 11103, 519.7, 513.0, 508.4, 511.9},
    "A2": {2855.7, 197.1, 2862.5, 197.9, 1011, 15050, 1003.3, 15127},
    "A3": {1983.0, 195.8, 2861.9, 197.7, 1782, 15126, 1010.7, 15104, 1.44},
    "A4": {148.8, 148.4, 148.5, 20.05, 20.04, 20.68},
    "A5": {4, 262},
    "A6": {900},
    "B1": {104.055, 9.61, 10406, 9867, 10391, 10413, 10425, 10439, 1.245, 803.28, 124.5, 107, 106, 113, 117, 162, 80},
    "C1": {20.1, 2.2},
    "D3": {16, 10},
    "D4": {89, 79, 92, 6},
    "D5": {12.1, 10},
    "E1": {124011, 800003, 8},
    "E2": {262381, 418479, 4},
    "E3": {347829, 3.82},
    "E4": {120, 20, 8},
}


def sentences(claim: Claim) -> list[Said]:
    beside = [claim.condition, claim.question and claim.question.why, *claim.explained.values()]
    return [claim.said, *(each for each in beside if each), *(aside.said for aside in (*claim.instead, *claim.also))]


def test_every_claim_of_the_articles_is_there(claims: Claims) -> None:
    assert set(claims.claims) == IDS
    assert set(claims.articles) == {"A", "B", "C", "D", "E", "F"}
    assert [article.id for article in claims.articles.values() if article.sayings] == ["F"]


def test_sentences_are_in_both_languages_and_end(claims: Claims) -> None:
    said = [
        *(each for claim in claims.claims.values() for each in sentences(claim)),
        *(article.setup for article in claims.articles.values()),
        *(each for article in claims.articles.values() for each in article.differs),
    ]
    for each in said:
        assert re.search(r"[가-힣]", each.ko), each
        assert not re.search(r"[가-힣]", each.en), each
        assert each.en.endswith((".", '."')), each
        assert each.ko.endswith("."), each
    assert len({each.en for each in said}) == len({each.ko for each in said})


@pytest.mark.parametrize("claim", TABLES)
def test_the_articles_own_figures_are_reported(claims: Claims, claim: str) -> None:
    """As a value, or told in the words of one: a rate is beside ours, its count and time are in brackets."""
    figures = claims.claims[claim].reported
    assert TABLES[claim] <= {figure.value for figure in figures} | {number for figure in figures for number in numbers(figure.what.en)}


def numbers(text: str) -> set[float]:
    return {float(number) for number in re.findall(r"\d+(?:\.\d+)?", text.replace(",", ""))}


def test_a_rate_in_the_place_of_a_count_is_that_count_by_its_time(claims: Claims) -> None:
    told = [
        (f.value, f.what.en) for claim in claims.claims.values() for f in claim.reported if f.unit == "requests/s" and " in " in f.what.en
    ]
    assert len(told) == 6
    for value, what in told:
        count, seconds = (float(part) for part in re.search(r"\(([\d,]+) in ([\d.]+) s\)", what.replace(",", "")).groups())  # type: ignore[union-attr]
        assert value == round(count / seconds)


def test_what_is_beside_an_articles_figure_is_of_its_own_load(claims: Claims, registry: Registry) -> None:
    told = [(claim.article, each.ours) for claim in claims.claims.values() for each in [*claim.reported, *claim.beside]]
    linked = [(article, ours) for article, ours in told if ours is not None]
    assert {registry.scenarios[ours.scenario].article for _, ours in linked} == set("ABCDE")
    assert all(registry.scenarios[ours.scenario].article == article for article, ours in linked)
    used = {ours.scenario for _, ours in linked}
    assert {s.id for s in registry.scenarios.values() if s.article} - used == set()


@pytest.mark.parametrize(
    ("unit", "link", "mistake"),
    [
        ("MiB", {"scenario": "a-hello", "contender": "java-pt", "metric": "throughput"}, "throughput cannot be told in MiB"),
        ("ms", {"scenario": "a-hello", "contender": "java-pt", "metric": "p90", "other": "java-vt"}, "p90 cannot be told in ms"),
    ],
)
def test_a_figure_and_ours_have_one_unit(unit: str, link: dict[str, str], mistake: str) -> None:
    with pytest.raises(ValueError, match=mistake):
        Reported(what=Said(en="a", ko="b"), value=1, unit=unit, ours=Ours.model_validate(link))
    with pytest.raises(ValueError, match=mistake):
        Beside(what=Said(en="a", ko="b"), unit=unit, ours=Ours.model_validate(link))


def arithmetic(claims: Claims) -> Iterator[tuple[str, ArithmeticRule]]:
    for claim in claims.claims.values():
        yield from ((claim.id, rule) for aside in (*claim.instead, *claim.also) for rule in aside.parts if isinstance(rule, ArithmeticRule))


def test_arithmetic_uses_the_figures_that_are_reported(claims: Claims) -> None:
    """Save for times and counts that are told in words; so no ratio is made of a figure that is nowhere."""
    for id_, rule in arithmetic(claims):
        claim = claims.claims[id_]
        texts = [text for said in sentences(claim) for text in (said.en, said.ko)] + [figure.what.en for figure in claim.reported]
        told = {number for text in texts for number in numbers(text)} | {f.value for f in claim.reported}
        thousandth = {1000.0}  # ms in a second
        assert {*rule.over, *rule.under} - thousandth <= told, id_


def test_a_number_is_told_by_the_articles_own_figures_and_no_effect_would_not_reproduce_it(claims: Claims) -> None:
    """A ratio so near to one that NEAR covers it would be reproduced where nothing differs."""
    for id_, claim in claims.claims.items():
        if claim.number is not None and claim.figure is not None:
            told = {number for figure in claim.reported for number in numbers(figure.what.en)} | {figure.value for figure in claim.reported}
            texts = [claim.said.en, claim.question.why.en if claim.question else ""]
            told |= {number for text in texts for number in numbers(text)} | {1000.0}
            assert {*claim.number.over, *claim.number.under} <= told, id_
            value = claim.figure.value
            assert claim.figure.unit != "×" or max(value, 1 / value) > 1 + NEAR, id_


def test_what_no_benchmark_can_measure_is_told_of_claims_that_have_more_to_them(claims: Claims) -> None:
    """It takes people: what only nobody has measured yet is a part, which leaves the claim open."""
    outside = {claim.id: claim.outside for claim in claims.claims.values() if claim.outside}
    assert set(outside) == {"A7", "A8", "A9", "A11"}
    for said in (each for found in outside.values() for each in found):
        assert re.search(r"[가-힣]", said.ko)
        assert not said.en.endswith(".")
    for id_ in outside:
        assert not [part for part in claims.claims[id_].parts if part.rule == "not_measured"]
        assert any(isinstance(part, MeasuredRule) for part in claims.claims[id_].parts), "a claim that a run decides nothing of"
        assert claims.claims[id_].question is None or claims.claims[id_].question.kind != "tautology"  # type: ignore[union-attr]


def test_what_is_about_several_cores_asks_for_them(claims: Claims) -> None:
    assert {claim.id: claim.profile for claim in claims.claims.values() if claim.profile} == {"D3": "ncpu"}
    asides = [(id_, aside.profile) for id_, claim in claims.claims.items() for aside in (*claim.instead, *claim.also) if aside.profile]
    assert asides == [("D3", "ncpu"), ("D7", "ncpu"), ("D7", "ncpu"), ("D7", "ncpu")]


# --- mistakes ----------------------------------------------------------------------------------------------------------

HEAD = """
[article.X]
title = { en = "A test", ko = "시험" }
setup = { en = "Here.", ko = "여기." }
"""
CLAIM = """
[[claim]]
id = "X1"
article = "X"
said = { en = "It is.", ko = "그렇습니다." }
"""
RATIO = '{ rule = "ratio_at_least", scenario = "hello-rate", metric = "cpu", contender = "go", other = "rust", ratio = 2 }'


def written(folder: Path, *parts: str, head: str = HEAD, claim: str = CLAIM, more: str = "") -> Path:
    (folder / "claims.toml").write_text(f"{head}{claim}parts = [{', '.join(parts or [RATIO])}]\n{more}")
    return folder


def mistakes(folder: Path, registry: Registry) -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        load_claims(folder, registry)
    return caught.value.mistakes


def test_a_good_file_loads(tmp_path: Path, registry: Registry) -> None:
    found = load_claims(written(tmp_path), registry)
    assert (list(found.claims), found.articles["X"].id) == (["X1"], "X")


def test_all_mistakes_are_told_at_once_with_file_and_key(tmp_path: Path, registry: Registry) -> None:
    parts = (
        RATIO.replace("ratio_at_least", "ratio_above"),
        RATIO.replace('rule = "ratio_at_least", ', ""),
        RATIO.replace("ratio = 2", "ratio = -2"),
        RATIO.replace("ratio = 2", "times = 2"),
    )
    more = f"""
[[claim]]
id = "Y1"
article = "Y"
said = {{ en = "It is.", ko = "그렇습니다." }}
parts = [{RATIO.replace("rust", "nobody")}, {RATIO.replace("hello-rate", "nowhere")}]
[[claim.also]]
said = {{ en = "And so.", ko = "또 그렇습니다." }}
parts = [{RATIO.replace("rust", "go")}]
[[claim]]
id = "X2"
article = "Y"
said = {{ en = "It is." }}
parts = []
least_rounds = 2
profile = "2cpu"
"""
    found = mistakes(written(tmp_path, *parts, head=HEAD + "[extra]\n", more=more), registry)
    keys = (
        "claims.toml: extra: unknown key",
        "claims.toml: claim[X1].parts.0.rule: no rule is named ratio_above; known are ratio_at_least, ",
        "claims.toml: claim[X1].parts.1.rule: is missing",
        "claims.toml: claim[X1].parts.2.ratio: ",
        "claims.toml: claim[X1].parts.3.ratio: ",
        "claims.toml: claim[X1].parts.3.times: ",
        "claims.toml: claim[Y1].article: no article is named Y",
        "claims.toml: claim[Y1].parts.0: no contender is named nobody",
        "claims.toml: claim[Y1].parts.1.scenario: no scenario is named nowhere",
        "claims.toml: claim[Y1].also.0.parts.0: go is named twice",
        "claims.toml: claim[X2].said.ko: ",
        "claims.toml: claim[X2].parts: ",
        "claims.toml: claim[X2].least_rounds: ",
        "claims.toml: claim[X2].profile: ",
    )
    for key in keys:
        assert sum(mistake.startswith(key) for mistake in found) == 1, (key, found)
    assert len(found) == len(keys), found


FITS: list[tuple[str, dict[str, Any], str]] = [
    ("hello-rate", {"rule": "slope_greater", "contender": "go", "other": "rust"}, "needs a scenario with levels"),
    ("hello-rate", {"rule": "figure_at_most", "metric": "memory", "contenders": ["go"], "value": 9}, "needs a scenario with levels"),
    ("hello-rate", {"rule": "figure_at_most", "metric": "throughput", "contenders": ["go"], "value": 9}, "needs a closed scenario"),
    ("in-flight-memory", {"rule": "figure_at_most", "metric": "throughput", "contenders": ["go"], "value": 9}, "needs a closed scenario"),
    ("in-flight-memory", {"rule": "within_margin", "metric": "p99", "contenders": ["go", "rust"]}, "latency is that of one load"),
    ("hello-max", {"rule": "within_margin", "metric": "cpu", "contenders": ["go", "rust"]}, "hello-max has no rate"),
    (
        "fanout-100",
        {"rule": "within_margin", "metric": "p99", "contenders": ["go", "rust"]},
        "window of fanout-100 has 25 in tier article",
    ),
    ("hello-max", {"rule": "cap_equals", "contenders": ["go"], "cap": "loop"}, "hello-max holds nothing"),
    ("hello-max", {"rule": "figure_at_most", "metric": "back", "contenders": ["go"], "value": 9}, "back needs an overload"),
    ("sleep-max", {"rule": "cap_equals", "contenders": ["go"], "cap": "pool"}, "does not hold a connection of the pool"),
]


@pytest.mark.parametrize(("scenario", "rule", "named"), FITS)
def test_a_rule_asks_for_what_its_scenario_measures(
    tmp_path: Path, registry: Registry, scenario: str, rule: dict[str, Any], named: str
) -> None:
    words = ", ".join(f"{key} = {value!r}" for key, value in {**rule, "scenario": scenario}.items())
    found = mistakes(written(tmp_path, f"{{ {words} }}"), registry)
    assert len(found) == 1
    assert found[0].startswith("claims.toml: claim[X1].parts.0: ")
    assert named in found[0]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            'id = "X1"\narticle = "X"',
            'id = "Y1"\narticle = "X"',
            "claims.toml: claim[Y1]: Value error, id must begin with the article's letter X",
        ),
        ("[article.X]", "[article.xx]", "claims.toml: article.xx.id: "),
        ("[article.X]", 'article = "X"\n[other]', "claims.toml: article: must be tables [article.NAME]"),
        ('"It is."', '"It is."]', "claims.toml: is not TOML"),
    ],
)
def test_other_mistakes(tmp_path: Path, registry: Registry, old: str, new: str, told: str) -> None:
    file = written(tmp_path) / "claims.toml"
    file.write_text(file.read_text().replace(old, new))
    assert any(mistake.startswith(told) for mistake in mistakes(tmp_path, registry))


def test_controls_are_not_named_by_claims(tmp_path: Path, registry: Registry) -> None:
    found = mistakes(written(tmp_path, RATIO.replace("rust", "go-twin")), registry)
    assert found == ["claims.toml: claim[X1].parts.0: no contender is named go-twin"]
