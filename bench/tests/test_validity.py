"""Each check with a planted violation, and the limits that the table must be able to name."""

from __future__ import annotations

from typing import Any

import pytest

from conftest import QUIET_TCP, closed_cell, open_cell, trend
from nsb.analyse.validity import Observation, full_stations, judge
from nsb.records.cells import Stats


def outcome(o: Observation, check: str) -> str:
    """The worst outcome of that check."""
    order = ["ok", "doubt", "censored", "invalid"]
    return max((c.outcome for c in judge(o).checks if c.id == check), key=order.index)


def test_a_cell_in_order_is_valid_without_doubts() -> None:
    judgement = judge(open_cell())
    assert (judgement.status, judgement.limit) == ("valid", "offered")
    assert judgement.doubts == []
    assert judgement.reasons == []


@pytest.mark.parametrize(
    ("changes", "check", "expected"),
    [
        ({"exit_code": 107}, "V1", "invalid"),
        ({"failures_all": 1}, "V1", "invalid"),
        ({"wrong": 1}, "V1", "invalid"),
        ({"requests": 0}, "V1", "invalid"),
        ({"dropped": 3}, "V2", "invalid"),
        ({"started": 1900}, "V2", "invalid"),
        ({"started": 1920, "rehearsal": True}, "V2", "doubt"),
        ({"started": 1800, "rehearsal": True}, "V2", "invalid"),
        ({"after": Stats(1800, 2.0, 200)}, "V2", "censored"),
        ({"requests": 1300}, "V2", "censored"),  # by /stats none is left: it never saw those that wait in sockets
        ({"dropped": 300, "cpu_s": {"service": 1.95}}, "V2", "censored"),
        ({"lag": trend(at=9.0)}, "V3", "doubt"),
        ({"after": Stats(2000, 60.0, 0)}, "V5", "doubt"),
        ({"after": None}, "V5", "doubt"),
        ({"after": Stats(2000, 60.0, 0), "blocked_by": "loop", "blocks_s": 0.1}, "V5", "doubt"),
        ({"too_short": 1, "hold_s": 0.1}, "V6", "invalid"),
        ({"cpu_s": {"foreign": 0.3}}, "V7", "doubt"),
        ({"cpu_s": {"foreign": 0.9}}, "V7", "invalid"),
        ({"steal_s": 0.2}, "V7", "invalid"),
        ({"cpu_s": {"foreign": 0.9}, "rehearsal": True}, "V7", "doubt"),
        ({"halves": (trend(1100), trend(900))}, "V8", "doubt"),
        ({"halves": (trend(2000), trend(0))}, "V8", "doubt"),
        ({"half_cpu_s": (0.10, 0.05)}, "V8", "doubt"),
        ({"db_connections": 152}, "V9", "invalid"),
        ({"statements": 1, "executed": 4000}, "V9", "invalid"),
        ({"statements": 1, "executed": 0}, "V9", "invalid"),
        ({"clients": 108}, "V9", "invalid"),
        ({"tcp": {**QUIET_TCP, "ListenOverflows": 1, "ListenDrops": 1}}, "V10", "invalid"),
        ({"tcp": {**QUIET_TCP, "ListenDrops": 1}}, "V10", "invalid"),
        ({"tcp": {**QUIET_TCP, "RetransSegs": 2}}, "V10", "invalid"),
        ({"tcp": {**QUIET_TCP, "RetransSegs": 2}, "rehearsal": True}, "V10", "doubt"),
        ({"tcp": {**QUIET_TCP, "ListenDrops": 1}, "rehearsal": True}, "V10", "doubt"),
        ({"tcp": None}, "V10", "doubt"),
        ({"cpu_s": {"harness": 0.2}}, "V11", "doubt"),
        ({"spanned_s": 1.8}, "V11", "invalid"),
    ],
)
def test_a_planted_violation_is_found(changes: dict[str, object], check: str, expected: str) -> None:
    assert outcome(open_cell(**changes), check) == expected


