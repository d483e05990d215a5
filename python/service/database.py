"""The pool, its statements, and the limit on waiting for a connection (C60, C61, C38)."""

import asyncio
import logging
from typing import Any

from asyncmy import errors
from asyncmy.connection import Connection
from asyncmy.pool import Pool
from fastapi import Request

from service.leaving import watched
from service.problems import DatabaseAway
from service.settings import DatabaseAddress
from service.stats import POOL_IN_USE, POOL_WAITING, Counters

READY_LIMIT_S = 1.5  # C2 allows 2 s
CHECK_EVERY_S = 1  # how soon lost connections are opened again
FILL_LIMIT_S = 10  # a server that accepts but says nothing must not block the filling for ever
STATEMENTS_PER_CONNECTION = 16  # more than there are, so that none is ever prepared twice
AWAY = (errors.OperationalError, errors.InterfaceError, OSError, TimeoutError)
ENDING = {1053, 1927}  # the server shuts down, or has killed the connection

Result = tuple[tuple[Any, ...] | None, int]

log = logging.getLogger("uvicorn.error")


class Database:
    """One worker's share of the connections. To be created on its event loop."""

    def __init__(self, address: DatabaseAddress, size: int, acquire_timeout_ms: int, counters: Counters) -> None:
        self._pool = Pool(
            minsize=size,
            maxsize=size,
            pool_recycle=-1,  # never; the default is an hour
            host=address.host,
            port=address.port,
            user=address.user,
            password=address.password.encode(),  # asyncmy would encode a str as Latin-1
            database=address.name,
            charset="utf8mb4",
            autocommit=True,
            stmt_cache_size=STATEMENTS_PER_CONNECTION,  # prepared on the server; 0, the default, sends text
        )
        # A permit per connection. asyncmy's pool gives a returned connection to whoever asks first;
        # this serves those who wait in the order they came.
        self._permits = asyncio.Semaphore(size)
        self._acquire_limit_s = acquire_timeout_ms / 1000
        self._counters = counters
        self._filling = asyncio.create_task(self._keep_whole())
        self._probes: set[asyncio.Task[Result]] = set()

    async def execute(self, request: Request | None, statement: str, *arguments: object) -> Result:
        """The first row and the last id of one statement. The client is watched while the request waits for a
        connection, not afterwards: a statement that was sent runs to its end (C40)."""
        try:
            connection = await self._acquire(request)
        except AWAY as error:
            raise DatabaseAway from error
        self._counters[POOL_IN_USE] += 1
        try:
            cursor = connection.cursor()
            await cursor.execute(statement, arguments)
            return (await cursor.fetchone() if cursor.description else None), cursor.lastrowid
        except AWAY as error:
            if refused(error):
                raise
            raise DatabaseAway from error
        finally:
            self._counters[POOL_IN_USE] -= 1
            self._pool.release(connection)
            self._permits.release()

    async def ready(self) -> None:
        """C2: one statement on a connection of the pool, or DatabaseAway."""
        probe = asyncio.create_task(self.execute(None, "SELECT 1"))
        self._probes.add(probe)
        probe.add_done_callback(self._probed)
        done, _ = await asyncio.wait({probe}, timeout=READY_LIMIT_S)  # cancels nothing: the statement may be sent
        if not done:
            raise DatabaseAway
        probe.result()

    async def close(self) -> None:
        """Ends every connection at once, also one whose statement runs."""
        self._filling.cancel()
        self._pool.terminate()
        await self._pool.clear()

    async def _acquire(self, request: Request | None) -> Connection:
        async with asyncio.timeout(self._acquire_limit_s):
            if self._permits.locked():
                await self._queue(request)
            else:
                await self._permits.acquire()
            try:
                return await self._pool.acquire()
            except BaseException:
                self._permits.release()
                raise

    async def _queue(self, request: Request | None) -> None:
        self._counters[POOL_WAITING] += 1
        try:
            if request is None:
                await self._permits.acquire()
            else:
                async with watched(request):
                    await self._permits.acquire()
        finally:
            self._counters[POOL_WAITING] -= 1

    async def _keep_whole(self) -> None:
        """Opens what is missing, at the start and after the database was away (C43, C60); drops what is broken."""
        away = False
        while True:
            try:
                async with asyncio.timeout(FILL_LIMIT_S), self._pool.cond:
                    await self._pool.fill_free_pool()
                away = False
            except Exception as error:  # whatever it is, the next try may do
                if not away:
                    log.warning("the database is away: %r", error)
                away = True
            await asyncio.sleep(CHECK_EVERY_S)

    def _probed(self, probe: asyncio.Task[Result]) -> None:
        self._probes.discard(probe)
        if not probe.cancelled():
            probe.exception()  # seen, also where nobody waits for it any more


def refused(error: Exception) -> bool:
    """Whether the server answered and said no (C39): it was reached. The driver's own codes start at 2000."""
    code = error.args[0] if isinstance(error, errors.OperationalError) and error.args else None
    return isinstance(code, int) and code < 2000 and code not in ENDING
