"""The tools that agents are given, called by a real client of the protocol."""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import ClientSession, StdioServerParameters, stdio_client
from tests.servers import TOKEN, serving
from tests.unit.harness.confirmations import observe, run_hook

from callboard.app import Callboard
from callboard.harness.folders import Attempt, Folders
from callboard.harness.protocol import Failed, McpCall
from callboard.harness.submit_decision import HOOK_WITHIN, decision_tool
from callboard.interactions.records import Interaction
from callboard.testing.fake_clock import FakeClock

YES = {"decision": "approved"}
APPROVAL = {"type": "approval"}
SCHEMA = {
    "type": "object",
    "properties": {"notes": {"$ref": "#/$defs/note"}, "level": {"enum": [1, 2]}},
    "required": ["notes"],
    "$defs": {"note": {"type": "string"}},
}


@asynccontextmanager
async def client(
    *words: str, cwd: Path, name: str = "tester", **env: str
) -> AsyncGenerator[ClientSession]:
    """A client whose server is a process of its own."""
    home = {"HOME": str(cwd), "XDG_STATE_HOME": str(cwd / "state"), "PATH": os.environ["PATH"]}
    arguments = ["-P", "-m", "callboard", *words]
    server = StdioServerParameters(
        command=sys.executable, args=arguments, cwd=cwd, env={**home, **env}
    )
    info = types.Implementation(name=name, version="1")
    async with (
        stdio_client(server) as (reading, writing),
        ClientSession(reading, writing, client_info=info) as session,
    ):
        await session.initialize()
        yield session


async def a_database(folder: Path) -> str:
    async with Callboard.open(folder / "t.db") as board:
        await board.inbox()
    return str(folder / "t.db")


async def call(session: ClientSession, tool: str, **given: Any) -> Any:
    result = await session.call_tool(tool, given)
    assert not result.is_error, result
    return result.structured_content


async def refused(session: ClientSession, tool: str, **given: Any) -> str:
    result = await session.call_tool(tool, given)
    assert result.is_error, result
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


# ---------------------------------------------------------------------- submit_decision


async def asked(folder: Path, schema: Any) -> Interaction:
    async with Callboard.open(folder / "t.db") as board:
        config = {"outcomeSchema": schema}
        return await board.people.ask(type="interactive_session", prompt="Well?", config=config)


@asynccontextmanager
async def deciding(folder: Path, schema: Any) -> AsyncGenerator[tuple[ClientSession, Any]]:
    question = await asked(folder, schema)
    attempt = Folders(folder / "kept").begin(question.id, {"pid": 1})
    attempt.write_json("request.json", question.to_wire())
    attempt.write_json("agent.json", {"session": "s"})
    async with client("decision", str(attempt.folder), cwd=folder) as session:
        yield session, attempt


async def submit(session: ClientSession, attempt: Attempt, id: str, decision: Any) -> Any:
    """Submit a decision as the client does when the person has confirmed it."""
    observe(attempt, decision, call=id)
    return await called(session, id, decision=decision)


async def called(session: ClientSession, id: str | None, **given: Any) -> Any:
    """Call the tool, with nothing before it."""
    meta: Any = None if id is None else {"claudecode/toolUseId": id}
    return await session.call_tool("submit_decision", given, meta=meta)


def rarer(*values: Any) -> Any:
    """A case that takes a process of its own, and the same way as another."""
    return pytest.param(*values, marks=pytest.mark.long)


@pytest.mark.parametrize(
    ("schema", "wrong", "right", "why"),
    [
        ({"type": "approval"}, "maybe", "approved", '"maybe" is not one of'),
        rarer({"type": "selection", "options": ["a", "b"]}, "c", "b", '"c" is not one of'),
        rarer({"type": "freeform"}, 5, "as you like", '5 is not of type "string"'),
        rarer(None, None, "as you like", "no `decision`"),
        ({"type": "structured", "jsonSchema": SCHEMA}, {}, {"notes": "x"}, '"notes" is a required'),
        rarer(SCHEMA, {"notes": 1}, {"notes": "x", "level": 2}, '1 is not of type "string"'),
    ],
    ids=["approval", "selection", "freeform", "none", "structured", "bare"],
)
async def test_a_decision_is_checked_and_kept(tmp_path: Path, schema, wrong, right, why):
    async with deciding(tmp_path, schema) as (session, attempt):
        (tool,) = (await session.list_tools()).tools
        assert tool.name == "submit_decision"
        assert tool.input_schema["required"] == ["decision"]
        given = {} if wrong is None else {"decision": wrong}
        assert why in await refused(session, "submit_decision", **given)
        assert attempt.decision is None
        assert not (await submit(session, attempt, "t1", right)).is_error
        assert attempt.decision == {"decision": right, "call": "t1"}


