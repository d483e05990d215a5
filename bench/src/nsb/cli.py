"""The command line: each verb is a recipe of the justfile. Parses, calls, prints, and maps outcomes to exit codes."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console

from nsb.analyse import claims as judge
from nsb.analyse import table as tables
from nsb.analyse.cells import judged
from nsb.analyse.compare import Incomparable, compare
from nsb.analyse.fairness import miscounts
from nsb.analyse.resume import differences as differences_of_sittings
from nsb.analyse.stopped import harm, notes
from nsb.conform.exchanges import answers, differences
from nsb.conform.suite import beyond_reach
from nsb.measure import archive, containers, host, k6, stopped
from nsb.measure import code as sizes
from nsb.measure import show as showing
from nsb.measure.database import DatabaseError, find_server
from nsb.measure.integrity import SUMS, Altered, chain_of
from nsb.measure.interrupt import Interrupted, interruptible
from nsb.measure.journal import Journal, JournalError, cut_torn_tail, hold, read_starts_of, write_whole
from nsb.measure.native import Died, Stage
from nsb.measure.process import ProcessError, port_is_free
from nsb.measure.tools import BuildError, Found, Workshop, workshop
from nsb.progress import Screen
from nsb.records.manifest import Fairness
from nsb.records.stopped import REQUESTS
from nsb.registry import plan as plans
from nsb.registry.claims import Claims
from nsb.registry.load import ConfigurationError, chosen, load, load_claims
from nsb.registry.model import EXTRAS, Cell, Contender, Profile, Registry, endpoint, to_json
from nsb.render import bare as comparing
from nsb.render import claims as verdicts
from nsb.render import compare as side_by_side
from nsb.render import markdown, messages, power, schema, terminal, words
from nsb.session import bare as bares
from nsb.session import checks, earlier, preflight, runners
from nsb.session import run as session
from nsb.session.outputs import (
    CODE,
    Written,
    blog,
    committed_articles,
    drawn_apart,
    outputs,
    pages,
    read_code_of,
    reproduced,
    tidy,
    without_picture,
)
from nsb.session.run import Refused
from nsb.session.runs import read_run

DONE, INCOMPLETE, USAGE, REFUSED = 0, 1, 2, 3
ROOT = Path(__file__).resolve().parents[3]
"""The project's root: the harness is run from its checkout."""

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None)
console = Console(highlight=False, width=None if sys.stdout.isatty() else 100)
errors = Console(stderr=True, highlight=False, soft_wrap=True)

Tier = Annotated[str, typer.Option(help="smoke, standard, publish, article (bench/scenarios.toml)")]
Contenders = Annotated[str, typer.Option(help="default, all, or ids with commas between")]
Scenarios = Annotated[str, typer.Option(help="default, all, or ids with commas between")]
Twin = Annotated[str | None, typer.Option(help="whom to start twice (A/A), with commas between; or none")]
Articles = Annotated[str | None, typer.Option(help="tier article: whose claims and loads, letters with commas between; default: all")]
Rounds = Annotated[int | None, typer.Option(min=1, help="instead of the tier's number")]
Seed = Annotated[int | None, typer.Option(min=0, help="draws the order; recorded in the run")]
ProfileOption = Annotated[str | None, typer.Option("--profile", help="1cpu or ncpu; default: 1cpu below 4 cores")]
Out = Annotated[Path | None, typer.Option(help="the run's folder; default: bench/out/<time>-<host>")]
Resume = Annotated[Path | None, typer.Option(help="go on with an interrupted run")]
DatabaseUrl = Annotated[str | None, typer.Option(help="mysql://admin:password@host:port of a server of one's own")]
Runner = Annotated[str, typer.Option(help="auto, native or compose; auto: containers only where none can run natively")]
OrderOption = Annotated[
    str, typer.Option("--order", help="scenario: all run and take turns; contender: one at a time; auto: by the memory there is")
]
Noisy = Annotated[bool, typer.Option("--noisy", help="measure although others use more than 10 % of the machine; recorded in the run")]


def main() -> None:
    """Runs the command line; every expected failure is a sentence and an exit code."""
    with interruptible():  # to the last word: a second Ctrl-C must not cut off the first one's way out
        _verb()


def _verb() -> None:
    try:
        app(standalone_mode=True)
    except ConfigurationError as error:
        for mistake in error.mistakes:
            errors.print(mistake, markup=False)
        sys.exit(USAGE)
    except Altered as error:
        errors.print(str(error), markup=False)
        sys.exit(INCOMPLETE)
    except (Refused, ProcessError, DatabaseError, Died, JournalError, BuildError, Incomparable) as error:
        errors.print(str(error), markup=False)
        sys.exit(REFUSED)
    except OSError as error:  # a full disk, a folder without rights
        errors.print(f"{error.filename or 'the machine'}: {error.strerror}", markup=False)
        sys.exit(REFUSED)
    except Interrupted as stop:
        errors.print("stopped")
        _leave(stop.exit_code)


def _leave(code: int) -> NoReturn:
    """Ends at once: an interpreter that ends by itself waits for the threads of rules under way."""
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


# --- measuring -------------------------------------------------------------------------------------------------------


