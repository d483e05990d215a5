"""The conformance suite: every rule of CONTRACT.md against a running service."""

from __future__ import annotations

from nsb.running.conformance.bed import Bed, Database, Launch, LaunchFailed, Outcome, Running
from nsb.running.conformance.exchanges import Answer, answers, differences
from nsb.running.conformance.suite import check

# Rules register themselves when they are read: within a stage they run in the order of these lines.
from nsb.running.conformance import rules_equal  # isort: skip
from nsb.running.conformance import rules_answers  # isort: skip
from nsb.running.conformance import rules_meaning  # isort: skip
from nsb.running.conformance import rules_failing  # isort: skip
from nsb.running.conformance import rules_stopping  # isort: skip

# Rules of the contract without a check here, and where they are kept.
ELSEWHERE: dict[str, str] = {}

__all__ = [
    "ELSEWHERE", "Answer", "Bed", "Database", "Launch", "LaunchFailed", "Outcome", "Running", "answers", "check", "differences",
    "rules_answers", "rules_equal", "rules_failing", "rules_meaning", "rules_stopping",
]  # fmt: skip
