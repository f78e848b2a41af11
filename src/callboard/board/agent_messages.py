"""Messages to coding agents in the log: written, changed, and recorded as what became of them.

The events are in the stream of the plate. Each one is based on the messages as they are then;
otherwise the log refuses it, and they are read again.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, Literal, get_args

from callboard.board.approved_messages import approved_writer
from callboard.board.host_requests import words
from callboard.board.message_queue import Arrival, MessageQueue
from callboard.board.messages import PlateInterrupted, PlateMessage, PlateMessages
from callboard.board.plate import Plate
from callboard.board.plates import Plates
from callboard.board.relay_hosts import RelayHosts
from callboard.board.typed_receipts import TypedReceipt
from callboard.clock import Clock
from callboard.errors import (
    CallboardError,
    ConflictError,
    HostTimedOut,
    HostUnreachable,
    InteractionNotFound,
    NotFound,
    PositionConflict,
    PowerNotGranted,
)
from callboard.events import messages as events
from callboard.events.envelope import NewEvent
from callboard.events.event_name import Entry
from callboard.events.json_values import Object
from callboard.events.payloads.messages import MessageTiming
from callboard.events.rows import Query
from callboard.ids import event_id, keyed_id, short_id
from callboard.interactions.records import Interaction, interaction
from callboard.log.protocol import EventLog, Writing
from callboard.vendors.steering import Outgoing, Reach, Recipient, Way

MOST_PAST: Final = 50
"""How many messages that were delivered, withdrawn or lost are listed."""
_MOST_TEXT: Final = 1_048_576
"""Characters of past messages that are listed."""
REACHED_WITHIN: Final = 5.0

Decide = Callable[[MessageQueue], Sequence[Entry | None]]
"""What happens to a plate's messages, from what they are now."""


