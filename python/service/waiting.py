"""/hello, /sleep, /sleep-query, /slow-query (C5-C8), and waiting that stops when the client has left (C40)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from fastapi import Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from starlette.requests import ClientDisconnect

from service.parameters import Ms


async def hello() -> Response:
    return PlainTextResponse("hello")


async def sleep(request: Request, ms: Ms) -> Response:
    await pause(request, ms)
    return JSONResponse({"slept_ms": ms})


async def sleep_query(request: Request, ms: Ms) -> Response:
    await pause(request, ms)
    row, _ = await request.app.state.database.execute(request, "SELECT NOW(6)")
    return JSONResponse({"slept_ms": ms, "now": row[0].isoformat(" ", "microseconds")})


async def slow_query(request: Request, ms: Ms) -> Response:
    await request.app.state.database.execute(request, "SELECT SLEEP(%s)", ms / 1000)
    return JSONResponse({"queried_ms": ms})


async def pause(request: Request, ms: int) -> None:
    """Waits; ClientDisconnect if the client leaves. It awaits the leaving itself, with a limit: no second task."""
    with suppress(TimeoutError):
        async with asyncio.timeout(ms / 1000) as deadline:
            await _watch(request, deadline)
            raise ClientDisconnect


@asynccontextmanager
async def watched(request: Request, limit_s: float | None = None) -> AsyncIterator[None]:
    """Cancels what is awaited inside: TimeoutError at the limit, ClientDisconnect if the client left. Costs a task."""
    try:
        async with asyncio.timeout(limit_s) as deadline:
            watcher = asyncio.create_task(_watch(request, deadline))
            try:
                yield
            finally:
                watcher.cancel()
    except TimeoutError as late:
        raise ClientDisconnect if watcher.done() else late from None


async def _watch(request: Request, deadline: asyncio.Timeout) -> None:
    """Ends the deadline when ASGI tells that the client has left."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    deadline.reschedule(0)  # long past: it expires at once
