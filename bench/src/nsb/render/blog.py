"""blog.en.md and blog.ko.md: a run as the data of a blog post. Pure.

The sentences are in blog/blog.*.md.j2, written in each language for itself. Which of them stand in a post the data decide: a verdict
chooses its sentence, and what a run does not have is not told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from nsb.analyse import dominance as ranking
from nsb.analyse.judge import LEAST_ROUNDS
from nsb.analyse.table import Table
from nsb.records.sources import Code
from nsb.registry.claims import Article, Criterion, Dominance, JudgedClaim, Judgement, Rule, Verdict
from nsb.render import claims as verdicts
from nsb.render import markdown, messages, words
from nsb.render.messages import Language

if TYPE_CHECKING:  # the drawing module is slow to import, and only the type of a chart is needed here
    from nsb.render.charts import Chart

FOLDER = Path(__file__).parent / "blog"
DECIDED: tuple[Verdict, ...] = ("SUPPORTED", "REFUTED")


def post(
    language: Language,
    table: Table,
    run: Mapping[str, Any],
    judgement: Judgement,
    dominance: Dominance,
    code: Code | None,
    charts: Sequence[Chart],
    articles: Mapping[str, Article] | None = None,
) -> str:
    """The whole post in one language. Charts are files beside it: charts/<id>.<language>.svg. `articles` gives them their titles."""
    verdict, reason = ranking.verdict(dominance)
    template = environment(language).get_template(f"blog.{language}.md.j2")
    return template.render(
        table=table,
        run=run,
        judgement=judgement,
        count={word: sum(claim.verdict == word for claim in judgement.claims) for word in (*DECIDED, "UNDECIDED", "NOT_MEASURED")},
        counts=verdicts.counts(judgement, language),
        rehearsal=table.rounds < LEAST_ROUNDS,
        least_rounds=LEAST_ROUNDS,
        grid=markdown.table_block(table, language),
        verdicts=verdicts.summary(judgement, language),
        sections=_sections(judgement, charts),
        articles=articles or {},
        winner=verdict,
        winner_reason=reason,
        dominance=dominance,
        criteria=_criteria(dominance),
        sizes=_sizes(table, code),
        code=code,
        heat=[chart for chart in charts if chart.kind == "heat"],
        kinds=_left_over(judgement, charts),
        facts=_Facts.of(table, run),
        again=again(run),
    )


def environment(language: Language) -> Environment:
    """The template environment of that language, with the messages of all reports."""
    made = Environment(
        loader=FileSystemLoader(FOLDER), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    made.globals.update(
        t=lambda key, **values: messages.text(key, language, **values),
        said=lambda sentence: messages.own(sentence, language),
        instead=verdicts.instead,
        verdict=lambda found: verdicts.verdict(found, language),
        figures=lambda part: verdicts.figures(part, language),
        asked=lambda part: messages.asked_of(part, language),
        reported=lambda claim: verdicts.reported(claim.reported, language, len(claim.reported)),
        image=lambda chart: _image(chart, language),
        rounds=lambda n: messages.rounds(n, language),
        cores=lambda n: messages.cores(n, language),
        metric=lambda criterion: messages.own(messages.criterion(criterion.scenario, criterion.metric), language),
        unit=lambda name: messages.unit(name, language),
        in_table=lambda value: str(value).replace("|", "\\|").replace("\n", " "),
        number=words.number,
    )
    return made


def again(run: Mapping[str, Any]) -> str:
    """The command that makes such a run. Twins are added by the harness itself."""
    plan = run["plan"]
    given = [name for name in plan["contenders"] if plan.get("controls", {}).get(name, {}).get("kind") != "twin"]
    articles = f"--articles {','.join(plan['articles'])} " if plan.get("articles") else ""
    return (
        f"just bench-all --tier {plan['tier']} {articles}--rounds {plan['rounds']} --profile {plan['profile']} --seed {plan['seed']} "
        f"--contenders {','.join(given)} --scenarios {','.join(plan['scenarios'])}"
    )


# --- claims -----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Section:
    """The claims of one article that the run has data for, each with the charts that were not shown before."""

    article: str
    chart: Chart | None
    """The chart of the article's own figures, if the run repeats its load."""
    claims: list[tuple[JudgedClaim, list[Chart]]]


