"""Any session can be read in status files: live, after a crash, and never to its harm."""

import asyncio
import json
import logging
import warnings
from pathlib import Path
from typing import Any

import pytest

from callboard import (
    Approval,
    Callboard,
    Context,
    Phase,
    Retry,
    RetryAfter,
    State,
    Workflow,
    auto_approve,
    run,
)
from callboard.errors import ValidationError
from callboard.events.envelope import Event
from callboard.statusfiles import create_workflow_state, get_workflow_state
from callboard.statusfiles.hearing import heard
from callboard.statusfiles.location import find_place
from callboard.statusfiles.publishing import Publication
from callboard.statusfiles.story import Story


class Notes(State):
    rounds: int = 0


async def plan(state: Notes) -> dict[str, Any]:
    return {"deliverables": ["plan.md"], "context_for_next": "Use SQLite."}


async def write(state: Notes, ctx: Context) -> str:
    if ctx.visit == 1 and ctx.attempt == 1:
        raise RuntimeError("No ink.")
    return f"round {ctx.visit}"


def count(state: Notes, output: Any) -> None:
    state.rounds += 1


async def check(state: Notes, ctx: Context) -> str:
    return f"{ctx.item} is right"


PHASES = [
    Phase("plan", agent=plan, next="write"),
    Phase(
        "write",
        agent=write,
        update=count,
        retry=Retry(2, backoff=0),
        until=lambda state: state.rounds == 2,
        next="check",
    ),
    Phase("check", agent=check, for_each=lambda state: ["a", "b", "c"], parallel=2, next="ship"),
    Phase("ship", human=Approval("Ship it?"), terminal=True),
]
FLOW = Workflow("paper", state=Notes, phases=PHASES)


def told(root: Path) -> dict[str, Any]:
    return json.loads((root / ".claude/state/workflow.json").read_text(encoding="utf-8"))


def report(root: Path) -> str:
    return (root / ".claude/workflow_state_system.md").read_text(encoding="utf-8")


def statuses(root: Path) -> list[str]:
    return [phase["status"] for phase in told(root)["phases"]]


def one(agent: Any, **phase: Any) -> Workflow:
    return Workflow("w", state=State, phases=[Phase("p", agent=agent, terminal=True, **phase)])


async def test_phases_are_told_with_what_they_made_and_how_often_they_were_tried(tmp_path: Path):
    done = await run(FLOW, "Write a paper", human_input=auto_approve(), status_files=tmp_path)

    workflow = told(tmp_path)
    assert workflow["id"].startswith("wf_")
    assert (workflow["task"], workflow["status"]) == ("Write a paper", "completed")
    assert workflow["current_phase"] is None
    assert (workflow["session_id"], workflow["session_status"]) == (done.session_id, "completed")
    plan, write, check, ship = workflow["phases"]
    assert (plan["id"], plan["title"], plan["agent"]) == ("phase_0", "plan", "plan")
    assert plan["deliverables"] == ["plan.md"]
    assert plan["context_for_next"] == "Use SQLite."
    assert plan["duration_ms"] >= 0
    assert (write["attempts"], write["error"], write["context_for_next"]) == (3, None, "round 2")
    assert check["items"] == {"completed": 3, "failed": 0, "total": 3}
    assert check["context_for_next"] == "a is right\nb is right\nc is right"
    assert ship["agent"] == "person"
    assert "- [x] Phase 0: plan → plan.md\n" in report(tmp_path)
    assert "Progress: 4/4 phases\n" in report(tmp_path)


async def test_a_skipped_phase_is_told_as_skipped(tmp_path: Path):
    async def broken(state: State) -> None:
        raise RuntimeError("No ink.")

    async def look(state: State) -> None:
        return None

    flow = Workflow(
        "w",
        state=State,
        phases=[
            Phase("guarded", guard=lambda state: False, agent=look, next="failing"),
            Phase("failing", agent=broken, on_error="ask", next="end"),
            Phase("end", agent=look, terminal=True),
        ],
    )
    await run(flow, human_input={"choice": lambda *_: "Skip"}, status_files=tmp_path)

    guarded, failing, end = told(tmp_path)["phases"]
    assert [one["skipped"] for one in (guarded, failing, end)] == [True, True, False]
    assert statuses(tmp_path) == ["completed"] * 3
    assert (guarded["error"], failing["error"]) == (None, "No ink.")
    assert "- [x] Phase 0: guarded (skipped)\n" in report(tmp_path)
    assert "- [x] Phase 1: failing (skipped)\n" in report(tmp_path)
    assert "- [x] Phase 2: end\n" in report(tmp_path)


