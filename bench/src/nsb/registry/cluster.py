"""What a cluster must offer, and how the objects of deploy/kubernetes become those of a run. Pure.

A document is what kubectl prints as JSON. What is measured is the overlay `measure`, changed as follows: pods in the place of Deployments,
so that what ends stays ended; a reader beside each container; nodes by name; no settings but the harness's own; all marked as the run's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nsb.registry.compose import ACCOUNTS, CONTRACT
from nsb.registry.contenders import Contender
from nsb.registry.scenario import Scenario
from nsb.registry.shapes import ClosedUsers, CostRow, HeavyMix, OpenRate

OVERLAY = "deploy/kubernetes/overlays/measure"
LEAST_MINOR = 29
"""Kubernetes 1.29 starts and ends a reader with its container (initContainers that restart)."""
NAME, COMPONENT, PART_OF = "app.kubernetes.io/name", "app.kubernetes.io/component", "app.kubernetes.io/part-of"
RUN = "nsb/run"
"""The label of everything that a run makes: its value is the run's id."""
CELL, JOB = "nsb/cell", "batch.kubernetes.io/job-name"
ROLE, HOSTNAME = "nsb/role", "kubernetes.io/hostname"
ROLES = ("contender", "database", "generator")
PORT, DATABASE_PORT, RELAY_PORT = 8080, 3306, 9999
READER, GENERATOR_IMAGE = "reader", "nsb-generator"
READ_EVERY_MS, MEMORY_EVERY_MS = 100, 500
"""How often a reader reads CPU, and memory, which takes some milliseconds."""
KINDS = ("pods", "jobs.batch", "configmaps", "networkpolicies.networking.k8s.io")
"""What a run makes."""
MAY: tuple[tuple[str, str], ...] = (
    *((verb, kind) for kind in KINDS for verb in ("create", "list", "delete")),
    ("get", "pods"), ("watch", "pods"), ("get", "pods/log"), ("create", "pods/portforward"),
)  # fmt: skip
"""What the harness asks of the cluster in its namespace; and of the cluster itself to list nodes."""
LISTED_IMAGES = 50
"""A kubelet tells no more of the images on its node."""
SHARED_CORES, SHARED_GIB = 2.0, 6.0
"""What a node must have free where everything runs on it."""
TAKES = {"contender": 1.1, "database": 3.2, "generator": 1.1}
"""Cores that the pods of a role ask for on a node of their own: database and upstream are together; readers are included."""


class Unfit(Exception):
    """Nothing can be measured on this cluster; the message says why, and what to do."""


# --- the cluster -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """The nodes of a run, which never change in it."""

    nodes: Mapping[str, tuple[str, ...]]
    """Role → names of its nodes; the upstream is the database's guest."""
    cores: Mapping[str, int]
    """Node → its cores."""
    boots: Mapping[str, str]
    """Node → what tells one boot of it from another."""
    whole: bool
    """Roles have nodes of their own, and ask for whole cores. Else all share one, by shares of time."""

    @property
    def contender(self) -> str:
        return self.nodes["contender"][0]

    @property
    def database(self) -> str:
        return self.nodes["database"][0]

    def generator(self, number: int) -> str:
        """The node of each generator: in turn, where there are more generators than nodes."""
        return self.nodes["generator"][number % len(self.nodes["generator"])]

    def used(self, generators: int) -> list[str]:
        """Every node that so many generators and the rest run on, each once."""
        return list(dict.fromkeys([self.contender, self.database, *map(self.generator, range(generators))]))

    def lines(self, generators: int) -> list[str]:
        """Who runs where, for a person."""
        places = [f"contender: {self.contender}", f"database, upstream: {self.database}"]
        places += [f"generators: {', '.join(dict.fromkeys(map(self.generator, range(generators))))}"]
        warning = "Warning: all roles share one node and have no whole cores: what one of them uses, the other must wait for"
        return [f"Nodes: {' | '.join(places)}", *([] if self.whole else [warning])]


