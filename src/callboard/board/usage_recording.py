"""Records what coding agents have used, when their turns end."""

import asyncio
import contextlib
import logging
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Final

from callboard.board.plate import NOT_STARTED, Plate
from callboard.board.plates import Plates
from callboard.board.usage_totals import HourTokens, SessionTokens
from callboard.clock import Clock
from callboard.errors import CallboardError, NotFound, PositionConflict, StoreError
from callboard.events import usage
from callboard.events.envelope import NewEvent
from callboard.events.rows import Query
from callboard.ids import event_id
from callboard.log.protocol import EventLog, Writing
from callboard.state.usage_rows import HOUR_MS, NANOS

_log = logging.getLogger(__name__)

_SETTLES: Final = 0.5
"""Seconds for a client to write the end of a turn."""
_PAUSE: Final = 0.2
_MOST_ROUNDS: Final = 200
"""How often one transcript is read on before it is given up until the next turn."""
_AT_ONCE: Final = 2
_MOST_KNOWN: Final = 2000
_MOST_AT_START: Final = 50
_LATELY_MS: Final = 3_600_000
_CHOSEN: Final = 5
"""The version of UUIDs that are made from a name."""

Turn = tuple[str, int]


class UsageRecorder:
    """Appends running totals to plates' streams, so that counting again changes nothing.

    count: what the session of a plate has used.
    """

    def __init__(
        self,
        log: EventLog,
        plates: Plates,
        count: Callable[[str], Awaitable[SessionTokens]],
        clock: Clock,
    ) -> None:
        self._log = log
        self._plates = plates
        self._read = count
        self._clock = clock
        self._counted: dict[str, Turn] = {}
        self._hosts: set[str] = set()
        self._is_looking = False
        self._slots = asyncio.Semaphore(_AT_ONCE)
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False

    async def close(self) -> None:
        """Count no more."""
        self._is_closed = True
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def look(self, host: str, living: Sequence[Plate]) -> None:
        """Count the sessions of a machine whose turns have ended, and all that ended lately."""
        if host not in self._hosts and host != self._plates.host().id:
            self._start(self.catch_up(host))
        self._hosts.add(host)
        for plate in living:
            if plate.status in ("idle", "error", "closed"):
                self._note(plate.plate_id, (plate.session_id, plate.status_at))
        if not self._is_looking and not self._is_closed:
            self._is_looking = True
            self._start(self._look_for_ended())

    async def _look_for_ended(self) -> None:
        """Sessions can start and end between two looks."""
        since = self._clock.now_ms() - _LATELY_MS
        ended = Query(
            "plates",
            {"status": "closed"},
            at_least=("updated_at", since),
            columns=("id", "session_id", "status_at"),
        )
        try:
            for row in await self._log.rows(ended):
                self._note(row["id"], (row["session_id"], row["status_at"]))
        except StoreError:
            pass  # Again in the next round.
        finally:
            self._is_looking = False

    async def catch_up(self, host: str | None = None) -> None:
        """Count the newest sessions of a machine that ended while no server could see it.

        host: by default, this one.
        """
        host = host or self._plates.host().id
        with contextlib.suppress(StoreError):
            known = [one for one in await self._plates.all(dismissed=True) if one.host == host]
            known.sort(key=lambda one: one.updated_at, reverse=True)
            for plate in known[:_MOST_AT_START]:
                if plate.status == "closed":
                    self._note(plate.plate_id, (plate.session_id, plate.status_at))

    def _note(self, plate_id: str, turn: Turn) -> None:
        if self._counted.get(plate_id) == turn or self._is_closed:
            return
        self._counted.pop(plate_id, None)
        self._counted[plate_id] = turn
        if len(self._counted) > _MOST_KNOWN:
            del self._counted[next(iter(self._counted))]
        self._start(self._count(plate_id))

    def _start(self, work: Coroutine[object, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _count(self, plate_id: str) -> None:
        await self._clock.sleep(_SETTLES)
        async with self._slots:
            try:
                await self.count(plate_id)
            except StoreError:
                self._counted.pop(plate_id, None)  # Again in the next round.
            except CallboardError as error:
                # No transcript, or its machine doesn't let servers read.
                _log.debug("The usage of plate %s is unknown: %s", plate_id, error.message)
            except Exception:
                _log.exception("The usage of plate %s could not be counted", plate_id)

    async def count(self, plate_id: str) -> None:
        """Count a session now, and record what is new."""
        for _ in range(_MOST_ROUNDS):
            plate = await self._plates.get(plate_id, dismissed=True)
            if plate.session_id.startswith(NOT_STARTED) or _is_of_workflow(plate):
                return
            counted = await self._read(plate_id)
            if counted.whole:
                await self._record(plate, counted.totals)
                return
            await self._clock.sleep(_PAUSE)

    async def _record(self, plate: Plate, totals: Sequence[HourTokens]) -> None:
        # A client that doesn't say when something happened: on the day on which it started.
        first = plate.created_at // HOUR_MS * HOUR_MS
        dated = [one if one.hour else replace(one, hour=first) for one in totals]
        while True:
            head = await self._log.head(plate.plate_id)
            known = await self._known(plate)
            counted = [_most(known.get((one.hour, one.model)), one) for one in dated]
            new = [one for one in counted if known.get((one.hour, one.model)) != one]
            if not new:
                return
            event = usage.COUNTED(
                {
                    "sessionId": plate.session_id,
                    "agent": plate.agent,
                    "project": plate.project_path,
                    "totals": [one.told() for one in new],
                }
            )
            told = NewEvent(event_id(), event.name, event.payload, self._clock.now_ms())
            try:
                await self._log.append(plate.plate_id, [told], Writing(expect=head, settle=True))
            except PositionConflict:
                continue
            except NotFound:
                return  # It was pruned.
            return

    async def _known(self, plate: Plate) -> dict[tuple[int, str], HourTokens]:
        where = {"source": "plate", "session": plate.session_id, "agent": plate.agent}
        rows = await self._log.rows(Query("token_usage", where))
        return {
            (row["hour"], row["model"]): HourTokens(
                row["hour"],
                row["model"],
                row["input_tokens"],
                row["output_tokens"],
                row["cache_read_tokens"],
                row["cache_write_tokens"],
                row["calls"],
                row["cost"] / NANOS if row["reported"] else None,
                row["long_cache_write_tokens"],
            )
            for row in rows
        }


def _is_of_workflow(plate: Plate) -> bool:
    """Whether an agent of a workflow runs this session: it reports what it used itself.

    Only Callboard chooses such ids for sessions of Claude Code, whose own are random.
    """
    try:
        return plate.agent == "claude" and uuid.UUID(plate.session_id).version == _CHOSEN
    except ValueError:
        return False


def _most(known: HourTokens | None, counted: HourTokens) -> HourTokens:
    """What was used stays used, although a transcript may have been cut or rewritten since."""
    if known is None:
        return counted
    costs = [one for one in (known.cost, counted.cost) if one is not None]
    return HourTokens(
        counted.hour,
        counted.model,
        max(known.input_tokens, counted.input_tokens),
        max(known.output_tokens, counted.output_tokens),
        max(known.cache_read_tokens, counted.cache_read_tokens),
        max(known.cache_write_tokens, counted.cache_write_tokens),
        max(known.calls, counted.calls),
        max(costs, default=None),
        max(known.long_cache_write_tokens, counted.long_cache_write_tokens),
    )
