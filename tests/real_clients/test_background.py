"""Claude Code in the background: started, attached to, left, stopped, resumed, killed."""

import os
import signal
from collections.abc import Generator
from pathlib import Path

import psutil
import pytest
from tests.real_clients import scenes
from tests.real_clients.background import Background, background_in
from tests.real_clients.board import Board
from tests.real_clients.claude import Claude
from tests.real_clients.model import Model
from tests.real_clients.patience import until
from tests.real_clients.script import Say


@pytest.fixture
def background(claude: Claude) -> Generator[Background]:
    with background_in(claude.home, claude.env) as made:
        yield made


async def test_an_agent_runs_in_the_background_and_is_attached_to_left_and_resumed(
    background: Background, model: Model, data_board: Board
):
    model.scripts |= {"say": scenes.SAY, "echo": scenes.ECHO, "again": [[Say("Here I am again.")]]}
    plate = await background.start("claude", "Look around. play:say")
    assert plate["status"] == "starting"
    await data_board.plate(plateId=plate["plateId"], status="idle")

    with background.attach(plate) as terminal:
        await terminal.shows("Look around.", "Nothing to do.")
        await terminal.type("Greet us. play:echo")
        await terminal.shows("I said hello.")
        await background.leave(terminal)
    await data_board.plate(plateId=plate["plateId"], status="idle", prompt="Greet us. play:echo")

    with background.attach(plate) as terminal:
        await terminal.shows("I said hello.")
        await terminal.type("/exit")
        await terminal.shows("It has ended, with exit code 0.")
    closed = await data_board.plate(status="closed")
    assert background.records() == []
    assert model.was_told("Greet us. play:echo")

    again = await background.start("--resume", plate["plateId"], "And now? play:again")
    assert (again["plateId"], again["sessionId"]) == (plate["plateId"], closed["sessionId"])
    await data_board.plate(plateId=plate["plateId"], status="idle", sessionId=closed["sessionId"])
    with background.attach(plate) as terminal:
        await terminal.shows("I said hello.", "Here I am again.")
        refused = await background.run("start", "--resume", plate["plateId"])
        assert "is still running" in refused.err
        await background.leave(terminal)
    assert (await background.run("stop", plate["plateId"])).code == 0
    await data_board.plate(plateId=plate["plateId"], status="closed")
    assert len(await data_board.plates()) == 1
    await until(lambda: background.records() == [], "the end of the process that kept it")


@pytest.mark.long
async def test_it_outlives_servers_and_people_and_ends_with_its_host(
    background: Background, model: Model, data_board: Board
):
    model.scripts |= {"say": scenes.SAY, "echo": scenes.ECHO}
    plate = await background.start("claude", "Look around. play:say")
    await data_board.plate(plateId=plate["plateId"], status="idle")
    await data_board.server.stop(signal.SIGKILL)
    with background.attach(plate) as terminal:
        await terminal.shows("Nothing to do.")
        os.kill(terminal.pid, signal.SIGKILL)
        await terminal.ends()
    await data_board.server.start()
    with background.attach(plate) as terminal:
        await terminal.shows("Nothing to do.")
        with background.attach(plate) as other:
            await other.shows("Another terminal is attached to it.")
        await terminal.type("Greet us. play:echo")
        await terminal.shows("I said hello.")
        await data_board.plate(
            plateId=plate["plateId"], status="idle", prompt="Greet us. play:echo"
        )
        with background.attach(plate, "--take") as third:
            await third.shows("I said hello.")
            await terminal.shows("Another terminal has taken it over.")
            ((record),) = background.records()
            pid, host = int(str(record["pid"])), int(str(record["host_pid"]))
            assert psutil.Process(host).memory_info().rss < 20 * 1024 * 1024
            os.kill(host, signal.SIGKILL)
            await third.shows("The process that kept its terminal was stopped.")
    await data_board.plate(plateId=plate["plateId"], status="closed")
    await until(lambda: background.is_gone(pid), "the end of the agent")


async def test_what_cannot_be_started_is_refused(
    background: Background, data_board: Board, tmp_path: Path
):
    nowhere = await background.run("start", "claude", "--cwd", str(tmp_path / "none"))
    assert (nowhere.code, "does not exist" in nowhere.err) == (2, True)
    file = tmp_path / "file"
    file.touch()
    no_folder = await background.run("start", "claude", "--cwd", str(file))
    assert "can't be opened as a folder" in no_folder.err
    unknown = await background.run("start", "--resume", "nothing")
    assert "no plate and no session 'nothing'" in unknown.err
    wrong = await background.run("start", "clod")
    assert (wrong.code, "Use one of: claude" in wrong.err) == (2, True)
    bare = Background(background.home, {"PATH": "/usr/bin:/bin"})
    missing = await bare.run("start", "codex")
    assert "npm install -g @openai/codex" in missing.err
    assert await data_board.plates() == []
