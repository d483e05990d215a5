"""The words of claims.toml and of claims.json, as frozen values. Pure: what they mean is decided in analyse/claims.py."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from nsb.registry.terms import ID, METRIC_UNITS, SHARES, Frozen, Limit, Metric, Profile

SCHEMA = 3
"""The version of claims.json."""

Verdict = Literal["SUPPORTED", "REFUTED", "UNDECIDED", "NOT_MEASURED"]
Conclusion = Literal["SUPPORTED", "REFUTED", "UNDECIDED", "NOT_MEASURED", "TAUTOLOGY"]
"""What becomes of a claim: the verdict of its parts. A tautology is never SUPPORTED: what would support it shows nothing."""
Came = Literal["AGAIN", "NOT_AGAIN", "COMPUTED", "UNDECIDED", "NOT_MEASURED"]
"""Whether an article's number is reproduced. COMPUTED: the article's own figures come to it, and nothing of ours is held against it."""
Reason = Literal[
    "too_few_rounds", "no_twin", "twin_failed", "straddles", "unsteady",
    "generator_bound", "database_bound", "core_bound", "load_bound", "warming", "not_sustained", "noisy_machine", "invalid",
    "needs_1cpu", "needs_ncpu", "no_contender", "no_scenario", "no_figure", "no_code", "no_measure",
    "other_quantity", "runs_disagree",
]  # fmt: skip
"""Why a part or a number is UNDECIDED or NOT_MEASURED (needs_…, no_… and other_quantity). The last one is of several runs."""

Name = Annotated[str, Field(pattern=ID)]
Names = Annotated[list[Name], Field(min_length=1)]


class Said(Frozen):
    """A sentence in both languages of the readers."""

    en: str = Field(min_length=1)
    ko: str = Field(min_length=1)


# --- claims.toml -----------------------------------------------------------------------------------------------------


class Difference(Said):
    """What is another thing where the project repeats an article's load."""

    of: Name | None = None
    """The load that it is told of; all of them where it names none."""


class Article(Frozen):
    """Where claims come from."""

    id: str = Field(pattern=r"^[A-Z]$")
    title: Said
    url: str = ""
    """Where it can be read; empty where no address is known."""
    setup: Said
    """What they measured on and how."""
    differs: list[Difference] = []
    """What may explain another figure."""
    sayings: bool = False
    """No article: what is commonly said, in this project's words and with its bounds. Counted apart."""


class Ours(Frozen):
    """What of a run that repeats an article's load stands beside a figure of the article."""

    scenario: Name
    contender: Name
    metric: Metric
    other: Name | None = None
    """The figure is contender ÷ other, round by round."""

    def scale(self, unit: str) -> float | None:
        """By what the metric is multiplied to be in the article's unit; None where that cannot be."""
        if self.other is not None:
            return 1.0 if unit == "×" else None
        own = METRIC_UNITS[self.metric].split(" ")[-1]
        return 1.0 if own == unit else 0.001 if (own, unit) == ("ms", "s") else None

    def told_in(self, unit: str) -> None:
        """Raises ValueError where it cannot be."""
        if self.scale(unit) is None:
            raise ValueError(f"{self.metric} cannot be told in {unit}")


class Reported(Frozen):
    """A figure that the article itself gives, to be shown beside ours."""

    what: Said
    value: float
    unit: str
    """As it is printed: requests/s, ms, MiB, threads, ×."""
    ours: Ours | None = None

    @model_validator(mode="after")
    def _same_unit(self) -> Reported:
        if self.ours is not None:
            self.ours.told_in(self.unit)
        return self


class Beside(Frozen):
    """A figure of ours under an article's load that the article does not have: what its own figures are to be compared with."""

    what: Said
    unit: str
    ours: Ours

    @model_validator(mode="after")
    def _same_unit(self) -> Beside:
        self.ours.told_in(self.unit)
        return self


