"""What the contract (CONTRACT.md) asks of every service, as far as the harness relies on it. Pure."""

from __future__ import annotations

POOL_SIZE = 150
HEAP_MIB = 1024
"""Of every JVM (C66), where an article's own load asks for no other one."""
SERVER_THREADS = 200
ENDPOINTS = (
    "/healthz", "/readyz", "/runtime", "/stats", "/hello", "/sleep", "/sleep-query", "/slow-query", "/books", "/fanout",
    "/compute", "/block", "/events", "/ws",
)  # fmt: skip
"""What the contract asks a service to answer, by the first part of the path."""
EXTRAS = {"/pin": "C16", "/pinnings": "C17"}
"""What it leaves to a service whether to answer, and the rule: those that do say so (`extra` in contenders.toml)."""
NEEDED = ("/healthz", "/runtime", "/stats")
"""Without these nobody can be started, asked what it is, or drained."""


def endpoint(target: str) -> str:
    """`/books` of `/books/1?x=y`."""
    return "/" + target.removeprefix("/").partition("?")[0].partition("/")[0]
