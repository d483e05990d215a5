"""Can this machine carry the run that is asked of it? Judged before the first round, from measured inputs. Pure.

Symbols: λ an arrival rate; *sustained*: offered within 1 %, nothing dropped or failed, p99 of k6's lag below 5 ms;
*ceiling*: the highest rate that the generator sustained against the null server. Open rates stay at or below half of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from nsb.registry.placement import listed
from nsb.registry.terms import Frozen

BACKLOG = 4096
"""The accept queue that the contract asks for where the kernel grants it (C62)."""
FOREIGN_WARN, FOREIGN_REFUSE = 0.05, 0.10
"""Share of the machine that others may use: as V7 of docs/method.md."""
STEAL_WARN = 0.02
CYCLES_PER_STEP = 6
"""Of the witness in registers: a step is three shifts and three exclusive ors. Each waits for the one before, and takes a cycle."""
LEAST_GHZ = 1.0
"""Below it something slows the processor down: for a dozen years those of servers and laptops compute at 1.5 GHz at the least."""
SLOW_CALL_NS = 250.0
"""A system call that does nothing takes 50 to 150 ns on most machines, and 300 in a virtual machine within another one."""
LAG_MS = 5.0
GAIN = 1.10
"""What more generators must bring at the least."""
FULL = 0.90
"""So busy it is the null server that more generators cannot drive faster."""
TRIES = 3
"""For the first rate: one disturbed probe must not decide."""
BISECTIONS = 2
LEAST_RATE, MOST_RATE = 10, 100_000
"""Where the search for the ceiling ends (/s)."""
Level = Literal["ok", "warn", "refuse"]


class Finding(Frozen):
    """One question to the machine, its answer, and what to do about it."""

    id: str
    level: Level
    sentence: str
    remedy: str
    inputs: dict[str, float | int | str | None]


def _finding(id_: str, level: Level, sentence: str, remedy: str, **inputs: float | int | str | None) -> Finding:
    rounded = {k: round(v, 4) if isinstance(v, float) else v for k, v in inputs.items()}
    fine = level == "ok"
    return Finding(id=id_, level=level, sentence="" if fine else sentence, remedy="" if fine else remedy, inputs=rounded)


@dataclass(frozen=True)
class Demand:
    """What a plan asks of the machine."""

    rates: Mapping[str, int]
    """Open scenario → arrivals per second."""
    vus: Mapping[str, int]
    """Scenario → virtual users."""
    rehearsal: bool
    """A run of one round: what a quieter machine would mend is a warning, no refusal."""

    @property
    def first_rate(self) -> int | None:
        """Twice the highest open rate; None where no scenario is open."""
        return 2 * max(self.rates.values()) if self.rates else None

    @property
    def most_vus(self) -> int:
        return max(self.vus.values())

    def strict(self) -> Level:
        return "warn" if self.rehearsal else "refuse"


# --- who else uses the machine ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reading:
    """Counters at one moment (s since boot, but `at_s`)."""

    at_s: float
    busy_s: float
    steal_s: float
    own_s: float
    """CPU of the harness and of what it has started."""
    swapped: int | None
    """Pages written to and read from swap."""
    others: Mapping[tuple[int, float], tuple[str, float]]
    """Every other process by id and start time → name, CPU (s)."""


@dataclass(frozen=True)
class Noise:
    """Shares of the machine between two readings."""

    seconds: float
    foreign: float
    steal: float
    busiest: tuple[tuple[str, float], ...]
    """Names of the processes that used the most, with their share: processes of one name are added up."""
    swapped: int | None = 0
    """Pages written to and read from swap."""


def noise_between(first: Reading, last: Reading, cores: int) -> Noise:
    """What others used of `cores` between the readings. Processes that lived for less than that have a share, but no name."""
    seconds = last.at_s - first.at_s
    whole = seconds * cores
    by_name: dict[str, float] = {}
    for key, (name, used) in last.others.items():
        by_name[name] = by_name.get(name, 0.0) + used - first.others.get(key, (name, 0.0))[1]
    busiest = sorted(((name, used / whole) for name, used in by_name.items()), key=lambda pair: -pair[1])[:3]
    return Noise(
        seconds=seconds,
        foreign=max(0.0, (last.busy_s - first.busy_s) - (last.own_s - first.own_s)) / whole,
        steal=(last.steal_s - first.steal_s) / whole,
        busiest=tuple((name, share) for name, share in busiest if share >= 0.005),
        swapped=None if first.swapped is None or last.swapped is None else last.swapped - first.swapped,
    )


def noise(seen: Noise, demand: Demand, noisy: bool) -> Finding:
    """Others use at most 10 % of the machine (above 5 % a warning), the hypervisor included; `noisy` runs in spite of it."""
    level: Level = "ok"
    if seen.foreign + seen.steal > FOREIGN_REFUSE:
        level = "warn" if noisy else demand.strict()
    elif seen.foreign > FOREIGN_WARN or seen.steal > STEAL_WARN:
        level = "warn"
    names = ", ".join(f"{name} {share:.0%}" for name, share in seen.busiest) or "none that lived long enough to be named"
    return _finding(
        "noise",
        level,
        f"others used {seen.foreign:.0%} of the machine for {seen.seconds:.0f} s ({names}), the hypervisor {seen.steal:.0%}",
        "end them or wait until they have ended; --noisy measures in spite of it, and cells that are hit do not count (V7)",
        foreign=seen.foreign,
        steal=seen.steal,
        seconds=seen.seconds,
        noisy=int(noisy),
    )


def clock(register_steps_per_us: float) -> Finding:
    """How fast the core of the service computes, as the witness tells it. Neither steal nor /proc/cpuinfo of a virtual machine does."""
    ghz = register_steps_per_us * CYCLES_PER_STEP / 1000
    return _finding(
        "clock",
        "ok" if ghz >= LEAST_GHZ else "warn",
        f"the core of the service computes at {ghz:.2f} GHz: heat, a limit of power or the host of this virtual machine slows it down",
        "measure at another hour or on another machine: what a request costs now compares with no other run",
        ghz=ghz,
    )


def kernel(system_call_ns: float) -> Finding:
    """How long the way into the kernel and back takes, as the witness tells it. A plain string needs a handful of system calls, so where
    they are slow all servers cost more, and more alike."""
    return _finding(
        "kernel",
        "warn" if system_call_ns > SLOW_CALL_NS else "ok",
        f"a system call takes {system_call_ns:.0f} ns here, 50 to 150 on most machines: a virtual machine within another one, or a "
        "sandbox, makes it slow",
        "measure on another machine: what a request costs here compares only with runs on such machines",
        system_call_ns=system_call_ns,
    )


def swap(seen: Noise) -> Finding:
    """Nobody swaps while the run waits. Whether the contenders fit into memory is asked before they are started (plan.order_for)."""
    if seen.swapped is None:
        return _unread("swap", "/proc/vmstat")
    sentence = f"{seen.swapped} pages went to swap or came back in {seen.seconds:.0f} s"
    return _finding("swap", "warn" if seen.swapped else "ok", sentence, "end what uses the memory", pages=seen.swapped)


# --- what the machine allows -----------------------------------------------------------------------------------------


def quota(allowed: float | None, mask: Sequence[int], demand: Demand) -> Finding:
    """A CPU quota below the cores of the mask: a core is then not a core, and whoever uses it up is stopped for a while."""
    if allowed is None or allowed >= len(mask):
        return _finding("quota", "ok", "", "", quota=allowed, cores=len(mask))
    raise_it = "raise the quota (cpu.max, cpu.cfs_quota_us, docker run --cpus)"
    remedy = raise_it
    if allowed >= 1:
        remedy = f"use as many cores as it pays for (taskset -c {listed(mask[: int(allowed)])} before the command), or {raise_it}"
    has = f"{len(mask)} core{'s' if len(mask) > 1 else ''}"
    sentence = f"the control group allows {allowed:g} cores' worth of CPU, the affinity mask has {has}"
    return _finding("quota", demand.strict(), sentence, remedy, quota=allowed, cores=len(mask))


def files(allowed: int, demand: Demand) -> Finding:
    """Open files for twice as many connections as there are virtual users."""
    needed = 2 * demand.most_vus
    sentence = f"{allowed} open files are allowed, {needed} are needed for {demand.most_vus} virtual users"
    remedy = f"raise the limit: ulimit -n {needed} (where the hard limit is lower: LimitNOFILE= or /etc/security/limits.conf)"
    return _finding("files", "ok" if allowed >= needed else "refuse", sentence, remedy, nofile=allowed, needed=needed)


def ports(range_: tuple[int, int] | None, demand: Demand) -> Finding:
    """Local ports for the connections of one contender: of one cell at the least, at best of all cells of a round.

    An ended connection keeps its port for 60 s. A port is taken for one destination only, and contenders have different ones.
    """
    if range_ is None:
        return _unread("ports", "net.ipv4.ip_local_port_range")
    count = range_[1] - range_[0] + 1
    at_best = sum(demand.vus.values())
    level: Level = "refuse" if count < demand.most_vus else "warn" if count < at_best else "ok"
    sentence = f"{count} local ports for up to {demand.most_vus} connections at once and {at_best} in one round of a contender"
    remedy = 'widen the range: sudo sysctl -w net.ipv4.ip_local_port_range="15000 60999"'
    return _finding("ports", level, sentence, remedy, ports=count, at_once=demand.most_vus, in_a_round=at_best)


def backlog(somaxconn: int | None) -> Finding:
    """The kernel cuts every accept queue down to somaxconn: for all contenders alike, but a burst then overflows it sooner (V10)."""
    if somaxconn is None:
        return _unread("backlog", "net.core.somaxconn")
    sentence = f"the kernel cuts accept queues to {somaxconn}, the contract asks for {BACKLOG}"
    remedy = f"sudo sysctl -w net.core.somaxconn={BACKLOG}"
    return _finding("backlog", "ok" if somaxconn >= BACKLOG else "warn", sentence, remedy, somaxconn=somaxconn)


def _unread(id_: str, what: str) -> Finding:
    return _finding(id_, "warn", f"{what} cannot be read: not checked", "run where /proc is mounted and readable")


# --- what the generator can send -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Probe:
    """One k6, or several that divide the load, against the null server, on the generator's cores."""

    rate: int | None
    """Arrivals per second; None: closed."""
    vus: int
    window_s: float
    exit_code: int | None
    """Of k6, of several the first that is not 0; None: it did not end. -1: it left no summary."""
    started: int = 0
    answered: int = 0
    dropped: int = 0
    failures: int = 0
    lag_p99_ms: float | None = None
    generator_us: float | None = None
    """CPU of k6 per answer (µs)."""
    generator_busy: float = 0.0
    """Share of the generator's cores that k6 used."""
    server_busy: float = 0.0
    summary: str | None = None
    """k6's summary, relative to the run's folder."""
    generators: int = 1

    @property
    def throughput_rps(self) -> float:
        return self.answered / self.window_s

    @property
    def why_not(self) -> str | None:
        """Why the rate was not sustained; None where it was."""
        if self.exit_code != 0:
            return f"k6 ended with {self.exit_code}"
        if self.failures:
            return f"{self.failures} requests failed"
        if self.dropped:
            return f"it dropped {self.dropped} arrivals"
        wanted = (self.rate or 0) * self.window_s
        if wanted and abs(self.started / wanted - 1) > max(0.01, 2 / wanted):
            return f"it started {self.started} of {wanted:.0f} requests"
        if self.lag_p99_ms is None:
            return "nobody knows how late it was: it left no lag"
        if self.lag_p99_ms >= LAG_MS:
            return f"it was {self.lag_p99_ms:.1f} ms late (p99)"
        return None


