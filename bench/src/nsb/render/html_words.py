"""Words and numbers of report.html: each sentence in both languages, of which CSS shows one. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup, escape

from nsb.registry.claims import Comparison, Criterion, Row, Said
from nsb.render import messages, words
from nsb.render.messages import Language


def both(en: str | Said, ko: str | None = None) -> Markup:
    """One sentence in both languages; once where they are the same."""
    english, korean = (en.en, en.ko) if isinstance(en, Said) else (en, ko)
    if korean is None or english == korean:
        return escape(english)
    return Markup('<i lang="en">{}</i><i lang="ko">{}</i>').format(english, korean)


def text(key: str, **values: object) -> Markup:
    """A message. Values that are sentences themselves come as Said, and each language takes its own."""
    return both(messages.said(key, **values))


def label(key: str, **values: object) -> Markup:
    """Attributes that name an element for screen readers; the script keeps them in the page's language."""
    said = messages.said(key, **values)
    return Markup('aria-label="{}" data-en="{}" data-ko="{}"').format(said.en, said.en, said.ko)


def option(key: str) -> Markup:
    """An option that stands for no value. No element may be in it, so the script puts the words of the page's language there."""
    said = messages.said(key)
    return Markup('<option value="" data-say-en="{}" data-say-ko="{}">{}</option>').format(said.en, said.ko, said.en)


def in_both(say: Callable[[Any, Language], str]) -> Callable[[Any], Markup]:
    return lambda value: both(messages.in_each(lambda language: say(value, language)))


def amount(shown: str, unit: str) -> Markup:
    """A number with its unit, in the order of each language."""
    return both(messages.in_each(lambda language: messages.amount(shown, unit, language)))


def level(value: float) -> str:
    """The level of an interval: `95%`, `99.96%`; Holm's procedure may raise it close to 100 %."""
    return f"{100 * value:.2f}".rstrip("0").rstrip(".") + "%" if value <= 0.9999 else ">99.99%"


@dataclass(frozen=True)
class Interval:
    """A value and its bounds, as text."""

    value: str
    bounds: str


def interval(of: Comparison | Row) -> Interval:
    if not isinstance(of, Comparison):
        return _interval(of.value, of.low, of.high)
    shown = _interval(of.value, of.low, of.high, of.border)
    return replace(shown, value=words.bound_sign(of) + shown.value)


def ranked(of: Criterion, contender: str) -> Interval:
    """The value of a contender in a criterion; a count is exact and has no bounds."""
    if of.exact:
        return Interval(words.signed(of.values.get(contender)), "")
    return _interval(of.values.get(contender), *of.intervals.get(contender, (None, None)))


def _interval(value: float | None, low: float | None, high: float | None, border: float | None = None) -> Interval:
    if value is None or low is None or high is None:
        return Interval(words.signed(value), "–")
    shown, least, greatest = words.of_width(value, low, high, border)
    return Interval(shown, f"{least}–{greatest}" if low >= 0 else f"{least} … {greatest}")
