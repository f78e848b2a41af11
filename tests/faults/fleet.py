"""Servers and workers on one PostgreSQL database, and everything that can go wrong with them."""

import asyncio
import os
import random
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx
from tests.postgres import PostgresServer
from tests.servers import READY_WITHIN, TOKEN, Server

FLOWS = Path(__file__).with_name("soak_flows.py")


class Worker:
    """`callboard worker` on one database, which can be killed and started again."""

    def __init__(self, url: str, log: Path) -> None:
        self.process: Process | None = None
        self._url = url
        self._log = log

    async def start(self) -> None:
        with self._log.open("ab") as said:
            self.process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "callboard", "worker", FLOWS, "--json", "--grace=1"),
                env={**os.environ, "CALLBOARD_DB": self._url},
                stdout=PIPE,
                stderr=said,
            )
        assert self.process.stdout is not None
        async with asyncio.timeout(READY_WITHIN):
            line = await self.process.stdout.readline()
        assert line, f"the worker did not start:\n{self._log.read_text()[-4000:]}"

    async def restart(self) -> None:
        await self.start()

    async def stop(self, how: signal.Signals) -> int:
        assert self.process is not None
        with suppress(ProcessLookupError):
            self.process.send_signal(how)
        async with asyncio.timeout(READY_WITHIN):
            return await self.process.wait()


class AnyServer(httpx.AsyncBaseTransport):
    """Sends each request to one of several servers, at random."""

    def __init__(self, servers: list[Server], chance: random.Random) -> None:
        self._servers = servers
        self._chance = chance
        self._transport = httpx.AsyncHTTPTransport(retries=0)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        server = self._chance.choice(self._servers)
        request.url = request.url.copy_with(port=server.port)
        return await self._transport.handle_async_request(request)

    async def aclose(self) -> None:
        await self._transport.aclose()


class Fleet:
    """All processes of one database, and what is being done to them."""

    def __init__(self, database: PostgresServer, folder: Path, chance: random.Random) -> None:
        self.database = database
        self.url = database.create()
        self.chance = chance
        self.faults: list[str] = []
        env = {"XDG_DATA_HOME": str(folder)}
        options = [f"--db={self.url}", "--driver=procrastinate", "--grace=1"]
        self.servers = [Server(folder / "not.db", [str(FLOWS)], options, env) for _ in range(3)]
        self.workers = [Worker(self.url, folder / f"worker-{number}") for number in range(4)]
        self._struck: set[int] = set()
        self._healing: set[asyncio.Task[None]] = set()

    def client(self) -> httpx.AsyncClient:
        """A client of all servers; what one of them doesn't answer soon is asked again."""
        headers = {"Authorization": f"Bearer {TOKEN}"}
        transport = AnyServer(self.servers, self.chance)
        url = "http://127.0.0.1"
        return httpx.AsyncClient(base_url=url, headers=headers, timeout=20, transport=transport)

    async def start(self) -> None:
        await self.servers[0].start()  # The first one makes the tables.
        others = [*self.servers[1:], *self.workers]
        await asyncio.gather(*(one.start() for one in others))

    async def strike_for(self, seconds: float) -> None:
        """Kill, freeze and restart, at random, one after the other and at the same time."""
        end = asyncio.get_running_loop().time() + seconds
        while asyncio.get_running_loop().time() < end:
            for task in [task for task in self._healing if task.done()]:
                self._healing.discard(task)
                task.result()
            self._check_that_others_live()
            self._strike()
            await asyncio.sleep(self.chance.uniform(0.3, 4))

    async def heal(self) -> None:
        """Wait until everything that was struck is back."""
        await asyncio.gather(*self._healing)
        self._healing.clear()

    def _check_that_others_live(self) -> None:
        """No process may end by itself, whatever happens around it."""
        for one in (*self.servers, *self.workers):
            if id(one) not in self._struck:
                assert one.process is not None
                assert one.process.returncode is None, vars(one)

    def _strike(self) -> None:
        if self.chance.random() < 0.15:
            if id(self.database) not in self._struck:
                self._begin(self.database, self._restart_database())
            return
        free = [one for one in (*self.servers, *self.workers) if id(one) not in self._struck]
        if free:
            one = self.chance.choice(free)
            how = self.chance.choice([self._kill, self._kill, self._freeze, self._stop])
            self._begin(one, how(one))

    def _begin(self, one: object, fault: Coroutine[None, None, None]) -> None:
        async def struck() -> None:
            try:
                await fault
            finally:
                self._struck.discard(id(one))

        self._struck.add(id(one))
        self._healing.add(asyncio.create_task(struck()))

    async def _kill(self, one: Server | Worker) -> None:
        self.faults.append("kill")
        await one.stop(signal.SIGKILL)
        await self._bring_back(one)

    async def _stop(self, one: Server | Worker) -> None:
        """In order, as a deployment does."""
        self.faults.append("stop")
        await one.stop(signal.SIGTERM)
        await self._bring_back(one)

    async def _bring_back(self, one: Server | Worker) -> None:
        await asyncio.sleep(self.chance.uniform(0, 2))
        while True:
            try:
                await one.restart()
            except (AssertionError, TimeoutError):  # Without a database nothing starts.
                await asyncio.sleep(0.5)
            else:
                return

    async def _freeze(self, one: Server | Worker) -> None:
        """Sometimes for longer than it takes until others consider it frozen."""
        assert one.process is not None
        self.faults.append("freeze")
        one.process.send_signal(signal.SIGSTOP)
        await asyncio.sleep(self.chance.choice([0.5, 2, 5, 18]))
        one.process.send_signal(signal.SIGCONT)

    async def _restart_database(self) -> None:
        how = self.chance.choice([signal.SIGINT, signal.SIGQUIT])
        self.faults.append(f"database {how.name}")
        await asyncio.to_thread(self.database.stop, how)
        await asyncio.sleep(self.chance.choice([0, 1, 4]))
        await asyncio.to_thread(self.database.start)

    async def end(self) -> None:
        for task in self._healing:
            task.cancel()
        await asyncio.gather(*self._healing, return_exceptions=True)
        for one in (*self.servers, *self.workers):
            if one.process is not None and one.process.returncode is None:
                one.process.kill()
                await one.process.wait()


@asynccontextmanager
async def fleet_of(
    database: PostgresServer, folder: Path, chance: random.Random
) -> AsyncGenerator[Fleet]:
    """Three servers and four workers, which are gone at the end."""
    fleet = Fleet(database, folder, chance)
    try:
        await fleet.start()
        yield fleet
    except BaseException:
        for server in fleet.servers:
            print(f"-- server at {server.port}", *server.log[-400:], sep="\n")
        raise
    finally:
        await fleet.end()
