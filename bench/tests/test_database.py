"""The private database for real, and a server of one's own, played by the private one."""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pymysql
import pytest

from nsb.measure import database_private
from nsb.measure.database import Counters, DatabaseError, Server, find_server, provide, server_settings, user_name
from nsb.registry.load import ConfigurationError

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("database")]  # one server for all
CACHE = Path(__file__).parents[2] / ".tools" / "database"


def silent(_: str) -> None:
    pass


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with provide(None, tmp_path_factory.mktemp("server"), CACHE, 30, silent) as running:
        yield running


@contextlib.contextmanager
def login(url: str) -> Iterator[pymysql.cursors.Cursor]:
    parts = urlsplit(url)
    connection = pymysql.connect(
        host=parts.hostname,
        port=parts.port or 0,
        user=parts.username,
        password=unquote(parts.password or ""),
        database=parts.path[1:] or None,
        autocommit=True,
    )
    with contextlib.closing(connection), connection.cursor() as cursor:
        yield cursor


def rows(url: str, sql: str) -> list[Any]:
    with login(url) as cursor:
        cursor.execute(sql)
        return list(cursor.fetchall())


def admin_url(server: Server, schema: str) -> str:
    admin = server._admin.login
    return f"mysql://{admin.user}:{admin.password}@{admin.host}:{admin.port}/{schema}"


