"""Measures cost cells on a cluster: a service alone on its core, and its generators in other pods. Effects only.

A container has a core, or a share of one, that is its own. So neither the reference nor a competitor can be put beside a service, and the
core is full only where nobody else is full before it: the cell tells whether it was (V6).
"""

from __future__ import annotations

import time

from nsb.measure import generator
from nsb.measure.caused import Caused
from nsb.measure.cluster_load import AROUND_S, LOOK_S, Crowd, Readers, driving, readings
from nsb.measure.cluster_stage import CLOCK_S, Cluster, Placed
from nsb.measure.duet import EVERY_S, counted
from nsb.measure.generator import Loaded
from nsb.measure.interrupt import stop_if_asked
from nsb.measure.meter import sleep_until
from nsb.measure.observing import Unobserved, in_one_line
from nsb.measure.running import lost
from nsb.records.divided import Divided
from nsb.records.duet import Driven, Duet, until_steady
from nsb.registry import podstate
from nsb.registry.shapes import CostRow, Mixture
from nsb.registry.timing import Timing

WARM_S = 6.0
"""So long the load works before its window settles: a compiler of the service has the same one core (s)."""
SPARE_S = 4.0
"""The generator works so much longer than it must: when it began is known late, and looks take time (s)."""
BEGINS_S = 10.0
"""How long the first reading of a generator that runs may take (s)."""
SAID = 300
"""Of what a generator said last, so many characters are quoted."""


def measure(on: Cluster, scenario: CostRow, timing: Timing, running: Placed, seed: int, parts: int, *, rehearsal: bool) -> Duet:
    """One cost cell, whose connections so many generators divide.

    Raises Unobserved, Untold, ProcessError and DatabaseError.
    """
    length_s = WARM_S + timing.settle_s + timing.window_s + SPARE_S
    asked = generator.targets(scenario)
    orders = [
        generator.order(asked, running.inside_url, [], seed + 2 * number, connections, EVERY_S, length_s)  # it sets the last bit
        for number, connections in enumerate(shares(scenario.vus, parts))
    ]
    before, caused = counted(running), Caused(on, scenario)
    with driving(on, "cost", orders, length_s) as crowd:
        began_s = _began(crowd, parts)
        sleep_until(max(began_s) + WARM_S)
        midway = [caused.midway(CLOCK_S)]
        opens_s = time.time() + timing.settle_s
        closes_s = opens_s + timing.window_s
        sleep_until(closes_s)
        midway.append(caused.midway(CLOCK_S))
        load = _finished(crowd, parts)
        if (why := lost(running, scenario, on.workers)) is not None:
            raise Unobserved(why)
        if load.wrong is not None:  # it ended the load, and nobody reads the generator any more
            raise Unobserved(f"{running.contender.id} did not answer as it must: {load.wrong}")
        read = Readers.of(on, running, crowd, time.time() - min(began_s) + AROUND_S)
    series = read.service.beside(load.series)
    inside, after_it = ([at_s for at_s in series.at_s if at_s >= edge_s] for edge_s in (opens_s, closes_s))
    if not after_it:
        raise Unobserved("the generator ended before the window closed: it had been at work for long when that was known")
    warmed = series.between(0, opens_s - timing.settle_s)
    opens_s, closes_s = inside[0], after_it[0]  # from one of its readings to another
    first, last = read.edge(opens_s), read.edge(closes_s)
    used = {role: round(last.cpu[role] - first.cpu[role], 6) for role in first.cpu}
    after = counted(running)
    own = Driven(
        contender=running.contender.id,
        series=series,
        answers=load.answers,
        opened=load.opened,
        wrong=None,
        counted=None if before is None or after is None else after - before,
        odd=load.odd,
        prepares=running.prepares,
        bursts=until_steady(warmed.costs()),
        waited_s=read.service.waited_s(opens_s, closes_s),
        answers_of=load.answers_of if isinstance(scenario, Mixture) else [],
        least_ms=load.least_ms,
        pss_mib=read.service.at(closes_s).pss_mib,
        ended_before=running.ended_before,
    )
    return Duet(
        own=own,
        partner=None,
        connections=scenario.vus,
        competitors=0,
        opens_s=opens_s,
        closes_s=closes_s,
        cpu_s={role: seconds for role, seconds in used.items() if role != "service"},
        foreign_s=round(max(0.0, last.busy_s - first.busy_s - sum(used.values())), 6),
        steal_s=round(max(0.0, last.steal_s - first.steal_s), 6),
        service_cores=1,
        cores=sum(on.place.cores[name] for name in on.place.used(1)),
        rehearsal=rehearsal,
        speeds=[],
        midway=[each for each in midway if each is not None],
        divided=None if parts == 1 else Divided(cores=[[]] * parts, began_ms=[round((at_s - min(began_s)) * 1000, 1) for at_s in began_s]),
        **caused.whole(),
    )


def shares(connections: int, parts: int) -> list[int]:
    """How many each of so many generators opens: as equal as they can be, all of them together."""
    return [connections // parts + (number < connections % parts) for number in range(parts)]


def _began(crowd: Crowd, parts: int) -> list[float]:
    """When each generator had all its connections and began, by its node's clock (s since the epoch). Raises Unobserved."""
    until = time.monotonic() + BEGINS_S
    found: list[float] = []
    while len(found) < parts:
        stop_if_asked()
        number = len(found)
        if lines := readings(crowd.words(number)):
            found.append(float(lines[0]["at_s"]))
        elif time.monotonic() > until or podstate.ended(crowd.look()[number], "of the generator") is not None:
            raise Unobserved(f"{_which(number, parts)} does not begin: {_said(crowd, number)}")
        else:
            time.sleep(LOOK_S)
    return found


def _finished(crowd: Crowd, parts: int) -> Loaded:
    """What they told, as of one. Raises Unobserved where one did not end as it must."""
    found = []
    for number, over in enumerate(crowd.finish(SPARE_S + generator.END_S + AROUND_S)):
        lines = readings(crowd.words(number))
        if over is None or over.code not in (0, 1) or not lines:
            how = "did not end" if over is None else f"ended with {over.code}{'' if over.why is None else f' ({over.why})'}"
            raise Unobserved(f"{_which(number, parts)} {how}: {_said(crowd, number)}")
        found.append(generator.loaded(lines, over.code == 0))
    return generator.together(found)


def _which(number: int, parts: int) -> str:
    return "the generator" if parts == 1 else f"generator {number + 1} of {parts}"


def _said(crowd: Crowd, number: int) -> str:
    return in_one_line(crowd.words(number))[-SAID:] or "it says nothing"
