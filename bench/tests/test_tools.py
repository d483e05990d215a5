"""Programs that the machine must have: which one is taken, and what is fetched where there is none."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from nsb.measure import show
from nsb.measure.tools import Found, Missing, Workshop, find
from nsb.registry.load import ConfigurationError, Registry, load
from nsb.registry.services import Tool

ROOT = Path(__file__).resolve().parents[2]


def say(_: str) -> None:
    pass


def program(path: Path, version: str) -> Path:
    """One that tells a version."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho version {version}\n")
    path.chmod(0o755)
    return path


def tool(candidates: list[str], least: str = "21", most: str | None = None, fetch: list[list[str]] | None = None) -> Tool:
    return Tool(
        candidates=candidates, version_arguments=[], version_pattern=r"version (\S+)", least=least, most=most,
        install="install it", fetch=fetch or [],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("most", "version", "missing"),
    [
        (None, "25.0.3", None),
        (None, "17.0.15", "jdk 21 or newer: too old: {path} is 17.0.15; install it"),
        ("21", "21.0.8", None),
        ("21", "21", None),
        ("21", "25.0.3", "jdk 21: not this one: {path} is 25.0.3; install it"),
        ("21", "17.0.15", "jdk 21: not this one: {path} is 17.0.15; install it"),
        ("23", "25", "jdk 21 to 23: not this one: {path} is 25; install it"),
    ],
)
def test_the_version_must_fit(tmp_path: Path, most: str | None, version: str, missing: str | None) -> None:
    path = str(program(tmp_path / "java", version))
    found = find("jdk", tool([path], most=most))
    assert found == (Found(path, version) if missing is None else Missing(missing.format(path=path)))


def test_a_preferred_candidate_comes_before_a_newer_one_and_without_any_it_is_said(tmp_path: Path) -> None:
    newer, older = (program(tmp_path / name / "python3", version) for name, version in (("own", "22.0"), ("usr", "21.0")))
    wanted = tool([str(newer), str(older)]).model_copy(update={"unpreferred": "not optimized"})
    assert find("python", wanted.model_copy(update={"prefer_arguments": ["prefer"]})) == Found(str(newer), "22.0")
    older.write_text(older.read_text(encoding="utf-8").replace("#!/bin/sh", '#!/bin/sh\n[ "$1" = prefer ] && exit 0'), encoding="utf-8")
    newer.write_text(newer.read_text(encoding="utf-8").replace("#!/bin/sh", '#!/bin/sh\n[ "$1" = prefer ] && exit 1'), encoding="utf-8")
    assert find("python", wanted.model_copy(update={"prefer_arguments": ["prefer"]})) == Found(str(older), "21.0")
    alone = wanted.model_copy(update={"candidates": [str(newer)], "prefer_arguments": ["prefer"]})
    found = find("python", alone)
    assert isinstance(found, Found)
    assert found.told == "22.0, not optimized"


def test_a_candidate_may_lie_in_the_repository_whatever_that_is_called(tmp_path: Path) -> None:
    root = tmp_path / "a [b]"
    path = program(root / ".tools" / "jdk" / "bin" / "java", "21.0.8")
    assert find("jdk", tool(["{root}/.tools/*/bin/java"]), root=root) == Found(str(path), "21.0.8")


def stall(tmp_path: Path, fetch: list[list[str]]) -> Workshop:
    """With one tool, which is missing."""
    tools = {"jdk": tool(["{root}/fetched"], fetch=fetch), "python": tool([sys.executable])}
    registry = Registry(tools=tools, services={}, contenders={}, scenarios={}, tiers={})
    return Workshop(tmp_path, registry, {"python": Found(sys.executable, "3")}, {"jdk": Missing("jdk 21: not found; install it")})


WRITES = "import pathlib, sys; p = pathlib.Path(sys.argv[1]); p.write_text('#!/bin/sh\\necho version 21.0.8\\n'); p.chmod(0o755)"


