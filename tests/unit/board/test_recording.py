"""A report becomes events: what happened, what was asked, what is over."""

from typing import Any

import pytest
from tests.unit.board.boards import Board

from callboard.engine.operations import Operations
from callboard.events import names
from callboard.events.envelope import NewEvent
from callboard.events.event_name import Entry
from callboard.events.json_values import as_object
from callboard.vendors.reports import HookRequest, Report

LS = {"command": "ls"}


def report(event: str, /, *, session: str = "s1", **more: Any) -> Report:
    details = more.pop("details", {})
    return Report("claude", session, (Entry(event, details),), **more)


def request(hold: str, type: str = "permission", tool: str = "Bash", **more: Any) -> Report:
    details = {"toolName": tool, "toolInput": LS, "asks": "May I?"}
    asked = HookRequest(type, "May I?", {"toolName": tool})
    return report("permission_request", details=details, request=asked, hold=hold, **more)


async def test_a_new_plate_is_told_whole_and_later_only_what_changed():
    board = Board()
    plate = await board.hear(report("session_start", project_path="/p"))
    await board.hear(report("prompt_submit", project_path="/p"))
    first, second = await board.events(plate)
    assert as_object(first.payload["plate"])["plateId"] == plate.plate_id
    assert set(as_object(second.payload["plate"])) == {"statusAt", "updatedAt", "lastEvent"}


async def test_what_a_sender_tells_of_itself_reaches_a_plate_that_was_there():
    board = Board()
    registered = await board.plates.register("claude", project_path="/p", pid=42, proc_start="7")
    told = report(
        "session_start", pid=42, proc_start="7", transcript_path="/t", git_branch="main", model="m"
    )
    await board.hear(told)
    plate = await board.plates.get(registered.plate_id)
    assert (plate.transcript_path, plate.git_branch, plate.model) == ("/t", "main", "m")
    assert plate.session_id == "s1"


async def test_who_does_not_know_something_leaves_what_was_known():
    board = Board()
    await board.hear(report("session_start", pid=42, git_branch="main", name="first"))
    plate = await board.hear(report("prompt_submit", name="second"))
    assert (plate.pid, plate.git_branch, plate.name) == (42, "main", "first")


async def test_the_raw_payload_is_kept_once_and_the_input_stands_only_there():
    board = Board()
    raw = {"hook_event_name": "PreToolUse", "tool_input": LS}
    both = (Entry("session_start", {"toolInput": LS}), Entry("turn_idle", {}))
    plate = await board.hear(Report("claude", "s1", both, raw))
    first, second = await board.events(plate)
    assert first.payload["raw"] == raw
    assert "toolInput" not in first.payload
    assert "raw" not in second.payload


async def test_a_held_request_becomes_a_question_of_the_clients_session():
    board = Board()
    plate = await board.hear(request("i1"))
    asked = await board.interaction("i1")
    assert (asked.status, asked.type, asked.session_id) == ("pending", "permission", "s1")
    assert asked.config == {"toolName": "Bash", "plateId": plate.plate_id, "agent": "claude"}
    assert plate.to_wire()["interactionId"] == "i1"


async def test_a_request_that_nobody_holds_asks_nobody():
    board = Board()
    heard = await board.heard(request(None))  # pyright: ignore[reportArgumentType]
    assert heard.interaction_id is None
    assert all(event.name != names.REQUESTED for event in await board.events(heard.plate))


async def test_a_request_of_a_session_that_is_over_asks_nobody():
    board = Board()
    await board.hear(report("session_start"))
    await board.hear(report("session_end"))
    heard = await board.heard(request("i1"))
    assert heard.interaction_id is None
    assert all(event.name != names.REQUESTED for event in await board.events(heard.plate))


async def test_a_request_that_comes_again_is_asked_once():
    board = Board()
    await board.hear(request("i1"))
    heard = await board.heard(request("i1"))
    assert heard.interaction_id == "i1"
    told = [event.name for event in await board.events(heard.plate)]
    assert told == ["permission_request", "input:requested"]


async def test_a_tool_that_ran_tells_that_it_was_allowed_in_the_terminal():
    board = Board()
    await board.hear(request("i1"))
    await board.hear(report("tool_call", details={"toolName": "Bash", "toolInput": LS}))
    asked = await board.interaction("i1")
    assert (asked.status, asked.response, asked.via) == (
        "completed",
        {"approved": True},
        "terminal",
    )


async def test_answers_in_the_terminal_are_the_questions_answers():
    board = Board()
    await board.hear(request("i1", "question", "AskUserQuestion"))
    told = {"toolName": "AskUserQuestion", "toolInput": LS, "answers": {"Which?": "This"}}
    await board.hear(report("tool_call", details=told))
    asked = await board.interaction("i1")
    assert (asked.status, asked.response) == ("completed", {"answers": {"Which?": "This"}})


async def test_a_question_whose_answer_is_not_told_is_cancelled():
    board = Board()
    await board.hear(request("i1", "question", "AskUserQuestion"))
    await board.hear(report("tool_call", details={"toolName": "AskUserQuestion", "toolInput": LS}))
    assert (await board.interaction("i1")).status == "cancelled"


async def test_what_is_left_is_cancelled():
    board = Board()
    for index, name in enumerate(["stop", "session_end", "session_start"]):
        await board.hear(report("session_start"))
        await board.hear(request(f"i{index}"))
        await board.hear(report(name))
        assert (await board.interaction(f"i{index}")).status == "cancelled", name


