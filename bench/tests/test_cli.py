"""Wrong usage exits 2 with every mistake; what reads a run works from its raw data alone."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nsb.measure.machine import alone

BENCH = Path(__file__).resolve().parents[1]
RUN = BENCH / "tests" / "recordings" / "run"


def nsb(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "nsb", *arguments],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(BENCH / "src")},
        timeout=120,
    )


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["plan", "--contenders", "gone", "--tier", "big", "--scenarios", "no"], ["ers: 'gone'", "--tier: 'big'", "--scenarios: 'no'"]),
        (["plan", "--contenders", "go", "--twin", "rust"], ["--twin: 'rust'"]),
        (["plan", "--contenders", "go", "--twin", "go,rust"], ["--twin: 'rust'"]),
        (["plan", "--profile", "3cpu"], ["--profile: '3cpu'"]),
        (["plan", "--rounds", "0"], ["--rounds"]),
        (["plan", "--generators", "0"], ["--generators"]),
        (["bench-all", "--generators", "65"], ["--generators"]),
        (["bench", "go", "--generators", "two"], ["--generators"]),
        (["plan", "--generators", "2", "--scenarios", "cost-hello"], ["--generators: 2 cannot divide", "cost-hello"]),
        (["bench", "gone"], ["'gone'"]),
        (["bench-all", "--runner", "podman"], ["--runner: 'podman'"]),
        (["bench-all", "--colour", "red"], ["--colour"]),
        (["show", "nothing"], ["'nothing'", "fanout"]),
        (["sing"], ["sing"]),
    ],
)
def test_wrong_usage_exits_2_and_names_the_key(arguments: list[str], named: list[str]) -> None:
    done = nsb(*arguments)
    assert done.returncode == 2, done.stderr
    assert all(name in done.stderr for name in named), done.stderr
    assert "Traceback" not in done.stderr


def test_plan_announces_time_and_order() -> None:
    done = nsb("plan", "--contenders", "go,rust", "--seed", "5", "--rounds", "2")
    assert done.returncode == 0
    rounds = [line.split(": ")[1].split(", ") for line in done.stdout.splitlines() if line.strip().startswith("round")]
    assert rounds[1] == rounds[0][::-1]
    assert "minutes" in done.stdout
    assert "no verdict" in done.stdout


def test_plan_names_whom_it_could_tell_nothing_of() -> None:
    done = nsb("plan", "--contenders", "python,python-one,java-nio-n", "--scenarios", "book-read-rate", "--profile", "1cpu")
    assert done.returncode == 0
    assert [line.split(": ")[1] for line in done.stderr.splitlines() if line.startswith("left out")] == ["python-one", "java-nio-n"]
    assert "cells: 2 contenders" in done.stdout  # python and its twin
    assert "java-nio-n" not in done.stdout


def test_a_plan_of_nobody_is_refused() -> None:
    done = nsb("plan", "--contenders", "python-one", "--scenarios", "book-read-rate", "--profile", "1cpu", "--twin", "none")
    assert done.returncode == 3
    assert "left out: python-one: " in done.stderr
    assert "Time:" not in done.stdout


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    done = nsb("report", str(tmp_path))
    assert done.returncode == 3
    assert "no run" in done.stderr


@pytest.mark.slow
def test_report_gives_the_same_bytes_twice_and_those_of_the_golden_table(tmp_path: Path) -> None:
    shutil.copytree(RUN, tmp_path / "run")
    first, second = ([], [])
    for seen in (first, second):
        assert nsb("report", str(tmp_path / "run")).returncode == 0
        made = ("table.md", "table.csv", "table.json", "claims.md", "claims.json", "report.html", "blog.en.md", "blog.ko.md")
        seen += [(tmp_path / "run" / name).read_bytes() for name in made]
        seen += [chart.read_bytes() for chart in sorted((tmp_path / "run" / "charts").iterdir())]
    assert len(first) > 8
    assert first == second
    assert first[0].decode() == (BENCH / "tests" / "golden" / "table.md").read_text(encoding="utf-8")


def test_show_prints_a_part_of_every_service() -> None:
    done = nsb("show", "fanout")
    assert done.returncode == 0
    for path in ("go/fanout.go", "rust/src/fanout.rs", "python/service/fanout.py", "node/src/fanout.js"):
        assert path in done.stdout


def test_a_part_of_the_tests_that_is_none_is_refused_before_any_runs() -> None:
    done = nsb("test", "harness: format", "typo")
    assert (done.returncode, done.stdout) == (2, "")
    assert "'typo' begins none of harness: format; harness: lint;" in done.stderr


def test_a_database_url_that_is_none_is_refused_before_anything_is_built() -> None:
    done = nsb("bench", "go", "--database-url", "postgres://root:hidden@127.0.0.1/nsb")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("--database-url: must look like mysql://")
    assert "hidden" not in done.stderr


def test_a_run_of_another_machine_is_not_resumed(tmp_path: Path) -> None:
    shutil.copytree(RUN, tmp_path / "run")
    done = nsb("bench-all", "--resume", str(tmp_path / "run"))
    assert done.returncode == 3
    assert "cannot be resumed here: name was recorded" in done.stderr


def test_a_folder_that_holds_a_run_is_not_used_for_another(tmp_path: Path) -> None:
    shutil.copytree(RUN, tmp_path / "run")
    done = nsb("bench-all", "--out", str(tmp_path / "run"))
    assert done.returncode == 2
    assert "--resume" in done.stderr


def front_door(*arguments: str) -> subprocess.CompletedProcess[str]:
    """./justw as on a machine without just: the pinned one, which whoever runs these tests by it has fetched."""
    if not (BENCH.parent / ".tools" / "just" / "bin" / "just").exists():
        pytest.skip("the pinned just is not in .tools/: ./justw fetches it where no just is on PATH")
    command = [str(BENCH.parent / "justw"), *arguments]
    environment = {**os.environ, "PATH": "/usr/bin:/bin"}
    return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, env=environment, timeout=120)


@pytest.mark.parametrize("arguments", [[], ["help"], ["--help"]], ids=" ".join)
def test_the_bare_front_door_lists_the_verbs(arguments: list[str]) -> None:
    done = front_door(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert {"bench-all", "doctor", "compare"} <= set(done.stdout.split())


def test_help_of_a_verb_is_that_of_the_harness() -> None:
    done = front_door("help", "bench")
    assert done.returncode == 0
    assert "--tier" in done.stdout


def test_an_error_is_one_message_and_one_exit_code() -> None:
    done = front_door("bench", "nobody")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1, done.stderr


@pytest.mark.xdist_group("machine")
def test_a_run_is_refused_while_another_one_measures_and_leaves_no_folder(tmp_path: Path) -> None:
    with alone(tmp_path, True, print):
        done = nsb("bench", "go", "--tier", "smoke", "--noisy", "--out", str(tmp_path / "run"))
    assert done.returncode == 3
    assert f"process {os.getpid()}" in done.stderr
    assert not (tmp_path / "run").exists()


def test_a_run_is_found_by_its_id_alone() -> None:
    newest = max(folder for folder in (BENCH / "results").iterdir() if (folder / "run.json").exists()).name
    done = nsb("claims", newest)
    assert done.returncode == 0, done.stderr


def test_what_is_no_run_is_told_with_the_newest_there_are() -> None:
    done = nsb("compare", "nothing", "nowhere")
    assert done.returncode == 3
    assert max(folder.name for folder in (BENCH / "results").iterdir() if (folder / "run.json").exists()) in done.stderr


def test_a_run_is_not_compared_with_itself() -> None:
    done = nsb("compare", str(RUN), f"{RUN}/../run")
    assert done.returncode == 3
    assert "the same run" in done.stderr


def test_where_two_runs_cannot_be_compared_two_are_named_that_can() -> None:
    first, *_, last = sorted(folder.name for folder in (BENCH / "results").iterdir() if (folder / "run.json").exists())
    done = nsb("compare", first, str(RUN))
    assert done.returncode == 3
    example = done.stderr.rstrip().rpartition("./justw ")[2].split()
    assert nsb(*example).returncode in (0, 1), last


def test_the_example_of_compare_names_runs_that_are_committed() -> None:
    named = re.findall(r"\b20\d{6}\w*-[a-z]+", nsb("compare", "--help").stdout)
    assert len(named) == 2
    assert [name for name in named if not (BENCH / "results" / name / "run.json").exists()] == []


def test_a_path_in_a_hint_can_be_pasted(tmp_path: Path) -> None:
    folder = tmp_path / "a run"
    shutil.copytree(RUN, folder)
    done = nsb("bench-all", "--out", str(folder))
    assert done.returncode == 2
    assert f"--resume '{folder}'" in done.stderr


def test_the_database_may_come_from_the_environment() -> None:
    assert "NSB_DATABASE_URL" in nsb("bench-all", "--help").stdout


def test_the_version_is_that_of_the_changelogs_newest_release() -> None:
    released = re.search(r"^## (\d\S*) ", (BENCH.parent / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert released
    assert nsb("--version").stdout == f"nsb {released[1]}\n"
