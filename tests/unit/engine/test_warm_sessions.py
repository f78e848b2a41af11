"""Sessions that were just driven stay in memory: never too many, and never outdated."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from callboard import Approval, Callboard, Choice, Context, Phase, State, Workflow, agent
from callboard.drivers.local import LocalDriver
from callboard.engine import live as live_module
from callboard.engine.batch import LiveState
from callboard.engine.checkpoints import SinceCheckpoint
from callboard.engine.loading import load
from callboard.engine.warm import Memory, WarmSession, WarmSessions
from callboard.errors import SessionNotFound
from callboard.events.codec import dump_json, load_json
from callboard.log.memory import MemoryLog, SharedMemory
from callboard.state.rows import project
from callboard.state.session import SessionView


class Talk(State):
    said: list[str] = []


def talk() -> Workflow:
    """A conversation: a person answers, an agent notes it, until the person says stop."""

    @agent
    async def listen(state: Talk, ctx: Context) -> str:
        return f"{len(state.said)} so far"

    def note(state: Talk, output: str) -> None:
        state.said.append(output)

    def hear(state: Talk, response: Any) -> None:
        state.said.append(response["value"])

    def onward(state: Talk) -> str:
        return "end" if state.said[-1] == "stop" else "turn"

    return Workflow(
        "talk",
        state=Talk,
        phases=[
            Phase(
                "turn",
                agent=listen,
                update=note,
                human=Choice("And then?", ["more", "stop"]),
                on_answer=hear,
                next=onward,
                to=["turn", "end"],
            ),
            Phase("end", terminal=True),
        ],
    )


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sessions that a drive loaded, in order."""
    found: list[str] = []

    async def counted(log: Any, session_id: str, *given: Any, **more: Any) -> Any:
        found.append(session_id)
        return await load(log, session_id, *given, **more)

    monkeypatch.setattr(live_module, "load", counted)
    return found


async def say(board: Callboard, session: str, value: str, driven_by: Callboard) -> str:
    """Answer the open question in one process, and drive on in another; returns the status."""
    (question,) = await board.inbox(session)
    await board.answer(question.id, value)
    return (await driven_by.drive(session)).status


@pytest.fixture
def flow() -> Workflow:
    return talk()


async def test_an_answer_here_loads_nothing(here: Callboard, flow: Workflow, loads: list[str]):
    session = (await here.run(flow)).session_id
    for _ in range(3):
        assert await say(here, session, "more", here) == "waiting"
    assert await say(here, session, "stop", here) == "completed"
    assert loads == []
    said = (await here.state(session)).said
    assert said[::2] == ["0 so far", "2 so far", "4 so far", "6 so far"]
    assert said[1::2] == ["more", "more", "more", "stop"]


async def test_an_answer_by_another_process_is_heard(
    here: Callboard, elsewhere: Callboard, flow: Workflow, loads: list[str]
):
    session = (await here.run(flow)).session_id
    assert await say(elsewhere, session, "more", here) == "waiting"
    assert await say(elsewhere, session, "stop", here) == "completed"
    assert loads == []
    assert (await here.state(session)).said == ["0 so far", "more", "2 so far", "stop"]


async def test_two_processes_that_take_turns_see_what_the_other_did(
    here: Callboard, flow: Workflow, tmp_path: Path, loads: list[str]
):
    session = (await here.run(flow)).session_id
    async with Callboard.open(tmp_path / "cb.db", [flow]) as other:
        for driver in (other, here, other, other, here):
            assert await say(other, session, "more", driver) == "waiting"
        assert await say(here, session, "stop", other) == "completed"
        assert loads == [session], "only the first time that the other process drove it"
    said = (await here.state(session)).said
    assert said[::2] == [f"{number} so far" for number in range(0, 12, 2)]
    assert said[1::2] == ["more"] * 5 + ["stop"]


async def test_much_that_others_wrote_is_loaded_instead(
    here: Callboard, flow: Workflow, loads: list[str], monkeypatch: pytest.MonkeyPatch
):
    session = (await here.run(flow)).session_id
    monkeypatch.setattr(live_module, "_NEWS", 2)
    assert await say(here, session, "more", here) == "waiting"
    assert loads == [session]


async def test_pausing_in_between_is_seen(here: Callboard, flow: Workflow, loads: list[str]):
    session = (await here.run(flow)).session_id
    await here.pause(session)
    assert (await here.drive(session)).status == "paused"
    await here.resume(session)
    assert (await here.drive(session)).status == "waiting"
    assert await say(here, session, "stop", here) == "completed"
    assert loads == []


async def test_a_session_that_was_deleted_is_not_driven(
    here: Callboard, elsewhere: Callboard, flow: Workflow
):
    session = (await here.run(flow)).session_id
    await elsewhere.delete(session)
    with pytest.raises(SessionNotFound):
        await here.drive(session)


async def test_what_an_earlier_drive_returned_stays_as_it_was(flow: Workflow):
    board = Callboard.open(None, [flow])
    session = (await board.run(flow)).session_id
    first = await board.driver.drive(session)
    before = repr(first)
    assert await say(board, session, "more", board) == "waiting"
    assert repr(first) == before
    assert first.open.questions.keys() == first.questions.keys()