@app.command("bench-all")
def bench_all(
    context: typer.Context,
    tier: Tier = "standard",
    contenders: Contenders = "default",
    scenarios: Scenarios = "default",
    runner: Runner = "auto",
    rounds: Rounds = None,
    seed: Seed = None,
    twin: Twin = None,
    profile: ProfileOption = None,
    out: Out = None,
    resume: Resume = None,
    database_url: DatabaseUrl = None,
    order: OrderOption = "auto",
    noisy: Noisy = False,
    articles: Articles = None,
) -> None:
    """Measure every default contender under every scenario and print the one table."""
    asked = _Asked(tier, contenders, scenarios, rounds, seed, profile, twin, articles)
    _bench(context, asked, runner, out, resume, database_url, order, noisy)


@app.command("bare")
def bare(
    contenders: Annotated[list[str] | None, typer.Argument(help="ids; default: the default contenders")] = None,
    scenario: Annotated[str | None, typer.Option(help="an open scenario of /hello; default: the first")] = None,
    pairs: Annotated[int, typer.Option(min=1, help="windows of each, in turn")] = 6,
    warm: Annotated[int, typer.Option(min=1, help="requests of warming before, for each")] = 20_000,
    out: Out = None,
    database_url: DatabaseUrl = None,
) -> None:
    """What /hello costs in CPU beside a bare program of the same framework, at the same rate on one core."""
    registry = load(ROOT / "bench")
    plan = _plan(registry, _Asked("smoke", ",".join(contenders or ["default"]), scenario or "default", seed=0, profile="1cpu"))
    asked = [s for s in plan.scenarios if s.path == "/hello" and s.model == "open"]
    if not asked:
        raise ConfigurationError([f"--scenario: {scenario or 'none'!r} is not an open scenario of /hello"])
    work = workshop(ROOT, registry)
    runnable, left_out = runners.Native(work).runnable(plan.contenders)
    services = list(dict.fromkeys(registry.contenders[name].service for name in runnable))
    k6_program = k6.ensure(ROOT, session.go(work), _say)
    _, failed = session.build(work, services, _say)
    failed |= bares.build(work, [name for name in services if name not in failed], _say)
    left_out |= {name: failed[registry.contenders[name].service] for name in runnable if registry.contenders[name].service in failed}
    chosen_ = [registry.contenders[name] for name in runnable if name not in left_out]
    if not chosen_:
        _tell_left_out(left_out)
        raise Refused("No contender can be compared on this machine; ./justw doctor says what is missing.")
    folder = (out or ROOT / "bench" / "out" / f"bare-{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{host.facts(ROOT)['name']}").resolve()
    with session.stage(work, plan.profile, plan.workers, len(chosen_), folder, database_url, _say) as stage:
        study = bares.Study(asked[0], pairs, warm)
        measured, left_out = bares.Bench(study, stage, k6_program, folder, _say).measure(chosen_, left_out)
    console.print(comparing.grid(measured))
    console.print(f"{asked[0].id}, {plan.workers} worker(s); {folder}/bare.json", markup=False, soft_wrap=True)
    _tell_left_out(left_out)
    sys.exit(INCOMPLETE if left_out else DONE)


@app.command("bench")
def bench(
    context: typer.Context,
    contender: Annotated[str, typer.Argument(help="the contender's id")],
    tier: Tier = "standard",
    scenarios: Scenarios = "default",
    runner: Runner = "auto",
    rounds: Rounds = None,
    seed: Seed = None,
    twin: Twin = None,
    profile: ProfileOption = None,
    out: Out = None,
    resume: Resume = None,
    database_url: DatabaseUrl = None,
    order: OrderOption = "auto",
    noisy: Noisy = False,
    articles: Articles = None,
) -> None:
    """The same for one contender."""
    asked = _Asked(tier, contender, scenarios, rounds, seed, profile, twin, articles)
    _bench(context, asked, runner, out, resume, database_url, order, noisy)


def _bench(
    context: typer.Context,
    asked: _Asked,
    runner: str,
    out: Path | None,
    resume: Path | None,
    database_url: str | None,
    order: str,
    noisy: bool,
) -> None:
    registry = load(ROOT / "bench")
    _known_runner(runner)
    if order not in ("auto", "scenario", "contender"):
        raise ConfigurationError([f"--order: {order!r} is not one of auto, scenario, contender"])
    already: list[Cell] = []
    before: dict[str, Any] | None = None
    work = workshop(ROOT, registry)
    if resume is not None:
        if archive.packed(resume):
            raise Refused(f"{resume} cannot be resumed: it is kept, so its raw files are packed and its records have sums")
        hold(resume)
        cut_torn_tail(resume)
        before, already = read_run(resume)
        _refuse_other_plan(context, resume, before)
        plan, ground = _resumed(work, before, resume)
        if not plans.missing(plan, already):
            console.print("Every planned cell is there already.")
            report(resume)
            return
        order = before["plan"].get("order", "scenario")
        out = resume
    else:
        plan = _plan(registry, asked)
        ground = runners.asked_of(runner, work, plan.contenders, plan.workers, _say)
        order = "contender" if order == "auto" and plan.tier.one_at_a_time else order
    folder = out or ROOT / "bench" / "out" / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{host.facts(ROOT)['name']}"
    if resume is None and (folder / "cells.jsonl").exists():
        raise ConfigurationError([f"--out: {folder} already holds a run; go on with --resume {folder}, or name another folder"])
    sys.exit(_run(work, ground, plan, folder.resolve(), already, before, database_url, order, noisy))


def _known_runner(runner: str) -> None:
    if runner not in runners.RUNNERS:
        raise ConfigurationError([f"--runner: {runner!r} is not one of {', '.join(runners.RUNNERS)}"])


