"""`callboard transcript`: what an agent did, in full, in parts, as it grows, on every board."""

import asyncio
import shlex
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from tests.acceptance.cli_process import CallboardCommand
from tests.transcripts import SESSION, ClaudeTranscript, place_of

from callboard import Callboard
from callboard.board.hosts import local_host
from callboard.board.plate import Plate
from callboard.vendors.agents import VENDORS

PROJECT = "/home/ann/shop"


@pytest.fixture
def command(tmp_path: Path) -> CallboardCommand:
    # Commands in processes of their own are on the same machine.
    host = tmp_path / "share" / "callboard" / "host"
    host.parent.mkdir(parents=True)
    host.write_text(local_host().id)
    return CallboardCommand(tmp_path)


@pytest.fixture
def transcript(tmp_path: Path) -> ClaudeTranscript:
    made = ClaudeTranscript(place_of(tmp_path / ".claude", PROJECT))
    made.prompt("Mend the tests.\nAll of them.")
    made.reply("I'll run them first.")
    made.command("toolu_1", "make test", "2 failed", failed=True)
    made.edit("toolu_2")
    return made


@pytest.fixture
def plate(command: CallboardCommand, transcript: ClaudeTranscript) -> Plate:
    async def register() -> Plate:
        async with Callboard.open(command.folder / "t.db") as board:
            return await board.plates.register(
                "claude", project_path=PROJECT, session_id=transcript.session
            )

    return asyncio.run(register())


def test_what_it_did(command: CallboardCommand, plate: Plate):
    shown = command("transcript", plate.plate_id).out
    assert "Prompt" in shown
    assert "  Mend the tests.\n  All of them.\nClaude Code" in shown
    assert "  Bash  $ make test  (failed)\n    2 failed\n" in shown
    assert "  Edit  app.py +1 -1\n" in shown
    assert "+a = 2" not in shown


@pytest.mark.parametrize("given", ["plate", "start", "session"])
def test_it_is_found(command: CallboardCommand, plate: Plate, given: str):
    ids = {"plate": plate.plate_id, "start": plate.plate_id[:5], "session": SESSION}
    assert "I'll run them first." in command.here("transcript", ids[given]).out


def test_in_full(command: CallboardCommand, plate: Plate):
    shown = command.here("transcript", plate.plate_id, "--full").out
    assert "    $ make test\n    Run it\n    Result\n    2 failed\n" in shown
    assert "    app.py\n    @@ -1,2 +1,2 @@\n    -a = 1\n    +a = 2\n     b = 3\n" in shown


def test_one_message(command: CallboardCommand, plate: Plate, transcript: ClaudeTranscript):
    transcript.reply("word " * 10_000)
    for number in range(300):
        transcript.prompt(str(number))
    shown = command.here("transcript", f"{plate.plate_id}#m7").out
    assert shown.count("word") == 10_000
    told = orjson.loads(command.here("transcript", f"{plate.plate_id}#m7", "--json").out)
    assert (told["id"], told["cut"]) == ("m7", False)


def test_search(command: CallboardCommand, plate: Plate):
    shown = command.here("transcript", plate.plate_id, "--search", "THEM").out
    assert shown.index("I'll run them") < shown.index("Mend the tests.")
    assert f"'{plate.plate_id}#m2'" in shown
    assert "No matching" in command.here("transcript", plate.plate_id, "--search", "zz").out


def test_the_last_ones_or_all(
    command: CallboardCommand, plate: Plate, transcript: ClaudeTranscript
):
    for number in range(500):
        transcript.command(f"toolu_x{number}", f"echo {number}", str(number))
    shown = command.here("transcript", plate.plate_id).out
    assert "$ echo 499" in shown
    assert "Mend" not in shown
    assert f"Earlier messages: callboard transcript {plate.plate_id} --all" in shown
    told = command.here("transcript", plate.plate_id, "--all").out
    found = [line for line in told.splitlines() if "$ echo" in line and "running" not in line]
    assert [line.split()[-1] for line in found] == [str(number) for number in range(500)]
    assert "Mend the tests." in told


def test_as_json(command: CallboardCommand, plate: Plate):
    lines = command.here("transcript", plate.plate_id, "--json").out.splitlines()
    assert [orjson.loads(one)["id"] for one in lines] == ["m1", "m2", "toolu_1", "toolu_2"]


