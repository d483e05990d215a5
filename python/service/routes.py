"""The application: every route, what answers where there is none, and the counting of requests (C4, C20, C21)."""

from time import perf_counter
from typing import Any

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Lifespan, Receive, Scope, Send

from service import books, compute, fanout, problems, service, streaming, waiting
from service.stats import BUSY_SECONDS, IN_FLIGHT, REQUESTS, Counters

GET = {
    "/healthz": service.healthz,
    "/readyz": service.readyz,
    "/runtime": service.runtime,
    "/stats": service.stats,
    "/hello": waiting.hello,
    "/sleep": waiting.sleep,
    "/sleep-query": waiting.sleep_query,
    "/slow-query": waiting.slow_query,
    "/books/{id}": books.get_book,
    "/fanout": fanout.fanout,
    "/compute": compute.compute,
    "/block": compute.block,
    "/events": streaming.events,
}
NOT_COUNTED = frozenset({"/healthz", "/readyz", "/runtime", "/stats"})


class Counting:
    """Counts requests. Plain ASGI: Starlette's BaseHTTPMiddleware costs a task per request and hides the leaving."""

    def __init__(self, app: ASGIApp, counters: Counters) -> None:
        self.app = app
        self.counters = counters

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or scope["path"] in NOT_COUNTED:
            await self.app(scope, receive, send)
            return
        counters = self.counters
        counters[IN_FLIGHT] += 1
        begun = perf_counter()
        try:
            await self.app(scope, receive, send)
        finally:
            counters[BUSY_SECONDS] += perf_counter() - begun
            counters[REQUESTS] += 1
            counters[IN_FLIGHT] -= 1


def application(lifespan: Lifespan[Any], counters: Counters) -> FastAPI:
    app = FastAPI(
        lifespan=lifespan,
        openapi_url=None,  # and with it the pages of documentation
        redirect_slashes=False,  # C20
        exception_handlers={
            problems.Problem: problems.answer,
            HTTPException: problems.answer,
            ClientDisconnect: problems.answer,
            Exception: problems.answer,
        },
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
    )
    # On the app itself: included routers cost 20 us per request more (FastAPI 0.165).
    for path, handler in GET.items():
        app.add_api_route(path, handler, methods=["GET", "HEAD"])
    app.add_api_route("/books", books.post_book, methods=["POST"])
    app.add_api_websocket_route("/ws", streaming.echo)
    app.add_api_route("/ws", streaming.no_upgrade, methods=["GET"])
    app.add_middleware(Counting, counters=counters)
    return app