def test_a_service_is_not_accused_of_what_the_harness_missed() -> None:
    late = {"statements": 1, "executed": 360, "spanned_s": 0.36}
    assert judge(open_cell(**late)).reasons == [
        "V11 the harness read the edges of a window of 2.0 s 0.4 s apart: it did not get a core in time",
    ]
    assert outcome(open_cell(**{**late, "spanned_s": 2.0}), "V9") == "invalid"
    assert outcome(open_cell(statements=1, executed=1920, spanned_s=1.92), "V9") == "ok"
    assert outcome(open_cell(statements=1, executed=2000, spanned_s=2.08), "V9") == "ok"  # read too late: nothing more is asked then


def test_a_loop_that_is_blocked_does_not_count_what_waits_in_sockets() -> None:
    waiting = {"service": trend(2000, at=40.0), "blocks_every": 300}
    assert outcome(open_cell(**waiting), "V5") == "doubt"
    assert outcome(open_cell(**waiting, blocks_s=0.1), "V5") == "doubt"
    assert outcome(open_cell(**waiting, blocks_s=0.1, blocked_by="loop"), "V5") == "ok"


@pytest.mark.parametrize(("check", "steady"), [("V4", "doubt"), ("V8", "doubt")])
def test_a_load_with_a_beginning_and_an_end_is_asked_for_no_steady_part(check: str, steady: str) -> None:
    seen: dict[str, Any] = {"halves": (trend(1100), trend(900)), "iteration": trend(2000, at=40.0), "service": trend(2000, at=40.0)}
    seen |= {"cpu_s": {"service": 9.9, "generator": 1.0}}
    assert outcome(closed_cell(2000, 100, 0.0, **seen), check) == steady
    assert outcome(closed_cell(2000, 100, 0.0, **seen, whole=True), check) == "ok"


def test_a_bound_is_one_however_the_generator_swings() -> None:
    seen = {"halves": (trend(1200), trend(800)), "half_cpu_s": (0.10, 0.05)}
    assert outcome(closed_cell(2000, 100, 0.0, **seen, cpu_s={"service": 9.9, "generator": 1.0}), "V8") == "doubt"
    bound = closed_cell(2000, 100, 0.0, **seen, cpu_s={"service": 1.0, "generator": 9.9})
    assert judge(bound).status == "censored"
    assert outcome(bound, "V8") == "ok"


@pytest.mark.parametrize(("service_s", "expected"), [(9.9, "doubt"), (1.0, "ok")])
def test_the_price_of_a_request_is_asked_where_it_decides_the_capacity(service_s: float, expected: str) -> None:
    seen = closed_cell(10_000, 100, 0.1, half_cpu_s=(0.6 * service_s, 0.4 * service_s), cpu_s={"service": service_s, "generator": 1.0})
    assert judge(seen).limit == ("cpu" if service_s > 9 else "offered")
    assert outcome(seen, "V8") == expected


def test_a_load_with_an_end_is_its_own_limit_where_nothing_else_is() -> None:
    def judged(generator_s: float, whole: bool) -> tuple[str, str | None]:
        found = judge(closed_cell(3000, 100, 0.1, cpu_s={"service": 3.0, "generator": generator_s}, whole=whole))
        return found.status, found.limit

    assert judged(2.0, whole=False) == ("censored", None)
    assert judged(2.0, whole=True) == ("valid", "offered")
    assert judged(9.5, whole=True) == ("censored", "generator")


def test_one_connection_for_each_user_and_one_for_the_harness_pass() -> None:
    assert outcome(open_cell(clients=107), "V9") == "ok"


def test_probes_that_the_receiver_calls_superfluous_and_repeated_syns_are_no_losses() -> None:
    seen = {**QUIET_TCP, "RetransSegs": 501, "TCPDSACKRecv": 480, "TCPSynRetrans": 20}
    assert outcome(open_cell(tcp=seen), "V10") == "ok"
    assert outcome(open_cell(tcp={**seen, "RetransSegs": 503}), "V10") == "invalid"