def wait_for(condition: Callable[[], bool], deadline_s: float = 10.0) -> bool:
    until = time.monotonic() + deadline_s
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.02)
    return False


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def runs(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    return False


# --- a private server -------------------------------------------------------------------------------------------------


def test_a_contenders_account_reads_and_inserts_books_and_nothing_else(server: Server) -> None:
    url = server.user_url("java-vt")
    assert url == server.user_url("java-vt")
    assert urlsplit(url).username == "nsb_java_vt"
    with login(url) as cursor:
        cursor.execute("SELECT id, name FROM books WHERE id IN (1, 10000) ORDER BY id")
        assert cursor.fetchall() == ((1, "Book 1"), (10000, "Book 10000"))
        cursor.execute("INSERT INTO books (name) VALUES (%s)", ("한국어 😀",))
        assert cursor.lastrowid == 10001
        cursor.execute("SELECT name FROM books WHERE name = '한국어 😀'")
        assert cursor.fetchall() == (("한국어 😀",),)
        for forbidden in ("DELETE FROM books", "DROP TABLE books", "SELECT * FROM mysql.user"):
            with pytest.raises(pymysql.MySQLError, match="denied"):
                cursor.execute(forbidden)


def test_every_contender_has_an_account_of_its_own(server: Server) -> None:
    assert server.user_url("go") != server.user_url("rust")
    twin, plant = (user_name(f"java-webflux-jdbc-offloaded-{what}") for what in ("twin", "plant-cpu50"))
    assert twin != plant
    assert max(len(twin), len(plant)) <= 32


def test_accounts_authenticate_as_the_server_does_by_default(server: Server) -> None:
    server.user_url("go")
    plugins = dict(rows(admin_url(server, "mysql"), "SELECT user, plugin FROM user"))
    assert plugins["nsb_go"] == {"mysql": "caching_sha2_password", "mariadb": "mysql_native_password"}[server.kind]
    assert "root" not in plugins  # nobody gets in without a password
    assert "" not in plugins


def test_a_connection_that_leaves_a_transaction_open_is_seen(server: Server) -> None:
    with login(server.user_url("lingers")) as cursor:
        cursor.execute("SELECT name FROM books WHERE id = 1")
        assert wait_for(lambda: server.open_transactions("lingers") == 0)
        cursor.execute("SET autocommit = 0")
        cursor.execute("SELECT name FROM books WHERE id = 1")
        assert wait_for(lambda: server.open_transactions("lingers") == 1)  # the server's view of it is up to 0.1 s old
        assert server.open_transactions("go") == 0


def test_counters_show_what_others_sent_and_not_what_the_harness_did(server: Server) -> None:
    with login(server.user_url("go")) as cursor:
        before = server.counters()
        assert server.counters() == before
        cursor.execute("SELECT name FROM books WHERE id = 7")
        cursor.execute("SELECT SLEEP(0)")
        cursor.execute("INSERT INTO books (name) VALUES ('x')")
        server.connections("go")
        server.reset_books()
        server.must_answer()
        after = server.counters()
    assert after.keys_read > before.keys_read  # the book; the harness's own are in it
    sent = {"questions": before.questions + 3, "selects": before.selects + 2, "inserts": before.inserts + 1}
    assert after == replace(before, **sent, keys_read=after.keys_read)


def test_counters_tell_prepared_statements_from_text(server: Server) -> None:
    with login(server.user_url("go")) as cursor:
        before = server.counters()
        cursor.execute("PREPARE s FROM 'SELECT NOW(6)'")
        for _ in range(3):
            cursor.execute("EXECUTE s")
        after = server.counters()
    assert after.selects - before.selects == 3
    assert after.questions - before.questions == 4  # SQL's own PREPARE is a text statement; drivers send COM_STMT_PREPARE


def test_connections_are_counted_per_contender(server: Server) -> None:
    url, other = server.user_url("node"), server.user_url("rust")
    assert server.connections("node") == 0
    before = server.counters().connections
    with login(url), login(url), login(other):
        assert (server.connections("node"), server.connections("rust")) == (2, 1)
        assert server.counters().connections == before + 3
    assert wait_for(lambda: server.connections("node") == 0)


def test_the_metadata_lock_of_books_always_exists(server: Server) -> None:
    def held() -> bool:
        with login(admin_url(server, "nsb")) as cursor:
            cursor.execute("SET lock_wait_timeout = 1")
            try:
                cursor.execute("LOCK TABLES books WRITE")
            except pymysql.OperationalError as error:
                return bool(error.args[0] == 1205)
            return False

    assert held()
    with login(admin_url(server, "nsb")) as cursor:
        cursor.execute("SELECT id FROM information_schema.processlist WHERE user = 'root' AND id <> CONNECTION_ID()")
        for (own,) in cursor.fetchall():
            cursor.execute(f"KILL {own}")
    server.must_answer()
    assert held()
    server.reset_books()
    assert held()


def test_resetting_brings_back_the_seeds_and_the_next_id(server: Server) -> None:
    server.reset_books()  # other tests of this worker may have added some
    url = server.user_url("go")
    with login(url) as cursor:
        cursor.execute("INSERT INTO books (name) SELECT name FROM books")
        assert cursor.rowcount == 10_000
        server.reset_books()
        cursor.execute("SELECT COUNT(*), MIN(id), MAX(id), SUM(name = CONCAT('Book ', id)) FROM books")
        assert cursor.fetchall() == ((10000, 1, 10000, 10000),)
        cursor.execute("INSERT INTO books (name) VALUES ('next')")
        assert cursor.lastrowid == 10001
        server.reset_books()
        server.reset_books()  # nothing to do, so statements stay prepared
        cursor.execute("INSERT INTO books (name) VALUES ('next')")
        assert cursor.lastrowid == 10001


def test_the_server_is_set_as_the_file_says(server: Server) -> None:
    effective = server.settings()
    declared = server_settings(server.kind, 30)
    assert effective["max_connections"] == declared["max_connections"] == "40"
    different = {
        name: (value, effective[name])
        for name, value in declared.items()
        if name in effective and value is not None and effective[name] != value
    }
    assert different == {}
    assert not server._admin.tls_offered


def test_nobody_but_this_machine_can_connect(server: Server) -> None:
    listening = rows(admin_url(server, "mysql"), "SELECT @@bind_address, @@port")
    assert listening == [("127.0.0.1", server.port)]


def test_a_lost_connection_is_opened_again(server: Server) -> None:
    (mine,) = server._admin.row("SELECT CONNECTION_ID()")
    with login(admin_url(server, "nsb")) as cursor:
        cursor.execute(f"KILL {mine}")
    server.must_answer()
    server.reset_books()


def test_closing_leaves_nothing_but_the_log(tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 20) / "run"  # too long for a socket's path
    said: list[str] = []
    server = provide(None, folder, CACHE, 10, said.append)
    assert server.pid is not None
    assert runs(server.pid)
    server.must_answer()
    sockets = server._admin.row("SELECT @@socket")[0]
    assert len(sockets) < 100
    server.close()
    server.close()
    assert not runs(server.pid)
    assert not listens(server.port)
    assert [file.name for file in folder.iterdir()] == ["database.log"]
    assert not Path(sockets).parent.exists()
    with pytest.raises(DatabaseError):
        server.must_answer()
    assert said[-1].startswith("database: ")


def test_a_killed_harness_takes_its_server_along_and_the_run_can_be_resumed(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys; from pathlib import Path; from nsb.measure.database import provide\n"
        "server = provide(None, Path(sys.argv[1]), Path(sys.argv[2]), 10, lambda _: None)\n"
        "print(server.pid, flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    killed = subprocess.run([sys.executable, "-c", program, tmp_path, CACHE], capture_output=True, text=True, env=environment, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    pid = int(killed.stdout)
    assert wait_for(lambda: not runs(pid))
    provide(None, tmp_path, CACHE, 10, silent).close()


def test_one_folder_holds_one_running_database(tmp_path: Path) -> None:
    with (
        provide(None, tmp_path, CACHE, 10, silent) as first,
        pytest.raises(DatabaseError, match=f"process {first.pid}"),
    ):
        provide(None, tmp_path, CACHE, 10, silent)


# --- a program that does not work -------------------------------------------------------------------------------------


def fake_mysqld(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = folder / "mysqld"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)


def test_a_server_that_does_not_start_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = '[ "$1" = --version ] && echo "mysqld  Ver 9.7.4 for Linux" || { echo "no space left" >&2; exit 3; }'
    fake_mysqld(tmp_path, script, monkeypatch)
    assert find_server(tmp_path) == f"MySQL 9.7.4 ({tmp_path}/mysqld)"
    with pytest.raises(DatabaseError, match=r"(?s)could not initialise its data \(exit 3\).*no space left"):
        provide(None, tmp_path / "run", tmp_path, 10, silent)
    assert [file.name for file in (tmp_path / "run").iterdir()] == ["database.log"]


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ('echo "mysqld  Ver 5.7.44 for Linux"', "is MySQL 5.7.44: install 8.0 or newer"),
        ('echo "mysqld  Ver 10.5.9-MariaDB for debian"', "is MariaDB 10.5.9: install 10.6 or newer"),
        ("echo hello", "names no version"),
        ("exit 127", "does not run"),
    ],
)
def test_a_server_that_cannot_be_used_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, words: str) -> None:
    fake_mysqld(tmp_path, script, monkeypatch)
    with pytest.raises(DatabaseError, match=words):
        find_server(tmp_path)


