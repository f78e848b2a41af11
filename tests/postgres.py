"""A PostgreSQL server for tests, which never waits for the disk."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psycopg

from callboard.events.rows import KEYS

_SHARED = "shared"
_DISCONNECT = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
)
_OTHERS = ("tokens", "server_state", "owners")
_EMPTY = [
    *(f"DELETE FROM {table}" for table in (*KEYS, "events", "streams", *_OTHERS)),
    "UPDATE log SET seq = 0, incarnation = 1",
]
_FAST = ("fsync=off", "full_page_writes=off", "shared_buffers=32MB", "max_connections=300")
_PATIENCE = 30.0


def _program(name: str) -> str:
    """Debian keeps all but the clients in a folder for each version."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda at: int(at.parts[-2]))
    for folder in reversed(folders):
        if (folder / name).exists():
            return str(folder / name)
    found = shutil.which(name)
    assert found is not None, f"{name} is not installed; run: make system"
    return found


# The server refuses to run as root.
_USER = "postgres" if os.getuid() == 0 else None


class PostgresServer:
    """One server, and databases in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.port = _free_port()
        self._count = 0
        self._has_shared = False
        self._process: subprocess.Popen[bytes] | None = None
        if _USER is not None:
            shutil.chown(folder, _USER)
        command = [_program("initdb"), "-D", str(self.data), "--no-sync", "-A", "trust"]
        options = ["-U", "postgres", "--encoding=UTF8", "--locale=C.UTF-8"]
        subprocess.run(
            [*command, *options], check=True, stdout=subprocess.DEVNULL, user=_USER, cwd=folder
        )

    def url(self, database: str, user: str = "postgres") -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def start(self, settings: Sequence[str] = _FAST) -> None:
        command = [_program("postgres"), "-D", str(self.data), "-p", str(self.port)]
        where = [f"unix_socket_directories={self.folder}", "listen_addresses=127.0.0.1"]
        options = [part for one in (*where, *settings) for part in ("-c", one)]
        with (self.folder / "log").open("ab") as said:
            self._process = subprocess.Popen(
                [*command, *options], stdin=subprocess.DEVNULL, stdout=said, stderr=said, user=_USER
            )
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                self.execute("SELECT 1")
            except psycopg.OperationalError:
                assert time.monotonic() < deadline, (self.folder / "log").read_text()
                time.sleep(0.02)
            else:
                return

    def stop(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """SIGQUIT: at once, as after a crash. SIGINT: after disconnecting everyone."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(_PATIENCE)
            self._process = None

    def execute(self, sql: str, database: str = "postgres") -> list[tuple[object, ...]]:
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            cursor = connection.execute(sql.encode())
            return cursor.fetchall() if cursor.description else []

    def emptied(self) -> str:
        """The address of a database with our tables and nothing in them, always the same."""
        # Imported here, because tests of the other logs need none of this.
        from callboard.log.postgres.log import PostgresLog

        if not self._has_shared:
            self.execute(f"CREATE DATABASE {_SHARED}")
            PostgresLog.open(self.url(_SHARED))
            self._has_shared = True
        # A new database for each test would take half a second.
        self.execute("; ".join([_DISCONNECT, *_EMPTY]), _SHARED)
        return self.url(_SHARED)

    def create(self) -> str:
        """Make an empty database; returns its address."""
        self._count += 1
        self.execute(f"CREATE DATABASE test_{self._count} TEMPLATE template0")
        return self.url(f"test_{self._count}")


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextmanager
def running_server(settings: Sequence[str] = _FAST) -> Generator[PostgresServer]:
    """A server in a folder of its own, which its user can enter."""
    folder = Path(tempfile.mkdtemp(prefix="callboard-postgres-"))
    try:
        server = PostgresServer(folder)
        server.start(settings)
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
