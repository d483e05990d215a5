"""The command line: each verb is a recipe of the justfile. Parses, calls, and maps outcomes to exit codes.

What a verb needs is imported inside it, so that every verb starts at once.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from nsb.errors import Failure
from nsb.measure.interrupt import Interrupted, interruptible

if TYPE_CHECKING:
    from nsb.verbs.planning import Asked

MEASURE, CHECK, READ, DEVELOP = "Measure", "Check", "Read", "Develop"


class Verbs(typer.core.TyperGroup):
    """Lists the verbs by what they are for, in the order of this file."""

    def format_commands(self, context: Any, formatter: Any) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(context):
            command = self.get_command(context, name)
            if command is not None and not command.hidden:
                groups.setdefault(getattr(command, "rich_help_panel", None) or "", []).append((name, command.get_short_help_str(100)))
        for title, rows in groups.items():
            with formatter.section(title):
                formatter.write_dl(rows)


app = typer.Typer(
    cls=Verbs,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"max_content_width": 110, "help_option_names": ["-h", "--help"]},
    help="Measures equivalent HTTP services under one load and judges what is claimed about their runtimes.",
    epilog="First: ./justw doctor. Then: ./justw bench go --tier smoke. "
    "Exit codes: 0 done; 1 done, but something is missing or broken; 2 wrong usage; 3 refused, with the remedy; 130 interrupted.",
)


def _tell_version(asked: bool) -> None:
    if asked:
        pins = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
        print(f"nsb {pins['project']['version']}")
        raise typer.Exit


@app.callback()
def nsb(
    version: Annotated[bool, typer.Option("--version", is_eager=True, callback=_tell_version, help="the version of this harness")] = False,
) -> None:
    """What all verbs have in common."""


Tier = Annotated[str, typer.Option(help="smoke, standard, publish, article, short (bench/scenarios.toml)")]
Contenders = Annotated[str, typer.Option(help="default, all, or ids with commas between")]
Scenarios = Annotated[str, typer.Option(help="default, all, or ids with commas between")]
Twin = Annotated[str | None, typer.Option(help="whom to start twice (A/A), with commas between; or none")]
Articles = Annotated[str | None, typer.Option(help="tier article: whose claims and loads, letters with commas between; default: all")]
Rounds = Annotated[int | None, typer.Option(min=1, help="instead of the tier's number")]
Seed = Annotated[int | None, typer.Option(min=0, help="draws the order; recorded in the run")]
Generators = Annotated[int, typer.Option(min=1, max=64, help="generators that divide each load that can be divided")]
ProfileOption = Annotated[str | None, typer.Option("--profile", help="1cpu or ncpu; default: 1cpu below 4 cores")]
Out = Annotated[Path | None, typer.Option(help="the run's folder; default: bench/out/<time>-<host>")]
Resume = Annotated[Path | None, typer.Option(help="go on with an interrupted run: its folder or id")]


def _database_url(url: str | None) -> str | None:
    """The same. Raises ConfigurationError where it is none: told before anything is built."""
    if url:
        from nsb.measure.database import parsed  # its driver takes a while to import

        parsed(url)
    return url


DatabaseUrl = Annotated[
    str | None,
    typer.Option(
        envvar="NSB_DATABASE_URL",
        callback=_database_url,
        help="mysql://admin:password@host:port of a server of one's own; in the variable the password is in no list of processes",
    ),
]
Wait = Annotated[bool, typer.Option("--wait", help="where another run measures on this machine, wait until it has ended")]
Runner = Annotated[str, typer.Option(help="auto, native or compose; auto: containers only where none can run natively")]
MeasuringRunner = Annotated[
    str, typer.Option("--runner", help="auto, native, compose or kubernetes; auto: containers only where none can run natively")
]
Context = Annotated[
    str | None, typer.Option("--context", metavar="NAME", help="of kubectl, with --runner kubernetes; default: the current one")
]
Namespace = Annotated[str, typer.Option(metavar="NAME", help="where a run on a cluster makes its pods; it must be there")]
Order = Annotated[str, typer.Option(help="scenario: all run and take turns; contender: one at a time; auto: by the memory there is")]
Noisy = Annotated[bool, typer.Option("--noisy", help="measure although others use more than 10 % of the machine; recorded in the run")]
RUN = "a run: its folder, or its id alone (the folder's name in bench/out or bench/results)"
Run = Annotated[Path, typer.Argument(help=RUN)]


def main() -> None:
    """Runs the command line; every expected failure is a sentence and an exit code."""
    with interruptible():  # to the last word: a second Ctrl-C must not cut off the first one's way out
        _verb()


def _verb() -> None:
    try:
        app(prog_name="nsb", standalone_mode=True)
    except Failure as failure:
        _tell(str(failure))
        _leave(failure.exits)
    except OSError as error:  # a full disk, a folder without rights
        _tell(f"{error.filename or 'the machine'}: {error.strerror}")
        _leave(Failure.exits)
    except Interrupted as stop:
        _tell("stopped")
        _leave(stop.exit_code)


def _tell(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


def _leave(code: int) -> NoReturn:
    """Ends at once: an interpreter that ends by itself waits for the threads of rules and builds under way."""
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def _given(context: typer.Context) -> dict[str, Any]:
    """The options and arguments that were written on the command line."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return {name: context.params[name] for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"}