async def test_current_phases_and_the_percentage_are_told(tmp_path: Path):
    db = tmp_path / "db"
    await run(FLOW, db=db, status_files=tmp_path)
    workflow = told(tmp_path)
    assert (workflow["current_phase"], workflow["current_phases"]) == ("phase_3", ["phase_3"])
    assert workflow["progress_percent"] == 75


async def test_a_question_is_told_until_it_is_answered(tmp_path: Path):
    db = tmp_path / "db"
    waiting = await run(FLOW, db=db, status_files=tmp_path)

    assert waiting.status == "waiting"
    workflow = told(tmp_path)
    assert (workflow["status"], workflow["session_status"]) == ("active", "waiting")
    assert workflow["task"] == "paper"
    assert workflow["current_phase"] == "phase_3"
    [question] = workflow["questions"]
    assert (question["type"], question["prompt"], question["phase"]) == (
        "approval",
        "Ship it?",
        "ship",
    )
    assert f"- Ship it? (callboard answer {question['id']})\n" in report(tmp_path)

    async with Callboard.open(db) as board:  # Which does not know the workflow.
        await board.answer(question["id"], "yes")
    assert told(tmp_path)["questions"] == []
    assert statuses(tmp_path)[-1] == "active"
    async with Callboard.open(db, [FLOW]) as board:
        await board.drive(waiting.session_id)
    assert (told(tmp_path)["status"], statuses(tmp_path)[-1]) == ("completed", "completed")


async def test_it_is_told_while_an_agent_works(tmp_path: Path):
    async def look(state: State) -> None:
        while "Status: active | Current Phase: p\n" not in _report(tmp_path):
            await asyncio.sleep(0.01)
        assert told(tmp_path)["current_phase"] == "phase_0"

    done = await run(one(look), status_files=tmp_path)

    assert done.status == "completed"


async def test_a_failure_is_told_with_its_error(tmp_path: Path):
    async def broken(state: State) -> None:
        raise RuntimeError("No ink.")

    await run(one(broken), status_files=tmp_path)

    workflow = told(tmp_path)
    assert (workflow["status"], workflow["phases"][0]["status"]) == ("failed", "failed")
    assert workflow["phases"][0]["error"] == "No ink."
    assert "- [ ] Phase 0: p (failed)" in report(tmp_path)


@pytest.mark.parametrize(
    ("name", "error", "why"),
    [
        ("workflow:failed", {"type": "E", "message": ""}, "The session failed."),
        ("workflow:failed", {"type": "E", "message": "No ink."}, "No ink."),
        ("workflow:cancelled", None, "The session was cancelled."),
    ],
)
def test_only_a_cancelled_session_is_said_to_be(name: str, error: Any, why: str):
    story = Story(one(plan), "s1")
    entered = {"phase": "p", "visit": 1}
    happened = [("phase:entered", entered), (name, {"error": error} if error else {})]
    for position, (event, payload) in enumerate(happened, 1):
        story.hear(Event("e", "s1", position, event, 1, payload, 0, None))
    assert story.told()["phases"][0]["error"] == why


async def test_a_pause_and_a_cancellation_by_others_are_told(tmp_path: Path):
    db = tmp_path / "db"
    waiting = await run(FLOW, db=db, status_files=tmp_path)
    async with Callboard.open(db) as board:
        await board.pause(waiting.session_id)
        assert (told(tmp_path)["status"], told(tmp_path)["session_status"]) == ("active", "paused")
        await board.cancel(waiting.session_id)
    workflow = told(tmp_path)
    assert (workflow["status"], workflow["session_status"]) == ("failed", "cancelled")
    assert workflow["phases"][3]["status"] == "failed"
    assert workflow["phases"][3]["error"] == "The session was cancelled."
    assert (workflow["current_phase"], workflow["questions"]) == (None, [])


async def test_one_who_cannot_work_yet_is_told_with_the_reason(tmp_path: Path):
    async def limited(state: State, ctx: Context) -> None:
        if ctx.attempt == 1:
            raise RetryAfter("Too many requests.", seconds=3600)

    execution = run(one(limited), db=tmp_path / "db", status_files=tmp_path)
    while not _error(tmp_path):
        await asyncio.sleep(0.01)

    phase = told(tmp_path)["phases"][0]
    assert (phase["status"], phase["error"], phase["attempts"]) == (
        "active",
        "Too many requests.",
        1,
    )
    await execution.abort()
    await execution


