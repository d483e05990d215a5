"""The part of the contract that can be asked of a service that is reached through a forwarded port: one request, one answer. Pure.

All else needs the service's own machine: sockets and signals, and neighbours that are of the harness's making.
"""

from __future__ import annotations

from nsb.conform import suite
from nsb.conform.rules_answers import TABLE_TITLES


def not_asked() -> list[str]:
    """The checks that are left out, each by id and title."""
    asked = [one for one in suite.RULES if one.stage is suite.Stage.MAIN and one.title == TABLE_TITLES.get(one.rule)]
    return [f"{one.rule} {one.title}" for one in suite.RULES if one not in asked]
