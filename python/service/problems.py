"""One mapping from errors to answers (C30-C39): problem documents after RFC 9457."""

from collections.abc import Mapping
from http import HTTPStatus

from fastapi import Request, Response
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

TITLES = {413: "Content Too Large", 422: "Unprocessable Content"}  # before 3.13 Python has older names for these


class Problem(Exception):
    """An error that has an answer: status, detail and headers."""

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status, detail)
        self.status, self.detail, self.headers = status, detail, headers


class UpstreamAway(Problem):
    def __init__(self) -> None:
        super().__init__(502, "the upstream did not answer")


class DatabaseAway(Problem):
    def __init__(self) -> None:
        super().__init__(503, "the database did not answer")


async def answer(_: Request, error: Exception) -> Response:
    """The answer to any error. What is none of ours is 500, and the server writes its cause to stderr (C39)."""
    match error:
        case Problem():
            return _document(error.status, error.detail, error.headers)
        case HTTPException(status_code=404):
            return _document(404, "nothing is here")
        case HTTPException(status_code=405):
            methods = (error.headers or {}).get("Allow", "").split(", ")  # a set: in any order
            return _document(405, "the method is not allowed here", {"Allow": ", ".join(sorted(methods))})
        case ClientDisconnect():
            return Response(status_code=499)  # nobody is there to read it
    return _document(500, "internal error")


def _document(status: int, detail: str, headers: Mapping[str, str] | None = None) -> Response:
    title = TITLES.get(status) or HTTPStatus(status).phrase
    content = {"type": "about:blank", "title": title, "status": status, "detail": detail}
    return JSONResponse(content, status, headers, media_type="application/problem+json")
