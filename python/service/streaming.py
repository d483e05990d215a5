"""/events, /ws (C14, C15, C24): streams, which last as long as their client wants, or until the service stops (C41)."""

import asyncio
import itertools
import os
import signal
from collections.abc import AsyncIterator
from contextlib import suppress

import uvicorn
from fastapi import HTTPException, Request, Response, WebSocket, WebSocketDisconnect, status
from fastapi.sse import EventSourceResponse

from service.parameters import IntervalMs


class Server(uvicorn.Server):
    """uvicorn's, but after a signal it ends the streams first, and with 0 instead of raising the signal again (C41)."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.stopping = asyncio.Event()
        self.web_sockets: set[WebSocket] = set()

    def handle_exit(self, *_: object) -> None:
        self.should_exit = True
        signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
        signal.alarm(8)  # ends the process where a handler keeps its loop busy

    async def main_loop(self) -> None:
        """Behind uvicorn's own: its shutdown would wait for /events, and close /ws with a code of its own."""
        await super().main_loop()
        self.stopping.set()
        closing = [web_socket.close(status.WS_1001_GOING_AWAY) for web_socket in self.web_sockets]
        await asyncio.gather(*closing, return_exceptions=True)  # a client may close at the same moment


async def events(request: Request, interval_ms: IntervalMs) -> Response:
    stream = _events(interval_ms / 1000, request.app.state.server.stopping)
    return EventSourceResponse(iter(()) if request.method == "HEAD" else stream, headers={"Cache-Control": "no-store"})


async def _events(interval_s: float, stopping: asyncio.Event) -> AsyncIterator[str]:
    """Cancelled when the client has left."""
    for number in itertools.count():
        yield f"data: {number}\n\n"
        with suppress(TimeoutError):
            async with asyncio.timeout(interval_s):
                await stopping.wait()
                return


async def no_upgrade() -> Response:
    # RFC 9110 asks for Connection beside Upgrade.
    raise HTTPException(426, "upgrade to a WebSocket", {"Upgrade": "websocket", "Connection": "Upgrade"})


async def ws(web_socket: WebSocket) -> None:
    """Pongs, limits and the check of UTF-8 are the server's: uvicorn.Config in main.py."""
    web_sockets: set[WebSocket] = web_socket.app.state.server.web_sockets
    await web_socket.accept()
    web_sockets.add(web_socket)
    with suppress(WebSocketDisconnect):  # the client left before it had its answer
        while (message := await web_socket.receive())["type"] != "websocket.disconnect":
            await web_socket.send({**message, "type": "websocket.send"})
    web_sockets.discard(web_socket)
