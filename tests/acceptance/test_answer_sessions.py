"""`callboard answer` ends interactive sessions without an agent, also those of ended workflows."""

import asyncio
from typing import Any

import pytest
from tests.acceptance.cli_process import CallboardCommand
from tests.acceptance.test_cli_maintenance import age

from callboard import Approval, Callboard, Interactive, Phase, State, Workflow
from callboard.interactions.records import Interaction

SCHEMA = {"type": "structured", "json_schema": {"type": "object", "required": ["approved"]}}


def asked(callboard: CallboardCommand, **options: Any) -> str:
    """An interactive session that a workflow's phase asks for."""

    async def ask() -> str:
        question = Interactive("Review it", **options)
        flow = Workflow("review", state=State, phases=[Phase("a", human=question, terminal=True)])
        async with Callboard.open(callboard.folder / "t.db", [flow]) as board:
            session = (await board.run(flow)).session_id
            if options.get("block_orchestration") is False:
                await board.cancel(session)
            [found] = await board.inbox(session)
            return found.id

    return asyncio.run(ask())


def found(callboard: CallboardCommand, id: str) -> Interaction:
    async def look() -> Interaction:
        async with Callboard.open(callboard.folder / "t.db") as board:
            return await board.interaction(id)

    return asyncio.run(look())


@pytest.mark.parametrize(
    ("options", "response", "recorded"),
    [
        ({}, "It looks fine.", "It looks fine."),
        ({}, '{"rows": [1, 2]}', {"rows": [1, 2]}),
        ({"outcome_schema": SCHEMA}, '{"approved": true}', {"approved": True}),
        ({"outcome_schema": {"type": "approval"}}, "approved", "approved"),
        ({"outcome_schema": {"type": "approval"}}, '"approved"', "approved"),
        ({"outcome_schema": {"type": "freeform"}}, "42", "42"),
        ({"outcome_schema": {"type": "freeform"}}, '"It is fine"', "It is fine"),
        ({"block_orchestration": False}, "later", "later"),
    ],
)
def test_a_session_is_completed_with_what_was_decided(
    callboard: CallboardCommand, options: Any, response: str, recorded: object
):
    id = asked(callboard, **options)
    done = callboard.here("answer", id, "--outcome", "completed", "--response", response)
    assert done.out.startswith("✓ answered: ")
    end = found(callboard, id)
    assert (end.status, end.response) == ("completed", recorded)
    assert (end.answered_by, end.via) == ("ann", "cli")


@pytest.mark.parametrize("outcome", ["cancelled", "timeout", "failed"])
def test_it_may_end_without_a_decision(callboard: CallboardCommand, outcome: str):
    id = asked(callboard)
    told = callboard.here(
        "answer", id, "--outcome", outcome, "--message", "No time today", "--json"
    )
    assert told.json[0]["error"] == "No time today"
    end = found(callboard, id)
    assert (end.status, end.response, end.error) == (outcome, None, "No time today")


def test_why_names_a_session_that_outlives_its_workflow(callboard: CallboardCommand):
    async def ask() -> str:
        phases = [Phase("a", human=Approval("Go on?"), terminal=True)]
        flow = Workflow("review", state=State, phases=phases)
        async with Callboard.open(callboard.folder / "t.db", [flow]) as board:
            session = (await board.run(flow)).session_id
            [waiting] = await board.inbox(session)
            await board.people.ask(
                type="interactive_session",
                prompt="Review it",
                config={"blockOrchestration": False},
                session_id=session,
            )
            await board.answer(waiting.id, "yes")
            assert (await board.drive(session)).status == "completed"
            return session

    session = asyncio.run(ask())
    told = callboard.here("why", session).out
    assert "1 interactive session is still open." in told
    assert "--outcome completed --response DECISION" in told


def test_what_makes_no_sense_is_refused(callboard: CallboardCommand):
    id = asked(callboard, outcome_schema=SCHEMA)
    both = callboard.here("answer", id, "yes", "--outcome", "completed", code=2)
    assert "not both" in both.err
    assert "takes --outcome" in callboard.here("answer", id, code=2).err
    words = ("--outcome", "completed", "--response", "fine")
    assert "response" in callboard.here("answer", id, *words, code=2).err
    assert (
        "has no response"
        in callboard.here("answer", id, "--outcome", "failed", "--response", "{}", code=2).err
    )
    assert found(callboard, id).status == "pending"
    callboard.here("run", "flows.py:trip", "--input", "Rome", code=3)
    [trip] = [one for one in callboard.here("inbox", "--json").json if one["type"] == "approval"]
    refused = callboard.here("answer", trip["id"], "--outcome", "completed", code=2)
    assert "--outcome is for interactive sessions" in refused.err


def test_a_session_is_kept_for_what_it_left_open(callboard: CallboardCommand):
    id = asked(callboard, block_orchestration=False)
    session = found(callboard, id).session_id
    assert session is not None
    age(callboard, session, 99)
    prune = ("prune", "--older-than", "30d", "--dry-run", "--json")
    assert callboard.here(*prune).json == []
    callboard.here("answer", id, "--response", "fine")
    assert [one["sessionId"] for one in callboard.here(*prune).json] == [session]
