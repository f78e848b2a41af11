"""The real Claude Code on another machine: started, read, written to and stopped through its relay.

The two machines are two homes on loopback; the relay was allowed everything.
"""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from tests.real_clients import scenes
from tests.real_clients.background import Background, background_in
from tests.real_clients.board import Board, Wire
from tests.real_clients.claude import Claude
from tests.real_clients.home import Home
from tests.real_clients.model import Model
from tests.real_clients.patience import until, until_told
from tests.real_clients.script import Say
from tests.relays import RelayProcess, relaying_as
from tests.servers import serving

pytestmark = pytest.mark.long
POWERS = "read,say,start"


@pytest.fixture
async def board(tmp_path: Path) -> AsyncGenerator[Board]:
    """The board of a server in another home."""
    there = Home.made_in(tmp_path / "there")
    async with serving(there.database, env={"HOME": str(there.folder)}) as server:
        yield Board(server)


@pytest.fixture
async def background(plain_claude: Claude, board: Board) -> AsyncGenerator[Background]:
    """The commands on the client's machine, whose relay has the client's environment."""
    home = plain_claude.home
    plain_claude.configure({"permissions": {"defaultMode": "manual"}})
    with background_in(home, plain_claude.env) as made:
        share = home.folder / ".local" / "share"
        relay = RelayProcess(share, "ada-mac", environment=made.env)
        async with relaying_as(relay, board.server, "", "--allow", POWERS):
            await home.install_hooks("claude", f"--server={board.server.url}")
            yield made


async def post(board: Board, path: str, body: Any) -> Wire:
    async with board.server.client() as client:
        told = await client.post(path, json=body, timeout=60)
        assert told.is_success, told.text
        return told.json()


async def read(board: Board, plate: Wire, text: str) -> list[Wire]:
    """A conversation, once a text is in it."""

    async def look() -> list[Wire] | None:
        async with board.server.client() as client:
            told = await client.get(f"/plates/{plate['plateId']}/conversation")
        # Its client writes the file with the first message.
        assert told.is_success or "No such file" in told.text, told.text
        items = told.json().get("items", [])
        return items if any(text in str(one) for one in items) else None

    return await until_told(look, lambda: f"{text!r} in the conversation")


async def test_everything_works_through_a_relay_that_allows_it(
    background: Background, model: Model, board: Board
):
    home = background.home
    (home.project / "old").write_text("1\n", encoding="utf-8")
    for words in (
        ("init", "-q"),
        ("add", "."),
        ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "1"),
    ):
        assert (await home.run("git", *words)).code == 0
    model.scripts |= {
        "say": scenes.SAY,
        "write": scenes.WRITE,
        "again": [[Say("Here I am again.")]],
    }
    (host,) = (await board.get("/hosts"))["hosts"]
    given = {"agent": "claude", "folder": str(home.project), "host": host["id"]}
    started = await post(board, "/plates/start", {**given, "prompt": "Look around. play:say"})
    assert started["warning"] is None
    plate = await board.plate(plateId=started["plate"]["plateId"], status="idle")
    assert plate["hostName"] == "ada-mac"
    await read(board, plate, "Nothing to do.")

    path = f"/plates/{plate['plateId']}"
    await post(board, f"{path}/messages", {"text": "Write it down. play:write"})
    asked = await board.asked("permission")
    await board.answer(asked["id"], {"approved": True})
    await read(board, plate, "It is written.")
    (message,) = (await board.get(f"{path}/messages"))["messages"]
    assert message["status"] in ("delivered", "seen"), message
    found = await board.get(f"{path}/conversation/search?text=written")
    assert "It is written." in str(found)
    await board.plate(plateId=plate["plateId"], status="idle")
    changes = await board.get(f"{path}/changes")
    assert [one["path"] for one in changes["files"]] == ["note"]
    file = await board.get(f"{path}/changes/file?path=note")
    assert "one" in str(file)
    comment = {"path": "note", "line": 1, "side": "new", "text": "Why one?", "excerpt": "one"}
    written = await post(board, f"{path}/changes/comments", {"comments": [comment]})
    assert "Why one?" in written["text"]

    (record,) = background.records()
    await post(board, f"{path}/stop", {})
    await board.plate(plateId=plate["plateId"], status="closed")
    await until(lambda: background.is_gone(record["pid"]), "the end of the agent")
    again = {"resume": plate["plateId"], "prompt": "And now? play:again"}
    assert (await post(board, "/plates/start", again))["plate"]["plateId"] == plate["plateId"]
    await read(board, plate, "Here I am again.")
    await board.plate(plateId=plate["plateId"], status="idle", sessionId=plate["sessionId"])
    usage = await board.get("/usage")
    assert usage["total"], usage
    await post(board, f"{path}/stop", {})
    await board.plate(plateId=plate["plateId"], status="closed")
    assert len(await board.plates()) == 1