def _refuse_other_plan(context: typer.Context, folder: Path, run: dict[str, Any]) -> None:
    """A resumed run keeps its plan: an option that would change it is not passed over in silence. Raises ConfigurationError."""
    mistakes, old = [], run["plan"]
    for name in ("tier", "contenders", "scenarios", "rounds", "seed", "twin", "profile", "order", "out", "articles"):
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            mistakes.append(f"--{name}: the run in {folder} keeps its own; leave it out with --resume")
    runner = run.get("runner", "native")
    if context.params.get("runner", "auto") not in ("auto", runner):
        mistakes.append(f"--runner: the run in {folder} was made with {runner} and keeps it; leave it out with --resume")
    asked = context.params.get("contender")
    if asked is not None and asked not in old["contenders"]:
        mistakes.append(f"CONTENDER: {asked!r} is not in the run in {folder}; it has {', '.join(old['contenders'])}")
    if mistakes:
        raise ConfigurationError(mistakes)


def _run(
    work: Workshop,
    ground: runners.Runner,
    plan: plans.Plan,
    folder: Path,
    already: list[Cell],
    before: dict[str, Any] | None,
    database_url: str | None,
    order: str,
    noisy: bool,
) -> int:
    _print_placement(plan)
    registry = work.registry
    load_claims(ROOT / "bench", registry)  # a mistake in them is told now, not after an hour
    journal = Journal(folder)
    began = time.monotonic()
    runnable, left_out = ground.runnable(plan.contenders)
    left_out |= _pointless(plan)
    runnable = [name for name in runnable if name not in left_out]
    services = list(dict.fromkeys(registry.contenders[name].service for name in runnable))
    console.print(f"Building {', '.join(services)} ({ground.name}); logs in .tools/built/", markup=False)
    k6_program = ground.k6(_say)
    build_s, failed = ground.build([registry.contenders[name] for name in runnable], _say)
    left_out |= failed
    runnable = [name for name in runnable if name not in left_out]
    build_wall = time.monotonic() - began
    _tell_left_out(left_out)
    if not runnable:
        raise Refused("No contender can run on this machine; ./justw doctor says what is missing.")
    arranged = session.arrange(order, [plan.largest(registry.contenders[name]) for name in runnable], plan.workers, _say)
    measured_from = time.monotonic()
    asked = [registry.contenders[name] for name in runnable]
    with ground.stage(plan.profile, plan.workers, asked, folder, database_url, _say) as stage:
        passed = _conform_first(work, stage, plan.only(runnable), left_out)
        runnable = [name for name in runnable if name not in left_out]
        if not runnable:
            raise Refused("No contender obeys the contract; ./justw conform says which rules are broken.")
        plan = plan.only(runnable, arranged)
        _tell_unsupported(plan)
        checked = preflight.run(plan, stage, k6_program, folder, noisy, _say)
        announced = plans.left_s(plan, already)
        left = f", {len(plans.missing(plan, already))} of them left" if already else ""
        console.print(
            f"{_size(plan)}{left}, about {announced / 60:.0f} minutes; profile {plan.profile}, seed {plan.seed}; {folder}",
            markup=False,
        )
        facts = session.run_facts(plan, stage, k6_program, build_s, announced)
        facts |= ground.facts() | {"left_out": left_out, "conformance": passed, "preflight": checked}
        if before is not None:
            facts = _sitting(before, facts, left_out, ground.standing(plan)["tools"], folder)
        journal.facts(facts)
        write_whole(folder / CODE, to_json(sizes.measure(ROOT, registry, [c.id for c in plan.contenders]).model_dump(mode="json")))
        started = time.monotonic()
        screen = Screen(console, plan, lambda cells: tables.make(facts, cells), already)
        try:
            with screen:
                retries_s = session.measure(plan, stage, journal, k6_program, facts, already, screen, judged)
        except BaseException:
            with contextlib.suppress(JournalError):  # a full disk once more: what went wrong first is what is told
                _written(folder)
            errors.print(f"what was measured is kept; go on with --resume {folder}", markup=False)
            raise
        already.clear()  # read again from the journal
        written, _, cells = _written(folder)
    wall = time.monotonic() - started
    facts["wall_s"] = {
        "build": round(build_wall, 1),
        "prelude": round(started - measured_from, 1),
        "cells": round(wall, 1),
        "retries": round(retries_s, 1),
        "announced": round(announced, 1),
    }
    journal.facts(facts)
    console.print(
        f"Build {build_wall:.0f} s; measured in {wall / 60:.1f} minutes, announced {announced / 60:.1f}, retries {retries_s:.0f} s"
    )
    missing = [
        e
        for e in written.table.entries
        if e.status not in ("unsupported", "not asked") and e.rounds_valid + e.rounds_censored < plan.rounds
    ]
    _tell_left_out(left_out)
    for entry in missing:
        counting = f"{entry.rounds_valid + entry.rounds_censored} of {plan.rounds} rounds count"
        console.print(f"{entry.scenario} · {entry.contender}: {counting}: {'; '.join([*entry.reasons, *entry.doubts])}", markup=False)
    uneven = miscounts(Fairness.model_validate(facts["fairness"]), tables.latest(cells)) if "fairness" in facts else []
    for asymmetry in uneven:
        console.print(asymmetry.sentence, markup=False)
    complete = _draw(folder)
    lacking = [name for name in facts["left_out"] if _tells_nothing(registry.contenders[name], plan) is None]
    return INCOMPLETE if missing or uneven or lacking or not complete else DONE