def test_declared_statements_pass() -> None:
    assert outcome(open_cell(statements=1, executed=2003), "V9") == "ok"


def test_littles_law_over_users() -> None:
    assert outcome(closed_cell(6000, 600, 1.0), "V4") == "ok"
    assert outcome(closed_cell(6000, 600, 1.0, iteration=trend(6000, 1500.0)), "V4") == "doubt"


def test_a_thread_pool_is_named_where_it_is_full() -> None:
    judgement = judge(closed_cell(2000, 600, 1.0, server_threads=200))
    assert (judgement.status, judgement.limit) == ("valid", "threads")


def test_three_quarters_of_a_thread_pool_are_not_full_however_short_the_window() -> None:
    threads = open_cell(rate=150, hold_s=1.0, window_s=2.0, requests=300, started=300, server_threads=200, after=Stats(300, 300.0, 0))
    assert judge(threads).limit == "offered"


def test_users_are_the_limit_where_all_of_them_wait() -> None:
    judgement = judge(closed_cell(5990, 600, 1.0))
    assert (judgement.status, judgement.limit) == ("valid", "offered")


def test_the_pool_is_named_before_the_threads_that_queue_for_it() -> None:
    judgement = judge(closed_cell(7450, 300, 0.2, holds="pool", server_threads=200, after=Stats(7450, 1990.0, 0)))
    assert (judgement.status, judgement.limit) == ("valid", "pool")


def test_more_than_the_pool_can_give_is_a_cheat() -> None:
    assert judge(closed_cell(8000, 300, 0.2, holds="pool")).status == "invalid"


def test_who_ends_waits_early_is_a_cheat_where_half_of_them_are() -> None:
    def waited(half_ms: float) -> str:
        return outcome(open_cell(hold_s=0.02, service=trend(at=half_ms)), "V6")

    assert waited(20.4) == waited(19.6) == "ok"
    assert waited(18.3) == "invalid"


def test_a_loop_that_is_said_to_block_makes_others_wait() -> None:
    def mixed(p99_ms: float, **changes: Any) -> str:
        blocks = {"blocked_by": "loop", "blocks_s": 0.1, "blocks_every": 300, **changes}
        return outcome(open_cell(latency=trend(at=p99_ms), **blocks), "V6")

    assert mixed(95.0) == "ok"
    assert mixed(2.0) == mixed(55.0) == "invalid"
    assert mixed(2.0, blocked_by=None) == mixed(2.0, blocks_s=0.0) == mixed(2.0, workers=4) == "ok"


def test_no_more_requests_block_at_once_than_there_are_loops() -> None:
    blocks: dict[str, Any] = {"holds": "loop", "blocked_by": "loop", "blocks_s": 0.05}
    assert outcome(closed_cell(200, 20, 0.05, **blocks), "V6") == "ok"
    assert outcome(closed_cell(220, 20, 0.05, **blocks), "V6") == "invalid"
    free = judge(closed_cell(4000, 20, 0.05, **blocks))
    assert free.reasons == ["V6 20.0 requests blocked at once, where 1 event loops can be blocked: the handler does not block"]


def test_cpu_is_a_capacity() -> None:
    judgement = judge(closed_cell(80000, 64, 0.0, cpu_s={"service": 9.6, "generator": 3.0}))
    assert (judgement.status, judgement.limit) == ("valid", "cpu")


def test_a_full_generator_makes_a_bound() -> None:
    judgement = judge(closed_cell(80000, 64, 0.0, cpu_s={"service": 4.0, "generator": 9.6}))
    assert (judgement.status, judgement.limit) == ("censored", "generator")