async def test_a_later_decision_replaces_an_earlier_one(tmp_path: Path):
    async with deciding(tmp_path, SCHEMA) as (session, attempt):
        (tool,) = (await session.list_tools()).tools
        await submit(session, attempt, "t1", {"notes": "x"})
        await submit(session, attempt, "t2", {"notes": "y"})
    assert attempt.decision == {"decision": {"notes": "y"}, "call": "t2"}
    # References are to where the schema stands now.
    decision = tool.input_schema["properties"]["decision"]
    assert decision["properties"]["notes"] == {"$ref": "#/properties/decision/$defs/note"}


async def test_a_decision_that_the_person_was_not_asked_about_is_put_to_them_again(tmp_path: Path):
    async with deciding(tmp_path, APPROVAL) as (session, attempt):
        unasked = await called(session, "t1", **YES)
        assert unasked.is_error
        assert "the person has not confirmed it" in unasked.content[0].text
        assert "Call the tool again with the same decision" in unasked.content[0].text
        assert (attempt.decision, attempt.proposal) == (None, {**YES, "call": "t1"})
        assert not (await submit(session, attempt, "t2", "approved")).is_error
    assert (attempt.decision, attempt.proposal) == ({**YES, "call": "t2"}, None)


async def test_a_confirmation_counts_once_and_for_its_own_arguments(tmp_path: Path):
    async with deciding(tmp_path, APPROVAL) as (session, attempt):

        async def is_kept(id: str | None, **given: Any) -> bool:
            return not (await called(session, id, **{**YES, **given})).is_error

        observe(attempt, "approved", call="t1")
        assert not await is_kept(None)
        assert not await is_kept("t2")
        assert not await is_kept("t1", decision="rejected")
        assert not await is_kept("t1", more="than that")
        assert await is_kept("t1")
        assert not await is_kept("t1")
        observe(attempt, "approved", call="t3", session="another")
        assert not await is_kept("t3")
    assert attempt.decision == {**YES, "call": "t1"}


async def test_a_person_who_answers_before_the_hook_has_run_is_waited_for(tmp_path: Path):
    clock, question = FakeClock(), await asked(tmp_path, APPROVAL)
    attempt = Folders(tmp_path / "kept").begin(question.id, {"pid": 1})
    attempt.write_json("agent.json", {"session": "s"})
    tool = decision_tool(question, attempt, clock)
    run_hook(attempt.folder, "PreToolUse", YES, tool_use_id="t1")
    early = asyncio.ensure_future(tool.call(McpCall(YES, "t1")))
    await clock.advance(HOOK_WITHIN / 2)
    assert not early.done()
    run_hook(attempt.folder, "PermissionRequest", YES)
    await clock.advance(1)
    assert (await early)["kept"] is True
    run_hook(attempt.folder, "PreToolUse", YES, tool_use_id="t2")
    never = asyncio.ensure_future(tool.call(McpCall(YES, "t2")))
    await clock.advance(HOOK_WITHIN + 1)
    with pytest.raises(Failed, match="has not confirmed it"):
        await never


# ---------------------------------------------------------------------- asking


async def test_a_question_is_asked_and_its_answer_fetched(tmp_path: Path):
    db = str(tmp_path / "t.db")
    async with Callboard.open(db) as board, client("mcp", f"--db={db}", cwd=tmp_path) as session:
        names = [tool.name for tool in (await session.list_tools()).tools]
        assert names == ["ask_human", "request_approval", "request_interactive", "check_answer"]
        told = await call(session, "ask_human", prompt="Which?", options=["SQLite", "Postgres"])
        assert told["status"] == "pending"
        (question,) = await board.inbox()
        assert (question.id, question.options) == (told["id"], ["SQLite", "Postgres"])
        waiting = asyncio.create_task(call(session, "check_answer", id=told["id"], wait_seconds=30))
        await board.answer(question.id, "SQLite")
        assert (await waiting)["response"] == {"value": "SQLite"}


async def test_an_approval_and_words_and_a_session(tmp_path: Path):
    db = str(tmp_path / "t.db")
    async with Callboard.open(db) as board, client("mcp", f"--db={db}", cwd=tmp_path) as session:
        approval = await call(session, "request_approval", prompt="Deploy?")
        words = await call(session, "ask_human", prompt="What name?")
        decision = await call(
            session, "request_interactive", prompt="Review it.", outcome="selection",
            options=["a", "b"], context={"n": 1}, timeout_seconds=60,
        )  # fmt: skip
        await board.answer(approval["id"], "no")
        await board.answer(words["id"], "Ada")
        await board.people.complete(decision["id"], "completed", response="b")
        asked = (await board.interaction(decision["id"])).config
        assert asked["outcomeSchema"] == {"type": "selection", "options": ["a", "b"]}
        assert (asked["context"], asked["timeout"]) == ({"n": 1}, 60_000)
        assert asked["cwd"] == str(tmp_path)

        async def answer(one: Any) -> Any:
            return (await call(session, "check_answer", id=one["id"]))["response"]

        assert await answer(approval) == {"value": "no", "approved": False}
        assert await answer(words) == {"value": "Ada"}
        assert await answer(decision) == "b"


