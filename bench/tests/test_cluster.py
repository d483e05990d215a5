"""A cluster as the engine, without one: what it must offer, what is made of the manifests, what readers tell, and what becomes of pods."""

from __future__ import annotations

import copy
import itertools
import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from nsb.analyse import duet
from nsb.conform.at_a_distance import not_asked
from nsb.conform.bed import LaunchFailed, Outcome
from nsb.conform.suite import RULES, SEE_ABOVE
from nsb.conform.suite import broken as broken_rules
from nsb.errors import Refused
from nsb.measure import cluster_cost
from nsb.measure.cluster_load import Crowd
from nsb.measure.cluster_stage import Placed
from nsb.measure.kubectl import Kubectl
from nsb.measure.observing import Unobserved
from nsb.measure.pods import Pod
from nsb.measure.process import ProcessError
from nsb.measure.tools import Workshop
from nsb.records.divided import Divided
from nsb.records.duet import Duet, Series
from nsb.records.used import Untold, Uses
from nsb.registry import cluster, podstate
from nsb.registry.cluster import Mark, Overlay, Unfit, Wanted
from nsb.registry.load import Registry
from nsb.registry.manifests import image
from nsb.registry.shapes import CostRow
from nsb.session.kubernetes import Kubernetes
from nsb.verbs import clustering
from nsb.verbs.planning import Asked
from test_cli import nsb
from test_kubernetes import FILES
from test_resume import recorded

HERE = Path(__file__).parent


def overlay() -> tuple[dict[str, Any], ...]:
    """What kustomize makes of the overlay, as far as a run reads it."""
    registry_names = yaml.safe_load(FILES["contenders/kustomization.yaml"])["resources"]

    def of(file: str, kind: str) -> dict[str, Any]:
        return next(each for each in yaml.safe_load_all(FILES[file]) if each["kind"] == kind)

    found = [of("base/database.yaml", "Deployment"), of("base/upstream.yaml", "Deployment"), of("generator/generator.yaml", "Job")]
    for name in registry_names:
        made = yaml.safe_load(FILES[f"contenders/{name}/kustomization.yaml"])
        one = copy.deepcopy(of("contender/contender.yaml", "Deployment"))
        one["metadata"]["name"] = name
        for labels in (one["metadata"]["labels"], one["spec"]["template"]["metadata"]["labels"]):
            labels[cluster.NAME] = name
        own = one["spec"]["template"]["spec"]["containers"][0]
        own["image"] = made["images"][0]["newName"]
        for patch in (each for part in made["patches"] for each in yaml.safe_load(part["patch"])):
            if patch["path"].endswith("/args"):
                own["args"] = patch["value"]
            elif patch["path"].endswith("/env/-"):
                own["env"].append(patch["value"])
        found.append(one)
    found += list(yaml.safe_load_all(FILES["base/network.yaml"]))
    found.append({"kind": "ConfigMap", "metadata": {"name": "script"}, "data": {"load.js": "", "part.js": ""}})
    return tuple(found)


def node(name: str = "lab", role: str | None = None, cores: str = "4", memory: str = "16Gi", ready: str = "True") -> dict[str, Any]:
    labels = {cluster.HOSTNAME: name, **({} if role is None else {cluster.ROLE: role})}
    info = {"bootID": f"boot-{name}", "kubeletVersion": "v1.34.4", "containerRuntimeVersion": "containerd://1.6", "kernelVersion": "6.1"}
    info |= {"osImage": "Debian", "architecture": "amd64"}
    images = [{"names": [f"docker.io/library/{each}:latest"]} for each in ("nsb-generator", "nsb-k6", "nsb-upstream", "nsb-go", "nsb-rust")]
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": {},
        "status": {
            "conditions": [{"type": "Ready", "status": ready, "message": "the kubelet has stopped"}],
            "capacity": {"cpu": cores, "memory": memory},
            "allocatable": {"cpu": cores, "memory": memory},
            "nodeInfo": info,
            "images": images,
        },
    }


def three() -> list[dict[str, Any]]:
    return [node("a", "contender"), node("b", "database"), node("c", "generator"), node("d", "generator")]


def pod(**status: Any) -> dict[str, Any]:
    return {"metadata": {"name": "nsb-1-go-1", "labels": {cluster.JOB: "nsb-1-k6-1"}}, "spec": {"nodeName": "lab"}, "status": status}


