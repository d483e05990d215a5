"""What a rule needs and what it returns: the types of the conformance suite, without any effect."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from nsb.registry.contract import ENDPOINTS


class Running(Protocol):
    """A started service."""

    @property
    def base_url(self) -> str:
        """`http://host:port`"""
        ...

    @property
    def pid(self) -> int: ...

    @property
    def stderr_tail(self) -> str: ...

    def stop(self) -> int:
        """SIGTERM (where it still runs), a wait with a deadline, SIGKILL after it; the exit code."""
        ...

    def signal(self, number: int) -> None:
        """Sends a signal to the main process."""
        ...


class LaunchFailed(Exception):
    """The process ended (exit_code) or was not ready in time (None)."""

    def __init__(self, exit_code: int | None, stderr: str) -> None:
        what = "the service was not ready" if exit_code is None else f"the service ended with {exit_code}"
        super().__init__(f"{what}: {stderr.strip()[-500:]}")
        self.exit_code = exit_code
        self.stderr = stderr


class Launch(Protocol):
    """Starts the contender on a fresh port; called from several threads at once.

    `environment` overrides the standard settings. `ready` waits for /readyz, else for /healthz. Raises LaunchFailed.
    """

    def __call__(self, environment: Mapping[str, str], ready: bool = True) -> Running: ...


class Database(Protocol):
    """The part of the database server that the rules use."""

    def user_url(self, name: str) -> str:
        """`mysql://user:password@host:port/database` of the user with this name."""
        ...

    def connections(self, name: str) -> int:
        """How many connections this user holds now."""
        ...

    def reset_books(self) -> None: ...


@dataclass(frozen=True)
class Bed:
    """What the rules need: one contender with its database and upstream."""

    launch: Launch
    database: Database
    upstream_url: str
    contender: str  # also the name of the database user
    pool_size: int
    workers: int
    endpoints: Collection[str] = ENDPOINTS


@dataclass(frozen=True)
class Outcome:
    """The result of one rule; `detail` says what was expected and what was found."""

    rule: str
    title: str
    passed: bool
    detail: str