@pytest.mark.parametrize(
    ("cpu_s", "limit"),
    [
        ({"service": 4.0, "generator": 6.6, "database": 3.0}, "generator"),
        ({"service": 4.0, "generator": 3.0, "database": 6.6}, "database"),
        ({"service": 4.0, "generator": 3.0, "upstream": 6.6}, "upstream"),
        ({"service": 4.0, "generator": 8.5, "database": 0.1}, "generator"),
        ({"service": 9.9, "generator": 3.0, "database": 6.6}, "cpu"),
    ],
)
def test_of_a_core_that_several_share_whoever_used_most_of_it_is_the_limit(cpu_s: dict[str, float], limit: str) -> None:
    judgement = judge(closed_cell(80000, 64, 0.0, cpu_s=cpu_s))
    assert (judgement.status, judgement.limit) == ("valid" if limit == "cpu" else "censored", limit)


def test_a_rate_that_a_shared_core_could_not_offer_is_not_the_databases_fault() -> None:
    full = open_cell(cpu_s={"service": 0.5, "generator": 0.7, "database": 1.25})
    assert full.load is not None
    assert full_stations(full, full.load) == ["generator", "offered"]


@pytest.mark.parametrize(
    ("changes", "limit"),
    [
        ({}, "loop"),
        ({"waits_on_loop": False}, None),
        ({"statements": 0}, None),
        ({"vus": 1}, None),  # between two requests it waits for nobody
        ({"cpu_s": {"service": 4.0, "generator": 9.6}}, "generator"),
        ({"cpu_s": {"service": 9.9, "generator": 4.0}}, "cpu"),
    ],
)
def test_a_loop_that_waits_for_statements_is_full_where_nobody_else_is(changes: dict[str, Any], limit: str | None) -> None:
    usual = {"statements": 1, "executed": 80000, "waits_on_loop": True, "cpu_s": {"service": 6.0, "generator": 4.0}, **changes}
    judgement = judge(closed_cell(80000, usual.pop("vus", 64), 0.0, **usual))
    assert judgement.limit == limit
    assert judgement.status == ("valid" if limit in ("loop", "cpu") else "censored")


def test_nothing_full_makes_a_bound_without_a_name() -> None:
    judgement = judge(closed_cell(80000, 64, 0.0, cpu_s={"service": 4.0, "generator": 4.0}))
    assert (judgement.status, judgement.limit) == ("censored", None)


@pytest.mark.parametrize(
    ("changes", "limit", "doubts"),
    [
        ({}, "loop", []),
        ({"blocked_by": None}, None, []),  # it has no event loops
        ({"workers": 2}, None, []),  # a loop for each core: then the cores are the limit
        ({"cpu_s": {"service": 8.5}}, None, []),
        ({"cpu_s": {"service": 11.6}}, "loop", ["V6 threads beside the event loops used CPU too: the capacity may be higher"]),
        ({"cpu_s": {"service": 9.9, "generator": 17.0}}, "loop", ["V6 the generator was nearly full too: the capacity may be higher"]),
        ({"cpu_s": {"service": 18.5}}, "cpu", []),
    ],
)
def test_one_loop_on_two_cores_is_full_when_it_uses_one(changes: dict[str, Any], limit: str | None, doubts: list[str]) -> None:
    usual = {"workers": 1, "blocked_by": "loop", "cpu_s": {"service": 9.9, "generator": 6.0}}
    cores = {"service": 2, "generator": 2, "database": 2, "upstream": 2, "machine": 4}
    judgement = judge(closed_cell(80000, 64, 0.0, cores=cores, **{**usual, **changes}))
    assert judgement.limit == limit
    assert judgement.status == ("valid" if limit else "censored")
    assert [doubt for doubt in judgement.doubts if doubt.startswith("V6")] == doubts


def test_a_blocked_loop_is_named_only_for_those_that_have_one() -> None:
    changes = {"hold_s": 0.01, "holds": "loop", "requests": 200, "rate": 150, "started": 300, "dropped": 10}
    assert judge(open_cell(blocked_by="loop", **changes)).limit == "loop"
    assert judge(open_cell(blocked_by=None, **changes)).limit is None  # not sustained, and nobody knows why