class AgentMessages:
    """Write to coding agents, and see what becomes of it. A server hands the messages over."""

    def __init__(self, log: EventLog, plates: Plates, hosts: RelayHosts, clock: Clock) -> None:
        self._log = log
        self._plates = plates
        self._hosts = hosts
        self._clock = clock

    async def list(self, plate_id: str) -> PlateMessages:
        """The messages to a session, and how it can be reached now."""
        plate = await self._plates.get(plate_id)
        found = Query(
            "plate_messages",
            {"plate": plate_id},
            at_least=("closed_at", 0),
            order="place",
            descending=True,
            limit=MOST_PAST,
            size=_MOST_TEXT,
        )
        past = [PlateMessage.from_row(row) for row in await self._log.rows(found)]
        waiting = (await self.queue(plate_id)).messages
        listed = [one.shown for one in [*reversed(past), *waiting]]
        return PlateMessages(listed, await self.reach(plate))

    async def say(  # noqa: PLR0913 - public API, all by keyword
        self,
        plate_id: str,
        text: str,
        *,
        when: MessageTiming = "now",
        approval: str | None = None,
        key: str | None = None,
        by: str | None = None,
        via: str | None = "python",
    ) -> PlateMessage:
        """Write to a session. The message is queued, and a server hands it over.

        approval: the question in which a person approved exactly this message. It sends one. key:
        one of the sender's own. It sends one, too, and ConflictError if that was another one.
        """
        plate = await self._plates.get(plate_id)
        if approval is not None:
            by = approved_writer(await self._question(approval), plate_id, text, when)
            # Some clients take every message as their person's own words.
            text = f"From {by}:\n\n{text}"
        own = short_id() if key is None else keyed_id("message", plate_id, key)
        id, who = approval or own, _who(by, via)

        def decided(queue: MessageQueue) -> Sequence[Entry | None]:
            if not queue.has(id):
                return [queue.add(id, text, when, who)]
            if approval is None:
                queue.check_same(id, text, when)
            return []

        is_new = approval is None and key is None
        if is_new or not (await self.queue(plate_id, id)).has(id):
            _check_open(plate)
            await self.check_power(plate.host)
        return await self._write(plate_id, id, decided)

    async def change(
        self,
        plate_id: str,
        message_id: str,
        *,
        text: str | None = None,
        when: MessageTiming | None = None,
        before: str | None = None,
        by: str | None = None,
    ) -> PlateMessage:
        """Change a message that is still queued. before: move it before this one; "": to the end.

        ConflictError once it was handed over. From a hook that has not run, it is taken back.
        """
        who = _who(by)

        def decided(queue: MessageQueue) -> Sequence[Entry | None]:
            changed = queue.change(message_id, text, when, who)
            return [changed, None if before is None else queue.move(message_id, before, who)]

        ids = [message_id, *([before] if before else [])]
        return await self._write(plate_id, message_id, await self._reaching(plate_id, ids, decided))

    async def withdraw(
        self, plate_id: str, message_id: str, *, by: str | None = None
    ) -> PlateMessage:
        """Take back a message that is still queued. ConflictError once it was handed over."""
        who = _who(by)
        decide = await self._reaching(
            plate_id, [message_id], lambda queue: [queue.withdraw(message_id, who)]
        )
        return await self._write(plate_id, message_id, decide)

    async def interrupt(
        self, plate_id: str, *, by: str | None = None, via: str | None = None
    ) -> PlateInterrupted:
        """Stop the agent's turn."""
        plate = await self._plates.get(plate_id)
        _check_open(plate)
        await self.check_power(plate.host)
        who = _who(by, via)
        await self.record(plate_id, lambda queue: [Entry(events.INTERRUPT_REQUESTED, who)])
        told = await self._hosts.ask(
            plate.host, "interrupt", {"recipient": recipient_of(plate).to_wire()}, by=by
        )
        done = PlateInterrupted(told.get("told") is True, words(told.get("note")) or None)
        answered = events.INTERRUPT_ANSWERED({"wasInterrupted": done.was_interrupted})
        await self.record(plate_id, lambda queue: [answered])
        return done

    # ------------------------------------------------------------------ for what delivers them

    async def reach(self, plate: Plate) -> Reach:
        """How a session can be reached now; a sentence instead if its machine can't say."""
        if plate.status == "closed":
            return Reach(None, authority=False, note="This session has ended.")
        told = {"recipient": recipient_of(plate).to_wire()}
        try:
            found = await self._hosts.ask(plate.host, "reach", told, within=REACHED_WITHIN)
        except HostUnreachable:
            where = plate.host_name or "Its machine"
            note = f"{where} can't be reached. Messages are delivered once it can be."
            return Reach(None, authority=False, note=note)
        except CallboardError as error:
            return Reach(None, authority=False, note=error.message)
        # A machine may send anything.
        way = next((one for one in get_args(Way) if one == found.get("way")), None)
        return Reach(way, found.get("authority") is True, words(found.get("note")) or None)

    async def check_power(self, host: str) -> None:
        """PowerNotGranted if a machine doesn't allow messages to its agents."""
        known = {one.id: one for one in await self._hosts.list()}.get(host)
        if known is not None and "say" not in known.powers:
            powers = ",".join([*known.powers, "say"])
            raise PowerNotGranted(
                f"{known.name} doesn't allow messages to its agents. Its owner can, there: "
                f"callboard relay --allow {powers}",
                power="say",
                host=host,
            )

    async def recall(self, plate: Plate, message: PlateMessage) -> bool:
        """Take a message back from its machine's hooks; returns whether none got it, for sure."""
        told, key = asked_of(plate, message), attempt_key(message)
        try:
            # With the id of the attempt: if that is new, the attempt is not made anymore.
            await self._hosts.ask(plate.host, "recall", told, within=REACHED_WITHIN, id=key)
        except HostTimedOut as error:
            if "was_asked" not in error.context:
                return False
        except CallboardError:
            return False
        else:
            return True
        try:
            found = await self._hosts.ask(plate.host, "recall", told, within=REACHED_WITHIN)
        except CallboardError:
            return False
        return found.get("recalled") is True

    async def typed_receipt(
        self, message: PlateMessage, known: TypedReceipt
    ) -> tuple[Arrival, int] | None:
        """What the client's hooks have reported of a message that was typed, and when.

        known: what was found out about this attempt before.
        """
        if message.way != "terminal":
            return None
        return await known.look(self._log, message)

    async def unseen(self, plate_id: str, since_ms: int) -> Sequence[PlateMessage]:
        """The messages that were delivered since then, and of which nothing shows who saw them."""
        where = {"plate": plate_id, "status": "delivered"}
        found = Query("plate_messages", where, at_least=("closed_at", since_ms))
        return [PlateMessage.from_row(row) for row in await self._log.rows(found)]

    async def unseen_plates(self, since_ms: int) -> Sequence[str]:
        """The plates with such messages."""
        where = {"status": "delivered"}
        found = Query(
            "plate_messages",
            where,
            at_least=("closed_at", since_ms),
            columns=("plate",),
            count=True,
        )
        return [row["plate"] for row in await self._log.rows(found)]

    async def waiting_plates(self) -> Sequence[str]:
        """The plates with messages that are not closed."""
        found = Query("plate_messages", {"closed_at": None}, columns=("plate",), count=True)
        return [row["plate"] for row in await self._log.rows(found)]

    async def queue(self, plate_id: str, message_id: str | None = None) -> MessageQueue:
        """The messages that are not closed, by place; and this one, if it is."""
        where = {"plate": plate_id, "closed_at": None}
        rows = await self._log.rows(Query("plate_messages", where, order="place"))
        if message_id is not None and all(row["id"] != message_id for row in rows):
            asked = Query("plate_messages", {"id": message_id, "plate": plate_id})
            rows = [*await self._log.rows(asked), *rows]
        return MessageQueue([PlateMessage.from_row(row) for row in rows])

    async def record(
        self, plate_id: str, decide: Decide, message_id: str | None = None
    ) -> Sequence[Entry]:
        """Append what is decided about the messages as they are now; returns what was."""
        while True:
            # In this order: anything that changes them after they were read moves the head.
            head = await self._log.head(plate_id)
            queue = replace(await self.queue(plate_id, message_id), head=head)
            told = [one for one in decide(queue) if one is not None]
            if not told:
                return []
            now = self._clock.now_ms()
            new = [NewEvent(event_id(), one.name, one.payload, now) for one in told]
            try:
                await self._log.append(plate_id, new, Writing(expect=head, settle=True))
            except PositionConflict:
                continue
            return told

    async def _reaching(self, plate_id: str, ids: Sequence[str], decide: Decide) -> Decide:
        """The same decision, after those that wait for a hook were taken back from it."""
        plate = await self._plates.get(plate_id)
        waiting = [one for one in (await self.queue(plate_id)).messages if one.is_with_hook]
        recalled = [
            (one.id, one.attempt)
            for one in waiting
            if one.id in ids and await self.recall(plate, one)
        ]

        def decided(queue: MessageQueue) -> Sequence[Entry | None]:
            left, told = queue.taken_back(recalled)
            return [*told, *decide(left)]

        return decided

    async def _write(self, plate_id: str, message_id: str, decide: Decide) -> PlateMessage:
        await self.record(plate_id, decide, message_id)
        rows = await self._log.rows(Query("plate_messages", {"id": message_id}))
        if not rows:  # Its plate was pruned just now.
            raise NotFound(f"There is no message {message_id!r}.", id=message_id)
        return PlateMessage.from_row(rows[0]).shown

    async def _question(self, id: str) -> Interaction:
        rows = await self._log.rows(Query("human_interactions", {"id": id}))
        if not rows:
            raise InteractionNotFound(f"approval: there is no question {id!r}.", interaction_id=id)
        return interaction(rows[0], self._clock.now_ms())


