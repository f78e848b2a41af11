"""The way to a session of Codex by its app server, which has the sessions of all terminals.

A message that is given to a running turn is lost if the turn is interrupted before it is read,
though the server accepted it. So only the item in the session's own record counts.
"""

import asyncio
import time
from pathlib import Path
from typing import Final

from callboard.events.codec import dump_json
from callboard.events.json_values import Object, as_object, objects
from callboard.systems.processes import is_alive
from callboard.vendors.codex.app_server import thread_status
from callboard.vendors.codex.app_server_calls import (
    AppServerCalls,
    CallRefused,
    app_server_calls,
)
from callboard.vendors.codex.settings import home
from callboard.vendors.fields import whole, word
from callboard.vendors.metadata import LARGEST_MOMENT
from callboard.vendors.steering import (
    NOTES,
    TURN_RUNS,
    InterruptAttempt,
    MessageHandover,
    Note,
    Outgoing,
    Reach,
    Recipient,
    Sighting,
    unnoted,
)
from callboard.vendors.turns import is_without, last_lines, record_in

_UNREACHABLE: Final = (OSError, ValueError, TimeoutError)
_ENDED_EARLY: Final = frozenset({"interrupted", "failed"})
"""Turns that may leave a message unread. One that is completed has read all that it was given."""
_ENDED: Final = frozenset({"completed", *_ENDED_EARLY})
_MOST_ITEMS: Final = 100
_LONGEST_SEARCHED: Final = 4 * 1024 * 1024
"""Bytes at the end of a record. It is looked at from the moment that a message is sent."""
_MOST_REMEMBERED: Final = 100
_TURNS_SEARCHED: Final = 3
"""Older ones are in the record."""
MISSED_FOR: Final = 10.0
"""Seconds for which no turn has a message until it counts as lost: items can come late."""
NO_SERVER: Final = (
    "It can't be reached: no app server of Codex has this session. It may run with --no-daemon."
)


class AppServerWay:
    """Gives messages to Codex's app server, and looks what became of them.

    socket: where the server listens, if not in its usual place.
    """

    def __init__(self, socket: Path | None = None) -> None:
        self._socket = socket
        self._turns: dict[str, str] = {}
        """The turns that messages were given to by this process."""
        self._missed_since: dict[str, float] = {}

    async def reach(self, recipient: Recipient) -> Reach:
        """By the app server, if that has the session."""
        try:
            async with app_server_calls(self._socket) as server:
                status = await _status(server, recipient)
        except _UNREACHABLE:
            status = None
        if status is None:
            return Reach(None, True, NO_SERVER)
        return Reach("app_server", True, NOTES.get(status))

    async def say(
        self, recipient: Recipient, message: Outgoing, note: Note = unnoted
    ) -> MessageHandover:
        """Start a turn with it, or give it to the turn that is running."""
        asked = False
        try:
            async with app_server_calls(self._socket) as server:
                status = await _status(server, recipient)
                if status is None:
                    return MessageHandover("untouched", "app_server", NO_SERVER)
                if message.when == "after_turn" and status != "idle":
                    return MessageHandover("untouched", "app_server", TURN_RUNS)
                turn = None if status == "idle" else await _running_turn(server, recipient)
                await asyncio.to_thread(note)
                asked = True
                await self._give(server, recipient, message, turn)
        except CallRefused as error:
            return MessageHandover("untouched", "app_server", f"Codex refused: {error}.")
        except _UNREACHABLE:
            if asked:
                return MessageHandover("unknown", "app_server", "Codex didn't answer.")
            return MessageHandover("untouched", "app_server", NO_SERVER)
        return MessageHandover("accepted", "app_server")

    async def look(self, recipient: Recipient, message: Outgoing) -> Sighting:
        """Look into its record. What a turn left unread is lost, and can be sent again."""
        is_lost = await self._is_lost(recipient, message)
        found = await _sighted(recipient, message)
        if found.status is not None:
            self._forget(message)
            return found
        if is_lost or await self._never_got(recipient, message):
            self._forget(message)
            return Sighting("untouched")
        return found

    async def interrupt(self, recipient: Recipient) -> InterruptAttempt:
        """Interrupt the turn that is running."""
        try:
            async with app_server_calls(self._socket) as server:
                turn = await _running_turn(server, recipient)
                if turn is None:
                    return InterruptAttempt(False, "No turn is running.")
                params: Object = {"threadId": recipient.session_id, "turnId": turn}
                await server.call("turn/interrupt", params)
        except CallRefused as error:
            return InterruptAttempt(False, f"Codex refused: {error}.")
        except _UNREACHABLE:
            return InterruptAttempt(False, NO_SERVER)
        return InterruptAttempt(True)

    async def _give(
        self, server: AppServerCalls, recipient: Recipient, message: Outgoing, turn: str | None
    ) -> None:
        text: Object = {"type": "text", "text": message.text, "text_elements": ()}
        said: Object = {
            "threadId": recipient.session_id,
            "clientUserMessageId": message.id,
            "input": [text],
        }
        if turn is None:
            done = await server.call("turn/start", said)
            given = word(as_object(done.get("turn")).get("id"))
        else:
            done = await server.call("turn/steer", {**said, "expectedTurnId": turn})
            given = word(done.get("turnId"))
        if given is not None:
            self._turns[message.id] = given
            while len(self._turns) > _MOST_REMEMBERED:
                del self._turns[next(iter(self._turns))]

    async def _never_got(self, recipient: Recipient, message: Outgoing) -> bool:
        """Whether its process has ended, and left a record without this message.

        If its session is resumed, the model knows only what is there.
        """
        pid = recipient.pid
        if pid is None or is_alive(pid, recipient.proc_start):
            return False
        if (await self.reach(recipient)).way is not None:
            return False  # Another process runs it.
        marks = [dump_json(message.id)]
        return await asyncio.to_thread(lambda: is_without(record_of(recipient), marks))

    def _forget(self, message: Outgoing) -> None:
        self._turns.pop(message.id, None)
        self._missed_since.pop(message.id, None)

    async def _is_lost(self, recipient: Recipient, message: Outgoing) -> bool:
        """Whether the turn that was given it ended without it, and it came nowhere else."""
        try:
            async with app_server_calls(self._socket) as server:
                turns = _could_have_it(
                    await _last_turns(server, recipient), self._turns.get(message.id)
                )
                is_missing = turns is not None
                for turn in turns or ():
                    is_missing &= await _is_without_it(server, recipient, message, turn)
        except _UNREACHABLE:
            return False
        marks = [dump_json(message.id)]
        if not is_missing or not await asyncio.to_thread(
            lambda: is_without(record_of(recipient), marks)
        ):
            self._missed_since.pop(message.id, None)
            return False
        now = time.monotonic()
        return now - self._missed_since.setdefault(message.id, now) >= MISSED_FOR


