"""Every example is run for real, down each of its branches."""

import asyncio
import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from callboard import Callboard, Workflow, run
from callboard.drivers.execution import Result
from callboard.events import names

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.py"))

SCRIPTS = [
    "crash_and_resume",
    "interactive_awaited",
    "interactive_phase",
    "interactive_reactive",
    "time_travel",
]

Load = Callable[[str], ModuleType]


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Load:
    monkeypatch.setenv("EXAMPLE_PAUSE", "0")

    def load(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, spec.name, module)
        spec.loader.exec_module(module)
        return module

    return load


class Person:
    """Gives prepared answers, and remembers what was asked."""

    def __init__(self, *answers: object) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    def approval(self, prompt: str) -> Any:
        return self._answer(prompt)

    def choice(self, prompt: str, options: list[str]) -> Any:
        return self._answer(prompt)

    def _answer(self, prompt: str) -> Any:
        self.asked.append(prompt)
        return self.answers.pop(0)


@pytest.fixture
def play(tmp_path: Path) -> Callable[..., Any]:
    async def play(workflow: Workflow, person: Person, given: Any = None) -> Result:
        result = await run(workflow, input=given, human_input=person, db=tmp_path / "played.db")
        assert person.answers == []
        assert [event.position for event in result.events] == list(range(1, len(result.events) + 1))
        return result

    return play


Play = Callable[..., Any]


def way(result: Result) -> list[str]:
    """The phases in the order in which they were entered."""
    return [one["phase"] for one in names.PHASE_ENTERED.among(result.events)]


def said(result: Result) -> str:
    return "".join(one["delta"] for one in names.TEXT_DELTA.among(result.events))


class TestTrip:
    async def test_a_plan_that_is_refused_is_followed_by_another(self, example: Load, play: Play):
        person = Person(False, True)

        result = await play(example("trip").trip, person, "Lisbon")

        assert (result.status, result.exit_phase) == ("completed", "book")
        assert way(result) == ["plan", "plan", "book"]
        assert result.state.booking == "LIS-3"
        first, second = person.asked
        assert first.startswith("Approve this plan?\nDay 1 in Lisbon: the old town")
        assert first != second
        assert "Day 3 in Lisbon" in said(result)
        assert "reference LIS-3" in said(result)

    async def test_it_goes_on_making_plans(self, example: Load, play: Play):
        result = await play(example("trip").trip, Person(False, False, False, True), "Rome")

        assert way(result).count("plan") == 4
        assert len(result.state.plan) == 3


class TestRelease:
    async def test_rejected_notes_come_back_shorter(self, example: Load, play: Play):
        person = Person(False, True, "10% of customers")

        result = await play(example("release").release, person, "2.4.0")

        assert way(result) == ["write-notes", "write-notes", "choose-rollout", "publish"]
        assert (result.state.rollout, len(result.state.notes.splitlines())) == (10, 2)
        assert result.state.url.endswith("/v2.4.0")
        assert len(person.asked[1]) < len(person.asked[0])


class TestResearch:
    async def test_a_brief_that_is_sent_back_says_what_the_sources_disagree_about(
        self, example: Load, play: Play
    ):
        result = await play(example("research").research, Person(False, True), "Which queue?")

        assert way(result) == ["read", "write-brief", "write-brief", "send"]
        assert "disagree" in result.state.brief
        assert len(result.state.findings) == 3


class TestRefund:
    @pytest.mark.parametrize(
        ("amount", "answers", "exit"),
        [(24, [], "pay"), (480, [True], "pay"), (480, [False], "decline")],
    )
    async def test_only_large_ones_need_approval(
        self,
        example: Load,
        play: Play,
        amount: int,
        answers: list[bool],
        exit: str,  # noqa: A002
    ):
        given = f"Lindqvist AB, {amount}, Our card was charged twice."

        result = await play(example("refund").refund, Person(*answers), given)

        assert result.exit_phase == exit
        assert result.state.reference == (f"RF-{amount * 100}" if exit == "pay" else "")


