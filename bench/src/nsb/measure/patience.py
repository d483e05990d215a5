"""Long steps say every so often what they do and how long it has been: silence looks like a program that hangs."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

EVERY_S = 15.0


@contextlib.contextmanager
def patience(what: Callable[[], str], say: Callable[[str], None], last_s: float | None = None, every_s: float = EVERY_S) -> Iterator[None]:
    """Says `what` and the time so far every `every_s` seconds until the block ends; `last_s`: how long it took the last time (s)."""
    over, began = threading.Event(), time.monotonic()
    usual = "" if last_s is None else f" (the last time it took {clock(last_s)})"

    def tell() -> None:
        while not over.wait(every_s):
            say(f"{what()}: {clock(time.monotonic() - began)} so far{usual}")

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def clock(seconds: float) -> str:
    """`0:05`, `11:30` minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}"
