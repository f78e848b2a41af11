"""Reading conversations: one suite for both boards, then what only a server does."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.servers import TOKEN, served, serving
from tests.transcripts import ClaudeTranscript, place_of

from callboard import Callboard, Client
from callboard.board.conversations import before_question
from callboard.board.protocol import Board
from callboard.errors import (
    NotFound,
    PlateNotFound,
    TranscriptUnreadable,
    ValidationError,
)
from callboard.events.access import Scope
from callboard.ids import short_id
from callboard.interactions.records import Interaction
from callboard.vendors.conversation import ConversationPage, Window

FLOWS = """
from callboard import Approval, Phase, State, Workflow

flow = Workflow("flow", state=State, phases=[Phase("ask", human=Approval("On?"), terminal=True)])
"""
PROJECT = "/home/ann/shop"


@pytest.fixture(scope="module", autouse=True)
def claude_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where Claude Code keeps its files, for this process and for the server."""
    home = tmp_path_factory.mktemp("claude")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CLAUDE_CONFIG_DIR", str(home))
        yield home


@pytest.fixture(scope="module")
def server_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("server")


@pytest.fixture(scope="module")
def server(claude_home: Path, server_folder: Path) -> Iterator[str]:
    with served(server_folder, FLOWS) as url:
        yield url


@pytest.fixture(params=["in process", "over HTTP"])
async def board(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Board]:
    if request.param == "over HTTP":
        async with Client(request.getfixturevalue("server"), TOKEN) as client:
            yield client
        return
    async with Callboard.open(tmp_path / "board.db") as opened:
        yield opened


@pytest.fixture
def transcript(claude_home: Path) -> ClaudeTranscript:
    session = short_id(16)
    made = ClaudeTranscript(place_of(claude_home, PROJECT, session), session)
    made.prompt("Mend the tests.")
    made.reply("I'll run them first.")
    made.command("toolu_1", "make test", "2 failed")
    made.edit("toolu_2")
    return made


async def plate_of(board: Board, session: str, agent: str = "claude") -> str:
    plate = await board.plates.register(agent, project_path=PROJECT, session_id=session)
    return plate.plate_id


def chunk(text: str) -> dict[str, object]:
    """What an agent that speaks ACP says."""
    content = {"type": "text", "text": text}
    return {"sessionUpdate": "agent_message_chunk", "content": content}


def question(**config: object) -> Interaction:
    """A permission that an agent asks for."""
    fields: dict[str, Any] = dict.fromkeys(Interaction.__dataclass_fields__)
    fields |= {"status": "pending", "type": "permission", "config": config}
    return Interaction(**fields)


def said(page: ConversationPage) -> list[str]:
    return [one.tool.name if one.tool else one.text for one in page.items]


