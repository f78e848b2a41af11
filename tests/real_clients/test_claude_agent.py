"""Claude Code as an agent of a workflow: the real program, with a scripted model behind it."""

import asyncio
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from tests.real_clients.claude import Claude
from tests.real_clients.home import Home, installed
from tests.real_clients.model import Model
from tests.real_clients.patience import until
from tests.real_clients.scenes import ASK, ECHO, PLAN, TOUCH, sent_away
from tests.real_clients.script import Call, Fail, Hold, Say

from callboard import Callboard, ClaudeCode, Phase, State, Workflow, run
from callboard.engine.ports import NoAnswer, Request
from callboard.events.envelope import Event
from callboard.testing.fake_clock import FakeClock
from callboard.vendors.claude.launching import MARK


class City(BaseModel):
    name: str
    country: str


class Job(State):
    script: str = ""
    made: Any = None


def begin(state: Job, script: str) -> None:
    state.script = script


def keep(state: Job, made: Any) -> None:
    state.made = made.model_dump() if isinstance(made, BaseModel) else made


class Person:
    """Answers what it is asked, in order, and remembers the questions."""

    def __init__(self, *answers: Any) -> None:
        self.asked: list[Request] = []
        self._answers = list(answers)

    async def answer(self, request: Request) -> Any:
        self.asked.append(request)
        if not self._answers:
            raise NoAnswer
        return self._answers.pop(0)


@pytest.fixture
def client(home: Home, model: Model) -> Claude:
    prepared = Claude(home, model)
    prepared.prepare()
    return prepared


def worker(client: Claude, **options: Any) -> ClaudeCode:
    env = {**client.env, **options.pop("env", {})}
    return ClaudeCode(
        prompt=lambda state: f"play:{state.script}",
        cwd=client.home.project,
        program=installed("claude"),
        env=env,
        **options,
    )


def job(agent: ClaudeCode) -> Workflow:
    phase = Phase("work", agent=agent, update=keep, terminal=True)
    return Workflow("job", state=Job, start=begin, phases=[phase])


def named(events: list[Event], name: str) -> list[Any]:
    return [event.payload for event in events if event.name == name]


def running(client: Claude) -> list[int]:
    """The processes that work for a run in this home."""
    home = f"HOME={client.home.folder}".encode()
    return [int(entry.name) for entry in Path("/proc").iterdir() if _works_in(entry, home)]


def _works_in(entry: Path, home: bytes) -> bool:
    env = _read(entry / "environ").split(b"\0") if entry.name.isdigit() else []
    return home in env and any(one.startswith(f"{MARK}=".encode()) for one in env)


class TestWork:
    async def test_words_and_tools_become_events_and_the_last_words_the_output(
        self, client: Claude, model: Model
    ):
        model.scripts["echo"] = ECHO

        done = await run(job(worker(client, allowed_tools=["Bash(echo:*)"])), "echo")

        assert done.status == "completed"
        assert done.state.made == "I said hello."
        told = "".join(one["delta"] for one in named(done.events, "text:delta"))
        assert told == "I shall say hello.I said hello."
        [called] = named(done.events, "tool:called")
        assert (called["toolName"], called["input"]["command"]) == ("Bash", "echo hello")
        assert "hello" in str(named(done.events, "tool:result"))
        [completed] = named(done.events, "agent:completed")
        assert completed["usage"]["inputTokens"] == 20
        assert completed["usage"]["outputTokens"] == 10
        assert completed["usage"]["costUsd"] > 0

    async def test_an_output_that_fits_its_type(self, client: Claude, model: Model):
        model.scripts["city"] = [
            [Call("StructuredOutput", {"name": "Lisbon"})],
            [Call("StructuredOutput", {"name": "Lisbon", "country": "Portugal"})],
        ]

        done = await run(job(worker(client, output=City)), "city")

        assert done.state.made == {"name": "Lisbon", "country": "Portugal"}
        assert [one["isError"] for one in named(done.events, "tool:result")] == [True, False]

    async def test_a_subagent_in_the_background_is_waited_for(self, client: Claude, model: Model):
        model.scripts |= {"away": sent_away("touch"), "touch": TOUCH}
        person = Person(True)

        done = await run(job(worker(client)), "away", human_input=person)

        assert done.state.made == "It came back."
        assert (client.home.project / "made").exists()
        assert len(person.asked) == 1

    async def test_a_request_that_the_model_refuses_fails_the_attempt(
        self, client: Claude, model: Model
    ):
        model.scripts["bad"] = [[Fail(400, "invalid_request_error")]]

        done = await run(job(worker(client)), "bad")

        assert done.status == "failed"
        [failed] = named(done.events, "phase:failed")
        assert failed["error"]["status"] == 400
        assert "400" in failed["error"]["message"]


