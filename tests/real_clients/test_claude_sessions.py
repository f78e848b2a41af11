"""Sessions of the real Claude Code, from start to end, as the board sees them."""

import json
import os
import signal
import threading

import pytest
from tests.real_clients import scenes
from tests.real_clients.board import Board
from tests.real_clients.claude import Claude
from tests.real_clients.home import CALLBOARD, Home
from tests.real_clients.model import Model
from tests.real_clients.patience import until
from tests.real_clients.script import Call, Say
from tests.real_clients.terminal import TELLING
from tests.servers import serving


def tools_of(events: list[dict[str, object]], name: str) -> list[object]:
    return [event["payload"]["toolName"] for event in events if event["name"] == name]  # type: ignore[index]


@pytest.mark.parametrize(
    "transport",
    ["spool", *(pytest.param(one, marks=pytest.mark.long) for one in ("command", "http"))],
)
async def test_a_session_from_start_to_end(
    claude: Claude, model: Model, board: Board, transport: str
):
    reached = ("--force", f"--port={board.server.port}") if transport == "http" else ()
    await claude.home.install_hooks("claude", f"--transport={transport}", *reached)
    model.scripts["greet"] = scenes.ECHO
    done = await claude.run("play:greet")
    assert (done.code, done.out, done.err) == (0, "I said hello.\n", "")
    plate = await board.plate(status="closed")
    assert await board.told(plate) == [
        "session_start",
        "turn_idle",
        "prompt_submit",
        "tool_start",
        "tool_call",
        "stop",
        "session_end",
    ]
    assert plate["agent"] == "claude"
    assert plate["projectPath"] == str(claude.home.project)
    assert (plate["prompt"], plate["lastTool"]) == ("play:greet", "Bash")
    assert plate["lastMessage"] == "I said hello."


async def test_the_branch_follows_what_is_checked_out_beside_the_client(
    claude: Claude, board: Board
):
    await claude.home.run("git", "init", "--quiet", "--initial-branch=main")
    with claude.terminal() as terminal:
        await terminal.is_ready()
        await board.plate(status="idle", gitBranch="main")
        await claude.home.run("git", "checkout", "--quiet", "-b", "coupons")
        await board.plate(status="idle", gitBranch="coupons")


@pytest.mark.long
async def test_a_tool_that_fails_is_a_tool_that_ended(claude: Claude, model: Model, board: Board):
    call = Call("Bash", {"command": "cat no-such-file", "description": "Fail"})
    model.scripts["fail"] = [[call], [Say("It failed.")]]
    await claude.run("play:fail")
    plate = await board.plate(status="closed")
    events = await board.events(plate)
    assert tools_of(events, "tool_start") == tools_of(events, "tool_call") == ["Bash"]


async def test_the_client_does_not_notice_that_there_is_no_server(
    claude: Claude, model: Model, home: Home
):
    model.scripts["greet"] = scenes.ECHO
    done = await claude.run("play:greet")
    assert (done.code, done.out, done.err) == (0, "I said hello.\n", "")
    async with serving(home.database, env=home.env) as server:
        board = Board(server)
        plate = await board.plate(status="closed")
        # That its process has ended may be seen before all of its hooks are read.
        await board.heard(plate, "session_end")
        told = await board.told(plate)
    assert told[0] == "session_start"
    assert told[-4:] == ["tool_start", "tool_call", "stop", "session_end"]


async def test_a_session_that_is_resumed_keeps_its_plate(
    claude: Claude, model: Model, board: Board
):
    model.scripts["say"] = scenes.SAY
    first = json.loads((await claude.run("play:say", "--output-format=json")).out)
    before = await board.plate(status="closed")
    await claude.run("play:say", "--resume", first["session_id"])
    after = await board.plate(status="closed", pid=(await until_resumed(board))["pid"])
    assert after["plateId"] == before["plateId"]
    assert after["pid"] != before["pid"]
    assert (await board.told(after)).count("session_start") == 2


async def until_resumed(board: Board) -> dict[str, object]:
    plate = (await board.plates())[0]
    await board.heard(plate, "session_start", source="resume")
    return (await board.plates())[0]