def _asked(options: dict[str, Any], contenders: str) -> Asked:
    from nsb.verbs.planning import Asked

    names = ("tier", "scenarios", "rounds", "seed", "profile", "twin", "articles", "generators")
    return Asked(contenders=contenders, **{name: options[name] for name in names})


# --- measuring -------------------------------------------------------------------------------------------------------


@app.command("bench-all", rich_help_panel=MEASURE)
def bench_all(
    context: typer.Context,
    tier: Tier = "standard",
    contenders: Contenders = "default",
    scenarios: Scenarios = "default",
    runner: MeasuringRunner = "auto",
    rounds: Rounds = None,
    seed: Seed = None,
    twin: Twin = None,
    profile: ProfileOption = None,
    out: Out = None,
    resume: Resume = None,
    database_url: DatabaseUrl = None,
    order: Order = "auto",
    noisy: Noisy = False,
    wait: Wait = False,
    articles: Articles = None,
    generators: Generators = 1,
    context_: Context = None,
    namespace: Namespace = "nsb",
) -> None:
    """Measure every default contender under every scenario and print the one table."""
    from nsb.verbs import measuring

    where = measuring.Where(context_, namespace)
    measuring.bench(_given(context), _asked(context.params, contenders), runner, out, resume, database_url, order, noisy, wait, where)


@app.command("bench", rich_help_panel=MEASURE)
def bench(
    context: typer.Context,
    contender: Annotated[str, typer.Argument(help="the contender's id")],
    tier: Tier = "standard",
    scenarios: Scenarios = "default",
    runner: MeasuringRunner = "auto",
    rounds: Rounds = None,
    seed: Seed = None,
    twin: Twin = None,
    profile: ProfileOption = None,
    out: Out = None,
    resume: Resume = None,
    database_url: DatabaseUrl = None,
    order: Order = "auto",
    noisy: Noisy = False,
    wait: Wait = False,
    articles: Articles = None,
    generators: Generators = 1,
    context_: Context = None,
    namespace: Namespace = "nsb",
) -> None:
    """The same for one contender: bench go --tier smoke."""
    from nsb.verbs import measuring

    where = measuring.Where(context_, namespace)
    measuring.bench(_given(context), _asked(context.params, contender), runner, out, resume, database_url, order, noisy, wait, where)


@app.command("plan", rich_help_panel=MEASURE)
def plan(
    context: typer.Context,
    tier: Tier = "standard",
    contenders: Contenders = "default",
    scenarios: Scenarios = "default",
    runner: Runner = "auto",
    rounds: Rounds = None,
    seed: Seed = None,
    twin: Twin = None,
    profile: ProfileOption = None,
    articles: Articles = None,
    generators: Generators = 1,
) -> None:
    """What would run, how long it takes, and what it could detect."""
    from nsb.verbs import planning

    planning.show(_asked(context.params, contenders), runner)


@app.command("up", rich_help_panel=MEASURE)
def up(
    contender: Annotated[str, typer.Argument(help="the contender's id")],
    port: Annotated[int, typer.Option(min=1, max=65535)] = 8080,
    runner: Runner = "auto",
    profile: ProfileOption = None,
    database_url: DatabaseUrl = None,
) -> None:
    """One service with its database and upstream, to try by hand; Ctrl-C stops all."""
    from nsb.verbs import trying

    trying.up(contender, port, runner, profile, database_url)


# --- checking --------------------------------------------------------------------------------------------------------


