"""Contenders are asked the contract side by side, services are built so; what two harnesses saw pass is known to both."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from nsb.measure.native import Stage
from nsb.measure.tools import Workshop
from nsb.registry import plan
from nsb.registry.contenders import Contender
from nsb.registry.load import Registry
from nsb.registry.services import Service
from nsb.session.conformance import Launcher, PassedBefore, side_by_side
from nsb.session.run import apart, build

STAGES: list[Any] = [SimpleNamespace(name="first"), SimpleNamespace(name="second")]


def test_jvms_come_first_and_are_asked_beside_the_last_of_the_others(registry: Registry) -> None:
    order = plan.by_effort(registry.contenders[name] for name in ("go", "java-vt", "rust", "java-pt"))
    both, asked = threading.Barrier(2), list[tuple[str, str]]()

    def ask(launcher: Launcher) -> None:
        both.wait(30)
        asked.append((cast(Any, launcher.stage).name, launcher.contender.id))
        both.wait(30)

    side_by_side(STAGES, order, ask)
    assert sorted(asked[:2]) == [("first", "java-vt"), ("second", "rust")]
    assert sorted(asked[2:]) == [("first", "java-pt"), ("second", "go")]


def test_where_one_cannot_be_asked_the_others_are_given_up(registry: Registry) -> None:
    there, gone = threading.Event(), list[Launcher]()

    def ask(launcher: Launcher) -> None:
        if cast(Any, launcher.stage).name == "second":
            there.wait(30)
            raise ValueError("the database has gone")
        gone.append(launcher)
        there.set()
        while not launcher.given_up:
            pass

    with pytest.raises(ValueError, match="has gone"):
        side_by_side(STAGES, [registry.contenders[name] for name in ("go", "rust", "node", "python")], ask)
    assert [launcher.contender.id for launcher in gone if launcher.given_up] == ["go"]


def test_what_two_harnesses_saw_pass_is_known_to_both_and_of_each_number_of_workers(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    (tmp_path / "contract").mkdir()
    services = {"fake": Service(folder="fake", needs=[], build=[])}
    work = Workshop(tmp_path, Registry(tools={}, services=services, contenders={}, scenarios={}, tiers={}), {}, {})
    database = SimpleNamespace(kind="k", version="1")
    stage, wider = (
        cast(Stage, SimpleNamespace(runner="native", workers=workers, database=database, build_of=lambda _: "")) for workers in (1, 2)
    )
    one, other = (Contender(id=name, service="fake", stands_for="", run=["true"]) for name in ("one", "other"))
    first, second = PassedBefore(work, stage), PassedBefore(work, stage)
    assert not first.knows(one)
    first.add(one)
    second.add(other)
    two_workers = PassedBefore(work, wider)
    assert not two_workers.knows(one)
    two_workers.add(one)
    assert all(each.knows(contender) for each in (first, second) for contender in (one, other))
    assert two_workers.knows(one)
    assert not two_workers.knows(other)


MEETS = """
import pathlib, sys, time
mine, other = map(pathlib.Path, sys.argv[1:])
mine.touch()
while not other.exists():
    time.sleep(0.01)
"""


def test_services_of_other_tools_are_built_at_the_same_time_and_of_the_same_tools_in_turn(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)

    def service(tool: str, mine: str, other: str) -> Service:
        return Service(folder=".", needs=[tool], build=[[sys.executable, "-c", MEETS, str(tmp_path / mine), str(tmp_path / other)]])

    services = {"a": service("go", "a", "b"), "b": service("npm", "b", "a"), "c": service("go", "c", "a")}
    registry = Registry(tools={}, services=services, contenders={}, scenarios={}, tiers={})
    assert apart(registry, list(services)) == [["a", "c"], ["b"]]
    seconds, failed = build(Workshop(tmp_path, registry, {}, {}), list(services), lambda _: None)
    assert (list(seconds), failed) == (["a", "b", "c"], {})
