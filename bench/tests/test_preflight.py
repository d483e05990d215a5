"""Every finding with a planted violation, the search for the generator's ceiling, and what is read of the machine as any user."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nsb.analyse import preflight as judging
from nsb.analyse import table as tables
from nsb.analyse.preflight import Demand, Finding, Noise, Probe, Reading
from nsb.conform.kernel import established
from nsb.measure import host, k6
from nsb.measure.process import ALL_CORES, Process
from nsb.records.duet import Speed
from nsb.registry import plan as plans
from nsb.registry.load import Registry
from nsb.registry.placement import Placement
from nsb.render import markdown
from nsb.session import preflight
from nsb.session import run as session

BENCH = Path(__file__).resolve().parents[1]
STRICT = Demand(rates={"quick": 1000, "slow": 100}, vus={"quick": 100, "slow": 50, "users": 600}, rehearsal=False)
REHEARSAL = replace(STRICT, rehearsal=True)
QUIET = Noise(seconds=5.0, foreign=0.01, steal=0.0, busiest=())
FAST = Speed(at_s=0.0, register_steps_per_us=700.0, memory_steps_per_us=500.0)


def probe(rate: int | None = 2000, **changes: Any) -> Probe:
    """A probe in order, bent in one place."""
    count = round((rate or 8000) * 1.5)
    made = Probe(rate, 100, 1.5, 0, started=count, answered=count, lag_p99_ms=1.0, generator_us=100.0, generator_busy=0.2, server_busy=0.1)
    return replace(made, **changes)


# --- findings --------------------------------------------------------------------------------------------------------


def test_a_machine_in_order_has_nothing_to_say() -> None:
    findings = [
        judging.noise(QUIET, STRICT, noisy=False),
        judging.clock(FAST.register_steps_per_us),
        judging.kernel(90.0),
        judging.quota(None, [0, 1], STRICT),
        judging.quota(2.0, [0, 1], STRICT),
        judging.files(1200, STRICT),
        judging.ports((32768, 60999), STRICT),
        judging.backlog(4096),
        judging.swap(QUIET),
        judging.generator([probe()], STRICT),
    ]
    assert {finding.level for finding in findings} == {"ok"}
    assert all(finding.sentence == finding.remedy == "" for finding in findings)


@pytest.mark.parametrize(
    ("finding", "level", "words"),
    [
        (
            judging.noise(replace(QUIET, foreign=0.2, busiest=(("cc1plus", 0.15),)), STRICT, noisy=False),
            "refuse",
            ["20%", "cc1plus 15%", "--noisy"],
        ),
        (judging.noise(replace(QUIET, foreign=0.2), STRICT, noisy=True), "warn", ["20%"]),
        (judging.noise(replace(QUIET, foreign=0.2), REHEARSAL, noisy=False), "warn", ["20%"]),
        (judging.noise(replace(QUIET, foreign=0.07), STRICT, noisy=False), "warn", ["7%"]),
        (judging.noise(replace(QUIET, foreign=0.04, steal=0.07), STRICT, noisy=False), "refuse", ["hypervisor 7%"]),
        (judging.noise(replace(QUIET, steal=0.03), STRICT, noisy=False), "warn", ["hypervisor 3%"]),
        (judging.clock(93.0), "warn", ["0.56 GHz", "another machine"]),
        (judging.kernel(360.0), "warn", ["360 ns", "another machine"]),
        (judging.quota(1.5, [4, 5], STRICT), "refuse", ["1.5 cores", "2 cores", "taskset -c 4 "]),
        (judging.quota(3.0, [0, 1, 2, 8], STRICT), "refuse", ["taskset -c 0-2 "]),
        (judging.quota(0.5, [4, 5], REHEARSAL), "warn", ["0.5 cores", "raise the quota"]),
        (judging.files(1199, REHEARSAL), "refuse", ["1200", "600 virtual users", "ulimit -n 1200"]),
        (judging.ports((50000, 50500), REHEARSAL), "refuse", ["501 local ports", "ip_local_port_range"]),
        (judging.ports((50000, 50700), STRICT), "warn", ["701 local ports", "750"]),
        (judging.ports(None, STRICT), "warn", ["ip_local_port_range cannot be read"]),
        (judging.backlog(128), "warn", ["128", "net.core.somaxconn=4096"]),
        (judging.backlog(None), "warn", ["somaxconn cannot be read"]),
        (judging.swap(replace(QUIET, swapped=7)), "warn", ["7 pages"]),
        (judging.swap(replace(QUIET, swapped=None)), "warn", ["cannot be read"]),
    ],
)
def test_a_planted_violation_is_found_and_its_remedy_named(finding: Finding, level: str, words: Sequence[str]) -> None:
    assert finding.level == level
    said = f"{finding.sentence} {finding.remedy} ".replace(" %", "%")
    assert all(word in said for word in words), said
    assert finding.remedy
    assert finding.inputs or "cannot be read" in finding.sentence


def test_noise_is_what_neither_the_run_nor_nobody_used() -> None:
    first = Reading(0.0, 100.0, 1.0, 10.0, 4, {(7, 1.0): ("old", 50.0), (8, 1.0): ("idle", 3.0)})
    last = Reading(
        5.0, 106.0, 1.5, 14.0, 9, {(7, 1.0): ("old", 51.0), (9, 4.0): ("young", 0.6), (10, 4.5): ("young", 0.4), (8, 1.0): ("idle", 3.0)}
    )
    seen = judging.noise_between(first, last, cores=2)
    assert (seen.seconds, seen.foreign, seen.steal, seen.swapped) == (5.0, pytest.approx(0.2), pytest.approx(0.05), 5)
    assert dict(seen.busiest) == {"old": pytest.approx(0.1), "young": pytest.approx(0.1)}


# --- the generator ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bent", "word"),
    [
        (probe(exit_code=107), "107"),
        (probe(exit_code=None), "None"),
        (probe(failures=1), "1 requests failed"),
        (probe(dropped=1), "dropped 1"),
        (probe(started=2900), "2900 of 3000"),
        (probe(lag_p99_ms=5.0), "5.0 ms late"),
        (probe(lag_p99_ms=None), "late"),
    ],
)
def test_a_rate_that_was_not_sustained_says_why(bent: Probe, word: str) -> None:
    assert word in (bent.why_not or "")
    finding = judging.generator([bent, bent, bent], REHEARSAL)
    assert finding.level == "warn"
    assert word in finding.sentence


def search(first: int, holds: Callable[[int, int], bool], ladder: bool) -> list[Probe]:
    """Probes as the search asks for them; `holds(rate, try)` says what the generator would do."""
    probes: list[Probe] = []
    while (rate := judging.next_rate(first, probes, ladder)) is not None:
        tries = sum(p.rate == rate for p in probes) + 1
        probes.append(probe(rate, dropped=0 if holds(rate, tries) else 1))
        assert len(probes) < 50
    return probes


def rates(probes: Sequence[Probe]) -> list[int | None]:
    return [p.rate for p in probes]


def test_a_rehearsal_asks_for_the_first_rate_only() -> None:
    assert rates(search(2000, lambda *_: True, ladder=False)) == [2000]
    assert rates(search(2000, lambda *_: False, ladder=False)) == [2000] * 3


def test_one_disturbed_probe_does_not_decide() -> None:
    probes = search(2000, lambda _, tries: tries == 3, ladder=False)
    assert rates(probes) == [2000] * 3
    assert judging.generator(probes, STRICT).level == "ok"


def test_the_ladder_doubles_until_it_fails_and_halves_the_gap_twice() -> None:
    probes = search(2000, lambda rate, _: rate <= 9500, ladder=True)
    assert rates(probes) == [2000, 4000, 8000, 16000, 12000, 10000]
    assert judging.ceiling(probes) == 8000
    probes = search(2000, lambda rate, _: rate <= 13000, ladder=True)
    assert rates(probes) == [2000, 4000, 8000, 16000, 12000, 14000]
    assert judging.ceiling(probes) == 12000


def test_the_ladder_ends_where_nothing_is_left_to_learn() -> None:
    probes = search(2000, lambda *_: True, ladder=True)
    assert judging.ceiling(probes) == 64000
    assert "at least 64000/s" in judging.told(probes)[0]


def test_below_the_first_rate_the_ceiling_is_searched_downwards() -> None:
    probes = search(2000, lambda rate, _: rate <= 700, ladder=True)
    assert rates(probes) == [2000, 2000, 2000, 1000, 500, 750, 625]
    assert judging.ceiling(probes) == 625
    nothing = search(2000, lambda *_: False, ladder=True)
    assert judging.ceiling(nothing) is None
    assert len(nothing) < 15


def test_a_scenario_above_half_of_the_ceiling_is_refused_by_name() -> None:
    finding = judging.generator(search(2000, lambda rate, _: rate <= 700, ladder=True), STRICT)
    assert finding.level == "refuse"
    assert "quick asks for 1000/s" in finding.sentence
    assert "slow" not in finding.sentence
    assert "at most 312/s are admissible" in finding.sentence
    assert "--scenarios slow,users" in finding.remedy
    assert finding.inputs["admissible_rps"] == 312


def test_a_generator_that_sustains_nothing_is_refused() -> None:
    finding = judging.generator(search(2000, lambda *_: False, ladder=True), STRICT)
    assert finding.level == "refuse"
    assert "none was sustained" in finding.sentence


def test_without_open_scenarios_there_is_no_rate_to_refuse() -> None:
    assert judging.generator([], replace(STRICT, rates={})).level == "ok"


def test_the_preflight_is_announced(registry: Registry) -> None:
    made = plans.make(registry, "standard", ["go"], ["hello-rate"], "1cpu", 1, 3)
    assert made.seconds() == plans.PRELUDE_S + plans.preflight_s(False) + made.measuring_s
    assert plans.preflight_s(False) > plans.preflight_s(True) > 0


# --- the calibration, with a k6 of paper -----------------------------------------------------------------------------

PAPER_K6 = """#!/bin/sh
number() { printf %s "$NSB_CELL" | sed "s/.*\\"$1\\": \\([0-9]*\\).*/\\1/"; }
rate=$(number rate)
case "$rate" in ''|*[!0-9]*) rate=6000;; esac
count=$((rate * 3 / 2))
if [ "$rate" -gt 5000 ]; then dropped=$((rate - 5000)); else dropped=0; fi
summary=$(printf %s "$NSB_CELL" | sed 's/.*"summary": "\\([^"]*\\)".*/\\1/')
trend="{\\"count\\": $count, \\"avg\\": 1, \\"med\\": 1, \\"p(90)\\": 1, \\"p(99)\\": 1, \\"max\\": 1}"
cat > "$summary" <<END
{"metrics": {"nsb_latency{window:in}": $trend, "nsb_lag{window:in}": $trend, "nsb_started{window:in}": {"count": $count},
 "dropped_iterations": {"count": $dropped}}}