def _written(folder: Path) -> tuple[Written, dict[str, Any], list[Cell]]:
    """Tables and verdicts from the journal, and the table on the screen; with what they were made from."""
    facts, cells = read_run(folder)
    _tell_unchained(folder)
    written = outputs(folder, facts, cells, _claims())
    _print_written(written)
    console.print(f"\n{folder}/table.md, table.csv, table.json, claims.md, claims.json; raw data beside them", markup=False)
    return written, facts, cells


def _tell_unchained(folder: Path) -> None:
    """Says of a run from before lines were chained what finds a change in it."""
    if chain_of(folder) is None:
        found = f"{SUMS} alone tells whether a file was changed" if (folder / SUMS).exists() else "nothing tells whether a line was changed"
        console.print(f"{folder} has no chain of hashes, it is from before there was one: {found}", style="dim", markup=False)


def _claims() -> Claims:
    return load_claims(ROOT / "bench", load(ROOT / "bench"))


def _draw(folder: Path) -> bool:
    """The page, the charts and the blog data; False, with a sentence, where they could not be drawn: tables and verdicts stand."""
    console.print("Drawing the page, the charts and the blog data …")
    why = drawn_apart(folder)
    told = f"{folder}/report.html, charts/, blog.en.md, blog.ko.md" if why is None else f"The page could not be drawn: {why}"
    console.print(told, markup=False)
    _tell_without_picture(folder)
    return why is None


def _tell_without_picture(folder: Path) -> None:
    if lacking := without_picture(folder):
        console.print(f"{words.count(lacking, 'chart')} as SVG only: no font here has Hangul (Debian: apt-get install fonts-noto-cjk)")


def _size(plan: plans.Plan) -> str:
    """`84 cells: 7 contenders × 12 scenarios × 1 round`, or `84 cells: 14 pairs of …` where not all are asked all."""
    product = {"contender": len(plan.contenders), "scenario": len(plan.scenarios), "round": plan.rounds}
    if len(plan.pairs) < len(plan.contenders) * len(plan.scenarios):
        return f"{words.count(plan.cells, 'cell')}: {len(plan.pairs)} pairs of contender and scenario × {words.count(plan.rounds, 'round')}"
    return f"{words.count(plan.cells, 'cell')}: " + " × ".join(words.count(number, noun) for noun, number in product.items())


def _tell_unsupported(plan: plans.Plan) -> None:
    """Who is left out of a scenario that others run, and what of a scenario."""
    for each in plan.scenarios:
        if (short := plan.cut_short(each)) is not None:
            console.print(f"{each.id} {short}", markup=False, soft_wrap=True)
    for scenario, why, names in plan.left_out:
        console.print(f"{scenario} without {', '.join(names)}: {why}", markup=False, soft_wrap=True)


def _print_placement(plan: plans.Plan) -> None:
    for line in host.placement_lines(plan.profile):
        console.print(line, markup=False, soft_wrap=True)


def _pointless(plan: plans.Plan) -> dict[str, str]:
    """Contenders of which this plan could tell nothing, and why: they are left out, and without them nothing is missing."""
    return {contender.id: why for contender in plan.contenders if (why := _tells_nothing(contender, plan)) is not None}


def _tells_nothing(contender: Contender, plan: plans.Plan) -> str | None:
    """Why it is pointless to run it in this plan; None where it is not."""
    whys = [contender.why_not(scenario) for scenario in plan.scenarios if plan.asks(contender, scenario)]
    if not whys:
        return "none of these scenarios is for it"
    return whys[0] if None not in whys else contender.nothing_of_its_own(plan.workers)


def _conform_first(work: Workshop, stage: Stage, plan: plans.Plan, left_out: dict[str, str]) -> dict[str, dict[str, object]]:
    """A contender that breaks a rule gets no number. Returns who passed (now, or the same build before) but for which rules."""
    passed = session.PassedBefore(work, stage)
    if known := [contender.id for contender in plan.to_check if passed.knows(contender)]:
        _say(f"These builds passed the contract before: {', '.join(known)}")
    unchecked = [contender for contender in plan.to_check if contender.id not in known]
    for number, contender in enumerate(unchecked, 1):
        _say_checked(contender, number, unchecked, ", once for each build")
        broken = [outcome for outcome in session.conform(stage, contender, lambda _: None) if not outcome.passed]
        if broken:
            left_out[contender.id] = "; ".join(f"{o.rule} {o.title}: {o.detail}" for o in broken)
            _say(f"{contender.id} is left out: {left_out[contender.id]}")
        else:
            passed.add(contender)
    for contender in plan.contenders:
        if contender.copy_of in left_out:
            left_out.setdefault(contender.id, f"{contender.copy_of}, of which it is a copy, is left out")
    return {
        contender.id: {"passed": "before" if contender.id in known else "now", "but": contender.breaks}
        for contender in plan.to_check
        if contender.id not in left_out
    }


def _say_checked(contender: Contender, number: int, among: Sequence[Contender], when: str = "") -> None:
    left = words.clock(sum(map(plans.conformance_s, among[number - 1 :])))
    _say(f"{contender.id}: checking the contract, {number} of {len(among)}{when} (about {left} left)")


def _tell_left_out(left_out: dict[str, str]) -> None:
    for name, why in left_out.items():
        errors.print(f"left out: {name}: {why}", markup=False)


def _say(sentence: str) -> None:
    console.print(f"  {sentence}", markup=False, soft_wrap=True)


