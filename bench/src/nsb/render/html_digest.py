"""The small table of report.html, with every factor that its script may be asked for. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from nsb.analyse.digest import Digest, Place, Row
from nsb.registry.claims import Said
from nsb.render import digest as words
from nsb.render import messages
from nsb.render.html_words import both
from nsb.render.messages import LANGUAGES


@dataclass(frozen=True)
class Cell:
    """`kind`: best, tied, worse, unknown or none, where there is no figure; of those not compared `near` as Row.near.

    `factor` is the one to the leader of the row, `around` the half-width of its interval."""

    contender: str
    kind: str
    near: bool
    fails: bool
    factor: str
    value: Markup
    width: str
    around: str


@dataclass(frozen=True)
class Line:
    id: str
    title: Said
    unit: Said
    fails: Said | None
    uncompared: bool
    cells: list[Cell]


def lines(found: Digest) -> list[Line]:
    """Without the rows in which nobody differs: those are sentences."""
    return [
        Line(
            id=row.chosen.id,
            title=row.chosen,
            unit=messages.in_each(lambda language, row=row: words.unit(row, language)),  # type: ignore[misc]
            fails=row.chosen.fails,
            uncompared=row.uncompared,
            cells=[_cell(row, place) for place in row.places],
        )
        for row in found.rows
        if not row.alike
    ]


def _cell(row: Row, place: Place) -> Cell:
    return Cell(
        contender=place.contender,
        kind="none" if place.value is None else place.mark,
        near=row.near(place),
        fails=place.fails,
        factor=words.beside(row, place, row.leader or ""),
        value=both(messages.in_each(lambda language: words.value(row, place, language) or "–")),
        width=words.width(row, place),
        around=words.factor_width(place.factors.get(row.leader or "")),
    )


def _relation(row: Row, place: Place, baseline: str) -> str:
    found = place.factors.get(baseline)
    if place.contender == baseline:
        return ""
    if found is None or "unknown" in (place.mark, row.place(baseline).mark):
        return "unknown"
    if found.tied:
        return "tied"
    less = found.value < (1 if found.unit == "ratio" else 0)
    return "better" if less == (row.better == "less") else "worse"


def factors(found: Digest) -> dict[str, dict[str, dict[str, list[str]]]]:
    """Row → baseline → contender → the factor, the half-width of its interval, and `tied`, `better` or `worse` than the baseline, or
    `unknown`."""
    return {
        row.chosen.id: {
            baseline: {
                place.contender: [
                    words.beside(row, place, baseline),
                    words.factor_width(place.factors.get(baseline)),
                    _relation(row, place, baseline),
                ]
                for place in row.places
            }
            for baseline in found.contenders
        }
        for row in found.rows
        if not row.alike
    }


def findings(found: Digest) -> list[Said]:
    """In Markdown, whose bold words are the only markup."""
    return [messages.in_each(lambda language, each=each: words.sentence(each, language)) for each in found.findings]  # type: ignore[misc]


def notes(found: Digest) -> list[Markup]:
    return [both(en, ko) for en, ko in zip(*(words.notes(found, language, "digest.legend.dot") for language in LANGUAGES), strict=True)]
