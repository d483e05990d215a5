"""deploy/kubernetes says what compose.yaml and the contract say; whether a server would take it, bench/manifests checks.

No cluster and no kustomize is needed. Each check returns sentences; each is shown to fail by a file with one fault in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from nsb.measure import k6
from nsb.registry.compose import CONTRACT as SETTINGS
from nsb.registry.load import Registry
from nsb.registry.manifests import FOLDER, WORKERS, texts
from test_containers import COMPOSE, CONTRACT, resolved

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy" / "kubernetes"
FILES = {file.relative_to(DEPLOY).as_posix(): file.read_text(encoding="utf-8") for file in sorted(DEPLOY.rglob("*.yaml"))}


def compose() -> dict[str, Any]:
    """The services of compose.yaml by its defaults, but for the number of workers."""
    return resolved(COMPOSE, WORKERS=WORKERS)


def documents(files: Mapping[str, str], name: str) -> dict[str, Any]:
    """Kind → document of a file."""
    return {each["kind"]: each for each in yaml.safe_load_all(files[name])}


def container(files: Mapping[str, str], name: str) -> dict[str, Any]:
    found: dict[str, Any] = documents(files, name)["Deployment"]["spec"]["template"]["spec"]["containers"][0]
    return found


def literals(files: Mapping[str, str], kind: str, name: str) -> dict[str, str]:
    """What a generator of the base puts into a ConfigMap or a Secret."""
    generated = yaml.safe_load(files["base/kustomization.yaml"])[kind]
    return dict(each.split("=", 1) for each in next(one for one in generated if one["name"] == name)["literals"])


def given(entries: list[dict[str, Any]]) -> dict[str, str]:
    """Variables that a container is given by their values."""
    return {each["name"]: each["value"] for each in entries if "value" in each}


# --- contenders -----------------------------------------------------------------------------------------------------------------


def contender_mistakes(files: Mapping[str, str], registry: Registry) -> Iterator[str]:
    """What is made for each default contender is what compose.yaml runs."""
    services = compose()
    for contender in registry.contenders.values():
        if not contender.default:
            continue
        made = yaml.safe_load(files.get(f"contenders/{contender.id}/kustomization.yaml", "{}"))
        if not made:
            yield f"{contender.id}: is missing"
            continue
        patches = [one for each in made["patches"] for one in yaml.safe_load(each["patch"])]
        by_path = {each["path"]: each["value"] for each in patches if not each["path"].endswith("/-")}
        service = services[contender.id]
        if made["images"] != [{"name": "contender", "newName": service["image"]}]:
            yield f"{contender.id}: {made['images']} is not {service['image']}"
        if by_path.get("/metadata/name") != contender.id:
            yield f"{contender.id}: has another name"
        args = by_path.get("/spec/template/spec/containers/0/args")
        if args != service.get("command"):
            yield f"{contender.id}: it runs {args}, in compose.yaml {service.get('command')}"
        own = given([each["value"] for each in patches if each["path"].endswith("/env/-")])
        if own != {key: value for key, value in service["environment"].items() if key not in SETTINGS}:
            yield f"{contender.id}: its environment is {own}"


def test_the_contenders_are_made_from_contenders_toml(registry: Registry) -> None:
    there = {
        file.relative_to(ROOT / FOLDER).as_posix(): file.read_text(encoding="utf-8")
        for file in (ROOT / FOLDER).rglob("*")
        if file.is_file()
    }
    assert there == texts(registry), "write them again: just manifests"


# --- what all have --------------------------------------------------------------------------------------------------------------


def settings_mistakes(files: Mapping[str, str], _: Registry) -> Iterator[str]:
    """The settings of C50 are those of compose.yaml, and nothing besides but what keeps a framework as it is natively."""
    wanted = {**resolved(COMPOSE)["go"]["environment"]}
    urls = {name: wanted.pop(name) for name in ("DATABASE_URL", "UPSTREAM_URL")}
    if (found := literals(files, "configMapGenerator", "settings")) != wanted:
        yield f"settings are {found}, in compose.yaml {wanted}"
    environment = given(container(files, "contender/contender.yaml")["env"])
    password = literals(files, "secretGenerator", "account")["MYSQL_PASSWORD"]
    for name, url in urls.items():
        host = re.sub(r"\$\((\w+)_SERVICE_HOST\)", lambda found: found[1].lower(), environment.pop(name, ""))
        if host.replace("$(MYSQL_PASSWORD)", password) != url:
            yield f"{name} leads to {host}, in compose.yaml to {url}"
    if environment != {"SERVER_FORWARDHEADERSSTRATEGY": "none"}:
        yield f"{environment}: Spring Boot would read forwarded headers on Kubernetes alone, or somebody is given more"


def limit_mistakes(files: Mapping[str, str], _: Registry) -> Iterator[str]:
    """Limits, ports and the time to stop are those of compose.yaml."""
    service = resolved(COMPOSE)["go"]
    pod = documents(files, "contender/contender.yaml")["Deployment"]["spec"]["template"]["spec"]
    limits = container(files, "contender/contender.yaml")["resources"]["limits"]
    memory = {"g": "Gi", "m": "Mi"}
    wanted = {"cpu": str(service["cpus"]), "memory": service["mem_limit"][:-1] + memory[service["mem_limit"][-1]]}
    if limits != wanted:
        yield f"limits are {limits}, in compose.yaml {wanted}"
    if f"{pod['terminationGracePeriodSeconds']}s" != service["stop_grace_period"]:
        yield "terminationGracePeriodSeconds is not stop_grace_period"
    for name in ("upstream", "database"):
        said = container(files, f"base/{name}.yaml")["resources"]["limits"]["memory"]
        by_compose = resolved(COMPOSE)["mysql" if name == "database" else name]["mem_limit"]
        if said != by_compose[:-1] + memory[by_compose[-1]]:
            yield f"{name}: memory is {said}, in compose.yaml {by_compose}"


def database_mistakes(files: Mapping[str, str], _: Registry) -> Iterator[str]:
    """MySQL is started and asked as in compose.yaml."""
    service, found = resolved(COMPOSE)["mysql"], container(files, "base/database.yaml")
    if (found["image"], found["args"]) != (service["image"], service["command"]):
        yield "the database has another image or other settings"
    secret = literals(files, "secretGenerator", "account")
    if {**given(found["env"]), **secret} != service["environment"]:
        yield "the database has another environment"
    asked = service["healthcheck"]["test"][1].replace("$$", "$")
    for probe in ("startupProbe", "readinessProbe"):
        if found[probe]["exec"]["command"] != ["/bin/sh", "-c", asked]:
            yield f"{probe}: it is asked otherwise"
    if {mount["mountPath"] for mount in found["volumeMounts"][1:]} != {each.split(":")[0] for each in service["tmpfs"]}:
        yield "it may write to other folders"
    pod = documents(files, "base/database.yaml")["Deployment"]["spec"]["template"]["spec"]
    rows = {each["path"]: each["key"] for each in pod["volumes"][0]["configMap"]["items"]}
    mounted = (each.split(":") for each in service["volumes"])
    if rows != {target.rpartition("/")[2]: source.rpartition("/")[2] for source, target, _ in mounted}:
        yield "the schema and the rows are others"


FAULTY: dict[str, tuple[Callable[[Mapping[str, str], Registry], Iterator[str]], str, str, str, str]] = {
    "another image": (contender_mistakes, "contenders/rust/kustomization.yaml", "nsb-rust", "nsb-go", "rust: "),
    "another name": (
        contender_mistakes,
        "contenders/rust/kustomization.yaml",
        '"value": "rust"',
        '"value": "go"',
        "rust: has another name",
    ),
    "a JVM flag": (contender_mistakes, "contenders/java-vt/kustomization.yaml", "-XX:+UseG1GC", "-XX:+UseZGC", "java-vt: it runs"),
    "its own setting": (contender_mistakes, "contenders/java-pt/kustomization.yaml", '"false"', '"true"', "java-pt: its environment"),
    "another pool": (settings_mistakes, "base/kustomization.yaml", "DB_POOL_SIZE=150", "DB_POOL_SIZE=10", "settings are"),
    "a setting more": (settings_mistakes, "base/kustomization.yaml", "- PORT", "- SERVER_THREADS=9\n      - PORT", "settings are"),
    "another database": (settings_mistakes, "contender/contender.yaml", ":3306/nsb", ":3306/other", "DATABASE_URL leads to"),
    "another upstream": (
        settings_mistakes,
        "contender/contender.yaml",
        "UPSTREAM_SERVICE_HOST",
        "MYSQL_SERVICE_HOST",
        "UPSTREAM_URL leads",
    ),
    "forwarded headers": (settings_mistakes, "contender/contender.yaml", "value: none", "value: native", "Spring Boot would"),
    "more memory": (
        limit_mistakes,
        "contender/contender.yaml",
        'limits: { cpu: "1", memory: 2Gi',
        'limits: { cpu: "1", memory: 3Gi',
        "limits are",
    ),
    "less time": (limit_mistakes, "contender/contender.yaml", "GracePeriodSeconds: 15", "GracePeriodSeconds: 5", "stop_grace_period"),
    "less for the database": (
        limit_mistakes,
        "base/database.yaml",
        'limits: { cpu: "2", memory: 3Gi',
        'limits: { cpu: "2", memory: 1Gi',
        "database",
    ),
    "a server setting": (database_mistakes, "base/database.yaml", "doublewrite=OFF", "doublewrite=ON", "other settings"),
    "another MySQL": (database_mistakes, "base/database.yaml", "mysql:8.4", "mysql:8.0", "another image"),
    "another account": (database_mistakes, "base/database.yaml", "MYSQL_USER, value: nsb", "MYSQL_USER, value: n", "another environment"),
    "asked by socket": (database_mistakes, "base/database.yaml", "--host=127.0.0.1 ", "", "asked otherwise"),
    "a folder more": (database_mistakes, "base/database.yaml", "mountPath: /tmp", "mountPath: /var", "other folders"),
    "other rows": (database_mistakes, "base/database.yaml", "key: seed.sql", "key: schema.sql", "the rows"),
}


@pytest.mark.parametrize("check", [contender_mistakes, settings_mistakes, limit_mistakes, database_mistakes])
def test_the_manifests_say_what_compose_says(check: Callable[[Mapping[str, str], Registry], Iterator[str]], registry: Registry) -> None:
    assert list(check(FILES, registry)) == []


@pytest.mark.parametrize("fault", FAULTY)
def test_a_fault_in_a_manifest_is_named(fault: str, registry: Registry) -> None:
    check, file, right, wrong, sentence = FAULTY[fault]
    assert right in FILES[file]
    assert any(sentence in each for each in check({**FILES, file: FILES[file].replace(right, wrong, 1)}, registry))


def test_probes_ask_endpoints_of_the_contract() -> None:
    asked = container(FILES, "contender/contender.yaml")
    paths = {asked[probe]["httpGet"]["path"] for probe in ("startupProbe", "livenessProbe", "readinessProbe")}
    assert paths == {"/healthz", "/readyz"}
    assert all(f"`GET {path}`" in CONTRACT for path in paths)


def test_kubernetes_services_shadow_no_setting() -> None:
    """Of each Service Kubernetes sets NAME_PORT and the like: none of them may be a variable that somebody reads."""
    services = [name for name, each in compose().items() if "all" in each.get("profiles", ())] + ["mysql", "upstream"]
    made = {f"{name.upper().replace('-', '_')}_{end}" for name in services for end in ("PORT", "SERVICE_HOST", "SERVICE_PORT")}
    assert not made & {*re.findall(r"^\| `([A-Z_]+)` \|", CONTRACT, re.MULTILINE), "SERVER_PORT"}


# --- generators -----------------------------------------------------------------------------------------------------------------


def test_a_generator_is_told_what_one_on_this_machine_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.environ", {})
    generator = documents(FILES, "generator/generator.yaml")["Job"]["spec"]["template"]["spec"]["containers"][0]
    natively = {name: value for name, value in k6.environment(1, 1024).items() if "proxy" not in name.lower()}
    assert given(generator["env"]) == natively
    told = k6.command(Path("/k6"), Path("/"), (0, 2))[1:]
    assert [*generator["args"][:-1], *told[-5:-1], Path(generator["args"][-1]).name] == [*told[:-1], Path(told[-1]).name]
    runner = documents(FILES, "overlays/operator/testrun.yaml")["TestRun"]["spec"]["runner"]
    assert given(runner["env"]) == {"PATH": "/", **natively}


def test_the_note_is_short() -> None:
    assert len((ROOT / "docs" / "scale.md").read_text(encoding="utf-8").splitlines()) <= 150
