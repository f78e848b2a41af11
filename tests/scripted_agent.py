"""A board with one agent, whose client takes messages as a test says."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from callboard.app import Callboard
from callboard.board.host_requests import HostRequest
from callboard.board.messages import PlateMessage
from callboard.board.plate import Plate
from callboard.board.plate_delivery import PlateDelivery
from callboard.clock import Clock
from callboard.events import plates as events
from callboard.events.event_name import Entry
from callboard.relay.command_table import CommandJournal, CommandTable
from callboard.relay.settings import POWERS
from callboard.relay.steering_commands import SteeringCommands
from callboard.vendors.reports import Report
from callboard.vendors.steering import (
    InterruptAttempt,
    MessageHandover,
    Note,
    Outgoing,
    Reach,
    Recipient,
    Sighting,
    unnoted,
)


@dataclass
class ScriptedAgent:
    """The ways to a client.

    got: the texts that it was given, in order. mail: what waits for a hook of it. results: of the
    next hand-overs; `accepted` afterwards. shows: what its transcript has of each message, by text.
    on_say: called in the middle of a hand-over. dropped: the processes that lost what they had.
    """

    got: list[str] = field(default_factory=list[str])
    mail: dict[str, str] = field(default_factory=dict[str, str])
    results: list[str] = field(default_factory=list[str])
    shows: dict[str, str] = field(default_factory=dict[str, str])
    way: str | None = "inbox"
    on_say: Callable[[str], None] | None = None
    interrupts: int = 0
    dropped: set[int] = field(default_factory=set[int])

    async def reach(self, recipient: Recipient) -> Reach:
        return Reach(self.way, authority=False, note=None if self.way else "Not now.")  # type: ignore[arg-type]

    async def say(
        self, recipient: Recipient, message: Outgoing, note: Note = unnoted
    ) -> MessageHandover:
        note()
        result = self.results.pop(0) if self.results else "accepted"
        if message.way == "hook" and result != "untouched":
            self.mail[message.id] = message.text
            result = "accepted"
        elif result not in ("untouched", "unknown but nothing happened"):
            self.got.append(message.text)
        if self.on_say is not None:
            self.on_say(message.text)
            await asyncio.sleep(0)
        result = "unknown" if result.startswith("unknown") else result
        return MessageHandover(result, "inbox", f"It was {result}.")  # type: ignore[arg-type]

    def hook_runs(self) -> None:
        """One message that waits for it, if any."""
        if self.mail:
            id, text = next(iter(self.mail.items()))
            del self.mail[id]
            self.got.append(text)
            self.shows[text] = "delivered"

    async def recall(self, recipient: Recipient, message: Outgoing) -> bool:
        return self.mail.pop(message.id, None) is not None

    async def look(self, recipient: Recipient, message: Outgoing) -> Sighting:
        if recipient.pid in self.dropped:
            return Sighting("untouched")
        if message.way == "hook" and message.text not in self.got and message.id not in self.mail:
            return Sighting("untouched")
        return Sighting(self.shows.get(message.text))  # type: ignore[arg-type]

    async def interrupt(self, recipient: Recipient) -> InterruptAttempt:
        self.interrupts += 1
        return InterruptAttempt(told=True)


class MessageWorld:
    """A log, a plate, and its machine, which keeps a journal of its commands."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self.folder = folder
        self.board = Callboard.open(None, clock=clock)
        self.clock = clock
        self.agent = ScriptedAgent()
        self.tasks: set[asyncio.Task[None]] = set()
        self.is_lost = False
        """Whether the receipts of commands get lost."""

    async def start(self, status: str = "idle") -> None:
        await self.hear(events.SESSION_START({}), events.TURN_IDLE({}))
        if status == "running":
            await self.hear(events.PROMPT_SUBMIT({"prompt": "Go."}))
        (plate,) = await self.board.plates.all()
        self.id = plate.plate_id
        await self.serve()

    async def serve(self) -> None:
        """Start the machine, as after a crash: only the journal is left."""
        commands = SteeringCommands(lambda agent: self.agent).commands
        journal = CommandJournal(self.folder / "commands")
        self.table = CommandTable(commands, POWERS, journal)
        await self.board.hosts.serve_own(self.board.plates.host().id, self._take)
        self.delivery = self.new_delivery()

    def new_delivery(self) -> PlateDelivery:
        """What another server would use."""
        board = self.board
        return PlateDelivery(self.id, board.plates, board.messages, board.hosts, self.clock)

    def _take(self, request: HostRequest) -> None:
        task = asyncio.create_task(self._do(request))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _do(self, request: HostRequest) -> None:
        told = await self.table.do(request.command, request.id, request.data, request.within)
        if told is not None and not self.is_lost:
            await self.board.hosts.requests.answered(request.host, told)

    async def hear(self, *signals: Entry, pid: int = 4711) -> None:
        """The agent's hooks report something."""
        for signal in signals:
            report = Report("claude", "s1", (signal,), pid=pid, proc_start="1", project_path="/p")
            await self.board.plates.hear(report)

    async def plate(self) -> Plate:
        return await self.board.plates.get(self.id, dismissed=True)

    async def say(self, text: str, **more: Any) -> str:
        return (await self.board.messages.say(self.id, text, **more)).id

    async def steps(self, delivery: PlateDelivery | None = None, most: int = 30) -> float | None:
        """Step until there is nothing to do at the moment; returns the pause."""
        for _ in range(most):
            if (pause := await (delivery or self.delivery).step()) != 0:
                return pause
        raise AssertionError("It never pauses.")

    async def messages(self) -> list[PlateMessage]:
        return (await self.board.messages.list(self.id)).messages

    async def statuses(self) -> dict[str, str]:
        return {one.text: one.status for one in await self.messages()}

    async def crash_while(self, work: Coroutine[Any, Any, Any], when: asyncio.Event) -> None:
        """Do something, and stop in the middle of it without an end."""
        task = asyncio.ensure_future(work)
        await when.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
