"""A delegated task: the real `callboard delegate`, the real Claude Code, a scripted model."""

import asyncio
import json
import signal
import sys
import threading
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, overload

import pytest
from tests.real_clients.board import Board
from tests.real_clients.claude import Claude
from tests.real_clients.home import CALLBOARD, Home
from tests.real_clients.model import Model
from tests.real_clients.patience import until, until_told
from tests.real_clients.scenes import DATABASES, TOUCH
from tests.real_clients.script import Call, Fail, Hold, Script, Turn
from tests.real_clients.terminal import TELLING, Terminal
from tests.real_clients.test_claude_agent import running

from callboard import Callboard
from callboard.delegation.plan import Plan
from callboard.delegation.state import Order, Terms
from callboard.delegation.worker import Worker
from callboard.delegation.workflow import delegating
from callboard.events import names
from callboard.events.envelope import Event
from callboard.testing.scripted import ScriptedAgent

LONG = 90.0
"""Seconds for several clients after each other, on a busy machine."""

TASK = "Create calculator.py with tests. play:plan"


class Scene(Sequence[Turn]):
    """A script that says the same, or what a function says, whatever turn it is."""

    def __init__(self, turn: Callable[[], Turn]) -> None:
        self._turn = turn

    def __len__(self) -> int:
        return 1000

    @overload
    def __getitem__(self, index: int) -> Turn: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Turn]: ...
    def __getitem__(self, index: int | slice) -> Turn | Sequence[Turn]:
        return [self._turn()] if isinstance(index, slice) else self._turn()


def report(made: str, context: str = "") -> Turn:
    return [Call("StructuredOutput", {"deliverables": [made], "context_for_next": context})]


def always(turn: Turn) -> Script:
    return Scene(lambda: turn)


def phase(title: str, agent: str, script: str, **more: Any) -> dict[str, Any]:
    return {"title": title, "agent": agent, "instructions": f"play:{script}", **more}


def planning(*phases: dict[str, Any]) -> Script:
    return always([Call("StructuredOutput", {"phases": list(phases)})])


PHASES = (
    phase("Create the module", "maker", "make", deliverables=["calculator.py"]),
    phase("Write tests", "tester", "test", depends_on=["phase_0"]),
    phase("Describe it", "writer", "describe", depends_on=["phase_0"]),
    phase("Check it", "nobody-knows", "check", depends_on=["phase_1", "phase_2"]),
)


def write_agents(project: Path) -> None:
    folder = project / ".claude" / "agents"
    folder.mkdir(parents=True)
    for name, more in {
        "maker": "",
        "tester": "tools:\n  - Read\n  - Glob\n  - Bash\ndisallowedTools: Glob\n",
        "writer": "model: haiku\n",
    }.items():
        head = f"name: {name}\ndescription: Use it: for what a {name} does\n{more}"
        text = f"---\n{head}---\nYou are the {name}.\n"
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    (folder / "broken.md").write_text("---\nname: [\n---\n", encoding="utf-8")


@pytest.fixture
def client(home: Home, model: Model) -> Claude:
    prepared = Claude(home, model)
    prepared.prepare()
    write_agents(home.project)
    return prepared


SERVER = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("harbour")
@server.tool()
def depth() -> int:
    return 12
