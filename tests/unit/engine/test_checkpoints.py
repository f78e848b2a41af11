"""When a checkpoint is written: seldom, as it costs time and space, but before loading is slow."""

import random
from collections.abc import Sequence
from itertools import pairwise

import pytest

from callboard import Callboard, Context, Phase, State, Workflow, agent
from callboard.engine.checkpoints import SinceCheckpoint
from callboard.engine.loading import load
from callboard.events import names
from callboard.events.codec import dump_json
from callboard.events.envelope import Event

KB = 1024


def text(size: int) -> str:
    return "x" * size


def test_a_small_state_gets_none_before_16_kb():
    since = SinceCheckpoint()
    since.add(16 * KB, 200)
    assert not since.is_due("small")
    since.add(1, 1)
    assert since.is_due("small")


def test_a_large_input_gets_none_while_its_event_is_as_quick_to_read():
    since, state = SinceCheckpoint(), text(1000 * KB)
    since.add(1000 * KB, 3)
    for _ in range(15):
        assert not since.is_due(state)
        since.add(100, 4)
    since.add(100, 4)
    assert since.is_due(state), "64 events"


def test_what_was_replaced_is_not_read_again_and_again():
    since, state = SinceCheckpoint(), text(1000 * KB)
    for _ in range(2):
        since.add(1000 * KB, 4)
        assert not since.is_due(state)
    since.add(1000 * KB, 4)
    assert since.is_due(state)


def test_a_state_is_not_weighed_again_before_that_can_make_a_difference(
    monkeypatch: pytest.MonkeyPatch,
):
    weighed: list[object] = []

    def weigh(value: object) -> bytes:
        weighed.append(value)
        return dump_json(value)

    monkeypatch.setattr("callboard.engine.checkpoints.dump_json", weigh)
    since, state = SinceCheckpoint(), text(1000 * KB)
    since.add(1000 * KB, 1)
    for _ in range(60):
        since.is_due(state)
        since.add(1, 1)
    assert len(weighed) == 1


def test_after_one_everything_counts_from_there():
    since = SinceCheckpoint()
    since.add(100 * KB, 100)
    assert since.is_due(text(100 * KB))
    since.start_over(100 * KB)
    assert not since.is_due(text(100 * KB))
    since.add(200 * KB, 100)
    assert not since.is_due(text(100 * KB))
    since.add(1, 1)
    assert since.is_due(text(100 * KB))


class Growing(State):
    steps: int = 0
    items: list[str] = []


def looping(steps: int, size: int, keep: int) -> Workflow:
    """Each step's agent makes so much text, of which the state keeps the last so many."""

    @agent
    async def work(state: Growing, ctx: Context) -> str:
        return random.Random(state.steps).randbytes(size // 2).hex()

    def note(state: Growing, output: str) -> None:
        state.steps += 1
        state.items = [*state.items, output][-keep:]

    def onward(state: Growing) -> str:
        return "work" if state.steps < steps else "end"

    return Workflow(
        "looping",
        state=Growing,
        phases=[
            Phase("work", agent=work, update=note, next=onward, to=["work", "end"]),
            Phase("end", terminal=True),
        ],
    )


async def driven(flow: Workflow) -> list[Event]:
    board = Callboard.open(None, [flow])
    result = await board.run(flow)
    assert result.status == "completed"
    view = (await load(board.log, result.session_id)).view
    assert view.state == {**view.state, "steps": result.state.steps, "items": result.state.items}
    return await board.events(result.session_id)


def sizes(events: Sequence[Event]) -> tuple[int, int]:
    """Bytes of the checkpoints, and of all else."""
    found = [len(dump_json(event.payload)) for event in events]
    checkpoints = [
        size for size, event in zip(found, events, strict=True) if event.name == names.CHECKPOINT
    ]
    return sum(checkpoints), sum(found) - sum(checkpoints)


@pytest.mark.parametrize("keep", [1, 10, 1000])
async def test_checkpoints_stay_in_proportion_to_what_happens(keep: int):
    events = await driven(looping(200, 8 * KB, keep))
    checkpoints, others = sizes(events)
    assert 0 < checkpoints < 1.6 * others


@pytest.mark.parametrize("keep", [1, 20])
async def test_what_a_load_reads_stays_in_proportion_to_the_state(keep: int):
    events = await driven(looping(200, 8 * KB, keep))
    places = [event.position for event in events if event.name == names.CHECKPOINT]
    for first, last in pairwise([0, *places, len(events)]):
        checkpoints, others = sizes(events[max(first - 1, 0) : last])
        # An output counts twice here, because the patch that refers to it comes with it.
        assert checkpoints + others < 6 * keep * 8 * KB + 2 * 64 * 8 * KB
