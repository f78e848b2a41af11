"""What a process keeps of a plate, and when it has to read it again."""

from tests.unit.board.boards import Board

from callboard.board.plate_store import Recent
from callboard.board.plates import Plates
from callboard.events import plates as events


def test_the_one_that_was_kept_longest_ago_gives_way():
    kept = Recent[int](most=2)
    for key, value in (("a", 1), ("b", 1), ("a", 2), ("c", 1)):
        kept.keep(key, value)
    assert kept == {"a": 2, "c": 1}


async def test_what_another_process_writes_is_seen_at_once():
    board = Board()
    told = await board.tell(events.SESSION_START)
    other = Plates(board.log, board.clock)
    await other.change(told.plate_id, name="the shop")
    assert (await board.plates.get(told.plate_id)).name == "the shop"
    after = await board.tell(events.PROMPT_SUBMIT)
    assert (after.name, after.status) == ("the shop", "running")
