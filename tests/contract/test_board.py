"""One suite for every board: `Callboard` in this process, `Client` over a real server.

Each test gets a board on its own terms: sessions are told apart by ids of the test's own.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from datetime import timedelta
from functools import partial
from getpass import getuser
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from tests.servers import TOKEN, served

from callboard import Callboard, Client, Phase, Workflow, auto_approve
from callboard.board.hook_backlog import NO_BACKLOG
from callboard.board.protocol import Board
from callboard.board.usage_reports import UsageGroup
from callboard.errors import (
    AlreadyAnswered,
    Claimed,
    ConflictError,
    InteractionClosed,
    InteractionNotFound,
    NotFound,
    NotResumable,
    PlateNotFound,
    SessionExists,
    SessionNotFound,
    ValidationError,
    WorkflowNotFound,
)
from callboard.events.envelope import Event
from callboard.events.json_values import as_object
from callboard.events.limits import AgentSlot
from callboard.events.moments import to_ms
from callboard.events.names import REQUESTED
from callboard.ids import short_id
from callboard.interactions.records import Interaction

FLOWS = """
import asyncio

from callboard import Approval, Interactive, Phase, State, Workflow


class Count(State):
    rounds: int = 0


async def count(state: Count) -> None:
    return None


async def stay(state: Count) -> None:
    await asyncio.Event().wait()


async def break_down(state: Count) -> None:
    raise RuntimeError("No ink.")


def add(state: Count, output: object) -> None:
    state.rounds += 1


