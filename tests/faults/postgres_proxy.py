"""A proxy before a PostgreSQL server, for connections that break and processes that freeze."""

import asyncio


class CuttingProxy:
    """Forwards connections to a server, and cuts or stops one when it writes events."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.cut: str | None = None
        """before: what was sent is lost; half: half of it; after: only the reply is lost; stop: it
        is sent up to the statement that writes, and nothing more."""
        self.cuts = 0
        self.stopped = asyncio.Event()
        self.flows = asyncio.Event()
        """Nothing is forwarded while this is cleared, and no connection ends."""
        self.flows.set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> int:
        self._server = await asyncio.start_server(self._forward, "127.0.0.1", 0)
        return self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _forward(self, near_in: asyncio.StreamReader, near_out: asyncio.StreamWriter) -> None:
        far_in, far_out = await asyncio.open_connection("127.0.0.1", self.port)
        silent = asyncio.Event()
        there = asyncio.ensure_future(self._send(near_in, far_out, silent))
        back = asyncio.ensure_future(self._reply(far_in, near_out, silent))
        self._tasks |= {there, back}
        await asyncio.wait({there, back}, return_when=asyncio.FIRST_COMPLETED)
        near_out.transport.abort()
        far_out.transport.abort()

    async def _send(
        self, near: asyncio.StreamReader, far: asyncio.StreamWriter, silent: asyncio.Event
    ) -> None:
        while data := await near.read(1_000_000):
            await self.flows.wait()
            if self.cut is not None and b"write_events" in data:
                how, self.cut = self.cut, None
                self.cuts += 1
                if how == "before":
                    return
                if how == "stop":
                    far.write(data[: data.index(b"write_events")])
                    self.stopped.set()
                    await asyncio.Event().wait()
                if how == "half":
                    far.write(data[: len(data) // 2])
                    await far.drain()
                    await asyncio.sleep(0.005)
                    return
                silent.set()
            far.write(data)

    async def _reply(
        self, far: asyncio.StreamReader, near: asyncio.StreamWriter, silent: asyncio.Event
    ) -> None:
        while data := await far.read(1_000_000):
            await self.flows.wait()
            if silent.is_set():
                return
            near.write(data)
