"""Commands to a machine: each has an id, a deadline, and a result or an error.

The server that has the machine's relay sends the command, whichever server was asked. The result
comes with what the relay reports, to any server, and goes to the one that waits for it. Both are in
what servers share. An event in the stream of the machine tells them to look, and stays as a record.

Commands that only read come often, and are not worth a record. The first one leaves an event, after
which the server with the relay looks by itself for a while, as does the one that asked.
"""

import asyncio
import json
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from callboard.clock import Clock
from callboard.errors import (
    CallboardError,
    HostFailed,
    HostTimedOut,
    HostUnreachable,
    Overloaded,
    PositionConflict,
    PowerNotGranted,
    SessionExists,
    StoreError,
)
from callboard.events import plates as events
from callboard.events.envelope import NewEvent
from callboard.events.event_name import Entry
from callboard.events.json_values import Object, as_list, as_object, as_text, as_whole
from callboard.events.payloads.plates import HostAnsweredPayload, HostAskedPayload
from callboard.ids import event_id, short_id
from callboard.log.protocol import EventLog, Writing
from callboard.waiting import wait_any

WITHIN: Final = 15.0
"""Seconds for a result, unless the caller says otherwise."""
_KEPT: Final = 60.0
"""Seconds for which a result waits for the server that asked."""
_MOST_POWERS: Final = 20
_LONGEST_WORDS: Final = 1000
_LARGEST_NUMBER: Final = 2**53
_GRACE: Final = 5.0
_ASKS: Final = "host ask "
_AWAITED: Final = "host awaited"
_ANSWER: Final = "host answer"
_WATCHED: Final = "host watched"
CHANGING: Final = frozenset({"say", "recall", "interrupt", "start", "stop"})
"""The commands that change something. Each is recorded."""
WATCHED_FOR: Final = 10.0
"""Seconds for which the server with the relay looks by itself for what others ask."""
_LOOKS_EVERY: Final = 0.05
_TAKEN_WITHIN: Final = 1.0
"""Seconds until another event asks to look: the server that did so by itself may have died."""
_RESULTS: Final = ("done", "refused", "failed")


@dataclass(frozen=True, slots=True)
class HostRequest:
    """A command to a machine. within: how many seconds it may take."""

    id: str
    host: str
    command: str
    data: Object
    within: float

    @property
    def told(self) -> Object:
        """What the machine gets."""
        return {"within": self.within, "data": self.data}


Deliver = Callable[[HostRequest], None]
"""Sends a command to a machine that is connected here."""