def state(**state: Any) -> list[dict[str, Any]]:
    return [{"name": "contender", "imageID": "sha256:1", "state": state}]


# --- the cluster -----------------------------------------------------------------------------------------------------


def test_one_node_without_labels_takes_all_and_a_warning() -> None:
    found = cluster.place([node("small", cores="2"), node("large", cores="8")])
    assert (found.contender, found.database, found.generator(1), found.whole) == ("large", "large", "large", False)
    assert "Warning" in found.lines(2)[1]


def test_nodes_by_their_labels_each_role_on_its_own() -> None:
    found = cluster.place(three())
    assert (found.contender, found.database, found.whole) == ("a", "b", True)
    assert [found.generator(number) for number in range(3)] == ["c", "d", "c"]
    assert found.lines(2) == ["Nodes: contender: a | database, upstream: b | generators: c, d"]
    assert found.used(1) == ["a", "b", "c"]


def broken(nodes: list[dict[str, Any]], change: Callable[[list[dict[str, Any]]], Any]) -> list[dict[str, Any]]:
    change(nodes)
    return nodes


@pytest.mark.parametrize(
    ("nodes", "sentence"),
    [
        ([], "the cluster has no node"),
        ([node(ready="False")], "the node lab is not ready: the kubelet has stopped"),
        ([node(cores="1500m")], "the node lab has 1.5 cores and 16.0 GiB to give, and 2 cores"),
        ([node(memory="4Gi")], "4.0 GiB to give"),
        ([node("a", "contender"), node("b")], "no node has the label nsb/role=database"),
        (broken(three(), lambda nodes: nodes[1]["spec"].update(unschedulable=True)), "the node b takes no pods"),
        (broken(three(), lambda nodes: nodes[1]["status"]["allocatable"].update(cpu="2")), "the node b has 2 cores to give, and 3.2"),
    ],
)
def test_a_cluster_that_will_not_do_is_told_why(nodes: list[dict[str, Any]], sentence: str) -> None:
    with pytest.raises(Unfit, match=sentence.replace("(", r"\(")):
        cluster.place(nodes)


def test_an_old_server_is_named() -> None:
    old = {"serverVersion": {"major": "1", "minor": "28+", "gitVersion": "v1.28.3"}}
    assert "v1.28.3" in (cluster.refused(old) or "")
    assert cluster.refused({"serverVersion": {"major": "1", "minor": "34"}}) is None
    assert "unknown" in (cluster.refused({}) or "")


def test_a_node_that_changes_in_mid_run_is_named() -> None:
    place = cluster.place(three())
    assert cluster.changed(place, three()) is None
    assert cluster.changed(place, three()[1:]) == "the node a has left the cluster"
    again = three()
    again[0]["status"]["nodeInfo"]["bootID"] = "another"
    assert cluster.changed(place, again) == "the node a was started again"
    away = three()
    away[1] = node("b", "database", ready="Unknown")
    assert (cluster.changed(place, away) or "").startswith("the node b is not ready")


def test_images_of_our_own_must_be_there() -> None:
    assert cluster.missing_images([node()], {"lab": ["nsb-go", "mysql:8.4"]}) == []
    assert cluster.missing_images([node()], {"lab": ["nsb-python"]}) == ["the image nsb-python is not on the node lab"]
    full = node()
    full["status"]["images"] = [{"names": [f"x{number}"]} for number in range(cluster.LISTED_IMAGES)]
    assert cluster.missing_images([full], {"lab": ["nsb-python"]}) == []  # a kubelet tells no more


# --- what is made of the manifests -----------------------------------------------------------------------------------


@pytest.fixture
def documents() -> Overlay:
    return Overlay(overlay())


MARK = Mark("nsb-1", "u-1")


def test_a_contender_is_a_pod_of_its_manifest(documents: Overlay, registry: Registry) -> None:
    for contender in (each for each in registry.contenders.values() if each.default):
        workload = documents.deployment(contender.id)
        assert workload is not None
        assert documents.image(contender) == image(registry, contender)
        made = cluster.pod(MARK, workload, Wanted("x-1", "lab", True, {"PORT": "8080", "WORKERS": "1"}, "/readyz", memory=True))
        (own,) = made["spec"]["containers"]
        assert own["args" if contender.has_heap else "image"] == cluster.container(workload)["args" if contender.has_heap else "image"]
        given = {each["name"]: each["value"] for each in own["env"]}
        assert given == {"PORT": "8080", "WORKERS": "1", "SERVER_FORWARDHEADERSSTRATEGY": "none", **contender.environment}
        assert {*own} & {"envFrom", "livenessProbe", "readinessProbe"} == set()
        assert own["startupProbe"]["httpGet"] == {"path": "/readyz", "port": 8080}


