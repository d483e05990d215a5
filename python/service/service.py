"""/healthz, /readyz, /runtime, /stats (C1-C4)."""

import asyncio
import platform
import threading
from importlib.metadata import version

from fastapi import Request, Response
from fastapi.responses import JSONResponse

from service.fanout import IDLE_S
from service.stats import Counters


async def healthz() -> Response:
    return JSONResponse({"status": "ok"})


async def readyz(request: Request) -> Response:
    async with asyncio.timeout(1.5):  # C2 allows 2 s
        await request.app.state.database.execute(request, "SELECT 1")
    return JSONResponse({"status": "ok"})


async def runtime(request: Request) -> Response:
    state = request.app.state
    wanted, config = state.settings, state.server.config
    facts = {
        "runtime": platform.python_implementation(), "runtime_version": platform.python_version(),
        "framework": "FastAPI", "framework_version": version("fastapi"), "server": f"uvicorn {version('uvicorn')}",
        "driver": "asyncmy", "driver_version": version("asyncmy"),
        "concurrency_model": f"{type(asyncio.get_running_loop()).__module__.partition('.')[0]} event loop per process",
        "handled_by": threading.current_thread().name,
        "workers": wanted.workers, "pool_size": wanted.db_pool_size, "cancels_on_disconnect": True,
        "settings": {
            "backlog": config.backlog, "keep_alive_s": config.timeout_keep_alive,
            "max_connections": config.limit_concurrency, "server_threads": None,
            "db_acquire_timeout_ms": wanted.db_acquire_timeout_ms, "db_statements": "prepared",
            "upstream_timeout_ms": wanted.upstream_timeout_ms,
            "upstream_max_connections": state.upstream.connector.limit or None,  # 0: no limit
            "upstream_idle_s": IDLE_S, "offload": "asyncio.to_thread", "heap_max_mib": None, "gc": None,
        },
    }  # fmt: skip
    return JSONResponse(facts)


async def stats(request: Request) -> Response:
    counters = request.app.state.counters
    return JSONResponse({name: sum(getattr(one, name) for one in counters) for name, *_ in Counters._fields_})
