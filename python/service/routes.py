"""The application: every route, what answers where there is none, and the counting of requests (C4, C20, C21)."""

from functools import partial
from time import perf_counter
from typing import Any

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Lifespan, Receive, Scope, Send

from service import books, compute, fanout, service, streaming, waiting
from service.problems import DATABASE_AWAY, answer
from service.stats import Counters

NOT_COUNTED = frozenset({"/healthz", "/readyz", "/runtime", "/stats"})


async def counted(app: ASGIApp, counters: Counters, scope: Scope, receive: Receive, send: Send) -> None:
    """Middleware in plain ASGI: Starlette's BaseHTTPMiddleware costs a task per request and hides the leaving."""
    if scope["type"] == "lifespan" or scope["path"] in NOT_COUNTED:
        return await app(scope, receive, send)
    counters.in_flight += 1
    begun = perf_counter()
    try:
        await app(scope, receive, send)
    except ClientDisconnect:
        pass  # nobody is there to read an answer
    finally:
        counters.busy_seconds_total += perf_counter() - begun
        counters.requests_total += 1
        counters.in_flight -= 1


def application(lifespan: Lifespan[Any], counters: Counters) -> FastAPI:
    app = FastAPI(
        lifespan=lifespan,
        openapi_url=None,  # and with it the pages of documentation
        redirect_slashes=False,  # C20
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
        exception_handlers=dict.fromkeys((HTTPException, *DATABASE_AWAY, Exception), answer),
    )
    app.add_middleware(lambda inner: partial(counted, inner, counters))
    # Starlette tries one route after the other, so what is not measured stands last.
    get = partial(app.add_api_route, methods=["GET", "HEAD"])
    get("/hello", waiting.hello)
    get("/sleep", waiting.sleep)
    get("/sleep-query", waiting.sleep_query)
    get("/slow-query", waiting.slow_query)
    get("/books/{id}", books.get_book)
    app.add_api_route("/books", books.new_book, methods=["POST"])
    get("/fanout", fanout.fanout)
    get("/compute", compute.compute)
    get("/block", compute.block)
    get("/events", streaming.events)
    app.add_api_websocket_route("/ws", streaming.ws)
    app.add_api_route("/ws", streaming.no_upgrade, methods=["GET"])
    get("/healthz", service.healthz)
    get("/readyz", service.readyz)
    get("/runtime", service.runtime)
    get("/stats", service.stats)
    return app
