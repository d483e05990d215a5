"""/fanout (C11) and the client that calls the upstream (C63)."""

import asyncio

from aiohttp import ClientError, ClientSession, ClientTimeout, DummyCookieJar, TCPConnector
from fastapi import Request, Response
from fastapi.responses import JSONResponse

from service.leaving import watched
from service.parameters import choice, whole
from service.problems import UpstreamAway

IDLE_S = 86400  # longer than any run


def client(timeout_ms: int) -> ClientSession:
    """One per worker; to be created on its event loop."""
    session = ClientSession(
        connector=TCPConnector(limit=0, keepalive_timeout=IDLE_S),
        # Above ceil_threshold aiohttp rounds a limit up to whole seconds.
        timeout=ClientTimeout(total=timeout_ms / 1000, ceil_threshold=float("inf")),
        cookie_jar=DummyCookieJar(),
        auto_decompress=False,
    )
    session._retry_connection = False  # C63; aiohttp has no public name for it
    return session


async def fanout(request: Request) -> Response:
    calls = whole(request, "calls", 1, 1000)
    ms = whole(request, "ms", 0, 60000)
    mode = choice(request, "mode", "concurrent", "sequential")
    session: ClientSession = request.app.state.upstream
    url = f"{request.app.state.settings.upstream_url}/delay?ms={ms}"
    async with watched(request):
        if mode == "concurrent":
            await _concurrently(session, url, calls)
        else:
            for _ in range(calls):
                await _call(session, url)
    return JSONResponse({"calls": calls, "mode": mode, "completed": calls})


async def _concurrently(session: ClientSession, url: str, calls: int) -> None:
    """All at once; the first that fails cancels the others."""
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(calls):
                group.create_task(_call(session, url))
    except* UpstreamAway:
        raise UpstreamAway from None


async def _call(session: ClientSession, url: str) -> None:
    try:
        async with session.get(url, allow_redirects=False) as response:
            await response.read()  # to its end, so that the connection is kept
    except (ClientError, OSError, TimeoutError) as error:
        raise UpstreamAway from error
    if response.status != 200:
        raise UpstreamAway
