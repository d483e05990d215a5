"""/hello, /sleep, /sleep-query, /slow-query (C5-C8)."""

from fastapi import Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse

from service.leaving import pause
from service.parameters import whole


async def hello(request: Request) -> Response:
    return PlainTextResponse("hello")


async def sleep(request: Request) -> Response:
    ms = whole(request, "ms", 0, 60000)
    await pause(request, ms)
    return JSONResponse({"slept_ms": ms})


async def sleep_query(request: Request) -> Response:
    ms = whole(request, "ms", 0, 60000)
    await pause(request, ms)
    row, _ = await request.app.state.database.execute(request, "SELECT NOW(6)")
    return JSONResponse({"slept_ms": ms, "now": row[0].strftime("%Y-%m-%d %H:%M:%S.%f")})


async def slow_query(request: Request) -> Response:
    ms = whole(request, "ms", 0, 60000)
    await request.app.state.database.execute(request, "SELECT SLEEP(%s)", ms / 1000)
    return JSONResponse({"queried_ms": ms})