@pytest.mark.long
async def test_after_clear_it_is_another_session_on_the_same_plate(
    claude: Claude, model: Model, board: Board
):
    model.scripts["say"] = scenes.SAY
    with claude.terminal() as terminal:
        await terminal.is_ready()
        await terminal.type("play:say")
        before = await board.plate(status="idle", prompt="play:say")
        await terminal.type("/clear")
        await board.heard(before, "session_end", reason="clear")
        after = await board.plate(status="idle", prompt=None)
        assert [plate["plateId"] for plate in await board.plates()] == [before["plateId"]]
        assert after["sessionId"] != before["sessionId"]
        assert after["pid"] == before["pid"] == terminal.pid


async def test_leaving_closes_the_plate(claude: Claude, board: Board):
    with claude.terminal() as terminal:
        await terminal.is_ready()
        await board.plate(status="idle")
        await terminal.type("/exit")
        await terminal.ends()
        plate = await board.plate(status="closed")
    assert (await board.told(plate))[-1] == "session_end"


async def test_a_killed_client_is_closed(claude: Claude, model: Model, board: Board):
    gate = threading.Event()
    model.scripts["slow"] = scenes.slow(gate)
    with claude.terminal() as terminal:
        await terminal.is_ready()
        await terminal.type("play:slow")
        await board.plate(status="running")
        claude.kill(terminal)
        plate = await board.plate(status="closed")
        gate.set()
    assert (await board.told(plate))[-1] == "process_exit"


async def test_esc_while_the_model_thinks_leaves_it_idle(
    claude: Claude, model: Model, board: Board
):
    gate = threading.Event()
    model.scripts["slow"] = scenes.slow(gate)
    with claude.terminal() as terminal:
        await terminal.is_ready()
        await terminal.type("play:slow")
        await board.plate(status="running")
        terminal.press("Escape")
        plate = await board.plate(status="idle", interrupted=True)
        gate.set()
    assert plate["unseen"] is False


async def test_esc_during_a_long_tool_leaves_it_idle(claude: Claude, model: Model, board: Board):
    model.scripts["long"] = scenes.TOUCH_FOR_LONG
    with claude.terminal("--allowedTools", "Bash") as terminal:
        await terminal.is_ready()
        await terminal.type("play:long")
        await until(lambda: (claude.home.project / "made").exists(), "the tool at work")
        plate = await board.plate(status="running", lastTool="Bash")
        terminal.press("Escape")
        # Seen in the transcript at once: the registry alone is believed after two seconds.
        told = await board.heard(plate, "turn_idle", interrupted=True)
        assert told["payload"]["seenIn"] == "transcript"
        plate = await board.plate(status="idle", interrupted=True)
    assert plate["unseen"] is False


@pytest.mark.long
async def test_esc_during_a_long_tool_of_a_client_without_a_registry(
    claude: Claude, model: Model, board: Board
):
    model.scripts["long"] = scenes.TOUCH_FOR_LONG
    with claude.terminal("--allowedTools", "Bash") as terminal:
        await terminal.is_ready()
        await terminal.type("play:long")
        await until(lambda: (claude.home.project / "made").exists(), "the tool at work")
        plate = await board.plate(status="running", lastTool="Bash")
        sessions = claude.home.folder / ".claude" / "sessions"
        sessions.rename(sessions.with_name("hidden"))
        terminal.press("Escape")
        plate = await board.plate(status="idle", interrupted=True)
    assert plate["unseen"] is False


@pytest.mark.long
async def test_a_background_agent_works_on_after_the_turn(
    claude: Claude, model: Model, board: Board
):
    gate = threading.Event()
    model.scripts |= {"slow": scenes.slow(gate), "send": scenes.sent_away("slow")}
    with claude.terminal() as terminal:
        await terminal.is_ready()
        await terminal.type("play:send")
        plate = await board.plate(status="idle", lastMessage="It is on its way.")
        assert [one["kind"] for one in plate["background"]] == ["subagent"]
        gate.set()
        await board.heard(plate, "subagent_stop")
        plate = await board.plate(status="idle", background=[])
    assert "subagent_start" in await board.told(plate)


@pytest.mark.long
async def test_watch_closes_the_plate_at_once(claude: Claude, board: Board):
    with claude.terminal(through=(*TELLING, CALLBOARD, "watch", "--")) as terminal:
        await terminal.is_ready()
        plate = await board.plate(status="idle")
        os.kill(plate["pid"], signal.SIGKILL)
        await board.plate(status="closed")
        await terminal.shows(f"left with {128 + signal.SIGKILL}")
