"""The load generator of cost cells, overloads and the warm-up (bench/generator), and its two helpers: the witness and the competitors."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from nsb.measure.process import Process, ProcessError
from nsb.records.duet import Series, Speed
from nsb.records.overload import Tally
from nsb.registry.scenario import Scenario
from nsb.registry.shapes import CostRow, Overload

WITNESS_S = 10.0
"""How long the witness may take: some 60 ms on a free core (s)."""
END_S = 15.0
"""How long a generator may take beyond its order: it waits 10 s for the last answers (s)."""


def program_file(root: Path) -> Path:
    """Where the generator is once it has been built."""
    return root / ".tools" / "generator"


@dataclass(frozen=True)
class Loaded:
    """What a generator told: its readings, and what came after the last one."""

    series: Series
    answers: int
    opened: int
    wrong: str | None
    least_ms: float | None
    """The quickest answer (ms); None where none came."""
    answers_of: list[int]
    """`answers` by target."""
    odd: int
    """Right answers to the last request of each connection, which has another one than the others (bench/generator/load.go, askOdd)."""


class Target(NamedTuple):
    """What is asked, and what must be answered. A body that is empty is not compared: only status and length are.

    Of several targets each is drawn as often as its weight says."""

    method: str
    path: str
    send: str
    body: str
    status: int
    ids: int
    weight: int = 1


def target(scenario: Scenario) -> Target:
    """Of a scenario whose requests are all of one kind."""
    return Target(scenario.method, scenario.path, scenario.send or "", scenario.body, scenario.answer_status, scenario.ids)


class Open(NamedTuple):
    """An open load in the place of one request at a time on each connection (bench/generator/open.go says what each field is)."""

    at_s: float
    rate_per_s: float
    lead_ms: int
    window_ms: int
    tail_ms: int
    give_up_ms: int
    quick_ms: float
    limit_ms: int


def targets(row: CostRow | Overload) -> list[Target]:
    """Of its own load."""
    return [target(each)._replace(weight=weight) for each, weight in row.mixed]


def order(
    asked: Sequence[Target],
    base_url: str,
    pids: Sequence[int],
    seed: int,
    connections: int,
    every_s: float,
    duration_s: float,
    pause_ms: int = 0,
    users: Open | None = None,
) -> dict[str, object]:
    """What the generator is told (bench/generator/order.go)."""
    return {
        "address": base_url.removeprefix("http://"),
        "targets": [each._asdict() for each in asked],
        "seed": seed,
        "connections": connections,
        "pause_ms": pause_ms,
        "every_ms": round(every_s * 1000),
        "duration_ms": round(duration_s * 1000),
        "pids": list(pids),
        "open": None if users is None else users._asdict(),
    }


def start(program: Path, what: dict[str, object], cpus: Sequence[int], folder: Path, name: str) -> Process:
    """One generator at work; its readings go to `name`.log in the folder. Raises ProcessError."""
    folder.mkdir(parents=True, exist_ok=True)
    file, log = folder / f"{name}.json", folder / f"{name}.log"
    file.write_text(json.dumps(what), encoding="utf-8")
    log.unlink(missing_ok=True)
    return Process("generator", [str(program), str(file)], log, cpus=cpus)


def stop(generator: Process) -> None:
    """Before the time that it was ordered: it asks nothing more, and tells what there is once all answers are in."""
    with contextlib.suppress(ProcessLookupError):
        generator.signal(signal.SIGTERM)


def look(generator: Process) -> None:
    """One reading more, at once."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(generator.pid, signal.SIGUSR1)


def finish(generator: Process, deadline_s: float) -> Loaded:
    """What it told, once it has ended. Raises ProcessError where it does not end, or tells nothing that can be read."""
    code = _ended(generator, deadline_s)
    try:
        lines = [json.loads(line) for line in generator.log.read_text(encoding="utf-8").splitlines()]
        return loaded(lines, code == 0)
    except (OSError, ValueError, KeyError, IndexError) as error:
        raise ProcessError(f"the generator left no readings: {error!r}") from None


def loaded(lines: Sequence[Mapping[str, Any]], whole: bool) -> Loaded:
    """What its lines tell. `whole`: no answer was wrong, so the last one is of the time after the last reading.

    Raises KeyError or IndexError where they are no readings.
    """
    timed = lines[:-1] if whole else lines
    series = Series(
        at_s=[line["at_s"] for line in timed],
        answers=[line["answers"] for line in timed],
        service_cpu_s=[round(line["service_cpu_s"], 6) for line in timed],
        generator_cpu_s=[round(line["generator_cpu_s"], 6) for line in timed],
        mean_answers=[round(line["mean_answers"], 2) for line in timed],
        mean_service_cpu_s=[round(line["mean_service_cpu_s"], 6) for line in timed],
    )
    last = lines[-1]
    least_ms = round(last["least_latency_s"] * 1000, 3) if last["answers"] else None
    return Loaded(series, last["answers"], last["opened"], last.get("wrong"), least_ms, last["answers_of"], last["odd"])


def together(parts: Sequence[Loaded]) -> Loaded:
    """What several told that divided a load's connections, as of one."""
    if len(parts) == 1:
        return parts[0]
    return Loaded(
        series=Series.together([each.series for each in parts]),
        answers=sum(each.answers for each in parts),
        opened=sum(each.opened for each in parts),
        wrong=next((each.wrong for each in parts if each.wrong is not None), None),
        least_ms=min((each.least_ms for each in parts if each.least_ms is not None), default=None),
        answers_of=[sum(of) for of in zip(*(each.answers_of for each in parts), strict=True)],
        odd=sum(each.odd for each in parts),
    )


def tally(generator: Process, deadline_s: float) -> Tally:
    """What it told of an open load, once it has ended. Raises ProcessError as `finish`."""
    _ended(generator, deadline_s)
    try:
        return Tally.model_validate_json(generator.log.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ProcessError(f"the generator left no tally: {error!r}") from None


def _ended(generator: Process, deadline_s: float) -> int:
    """0, or 1 after a wrong answer. Raises ProcessError for anything else."""
    code = generator.wait(deadline_s)
    if code not in (0, 1):
        words = generator.last_words(3)
        raise ProcessError(f"the generator {'did not end' if code is None else f'ended with {code}'}: {words}")
    return code


def speed(program: Path, core: int, log: Path) -> Speed:
    """How fast a core is now. Raises ProcessError."""
    log.unlink(missing_ok=True)
    witness = Process("witness", [str(program), "witness"], log, cpus=(core,))
    code = witness.wait(WITNESS_S)
    witness.end(0)
    try:
        return Speed.model_validate_json(log.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise ProcessError(f"the witness {'did not end' if code is None else f'ended with {code}'}: {witness.last_words(3)}") from None


class Competitors:
    """Programs that compute in registers on the service's cores, so that these never idle while a cost is measured."""

    def __init__(self, program: Path, cores: Sequence[int], on_each: int, log: Path) -> None:
        """Started, and stopped at once. Raises ProcessError."""
        self._all: list[Process] = []
        try:
            for core in cores:
                for _ in range(on_each):
                    self._all.append(Process("competitor", [str(program), "compete"], log, cpus=(core,)))
                    self._all[-1].freeze()
        except ProcessError:
            self.end()
            raise

    def go(self) -> None:
        for each in self._all:
            each.thaw()

    def rest(self) -> None:
        for each in self._all:
            each.freeze()

    def pids(self) -> list[int]:
        return [each.pid for each in self._all]

    def end(self) -> None:
        for each in self._all:
            each.end(0)
        self._all.clear()