def _print_written(written: Written) -> None:
    console.print(terminal.grid(written.table, console.width))
    for line in (*words.legend(written.table), *written.controls, verdicts.counts(written.judgement, "en")):
        console.print(line, style="dim", markup=False)


# --- planning --------------------------------------------------------------------------------------------------------


def _profile(text: str | None) -> Profile:
    if text is None:
        return host.default_profile()
    if text == "1cpu":
        return "1cpu"
    if text == "ncpu":
        return "ncpu"
    raise ConfigurationError([f"--profile: {text!r} is not one of 1cpu, ncpu"])


@dataclass(frozen=True)
class _Asked:
    """What the command line says of a plan."""

    tier: str
    contenders: str = "default"
    scenarios: str = "default"
    rounds: int | None = None
    seed: int | None = None
    profile: str | None = None
    twin: str | None = "none"
    articles: str | None = None


def _plan(registry: Registry, asked: _Asked) -> plans.Plan:
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
    twinned = None if asked.twin is None else [] if asked.twin == "none" else [name.strip() for name in asked.twin.split(",")]
    collect("--tier", asked.tier, registry.tiers, [])
    tier = registry.tiers.get(asked.tier)
    cast: dict[str, list[str]] | None = None
    letters: list[str] = []
    usual = [s.id for s in registry.scenarios.values() if s.default and asked.tier in s.tiers]
    default = [c.id for c in registry.contenders.values() if c.default]
    if tier is not None and tier.by_claims:
        claims = load_claims(ROOT / "bench", registry)
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
    seed = session.seed_from_clock() if asked.seed is None else asked.seed
    return plans.make(registry, asked.tier, who, what, placed, workers, seed, asked.rounds, cast, letters, host.raise_limits())


def _resumed(work: Workshop, run: dict[str, Any], folder: Path) -> tuple[plans.Plan, runners.Runner]:
    """The plan and the runner of an interrupted run. Raises Refused where the machine, the code or the configuration is another one."""
    old, registry = run["plan"], work.registry
    gone = [name for name in (*old["contenders"], *old["scenarios"]) if name not in {**registry.contenders, **registry.scenarios}]
    if gone:
        raise Refused(f"{folder} cannot be resumed: {', '.join(gone)} is not in the registry any more. Start a new run.")
    plan = plans.make(
        registry,
        old["tier"],
        old["contenders"],
        old["scenarios"],
        old["profile"],
        old["workers"],
        old["seed"],
        old["rounds"],
        asked=old.get("asked"),
        articles=old.get("articles", []),
        nofile=host.raise_limits(),
    )
    ground = runners.asked_of(run.get("runner", "native"), work, plan.contenders, plan.workers, _say)
    _refuse_differences(run, ground.standing(plan), folder)
    return plan, ground


def _refuse_differences(before: dict[str, Any], now: dict[str, Any], folder: Path) -> None:
    changed = differences_of_sittings(before, now)
    if changed:
        raise Refused(f"{folder} cannot be resumed here: {'; '.join(changed)}. Start a new run.")


def _sitting(before: dict[str, Any], now: dict[str, Any], left_out: dict[str, str], tools: dict[str, str], folder: Path) -> dict[str, Any]:
    """run.json of a resumed run: the first sitting's facts stand, the new one is added. Raises Refused where they do not fit together."""
    if left_out:
        raise Refused(f"the run cannot go on without {', '.join(left_out)}: {'; '.join(left_out.values())}")
    _refuse_differences(before, {**now, "tools": tools}, folder)
    sittings = [*before.get("sittings", []), {key: now[key] for key in ("started_at", "build_s", "preflight")}]
    return {**before, "sittings": sittings}


@app.command("plan")
def show_plan(
    tier: Tier = "standard",
    contenders: Contenders = "default",
    scenarios: Scenarios = "default",
    runner: Runner = "auto",
    rounds: Rounds = None,
    seed: Seed = None,
    twin: Twin = None,
    profile: ProfileOption = None,
    articles: Articles = None,
) -> None:
    """What would run, how long it takes, and what it could detect."""
    registry = load(ROOT / "bench")
    _known_runner(runner)
    plan = _plan(registry, _Asked(tier, contenders, scenarios, rounds, seed, profile, twin, articles))
    ground = runners.asked_of(runner, workshop(ROOT, registry), plan.contenders, plan.workers, _say)
    left_out = ground.runnable(plan.contenders)[1] | _pointless(plan)
    if len(left_out) == len(plan.contenders):
        _tell_left_out(left_out)
        raise Refused("No contender can run on this machine; ./justw doctor says what is missing.")
    plan = plan.only([contender.id for contender in plan.contenders if contender.id not in left_out])
    console.print(f"Tier {plan.tier_name}: {plan.tier.why}", markup=False)
    console.print(
        f"{_size(plan)}; runner {ground.name}; profile {plan.profile}, {plan.workers} worker(s) each; seed {plan.seed}",
        markup=False,
    )
    _tell_left_out(left_out)
    _print_placement(plan)
    unchecked = plan.seconds(plan.to_check) - plan.seconds()
    console.print(
        f"Time: {plan.seconds() / 60:.1f} minutes after the build; {unchecked / 60:.1f} more where none has passed the contract yet",
        markup=False,
    )
    for scenario in plan.scenarios:
        load_ = f"{scenario.rate_for(plan.workers)}/s open" if scenario.model == "open" else f"{scenario.vus} users closed"
        t = plan.timing(scenario)
        cells = [plan.cell_s(contender, scenario) for contender, of in plan.pairs if of is scenario]
        longest = f"up to {max(cells):.0f}" if cells and max(cells) > t.total_s else f"{t.total_s:4.1f}"
        window = "the whole load" if t.ends else f"settle {t.settle_s:4.1f} s, window {t.window_s:4.1f} s"
        console.print(f"  {scenario.id:18} {load_:18} {window}, cell {longest} s")
    _tell_unsupported(plan)
    for number, row in enumerate(plan.rows, 1):
        console.print(f"  round {number}: {', '.join(row)}", markup=False)
    try:
        order = "contender" if plan.tier.one_at_a_time else "auto"
        _, why = plans.order_for(order, [plan.largest(c) for c in plan.contenders], plan.workers, host.memory_available_mib())
    except ValueError as error:
        why = str(error)
    if why:
        console.print(why, markup=False, soft_wrap=True)
    noise, source = earlier.noise(ROOT / "bench", host.facts(ROOT)["name"], plan.profile, _say)
    comparisons = max(1, len(plan.contenders) - len(plan.controls) - 1) * len(plan.scenarios)
    for line in power.lines([s.id for s in plan.scenarios], plan.rounds, comparisons, noise, source):
        console.print(line, markup=False)


