"""Sizes of code: one tool for all languages beside counts made by hand, and which files are counted."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from conftest import BENCH
from nsb.measure import code
from nsb.measure.tools import BuildError
from nsb.records.sources import Code, Size, read_code
from nsb.registry.load import Registry
from nsb.registry.services import Service

GO = """package main

// A comment.
import "fmt"

func main() {
	for i := 0; i < 3; i++ {
		if i > 1 && i < 3 {
			fmt.Println(i)
		}
	}
	func() {
		if true {
			return
		}
	}()
}

func twice(n int) int { return 2 * n }
"""
RUST = """//! Doc.
fn digit(text: &str) -> Option<u32> {
    /* two
       lines */
    let first = text.chars().next()?;
    if first == '0' || first == 'x' {
        return None;
    }
    Some(match first {
        '1' => 1,
        '2' => 2,
        _ => 3,
    })
}

fn pick<'a>(all: &'a [&'a str]) -> Option<&'a str> {
    all.iter().copied().find(|each| each.len() > 2 && !each.is_empty())
}
"""
JAVA = """package x;

/** Doc. */
class Books {
    record Book(long id, String name) {}

    Book find(long id) {
        return id > 0 ? new Book(id, "a") : null;
    }

    Book first(java.util.List<Book> all) {
        for (var each : all) {
            if (each.id() == 1 || each.name() == null) {
                return each;
            }
        }
        return all.stream().filter(b -> b.id() > 5 && b.id() < 9).findFirst().orElse(null);
    }

    int size(int kind) {
        try {
            return switch (kind) {
                case 1 -> 10;
                case 2 -> 20;
                default -> 0;
            };
        } catch (IllegalStateException wrong) {
            return -1;
        }
    }
}
"""
PYTHON = '''"""Doc."""
import os


def read(names):
    """Doc
    of two lines."""
    found = [n for n in names if n]  # a comment
    try:
        return found[0] if found and os.sep else None
    except IndexError:
        return None
    finally:
        print("x")


def outer():
    def inner(x):
        return x or 1
    return inner
'''
NODE = """// A comment.
import { a } from './a.js';

export function pick(list, other) {
  /* A comment. */
  const found = list.filter((each) => each > 1 && each < 9).map((each) => each ?? 0);
  for (const each of found) {
    if (each === 2 || other?.ok) return `${each}`;
  }
  return found.length > 0 ? found[0] : null;
}

export const twice = (n) => 2 * n;
"""


@pytest.mark.parametrize(
    ("name", "text", "lines", "functions", "decisions"),
    [
        ("main.go", GO, 15, 2, 4),  # for, if, &&, and the if of the literal, which is a part of main
        ("main.rs", RUST, 14, 2, 6),  # ?, if, ||, two more arms than one, and the && of the closure
        ("Books.java", JAVA, 26, 3, 8),  # ?:, for, if, ||, the lambda's &&, two cases, catch
        ("main.py", PYTHON, 13, 2, 7),  # for, if, if, and, except, finally, and the or of the inner function
        ("main.js", NODE, 9, 2, 6),  # &&, ??, for, if, ||, ?: but not ?.
    ],
)
def test_each_language_comes_to_what_was_counted_by_hand(name: str, text: str, lines: int, functions: int, decisions: int) -> None:
    assert code.count(name, text) == Size(files=1, lines=lines, functions=functions, complexity=functions + decisions)


def test_a_language_that_the_tool_does_not_read_is_refused() -> None:
    with pytest.raises(BuildError, match=r"main\.cobol: lizard .* does not read this language"):
        code.count("main.cobol", "")


# --- which files -------------------------------------------------------------------------------------------------------


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A service with a test, and what git ignores; one file is not committed yet."""
    for name, text in {
        "go/main.go": GO, "go/new.go": "package main\n", "go/main_test.go": GO, "go/built.go": GO,
        "go/.gitignore": "built.go\n",
    }.items():  # fmt: skip
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    for command in (["init", "--quiet"], ["add", "go/main.go", "go/main_test.go", "go/.gitignore"]):
        subprocess.run(["git", "-C", str(tmp_path), *command], check=True)
    return tmp_path


def with_globs(registry: Registry, service: str, globs: list[str]) -> Registry:
    changed = registry.services[service].model_copy(update={"code": globs})
    return registry.model_copy(update={"services": {**registry.services, service: changed}})


def test_tests_and_what_git_ignores_are_not_counted(checkout: Path, registry: Registry) -> None:
    found = code.measure(checkout, with_globs(registry, "go", ["*.go", "!*_test.go"]), ["go"])
    assert found.services == {"go": Size(files=2, lines=16, functions=2, complexity=6)}
    assert code.files(checkout, Service(folder="go", needs=[], build=[], code=["**/*.go"])) == [
        "go/main.go", "go/main_test.go", "go/new.go",
    ]  # fmt: skip


def test_globs_that_fit_nothing_are_refused_and_none_at_all_are_no_size(checkout: Path, registry: Registry) -> None:
    with pytest.raises(BuildError, match=r"contenders\.toml: service\.go\.code: fits no file of go/"):
        code.measure(checkout, with_globs(registry, "go", ["source/*.go"]), ["go"])
    found = code.measure(checkout, with_globs(registry, "go", []), ["go", "go-twin"])
    assert (found.services, found.contenders, found.size("go")) == ({}, {"go": "go", "go-twin": "go"}, None)


def test_each_service_of_a_default_contender_names_its_sources(registry: Registry) -> None:
    """Fails where a folder was renamed: each glob must fit files, and a glob that leaves out must have something to leave out."""
    root = BENCH.parent
    default = {contender.service for contender in registry.contenders.values() if contender.default}
    assert [name for name in default if not registry.services[name].code] == []
    for name, service in registry.proper_services.items():
        if not service.code:
            continue
        for each in service.code:
            one = service.model_copy(update={"code": [each.removeprefix("!")]})
            assert code.files(root, one), f"service.{name}.code: {each} fits nothing"
        counted = code.files(root, service)
        parts = {part for path in counted for part in Path(path).parts}
        assert not {part for part in parts if "test" in part.lower()}
        assert len({Path(path).suffix for path in counted}) == 1


def test_lines_agree_with_a_plain_count(registry: Registry) -> None:
    """Of the project's own services: lines that are neither blank nor begin with a comment. A misread quote would swallow lines."""
    for service in registry.proper_services.values():
        for path in code.files(BENCH.parent, service):
            text = (BENCH.parent / path).read_text()
            assert code.count(path, text).lines == plainly(text, "#" if path.endswith(".py") else "//"), path


def plainly(text: str, comment: str) -> int:
    lines, inside, ends = 0, False, '"""' if comment == "#" else "*/"
    for line in (line.strip() for line in text.splitlines()):
        if inside:
            inside = not line.endswith(ends)
        elif line.startswith(('"""', "/*")):
            inside = not (line.endswith(ends) and len(line) > 3)
        elif line and not line.startswith(comment):
            lines += 1
    return lines


# --- the record --------------------------------------------------------------------------------------------------------


def test_the_record_is_read_as_it_was_written_and_a_wrong_one_is_told_in_a_sentence() -> None:
    known = Code(tool="lizard 1", services={"s": Size(files=1, lines=2, complexity=3, functions=1)}, contenders={"a": "s", "b": "s"})
    assert read_code(known.model_dump_json()) == known
    assert known.size("b") == known.services["s"]
    for text, says in [("{", "the text: "), ('{"tool": "x", "services": {"s": {"files": 0}}}', "services.s.files: "), ("[]", "the text: ")]:
        with pytest.raises(ValueError, match="these are no sizes of code: " + says):
            read_code(text)