def next_rate(first: int, probes: Sequence[Probe], ladder: bool) -> int | None:
    """The rate to probe next, None where the search is over.

    First `first`, up to three times. Then, where a ladder is asked for: doublings until one fails (or, where `first` has failed,
    halvings until one is sustained), and two bisection steps between the last two.
    """
    if not probes:
        return first
    good, bad = _best(probes), _worst(probes)
    if good is None or good < first:
        tries = sum(probe.rate == first for probe in probes)
        if tries < TRIES:
            return first
    if not ladder:
        return None
    if good is None:
        lower = (bad or first) // 2
        return lower if lower >= LEAST_RATE else None
    if bad is None:
        return 2 * good if 2 * good <= MOST_RATE else None
    steps = sum(_best(probes[:n]) is not None and _worst(probes[:n]) is not None for n in range(len(probes)))
    return (good + bad) // 2 if steps < BISECTIONS and bad - good > 1 else None


def ceiling(probes: Sequence[Probe]) -> int | None:
    """The highest rate that was sustained; None where none was."""
    return _best(probes)


def _best(probes: Sequence[Probe]) -> int | None:
    return max((p.rate for p in probes if p.rate is not None and p.why_not is None), default=None)


def _worst(probes: Sequence[Probe]) -> int | None:
    """The lowest rate above the best that was not sustained."""
    best = _best(probes) or 0
    return min((p.rate for p in probes if p.rate is not None and p.rate > best and p.why_not is not None), default=None)