class RatioRule(Frozen):
    """contender ÷ other, round by round, in one figure of one scenario.

    ratio_at_least is supported where the adjusted interval lies wholly above `ratio`, refuted where wholly below; ratio_at_most mirrors it.
    """

    rule: Literal["ratio_at_least", "ratio_at_most"]
    scenario: Name
    metric: Metric
    contender: Name
    other: Name
    ratio: float = Field(gt=0)


class MarginRule(Frozen):
    """Every pair of `contenders` is equal: its 90 % interval lies inside ±margin; refuted where an adjusted one lies wholly outside."""

    rule: Literal["within_margin"]
    scenario: Name
    metric: Metric
    contenders: Annotated[list[Name], Field(min_length=2)]
    margin: float | None = Field(default=None, gt=0)
    """0.10 for ±10 %, or ms where latency is compared in ms; None: the judge's own (judge.MARGINS)."""


class FigureRule(Frozen):
    """One figure of each contender beside a value: at least, at most, or equal within the margin (90 % interval inside, as for pairs)."""

    rule: Literal["figure_at_least", "figure_at_most", "figure_equals"]
    scenario: Name
    metric: Metric
    contenders: Names
    value: float = Field(gt=0)
    """In the unit of the metric (METRIC_UNITS)."""
    margin: float = Field(default=0.10, gt=0)
    """A share; for figure_equals alone."""


class CapRule(Frozen):
    """Throughput of a closed scenario equals servers ÷ hold, the servers being what `cap` names, and the cells name it as their limit.

    The servers are read from the run: threads and pool from /runtime, carriers and loops from the workers.
    """

    rule: Literal["cap_equals"]
    scenario: Name
    contenders: Names
    cap: Literal["threads", "pool", "carriers", "loop"]
    margin: float = Field(default=0.10, gt=0)


class LimitRule(Frozen):
    """What held the contenders back: `limit` in nearly every round that counts (5 of 6); refuted where in hardly any (1 of 6)."""

    rule: Literal["limited_by"]
    scenario: Name
    contenders: Names
    limit: Limit


class SlopeRule(Frozen):
    """Memory per request in flight grows by more for contender than for other: the difference of the slopes by round (KiB), above `kib`."""

    rule: Literal["slope_greater"]
    scenario: Name
    contender: Name
    other: Name
    kib: float = Field(default=0.0, ge=0)


class PointsRule(Frozen):
    """A share of contender − that of other, round by round, in percentage points: above `points`."""

    rule: Literal["points_greater"]
    scenario: Name
    metric: Metric
    contender: Name
    other: Name
    points: float = Field(ge=0)

    @model_validator(mode="after")
    def _is_share(self) -> PointsRule:
        if self.metric not in SHARES:
            raise ValueError(f"{self.metric} is no share, so it has no percentage points")
        return self


class CodeRule(Frozen):
    """Size of the code of contender's service ÷ that of other's, counted by one tool for all languages; exact, so without rounds."""

    rule: Literal["code_at_least", "code_at_most"]
    measure: Literal["lines", "complexity", "functions"]
    contender: Name
    other: Name
    ratio: float = Field(gt=0)


class SameCodeRule(Frozen):
    """Both contenders run the same build and differ by settings alone."""

    rule: Literal["same_code"]
    contender: Name
    other: Name


class ArithmeticRule(Frozen):
    """What the article says beside what its own figures come to: product of `over` ÷ product of `under`, against `said` within `margin`."""

    rule: Literal["arithmetic"]
    over: Annotated[list[float], Field(min_length=1)]
    under: Annotated[list[Annotated[float, Field(gt=0)]], Field(min_length=1)]
    said: float = Field(gt=0)
    margin: float = Field(default=0.10, gt=0)


class NoWinnerRule(Frozen):
    """For every contender there is a criterion (a scenario's figure, or a resource) in which another one is better.

    Refuted where one contender is best or equal in all of them (analyse/dominance.py).
    """

    rule: Literal["no_single_winner"]
    without: list[Name] = []
    """Scenarios and counts that are no criteria here: where a handler blocks on purpose, say."""


