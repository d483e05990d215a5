"""The database of a run: a private server that is removed afterwards, or a server of the user's own. Effects.

Both offer the same: one account per contender, counters, and books that can be put back.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import signal
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self
from urllib.parse import quote, unquote, urlsplit

import psutil
import pymysql
from pymysql.constants import CLIENT

from nsb.measure.database_private import (
    DATA,
    HARNESS_CONNECTIONS,
    DatabaseError,
    Kind,
    Login,
    PrivateServer,
    Say,
    declared,
    fetched,
    find_server,
    installed,
    new_password,
    refuse_old,
    server_settings,
    title,
)
from nsb.registry.load import ConfigurationError
from nsb.registry.services import numbers

__all__ = ["Counters", "DatabaseError", "Server", "find_server", "private_server", "provide", "server_settings", "user_name"]

SCHEMA = "nsb"
"""The schema, where the URL of a server of one's own names none."""

BOOKS = 10_000
"""How many seed.sql makes."""

INNODB_LOOKS_S = 0.12
"""How long innodb_trx shows an old view to whoever reads it again (s, a little more than the server's 0.1)."""

CANNOT_HANG = "only a database that the run has started as this user can be made to hang: leave --database-url out, take --runner native"

RIGHTS = (
    "give the account of the URL these rights and try again: "
    "GRANT ALL ON `{schema}`.* TO … WITH GRANT OPTION; GRANT CREATE USER, PROCESS ON *.* TO …"
)


@dataclass(frozen=True)
class Counters:
    """Server-wide totals since the server's start, from SHOW GLOBAL STATUS, without what this object itself sent.

    Compare two readings, with no user_url() between them. Measured on MariaDB 11.4 and MySQL 9.7:
    - executing a prepared statement: one of `questions`, of `statements_executed` and of `selects` or `inserts`;
    - a text statement: one of `questions` and of `selects` or `inserts`;
    - a login: what the driver sends, often a SET NAMES;
    - preparing, closing or resetting a statement, and a ping: nothing.
    Where MySQL prepares again by itself after a change of the table (reset_books), it counts one more of
    `statements_executed` and `selects`, once per statement and connection. `questions` is never inflated: as many as
    requests are "one execute and nothing else" (C61).
    """

    questions: int
    statements_executed: int
    selects: int
    inserts: int
    connections: int
    """Open now (Threads_connected), without the harness's own."""
    keys_read: int
    """Rows that were looked up by a key (Handler_read_key): one for each book that is read by its id. The harness's own are in it."""


class Private(Protocol):
    """A server of the run alone, and its end."""

    clients: str
    """The address that contenders come from, as an account has it."""

    @property
    def pid(self) -> int | None: ...

    def ready(self) -> Login:
        """Its administrator, once it answers. Raises DatabaseError."""
        ...

    def must_run(self) -> None:
        """Raises DatabaseError where it has ended by itself."""
        ...

    def remove(self) -> None:
        """Stops it and removes its data."""
        ...


# --- a running server -------------------------------------------------------------------------------------------------


