"""blog.en.md and blog.ko.md: a run as a blog post that leads with its findings. Pure.

The sentences are in blog/blog.*.md.j2, written in each language for itself. Which of them stand in a post the data decide: a verdict
chooses its sentence, and what a run does not have is not told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from nsb.analyse.digest import Digest, surprises
from nsb.analyse.judge import LEAST_ROUNDS
from nsb.analyse.merged import Across
from nsb.analyse.table import Table
from nsb.registry.claims import Article, Conclusion, JudgedClaim
from nsb.render import claims as verdicts
from nsb.render import digest as words
from nsb.render import messages, picture
from nsb.render.messages import Language
from nsb.render.words import number

if TYPE_CHECKING:  # the drawing module is slow to import, and only the type of a chart is needed here
    from nsb.render.charts import Chart

FOLDER = Path(__file__).parent / "blog"
MOST_CHARTS = 2
"""Beside the picture of the digest."""
MOST_OPEN = 4
"""Undecided claims of which the post says why."""
MOST_LISTED = 18
"""Refuted claims that are listed beside the surprises."""
PICTURE = "digest"
"""The id of the digest's picture among the charts."""


def post(
    language: Language,
    table: Table,
    run: Mapping[str, Any],
    found: Sequence[Across],
    digest: Digest,
    charts: Sequence[Chart],
    articles: Mapping[str, Article],
    base: str,
    kind: str,
    project: str = "",
) -> str:
    """The whole post in one language. Its images are `base`charts/ID.LANGUAGE.`kind`. `project`: the address to clone it from."""
    claims = [each.claim for each in found]
    told = surprises(claims)
    words_of: tuple[Conclusion, ...] = ("SUPPORTED", "REFUTED", "TAUTOLOGY", "UNDECIDED")
    of = {word: [claim for claim in claims if claim.conclusion == word] for word in words_of}
    return environment(language).get_template(f"blog.{language}.md.j2").render(
        table=table,
        run=run,
        claims=claims,
        most_listed=MOST_LISTED,
        findings=[words.sentence(each, language) for each in digest.findings],
        grid=words.table(digest, language),
        notes=words.notes(digest, language),
        rehearsal=table.rounds < LEAST_ROUNDS,
        least_rounds=LEAST_ROUNDS,
        surprises=told,
        articles=articles,
        refuted=[claim for claim in of["REFUTED"] if claim not in told],
        supported=[claim.id for claim in of["SUPPORTED"] if claim not in told],
        undecided=[claim.id for claim in of["UNDECIDED"]],
        tautologies=[claim.id for claim in of["TAUTOLOGY"]],
        open=_open(of["UNDECIDED"]),
        counts=verdicts.counts(claims, language),
        pictured=picture.rows(digest) != [],
        alt=picture.alt(digest, language),
        charts=_charts(digest, charts),
        base=base,
        kind=kind,
        project=project,
        folder=project.rstrip("/").rpartition("/")[2].removesuffix(".git"),
        again=again(run),
    )  # fmt: skip


def environment(language: Language) -> Environment:
    """The template environment of that language, with the messages of all reports."""
    made = Environment(
        loader=FileSystemLoader(FOLDER), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    made.globals.update(
        t=lambda key, **values: messages.text(key, language, **values),
        said=lambda sentence: messages.own(sentence, language),
        verdict=lambda found: verdicts.verdict(found, language),
        figures=lambda part: verdicts.figures(part, language),
        ours=lambda claim: verdicts.ours(claim, language, 2),
        number_of=lambda claim: verdicts.number_line(claim, language),
        condition=lambda claim: verdicts.condition(claim, language),
        asked=lambda part: messages.asked_of(part, language),
        reported=lambda claim: verdicts.reported(claim.reported, language, len(claim.reported)),
        plain=lambda sentence: messages.own(sentence, language).replace("[", "(").replace("]", ")").replace("\n", " "),
        rounds=lambda n: messages.rounds(n, language),
        cores=lambda n: messages.cores(n, language),
        metric=lambda criterion: messages.own(messages.criterion(criterion.scenario, criterion.metric), language),
        unit=lambda name: messages.unit(name, language),
        in_table=lambda value: str(value).replace("|", "\\|").replace("\n", " "),
        number=number,
    )
    return made


def again(run: Mapping[str, Any]) -> str:
    """The command that makes such a run, its lists on lines of their own. Twins are added by the harness itself."""
    plan = run["plan"]
    given = [name for name in plan["contenders"] if plan.get("controls", {}).get(name, {}).get("kind") != "twin"]
    articles = f"--articles {','.join(plan['articles'])} " if plan.get("articles") else ""
    lines = (
        f"./justw bench-all --tier {plan['tier']} {articles}--rounds {plan['rounds']} --profile {plan['profile']} --seed {plan['seed']}",
        f"--contenders {','.join(given)}",
        f"--scenarios {','.join(plan['scenarios'])}",
    )
    return " \\\n  ".join(lines)


def _open(undecided: Sequence[JudgedClaim]) -> list[JudgedClaim]:
    """Those first that the fewest rounds would decide."""
    return sorted(undecided, key=lambda claim: (claim.rounds_needed is None, claim.rounds_needed or 0))[:MOST_OPEN]


def _charts(digest: Digest, charts: Sequence[Chart]) -> list[Chart]:
    """Intervals of what the findings are about and the picture does not show, then of other rows; not where all are alike."""
    shown = {row.chosen.id for row in picture.rows(digest)}
    of = {chart.scenario: chart for chart in charts if chart.kind == "intervals"}
    rows = [*(each.row for each in digest.findings), *digest.rows]
    wanted = [row.chosen.id for row in rows if row.chosen.id not in shown and not row.alike]
    return [of[name] for name in dict.fromkeys(wanted) if name in of][:MOST_CHARTS]
