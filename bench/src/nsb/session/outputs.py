"""Writes a run's outputs from its raw data alone. The same data give the same bytes."""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nsb.analyse import articles, controls
from nsb.analyse import claims as judge
from nsb.analyse import table as tables
from nsb.analyse import worked as workloads
from nsb.analyse.digest import Digest, digest, filled
from nsb.analyse.dominance import dominance
from nsb.analyse.merged import Across, across
from nsb.analyse.worked import Worked
from nsb.measure import archive
from nsb.measure.journal import JournalError, read_starts_of, write_whole
from nsb.measure.process import run as run_program
from nsb.records.judged import Cell
from nsb.records.schema import to_json
from nsb.records.sources import Code, read_code
from nsb.registry.claims import Claims, Judgement
from nsb.registry.digest import DigestPlan
from nsb.registry.load import load
from nsb.render import articles as pages_of_articles
from nsb.render import blog as blogs
from nsb.render import claims as verdicts
from nsb.render import csv, guide, markdown, picture
from nsb.render.controls import sentences
from nsb.render.markdown import Reproduced
from nsb.render.messages import LANGUAGES, Language
from nsb.render.words import of_runner
from nsb.session import models
from nsb.session.runs import read_run

if TYPE_CHECKING:
    from nsb.analyse.model import CostModel
    from nsb.render.charts import Chart

CODE = "code.json"


@dataclass(frozen=True)
class Written:
    """What the outputs say, for the screen."""

    table: tables.Table
    controls: list[str]
    judgement: Judgement


def outputs(folder: Path, run: dict[str, Any], cells: Sequence[Cell], claims: Claims) -> Written:
    """table.md, table.csv, table.json, claims.md, claims.json, model.json, and a page for each article whose load was repeated.

    Raises JournalError.
    """
    starts = read_starts_of(folder)
    table = tables.make(run, cells, starts)
    beside = controls.compare(run, cells)
    judgement = judge.judged(run, cells, starts, read_code_of(folder), claims)
    write_whole(folder / "table.md", markdown.wrapped(of_runner(markdown.page(table, run, beside), run)))
    write_whole(folder / "table.csv", csv.text(table))
    compared = [control.model_dump(mode="json") for control in beside]
    told = table.model_dump(
        mode="json", exclude={name for name in ("overloaded", "failed") if not getattr(table, name)}
    )  # runs without it stay as they are
    write_whole(folder / "table.json", to_json({**told, "compared_controls": compared}))
    write_whole(folder / "claims.md", markdown.wrapped(verdicts.page(judgement)))
    write_whole(folder / "claims.json", to_json(judgement.model_dump(mode="json", by_alias=True)))
    write_whole(folder / models.MODEL, models.fit(run, cells, table, folder.name).text())
    _articles(folder, run, cells, claims, judgement)
    return Written(table, sentences(beside), judgement)


def _articles(folder: Path, run: dict[str, Any], cells: Sequence[Cell], claims: Claims, judgement: Judgement) -> None:
    """articles/X.en.md and X.ko.md for each article whose own load the run repeats. Raises JournalError."""
    found, hidden = articles.repeated(run, cells, claims), articles.uncollected(cells)
    if found:
        (folder / "articles").mkdir(exist_ok=True)
    for letter, figures in found.items():
        for language in LANGUAGES:
            whole = pages_of_articles.page(language, claims.articles[letter], figures, run, judgement, list(found), hidden)
            write_whole(folder / "articles" / f"{letter}.{language}.md", markdown.wrapped(of_runner(whole, run)))


def blog(
    folder: Path, run: dict[str, Any], cells: Sequence[Cell], claims: Claims, wanted: DigestPlan, base: str = "", project: str = ""
) -> None:
    """blog.en.md, blog.ko.md and the charts. `base`: what stands before each path in them; `project`: where the project is cloned from.

    Raises JournalError."""
    _drawn(folder, run, cells, claims, wanted, posts=True, page=False, base=base, project=project)


def pages(folder: Path, run: dict[str, Any], cells: Sequence[Cell], claims: Claims, wanted: DigestPlan, alone: bool = False) -> None:
    """The same and report.html; `alone`: report.html only. Raises JournalError."""
    _drawn(folder, run, cells, claims, wanted, posts=not alone, page=True)


def drawn_apart(folder: Path, alone: bool = False) -> str | None:
    """`pages` in a process of its own: drawing needs more memory than a harness should hold. None, or why it failed."""
    with tempfile.TemporaryDirectory(prefix="nsb-") as scratch:
        log = Path(scratch) / "draw.log"
        if run_program("draw", [sys.executable, "-m", "nsb", "draw", *(["--page-alone"] if alone else []), str(folder)], log) == 0:
            return None
        return " ".join(log.read_text(encoding="utf-8", errors="replace").split()[-60:]) or "no reason was given"


