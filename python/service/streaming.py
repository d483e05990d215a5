"""/events, /ws (C14, C15, C24): streams, which last as long as their client wants, or until the service stops (C41)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

from fastapi import Request, Response, WebSocket, WebSocketDisconnect
from fastapi.responses import StreamingResponse

from service.parameters import whole
from service.problems import Problem

GOING_AWAY = 1001
CLOSE_LIMIT_S = 1


class Streams:
    """The streams of one worker: how they hear that it stops."""

    def __init__(self) -> None:
        self.stopping = asyncio.Event()
        self.sockets: set[asyncio.Task[Any]] = set()

    async def end(self) -> None:
        """Ends all; uvicorn would wait for the one kind and close the other with a code of its own."""
        self.stopping.set()
        for socket in self.sockets:
            socket.cancel()
        if self.sockets:
            await asyncio.wait(self.sockets, timeout=CLOSE_LIMIT_S)  # until each has said its close


async def events(request: Request) -> Response:
    interval_ms = whole(request, "interval_ms", 10, 60000)
    stopping: asyncio.Event = request.app.state.streams.stopping
    content = _nothing() if request.method == "HEAD" else _events(interval_ms / 1000, stopping)
    return StreamingResponse(content, media_type="text/event-stream", headers={"Cache-Control": "no-store"})


async def _events(interval_s: float, stopping: asyncio.Event) -> AsyncIterator[str]:
    """StreamingResponse cancels it when the client has left."""
    number = 0
    while not stopping.is_set():
        yield f"data: {number}\n\n"
        number += 1
        with suppress(TimeoutError):
            async with asyncio.timeout(interval_s):
                await stopping.wait()


async def _nothing() -> AsyncIterator[str]:
    return
    yield


async def no_upgrade(request: Request) -> Response:
    headers = {"Upgrade": "websocket", "Connection": "Upgrade"}  # RFC 9110 asks for the second beside the first
    raise Problem(426, "upgrade to a WebSocket", headers)


async def echo(socket: WebSocket) -> None:
    """Pongs, limits and the check of UTF-8 are the server's: uvicorn.Config in main.py."""
    sockets: set[asyncio.Task[Any] | None] = socket.app.state.streams.sockets
    task = asyncio.current_task()
    sockets.add(task)
    try:
        await socket.accept()
        while (message := await socket.receive())["type"] != "websocket.disconnect":
            if message.get("text") is not None:
                await socket.send_text(message["text"])
            else:
                await socket.send_bytes(message["bytes"])
    except WebSocketDisconnect:
        pass  # the client left before it had its answer
    except asyncio.CancelledError:
        await socket.close(GOING_AWAY)
    finally:
        sockets.discard(task)