def refused(version: Mapping[str, Any]) -> str | None:
    """Why this server is too old; None where it is not. `version`: what `kubectl version` prints as JSON."""
    told = version.get("serverVersion", {})
    major, minor = (int("".join(filter(str.isdecimal, str(told.get(part, "")))) or 0) for part in ("major", "minor"))
    if (major, minor) < (1, LEAST_MINOR):
        return f"the cluster is Kubernetes {told.get('gitVersion', 'of an unknown version')}, and 1.{LEAST_MINOR} or newer is needed"
    return None


def place(nodes: Sequence[Mapping[str, Any]]) -> Place:
    """Nodes by their label nsb/role; without any such label all on the node with the most cores. Raises Unfit."""
    if not nodes:
        raise Unfit("the cluster has no node")
    by_role = {role: [node for node in nodes if node["metadata"].get("labels", {}).get(ROLE) == role] for role in ROLES}
    if any(by_role.values()):
        for role, there in by_role.items():
            if not there:
                raise Unfit(f"no node has the label {ROLE}={role}, and others have theirs: kubectl label node NAME {ROLE}={role}")
        chosen = {"contender": by_role["contender"][:1], "database": by_role["database"][:1], "generator": by_role["generator"]}
        for role, there in chosen.items():
            for node in there:
                _must_be_ready(node)
                if _cores(node) < TAKES[role]:
                    raise Unfit(f"the node {_name(node)} has {_cores(node):g} cores to give, and {TAKES[role]:g} are needed for the {role}")
    else:
        ready = [node for node in nodes if why_not_ready(node) is None]
        if not ready:
            _must_be_ready(nodes[0])
        one = max(ready, key=_cores)
        if _cores(one) < SHARED_CORES or _gib(one) < SHARED_GIB:
            raise Unfit(
                f"the node {_name(one)} has {_cores(one):g} cores and {_gib(one):.1f} GiB to give, and {SHARED_CORES:g} cores and "
                f"{SHARED_GIB:g} GiB are needed where everything runs on one"
            )
        chosen = {role: [one] for role in ROLES}
    used = {_name(node): node for there in chosen.values() for node in there}
    return Place(
        nodes={role: tuple(map(_name, there)) for role, there in chosen.items()},
        cores={name: int(_quantity(node["status"]["capacity"]["cpu"])) for name, node in used.items()},
        boots={name: node["status"]["nodeInfo"]["bootID"] for name, node in used.items()},
        whole=any(by_role.values()),
    )


def changed(place: Place, nodes: Sequence[Mapping[str, Any]]) -> str | None:
    """In what a node of the run is not as it was, in a sentence; None where all are."""
    now = {_name(node): node for node in nodes}
    for name, boot in place.boots.items():
        if name not in now:
            return f"the node {name} has left the cluster"
        if (why := why_not_ready(now[name])) is not None:
            return why
        if now[name]["status"]["nodeInfo"]["bootID"] != boot:
            return f"the node {name} was started again"
    return None


def why_not_ready(node: Mapping[str, Any]) -> str | None:
    """A sentence, or None."""
    if node.get("spec", {}).get("unschedulable"):
        return f"the node {_name(node)} takes no pods (kubectl uncordon {_name(node)})"
    told: dict[str, Any] = next((each for each in node["status"].get("conditions", []) if each["type"] == "Ready"), {})
    if told.get("status") == "True":
        return None
    return f"the node {_name(node)} is not ready: {str(told.get('message') or told.get('reason') or 'it says nothing').rstrip('.')}"


def _must_be_ready(node: Mapping[str, Any]) -> None:
    if (why := why_not_ready(node)) is not None:
        raise Unfit(why)


def missing_images(nodes: Sequence[Mapping[str, Any]], on: Mapping[str, Sequence[str]]) -> list[str]:
    """A sentence for each image of our own that is not on a node where it is needed; `on`: node → images. A kubelet would look for it in
    Docker Hub, where it is not."""
    told = {_name(node): node["status"].get("images", []) for node in nodes}
    found = []
    for node, images in on.items():
        there = {name.rpartition("/")[2].split("@")[0].split(":")[0] for each in told[node] for name in each.get("names") or []}
        if len(told[node]) < LISTED_IMAGES:
            lacks = [image for image in dict.fromkeys(images) if image.startswith("nsb-") and image not in there]
            found += [f"the image {image} is not on the node {node}" for image in lacks]
    return found


