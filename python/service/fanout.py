"""/fanout (C11) and the client that calls the upstream (C63)."""

import asyncio

from aiohttp import ClientError, ClientSession, ClientTimeout, DummyCookieJar, TCPConnector
from fastapi import HTTPException, Request, Response
from fastapi.responses import JSONResponse

from service.parameters import Calls, Mode, Ms
from service.waiting import watched

IDLE_S = 86400  # longer than any run


def client(timeout_ms: int) -> ClientSession:
    """One per worker; to be created on its event loop."""
    connector = TCPConnector(limit=0, keepalive_timeout=IDLE_S)
    timeout = ClientTimeout(total=timeout_ms / 1000, ceil_threshold=float("inf"))  # above it limits are whole seconds
    return ClientSession(connector=connector, timeout=timeout, cookie_jar=DummyCookieJar())


async def fanout(request: Request, calls: Calls, ms: Ms, mode: Mode) -> Response:
    session = request.app.state.upstream
    url = f"{request.app.state.settings.upstream_url}/delay?ms={ms}"
    completed = calls
    try:
        async with watched(request):
            if mode == "concurrent":
                async with asyncio.TaskGroup() as group:  # the first call that fails cancels the others
                    for _ in range(calls):
                        group.create_task(_call(session, url))
            else:
                for _ in range(calls):
                    await _call(session, url)
    except* (ClientError, OSError):
        completed = 0  # before 3.11.4 Python wraps what is raised here into a group
    if not completed:
        raise HTTPException(502, "the upstream did not answer")
    return JSONResponse({"calls": calls, "mode": mode, "completed": completed})


async def _call(session: ClientSession, url: str) -> None:
    async with session.get(url, allow_redirects=False) as response:
        await response.read()  # to its end, so that the connection is kept
        if response.status != 200:
            raise ClientError(f"status {response.status}")
