"""What becomes of a pod, as the cluster tells it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

HOPELESS = frozenset(
    {"ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName", "CreateContainerConfigError", "CreateContainerError"}
)
"""Reasons for which a container waits in vain."""


@dataclass(frozen=True)
class Ended:
    """How a pod ended: the exit code of its container, -1 where it has none; and why in a sentence, where the cluster says so."""

    code: int
    why: str | None


def ended(pod: Mapping[str, Any] | None, name: str) -> Ended | None:
    """None: it has not. `pod`: None where it is not there any more."""
    if pod is None:
        return Ended(-1, f"the pod {name} was removed while it ran")
    status = pod["status"]
    told = status.get("message") or ""
    own = list(status.get("containerStatuses", []))
    for each in own:
        over = each.get("state", {}).get("terminated")
        if over is not None:
            why = f"{over.get('reason')}" if over.get("reason") not in ("Completed", "Error", None) else None
            evicted = f"{status.get('reason')}: {told}" if status.get("reason") else None
            return Ended(int(over["exitCode"]), evicted or why)
    if status.get("phase") in ("Failed", "Succeeded"):
        return Ended(-1, f"the pod {name} was ended ({status.get('reason') or 'without a reason'}): {told}".rstrip(": "))
    return None


def in_vain(pod: Mapping[str, Any]) -> str | None:
    """Why it will not start, in a sentence; None while it may."""
    status = pod["status"]
    for each in [*status.get("initContainerStatuses", []), *status.get("containerStatuses", [])]:
        waits = each.get("state", {}).get("waiting") or {}
        if waits.get("reason") in HOPELESS:
            return f"its container cannot be started ({waits['reason']}): {waits.get('message', '')}".rstrip(": ")
    for each in status.get("conditions", []):
        if each["type"] == "PodScheduled" and each.get("reason") == "Unschedulable":
            return f"no node takes it: {each.get('message', '')}"
    return None


def is_ready(pod: Mapping[str, Any]) -> bool:
    return any(each["type"] == "Ready" and each["status"] == "True" for each in pod["status"].get("conditions", []))


def is_running(pod: Mapping[str, Any]) -> bool:
    """Its container, not the reader alone."""
    return any("running" in each.get("state", {}) for each in pod["status"].get("containerStatuses", []))


def ready_s(pod: Mapping[str, Any]) -> float:
    """From the start of its container until it was ready, by the node's clock, which tells seconds."""
    began = started_at(pod)
    ready = next((each["lastTransitionTime"] for each in pod["status"].get("conditions", []) if each["type"] == "Ready"), None)
    return 0.0 if began is None or ready is None else (datetime.fromisoformat(ready) - datetime.fromisoformat(began)).total_seconds()


def started_at(pod: Mapping[str, Any]) -> str | None:
    """When its container was started, to the second."""
    states = [each.get("state", {}) for each in pod["status"].get("containerStatuses", [])]
    return next((str(each["running"]["startedAt"]) for each in states if "running" in each), None)