# --- the pinned binaries ----------------------------------------------------------------------------------------------


@pytest.fixture
def pinned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> database_private.Source:
    """A pin of a jar in a folder that plays Maven Central; its server can say its version and nothing else."""
    source = replace(database_private.Source.read(), repository=(tmp_path / "central").as_uri())
    jar = tmp_path / "central" / source.path
    jar.parent.mkdir(parents=True)
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr(f"{source.folder}/bin/mariadbd", "#!/bin/sh\necho Ver 11.4.5-MariaDB\n")
        archive.writestr(f"{source.folder}/share/english/errmsg.sys", "errors")
        archive.writestr(f"{source.folder}/share/mariadb_system_tables.sql", "tables")
        archive.writestr(f"{source.folder}/share/groonga/README.md", "not wanted")
        archive.writestr(f"{source.folder}/../../outside", "not wanted")
    source = replace(source, size=jar.stat().st_size, sha256=hashlib.sha256(jar.read_bytes()).hexdigest())
    monkeypatch.setattr(database_private, "_source_that_fits", lambda: source)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return source


def test_the_pinned_server_is_fetched_once(pinned: database_private.Source, tmp_path: Path) -> None:
    cache, said = tmp_path / "cache", list[str]()
    stale = cache / ".partial-999999999-x"
    stale.mkdir(parents=True)
    binary = database_private.fetched(cache, said.append)
    assert (binary.kind, binary.version) == ("mariadb", "11.4.5")
    unpacked = pinned.unpacked(cache)
    assert list(cache.iterdir()) == [unpacked]
    assert sorted(str(file.relative_to(unpacked)) for file in unpacked.rglob("*") if file.is_file()) == [
        "bin/mariadbd",
        "share/english/errmsg.sys",
        "share/mariadb_system_tables.sql",
    ]
    assert said
    (tmp_path / "central" / pinned.path).unlink()
    assert database_private.fetched(cache, said.append) == binary


