"""The relays that are connected to this server, and the commands that they get.

A command is sent when the log shows that it is needed, whichever server wrote that. So an answer
that was accepted while a relay was away is sent when it comes back.
"""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from callboard.board.host_requests import HostRequest
from callboard.board.hosts import Host
from callboard.board.plate import Plate
from callboard.board.plate_store import Recent
from callboard.board.plates import Plates
from callboard.board.relay_hosts import RelayHosts
from callboard.clock import Clock
from callboard.engine.inbox import Inbox
from callboard.errors import NotFound, Overloaded, StoreError
from callboard.events.envelope import Event
from callboard.events.json_values import Object, as_text
from callboard.events.plates import HOST_REMOVED
from callboard.ids import short_id
from callboard.log.protocol import EventLog
from callboard.vendors.agents import VENDORS
from callboard.waiting import wait_any

_log = logging.getLogger(__name__)

LASTS: Final = 45.0
"""Seconds after which a stream of commands ends, and the relay has to ask for the next one.

A machine that is gone without a word can't be told apart from one that is silent otherwise. Many
proxies end a longer one anyway.
"""
COMES_BACK_WITHIN: Final = 5.0
"""Seconds for the relay to ask again, after which its machine counts as unreachable."""
HEARTBEAT: Final = b": \n\n"
_BEATS_EVERY: Final = 10.0
_SHARED: Final = 0.05
"""Changes of plates within this many seconds are sent together."""
_TRY_AGAIN: Final = 1.0
_MOST_QUEUED: Final = 1000


@dataclass(frozen=True, slots=True)
class Hello:
    """What a relay says when it asks for commands.

    holds: the questions whose hooks wait there. powers: what it says that it lets servers do;
    whether it does, it decides itself. secret: as it is stored.
    """

    host: Host
    version: str = ""
    holds: Sequence[str] = ()
    powers: Sequence[str] = ()
    secret: str = ""


@dataclass(slots=True, eq=False)
class RelayStream:
    """The commands for one relay, until it asks for the next stream. As `EventStream` writes it."""

    host: Host
    seen_at: int = 0
    """When its relay last sent something, as far as this server knows."""
    is_over: bool = False
    """Whether it lasted as long as it may. The relay may have been gone for all this time."""
    lasts: float = LASTS
    cut_off: Callable[[], None] = lambda: None
    buffered: Callable[[], int] = lambda: 0
    greeting: bytes = b""
    last_event: str | None = None
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    _queue: list[bytes] = field(default_factory=list[bytes])
    _filled: asyncio.Event = field(default_factory=asyncio.Event)
    _decided: set[str] = field(default_factory=set[str])
    _watched: str = ""

    def command(self, name: str, data: Object, id: str = "") -> None:
        """Send a command. A relay that takes none of so many is cut off, and comes back."""
        told = json.dumps(data, separators=(",", ":"))
        self._queue.append(f"event: {name}\nid: {id or short_id()}\ndata: {told}\n\n".encode())
        self._filled.set()
        if len(self._queue) > _MOST_QUEUED:
            self.closed.set()
            self.cut_off()

    def ask(self, request: HostRequest) -> None:
        """Send a command whose result someone waits for."""
        self.command(request.command, request.told, request.id)

    def decide(self, hold: str, output: Object, *, is_answer: bool) -> None:
        """Let a held hook print this; once for each stream."""
        if hold not in self._decided:
            self._decided.add(hold)
            self.command("decide", {"hold": hold, "output": output, "answers": is_answer})

    def watch(self, plates: Collection[Plate]) -> None:
        """Say which clients to watch, if that has changed."""
        told = [_watched(plate) for plate in plates]
        key = json.dumps(told)
        if key != self._watched:
            self._watched = key
            self.command("watch", {"plates": told})

    async def chunks(self) -> AsyncGenerator[bytes]:
        """The commands, and now and then a sign that the server is there."""
        loop = asyncio.get_running_loop()
        end = loop.time() + self.lasts
        yield HEARTBEAT
        while not self.closed.is_set() and (left := end - loop.time()) > 0:
            wait = min(_BEATS_EVERY, left)
            await wait_any(self._filled.wait(), self.closed.wait(), timeout=wait)
            self._filled.clear()
            parts, self._queue = self._queue, []
            yield b"".join(parts) or HEARTBEAT
        self.is_over = not self.closed.is_set()


