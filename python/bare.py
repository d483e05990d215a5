"""Answers /hello with FastAPI and does nothing else: what the service is measured against by `just bare`."""

import os

import uvicorn
from fastapi import FastAPI
from fastapi.responses import PlainTextResponse

app = FastAPI()


@app.get("/hello")
async def hello() -> PlainTextResponse:
    return PlainTextResponse("hello")


if __name__ == "__main__":
    port = int(os.environ["PORT"])
    uvicorn.run(app, port=port, loop="uvloop", http="httptools", access_log=False, log_level="warning")