def test_everything_is_marked_and_owned(documents: Overlay) -> None:
    workload = documents.component("upstream")
    made = [
        cluster.pod(MARK, workload, Wanted("upstream", "lab", False)),
        cluster.database_pod(MARK, documents.component("database"), Wanted("database", "lab", False)),
        cluster.k6_job(MARK, documents, Wanted("k6-1", "lab", False, cell="cell-1"), ["run"], 1, 60),
        cluster.drive_job(MARK, documents, Wanted("warm-1", "lab", False, cell="warm-1"), "nsb-1-warm-1", 60),
        cluster.config_map(MARK, "script", {}),
        *(cluster.policy(MARK, each) for each in documents.policies()),
    ]
    for each in made:
        assert each["metadata"]["name"].startswith("nsb-1-")
        assert each["metadata"]["labels"][cluster.RUN] == "nsb-1"
        assert each["metadata"]["ownerReferences"][0]["uid"] == "u-1"
        assert "namespace" not in each["metadata"]
    for each in made[2:4]:
        assert each["spec"]["template"]["metadata"]["labels"][cluster.RUN] == "nsb-1"
    limit = cluster.limit_job(Mark("nsb-1"), "lab", 900)
    assert (limit["metadata"]["name"], limit["spec"]["activeDeadlineSeconds"], limit["spec"]["ttlSecondsAfterFinished"]) == (
        "nsb-1",
        900,
        0,
    )
    assert "ownerReferences" not in limit["metadata"]


def pods_of(made: dict[str, Any]) -> dict[str, Any]:
    spec: dict[str, Any] = made["spec"]["template"]["spec"] if made["kind"] == "Job" else made["spec"]
    return spec


@pytest.mark.parametrize("whole", [True, False])
def test_every_pod_is_as_restricted_as_its_manifest_and_has_a_reader(documents: Overlay, whole: bool) -> None:
    wanted = Wanted("x-1", "lab", whole, cell="x")
    go = documents.deployment("go")
    assert go is not None
    for made in (
        cluster.pod(MARK, go, wanted),
        cluster.database_pod(MARK, documents.component("database"), wanted),
        cluster.k6_job(MARK, documents, wanted, ["run"], 1, 60),
        cluster.drive_job(MARK, documents, wanted, "order", 60),
    ):
        spec = pods_of(made)
        (reader,) = spec["initContainers"]
        assert (reader["restartPolicy"], spec["restartPolicy"], spec["shareProcessNamespace"]) == ("Always", "Never", True)
        assert spec["nodeSelector"] == {cluster.HOSTNAME: "lab"}
        assert spec["securityContext"]["runAsNonRoot"] is True
        for own in (*spec["containers"], reader):
            assert own["securityContext"]["capabilities"] == {"drop": ["ALL"]}
            assert own["imagePullPolicy"] == "IfNotPresent"
            assert (own["resources"]["requests"] == own["resources"]["limits"]) is whole
        names = {volume["name"] for volume in spec["volumes"]}
        assert (
            {mount["name"] for mount in spec["containers"][0]["volumeMounts"]} == names
            if "volumeMounts" in spec["containers"][0]
            else not names
        )


def test_the_database_makes_no_account_and_no_rows_of_its_own(documents: Overlay) -> None:
    made = cluster.database_pod(MARK, documents.component("database"), Wanted("database", "lab", True, {"MYSQL_ROOT_PASSWORD": "x"}))
    given = {each["name"] for each in made["spec"]["containers"][0]["env"]}
    assert given == {"MYSQL_ROOT_PASSWORD", "MYSQL_INITDB_SKIP_TZINFO"}
    assert "rows" not in {volume["name"] for volume in made["spec"]["volumes"]}


