"""Contenders as containers: what is measured of compose.yaml, what control groups tell, and the life of a container; without an engine."""

from __future__ import annotations

import copy
import json
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from nsb.analyse import compare, resume
from nsb.measure import engine as images
from nsb.measure.cgroup import Group
from nsb.measure.containers import Container, Project, database_arguments
from nsb.measure.engine import Absent, build, engine, taken_out
from nsb.measure.process import ProcessError
from nsb.measure.tools import BuildError, Missing, Workshop
from nsb.registry import compose as containers
from nsb.registry.compose import Conditions, Engine
from nsb.registry.load import Registry
from nsb.render import words
from nsb.session import runners
from nsb.session.run import Refused, generator_program

HERE = Path(__file__).parent

# --- the measured file -------------------------------------------------------------------------------------------------

SETTINGS = {
    "HOST": "0.0.0.0", "PORT": "8080", "DATABASE_URL": "mysql://nsb:nsb@mysql:3306/nsb", "DB_POOL_SIZE": "150",
    "UPSTREAM_URL": "http://upstream:8080", "WORKERS": "1",
}  # fmt: skip
CONFIG: dict[str, Any] = {
    "name": "somebody's",
    "networks": {"default": {"name": "somebodys_default"}},
    "volumes": {"data": {"name": "somebodys_data"}},
    "services": {
        "mysql": {
            "image": "mysql:8.4",
            "command": ["--max-connections=7"],
            "environment": {
                "MYSQL_PASSWORD": "nsb",
                "MYSQL_USER": "nsb",
                "MYSQL_RANDOM_ROOT_PASSWORD": "yes",
                "MYSQL_INITDB_SKIP_TZINFO": "1",
            },
            "volumes": [
                {"type": "bind", "source": "/p/schema.sql", "target": "/docker-entrypoint-initdb.d/1.sql"},
                {"type": "volume", "source": "data", "target": "/var/lib/mysql"},
            ],
            "mem_limit": "3221225472",
            "healthcheck": {"test": ["CMD", "true"]},
        },
        "upstream": {"image": "nsb-upstream", "build": {"context": "/p/bench/upstream"}, "environment": {"HOST": "0.0.0.0"}},
        "go": {
            "image": "nsb-go",
            "build": {"context": "/p/go"},
            "profiles": ["go", "all"],
            "cpus": 1,
            "mem_limit": "2147483648",
            "read_only": True,
            "cap_drop": ["ALL"],
            "depends_on": {"mysql": {"condition": "service_healthy"}},
            "healthcheck": {"test": ["CMD", "/health"]},
            "ports": [{"host_ip": "127.0.0.1", "published": "8084", "target": 8080}],
            "networks": {"default": None},
            "environment": {**SETTINGS, "GOGC": "200"},
            "restart": "always",
        },
        "java-pt": {
            "image": "nsb-java-vt",
            "command": ["-Xmx1g"],
            "environment": SETTINGS,
            "deploy": {"replicas": 2},
            "mem_limit": "2147483648",
        },
        "java-vt": {"image": "nsb-java-vt", "build": {"context": "/p/java-vt"}, "environment": SETTINGS, "mem_limit": "2147483648"},
    },
}
IDS = {"mysql:8.4": "sha256:1", "nsb-upstream": "sha256:2", "nsb-go": "sha256:3", "nsb-java-vt": "sha256:4"}
GIVEN = Conditions(cores=(2, 5), nofile=20_000, memory_mib=2048, images=IDS, database=["--port=15001"])


def measured(config: dict[str, Any] = CONFIG) -> dict[str, Any]:
    found = containers.measured(config, ["go", "java-pt"], GIVEN)
    services: dict[str, Any] = found["services"]
    assert {*found} == {"services"}  # no network, no volume and no name of anybody's
    return services


def test_only_what_is_measured_is_there_and_the_users_own_file_is_left_alone() -> None:
    before = copy.deepcopy(CONFIG)
    assert {*measured()} == {"go", "java-pt", "mysql", "upstream"}
    assert before == CONFIG


