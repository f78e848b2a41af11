"""Beginning a session without driving it, and what a workflow takes as its input."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from callboard import Approval, Callboard, Phase, State, Workflow
from callboard.engine.offers import WorkflowInfo
from callboard.errors import (
    PhaseError,
    SessionExists,
    SessionNotFound,
    ValidationError,
    WorkflowNotFound,
)
from callboard.events.json_values import is_object


class Trip(State):
    city: str = ""


class Wish(BaseModel):
    city: str
    nights: int = 1


@dataclass
class Point:
    x: int


def from_text(state: Trip, city: str) -> None:
    state.city = city


def workflow(start: Callable[..., Any] | None = from_text, name: str = "trip") -> Workflow:
    phases = [Phase("ask", human=Approval("Go?"), next="end"), Phase("end", terminal=True)]
    return Workflow(name, state=Trip, phases=phases, start=start)


@pytest.fixture
async def board(tmp_path: Path) -> AsyncIterator[Callboard]:
    async with Callboard.open(tmp_path / "cb.db", workflows=[workflow()]) as board:
        yield board


async def test_a_session_is_begun_and_left_to_whoever_drives(board: Callboard) -> None:
    session_id = await board.start("trip", "Oslo", by="ann")
    begun = await board.events(session_id)
    assert [event.name for event in begun] == ["workflow:started", "state:intent"]
    assert (begun[0].payload["input"], begun[0].payload["by"]) == ("Oslo", "ann")
    assert begun[1].caused_by == begun[0].id
    info = await board.session(session_id)
    assert (info.status, info.running, info.position) == ("pending", False, 2)
    assert await board.log.unsettled() == [session_id]
    assert [found.session_id for found in await board.recover()] == [session_id]
    assert (await board.session(session_id)).status == "waiting"
    assert (await board.state(session_id)).city == "Oslo"


async def test_the_same_events_as_when_it_is_run_here(board: Callboard) -> None:
    started = await board.start(None, "Oslo")
    await board.drive(started)
    ran = await board.run("trip", "Oslo")
    assert [e.name for e in await board.events(started)] == [e.name for e in ran.events]


async def test_an_id_is_taken_once(board: Callboard) -> None:
    assert await board.start("trip", "Oslo", session_id="mine") == "mine"
    with pytest.raises(SessionExists):
        await board.start("trip", "Rome", session_id="mine")
    assert (await board.state("mine")).city == "Oslo"


async def test_the_name_may_be_left_out_when_there_is_one(board: Callboard) -> None:
    assert await board.start(None, "Oslo")
    board.workflows["other"] = workflow(name="other")
    with pytest.raises(ValidationError, match=r"other, trip") as refused:
        await board.start(None, "Oslo")
    assert refused.value.field == "workflowId"
    with pytest.raises(WorkflowNotFound, match=r"'nothing'.*other, trip"):
        await board.start("nothing", "Oslo")


async def test_without_any_workflow_nothing_can_be_started() -> None:
    async with Callboard.open() as board:
        with pytest.raises(WorkflowNotFound, match="No workflow"):
            await board.start(None)


async def test_an_input_that_does_not_fit_begins_nothing(board: Callboard) -> None:
    with pytest.raises(ValidationError, match="'trip'") as refused:
        await board.start("trip", 5, session_id="mine")
    assert refused.value.field == "input"
    with pytest.raises(SessionNotFound):
        await board.session("mine")


async def test_a_start_that_raises_begins_nothing() -> None:
    def start(state: Trip) -> None:
        raise RuntimeError("no")

    async with Callboard.open(workflows=[workflow(start)]) as board:
        with pytest.raises(PhaseError, match="No session was started"):
            await board.start("trip", session_id="mine")
        with pytest.raises(SessionNotFound):
            await board.session("mine")


def unannotated(state: Trip, given) -> None:  # type: ignore[no-untyped-def]
    """Takes anything."""


def anything(state: Trip, given: Any) -> None: ...
def only_state(state: Trip) -> None: ...
def a_number(state: Trip, given: Annotated[int, Field(ge=1)]) -> None: ...
def a_wish(state: Trip, given: Wish) -> None: ...
def a_point(state: Trip, given: Point) -> None: ...
def maybe_text(state: Trip, given: str | None) -> None: ...
def unreadable(state: Trip, given: "NoSuchName") -> None: ...  # type: ignore[name-defined]  # noqa: F821
def indescribable(state: Trip, given: Callboard) -> None: ...
def a_function(state: Trip, given: Callable[[], None]) -> None: ...


class Starter:
    def __call__(self, state: Trip, given: list[int]) -> None: ...


@pytest.mark.parametrize(
    "start", [None, unannotated, anything, only_state, unreadable, indescribable, a_function]
)
def test_who_does_not_say_what_it_takes_has_no_schema(start: Callable[..., Any] | None) -> None:
    assert workflow(start).input_schema is None


@pytest.mark.parametrize("start", [None, unannotated, anything, only_state, unreadable])
def test_who_does_not_say_what_it_takes_takes_anything(start: Callable[..., Any] | None) -> None:
    workflow(start).check_input({"any": ["thing", None]})


@pytest.mark.parametrize(
    ("start", "schema"),
    [
        (from_text, {"type": "string"}),
        (a_number, {"type": "integer", "minimum": 1}),
        (maybe_text, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        (Starter(), {"type": "array", "items": {"type": "integer"}}),
    ],
)
def test_the_annotation_becomes_a_schema(start: Callable[..., Any], schema: dict[str, Any]) -> None:
    assert workflow(start).input_schema == schema


def test_the_name_and_the_docstring_say_what_is_taken() -> None:
    def start(state: Trip, city: str) -> None:
        """Where
        to go.

        More of it.
        """

    told = WorkflowInfo.of(workflow(start))
    assert (told.input_name, told.input_about) == ("city", "Where to go.")
    for silent in (None, only_state):
        told = WorkflowInfo.of(workflow(silent))
        assert (told.input_name, told.input_about) == (None, None)
    assert WorkflowInfo.of(workflow(Starter())).input_about is None


def test_a_model_becomes_a_schema_with_its_fields() -> None:
    schema = workflow(a_wish).input_schema
    assert schema is not None
    assert schema["required"] == ["city"]
    assert is_object(schema["properties"])
    assert set(schema["properties"]) == {"city", "nights"}


@pytest.mark.parametrize(
    ("start", "fits"),
    [
        (from_text, "Oslo"),
        (maybe_text, None),
        (a_number, 3),
        (a_wish, {"city": "Oslo"}),
        (a_wish, Wish(city="Oslo")),
        (a_point, {"x": 1}),
        (a_point, Point(1)),
        (Starter(), [1, 2]),
    ],
)
def test_what_fits_is_taken(start: Callable[..., Any], fits: Any) -> None:
    workflow(start).check_input(fits)


@pytest.mark.parametrize(
    ("start", "wrong", "at"),
    [
        (from_text, None, ""),
        (a_number, 0, ""),
        (a_wish, {"city": "Oslo", "nights": "many"}, "/nights"),
        (a_wish, {}, "/city"),
        (Starter(), [1, "two"], "/1"),
    ],
)
def test_what_does_not_fit_is_refused_and_the_place_told(
    start: Callable[..., Any], wrong: Any, at: str
) -> None:
    with pytest.raises(ValidationError) as refused:
        workflow(start).check_input(wrong)
    assert (refused.value.field, refused.value.at) == ("input", at)


async def test_start_receives_what_was_given_not_what_was_checked() -> None:
    received: list[Any] = []

    def start(state: Trip, given: Wish) -> None:
        received.append(given)

    async with Callboard.open(workflows=[workflow(start)]) as board:
        await board.start(None, {"city": "Oslo"})
    assert received == [{"city": "Oslo"}]


async def test_a_fork_that_is_not_to_run_is_left_alone_until_it_is_driven(board: Callboard) -> None:
    original = await board.start(None, "Oslo")
    await board.drive(original)
    forked = await board.fork(original, position=2, run=False, session="child")
    assert forked.session_id == "child"
    assert await board.log.unsettled() == []
    assert await board.recover() == []
    assert (await board.drive("child")).status == "waiting"


async def test_a_fork_that_is_to_run_is_found_by_a_driver(board: Callboard) -> None:
    original = await board.start(None, "Oslo")
    await board.drive(original)
    workflows = dict(board.workflows)
    board.workflows.clear()
    await board.fork(original, position=2, session="child")
    assert await board.log.unsettled() == ["child"]
    board.workflows.update(workflows)
    assert [info.session_id for info in await board.recover()] == ["child"]


async def test_the_id_of_a_fork_is_taken_once(board: Callboard) -> None:
    original = await board.start(None, "Oslo")
    with pytest.raises(SessionExists):
        await board.fork(original, run=False, session=original)


async def test_a_fork_that_was_not_to_run_is_left_until_it_is_resumed(board: Callboard) -> None:
    original = await board.start(None, "Oslo")
    forked = await board.fork(original, run=False)
    assert forked.session_id not in await board.log.unsettled()
    assert await board.resume(forked.session_id)
    assert forked.session_id in await board.log.unsettled()