review = Interactive("Review it.", outcome_schema={"type": "freeform"})
flow = Workflow(
    "flow",
    state=Count,
    phases=[
        Phase("count", agent=count, update=add, next="ask"),
        Phase("ask", human=Approval("On?"), terminal=True),
    ],
)
reviewed = Workflow("reviewed", state=Count, phases=[Phase("a", human=review, terminal=True)])
counting = Phase("count", agent=count, update=add, terminal=True, limit="counting")
limited = Workflow("limited", state=Count, phases=[counting])
broken = Workflow("broken", state=Count, phases=[Phase("a", agent=break_down, terminal=True)])
endless = Workflow("endless", state=Count, phases=[Phase("a", agent=stay, terminal=True)])
"""


if TYPE_CHECKING:
    # A type checker proves that both have every method, with these parameters and results.
    _in_process: Board = Callboard.open()
    _over_http: Board = Client()


def load_flows() -> list[Workflow]:
    """The workflows as this process has them."""
    found: dict[str, Any] = {"__name__": "flows"}
    exec(FLOWS, found)  # The very text that the server loads.
    return [one for one in found.values() if isinstance(one, Workflow)]


@pytest.fixture(scope="module")
def server_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("server")


@pytest.fixture(scope="module")
def server(server_folder: Path) -> Iterator[str]:
    with served(server_folder, FLOWS) as url:
        yield url


@pytest.fixture(params=["in process", "over HTTP"])
async def board(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Board]:
    if request.param == "over HTTP":
        async with Client(request.getfixturevalue("server"), TOKEN) as client:
            yield client
        return
    async with Callboard.open(tmp_path / "board.db", load_flows()) as opened:
        yield opened


async def begin(board: Board, workflow: str = "flow") -> str:
    """A session that has stopped: at its question, or because it failed."""
    session = await board.start(workflow)
    await board.drive(session)
    return session


async def question_of(board: Board, session: str) -> Interaction:
    [asked] = await board.inbox(session)
    return asked


def plain(state: Any) -> Any:
    """A state as JSON holds it, whatever type a board gives it."""
    return state if isinstance(state, dict) else {"rounds": state.rounds}


def names(events: list[Event]) -> list[str]:
    return [event.name for event in events]


class TestSessions:
    async def test_start_drive_and_read(self, board: Board):
        chosen = short_id()
        assert await board.start("flow", session_id=chosen) == chosen

        info = await board.drive(chosen)

        assert (info.session_id, info.workflow) == (chosen, "flow")
        assert (info.status, info.phase, info.pending_count) == ("waiting", "ask", 1)
        assert [one.prompt for one in info.pending] == ["On?"]
        again = await board.session(chosen)
        assert (again.status, again.position) == (info.status, info.position)

    async def test_start_refuses(self, board: Board):
        session = await begin(board)
        with pytest.raises(SessionExists):
            await board.start("flow", session_id=session)
        with pytest.raises(WorkflowNotFound):
            await board.start("nothing")
        with pytest.raises(ValidationError):
            await board.start()  # There are several.

    async def test_run_asks_here(self, board: Board):
        heard: list[str] = []
        run = board.run(
            "flow", human_input=auto_approve(), on_event=lambda event: heard.append(event.name)
        )

        done = await run

        assert (done.session_id, done.status, done.error) == (run.session_id, "completed", None)
        assert (heard[0], heard[-1]) == ("workflow:started", "workflow:completed")

    async def test_run_tells_why_it_failed(self, board: Board):
        done = await board.run("broken")

        assert done.status == "failed"
        assert "No ink." in (done.error or {})["message"]

    async def test_lists_and_pages(self, board: Board):
        session = await begin(board)
        forked = await board.fork(session, run=False)

        listed = await board.sessions(workflow="flow")
        assert [one.session_id for one in listed[:2]] == [forked.session_id, session]
        assert len(await board.sessions(limit=1)) == 1
        page = await board.session_page(parent=session)
        assert [one.session_id for one in page.sessions] == [forked.session_id]
        assert page.next_cursor is None
        first = await board.session_page(workflow="flow", limit=1)
        then = await board.session_page(workflow="flow", limit=1, cursor=first.next_cursor)
        shown = [*first.sessions, *then.sessions]
        assert [one.session_id for one in shown] == [forked.session_id, session]
        found = await board.session_page(q=session)
        assert [one.session_id for one in found.sessions] == [session]

    async def test_events(self, board: Board):
        session = await begin(board)

        events = await board.events(session)

        assert names(events)[0] == "workflow:started"
        assert [event.position for event in events] == [*range(1, len(events) + 1)]
        assert await board.events(session, after=2) == events[2:]
        assert await board.events(session, after=1, limit=1) == [events[1]]

    async def test_tail_ends_with_the_session(self, board: Board):
        session = await begin(board)
        seen: list[Event] = []

        async with asyncio.timeout(90):
            async for event in board.tail(session):
                seen.append(event)
                if asked := REQUESTED.of(event):
                    await board.answer(asked["id"], True)
                    await board.drive(session)

        assert seen == await board.events(session)
        assert as_object(seen[-1].payload["finalState"])["rounds"] == 1

    async def test_tail_of_a_fork_goes_beyond_its_parents_end(self, board: Board):
        session = (await board.run("flow", human_input=auto_approve())).session_id
        forked = await board.fork(session, run=False)
        await board.cancel(forked.session_id)

        async with asyncio.timeout(90):
            seen = [event.name async for event in board.tail(forked.session_id)]

        assert (seen[-1], seen.count("workflow:completed")) == ("workflow:cancelled", 1)
        assert seen == names(await board.events(forked.session_id))

    async def test_tail_all_tells_what_is_new(self, board: Board):
        connected = asyncio.Event()
        session = short_id()

        async def listen() -> tuple[int, Event]:
            tail = cast("Any", board.tail_all(on_connect=connected.set))
            async with aclosing(tail) as placed:
                async for place, event in placed:
                    if event.session_id == session:
                        return place, event
            raise AssertionError("it ended")

        listening = asyncio.create_task(listen())
        async with asyncio.timeout(90):
            await connected.wait()
            await board.start("flow", session_id=session)
            place, event = await listening
            assert event.name == "workflow:started"
            tail = cast("Any", board.tail_all(place - 1))
            async with aclosing(tail) as placed:
                assert await anext(placed) == (place, event)

    async def test_views_states_and_differences(self, board: Board):
        session = await begin(board)
        head = (await board.session(session)).position

        view = await board.view(session)
        assert (view.session_id, view.workflow, view.position) == (session, "flow", head)
        assert (await board.view(session, 1)).position == 1
        assert (await board.view(session, 0)).workflow == "flow"
        assert plain(await board.state(session))["rounds"] == 1
        assert plain(await board.state(session, 1))["rounds"] == 0
        changes = await board.diff(session, 1, head)
        assert [(one["op"], one["path"], one["value"]) for one in changes] == [
            ("replace", "/rounds", 1)
        ]
        for look in (board.view, board.state):
            with pytest.raises(ValidationError):
                await look(session, head + 1)

    async def test_a_lease(self, board: Board):
        session = await begin(board)
        await board.pause(session)

        lease = await board.lease(session)

        assert (lease.owner is not None and lease.alive) == (await board.session(session)).running

    async def test_pause_and_resume(self, board: Board):
        session = await begin(board)

        assert await board.pause(session, by="ann", reason="Lunch.")
        assert not await board.pause(session)
        assert (await board.session(session)).status == "paused"
        assert await board.resume(session, by="ann")
        assert not await board.resume(session)
        assert (await board.session(session)).status == "waiting"

    async def test_cancel(self, board: Board):
        session = await begin(board)
        asked = await question_of(board, session)

        assert await board.cancel(session, by="ann", reason="Too late.")
        assert not await board.cancel(session)
        assert (await board.session(session)).status == "cancelled"
        with pytest.raises(NotResumable):
            await board.resume(session)
        with pytest.raises(InteractionClosed):
            await board.answer(asked.id, True)

    async def test_titles(self, board: Board):
        session, chosen = await board.start("flow", title="First draft"), short_id()
        assert (await board.session(session)).title == "First draft"
        run = await board.run("flow", human_input=auto_approve(), session_id=chosen, title=chosen)

        renamed = await board.rename(run.session_id, f"Done {chosen}", by="ann")

        assert (renamed.title, renamed.status) == (f"Done {chosen}", "completed")
        found = await board.session_page(q=f"done {chosen}")
        assert [one.session_id for one in found.sessions] == [chosen]
        forked = await board.fork(chosen, run=False)
        assert (await board.session(forked.session_id)).title == f"Done {chosen}"
        assert (await board.rename(chosen, None)).title is None
        assert (await board.rename(chosen, " ")).title is None
        for refused in (board.rename(chosen, "x" * 201), board.start("flow", title="x" * 201)):
            with pytest.raises(ValidationError, match="title"):
                await refused
        with pytest.raises(SessionNotFound):
            await board.rename("nothing", "Lost")

    async def test_export(self, board: Board):
        session = (await board.run("flow", human_input=auto_approve(), title="Two")).session_id

        pieces = [piece async for piece in board.export(session)]

        told = json.loads(b"".join(pieces))
        assert told["session"]["title"] == "Two"
        assert [one["name"] for one in told["events"]] == names(await board.events(session))
        assert told["state"]["rounds"] == 1
        report = b"".join([piece async for piece in board.export(session, format="markdown")])
        assert report.decode().startswith("# Two\n")
        for refused, error in (
            (board.export("nothing"), SessionNotFound),
            (board.export(session, format="yaml"), ValidationError),
        ):
            with pytest.raises(error):
                await anext(refused)

    async def test_fork(self, board: Board):
        session, chosen = await begin(board), short_id()

        edits = [{"op": "replace", "path": "/rounds", "value": 7}]
        forked = await board.fork(
            session, phase="ask", edits=edits, run=False, session=chosen, by="ann"
        )

        assert (forked.session_id, forked.original_session_id) == (chosen, session)
        assert forked.position == forked.events_copied + 1
        info = await board.session(chosen)
        assert (info.parent, info.fork_position) == (session, forked.events_copied)
        assert plain(await board.state(chosen))["rounds"] == 7

    @pytest.mark.parametrize(
        "at",
        [
            {"phase": "nowhere"},
            {"phase": "ask", "occurrence": 9},
            {"occurrence": 1},
            {"position": 9999},
            {"position": 1, "event_index": 1},
            {"edits": [{"op": "replace", "path": "/nothing/there", "value": 1}]},
        ],
    )
    async def test_fork_refuses(self, board: Board, at: dict[str, Any]):
        session = await begin(board)
        with pytest.raises(ValidationError):
            await board.fork(session, **at, run=False)

    async def test_retry(self, board: Board):
        session = await begin(board, "broken")

        again = await board.retry(session, run=False, by="ann")

        assert (await board.session(again.session_id)).parent == session
        waiting = await begin(board)
        with pytest.raises(ConflictError, match="is waiting; only a failed one can be retried"):
            await board.retry(waiting)
        with pytest.raises(ConflictError, match="only a failed one"):
            await board.retry(waiting, at=1)

    @pytest.mark.parametrize("at", [None, 1, "a"])
    async def test_retry_from_a_point_with_edits(self, board: Board, at: int | str | None):
        session = await begin(board, "broken")

        edits = [{"op": "replace", "path": "/rounds", "value": 7}]
        again = await board.retry(session, at=at, edits=edits, run=False)

        info = await board.session(again.session_id)
        assert (info.parent, info.fork_position) == (session, again.events_copied)
        assert at != 1 or info.fork_position == 1
        assert plain(await board.state(again.session_id))["rounds"] == 7

    @pytest.mark.parametrize("at", [9999, "nowhere"])
    async def test_retry_refuses_a_point_that_is_not_there(self, board: Board, at: int | str):
        session = await begin(board, "broken")
        with pytest.raises(ValidationError):
            await board.retry(session, at=at, run=False)

    async def test_delete(self, board: Board):
        session = await begin(board)

        await board.delete(session)

        with pytest.raises(SessionNotFound):
            await board.session(session)
        assert await board.inbox(session) == []

    async def test_what_is_not_there(self, board: Board):
        for work in (
            board.session("gone"),
            board.events("gone"),
            board.view("gone"),
            board.state("gone"),
            board.diff("gone", 0, 1),
            board.lease("gone"),
            board.drive("gone"),
            board.pause("gone"),
            board.resume("gone"),
            board.cancel("gone"),
            board.fork("gone"),
            board.retry("gone"),
            board.delete("gone"),
        ):
            with pytest.raises(SessionNotFound):
                await work


class TestQuestions:
    async def test_answer(self, board: Board):
        session = await begin(board)
        asked = await question_of(board, session)
        assert await board.interaction(asked.id) == asked

        done = await board.answer(asked.id, True, by="ann")

        assert (done.id, done.status, done.session_id) == (asked.id, "completed", session)
        assert await board.interaction(asked.id) == done
        with pytest.raises(AlreadyAnswered):
            await board.answer(asked.id, False)
        closing = next(e for e in await board.events(session) if e.name == "input:received")
        assert closing.payload["via"] == "python"

    async def test_answers_say_through_what_they_came(self, board: Board):
        session = await begin(board)
        await board.answer((await question_of(board, session)).id, approved=False, via="cli")

        closing = next(e for e in await board.events(session) if e.name == "input:received")
        assert (closing.payload["via"], closing.payload["approved"]) == ("cli", False)

    async def test_answers_that_do_not_fit(self, board: Board):
        asked = await board.people.ask(type="choice", prompt="Which?", options=["a", "b"])
        with pytest.raises(ValidationError):
            await board.answer(asked.id, "c")
        assert (await board.interaction(asked.id)).status == "pending"

    async def test_ask_and_find(self, board: Board):
        session = await begin(board)
        asked = await board.people.ask(
            type="input", prompt="Why?", session_id=session, key="why", config={"n": 1}
        )
        again = await board.people.ask(type="input", prompt="Why?", session_id=session, key="why")

        assert again.id == asked.id
        own = await question_of_type(board, session, "approval")
        of_session = await board.people.find(session_id=session)
        assert [one.id for one in of_session] == [own.id, asked.id]
        assert await board.people.find(session_id=session, limit=1) == of_session[:1]
        assert await board.people.find(session_id=session, status="completed") == []
        assert await board.people.get(asked.id) == asked
        with pytest.raises(ValidationError):
            await board.people.find(limit=-1)

    async def test_ask_refuses(self, board: Board):
        with pytest.raises(SessionNotFound):
            await board.people.ask(type="input", prompt="Why?", session_id="gone")
        with pytest.raises(ValidationError):
            await board.people.ask(type="choice", prompt="Which?")
        over = await begin(board, "broken")
        with pytest.raises(ConflictError):
            await board.people.ask(type="input", prompt="Why?", session_id=over)

    async def test_claim_and_release(self, board: Board):
        asked = await board.people.ask(type="input", prompt="Why?")

        claimed = await board.people.claim(asked.id, by="ann", ttl_ms=30_000)
        assert claimed.claimed_by == "ann"
        with pytest.raises(Claimed):
            await board.people.claim(asked.id, by="bob")
        with pytest.raises(Claimed):
            await board.people.release(asked.id, by="bob")
        released = await board.people.release(asked.id, by="ann")
        assert released.claimed_by is None
        assert await board.people.release(asked.id, by="ann") == released

    async def test_assign(self, board: Board):
        asked = await board.people.ask(type="input", prompt="Why?")
        assert (asked.assignees, asked.assigned_to) == (None, None)

        given = await board.people.assign(asked.id, "dana", by="ann")
        assert given.assigned_to == ["dana"]
        assert given.claimed_by is None
        assert await board.people.assign(asked.id, "dana", by="ann") == given
        mine = (await board.tokens.mine()).person
        own = await board.people.assign(asked.id, "me", by=mine)
        assert own.assigned_to == [mine]
        assert (await board.people.assign(asked.id, None)).assigned_to is None
        for wrong in ("", "group:", 'a"b', "a,b", "x" * 201):
            with pytest.raises(ValidationError):
                await board.people.assign(asked.id, wrong)
        assert (await board.answer(asked.id, "So.", by="bob")).status == "completed"
        with pytest.raises(AlreadyAnswered):
            await board.people.assign(asked.id, "dana")

    async def test_assignees_may_answer_and_others_only_override(self, board: Board):
        ask = partial(board.people.ask, type="confirmation", prompt="Release?")
        asked = await ask(assignees=["ada", "group:release"])
        assert asked.assignees == asked.assigned_to == ["ada", "group:release"]

        assert (await board.people.assign(asked.id, "ada")).assigned_to == ["ada"]
        assert (await board.people.assign(asked.id, None)).assigned_to == asked.assignees
        only = await ask(assignees=["ada"])
        with pytest.raises(ValidationError, match="Assign it to: ada"):
            await board.people.assign(only.id, "bob")
        done = await board.answer(asked.id, True, by="bob")
        assert done.status == "approved"
        for wrong in ([], ["ada", "ada"], [""], ["group: "], "ada"):
            with pytest.raises(ValidationError):
                await ask(assignees=wrong)

    async def test_find_by_workflow_assignment_and_text(self, board: Board):
        session, word = await begin(board), short_id()
        within = await board.people.ask(type="input", prompt=f"A {word}?", session_id=session)
        alone = await board.people.ask(type="input", prompt=f"B {word}?", assignees=["ada"])
        assert (within.workflow, alone.workflow) == ("flow", None)

        async def found(**sought: Any) -> list[str]:
            return [one.id for one in await board.people.find(q=word, **sought)]

        assert await found() == [within.id, alone.id]
        assert await found(workflow="flow") == [within.id]
        assert await found(workflow="other") == []
        assert await found(assigned_to=["none"]) == [within.id]
        assert await found(assigned_to=["bob", "ada"]) == [alone.id]
        assert await found(assigned_to=["ad"]) == []
        assert await found(assigned_to=["ada", "none"]) == [within.id, alone.id]

    async def test_complete(self, board: Board):
        session = await begin(board, "reviewed")
        asked = await question_of(board, session)

        done = await board.people.complete(
            asked.id, "completed", response="Fine.", duration_ms=5, by="ann", via="cli"
        )

        assert (done.status, done.response) == ("completed", "Fine.")
        with pytest.raises(AlreadyAnswered):
            await board.people.complete(asked.id, "failed", error="No.")

    async def test_complete_refuses(self, board: Board):
        asked = await question_of(board, await begin(board, "reviewed"))
        with pytest.raises(ValidationError):
            await board.people.complete(asked.id, "nonsense")

    async def test_cancel(self, board: Board):
        asked = await board.people.ask(type="input", prompt="Why?")

        assert (await board.people.cancel(asked.id, via="cli")).status == "cancelled"
        needed = await question_of(board, await begin(board))
        with pytest.raises(ConflictError):
            await board.people.cancel(needed.id)

    async def test_ended(self, board: Board):
        asked = await board.people.ask(type="input", prompt="Why?")
        waiting = asyncio.create_task(board.people.ended(asked.id))

        done = await board.answer(asked.id, "So.")

        async with asyncio.timeout(90):
            assert await waiting == done
            assert await board.people.ended(asked.id) == done

    async def test_what_is_not_there(self, board: Board):
        for work in (
            board.interaction("gone"),
            board.answer("gone", True),
            board.people.get("gone"),
            board.people.ended("gone"),
            board.people.assign("gone", "ann"),
            board.people.claim("gone", by="ann"),
            board.people.release("gone", by="ann"),
            board.people.complete("gone", "completed"),
            board.people.cancel("gone"),
        ):
            with pytest.raises(InteractionNotFound):
                await work


async def question_of_type(board: Board, session: str, type: str) -> Interaction:
    [asked] = await board.people.find(session_id=session, type=type)
    return asked


class TestPlates:
    async def test_register_change_and_dismiss(self, board: Board):
        where, session = f"/p/{short_id()}", short_id()
        plate = await board.plates.register("claude", project_path=where, session_id=session)
        assert (plate.agent, plate.status, plate.project_path) == ("claude", "starting", where)
        same = await board.plates.register("claude", project_path=where, session_id=session)
        assert same == plate

        changed = await board.plates.change(plate.plate_id, name="shop", pinned=True, seen=False)

        assert (changed.name, changed.pinned, changed.unseen) == ("shop", True, True)
        assert await board.plates.get(plate.plate_id) == changed
        assert changed in await board.plates.all()
        assert (await board.plates.change(plate.plate_id, name="")).name is None
        dismissed = await board.plates.dismiss(plate.plate_id)
        assert dismissed.dismissed
        ids = [one.plate_id for one in await board.plates.all()]
        assert plate.plate_id not in ids
        assert dismissed in await board.plates.all(dismissed=True)
        for work in (board.plates.get(plate.plate_id), board.plates.events(plate.plate_id)):
            with pytest.raises(PlateNotFound):
                await work

    async def test_events(self, board: Board):
        assert await board.plates.backlog() == NO_BACKLOG
        plate = await board.plates.register("codex", project_path="/p", session_id=short_id())
        await board.plates.change(plate.plate_id, pinned=True)

        told = names(await board.plates.events(plate.plate_id))

        assert told == ["plate_registered", "plate_changed"]
        assert names(await board.plates.events(plate.plate_id, 1)) == told[1:]

    async def test_stopped(self, board: Board):
        session = short_id()
        plate = await board.plates.register("claude", project_path="/p", session_id=session)

        assert await board.plates.stopped(project_path="/p", session_id=session) == 1
        assert await board.plates.stopped(project_path="/p", session_id=session) == 0
        assert (await board.plates.get(plate.plate_id)).status == "closed"

    async def test_who_needs_a_person_comes_first(self, board: Board):
        made = [
            await board.plates.register("claude", project_path="/p", session_id=short_id())
            for _ in range(3)
        ]
        await board.plates.change(made[1].plate_id, pinned=True)
        await board.plates.stopped(project_path="/p", session_id=made[0].session_id)

        ours = {one.plate_id for one in made}
        order = [one.plate_id for one in await board.plates.all() if one.plate_id in ours]

        assert order == [made[1].plate_id, made[2].plate_id, made[0].plate_id]

    async def test_what_is_not_there(self, board: Board):
        for work in (
            board.plates.get("gone"),
            board.plates.events("gone"),
            board.plates.change("gone", pinned=True),
            board.plates.dismiss("gone"),
        ):
            with pytest.raises(PlateNotFound):
                await work


class TestStatistics:
    async def test_a_workflow(self, board: Board):
        before = await board.statistics.workflow("flow")
        session = await begin(board)
        question = await question_of(board, session)

        waiting = await board.statistics.workflow("flow", days=7)
        assert (waiting.runs, waiting.active) == (before.runs + 1, before.active + 1)
        assert (waiting.workflow, waiting.days, len(waiting.per_day)) == ("flow", 7, 7)

        await board.answer(question.id, approved=True)
        await board.drive(session)
        told = await board.statistics.workflow("flow")

        assert told.completed == before.completed + 1
        assert told.per_day[-1].completed >= 1
        assert told.duration is not None
        assert told.answer_time is not None
        assert told.answer_time.count == (before.answer_time.count if before.answer_time else 0) + 1
        assert session in [one.session_id for one in told.recent]
        assert not told.limited

    async def test_what_failed_last(self, board: Board):
        session = await begin(board, "broken")

        told = await board.statistics.workflow("broken")

        assert told.last_failure == await board.session(session)
        assert told.last_failure is not None
        assert told.last_failure.error
        assert told.last_failure.error["message"] == "No ink."
        assert (told.success_rate, told.duration, told.answer_time) == (0.0, None, None)

    async def test_all_workflows(self, board: Board):
        await begin(board, "broken")

        told = await board.statistics.overview(days=2, utc_offset=-660)

        assert [one.workflow for one in told.workflows if one.workflow == "broken"] == ["broken"]
        assert told.total.runs == sum(one.runs for one in told.workflows)
        assert told.total.failed >= 1
        assert len(told.total.per_day) == 2

    async def test_a_workflow_that_never_ran(self, board: Board):
        told = await board.statistics.workflow("a/b %")

        assert (told.workflow, told.runs, told.success_rate) == ("a/b %", 0, None)
        assert (told.duration, told.last_failure, told.recent) == (None, None, [])

    @pytest.mark.parametrize("period", [{"days": 0}, {"days": 366}, {"utc_offset": 841}])
    async def test_a_period_that_is_refused(self, board: Board, period: dict[str, int]):
        [field] = period
        for asked in (board.statistics.overview, lambda **by: board.statistics.workflow("x", **by)):
            with pytest.raises(ValidationError) as refused:
                await asked(**period)
            assert str(refused.value.field).replace("utcOffset", "utc_offset") == field


class TestWorkers:
    async def test_who_drives_a_session(self, board: Board):
        session = await board.start("endless", title="Stays")
        driving = asyncio.create_task(board.drive(session))
        async with asyncio.timeout(90):
            while (found := (await board.workers(session)).driver_of(session)) is None:
                await asyncio.sleep(0.01)
            while found[1].phase is None:
                found = (await board.workers(session)).driver_of(session) or found
        worker, driven = found
        assert (worker.alive, worker.pid > 0, worker.host != "") == (True, True, True)
        assert (driven.session_id, driven.title) == (session, "Stays")
        assert (driven.workflow, driven.phase) == ("endless", "a")
        info = await board.session(session)
        assert driven.since is not None
        assert to_ms(info.created_at) <= driven.since <= to_ms(info.updated_at)

        everything = await board.workers()
        assert everything.driver_of(session) is not None
        assert everything.worker_count == 1
        assert everything.driven_count >= 1

        await board.cancel(session)
        await driving
        assert (await board.workers(session)).driver_of(session) is None

    async def test_a_session_that_no_one_can_drive(
        self, board: Board, request: pytest.FixtureRequest, tmp_path: Path
    ):
        if isinstance(board, Client):
            path = request.getfixturevalue("server_folder") / "t.db"
        else:
            path = tmp_path / "board.db"
        other = Workflow("elsewhere", state=dict, phases=[Phase("a", terminal=True)])
        async with Callboard.open(path, [other]) as elsewhere:
            session = await elsewhere.start("elsewhere", title="Left alone")

        [one] = (await board.workers(session)).stranded

        assert (one.session_id, one.title, one.workflow) == (session, "Left alone", "elsewhere")
        assert (one.version, one.phase) == (None, None)
        assert one.since == to_ms((await board.session(session)).updated_at)
        assert "running" in one.reason
        assert "callboard worker FILE" in one.next_step
        everything = await board.workers()
        assert one in everything.stranded
        assert everything.stranded_count >= 1
        assert not everything.limited
        await board.cancel(session)
        assert (await board.workers(session)).stranded == []

    async def test_a_session_that_does_not_exist(self, board: Board):
        with pytest.raises(SessionNotFound):
            await board.workers("nothing")


class TestTokens:
    async def test_a_token_is_created_listed_and_revoked(self, board: Board):
        made = await board.tokens.create(
            "ci", "answer", person="ada", groups=["ops"], expires=timedelta(days=1)
        )
        assert made.secret.startswith("cb_")
        token = made.token
        assert (token.name, token.person, token.scope) == ("ci", "ada", "answer")
        assert (token.groups, token.host) == (("ops",), None)
        assert token.expires_at == token.created_at + 86_400_000

        listed = [one for one in await board.tokens.list() if one.id == token.id]
        assert [one.to_wire() for one in listed] == [token.to_wire()]

        revoked = await board.tokens.revoke(token.id)
        assert revoked.to_wire() == token.to_wire()
        assert token.id not in [one.id for one in await board.tokens.list()]
        with pytest.raises(NotFound):
            await board.tokens.revoke(token.id)

    async def test_who_am_i(self, board: Board):
        mine = await board.tokens.mine()
        assert (mine.person, mine.scope, mine.groups) == (getuser(), "admin", ())

    @pytest.mark.parametrize(
        ("field", "given"),
        [
            ("name", {"name": " "}),
            ("person", {"person": "group:ops"}),
            ("groups", {"groups": ["group:ops"]}),
            ("scope", {"scope": "root"}),
        ],
    )
    async def test_a_wrong_token_is_refused(self, board: Board, field: str, given: dict[str, Any]):
        wanted: dict[str, Any] = {"name": "ci", "scope": "read", **given}
        with pytest.raises(ValidationError) as caught:
            await board.tokens.create(**wanted)
        assert caught.value.context["field"] == field


class TestLimits:
    async def test_a_number_is_set_changed_and_removed(self, board: Board):
        name = f"open ai/{short_id()} ä"
        for number in (0, 8):
            limit = await board.limits.set(name, number)
            assert limit.to_wire() == {
                "name": name,
                "number": number,
                "inUse": 0,
                "waiting": 0,
                "slots": [],
            }
            assert limit in await board.limits.list()
        assert (await board.limits.remove(name)).number == 8
        assert name not in [one.name for one in await board.limits.list()]
        with pytest.raises(NotFound):
            await board.limits.remove(name)

    async def test_who_has_a_slot_and_who_waits(self, board: Board):
        await board.limits.set("counting", 0)
        session = await board.start("limited")
        drive = asyncio.ensure_future(board.drive(session))
        async with asyncio.timeout(90):
            while not (found := await queued(board, session)):
                await asyncio.sleep(0.01)
        [slot] = found
        assert (slot.session_id, slot.run, slot.waiting) == (session, "count#1", True)
        assert slot.since <= board.clock.now_ms()
        assert await queued(board, "another session") == []
        await board.limits.set("counting", 1)
        assert (await drive).status == "completed"
        async with asyncio.timeout(90):
            while await queued(board, session):
                await asyncio.sleep(0.01)

    @pytest.mark.parametrize(
        ("field", "name", "number"),
        [("name", " x", 1), ("name", "x" * 65, 1), ("number", "x", -1), ("number", "x", 1_000_001)],
    )
    async def test_a_wrong_limit_is_refused(self, board: Board, field: str, name: str, number: int):
        with pytest.raises(ValidationError) as caught:
            await board.limits.set(name, number)
        assert caught.value.context["field"] == field


async def queued(board: Board, session: str) -> list[AgentSlot]:
    """The slots that a session has or waits for."""
    return [slot for limit in await board.limits.list(session) for slot in limit.slots]


async def test_the_clock_tells_the_time(board: Board):
    assert board.clock.now_ms() > 0


async def test_a_removed_machine_loses_its_tokens(board: Board):
    host = f"host{short_id()}"
    made = await board.tokens.create("atlas", "hook", host=host)
    await board.hosts.remove(host)
    assert made.token.id not in [one.id for one in await board.tokens.list()]
    assert host not in [one.id for one in await board.hosts.list()]
    with pytest.raises(NotFound, match="callboard hosts"):
        await board.hosts.remove(host)


class TestUsage:
    @pytest.mark.parametrize("by", ["day", "agent", "project", "plate", "model", "workflow"])
    async def test_a_report(self, board: Board, by: UsageGroup):
        told = await board.usage.report(days=7, by=by)
        assert (told.by, told.days) == (by, 7)
        assert (len(told.rows) == 7) is (by == "day")
        assert told.prices_date

    async def test_a_report_that_is_split_on_one_stream_and_in_a_time_zone(self, board: Board):
        told = await board.usage.report(days=1, split="model", stream="p-none", utc_offset=330)
        assert [one.parts for one in told.rows] == [[]]
        assert told.since % 3_600_000 == 1_800_000

    @pytest.mark.parametrize(
        ("wrong", "field"),
        [
            ({"days": 0}, "days"),
            ({"days": 366}, "days"),
            ({"by": "person"}, "by"),
            ({"split": "plate"}, "split"),
        ],
    )
    async def test_what_cannot_be_reported(self, board: Board, wrong: Any, field: str):
        with pytest.raises(ValidationError) as refused:
            await board.usage.report(**wrong)
        assert refused.value.field == field

    async def test_a_budget(self, board: Board):
        found = await board.usage.set_budget(1000.5, utc_offset=60, time_zone="Etc/GMT-2")
        assert (found.daily, found.limit, found.spent) == (1000.5, 1000.5, 0.0)
        assert (found.utc_offset, found.time_zone, found.interaction_id) == (120, "Etc/GMT-2", None)
        assert (await board.usage.report()).budget == await board.usage.budget() == found
        with pytest.raises(ValidationError) as refused:
            await board.usage.set_budget(0)
        assert refused.value.field == "daily"
        off = await board.usage.set_budget(None)
        assert (off.daily, off.limit) == (None, None)
