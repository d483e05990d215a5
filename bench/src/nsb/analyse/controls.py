"""What a run's own controls say of it: the twin, which should not differ, and plants, which should be found. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from nsb.analyse.judge import Question, Verdict, gate, gate_of, judge, paired
from nsb.records.judged import Cell
from nsb.registry.terms import Frozen, Headline, Metric, grouped

Kind = Literal["twin", "plant"]


class Control(Frozen):
    """A control beside its original under one scenario, in one figure."""

    control: str
    kind: Kind
    of: str
    scenario: str
    metric: Metric
    verdict: Verdict

    @property
    def passed(self) -> bool | None:
        """A twin whose gate is open, a plant that was found; None where there are too few rounds to say."""
        if self.kind == "twin":
            return None if self.verdict.gate.reason == "no_twin" else self.verdict.gate.reason is None
        return None if self.verdict.reason in ("too_few_rounds", "no_twin") else self.verdict.outcome == "higher"

    @property
    def open_for(self) -> Literal["too_few_rounds", "no_twin"]:
        """Why nobody can say whether it passed: a plant is judged by the run's twin."""
        return "no_twin" if self.kind == "plant" and self.verdict.reason == "no_twin" else "too_few_rounds"


def compare(run: Mapping[str, Any], cells: Iterable[Cell]) -> list[Control]:
    """Every control of the run beside its original.

    A twin is compared in the headline of every scenario, and in the figures that plants worsen; a plant in the figure that it worsens, in
    every open scenario. The comparisons of a control are a family of their own for Holm's procedure.
    """
    kept = list(cells)
    plan = run["plan"]
    controls: Mapping[str, Mapping[str, Any]] = plan.get("controls", {})
    opens = [s for s in plan["scenarios"] if plan["models"][s] == "open"]
    worsened: list[Headline] = sorted({c["worsens"] for c in controls.values() if c["kind"] == "plant"})
    found: list[Control] = []
    for name, control in controls.items():
        kind: Kind = control["kind"]
        pairs: dict[tuple[str, Metric], None] = {}
        if kind == "twin":
            pairs = {(s, plan["headlines"][s]): None for s in plan["scenarios"]}
            pairs |= {(s, metric): None for s in opens for metric in worsened}
        else:
            pairs = {(s, control["worsens"]): None for s in opens}
        beside = [paired(run, kept, name, control["of"], scenario, metric) for scenario, metric in pairs]
        questions = [
            Question(pair=pair, gate=gate(pair) if kind == "twin" else gate_of(run, kept, scenario, metric))
            for pair, (scenario, metric) in zip(beside, pairs, strict=True)
        ]
        found += [
            Control(control=name, kind=kind, of=control["of"], scenario=scenario, metric=metric, verdict=verdict)
            for (scenario, metric), verdict in zip(pairs, judge(questions), strict=True)
        ]
    return found


class Summary(Frozen):
    """How a control fared over its comparisons."""

    control: str
    kind: Kind
    of: str
    passed: list[str]
    """`scenario metric` of a twin that held, a plant that was found."""
    failed: list[str]
    undecided: list[str]
    """Too few rounds that count on both sides."""


def summaries(controls: Iterable[Control]) -> list[Summary]:
    return [
        Summary(
            control=name,
            kind=group[0].kind,
            of=group[0].of,
            passed=[f"{c.scenario} {c.metric}" for c in group if c.passed is True],
            failed=[f"{c.scenario} {c.metric}" for c in group if c.passed is False],
            undecided=[f"{c.scenario} {c.metric}" for c in group if c.passed is None],
        )
        for name, group in grouped(controls, lambda each: each.control).items()
    ]
