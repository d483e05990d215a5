"""The command line: each verb is a recipe of the justfile. Parses, calls, prints, and maps outcomes to exit codes."""

from __future__ import annotations

import contextlib
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from nsb import plan as plans
from nsb.analysis import table as tables
from nsb.analysis.stats import smallest_effect
from nsb.load import ConfigurationError, chosen, load
from nsb.model import Cell, Profile, Registry
from nsb.progress import Screen
from nsb.report import bare as comparing
from nsb.report import markdown, terminal, words
from nsb.running import bare as bares
from nsb.running import checks, host, k6, session
from nsb.running import show as showing
from nsb.running.conformance.exchanges import answers, differences
from nsb.running.database import DatabaseError, find_server
from nsb.running.journal import Journal, JournalError, cut_torn_tail, read_run, write_whole
from nsb.running.native import Died, Stage
from nsb.running.outputs import outputs
from nsb.running.process import ProcessError, port_is_free
from nsb.running.session import Interrupted, Refused
from nsb.running.tools import BuildError, Found, Workshop, workshop

DONE, INCOMPLETE, USAGE, REFUSED = 0, 1, 2, 3
ROOT = Path(__file__).resolve().parents[3]
"""The project's root: the harness is run from its checkout."""

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None)
console = Console(highlight=False, width=None if sys.stdout.isatty() else 110)
errors = Console(stderr=True, highlight=False, soft_wrap=True)

Tier = Annotated[str, typer.Option(help="smoke, standard, publish (bench/scenarios.toml)")]
Contenders = Annotated[str, typer.Option(help="default, all, or ids with commas between")]
Scenarios = Annotated[str, typer.Option(help="default, all, or ids with commas between")]
Twin = Annotated[str | None, typer.Option(help="the contender that is started twice (A/A), or none")]
Rounds = Annotated[int | None, typer.Option(min=1, help="instead of the tier's number")]
Seed = Annotated[int | None, typer.Option(min=0, help="draws the order; recorded in the run")]
ProfileOption = Annotated[str | None, typer.Option("--profile", help="1cpu or ncpu; default: 1cpu below 4 cores")]
Out = Annotated[Path | None, typer.Option(help="the run's folder; default: bench/out/<time>-<host>")]
Resume = Annotated[Path | None, typer.Option(help="go on with an interrupted run")]
DatabaseUrl = Annotated[str | None, typer.Option(help="mysql://admin:password@host:port of a server of one's own")]
Runner = Annotated[str, typer.Option(help="auto or native")]


def main() -> None:
    """Runs the command line; every expected failure is a sentence and an exit code."""
    try:
        with session.interruptible():
            app(standalone_mode=True)
    except ConfigurationError as error:
        for mistake in error.mistakes:
            errors.print(mistake, markup=False)
        sys.exit(USAGE)
    except (Refused, ProcessError, DatabaseError, Died, JournalError, BuildError) as error:
        errors.print(str(error), markup=False)
        sys.exit(REFUSED)
    except OSError as error:  # a full disk, a folder without rights
        errors.print(f"{error.filename or 'the machine'}: {error.strerror}", markup=False)
        sys.exit(REFUSED)
    except Interrupted as stop:
        errors.print("stopped; what was measured is kept")
        sys.exit(stop.exit_code)


# --- measuring -------------------------------------------------------------------------------------------------------


@app.command("bench-all")
def bench_all(
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
) -> None:
    """Measure every default contender under every scenario and print the one table."""
    _bench(tier, contenders, scenarios, runner, rounds, seed, twin, profile, out, resume, database_url)


@app.command("bare")
def bare(
    contenders: Annotated[list[str] | None, typer.Argument(help="ids; default: the default contenders")] = None,
    scenario: Annotated[str | None, typer.Option(help="an open scenario of /hello; default: the first")] = None,
    pairs: Annotated[int, typer.Option(min=1, help="windows of each, in turn")] = 6,
    warm: Annotated[float, typer.Option(min=0.1, help="seconds of warming before, for each")] = 5.0,
    out: Out = None,
    database_url: DatabaseUrl = None,
) -> None:
    """What /hello costs in CPU beside a bare program of the same framework, at the same rate on one core."""
    registry = load(ROOT / "bench")
    plan = _plan(registry, "smoke", ",".join(contenders or ["default"]), scenario or "default", None, 0, "1cpu")
    asked = [s for s in plan.scenarios if s.path == "/hello" and s.model == "open"]
    if not asked:
        raise ConfigurationError([f"--scenario: {scenario or 'none'!r} is not an open scenario of /hello"])
    work = workshop(ROOT, registry)
    runnable, left_out = _runnable(work, plan)
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
) -> None:
    """The same for one contender."""
    _bench(tier, contender, scenarios, runner, rounds, seed, twin, profile, out, resume, database_url)


