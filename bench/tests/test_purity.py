"""Running and analysing meet only in files; no contender or scenario is named in harness code."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from nsb.registry.model import Registry

SOURCE = Path(__file__).resolve().parents[1] / "src" / "nsb"
EFFECTS = {"os", "subprocess", "socket", "psutil", "httpx", "pymysql", "time", "threading", "signal", "shutil", "tempfile"}
PURE = [file for room in ("registry", "analyse", "render") for file in sorted((SOURCE / room).glob("*.py"))]


def imported(file: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return names


@pytest.mark.parametrize("file", PURE, ids=lambda f: f.stem)
def test_pure_modules_have_no_effects(file: Path) -> None:
    names = imported(file)
    assert not {name.split(".")[0] for name in names} & EFFECTS
    assert not {name for name in names if name.startswith("nsb.measure")}


def test_no_contender_or_scenario_is_named_in_harness_code(registry: Registry) -> None:
    names = {name for name in (*registry.contenders, *registry.scenarios) if name not in ("go", "python", "node", "rust")}
    for file in SOURCE.rglob("*.py"):
        literals = {n.value for n in ast.walk(ast.parse(file.read_text())) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
        for literal in literals:
            found = {name for name in names if re.fullmatch(rf"(.*,)?{re.escape(name)}(,.*)?", literal)}
            assert not found, f"{file.name} names {found}"
