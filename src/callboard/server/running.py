"""A server from start to stop: bind, recover, listen, watch the event loop, shut down."""

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
"""Seconds between checks while there is little to do."""
_CLOSELY: Final = 0.005
"""Seconds between checks under load. The longest block may include this much other work."""
_LITTLE: Final = 0.001
_HERE: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}
"""Where to reach a server that listens on all addresses."""
_CLOSE_LOOKS: Final = 100
"""The number of close checks after one that found the loop busy."""


class LoopWatch:
    """Checks at regular intervals for how long the event loop has been busy."""

    def __init__(self, observe: Callable[[float], None]) -> None:
        self._observe = observe
        self._timer: asyncio.TimerHandle | None = None
        self._before = 0.0
        self._close = 0

    def start(self) -> None:
        """Start, in the loop's thread."""
        self._before = time.thread_time()
        self._arm()

    def stop(self) -> None:
        """Stop checking."""
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
        """The URL for programs."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    @property
    def page(self) -> str:
        """The URL for people. No other program on this machine shares its cookie."""
        loopback = self.host in ("127.0.0.1", "::1", "localhost")
        return f"http://callboard.localhost:{self.port}/app/" if loopback else f"{self.url}/app/"


def bind(settings: ServerSettings) -> socket.socket:
    """Bind the port, or say who may be using it."""
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
    """The address of a listening socket, for programs on this machine."""
    host, port = listening.getsockname()[:2]
    return Address(_HERE.get(str(host), str(host)), int(port))


def spare_collector() -> None:
    """Exempt everything loaded so far from garbage collection.

    It all stays until the end. Scanning it again and again would block responses for a tenth of a
    second each time. Only for a process that is just a server.
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
    """Serve until SIGTERM, SIGINT or `stopping`, then finish what was started, in bounded time."""
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
            # Otherwise anyone on this machine could send X-Forwarded-For and be recorded as someone
            # else.
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
        # Readers and held hooks first: they don't end by themselves, and uvicorn waits for all
        # responses.
        service.holding.close()
        await service.leavings.stop()
        await service.rounds.stop()
        service.streams.close()
        server.should_exit = True
        await asyncio.gather(serving, service.driver.stop(settings.grace))
        await service.spool.close()


class _Server(uvicorn.Server):
    """uvicorn without its signal handling: stopping takes more than closing connections."""

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
    except (RuntimeError, ValueError):  # Not in the main thread: the caller stops us.
        yield
        return
    try:
        yield
    finally:
        for one in caught:
            loop.remove_signal_handler(one)
