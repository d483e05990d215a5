"""The k6 of one load: a single one, or several that divide it by execution segments and begin at one moment. Effects only."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from nsb.measure import effects, k6
from nsb.measure.process import Process
from nsb.records.divided import Divided
from nsb.records.parts import merge
from nsb.records.summary import Load, SummaryError, load_summary


class Generators:
    """One k6 on each of some groups of cores, told what to do, and started."""

    def __init__(self, program: Path, root: Path, data: Mapping[str, object], cores: Sequence[Sequence[int]], log: Path) -> None:
        """`data`: what k6.cell says; its summary is the file of the whole, also where each part writes its own beside it.

        Raises ProcessError; none of them runs then.
        """
        self._data, self._cores = data, cores
        self._summary = Path(str(data["summary"]))
        self._parts = [_numbered(self._summary, number, len(cores)) for number in range(len(cores))]
        for file in {self._summary, *self._parts}:
            file.unlink(missing_ok=True)  # of a sitting that was killed: nobody may take it for this attempt's
        self._began_ms: list[float] = []
        self.processes: list[Process] = []
        try:
            for number, (own, file) in enumerate(zip(cores, self._parts, strict=True)):
                told = {**data, "summary": str(file)}
                self.processes.append(k6.start(program, root, told, own, _numbered(log, number, len(cores)), (number, len(cores))))
        except BaseException:
            self.end(0.5)
            raise

    @property
    def exit_code(self) -> int | None:
        """The first one that is not 0; None where one still runs."""
        codes = [each.exit_code for each in self.processes]
        return None if None in codes else next((code for code in codes if code), 0)

    def wait(self, deadline_s: float) -> int | None:
        """Their exit code, or None where one still runs after that time."""
        until = time.monotonic() + deadline_s
        for each in self.processes:
            each.wait(max(0.0, until - time.monotonic()))
        return self.exit_code

    def end(self, deadline_s: float) -> None:
        for each in self.processes:
            if each.exit_code is None:
                each.signal_group(signal.SIGTERM)  # to all at once: each may take as long as that
        for each in self.processes:
            each.end(deadline_s)

    def load(self) -> Load | None:
        """What they saw, as one. None where a summary is missing or cannot be read."""
        try:
            told = [json.loads(file.read_text(encoding="utf-8")) for file in self._parts]
            if len(told) == 1:
                return load_summary(told[0])
            whole = merge(told)
            self._summary.write_text(json.dumps(whole), encoding="utf-8")
            self._began_ms = whole["state"]["began_ms"]
            return load_summary(whole)
        except (OSError, ValueError, SummaryError):
            return None

    def divided(self) -> Divided | None:
        """How they divided the load, once it was read; None where there is one."""
        if len(self._cores) == 1:
            return None
        ordered = self._data["begin_ms"]
        assert isinstance(ordered, int)
        return Divided(cores=[list(own) for own in self._cores], began_ms=[round(at - ordered, 1) for at in self._began_ms])

    def last_words(self, lines: int) -> str:
        """Of the first one that failed, else of the first one."""
        return next((each for each in self.processes if each.exit_code), self.processes[0]).last_words(lines)

    def wrong_answer(self) -> str | None:
        """The first one that any of them quoted."""
        return next((found for each in self.processes if (found := effects.quoted(each.log)) is not None), None)


def _numbered(file: Path, number: int, of: int) -> Path:
    return file if of == 1 else file.with_name(f"{file.stem}-part{number + 1}{file.suffix}")
