"""Whether a run's records are still those that were written: a chain of hashes over its lines, and sums over its files once it is kept.

Both are evidence against accidents and naive edits only. Whoever changes a line and computes chain and sums again is not found:
there is no secret in them. What stands against that is git, and that every figure can be measured again.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from nsb.errors import Failure

CHAIN, SUMS = "chain.sha256", "SHA256SUMS"
CHAINED = ("cells.jsonl", "starts.jsonl")
"""The files whose lines are chained, in one chain, in the order in which they were written."""
FACTS = "run.json"
"""Written anew from time to time: its link has the hash of what is written next."""
SUMMED = (FACTS, *CHAINED, "code.json", CHAIN, "raw.tar.xz")
"""What a kept run has a sum of, where it is there."""
_LINK = re.compile(rb"([0-9a-f]{64})  (?:(cells\.jsonl|starts\.jsonl)|run\.json ([0-9a-f]{64}))\n")
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
    """File of CHAINED → bytes of it that the chain covers. A line beyond was being written when the harness ended: it does not count.
    And of the chain itself, without a last link whose run.json was never written."""


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
    facts: list[tuple[int, bytes]] = []
    whole = lines = 0
    with ExitStack() as opened:
        files = {name: opened.enter_context((folder / name).open("rb")) for name in CHAINED if (folder / name).exists()}
        for at, text in enumerate(links, 1):
            if not text.endswith(b"\n"):  # torn
                break
            found = _LINK.fullmatch(text)
            if found is None:
                raise Altered(f"{folder / CHAIN}, line {at}, is no link of a chain")
            whole, lines = whole + len(text), at
            if found[3] is not None:
                facts.append((at, found[3]))
                head = link(head, found[3])
                if head != found[1].decode():
                    raise Altered(f"{folder / CHAIN}, line {at}, does not follow from the one before it")
                continue
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
    if facts and not _written(folder, facts) and facts[-1][0] == lines:
        whole -= len(links[lines - 1])
    return Chain(head, {**ends, CHAIN: whole})


def _written(folder: Path, facts: Sequence[tuple[int, bytes]]) -> bool:
    """Whether run.json is the one that the last of these links is of. A link is written first: a harness that is killed then writes no
    run.json any more.

    Raises Altered where it is of none of the last two, and OSError.
    """
    there = [_sum(folder / FACTS).encode()] if (folder / FACTS).exists() else []
    last, *before = [known for _, known in reversed(facts[-2:])]
    if there and there[0] not in (last, *before):
        told = f"does not fit its hash in {CHAIN}, line {facts[-1][0]}: it was changed afterwards, or the last lines were taken away"
        raise Altered(f"{folder / FACTS} {told}")
    return there == [last]


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
