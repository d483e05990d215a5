"""A new contender touches its folder and contenders.toml, and nothing else; a name that cannot be leaves everything as it was."""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from nsb.errors import Failure
from nsb.registry.load import Registry, load
from nsb.verbs.scaffold import new

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The tracked files of this clone, as another one."""
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    tracked = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, text=True, check=True).stdout
    for path in tracked.split("\0"):
        if path and not path.startswith("bench/results/") and (ROOT / path).is_file():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, tmp_path / path)
    subprocess.run(["git", "-C", str(tmp_path), "add", "--all"], check=True)
    return tmp_path


def changed(clone: Path) -> set[str]:
    """The folders and files at the top, or in bench/, that are not as they were."""
    done = subprocess.run(["git", "-C", str(clone), "diff", "--name-only"], capture_output=True, text=True, check=True)
    made = subprocess.run(
        ["git", "-C", str(clone), "ls-files", "--others", "--exclude-standard"], capture_output=True, text=True, check=True
    )
    return {*done.stdout.split(), *(path.partition("/")[0] for path in made.stdout.split())}


def originals(registry: Registry) -> list[str]:
    return [c.id for c in registry.contenders.values() if c.default]


def test_a_new_contender_is_its_folder_and_its_entry_after_each_of_the_defaults(clone: Path, registry: Registry) -> None:
    for like in originals(registry):
        name = f"new-{like}"
        new(name, like, clone)
        made = load(clone / "bench").contenders[name]
        assert not made.default
        assert made.service == name
        assert made.memory_mib == registry.contenders[like].memory_mib
    assert changed(clone) == {"bench/contenders.toml", *(f"new-{like}" for like in originals(registry))}


def test_what_was_there_is_as_it_was_and_the_places_to_edit_are_marked(clone: Path) -> None:
    before = (clone / "bench" / "contenders.toml").read_text(encoding="utf-8")
    new("bun", "node", clone)
    after = (clone / "bench" / "contenders.toml").read_text(encoding="utf-8")
    assert after.startswith(before.rstrip())
    assert after.count("# EDIT: ") >= 6
    assert tomllib.loads(after)["service"]["bun"]["folder"] == "bun"
    assert '"name": "bun"' in (clone / "bun" / "package.json").read_text(encoding="utf-8")
    assert "node:v8" in (clone / "bun" / "src" / "service.js").read_text(encoding="utf-8")  # a word of the language, not the service's name


@pytest.mark.parametrize(("name", "like"), [("Big", "go"), ("go", "go"), ("bench", "go"), ("new", "gone"), ("../out", "go")])
def test_what_cannot_be_is_refused_and_nothing_changes(clone: Path, name: str, like: str) -> None:
    with pytest.raises(Failure):
        new(name, like, clone)
    assert changed(clone) == set()
