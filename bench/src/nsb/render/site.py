"""The index of the published copy: every committed run with its page, the newest standard run first. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from nsb.render import messages
from nsb.render.html import FOLDER
from nsb.render.messages import LANGUAGES, Language, text

INDEX: dict[Language, str] = {"en": "index.html", "ko": "index.ko.html"}


def index(runs: Sequence[tuple[str, Mapping[str, Any]]], language: Language) -> str:
    """`runs`: name of the folder and run.json, the newest first; a standard run is among them. No script, and nothing is fetched."""
    found = Environment(loader=FileSystemLoader(FOLDER), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    first = next((name for name, run in runs if run["plan"]["tier"] == "standard"), runs[0][0])
    return found.get_template("index.html.j2").render(
        runs=runs,
        first=first,
        language=language,
        others={other: INDEX[other] for other in LANGUAGES if other != language},
        t=lambda key, **values: text(key, language, **values),
        rounds=lambda n: messages.rounds(n, language),
        style=Markup((FOLDER / "style.css").read_text(encoding="utf-8")),
    )