@pytest.mark.parametrize("shorter", [False, True])
async def test_a_log_that_went_back_is_loaded_anew(flow: Workflow, loads: list[str], shorter: bool):
    """As a database is after a failover that lost the last commits."""
    memory = SharedMemory()
    board = Callboard(MemoryLog(project, memory=memory), [flow])
    session = (await board.run(flow)).session_id
    stream = memory.streams[session]
    lost = stream.own.pop()
    if shorter:
        stream.standing = stream.standing._replace(head=stream.standing.head - 1)
    else:
        stream.own.append(lost._replace(id="another"))
    await board.driver.drive(session)
    assert loads == [session]


async def test_a_drive_that_failed_leaves_nothing_behind(flow: Workflow, loads: list[str]):
    board = Callboard.open(None, [flow])
    session = (await board.run(flow)).session_id

    (question,) = await board.inbox(session)
    await board.answer(question.id, "more")
    driver = board.driver
    append = board.log.append

    async def failing(*given: Any, **more: Any) -> Any:
        raise ZeroDivisionError

    board.log.append = failing
    with pytest.raises(ZeroDivisionError):
        await driver.drive(session)
    board.log.append = append
    assert (await driver.drive(session)).status == "waiting"
    assert loads == [session]


async def test_another_workflow_of_that_name_has_states_of_its_own(loads: list[str]):
    log = MemoryLog(project)
    flow = talk()
    known = {"talk": flow}
    board = Callboard(log, [flow])
    board.driver = LocalDriver(log, known, board.clock)
    session = (await board.run(flow)).session_id
    known["talk"] = talk()
    assert await say(board, session, "more", board) == "waiting"
    assert loads == [session]


def warm(flow: Workflow, session_id: str, state: object = None, stored: int = 1) -> WarmSession:
    view = SessionView(session_id, 1, state)
    since = SinceCheckpoint(size=stored)
    return WarmSession(flow, view, LiveState(flow.state_type, view), "e1", since, None)


async def test_only_so_many_are_kept_and_the_last_ones(flow: Workflow):
    kept = WarmSessions(most=3)
    for name in "abcb":
        await kept.keep(warm(flow, name))
    for name in "de":
        await kept.keep(warm(flow, name))
    assert [name for name in "abcde" if kept.take(name, flow) is not None] == ["b", "d", "e"]
    assert kept.take("e", flow) is None, "it was taken out"


async def test_only_so_much_memory_is_kept(flow: Workflow):
    kept = WarmSessions(most_memory=1_000_000)
    for name in "abc":
        await kept.keep(warm(flow, name, ["x" * 150_000]))
    for name in "de":
        await kept.keep(warm(flow, name, ["x" * 240_000]))
    assert [name for name in "abcde" if kept.take(name, flow) is not None] == ["d", "e"]
    for _ in range(3):
        await kept.keep(warm(flow, "small"))
        await kept.keep(warm(flow, "huge", ["x" * 1_000_000]))
        assert kept.take("huge", flow) is None
        assert kept.take("small", flow) is not None, "no one has to go for what does not fit"
    for name in "abc":
        await kept.keep(warm(flow, name, ["x" * 150_000]))
    assert [name for name in "abc" if kept.take(name, flow) is not None] == ["a", "b", "c"]


def test_a_view_is_weighed_again_when_it_may_have_doubled():
    memory = Memory(size=1_000_000, stored=500_000)
    assert memory.after(500_000) == 1_000_000
    assert memory.after(505_000) == 1_500_000
    assert memory.after(511_000) is None
    assert memory.after(400_000) is None, "a checkpoint was written, and no one knows what came"


class Message(BaseModel):
    role: str
    content: str
    at: int = 0


class Chat(State):
    messages: list[Message] = []
    notes: list[str] = []
    more: dict[str, Any] = {}
    counts: list[int] = []


def messages() -> dict[str, Any]:
    return {
        "messages": [
            {"role": "user", "content": f"What is {number}, please?", "at": number}
            for number in range(5000)
        ]
    }


def notes() -> dict[str, Any]:
    return {"notes": [f"{number:2000}" for number in range(500)]}


def untyped() -> dict[str, Any]:
    return {"more": {f"key {n}": {"list": [n, {"x": "y"}], "of": None} for n in range(5000)}}


def counts() -> dict[str, Any]:
    return {"counts": [number * 1000 for number in range(50_000)]}


@pytest.mark.parametrize("made", [messages, notes, untyped, counts])
async def test_memory_is_estimated_about_right(made: Callable[[], dict[str, Any]]):
    flow = Workflow("chat", state=Chat, phases=[Phase("p", human=Approval("?"), terminal=True)])
    empty = flow.state_type.initial()[1]
    assert isinstance(empty, dict)
    data = dump_json({**empty, **made()})
    tracemalloc.start()
    session = warm(flow, "s", load_json(data))
    session.state.read()
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    kept = WarmSessions()
    await kept.keep(session)
    found = kept.take("s", flow)
    assert found is not None
    assert found.memory is not None
    assert taken * 0.75 < found.memory.size < taken * 4