def _bench(
    tier: str,
    contenders: str,
    scenarios: str,
    runner: str,
    rounds: int | None,
    seed: int | None,
    twin: str | None,
    profile: str | None,
    out: Path | None,
    resume: Path | None,
    database_url: str | None,
) -> None:
    registry = load(ROOT / "bench")
    if runner not in ("auto", "native"):
        raise ConfigurationError([f"--runner: {runner!r} is not one of auto, native (compose comes with a later version)"])
    already: list[Cell] = []
    before: dict[str, Any] | None = None
    if resume is not None:
        cut_torn_tail(resume)
        before, already = read_run(resume)
        plan = _resumed(registry, before, resume)
        out = resume
    else:
        plan = _plan(registry, tier, contenders, scenarios, rounds, seed, profile, twin)
    folder = out or ROOT / "bench" / "out" / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{host.facts(ROOT)['name']}"
    if resume is None and (folder / "cells.jsonl").exists():
        raise ConfigurationError([f"--out: {folder} already holds a run; go on with --resume {folder}, or name another folder"])
    sys.exit(_run(registry, plan, folder.resolve(), already, before, database_url))


def _run(
    registry: Registry, plan: plans.Plan, folder: Path, already: list[Cell], before: dict[str, Any] | None, database_url: str | None
) -> int:
    work = workshop(ROOT, registry)
    journal = Journal(folder)
    began = time.monotonic()
    runnable, left_out = _runnable(work, plan)
    services = list(dict.fromkeys(registry.contenders[name].service for name in runnable))
    console.print(f"Building {', '.join(services)}; logs in .tools/built/", markup=False)
    k6_program = k6.ensure(ROOT, session.go(work), _say)
    build_s, failed = session.build(work, services, _say)
    for name in [n for n in runnable if registry.contenders[n].service in failed]:
        left_out[name] = failed[registry.contenders[name].service]
        runnable.remove(name)
    build_wall = time.monotonic() - began
    _tell_left_out(left_out)
    if not runnable:
        raise Refused("No contender can run on this machine; ./justw doctor says what is missing.")
    measured_from = time.monotonic()
    with session.stage(work, plan.profile, plan.workers, len(runnable), folder, database_url, _say) as stage:
        _conform_first(work, stage, [registry.contenders[n] for n in runnable], left_out)
        runnable = [name for name in runnable if name not in left_out]
        if not runnable:
            raise Refused("No contender obeys the contract; ./justw conform says which rules are broken.")
        plan = plans.make(
            registry,
            plan.tier_name,
            runnable,
            [s.id for s in plan.scenarios],
            plan.profile,
            plan.workers,
            plan.seed,
            plan.rounds,
        )
        announced = plan.measuring_s
        console.print(
            f"{plan.cells} cells: {len(plan.contenders)} contenders × {len(plan.scenarios)} scenarios × {plan.rounds} rounds, "
            f"about {announced / 60:.0f} minutes; profile {plan.profile}, seed {plan.seed}; {folder}",
            markup=False,
        )
        facts = session.run_facts(plan, stage, k6_program, build_s, announced)
        facts["left_out"] = left_out
        if before is not None:
            facts = _sitting(before, facts, left_out)
        journal.facts(facts)
        started = time.monotonic()
        screen = Screen(console, plan, lambda cells: tables.make(facts, cells), already)
        try:
            with screen:
                result = session.measure(plan, stage, journal, k6_program, facts, already, left_out, screen)
        finally:
            run, cells = read_run(folder)
            table = outputs(folder, run, cells)
            _print_table(table)
            console.print(f"\n{folder}/table.md, table.csv, table.json; raw data beside them", markup=False)
    wall = time.monotonic() - started
    facts["wall_s"] = {
        "build": round(build_wall, 1),
        "prelude": round(started - measured_from, 1),
        "cells": round(wall, 1),
        "retries": round(result.retries_s, 1),
        "announced": round(announced, 1),
    }
    journal.facts(facts)
    console.print(
        f"Build {build_wall:.0f} s; measured in {wall / 60:.1f} minutes, announced {announced / 60:.1f}, retries {result.retries_s:.0f} s"
    )
    missing = [e for e in table.entries if e.status != "unsupported" and e.rounds_valid + e.rounds_censored < plan.rounds]
    _tell_left_out(left_out)
    for entry in missing:
        counting = f"{entry.rounds_valid + entry.rounds_censored} of {plan.rounds} rounds count"
        console.print(f"{entry.scenario} · {entry.contender}: {counting}: {'; '.join([*entry.reasons, *entry.doubts])}", markup=False)
    return INCOMPLETE if missing or facts["left_out"] else DONE


