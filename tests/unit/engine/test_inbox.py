"""Questions that no workflow asked: in a session or standing alone, claimed, ended, taken back."""

from typing import Any

import pytest

from callboard import Approval, Callboard, Choice, Context, Phase, State, Workflow, agent
from callboard.errors import (
    AlreadyAnswered,
    AnswerInvalid,
    Claimed,
    ConflictError,
    InteractionClosed,
    InteractionNotFound,
    SessionNotFound,
    ValidationError,
)
from callboard.events.rows import KEYS, Query
from callboard.handlers.auto import auto_approve
from callboard.testing.fake_clock import FakeClock


class Notes(State):
    seen: list[str] = []


asking = Workflow(
    "asking",
    state=Notes,
    phases=[
        Phase("a", human=Approval("Ok?"), next="b"),
        Phase("b", human=Choice("Which?", ["x", "y"]), terminal=True),
    ],
)

SIMPLE: list[tuple[dict[str, Any], Any, str, Any]] = [
    ({"type": "approval"}, "no", "completed", {"value": "no", "approved": False}),
    ({"type": "confirmation"}, True, "approved", {"value": "yes", "approved": True}),
    ({"type": "confirmation"}, "reject", "rejected", {"value": "no", "approved": False}),
    ({"type": "choice", "options": ["x", "y"]}, "y", "completed", {"value": "y"}),
    ({"type": "select", "options": ["x", "y"]}, "x", "completed", {"value": "x"}),
    ({"type": "input"}, "Grüße\x00\n", "completed", {"value": "Grüße\x00\n"}),
]


@pytest.fixture
def workflows() -> list[Workflow]:
    return [asking]


async def all_rows(board: Callboard) -> dict[str, list[dict[str, Any]]]:
    return {table: await board.log.rows(Query(table)) for table in KEYS}


async def names(board: Callboard, stream: str) -> list[str]:
    return [event.name for event in await board.log.read(stream)]


@pytest.mark.parametrize(("question", "value", "status", "response"), SIMPLE)
@pytest.mark.parametrize("where", ["alone", "in a session"])
async def test_every_simple_type_is_asked_and_answered(
    board: Callboard,
    question: dict[str, Any],
    value: Any,
    status: str,
    response: Any,
    where: str,
):
    session = (await board.run(asking)).session_id if where == "in a session" else None
    asked = await board.people.ask(**question, prompt="Well?", session_id=session, by="ann")
    assert (asked.status, asked.session_id, asked.phase) == ("pending", session, None)
    assert asked in await board.inbox()
    done = await board.answer(asked.id, value, by="bob", via="http")
    assert (done.status, done.response) == (status, response)
    assert (done.answered_by, done.via) == ("bob", "http")
    assert done.resolved_at is not None
    with pytest.raises(AlreadyAnswered, match="ask again") as caught:
        await board.answer(asked.id, value)
    words = " ".join(response["value"].split())
    assert f"already been answered: {words}." in caught.value.message
    rows = await all_rows(board)
    await board.rebuild()
    assert await all_rows(board) == rows


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ({"type": "confirmation"}, "perhaps"),
        ({"type": "confirmation"}, None),
        ({"type": "select", "options": ["x"]}, "z"),
        ({"type": "input"}, None),
        ({"type": "input"}, 7),
        ({"type": "interactive_session"}, "yes"),
    ],
)
async def test_an_answer_that_does_not_fit_leaves_the_question_open(
    board: Callboard, question: dict[str, Any], value: Any
):
    asked = await board.people.ask(**question, prompt="Well?")
    with pytest.raises(AnswerInvalid) as caught:
        await board.answer(asked.id, value)
    assert caught.value.field == "value"
    if question["type"] == "interactive_session":
        assert "Complete it" in caught.value.message
    assert await names(board, asked.id) == ["input:requested"]
    assert (await board.interaction(asked.id)).status == "pending"


async def test_text_that_cannot_be_written_is_refused(board: Callboard):
    asked = await board.people.ask(type="input", prompt="Well?")
    with pytest.raises(ValidationError, match="surrogate"):
        await board.answer(asked.id, "\ud800")
    with pytest.raises(ValidationError, match="surrogate"):
        await board.people.ask(type="input", prompt="\ud800")