def without_picture(folder: Path) -> int:
    """How many charts are there as SVG alone, since no font here has their letters."""
    return sum(not file.with_suffix(".png").exists() for file in (folder / "charts").glob("*.svg"))


def _drawn(
    folder: Path,
    run: dict[str, Any],
    cells: Sequence[Cell],
    claims: Claims,
    wanted: DigestPlan,
    posts: bool,
    page: bool,
    base: str = "",
    project: str = "",
) -> None:
    from nsb.render import charts, html  # drawing takes some seconds to import, which no other verb should wait for

    starts, code = read_starts_of(folder), read_code_of(folder)
    table = tables.make(run, cells, starts)
    judgement = judge.judged(run, cells, starts, code, claims)
    matrix = dominance(run, cells, starts, code)
    found = digest(wanted, table, run, cells, starts, matrix)
    model = models.of_run(folder, models.BENCH)
    drawn = charts.charts(table, run, cells, starts, articles.repeated(run, cells, claims), model)
    verdicts_of = _verdicts_of(folder, judgement, claims) if posts else []
    for language in LANGUAGES if posts else ():
        _chart_files(folder, run, found, drawn, language)
        kind = "png" if charts.has_letters(language) else "svg"  # many platforms show no SVG
        post = blogs.post(language, table, run, verdicts_of, found, drawn, claims.articles, base, kind, project)
        write_whole(folder / f"blog.{language}.md", of_runner(post, run))
    if page:
        whole = html.page(
            table, run, cells, starts, judgement, matrix, code, drawn, charts.bundle(), found, claims.articles, archive.packed(folder),
            model, wanted,
        )  # fmt: skip
        write_whole(folder / "report.html", of_runner(whole, run))


def _verdicts_of(folder: Path, judgement: Judgement, claims: Claims) -> list[Across]:
    """As the READMEs have them where this is their run, the newest standard one that is committed; else of this run alone."""
    results = folder.resolve().parent
    if results.parts[-2:] != ("bench", "results") or folder.resolve() not in sorted(results.glob("*-standard"))[-1:]:
        return across([(folder.name, judgement)])
    earlier = committed_before(results.parents[1], folder.resolve(), claims)
    return across([(folder.name, judgement), *((each.folder, each.judgement) for each in earlier)])


def _chart_files(folder: Path, run: dict[str, Any], found: Digest, drawn: Sequence[Chart], language: Language) -> None:
    """charts/*.svg and *.png in one language."""
    from nsb.render import charts

    (folder / "charts").mkdir(exist_ok=True)
    vectors = {blogs.PICTURE: picture.svg(found, language, "light"), **{chart.id: charts.svg(chart, language) for chart in drawn}}
    for name, vector in vectors.items():
        shown = of_runner(vector, run)
        write_whole(folder / "charts" / f"{name}.{language}.svg", shown)
        pixels, file = charts.png(shown, language), folder / "charts" / f"{name}.{language}.png"
        if pixels is None:
            file.unlink(missing_ok=True)
        else:
            write_whole(file, pixels)


@dataclass(frozen=True)
class CommittedRun:
    """What a committed run says of the articles."""

    folder: str
    """Below the root, with `/`."""
    judgement: Judgement
    repeated: list[str]
    """Letters of the articles whose own load it repeats."""


def committed_before(root: Path, newest: Path, claims: Claims) -> list[CommittedRun]:
    """Each committed run but `newest`, judged again from its records, the newest first. Raises JournalError and Altered."""
    found = []
    for folder, _ in _plans(root):
        if folder == newest:
            continue
        run, cells = read_run(folder)
        judgement = judge.judged(run, cells, read_starts_of(folder), read_code_of(folder), claims)
        found.append(CommittedRun(folder.relative_to(root).as_posix(), judgement, list(articles.repeated(run, cells, claims))))
    return found


def reproduced(runs: Sequence[CommittedRun], claims: Claims) -> list[Reproduced]:
    """Each article whose own load one of the runs repeats, and the folders of those runs, in the order of the runs."""
    found = [Reproduced(each, [run.folder for run in runs if letter in run.repeated]) for letter, each in claims.articles.items()]
    return [each for each in found if each.folders]


def digest_of_run(folder: Path, run: dict[str, Any], cells: Sequence[Cell], wanted: DigestPlan) -> Digest:
    """Raises JournalError."""
    starts = read_starts_of(folder)
    return digest(wanted, tables.make(run, cells, starts), run, cells, starts, dominance(run, cells, starts, read_code_of(folder)))