@pytest.mark.parametrize("name", ["go", "java-pt", "mysql", "upstream"])
def test_nothing_lies_between_the_generator_and_a_service(name: str) -> None:
    service = measured()[name]
    assert (service["network_mode"], service["cpuset"], service["pull_policy"]) == ("host", "2,5", "never")
    assert service["healthcheck"] == {"disable": True}
    assert service["ulimits"] == {"nofile": {"soft": 20_000, "hard": 20_000}}
    assert not {*service} & {*containers.DROPPED}
    assert service["image"].startswith("sha256:")


def test_what_hardens_a_service_and_how_it_is_run_stays() -> None:
    services = measured()
    assert (services["go"]["read_only"], services["go"]["cap_drop"]) == (True, ["ALL"])
    assert services["java-pt"]["command"] == ["-Xmx1g"]
    assert services["go"]["environment"] == {"GOGC": "200"}  # the contract's settings come with each start


def test_memory_is_limited_equally_and_only_that_of_contenders() -> None:
    uneven = copy.deepcopy(CONFIG)
    uneven["services"]["go"]["mem_limit"] = "67108864"
    limits = {name: service.get("mem_limit") for name, service in measured(uneven).items()}
    assert limits == {"go": str(2**31), "java-pt": str(2**31), "mysql": None, "upstream": None}
    assert containers.memory_mib(uneven, {"go": 128, "java-pt": 1424}) == 2048
    assert containers.memory_mib(uneven, {"go": 128, "java-pt": 3000}) == 3000  # what is set aside for it must fit


def test_the_database_is_set_by_the_plan_and_its_password_stands_in_no_file() -> None:
    mysql = measured()["mysql"]
    assert mysql["command"] == ["--port=15001"]
    assert mysql["environment"] == {"MYSQL_INITDB_SKIP_TZINFO": "1", "MYSQL_ROOT_PASSWORD": None, "MYSQL_ROOT_HOST": "127.0.0.1"}
    assert mysql["volumes"] == [{"type": "volume", "target": "/var/lib/mysql"}]  # without a name it goes with its container


def test_the_database_has_the_settings_of_server_toml() -> None:
    arguments = database_arguments(1500, 15_001)
    assert {"--max-connections=1510", "--bind-address=127.0.0.1", "--skip-name-resolve", "--tls-version=", "--port=15001"} <= {*arguments}
    assert not [each for each in arguments if "fast-shutdown" in each or "query-cache" in each]


def test_an_image_is_built_by_the_service_that_says_how() -> None:
    assert containers.builder_of(CONFIG, "nsb-java-vt") == "java-vt"
    assert containers.builder_of(CONFIG, "mysql:8.4") is None


def test_what_compose_yaml_gives_beside_the_settings_belongs_to_the_program() -> None:
    assert containers.declared(CONFIG["services"]["go"], {}) == {"GOGC": "200"}
    assert containers.declared(CONFIG["services"]["go"], {"GOGC": "200"}) == {}


# --- the engine --------------------------------------------------------------------------------------------------------

GOOD = Engine("20.10.24+dfsg1", "2.26.1-4", "linux", "Debian GNU/Linux 12", "6.1.0", "1", False)


def test_an_engine_of_this_machine_will_do() -> None:
    assert containers.unfit(GOOD, "6.1.0") is None


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"version": "19.03.1"}, "the Docker engine is 19.03.1: install 20.10"),
        ({"compose": "2.3.3"}, "docker compose is 2.3.3: install 2.24"),
        ({"system": "windows"}, "switch it to Linux containers"),
        ({"kernel": "6.6.1-linuxkit"}, "does not run on this machine's kernel"),
        ({"product": "Docker Desktop"}, "does not run on this machine's kernel"),
        ({"rootless": True}, "rootless"),
        ({"cgroup": ""}, "control groups"),
    ],
)
def test_an_engine_that_will_not_do_is_told_why_and_that_native_works(changes: dict[str, Any], word: str) -> None:
    why = containers.unfit(replace(GOOD, **changes), "6.1.0")
    assert why is not None
    assert word in why
    assert why.endswith("native still works: --runner native")


