"""What a request brings, as dependencies: parameters (C22) and the body of POST /books (C23)."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Annotated

from fastapi import Depends, HTTPException, Request
from pydantic_core import from_json

from service.settings import whole, word

MAX_BODY = 65536
BODY_LIMIT_S = 20  # C27
MAX_NAME = 255


async def _once(name: str, read: Callable[[str], int | str], request: Request) -> int | str:
    """A parameter of the query. `read` gets nothing, which is always wrong, unless it is given exactly once."""
    values = request.query_params.getlist(name)
    try:
        return read(values[0] if len(values) == 1 else "")
    except ValueError as meaning:
        raise HTTPException(400, f"{name} must be given once, as {meaning}") from None


async def _book_id(request: Request) -> int:
    try:
        return whole(1, 9007199254740991, request.path_params["id"])
    except ValueError as meaning:
        raise HTTPException(400, f"id must be {meaning}") from None


async def _book_name(request: Request) -> str:
    """Checked in the order 415, 413, 400, 422 (C30)."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415, "the body must be application/json")
    too_large = HTTPException(413, f"the body must not exceed {MAX_BODY} bytes")
    if int(request.headers.get("content-length", 0)) > MAX_BODY:  # digits: the server has checked it
        raise too_large
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_LIMIT_S):
            async for chunk in request.stream():
                body += chunk
                if len(body) > MAX_BODY:
                    raise too_large
        content = from_json(body, allow_inf_nan=False)
    except (TimeoutError, ValueError) as error:
        headers = {"Connection": "close"} if isinstance(error, TimeoutError) else None  # the rest would still come
        raise HTTPException(400, "the body must be JSON in UTF-8", headers) from None
    match content:
        case {"name": str(name)} if 1 <= len(name) <= MAX_NAME:
            return name
    raise HTTPException(422, f"name must be a string of 1 to {MAX_NAME} characters")


MODES = partial(word, "concurrent|sequential", "concurrent or sequential")
Ms = Annotated[int, Depends(partial(_once, "ms", partial(whole, 0, 60000)))]
BlockMs = Annotated[int, Depends(partial(_once, "ms", partial(whole, 0, 1000)))]
IntervalMs = Annotated[int, Depends(partial(_once, "interval_ms", partial(whole, 10, 60000)))]
Calls = Annotated[int, Depends(partial(_once, "calls", partial(whole, 1, 1000)))]
Rounds = Annotated[int, Depends(partial(_once, "rounds", partial(whole, 1, 10000000)))]
Mode = Annotated[str, Depends(partial(_once, "mode", MODES))]
Offload = Annotated[str, Depends(partial(_once, "offload", partial(word, "false|true", "false or true")))]
BookId = Annotated[int, Depends(_book_id)]
BookName = Annotated[str, Depends(_book_name)]
