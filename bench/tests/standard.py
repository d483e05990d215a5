"""A standard run whose every figure is planted: cost rows, behaviour rows, a twin and starts. The digest must find what is put in here."""

from __future__ import annotations

import random
from typing import Any

from nsb.records.judged import Cell, Latency, Slope
from nsb.records.starts import Start

ROUNDS = 6
NAMES = ["java-vt", "java-pt", "java-webflux", "go", "rust", "python", "node"]
TWIN = "go-twin"
COST: dict[str, list[float]] = {
    "cost-hello": [31.0, 29.5, 40.0, 14.0, 9.1, 62.0, 30.0],
    "cost-read": [72.0, 71.5, 85.0, 33.0, 21.0, 210.0, 95.0],
    "cost-write": [80.0, 79.0, 96.0, 38.0, 25.0, 230.0, 110.0],
    "cost-fanout": [210.0, 190.0, 260.0, 95.0, 60.0, 800.0, 300.0],
    "cost-compute": [60.0, 59.0, 70.0, 45.0, 40.0, 2900.0, 62.0],
    "cost-wait-query": [90.0, 99.0, 100.0, 45.0, 30.0, 260.0, 120.0],
}
"""µs, in the order of NAMES."""
MEMORY = [116.0, 219.0, 14.5, 27.0, 12.0, 24.0, 18.9]
"""KiB for each waiting request."""
P99 = [3.0, 3.0, 97.0, 3.0, 98.0, 99.0, 98.0]
"""ms of the light requests while every 300th one blocks for 100 ms."""
READY = [2.7, 2.7, 2.4, 0.05, 0.03, 0.55, 0.4]
OTHERS = {
    "sleep-max": ("throughput", "closed", 1000, 600), "slow-query-max": ("throughput", "closed", 200, 300),
    "interference": ("p99", "open", 0, 300), "in-flight-memory": ("memory", "closed", 750, 600),
}  # fmt: skip
SCENARIOS = [*COST, *OTHERS]


def run(rounds: int = ROUNDS, scenarios: list[str] | None = None) -> dict[str, Any]:
    kept = scenarios or SCENARIOS
    of = {name: OTHERS.get(name, ("cpu", "closed", 0, 64)) for name in kept}
    return {
        "schema": 1, "started_at": "2026-01-02T03:04:05+00:00", "runner": "native", "left_out": {},
        "host": {"name": "m", "cpu": "A processor", "cores": 2, "memory_gib": 4.0, "system": "Linux", "kernel": "6",
                 "commit": "0123456789abcdef", "changed": False},
        "database": {"kind": "mariadb", "version": "11", "private": True}, "k6": "k6 v2",
        "plan": {
            "tier": "standard", "profile": "1cpu", "workers": 1, "rounds": rounds, "seed": 7, "contenders": [*NAMES, TWIN],
            "reference": "go", "controls": {TWIN: {"kind": "twin", "of": "go"}}, "scenarios": kept,
            "headlines": {name: each[0] for name, each in of.items()}, "models": {name: each[1] for name, each in of.items()},
            "holds_ms": {name: each[2] for name, each in of.items()}, "vus": {name: each[3] for name, each in of.items()},
            "rates": {name: 600 if each[1] == "open" else None for name, each in of.items()}, "windows_s": dict.fromkeys(kept, 2.5),
        },
        "runtimes": {
            name: {"runtime": name, "runtime_version": "1", "workers": 1, "pool_size": 150,
                   "settings": {"server_threads": 200 if name == "java-pt" else None}}
            for name in [*NAMES, TWIN]
        },
    }  # fmt: skip


def _of(values: list[float], name: str) -> float:
    return values[NAMES.index(name.removesuffix("-twin"))]


def cell(scenario: str, name: str, round_: int, shake: float) -> Cell:
    """`shake` is this cell's own noise, near 1."""
    data: dict[str, Any] = {
        "round": round_, "contender": name, "scenario": scenario, "profile": "1cpu", "status": "valid", "window_s": 2.5, "requests": 5000,
        "started_at": "", "model": "closed", "memory_peak_mib": 40.0 + len(name) + shake, "threads_peak": 8 + len(name),
    }  # fmt: skip
    if scenario in COST:
        cost = _of(COST[scenario], name) * shake
        return Cell(**data, limit="cpu", cpu_us_per_request={"service": cost}, throughput_rps=1e6 / cost)
    if scenario == "sleep-max":
        capped = name == "java-pt"
        rate = 200.0 if capped else 599.5 * (1 + (shake - 1) / 50)
        return Cell(**data, limit="threads" if capped else "offered", throughput_rps=rate)
    if scenario == "slow-query-max":
        return Cell(**data, limit="pool", throughput_rps=749.5 * (1 + (shake - 1) / 50))
    if scenario == "interference":
        p99 = _of(P99, name) + 20 * (shake - 1)
        data |= {"model": "open", "rate": 600, "cpu_us_per_request": {"service": 90.0 * shake}}
        return Cell(**data, limit="offered", throughput_rps=600.0, latency_ms=Latency(p50=1.5, p90=2.0, p99=p99, max=p99 + 2))
    kib = _of(MEMORY, name) * shake
    return Cell(**data, limit="offered", memory_slope=Slope(kib=kib, first_kib=kib, last_kib=kib))


def cells(rounds: int = ROUNDS, scenarios: list[str] | None = None, noise: float = 0.01) -> list[Cell]:
    draw = random.Random(3)
    return [
        cell(scenario, name, round_, 1 + draw.uniform(-noise, noise))
        for round_ in range(1, rounds + 1) for scenario in scenarios or SCENARIOS for name in [*NAMES, TWIN]
    ]  # fmt: skip


def starts(rounds: int = ROUNDS) -> list[Start]:
    draw = random.Random(4)
    return [
        Start(
            round=round_, contender=name, started_at="", ready_s=_of(READY, name) * draw.uniform(0.98, 1.02), pool_s=_of(READY, name) + 1,
            cpu_s=0.5, pss_mib=20.0,
        )
        for round_ in range(1, rounds + 1) for name in [*NAMES, TWIN]
    ]  # fmt: skip