def test_more_users_get_more_memory(documents: Overlay) -> None:
    limits = [
        pods_of(cluster.k6_job(MARK, documents, Wanted("k6-1", "lab", True, cell="x"), ["run"], mib, 60))["containers"][0]["resources"][
            "limits"
        ]
        for mib in (1024, 2048)
    ]
    assert [each["memory"] for each in limits] == ["1536Mi", "2048Mi"]


def test_policies_are_for_the_pods_of_the_run_alone(documents: Overlay) -> None:
    for each in documents.policies():
        assert cluster.policy(MARK, each)["spec"]["podSelector"]["matchLabels"][cluster.RUN] == "nsb-1"


def test_documents_come_one_by_one_or_as_a_list() -> None:
    a, b = {"kind": "Pod"}, {"kind": "Job"}
    assert cluster.documents(f"{json.dumps(a)}\n{json.dumps({'kind': 'List', 'items': [b, a]})}\n") == (a, b, a)


def test_what_is_not_measured_is_said_of_each_shape(registry: Registry) -> None:
    go = registry.contenders["go"]
    whys = {scenario.shape: cluster.not_here(scenario, go) for scenario in registry.scenarios.values()}
    assert {shape for shape, why in whys.items() if why is None} == {"rate", "users", "mix", "cost", "mixture"}
    assert all("--runner native" in why for why in whys.values() if why is not None)


# --- what becomes of pods --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seen", "code", "words"),
    [
        (None, -1, "the pod x was removed while it ran"),
        (pod(phase="Running", containerStatuses=state(running={"startedAt": "2026-11-25T21:00:00Z"})), None, None),
        (pod(phase="Succeeded", containerStatuses=state(terminated={"exitCode": 0, "reason": "Completed"})), 0, None),
        (pod(phase="Failed", containerStatuses=state(terminated={"exitCode": 107, "reason": "Error"})), 107, None),
        (pod(phase="Failed", containerStatuses=state(terminated={"exitCode": 137, "reason": "OOMKilled"})), 137, "OOMKilled"),
        (
            pod(phase="Failed", reason="Evicted", message="The node was low on resource: memory.", containerStatuses=[]),
            -1,
            "the pod x was ended (Evicted): The node was low on resource: memory.",
        ),
        (
            pod(
                phase="Failed", reason="Evicted", message="low on memory",
                containerStatuses=state(terminated={"exitCode": 137, "reason": "Error"}),
            ),
            137,
            "Evicted: low on memory",
        ),
    ],
)  # fmt: skip
def test_how_a_pod_ended(seen: dict[str, Any] | None, code: int | None, words: str | None) -> None:
    found = podstate.ended(seen, "x")
    assert (None if found is None else (found.code, found.why)) == (None if code is None else (code, words))


