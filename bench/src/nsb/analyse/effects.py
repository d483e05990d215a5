"""V5 and V9 of a cell under k6: what it caused agrees with what k6 sent, for the whole load and not for a sample of it. Pure.

k6 sent `s` requests and got the right status for `a` of them: whatever a request causes was caused a to s times.
"""

from __future__ import annotations

from collections.abc import Iterator

from nsb.records.effects import Effects
from nsb.records.held import Held
from nsb.records.judged import Check
from nsb.records.summary import Load

STATEMENTS_SLACK = 5
"""Statements of a login or of the harness around a load."""
ASLEEP_LEAST = 10.0
"""So many requests must wait in the database on average before looking at it says something: of fewer, one look may find none."""
ASLEEP_SHARE = 0.5


def checks(caused: Effects, load: Load, held: Held | None, in_database: float, known: bool) -> list[Check]:
    """`in_database`: how many requests wait there on average, by rate and hold; `known`: whether the database is the run's alone."""
    if load.sent_all is None or load.answered_all is None:
        return []
    beside = load.odd_all + (0 if held is None else held.opened + held.refused)
    return [
        _counted(caused, load.answered_all, load.sent_all, beside),
        _check("V9", elsewhere(caused, load.answered_all, load.sent_all), bad=True, called=caused.called, inserted=caused.inserted),
        _check("V9", statements(caused, load.answered_all, load.sent_all), bad=known, questions=caused.questions, selects=caused.selects),
        _check("V9", _in_time(caused, load), bad=True, called=caused.called_in_time, inserted=caused.inserted_in_time),
        _check("V9", _asleep(caused, in_database), bad=True, asleep=caused.asleep, in_database=round(in_database, 2)),
        _check("V9", _connections(caused, load), bad=False, opened=load.opened_all),
    ]


def _check(id_: str, sentences: Iterator[str], bad: bool, **inputs: float | int | str | None) -> Check:
    said = "; ".join(sentences)
    return Check(id=id_, outcome="ok" if not said else "invalid" if bad else "doubt", sentence=said, inputs=inputs)


def _counted(caused: Effects, answered: int, sent: int, beside: int) -> Check:
    """V5: the service counted what k6 sent."""
    inputs: dict[str, float | int | str | None] = {"counted": caused.counted, "sent": sent, "answered": answered}
    if caused.counted is None:
        return Check(id="V5", outcome="doubt", sentence="the service did not say how many requests it counted (/stats)", inputs=inputs)
    if answered <= caused.counted <= sent + beside:
        return Check(id="V5", outcome="ok", sentence="", inputs=inputs)
    sentence = f"the service counted {caused.counted} requests; k6 sent {sent} and had {answered} answers"
    return Check(id="V5", outcome="invalid", sentence=sentence, inputs=inputs)


def elsewhere(caused: Effects, answered: int, sent: int) -> Iterator[str]:
    """The upstream was called, for as long as was asked, and rows are there."""
    if caused.called is not None and not caused.calls * answered <= caused.called <= caused.calls * sent:
        yield f"the upstream got {caused.called} calls for {answered} answers of {caused.calls}"
    wait_ms = caused.calls * caused.call_ms
    if caused.asked_ms is not None and not wait_ms * answered <= caused.asked_ms <= wait_ms * sent:
        yield f"the upstream was to wait {caused.asked_ms} ms in all for {answered} answers of {caused.calls} × {caused.call_ms} ms"
    if caused.inserted is not None and not answered <= caused.inserted <= sent:
        yield f"the database has {caused.inserted} new rows for {answered} answers"


def statements(caused: Effects, answered: int, sent: int) -> Iterator[str]:
    """The database executed the statements, of the kind that the request needs, and looked the rows up."""
    if caused.questions is None:
        return
    least, most = caused.statements * answered - STATEMENTS_SLACK, caused.statements * sent + STATEMENTS_SLACK
    if not least <= caused.questions <= most:
        yield f"the database executed {caused.questions} statements for {answered} answers of {caused.statements}"
    if caused.prepared is not None and caused.prepared < least:
        yield f"{caused.prepared} of {caused.questions} statements were prepared ones, as the service says that all are"
    if caused.selects is None or caused.inserts is None:  # an older record
        return
    kind, count, other = (
        ("INSERT", caused.inserts, caused.selects) if caused.inserted is not None else ("SELECT", caused.selects, caused.inserts)
    )
    if count < least or other > STATEMENTS_SLACK:
        yield f"{count} of {caused.questions} statements were {kind}, and {other} of another kind"
    if caused.keys_read is not None and caused.keys_read < answered:
        yield f"the database looked up {caused.keys_read} rows by key for {answered} answers of one row each"


def _in_time(caused: Effects, load: Load) -> Iterator[str]:
    """Whatever the answers of the window needed was done before them."""
    late = "work is done outside of the window"
    if caused.called_in_time is not None and caused.called_in_time < caused.calls * load.requests:
        yield f"when the window closed there were {caused.called_in_time} calls for {load.requests} answers of {caused.calls}: {late}"
    if caused.inserted_in_time is not None and caused.inserted_in_time < load.requests:
        yield f"when the window closed there were {caused.inserted_in_time} new rows for {load.requests} answers: {late}"


def _asleep(caused: Effects, in_database: float) -> Iterator[str]:
    """A request that waits in the database is seen there."""
    if caused.asleep is not None and in_database >= ASLEEP_LEAST and caused.asleep < ASLEEP_SHARE * in_database:
        yield f"{caused.asleep} statements at most waited in the database, in {caused.looks} looks, where {in_database:.0f} do on average"


def _connections(caused: Effects, load: Load) -> Iterator[str]:
    """Connections stay open; a service that closes them makes its clients pay."""
    if caused.clients is not None and load.opened_all is not None and load.opened_all > caused.clients:
        yield f"{load.opened_all} connections were opened for {caused.clients} users: the service closes them"