def _runnable(work: Workshop, plan: plans.Plan) -> tuple[list[str], dict[str, str]]:
    runnable: list[str] = []
    left_out: dict[str, str] = {}
    for contender in plan.contenders:
        lacks = work.lacks(work.registry.services[contender.service])
        if lacks:
            left_out[contender.id] = "; ".join(lacks)
        else:
            runnable.append(contender.id)
    return runnable, left_out


def _conform_first(work: Workshop, stage: Stage, contenders: list[Any], left_out: dict[str, str]) -> None:
    """A contender that breaks a rule gets no number."""
    passed = session.PassedBefore(work, stage)
    for contender in contenders:
        if contender.twin_of in {other.id for other in contenders}:
            continue  # the same program with the same settings
        if passed.knows(contender):
            _say(f"{contender.id}: this build passed the contract before")
            continue
        _say(f"{contender.id}: checking the contract (once for each build, about half a minute)")
        broken = [outcome for outcome in session.conform(stage, contender, lambda _: None) if not outcome.passed]
        if broken:
            left_out[contender.id] = "; ".join(f"{o.rule} {o.title}: {o.detail}" for o in broken)
            _say(f"{contender.id} is left out: {left_out[contender.id]}")
        else:
            passed.add(contender)
    for contender in contenders:
        if contender.copy_of in left_out:
            left_out.setdefault(contender.id, f"{contender.copy_of}, of which it is a copy, is left out")


def _tell_left_out(left_out: dict[str, str]) -> None:
    for name, why in left_out.items():
        errors.print(f"left out: {name}: {why}", markup=False)


def _say(sentence: str) -> None:
    console.print(f"  {sentence}", markup=False, soft_wrap=True)


def _print_table(table: tables.Table) -> None:
    console.print(terminal.grid(table))
    for line in words.legend(table):
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


def _plan(
    registry: Registry,
    tier: str,
    contenders: str,
    scenarios: str,
    rounds: int | None,
    seed: int | None,
    profile: str | None,
    twin: str | None = "none",
) -> plans.Plan:
    """Raises ConfigurationError with every wrong option at once."""
    mistakes: list[str] = []

    def collect(option: str, text: str, known: Any, default: list[str], everything: list[str] | None = None) -> list[str]:
        try:
            return chosen(option, text, known, default, everything)
        except ConfigurationError as error:
            mistakes.extend(error.mistakes)
            return []

    originals = [c.id for c in registry.contenders.values() if c.copy_of is None]
    who = collect("--contenders", contenders, registry.contenders, [c.id for c in registry.contenders.values() if c.default], originals)
    what = collect("--scenarios", scenarios, registry.scenarios, [s.id for s in registry.scenarios.values() if s.default])
    try:
        who = plans.with_twin(who, registry, twin)
    except KeyError:
        mistakes.append(f"--twin: {twin!r} is not one of the run's contenders ({', '.join(who)}), nor none")
    collect("--tier", tier, registry.tiers, [])
    placed: Profile = "1cpu"
    try:
        placed = _profile(profile)
    except ConfigurationError as error:
        mistakes.extend(error.mistakes)
    if mistakes:
        raise ConfigurationError(mistakes)
    workers = len(host.placement(placed).service)
    return plans.make(registry, tier, who, what, placed, workers, session.seed_from_clock() if seed is None else seed, rounds)


