"""A verb starts at once: what takes long to import is imported by the verbs that need it, when they need it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[1]
HEAVY = {"scipy", "numpy", "altair", "vl_convert", "pymysql", "httpx", "websockets", "lizard", "jinja2"}
SEES = """
import sys
from nsb import cli
cli._leave = sys.exit
try:
    cli.main()
except SystemExit:
    pass
print("\\n" + " ".join(sorted({*sys.modules, *(name.split(".")[0] for name in sys.modules)})))
"""


def imported(*arguments: str) -> set[str]:
    """The packages that a command has imported when it ends."""
    done = subprocess.run(
        [sys.executable, "-c", SEES, *arguments],
        env={**os.environ, "PYTHONPATH": str(BENCH / "src"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    "arguments",
    [
        ["plan", "--tier", "smoke"],
        ["size", "--rate", "5"],
        ["plan", "--tier", "standard"],
        ["doctor"],
        ["bench", "nobody"],
        ["show", "fanout"],
    ],
    ids=" ".join,
)
def test_what_judges_nothing_imports_no_heavy_library(arguments: list[str]) -> None:
    assert not imported(*arguments) & HEAVY


@pytest.mark.parametrize("arguments", [["--help"], ["bench-all", "--help"], ["sing"]], ids=" ".join)
def test_help_and_wrong_usage_do_not_even_read_the_registry(arguments: list[str]) -> None:
    assert not imported(*arguments) & {*HEAVY, "psutil", "nsb.registry"}
