"""A docker command whose containers are processes: what the runner asks of the real one, answered from the folder FAKE_DOCKER.

Every call is a line of calls.jsonl there. FAKE_DOCKER_SAYS: `no engine`, `no compose`, `no start`, `slow start` (the container is there a
second after the command has ended), `oom`, `no file` (to be copied). For tests only; it imports nothing of the project.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

FOLDER = Path(os.environ["FAKE_DOCKER"])
SAYS = os.environ.get("FAKE_DOCKER_SAYS", "")
INFO = {
    "ServerVersion": "27.5.1", "OSType": "linux", "OperatingSystem": "Debian", "KernelVersion": os.uname().release,
    "CgroupVersion": "2", "SecurityOptions": ["name=seccomp,profile=builtin"],
}  # fmt: skip


def shim(name: str, command: list[str]) -> None:
    """Stays beside the process and notes how it ended."""
    with (FOLDER / f"{name}.log").open("ab") as log:
        started = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    told(f"{name}.json", json.dumps({"pid": started.pid, "at": datetime.now(UTC).isoformat()}))
    code = started.wait()
    told(f"{name}.exit", str(code if code >= 0 else 128 - code))


def told(file: str, what: str) -> None:
    """Whole or not at all: others read it as soon as it is there."""
    unfinished = FOLDER / f"{file}.new"
    unfinished.write_text(what)
    unfinished.rename(FOLDER / file)


def state(name: str) -> dict[str, object]:
    file = FOLDER / f"{name}.json"
    if not file.exists():
        sys.exit(f"Error: No such container: {name}")
    seen = json.loads(file.read_text())
    ended = (FOLDER / f"{name}.exit").exists()
    paused = (FOLDER / f"{name}.paused").exists()
    return {
        "Running": not ended, "Paused": paused, "Pid": 0 if ended else seen["pid"], "StartedAt": seen["at"], "OOMKilled": SAYS == "oom",
    }  # fmt: skip


def signalled(name: str, number: int) -> None:
    pid = state(name)["Pid"]
    if not isinstance(pid, int) or not pid:
        sys.exit(f"Error response from daemon: Container {name} is not running")
    os.kill(pid, number)


def run(arguments: list[str]) -> None:
    if SAYS == "no start":
        sys.exit("Error response from daemon: no space left on device")
    config = json.loads(Path(arguments[arguments.index("-f") + 1]).read_text())
    name, service = arguments[arguments.index("--name") + 1], arguments[-1]
    command = [sys.executable, __file__, "shim", name, *config["services"][service]["command"]]
    if SAYS == "slow start":
        command = ["sh", "-c", 'sleep 1; exec "$@"', "sh", *command]
    none = subprocess.DEVNULL  # whoever waits for this command's output must not wait for the container
    subprocess.Popen(command, start_new_session=True, stdin=none, stdout=none, stderr=none)
    if SAYS == "slow start":
        return
    while not (FOLDER / f"{name}.json").exists():
        time.sleep(0.005)
    print(name)


def main(arguments: list[str]) -> None:
    if arguments[0] == "shim":
        shim(arguments[1], arguments[2:])
        return
    with (FOLDER / "calls.jsonl").open("a") as calls:
        calls.write(json.dumps(arguments) + "\n")
    verb, name = arguments[0], arguments[-1]
    if SAYS == "no engine" and verb == "info":
        print(json.dumps({"ServerErrors": ["Cannot connect to the Docker daemon at unix:///var/run/docker.sock"]}))
    elif verb == "info":
        print(json.dumps(INFO))
    elif verb == "compose" and "version" in arguments:
        if SAYS == "no compose":
            sys.exit("docker: 'compose' is not a docker command.")
        print(json.dumps({"version": "v2.33.0"}))
    elif verb == "compose" and "run" in arguments:
        run(arguments)
    elif verb == "compose" and "build" in arguments:
        print("#5 [build 1/2] FROM golang\n#6 [build 2/2] RUN go build\n#6 ERROR: exit code: 1")
        sys.exit(17)
    elif verb == "inspect":
        print(json.dumps(state(name)))
    elif verb == "wait":
        while not (FOLDER / f"{name}.exit").exists():
            time.sleep(0.01)
        print((FOLDER / f"{name}.exit").read_text())
    elif verb == "logs":
        print("\n".join((FOLDER / f"{name}.log").read_text().splitlines()[-int(arguments[2]) :]))
    elif verb == "kill":
        signalled(name, int(arguments[2]))
    elif verb == "pause":
        signalled(name, signal.SIGSTOP)
        (FOLDER / f"{name}.paused").touch()
    elif verb == "unpause":
        (FOLDER / f"{name}.paused").unlink()
        signalled(name, signal.SIGCONT)
    elif verb == "ps":
        project = arguments[arguments.index("--filter") + 1].rpartition("=")[2]
        print("\n".join(file.stem for file in FOLDER.glob(f"{project}-*.json")))
    elif verb == "image":
        file = FOLDER / f"{name}.image"
        if not file.exists():
            sys.exit(f"Error: No such image: {name}")
        if arguments[1] == "rm" and file.read_text():
            sys.exit(f"Error response from daemon: conflict: unable to remove repository reference {name}: {file.read_text()}")
        if arguments[1] == "rm":
            file.unlink()
        else:
            print(json.dumps([{"Id": f"sha256:{name}", "Config": {}}]))
    elif verb == "create":
        (FOLDER / f"{arguments[2]}.created").write_text(name)
    elif verb == "cp" and SAYS == "no file":
        sys.exit(f"Error response from daemon: Could not find the file {arguments[1].partition(':')[2]} in container")
    elif verb == "cp":
        container, _, file = arguments[1].partition(":")
        Path(name).write_text(f"{file} of {(FOLDER / f'{container}.created').read_text()}")
    elif verb == "rm" and (FOLDER / f"{name}.created").exists():
        (FOLDER / f"{name}.created").unlink()
    elif verb == "rm":
        for each in arguments[3:]:
            pid = state(each)["Pid"]
            if isinstance(pid, int) and pid:
                os.kill(pid, signal.SIGKILL)
            (FOLDER / f"{each}.json").unlink()


if __name__ == "__main__":
    main(sys.argv[1:])
