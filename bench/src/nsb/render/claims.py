"""claims.md, and the verdicts for READMEs and the terminal: each claim with its verdict, our figures and the article's. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rich import box
from rich.table import Table as Grid
from rich.text import Text

from nsb.registry.claims import (
    ArithmeticRule,
    CapRule,
    Claims,
    CodeRule,
    Comparison,
    FigureRule,
    Judged,
    JudgedAside,
    JudgedClaim,
    Judgement,
    LimitRule,
    Reported,
    Row,
    Verdict,
)
from nsb.registry.terms import LATENCIES
from nsb.render import messages
from nsb.render.messages import Language, own, text
from nsb.render.words import bound_sign, number, plain, signed

BAR = "\\|"
"""A bar within a cell of a Markdown table."""
_COLOURS: dict[Verdict, str] = {"SUPPORTED": "green", "REFUTED": "red", "UNDECIDED": "yellow", "NOT_MEASURED": "dim"}


# --- in a line ----------------------------------------------------------------------------------------------------------------


def verdict(found: JudgedClaim | Judged, language: Language) -> str:
    """`undecided: too few rounds`."""
    word = text(f"verdict.{found.verdict}", language)
    return f"{word}: {text(f'reason.{found.reason}', language)}" if found.reason else word


def figures(part: Judged, language: Language) -> list[str]:
    """The evidence for the part, a line for each comparison: a pair as ratio or difference, a single contender as its own figure."""
    if isinstance(part.rule, FigureRule | CapRule):
        metric = part.rule.metric if isinstance(part.rule, FigureRule) else "throughput"
        unit = "ms" if metric in LATENCIES else messages.unit_of(metric, language)
        return [f"{_row(row)} {unit}" for row in part.rows if row.value is not None]
    if isinstance(part.rule, LimitRule):
        return [_held_back(row, language) for row in part.rows]
    shown = [_comparison(each) for each in part.comparisons if each.value is not None]
    if not shown and part.computed is not None:
        beside = f"{part.rule.contender} ÷ {part.rule.other} " if isinstance(part.rule, CodeRule) else ""
        return [beside + number(part.computed)]
    return shown


def _held_back(row: Row, language: Language) -> str:
    """`go: event loop 6/6`: what limited a contender, and in how many of the rounds that count."""
    limits = ", ".join(f"{text(f'limit.{name}', language)} {count}/{row.rounds + row.censored}" for name, count in row.limits.items())
    return f"{row.contender}: {limits or '–'}"


def _row(row: Row) -> str:
    assert row.value is not None
    return f"{row.contender} {number(row.value)}" + _bounds(row.low, row.high, 0.95)


def _comparison(found: Comparison) -> str:
    assert found.value is not None
    beside = found.contender if found.other is None else f"{found.contender} {'÷' if found.unit == 'ratio' else '−'} {found.other}"
    unit = "" if found.unit == "ratio" else f" {found.unit}"
    return f"{beside} {bound_sign(found)}{signed(found.value)}{unit}{_bounds(found.low, found.high, found.level)}"


def _bounds(low: float | None, high: float | None, level: float) -> str:
    """` (0.99–1.01, 99.8 %)`: Holm's procedure gives each comparison its own level."""
    return "" if low is None or high is None else f" ({signed(low)}–{signed(high)}, {level * 100:.4g} %)"


def instead(aside: JudgedAside) -> str:
    """The heading of another explanation: arithmetic uses no data of the run."""
    return "claim.by_arithmetic" if all(isinstance(part.rule, ArithmeticRule) for part in aside.parts) else "claim.instead"


def missing(claim: JudgedClaim) -> list[str]:
    """What its parts need and the run lacks, each once."""
    return list(dict.fromkeys(name for part in claim.parts for name in part.missing))


def ours(claim: JudgedClaim, language: Language, most: int = 3) -> str:
    """The figures of the parts that have the claim's verdict, at most `most`, each with its scenario and figure."""
    shown: list[str] = []
    above = ""
    for part in claim.parts:
        of = messages.figure_of(part.rule, language)
        for line in figures(part, language) if part.verdict == claim.verdict else []:
            shown.append(f"{of}: {line}" if of != above and of else line)
            above = of
    return _some(shown, most)


def mixed(claim: JudgedClaim, language: Language) -> str:
    """`of its 2 parts: 1 refuted, 1 not measured`; empty where every part has the claim's verdict."""
    found = Counter(part.verdict for part in claim.parts)
    if set(found) == {claim.verdict}:
        return ""
    told = ", ".join(text("claim.parts_with", language, n=found[word], verdict=text(f"verdict.{word}", language)) for word in found)
    return text("claim.mixed", language, n=len(claim.parts), told=told)


def reported(claimed: Sequence[Reported], language: Language, most: int = 3) -> str:
    """The article's own figures."""
    return _some([f"{own(each.what, language)}: {messages.amount(plain(each.value), each.unit, language)}" for each in claimed], most)