@pytest.mark.parametrize(
    ("question", "field"),
    [
        ({"type": "approval", "prompt": ""}, "prompt"),
        ({"type": "approval", "prompt": " \n"}, "prompt"),
        ({"type": "approval", "prompt": 5}, "prompt"),
        ({"type": "poll", "prompt": "?"}, "type"),
        ({"type": "permission", "prompt": "?"}, "type"),
        ({"type": "choice", "prompt": "?"}, "options"),
        ({"type": "select", "prompt": "?", "options": []}, "options"),
        ({"type": "select", "prompt": "?", "options": "xyz"}, "options"),
        ({"type": "choice", "prompt": "?", "options": ["x", ""]}, "options"),
        ({"type": "choice", "prompt": "?", "options": ["x", 1]}, "options"),
        ({"type": "choice", "prompt": "?", "options": ["x", "x"]}, "options"),
        ({"type": "approval", "prompt": "?", "options": ["x"]}, "options"),
        ({"type": "interactive_session", "prompt": "?", "options": ["x"]}, "options"),
        ({"type": "input", "prompt": "?", "config": ["x"]}, "config"),
        ({"type": "input", "prompt": "?", "config": {"x": {1}}}, "config"),
    ],
)
async def test_a_question_that_cannot_be_asked_says_which_field_is_wrong(
    board: Callboard, question: dict[str, Any], field: str
):
    with pytest.raises(ValidationError) as caught:
        await board.people.ask(**question)
    assert caught.value.field == field
    assert await board.people.find() == []


async def test_a_question_that_stands_alone_is_no_session(board: Callboard):
    asked = await board.people.ask(type="input", prompt="Name?")
    assert await board.sessions() == []
    for look in (board.session, board.view, board.events, board.drive, board.cancel, board.pause):
        with pytest.raises(SessionNotFound):
            await look(asked.id)
    with pytest.raises(SessionNotFound):
        await board.view(asked.id, 0)
    with pytest.raises(SessionNotFound):
        await board.fork(asked.id)
    with pytest.raises(ConflictError):
        await board.run(asking, session_id=asked.id)
    assert await board.log.unsettled() == []
    await board.people.claim(asked.id, by="ann")
    await board.answer(asked.id, "Bo")
    assert await names(board, asked.id) == ["input:requested", "input:claimed", "input:received"]
    assert await board.log.unsettled() == []
    assert await board.recover() == []
    assert board.log.owner not in str(await board.log.lease(asked.id))


async def test_a_question_in_a_session_makes_it_wait_and_moves_nothing(board: Callboard):
    session = await board.operations.start(asking)
    assert (await board.session(session)).status == "pending"
    asked = await board.people.ask(type="input", prompt="Aside?", session_id=session)
    assert (await board.session(session)).status == "waiting"
    assert [one.id for one in (await board.session(session)).pending] == [asked.id]
    assert (await board.drive(session)).status == "waiting"
    before = await board.view(session)
    await board.answer(asked.id, "so")
    after = (await board.drive(session), await board.view(session))
    assert after[0].status == "waiting"
    assert after[1].visit == before.visit
    assert after[1].state == before.state
    assert [one.prompt for one in await board.inbox(session)] == ["Ok?"]


async def test_asking_claiming_and_answering_aside_leave_a_settled_session_settled(
    board: Callboard,
):
    session = (await board.run(asking)).session_id
    assert await board.log.unsettled() == []
    asked = await board.people.ask(type="input", prompt="Aside?", session_id=session)
    await board.people.claim(asked.id, by="ann")
    await board.people.release(asked.id, by="ann")
    [inline] = [one for one in await board.inbox(session) if one.id != asked.id]
    await board.people.claim(inline.id, by="ann")
    await board.answer(asked.id, "so")
    assert await board.log.unsettled() == []
    await board.answer(inline.id, "yes")
    assert await board.log.unsettled() == [session]
    # What was left to do is not forgotten because something else happened after it.
    other = await board.people.ask(type="input", prompt="Aside?", session_id=session)
    await board.people.claim(other.id, by="ann")
    assert await board.log.unsettled() == [session]
    assert [info.phase for info in await board.recover()] == ["b"]


