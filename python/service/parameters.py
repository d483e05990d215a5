"""What a request brings: parameters (C22) and bodies (C23), checked with the texts of C33-C36."""

import asyncio
import json
import re
from typing import NoReturn

from fastapi import Request

from service.problems import Problem

# Sixteen digits hold every bound; int() itself refuses more than 4300 with an error of its own.
WHOLE_NUMBER = re.compile(r"0|[1-9][0-9]{0,15}", re.ASCII)
MAX_ID = 9007199254740991
MAX_BODY = 65536
BODY_LIMIT_S = 20  # C27
MAX_NAME = 255


def whole(request: Request, name: str, low: int, high: int) -> int:
    value = _given_once(request, name)
    if value is None or not WHOLE_NUMBER.fullmatch(value) or not low <= int(value) <= high:
        raise Problem(400, f"{name} must be given once, as a whole number from {low} to {high}")
    return int(value)


def choice(request: Request, name: str, first: str, second: str) -> str:
    value = _given_once(request, name)
    if value != first and value != second:
        raise Problem(400, f"{name} must be given once, as {first} or {second}")
    return value


def book_id(request: Request) -> int:
    value = request.path_params["id"]
    if not WHOLE_NUMBER.fullmatch(value) or not 1 <= int(value) <= MAX_ID:
        raise Problem(400, f"id must be a whole number from 1 to {MAX_ID}")
    return int(value)


async def book_name(request: Request) -> str:
    """The name in the body of POST /books; checked in the order 415, 413, 400, 422 (C30)."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip(" \t")
    if media_type.lower() != "application/json":
        raise Problem(415, "the body must be application/json")
    try:
        content = json.loads(
            (await _body(request)).decode(),  # of bytes, json would guess UTF-16 and UTF-32 too
            parse_constant=_refuse,  # NaN and Infinity are not JSON
            parse_int=float,  # a number of 5000 digits is JSON, but int() refuses it
        )
    except (ValueError, RecursionError):
        raise Problem(400, "the body must be JSON in UTF-8") from None
    name = content.get("name") if isinstance(content, dict) else None
    if not isinstance(name, str) or not 1 <= len(name) <= MAX_NAME or any("\ud800" <= c <= "\udfff" for c in name):
        raise Problem(422, f"name must be a string of 1 to {MAX_NAME} characters")
    return name


def _given_once(request: Request, name: str) -> str | None:
    values = [value for key, value in request.query_params.multi_items() if key == name]
    return values[0] if len(values) == 1 else None


async def _body(request: Request) -> bytes:
    """The whole body; refused as soon as it is known to be too long."""
    too_large = Problem(413, f"the body must not exceed {MAX_BODY} bytes")
    length = request.headers.get("content-length", "0")  # digits: the server has checked it
    if len(length) > 15 or int(length) > MAX_BODY:
        raise too_large
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_LIMIT_S):
            async for chunk in request.stream():
                body += chunk
                if len(body) > MAX_BODY:
                    raise too_large
    except TimeoutError:
        raise Problem(400, "the body must be JSON in UTF-8", {"Connection": "close"}) from None
    return bytes(body)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
