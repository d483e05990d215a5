"""Which endpoints a service has at all: asked first, in seconds, so that a service under construction is told what it lacks by name."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection

from nsb.conform.bed import Outcome
from nsb.conform.exchanges import exchanges
from nsb.conform.wire import NoAnswer, Stream, ask
from nsb.registry.contract import ENDPOINTS, EXTRAS, NEEDED, endpoint

ANSWER_S = 3.0
"""How long one endpoint may take to begin its answer (s)."""
TICK_S = 0.05
FIRST = (*NEEDED, "/readyz")
"""Without these no other rule can be checked."""
TARGETS = {"/runtime": ("C3", "/runtime"), "/stats": ("C4", "/stats"), "/events": ("C14", "/events?interval_ms=1000")}
"""Those whose answers are in no table of exchanges; of all others the first GET of that table is asked."""


def targets() -> dict[str, tuple[str, str]]:
    """Endpoint → its rule, and a request that it must know."""
    found = dict(TARGETS)
    for one in exchanges():
        if one.request.method == "GET" and one.wanted.status in (200, 426):
            found.setdefault(endpoint(one.request.target), (one.rule, one.request.target))
    return {name: found[name] for name in (*ENDPOINTS, *EXTRAS) if name in found}


def wait_for_any_answer(base_url: str, ended: Callable[[], str | None], over: Callable[[], float | None]) -> None:
    """Returns at the first answer, whatever its status. `ended` says how the process ended, `over` how long it has had (s) where that is
    enough to start; else None.

    Raises NoAnswer where it ends or does not answer in time.
    """
    while True:
        if (how := ended()) is not None:
            raise NoAnswer(how)
        try:
            ask(base_url, "/healthz", ANSWER_S)
            return
        except NoAnswer as error:
            if (had_s := over()) is not None:
                raise NoAnswer(f"it answered nothing on {base_url} within {had_s:.0f} s: {error}") from None
        time.sleep(TICK_S)


def absent(base_url: str, wanted: Collection[str]) -> list[Outcome]:
    """An outcome for each endpoint that the service does not know (404) or does not begin to answer; nothing for those that it has."""
    found = []
    for name, (rule, target) in targets().items():
        if name not in wanted:
            continue
        try:
            with Stream(base_url, target, ANSWER_S) as answer:
                why = "404, as for a path that is not there" if answer.status == 404 else None
        except NoAnswer as error:
            why = f"no answer: {error}"
        if why is not None:
            found.append(Outcome(rule, f"{name} is missing", False, f"GET {target}: {why}"))
    return found


def cannot_go_on(missing: Collection[Outcome]) -> bool:
    """Whether one of FIRST is among the endpoints that are missing."""
    return any(outcome.title in (f"{name} is missing" for name in FIRST) for outcome in missing)
