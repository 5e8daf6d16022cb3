"""A PostgreSQL server for the tests: the machine's own, else the one in the wheel ``pgserver``, in a folder of its own.

It is started when a test first asks for it, listens to nothing but a socket in its folder, and goes with the process.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import psycopg

from memory.stores.postgresql.connection import PostgresConnection
from memory.stores.postgresql.schema import migrate

_TEMPLATE = "made"
_NOBODY = "nobody"
"""Whom the server runs as where the tests run as root, which it refuses."""
_PLAIN = "plain"
"""Whom tests connect as: the owner of their databases, whom row-level security holds. A superuser passes it by."""
_QUICK = ("fsync=off", "full_page_writes=off", "autovacuum=off", "max_connections=60")


def programs() -> Path | None:
    """The folder of a server's programs; None where there is none on this machine."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else []
    for pattern in (
        "/usr/lib/postgresql/*/bin",
        "/opt/homebrew/opt/postgresql@*/bin",
        "/usr/local/opt/postgresql@*/bin",
    ):
        folders += sorted(Path("/").glob(pattern.removeprefix("/")), reverse=True)
    wheel = find_spec("pgserver")
    if wheel is not None and wheel.origin is not None:
        folders.append(Path(wheel.origin).parent / "pginstall" / "bin")
    return next((folder for folder in folders if (folder / "initdb").exists() and (folder / "postgres").exists()), None)


def said() -> str:
    """Which one the tests use, for the head of the run."""
    folder = programs()
    if folder is None:
        return "postgresql: none on this machine, tests that need one are left out (pip install pgserver)"
    version = subprocess.run([folder / "postgres", "--version"], capture_output=True, text=True, check=True)
    return f"{version.stdout.strip()} in {folder}"


# Faster than to make a database for each test, and to drop it: one statement, planned
# by a connection that stays.
_FILLED = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename NOT IN ('meta', 'migrations')"
# The key of keyed hashes is another one each time.
_BEGUN_ANEW = """
WITH _ AS (DELETE FROM meta WHERE name != 'key')
UPDATE meta SET value = decode(md5(random()::text) || md5(random()::text), 'hex') WHERE name = 'key'
"""
_COUNTED_ANEW = (
    "SELECT setval(format('%I', sequencename)::regclass, 1, false) FROM pg_sequences WHERE schemaname = 'public'"
)


class TestServer:
    """A running server."""

    __test__ = False

    def __init__(self, programs: Path) -> None:
        self._programs = programs
        self.user = _NOBODY if os.name == "posix" and os.geteuid() == 0 else None
        self.folder = Path(tempfile.mkdtemp(prefix="pg-"))
        if self.user:
            shutil.chown(self.folder, self.user)
        data = self.folder / "data"
        self._run("initdb", "-D", data, "-U", "palimpsest", "--auth=trust", "-E", "UTF8", "--locale=C", "-N")
        self._run("pg_ctl", "-D", data, "-l", self.folder / "log", "-w", "-o", self._options(), "start")
        atexit.register(self.stop)
        self._made_so_far = 0
        self._free: list[str] = []
        self._taken: dict[str, str] = {}
        self._cleaners: dict[str, psycopg.Connection[tuple[object, ...]]] = {}
        self._admin = psycopg.connect(self.url("postgres", "palimpsest"), autocommit=True)
        self._admin.execute(f"CREATE ROLE {_PLAIN} LOGIN")
        self._admin.execute(f"CREATE DATABASE {_TEMPLATE} OWNER {_PLAIN}")
        connection = PostgresConnection(self.url(_TEMPLATE))
        migrate(connection)
        connection.close()

    def url(self, database: str, user: str = _PLAIN) -> str:
        """How a database is reached, by its owner, or by the superuser ``palimpsest``."""
        return f"postgresql://{user}@/{database}?host={self.folder}"

    def database(self, of: object) -> str:
        """The URL of a database that belongs to something: one that was emptied, or a new one."""
        key = str(of)
        if key not in self._taken:
            self._taken[key] = self._free.pop() if self._free else self._made()
        return self.url(self._taken[key])

    def empty_database(self) -> str:
        """The URL of a database in which there is not even a table."""
        self._made_so_far += 1
        name = f"empty{self._made_so_far}"
        self._admin.execute(f"CREATE DATABASE {name} OWNER {_PLAIN}".encode())
        return self.url(name)

    def _made(self) -> str:
        self._made_so_far += 1
        name = f"t{self._made_so_far}"
        self._admin.execute(f"CREATE DATABASE {name} OWNER {_PLAIN} TEMPLATE {_TEMPLATE}".encode())
        return name

    def give_back(self) -> None:
        """Empty the databases that were taken, so that they can be taken again."""
        for name in self._taken.values():
            try:
                self._empty(name)
            except psycopg.OperationalError:  # a test has cut off all that were connected
                del self._cleaners[name]
                self._empty(name)
            self._free.append(name)
        self._taken.clear()

    def _empty(self, name: str) -> None:
        if name not in self._cleaners:
            url = self.url(name, "palimpsest")
            options = "-c session_replication_role=replica"
            self._cleaners[name] = psycopg.connect(url, autocommit=True, options=options)
        cleaner = self._cleaners[name]
        ends = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND pid != %s"
        self._admin.execute(ends, (name, cleaner.info.backend_pid))
        tables = [table for (table,) in cleaner.execute(_FILLED)]
        deletes = ", ".join(f'_{number} AS (DELETE FROM "{table}")' for number, table in enumerate(tables))
        cleaner.execute(f"WITH {deletes} SELECT".encode(), prepare=True)
        cleaner.execute(_BEGUN_ANEW, prepare=True)
        cleaner.execute(_COUNTED_ANEW, prepare=True)

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """For the block, no process of the server runs: what it is asked is received, and not answered."""
        postmaster = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
        told = subprocess.run(["pgrep", "-P", str(postmaster)], capture_output=True, text=True, check=True).stdout
        processes = [postmaster, *map(int, told.split())]
        for process in processes:
            os.kill(process, signal.SIGSTOP)
        try:
            yield
        finally:
            for process in processes:
                os.kill(process, signal.SIGCONT)

    def pause(self) -> None:
        """Stop the server; what is connected is cut off."""
        self._admin.close()
        self._run("pg_ctl", "-D", self.folder / "data", "-w", "-m", "immediate", "stop")

    def resume(self) -> None:
        """Start it again."""
        self._run("pg_ctl", "-D", self.folder / "data", "-l", self.folder / "log", "-w", "-o", self._options(), "start")
        self._admin = psycopg.connect(self.url("postgres", "palimpsest"), autocommit=True)

    def stop(self) -> None:
        """Stop it for good."""
        self._admin.close()
        for cleaner in self._cleaners.values():
            cleaner.close()
        self._run("pg_ctl", "-D", self.folder / "data", "-m", "immediate", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)

    def _options(self) -> str:
        settings = ("listen_addresses=", f"unix_socket_directories={self.folder}", *_QUICK)
        return " ".join(f"-c {each}" for each in settings)

    def _run(self, program: str, *arguments: object) -> None:
        # Into a file and not a pipe: the server that pg_ctl leaves behind would hold the pipe open.
        with (self.folder / f"{program}.out").open("ab") as out:
            subprocess.run(
                [self._programs / program, *map(str, arguments)],
                check=True, stdin=subprocess.DEVNULL, stdout=out, stderr=out, user=self.user, cwd=self.folder,
            )  # fmt: skip


@cache
def server() -> TestServer | None:
    """The server of this process; None where there is none on this machine."""
    folder = programs()
    return TestServer(folder) if folder is not None else None
