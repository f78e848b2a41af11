"""What a process keeps of a plate, and when it has to read it again."""

from tests.unit.board.boards import Board

from callboard.board.keeping import Kept, Known
from callboard.board.plate import Plate
from callboard.board.plates import Plates
from callboard.events import plates as events


def plate(id: str) -> Plate:
    return Plate(id, "claude", "s", created_at=1, updated_at=1)


def test_a_plate_is_known_while_its_stream_is_as_long():
    kept = Kept()
    known = Known(3, plate("a"))
    kept.keep(known)
    assert kept.at("a", 3) is known
    assert kept.at("a", 4) is None
    assert kept.at("a", 0) is None
    assert kept.at("b", 3) is None


def test_the_one_that_was_written_longest_ago_gives_way():
    kept = Kept(most=2)
    for head, id in ((1, "a"), (1, "b"), (2, "a"), (1, "c")):
        kept.keep(Known(head, plate(id)))
    assert kept.at("a", 2) is not None
    assert kept.at("b", 1) is None
    assert kept.at("c", 1) is not None


async def test_what_another_process_writes_is_seen_at_once():
    board = Board()
    told = await board.tell(events.SESSION_START)
    other = Plates(board.log, board.clock)
    await other.change(told.plate_id, name="the shop")
    assert (await board.plates.get(told.plate_id)).name == "the shop"
    after = await board.tell(events.PROMPT_SUBMIT)
    assert (after.name, after.status) == ("the shop", "running")