def _report(root: Path) -> str:
    try:
        return report(root)
    except FileNotFoundError:
        return ""


def _error(root: Path) -> str | None:
    try:
        return told(root)["phases"][0]["error"]
    except FileNotFoundError:
        return None


async def test_a_phase_that_is_skipped_is_completed_and_one_not_taken_stays(tmp_path: Path):
    phases = [
        Phase("a", next="c", guard=lambda state: False),
        Phase("b", next="c"),
        Phase("c", terminal=True),
    ]
    await run(Workflow("w", state=State, phases=phases), status_files=tmp_path)

    assert statuses(tmp_path) == ["completed", "pending", "completed"]
    assert told(tmp_path)["status"] == "completed"


async def test_a_retry_of_a_failed_session_takes_its_place(tmp_path: Path):
    broken = [True]

    async def work(state: State) -> None:
        if broken:
            raise RuntimeError("No ink.")

    flow, db = one(work), tmp_path / "db"
    failed = await run(flow, db=db, status_files=tmp_path)
    before = told(tmp_path)["id"]
    broken.clear()
    async with Callboard.open(db, [flow]) as board:
        again = await board.retry(failed.session_id)

    workflow = told(tmp_path)
    assert (workflow["session_id"], workflow["status"]) == (again.session_id, "completed")
    assert workflow["phases"][0]["error"] is None
    archived = get_workflow_state(before, path=tmp_path)
    assert archived is not None
    assert (archived["session_id"], archived["status"]) == (failed.session_id, "failed")


async def test_two_sessions_share_the_place_and_neither_is_lost(tmp_path: Path):
    db = tmp_path / "db"
    first = await run(FLOW, "one", db=db, status_files=tmp_path)
    one = told(tmp_path)["id"]
    second = await run(FLOW, "two", db=db, status_files=tmp_path)
    assert told(tmp_path)["session_id"] == second.session_id

    async with Callboard.open(db, [FLOW]) as board:
        await board.cancel(first.session_id)  # Behind the other, where it is archived.
        archived = get_workflow_state(one, path=tmp_path)
        assert archived is not None
        assert archived["session_status"] == "cancelled"
        assert told(tmp_path)["session_id"] == second.session_id

        [question] = await board.inbox(second.session_id)
        await board.answer(question.id, "yes")
        await board.drive(second.session_id)
    assert told(tmp_path)["status"] == "completed"


async def test_a_session_that_goes_on_takes_its_place_back_under_its_id(tmp_path: Path):
    db = tmp_path / "db"
    first = await run(FLOW, "one", db=db, status_files=tmp_path)
    id = told(tmp_path)["id"]
    create_workflow_state("by hand", [("x", "y")], path=tmp_path)

    async with Callboard.open(db, [FLOW]) as board:
        [question] = await board.inbox(first.session_id)
        await board.answer(question.id, "yes")
        await board.drive(first.session_id)

    assert (told(tmp_path)["id"], told(tmp_path)["status"]) == (id, "completed")
    left = sorted(file.name for file in (tmp_path / ".claude/state/archive").glob("*.json"))
    assert len(left) == 1
    assert id not in left[0]


async def test_fields_of_others_stay(tmp_path: Path):
    db = tmp_path / "db"
    waiting = await run(FLOW, db=db, status_files=tmp_path)
    workflow = told(tmp_path)
    workflow["note"], workflow["phases"][0]["colour"] = "mine", "blue"
    (tmp_path / ".claude/state/workflow.json").write_text(json.dumps(workflow), encoding="utf-8")

    async with Callboard.open(db, [FLOW]) as board:
        await board.answer((await board.inbox())[0].id, "yes")
        await board.drive(waiting.session_id)

    assert (told(tmp_path)["note"], told(tmp_path)["phases"][0]["colour"]) == ("mine", "blue")
    assert told(tmp_path)["status"] == "completed"


async def test_a_broken_file_is_set_aside_and_said(tmp_path: Path):
    state = tmp_path / ".claude/state/workflow.json"
    state.parent.mkdir(parents=True)
    state.write_text('{"id": "wf_', encoding="utf-8")

    with pytest.warns(UserWarning, match="broken"):
        await run(FLOW, human_input=auto_approve(), status_files=tmp_path)

    assert told(tmp_path)["status"] == "completed"
    assert state.with_name("workflow.json.broken-1").read_text(encoding="utf-8") == '{"id": "wf_'


