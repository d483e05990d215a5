"""What SIGINT, SIGTERM and SIGHUP do to the harness: it ends what it began, in a hurry, and nothing stays. Effects."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType

STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
HURRY_S = 1.0
"""How long one thing may take to end once a stop was asked for (s): generator, services, upstream and database make less than 5 s."""
TICK_S = 0.02


class Interrupted(BaseException):
    """SIGINT, SIGTERM or SIGHUP: results are kept."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = 128 + number


class _Stop:
    """Whether a stop was asked for, and whether it has to wait."""

    def __init__(self) -> None:
        self.asked: int | None = None
        self.held = 0
        self.pending = False


_stop = _Stop()


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Turns the first SIGINT, SIGTERM or SIGHUP into Interrupted; later ones are ignored while everything is being stopped.

    A SIGHUP that is ignored already stays ignored: that is what nohup asks for.
    """

    def on_signal(number: int, _frame: FrameType | None) -> None:
        if _stop.asked is not None:
            return  # SIG_IGN would not do: Python prints a traceback where a signal came just before it was ignored
        _stop.asked = number
        if _stop.held:
            _stop.pending = True
        else:
            raise Interrupted(number)

    _stop.asked, _stop.pending = None, False
    taken = [each for each in STOPS if each != signal.SIGHUP or signal.getsignal(each) != signal.SIG_IGN]
    old = {number: signal.signal(number, on_signal) for number in taken}
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
        _stop.asked = None


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """What is short and must be done whole: a stop that is asked for meanwhile comes at the end of the block.

    Signals reach the main thread alone, so elsewhere the block is nothing special.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _stop.held += 1
    try:
        yield
    finally:
        _stop.held -= 1
        if _stop.pending and not _stop.held:
            _stop.pending = False
            raise Interrupted(_stop.asked or 0)


def stop_if_asked() -> None:
    """Raises Interrupted where a stop was asked for already: Python drops what is raised while it is within a finaliser."""
    if _stop.asked is not None:
        raise Interrupted(_stop.asked)


def hurried() -> bool:
    """Whether a stop was asked for."""
    return _stop.asked is not None


def ends(ended: Callable[[], bool], deadline_s: float) -> bool:
    """Waits until something has ended, `deadline_s` at the most, and HURRY_S once a stop was asked for; whether it has."""
    began = time.monotonic()
    while not ended():
        most = deadline_s if _stop.asked is None else min(deadline_s, HURRY_S)
        if time.monotonic() - began >= most:
            return False
        time.sleep(TICK_S)
    return True
