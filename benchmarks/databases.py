"""PostgreSQL for benchmarks: a server of its own, with the settings that PostgreSQL comes with.

And Temporal's dev server, for the drivers that need one.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from common import ROOT, data_folder
from serving import FLOWS, Process, serve

sys.path.insert(0, str(ROOT))

from tools.postgres_server import PostgresServer, running_server
from tools.temporal_server import running_temporal

# More connections than by default, because several sides have several processes; fsync is on.
SETTINGS = ("max_connections=400",)


@contextmanager
def postgres() -> Iterator[PostgresServer]:
    """A server that is gone afterwards."""
    with running_server(PostgresServer, SETTINGS, None, data_folder()) as server:
        yield server


def pids(server: PostgresServer) -> list[int]:
    """The server's processes that run now."""
    postmaster = int((server.data / "postmaster.pid").read_text().split()[0])
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    return [postmaster, *map(int, children)]


@contextmanager
def temporal_of_our_own(folder: Path, driver: str) -> Iterator[None]:
    """Temporal, where servers and workers find it that are started meanwhile and need it."""
    if not driver.startswith("temporal"):
        yield
        return
    with running_temporal(folder) as server:
        os.environ["TEMPORAL_ADDRESS"] = server.address
        yield


def version(server: PostgresServer) -> str:
    """Which PostgreSQL it is, and that it waits for the disk."""
    ((number,),) = server.execute("SHOW server_version")
    ((fsync,),) = server.execute("SHOW fsync")
    return f"PostgreSQL {str(number).split()[0]}, fsync {fsync}, otherwise as it is installed"


def serve_on(folder: Path, url: str, *options: str) -> Process:
    """`callboard serve` on a database of the server."""
    os.environ["XDG_DATA_HOME"] = str(folder)  # What it keeps beside the database goes with it.
    return serve(folder, f"--db={url}", *options)


def work_on(folder: Path, url: str, *options: str, flows: Path = FLOWS) -> Process:
    """`callboard worker` on a database of the server."""
    command = [sys.executable, "-m", "callboard", "worker", str(flows), f"--db={url}", "--json"]
    return Process([*command, *options], folder / "worker.log")
