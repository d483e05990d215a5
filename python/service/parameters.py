"""What a request brings: parameters (C22) as FastAPI's annotations, the body of POST /books (C23) as a dependency."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Depends, HTTPException, Path, Query, Request
from pydantic import AfterValidator, BeforeValidator
from pydantic_core import from_json

from service.settings import whole, word

MAX_BODY = 65536
BODY_LIMIT_S = 20  # C27
MAX_NAME = 255


def _once(read: Callable[[str], int | str]) -> Any:
    """FastAPI hands over all values of a parameter only as a list. `read` gets the one, or nothing, which is wrong."""

    def one(values: list[str]) -> int | str:
        return read(values[0] if len(values) == 1 else "")

    return Annotated[list[str], Query(default_factory=list, validate_default=True), AfterValidator(one)]


if TYPE_CHECKING:  # what a handler gets
    Ms = int
    BlockMs = int
    IntervalMs = int
    Calls = int
    Rounds = int
    Mode = str
    Offload = str
else:
    Ms = _once(whole(0, 60000))
    BlockMs = _once(whole(0, 1000))
    IntervalMs = _once(whole(10, 60000))
    Calls = _once(whole(1, 1000))
    Rounds = _once(whole(1, 10000000))
    Mode = _once(word("concurrent|sequential", "concurrent or sequential"))
    Offload = _once(word("false|true", "false or true"))

BookId = Annotated[int, Path(), BeforeValidator(whole(1, 9007199254740991))]


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
    except TimeoutError:
        raise HTTPException(400, "the body must be JSON in UTF-8", {"Connection": "close"}) from None
    except ValueError:
        raise HTTPException(400, "the body must be JSON in UTF-8") from None
    match content:
        case {"name": str(name)} if 1 <= len(name) <= MAX_NAME:
            return name
    raise HTTPException(422, f"name must be a string of 1 to {MAX_NAME} characters")


BookName = Annotated[str, Depends(_book_name)]
