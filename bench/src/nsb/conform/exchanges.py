"""The exchanges of contract/exchanges.json: requests, each with its only right answer. Services are checked against
them (C1–C36), so that they all answer alike; what they do with requests that nobody wrote down is compared by odd.py."""

from __future__ import annotations

import base64
import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from nsb.conform.wire import NoAnswer, Reply, Request, ask
from nsb.registry.contract import ENDPOINTS, EXTRAS, endpoint

FILE: Final = Path(__file__).parents[4] / "contract" / "exchanges.json"
PIECE_BYTES: Final = 10_000
"""In a chunked request."""
SHOWN: Final = 80
"""Characters of a body in a title."""
_NOW = re.compile(r'"now":"\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}\.\d{6}"')
_CREATED = re.compile(r'\{"id":([1-9]\d*),')


@dataclass(frozen=True)
class Answer:
    """What must be the same in every service; generated ids and times are replaced by `{id}` and `{now}`."""

    status: int
    body: str
    content_type: str | None
    content_length: int | None
    location: str | None = None
    allow: str | None = None
    upgrade: str | None = None


@dataclass(frozen=True)
class Exchange:
    """A request, the rule that it belongs to, the answer to it, and the neighbours or optional endpoint that this answer needs."""

    rule: str
    title: str
    request: Request
    wanted: Answer
    needs: tuple[str, ...] = ()


# ---- reading ----


@cache
def exchanges() -> tuple[Exchange, ...]:
    """All of them, in the order of the file. Raises ValueError where two have one title, KeyError where one lacks a key."""
    table = tuple(exchange for group in _file()["groups"] for exchange in _of(group))
    twice = [title for title, number in Counter(exchange.title for exchange in table).items() if number > 1]
    if twice:
        raise ValueError(f"{FILE.name}: requests with one title: {twice}")
    return table


@cache
def away(neighbour: str) -> Answer:
    """What is answered while `database` or `upstream` is away (C37, C38)."""
    return _answer_from(_file()["away"][neighbour])


@cache
def _file() -> Any:
    return json.loads(FILE.read_text(encoding="utf-8"))


def _of(group: Mapping[str, Any]) -> Iterator[Exchange]:
    wanted = _answer_from(group["answer"])
    for said in group["requests"]:
        request = _request_from(said)
        answer = replace(wanted, body="") if request.method == "HEAD" else wanted
        yield Exchange(group["rule"], _title(request, said.get("why")), request, answer, tuple(group["needs"]))


def _answer_from(said: Mapping[str, Any]) -> Answer:
    body = bytes_of(said["body"]) if "body" in said else None
    headers = {name: said.get(name) for name in ("location", "allow", "upgrade")}
    length = None if body is None else len(body)
    return Answer(said["status"], (body or b"").decode(), said.get("content_type"), length, **headers)


def _request_from(said: Mapping[str, Any]) -> Request:
    body = bytes_of(said["body"]) if "body" in said else None
    made = Request(said["method"], said["target"], body, said.get("content_type"), headers=tuple(said.get("headers", {}).items()))
    if not said.get("chunked"):
        return made
    whole = body or b""
    return replace(made, body=None, chunks=tuple(whole[at : at + PIECE_BYTES] for at in range(0, len(whole), PIECE_BYTES)))


def bytes_of(said: Any) -> bytes:
    """A body in one of its three forms; contract/README.md describes them."""
    if isinstance(said, str):
        return said.encode()
    if isinstance(said, list):
        return b"".join(one.encode() if isinstance(one, str) else one["repeat"].encode() * one["times"] for one in said)
    return base64.b64decode(said["base64"], validate=True)


def _title(request: Request, why: str | None) -> str:
    parts = [f"{request.method} {request.target}", *(f"{name}: {value}" for name, value in request.headers)]
    if request.body is not None and request.content_type != "application/json" and request.target == "/books":
        parts.append(f"as {request.content_type}")
    if why is not None:
        parts.append(why)
    elif request.body or request.chunks is not None:
        body = (request.body or b"".join(request.chunks or ())).decode()
        chunked = "chunked " if request.chunks is not None else ""
        parts.append(chunked + ascii(body if len(body) <= SHOWN else f"{body[:SHOWN]}…"))
    return ", ".join(parts)


# ---- answers ----


def problem(status: int, title: str, detail: str) -> Answer:
    """C30: the problem document, its keys in order."""
    body = json.dumps({"type": "about:blank", "title": title, "status": status, "detail": detail}, separators=(",", ":"))
    return Answer(status, body, "application/problem+json", len(body))


def ok(body: str) -> Answer:
    return Answer(200, body, "application/json", len(body.encode()))


def answer_of(reply: Reply) -> Answer:
    """The part of a reply that is compared."""
    text, location = reply.text, reply.header("location")
    length = reply.header("content-length")
    content_length = int(length) if length is not None and length.isascii() and length.isdigit() else None
    text = _NOW.sub('"now":"{now}"', text)
    if reply.status == 201 and (match := _CREATED.match(text)):
        number = match[1]
        text = text.replace(number, "{id}", 1)
        location = location and location.replace(f"/books/{number}", "/books/{id}")
    if content_length is not None and reply.body:
        content_length += len(text.encode()) - len(reply.text.encode())
    media_type = reply.media_type
    return Answer(
        reply.status,
        text,
        media_type.lower() if media_type else None,
        content_length,
        location,
        reply.header("allow"),
        reply.header("upgrade"),
    )


def concerns(target: str, endpoints: Collection[str]) -> bool:
    """Whether the contract says how a service with these endpoints answers this target. True for unknown paths too."""
    return endpoint(target) in endpoints or endpoint(target) not in (*ENDPOINTS, *EXTRAS)


# ---- asking ----


def answer_to(base_url: str, request: Request) -> Answer:
    """Status 0: there was none."""
    try:
        return answer_of(ask(base_url, request))
    except NoAnswer as error:
        return Answer(0, f"no answer: {error}", None, None)


def sides_of(groups: Mapping[Answer, Sequence[str]]) -> str:
    """Who gave which answer, the most first."""
    sides = sorted(groups.items(), key=lambda side: -len(side[1]))
    return " · ".join(f"{', '.join(names)}: {shown(answer)}" for answer, names in sides)


def shown(answer: Answer) -> str:
    """An answer in one line."""
    body = answer.body if len(answer.body) <= 160 else f"{answer.body[:120]}… ({len(answer.body)} characters)"
    parts = [
        str(answer.status),
        answer.content_type or "no Content-Type",
        f"length {answer.content_length}",
        ascii(body),
    ]
    parts += [f"Location {answer.location}"] if answer.location is not None else []
    parts += [f"Allow {answer.allow}"] if answer.allow is not None else []
    parts += [f"Upgrade {answer.upgrade}"] if answer.upgrade is not None else []
    return ", ".join(parts)
