"""WORKERS > 1: a process each, which share socket and counters, and a parent that only waits for them."""

import multiprocessing
import signal
import socket
import time
from collections.abc import Callable
from multiprocessing.connection import wait

KILL_AFTER_S = 7.8  # C41 allows 8 s


def supervise(work: Callable[[int], None], count: int, listener: socket.socket) -> int:
    """Runs the workers to their end. There is no heartbeat: stopped by SIGSTOP they stay as they are.
    One that dies by itself ends the whole service, for its part of the pool is gone."""
    fork = multiprocessing.get_context("fork")
    workers = [fork.Process(target=work, args=(index,)) for index in range(count)]
    for worker in workers:
        worker.start()
    listener.close()  # else the kernel would go on accepting after the workers have stopped
    asked = False

    def stop(*_: object) -> None:
        nonlocal asked
        asked = True
        for worker in workers:
            worker.terminate()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    wait([worker.sentinel for worker in workers])
    status = 0 if asked else 1
    stop()
    deadline = time.monotonic() + KILL_AFTER_S
    for worker in workers:
        worker.join(max(deadline - time.monotonic(), 0))
        worker.kill()
    return status