class UnmeasuredRule(Frozen):
    """What the claim says as well and no run measures: it leaves the claim NOT_MEASURED, and says what a measurement would need."""

    rule: Literal["not_measured"]
    needs: Said


Rule = Annotated[
    RatioRule
    | MarginRule
    | FigureRule
    | CapRule
    | LimitRule
    | SlopeRule
    | PointsRule
    | CodeRule
    | SameCodeRule
    | ArithmeticRule
    | NoWinnerRule
    | UnmeasuredRule,
    Field(discriminator="rule"),
]


MeasuredRule = RatioRule | MarginRule | FigureRule | CapRule | LimitRule | SlopeRule | PointsRule
"""Rules about one scenario of a run."""


def contenders_of(rule: Rule) -> list[str]:
    """That the rule names, in its order."""
    sides = [getattr(rule, side) for side in ("contender", "other") if hasattr(rule, side)]
    return [*sides, *getattr(rule, "contenders", [])]


class Aside(Frozen):
    """Something beside the claim that data may show. It decides nothing."""

    said: Said
    parts: Annotated[list[Rule], Field(min_length=1)]
    profile: Profile | None = None
    """As of a claim, whose own says nothing of its asides: they may ask what every run can tell."""


class Number(Frozen):
    """The article's number: the one of its figures that stands for the claim, and what is held against it."""

    of: str
    """Its English words among the figures that are reported."""
    ours: Ours | None = None
    """Of a scenario that asks for the same, where the article's own load is not repeated or says nothing of it."""
    over: list[float] = []
    under: list[Annotated[float, Field(gt=0)]] = []
    """What the article's own figures come to: product ÷ product. A number that they contradict is not reproduced."""
    arithmetic: bool = False
    """A law of queues gives it, though not the claim: to reproduce it shows that the servers keep to that law."""
    lacks: Said | None = None
    """Why no figure of ours is held against it, though there is one: it is of another quantity."""


class Question(Frozen):
    """That the claim follows without a measurement, and from what.

    Arithmetic: from a law of queues, so a run tests only whether the servers keep to it. Tautology: from how the servers are built.
    """

    kind: Literal["arithmetic", "tautology"]
    why: Said


class Claim(Frozen):
    """One claim of an article: its conclusion, which all `parts` together decide, and its number, which is judged apart."""

    id: str = Field(pattern=r"^[A-Z]\d+$")
    article: str = Field(pattern=r"^[A-Z]$")
    said: Said
    parts: Annotated[list[Rule], Field(min_length=1)]
    condition: Said | None = None
    """For what the conclusion is decided: all else stays open."""
    outside: list[Said] = []
    """What the claim says as well and no benchmark can measure. It decides nothing, and is told beside the conclusion."""
    question: Question | None = None
    """None: only a measurement can tell."""
    number: Number | None = None
    """None: the article gives none."""
    instead: list[Aside] = []
    """Other reasons than the article's: each is told only where its own parts are SUPPORTED by the run."""
    also: list[Aside] = []
    """Related questions, each told with its verdict."""
    reported: list[Reported] = []
    beside: list[Beside] = []
    least_rounds: int = Field(default=5, ge=5)
    explained: dict[str, Said] = {}
    """A committed run → why its verdict does not count here, though it differs from that of another run."""
    profile: Profile | None = None
    """In whose runs alone its parts can be measured; code and arithmetic are the same in all of them."""

    @model_validator(mode="after")
    def _belongs(self) -> Claim:
        if not self.id.startswith(self.article):
            raise ValueError(f"id must begin with the article's letter {self.article}")
        if self.number is not None:
            named = [each for each in self.reported if each.what.en == self.number.of]
            if len(named) != 1:
                raise ValueError(f"number.of: no figure, or more than one, is reported as {self.number.of!r}")
            ours = self.number.ours or named[0].ours
            if self.number.ours is not None:
                self.number.ours.told_in(named[0].unit)
            if ours is None and not self.number.over and self.number.lacks is None:
                raise ValueError("number: nothing is held against it")
            if ours is not None and self.number.lacks is not None:
                raise ValueError("number: it lacks a figure of ours, and names one")
            if bool(self.number.over) != bool(self.number.under):
                raise ValueError("number: over and under belong together")
        return self

    @property
    def figure(self) -> Reported | None:
        """The article's number."""
        return next((each for each in self.reported if self.number is not None and each.what.en == self.number.of), None)

    @property
    def rules(self) -> list[tuple[Rule, Profile | None]]:
        """Of the claim and all its asides, with the profile that alone can tell."""
        asides = [(rule, aside.profile) for aside in (*self.instead, *self.also) for rule in aside.parts]
        return [*((rule, self.profile) for rule in self.parts), *asides]


