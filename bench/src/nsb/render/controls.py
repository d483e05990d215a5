"""The controls of a run in words and as a table: are its comparisons reliable? Pure."""

from __future__ import annotations

from collections.abc import Sequence

from nsb.analyse.controls import Control, Summary, summaries
from nsb.analyse.judge import MARGINS, Verdict
from nsb.registry.claims import Said
from nsb.render import messages

FEW = 12
"""Names in a sentence; the rest is counted."""


def sentences(controls: Sequence[Control]) -> list[str]:
    """One sentence for each control, in English: what it showed about the run."""
    return [told(summary).en for summary in summaries(controls)]


def told(s: Summary) -> Said:
    """What a control showed about the run."""
    judged = len(s.passed) + len(s.failed)
    if judged == 0:
        return messages.said("control.few", control=s.control)
    first = messages.said(f"control.{s.kind}", control=s.control, of=s.of, passed=len(s.passed), judged=judged)
    more = [messages.said(f"control.{s.kind}_failed", names=_few(s.failed))] if s.failed else []
    lost = [messages.said("control.undecided", names=_few(s.undecided))] if s.undecided else []
    return messages.joined(first, *more, *lost)


def _few(names: Sequence[str]) -> Said:
    """Of `scenario metric`, in words."""
    figures = [messages.criterion(*name.rsplit(" ", 1)) for name in names[:FEW]]
    more = f" … (+{len(names) - FEW})" if len(names) > FEW else ""
    return messages.in_each(lambda language: ", ".join(messages.own(each, language) for each in figures) + more)


def section(controls: Sequence[Control]) -> str:
    """The Markdown of table.md; empty where the run has no control."""
    if not controls:
        return ""
    lines = [
        "## Controls\n",
        "\n".join(f"- {sentence}" for sentence in sentences(controls)),
        "",
        f"A twin holds where its 95 % interval holds 1 and its ratio is within {MARGINS['ratio']:.0%} of 1 "
        f"(latency from a schedule: 0 within {MARGINS['ms']:.0f} ms). "
        "A plant is found where its interval, at the level of Holm's procedure over its figures, lies above 1.\n",
    ]
    shown = [control for control in controls if interval(control) is not None]
    if shown:
        lines += ["| control | scenario | figure | beside its original | interval | rounds | |", "|---|---|---|---:|---:|---:|---|"]
        lines += [_line(control) for control in shown]
        lines.append("")
    return "\n".join(lines)


def interval(control: Control) -> tuple[float, float, float] | None:
    """Value, low and high: the twin's as its gate judges it, the plant's at its level; None where there is no spread."""
    v = control.verdict
    of: tuple[float | None, float | None, float | None] = (v.value, v.low, v.high)
    if control.kind == "twin" and v.gate.value is not None:
        of = (v.gate.value, v.gate.low, v.gate.high)
    value, low, high = of
    return None if value is None or low is None or high is None else (value, low, high)


def _line(control: Control) -> str:
    found = interval(control)
    assert found is not None
    value, low, high = (_number(each, control.verdict) for each in found)
    cells = (control.control, control.scenario, control.metric, value, f"{low} to {high}", control.verdict.rounds, _said(control))
    return f"| {' | '.join(str(cell) for cell in cells)} |"


def _number(value: float, verdict: Verdict) -> str:
    return f"{value:.3f} ×" if verdict.unit == "ratio" else f"{value:+.2f} {verdict.unit}"


def _said(control: Control) -> str:
    if control.passed is None:
        return control.open_for.replace("_", " ")
    if control.kind == "twin":
        return "holds" if control.passed else "**differs**"
    if control.passed:
        return "found"
    why = control.verdict.reason or control.verdict.outcome
    return f"**not found** ({why.replace('_', ' ')})"
