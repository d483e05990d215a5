"""The neutral program that fan-out calls. Effects only."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import httpx

from nsb.measure.client import HTTP
from nsb.measure.process import Process, ProcessError, Program, free_port


def upstream_file(root: Path) -> Path:
    """Where the upstream is once it has been built."""
    return root / ".tools" / "upstream"


@contextlib.contextmanager
def upstream(program: Path, cpus: tuple[int, ...], logs: Path, name: str = "upstream") -> Iterator[tuple[Program, str]]:
    """The neutral program that fan-out calls (and, under another name, that stands in for a service), for the length of the block.

    Raises ProcessError where it does not start.
    """

    def start(environment: Mapping[str, str]) -> Program:
        return Process(name, [str(program)], logs / f"{name}.log", environment, cpus)

    with answering(start, len(cpus)) as found:
        yield found


@contextlib.contextmanager
def answering(start: Callable[[Mapping[str, str]], Program], cores: int) -> Iterator[tuple[Program, str]]:
    """The upstream that `start` makes with these settings, from the moment it answers. Raises ProcessError."""
    port = free_port()
    process = start({"HOST": "127.0.0.1", "PORT": str(port), "GOMAXPROCS": str(cores)})
    try:
        until = time.monotonic() + 10
        while True:
            with contextlib.suppress(httpx.HTTPError):
                if HTTP.get(f"http://127.0.0.1:{port}/hello", timeout=1).status_code == 200:
                    break
            if process.exit_code is not None:
                raise ProcessError(f"the {process.name} did not start: {process.last_words()}")
            if time.monotonic() > until:
                raise ProcessError(f"the {process.name} runs and does not answer on 127.0.0.1:{port}: {process.last_words()}")
            time.sleep(0.02)
        yield process, f"http://127.0.0.1:{port}"
    finally:
        process.end(2)