class Server:
    """A running server. Made by provide(); close() it, or use it as a context manager."""

    kind: Kind
    version: str
    host: str
    port: int
    pid: int | None
    """The private server's process; None for a server of one's own."""

    def __init__(self, admin: _Admin, schema: str, private: Private | None) -> None:
        version = admin.row("SELECT VERSION()")[0]
        self.kind = "mariadb" if "mariadb" in version.lower() else "mysql"
        self.version = ".".join(str(number) for number in numbers(version)[:3])
        self.host, self.port = admin.login.host, admin.login.port
        self.pid = private.pid if private else None
        self._admin, self._schema, self._private = admin, schema, private
        self._books = f"`{schema}`.`books`"
        # Accounts are by address where the server is ours; elsewhere nobody knows where services come from.
        self._from = private.clients if private else "%"
        self._urls: dict[str, str] = {}
        self._made_schema = self._made_table = False
        self._closed = False

    def user_url(self, name: str) -> str:
        """The URL of that contender's own account, the same one each time. It may read and insert books, nothing else."""
        if name not in self._urls:
            login = self._make_user(name)
            host = f"[{login.host}]" if ":" in login.host else login.host
            # Neither name nor password needs percent-encoding; the schema is the user's own.
            self._urls[name] = f"mysql://{login.user}:{login.password}@{host}:{login.port}/{quote(self._schema, safe='')}"
        return self._urls[name]

    def counters(self) -> Counters:
        """One reading; what the harness itself has sent is already left out."""
        names = ("Questions", "Com_stmt_execute", "Com_select", "Com_insert", "Threads_connected", "Handler_read_key")
        # Own statements are read as one text statement each, SHOW included; the server counts it before it answers.
        status = self._admin.pairs(f"SHOW GLOBAL STATUS WHERE Variable_name IN {names}")
        own = self._admin.sent
        return Counters(
            questions=status["Questions"] - own["questions"],
            statements_executed=status["Com_stmt_execute"],
            selects=status["Com_select"] - own["select"],
            inserts=status["Com_insert"],  # the seeds are an INSERT … SELECT, which counts elsewhere
            connections=status["Threads_connected"] - 1,
            keys_read=status["Handler_read_key"],
        )

    def connections(self, name: str) -> int:
        """How many connections that contender's account has open now."""
        sql = "SELECT COUNT(*) FROM information_schema.processlist WHERE user = %s"
        return int(self._admin.row(sql, user_name(name))[0])

    def client_ports(self, name: str) -> frozenset[int]:
        """The ports of the client's end of that contender's connections."""
        hosts = self._admin.lines("SELECT host FROM information_schema.processlist WHERE user = %s", user_name(name))
        return frozenset(int(port) for port in (host.rpartition(":")[2] for host in hosts) if port.isdecimal())

    def asleep(self, name: str) -> int:
        """How many statements of that contender's account wait in SLEEP() now."""
        sql = "SELECT COUNT(*) FROM information_schema.processlist WHERE user = %s AND state = 'User sleep'"
        return int(self._admin.row(sql, user_name(name))[0])

    def connection_ids(self, name: str) -> frozenset[int]:
        """The CONNECTION_ID() of each of that contender's connections: a connection that is opened again has another one."""
        return frozenset(self._admin.ids("SELECT id FROM information_schema.processlist WHERE user = %s", user_name(name)))

    def open_transactions(self, name: str) -> int:
        """How many of that contender's connections have a transaction open: none of an idle pool with autocommit (C61).

        Takes a little over 0.1 s: InnoDB looks anew only where nobody has read this table for that long (trx0i_s.cc).
        """
        time.sleep(INNODB_LOOKS_S)
        sql = (
            "SELECT COUNT(*) FROM information_schema.innodb_trx AS t "
            "JOIN information_schema.processlist AS p ON p.id = t.trx_mysql_thread_id WHERE p.user = %s"
        )
        return int(self._admin.row(sql, user_name(name))[0])

    def settings(self) -> dict[str, str]:
        """The values in effect of what server.toml sets, read back from the server."""
        variables = self._admin.texts("SHOW GLOBAL VARIABLES")
        return {name: variables[name] for name in server_settings(self.kind, 0) if name in variables}

    def reset_books(self) -> None:
        """Exactly the 10,000 seeds again, the next id 10001; nothing where that is so already.

        TRUNCATE is as fast after a million inserts as after none, but prepared statements notice: MySQL prepares each
        again at its next execution and counts that (see Counters). So it is left out where no book was inserted.
        """
        # Services may only insert, and each insert, even one rolled back, moves the next id: it tells.
        made = str(self._admin.row(f"SHOW CREATE TABLE {self._books}")[1])
        count = int(self._admin.row(f"SELECT COUNT(*) FROM {self._books}")[0])
        if count != BOOKS or f" AUTO_INCREMENT={BOOKS + 1} " not in made:
            self._fill()

    def inserted(self) -> int:
        """Rows of books beyond those that reset_books() leaves. Raises DatabaseError."""
        return int(self._admin.row(f"SELECT COUNT(*) FROM {self._books} WHERE id > {BOOKS}")[0])

    @property
    def private(self) -> bool:
        """Whether it is the run's own."""
        return self._private is not None

    def clock_s(self) -> float:
        """What time it is on the server's machine (s since the epoch)."""
        return float(self._admin.row("SELECT UNIX_TIMESTAMP(NOW(6))")[0])

    @property
    def can_hang(self) -> bool:
        """Whether it is the run's own, and its process may get a signal: that of a container belongs to a user of the image."""
        if self.pid is None:
            return False
        try:
            os.kill(self.pid, 0)
        except PermissionError:
            return False
        return True

    def freeze(self) -> None:
        """It hangs from now on: connections stay open and nothing is answered. Only where it can hang."""
        self._signal(signal.SIGSTOP)

    @property
    def stopped(self) -> bool:
        """Whether it hangs by now: a signal waits until one of its threads runs."""
        with contextlib.suppress(psutil.NoSuchProcess):
            return psutil.Process(self.pid).status() == psutil.STATUS_STOPPED
        return False

    def thaw(self) -> None:
        """It goes on."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        assert self.pid is not None
        os.kill(self.pid, number)

    def must_answer(self) -> None:
        """Raises DatabaseError where the server has ended, with its last words, or does not answer."""
        if self._private:
            self._private.must_run()
        self._admin.row("SELECT 1")

    def close(self) -> None:
        """Removes what was made: the private server and its folder, or the accounts on a server of one's own. Once."""
        if self._closed:
            return
        self._closed = True
        try:
            if not self._private:
                self._clean_up()
        finally:
            self._admin.close()
            if self._private:
                self._private.remove()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _clean_up(self) -> None:
        for name in self._urls:
            self._admin.run(f"DROP USER IF EXISTS {self._account(name)}")
        if self._made_schema:
            self._admin.run(f"DROP DATABASE IF EXISTS `{self._schema}`")
        elif self._made_table:
            self._admin.run(f"DROP TABLE IF EXISTS {self._books}")

    def _fill(self) -> None:
        self._admin.run(f"TRUNCATE TABLE {self._books}")
        self._admin.run((DATA / "seed.sql").read_text(encoding="utf-8"))
        self._admin.hold(self._books)

    def _make_user(self, name: str) -> Login:
        login = Login(self.host, self.port, user_name(name), new_password())
        account = self._account(name)
        how = "WITH caching_sha2_password BY" if self.kind == "mysql" else "BY"
        self._admin.run(f"DROP USER IF EXISTS {account}")  # of a run that was killed
        self._admin.run(f"CREATE USER {account} IDENTIFIED {how} '{login.password}'")
        # On the table, not the schema: there `_` would be a wildcard, or not, by a setting of the server.
        self._admin.run(f"GRANT SELECT, INSERT ON {self._books} TO {account}")
        # The first login proves the account, and leaves its hash in the server's cache: without that, the first
        # connection of each pool would pay an RSA exchange (caching_sha2_password without TLS).
        self._connect(login).close()
        return login

    def _account(self, name: str) -> str:
        return f"`{user_name(name)}`@`{self._from}`"

    def _connect(self, login: Login) -> pymysql.Connection[Any]:
        try:
            return login.connect(self._schema)
        except pymysql.MySQLError as error:
            raise DatabaseError(
                f"the account {login.user}, made a moment ago, cannot log in ({_words(error)}): "
                "look for another account of that name, or an anonymous one, that the server prefers"
            ) from error

    # What provide() does once, in this order.

    def _prepare(self) -> None:
        schemas = "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = %s"
        if not self._admin.row(schemas, self._schema)[0]:
            self._admin.run(f"CREATE DATABASE `{self._schema}` CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
            self._made_schema = True
        self._admin.use(self._schema)
        schema_sql = (DATA / "schema.sql").read_text(encoding="utf-8")
        found = "SELECT table_comment FROM information_schema.tables WHERE table_schema = %s AND table_name = 'books'"
        comment = self._admin.maybe_row(found, self._schema)
        if comment is None:
            self._admin.run(schema_sql)
            self._made_table = True
        elif f"'{comment[0]}'" not in schema_sql:
            raise DatabaseError(f"the schema {self._schema} has a table books of somebody else's: name another schema in the URL")
        self._fill()

    def _check_own(self, max_connections: int) -> None:
        """Is a server of one's own set as the plan needs it, and does its account have the rights it needs?"""
        refuse_old(self.kind, self.version, f"{self.host}:{self.port}")
        variables = self._admin.texts("SHOW GLOBAL VARIABLES")
        for setting in declared(self.kind, max_connections):
            wanted = setting.own_value or setting.value
            if not setting.own or wanted is None:
                continue
            actual = variables.get(setting.name, "0")
            if (setting.own == "least" and int(actual) < int(wanted)) or (setting.own == "equal" and actual != wanted):
                raise DatabaseError(
                    f"{setting.name} is {actual} on {self.host}:{self.port} and must be "
                    f"{'at least ' if setting.own == 'least' else ''}{wanted}: SET GLOBAL {setting.name} = {wanted}"
                )
        # Rights are tried, not read: roles and partial revokes make grants a poor witness.
        with contextlib.closing(self._connect(self._make_user("check"))):
            seen = self.connections("check")
        self._admin.run(f"DROP USER {self._account('check')}")
        if seen != 1:
            raise DatabaseError(f"the account of the URL does not see other accounts' connections: {self._rights}")

    @property
    def _rights(self) -> str:
        return RIGHTS.format(schema=self._schema)


def user_name(name: str) -> str:
    """A contender's account: nsb_java_vt. MySQL takes 32 characters; a longer one ends with a hash of the whole."""
    user = "nsb_" + name.replace("-", "_")
    return user if len(user) <= 32 else f"{user[:23]}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"


# --- the harness's own connection -------------------------------------------------------------------------------------


_HOLD = "HANDLER {table} OPEN AS held"


class _Admin:
    """One connection, opened again when it was lost; counts what it sends, so that counters can leave it out."""

    def __init__(self, login: Login, rights: str) -> None:
        self.login = login
        self.sent = {"questions": 0, "select": 0}
        self._rights = rights
        self._schema: str | None = None
        self._held: str | None = None
        self._lock = threading.Lock()
        self._connection = login.connect()

    def run(self, sql: str, *parameters: object) -> None:
        self._send(sql, parameters)

    def row(self, sql: str, *parameters: object) -> tuple[Any, ...]:
        return self._send(sql, parameters)[0]

    def maybe_row(self, sql: str, *parameters: object) -> tuple[Any, ...] | None:
        rows = self._send(sql, parameters)
        return rows[0] if rows else None

    def texts(self, sql: str) -> dict[str, str]:
        return {str(name): str(value) for name, value in self._send(sql, ())}

    def pairs(self, sql: str) -> dict[str, int]:
        return {str(name): int(value) for name, value in self._send(sql, ())}

    def lines(self, sql: str, *parameters: object) -> list[str]:
        """The first column of every row."""
        return [str(row[0]) for row in self._send(sql, parameters)]

    def ids(self, sql: str, *parameters: object) -> list[int]:
        return [int(row[0]) for row in self._send(sql, parameters)]

    def use(self, schema: str) -> None:
        self._schema = schema
        with self._lock:
            self._connection.select_db(schema)  # COM_INIT_DB: no question

    def hold(self, table: str) -> None:
        """Keeps a table open until this connection truncates or drops it, so that its metadata lock always exists.

        MariaDB deletes that lock whenever no statement uses the table. Threads that come meanwhile spin until it is deleted: for whole
        time slices, where they share a core with the thread that deletes. A read cost the server 23 to 164 µs so, and 24 to 52 without.
        """
        self._held = table
        self.run(_HOLD.format(table=table))

    @property
    def tls_offered(self) -> bool:
        capabilities: int = self._connection.server_capabilities  # type: ignore[attr-defined]  # its stubs forget it
        return bool(capabilities & CLIENT.SSL)

    def close(self) -> None:
        with contextlib.suppress(pymysql.MySQLError):
            self._connection.close()

    def _send(self, sql: str, parameters: tuple[object, ...]) -> tuple[tuple[Any, ...], ...]:
        with self._lock:
            try:
                return self._once(sql, parameters)
            except (pymysql.InterfaceError, pymysql.OperationalError) as error:
                if error.args and error.args[0] not in (0, 2006, 2013, 4031):  # gone, lost, idle for too long
                    raise self._explained(error) from error
            except pymysql.MySQLError as error:
                raise self._explained(error) from error
            try:
                self._connection = self.login.connect(self._schema)
                if self._held:
                    self._once(_HOLD.format(table=self._held), ())
                return self._once(sql, parameters)
            except pymysql.MySQLError as error:
                raise self._explained(error) from error

    def _once(self, sql: str, parameters: tuple[object, ...]) -> tuple[tuple[Any, ...], ...]:
        with self._connection.cursor() as cursor:
            self.sent["questions"] += 1
            verb = re.sub(r"--.*\n", "", sql).split(maxsplit=1)[0].lower()
            if verb in self.sent:
                self.sent[verb] += 1
            cursor.execute(sql, parameters or None)
            return tuple(cursor.fetchall())

    def _explained(self, error: pymysql.MySQLError) -> DatabaseError:
        code = error.args[0] if error.args else None
        remedy = f"is the database at {self.login.host}:{self.login.port} still running?"
        if code in (1044, 1045, 1142, 1227, 1370, 1410):
            remedy = self._rights
        elif code in (3, 28, 1021, 1114):  # it could not write, or a table is full
            remedy = "make room on the disk of its data"
        return DatabaseError(f"the database refused ({_words(error)}): {remedy}")


def _words(error: BaseException) -> str:
    """A driver's error as text: 'Access denied for …' instead of the pair of number and text."""
    return str(error.args[-1]) if error.args else type(error).__name__


# --- providing one ----------------------------------------------------------------------------------------------------


def provide(url: str | None, folder: Path, cache: Path, max_connections: int, say: Say) -> Server:
    """A server with the 10,000 books, for a plan of that many connections.

    url: the administrator's URL of a server of one's own; None: a private one below `folder`, of which only
    database.log stays, made by the first of `mysqld` or `mariadbd` on PATH, else by the pinned binaries in `cache`.
    Raises DatabaseError with a sentence that says what to do.
    """
    server = _own(url, max_connections, say) if url else _private(folder, cache, max_connections, say)
    say(f"database: {title(server.kind)} {server.version} at {server.host}:{server.port}")
    return server


def _own(url: str, max_connections: int, say: Say) -> Server:
    login, schema = parsed(url)
    where = f"{login.host}:{login.port}"
    try:
        admin = _Admin(login, RIGHTS.format(schema=schema))
    except pymysql.MySQLError as error:
        raise DatabaseError(
            f"no login as {login.user} at {where} ({_words(error)}): is the server running, and are user and password right?"
        ) from error
    server = Server(admin, schema, None)
    try:
        # Two runs on one server would empty each other's books and change each other's accounts.
        if admin.row("SELECT GET_LOCK(%s, 0)", f"nsb.{schema}")[0] != 1:
            raise DatabaseError(f"another run uses the schema {schema} at {where}: wait for it, or name another schema")
        server._prepare()
        server._check_own(max_connections)
    except BaseException:
        with contextlib.suppress(DatabaseError):
            server.close()
        raise
    if admin.tls_offered:
        say(f"doubt: {where} offers TLS, which some drivers use and others do not")
    return server


def parsed(url: str) -> tuple[Login, str]:
    """The administrator's login, and the schema. Raises ConfigurationError, which does not quote the URL: it has a password."""
    wanted = "--database-url: must look like mysql://user:password@host:port/database"
    try:
        parts = urlsplit(url)
        port = parts.port or 3306
    except ValueError as error:
        raise ConfigurationError([f"{wanted} ({_words(error)})"]) from None
    schema = unquote(parts.path.removeprefix("/")) or SCHEMA
    if parts.scheme not in ("mysql", "mariadb") or not parts.hostname or not parts.username:
        raise ConfigurationError([wanted])
    if parts.query or parts.fragment or "/" in schema or "`" in schema:
        raise ConfigurationError([f"{wanted}, and nothing behind the database"])
    return Login(parts.hostname, port, unquote(parts.username), unquote(parts.password or "")), schema


def _private(folder: Path, cache: Path, max_connections: int, say: Say) -> Server:
    binary = installed() or fetched(cache, say)
    say(f"starting {title(binary.kind)} {binary.version} ({binary.path})")
    private = PrivateServer(binary, folder, max_connections)
    return private_server(private, max_connections)


def private_server(private: Private, max_connections: int) -> Server:
    """A server of the run's own with the 10,000 books, removed where it does not come to that. Raises DatabaseError."""
    try:
        server = Server(_Admin(private.ready(), ""), SCHEMA, private)
        server._prepare()
        needed = max_connections + HARNESS_CONNECTIONS
        granted = int(server.settings()["max_connections"])
        if granted < needed:  # a server that may not open the files for them takes fewer, and says so in its log alone
            raise DatabaseError(
                f"the database can hold {granted} connections of {needed}: raise the limit of open files (ulimit -n 20000) and try again"
            )
    except BaseException:
        private.remove()
        raise
    return server
