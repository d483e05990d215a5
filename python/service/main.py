"""Wires settings, socket, workers and server together."""

import asyncio
import multiprocessing
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
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
from service.workers import supervise

KEEP_ALIVE_S = 75  # C62
MAX_MESSAGE = 65536  # C24
GRACE_S = 7  # C41 allows 8 s for everything
BACKLOG = min(4096, int(Path("/proc/sys/net/core/somaxconn").read_text()))  # C62


class Server(uvicorn.Server):
    """uvicorn's, but after a signal it ends the streams first, and with 0 instead of raising the signal again (C41)."""

    def __init__(self, config: uvicorn.Config, streams: Streams) -> None:
        super().__init__(config)
        self.streams = streams

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self.streams.end()
        await super().shutdown(sockets)


def main() -> int:
    try:
        wanted = settings.read(os.environ)
        listener = _listen(wanted.host, wanted.port)
    except settings.SettingError as error:
        print(error, file=sys.stderr)
        return 2
    stats = Stats(wanted.workers)
    if wanted.workers > 1:
        return supervise(lambda worker: serve(wanted, listener, stats, worker), wanted.workers, listener)
    serve(wanted, listener, stats, 0)
    return 0


def serve(wanted: Settings, listener: socket.socket, stats: Stats, worker: int) -> None:
    """Runs one worker to its end."""
    counters = stats.of(worker)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        if parent := multiprocessing.parent_process():
            asyncio.get_running_loop().add_reader(parent.sentinel, os._exit, 1)  # no worker outlives a killed parent
        database = Database(wanted.database, wanted.pool_share(worker), wanted.db_acquire_timeout_ms, counters)
        opening = asyncio.create_task(database.open())
        async with fanout.client(wanted.upstream_timeout_ms) as upstream:
            app.state.database, app.state.upstream = database, upstream
            yield
        opening.cancel()
        await database.close()

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
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=GRACE_S,
        access_log=False,
        log_level="warning",
        proxy_headers=False,
    )
    streams = Streams()
    app.state.settings, app.state.server, app.state.stats, app.state.streams = wanted, config, stats, streams
    Server(config, streams).run(sockets=[listener])


def _listen(host: str, port: int) -> socket.socket:
    try:
        listener = socket.create_server((host, port), backlog=BACKLOG)
    except (OSError, UnicodeError) as error:  # the second where a name cannot be one of DNS
        raise settings.SettingError(f'HOST="{host}" and PORT="{port}" cannot be bound: {error}') from None
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # C62: inherited; asyncio's loop would not set it
    return listener
