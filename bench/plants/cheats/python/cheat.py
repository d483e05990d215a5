"""Known cheats of the Python service, which this starts in its own folder: CHEAT names the one that is played, after CHEAT_AFTER requests."""

import os
import signal
import sys
from collections.abc import Awaitable, Callable

sys.path.insert(0, os.getcwd())

from fastapi import Response  # noqa: E402
from fastapi.responses import JSONResponse  # noqa: E402
from service import compute  # noqa: E402
from service.main import main  # noqa: E402
from service.parameters import Rounds  # noqa: E402

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
play = PLAYED[os.environ["CHEAT"]]


async def cheated(rounds: Rounds) -> Response:
    global requests
    requests += 1
    return await (play if requests >= AFTER else honest)(rounds)


compute.compute = cheated
sys.exit(main())
