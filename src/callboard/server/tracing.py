"""Send sessions as traces to OpenTelemetry, if enabled.

One trace per session, made by `callboard.server.spans`. Finished spans are sent when a phase ends,
the rest when the session ends. The collector may be slow or down: nothing here waits for it.

Every server folds every session, and one of them sends. If it dies, another one takes over within
seconds; a few spans may then be missing, and so after a failover that lost events.
"""

import asyncio
import logging
import os
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from callboard.errors import HistoryChanged, MissingExtra, StoreError
from callboard.events import names
from callboard.events.envelope import Event
from callboard.events.rows import Query
from callboard.log.history import Bookmark
from callboard.log.protocol import EventLog
from callboard.server.spans import STOPS, Attributes, Span, Trace

if TYPE_CHECKING:
    from callboard.log.registry import OwnerInfo
    from callboard.server.otlp import Otlp

_log = logging.getLogger(__name__)

Send = Callable[[str, Span], None]

SWITCH: Final = "CALLBOARD_OTEL"
"""1 sends traces, by default to the collector on this machine; 0 sends none."""

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_KEPT = 1000
_SLICE = 512
_RETRY_AFTER = 1.0
_KIND = "tracing"
_SENDS_FOR = 10.0
"""Seconds for which a server that sends spans keeps others from doing so."""
_ASK_EVERY = 1.0
_LEFT_TO_OTHERS = _SENDS_FOR - 2 * _ASK_EVERY
"""Seconds after which the server that sends has certainly sent a span, or is dead."""
_HOST, _PID = "callboard.worker.host", "callboard.worker.pid"


