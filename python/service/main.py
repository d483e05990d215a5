"""Wires settings, socket, workers and server together."""

import ctypes
import multiprocessing
import os
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from multiprocessing.connection import wait
from pathlib import Path
from types import FrameType

import uvicorn
from fastapi import FastAPI

from service import fanout, settings
from service.database import Database
from service.routes import application
from service.settings import Settings
from service.stats import Stats
from service.streaming import Streams

KEEP_ALIVE_S = 75  # C62
MAX_MESSAGE = 65536  # C24
GRACE_S = 7  # C41 allows 8 s for everything
KILL_AFTER_S = 7.8
STOP_SIGNALS = {signal.SIGTERM, signal.SIGINT}
PR_SET_PDEATHSIG = 1


class Server(uvicorn.Server):
    """uvicorn's, but after a signal it ends the streams first, and with 0 instead of raising the signal again (C41)."""

    def __init__(self, config: uvicorn.Config, streams: Streams) -> None:
        super().__init__(config)
        self.streams = streams

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)  # main has blocked them

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self.streams.end()
        await super().shutdown(sockets)


def main() -> int:
    try:
        wanted = settings.read(os.environ)
    except settings.SettingError as error:
        print(error, file=sys.stderr)
        return 2
    # Until the handlers stand, a signal to stop waits: so none is lost between the fork and the start of a worker.
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    for number in STOP_SIGNALS:  # uvicorn puts these back when it ends: a second signal must not kill what is leaving
        signal.signal(number, lambda *_: None)
    try:
        listener = socket.create_server((wanted.host, wanted.port), backlog=_backlog())
    except (OSError, UnicodeError) as error:  # the second where a name cannot be one of DNS
        print(f'HOST="{wanted.host}" and PORT="{wanted.port}" cannot be bound: {error}', file=sys.stderr)
        return 2
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # C62: inherited; asyncio's loop would not set it
    stats = Stats(wanted.workers)
    status = 0
    if wanted.workers == 1:
        serve(wanted, listener, stats, 0)
    else:
        status = _supervise(wanted, listener, stats)
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)  # the interpreter's own end takes the handlers away
    return status


def serve(wanted: Settings, listener: socket.socket, stats: Stats, worker: int) -> None:
    """Runs one worker to its end."""
    counters = stats.of(worker)
    streams = Streams()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        pool_size = wanted.pool_share(worker)
        app.state.database = Database(wanted.database, pool_size, wanted.db_acquire_timeout_ms, counters)
        app.state.upstream = fanout.client(wanted.upstream_timeout_ms)
        yield
        await app.state.upstream.close()
        await app.state.database.close()

    app = application(lifespan, counters)
    config = uvicorn.Config(
        app,
        loop=wanted.loop,
        http="httptools",
        ws="websockets-sansio",
        ws_max_size=MAX_MESSAGE,
        ws_ping_interval=None,
        ws_per_message_deflate=False,
        lifespan="on",
        backlog=_backlog(),
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=GRACE_S,
        access_log=False,
        log_level="warning",
        proxy_headers=False,
    )
    app.state.settings, app.state.server, app.state.stats, app.state.streams = wanted, config, stats, streams
    Server(config, streams).run(sockets=[listener])


def _supervise(wanted: Settings, listener: socket.socket, stats: Stats) -> int:
    """Runs the workers, which share socket and counters, to their end. There is no heartbeat: stopped by SIGSTOP they
    stay as they are. One that dies by itself ends the whole service, for its part of the pool is gone."""
    fork = multiprocessing.get_context("fork")
    arguments = [(wanted, listener, stats, worker, os.getpid()) for worker in range(wanted.workers)]
    workers = [fork.Process(target=_work, args=each) for each in arguments]
    for worker in workers:
        worker.start()
    listener.close()  # else the kernel would go on accepting after the workers have stopped
    asked = False

    def stop(*_: object) -> None:
        nonlocal asked
        asked = True
        for worker in workers:
            worker.terminate()

    for number in STOP_SIGNALS:
        signal.signal(number, stop)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
    wait([worker.sentinel for worker in workers])
    died = not asked
    stop()
    deadline = time.monotonic() + KILL_AFTER_S
    for worker in workers:
        worker.join(max(deadline - time.monotonic(), 0))
        worker.kill()
        worker.join()
    return 1 if died else 0


def _work(wanted: Settings, listener: socket.socket, stats: Stats, worker: int, parent: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # no worker outlives a killed parent
    if os.getppid() == parent:
        serve(wanted, listener, stats, worker)


def _backlog() -> int:
    """C62: min(4096, somaxconn)."""
    somaxconn = Path("/proc/sys/net/core/somaxconn")
    return min(4096, int(somaxconn.read_text())) if somaxconn.exists() else 128
