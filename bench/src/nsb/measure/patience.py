"""Long steps say every so often what they do and how long it has been: silence looks like a program that hangs."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

EVERY_S = 15.0


def patience(what: Callable[[], str], say: Callable[[str], None], every_s: float = EVERY_S) -> AbstractContextManager[None]:
    """Says `what` and the time so far every `every_s` seconds until the block ends."""
    began = time.monotonic()
    return every(every_s, lambda: say(f"{what()}: {clock(time.monotonic() - began)} so far"))


@contextlib.contextmanager
def every(seconds: float, do: Callable[[], None]) -> Iterator[None]:
    """Does it beside the block, until that ends."""
    over = threading.Event()

    def repeat() -> None:
        while not over.wait(seconds):
            do()

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def clock(seconds: float) -> str:
    """`0:05`, `11:30` minutes and seconds; negative values count as zero."""
    minutes, rest = divmod(max(0, round(seconds)), 60)
    return f"{minutes}:{rest:02}"
