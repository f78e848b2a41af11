"""Races between a key in the agent's terminal and an answer on the board, one after another."""

import asyncio
import json
import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from tests.real_clients.board import Board, Wire
from tests.real_clients.claude import PROCEED, Claude, ClaudeTerminal
from tests.real_clients.model import Model
from tests.real_clients.patience import until
from tests.real_clients.script import Call, Say, Script

TAKES_KEYS_AFTER: Final = 0.8
"""Seconds: a dialog ignores keys in its first moments."""

_YES, _ESC = "1", "Escape"
_LONG: Final = " && python3 -c 'import time; time.sleep(1.5)'"


@dataclass(frozen=True)
class Race:
    """One request for permission, decided twice.

    lead: how many seconds the key is ahead of the answer; negative when the answer is first.
    """

    number: int
    key: str
    approve: bool
    lead: float
    runs_long: bool

    @property
    def name(self) -> str:
        return f"race-{self.number}"

    @property
    def message(self) -> str:
        return f"not in {self.name}, please"

    @property
    def value(self) -> Wire:
        said = {} if self.approve else {"message": self.message}
        return {"approved": self.approve, **said}

    @property
    def script(self) -> Script:
        command = f"touch made-{self.number}" + (_LONG if self.runs_long else "")
        run = Call("Bash", {"command": command, "description": f"Make file {self.number}"})
        return [[run], [Say(f"So ended {self.name}.")]]


@dataclass(frozen=True)
class Ended:
    """What became of a race: what really happened, and what the record says.

    worked: the client was seen at work after its dialog. A call that it began and that Esc ended
        at once was allowed, whether it came to do something or not.
    """

    race: Race
    ran: bool
    worked: bool
    model_was_told: bool
    status: int
    record: Wire

    @property
    def lies(self) -> list[str]:
        """Where the record differs from what happened."""
        found = self.record
        response: Any = found["response"] or {}
        mine = self.status in (200, 202)
        checks = {
            "it ran, and is not recorded as allowed": not self.ran or response.get("approved"),
            "it did not run, and is recorded as allowed": self.ran
            or self.worked
            or not response.get("approved"),
            "nothing is recorded": found["status"] in ("completed", "cancelled"),
            "the receipt is pending": found["receipt"] != "pending",
            "an accepted answer has no receipt": not mine or found["receipt"] is not None,
            "a delivered answer is not what was answered": found["receipt"] != "delivered"
            or not mine
            or response == self.race.value,
            "the model never saw a delivered refusal": found["receipt"] != "delivered"
            or self.race.approve
            or self.model_was_told,
            "the model saw a refusal that is not recorded": not self.model_was_told
            or found["receipt"] == "delivered",
            "a refused answer is recorded": mine or found["receipt"] is None,
        }
        return [lie for lie, holds in checks.items() if not holds]


def drawn(count: int, seed: int, widest: float = 1.0) -> list[Race]:
    """Races of every kind; how far apart key and answer are is left to chance."""
    chance = random.Random(seed)
    return [
        Race(
            number=number,
            key=chance.choice((_YES, _YES, _ESC)),
            approve=chance.random() < 0.4,
            lead=chance.uniform(-widest, widest),
            runs_long=chance.random() < 0.3,
        )
        for number in range(count)
    ]


@dataclass(frozen=True)
class Track:
    """Where races take place: a client in its terminal, and the board."""

    claude: Claude
    terminal: ClaudeTerminal
    model: Model
    board: Board

    async def run(self, race: Race) -> Ended:
        """Have the client ask, decide in both places, and wait until it is over."""
        self.model.scripts[race.name] = race.script
        await self.terminal.type(f"play:{race.name}")
        asked = await self.board.asked("permission")
        await self.terminal.shows(PROCEED, f"made-{race.number}")
        await asyncio.sleep(TAKES_KEYS_AFTER)
        async with self._statuses() as statuses:
            _, status = await asyncio.gather(self._press(race), self._answer(race, asked["id"]))
            await self._is_over(race)
        await self.board.plate(status="idle", interactionId=None)
        record = await self.board.settled(asked["id"])
        ran, told = self._made(race).exists(), self.model.was_told(race.message)
        return Ended(race, ran, "busy" in statuses, told, status, record)

    def again(self, one: Ended, record: Wire) -> Ended:
        """The same race, looked at later: what Esc kept from the model, it sees next."""
        return replace(one, record=record, model_was_told=self.model.was_told(one.race.message))

    @asynccontextmanager
    async def _statuses(self) -> AsyncGenerator[list[str]]:
        """What the client says about itself meanwhile, read too often to miss anything."""
        (file,) = (self.claude.home.folder / ".claude" / "sessions").glob("*.json")
        seen: list[str] = []

        async def look() -> None:
            while True:
                with suppress(ValueError):
                    seen.append(json.loads(file.read_text())["status"])
                await asyncio.sleep(0.003)

        looking = asyncio.create_task(look())
        try:
            yield seen
        finally:
            looking.cancel()

    async def _press(self, race: Race) -> None:
        await asyncio.sleep(max(0.0, -race.lead))
        # A dialog that is gone leaves the key to the prompt, where Esc could stop the turn.
        if race.key != _ESC or PROCEED in self.terminal.screen:
            self.terminal.press(race.key)

    async def _answer(self, race: Race, id: str) -> int:
        await asyncio.sleep(max(0.0, race.lead))
        async with self.board.server.client() as client:
            said = await client.post(f"/interactions/{id}/answer", json={"value": race.value})
        return said.status_code

    async def _is_over(self, race: Race) -> None:
        def look() -> bool:
            screen = self.terminal.screen
            ended = f"So ended {race.name}." in screen or "Interrupted" in screen.rsplit("❯", 2)[-2]
            return ended and PROCEED not in screen

        await until(look, f"the end of {race.name}")
        # A key that came too late stands in the prompt.
        self.terminal.press("C-u")

    def _made(self, race: Race) -> Path:
        return self.claude.home.project / f"made-{race.number}"
