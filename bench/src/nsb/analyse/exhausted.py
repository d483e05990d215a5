"""What stands against the figure of a service whose memory ended. Pure."""

from __future__ import annotations

from typing import Literal

from nsb.records.exhausted import Exhausted
from nsb.records.judged import Check

FULL = "java.lang.OutOfMemoryError"
"""What a JVM says that ends because of it (-XX:+ExitOnOutOfMemoryError)."""


def checks(seen: Exhausted) -> list[Check]:
    """V1: the service ended, and says that it was for want of memory. Where it collects garbage all the time and does not end: a doubt."""
    held, said = seen.held, ""
    outcome: Literal["doubt", "invalid"] = "invalid"
    if held.opened >= seen.most:
        said = f"it held all {seen.most} connections: its memory did not end"
    elif not held.opened:
        said = f"it held none: {held.why}"
    elif seen.exit_code is None:
        outcome, said = "doubt", f"it did not end when it was full, but let clients wait or refused them: {held.why}"
    elif FULL not in seen.last_words:
        said = f"it ended with {seen.exit_code} at {held.opened} connections, and does not say that its memory was full: {seen.last_words}"
    return [Check(id="V1", outcome=outcome if said else "ok", sentence=said, inputs={"opened": held.opened, "exit_code": seen.exit_code})]
