"""One budget: who may hold how much of it, and who has to let go."""

import pytest
from starlette.types import Message

from callboard.errors import Overloaded
from callboard.server.access.hook_bodies import read_beginning
from callboard.server.memory import STREAMS, ConnectionMemory, MemoryBudget


def holder(memory: MemoryBudget, who: str, cut: list[str]) -> ConnectionMemory:
    return memory.holding(who, lambda: cut.append(who))


def test_what_is_given_back_can_be_taken_again():
    memory = MemoryBudget(400)
    one = holder(memory, "ann", [])
    one.take(100)
    with pytest.raises(Overloaded, match="Try again") as caught:
        one.take(1)
    assert caught.value.retry_after
    assert (memory.used, one.held) == (100, 100)
    one.give(60)
    one.take(60)
    one.give(1000)
    assert (memory.used, one.held) == (0, 0)


def test_one_caller_cannot_take_everything():
    memory, cut = MemoryBudget(400), list[str]()
    ann = [holder(memory, "ann", cut) for _ in range(10)]
    for one in ann:
        one.take(10)
    with pytest.raises(Overloaded):
        ann[0].take(10)
    holder(memory, "bob", cut).take(100)
    assert cut == []


def test_the_same_caller_gets_a_small_request_through_by_cutting_off_a_large_one():
    memory, cut = MemoryBudget(400), list[str]()
    large, other = holder(memory, "ann", cut), holder(memory, "bob", cut)
    large.take(95)
    other.take(99)
    holder(memory, "ann", cut).take(10)
    assert cut == ["ann"]
    assert (large.held, other.held, memory.used) == (0, 99, 109)


def test_whoever_holds_most_is_cut_off_first():
    memory, cut = MemoryBudget(400), list[str]()
    for number in range(4):
        holder(memory, f"caller{number}", cut).take(96 + number)
    holder(memory, "late", cut).take(20)
    assert cut == ["caller3"]
    with pytest.raises(Overloaded):
        holder(memory, "later", cut).take(99)
    assert cut == ["caller3"]


def test_streams_may_hold_half():
    memory = MemoryBudget(400)
    memory.holding(STREAMS, lambda: None).take(200)
    with pytest.raises(Overloaded):
        memory.holding(STREAMS, lambda: None).take(300)


def test_what_a_connection_holds_counts_for_whoever_it_turns_out_to_be():
    memory = MemoryBudget(400)
    one = memory.holding("127.0.0.1", lambda: None)
    one.take(100)
    one.belongs_to("ann")
    memory.holding("127.0.0.1", lambda: None).take(100)
    with pytest.raises(Overloaded):
        one.take(1)
    one.release()
    assert memory.used == 100


@pytest.mark.parametrize("crowd", [0, 300_000])
async def test_a_hook_is_never_refused_but_less_of_it_is_kept(crowd: int):
    memory, cut = MemoryBudget(1_600_000), list[str]()
    hook = holder(memory, "hooks", cut)
    parts = [b"x" * 100_000] * 10

    async def receive() -> Message:
        if len(parts) == 7 and crowd:  # Somebody else with the same token needs room.
            holder(memory, "hooks", cut).take(200_000)
        return {"type": "http.request", "body": parts.pop(), "more_body": bool(parts)}

    body = await read_beginning(receive, 900_000, hook)
    assert body is not None
    assert len(body) == (65_536 if crowd else 400_000)
    assert cut == []
    hook.release()
    hook.cut()
    assert cut == ["hooks"]
