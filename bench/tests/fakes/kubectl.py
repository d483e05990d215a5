"""A kubectl that answers from a file, FAKE_CLUSTER. What it was asked and what it made it notes beside it. What is not in the file it does
not know."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

FILE = Path(os.environ["FAKE_CLUSTER"])


def answer(asked: list[str], cluster: dict[str, Any]) -> str:
    verb = asked[0]
    if cluster.get("silent"):
        time.sleep(60)
    if cluster.get("away") and verb != "kustomize":
        sys.exit("The connection to the server 10.0.0.1:6443 was refused - did you specify the right host or port?")
    if verb == "version":
        return json.dumps({"clientVersion": {"gitVersion": "v1.34.4"}, "serverVersion": cluster["version"]})
    if verb == "config":
        return "lab\n"
    if verb == "auth":
        part = next((f"/{each.removeprefix('--subresource=')}" for each in asked if each.startswith("--subresource=")), "")
        denied = f"{asked[2]} {asked[3]}{part}" in cluster["denied"]
        print("no" if denied else "yes")
        sys.exit(1 if denied else 0)
    if verb == "kustomize":
        return "documents"
    if verb == "create" and "--dry-run=client" in asked:
        return "\n".join(json.dumps(each) for each in cluster["overlay"])
    if verb == "create":
        made = json.load(sys.stdin)["items"]
        with FILE.with_suffix(".made").open("a", encoding="utf-8") as notes:
            notes.writelines(json.dumps(each) + "\n" for each in made)
        return "\n".join(json.dumps({**each, "metadata": {**each["metadata"], "uid": "u-1"}}) for each in made)
    if asked[:2] == ["get", "namespace"] and asked[2] not in cluster["namespaces"]:
        sys.exit(f'Error from server (NotFound): namespaces "{asked[2]}" not found')
    if asked[:2] == ["get", "nodes"]:
        return json.dumps({"items": cluster["nodes"]})
    if asked[:2] == ["get", "pods"]:
        return json.dumps({"items": list(cluster["pods"].values())})
    if asked[:2] == ["get", "pod"]:
        if asked[2] not in cluster["pods"]:
            sys.exit(f'Error from server (NotFound): pods "{asked[2]}" not found')
        return json.dumps(cluster["pods"][asked[2]])
    if verb == "logs":
        container = asked[asked.index("--container") + 1]
        return str(cluster["logs"].get(f"{asked[1]}/{container}", cluster["logs"].get(container, "")))
    return ""


def main() -> None:
    with FILE.with_suffix(".asked").open("a", encoding="utf-8") as notes:
        notes.write(json.dumps(sys.argv[1:]) + "\n")
    asked = sys.argv[3:] if sys.argv[1] == "--context" else sys.argv[1:]
    print(answer(asked, json.loads(FILE.read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()
