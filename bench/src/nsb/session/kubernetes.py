"""A cluster as the engine: what it must offer is checked first, then a run's objects are made, and removed at the end. Effects."""

from __future__ import annotations

import contextlib
import json
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nsb.conform.at_a_distance import not_asked
from nsb.conform.bed import Bed, LaunchFailed, Outcome
from nsb.conform.suite import check
from nsb.errors import Refused
from nsb.measure import host
from nsb.measure.cluster_stage import CLOCK_S, READY_S, Cluster, DatabasePod, Placed
from nsb.measure.database import private_server
from nsb.measure.database_private import title
from nsb.measure.interrupt import undisturbed
from nsb.measure.kubectl import FIRST_ANSWER_S, GONE, Forward, Kubectl
from nsb.measure.pods import Pod
from nsb.measure.process import ProcessError
from nsb.measure.running import Died
from nsb.measure.tools import Workshop
from nsb.registry import cluster
from nsb.registry.cluster import GENERATOR_IMAGE, OVERLAY, PORT, RUN, Mark, Overlay, Unfit, Wanted
from nsb.registry.contenders import Contender
from nsb.registry.contract import POOL_SIZE
from nsb.registry.plan import Plan

CONNECTIONS = 2 * POOL_SIZE + 50
"""What the database must hold: one pool, with room for a second contender that is being started, and for the harness."""
GONE_S = 60.0
"""How long what a run made may take to go (s)."""
NODE_FACTS = ("kubeletVersion", "containerRuntimeVersion", "kernelVersion", "osImage")
Say = Callable[[str], None]


