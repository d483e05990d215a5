"""The prose is plain: short sentences, short lines, short documents, and links that lead somewhere."""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nsb.registry.load import Registry
from nsb.render.markdown import wrapped
from nsb.render.messages import MESSAGES

ROOT = Path(__file__).resolve().parents[2]

MOST_SENTENCE_WORDS = 40
MOST_LINE = 160
MOST_METHOD_WORDS = 4000
MOST_TERMS = 25
MOST_README_LINES = 200
MOST_README_BYTES = 12 * 1024

NOT_CHECKED = {
    "docs/verdicts.md": "generated",
    "docs/verdicts.ko.md": "generated",
    "docs/guide.md": "generated",
    "docs/guide.ko.md": "generated",
    "bench/tests/golden/table.md": "generated",
}
"""Markdown whose sentences and lines are not checked, and why. Runs (bench/results) are generated too."""
FRONT_PAGES = ["README.md", "README.ko.md"]
"""Checked against the limits of a README too."""


def prose(text: str) -> list[str]:
    """Lines outside of code blocks and tables."""
    lines = []
    fenced = False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not line.lstrip().startswith("|"):
            lines.append(line)
        else:
            lines.append("")  # ends a paragraph
    return lines


def paragraphs(text: str) -> list[str]:
    """Each paragraph, list item and heading in one line."""
    found = [""]
    for line in prose(text):
        starts = not line.strip() or re.match(r"\s*([-*] |\d+\. |#|<!--)", line) or found[-1].startswith("#")
        if starts:
            found.append("")
        found[-1] = f"{found[-1]} {line.strip()}".strip()
    return [each for each in found if each]


def sentences(text: str) -> list[str]:
    """They end with a full stop, a question mark or an exclamation mark that whitespace or the paragraph's end follows."""
    plain = (re.sub(r"</?sub>", "", each) for each in paragraphs(text))
    return [sentence for each in plain for sentence in re.split(r"(?<=[.!?])\s+|(?<=[.!?][*)\"”])\s+", each)]


def words(sentence: str) -> int:
    """Marks such as `|`, `÷` or `·` are none."""
    return sum(1 for word in sentence.split() if re.search(r"\w", word))


def long_sentences(text: str) -> list[str]:
    return [sentence for sentence in sentences(text) if words(sentence) > MOST_SENTENCE_WORDS]


def long_lines(text: str) -> list[str]:
    return [line for line in prose(text) if len(line.encode()) > MOST_LINE]


def anchors(text: str) -> set[str]:
    """Those that GitHub gives to headings."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def dead_links(file: Path, text: str) -> list[str]:
    """Relative links to files or headings that do not exist."""
    dead = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", path):
            continue
        target = (file.parent / path) if path else file
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target.read_text(encoding="utf-8"))):
            dead.append(link)
    return dead


def terms(text: str) -> list[str]:
    """The first column of the glossary's table."""
    rows = re.findall(r"^\| (.+?) \|", text.split("\n## Glossary\n", 1)[1].split("\n## ", 1)[0], re.MULTILINE)
    return [row for row in rows if row != "term"]


def english(data: Any) -> Iterator[str]:
    """Each `en` of a TOML file."""
    for key, value in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        if key == "en":
            yield value
        else:
            yield from english(value)


def tracked() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    return [name for name in listed if not name.startswith("bench/results/") and (ROOT / name).is_file()]


CHECKED = [name for name in tracked() if name not in NOT_CHECKED]


