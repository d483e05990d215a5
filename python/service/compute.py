"""/compute, /block (C12, C13)."""

import asyncio
import time

from fastapi.responses import JSONResponse, Response

from service.parameters import BlockMs, Offload, Rounds


async def compute(rounds: Rounds) -> Response:
    x = 2463534242
    for _ in range(rounds):
        x ^= x << 13 & 0xFFFFFFFF
        x ^= x >> 17
        x ^= x << 5 & 0xFFFFFFFF
    return JSONResponse({"rounds": rounds, "result": x})


async def block(ms: BlockMs, offload: Offload) -> Response:
    if offload == "true":
        await asyncio.to_thread(time.sleep, ms / 1000)
    else:
        time.sleep(ms / 1000)  # the mistake that C13 measures
    return JSONResponse({"blocked_ms": ms, "offloaded": offload == "true"})