# --- checking --------------------------------------------------------------------------------------------------------


@app.command("conform")
def conform(
    contenders: Annotated[list[str] | None, typer.Argument(help="ids; default: all default contenders")] = None,
    runner: Runner = "auto",
    profile: ProfileOption = None,
    database_url: DatabaseUrl = None,
    stopped_for: Annotated[
        float | None, typer.Option(min=0.1, help="instead: stop the contenders for so many seconds and see whether they wake unharmed")
    ] = None,
) -> None:
    """The contract, rule by rule, against live services; then all contenders against each other."""
    registry = load(ROOT / "bench")
    _known_runner(runner)
    plan = _plan(registry, _Asked("smoke", ",".join(contenders) if contenders else "default", seed=0, profile=profile))
    work = workshop(ROOT, registry)
    ground = runners.asked_of(runner, work, plan.contenders, plan.workers, _say)
    there, left_out = _built(ground, plan)
    _tell_left_out(left_out)
    if stopped_for is None:
        sys.exit(_conform(work, ground, plan, there, left_out, database_url))
    sys.exit(_stopped(ground, plan, there, left_out, database_url, stopped_for))


def _built(ground: runners.Runner, plan: plans.Plan) -> tuple[list[Contender], dict[str, str]]:
    """The contenders that can run, built, and contender → why another cannot."""
    runnable, left_out = ground.runnable(plan.contenders)
    _, failed = ground.build([each for each in plan.contenders if each.id in runnable], _say)
    left_out |= failed
    return [each for each in plan.contenders if each.id not in left_out], left_out


def _stopped(
    ground: runners.Runner,
    plan: plans.Plan,
    asleep: list[Contender],
    left_out: dict[str, str],
    database_url: str | None,
    stopped_s: float,
) -> int:
    if not asleep:
        raise Refused("No contender can run on this machine; ./justw doctor says what is missing.")
    with (
        _scratch() as folder,
        ground.stage(plan.profile, plan.workers, asleep, folder, database_url, _say) as stage,
    ):
        woken, out = stopped.wake(stage, asleep, stopped_s, _say)
    for name, seen in woken.items():
        found, unseen = harm(seen), notes(seen)
        had = seen.before
        kept = f"{len(had.processes)} processes, {len(had.connections)} database and {len(had.upstream_ports)} upstream connections kept"
        said = "; ".join(found) if found else f"unharmed: {kept}, {REQUESTS} requests answered"
        console.print(f"{name}: {'; '.join([said, *unseen])}", markup=False, soft_wrap=True)
    for name, why in out.items():
        console.print(f"{name}: not stopped: {why}", markup=False, soft_wrap=True)
    return INCOMPLETE if left_out or out or any(harm(seen) for seen in woken.values()) else DONE


def _conform(
    work: Workshop,
    ground: runners.Runner,
    plan: plans.Plan,
    there: list[Contender],
    left_out: dict[str, str],
    database_url: str | None,
) -> int:
    broken = 0
    with (
        _scratch() as folder,
        ground.stage(plan.profile, plan.workers, there, folder, database_url, _say) as stage,
    ):
        console.print(f"database: {stage.database.kind} {stage.database.version}; runner {ground.name}", markup=False)
        passed = session.PassedBefore(work, stage)
        for number, contender in enumerate(there, 1):
            _say_checked(contender, number, there)
            outcomes = session.conform(stage, contender, lambda _: None)
            bad = [outcome for outcome in outcomes if not outcome.passed]
            beyond = beyond_reach(contender.endpoints)
            lacks = ", ".join(one for one in EXTRAS if one not in contender.extra)
            why = contender.only.why if contender.only is not None else f"it does not have {lacks}"
            rest = f"; {len(beyond)} do not concern it: {why}" if beyond else ""
            console.print(
                f"{contender.id}: {len(outcomes) - len(bad)} of {len(outcomes)} checks passed{rest}", markup=False, soft_wrap=True
            )
            for unkept, why in contender.breaks.items():
                console.print(f"  not checked: {unkept}: {why}", markup=False, soft_wrap=True)
            for outcome in bad:
                console.print(f"  {outcome.rule} {outcome.title}: {outcome.detail}", markup=False)
            broken += len(bad)
            if not bad:
                passed.add(contender)
        seen = {}
        for contender in there if len(there) > 1 else []:
            running = stage.start(contender)
            try:
                stage.database.reset_books()
                seen[contender.id] = answers(running.base_url, contender.endpoints)
            finally:
                running.stop()
        different = [outcome for outcome in differences(seen) if not outcome.passed] if seen else []
        for outcome in different:
            console.print(f"  differ: {outcome.rule} {outcome.title}: {outcome.detail}", markup=False)
        if seen:
            console.print(
                f"{max(len(given) for given in seen.values())} requests to {len(seen)} contenders: {len(different)} answered differently"
            )
    return INCOMPLETE if broken or different or left_out else DONE


