"""Whether a run's records are still those that were written: a chain of hashes over its lines, and sums over its files once it is kept.

Both are evidence against accidents and naive edits only. Whoever changes a line and computes chain and sums again is not found:
there is no secret in them. What stands against that is git, and that every figure can be measured again.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from nsb.errors import Failure

CHAIN, SUMS = "chain.sha256", "SHA256SUMS"
CHAINED = ("cells.jsonl", "starts.jsonl")
"""The files whose lines are chained, in one chain, in the order in which they were written."""
SUMMED = ("run.json", *CHAINED, "code.json", CHAIN, "raw.tar.xz")
"""What a kept run has a sum of, where it is there."""
_LINK = re.compile(rb"([0-9a-f]{64})  (cells\.jsonl|starts\.jsonl)\n")
_SUM = re.compile(r"([0-9a-f]{64})  ([\w.-]+)")


class Altered(Failure):
    """A record is not what was written; the message names the file, and the line where a chain tells it."""

    exits = 1


@dataclass(frozen=True)
class Chain:
    """A chain that holds."""

    head: str
    """The last hash, 64 hexadecimal digits; empty before the first line."""
    ends: dict[str, int]
    """File of CHAINED → bytes of it that the chain covers. A line beyond was being written when the harness ended: it does not count."""


def link(previous: str, line: bytes) -> str:
    """The hash of a line (with its newline) that follows `previous`: SHA-256 of both, as 64 hexadecimal digits."""
    return hashlib.sha256(previous.encode() + line).hexdigest()


def chain_of(folder: Path) -> Chain | None:
    """The chain of a run, each of its links compared with its line; None for a run without one.

    A line is written before its link, so one line may have none: that of a harness that was killed between the two.
    Raises Altered for a line that was changed, taken away, or put in, and OSError for a file that cannot be read.
    """
    try:
        links = (folder / CHAIN).read_bytes().splitlines(keepends=True)
    except FileNotFoundError:
        return None
    head, ends, numbers = "", dict.fromkeys(CHAINED, 0), dict.fromkeys(CHAINED, 0)
    with ExitStack() as opened:
        files = {name: opened.enter_context((folder / name).open("rb")) for name in CHAINED if (folder / name).exists()}
        for at, text in enumerate(links, 1):
            if not text.endswith(b"\n"):  # torn
                break
            found = _LINK.fullmatch(text)
            if found is None:
                raise Altered(f"{folder / CHAIN}, line {at}, is no link of a chain")
            name = found[2].decode()
            numbers[name] += 1
            line = files[name].readline() if name in files else b""
            if not line.endswith(b"\n"):
                raise Altered(f"{folder / name}, line {numbers[name]}, is missing: {CHAIN}, line {at}, has its hash")
            head = link(head, line)
            if head != found[1].decode():
                told = f"does not fit its hash in {CHAIN}, line {at}: one of them was changed after it was recorded"
                raise Altered(f"{folder / name}, line {numbers[name]}, {told}")
            ends[name] += len(line)
        beyond = [name for name, file in files.items() for line in file if line.endswith(b"\n")]
    if len(beyond) > 1:
        raise Altered(f"{folder / beyond[0]}, line {numbers[beyond[0]] + 1}, was put in afterwards: {CHAIN} ends before it")
    return Chain(head, ends)


def sums(folder: Path) -> str:
    """The content of SHA256SUMS, as `sha256sum -c` reads it: a line for each file of SUMMED that is there. Raises OSError."""
    return "".join(f"{_sum(folder / name)}  {name}\n" for name in SUMMED if (folder / name).exists())


def verify(folder: Path) -> Chain | None:
    """The chain that holds, as chain_of; and the sums of a run that is kept. Chain first: it names the line. Raises Altered and OSError."""
    chain = chain_of(folder)
    try:
        text = (folder / SUMS).read_text(encoding="utf-8")
    except FileNotFoundError:
        return chain
    listed = dict(_listed(folder, text))
    for name, known in listed.items():
        if not (folder / name).exists():
            raise Altered(f"{folder / name} is missing: {SUMS} lists it")
        if _sum(folder / name) != known:
            raise Altered(f"{folder / name} was changed after the run was kept: {SUMS} has another hash for it")
    for name in SUMMED:
        if name not in listed and (folder / name).exists():
            raise Altered(f"{folder / name} was put in after the run was kept: {SUMS} does not list it")
    return chain


def _listed(folder: Path, text: str) -> Iterator[tuple[str, str]]:
    """Name and hash of each line."""
    for number, line in enumerate(text.splitlines(), 1):
        found = _SUM.fullmatch(line)
        if found is None:
            raise Altered(f"{folder / SUMS}, line {number}, is no hash and name of a file")
        yield found[2], found[1]


def _sum(file: Path) -> str:
    with file.open("rb") as door:
        return hashlib.file_digest(door, "sha256").hexdigest()
