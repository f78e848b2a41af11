"""Claude Code in a phase, played from what the real one once told."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from callboard import Callboard, ClaudeCode, Phase, Retry, State, Workflow, run
from callboard.agents.claude_code.agent import run_id, session_of
from callboard.agents.claude_code.messages import ClientResult, MessageReader
from callboard.agents.claude_code.orphans import end_leftovers, mark, unmarked
from callboard.engine.ports import Request, Text, Thinking, ToolCall, ToolResult
from callboard.errors import DefinitionError
from callboard.events.envelope import Event
from callboard.systems.current import system
from callboard.systems.processes import Process
from callboard.testing.fake_clock import FakeClock
from callboard.vendors.claude.launching import MARK

RECORDED = Path(__file__).parent / "claude_code"
PLAYER = RECORDED / "player.py"


class City(BaseModel):
    name: str
    country: str


class Job(State):
    task: str = ""
    made: str = ""
    city: City | None = None


def begin(state: Job, task: str) -> None:
    state.task = task


def keep(state: Job, made: Any) -> None:
    if isinstance(made, City):
        state.city = made
    else:
        state.made = str(made)


class Person:
    def __init__(self, *answers: Any) -> None:
        self.asked: list[Request] = []
        self._answers = list(answers)

    async def answer(self, request: Request) -> Any:
        self.asked.append(request)
        return self._answers.pop(0)


class Played:
    """A home for the player, and what it was told there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._heard = folder / "heard"

    def agent(self, recording: str | Path, **options: Any) -> ClaudeCode:
        play = recording if isinstance(recording, Path) else RECORDED / f"{recording}.jsonl"
        env = {"PLAY": str(play), "HEARD": str(self._heard), "HOME": str(self.folder)}
        options = {"prompt": lambda state: state.task, "cwd": self.folder, **options}
        return ClaudeCode(program=str(PLAYER), env=env, **options)

    @property
    def heard(self) -> list[Any]:
        return [json.loads(line) for line in self._heard.read_text(encoding="utf-8").splitlines()]

    def recording(self, *lines: Any) -> Path:
        file = self.folder / "lines.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        return file


@pytest.fixture
def played(tmp_path: Path) -> Played:
    return Played(tmp_path)


def job(agent: ClaudeCode, **options: Any) -> Workflow:
    phase = Phase("work", agent=agent, update=keep, terminal=True, **options)
    return Workflow("job", state=Job, start=begin, phases=[phase])


def named(events: list[Event], name: str) -> list[Any]:
    return [event.payload for event in events if event.name == name]