@contextlib.contextmanager
def _scratch() -> Iterator[Path]:
    """A folder for a command that keeps nothing."""
    with tempfile.TemporaryDirectory(prefix="nsb-") as folder:
        yield Path(folder)


@app.command("doctor")
def doctor(runner: Runner = "auto") -> None:
    """What this machine has and lacks, per contender, with the command that mends it."""
    _known_runner(runner)
    registry = load(ROOT / "bench")
    work = workshop(ROOT, registry)
    facts = host.facts(ROOT)
    console.print(
        f"{facts['system']}, kernel {facts['kernel']}, {facts['cpu']}, {facts['cores']} cores, {facts['memory_gib']} GiB",
        markup=False,
    )
    for name in registry.tools:
        found = work.found.get(name)
        text = f"{found.version} ({found.path})" if isinstance(found, Found) else work.missing[name].sentence
        text += "" if found or not work.can_fetch(name) else "; else it is fetched when a contender needs it"
        console.print(f"  {name:8} {text}", markup=False)
    originals = [c for c in registry.contenders.values() if c.copy_of is None]
    try:
        there = runners.Compose(work, 1)
        told = f"{there.engine.version}, compose {there.engine.compose}, cgroup v{there.engine.cgroup}: --runner compose works"
    except containers.Absent as error:
        there, told = None, str(error)
    console.print(f"  {'docker':8} {told}", markup=False, soft_wrap=True)
    if runner == "compose":
        sys.exit(INCOMPLETE if there is None or _tell_runnable(there, originals) else DONE)
    ground = runners.Native(work) if runner == "native" else runners.asked_of("auto", work, originals, 1, _say)
    lacking = 0
    try:
        server = find_server(ROOT / ".tools" / "database") if ground.name == "native" else "in a container"
        console.print(f"  database {server}", markup=False)
    except DatabaseError as error:
        console.print(f"  database {error}", markup=False)
        lacking += 1
    lacking += _tell_runnable(ground, originals)
    if "go" not in work.found and ground.name == "native":
        console.print("k6 and the upstream need Go too: nothing can be measured without it.")
        lacking += 1
    sys.exit(INCOMPLETE if lacking else DONE)


def _tell_runnable(ground: runners.Runner, contenders: list[Contender]) -> int:
    """Says of each whether it can run; how many of the default ones cannot."""
    _, lacking = ground.runnable(contenders)
    for contender in contenders:
        why = lacking.get(contender.id)
        console.print(f"{contender.id:16} {'can run' if why is None else f'cannot run: {why}'} ({ground.name})", markup=False)
    return sum(contender.default and contender.id in lacking for contender in contenders)


@app.command("test")
def run_checks(only: Annotated[list[str] | None, typer.Argument(help="parts; default: all")] = None) -> None:
    """All checks, the same as CI."""
    registry = load(ROOT / "bench")
    sys.exit(checks.run_all(ROOT, registry, only or [], console))


# --- one service, and reading ------------------------------------------------------------------------------------------


@app.command("up")
def up(
    contender: Annotated[str, typer.Argument(help="the contender's id")],
    port: Annotated[int, typer.Option(min=1, max=65535)] = 8080,
    runner: Runner = "auto",
    profile: ProfileOption = None,
    database_url: DatabaseUrl = None,
) -> None:
    """One service with its database and upstream, to try by hand; Ctrl-C stops all."""
    registry = load(ROOT / "bench")
    plan = _plan(registry, _Asked("smoke", contender, seed=0, profile=profile))
    _known_runner(runner)
    chosen_ = plan.contenders[0]
    ground = runners.asked_of(runner, workshop(ROOT, registry), [chosen_], plan.workers, _say)
    lacks = ground.runnable([chosen_])[1]
    if lacks:
        raise Refused(lacks[chosen_.id])
    if not port_is_free(port):
        raise Refused(f"port {port} is taken; name another one by --port")
    _, failed = ground.build([chosen_], _say)
    if failed:
        raise Refused(failed[chosen_.id])
    with _scratch() as folder, ground.stage(plan.profile, plan.workers, [chosen_], folder, database_url, _say) as stage:
        running = stage.start(chosen_, {"PORT": str(port)})
        try:
            console.print(f"{chosen_.id} answers on {running.base_url} (ready after {running.ready_s:.1f} s). Try:", markup=False)
            for path in ("/runtime", "/hello", "/books/1", "/fanout?calls=3&ms=100&mode=concurrent"):
                if endpoint(path) in chosen_.endpoints:
                    console.print(f"  curl '{running.base_url}{path}'", markup=False)
            console.print("Ctrl-C stops the service, its database and the upstream.")
            while running.process.wait(3600) is None:
                pass
            errors.print(f"{chosen_.id} ended with {running.process.exit_code}: {running.stderr_tail}", markup=False)
            sys.exit(INCOMPLETE)
        except Interrupted:
            sys.exit(DONE)
        finally:
            running.stop()


