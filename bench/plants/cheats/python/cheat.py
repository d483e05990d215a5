"""Known cheats of the Python service, which this starts in its own folder: CHEAT names the one that is played, after CHEAT_AFTER requests."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable

sys.path.insert(0, os.getcwd())

from fastapi import Request, Response  # noqa: E402
from fastapi.responses import JSONResponse  # noqa: E402
from service import compute, waiting  # noqa: E402
from service.main import main  # noqa: E402
from service.parameters import Ms, Rounds  # noqa: E402

AFTER = int(os.environ["CHEAT_AFTER"])
Handler = Callable[[int], Awaitable[Response]]

honest = compute.compute
known: dict[int, bytes] = {}
requests = 0


async def from_a_table(rounds: int) -> Response:
    """Everybody asks for the same rounds."""
    if rounds not in known:
        known[rounds] = bytes((await honest(rounds)).body)
    return Response(known[rounds], media_type="application/json")


async def by_a_child(rounds: int) -> Response:
    """The kernel adds the CPU of a child to its parent's when that asks how it ended. Nobody asks (wait(2), SIGCHLD)."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    reads, writes = os.pipe()
    if os.fork() == 0:
        x = 2463534242
        for _ in range(rounds):
            x ^= x << 13 & 0xFFFFFFFF
            x ^= x >> 17
            x ^= x << 5 & 0xFFFFFFFF
        os.write(writes, b"%d" % x)
        os._exit(0)
    os.close(writes)
    told = os.read(reads, 20)
    os.close(reads)
    return JSONResponse({"rounds": rounds, "result": int(told)})


PLAYED: dict[str, Handler] = {"known-result": from_a_table, "lost-children": by_a_child}
play = PLAYED.get(os.environ["CHEAT"], honest)


async def cheated(rounds: Rounds) -> Response:
    global requests
    requests += 1
    return await (play if requests >= AFTER else honest)(rounds)


FEW, EVERY_S, LIVES_S = 20, 0.05, 0.06
"""Sharers: with more requests in flight than a warm-up has, how often one is begun, and for how long it is there (s)."""
honest_sleep = waiting.sleep
in_flight = 0


async def among_sharers(request: Request, ms: Ms) -> Response:
    """A child that does nothing maps the memory of its parent, which PSS divides among both."""
    global in_flight
    in_flight += 1
    if in_flight == FEW:
        asyncio.get_running_loop().call_soon(begin_sharer)
    try:
        return await honest_sleep(request, ms)
    finally:
        in_flight -= 1


def begin_sharer() -> None:
    if in_flight < FEW:
        return
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    if os.fork() == 0:
        time.sleep(LIVES_S)
        os._exit(0)
    asyncio.get_running_loop().call_later(EVERY_S, begin_sharer)


compute.compute = cheated
if os.environ["CHEAT"] == "shares-pages":
    waiting.sleep = among_sharers
elif os.environ["CHEAT"] not in PLAYED:
    raise KeyError(f"CHEAT={os.environ['CHEAT']}: no such cheat")
sys.exit(main())
