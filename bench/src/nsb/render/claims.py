"""claims.md, and the verdicts for READMEs and the terminal: each claim with its verdict, our figures and the article's. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from rich.table import Table as Grid
from rich.text import Text

from nsb.analyse.doubts import often
from nsb.analyse.merged import Across
from nsb.registry.claims import (
    ArithmeticRule,
    CapRule,
    Claims,
    CodeRule,
    Comparison,
    Conclusion,
    FigureRule,
    Judged,
    JudgedAside,
    JudgedClaim,
    JudgedNumber,
    Judgement,
    LimitRule,
    Reported,
    Row,
)
from nsb.registry.terms import SHARES, Metric, grouped
from nsb.render import messages
from nsb.render.messages import Language, own, text
from nsb.render.terminal import columns
from nsb.render.words import bound_sign, number, of_width, plain, signed

BAR = "\\|"
"""A bar within a cell of a Markdown table."""
MOST_RUNS = 3
"""Of those that say the same of a claim so many are named, the newest: nine times *too few rounds* says no more."""
_COLOURS: dict[Conclusion, str] = {
    "SUPPORTED": "green", "REFUTED": "red", "TAUTOLOGY": "cyan", "UNDECIDED": "yellow", "NOT_MEASURED": "dim",
}  # fmt: skip

# --- in a line ----------------------------------------------------------------------------------------------------------------


def verdict(found: JudgedClaim | Judged, language: Language) -> str:
    """The conclusion of a claim, or the verdict of a part: `undecided: too few rounds`."""
    key = found.conclusion if isinstance(found, JudgedClaim) else found.verdict
    word = text(f"verdict.{key}{'_IN_PART' if _in_part(found) else ''}", language)
    return f"{word}: {text(f'reason.{found.reason}', language)}" if found.reason else word


def _in_part(found: JudgedClaim | Judged) -> bool:
    """Whether it is supported, and says more than could be measured."""
    return isinstance(found, JudgedClaim) and found.conclusion == "SUPPORTED" and bool(found.outside)


def came(found: JudgedNumber | None, language: Language) -> str:
    """What becomes of the article's number: `undecided: the generator was the limit`."""
    if found is None:
        return text("number.NONE", language)
    word = text(f"number.{found.came}{'_BY_LAW' if _by_law(found) else ''}", language)
    return f"{word}: {text(f'reason.{found.reason}', language)}" if found.reason else word


def _by_law(found: JudgedNumber | None) -> bool:
    """Whether it is reproduced, and a law of queues gives it."""
    return found is not None and found.came == "AGAIN" and found.arithmetic


def number_figures(found: JudgedNumber, language: Language) -> str:
    """The article's number, ours and the factor, and what its own figures come to."""
    theirs = found.theirs
    told = [f"{own(theirs.what, language)}: {messages.amount(plain(theirs.value), theirs.unit, language)}"]
    if ours_beside := _ours_beside(found, language):
        told.append(ours_beside)
    if found.by_its_figures is not None:
        told.append(text("number.own", language, value=number(found.by_its_figures)))
    if found.lacks is not None:
        told.append(own(found.lacks, language))
    return "; ".join(told)


def _ours_beside(found: JudgedNumber, language: Language) -> str:
    """`ours 2.17 ×; ours ÷ theirs 1.50 (1.11–2.05, 95 %)`; empty where nothing is measured."""
    if found.value is None or found.factor is None:
        return ""
    sign = {"at_least": "≥", "at_most": "≤", None: ""}[found.bound]
    ours = messages.amount(f"{sign}{number(found.value)}{'?' if found.doubtful else ''}", found.theirs.unit, language)
    factor = f"{sign}{number(found.factor)}{_bounds(found.factor_low, found.factor_high, found.level)}"
    return text("number.ours", language, ours=ours, factor=factor)


def number_line(found: JudgedClaim, language: Language) -> str:
    """What becomes of it, and these figures: `The article's number: reproduced (…)`."""
    if found.number is None:
        return f"{text('claim.number', language)}: {text('number.NONE', language)}"
    return f"{text('claim.number', language)}: {came(found.number, language)} ({number_figures(found.number, language)})"


