"""Loads that come from a cluster's own pods: k6 in parts that begin at one moment, and the cheap generator. Effects only."""

from __future__ import annotations

import contextlib
import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nsb.measure import effects, k6
from nsb.measure.cluster_stage import Cluster, Placed
from nsb.measure.interrupt import stop_if_asked
from nsb.measure.pods import Pod
from nsb.measure.process import ProcessError
from nsb.records.divided import Divided
from nsb.records.edge import Edge
from nsb.records.parts import TREND_STATS, merge
from nsb.records.summary import Load, SummaryError, load_summary
from nsb.records.used import Uses
from nsb.registry import cluster, podstate
from nsb.registry.cluster import CELL, JOB, READER, RUN, Wanted
from nsb.registry.podstate import Ended

LOOK_S = 0.7
"""Between two looks at Jobs whose load is over: each starts a program (s)."""
LIMIT_S = 120
"""A Job of a load ends by itself so long after the load should have (s)."""
LONGEST_LEAD_S = 60.0
"""How long a pod may take until it runs (s)."""
AROUND_S = 5.0
"""Of the readers' lines so much more is fetched than is needed (s)."""
K6_SPARE_MIB = 512
"""What k6 needs beyond its heap (MiB)."""


class Crowd:
    """Jobs of one pod each that were made together, found again by their label."""

    def __init__(self, on: Cluster, cell: str, jobs: Sequence[Mapping[str, Any]]) -> None:
        """Raises ProcessError where the cluster does not take one of them; none of them is left then."""
        self._on, self._label = on, f"{RUN}={on.mark.run},{CELL}={cell}"
        self._names = [str(job["metadata"]["name"]) for job in jobs]
        self._container = str(jobs[0]["spec"]["template"]["spec"]["containers"][0]["name"])
        self._pods: dict[str, dict[str, Any]] = {}
        """Job → its pod, as last seen."""
        try:
            on.kubectl.make(*jobs)
        except BaseException:
            self.remove()
            raise

    def look(self) -> list[dict[str, Any] | None]:
        """The pod of each, None where there is none. Raises ProcessError."""
        found = self._on.kubectl.found("get", "pods", "--selector", self._label)["items"]
        there = {str(pod["metadata"]["labels"].get(JOB)): pod for pod in found}
        self._pods |= there
        return [there.get(name) for name in self._names]

    def finish(self, deadline_s: float) -> list[Ended | None]:
        """How each ended; None where it had not by then. Asked of a load that is over: a pod that is not there was removed.

        Raises ProcessError.
        """
        until = time.monotonic() + deadline_s
        while True:
            stop_if_asked()
            found = [podstate.ended(pod, name) for pod, name in zip(self.look(), self._names, strict=True)]
            if None not in found or time.monotonic() > until:
                return found
            time.sleep(LOOK_S)

    def wait_until_running(self, deadline_s: float) -> None:
        """Raises ProcessError where one of them does not come to that."""
        until = time.monotonic() + deadline_s
        while True:
            stop_if_asked()
            pods = self.look()
            if all(pod is not None and (podstate.is_running(pod) or podstate.ended(pod, "") is not None) for pod in pods):
                return
            whys = [why for pod in pods if pod is not None and (why := podstate.in_vain(pod)) is not None]
            if time.monotonic() > until or any(not why.startswith("no node") for why in whys):
                raise ProcessError(f"{self._names[0]} does not start: {'; '.join(whys) or 'nobody says why'}")
            time.sleep(LOOK_S)

    @property
    def nodes(self) -> list[str]:
        return [str(self._pods[name]["spec"].get("nodeName", "")) if name in self._pods else "" for name in self._names]

    def words(self, number: int) -> str:
        """All that one of them has written; empty where its pod is not there any more."""
        return self._log(number, self._container)

    def uses(self, number: int) -> Uses:
        """What the reader beside it told. Raises Untold."""
        return Uses.of(self._log(number, READER).splitlines())

    def _log(self, number: int, container: str) -> str:
        pod = self._pods.get(self._names[number])
        with contextlib.suppress(ProcessError):
            return "" if pod is None else self._on.kubectl.logs(str(pod["metadata"]["name"]), container)
        return ""

    def remove(self) -> None:
        """Without a wait: their names are never used again."""
        with contextlib.suppress(ProcessError):
            self._on.kubectl.remove("jobs", "--selector", self._label)


@contextlib.contextmanager
def driving(on: Cluster, name: str, orders: Sequence[Mapping[str, object]], longest_s: float) -> Iterator[Crowd]:
    """The cheap generator at work for the length of the block, in a pod for each order. Raises ProcessError."""
    cell = f"{name}-{on.number()}"
    names = [cell, *(f"{name}-{on.number()}" for _ in orders[1:])]
    made = [cluster.config_map(on.mark, own, {"order.json": json.dumps(order)}) for own, order in zip(names, orders, strict=True)]
    on.kubectl.make(*made)
    try:
        wanted = [Wanted(own, on.place.generator(number), on.place.whole, cell=cell) for number, own in enumerate(names)]
        limit_s = round(longest_s) + LIMIT_S
        crowd = Crowd(on, cell, [cluster.drive_job(on.mark, on.overlay, each, f"{on.mark.run}-{each.name}", limit_s) for each in wanted])
        try:
            crowd.wait_until_running(LONGEST_LEAD_S)
            yield crowd
        finally:
            crowd.remove()
    finally:
        with contextlib.suppress(ProcessError):
            on.kubectl.remove("configmap", *(each["metadata"]["name"] for each in made))