def _name(node: Mapping[str, Any]) -> str:
    return str(node["metadata"]["name"])


def _cores(node: Mapping[str, Any]) -> float:
    return _quantity(node["status"]["allocatable"]["cpu"])


def _gib(node: Mapping[str, Any]) -> float:
    return gib(node["status"]["allocatable"]["memory"])


def gib(text: str) -> float:
    """An amount of memory as Kubernetes writes it."""
    return _quantity(text) / 2**30


UNITS = {"m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40}


def _quantity(text: str) -> float:
    """A number with one of Kubernetes' units."""
    unit = next((unit for unit in sorted(UNITS, key=len, reverse=True) if str(text).endswith(unit)), "")
    return float(str(text).removesuffix(unit)) * UNITS.get(unit, 1.0)


# --- what is not measured there --------------------------------------------------------------------------------------


def not_here(scenario: Scenario, contender: Contender) -> str | None:
    """Why a scenario has no figure on a cluster; None where it has one."""
    if contender.with_heap(scenario.heap_mib).heap_mib != contender.heap_mib:
        return "not measured on a cluster: a pod has the heap that deploy/kubernetes gives it: --runner native"
    if isinstance(scenario, OpenRate | ClosedUsers | HeavyMix | CostRow):
        return None
    why = f"a load of the shape {scenario.shape} needs what only the service's own machine can read"
    return f"not measured on a cluster: {why}: --runner native"


NOT_SEEN = (
    "settings in effect (the fairness manifest)", "context switches", "whose the sockets are", "connections to the service",
    "memory between two readings", "what a garbage collector frees", "how fast a core is (the witness)",
    "the cost of a request beside the reference and competitors", "what a service answers while its database or the upstream hangs",
)  # fmt: skip
"""What cells of a native run tell, and those of a cluster do not."""


# --- objects ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mark:
    """What every object of a run carries."""

    run: str
    """Its id, which its names begin with."""
    owner: str = ""
    """The uid of the run's Job: whatever it owns goes with it."""

    def metadata(self, name: str, labels: Mapping[str, str] | None = None) -> dict[str, Any]:
        """`name` is that after the run's id; empty for the Job itself."""
        made: dict[str, Any] = {
            "name": f"{self.run}-{name}" if name else self.run,
            "labels": {**(labels or {}), PART_OF: "no-silver-bullet", RUN: self.run},
        }
        if self.owner:
            made["ownerReferences"] = [{"apiVersion": "batch/v1", "kind": "Job", "name": self.run, "uid": self.owner}]
        return made


@dataclass(frozen=True)
class Overlay:
    """The documents of the overlay."""

    documents: tuple[Mapping[str, Any], ...]

    def deployment(self, name: str) -> Mapping[str, Any] | None:
        return next((each for each in self._of("Deployment") if each["metadata"]["name"] == name), None)

    def component(self, name: str) -> Mapping[str, Any]:
        """The Deployment of the database, or of the upstream."""
        return next(each for each in self._of("Deployment") if each["metadata"]["labels"].get(COMPONENT) == name)

    def generator(self) -> Mapping[str, Any]:
        return next(self._of("Job"))

    def policies(self) -> list[Mapping[str, Any]]:
        return list(self._of("NetworkPolicy"))

    def scripts(self) -> Mapping[str, Any]:
        return next(each for each in self._of("ConfigMap") if "load.js" in each.get("data", {}))

    def _of(self, kind: str) -> Iterator[Mapping[str, Any]]:
        return (each for each in self.documents if each["kind"] == kind)

    def image(self, contender: Contender) -> str | None:
        """None: it is not among them."""
        found = self.deployment(contender.twin_of or contender.id)
        return None if found is None else str(container(found)["image"])


def documents(text: str) -> tuple[Mapping[str, Any], ...]:
    """What kubectl prints as JSON: one document after the other, or a List of them. Raises ValueError."""
    decoder, at, found = json.JSONDecoder(), 0, list[Mapping[str, Any]]()
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        each, at = decoder.raw_decode(text, at)
        found += each["items"] if each["kind"] == "List" else [each]
    return tuple(found)


def container(workload: Mapping[str, Any]) -> Mapping[str, Any]:
    """The first container of a Deployment or a Job."""
    found: Mapping[str, Any] = workload["spec"]["template"]["spec"]["containers"][0]
    return found


@dataclass(frozen=True)
class Wanted:
    """What a pod of a run is beside its manifest."""

    name: str
    node: str
    whole: bool
    environment: Mapping[str, str] = field(default_factory=dict)
    """In the place of the manifest's settings; what the manifest gives by other names stays."""
    ready: str | None = None
    """The path that its startup probe asks for, once a second until it is answered; None: no probe."""
    memory: bool = False
    """Whether its reader reads the memory too."""
    cell: str | None = None
    """What it belongs to, by which it is found again."""
    relayed: int | None = None
    """The port that its reader leads to, for whoever comes through a forwarded port."""


def pod(mark: Mark, workload: Mapping[str, Any], wanted: Wanted) -> dict[str, Any]:
    """The pod of a Deployment."""
    template = workload["spec"]["template"]
    one = dict(container(workload))
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        one.pop(probe, None)
    if wanted.ready is not None:
        asks = {"path": wanted.ready, "port": PORT}
        one["startupProbe"] = {"httpGet": asks, "periodSeconds": 1, "timeoutSeconds": 3, "failureThreshold": 120}
    one.pop("envFrom", None)
    one["env"] = _environment(one.get("env", []), wanted.environment)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": mark.metadata(wanted.name, {**template["metadata"]["labels"], **({} if wanted.cell is None else {CELL: wanted.cell})}),
        "spec": _spec(template["spec"], one, wanted),
    }


