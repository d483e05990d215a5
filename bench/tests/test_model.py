"""The cost model finds planted coefficients and says how far its sum is off; sizes follow the operational laws; wrong options are told."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest

import standard
from nsb.analyse import model as models
from nsb.analyse import table as tables
from nsb.analyse.model import KINDS, CostModel, Fitted, Memory, Quantity, Row, Span, Stations
from nsb.analyse.size import Sized, Workload, cost, sized, thousands_of
from nsb.records.cells import Reading
from nsb.records.judged import Cell, Slope
from nsb.records.starts import Start
from nsb.registry.load import ConfigurationError, Registry
from nsb.render import size as words
from nsb.session.models import of_committed
from nsb.verbs.sizing import workload
from test_cli import nsb

BENCH = Path(__file__).resolve().parents[1]
PLANTED: dict[str, list[float]] = {"one": [10.0, 20.0, 40.0, 30.0, 3.0, 8.0], "two": [100.0, 90.0, 170.0, 180.0, 300.0, 110.0]}
"""µs of each kind, in the order of KINDS."""


def works(registry: Registry) -> dict[str, list[float]]:
    return models.works_of(registry.scenarios)


def run_of(registry: Registry, rounds: int) -> dict[str, Any]:
    made = standard.run(rounds, [])
    costs = list(works(registry))
    made["plan"] |= {
        "contenders": list(PLANTED), "controls": {}, "scenarios": [*costs, "ladder", "open"], "reference": "one",
        "headlines": {**dict.fromkeys(costs, "cpu"), "ladder": "memory", "open": "memory"},
        "models": dict.fromkeys([*costs, "ladder", "open"], "closed"),
    }  # fmt: skip
    made["runtimes"] = {name: {"workers": 1, "pool_size": 150, "settings": {"server_threads": 200}} for name in PLANTED}
    return made


def cells_of(registry: Registry, rounds: int = 6, noise: float = 0.0, dearer: float = 1.0) -> list[Cell]:
    """`dearer`: how much more than the sum of its parts the row with most kinds of work costs."""
    draw, found = random.Random(5), []
    most = max(works(registry).items(), key=lambda each: sum(count > 0 for count in each[1]))[0]
    for round_ in range(1, rounds + 1):
        for name, planted in PLANTED.items():
            for scenario, work in works(registry).items():
                value = models.cost_of(work, planted) * (1 + draw.uniform(-noise, noise)) * (dearer if scenario == most else 1)
                found.append(plain(name, scenario, round_, cpu_us_per_request={"service": value}))
            found.append(plain(name, "ladder", round_, memory_slope=Slope(kib=50.0 + round_, first_kib=50.0, last_kib=50.0)))
            held = [Reading(users=n, in_flight=None, pss_mib=30 + n * 0.02, sockets_mib=1.0, slab_mib=1.0) for n in (0, 1000, 5000)]
            found.append(plain(name, "open", round_, ladder=held, memory_slope=Slope(kib=20.48, first_kib=20.48, last_kib=20.48)))
    return found


def plain(contender: str, scenario: str, round_: int, **more: Any) -> Cell:
    data: dict[str, Any] = {"profile": "1cpu", "model": "closed", "status": "valid", "limit": "cpu", "window_s": 2.0, "requests": 5000}
    return Cell(round=round_, contender=contender, scenario=scenario, **data, **more)


def starts_of(rounds: int) -> list[Start]:
    return [Start(round=n, contender=name, started_at="", ready_s=1.0, pss_mib=40.0) for n in range(1, rounds + 1) for name in PLANTED]


def fitted(registry: Registry, cells: list[Cell], rounds: int = 6, name: str = "a-run") -> CostModel:
    run, begun = run_of(registry, rounds), starts_of(rounds)
    return models.fit(run, cells, tables.make(run, cells, begun), registry.scenarios, registry.contenders, name)


# --- the fit -------------------------------------------------------------------------------------------------------------------


def test_what_a_cost_row_does_follows_from_its_scenario(registry: Registry) -> None:
    found = works(registry)
    assert all(work[0] == 1 for work in found.values())
    assert {kind for work in found.values() for kind, count in zip(KINDS, work, strict=True) if count} == set(KINDS)
    assert len(found) > len(KINDS)  # so a residual exists


def test_planted_coefficients_are_found(registry: Registry) -> None:
    for of in fitted(registry, cells_of(registry)).contenders:
        assert [of.coefficients[kind].value for kind in KINDS] == pytest.approx(PLANTED[of.contender], rel=1e-3)
        assert of.misfit == pytest.approx(0, abs=1e-4)
        assert all(abs(row.residual) < 1e-4 for row in of.rows)


def test_noise_is_within_the_intervals(registry: Registry) -> None:
    missed = 0
    for of in fitted(registry, cells_of(registry, rounds=12, noise=0.05), 12).contenders:
        for kind, planted in zip(KINDS, PLANTED[of.contender], strict=True):
            found = of.coefficients[kind]
            assert found.low is not None
            assert found.high is not None
            missed += not found.low <= planted <= found.high
    assert missed <= 1


def test_a_sum_that_is_not_exact_is_told_and_widens_every_interval(registry: Registry) -> None:
    exact, off = (fitted(registry, cells_of(registry, noise=0.01, dearer=dearer)) for dearer in (1.0, 0.9))
    for one, other in zip(exact.contenders, off.contenders, strict=True):
        assert other.check is not None
        assert other.check.off == pytest.approx(1 / 0.9 - 1, abs=0.03)
        assert other.misfit == pytest.approx(math.log1p(other.check.off), abs=1e-4)
        assert max(abs(row.residual) for row in other.rows) > 0.02
        narrow, wide = (cost(each, [1, 2, 0, 0, 0, 1]) for each in (one, other))
        assert narrow.low is not None
        assert wide.low is not None
        assert wide.value / wide.low > narrow.value / narrow.low * 1.07


def test_a_kind_without_a_row_is_not_measured(registry: Registry) -> None:
    writing = [name for name, scenario in registry.scenarios.items() if scenario.paired and scenario.writes]
    of = fitted(registry, [cell for cell in cells_of(registry) if cell.scenario not in writing]).contenders[0]
    assert "insert" not in of.known
    assert "insert" not in of.coefficients
    model = fitted(registry, [cell for cell in cells_of(registry) if cell.scenario not in writing])
    assert [each.unknown for each in sized(model, Workload(rate=1, inserts=1))] == [["insert"], ["insert"]]
    assert [each.cores for each in sized(model, Workload(rate=1, inserts=1))] == [None, None]
    assert None not in [each.cores for each in sized(model, Workload(rate=1, queries=1))]


def test_one_round_has_no_interval_and_a_round_that_lacks_a_row_is_left_out(registry: Registry) -> None:
    one = fitted(registry, cells_of(registry, rounds=1), 1).contenders[0]
    assert (one.t, one.coefficients["base"].low) == (None, None)
    cells = cells_of(registry)
    lost = [
        cell.model_copy(update={"status": "invalid"}) if (cell.round, cell.scenario) == (2, next(iter(works(registry)))) else cell
        for cell in cells
    ]
    assert len(fitted(registry, lost).contenders[0].rounds) in (5, 6)
    assert fitted(registry, [cell for cell in cells if cell.scenario == "ladder"]).contenders[0].rounds == []


def test_memory_is_from_the_first_run_that_measured_it_though_it_be_a_bound(registry: Registry) -> None:
    whole = fitted(registry, cells_of(registry), name="whole")
    memory = whole.contenders[0].memory
    assert memory.base_mib is not None
    assert memory.in_flight_kib is not None
    assert memory.connection_kib is not None
    assert (memory.base_mib.value, memory.in_flight_kib.value) == (40.0, 53.5)
    assert memory.connection_kib.value == pytest.approx(20.48)
    without = fitted(registry, [cell for cell in cells_of(registry) if cell.scenario not in ("ladder", "open")], name="newest")
    assert without.contenders[0].memory.in_flight_kib is None
    assert models.merged([without]).contenders[0].memory.in_flight_kib is None
    bound = memory.model_copy(update={"in_flight_kib": memory.in_flight_kib.model_copy(update={"bound": True, "run": "bound"})})
    beside = whole.model_copy(update={"contenders": [each.model_copy(update={"memory": bound}) for each in whole.contenders]})
    found = models.merged([without, beside, whole]).contenders[0].memory
    assert found.base_mib is not None
    assert found.in_flight_kib is not None
    assert (found.base_mib.run, found.in_flight_kib.run) == ("newest", "bound")
    other = whole.model_copy(update={"profile": "ncpu"})
    assert models.merged([without, other]).contenders[0].memory.in_flight_kib is None


# --- sizes ---------------------------------------------------------------------------------------------------------------------


def known(contender: str = "one", **stations: Any) -> Fitted:
    """1 ms for each request, 2 ms for each wait."""
    kib: dict[str, Any] = {"low": 1024.0, "high": 1024.0, "value": 1024.0, "bound": False, "run": "r"}
    return Fitted(
        contender=contender, rounds=[[1000.0, 0, 0, 0, 1.0, 2000.0]] * 3, known=list(KINDS), t=4.3, misfit=0.1, check=None,
        coefficients={"compute": Span(value=1.0, low=None, high=None)}, rows=[Row(scenario="s", measured_us=1, fitted_us=1, residual=0)],
        memory=Memory(base_mib=Quantity(**{**kib, "value": 100.0}), in_flight_kib=Quantity(**kib), connection_kib=Quantity(**kib)),
        stations=Stations(**{"workers": 1, "threads": None, "pool": 10, "blocked_by": None, "processes": False, **stations}),
    )  # fmt: skip


def of_one(load: Workload, **stations: Any) -> Sized:
    made = CostModel(run="r", started_at="", machine="m", profile="1cpu", reference="one", contenders=[known(**stations)])
    return sized(made, load)[0]


def test_cores_follow_from_the_utilisation_law_and_requests_in_flight_from_littles() -> None:
    found = of_one(Workload(rate=100, utilisation=0.5))
    assert found.cores is not None
    assert found.cores.value == pytest.approx(100 * 0.001 / 0.5)
    assert found.cores.high == pytest.approx(found.cores.value * math.exp(0.1))
    assert found.p50_ms == pytest.approx(2)  # 1 ms on a core that is half busy
    assert found.in_flight == pytest.approx(100 * 0.002)
    waiting = of_one(Workload(rate=100, wait_ms=300, utilisation=0.5))
    assert waiting.p50_ms == pytest.approx(306)
    assert waiting.in_flight == pytest.approx(30.6)
    assert waiting.memory_mib is not None
    assert waiting.memory_mib.value == pytest.approx(130.6)


def test_a_station_that_is_too_small_is_named() -> None:
    few = of_one(Workload(rate=1000, wait_ms=300, utilisation=0.5), threads=200)
    assert [(lack.station, lack.has) for lack in few.lacks] == [("threads", 200)]
    assert few.lacks[0].needs == few.threads == pytest.approx(1000 * 0.306 / 0.5, abs=1)
    assert few.full_first == "threads"
    assert few.full_at == pytest.approx(200 / 0.306)
    pool = of_one(Workload(rate=1000, queries=2, query_ms=10, utilisation=0.5))
    assert (pool.db_connections, [lack.station for lack in pool.lacks], pool.full_first) == (40, ["pool"], "pool")
    assert pool.full_at == pytest.approx(500)


def test_a_blocking_call_fails_a_loop_and_costs_others_a_wait() -> None:
    load = Workload(rate=100, blocking_ms=10, utilisation=0.5)
    looped, free, carried = (of_one(load, blocked_by=by) for by in ("loop", None, "carriers"))
    assert [(lack.station, lack.needs, lack.has) for lack in looped.lacks] == [("loop", 3, 1)]
    assert looped.full_first == "loop"
    assert looped.full_at == pytest.approx(1 / 0.011)
    assert free.lacks == carried.lacks == []
    assert free.p50_ms == pytest.approx(12)


def test_each_process_has_its_own_idle_memory() -> None:
    one, many = (of_one(Workload(rate=3000, utilisation=0.5), processes=processes) for processes in (False, True))
    assert one.memory_mib is not None
    assert many.memory_mib is not None
    assert many.memory_mib.value - one.memory_mib.value == pytest.approx(500)


def test_what_was_not_measured_is_not_guessed() -> None:
    no_idle = known().model_copy(update={"memory": known().memory.model_copy(update={"connection_kib": None})})
    made = CostModel(run="r", started_at="", machine="m", profile="1cpu", reference="one", contenders=[no_idle])
    with_idle, without = sized(made, Workload(rate=1, idle=5, gib_price=1)), sized(made, Workload(rate=1, gib_price=1))
    assert (with_idle[0].memory_mib, with_idle[0].price, with_idle[0].unknown) == (None, None, ["connection_kib"])
    assert without[0].memory_mib is not None
    assert without[0].price is not None
    gone = made.model_copy(update={"reference": None})
    assert thousands_of(gone, Workload(rate=1, compute_ms=1)) is None
    assert sized(gone, Workload(rate=1, compute_ms=1))[0].unknown == ["compute"]


def test_more_work_never_takes_less() -> None:
    """Of the newest committed model: whatever it says, these hold."""
    model = of_committed(BENCH)
    base = Workload(rate=500, queries=1, wait_ms=20, calls=1, call_ms=50, compute_ms=0.1, core_price=1)
    more: list[dict[str, Any]] = [{"rate": 1000}, {"queries": 3}, {"inserts": 2}, {"calls": 4}, {"compute_ms": 1}, {"utilisation": 0.3}]
    for change in more:
        for one, other in zip(sized(model, base), sized(model, base.model_copy(update=change)), strict=True):
            assert one.cores is not None
            assert other.cores is not None
            assert other.cores.value >= one.cores.value
            assert other.price is not None
            assert other.cores.low is not None
            assert other.cores.high is not None
            assert other.cores.low <= other.cores.value <= other.cores.high


def test_the_committed_model_names_for_each_quantity_a_committed_run() -> None:
    model = of_committed(BENCH)
    runs = {file.parent.name for file in (BENCH / "results").glob("*/run.json")}
    named = {each.run for one in model.contenders for each in words.quantities(one.memory)}
    assert named <= runs
    assert model.run in runs
    assert {each.contender for each in model.contenders if each.known == list(KINDS)} == {each.contender for each in model.contenders}


# --- the verb ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("rate", "0"), ("rate", "many"), ("rate", "-5"), ("rate", "nan"), ("wait", "300"), ("wait", "300 hours"), ("queries", "2ms"),
        ("utilisation", "160%"), ("utilisation", "0"), ("compute", "1%"), ("compute-on", "nobody"), ("core-price", "a lot"),
        ("calls", "3"), ("idle", "1e99"),
    ],
)  # fmt: skip
def test_a_wrong_option_is_one_sentence_that_names_it(option: str, value: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        workload({"rate": "1", option: value}, ["go"])
    expected = "--call-time" if option == "calls" else f"--{option}"
    assert [mistake.startswith(f"{expected}: ") for mistake in caught.value.mistakes] == [True]


def test_units_are_read() -> None:
    read = workload({"rate": "2.5", "wait": "2s", "compute": "500us", "utilisation": "0.5", "blocking": "0"}, ["go"])
    assert (read.rate, read.wait_ms, read.compute_ms, read.utilisation, read.blocking_ms) == (2.5, 2000, 0.5, 0.5, 0)


FULL = [
    "--rate", "20000", "--wait", "300ms", "--queries", "2", "--inserts", "1", "--calls", "3", "--call-time", "100ms", "--compute", "5ms",
    "--idle", "100000", "--utilisation", "60%", "--blocking", "10ms", "--core-price", "25", "--gib-price", "4",
]  # fmt: skip


def test_the_verb_fits_100_columns_and_tells_everything_as_json() -> None:
    done = nsb("size", *FULL)
    assert done.returncode == 0, done.stderr
    assert max(len(line.rstrip()) for line in done.stdout.splitlines()) <= 100
    assert "…" not in done.stdout
    model = of_committed(BENCH)
    assert all(each.contender in done.stdout for each in model.contenders)
    told = json.loads(nsb("size", *FULL, "--json").stdout)
    assert [each["contender"] for each in told["contenders"]] == [each.contender for each in model.contenders]


def test_a_wrong_option_exits_2_with_one_line() -> None:
    done = nsb("size", "--rate", "2000", "--wait", "3 days")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("--wait: ")
