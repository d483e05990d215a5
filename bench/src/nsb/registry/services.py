"""The tools and the services of contenders.toml. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pydantic import Field, field_validator

from nsb.registry.contract import EXTRAS
from nsb.registry.terms import Frozen


class Tool(Frozen):
    """A program that the machine must have: the first candidate whose version is at least `least`, and of `most` at the most, and of these
    the first one that is preferred."""

    candidates: list[str] = Field(min_length=1)
    version_arguments: list[str]
    version_pattern: str
    least: str = Field(pattern=r"^\d+(\.\d+)*$")
    most: str | None = Field(default=None, pattern=r"^\d+(\.\d+)*$")
    """Compared by as many numbers as it has: 21 lets 21.0.8 pass."""
    prefer_arguments: list[str] = []
    """The first candidate that ends with 0 when it is run with these is taken before any other."""
    unpreferred: str = ""
    """What it means that none does; it is told wherever the program is named."""
    install: str
    fetch: list[list[str]] = []
    """Commands that bring it to one of the candidates where none is found, so that a machine need not have it."""

    @field_validator("version_pattern")
    @classmethod
    def _compiles(cls, value: str) -> str:
        try:
            groups = re.compile(value).groups
        except re.error as error:
            raise ValueError(f"is not a regular expression: {error}") from None
        if groups != 1:
            raise ValueError("needs exactly one group, the version")
        return value


class Service(Frozen):
    """A folder that is built and tested by its own tools."""

    folder: str
    needs: list[str]
    build: list[list[str]]
    test: list[list[str]] = []
    tested_with: str | None = None
    """The service whose suite reads all of its code: `just test` does not build it as well."""
    build_environment: dict[str, str] = {}
    sources: list[str] = []
    """Further folders that it is built from."""
    code: list[str] = []
    """Globs in its folder that name the sources of the running program, whose size is told beside the results; `!` leaves out again."""
    extra: list[str] = []
    """Endpoints that it has beside those that all have."""

    @field_validator("extra")
    @classmethod
    def _left_open(cls, value: list[str]) -> list[str]:
        unknown = [one for one in value if one not in EXTRAS]
        if unknown:
            raise ValueError(f"the contract leaves open {', '.join(EXTRAS)} alone, not {', '.join(unknown)}")
        return value


def tools_named(commands: Iterable[Sequence[str]]) -> list[str]:
    """Ids of the tools whose path the commands ask for by {tool.ID}, each once."""
    return list(dict.fromkeys(name for command in commands for part in command for name in re.findall(r"\{tool\.([\w-]+)\}", part)))


def numbers(version: str) -> tuple[int, ...]:
    """To compare one with another."""
    return tuple(int(number) for number in re.findall(r"\d+", version))
