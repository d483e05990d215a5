"""Wires settings, socket, workers and server together."""

import asyncio
import gc
import multiprocessing
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ctypes import Array
from multiprocessing.connection import wait
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from service import fanout, settings, stats
from service.database import Database
from service.routes import application
from service.streaming import Server

BACKLOG = min(4096, int(Path("/proc/sys/net/core/somaxconn").read_text()))  # C62


def main() -> int:
    try:
        wanted = settings.read(os.environ)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    try:
        listener = socket.create_server((wanted.host, wanted.port), backlog=BACKLOG)
    except (OSError, UnicodeError) as error:  # the second where a name cannot be one of DNS
        print(f'HOST="{wanted.host}" and PORT="{wanted.port}" cannot be bound: {error}', file=sys.stderr)
        return 2
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # C62: inherited; asyncio's loop would not set it
    counters = stats.shared(wanted.workers)
    if wanted.workers > 1:
        return supervise(wanted, listener, counters)
    return serve(wanted, listener, counters, 0)


def supervise(wanted: settings.Settings, listener: socket.socket, counters: Array[stats.Counters]) -> int:
    """Runs a process per worker. One that dies by itself ends the whole service, for its part of the pool is gone."""
    fork = multiprocessing.get_context("fork")
    workers = [fork.Process(target=serve, args=(wanted, listener, counters, each)) for each in range(wanted.workers)]

    def stop(*_: object) -> None:
        for worker in workers:
            worker.terminate()

    for worker in workers:
        worker.start()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    listener.close()  # else the kernel would go on accepting after the workers have stopped
    wait([worker.sentinel for worker in workers])
    stop()
    for worker in workers:
        worker.join()
    return int(any(worker.exitcode not in (0, -signal.SIGTERM) for worker in workers))


def serve(wanted: settings.Settings, listener: socket.socket, counters: Array[stats.Counters], worker: int) -> int:
    """Runs one worker to its end."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        if parent := multiprocessing.parent_process():
            asyncio.get_running_loop().add_reader(parent.sentinel, os._exit, 1)  # no worker outlives a killed parent
        share = len(range(worker, wanted.db_pool_size, wanted.workers))  # the first ones get the remainder
        database = Database(wanted, share, counters[worker])
        opening = asyncio.create_task(database.open())
        async with fanout.client(wanted.upstream_timeout_ms) as upstream:
            app.state.database, app.state.upstream = database, upstream
            if wanted.gc == "frozen":  # what is there now lives to the end, and no later collection looks at it
                gc.collect()
                gc.freeze()
            yield
        opening.cancel()
        await database.close()

    app = application(lifespan, counters[worker])
    config = uvicorn.Config(
        app, loop=wanted.loop, http="httptools", lifespan="on", log_level="warning",
        access_log=False, proxy_headers=False, backlog=BACKLOG, timeout_keep_alive=75,  # C62
        ws="websockets-sansio", ws_max_size=65536, ws_ping_interval=None, ws_per_message_deflate=False,  # C24
        timeout_graceful_shutdown=6,  # C41 allows 8 s for everything
    )  # fmt: skip
    server = Server(config)
    app.state.settings, app.state.counters, app.state.server = wanted, counters, server
    server.run(sockets=[listener])
    return 0
