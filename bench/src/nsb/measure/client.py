"""How the harness itself asks services. Effects only."""

from __future__ import annotations

import contextlib
import ssl
import threading
from collections.abc import Callable

import httpx

from nsb.records.cells import Stats

NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""It trusts nobody. Without it each client of httpx reads the machine's certificates, which takes 30 ms, for answers over plain HTTP."""


def client(timeout_s: float, kept: int | None = None) -> httpx.Client:
    """Never through the user's proxy. `kept`: so many connections at most stay open between two questions."""
    return httpx.Client(timeout=timeout_s, trust_env=False, verify=NO_TLS, limits=httpx.Limits(max_keepalive_connections=kept))


HTTP = client(timeout_s=5.0, kept=0)
"""Never a connection that stays open at a service."""
STATS_S = 1.0
"""How long a window's edge waits for /stats: a service whose threads are all taken cannot answer (s)."""


class StatsReader:
    """Reads /stats beside the main loop, so that a slow answer does not move a window's edge."""

    def __init__(self, base_url: str, timeout_s: float = STATS_S) -> None:
        self._url = f"{base_url}/stats"
        self._client = client(timeout_s)

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
