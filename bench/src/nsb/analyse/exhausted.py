"""What stands against the figure of a service whose memory ended. Pure."""

from __future__ import annotations

from nsb.records.exhausted import Exhausted
from nsb.records.judged import Check

FULL = "java.lang.OutOfMemoryError"
"""What a JVM says that ends because of it (-XX:+ExitOnOutOfMemoryError)."""


def checks(seen: Exhausted) -> list[Check]:
    """V1: the service ended, and says that it was for want of memory."""
    held = seen.held
    if held.opened >= seen.most:
        said = f"it held all {seen.most} connections: its memory did not end"
    elif not held.opened:
        said = f"it held none: {held.why}"
    elif seen.exit_code is None:
        said = f"it held {held.opened} connections, then refused or closed some, and did not end: {held.why}"
    elif FULL not in seen.last_words:
        said = f"it ended with {seen.exit_code} at {held.opened} connections, and does not say that its memory was full: {seen.last_words}"
    else:
        said = ""
    return [Check(id="V1", outcome="invalid" if said else "ok", sentence=said, inputs={"opened": held.opened, "exit_code": seen.exit_code})]