@pytest.fixture
def following(command: CallboardCommand, plate: Plate) -> Iterator["subprocess.Popen[str]"]:
    with command.start("transcript", plate.plate_id, "--follow") as process:
        yield process
        process.terminate()


def test_it_grows(following: "subprocess.Popen[str]", transcript: ClaudeTranscript):
    assert following.stdout is not None
    until(following, "Edit  app.py")
    transcript.call("toolu_9", "Bash", command="make lint")
    until(following, "Bash  $ make lint  (running)")
    transcript.result("toolu_9", "fine")
    until(following, "Bash  $ make lint\n")
    transcript.reply("All done.")
    until(following, "All done.")


def until(process: "subprocess.Popen[str]", text: str) -> None:
    assert process.stdout is not None
    deadline = time.monotonic() + 60
    while text not in process.stdout.readline():
        assert time.monotonic() < deadline


def test_a_question_of_an_agent(command: CallboardCommand, transcript: ClaudeTranscript):
    asked = {
        "hook_event_name": "PermissionRequest",
        "session_id": SESSION,
        "cwd": PROJECT,
        "tool_name": "Bash",
        "tool_input": {"command": "rm -r build"},
        "callboard": {"hold": "0" * 16},
    }

    async def hear() -> str:
        async with Callboard.open(command.folder / "t.db") as board:
            report = VENDORS["claude"].translate(asked)
            assert report is not None
            heard = await board.plates.hear(report)
            assert heard.interaction_id is not None
            return heard.interaction_id

    question = asyncio.run(hear())
    assert "I'll run them first." in command.here("transcript", question).out
    shown = command.here("inbox", question).out
    assert shown.index("I'll run them first.") < shown.index("rm -r build")


def test_by_its_name_or_the_start_of_its_id(command: CallboardCommand, plate: Plate):
    async def name() -> None:
        async with Callboard.open(command.folder / "t.db") as board:
            await board.plates.change(plate.plate_id, name="checkout")

    asyncio.run(name())
    for given in ("checkout", plate.plate_id[:6], plate.session_id):
        assert "I'll run them first." in command.here("transcript", given).out


class TestErrors:
    def test_nothing_has_this_id(self, command: CallboardCommand, plate: Plate):
        failed = command.here("transcript", "nothing", code=2)
        assert "There is no agent and no question 'nothing'" in failed.err
        assert "callboard plates" in failed.err

    def test_no_such_message(self, command: CallboardCommand, plate: Plate):
        failed = command.here("transcript", f"{plate.plate_id}#zz", code=2)
        assert "--search TEXT" in failed.err

    def test_no_transcript(
        self, command: CallboardCommand, plate: Plate, transcript: ClaudeTranscript
    ):
        transcript.file.unlink()
        failed = command.here("transcript", plate.plate_id, code=2)
        assert "No such file" in failed.err
        assert "may appear with the next prompt" in failed.err

    def test_options_that_contradict(self, command: CallboardCommand, plate: Plate):
        command.here("transcript", plate.plate_id, "--search", "a", "--follow", code=2)


def test_control_characters_do_nothing_to_the_terminal(
    command: CallboardCommand, plate: Plate, transcript: ClaudeTranscript
):
    evil = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202etxt\r\b"
    transcript.prompt(f"Look {evil}")
    transcript.reply(f"Here {evil}")
    transcript.command("toolu_3", f"echo {evil}", f"output {evil}")
    for more in ([], ["--full"], ["--search", "Look"]):
        shown = command.here("transcript", plate.plate_id, *more).out
        assert not {"\x1b", "\x07", "\x9b", "\u202e", "\b"} & set(shown), more
        assert "\r" not in shown


def test_a_link_into_a_subagents_conversation(
    command: CallboardCommand, plate: Plate, transcript: ClaudeTranscript
):
    nested = transcript.file.with_suffix("") / "subagents" / "agent-a1.jsonl"
    ClaudeTranscript(nested, transcript.session).reply("The docs are old.")
    found = command.here("transcript", plate.plate_id, "--subagent", "a1", "--search", "docs").out
    [line] = [line for line in found.splitlines() if "#m1" in line]
    words = shlex.split(line)
    shown = command.here(*words[words.index("transcript") :]).out
    assert "The docs are old." in shown