def test_what_can_be_fetched_is_not_lacked_and_is_fetched_when_it_is_needed(tmp_path: Path) -> None:
    work = stall(tmp_path, [["{tool.python}", "-c", WRITES, "{root}/fetched"]])
    assert work.lacks(["jdk"]) == []
    assert not (tmp_path / "fetched").exists()
    assert work.provide(["python"], say) == []
    assert "jdk" in work.missing
    assert work.provide(["jdk", "python"], say) == []
    assert (work.found["jdk"], work.missing) == (Found(str(tmp_path / "fetched"), "21.0.8"), {})


def test_a_fetch_that_fails_is_told_with_its_last_words(tmp_path: Path) -> None:
    work = stall(tmp_path, [["{tool.python}", "-c", "import sys; sys.exit('no route to the registry')"]])
    (sentence,) = work.provide(["jdk"], say)
    assert sentence.startswith("jdk 21: not found; install it; or let it be fetched, which failed: jdk: ")
    assert sentence.endswith("no route to the registry")
    assert "jdk" in work.missing


def test_a_fetch_that_brings_something_else_is_none(tmp_path: Path) -> None:
    work = stall(tmp_path, [["{tool.python}", "-c", ""]])
    assert work.provide(["jdk"], say) == ["jdk 21 or newer: not found; install it; what was fetched is none"]


def test_what_fetches_a_tool_must_be_there_itself(tmp_path: Path) -> None:
    work = stall(tmp_path, [["{tool.python}", "-c", WRITES, "{root}/fetched"]])
    del work.found["python"]
    assert work.lacks(["jdk"]) == work.provide(["jdk"], say) == ["jdk 21: not found; install it"]


def test_a_contender_needs_the_tools_that_build_its_service_and_those_that_run_it(registry: Registry) -> None:
    go = registry.contenders["go"]
    other = go.model_copy(update={"run": ["{tool.java}", "-jar", "{folder}/x.jar"]})
    work = Workshop(ROOT, registry, {}, {})
    assert work.needs(go) == ["go"]
    assert work.needs(other) == ["go", "java"]


@pytest.mark.parametrize(
    ("version", "found"),
    [('openjdk version "1.8.0_504"', "1.8.0"), ('openjdk version "17.0.15" 2025-04-15', None), ('java version "1.7.0_80"', None)],
)
def test_what_calls_itself_1_8_is_a_jdk_8_and_no_other(tmp_path: Path, registry: Registry, version: str, found: str | None) -> None:
    path = program(tmp_path / "bin" / "java", f"'{version}'")
    candidates = [each for each in registry.tools["java8"].candidates if each.startswith("$JAVA_8_HOME")]
    here = registry.tools["java8"].model_copy(update={"candidates": candidates})  # whatever else this machine has
    tool = find("java8", here, {"JAVA_8_HOME": str(tmp_path)})
    assert tool == Found(str(path), found) if found else isinstance(tool, Missing)
    without = find("java8", here, {})
    assert isinstance(without, Missing)
    assert "JAVA_8_HOME" in without.sentence


def test_a_service_for_jdk_8_is_built_and_tested_without_one(registry: Registry) -> None:
    """Only its contender is left out."""
    jdks = {"java": Found("/jdk-25/bin/java", "25"), "maven": Found("mvn", "3.9")}
    work = Workshop(ROOT, registry, jdks, {"java8": Missing("java8 1.8: not found; install it")})
    contender = registry.contenders["java-8"]
    assert work.lacks(registry.services[contender.service].needs) == []
    assert work.lacks(work.needs(contender)) == ["java8 1.8: not found; install it"]


def test_a_tool_that_nobody_knows_is_a_mistake(tmp_path: Path) -> None:
    for name in ("contenders.toml", "scenarios.toml"):
        (tmp_path / name).write_text((ROOT / "bench" / name).read_text().replace('run = ["{tool.java}"', 'run = ["{tool.jvm}"'))
    with pytest.raises(ConfigurationError, match=r"contender\[java-vt\]\.run: no tool is named jvm"):
        load(tmp_path)


def test_services_that_share_a_folder_are_shown_once(registry: Registry) -> None:
    twice = {**registry.services, "go-again": registry.services["go"]}
    again = registry.contenders["go"].model_copy(update={"id": "go-again", "service": "go-again"})
    more = registry.model_copy(update={"services": twice, "contenders": {**registry.contenders, "go-again": again}})
    assert show.part(ROOT, more, "fanout") == show.part(ROOT, registry, "fanout")
