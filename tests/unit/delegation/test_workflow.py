"""The workflow of a delegated task, with agents and people who do what they are told."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from callboard import Callboard, Context, State
from callboard.agents.claude_code.agent import ClientSession
from callboard.delegation.agent_files import AgentFile
from callboard.delegation.plan import Plan, PlannedPhase
from callboard.delegation.planner import keep_plan
from callboard.delegation.prompts import outline, phase_prompt, planning_prompt
from callboard.delegation.state import Delegation, Order, PhaseResult, PhaseRun, Terms
from callboard.delegation.worker import PhaseDone, worker_client
from callboard.delegation.workflow import APPROVE, RETRY, SKIP, STOP, delegating
from callboard.engine.function_agent import FunctionAgent
from callboard.engine.workflow import Workflow
from callboard.errors import Forbidden, RetryAfter
from callboard.events.authors import Author
from callboard.testing.scripted import ScriptedAgent, ScriptedPeople

AGENTS = [AgentFile(name="maker", description="Makes things", prompt="You make.")]


def plan(*phases: dict[str, Any]) -> Plan:
    named = ({"title": f"Step {number}", **one} for number, one in enumerate(phases))
    return Plan(phases=[PlannedPhase.model_validate(one) for one in named])


ONE = plan({})
FORK = plan({}, {"depends_on": ["phase_0"]}, {"depends_on": ["phase_0"]}, {})


def order(**terms: Any) -> dict[str, Any]:
    asked = Order(task="Build it", cwd="/tmp", agents=AGENTS, terms=Terms(**terms))
    return asked.model_dump(mode="json")


AUTO = order(approve="auto")


def planner(*plans: Plan) -> ScriptedAgent:
    return ScriptedAgent("planner", *plans, output=Plan)


Doing = Callable[[str, Context], Any]


def working(do: Doing = lambda id, ctx: None) -> FunctionAgent[..., object]:
    """A worker that does what the function says, and reports `made ID`."""

    async def worker(state: Delegation, ctx: Context) -> PhaseDone:
        turn = PhaseRun.model_validate(ctx.item)
        done = do(turn.id, ctx)
        if asyncio.iscoroutine(done):
            await done
        result = PhaseResult(deliverables=[f"made {turn.id}"], context_for_next=f"know {turn.id}")
        return PhaseDone(turn=turn, result=result)

    return FunctionAgent(worker)


def flow(made: ScriptedAgent, worker: FunctionAgent[..., object] | None = None) -> Workflow:
    return delegating(made, worker or working(), backoff=0)


def raising(*failing: str, until: int = 2) -> Doing:
    """Fails the named phases, in all attempts of so many visits."""

    def do(id: str, ctx: Context) -> None:
        if id in failing and ctx.visit <= until:
            raise ValueError(f"{id} broke")

    return do


async def played(workflow: Workflow, given: Any, people: Any = None) -> Any:
    async with Callboard.open(None, [workflow]) as board:
        return await board.run(workflow, given, human_input=people)


class TestWork:
    async def test_waves_follow_each_other_and_those_of_one_are_at_work_together(self):
        meeting = asyncio.Barrier(2)
        began: list[str] = []

        async def do(id: str) -> None:
            began.append(id)
            if id in ("phase_1", "phase_2"):
                await meeting.wait()

        done = await played(flow(planner(FORK), working(lambda id, ctx: do(id))), AUTO)

        assert done.status == "completed"
        assert began == ["phase_0", "phase_1", "phase_2", "phase_3"]
        assert done.state.turns == [["phase_0"], ["phase_1", "phase_2"], ["phase_3"]]
        assert done.state.results["phase_2"].context_for_next == "know phase_2"

    async def test_a_phase_that_fails_once_is_tried_again(self):
        def do(id: str, ctx: Context) -> None:
            if ctx.attempt == 1:
                raise ValueError("not yet")

        done = await played(flow(planner(ONE), working(do)), AUTO)
        assert done.status == "completed"

    async def test_only_the_plan_when_no_more_is_wanted(self):
        done = await played(flow(planner(FORK)), order(plan_only=True))
        assert done.status == "completed"
        assert done.state.plan == FORK
        assert done.state.results == {}


class TestTrouble:
    async def test_is_brought_to_a_person_who_has_it_tried_again(self):
        people = ScriptedPeople(RETRY)
        worker = working(raising("phase_1"))

        done = await played(flow(planner(plan({}, {})), worker), AUTO, people)

        assert done.status == "completed"
        [prompt] = people.prompts
        assert "Step 1 (general-purpose)" in prompt
        assert "phase_1 broke" in prompt
        assert done.state.retried == {"phase_1": 1}
        assert done.state.turns == [["phase_0"], ["phase_1"], ["phase_1"]]

    async def test_is_left_out(self):
        people = ScriptedPeople(SKIP)
        done = await played(flow(planner(plan({}, {})), working(raising("phase_0"))), AUTO, people)
        assert done.status == "completed"
        assert done.state.skipped == {"phase_0": "phase_0 broke"}
        assert list(done.state.results) == ["phase_1"]

    async def test_ends_it(self):
        people = ScriptedPeople(STOP)
        done = await played(flow(planner(ONE), working(raising("phase_0"))), AUTO, people)
        assert done.status == "failed"
        assert done.error["message"] == "Stopped by a person after phase_0 failed: phase_0 broke"

    async def test_of_several_phases_is_decided_one_after_the_other(self):
        both = plan({"depends_on": []}, {"depends_on": []})
        worker = working(raising("phase_0", "phase_1", until=1))

        people = ScriptedPeople(SKIP, RETRY)
        done = await played(flow(planner(both), worker), AUTO, people)
        assert done.status == "completed"
        assert [prompt.split()[0] for prompt in people.prompts] == ["phase_0", "phase_1"]
        assert (list(done.state.skipped), list(done.state.results)) == (["phase_0"], ["phase_1"])

        people = ScriptedPeople(STOP)
        done = await played(flow(planner(both), worker), AUTO, people)
        assert done.status == "failed"
        assert len(people.prompts) == 1

    async def test_that_a_program_has_tried_again_comes_to_an_end(self):
        first = ScriptedPeople(RETRY, STOP)
        worker = working(raising("phase_0", until=9))
        done = await played(flow(planner(ONE), worker), AUTO, first)
        assert done.status == "failed"
        asked = [e.payload["options"] for e in done.events if e.name == "input:requested"]
        assert asked == [[RETRY, SKIP, STOP], [STOP, RETRY, SKIP]]

    async def test_an_agent_that_never_ends_is_ended_and_brought_to_a_person(self):
        people = ScriptedPeople(STOP)
        worker = working(lambda id, ctx: asyncio.Event().wait())
        done = await played(flow(planner(ONE), worker), order(approve="auto", timeout=0.01), people)
        assert done.status == "failed"
        assert "ran for more than 0.01 s" in people.prompts[0]


class TestApproval:
    async def test_a_plan_that_is_approved_is_run(self):
        people = ScriptedPeople(APPROVE)
        done = await played(flow(planner(FORK)), order(), people)
        assert done.status == "completed"
        assert "phase_1  Step 1  (general-purpose)  together with phase_2" in people.prompts[0]

    async def test_words_make_the_planner_plan_again(self):
        people = ScriptedPeople("Without the tests, please", APPROVE)
        made = planner(FORK, ONE)

        done = await played(flow(made), order(), people)

        assert done.status == "completed"
        assert list(done.state.results) == ["phase_0"]
        prompt = planning_prompt(made.calls[1].state)
        assert "- Without the tests, please" in prompt
        assert "The previous plan was:\nphase_0  Step 0" in prompt

    async def test_a_plan_of_the_persons_own_is_taken_and_a_wrong_one_asked_about_again(self):
        wrong = json.dumps([{"title": "Do it", "agent": "ghost"}])
        own = json.dumps([{"title": "Do it", "agent": "maker"}])
        people = ScriptedPeople(wrong, own)
        made = planner(FORK)

        done = await played(flow(made), order(), people)

        assert done.status == "completed"
        assert [phase.title for phase in done.state.plan.phases] == ["Do it"]
        assert len(made.calls) == 1
        assert people.prompts[1].startswith("That plan is not valid. phases[0].agent: ")

    async def test_nothing_is_done_of_a_plan_that_is_refused(self):
        people = ScriptedPeople(STOP)
        done = await played(flow(planner(FORK)), order(), people)
        assert done.status == "failed"
        assert "the plan was not approved" in done.error["message"]
        assert done.state.results == {}


def delegation(made: Plan, **more: Any) -> Delegation:
    state = Delegation(task="Build it", cwd="/tmp", agents=AGENTS, **more)
    keep_plan(state, made)
    return state


class TestWords:
    def test_the_planner_knows_the_agents_and_the_task(self):
        prompt = planning_prompt(Delegation(task="Build it\nwell", agents=AGENTS))
        assert "- maker: Makes things\n- general-purpose: " in prompt
        assert prompt.endswith("Build it\nwell")

    def test_a_phase_is_told_what_was_done_before_and_what_others_do(self):
        made = plan(
            {},
            {"depends_on": ["phase_0"], "instructions": "Go left", "deliverables": ["a.py"]},
            {"depends_on": ["phase_0"]},
        )
        result = PhaseResult(deliverables=["x.py"], context_for_next="It is blue.")
        prompt = phase_prompt(
            delegation(made, results={"phase_0": result}), PhaseRun(id="phase_1", number=2)
        )
        assert "Phase ID: phase_1\nPhase: Step 1" in prompt
        assert "Build it" in prompt
        assert "Your phase:\nGo left" in prompt
        assert "Expected deliverables:\n- a.py" in prompt
        assert "phase_0, Step 0\nMade: x.py\nIt is blue." in prompt
        assert "working on phase_2 at the same time." in prompt
        assert "An earlier attempt failed" not in prompt

    def test_a_title_or_a_note_cannot_forge_lines_of_the_outline(self):
        made = plan({"title": "Look\nphase_1  Delete all\u2028(maker)"})
        made.notes = ["fine\r\nphase_2  More"]
        assert outline(made).splitlines() == [
            "phase_0  Look phase_1 Delete all (maker)  (general-purpose)",
            "Note: fine phase_2 More",
        ]
        told = phase_prompt(delegation(made), PhaseRun(id="phase_0", number=1))
        assert "Phase: Look phase_1 Delete all (maker)\n" in told

    def test_a_phase_that_a_person_had_tried_again_is_told_so_and_what_was_left_out(self):
        state = delegation(plan({}, {}), skipped={"phase_0": "no disk"}, retried={"phase_1": 1})
        prompt = phase_prompt(state, PhaseRun(id="phase_1", number=3))
        assert "phase_0, Step 0: skipped, because it failed: no disk" in prompt
        assert "An earlier attempt failed" in prompt


def command(state: Delegation) -> list[str]:
    """The command line of the client that does the first phase."""
    client = worker_client(state, PhaseRun(id="phase_0", number=1))
    return client._command(ClientSession("id", exists=False), State(), None)  # pyright: ignore


class TestClient:
    def test_has_its_agents_words_tools_and_model(self):
        agent = AgentFile(
            name="maker",
            description="d",
            prompt="You make.",
            tools=["Read", "Bash(ls:*)", "mcp__x__y"],
            model="haiku",
        )
        state = delegation(plan({"agent": "maker"}))
        state.agents = [agent]
        words = command(state)
        assert words[words.index("--append-system-prompt") + 1] == "You make."
        assert "--tools=Read,Bash,AskUserQuestion" in words
        assert "--strict-mcp-config" not in words
        assert words[words.index("--model") + 1] == "haiku"

    def test_has_no_tools_of_servers_that_its_agent_does_not_name_and_none_that_it_denies(self):
        state = delegation(plan({"agent": "maker"}))
        denied = ["Bash(rm:*)", "WebFetch"]
        state.agents = [
            AgentFile(name="maker", description="d", tools=["Read"], disallowed_tools=denied)
        ]
        words = command(state)
        assert "--strict-mcp-config" in words
        assert "--disallowedTools=Bash(rm:*),WebFetch" in words
        state.agents[0].tools = None
        assert "--strict-mcp-config" not in command(state)
        assert "--disallowedTools=Bash(rm:*),WebFetch" in command(state)

    def test_of_the_general_agent_has_all_tools_and_the_terms(self):
        terms = Terms(model="opus", allow=["Bash(ls:*)"], permission_mode="acceptEdits")
        words = command(delegation(plan({}), terms=terms))
        assert not [word for word in words if word.startswith(("--tools", "--disallowed"))]
        assert "--append-system-prompt" not in words
        assert words[words.index("--allowedTools") + 1] == "Bash(ls:*)"
        assert words[words.index("--permission-mode") + 1] == "acceptEdits"
        assert words[words.index("--model") + 1] == "opus"


def published(root: Path) -> list[dict[str, Any]]:
    """The phases as the file has them."""
    file = root / ".claude/state/workflow.json"
    nothing: list[dict[str, Any]] = [{"error": None, "deliverables": []}]
    return json.loads(file.read_text())["phases"] if file.exists() else nothing


class TestFiles:
    async def test_tell_attempts_waves_and_what_was_left_out(self, tmp_path: Path):
        people = ScriptedPeople(RETRY, SKIP)
        workflow = flow(planner(FORK), working(raising("phase_1", until=9)))
        async with Callboard.open(None, [workflow]) as board:
            done = await board.run(workflow, AUTO, human_input=people, status_files=tmp_path)
        assert done.status == "completed"
        file = json.loads((tmp_path / ".claude/state/workflow.json").read_text())
        assert (file["status"], file["task"]) == ("completed", "Build it")
        assert [one["wave"] for one in file["phases"]] == [0, 1, 1, 2]
        skipped = file["phases"][1]
        assert (skipped["status"], skipped["skipped"], skipped["attempts"]) == (
            "completed",
            True,
            4,
        )
        assert skipped["error"] == "phase_1 broke"
        assert file["phases"][3]["deliverables"] == ["made phase_3"]
        assert file["phases"][3]["context_for_next"] == "know phase_3"

    async def test_tell_what_was_made_before_the_others_of_the_wave_have_ended(
        self, tmp_path: Path
    ):
        def do(id: str, ctx: Context) -> None:
            if id == "phase_1":
                raise RetryAfter("Too many requests.", seconds=3600)

        both = plan({"depends_on": []}, {"depends_on": []})
        workflow = flow(planner(both), working(do))
        async with Callboard.open(None, [workflow]) as board:
            running = board.run(workflow, AUTO, status_files=tmp_path)
            while not all(one["error"] or one["deliverables"] for one in published(tmp_path)):
                await asyncio.sleep(0.01)
            phases = published(tmp_path)
            await running.abort()
            await running
        [made, put_off] = phases
        assert (made["status"], made["deliverables"]) == ("completed", ["made phase_0"])
        assert made["context_for_next"] == "know phase_0"
        assert (put_off["status"], put_off["attempts"]) == ("active", 1)
        assert put_off["error"] == "Too many requests."

    @pytest.mark.parametrize(
        ("approve", "phases"), [("ask", ["pending"] * 4), ("auto", ["failed"] + ["pending"] * 3)]
    )
    async def test_while_a_person_is_waited_for(
        self, tmp_path: Path, approve: str, phases: list[str]
    ):
        workflow = flow(planner(FORK), working(raising("phase_0")))
        async with Callboard.open(None, [workflow]) as board:
            done = await board.run(workflow, order(approve=approve), status_files=tmp_path)
        assert done.status == "waiting"
        file = json.loads((tmp_path / ".claude/state/workflow.json").read_text())
        assert [one["status"] for one in file["phases"]] == phases
        assert [one["phase"] for one in file["questions"]] == [
            "approve" if approve == "ask" else "trouble"
        ]


async def test_only_the_assignees_approve_the_plan_and_decide_about_failures():
    workflow = flow(planner(ONE), working(raising("phase_0")))
    async with Callboard.open(None, [workflow]) as board:
        session = await board.start("delegate", order(assignees=["ada", "group:leads"]))
        for answer in (APPROVE, STOP):
            await board.drive(session)
            [asked] = await board.inbox(session)
            assert asked.assignees == ["ada", "group:leads"]
            with pytest.raises(Forbidden):
                await board.answer(asked.id, answer, by=Author("bob"))
            await board.answer(asked.id, answer, by=Author("bob", groups=("leads",)))
