"""What a whole cell under k6 caused, counted from before its first request to after its last one. Pure."""

from __future__ import annotations

from nsb.registry.terms import Frozen


class Effects(Frozen):
    """Counts are differences; None: not asked of this scenario, or nobody could say."""

    counted: int | None
    """Requests, by the service's own count (/stats)."""
    clients: int | None
    """Connections that the users need; None where they do not keep them."""
    calls: int
    """Upstream calls per request, as declared, and what each of them waits (ms)."""
    call_ms: int
    called: int | None
    """Calls that the upstream got, and what they were to wait in all (ms)."""
    asked_ms: int | None
    statements: int
    """Per request, as declared."""
    questions: int | None
    """Statements, by the database's count: all of them, and by their kind."""
    selects: int | None
    inserts: int | None
    prepared: int | None = None
    """Of the statements, those that were executed as prepared ones, where the service says that all are; None: it does not."""
    keys_read: int | None
    """Rows that were looked up by their key, where each request reads one."""
    inserted: int | None
    """Rows that are in the table now; None where the scenario inserts none."""
    asleep: int | None
    """The most statements that were seen to wait in the database at once; None where the database is not what holds a request."""
    looks: int
    """How often that was looked at."""
    called_in_time: int | None = None
    """Of the calls and of the rows: those that were there when the window had closed. No answer of the window can need what comes later."""
    inserted_in_time: int | None = None