def question(found: JudgedClaim, language: Language) -> str:
    """That it needs no measurement, and why; empty where only a measurement can tell."""
    asked = found.question
    return "" if asked is None else text(f"question.{asked.kind}", language, why=own(asked.why, language))


def condition(found: JudgedClaim, language: Language) -> str:
    return "" if found.condition is None else text("claim.condition", language, condition=own(found.condition, language))


def outside(found: JudgedClaim, language: Language) -> str:
    """What of the claim no benchmark can measure; empty where there is nothing such."""
    said = "; ".join(own(each, language) for each in found.outside)
    return text("claim.outside", language, what=said) if said else ""


def deciding(found: JudgedClaim) -> list[Judged]:
    """The parts whose figures stand beside the conclusion: those of its verdict. Else what was looked at: of a tautology, or where another
    part was not measured."""
    own_ = [part for part in found.parts if part.verdict == found.conclusion != "NOT_MEASURED"]
    return own_ or [part for part in found.parts if part.verdict != "NOT_MEASURED"]


def figures(part: Judged, language: Language) -> list[str]:
    """The evidence for the part, a line for each comparison: a pair as ratio or difference, a single contender as its own figure."""
    if isinstance(part.rule, FigureRule | CapRule):
        return [_own_figure(part, row, language) for row in part.rows if row.value is not None]
    if isinstance(part.rule, LimitRule):
        return [_held_back(row, language) for row in part.rows]
    if part.beaten:
        name, criteria = min(part.beaten.items(), key=lambda each: len(each[1]))
        return [text("claim.beaten" if criteria else "claim.unbeaten", language, name=name, criteria=", ".join(criteria))]
    shown = [_comparison(part, each, language) for each in part.comparisons if each.value is not None]
    if not shown and part.computed is not None:
        beside = f"{part.rule.contender} ÷ {part.rule.other} " if isinstance(part.rule, CodeRule) else ""
        return [beside + number(part.computed)]
    return shown


def _held_back(row: Row, language: Language) -> str:
    """`go: event loop 6/6`: what limited a contender, and in how many of the rounds that count."""
    limits = ", ".join(f"{text(f'limit.{name}', language)} {count}/{row.rounds + row.censored}" for name, count in row.limits.items())
    return f"{row.contender}: {limits or '–'}"


def _own_figure(part: Judged, row: Row, language: Language) -> str:
    """`java-pt 219 KiB/request (206–231, 99 %)`: with the interval that was held against the value, where there is one."""
    metric: Metric = part.rule.metric if isinstance(part.rule, FigureRule) else "throughput"
    shown = _share if metric in SHARES else signed
    of = part.rule.value if isinstance(part.rule, FigureRule) else part.computed
    compared = next((each for each in part.comparisons if each.contender == row.contender and each.value is not None), None)
    if compared is None or of is None:
        value, low, high, level = row.value, row.low, row.high, 0.95
    else:
        times = of if compared.unit == "ratio" else 1.0
        value, low, high = (None if edge is None else edge * times for edge in (compared.value, compared.low, compared.high))
        level = compared.level
    amount = messages.amount(shown(value) + mark(part, row.contender), messages.unit_beside(metric), language)
    return f"{row.contender} {amount}{_bounds(low, high, level, shown)}"


def mark(part: Judged, *contenders: str | None) -> str:
    """`?` behind a figure of rounds that have doubts, as in the tables."""
    return "?" if any(row.contender in contenders and often(row.doubts, row.rounds + row.censored) for row in part.rows) else ""


def _share(value: float | None) -> str:
    """In whole percent, from 0 on: a share is none below."""
    return "–" if value is None else f"{max(0.0, value):.0f}"


def _comparison(part: Judged, found: Comparison, language: Language) -> str:
    assert found.value is not None
    beside = found.contender if found.other is None else f"{found.contender} {'÷' if found.unit == 'ratio' else '−'} {found.other}"
    unit = mark(part, found.contender, found.other) + ("" if found.unit == "ratio" else f" {messages.unit(found.unit, language)}")
    if found.low is not None and found.high is not None and any(_looks_met(each, found.border) for each in (found.low, found.high)):
        value, low, high = of_width(found.value, found.low, found.high, found.border)
        return f"{beside} {bound_sign(found)}{value}{unit} ({low}–{high}, {found.level * 100:.4g} %)"
    return f"{beside} {bound_sign(found)}{signed(found.value)}{unit}{_bounds(found.low, found.high, found.level)}"


