"""table.md, the blocks of the READMEs, and docs/verdicts.md. Pure."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nsb.analyse.controls import Control
from nsb.analyse.digest import Digest, surprises
from nsb.analyse.merged import Across, across
from nsb.analyse.table import Entry, Table
from nsb.registry.claims import Article, Judgement
from nsb.render import claims as verdicts
from nsb.render import controls as controls_
from nsb.render import digest, failing, fairness, idle, messages, overload, picture, starts, switches, words
from nsb.render.messages import Language, own, text


def table_block(table: Table, language: Language = "en") -> str:
    """The table alone."""
    return words.grid(
        table.contenders,
        ([f"**{each}**<br><sub>{words.unit(table, each, language)}</sub>", *map(_cell, table.row(each))] for each in table.scenarios),
    )


def _cell(entry: Entry) -> str:
    below = " ".join(part for part in (words.spread(entry), words.limit(entry)) if part)
    return f"{words.figure(entry)}<br><sub>{below}</sub>" if below else words.figure(entry)


def page(table: Table, run: dict[str, Any], controls: Sequence[Control] = ()) -> str:
    """The whole of table.md."""
    host = run["host"]
    parts = [
        "# No Silver Bullet: one run\n",
        table_block(table),
        "\n".join(f"{line}  " for line in words.legend(table)) + "\n",
        "## Cost and footprint\n",
        _footprint(table),
        *switches.section(table),
        *idle.section(table.idle),
        *overload.section(overload.grids(table.overloaded), "overload"),
        *overload.section(failing.grids(table.failed), "failing"),
        *starts.section(table.startups),
        *([controls_.section(controls)] if controls else []),
        *fairness.section(table, run),
        "## Machine\n",
        f"{host['cpu']}, {host['cores']} cores, {host['memory_gib']} GiB, {host['system']}, kernel {host['kernel']}. "
        f"Database {_database(run)}, {run['k6']}. Seed {run['plan']['seed']}, "
        f"commit {host['commit'][:12] or 'unknown'}"
        f"{' with uncommitted changes' if host['changed'] else ''}, started {run['started_at']}."
        f"{_containers(run)}{_warned(run)}{_order(run)}{_contract(run)}\n",
        "## Doubts and reasons\n",
        "\n".join(f"- {line}" for line in words.doubts(table)) or "None.",
        "",
    ]  # fmt: skip
    return "\n".join(parts)


def _containers(run: dict[str, Any]) -> str:
    found = run.get("containers")
    if not found:
        return ""
    return (
        f" Run as containers: Docker {found['engine']}, compose {found['compose']}, control groups {found['cgroup']}, "
        f"{found['network']} network, {found['memory_limit_mib']} MiB for each contender; k6 and the harness {found['generator']}. "
        "Memory is what the control group holds without idle file pages."
    )


def _warned(run: dict[str, Any]) -> str:
    """Of all its sittings, each sentence once."""
    findings = [each for sitting in (run, *run.get("sittings", [])) for each in (sitting.get("preflight") or {}).get("findings", [])]
    said = "; ".join(dict.fromkeys(each["sentence"] for each in findings if each["level"] == "warn"))
    return f" Before the run: {said}." if said else ""


def _order(run: dict[str, Any]) -> str:
    why = run["plan"].get("order_why")
    return f" {why}" if why else ""


def _contract(run: dict[str, Any]) -> str:
    """The contenders that passed the contract, if the run recorded it; a twin counts as its original."""
    found: dict[str, dict[str, Any]] = run.get("conformance", {})
    if not found:
        return ""
    but = "; ".join(f"{name} {rule.split()[0]} ({why})" for name, each in found.items() for rule, why in each["but"].items())
    return f" The contract was passed by {', '.join(found)}{f', but for: {but}' if but else ''}."


def _footprint(table: Table) -> str:
    """Peak memory, threads and connections of each contender, with their spread over the rounds."""
    shown = [found for found in table.footprints if found.contender in table.contenders]
    spans = {found.contender: (found.memory_mib, found.threads, found.db_connections) for found in shown}
    if not any(span for each in spans.values() for span in each):
        return "One round shows no spread of the peaks, so they give no figure here; each cell's are in table.csv.\n"
    said = f"The highest of each round over all its scenarios: {words.spans(span for each in spans.values() for span in each)}.\n"
    heads = ("memory peak, MiB (PSS)", "threads peak", "database connections")
    return f"{said}\n{words.grid(heads, ([name, *map(words.span, each)] for name, each in spans.items()))}"


BEGIN, END = "<!-- result:begin", "<!-- result:end -->"
COLUMNS = 140
"""A generated line of prose has as many characters at most, so that a change of one figure is a change of one line."""
ABOVE = "../"
"""From docs/ to the root."""
READMES: dict[str, Language] = {"README.md": "en", "README.ko.md": "ko"}


@dataclass(frozen=True)
class Reproduced:
    """An article, and the folders of the runs that repeat its own loads, below the root."""

    article: Article
    folders: list[str]


def _index(found: Sequence[Reproduced], language: Language) -> str:
    """A line for each article, with its pages."""
    lines = []
    for each in found:
        pages = [f"[{folder.rsplit('/', 1)[-1]}]({ABOVE}{folder}/articles/{each.article.id}.{language}.md)" for folder in each.folders]
        lines.append(f"- **{each.article.id}** {own(each.article.title, language)}: {', '.join(pages)}\n")
    return "\n".join([f"{text('article.index', language)}\n", "".join(lines)])


def readme_block(found: Digest, run: dict[str, Any], judged: Sequence[tuple[str, Judgement]], language: Language) -> str:
    """What stands between the markers of the README: the picture, the findings, the small table, the most surprising claims, and links.

    `judged`: folder and verdicts of that run, and of further ones after it.
    """
    folder, host = judged[0][0], run["host"]
    of_all = across(judged)
    claims = [each.claim for each in of_all]
    counted, tally = verdicts.counts(claims, language), verdicts.tally(claims, language)
    sentences = [*(digest.sentence(each, language) for each in found.findings), tally]
    told = [f"{number}. {sentence}" for number, sentence in enumerate(sentences, 1)]
    head = text(
        "digest.head", language, date=run["started_at"][:10], rounds=messages.rounds(run["plan"]["rounds"], language), machine=host["cpu"],
        cores=messages.cores(host["cores"], language), profile=text(f"digest.profile.{run['plan']['profile']}", language),
        database=_database(run), calls=_slow_calls(run, language),
    )  # fmt: skip
    by_id = {each.claim.id: each for each in of_all}
    surprising = [by_id[claim.id] for claim in surprises(claims)]
    links = text("digest.links", language, claims=f"docs/{VERDICTS[language]}", table=f"{folder}/table.md", run=folder)
    return "\n".join(
        [
            "",
            picture.markup(found, language, "docs"),
            f"<sub>{head}</sub>\n",
            *told,
            "",
            digest.table(found, language),
            *(f"<sub>{line}</sub>  " for line in digest.notes(found, language)),
            "",
            f"**{text('digest.claims', language)}.** {counted} {text('digest.means', language)}",
            "",
            verdicts.surprising(surprising, folder, language),
            links,
            "",
        ]
    )


def _slow_calls(run: Mapping[str, Any], language: Language) -> str:
    """How long a system call takes where the preflight warned of it."""
    warned = [each["inputs"] for each in run["preflight"]["findings"] if each["id"] == "kernel" and each["level"] == "warn"]
    return "".join(text("digest.calls", language, ns=f"{each['system_call_ns']:.0f}") for each in warned)


def _database(run: Mapping[str, Any]) -> str:
    return f"{run['database']['kind']} {run['database']['version']}"


VERDICTS: dict[Language, str] = {"en": "verdicts.md", "ko": "verdicts.ko.md"}
"""In docs/: every claim with its verdict over all committed runs."""


def verdicts_page(
    run: dict[str, Any], judged: Sequence[tuple[str, Judgement]], reproduced: Sequence[Reproduced], language: Language
) -> str:
    """The whole of docs/verdicts.md."""
    folder, found = judged[0][0], across(judged)
    return "\n".join(
        [
            f"# {text('verdicts.title', language)}\n",
            f"{text('verdicts.head', language)}\n",
            f"{verdicts.counts([each.claim for each in found], language)}\n",
            verdicts.summary_across(found, language, ABOVE),
            _index(reproduced, language),
            *(f"<sub>{line}</sub>  " for line in _machines(run, folder, found, judged, language)),
            "",
        ]
    )


def _machines(
    run: dict[str, Any], folder: str, found: Sequence[Across], judged: Sequence[tuple[str, Judgement]], language: Language
) -> list[str]:
    """The machine of the table, and the verdicts from runs on another one; two that say the same of themselves can be two."""
    host = run["host"]
    lines = [
        text(
            "result.machine", language, machine=host["cpu"], cores=messages.cores(host["cores"], language),
            database=_database(run), date=run["started_at"][:10],
            link=f"[{folder}]({ABOVE}{folder}/table.md)",
        )
    ]  # fmt: skip
    scopes = {name: judgement.scope for name, judgement in judged}
    used = [name for each in found for name in (each.folder, each.number_folder) if not scopes[name].alike(judged[0][1].scope)]
    for machine in dict.fromkeys(scopes[name].processor for name in used):
        names = ", ".join(dict.fromkeys(name.rsplit("/", 1)[-1] for name in used if scopes[name].processor == machine))
        lines.append(text("result.other_machines", language, machine=machine, names=names))
    return lines


def wrapped(page: str) -> str:
    """A page whose paragraphs and list items are lines of at most `COLUMNS` bytes of UTF-8: a Korean syllable is three, and as wide as two
    letters. Rows of tables and blocks of code stay as they are.
    """
    lines, fenced = list[str](), False
    for line in page.split("\n"):
        fenced ^= line.startswith("```")
        lines += [line] if fenced else _wrapped(line)
    return "\n".join(lines)


def _wrapped(line: str) -> list[str]:
    if len(line.encode()) <= COLUMNS or line.startswith("|"):
        return [line]
    begins = re.match(r" *((\d+\.|-) )?", line)
    assert begins is not None  # it may be empty
    whole = re.sub(r"`[^`]*`", lambda code: code[0].replace(" ", "\0"), line)  # what is code stays in one line: it is copied
    whole = re.sub(r"[^\0-\x7f]", lambda letter: letter[0] + "\1" * (len(letter[0].encode()) - 1), whole)  # textwrap counts letters
    found = textwrap.wrap(whole, COLUMNS, subsequent_indent=" " * len(begins[0]), break_long_words=False, break_on_hyphens=False)
    found = [part.replace("\0", " ").replace("\1", "") for part in found]
    return [*found[:-1], found[-1] + " " * (len(line) - len(line.rstrip()))]  # two blanks at its end are a line break


def with_block(text: str, block: str) -> str:
    """`text` with what stands between its markers replaced.

    Raises ValueError where the markers are missing.
    """
    begin, end = text.find(BEGIN), text.find(END)
    if begin < 0 or end < begin:
        raise ValueError(f"the markers {BEGIN} … and {END} are missing")
    line_end = text.index("\n", begin) + 1
    return text[:line_end] + block + text[end:]