class TestPermissions:
    @pytest.mark.parametrize("allowed", [True, False])
    async def test_a_person_decides(self, client: Claude, model: Model, *, allowed: bool):
        model.scripts["touch"] = TOUCH
        person = Person(allowed)

        done = await run(job(worker(client)), "touch", human_input=person)

        assert done.status == "completed"
        [asked] = person.asked
        assert (asked.type, asked.prompt) == ("permission", "Run: touch made")
        assert (client.home.project / "made").exists() is allowed
        [result] = named(done.events, "tool:result")
        assert result["isError"] is not allowed
        assert model.was_told("A person denied this on the board.") is not allowed

    async def test_a_no_may_tell_the_model_why(self, client: Claude, model: Model):
        model.scripts["touch"] = TOUCH
        person = Person({"approved": False, "message": "Write into the other folder."})

        await run(job(worker(client)), "touch", human_input=person)

        assert not (client.home.project / "made").exists()
        assert model.was_told("Write into the other folder.")

    async def test_always_is_a_rule_from_then_on(self, client: Claude, model: Model):
        model.scripts["twice"] = [*TOUCH[:1], *TOUCH]
        person = Person({"approved": True, "always": True})

        done = await run(job(worker(client)), "twice", human_input=person)

        assert done.status == "completed"
        assert len(person.asked) == 1
        assert [one["isError"] for one in named(done.events, "tool:result")] == [False, False]
        written = client.home.project / ".claude" / "settings.local.json"
        assert "Bash(touch made *)" in written.read_text(encoding="utf-8")

    async def test_the_same_again_is_asked_again(self, client: Claude, model: Model):
        model.scripts["twice"] = [*TOUCH[:1], *TOUCH]
        person = Person(True, False)

        done = await run(job(worker(client)), "twice", human_input=person)

        assert len(person.asked) == 2
        assert [one["isError"] for one in named(done.events, "tool:result")] == [False, True]

    async def test_questions_of_its_own(self, client: Claude, model: Model):
        model.scripts["ask"] = ASK
        person = Person({"Which database?": "Postgres", "Which days?": ["Monday", "Tuesday"]})

        await run(job(worker(client)), "ask", human_input=person)

        assert [one.type for one in person.asked] == ["question"]
        assert model.was_told('"Which database?"="Postgres", "Which days?"="Monday, Tuesday"')

    async def test_a_plan_is_sent_back_and_then_approved(self, client: Claude, model: Model):
        model.scripts["plan"] = [*PLAN[:2], PLAN[1], PLAN[2]]
        person = Person({"approved": False, "feedback": "Do it twice."}, True)

        done = await run(job(worker(client, permission_mode="plan")), "plan", human_input=person)

        assert [one.type for one in person.asked] == ["plan", "plan"]
        assert [(one.config or {})["plan"] for one in person.asked] == [
            "# The plan\n\n1. Do it.\n"
        ] * 2
        assert model.was_told("Do it twice.")
        assert done.state.made == "So much for the plan."

    async def test_what_a_killed_client_asked_leaves_the_inbox(self, client: Claude, model: Model):
        model.scripts["touch"] = TOUCH

        class Killer:
            async def answer(self, request: Request) -> Any:
                for pid in running(client):
                    os.kill(pid, signal.SIGKILL)
                await asyncio.Event().wait()

        done = await run(job(worker(client)), "touch", human_input=Killer())

        assert done.status == "failed"
        told = [one.name for one in done.events]
        assert told.index("input:requested") < told.index("input:cancelled")
        assert told.index("input:cancelled") < told.index("phase:failed")

    async def test_the_answer_may_come_when_the_client_is_gone(self, client: Claude, model: Model):
        # The client writes down two turns for the one that it was stopped in.
        model.scripts["touch"] = [TOUCH[0], TOUCH[0], *TOUCH]
        work = job(worker(client))
        waiting = await run(work, "touch", db=client.home.database)
        assert waiting.status == "waiting"
        assert running(client) == []

        async with Callboard.open(client.home.database, [work]) as board:
            [question] = await board.inbox()
            await board.answer(question.id, True)
            info = await board.drive(waiting.session_id)

        assert info.status == "completed"
        assert (client.home.project / "made").exists()


class TestStopping:
    async def test_cancelling_ends_it_and_its_tools(self, client: Claude, model: Model):
        model.scripts["long"] = [[Call("Bash", _bash(SLEEP))]]
        work = job(worker(client, allowed_tools=["Bash"]))

        async with Callboard.open(client.home.database, [work]) as board:
            execution = board.run(work, "long")
            await until(lambda: _sleeps(client), "the tool runs")
            await execution.abort()
            done = await execution

        assert done.status == "cancelled"
        await until(lambda: not running(client), "all is gone")

    async def test_a_pause_that_interrupts_ends_it_and_it_goes_on_in_the_same_session(
        self, client: Claude, model: Model
    ):
        gate = threading.Event()
        model.scripts["slow"] = [ECHO[0], [Hold(gate), Say("That took a while.")]]
        work = job(worker(client, allowed_tools=["Bash"]))

        async with Callboard.open(client.home.database, [work]) as board:
            execution = board.run(work, "slow")
            await until(lambda: model.was_told("tool_result"), "the second turn")
            await until(lambda: _has_written(client, "tool_result"), "the first turn is on disk")
            await execution.pause(interrupt=True)
            assert (await execution).status == "paused"
            assert running(client) == []
            gate.set()
            await board.resume(execution.session_id)
            done = await board.drive(execution.session_id)

        assert done.status == "completed"
        assert len(_transcripts(client)) == 1
        assert model.was_told("You were interrupted.")


