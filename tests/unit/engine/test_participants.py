"""Several people who all have to decide: each for themselves, all recorded."""

from typing import Any

import pytest

from callboard import Callboard, Interactive, Phase, State, Workflow
from callboard.errors import AlreadyAnswered, InteractionClosed, ValidationError
from callboard.events.rows import KEYS, Query
from callboard.interactions.results import result_of

BOTH = ["alice", "bob"]


async def ask(board: Callboard, session: str | None = None, **config: Any) -> str:
    asked = await board.people.ask(
        type="interactive_session",
        prompt="Team review",
        session_id=session,
        config={"requiredParticipants": BOTH, **config},
    )
    return asked.id


@pytest.mark.parametrize(
    ("first", "second", "approved"),
    [("approved", "approved", True), ("rejected", "approved", False), ("rejected",) * 2 + (False,)],
)
async def test_the_question_is_closed_when_all_have_decided(
    first: str, second: str, approved: bool
):
    async with Callboard.open() as board:
        id = await ask(board, outcomeSchema={"type": "approval"}, captureTranscript=True)
        await board.people.claim(id, by="alice")
        told: dict[str, Any] = {"duration_ms": 1000, "via": "harness"}
        half = await board.people.complete(
            id, "completed", response=first, by="alice", transcript="hm", **told
        )
        assert (half.status, half.response) == ("pending", {"alice": first})
        assert (half.claimed_by, half.resolved_at) == (None, None)
        assert [one.id for one in await board.inbox()] == [id]
        done = await board.people.complete(id, second, by="bob", transcript="yes", **told)
        assert (done.status, done.response) == ("completed", {"alice": first, "bob": second})
        assert (done.duration_ms, done.transcript) == (2000, "hm\n\nyes")
        assert result_of(done).approved is approved
        events = await board.log.read(id)
        assert [event.payload.get("by") for event in events[2:]] == ["alice", "bob"]
        assert [event.payload["value"] for event in events[2:]] == [first, done.response]
        assert events[-1].payload["approved"] is approved
        before = {table: await board.log.rows(Query(table)) for table in KEYS}
        await board.rebuild()
        assert {table: await board.log.rows(Query(table)) for table in KEYS} == before


@pytest.mark.parametrize("by", [None, "", "carol", "Alice"])
async def test_only_they_can_decide(by: str | None):
    async with Callboard.open() as board:
        id = await ask(board)
        with pytest.raises(ValidationError, match="alice, bob") as caught:
            await board.people.complete(id, "completed", response="x", by=by)
        assert caught.value.field == "by"
        assert (await board.interaction(id)).response is None


async def test_each_decides_once_and_what_fits():
    async with Callboard.open() as board:
        id = await ask(board, outcomeSchema={"type": "selection", "options": ["x", "y"]})
        await board.people.complete(id, "completed", response="x", by="alice")
        with pytest.raises(AlreadyAnswered, match=r"alice has already decided .* waiting for bob"):
            await board.people.complete(id, "completed", response="y", by="alice")
        with pytest.raises(ValidationError, match="does not fit"):
            await board.people.complete(id, "completed", response="z", by="bob")
        done = await board.people.complete(id, "completed", response="y", by="bob")
        assert done.response == {"alice": "x", "bob": "y"}
        assert result_of(done).approved is None
        with pytest.raises(AlreadyAnswered):
            await board.people.complete(id, "completed", response="y", by="bob")


@pytest.mark.parametrize("outcome", ["cancelled", "timeout", "failed"])
async def test_who_leaves_without_a_decision_ends_it_for_all(outcome: str):
    async with Callboard.open() as board:
        id = await ask(board)
        await board.people.complete(id, "approved", by="alice")
        done = await board.people.complete(id, outcome, by="bob")
        assert (done.status, done.response) == (outcome, {"alice": "approved"})
        assert result_of(done).approved is None
        with pytest.raises(InteractionClosed):
            await board.people.complete(id, "approved", by="bob")


async def test_a_phase_waits_for_all_of_them():
    workflow = Workflow(
        "team",
        state=State,
        phases=[
            Phase(
                "review",
                human=Interactive(
                    "Team review",
                    required_participants=BOTH,
                    outcome_schema={"type": "approval"},
                ),
                next=lambda s: "ship" if s.approved else "drop",
                to=["ship", "drop"],
            ),
            Phase("ship", terminal=True),
            Phase("drop", terminal=True),
        ],
    )
    async with Callboard.open(None, [workflow]) as board:
        session = (await board.run(workflow)).session_id
        [asked] = await board.inbox(session)
        await board.people.complete(asked.id, "approved", by="bob")
        assert await board.log.unsettled() == []
        assert (await board.drive(session)).status == "waiting"
        await board.people.complete(asked.id, "approved", by="alice")
        assert (await board.drive(session)).phase == "ship"
        view = await board.view(session)
        assert view.status == "completed"
