"""CONTRACT.md, openapi.yaml, exchanges.json and settings.json say the same: one of them changed alone fails here."""

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

from nsb.conform import rules_edges, rules_stopping, rules_streaming
from nsb.conform.exchanges import FILE, Exchange, away, concerns, exchanges
from nsb.registry.contract import ENDPOINTS, EXTRAS, endpoint

FOLDER = Path(__file__).parents[2] / "contract"
CONTRACT = (FOLDER / "CONTRACT.md").read_text(encoding="utf-8")
OPENAPI: dict[str, Any] = yaml.safe_load((FOLDER / "openapi.yaml").read_text(encoding="utf-8"))
SETTINGS: dict[str, Any] = json.loads((FOLDER / "settings.json").read_text(encoding="utf-8"))
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
    assert bounds()["ms"] == (0, rules_stopping.MOST_MS)
    assert bounds()["interval_ms"] == (rules_streaming.LEAST_INTERVAL_MS, rules_stopping.MOST_INTERVAL_MS)
    (message,) = re.findall(r"message of more than (\d+) bytes", CONTRACT)
    assert int(message) == rules_streaming.MOST_MESSAGE_BYTES == by_rule()["C15"][2]["x-max-message-bytes"]
    (body,) = re.findall(r"at most (\d+) bytes", CONTRACT)
    assert int(body) == rules_edges.MOST_BODY == by_rule()["C10"][2]["x-max-body-bytes"]


# ---- exchanges.json ----


def posted(one: Exchange) -> bytes:
    return b"".join(one.request.chunks) if one.request.chunks is not None else one.request.body or b""


def test_the_file_has_the_form_that_its_readme_describes() -> None:
    body = {
        "anyOf": [{"type": "string"}, {"type": "array", "items": {"anyOf": [{"type": "string"}, closed(repeat="string", times="integer")]}}]
    }
    body["anyOf"].append(closed(base64="string"))
    request = closed(
        ["method", "target"], method="string", target="string", content_type="string", chunked="boolean", why="string", body=body
    )
    request["properties"]["headers"] = {"type": "object", "additionalProperties": {"type": "string"}}
    answer = closed(["status"], status="integer", content_type="string", body=body, location="string", allow="string", upgrade="string")
    needs = {"type": "array", "items": {"enum": ["database", "upstream", *EXTRAS]}, "maxItems": 1}
    group = closed(rule="string", needs=needs, answer=answer, requests={"type": "array", "items": request, "minItems": 1})
    whole = closed(away=closed(database=answer, upstream=answer), groups={"type": "array", "items": group})
    assert [error.message for error in Draft202012Validator(whole).iter_errors(json.loads(FILE.read_text(encoding="utf-8")))] == []
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert [key for key in (*request["properties"], *answer["properties"]) if key not in readme] == []


def closed(required: list[str] | None = None, **properties: Any) -> dict[str, Any]:
    """A JSON schema of an object with these keys and no other ones; of a type named by a word, or of a schema."""
    of = {name: {"type": one} if isinstance(one, str) else one for name, one in properties.items()}
    return {"type": "object", "properties": of, "required": [*of] if required is None else required, "additionalProperties": False}


def test_each_answer_is_one_that_openapi_knows_for_its_path() -> None:
    of_path = {endpoint(path): operation for method, path, operation in operations() if method == "GET"}
    posts = {path: operation for method, path, operation in operations() if method == "POST"}
    for one in exchanges():
        operation = posts.get(one.request.target) or of_path.get(endpoint(one.request.target))
        unknown = one.wanted.body == problem_of(404, "nothing is here") or operation is None
        if unknown or one.request.method == "HEAD" or one.wanted.status == 405:
            continue
        described = operation["responses"][str(one.wanted.status)] if operation else {}
        schema = described["content"][one.wanted.content_type]["schema"]
        value = one.wanted.body.replace("{now}", "2026-01-31 12:34:56.123456").replace('{"id":{id},', '{"id":10001,')
        Draft202012Validator(schema).validate(value if one.wanted.content_type == "text/plain" else json.loads(value))
        for name in ("Location", "Allow", "Upgrade"):
            assert (name in described.get("headers", {})) == (getattr(one.wanted, name.lower()) is not None), f"{one.title}: {name}"


def problem_of(status: int, detail: str) -> str:
    titles = {status: title for status, title, _ in error_table().values()}
    return json.dumps({"type": "about:blank", "title": titles[status], "status": status, "detail": detail}, separators=(",", ":"))


def test_each_bound_is_tried_on_its_other_side() -> None:
    tried = {one.request.target: one.wanted.status for one in exchanges() if one.request.method == "GET"}
    for _, path, operation in operations():
        parameters = [one for one in operation.get("parameters", []) if one["schema"]["type"] == "integer"]
        for name in [one["name"] for one in parameters]:
            low, high = bounds()["block" if path in ("/block", "/pin") else name]
            for value in (low - 1, high + 1):
                found = (
                    [f"/books/{value}"] if name == "id" else [one for one in tried if re.fullmatch(rf"{path}\?{name}={value}(&.*)?", one)]
                )
                assert [tried[one] for one in found] == [400], f"{path} {name}={value}"