def _sleeps(client: Claude) -> bool:
    return any(
        b"time.sleep(1000)" in _read(Path(f"/proc/{pid}/cmdline")) for pid in running(client)
    )


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""  # The process has ended meanwhile.


def _has_written(client: Claude, text: str) -> bool:
    """Whether this is in a transcript: the client writes it a while after it happened."""
    return any(text in file.read_text(encoding="utf-8") for file in _transcripts(client))


def _transcripts(client: Claude) -> list[Path]:
    return list((client.home.folder / ".claude" / "projects").glob("*/*.jsonl"))


class TestCrash:
    async def test_it_goes_on_in_the_same_session_and_nothing_is_left_of_the_old_one(
        self, client: Claude, model: Model
    ):
        model.scripts["crash"] = [ECHO[0], [Call("Bash", _bash(SLEEP))], [Say("All done.")]]
        program = client.home.folder / "drive.py"
        program.write_text(PROGRAM, encoding="utf-8")
        driver = await asyncio.create_subprocess_exec(
            sys.executable, str(program), cwd=client.home.project, env=client.env
        )
        await until(lambda: _sleeps(client), "the tool runs")
        await until(lambda: _has_written(client, "tool_result"), "the first turn is on disk")
        left = running(client)
        driver.kill()
        await driver.wait()
        assert any(_lives(pid) for pid in left)

        model.scripts["crash"] = [ECHO[0], *[[Say("All done.")]] * 5]
        done = await client.home.run(sys.executable, str(program), env=client.env)

        assert done.code == 0, done
        assert done.out == "completed All done.\n"
        assert not any(_lives(pid) for pid in left)
        assert running(client) == []
        assert len(_transcripts(client)) == 1
        assert model.was_told("You were interrupted.")


SLEEP = "python3 -c 'import time; time.sleep(1000)'"

PROGRAM = """
import asyncio
import os

from callboard import Callboard, ClaudeCode, Phase, State, Workflow


class Job(State):
    made: str = ""


def keep(state, made):
    state.made = made


agent = ClaudeCode(prompt="play:crash", allowed_tools=["Bash"])
work = Phase("work", agent=agent, update=keep, terminal=True)
job = Workflow("job", state=Job, phases=[work])


async def main():
    async with Callboard.open(os.environ["CALLBOARD_DB"], [job]) as board:
        if not await board.sessions():
            await board.run(job, session_id="crash")
        else:
            info = await board.drive("crash")
            print(info.status, (await board.state("crash")).made)


asyncio.run(main())
"""


def _bash(command: str) -> dict[str, str]:
    return {"command": command, "description": "Work"}


def _lives(pid: int) -> bool:
    fields = _read(Path(f"/proc/{pid}/stat")).rpartition(b")")[2].split()
    return bool(fields) and fields[0] not in (b"Z", b"X")


class TestLimits:
    async def test_are_waited_for_and_are_no_failed_attempt(self, client: Claude, model: Model):
        clock = FakeClock(autojump=True)
        model.scripts["limited"] = [[Fail(429, "rate_limit_error")]]
        work = job(worker(client, clock=clock, env={"CLAUDE_CODE_MAX_RETRIES": "0"}))

        def lift(event: Event) -> None:
            if event.name == "agent:interrupted":
                model.scripts["limited"] = [[Say("At last.")]] * 3

        async with Callboard.open(None, [work], clock=clock) as board:
            done = await board.run(work, "limited", on_event=lift)

        assert done.status == "completed"
        assert done.state.made == "At last."
        assert named(done.events, "phase:failed") == []
        [told] = named(done.events, "agent:interrupted")
        assert (told["reason"], told["retryInMs"]) == ("postponed", 60_000)
        assert len(_transcripts(client)) == 1

    async def test_that_last_too_long_are_an_error(self, client: Claude, model: Model):
        model.scripts["limited"] = [[Fail(429, "rate_limit_error")]]
        agent = worker(client, rate_limit_wait=1, env={"CLAUDE_CODE_MAX_RETRIES": "0"})

        done = await run(job(agent), "limited")

        [failed] = named(done.events, "phase:failed")
        assert failed["error"]["code"] == "RATE_LIMITED"
        assert failed["error"]["retryAfter"] == 60