# --- control groups ----------------------------------------------------------------------------------------------------

V1 = {
    "cpuacct/docker/abc/cpuacct.usage": "1500000000",
    "cpu/docker/abc/cpu.cfs_quota_us": "-1",
    "cpu/docker/abc/cpu.cfs_period_us": "100000",
    "memory/docker/abc/memory.usage_in_bytes": str(30 << 20),
    "memory/docker/abc/memory.max_usage_in_bytes": str(50 << 20),
    "memory/docker/abc/memory.limit_in_bytes": str(2 << 30),
    "memory/docker/abc/memory.stat": f"cache 1\ninactive_file 1\nactive_file 1\ntotal_inactive_file {10 << 20}\ntotal_active_file 5",
    "pids/docker/abc/pids.current": "7",
}
V2 = {
    "system.slice/docker-abc.scope/cpu.stat": "usage_usec 1500000\nuser_usec 1000000\nsystem_usec 500000",
    "system.slice/docker-abc.scope/cpu.max": "max 100000",
    "system.slice/docker-abc.scope/memory.current": str(30 << 20),
    "system.slice/docker-abc.scope/memory.peak": str(50 << 20),
    "system.slice/docker-abc.scope/memory.max": str(2 << 30),
    "system.slice/docker-abc.scope/memory.stat": f"anon 4096\ninactive_file {10 << 20}\nactive_file 5",
    "system.slice/docker-abc.scope/pids.current": "7",
}
CONTROLLERS = ("cpu", "cpuacct", "memory", "pids")


def tree(root: Path, version: int, without: str = "", **changed: str) -> Group:
    """The group of process 4711 on a machine with that version; v1 as recorded on Debian 12, v2 as the kernel documents it."""
    files = {**(V1 if version == 1 else V2)}
    for name, text in files.items():
        if not without or not name.endswith(without):
            file = root / "sys/fs/cgroup" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(changed.get(file.name.replace(".", "_"), text) + "\n")
    if version == 1:
        mounts = [f"3{n} 31 0:3{n} / /sys/fs/cgroup/{name} rw - cgroup cgroup rw,{name}" for n, name in enumerate(CONTROLLERS)]
        mounts.append("41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw")
        own = [*(f"{n}:{name}:/docker/abc" for n, name in enumerate(CONTROLLERS, 1)), "0::/docker/abc"]
        mine = [*(f"{n}:{name}:/user" for n, name in enumerate(CONTROLLERS, 1)), "0::/"]
    else:
        mounts = ["30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate"]
        own, mine = ["0::/system.slice/docker-abc.scope"], ["0::/user.slice/run.scope"]
    for name, lines in {"self/mountinfo": mounts, "self/cgroup": mine, "4711/cgroup": own}.items():
        file = root / "proc" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(lines) + "\n")
    return Group(4711, root / "proc", root)


@pytest.mark.parametrize("version", [1, 2])
def test_a_group_tells_cpu_memory_and_threads(tmp_path: Path, version: int) -> None:
    group = tree(tmp_path, version)
    assert group.cpu_s() == 1.5
    seen = group.footprint()
    assert (seen.pss_mib, seen.threads, seen.fallen_mib) == (20.0, 7, 0.0)  # usage without idle file pages; no mark was set
    limits = group.limits()
    assert (limits.memory_mib, limits.cpu) == (2048.0, "none")


@pytest.mark.parametrize(("version", "peak"), [(1, "memory.max_usage_in_bytes"), (2, "memory.peak")])
def test_the_peak_counts_from_the_mark_on(tmp_path: Path, version: int, peak: str) -> None:
    group = tree(tmp_path, version)
    assert group.forget_peak()
    (file,) = (tmp_path / "sys/fs/cgroup").rglob(peak)
    assert file.read_text().startswith("0\n")  # what resets it
    file.write_text(f"{45 << 20}\n")
    assert group.footprint().fallen_mib == 15.0


