"""report.html: a run in one file that works offline, in English and Korean, light and dark. Pure.

The words are in messages.py, the shape in page/page.html.j2, the looks in page/style.css, what moves in page/page.js, the calculator's
formulas in page/size.js. Both languages stand in the page and CSS shows one of them, so that it can be read without scripts too. A
Content-Security-Policy names the hashes of the page's own scripts: nothing else runs, and nothing is fetched.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from nsb.analyse import controls
from nsb.analyse import dominance as ranking
from nsb.analyse.controls import Control
from nsb.analyse.digest import Digest, surprises
from nsb.analyse.merged import DECIDED
from nsb.analyse.model import CostModel
from nsb.analyse.table import Table
from nsb.records.judged import Cell
from nsb.records.sources import Code
from nsb.records.starts import Start
from nsb.registry.claims import Article, Conclusion, Dominance, Judgement, Said
from nsb.registry.digest import DigestPlan
from nsb.registry.terms import grouped
from nsb.render import claims as verdicts
from nsb.render import controls as control_words
from nsb.render import digest as digest_words
from nsb.render import (
    failing,
    guide,
    html_claims,
    html_digest,
    html_size,
    html_strips,
    html_table,
    html_words,
    idle,
    messages,
    overload,
    switches,
    words,
)
from nsb.render.blog import again
from nsb.render.charts import Chart
from nsb.render.html_data import data
from nsb.render.html_words import text
from nsb.render.messages import LANGUAGES

FOLDER = Path(__file__).parent / "page"
VERDICTS: tuple[Conclusion, ...] = ("SUPPORTED", "REFUTED", "TAUTOLOGY", "UNDECIDED", "NOT_MEASURED")


def page(
    table: Table,
    run: Mapping[str, Any],
    cells: Sequence[Cell],
    starts: Sequence[Start],
    judgement: Judgement,
    dominance: Dominance,
    code: Code | None,
    charts: Sequence[Chart],
    bundle: str,
    digest: Digest,
    articles: Mapping[str, Article] | None = None,
    packed: bool = False,
    model: CostModel | None = None,
    plan: DigestPlan | None = None,
) -> str:
    """The whole file. `bundle` is the JavaScript that draws charts; `articles` gives them a title where the claims are at hand.

    `packed`: the run's raw summaries are in its archive, so links go there. `model`: what the calculator calculates with.
    `plan`: the questions of the guide.
    """
    later: list[str] = []
    shown = data(table, cells, dominance, charts, packed)
    script = "".join((FOLDER / name).read_text(encoding="utf-8") for name in ("size.js", "page.js"))
    beside = controls.compare(run, cells)
    return _environment().get_template("page.html.j2").render(
        table=table, run=run, starts=starts, judgement=judgement, dominance=dominance, code=code, articles=articles or {},
        claims_of=grouped(judgement.claims, lambda claim: claim.article),
        counted={verdict: sum(claim.conclusion == verdict for claim in judgement.claims) for verdict in VERDICTS},
        rules=list(dict.fromkeys(part.rule.rule for claim in judgement.claims for part in claim.parts)),
        result=_result(dominance),
        digest_lines=html_digest.lines(digest),
        findings=[_marked_up(each) for each in html_digest.findings(digest)],
        decided=[claim for claim in judgement.claims if claim.conclusion in DECIDED],
        digest_notes=html_digest.notes(digest), surprises=surprises(judgement.claims), narrow=_narrow(table.contenders),
        guide=_guide(plan, digest, model),
        size_about=html_size.about(model), size_fields=html_size.FIELDS, size_examples=html_size.examples(),
        rows=html_table.rows(table, dominance),
        kinds=grouped([chart for chart in charts if chart.article is None], lambda chart: chart.kind),
        repeated={chart.article: chart for chart in charts if chart.article is not None},
        controls=[control for control in beside if control.verdict.value is not None],
        control_sentences=[html_words.both(control_words.told(summary)) for summary in controls.summaries(beside)],
        switches=switches.rows(table), pinnings=switches.pinned(table),
        overloads={"overload": overload.grids(table.overloaded), "failing": failing.grids(table.failed)},
        facts=list(_facts(run)),
        settings=_settings(run, table.contenders),
        again=again(run),
        style=Markup((FOLDER / "style.css").read_text(encoding="utf-8")),
        script=Markup(script),
        bundle=zipped(bundle), later=_Later(later),
        data=lambda: zipped(to_text({**shown, "factors": html_digest.factors(digest), "size": html_size.data(model), "later": later})),
        policy=_policy(script, bundle),
    )  # fmt: skip


def _environment() -> Environment:
    made = Environment(loader=FileSystemLoader(FOLDER), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    made.globals.update(
        unknown_mark=digest_words.UNKNOWN, option=html_words.option, marks_of=html_table.marks_of,
        t=text, counts=html_words.in_both(verdicts.counts),
        both=html_words.both, label=html_words.label, word=messages.word, criterion=messages.criterion,
        question=html_words.in_both(verdicts.question), condition=html_words.in_both(verdicts.condition),
        outside=html_words.in_both(verdicts.outside),
        number_of=html_words.in_both(verdicts.number_line),
        asked=html_words.in_both(messages.asked_of), bound_of=html_words.in_both(messages.bound_of),
        scope=html_words.in_both(messages.scope), short_scope=html_words.in_both(messages.short_scope),
        rounds=html_words.in_both(messages.rounds), unit=html_words.in_both(messages.unit), amount=html_words.amount,
        interval=html_words.interval, ranked=html_words.ranked,
        verdicts=VERDICTS, ours=html_claims.ours, missing=verdicts.missing, mark=verdicts.mark,
        against=html_claims.against, of_part=html_claims.of_part,
        distinct_rows=html_claims.distinct_rows, row_unit=html_claims.row_unit, strip=html_strips.of_comparison,
        figure=html_table.figure, legend=html_table.legend, sizes=html_table.sizes, spread=words.spread, span=words.span,
        idle_columns=idle.columns, idle_heads=idle.HEADS,
        doubts=words.doubts, control_interval=_control_interval, control_result=_control_result,
    )  # fmt: skip
    made.filters.update(number=words.signed, share=lambda value: f"{value:.0%}", level=html_words.level, plain=words.plain)
    return made


# --- safety ------------------------------------------------------------------------------------------------------------


def zipped(source: str) -> str:
    """Base64 of gzip, which cannot end a script element, and which page.js unpacks: the drawing library is 0.9 MB, and 0.4 MB so."""
    return base64.b64encode(gzip.compress(source.encode(), mtime=0)).decode()


def to_text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


class _Later:
    """Keeps what stands within closed details, for the script to put there when they are opened: gives its place in `into`."""

    def __init__(self, into: list[str]) -> None:
        self._into = into

    def __call__(self, body: str) -> int:
        self._into.append(re.sub(r"\n+", "\n", str(body)).strip())
        return len(self._into) - 1


def _policy(*scripts: str) -> str:
    """Only these scripts run, and nothing is fetched. Inline styles are allowed, because the charts' tooltip uses them."""
    hashes = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'" for s in scripts)
    return f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