@app.command("doctor", rich_help_panel=CHECK)
def doctor(runner: Runner = "auto") -> None:
    """What this machine has and lacks, per contender, with the command that mends it."""
    from nsb.verbs import doctor as looking

    looking.doctor(runner)


@app.command("conform", rich_help_panel=CHECK)
def conform(
    contenders: Annotated[list[str] | None, typer.Argument(help="ids; default: all default contenders")] = None,
    runner: Runner = "auto",
    profile: ProfileOption = None,
    database_url: DatabaseUrl = None,
    stopped_for: Annotated[
        float | None, typer.Option(min=0.1, help="instead: SIGSTOP for N seconds, resume, verify that nothing was lost")
    ] = None,
) -> None:
    """The contract, rule by rule, against live services."""
    from nsb.verbs import conforming

    conforming.conform(contenders or [], runner, profile, database_url, stopped_for)


@app.command("fuzz", rich_help_panel=CHECK)
def fuzz(
    contenders: Annotated[list[str] | None, typer.Argument(help="ids; default: all default contenders, one for each program")] = None,
    requests: Annotated[int, typer.Option(min=1, max=1_000_000, help="how many")] = 3000,
    seed: Annotated[int, typer.Option(min=0, help="draws them")] = 1,
) -> None:
    """Odd requests to all contenders: what the contract specifies they must answer alike."""
    from nsb.verbs import fuzzing

    fuzzing.fuzz(contenders or [], requests, seed)


@app.command("test", rich_help_panel=CHECK)
def run_checks(
    only: Annotated[list[str] | None, typer.Argument(help="parts, by how their names begin; default: all")] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="format, lint, types and the fast tests of the harness: some three minutes")
    ] = False,
    names: Annotated[bool, typer.Option("--names", help="the names of what CI runs at the same time, as JSON; checks nothing")] = False,
) -> None:
    """All checks, the same as CI; or the quick ones, or parts by name."""
    from nsb.verbs import sources

    sources.test(only or [], quick, names)


# --- reading ---------------------------------------------------------------------------------------------------------


@app.command("report", rich_help_panel=READ)
def report(
    run: Run,
    readme: Annotated[bool, typer.Option("--readme", help="also write the READMEs, the guide, docs/verdicts and the pictures")] = False,
) -> None:
    """Every output again from a run's raw data."""
    from nsb.verbs import reading

    reading.report(run, readme)


@app.command("claims", rich_help_panel=READ)
def claims(
    run: Annotated[Path | None, typer.Argument(help=f"{RUN}; without it the claims alone")] = None,
    language: Annotated[str, typer.Option(help="en or ko")] = "en",
) -> None:
    """The claims and what decides each; with a run their verdicts."""
    from nsb.verbs import judging

    judging.claims(run, language)


@app.command("compare", rich_help_panel=READ)
def compare(
    a: Annotated[Path, typer.Argument(help=RUN)],
    b: Annotated[Path, typer.Argument(help="a later run of the same plan on the same machine")],
) -> None:
    """What run B does worse or better than run A, cell by cell; exit code 1 where a cell is worse.

    Example: compare 20261125-standard 20261125b-standard
    """
    from nsb.verbs import judging

    judging.compare_runs(a, b)


@app.command("quality", rich_help_panel=READ)
def quality(run: Run, as_json: Annotated[bool, typer.Option("--json", help="every figure, for programs")] = False) -> None:
    """How precise a run was: half-widths of the cost rows, doubts, halves, plants."""
    from nsb.verbs import judging

    judging.quality_of(run, as_json)


@app.command("noise", rich_help_panel=READ)
def noise(
    runs: Annotated[list[Path], typer.Argument(help="Folders of runs, or their ids.", show_default=False)],
    as_json: Annotated[bool, typer.Option("--json", help="every figure, for programs")] = False,
) -> None:
    """Where the noise of the cost rows comes from: windows, rounds, starts, runs."""
    from nsb.verbs import judging

    judging.noise_of(runs, as_json)


Number = Annotated[str, typer.Option(metavar="N")]
Time = Annotated[str, typer.Option(metavar="TIME", help="such as 300ms or 2s")]
Price = Annotated[str | None, typer.Option(metavar="N", help="for a month, in any currency")]