def readings(words: str) -> list[dict[str, Any]]:
    """The lines of the cheap generator; one that is not whole yet is left out."""
    found = []
    for line in words.splitlines():
        with contextlib.suppress(ValueError):
            told = json.loads(line)
            if isinstance(told, dict) and "answers" in told:
                found.append(told)
    return found


@dataclass(frozen=True)
class Readers:
    """What the readers beside all containers of a load told."""

    service: Uses
    generators: Sequence[Uses]
    database: Uses
    upstream: Uses
    nodes: Sequence[Uses]
    """One of them for each node: each tells of all of its own."""

    @classmethod
    def of(cls, on: Cluster, running: Placed, crowd: Crowd, last_s: float) -> Readers:
        """Of the last so many seconds. Raises Untold, and ProcessError where a log cannot be had."""
        assert isinstance(running.process, Pod)
        service, database, upstream = (pod.uses(last_s) for pod in (running.process, on.database_pod, on.upstream))
        generators = [crowd.uses(number) for number in range(len(crowd.nodes))]
        by_node = {**dict(zip(crowd.nodes, generators, strict=True)), running.process.node: service, on.place.database: database}
        return cls(service, generators, database, upstream, list(by_node.values()))

    def edge(self, at_s: float) -> Edge:
        """All counters at one moment. Raises Untold."""
        own, machines = self.service.at(at_s), [each.at(at_s) for each in self.nodes]
        used = {
            "service": own.cpu_s,
            "generator": math.fsum(each.at(at_s).cpu_s for each in self.generators),
            "database": self.database.at(at_s).cpu_s,
            "upstream": self.upstream.at(at_s).cpu_s,
        }
        busy_s, steal_s = math.fsum(each.busy_s for each in machines), math.fsum(each.steal_s for each in machines)
        return Edge(at_s, used, busy_s, steal_s, None if own.tcp is None else dict(own.tcp))


class K6:
    """The k6 of one load: so many Jobs that divide it, and begin and measure at the same times of their nodes' clocks."""

    def __init__(self, on: Cluster, cell: str, data: Mapping[str, object], parts: int, longest_s: float) -> None:
        """`data`: what k6.cell says, with a summary on stdout. Raises ProcessError."""
        self._data = data
        vus = data["vus"]
        assert isinstance(vus, int)
        own = k6.environment(1, math.ceil(vus / parts))
        heap_mib = int(own["GOMEMLIMIT"].removesuffix("MiB"))
        environment = {"NSB_CELL": json.dumps(data), "K6_SUMMARY_TREND_STATS": TREND_STATS, "GOMEMLIMIT": own["GOMEMLIMIT"]}
        jobs = []
        for number in range(parts):
            wanted = Wanted(f"k6-{on.number()}", on.place.generator(number), on.place.whole, environment, cell=cell)
            args = [*k6.command(Path("/k6"), Path("/"), (number, parts))[1:-1], "/script/part.js"]
            jobs.append(cluster.k6_job(on.mark, on.overlay, wanted, args, heap_mib + K6_SPARE_MIB, round(longest_s) + LIMIT_S))
        self.crowd = Crowd(on, cell, jobs)
        self.parts = parts
        self._ended: list[Ended | None] = []
        self._began_ms: list[float] = []

    def finish(self, deadline_s: float, log: Path) -> None:
        """Waits for their ends and keeps their words. Raises ProcessError."""
        self._ended = self.crowd.finish(deadline_s)
        log.parent.mkdir(parents=True, exist_ok=True)
        for number in range(self.parts):
            self._log(log, number).write_text(self.crowd.words(number), encoding="utf-8")

    def _log(self, log: Path, number: int) -> Path:
        return log if self.parts == 1 else log.with_name(f"{log.stem}-part{number + 1}{log.suffix}")

    @property
    def exit_code(self) -> int:
        """The first one that is not 0; -1 where one did not end by itself."""
        return next((-1 if each is None else each.code for each in self._ended if each is None or each.code), 0)

    def load(self, log: Path, summary: Path) -> Load | None:
        """What they saw, as one; kept in a file. None where a part is missing or cannot be read."""
        try:
            told = [_summary(self._log(log, number).read_text(encoding="utf-8")) for number in range(self.parts)]
            whole = merge(told)
            summary.parent.mkdir(parents=True, exist_ok=True)
            summary.write_text(json.dumps(whole), encoding="utf-8")
            self._began_ms = whole["state"]["began_ms"]
            return load_summary(whole)
        except (OSError, ValueError, SummaryError):
            return None

    @property
    def late_ms(self) -> float:
        """By how much the last one began too late."""
        ordered = self._data["begin_ms"]
        assert isinstance(ordered, int)
        return max((at - ordered for at in self._began_ms), default=0.0)

    def divided(self) -> Divided | None:
        if self.parts == 1:
            return None
        ordered = self._data["begin_ms"]
        assert isinstance(ordered, int)
        return Divided(cores=[[] for _ in range(self.parts)], began_ms=[round(at - ordered, 1) for at in self._began_ms])

    def said(self, log: Path) -> str:
        """Why there is no summary, as far as anybody knows."""
        whys = [each.why for each in self._ended if each is not None and each.why is not None]
        words = [" ".join(self._log(log, number).read_text(encoding="utf-8").split()[-60:]) for number in range(self.parts)]
        return "; ".join(whys or [each for each in words if each])[:1000]

    def wrong_answer(self, log: Path) -> str | None:
        return next((found for number in range(self.parts) if (found := effects.quoted(self._log(log, number))) is not None), None)


def _summary(words: str) -> Any:
    """The line that handleSummary writes. Raises ValueError."""
    line = next((line for line in reversed(words.splitlines()) if line.startswith('{"metrics"')), None)
    if line is None:
        raise ValueError("k6 wrote no summary")
    return json.loads(line)
