"""Counters over all workers (C4), in memory that they share."""

from ctypes import Array, Structure, c_double, c_int64, sizeof
from mmap import mmap


class Counters(Structure):
    """Those of one worker, which alone writes them: no locks."""

    _fields_ = (
        ("requests_total", c_int64),
        ("busy_seconds_total", c_double),
        ("in_flight", c_int64),
        ("pool_in_use", c_int64),
        ("pool_waiting", c_int64),
    )


def shared(workers: int) -> Array[Counters]:
    """For each worker its own; to be created before they are forked."""
    return (Counters * workers).from_buffer(mmap(-1, workers * sizeof(Counters)))
