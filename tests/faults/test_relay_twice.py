"""Two servers of one PostgreSQL database get the same batches of a relay at the same time."""

import asyncio
import json
import random

import pytest

from callboard.board.intake import Listener
from callboard.board.plates import Plates
from callboard.clock import SystemClock
from callboard.engine.inbox import Inbox
from callboard.events.json_values import as_object
from callboard.log.postgres.log import PostgresLog
from callboard.relay.batches import HOOK, RelayItem
from callboard.server.relay_intake import RelayIntake, RelaySource
from callboard.state.rows import project

NAMES = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop")
SOURCE = RelaySource("host1234", "mac", "incarnation1")


def item(number: int, chance: random.Random) -> RelayItem:
    session = chance.randrange(3)
    name = chance.choice(NAMES)
    told = {"session_id": f"s{session}", "hook_event_name": name, "cwd": "/x", "tag": number}
    if name == "SessionStart":
        told["source"] = "startup"
    if "Tool" in name:
        told |= {"tool_name": "Bash", "tool_input": {"command": "ls"}}
    body = json.dumps({**told, "callboard": {"pid": 11 + session, "proc_start": "1"}}).encode()
    return RelayItem(number, HOOK, body, 1_000 + number, "claude", boot_id="b1")


class Server:
    """What a server does with batches."""

    def __init__(self, url: str) -> None:
        clock = SystemClock()
        self.log = PostgresLog.open(url, project)
        self.plates = Plates(self.log, clock)
        listener = Listener(self.plates, clock.now_ms)
        self.intake = RelayIntake(self.plates, listener, Inbox(self.log, clock))

    async def recorded(self) -> list[list[int]]:
        """The tags of the payloads on each plate, in the order of its stream."""
        found: list[list[int]] = []
        for plate in await self.plates.all(dismissed=True):
            raws = [
                as_object(one.payload.get("raw")) for one in await self.log.read(plate.plate_id)
            ]
            found.append([int(str(raw["tag"])) for raw in raws if "tag" in raw])
        return found


@pytest.mark.parametrize("seed", range(8))
async def test_a_batch_that_two_servers_get_at_once_is_recorded_once(postgres_url: str, seed: int):
    chance = random.Random(seed)
    servers = [Server(postgres_url) for _ in range(3)]
    try:
        number = 0
        for _ in range(6):
            items = [item(number + place, chance) for place in range(chance.randrange(1, 20))]
            number += len(items)
            # The last one gets only part of it: the relay was cut off, and sent it again.
            shares = [items, items, items[: chance.randrange(len(items)) + 1]]
            await asyncio.gather(
                *(
                    server.intake.take(SOURCE, share)
                    for server, share in zip(servers, shares, strict=True)
                )
            )
        for server in servers:
            plates = await server.recorded()
            assert sorted(tag for plate in plates for tag in plate) == list(range(number))
            assert all(plate == sorted(plate) for plate in plates)
    finally:
        for server in servers:
            await server.log.close()