# --- results and controls ----------------------------------------------------------------------------------------------


def _marked_up(said: Said) -> Markup:
    """A finding in both languages: `**` around words is the only markup of digest.toml."""
    shown = (re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", str(escape(each))) for each in (said.en, said.ko))
    return Markup('<i lang="en">{}</i><i lang="ko">{}</i>').format(*map(Markup, shown))


def _guide(plan: DigestPlan | None, found: Digest, model: CostModel | None) -> list[tuple[guide.Answer, Markup]]:
    """Each question that the figures answer, with its answer in both languages."""
    if plan is None or model is None:
        return []
    english, korean = (guide.answers(plan, found, model, language) for language in LANGUAGES)
    return [(each, _marked_up(Said(en=each.told, ko=other.told))) for each, other in zip(english, korean, strict=True)]


def _narrow(contenders: Sequence[str]) -> bool:
    """Whether the tables fit a wide screen without a bar of their own, so that their heads can stick to the window."""
    return sum(max(len(name), 9) for name in contenders) <= 80


def _result(dominance: Dominance) -> Markup:
    """Whether one contender is best at everything, in a sentence."""
    verdict, reason = ranking.verdict(dominance)
    because = messages.said(f"reason.{reason}") if reason else ""
    return text(f"result.{verdict}", n=len(dominance.contenders), names=", ".join(dominance.front), reason=because)


def _control_interval(control: Control) -> tuple[str, str]:
    """Value and interval."""
    found = control_words.interval(control) or (None, None, None)
    value, low, high = ("–" if each is None else f"{each:.3f}".replace("-", "−") for each in found)
    unit_ = control.verdict.unit
    return f"{value} {'×' if unit_ == 'ratio' else unit_}", f"{low} … {high}"


def _control_result(control: Control) -> Markup:
    if control.passed is None:
        return text(f"reason.{control.open_for}")
    if control.kind == "twin":
        return text("control.holds" if control.passed else "control.differs")
    return text("control.found" if control.passed else "control.not_found")


# --- how the run was made ----------------------------------------------------------------------------------------------


def _facts(run: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Name and value of each fact of the run in run.json; nested names with a dot."""
    for name in ("started_at", "runner", "host", "placement", "database", "k6", "tools", "images", "wall_s"):
        if name in run:
            yield from _flat(name, run[name])
    for name, value in run.get("containers", {}).items():
        if isinstance(value, str | int):
            yield f"containers.{name}", str(value)
    for name in ("tier", "profile", "workers", "rounds", "seed", "order", "order_why"):
        if run["plan"].get(name) not in (None, ""):
            yield f"plan.{name}", str(run["plan"][name])
    preflight = run.get("preflight") or {}
    for name in ("generator_ceiling_rps", "closed_ceiling_rps", "noisy", "memory_available_mib", "swap_used_mib"):
        if preflight.get(name) is not None:
            yield f"preflight.{name}", str(preflight[name])
    for finding in preflight.get("findings", []):
        yield f"preflight.{finding['id']}", " ".join(part for part in (finding["level"], finding["sentence"]) if part)


def _flat(name: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, below in value.items():
            yield from _flat(f"{name}.{key}", below)
    elif isinstance(value, list):
        yield name, ", ".join(str(each) for each in value) or "–"
    else:
        yield name, "–" if value is None else str(value)


def _settings(run: Mapping[str, Any], contenders: Sequence[str]) -> list[tuple[str, list[str]]]:
    """The settings that each running program reported: name, and the value of each contender."""
    told = [run.get("runtimes", {}).get(contender, {}).get("settings", {}) for contender in contenders]
    names = dict.fromkeys(name for settings in told for name in settings)
    return [(name, ["–" if (value := settings.get(name)) is None else str(value) for settings in told]) for name in names]
