"""`callboard say`, `messages` and `interrupt`, on a server with an agent that can't be reached."""

import asyncio
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.acceptance.cli_process import SCRIPT, CallboardCommand
from tests.servers import TOKEN, served

from callboard import Client

FLOWS = """
from callboard import Approval, Phase, State, Workflow

flow = Workflow("flow", state=State, phases=[Phase("ask", human=Approval("On?"), terminal=True)])
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("server"), FLOWS) as url:
        yield url


@pytest.fixture
def command(tmp_path: Path, server: str) -> CallboardCommand:
    made = CallboardCommand(tmp_path)
    del made.env["CALLBOARD_DB"]
    made.env |= {"CALLBOARD_SERVER": server, "CALLBOARD_TOKEN": TOKEN}
    return made


@pytest.fixture
def plate(server: str) -> str:
    async def register() -> str:
        async with Client(server, TOKEN) as client:
            made = await client.plates.register("another", project_path="/p")
            await client.plates.change(made.plate_id, name=f"shop {made.plate_id}")
            return made.plate_id

    return asyncio.run(register())


def test_from_writing_to_withdrawing(command: CallboardCommand, plate: str):
    said = command.here("say", plate, "Use the other", "table.")
    assert said.out.startswith(f"Queued for shop {plate}.")
    assert "Callboard can't write to 'another'." in said.out
    assert f"callboard messages {plate}" in said.out
    (written,) = command.here("say", plate[:6], "/cost", "--after-turn", "--json").json
    assert (written["text"], written["when"], written["status"]) == (
        "/cost",
        "after_turn",
        "queued",
    )
    listed = command.here("messages", f"shop {plate}").out
    assert "Use the other table." in listed
    assert "after its turn. Queued." in listed
    (found,) = command.here("messages", plate, "--json").json
    ids = [one["id"] for one in found["messages"]]
    assert command.here("messages", plate, "move", ids[1], "--before", ids[0]).out == "Queued.\n"
    edited = command.here("messages", plate, "edit", ids[0], "b", "--when", "after-turn", "--json")
    assert (edited.json[0]["text"], edited.json[0]["when"]) == ("b", "after_turn")
    assert command.here("messages", plate, "withdraw", ids[1][:8]).out == "Withdrawn.\n"
    refused = command.here("messages", plate, "withdraw", ids[1], code=2)
    assert "This message was already withdrawn." in refused.err


def test_what_starts_like_a_command_is_sent_as_text(command: CallboardCommand, plate: str):
    assert "It is sent as text" in command.here("say", plate, "!ls").out


def test_standard_input(command: CallboardCommand, plate: str):
    done = subprocess.run(
        [SCRIPT, "say", plate, "-", "--json"],
        env=command.env,
        input=b"One.\nTwo.\n",
        capture_output=True,
        check=True,
    )
    assert json.loads(done.stdout)["text"] == "One.\nTwo."


def test_waiting_ends(command: CallboardCommand, plate: str):
    assert command.here("say", plate, "a", "--wait", "--timeout=0.3", code=3).out == "Queued.\n"


def test_interrupting_what_cannot_be(command: CallboardCommand, plate: str):
    said = command.here("interrupt", plate, code=1).out
    assert said.startswith(f"shop {plate} was not interrupted. Callboard can't")


def test_an_agent_without_a_name_is_called_by_its_folder(
    command: CallboardCommand, server: str, plate: str
):
    async def remove_name() -> None:
        async with Client(server, TOKEN) as client:
            await client.plates.change(plate, name="")

    asyncio.run(remove_name())
    assert command.here("say", plate, "a").out.startswith("Queued for p.")
    assert command.here("interrupt", plate, code=1).out.startswith("p was not interrupted.")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["say", "unknown", "a"], "There is no agent 'unknown'"),
        (["say", "PLATE", " "], "write something"),
        (["say", "PLATE", "a\x1b[2J"], "control character U+001B"),
        (["messages", "PLATE", "withdraw"], "Missing argument 'MESSAGE'"),
        (["messages", "PLATE", "withdraw", "unknown"], "There is no message 'unknown'"),
        (["messages", "PLATE", "edit", "unknown"], "give the new text"),
    ],
)
def test_bad_input(command: CallboardCommand, plate: str, words: list[str], said: str):
    typed = [plate if word == "PLATE" else word for word in words]
    assert said in command.here(*typed, code=2).err


def test_it_needs_a_server(command: CallboardCommand):
    del command.env["CALLBOARD_SERVER"]
    assert "No server is running" in command.here("say", "x", "a", "--db=t.db", code=1).err
