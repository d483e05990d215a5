"""A stage of fakes: real processes, journal and runner; no database, no compiled service, no k6 and no generator.

`python -m fakes.stage FOLDER PHASE` is a harness to interrupt.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from nsb import cli
from nsb.analyse.cells import judged
from nsb.conform import suite
from nsb.errors import Refused
from nsb.measure import generator, native, running
from nsb.measure.database import Counters, DatabaseError, Server
from nsb.measure.host import parted, placement
from nsb.measure.interrupt import undisturbed
from nsb.measure.journal import Journal
from nsb.measure.process import Process
from nsb.measure.together import together
from nsb.measure.tools import Workshop
from nsb.records.judged import Cell
from nsb.records.schema import SCHEMA
from nsb.registry import plan as plans
from nsb.registry.contenders import Contender
from nsb.registry.load import Registry
from nsb.registry.services import Service
from nsb.registry.shapes import OpenRate
from nsb.registry.timing import Tier
from nsb.session import conformance
from nsb.session import run as session

HERE = Path(__file__).parent
SLEEPS = [sys.executable, "-c", "import time; time.sleep(3600)"]


class Database:
    """A process that can die, and the answers of a server that all contenders are connected to."""

    kind, version, port = "mariadb", "11.4.5", 1

    def __init__(self, folder: Path) -> None:
        self.process = Process("database", SLEEPS, folder / "logs" / "database.log")
        self.pid = self.process.pid

    def must_answer(self) -> None:
        code = self.process.exit_code
        if code is not None:
            raise DatabaseError(f"mariadbd ended in mid-run with {code}")

    def connections(self, name: str) -> int:
        if self.process.exit_code is not None:
            raise DatabaseError("the database refused (no connection)")
        return 150

    def asleep(self, name: str) -> int:
        return 0

    def client_ports(self, name: str) -> frozenset[int]:
        return frozenset()

    def open_transactions(self, name: str) -> int:
        return 0

    def user_url(self, name: str) -> str:
        return f"mysql://nsb_{name}:word@127.0.0.1:1/nsb"

    def counters(self) -> Counters:
        return Counters(0, 0, 0, 0, 0, 0)

    def reset_books(self) -> None:
        self.connections("")


class Said:
    """What a waiting person would have been told."""

    def __init__(self) -> None:
        self.sentences: list[str] = []
        self.cells: list[Cell] = []

    def say(self, sentence: str) -> None:
        self.sentences.append(sentence)
        print(sentence, flush=True)

    def started(self, contenders: Sequence[str]) -> None:
        """Nobody counts the time."""

    def cell(self, slot: plans.Slot, cell: Cell | None) -> None:
        if cell is not None:
            self.cells.append(cell)


class Fakes:
    """Everything that session.measure needs. `fake` by contender; close() ends what stands under the contenders."""

    def __init__(
        self,
        folder: Path,
        contenders: Mapping[str, str],
        scenarios: int = 1,
        window_s: float = 0.4,
        rounds: int = 1,
        path: str = "/hello",
        extra: list[str] | None = None,
        generators: int = 1,
    ) -> None:
        cast_ = {
            name: Contender(
                id=name,
                service="fake",
                stands_for="",
                run=[sys.executable, str(HERE / "service.py")],
                environment={"FAKE": fake},
                extra=extra or [],
            )
            for name, fake in contenders.items()
        }
        loads = {
            name: OpenRate(shape="rate", id=name, why="", path=path, body="ok", rate=100, vus=10, headline="cpu")
            for name in (f"hello-{number}" for number in range(1, scenarios + 1))
        }
        tier = Tier(why="", rounds=rounds, warm_cap_s=10.0, settle_s=0.1, window_s=window_s, window_holds=1)
        services = {"fake": Service(folder=".", needs=[], build=[])}
        registry = Registry(tools={}, services=services, contenders=cast_, scenarios=loads, tiers={"fake": tier})
        self.k6 = _program("k6", folder / "k6-program")
        _program("generator", generator.program_file(folder))
        self.workshop = Workshop(folder, registry, {}, {})
        several = parted(placement("1cpu").generator, generators) if generators > 1 else ()
        self.plan = plans.make(registry, "fake", list(cast_), list(loads), "1cpu", 1, 1, generators=several)
        self.journal = Journal(folder / "run")
        self.database = Database(folder)
        self.upstream = Process("upstream", SLEEPS, folder / "logs" / "upstream.log")
        self.stage = native.Stage(
            self.workshop, placement("1cpu"), 1, cast(Server, self.database), self.upstream, "http://127.0.0.1:1", folder / "run" / "logs"
        )
        self.said = Said()

    def measure(self) -> None:
        session.measure(self.plan, self.stage, self.journal, self.k6, {"schema": SCHEMA}, [], self.said, judged)

    def close(self) -> None:
        for process in (self.database.process, self.upstream):
            process.end(0)


def _program(fake: str, file: Path) -> Path:
    """A fake where the harness looks for the program itself."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!{sys.executable}\n" + (HERE / f"{fake}.py").read_text(encoding="utf-8"), encoding="utf-8")
    file.chmod(0o755)
    return file


