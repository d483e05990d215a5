"""What a request brings, as dependencies: parameters (C22) and bodies (C23), checked with the texts of C33-C36."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, Request
from pydantic_core import from_json

from service.problems import Problem
from service.settings import WHOLE_NUMBER

MAX_ID = 9007199254740991
MAX_BODY = 65536
BODY_LIMIT_S = 20  # C27
MAX_NAME = 255


def _given_once(request: Request, name: str) -> str:
    """Its value; nothing, which no parameter may be, where it is missing or repeated."""
    values = request.query_params.getlist(name)
    return values[0] if len(values) == 1 else ""


def _whole(name: str, low: int, high: int) -> Callable[[Request], Awaitable[int]]:
    async def whole(request: Request) -> int:
        value = _given_once(request, name)
        if not WHOLE_NUMBER.fullmatch(value) or not low <= int(value) <= high:
            raise Problem(400, f"{name} must be given once, as a whole number from {low} to {high}")
        return int(value)

    return whole


def _choice(name: str, first: str, second: str) -> Callable[[Request], Awaitable[str]]:
    async def choice(request: Request) -> str:
        value = _given_once(request, name)
        if value not in (first, second):
            raise Problem(400, f"{name} must be given once, as {first} or {second}")
        return value

    return choice


async def _book_id(request: Request) -> int:
    value = request.path_params["id"]
    if not WHOLE_NUMBER.fullmatch(value) or not 1 <= int(value) <= MAX_ID:
        raise Problem(400, f"id must be a whole number from 1 to {MAX_ID}")
    return int(value)


async def _book_name(request: Request) -> str:
    """The name in the body of POST /books; checked in the order 415, 413, 400, 422 (C30)."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Problem(415, "the body must be application/json")
    too_large = Problem(413, f"the body must not exceed {MAX_BODY} bytes")
    if int(request.headers.get("content-length", 0)) > MAX_BODY:  # digits: the server has checked it
        raise too_large
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_LIMIT_S):
            async for chunk in request.stream():
                body += chunk
                if len(body) > MAX_BODY:
                    raise too_large
        content = from_json(bytes(body), allow_inf_nan=False)
    except TimeoutError:
        raise Problem(400, "the body must be JSON in UTF-8", {"Connection": "close"}) from None
    except ValueError:
        raise Problem(400, "the body must be JSON in UTF-8") from None
    name = content.get("name") if isinstance(content, dict) else None
    if not isinstance(name, str) or not 1 <= len(name) <= MAX_NAME:
        raise Problem(422, f"name must be a string of 1 to {MAX_NAME} characters")
    return name


Ms = Annotated[int, Depends(_whole("ms", 0, 60000))]
BlockMs = Annotated[int, Depends(_whole("ms", 0, 1000))]
IntervalMs = Annotated[int, Depends(_whole("interval_ms", 10, 60000))]
Calls = Annotated[int, Depends(_whole("calls", 1, 1000))]
Rounds = Annotated[int, Depends(_whole("rounds", 1, 10000000))]
Mode = Annotated[str, Depends(_choice("mode", "concurrent", "sequential"))]
Offload = Annotated[str, Depends(_choice("offload", "false", "true"))]
BookId = Annotated[int, Depends(_book_id)]
BookName = Annotated[str, Depends(_book_name)]
