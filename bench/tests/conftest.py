"""Shared builders: small true registries and observations that tests bend in one place each."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nsb.analyse import validity
from nsb.analyse.validity import Observation
from nsb.records.cells import Record, Stats
from nsb.records.summary import Load, Trend
from nsb.registry.claims import Claims
from nsb.registry.load import Registry, load, load_claims

if TYPE_CHECKING:
    from playwright.sync_api import Browser

BENCH = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def edges_may_be_late(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows of 0.4 s between fakes are for what happens in them: how late a busy machine reads their edges (V11) decides no test.
    Committed runs are judged as they are."""
    if request.node.get_closest_marker("slow") and not hasattr(request.module, "RESULTS"):
        monkeypatch.setattr(validity, "EDGES_S", 3600.0)


@pytest.fixture(scope="session")
def registry() -> Registry:
    return load(BENCH)


@pytest.fixture(scope="session")
def claims(registry: Registry) -> Claims:
    return load_claims(BENCH, registry)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    from nsb.verbs.doctor import CHROMIUM

    program = next((found for name in CHROMIUM if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip("no Chromium here: apt-get install chromium (or the browser of your system)")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"], timeout=0)
        yield started
        started.close()


QUIET_TCP = {"ListenOverflows": 0, "ListenDrops": 0, "RetransSegs": 0, "TCPDSACKRecv": 0, "TCPSynRetrans": 0, "OutSegs": 16_000}


def trend(count: int = 2000, at: float = 1.0) -> Trend:
    return Trend(count, at, at, at, at, at)


def recorded(contender: str, round_: int, scenario: str, **seen: Any) -> Record:
    """A measured cell's line, of what was seen of it."""
    told: dict[str, Any] = {"model": "closed", **seen}
    return Record(round=round_, contender=contender, scenario=scenario, profile="1cpu", started_at="", outcome="measured", **told)


def open_cell(**changes: Any) -> Observation:
    """1000/s for 2 s, everything in order."""
    load_ = Load(2000, 2000, 0, 0, 0, 40, 0, 0, trend(), trend(), trend(), trend(at=0.1), (trend(1000), trend(1000)))
    base = Observation(
        model="open",
        rate=1000,
        vus=100,
        hold_s=0.0,
        holds=None,
        statements=0,
        window_s=2.0,
        spanned_s=2.0,
        exit_code=0,
        load=load_,
        cpu_s={"service": 0.1, "generator": 0.1, "database": 0.0, "upstream": 0.0, "harness": 0.01, "foreign": 0.05},
        steal_s=0.0,
        cores={"service": 1, "generator": 1, "database": 1, "upstream": 1, "machine": 2},
        shared=frozenset({"generator", "database", "upstream"}),
        workers=1,
        pool=150,
        server_threads=None,
        blocked_by=None,
        calls=1,
        call_threads=None,
        query_threads=None,
        db_connections=150,
        executed=None,
        before=Stats(0, 0.0, 0),
        after=Stats(2000, 2.0, 0),
        half_cpu_s=(0.05, 0.05),
        database_known=True,
        rehearsal=False,
        tcp=QUIET_TCP,
        clients=101,
    )
    return bent(base, **changes)


def closed_cell(requests: int, vus: int, hold_s: float, **changes: Any) -> Observation:
    """A closed cell of 10 s in which every user waits for `hold_s` or for its turn."""
    window = 10.0
    answer_ms = vus / (requests / window) * 1000
    times = trend(requests, answer_ms)
    load_ = Load(requests, requests, 0, 0, 0, 40, 0, 0, times, times, times, trend(0), (trend(requests // 2), trend(requests // 2)))
    base = replace(
        open_cell(),
        model="closed",
        rate=None,
        vus=vus,
        hold_s=hold_s,
        window_s=window,
        spanned_s=window,
        load=load_,
        before=Stats(0, 0.0, 0),
        after=Stats(requests, 0.0, 0),
        clients=vus + 1,
    )
    return bent(base, **changes)


def bent(base: Observation, **changes: Any) -> Observation:
    """Changes fields of the observation, or (by the names of Load's fields) of its load."""
    inner = {key: value for key, value in changes.items() if key in Load.__dataclass_fields__ and key != "load"}
    outer = {key: value for key, value in changes.items() if key not in inner}
    if inner and base.load is not None:
        outer["load"] = replace(base.load, **inner)
    if "window_s" in outer:
        outer.setdefault("spanned_s", outer["window_s"])
    return replace(base, **outer)