@pytest.mark.parametrize("end", ["completed", "cancelled"])
async def test_what_is_still_asked_when_the_session_ends_is_cancelled(board: Callboard, end: str):
    session = (await board.run(asking)).session_id
    asked = await board.people.ask(type="input", prompt="?", session_id=session)
    if end == "cancelled":
        await board.cancel(session)
    else:
        for value in ("yes", "x"):
            [question] = [one for one in await board.inbox(session) if one.phase]
            await board.answer(question.id, value)
            await board.drive(session)
    assert (await board.session(session)).status == end
    assert (await board.interaction(asked.id)).status == "cancelled"
    for attempt in (
        board.people.claim(asked.id, by="ann"),
        board.people.complete(asked.id, "completed"),
        board.people.cancel(asked.id),
    ):
        with pytest.raises(InteractionClosed, match="cancelled"):
            await attempt
    with pytest.raises(ConflictError, match="has ended"):
        await board.people.ask(type="input", prompt="Late?", session_id=session)
    assert (await names(board, session))[-1] == f"workflow:{end}"


async def test_unknown_ids_are_told(board: Callboard):
    with pytest.raises(SessionNotFound):
        await board.people.ask(type="input", prompt="?", session_id="nowhere")
    alone = await board.people.ask(type="input", prompt="?")
    with pytest.raises(SessionNotFound):
        await board.people.ask(type="input", prompt="?", session_id=alone.id)
    for attempt in (
        board.people.get("nothing"),
        board.people.claim("nothing", by="ann"),
        board.people.release("nothing", by="ann"),
        board.people.complete("nothing", "completed"),
        board.people.cancel("nothing"),
        board.answer("nothing", "yes"),
    ):
        with pytest.raises(InteractionNotFound):
            await attempt


async def test_a_handler_of_this_process_is_not_asked_what_it_does_not_know(board: Callboard):
    session = await board.operations.start(asking)
    aside = {"blockOrchestration": False}
    asked = await board.people.ask(
        type="interactive_session", prompt="?", session_id=session, config=aside
    )
    named = await board.people.ask(type="confirmation", prompt="?", session_id=session)
    info = await board.drive(session, human_input=auto_approve())
    assert info.status == "completed"
    assert (await board.interaction(asked.id)).status == "pending"
    assert (await board.interaction(named.id)).status == "cancelled"


async def test_finding_by_status_session_and_type(board: Callboard, clock: FakeClock):
    session = (await board.run(asking)).session_id
    [inline] = await board.inbox()
    clock.skip(1)
    alone = await board.people.ask(type="input", prompt="First?")
    clock.skip(1)
    aside = await board.people.ask(type="input", prompt="Second?", session_id=session)
    await board.answer(alone.id, "so")

    async def found(**by: Any) -> list[str]:
        return [one.id for one in await board.people.find(**by)]

    assert await found() == [inline.id, alone.id, aside.id]
    assert await found(limit=2) == [inline.id, alone.id]
    assert await found(limit=0) == []
    assert await found(status="pending") == [inline.id, aside.id]
    assert await found(status="completed") == [alone.id]
    assert await found(session_id=session) == [inline.id, aside.id]
    assert await found(type="input") == [alone.id, aside.id]
    assert await found(type="input", status="pending", session_id=session) == [aside.id]
    assert await found(session_id="nowhere") == []
    with pytest.raises(ValidationError):
        await found(limit=-1)


async def test_a_claim_holds_others_off_until_it_runs_out(board: Callboard, clock: FakeClock):
    people = board.people
    asked = await people.ask(type="approval", prompt="?")
    claimed = await people.claim(asked.id, by="ann", ttl_ms=10_000)
    assert claimed.claimed_by == "ann"
    assert claimed.claimed_until is not None
    assert (claimed.claimed_until - asked.created_at).total_seconds() == 10
    with pytest.raises(Claimed, match="ann") as caught:
        await people.claim(asked.id, by="bob")
    assert (caught.value.code, caught.value.claimed_by) == ("CLAIMED", "ann")
    assert isinstance(caught.value, ConflictError)
    with pytest.raises(Claimed):
        await people.release(asked.id, by="bob")
    clock.skip(9)
    renewed = await people.claim(asked.id, by="ann", ttl_ms=10_000)
    clock.skip(9.999)
    assert (await people.get(asked.id)).claimed_by == "ann"
    assert renewed.claimed_until == (await people.get(asked.id)).claimed_until
    clock.skip(0.001)
    wire = (await people.get(asked.id)).to_wire()
    assert (wire["claimedBy"], wire["claimedUntil"]) == (None, None)
    assert [one.claimed_by for one in await people.find()] == [None]
    assert (await people.claim(asked.id, by="bob")).claimed_by == "bob"


