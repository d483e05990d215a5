"""/compute, /block (C12, C13)."""

import asyncio
import time

from fastapi import Request, Response
from fastapi.responses import JSONResponse

from service.parameters import choice, whole


async def compute(request: Request) -> Response:
    rounds = whole(request, "rounds", 1, 10000000)
    x = 2463534242
    for _ in range(rounds):
        x ^= x << 13 & 0xFFFFFFFF
        x ^= x >> 17
        x ^= x << 5 & 0xFFFFFFFF
    return JSONResponse({"rounds": rounds, "result": x})


async def block(request: Request) -> Response:
    ms = whole(request, "ms", 0, 1000)
    offloaded = choice(request, "offload", "false", "true") == "true"
    if offloaded:
        await asyncio.to_thread(time.sleep, ms / 1000)
    else:
        time.sleep(ms / 1000)  # the mistake that C13 measures
    return JSONResponse({"blocked_ms": ms, "offloaded": offloaded})
