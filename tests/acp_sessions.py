"""Agents that speak ACP, as a person starts them, and a server that shows them."""

import json
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.real_clients.board import Board
from tests.real_clients.home import CALLBOARD, Done, Home
from tests.real_clients.patience import until_told
from tests.servers import serving

Wire = dict[str, Any]
SCRIPTED = [sys.executable, str(Path(__file__).with_name("acp_agent.py"))]


@dataclass(frozen=True)
class Acp:
    """The commands of a person in one home, and the board."""

    home: Home
    board: Board
    env: dict[str, str] = field(default_factory=dict)

    async def run(self, *words: str) -> Done:
        return await self.home.run(CALLBOARD, *words, env=self.env)

    async def start(
        self, *command: str, prompt: str | None = None, options: Sequence[str] = ()
    ) -> Wire:
        """Start an agent; its plate."""
        asked = [] if prompt is None else ["--prompt", prompt]
        done = await self.run("start", "acp", "--json", *asked, *options, "--", *command)
        assert done.code == 0, done
        return json.loads(done.out)["plate"]

    async def say(self, plate: Wire, text: str, when: str = "now") -> Wire:
        async with self.board.server.client() as client:
            path = f"/plates/{plate['plateId']}/messages"
            said = await client.post(path, json={"text": text, "when": when})
            assert said.status_code in (200, 201), said.text
            return said.json()

    async def messages(self, plate: Wire) -> list[Wire]:
        return (await self.board.get(f"/plates/{plate['plateId']}/messages"))["messages"]

    async def post(self, plate: Wire, what: str) -> Wire:
        async with self.board.server.client() as client:
            said = await client.post(f"/plates/{plate['plateId']}/{what}")
            assert said.status_code == 200, said.text
            return said.json()

    async def page(self, plate: Wire, query: str = "") -> Wire:
        return await self.board.get(f"/plates/{plate['plateId']}/conversation?limit=200{query}")

    async def items(self, plate: Wire) -> list[Wire]:
        return (await self.page(plate))["items"]

    async def shown(self, plate: Wire, *texts: str) -> list[Wire]:
        """Wait until the conversation has these texts; what it has."""

        async def look() -> list[Wire] | None:
            try:
                items = await self.items(plate)
            except Exception:  # It has none before its session has started.
                return None
            return items if all(one in json.dumps(items) for one in texts) else None

        return await until_told(look, lambda: f"{texts} in the conversation")

    async def message(self, plate: Wire, **wanted: Any) -> Wire:
        """Wait for a message that is like this."""

        async def look() -> Wire | None:
            found = await self.messages(plate)
            return next((one for one in found if wanted.items() <= one.items()), None)

        return await until_told(look, lambda: f"a message with {wanted}")


@asynccontextmanager
async def acp_board(home: Home, env: dict[str, str] | None = None) -> AsyncGenerator[Acp]:
    """A board, and the commands; agents that are left are stopped."""
    data = {"XDG_DATA_HOME": str(home.folder / "data"), **(env or {})}
    async with serving(home.database, env=home.env | data) as server:
        acp = Acp(home, Board(server), data)
        try:
            yield acp
        finally:
            if server.process is not None and server.process.returncode is None:
                for plate in await acp.board.plates():
                    if plate["status"] != "closed":
                        await acp.post(plate, "stop")
                        await acp.board.plate(plateId=plate["plateId"], status="closed")
