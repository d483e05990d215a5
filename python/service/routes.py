"""The application: every route, what answers where there is none, and the counting of requests (C4, C20, C21)."""

from time import perf_counter
from typing import Any

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Lifespan, Receive, Scope, Send

from service import books, compute, fanout, problems, service, streaming, waiting
from service.stats import Counters

NOT_COUNTED = frozenset({"/healthz", "/readyz", "/runtime", "/stats"})


def counting(app: ASGIApp, counters: Counters) -> ASGIApp:
    """Counts requests. Plain ASGI: Starlette's BaseHTTPMiddleware costs a task per request and hides the leaving."""

    async def counted(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or scope["path"] in NOT_COUNTED:
            return await app(scope, receive, send)
        counters.in_flight += 1
        begun = perf_counter()
        try:
            await app(scope, receive, send)
        finally:
            counters.busy_seconds_total += perf_counter() - begun
            counters.requests_total += 1
            counters.in_flight -= 1

    return counted


def application(lifespan: Lifespan[Any], counters: Counters) -> FastAPI:
    app = FastAPI(
        lifespan=lifespan,
        openapi_url=None,  # and with it the pages of documentation
        redirect_slashes=False,  # C20
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
    )
    for error in (HTTPException, ClientDisconnect, Exception):
        app.add_exception_handler(error, problems.answer)
    app.add_middleware(counting, counters=counters)
    # On the app itself: an included router costs another 20 us per request (FastAPI 0.165).
    read = ["GET", "HEAD"]
    app.add_api_route("/healthz", service.healthz, methods=read)
    app.add_api_route("/readyz", service.readyz, methods=read)
    app.add_api_route("/runtime", service.runtime, methods=read)
    app.add_api_route("/stats", service.stats, methods=read)
    app.add_api_route("/hello", waiting.hello, methods=read)
    app.add_api_route("/sleep", waiting.sleep, methods=read)
    app.add_api_route("/sleep-query", waiting.sleep_query, methods=read)
    app.add_api_route("/slow-query", waiting.slow_query, methods=read)
    app.add_api_route("/books/{id}", books.get_book, methods=read)
    app.add_api_route("/books", books.new_book, methods=["POST"])
    app.add_api_route("/fanout", fanout.fanout, methods=read)
    app.add_api_route("/compute", compute.compute, methods=read)
    app.add_api_route("/block", compute.block, methods=read)
    app.add_api_route("/events", streaming.events, methods=read)
    app.add_api_websocket_route("/ws", streaming.ws)
    app.add_api_route("/ws", streaming.no_upgrade, methods=["GET"])
    return app