server.run()
"""

Start = Callable[..., Awaitable[Process]]


@pytest.fixture
async def start(client: Claude) -> AsyncGenerator[Start]:
    """Starts `callboard delegate`; what still runs at the end is ended."""
    begun: list[Process] = []

    async def start(*words: str) -> Process:
        process = await asyncio.create_subprocess_exec(
            *(CALLBOARD, "delegate", *words),
            cwd=client.home.project,
            # Servers may begin slowly on a busy machine, and are to be there in the first turn.
            env={**client.env, "MCP_CONNECT_TIMEOUT_MS": "60000"},
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
        )
        begun.append(process)
        return process

    yield start
    for process in begun:
        if process.returncode is None:
            process.terminate()
            await process.communicate()


async def ended(process: Process) -> tuple[int, str, str]:
    async with asyncio.timeout(LONG):
        out, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


def workflow(client: Claude) -> dict[str, Any]:
    file = client.home.project / ".claude" / "state" / "workflow.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {"phases": []}


def markdown(client: Claude) -> str:
    file = client.home.project / ".claude" / "workflow_state_system.md"
    return file.read_text(encoding="utf-8")


def statuses(client: Claude) -> list[str]:
    return [one["status"] for one in workflow(client)["phases"]]


async def session(client: Claude) -> tuple[Any, Any, list[Event]]:
    """The only session: how it stands, its state, and what happened."""
    async with Callboard.open(client.home.database) as board:
        [info] = await board.sessions()
        view = await board.view(info.session_id)
        return info, view.state, await board.events(info.session_id)


async def asked(board: Board) -> dict[str, Any]:
    """Wait for the only question that is open."""

    async def look() -> Any:
        return (await board.get("/interactions?status=pending"))["interactions"]

    [question] = await until_told(look, lambda: "a question in the inbox", LONG)
    return question


def started(events: list[Event], phase: str) -> list[str]:
    """The runs of agents in a phase, each as often as it was started."""
    return [one["run"] for one in names.AGENT_STARTED.among(events) if one["phase"] == phase]


def asked_with(model: Model, cue: str) -> list[dict[str, Any]]:
    """The requests whose first message had this cue as its own."""
    heard = [json.loads(sent) for sent in model.heard]
    return [
        one
        for one in heard
        if f"Your phase:\\nplay:{cue}" in json.dumps(one.get("messages", [])[:1])
    ]


@pytest.mark.long
class TestWhole:
    async def test_four_phases_two_at_once_one_fails_once_one_asks_and_a_kill_in_the_middle(
        self, client: Claude, model: Model, board: Board, start: Start
    ):
        gate = threading.Event()

        def testing() -> Turn:
            # The client tries by itself again what failed, so all of its first attempt fails.
            if not any("You were interrupted." in str(one) for one in asked_with(model, "test")):
                return [Fail(400, "invalid_request_error")]
            return [Hold(gate), *report("test_calculator.py", "All tests pass.")]

        def describing() -> Turn:
            if model.was_told('"Which database?"="Postgres"'):
                return report("README.md", "It says Postgres.")
            return [Call("AskUserQuestion", {"questions": [DATABASES]})]

        model.scripts |= {
            "plan": planning(*PHASES),
            "make": always(report("calculator.py", "It adds and subtracts.")),
            "test": Scene(testing),
            "describe": Scene(describing),
            "check": always(report("checked")),
        }
        first = await start(TASK, "--approve", "auto")

        question = await asked(board)
        await until(
            lambda: (
                statuses(client) == ["completed", "active", "active", "pending"]
                and workflow(client)["phases"][1]["attempts"] == 2
                and workflow(client)["questions"]
            ),
            "the tests are tried again, and the file tells it",
            LONG,
        )
        first.kill()
        await first.communicate()
        assert workflow(client)["questions"][0]["id"] == question["id"]

        info, _, _ = await session(client)
        again = await start("--resume", info.session_id)
        gate.set()
        code, out, err = await ended(again)
        assert code == 3, (out, err)
        assert statuses(client) == ["completed", "completed", "active", "pending"]
        await board.answer(question["id"], "Postgres")
        code, out, err = await ended(await start("--resume", info.session_id))

        assert code == 0, (out, err)
        assert "4 of 4 phases" in out
        info, state, events = await session(client)
        assert info.status == "completed"
        # Only what the kill caught in the middle was begun again.
        runs = started(events, "work")
        assert [runs.count(run) for run in ("work#1/0", "work#3/0")] == [1, 1]
        assert len(asked_with(model, "make")) == 1
        self.check_files(client, info, state)
        assert model.was_told("What was done before you:\nphase_0, Create the module")
        assert model.was_told("It adds and subtracts.")
        assert model.was_told("phase_2, Describe it\nMade: README.md\nIt says Postgres.")
        await self.check_board(client, board, question["id"])

    def check_files(self, client: Claude, info: Any, state: Any) -> None:
        file = workflow(client)
        assert (file["status"], file["current_phase"]) == ("completed", None)
        assert (file["session_id"], file["task"]) == (info.session_id, TASK)
        assert [
            (one["id"], one["title"], one["agent"], one["status"]) for one in file["phases"]
        ] == [
            ("phase_0", "Create the module", "maker", "completed"),
            ("phase_1", "Write tests", "tester", "completed"),
            ("phase_2", "Describe it", "writer", "completed"),
            ("phase_3", "Check it", "general-purpose", "completed"),
        ]
        assert [one["wave"] for one in file["phases"]] == [0, 1, 1, 2]
        assert [one["attempts"] for one in file["phases"]] == [1, 2, 1, 1]
        recorded = {
            one["id"]: {key: one[key] for key in ("deliverables", "context_for_next")}
            for one in file["phases"]
        }
        assert recorded == state["results"]
        assert file["questions"] == []
        text = markdown(client)
        assert "Status: completed | Current Phase: none" in text
        assert "- [x] Phase 1: Write tests → test_calculator.py" in text

    async def check_board(self, client: Claude, board: Board, question: str) -> None:
        assert (await board.question(question))["status"] == "completed"
        assert (await board.get("/interactions?status=pending"))["interactions"] == []
        # The planner, and one client for each phase, whatever became of its process.
        plates = await board.plates_like(5, projectPath=str(client.home.project))
        transcripts = (client.home.folder / ".claude" / "projects").glob("*/*.jsonl")
        assert {one["sessionId"] for one in plates} == {file.stem for file in transcripts}
        assert sorted(one["name"] for one in plates) == [
            *(f"phase_{number} {one['title']}" for number, one in enumerate(PHASES)),
            "planner",
        ]
        closed = await board.plates_like(5, status="closed")
        assert len(closed) == len(plates) == 5


class TestPlan:
    async def test_alone_changes_nothing(self, client: Claude, model: Model, start: Start):
        model.scripts["plan"] = planning(*PHASES)

        code, out, err = await ended(await start(TASK, "--plan-only", "--json"))

        assert code == 0, err
        plan = json.loads(out)
        assert [one["agent"] for one in plan["phases"]] == [
            *("maker", "tester", "writer"),
            "general-purpose",
        ]
        assert plan["notes"] == [
            "phase_3: there is no agent 'nobody-knows', so general-purpose is used."
        ]
        assert "broken.md:2: " in err
        assert not (client.home.project / ".claude" / "state").exists()
        [sent] = [json.loads(one) for one in model.heard if "You make the plan" in one]
        offered = {one["name"] for one in sent["tools"]}
        assert {"Read", "Grep", "StructuredOutput"} <= offered
        assert not offered & {"Bash", "Write", "Edit"}
        assert "- writer: Use it: for what a writer does" in str(sent["messages"][0])

    async def test_needs_no_question_to_read_the_project_and_one_to_read_elsewhere(
        self, client: Claude, model: Model, board: Board, start: Start
    ):
        inside, outside = client.home.project / "inside.txt", client.home.folder / "outside.txt"
        inside.write_text("A harbour in the fog", encoding="utf-8")
        outside.write_text("Nobody may know this", encoding="utf-8")

        def looking() -> Turn:
            if model.was_told("A harbour in the fog"):
                return [Call("Read", {"file_path": str(outside)})]
            return [Call("Read", {"file_path": str(inside)})]

        model.scripts["plan"] = Scene(looking)
        code, out, err = await ended(await start(TASK, "--approve", "auto"))

        assert code == 3, (out, err)
        question = await asked(board)
        assert str(outside) in question["prompt"]
        assert not model.was_told("Nobody may know this")

    async def test_in_a_terminal_is_approved_there_and_so_is_what_an_agent_does(
        self, client: Claude, model: Model
    ):
        made = client.home.project / "made"
        model.scripts |= {
            "plan": planning(PHASES[0], PHASES[1]),
            "make": Scene(lambda: report("calculator.py") if made.exists() else TOUCH[0]),
            "test": always(report("test_calculator.py")),
        }
        command = [*TELLING, CALLBOARD, "delegate", TASK]
        with Terminal(command, client.home.project, client.env) as terminal:
            await terminal.shows("Approve this plan?", "phase_1  Write tests", within=LONG)
            await terminal.shows("Approve", "Stop", "Other…", within=LONG)
            terminal.press("Enter")
            await terminal.shows("Run: touch made", within=LONG)
            assert not made.exists()
            terminal.press("y")
            await terminal.shows("left with 0", within=LONG)
            await terminal.shows("2 of 2 phases", "→ calculator.py", "→ test_calculator.py")
        [sent, *_] = asked_with(model, "test")
        offered = {one["name"] for one in sent["tools"]}
        assert {"Read", "Bash", "AskUserQuestion", "StructuredOutput"} <= offered
        assert not offered & {"Write", "Glob"}
        assert "You are the tester." in json.dumps(sent["system"])

    @pytest.mark.long
    async def test_is_answered_elsewhere_with_words_and_with_another(
        self, client: Claude, model: Model, start: Start
    ):
        model.scripts |= {
            "plan": planning(*PHASES),
            "check": always(report("checked")),
        }
        code, out, err = await ended(await start(TASK, "--approve", "ask"))
        assert code == 3, (out, err)
        assert statuses(client) == ["pending"] * 4
        info, _, _ = await session(client)

        said = await client.home.run(
            CALLBOARD, "answer", info.session_id, "Fewer phases", "--resume", env=client.env
        )
        assert said.code == 3, said
        assert model.was_told(
            "A person rejected it. Make another plan. Their feedback:\n- Fewer phases"
        )

        own = json.dumps([phase("Check it", "ghost", "check")])
        said = await client.home.run(
            CALLBOARD, "answer", info.session_id, own, "--resume", env=client.env
        )
        assert said.code == 3, said
        assert (
            "phases[0].agent: there is no agent 'ghost'. Known agents: general-purpose" in said.out
        )

        own = json.dumps([phase("Check it", "maker", "check")])
        said = await client.home.run(
            CALLBOARD, "answer", info.session_id, own, "--resume", env=client.env
        )
        assert said.code == 0, said
        assert [(one["title"], one["status"]) for one in workflow(client)["phases"]] == [
            ("Check it", "completed")
        ]


@pytest.mark.long
class TestServers:
    async def test_of_the_person_are_there_only_for_agents_without_a_list_of_tools(
        self, client: Claude, model: Model, start: Start
    ):
        config = client.home.folder / ".claude.json"
        known = json.loads(config.read_text(encoding="utf-8"))
        server = {"type": "stdio", "command": sys.executable, "args": ["-c", SERVER]}
        known["mcpServers"] = {"harbour": {**server, "alwaysLoad": True}}
        config.write_text(json.dumps(known), encoding="utf-8")
        model.scripts |= {
            "plan": planning(PHASES[0], PHASES[1]),
            "make": always(report("calculator.py")),
            "test": always(report("test_calculator.py")),
        }

        code, out, err = await ended(await start(TASK, "--approve", "auto"))

        assert code == 0, (out, err)
        assert "mcp__harbour__depth" in json.dumps(asked_with(model, "make"))
        assert "harbour" not in json.dumps(asked_with(model, "test"))
        assert not [one for one in model.heard if "You make the plan" in one and "harbour" in one]


class TestStopping:
    async def test_an_interrupt_ends_the_agents_and_another_start_goes_on(
        self, client: Claude, model: Model, start: Start
    ):
        gate = threading.Event()
        model.scripts |= {
            "plan": planning(PHASES[0]),
            "make": always([Hold(gate), *report("calculator.py")]),
        }
        first = await start(TASK, "--approve", "auto")
        await until(lambda: asked_with(model, "make"), "the phase is at work", LONG)

        first.send_signal(signal.SIGINT)
        code, out, err = await ended(first)

        assert code == 130, err
        assert running(client) == []
        gate.set()
        info, _, _ = await session(client)
        assert f"callboard resume {info.session_id}" in out
        said = await client.home.run(CALLBOARD, "resume", info.session_id, env=client.env)
        assert said.code == 0, said
        assert statuses(client) == ["completed"]


@pytest.mark.long
class TestTrouble:
    async def test_stands_in_the_inbox_and_is_tried_again_in_a_fresh_conversation(
        self, client: Claude, model: Model, start: Start
    ):
        refused = {"deliverables": [], "context_for_next": "", "failure": "There is no compiler."}
        model.scripts |= {
            "plan": planning(PHASES[0]),
            "make": always([Call("StructuredOutput", refused)]),
        }
        code, out, err = await ended(await start(TASK, "--approve", "auto"))
        assert code == 3, (out, err)
        [failed] = workflow(client)["phases"]
        assert (failed["status"], failed["attempts"]) == ("failed", 2)
        assert failed["error"] == "phase_0 could not be done: There is no compiler."
        [question] = workflow(client)["questions"]
        assert "There is no compiler." in question["prompt"]
        assert model.was_told("That attempt failed: There is no compiler.")
        assert not model.was_told("You were interrupted.")

        model.scripts["make"] = always(report("calculator.py"))
        said = await client.home.run(
            CALLBOARD, "answer", question["id"], "Retry", "--resume", env=client.env
        )

        assert said.code == 0, said
        assert model.was_told("An earlier attempt failed.")
        [done] = workflow(client)["phases"]
        assert (done["status"], done["error"], done["attempts"]) == ("completed", None, 3)

    async def test_an_agent_that_never_ends_is_ended(
        self, client: Claude, model: Model, monkeypatch: pytest.MonkeyPatch
    ):
        never = threading.Event()
        model.scripts["make"] = always([Hold(never)])
        for name, value in client.env.items():
            monkeypatch.setenv(name, value)
        planned = Plan.model_validate({"phases": [PHASES[0]]})
        workflow = delegating(ScriptedAgent("planner", planned, output=Plan), Worker(), backoff=0)
        terms = Terms(approve="auto", timeout=5)
        order = Order(task=TASK, cwd=str(client.home.project), terms=terms)

        async with Callboard.open(client.home.database, [workflow]) as board:
            done = await board.run(workflow, order.model_dump(mode="json"))
            [question] = await board.inbox()

        never.set()
        assert done.status == "waiting"
        assert "Agent 'worker' ran for more than 5 s." in question.prompt
        assert running(client) == []
