"""The client against a real server: the same answers as the database gives, the same errors."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.servers import TOKEN, Server, serving

from callboard import Callboard, Client, auto_approve, errors
from callboard.engine.inbox import InteractionPage

FLOWS = """
from callboard import Approval, Choice, Phase, State, Workflow

class Trip(State):
    city: str = ""
    mode: str = ""

def begin(state, given: str):
    state.city = given

trip = Workflow(
    "trip",
    state=Trip,
    start=begin,
    phases=[
        Phase("plan", human=Approval(lambda s: f"Go to {s.city}?"), next="book"),
        Phase(
            "book",
            human=Choice("How?", ["Plane", "Train"], other=True),
            update=None,
            next=lambda s: "end",
        ),
        Phase("end", terminal=True),
    ],
)

async def breaking(state):
    raise ValueError("boom")

broken = Workflow("broken", state=dict, phases=[Phase("only", agent=breaking, terminal=True)])
"""


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    (tmp_path / "flows.py").write_text(FLOWS, encoding="utf-8")
    async with serving(tmp_path / "t.db", tmp_path / "flows.py") as running:
        yield running


@pytest.fixture
async def client(server: Server) -> AsyncIterator[Client]:
    async with Client(server.url, TOKEN) as one:
        yield one


def told(info: Any) -> Any:
    """A session without what only the database knows of it."""
    pending = tuple(replace(one, run=None, assigned_to=None) for one in info.pending)
    return replace(info, source=None, pending=pending)


async def test_a_client_sees_what_the_database_holds(server: Server, client: Client):
    done = await client.run("trip", "Rome", human_input=auto_approve())
    waiting = await client.run("trip", "Oslo")
    assert (done.status, waiting.status) == ("completed", "waiting")
    fork = await client.fork(done.session_id, phase="book", run=False)
    async with Callboard.open(server.db) as board:
        assert await client.sessions() == [told(info) for info in await board.sessions()]
        assert [info.session_id for info in await client.sessions(limit=2)] == [
            fork.session_id,
            waiting.session_id,
        ]
        page = await client.session_page(limit=1)
        assert page.next_cursor is not None
        after = await client.session_page(limit=5, cursor=page.next_cursor)
        assert [info.session_id for info in after.sessions] == [
            waiting.session_id,
            done.session_id,
        ]
        assert await client.sessions(status="failed") == []
        for id in (done.session_id, waiting.session_id, fork.session_id):
            assert await client.session(id) == told(await board.session(id))
            assert await client.events(id) == await board.events(id)
            assert await client.events(id, 2, 3) == await board.events(id, 2, 3)
            assert await client.view(id) == await board.view(id)
            for at in (0, 1, 3):
                assert await client.view(id, at) == await board.view(id, at)
                assert await client.state(id, at) == await board.state(id, at)
            assert await client.diff(id, 0, 3) == await board.diff(id, 0, 3)
        assert [one.id for one in await client.inbox()] == [waiting.pending[0].id]
        assert await client.inbox(done.session_id) == []
        (question,) = await board.inbox()
        known = replace(question, run=None, assigned_to=None)
        assert await client.interaction(question.id) == known


async def test_commands_do_what_they_say_and_say_whether_it_was_new(client: Client):
    session = (await client.run("trip", "Rome")).session_id
    assert await client.pause(session, by="ann", reason="lunch") is True
    assert await client.pause(session) is False
    assert (await client.session(session)).status == "paused"
    assert await client.resume(session, by="ann") is True
    (question,) = await client.inbox(session)
    answered = await client.answer(question.id, "yes", by="ann")
    assert (answered.status, answered.via) == ("completed", "python")
    assert (answered.answered_by, answered.answered_as) == ("admin", "ann")
    stopped = await client.drive(session)
    assert [one.prompt for one in stopped.pending] == ["How?"]
    assert await client.cancel(session, by="ann", reason="enough") is True
    assert await client.cancel(session) is False
    pausing = next(e for e in await client.events(session) if e.name == "workflow:pausing")
    assert (pausing.payload["by"], pausing.payload["as"]) == ("admin", "ann")
    assert pausing.payload["reason"] == "lunch"
    await client.delete(session)
    with pytest.raises(errors.SessionNotFound):
        await client.session(session)


async def test_a_session_is_heard_from_its_beginning_to_its_end(client: Client):
    heard: list[int] = []
    started = await client.start("trip", "Rome", session_id="mine")
    assert started == "mine"

    async def mine(request: Any) -> Any:
        return "Boat" if request.options else True

    class People:
        answer = staticmethod(mine)

    info = await client.drive(
        "mine", human_input=People(), on_event=lambda e: heard.append(e.position)
    )
    assert info.status == "completed"
    assert heard == list(range(1, info.position + 1))
    assert [event.position async for event in client.tail("mine")] == heard
    assert [event.position async for event in client.tail("mine", after=4)] == heard[4:]
    assert [event async for event in client.tail("mine", after=info.position)] == []
    received = [e for e in await client.events("mine") if e.name == "input:received"]
    assert [e.payload["value"] for e in received] == ["yes", "Boat"]
    assert {e.payload["via"] for e in received} == {"handler"}


async def test_people_are_asked_over_http(client: Client):
    asked = await client.people.ask(type="confirmation", prompt="Sure?")
    assert (asked.session_id, asked.status) == (None, "pending")
    claimed = await client.people.claim(asked.id, by="ann")
    assert claimed.claimed_by == "ann"
    with pytest.raises(errors.Claimed):
        await client.people.claim(asked.id, by="bob")
    assert (await client.people.answer(asked.id, "yes")).status == "approved"
    talk = await client.people.ask(
        type="interactive_session",
        prompt="Talk it over",
        config={"outcomeSchema": {"type": "string"}},
    )
    with pytest.raises(errors.ValidationError):
        await client.people.complete(talk.id, "completed", response=7)
    done = await client.people.complete(talk.id, "completed", response="so be it", duration_ms=5)
    assert (done.status, done.response, done.duration_ms) == ("completed", "so be it", 5)
    taken_back = await client.people.ask(type="input", prompt="Name?")
    assert (await client.people.cancel(taken_back.id)).status == "cancelled"
    assert [one.id for one in await client.people.find(status="cancelled")] == [taken_back.id]


async def test_no_more_questions_are_fetched_than_are_wanted(
    client: Client, monkeypatch: pytest.MonkeyPatch
):
    asked = [await client.people.ask(type="input", prompt=f"Name {n}?") for n in range(3)]
    sizes: list[int] = []

    def counted(page: Any) -> InteractionPage:
        found = from_wire(page)
        sizes.append(len(found.interactions))
        return found

    from_wire = InteractionPage.from_wire
    monkeypatch.setattr(InteractionPage, "from_wire", counted)
    assert [one.id for one in await client.people.find(limit=2)] == [one.id for one in asked[:2]]
    assert await client.people.find(limit=0) == []
    assert len(await client.people.find(limit=5000)) == 3
    assert sizes == [2, 3]


async def test_what_a_server_refuses_raises_what_the_database_raises(client: Client):
    session = (await client.run("trip", "Rome")).session_id
    (question,) = await client.inbox()
    with pytest.raises(errors.SessionNotFound) as unknown:
        await client.session("nobody")
    assert unknown.value.context["session_id"] == "nobody"
    with pytest.raises(errors.WorkflowNotFound, match="trip"):
        await client.start("flight")
    with pytest.raises(errors.InteractionNotFound):
        await client.answer("nothing", "yes")
    with pytest.raises(errors.ValidationError):
        await client.answer(question.id, "perhaps")
    with pytest.raises(errors.ValidationError, match="positions 0 to"):
        await client.state(session, 999)
    with pytest.raises(errors.ValidationError, match="positions 0 to"):
        await client.view(session, 999)
    with pytest.raises(errors.ConflictError, match="only a failed one"):
        await client.retry(session)
    with pytest.raises(errors.SessionExists):
        await client.start("trip", "Rome", session_id=session)
    with pytest.raises(errors.ValidationError):
        await client.fork(session, edits=[{"op": "replace", "path": "/nowhere", "value": 1}])
    with pytest.raises(errors.SessionNotFound):
        await anext(aiter(client.tail("nobody")))
    await client.answer(question.id, "yes")
    with pytest.raises(errors.AlreadyAnswered):
        await client.answer(question.id, "no")
    await client.cancel(session)
    with pytest.raises(errors.NotResumable):
        await client.resume(session)


async def test_a_failed_session_is_tried_again_from_its_failed_phase(client: Client):
    failed = await client.run("broken")
    assert failed.status == "failed"
    assert failed.error is not None
    assert failed.error["message"] == "boom"
    again = await client.retry(failed.session_id)
    assert again.original_session_id == failed.session_id
    assert (await client.drive(again.session_id)).status == "failed"


async def test_everything_is_heard_with_its_place_in_the_log(client: Client):
    first = (await client.run("trip", "Rome")).session_id
    second = (await client.run("trip", "Oslo")).session_id
    expected = len(await client.events(first)) + len(await client.events(second))
    heard: list[tuple[int, Any]] = []
    async with asyncio.timeout(90):
        async for placed in client.tail_all(after=0):
            heard.append(placed)
            if len(heard) == expected:
                break
    assert [place for place, _ in heard] == sorted({place for place, _ in heard})
    assert {event.session_id for _, event in heard} == {first, second}
    middle = heard[expected // 2][0]
    async with asyncio.timeout(90):
        place, event = await anext(aiter(client.tail_all(after=middle)))
    assert (place, event) == heard[expected // 2 + 1]


async def test_a_token_is_needed_and_a_wrong_one_is_told(server: Server, monkeypatch: Any):
    monkeypatch.delenv("CALLBOARD_TOKEN", raising=False)
    monkeypatch.setenv("CALLBOARD_DB", str(server.db.with_name("other.db")))
    async with Client(server.url) as nobody:
        with pytest.raises(errors.Unauthenticated, match=r"requires a token\. Set CALLBOARD_TOKEN"):
            await nobody.sessions()
    async with Client(server.url, "cb_wrong") as stranger:
        with pytest.raises(errors.Unauthenticated, match="does not accept this token"):
            await stranger.sessions()
        with pytest.raises(errors.Unauthenticated):
            await anext(aiter(stranger.tail("any")))
    monkeypatch.setenv("CALLBOARD_TOKEN", TOKEN)
    async with Client(server.url) as known:
        assert await known.sessions() == []