def _environment(there: Sequence[Mapping[str, Any]], given: Mapping[str, str]) -> list[dict[str, str]]:
    kept = {each["name"]: each["value"] for each in there if "value" in each and each["name"] not in CONTRACT | ACCOUNTS}
    return [{"name": name, "value": value} for name, value in {**given, **{k: v for k, v in kept.items() if k not in given}}.items()]


def _spec(spec: Mapping[str, Any], one: Mapping[str, Any], wanted: Wanted) -> dict[str, Any]:
    left = {key: value for key, value in spec.items() if key not in ("affinity", "topologySpreadConstraints")}
    mounted = {mount["name"] for mount in one.get("volumeMounts", [])}
    return {
        **left,
        "restartPolicy": "Never",  # what ends is told, and not started again behind the harness's back
        "enableServiceLinks": False,
        "shareProcessNamespace": True,  # for the reader
        "nodeSelector": {HOSTNAME: wanted.node},
        "containers": [_asking(one, wanted.whole)],
        "initContainers": [_reader(wanted)],
        "volumes": [volume for volume in spec.get("volumes", []) if volume["name"] in mounted],
    }


def _asking(one: Mapping[str, Any], whole: bool) -> dict[str, Any]:
    """On a node that all share, nobody asks for what it may use at the most: together that is more than there is."""
    limits = one["resources"]["limits"]
    return {**one, "resources": {"limits": limits, "requests": limits if whole else {"cpu": "50m", "memory": "64Mi"}}}


def _reader(wanted: Wanted) -> dict[str, Any]:
    """It starts before the container and ends with it (restartPolicy)."""
    relayed = () if wanted.relayed is None else (RELAY_PORT, wanted.relayed)
    return {
        **_small(READER, ["read", *map(str, (READ_EVERY_MS, MEMORY_EVERY_MS if wanted.memory else 0, *relayed))], wanted.whole),
        "restartPolicy": "Always",
    }


def _small(name: str, args: Sequence[str], whole: bool) -> dict[str, Any]:
    """A container of the generator's image that needs next to nothing."""
    limits = {"cpu": "100m", "memory": "64Mi"}
    return {
        "name": name,
        "image": GENERATOR_IMAGE,
        "imagePullPolicy": "IfNotPresent",
        "args": list(args),
        "securityContext": HARDENED,
        "resources": {"requests": limits if whole else {"cpu": "10m", "memory": "16Mi"}, "limits": limits},
    }