def generator(probes: Sequence[Probe], demand: Demand) -> Finding:
    """Every open rate is at most half of what the generator sustains here."""
    first = demand.first_rate
    if first is None:
        return _finding("generator", "ok", "", "", ceiling_rps=None)
    most = ceiling(probes)
    tried = [p for p in probes if p.rate == first]
    if any(p.why_not is None for p in tried):
        return _finding("generator", "ok", "", "", ceiling_rps=most, first_rps=first, tries=len(tried))
    admissible = (most or 0) // 2
    above = {name: rate for name, rate in demand.rates.items() if rate > admissible}
    failed = f"at {first}/s {tried[-1].why_not}" if tried else f"{first}/s was not tried"
    if most is not None:
        found = f"at most {admissible}/s are admissible, since it sustains {most}/s and {failed}"
    else:
        found = f"in {len(tried)} tries none was sustained: {failed}"
    named = ", ".join(f"{name} asks for {rate}/s" for name, rate in above.items() if most is not None or 2 * rate >= first)
    rest = [name for name in demand.vus if name not in above]
    leave_out = f", or leave out what is above: --scenarios {','.join(rest)}" if rest and most is not None else ""
    return _finding(
        "generator",
        demand.strict(),
        f"open rates would be above half of what the generator can send here: {named}; {found}",
        f"end what else runs, or give the generator more cores (taskset, a larger machine){leave_out}",
        ceiling_rps=most,
        admissible_rps=admissible if most is not None else None,
        first_rps=first,
        tries=len(tried),
    )