class TestReading:
    async def test_the_end(self, board: Board, transcript: ClaudeTranscript):
        plate = await plate_of(board, transcript.session)
        page = await board.conversations.page(plate)
        assert said(page) == ["Mend the tests.", "I'll run them first.", "Bash", "Edit"]
        [command, edit] = [one.tool for one in page.items[2:]]
        assert command is not None
        assert edit is not None
        assert (command.command, command.result, command.status) == (
            "make test",
            "2 failed",
            "done",
        )
        assert edit.edits[0].path == "app.py"
        assert "+a = 2" in edit.edits[0].diff
        assert page.before is None

    async def test_page_by_page(self, board: Board, transcript: ClaudeTranscript):
        plate = await plate_of(board, transcript.session)
        newest = await board.conversations.page(plate, Window(most=2))
        older = await board.conversations.page(plate, Window(before=newest.before, most=200))
        assert said(older)[:2] == ["Mend the tests.", "I'll run them first."]
        assert older.before is None

    async def test_it_grows(self, board: Board, transcript: ClaudeTranscript):
        plate = await plate_of(board, transcript.session)
        page = await board.conversations.page(plate)
        waiting = [
            asyncio.create_task(board.conversations.page(plate, Window(after=page.after), wait=20))
            for _ in range(3)
        ]
        await asyncio.sleep(0.1)
        assert not any(one.done() for one in waiting)
        transcript.reply("They pass.")
        for later in await asyncio.gather(*waiting):
            assert said(later) == ["They pass."]
            assert later.after != page.after

    async def test_nothing_follows(self, board: Board, transcript: ClaudeTranscript):
        plate = await plate_of(board, transcript.session)
        page = await board.conversations.page(plate)
        later = await board.conversations.page(plate, Window(after=page.after), wait=0.01)
        assert (later.items, later.after) == ([], page.after)

    async def test_search(self, board: Board, transcript: ClaudeTranscript):
        plate = await plate_of(board, transcript.session)
        [found] = (await board.conversations.search(plate, "RUN THEM")).found
        assert (found.id, found.kind) == ("m2", "reply")
        page = await board.conversations.page(plate, Window(before=found.at_cursor))
        assert page.items[-1].id == "m2"
        assert (await board.conversations.search(plate, "nowhere")).found == []

    async def test_an_item_in_full(self, board: Board, transcript: ClaudeTranscript):
        transcript.reply("long " * 10_000)
        plate = await plate_of(board, transcript.session)
        page = await board.conversations.page(plate, Window(most=1))
        assert page.items[0].cut
        item = await board.conversations.item(plate, page.items[0].id, page.after)
        assert (len(item.text), item.cut) == (50_000, False)
        with pytest.raises(NotFound, match="no message 'other'"):
            await board.conversations.item(plate, "other", page.after)


class TestBadInput:
    async def test_no_plate(self, board: Board):
        with pytest.raises(PlateNotFound):
            await board.conversations.page("nothing")
        with pytest.raises(PlateNotFound):
            await board.conversations.search("nothing", "text")
        with pytest.raises(PlateNotFound):
            await board.conversations.item("nothing", "m1", "5")

    async def test_no_transcript(self, board: Board):
        plate = await plate_of(board, short_id(16))
        with pytest.raises(TranscriptUnreadable, match="No such file"):
            await board.conversations.page(plate)

    async def test_an_agent_without_transcripts(self, board: Board):
        plate = await plate_of(board, short_id(16), "unknown")
        with pytest.raises(TranscriptUnreadable, match="unknown"):
            await board.conversations.page(plate)

    async def test_no_session_yet(self, board: Board):
        plate = await board.plates.register("claude", project_path=PROJECT, pid=1)
        with pytest.raises(TranscriptUnreadable, match="not started"):
            await board.conversations.page(plate.plate_id)

    async def test_a_deleted_transcript(self, board: Board, transcript: ClaudeTranscript):
        plate = await plate_of(board, transcript.session)
        page = await board.conversations.page(plate)
        transcript.file.unlink()
        with pytest.raises(TranscriptUnreadable):
            await board.conversations.page(plate, Window(after=page.after))

    async def test_a_truncated_transcript(self, board: Board, transcript: ClaudeTranscript):
        plate = await plate_of(board, transcript.session)
        page = await board.conversations.page(plate)
        transcript.file.write_text("")
        transcript.prompt("Start over.")
        again = await board.conversations.page(plate, Window(after=page.after), wait=20)
        assert (said(again), again.restarted) == (["Start over."], True)

    async def test_what_led_to_a_question(self, board: Board, transcript: ClaudeTranscript):
        nested = transcript.file.with_suffix("") / "subagents" / "agent-a1.jsonl"
        ClaudeTranscript(nested, transcript.session).reply("The branch is old, so I delete it.")
        plate = await plate_of(board, transcript.session)
        for asked in ({}, {"subagent": {"id": "gone"}}):
            led = await before_question(board.conversations, question(plateId=plate, **asked))
            assert [one.text for one in led][:2] == ["Mend the tests.", "I'll run them first."]
        by_subagent = question(plateId=plate, subagent={"id": "a1", "name": "Explore"})
        led = await before_question(board.conversations, by_subagent)
        assert [one.text for one in led] == ["The branch is old, so I delete it."]

    async def test_a_subagent_that_isnt_there(self, board: Board, transcript: ClaudeTranscript):
        plate = await plate_of(board, transcript.session)
        for one in ("abc", "../../secrets", "/etc/passwd"):
            with pytest.raises(TranscriptUnreadable):
                await board.conversations.page(plate, subagent=one)

    @pytest.mark.parametrize(
        ("window", "wait", "field"),
        [
            (Window("1", "2"), 0.0, "after"),
            (Window("", None), 0.0, "before"),
            (Window("x" * 1000), 0.0, "before"),
            (Window(after="1\n"), 0.0, "after"),
            (Window(most=0), 0.0, "limit"),
            (Window(), 1.0, "wait"),
            (Window(after="1"), -1.0, "wait"),
        ],
    )
    async def test_windows(
        self,
        board: Board,
        transcript: ClaudeTranscript,
        window: Window,
        wait: float,
        field: str,
    ):
        plate = await plate_of(board, transcript.session)
        with pytest.raises(ValidationError, match=field):
            await board.conversations.page(plate, window, wait=wait)

    async def test_a_limit_that_is_too_high(self, board: Board, transcript: ClaudeTranscript):
        for number in range(300):
            transcript.prompt(str(number))
        plate = await plate_of(board, transcript.session)
        assert len((await board.conversations.page(plate, Window(most=10_000))).items) == 200

    async def test_words(self, board: Board, transcript: ClaudeTranscript):
        plate = await plate_of(board, transcript.session)
        with pytest.raises(ValidationError, match="text"):
            await board.conversations.search(plate, "")
        with pytest.raises(ValidationError, match="cursor"):
            await board.conversations.item(plate, "m1", "")