def test_a_pod_that_waits_in_vain_is_told_why() -> None:
    waits = pod(phase="Pending", containerStatuses=state(waiting={"reason": "ErrImagePull", "message": "no such host"}))
    assert podstate.in_vain(waits) == "its container cannot be started (ErrImagePull): no such host"
    full = pod(phase="Pending", conditions=[{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes"}])
    assert podstate.in_vain(full) == "no node takes it: 0/1 nodes"
    assert podstate.in_vain(pod(phase="Pending", containerStatuses=state(waiting={"reason": "ContainerCreating"}))) is None


def test_when_a_pod_was_ready() -> None:
    ready = [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-25T21:00:07Z"}]
    seen = pod(phase="Running", conditions=ready, containerStatuses=state(running={"startedAt": "2026-11-25T21:00:04Z"}))
    assert (podstate.is_ready(seen), podstate.is_running(seen), podstate.ready_s(seen)) == (True, True, 3.0)


# --- readers ---------------------------------------------------------------------------------------------------------


def line(at_s: float, cpu_s: float, pss_mib: float | None = None, waited_s: float | None = None) -> str:
    memory = None if pss_mib is None else {"pss_mib": pss_mib, "threads": 9, "waited_s": waited_s}
    return json.dumps({"at_s": at_s, "cpu_s": cpu_s, "busy_s": 2 * cpu_s, "steal_s": 0, "tcp": {"OutSegs": round(at_s)}, "memory": memory})


def test_counters_between_two_lines() -> None:
    told = Uses.of(['"at_s": half a line', line(10, 1.0, 50.0), line(11, 1.5), line(12, 3.5, 60.0), ""])
    seen = told.at(11.5)
    assert (seen.cpu_s, seen.busy_s, seen.pss_mib, seen.threads, seen.tcp) == (2.5, 5.0, 50.0, 9, {"OutSegs": 11})
    assert told.peak_mib(11, 12) == 60.0
    assert (told.now.at_s, told.now.pss_mib) == (12, 60.0)


def test_how_long_threads_waited_is_scaled_from_the_lines_that_tell_it() -> None:
    lines = [line(at_s, at_s, 50.0 if at_s % 2 else None, waited_s=at_s / 2) for at_s in range(10, 20)]
    told = Uses.of(lines)
    assert told.waited_s(10, 18) == pytest.approx(4.0)
    assert told.waited_s(11, 12) is None  # one line alone
    ended = [line(at_s, at_s, 50.0, waited_s=waited_s) for at_s, waited_s in ((10, 90.0), (11, 4.0), (12, 5.0), (13, 6.0), (14, 7.0))]
    assert Uses.of(ended).waited_s(10, 14) == pytest.approx(3.0)  # a thread that had waited for 86 s is gone
    assert Uses.of([line(at_s, at_s, 50.0) for at_s in range(10, 20)]).waited_s(10, 18) is None  # of a generator's image before this one


def test_a_generators_readings_have_the_cpu_beside_them() -> None:
    read = Series(at_s=[9.0, 10.5, 11.0, 11.75, 13.0], answers=[0, 1, 2, 3, 4], service_cpu_s=[0.0] * 5, generator_cpu_s=[0.0] * 5)
    beside = Uses.of([line(10, 1.0), line(11, 1.5), line(12, 3.5), line(13.5, 4.0)]).beside(read)  # it paused
    assert (beside.at_s, beside.answers, beside.service_cpu_s) == ([10.5, 11.0, 11.75], [1, 2, 3], [1.25, 1.5, 3.0])


def test_a_reader_that_paused_tells_nothing_of_that_time() -> None:
    with pytest.raises(Untold, match=r"nothing for 1\.5 s"):
        Uses.of([line(10, 1.0), line(11.5, 1.5)]).at(11)


@pytest.mark.parametrize("at_s", [9.0, 12.5])
def test_a_moment_without_lines_has_no_figure(at_s: float) -> None:
    with pytest.raises(Untold, match=r"told of 10\.0 to 12\.0 s"):
        Uses.of([line(10, 1.0), line(11, 2.0), line(12, 3.5)]).at(at_s)


def test_a_silent_reader_is_told() -> None:
    with pytest.raises(Untold):
        Uses.of(["nothing"])


# --- what is asked of kubectl ----------------------------------------------------------------------------------------


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """A cluster in a file; call it to change what it answers."""
    file = tmp_path / "cluster.json"
    program = tmp_path / "bin" / "kubectl"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -S {HERE}/fakes/kubectl.py "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    monkeypatch.setenv("FAKE_CLUSTER", str(file))
    known: dict[str, Any] = {
        "version": {"major": "1", "minor": "34", "gitVersion": "v1.34.4"}, "denied": [], "namespaces": ["nsb"], "nodes": [node()],
        "overlay": overlay(), "pods": {}, "logs": {},
    }  # fmt: skip

    def change(**changes: Any) -> None:
        known.update(changes)
        file.write_text(json.dumps(known), encoding="utf-8")

    change()
    return change


@pytest.fixture
def work(registry: Registry) -> Workshop:
    return Workshop(HERE.parents[1], registry, {}, {})


def found(work: Workshop, namespace: str = "nsb") -> Kubernetes:
    return Kubernetes(work, "lab", namespace, lambda _: None)


def test_a_fit_cluster_is_taken(fake: Callable[..., None], work: Workshop, registry: Registry) -> None:
    ground = found(work)
    there, lacking = ground.runnable([registry.contenders["go"], registry.contenders["java-8"]])
    assert there == ["go"]
    assert "no manifest" in lacking["java-8"]
    ground.must_have_images([registry.contenders["go"]], 2)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"away": True}, "the cluster does not answer"),
        ({"version": {"major": "1", "minor": "27", "gitVersion": "v1.27.1"}}, "v1.27.1, and 1.29 or newer is needed"),
        ({"denied": ["create pods", "get pods/log"]}, "in the namespace nsb you may not create pods, get pods/log"),
        ({"denied": ["list nodes"]}, "list nodes (of the whole cluster)"),
        ({"namespaces": []}, "kubectl create namespace nsb"),
        ({"nodes": [node(ready="False")]}, "the node lab is not ready"),
    ],
)
def test_a_cluster_that_lacks_something_is_a_sentence(
    fake: Callable[..., None], work: Workshop, changes: dict[str, Any], sentence: str
) -> None:
    fake(**changes)
    with pytest.raises(Refused) as refusal:
        found(work)
    assert sentence in str(refusal.value)
    assert str(refusal.value).startswith("--runner kubernetes: ")


