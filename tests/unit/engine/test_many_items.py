"""What one item of a `for_each` costs does not depend on how many there are."""

import sys
from types import FrameType
from typing import TYPE_CHECKING, Any

import pytest

from callboard import Callboard, Context, Phase, State, Workflow, agent
from callboard.engine.references import refer

if TYPE_CHECKING:
    from callboard.drafts.patch import Patch


class Kept(State):
    count: int = 0
    found: list[dict[str, Any]] = []


def begin(state: Kept, count: int) -> None:
    state.count = count


@agent
async def find(state: Kept, ctx: Context) -> dict[str, Any]:
    return {"item": ctx.item, "text": "found " * 20}


def keep(state: Kept, output: dict[str, Any]) -> None:
    state.found.append(output)


def flow(parallel: int) -> Workflow:
    each = Phase(
        agent=find,
        for_each=lambda state: range(state.count),
        parallel=parallel,
        update=keep,
        terminal=True,
    )
    return Workflow("finding", state=Kept, start=begin, phases=[each])


class Calls:
    """Counts the calls of functions, which are the same however busy the machine is."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        self.count += event in ("call", "c_call")


async def calls_for(items: int, parallel: int) -> int:
    board, calls = Callboard.open(None, [flow(parallel)]), Calls()
    before = sys.getprofile()
    sys.setprofile(calls)
    try:
        result = await board.run("finding", items)
    finally:
        sys.setprofile(before)
    assert [one["item"] for one in result.state.found] == list(range(items))
    return calls.count


@pytest.mark.parametrize("parallel", [1, 8])
async def test_an_item_costs_the_same_among_many(parallel: int):
    few, many = await calls_for(100, parallel), await calls_for(800, parallel)
    assert many / 800 <= few / 100 * 1.1


def test_outputs_that_a_state_takes_over_are_found_in_one_pass():
    """However many there are, and wherever each of them has gone."""
    outputs = {at: {"item": at, "text": "found " * 20} for at in range(500)}
    state = {"found": {str(at): {"item": -1, "text": ""} for at in outputs}}
    patches: list[Patch] = [
        {"op": "replace", "path": f"/found/{at}/{field}", "value": value}
        for at, output in outputs.items()
        for field, value in output.items()
    ]
    calls, before = Calls(), sys.getprofile()
    sys.setprofile(calls)
    try:
        recorded, references = refer(patches, state, outputs)
    finally:
        sys.setprofile(before)
    paths = [one["path"] for one in recorded]
    assert set(paths) == {f"/found/{at}" for at in outputs}
    assert references == {n: int(path.split("/")[2]) for n, path in enumerate(paths)}
    assert calls.count < 200 * len(outputs)