HARDENED = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
NOBODY = {"runAsNonRoot": True, "runAsUser": 65532, "runAsGroup": 65532, "seccompProfile": {"type": "RuntimeDefault"}}


def database_pod(mark: Mark, workload: Mapping[str, Any], wanted: Wanted) -> dict[str, Any]:
    """Without the rows of its image's first start: the harness makes them itself, on every kind of server."""
    made = pod(mark, workload, wanted)
    spec = made["spec"]
    spec["containers"][0]["volumeMounts"] = [each for each in spec["containers"][0]["volumeMounts"] if each["name"] != "rows"]
    spec["volumes"] = [each for each in spec["volumes"] if each["name"] != "rows"]
    return made


def _job(made: Mapping[str, Any], limit_s: int, kept_s: int = 600) -> dict[str, Any]:
    """A Job of one pod, which is not started again, and ends and goes by itself."""
    template = {"metadata": {"labels": made["metadata"]["labels"]}, "spec": made["spec"]}
    limits = {"activeDeadlineSeconds": limit_s, "ttlSecondsAfterFinished": kept_s}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": made["metadata"],
        "spec": {"backoffLimit": 0, **limits, "template": template},
    }


def limit_job(mark: Mark, node: str, limit_s: int) -> dict[str, Any]:
    """The run's own Job. It owns everything else: when its time is over it ends, is removed at once, and all it owns with it; whatever has
    become of the harness."""
    spec = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "nodeSelector": {HOSTNAME: node},
        "tolerations": [{"key": ROLE, "operator": "Exists"}],
        "securityContext": NOBODY,
        "containers": [_small("limit", ["read", "60000", "0"], whole=False)],  # it does nothing else
    }
    return _job({"metadata": mark.metadata("", {COMPONENT: "limit"}), "spec": spec}, limit_s, kept_s=0)


def k6_job(mark: Mark, overlay: Overlay, wanted: Wanted, args: Sequence[str], memory_mib: int, limit_s: int) -> dict[str, Any]:
    """One part of a load; it gets more memory than its manifest says where it has more users than that allows."""
    made = pod(mark, overlay.generator(), wanted)
    one = made["spec"]["containers"][0]
    one["args"] = list(args)
    if memory_mib * 2**20 > _quantity(one["resources"]["limits"]["memory"]):
        one["resources"] = {what: {**each, "memory": f"{memory_mib}Mi"} for what, each in one["resources"].items()}
    made["spec"]["volumes"] = [{"name": "script", "configMap": {"name": f"{mark.run}-script"}}]
    return _job(made, limit_s)


def drive_job(mark: Mark, overlay: Overlay, wanted: Wanted, order: str, limit_s: int) -> dict[str, Any]:
    """The cheap generator, whose order is in a ConfigMap of that name."""
    made = pod(mark, overlay.generator(), wanted)
    one = made["spec"]["containers"][0]
    one |= {"name": "generator", "image": GENERATOR_IMAGE, "args": ["/order/order.json"], "env": []}
    one["volumeMounts"] = [{"name": "order", "mountPath": "/order", "readOnly": True}]
    made["spec"]["volumes"] = [{"name": "order", "configMap": {"name": order}}]
    return _job(made, limit_s)


def config_map(mark: Mark, name: str, data: Mapping[str, str]) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": mark.metadata(name), "data": dict(data)}


def policy(mark: Mark, document: Mapping[str, Any]) -> dict[str, Any]:
    """The same for the pods of the run alone: others in the namespace are not its business."""
    spec = document["spec"]
    chosen = {**spec["podSelector"].get("matchLabels", {}), RUN: mark.run}
    return {
        "apiVersion": document["apiVersion"],
        "kind": document["kind"],
        "metadata": mark.metadata(document["metadata"]["name"]),
        "spec": {**spec, "podSelector": {"matchLabels": chosen}},
    }