def recipient_of(plate: Plate, session: str | None = None) -> Recipient:
    """A session of a plate, as its machine has to know it; by default the current one."""
    is_current = session in (None, plate.session_id)
    return Recipient(
        plate.agent,
        session or plate.session_id,
        plate.project_path,
        pid=plate.pid,
        proc_start=plate.proc_start,
        transcript=plate.transcript_path if is_current else None,
        tmux_target=plate.tmux_target,
        status=_standing(plate) if is_current else None,
    )


def asked_of(plate: Plate, message: PlateMessage) -> Object:
    """What the machine has to know of a message. In another session, only where it was.

    What shows that it arrived is with the process that it was handed to.
    """
    recipient = recipient_of(plate, message.session)
    if message.pid is not None:
        recipient = replace(recipient, pid=message.pid, proc_start=message.proc_start)
    way = next((one for one in get_args(Way) if one == message.way), None)
    outgoing = Outgoing(message.id, message.text, message.when, message.by, way)
    return {"recipient": recipient.to_wire(), "message": outgoing.to_wire()}


def attempt_key(message: PlateMessage) -> str:
    """The id of the command for an attempt, the same for every server that asks for it."""
    return f"{message.id}-{message.attempt}"


def is_asking(plate: Plate) -> bool:
    """Whether a dialog is open. What is typed there would answer it."""
    return bool(plate.pending) or plate.status in ("awaiting_input", "awaiting_approval")


def is_between_turns(plate: Plate) -> bool:
    """Whether the agent waits for a prompt."""
    return plate.status in ("idle", "error")


def _standing(plate: Plate) -> Literal["idle", "busy", "waiting"] | None:
    if is_asking(plate):
        return "waiting"
    if plate.status in ("starting", "closed"):
        return None
    return "idle" if is_between_turns(plate) else "busy"


def _check_open(plate: Plate) -> None:
    if plate.status == "closed":
        raise ConflictError(
            f"This session has ended. Resume it: callboard start --resume {plate.plate_id}",
            plate_id=plate.plate_id,
        )


def _who(by: str | None, via: str | None = None) -> dict[str, str]:
    told = {"by": by, "via": via}
    return {key: value for key, value in told.items() if value}