def _looks_met(end: float, border: float | None) -> bool:
    """Whether an end of an interval would be printed as the border and is not the same."""
    return border is not None and end != border and signed(end) == signed(border)


def _bounds(low: float | None, high: float | None, level: float, shown: Callable[[float | None], str] = signed) -> str:
    """` (0.99–1.01, 99.8 %)`: Holm's procedure gives each comparison its own level."""
    return "" if low is None or high is None else f" ({shown(low)}–{shown(high)}, {level * 100:.4g} %)"


def missing(claim: JudgedClaim) -> list[str]:
    """What its parts need and the run lacks, each once."""
    return list(dict.fromkeys(name for part in claim.parts for name in part.missing))


def ours(claim: JudgedClaim, language: Language, most: int = 3) -> str:
    """The figures of the parts that decide, at most `most`, each with its scenario and figure."""
    shown: list[str] = []
    above = ""
    for part in deciding(claim):
        of = messages.figure_of(part.rule, language)
        for line in figures(part, language):
            shown.append(f"{of}: {line}" if of != above and of else line)
            above = of
    return _some(shown, most)


def mixed(claim: JudgedClaim, language: Language) -> str:
    """`of its 2 parts: 1 refuted, 1 not measured`; empty where they have one verdict."""
    found = Counter(part.verdict for part in claim.parts)
    if len(found) == 1:
        return ""
    told = ", ".join(text("claim.parts_with", language, n=found[word], verdict=text(f"verdict.{word}", language)) for word in found)
    return text("claim.mixed", language, n=len(claim.parts), told=told)


def reported(claimed: Sequence[Reported], language: Language, most: int = 3) -> str:
    """The article's own figures."""
    return _some([f"{own(each.what, language)}: {messages.amount(plain(each.value), each.unit, language)}" for each in claimed], most)


def _heads(language: Language) -> list[str]:
    """Of the three outcomes, and the figures."""
    return [text(key, language) for key in ("head.claim", "head.number", "head.conclusion", "claim.ours")]


def _some(lines: Sequence[str], most: int) -> str:
    return "; ".join(lines[:most]) + (f"; … (+{len(lines) - most})" if len(lines) > most else "")


def looked_at_by(found: Judgement) -> list[JudgedClaim]:
    """The claims that the run has data for."""
    return [claim for claim in found.claims if _looked_at(claim)]


def _looked_at(claim: JudgedClaim) -> bool:
    return _any_told(claim.parts) or (claim.number is not None and claim.number.value is not None)


def _any_told(parts: Iterable[Judged]) -> bool:
    return any(part.verdict != "NOT_MEASURED" for part in parts)


def _by_data(aside: JudgedAside) -> bool:
    """Whether the run has data for it: arithmetic is the same for every run."""
    return _any_told(part for part in aside.parts if not isinstance(part.rule, ArithmeticRule))


def not_measured(found: Judgement, language: Language) -> list[str]:
    """`not measured (no such scenario in the run): A3, D4`: a line for each reason, the most frequent first."""
    left_out = [claim for claim in found.claims if not _looked_at(claim)]
    by_reason = grouped(left_out, lambda claim: text(f"reason.{claim.reason}", language))
    word = text("verdict.NOT_MEASURED", language)
    most_first = sorted(by_reason.items(), key=lambda each: -len(each[1]))
    return [f"{word} ({reason}): {', '.join(each.id for each in of)}" for reason, of in most_first]


