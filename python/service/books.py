"""/books (C9, C10)."""

from fastapi import Request, Response
from fastapi.responses import JSONResponse

from service.parameters import BookId, BookName
from service.problems import Problem


async def get_book(request: Request, wanted: BookId) -> Response:
    row, _ = await request.app.state.database.execute(request, "SELECT id, name FROM books WHERE id = %s", wanted)
    if row is None:
        raise Problem(404, f"book {wanted} does not exist")
    return JSONResponse({"id": row[0], "name": row[1]})


async def new_book(request: Request, name: BookName) -> Response:
    _, new_id = await request.app.state.database.execute(request, "INSERT INTO books (name) VALUES (%s)", name)
    return JSONResponse({"id": new_id, "name": name}, 201, {"Location": f"/books/{new_id}"})