class Claims(Frozen):
    """claims.toml as a whole."""

    articles: dict[str, Article]
    claims: dict[str, Claim]


# --- claims.json -----------------------------------------------------------------------------------------------------


class Row(Frozen):
    """What one contender came to in the figure that a part uses."""

    contender: str
    value: float | None
    """Geometric mean over the rounds that are valid (of slopes of memory the plain mean); None below two: no number without spread."""
    low: float | None
    """95 % t interval."""
    high: float | None
    rounds: int
    """Valid ones."""
    censored: int
    """Rounds that gave a bound only."""
    limits: dict[str, int]
    """What held it back → in how many rounds that count."""
    doubts: int
    """Rounds that count and have a doubt."""


class Comparison(Frozen):
    """One comparison of a part: contender to other, or to a value. Value and bounds in `unit`, points are percentage points."""

    contender: str
    other: str | None
    unit: Literal["ratio", "ms", "KiB", "points"]
    verdict: Verdict
    reason: Reason | None
    rounds: int
    value: float | None
    """None where its rounds give no interval: no number without spread."""
    low: float | None
    high: float | None
    level: float
    """Of low to high: what Holm's procedure left to this comparison; 0.90 where equality is asked and was shown or missed."""
    bound: Literal["at_least", "at_most"] | None = None
    """Where one side's answers per second are a lower bound in some round: what its value, low and high are of the true ratio."""
    border: float | None
    """What the value is held against, in the same unit."""
    agree: float | None
    """Share of rounds on the side of the mean, or within the margin."""
    sign_holds: bool | None
    """Whether the mean stays on its side whichever round is left out."""
    rounds_needed: int | None
    gate_low: float | None
    """The twin's own 95 % interval in this figure."""
    gate_high: float | None


class Judged(Frozen):
    """A part with its verdict, the comparisons and the rows that it used."""

    rule: Rule
    verdict: Verdict
    reason: Reason | None
    missing: list[str] = []
    """Contenders, scenarios, files or the profile that it would need."""
    comparisons: list[Comparison] = []
    rows: list[Row] = []
    beaten: dict[str, list[str]] = {}
    """Of no_single_winner: contender → the criteria in which another one is better."""
    computed: float | None = None
    """What an arithmetic comes to, or a ratio of counts of code, or the cap (requests/s)."""


class JudgedAside(Frozen):
    said: Said
    verdict: Verdict
    parts: list[Judged]


class JudgedNumber(Frozen):
    """The article's number beside ours."""

    theirs: Reported
    came: Came
    reason: Reason | None = None
    value: float | None = None
    """Ours, in the article's unit; None where fewer than two rounds tell it."""
    factor: float | None = None
    """Ours ÷ theirs, with the t interval that decides."""
    factor_low: float | None = None
    factor_high: float | None = None
    level: float = 0.95
    """Of that interval: 0.90 where it shows, or misses, that both are equal."""
    bound: Literal["at_least", "at_most"] | None = None
    """Where another program was the limit in every round: what value and factor are of the true ones."""
    rounds: int = 0
    doubtful: bool = False
    """Whether a third of these rounds or more have a doubt."""
    by_its_figures: float | None = None
    """What the article's own figures come to."""
    arithmetic: bool = False
    """That a law of queues gives it."""
    lacks: Said | None = None