def _some(lines: Sequence[str], most: int) -> str:
    return "; ".join(lines[:most]) + (f"; … (+{len(lines) - most})" if len(lines) > most else "")


def looked_at_by(found: Judgement) -> list[JudgedClaim]:
    """The claims that the run has data for."""
    return [claim for claim in found.claims if claim.verdict != "NOT_MEASURED"]


def not_measured(found: Judgement, language: Language) -> list[str]:
    """`not measured (no such scenario in the run): A3, D4`: a line for each reason, the most frequent first."""
    by_reason: dict[str, list[str]] = {}
    for claim in found.claims:
        if claim.verdict == "NOT_MEASURED":
            by_reason.setdefault(text(f"reason.{claim.reason}", language), []).append(claim.id)
    word = text("verdict.NOT_MEASURED", language)
    return [f"{word} ({reason}): {', '.join(ids)}" for reason, ids in sorted(by_reason.items(), key=lambda each: -len(each[1]))]


def counts(found: Judgement, language: Language) -> str:
    """How many claims have which verdict, in a sentence."""
    return _counts("result.claims", found.claims, language)


def _counts(key: str, claims: Sequence[JudgedClaim], language: Language) -> str:
    by_verdict = {word: sum(claim.verdict == word for claim in claims) for word in _COLOURS}
    lacking = text("result.not_measured", language, n=by_verdict["NOT_MEASURED"]) if by_verdict["NOT_MEASURED"] else ""
    return text(key, language, all=len(claims), lacking=lacking, **by_verdict)


# --- several runs ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Across:
    """A claim with the verdicts of several runs."""

    claim: JudgedClaim
    """From the run that decides it, else from the one closest to a decision; among equals the first."""
    folder: str
    against: list[tuple[str, JudgedClaim]]
    """Runs that decided otherwise, or that were undecided where this one decides."""
    parts: list[tuple[int, str, Verdict]]
    """For each part that this run does not decide, by its number from 1: the first run that does, and its verdict."""


_CLOSEST: tuple[Verdict, ...] = ("SUPPORTED", "REFUTED", "UNDECIDED", "NOT_MEASURED")
_DECIDED = _CLOSEST[:2]


def across(runs: Sequence[tuple[str, Judgement]]) -> list[Across]:
    """Every claim of the first run, including those that other runs lack.

    No verdict is made of two: each is that of one run, and runs that disagree, or cannot tell, are told beside it.
    """
    found: list[Across] = []
    for first in runs[0][1].claims:
        each = [(folder, claim) for folder, judgement in runs for claim in judgement.claims if claim.id == first.id]
        decided = [(folder, claim) for folder, claim in each if claim.verdict in _DECIDED]
        folder, claim = (decided or sorted(each, key=lambda one: _CLOSEST.index(one[1].verdict)))[0]
        looked = [other for other in each if other[1].verdict in _CLOSEST[: 3 if decided else 2]]
        found.append(Across(claim, folder, [other for other in looked if other[1].verdict != claim.verdict], _parts(claim, each)))
    return found


def _parts(claim: JudgedClaim, runs: Sequence[tuple[str, JudgedClaim]]) -> list[tuple[int, str, Verdict]]:
    found = []
    for index, part in enumerate(claim.parts if len(claim.parts) > 1 else []):
        same = [(folder, other.parts[index]) for folder, other in runs if len(other.parts) == len(claim.parts)]
        decided = [(index + 1, folder, other.verdict) for folder, other in same if other.verdict in _DECIDED]
        found += decided[:1] if part.verdict not in _DECIDED else []
    return found


def counts_across(found: Sequence[Across], language: Language) -> str:
    """The same sentence of several runs."""
    return _counts("result.claims_across", [each.claim for each in found], language)


def surprising(found: Sequence[Across], language: Language) -> str:
    """The few of the README: sentence, verdict and figure."""
    heads = [text(key, language) for key in ("head.claim", "head.verdict", "claim.ours")]
    lines = [f"| {' | '.join(heads)} |", "|---|---|---|"]
    for each in found:
        claim = each.claim
        cells = (f"**{claim.id}** {own(claim.said, language)}", f"**{verdict(claim, language)}**", ours(claim, language, 1))
        lines.append(f"| {' | '.join(cell.replace('|', BAR) for cell in cells)} |")
    return "\n".join(lines) + "\n"


def summary_across(found: Sequence[Across], language: Language, above: str = "") -> str:
    """All claims in one table, each with the run that its verdict is from. `above`: from the page to the root."""

    def linked(folder: str) -> str:
        return f"[{folder.rsplit('/', 1)[-1]}]({above}{folder}/claims.md)"

    def beneath(each: Across) -> str:
        lines = [line for line in (mixed(each.claim, language),) if line]
        lines.append(linked(each.folder))
        lines += [f"{verdict(claim, language)}: {linked(folder)}" for folder, claim in each.against]
        lines += [
            text("claim.part_elsewhere", language, n=part, verdict=text(f"verdict.{word}", language), run=linked(folder))
            for part, folder, word in each.parts
        ]
        return "".join(f"<br><sub>{line}</sub>" for line in lines)

    return _grid([_line(each.claim, language, beneath(each)) for each in found], language)