END
"""


@contextlib.contextmanager
def paper_server(logs: Path) -> Iterator[tuple[Process, str]]:
    process = Process("null-server", ["sleep", "600"], logs / "null-server.log")
    try:
        yield process, "http://127.0.0.1:9"
    finally:
        process.end(1)


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A stage without services; time does not pass."""
    monkeypatch.setattr(preflight, "sleep_until", lambda _: None)
    monkeypatch.setattr(preflight, "LISTEN_S", 0.05)
    monkeypatch.setattr(preflight, "LISTEN_REHEARSAL_S", 0.05)
    (tmp_path / "k6").mkdir()
    program = tmp_path / "paper-k6"
    program.write_text(PAPER_K6)
    program.chmod(0o755)
    cores = ALL_CORES
    return SimpleNamespace(
        workshop=SimpleNamespace(root=tmp_path), placement=Placement(cores, cores, cores, cores), null_server=paper_server, beside=list
    )


def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine of the test may be busy, short of ports or under a quota."""
    monkeypatch.setattr(preflight, "listen", lambda *_: QUIET)
    monkeypatch.setattr(preflight, "limits", lambda _: [])


def test_a_run_records_its_rates_and_ceilings(registry: Registry, stage: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quiet(monkeypatch)
    plan = plans.make(registry, "standard", ["go"], ["hello-rate", "hello-max"], "1cpu", 1, 3, rounds=2)
    said: list[str] = []
    record = preflight.run(plan, stage, tmp_path / "paper-k6", lambda: FAST, tmp_path, False, said.append)
    assert [p["rate"] for p in record["probes"]] == [2000, 4000, 8000, 6000, 5000, None]
    assert (record["generator_ceiling_rps"], record["closed_ceiling_rps"]) == (5000, 6000.0)
    assert all((tmp_path / p["summary"]).exists() for p in record["probes"])
    assert any("5000/s against the null server" in sentence for sentence in said)
    assert any("64 users in a closed loop: 6000/s" in sentence for sentence in said)
    assert json.loads(json.dumps(record)) == {**record, "noise": {**record["noise"], "busiest": []}}


def test_a_rehearsal_probes_once(registry: Registry, stage: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quiet(monkeypatch)
    plan = plans.make(registry, "smoke", ["go"], ["hello-rate", "hello-max"], "1cpu", 1, 3, rounds=1)
    record = preflight.run(plan, stage, tmp_path / "paper-k6", lambda: FAST, tmp_path, False, lambda _: None)
    assert [p["rate"] for p in record["probes"]] == [2000]


def test_a_refusal_names_scenario_and_remedy_and_keeps_what_was_measured(
    registry: Registry, stage: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet(monkeypatch)
    fast = registry.scenarios["hello-rate"].model_copy(update={"rate": 4000})
    registry = registry.model_copy(update={"scenarios": {**registry.scenarios, "hello-rate": fast}})
    plan = plans.make(registry, "standard", ["go"], ["hello-rate", "sleep-rate"], "1cpu", 1, 3, rounds=2)
    with pytest.raises(session.Refused, match=r"hello-rate asks for 4000/s; at most 2500/s .*--scenarios sleep-rate"):
        preflight.run(plan, stage, tmp_path / "paper-k6", lambda: FAST, tmp_path, False, lambda _: None)
    kept = json.loads((tmp_path / "preflight.json").read_text())
    assert kept["generator_ceiling_rps"] == 5000
    assert [f["level"] for f in kept["findings"] if f["id"] == "generator"] == ["refuse"]


def test_a_noisy_machine_is_refused_before_the_generator_is_asked(
    registry: Registry, stage: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet(monkeypatch)
    monkeypatch.setattr(preflight, "listen", lambda *_: replace(QUIET, foreign=0.5, busiest=(("cc1plus", 0.5),)))
    plan = plans.make(registry, "standard", ["go"], ["hello-rate"], "1cpu", 1, 3, rounds=2)
    with pytest.raises(session.Refused, match=r"cc1plus.*--noisy"):
        preflight.run(plan, stage, tmp_path / "paper-k6", lambda: FAST, tmp_path, False, lambda _: None)
    assert json.loads((tmp_path / "preflight.json").read_text())["probes"] == []
    said: list[str] = []
    record = preflight.run(plan, stage, tmp_path / "paper-k6", lambda: FAST, tmp_path, True, said.append)
    assert record["noisy"]
    assert any("warning: others used" in sentence for sentence in said)


def test_k6_keeps_its_garbage_for_as_long_as_its_users_leave_room() -> None:
    made = k6.environment(1, 600)
    assert (made["GOGC"], made["GOMEMLIMIT"]) == ("off", "812MiB")


# --- what is read ----------------------------------------------------------------------------------------------------


def by_the_kernels_list(port: int) -> int:
    """The same count from /proc/net/tcp and tcp6 (state 01, established), by which inet_diag is checked."""
    lines = [
        line.split() for name in ("tcp", "tcp6") if (file := Path("/proc/net") / name).exists() for line in file.read_text().splitlines()
    ]
    return sum(line[1].endswith(f":{port:04X}") and line[3] == "01" for line in lines)


def test_connections_are_counted_at_the_server_s_end() -> None:
    with socket.create_server(("127.0.0.1", 0)) as door:
        port = door.getsockname()[1]
        assert (established(port), by_the_kernels_list(port)) == (0, 0)
        with socket.create_connection(("127.0.0.1", port)), socket.create_connection(("127.0.0.1", port)):
            assert (established(port), by_the_kernels_list(port)) == (2, 2)


def test_connections_are_counted_where_a_server_listens_on_both_families() -> None:
    try:
        both = socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True)
    except (OSError, ValueError) as error:
        pytest.skip(f"a server on both families needs IPv6, which this kernel or container has switched off: {error}")
    with both as door:
        port = door.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)):
            assert (established(port), by_the_kernels_list(port)) == (1, 1)


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text + "\n")


def test_limits_of_cgroup_version_2_count_on_every_level(tmp_path: Path) -> None:
    write(tmp_path / "proc/cgroup", "0::/user.slice/run.scope")
    write(tmp_path / "proc/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate")
    group = tmp_path / "sys/fs/cgroup/user.slice"
    write(group / "cpu.max", "150000 100000")
    write(group / "run.scope/cpu.max", "max 100000")
    write(group / "memory.max", str(2**30))
    write(group / "memory.current", str(2**29))
    write(group / "run.scope/memory.max", "max")
    write(group / "run.scope/cpuset.cpus.effective", "2-3")
    found = host.cgroup_limits(tmp_path / "proc", tmp_path)
    assert (found.cpu_quota, found.cpuset, found.memory_mib, found.memory_used_mib) == (1.5, "2-3", 1024.0, 512.0)


def test_limits_of_cgroup_version_1_inside_a_container(tmp_path: Path) -> None:
    write(tmp_path / "proc/cgroup", "5:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\n3:cpuset:/docker/abc\n1:name=systemd:/docker/abc")
    mounts = {"cpu,cpuacct": "cpu,cpuacct", "memory": "memory", "cpuset": "cpuset"}
    lines = [f"30 23 0:26 /docker/abc /sys/fs/cgroup/{folder} ro - cgroup cgroup rw,{options}" for folder, options in mounts.items()]
    write(tmp_path / "proc/mountinfo", "\n".join(lines))
    top = tmp_path / "sys/fs/cgroup"
    write(top / "cpu,cpuacct/cpu.cfs_quota_us", "50000")
    write(top / "cpu,cpuacct/cpu.cfs_period_us", "100000")
    write(top / "memory/memory.limit_in_bytes", "9223372036854771712")
    write(top / "cpuset/cpuset.cpus", "0-1")
    found = host.cgroup_limits(tmp_path / "proc", tmp_path)
    assert (found.cpu_quota, found.cpuset, found.memory_mib) == (0.5, "0-1", None)


def test_no_limits_of_version_1_and_hybrids(tmp_path: Path) -> None:
    write(tmp_path / "proc/cgroup", "1:cpu:/\n0::/")
    lines = [
        "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu",
        "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw",
    ]
    write(tmp_path / "proc/mountinfo", "\n".join(lines))
    write(tmp_path / "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1")
    write(tmp_path / "sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000")
    assert host.cgroup_limits(tmp_path / "proc", tmp_path) == host.CgroupLimits(None, None, None, None)


def test_without_cgroups_there_are_no_limits(tmp_path: Path) -> None:
    assert host.cgroup_limits(tmp_path / "proc", tmp_path) == host.CgroupLimits(None, None, None, None)


def test_topology_and_frequency_of_the_granted_cores(tmp_path: Path) -> None:
    for core in ALL_CORES:
        write(tmp_path / f"cpu{core}/topology/thread_siblings_list", f"{core},{core + 1000}")
        write(tmp_path / f"cpu{core}/topology/physical_package_id", "0")
        write(tmp_path / f"cpu{core}/cpufreq/scaling_governor", "powersave")
    write(tmp_path / "intel_pstate/no_turbo", "1")
    assert host.topology(tmp_path) == {
        "packages": 1,
        "physical_cores": len(ALL_CORES),
        "smt": [[core, core + 1000] for core in ALL_CORES],
    }
    assert host.frequency(tmp_path) == {"governors": ["powersave"], "turbo": False}
    nothing = tmp_path / "nothing"
    assert host.topology(nothing) == {"packages": None, "physical_cores": len(ALL_CORES), "smt": []}
    assert host.frequency(nothing) == {"governors": None, "turbo": None}


AS_ANYBODY = """
import json, os, subprocess, sys
from pathlib import Path
from nsb.measure import host
from nsb.session import preflight
from nsb.measure.process import cpu_s, footprint, machine_times
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
assert os.getuid() != 0
child = subprocess.Popen(["sleep", "600"], cwd="/")
try:
    noise = preflight.listen(0.05)
    print(json.dumps({
        "facts": host.facts(Path(sys.argv[1])),
        "foreign": noise.foreign,
        "child_cpu_s": cpu_s([child.pid]),
        "child_pss_mib": footprint([child.pid]).pss_mib,
        "busy_s": machine_times().busy,
        "tcp": host.tcp_counters(),
        "available_mib": host.memory_available_mib(),
    }))