@app.command("size", rich_help_panel=READ)
def size(
    rate: Annotated[str, typer.Option(metavar="N", help="requests per second")],
    wait: Time = "0",
    queries: Number = "0",
    inserts: Number = "0",
    query_time: Annotated[str, typer.Option(metavar="TIME", help="how long a statement keeps its connection")] = "1ms",
    calls: Annotated[str, typer.Option(metavar="N", help="upstream calls of a request, all at once")] = "0",
    call_time: Time = "0",
    compute: Time = "0",
    compute_on: Annotated[str | None, typer.Option(metavar="ID", help="who computes so long; default: the run's reference")] = None,
    blocking: Annotated[str, typer.Option(metavar="TIME", help="a call in the handler that blocks its thread")] = "0",
    idle: Annotated[str, typer.Option(metavar="N", help="connections that are open and silent")] = "0",
    utilisation: Annotated[str, typer.Option(metavar="SHARE", help="how busy a core, a thread or a connection may be")] = "60%",
    core_price: Price = None,
    gib_price: Price = None,
    run: Annotated[Path | None, typer.Option(help=f"{RUN}; default: the newest committed standard run")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="every figure, for programs")] = False,
) -> None:
    """Cores, memory, connections and threads that a workload needs: size --rate 2000 --wait 300ms --queries 2."""
    from nsb.verbs import sizing

    given = {
        "rate": rate, "wait": wait, "queries": queries, "inserts": inserts, "query-time": query_time, "calls": calls,
        "call-time": call_time, "compute": compute, "compute-on": compute_on, "blocking": blocking, "idle": idle,
        "utilisation": utilisation, "core-price": core_price, "gib-price": gib_price,
    }  # fmt: skip
    sizing.size(given, run, as_json)


@app.command("keep", rich_help_panel=READ)
def keep(
    run: Run,
    name: Annotated[str | None, typer.Option(help="its folder below bench/results; default: <date>-<tier>")] = None,
) -> None:
    """A finished run into bench/results: its records, one archive of its raw summaries, and every output."""
    from nsb.verbs import reading

    reading.keep(run, name)


@app.command("site", rich_help_panel=READ)
def site(
    target: Annotated[Path, typer.Argument(metavar="FOLDER", help="a new folder")] = Path("bench/out/site"),
) -> None:
    """The page of every committed run and an index, as they are published."""
    from nsb.verbs import reading

    reading.site(target)


@app.command("raw", rich_help_panel=READ)
def raw(
    run: Run,
    member: Annotated[str | None, typer.Argument(help="k6/….json, as a cell's `raw` names it; without it their names")] = None,
) -> None:
    """One raw summary of a run as its generator wrote it, also from the archive of a kept run."""
    from nsb.verbs import reading

    reading.raw(run, member)


@app.command("blog", rich_help_panel=READ)
def blog(
    run: Run,
    base: Annotated[str, typer.Option(help="The address at which the run's folder is published, before every path: https://…/")] = "",
    project: Annotated[str, typer.Option(help="The address that the project is cloned from, for a link and the command: https://…")] = "",
) -> None:
    """A blog post in English and Korean, blog.en.md and blog.ko.md, with its charts as PNG and SVG."""
    from nsb.verbs import reading

    reading.blog_data(run, base, project)


@app.command("draw", hidden=True)
def draw(run: Run, page_alone: Annotated[bool, typer.Option("--page-alone", help="report.html only")] = False) -> None:
    """What `report` and a run's end draw in a process of its own."""
    from nsb.verbs import reading

    reading.draw(run, page_alone)


@app.command("show", rich_help_panel=READ)
def show(part: Annotated[str, typer.Argument(help="main, settings, routes, waiting, books, fanout …")]) -> None:
    """One part of every service, one after the other."""
    from nsb.verbs import sources

    sources.show(part)


@app.command("new", rich_help_panel=DEVELOP)
def new(
    name: Annotated[str, typer.Argument(help="the new contender's id, which is also its folder")],
    like: Annotated[str, typer.Option(help="the contender that it is made after")],
) -> None:
    """A new contender after one that is there: its folder, its entry, and what to do next."""
    from nsb.verbs import scaffold

    scaffold.new(name, like)


@app.command("schema", rich_help_panel=DEVELOP)
def schema() -> None:
    """The documented columns and fields of every output, into bench/schema/ (ignored by git: they follow from the models)."""
    from nsb.verbs import sources

    sources.schemas()


@app.command("manifests", rich_help_panel=DEVELOP)
def manifests() -> None:
    """The default contenders of deploy/kubernetes again, from bench/contenders.toml."""
    from nsb.verbs import sources

    sources.manifests()
