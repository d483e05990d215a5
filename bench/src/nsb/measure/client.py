"""How the harness itself asks services. Effects only."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable

import httpx

from nsb.records.cells import Stats

HTTP = httpx.Client(trust_env=False, limits=httpx.Limits(max_keepalive_connections=0))
"""Never through the user's proxy, and never a connection that stays open at a service."""
STATS_S = 1.0
"""How long a window's edge waits for /stats: a service whose threads are all taken cannot answer (s)."""


class StatsReader:
    """Reads /stats beside the main loop, so that a slow answer does not move a window's edge."""

    def __init__(self, base_url: str, timeout_s: float = STATS_S) -> None:
        self._url = f"{base_url}/stats"
        self._client = httpx.Client(timeout=timeout_s, trust_env=False)

    def now(self) -> Stats | None:
        with contextlib.suppress(httpx.HTTPError, KeyError, ValueError):
            seen = self._client.get(self._url).json()
            return Stats(int(seen["requests_total"]), float(seen["busy_seconds_total"]), int(seen["in_flight"]))
        return None

    def later(self) -> Callable[[], Stats | None]:
        box: list[Stats | None] = [None]

        def read() -> None:
            box[0] = self.now()

        thread = threading.Thread(target=read, daemon=True)
        thread.start()

        def result() -> Stats | None:
            thread.join(STATS_S + 0.5)
            return box[0]

        return result

    def close(self) -> None:
        self._client.close()