def _watched(plate: Plate) -> Object:
    holds = [one.id for one in plate.pending if one.id is not None]
    return {
        "plate": plate.plate_id,
        "agent": plate.agent,
        "pid": plate.pid,
        "start": plate.proc_start,
        "boot": plate.boot_id,
        "holds": holds,
        **_known(plate),
    }


def _known(plate: Plate) -> Object:
    """What the relay compares with what the client shows, while that may differ."""
    if plate.status != "running" and not plate.pending and not plate.unsettled:
        return {}
    told = plate.to_json()
    return {
        "session": plate.session_id,
        "status": plate.status,
        "statusAt": plate.status_at,
        "updatedAt": plate.updated_at,
        "lastEvent": plate.last_event,
        "transcript": plate.transcript_path,
        "pending": [{**one, "asks": ""} for one in told["pending"]],
        "unsettled": told["unsettled"],
    }


class Relays:
    """Connects relays with the log."""

    def __init__(
        self, log: EventLog, plates: Plates, inbox: Inbox, hosts: RelayHosts, clock: Clock
    ) -> None:
        self.hosts = hosts
        self._log = log
        self._plates = plates
        self._inbox = inbox
        self._clock = clock
        self._streams: dict[str, RelayStream] = {}
        self._host_of = Recent[str](10_000)
        self._following: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._changed: set[str] = set()
        self._coming_and_going = asyncio.Lock()
        """Held while it is recorded that a relay came or left: the last one has to be true."""
        self._is_closed = False
        self.seen: Callable[[str, Sequence[Plate]], None] | None = None
        """Called with the id of a machine and its plates, whenever one of them has changed."""

    @property
    def waiting(self) -> int:
        """How many relays wait for commands here."""
        return len(self._streams)

    async def open(self, hello: Hello) -> RelayStream:
        """A relay asks for commands."""
        host = hello.host
        if self._is_closed:
            raise Overloaded("The server is stopping; come back in a moment.", retry_after=1)
        stream = RelayStream(host, self._clock.now_ms())
        before = self._streams.get(host.id)
        if before is not None:
            before.closed.set()
        self._streams[host.id] = stream
        try:
            async with self._coming_and_going:
                await self.hosts.connected(host, hello.version, hello.powers, hello.secret)
            await self._catch_up(stream, hello.holds)
            if self._streams.get(host.id) is stream:
                await self.hosts.requests.serve(host.id, stream.ask)
        except BaseException:
            self.left(stream)
            raise
        return stream

    async def _catch_up(self, stream: RelayStream, holds: Collection[str]) -> None:
        """Send what was decided while the relay was away, and everything from now on."""
        self._follow(await self._log.last_sequence())
        living = await self._plates.of_host(stream.host.id)
        for plate in living:
            for one in (*plate.pending, *plate.unsettled):
                await self._decide(stream, plate, one.id)
        for hold in holds:
            await self.look_at(stream.host.id, hold)
        stream.watch(living)

    def heard_from(self, host_id: str) -> None:
        """A relay has sent something."""
        stream = self._streams.get(host_id)
        if stream is not None:
            stream.seen_at = self._clock.now_ms()

    def left(self, stream: RelayStream) -> None:
        """A stream has ended. Its machine is unreachable unless it asks for another one soon."""
        seen_at = stream.seen_at if stream.is_over else self._clock.now_ms()
        if self._streams.get(stream.host.id) is stream:
            del self._streams[stream.host.id]
            self.hosts.requests.leave(stream.host.id)
            self._start(self._miss(stream.host.id, seen_at))

    def dismiss(self, host_id: str) -> None:
        """End a relay's stream, because its token was revoked: it hears that when it asks again."""
        stream = self._streams.get(host_id)
        if stream is not None:
            stream.closed.set()

    async def _miss(self, host_id: str, seen_at: int) -> None:
        await self._clock.sleep(COMES_BACK_WITHIN)
        while True:
            try:
                async with self._coming_and_going:
                    if host_id not in self._streams:
                        await self.hosts.disconnected(host_id, seen_at)
                return
            except StoreError:
                await self._clock.sleep(_TRY_AGAIN)

    async def close(self) -> None:
        """End every stream, because the server stops. Relays come back to the next one."""
        self._is_closed = True
        streams, self._streams = self._streams, {}
        for stream in streams.values():
            stream.closed.set()
            self.hosts.requests.leave(stream.host.id)
        for task in (*self._tasks, self._following):
            if task is not None:
                task.cancel()
        waiting = {task for task in (*self._tasks, self._following) if task is not None}
        if waiting:
            await asyncio.wait(waiting)
        for host_id in self.hosts.here:
            with suppress(StoreError):
                await self.hosts.disconnected(host_id, self._clock.now_ms())

    def _start(self, work: Coroutine[object, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # ------------------------------------------------------------------ decisions

    async def look_at(self, host_id: str, interaction_id: str) -> None:
        """Send the decision on a question, if there is one and its relay is connected here."""
        stream = self._streams.get(host_id)
        if stream is None:
            return
        try:
            asked = await self._inbox.get(interaction_id)
            plate = await self._plates.get(asked.stream, dismissed=True)
        except NotFound:
            return
        if plate.host == host_id:
            await self._decide(stream, plate, interaction_id)

    async def _decide(self, stream: RelayStream, plate: Plate, hold: str | None) -> None:
        if hold is None:
            return
        try:
            asked = await self._inbox.get(hold)
        except NotFound:
            return
        if asked.status == "pending" and asked.accepted is None:
            return
        vendor = VENDORS.get(plate.agent)
        is_answer = vendor is not None and asked.for_agent is not None
        output: Object = {} if vendor is None else vendor.printed(asked)
        stream.decide(hold, output, is_answer=is_answer)

    # ------------------------------------------------------------------ the log

    def _follow(self, after: int) -> None:
        """Follow the log while there is a relay here."""
        if self._following is None or self._following.done():
            self._following = asyncio.create_task(self._read(after))

    async def _read(self, after: int) -> None:
        while self._streams and not self._is_closed:
            try:
                async for sequence, event in self._log.tail_all(after):
                    await self._heard(event)
                    after = sequence
                    if not self._streams:
                        return
            except StoreError as error:
                _log.warning("Relays wait for the log: %s", error.message)
                await self._clock.sleep(_TRY_AGAIN)

    async def _heard(self, event: Event) -> None:
        if event.name == HOST_REMOVED:
            self.dismiss(as_text(event.payload.get("host")))
            return
        is_question = event.name.startswith("input:")
        if not is_question and "plate" not in event.payload:
            return
        host_id = await self._host(event.session_id)
        if host_id not in self._streams:
            return
        if is_question:
            await self.look_at(host_id, as_text(event.payload.get("id")))
        if host_id not in self._changed:
            self._changed.add(host_id)
            self._start(self._watch(host_id))

    async def _host(self, plate_id: str) -> str:
        """The host of a plate; "" if the stream isn't a plate's."""
        known = self._host_of.get(plate_id)
        if known is None:
            try:
                known = (await self._plates.get(plate_id, dismissed=True)).host
            except NotFound:
                known = ""
            self._host_of.keep(plate_id, known)
        return known

    async def _watch(self, host_id: str) -> None:
        await self._clock.sleep(_SHARED)
        self._changed.discard(host_id)
        while (stream := self._streams.get(host_id)) is not None:
            try:
                found = await self._plates.of_host(host_id)
                if self.seen is not None:
                    self.seen(host_id, found)
                return stream.watch(found)
            except StoreError:
                await self._clock.sleep(_TRY_AGAIN)
        return None