@app.command("report")
def report(
    run: Annotated[Path, typer.Argument(help="a run's folder")],
    readme: Annotated[bool, typer.Option("--readme", help="also put the table into README.md and README.ko.md")] = False,
) -> None:
    """Every output again from a run's raw data."""
    if readme and not run.resolve().is_relative_to(ROOT / "bench" / "results"):
        raise ConfigurationError([f"--readme: {run} is not a committed run below bench/results/"])
    written, facts, _ = _written(run)
    complete = _draw(run)
    if readme:
        articles = committed_articles(ROOT, _claims())
        judged = [(run.resolve().relative_to(ROOT).as_posix(), written.judgement), *((each.folder, each.judgement) for each in articles)]
        pages_of = reproduced(articles, _claims())
        for name, language in markdown.READMES.items():
            block = markdown.readme_block(written.table, facts, judged, pages_of, language)
            write_whole(ROOT / name, markdown.with_block((ROOT / name).read_text(encoding="utf-8"), block))
        tidy(ROOT, run.resolve(), list(markdown.READMES), _claims())
    sys.exit(DONE if complete else INCOMPLETE)


@app.command("keep")
def keep(
    run: Annotated[Path, typer.Argument(help="the folder of a finished run")],
    name: Annotated[str | None, typer.Option(help="its folder below bench/results; default: <date>-<tier>")] = None,
) -> None:
    """A finished run into bench/results: its records, one archive of its raw summaries, and every output."""
    kept = archive.keep(run, ROOT / "bench" / "results", name)
    console.print(f"{kept}: records, {archive.RAW}, {SUMS}; say in bench/results/README.md why it is kept", markup=False)
    report(kept)


@app.command("raw")
def raw(
    run: Annotated[Path, typer.Argument(help="a run's folder")],
    member: Annotated[str | None, typer.Argument(help="k6/….json, as a cell's `raw` names it; without it their names")] = None,
) -> None:
    """One raw summary of a run as its generator wrote it, also from the archive of a kept run."""
    if member is None:
        sys.stdout.writelines(f"{each}\n" for each in archive.members(run))
    else:
        sys.stdout.buffer.write(archive.member(run, member))


@app.command("blog")
def blog_data(run: Annotated[Path, typer.Argument(help="a run's folder")]) -> None:
    """The blog data alone: blog.en.md, blog.ko.md and their charts."""
    blog(run, *read_run(run), _claims())
    console.print(f"{run}/blog.en.md, blog.ko.md, charts/", markup=False)
    _tell_without_picture(run)


@app.command("draw", hidden=True)
def draw(run: Annotated[Path, typer.Argument(help="a run's folder")]) -> None:
    """What `report` and a run's end draw in a process of its own."""
    pages(run, *read_run(run), _claims())


@app.command("claims")
def show_claims(
    run: Annotated[Path | None, typer.Argument(help="a run's folder; without it the claims alone")] = None,
    language: Annotated[str, typer.Option(help="en or ko")] = "en",
) -> None:
    """The claims and what decides each; with a run their verdicts."""
    if language not in messages.LANGUAGES:
        raise ConfigurationError([f"--language: {language!r} is unknown; known are {', '.join(messages.LANGUAGES)}"])
    claims = _claims()
    if run is None:
        console.print(verdicts.listing(claims, language))
        return
    facts, cells = read_run(run)
    _tell_unchained(run)
    found = judge.judged(facts, cells, read_starts_of(run), read_code_of(run), claims)
    if verdicts.looked_at_by(found):
        console.print(verdicts.grid(found, language))
    for line in verdicts.not_measured(found, language):
        console.print(line, style="dim", markup=False)
    console.print(f"{verdicts.counts(found, language)} {messages.scope(found.scope, language)}", markup=False)


@app.command("schema")
def write_schemas() -> None:
    """The documented columns and fields of every output, into bench/schema/ (ignored by git: they follow from the models)."""
    (ROOT / "bench" / "schema").mkdir(exist_ok=True)
    schema.write(ROOT / "bench" / "schema")


@app.command("compare")
def compare_runs(
    a: Annotated[Path, typer.Argument(help="the folder of a run")],
    b: Annotated[Path, typer.Argument(help="the folder of a later run on the same machine")],
) -> None:
    """What run B does worse or better than run A, cell by cell; exit code 1 where a cell is worse."""
    found = compare(*read_run(a), *read_run(b))
    for run in dict.fromkeys((a, b)):
        _tell_unchained(run)
    console.print(side_by_side.grid(found))
    for line in side_by_side.notes(found):
        console.print(line, style="dim", markup=False)
    if not found.judged:
        raise Refused("No cell could be judged, for the reasons above: this says nothing about A and B.")
    sys.exit(INCOMPLETE if found.worse else DONE)


@app.command("show")
def show(part: Annotated[str, typer.Argument(help="main, settings, routes, waiting, books, fanout …")]) -> None:
    """One part of every service, one after the other."""
    registry = load(ROOT / "bench")
    found = showing.part(ROOT, registry, part)
    if not found:
        raise ConfigurationError([f"PART: no service has a file named {part!r}; try {', '.join(showing.parts(ROOT, registry))}"])
    for path, text in found:
        console.rule(path)
        console.print(text, markup=False)