def is_wanted(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the environment enables traces."""
    switch = environment.get(SWITCH, "").lower()
    if switch:
        return switch in ("1", "true", "yes", "on")
    return any(environment.get(name) for name in _ENDPOINTS)


@asynccontextmanager
async def traced(
    log: EventLog, environment: Mapping[str, str] = os.environ
) -> AsyncGenerator[None]:
    """Send the log's sessions as traces within this context, if enabled."""
    if not is_wanted(environment):
        yield
        return
    sink = _open_sink()
    collector = " ".join(environment.get(name, "") for name in _ENDPOINTS)
    follower = Follower(log, sink.send, collector=collector)
    await follower.start()
    try:
        yield
    finally:
        await follower.stop()
        await sink.close()


def _open_sink() -> "Otlp":
    try:
        from callboard.server.otlp import Otlp
    except ImportError as error:
        raise MissingExtra(
            f"Traces need {error.name}: pip install 'callboard[otel]'. "
            f"Or set {SWITCH}=0 to send none."
        ) from error
    return Otlp()


class Follower:
    """Folds the events of every session, and sends finished spans.

    send: takes a span of a session, and returns at once.
    collector: of several servers with the same one, one sends.

    It keeps the open spans of the most recently active sessions. For others, it folds the events
    again when there is something to send.
    """

    def __init__(
        self, log: EventLog, send: Send, kept: int = _KEPT, *, collector: str = ""
    ) -> None:
        self._log = log
        self._send = send
        self._kept = kept
        self._key = sha256(collector.encode()).hexdigest()
        self._ended: deque[tuple[float, str, Span]] = deque()
        """What is to be sent, or was probably sent by another server, and since when."""
        self._sends = False
        self._asked_at = -_ASK_EVERY
        self._traces: OrderedDict[str, Trace] = OrderedDict()
        self._last = Bookmark(log, None, 0)
        self._owners: dict[str, OwnerInfo] = {}
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Follow from here on: earlier spans were sent by the process that saw them end."""
        self._last = await self._at_end()
        self._task = asyncio.create_task(self._follow())

    async def stop(self) -> None:
        """Send finished spans, and stop following."""
        if self._task is None:
            return
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        self._asked_at = -_ASK_EVERY  # The server that sent until now may have just stopped.
        with suppress(StoreError):  # The log may already be closed.
            await self._catch_up()
            if await self._log.server_state.find(_KIND, self._key) == self._log.owner:
                await self._log.server_state.take(_KIND, self._key)

    async def _at_end(self) -> Bookmark:
        end = Bookmark(self._log, None, await self._log.last_sequence())
        await end.find()
        return end

    async def _follow(self) -> None:
        undo = self._log.on_change(None, lambda _: self._news.set())
        try:
            while True:
                self._news.clear()
                try:
                    await self._catch_up()
                except StoreError as error:
                    _log.warning("traces: %s", error.message)
                    await asyncio.sleep(_RETRY_AFTER)
                    continue
                await self._news.wait()
        finally:
            undo()

    async def _catch_up(self) -> None:
        await self._deliver()
        while found := await self._more():
            workers = await self._workers(found)
            for place, event in found:
                await self._take(event, workers.get(event.id))
                self._last.move(place, event)
            await self._deliver()

    async def _more(self) -> list[tuple[int, Event]]:
        """The events after the last one."""
        while True:
            found = await self._log.read_all(self._last.place, limit=_SLICE)
            try:
                if not await self._last.is_outdated():
                    return found
            except HistoryChanged:
                # What was folded may be lost. A session whose start isn't cached is folded again
                # when there is something to send.
                self._traces.clear()
                self._last = await self._at_end()

    async def _deliver(self) -> None:
        """Send what has ended, or leave it to the server that sends."""
        now = asyncio.get_running_loop().time()
        while self._ended and self._ended[0][0] < now - _LEFT_TO_OTHERS:
            self._ended.popleft()
        if not self._ended or not await self._is_sender(now):
            return
        while self._ended:
            _, session_id, span = self._ended.popleft()
            self._send(session_id, span)

    async def _is_sender(self, now: float) -> bool:
        """Whether this server sends, because it did before or no other does."""
        if now - self._asked_at >= _ASK_EVERY:
            state = self._log.server_state
            self._sends = await state.add(_KIND, self._key, self._log.owner, _SENDS_FOR)
            self._asked_at = now
        return self._sends

    async def _workers(self, found: Sequence[tuple[int, Event]]) -> dict[str, Attributes]:
        """By the event's id, who started an agent just now, as far as that is known."""
        started = _started(event for _, event in found)
        if not started:
            return {}
        which = ("id", list(started))
        rows = await self._log.rows(Query("sessions", one_of=which, columns=("id", "owner")))
        # An agent that has already ended may have left its session without an owner.
        owned = {row["id"]: row["owner"] for row in rows if row["owner"] is not None}
        if any(owner not in self._owners for owner in owned.values()):
            self._owners = {one.id: one for one in await self._log.owners.list()}
        told: dict[str, Attributes] = {}
        for session_id, owner in owned.items():
            if (one := self._owners.get(owner)) is not None:
                about: Attributes = {_HOST: one.host, _PID: one.pid}
                told |= dict.fromkeys(started[session_id], about)
        return told

    async def _take(self, event: Event, worker: Attributes | None) -> None:
        if event.name in names.NARRATION:
            return
        trace = self._traces.get(event.session_id)
        if trace is not None or event.name == names.STARTED:
            ended = self._trace(event.session_id).add(event, worker)
        elif event.name in STOPS:
            ended = await self._folded(event)
        else:
            return
        now = asyncio.get_running_loop().time()
        self._ended.extend((now, event.session_id, span) for span in ended)
        if event.name in names.TERMINAL:
            self._traces.pop(event.session_id, None)

    async def _folded(self, event: Event) -> list[Span]:
        """The spans that ended with this event, in a session that isn't cached."""
        trace, ended = self._trace(event.session_id), list[Span]()
        for earlier in await self._log.read(
            event.session_id, upto=event.position, skip=names.NARRATION
        ):
            ended = trace.add(earlier)
        return ended

    def _trace(self, session_id: str) -> Trace:
        trace = self._traces.setdefault(session_id, Trace())
        self._traces.move_to_end(session_id)
        if len(self._traces) > self._kept:
            self._traces.popitem(last=False)
        return trace


def _started(events: Iterable[Event]) -> dict[str, list[str]]:
    """By session, the events with which its present driver started agents."""
    found: dict[str, list[str]] = {}
    for event in events:
        if event.name == names.AGENT_STARTED:
            found.setdefault(event.session_id, []).append(event.id)
        elif event.name == names.AGENT_INTERRUPTED:
            found.pop(event.session_id, None)  # Another process may have started it.
    return found
