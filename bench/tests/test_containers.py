"""compose.yaml, the Dockerfiles and the workflows say what contenders.toml, server.toml and the contract say, and keep their own rules.

No engine is needed. Each check returns sentences; each is shown to fail by a file with one fault in it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
import yaml
from dockerfile_parse import DockerfileParser

from nsb.measure.database import server_settings
from nsb.measure.database_private import HARNESS_CONNECTIONS
from nsb.registry.contenders import Contender
from nsb.registry.load import Registry, load

ROOT = Path(__file__).parents[2]
COMPOSE = (ROOT / "compose.yaml").read_text(encoding="utf-8")
CONTRACT = (ROOT / "contract" / "CONTRACT.md").read_text(encoding="utf-8")
REGISTRY = load(ROOT / "bench")
SERVICES = list(dict.fromkeys(service.folder for service in REGISTRY.proper_services.values()))
FOLDERS = (*(folder for folder in SERVICES if (ROOT / folder / "Dockerfile").is_file()), "bench/upstream")
"""What there is an image of: whoever adds a contender may bring none, as long as it is no default."""
JVM = [folder for folder in FOLDERS if "/java" in (ROOT / folder / "Dockerfile").read_text(encoding="utf-8").rpartition("ENTRYPOINT")[2]]
TOOL = "bench/k6"
"""An image that a program is taken out of."""
OTHER_RUN_TIME = {"others/java-8": ("JRE_IMAGE", "java8")}
"""A folder that is there for another run time: which image brings it, which tool of contenders.toml it is natively."""
DOCKERFILES = {folder: (ROOT / folder / "Dockerfile").read_text(encoding="utf-8") for folder in (*FOLDERS, TOOL)}
WORKFLOWS = {file.name: file.read_text(encoding="utf-8") for file in sorted((ROOT / ".github/workflows").glob("*.yml"))}
VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
HARDENED: dict[str, Any] = {"read_only": True, "cap_drop": ["ALL"], "security_opt": ["no-new-privileges:true"]}
LIMITS = ("cpus", "mem_limit", "ulimits", "stop_grace_period", "depends_on", *HARDENED)
OTHERS = ("mysql", "upstream", "k6", "generator")
"""The services of compose.yaml that are no contenders."""
LOOSENED = ("privileged", "cap_add", "devices", "network_mode", "pid", "ipc", "env_file", "userns_mode")


# --- compose.yaml ---------------------------------------------------------------------------------------------------------------


def resolved(text: str, **environment: str) -> dict[str, Any]:
    """The services as the engine gets them: merges done, then variables filled in."""

    def filled(node: Any) -> Any:
        if isinstance(node, dict):
            return {key: filled(value) for key, value in node.items()}
        if isinstance(node, list):
            return [filled(each) for each in node]
        return VARIABLE.sub(lambda found: environment.get(found[1], found[2] or ""), node) if isinstance(node, str) else node

    services: dict[str, Any] = filled(yaml.safe_load(text)["services"])
    return services


def defaults(registry: Registry) -> list[Contender]:
    return [contender for contender in registry.contenders.values() if contender.default]


def composed(registry: Registry) -> list[Contender]:
    """The defaults, and of each other folder with a Dockerfile the first contender."""
    others: dict[str, Contender] = {}
    taken = {registry.services[each.service].folder for each in defaults(registry)}
    for contender in registry.contenders.values():
        folder = registry.services[contender.service].folder
        if folder in FOLDERS and folder not in taken:
            others.setdefault(folder, contender)
    return [*defaults(registry), *others.values()]


def contender_mistakes(text: str, registry: Registry) -> Iterator[str]:
    """A contender in compose is the one of contenders.toml, with the settings of C50, and like every other one."""
    services = resolved(text, WORKERS="7")
    variables = set(re.findall(r"^\| `([A-Z_]+)` \|", CONTRACT, re.MULTILINE))
    pool = re.findall(r"^\| `DB_POOL_SIZE` \| (\d+) \|", CONTRACT, re.MULTILINE)
    if set(services) != {each.id for each in composed(registry)} | set(OTHERS):
        yield f"the services are not {', '.join(OTHERS)} and a contender of each program"
    reference = {key: services["go"].get(key) for key in LIMITS}
    for contender in composed(registry):
        service = services.get(contender.id, {})
        folder = registry.services[contender.service].folder
        if (service.get("build"), service.get("image")) != (folder, f"nsb-{PurePosixPath(folder).name}"):
            yield f"{contender.id}: not built from {folder} as nsb-{folder}"
        if service.get("profiles") != [contender.id, "all" if contender.default else "others"]:
            yield f"{contender.id}: profiles are not its id and all, or others where it is no default"
        if native(contender) != contained(service, DOCKERFILES[folder]):
            yield f"{contender.id}: it runs {contained(service, DOCKERFILES[folder])}, natively {native(contender)}"
        environment = service.get("environment", {})
        shared = {key: value for key, value in environment.items() if key not in contender.environment}
        if {key: environment.get(key) for key in contender.environment} != contender.environment:
            yield f"{contender.id}: its environment is not {contender.environment}"
        if unknown := set(shared) - variables:
            yield f"{contender.id}: {sorted(unknown)} are no settings of C50"
        if (shared.get("HOST"), shared.get("WORKERS"), [shared.get("DB_POOL_SIZE")]) != ("0.0.0.0", "7", pool):
            yield f"{contender.id}: HOST, WORKERS or DB_POOL_SIZE are not those of the contract"
        if shared != {key: value for key, value in services["go"]["environment"].items() if key in variables}:
            yield f"{contender.id}: other settings than go"
        if {key: service.get(key) for key in LIMITS} != reference:
            yield f"{contender.id}: other limits than go"
        if any(each["condition"] != "service_healthy" for each in service.get("depends_on", {"": {"condition": ""}}).values()):
            yield f"{contender.id}: it does not wait until mysql and upstream are healthy"


def native(contender: Contender) -> list[str]:
    """The command of contenders.toml for seven workers, folders left out."""
    run = (re.sub(r"\{tool\.java8?\}", "/java", each) for each in contender.run)
    return [named(each.replace("{workers}", "7").replace("{heap}", "1g")) for each in run]


def contained(service: Mapping[str, Any], dockerfile: str) -> list[str]:
    last = {each["instruction"]: each["value"] for each in instructions(dockerfile)}
    command = service.get("command") or json.loads(last.get("CMD", "[]"))
    return [named(each) for each in json.loads(last["ENTRYPOINT"]) + command]


def named(argument: str) -> str:
    return PurePosixPath(argument).name if argument.startswith(("/", "{folder}")) else argument


def server_mistakes(text: str, registry: Registry) -> Iterator[str]:
    """MySQL is set as bench/database/server.toml says, but for the address."""
    service = resolved(text)["mysql"]
    options = [each.removeprefix("--").partition("=") for each in service["command"]]
    given = {name.replace("-", "_"): value if equals else None for name, equals, value in options}
    connections = int(given.get("max_connections") or 0)
    if connections < 150 * (len(composed(registry)) + 2) + HARNESS_CONNECTIONS:
        yield "max_connections: too few for every pool and a pair of controls"
    declared = server_settings("mysql", connections - HARNESS_CONNECTIONS) | {"bind_address": "0.0.0.0"}
    for name in sorted(declared.keys() | given.keys()):
        if given.get(name, "not set") != declared.get(name, "not set"):
            yield f"{name}: {given.get(name, 'not set')}, by server.toml {declared.get(name, 'not set')}"
    mounts = [each.split(":") for each in service["volumes"]]
    if [(name, mode) for name, _, mode in mounts] != [("./bench/database/schema.sql", "ro"), ("./bench/database/seed.sql", "ro")]:
        yield "the schema and the rows are not those of bench/database"
    if "127.0.0.1" not in service["healthcheck"]["test"][1]:
        yield "mysql: not asked over TCP: healthy before the schema is there"


def safety_mistakes(text: str, registry: Registry) -> Iterator[str]:
    """Nothing is published but on loopback, nobody may do more than it must, and no secret is in the file."""
    for name, service in resolved(text).items():
        if {key: service.get(key) for key in HARDENED} != HARDENED:
            yield f"{name}: a writable root, capabilities or new privileges"
        if loosened := [key for key in LOOSENED if key in service]:
            yield f"{name}: {loosened}"
        if service.get("ports") and name in OTHERS:
            yield f"{name}: published"
        if any(not re.fullmatch(r"127\.0\.0\.1:\d+:8080", port) for port in service.get("ports", [])):
            yield f"{name}: published beyond loopback"
        if "build" not in service and not re.fullmatch(r"[a-z/]+:\d+\.\d+", service["image"]):
            yield f"{name}: its image is not pinned"
    ports = [port for service in resolved(text).values() for port in service.get("ports", [])]
    if len(set(ports)) < len(composed(registry)):
        yield "two services on one port, or one without"
    for name, service in yaml.safe_load(text)["services"].items():
        for key, value in service.get("environment", {}).items():
            if key == "MYSQL_RANDOM_ROOT_PASSWORD":
                continue
            if ("PASSWORD" in key and not VARIABLE.fullmatch(value)) or re.search(r"://[^@$]*:[^@$]+@", value):
                yield f"{name}: {key} holds a secret"


FAULTY_COMPOSE: dict[str, tuple[Callable[[str, Registry], Iterator[str]], str, str, str]] = {
    "a JVM flag is missing": (contender_mistakes, "      - -XX:+UseG1GC\n", "", "it runs"),
    "WORKERS does not steer the JVM": (contender_mistakes, "ActiveProcessorCount=${WORKERS:-1}", "ActiveProcessorCount=1", "it runs"),
    "a contender's own setting": (contender_mistakes, 'VIRTUAL_THREADS: "false"', 'VIRTUAL_THREADS: "true"', "java-pt: its environment"),
    "another pool": (contender_mistakes, 'DB_POOL_SIZE: "150"', 'DB_POOL_SIZE: "100"', "DB_POOL_SIZE"),
    "a setting that is none": (contender_mistakes, "  UPSTREAM_URL", "  UPSTREAM", "no settings of C50"),
    "a setting for one alone": (
        contender_mistakes,
        "build: node\n    profiles: [node, all]\n    environment: *settings",
        'build: node\n    profiles: [node, all]\n    environment: { <<: *settings, SERVER_THREADS: "9" }',
        "node: other settings",
    ),
    "more memory for one": (contender_mistakes, "    image: nsb-rust\n", "    image: nsb-rust\n    mem_limit: 8g\n", "rust: other limits"),
    "more processors for one": (contender_mistakes, "    image: nsb-rust\n", "    image: nsb-rust\n    cpus: 2\n", "rust: other limits"),
    "not waiting": (contender_mistakes, "mysql: { condition: service_healthy }", "mysql: { condition: service_started }", "healthy"),
    "another folder": (contender_mistakes, "build: rust", "build: go", "rust: not built"),
    "no profile": (contender_mistakes, "profiles: [python, all]", "profiles: [all]", "python: profiles"),
    "no default among them": (contender_mistakes, "profiles: [java-8, others]", "profiles: [java-8, all]", "java-8: profiles"),
    "a program is missing": (contender_mistakes, "\n  kotlin-coroutines:\n", "\n  kotlin:\n", "the services are not"),
    "a contender is missing": (contender_mistakes, "\n  node:\n", "\n  deno:\n", "the services are not"),
    "a server setting": (server_mistakes, "--innodb-doublewrite=OFF", "--innodb-doublewrite=ON", "innodb_doublewrite"),
    "a server setting is missing": (server_mistakes, "      - --skip-log-bin\n", "", "skip_log_bin"),
    "too few connections": (server_mistakes, "--max-connections=2000", "--max-connections=1050", "max_connections"),
    "other rows": (server_mistakes, "./bench/database/seed.sql", "./seed.sql", "the schema and the rows"),
    "a writable schema": (server_mistakes, "2-seed.sql:ro", "2-seed.sql:rw", "the schema and the rows"),
    "asked by socket": (server_mistakes, "--host=127.0.0.1 ", "", "not asked over TCP"),
    "published to all": (safety_mistakes, "127.0.0.1:${GO_PORT:-8084}", "${GO_PORT:-8084}", "go: published beyond"),
    "the database published": (
        safety_mistakes,
        "    image: mysql:8.4\n",
        "    image: mysql:8.4\n    ports: ['127.0.0.1:3306:3306']\n",
        "mysql: published",
    ),
    "one port twice": (safety_mistakes, "GO_PORT:-8084", "GO_PORT:-8085", "two services"),
    "a writable root": (safety_mistakes, "read_only: true", "read_only: false", "writable root"),
    "capabilities kept": (safety_mistakes, "cap_drop: [ALL]", "cap_drop: [NET_RAW]", "capabilities"),
    "capabilities added": (safety_mistakes, "    image: nsb-go\n", "    image: nsb-go\n    cap_add: [NET_ADMIN]\n", "go: ['cap_add']"),
    "the newest MySQL": (safety_mistakes, "mysql:8.4", "mysql:latest", "not pinned"),
    "a password": (safety_mistakes, "MYSQL_PASSWORD: ${MYSQL_PASSWORD:-nsb}", "MYSQL_PASSWORD: hunter2", "MYSQL_PASSWORD holds"),
    "a password in a URL": (safety_mistakes, "nsb:${MYSQL_PASSWORD:-nsb}@", "nsb:hunter2@", "DATABASE_URL holds"),
}


@pytest.mark.parametrize("check", [contender_mistakes, server_mistakes, safety_mistakes])
def test_compose_keeps_its_rules(check: Callable[[str, Registry], Iterator[str]], registry: Registry) -> None:
    assert list(check(COMPOSE, registry)) == []


@pytest.mark.parametrize("fault", FAULTY_COMPOSE)
def test_a_fault_in_compose_is_named(fault: str, registry: Registry) -> None:
    check, right, wrong, sentence = FAULTY_COMPOSE[fault]
    assert right in COMPOSE
    assert any(sentence in each for each in check(COMPOSE.replace(right, wrong, 1), registry))


# --- Dockerfiles ----------------------------------------------------------------------------------------------------------------


def instructions(dockerfile: str) -> list[dict[str, Any]]:
    parsed: list[dict[str, Any]] = DockerfileParser(fileobj=BytesIO(dockerfile.encode())).structure
    return [each for each in parsed if each["instruction"] != "COMMENT"]


def images(dockerfile: str) -> dict[str, str]:
    """Argument → base image, of those before the first stage."""
    found: dict[str, str] = {}
    for each in instructions(dockerfile):
        if each["instruction"] == "FROM":
            break
        name, _, image = each["value"].partition("=")
        found[name] = image
    return found


def dockerfile_mistakes(dockerfile: str) -> Iterator[str]:
    pinned = images(dockerfile)
    for argument, image in pinned.items():
        if not re.fullmatch(r"[a-z0-9/-]+:[\w.-]*(\d|bookworm)[\w.-]*", image):
            yield f"{argument}: {image} is not pinned"
        if dockerfile.count(image) != 1:
            yield f"{image} is named twice"
    steps = instructions(dockerfile)
    stages = [index for index, each in enumerate(steps) if each["instruction"] == "FROM"]
    for index in stages:
        base = steps[index]["value"].split()[0]
        if base != "scratch" and base.removeprefix("${").removesuffix("}") not in pinned:
            yield f"FROM {base}: not an image named by ARG"
    if len(stages) < 2:
        yield "no stage to build and another to run"
    last: dict[str, str] = {}
    for each in steps[stages[-1] :]:
        if each["instruction"] in ("RUN", "ADD", "SHELL"):
            yield f"{each['instruction']} in the run stage"
        last[each["instruction"]] = each["value"]
    if not re.fullmatch(r"[1-9]\d*:[1-9]\d*", last.get("USER", "")):
        yield "USER is not a number other than 0"
    for name in ("ENTRYPOINT", "CMD"):
        if name in last or name == "ENTRYPOINT":
            yield from shell_mistakes(name, last.get(name, ""))
    health = last.get("HEALTHCHECK", "")
    if "CMD [" not in health or ("127.0.0.1" in health and "PORT" not in health):
        yield "HEALTHCHECK is missing, in shell form, or of one port only"
    if last.get("ENV", "").removesuffix(" LANG=C.UTF-8") != "HOST=0.0.0.0":
        yield "HOST is not 0.0.0.0, or there is more than HOST and LANG"
    for label in ("title", "description", "licenses"):
        if f"org.opencontainers.image.{label}=" not in last.get("LABEL", ""):
            yield f"no label {label}"


def shell_mistakes(name: str, value: str) -> Iterator[str]:
    """The program itself is process 1: signals reach it, and no shell stands above it."""
    try:
        command = json.loads(value)
    except ValueError:
        yield f"{name} is not in exec form"
        return
    if name == "ENTRYPOINT" and PurePosixPath(command[0]).name in ("sh", "bash", "env", "tini", "dumb-init"):
        yield f"{name} has a wrapper"


FAULTY_DOCKERFILE = {
    "not by ARG": ("FROM ${GO_IMAGE}", "FROM golang:1.26", "not an image named by ARG"),
    "not pinned": ("golang:1.26-bookworm", "golang:latest", "not pinned"),
    "no tag": ("golang:1.26-bookworm", "golang", "not pinned"),
    "named twice": ("# No cgo", "# golang:1.26-bookworm", "named twice"),
    "root": ("USER 65532:65532", "USER 0:0", "USER"),
    "a name for a user": ("USER 65532:65532", "USER nonroot", "USER"),
    "no user": ("USER 65532:65532\n", "", "USER"),
    "shell form": ('ENTRYPOINT ["/go-service"]', "ENTRYPOINT /go-service", "exec form"),
    "a shell": ('ENTRYPOINT ["/go-service"]', 'ENTRYPOINT ["/bin/sh", "-c", "/go-service"]', "wrapper"),
    "no entry": ('ENTRYPOINT ["/go-service"]\n', "", "ENTRYPOINT"),
    "no health check": ('CMD ["bash", "-c", ', "CMD bash -c ", "HEALTHCHECK"),
    "loopback only": ("ENV HOST=0.0.0.0", "ENV HOST=127.0.0.1", "HOST"),
    "a secret": ("ENV HOST=0.0.0.0", "ENV HOST=0.0.0.0 DATABASE_URL=mysql://a:b@c/d", "HOST"),
    "built where it runs": ("USER 65532", "RUN go install\nUSER 65532", "RUN in the run stage"),
    "one stage": ("FROM ${RUN_IMAGE}\n", "", "no stage"),
    "no labels": ("LABEL org", "ARG org", "no label"),
}


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_dockerfile_keeps_the_rules(folder: str) -> None:
    assert list(dockerfile_mistakes(DOCKERFILES[folder])) == []


def test_the_image_of_a_tool_keeps_those_that_are_not_of_a_service() -> None:
    assert sorted(dockerfile_mistakes(DOCKERFILES[TOOL])) == [
        "HEALTHCHECK is missing, in shell form, or of one port only",
        "HOST is not 0.0.0.0, or there is more than HOST and LANG",
    ]
    service = resolved(COMPOSE)["k6"]
    assert (service["build"], service["profiles"]) == (TOOL, ["tools"])
    assert DOCKERFILES[TOOL].count("go build -trimpath -o /out/k6 go.k6.io/k6/v2") == 1
    assert "CGO_ENABLED=0" in DOCKERFILES[TOOL]  # it must run on any host


@pytest.mark.parametrize("fault", FAULTY_DOCKERFILE)
def test_a_fault_in_a_dockerfile_is_named(fault: str) -> None:
    right, wrong, sentence = FAULTY_DOCKERFILE[fault]
    assert right in DOCKERFILES["go"]
    assert any(sentence in each for each in dockerfile_mistakes(DOCKERFILES["go"].replace(right, wrong, 1)))


@pytest.mark.parametrize("folder", JVM)
def test_a_jvm_started_by_hand_has_the_flags_of_compose(folder: str) -> None:
    """All but those that name WORKERS, which `docker run` cannot put into a command."""
    by_hand = {each["instruction"]: each["value"] for each in instructions(DOCKERFILES[folder])}["CMD"]
    service = next(each for each in resolved(COMPOSE, WORKERS="7").values() if each.get("build") == folder)
    assert json.loads(by_hand) == [each for each in service["command"] if not each.endswith("=7")]


def tag_mistakes(dockerfiles: Mapping[str, str]) -> Iterator[str]:
    """One image has one tag everywhere, but where another run time is the very point."""
    tags: dict[str, set[str]] = {}
    for folder, dockerfile in dockerfiles.items():
        for argument, image in images(dockerfile).items():
            repository, _, tag = image.partition(":")
            if argument != OTHER_RUN_TIME.get(folder, ("",))[0]:
                tags.setdefault(repository, set()).add(tag)
    yield from (f"{repository}: {sorted(found)}" for repository, found in tags.items() if len(found) > 1)


def test_one_image_has_one_tag_everywhere() -> None:
    assert list(tag_mistakes(DOCKERFILES)) == []


@pytest.mark.parametrize(
    ("folder", "right", "wrong"), [("java-vt", "temurin:25-jre", "temurin:8-jre"), ("others/java-8", "bookworm-slim", "trixie-slim")]
)
def test_two_tags_of_an_image_are_named(folder: str, right: str, wrong: str) -> None:
    assert right in DOCKERFILES[folder]
    assert len(list(tag_mistakes({**DOCKERFILES, folder: DOCKERFILES[folder].replace(right, wrong)}))) == 1


@pytest.mark.parametrize("folder", OTHER_RUN_TIME)
def test_another_run_time_is_the_one_that_runs_natively(folder: str, registry: Registry) -> None:
    argument, tool = OTHER_RUN_TIME[folder]
    major = images(DOCKERFILES[folder])[argument].partition(":")[2].split("-")[0]
    assert f"1.{major}" == registry.tools[tool].least == registry.tools[tool].most
    assert all(
        contender.run[0] == f"{{tool.{tool}}}"
        for contender in registry.contenders.values()
        if registry.services[contender.service].folder == folder
    )


def test_a_dockerfile_is_as_old_as_the_tools_demand(registry: Registry) -> None:
    """What builds or runs an image is not older than contenders.toml asks for."""
    for folder, tool in (("go", "go"), ("rust", "cargo"), ("python", "python")):
        tag = next(iter(images(DOCKERFILES[folder]).values())).partition(":")[2]
        assert tuple(map(int, tag.split("-")[0].split("."))) >= tuple(map(int, registry.tools[tool].least.split(".")))


@pytest.mark.parametrize("folder", DOCKERFILES)
def test_only_what_is_named_goes_into_a_build(folder: str) -> None:
    lines = (ROOT / folder / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert lines[1] == "*"
    allowed = [line.removeprefix("!") for line in lines[2:] if line.startswith("!")]
    assert all(list((ROOT / folder).glob(each)) for each in allowed)


@pytest.mark.parametrize("folder", ["java-vt", "java-webflux"])
def test_all_sources_of_a_jar_go_into_its_image(folder: str) -> None:
    """Maven says nothing of a folder of sources that is not there: the jar lacks it, and answers of the contract are missing."""
    roots = re.findall(r"<root>\$\{project\.basedir\}/(\S+)/java</root>", (ROOT / folder / "pom.xml").read_text(encoding="utf-8"))
    allowed = (ROOT / folder / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert roots == ["src/main", "src/variants"]
    assert {f"!{root}" for root in roots} <= set(allowed)


@pytest.mark.parametrize("folder", DOCKERFILES)
def test_hadolint_finds_nothing(folder: str) -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    done = subprocess.run([hadolint, "--no-color", ROOT / folder / "Dockerfile"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_hadolint_would_find_something(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text("FROM debian\nRUN cd /tmp\n", encoding="utf-8")
    hadolint = Path(sys.executable).with_name("hadolint")
    done = subprocess.run([hadolint, tmp_path / "Dockerfile"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "DL3006" in done.stdout


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_readme_tells_both_ways(folder: str, registry: Registry) -> None:
    readme = (ROOT / folder / "README.md").read_text(encoding="utf-8")
    assert f"docker build -t nsb-{PurePosixPath(folder).name} {folder}" in readme
    for contender in composed(registry):
        if registry.services[contender.service].folder == folder:
            port = resolved(COMPOSE)[contender.id]["ports"][0].split(":")[1]
            assert f"docker compose up {contender.id}" in readme
            assert f"127.0.0.1:{port}" in readme


# --- workflows ------------------------------------------------------------------------------------------------------------------


def workflow_mistakes(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if "uses:" in line and not re.search(r"uses: [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line):
            yield f"{line.strip()}: not a commit with its version"
    workflow = yaml.safe_load(text)
    if workflow.get("permissions") != {"contents": "read"}:
        yield "permissions are not contents: read"
    if "cancel-in-progress" not in workflow.get("concurrency", {}):
        yield "no concurrency group"
    for name, job in workflow["jobs"].items():
        if not 0 < job.get("timeout-minutes", 0) <= 120:
            yield f"{name}: no timeout"
        if "permissions" in job:
            yield f"{name}: permissions of its own"


FAULTY_WORKFLOW = {
    "a tag": (r"@[0-9a-f]{40} # v", "@v", "not a commit"),
    "a short commit": (r"@([0-9a-f]{12})[0-9a-f]{28}", r"@\1", "not a commit"),
    "no version": (r"(@[0-9a-f]{40}) # v.*", r"\1", "not a commit"),
    "may write": (r"contents: read", "contents: write", "permissions"),
    "no timeout": (r"timeout-minutes: \d+", "name: test", "timeout"),
    "no group": (r"concurrency:", "defaults:", "concurrency"),
}


@pytest.mark.parametrize("name", ["test.yml", "containers.yml"])
def test_a_workflow_keeps_the_rules(name: str) -> None:
    assert list(workflow_mistakes(WORKFLOWS[name])) == []


@pytest.mark.parametrize("fault", FAULTY_WORKFLOW)
def test_a_fault_in_a_workflow_is_named(fault: str) -> None:
    right, wrong, sentence = FAULTY_WORKFLOW[fault]
    text = WORKFLOWS["test.yml"]
    assert any(sentence in each for each in workflow_mistakes(re.sub(right, wrong, text, count=1)))


def test_updates_are_configured_for_every_manifest() -> None:
    configured = yaml.safe_load((ROOT / ".github/dependabot.yml").read_text(encoding="utf-8"))["updates"]
    watched = {
        (each["package-ecosystem"], folder.strip("/")) for each in configured for folder in each.get("directories", [each.get("directory")])
    }
    kinds = {
        "go.mod": "gomod",
        "Cargo.toml": "cargo",
        "pyproject.toml": "pip",
        "package.json": "npm",
        "pom.xml": "maven",
        "Dockerfile": "docker",
    }
    asked = {REGISTRY.services[each.service].folder for each in defaults(REGISTRY)}
    files = [file.relative_to(ROOT) for name in kinds for under in ("*", "others/*", "bench/*") for file in ROOT.glob(f"{under}/{name}")]
    manifests = {(kinds[file.name], str(file.parent)) for file in files}
    demanded = {(kind, folder) for kind, folder in manifests if folder in asked or folder.startswith("bench")}
    everywhere = {("github-actions", ""), ("docker-compose", "")}
    assert demanded | everywhere <= watched <= manifests | everywhere
