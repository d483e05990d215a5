"""Settings (C50): read once from the environment into one frozen value."""

import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

WHOLE_NUMBER = re.compile(r"0|[1-9][0-9]{0,15}", re.ASCII)


class SettingError(Exception):
    """A wrong setting (C42); the message is the sentence for stderr."""


@dataclass(frozen=True)
class DatabaseAddress:
    host: str
    port: int
    user: str
    password: str = field(repr=False)
    name: str


@dataclass(frozen=True)
class Settings:
    host: str
    port: int
    database: DatabaseAddress
    db_pool_size: int
    db_acquire_timeout_ms: int
    upstream_url: str
    upstream_timeout_ms: int
    workers: int
    server_threads: int  # checked as everywhere, used by services with a pool of platform threads
    loop: str  # our own: uvloop or asyncio

    def pool_share(self, worker: int) -> int:
        """Connections of one worker: the total divided, the remainder to the first ones."""
        share, remainder = divmod(self.db_pool_size, self.workers)
        return share + (worker < remainder)


def read(environment: Mapping[str, str]) -> Settings:
    """All settings, or SettingError for the first wrong one."""

    def text(name: str, default: str) -> str:
        return environment.get(name) or default  # an empty variable counts as not set

    def whole(name: str, default: int, low: int, high: int) -> int:
        value = text(name, str(default))
        if not WHOLE_NUMBER.fullmatch(value) or not low <= int(value) <= high:
            raise SettingError(f'{name}="{value}" is not a whole number from {low} to {high}')
        return int(value)

    host = text("HOST", "127.0.0.1")
    port = whole("PORT", 8080, 1, 65535)
    database = _database(text("DATABASE_URL", ""))
    workers = whole("WORKERS", _granted_cpus(), 1, 1024)
    loop = text("LOOP", "uvloop")
    if loop not in ("uvloop", "asyncio"):
        raise SettingError(f'LOOP="{loop}" is not uvloop or asyncio')
    return Settings(
        host=host,
        port=port,
        database=database,
        db_pool_size=whole("DB_POOL_SIZE", 150, workers, 10000),
        db_acquire_timeout_ms=whole("DB_ACQUIRE_TIMEOUT_MS", 60000, 1, 3600000),
        upstream_url=_upstream(text("UPSTREAM_URL", "http://127.0.0.1:9000")),
        upstream_timeout_ms=whole("UPSTREAM_TIMEOUT_MS", 70000, 1, 3600000),
        workers=workers,
        server_threads=whole("SERVER_THREADS", 200, 1, 100000),
        loop=loop,
    )


def _database(url: str) -> DatabaseAddress:
    try:
        parts = urlsplit(url)
        port = 3306 if parts.port is None else parts.port
        name = unquote(parts.path.removeprefix("/"), errors="strict")
        user = unquote(parts.username or "", errors="strict")
        password = unquote(parts.password or "", errors="strict")
    except ValueError:
        parts, port = urlsplit(""), 0
    if not (parts.scheme == "mysql" and parts.hostname and user and name and port) or parts.query or parts.fragment:
        shown = re.sub("//.*@", "//***@", url) if "@" in url else "***" if url else ""  # never the password
        raise SettingError(f'DATABASE_URL="{shown}" is not mysql://user:password@host:port/database')
    return DatabaseAddress(host=parts.hostname, port=port, user=user, password=password, name=name)


def _upstream(url: str) -> str:
    try:
        parts = urlsplit(url)
        right = parts.scheme == "http" and bool(parts.hostname and parts.port) and url == f"http://{parts.netloc}"
    except ValueError:
        right = False
    if not right or "@" in url:
        shown = re.sub("//.*@", "//***@", url)
        raise SettingError(f'UPSTREAM_URL="{shown}" is not http://host:port')
    return url


def _granted_cpus() -> int:
    """CPUs this process may use: its affinity, and the quota of its control groups (cgroup v2), rounded up."""
    granted = len(os.sched_getaffinity(0))
    membership = Path("/proc/self/cgroup")
    for line in membership.read_text().splitlines() if membership.exists() else []:
        if line.startswith("0::"):
            group = Path("/sys/fs/cgroup") / line.removeprefix("0::/")
            for folder in (group, *group.parents):
                quota = (folder / "cpu.max").read_text().split() if (folder / "cpu.max").exists() else ["max"]
                if quota[0] != "max":
                    granted = min(granted, math.ceil(int(quota[0]) / int(quota[1])))
    return max(granted, 1)
