"""What a Docker engine must offer, and how the resolved compose file becomes the one that is measured. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nsb.registry.services import numbers

DATABASE, UPSTREAM = "mysql", "upstream"
"""Services of compose.yaml that every contender stands on."""
LEAST_ENGINE, LEAST_COMPOSE = "20.10", "2.24"
"""The engine of Debian 12, and the compose of Ubuntu 24.04; older ones were not tried."""
NATIVE_WORKS = "native still works: --runner native"
CONTRACT = frozenset({"HOST", "PORT", "DATABASE_URL", "DB_POOL_SIZE", "UPSTREAM_URL", "WORKERS"})
"""Settings (C50) that the harness gives to every start."""
INIT_FOLDER = "/docker-entrypoint-initdb.d"
"""Where MySQL's image looks for rows; the harness makes them itself, on every kind of server."""
ACCOUNTS = frozenset({"MYSQL_DATABASE", "MYSQL_USER", "MYSQL_PASSWORD", "MYSQL_RANDOM_ROOT_PASSWORD", "MYSQL_ALLOW_EMPTY_PASSWORD"})
"""What MySQL's image would make; the harness makes schema and accounts itself."""

REPLACED = ("image", "pull_policy", "network_mode", "cpuset", "ulimits", "logging", "healthcheck", "mem_limit", "memswap_limit")
DROPPED = (
    *("build", "profiles", "container_name"),  # images are named by their ids, containers by the start
    *("cpu_count", "cpu_percent", "cpu_period", "cpu_quota", "cpu_shares", "cpus"),  # whole cores, no share of time: cpuset
    *("deploy", "mem_reservation", "mem_swappiness"),  # one memory limit, equal for all
    *("expose", "ports", "networks", "links", "extra_hosts", "hostname"),  # the host's network
    *("depends_on", "restart"),  # the harness waits by itself, and what ends is a fault and is told
)
"""Keys of a service that are not measured with. All others stay: user, command, environment, read_only, tmpfs, cap_drop …"""


@dataclass(frozen=True)
class Engine:
    """What docker and compose say of themselves."""

    version: str
    compose: str
    system: str
    """The engine's operating system: linux, windows."""
    product: str
    """Its name of the distribution: Docker Desktop says so here."""
    kernel: str
    cgroup: str
    """1 or 2."""
    rootless: bool

    def as_facts(self) -> dict[str, str]:
        return {"engine": self.version, "compose": self.compose, "cgroup": f"v{self.cgroup}"}


def unfit(engine: Engine, kernel: str) -> str | None:
    """Why containers of this engine cannot be measured on a machine with this kernel, and what to do; None where they can."""
    why = None
    if numbers(engine.version) < numbers(LEAST_ENGINE):
        why = f"the Docker engine is {engine.version}: install {LEAST_ENGINE} or newer"
    elif numbers(engine.compose) < numbers(LEAST_COMPOSE):
        why = f"docker compose is {engine.compose}: install {LEAST_COMPOSE} or newer"
    elif engine.system != "linux":
        why = f"the Docker engine runs {engine.system} containers: switch it to Linux containers"
    elif engine.kernel != kernel or "Docker Desktop" in engine.product:
        why = (
            f"the Docker engine ({engine.product}, kernel {engine.kernel}) does not run on this machine's kernel ({kernel}), so its "
            "containers have another network and other cores: use an engine of this machine (docker context use default, DOCKER_HOST unset)"
        )
    elif engine.rootless:
        why = "the Docker engine is rootless, so the host's network is not that of its containers: use an engine with root"
    elif engine.cgroup not in ("1", "2"):
        why = f"the Docker engine does not say which control groups it uses ({engine.cgroup!r}): CPU and memory cannot be counted"
    return None if why is None else f"{why}; {NATIVE_WORKS}"


@dataclass(frozen=True)
class Conditions:
    """What the measured services are given, beside what compose.yaml says of each."""

    cores: Sequence[int]
    """All that the run may use: containers are pinned once they are warm, as processes are."""
    nofile: int
    memory_mib: int
    """Of each contender."""
    images: Mapping[str, str]
    """Name of an image → its id."""
    database: Sequence[str]
    """The arguments of the database server."""