async def test_a_tool_that_ran_overrules_an_answer_that_was_accepted():
    board = Board()
    plate = await board.hear(request("i1"))
    answer = {"id": "i1", "via": "api", "response": {"approved": False}}
    await board.log.append(plate.plate_id, [NewEvent("e1", names.ACCEPTED, answer, 0)])
    await board.hear(report("tool_call", details={"toolName": "Bash", "toolInput": LS}))
    found = await board.interaction("i1")
    assert (found.status, found.response) == ("completed", {"approved": True})
    assert (found.receipt, found.via) == ("overruled", "terminal")


TOUCH = {"command": "touch made"}


@pytest.mark.parametrize("handed", [True, False])
@pytest.mark.parametrize("subagent", [None, "a1"])
@pytest.mark.parametrize(("ran", "receipt"), [(TOUCH, "delivered"), (LS, "overruled")])
async def test_the_receipt_of_an_edited_call_is_what_it_ran_with(
    handed: bool, subagent: str | None, ran: Any, receipt: str
):
    if ran is TOUCH and not handed:
        return  # It runs with that only once its hook has it.
    board, inside = Board(), {} if subagent is None else {"subagent": subagent}
    details = {"toolName": "Bash", "toolInput": LS, **inside}
    asked = HookRequest("permission", "May I?", {"toolName": "Bash", "toolInput": LS})
    plate = await board.hear(
        report("permission_request", details=details, request=asked, hold="i1")
    )
    response = {"approved": True, "updatedInput": TOUCH}
    answer = {"id": "i1", "via": "api", "response": response}
    await board.log.append(plate.plate_id, [NewEvent("e1", names.ACCEPTED, answer, 0)])
    if handed:
        await board.plates.hand_over("i1", response)
    call = {"toolName": "Bash", "toolInput": ran}
    other = {} if subagent else {"subagent": "a2"}
    await board.hear(report("tool_call", details={**call, **other}))
    assert (await board.interaction("i1")).receipt == "pending", "another agent's call"
    await board.hear(report("tool_call", details={**call, **inside}))
    found = await board.interaction("i1")
    assert (found.status, found.receipt) == ("completed", receipt)
    assert found.response == (response if receipt == "delivered" else {"approved": True})


async def test_a_question_of_a_subagent_names_its_parent():
    board = Board()
    await board.hear(report("session_start", project_path="/home/me/shop"))
    asked = HookRequest("permission", "May I?", {"subagent": {"id": "a1", "name": "Explore"}})
    details = {"toolName": "Bash", "toolInput": LS, "subagent": "a1"}
    await board.hear(report("permission_request", details=details, request=asked, hold="i1"))
    config = as_object((await board.interaction("i1")).config)
    assert config["subagent"] == {"id": "a1", "name": "Explore", "parent": "shop"}


async def test_a_subagents_question_that_no_one_answered_goes_to_the_terminal():
    board = Board()
    await board.hear(report("session_start"))
    asked = HookRequest("permission", "May I?", {"toolName": "Bash", "toolInput": LS})
    details = {"toolName": "Bash", "toolInput": LS, "subagent": "a1"}
    await board.hear(report("permission_request", details=details, request=asked, hold="i1"))
    await board.plates.let_go("i1")
    plate = (await board.plates.all())[0]
    assert [(one.id, one.subagent) for one in plate.pending] == [(None, "a1")]
    assert (await board.interaction("i1")).status == "cancelled"
    await board.hear(report("tool_call", details=details))
    found = await board.interaction("i1")
    assert (found.status, found.response, found.via) == (
        "completed",
        {"approved": True},
        "terminal",
    )
    assert (await board.plates.all())[0].pending == ()


async def test_a_question_that_is_over_in_the_report_that_asks_it_is_closed():
    board = Board()
    both = (Entry("permission_request", {"toolName": "Bash"}), Entry("stop", {}))
    asked = HookRequest("permission", "May I?", {})
    heard = await board.heard(Report("claude", "s1", both, request=asked, hold="i1"))
    assert heard.interaction_id is None
    assert (await board.interaction("i1")).status == "cancelled"


async def test_a_request_is_not_about_the_same_call_of_a_subagent():
    board = Board()
    base = {"session_id": "s1", "tool_name": "Bash", "tool_input": LS}
    started = base | {"hook_event_name": "PreToolUse"}
    await board.payload("claude", started | {"tool_use_id": "t-sub", "agent_id": "a1"})
    await board.payload("claude", started | {"tool_use_id": "t-own"})
    asked = base | {"hook_event_name": "PermissionRequest"}
    plate = await board.payload("claude", asked, hold="q1")
    assert [one.use for one in plate.pending] == ["t-own"]


async def test_a_dialog_that_is_left_takes_no_other_along():
    board = Board()
    await board.hear(request("q1"))
    await board.hear(request("q2", tool="WebFetch"))
    await board.plates.let_go("q1")
    (plate,) = await board.plates.all()
    assert (plate.status, [one.id for one in plate.pending]) == ("awaiting_approval", ["q2"])
    assert (await board.interaction("q2")).status == "pending"
    await board.plates.let_go("q2")
    (plate,) = await board.plates.all()
    assert (plate.status, plate.interrupted, plate.pending) == ("idle", True, ())


async def test_a_call_that_is_made_again_does_not_change_what_was_refused():
    """By a client that tells no ids of calls, and whose transcript nobody reads."""
    board = Board()
    operations = Operations(board.log, board.clock)
    for id, approved in (("q1", False), ("q2", True)):
        await board.hear(request(id))
        await operations.answer(id, {"approved": approved}, by="ada")
        await board.plates.hand_over(id, {"approved": approved})
    await board.hear(report("tool_call", details={"toolName": "Bash", "toolInput": LS}))
    assert (await board.interaction("q2")).receipt == "delivered"
    assert (await board.interaction("q1")).response is None, "nothing has shown it yet"
