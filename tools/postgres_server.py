"""A PostgreSQL server of one's own, made of the machine's programs."""

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


class NotRunning(RuntimeError):
    """The server doesn't start."""


def find_program(name: str) -> str | None:
    """Where a program is: Debian keeps all but the clients in a folder for each version."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda at: int(at.parts[-2]))
    for folder in reversed(folders):
        if (folder / name).exists():
            return str(folder / name)
    return shutil.which(name) or shutil.which(name, path="/usr/sbin")


def _program(name: str) -> str:
    found = find_program(name)
    assert found is not None, f"{name} is not installed; run: make system"
    return found


def free_port() -> int:
    """A port that was free a moment ago."""
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

    def __init__(
        self,
        folder: Path,
        primary: "PostgresServer | None" = None,
        password: str | None = None,
    ) -> None:
        """Make the server's data: empty, or a copy of a primary that it then follows.

        password: the superuser's. Every login then needs one; otherwise, none does. Data that is
        there already is used as it is.
        """
        self.folder = folder
        self.data = folder / "data"
        self.port = free_port()
        self._count = 0
        self._password = password
        self._process: subprocess.Popen[bytes] | None = None
        if _USER is not None:
            shutil.chown(folder, _USER)
        if self.data.exists():
            return
        if primary is None:
            self._initialize()
        else:
            where = ["-h", "127.0.0.1", "-p", str(primary.port), "-U", "postgres"]
            options = ["--write-recovery-conf", "--checkpoint=fast", "--no-sync"]
            _run(folder, "pg_basebackup", "-D", str(self.data), *where, *options)

    def _initialize(self) -> None:
        """Make empty data; an interrupted attempt leaves none."""
        new = self.folder / "new"
        shutil.rmtree(new, ignore_errors=True)
        command = ["initdb", "-D", str(new), "-U", "postgres", "--encoding=UTF8"]
        options = ["--locale=C.UTF-8", "--no-sync"]
        if self._password is None:
            _run(self.folder, *command, *options, "-A", "trust")
        else:
            # In a file, because everyone can read command lines.
            file = self.folder / "password"
            file.unlink(missing_ok=True)
            file.touch(0o600)
            file.write_text(self._password)
            if _USER is not None:
                shutil.chown(file, _USER)
            _run(self.folder, *command, *options, "-A", "scram-sha-256", f"--pwfile={file}")
            file.unlink()
        new.rename(self.data)

    def url(self, database: str, user: str = "postgres") -> str:
        """The address of a database."""
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    @property
    def log(self) -> Path:
        """What the server says."""
        return self.folder / "log"

    def exit_code(self) -> int | None:
        """How its process ended; None while it runs."""
        return None if self._process is None else self._process.poll()

    def start(self, settings: Sequence[str] = FAST, *, detached: bool = False) -> None:
        """Start, and wait until it can be used.

        detached: Ctrl-C in this terminal doesn't reach it.
        """
        command = [_program("postgres"), "-D", str(self.data), "-p", str(self.port)]
        where = [f"unix_socket_directories={self.folder}", "listen_addresses=127.0.0.1"]
        options = [part for one in (*where, *settings) for part in ("-c", one)]
        with self.log.open("ab") as said:
            self._process = subprocess.Popen(
                [*command, *options],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                user=_USER,
                start_new_session=detached,
            )
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                self.execute("SELECT 1")
            except psycopg.OperationalError as error:
                if self.exit_code() is not None or time.monotonic() > deadline:
                    raise NotRunning(self.log.read_text()[-2000:]) from error
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
        with psycopg.connect(
            self.url(database), autocommit=True, password=self._password
        ) as connection:
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
