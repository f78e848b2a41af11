"""A network between a relay and its server that cuts, delays, stalls and repeats."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

REPORTS = b"POST /relay/reports"


@dataclass
class Network:
    """Forwards connections to a port. What it does to them can be changed at any time."""

    port: int
    delay: float = 0.0
    """Seconds that everything takes, each way."""
    cut_after: list[int] = field(default_factory=list)
    """After so many bytes of replies each, the next connections are cut; 0 loses the request."""
    repeats: bool = False
    """Whether each batch of reports is delivered again later, on a connection of its own."""
    is_down: bool = False
    """Whether new connections are refused."""
    requests: list[bytes] = field(default_factory=list)
    """The batches that came by."""
    _live: list[tuple[asyncio.StreamWriter, asyncio.StreamWriter]] = field(default_factory=list)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def cut(self) -> None:
        """Cut all connections."""
        for pair in self._live:
            for writer in pair:
                writer.transport.abort()
        self._live.clear()

    def stall(self) -> None:
        """Deliver nothing more on these connections, and don't end them. New ones work."""
        for pair in self._live:
            for writer in pair:
                writer.transport.pause_reading()  # type: ignore[attr-defined]

    async def forward(self, near: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        if self.is_down:
            back.transport.abort()
            return
        reader, there = await asyncio.open_connection("127.0.0.1", self.port)
        pair = (back, there)
        self._live.append(pair)
        limit = self.cut_after.pop(0) if self.cut_after else None
        try:
            await asyncio.gather(self._send(near, there), self._reply(reader, back, limit))
        except (OSError, EOFError):
            pass
        finally:
            for writer in pair:
                writer.transport.abort()
            if pair in self._live:
                self._live.remove(pair)

    async def _send(self, near: asyncio.StreamReader, there: asyncio.StreamWriter) -> None:
        while data := await near.read(1_000_000):
            await asyncio.sleep(self.delay)
            if data.startswith(REPORTS):
                self.requests.append(data)
                if self.repeats:
                    self._start(self._repeat(data))
            there.write(data)
        raise EOFError

    async def _reply(
        self, reader: asyncio.StreamReader, back: asyncio.StreamWriter, limit: int | None
    ) -> None:
        sent = 0
        while data := await reader.read(65_536):
            await asyncio.sleep(self.delay)
            if limit is not None and sent + len(data) > limit:
                back.write(data[: limit - sent])
                await back.drain()
                raise EOFError
            sent += len(data)
            back.write(data)
        raise EOFError

    async def _repeat(self, request: bytes) -> None:
        """What a slow path delivers long after the sender has gone on."""
        await asyncio.sleep(0.1 + 0.05 * (len(self.requests) % 3))
        with suppress(OSError):
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            writer.write(request)
            await reader.read(1000)
            writer.transport.abort()

    def _start(self, work: Coroutine[object, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def settle(self) -> None:
        """Wait until everything that is repeated was delivered."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    async def close(self) -> None:
        self.cut()
        for task in self._tasks:
            task.cancel()
        await asyncio.sleep(0.05)


@asynccontextmanager
async def network(to: int) -> AsyncGenerator[tuple[Network, int]]:
    """A network in front of a port, and the port at its other end."""
    made = Network(to)
    server = await asyncio.start_server(made.forward, "127.0.0.1", 0)
    try:
        yield made, server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await made.close()
