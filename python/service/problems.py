"""One mapping from errors to answers (C30-C39): problem documents after RFC 9457."""

from collections.abc import Mapping

from fastapi import Request, Response
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

# Not http.HTTPStatus: its phrases for 413 and 422 are older than RFC 9110 before Python 3.13.
TITLES = {
    400: "Bad Request",
    404: "Not Found",
    405: "Method Not Allowed",
    413: "Content Too Large",
    415: "Unsupported Media Type",
    422: "Unprocessable Content",
    426: "Upgrade Required",
    500: "Internal Server Error",
    502: "Bad Gateway",
    503: "Service Unavailable",
}


class Problem(Exception):
    """An error that has an answer: status, detail and headers."""

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status, detail)
        self.status = status
        self.detail = detail
        self.headers = headers


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
        case _:
            return _document(500, "internal error")


def _document(status: int, detail: str, headers: Mapping[str, str] | None = None) -> Response:
    content = {"type": "about:blank", "title": TITLES[status], "status": status, "detail": detail}
    return JSONResponse(content, status, headers, media_type="application/problem+json")