def test_a_context_that_says_nothing_is_not_waited_for(fake: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    fake(silent=True)
    with pytest.raises(ProcessError, match="has not ended within"):
        Kubectl("lab", "nsb").text("version", deadline_s=0.5)


def test_no_kubectl_is_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ProcessError, match="install it"):
        Kubectl(None, "nsb").text("version")


def test_a_missing_image_refuses_the_run(fake: Callable[..., None], work: Workshop, registry: Registry) -> None:
    with pytest.raises(Refused, match="the image nsb-python is not on the node lab"):
        found(work).must_have_images([registry.contenders["go"], registry.contenders["python"]], 1)


def test_a_pod_that_is_evicted_or_removed_ends_with_a_reason(fake: Callable[..., None], tmp_path: Path) -> None:
    document = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "nsb-1-go-1"}, "spec": {"containers": [{"name": "contender"}]}}
    evicted = pod(phase="Failed", reason="Evicted", message="low on memory", containerStatuses=[])
    fake(pods={"nsb-1-go-1": evicted}, logs={"contender": "its last line"})
    one = Pod(Kubectl(None, "nsb"), document, tmp_path / "go.log")
    assert one.exit_code == -1
    assert "Evicted" in one.last_words()
    with pytest.raises(ProcessError, match=r"ended with -1 before it was ready: its last line\n.*Evicted"):
        one.wait_until_ready(5)
    fake(pods={})
    gone = Pod(Kubectl(None, "nsb"), document, tmp_path / "go.log")
    assert (gone.exit_code, gone.last_words().splitlines()[-1]) == (-1, "the pod nsb-1-go-1 was removed while it ran")


class Stage:
    """What a crowd asks of its stage."""

    def __init__(self) -> None:
        self.kubectl, self.mark = Kubectl(None, "nsb"), MARK


def test_a_generator_that_is_killed_is_the_reason_of_its_cell(fake: Callable[..., None], documents: Overlay) -> None:
    jobs = [cluster.k6_job(MARK, documents, Wanted(f"k6-{number}", "lab", False, cell="cell-1"), ["run"], 1, 60) for number in (1, 2)]
    fake(pods={"one": pod(phase="Succeeded", containerStatuses=state(terminated={"exitCode": 0}))})
    crowd = Crowd(Stage(), "cell-1", jobs)  # type: ignore[arg-type]
    first, second = crowd.finish(5)
    assert first is not None
    assert first.code == 0
    assert second is not None
    assert (second.code, second.why) == (-1, "the pod nsb-1-k6-2 was removed while it ran")
    assert crowd.nodes == ["lab", ""]


# --- a cost cell -----------------------------------------------------------------------------------------------------

RATE, USED = 20_000, 0.95
"""Requests and CPU of the service, both per second."""


