"""The blog post: it leads with the findings, is short, and says what the verdicts say, in both languages alike."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import standard
from nsb.analyse import claims as judge
from nsb.analyse import table as tables
from nsb.analyse.digest import Digest, digest
from nsb.analyse.dominance import dominance
from nsb.analyse.merged import across
from nsb.registry.claims import Claims, Judgement, Said, Verdict
from nsb.registry.load import load, load_digest
from nsb.render import blog
from nsb.render import digest as words
from nsb.render.charts_base import Chart
from nsb.render.messages import LANGUAGES, Language, text

ROOT = Path(__file__).resolve().parents[2]
PLAN = load_digest(ROOT / "bench", load(ROOT / "bench"))
MOST_WORDS = 1500


def charts() -> list[Chart]:
    return [
        Chart(
            id=f"intervals-{name}", title=Said(en=name, ko=name), alt=Said(en=f"What {name} [shows].", ko=f"{name} 설명."),
            specs={}, columns=[], rows=[], kind="intervals", scenario=name,
        )
        for name in standard.SCENARIOS
    ]  # fmt: skip


def judged(claims: Claims, rounds: int = 6) -> Judgement:
    return judge.judged(standard.run(rounds), standard.cells(rounds), standard.starts(rounds), None, claims)


def post(language: Language, found: Judgement, claims: Claims, rounds: int = 6, base: str = "", **more: Any) -> tuple[str, Digest]:
    scenarios = more.get("scenarios")
    run, cells, starts = standard.run(rounds, scenarios), standard.cells(rounds, scenarios), standard.starts(rounds)
    table, matrix = tables.make(run, cells, starts), dominance(run, cells, starts, None)
    short = digest(PLAN, table, run, cells, starts, matrix)
    given = (charts(), claims.articles, base, more.get("kind", "png"), more.get("project", ""))
    return blog.post(language, table, run, across([("run", found)]), short, *given), short


def all_decided(found: Judgement) -> Judgement:
    """As many words as there can be: every claim is refuted."""
    return found.model_copy(update={"claims": [each.model_copy(update={"conclusion": "REFUTED", "reason": None}) for each in found.claims]})


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_leads_with_the_findings(language: Language, claims: Claims) -> None:
    said, short = post(language, judged(claims), claims)
    opening = said.split("\n## ", 1)[0]
    lines = [line.removeprefix("- ") for line in opening.splitlines() if line.startswith("- ")]
    assert lines == [words.sentence(each, language) for each in short.findings]
    assert len(lines) == 5
    assert opening.splitlines()[0].startswith("# ")
    assert words.table(short, language) in said


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_is_short_even_where_every_claim_is_decided(language: Language, claims: Claims) -> None:
    said, _ = post(language, all_decided(judged(claims)), claims)
    assert len(re.sub(r"<[^>]*>", " ", said).split()) <= MOST_WORDS


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_has_three_images_at_the_address_that_is_asked_for(language: Language, claims: Claims) -> None:
    for base, kind in (("", "svg"), ("https://example.org/run/", "png")):
        said, short = post(language, judged(claims), claims, base=base, kind=kind)
        images = re.findall(r"!\[([^\]]*)\]\(([^)]*)\)", said)
        told = {each.row.chosen.id for each in short.findings}
        assert images[0][1] == f"{base}charts/digest.{language}.{kind}"
        assert len(images) == 3
        assert all(alternative for alternative, _ in images)
        assert all(path.removeprefix(f"{base}charts/intervals-").removesuffix(f".{language}.{kind}") in told for _, path in images[1:])
        links = re.findall(r"(?<!!)\[[^\]]*\]\(([^)]*)\)", said)
        assert links
        articles = {article.url for article in claims.articles.values()}
        assert all(link.startswith(base) for link in links if link not in articles)


def test_a_chart_in_which_all_are_alike_is_not_shown(claims: Claims) -> None:
    left = [name for name in standard.SCENARIOS if name != "in-flight-memory"]
    said, short = post("en", judged(claims), claims, scenarios=left)
    assert "slow-query-max" in {each.row.chosen.id for each in short.findings}
    charts_ = re.findall(r"!\[[^\]]*\]\(charts/intervals-(\S+)\.en\.png\)", said)
    assert charts_ == ["cost-wait-query", "cost-write"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_project_and_an_article_whose_address_is_known_are_linked(language: Language, claims: Claims) -> None:
    found, address = judged(claims), "https://example.org/someone/no-silver-bullet"
    said, _ = post(language, found, claims, project=address)
    assert f"]({address})" in said.split("\n## ", 1)[0]
    assert f"git clone {address} && cd no-silver-bullet\ngit checkout " in said
    assert "git clone" not in post(language, found, claims)[0]
    known = {letter: article.model_copy(update={"url": f"https://example.org/{letter}"}) for letter, article in claims.articles.items()}
    linked, _ = post(language, found, claims.model_copy(update={"articles": known}))
    told = re.findall(r'^\*\*".*"\*\* \(\[.*\]\(https://example\.org/[A-Z]\)\)', linked, re.MULTILINE)
    assert len(told) == linked.count('**"')


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_verdict_has_its_words(language: Language, claims: Claims) -> None:
    found = judged(claims)
    said, _ = post(language, found, claims)
    words = {
        "en": ("We found otherwise", "It holds", "The conclusion stays open"),
        "ko": ("측정 결과는 달랐습니다", "사실이었습니다", "결론은 아직 내리지 못했습니다"),
    }[language]
    assert sum(said.count(each) for each in words) == said.count('**"')
    lists: dict[Verdict, str] = {"SUPPORTED": {"en": "Supported: ", "ko": "사실로 확인된 주장: "}[language]}
    listed = re.search(re.escape(lists["SUPPORTED"]) + r"([^.]*)\.", said)
    assert listed
    verdicts = {claim.id: claim.conclusion for claim in found.claims}
    assert {verdicts[name] for name in listed[1].split(", ")} == {"SUPPORTED"}
    for claim in found.claims:
        if claim.conclusion == "NOT_MEASURED":
            assert not re.search(rf"^- {claim.id}:", said, re.MULTILINE)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_run_of_few_rounds_is_a_rehearsal_without_findings(language: Language, claims: Claims) -> None:
    said, short = post(language, judged(claims, 1), claims, rounds=1)
    assert ("rehearsal" if language == "en" else "예행") in said.splitlines()[0]
    assert short.findings == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_limits_are_told_where_the_run_has_them(language: Language, claims: Claims) -> None:
    said, _ = post(language, judged(claims), claims)
    for key in ("machine", "loopback", "programs", "equal"):
        assert text(f"not_shown.{key}", language) in said


def test_the_command_repeats_the_run_and_leaves_the_twin_to_the_harness() -> None:
    said = blog.again(standard.run(scenarios=["cost-read", "sleep-max"]))
    assert said == (
        "./justw bench-all --tier standard --rounds 6 --profile 1cpu --seed 7 \\\n"
        "  --contenders java-vt,java-pt,java-webflux,go,rust,python,node \\\n"
        "  --scenarios cost-read,sleep-max"
    )


def test_both_languages_have_the_same_shape(claims: Claims) -> None:
    english, korean = (post(language, judged(claims), claims)[0] for language in LANGUAGES)
    for shape in (r"^#+ ", r"^\|", r"^- ", r"!\[", r"```"):
        assert len(re.findall(shape, english, re.MULTILINE)) == len(re.findall(shape, korean, re.MULTILINE)), shape
    assert not re.search("[가-힣]", english)


@pytest.mark.parametrize("language", LANGUAGES)
def test_tables_and_lists_are_whole(language: Language, claims: Claims) -> None:
    """No blank line is doubled twice, and a table has one before it: templates are easily wrong here."""
    said, _ = post(language, judged(claims), claims)
    lines = said.splitlines()
    heads = [number for number, line in enumerate(lines) if re.fullmatch(r"\|(\s*:?-+:?\s*\|)+", line)]
    assert heads
    assert all(lines[number - 2] == "" for number in heads)
    assert "\n\n\n\n" not in said
    assert said.endswith("\n")