async def test_a_claim_is_given_back_or_ends_with_the_question(board: Callboard):
    people = board.people
    asked = await people.ask(type="approval", prompt="?")
    assert (await people.release(asked.id, by="ann")).claimed_by is None
    await people.claim(asked.id, by="ann")
    assert (await people.release(asked.id, by="ann")).claimed_by is None
    await people.claim(asked.id, by="bob")
    # A claim binds nobody: the first answer counts, whoever gives it.
    done = await board.answer(asked.id, "yes", by="cay")
    assert (done.claimed_by, done.claimed_until, done.answered_by) == (None, None, "cay")
    assert (await names(board, asked.id)).count("input:released") == 1
    for attempt in (people.claim(asked.id, by="ann"), people.release(asked.id, by="ann")):
        with pytest.raises(AlreadyAnswered):
            await attempt


@pytest.mark.parametrize(
    ("by", "ttl_ms", "field"),
    [("", 1000, "by"), ("  ", 1000, "by"), ("ann", 0, "ttlMs"), ("ann", 10**12, "ttlMs")],
)
async def test_a_claim_needs_a_name_and_a_sensible_time(
    board: Callboard, by: str, ttl_ms: int, field: str
):
    asked = await board.people.ask(type="approval", prompt="?")
    with pytest.raises(ValidationError) as caught:
        await board.people.claim(asked.id, by=by, ttl_ms=ttl_ms)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("outcome", "status", "event"),
    [
        ("completed", "completed", "input:received"),
        ("cancelled", "cancelled", "input:cancelled"),
        ("timeout", "timeout", "input:expired"),
        ("failed", "failed", "input:failed"),
    ],
)
@pytest.mark.parametrize("where", ["alone", "in a session"])
async def test_an_interactive_session_ends_with_its_outcome(
    board: Callboard, outcome: str, status: str, event: str, where: str
):
    session = (await board.run(asking)).session_id if where == "in a session" else None
    response = {"notes": ["fine"]} if outcome == "completed" else None
    asked = await board.people.ask(
        type="interactive_session",
        prompt="Look at it",
        config={"captureTranscript": True, "model": "sonnet"},
        session_id=session,
    )
    done = await board.people.complete(
        asked.id,
        outcome,
        response=response,
        transcript="all of it",
        duration_ms=1200,
        error="broken" if outcome == "failed" else None,
        by="ann",
        via="harness",
    )
    assert (done.status, done.response) == (status, response)
    assert (done.transcript, done.duration_ms) == ("all of it", 1200)
    assert done.error == ("broken" if outcome == "failed" else None)
    assert (done.answered_by, done.via) == ("ann", "harness")
    last = await names(board, session or asked.id)
    assert last[-2:] == [event, "task:completed"] if session else last[-1:] == [event]
    with pytest.raises(AlreadyAnswered if outcome == "completed" else InteractionClosed):
        await board.people.complete(asked.id, "completed")
    if session:
        info = await board.drive(session)
        assert (info.status, info.phase, len(info.pending)) == ("waiting", "a", 1)
    rows = await all_rows(board)
    await board.rebuild()
    assert await all_rows(board) == rows


async def test_a_transcript_is_dropped_unless_it_was_asked_for(board: Callboard):
    for config in (None, {}, {"captureTranscript": False}):
        asked = await board.people.ask(type="interactive_session", prompt="?", config=config)
        done = await board.people.complete(asked.id, "completed", transcript="secret")
        assert done.transcript is None
        assert "secret" not in str(await board.log.read(asked.id))


async def test_simple_questions_are_completed_as_if_answered(board: Callboard):
    async def asked(**question: Any) -> str:
        return (await board.people.ask(prompt="?", **question)).id

    complete = board.people.complete
    done = await complete(await asked(type="approval"), "completed", response="yes", by="ann")
    assert (done.status, done.response) == ("completed", {"value": "yes", "approved": True})
    assert done.answered_by == "ann"
    done = await complete(await asked(type="approval"), "rejected")
    assert (done.status, done.response) == ("completed", {"value": "no", "approved": False})
    done = await complete(await asked(type="confirmation"), "approved")
    assert done.status == "approved"
    done = await complete(
        await asked(type="confirmation"), "completed", response={"approved": False}
    )
    assert done.status == "rejected"
    done = await complete(await asked(type="choice", options=["x"]), "completed", response="x")
    assert done.response == {"value": "x"}
    done = await complete(await asked(type="input"), "cancelled", by="ann")
    assert (done.status, done.answered_by) == ("cancelled", "ann")
    for question, outcome, response, field in (
        ({"type": "approval"}, "timeout", None, "outcome"),
        ({"type": "approval"}, "failed", None, "outcome"),
        ({"type": "input"}, "approved", None, "outcome"),
        ({"type": "approval"}, "approved", "no", "value"),
        ({"type": "approval"}, "completed", None, "value"),
        ({"type": "approval"}, "finished", None, "outcome"),
    ):
        open_one = await asked(**question)
        with pytest.raises(ValidationError) as caught:
            await complete(open_one, outcome, response=response)
        assert caught.value.field == field
        assert (await board.interaction(open_one)).status == "pending"


