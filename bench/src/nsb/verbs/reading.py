"""Verbs that write a run's outputs again: report, blog, draw, site."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from nsb.analyse.judge import LEAST_ROUNDS
from nsb.measure import archive
from nsb.measure.integrity import SUMS
from nsb.measure.journal import write_whole
from nsb.records.judged import Cell
from nsb.registry.load import ConfigurationError
from nsb.render import claims as verdicts
from nsb.render import markdown, terminal, words
from nsb.session.outputs import Written, blog, drawn_apart, front_pages, outputs, pages, tidy, without_picture
from nsb.session.runs import read_run
from nsb.verbs.common import BENCH, DONE, INCOMPLETE, ROOT, claims_of, console, digest_of, found_run, tell_unchained


def written(folder: Path) -> tuple[Written, dict[str, Any], list[Cell]]:
    """Tables and verdicts from the journal, and the table on the screen; with what they were made from."""
    facts, cells = read_run(folder)
    tell_unchained(folder)
    made = outputs(folder, facts, cells, claims_of())
    console.print(terminal.grid(made.table, console.width))
    decided = [verdicts.counts(made.judgement.claims, "en")] if made.table.rounds >= LEAST_ROUNDS else []
    for line in (*words.legend(made.table), *made.controls, *decided):
        console.print(line, style="dim", markup=False)
    console.print(f"\n{folder}/table.md, table.csv, table.json, claims.md, claims.json, model.json; raw data beside them", markup=False)
    return made, facts, cells


def draw_apart(folder: Path) -> bool:
    """The page, the charts and the blog data; False, with a sentence, where they could not be drawn: tables and verdicts stand."""
    console.print("Drawing the page, the charts and the blog data …")
    why = drawn_apart(folder)
    told = f"{folder}/report.html, charts/, blog.en.md, blog.ko.md" if why is None else f"The page could not be drawn: {why}"
    console.print(told, markup=False)
    _tell_without_picture(folder)
    return why is None


def _tell_without_picture(folder: Path) -> None:
    if lacking := without_picture(folder):
        console.print(f"{words.count(lacking, 'chart')} as SVG only: no font here has Hangul (Debian: apt-get install fonts-noto-cjk)")


def report(run: Path, readme: bool) -> None:
    """Every output again from a run's raw data; `readme`: the blocks of both READMEs too, the pictures, and docs/verdicts.md."""
    run = found_run(run)
    if readme and not run.resolve().is_relative_to(BENCH / "results"):
        raise ConfigurationError([f"--readme: {run} is not a committed run below bench/results/"])
    written(run)
    complete = draw_apart(run)
    if readme:
        claims = claims_of()
        for file, text in front_pages(ROOT, run.resolve(), claims, digest_of()).items():
            write_whole(file, text)
        tidy(ROOT, run.resolve(), [*markdown.READMES, *(f"docs/{name}" for name in (*markdown.VERDICTS.values(), "overload.md"))], claims)
    sys.exit(DONE if complete else INCOMPLETE)


def keep(run: Path, name: str | None) -> None:
    """A finished run into bench/results: its records, one archive of its raw summaries, and every output."""
    kept = archive.keep(found_run(run), BENCH / "results", name)
    console.print(f"{kept}: records, {archive.RAW}, {SUMS}; say in bench/results/README.md why it is kept", markup=False)
    report(kept, False)


def site(target: Path) -> None:
    """The page of every committed run, with an index, into a new folder. Raises JournalError, Altered and Refused."""
    from nsb.session.site import publish

    publish(BENCH / "results", target, claims_of(), lambda line: console.print(line, markup=False))
    console.print(f"{target}/index.html, index.ko.html", markup=False)


def raw(run: Path, member: str | None) -> None:
    """One raw summary of a run as its generator wrote it, also from the archive of a kept run."""
    run = found_run(run)
    if member is None:
        sys.stdout.writelines(f"{each}\n" for each in archive.members(run))
    else:
        sys.stdout.buffer.write(archive.member(run, member))


def blog_data(run: Path, base: str, project: str) -> None:
    """The blog post alone. Raises ConfigurationError."""
    if base and not re.fullmatch(r"https?://\S+/", base):
        raise ConfigurationError([f"--base: {base!r} is no address of a folder: it begins with https:// and ends with /"])
    if project and not re.fullmatch(r"https?://[^\s/]+/\S+", project):
        raise ConfigurationError([f"--project: {project!r} is no address of a repository: it begins with https:// and has a path"])
    run = found_run(run)
    blog(run, *read_run(run), claims_of(), digest_of(), base, project)
    console.print(f"{run}/blog.en.md, blog.ko.md, charts/", markup=False)
    _tell_without_picture(run)


def draw(run: Path, alone: bool) -> None:
    """What `report` and a run's end draw in a process of its own; `alone`: report.html only."""
    pages(run, *read_run(run), claims_of(), digest_of(), alone)