async def test_on_a_server_that_goes_away_and_comes_back(tmp_path: Path):
    async with serving(tmp_path / "t.db") as server:
        words = ("mcp", f"--server={server.url}")
        async with client(*words, cwd=tmp_path, CALLBOARD_TOKEN=TOKEN) as session:
            id = (await call(session, "request_approval", prompt="Deploy?"))["id"]
            await server.kill()
            assert "No server is running" in await refused(session, "check_answer", id=id)
            await server.restart()
            async with server.client() as person:
                await person.post(f"/interactions/{id}/answer", json={"value": "yes"})
            told = await call(session, "check_answer", id=id, wait_seconds=5)
            assert told["response"] == {"value": "yes", "approved": True}


async def test_messages_to_other_agents_are_allowed_explicitly(tmp_path: Path):
    db = str(tmp_path / "t.db")
    words = ("mcp", "--allow=say", f"--db={db}")
    async with Callboard.open(db) as board, client(*words, cwd=tmp_path) as session:
        names = [tool.name for tool in (await session.list_tools()).tools]
        assert names[-3:] == ["list_agents", "say", "check_message"]
        plate = await board.plates.register("another", project_path="/p")
        [found] = (await call(session, "list_agents"))["agents"]
        assert found["id"] == plate.plate_id
        said = await call(session, "say", to=plate.plate_id, text="Wait for me.")
        assert said["status"] == "awaiting_approval"
        await board.answer(said["id"], "yes")
        assert (await call(session, "check_message", id=said["id"]))["status"] == "queued"


async def test_an_id_outlives_the_client(tmp_path: Path):
    db = await a_database(tmp_path)
    async with client("mcp", f"--db={db}", cwd=tmp_path) as session:
        id = (await call(session, "request_approval", prompt="Deploy?"))["id"]
    async with Callboard.open(db) as board:
        await board.answer(id, "yes")
    async with client("mcp", f"--db={db}", cwd=tmp_path) as session:
        assert (await call(session, "check_answer", id=id))["status"] == "completed"


async def test_a_client_gets_no_answers_of_others(tmp_path: Path):
    db = str(tmp_path / "t.db")
    async with Callboard.open(db) as board:
        of_nobody = await board.people.ask(type="approval", prompt="Of somebody else?")
    async with client("mcp", f"--db={db}", cwd=tmp_path) as session:
        id = (await call(session, "request_approval", prompt="Deploy?"))["id"]
        unknown = await refused(session, "check_answer", id="none-such")
        assert await refused(session, "check_answer", id=of_nobody.id) == unknown.replace(
            "none-such", of_nobody.id
        )
    for other in ({"CALLBOARD_MCP_KEY": "another"}, {"name": "somebody-else"}):
        async with client("mcp", f"--db={db}", cwd=tmp_path, **other) as session:
            assert "You haven't asked a question" in await refused(session, "check_answer", id=id)


async def test_a_timeout_may_have_a_fraction(tmp_path: Path):
    db = str(tmp_path / "t.db")
    async with Callboard.open(db) as board, client("mcp", f"--db={db}", cwd=tmp_path) as session:
        for seconds, millis in ((90.5, 90_500), (1800.0, 1_800_000), (1e-9, 1)):
            told = await call(session, "request_interactive", prompt="x", timeout_seconds=seconds)
            assert (await board.interaction(told["id"])).config["timeout"] == millis


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("ask_human", {"prompt": ""}, "prompt must be non-empty text"),
    ("ask_human", {"prompt": "x", "options": ["a", "a"]}, "options must not contain duplicates"),
    ("ask_human", {"prompt": "x", "wait_seconds": "long"}, "wait_seconds must be a number"),
    ("request_interactive", {"prompt": "x", "outcome": "poem"}, "outcome must be one of"),
    ("request_interactive", {"prompt": "x", "outcome": "selection"}, "options"),
    ("request_interactive", {"prompt": "x", "timeout_seconds": 0}, "timeout_seconds must be more"),
    ("request_interactive", {"prompt": "x", "timeout_seconds": 10**9}, "timeout_seconds must be"),
    ("request_interactive", {"prompt": "x", "timeout_seconds": "1"}, "timeout_seconds must be a"),
    ("check_answer", {}, "id must be"),
    ("none_such", {}, "There is no tool"),
]


async def test_what_is_wrong_is_told_to_the_model(tmp_path: Path):
    db = await a_database(tmp_path)
    async with client("mcp", f"--db={db}", cwd=tmp_path) as session:
        for tool, given, why in WRONG:
            assert why in await refused(session, tool, **given)
    async with Callboard.open(db) as board:
        assert await board.inbox() == []