class HostRequests:
    """Asks machines, and passes on what other servers of the log ask those that are here."""

    def __init__(self, log: EventLog, clock: Clock) -> None:
        self._log = log
        self._clock = clock
        self._deliver: dict[str, Deliver] = {}
        self._unsubscribe: dict[str, Callable[[], None]] = {}
        self._open: dict[str, HostRequest] = {}
        self._waiting: dict[str, asyncio.Future[Object]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._watching: dict[str, asyncio.Task[None]] = {}
        self._watched_until: dict[str, float] = {}
        self._arrivals: list[Callable[[], object]] = []

    # ------------------------------------------------------------------ asking

    async def ask(self, request: HostRequest, name: str, by: str | None = None) -> Object:
        """The result of a command; an error if it does not come in time.

        name: what people call the machine. by: who asks, for the record. If the same is being asked
        here already, this waits for the same result.
        """
        state = self._log.server_state
        await state.add(_AWAITED, request.id, request.host, request.within + _KEPT)
        if (known := self._waiting.get(request.id)) is not None:
            return _value(await self._shared(known, request, name), request, name)
        result: asyncio.Future[Object] = asyncio.get_running_loop().create_future()
        self._waiting[request.id] = result
        try:
            return _value(await self._asked(request, name, by, result), request, name)
        finally:
            del self._waiting[request.id]
            self._forget(request.id)
            with suppress(StoreError):  # It expires.
                await state.take(_AWAITED, request.id)

    async def _asked(
        self, request: HostRequest, name: str, by: str | None, result: asyncio.Future[Object]
    ) -> Object:
        state = self._log.server_state
        news = asyncio.Event()
        stop = self._log.on_change(stream_of(request.host), lambda head: news.set())
        try:
            if not self._send(request):
                await self._pass_on(request, by)
            async with asyncio.timeout(request.within):
                looks = 0
                while not result.done():
                    if request.command in CHANGING:
                        await wait_any(result, news.wait())
                    else:
                        await wait_any(result, news.wait(), self._clock.sleep(_LOOKS_EVERY))
                    news.clear()
                    looks += 1
                    if looks == _TAKEN_WITHIN // _LOOKS_EVERY:
                        await self._ask_again(request, by)
                    if not result.done() and await state.find(_ANSWER, request.id):
                        found = await state.take(_ANSWER, request.id)
                        result.set_result(as_object(json.loads(found or "{}")))
        except TimeoutError as error:
            raise await self._too_late(request, name) from error
        finally:
            stop()
        return result.result()

    async def _shared(
        self, result: asyncio.Future[Object], request: HostRequest, name: str
    ) -> Object:
        try:
            async with asyncio.timeout(request.within):
                return await asyncio.shield(result)
        except (TimeoutError, asyncio.CancelledError) as error:
            if isinstance(error, asyncio.CancelledError) and not result.cancelled():
                raise
            raise _unanswered(request, name) from error

    async def _pass_on(self, request: HostRequest, by: str | None) -> None:
        """Leave it for the server that has the relay, or to which it comes back."""
        told = {"id": request.id, "command": request.command, **request.told}
        value = json.dumps(told)
        # Longer than anyone waits: who takes it back knows that nothing was done.
        lasts = request.within + _GRACE
        state = self._log.server_state
        await state.add(_ASKS + request.host, request.id, value, lasts)
        if request.command in CHANGING or await state.find(_WATCHED, request.host) is None:
            await self._record_asked(request, by)

    async def _ask_again(self, request: HostRequest, by: str | None) -> None:
        """Leave an event after all, if no server has taken a command."""
        if await self._log.server_state.find(_ASKS + request.host, request.id) is not None:
            await self._record_asked(request, by)

    async def _record_asked(self, request: HostRequest, by: str | None) -> None:
        asked = HostAskedPayload(host=request.host, id=request.id, command=request.command)
        if by is not None:
            asked["by"] = by
        await self.record(request.host, events.HOST_ASKED(asked))

    async def _too_late(self, request: HostRequest, name: str) -> HostTimedOut | HostUnreachable:
        kind, state = _ASKS + request.host, self._log.server_state
        if request.id not in self._open and await state.take(kind, request.id) is not None:
            return HostUnreachable(f"{name} could not be reached in time. Nothing was done there.")
        return _unanswered(request, name)

    # ------------------------------------------------------------------ passing on

    @property
    def served(self) -> Collection[str]:
        """The machines that are connected here at the moment."""
        return self._deliver.keys()

    def on_arrival(self, notify: Callable[[], object]) -> Callable[[], None]:
        """Call `notify` when a machine has connected here; returns a function that stops it."""
        self._arrivals.append(notify)
        return lambda: self._arrivals.remove(notify)

    async def serve(self, host_id: str, deliver: Deliver) -> None:
        """A machine is connected here: send what waits for it, and what will be asked."""
        self.leave(host_id)
        self._deliver[host_id] = deliver
        self._unsubscribe[host_id] = self._log.on_change(
            stream_of(host_id), lambda head: self._start_looking(host_id)
        )
        # What was sent before may not have arrived. A machine does each id once.
        for request in [one for one in self._open.values() if one.host == host_id]:
            self._send(request)
        await self._look(host_id)
        for notify in [*self._arrivals]:
            notify()

    def leave(self, host_id: str) -> None:
        """A machine is not connected here anymore."""
        self._deliver.pop(host_id, None)
        self._watched_until.pop(host_id, None)
        if (watching := self._watching.pop(host_id, None)) is not None:
            watching.cancel()
        unsubscribe = self._unsubscribe.pop(host_id, None)
        if unsubscribe is not None:
            unsubscribe()

    def _start_looking(self, host_id: str) -> None:
        task = asyncio.create_task(self._look_again(host_id))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _look_again(self, host_id: str) -> None:
        # If the log is away, who asked is told that the machine was not reached in time.
        with suppress(StoreError):
            await self._look(host_id)

    async def _look(self, host_id: str) -> None:
        kind, state = _ASKS + host_id, self._log.server_state
        for value in await state.values(kind):
            told = as_object(json.loads(value))
            id, within = as_text(told.get("id")), told.get("within")
            # Of several servers that have the machine, one takes it.
            if host_id not in self._deliver or await state.take(kind, id) is None:
                continue
            if not isinstance(within, int | float):
                continue
            command, data = as_text(told.get("command")), as_object(told.get("data"))
            if command not in CHANGING:
                self._watch(host_id)
            self._send(HostRequest(id, host_id, command, data, within))
            asyncio.get_running_loop().call_later(within, self._forget, id)

    def _watch(self, host_id: str) -> None:
        """Look for more of what others ask a machine, without events, for as long as they do."""
        self._watched_until[host_id] = self._clock.monotonic() + WATCHED_FOR
        if host_id not in self._watching:
            self._watching[host_id] = asyncio.create_task(self._keep_looking(host_id))

    async def _keep_looking(self, host_id: str) -> None:
        told, until = 0.0, self._watched_until
        with suppress(StoreError):  # Those who ask leave an event again.
            # Somewhat longer than it says, because clocks differ.
            while (now := self._clock.monotonic()) < until[host_id] + _GRACE:
                if until[host_id] - told > 1:
                    await self._log.server_state.add(
                        _WATCHED, host_id, "", max(0.0, until[host_id] - now)
                    )
                    told = until[host_id]
                await self._clock.sleep(_LOOKS_EVERY)
                await self._look(host_id)
        self._watching.pop(host_id, None)

    def _send(self, request: HostRequest) -> bool:
        """Send it, if its machine is connected here; returns whether it is."""
        deliver = self._deliver.get(request.host)
        if deliver is None:
            return False
        self._open[request.id] = request
        deliver(request)
        return True

    def _forget(self, id: str) -> None:
        self._open.pop(id, None)

    # ------------------------------------------------------------------ results

    async def answered(self, host_id: str, told: Object) -> None:
        """A machine has done a command, or refused to. Others' commands are not its business."""
        id = as_text(told.get("id"))
        waiting, request = self._waiting.get(id), self._open.get(id)
        if request is not None and request.host != host_id:
            return
        self._forget(id)
        if waiting is not None and request is not None:
            if not waiting.done():
                waiting.set_result(told)
            return
        state = self._log.server_state
        if told.get("result") not in _RESULTS or await state.find(_AWAITED, id) != host_id:
            return
        if await state.add(_ANSWER, id, json.dumps(told), _KEPT):
            result, command = as_text(told.get("result")), as_text(told.get("command"))
            if command and command not in CHANGING:
                return  # The server that waits looks by itself.
            done = HostAnsweredPayload(host=host_id, id=id, result=result)
            await self.record(host_id, events.HOST_ANSWERED(done))

    async def record(self, host_id: str, told: Entry) -> None:
        """Append an event to the stream of a machine."""
        stream = stream_of(host_id)
        event = NewEvent(event_id(), told.name, told.payload, self._clock.now_ms())
        while True:
            writing = Writing(expect=await self._log.head(stream), settle=True)
            try:
                await self._log.append(stream, [event], writing)
            except (PositionConflict, SessionExists):
                continue
            return


def new_request(
    host: str, command: str, data: Object, within: float = WITHIN, id: str | None = None
) -> HostRequest:
    """A command, with an id of its own unless one is given."""
    return HostRequest(id or short_id(16), host, command, data, within)


def stream_of(host_id: str) -> str:
    """The stream of a machine: when it came and left, and what servers asked for each other."""
    return f"host-{host_id}"


def words(value: object) -> str:
    """Text from a machine, which may send anything: not too long, and without half characters."""
    return as_text(value)[:_LONGEST_WORDS].encode("utf-8", "replace").decode()


def number(value: object) -> int:
    """A number from a machine, of a size that JSON can hold."""
    return max(-_LARGEST_NUMBER, min(as_whole(value), _LARGEST_NUMBER))


def raise_reported(
    told: Object,
    known: Collection[type[CallboardError]],
    otherwise: type[CallboardError],
    **context: object,
) -> None:
    """Raise the error that a machine's result contains, if any. otherwise: if it is not `known`."""
    if error := as_object(told.get("error")):
        kinds = (one for one in known if one.code == error.get("code"))
        raise next(kinds, otherwise)(words(error.get("message")) or None, **context)


def _unanswered(request: HostRequest, name: str) -> HostTimedOut:
    return HostTimedOut(
        f"{name} has not answered within {request.within:g} seconds, and may have done it or not. "
        "Check before you repeat it."
    )


def _value(told: Object, request: HostRequest, name: str) -> Object:
    """The value in a result, or the error that it stands for."""
    if told.get("command", request.command) != request.command:
        raise _unanswered(request, name)  # Another command has the same id.
    if told.get("result") == "done":
        return as_object(told.get("value"))
    code = told.get("code")
    if code == "POWER_NOT_GRANTED":
        # It sets all of them, so those that are granted already are named, too.
        named = map(words, [*as_list(told.get("granted"))[:_MOST_POWERS], told.get("power")])
        powers = [one for one in named if one.isascii() and one.isalpha()]
        allowed = ",".join(dict.fromkeys(powers)) or "POWERS"
        raise PowerNotGranted(
            f"{name} doesn't allow this. Its owner can, there: callboard relay --allow {allowed}",
            power=powers[-1] if powers else "",
            host=request.host,
        )
    if code == "OVERLOADED":
        raise Overloaded(f"{name} is doing too much at the moment.", retry_after=1)
    if code == "UNKNOWN_COMMAND":
        raise HostFailed(
            f"{name} doesn't know {request.command!r}. Update Callboard there.", untouched=True
        )
    if code == "ALREADY_DONE":
        raise HostTimedOut(
            f"{name} started this and was stopped, and may have done it or not. Check before you "
            "repeat it.",
            was_asked=True,
        )
    why = words(told.get("message")).rstrip(".") or "it refused"
    untouched = told.get("result") == "refused"
    raise HostFailed(f"{name} could not do this: {why}.", untouched=untouched)
