"""A server from start to stop: bound, recovered, listening, its event loop watched, shut down."""

import asyncio
import contextlib
import gc
import signal
import socket
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from callboard.errors import CallboardError
from callboard.server.connection import Connection
from callboard.server.service import Service
from callboard.server.settings import ServerSettings
from callboard.waiting import wait_any

_EVERY: Final = 0.05
"""Seconds between two looks while there is little to do."""
_CLOSELY: Final = 0.005
"""And while there is: so much of what else was done counts with the longest stretch."""
_LITTLE: Final = 0.001
_HERE: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}
"""A server that listens everywhere is reached here."""
_CLOSE_LOOKS: Final = 100
"""How many close looks follow one that found the loop at work."""


class LoopWatch:
    """Looks at regular intervals; gives each the seconds that the loop has computed since."""

    def __init__(self, observe: Callable[[float], None]) -> None:
        self._observe = observe
        self._timer: asyncio.TimerHandle | None = None
        self._before = 0.0
        self._close = 0

    def start(self) -> None:
        """Start, in the thread of the loop."""
        self._before = time.thread_time()
        self._arm()

    def stop(self) -> None:
        """Look no more."""
        if self._timer is not None:
            self._timer.cancel()

    def _arm(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(
            _CLOSELY if self._close else _EVERY, self._look
        )

    def _look(self) -> None:
        before, self._before = self._before, time.thread_time()
        busy = self._before - before
        self._observe(busy)
        self._close = _CLOSE_LOOKS if busy > _LITTLE else max(0, self._close - 1)
        self._arm()


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server can be reached."""

    host: str
    port: int

    @property
    def url(self) -> str:
        """The address for programs."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    @property
    def page(self) -> str:
        """The address for people, whose cookie no other program on this machine shares."""
        loopback = self.host in ("127.0.0.1", "::1", "localhost")
        return f"http://callboard.localhost:{self.port}/app/" if loopback else f"{self.url}/app/"


def bind(settings: ServerSettings) -> socket.socket:
    """Take the port, or say who may have it."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    taken = socket.socket(family, socket.SOCK_STREAM)
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        taken.bind((settings.host, settings.port))
    except OSError as error:
        taken.close()
        raise CallboardError(
            f"Cannot listen at {settings.host}:{settings.port}: {error.strerror}. Choose another "
            "port with --port, or see what runs there: callboard doctor",
            port=settings.port,
        ) from error
    taken.listen(2048)
    return taken


def here(listening: socket.socket) -> Address:
    """Where a program on this machine reaches a socket that listens."""
    host, port = listening.getsockname()[:2]
    return Address(_HERE.get(str(host), str(host)), int(port))


def spare_collector() -> None:
    """Let the garbage collector leave alone what this process has loaded by now.

    All of it stays until the end. To look through it takes a tenth of a second, in which no one
    is answered, and would come again and again. For a process that is a server and nothing else.
    """
    gc.collect()
    gc.freeze()


async def serve(
    app: ASGIApp,
    service: Service,
    listening: socket.socket,
    ready: Callable[[Address], None],
    stopping: asyncio.Event | None = None,
) -> None:
    """Serve until SIGTERM, SIGINT or `stopping`; then finish what was started, in bounded time."""
    settings = service.settings
    server = _Server(
        uvicorn.Config(
            app,
            http=partial(Connection, memory=service.memory),  # pyright: ignore[reportArgumentType]
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            # Anyone on this machine could send X-Forwarded-For and be recorded as someone else.
            proxy_headers=False,
            timeout_graceful_shutdown=max(1, round(settings.grace)),
        )
    )
    stopping = stopping or asyncio.Event()
    watch = LoopWatch(service.metrics.looped)
    with _signals(stopping.set):
        await service.driver.start()
        await service.rounds.start()
        watch.start()
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        host, port = listening.getsockname()[:2]
        ready(Address(host, port))
        await wait_any(serving, stopping.wait())
        watch.stop()
        # Readers and held hooks first: neither ends by itself, and uvicorn waits for all answers.
        service.holding.close()
        await service.leavings.stop()
        await service.rounds.stop()
        service.streams.close()
        server.should_exit = True
        await asyncio.gather(serving, service.driver.stop(settings.grace))
        await service.spool.close()


class _Server(uvicorn.Server):
    """uvicorn, with its signals left to us: stopping is more than to close connections."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


@contextlib.contextmanager
def _signals(stop: Callable[[], None]) -> Generator[None]:
    loop = asyncio.get_running_loop()
    caught = (signal.SIGTERM, signal.SIGINT)
    try:
        for one in caught:
            loop.add_signal_handler(one, stop)
    except (RuntimeError, ValueError):  # Not in the main thread: the process that runs us stops us.
        yield
        return
    try:
        yield
    finally:
        for one in caught:
            loop.remove_signal_handler(one)