def test_a_loop_that_serves_more_holds_at_once_than_there_are_loops_is_not_blocked() -> None:
    """150/s of 10 ms are 1.5 at once: whoever carries them on one worker does not block it, whatever it says of itself."""
    changes = {"hold_s": 0.01, "holds": "loop", "requests": 300, "rate": 150, "started": 300, "after": Stats(300, 3.0, 0)}
    assert judge(open_cell(blocked_by="carriers", **changes)).limit == "offered"


def pinned(requests: int, **changes: Any) -> Observation:
    """300 users for a slow query of 200 ms on two carriers, a pool of 150: the article's load. Few are answered, after a long wait."""
    late = trend(requests, 5000.0)
    usual: dict[str, Any] = {
        "holds": "pool", "workers": 2, "blocked_by": "carriers", "service": late, "iteration": late, "before": None, "after": None,
    }  # fmt: skip
    return closed_cell(requests, 300, 0.2, **{**usual, **changes})


@pytest.mark.parametrize("word", ["carriers", "loop"])
def test_who_pins_its_workers_on_a_slow_query_is_held_back_by_them(word: str) -> None:
    judgement = judge(pinned(100, blocked_by=word))
    assert (judgement.status, judgement.limit) == ("valid", word)
    assert judgement.doubts == []


@pytest.mark.parametrize(("requests", "limit"), [(9, None), (12, "carriers"), (13, "carriers"), (14, "carriers"), (16, None)])
def test_a_short_window_has_whole_holds_alone(requests: int, limit: str | None) -> None:
    """2.8 s on one carrier: 14 holds of 200 ms, 13 where each takes 215 ms, and an edge cuts one off."""
    assert judge(pinned(requests, workers=1, window_s=2.8)).limit == limit


@pytest.mark.parametrize(
    ("requests", "changes", "limit"),
    [
        (100, {"blocked_by": None}, None),  # it says that nothing of it blocks
        (7450, {}, "pool"),
        (7450, {"blocked_by": "loop", "workers": 1}, "pool"),  # a driver that does not block
        (120, {}, None),  # more at once than there are carriers
        (60, {}, None),  # carriers to spare
        (100, {"cpu_s": {"service": 9.5}}, "cpu"),
        (100, {"cpu_s": {"database": 9.5}}, "database"),
        (100, {"holds": None}, None),  # who waits in the process needs no carrier
        (95, {"service": trend(95, 205.0)}, None),  # nobody waits for a turn: two users who are slow to ask look the same
    ],
)
def test_carriers_are_named_only_where_the_holds_are_as_many_as_they(requests: int, changes: dict[str, Any], limit: str | None) -> None:
    assert judge(pinned(requests, **changes)).limit == limit


def test_a_pool_for_the_calls_alone_is_named_where_it_is_full() -> None:
    """100 users of three calls of 100 ms: three threads for the calls give 10/s, 300 overlap them all."""
    few = judge(closed_cell(100, 100, 0.1, calls=3, call_threads=3))
    assert (few.status, few.limit) == ("valid", "threads")
    assert judge(closed_cell(100, 100, 0.1, calls=3, call_threads=None)).limit is None
    assert judge(closed_cell(100, 100, 0.1, calls=1, call_threads=3)).limit is None  # this scenario makes no calls
    assert judge(closed_cell(9_900, 100, 0.1, calls=3, call_threads=400)).limit == "offered"
    assert judge(closed_cell(490, 300, 0.2, holds="pool", query_threads=10)).limit == "threads"  # ten threads ask, a pool of 150 has plenty
    assert judge(closed_cell(490, 300, 0.2, holds="pool", query_threads=None)).limit is None


def test_users_that_were_not_answered_yet_do_not_make_the_generator_the_limit() -> None:
    judgement = judge(pinned(60))
    assert judgement.reasons == ["V6 no station was full: the figure is a lower bound"]


def test_as_many_users_as_carriers_are_the_load() -> None:
    assert judge(closed_cell(100, 2, 0.2, holds="pool", workers=2, blocked_by="carriers")).limit == "offered"
