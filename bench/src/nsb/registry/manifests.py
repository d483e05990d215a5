"""The folders of deploy/kubernetes/contenders, made from contenders.toml: what one contender has beside what all have. Pure.

The rest of deploy/kubernetes is written by hand. JSON is YAML, so values are written as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from nsb.registry.contenders import Contender
from nsb.registry.load import Registry

FOLDER = "deploy/kubernetes/contenders"
MADE = "# Made from bench/contenders.toml by `just manifests`; a test compares."
HEAD = f"{MADE}\napiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
WORKERS = "$(WORKERS)"
"""Filled in by Kubernetes from the settings of all contenders."""
CONTAINER = "/spec/template/spec/containers/0"


def texts(registry: Registry) -> dict[str, str]:
    """Path below FOLDER → its text, of the default contenders: those that compose.yaml has in the profile `all`."""
    there = [contender for contender in registry.contenders.values() if contender.default]
    listed = f"{HEAD}resources:\n" + "".join(f"  - {contender.id}\n" for contender in there)
    return {
        "kustomization.yaml": listed,
        **{f"{contender.id}/kustomization.yaml": _text(contender, image(registry, contender)) for contender in there},
    }


def image(registry: Registry, contender: Contender) -> str:
    """As compose.yaml names it: by the service's folder."""
    return f"nsb-{PurePosixPath(registry.services[contender.service].folder).name}"


def arguments(contender: Contender) -> list[str]:
    """What a JVM is started with (C66); all other images start their program by themselves."""
    if not contender.has_heap:
        return []
    heap = f"{contender.heap_mib // 1024}g" if contender.heap_mib % 1024 == 0 else f"{contender.heap_mib}m"
    return [_in_image(part.replace("{heap}", heap).replace("{workers}", WORKERS)) for part in contender.run[1:]]


def _in_image(part: str) -> str:
    """A file of the service's folder is in /app."""
    return f"/app/{PurePosixPath(part).name}" if part.startswith("{folder}") else part


def _text(contender: Contender, image: str) -> str:
    patches: list[dict[str, Any]] = (
        [{"op": "add", "path": f"{CONTAINER}/args", "value": arguments(contender)}] if contender.has_heap else []
    )
    patches += [
        {"op": "add", "path": f"{CONTAINER}/env/-", "value": {"name": name, "value": value}}
        for name, value in contender.environment.items()
    ]
    return (
        f"{HEAD}resources: [../../contender]\n"
        f"images: [{_json({'name': 'contender', 'newName': image})}]\n"
        f"labels: [{_json({'pairs': {'app.kubernetes.io/name': contender.id}, 'includeSelectors': True})}]\n"
        "patches:\n"
        "  - target: { name: contender }\n"
        "    options: { allowNameChange: true }\n"
        "    patch: |-\n"
        f"      - {_json({'op': 'replace', 'path': '/metadata/name', 'value': contender.id})}\n"
        + ("  - target: { kind: Deployment }\n    patch: |-\n" if patches else "")
        + "".join(f"      - {_json(patch)}\n" for patch in patches)
    )


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value)
