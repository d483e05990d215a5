"""A run whose every figure is planted: what reports make of it can be told beforehand."""

from __future__ import annotations

from typing import Any

from nsb.records.cells import Reading
from nsb.records.judged import Cell, Half, Latency, Slope
from nsb.records.starts import Start, Visit

ROUNDS = 6
NAMES = ["slow", "quick", "odd"]
SCENARIOS: dict[str, tuple[str, str, int]] = {
    "cost": ("cpu", "open", 0), "most": ("throughput", "closed", 0), "wait": ("p50", "open", 100), "flight": ("memory", "closed", 750),
}  # fmt: skip
COST = {"slow": 400.0, "quick": 50.0, "odd": 120.0}


def plan(rounds: int = ROUNDS, scenarios: list[str] | None = None) -> dict[str, Any]:
    kept = {name: SCENARIOS[name] for name in scenarios or SCENARIOS}
    return {
        "started_at": "2026-01-02T03:04:05+00:00",
        "host": {"cpu": "A processor", "cores": 2, "commit": "0123456789abcdef", "changed": False},
        "plan": {
            "tier": "standard", "profile": "1cpu", "rounds": rounds, "contenders": NAMES, "scenarios": list(kept),
            "headlines": {name: which for name, (which, _, _) in kept.items()},
            "models": {name: model for name, (_, model, _) in kept.items()},
            "holds_ms": {name: hold for name, (_, _, hold) in kept.items()},
        },
    }  # fmt: skip


def cell(scenario: str, contender: str, round_: int, **more: Any) -> Cell:
    _, model, hold = SCENARIOS[scenario]
    shake = 1 + (round_ - 3.5) / 50
    cpu, wait = COST[contender] * shake, hold + NAMES.index(contender) + 2 + shake
    data: dict[str, Any] = {
        "round": round_, "contender": contender, "scenario": scenario, "profile": "1cpu", "model": model, "status": "valid",
        "window_s": 2.0, "requests": 2000, "throughput_rps": 9000 * shake - COST[contender], "limit": "cpu",
        "latency_ms": Latency(p50=wait, p90=wait * 1.1, p99=wait * 1.5, max=wait * 2),
        "cpu_us_per_request": {"service": cpu, "generator": 40.0, "database": 10.0, "upstream": 0.0},
        "halves": [Half(requests=1000, p50_ms=wait + side, service_cpu_s=cpu / 1000 * (1 + side / 10)) for side in (-0.5, 0.5)],
    }  # fmt: skip
    if scenario == "flight":
        step = {"slow": 0.2, "quick": 0.01, "odd": 0.05}[contender]
        data["ladder"] = [Reading(users=n, in_flight=n, pss_mib=30 + shake + n * step) for n in (50, 100, 600) for _ in range(2)]
        data["memory_slope"] = Slope(kib=step * 1024 * shake, first_kib=step * 1024, last_kib=step * 1024)
    return Cell(**{**data, **more})


def cells(rounds: int = ROUNDS, **changed: dict[str, Any]) -> list[Cell]:
    """Every cell of the plan; `changed` is what one contender's cells have instead."""
    every = ((s, c, r) for r in range(1, rounds + 1) for s in SCENARIOS for c in NAMES)
    return [cell(s, c, r, **changed.get(f"{s}_{c}", {})) for s, c, r in every]


def starts(rounds: int = ROUNDS) -> list[Start]:
    def visits(cost: float) -> list[Visit]:
        return [
            Visit(began_s=2.0 + 3 * n, ended_s=5.0 + 3 * n, scenario=None, connections=8, answers=100, cost_us=cost * (1 + 4 / (n + 1)))
            for n in range(6)
        ]

    return [
        Start(
            round=r, contender=c, started_at="2026-01-02T03:04:05+00:00", ready_s=COST[c] / 100 + r / 50, pool_s=COST[c] / 90, cpu_s=1.0,
            pss_mib=COST[c] + r, visits=visits(COST[c] * (1 + r / 30)),
        )
        for r in range(1, rounds + 1) for c in NAMES
    ]  # fmt: skip
