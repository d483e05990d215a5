"""Waiting that stops when the client has left (C40); ASGI tells so by receive()."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import Request
from starlette.requests import ClientDisconnect


async def left(request: Request) -> None:
    """Returns when the client has left."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def pause(request: Request, ms: int) -> None:
    """Waits; ClientDisconnect if the client leaves. It awaits the leaving itself, with a limit: no second task."""
    try:
        async with asyncio.timeout(ms / 1000):
            await left(request)
    except TimeoutError:
        return
    raise ClientDisconnect


@asynccontextmanager
async def watched(request: Request) -> AsyncIterator[None]:
    """Cancels what is awaited inside and raises ClientDisconnect when the client leaves. Costs a task."""

    async def watch() -> None:
        await left(request)
        deadline.reschedule(0)  # long past: it expires at once

    try:
        async with asyncio.timeout(None) as deadline:
            watcher = asyncio.create_task(watch())
            try:
                yield
            finally:
                watcher.cancel()
    except TimeoutError:
        if deadline.expired():
            raise ClientDisconnect from None
        raise
