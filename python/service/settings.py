"""Settings (C50): read once from the environment into one frozen value."""

import math
import os
import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, ValidationInfo

WHOLE_NUMBER = re.compile(r"0|[1-9][0-9]{0,15}")


def whole(low: int, high: int, text: str) -> int:
    """Reads a whole number (C22); ValueError says what the text should be."""
    if WHOLE_NUMBER.fullmatch(text) and low <= (number := int(text)) <= high:
        return number
    raise ValueError(f"a whole number from {low} to {high}")


def word(pattern: str, meaning: str, text: str) -> str:
    """Reads a text with a pattern; ValueError says what it should be."""
    if re.fullmatch(pattern, text):
        return text
    raise ValueError(meaning)


def _address(url: str) -> dict[str, Any]:
    """As the driver takes it."""
    parts = urlsplit(url)
    user, password, name = (unquote(each or "") for each in (parts.username, parts.password, parts.path[1:]))
    address = {"host": parts.hostname, "port": parts.port or 3306, "user": user, "database": name}
    if parts.scheme != "mysql" or not all(address.values()):
        raise ValueError
    return {**address, "password": password.encode()}  # asyncmy would encode a str as Latin-1


def _pool_size(size: object, others: ValidationInfo) -> int:
    return whole(others.data.get("workers", 1), 10000, str(size))


def _granted_cpus() -> int:
    """CPUs this process may use: its affinity, and the quota of its container (cgroup v2), rounded up."""
    granted = len(os.sched_getaffinity(0))
    limit = Path("/sys/fs/cgroup/cpu.max")
    quota, period = limit.read_text().split() if limit.exists() else ("max", "")
    return granted if quota == "max" else max(1, min(granted, math.ceil(int(quota) / int(period))))


HTTP = partial(word, r"http://[^/?#@\s]+:[1-9][0-9]{0,4}", "http://host:port")
Milliseconds = Annotated[int, BeforeValidator(partial(whole, 1, 3600000))]


class Settings(BaseModel, frozen=True, alias_generator=str.upper):
    host: str = "127.0.0.1"
    port: Annotated[int, BeforeValidator(partial(whole, 1, 65535))] = 8080
    database_url: Annotated[dict[str, Any], BeforeValidator(_address)] = Field("", validate_default=True, repr=False)
    workers: Annotated[int, BeforeValidator(partial(whole, 1, 1024))] = Field(default_factory=_granted_cpus)
    db_pool_size: Annotated[int, BeforeValidator(_pool_size)] = Field(150, validate_default=True)
    db_acquire_timeout_ms: Milliseconds = 60000
    upstream_url: Annotated[str, BeforeValidator(HTTP)] = "http://127.0.0.1:9000"
    upstream_timeout_ms: Milliseconds = 70000
    server_threads: Annotated[int, BeforeValidator(partial(whole, 1, 100000))] = 200  # checked, used by nothing here
    loop: Annotated[str, BeforeValidator(partial(word, "uvloop|asyncio", "uvloop or asyncio"))] = "uvloop"
    gc: Annotated[str, BeforeValidator(partial(word, "default|frozen", "default or frozen"))] = "default"


def read(environment: Mapping[str, str]) -> Settings:
    """All settings, or ValueError with the sentence of C42. An empty variable counts as not set."""
    try:
        return Settings.model_validate({name: value for name, value in environment.items() if value})
    except ValidationError as error:
        wrong = error.errors()[0]
    name, value, meaning = str(wrong["loc"][0]).upper(), wrong["input"], wrong["ctx"]["error"]
    if name == "DATABASE_URL":  # of this one the value may have a password
        raise ValueError("DATABASE_URL is not mysql://user:password@host:port/database")
    raise ValueError(f'{name}="{value}" is not {meaning}')
