"""The conformance suite: every rule of CONTRACT.md against a running service.

`bed`: types. `wire`: an HTTP client that sends exact bytes. `kernel`: facts from the kernel. `neighbours`: test doubles of database
and upstream. `exchanges`: the table of requests and answers. `suite`: how rules are run. `rules_*`: the rules.

Not visible from outside, so each service's own tests check it: the default of WORKERS (C50), the port that DATABASE_URL may leave
out (C50), idle and lifetime limits as long as a run (C60, C62, C63: reported by /runtime), how long a stream may last (C62).
"""

from __future__ import annotations

from nsb.conform.bed import Bed, Database, Launch, LaunchFailed, Outcome, Running
from nsb.conform.exchanges import Answer
from nsb.conform.suite import RULES, beyond_reach, check

# Importing a module registers its rules: within a stage they run in the order of these lines.
from nsb.conform import rules_equal  # isort: skip
from nsb.conform import rules_answers  # isort: skip
from nsb.conform import rules_meaning  # isort: skip
from nsb.conform import rules_streaming  # isort: skip
from nsb.conform import rules_edges  # isort: skip
from nsb.conform import rules_failing  # isort: skip
from nsb.conform import rules_stopping  # isort: skip

__all__ = [
    "RULES",
    "Answer",
    "Bed",
    "Database",
    "Launch",
    "LaunchFailed",
    "Outcome",
    "Running",
    "beyond_reach",
    "check",
    "rules_answers",
    "rules_edges",
    "rules_equal",
    "rules_failing",
    "rules_meaning",
    "rules_stopping",
    "rules_streaming",
]
