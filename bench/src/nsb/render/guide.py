"""docs/guide.md: which contender for which workload, from the cells of a run and its cost model. Pure.

A line whose figures the run does not have is left out: no answer stands without them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from nsb.analyse.digest import ALIKE, Digest, Factor, Place, Row, sides
from nsb.analyse.model import CostModel, Quantity
from nsb.analyse.size import EXAMPLES, Sized, Workload, sized
from nsb.analyse.worked import Worked
from nsb.registry.digest import DigestPlan, Question
from nsb.render import digest as figures
from nsb.render import html_size, messages, size
from nsb.render.messages import LANGUAGES, Language, own, text
from nsb.render.words import number

PAGES: dict[Language, str] = {"en": "guide.md", "ko": "guide.ko.md"}
"""In docs/."""
NEAR = 2.0
"""Who surely costs at most so many times the least is told as near it."""


def page(plan: DigestPlan, found: Digest, model: CostModel, worked: Mapping[str, Sequence[Worked]], folder: str, language: Language) -> str:
    """The whole page. `folder`: of the run, below the root; `model`: of the committed runs; `worked`: workload → what runs say."""
    return "\n".join(
        [
            f"# {text('guide.title', language)}\n",
            f"{text('guide.head', language, near=f'{NEAR:g}')}\n",
            *(_item(each, folder, language) for each in answers(plan, found, model, language)),
            "",
            f"{text('guide.outside', language)}\n",
            f"## {text('guide.examples', language)}\n",
            f"{text('guide.examples_head', language)}\n",
            *(part for name, load in EXAMPLES.items() for part in _example(name, load, model, worked.get(name, ()), language)),
            *(f"- {line}" for line in size.about(model, language)),
            "",
        ]
    )


def _item(of: Answer, folder: str, language: Language) -> str:
    links = [f"[{run}](../bench/results/{run}/run.json)" for run in of.runs] or [f"[{of.question.row}](../{folder}/table.md)"]
    changes = f"*{text('guide.column.changes', language)}*: {own(of.question.changes, language)}"
    return f"- **{own(of.question, language)}**  \n  {of.told} ({', '.join(links)})  \n  {changes}"


# --- answers, and the cells that say so ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    question: Question
    told: str
    """In one language; `**` around words is the only markup."""
    runs: list[str]
    """Where it was measured; empty: it is in the row of this run that the question names."""


def answers(plan: DigestPlan, found: Digest, model: CostModel, language: Language) -> list[Answer]:
    """Of the questions that the figures answer."""
    told = []
    for question in plan.questions:
        if question.kind == "memory":
            quantities = _quantities(question, model)
            runs = list(dict.fromkeys(each.run for each in quantities.values()))
            told += [Answer(question, _memory(quantities, language), runs)] if len(quantities) > 1 else []
            continue
        row = next((each for each in found.rows if each.chosen.id == question.row), None)
        answer = None if row is None or not row.interval else _row(question, row, language)
        told += [] if row is None or answer is None else [Answer(question, answer, [row.run] if row.run else [])]
    return told


def _row(question: Question, row: Row, language: Language) -> str | None:
    places = [each for each in row.places if not question.among or each.contender in question.among]
    if question.kind == "least":
        return _least(row, places, language)
    known = [each for each in places if each.low is not None and not each.reached]
    failing, others = sides(places)
    if question.kind == "alike":
        if len(known) < len(places) or max(each.high or 0.0 for each in known) > ALIKE * min(each.low or 0.0 for each in known):
            return None
        return text("guide.within" if row.uncompared else "guide.alike", language, range=figures.hull(row, known, language))
    if not failing or not others:
        return None
    names = {"failing": figures.names(failing, language), "others": figures.names(others, language)}
    ranges = {"failing_range": figures.hull(row, failing, language), "others_range": figures.hull(row, others, language)}
    return text("guide.split", language, **names, **ranges)


def _least(row: Row, places: Sequence[Place], language: Language) -> str | None:
    """Of what is better low: the least, who is not distinguishable from it, who is near, and how much more the others take."""
    known = [each for each in places if each.value is not None and each.low is not None and not each.reached and not each.bound]
    if not known or row.better != "less":
        return None
    if row.uncompared and len(known) > 1:
        ordered = sorted(known, key=lambda each: each.value or 0.0)
        names = ", ".join(f"{each.contender} {figures.with_interval(row, each, language)}" for each in ordered)
        return text("guide.uncompared", language, names=names)
    leader = min(known, key=lambda each: each.value or 0.0)
    beside = {each.contender: each.factors[leader.contender] for each in known if each is not leader and leader.contender in each.factors}
    if not beside:
        return None
    tied = [name for name, factor in beside.items() if factor.tied or factor.low <= 1 <= factor.high]  # also where nobody compared them
    near = {name: factor for name, factor in beside.items() if name not in tied and factor.high <= NEAR}
    far = {name: factor for name, factor in beside.items() if name not in tied and factor.high > NEAR}
    parts = [text("guide.least", language, best=leader.contender, value=figures.with_interval(row, leader, language))]
    parts += [text("guide.tied", language, names=", ".join(tied))] if tied else []
    parts += [text("guide.near", language, names=_factors(near))] if near else []
    parts += [text("guide.far", language, names=_factors(far))] if far else []
    return " ".join(parts)


def _factors(found: dict[str, Factor]) -> str:
    ordered = sorted(found.items(), key=lambda each: each[1].value)
    return ", ".join(f"{name} {number(each.value)}× ({figures.bounds(each)})" for name, each in ordered)


def _quantities(question: Question, model: CostModel) -> dict[str, Quantity]:
    found = {each.contender: getattr(each.memory, question.row) for each in model.contenders}
    return {name: each for name, each in found.items() if each is not None and (not question.among or name in question.among)}


def _memory(found: dict[str, Quantity], language: Language) -> str:
    ordered = sorted(found.items(), key=lambda each: each[1].value)

    def told(q: Quantity) -> str:
        return f"≤{number(q.value)}" if q.bound else f"{number(q.value)} ({number(q.low)}–{number(q.high)})"

    return text("guide.memory", language, names=", ".join(f"{name} {told(q)}" for name, q in ordered))


# --- worked examples -------------------------------------------------------------------------------------------------------------


def _example(name: str, load: Workload, model: CostModel, worked: Sequence[Worked], language: Language) -> Iterator[str]:
    found = sorted((each for each in sized(model, load) if each.price is not None), key=_price)
    if not found:
        return
    yield f"### {text(f'size.example.{name}', language)}\n"
    yield f"{text(f'guide.example.{name}', language)} {_answer(found, language)}\n"
    yield f"```sh\n{command(load)}\n```\n"
    heads = ("cores", "memory", "p50", "first", "price")
    yield f"| | {' | '.join(text(f'size.head.{each}', language) for each in heads)} |"
    yield "|---|" + "---:|" * len(heads)
    for each in found:
        first = "–" if each.full_first is None else text(
            "size.full", language, station=text(f"size.station.{each.full_first}", language), rate=size.short(each.full_at or 0.0)
        )  # fmt: skip
        memory = f"{'≤' if each.memory_bound else ''}{size.told(each.memory_mib)}"
        cells = (size.told(each.cores), memory, number(each.p50_ms or 0.0), first, size.told(each.price))
        yield f"| {'✗ ' if each.lacks else ''}{each.contender} | {' | '.join(cells)} |"
    yield ""
    lacks = [f"✗ {each.contender}: {'; '.join(size.lack(one, language) for one in each.lacks)}.  " for each in found if each.lacks]
    if lacks:
        yield "\n".join(lacks) + "\n"
    for one in worked:
        ratios = ", ".join(f"{each.contender} {each.ratio:.2f} ({each.low:.2f}–{each.high:.2f})" for each in one.checked)
        run = f"[{one.run}](../bench/results/{one.run}/run.json) ({messages.rounds(one.rounds, language)})"
        yield text(f"guide.worked.{name}", language, run=run, ratios=ratios) + "\n"
    checked = {each.contender for one in worked for each in one.checked}
    unchecked = [each.contender for each in found if each.contender not in checked]
    if checked and unchecked:
        yield text("guide.unchecked", language, names=", ".join(unchecked)) + "\n"


def command(load: Workload) -> str:
    """What prints the same in a terminal."""
    given = [
        (each.name, each.shown(load) + (each.unit if each.unit in ("ms", "%") else "")) for each in html_size.FIELDS if each.shown(load)
    ]
    return " ".join(["./justw size", *(f"--{name} {value}" for name, value in given)])


def _price(of: Sized) -> float:
    assert of.price is not None
    return of.price.value


def _answer(found: Sequence[Sized], language: Language) -> str:
    """The cheapest of those that no station fails, and whose interval overlaps with its own. `found`: the cheapest first."""
    carrying = [each for each in found if not each.lacks]
    if not carrying:
        return text("guide.nobody", language)
    least = carrying[0].price
    assert least is not None
    near = [
        each.contender
        for each in carrying[1:]
        if each.price is not None and each.price.low is not None and least.high is not None and each.price.low <= least.high
    ]
    told = text("guide.answer", language, best=carrying[0].contender, price=size.told(least))
    return told if not near else f"{told} {text('guide.answer_near', language, names=', '.join(near))}"


assert set(PAGES) == set(LANGUAGES)