class JudgedClaim(Frozen):
    id: str
    article: str
    saying: bool = False
    """No claim of an article (Article.sayings)."""
    said: Said
    question: Question | None = None
    condition: Said | None = None
    outside: list[Said] = []
    number: JudgedNumber | None = None
    """None: the article gives none."""
    conclusion: Conclusion
    reason: Reason | None
    """Of the first part that decides it."""
    rounds_needed: int | None
    parts: list[Judged]
    instead: list[JudgedAside]
    """Only those that the run supports."""
    also: list[JudgedAside]
    reported: list[Reported]
    explained: dict[str, Said] = {}


ALIKE = 2.0
"""Memory of one machine is at most so many times as quick in one run as in another: neighbours slow it down. On one processor it was
341 to 600 steps/µs over eleven runs, on another machine whose processor has the same name 121 to 163 over six."""


class Scope(Frozen):
    """For what the verdicts hold."""

    machine: str
    cores: int
    profile: str
    tier: str
    rounds: int
    runner: str
    database: str
    started_at: str
    commit: str
    seed: int
    versions: dict[str, str]
    """Contender → runtime, framework and driver with their versions."""
    memory_speed: float | None = None
    """At which the witness read memory, the median of the cells (steps/µs); None where no cell has one."""

    @property
    def processor(self) -> str:
        """The machine's, which its text begins with."""
        return self.machine.split(",")[0]

    def alike(self, other: Scope) -> bool:
        """Whether both may be the same machine: those of virtual machines often have one name,
        so memory must be about as quick, too."""
        if self.processor != other.processor:
            return False
        if self.memory_speed is None or other.memory_speed is None:
            return True
        return max(self.memory_speed, other.memory_speed) <= ALIKE * min(self.memory_speed, other.memory_speed)


class Judgement(Frozen):
    """claims.json."""

    schema_: int = Field(default=SCHEMA, alias="schema")
    scope: Scope
    claims: list[JudgedClaim]


# --- which is best at what ---------------------------------------------------------------------------------------------


class Criterion(Frozen):
    """Something by which contenders are ranked; less is better but for throughput."""

    id: str
    """`scenario metric`, or the name of a resource."""
    scenario: str | None
    metric: str
    unit: str
    better: Literal["less", "more"]
    values: dict[str, float | None]
    """Contender → its value; None where it has none that counts."""
    intervals: dict[str, tuple[float, float]] = {}
    """Contender → the 95 % t interval of its value over the rounds; empty where it is exact."""
    best: list[str]
    """Those than which none is better: ties stay ties."""
    unsustained: list[str] = []
    """Those that could not sustain the offered rate: worse than all that could."""
    exact: bool = False
    """Counted, not measured: without noise."""
    reason: Reason | None = None
    """Why no two of them could be compared; None where some could."""


class Dominance(Frozen):
    """Who is better at what, within the intervals."""

    contenders: list[str]
    criteria: list[Criterion]
    better: dict[str, dict[str, list[str]]]
    """a → b → the criteria in which a is better than b by the adjusted interval."""
    compared: dict[str, dict[str, list[str]]] = {}
    """a → b → the criteria in which the two could be compared. Where neither is better there they are tied; all others are unknown."""
    front: list[str]
    """Those that no other dominates: none is better somewhere and, as far as is known, worse nowhere."""

    def ties(self, criterion: str) -> set[tuple[str, str]]:
        """Pairs, in both orders, that could be compared there and of which neither is better."""
        return {
            (a, b)
            for a, others in self.compared.items()
            for b, known in others.items()
            if criterion in known and criterion not in self.better[a][b] and criterion not in self.better[b][a]
        }