async def test_only_a_question_that_no_workflow_waits_for_can_be_taken_back(board: Callboard):
    session = (await board.run(asking)).session_id
    [inline] = await board.inbox()
    for attempt in (
        board.people.cancel(inline.id),
        board.people.complete(inline.id, "cancelled"),
    ):
        with pytest.raises(ConflictError, match=f"callboard cancel {session}"):
            await attempt
    assert (await board.interaction(inline.id)).status == "pending"
    aside = await board.people.ask(type="input", prompt="?", session_id=session)
    done = await board.people.cancel(aside.id, by="ann", via="http")
    assert (done.status, done.response, done.answered_by) == ("cancelled", None, "ann")
    with pytest.raises(InteractionClosed):
        await board.answer(aside.id, "x")
    answered = await board.people.ask(type="input", prompt="?")
    await board.answer(answered.id, "x")
    with pytest.raises(AlreadyAnswered):
        await board.people.cancel(answered.id)
    await board.answer(inline.id, "yes")
    assert (await board.drive(session)).phase == "b"


async def test_a_question_of_an_agent_cannot_be_taken_back_but_be_answered():
    @agent(name="asker")
    async def ask(state: Notes, ctx: Context) -> str:
        return "yes" if await ctx.ask("Inside?") else "no"

    flow = Workflow("inside", state=Notes, phases=[Phase("p", agent=ask, terminal=True)])
    async with Callboard.open(None, [flow], clock=FakeClock(autojump=True)) as board:
        session = (await board.run(flow)).session_id
        [inside] = await board.inbox(session)
        with pytest.raises(ConflictError, match="Answer it"):
            await board.people.cancel(inside.id)
        # A question beside it wakes nobody who waits for another.
        aside = await board.people.ask(type="approval", prompt="?", session_id=session)
        await board.answer(aside.id, "yes")
        assert (await board.drive(session)).status == "waiting"
        assert (await names(board, session)).count("agent:started") == 1
        await board.people.complete(inside.id, "approved")
        assert (await board.drive(session)).status == "completed"


class Reads:
    """A log that keeps what it is asked for."""

    def __init__(self, board: Callboard, monkeypatch: pytest.MonkeyPatch) -> None:
        self.tables: list[str] = []
        rows = board.log.rows

        async def counted(query: Query) -> list[dict[str, Any]]:
            self.tables.append(query.table)
            return await rows(query)

        monkeypatch.setattr(board.log, "rows", counted)


@pytest.mark.parametrize("how", ["answer", "complete", "claim", "cancel"])
async def test_a_question_is_read_once_for_what_is_done_with_it(
    board: Callboard, how: str, monkeypatch: pytest.MonkeyPatch
):
    asked = await board.people.ask(type="approval", prompt="Ok?")
    reads = Reads(board, monkeypatch)
    done = await {
        "answer": lambda: board.answer(asked.id, "yes", by="ada"),
        "complete": lambda: board.people.complete(asked.id, "approved", by="ada"),
        "claim": lambda: board.people.claim(asked.id, by="ada"),
        "cancel": lambda: board.people.cancel(asked.id, by="ada"),
    }[how]()
    assert reads.tables.count("human_interactions") == 1
    assert done == await board.people.get(asked.id)


async def test_the_answer_to_an_interactive_session_is_read_once_and_told_whole(
    board: Callboard, monkeypatch: pytest.MonkeyPatch
):
    config = {"context": {"a": 1}, "captureTranscript": True}
    asked = await board.people.ask(type="interactive_session", prompt="Ok?", config=config)
    reads = Reads(board, monkeypatch)
    done = await board.people.complete(
        asked.id, "completed", response={"b": [2]}, transcript="said", duration_ms=3, by="ada"
    )
    assert reads.tables.count("human_interactions") == 1
    assert done == await board.people.get(asked.id)
