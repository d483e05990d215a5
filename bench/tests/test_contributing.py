"""CONTRIBUTING.md's examples do what it says: added to the real files they load, a run is planned with them, and it decides the claim."""

from __future__ import annotations

import json
import math
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from nsb.analyse.claims import judged
from nsb.records.judged import Cell
from nsb.registry import plan
from nsb.registry.claims import Claims, JudgedClaim
from nsb.registry.load import ConfigurationError, Registry, load, load_claims

BENCH = Path(__file__).resolve().parents[1]
EXAMPLE = re.compile(r"^```toml\n# (bench/\w+\.toml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLES = dict(EXAMPLE.findall((BENCH.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")))
NOISE = (0.01, -0.01, 0.02, -0.02, 0.01, -0.005)


@pytest.fixture
def bench(tmp_path: Path, registry: Registry) -> Path:
    """Copies of the real files with the examples at their ends."""
    for service in registry.services.values():
        for folder in (service.folder, *service.sources):
            (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    for name in ("contenders", "scenarios", "claims"):
        shutil.copy(BENCH / f"{name}.toml", tmp_path / "bench")
    for file, example in EXAMPLES.items():
        with (tmp_path / file).open("a", encoding="utf-8") as copy:
            copy.write(f"\n{example}")
    return tmp_path / "bench"


def added(bench: Path, registry: Registry, claims: Claims) -> tuple[Registry, list[str], list[str], Claims]:
    """The larger registry; the contenders, scenarios and claims that are new."""
    more = load(bench)
    told = load_claims(bench, more)
    contenders = [c.id for c in more.contenders.values() if c.id not in registry.contenders and c.twin_of is None]
    scenarios = [name for name in more.scenarios if name not in registry.scenarios]
    new = {name: claim for name, claim in told.claims.items() if name not in claims.claims}
    return more, contenders, scenarios, told.model_copy(update={"claims": new})


def run_of(made: plan.Plan) -> dict[str, Any]:
    """The facts of a run, as recorded, but for its plan."""
    run: dict[str, Any] = json.loads((BENCH / "tests" / "recordings" / "run" / "run.json").read_text())
    facts = {
        "tier": made.tier_name, "profile": made.profile, "rounds": made.rounds, "seed": made.seed,
        "contenders": [c.id for c in made.contenders], "scenarios": [s.id for s in made.scenarios], "controls": made.controls,
        "headlines": {s.id: s.headline for s in made.scenarios}, "models": {s.id: s.model for s in made.scenarios},
        "holds_ms": {s.id: s.hold_ms for s in made.scenarios},
    }  # fmt: skip
    return {**run, "plan": {**run["plan"], **facts}}


def cells_of(made: plan.Plan, cost: dict[str, float]) -> list[Cell]:
    """CPU per request (µs) by contender, and a memory of 40 MiB for all, with some noise in each round."""
    return [
        Cell(
            round=slot.round, contender=slot.contender.id, scenario=slot.scenario.id, profile="1cpu", model=slot.scenario.model,
            status="valid", limit="offered", cpu_us_per_request={"service": cost[slot.contender.id] * noise}, memory_peak_mib=40 * noise,
        )
        for round_ in range(1, made.rounds + 1)
        for turn, slot in enumerate(made.slots(round_))
        for noise in [math.exp(NOISE[(round_ + turn) % len(NOISE)])]
    ]  # fmt: skip


def test_there_is_one_example_of_each() -> None:
    assert sorted(EXAMPLES) == ["bench/claims.toml", "bench/contenders.toml", "bench/scenarios.toml"]


@pytest.mark.parametrize(("saved", "verdict"), [(0.3, "SUPPORTED"), (0.0, "REFUTED"), (0.1, "UNDECIDED")])
def test_the_examples_load_are_planned_and_judged(bench: Path, registry: Registry, claims: Claims, saved: float, verdict: str) -> None:
    more, contenders, scenarios, new = added(bench, registry, claims)
    assert (len(contenders), len(scenarios), len(new.claims)) == (1, 1, 1)

    service = more.contenders[contenders[0]].service
    names = plan.with_twins([service, *contenders], more, None)
    made = plan.make(more, "standard", names, scenarios, "1cpu", 1, 3)
    assert made.cells == made.rounds * 3

    cost = {name: 50.0 * (1 - saved if name in contenders else 1) for name in names}
    (found,) = judged(run_of(made), cells_of(made, cost), [], None, new).claims
    assert found.conclusion == verdict, told(found)
    assert [aside.verdict for aside in found.also] == ["UNDECIDED"]  # all take the same memory, which is neither more nor less


def told(found: JudgedClaim) -> list[tuple[str, str | None]]:
    return [(part.verdict, part.reason) for part in found.parts]


def test_without_its_contender_the_claim_is_a_mistake(bench: Path) -> None:
    shutil.copy(BENCH / "contenders.toml", bench)
    with pytest.raises(ConfigurationError, match=r"claims\.toml: claim\[X1\]\.parts\.0: no contender is named go-gc-400"):
        load_claims(bench, load(bench))
