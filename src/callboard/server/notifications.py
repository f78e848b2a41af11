"""Notify people when they are needed: once, briefly, and after a delay.

People at the terminal answer within seconds, and a message would only disturb them.
"""

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from hashlib import sha256
from pathlib import PurePath
from socket import gethostname
from typing import Final

from callboard.board.plate import Pending, Plate
from callboard.board.plates import Plates
from callboard.board.transition import ASKS
from callboard.clock import Clock
from callboard.display.lines import one_line
from callboard.errors import CallboardError, HistoryChanged, PlateNotFound, StoreError
from callboard.events import names
from callboard.events import plates as plate_events
from callboard.events.envelope import Event
from callboard.events.json_values import as_object
from callboard.events.rows import Query, Row
from callboard.interactions.configs import addressees, channel_of
from callboard.interactions.kinds import manner_of
from callboard.interactions.records import interaction
from callboard.log.protocol import EventLog
from callboard.server.notice_claims import NoticeClaims
from callboard.server.notifier import SOUND, AppriseNotifier, Notifier
from callboard.systems.sounds import most_pressing

_log = logging.getLogger(__name__)

PATIENCE: Final = 10.0
"""Seconds that a person has to be needed before a notification is sent."""
_TRY_AGAIN: Final = 5.0
_LONGEST: Final = 200
_MOST_LINES: Final = 8
_TELLING: Final = frozenset({"status", "pending", "unseen", "dismissed"})
"""The fields of a plate that change when it starts to need a person."""
_SECRET: Final = re.compile(
    r"(?i)\b(?:bearer|basic|password|passwd|pwd|secret|token|api[-_ ]?key)\b\s*[=: ]\s*\S+"
    r"|\b[\w-]*(?:sk|pk|ghp|gho|xox[abp]|cb|AKIA)[-_]?[A-Za-z0-9_-]{16,}"
    r"|\b(?=[A-Za-z_-]*\d)[A-Za-z0-9+/_-]{32,}={0,2}"
)


@dataclass(frozen=True, slots=True)
class Notice:
    """A notification: who needs a person, and why. Sent once per `occasion`.

    state: selects the sound. channel: the receivers to use; None for all.
    """

    occasion: str
    who: str
    what: str
    state: str
    channel: str | None = None


@asynccontextmanager
async def telling(
    urls: Sequence[str], log: EventLog, plates: Plates, clock: Clock
) -> AsyncGenerator["Notifications"]:
    """Notify the receivers at these URLs within this context; does nothing without URLs.

    Of several servers with the same URLs, one sends each notification.
    """
    notifier = AppriseNotifier(urls)
    notices = Notifications(log, plates, notifier, clock, audience=_audience(urls))
    try:
        async with watching(notices) if urls else nullcontext():
            yield notices
    finally:
        notifier.close()


@asynccontextmanager
async def watching(notices: "Notifications") -> AsyncGenerator[None]:
    """Watch the log from its end on."""
    task = asyncio.create_task(notices.watch(await notices.log.last_sequence()))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})
        if not task.cancelled() and task.exception() is not None:
            _log.error("notifications had ended", exc_info=task.exception())