def counts(claims: Sequence[JudgedClaim], language: Language) -> str:
    """How many claims of articles have which conclusion, how many of their numbers are reproduced, and, apart, what became of sayings."""
    told = [claim for claim in claims if not claim.saying]
    sayings = [claim for claim in claims if claim.saying]
    numbers = [claim.number for claim in told if claim.number is not None]
    came_ = Counter(number.came for number in numbers)
    sentences = []
    if told:
        sentences.append(
            text("result.claims", language, all=len(told), articles=_articles(told, language), told=_concluded(told, language))
        )
    if numbers:
        by_law = sum(map(_by_law, numbers))
        sentences.append(
            text(
                "result.numbers",
                language,
                n=len(numbers),
                again=came_["AGAIN"],
                by_law=by_law,
                not_again=came_["NOT_AGAIN"],
                rest=len(numbers) - came_["AGAIN"] - came_["NOT_AGAIN"],
            )
        )
    if sayings:
        sentences.append(text("result.sayings", language, n=len(sayings), told=_concluded(sayings, language)))
    return " ".join(sentences)


def tally(claims: Sequence[JudgedClaim], language: Language) -> str:
    """How many claims of articles are supported and refuted, in a sentence for those who read nothing else."""
    told = [claim for claim in claims if not claim.saying]
    found = Counter(claim.conclusion for claim in told)
    return text(
        "digest.tally", language, all=len(told), articles=_articles(told, language), supported=found["SUPPORTED"], refuted=found["REFUTED"]
    )


def _articles(claims: Sequence[JudgedClaim], language: Language) -> str:
    found = len({claim.article for claim in claims})
    return text("count.articles.one" if found == 1 else "count.articles.many", language, n=found)


def _concluded(claims: Sequence[JudgedClaim], language: Language) -> str:
    """`supported 16 (6 by arithmetic, 2 as far as it can be measured), refuted 6, undecided 1`."""
    words = []
    for word in _COLOURS:
        of = [claim for claim in claims if claim.conclusion == word]
        arithmetic = sum(word == "SUPPORTED" and claim.question is not None and claim.question.kind == "arithmetic" for claim in of)
        beside = [text(f"result.{key}", language, n=n) for key, n in (("by_law", arithmetic), ("in_part", sum(map(_in_part, of)))) if n]
        told = text("result.of_them", language, told=", ".join(beside)) if beside else ""
        words += [f"{text(f'verdict.{word}', language)} {len(of)}{told}"] if of or word in ("SUPPORTED", "REFUTED") else []
    return ", ".join(words)


# --- several runs ---------------------------------------------------------------------------------------------------------------


def surprising(found: Sequence[Across], here: str, language: Language) -> str:
    """The few of the README: sentence, verdict and figure, with its run where that is not the one that the README tells of (`here`)."""

    def run(folder: str) -> str:
        return "" if folder == here else folder.rsplit("/", 1)[-1]

    lines = [f"| {' | '.join(_heads(language))} |", "|---|---|---|---|"]
    for each in found:
        claim, theirs = each.claim, each.claim.number
        figures_ = number_figures(theirs, language) if theirs is not None and theirs.reason is None else ""
        cells = (
            f"**{claim.id}** {own(claim.said, language)}",
            _below(came(theirs, language), [figures_, run(each.number_folder) if figures_ else ""]),
            _below(f"**{verdict(claim, language)}**", [condition(claim, language)]),
            _below(ours(claim, language, 1) or "–", [run(each.folder)]),
        )
        lines.append(f"| {' | '.join(cell.replace('|', BAR) for cell in cells)} |")
    return "\n".join(lines) + "\n"


