"""Agents made of plain functions, which run in threads, and what they return undeclared."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import BaseModel

from callboard import Context, Phase, State, Workflow, agent, run


class Nothing(State):
    pass


class Notes(State):
    seen: list[Any] = []
    whole: dict[str, Any] = {}


class Part(BaseModel):
    name: str
    at: datetime = datetime(2026, 1, 31, tzinfo=UTC)


class Whole(BaseModel):
    parts: list[Part]


@dataclass
class Plain:
    name: str


async def outcome_of(made: Any, update: Any) -> Any:
    async def work(state: Notes) -> Any:
        return made

    phases = [Phase("make", agent=work, update=update, terminal=True)]
    result = await run(Workflow("making", state=Notes, phases=phases))
    assert result.error is None, result.error
    return result.state


async def test_a_model_that_was_not_declared_is_read_by_attribute_and_by_key():
    def keep(state: Notes, output: Any) -> None:
        state.seen += [output.parts[0].name, output["parts"][1]["name"], output.parts[0].at]
        state.whole = output
        with pytest.raises(AttributeError, match="price"):
            _ = output.price

    state = await outcome_of(Whole(parts=[Part(name="a"), Part(name="b")]), keep)
    assert state.seen == ["a", "b", "2026-01-31T00:00:00Z"]
    assert state.whole == {
        "parts": [{"name": name, "at": "2026-01-31T00:00:00Z"} for name in ("a", "b")]
    }


@pytest.mark.parametrize("made", [[Plain("a"), Part(name="a")], [{"name": "a"}] * 2])
async def test_models_and_objects_in_a_list_are_read_alike(made: Any):
    def keep(state: Notes, output: Any) -> None:
        state.seen += [(one.name, one["name"]) for one in output]
        state.whole = {"first": output[0]}

    state = await outcome_of(made, keep)
    assert state.seen == [["a", "a"]] * 2
    assert state.whole["first"]["name"] == "a"


class Shelf(BaseModel):
    items: list[str]
    keys: int = 0


MISUSES: list[Callable[[Any], object]] = [
    lambda output: bool(output.items),
    lambda output: output.items[0],
    lambda output: list(output.items),
    lambda output: len(output.items),
    lambda output: f"{output.items}",
    lambda output: output.keys == 0,
    lambda output: output.keys + 1,
    lambda output: output.keys.real,
]


@pytest.mark.parametrize("misuse", MISUSES)
async def test_a_field_that_is_called_like_a_method_of_dict_is_read_by_key(
    misuse: Callable[[Any], object],
):
    """Silently, `output.items` would be a method, which is always true."""

    def keep(state: Notes, output: Any) -> None:
        with pytest.raises(TypeError, match=r"Write output\['(items|keys)'\]"):
            misuse(output)
        assert json.loads(json.dumps(output)) == {"items": ["a"], "keys": 0}
        assert [*output.keys()] == ["items", "keys"]
        state.seen += output["items"]
        state.whole = output

    state = await outcome_of(Shelf(items=["a"]), keep)
    assert (state.seen, state.whole) == (["a"], {"items": ["a"], "keys": 0})


async def test_what_a_model_computes_needs_a_declaration():
    def keep(state: Notes, output: Any) -> None:
        with pytest.raises(AttributeError, match="declare the agent's return type"):
            output.model_dump()
        state.seen += [output.items() == {"name": "a"}.items()]

    assert (await outcome_of(Plain("a"), keep)).seen == [True]


async def test_items_and_effects_may_be_models_too():
    async def work(state: Notes, ctx: Context) -> str:
        effect = await ctx.once("effect", lambda: Part(name=f"made of {ctx.item.name}"))
        return effect.name

    phases = [
        Phase(
            "each",
            agent=work,
            for_each=lambda state: [Part(name="a"), Plain("b")],
            update=lambda state, output: state.seen.append(output),
            terminal=True,
        )
    ]
    result = await run(Workflow("making", state=Notes, phases=phases))
    assert result.state.seen == ["made of a", "made of b"]


async def test_what_no_json_can_hold_is_still_refused():
    class Odd(BaseModel, arbitrary_types_allowed=True):
        thing: object

    async def work(state: Notes) -> Any:
        return Odd(thing=object())

    phases = [Phase("make", agent=work, terminal=True)]
    result = await run(Workflow("making", state=Notes, phases=phases))
    assert result.error is not None
    assert result.error["code"] == "AGENT_OUTPUT_INVALID"
    assert "Odd is not JSON" in result.error["message"]


async def test_an_agent_that_runs_out_of_items_fails_and_does_not_hang():
    @agent
    def exhausted(state: Nothing) -> int:
        return next(iter(list[int]()))

    phases = [Phase("count", agent=exhausted, terminal=True)]

    async with asyncio.timeout(90):
        result = await run(Workflow("counting", state=Nothing, phases=phases))

    assert result.status == "failed"
    assert result.error is not None
    assert "StopIteration" in result.error["message"]
