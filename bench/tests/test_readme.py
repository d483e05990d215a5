"""What the README shows is what the newest committed run says; its commands exist."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from nsb.analysis import table
from nsb.report import markdown
from nsb.running.journal import read_run
from nsb.running.outputs import outputs

ROOT = Path(__file__).resolve().parents[2]
READMES = [ROOT / "README.md", ROOT / "README.ko.md"]
RESULTS = sorted(path.parent for path in (ROOT / "bench" / "results").glob("*/run.json"))


@pytest.mark.parametrize("readme", READMES, ids=lambda p: p.name)
def test_the_block_is_that_of_the_newest_reference_run(readme: Path) -> None:
    text = readme.read_text(encoding="utf-8")
    block = ""
    if RESULTS:
        run, cells = read_run(RESULTS[-1])
        block = markdown.readme_block(table.make(run, cells), run, RESULTS[-1].relative_to(ROOT).as_posix())
    assert markdown.with_block(text, block) == text


@pytest.mark.parametrize("folder", RESULTS, ids=lambda p: p.name)
def test_committed_tables_come_from_their_raw_data(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / folder.name
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("table.*", "k6"))
    outputs(copy, *read_run(copy))
    assert (folder / "table.md").read_text(encoding="utf-8") == (copy / "table.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("readme", READMES, ids=lambda p: p.name)
def test_every_verb_it_names_is_a_recipe(readme: Path) -> None:
    recipes = set(re.findall(r"^([a-z-]+)(?: \*arguments)?:", (ROOT / "justfile").read_text(), re.MULTILINE))
    named = set(re.findall(r"`?(?:\./justw|just) ([a-z-]+)", readme.read_text(encoding="utf-8")))
    assert named
    assert named <= recipes


def test_markers_that_are_gone_are_an_error() -> None:
    with pytest.raises(ValueError, match="markers"):
        markdown.with_block("no markers", "block")