def scaling(probes: Sequence[Probe]) -> Finding:
    """From how many generators on more of them add less than a tenth in a closed loop. One has all cores, several divide them."""
    closed = sorted((probe for probe in probes if probe.rate is None), key=lambda probe: probe.generators)
    rates = {f"rps_by_{probe.generators}": probe.throughput_rps for probe in closed}
    failed = next((probe for probe in closed if probe.exit_code != 0), None)
    if failed is not None:
        sentence = f"what {failed.generators} generators can send is not known: k6 ended with {failed.exit_code}"
        return _finding("scaling", "warn", sentence, "look into the logs of k6", **rates)
    last = next((pair for pair in pairwise(closed) if pair[1].throughput_rps < GAIN * pair[0].throughput_rps), None)
    if last is None:
        return _finding("scaling", "ok", "", "", **rates)
    enough, more = last[0].generators, last[1]
    full = " (the null server was full)" if more.server_busy >= FULL else ""
    seen = ", ".join(f"{probe.throughput_rps:.0f}/s by {probe.generators}" for probe in closed)
    beyond = "a second generator adds" if enough == 1 else f"more than {enough} generators add"
    sentence = f"{beyond} less than a tenth here{full}: {seen}"
    fewer = "leave --generators out" if enough == 1 else f"take --generators {enough}"
    return _finding("scaling", "warn", sentence, f"{fewer}, or give them more cores (taskset, a larger machine)", enough=enough, **rates)


def told(probes: Sequence[Probe]) -> list[str]:
    """What the calibration found, in sentences."""
    sentences: list[str] = []
    most = ceiling(probes)
    if most is not None:
        best = next(p for p in probes if p.rate == most and p.why_not is None)
        least = "" if _worst(probes) else "at least "
        sentences.append(
            f"the generator sustains {least}{most}/s against the null server, {best.generator_us or 0:.0f} µs of its CPU per request"
        )
    for p in probes:
        if p.rate is None and p.exit_code == 0:
            by = f" by {p.generators} generators" if p.generators > 1 else ""
            cost = f"{p.generator_us or 0:.0f} µs of the generator's CPU per request"
            sentences.append(f"{p.vus} users in a closed loop{by}: {p.throughput_rps:.0f}/s, {cost}")
    return sentences
