"""The blog post: what it says follows from verdicts and figures, in both languages alike."""

from __future__ import annotations

import re
from typing import Any

import pytest

from nsb.analyse import table as tables
from nsb.records.sources import Code, Size
from nsb.registry.claims import (
    Article,
    Comparison,
    Criterion,
    Dominance,
    Judged,
    JudgedAside,
    JudgedClaim,
    Judgement,
    RatioRule,
    Reason,
    Reported,
    Said,
    Scope,
    Verdict,
)
from nsb.render import blog
from nsb.render import claims as verdicts
from nsb.render.charts_base import Chart
from nsb.render.messages import LANGUAGES, Language, text
from planted import NAMES, cells, plan, starts

RULE = RatioRule(rule="ratio_at_least", scenario="cost", metric="cpu", contender="slow", other="quick", ratio=2.0)


def judged(verdict: Verdict, reason: Reason | None = None) -> Judged:
    compared = Comparison(
        contender="slow", other="quick", unit="ratio", verdict=verdict, reason=reason, rounds=6, value=8.0, low=7.5, high=8.5, level=0.95,
        border=2.0, agree=1.0, sign_holds=True, rounds_needed=None, gate_low=0.98, gate_high=1.02,
    )  # fmt: skip
    if verdict == "NOT_MEASURED":
        return Judged(rule=RULE, verdict=verdict, reason=reason, missing=["somebody"])
    return Judged(rule=RULE, verdict=verdict, reason=reason, comparisons=[compared])


def claim(number: int, verdict: Verdict, reason: Reason | None = None, **more: Any) -> JudgedClaim:
    data: dict[str, Any] = {
        "id": f"A{number}", "article": "A", "said": Said(en=f"Claim {number}.", ko=f"주장 {number}."), "verdict": verdict, "reason": reason,
        "rounds_needed": 14 if verdict == "UNDECIDED" else None, "parts": [judged(verdict, reason)], "instead": [], "also": [],
        "reported": [Reported(what=Said(en="theirs", ko="글"), value=7.5, unit="×")],
    }  # fmt: skip
    return JudgedClaim(**{**data, **more})


def judgement(*claims: JudgedClaim, rounds: int = 6) -> Judgement:
    scope = Scope(
        machine="A processor", cores=2, profile="1cpu", tier="standard", rounds=rounds, runner="native", database="some 1.0",
        started_at="2026-01-02T03:04:05+00:00", commit="0123456789abcdef", seed=7, versions={name: f"{name} 1.0" for name in NAMES},
    )  # fmt: skip
    return Judgement(schema=1, scope=scope, claims=list(claims))


def dominance(better: dict[str, dict[str, list[str]]] | None = None, front: list[str] | None = None) -> Dominance:
    criterion = Criterion(
        id="cost cpu", scenario="cost", metric="cpu", unit="CPU µs/request", better="less", values={"slow": 400.0, "quick": 50.0},
        best=["quick"], unsustained=["odd"],
    )  # fmt: skip
    return Dominance(contenders=NAMES, criteria=[criterion], better=better or {}, front=NAMES if front is None else front)


EVERYBODY_IS_BEATEN = {"slow": {"odd": ["cost cpu"]}, "quick": {"slow": ["cost cpu"]}, "odd": {"quick": ["cost cpu"]}}
CHARTS = [
    Chart(
        id=name, title=Said(en=name, ko=name), alt=Said(en=f"What {name} [shows].", ko=f"{name} 설명."), specs={}, columns=[], rows=[],
        kind=kind, scenario=scenario, article=article,
    )
    for name, kind, scenario, article in [
        ("heat", "heat", None, None), ("article-A", "article", None, "A"),
        ("intervals-cost", "intervals", "cost", None), ("intervals-most", "intervals", "most", None),
        ("roles-cost", "roles", "cost", None),
    ]
]  # fmt: skip


def post(language: Language, found: Judgement, matrix: Dominance | None = None, rounds: int = 6, **more: Any) -> str:
    run = plan(rounds)
    run["plan"] |= {"seed": 7, "controls": {"slow-twin": {"kind": "twin", "of": "slow"}}, "windows_s": {"cost": 2.0, "most": 4.0}}
    run["plan"]["contenders"] = [*NAMES, "slow-twin"]
    run |= more.pop("run", {})
    made = tables.make(run, more.pop("cells", cells(rounds)), starts(rounds))
    return blog.post(language, made, run, found, matrix or dominance(), more.get("code"), CHARTS, more.get("articles"))


