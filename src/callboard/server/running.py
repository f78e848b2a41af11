"""A server from start to stop: bind, recover, listen, watch the event loop, shut down."""

import asyncio
import contextlib
import gc
import signal
import socket
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from email.utils import formatdate
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
_SELDOM: Final = 2.0
"""Seconds between checks while there is nothing to do."""
_QUIET_LOOKS: Final = 20
"""The number of checks that find nothing before they become rare."""
_CLOSELY: Final = 0.005
"""Seconds between checks under load. The longest block may include this much other work."""
_LITTLE: Final = 0.001
_HERE: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}
"""Where to reach a server that listens on all addresses."""
_CLOSE_LOOKS: Final = 100
"""The number of close checks after one that found the loop busy."""


class LoopWatch:
    """Checks at regular intervals for how long the event loop has been busy.

    A server that has nothing to do would be woken by nothing but these checks, so then they are
    rare, until something calls `wake`.

    is_idle: whether nothing is in progress. What waits for a thread continues without a `wake`, and
    what it does between two rare checks would look like one long block.
    """

    def __init__(self, observe: Callable[[float], None], is_idle: Callable[[], bool]) -> None:
        self._observe = observe
        self._is_idle = is_idle
        self._timer: asyncio.TimerHandle | None = None
        self._before = 0.0
        self._close = 0
        self._quiet = 0
        self._seconds = _EVERY

    def start(self) -> None:
        """Start, in the loop's thread."""
        self._before = time.thread_time()
        self._arm()

    def stop(self) -> None:
        """Stop checking."""
        if self._timer is not None:
            self._timer.cancel()

    def wake(self) -> None:
        """Check often again: something happens."""
        is_rare, self._quiet = self._quiet >= _QUIET_LOOKS, 0
        if is_rare and self._timer is not None:
            self._timer.cancel()
            self._look()

    def _arm(self) -> None:
        often = _EVERY if self._quiet < _QUIET_LOOKS else _SELDOM
        self._seconds = _CLOSELY if self._close else often
        self._timer = asyncio.get_running_loop().call_later(self._seconds, self._look)

    def _look(self) -> None:
        before, self._before = self._before, time.thread_time()
        busy = self._before - before
        self._observe(busy)
        # In a longer time, the little that is always done adds up.
        is_busy = busy > _LITTLE * max(1.0, self._seconds / _EVERY)
        self._close = _CLOSE_LOOKS if is_busy else max(0, self._close - 1)
        self._quiet = 0 if is_busy or not self._is_idle() else self._quiet + 1
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
    # On Windows, the first of these would let other programs listen there as well.
    alone = getattr(socket, "SO_EXCLUSIVEADDRUSE", None)
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR if alone is None else alone, 1)
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
    """Exempt everything loaded so far from garbage collection, and start collecting.

    It all stays until the end. Scanning it again and again would block responses for a tenth of a
    second each time. Only for a process that is just a server.
    """
    gc.freeze()
    gc.enable()


async def serve(
    app: ASGIApp,
    service: Service,
    listening: socket.socket,
    ready: Callable[[Address], None],
    stopping: asyncio.Event | None = None,
) -> None:
    """Serve until SIGTERM, SIGINT or `stopping`, then finish what was started, in bounded time."""

    def is_idle() -> bool:  # Streams and held hooks only wait.
        return (
            server.in_progress
            <= service.streams.reading
            + service.holding.waiting
            + service.relays.waiting
            + service.board.conversations.waiting
        )

    watch = LoopWatch(service.metrics.looped, is_idle)
    server = _created(app, service, watch)
    stopping = stopping or asyncio.Event()
    undo = service.board.log.on_change(None, lambda head: watch.wake())
    with _signals(stopping.set):
        await service.links.check_admin(service.name, service.tokens.admin())
        await service.driver.start()
        await service.rounds.start()
        await _follow_agents(service)
        watch.start()
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        host, port = listening.getsockname()[:2]
        ready(Address(host, port))
        await wait_any(serving, stopping.wait())
        watch.stop()
        undo()
        await _let_go(service)
        server.leave()
        await asyncio.gather(serving, service.driver.stop(service.settings.grace))
        await service.spool.close()


async def _follow_agents(service: Service) -> None:
    """Take commands, deliver messages, and count what agents use, and used without a server."""
    await service.own_machine.start()
    service.delivery.start()
    host = service.plates.host().id
    service.rounds.seen = lambda living: service.usage.look(host, living)
    service.relays.seen = service.usage.look
    service.budget.start()
    await service.usage.catch_up()


async def _let_go(service: Service) -> None:
    """End what doesn't end by itself: uvicorn waits for all responses."""
    # Before what it asks.
    await asyncio.gather(service.delivery.stop(), service.usage.close(), service.budget.close())
    service.holding.close()
    service.board.conversations.close()
    await service.relays.close()
    await service.own_machine.close()
    await service.board.changes.snapshots.close()
    await service.leavings.stop()
    await service.rounds.stop()
    service.streams.close()


def _created(app: ASGIApp, service: Service, watch: LoopWatch) -> "_Server":
    def on_request() -> None:
        watch.wake()
        server.set_date(service.board.clock.now_ms() // 1000)

    connection = partial(Connection, memory=service.memory, on_request=on_request)
    server = _Server(
        uvicorn.Config(
            app,
            http=connection,  # pyright: ignore[reportArgumentType]
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            # Otherwise anyone on this machine could send X-Forwarded-For and be recorded as someone
            # else.
            proxy_headers=False,
            timeout_graceful_shutdown=max(1, round(service.settings.grace)),
        )
    )
    return server


class _Server(uvicorn.Server):
    """uvicorn without its signal handling, because stopping takes more than closing connections,
    and without its tick, which would wake an idle server ten times a second.
    """

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._leaving = asyncio.Event()
        self._dated = 0

    @property
    def in_progress(self) -> int:
        """The number of requests that have no complete response yet."""
        return len(self.server_state.tasks)

    def set_date(self, seconds: int) -> None:
        """Set the `Date` header of responses, in seconds since 1970. The tick would do it."""
        if seconds != self._dated:
            self._dated = seconds
            date = formatdate(seconds, usegmt=True).encode()
            self.server_state.default_headers = [(b"date", date)]

    def leave(self) -> None:
        """Stop accepting connections, and end once the open ones are done."""
        self.should_exit = True
        self._leaving.set()

    async def main_loop(self) -> None:
        """Wait until it is time to leave."""
        await self._leaving.wait()

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
    # Not in the main thread: the caller stops us. On Windows, Ctrl-C interrupts the loop.
    except (RuntimeError, ValueError, NotImplementedError):
        yield
        return
    try:
        yield
    finally:
        for one in caught:
            loop.remove_signal_handler(one)