def _could_have_it(turns: list[Object], given: str | None) -> list[str] | None:
    """The turns to look through for a message that may be lost; None if it isn't.

    Without the turn that it was given to, which only the process that did so knows, the last ones,
    once all have ended, and the newest one early.
    """
    ended = [one for one in turns if one.get("status") in _ENDED]
    if given is not None:
        ended = [one for one in ended if one.get("id") == given]
        if not any(one.get("status") in _ENDED_EARLY for one in ended):
            return None
    elif len(ended) < len(turns) or not ended or ended[0].get("status") not in _ENDED_EARLY:
        return None
    return [id for one in ended[:_TURNS_SEARCHED] if (id := word(one.get("id"))) is not None]


async def _status(server: AppServerCalls, recipient: Recipient) -> str | None:
    """idle, busy or waiting; None for a session that the server hasn't loaded."""
    try:
        found = await server.call("thread/read", {"threadId": recipient.session_id})
    except CallRefused:
        return None
    return thread_status(as_object(as_object(found.get("thread")).get("status")))


async def _is_without_it(
    server: AppServerCalls, recipient: Recipient, message: Outgoing, turn: str
) -> bool:
    """Whether all items of a turn that has ended are known, and the message is not among them."""
    asked = {"threadId": recipient.session_id, "turnId": turn, "limit": _MOST_ITEMS}
    found = await server.call("thread/items/list", {**asked, "sortDirection": "desc"})
    items = [as_object(one.get("item")) for one in objects(found.get("data"))]
    return len(items) < _MOST_ITEMS and all(one.get("clientId") != message.id for one in items)


async def _running_turn(server: AppServerCalls, recipient: Recipient) -> str | None:
    turns = await _last_turns(server, recipient)
    running = (one for one in turns if one.get("status") == "inProgress")
    return next((word(one.get("id")) for one in running), None)


async def _last_turns(server: AppServerCalls, recipient: Recipient) -> list[Object]:
    """The last turns, newest first."""
    params: Object = {
        "threadId": recipient.session_id,
        "limit": 10,
        "itemsView": "notLoaded",
    }
    return objects((await server.call("thread/turns/list", params)).get("data"))


async def _sighted(recipient: Recipient, message: Outgoing) -> Sighting:
    """What the record shows of a message."""
    return await asyncio.to_thread(_search, recipient, message.id)


def _search(recipient: Recipient, id: str) -> Sighting:
    path = record_of(recipient)
    mark = dump_json(id)
    for line in reversed(last_lines(path, _LONGEST_SEARCHED)) if path is not None else ():
        if mark not in line:
            continue
        told = as_object(record_in(line).get("payload"))
        item = as_object(told.get("item"))
        if item.get("type") == "UserMessage" and item.get("client_id") == id:
            return Sighting("seen", whole(told.get("completed_at_ms"), LARGEST_MOMENT))
    return Sighting(None)


def record_of(recipient: Recipient) -> Path | None:
    """The record of a session: as hooks named it, or where Codex keeps it."""
    if recipient.transcript is not None:
        return Path(recipient.transcript)
    name = recipient.session_id
    if not name.replace("-", "").isalnum():
        return None
    return next((home() / "sessions").glob(f"*/*/*/rollout-*-{name}.jsonl"), None)