def test_the_bounds_of_bodies_are_tried_on_both_sides() -> None:
    lengths = {(len(posted(one)), one.request.chunks is None): one.wanted.status for one in exchanges() if one.rule in ("C23", "C34")}
    for plain in (True, False):
        assert lengths[rules_edges.MOST_BODY, plain] == 201
        assert lengths[rules_edges.MOST_BODY + 1, plain] == 413
    (most,) = re.findall(r"string of 1–(\d+) code points", CONTRACT)
    assert OPENAPI["components"]["schemas"]["Name"]["maxLength"] == int(most)
    names = {len(json.loads(posted(one))["name"]): one.wanted.status for one in exchanges() if "letters" in one.title}
    assert names == {int(most): 201, int(most) + 1: 422}


def test_the_numbers_of_compute() -> None:
    """Marsaglia's 32-bit xorshift, 13, 17, 5 (Xorshift RNGs, 2003): the first number of his xor32 is 723471715."""
    wanted = {
        int(one.request.target.split("=")[1]): json.loads(one.wanted.body)["result"]
        for one in exchanges()
        if one.rule == "C12" and one.wanted.status == 200
    }
    assert wanted[1] == 723_471_715
    x = 2_463_534_242
    for number in range(1, max(wanted) + 1):
        x ^= (x << 13) & 0xFFFFFFFF
        x ^= x >> 17
        x ^= (x << 5) & 0xFFFFFFFF
        assert wanted.get(number, x) == x, f"{number} rounds"


def test_needs_says_who_can_be_away() -> None:
    """Only an answer that the neighbour gave needs it: whatever is refused is refused without it."""
    touches = {"/readyz": "database", "/sleep-query": "database", "/slow-query": "database", "/books": "database", "/fanout": "upstream"}
    for one in exchanges():
        at = endpoint(one.request.target)
        gave = one.wanted.status < 300 or re.search(r"book \d+ does", one.wanted.body) or (one.wanted.status == 404 and one.rule == "C21")
        wanted = [at] if at in EXTRAS else [touches[at]] if at in touches and gave else []
        assert list(one.needs) == wanted, one.title
    for neighbour, number in (("database", "C38"), ("upstream", "C37")):
        status, _, (detail,) = error_table()[number]
        assert (away(neighbour).status, away(neighbour).body) == (status, problem_of(status, detail))


def test_every_endpoint_is_asked() -> None:
    for name in (*ENDPOINTS, *EXTRAS):
        assert any(endpoint(one.request.target) == name for one in exchanges()), name
        assert not concerns(name, [])


# ---- settings.json ----


def variables() -> dict[str, tuple[str, str]]:
    """Variable → its default and its bounds, as the table of C50 has them."""
    rows = re.findall(r"^\| `([A-Z_]+)` \| ([^|]+) \| ([^|]+) \|$", CONTRACT, re.M)
    return {name: (default.strip("` "), meaning) for name, default, meaning in rows}


def test_the_same_settings() -> None:
    assert list(dict.fromkeys(one["variable"] for one in SETTINGS["variables"])) == list(variables())
    assert f"exit code {SETTINGS['exit']} " in CONTRACT
    for one in SETTINGS["variables"]:
        default, meaning = variables()[one["variable"]]
        assert one["default"] in (default, None), one["variable"]
        if found := re.search(r"from (\d+) to (\d+)$", one.get("sentence", "")):
            low, high = found.groups()
            assert f"{'WORKERS' if 'WORKERS' in one.get('with', {}) else low}–{high}" in meaning, one["variable"]
            assert one["good"] == [low, high]
        assert one["bad"], one["variable"]
        assert ("begins" in one) != ("sentence" in one), one["variable"]


def test_each_bad_url_has_the_password_that_no_line_may_hold() -> None:
    (url,) = [one for one in SETTINGS["variables"] if one["variable"] == "DATABASE_URL"]
    assert "{value}" not in url["begins"]
    assert all(f":{rules_stopping.PASSWORD}@" in value for value in url["bad"] if value)


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
    for detail in details:
        problem = {"type": "about:blank", "title": title, "status": status, "detail": detail}
        Draft202012Validator(schema).validate(problem)
        assert not Draft202012Validator(schema).is_valid({**problem, "detail": f"{detail}."})


def test_the_same_refusal_without_an_upgrade() -> None:
    sentence = CONTRACT.split("**C24 WebSockets**")[1].split("\n- ")[0]
    (described,) = [one for one in resolved(OPENAPI["components"]["responses"]).values() if one.get("x-rule") == "C24"]
    wanted = next(one.wanted for one in exchanges() if one.request.target == "/ws" and one.wanted.status == 426)
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
        wanted = {{"C10": "201", "C15": "101"}.get(number, "200")}
        wanted |= {"426"} if number == "C15" else {"405"}
        wanted |= {"400"} if operation.get("parameters") or number == "C10" else set()
        wanted |= {"404"} if number == "C9" else set()
        wanted |= {"413", "415", "422"} if number == "C10" else set()
        wanted |= {"503"} if number in touches["database"] else set()
        wanted |= {"502"} if number in touches["upstream"] else set()
        assert set(operation["responses"]) == wanted, number


def test_answers_fit_the_schemas() -> None:
    """The examples of the contract's table."""
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
    assert [f"`{value}`" in sentence for value in OPENAPI["components"]["headers"]["Allow"]["schema"]["enum"]] == [True, True]
