"""/events, /ws (C14, C15, C24): streams, which last as long as their client wants, or until the service stops (C41)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from fastapi import Request, Response, WebSocket, WebSocketDisconnect
from fastapi.responses import StreamingResponse

from service.parameters import IntervalMs
from service.problems import Problem

GOING_AWAY = 1001


class Streams:
    """The streams of one worker: how they hear that it stops."""

    def __init__(self) -> None:
        self.stopping = asyncio.Event()
        self.sockets: set[WebSocket] = set()

    async def end(self) -> None:
        """Ends all; uvicorn would wait for the one kind and close the other with a code of its own."""
        self.stopping.set()
        closing = [socket.close(GOING_AWAY) for socket in self.sockets]
        await asyncio.gather(*closing, return_exceptions=True)  # a client may close at the same moment


async def events(request: Request, interval_ms: IntervalMs) -> Response:
    content = _events(interval_ms / 1000, request.app.state.streams.stopping)
    return StreamingResponse(
        iter(()) if request.method == "HEAD" else content,
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store"},
    )


async def _events(interval_s: float, stopping: asyncio.Event) -> AsyncIterator[str]:
    """StreamingResponse cancels it when the client has left."""
    number = 0
    while not stopping.is_set():
        yield f"data: {number}\n\n"
        number += 1
        with suppress(TimeoutError):
            async with asyncio.timeout(interval_s):
                await stopping.wait()


async def no_upgrade() -> Response:
    headers = {"Upgrade": "websocket", "Connection": "Upgrade"}  # RFC 9110 asks for the second beside the first
    raise Problem(426, "upgrade to a WebSocket", headers)


async def ws(socket: WebSocket) -> None:
    """Pongs, limits and the check of UTF-8 are the server's: uvicorn.Config in main.py."""
    sockets: set[WebSocket] = socket.app.state.streams.sockets
    await socket.accept()
    sockets.add(socket)
    with suppress(WebSocketDisconnect):  # the client left before it had its answer
        while (message := await socket.receive())["type"] != "websocket.disconnect":
            await socket.send({**message, "type": "websocket.send"})
    sockets.discard(socket)
