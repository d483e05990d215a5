"""Counts the sources of services with lizard, which reads every language that is here. Reads files and asks git; changes nothing.

Which files is data: the globs `code` of contenders.toml. How they are counted:

- lines: lizard's nloc; neither blank lines nor comments nor docstrings. Strings over several lines count whole.
- functions: those that lizard finds and that lie in no other one. It calls func literals of Go and arrow functions of JavaScript
  functions, but not lambdas of Java and Python nor closures of Rust; so whatever lies inside a function belongs to that, in every language.
- complexity: one for each function and one for each decision in the file, which is McCabe's sum over the functions (McCabe 1976), with the
  decisions that lizard cannot place in one. A decision: if, for, while, catch, except and finally, && and ||, a case, a match arm after the
  first, a condition in an expression (?:, ??), and Rust's ?, which returns early as `if err != nil` does in Go.

What it cannot see: an exception that passes through a function is a way out of it and counts nothing, unlike Go's and Rust's errors; nor do
the branches within a library's operators (onErrorResume, filter, then) or iterators, unlike the loops and ifs that they stand for. So
complexity compares two services of one language more fairly than those of two. The compact constructors of Java's records are no functions.
Lines depend on the formatter of the language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath
from typing import Any

import lizard  # type: ignore[import-untyped]

from nsb.measure.tools import BuildError, sources
from nsb.records.sources import Code, Size
from nsb.registry.load import Registry
from nsb.registry.services import Service

_MISREAD = {
    # It takes 'a' for a lifetime and the rest up to the next quote for a string.
    ".rs": (re.compile(r"'\w'"), "'.'"),
    # It takes the first method that returns a record for the record's constructor and sees none of those below.
    ".java": (re.compile(r"\brecord(?=\s+\w+\s*[<(])"), "class"),
}
"""What lizard 1.24.3 misreads, by the file's ending, and what it is given in its place, which has the same lines and decisions."""


def measure(root: Path, registry: Registry, contenders: Sequence[str]) -> Code:
    """The size of the service of each contender; one without globs has none.

    Raises BuildError where git is missing, where globs fit no file, or where lizard does not read a file's language.
    """
    services = {name: registry.contenders[name].service for name in contenders}
    sizes: dict[str, Size] = {}
    for name in dict.fromkeys(services.values()):
        service = registry.services[name]
        if service.code:
            found = files(root, service)
            if not found:
                raise BuildError(f"contenders.toml: service.{name}.code: fits no file of {service.folder}/")
            sizes[name] = total([count(path, (root / path).read_text(encoding="utf-8")) for path in found])
    return Code(tool=f"lizard {lizard.version}", services=sizes, contenders=services)


def files(root: Path, service: Service) -> list[str]:
    """The service's files that git tracks or would track and that its globs name, sorted, as paths from `root`; `!` leaves out again.

    Raises BuildError without git.
    """
    folder = root / service.folder

    def named(globs: Sequence[str]) -> set[str]:
        return {path.relative_to(root).as_posix() for each in globs for path in folder.glob(each)}

    wanted = named([each for each in service.code if not each.startswith("!")])
    wanted -= named([each[1:] for each in service.code if each.startswith("!")])
    return [path for path in sources(root, service.folder) if path in wanted]


def total(sizes: Sequence[Size]) -> Size:
    """Of several files together."""
    return Size(**{name: sum(getattr(size, name) for size in sizes) for name in Size.model_fields})


def count(name: str, text: str) -> Size:
    """One file, in the language of its name's ending. Raises BuildError for one that lizard does not read."""
    if lizard.get_reader_for(name) is None:
        raise BuildError(f"{name}: lizard {lizard.version} does not read this language")
    ending = PurePath(name).suffix
    if ending in _MISREAD:
        pattern, instead = _MISREAD[ending]
        text = pattern.sub(instead, text)
    found = _ANALYZER.analyze_source_code(name, text)
    functions = _outermost([(each.start_line, each.end_line) for each in found.function_list])
    return Size(files=1, lines=found.nloc, complexity=functions + found.decisions, functions=functions)


def _outermost(spans: Sequence[tuple[int, int]]) -> int:
    """How many of the functions, each from its first line to its last, begin in no other one."""
    number, reached = 0, 0
    for first, last in sorted(spans):
        number += first > reached
        reached = max(reached, last)
    return number


def _decisions(tokens: Iterator[str], reader: Any) -> Iterator[str]:
    """A processor of lizard's that counts what the others call decisions: those outside of the functions it finds are lost otherwise."""
    context = reader.context
    context.fileinfo.decisions = 0
    add = context.add_condition

    def counted(number: int = 1) -> None:
        context.fileinfo.decisions += number
        add(number)

    context.add_condition = counted
    yield from tokens


_ANALYZER = lizard.FileAnalyzer([*lizard.get_extensions([]), _decisions])
