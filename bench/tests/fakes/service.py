"""A contender that answers what the harness itself asks, and misbehaves as FAKE says. For tests only; it imports nothing of the project.

FAKE: `` (nothing), `ends` (with 3, before it is ready), `never ready`, `in flight` (for ever, by its /stats), `deaf` (to SIGTERM),
`worker` (has a child that ignores SIGTERM), `taken once` (its port is taken by another process, at its first start in this folder).
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

FAKE = os.environ.get("FAKE", "")
CHILD = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(3600)"
SQUATTER = (
    "import socket, sys, time; s = socket.create_server(('127.0.0.1', int(sys.argv[1]))); print('there', flush=True); time.sleep(3600)"
)
SETTINGS = {
    "backlog": 128, "keep_alive_s": 75, "max_connections": None, "server_threads": None, "db_acquire_timeout_ms": 60_000,
    "db_statements": "prepared", "upstream_timeout_ms": 70_000, "upstream_max_connections": None, "upstream_idle_s": None,
    "offload": None, "heap_max_mib": None, "gc": None,
}  # fmt: skip
RUNTIME = {
    "runtime": "fake", "runtime_version": None, "framework": None, "framework_version": None, "server": None, "driver": None,
    "driver_version": None, "concurrency_model": None, "handled_by": None, "workers": 1, "pool_size": 150,
    "cancels_on_disconnect": False, "settings": SETTINGS,
}  # fmt: skip

ANSWERED = [0]
ASKED = [0]  # three pinnings more each time that they are asked for


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        status, answer = 200, "ok"
        if self.path == "/readyz" and FAKE == "never ready":
            print("asked whether it is ready", flush=True)
            status = 503
        elif self.path == "/runtime":
            answer = json.dumps(RUNTIME)
        elif self.path == "/stats":
            in_flight = 1 if FAKE == "in flight" else 0
            if in_flight:
                print("asked what is in flight", flush=True)
            answer = json.dumps({"requests_total": ANSWERED[0], "busy_seconds_total": 0.0, "in_flight": in_flight})
        elif self.path == "/pinnings":
            ASKED[0] += 3
            answer = json.dumps({"pinnings_total": ASKED[0]})
        elif self.path == "/pid":
            answer = str(os.getpid())
        elif self.path == "/hello":
            ANSWERED[0] += 1
        body = answer.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the base class's
        """No log."""


def main() -> None:
    port = int(os.environ["PORT"])
    if FAKE == "ends":
        sys.exit("no such setting")
    if FAKE == "worker":
        subprocess.Popen([sys.executable, "-c", CHILD])
    if FAKE == "taken once" and not Path("taken").exists():
        squatter = subprocess.Popen([sys.executable, "-c", SQUATTER, str(port)], stdout=subprocess.PIPE, start_new_session=True)
        assert squatter.stdout is not None
        squatter.stdout.readline()
        Path("taken").write_text(str(squatter.pid))

    def on_term(number: int, frame: object) -> None:
        if FAKE != "deaf":
            os._exit(0)
        print("asked to end", flush=True)

    signal.signal(signal.SIGTERM, on_term)
    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    except OSError as error:
        sys.exit(f"port {port}: {error.strerror}")
    server.daemon_threads = True
    print(f"started at {time.time():.3f}", flush=True)
    server.serve_forever()


main()
