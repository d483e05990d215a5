"""`claims` and `compare`: what a run says of the claims, and two runs side by side."""

from __future__ import annotations

import sys
from pathlib import Path

from nsb.analyse.claims import judged
from nsb.analyse.compare import compare
from nsb.errors import Refused
from nsb.measure.journal import read_run, read_starts_of
from nsb.measure.outputs import read_code_of
from nsb.registry.load import ConfigurationError
from nsb.render import claims as verdicts
from nsb.render import compare as side_by_side
from nsb.render import messages
from nsb.verbs.common import DONE, INCOMPLETE, claims_of, console


def claims(run: Path | None, language: str) -> None:
    """The claims and what decides each; with a run their verdicts."""
    if language not in messages.LANGUAGES:
        raise ConfigurationError([f"--language: {language!r} is unknown; known are {', '.join(messages.LANGUAGES)}"])
    known = claims_of()
    if run is None:
        console.print(verdicts.listing(known, language))
        return
    facts, cells = read_run(run)
    found = judged(facts, cells, read_starts_of(run), read_code_of(run), known)
    if verdicts.looked_at_by(found):
        console.print(verdicts.grid(found, language))
    for line in verdicts.not_measured(found, language):
        console.print(line, style="dim", markup=False)
    console.print(f"{verdicts.counts(found, language)} {messages.scope(found.scope, language)}", markup=False)


def compare_runs(a: Path, b: Path) -> None:
    """Exits 1 where a cell of B is worse than in A."""
    found = compare(*read_run(a), *read_run(b))
    console.print(side_by_side.grid(found))
    for line in side_by_side.notes(found):
        console.print(line, style="dim", markup=False)
    if not found.judged:
        raise Refused("No cell could be judged, for the reasons above: this says nothing about A and B.")
    sys.exit(INCOMPLETE if found.worse else DONE)