def _plans(root: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The committed runs with their plans, the newest first."""
    for file in sorted((root / "bench" / "results").glob("*/run.json"), reverse=True):
        yield file.parent, json.loads(file.read_text(encoding="utf-8"))["plan"]


def _digests_beside(root: Path, newest: Path, run: Mapping[str, Any], wanted: DigestPlan) -> dict[str, Digest]:
    """Of the committed runs of the same profile that have a row of the small table, the newest first. Raises JournalError and Altered."""
    found = {}
    for folder, plan in _plans(root):
        if (
            folder != newest
            and plan["profile"] == run["plan"]["profile"]
            and not set(plan["headlines"]).isdisjoint(row.id for row in wanted.rows)
        ):
            found[folder.name] = digest_of_run(folder, *read_run(folder), wanted)
    return found


def _worked(root: Path, model: CostModel) -> dict[str, list[Worked]]:
    """Workload of the guide → what runs of this profile say of it, of each contender the newest. Raises JournalError and Altered."""
    scenarios, names, found = load(models.BENCH).scenarios, [each.contender for each in model.contenders], []
    for folder, plan in _plans(root):
        if plan["profile"] == model.profile and any(workloads.workload_of(scenarios.get(name)) for name in plan["headlines"]):
            found += workloads.worked(models.fitted(folder), names, read_run(folder)[1], scenarios)
    return workloads.newest(found)


def front_pages(root: Path, newest: Path, claims: Claims, wanted: DigestPlan) -> dict[Path, str]:
    """What a visitor sees first, from the newest standard run and the committed runs before it: the READMEs with their blocks, the
    pictures, docs/verdicts.md and docs/guide.md in both languages, and the model that `just size` reads. Path → text.

    Raises JournalError and Altered."""
    run, cells = read_run(newest)
    found = filled(digest_of_run(newest, run, cells, wanted), wanted, _digests_beside(root, newest, run, wanted))
    committed = committed_before(root, newest, claims)
    judgement = judge.judged(run, cells, read_starts_of(newest), read_code_of(newest), claims)
    judged = [(newest.relative_to(root).as_posix(), judgement), *((each.folder, each.judgement) for each in committed)]
    model = models.committed(root, newest)
    checked = _worked(root, model)
    pages: dict[Path, str] = {root / "bench" / "results" / models.MODEL: model.text()}
    for name, language in markdown.READMES.items():
        block = markdown.wrapped(markdown.readme_block(found, run, judged, language))
        pages[root / name] = markdown.with_block((root / name).read_text(encoding="utf-8"), block)
        verdicts = markdown.verdicts_page(run, judged, reproduced(committed, claims), language)
        pages[root / "docs" / markdown.VERDICTS[language]] = markdown.wrapped(verdicts)
        answers = guide.page(wanted, found, model, checked, judged[0][0], language)
        pages[root / "docs" / guide.PAGES[language]] = markdown.wrapped(answers)
        for theme in picture.THEMES:
            pages[root / "docs" / picture.name(language, theme)] = picture.svg(found, language, theme)
    return pages


def tidy(root: Path, newest: Path, readmes: Sequence[str], claims: Claims) -> None:
    """Makes again what the READMEs link of older committed runs, and deletes what else was made from them. Raises JournalError and Altered.

    `newest` is the run of the READMEs' table: what was made from it stays. Pictures are not drawn again: `report` of their run does.
    """
    linked = linked_from(root, readmes)
    older = [file.parent for file in (root / "bench" / "results").glob("*/run.json") if file.parent != newest]
    for folder in older:
        if any(file.is_relative_to(folder) for file in linked):
            outputs(folder, *read_run(folder), claims)
    linked = linked_from(root, readmes)  # with what the pages link that were just made
    for file in (file for folder in older for file in derived(folder)):
        if file not in linked:
            file.unlink()
            if file.parent not in older and not any(file.parent.iterdir()):
                file.parent.rmdir()


def derived(folder: Path) -> list[Path]:
    """What git would take of the files that are made from a run's records."""
    return [
        file
        for pattern in ("table.*", "claims.*", models.MODEL, "articles/*", "charts/article-*.svg", "charts/*-overload-*.svg")
        for file in sorted(folder.glob(pattern))
    ]


def linked_from(root: Path, pages: Sequence[str]) -> set[Path]:
    """Every path below bench/results that the Markdown pages (paths below `root`) link, and that those link in turn."""
    found: set[Path] = set()
    waiting = [root / page for page in pages]
    while waiting:
        page = waiting.pop()
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
            file = Path(os.path.normpath(page.parent / target))
            if file.is_relative_to(root / "bench" / "results") and file not in found:
                found.add(file)
                waiting += [file] if file.suffix == ".md" and file.is_file() else []
    return found


def read_code_of(folder: Path) -> Code | None:
    """The sizes of the sources; None for a run in which they were not counted. Raises JournalError."""
    try:
        return read_code((folder / CODE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise JournalError(f"{folder / CODE}: {error}") from None
