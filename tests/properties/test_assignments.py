"""Whatever people assign, who may answer stays the same, and a rebuild finds it all again."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callboard import Callboard
from callboard.errors import Forbidden, ValidationError
from callboard.events.authors import Author

NAMES = st.sampled_from(["ada", "bob", "group:release", "group:ops"])
RESTRICTIONS = st.none() | st.lists(NAMES, min_size=1, max_size=3, unique=True)
STEPS = st.lists(st.none() | NAMES, max_size=6)


@settings(deadline=None, max_examples=60)
@given(RESTRICTIONS, STEPS)
def test_assigning_changes_who_is_expected_and_never_who_may_answer(
    assignees: list[str] | None, steps: list[str | None]
):
    asyncio.run(_assign(assignees, steps))


async def _assign(assignees: list[str] | None, steps: list[str | None]) -> None:
    async with Callboard.open() as board:
        asked = await board.people.ask(type="input", prompt="Why?", assignees=assignees)
        for to in steps:
            groups = any(name.startswith("group:") for name in assignees or ())
            try:
                asked = await board.people.assign(asked.id, to)
            except ValidationError:
                assert assignees is not None
                assert to not in assignees
                assert not groups
                continue
            assert asked.assigned_to == ([to] if to else assignees)
            assert asked.assignees == assignees
            assert asked.claimed_by is None
        await board.log.rebuild()
        assert await board.people.get(asked.id) == asked


@settings(deadline=None, max_examples=60)
@given(RESTRICTIONS, st.none() | st.sampled_from(["", "ada", "cleo"]))
def test_in_this_process_an_answer_of_anyone_else_is_recorded_as_an_override(
    assignees: list[str] | None, name: str | None
):
    asyncio.run(_answer_here(assignees, name))


async def _answer_here(assignees: list[str] | None, name: str | None) -> None:
    async with Callboard.open() as board:
        asked = await board.people.ask(type="input", prompt="Why?", assignees=assignees)
        await board.answer(asked.id, "So.", by=name)
        [*_, received] = await board.log.read(asked.id)
        may = assignees is None or name in assignees
        assert ("override" in received.payload) == (not may)


@settings(deadline=None, max_examples=60)
@given(RESTRICTIONS, st.sampled_from(["ada", "cleo"]), st.sets(NAMES), st.booleans())
def test_an_answer_counts_by_the_names_that_were_checked(
    assignees: list[str] | None, person: str, groups: set[str], overrides: bool
):
    own = tuple(sorted(name.removeprefix("group:") for name in groups))
    by = Author("token", "ada", person=person, groups=own, overrides=overrides)
    asyncio.run(_answer(assignees, by))


async def _answer(assignees: list[str] | None, by: Author) -> None:
    async with Callboard.open() as board:
        asked = await board.people.ask(type="input", prompt="Why?", assignees=assignees)
        may = assignees is None or bool(set(assignees) & set(by.names))
        if not may and not by.overrides:
            with pytest.raises(Forbidden, match=r"Only .* can answer"):
                await board.answer(asked.id, "So.", by=by)
            return
        await board.answer(asked.id, "So.", by=by)
        [*_, received] = await board.log.read(asked.id)
        assert ("override" in received.payload) == (not may)