# --- Markdown -----------------------------------------------------------------------------------------------------------------


def summary(found: Judgement, language: Language) -> str:
    """The claims that the run has data for in one table; below it the others, in a line for each reason."""
    lines = [_line(claim, language) for claim in looked_at_by(found)]
    others = "".join(f"- {line}\n" for line in not_measured(found, language))
    return "\n".join(block for block in (_grid(lines, language) if lines else "", others) if block)


def _grid(lines: Sequence[str], language: Language) -> str:
    heads = [text(key, language) for key in ("head.claim", "head.verdict", "claim.ours", "claim.reported")]
    return "\n".join(["| | " + " | ".join(heads) + " |", "|---|---|---|---|---|", *lines]) + "\n"


def _line(claim: JudgedClaim, language: Language, below_verdict: str = "") -> str:
    because = "".join(f"<br><sub>{text(instead(aside), language)}: {own(aside.said, language)}</sub>" for aside in claim.instead)
    cells = (
        f"**{claim.id}**",
        own(claim.said, language) + because,
        verdict(claim, language) + below_verdict,
        ours(claim, language) or "–",
        reported(claim.reported, language, 2) or "–",
    )
    return "| " + " | ".join(each.replace("|", BAR) for each in cells) + " |"


def page(found: Judgement) -> str:
    """The whole of claims.md."""
    head = ["# Claims and verdicts\n", f"{messages.scope(found.scope, 'en')}\n", f"{counts(found, 'en')}\n", summary(found, "en")]
    return "\n".join([*head, *(_section(claim) for claim in found.claims)])


def _section(claim: JudgedClaim) -> str:
    lines = [f"## {claim.id} · {verdict(claim, 'en')}\n", f"{claim.said.en}\n"]
    lines += [line for part in claim.parts for line in _part(part)]
    if claim.rounds_needed is not None:
        lines.append(f"- {text('claim.rounds_needed', 'en', n=claim.rounds_needed)}")
    lines += [line for aside in claim.instead for line in _aside(instead(aside), aside)]
    lines += [line for aside in claim.also for line in _aside("claim.also", aside)]
    if claim.reported:
        lines.append(f"- {text('claim.reported', 'en')}: {reported(claim.reported, 'en', len(claim.reported))}")
    return "\n".join(lines) + "\n"


def _aside(key: str, aside: JudgedAside) -> list[str]:
    said = f"- {text(key, 'en')}: {aside.said.en} **{text(f'verdict.{aside.verdict}', 'en')}**"
    return [said, *(f"  {line}" for part in aside.parts for line in _part(part))]


def _part(part: Judged) -> list[str]:
    lacks = f" {text('claim.missing', 'en', names=', '.join(part.missing))}" if part.missing else ""
    lines = [f"- {messages.asked_of(part, 'en')} → **{verdict(part, 'en')}**{lacks}"]
    lines += [f"  - {line}" for line in figures(part, "en")]
    lines += [f"  - {messages.bound_of(each, 'en')}" for each in part.comparisons if each.bound is not None and each.value is not None]
    for row in part.rows:
        doubts = f"; {row.doubts} of {row.rounds + row.censored} rounds in doubt" if row.doubts else ""
        lines.append(f"  - {text('head.limit', 'en')}: {_held_back(row, 'en')}{doubts}")
    return lines


# --- the terminal ---------------------------------------------------------------------------------------------------------------


def grid(found: Judgement, language: Language) -> Grid:
    """For 100 columns: the claims that the run has data for."""
    view = _view([text(key, language) for key in ("head.claim", "head.verdict", "claim.ours")], [3, 2, 3])
    for claim in looked_at_by(found):
        view.add_row(claim.id, own(claim.said, language), Text(verdict(claim, language), _COLOURS[claim.verdict]), ours(claim, language, 2))
    return view


def listing(claims: Claims, language: Language) -> Grid:
    """The claims without verdicts, and what decides each."""
    view = _view([text("head.claim", language), text("claim.parts", language)], [3, 4])
    for claim in claims.claims.values():
        profile = [text("asks.profile", language, profile=claim.profile)] if claim.profile else []
        asked = [messages.asked(rule, language) for rule in claim.parts]
        view.add_row(claim.id, own(claim.said, language), "\n".join([*asked, *profile]))
    return view


def _view(heads: Sequence[str], widths: Sequence[int]) -> Grid:
    view = Grid(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    view.add_column("", no_wrap=True)
    for head, width in zip(heads, widths, strict=True):
        view.add_column(head, ratio=width)
    return view