# ---- a harness to interrupt ----

COMPILES = """
import subprocess, sys, time
code = "import signal, time; signal.signal(15, signal.SIG_IGN); print('compiling', flush=True); time.sleep(3600)"
subprocess.Popen([sys.executable, "-c", code])
time.sleep(3600)
"""


def build(folder: Path) -> None:
    services = {"fake": Service(folder=".", needs=[], build=[[sys.executable, "-c", COMPILES]])}
    work = Workshop(folder, Registry(tools={}, services=services, contenders={}, scenarios={}, tiers={}), {}, {})
    work.build("fake", folder / "logs" / "build.log", print)


def refused(folder: Path) -> None:
    """A build, and beside it what is refused once the file `refuse` is there."""

    def refuse() -> None:
        while not (folder / "refuse").exists():
            time.sleep(0.05)
        raise Refused("no database is here")

    together([lambda: build(folder), refuse])


def conforming(folder: Path) -> None:
    """Rules under way in three threads: one waits for an answer, one for a start, one for nothing that could end."""
    fakes = Fakes(folder, {"a": ""})

    def waits(stand: suite.Stand, case: suite.Case) -> None:
        print("a rule waits", flush=True)
        suite.until(stand.stats, lambda stats: stats["in_flight"] > 0, 3600)

    def starts(stand: suite.Stand, case: suite.Case) -> None:
        stand.bed.launch({"FAKE": "never ready"})

    def sleeps(stand: suite.Stand, case: suite.Case) -> None:
        time.sleep(3600)

    suite.RULES[:] = [
        suite.Rule("C1", "waits", suite.Stage.MAIN, waits),
        suite.Rule("C2", "starts", suite.Stage.START, starts),
    ]
    threading.Thread(target=sleeps, args=(None, None)).start()  # not a daemon: an interpreter would wait for it
    try:
        conformance.side_by_side([fakes.stage], fakes.plan.contenders, lambda launcher: conformance.conform(launcher, print))
    finally:
        with undisturbed():
            fakes.close()


MEASURED = {
    "start": ("never ready", "", ""),
    "warm-up": ("", "", "hang"),
    "cell": ("worker", "hang", ""),
    "divided cell": ("worker", "hang", ""),
    "drain": ("in flight", "", ""),
    "stopping": ("deaf", "", ""),
}
"""Phase → how service, k6 and generator misbehave, so that it lasts."""


def measured(folder: Path, phase: str) -> None:
    service, os.environ["FAKE_K6"], os.environ["FAKE_GENERATOR"] = MEASURED[phase]
    fakes = Fakes(folder, {"a": service, "b": service}, generators=2 if phase == "divided cell" else 1)
    session.must_be_fair = lambda *_: None
    if phase == "drain":
        running.DRAIN_S = 3600.0
    try:
        fakes.measure()
    finally:
        with undisturbed():
            fakes.close()


def main(folder: Path, phase: str) -> None:
    """As the command line runs a verb: with its handling of signals and its way out."""

    def verb(prog_name: str, standalone_mode: bool) -> None:
        if phase == "build":
            build(folder)
        elif phase == "refused":
            refused(folder)
        elif phase == "conformance":
            conforming(folder)
        else:
            measured(folder, phase)

    cli.app = verb
    cli.main()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
