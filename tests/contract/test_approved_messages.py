"""Messages that agents write to others through `callboard mcp`: a person approves each of them."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from tests import users
from tests.agents_that_answer import Job, agent, request
from tests.contract.test_senders import asking
from tests.servers import TOKEN, served, serving

from callboard import Callboard, Client
from callboard.board.approved_messages import approval_for
from callboard.board.protocol import Board
from callboard.errors import Forbidden, InteractionNotFound, PlateNotFound, ValidationError
from callboard.harness.mcp_say import SayTools
from callboard.harness.mcp_tools import PersonTools
from callboard.harness.protocol import Failed
from callboard.ids import short_id

FLOWS = """
from callboard import Approval, Phase, State, Workflow

flow = Workflow("flow", state=State, phases=[Phase("ask", human=Approval("On?"), terminal=True)])
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("server"), FLOWS) as url:
        yield url


@pytest.fixture(params=["in process", "over HTTP"])
async def board(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Board]:
    if request.param == "over HTTP":
        async with Client(request.getfixturevalue("server"), TOKEN) as client:
            yield cast("Board", client)
    else:
        async with Callboard.open(tmp_path / "t.db") as there:
            yield cast("Board", there)


@pytest.fixture
async def plate(board: Board) -> str:
    made = await board.plates.register("another", project_path="/p", session_id=short_id())
    return made.plate_id


def tools(board: Board, client: str = "claude-code") -> SayTools:
    person = PersonTools(board.people, board.clock, f"owner of {client}", Path("/p"))
    return SayTools(board, person, client)


async def approval(board: Board, plate: str, text: str = "Wait for me.", **answer: Any) -> str:
    prompt, config = approval_for("claude-code", plate, text, "now")
    asked = await board.people.ask(type="approval", prompt=prompt, config=config)
    if answer:
        await board.answer(asked.id, answer, by="dana")
    return asked.id


async def texts(board: Board, plate: str) -> list[str]:
    return [one.text for one in (await board.messages.list(plate)).messages]


async def test_a_message_is_sent_once_it_is_approved(board: Board, plate: str):
    offered = tools(board)
    listed = cast("list[dict[str, Any]]", (await offered.list_agents())["agents"])
    [found] = [one for one in listed if one["id"] == plate]
    assert set(found) == {"id", "agent", "name", "folder", "branch", "host", "status"}
    said = await offered.say({"to": plate, "text": "Wait for me.", "when": "after_turn"})
    assert said["status"] == "awaiting_approval"
    id = cast("str", said["id"])
    asked = await board.interaction(id)
    assert asked.prompt.endswith("after its turn:\n\nWait for me.")
    assert "claude-code wants to write to the agent" in asked.prompt
    assert (await offered.check_message({"id": id}))["status"] == "awaiting_approval"
    assert await texts(board, plate) == []
    await board.answer(id, True, by="dana")
    for _ in range(2):
        assert (await offered.check_message({"id": id}))["status"] == "queued"
    [sent] = (await board.messages.list(plate)).messages
    assert sent.id == id
    assert sent.text.startswith("From claude-code, approved by ")
    assert sent.text.endswith(":\n\nWait for me.")
    assert sent.when == "after_turn"
    assert sent.by is not None
    assert sent.by.startswith("claude-code, approved by ")


async def test_a_call_can_wait_for_the_person(board: Board, plate: str):
    calling = asyncio.create_task(
        tools(board).say({"to": plate, "text": "Wait for me.", "wait_seconds": 40})
    )
    while not (found := [one for one in await board.inbox() if plate in one.prompt]):
        await asyncio.sleep(0.05)
    await board.answer(found[0].id, True, by="dana")
    assert (await calling)["status"] == "queued"