class TestStatusFiles:
    async def test_they_tell_how_far_it_is_and_how_it_ended(
        self, example: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        report = tmp_path / ".claude/workflow_state_system.md"
        monkeypatch.chdir(tmp_path)
        seen: list[str] = []

        async def approval(prompt: str) -> bool:
            while f"- {prompt}" not in _text(report):
                await asyncio.sleep(0.01)
            seen.append(_text(report))
            return len(seen) == 2

        book = example("status_files").book
        await run(book, "Sailing", human_input={"approval": approval}, status_files=tmp_path)

        first, second = seen
        assert "# Workflow Status: Sailing\n" in first
        assert "Status: active | Current Phase: draft\n" in first
        assert "- [x] Phase 0: outline → outline.md\n" in first
        assert "draft: 3 of 3 items\n" in second
        assert "Progress: 3/3 phases\n" in _text(report)
        [_, draft, _] = json.loads((tmp_path / ".claude/state/workflow.json").read_text())["phases"]
        assert draft["attempts"] == 2


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8") if file.exists() else ""


class TestPlannedCheckpoint:
    async def test_approved(self, example: Load, play: Play):
        person = Person(True)

        result = await play(example("planned_checkpoint").planned_checkpoint, person, "customers")

        assert (result.status, result.exit_phase) == ("completed", "migrate")
        assert result.state.done == result.state.steps
        assert "copy customers to customers_backup" in person.asked[0]
        assert said(result).count("✓") == 3

    async def test_refused(self, example: Load, play: Play):
        workflow = example("planned_checkpoint").planned_checkpoint

        result = await play(workflow, Person(False), "customers")

        assert (result.status, result.exit_phase) == ("completed", "shelve")
        assert result.state.done == []


class TestDynamicHelp:
    async def test_nobody_is_asked_when_nobody_is_needed(self, example: Load, play: Play):
        person = Person()

        result = await play(example("dynamic_help").dynamic_help, person, "rename a button")

        assert person.asked == []
        assert way(result) == ["code", "review", "done"]

    @pytest.mark.parametrize(
        ("answer", "expected"),
        [
            ("Accept", ["code", "review", "done"]),
            ("Fix", ["code", "review", "code", "review", "done"]),
            ("Redesign", ["code", "review", "plan", "code", "review", "done"]),
        ],
    )
    async def test_the_reviewer_asks(
        self, example: Load, play: Play, answer: str, expected: list[str]
    ):
        person = Person(answer)

        result = await play(example("dynamic_help").dynamic_help, person, "change the login")

        assert way(result) == expected
        assert "touches the login" in person.asked[0]
        careful = result.state.design == "a careful one"
        assert careful == (answer == "Redesign")


class TestMultipleApprovals:
    async def test_both_granted(self, example: Load, play: Play):
        person = Person(True, True)

        result = await play(example("multiple_approvals").multiple_approvals, person, "ferries")

        assert way(result) == ["research", "write", "publish"]
        assert result.state.published
        assert person.asked[0].startswith("Are these sources enough?")
        assert person.asked[1].startswith("Publish this?")

    async def test_each_can_be_refused_by_itself(self, example: Load, play: Play):
        workflow = example("multiple_approvals").multiple_approvals

        result = await play(workflow, Person(False, True, False, True), "ferries")

        assert way(result) == ["research", "research", "write", "write", "publish"]
        assert len(result.state.sources) == 3
        assert "version 2" in result.state.text


class TestConditionalApproval:
    async def test_a_sure_guess_needs_nobody(self, example: Load, play: Play):
        workflow = example("conditional_approval").conditional_approval

        result = await play(workflow, Person(), "I want my money back")

        assert (result.state.label, result.exit_phase) == ("refund", "sort")
        assert "97% sure" in said(result)

    @pytest.mark.parametrize(("answer", "exit"), [(True, "sort"), (False, "by-hand")])
    async def test_a_doubtful_one_does(self, example: Load, play: Play, answer: bool, exit: str):  # noqa: A002
        person = Person(answer)

        result = await play(
            example("conditional_approval").conditional_approval, person, "It blinks"
        )

        assert person.asked == ['Is "It blinks" a defect?']
        assert result.exit_phase == exit


class TestBranchingChoice:
    @pytest.mark.parametrize(
        ("answers", "exit", "ending"),
        [
            (["Fast"], "fast", "in an hour"),
            (["Thorough"], "thorough", "every corner"),
            (["Custom", "A day"], "custom", "within a day"),
            (["Custom", "Until Easter"], "custom", "within until easter"),
        ],
    )
    async def test_each_way(
        self,
        example: Load,
        play: Play,
        answers: list[str],
        exit: str,  # noqa: A002
        ending: str,
    ):
        workflow = example("branching_choice").branching_choice

        result = await play(workflow, Person(*answers), "clean the attic")

        assert way(result) == ["plan", exit]
        assert ending in result.state.result


class TestIterativeRefinement:
    async def test_the_draft_follows_the_feedback(self, example: Load, play: Play):
        person = Person("shorter", "with a gull", "It is good")
        workflow = example("iterative_refinement").iterative_refinement

        result = await play(workflow, person, "a haiku")

        assert result.exit_phase == "publish"
        assert result.state.feedback == ["shorter", "with a gull"]
        assert result.state.draft == "Draft 3 of a haiku, shorter, with a gull."
        assert person.asked[1].startswith("Draft 2 of a haiku, shorter.")


class TestHumanOnly:
    @pytest.mark.parametrize("kind", ["App", "API", "Library"])
    async def test_the_first_phase_has_no_agent(self, example: Load, play: Play, kind: str):
        result = await play(example("human_only").human_only, Person(kind))

        assert way(result) == ["ask", "plan", "report"]
        assert result.state.kind == kind
        assert len(result.state.files) == 2
        asked = next(i for i, e in enumerate(result.events) if e.name == "input:requested")
        worked = next(i for i, e in enumerate(result.events) if e.name == "agent:started")
        assert asked < worked


FILES = "api.py login.py README.md"


class TestParallelReviews:
    @pytest.mark.parametrize(("answer", "fine"), [(True, 3), (False, 2)])
    async def test_one_of_them_asks(self, example: Load, play: Play, answer: bool, fine: int):
        person = Person(answer)

        result = await play(example("parallel_reviews").parallel_reviews, person, FILES)

        assert person.asked == ["login.py has no test. Accept it all the same?"]
        assert list(result.state.findings) == FILES.split()
        assert result.state.summary == f"{fine} of 3 files are fine."

    async def test_a_review_that_waits_gives_its_slot_away(self, example: Load, tmp_path: Path):
        workflow = example("parallel_reviews").parallel_reviews

        waiting = await run(workflow, input=FILES, db=tmp_path / "reviews.db")

        done = [one["run"] for one in names.AGENT_COMPLETED.among(waiting.events)]
        assert waiting.status == "waiting"
        assert sorted(done) == ["review#1/0", "review#1/2"]


class TestDeadline:
    @pytest.fixture
    def deadline(self, example: Load, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Workflow]:
        def load(patience: str) -> Workflow:
            monkeypatch.setenv("EXAMPLE_PATIENCE", patience)
            return example("deadline").deadline

        return load

    @pytest.mark.parametrize(("answer", "exit"), [(True, "release"), (False, "refused")])
    async def test_answered_in_time(
        self,
        deadline: Callable[[str], Workflow],
        play: Play,
        answer: bool,
        exit: str,  # noqa: A002
    ):
        result = await play(deadline("30"), Person(answer), "the list")

        assert result.exit_phase == exit
        assert not any(e.name == "input:expired" for e in result.events)

    async def test_nobody_answers(self, deadline: Callable[[str], Workflow], tmp_path: Path):
        async def nobody(prompt: str) -> bool:
            await asyncio.sleep(3600)
            return True

        result = await run(
            deadline("0.05"),
            input="the list",
            human_input={"approval": nobody},
            db=tmp_path / "late.db",
        )

        assert result.exit_phase == "no-answer"
        names = [e.name for e in result.events]
        assert names.index("input:escalated") < names.index("input:expired")
        assert "input:received" not in names


class TestScripts:
    def test_crash_and_resume(
        self, example: Load, tmp_path: Path, capfd: pytest.CaptureFixture[str]
    ):
        module = example("crash_and_resume")

        events = module.main(tmp_path)

        names = [event.name for event in events]
        assert names[-1] == "workflow:completed"
        agents = [e.payload["agent"] for e in events if e.name == "agent:started"]
        assert agents == ["packer", "shipper"]
        told = capfd.readouterr().out
        assert "is waiting." in told
        assert "finds the question: Ship a lamp, packed by process" in told

    async def test_time_travel(self, example: Load, capsys: pytest.CaptureFixture[str]):
        module = example("time_travel")

        assert await module.main() == ("kept", "sold")

        told = capsys.readouterr().out
        assert "ended in 'kept', with a bid of 50" in told
        assert "ended in 'sold': 80" in told

    async def test_interactive_awaited(self, example: Load, tmp_path: Path):
        module = example("interactive_awaited")

        assert await module.main() == "Hold it back: fix login.py first"

        # With a file, somebody else decides; run again, the answer is found.
        path = tmp_path / "review.db"
        waiting = asyncio.create_task(module.main(str(path)))
        async with Callboard.open(path) as board:
            while not (asked := await board.human.list_pending("*")):
                await asyncio.sleep(0)
            assert asked[0].config["context"] == {"findings": module.FINDINGS, "severity": "high"}
            decided = {"approved": True, "notes": "well done"}
            await board.human.complete_interactive(asked[0].id, "completed", decided)
        assert await waiting == "Ship it: well done"
        assert await module.main(str(path)) == "Ship it: well done"

    async def test_interactive_reactive(self, example: Load):
        assert await example("interactive_reactive").main() == [
            "Waiting for human review…",
            "The work is done, and the session is waiting.",
            "Review completed: approved",
            "Now it is completed.",
        ]

    @pytest.mark.parametrize(
        ("endings", "expected"),
        [
            ([], ("migrate", 99)),
            ([("completed", "rejected")], ("refuse", 0)),
            ([("cancelled", None)], ("refuse", 0)),
            ([("timeout", None)], ("refuse", 0)),
            ([("failed", None)], ("refuse", 0)),
            ([("completed", "approved"), ("cancelled", None)], ("migrate", 97)),
        ],
    )
    async def test_interactive_phase(self, example: Load, endings: Any, expected: Any):
        assert await example("interactive_phase").main(*endings) == expected

    @pytest.mark.parametrize("name", SCRIPTS)
    def test_they_run_as_they_say(self, name: str):
        done = subprocess.run(
            [sys.executable, EXAMPLES / f"{name}.py"], capture_output=True, text=True, timeout=50
        )

        assert done.returncode == 0, done.stderr
        assert done.stderr == ""


class TestPydanticAiAgent:
    @pytest.mark.parametrize("allowed", [True, False])
    async def test_tool_and_phase_both_ask(
        self, example: Load, play: Play, allowed: bool, monkeypatch: pytest.MonkeyPatch
    ):
        from pydantic_ai import models

        monkeypatch.setattr(models, "ALLOW_MODEL_REQUESTS", False)
        person = Person(allowed, True)

        result = await play(
            example("pydantic_ai_agent").pydantic_ai_agent, person, "My lamp is broken"
        )

        assert person.asked[0] == "May I give the money back?"
        assert person.asked[1].startswith("Send this?\nYour lamp")
        assert result.exit_phase == "send"
        assert result.state.letter.body == "We are sorry."
        [tool] = [e.payload for e in result.events if e.name == "tool:result"]
        assert tool["output"] == ("granted" if allowed else "refused")


class TestClaudeCode:
    """With a stand-in that plays what the real one once told."""

    @pytest.fixture(autouse=True)
    def claude(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        recorded = EXAMPLES.parent / "tests" / "unit" / "agents" / "claude_code"
        (tmp_path / "claude").symlink_to(recorded / "player.py")
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("PLAY", str(recorded / "touch.jsonl"))
        monkeypatch.setenv("HEARD", str(tmp_path / "heard"))

    async def test_the_writer_fixes_what_the_reader_found(self, example: Load, play: Play):
        person = Person(True, True, False)

        result = await play(example("claude_code").claude_code, person, "the errors")

        permission = "Run: touch made"
        assert person.asked == [permission, "Fix this?\nIt is made.", permission]
        assert way(result) == ["review", "fix"]
        assert result.state.changes == "It is made."

    async def test_nothing_is_changed_without_a_yes(self, example: Load, play: Play):
        result = await play(example("claude_code").claude_code, Person(True, False), "the errors")

        assert way(result) == ["review", "leave"]
        assert result.state.changes == ""


def commands() -> list[str]:
    """The commands that the examples tell their readers to run."""
    pattern = re.compile(r"^    (callboard run .*)$", re.MULTILINE)
    texts = [path.read_text(encoding="utf-8") for path in sorted(EXAMPLES.glob("*.py"))]
    return [line for text in texts for line in pattern.findall(text)]


@pytest.mark.parametrize("command", commands())
def test_the_commands_in_the_examples_work(command: str, tmp_path: Path):
    _, *arguments = shlex.split(command)
    done = subprocess.run(
        [sys.executable, "-m", "callboard", *arguments, "--auto-approve", "--db", tmp_path / "db"],
        cwd=EXAMPLES.parent,
        env={**os.environ, "EXAMPLE_PAUSE": "0", "PYDANTIC_AI_NO_BANNER": "1"},
        capture_output=True,
        text=True,
        timeout=50,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "completed" in done.stdout
    assert done.stderr == ""


def test_every_example_has_a_test():
    tested = set(re.findall(r'example\("(\w+)"\)', Path(__file__).read_text(encoding="utf-8")))
    apart = {"harness_40_lines"}  # in test_attend_example.py

    assert tested | apart == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_example_is_small_and_says_how_to_run_it(name: str):
    text = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")

    assert len(text.splitlines()) <= 80
    assert re.search(rf"^    (?:callboard run|python) examples/{name}\.py", text, re.MULTILINE)