def lines(recording: str) -> list[Any]:
    text = (RECORDED / f"{recording}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


class TestHearing:
    def test_words_calls_and_results(self):
        hearing = MessageReader()

        items = [item for line in lines("touch") for item in hearing.items(line)]

        touch = {"command": "touch made", "description": "Make a file"}
        call = ToolCall("toolu_000000000000000000000001", "Bash", touch)
        result = ToolResult(call.id, "(Bash completed with no output)", is_error=False)
        assert items == [call, result, Text("It is made.")]
        assert hearing.is_over
        assert hearing.ending is not None
        assert hearing.ending.usage == {
            "turns": 2,
            "inputTokens": 20,
            "outputTokens": 10,
            "costUsd": pytest.approx(0.00028),
        }

    def test_thinking_is_told_and_a_subagents_words_are_not(self):
        delta = {"type": "thinking_delta", "thinking": "Hm."}
        event = {"type": "content_block_delta", "index": 0, "delta": delta}

        mine = MessageReader().items({"type": "stream_event", "event": event})
        other = {"type": "stream_event", "event": event, "parent_tool_use_id": "toolu_1"}

        assert mine == [Thinking("Hm.")]
        assert MessageReader().items(other) == []

    def test_what_is_not_known_is_left(self):
        assert MessageReader().items({"type": "from_the_future"}) == []

    @pytest.mark.parametrize(("recording", "limited"), [("limited", True), ("refused", False)])
    def test_success_may_be_a_failure(self, recording: str, limited: bool):
        hearing = MessageReader()
        for line in lines(recording):
            hearing.items(line)

        assert hearing.ending is not None
        assert hearing.ending.result["subtype"] == "success"
        assert not hearing.ending.succeeded
        assert hearing.ending.limited is limited
        assert hearing.ending.reason.startswith("api_error: API Error: ")

    def test_when_a_limit_ends(self):
        hearing = MessageReader()
        told = {"status": "rejected", "resetsAt": 1_794_802_852}
        hearing.items({"type": "rate_limit_event", "rate_limit_info": told})
        hearing.items(lines("limited")[-1])

        assert hearing.ending is not None
        assert hearing.ending.resets_at == 1_794_802_852

    def test_errors_are_told(self):
        ending = ClientResult(
            {"subtype": "error_max_turns", "is_error": True, "errors": ["Too many."]}
        )

        assert ending.reason == "error_max_turns: Too many."


class TestCommand:
    async def test_says_what_was_wanted(self, played: Played):
        agent = played.agent(
            "touch",
            model=lambda state: f"model-for-{state.task}",
            allowed_tools=["Read", "Bash(git diff:*)"],
            append_system_prompt="Be brief.",
            arguments=["--strict-mcp-config"],
        )

        done = await run(job(agent), "this", human_input=Person(True), session_id="s1")

        assert done.state.made == "It is made."
        words, prompt, _ = played.heard
        assert words[:4] == ["--allowedTools", "Read", "Bash(git diff:*)", "-p"]
        assert _after(words, "--model") == "model-for-this"
        assert _after(words, "--append-system-prompt") == "Be brief."
        assert _after(words, "--permission-mode") == "default"
        [salt] = [
            one["value"] for one in named(done.events, "once:completed") if "salt" in one["key"]
        ]
        assert _after(words, "--session-id") == run_id(f"s1:work#1:{salt}")
        assert words[-1] == "--strict-mcp-config"
        assert prompt["message"]["content"] == [{"type": "text", "text": "this"}]

    async def test_is_no_part_of_another_and_has_no_token_of_ours(
        self, played: Played, monkeypatch: pytest.MonkeyPatch
    ):
        not_for_it = {"CLAUDECODE", "CLAUDE_PROJECT_DIR", "CALLBOARD_TOKEN"}
        for name in not_for_it:
            monkeypatch.setenv(name, "1")
        seen = played.folder / "env"
        program = played.folder / "claude"
        program.write_text(f'#!/bin/sh\nenv > "{seen}"\n', encoding="utf-8")
        program.chmod(0o755)

        await run(job(ClaudeCode("x", program=str(program), cwd=played.folder)), "x")

        names = [line.partition("=")[0] for line in seen.read_text(encoding="utf-8").splitlines()]
        assert MARK in names
        assert not_for_it.isdisjoint(names)


def _after(words: list[str], name: str) -> str:
    return words[words.index(name) + 1]


def _wanted(tool: str, given: dict[str, Any]) -> dict[str, Any]:
    """A request for permission, as the client words it."""
    request = {"subtype": "can_use_tool", "tool_name": tool, "input": given}
    return {"type": "control_request", "request_id": "r1", "request": request}


class TestPermissions:
    @pytest.mark.parametrize("allowed", [True, False])
    async def test_a_person_decides(self, played: Played, *, allowed: bool):
        person = Person(allowed)

        await run(job(played.agent("touch")), "x", human_input=person)

        [asked] = person.asked
        assert (asked.type, asked.prompt) == ("permission", "Run: touch made")
        response = played.heard[-1]["response"]
        assert response["subtype"] == "success"
        assert response["response"] == (
            {
                "behavior": "allow",
                "updatedInput": {"command": "touch made", "description": "Make a file"},
            }
            if allowed
            else {
                "behavior": "deny",
                "message": "A person denied this on the board.",
                "interrupt": False,
            }
        )

    async def test_a_no_may_have_a_word_with_it(self, played: Played):
        person = Person({"approved": False, "message": "Use the other file."})

        await run(job(played.agent("touch")), "x", human_input=person)

        assert played.heard[-1]["response"]["response"]["message"] == "Use the other file."

    async def test_always_makes_the_rules_that_were_proposed_and_no_more(self, played: Played):
        person = Person({"approved": True, "always": True})

        await run(job(played.agent("touch")), "x", human_input=person)

        verdict = played.heard[-1]["response"]["response"]
        assert verdict["behavior"] == "allow"
        made = [one["type"] for one in verdict["updatedPermissions"]]
        assert made == ["addRules", "addDirectories"]

    async def test_answers_go_back_with_the_questions(self, played: Played):
        answers = {"Which database?": "Postgres", "Which days?": ["Monday", "Tuesday"]}
        person = Person({"answers": answers})

        await run(job(played.agent("ask")), "x", human_input=person)

        [asked] = person.asked
        assert (asked.type, asked.prompt) == ("question", "Which database? (and 1 more)")
        updated = played.heard[-1]["response"]["response"]["updatedInput"]
        assert len(updated["questions"]) == 2
        assert updated["answers"] == {
            "Which database?": "Postgres",
            "Which days?": "Monday, Tuesday",
        }

    async def test_a_handler_that_knows_only_choices_is_given_each_question(self, played: Played):
        asked: list[tuple[str, list[str]]] = []

        def choice(prompt: str, options: list[str]) -> str:
            asked.append((prompt, options))
            return options[-1]

        await run(job(played.agent("ask")), "x", human_input={"choice": choice})

        [(database, labels), (days, _)] = asked
        assert database == "Which database?\n- SQLite: in a file\n- Postgres: on a server"
        assert labels == ["SQLite", "Postgres"]
        assert days.startswith("Which days? You can choose several, separated by commas.")
        updated = played.heard[-1]["response"]["response"]["updatedInput"]
        assert updated["answers"] == {"Which database?": "Postgres", "Which days?": "Wednesday"}

    async def test_a_handler_that_knows_only_approvals_sees_what_would_be_written(
        self, played: Played
    ):
        asked: list[str] = []
        given = {"file_path": "/a/b", "content": "one line"}
        recording = played.recording(_wanted("Write", given), lines("touch")[-1])

        def approval(prompt: str) -> bool:
            asked.append(prompt)
            return True

        await run(job(played.agent(recording)), "x", human_input={"approval": approval})

        assert asked[0].startswith("Write /a/b\n")
        assert "+ one line" in asked[0]
        assert played.heard[-1]["response"]["response"]["behavior"] == "allow"

    @pytest.mark.parametrize(
        ("answer", "verdict"),
        [
            (True, {"behavior": "allow", "updatedInput": {"plan": "# Do\n\n1. It."}}),
            (
                {"approved": False, "feedback": "Do less."},
                {"behavior": "deny", "message": "Do less.", "interrupt": False},
            ),
        ],
    )
    async def test_a_plan_is_approved_or_sent_back(
        self, played: Played, answer: Any, verdict: dict[str, Any]
    ):
        plan = {"plan": "# Do\n\n1. It."}
        person = Person(answer)
        recording = played.recording(_wanted("ExitPlanMode", plan), lines("touch")[-1])

        await run(job(played.agent(recording)), "x", human_input=person)

        [asked] = person.asked
        assert (asked.type, asked.prompt) == ("plan", "Approve the plan: Do")
        assert asked.config is not None
        assert asked.config["plan"] == plan["plan"]
        assert played.heard[-1]["response"]["response"] == verdict

    async def test_a_request_of_another_kind_is_answered_with_an_error(self, played: Played):
        asked = {"type": "control_request", "request_id": "r1", "request": {"subtype": "hook"}}
        recording = played.recording(asked, lines("touch")[-1])

        await run(job(played.agent(recording)), "x")

        response = played.heard[-1]["response"]
        assert (response["subtype"], response["request_id"]) == ("error", "r1")

    async def test_an_answer_that_was_used_is_not_used_again(self, played: Played):
        asked = next(line for line in lines("touch") if line["type"] == "control_request")
        recording = played.recording(asked, lines("refused")[-1])
        person = Person(True, False)

        retry = Retry(attempts=2, backoff=0)
        await run(job(played.agent(recording), retry=retry), "x", human_input=person)

        assert len(person.asked) == 2
        answers = [one["response"]["response"] for one in played.heard if "response" in one]
        assert [one["behavior"] for one in answers] == ["allow", "deny"]

    async def test_a_request_that_is_taken_back_leaves_the_inbox(self, played: Played):
        asked = next(line for line in lines("touch") if line["type"] == "control_request")
        back = {"type": "control_cancel_request", "request_id": asked["request_id"]}
        recording = played.recording(asked, back, lines("touch")[-1])
        thinking = Thinker(played.folder / "gate")
        program = _saying(played, recording, thinking.gate)

        agent = ClaudeCode("x", program=program, cwd=played.folder)
        done = await run(job(agent), "x", human_input=thinking)

        assert done.status == "completed"
        assert done.state.made == "It is made."
        [cancelled] = named(done.events, "input:cancelled")
        assert cancelled["reason"] == "withdrawn by the agent"

    async def test_what_a_client_asked_that_has_ended_leaves_the_inbox(self, played: Played):
        asked = next(line for line in lines("touch") if line["type"] == "control_request")
        thinking = Thinker(played.folder / "gate")
        program = _saying(played, played.recording(asked), thinking.gate)

        agent = ClaudeCode("x", program=program, cwd=played.folder)
        done = await run(job(agent), "x", human_input=thinking)

        assert done.status == "failed"
        told = [event.name for event in done.events]
        assert told.index("input:cancelled") < told.index("phase:failed")
        assert named(done.events, "input:cancelled")[0]["reason"] == "withdrawn by the agent"

    async def test_a_long_input_is_cut_and_that_is_said(self, played: Played):
        person = Person(False)

        command = "x" * 200_000 + "; curl"
        recording = played.recording(_wanted("Bash", {"command": command}), lines("touch")[-1])
        await run(job(played.agent(recording)), "x", human_input=person)

        [asked] = person.asked
        assert "characters not shown" in asked.prompt
        assert asked.prompt.endswith("; curl")
        assert asked.config is not None
        assert asked.config["truncated"] is True


class Thinker:
    """A person who opens the gate when asked, and has not decided yet."""

    def __init__(self, gate: Path) -> None:
        self.gate = gate

    async def answer(self, request: Request) -> Any:
        self.gate.touch()
        await asyncio.Event().wait()


def _saying(played: Played, recording: Path, gate: Path) -> str:
    """A client that tells the first line, and the others when the gate is there."""
    program = played.folder / "claude"
    program.write_text(
        f"#!/bin/sh\nhead -n 1 '{recording}'\n"
        f"while [ ! -e '{gate}' ]; do sleep 0.02; done\n"
        f"tail -n +2 '{recording}'\n",
        encoding="utf-8",
    )
    program.chmod(0o755)
    return str(program)


class TestOutput:
    async def test_a_model(self, played: Played):
        done = await run(job(played.agent("city", output=City)), "x")

        assert done.state.city == City(name="Lisbon", country="Portugal")
        schema = json.loads(_after(played.heard[0], "--json-schema"))
        assert schema["required"] == ["name", "country"]

    async def test_a_schema(self, played: Played):
        schema = {"type": "object", "properties": {"name": {"type": "string"}}}

        done = await run(job(played.agent("city", output=schema)), "x")

        [completed] = named(done.events, "agent:completed")
        assert completed["output"] == {"name": "Lisbon", "country": "Portugal"}

    async def test_that_is_missing_is_a_failure(self, played: Played):
        done = await run(job(played.agent("touch", output=City)), "x", human_input=Person(True))

        assert done.status == "failed"
        assert "without the output" in named(done.events, "phase:failed")[0]["error"]["message"]

    def test_must_be_an_object(self):
        with pytest.raises(DefinitionError, match="pydantic model"):
            ClaudeCode("x", output=list[str])

    def test_tools_are_a_list(self):
        with pytest.raises(DefinitionError, match="list"):
            ClaudeCode("x", allowed_tools="Read")


class TestFailures:
    async def test_a_missing_program_says_how_to_get_it(self, played: Played):
        agent = ClaudeCode("x", program="no-such-claude", cwd=played.folder)

        done = await run(job(agent), "x")

        [failed] = named(done.events, "phase:failed")
        assert failed["error"]["code"] == "MISSING_EXTRA"
        assert "npm install -g @anthropic-ai/claude-code" in failed["error"]["message"]

    async def test_a_missing_folder_is_named(self, played: Played):
        done = await run(job(played.agent("touch", cwd=played.folder / "none")), "x")

        message = named(done.events, "phase:failed")[0]["error"]["message"]
        assert str(played.folder / "none") in message

    async def test_an_end_without_a_result_tells_what_was_on_standard_error(self, played: Played):
        program = played.folder / "claude"
        program.write_text("#!/bin/sh\necho Not today >&2\nexit 3\n", encoding="utf-8")
        program.chmod(0o755)

        done = await run(job(ClaudeCode("x", program=str(program), cwd=played.folder)), "x")

        message = named(done.events, "phase:failed")[0]["error"]["message"]
        assert message == "Claude Code ended without a result: exit code 3: Not today"

    async def test_an_attempt_that_failed_is_tried_again(self, played: Played):
        agent = played.agent("refused")

        done = await run(job(agent, retry=Retry(attempts=2, backoff=0)), "x")

        assert [one["attempt"] for one in named(done.events, "agent:started")] == [1, 2]


class TestSessions:
    def test_is_new_until_there_is_a_transcript(self, tmp_path: Path):
        env = {"HOME": str(tmp_path)}
        assert session_of("key", tmp_path, env) == (run_id("key"), False)

        _write(tmp_path / ".claude", run_id("key"), {"type": "user", "cwd": str(tmp_path)})

        assert session_of("key", tmp_path, env).arguments == ("--resume", run_id("key"))

    def test_the_clients_own_folder_may_be_elsewhere(self, tmp_path: Path):
        _write(tmp_path, run_id("key"), {"type": "assistant", "cwd": str(tmp_path)})

        assert session_of("key", tmp_path, {"CLAUDE_CONFIG_DIR": str(tmp_path)}).exists

    @pytest.mark.parametrize(
        "line", [{"type": "queue-operation"}, {"type": "user", "cwd": "/else"}]
    )
    def test_one_that_cannot_be_gone_on_with_is_passed_over(self, tmp_path: Path, line: Any):
        _write(tmp_path, run_id("key"), line)

        session = session_of("key", tmp_path, {"CLAUDE_CONFIG_DIR": str(tmp_path)})

        assert not session.exists
        assert session.id != run_id("key")

    async def test_one_that_exists_is_told_to_go_on(self, played: Played):
        agent = played.agent("refused")

        def leave_transcript(event: Event) -> None:
            if event.name == "phase:failed":
                id = _after(played.heard[0], "--session-id")
                told = {"type": "user", "cwd": str(played.folder)}
                _write(played.folder / ".claude", id, told)

        retry = Retry(attempts=2, backoff=0.05)
        await run(job(agent, retry=retry), "x", on_event=leave_transcript)

        first, _, second, prompt = played.heard
        assert _after(second, "--resume") == _after(first, "--session-id")
        assert prompt["message"]["content"][0]["text"].startswith("You were interrupted.")


def _write(folder: Path, id: str, *told: Any) -> None:
    file = folder / "projects" / "-project" / f"{id}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    written = [json.dumps(line, separators=(",", ":")) + "\n" for line in told]
    file.write_text("".join(written), encoding="utf-8")


class TestLimits:
    @pytest.mark.parametrize("ends", [True, False])
    async def test_are_waited_for_without_a_failed_attempt(self, played: Played, *, ends: bool):
        clock = FakeClock(autojump=True)
        told = {"status": "rejected", "resetsAt": clock.now_ms() // 1000 + 600}
        event = {"type": "rate_limit_event", "rate_limit_info": told}
        recording = played.recording(*([event] if ends else []), lines("limited")[-1])
        work = job(played.agent(recording, clock=clock))

        def lift(event: Event) -> None:
            if event.name == "agent:interrupted":
                played.recording(lines("touch")[-1])

        async with Callboard.open(None, [work], clock=clock) as board:
            done = await board.run(work, "x", on_event=lift)

        assert done.state.made == "It is made."
        assert named(done.events, "phase:failed") == []
        [put_off] = named(done.events, "agent:interrupted")
        assert put_off["reason"] == "postponed"
        assert put_off["retryInMs"] == pytest.approx(600_000 if ends else 60_000, abs=1_000)
        assert put_off["error"]["message"].startswith("Claude Code cannot continue: api_error: ")

    @pytest.mark.parametrize("past", [True, False])
    async def test_are_waited_for_longer_each_time_and_not_for_ever(
        self, played: Played, *, past: bool
    ):
        """Also when the model names a moment that is over."""
        clock = FakeClock(autojump=True)
        limits = {"rate_limit_wait": 60 + 120 + 240 + 480 + 900, "clock": clock}
        told = {"status": "rejected", "resetsAt": clock.now_ms() // 1000 - 5}
        event = {"type": "rate_limit_event", "rate_limit_info": told}
        recording = played.recording(*([event] if past else []), lines("limited")[-1])
        work = job(played.agent(recording, **limits), retry=Retry(1))

        async with Callboard.open(None, [work], clock=clock) as board:
            done = await board.run(work, "x")

        waits = [one["retryInMs"] // 1000 for one in named(done.events, "agent:interrupted")]
        assert waits == [60, 120, 240, 480, 900]
        [failed] = named(done.events, "phase:failed")
        assert (failed["error"]["code"], failed["error"]["retryAfter"]) == ("RATE_LIMITED", 900)


@pytest.fixture
def left_running():
    """Starts processes with a mark in their environment; none survives the test."""
    started: list[subprocess.Popen[bytes]] = []

    def start(marked: str) -> subprocess.Popen[bytes]:
        sleeping = [sys.executable, "-c", "import time; print(flush=True); time.sleep(1000)"]
        env = {**os.environ, MARK: marked}
        process = subprocess.Popen(sleeping, env=env, stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


Start = Callable[[str], "subprocess.Popen[bytes]"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows the mark")
class TestLeftovers:
    def test_of_a_process_that_is_gone_are_ended(self, left_running: Start):
        gone = subprocess.Popen(["true"])
        gone.wait()
        process = left_running(f"run-1:{gone.pid}:12345")

        assert end_leftovers("run-1") == 1
        assert process.wait(10) == -9

    def test_of_our_own_are_ended(self, left_running: Start):
        process = left_running(mark("run-2"))

        assert end_leftovers("run-2") == 1
        assert process.wait(10) == -9

    def test_of_somebody_who_lives_and_of_other_runs_stay(self, left_running: Start):
        parent = os.getppid()
        fields = Path(f"/proc/{parent}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        others = left_running(f"run-3:{parent}:{fields[19]}")
        another = left_running(mark("run-30"))

        assert end_leftovers("run-3") == 0
        assert others.poll() is None
        assert another.poll() is None

    async def test_programs_that_hide_their_environment_go_with_their_parent(
        self, left_running: Start, monkeypatch: pytest.MonkeyPatch
    ):
        """As those of macOS itself do."""
        env = {**os.environ, MARK: mark("run-4")}
        parent = subprocess.Popen(
            [sys.executable, "-c", STARTS_ANOTHER], env=env, stdout=subprocess.PIPE
        )
        assert parent.stdout is not None
        hidden = Process(int(parent.stdout.readline()))
        seen = system.environment
        monkeypatch.setattr(
            system, "environment", lambda pid: [] if pid == hidden.pid else seen(pid)
        )
        stranger = left_running(mark("run-5"))

        known = unmarked("run-4")

        assert [one.pid for one in known] == [hidden.pid]
        parent.kill()
        parent.communicate()
        assert unmarked("run-4") == []
        assert end_leftovers("run-4", known) == 1
        await _end(Path(f"/proc/{hidden.pid}"))
        assert stranger.poll() is None


STARTS_ANOTHER = """\
import subprocess
child = subprocess.Popen(["sleep", "1000"], start_new_session=True, stdout=subprocess.DEVNULL)
print(child.pid, flush=True)
child.wait()
"""

LEAVES_SOMETHING = """\
#!{python}
import os, signal, subprocess, sys
child = subprocess.Popen(["sleep", "1000"], start_new_session=True, stdout=subprocess.DEVNULL)
open({here!r}, "w").write(str(child.pid))
sys.stdin.readline()
{then}
"""
RESULT = {"type": "result", "subtype": "success", "is_error": False, "result": "done"}


async def _left_behind(played: Played, then: str) -> tuple[str, Path]:
    """How a session ended, and the process that its client had started."""
    here, program = played.folder / "pid", played.folder / "claude"
    text = LEAVES_SOMETHING.format(python=sys.executable, here=str(here), then=then)
    program.write_text(text, encoding="utf-8")
    program.chmod(0o755)
    done = await run(job(ClaudeCode("x", program=str(program), cwd=played.folder)), "x")
    return done.status, Path("/proc") / here.read_text(encoding="utf-8")


@pytest.mark.parametrize("then", ["os.kill(os.getpid(), signal.SIGKILL)", "sys.exit(0)"])
async def test_what_a_client_started_that_died_is_ended(played: Played, then: str):
    status, left = await _left_behind(played, then)

    assert status == "failed"
    await _end(left)


async def _end(process: Path) -> None:
    """Wait until a process has ended, whether or not its parent has noticed."""
    with suppress(FileNotFoundError, ProcessLookupError):
        while "State:\tZ" not in (process / "status").read_text(encoding="utf-8"):
            await asyncio.sleep(0.01)


async def test_what_a_client_left_that_was_done_stays(played: Played):
    then = f"print({json.dumps(RESULT)!r}, flush=True); sys.stdin.read()"
    status, left = await _left_behind(played, then)

    assert status == "completed"
    assert (left / "comm").read_text(encoding="utf-8") == "sleep\n"
    os.kill(int(left.name), signal.SIGKILL)


async def test_cancelling_ends_one_that_does_not_want_to_leave(played: Played):
    stubborn = played.folder / "claude"
    here = played.folder / "pid"
    stubborn.write_text(
        f"#!{sys.executable}\nimport os, signal, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"open({str(here)!r} + '.new', 'w').write(str(os.getpid()))\n"
        f"os.rename({str(here)!r} + '.new', {str(here)!r})\n"
        "time.sleep(1000)\n",
        encoding="utf-8",
    )
    stubborn.chmod(0o755)
    execution = run(job(ClaudeCode("x", program=str(stubborn), cwd=played.folder)), "x")
    while not here.exists():
        await asyncio.sleep(0.01)

    await execution.abort()
    done = await execution

    assert done.status == "cancelled"
    assert not Path(f"/proc/{here.read_text(encoding='utf-8')}").exists()


async def test_cancelling_while_it_starts_leaves_nothing_behind(
    played: Played, monkeypatch: pytest.MonkeyPatch
):
    """On a busy machine the program runs before asyncio has connected its pipes."""
    program, here = played.folder / "claude", played.folder / "pid"
    script = f"#!/bin/sh\nsleep 1000 &\necho $! > {here}.new\nmv {here}.new {here}\nwait\n"
    program.write_text(script, encoding="utf-8")
    program.chmod(0o755)
    start, files = asyncio.create_subprocess_exec, list[Any]()

    async def never_started(*command: str, stderr: Any, **options: Any) -> None:
        files.append(stderr)
        process = await start(*command, stderr=stderr, **options)
        try:
            await asyncio.Event().wait()
        finally:
            process._transport.close()  # type: ignore[attr-defined]

    monkeypatch.setattr(asyncio, "create_subprocess_exec", never_started)
    execution = run(job(ClaudeCode("x", program=str(program), cwd=played.folder)), "x")
    while not here.exists():
        await asyncio.sleep(0.01)

    await execution.abort()

    assert (await execution).status == "cancelled"
    assert [file.closed for file in files] == [True]
    await _end(Path("/proc") / here.read_text(encoding="utf-8").strip())
