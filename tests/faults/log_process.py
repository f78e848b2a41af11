"""What the other processes of the logs' fault tests do: run as a script, told by lines on stdin."""

import asyncio
import itertools
import secrets
import sys
from collections.abc import Callable, Coroutine
from typing import Any

from callboard.errors import CallboardError
from callboard.events.envelope import Event
from callboard.events.rows import Change, Put, RowChange
from callboard.log.postgres.log import PostgresLog
from callboard.log.protocol import EventLog, Writing
from callboard.log.sqlite.log import SqliteLog
from callboard.testing.log_suite_material import happened


def counting(event: Event) -> list[RowChange]:
    """A projection that touches one row with every event."""
    session = event.session_id
    if event.position == 1:
        row = {"id": session, "workflow": "w", "created_at": 0, "pending": 1}
        return [Put("sessions", row)]
    return [Change("sessions", {"id": session}, add={"pending": 1})]


def say(*words: object) -> None:
    print(*words, flush=True)


async def told() -> str:
    """The next line from the test; waits in a thread, so that the heart goes on beating."""
    return (await asyncio.to_thread(sys.stdin.readline)).strip()


async def write_for_ever(log: EventLog, name: str) -> None:
    """Append to several streams at once, and say what was acknowledged."""

    async def write(stream: str) -> None:
        for _ in itertools.count():
            events = [happened(), happened()]
            appended = await log.append(stream, events)
            for position, event in enumerate(events, appended.head - 1):
                say(stream, position, event.id)

    await asyncio.gather(*(write(f"{name}-{number}") for number in range(4)))


async def write_to_one_stream(log: EventLog, name: str) -> None:
    """Append one by one to a stream that the others write to as well, and to one's own."""
    say("ready")
    await told()
    for number in itertools.count():
        await log.append("shared", [happened("by", {"writer": name})])
        await log.append(name, [happened()], Writing(expect=number))


async def own(log: EventLog, name: str) -> None:
    """Claim a stream; then say what becomes of each thing that the test asks for."""
    appended = await log.append("owned", [happened()], Writing(claim=True))
    epoch = appended.epoch
    say("epoch", epoch)
    while word := await told():
        writing = Writing(epoch=epoch) if word == "append" else Writing(claim=True)
        try:
            appended = await log.append("owned", [happened()], writing)
            say("epoch", appended.epoch)
        except CallboardError as refusal:
            say(type(refusal).__name__)


async def hold_the_lock(log: EventLog, name: str) -> None:
    """Take the right to write, and keep it."""
    assert isinstance(log, SqliteLog)
    log._place.turnstile.enter(10)
    say("holding")
    await told()


async def append_once(log: EventLog, name: str) -> None:
    """Append one event, and tell its position."""
    appended = await log.append("shared", [happened("by", {"writer": name})])
    say(appended.head)


async def append_when_told(log: EventLog, name: str) -> None:
    """Append one event for each line, with a text as long as the line says."""
    say("ready")
    while line := await told():
        size = int(line) if line.isdecimal() else 0
        await log.append("told", [happened(payload={"text": secrets.token_hex(size // 2)})])


async def write_many(log: EventLog, name: str) -> None:
    """Append numbered events: `name` and how many; most of them to streams of one's own."""
    writer, count = name.split(":")
    each, lanes = 5, 10

    async def write(lane: int) -> None:
        for turn in range(lane, int(count) // each, lanes):
            stream = f"{writer}-{lane}" if turn % 5 else f"shared-{turn % 4}"
            numbers = range(turn * each, (turn + 1) * each)
            facts = [{"writer": writer, "number": number} for number in numbers]
            await log.append(stream, [happened("by", fact) for fact in facts])

    say("ready")
    await told()
    await asyncio.gather(*(write(lane) for lane in range(lanes)))
    say("done")


async def hold_slots(log: EventLog, name: str) -> None:
    """Take two slots, wait for a third, and say so."""
    for number in range(2):
        await log.slots.take("llm", f"{name}{number}", "run")
    waiting = asyncio.create_task(log.slots.take("llm", f"{name}2", "run"))
    while not any(limit.waiting for limit in await log.slots.list()):
        await asyncio.sleep(0.01)
    say("holding")
    await told()
    waiting.cancel()


async def stand(log: EventLog, name: str) -> None:
    """Stand for what only one process does, and say when that changes."""
    was_elected = False
    while True:
        if was_elected != (was_elected := log.owners.elected()):
            say("elected" if was_elected else "not elected")
        await asyncio.sleep(0.01)


async def be_cut_off(log: EventLog, name: str) -> None:
    """Claim a stream, and say when it is time to stop what drives it."""
    await log.append("owned", [happened()], Writing(claim=True))
    say("driving")
    while not log.is_cut_off:
        await asyncio.sleep(0.01)
    say("stopped")
    await told()


async def rebuild_for_ever(log: EventLog, name: str) -> None:
    """Make the views again and again."""
    while True:
        say("rebuilding")
        await log.rebuild()


ROLES: dict[str, Callable[[EventLog, str], Coroutine[Any, Any, None]]] = {
    role.__name__: role
    for role in (
        write_for_ever,
        write_to_one_stream,
        own,
        hold_the_lock,
        append_once,
        append_when_told,
        write_many,
        hold_slots,
        stand,
        be_cut_off,
        rebuild_for_ever,
    )
}


def open_log(address: str, **options: float) -> EventLog:
    """The log at an address: a path, or postgresql://…."""
    kind = PostgresLog if address.startswith("postgresql:") else SqliteLog
    return kind.open(address, counting, **options)  # pyright: ignore[reportArgumentType]


async def main(role: str, address: str, name: str) -> None:
    log = open_log(address)
    await ROLES[role](log, name)
    await log.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