ALL = (
    claim(1, "SUPPORTED", instead=[JudgedAside(said=Said(en="Another reason.", ko="다른 까닭."), verdict="SUPPORTED", parts=[])]),
    claim(2, "REFUTED"),
    claim(3, "UNDECIDED", "straddles"),
    claim(4, "NOT_MEASURED", "no_contender"),
)


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_opens_with_the_counts_and_each_verdict_has_its_sentence(language: Language) -> None:
    said = post(language, judgement(*ALL))
    opening = said.split("## ", 1)[0]
    lacking = text("result.not_measured", language, n=1)
    assert text("result.claims", language, all=4, SUPPORTED=1, REFUTED=1, UNDECIDED=1, lacking=lacking) in opening
    sentences = {
        "en": ["This run supports it.", "This run says otherwise.", "This run cannot tell."],
        "ko": ["측정 결과가 이 주장을 뒷받침합니다.", "측정 결과는 이 주장과 다릅니다.", "이 측정만으로는 알 수 없습니다."],
    }[language]
    assert [said.count(sentence) for sentence in sentences] == [1, 1, 1]
    assert text("claim.rounds_needed", language, n=14) in said
    assert "8.00 (7.50–8.50, 95 %)" in said


@pytest.mark.parametrize("language", LANGUAGES)
def test_claims_that_were_not_measured_are_a_line_for_each_reason_and_an_article_of_them_alone_has_no_section(language: Language) -> None:
    others = [claim(n, "NOT_MEASURED", "no_scenario", id=f"B{n}", article="B") for n in (1, 2)]
    found = judgement(*ALL, *others)
    lines = [f"{text('verdict.NOT_MEASURED', language)} ({text(f'reason.{reason}', language)}): {ids}" for reason, ids in
             [("no_scenario", "B1, B2"), ("no_contender", "A4")]]  # fmt: skip
    assert verdicts.not_measured(found, language) == lines
    table = verdicts.summary(found, language)
    assert [line.split("**")[1] for line in table.splitlines() if line.startswith("| **")] == ["A1", "A2", "A3"]
    assert table.endswith("\n\n" + "".join(f"- {line}\n" for line in lines))
    assert verdicts.grid(found, language).row_count == 3
    said = post(language, found)
    assert table in said
    assert [text("claim.article", language, id=article) in said for article in "AB"] == [True, False]
    assert [f"### {name} ·" in said for name in ("A3", "A4", "B1")] == [True, False, False]
    nothing = verdicts.summary(judgement(*others), language)
    assert nothing == f"- {lines[0]}\n"


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_sentence_claims_what_no_verdict_decides(language: Language) -> None:
    said = post(language, judgement(claim(1, "UNDECIDED", "no_twin")))
    assert not any(sentence in said for sentence in ("supports it", "says otherwise", "뒷받침합니다.\n", "주장과 다릅니다"))
    assert text("reason_means.no_twin", language) in said


@pytest.mark.parametrize("language", LANGUAGES)
def test_one_round_is_a_rehearsal_without_verdict(language: Language) -> None:
    said = post(language, judgement(claim(1, "UNDECIDED", "too_few_rounds"), rounds=1), rounds=1)
    first = said.splitlines()[0]
    assert ("rehearsal" if language == "en" else "예행") in first
    assert ("**No verdict follows" if language == "en" else "**측정값으로 내린 판정은 없습니다") in said
    assert ("not an interval" if language == "en" else "신뢰구간이 아니라") in said


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_front_is_told_only_where_somebody_was_compared(language: Language) -> None:
    beaten = post(language, judgement(*ALL), dominance(EVERYBODY_IS_BEATEN, ["quick", "odd"]))
    assert "**quick, odd**" in beaten
    assert text("result.SUPPORTED", language, n=3) in beaten
    nothing = dominance().model_copy(update={"criteria": []})
    untold = post(language, judgement(*ALL), nothing)
    assert text("result.NOT_MEASURED", language) in untold
    assert "quick, odd" not in untold.split("## ", 1)[0]