def _resumed(registry: Registry, run: dict[str, Any], folder: Path) -> plans.Plan:
    """The plan of an interrupted run. Raises Refused where the machine or the code is another one."""
    now = host.facts(ROOT)
    changed = [key for key in ("name", "commit", "changed", "cores", "kernel") if run["host"].get(key) != now[key]]
    if changed:
        what = "; ".join(f"{key} was {run['host'].get(key)}, is {now[key]}" for key in changed)
        raise Refused(f"{folder} cannot be resumed here: {what}. Start a new run.")
    old = run["plan"]
    gone = [name for name in (*old["contenders"], *old["scenarios"]) if name not in {**registry.contenders, **registry.scenarios}]
    if gone:
        raise Refused(f"{folder} cannot be resumed: {', '.join(gone)} is not in the registry any more. Start a new run.")
    return plans.make(
        registry,
        old["tier"],
        old["contenders"],
        old["scenarios"],
        old["profile"],
        old["workers"],
        old["seed"],
        old["rounds"],
    )


def _sitting(before: dict[str, Any], now: dict[str, Any], left_out: dict[str, str]) -> dict[str, Any]:
    """run.json of a resumed run: the first sitting's facts stand, the new one is added. Raises Refused where they do not fit together."""
    if left_out:
        raise Refused(f"the run cannot go on without {', '.join(left_out)}: {'; '.join(left_out.values())}")
    if now["database"] != before["database"]:
        raise Refused(f"the run began on {before['database']}, here is {now['database']}: start a new run")
    sittings = [*before.get("sittings", []), {"started_at": now["started_at"], "build_s": now["build_s"]}]
    return {**before, "sittings": sittings}


@app.command("plan")
def show_plan(
    tier: Tier = "standard",
    contenders: Contenders = "default",
    scenarios: Scenarios = "default",
    rounds: Rounds = None,
    seed: Seed = None,
    twin: Twin = None,
    profile: ProfileOption = None,
) -> None:
    """What would run, how long it takes, and what it could detect."""
    registry = load(ROOT / "bench")
    plan = _plan(registry, tier, contenders, scenarios, rounds, seed, profile, twin)
    console.print(f"Tier {plan.tier_name}: {plan.tier.why}", markup=False)
    console.print(
        f"{plan.cells} cells = {len(plan.contenders)} contenders × {len(plan.scenarios)} scenarios × {plan.rounds} rounds; "
        f"profile {plan.profile}, {plan.workers} worker(s) each; seed {plan.seed}",
        markup=False,
    )
    place = host.placement(plan.profile).as_facts()
    console.print("Cores: " + ", ".join(f"{role} {cores}" for role, cores in place.items()), markup=False)
    console.print(
        f"Time: {plan.seconds(0) / 60:.1f} minutes after the build, and {plans.CONFORMANCE_S:.0f} s for each contender "
        "whose build has not passed the contract yet",
        markup=False,
    )
    for scenario in plan.scenarios:
        load_ = f"{scenario.rate_for(plan.workers)}/s open" if scenario.model == "open" else f"{scenario.vus} users closed"
        t = plan.timing(scenario)
        console.print(f"  {scenario.id:18} {load_:18} settle {t.settle_s:4.1f} s, window {t.window_s:4.1f} s, cell {t.total_s:4.1f} s")
    for number, row in enumerate(plan.rows, 1):
        console.print(f"  round {number}: {', '.join(row)}", markup=False)
    if plan.rounds < 5:
        console.print("Fewer than 5 rounds: no verdict.")
    else:
        effects = ", ".join(f"{smallest_effect(s, plan.rounds):.0%} where s = {s}" for s in (0.03, 0.08, 0.13))
        console.print(f"Smallest effect found with 80 % power: {effects} (s: standard deviation of a paired ln ratio)")


# --- checking --------------------------------------------------------------------------------------------------------


@app.command("conform")
def conform(
    contenders: Annotated[list[str] | None, typer.Argument(help="ids; default: all default contenders")] = None,
    profile: ProfileOption = None,
    database_url: DatabaseUrl = None,
) -> None:
    """The contract, rule by rule, against live services; then all contenders against each other."""
    registry = load(ROOT / "bench")
    plan = _plan(registry, "smoke", ",".join(contenders) if contenders else "default", "default", None, 0, profile)
    sys.exit(_conform(registry, plan, database_url))