class Notifications:
    """Watches a log and sends notifications. Its errors affect nothing else.

    audience: servers with the same one send each notification only once.
    """

    def __init__(
        self,
        log: EventLog,
        plates: Plates,
        notifier: Notifier,
        clock: Clock,
        patience: float = PATIENCE,
        audience: str = "",
    ) -> None:
        self.link: str | None = None
        """Where a person can answer, once known."""
        self.log = log
        self._plates = plates
        self._notifier = notifier
        self._clock = clock
        self._patience = patience
        self._claims = NoticeClaims(log, audience)
        self._place = 0
        self._since = clock.now_ms()
        self._due: dict[str, float] = {}
        self._more = asyncio.Event()

    async def watch(self, after: int) -> None:
        """Follow the log from a position until cancelled. Log errors are retried."""
        self._place, self._since = after, self._clock.now_ms()
        async with asyncio.TaskGroup() as group:
            for work in (self._read, self._take_over, self._tell):
                group.create_task(self._patiently(work))

    async def _patiently(self, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            try:
                await work()
            except CallboardError as error:
                _log.warning("notifications wait for the log: %s", error)
            await self._clock.sleep(_TRY_AGAIN)

    # ------------------------------------------------------------------ what may be new

    async def _read(self) -> None:
        try:
            async for place, event in self.log.tail_all(self._place):
                self._place = place
                subject = _subject(event)
                if subject is not None:
                    self._expect(subject, self._patience)
        except HistoryChanged:
            # What is written now may have had other sequences: look at everything that is open.
            self._place = await self.log.last_sequence()
            await self._look_at_all()
            raise

    def _expect(self, subject: str, seconds: float) -> None:
        if subject not in self._due:
            self._due[subject] = self._clock.monotonic() + seconds
            self._more.set()

    async def _look_at_all(self) -> None:
        """Expect what has come up since the start, in case its event was missed."""
        asked = await self.log.rows(Query("human_interactions", {"status": "pending"}))
        now_ms = self._clock.now_ms()
        for row in asked:
            is_of_plate = "plateId" in (interaction(row, now_ms).config or ())
            if row["created_at"] >= self._since and not is_of_plate:
                self._expect(f"question {row['id']}", self._patience)
        for plate in await self._plates.all():
            if plate.status_at >= self._since:
                self._expect(f"plate {plate.plate_id}", self._patience)

    async def _take_over(self) -> None:
        """Send what other servers had claimed when they died."""
        changed = asyncio.Event()
        # PostgreSQL announces a death; with SQLite, this happens after the next commit.
        undo = self.log.on_change(None, lambda _: changed.set())
        try:
            while True:
                changed.clear()
                for subject in await self._claims.take_over():
                    self._expect(subject, 0.0)
                await changed.wait()
                await self._clock.sleep(_TRY_AGAIN)
        finally:
            undo()

    async def _tell(self) -> None:
        while True:
            await self._more.wait()
            while self._due:
                await self._clock.sleep(max(0.0, min(self._due.values()) - self._clock.monotonic()))
                await self._tell_due()
            self._more.clear()

    async def _tell_due(self) -> None:
        now = self._clock.monotonic()
        due = [subject for subject, at in self._due.items() if at <= now]
        found: dict[str, Notice] = {}
        for subject in due:
            del self._due[subject]
            try:
                notice = await self._still_needed(subject)
                if notice is not None and await self._claims.claim(subject, notice.occasion):
                    found[subject] = notice
                elif self._claims.is_left(subject):
                    await self._claims.finish(subject)
            except StoreError as error:
                _log.warning("a notification waits for the log: %s", error.message)
                self._due.setdefault(subject, now + _TRY_AGAIN)
        for channel in dict.fromkeys(notice.channel for notice in found.values()):
            # Not awaited: the next notification may be due while a slow receiver handles this one.
            together = {name: one for name, one in found.items() if one.channel == channel}
            sending = asyncio.create_task(self._deliver(together, channel))
            sending.add_done_callback(_log_failure)

    async def _deliver(self, found: Mapping[str, Notice], channel: str | None) -> None:
        await self._send(list(found.values()), channel)
        # If a receiver didn't get it, that was logged; only a server that died is made up for.
        await self._claims.finish(*found)

    async def _send(self, found: list[Notice], channel: str | None) -> None:
        if len(found) == 1:
            title, body = f"{found[0].who} needs you", found[0].what
        else:
            title = f"{len(found)} need you"
            shown = [f"{one.who}: {one.what}" for one in found[:_MOST_LINES]]
            more = len(found) - len(shown)
            body = "\n".join([*shown, f"and {more} more"] if more else shown)
        state = most_pressing(one.state for one in found)
        await self._notifier.needs(title, body, self.link, channel, state)

    # ------------------------------------------------------------------ whether it is still needed

    async def _still_needed(self, subject: str) -> Notice | None:
        """The notification to send now; None if it was answered, seen or ended in the meantime."""
        kind, _, id = subject.partition(" ")
        try:
            if kind == "plate":
                return _of_plate(await self._plates.get(id, dismissed=True))
            where = {"id": id, "status": "pending"}
            rows = await self.log.rows(Query("human_interactions", where))
            return await self._of_question(rows[0]) if rows else None
        except PlateNotFound:
            return None
        except StoreError:
            raise
        except CallboardError as error:
            _log.warning("a notification could not be made: %s", error.code)
            return None

    async def _of_question(self, row: Row) -> Notice:
        sessions = await self.log.rows(Query("sessions", {"id": row["execution_id"] or ""}))
        who = sessions[0]["workflow"] if sessions else "Callboard"
        config = interaction(row, self._clock.now_ms()).config
        named = addressees(config)
        called = f"{', '.join(named)}: " if named else ""
        what = shortened(called + row["prompt"])
        verdict = manner_of(row["type"]) in ("verdict", "ruling")
        state = "awaiting_approval" if verdict else "awaiting_input"
        return Notice(row["id"], shortened(who), what, state, channel_of(config))


def _audience(urls: Sequence[str]) -> str:
    """Identifies the receivers. A sound is heard only where it is played."""
    place = gethostname() if any(url.startswith(SOUND) for url in urls) else ""
    return sha256("\n".join([place, *sorted(urls)]).encode()).hexdigest()[:16]


def _subject(event: Event) -> str | None:
    """What to check for a notification after an event; None for most events."""
    if event.name in plate_events.ALL:
        changed = as_object(event.payload.get("plate"))
        return f"plate {event.session_id}" if _TELLING & changed.keys() else None
    if event.name == names.REQUESTED:
        config = event.payload.get("config")
        asks_for_plate = isinstance(config, Mapping) and "plateId" in config
        return None if asks_for_plate else f"question {event.payload['id']}"
    return None


def _of_plate(plate: Plate) -> Notice | None:
    """What a plate needs; None if it needs nothing. The command to run is left out: it may contain
    secrets, and receivers are other people's machines.
    """
    if not plate.attention or plate.dismissed:
        return None
    project = PurePath(plate.project_path).name
    who = f"{plate.agent} in {project}" + (f" ({plate.name})" if plate.name else "")
    if plate.pending:
        first = plate.pending[0]
        occasion = f"{plate.plate_id} {first.id or first.call}"
        state = "awaiting_input" if first.tool == ASKS else "awaiting_approval"
        return Notice(occasion, shortened(who), _asked(first), state)
    occasion = f"{plate.plate_id} {plate.status} {plate.status_at}"
    if plate.status == "error":
        why = shortened(f"failed: {plate.error or 'unknown'}")
        return Notice(occasion, shortened(who), why, plate.status)
    if plate.status == "idle" and plate.background:
        return None  # It resumes by itself.
    return Notice(occasion, shortened(who), _WORDS.get(plate.status, "is done"), plate.status)


_WORDS: Final = {"awaiting_input": "asks a question", "awaiting_approval": "needs approval"}


def _asked(pending: Pending) -> str:
    match pending.tool:
        case "AskUserQuestion":
            return shortened(pending.asks)
        case "ExitPlanMode":
            return "has a plan to approve"
        case tool:
            return shortened(f"wants to use {tool}" if tool else "needs approval")


def shortened(text: str) -> str:
    """Text on one line, without hidden characters or anything that looks like a secret."""
    return one_line(_SECRET.sub("[hidden]", one_line(text)), _LONGEST)


def _log_failure(sending: "asyncio.Task[None]") -> None:
    if not sending.cancelled() and sending.exception() is not None:
        _log.warning("a notification failed: %s", type(sending.exception()).__name__)
