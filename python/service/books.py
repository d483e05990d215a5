"""/books (C9, C10)."""

from fastapi import HTTPException, Request, Response
from fastapi.responses import JSONResponse

from service.parameters import BookId, BookName


async def get_book(request: Request, book_id: BookId) -> Response:
    row, _ = await request.app.state.database.execute(request, "SELECT id, name FROM books WHERE id = %s", book_id)
    if row is None:
        raise HTTPException(404, f"book {book_id} does not exist")
    return JSONResponse({"id": row[0], "name": row[1]})


async def new_book(request: Request, name: BookName) -> Response:
    _, new_id = await request.app.state.database.execute(request, "INSERT INTO books (name) VALUES (%s)", name)
    return JSONResponse({"id": new_id, "name": name}, 201, {"Location": f"/books/{new_id}"})