def summary_across(found: Sequence[Across], language: Language, above: str = "") -> str:
    """All claims in one table, each with the runs that its number and its conclusion are from. `above`: from the page to the root."""

    def linked(folder: str) -> str:
        return f"[{folder.rsplit('/', 1)[-1]}]({above}{folder}/claims.md)"

    def runs_of(told: Iterable[tuple[str, str]]) -> list[str]:
        """A line for each outcome, with the runs that have it, the newest first."""
        runs: dict[str, list[str]] = {}
        for outcome, folder in told:
            runs.setdefault(outcome, []).append(linked(folder))
        return [f"{outcome}: {_some(those, MOST_RUNS)}" for outcome, those in runs.items()]

    def decided_as(one: JudgedNumber) -> str:
        """With what decided it: `not reproduced (ours 2.17 ×; …)`."""
        figures_ = _ours_beside(one, language) if one.reason is None else ""
        return f"{came(one, language)} ({figures_})" if figures_ else came(one, language)

    def beneath(each: Across) -> list[str]:
        lines = [mixed(each.claim, language), linked(each.folder)]
        lines += runs_of((verdict(claim, language), folder) for folder, claim in each.against)
        lines += [
            text("claim.part_elsewhere", language, n=part, verdict=text(f"verdict.{word}", language), run=linked(folder))
            for part, folder, word in each.parts
        ]
        return lines + [text("claim.set_aside", language, run=linked(run), why=own(why, language)) for run, why in each.set_aside]

    def beneath_number(each: Across) -> list[str]:
        number_ = each.claim.number
        elsewhere = number_ is not None and number_.value is not None and each.number_folder != each.folder
        return [
            *([linked(each.number_folder)] if elsewhere else []),
            *runs_of((decided_as(one), run) for run, one in each.numbers_against),
        ]

    return _grid([_line(each.claim, language, beneath(each), beneath_number(each)) for each in found], language)


# --- Markdown -----------------------------------------------------------------------------------------------------------------


def summary(found: Judgement, language: Language) -> str:
    """The claims that the run has data for in one table; below it the others, in a line for each reason."""
    lines = [_line(claim, language) for claim in looked_at_by(found)]
    others = "".join(f"- {line}\n" for line in not_measured(found, language))
    return "\n".join(block for block in (_grid(lines, language) if lines else "", others) if block)


def _grid(lines: Sequence[str], language: Language) -> str:
    return "\n".join(["| | " + " | ".join(_heads(language)) + " |", "|---|---|---|---|---|", *lines]) + "\n"


def _line(claim: JudgedClaim, language: Language, below_conclusion: Sequence[str] = (), below_number: Sequence[str] = ()) -> str:
    because = [f"{text('claim.instead', language)}: {own(aside.said, language)}" for aside in claim.instead]
    numbers = [number_figures(claim.number, language)] if claim.number else []
    cells = (
        f"**{claim.id}**",
        _below(own(claim.said, language), [question(claim, language), *because]),
        _below(came(claim.number, language), [*numbers, *below_number]),
        _below(verdict(claim, language), [condition(claim, language), outside(claim, language), *below_conclusion]),
        ours(claim, language) or "–",
    )
    return "| " + " | ".join(each.replace("|", BAR) for each in cells) + " |"


def _below(cell: str, lines: Sequence[str]) -> str:
    return cell + "".join(f"<br><sub>{line}</sub>" for line in lines if line)


def page(found: Judgement) -> str:
    """The whole of claims.md: a section for each claim that the run has data for, be it for a related question only."""
    told = [claim for claim in found.claims if _looked_at(claim) or any(map(_by_data, [*claim.instead, *claim.also]))]
    head = ["# Claims and verdicts\n", f"{messages.scope(found.scope, 'en')}\n", f"{counts(found.claims, 'en')}\n", summary(found, "en")]
    return "\n".join([*head, *map(_section, told)])


def _section(claim: JudgedClaim) -> str:
    lines = [f"## {claim.id} · {verdict(claim, 'en')}\n", f"{claim.said.en}\n"]
    lines += [f"- {line}" for line in (question(claim, "en"), condition(claim, "en"), outside(claim, "en")) if line]
    lines.append(f"- {number_line(claim, 'en')}")
    lines += [line for part in claim.parts for line in _part(part)]
    if claim.rounds_needed is not None:
        lines.append(f"- {text('claim.rounds_needed', 'en', n=claim.rounds_needed)}")
    for key, asides in (("claim.instead", claim.instead), ("claim.also", claim.also)):
        lines += [line for aside in asides if _any_told(aside.parts) for line in _aside(key, aside)]
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
    view = _view(_heads(language), [3, 2, 2, 3])
    for claim in looked_at_by(found):
        concluded = Text(verdict(claim, language), _COLOURS[claim.conclusion])
        view.add_row(claim.id, own(claim.said, language), came(claim.number, language), concluded, ours(claim, language, 2))
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
    view = columns([""])
    for head, width in zip(heads, widths, strict=True):
        view.add_column(head, ratio=width)
    return view