def _conform(registry: Registry, plan: plans.Plan, database_url: str | None) -> int:
    work = workshop(ROOT, registry)
    runnable, left_out = _runnable(work, plan)
    _, failed = session.build(work, list(dict.fromkeys(registry.contenders[n].service for n in runnable)), _say)
    left_out |= {n: failed[registry.contenders[n].service] for n in runnable if registry.contenders[n].service in failed}
    runnable = [name for name in runnable if name not in left_out]
    _tell_left_out(left_out)
    broken = 0
    with (
        _scratch() as folder,
        session.stage(work, plan.profile, plan.workers, len(runnable), folder, database_url, _say) as stage,
    ):
        console.print(f"database: {stage.database.kind} {stage.database.version}", markup=False)
        passed = session.PassedBefore(work, stage)
        for name in runnable:
            outcomes = session.conform(stage, registry.contenders[name], lambda _: None)
            bad = [outcome for outcome in outcomes if not outcome.passed]
            console.print(f"{name}: {len(outcomes) - len(bad)} of {len(outcomes)} checks passed", markup=False)
            for outcome in bad:
                console.print(f"  {outcome.rule} {outcome.title}: {outcome.detail}", markup=False)
            broken += len(bad)
            if not bad:
                passed.add(registry.contenders[name])
        seen = {}
        for name in runnable if len(runnable) > 1 else []:
            running = stage.start(registry.contenders[name])
            try:
                stage.database.reset_books()
                seen[name] = answers(running.base_url)
            finally:
                running.stop()
        different = [outcome for outcome in differences(seen) if not outcome.passed] if seen else []
        for outcome in different:
            console.print(f"  differ: {outcome.rule} {outcome.title}: {outcome.detail}", markup=False)
        if seen:
            console.print(f"{len(next(iter(seen.values())))} requests to {len(seen)} contenders: {len(different)} answered differently")
    return INCOMPLETE if broken or different or left_out else DONE


@contextlib.contextmanager
def _scratch() -> Iterator[Path]:
    """A folder for a command that keeps nothing."""
    with tempfile.TemporaryDirectory(prefix="nsb-") as folder:
        yield Path(folder)


@app.command("doctor")
def doctor() -> None:
    """What this machine has and lacks, per contender, with the command that mends it."""
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
        console.print(f"  {name:8} {text}", markup=False)
    lacking = 0
    try:
        console.print(f"  database {find_server(ROOT / '.tools' / 'database')}", markup=False)
    except DatabaseError as error:
        console.print(f"  database {error}", markup=False)
        lacking += 1
    for contender in [c for c in registry.contenders.values() if c.copy_of is None]:
        lacks = work.lacks(registry.services[contender.service])
        lacking += bool(lacks) and contender.default
        console.print(f"{contender.id:16} {'can run' if not lacks else 'cannot run: ' + '; '.join(lacks)}", markup=False)
    if "go" not in work.found:
        console.print("k6 and the upstream need Go too: nothing can be measured without it.")
        lacking += 1
    sys.exit(INCOMPLETE if lacking else DONE)


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
    profile: ProfileOption = None,
    database_url: DatabaseUrl = None,
) -> None:
    """One service with its database and upstream, to try by hand; Ctrl-C stops all."""
    registry = load(ROOT / "bench")
    plan = _plan(registry, "smoke", contender, "default", None, 0, profile)
    work = workshop(ROOT, registry)
    chosen_ = plan.contenders[0]
    lacks = work.lacks(registry.services[chosen_.service])
    if lacks:
        raise Refused("; ".join(lacks))
    if not port_is_free(port):
        raise Refused(f"port {port} is taken; name another one by --port")
    _, failed = session.build(work, [chosen_.service], _say)
    if failed:
        raise Refused(next(iter(failed.values())))
    with _scratch() as folder, session.stage(work, plan.profile, plan.workers, 1, folder, database_url, _say) as stage:
        running = stage.start(chosen_, {"PORT": str(port)})
        try:
            console.print(f"{chosen_.id} answers on {running.base_url} (ready after {running.ready_s:.1f} s). Try:", markup=False)
            for path in ("/runtime", "/books/1", "/fanout?calls=3&ms=100&mode=concurrent"):
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
    facts, cells = read_run(run)
    table = outputs(run, facts, cells)
    _print_table(table)
    if readme:
        if not run.resolve().is_relative_to(ROOT / "bench" / "results"):
            raise ConfigurationError([f"--readme: {run} is not a committed run below bench/results/"])
        block = markdown.readme_block(table, facts, run.resolve().relative_to(ROOT).as_posix())
        for name in ("README.md", "README.ko.md"):
            write_whole(ROOT / name, markdown.with_block((ROOT / name).read_text(encoding="utf-8"), block))


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
