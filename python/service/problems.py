"""One mapping from errors to answers (C30-C39): problem documents after RFC 9457."""

from http import HTTPStatus

from asyncmy.errors import InterfaceError, OperationalError
from fastapi import Request
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

DATABASE_AWAY = (OperationalError, InterfaceError, OSError)  # TimeoutError too; the upstream's are caught there
TITLES = {413: "Content Too Large", 422: "Unprocessable Content"}  # before 3.13 Python has older names for these


async def answer(_: Request, error: Exception) -> JSONResponse:
    """The answer to any error. What is none of ours is 500, and the server writes its cause to stderr (C39)."""
    known = error if isinstance(error, HTTPException) else HTTPException(500, "internal error")
    status, detail, headers = known.status_code, known.detail, known.headers
    match error:
        case HTTPException(status_code=404, detail="Not Found"):  # the router's
            detail = "nothing is here"
        case HTTPException(status_code=405, headers={"Allow": methods}):  # of a set: in any order
            detail, headers = "the method is not allowed here", {"Allow": ", ".join(sorted(methods.split(", ")))}
        case _ if isinstance(error, DATABASE_AWAY):
            status, detail = 503, "the database did not answer"
    title = TITLES.get(status) or HTTPStatus(status).phrase
    content = {"type": "about:blank", "title": title, "status": status, "detail": detail}
    return JSONResponse(content, status, headers, media_type="application/problem+json")
