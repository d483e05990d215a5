"""What every verb shares: where the project is, exit codes, what is said and where. Imports little: each verb imports its own."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from nsb.errors import Refused

if TYPE_CHECKING:
    from nsb.registry.claims import Claims
    from nsb.registry.digest import DigestPlan
    from nsb.registry.load import Registry

DONE, INCOMPLETE, USAGE, REFUSED = 0, 1, 2, 3
ROOT = Path(__file__).resolve().parents[4]
"""The project's root: the harness is run from its checkout."""
BENCH = ROOT / "bench"

console = Console(highlight=False, width=None if sys.stdout.isatty() else 100)
errors = Console(stderr=True, highlight=False, soft_wrap=True)


def registry_of() -> Registry:
    """Raises ConfigurationError."""
    from nsb.registry.load import load

    return load(BENCH)


def claims_of(registry: Registry | None = None) -> Claims:
    """Raises ConfigurationError."""
    from nsb.registry.load import load_claims

    return load_claims(BENCH, registry or registry_of())


def digest_of(registry: Registry | None = None) -> DigestPlan:
    """Raises ConfigurationError."""
    from nsb.registry.load import load_digest

    return load_digest(BENCH, registry or registry_of())


def found_run(named: Path) -> Path:
    """The folder of a run that is named by its path, or by its id alone. Raises Refused."""
    if named.is_dir():
        return named
    for home in ("out", "results"):
        if len(named.parts) == 1 and (BENCH / home / named).is_dir():
            return BENCH / home / named
    known = sorted((file.parent.name for home in ("out", "results") for file in BENCH.glob(f"{home}/*/run.json")), reverse=True)
    newest = f"; the newest there are {', '.join(known[:3])}" if known else ""
    raise Refused(f"{named} is neither the folder of a run nor the id of one in bench/out or bench/results{newest}")


def tell_unchained(folder: Path) -> None:
    """Says of a run from before lines were chained what finds a change in it."""
    from nsb.measure.integrity import SUMS, chain_of

    if chain_of(folder) is None:
        found = f"{SUMS} alone tells whether a file was changed" if (folder / SUMS).exists() else "nothing tells whether a line was changed"
        console.print(f"{folder} has no chain of hashes, it is from before there was one: {found}", style="dim", markup=False)


def say(sentence: str) -> None:
    console.print(f"  {sentence}", markup=False, soft_wrap=True)


def tell_left_out(left_out: Mapping[str, str]) -> None:
    for name, why in left_out.items():
        errors.print(f"left out: {name}: {why}", markup=False)


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """A folder for a command that keeps nothing."""
    with tempfile.TemporaryDirectory(prefix="nsb-") as folder:
        yield Path(folder)
