"""One verdict of several runs: which run decides a claim, and what the other ones say (docs/claims.md, Several runs). Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from nsb.analyse.judge import LEAST_ROUNDS
from nsb.registry.claims import JudgedClaim, JudgedNumber, Judgement, Said, Verdict

DECIDED = frozenset({"SUPPORTED", "REFUTED", "TAUTOLOGY", "AGAIN", "NOT_AGAIN"})
Run = tuple[str, JudgedClaim]
"""Its folder, and what it says of a claim."""


@dataclass(frozen=True)
class Across:
    """A claim as all runs together decide it."""

    claim: JudgedClaim
    """From the run that decides it, else from the one closest to a decision; its number from the run that decides that, no figure of it
    where runs disagree."""
    folder: str
    number_folder: str
    against: list[Run]
    """Runs that decided otherwise, or that were undecided where this one decides."""
    numbers_against: list[tuple[str, JudgedNumber]]
    """The same of the number."""
    set_aside: list[tuple[str, Said]]
    """Runs that do not count here, and why."""
    parts: list[tuple[int, str, Verdict]]
    """For each part that this run does not decide, by its number from 1: the first run that does, and its verdict."""


def across(runs: Sequence[tuple[str, Judgement]]) -> list[Across]:
    """Every claim of the first run, including those that other runs lack. `runs`: the run of the READMEs, then the others, newest first.

    The first run that decides is told. No verdict is made of two: where one run decides otherwise than another one, the claim is undecided
    until claims.toml explains one of them, which then does not count.
    """
    found: list[Across] = []
    for first in runs[0][1].claims:
        each = [(folder, claim) for folder, judgement in runs for claim in judgement.claims if claim.id == first.id]
        counted = [run for run in each if _name(run[0]) not in first.explained] or each
        folder, claim = _first(counted, lambda one: one.conclusion)
        decided = {one.conclusion for _, one in counted} & DECIDED
        if len(decided) > 1:
            claim = claim.model_copy(update={"conclusion": "UNDECIDED", "reason": "runs_disagree", "rounds_needed": None})
        against = [run for run in counted if _tells_otherwise(run[1].conclusion, claim.conclusion, decided)]
        number_folder, number, numbers_against = _number(counted)
        found.append(
            Across(
                claim=claim.model_copy(update={"number": number}),
                folder=folder,
                number_folder=number_folder,
                against=against,
                numbers_against=numbers_against,
                set_aside=[(run, first.explained[_name(run)]) for run, _ in each if _name(run) in first.explained],
                parts=_parts(claim, counted),
            )
        )
    return found


def _name(folder: str) -> str:
    return folder.rsplit("/", 1)[-1]


def _first(runs: Sequence[Run], word: Callable[[JudgedClaim], str]) -> Run:
    """The first run that decides, else the first that looked at it, else the first of those that decide most of its parts."""
    decided = [run for run in runs if word(run[1]) in DECIDED]
    looked = decided or [run for run in runs if word(run[1]) != "NOT_MEASURED"]
    return looked[0] if looked else max(runs, key=lambda run: _seen(run[1]))


def _seen(claim: JudgedClaim) -> tuple[int, int]:
    """How many of its parts the run decides, and at how many it looked."""
    return sum(part.verdict in DECIDED for part in claim.parts), sum(part.verdict != "NOT_MEASURED" for part in claim.parts)


def _number(runs: Sequence[Run]) -> tuple[str, JudgedNumber | None, list[tuple[str, JudgedNumber]]]:
    """Of numbers that the article's own figures contradict every run is sure: then the first that has measured it, too."""
    numbers = {folder: claim.number for folder, claim in runs if claim.number is not None}
    if not numbers:
        return runs[0][0], None, []
    measured = [run for run in runs if run[0] in numbers and numbers[run[0]].rounds >= LEAST_ROUNDS]
    came = {folder: number.came for folder, number in numbers.items()}
    sure = [run for run in measured if came[run[0]] in DECIDED]
    folder, _ = _first(sure or runs, lambda one: one.number.came if one.number else "NOT_MEASURED")
    number = numbers[folder]
    decided = set(came.values()) & DECIDED
    if len(decided) > 1:
        number = number.model_copy(update={"came": "UNDECIDED", "reason": "runs_disagree", "value": None, "factor": None})
    against = [(run, one) for run, one in numbers.items() if _tells_otherwise(one.came, number.came, decided)]
    return folder, number, against


def _tells_otherwise(word: str, told: str, decided: Collection[str]) -> bool:
    """Whether a run says another word than the one told, and decides; where any run decides, being undecided is another word, too."""
    return word != told and (word in DECIDED or (word == "UNDECIDED" and bool(decided)))


def _parts(claim: JudgedClaim, runs: Sequence[Run]) -> list[tuple[int, str, Verdict]]:
    found = []
    for index, part in enumerate(claim.parts if len(claim.parts) > 1 else []):
        same = [(folder, other.parts[index]) for folder, other in runs if len(other.parts) == len(claim.parts)]
        decided = [(index + 1, folder, other.verdict) for folder, other in same if other.verdict in DECIDED]
        found += decided[:1] if part.verdict not in DECIDED else []
    return found
