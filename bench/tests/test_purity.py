"""Measuring and analysing meet only in records; no contender or scenario is named in harness code."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from nsb.registry.load import Registry

SOURCE = Path(__file__).resolve().parents[1] / "src" / "nsb"
EFFECTS = {"os", "subprocess", "socket", "psutil", "httpx", "pymysql", "time", "threading", "signal", "shutil", "tempfile"}
PURE = [file for room in ("registry", "records", "analyse", "render") for file in sorted((SOURCE / room).glob("*.py"))]

BELOW = {
    "registry": {"conform", "measure", "analyse", "render", "session", "verbs", "cli"},
    "records": {"conform", "measure", "analyse", "render", "session", "verbs", "cli"},
    "conform": {"measure", "analyse", "render", "session", "verbs", "cli"},
    "measure": {"analyse", "render", "session", "verbs", "cli"},
    "analyse": {"conform", "measure", "render", "session", "verbs", "cli"},
    "render": {"conform", "measure", "session", "verbs", "cli"},
    "session": {"verbs", "cli"},
}
"""Room → those that it may not import. `session`, `verbs` and the command line wire the rooms and may import all of them."""


def imported(file: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


@pytest.mark.parametrize("file", PURE, ids=lambda f: f.stem)
def test_pure_modules_have_no_effects(file: Path) -> None:
    names = imported(file)
    assert not {name.split(".")[0] for name in names} & EFFECTS
    assert not {name for name in names if name.startswith(("nsb.measure", "nsb.session", "nsb.conform", "nsb.verbs", "nsb.cli"))}


@pytest.mark.parametrize("file", [file for room in BELOW for file in sorted((SOURCE / room).glob("*.py"))], ids=lambda f: f.stem)
def test_no_room_imports_one_that_comes_after_it(file: Path) -> None:
    """What is measured is written down and judged later, by whoever reads it; a loop that needs a verdict is given the judge."""
    above = BELOW[file.parent.name]
    assert not {name for name in imported(file) if name.split(".")[:1] == ["nsb"] and [*name.split("."), ""][1] in above}


def test_no_contender_or_scenario_is_named_in_harness_code(registry: Registry) -> None:
    names = {name for name in (*registry.contenders, *registry.scenarios) if name not in ("go", "python", "node", "rust")}
    for file in SOURCE.rglob("*.py"):
        literals = {n.value for n in ast.walk(ast.parse(file.read_text())) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
        for literal in literals:
            found = names & set(literal.split(","))
            assert not found, f"{file.name} names {found}"
