"""Hands the messages of one plate over, one at a time, and finds out what becomes of them.

A message is recorded as handed over before its machine is asked. The machine does each attempt at
most once, so a server that finds such a message after a crash asks for the same attempt again: it
is done now, or was done before, and then only what the client shows decides.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, get_args

from callboard.board.agent_messages import (
    AgentMessages,
    Decide,
    asked_of,
    attempt_key,
    is_asking,
    is_between_turns,
    recipient_of,
)
from callboard.board.host_requests import number, words
from callboard.board.message_queue import Arrival, MessageQueue
from callboard.board.messages import WAY_OF_HOOKS, PlateMessage
from callboard.board.plate import NOT_STARTED, Plate
from callboard.board.plates import Plates
from callboard.board.relay_hosts import RelayHosts
from callboard.board.typed_receipts import TypedReceipt
from callboard.clock import Clock
from callboard.errors import (
    CallboardError,
    HostFailed,
    HostTimedOut,
    PlateNotFound,
    StoreError,
)
from callboard.events import messages as events
from callboard.events.event_name import Entry
from callboard.events.json_values import Object

_log = logging.getLogger(__name__)

REST: Final = 60.0
"""Seconds until the next look if nothing happens on the plate."""
LOOKS: Final = (0.1, 0.2, 0.3, 0.5, 1.0, 1.0, 2.0, 2.0, 5.0)
"""Seconds between looks for evidence; the last one repeats."""
RETRIES: Final = (1.0, 2.0, 5.0, 15.0, 60.0)
"""Seconds until another attempt, unless something happens on the plate before."""
SHOWS_WITHIN: Final = 30.0
"""Seconds after a turn in which a client shows what it was given."""
ENDS_WITHIN: Final = 5.0
"""Seconds after the end of a session in which its transcript may still grow."""
LOOKED_WITHIN: Final = 5.0
SAID_WITHIN: Final = 15.0
_WAY_OF_PLUGINS: Final = "plugin"
"""It runs before the session that it resumes reports anything."""
ASKS_AGAIN: Final = 5.0
"""Seconds between checks for a better way for a message that waits for a hook."""


@dataclass(slots=True)
class _Attempt:
    """What is known of an attempt besides what is in the log.

    is_ours: this process decided on it. was_asked: its machine may have got the command.
    is_done: its machine has done it, now or before. waits: what it was last seen to wait for: a
    dialog (`held`), or no hook and no dialog (`left`). since: when its evidence became due.
    asked_at: when this was last checked, and the plate's `updated_at` then. handed_before: when the
    message before it was handed over. receipt: what hooks reported of it.
    """

    is_ours: bool = False
    was_asked: bool = False
    is_done: bool = False
    waits: object = None
    looks: int = 0
    since: float | None = None
    asked_at: tuple[float, int] = (float("-inf"), 0)
    handed_before: int = 0
    receipt: TypedReceipt = field(default_factory=TypedReceipt)


class PlateDelivery:
    """Delivers the messages of one plate."""

    def __init__(
        self,
        plate_id: str,
        plates: Plates,
        messages: AgentMessages,
        hosts: RelayHosts,
        clock: Clock,
    ) -> None:
        self._id = plate_id
        self._plates = plates
        self._messages = messages
        self._hosts = hosts
        self._clock = clock
        self._attempts: dict[str, _Attempt] = {}
        self._arrived: dict[str, PlateMessage] = {}
        """Messages that were delivered, until they are seen."""
        self._handed_at = 0
        self._failures = 0
        self._failed_at = 0
        self._not_before = 0.0
        self._mail_asked: tuple[float, str] = (float("-inf"), "")
        self._has_hooks = False

    def follow(self, message: PlateMessage) -> None:
        """Find out whether a message that was delivered is seen."""
        self._arrived[message.id] = message

    def end_pause(self) -> None:
        """Try again at once: a machine can be reached that couldn't."""
        self._not_before = 0.0

    async def step(self) -> float | None:
        """Do what can be done now; returns after how many seconds to look again at the latest.

        None: there is nothing left to do.
        """
        try:
            plate = await self._plates.get(self._id, dismissed=True)
        except PlateNotFound:
            return None
        queue = await self._messages.queue(self._id)
        if not queue.messages and not self._arrived:
            return None
        for message in queue.on_their_way:
            return await self._follow(plate, message, queue)
        pauses = [await self._look_further(plate, one) for one in [*self._arrived.values()]]
        is_next = queue.next(is_idle=self._turn_is_over(plate)) is not None
        if (is_next or self._may_have_mail(plate, queue)) and _takes_messages(plate):
            pause = self._paused_for(plate)
            return min([*pauses, pause or await self._hand(plate)])
        return min([*pauses, REST])

    def _turn_is_over(self, plate: Plate, waiting: _Attempt | None = None) -> bool:
        """Whether the agent is idle, and not only because its last message just arrived.

        waiting: an attempt that waits for a hook, so that the message before it was the last.
        """
        if not is_between_turns(plate):
            return False
        handed_at = self._handed_at if waiting is None else waiting.handed_before
        waited = (self._clock.now_ms() - handed_at) / 1000
        return plate.status_at > handed_at or waited > SHOWS_WITHIN

    def _may_have_mail(self, plate: Plate, queue: MessageQueue) -> bool:
        """Whether to ask if a hook would take, when the turn ends, what is for after it."""
        asked_at, session = self._mail_asked
        is_due = self._clock.monotonic() - asked_at >= REST or session != plate.session_id
        is_due = is_due or self._has_hooks
        if not queue.waiting or not is_due:
            return False
        self._mail_asked = self._clock.monotonic(), plate.session_id
        return True

    # ------------------------------------------------------------------ handing over

    async def _hand(self, plate: Plate) -> float:
        """Decide on an attempt, and record it before anything is done."""
        is_idle = self._turn_is_over(plate)
        reach = await self._messages.reach(plate)
        if plate.status == "starting" and reach.way != _WAY_OF_PLUGINS:
            return self._pause(plate)
        self._has_hooks = reach.way == WAY_OF_HOOKS
        told = await self._record(
            lambda queue: [queue.hand(reach, recipient_of(plate), is_idle=is_idle)]
        )
        for payload in map(events.HANDED.of, told):
            if payload is not None:
                self._attempts = {f"{payload['id']}-{payload['attempt']}": _Attempt(is_ours=True)}
        if told or reach.way is not None:
            # Reached, but nothing is for now: that waits for the end of the turn.
            return 0.0 if told else REST
        return self._pause(plate)

    def _pause(self, plate: Plate) -> float:
        """Wait longer after each failure, until something happens on the plate."""
        pause = RETRIES[min(self._failures, len(RETRIES) - 1)]
        self._failures += 1
        self._not_before = self._clock.monotonic() + pause
        self._failed_at = plate.updated_at
        return pause

    def _paused_for(self, plate: Plate) -> float:
        """How many seconds of a pause are left."""
        left = self._not_before - self._clock.monotonic()
        if plate.updated_at != self._failed_at:
            # Not more often than this, however often its agent reports something.
            left -= RETRIES[-1] - RETRIES[0]
        return max(0.0, left)

    async def _ask(self, plate: Plate, message: PlateMessage, attempt: _Attempt) -> float:
        """Let the machine hand the message over, unless it did so before."""
        if pause := self._paused_for(plate):
            return pause
        id, data = attempt_key(message), asked_of(plate, message)
        is_first = attempt.is_ours and not attempt.was_asked
        attempt.was_asked = True
        try:
            found = await self._hosts.ask(
                plate.host, "say", data, within=SAID_WITHIN, by=message.by, id=id
            )
        except HostTimedOut as error:
            attempt.is_done = "was_asked" in error.context
            return 0.0 if attempt.is_done else self._pause(plate)
        except StoreError:
            raise
        except CallboardError as error:
            # It was not asked, it refused, or it failed in the middle.
            attempt.is_done = isinstance(error, HostFailed) and not error.context.get("untouched")
            if is_first and not attempt.is_done:
                return await self._return(plate, message, error.message)
            return 0.0 if attempt.is_done else self._pause(plate)
        return await self._handed(plate, message, attempt, found)

    async def _handed(
        self, plate: Plate, message: PlateMessage, attempt: _Attempt, found: Object
    ) -> float:
        # A machine may send anything. What is not known is decided by evidence.
        note, result = words(found.get("note")) or None, found.get("result")
        if result == "untouched":
            return await self._return(plate, message, note)
        attempt.is_done = True
        self._failures = 0
        attempt.handed_before, self._handed_at = self._handed_at, self._clock.now_ms()
        if result == "held":
            told = {"id": message.id} | ({} if note is None else {"note": note})
            await self._take(message, Entry(events.HELD, told))
        return 0.0

    async def _return(self, plate: Plate, message: PlateMessage, note: str | None) -> float:
        await self._requeue(message, note)
        return self._pause(plate)

    async def _requeue(self, message: PlateMessage, note: str | None) -> bool:
        self._arrived.pop(message.id, None)
        told = {"id": message.id, "attempt": message.attempt}
        return await self._take(
            message, Entry(events.RETURNED, told | ({} if note is None else {"note": note}))
        )

    # ------------------------------------------------------------------ evidence

    async def _follow(self, plate: Plate, message: PlateMessage, queue: MessageQueue) -> float:
        """Ask for an attempt that was decided on, and look what became of it."""
        attempt = self._attempt(message)
        has_ended = _has_ended(plate, message)
        if attempt.is_ours and not attempt.was_asked and (has_ended or is_asking(plate)):
            return await self._return(plate, message, None)
        may_ask = not has_ended and not is_asking(plate)
        if not attempt.is_done and may_ask and message.status == "handed":
            return await self._ask(plate, message, attempt)
        if message.is_with_hook and await self._comes_back(plate, message, queue):
            await self._return(plate, message, None)
            self._failures, self._not_before = 0, 0.0
            self._handed_at = attempt.handed_before  # It never arrived.
            return 0.0
        pause = await self._look(plate, message, attempt)
        if pause is not None and self._is_overdue(plate, message, attempt):
            reason = _ENDED if has_ended else _UNSEEN
            await self._take(message, events.LOST({"id": message.id, "reason": reason}))
            return 0.0
        return pause or 0.0

    async def _comes_back(self, plate: Plate, message: PlateMessage, queue: MessageQueue) -> bool:
        """Take a message back from a hook, if it can't run anymore or there is a better way now.

        What is for now goes before what is for after the turn.
        """
        if _has_ended(plate, message) or _runs_elsewhere(plate, message):
            return await self._messages.recall(plate, message)
        attempt, now = self._attempt(message), self._clock.monotonic()
        asked_at, updated_at = attempt.asked_at
        if now - asked_at < (RETRIES[0] if updated_at != plate.updated_at else ASKS_AGAIN):
            return False
        attempt.asked_at = now, plate.updated_at
        is_first = message.when == "now" or queue.waiting_now is None
        if is_first and (is_asking(plate) or not self._turn_is_over(plate, attempt)):
            return False
        if is_first and (await self._messages.reach(plate)).way in (None, WAY_OF_HOOKS):
            return False
        return await self._messages.recall(plate, message)

    async def _look(self, plate: Plate, message: PlateMessage, attempt: _Attempt) -> float | None:
        """Look at what the client shows; returns when to look again, None if it showed enough."""
        if (typed := await self._messages.typed_receipt(message, attempt.receipt)) is not None:
            return await self._arrive(message, attempt, *typed)
        data = asked_of(plate, message)
        found: Object = {}
        try:
            found = await self._hosts.ask(plate.host, "look", data, within=LOOKED_WITHIN)
        except StoreError:
            raise
        except CallboardError as error:
            _log.debug("A message could not be looked for: %s", error)
        attempt.looks += 1
        told = found.get("status")
        attempt.waits = told
        status = next((one for one in get_args(Arrival) if one == told), None)
        if status is not None:
            at = number(found["atMs"]) if isinstance(found.get("atMs"), int) else None
            return await self._arrive(message, attempt, status, at)
        is_done = attempt.is_done or message.status != "handed"
        if told == "untouched" and (is_done or _has_ended(plate, message)):
            is_new = await self._requeue(message, None)
            self._pause(plate)
            return None if is_new else _next_look(attempt)
        if told == "held" and not is_asking(plate):
            await self._take(message, Entry(events.HELD, {"id": message.id, "note": _HELD}))
        if told == "refused":
            lost = events.LOST({"id": message.id, "reason": _REFUSED})
            return None if await self._take(message, lost) else _next_look(attempt)
        return _next_look(attempt)

    async def _arrive(
        self, message: PlateMessage, attempt: _Attempt, status: Arrival, at: int | None
    ) -> float | None:
        """Record what shows that a message arrived; returns as `_look` does."""
        await self._record(lambda queue: queue.arrive(message, status, at), message.id)
        if status == "delivered":
            self._arrived[message.id] = replace(message, status="delivered")
        else:
            self._arrived.pop(message.id, None)
        return None if message.status in ("handed", "held") else _next_look(attempt)

    async def _look_further(self, plate: Plate, message: PlateMessage) -> float:
        """Look whether a message that was delivered is seen by now."""
        attempt = self._attempt(message)
        pause = await self._look(plate, message, attempt)
        if self._is_overdue(plate, message, attempt):
            self._arrived.pop(message.id, None)
        return 0.0 if message.id not in self._arrived or pause is None else pause

    def _is_overdue(self, plate: Plate, message: PlateMessage, attempt: _Attempt) -> bool:
        """Whether the client would have shown the message by now, if it had it."""
        has_ended = _has_ended(plate, message)
        waits = message.status == "held"
        waits = waits or (message.way == WAY_OF_HOOKS and message.status != "delivered")
        waits = attempt.waits == "held" or (waits and attempt.waits != "left")
        if not has_ended and (waits or not is_between_turns(plate)):
            attempt.since = None
            return False
        now = self._clock.monotonic()
        if attempt.since is None:
            attempt.since = now
        return now - attempt.since > (ENDS_WITHIN if has_ended else SHOWS_WITHIN)

    # ------------------------------------------------------------------ recording

    def _attempt(self, message: PlateMessage) -> _Attempt:
        return self._attempts.setdefault(attempt_key(message), _Attempt())

    async def _take(self, message: PlateMessage, told: Entry) -> bool:
        """Record what was found out; returns whether that was new."""
        return bool(await self._record(lambda queue: [queue.take(message, told)], message.id))

    async def _record(self, decide: Decide, message_id: str | None = None) -> Sequence[Entry]:
        return await self._messages.record(self._id, decide, message_id)


_ENDED: Final = (
    "The session ended, and nothing shows that the agent got this. Look at its conversation before "
    "you write it again."
)
_UNSEEN: Final = (
    "The agent's turn is over, and nothing shows that it got this. Look at its conversation before "
    "you write it again."
)
_HELD: Final = "A dialog in its terminal is open, and its person decides whether to accept this."
_REFUSED: Final = "The person at the terminal refused it."


def _next_look(attempt: _Attempt) -> float:
    return LOOKS[min(attempt.looks, len(LOOKS)) - 1]


def _has_ended(plate: Plate, message: PlateMessage) -> bool:
    """Whether the session that a message was for is over."""
    return plate.status == "closed" or message.session not in (None, plate.session_id)


def _runs_elsewhere(plate: Plate, message: PlateMessage) -> bool:
    """Whether its session runs in another process than when a message was handed over."""
    was = message.pid, message.proc_start
    return message.pid is not None and was != (plate.pid, plate.proc_start)


def _takes_messages(plate: Plate) -> bool:
    is_known = plate.status != "starting" or not plate.session_id.startswith(NOT_STARTED)
    return is_known and plate.status != "closed" and not is_asking(plate)