@pytest.mark.parametrize("language", LANGUAGES)
def test_charts_stand_by_relative_path_with_their_alternative_each_once(language: Language) -> None:
    said = post(language, judgement(*ALL))
    images = re.findall(r"!\[([^\]]*)\]\(([^)]*)\)", said)
    assert [path for _, path in images] == [f"charts/{chart.id}.{language}.svg" for chart in CHARTS]
    assert all(alternative for alternative, _ in images)
    assert said.index("intervals-cost") > said.index("### A1 ·")


@pytest.mark.parametrize("language", LANGUAGES)
def test_limits_are_told_where_the_run_has_them(language: Language) -> None:
    placed = {
        "placement": {"service": [1], "generator": [0], "database": [0]},
        "database": {"private": True, "kind": "some", "version": "1"},
    }
    bound = cells(most_odd={"status": "censored", "limit": "generator"})
    with_them = post(language, judgement(*ALL), run=placed, cells=bound)
    without = post(language, judgement(*ALL))
    for key in ("not_shown.generator", "not_shown.loopback"):
        assert text(key, language) in with_them
        assert text(key, language) not in without
    shared = f"{text('role.generator', language)}, {text('role.database', language)}"
    assert shared in with_them
    assert shared not in without
    assert ("2.0 to 4.0 s" if language == "en" else "2.0~4.0초") in without


def test_the_command_repeats_the_run_and_leaves_the_twin_to_the_harness() -> None:
    said = post("en", judgement(*ALL))
    assert (
        "just bench-all --tier standard --rounds 6 --profile 1cpu --seed 7 --contenders slow,quick,odd --scenarios cost,most,wait,flight"
    ) in said


@pytest.mark.parametrize("language", LANGUAGES)
def test_code_is_told_by_service_least_first(language: Language) -> None:
    sizes = {"big": Size(files=9, lines=900, complexity=90, functions=60), "small": Size(files=3, lines=100, complexity=9, functions=6)}
    code = Code(tool="a tool 1.0", services=sizes, contenders={"slow": "big", "odd": "big", "quick": "small"})
    said = post(language, judgement(*ALL), code=code)
    assert said.index("| small | quick | 3 | 100 | 9 | 6 |") < said.index("| big | slow, odd | 9 | 900 | 90 | 60 |")
    assert "a tool 1.0" not in post(language, judgement(*ALL))


def test_the_chart_of_an_article_stands_before_its_claims_and_once() -> None:
    found = post("en", judgement(*ALL))
    image = "](charts/article-A.en.svg)"
    assert found.count(image) == 1
    assert found.index("## Article A") < found.index(image) < found.index("### A1")


def test_articles_lend_their_titles_where_they_are_known() -> None:
    article = Article(id="A", title=Said(en="A talk", ko="발표"), setup=Said(en="4 cores.", ko="4코어."))
    assert "## A talk\n\nArticle A measured on: 4 cores." in post("en", judgement(*ALL), articles={"A": article})
    assert "## 발표\n\n글 A의 측정 환경: 4코어." in post("ko", judgement(*ALL), articles={"A": article})
    assert "## Article A" in post("en", judgement(*ALL))


def test_both_languages_have_the_same_shape() -> None:
    found = judgement(*ALL)
    english, korean = (post(language, found, dominance(EVERYBODY_IS_BEATEN)) for language in LANGUAGES)
    for shape in (r"^#+ ", r"^\|", r"^- ", r"^> ", r"!\[", r"```"):
        assert len(re.findall(shape, english, re.MULTILINE)) == len(re.findall(shape, korean, re.MULTILINE)), shape
    assert not re.search("[가-힣]", english)


@pytest.mark.parametrize("language", LANGUAGES)
def test_tables_and_lists_are_whole(language: Language) -> None:
    """A blank line within would end a table; none before would swallow its head; templates are easily wrong here."""
    said = post(language, judgement(*ALL), dominance(EVERYBODY_IS_BEATEN))
    lines = said.splitlines()
    for number, line in enumerate(lines):
        if re.fullmatch(r"\|(\s*:?-+:?\s*\|)+", line):
            assert lines[number - 2] == "", lines[number - 1]
            columns = line.count("|")
            rows = []
            for row in lines[number + 1 :]:
                if not row.startswith("|"):
                    break
                rows.append(row)
            assert rows, lines[number - 1]
            assert all(re.sub(r"\\\|", "", row).count("|") == columns for row in rows), rows
    assert "\n\n\n\n" not in said
    assert said.endswith("\n")