@pytest.mark.parametrize("name", CHECKED)
def test_no_sentence_and_no_line_is_too_long(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert long_sentences(text) == []
    assert long_lines(text) == []


@pytest.mark.parametrize("name", [name for name in tracked() if NOT_CHECKED.get(name) == "generated" and name.startswith("docs/")])
def test_no_line_of_a_generated_page_is_too_long(name: str) -> None:
    assert long_lines((ROOT / name).read_text(encoding="utf-8")) == []


def test_no_sentence_of_the_reports_is_too_long() -> None:
    said = [en for en, _ in MESSAGES.values()]
    for name in ("claims", "digest"):
        said += english(tomllib.loads((ROOT / "bench" / f"{name}.toml").read_text(encoding="utf-8")))
    assert len(said) > len(MESSAGES) + 100
    assert [sentence for each in said for sentence in long_sentences(each)] == []


def test_no_comment_of_the_data_is_too_long() -> None:
    for name in (*(f"{name}.toml" for name in ("claims", "scenarios", "contenders", "digest")), "k6/load.js"):
        lines = (ROOT / "bench" / name).read_text(encoding="utf-8").splitlines()
        assert [line for line in lines if line.startswith(("#", "//")) and len(line) > MOST_LINE] == [], name


@pytest.mark.parametrize("name", [*CHECKED, "docs/verdicts.md", "docs/verdicts.ko.md"])
def test_every_relative_link_leads_somewhere(name: str) -> None:
    assert dead_links(ROOT / name, (ROOT / name).read_text(encoding="utf-8")) == []


def test_the_method_is_short() -> None:
    assert len((ROOT / "docs" / "method.md").read_text(encoding="utf-8").split()) <= MOST_METHOD_WORDS


def test_the_glossary_is_short_and_has_each_term_once() -> None:
    found = terms((ROOT / "docs" / "reading-the-table.md").read_text(encoding="utf-8"))
    assert 0 < len(found) <= MOST_TERMS
    assert len(found) == len(set(found))
    assert all("," not in term for term in found), "one term for each row"


def test_every_role_of_a_service_is_one_row_with_a_file_of_each_service(registry: Registry) -> None:
    services = {each.service for each in registry.contenders.values() if each.default}
    text = (ROOT / "docs" / "services.md").read_text(encoding="utf-8")
    head, *rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    assert len(head) == 1 + len(services)
    assert len(rows) >= 10
    for role, *files in rows:
        assert len(re.findall(r"\[[^\]]+\]\([^)]+\)", " | ".join(files))) == len(services), role


def test_a_front_page_is_short() -> None:
    for name in FRONT_PAGES:
        text = (ROOT / name).read_text(encoding="utf-8")
        assert (len(text.splitlines()) <= MOST_README_LINES, len(text.encode()) <= MOST_README_BYTES) == (True, True), name


@pytest.mark.parametrize("name", FRONT_PAGES)
def test_a_front_page_begins_with_what_this_is_then_a_picture_findings_and_the_table(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    places = [
        text.find(mark)
        for mark in ("\n**", "<picture>", "\n1. **", "<br><sub>", "](docs/verdicts", "\n./justw bench-all --tier smoke", "\n./justw test")
    ]
    assert -1 not in places
    assert places == sorted(places)
    assert re.search(r'<img alt="[^"]{80,}"\s+src="docs/picture\.\w\w\.light\.svg">', text)


def test_what_is_not_checked_exists() -> None:
    assert [name for name in [*NOT_CHECKED, *FRONT_PAGES] if not (ROOT / name).is_file()] == []


# ---- the checks themselves can fail ----


def test_a_long_sentence_is_found_wherever_it_stands() -> None:
    long = " ".join(["word"] * 41) + "."
    fine = " ".join(["word"] * 40) + "."
    for before, after in [("", ""), ("Short. ", " Short."), ("- ", ""), ("# Title\n\n", "\n"), ("> ", ""), ("A line\n", "")]:
        assert len(long_sentences(before + long + after)) == 1, before
    assert long_sentences(fine) == []
    assert long_sentences(f"{fine}\n{fine}\n- {fine}\n  {fine}") == []
    assert len(long_sentences("a\n" * 41)) == 1  # one sentence over many lines
    assert len(long_sentences("1. " + "a\n   " * 41)) == 1
    assert long_sentences("a · b ÷ " * 20) == []  # forty words, forty marks


def test_tables_and_code_are_no_prose() -> None:
    long = " ".join(["word"] * 50)
    assert long_sentences(f"| {long} |\n```sh\n{long}\n```\n") == []
    assert long_lines(f"| {long} |\n```sh\n{long}\n```\n") == []
    assert len(long_lines(f"```sh\nx\n```\n{long}")) == 1


def test_a_generated_page_is_wrapped_and_says_the_same() -> None:
    long, korean = " ".join(f"word{n}" for n in range(60)), " ".join(f"단어{n}" for n in range(60))
    items = f"- item\n  {long}\n1. {long}\n2. short\n"
    block = f"```sh\n{long}\n```"
    page = f"# title\n\n{items}\n<sub>{long}</sub>  \n<sub>short</sub>  \n| {long} |\n{'x ' * 60}`{'y ' * 20}`\n{block}\n{long}\n{korean}\n"
    found = wrapped(page)
    assert found.split() == page.split()
    assert long_lines(found) == []
    assert f"`{'y ' * 20}`" in found.splitlines()
    assert f"| {long} |" in found.splitlines()
    assert block in found  # it is copied into a terminal
    assert sum(line.endswith("  ") for line in found.splitlines()) == 2  # the line breaks are where they were: at the ends of paragraphs
    assert "<sub>short</sub>  \n" in found
    assert all(line.startswith("  word") for line in found.split("- item\n")[1].split("\n1. ")[0].splitlines())
    assert all(line.startswith("   word") for line in found.split("1. ")[1].split("\n2. ")[0].splitlines()[1:])


def test_a_line_may_be_160_bytes_long() -> None:
    assert [len(long_lines(letter * n)) for letter, n in (("x", 160), ("x", 161), ("값", 53), ("값", 54))] == [0, 1, 0, 1]


def test_words_on_both_sides_of_a_table_are_no_sentence() -> None:
    part = " ".join(["word"] * 30)
    assert long_sentences(f"{part}\n\n| a |\n\n{part}") == []
    assert long_sentences(f"{part}:\n| a |\n{part}") == []


def test_a_dead_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("## A heading, with `code`\n")
    here = "[a](page.md) [b](#a-heading-with-code) [c](page.md#a-heading-with-code) [d](https://example.org/x)"
    assert dead_links(page, page.read_text() + here) == []
    assert dead_links(page, "[a](gone.md) [b](#gone) [c](page.md#gone)") == ["gone.md", "#gone", "page.md#gone"]


def test_terms_are_those_of_the_glossary_alone() -> None:
    text = "| a | b |\n\n## Glossary\n\n| term | meaning |\n|---|---|\n| run | x |\n| open load | y |\n\n## Next\n\n| c | d |\n"
    assert terms(text) == ["run", "open load"]


def test_sentences_end_where_a_reader_sees_it() -> None:
    assert sentences("One is 1.5 s. *Two.* Is it? (Yes.) No") == ["One is 1.5 s.", "*Two.*", "Is it?", "(Yes.)", "No"]