async def test_a_broken_file_stays_when_the_session_is_archived_and_only_caught_up_with(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    waiting = await run(FLOW, db=tmp_path / "db", status_files=tmp_path)
    await run(one(plan), status_files=tmp_path)
    state = tmp_path / ".claude/state/workflow.json"
    (archived,) = (tmp_path / ".claude/state/archive").glob("*.json")
    before = archived.read_bytes()
    state.write_text("{", encoding="utf-8")

    async with Callboard.open(tmp_path / "db", [FLOW]) as board:
        catching_up = Publication(board.log, FLOW, waiting.session_id, tmp_path)
        await catching_up.finish(takes_place=False)

    assert state.read_text(encoding="utf-8") == "{"
    assert archived.read_bytes() == before
    assert "continues without its status files" in caplog.text


@pytest.mark.parametrize("what", ["removed", "broken"])
async def test_a_file_that_is_gone_meanwhile_is_begun_again(tmp_path: Path, what: str):
    state = tmp_path / ".claude/state/workflow.json"

    async def harm(state_: State) -> None:
        while not state.exists() or "session_id" not in state.read_text(encoding="utf-8"):
            await asyncio.sleep(0.01)
        if what == "removed":
            state.unlink()
        else:
            state.write_text("{", encoding="utf-8")

    async def work(state_: State) -> None:
        return None

    phases = [
        Phase("harm", agent=harm, next="a"),
        Phase("a", agent=work, next="b"),
        Phase("b", agent=work, terminal=True),
    ]
    flow = Workflow("w", state=State, phases=phases)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # It says that the broken one is set aside.
        await run(flow, status_files=tmp_path)

    assert (told(tmp_path)["status"], statuses(tmp_path)) == ("completed", ["completed"] * 3)


async def test_a_folder_that_is_a_link_stays_one(tmp_path: Path):
    real = tmp_path / "project/real"
    real.mkdir(parents=True)
    (tmp_path / "project/.claude").symlink_to(real)

    await run(FLOW, human_input=auto_approve(), status_files=tmp_path / "project")

    assert (tmp_path / "project/.claude").is_symlink()
    assert json.loads((real / "state/workflow.json").read_text())["status"] == "completed"


async def test_what_cannot_be_written_is_said_once_and_harms_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    (tmp_path / ".claude").write_text("a file where a folder should be", encoding="utf-8")

    with caplog.at_level(logging.WARNING):
        done = await run(FLOW, human_input=auto_approve(), status_files=tmp_path)

    assert done.status == "completed"
    [said] = [record.getMessage() for record in caplog.records]
    assert said.startswith(f"Session {done.session_id} continues without its status files: ")
    assert ".claude" in said


async def test_phases_of_a_workflows_own_choosing(tmp_path: Path):
    flow = Workflow(
        "w",
        state=State,
        phases=[Phase("p", agent=plan, terminal=True)],
        status_phases=lambda story: [
            {"title": "think", "agent": "a", **story.runs["p#1"].as_fields()},
            {"title": "rest", "agent": "b", "status": "pending"},
        ],
    )

    await run(flow, status_files=tmp_path)

    first, second = told(tmp_path)["phases"]
    assert (first["id"], first["title"], first["status"]) == ("phase_0", "think", "completed")
    assert (second["id"], second["status"], second["deliverables"]) == ("phase_1", "pending", [])


async def test_hooks_leave_a_sessions_phases_alone(tmp_path: Path):
    await run(FLOW, status_files=tmp_path)
    before = told(tmp_path)
    payload = {
        "hook_event_name": "PostToolUse",
        "tool_name": "Agent",
        "tool_use_id": "t1",
        "session_id": "s",
        "tool_input": {"prompt": "Phase ID: phase_3"},
        "tool_response": {"status": "completed", "content": []},
    }

    assert heard(payload, find_place(tmp_path)) is None

    assert told(tmp_path) == before


def test_a_file_is_no_folder(tmp_path: Path):
    file = tmp_path / "notes.txt"
    file.touch()

    with pytest.raises(ValidationError, match=r"status_files: .*notes\.txt is a file"):
        run(FLOW, status_files=file)
