"""A host that is gone without a word: PostgreSQL soon ends its connections, and so its locks."""

import asyncio
import os
import subprocess
import sys
import time
from asyncio.subprocess import PIPE
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import pytest
from tests.faults.conftest import CHILD
from tests.faults.log_process import counting
from tests.faults.processes import heard, kill
from tests.postgres import PostgresServer, running_server
from tests.sites import HAS_NAMESPACES
from tools.postgres_server import FAST

from callboard.clock import SystemClock
from callboard.errors import SessionOwned
from callboard.log.postgres import setup
from callboard.log.postgres.connections import WRITER, PostgresAddress, connect
from callboard.log.postgres.log import PostgresLog
from callboard.log.postgres.setup import set_up
from callboard.log.protocol import Writing
from callboard.testing.log_suite_material import several
from callboard.testing.log_suite_owners import until

SERVER, HOST = "10.78.1.1", "10.78.1.2"
SHOWN = """
SELECT name, setting, unit FROM pg_settings
WHERE name LIKE 'tcp\\_keepalives\\_%' OR name = 'tcp_user_timeout' ORDER BY name
"""
SOON = [
    ("tcp_keepalives_count", "3", None),
    ("tcp_keepalives_idle", "1", "s"),
    ("tcp_keepalives_interval", "1", "s"),
    ("tcp_user_timeout", "5000", "ms"),
]


@pytest.mark.parametrize("purpose", ["callboard", WRITER])
async def test_the_server_looks_after_connections(postgres_url: str, purpose: str):
    link = await connect(PostgresAddress.parse(postgres_url, 30.0), purpose)
    try:
        assert await (await link.execute(SHOWN)).fetchall() == SOON
    finally:
        await link.close()


def test_the_server_looks_after_a_connection_that_migrates(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
):
    found: list[object] = []
    prepare = setup._prepare

    def prepared(database: setup.Database, place: str, now_ms: int) -> None:
        found.extend(database.execute(SHOWN).fetchall())
        prepare(database, place, now_ms)

    monkeypatch.setattr(setup, "_prepare", prepared)
    set_up(PostgresAddress.parse(postgres.create(), 30.0), SystemClock())
    assert found == SOON


@dataclass
class Cable:
    """Between this machine and a namespace, which is another host."""

    name: str

    def inside(self) -> list[str]:
        """What comes before a command that runs on the other host."""
        return ["ip", "netns", "exec", self.name]

    def pull(self) -> None:
        run(f"ip link set {self.name} down")


def run(command: str) -> None:
    subprocess.run(command.split(), check=True)


@contextmanager
def cable() -> Generator[Cable]:
    made = Cable(f"cb{os.getpid()}")
    name = made.name
    with ExitStack() as stack:
        run(f"ip netns add {name}")
        stack.callback(run, f"ip netns del {name}")
        run(f"ip link add {name} type veth peer name out netns {name}")
        stack.callback(run, f"ip link del {name}")
        run(f"ip addr add {SERVER}/30 dev {name}")
        run(f"ip link set {name} up")
        run(f"ip netns exec {name} ip addr add {HOST}/30 dev out")
        run(f"ip netns exec {name} ip link set out up")
        yield made


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    """A server that other hosts reach."""
    with running_server(settings=(*FAST, "listen_addresses=*")) as server:
        with (server.data / "pg_hba.conf").open("a") as rules:
            rules.write(f"host all all {HOST}/32 trust\n")
        server.execute("SELECT pg_reload_conf()")
        yield server


async def claimed(log: PostgresLog) -> float:
    """Claim until it works; returns how many seconds that took."""
    began = time.monotonic()
    async with asyncio.timeout(90):
        while True:
            try:
                await log.append("owned", [], Writing(claim=True))
            except SessionOwned:
                await asyncio.sleep(0.05)
            else:
                return time.monotonic() - began


@pytest.mark.long
@pytest.mark.skipif(not HAS_NAMESPACES, reason="only root on Linux has network namespaces")
@pytest.mark.parametrize("is_busy", [False, True])
async def test_a_host_that_is_cut_off_is_replaced_after_it_stopped_its_agents(
    server: PostgresServer, is_busy: bool
):
    url, log = server.create(), None
    with cable() as host:
        there = url.replace("127.0.0.1", SERVER)
        owner = await asyncio.create_subprocess_exec(
            *host.inside(), sys.executable, CHILD, "be_cut_off", there, "x", stdin=PIPE, stdout=PIPE
        )
        try:
            assert await heard(owner) == "driving"
            log = PostgresLog.open(url, counting)
            await log.lease("owned")
            host.pull()
            # The server sends notifications, which no one acknowledges.
            busy = asyncio.create_task(keep_busy(log)) if is_busy else None
            stopping = asyncio.create_task(heard(owner))
            took = await claimed(log)
            print(f"replaced after {took:.1f} s")
            # It runs on, and must not do what its successor does.
            assert stopping.done()
            assert took < 14
            if busy is not None:
                busy.cancel()
            await until(lambda: not left(server))
        finally:
            await kill(owner)
            if log is not None:
                await log.close()


async def keep_busy(log: PostgresLog) -> None:
    while True:
        await log.append("busy", several(1))
        await asyncio.sleep(0.01)


def left(server: PostgresServer) -> list[tuple[object, ...]]:
    """The connections from the other host."""
    return server.execute(f"SELECT 1 FROM pg_stat_activity WHERE client_addr = '{HOST}'")