def images(config: Mapping[str, Any], services: Sequence[str]) -> list[str]:
    """The images of these services, each once."""
    return list(dict.fromkeys(str(config["services"][name]["image"]) for name in services))


def builder_of(config: Mapping[str, Any], image: str) -> str | None:
    """The service that builds an image; None where nobody does: it is fetched."""
    return next((name for name, each in config["services"].items() if each.get("image") == image and each.get("build")), None)


def memory_mib(config: Mapping[str, Any], contenders: Mapping[str, int]) -> int:
    """One limit for all contenders (id → what is set aside for it, MiB): the largest of compose.yaml's and of what is set aside."""
    limits = [_bytes(config["services"][name]) // 2**20 for name in contenders]
    return max([*limits, *contenders.values()])


def _bytes(service: Mapping[str, Any]) -> int:
    limits = service.get("deploy", {}).get("resources", {}).get("limits", {})
    return int(service.get("mem_limit") or limits.get("memory") or 0)


def measured(config: Mapping[str, Any], contenders: Sequence[str], given: Conditions) -> dict[str, Any]:
    """The resolved compose file with these contenders, database and upstream, as it is measured.

    No bridge, proxy or NAT lies between the generator and a service (the host's network); cores come whole; memory limits are equal;
    nothing has a name, a network or a volume that another run or a user's own `docker compose up` could share.
    """
    names = [*contenders, DATABASE, UPSTREAM]
    return {"services": {name: _measured(name, config["services"][name], given, name in contenders) for name in names}}


def _measured(name: str, service: Mapping[str, Any], given: Conditions, contender: bool) -> dict[str, Any]:
    kept = {key: value for key, value in service.items() if key not in DROPPED and key not in REPLACED}
    kept |= {
        "image": given.images[service["image"]],
        "pull_policy": "never",
        "network_mode": "host",
        "cpuset": ",".join(str(core) for core in given.cores),
        "ulimits": {"nofile": {"soft": given.nofile, "hard": given.nofile}},
        "logging": {"driver": "json-file"},
        "healthcheck": {"disable": True},  # the image's own too: a probe every few seconds is load, and the harness asks by itself
        "environment": {key: value for key, value in (service.get("environment") or {}).items() if key not in CONTRACT},
        "volumes": [_own(volume) for volume in service.get("volumes") or [] if not str(volume["target"]).startswith(INIT_FOLDER)],
    }
    if contender:  # memory that was swapped out is not measured: swap is no part of the limit
        kept |= {"mem_limit": str(given.memory_mib * 2**20), "memswap_limit": str(given.memory_mib * 2**20)}
    if name == DATABASE:
        # The password comes with the start and stands in no file.
        own = {key: value for key, value in kept["environment"].items() if key not in ACCOUNTS}
        kept |= {"command": list(given.database), "environment": {**own, "MYSQL_ROOT_PASSWORD": None, "MYSQL_ROOT_HOST": "127.0.0.1"}}
    return kept


def _own(volume: Mapping[str, Any]) -> dict[str, Any]:
    """A named volume would be kept and shared: one without a name goes with its container."""
    return {key: value for key, value in volume.items() if not (volume["type"] == "volume" and key == "source")}


def declared(service: Mapping[str, Any], own: Mapping[str, str]) -> dict[str, str]:
    """Variables that compose.yaml gives to a contender beside the contract's settings and those that contenders.toml declares for it: they
    are part of how it is run, as the flags of its native command are."""
    environment: Mapping[str, str | None] = service.get("environment") or {}
    return {name: value for name, value in environment.items() if value is not None and name not in CONTRACT and name not in own}


def without_service(config: Mapping[str, Any], original: str) -> str | None:
    """Why a contender (for a twin: its original) has no container; None where it has one."""
    if original in config["services"]:
        return None
    return f"compose.yaml has no service {original}; {NATIVE_WORKS}"