finally:
    child.kill()
    child.wait()
"""


def test_everything_is_read_by_an_ordinary_user() -> None:
    done = subprocess.run(
        [sys.executable, "-c", AS_ANYBODY, str(BENCH.parent)],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(BENCH / "src")},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    facts = seen["facts"]
    assert facts["cores"] == len(ALL_CORES)
    assert facts["topology"]["physical_cores"] >= 1
    assert facts["cgroup"] in ("v2", "v1", "v1 hybrid", "none")
    assert facts["memory_gib"] > 0
    assert set(facts["sysctls"]) == set(host.SYSCTLS)
    assert int(facts["sysctls"]["net.core.somaxconn"]) > 0
    assert seen["child_cpu_s"] > 0
    assert seen["child_pss_mib"] > 0
    assert seen["busy_s"] > 0
    assert seen["foreign"] >= 0
    assert seen["tcp"]["OutSegs"] >= 0
    assert seen["available_mib"] > 0


def test_the_table_says_what_was_warned_of() -> None:
    run = json.loads((BENCH / "tests" / "recordings" / "run" / "run.json").read_text(encoding="utf-8"))
    run["preflight"] = {"findings": [judging.backlog(4096).model_dump()]}
    slower = {"findings": [judging.clock(93.0).model_dump()]}
    run["sittings"] = [{"preflight": slower}, {"preflight": slower}]  # it was resumed, on a slower machine
    machine = markdown.page(tables.make(run, []), run).partition("## Machine")[2]
    assert f" Before the run: {judging.clock(93.0).sentence}.\n" in machine
    assert machine.count("Before the run") == 1
