"""Agents that speak ACP, from `callboard start acp` to their end, with an agent of our own."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncGenerator
from pathlib import Path

import psutil
import pytest
from tests.acp_sessions import SCRIPTED, Acp, Wire, acp_board
from tests.real_clients.home import Home
from tests.real_clients.patience import until, until_told

from callboard.vendors.acp_starting import DEADLINE_VARIABLE

STEERS = (
    "from callboard.terminals.link import asked; "
    "from callboard.terminals.records import own_terminals; (one,) = own_terminals(); "
    "print(asked(one, {'do': 'say', 'id': 'x', 'text': 'hi'}), asked(one, {'do': 'stop'}))"
)
EDITED = "@@ -1,2 +1,2 @@\n-one\n+uno\n two\n"


def is_running(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


@pytest.fixture
async def acp(tmp_path: Path) -> AsyncGenerator[Acp]:
    async with acp_board(Home.made_in(tmp_path)) as acp:
        yield acp


async def test_an_agent_is_started_read_asked_and_stopped(acp: Acp):
    plate = await acp.start(*SCRIPTED, prompt="think Hmm.\nsay Hello there.\nrun make test")
    question = await acp.board.asked("permission")
    assert question["prompt"] == "Run: make test"
    await acp.board.plate(plateId=plate["plateId"], status="awaiting_approval", model="scripted-1")
    await acp.board.answer(question["id"], "yes")
    settled = await acp.board.settled(question["id"])
    assert (settled["status"], settled["receipt"]) == ("completed", "delivered")
    items = await acp.shown(plate, "The answer was yes-once.")
    await acp.board.plate(plateId=plate["plateId"], status="idle")
    kinds = [(one["kind"], one["text"].strip()) for one in items]
    assert kinds[2:4] == [("thinking", "Hmm."), ("reply", "Hello there.")]
    (tool,) = [one["tool"] for one in items if one["kind"] == "tool"]
    assert (tool["command"], tool["status"]) == ("make test", "done")
    assert tool["result"] == "ran: make test\n"
    assert (await acp.run("stop", plate["plateId"])).code == 0
    await acp.board.plate(plateId=plate["plateId"], status="closed")


async def test_a_message_waits_for_the_end_of_a_turn_unless_the_agent_takes_it(
    acp: Acp, tmp_path: Path
):
    gate, other = tmp_path / "gate", tmp_path / "other"
    polite = await acp.start(*SCRIPTED, prompt=f"say Working.\nwait {gate}")
    absorbing = await acp.start(*SCRIPTED, "--absorbs", prompt=f"say Working.\nwait {other}")
    await acp.shown(polite, "Working.")
    await acp.shown(absorbing, "Working.")
    waits = await acp.say(polite, "say Second.")
    gone = await acp.say(polite, "say Never.")
    taken = await acp.say(absorbing, "say Absorbed.")
    await acp.shown(absorbing, "Absorbed.")
    assert (await acp.message(absorbing, id=taken["id"], status="seen"))["way"] == "prompt"
    reach = (await acp.board.get(f"/plates/{polite['plateId']}/messages"))["reach"]
    assert "when its turn is over" in reach["note"]
    assert [one["status"] for one in await acp.messages(polite)] == ["queued", "queued"]
    async with acp.board.server.client() as client:
        path = f"/plates/{polite['plateId']}/messages/{gone['id']}"
        assert (await client.delete(path)).status_code == 200
    gate.touch()
    other.touch()
    await acp.message(polite, id=waits["id"], status="seen")
    await acp.board.plate(plateId=polite["plateId"], status="idle", prompt="say Second.")
    items = await acp.items(polite)
    said = [one["text"].strip() for one in items if one["kind"] in ("prompt", "reply")]
    assert said[1:] == ["Working.", "say Second.", "Second."]
    await acp.board.plate(plateId=polite["plateId"], status="idle")


async def test_an_interrupt_ends_the_turn_and_its_question(acp: Acp, tmp_path: Path):
    plate = await acp.start(*SCRIPTED, prompt="run rm -rf build")
    question = await acp.board.asked("permission")
    assert (await acp.post(plate, "interrupt"))["wasInterrupted"] is True
    closed = await acp.board.closed(question["id"])
    assert (closed["status"], closed["receipt"]) == ("cancelled", None)
    await acp.board.plate(plateId=plate["plateId"], status="idle", interrupted=True)
    await acp.shown(plate, "Interrupted")
    async with acp.board.server.client() as client:
        late = await client.post(f"/interactions/{question['id']}/answer", json={"value": "yes"})
        assert late.status_code == 409
    assert (await acp.post(plate, "interrupt"))["note"] == "No turn is running."
    await acp.say(plate, f"say Still here.\nwait {tmp_path / 'never'}")
    await acp.shown(plate, "Still here.")


async def test_each_kind_of_answer_reaches_the_agent(acp: Acp):
    prompt = "run first\nrun second\nchoose Red,Green,Blue\nsay Over."
    plate = await acp.start(*SCRIPTED, prompt=prompt)
    first = await acp.board.asked("permission")
    await acp.board.answer(first["id"], {"approved": True, "always": True})
    await acp.shown(plate, "The answer was yes-always.")
    second = await acp.board.asked("permission")
    await acp.board.answer(second["id"], {"approved": False, "message": "say Use third."})
    denied = await acp.board.settled(second["id"])
    assert (denied["status"], denied["receipt"]) == ("completed", "delivered")
    choice = await acp.board.asked("question")
    assert choice["options"] == ["Red", "Green", "Blue"]
    await acp.board.answer(choice["id"], {"answers": {choice["prompt"]: "Green"}})
    items = await acp.shown(plate, "The answer was o1.", "Over.", "Use third.")
    statuses = [one["tool"]["status"] for one in items if one["kind"] == "tool"]
    assert statuses[:2] == ["done", "denied"]


async def test_many_questions_at_once_delay_nothing_else(acp: Acp):
    """More than a pool of threads has on any machine."""
    plate = await acp.start(*SCRIPTED, prompt="flock 40\nsay Over.")
    await acp.board.asked("permission", 40)
    assert (await acp.post(plate, "interrupt"))["wasInterrupted"] is True
    await acp.board.plate(plateId=plate["plateId"], status="idle", interrupted=True)


async def test_a_question_about_a_huge_file_is_asked(acp: Acp):
    plate = await acp.start(*SCRIPTED, prompt="write 12")
    question = await acp.board.asked("permission")
    assert question["prompt"] == "Edit /p/large.txt"
    await acp.board.answer(question["id"], "yes")
    await acp.shown(plate, "The answer was yes-once.")
    largest = max(len(json.dumps(one)) for one in await acp.board.events(plate))
    assert largest < 32_000


async def test_what_people_write_is_never_a_command(acp: Acp):
    """Agents run a prompt that starts with a slash, and a note beside a no is a prompt as well."""
    plate = await acp.start(*SCRIPTED, prompt="run first")
    asked = await acp.board.asked("permission")
    await acp.board.answer(asked["id"], {"approved": False, "message": "/undo"})
    await acp.shown(plate, "Message: /undo")
    await acp.board.plate(plateId=plate["plateId"], status="idle")
    written = await acp.say(plate, "/compact")
    await acp.message(plate, id=written["id"], status="seen", text="/compact")
    prompts = [one["text"] for one in await acp.items(plate) if one["kind"] == "prompt"]
    assert prompts == ["run first", "Message: /undo", "Message: /compact"]


async def test_what_an_agent_does_is_shown_and_counted(acp: Acp):
    steps = "plan Read,Write\nedit /p/a.txt\nstream 200\nodd sunny\ncost 0.5\nsay Done."
    plate = await acp.start(*SCRIPTED, "--garbage", prompt=steps)
    items = await acp.shown(plate, "Done.", "weather_update", "is not a message")
    tools = {one["tool"]["name"]: one["tool"] for one in items if one["kind"] == "tool"}
    assert tools["Plan"]["result"] == "- [ ] Read\n- [ ] Write"
    assert tools["Edit"]["edits"] == [{"path": "/p/a.txt", "diff": EDITED}]
    assert tools["Bash"]["result"] == "".join(f"line {number}\n" for number in range(200))
    events = await acp.board.events(plate)
    size = sum(len(json.dumps(one)) for one in events if "added" in json.dumps(one))
    assert size < 200_000  # Repeated, its output would be 260,000 characters, besides all else.

    async def used() -> Wire | None:
        rows = (await acp.board.get("/usage?by=model"))["rows"]
        return rows[0] if rows else None

    row = await until_told(used, lambda: "usage")
    assert row["key"] == "scripted-1"
    used_up = row["used"]
    counts = used_up["inputTokens"], used_up["outputTokens"], used_up["cacheReadTokens"]
    assert (counts, used_up["cost"]) == ((100, 20, 7), 0.5)
    await acp.board.plate(plateId=plate["plateId"], todoProgress="0/2")


async def test_it_outlives_the_server_and_asks_the_next_one(acp: Acp):
    plate = await acp.start(*SCRIPTED, prompt="say Before.\nrun make\nsay After.")
    question = await acp.board.asked("permission")
    await acp.board.server.kill()
    await acp.board.server.restart()
    await acp.board.answer(question["id"], "yes")
    assert (await acp.board.settled(question["id"]))["receipt"] == "delivered"
    await acp.board.plate(plateId=plate["plateId"], status="idle")
    items = await acp.items(plate)
    texts = "".join(one["text"] for one in items if one["kind"] == "reply")
    assert texts == "Before. The answer was yes-once. After. "


@pytest.mark.long
async def test_what_happens_without_a_server_is_there_later(acp: Acp, tmp_path: Path):
    gate = tmp_path / "gate"
    plate = await acp.start(*SCRIPTED, prompt=f"say Before.\nwait {gate}\nsay Alone.\nrun make")
    await acp.shown(plate, "Before.")
    await acp.board.server.kill()
    gate.touch()
    await asyncio.sleep(3.5)  # Until it has given up waiting for the server.
    await acp.board.server.restart()
    question = await acp.board.asked("permission")
    await acp.board.answer(question["id"], "yes")
    await acp.shown(plate, "Alone.", "The answer was yes-once.")


async def test_its_end_is_told_however_it_comes(acp: Acp):
    crashed = await acp.start(*SCRIPTED, prompt="say Hm.\nexit 3")
    plate = await acp.board.plate(plateId=crashed["plateId"], status="closed")
    assert plate["ended"] == "The agent ended with exit code 3."
    await acp.shown(crashed, "The agent ended with exit code 3.", "Out of coffee.")
    mute = await acp.start(*SCRIPTED, prompt="say Hm.\nmute")
    plate = await acp.board.plate(plateId=mute["plateId"], status="closed")
    assert plate["ended"] == "The agent closed its output, so nothing more can be heard of it."
    early = await acp.start("sh", "-c", "exec >&-; sleep 0.3; echo No config. >&2; exit 4")
    plate = await acp.board.plate(plateId=early["plateId"], status="closed")
    assert plate["ended"] == "The agent ended with exit code 4."
    await acp.shown(early, "No config.")
    future = await acp.start(*SCRIPTED, "--future")
    await acp.board.plate(plateId=future["plateId"], status="closed")
    await acp.shown(future, "speaks version 99 of the protocol")


@pytest.mark.long
async def test_the_agent_ends_with_the_process_that_keeps_it(acp: Acp):
    killed = await acp.start(*SCRIPTED, prompt="say Hm.\nrun make")
    await acp.board.asked("permission")
    below = psutil.Process(killed["pid"]).children()
    (agent,) = [one for one in below if SCRIPTED[1] in one.cmdline()]
    os.kill(killed["pid"], signal.SIGKILL)
    await acp.board.plate(plateId=killed["plateId"], status="closed")
    await until(lambda: not is_running(agent.pid), "the end of the agent")


async def test_an_agent_cannot_steer_itself(acp: Acp):
    """Or it could write its own prompts, and end another one."""
    plate = await acp.start(*SCRIPTED, prompt=f"spawn {STEERS}")
    await acp.shown(plate, "{'error': 'agent'} {'error': 'agent'}")
    await acp.board.plate(plateId=plate["plateId"], status="idle")


async def test_what_cannot_be_started_is_refused(acp: Acp, tmp_path: Path):
    missing = await acp.run("start", "acp", "--", "no-such-agent")
    assert (missing.code, "There is no command `no-such-agent`" in missing.err) == (2, True)
    bare = await acp.run("start", "acp")
    assert "callboard start acp -- opencode acp" in bare.err
    elsewhere = await acp.run("start", "acp", "--cwd", str(tmp_path / "none"), "--", *SCRIPTED)
    assert "does not exist" in elsewhere.err
    async with acp.board.server.client() as client:
        body = {"agent": "acp", "folder": "/tmp", "prompt": "hello"}
        said = await client.post("/plates/start", json=body)
        assert (said.status_code, "on its own machine" in said.text) == (400, True)
    plate = await acp.start(*SCRIPTED)
    attached = await acp.run("attach", plate["plateId"])
    assert "has no terminal" in attached.err


@pytest.mark.long
async def test_it_signs_in_with_a_key_and_resumes(tmp_path: Path):
    async with acp_board(Home.made_in(tmp_path), {"GEMINI_API_KEY": "k"}) as acp:
        plate = await acp.start(*SCRIPTED, "--signed-out", prompt="say Hello.")
        await acp.shown(plate, "Hello.")
        running = await acp.run("start", "acp", "--resume", plate["plateId"], "--", *SCRIPTED)
        assert "is still running" in running.err
        await acp.run("stop", plate["plateId"])
        await acp.board.plate(plateId=plate["plateId"], status="closed")
        again = await acp.start(
            *SCRIPTED, prompt="say Again.", options=["--resume", plate["plateId"]]
        )
        assert again["plateId"] == plate["plateId"]
        await acp.shown(plate, "Hello.", "resumed its session", "Again.")


@pytest.mark.long
async def test_an_agent_that_never_answers_or_says_too_much_is_survived(tmp_path: Path):
    async with acp_board(Home.made_in(tmp_path), {DEADLINE_VARIABLE: "1.5"}) as acp:
        deaf = await acp.start(*SCRIPTED, "--deaf")
        await acp.board.plate(plateId=deaf["plateId"], status="closed")
        await acp.shown(deaf, "didn't answer 'initialize' within 1.5 seconds")
        signed_out = await acp.start(*SCRIPTED, "--signed-out")
        await acp.board.plate(plateId=signed_out["plateId"], status="closed")
        await acp.shown(signed_out, "has to be signed in", "API key")
        huge = await acp.start(*SCRIPTED, prompt="huge 150\nsay Still here.")
        await acp.shown(huge, "more than 8 MB at once", "Still here.")
        assert psutil.Process(huge["pid"]).memory_info().rss < 250 * 1024 * 1024


@pytest.mark.long
async def test_no_message_is_lost_or_doubled_when_the_server_is_killed(acp: Acp):
    plate = await acp.start(*SCRIPTED, prompt="say Ready.")
    await acp.board.plate(plateId=plate["plateId"], status="idle")
    for number, pause in enumerate((0.0, 0.05, 0.15, 0.3)):
        said = await acp.say(plate, f"say Message {number}.")
        await asyncio.sleep(pause)
        await acp.board.server.kill()
        await acp.board.server.restart()
        await acp.message(plate, id=said["id"], status="seen")
    await acp.board.plate(plateId=plate["plateId"], status="idle", prompt="say Message 3.")
    texts = [one["text"].strip() for one in await acp.items(plate) if one["kind"] == "reply"]
    assert texts == ["Ready.", *(f"Message {number}." for number in range(4))]


@pytest.mark.long
async def test_it_starts_without_a_server_and_is_there_when_one_comes(tmp_path: Path):
    home = Home.made_in(tmp_path)
    async with acp_board(home) as acp:
        await acp.board.server.stop()
        done = await acp.run("start", "acp", "--json", "--prompt", "say Alone.", "--", *SCRIPTED)
        assert (done.code, "no server is running" in done.err) == (0, True)
        plate = json.loads(done.out)["plate"]
        await asyncio.sleep(2)
        await acp.board.server.restart()
        await acp.shown(plate, "Alone.")
        await acp.board.plate(plateId=plate["plateId"], status="idle")
        rss = psutil.Process(plate["pid"]).memory_info().rss
        assert rss < 120 * 1024 * 1024
