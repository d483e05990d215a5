"""The pool, its statements, and the limit on waiting for a connection (C60, C61, C38)."""

import asyncio
from typing import Any

from asyncmy.connection import Connection
from asyncmy.errors import OperationalError
from asyncmy.pool import Pool
from fastapi import Request

from service.problems import DATABASE_AWAY
from service.settings import Settings
from service.stats import Counters
from service.waiting import watched

CONNECT_LIMIT_S = 1  # C38
ENDING = {1053, 1927}  # the server shuts down, or has killed the connection


class Database:
    """One worker's share of the connections. To be created on its event loop."""

    def __init__(self, settings: Settings, size: int, counters: Counters) -> None:
        self._pool = Pool(
            **settings.database_url,
            minsize=size,
            maxsize=size,
            pool_recycle=-1,  # never; the default is an hour
            autocommit=True,
            connect_timeout=CONNECT_LIMIT_S,
            stmt_cache_size=16,  # prepared on the server, each once, for there are fewer; 0, the default, sends text
        )
        # One for each connection: asyncmy's pool gives a returned connection to whoever asks first.
        self._permits = asyncio.Semaphore(size)
        self._acquire_limit_s = settings.db_acquire_timeout_ms / 1000
        self._counters = counters

    async def open(self) -> None:
        """Opens all connections as soon as the database answers (C60). Lost ones the pool opens again on demand."""
        while True:
            try:
                async with self._pool.acquire():
                    return
            except DATABASE_AWAY:
                await asyncio.sleep(CONNECT_LIMIT_S)

    async def close(self) -> None:
        """Ends every connection at once, also one whose statement runs."""
        self._pool.terminate()
        await self._pool.clear()

    async def execute(self, request: Request, statement: str, *arguments: object) -> tuple[tuple[Any, ...] | None, int]:
        """The first row and the last id of one statement. The client is watched while the request waits for a
        connection, not afterwards: a statement that was sent runs to its end (C40)."""
        connection = await self._acquire(request)
        self._counters.pool_in_use += 1
        try:
            cursor = connection.cursor()
            await cursor.execute(statement, arguments)
            return (await cursor.fetchone() if cursor.description else None), cursor.lastrowid
        except OperationalError as error:
            # The server's own codes are below 2000: it was reached, and said no (C39).
            if error.args[0] < 2000 and error.args[0] not in ENDING:
                raise RuntimeError(statement) from error
            raise
        finally:
            self._counters.pool_in_use -= 1
            self._pool.release(connection)
            self._permits.release()

    async def _acquire(self, request: Request) -> Connection:
        if self._pool.freesize and not self._permits.locked():
            return await self._lend()
        self._counters.pool_waiting += 1
        try:
            async with watched(request, self._acquire_limit_s):
                return await self._lend()
        finally:
            self._counters.pool_waiting -= 1

    async def _lend(self) -> Connection:
        await self._permits.acquire()
        try:
            return await self._pool.acquire()
        except BaseException:
            self._permits.release()
            raise