class TestServer:
    @pytest.mark.parametrize("path", ["", "/search?text=a", "/items/m1?cursor=1"])
    async def test_it_needs_operate(self, server: str, path: str, transcript: ClaudeTranscript):
        async with Client(server, TOKEN) as client:
            plate = await plate_of(client, transcript.session)
            token = (await client.tokens.create("viewer", scope="answer")).secret
        async with httpx.AsyncClient(base_url=server) as http:
            url = f"/plates/{plate}/conversation{path}"
            refused = await http.get(url, headers={"Authorization": f"Bearer {token}"})
            assert (refused.status_code, refused.json()["error"]["needed"]) == (403, "operate")
            assert (await http.get(url)).status_code == 401

    @pytest.mark.parametrize(("scope", "is_told"), [("answer", False), ("operate", True)])
    async def test_one_that_is_in_the_log(self, server: str, scope: Scope, is_told: bool):
        session = short_id(16)
        about = {"sessionId": session, "cwd": PROJECT}
        huge = "The secret reply. " * 4000
        async with Client(server, TOKEN) as client:
            token = (await client.tokens.create(f"{scope}-{session}", scope=scope)).secret
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with httpx.AsyncClient(base_url=server, headers=headers) as http:
            for told in (
                {"type": "prompt", "text": "Find it."},
                {"type": "update", "update": chunk("The secret reply.")},
                {"type": "update", "update": chunk(huge)},
                {"type": "notice", "text": "done"},
            ):
                await http.post("/hooks/acp", json={**about, **told})
            plates = (await http.get("/plates")).json()["plates"]
            plate = next(one["plateId"] for one in plates if one["sessionId"] == session)
            http.headers["Authorization"] = f"Bearer {token}"
            events = (await http.get(f"/plates/{plate}/events")).json()["events"]
            assert [one["_tag"] for one in events][:1] == ["prompt_submit"]
            assert ("secret reply" in json.dumps(events)) is is_told
            streamed = ""
            async with http.stream("GET", "/stream?after=0") as stream:
                async for text in stream.aiter_text():
                    streamed += text
                    if streamed.count(plate) >= len(events):
                        break
            assert ("secret reply" in streamed) is is_told

    @pytest.mark.parametrize(("scope", "is_told"), [("read", False), ("operate", True)])
    async def test_what_hooks_report(self, server: str, scope: Scope, is_told: bool):
        session = short_id(16)
        about = {"session_id": session, "cwd": PROJECT, "tool_name": "Bash"}
        call = {**about, "tool_input": {"command": "cat notes"}, "tool_use_id": "t1"}
        long = f"{'Done. ' * 100}The secret reply."
        async with Client(server, TOKEN) as client:
            token = (await client.tokens.create(f"{scope}-{session}", scope=scope)).secret
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with httpx.AsyncClient(base_url=server, headers=headers) as http:
            for hook, more in (
                ("PreToolUse", call),
                ("PostToolUse", {**call, "tool_response": {"stdout": "The secret reply."}}),
                ("PostToolUseFailure", {**call, "error": "The secret reply."}),
                ("Stop", {**about, "last_assistant_message": long}),
                ("OfANewerVersion", {**about, "words": "The secret reply."}),
            ):
                await http.post("/hooks/claude", json={**more, "hook_event_name": hook})
            plates = (await http.get("/plates")).json()["plates"]
            plate = next(one["plateId"] for one in plates if one["sessionId"] == session)
            http.headers["Authorization"] = f"Bearer {token}"
            # A busy server puts hooks into the spool first.
            events: list[dict[str, Any]] = []
            while "stop" not in [one["_tag"] for one in events]:
                events = (await http.get(f"/plates/{plate}/events")).json()["events"]
            as_session = await http.get(f"/sessions/{plate}/events")
        assert ("secret reply" in json.dumps(events)) is is_told
        assert is_told or "secret reply" not in as_session.text
        started = next(one["payload"] for one in events if one["_tag"] == "tool_start")
        assert started["raw"]["tool_input"] == {"command": "cat notes"}
        assert {"tool_call", "stop"} <= {one["_tag"] for one in events}

    async def test_who_read_it_is_on_record(
        self, server: str, server_folder: Path, transcript: ClaudeTranscript
    ):
        async with Client(server, TOKEN) as client:
            plate = await plate_of(client, transcript.session)
            token = (await client.tokens.create("ada", scope="operate")).secret
        async with Client(server, token) as ada:
            pages = [await ada.conversations.page(plate) for _ in range(3)]
            page = pages[-1]
            await ada.conversations.page(plate, Window(after=page.after))
        audit = (server_folder / "t.db.audit.jsonl").read_text().splitlines()
        lines = [json.loads(line) for line in audit]
        reads = [one for one in lines if f"/plates/{plate}/conversation" in one["path"]]
        # Once a minute, and a minute may have ended meanwhile.
        assert 1 <= len(reads) <= 2
        assert (reads[0]["who"], reads[0]["status"]) == ("ada", 200)

    @pytest.mark.parametrize(
        ("query", "field"),
        [
            ("limit=0", "limit"),
            ("limit=x", "limit"),
            ("wait=-1&after=1", "wait"),
            ("wait=60000&after=1", "wait"),
            ("subagent=", "subagent"),
        ],
    )
    async def test_queries(self, server: str, query: str, field: str):
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with httpx.AsyncClient(base_url=server, headers=headers) as http:
            told = await http.get(f"/plates/x/conversation?{query}")
            assert (told.status_code, told.json()["error"]["field"]) == (400, field)

    async def test_a_server_that_stops_lets_readers_go(
        self, tmp_path: Path, transcript: ClaudeTranscript
    ):
        async with serving(tmp_path / "t.db") as server, Client(server.url, TOKEN) as client:
            plate = await plate_of(client, transcript.session)
            page = await client.conversations.page(plate)
            window = Window(after=page.after)
            waiting = asyncio.create_task(client.conversations.page(plate, window, wait=20))
            await asyncio.sleep(0.2)
            assert not waiting.done()
            await server.stop()
            later = await waiting
            assert (later.items, later.after) == ([], page.after)
