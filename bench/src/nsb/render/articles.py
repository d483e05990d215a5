"""articles/X.en.md and X.ko.md: an article's figures, those of a run that repeats its load, and what explains the difference. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nsb.analyse.articles import Figure
from nsb.analyse.judge import LEAST_ROUNDS
from nsb.registry.claims import Article, Beside, Judgement, MeasuredRule, SlopeRule, contenders_of
from nsb.render import blog, claims, messages, words
from nsb.render.messages import Language, text


@dataclass(frozen=True)
class Load:
    """One of the article's own loads, as the run applied it."""

    scenario: str
    how: str
    contenders: str
    heap: str


def page(
    language: Language,
    article: Article,
    figures: Sequence[Figure],
    run: Mapping[str, Any],
    judgement: Judgement,
    letters: Sequence[str],
    uncollected: Sequence[str] = (),
) -> str:
    """The whole page of one article in one language, beside which its chart is a file. `letters`: those that have a page.

    `uncollected`: whose memory was read without a full collection before (analyse/articles.py).
    """
    own = judgement.model_copy(update={"claims": [claim for claim in judgement.claims if claim.article == article.id]})
    template = blog.environment(language).get_template(f"article.{language}.md.j2")
    scenarios = list(dict.fromkeys(figure.theirs.ours.scenario for figure in figures if figure.theirs.ours is not None))
    return template.render(
        article=article,
        differs=[each for each in article.differs if each.of is None or each.of in scenarios],
        rows=[_row(figure, run, language) for figure in figures],
        chart=any(figure.ratio is not None for figure in figures),
        bounds=any(sign_of(figure) for figure in figures),
        generator=sorted(
            {figure.theirs.ours.contender for figure in figures if figure.theirs.ours and sign_of(figure) and figure.limit == "generator"}
        ),
        few=run["plan"]["rounds"] < LEAST_ROUNDS,
        least_rounds=LEAST_ROUNDS,
        rounds_=run["plan"]["rounds"],
        workers=run["plan"]["workers"],
        loads=[_load(scenario, run, language) for scenario in scenarios],
        versions={name: version for name, version in judgement.scope.versions.items() if name in _cast(figures)},
        scope=messages.scope(judgement.scope, language),
        verdicts=claims.summary(own, language),
        counts=claims.counts(own.claims, language),
        lower=_lower(own, uncollected),
        elsewhere=any(claim.conclusion in ("NOT_MEASURED", "UNDECIDED") for claim in own.claims),
        again=blog.again(dict(run)),
        others=[letter for letter in letters if letter != article.id],
    )


def _lower(own: Judgement, uncollected: Sequence[str]) -> list[str]:
    """The JVMs whose memory per request decides a claim of the article."""
    rules = [part.rule for claim in own.claims for part in claim.parts if part.verdict != "NOT_MEASURED"]
    memory = [rule for rule in rules if isinstance(rule, SlopeRule) or getattr(rule, "metric", None) == "memory"]
    asked = {name for rule in memory if isinstance(rule, MeasuredRule) for name in contenders_of(rule)}
    return [name for name in uncollected if name in asked and own.scope.versions.get(name, "").startswith("Java ")]


def _cast(figures: Sequence[Figure]) -> set[str]:
    named = [figure.theirs.ours for figure in figures if figure.theirs.ours is not None]
    return {name for ours in named for name in (ours.contender, ours.other) if name is not None}


def _row(figure: Figure, run: Mapping[str, Any], language: Language) -> list[str]:
    theirs = figure.theirs
    ratio, sign = figure.ratio, sign_of(figure)
    mark = "?" if figure.doubtful else ""
    measured = text("article.no_figure", language)
    if figure.value is not None:
        measured = messages.amount(f"{sign}{told(figure.value, theirs.unit)}{mark}", theirs.unit, language)
        measured = f"{measured} {_between(figure.low, figure.high, theirs.unit)}"
    against = "–" if ratio is None else f"{sign}{words.number(ratio.value)} {_between(ratio.low, ratio.high)}"
    limit = "" if figure.limit is None else messages.own(messages.word("limit", figure.limit), language)
    if figure.limit == "offered" and theirs.ours is not None and theirs.ours.scenario in run["plan"].get("loads", {}):
        # such a load is applied in full even to a slow service, so "offered" would be misleading
        limit = text("article.nothing_full", language)
    what = f"**{figure.claim}** {messages.own(theirs.what, language)}"
    reported = theirs_of(figure, language)
    return [str(each).strip().replace("|", "\\|") for each in (what, reported, measured, against, limit, measured_as(figure))]


def sign_of(figure: Figure) -> str:
    """`≥` or `≤` where something outside the service was the limit in every round: without it the service would have answered more, in less
    time."""
    return "" if not figure.bound else "≤" if figure.upper else "≥"


def theirs_of(figure: Figure, language: Language) -> str:
    """The figure as the article gives it."""
    theirs = figure.theirs
    return "–" if isinstance(theirs, Beside) else messages.amount(words.plain(theirs.value), theirs.unit, language)


def measured_as(figure: Figure) -> str:
    """Scenario and contender, or both contenders of a ratio."""
    ours = figure.theirs.ours
    assert ours is not None
    return f"{ours.scenario}, {ours.contender if ours.other is None else f'{ours.contender} ÷ {ours.other}'}"


def told(value: float, unit: str) -> str:
    """Three significant digits; a number of threads that was the same in every round as a whole number."""
    return f"{value:,.0f}" if unit == "threads" and abs(value - round(value)) < 0.05 else words.number(value)


def _between(low: float | None, high: float | None, unit: str = "×") -> str:
    return "" if low is None or high is None else f"({told(low, unit)}–{told(high, unit)})"


def _load(scenario: str, run: Mapping[str, Any], language: Language) -> Load:
    plan = run["plan"]
    whole: Mapping[str, Any] | None = plan.get("loads", {}).get(scenario)
    values: dict[str, Any] = {"vus": plan["vus"][scenario], "rate": plan["rates"][scenario], "window": plan["windows_s"][scenario]}
    if whole is None:
        how = text("article.open", language, **values)
    elif "send_s" in whole:
        how = text("article.send", language, **values, seconds=f"{whole['send_s']:g}")
    else:
        how = text("article.requests", language, **values, requests=f"{whole['requests']:,}")
    if whole is not None and not whole.get("keep_alive", True):
        how += text("article.no_keep_alive", language)
    heap = plan.get("heaps_mib", {}).get(scenario)
    names = [name for name in plan["asked"][scenario] if name not in plan.get("controls", {})]
    return Load(scenario, how, ", ".join(names), f"{heap:,} MiB" if heap else "1,024 MiB")