def _sections(judgement: Judgement, charts: Sequence[Chart]) -> list[Section]:
    by_scenario = {chart.scenario: chart for chart in charts if chart.kind == "intervals"}
    repeated = {chart.article: chart for chart in charts if chart.article is not None}
    shown: set[str | None] = set()
    sections: dict[str, Section] = {}
    for claim in judgement.claims:
        section = sections.setdefault(claim.article, Section(claim.article, repeated.get(claim.article), []))
        if claim.verdict == "NOT_MEASURED":
            continue
        new = [name for name in dict.fromkeys(_scenarios(claim)) if name in by_scenario and name not in shown]
        shown.update(new)
        section.claims.append((claim, [by_scenario[name] for name in new]))
    return [section for section in sections.values() if section.claims or section.chart]


def _scenarios(claim: JudgedClaim) -> Iterable[str]:
    """The scenarios that its parts name."""
    return (name for part in claim.parts if (name := _scenario(part.rule)) is not None)


def _scenario(rule: Rule) -> str | None:
    return getattr(rule, "scenario", None)


def _left_over(judgement: Judgement, charts: Sequence[Chart]) -> dict[str, list[Chart]]:
    """Kind → charts that are neither at the top nor next to a claim."""
    used = {name for claim in judgement.claims if claim.verdict != "NOT_MEASURED" for name in _scenarios(claim)}
    found: dict[str, list[Chart]] = {}
    for chart in charts:
        if chart.kind != "heat" and chart.article is None and not (chart.kind == "intervals" and chart.scenario in used):
            found.setdefault(chart.kind, []).append(chart)
    return found


def _image(chart: Chart, language: Language) -> str:
    said = messages.own(chart.alt, language).replace("[", "(").replace("]", ")").replace("\n", " ")
    return f"![{said}](charts/{chart.id}.{language}.svg)"


# --- who is better, and the code -----------------------------------------------------------------------------------------------------


def _criteria(found: Dominance) -> list[Criterion]:
    """The criteria in which at least one contender is better than another."""
    decided = {name for others in found.better.values() for criteria in others.values() for name in criteria}
    return [criterion for criterion in found.criteria if criterion.id in decided]


def _sizes(table: Table, code: Code | None) -> list[tuple[str, str, Any]]:
    """Service, the contenders that it runs as, its size: least lines first."""
    if code is None:
        return []
    runs: dict[str, list[str]] = {}
    for contender in table.contenders:
        if (service := code.contenders.get(contender)) in code.services:
            runs.setdefault(str(service), []).append(contender)
    rows = [(service, ", ".join(names), code.services[service]) for service, names in runs.items()]
    return sorted(rows, key=lambda row: (row[2].lines, row[0]))


# --- facts of the run ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Facts:
    """Facts that decide which limitations of the run the post mentions."""

    bounds: int
    """Figures that are bounds because k6 was the limit."""
    doubtful: int
    figures: int
    windows_s: tuple[float, float] | None
    shared: list[str]
    """Roles that shared a core with another role."""
    loopback: bool

    @classmethod
    def of(cls, table: Table, run: Mapping[str, Any]) -> _Facts:
        entries = [table.entry(contender, scenario) for scenario in table.scenarios for contender in table.contenders]
        windows = [float(seconds) for seconds in run["plan"].get("windows_s", {}).values()]
        placement: Mapping[str, Sequence[int]] = run.get("placement") or {}
        known = [entry for entry in entries if entry.figure is not None]
        return cls(
            bounds=sum(entry.status == "censored" and entry.limit == "generator" for entry in entries),
            doubtful=sum(entry.doubtful for entry in known),
            figures=len(known),
            windows_s=(min(windows), max(windows)) if windows else None,
            shared=[role for role in placement if any(set(placement[role]) & set(placement[o]) for o in placement if o != role)],
            loopback=bool(run.get("database", {}).get("private")),
        )
