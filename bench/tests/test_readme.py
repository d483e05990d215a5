"""What the README shows is what the newest committed run says; its commands exist."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from nsb.claims import Claims
from nsb.report import markdown
from nsb.running.journal import read_run
from nsb.running.outputs import outputs

ROOT = Path(__file__).resolve().parents[2]
READMES = [ROOT / name for name in markdown.READMES]
RESULTS = sorted(path.parent for path in (ROOT / "bench" / "results").glob("*/run.json"))
REFERENCES = [folder for folder in RESULTS if folder.name.endswith("-standard")]
MADE = ("table.*", "claims.*", "report.html", "blog.*", "charts", "k6", "oha")
"""What a run's folder holds besides its raw data, and raw data that no output is made from."""


@pytest.mark.parametrize("readme", READMES, ids=lambda p: p.name)
def test_the_block_is_that_of_the_newest_reference_run(readme: Path, tmp_path: Path, claims: Claims) -> None:
    text = readme.read_text(encoding="utf-8")
    newest = REFERENCES[-1]
    copy = tmp_path / newest.name
    shutil.copytree(newest, copy, ignore=shutil.ignore_patterns(*MADE))
    run, cells = read_run(copy)
    written = outputs(copy, run, cells, claims)
    folder = newest.relative_to(ROOT).as_posix()
    block = markdown.readme_block(written.table, run, folder, written.judgement, markdown.READMES[readme.name])
    assert markdown.with_block(text, block) == text


@pytest.mark.parametrize("folder", RESULTS, ids=lambda p: p.name)
def test_committed_tables_and_verdicts_come_from_their_raw_data(folder: Path, tmp_path: Path, claims: Claims) -> None:
    copy = tmp_path / folder.name
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns(*MADE))
    outputs(copy, *read_run(copy), claims)
    for name in ("table.md", "table.csv", "table.json", "claims.md", "claims.json"):
        assert (folder / name).read_bytes() == (copy / name).read_bytes(), name


@pytest.mark.parametrize("readme", READMES, ids=lambda p: p.name)
def test_every_verb_it_names_is_a_recipe(readme: Path) -> None:
    recipes = set(re.findall(r"^([a-z-]+)(?: \*arguments)?:", (ROOT / "justfile").read_text(), re.MULTILINE))
    named = set(re.findall(r"`?(?:\./justw|just) ([a-z-]+)", readme.read_text(encoding="utf-8")))
    assert named
    assert named <= recipes


def test_markers_that_are_gone_are_an_error() -> None:
    with pytest.raises(ValueError, match="markers"):
        markdown.with_block("no markers", "block")
