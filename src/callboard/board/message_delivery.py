"""Delivers messages to coding agents, for all plates: each has a task while it has messages."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Final

from callboard.board.agent_messages import AgentMessages
from callboard.board.plate_delivery import PlateDelivery
from callboard.board.plates import Plates
from callboard.board.relay_hosts import RelayHosts
from callboard.clock import Clock
from callboard.errors import StoreError
from callboard.log.protocol import EventLog
from callboard.waiting import end, wait_any

_log = logging.getLogger(__name__)

_KIND: Final = "messages"
AT_MOST_EVERY: Final = 0.1
"""Seconds between two looks for new messages, and between two steps of a plate."""
OTHERS_EVERY: Final = 2.0
"""Seconds between looks whether the server that delivers a plate's messages still lives."""
TRY_AGAIN: Final = 1.0
FOLLOWED_MS: Final = 7 * 86_400_000
"""How long after its delivery a message is still followed when a server starts."""


class MessageDelivery:
    """Starts a plate's delivery when it has messages, and ends it after the last one."""

    def __init__(
        self,
        log: EventLog,
        plates: Plates,
        messages: AgentMessages,
        hosts: RelayHosts,
        clock: Clock,
    ) -> None:
        self._log = log
        self._plates = plates
        self._messages = messages
        self._hosts = hosts
        self._clock = clock
        self._news = asyncio.Event()
        self._plate_tasks: dict[str, asyncio.Task[None]] = {}
        self._finding: asyncio.Task[None] | None = None
        self._deliveries: dict[str, tuple[PlateDelivery, asyncio.Event]] = {}
        self._is_new = True
        self._unsubscribe: Sequence[Callable[[], None]] = ()

    def start(self) -> None:
        """Deliver what is queued, and what will be."""
        self._unsubscribe = (
            self._log.on_change(None, lambda head: self._news.set()),
            self._hosts.requests.on_arrival(self._wake),
        )
        self._finding = asyncio.create_task(self._find_all())

    async def stop(self) -> None:
        """Stop. What is on its way is followed by the next server."""
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        await end([*self._plate_tasks.values(), *([self._finding] if self._finding else [])])
        self._finding = None

    def _wake(self) -> None:
        for delivery, changed in self._deliveries.values():
            delivery.end_pause()
            changed.set()

    async def _find_all(self) -> None:
        """Look for plates with messages after each commit; rest while there is none."""
        self._news.set()
        while True:
            await self._news.wait()
            self._news.clear()
            try:
                for plate_id in await self._plates_to_look_at():
                    if plate_id not in self._plate_tasks:
                        self._begin(plate_id)
            except StoreError as error:
                _log.error("Messages to agents could not be read: %s", error)
                await self._clock.sleep(TRY_AGAIN)
                self._news.set()
            await self._clock.sleep(AT_MOST_EVERY)

    async def _plates_to_look_at(self) -> Sequence[str]:
        """Those with messages; at first also those where a server before us followed some."""
        found = await self._messages.waiting_plates()
        if not self._is_new:
            return found
        unseen = await self._messages.unseen_plates(self._clock.now_ms() - FOLLOWED_MS)
        self._is_new = False
        return [*found, *unseen]

    def _begin(self, plate_id: str) -> None:
        task = asyncio.create_task(self._deliver(plate_id))
        self._plate_tasks[plate_id] = task
        task.add_done_callback(lambda done: self._ended(plate_id))

    def _ended(self, plate_id: str) -> None:
        del self._plate_tasks[plate_id]
        self._news.set()  # Another message may have come meanwhile.

    async def _deliver(self, plate_id: str) -> None:
        delivery = PlateDelivery(plate_id, self._plates, self._messages, self._hosts, self._clock)
        changed = asyncio.Event()
        self._deliveries[plate_id] = delivery, changed
        unsubscribe = self._log.on_change(plate_id, lambda head: changed.set())
        is_held = False
        try:
            while True:
                changed.clear()
                is_held = is_held or await self._hold(plate_id, delivery)
                pause = await self._step(delivery) if is_held else OTHERS_EVERY
                if pause is None:
                    break
                if pause > 0:
                    await wait_any(changed.wait(), self._clock.sleep(pause))
                    await self._clock.sleep(min(pause, AT_MOST_EVERY))
            await self._log.server_state.release(_KIND, plate_id)
        finally:
            del self._deliveries[plate_id]
            unsubscribe()

    async def _hold(self, plate_id: str, delivery: PlateDelivery) -> bool:
        """Show other servers that this one delivers here, unless one of them does already.

        If two do so at the same time, each attempt is still done once.
        """
        state = self._log.server_state
        if await state.held_elsewhere(_KIND, [plate_id]):
            return False
        await state.hold(_KIND, plate_id)
        since = self._clock.now_ms() - FOLLOWED_MS
        for message in await self._messages.unseen(plate_id, since):
            delivery.follow(message)
        return True

    async def _step(self, delivery: PlateDelivery) -> float | None:
        try:
            return await delivery.step()
        except StoreError as error:
            _log.error("A message to an agent could not be delivered: %s", error)
        except Exception:  # One that is broken doesn't keep others from being delivered.
            _log.exception("A message to an agent could not be delivered")
        return TRY_AGAIN
