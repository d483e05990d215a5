"""The plan of a run as the command line asks for it, and `plan`, which prints it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from nsb.errors import Refused
from nsb.measure import host
from nsb.measure.tools import workshop
from nsb.registry import plan as plans
from nsb.registry.contenders import Contender
from nsb.registry.contract import POOL_SIZE
from nsb.registry.load import ConfigurationError, Registry, chosen
from nsb.registry.placement import Unit
from nsb.registry.scenario import Scenario
from nsb.registry.shapes import Exhaustion, Failing, Overload
from nsb.registry.terms import Profile
from nsb.render import power
from nsb.render.words import by_reason, count
from nsb.session import earlier, runners
from nsb.verbs.common import BENCH, ROOT, claims_of, console, registry_of, say, tell_left_out


def size(plan: plans.Plan) -> str:
    """`84 cells: 7 contenders × 12 scenarios × 1 round`, or `84 cells: 14 pairs of …` where not all are asked all."""
    if len(set(map(plan.rounds_of, plan.scenarios))) > 1:
        rows = sum(scenario.each_round for scenario in plan.scenarios)
        often_measured, others = count(rows, "scenario"), count(len(plan.scenarios) - rows, "other")
        often, once = count(plan.rounds, "round"), plan.rounds_of(next(each for each in plan.scenarios if not each.each_round))
        return f"{count(plan.cells, 'cell')}: {count(len(plan.contenders), 'contender')} × ({often_measured} × {often} + {others} × {once})"
    product = {"contender": len(plan.contenders), "scenario": len(plan.scenarios), "round": plan.rounds}
    if len(plan.pairs) < len(plan.contenders) * len(plan.scenarios):
        return f"{count(plan.cells, 'cell')}: {len(plan.pairs)} pairs of contender and scenario × {count(plan.rounds, 'round')}"
    return f"{count(plan.cells, 'cell')}: " + " × ".join(count(number, noun) for noun, number in product.items())


def load_of(plan: plans.Plan, scenario: Scenario) -> str:
    """`1000/s open`, `600 users closed`, or what stands for an overload and a failure."""
    if isinstance(scenario, Failing):
        return f"2 × {scenario.rate:g}/s open"
    if isinstance(scenario, Overload):
        return f"{scenario.levels[0]}–{scenario.levels[-1]} % open"
    if isinstance(scenario, Exhaustion):
        return f"{scenario.rate} connections/s open"
    return f"{scenario.rate_for(plan.workers)}/s open" if scenario.model == "open" else f"{scenario.vus} users closed"


def tell_unsupported(plan: plans.Plan) -> None:
    """Who is left out of a scenario that others run, what of a scenario, and which several generators do not divide."""
    for each in plan.scenarios:
        if (short := plan.cut_short(each)) is not None:
            console.print(f"{each.id} {short}", markup=False, soft_wrap=True)
    for scenario, why, names in plan.left_out:
        console.print(f"{scenario} without {', '.join(names)}: {why}", markup=False, soft_wrap=True)
    for why, alone in by_reason(plan.undivided).items():
        console.print(f"One generator alone for {', '.join(alone)}: {why}", markup=False, soft_wrap=True)


def breakdowns(plan: plans.Plan) -> str:
    """`, up to 24 more for each contender that breaks down`, where overloads are planned; minutes."""
    more_s = max(map(plan.breakdown_s, plan.contenders), default=0.0)
    return f", up to {more_s / 60:.0f} more for each contender that breaks down" if more_s else ""


def print_placement(plan: plans.Plan) -> None:
    for line in host.placement_lines(plan.profile, plan.generators):
        console.print(line, markup=False, soft_wrap=True)


def pointless(plan: plans.Plan) -> dict[str, str]:
    """Contenders of which this plan could tell nothing, and why: they are left out, and without them nothing is missing."""
    return {contender.id: why for contender in plan.contenders if (why := tells_nothing(contender, plan)) is not None}


def tells_nothing(contender: Contender, plan: plans.Plan) -> str | None:
    """Why it is pointless to run it in this plan; None where it is not."""
    whys = [contender.why_not(scenario) for scenario in plan.scenarios if plan.asks(contender, scenario)]
    if not whys:
        return "none of these scenarios is for it"
    return whys[0] if None not in whys else contender.nothing_of_its_own(plan.workers)


def _profile(text: str | None) -> Profile:
    if text is None:
        return host.default_profile()
    if text == "1cpu":
        return "1cpu"
    if text == "ncpu":
        return "ncpu"
    raise ConfigurationError([f"--profile: {text!r} is not one of 1cpu, ncpu"])


def known_runner(runner: str) -> None:
    """Raises ConfigurationError."""
    if runner not in runners.RUNNERS:
        raise ConfigurationError([f"--runner: {runner!r} is not one of {', '.join(runners.RUNNERS)}"])


@dataclass(frozen=True)
class Asked:
    """What the command line says of a plan."""

    tier: str
    contenders: str = "default"
    scenarios: str = "default"
    rounds: int | None = None
    seed: int | None = None
    profile: str | None = None
    twin: str | None = "none"
    articles: str | None = None
    generators: int = 1
    solo: bool = False
    """As of Plan."""


def make(registry: Registry, asked: Asked) -> plans.Plan:
    """Raises ConfigurationError with every wrong option at once."""
    mistakes: list[str] = []

    def collect(option: str, text: str, known: Any, default: list[str], everything: list[str] | None = None) -> list[str]:
        try:
            return chosen(option, text, known, default, everything)
        except ConfigurationError as error:
            mistakes.extend(error.mistakes)
            return []

    placed: Profile = "1cpu"
    try:
        placed = _profile(asked.profile)
    except ConfigurationError as error:
        mistakes.extend(error.mistakes)
    collect("--tier", asked.tier, registry.tiers, [])
    tier = registry.tiers.get(asked.tier)
    rounds = asked.rounds or (tier.rounds if tier is not None else 1)
    usual_twin: list[str] | None = None if rounds > 1 else []  # one round decides nothing, so nobody asks what its noise is
    twinned = usual_twin if asked.twin is None else [] if asked.twin == "none" else [name.strip() for name in asked.twin.split(",")]
    cast: dict[str, list[str]] | None = None
    letters: list[str] = []
    usual = [s.id for s in registry.scenarios.values() if s.default and asked.tier in s.tiers]
    default = [c.id for c in registry.contenders.values() if c.default]
    if tier is not None and tier.by_claims:
        claims = claims_of(registry)
        letters = collect("--articles", asked.articles or "all", claims.articles, [])
        cast = plans.by_claims(claims, registry, letters, placed, twinned)
        usual = list(cast)
    elif asked.articles is not None:
        mistakes.append(f"--articles: belongs to --tier article; {asked.tier} asks all contenders the same")
    what = collect("--scenarios", asked.scenarios, registry.scenarios, usual)
    if cast is not None:
        default = [name for name in registry.contenders if any(name in cast.get(scenario, []) for scenario in what)]
    originals = [c.id for c in registry.contenders.values() if c.copy_of is None]
    who = collect("--contenders", asked.contenders, registry.contenders, default, originals)
    try:
        who = plans.with_twins(who, registry, twinned)
    except KeyError as error:
        mistakes.append(f"--twin: {error} is not one of the run's contenders ({', '.join(who)}), nor none")
    if mistakes:
        raise ConfigurationError(mistakes)
    workers = len(host.placement(placed).service)
    if workers > POOL_SIZE:
        why = f"{placed} grants {workers} workers, which cannot divide a pool of {POOL_SIZE}"
        raise ConfigurationError([f"--profile: {why}: take fewer cores (taskset -c), or 1cpu"])
    seed = int.from_bytes(os.urandom(3)) if asked.seed is None else asked.seed
    generators = generators_on(placed, asked.generators)
    nofile = host.raise_limits()
    plan = plans.make(registry, asked.tier, who, what, placed, workers, seed, asked.rounds, cast, letters, nofile, generators, asked.solo)
    if generators and len(plan.undivided) == len(plan.scenarios):
        whys = "; ".join(f"{', '.join(names)}: {why}" for why, names in by_reason(plan.undivided).items())
        raise ConfigurationError([f"--generators: {asked.generators} cannot divide any load of this plan ({whys})"])
    return plan


def generators_on(profile: Profile, number: int) -> tuple[Unit, ...]:
    """The cores of each of several generators on this machine; none for one."""
    return host.parted(host.placement(profile).generator, number) if number > 1 else ()


def show(asked: Asked, runner: str) -> None:
    """What would run, how long it takes, and what it could detect."""
    registry = registry_of()
    known_runner(runner)
    plan = make(registry, asked)
    ground = runners.asked_of(runner, workshop(ROOT, registry), plan.contenders, plan.workers, say)
    left_out = ground.runnable(plan.contenders)[1] | pointless(plan)
    if len(left_out) == len(plan.contenders):
        tell_left_out(left_out)
        raise Refused("No contender can run on this machine; ./justw doctor says what is missing.")
    plan = plan.only([contender.id for contender in plan.contenders if contender.id not in left_out])
    console.print(f"Tier {plan.tier_name}: {plan.tier.why}", markup=False)
    console.print(
        f"{size(plan)}; runner {ground.name}; profile {plan.profile}, {plan.workers} worker(s) each; seed {plan.seed}",
        markup=False,
    )
    tell_left_out(left_out)
    print_placement(plan)
    unchecked = plan.seconds(plan.to_check) - plan.seconds()
    console.print(
        f"Time: {plan.seconds() / 60:.1f} minutes after the build{breakdowns(plan)}; "
        f"{unchecked / 60:.1f} more where none has passed the contract yet",
        markup=False,
    )
    for scenario in plan.scenarios:
        load_ = load_of(plan, scenario)
        t = plan.timing(scenario)
        cells = [plan.cell_s(contender, scenario) for contender, of in plan.pairs if of is scenario]
        longest = f"up to {max(cells):.0f}" if cells and max(cells) > t.total_s else f"{t.total_s:4.1f}"
        window = "the whole load" if t.ends else f"settle {t.settle_s:4.1f} s, window {t.window_s:4.1f} s"
        console.print(f"  {scenario.id:18} {load_:18} {window}, cell {longest} s")
    tell_unsupported(plan)
    for number, row in enumerate(plan.rows, 1):
        console.print(f"  round {number}: {', '.join(row)}", markup=False)
    try:
        order = "contender" if plan.tier.one_at_a_time else "auto"
        _, why = plans.order_for(order, [plan.largest(c) for c in plan.contenders], plan.workers, host.memory_available_mib())
    except ValueError as error:
        why = str(error)
    if why:
        console.print(why, markup=False, soft_wrap=True)
    planned = [scenario.id for scenario in plan.scenarios]
    noise = earlier.noise(BENCH, host.facts(ROOT)["name"], plan.profile, planned, say)
    comparisons = max(1, len(plan.contenders) - len(plan.controls) - 1) * len(plan.scenarios)
    for line in power.lines(planned, plan.rounds, comparisons, noise):
        console.print(line, markup=False, soft_wrap=True)
