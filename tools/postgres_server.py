"""A PostgreSQL server of one's own, made of the machine's programs: for tests and benchmarks."""

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
from typing import TypeVar

import psycopg

Server = TypeVar("Server", bound="PostgresServer")

FAST = ("fsync=off", "full_page_writes=off", "shared_buffers=32MB", "max_connections=300")
"""Never waits for the disk: what is acknowledged survives the server, but not the machine."""

_PATIENCE = 60.0
# The server refuses to run as root.
_USER = "postgres" if os.getuid() == 0 else None


def _program(name: str) -> str:
    """Debian keeps all but the clients in a folder for each version."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda at: int(at.parts[-2]))
    for folder in reversed(folders):
        if (folder / name).exists():
            return str(folder / name)
    found = shutil.which(name)
    assert found is not None, f"{name} is not installed; run: make system"
    return found


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def _run(folder: Path, *command: str) -> None:
    program, *words = command
    subprocess.run(
        [_program(program), *words], check=True, stdout=subprocess.DEVNULL, user=_USER, cwd=folder
    )


class PostgresServer:
    """One server in a folder of its own, and databases in it."""

    def __init__(self, folder: Path, primary: "PostgresServer | None" = None) -> None:
        """Make the server's data: empty, or a copy of a primary that it then follows."""
        self.folder = folder
        self.data = folder / "data"
        self.port = _free_port()
        self._count = 0
        self._process: subprocess.Popen[bytes] | None = None
        if _USER is not None:
            shutil.chown(folder, _USER)
        if primary is None:
            options = ["-U", "postgres", "--encoding=UTF8", "--locale=C.UTF-8"]
            _run(folder, "initdb", "-D", str(self.data), "--no-sync", "-A", "trust", *options)
        else:
            where = ["-h", "127.0.0.1", "-p", str(primary.port), "-U", "postgres"]
            options = ["--write-recovery-conf", "--checkpoint=fast", "--no-sync"]
            _run(folder, "pg_basebackup", "-D", str(self.data), *where, *options)

    def url(self, database: str, user: str = "postgres") -> str:
        """The address of a database."""
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def start(self, settings: Sequence[str] = FAST) -> None:
        """Start, and wait until it can be used."""
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
        """Execute statements as the superuser; returns the rows of the first."""
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            cursor = connection.execute(sql.encode())
            return cursor.fetchall() if cursor.description else []

    def create(self) -> str:
        """Make an empty database; returns its address."""
        self._count += 1
        self.execute(f"CREATE DATABASE test_{self._count} TEMPLATE template0")
        return self.url(f"test_{self._count}")


@contextmanager
def running_server(
    kind: type[Server],
    settings: Sequence[str] = FAST,
    primary: PostgresServer | None = None,
    where: Path | None = None,
) -> Generator[Server]:
    """A server in a new folder, `where` its user can enter it; gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="callboard-postgres-", dir=where))
    try:
        server = kind(folder, primary)
        server.start(settings)
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