@pytest.mark.parametrize("version", [1, 2])
def test_a_mark_that_cannot_be_set_is_none(tmp_path: Path, version: int) -> None:
    group = tree(tmp_path, version, without="memory.max_usage_in_bytes" if version == 1 else "memory.peak")
    assert not group.forget_peak()
    assert group.footprint().fallen_mib == 0.0


@pytest.mark.parametrize(("version", "text"), [(1, {"cpu_cfs_quota_us": "150000"}), (2, {"cpu_max": "150000 100000"})])
def test_a_quota_is_told(tmp_path: Path, version: int, text: dict[str, str]) -> None:
    assert tree(tmp_path, version, **text).limits().cpu == "1.5 cores"


@pytest.mark.parametrize(("version", "text"), [(1, {"memory_limit_in_bytes": "9223372036854771712"}), (2, {"memory_max": "max"})])
def test_no_memory_limit_is_none(tmp_path: Path, version: int, text: dict[str, str]) -> None:
    assert tree(tmp_path, version, **text).limits().memory_mib is None


@pytest.mark.parametrize("version", [1, 2])
def test_a_group_that_does_not_tell_is_refused(tmp_path: Path, version: int) -> None:
    with pytest.raises(ProcessError, match=r"the control group of process 4711 does not tell .*pids\.current"):
        tree(tmp_path, version, without="pids.current")


def test_a_group_that_has_gone_counts_nothing(tmp_path: Path) -> None:
    group = tree(tmp_path, 1)
    for file in (tmp_path / "sys/fs/cgroup").rglob("*.*"):
        if file.is_file():
            file.unlink()
    assert (group.cpu_s(), group.footprint().pss_mib, group.footprint().threads) == (0.0, 0.0, 0)


# --- a container's life ------------------------------------------------------------------------------------------------

SLEEPS = "import time; print('up', flush=True); time.sleep(60)"
DEAF = "import signal, time; signal.signal(15, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A docker program in front of PATH; its folder, where calls.jsonl is."""
    folder, programs = tmp_path / "engine", tmp_path / "bin"
    folder.mkdir()
    programs.mkdir()
    script = programs / "docker"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} {HERE / "fakes" / "docker.py"} "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_DOCKER", str(folder))
    return folder


def calls(folder: Path, verb: str) -> list[list[str]]:
    lines = (folder / "calls.jsonl").read_text().splitlines()
    return [call for line in lines if (call := json.loads(line))[0] == verb]


def project(tmp_path: Path, code: str = SLEEPS) -> Project:
    return Project("nsb-test", {"services": {"go": {"command": [sys.executable, "-c", code]}}}, tmp_path / "run" / "compose.json")


def started(tmp_path: Path, code: str = SLEEPS) -> Container:
    container = Container(project(tmp_path, code), "go", "go", tmp_path / "logs" / "go.log", {"PORT": "1", "SECRET": "hunter2"}, {})
    wait_for(lambda: "up" in container.last_words() or container.exit_code is not None)
    return container


def wait_for(true: Callable[[], bool]) -> bool:
    until = time.monotonic() + 20
    while not true() and time.monotonic() < until:
        time.sleep(0.02)
    return true()


