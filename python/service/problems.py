"""One mapping from errors to answers (C30-C39): problem documents after RFC 9457."""

from collections.abc import Mapping
from http import HTTPStatus

from fastapi import Request, Response
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

TITLES = {413: "Content Too Large", 422: "Unprocessable Content"}  # before 3.13 Python has older names for these


class DatabaseAway(HTTPException):
    def __init__(self) -> None:
        super().__init__(503, "the database did not answer")


async def answer(_: Request, error: Exception) -> Response:
    """The answer to any error. What is none of ours is 500, and the server writes its cause to stderr (C39)."""
    status, detail = 500, "internal error"
    headers: Mapping[str, str] | None = None
    match error:
        case ClientDisconnect():
            return Response(status_code=499)  # nobody is there to read it
        case HTTPException(status_code=404, detail="Not Found"):  # the router's
            status, detail = 404, "nothing is here"
        case HTTPException(status_code=405, headers={"Allow": methods}):  # of a set: in any order
            status, detail = 405, "the method is not allowed here"
            headers = {"Allow": ", ".join(sorted(methods.split(", ")))}
        case HTTPException():
            status, detail, headers = error.status_code, error.detail, error.headers
    title = TITLES.get(status) or HTTPStatus(status).phrase
    content = {"type": "about:blank", "title": title, "status": status, "detail": detail}
    return JSONResponse(content, status, headers, media_type="application/problem+json")
