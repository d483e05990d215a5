"""Settings (C50): read once from the environment into one frozen value."""

import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

WHOLE_NUMBER = re.compile(r"0|[1-9][0-9]{0,15}", re.ASCII)


class SettingError(Exception):
    """A wrong setting (C42); the message is the sentence for stderr."""


@dataclass(frozen=True)
class Settings:
    host: str
    port: int
    database: Mapping[str, Any] = field(repr=False)  # as the driver takes it
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

    def text(name: str, default: str, pattern: str, meaning: str) -> str:
        value = environment.get(name) or default  # an empty variable counts as not set
        if not re.fullmatch(pattern, value):
            raise SettingError(f'{name}="{value}" is not {meaning}')
        return value

    def whole(name: str, default: int, low: int, high: int) -> int:
        value = environment.get(name) or str(default)
        if not WHOLE_NUMBER.fullmatch(value) or not low <= int(value) <= high:
            raise SettingError(f'{name}="{value}" is not a whole number from {low} to {high}')
        return int(value)

    workers = whole("WORKERS", _granted_cpus(), 1, 1024)
    return Settings(
        host=environment.get("HOST") or "127.0.0.1",
        port=whole("PORT", 8080, 1, 65535),
        database=_database(environment.get("DATABASE_URL", "")),
        db_pool_size=whole("DB_POOL_SIZE", 150, workers, 10000),
        db_acquire_timeout_ms=whole("DB_ACQUIRE_TIMEOUT_MS", 60000, 1, 3600000),
        upstream_url=text(
            "UPSTREAM_URL", "http://127.0.0.1:9000", r"http://[^/?#@\s]+:[1-9]\d{0,4}", "http://host:port"
        ),
        upstream_timeout_ms=whole("UPSTREAM_TIMEOUT_MS", 70000, 1, 3600000),
        workers=workers,
        server_threads=whole("SERVER_THREADS", 200, 1, 100000),
        loop=text("LOOP", "uvloop", "uvloop|asyncio", "uvloop or asyncio"),
    )


def _database(url: str) -> Mapping[str, Any]:
    try:
        parts = urlsplit(url)
        user, password, name = (unquote(each or "") for each in (parts.username, parts.password, parts.path[1:]))
        found = {"host": parts.hostname, "port": parts.port or 3306, "user": user, "database": name}
    except ValueError:
        found = {"host": None}
    if not all(found.values()) or parts.scheme != "mysql":
        raise SettingError("DATABASE_URL is not mysql://user:password@host:port/database")  # its value has a password
    return {**found, "password": password.encode()}  # asyncmy would encode a str as Latin-1


def _granted_cpus() -> int:
    """CPUs this process may use: its affinity, and the quota of its container (cgroup v2), rounded up."""
    granted = len(os.sched_getaffinity(0))
    limit = Path("/sys/fs/cgroup/cpu.max")
    quota, period = limit.read_text().split() if limit.exists() else ("max", "")
    return granted if quota == "max" else max(1, min(granted, math.ceil(int(quota) / int(period))))