@pytest.fixture
def cost(
    fake: Callable[..., None], documents: Overlay, registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Duet]:
    """Measures a cost cell where the cluster tells what the fixture is given: how the last generator ended, and for how long each drove."""

    def measured(ended: dict[str, Any], drove_s: float, parts: int = 1, **wrong: str) -> Duet:
        now = time.time()
        read = [line(now - 3 + n / 10, USED * n / 10, 9.5 if n % 5 == 0 else None, waited_s=0.004 * n) for n in range(200)]
        go = pod(phase="Running", containerStatuses=state(running={"startedAt": "2026-11-25T21:00:00Z"}))
        pods, logs, answers = {"nsb-1-go-1": go}, {"reader": "\n".join(read)}, 0
        for number in range(parts):
            driven = [
                {"at_s": now + 0.1 * number + n / 4, "answers": RATE * n // 4 // parts, "service_cpu_s": 0, "generator_cpu_s": 0.05 * n}
                | {"opened": 64 // parts, "least_latency_s": 0.001 * (1 + number), "answers_of": [RATE * n // 4 // parts], "odd": 0}
                | {"mean_answers": 0.0, "mean_service_cpu_s": 0.0}  # nobody reads them: the CPU is the container's
                for n in range(round(4 * drove_s) + 1)
            ]
            driven.append({**driven[-1], "answers": driven[-1]["answers"] + 64 // parts, **wrong})  # in the time after the last reading
            drives = pod(phase="Succeeded", containerStatuses=state(terminated=ended if number == parts - 1 else {"exitCode": 0}))
            drives["metadata"] = {"name": f"nsb-1-cost-{number + 1}-x", "labels": {cluster.JOB: f"nsb-1-cost-{number + 1}"}}
            pods[drives["metadata"]["name"]] = drives
            logs[f"{drives['metadata']['name']}/generator"] = "\n".join(map(json.dumps, driven))
            answers += driven[-1]["answers"]
        fake(pods=pods, logs=logs)
        document = {"kind": "Pod", "metadata": {"name": "nsb-1-go-1"}, "spec": {"containers": [{"name": "contender"}]}}
        one = Pod(Kubectl(None, "nsb"), document, tmp_path / "go.log")
        stage = SimpleNamespace(
            kubectl=Kubectl(None, "nsb"), mark=MARK, overlay=documents, place=cluster.place([node()]), workers=1,
            number=itertools.count(1).__next__, database=None, database_pod=one, upstream=one, upstream_url="",
        )  # fmt: skip
        counts = iter([7, 7 + answers])
        monkeypatch.setattr(cluster_cost, "counted", lambda _: next(counts))
        monkeypatch.setattr(cluster_cost, "lost", lambda *_: None)
        monkeypatch.setattr(cluster_cost, "WARM_S", 0.5)
        row = next(each for each in registry.scenarios.values() if isinstance(each, CostRow) and not each.statements)
        timing = row.timing(registry.tiers["smoke"]).model_copy(update={"settle_s": 0.1})
        running = Placed(registry.contenders["go"], one, "http://127.0.0.1:1", inside_url="http://10.0.0.1:8080")
        return cluster_cost.measure(stage, row, timing, running, seed=1, parts=parts, rehearsal=True)  # type: ignore[arg-type]

    return measured


def test_a_cost_cell_is_a_service_alone(cost: Callable[..., Duet]) -> None:
    found = cost({"exitCode": 0}, 10.0)
    figure = duet.figure(found)
    assert figure is not None
    assert (figure.partner, figure.own_us) == (None, pytest.approx(1e6 * USED / RATE, rel=0.01))
    assert found.own.counted == found.own.answers == 10 * RATE + 64
    assert found.own.pss_mib == 9.5
    assert duet.demand(found.own, found) == pytest.approx(USED + 0.04, abs=0.01)
    assert [check.sentence for check in duet.checks(found) if check.outcome != "ok" and check.id != "V7"] == []


def test_what_several_generators_counted_of_a_cost_cell_is_told_as_of_one(cost: Callable[..., Duet]) -> None:
    one, two = cost({"exitCode": 0}, 10.0), cost({"exitCode": 0}, 10.0, parts=2)
    assert (one.divided, two.divided) == (None, Divided(cores=[[], []], began_ms=[0.0, 100.0]))
    assert (two.own.answers, two.own.opened, two.own.least_ms, two.own.counted) == (one.own.answers, 64, 1.0, one.own.answers)
    alone, shared = duet.figure(one), duet.figure(two)
    assert alone is not None
    assert shared is not None
    assert shared.own_us == pytest.approx(alone.own_us, rel=0.001)
    assert [check.sentence for check in duet.checks(two) if check.outcome != "ok" and check.id != "V7"] == []


def test_generators_share_the_connections_and_never_the_seed(cost: Callable[..., Duet], tmp_path: Path) -> None:
    cost({"exitCode": 0}, 10.0, parts=3)
    assert cluster_cost.shares(64, 3) == [22, 21, 21]
    assert sum(cluster_cost.shares(64, 3)) == 64
    objects = map(json.loads, (tmp_path / "cluster.made").read_text(encoding="utf-8").splitlines())
    made = [json.loads(each["data"]["order.json"]) for each in objects if each["kind"] == "ConfigMap"]
    assert [each["connections"] for each in made] == [22, 21, 21]
    assert len({each["seed"] | 1 for each in made}) == 3  # bench/generator sets the last bit


@pytest.mark.parametrize(
    ("ended", "drove_s", "parts", "why"),
    [
        ({"exitCode": 2}, 10.0, 1, "the generator ended with 2"),
        ({"exitCode": 2}, 10.0, 2, "generator 2 of 2 ended with 2"),
        ({"exitCode": 137, "reason": "OOMKilled"}, 10.0, 1, r"the generator ended with 137 \(OOMKilled\)"),
        ({"exitCode": 0}, 1.0, 1, "the generator ended before the window closed"),
    ],
)
def test_a_cost_cell_without_its_generator_has_a_reason(
    cost: Callable[..., Duet], ended: dict[str, Any], drove_s: float, parts: int, why: str
) -> None:
    with pytest.raises(Unobserved, match=why):
        cost(ended, drove_s, parts)


def test_a_wrong_answer_is_the_reason_of_its_cost_cell(cost: Callable[..., Duet]) -> None:
    with pytest.raises(Unobserved, match="go did not answer as it must: asked 'x'"):
        cost({"exitCode": 1}, 1.0, wrong="asked 'x'")


# --- the contract and the plan ---------------------------------------------------------------------------------------


def test_only_what_one_request_and_one_answer_show_is_asked_at_a_distance() -> None:
    left = {*not_asked()}
    asked = [f"{one.rule} {one.title}" for one in RULES if f"{one.rule} {one.title}" not in left]
    assert len(asked) > 20
    assert "C5 hello" in asked
    assert not [one for one in asked if one.startswith(("C41", "C62", "C29"))]


def test_a_start_that_failed_is_told_once() -> None:
    why = str(LaunchFailed(None, "x: its container cannot be started (ErrImagePull): no such host"))
    told = [
        Outcome("C1", "is alive", False, f"not checked: {why}"),
        Outcome("C2", "is ready", False, SEE_ABOVE),
        Outcome("C5", "hello", True, ""),
    ]
    expected = "the service was not ready: x: its container cannot be started (ErrImagePull): no such host"
    assert broken_rules(told) == f"C1 is alive: not checked: {expected}"


def test_a_plan_for_a_cluster_has_one_contender_at_a_time(registry: Registry) -> None:
    plan = clustering.plan_of(registry, Asked("smoke", generators=3, seed=1))
    assert (plan.order, plan.profile, plan.workers, plan.generators) == ("contender", "1cpu", 1, ((0,), (1,), (2,)))
    assert all(len(group) == 1 for _, group in plan.all_groups)
    kept = replace(plan.only(["go"]), order=plan.order)
    there = [recorded(slot, "valid") for slot in kept.slots(1)]
    assert clustering._announced_s(kept) > clustering._announced_s(kept, there[1:]) > 0 == clustering._announced_s(kept, there)
    rows = [each for each in plan.scenarios if isinstance(each, CostRow)]
    assert rows
    assert all(len(plan.generators_of(each)) == 3 for each in rows)
    assert not plan.undivided.keys() & {each.id for each in rows}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--context", "x"], "--context: belongs to --runner kubernetes"),
        (["--namespace", "x"], "--namespace: belongs to --runner kubernetes"),
        (["--runner", "kubernetes", "--order", "scenario"], "--order: on a cluster contenders run one at a time"),
        (["--runner", "kubernetes", "--noisy"], "--noisy: on a cluster"),
        (["--runner", "kubernetes", "--profile", "ncpu"], "--profile: 'ncpu': deploy/kubernetes gives a contender one core"),
    ],
)
def test_options_that_do_not_belong_together_are_usage_errors(arguments: list[str], words: str) -> None:
    done = nsb("bench-all", *arguments)
    assert done.returncode == 2
    assert words in done.stderr


@pytest.mark.parametrize("verb", [["conform", "go"], ["doctor"]], ids=lambda verb: verb[0])
def test_what_a_cluster_is_not_for_says_so(verb: list[str]) -> None:
    done = nsb(*verb, "--runner", "kubernetes")
    assert done.returncode == 3
    assert "only bench-all and bench" in done.stderr
