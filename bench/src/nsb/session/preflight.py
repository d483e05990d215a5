"""Before the rounds: who else uses the machine, what it allows, what the generator can send. Effects only: judged in nsb.analyse."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psutil

from nsb.analyse import preflight as judging
from nsb.analyse.preflight import Demand, Finding, Noise, Probe, Reading
from nsb.errors import Refused
from nsb.measure import host, k6
from nsb.measure.generators import Generators
from nsb.measure.journal import write_whole
from nsb.measure.meter import sleep_until
from nsb.measure.native import Stage
from nsb.measure.process import ALL_CORES, Program, cpu_s, machine_times
from nsb.records.duet import Speed
from nsb.records.schema import to_json
from nsb.registry import plan as plans
from nsb.registry.placement import on_one_core
from nsb.registry.plan import LISTEN_REHEARSAL_S, LISTEN_S, Plan
from nsb.registry.scenario import Scenario
from nsb.registry.shapes import ClosedUsers, OpenRate
from nsb.registry.timing import Timing

WINDOW_S = 1.5
SETTLE_S = 0.5
BOOT_S, BOOT_PER_VU_S = 0.9, 0.001
VUS_PER_RATE_S = 0.02
"""Virtual users for an open probe: as many as arrive within this time, so that a stall of four times the lag allowed drops nothing."""
LEAST_VUS = 100


def run(
    plan: Plan, stage: Stage, k6_program: Path, speed: Callable[[], Speed], folder: Path, noisy: bool, say: Callable[[str], None]
) -> dict[str, Any]:
    """What run.json keeps under `preflight`. Warnings are said; raises Refused with every refusal and its remedy.

    `speed`: what the witness says of the core of the service.
    """
    began = time.monotonic()
    demand = demand_of(plan)
    seconds = LISTEN_REHEARSAL_S if demand.rehearsal else LISTEN_S
    say(f"preflight: listening to the machine for {seconds:.0f} s, then measuring what the generator can send")
    seen = listen(seconds, stage)
    now = speed()
    machine = [judging.clock(now.register_steps_per_us), judging.kernel(now.system_call_ns or 0.0), judging.swap(seen)]
    findings = [judging.noise(seen, demand, noisy), *machine, *limits(demand)]
    probes: list[Probe] = []
    if not any(finding.level == "refuse" for finding in findings):
        probes = Calibration(stage, k6_program, folder, len(plan.generators) or 1).measure(demand, closed_vus(plan))
        findings.append(judging.generator(probes, demand))
        if plan.generators:
            findings.append(judging.scaling(probes))
    record = as_record(seen, noisy, findings, probes, time.monotonic() - began)
    for sentence in judging.told(probes):
        say(sentence)
    for finding in findings:
        if finding.level == "warn":
            say(f"warning: {finding.sentence}; {finding.remedy}")
    refusals = [f"{finding.sentence}. Remedy: {finding.remedy}." for finding in findings if finding.level == "refuse"]
    if refusals:
        file = folder / "preflight.json"
        write_whole(file, to_json(record))
        raise Refused("\n".join(["The run is refused:", *refusals, f"What was measured: {file}"]))
    return record


def demand_of(plan: Plan) -> Demand:
    rates = {scenario.id: scenario.rate_for(plan.workers) for scenario in plan.scenarios}
    return Demand(
        rates={name: rate for name, rate in rates.items() if rate is not None},
        vus={scenario.id: scenario.vus for scenario in plan.scenarios},
        rehearsal=plan.rounds < 2,
    )


def closed_vus(plan: Plan) -> int | None:
    """The users of the plan's largest closed cell of /hello; None where there is none, or in a run of one round. Several generators are
    always compared with one, by some users or other."""
    users = [s.vus for s in plan.scenarios if s.model == "closed" and s.path == "/hello" and not s.paired]
    least = LEAST_VUS if plan.generators else None
    return max(users) if users and (plan.rounds > 1 or plan.generators) else least


def as_record(seen: Noise, noisy: bool, findings: Sequence[Finding], probes: Sequence[Probe], wall_s: float) -> dict[str, Any]:
    return {
        "noisy": noisy,
        "noise": asdict(seen),
        "memory_available_mib": host.memory_available_mib(),
        "swap_used_mib": host.swap_used_mib(),
        "findings": [finding.model_dump() for finding in findings],
        "probes": [{**asdict(p), "why_not": p.why_not if p.rate is not None else None} for p in probes],
        "generator_ceiling_rps": judging.ceiling(probes),
        "closed_ceiling_rps": next((round(p.throughput_rps, 1) for p in reversed(probes) if p.rate is None and p.exit_code == 0), None),
        "wall_s": round(wall_s, 1),
    }


# --- the machine -----------------------------------------------------------------------------------------------------


def listen(seconds: float, stage: Stage | None = None) -> Noise:
    """What others use while the run waits: all but the harness and what stands on the stage."""
    own = [process.pid for process in (psutil.Process(), *psutil.Process().children(recursive=True))]
    if stage is not None:
        own += stage.beside()
    own = sorted(set(own))
    first = _reading(own)
    time.sleep(seconds)
    return judging.noise_between(first, _reading(own), len(ALL_CORES))


def _reading(own: Sequence[int]) -> Reading:
    at_s, times, own_s = time.monotonic(), machine_times(), cpu_s(own)
    others: dict[tuple[int, float], tuple[str, float]] = {}
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.pid not in own:
                used = process.cpu_times()
                others[process.pid, process.create_time()] = process.name(), used.user + used.system
    return Reading(at_s, times.busy, times.steal, own_s, host.swapped_pages(), others)


def limits(demand: Demand) -> list[Finding]:
    """Quota, open files, ports, backlog."""
    range_ = (host.sysctl("net.ipv4.ip_local_port_range") or "").split()
    somaxconn = host.sysctl("net.core.somaxconn")
    return [
        judging.quota(host.cgroup_limits().cpu_quota, ALL_CORES, demand),
        judging.files(host.raise_limits(), demand),
        judging.ports((int(range_[0]), int(range_[1])) if len(range_) == 2 else None, demand),
        judging.backlog(int(somaxconn) if somaxconn else None),
    ]


# --- the generator ---------------------------------------------------------------------------------------------------


class Calibration:
    """k6 against the null server: a second upstream on the service's cores, whose /hello does nothing."""

    def __init__(self, stage: Stage, k6_program: Path, folder: Path, generators: int = 1) -> None:
        self._stage = stage
        self._generators = generators
        self._k6 = k6_program
        self._folder = folder

    def measure(self, demand: Demand, closed_vus: int | None) -> list[Probe]:
        """The first rate, and but for a rehearsal the ladder to the ceiling and one closed probe; of several generators one for each number
        that the scaling check asks for."""
        open_: list[Probe] = []
        with self._stage.null_server(self._folder / "logs") as (server, url):
            if demand.first_rate is not None:
                while (rate := judging.next_rate(demand.first_rate, open_, not demand.rehearsal)) is not None:
                    vus = max(LEAST_VUS, round(rate * VUS_PER_RATE_S))
                    tries = sum(probe.rate == rate for probe in open_)
                    name = f"preflight-{rate}" + (f"-try{tries + 1}" if tries else "")
                    open_.append(self._probe(server, url, rate, vus, name, self._generators))
            if closed_vus is None:
                return open_
            name = f"preflight-closed-{closed_vus}"
            steps = {f"{name}-by-{step}": step for step in plans.scaling_steps(self._generators)} or {name: 1}
            return [*open_, *(self._probe(server, url, None, closed_vus, each, step) for each, step in steps.items())]

    def _probe(self, server: Program, url: str, rate: int | None, vus: int, name: str, generators: int) -> Probe:
        scenario, own = _hello(rate, vus), self._stage.placement.generator
        cores = host.parted(own, generators)
        boot_s = (BOOT_S + vus * BOOT_PER_VU_S) * on_one_core(cores)
        timing = Timing(boot_s=boot_s, spread_s=0.0, settle_s=SETTLE_S, window_s=WINDOW_S, drain_s=0.0)
        summary = self._folder / "k6" / f"{name}.json"
        data, opens_s = k6.cell(scenario, timing, 1, url, 0, time.time(), summary, together=generators > 1)
        sending = Generators(self._k6, self._stage.workshop.root, data, cores, self._folder / "logs" / f"k6-{name}.log")
        try:
            gauges, server_gauge = [each.gauge() for each in sending.processes], server.gauge()
            sleep_until(opens_s)
            first = time.time(), sum(gauge.cpu_s() for gauge in gauges), server_gauge.cpu_s()
            sleep_until(opens_s + WINDOW_S)
            last = time.time(), sum(gauge.cpu_s() for gauge in gauges), server_gauge.cpu_s()
            code = sending.wait(20)
        finally:
            sending.end(2)
        scale = WINDOW_S / max(last[0] - first[0], 1e-6)
        generator_s, server_s = (last[1] - first[1]) * scale, (last[2] - first[2]) * scale
        load = sending.load()
        if load is None:
            return Probe(rate=rate, vus=vus, window_s=WINDOW_S, exit_code=code or -1, generators=generators)
        return Probe(
            rate=rate,
            vus=vus,
            window_s=WINDOW_S,
            exit_code=code,
            started=load.started,
            answered=load.requests,
            dropped=load.dropped,
            failures=load.failures_all,
            lag_p99_ms=load.lag.p99,
            generator_us=round(generator_s / load.requests * 1e6, 2) if load.requests else None,
            generator_busy=round(generator_s / (WINDOW_S * len(own)), 4),
            server_busy=round(server_s / (WINDOW_S * len(self._stage.placement.service)), 4),
            summary=f"k6/{name}.json",
            generators=generators,
        )


def _hello(rate: int | None, vus: int) -> Scenario:
    """Arrivals at a rate, or so many users."""
    why = "The null server answers at once: what is measured is the generator."
    if rate is None:
        return ClosedUsers(shape="users", id="preflight", why=why, path="/hello", body="hello", vus=vus, headline="throughput")
    return OpenRate(shape="rate", id="preflight", why=why, path="/hello", body="hello", rate=rate, vus=vus, headline="throughput")
