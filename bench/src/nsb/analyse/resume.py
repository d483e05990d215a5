"""May an interrupted run go on here? Both sides are facts as run.json has them. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from nsb.registry.plan import Plan
from nsb.registry.terms import Frozen

HOST = ("name", "commit", "changed", "architecture", "cpu", "cores", "affinity", "kernel", "clock_source", "python")
"""What of the host must be the same in every sitting of a run."""
OTHERS = {
    "runner": "runner",
    "profile": "profile",
    "placement": "cores of",
    "k6": "k6",
    "database": "database",
    "tools": "version of",
    "configuration": "configuration of",
    "images": "image of",
}
"""Key of run.json → what its entries are called in a sentence."""
NOT_RECORDED = "not recorded"


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """A sentence for each fact that is known of this sitting and differs from the first one's, with both values.

    A fact that the first sitting did not record differs: nobody knows that it is the same.
    """
    old = dict(_flat(before))
    return [
        f"{name} was {old.get(name, NOT_RECORDED)}, is {value}"
        for name, value in _flat(now)
        if name not in old or old[name] != value
    ]  # fmt: skip


def _flat(run: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    host: Mapping[str, Any] = run.get("host", {})
    yield from ((name, host[name]) for name in HOST if name in host)
    for key, called in OTHERS.items():
        value = run.get("plan", {}).get(key) if key == "profile" else run.get(key)
        if isinstance(value, Mapping):
            yield from ((f"{called} {name}", each) for name, each in value.items())
        elif value is not None:
            yield called, value


def entries(plan: Plan, services: Mapping[str, Frozen]) -> dict[str, str]:
    """Entry of scenarios.toml or contenders.toml that the plan uses → its hash. Services: those of the plan's contenders, by name."""
    used: dict[str, Frozen] = {f"tier {plan.tier_name}": plan.tier}
    used |= {f"scenario {scenario.id}": scenario for scenario in plan.scenarios}
    used |= {f"contender {contender.id}": contender for contender in plan.contenders}
    used |= {f"service {name}": service for name, service in services.items()}
    return {name: digest(entry.model_dump(mode="json", exclude_defaults=True)) for name, entry in used.items()}


def digest(value: object) -> str:
    """Twelve hexadecimal digits of the SHA-256 of a JSON value."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:12]
