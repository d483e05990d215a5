"""openapi.yaml says what CONTRACT.md says: one of them changed alone fails here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from nsb.conform import exchanges, rules_edges
from nsb.registry.contract import ENDPOINTS, EXTRAS, endpoint

ROOT = Path(__file__).parents[2]
CONTRACT = (ROOT / "CONTRACT.md").read_text(encoding="utf-8")
OPENAPI: dict[str, Any] = yaml.safe_load((ROOT / "openapi.yaml").read_text(encoding="utf-8"))
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")


def resolved(node: Any) -> Any:
    """The document with every reference replaced by what it names."""
    if isinstance(node, dict):
        if "$ref" in node:
            target: Any = OPENAPI
            for name in node["$ref"].removeprefix("#/").split("/"):
                target = target[name]
            return resolved(target)
        return {key: resolved(value) for key, value in node.items()}
    return [resolved(one) for one in node] if isinstance(node, list) else node


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in OPENAPI["paths"].items():
        for method in METHODS:
            if method in item:
                yield method.upper(), path, resolved(item[method])


def by_rule() -> dict[str, tuple[str, str, dict[str, Any]]]:
    return {operation["x-rule"]: (method, path, operation) for method, path, operation in operations()}


def endpoints() -> dict[str, tuple[str, str, list[str], str]]:
    """Rule → method, path, names of its parameters in order, and what the table says of the answer."""
    found = {}
    for number, request, answer in re.findall(r"^\| (C\d+) \| `((?:GET|POST) [^`]+)`[^|]*\| (.+) \|$", CONTRACT, re.M):
        method, target = request.split(" ")
        parts = urlsplit(target)
        found[number] = method, parts.path, list(parse_qs(parts.query, keep_blank_values=True)), answer
    return found


def error_table() -> dict[str, tuple[int, str, list[str]]]:
    """Rule → status, title, details with their placeholders as they are."""
    rows = re.findall(r"^\| (C3\d) \| (\d{3}) ([^|]+?) \| (.+) \|$", CONTRACT, re.M)
    return {number: (int(status), title, re.findall(r"`([^`]+)`", details)) for number, status, title, details in rows}


def bounds() -> dict[str, tuple[int, int]]:
    """The bounds of C22 by name; `block` is the ms of /block and /pin."""
    sentence = CONTRACT.split("within bounds:")[1].split(";")[0]
    found = {name: (int(low), int(high)) for name, low, high in re.findall(r"(\w+)`?:? (\d+)–(\d+)", sentence)}
    assert set(found) == {"ms", "block", "calls", "rounds", "interval_ms", "id"}
    return found


def test_it_is_openapi() -> None:
    assert OPENAPI["openapi"].startswith("3.1.")
    assert list(OpenAPIV31SpecValidator(OPENAPI).iter_errors()) == []


def test_the_same_endpoints_under_the_same_rules() -> None:
    stated = {number: (method, path, names) for number, (method, path, names, _) in endpoints().items()}
    described = {
        number: (method, path, [one["name"] for one in operation.get("parameters", []) if one["in"] == "query"])
        for number, (method, path, operation) in by_rule().items()
    }
    assert len(stated) == 17
    assert described == stated
    assert len(list(operations())) == len(described)


def test_the_same_bounds() -> None:
    for _, path, operation in operations():
        for parameter in operation.get("parameters", []):
            assert parameter["required"] is True
            if parameter["schema"]["type"] != "integer":
                continue
            key = "block" if path in ("/block", "/pin") else parameter["name"]
            schema = parameter["schema"]
            assert (schema["minimum"], schema["maximum"]) == bounds()[key], f"{path} {key}"


def test_the_suite_has_the_same_bounds() -> None:
    suite = {
        "ms": (0, exchanges.MOST_MS),
        "block": (0, exchanges.MOST_BLOCK_MS),
        "calls": (1, exchanges.MOST_CALLS),
        "rounds": (1, exchanges.MOST_ROUNDS),
        "interval_ms": (exchanges.LEAST_INTERVAL_MS, exchanges.MOST_INTERVAL_MS),
        "id": (1, exchanges.MOST_ID),
    }
    assert suite == bounds()
    (message,) = re.findall(r"message of more than (\d+) bytes", CONTRACT)
    assert int(message) == exchanges.MOST_MESSAGE_BYTES == by_rule()["C15"][2]["x-max-message-bytes"]
    (body,) = re.findall(r"at most (\d+) bytes", CONTRACT)
    assert int(body) == exchanges.MOST_BODY_BYTES == by_rule()["C10"][2]["x-max-body-bytes"]
    assert f"1–{exchanges.MOST_CHARACTERS} code points" in CONTRACT
    assert OPENAPI["components"]["schemas"]["Name"]["maxLength"] == exchanges.MOST_CHARACTERS


def test_the_same_limits() -> None:
    sizes = CONTRACT.split("**C26 Sizes**")[1].split("\n- ")[0]
    times = CONTRACT.split("**C27 Slow clients**")[1].split("\n- ")[0]
    stated = [*re.findall(r"(\d+) (?:bytes|headers)", sizes), *re.findall(r"(\d+) s (?:after it began|after its head)", times)]
    limits = [rules_edges.LEAST_LINE, rules_edges.LEAST_HEAD, rules_edges.LEAST_HEADERS, rules_edges.HEAD_S, rules_edges.BODY_S]
    assert list(map(int, stated)) == limits == list(OPENAPI["x-limits"].values())


def test_the_same_endpoints() -> None:
    assert {*ENDPOINTS, *EXTRAS} == {endpoint(path) for _, path, _ in operations()}
    assert {path: operation["x-rule"] for _, path, operation in operations() if operation.get("x-extra")} == EXTRAS


def test_the_same_words() -> None:
    schemas = {one["name"]: one["schema"] for _, _, operation in operations() for one in operation.get("parameters", [])}
    for name in ("mode", "offload", "how"):
        *others, last = schemas[name]["enum"]
        assert f"{name} must be given once, as {', '.join(others)} or {last}" in CONTRACT


@pytest.mark.parametrize("number", [f"C{each}" for each in range(31, 40)])
def test_the_same_problems(number: str) -> None:
    status, title, details = error_table()[number]
    (described,) = [one for one in resolved(OPENAPI["components"]["responses"]).values() if one.get("x-rule") == number]
    schema = described["content"]["application/problem+json"]["schema"]
    assert (schema["properties"]["status"]["const"], schema["properties"]["title"]["const"]) == (status, title)
    assert exchanges.TITLES[status] == title
    for detail in details:
        problem = {"type": "about:blank", "title": title, "status": status, "detail": detail}
        Draft202012Validator(schema).validate(problem)
        assert not Draft202012Validator(schema).is_valid({**problem, "detail": f"{detail}."})


def test_the_same_refusal_without_an_upgrade() -> None:
    sentence = CONTRACT.split("**C24 WebSockets**")[1].split("\n- ")[0]
    (described,) = [one for one in resolved(OPENAPI["components"]["responses"]).values() if one.get("x-rule") == "C24"]
    wanted = exchanges.NO_UPGRADE
    assert described["headers"]["Upgrade"]["schema"]["const"] == wanted.upgrade
    refusal = json.loads(wanted.body)
    Draft202012Validator(described["content"]["application/problem+json"]["schema"]).validate(refusal)
    for words in (f"{wanted.status} {refusal['title']}", f"`{refusal['detail']}`", f"`Upgrade: {wanted.upgrade}`"):
        assert words in " ".join(sentence.split()), words


def test_every_bound_has_its_problem() -> None:
    wanted = {f"{name} must be given once, as a whole number from {low} to {high}" for name, (low, high) in bounds().items()}
    wanted -= {one for one in wanted if one.startswith(("block", "id"))}
    wanted |= {f"ms must be given once, as a whole number from 0 to {bounds()['block'][1]}"}
    _, _, details = error_table()["C35"]
    described = resolved(OPENAPI["components"]["responses"]["BadRequest"])
    assert set(described["content"]["application/problem+json"]["schema"]["properties"]["detail"]["enum"]) == wanted | set(details)


def test_each_operation_has_the_problems_it_can_have() -> None:
    touches = {"database": ("C2", "C7", "C8", "C9", "C10"), "upstream": ("C11",)}
    for number, (_, _, operation) in by_rule().items():
        wanted = {"405", {"C10": "201", "C15": "101"}.get(number, "200")}
        wanted |= {"426"} if number == "C15" else set()
        wanted |= {"400"} if operation.get("parameters") or number == "C10" else set()
        wanted |= {"404"} if number == "C9" else set()
        wanted |= {"413", "415", "422"} if number == "C10" else set()
        wanted |= {"503"} if number in touches["database"] else set()
        wanted |= {"502"} if number in touches["upstream"] else set()
        assert set(operation["responses"]) == wanted, number


def test_answers_fit_the_schemas() -> None:
    """The examples of the contract's table, and those that the suite expects."""
    schemas = {
        number: next(iter(next(iter(operation["responses"].values()))["content"].values()))["schema"]
        for number, (_, _, operation) in by_rule().items()
        if number != "C15"  # a WebSocket has no body
    }
    for number, (*_, answer) in endpoints().items():
        for example in re.findall(r"`(\{\".*?\})`", answer):
            value = json.loads(example.replace('"result":…', '"result":1'))
            Draft202012Validator(schemas[number]).validate(value)
            assert list(value) == schemas[number]["required"], number
    for exchange in exchanges.exchanges():
        if exchange.rule in schemas and exchange.wanted.content_type == "application/json" and exchange.rule != "C10":
            value = json.loads(exchange.wanted.body.replace("{now}", "2026-01-31 12:34:56.123456"))
            Draft202012Validator(schemas[exchange.rule]).validate(value)


def test_the_same_shapes_of_runtime_and_stats() -> None:
    example = json.loads(CONTRACT.split("```json\n")[1].split("```")[0])
    runtime = resolved(OPENAPI["components"]["schemas"]["Runtime"])
    Draft202012Validator(runtime).validate(example)
    assert list(example) == runtime["required"] == list(runtime["properties"])
    settings = runtime["properties"]["settings"]
    assert list(example["settings"]) == settings["required"] == list(settings["properties"])
    (text,) = re.findall(r"`(\{\"requests_total\".*?\})`", CONTRACT)
    stats = OPENAPI["components"]["schemas"]["Stats"]
    Draft202012Validator(stats).validate(json.loads(text))
    assert list(json.loads(text)) == stats["required"] == list(stats["properties"])


def test_allow_is_as_the_contract_says() -> None:
    sentence = CONTRACT.split("**C21 Methods**")[1].split("\n- ")[0]
    assert [f"`{value}`" in sentence for value in OPENAPI["components"]["headers"]["Allow"]["schema"]["enum"]] == [True, True, True]
