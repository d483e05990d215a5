"""All mistakes of both files at once, each with its file and key."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from nsb.registry.load import ConfigurationError, Registry, chosen, load
from nsb.registry.shapes import SHAPES, AnyScenario

CONTENDERS = """
[tool.go]
candidates = ["go"]
version_arguments = ["version"]
version_pattern = '(\\d+)'
least = "1"
install = "install Go"
[service.go]
folder = "go"
needs = ["go"]
build = []
[[contender]]
id = "go"
service = "go"
stands_for = "goroutines"
run = ["x"]
"""
SCENARIOS = """
[tier.smoke]
why = "quick"
rounds = 1
warm_cap_s = 1.0
settle_s = 1.0
window_s = 2.0
window_holds = 2
[[scenario]]
id = "hello"
why = "cost"
path = "/hello"
body = "hello"
shape = "rate"
rate = 10
vus = 5
headline = "cpu"
"""


def written(tmp_path: Path, contenders: str = CONTENDERS, scenarios: str = SCENARIOS) -> Path:
    bench = tmp_path / "bench"
    bench.mkdir()
    (tmp_path / "go").mkdir()
    (bench / "contenders.toml").write_text(contenders)
    (bench / "scenarios.toml").write_text(scenarios)
    return bench


def mistakes_of(bench: Path) -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        load(bench)
    return caught.value.mistakes


def test_a_good_registry_loads_and_every_contender_may_have_a_twin(tmp_path: Path) -> None:
    contenders = load(written(tmp_path)).contenders
    assert list(contenders) == ["go", "go-twin"]
    assert contenders["go-twin"].copy_of == "go"
    apart = {"id", "twin_of", "twinned", "default", "check"}
    assert contenders["go-twin"].model_dump(exclude=apart) == contenders["go"].model_dump(exclude=apart)


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ('twin_of = "go"', "contender[go].twin_of: twins are made for every contender"),
        ('plant = { of = "nobody", worsens = "cpu" }', "contender[go].plant.of: no contender is named nobody"),
        ('plant = { of = "go", worsens = "looks" }', "contender[go].plant.worsens"),
        ('[[contender]]\nid = "go-twin"\nservice = "go"\nstands_for = "x"\nrun = ["x"]', "contender[go-twin].id: is the name of go's twin"),
    ],
)
def test_mistakes_about_controls_are_told(tmp_path: Path, more: str, named: str) -> None:
    assert any(named in m for m in mistakes_of(written(tmp_path, CONTENDERS + more + "\n")))


def test_mistakes_of_both_files_are_told_at_once_with_their_keys(tmp_path: Path) -> None:
    contenders = CONTENDERS.replace('run = ["x"]', "run = []\ncolour = 1").replace('least = "1"', 'least = "new"')
    scenarios = SCENARIOS.replace("rate = 10", "rate = -1").replace("rounds = 1", 'rounds = "one"') + "[extra]\n"
    found = mistakes_of(written(tmp_path, contenders, scenarios))
    for key in (
        "contenders.toml: tool.go.least",
        "contenders.toml: contender[go].run",
        "contenders.toml: contender[go].colour",
        "scenarios.toml: tier.smoke.rounds",
        "scenarios.toml: scenario[hello].rate",
        "scenarios.toml: extra",
    ):
        assert any(mistake.startswith(key) for mistake in found), (key, found)


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ('needs = ["go"]', 'needs = ["gone"]', "contenders.toml: service.go.needs"),
        ('folder = "go"', 'folder = "nowhere"', "contenders.toml: service.go.folder"),
        ('folder = "go"', 'folder = "go"\ntested_with = "rust"', "contenders.toml: service.go.tested_with: no service of go/ with a suite"),
        ('folder = "go"', 'folder = "go"\ntested_with = "go"', "contenders.toml: service.go.tested_with: no service of go/ with a suite"),
        ('service = "go"', 'service = "rust"', "contenders.toml: contender[go].service"),
        ('run = ["x"]', 'run = ["x"]\nunsupported = { nothing = "why" }', "contenders.toml: contender[go].unsupported"),
        (
            'run = ["x"]',
            'run = ["x"]\nonly = { endpoints = ["/hello"], why = "x" }',
            "contenders.toml: contender[go].only.endpoints: Value error, /healthz",
        ),
        (
            'run = ["x"]',
            'run = ["x"]\nonly = { endpoints = ["/hi"], why = "x" }',
            "contenders.toml: contender[go].only.endpoints: Value error, the contract has no /hi",
        ),
        (
            'folder = "go"',
            'folder = "go"\nextra = ["/hello"]',
            "contenders.toml: service.go.extra: Value error, the contract leaves open /pin",
        ),
        ('run = ["x"]', 'run = ["x"]\nextra = ["/pin"]', "contenders.toml: contender[go].extra: is a matter of the service"),
        ('run = ["x"]', 'run = ["x"]\ndiffers = { colour = "why" }', "contenders.toml: contender[go].differs: no setting is named colour"),
        ('run = ["x"]', 'run = ["x"]\nenvironment = { WORKERS = "one" }', "contenders.toml: contender[go].environment.WORKERS"),
        ('run = ["x"]', 'run = ["x"]\nenvironment = { WORKERS = "151" }', "contenders.toml: contender[go].environment.WORKERS: must be"),
    ],
)
def test_references_must_exist(tmp_path: Path, old: str, new: str, key: str) -> None:
    assert any(m.startswith(key) for m in mistakes_of(written(tmp_path, CONTENDERS.replace(old, new))))


def test_a_part_of_the_contract_leaves_out_the_scenarios_of_the_rest(tmp_path: Path) -> None:
    part = 'only = { endpoints = ["/healthz", "/runtime", "/stats", "/hello"], why = "it says hello alone" }'
    two = SCENARIOS + SCENARIOS[SCENARIOS.index("[[scenario]]") :].replace('"hello"\nwhy', '"books"\nwhy').replace(
        '"/hello"', '"/books/{id}?x=1"'
    )
    registry = load(written(tmp_path, f"{CONTENDERS}{part}\n", two))
    go = registry.contenders["go"]
    assert [go.why_not(scenario) for scenario in registry.scenarios.values()] == [None, "it says hello alone"]
    assert registry.contenders["go-twin"].endpoints == go.endpoints
    assert registry.proper_services == {}
    named = go.model_copy(update={"only": None, "unsupported": {"books": "no books"}})
    assert [named.why_not(scenario) for scenario in registry.scenarios.values()] == [None, "no books"]


def test_what_only_some_services_have_is_left_out_for_the_others(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    pinned = SCENARIOS + SCENARIOS[SCENARIOS.index("[[scenario]]") :].replace('"hello"\nwhy', '"pinning"\nwhy').replace(
        '"/hello"', '"/pin?ms=1"'
    )
    without = load(written(tmp_path, scenarios=pinned))
    go = without.contenders["go"]
    assert [go.why_not(one) for one in without.scenarios.values()] == [
        None,
        "its service does not have /pin, which is left to it (CONTRACT.md, C16)",
    ]
    assert "/pin" not in go.endpoints
    made = load(written(tmp_path_factory.mktemp("with"), CONTENDERS.replace('folder = "go"', 'folder = "go"\nextra = ["/pin"]'), pinned))
    for name in ("go", "go-twin"):
        assert [made.contenders[name].why_not(one) for one in made.scenarios.values()] == [None, None]
        assert "/pin" in made.contenders[name].endpoints
    assert list(made.proper_services) == ["go"]


def test_ids_are_there_once(tmp_path: Path) -> None:
    twice = SCENARIOS + SCENARIOS[SCENARIOS.index("[[scenario]]") :]
    assert mistakes_of(written(tmp_path, scenarios=twice)) == ["scenarios.toml: scenario[hello].id: is there twice"]


def test_what_is_not_toml_or_not_there_is_said(tmp_path: Path) -> None:
    bench = written(tmp_path, contenders="[tool")
    (bench / "scenarios.toml").unlink()
    found = mistakes_of(bench)
    assert any(m.startswith("contenders.toml: is not TOML") for m in found)
    assert any(m.startswith("scenarios.toml: cannot be read") for m in found)


@pytest.mark.parametrize(("shape", "extra"), [("rate", ""), ("users", "rate = 3"), ("rate", "rate = 3\nrate_per_worker = 3")])
def test_a_rate_belongs_to_an_open_scenario(tmp_path: Path, shape: str, extra: str) -> None:
    scenarios = SCENARIOS.replace('shape = "rate"\nrate = 10', f'shape = "{shape}"\n{extra}')
    assert any("rate" in m for m in mistakes_of(written(tmp_path, scenarios=scenarios)))


def test_a_shape_is_named_and_known_and_a_mistake_stands_at_its_key(tmp_path: Path) -> None:
    shapes = ", ".join(SHAPES)
    wrong = [("shape = 'wave'\n", f"shape: no shape is named wave; known are {shapes}"), ("", "shape: is missing")]
    for number, (line, sentence) in enumerate(wrong):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert mistakes_of(written(folder, scenarios=SCENARIOS.replace('shape = "rate"\n', line))) == [
            f"scenarios.toml: scenario[hello].{sentence}"
        ]
    (tmp_path / "vus").mkdir()
    (mistake,) = mistakes_of(written(tmp_path / "vus", scenarios=SCENARIOS.replace("vus = 5", "vus = 0")))
    assert mistake.startswith("scenarios.toml: scenario[hello].vus: ")


def test_every_shape_is_known_by_its_name() -> None:
    kinds = get_args(get_args(AnyScenario)[0])
    assert sorted(SHAPES) == sorted(get_args(kind.model_fields["shape"].annotation)[0] for kind in kinds)


def test_a_scenario_names_known_tiers(tmp_path: Path) -> None:
    found = mistakes_of(written(tmp_path, scenarios=SCENARIOS + 'tiers = ["smoke", "big"]\n'))
    assert found == ["scenarios.toml: scenario[hello].tiers: no tier is named big"]


def test_chosen_ids(registry: Registry) -> None:
    assert chosen("--contenders", "rust,go", registry.contenders, []) == ["go", "rust"]
    assert chosen("--contenders", "all", registry.contenders, []) == list(registry.contenders)
    assert chosen("--contenders", "all", registry.contenders, [], ["go"]) == ["go"]
    with pytest.raises(ConfigurationError) as caught:
        chosen("--contenders", "go,gone,nope", registry.contenders, [])
    assert [m.split(" is ")[0] for m in caught.value.mistakes] == ["--contenders: 'gone'", "--contenders: 'nope'"]


def test_defaults_keep_the_whole_contract_and_every_tier_asks_something(registry: Registry) -> None:
    default = [c for c in registry.contenders.values() if c.default]
    assert default
    assert not [c.id for c in default if c.only is not None or c.breaks or c.copy_of is not None]
    usual = {tier: [s.id for s in registry.scenarios.values() if s.default and tier in s.tiers] for tier in registry.tiers}
    assert all(usual.values())
    assert {s.path for s in registry.scenarios.values() if s.check}  # the short run of `just test` measures something