class Kubernetes:
    """A context and a namespace that were found fit."""

    name = "kubernetes"

    def __init__(self, work: Workshop, context: str | None, namespace: str, say: Say) -> None:
        """Raises Refused with one sentence: what is missing, and what mends it."""
        self.work = work
        self.kubectl = Kubectl(context, namespace)
        self.mark = Mark(f"nsb-{secrets.token_hex(4)}")
        say(f"asking the cluster what it is and what may be done in the namespace {namespace}")
        try:
            self.version = self._version()
            self.context = context or self.kubectl.text("config", "current-context").strip()
            self._must_allow()
            self.nodes = self.kubectl.nodes()
            self.place = cluster.place(self.nodes)
            self.overlay = self._overlay()
        except (ProcessError, Unfit) as error:
            raise Refused(f"--runner kubernetes: {error}") from None

    def _version(self) -> dict[str, Any]:
        try:
            text = self.kubectl.text("version", "--output", "json", f"--request-timeout={FIRST_ANSWER_S:.0f}s")
        except ProcessError as error:
            remedy = "look at `kubectl config get-contexts`, or name one by --context"
            raise ProcessError(f"the cluster does not answer ({error}): {remedy}") from None
        found: dict[str, Any] = json.loads(text)
        if (why := cluster.refused(found)) is not None:
            raise Unfit(why)
        return found

    def _must_allow(self) -> None:
        """Raises Unfit with all that is not allowed."""
        namespace = self.kubectl.namespace
        denied = [f"{verb} {what}" for verb, what in cluster.MAY if not self.kubectl.allows(verb, what)]
        if not self.kubectl.allows("list", "nodes"):
            denied.append("list nodes (of the whole cluster)")
        if denied:
            raise Unfit(f"in the namespace {namespace} you may not {', '.join(denied)}: ask for these rights (kubectl auth can-i --list)")
        try:
            self.kubectl.text("get", "namespace", namespace)
        except ProcessError as error:
            if GONE in str(error):  # whether it is there may also be a secret
                raise Unfit(f"there is no namespace {namespace}: kubectl create namespace {namespace}") from None

    def _overlay(self) -> Overlay:
        text = self.kubectl.text("kustomize", str(self.work.root / OVERLAY))
        as_json = ("create", "--dry-run=client", "--validate=false", "--output", "json", "--filename", "-")
        return Overlay(cluster.documents(self.kubectl.text(*as_json, given=text)))

    def runnable(self, contenders: Sequence[Contender]) -> tuple[list[str], dict[str, str]]:
        """The ids of those that have a manifest, and id → why another cannot run."""
        there = [each.id for each in contenders if self.overlay.image(each) is not None]
        return there, {each.id: "deploy/kubernetes has no manifest for it: --runner native" for each in contenders if each.id not in there}

    def must_have_images(self, contenders: Sequence[Contender], generators: int) -> None:
        """Raises Refused with every image that is missing on a node."""
        own = [image for each in contenders if (image := self.overlay.image(each)) is not None]
        k6, upstream = (str(cluster.container(each)["image"]) for each in (self.overlay.generator(), self.overlay.component("upstream")))
        needed = [(self.place.contender, [*own, GENERATOR_IMAGE]), (self.place.database, [upstream, GENERATOR_IMAGE])]
        needed += [(self.place.generator(number), [k6, GENERATOR_IMAGE]) for number in range(generators)]
        on: dict[str, list[str]] = {}
        for node, images in needed:
            on.setdefault(node, []).extend(images)
        if missing := cluster.missing_images(self.nodes, on):
            raise Refused(
                f"--runner kubernetes: {'; '.join(missing)}. Build them (docker compose --profile all --profile tools build) and load "
                "them into the node (which tells it after a minute), or push them and name them by `images:` in deploy/kubernetes "
                "(docs/scale.md)"
            )

    @contextlib.contextmanager
    def stage(self, workers: int, folder: Path, limit_s: int, say: Say) -> Iterator[Cluster]:
        """Database and upstream for the length of the block; everything is removed then, and by the cluster itself after `limit_s`.

        Raises ProcessError, DatabaseError and Refused.
        """
        logs, kubectl, place = folder / "logs", self.kubectl, self.place
        stack = contextlib.ExitStack()
        try:
            with undisturbed():
                stack.callback(self.remove)
                made = kubectl.make(cluster.limit_job(self.mark, place.database, limit_s))
            mark = self.mark = Mark(self.mark.run, made["metadata"]["uid"])
            say(f"all that is made here has the label {RUN}={mark.run}; the cluster removes it after {limit_s / 60:.0f} minutes")
            kubectl.make(
                *(cluster.policy(mark, each) for each in self.overlay.policies()),
                cluster.config_map(mark, "script", self.overlay.scripts()["data"]),
            )
            given = {"HOST": "0.0.0.0", "PORT": str(PORT)}
            wanted = Wanted("upstream", place.database, place.whole, given, "/hello", relayed=PORT)
            upstream = Pod(kubectl, cluster.pod(mark, self.overlay.component("upstream"), wanted), logs / "upstream.log")
            say(f"starting {cluster.container(self.overlay.component('database'))['image']} and the upstream on {place.database}")
            private = DatabasePod(kubectl, mark, self.overlay, place, logs)
            server = private_server(private, CONNECTIONS)
            stack.callback(server.close)
            upstream.wait_until_ready(READY_S)
            forward = Forward(kubectl, upstream.name, logs / "upstream-forward.log")
            stack.callback(forward.close)
            self._same_time(server.clock_s)
            say(f"database: {title(server.kind)} {server.version} in a pod")
            yield Cluster(self.work, kubectl, mark, self.overlay, place, workers, server, private.pod, upstream, forward.url, logs)
        finally:
            with undisturbed():
                try:
                    stack.close()
                except ProcessError as error:  # the figures are there, and tell more
                    say(f"not all of {RUN}={self.mark.run} has gone ({error}): the cluster removes it when the run's time is over")

    def remove(self) -> None:
        """All that carries the run's label. Raises ProcessError where it does not go."""
        self.kubectl.remove(",".join(cluster.KINDS), "--selector", f"{RUN}={self.mark.run}", "--grace-period=1", wait_s=GONE_S)

    def _same_time(self, clock_s: Callable[[], float]) -> None:
        """Raises Refused."""
        before_s = time.time()
        there_s = clock_s()
        off_s = there_s - (before_s + time.time()) / 2
        if abs(off_s) > CLOCK_S:
            raise Refused(
                f"--runner kubernetes: the clock of the node {self.place.database} is {off_s * 1000:.0f} ms off this machine's: "
                "keep all of them synchronized (chrony)"
            )

    def facts(self, plan: Plan, on: Cluster) -> dict[str, Any]:
        """What run.json tells of the cluster in the place of one machine."""
        nodes = {str(node["metadata"]["name"]): node["status"] for node in self.nodes}
        used = {name: nodes[name] for name in self.place.used(len(plan.generators) or 1)}
        info = {name: status["nodeInfo"] for name, status in used.items()}
        own = info[self.place.contender]
        harness = host.facts(self.work.root)
        cores = sum(self.place.cores[name] for name in used)
        return {
            "host": {
                **dict.fromkeys(harness),
                "name": f"cluster {self.context}",
                "system": own["osImage"],
                "kernel": own["kernelVersion"],
                "architecture": own["architecture"],
                "cpu": f"{len(used)} node(s) of a cluster",
                "cores": cores,
                "memory_gib": round(sum(cluster.gib(status["capacity"]["memory"]) for status in used.values()), 1),
                **{name: harness[name] for name in ("python", "commit", "changed")},
            },
            "placement": {role: list(there) for role, there in self.place.nodes.items()},
            "tools": {"kubernetes": self.version["serverVersion"]["gitVersion"], "kubectl": self.version["clientVersion"]["gitVersion"]},
            "images": {"database": on.database_pod.image_id, "upstream": on.upstream.image_id},
            "cluster": {
                "context": self.context,
                "namespace": self.kubectl.namespace,
                "run": self.mark.run,
                "nodes": {name: {key: each[key] for key in NODE_FACTS} for name, each in info.items()},
                "whole_cores": self.place.whole,
                "read_every_ms": {"cpu": cluster.READ_EVERY_MS, "memory": cluster.MEMORY_EVERY_MS},
                "not_measured": list(cluster.NOT_SEEN),
                "conformance_not_asked": not_asked(),
            },
        }


def conform(on: Cluster, contender: Contender, seen: Callable[[Outcome], None]) -> list[Outcome]:
    """What can be asked at a distance, of one contender."""
    running: list[Placed] = []

    def launch(environment: Mapping[str, str], ready: bool = True) -> Placed:
        try:
            running.append(on.start(contender, environment, None if ready else "/healthz"))
            return running[-1]
        except (Died, ProcessError) as error:
            raise LaunchFailed(None, str(error)) from None

    try:
        bed = Bed(launch, on.database, on.upstream_url, contender.id, POOL_SIZE, contender.workers(on.workers), contender.endpoints)
        return check(bed, seen, but=[*contender.breaks, *not_asked()])
    finally:
        for each in running:
            each.stop()
