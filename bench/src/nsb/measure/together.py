"""Jobs that run side by side: programs that compile, or download, or wait. Effects only."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed


def together(jobs: Iterable[Callable[[], object]], at_once: int = 2) -> None:
    """Runs them, so many at a time, until all have ended.

    Raises what the first to fail raises, or a stop that is asked for, and waits for nobody then: what is under way ends with the harness
    (process.Reaper).
    """
    pool = ThreadPoolExecutor(at_once, "together")
    try:
        for done in as_completed([pool.submit(job) for job in jobs]):
            done.result()
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()
