"""`claims` and `compare`: what a run says of the claims, and two runs side by side."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from nsb.analyse.budget import budget
from nsb.analyse.claims import judged
from nsb.analyse.compare import Incomparable, compare
from nsb.analyse.judge import LEAST_ROUNDS
from nsb.analyse.quality import quality
from nsb.errors import Failure, Refused
from nsb.measure.journal import read_starts_of
from nsb.registry.load import ConfigurationError
from nsb.render import claims as verdicts
from nsb.render import compare as side_by_side
from nsb.render import messages, precision
from nsb.session.outputs import read_code_of
from nsb.session.runs import read_run
from nsb.verbs.common import BENCH, DONE, INCOMPLETE, claims_of, console, found_run, tell_unchained


def claims(run: Path | None, language: str) -> None:
    """The claims and what decides each; with a run their verdicts."""
    if language not in messages.LANGUAGES:
        raise ConfigurationError([f"--language: {language!r} is unknown; known are {', '.join(messages.LANGUAGES)}"])
    known = claims_of()
    if run is None:
        console.print(verdicts.listing(known, language))
        return
    run = found_run(run)
    facts, cells = read_run(run)
    tell_unchained(run)
    found = judged(facts, cells, read_starts_of(run), read_code_of(run), known)
    if verdicts.looked_at_by(found):
        console.print(verdicts.grid(found, language))
    for line in verdicts.not_measured(found, language):
        console.print(line, style="dim", markup=False)
    console.print(f"{verdicts.counts(found.claims, language)} {messages.scope(found.scope, language)}", markup=False)


def quality_of(run: Path, as_json: bool) -> None:
    """How precise a run was; a table, or every figure as JSON."""
    run = found_run(run)
    found = quality(*read_run(run))
    console.print(found.model_dump_json(indent=1) if as_json else precision.text(found), markup=False, soft_wrap=True)


def noise_of(runs: Sequence[Path], as_json: bool) -> None:
    """Where the noise of cost rows comes from, over these runs together. Raises Refused where none has a cost row."""
    found = budget([read_run(found_run(run)) for run in runs])
    if not found:
        raise Refused("none of these runs has a cost row: name one of tier standard or publish")
    if as_json:
        console.print(json.dumps([each.model_dump() for each in found], indent=1), markup=False, soft_wrap=True)
    else:
        console.print(precision.noise(found), markup=False, soft_wrap=True)


def compare_runs(a: Path, b: Path) -> None:
    """Exits 1 where a cell of B is worse than in A. Raises Refused where nothing can be judged, with two runs that can."""
    a, b = found_run(a), found_run(b)
    if a.resolve() == b.resolve():
        raise Refused(f"A and B are the same run ({a.name}): there is nothing to compare. Name a later run of the same plan as B.")
    try:
        found = compare(*read_run(a), *read_run(b))
    except Incomparable as error:
        raise Refused(f"{error} {_example()}") from None
    for run in (a, b):
        tell_unchained(run)
    console.print(side_by_side.grid(found))
    for line in side_by_side.notes(found):
        console.print(line, style="dim", markup=False)
    if not found.judged:
        raise Refused(f"No cell could be judged, for the reasons above: this says nothing about A and B. {_example()}")
    sys.exit(INCOMPLETE if found.worse else DONE)


def _example() -> str:
    """What can be compared, and two runs of this clone that can."""
    rule = f"Comparable are two runs of one plan on one machine, each with a twin and {LEAST_ROUNDS} rounds or more"
    pair = _two_that_judge()
    return f"{rule}." if pair is None else f"{rule}: ./justw compare {pair[0]} {pair[1]}"


def _two_that_judge() -> tuple[str, str] | None:
    """The newest two runs below bench/out and bench/results that can be compared and have a cell that is judged."""
    runs: list[tuple[str, Path, str]] = []
    for file in [*BENCH.glob("out/*/run.json"), *BENCH.glob("results/*/run.json")]:
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            run = json.loads(file.read_text(encoding="utf-8"))
            plan = run["plan"]
            if plan["rounds"] >= LEAST_ROUNDS and plan["controls"]:
                alike = json.dumps([run["host"]["cpu"], run["host"]["name"], run["host"]["cores"], plan["tier"], plan["profile"]])
                runs.append((run["started_at"], file.parent, alike))
    runs.sort(reverse=True)
    for number, (_, later, alike) in enumerate(runs):
        for _, earlier, other in runs[number + 1 :]:
            if other == alike:
                with contextlib.suppress(Failure):
                    if compare(*read_run(earlier), *read_run(later)).judged:
                        return earlier.name, later.name
    return None