async def test_a_no_sends_nothing(board: Board, plate: str):
    offered = tools(board)
    said = await offered.say({"to": plate, "text": "Wait for me."})
    await board.answer(str(said["id"]), {"approved": False, "message": "Later."}, by="dana")
    told = await offered.check_message({"id": said["id"]})
    assert (told["status"], told["message"]) == ("not_approved", "Later.")
    assert await texts(board, plate) == []


async def test_what_was_not_approved_is_refused(board: Board, plate: str):
    waiting = await approval(board, plate)
    refused = await approval(board, plate, approved=False)
    approved = await approval(board, plate, approved=True)
    lunch = await board.people.ask(
        type="approval",
        prompt="Lunch?",
        config=approval_for("claude-code", plate, "Wait for me.", "now")[1],
    )
    await board.answer(lunch.id, True, by="dana")
    plain = await board.people.ask(type="approval", prompt="Go on?")
    await board.answer(plain.id, True, by="dana")
    other = (await board.plates.register("another", project_path="/q")).plate_id
    for id in (waiting, refused, lunch.id, plain.id):
        with pytest.raises(Forbidden):
            await board.messages.say(plate, "Wait for me.", approval=id)
    with pytest.raises(Forbidden):
        await board.messages.say(plate, "Delete everything.", approval=approved)
    with pytest.raises(Forbidden):
        await board.messages.say(plate, "Wait for me.", when="after_turn", approval=approved)
    with pytest.raises(Forbidden):
        await board.messages.say(other, "Wait for me.", approval=approved)
    with pytest.raises(InteractionNotFound):
        await board.messages.say(plate, "Wait for me.", approval="none")
    assert await texts(board, plate) == []


async def test_wrong_input(board: Board, plate: str):
    offered = tools(board)
    with pytest.raises(PlateNotFound):
        await offered.say({"to": "none", "text": "a"})
    for text in ("", "a" * 5000, "a\x1b[2J"):
        with pytest.raises(ValidationError, match="text"):
            await offered.say({"to": plate, "text": text})
    with pytest.raises(Failed, match="when"):
        await offered.say({"to": plate, "text": "a", "when": "soon"})
    asked = await offered.person.request_approval({"prompt": "Go on?"})
    with pytest.raises(Failed, match="check_answer"):
        await offered.check_message({"id": asked["id"]})
    said = await offered.say({"to": plate, "text": "a"})
    with pytest.raises(Failed, match="haven't asked"):
        await tools(board, "codex").check_message({"id": said["id"]})


async def test_over_http_agents_need_an_approval_and_approvals_need_an_operator(tmp_path: Path):
    if users.are_there():
        os.chown(tmp_path, users.USER, users.USER)
    async with (
        serving(tmp_path / "x.db", before=users.as_user()) as server,
        agent(*users.as_user()) as writer,
        asking(server, writer.pid, "writer"),
        Client(server.url, TOKEN) as client,
        server.client() as http,
    ):
        board = cast("Board", client)
        plate = (await board.plates.register("another", project_path="/p")).plate_id
        path, body = f"/plates/{plate}/messages", {"text": "Wait for me."}

        async def write(**more: str) -> str:
            return await writer.send(Job(server.port, request(path, body | more, TOKEN)))

        assert await write() == "403"
        id = await approval(board, plate)
        assert await write(approval=id) == "403"
        token = (await http.post("/tokens", json={"name": "bo", "scope": "answer"})).json()[
            "secret"
        ]
        yes: dict[str, Any] = {
            "json": {"value": True},
            "headers": {"Authorization": f"Bearer {token}"},
        }
        refused = await http.post(f"/interactions/{id}/answer", **yes)
        assert (refused.status_code, "operate" in refused.text) == (403, True)
        own = request(f"/interactions/{id}/answer", {"value": True}, TOKEN)
        assert await writer.send(Job(server.port, own)) == "403"
        await board.answer(id, True)
        assert await write(approval=id) == "201"
        assert await write(approval=id) == "201"
        assert len(await texts(board, plate)) == 1