def test_a_cut_download_is_an_error_and_is_not_used_again(pinned: database_private.Source, tmp_path: Path) -> None:
    jar = tmp_path / "central" / pinned.path
    whole = jar.read_bytes()
    jar.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DatabaseError, match=r"is not what source.toml pins.*mvn dependency:get"):
        database_private.fetched(tmp_path / "cache", silent)
    assert list((tmp_path / "cache").iterdir()) == []
    jar.write_bytes(whole)
    assert database_private.fetched(tmp_path / "cache", silent).version == "11.4.5"


def test_an_interrupted_download_leaves_nothing(pinned: database_private.Source, tmp_path: Path) -> None:
    def interrupt(_: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        database_private.fetched(tmp_path / "cache", interrupt)
    assert list((tmp_path / "cache").iterdir()) == []
    assert database_private.fetched(tmp_path / "cache", silent).version == "11.4.5"


def test_what_maven_fetched_already_is_used(pinned: database_private.Source, tmp_path: Path) -> None:
    local = tmp_path / "home" / ".m2" / "repository" / pinned.path
    local.parent.mkdir(parents=True)
    (tmp_path / "central" / pinned.path).rename(local)
    assert database_private.fetched(tmp_path / "cache", silent).version == "11.4.5"


def test_no_network_is_an_error_with_a_remedy(pinned: database_private.Source, tmp_path: Path) -> None:
    (tmp_path / "central" / pinned.path).unlink()
    with pytest.raises(DatabaseError, match=r"could not be fetched.*install MySQL or MariaDB"):
        database_private.fetched(tmp_path / "cache", silent)


# --- a server of one's own --------------------------------------------------------------------------------------------


def own(url: str, tmp_path: Path, connections: int = 10) -> Server:
    return provide(url, tmp_path, tmp_path, connections, silent)


def test_a_server_of_ones_own_is_left_as_it_was_found(server: Server, tmp_path: Path) -> None:
    accounts, schemas = "SELECT user, host FROM user ORDER BY user, host", "SHOW SCHEMAS"
    root = admin_url(server, "mysql")
    before = rows(root, accounts), rows(root, schemas)
    with own(admin_url(server, "made%20here"), tmp_path) as mine:
        assert mine.pid is None
        assert (mine.can_hang, server.can_hang) == (False, True)
        assert (mine.kind, mine.version, mine.port) == (server.kind, server.version, server.port)
        with login(mine.user_url("own-go").replace("%20", " ")) as cursor:
            cursor.execute("SELECT COUNT(*) FROM books")
            assert cursor.fetchall() == ((10000,),)
            assert mine.connections("own-go") == 1
        assert isinstance(mine.counters(), Counters)
        assert (rows(root, accounts), rows(root, schemas)) != before
    assert (rows(root, accounts), rows(root, schemas)) == before
    server.must_answer()


def test_books_of_an_earlier_run_are_used_again_and_stay(server: Server, tmp_path: Path) -> None:
    server._admin.run("CREATE DATABASE earlier")
    url = admin_url(server, "earlier")
    with login(url) as cursor:
        cursor.execute((database_private.DATA / "schema.sql").read_text())
        cursor.execute("INSERT INTO books (name) VALUES ('left behind')")
    own(url, tmp_path).close()
    assert rows(url, "SELECT COUNT(*) FROM books") == [(10000,)]


def test_a_table_of_somebody_else_is_not_touched(server: Server, tmp_path: Path) -> None:
    server._admin.run("CREATE DATABASE shop")
    url = admin_url(server, "shop")
    with login(url) as cursor:
        cursor.execute("CREATE TABLE books (isbn INT)")
        cursor.execute("INSERT INTO books VALUES (42)")
    with pytest.raises(DatabaseError, match="somebody else's: name another schema"):
        own(url, tmp_path)
    assert rows(url, "SELECT * FROM books") == [(42,)]


def test_two_runs_do_not_share_a_schema(server: Server, tmp_path: Path) -> None:
    url = admin_url(server, "shared")
    with own(url, tmp_path):
        with pytest.raises(DatabaseError, match="another run uses the schema shared"):
            own(url, tmp_path)
        assert rows(url, "SELECT COUNT(*) FROM books") == [(10000,)]
    own(url, tmp_path).close()


def test_a_plan_too_large_for_a_server_of_ones_own_is_refused(server: Server, tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match=r"max_connections is 40 .* at least 110: SET GLOBAL max_connections = 110"):
        own(admin_url(server, "small"), tmp_path, 100)
    assert ("small",) not in rows(admin_url(server, "mysql"), "SHOW SCHEMAS")


@pytest.mark.parametrize(
    "granted",
    [
        ["SELECT ON nsb.*"],
        ["ALL ON poor.*"],
        ["ALL ON poor.*", "CREATE USER ON *.*", "PROCESS ON *.*"],  # may not grant
        ["CREATE USER ON *.*", "PROCESS ON *.*"],
        ["ALL ON poor.* +", "PROCESS ON *.*"],
        ["ALL ON poor.* +", "CREATE USER ON *.*"],
    ],
)
def test_missing_rights_are_named(server: Server, tmp_path: Path, granted: list[str]) -> None:
    server._admin.run("CREATE USER poor@'127.0.0.1' IDENTIFIED BY 'Secret-1'")
    try:
        for right in granted:
            to, grant_option = right.removesuffix(" +"), " WITH GRANT OPTION" if right.endswith(" +") else ""
            server._admin.run(f"GRANT {to} TO poor@'127.0.0.1'{grant_option}")
        with pytest.raises(DatabaseError, match=r"GRANT ALL ON `poor`.*GRANT CREATE USER, PROCESS") as refused:
            own(f"mysql://poor:Secret-1@127.0.0.1:{server.port}/poor", tmp_path)
        assert "Secret-1" not in str(refused.value)
    finally:
        server._admin.run("DROP USER poor@'127.0.0.1'")
        server._admin.run("DROP DATABASE IF EXISTS poor")


def test_enough_rights_are_enough(server: Server, tmp_path: Path) -> None:
    server._admin.run("CREATE USER bench@'127.0.0.1' IDENTIFIED BY 'p@ss/w:rd 1'")
    server._admin.run("GRANT ALL ON enough.* TO bench@'127.0.0.1' WITH GRANT OPTION")
    server._admin.run("GRANT CREATE USER, PROCESS ON *.* TO bench@'127.0.0.1'")
    with own(f"mysql://bench:p%40ss%2Fw%3Ard%201@127.0.0.1:{server.port}/enough", tmp_path) as mine:
        mine.user_url("own-go")
        mine.reset_books()


@pytest.mark.parametrize(
    "url",
    [
        "postgres://user:hidden@127.0.0.1/nsb",
        "mysql://127.0.0.1:3306/nsb",
        "mysql://user:hidden@127.0.0.1:99999/nsb",
        "mysql://user:hidden@127.0.0.1:abc/nsb",
        "mysql://user:hidden@/nsb",
        "mysql://user:hidden@127.0.0.1/nsb?ssl=1",
        "mysql://user:hidden@127.0.0.1/a/b",
        "nonsense",
    ],
)
def test_a_url_that_is_none_is_refused_without_showing_it(url: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"^--database-url: must look like mysql://user:password@host:port/database") as refused:
        own(url, tmp_path)
    assert "hidden" not in str(refused.value)


def test_an_unreachable_server_and_a_wrong_password_are_told_apart(server: Server, tmp_path: Path) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # bound, not listening: refused for certain
        with pytest.raises(DatabaseError, match=r"no login as root at .*refused.*is the server running"):
            own(f"mysql://root:hidden@127.0.0.1:{nobody.getsockname()[1]}/nsb", tmp_path)
    with pytest.raises(DatabaseError, match=r"no login as root at .*Access denied") as refused:
        own(f"mysql://root:hidden@127.0.0.1:{server.port}/nsb", tmp_path)
    assert "hidden" not in str(refused.value)