def alive(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def test_a_container_starts_waits_and_is_removed(fake: Path, tmp_path: Path) -> None:
    container = started(tmp_path)
    assert container.exit_code is None
    assert container.tree() == [container.pid]
    assert 0 <= time.monotonic() - container.began < 30
    container.pin([1, 3])
    assert calls(fake, "update")[0][1:3] == ["--cpuset-cpus", "1,3"]
    assert container.end(10) == 128 + signal.SIGTERM
    assert container.last_words() == "up"  # kept, although the container has gone
    assert not list(fake.glob("nsb-test-*.json"))
    assert "--volumes" in calls(fake, "rm")[0]


def test_no_secret_stands_on_a_command_line_or_in_the_file(fake: Path, tmp_path: Path) -> None:
    started(tmp_path).end(0)
    assert "hunter2" not in (fake / "calls.jsonl").read_text()
    assert "hunter2" not in (tmp_path / "run" / "compose.json").read_text()


def test_a_container_that_ends_at_once_is_an_exit_code_with_its_words(fake: Path, tmp_path: Path) -> None:
    container = started(tmp_path, "import sys; sys.exit('no such setting')")
    assert container.wait(20) == 1
    assert container.last_words() == "no such setting"
    assert container.tree() == []
    container.freeze()  # nothing to stop any more, and no error
    assert container.end() == 1


def test_a_container_that_ignores_sigterm_is_killed(fake: Path, tmp_path: Path) -> None:
    assert started(tmp_path, DEAF).end(0.2) == 128 + signal.SIGKILL


def test_a_paused_container_is_stopped_and_can_be_ended(fake: Path, tmp_path: Path) -> None:
    container = started(tmp_path)
    assert not container.stopped
    container.freeze()
    assert container.stopped
    assert container.end(10) == 128 + signal.SIGTERM


def test_a_signal_to_one_that_has_gone_says_so(fake: Path, tmp_path: Path) -> None:
    container = started(tmp_path, "")
    container.wait(20)
    with pytest.raises(ProcessLookupError):
        container.signal(signal.SIGTERM)
    container.end()


def test_one_that_reached_its_memory_limit_is_told(fake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_DOCKER_SAYS", "oom")
    container = started(tmp_path, "import os; os.kill(os.getpid(), 9)")
    assert container.wait(20) == 128 + signal.SIGKILL
    assert "its memory limit was reached" in container.last_words()
    container.end()


def test_a_start_that_the_engine_refuses_quotes_it(fake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_DOCKER_SAYS", "no start")
    with pytest.raises(ProcessError, match=r"go cannot be started: .*no space left on device"):
        started(tmp_path)


def test_what_is_left_goes_with_the_project_and_nothing_starts_afterwards(fake: Path, tmp_path: Path) -> None:
    with project(tmp_path) as one:
        left = [Container(one, "go", name, tmp_path / f"{name}.log", {}, {}) for name in ("go", "go-twin")]
    assert wait_for(lambda: not any(alive(each.pid) for each in left))
    assert [each.end(0) for each in left] == [128 + signal.SIGKILL] * 2
    assert not list(fake.glob("nsb-test-*.json"))
    with pytest.raises(ProcessError, match="the run is over"):
        one.start("go", "late", {})


@pytest.mark.parametrize("says", ["", "slow start"])
def test_no_container_outlives_a_killed_harness(fake: Path, tmp_path: Path, says: str) -> None:
    harness = f"""
import os, pathlib, signal
from nsb.measure.containers import Project
project = Project("nsb-test", {{"services": {{"go": {{"command": ["sleep", "60"]}}}}}}, pathlib.Path({str(tmp_path / "compose.json")!r}))
with project:
    project.start("go", "go", {{}})
    os.kill(os.getpid(), signal.SIGKILL)
"""
    other = subprocess.run([sys.executable, "-c", "from nsb.measure.containers import Project"], timeout=60)
    assert other.returncode == 0
    subprocess.run([sys.executable, "-c", harness], env={**os.environ, "FAKE_DOCKER_SAYS": says}, timeout=60)
    assert wait_for(lambda: bool(calls(fake, "rm")) and not list(fake.glob("nsb-test-*.json")))


# --- engine and builds, as they are asked ------------------------------------------------------------------------------


def test_the_engine_says_what_it_is(fake: Path) -> None:
    found = engine()
    assert (found.version, found.compose, found.cgroup, found.kernel) == ("27.5.1", "2.33.0", "2", platform.release())


@pytest.mark.parametrize(("says", "word"), [("no engine", "Cannot connect to the Docker daemon"), ("no compose", "no compose plugin")])
def test_an_engine_that_lacks_something_is_a_sentence(fake: Path, monkeypatch: pytest.MonkeyPatch, says: str, word: str) -> None:
    monkeypatch.setenv("FAKE_DOCKER_SAYS", says)
    with pytest.raises(Absent, match=rf"{word}.*native still works"):
        engine()


def test_a_machine_without_docker_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, registry: Registry) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Absent, match=r"docker is not on PATH: install .*native still works"):
        engine()
    work = Workshop(tmp_path, registry, {}, {})
    with pytest.raises(Refused, match="--runner compose: docker is not on PATH"):
        runners.asked_of("compose", work, [registry.contenders["go"]], 1, lambda _: None)


def test_a_build_that_fails_tells_its_steps_and_quotes_its_end(fake: Path, tmp_path: Path) -> None:
    (tmp_path / "compose.yaml").write_text("")
    with pytest.raises(BuildError, match=r"(?s)`docker compose build go` ended with 17; the end of .*ERROR: exit code: 1"):
        build(tmp_path, "go", tmp_path / "go.log", lambda _: None)


def test_images_that_were_not_there_before_are_removed_unless_somebody_uses_them(
    fake: Path, tmp_path: Path, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = {"services": {name: {"image": f"nsb-{name}", "build": name} for name in ("go", "rust", "node")}}
    monkeypatch.setattr(images, "engine", lambda: None)
    monkeypatch.setattr(images, "resolved", lambda *_: {"services": {**config["services"], "mysql": {}, "upstream": {}}})
    monkeypatch.setattr(images, "build", lambda _root, service, *_: float((fake / f"nsb-{service}.image").write_text("")))
    (fake / "nsb-go.image").touch()
    (fake / "mysql.image").touch()
    compose = runners.Compose(Workshop(tmp_path, registry, {}, {}), 1)
    for name in ("go", "rust", "node"):
        compose._built(f"nsb-{name}", lambda _: None)
    (fake / "nsb-node.image").write_text("a container of somebody else uses it")
    images.remove_images(compose._made)
    assert sorted(file.stem for file in fake.glob("*.image")) == ["mysql", "nsb-go", "nsb-node"]


def test_what_an_image_brings_belongs_to_the_program_but_for_what_all_are_given(
    fake: Path, tmp_path: Path, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(images, "engine", lambda: None)
    monkeypatch.setattr(images, "resolved", lambda *_: {"services": {"go": {"image": "nsb-go"}, "mysql": {}, "upstream": {}}})
    compose = runners.Compose(Workshop(tmp_path, registry, {}, {}), 1)
    compose._images["nsb-go"] = {"Config": {"Env": ["LANG=C.UTF-8", "JAVA_HOME=/opt/java"]}}
    assert compose._given(registry.contenders["go"]) == {"JAVA_HOME": "/opt/java", "HOME": None, "HOSTNAME": None}


def test_a_program_is_taken_out_of_its_image_and_nothing_stays(fake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken_out("sha256:1", "/k6", tmp_path / "tools" / "k6")
    assert (tmp_path / "tools" / "k6").read_text() == "/k6 of sha256:1"
    monkeypatch.setenv("FAKE_DOCKER_SAYS", "no file")
    with pytest.raises(ProcessError, match="Could not find the file /k6"):
        taken_out("sha256:1", "/k6", tmp_path / "k6")
    assert not list(fake.glob("*.created"))


def test_without_go_both_generators_are_taken_out_of_their_images(
    fake: Path, tmp_path: Path, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = {name: {"image": f"nsb-{name}"} for name in ("mysql", "upstream", "k6", "generator")}
    (tmp_path / "bench" / "k6").mkdir(parents=True)
    for name in ("go.mod", "go.sum"):
        (tmp_path / "bench" / "k6" / name).touch()
    monkeypatch.setattr(images, "engine", lambda: None)
    monkeypatch.setattr(images, "resolved", lambda *_: {"services": services})
    monkeypatch.setattr(images, "image", lambda name, _: {"Id": name, "Config": {"Entrypoint": [f"/{name.removeprefix('nsb-')}"]}})
    work = Workshop(tmp_path, registry, {}, {"go": Missing("go 1.26 or newer: not found")})
    compose = runners.Compose(work, 1)
    assert compose.k6(lambda _: None).read_text() == "/k6 of nsb-k6"
    assert generator_program(work, lambda _: None).read_text() == "/generator of nsb-generator"
    del services["generator"]
    with pytest.raises(Refused, match=r"generator runs on the host and is built with Go\. go 1\.26 or newer: not found"):
        compose.k6(lambda _: None)


# --- which runner ------------------------------------------------------------------------------------------------------


class Containers:
    """Stands for Compose: what it can run is what it has."""

    name = "compose"

    def __init__(self, *has: str) -> None:
        self._has = has

    def runnable(self, contenders: Any) -> tuple[list[str], dict[str, str]]:
        return [c.id for c in contenders if c.id in self._has], {}


def choice(monkeypatch: pytest.MonkeyPatch, registry: Registry, lacking: list[str], has: list[str] | None) -> tuple[str, list[str]]:
    """The runner that auto takes where these tools are missing and containers have those services (None: there is no docker)."""

    def compose(*_: object) -> Containers:
        if has is None:
            raise Absent("docker is not on PATH")
        return Containers(*has)

    monkeypatch.setattr(runners, "Compose", compose)
    tools = {name: object() for name in registry.tools if name not in lacking}
    missing = {name: type("Missing", (), {"sentence": f"{name}: not found"})() for name in lacking}
    work = Workshop(Path(), registry, tools, missing)  # type: ignore[arg-type]
    said: list[str] = []
    asked = [registry.contenders["go"], registry.contenders["node"]]
    return runners.asked_of("auto", work, asked, 1, said.append).name, said


@pytest.mark.parametrize(
    ("lacking", "has", "taken"),
    [
        ([], ["go", "node"], "native"),
        (["npm"], ["go", "node"], "native"),  # one of the two runs natively: the other is left out by name
        (["npm", "go"], ["go"], "compose"),
        (["go"], ["go", "node"], "compose"),  # without Go there is no k6 for processes either
        (["npm", "go"], [], "native"),
        (["npm", "go"], None, "native"),
    ],
)
def test_auto_is_native_and_containers_only_where_none_can_run_natively(
    monkeypatch: pytest.MonkeyPatch, registry: Registry, lacking: list[str], has: list[str] | None, taken: str
) -> None:
    name, said = choice(monkeypatch, registry, lacking, has)
    assert name == taken
    assert bool(said) == (taken == "compose" or has is None)


# --- what runs say of it -----------------------------------------------------------------------------------------------

OLD: dict[str, Any] = {
    "runner": "native", "host": {}, "plan": {"contenders": [], "scenarios": [], "order": "scenario"}, "database": {}, "placement": {},
}  # fmt: skip


def test_runs_of_different_runners_are_not_compared() -> None:
    def refusal(a: dict[str, Any], b: dict[str, Any]) -> str:
        with pytest.raises(compare.Incomparable) as raised:
            compare.compare(a, [], b, [])
        return str(raised.value)

    assert "runner is native in A and compose in B" in refusal(OLD, {**OLD, "runner": "compose"})
    assert "runner" not in refusal(OLD, OLD)
    limits = [{**OLD, "runner": "compose", "containers": {"memory_limit_mib": mib}} for mib in (2048, 1024)]
    assert "containers.memory_limit_mib is 2048 in A and 1024 in B" in refusal(*limits)


def test_a_run_is_not_resumed_with_another_runner_or_image() -> None:
    assert resume.differences(OLD, {**OLD, "runner": "compose"}) == ["runner was native, is compose"]
    changed = resume.differences({**OLD, "images": {"go": "sha256:1"}}, {**OLD, "images": {"go": "sha256:2"}})
    assert changed == ["image of go was sha256:1, is sha256:2"]


def test_memory_of_containers_is_not_called_pss() -> None:
    assert words.of_runner("memory peak, MiB (PSS)", {"runner": "compose"}) == "memory peak, MiB (cgroup)"
    assert words.of_runner("memory peak, MiB (PSS)", {}) == "memory peak, MiB (PSS)"
